/* SPDX-License-Identifier: MIT */
/* Measurements of accesses, at all CPU levels: lines, ordered requests and fully written blocks against
 * simple references; costs against wmi_coalesce() and wmi_lds_passes(), which cost.c tests. */
#include "profile/measure/measure.h"
#include "observe/observer.h"
#include "profile/cost/requested.h"
#include "sem/sem.h"
#include "unit/random.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RULES = 6, MOST_BYTES = 64 * 16 };

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* An access of one place. */
struct sample {
    uint64_t address[64];
    struct wmi_access access;
};

static bool reaches(const struct sample *sample, unsigned lane)
{
    const struct wmi_element *element = &sample->access.element[0];
    return element->mask >> lane & 1 &&
           !((element->bad_range | element->bad_align | element->bad_aperture) >> lane & 1);
}

/* All distinct accessed bytes, in order. */
static size_t list_bytes(const struct sample *sample, uint64_t bytes[MOST_BYTES])
{
    size_t count = 0, different = 0;
    for (unsigned lane = 0; lane < 64; lane++)
        for (unsigned i = 0; i < sample->access.bytes && reaches(sample, lane); i++)
            bytes[count++] = sample->address[lane] + i;
    qsort(bytes, count, sizeof *bytes, compare_u64);
    for (size_t i = 0; i < count; i++)
        if (!i || bytes[i] != bytes[i - 1])
            bytes[different++] = bytes[i];
    return different;
}

static uint32_t count_blocks(const uint64_t *bytes, size_t count, uint64_t size)
{
    uint32_t blocks = 0;
    for (size_t i = 0; i < count; i++)
        blocks += !i || bytes[i] / size != bytes[i - 1] / size;
    return blocks;
}

/* Number of requests for the lane's block: one, for atomics the count of its most frequent address. */
static uint32_t times_of(const struct sample *sample, unsigned lane, uint64_t size)
{
    uint32_t most = 1;
    for (unsigned a = 0; a < 64 && sample->access.kind == WMI_ACCESS_ATOMIC; a++) {
        uint32_t same = 0;
        if (!reaches(sample, a) || sample->address[a] / size != sample->address[lane] / size)
            continue;
        for (unsigned b = 0; b < 64; b++)
            same += reaches(sample, b) && sample->address[b] == sample->address[a];
        most = same > most ? same : most;
    }
    return most;
}

/* Blocks in the order of the first lane that requests each; every lane's bytes lie in one block. */
static void check_requests(const struct sample *sample, const struct wmi_measure *measure,
                           const uint64_t *bytes, size_t byte_count)
{
    const uint64_t size = 1ULL << measure->shift;
    uint32_t next = 0;
    for (unsigned lane = 0; lane < 64; lane++) {
        bool first = reaches(sample, lane);
        for (unsigned before = 0; before < lane; before++)
            first &=
                !reaches(sample, before) || sample->address[before] / size != sample->address[lane] / size;
        if (!first)
            continue;
        const uint64_t block = sample->address[lane] / size;
        uint64_t inside = 0;
        for (size_t i = 0; i < byte_count; i++)
            inside += bytes[i] / size == block;
        for (uint32_t times = times_of(sample, lane, size); times > 0; times--, next++) {
            assert_true(next < measure->requests.count);
            assert_int_equal(measure->requests.block[next], block);
            if (sample->access.kind == WMI_ACCESS_STORE)
                assert_int_equal(measure->full[next], inside == size);
        }
    }
    assert_int_equal(measure->requests.count, next);
}

static void check_global(const struct sample *sample, const struct wmi_measure *measure,
                         const struct wmi_cost_rules *rules, unsigned wave_lanes)
{
    static uint64_t bytes[MOST_BYTES];
    const size_t count = list_bytes(sample, bytes);
    const uint64_t line = 1ULL << rules->vector.tag_shift;
    const struct wmi_vector_cost cost = wmi_coalesce(&sample->access, &rules->vector, wave_lanes);
    const uint32_t *sum = measure->sum;
    assert_int_equal(sum[WMI_SUM_DISTINCT_BYTES], count);
    assert_int_equal(sum[WMI_SUM_LINES], count_blocks(bytes, count, line));
    assert_int_equal(sum[WMI_SUM_IDEAL_LINES], (count + line - 1) / line);
    assert_int_equal(sum[WMI_SUM_FAST], cost.fast);
    assert_int_equal(sum[WMI_SUM_ADDRESS_CLOCKS], cost.clocks);
    assert_int_equal(sum[WMI_SUM_QUADS], cost.quads);
    assert_int_equal(sum[WMI_SUM_TAG_CLOCKS], cost.tag_clocks);
    assert_int_equal(sum[WMI_SUM_PREDICTED_TAGS],
                     sample->access.kind == WMI_ACCESS_STORE ? cost.store_clocks : cost.tag_clocks);
    assert_int_equal(sum[WMI_SUM_TAG_LOOKUPS], cost.lookups);
    const uint32_t width = rules->vector.data_bytes,
                   data = (sum[WMI_SUM_BYTES_REQUESTED] + width - 1) / width;
    assert_int_equal(sum[WMI_SUM_DATA_CLOCKS], data > cost.bank_clocks ? data : cost.bank_clocks);
    assert_int_equal(sum[WMI_SUM_READ_REQUESTS], cost.reads);
    assert_int_equal(sum[WMI_SUM_WRITE_REQUESTS], cost.writes);
    assert_int_equal(sum[WMI_SUM_ATOMIC_REQUESTS], cost.atomics);
    assert_int_equal(sum[WMI_SUM_COLLAPSED], cost.collapsed);
    check_requests(sample, measure, bytes, count);
}

static void check_lds(const struct sample *sample, const struct wmi_measure *measure,
                      const struct wmi_cost_rules *rules, unsigned wave_lanes)
{
    static uint64_t bytes[MOST_BYTES];
    const struct wmi_lds_cost cost = wmi_lds_passes(&sample->access, &rules->lds, wave_lanes);
    assert_int_equal(measure->sum[WMI_SUM_DISTINCT_BYTES], list_bytes(sample, bytes));
    assert_int_equal(measure->sum[WMI_SUM_LINES], 0);
    assert_int_equal(measure->requests.count, 0);
    assert_int_equal(measure->sum[WMI_SUM_LDS_PASSES], cost.passes);
    assert_int_equal(measure->sum[WMI_SUM_LDS_CONFLICTS], cost.conflicts);
    assert_int_equal(measure->sum[WMI_SUM_LDS_SERIAL], cost.serial);
    assert_int_equal(measure->lds.depth, cost.depth);
    assert_int_equal(measure->lds.bank, cost.bank);
    assert_int_equal(measure->lds.lanes, cost.lanes);
}

/* Ascending or unordered offsets, with many or few lanes per block and per address. */
static uint64_t random_offset(unsigned shape, unsigned lane, uint64_t spread)
{
    switch (shape) {
    case 0:
        return random_bits() % spread;
    case 1:
        return lane * spread;
    case 2:
        return (63 - lane) * spread;
    case 3:
        return lane / 8 * 100 + lane % 8;
    case 4:
        return (lane / 4 * 4 + random_bits() % 4) / (spread % 3 + 1);
    case 5:
        return lane + (random_bits() % 40 == 0) * spread;
    case 6: /* numbers that collide in a hash of few bits */
        return random_bits() % 8 * (spread << 8);
    default:
        return lane / (1 + spread % 16);
    }
}

static void make(struct sample *sample, bool lds, unsigned wave_lanes)
{
    static const uint64_t bases[] = {0, 0x40, 0x7f0012345600, 0xfffff000, 0xffffffff00000000};
    const uint64_t wave = UINT64_MAX >> (64 - wave_lanes);
    const uint64_t some = random_bits() % 3 ? UINT64_MAX : random_bits() & random_bits();
    const uint64_t lanes = wave & (random_bits() % 2 ? UINT64_MAX : random_bits() & some);
    const unsigned bytes = 1u << random_bits() % 5, shape = (unsigned)(random_bits() % 8);
    const uint64_t spread = 1ULL << random_bits() % (lds ? 10 : 24);
    const uint64_t base = lds ? random_bits() % 64 * 16 : bases[random_bits() % 5];
    sample->access = (struct wmi_access){
        .path = lds ? WMI_PATH_DS : WMI_PATH_GLOBAL,
        .kind = random_bits() % 3,
        .lanes = lanes,
        .elements = 1,
        .bytes = (uint8_t)bytes,
        .element = {{.space = lds ? WMI_SPACE_LDS : WMI_SPACE_GLOBAL,
                     .mask = lanes,
                     .bad_range = random_bits() % 5 ? 0 : random_bits(),
                     .bad_align = random_bits() % 7 ? 0 : random_bits(),
                     .address = sample->address}},
    };
    for (unsigned lane = 0; lane < 64; lane++)
        sample->address[lane] =
            base + random_offset(shape, lane, spread) * bytes % (lds ? 65536 : 1ULL << 31);
}

/* A summary of a sample whose lanes reach all of [from, to). */
struct sketch {
    alignas(64) uint32_t low[64];
    alignas(64) uint32_t high[64];
    struct wmi_address_summary summary;
};

static void draw(struct sketch *sketch, const struct sample *sample)
{
    const struct wmi_element *element = &sample->access.element[0];
    uint64_t from = UINT64_MAX, last = 0, upper = 0;
    for (unsigned lane = 0; lane < 64; lane++) {
        const uint64_t at = sample->address[lane];
        if (!(element->mask >> lane & 1))
            continue;
        from = at < from ? at : from;
        last = at > last ? at : last;
    }
    const uint64_t base = element->space == WMI_SPACE_LDS ? from % 64
                          : random_bits() % 2             ? from - random_bits() % 4096
                                                          : random_bits();
    for (unsigned lane = 0; lane < 64; lane++) {
        const uint64_t at = sample->address[lane] - base;
        sketch->low[lane] = (uint32_t)at;
        sketch->high[lane] = (uint32_t)(at >> 32);
        upper |= element->mask >> lane & 1 ? at >> 32 : 0;
    }
    sketch->summary =
        (struct wmi_address_summary){.low = sketch->low,
                                     .high = upper ? sketch->high : NULL,
                                     .base = base,
                                     .lanes = element->mask,
                                     .from = from,
                                     .to = last + sample->access.bytes,
                                     .shape = wmi_access_shape(element->space, 1, sample->access.bytes)};
}

static const struct wmi_measure *measure_sketch(struct wmi_measurer *measurer, const struct sample *sample,
                                                const struct wmi_address_summary *summary)
{
    static struct wmi_measure copy;
    const struct wmi_requested *requested;
    const struct wmi_measure *measure =
        wmi_measure_summary(measurer, sample->access.path, sample->access.kind, summary, &requested);
    if (!measure)
        return NULL;
    copy = *measure;
    assert_int_equal(copy.requests.count, requested ? requested->count : 0);
    for (uint32_t i = 0; i < copy.requests.count; i++) {
        copy.requests.block[i] = (requested->base >> copy.shift) + requested->block[i];
        copy.full[i] = requested->full[i];
    }
    return &copy;
}

/* A random access of a round, and whose figures it has. */
struct trial {
    struct wmi_measurer *measurer;
    const struct wmi_cost_rules *rules;
    struct sample sample;
    unsigned wave_lanes, round;
    bool lds;
};

/* A summary says the same as its access, also if only its address differs from that of the one before; and
 * nothing if a lane may not go where it goes, or is misaligned. */
static void measure_summary(struct trial *trial)
{
    struct sample *sample = &trial->sample;
    struct wmi_element *element = &sample->access.element[0];
    struct sketch sketch;
    element->bad_range = element->bad_align = 0;
    if (!element->mask)
        return;
    for (unsigned repeats = 0; repeats < 2; repeats++) {
        draw(&sketch, sample);
        const struct wmi_measure *measure = measure_sketch(trial->measurer, sample, &sketch.summary);
        if (!trial->lds || sample->access.bytes == 4) {
            assert_non_null(measure);
            (trial->lds ? check_lds : check_global)(sample, measure, trial->rules, trial->wave_lanes);
            assert_int_equal(measure->used, wmi_used_dwords(&sample->access));
        }
        struct wmi_address_summary other = sketch.summary;
        other.from++;
        assert_null(measure_sketch(trial->measurer, sample, &other));
        other = sketch.summary;
        other.to--;
        assert_null(measure_sketch(trial->measurer, sample, &other));
        for (unsigned lane = 0; lane < 64; lane++)
            sample->address[lane] += 256 * (trial->round % 100);
    }
    sample->address[__builtin_ctzll(element->mask)] ^= 1;
    draw(&sketch, sample);
    if (sample->access.bytes > 1)
        assert_null(measure_sketch(trial->measurer, sample, &sketch.summary));
}

static void measure_access(struct trial *trial)
{
    const struct wmi_measure *measure = wmi_measure(trial->measurer, &trial->sample.access);
    (trial->lds ? check_lds : check_global)(&trial->sample, measure, trial->rules, trial->wave_lanes);
}

/* Tries random accesses for all rules and wave sizes. */
static void for_all_rules(void (*body)(struct trial *trial))
{
    for (unsigned i = 0; i < 2 * RULES; i++) {
        struct trial trial = {.wave_lanes = i % 2 ? 32 : 64, .rules = wmi_cost_rules(i / 2)};
        trial.measurer = wmi_measurer_create(trial.rules, trial.wave_lanes);
        assert_non_null(trial.measurer);
        for (trial.round = 0; trial.round < 3000; trial.round++) {
            trial.lds = trial.round % 3 == 0;
            make(&trial.sample, trial.lds, trial.wave_lanes);
            body(&trial);
        }
        free(trial.measurer);
    }
}

static void at_each_level(void (*body)(struct trial *trial))
{
    static const char *const levels[] = {"baseline", "avx2", "avx512"};
    for (unsigned level = 0; level < sizeof levels / sizeof *levels; level++) {
        setenv("WAVEMEM_CPU", levels[level], 1);
        if (level && wmi_cpu_level() < level)
            continue; /* not supported by this CPU */
        for_all_rules(body);
    }
    unsetenv("WAVEMEM_CPU");
}

static void random_accesses(void **state)
{
    (void)state;
    at_each_level(measure_access);
}

static void random_summaries(void **state)
{
    (void)state;
    at_each_level(measure_summary);
}

/* Lanes more than 4 GiB apart, and at both ends of the address space: a line each. */
static void far_lanes(void **state)
{
    (void)state;
    struct wmi_measurer *measurer = wmi_measurer_create(wmi_cost_rules(0), 64);
    assert_non_null(measurer);
    for (unsigned first = 0; first < 64; first++) {
        struct sample sample;
        for (unsigned lane = 0; lane < 64; lane++)
            sample.address[lane] = (lane + first) % 64 == 0 ? -4ULL : ((uint64_t)lane << 27) + first % 16 * 4;
        sample.access = (struct wmi_access){
            .path = WMI_PATH_GLOBAL,
            .kind = first % 3,
            .lanes = ~0ULL << first,
            .elements = 1,
            .bytes = 4,
            .element = {{.mask = ~0ULL << first, .address = sample.address}},
        };
        const struct wmi_measure *measure = wmi_measure(measurer, &sample.access);
        assert_int_equal(measure->sum[WMI_SUM_LINES], 64 - first);
        check_global(&sample, measure, wmi_cost_rules(0), 64);
    }
    free(measurer);
}

/* The 16-bit number of the call starts again, on dwords that none of the last 65534 calls accessed. */
static void many_atomics(void **state)
{
    (void)state;
    enum { ATOMICS = 2 * UINT16_MAX + 2 };
    struct wmi_measurer *measurer = wmi_measurer_create(wmi_cost_rules(0), 64);
    assert_non_null(measurer);
    for (unsigned i = 0; i < ATOMICS; i++) {
        struct sample sample;
        for (unsigned lane = 0; lane < 64; lane++)
            sample.address[lane] = (i % UINT16_MAX ? 4096 : 0) + (63 - lane) / 2 * 4;
        sample.access = (struct wmi_access){
            .path = WMI_PATH_DS,
            .kind = WMI_ACCESS_ATOMIC,
            .lanes = ~0ULL,
            .elements = 1,
            .bytes = 4,
            .element = {{.space = WMI_SPACE_LDS, .mask = ~0ULL, .address = sample.address}},
        };
        assert_int_equal(wmi_measure(measurer, &sample.access)->sum[WMI_SUM_DISTINCT_BYTES], 32 * 4);
    }
    free(measurer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_accesses),
        cmocka_unit_test(random_summaries),
        cmocka_unit_test(far_lanes),
        cmocka_unit_test(many_atomics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
