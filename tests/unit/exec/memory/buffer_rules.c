/* SPDX-License-Identifier: MIT */
/* Addresses and range checks of buffers, per generation, against a simple reference; values computed by hand;
 * and properties of swizzling that hold for any formula. */
#include "base/random.h"
#include "buffer_slow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t drawn;

static uint32_t word(void)
{
    return (uint32_t)wmi_random_bits(99, drawn++);
}

static uint32_t below(uint32_t limit)
{
    return word() % limit;
}

/* ---- random V#s and places near all limits ---- */

static uint32_t near(uint64_t edge)
{
    return (uint32_t)(edge + below(9) - 4);
}

static void random_places(void **state)
{
    (void)state;
    unsigned inside = 0, outside = 0;
    for (unsigned i = 0; i < 600000; i++) {
        const unsigned rules = below(RULES);
        const bool plain = below(4) != 0;
        static const uint32_t sizes[] = {1, 2, 4, 8, 12, 16};
        uint32_t v[4] = {word(), word(), below(3) ? below(300) : word(), word()};
        if (below(2))
            v[1] = (v[1] & 0xc000ffff) | below(80) << 16;
        if (below(4) == 0)
            v[1] &= 0xc000ffff;
        if (below(2))
            v[3] &= ~(7u << 16);
        if (below(10))
            v[3] &= ~(3u << 30);
        const bool idxen = below(2);
        const struct wmi_buffer b = wmi_buffer_decode(wmi_buffer_rules(rules), v, plain, idxen);
        const uint64_t stride = stride_of(rules, v, plain, idxen);
        struct wmi_buffer_place p = {.bytes = sizes[below(6)]};
        const unsigned lane = below(64);
        assert_int_equal(b.lane ? lane : 0, lane_of(rules, v, idxen, lane));
        p.lane = b.lane ? lane : 0;
        p.soffset = below(2) ? 0 : below(2) ? below(64) : near(v[2]);
        if (idxen)
            p.index = below(3) ? below(200) : below(2) ? near(v[2]) : word();
        p.offset = below(2)   ? below(100)
                   : below(2) ? near(stride)
                   : below(2) ? near(v[2])
                   : below(2) ? near((uint64_t)v[2] - p.soffset)
                              : word();
        if (below(8) == 0) {
            p.part = 4 * below(4);
            p.offset += p.part; /* dwords do not wrap */
        }
        assert_int_equal(wmi_buffer_address(&b, &p), slow_address(rules, v, plain, idxen, &p));
        const bool out = slow_out_of_range(rules, v, plain, idxen, &p);
        assert_int_equal(wmi_buffer_in_range(&b, &p), !out);
        outside += out;
        inside += !out;
    }
    assert_true(inside > 100000 && outside > 100000);
}

/* ---- swizzling is a bijection on whole rounds ---- */

static void swizzle_is_a_bijection(void **state)
{
    (void)state;
    static const struct {
        unsigned rules;
        uint32_t word1, word3; /* swizzle bits, element size, on gfx9 ADD_TID */
        unsigned element;
    } rows[] = {
        {GFX6, 1u << 31, 0, 2},        {GFX6, 1u << 31, 1 << 19, 4}, {GFX8, 1u << 31, 2 << 19, 8},
        {GFX8, 1u << 31, 3 << 19, 16}, {GFX9, 1u << 31, 1 << 23, 4}, {GFX9, 1u << 31, 1 << 23 | 3 << 19, 4},
        {GFX10, 1u << 31, 0, 4},       {GFX11, 1u << 30, 0, 4},      {GFX11, 3u << 30, 0, 16},
        {GFX12, 1u << 30, 0, 4},       {GFX12, 3u << 30, 0, 16}};
    for (unsigned r = 0; r < sizeof rows / sizeof *rows; r++)
        for (unsigned interleave = 0; interleave < 4; interleave++)
            for (unsigned multiple = 1; multiple <= 5; multiple += 2) {
                const unsigned stride = rows[r].element * multiple, records = 2 * (8 << interleave);
                const uint32_t v[4] = {0x1000, rows[r].word1 | stride << 16, records,
                                       rows[r].word3 | interleave << 21};
                const struct wmi_buffer b =
                    wmi_buffer_decode(wmi_buffer_rules(rows[r].rules), v, false, true);
                unsigned char *seen = calloc(records, stride);
                assert_non_null(seen);
                for (unsigned index = 0; index < records; index++)
                    for (unsigned offset = 0; offset < stride; offset++) {
                        const struct wmi_buffer_place p = {.index = index, .offset = offset, .bytes = 1};
                        const uint64_t at = wmi_buffer_address(&b, &p) - 0x1000;
                        assert_true(at < (uint64_t)records * stride);
                        assert_int_equal(seen[at]++, 0);
                        /* bytes of an element stay adjacent, and the next record's element follows */
                        assert_int_equal(at % rows[r].element, offset % rows[r].element);
                    }
                free(seen);
            }
}

/* ---- values computed by hand ---- */

/* The V# with some data format; with ADD_TID it stays, as those bits may belong to the stride. */
static const uint32_t *with_format(const uint32_t v[4], uint32_t to[4])
{
    memcpy(to, v, 4 * sizeof *to);
    if (!(to[3] & 1 << 23))
        to[3] |= 20 << 12;
    return to;
}

/* Source: RDNA 3 ISA, "Buffer Resource", "Unbound Resources"; "Buffer Data" of all ISA documents. */
static void unbound_resources(void **state)
{
    (void)state;
    static const uint32_t format[RULES] = {[GFX6] = 4 << 15,   [GFX8] = 4 << 15,   [GFX9] = 4 << 15,
                                           [GFX10] = 20 << 12, [GFX11] = 20 << 12, [GFX12] = 20 << 12};
    const struct wmi_buffer_place p = {.bytes = 4};
    for (unsigned rules = 0; rules < RULES; rules++)
        for (unsigned plain = 0; plain < 2; plain++) {
            const struct {
                uint32_t word3;
                bool in_range;
            } rows[] = {
                {0, false},
                {0xfac, false},                    /* DST_SEL is no format */
                {format[rules], true},             /* any format */
                {1 << 23, true},                   /* ADD_TID */
                {format[rules] | 1u << 30, false}, /* TYPE 1 to 3 */
                {format[rules] | 2u << 30, false}, /* with upper bits of an image's */
                {1 << 23 | 3u << 30, false},
                {2 << 28, false}, /* OOB_SELECT is no format */
                {7 << 12 | format[rules], true},
                {rules < GFX10 ? 7 << 12 : 0, false}, /* NUM_FORMAT is none, either */
            };
            for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
                const uint32_t v[4] = {0x1000, 0, 64, rows[i].word3 | (rules < GFX10 ? 0 : 2 << 28)};
                const struct wmi_buffer b = wmi_buffer_decode(wmi_buffer_rules(rules), v, plain, false);
                if (wmi_buffer_in_range(&b, &p) != rows[i].in_range)
                    fail_msg("rules %u, plain %u, row %u", rules, plain, i);
            }
        }
}

/* Higher dwords of an access to elements of 16 bytes follow the first one, also across an element. Source:
 * RDNA 4 ISA, "Swizzled Buffer Addressing". */
static void wide_elements_are_linear(void **state)
{
    (void)state;
    for (unsigned rules = GFX11; rules <= GFX12; rules++) {
        const uint32_t v[4] = {0, 3u << 30 | 64 << 16, 64, 20 << 12};
        const struct wmi_buffer b = wmi_buffer_decode(wmi_buffer_rules(rules), v, true, true);
        for (uint32_t part = 0; part < 16; part += 4) {
            /* records in groups of 8, element 1 of 4: (8 + 3) * 16, and 8 bytes into it */
            const struct wmi_buffer_place p = {.index = 3, .offset = 24 + part, .part = part, .bytes = 4};
            assert_int_equal(wmi_buffer_address(&b, &p), (8 + 3) * 16 + 8 + part);
            assert_true(wmi_buffer_in_range(&b, &p));
        }
        const struct wmi_buffer_place other = {.index = 3, .offset = 32, .bytes = 4};
        assert_int_equal(wmi_buffer_address(&b, &other), (2 * 8 + 3) * 16);
    }
}

static void by_hand(void **state)
{
    (void)state;
    static const struct {
        unsigned rules;
        uint32_t v[4];
        struct {
            bool idxen;
            uint32_t index, offset, soffset, bytes, lane;
        } at;
        uint64_t address;
        bool in_range;
    } rows[] = {
        /* linear: 0x10000 + 64 + 10 * 16 + 16 */
        {GFX9, {0x10000, 0x100000, 0x400, 0x27fac}, {true, 10, 16, 64, 4}, 0x100f0, true},
        /* record 5, offset 6 in 8-byte records, 8 interleaved, dword elements: 6/4*32 + 5*4 + 2 */
        {GFX8, {0, 1u << 31 | 8 << 16, 8, 1 << 19}, {true, 5, 6, 0, 2}, 54, true},
        {GFX8, {0, 1u << 31 | 8 << 16, 8, 1 << 19}, {true, 13, 6, 0, 2}, 64 + 54, false},
        {GFX10, {0, 1u << 31 | 8 << 16, 8, 0}, {true, 5, 6, 0, 2}, 54, true},
        /* gfx9: swizzled with ADD_TID only, where 3 + lane 2 is the same record; linear without: 5 * 8 + 6 */
        {GFX9, {0, 1u << 31 | 8 << 16, 8, 1 << 23}, {true, 3, 6, 0, 2, 2}, 54, true},
        {GFX9, {0, 1u << 31 | 8 << 16, 8, 0}, {true, 5, 6, 0, 2}, 46, true},
        /* gfx9: the lane does not count in the range check, nor in a linear buffer with an index */
        {GFX9, {0, 1u << 31 | 8 << 16, 4, 1 << 23}, {true, 3, 6, 0, 2, 2}, 54, true},
        {GFX9, {0, 8 << 16, 8, 1 << 23}, {true, 3, 6, 0, 2, 2}, 30, true},
        {GFX8, {0, 8 << 16, 48, 1 << 23}, {true, 3, 6, 0, 2, 2}, 46, true},
        /* gfx11 and later: the VGPR replaces the lane; a swizzle needs one of them */
        {GFX11, {0, 8 << 16, 8, 1 << 23}, {true, 3, 6, 0, 2, 2}, 30, true},
        {GFX11, {0, 8 << 16, 8, 1 << 23}, {false, 0, 6, 0, 2, 2}, 22, true},
        {GFX11, {0, 1u << 30 | 64 << 16, 8, 0}, {false, 0, 6, 0, 2}, 6, true},
        {GFX11, {0, 1u << 30 | 64 << 16, 8, 0}, {true, 0, 6, 0, 2}, 34, true},
        /* ADD_TID: DATA_FORMAT holds the upper bits of the stride: 1 * 16384 * 2 */
        {GFX8, {0, 0, 100000, 1 << 23 | 1 << 15}, {false, 0, 0, 0, 4, 2}, 32768, true},
        {GFX6, {0, 0, 100000, 1 << 23 | 1 << 15}, {false, 0, 0, 0, 4, 2}, 0, true},
        /* SOFFSET counts in byte offsets, and the last byte must be in range */
        {GFX6, {0, 0, 64, 0}, {false, 0, 32, 28, 4}, 60, true},
        {GFX6, {0, 0, 64, 0}, {false, 0, 32, 29, 4}, 61, false},
        {GFX9, {0, 0, 64, 0}, {false, 0, 32, 28, 4}, 60, true},
        {GFX9, {0, 0, 64, 0}, {false, 0, 32, 29, 4}, 61, false},
        {GFX9, {0, 0, 64, 0}, {false, 0, 32, 0xfffffff0, 4}, 0x100000010, false},
        {GFX10, {0, 0, 64, 3 << 28}, {false, 0, 32, 28, 4}, 60, true},
        {GFX10, {0, 0, 64, 3 << 28}, {false, 0, 32, 29, 4}, 61, false},
        /* swizzled with OOB_SELECT 3: index and last byte, as in a record; bytes if there is no stride */
        {GFX10, {0, 1u << 31 | 8 << 16, 4, 3 << 28}, {true, 3, 4, 100, 4}, 44 + 100, true},
        {GFX10, {0, 1u << 31 | 8 << 16, 4, 3 << 28}, {true, 3, 5, 0, 4}, 45, false},
        {GFX10, {0, 1u << 31 | 8 << 16, 4, 3 << 28}, {true, 4, 4, 0, 4}, 48, false},
        {GFX10, {0, 1u << 31, 64, 3 << 28}, {true, 0, 28, 32, 4}, 256, true},
        {GFX10, {0, 1u << 31, 64, 3 << 28}, {true, 0, 28, 33, 4}, 257, false},
        {GFX11, {0, 0, 64, 3 << 28}, {false, 0, 32, 28, 4}, 60, true},
        {GFX11, {0, 0, 64, 3 << 28}, {false, 0, 32, 29, 4}, 61, false},
        /* OOB_SELECT 0, 1, 2: gfx10 checks the first byte, gfx11 the last */
        {GFX10, {0, 8 << 16, 4, 0}, {true, 3, 7, 0, 4}, 31, true},
        {GFX11, {0, 8 << 16, 4, 0}, {true, 3, 7, 0, 4}, 31, false},
        {GFX11, {0, 8 << 16, 4, 0}, {true, 3, 4, 0, 4}, 28, true},
        {GFX11, {0, 8 << 16, 4, 1 << 28}, {true, 3, 400, 0, 4}, 424, true},
        {GFX11, {0, 8 << 16, 4, 1 << 28}, {true, 4, 0, 0, 4}, 32, false},
        {GFX11, {0, 8 << 16, 1, 2 << 28}, {true, 400, 0, 0, 4}, 3200, true},
        {GFX11, {0, 8 << 16, 0, 2 << 28}, {true, 0, 0, 0, 4}, 0, false},
        /* swizzled without a stride: bytes */
        {GFX11, {0, 1u << 30, 64, 3u << 28}, {true, 0, 28, 32, 4}, 256, true},
        {GFX11, {0, 1u << 30, 64, 3u << 28}, {true, 0, 28, 33, 4}, 257, false},
        /* gfx12: STRIDE_SCALE; SOFFSET is not swizzled: 4/4*32 + 3*4 + 4 */
        {GFX12, {0, 2 << 16, 9, 1 << 18}, {true, 3, 0, 0, 4}, 24, true},
        {GFX12, {0, 1 << 30 | 16 << 16, 9, 0}, {true, 3, 4, 4, 4}, 48, true},
        {GFX11, {0, 1 << 30 | 16 << 16, 9, 0}, {true, 3, 4, 4, 4}, 48, true},
        /* units of NUM_RECORDS: records on gfx6, bytes on gfx8 without a swizzle */
        {GFX6, {0, 16 << 16, 2, 0}, {true, 1, 0, 0, 4}, 16, true},
        {GFX8, {0, 16 << 16, 2, 0}, {true, 1, 0, 0, 4}, 16, false},
        {GFX8, {0, 16 << 16, 20, 0}, {true, 1, 0, 0, 4}, 16, true},
        {GFX8, {0, 16 << 16, 19, 0}, {true, 1, 0, 0, 4}, 16, false},
        {GFX9, {0, 16 << 16, 2, 0}, {false, 0, 4, 0, 4}, 4, false},
        /* private memory is not checked on gfx9 */
        {GFX9, {0, 1u << 31, 0, 1 << 23 | 3 << 21}, {false, 0, 8, 0, 4, 7}, 2 * 256 + 28, true},
        /* bit 47 is a sign */
        {GFX9, {0xfffffff0, 0x7fff, 64, 0}, {false, 0, 16, 0, 4}, 0xffff800000000000, true},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t v[4];
        const struct wmi_buffer b = wmi_buffer_decode(wmi_buffer_rules(rows[i].rules),
                                                      with_format(rows[i].v, v), true, rows[i].at.idxen);
        const struct wmi_buffer_place p = {.index = rows[i].at.index,
                                           .lane = b.lane ? rows[i].at.lane : 0,
                                           .offset = rows[i].at.offset,
                                           .soffset = rows[i].at.soffset,
                                           .bytes = rows[i].at.bytes};
        if (wmi_buffer_address(&b, &p) != rows[i].address)
            fail_msg("row %u: address %#llx", i, (unsigned long long)wmi_buffer_address(&b, &p));
        if (wmi_buffer_in_range(&b, &p) != rows[i].in_range)
            fail_msg("row %u: range", i);
    }
    assert_null(wmi_buffer_rules(GFX1250 + 1));
}

/* Source: CDNA 5 ISA, "Buffer Resource" and "Buffer Out Of Bounds Selection": 45 bits of NUM_RECORDS from bit
 * 57 on, 14 of the stride from bit 108 on, SWIZZLE in bit 124, OOB_SELECT in bit 125. */
static void wide(void **state)
{
    (void)state;
    enum { STRIDE_8 = 8 << 12, SELECT = 1 << 29 };
    static const struct {
        uint32_t v[4], index, offset, soffset, bytes;
        uint64_t address;
        bool in_range;
    } rows[] = {
        {{0x10, 1u << 25 | 0x12, 1, 0}, 0, 4, 0, 4, 0x1200000014, true}, /* 129 bytes */
        {{0, 1u << 25, 1, 0}, 0, 0, 125, 4, 125, true},
        {{0, 1u << 25, 1, 0}, 0, 0, 126, 4, 126, false},
        {{0, 0, 0, 1}, 0, 0xfffffff0, 0, 4, 0xfffffff0, true}, /* 1 << 39 bytes */
        {{0, 0, 1, STRIDE_8}, 15, 4, 0, 4, 124, true},         /* 128 bytes in records of 8 */
        {{0, 0, 1, STRIDE_8}, 15, 5, 0, 4, 125, false},
        {{0, 0, 1, STRIDE_8}, 0, 5, 0, 4, 5, true},
        {{0, 0, 1, STRIDE_8 | SELECT}, 0, 5, 0, 4, 5, false}, /* beyond its record */
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wmi_buffer b = wmi_buffer_decode(wmi_buffer_rules(GFX1250), rows[i].v, true, true);
        const struct wmi_buffer_place p = {.index = rows[i].index,
                                           .offset = rows[i].offset,
                                           .soffset = rows[i].soffset,
                                           .bytes = rows[i].bytes};
        if (wmi_buffer_address(&b, &p) != rows[i].address)
            fail_msg("row %u: address %#llx", i, (unsigned long long)wmi_buffer_address(&b, &p));
        if (wmi_buffer_in_range(&b, &p) != rows[i].in_range)
            fail_msg("row %u: range", i);
    }
}

static void private_memory(void **state)
{
    (void)state;
    for (unsigned rules = 0; rules < RULES; rules++)
        for (unsigned lanes = rules >= GFX10 ? 32 : 64; lanes <= 64; lanes += 32) {
            uint32_t v[4];
            wmi_buffer_make_private(wmi_buffer_rules(rules), lanes, 0x123450000, 1 << 20, v);
            const struct wmi_buffer b = wmi_buffer_decode(wmi_buffer_rules(rules), v, true, false);
            for (unsigned lane = 0; lane < lanes; lane++) {
                const struct wmi_buffer_place p = {.lane = lane, .offset = 20, .bytes = 4};
                assert_true(b.lane);
                /* DATA_FORMAT 4 widens the stride on gfx8 and gfx9, which lane numbers do not reach */
                assert_int_equal(wmi_buffer_address(&b, &p), 0x123450000 + 5 * 4 * lanes + 4 * lane);
                assert_true(wmi_buffer_in_range(&b, &p));
            }
        }
}

static void alignment(void **state)
{
    (void)state;
    static const struct {
        enum wmi_alignment mode;
        bool atomic;
        unsigned bytes;
        uint64_t address, aligned;
        bool ok;
        unsigned most; /* 0: 4, that of memory */
    } rows[] = {
        {WMI_ALIGNMENT_DWORD, false, 4, 7, 4, true},
        {WMI_ALIGNMENT_DWORD, false, 16, 13, 12, true},
        {WMI_ALIGNMENT_DWORD, false, 2, 7, 6, true},
        {WMI_ALIGNMENT_DWORD, false, 1, 7, 7, true},
        {WMI_ALIGNMENT_DWORD_STRICT, false, 4, 6, 6, false},
        {WMI_ALIGNMENT_DWORD_STRICT, false, 2, 7, 7, false},
        {WMI_ALIGNMENT_DWORD_STRICT, false, 1, 7, 7, true},
        {WMI_ALIGNMENT_DWORD_STRICT, false, 8, 4, 4, true},
        {WMI_ALIGNMENT_STRICT, false, 2, 7, 7, false},
        {WMI_ALIGNMENT_STRICT, false, 2, 6, 6, true},
        {WMI_ALIGNMENT_UNALIGNED, false, 4, 7, 7, true},
        {WMI_ALIGNMENT_UNALIGNED, true, 4, 6, 6, false},
        {WMI_ALIGNMENT_UNALIGNED, true, 8, 4, 4, false},
        {WMI_ALIGNMENT_DWORD, true, 4, 6, 6, false},
        {WMI_ALIGNMENT_DWORD, true, 8, 8, 8, true},
        /* the size of the data: RDNA 3 ISA, "Alignment" of buffers */
        {WMI_ALIGNMENT_STRICT, false, 8, 4, 4, false},
        {WMI_ALIGNMENT_STRICT, false, 8, 24, 24, true},
        {WMI_ALIGNMENT_STRICT, false, 16, 24, 24, false},
        /* LDS: RDNA 3 ISA, "LDS/GDS Alignment and Out-of-Range" */
        {WMI_ALIGNMENT_DWORD, false, 8, 15, 8, true, 16},
        {WMI_ALIGNMENT_DWORD, false, 12, 31, 16, true, 16},
        {WMI_ALIGNMENT_DWORD, false, 16, 31, 16, true, 16},
        {WMI_ALIGNMENT_DWORD_STRICT, false, 8, 4, 4, false, 16},
        {WMI_ALIGNMENT_DWORD_STRICT, false, 12, 8, 8, false, 16},
        {WMI_ALIGNMENT_STRICT, false, 12, 16, 16, true, 16},
        {WMI_ALIGNMENT_UNALIGNED, false, 16, 1, 1, true, 16},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t address = rows[i].address;
        const unsigned unit =
            rows[i].atomic ? rows[i].bytes
                           : wmi_alignment_unit(rows[i].mode, rows[i].bytes, rows[i].most ? rows[i].most : 4);
        assert_int_equal(wmi_align(rows[i].mode, rows[i].atomic, unit, &address), rows[i].ok);
        assert_int_equal(address, rows[i].aligned);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_places),     cmocka_unit_test(swizzle_is_a_bijection),
        cmocka_unit_test(by_hand),           cmocka_unit_test(wide),
        cmocka_unit_test(private_memory),    cmocka_unit_test(alignment),
        cmocka_unit_test(unbound_resources), cmocka_unit_test(wide_elements_are_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
