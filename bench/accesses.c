/* SPDX-License-Identifier: MIT */
/* Measures the time that the profile needs for an access with a new pattern: nanoseconds per access of a wave
 * of 64 lanes, in memory and LDS, with the rules of gfx9 and gfx10. `accesses [PART OF A NAME]` */
#include "base/random.h"
#include "clock.h"
#include "profile/measure/measure.h"
#include "small.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACCESSES = 256, PASSES = 10, TRIES = 200 };

/* The address of `lane` in access i. */
typedef uint64_t place_of(unsigned i, unsigned lane);

static uint64_t anywhere(unsigned i, unsigned lane)
{
    return 0x7f0000000000 + (uint64_t)(wmi_random_u32(i, lane) >> 12) * 4;
}

static uint64_t anywhere_near(unsigned i, unsigned lane)
{
    return 0x7f0000000000 + (uint64_t)(wmi_random_u32(i, lane) >> 24) * 4;
}

static uint64_t rows_of_eight(unsigned i, unsigned lane)
{
    return 0x7f0000000000 + 4 * ((uint64_t)lane / 8 * 100 + wmi_random_u32(i, lane / 8) % 64 + lane % 8);
}

static uint64_t in_a_row(unsigned i, unsigned lane)
{
    return 0x7f0000000000 + 4 * ((uint64_t)i + lane);
}

static uint64_t words_in_a_row(unsigned i, unsigned lane)
{
    return 4 * (i + lane);
}

static uint64_t in_steps(unsigned i, unsigned lane)
{
    return 0x7f0000000000 + (uint64_t)i * 4 + (uint64_t)lane * 4096;
}

static uint64_t wide(unsigned i, unsigned lane)
{
    return anywhere(i, lane) & -16ULL;
}

static uint64_t off_dwords(unsigned i, unsigned lane)
{
    return anywhere(i, lane) + 2;
}

static uint64_t words(unsigned i, unsigned lane)
{
    return (wmi_random_u32(i, lane) >> 24) * 4;
}

static uint64_t wide_words(unsigned i, unsigned lane)
{
    return 4 * words(i, lane);
}

static uint64_t all_lanes(unsigned i)
{
    (void)i;
    return ~0ULL;
}

static uint64_t half_of_lanes(unsigned i)
{
    return wmi_random_bits(i, 99);
}

static const struct pattern {
    const char *name;
    enum wmi_path path;
    enum wmi_access_kind kind;
    unsigned bytes;
    place_of *place;
    uint64_t (*lanes)(unsigned i);
} patterns[] = {
    {"loads anywhere", WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 4, anywhere, all_lanes},
    {"loads anywhere, half", WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 4, anywhere, half_of_lanes},
    {"loads within 1 KiB", WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 4, anywhere_near, all_lanes},
    {"loads of rows of eight", WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 4, rows_of_eight, all_lanes},
    {"loads 4096 apart", WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 4, in_steps, all_lanes},
    {"loads of a row, half", WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 4, in_a_row, half_of_lanes},
    {"loads of 16 bytes", WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 16, wide, all_lanes},
    {"loads of 12 bytes", WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 12, anywhere, all_lanes},
    {"loads off dwords", WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 4, off_dwords, all_lanes},
    {"stores off dwords", WMI_PATH_GLOBAL, WMI_ACCESS_STORE, 4, off_dwords, all_lanes},
    {"stores anywhere", WMI_PATH_GLOBAL, WMI_ACCESS_STORE, 4, anywhere, all_lanes},
    {"stores within 1 KiB", WMI_PATH_GLOBAL, WMI_ACCESS_STORE, 4, anywhere_near, all_lanes},
    {"stores of rows of eight", WMI_PATH_GLOBAL, WMI_ACCESS_STORE, 4, rows_of_eight, all_lanes},
    {"stores of a row, half", WMI_PATH_GLOBAL, WMI_ACCESS_STORE, 4, in_a_row, half_of_lanes},
    {"atomics anywhere", WMI_PATH_GLOBAL, WMI_ACCESS_ATOMIC, 4, anywhere, all_lanes},
    {"atomics within 1 KiB", WMI_PATH_GLOBAL, WMI_ACCESS_ATOMIC, 4, anywhere_near, all_lanes},
    {"LDS loads", WMI_PATH_DS, WMI_ACCESS_LOAD, 4, words, all_lanes},
    {"LDS loads, half", WMI_PATH_DS, WMI_ACCESS_LOAD, 4, words, half_of_lanes},
    {"LDS loads of a row, half", WMI_PATH_DS, WMI_ACCESS_LOAD, 4, words_in_a_row, half_of_lanes},
    {"LDS stores of a row, half", WMI_PATH_DS, WMI_ACCESS_STORE, 4, words_in_a_row, half_of_lanes},
    {"LDS loads of 16 bytes", WMI_PATH_DS, WMI_ACCESS_LOAD, 16, wide_words, all_lanes},
    {"LDS atomics", WMI_PATH_DS, WMI_ACCESS_ATOMIC, 4, words, all_lanes},
};

/* The minimum time per access, of several tries. */
static double measure(struct wmi_measurer *measurer, const struct wmi_access *accesses)
{
    double least = 1e9;
    const unsigned tries = bench_size(TRIES, 1);
    for (unsigned try = 0; try < tries; try++) {
        const double begin = bench_seconds();
        for (int pass = 0; pass < PASSES; pass++)
            for (int i = 0; i < ACCESSES; i++)
                wmi_measure(measurer, &accesses[i]);
        const double seconds = (bench_seconds() - begin) / (ACCESSES * PASSES);
        least = seconds < least ? seconds : least;
    }
    return least;
}

int main(int count, char **arguments)
{
    static struct wmi_access accesses[ACCESSES];
    static uint64_t address[ACCESSES][64];
    static const unsigned rules[] = {0, 2};
    struct wmi_measurer *measurers[2] = {0};
    for (int r = 0; r < 2; r++) {
        measurers[r] = wmi_measurer_create(wmi_cost_rules(rules[r]), 64);
        if (!measurers[r])
            return 1;
    }
    printf("%-24s %8s %8s   ns\n", "", "gfx9", "gfx10");
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        const struct pattern *pattern = &patterns[p];
        if (count > 1 && !strstr(pattern->name, arguments[1]))
            continue;
        for (unsigned i = 0; i < ACCESSES; i++) {
            const uint64_t lanes = pattern->lanes(i);
            for (unsigned lane = 0; lane < 64; lane++)
                address[i][lane] = pattern->place(i, lane);
            accesses[i] = (struct wmi_access){
                .path = pattern->path,
                .kind = pattern->kind,
                .lanes = lanes,
                .elements = 1,
                .bytes = (uint8_t)pattern->bytes,
                .element = {{.space = pattern->path == WMI_PATH_DS ? WMI_SPACE_LDS : WMI_SPACE_GLOBAL,
                             .mask = lanes,
                             .address = address[i]}}};
        }
        printf("%-24s %8.1f %8.1f\n", pattern->name, 1e9 * measure(measurers[0], accesses),
               1e9 * measure(measurers[1], accesses));
    }
    for (int r = 0; r < 2; r++)
        free(measurers[r]);
    return 0;
}
