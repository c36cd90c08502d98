/* SPDX-License-Identifier: MIT */
/* Scalar memory, and what vector memory lowers to, by raw gfx900 code.
 *
 * Words are those of llvm-mc-19 -mcpu=gfx900, the comments its text. s[2:3] hold the address of 256 dwords
 * with known contents: run() puts the two moves in front. What the code must have left in them is written out
 * here from the instructions' descriptions. */
#include "wavemem/wavemem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

// clang-format off
static const uint32_t loads[] = {
    0x8004ff02, 0x00000080, /* s_add_u32 s4, s2, 0x80 */
    0xbe850003, /* s_mov_b32 s5, s3 */
    0xb0060023, /* s_movk_i32 s6, 0x23 */
    0xc00201c1, 0x00000014, /* s_load_dword s7, s[2:3], 0x14 */
    0xc0020202, 0x001fffc0, /* s_load_dword s8, s[4:5], -0x40 */
    0xc0000241, 0x00000006, /* s_load_dword s9, s[2:3], s6 */
    0xc0024281, 0x0c000012, /* s_load_dword s10, s[2:3], s6 offset:0x12 */
    0xc0060301, 0x0000001c, /* s_load_dwordx2 s[12:13], s[2:3], 0x1c */
    0xc00a0401, 0x00000030, /* s_load_dwordx4 s[16:19], s[2:3], 0x30 */
    0xc00e0501, 0x00000040, /* s_load_dwordx8 s[20:27], s[2:3], 0x40 */
    0xc0120701, 0x00000060, /* s_load_dwordx16 s[28:43], s[2:3], 0x60 */
    0xc04201c1, 0x00000200, /* s_store_dword s7, s[2:3], 0x200 */
    0xc0420201, 0x00000204, /* s_store_dword s8, s[2:3], 0x204 */
    0xc0420241, 0x00000208, /* s_store_dword s9, s[2:3], 0x208 */
    0xc0420281, 0x0000020c, /* s_store_dword s10, s[2:3], 0x20c */
    0xc0460301, 0x00000210, /* s_store_dwordx2 s[12:13], s[2:3], 0x210 */
    0xc04a0401, 0x00000220, /* s_store_dwordx4 s[16:19], s[2:3], 0x220 */
    0xc04a0601, 0x00000230, /* s_store_dwordx4 s[24:27], s[2:3], 0x230 */
    0xc04a0a01, 0x00000240, /* s_store_dwordx4 s[40:43], s[2:3], 0x240 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t buffers[] = {
    0xbe8c0002, /* s_mov_b32 s12, s2 */
    0x870dff03, 0x00080000, /* s_or_b32 s13, s3, 0x80000 */
    0xbe8e0084, /* s_mov_b32 s14, 4 */
    0xbe8f0080, /* s_mov_b32 s15, 0 */
    0xc02a0406, 0x00000014, /* s_buffer_load_dwordx4 s[16:19], s[12:15], 0x14 */
    0xbe840002, /* s_mov_b32 s4, s2 */
    0xbe850003, /* s_mov_b32 s5, s3 */
    0xbe860096, /* s_mov_b32 s6, 22 */
    0xbe870080, /* s_mov_b32 s7, 0 */
    0xbe890088, /* s_mov_b32 s9, 8 */
    0xc0280502, 0x00000009, /* s_buffer_load_dwordx4 s[20:23], s[4:7], s9 */
    0xc0220602, 0x00000018, /* s_buffer_load_dword s24, s[4:7], 0x18 */
    0xbe8600ff, 0x00000204, /* s_mov_b32 s6, 0x204 */
    0xc04a0401, 0x00000210, /* s_store_dwordx4 s[16:19], s[2:3], 0x210 */
    0xc04a0501, 0x00000220, /* s_store_dwordx4 s[20:23], s[2:3], 0x220 */
    0xc0460601, 0x00000230, /* s_store_dwordx2 s[24:25], s[2:3], 0x230 */
    0xc06a0402, 0x00000200, /* s_buffer_store_dwordx4 s[16:19], s[4:7], 0x200 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t atomics[] = {
    0xbe840085, /* s_mov_b32 s4, 5 */
    0xbe850080, /* s_mov_b32 s5, 0 */
    0xc20b0101, 0x00000010, /* s_atomic_add s4, s[2:3], 0x10 glc */
    0xbe860081, /* s_mov_b32 s6, 1 */
    0xc20e0181, 0x00000014, /* s_atomic_sub s6, s[2:3], 0x14 */
    0xbe8800c1, /* s_mov_b32 s8, -1 */
    0xbe8900c1, /* s_mov_b32 s9, -1 */
    0xc29f0201, 0x00000018, /* s_atomic_umax_x2 s[8:9], s[2:3], 0x18 glc */
    0xc00202c1, 0x00000020, /* s_load_dword s11, s[2:3], 0x20 */
    0xbe8a00ff, 0x0000004d, /* s_mov_b32 s10, 0x4d */
    0xc2070281, 0x00000020, /* s_atomic_cmpswap s[10:11], s[2:3], 0x20 glc */
    0xc0420101, 0x00000200, /* s_store_dword s4, s[2:3], 0x200 */
    0xc0420181, 0x00000204, /* s_store_dword s6, s[2:3], 0x204 */
    0xc0460201, 0x00000208, /* s_store_dwordx2 s[8:9], s[2:3], 0x208 */
    0xc0460281, 0x00000210, /* s_store_dwordx2 s[10:11], s[2:3], 0x210 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t clocks[] = {
    0xc0900100, 0x00000000, /* s_memtime s[4:5] */
    0xb0060064, /* s_movk_i32 s6, 0x64 */
    /* top: */
    0x80868106, /* s_sub_u32 s6, s6, 1 */
    0xbf078006, /* s_cmp_lg_u32 s6, 0 */
    0xbf85fffd, /* s_cbranch_scc1 top */
    0xc0900200, 0x00000000, /* s_memtime s[8:9] */
    0xc0940280, 0x00000000, /* s_memrealtime s[10:11] */
    0xc0840000, 0x00000000, /* s_dcache_wb */
    0x80880408, /* s_sub_u32 s8, s8, s4 */
    0x82890509, /* s_subb_u32 s9, s9, s5 */
    0xc0460201, 0x00000200, /* s_store_dwordx2 s[8:9], s[2:3], 0x200 */
    0xc0460281, 0x00000208, /* s_store_dwordx2 s[10:11], s[2:3], 0x208 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t outside[] = {
    0xc0060101, 0x000003fc, /* s_load_dwordx2 s[4:5], s[2:3], 0x3fc */
    0xbf810000, /* s_endpgm */
};

static const uint32_t unaligned[] = {
    0xc28a0101, 0x00000014, /* s_atomic_add_x2 s[4:5], s[2:3], 0x14 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t scalar_scratch[] = {
    0xb0040003, /* s_movk_i32 s4, 0x3 */
    0xb0050002, /* s_movk_i32 s5, 0x2 */
    0xbe8600ff, 0x0000004d, /* s_mov_b32 s6, 0x4d */
    0xbe8700ff, 0x0000004e, /* s_mov_b32 s7, 0x4e */
    0xc0580181, 0x00000004, /* s_scratch_store_dwordx2 s[6:7], s[2:3], s4 */
    0xc0560181, 0x00000014, /* s_scratch_store_dword s6, s[2:3], 0x14 */
    0xc0840000, 0x00000000, /* s_dcache_wb */
    0xc01c0201, 0x00000004, /* s_scratch_load_dwordx4 s[8:11], s[2:3], s4 */
    0xc01a0301, 0x00000014, /* s_scratch_load_dwordx2 s[12:13], s[2:3], 0x14 */
    0xc09a0001, 0x00000010, /* s_atc_probe 0, s[2:3], 0x10 */
    0x80080908, /* s_add_u32 s8, s8, s9 */
    0x800c080c, /* s_add_u32 s12, s12, s8 */
    0xc0420301, 0x00000000, /* s_store_dword s12, s[2:3], 0x0 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t vector[] = {
    0x24020082, /* v_lshlrev_b32_e32 v1, 2, v0 */
    0x7e1002c1, /* v_mov_b32_e32 v8, -1 */
    0x7e1202c1, /* v_mov_b32_e32 v9, -1 */
    0xdc508000, 0x02020001, /* global_load_dword v2, v1, s[2:3] */
    0xdc948002, 0x08020001, /* global_load_short_d16_hi v8, v1, s[2:3] offset:2 */
    0xdc448001, 0x0a020001, /* global_load_sbyte v10, v1, s[2:3] offset:1 */
    0x7e160203, /* v_mov_b32_e32 v11, s3 */
    0x3214110a, /* v_add_co_u32_e32 v10, vcc, v10, v8 */
    0x7e060281, /* v_mov_b32_e32 v3, 1 */
    0xdd098000, 0x04020301, /* global_atomic_add v4, v1, v3, s[2:3] glc */
    0xdd088000, 0x00020301, /* global_atomic_add v1, v3, s[2:3] */
    0x680a090a, /* v_add_u32_e32 v5, v10, v4 */
    0xdc708200, 0x00020501, /* global_store_dword v1, v5, s[2:3] offset:512 */
    0xbf810000, /* s_endpgm */
};

static const uint32_t flat[] = {
    0x24020082, /* v_lshlrev_b32_e32 v1, 2, v0 */
    0xbe8401eb, /* s_mov_b64 s[4:5], src_shared_base */
    0x7e040301, /* v_mov_b32_e32 v2, v1 */
    0x7e060205, /* v_mov_b32_e32 v3, s5 */
    0xdc700040, 0x00000002, /* flat_store_dword v[2:3], v0 offset:64 */
    0x7e080283, /* v_mov_b32_e32 v4, 3 */
    0xdd090040, 0x05000402, /* flat_atomic_add v5, v[2:3], v4 offset:64 glc */
    0xdc500040, 0x06000002, /* flat_load_dword v6, v[2:3] offset:64 */
    0xdc500fa0, 0x07000002, /* flat_load_dword v7, v[2:3] offset:4000 */
    0x240a0a88, /* v_lshlrev_b32_e32 v5, 8, v5 */
    0x280c0b06, /* v_or_b32_e32 v6, v6, v5 */
    0x240e0e90, /* v_lshlrev_b32_e32 v7, 16, v7 */
    0x280c0f06, /* v_or_b32_e32 v6, v6, v7 */
    0xdc708200, 0x00020601, /* global_store_dword v1, v6, s[2:3] offset:512 */
    0xbf810000, /* s_endpgm */
};
// clang-format on

enum { WORDS = 256, MAX_CODE = 64, OUT = 0x200 / 4 };

struct run {
    uint32_t before[WORDS], after[WORDS];
    struct wm_fault fault;
    uint64_t data;
};

static struct run run_words(const uint32_t *words, size_t bytes, unsigned flags)
{
    struct run run = {0};
    struct wm_diag diag;
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    struct wm_result result = {.struct_size = sizeof result};
    const struct wm_dispatch dispatch = {
        .struct_size = sizeof dispatch, .grid = {64}, .workgroup = {64}, .dynamic_lds = 1024, .threads = 1};
    uint32_t all[MAX_CODE] = {0};

    for (uint32_t i = 0; i < WORDS; i++)
        run.before[i] = (i + 1) * 0x9e3779b9;
    assert_int_equal(wm_machine_create("gfx900", &machine, &diag), WM_OK);
    assert_int_equal(wm_allocate(machine, sizeof run.before, flags, "data", &run.data, &diag), WM_OK);
    assert_int_equal(wm_write(machine, run.data, run.before, sizeof run.before, &diag), WM_OK);
    all[0] = 0xbe8200ff; /* s_mov_b32 s2, low */
    all[1] = (uint32_t)run.data;
    all[2] = 0xbe8300ff; /* s_mov_b32 s3, high */
    all[3] = (uint32_t)(run.data >> 32);
    assert_true(bytes + 16 <= sizeof all);
    memcpy(all + 4, words, bytes);
    assert_int_equal(wm_object_open(all, bytes + 16, "test", "gfx900", &object, &diag), WM_OK);
    assert_int_equal(wm_object_find_kernel(object, NULL, &kernel, &diag), WM_OK);
    assert_int_equal(wm_load(machine, object, &diag), WM_OK);
    assert_int_equal(wm_dispatch(machine, object, kernel, &dispatch, &result, &diag), WM_OK);
    assert_int_equal(wm_read(machine, run.data, run.after, sizeof run.after, &diag), WM_OK);
    run.fault = result.fault;
    wm_machine_destroy(machine);
    wm_object_close(object);
    return run;
}

#define RUN(words) run_words(words, sizeof(words), 0)

static void loads_and_stores(void **state)
{
    (void)state;
    const struct run run = RUN(loads);
    const uint32_t *w = run.before, *out = run.after + OUT;
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_int_equal(out[0], w[0x14 / 4]);
    assert_int_equal(out[1], w[(0x80 - 0x40) / 4]);
    assert_int_equal(out[2], w[0x20 / 4]);          /* 0x23 without its low bits */
    assert_int_equal(out[3], w[(0x20 + 0x10) / 4]); /* of both parts */
    assert_memory_equal(&out[4], &w[0x1c / 4], 8);
    assert_memory_equal(&out[8], &w[0x30 / 4], 16);
    assert_memory_equal(&out[12], &w[0x40 / 4 + 4], 16);
    assert_memory_equal(&out[16], &w[0x60 / 4 + 12], 16);
    assert_memory_equal(run.after, w, 0x200);
    assert_memory_equal(&run.after[0x250 / 4], &w[0x250 / 4], 0x400 - 0x250);
}

/* 4 records of 8 bytes; 22 bytes, the last dword of which the range check lets through; 0x204 bytes. */
static void buffers_end_where_they_end(void **state)
{
    (void)state;
    const struct run run = RUN(buffers);
    const uint32_t *w = run.before, *out = run.after + OUT;
    const uint32_t structured[4] = {w[5], w[6], w[7], 0}, raw[4] = {w[2], w[3], w[4], w[5]};
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_memory_equal(&out[4], structured, 16);
    assert_memory_equal(&out[8], raw, 16);
    assert_int_equal(out[12], 0);
    assert_int_equal(out[0], structured[0]); /* the store's other dwords are outside */
    assert_memory_equal(&out[1], &w[OUT + 1], 12);
}

static void atomics_return_with_glc_only(void **state)
{
    (void)state;
    const struct run run = RUN(atomics);
    const uint32_t *w = run.before, *out = run.after + OUT;
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_int_equal(run.after[4], w[4] + 5);
    assert_int_equal(out[0], w[4]);
    assert_int_equal(run.after[5], w[5] - 1);
    assert_int_equal(out[1], 1);
    assert_int_equal(run.after[6], UINT32_MAX);
    assert_int_equal(run.after[7], UINT32_MAX);
    assert_memory_equal(&out[2], &w[6], 8);
    assert_int_equal(run.after[8], 77); /* it held what s11 held */
    assert_int_equal(out[4], w[8]);
}

/* 100 rounds of 3 instructions: at least 1200 clocks of the SIMD; and never the host's time. */
static void clocks_count_instructions(void **state)
{
    (void)state;
    const struct run run = RUN(clocks), again = RUN(clocks);
    uint64_t passed, real;
    memcpy(&passed, &run.after[OUT], 8);
    memcpy(&real, &run.after[OUT + 2], 8);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    assert_in_range(passed, 1200, 1300);
    assert_in_range(real, 80, 90); /* the same at 100 MHz */
    assert_memory_equal(run.after, again.after, sizeof run.after);
}

static void faults_say_what_and_where(void **state)
{
    (void)state;
    struct run run = RUN(outside);
    assert_int_equal(run.fault.kind, WM_FAULT_MEMORY);
    assert_int_equal(run.fault.low, run.data + 0x3fc);
    assert_int_equal(run.fault.high, run.data + 0x403);
    assert_int_equal(run.fault.lanes, 1);
    assert_int_equal(run.fault.bytes, 8);
    assert_false(run.fault.store);
    assert_non_null(strstr(run.fault.text, "s_load_dwordx2 s[4:5], s[2:3], 0x3fc"));

    run = run_words(loads, sizeof loads, WM_READ_ONLY);
    assert_int_equal(run.fault.kind, WM_FAULT_READ_ONLY);
    assert_int_equal(run.fault.low, run.data + 0x200);
    assert_true(run.fault.store);
    assert_memory_equal(run.after, run.before, sizeof run.after);

    run = RUN(unaligned);
    assert_int_equal(run.fault.kind, WM_FAULT_MISALIGNED);
    assert_int_equal(run.fault.low, run.data + 0x14);
}

/* The SGPR counts 64 bytes, the immediate bytes. */
static void scalar_scratch_counts_in_64_bytes(void **state)
{
    (void)state;
    const struct run run = RUN(scalar_scratch);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    uint32_t expected[WORDS];
    memcpy(expected, run.before, sizeof expected);
    expected[48] = 77;
    expected[49] = 78;
    expected[5] = 77;
    expected[0] = 77 + 77 + 78;
    assert_memory_equal(run.after, expected, sizeof expected);
}

static void global_forms(void **state)
{
    (void)state;
    const struct run run = RUN(vector);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    for (unsigned i = 0; i < 64; i++) {
        const uint32_t w = run.before[i];
        const uint32_t high = (w & 0xffff0000) | 0xffff, byte = (uint32_t)(int8_t)(w >> 8);
        assert_int_equal(run.after[i], w + 2);
        assert_int_equal(run.after[OUT + i], high + byte + w);
    }
}

static void flat_reaches_lds(void **state)
{
    (void)state;
    const struct run run = RUN(flat);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(run.after[OUT + i], (i + 3) | i << 8); /* and 0 from behind the LDS */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_and_stores),
        cmocka_unit_test(buffers_end_where_they_end),
        cmocka_unit_test(atomics_return_with_glc_only),
        cmocka_unit_test(clocks_count_instructions),
        cmocka_unit_test(faults_say_what_and_where),
        cmocka_unit_test(scalar_scratch_counts_in_64_bytes),
        cmocka_unit_test(global_forms),
        cmocka_unit_test(flat_reaches_lds),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
