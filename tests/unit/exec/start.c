/* SPDX-License-Identifier: MIT */
/* Initial registers of raw code (wavemem/start.h): what the code stores is what was asked for. */
#include "wavemem/wavemem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "unit/ok.h"

enum { OUT = 1 << 16 }; /* words */

struct world {
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    uint64_t out;
    uint32_t *words;
};

static struct world open_world(const char *target, const char *text)
{
    struct world w;
    uint8_t *bytes;
    size_t size;
    char *messages = NULL;
    if (wm_assemble(text, strlen(text), "kernel", target, WM_ASSEMBLE_RAW, &bytes, &size, &messages, &diag))
        fail_msg("%s: %s", target, messages ? messages : diag.message);
    OK(wm_object_open(bytes, size, "kernel", target, &w.object, &diag));
    free(bytes);
    free(messages);
    OK(wm_object_find_kernel(w.object, NULL, &w.kernel, &diag));
    OK(wm_machine_create(wm_object_target(w.object), &w.machine, &diag));
    OK(wm_load(w.machine, w.object, &diag));
    OK(wm_allocate(w.machine, 4 * OUT, 0, "out", &w.out, &diag));
    w.words = wm_host_pointer(w.machine, w.out, 4 * OUT);
    return w;
}

static void close_world(const struct world *w)
{
    wm_machine_destroy(w->machine);
    wm_object_close(w->object);
}

static struct wm_result run(const struct world *w, const struct wm_start *start, struct wm_dispatch dispatch)
{
    struct wm_result result = {.struct_size = sizeof result};
    dispatch.struct_size = sizeof dispatch;
    dispatch.start = start;
    OK(wm_dispatch(w->machine, w->object, w->kernel, &dispatch, &result, &diag));
    if (result.fault.kind != WM_FAULT_NONE)
        fail_msg("%s", result.fault.text);
    return result;
}

#define VALUES(register_name, ...)                                                                           \
    {.name = (register_name),                                                                                \
     .values = (const uint32_t[]){__VA_ARGS__},                                                              \
     .count = sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)}

/* Targets with 64 lanes, and with either. ADD is v_add without a carry. */
static const struct {
    const char *target, *add;
    unsigned lanes;
} targets[] = {
    {"gfx900", "v_add_u32", 64},     {"gfx906", "v_add_u32", 64},
    {"gfx90a", "v_add_u32", 64},     {"gfx942", "v_add_u32", 64},
    {"gfx1010", "v_add_nc_u32", 32}, {"gfx1030:wave64", "v_add_nc_u32", 64},
    {"gfx1100", "v_add_nc_u32", 32}, {"gfx1100:wave64", "v_add_nc_u32", 64},
    {"gfx1200", "v_add_nc_u32", 32},
};

/* Each lane stores v5 + s7 * 65536 at the place in v4, which is v3 + s6 * lanes words. */
static void scalars_and_vectors(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        const unsigned lanes = targets[t].lanes;
        char text[1024];
        uint32_t lane_values[64];
        snprintf(text, sizeof text,
                 "s_mul_i32 s8, s6, %u\n"
                 "s_lshl_b32 s9, s7, 16\n"
                 "v_lshlrev_b32 v4, 2, v3\n"
                 "%s v4, s8, v4\n"
                 "%s v5, s9, v5\n"
                 "global_store_dword v4, v5, s[2:3]\n"
                 "s_endpgm\n",
                 4 * lanes, targets[t].add, targets[t].add);
        if (!strncmp(targets[t].target, "gfx12", 5))
            memcpy(strstr(text, "global_store_dword "), "global_store_b32   ", 19);
        const struct world w = open_world(targets[t].target, text);
        for (unsigned i = 0; i < 64; i++)
            lane_values[i] = lanes - 1 - i; /* reversed */
        const struct wm_start_register registers[] = {
            VALUES("s2", (uint32_t)w.out, (uint32_t)(w.out >> 32)),
            {.name = "s6", .kind = WM_START_WORKGROUP_ID_X},
            VALUES("S7", 5),
            {.name = "v3", .values = lane_values, .count = lanes},
            VALUES("v5", 99),
        };
        const struct wm_start start = {
            .struct_size = sizeof start, .bare = true, .registers = registers, .register_count = 5};
        run(&w, &start, (struct wm_dispatch){.grid = {3 * lanes - 1}, .workgroup = {lanes}});
        /* Lane 31 or 63 of the last workgroup has no work-item; its place is the first. */
        for (unsigned i = 0; i < 4 * lanes; i++)
            assert_int_equal(w.words[i], i >= 3 * lanes || i == 2 * lanes ? 0 : (5 << 16) + 99);
        close_world(&w);
    }
}

/* Numbers of workgroups and work-items in two dimensions, where drivers of graphics put them. */
static void ids(void **state)
{
    static const char text[] = "v_and_b32 v1, 0x3ff, v7\n"
                               "v_bfe_u32 v2, v7, 10, 10\n"
                               "v_mul_u32_u24 v2, 8, v2\n" /* 8 work-items in x */
                               "v_add_u32 v1, v1, v2\n"    /* number in the workgroup */
                               "s_lshr_b32 s3, s11, 16\n"  /* z */
                               "s_and_b32 s2, s11, 0xffff\n"
                               "s_mul_i32 s2, s2, 3\n" /* 3 workgroups in x */
                               "s_add_u32 s2, s2, s10\n"
                               "s_mul_i32 s3, s3, 6\n"
                               "s_add_u32 s2, s2, s3\n"
                               "s_lshl_b32 s2, s2, 7\n" /* 128 work-items in a workgroup */
                               "v_add_u32 v1, s2, v1\n"
                               "v_lshlrev_b32 v1, 2, v1\n"
                               "v_mov_b32 v2, s12\n" /* number of the wave */
                               "v_mov_b32 v3, v9\n"
                               "v_lshl_or_b32 v2, v2, 16, v3\n"
                               "global_store_dword v1, v2, s[0:1]\n"
                               "s_endpgm\n";
    const struct world w = open_world("gfx900", text);
    uint32_t of_items[128];
    (void)state;
    for (unsigned i = 0; i < 128; i++)
        of_items[i] = 7 * i;
    const struct wm_start_register registers[] = {
        {.name = "v7", .kind = WM_START_WORKITEM_IDS},
        {.name = "s10", .kind = WM_START_WORKGROUP_ID_X},
        {.name = "s11", .kind = WM_START_WORKGROUP_ID_YZ},
        {.name = "s12", .kind = WM_START_WAVE_ID},
        VALUES("s0", (uint32_t)w.out, (uint32_t)(w.out >> 32)),
        {.name = "v9", .values = of_items, .count = 128},
    };
    const struct wm_start start = {
        .struct_size = sizeof start, .bare = true, .registers = registers, .register_count = 6};
    (void)state;
    run(&w, &start, (struct wm_dispatch){.grid = {24, 32, 2}, .workgroup = {8, 16}, .threads = 2});
    for (unsigned i = 0; i < 12 * 128; i++)
        assert_int_equal(w.words[i], (i % 128 / 64) << 16 | (i % 128) * 7);
    close_world(&w);
}

/* EXEC, VCC, SCC, M0, MODE, TTMPs, the arguments and what was there without a request. */
static void special_registers(void **state)
{
    static const char text[] = "s_cselect_b32 s8, 1, 0\n"
                               "s_load_dwordx2 s[4:5], s[20:21], 0\n"
                               "s_waitcnt lgkmcnt(0)\n"
                               "s_mov_b64 s[10:11], exec\n"
                               "s_mov_b64 exec, -1\n"
                               "s_getreg_b32 s9, hwreg(HW_REG_MODE, 0, 8)\n"
                               "v_mov_b32 v10, 0x3f800000\n"
                               "v_add_f32 v10, 0x33800000, v10\n" /* 1 + 2^-24: rounds by MODE */
                               "v_mov_b32 v1, 0\n"
                               "v_mov_b32 v2, s8\nglobal_store_dword v1, v2, s[4:5]\n"
                               "v_mov_b32 v2, s9\nglobal_store_dword v1, v2, s[4:5] offset:4\n"
                               "v_mov_b32 v2, s10\nglobal_store_dword v1, v2, s[4:5] offset:8\n"
                               "v_mov_b32 v2, s11\nglobal_store_dword v1, v2, s[4:5] offset:12\n"
                               "v_mov_b32 v2, vcc_hi\nglobal_store_dword v1, v2, s[4:5] offset:16\n"
                               "v_mov_b32 v2, m0\nglobal_store_dword v1, v2, s[4:5] offset:20\n"
                               "v_mov_b32 v2, ttmp9\nglobal_store_dword v1, v2, s[4:5] offset:24\n"
                               "global_store_dword v1, v10, s[4:5] offset:28\n"
                               "v_mov_b32 v2, s2\nglobal_store_dword v1, v2, s[4:5] offset:32\n"
                               "v_readlane_b32 s12, v0, 7\n"
                               "v_mov_b32 v2, s12\nglobal_store_dword v1, v2, s[4:5] offset:36\n"
                               "s_endpgm\n";
    const struct world w = open_world("gfx900", text);
    const struct wm_start_register registers[] = {
        {.name = "s20", .kind = WM_START_ARGUMENTS},
        VALUES("scc", 1),
        VALUES("exec", 0x11, 0x80000000),
        VALUES("vcc", 1, 0xabcd),
        VALUES("m0", 77),
        VALUES("ttmp9", 1234),
        VALUES("mode", 0xf1), /* rounds towards plus infinity; denormals */
    };
    (void)state;
    for (unsigned bare = 0; bare < 2; bare++) {
        const struct wm_start start = {
            .struct_size = sizeof start, .bare = bare, .registers = registers, .register_count = 7};
        run(&w, &start,
            (struct wm_dispatch){
                .grid = {192}, .workgroup = {64}, .threads = 1, .arguments = &w.out, .arguments_size = 8});
        const uint32_t expected[] = {1, 0xf1, 0x11, 0x80000000, 0xabcd, 77, 1234, 0x3f800001};
        for (unsigned i = 0; i < 8; i++)
            assert_int_equal(w.words[i], expected[i]);
        assert_int_equal(w.words[8],
                         bare ? 0 : 2); /* raw code: s2 is the workgroup's number, here the last */
        assert_int_equal(w.words[9], bare ? 0 : 7); /* and v0 that of the work-item */
    }
    close_world(&w);
}

/* Private memory of raw code: each wave has its own. */
static void scratch(void **state)
{
    static const char text[] = "v_lshlrev_b32 v1, 2, v0\n"
                               "v_mov_b32 v2, 0\n"
                               "scratch_store_dword v2, v0, off offset:12\n"
                               "s_waitcnt vmcnt(0)\n"
                               "scratch_load_dword v3, v2, off offset:12\n"
                               "s_waitcnt vmcnt(0)\n"
                               "global_store_dword v1, v3, s[0:1]\n"
                               "s_endpgm\n";
    const struct world w = open_world("gfx900", text);
    const struct wm_start_register registers[] = {
        VALUES("s0", (uint32_t)w.out, (uint32_t)(w.out >> 32)),
        {.name = "v0", .kind = WM_START_WORKITEM_ID_X},
        {.name = "flat_scratch", .kind = WM_START_SCRATCH_ADDRESS},
    };
    const struct wm_start start = {.struct_size = sizeof start,
                                   .bare = true,
                                   .registers = registers,
                                   .register_count = 3,
                                   .scratch_bytes = 16};
    (void)state;
    run(&w, &start, (struct wm_dispatch){.grid = {256}, .workgroup = {256}});
    for (unsigned i = 0; i < 256; i++)
        assert_int_equal(w.words[i], i);
    close_world(&w);
}

/* Waves get pieces of the caller's scratch memory, as many at a time as it has: each writes its own number
 * there, waits, and counts itself if it finds it again. */
static void own_scratch(void **state)
{
    enum { WAVES = 3, PIECE = 1024, GROUPS = 500 };
    static const char text[] = "v_mov_b32 v1, s6\n"
                               "s_add_u32 s8, s4, s7\n"
                               "s_addc_u32 s9, s5, 0\n"
                               "v_lshlrev_b32 v2, 2, v0\n"
                               "global_store_dword v2, v1, s[8:9]\n"
                               "s_waitcnt vmcnt(0)\n"
                               "s_sleep 1\n"
                               "global_load_dword v3, v2, s[8:9] glc\n"
                               "s_waitcnt vmcnt(0)\n"
                               "v_cmp_eq_u32 vcc, v3, v1\n"
                               "s_bcnt1_i32_b64 s10, vcc\n"
                               "v_mov_b32 v4, s10\n"
                               "v_mov_b32 v5, 0\n"
                               "s_mov_b64 exec, 1\n"
                               "global_atomic_add v5, v4, s[2:3]\n"
                               "v_mov_b32 v6, s7\n"
                               "global_atomic_umax v5, v6, s[2:3] offset:4\n"
                               "s_endpgm\n";
    const struct world w = open_world("gfx900", text);
    uint64_t scratch;
    (void)state;
    OK(wm_allocate(w.machine, WAVES * PIECE, 0, "scratch", &scratch, &diag));
    const struct wm_start_register registers[] = {
        VALUES("s2", (uint32_t)w.out, (uint32_t)(w.out >> 32)),
        VALUES("s4", (uint32_t)scratch, (uint32_t)(scratch >> 32)),
        {.name = "s6", .kind = WM_START_WORKGROUP_ID_X},
        {.name = "s7", .kind = WM_START_SCRATCH_OFFSET},
        {.name = "v0", .kind = WM_START_WORKITEM_ID_X},
    };
    struct wm_start start = {.struct_size = sizeof start,
                             .bare = true,
                             .registers = registers,
                             .register_count = sizeof registers / sizeof *registers,
                             .scratch_waves = WAVES,
                             .scratch_address = scratch,
                             .scratch_wave_bytes = PIECE};
    for (uint32_t threads = 1; threads <= 4; threads++) {
        w.words[0] = 0;
        run(&w, &start, (struct wm_dispatch){.grid = {64 * GROUPS}, .workgroup = {64}, .threads = threads});
        assert_int_equal(w.words[0], 64 * GROUPS);
        assert_true(w.words[1] % PIECE == 0 && w.words[1] < WAVES * PIECE);
    }
    const struct wm_dispatch large = {
        .struct_size = sizeof large, .grid = {64 * 4}, .workgroup = {64 * 4}, .start = &start};
    struct wm_result result = {.struct_size = sizeof result};
    assert_int_equal(wm_dispatch(w.machine, w.object, w.kernel, &large, &result, &diag), WM_BAD_ARGUMENT);
    assert_non_null(strstr(diag.message, "scratch_waves is 3"));
    close_world(&w);
}

/* Where nothing is bound, loads are 0, and stores and atomics do nothing, by every path. */
static void unbound(void **state)
{
    static const char text[] = "v_lshlrev_b32 v2, 2, v0\n"
                               "v_mov_b32 v1, 5\n"
                               "s_mov_b32 s13, 9\n"
                               "s_store_dword s13, s[4:5], 0x40\n"
                               "s_atomic_add s13, s[4:5], 0x80 glc\n"
                               "s_waitcnt lgkmcnt(0)\n"
                               "s_dcache_wb\n"
                               "s_load_dword s12, s[4:5], 0x40\n"
                               "global_store_dword v2, v1, s[4:5]\n"
                               "buffer_store_dword v1, v2, s[8:11], 0 offen\n"
                               "v_mov_b32 v3, 7\n"
                               "v_mov_b32 v4, 7\n"
                               "global_atomic_add v3, v2, v1, s[4:5] glc\n"
                               "s_waitcnt vmcnt(0)\n"
                               "global_load_dword v4, v2, s[4:5]\n"
                               "buffer_load_dword v5, v2, s[8:11], 0 offen\n"
                               "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
                               "v_or_b32 v3, v3, v4\n"
                               "v_or_b32 v3, v3, v5\n"
                               "v_or_b32 v3, s12, v3\n"
                               "v_or_b32 v3, s13, v3\n"
                               "global_store_dword v2, v3, s[2:3]\n"
                               "s_endpgm\n";
    const struct world w = open_world("gfx900", text);
    const uint64_t range = UINT64_C(0x700000000000);
    (void)state;
    OK(wm_allocate_at(w.machine, range, UINT64_C(1) << 32, WM_UNBOUND, "sparse", &diag));
    const struct wm_start_register registers[] = {
        VALUES("s2", (uint32_t)w.out, (uint32_t)(w.out >> 32)),
        VALUES("s4", (uint32_t)range, (uint32_t)(range >> 32)),
        VALUES("s8", (uint32_t)range, (uint32_t)(range >> 32), 4096, 0x00024fac),
        {.name = "v0", .kind = WM_START_WORKITEM_ID_X},
    };
    const struct wm_start start = {.struct_size = sizeof start,
                                   .bare = true,
                                   .registers = registers,
                                   .register_count = sizeof registers / sizeof *registers};
    for (enum wm_scalar_cache mode = WM_SCALAR_CACHE_COHERENT; mode <= WM_SCALAR_CACHE_STALE; mode++) {
        memset(w.words, 1, 256);
        run(&w, &start, (struct wm_dispatch){.grid = {64}, .workgroup = {64}, .scalar_cache = mode});
        for (unsigned i = 0; i < 64; i++)
            assert_int_equal(w.words[i], 0);
    }
    struct wm_allocation allocation = {.struct_size = sizeof allocation};
    OK(wm_find_allocation(w.machine, range, false, &allocation, &diag));
    assert_int_equal(allocation.flags, WM_READ_ONLY | WM_UNBOUND);
    close_world(&w);
}

static void refuses(const struct world *w, const struct wm_start *start, const char *says)
{
    struct wm_dispatch dispatch = {.struct_size = sizeof dispatch, .start = start};
    struct wm_result result = {.struct_size = sizeof result};
    diag = (struct wm_diag){0};
    assert_int_equal(wm_dispatch(w->machine, w->object, w->kernel, &dispatch, &result, &diag),
                     WM_BAD_ARGUMENT);
    if (!strstr(diag.message, says))
        fail_msg("'%s' does not say '%s'", diag.message, says);
}

static void nonsense(void **state)
{
    const struct world w = open_world("gfx900", "s_endpgm\n");
    static const uint32_t values[128];
    static const struct {
        struct wm_start_register r;
        const char *says;
    } wrong[] = {
        {{.name = NULL, .values = values, .count = 1}, "name"},
        {{.name = "s102", .values = values, .count = 1}, "'s102': not a register of gfx900"},
        {{.name = "v256", .values = values, .count = 1}, "'v256': not a register"},
        {{.name = "a0", .values = values, .count = 1}, "'a0': not a register"},
        {{.name = "v", .values = values, .count = 1}, "'v': not a register"},
        {{.name = "", .values = values, .count = 1}, "'': not a register"},
        {{.name = "s1x", .values = values, .count = 1}, "'s1x': not a register"},
        {{.name = "s4", .values = NULL, .count = 1}, "values is NULL"},
        {{.name = "s4", .values = values, .count = 0}, "0 values"},
        {{.name = "s100", .values = values, .count = 3}, "3 values; expected 1 to 2"},
        {{.name = "ttmp15", .values = values, .count = 2}, "2 values"},
        {{.name = "m0", .values = values, .count = 2}, "2 values"},
        {{.name = "mode", .values = values, .count = 2}, "2 values"},
        {{.name = "exec", .values = values, .count = 3}, "3 values"},
        {{.name = "pc", .values = values, .count = 2}, "entry"},
        {{.name = "v4", .values = values, .count = 63}, "63 values; expected 1, 64 (lanes of a wave) or 1"},
        {{.name = "s101", .kind = WM_START_ARGUMENTS}, "64 bits need two"},
        {{.name = "v4", .kind = WM_START_ARGUMENTS}, "expected an SGPR"},
        {{.name = "s4", .kind = WM_START_WORKITEM_ID_Y}, "expected a VGPR"},
        {{.name = "exec", .kind = WM_START_WAVE_ID}, "expected an SGPR"},
        {{.name = "s4", .kind = WM_START_KINDS}, "kind"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refuses(&w,
                &(struct wm_start){
                    .struct_size = sizeof(struct wm_start), .registers = &wrong[i].r, .register_count = 1},
                wrong[i].says);
    refuses(&w, &(struct wm_start){.struct_size = sizeof(struct wm_start), .register_count = 1}, "NULL");
    refuses(&w, &(struct wm_start){.struct_size = 1}, "struct_size");
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_and_vectors),
        cmocka_unit_test(ids),
        cmocka_unit_test(special_registers),
        cmocka_unit_test(scratch),
        cmocka_unit_test(own_scratch),
        cmocka_unit_test(unbound),
        cmocka_unit_test(nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
