/* SPDX-License-Identifier: MIT */
/* The operations on rows of lanes against loops over single lanes. Built once for each CPU level and wave
 * size, and for the plain-C twins; ends with 77, skipped, where the host does not run the level. */
#include "base/lanes.h"
#include "frame.h"

#include <stdio.h>

static int failures;

static void check(int ok, const char *what, unsigned lane)
{
    if (!ok && failures++ < 10)
        fprintf(stderr, "%s: lane %u of %u is wrong\n", what, lane, WMI_LANES);
}

/* Bits, with empty and full sets among them. */
static uint64_t pick_bits(unsigned round, uint64_t *state)
{
    const uint64_t random = test_random(state);

    return WMI_ALL_LANES & (round % 8 == 0 ? 0 : round % 8 == 1 ? UINT64_MAX : random);
}

static void check_masks(uint64_t bits)
{
    struct wmi_lanes set;

    wmi_lanes_set(&set, bits | (WMI_LANES < 64 ? UINT64_MAX << (WMI_LANES % 64) : 0));
    check(set.bits == bits && !set.full == (bits != WMI_ALL_LANES), "wmi_lanes_set", 0);
    for (unsigned i = 0; i < WMI_LANES; i++)
        check(set.row[i] == (bits >> i & 1 ? UINT32_MAX : 0), "wmi_lanes_expand", i);
}

static void check_rows(uint64_t bits, uint64_t *state)
{
    wmi_word a[WMI_LANES], b[WMI_LANES], d[WMI_LANES], e[WMI_LANES];
    wmi_word64 pairs[WMI_LANES];
    uint64_t signs = 0;

    for (unsigned i = 0; i < WMI_LANES; i++) {
        a[i] = (uint32_t)test_random(state);
        b[i] = (uint32_t)test_random(state);
        signs |= (uint64_t)(a[i] >> 31) << i;
    }
    check(wmi_lanes_pack(a) == signs, "wmi_lanes_pack", 0);
    wmi_lanes_permute(d, a, b);
    for (unsigned i = 0; i < WMI_LANES; i++)
        check(d[i] == a[b[i] % WMI_LANES], "wmi_lanes_permute", i);
    memcpy(e, a, sizeof e);
    wmi_lanes_permute(e, e, b);
    check(!memcmp(e, d, sizeof e), "wmi_lanes_permute in place", 0);

    wmi_lanes_join(pairs, a, b);
    for (unsigned i = 0; i < WMI_LANES; i++)
        check(pairs[i] == ((uint64_t)b[i] << 32 | a[i]), "wmi_lanes_join", i);
    wmi_lanes_split(d, e, pairs);
    check(!memcmp(d, a, sizeof d) && !memcmp(e, b, sizeof e), "wmi_lanes_split", 0);

    char memory[512], copy[512];
    for (unsigned i = 0; i < sizeof memory; i++)
        memory[i] = copy[i] = (char)test_random(state);
    for (unsigned i = 0; i < WMI_LANES; i++) { /* many of them overlap */
        b[i] = (uint32_t)(test_random(state) % (sizeof memory - 3));
        d[i] = e[i] = (uint32_t)test_random(state);
    }
    wmi_lanes_gather(d, memory, b, bits);
    for (unsigned i = 0; i < WMI_LANES; i++) {
        if (bits >> i & 1)
            memcpy(&e[i], memory + b[i], 4);
        check(d[i] == e[i], "wmi_lanes_gather", i);
    }
    wmi_lanes_scatter(memory, b, a, bits);
    for (unsigned i = 0; i < WMI_LANES; i++)
        if (bits >> i & 1)
            memcpy(copy + b[i], &a[i], 4);
    check(!memcmp(memory, copy, sizeof memory), "wmi_lanes_scatter", 0);
}

int main(void)
{
    uint64_t state = 5;

    if (wmi_cpu_level() < LEVEL)
        return 77;
    for (unsigned round = 0; round < 2000; round++) {
        const uint64_t bits = pick_bits(round, &state);
        check_masks(bits);
        check_rows(bits, &state);
    }
    return failures != 0;
}
