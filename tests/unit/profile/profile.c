/* SPDX-License-Identifier: MIT */
/* The line profile against figures worked out by hand and against a byte-by-byte count. WAVEMEM_TEST_REDUCED:
 * a third of the random accesses, a tenth of the summaries, still of each pattern with each set of lanes. */
#include "profile/profile.h"
#include "profile/measure/measure.h"
#include "reduced.h"
#include "unit/random.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The sums that a row should show. */
struct sums {
    uint64_t executions, lanes, bytes_asked, distinct_bytes, lines, ideal_lines;
};

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Distinct values after division by `unit` of what is in `list`. */
static uint64_t distinct(const uint64_t *sorted, size_t count, uint64_t unit)
{
    uint64_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += i == 0 || sorted[i] / unit != sorted[i - 1] / unit;
    return found;
}

/* The slow statement: every byte of every lane, written down, sorted and counted. */
static void count_slowly(const struct wmi_access *access, struct sums *sums)
{
    uint64_t *bytes = malloc(sizeof *bytes * access->elements * access->bytes * 64);
    sums->executions++;
    for (unsigned lane = 0; lane < 64; lane++) {
        sums->lanes += access->lanes >> lane & 1;
        sums->bytes_asked += (access->lanes >> lane & 1) * access->elements * access->bytes;
    }
    for (unsigned space = 0; space < 3; space++) {
        size_t count = 0;
        for (unsigned e = 0; e < access->elements; e++) {
            const struct wmi_element *element = &access->element[e];
            for (unsigned lane = 0; lane < 64; lane++) {
                const uint64_t bit = 1ULL << lane;
                if (element->space != space || !(element->mask & bit) || element->bad_range & bit ||
                    element->bad_align & bit || element->bad_aperture & bit)
                    continue;
                for (unsigned i = 0; i < access->bytes; i++)
                    bytes[count++] = element->address[lane] + i;
            }
        }
        qsort(bytes, count, sizeof *bytes, compare_u64);
        sums->distinct_bytes += distinct(bytes, count, 1);
        if (space == WMI_SPACE_GLOBAL) {
            sums->lines += distinct(bytes, count, 64);
            sums->ideal_lines += (distinct(bytes, count, 1) + 63) / 64;
        }
    }
    free(bytes);
}

static void check_row(const struct wm_profile_row *row, const struct sums *sums)
{
    assert_int_equal(row->executions, sums->executions);
    assert_int_equal(row->lanes, sums->lanes);
    assert_int_equal(row->bytes_asked, sums->bytes_asked);
    assert_int_equal(row->distinct_bytes, sums->distinct_bytes);
    assert_int_equal(row->lines, sums->lines);
    assert_int_equal(row->ideal_lines, sums->ideal_lines);
}

/* One access in a profile of its own, against the slow statement and, if it is given, what is expected. */
static void check_one(const struct wmi_access *access, const struct sums *expected)
{
    struct wm_profile *profile = wmi_profile_create();
    const struct wmi_observer *observer = wmi_profile_begin(profile, NULL);
    const uint32_t slot = observer->instruction(observer->self, 0x100, 1);
    void *local = observer->thread_begin(observer->self);
    observer->access(local, access, slot);
    observer->thread_end(observer->self, local);
    size_t count;
    const struct wm_profile_row *rows = wmi_profile_rows(profile, &count);
    assert_int_equal(count, 1);
    if (expected)
        check_row(&rows[0], expected);
    struct sums slow = {0};
    count_slowly(access, &slow);
    check_row(&rows[0], &slow);
    wmi_profile_destroy(profile);
}

static void by_hand(void **state)
{
    (void)state;
    static const struct {
        uint64_t base, stride, lanes;
        unsigned bytes;
        struct sums expected;
    } cases[] = {
        /* 64 dwords in a row fill four lines; moved by one dword they touch five. */
        {0x1000, 4, ~0ULL, 4, {1, 64, 256, 256, 4, 4}},
        {0x1004, 4, ~0ULL, 4, {1, 64, 256, 256, 5, 4}},
        /* Every lane on a line of its own: 64 lines for 256 bytes. */
        {0x1000, 64, ~0ULL, 4, {1, 64, 256, 256, 64, 4}},
        {0x1000, 4096, ~0ULL, 4, {1, 64, 256, 256, 64, 4}},
        /* All lanes at one address. */
        {0x1010, 0, ~0ULL, 4, {1, 64, 256, 4, 1, 1}},
        /* Bytes in a row: one line. */
        {0x1000, 1, ~0ULL, 1, {1, 64, 64, 64, 1, 1}},
        /* Overlapping dwords, one byte apart: 67 bytes on two lines, and two is what 67 bytes need. */
        {0x1000, 1, ~0ULL, 4, {1, 64, 256, 67, 2, 2}},
        /* 16 bytes across a line's end by one lane: two lines where one would do. */
        {0x1038, 0, 1, 16, {1, 1, 16, 16, 2, 1}},
        /* Downwards. */
        {0x2000, -4ULL, ~0ULL, 4, {1, 64, 256, 256, 5, 4}},
        /* Every other lane of a dword access: 32 dwords spread over four lines that would fit two. */
        {0x1000, 4, 0x5555555555555555ULL, 4, {1, 32, 128, 128, 4, 2}},
        /* EXEC = 0. */
        {0x1000, 4, 0, 4, {1, 0, 0, 0, 0, 0}},
        /* The last line of the address space. */
        {-64ULL, 1, 0xffffffffffffffffULL, 1, {1, 64, 64, 64, 1, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t address[64];
        for (unsigned lane = 0; lane < 64; lane++)
            address[lane] = cases[i].base + lane * cases[i].stride;
        struct wmi_access access = {.path = WMI_PATH_GLOBAL,
                                    .lanes = cases[i].lanes,
                                    .elements = 1,
                                    .bytes = (uint8_t)cases[i].bytes,
                                    .element = {{.mask = cases[i].lanes, .address = address}}};
        check_one(&access, &cases[i].expected);
    }
}

/* A FLAT access with lanes in two spaces, and lanes that a check refused. */
static void spaces_and_refused_lanes(void **state)
{
    (void)state;
    uint64_t address[64];
    for (unsigned lane = 0; lane < 64; lane++)
        address[lane] = 0x1000 + 4 * lane;
    struct wmi_access access = {
        .path = WMI_PATH_FLAT,
        .kind = WMI_ACCESS_STORE,
        .lanes = ~0ULL,
        .elements = 2,
        .bytes = 4,
        .element = {
            /* Lanes 0-31 global, of which 16-31 are bad: 16 dwords, one line. */
            {.mask = 0xffffffff, .bad_range = 0xffff0000, .address = address},
            /* Lanes 32-63 in LDS at the same kind of addresses: bytes, but no lines. */
            {.space = WMI_SPACE_LDS, .mask = 0xffffffff00000000, .address = address},
        }};
    check_one(&access, &(struct sums){1, 64, 512, 64 + 128, 1, 1});
}

static void random_accesses(void **state)
{
    (void)state;
    static const unsigned sizes[] = {1, 2, 4, 8, 12, 16, 64};
    const int rounds = reduced() ? 105 : 300; /* 105: each of the remainders below */
    for (int round = 0; round < rounds; round++) {
        struct wmi_access access = {
            .path = WMI_PATH_GLOBAL,
            .lanes = random_bits() | (round % 3 ? 0 : ~0ULL),
            .elements = (uint8_t)(1 + random_bits() % 4),
            .bytes = (uint8_t)sizes[random_bits() % 7],
        };
        uint64_t address[4][64];
        const uint64_t spread = 1ULL << random_bits() % 20;
        for (unsigned e = 0; e < access.elements; e++) {
            struct wmi_element *element = &access.element[e];
            *element = (struct wmi_element){
                .space = random_bits() % 3,
                .mask = access.lanes & (round % 2 ? ~0ULL : random_bits()),
                .bad_range = round % 5 ? 0 : random_bits(),
                .bad_align = round % 7 ? 0 : random_bits(),
                .address = address[e],
            };
            for (unsigned lane = 0; lane < 64; lane++)
                address[e][lane] = 0x10000000 + (round % 4 ? random_bits() % spread : lane * spread % 65536);
        }
        check_one(&access, NULL);
    }
}

static void describe(void *user, unsigned id, struct wm_profile_row *row)
{
    static char text[32]; /* overwritten by the next call: the profile must copy it */
    snprintf(text, sizeof text, "insn %u at 0x%llx", id, (unsigned long long)row->pc);
    row->text = text;
    row->kernel = user;
    row->line = id;
    row->offset = row->pc - 0x100;
}

/* Sums of what tests/unit/profile/cost.c checks; of the conflicts the deepest, with the lowest bank, with the
 * lowest mask. */
static void add_costs(const struct wmi_access *access, const struct wmi_cost_rules *rules,
                      struct wmi_vector_cost *vector, struct wmi_lds_cost *lds)
{
    if (access->path == WMI_PATH_DS) {
        const struct wmi_lds_cost cost = wmi_lds_passes(access, &rules->lds, 64);
        lds->passes += cost.passes;
        lds->conflicts += cost.conflicts;
        lds->serial += cost.serial;
        if (cost.depth > lds->depth || (cost.depth == lds->depth && cost.bank < lds->bank) ||
            (cost.depth == lds->depth && cost.bank == lds->bank && cost.lanes < lds->lanes)) {
            lds->depth = cost.depth;
            lds->bank = cost.bank;
            lds->lanes = cost.lanes;
        }
        return;
    }
    const struct wmi_vector_cost cost = wmi_coalesce(access, &rules->vector, 64);
    vector->clocks += cost.clocks;
    vector->quads += cost.quads;
    vector->tag_clocks += cost.tag_clocks;
    vector->lookups += cost.lookups;
    vector->reads += cost.reads;
    vector->writes += cost.writes;
    vector->atomics += cost.atomics;
    vector->collapsed += cost.collapsed;
}

static void check_costs(const struct wm_profile_row *row, const struct wmi_vector_cost *vector,
                        const struct wmi_lds_cost *lds)
{
    assert_int_equal(row->address_clocks, vector->clocks);
    assert_int_equal(row->accesses, 4 * vector->quads);
    assert_int_equal(row->tag_clocks, vector->tag_clocks);
    assert_int_equal(row->tag_lookups, vector->lookups);
    assert_int_equal(row->read_requests, vector->reads);
    assert_int_equal(row->write_requests, vector->writes);
    assert_int_equal(row->atomic_requests, vector->atomics);
    assert_int_equal(row->collapsed, vector->collapsed);
    assert_int_equal(row->lds_passes, lds->passes);
    assert_int_equal(row->lds_conflicts, lds->conflicts);
    assert_int_equal(row->lds_serial, lds->serial);
    assert_int_equal(row->lds_depth, lds->depth);
    assert_int_equal(row->lds_bank, lds->bank);
    assert_int_equal(row->lds_lanes, lds->lanes);
    assert_int_equal(row->has_lds, lds->passes > 0);
    assert_int_equal(row->has_vector, row->has_lines);
    assert_int_equal(row->has_tcp_counters, row->has_vector);
}

/* Any number of threads, and more than one dispatch, add up to the same rows, in order of address. */
static void threads_and_rows(void **state)
{
    (void)state;
    enum { INSTRUCTIONS = 300, ACCESSES = 2000 };
    struct sums expected[INSTRUCTIONS] = {0};
    struct wmi_vector_cost vector[INSTRUCTIONS] = {0};
    struct wmi_lds_cost lds[INSTRUCTIONS] = {0};
    const struct wmi_cost_rules *rules = wmi_cost_rules(0);
    struct wm_profile *profile = wmi_profile_create();
    size_t count = 99;
    assert_null(wmi_profile_rows(profile, &count));
    assert_int_equal(count, 0);
    for (int dispatch = 0; dispatch < 2; dispatch++) {
        char kernel[] = "kernel";
        const struct wmi_observer *observer = wmi_profile_begin(
            profile, &(struct wmi_profile_source){
                         .user = kernel, .describe = describe, .rules = rules, .wave_lanes = 64});
        void *local[3];
        for (int t = 0; t < 3; t++)
            local[t] = observer->thread_begin(observer->self);
        for (int i = 0; i < ACCESSES; i++) {
            /* Every instruction but the last ones; those are predecoded and never executed. */
            const unsigned which = (unsigned)(random_bits() % (INSTRUCTIONS - 10));
            uint64_t address[64];
            for (unsigned lane = 0; lane < 64; lane++)
                address[lane] = 0x4000 + random_bits() % 1024 * (which % 4 ? 4 : 1);
            const uint64_t lanes = random_bits();
            const struct wmi_access access = {
                .path = which % 2 ? WMI_PATH_DS : WMI_PATH_GLOBAL,
                .kind = which % 3,
                .lanes = lanes,
                .elements = 1,
                .bytes = 4,
                .element = {{.space = which % 2 ? WMI_SPACE_LDS : WMI_SPACE_GLOBAL,
                             .mask = lanes,
                             .address = address}}};
            const uint64_t pc = 0x100 + 8 * (INSTRUCTIONS - which);
            observer->access(local[random_bits() % 3], &access,
                             observer->instruction(observer->self, pc, which));
            count_slowly(&access, &expected[which]);
            add_costs(&access, rules, &vector[which], &lds[which]);
        }
        observer->instruction(observer->self, 0x100 + 8, INSTRUCTIONS - 1);
        for (int t = 0; t < 3; t++)
            observer->thread_end(observer->self, local[t]);
        memset(kernel, 0, sizeof kernel); /* copied, too */
    }
    const struct wm_profile_row *rows = wmi_profile_rows(profile, &count);
    size_t next = 0;
    for (int which = INSTRUCTIONS - 1; which >= 0; which--) {
        static const char *const operations[] = {"load", "store", "atomic"};
        if (expected[which].executions == 0)
            continue;
        assert_true(next < count);
        const struct wm_profile_row *row = &rows[next++];
        char text[32];
        snprintf(text, sizeof text, "insn %d at 0x%x", which, 0x100 + 8 * (INSTRUCTIONS - which));
        assert_int_equal(row->pc, 0x100 + 8 * (INSTRUCTIONS - which));
        assert_string_equal(row->text, text);
        assert_string_equal(row->kernel, "kernel");
        assert_int_equal(row->line, which);
        assert_string_equal(row->operation, operations[which % 3]);
        assert_string_equal(row->path, which % 2 ? "DS" : "GLOBAL");
        assert_int_equal(row->has_lines, which % 2 == 0);
        assert_int_equal(row->bytes, 4);
        check_row(row, &expected[which]);
        check_costs(row, &vector[which], &lds[which]);
    }
    assert_int_equal(next, count);
    wmi_profile_destroy(profile);
}

/* Accesses that their summary is enough for count as if they had been shown; and it is not enough where it
 * must not be: outside of what is allowed, with other lanes, or with a difference above 32 bits. */
static void summaries(void **state)
{
    (void)state;
    enum { PATTERNS = 6, RUN = 300 };
    const int accesses = reduced() ? PATTERNS * RUN : 20000;
    const struct wmi_cost_rules *rules = wmi_cost_rules(0);
    struct wm_profile *profile = wmi_profile_create();
    const struct wmi_observer *observer =
        wmi_profile_begin(profile, &(struct wmi_profile_source){.rules = rules, .wave_lanes = 64});
    const uint32_t slot = observer->instruction(observer->self, 0x100, 1);
    void *local = observer->thread_begin(observer->self), *group = NULL;
    struct sums expected = {0};
    struct wmi_vector_cost vector = {0};
    struct wmi_lds_cost lds = {0};
    int known = 0;
    observer->resume(local, &group, 0, 1, 0);
    for (int i = 0; i < accesses; i++) {
        /* Rows, steps, what lanes share, downwards, anywhere; now and then one lane is elsewhere. */
        const unsigned pattern = (unsigned)i / RUN % PATTERNS;
        const bool strange = random_bits() % 8 == 0, wide = random_bits() % 2;
        const uint64_t start =
            (wide ? 0x7fff00000000 : 0x40000) + random_bits() % 64 * 0x100 + random_bits() % 2 * 4;
        const uint64_t lanes = i / 100 % 3 == 0 ? ~0ULL : i / 100 % 3 == 1 ? 0xffff0000ffff0000 : 1;
        const uint64_t base = random_bits() % 2 ? 0 : wide ? 0xfffffff0 - 0x100 * (random_bits() % 4) : 0x100;
        alignas(64) uint32_t low[64], high[64];
        uint64_t address[64], last = 0;
        for (unsigned lane = 0; lane < 64; lane++) {
            static const int64_t steps[PATTERNS] = {4, 64, 0, -4, 4096, 8};
            uint64_t at = start + lane * (uint64_t)steps[pattern];
            if (strange && lane == 17)
                at += random_bits() % 2 && wide ? 1ULL << 32 : 4;
            low[lane] = (uint32_t)at;
            high[lane] = (uint32_t)(at >> 32);
            address[lane] = at + base;
            if (lanes >> lane & 1 && address[lane] + 4 > last)
                last = address[lane] + 4;
        }
        const bool outside = random_bits() % 16 == 0;
        const struct wmi_address_summary summary = {.low = low,
                                                    .high = wide ? high : NULL,
                                                    .base = base,
                                                    .lanes = lanes,
                                                    .to = last - outside,
                                                    .shape = wmi_access_shape(WMI_SPACE_GLOBAL, 1, 4)};
        const struct wmi_access access = {
            .path = WMI_PATH_GLOBAL,
            .kind = WMI_ACCESS_STORE,
            .lanes = lanes,
            .elements = 1,
            .bytes = 4,
            .element = {{.space = WMI_SPACE_GLOBAL, .mask = lanes, .address = address}}};
        const bool enough = observer->summary(local, &summary, slot);
        assert_false(enough && outside);
        known += enough;
        if (!enough)
            observer->access(local, &access, slot);
        count_slowly(&access, &expected);
        add_costs(&access, rules, &vector, &lds);
    }
    assert_true(known > accesses / 4);
    observer->end(local, group, 0);
    observer->thread_end(observer->self, local);
    size_t count;
    const struct wm_profile_row *rows = wmi_profile_rows(profile, &count);
    assert_int_equal(count, 1);
    check_row(&rows[0], &expected);
    check_costs(&rows[0], &vector, &lds);
    wmi_profile_destroy(profile);
}

/* ---- findings ---- */

/* One wave on a Vega 64, whose accesses are shown to the profile. */
struct one_wave {
    struct wm_profile *profile;
    const struct wmi_observer *observer;
    void *local, *group;
};

static struct one_wave begin_wave(void)
{
    struct one_wave one = {.profile = wmi_profile_create()};
    wmi_profile_set_gpu(one.profile, wm_gpu_default("gfx900"));
    one.observer = wmi_profile_begin(
        one.profile,
        &(struct wmi_profile_source){
            .rules = wmi_cost_rules(0),
            .wave_lanes = 64,
            .dispatch = {.kernel = "k", .grid = {64, 1, 1}, .workgroup = {64, 1, 1}, .vgprs = 8}});
    one.local = one.observer->thread_begin(one.observer->self);
    one.observer->resume(one.local, &one.group, 0, 1, 0);
    return one;
}

/* An instruction at `pc` accesses a dword of each lane of `mask`, `stride` bytes apart. */
static void show(const struct one_wave *one, uint64_t pc, enum wmi_path path, enum wmi_access_kind kind,
                 uint64_t mask, uint64_t base, uint64_t stride)
{
    const struct wmi_observer *observer = one->observer;
    uint64_t address[64];
    for (unsigned lane = 0; lane < 64; lane++)
        address[lane] = base + lane * stride;
    observer->access(
        one->local,
        &(struct wmi_access){.path = path,
                             .kind = kind,
                             .lanes = mask,
                             .elements = 1,
                             .bytes = 4,
                             .element = {{.space = path == WMI_PATH_DS ? WMI_SPACE_LDS : WMI_SPACE_GLOBAL,
                                          .mask = mask,
                                          .address = address}}},
        observer->instruction(observer->self, pc, 1));
}

static const struct wm_profile_finding *end_wave(struct one_wave *one, size_t *count)
{
    one->observer->end(one->local, one->group, 100);
    one->observer->thread_end(one->observer->self, one->local);
    wmi_profile_end(one->profile);
    return wmi_profile_findings(one->profile, count);
}

static void check_finding(const struct wm_profile_finding *finding, const char *cause, const char *part,
                          double now, const char *then, double after)
{
    assert_string_equal(finding->cause, cause);
    assert_string_equal(finding->now.name, part);
    assert_float_equal(finding->now.clocks, now, 1e-6);
    assert_string_equal(finding->after.name, then);
    assert_float_equal(finding->after.clocks, after, 1e-6);
    assert_float_equal(finding->gain, 1 - after / now, 1e-9);
    assert_float_equal(finding->after.seconds, after / 1546e6, 1e-15); /* 1546 MHz */
}

/* 64 lanes go down a column of rows of 256 bytes, 64 times: each time 16 clocks of the address unit, and 64
 * of tags and data, whose bank all lanes need (as measured on MI210), where 4 of each would be enough. But
 * each line, which L1 keeps, comes from L2 and memory once, so nothing is to be gained there: 64 x 256 B /
 * 483.8 GB/s x 1546 MHz = 52 clocks. */
static void column(void **state)
{
    (void)state;
    struct one_wave one = begin_wave();
    size_t count;
    for (unsigned i = 0; i < 64; i++)
        show(&one, 0x100, WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, ~0ULL, 0x10000 + 4 * i, 256);
    const struct wm_profile_finding *finding = end_wave(&one, &count);
    check_finding(&finding[0], "uncoalesced", "L1", 64 * 64, "L1", 4 * 64);
    assert_int_equal(finding[0].row_count, 1);
    assert_memory_equal(finding[0].rows[0]->advice, finding[0].verdict, strlen(finding[0].verdict));
    const struct wm_profile_row *rows = wmi_profile_rows(one.profile, &count);
    assert_ptr_equal(finding[0].rows[0], rows);
    assert_float_equal(rows->gain, 1 - 4. / 64, 1e-9);
    wmi_profile_destroy(one.profile);
}

/* 32 instructions each read a column of a tile with rows of 128 bytes: 32 dwords of one bank for each half of
 * the wave, 64 passes instead of 2. None alone is worth a finding, all are. */
static void spread_conflicts(void **state)
{
    (void)state;
    struct one_wave one = begin_wave();
    size_t count;
    for (unsigned i = 0; i < 32; i++)
        show(&one, 0x100 + 8 * i, WMI_PATH_DS, WMI_ACCESS_LOAD, ~0ULL, 4 * i, 128);
    const struct wm_profile_finding *finding = end_wave(&one, &count);
    check_finding(&finding[0], "bank-conflicts", "LDS", 32 * 64, "LDS", 32 * 2);
    assert_int_equal(finding[0].row_count, 32);
    assert_non_null(strstr(finding[0].place, " and 29 more"));
    wmi_profile_destroy(one.profile);
}

/* A member of a structure of 16 bytes: 64 clocks of one bank of the data (as measured on MI210), where 4
 * would be enough. If instructions access the other three members, too, one for all takes 16 instead of
 * 4 x 64 clocks, which is also what four take with an array for each member. */
static void structures(void **state)
{
    (void)state;
    for (unsigned members = 1; members <= 4; members += 3) {
        struct one_wave one = begin_wave();
        size_t count;
        for (unsigned i = 0; i < 64; i++)
            for (unsigned member = 0; member < members; member++)
                show(&one, 0x100 + 8 * member, WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, ~0ULL,
                     0x100000 + 1024 * i + 4 * member, 16);
        const struct wm_profile_finding *finding = end_wave(&one, &count);
        if (members == 1)
            check_finding(&finding[0], "structure", "data", 64 * 64, "L1", 64 * 4);
        else
            check_finding(&finding[0], "one-by-one", "data", 4 * 64 * 64, "L1", 64 * 16);
        for (size_t i = 0; i < count; i++)
            assert_string_not_equal(finding[i].cause, members == 1 ? "one-by-one" : "structure");
        wmi_profile_destroy(one.profile);
    }
}

/* The dwords of 128 bytes, against a list of bytes. */
static void used_dwords(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        static const unsigned sizes[] = {1, 2, 4, 8, 12, 16, 64, 200};
        uint64_t address[64];
        const uint64_t lanes = random_bits(), bad = random_bits() & random_bits();
        struct wmi_access access = {.elements = 1,
                                    .bytes = (uint8_t)sizes[random_bits() % 8],
                                    .element = {{.mask = lanes, .bad_range = bad, .address = address}}};
        const uint64_t step = random_bits() % 300;
        uint32_t expected = 0;
        for (unsigned lane = 0; lane < 64; lane++) {
            address[lane] = 0x1000 + lane * step + random_bits() % 2;
            for (unsigned i = 0; lanes & ~bad & 1ULL << lane && i < access.bytes; i++)
                expected |= 1u << (address[lane] + i) % 128 / 4;
        }
        assert_int_equal(wmi_used_dwords(&access), expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summaries),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(spaces_and_refused_lanes),
        cmocka_unit_test(random_accesses),
        cmocka_unit_test(threads_and_rows),
        cmocka_unit_test(column),
        cmocka_unit_test(spread_conflicts),
        cmocka_unit_test(structures),
        cmocka_unit_test(used_dwords),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
