/* SPDX-License-Identifier: MIT */
/* Costs of accesses, against published hardware counters and simple references of the rules. */
#include "profile/cost/cost.h"
#include "unit/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Rows of the table. */
enum { GCN, CDNA3, RDNA, GFX950, ROWS, GFX11 = ROWS, GFX12 };

/* One place per lane at base + lane x stride. */
struct pattern {
    uint64_t address[64];
    struct wmi_access access;
};

static void make(struct pattern *pattern, enum wmi_path path, enum wmi_access_kind kind, unsigned bytes,
                 uint64_t base, uint64_t stride, uint64_t lanes)
{
    for (unsigned lane = 0; lane < 64; lane++)
        pattern->address[lane] = base + lane * stride;
    pattern->access = (struct wmi_access){
        .path = path,
        .kind = kind,
        .lanes = lanes,
        .elements = 1,
        .bytes = (uint8_t)bytes,
        .element[0] = {.space = path == WMI_PATH_DS ? WMI_SPACE_LDS : WMI_SPACE_GLOBAL,
                       .mask = lanes,
                       .address = pattern->address},
    };
}

/* ---- the vector memory path ---- */

static struct wmi_vector_cost vector_of(const struct pattern *pattern, unsigned row)
{
    return wmi_coalesce(&pattern->access, &wmi_cost_rules(row)->vector, row == RDNA ? 32 : 64);
}

/* rocprofiler-compute's workloads on MI100 and MI200 (mixbench and vcopy), MI300's request sizes, and the
 * cases of GPUOpen's document. */
static void published_vector(void **state)
{
    (void)state;
    static const struct {
        unsigned row, kind, bytes;
        uint64_t base, stride, lanes;
        unsigned quads, lookups, reads, writes, collapsed;
    } cases[] = {
        /* mixbench: consecutive dwords: 16 accesses (quads), 4 lookups, 4 requests; dwordx2: 64, 16, 8. */
        {GCN, WMI_ACCESS_LOAD, 4, 0x1000, 4, ~0ULL, 4, 4, 4, 0, 0},
        {GCN, WMI_ACCESS_LOAD, 8, 0x1000, 8, ~0ULL, 16, 16, 8, 0, 0},
        /* vcopy's store. */
        {GCN, WMI_ACCESS_STORE, 8, 0x1000, 8, ~0ULL, 16, 16, 0, 8, 0},
        {GCN, WMI_ACCESS_STORE, 4, 0x1000, 4, ~0ULL, 4, 4, 0, 4, 0},
        /* dwordx4: each quad fills a line. */
        {GCN, WMI_ACCESS_LOAD, 16, 0x1000, 16, ~0ULL, 16, 16, 16, 0, 0},
        /* One address for all lanes; for an address per quad, see `quads` below. */
        {GCN, WMI_ACCESS_LOAD, 4, 0x1000, 0, ~0ULL, 4, 4, 1, 0, 0},
        {GCN, WMI_ACCESS_STORE, 4, 0x1000, 0, ~0ULL, 4, 4, 0, 1, 63},
        /* Consecutive bytes: 4 of them are a block. */
        {GCN, WMI_ACCESS_LOAD, 1, 0x1000, 1, ~0ULL, 4, 4, 1, 0, 0},
        /* Consecutive dwords, one off the 16-byte blocks; the last is in a fifth line, quad 15 in two. */
        {GCN, WMI_ACCESS_LOAD, 4, 0x1004, 4, ~0ULL, 16, 20, 5, 0, 0},
        /* Every second dword: loads by quads, stores by pairs; two lines of 16 lanes each. */
        {GCN, WMI_ACCESS_LOAD, 4, 0x1000, 8, ~0ULL, 16, 16, 8, 0, 0},
        {GCN, WMI_ACCESS_STORE, 4, 0x1000, 8, ~0ULL, 16, 32, 0, 8, 0},
        /* A column: every lane in its own line. */
        {GCN, WMI_ACCESS_LOAD, 4, 0x1000, 4096, ~0ULL, 16, 64, 64, 0, 0},
        /* Lanes 0 to 15 only: three groups need no lookups. */
        {GCN, WMI_ACCESS_LOAD, 4, 0x1000, 4, 0xffff, 4, 1, 1, 0, 0},
        {GCN, WMI_ACCESS_LOAD, 8, 0x1000, 8, 0xffff, 16, 4, 2, 0, 0},
        /* No active lane. */
        {GCN, WMI_ACCESS_LOAD, 4, 0x1000, 4, 0, 0, 0, 0, 0, 0},
        /* MI300: reads of 128 bytes, writes of 64. */
        {CDNA3, WMI_ACCESS_LOAD, 4, 0x1000, 4, ~0ULL, 4, 4, 2, 0, 0},
        {CDNA3, WMI_ACCESS_STORE, 4, 0x1000, 4, ~0ULL, 4, 4, 0, 4, 0},
        {CDNA3, WMI_ACCESS_LOAD, 8, 0x1000, 8, ~0ULL, 16, 16, 4, 0, 0},
        {CDNA3, WMI_ACCESS_STORE, 8, 0x1000, 8, ~0ULL, 16, 16, 0, 8, 0},
        /* RDNA: 32 lanes in one line of 128 bytes, or four lanes per clock. */
        {RDNA, WMI_ACCESS_LOAD, 4, 0x1000, 4, 0xffffffff, 1, 1, 1, 0, 0},
        {RDNA, WMI_ACCESS_LOAD, 4, 0x1004, 4, 0xffffffff, 8, 9, 2, 0, 0},
        {RDNA, WMI_ACCESS_LOAD, 4, 0x1000, 128, 0xffffffff, 8, 32, 32, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pattern pattern;
        make(&pattern, WMI_PATH_GLOBAL, cases[i].kind, cases[i].bytes, cases[i].base, cases[i].stride,
             cases[i].lanes);
        const struct wmi_vector_cost cost = vector_of(&pattern, cases[i].row);
        if (cost.quads != cases[i].quads || cost.lookups != cases[i].lookups ||
            cost.reads != cases[i].reads || cost.writes != cases[i].writes ||
            cost.collapsed != cases[i].collapsed)
            fail_msg("case %zu: %u quads, %u lookups, %u reads, %u writes, %u collapsed", i, cost.quads,
                     cost.lookups, cost.reads, cost.writes, cost.collapsed);
        assert_int_equal(cost.atomics, 0);
    }
}

/* Stores of a dword per lane, four lanes at once: the bound takes their lines as in different banks of the
 * tags, the prediction finds them in four banks by the number of the line. */
static void store_tags(void **state)
{
    (void)state;
    static const struct {
        unsigned row;
        uint64_t stride;
        unsigned tags, stores;
    } cases[] = {
        {GCN, 4, 4, 4},       {GCN, 64, 16, 16},     {GCN, 128, 16, 32},
        {GCN, 256, 16, 64},   {GCN, 4096, 16, 64},   {GCN, 4160, 16, 16},
        {CDNA3, 256, 16, 32}, {CDNA3, 4096, 16, 64}, {GFX950, 4096, 16, 16}, /* its banks are unknown */
        {RDNA, 4096, 8, 32},  {RDNA, 4224, 8, 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pattern pattern;
        make(&pattern, WMI_PATH_GLOBAL, WMI_ACCESS_STORE, 4, 0x1000, cases[i].stride,
             cases[i].row == RDNA ? 0xffffffff : ~0ULL);
        const struct wmi_vector_cost cost = vector_of(&pattern, cases[i].row);
        if (cost.tag_clocks != cases[i].tags || cost.store_clocks != cases[i].stores)
            fail_msg("case %zu: %u tag clocks, %u of a store", i, cost.tag_clocks, cost.store_clocks);
        pattern.access.kind = WMI_ACCESS_LOAD;
        assert_int_equal(vector_of(&pattern, cases[i].row).store_clocks, 0);
    }
}

/* gpu-benches' gpu-strides: clocks of a load of 32 lanes that lie so many floats or doubles apart, which hits
 * in the vector cache; lanes are those of one wave, and eight loads lie four elements apart. The rules may
 * not exceed what was measured. Not exact: contiguous floats, whose loop takes a little longer, doubles on
 * RDNA, whose sums take 4 clocks, and three floats there. */
static void measured_strides(void **state)
{
    (void)state;
    static const struct {
        unsigned row, bytes, stride;
        double measured;
        bool exact;
    } cases[] = {
        {RDNA, 4, 0, 1.00, true},  {RDNA, 4, 1, 1.00, true},  {RDNA, 4, 2, 1.99, true},
        {RDNA, 4, 3, 1.99, false}, {RDNA, 4, 4, 3.98, true},  {RDNA, 4, 5, 1.99, true},
        {RDNA, 4, 8, 8.0, true},   {RDNA, 4, 9, 2.99, true},  {RDNA, 4, 13, 4.01, true},
        {RDNA, 4, 16, 15.9, true}, {RDNA, 4, 17, 4.98, true}, {RDNA, 4, 20, 5.4, true},
        {RDNA, 4, 21, 6.0, true},  {RDNA, 4, 28, 7.1, true},  {RDNA, 4, 32, 31.9, true},
        {RDNA, 4, 63, 12.4, true}, {RDNA, 4, 64, 32.2, true}, {RDNA, 8, 1, 4.34, false},
        {RDNA, 8, 4, 8.0, true},   {RDNA, 8, 8, 16.0, true},  {RDNA, 8, 9, 5.0, true},
        {RDNA, 8, 11, 6.0, true},  {RDNA, 8, 13, 7.0, true},  {RDNA, 8, 15, 8.0, true},
        {RDNA, 8, 16, 32.0, true}, {GCN, 4, 0, 2.18, false},  {GCN, 4, 1, 2.18, false},
        {GCN, 4, 2, 16.1, true},   {GCN, 4, 3, 8.1, true},    {GCN, 4, 4, 32.2, true},
        {GCN, 4, 5, 14.1, true},   {GCN, 4, 6, 16.1, true},   {GCN, 4, 7, 14.1, true},
        {GCN, 4, 11, 14.1, true},  {GCN, 4, 12, 32.2, true},  {GCN, 4, 15, 24.2, true},
        {GCN, 4, 17, 24.2, true},  {GCN, 4, 31, 24.2, true},  {GCN, 4, 61, 14.1, true},
        {GCN, 4, 64, 32.2, true},  {GCN, 8, 0, 8.1, true},    {GCN, 8, 1, 8.1, true},
        {GCN, 8, 4, 16.1, true},   {GCN, 8, 7, 8.1, true},    {GCN, 8, 8, 32.2, true},
        {GCN, 8, 9, 8.1, true},    {GCN, 8, 10, 12.1, true},  {GCN, 8, 12, 16.1, true},
        {GCN, 8, 13, 12.1, true},  {GCN, 8, 15, 16.1, true},  {GCN, 8, 16, 32.2, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t most = 0;
        for (unsigned offset = 0; offset < 8; offset++) {
            struct pattern pattern;
            make(&pattern, WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, cases[i].bytes,
                 0x1000 + 4 * cases[i].bytes * offset, (uint64_t)cases[i].stride * cases[i].bytes,
                 cases[i].row == RDNA ? 0xffffffff : ~0ULL);
            const struct wmi_vector_cost cost = vector_of(&pattern, cases[i].row);
            const uint32_t longer = cost.bank_clocks > cost.clocks ? cost.bank_clocks : cost.clocks;
            most += longer > cost.tag_clocks ? longer : cost.tag_clocks;
        }
        const double clocks = most / 8.0 / (cases[i].row == RDNA ? 1 : 2);
        if (clocks > 1.03 * cases[i].measured || (cases[i].exact && clocks < 0.97 * cases[i].measured))
            fail_msg("stride %u of %u bytes on row %u: %g clocks, measured %g", cases[i].stride,
                     cases[i].bytes, cases[i].row, clocks, cases[i].measured);
    }
}

/* Bytes in rows of two, four and eight lanes, and rows that begin anywhere: see dedispersion on MI250X. */
static void unaligned_rows(void **state)
{
    (void)state;
    struct pattern pattern;
    make(&pattern, WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 4, 0x1004, 4, ~0ULL);
    assert_int_equal(vector_of(&pattern, GCN).clocks, 4);
    assert_int_equal(vector_of(&pattern, RDNA).clocks, 1);
    make(&pattern, WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 1, 0x1003, 1, ~0ULL);
    for (unsigned lane = 0; lane < 64; lane++)
        pattern.address[lane] = 0x1003 + lane % 8 + 999 * (lane / 8);
    assert_int_equal(vector_of(&pattern, GCN).clocks, 4);
    assert_false(vector_of(&pattern, GCN).fast);
    /* One group has a quad that is spread; its quads take a clock each. */
    pattern.address[5] += 64;
    assert_int_equal(vector_of(&pattern, GCN).clocks, 7);
    /* Only quads with active lanes take time. */
    make(&pattern, WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 8, 0x1000, 8, 0xf00f);
    assert_int_equal(vector_of(&pattern, GCN).clocks, 2);
}

/* GPUOpen's three patterns, and near misses. */
static void fast_patterns(void **state)
{
    (void)state;
    struct pattern pattern;
    /* One address per quad. */
    make(&pattern, WMI_PATH_BUFFER, WMI_ACCESS_LOAD, 4, 0x1000, 0, ~0ULL);
    for (unsigned lane = 0; lane < 64; lane++)
        pattern.address[lane] = 0x1002 + 1000 * (lane / 4); /* anywhere */
    assert_true(vector_of(&pattern, GCN).fast);
    assert_int_equal(vector_of(&pattern, GCN).quads, 4);
    /* Each quad in a separate block, descending. */
    for (unsigned lane = 0; lane < 64; lane++)
        pattern.address[lane] = 0x9000 - 4096 * (lane / 4) + 4 * (3 - lane % 4);
    assert_true(vector_of(&pattern, GCN).fast);
    assert_int_equal(vector_of(&pattern, GCN).lookups, 16);
    /* The same with one lane outside its block: the whole wave leaves the fast path, unless that lane is
     * inactive. */
    pattern.address[33] += 16;
    assert_int_equal(vector_of(&pattern, GCN).quads, 16);
    pattern.access.lanes = pattern.access.element[0].mask &= ~(1ULL << 33);
    assert_int_equal(vector_of(&pattern, GCN).quads, 4);
    /* Images and atomics are processed by quads; on RDNA, images like buffers. */
    make(&pattern, WMI_PATH_IMAGE, WMI_ACCESS_LOAD, 4, 0x1000, 4, ~0ULL);
    assert_int_equal(vector_of(&pattern, GCN).quads, 16);
    assert_int_equal(vector_of(&pattern, RDNA).clocks, 1);
    make(&pattern, WMI_PATH_GLOBAL, WMI_ACCESS_ATOMIC, 4, 0x1000, 4, ~0ULL);
    assert_int_equal(vector_of(&pattern, GCN).quads, 16);
    assert_int_equal(vector_of(&pattern, GCN).atomics, 4);
    /* Atomics never collapse. */
    make(&pattern, WMI_PATH_GLOBAL, WMI_ACCESS_ATOMIC, 4, 0x1000, 0, ~0ULL);
    assert_int_equal(vector_of(&pattern, GCN).atomics, 64);
    assert_int_equal(vector_of(&pattern, GCN).collapsed, 0);
    /* Refused lanes and LDS lanes make no requests. */
    make(&pattern, WMI_PATH_FLAT, WMI_ACCESS_LOAD, 4, 0x1000, 4, ~0ULL);
    pattern.access.element[0].bad_range = 0xffffffff;
    assert_int_equal(vector_of(&pattern, GCN).reads, 2);
    pattern.access.element[0].space = WMI_SPACE_LDS;
    assert_int_equal(vector_of(&pattern, GCN).clocks, 0);
    assert_null(wmi_cost_rules(99));
}

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint32_t distinct(uint64_t *list, size_t count)
{
    uint32_t found = 0;
    qsort(list, count, sizeof *list, compare_u64);
    for (size_t i = 0; i < count; i++)
        found += i == 0 || list[i] != list[i - 1];
    return found;
}

static bool reaches(const struct wmi_element *element, enum wmi_address_space space, unsigned lane)
{
    return element->space == space && element->mask >> lane & 1 &&
           !((element->bad_range | element->bad_align | element->bad_aperture) >> lane & 1);
}

/* Number of `size`-byte blocks with a byte of lanes first to first + count - 1, by listing every byte. */
static uint32_t blocks_slowly(const struct wmi_access *access, unsigned first, unsigned count, uint64_t size)
{
    static uint64_t list[16 * 64 * 256];
    size_t bytes = 0;
    for (unsigned e = 0; e < access->elements; e++)
        for (unsigned lane = first; lane < first + count; lane++)
            for (unsigned i = 0; i < access->bytes && reaches(&access->element[e], WMI_SPACE_GLOBAL, lane);
                 i++)
                list[bytes++] = (access->element[e].address[lane] + i) / size;
    return distinct(list, bytes);
}

/* Operations on the most frequent address of a block, summed over blocks; *repeated: lanes with the address
 * of an earlier lane. */
static uint32_t popular_slowly(const struct wmi_access *access, uint64_t size, uint32_t *repeated)
{
    uint32_t requests = 0;
    for (unsigned e = 0; e < access->elements; e++) {
        const struct wmi_element *element = &access->element[e];
        for (unsigned lane = 0; lane < 64; lane++) {
            uint32_t most = 0, earlier = 0;
            bool first_of_block = true;
            if (!reaches(element, WMI_SPACE_GLOBAL, lane))
                continue;
            for (unsigned other = 0; other < 64; other++) {
                uint32_t same = 0;
                if (!reaches(element, WMI_SPACE_GLOBAL, other) ||
                    element->address[other] / size != element->address[lane] / size)
                    continue;
                for (unsigned third = 0; third < 64; third++)
                    same += reaches(element, WMI_SPACE_GLOBAL, third) &&
                            element->address[third] == element->address[other];
                most = same > most ? same : most;
                first_of_block &= other >= lane;
                earlier += other < lane && element->address[other] == element->address[lane];
            }
            *repeated += earlier > 0;
            requests += first_of_block ? most : 0;
        }
    }
    return requests;
}

static bool quad_is_fast_slowly(const struct wmi_access *access, const struct wmi_element *element,
                                unsigned quad)
{
    uint64_t addresses[4], blocks[8];
    size_t count = 0;
    for (unsigned lane = quad; lane < quad + 4; lane++) {
        if (!reaches(element, WMI_SPACE_GLOBAL, lane))
            continue;
        addresses[count] = element->address[lane];
        blocks[2 * count] = addresses[count] / (4 * access->bytes);
        blocks[2 * count + 1] = (addresses[count] + access->bytes - 1) / (4 * access->bytes);
        count++;
    }
    return distinct(addresses, count) <= 1 || distinct(blocks, 2 * count) <= 1;
}

/* The most distinct words of `size` bytes in one of the banks that the lanes in the mask access. */
static uint32_t deepest_slowly(const struct wmi_access *access, uint64_t mask, uint64_t size, unsigned banks)
{
    static uint64_t list[16 * 64 * 256];
    uint32_t most = 0;
    for (unsigned bank = 0; bank < banks; bank++) {
        size_t words = 0;
        for (unsigned e = 0; e < access->elements; e++)
            for (unsigned lane = 0; lane < 64; lane++)
                for (unsigned i = 0; mask >> lane & 1 && i < access->bytes &&
                                     reaches(&access->element[e], WMI_SPACE_GLOBAL, lane);
                     i++) {
                    const uint64_t word = (access->element[e].address[lane] + i) / size;
                    if (word % banks == bank)
                        list[words++] = word;
                }
        const uint32_t now = distinct(list, words);
        most = now > most ? now : most;
    }
    return most;
}

/* Whether the quad's lanes begin and end within 16 bytes. */
static bool quad_is_near_slowly(const struct wmi_access *access, unsigned quad)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (unsigned e = 0; e < access->elements; e++)
        for (unsigned lane = quad; lane < quad + 4; lane++) {
            if (!reaches(&access->element[e], WMI_SPACE_GLOBAL, lane))
                continue;
            const uint64_t at = access->element[e].address[lane];
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
    return low > high || high - low + access->bytes <= 16;
}

/* narrow: one element of 1, 2 or 4 bytes. */
static void check_clocks_slowly(const struct wmi_access *access, unsigned row, bool narrow,
                                const struct wmi_vector_cost *cost)
{
    const unsigned group = row == RDNA ? 32 : 16, lanes = row == RDNA ? 32 : 64, tag = row == GCN ? 64 : 128;
    const bool loads = access->kind == WMI_ACCESS_LOAD;
    const bool banked = loads && (row == RDNA || (row != GFX950 && access->elements == 1 &&
                                                  (access->bytes == 4 || access->bytes == 8)));
    uint32_t clocks = 0, tags = 0, stores = 0, banks = 0;
    for (unsigned first = 0; first < lanes; first += group) {
        bool near = narrow && access->kind != WMI_ACCESS_ATOMIC;
        for (unsigned quad = first; quad < first + group; quad += 4)
            near &= quad_is_near_slowly(access, quad);
        const bool whole = row == RDNA || near;
        for (unsigned step = 0; step < (whole ? 1 : 4); step++) {
            const bool apart = !whole && row != GFX950 && loads && narrow;
            const uint64_t all = whole ? (1ULL << group) - 1 : apart ? 0x1111ULL << step : 0xfULL << 4 * step;
            const uint32_t lines =
                blocks_slowly(access, whole ? first : first + 4 * step, whole ? group : 4, tag);
            const uint32_t deepest = deepest_slowly(access, all << first, tag, 4);
            const uint32_t words = row == RDNA ? deepest_slowly(access, all << first, 4, 32)
                                   : near      ? deepest != 0
                                               : deepest_slowly(access, all << first, 8, 8);
            clocks += lines > 0;
            tags += !loads || row == GFX950 ? (lines + 3) / 4 : deepest;
            stores += row == GFX950 ? (lines + 3) / 4 : deepest;
            banks += near && row != RDNA ? words : deepest > words ? deepest : words;
        }
    }
    assert_int_equal(cost->clocks, clocks);
    assert_int_equal(cost->tag_clocks, tags);
    assert_int_equal(cost->store_clocks, access->kind == WMI_ACCESS_STORE ? stores : 0);
    assert_int_equal(cost->bank_clocks, banked ? banks : 0);
}

/* The reference for GCN and CDNA, and for the 32 lanes of RDNA. */
static void check_vector_slowly(const struct wmi_access *access, unsigned row)
{
    const struct wmi_vector_cost cost =
        wmi_coalesce(access, &wmi_cost_rules(row)->vector, row == RDNA ? 32 : 64);
    const unsigned lanes = row == RDNA ? 32 : 64, tag = row == GCN ? 64 : 128;
    const unsigned read = row == GCN ? 64 : 128, write = row == RDNA ? 128 : 64;
    const struct wmi_element *only = NULL;
    unsigned places = 0;
    for (unsigned e = 0; e < access->elements; e++) {
        bool any = false;
        for (unsigned lane = 0; lane < 64; lane++)
            any |= reaches(&access->element[e], WMI_SPACE_GLOBAL, lane);
        places += any;
        only = any ? &access->element[e] : only;
    }
    if (!only) {
        assert_int_equal(cost.quads + cost.clocks + cost.tag_clocks + cost.bank_clocks, 0);
        assert_int_equal(cost.lookups + cost.reads + cost.writes + cost.atomics, 0);
        return;
    }
    bool fast = places == 1 && access->bytes <= 4 && access->kind != WMI_ACCESS_ATOMIC;
    if (row == RDNA) {
        uint64_t address[64];
        size_t count = 0;
        for (unsigned lane = 0; lane < 32; lane++)
            if (reaches(only, WMI_SPACE_GLOBAL, lane))
                address[count++] = only->address[lane];
        fast &= blocks_slowly(access, 0, 32, 128) <= 1 || distinct(address, count) <= 1;
    } else {
        for (unsigned quad = 0; quad < 64 && fast; quad += 4)
            fast &= quad_is_fast_slowly(access, only, quad);
    }
    const bool pairs =
        row != RDNA && access->kind == WMI_ACCESS_STORE && access->elements * access->bytes <= 4;
    const unsigned step = fast ? (row == RDNA ? 32 : 16) : pairs ? 2 : 4;
    uint32_t lookups = 0, repeated = 0;
    for (unsigned lane = 0; lane < lanes; lane += step)
        lookups += blocks_slowly(access, lane, step, tag);
    const uint32_t operations = popular_slowly(access, write, &repeated);
    assert_int_equal(cost.fast, fast);
    assert_int_equal(cost.quads, fast ? (row == RDNA ? 1 : 4) : lanes / 4);
    check_clocks_slowly(access, row, places == 1 && access->bytes <= 4 && access->bytes != 3, &cost);
    assert_int_equal(cost.lookups, lookups);
    assert_int_equal(cost.reads, access->kind == WMI_ACCESS_LOAD ? blocks_slowly(access, 0, 64, read) : 0);
    assert_int_equal(cost.writes, access->kind == WMI_ACCESS_STORE ? blocks_slowly(access, 0, 64, write) : 0);
    assert_int_equal(cost.atomics, access->kind == WMI_ACCESS_ATOMIC ? operations : 0);
    assert_int_equal(cost.collapsed, access->kind == WMI_ACCESS_STORE ? repeated : 0);
}

/* Addresses in or near patterns, and random ones. */
static uint64_t random_address(unsigned shape, unsigned lane, unsigned bytes, uint64_t spread)
{
    switch (shape) {
    case 0:
        return 0x10000 + lane * bytes;
    case 1:
        return 0x10000 + (lane / 4 * 4 + random_bits() % 4) * bytes;
    case 2:
        return 0x10000 + lane / 4 * spread;
    case 3:
        return 0x10000 + lane * bytes + (random_bits() % 40 == 0) * spread;
    case 4:
        return 0x10000 + random_bits() % 8 * bytes;
    default:
        return 0x10000 + random_bits() % spread;
    }
}

static void random_vector(void **state)
{
    (void)state;
    static const unsigned sizes[] = {1, 2, 4, 4, 8, 12, 16};
    for (int round = 0; round < 6000; round++) {
        const unsigned row = (unsigned)round % ROWS, shape = (unsigned)(random_bits() % 6);
        const uint64_t wave = row == RDNA ? 0xffffffff : ~0ULL, spread = 1ULL << (2 + random_bits() % 12);
        struct wmi_access access = {
            .path = WMI_PATH_GLOBAL,
            .kind = random_bits() % 3,
            .lanes = wave & (random_bits() | (round % 3 ? ~0ULL : 0)),
            .elements = (uint8_t)(random_bits() % 4 ? 1 : 1 + random_bits() % 4),
            .bytes = (uint8_t)sizes[random_bits() % 7],
        };
        uint64_t address[4][64];
        for (unsigned e = 0; e < access.elements; e++) {
            access.element[e] = (struct wmi_element){
                .space = random_bits() % 8 == 0,
                .mask = access.lanes,
                .bad_range = round % 5 ? 0 : random_bits(),
                .bad_align = round % 7 ? 0 : random_bits(),
                .address = address[e],
            };
            for (unsigned lane = 0; lane < 64; lane++)
                address[e][lane] = random_address(shape, lane, access.bytes, spread);
        }
        check_vector_slowly(&access, row);
    }
}

/* ---- LDS ---- */

static struct wmi_lds_cost lds_of(const struct pattern *pattern, unsigned row)
{
    return wmi_lds_passes(&pattern->access, &wmi_cost_rules(row)->lds, row == RDNA ? 32 : 64);
}

static void published_lds(void **state)
{
    (void)state;
    static const struct {
        unsigned row, kind, bytes;
        uint64_t base, stride, lanes;
        unsigned passes, conflicts, depth;
    } cases[] = {
        /* MI250, ds_read_b32 at tid x 32 dwords, n lanes (rocprofiler-compute): 2 and 0, then 3 and 1. */
        {GCN, WMI_ACCESS_LOAD, 4, 0, 128, 1, 2, 0, 1},
        {GCN, WMI_ACCESS_LOAD, 4, 0, 128, 3, 3, 1, 2},
        /* All 64 lanes: each half has 32 lanes on one bank. */
        {GCN, WMI_ACCESS_LOAD, 4, 0, 128, ~0ULL, 64, 62, 32},
        /* Consecutive: no conflicts, at 128 bytes per clock. */
        {GCN, WMI_ACCESS_LOAD, 4, 0, 4, ~0ULL, 2, 0, 1},
        {GCN, WMI_ACCESS_LOAD, 8, 0, 8, ~0ULL, 4, 0, 1},
        {GCN, WMI_ACCESS_LOAD, 16, 0, 16, ~0ULL, 8, 0, 1},
        {GCN, WMI_ACCESS_STORE, 8, 0, 8, ~0ULL, 4, 0, 1},
        {GCN, WMI_ACCESS_STORE, 16, 0, 16, ~0ULL, 8, 0, 1},
        /* MI210: ds_write_b64 at odd multiples of 4 takes 64 passes without conflicts. */
        {GCN, WMI_ACCESS_STORE, 8, 4, 8, ~0ULL, 64, 0, 0},
        /* One dword for all lanes, and bytes of a dword. */
        {GCN, WMI_ACCESS_LOAD, 4, 64, 0, ~0ULL, 2, 0, 1},
        {GCN, WMI_ACCESS_LOAD, 1, 0, 1, ~0ULL, 2, 0, 1},
        /* No active lane: each group still takes a pass. */
        {GCN, WMI_ACCESS_LOAD, 4, 0, 4, 0, 2, 0, 0},
        /* b128 with a stride of 32 dwords: all eight lanes of a group conflict. */
        {GCN, WMI_ACCESS_STORE, 16, 0, 128, ~0ULL, 64, 56, 8},
        /* gfx950: 64 banks. */
        {GFX950, WMI_ACCESS_LOAD, 4, 0, 128, ~0ULL, 32, 30, 16},
        {GFX950, WMI_ACCESS_LOAD, 8, 0, 8, ~0ULL, 2, 0, 1},
        {GFX950, WMI_ACCESS_STORE, 8, 0, 8, ~0ULL, 4, 0, 1},
        {GFX950, WMI_ACCESS_LOAD, 16, 0, 16, ~0ULL, 4, 0, 1},
        /* RDNA3: wave32 takes one pass. */
        {RDNA, WMI_ACCESS_LOAD, 4, 0, 4, 0xffffffff, 1, 0, 1},
        {RDNA, WMI_ACCESS_LOAD, 4, 0, 128, 0xffffffff, 32, 31, 32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pattern pattern;
        make(&pattern, WMI_PATH_DS, cases[i].kind, cases[i].bytes, cases[i].base, cases[i].stride,
             cases[i].lanes);
        const struct wmi_lds_cost cost = lds_of(&pattern, cases[i].row);
        if (cost.passes != cases[i].passes || cost.conflicts != cases[i].conflicts ||
            cost.depth != cases[i].depth)
            fail_msg("case %zu: %u passes, %u conflicts, depth %u", i, cost.passes, cost.conflicts,
                     cost.depth);
    }
}

/* Which lanes' reads of 12 and 16 bytes conflict: those of a group. Measured on MI300 (triton-lang/triton,
 * pull request 9662), and AMD's table for gfx12, whose order differs from gfx11's (pull request 11365). */
static void groups_of_wide_reads(void **state)
{
    (void)state;
    static const unsigned crossed[] = {0, 1, 2, 3, 1, 0, 3, 2}; /* of four lanes each */
    static const struct {
        unsigned row;
        bool crossed;
    } cases[] = {{GCN, true}, {CDNA3, true}, {GFX11, true}, {GFX12, false}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (unsigned pair = 0; pair < 32 * 32; pair++) {
            const unsigned lane[2] = {pair / 32, pair % 32};
            unsigned group[2];
            struct pattern pattern;
            if (lane[0] >= lane[1])
                continue;
            for (unsigned i = 0; i < 2; i++)
                group[i] = cases[c].crossed ? crossed[lane[i] / 4] : lane[i] / 8;
            for (unsigned bytes = 12; bytes <= 16; bytes += 4) {
                make(&pattern, WMI_PATH_DS, WMI_ACCESS_LOAD, bytes, 0, 128, 1u << lane[0] | 1u << lane[1]);
                const struct wmi_lds_cost cost =
                    wmi_lds_passes(&pattern.access, &wmi_cost_rules(cases[c].row)->lds, 32);
                assert_int_equal(cost.conflicts, group[0] == group[1]);
            }
        }
}

/* RDNA executes wave64 as two halves. */
static void waves_of_64(void **state)
{
    (void)state;
    struct pattern pattern;
    make(&pattern, WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 4, 0x1000, 4, ~0ULL);
    struct wmi_vector_cost cost = wmi_coalesce(&pattern.access, &wmi_cost_rules(RDNA)->vector, 64);
    assert_true(cost.fast);
    assert_int_equal(cost.quads, 2);
    assert_int_equal(cost.clocks, 2);
    assert_int_equal(cost.lookups, 2);
    assert_int_equal(cost.reads, 2);
    /* One half can leave the fast path alone. */
    pattern.address[40] += 4096;
    cost = wmi_coalesce(&pattern.access, &wmi_cost_rules(RDNA)->vector, 64);
    assert_false(cost.fast);
    assert_int_equal(cost.quads, 1 + 8);
    assert_int_equal(cost.clocks, 2);
    assert_int_equal(cost.lookups, 1 + 9);
    assert_int_equal(cost.reads, 3);
    make(&pattern, WMI_PATH_DS, WMI_ACCESS_LOAD, 4, 0, 4, ~0ULL);
    assert_int_equal(wmi_lds_passes(&pattern.access, &wmi_cost_rules(RDNA)->lds, 64).passes, 2);
    make(&pattern, WMI_PATH_DS, WMI_ACCESS_LOAD, 4, 0, 128, ~0ULL);
    assert_int_equal(wmi_lds_passes(&pattern.access, &wmi_cost_rules(RDNA)->lds, 64).passes, 64);
}

/* Bank conflicts: the lanes and banks involved; read2 as two reads; lanes out of range; FLAT. */
static void meetings(void **state)
{
    (void)state;
    struct pattern pattern;
    /* A column of a tile of 16 x 16 floats: lane = column + 16 row reads [column][row]. In a half (rows 0 and
     * 1), eight even columns conflict on bank `row`, eight odd ones on 16 + `row`. */
    make(&pattern, WMI_PATH_DS, WMI_ACCESS_LOAD, 4, 0, 0, ~0ULL);
    for (unsigned lane = 0; lane < 64; lane++)
        pattern.address[lane] = 4 * (16 * (lane % 16) + lane / 16);
    struct wmi_lds_cost cost = lds_of(&pattern, GCN);
    assert_int_equal(cost.passes, 16);
    assert_int_equal(cost.conflicts, 14);
    assert_int_equal(cost.depth, 8);
    assert_int_equal(cost.bank, 0);
    assert_int_equal(cost.lanes, 0x5555);
    /* With rows of 17 floats: lane 15 of the second row has lane 0's bank. */
    for (unsigned lane = 0; lane < 64; lane++)
        pattern.address[lane] = 4 * (17 * (lane % 16) + lane / 16);
    cost = lds_of(&pattern, GCN);
    assert_int_equal(cost.passes, 4);
    assert_int_equal(cost.conflicts, 2);
    assert_int_equal(cost.lanes, 1 | 1ULL << 31);
    /* read2: the two places are separate passes. */
    make(&pattern, WMI_PATH_DS, WMI_ACCESS_LOAD, 4, 0, 4, ~0ULL);
    pattern.access.elements = 2;
    pattern.access.element[1] = pattern.access.element[0];
    assert_int_equal(lds_of(&pattern, GCN).passes, 4);
    assert_int_equal(lds_of(&pattern, GCN).conflicts, 0);
    /* Lanes out of range do not conflict. */
    make(&pattern, WMI_PATH_DS, WMI_ACCESS_LOAD, 4, 0, 128, ~0ULL);
    pattern.access.element[0].bad_range = ~0ULL << 2;
    assert_int_equal(lds_of(&pattern, GCN).passes, 3);
    /* Atomics on the same dword conflict. */
    make(&pattern, WMI_PATH_DS, WMI_ACCESS_ATOMIC, 4, 0, 0, ~0ULL);
    assert_int_equal(lds_of(&pattern, GCN).passes, 64);
    /* FLAT: no LDS cost without LDS lanes; otherwise like DS. */
    make(&pattern, WMI_PATH_FLAT, WMI_ACCESS_LOAD, 4, 0, 4, ~0ULL);
    assert_int_equal(lds_of(&pattern, GCN).passes, 0);
    pattern.access.element[0].space = WMI_SPACE_LDS;
    assert_int_equal(lds_of(&pattern, GCN).passes, 2);
    assert_int_equal(vector_of(&pattern, GCN).clocks, 0);
}

/* Group letters of lanes 0 to 31; lanes 32 to 63 repeat them. By row of the table, from published
 * measurements: HipKittens for gfx950, Composable Kernel and the MI210 corpus for the others. */
static const char *groups_slowly(unsigned row, bool load, unsigned dwords)
{
    static const char *const all = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", *const halves =
                                                                           "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbb";
    static const char *const eighths = "aaaaaaaabbbbbbbbccccccccdddddddd";
    static const char *const crossed = "aaaabbbbccccddddbbbbaaaaddddcccc";
    static const char *const crossed_16 = "aaaabbbbbbbbaaaabbbbaaaaaaaabbbb";
    if (dwords == 1 || (dwords == 2 && row == GFX950 && load))
        return all;
    if (dwords == 2)
        return halves;
    if (!load || row == RDNA)
        return eighths;
    return dwords == 4 && row == GFX950 ? crossed_16 : crossed;
}

static void check_lds_slowly(const struct wmi_access *access, unsigned row)
{
    const struct wmi_lds_cost cost = wmi_lds_passes(access, &wmi_cost_rules(row)->lds, row == RDNA ? 32 : 64);
    const unsigned banks = row == GFX950 ? 64 : 32, dwords = (access->bytes + 3u) / 4;
    const unsigned align = access->bytes == 12 ? 16 : access->bytes;
    const char *groups = groups_slowly(row, access->kind == WMI_ACCESS_LOAD, dwords);
    uint32_t passes = 0, conflicts = 0, depth = 0, serial = 0;
    for (unsigned e = 0; e < access->elements; e++) {
        const struct wmi_element *element = &access->element[e];
        uint32_t active = 0;
        bool misaligned = false;
        for (unsigned lane = 0; lane < 64; lane++) {
            active += reaches(element, WMI_SPACE_LDS, lane);
            misaligned |= reaches(element, WMI_SPACE_LDS, lane) && element->address[lane] % align;
        }
        if (misaligned) {
            passes += active;
            serial += active;
            continue;
        }
        for (unsigned half = 0; half < (row == RDNA ? 32 : 64); half += 32) {
            for (char group = 'a'; group <= 'd' && strchr(groups, group); group++) {
                uint32_t most = 0;
                for (unsigned bank = 0; bank < banks; bank++) {
                    uint64_t wanted[256];
                    size_t count = 0;
                    for (unsigned lane = 0; lane < 32; lane++)
                        for (unsigned i = 0; i < dwords; i++)
                            if (groups[lane] == group && reaches(element, WMI_SPACE_LDS, half + lane) &&
                                (element->address[half + lane] / 4 + i) % banks == bank)
                                wanted[count++] = element->address[half + lane] / 4 + i;
                    const uint32_t needed =
                        access->kind == WMI_ACCESS_ATOMIC ? (uint32_t)count : distinct(wanted, count);
                    most = needed > most ? needed : most;
                }
                passes += most > 1 ? most : 1;
                conflicts += most > 1 ? most - 1 : 0;
                depth = most > depth ? most : depth;
            }
        }
    }
    assert_int_equal(cost.passes, passes);
    assert_int_equal(cost.conflicts, conflicts);
    assert_int_equal(cost.depth, depth);
    assert_int_equal(cost.serial, serial);
    assert_int_equal(cost.depth != 0, cost.lanes != 0);
}

static void random_lds(void **state)
{
    (void)state;
    static const unsigned sizes[] = {1, 2, 4, 4, 8, 12, 16};
    for (int round = 0; round < 6000; round++) {
        const unsigned row = (unsigned)round % ROWS, bytes = sizes[random_bits() % 7];
        const uint64_t wave = row == RDNA ? 0xffffffff : ~0ULL;
        const uint64_t stride = random_bits() % 40 * (bytes == 12 ? 16 : bytes),
                       spread = 1 + random_bits() % 4096;
        const bool any = random_bits() % 8 == 0, scattered = random_bits() % 2;
        struct wmi_access access = {
            .path = WMI_PATH_DS,
            .kind = random_bits() % 3,
            .lanes = wave & (random_bits() | (round % 3 ? ~0ULL : 0)),
            .elements = (uint8_t)(1 + random_bits() % 2),
            .bytes = (uint8_t)bytes,
        };
        uint64_t address[2][64];
        for (unsigned e = 0; e < access.elements; e++) {
            access.element[e] = (struct wmi_element){
                .space = WMI_SPACE_LDS,
                .mask = access.lanes,
                .bad_range = round % 5 ? 0 : random_bits(),
                .address = address[e],
            };
            for (unsigned lane = 0; lane < 64; lane++) {
                const uint64_t at = scattered ? random_bits() % spread : lane * stride;
                address[e][lane] = any ? at : at / 16 * 16 + (bytes < 8 ? at % 16 / bytes * bytes : 0);
            }
        }
        check_lds_slowly(&access, row);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vector), cmocka_unit_test(store_tags),
        cmocka_unit_test(fast_patterns),    cmocka_unit_test(measured_strides),
        cmocka_unit_test(unaligned_rows),   cmocka_unit_test(random_vector),
        cmocka_unit_test(published_lds),    cmocka_unit_test(meetings),
        cmocka_unit_test(random_lds),       cmocka_unit_test(groups_of_wide_reads),
        cmocka_unit_test(waves_of_64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
