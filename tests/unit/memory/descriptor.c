/* SPDX-License-Identifier: MIT */
/* Descriptors: layouts against lists in the documents' notation, encoding against decoding, warnings, and the
 * explained address against the one that execution computes. */
#include "base/random.h"
#include "memory/buffer.h"
#include "wavemem/wavemem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* "bit[-bit] NAME, ...": GcnMemHandling's table and the CDNA and Vega documents list first and last bits. */
static const char v_gfx6[] =
    "0-47 BASE_ADDRESS, 48-61 STRIDE, 62 CACHE_SWIZZLE, 63 SWIZZLE_ENABLE, 64-95 NUM_RECORDS, 96-98 "
    "DST_SEL_X, "
    "99-101 DST_SEL_Y, 102-104 DST_SEL_Z, 105-107 DST_SEL_W, 108-110 NUM_FORMAT, 111-114 DATA_FORMAT, "
    "115-116 ELEMENT_SIZE, 117-118 INDEX_STRIDE, 119 ADD_TID_ENABLE, 121 HASH_ENABLE, 122 HEAP, 126-127 TYPE";
static const char v_gfx9[] =
    "0-47 BASE_ADDRESS, 48-61 STRIDE, 62 CACHE_SWIZZLE, 63 SWIZZLE_ENABLE, 64-95 NUM_RECORDS, 96-98 "
    "DST_SEL_X, "
    "99-101 DST_SEL_Y, 102-104 DST_SEL_Z, 105-107 DST_SEL_W, 108-110 NUM_FORMAT, 111-114 DATA_FORMAT, "
    "115 USER_VM_ENABLE, 116 USER_VM_MODE, 117-118 INDEX_STRIDE, 119 ADD_TID_ENABLE, 123 NV, 126-127 TYPE";

/* "NAME:bits ...", '-' for unnamed bits, starting at bit 0, as in the headers of PAL. */
static const char v_gfx10[] = "BASE_ADDRESS:48 STRIDE:14 CACHE_SWIZZLE:1 SWIZZLE_ENABLE:1 NUM_RECORDS:32 "
                              "DST_SEL_X:3 DST_SEL_Y:3 DST_SEL_Z:3 DST_SEL_W:3 FORMAT:7 -:2 INDEX_STRIDE:2 "
                              "ADD_TID_ENABLE:1 RESOURCE_LEVEL:1 -:3 OOB_SELECT:2 TYPE:2";
static const char v_gfx103[] = "BASE_ADDRESS:48 STRIDE:14 CACHE_SWIZZLE:1 SWIZZLE_ENABLE:1 NUM_RECORDS:32 "
                               "DST_SEL_X:3 DST_SEL_Y:3 DST_SEL_Z:3 DST_SEL_W:3 FORMAT:7 -:2 INDEX_STRIDE:2 "
                               "ADD_TID_ENABLE:1 RESOURCE_LEVEL:1 -:1 LLC_NOALLOC:2 OOB_SELECT:2 TYPE:2";
static const char v_gfx11[] =
    "BASE_ADDRESS:48 STRIDE:14 SWIZZLE_ENABLE:2 NUM_RECORDS:32 DST_SEL_X:3 DST_SEL_Y:3 "
    "DST_SEL_Z:3 DST_SEL_W:3 FORMAT:6 -:3 INDEX_STRIDE:2 ADD_TID_ENABLE:1 -:2 "
    "LLC_NOALLOC:2 OOB_SELECT:2 TYPE:2";
static const char v_gfx12[] =
    "BASE_ADDRESS:48 STRIDE:14 SWIZZLE_ENABLE:2 NUM_RECORDS:32 DST_SEL_X:3 DST_SEL_Y:3 DST_SEL_Z:3 "
    "DST_SEL_W:3 "
    "FORMAT:6 STRIDE_SCALE:2 -:1 INDEX_STRIDE:2 ADD_TID_ENABLE:1 WRITE_COMPRESS_ENABLE:1 COMPRESSION_EN:1 "
    "COMPRESSION_ACCESS_MODE:2 OOB_SELECT:2 TYPE:2";
static const char t_gfx103[] =
    "BASE_ADDRESS:40 MIN_LOD:12 FORMAT:9 -:1 WIDTH:16 HEIGHT:16 -:1 RESOURCE_LEVEL:1 DST_SEL_X:3 DST_SEL_Y:3 "
    "DST_SEL_Z:3 DST_SEL_W:3 BASE_LEVEL:4 LAST_LEVEL:4 SW_MODE:5 BC_SWIZZLE:3 TYPE:4 DEPTH:16 BASE_ARRAY:16 "
    "ARRAY_PITCH:4 MAX_MIP:4 MIN_LOD_WARN:12 PERF_MOD:3 CORNER_SAMPLES:1 LINKED_RESOURCE:1 LOD_HDW_CNT_EN:1 "
    "PRT_DEFAULT:1 -:4 BIG_PAGE:1 COUNTER_BANK_ID:8 LLC_NOALLOC:2 ITERATE_256:1 -:4 "
    "MAX_UNCOMPRESSED_BLOCK_SIZE:2 MAX_COMPRESSED_BLOCK_SIZE:2 META_PIPE_ALIGNED:1 WRITE_COMPRESS_ENABLE:1 "
    "COMPRESSION_EN:1 ALPHA_IS_ON_MSB:1 COLOR_TRANSFORM:1 META_DATA_ADDRESS:40";
static const char t_gfx11[] =
    "BASE_ADDRESS:40 -:5 LLC_NOALLOC:2 BIG_PAGE:1 MAX_MIP:4 FORMAT:8 -:2 WIDTH:14 -:2 HEIGHT:14 -:4 "
    "DST_SEL_X:3 "
    "DST_SEL_Y:3 DST_SEL_Z:3 DST_SEL_W:3 BASE_LEVEL:4 LAST_LEVEL:4 SW_MODE:5 BC_SWIZZLE:3 TYPE:4 DEPTH:13 "
    "PITCH_13:1 -:2 BASE_ARRAY:13 -:3 ARRAY_PITCH:4 -:4 MIN_LOD_WARN:12 PERF_MOD:3 CORNER_SAMPLES:1 "
    "LINKED_RESOURCE:1 -:1 PRT_DEFAULT:1 MIN_LOD:12 -:3 ITERATE_256:1 SAMPLE_PATTERN_OFFSET:4 "
    "MAX_UNCOMPRESSED_BLOCK_SIZE:2 MAX_COMPRESSED_BLOCK_SIZE:2 META_PIPE_ALIGNED:1 WRITE_COMPRESS_ENABLE:1 "
    "COMPRESSION_EN:1 ALPHA_IS_ON_MSB:1 COLOR_TRANSFORM:1 META_DATA_ADDRESS:40";
static const char t_gfx12[] =
    "BASE_ADDRESS:40 -:4 MAX_MIP:5 FORMAT:8 BASE_LEVEL:5 WIDTH:16 HEIGHT:16 -:2 DST_SEL_X:3 DST_SEL_Y:3 "
    "DST_SEL_Z:3 DST_SEL_W:3 NO_EDGE_CLAMP:1 -:2 LAST_LEVEL:5 SW_MODE:5 BC_SWIZZLE:3 TYPE:4 DEPTH:14 "
    "PITCH_MSB:2 "
    "BASE_ARRAY:14 -:2 -:4 UAV3D:1 MIN_LOD_WARN:13 -:2 PERF_MOD:3 CORNER_SAMPLES:1 LINKED_RESOURCE:1 -:1 "
    "MIN_LOD:13 -:3 ITERATE_256:1 SAMPLE_PATTERN_OFFSET:4 MAX_UNCOMPRESSED_BLOCK_SIZE:1 -:1 "
    "MAX_COMPRESSED_BLOCK_SIZE:2 -:1 WRITE_COMPRESS_ENABLE:1 COMPRESSION_EN:1 COMPRESSION_ACCESS_MODE:2 "
    "SPECULATIVE_READ:2 -:38";
static const char s_gfx10[] =
    "CLAMP_X:3 CLAMP_Y:3 CLAMP_Z:3 MAX_ANISO_RATIO:3 DEPTH_COMPARE_FUNC:3 FORCE_UNNORMALIZED:1 "
    "ANISO_THRESHOLD:3 "
    "MC_COORD_TRUNC:1 FORCE_DEGAMMA:1 ANISO_BIAS:6 TRUNC_COORD:1 DISABLE_CUBE_WRAP:1 FILTER_MODE:2 "
    "SKIP_DEGAMMA:1 MIN_LOD:12 MAX_LOD:12 PERF_MIP:4 PERF_Z:4 LOD_BIAS:14 LOD_BIAS_SEC:6 XY_MAG_FILTER:2 "
    "XY_MIN_FILTER:2 Z_FILTER:2 MIP_FILTER:2 MIP_POINT_PRECLAMP:1 ANISO_OVERRIDE:1 BLEND_PRT:1 "
    "DERIV_ADJUST_EN:1 BORDER_COLOR_PTR:12 -:18 BORDER_COLOR_TYPE:2";
static const char s_gfx12[] =
    "CLAMP_X:3 CLAMP_Y:3 CLAMP_Z:3 MAX_ANISO_RATIO:3 DEPTH_COMPARE_FUNC:3 FORCE_UNNORMALIZED:1 "
    "ANISO_THRESHOLD:3 "
    "MC_COORD_TRUNC:1 FORCE_DEGAMMA:1 ANISO_BIAS:6 TRUNC_COORD:1 DISABLE_CUBE_WRAP:1 FILTER_MODE:2 "
    "SKIP_DEGAMMA:1 MIN_LOD:13 MAX_LOD:13 -:2 PERF_Z:4 LOD_BIAS:14 LOD_BIAS_SEC:6 XY_MAG_FILTER:2 "
    "XY_MIN_FILTER:2 Z_FILTER:2 MIP_FILTER:2 -:1 ANISO_OVERRIDE:1 PERF_MIP:4 -:16 BORDER_COLOR_PTR:12 "
    "BORDER_COLOR_TYPE:2";

static const struct {
    const char *target;
    enum wm_descriptor_kind kind;
    const char *list;
} lists[] = {
    {"gfx600", WM_DESCRIPTOR_BUFFER, v_gfx6},    {"gfx900", WM_DESCRIPTOR_BUFFER, v_gfx9},
    {"gfx90a", WM_DESCRIPTOR_BUFFER, v_gfx9},    {"gfx942", WM_DESCRIPTOR_BUFFER, v_gfx9},
    {"gfx1010", WM_DESCRIPTOR_BUFFER, v_gfx10},  {"gfx1030", WM_DESCRIPTOR_BUFFER, v_gfx103},
    {"gfx1100", WM_DESCRIPTOR_BUFFER, v_gfx11},  {"gfx1150", WM_DESCRIPTOR_BUFFER, v_gfx11},
    {"gfx1200", WM_DESCRIPTOR_BUFFER, v_gfx12},  {"gfx1030", WM_DESCRIPTOR_IMAGE, t_gfx103},
    {"gfx1100", WM_DESCRIPTOR_IMAGE, t_gfx11},   {"gfx1200", WM_DESCRIPTOR_IMAGE, t_gfx12},
    {"gfx1030", WM_DESCRIPTOR_SAMPLER, s_gfx10}, {"gfx1200", WM_DESCRIPTOR_SAMPLER, s_gfx12},
};
enum { LISTS = sizeof lists / sizeof *lists };

static uint64_t drawn;

static uint32_t word(void)
{
    return (uint32_t)wmi_random_bits(7, drawn++);
}

/* The next field of a list in either notation; false at its end. */
static bool next_field(const char **list, char name[40], unsigned *bit, unsigned *bits)
{
    int length = 0;
    unsigned first, last;
    *list += strspn(*list, " ,");
    if (!**list)
        return false;
    if (sscanf(*list, "%u-%u %39[A-Z0-9_]%n", &first, &last, name, &length) == 3 ||
        (last = first = ~0u, sscanf(*list, "%u %39[A-Z0-9_]%n", &first, name, &length) == 2)) {
        *bit = first;
        *bits = (last == ~0u ? first : last) - first + 1;
    } else {
        *bit += *bits;
        assert_int_equal(sscanf(*list, "%39[A-Z0-9_-]:%u%n", name, bits, &length), 2);
    }
    *list += length;
    return true;
}

static uint64_t take(const uint32_t *words, unsigned bit, unsigned bits)
{
    uint64_t value = 0;
    for (unsigned i = bits; i--;)
        value = value << 1 | (words[(bit + i) / 32] >> (bit + i) % 32 & 1);
    return value;
}

static void layouts(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LISTS; i++)
        for (unsigned round = 0; round < 20; round++) {
            struct wm_descriptor d;
            struct wm_diag diag;
            uint32_t words[8];
            const size_t count = lists[i].kind == WM_DESCRIPTOR_IMAGE ? 8 : 4;
            for (unsigned k = 0; k < 8; k++)
                words[k] = word();
            assert_int_equal(wm_descriptor_decode(lists[i].target, lists[i].kind, words, count, &d, &diag),
                             WM_OK);
            const char *list = lists[i].list;
            char name[40];
            unsigned bit = 0, bits = 0;
            size_t at = 0;
            while (next_field(&list, name, &bit, &bits)) {
                if (!strcmp(name, "-"))
                    continue;
                assert_true(at < d.field_count);
                assert_string_equal(d.field[at].name, name);
                assert_int_equal(d.field[at].bit, bit);
                assert_int_equal(d.field[at].bits, bits);
                assert_int_equal(d.field[at].value, take(words, bit, bits));
                at++;
            }
            assert_int_equal(at, d.field_count);
        }
}

/* On every target, fields must not overlap, and all other bits are reserved and give a warning. */
static void every_target(void **state)
{
    (void)state;
    static const char *const targets[] = {"gfx600",  "gfx700",  "gfx803", "gfx900",  "gfx906",
                                          "gfx908",  "gfx90a",  "gfx942", "gfx1010", "gfx1030",
                                          "gfx1100", "gfx1150", "gfx1200"};
    for (unsigned t = 0; t < sizeof targets / sizeof *targets; t++)
        for (unsigned kind = 0; kind < 3; kind++)
            for (unsigned round = 0; round < 50; round++) {
                struct wm_descriptor d, again;
                struct wm_diag diag;
                uint32_t words[8], covered[8] = {0};
                for (unsigned k = 0; k < 8; k++)
                    words[k] = word();
                const enum wm_status status =
                    wm_descriptor_decode(targets[t], (enum wm_descriptor_kind)kind, words,
                                         kind == WM_DESCRIPTOR_IMAGE ? 8 : 4, &d, &diag);
                if (!strcmp(targets[t], "gfx942") && kind != WM_DESCRIPTOR_BUFFER) {
                    assert_int_equal(status, WM_UNSUPPORTED);
                    break;
                }
                assert_int_equal(status, WM_OK);
                for (size_t i = 0; i < d.field_count; i++)
                    for (unsigned bit = d.field[i].bit; bit < d.field[i].bit + d.field[i].bits; bit++) {
                        assert_true(bit < 32 * d.word_count);
                        assert_false(covered[bit / 32] >> bit % 32 & 1);
                        covered[bit / 32] |= 1u << bit % 32;
                    }
                assert_int_equal(wm_descriptor_encode(targets[t], (enum wm_descriptor_kind)kind, d.field,
                                                      d.field_count, &again, &diag),
                                 WM_OK);
                for (unsigned k = 0; k < d.word_count; k++) {
                    assert_int_equal(again.words[k], words[k] & covered[k]);
                    char text[40];
                    snprintf(text, sizeof text, "word %u has reserved bits set", k);
                    bool warned = false;
                    for (size_t i = 0; i < d.warning_count; i++)
                        warned |= strstr(d.warning[i], text) != NULL;
                    assert_int_equal(warned, (words[k] & ~covered[k]) != 0);
                }
            }
}

static void warnings(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        enum wm_descriptor_kind kind;
        uint32_t words[8];
        const char *warning; /* NULL: no warnings */
    } rows[] = {
        {"gfx900", WM_DESCRIPTOR_BUFFER, {0x10000, 0, 0x400, 0x27fac}, NULL},
        {"gfx900", WM_DESCRIPTOR_BUFFER, {0}, "unbound"},
        {"gfx900", WM_DESCRIPTOR_BUFFER, {0x10000, 0, 0, 0x27fac}, "NUM_RECORDS is 0"},
        {"gfx900",
         WM_DESCRIPTOR_BUFFER,
         {0x10000, 0x20000, 64, 0x27fac},
         "STRIDE 2 is less than the 4 bytes"},
        {"gfx900", WM_DESCRIPTOR_BUFFER, {0x10000, 0x60000, 64, 0x27fac}, "STRIDE 6 is no multiple"},
        {"gfx900", WM_DESCRIPTOR_BUFFER, {0x10000, 0, 64, 0x20fac}, "there is no UNORM of 32"},
        {"gfx900", WM_DESCRIPTOR_BUFFER, {0x10000, 0, 64, 0x56fac}, "there is no SNORM_OGL of 8_8_8_8"},
        {"gfx700", WM_DESCRIPTOR_BUFFER, {0x10000, 0, 64, 0x56fac}, NULL},
        {"gfx900", WM_DESCRIPTOR_BUFFER, {0x10000, 0, 64, 0x00fac}, "DATA_FORMAT is INVALID"},
        {"gfx900", WM_DESCRIPTOR_BUFFER, {0x10000, 0, 64, 0x40027fac}, "TYPE is 1"},
        {"gfx900", WM_DESCRIPTOR_BUFFER, {0x10000, 0, 64, 0x27fab}, "DST_SEL_X 3 is reserved"},
        {"gfx900", WM_DESCRIPTOR_BUFFER, {0x10000, 0x60000, 64, 0x827fac}, "upper bits of STRIDE"},
        {"gfx803", WM_DESCRIPTOR_BUFFER, {0x10000, 0x40000, 64, 0x27fac}, "counts bytes for vector"},
        {"gfx803", WM_DESCRIPTOR_BUFFER, {0x10000, 0x80060000, 64, 0xa7fac}, "elements of 4 bytes"},
        {"gfx900", WM_DESCRIPTOR_BUFFER, {0xffffff00, 0xffff, 0x400, 0x27fac}, "above 2^48"},
        {"gfx1030", WM_DESCRIPTOR_BUFFER, {0x10000, 0, 64, 0x31016fac}, NULL},
        {"gfx1030",
         WM_DESCRIPTOR_BUFFER,
         {0x10000, 0x20000, 64, 0x31016fac},
         "STRIDE 2 is less than the 4 bytes"},
        {"gfx1030", WM_DESCRIPTOR_BUFFER, {0x10000, 0, 64, 0x31000fac}, "FORMAT is INVALID"},
        {"gfx1030", WM_DESCRIPTOR_BUFFER, {0x10000, 0, 64, 0x30016fac}, "RESOURCE_LEVEL is 0"},
        {"gfx1030", WM_DESCRIPTOR_BUFFER, {0x10000, 0, 64, 0x01016fac}, "OOB_SELECT 0 with STRIDE 0"},
        {"gfx1100",
         WM_DESCRIPTOR_BUFFER,
         {0x10000, 0x80000000, 64, 0x30016fac},
         "SWIZZLE_ENABLE 2 is reserved"},
        {"gfx900", WM_DESCRIPTOR_IMAGE, {0x100, 0xc500000, 0xfc03f, 0x90000fac, 0x7e000}, NULL},
        {"gfx900",
         WM_DESCRIPTOR_IMAGE,
         {0x100, 0xc500000, 0xfc03f, 0x90500fac, 0x7e000, 0, 1 << 21},
         "compressed"},
        {"gfx900", WM_DESCRIPTOR_IMAGE, {0x100, 0xc500000, 0xfc03f, 0x00000fac, 0x7e000}, "TYPE is 0"},
        {"gfx900",
         WM_DESCRIPTOR_IMAGE,
         {0x100, 0xc500000, 0xfc03f, 0x90001fac, 0x7e000},
         "BASE_LEVEL 1 is above"},
        {"gfx900", WM_DESCRIPTOR_SAMPLER, {0x92, 0xfff000, 0}, NULL},
        {"gfx900", WM_DESCRIPTOR_SAMPLER, {0x92, 0x000fff, 0}, "MIN_LOD is above MAX_LOD"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wm_descriptor d;
        struct wm_diag diag;
        assert_int_equal(wm_descriptor_decode(rows[i].target, rows[i].kind, rows[i].words,
                                              rows[i].kind == WM_DESCRIPTOR_IMAGE ? 8 : 4, &d, &diag),
                         WM_OK);
        bool found = !rows[i].warning && !d.warning_count;
        for (size_t k = 0; k < d.warning_count && rows[i].warning; k++)
            found |= strstr(d.warning[k], rows[i].warning) != NULL;
        if (!found)
            fail_msg("row %u (%s): %zu warnings, first '%s'", i, rows[i].target, d.warning_count,
                     d.warning[0]);
    }
}

static void refusals(void **state)
{
    (void)state;
    const uint32_t words[8] = {0};
    struct wm_descriptor d;
    struct wm_diag diag;
    struct wm_buffer_answer answer;
    assert_int_equal(wm_descriptor_decode("gfx999", WM_DESCRIPTOR_BUFFER, words, 4, &d, &diag), WM_NOT_FOUND);
    assert_int_equal(wm_descriptor_decode("gfx900", WM_DESCRIPTOR_BUFFER, words, 5, &d, &diag),
                     WM_BAD_ARGUMENT);
    assert_int_equal(wm_descriptor_decode("gfx900", (enum wm_descriptor_kind)9, words, 4, &d, &diag),
                     WM_BAD_ARGUMENT);
    const struct wm_descriptor_field unknown = {.name = "ELEMENT_SIZE"},
                                     large = {.name = "stride", .value = 1 << 14};
    assert_int_equal(wm_descriptor_encode("gfx900", WM_DESCRIPTOR_BUFFER, &unknown, 1, &d, &diag),
                     WM_NOT_FOUND);
    assert_int_equal(wm_descriptor_encode("gfx803", WM_DESCRIPTOR_BUFFER, &unknown, 1, &d, &diag), WM_OK);
    assert_int_equal(wm_descriptor_encode("gfx900", WM_DESCRIPTOR_BUFFER, &large, 1, &d, &diag),
                     WM_BAD_ARGUMENT);
    static const struct wm_buffer_request bad[] = {{.bytes = 5},
                                                   {.bytes = 0},
                                                   {.bytes = 20},
                                                   {.bytes = 4, .lane = 64},
                                                   {.bytes = 4, .inst_offset = 4096},
                                                   {.bytes = 4, .inst_offset = -1},
                                                   {.bytes = 4, .addr64 = true}};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(wm_buffer_explain("gfx900", words, &bad[i], &answer, &diag), WM_BAD_ARGUMENT);
}

/* The last number of a step, decimal or hexadecimal. */
static uint64_t result_of(const char *step)
{
    const char *equals = strrchr(step, '=');
    assert_non_null(equals);
    return strtoull(equals + 2, NULL, 0);
}

/* Explained addresses, verdicts and text must match memory/buffer.h. */
static void explanations(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        unsigned rules;
    } targets[] = {{"gfx600", 0},  {"gfx803", 1},  {"gfx900", 2}, {"gfx942", 2},
                   {"gfx1030", 3}, {"gfx1100", 4}, {"gfx1200", 5}};
    static const unsigned sizes[] = {1, 2, 4, 8, 12, 16};
    unsigned in = 0, out = 0;
    for (unsigned round = 0; round < 60000; round++) {
        const unsigned t = word() % 7;
        uint32_t v[4] = {word(), word(), word() % 2 ? word() % 300 : word(), word()};
        if (word() % 2)
            v[1] = (v[1] & 0xc000ffff) | word() % 64 << 16;
        if (word() % 8)
            v[3] &= 0x3fffffff;
        const struct wm_buffer_request r = {.idxen = word() % 2,
                                            .offen = word() % 2,
                                            .index = word() % 2 ? word() % 200 : word(),
                                            .offset = word() % 2 ? word() % 100 : word(),
                                            .inst_offset = (int32_t)(word() % 2 ? 0 : word() % 4096),
                                            .soffset = word() % 2 ? 0 : word() % 100,
                                            .lane = word() % 64,
                                            .bytes = sizes[word() % 6],
                                            .format = word() % 4 == 0,
                                            .atomic = word() % 4 == 0};
        struct wm_buffer_answer a;
        struct wm_diag diag;
        assert_int_equal(wm_buffer_explain(targets[t].target, v, &r, &a, &diag), WM_OK);
        const struct wmi_buffer b =
            wmi_buffer_decode(wmi_buffer_rules(targets[t].rules), v, !r.format, r.idxen);
        const bool dwords = !r.format && !r.atomic && r.bytes > 4;
        assert_int_equal(a.elements, dwords ? r.bytes / 4 : 1);
        size_t step = 0;
        for (unsigned i = 0; i < a.elements; i++) {
            const struct wmi_buffer_place p = {
                .index = r.idxen ? r.index : 0,
                .lane = b.lane ? r.lane : 0,
                .offset = (uint64_t)((uint32_t)r.inst_offset + (r.offen ? r.offset : 0)) + 4 * i,
                .part = 4 * i,
                .soffset = r.soffset,
                .bytes = dwords ? 4 : r.bytes,
            };
            assert_int_equal(a.address[i], wmi_buffer_address(&b, &p));
            assert_int_equal(a.in_range[i], wmi_buffer_in_range(&b, &p));
            while (strncmp(a.step[step], "address =", 9) != 0)
                assert_true(++step < a.step_count);
            assert_int_equal(result_of(a.step[step++]), a.address[i]);
            in += a.in_range[i];
            out += !a.in_range[i];
        }
        assert_true(a.step_count < WM_BUFFER_STEPS + 1 &&
                    strncmp(a.step[a.step_count - 1], "range:", 6) == 0);
    }
    assert_true(in > 10000 && out > 10000);
}

/* gfx7: no check, whatever the size in the V#. */
static void addr64(void **state)
{
    (void)state;
    const uint32_t v[4] = {0x1000, 1, 0, 4 << 15}, unbound[4] = {0x1000, 1, 0, 0};
    const struct wm_buffer_request r = {
        .addr64 = true, .address = 0x7000, .inst_offset = 16, .soffset = 5, .bytes = 4};
    struct wm_buffer_answer a;
    struct wm_diag diag;
    assert_int_equal(wm_buffer_explain("gfx700", v, &r, &a, &diag), WM_OK);
    assert_int_equal(a.address[0], 0x100008015);
    assert_true(a.in_range[0]);
    assert_int_equal(wm_buffer_explain("gfx700", unbound, &r, &a, &diag), WM_OK);
    assert_false(a.in_range[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts),  cmocka_unit_test(every_target), cmocka_unit_test(warnings),
        cmocka_unit_test(refusals), cmocka_unit_test(explanations), cmocka_unit_test(addr64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
