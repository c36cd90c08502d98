/* SPDX-License-Identifier: MIT */
/* Cooperative dispatches: kernels that synchronize their grid, in the three ways of the device library
 * (rocm-device-libs, ockl/src/cg.cl), and what is refused. */
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

enum { ROUNDS = 5, WORDS = 64 };

/* A kernel with the arguments {address of the counters, hidden_multigrid_sync_arg} in s[0:1]. */
struct world {
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    uint64_t counters;
};

static struct world world_of(const char *target, const char *body, unsigned lds)
{
    struct world w = {0};
    char text[8192], *messages = NULL;
    uint8_t *bytes;
    size_t size;
    const int length = snprintf(
        text, sizeof text,
        ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n.text\n.globl k\n.p2align 8\n.type k,@function\nk:\n"
        "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n%ss_endpgm\n"
        ".rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 32\n.amdhsa_next_free_sgpr 32\n"
        ".amdhsa_kernarg_size 16\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_group_segment_fixed_size "
        "%u\n%s"
        ".end_amdhsa_kernel\n.amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.kernels:\n"
        "  - .name: k\n    .symbol: k.kd\n    .kernarg_segment_size: 16\n    .kernarg_segment_align: 8\n"
        "    .group_segment_fixed_size: %u\n    .private_segment_fixed_size: 0\n    .wavefront_size: %u\n"
        "    .sgpr_count: 32\n    .vgpr_count: 32\n    .max_flat_workgroup_size: 1024\n    .args:\n"
        "      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}\n"
        "      - {.offset: 8, .size: 8, .value_kind: hidden_multigrid_sync_arg}\n...\n.end_amdgpu_metadata\n",
        target, body, lds, strcmp(target, "gfx942") ? "" : ".amdhsa_accum_offset 32\n", lds,
        strlen(target) > 6 ? 32 : 64);
    assert_in_range(length, 1, sizeof text - 1);
    if (wm_assemble(text, (size_t)length, "k", target, 0, &bytes, &size, &messages, &diag))
        fail_msg("%s: %s", target, messages ? messages : diag.message);
    OK(wm_object_open(bytes, size, "k", target, &w.object, &diag));
    free(bytes);
    free(messages);
    OK(wm_object_find_kernel(w.object, "k", &w.kernel, &diag));
    OK(wm_machine_create(target, &w.machine, &diag));
    OK(wm_load(w.machine, w.object, &diag));
    OK(wm_allocate(w.machine, 4 * WORDS, 0, "counters", &w.counters, &diag));
    return w;
}

static void destroy(struct world *w)
{
    wm_machine_destroy(w->machine);
    wm_object_close(w->object);
}

static struct wm_dispatch request_of(const struct world *w, unsigned groups, unsigned items)
{
    return (struct wm_dispatch){.struct_size = sizeof(struct wm_dispatch),
                                .grid = {groups * items},
                                .workgroup = {items},
                                .arguments = &w->counters,
                                .arguments_size = sizeof w->counters,
                                .cooperative = true};
}

/* Runs `groups` workgroups, of which each finds all of them after each of its ROUNDS grid syncs. */
static void check_rounds(const char *target, const char *body, unsigned groups)
{
    struct world w = world_of(target, body, 0);
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct wm_result result = {.struct_size = sizeof result};
        struct wm_dispatch request = request_of(&w, groups, 32);
        uint32_t *counters = wm_host_pointer(w.machine, w.counters, 4 * WORDS);
        request.threads = threads;
        memset(counters, 0, 4 * WORDS);
        OK(wm_dispatch(w.machine, w.object, w.kernel, &request, &result, &diag));
        if (result.fault.kind)
            fail_msg("%s, %u threads: %s", target, threads, result.fault.text);
        for (unsigned round = 0; round < ROUNDS; round++)
            assert_int_equal(counters[round], groups);
        assert_int_equal(counters[ROUNDS], groups * ROUNDS); /* each found `groups` */
    }
    destroy(&w);
}

/* s[4:5]: the counters; s9: the round. Adds one to the round's counter, synchronizes, and counts in
 * counters[ROUNDS] those that then find s8 there. */
#define ROUND(sync)                                                                                          \
    "v_mov_b32 v1, 0\nv_mov_b32 v2, 1\ns_mov_b32 exec_lo, 1\ns_mov_b32 exec_hi, 0\ns_mov_b32 s9, 0\n"        \
    "1:\nv_mov_b32 v1, s9\nglobal_atomic_add v1, v2, s[4:5]\ns_waitcnt vmcnt(0)\n" sync                      \
    "v_mov_b32 v1, s9\nglobal_load_dword v3, v1, s[4:5] glc\ns_waitcnt vmcnt(0)\n"                           \
    "v_readfirstlane_b32 s10, v3\ns_cmp_eq_u32 s10, s8\ns_cbranch_scc0 2f\nv_mov_b32 v1, 20\n"               \
    "global_atomic_add v1, v2, s[4:5]\n2:\ns_add_u32 s9, s9, 4\ns_cmp_lt_u32 s9, 20\ns_cbranch_scc1 1b\n"

/* Global wave sync, whose resource 0 is prepared; the hidden argument is 1. */
static void by_global_wave_sync(void **state)
{
    (void)state;
    check_rounds("gfx900",
                 "s_cmp_lg_u64 s[6:7], 1\ns_cbranch_scc1 9f\ns_movk_i32 s8, 0x64\ns_mov_b32 m0, 0\n" ROUND(
                     "v_mov_b32 v4, 0x63\nds_gws_barrier v4 gds\n") "9:\n",
                 100);
}

/* The counter that the hidden argument points to: `arrived` is at 32, the number of workgroups at 40. The
 * last to come adds 0x10000 less the number of workgroups, which the others wait for. */
static const char by_memory[] = "s_load_dword s8, s[6:7], 0x28\ns_waitcnt lgkmcnt(0)\n" ROUND(
    "v_mov_b32 v4, 0\nglobal_atomic_add v5, v4, v2, s[6:7] offset:32 glc\ns_waitcnt vmcnt(0)\n"
    "v_readfirstlane_b32 s11, v5\ns_and_b32 s12, s11, 0xffff\ns_add_u32 s12, s12, 1\n"
    "s_cmp_eq_u32 s12, s8\ns_cbranch_scc0 3f\ns_sub_u32 s12, 0x10000, s8\nv_mov_b32 v5, s12\n"
    "global_atomic_add v4, v5, s[6:7] offset:32\ns_branch 5f\n"
    "3:\ns_and_b32 s11, s11, 0xffff0000\n4:\ns_sleep 1\n"
    "global_load_dword v5, v4, s[6:7] offset:32 glc\ns_waitcnt vmcnt(0)\nv_readfirstlane_b32 s12, v5\n"
    "s_and_b32 s12, s12, 0xffff0000\ns_cmp_eq_u32 s12, s11\ns_cbranch_scc1 4b\n5:\n");

static void by_atomics(void **state)
{
    (void)state;
    char *text = malloc(sizeof by_memory + 64);
    assert_non_null(text);
    check_rounds("gfx1100", by_memory, 100);
    /* sc1 instead of glc, sc0 for returned values */
    strcpy(text, by_memory);
    for (char *at; (at = strstr(text, " glc"));)
        memcpy(at, " sc0", 4);
    check_rounds("gfx942", text, 100);
    free(text);
}

/* Without the word, resource 0 is not prepared and the argument is 0. */
static void only_if_requested(void **state)
{
    (void)state;
    struct world w =
        world_of("gfx900", "v_mov_b32 v1, 0\nv_mov_b32 v2, s6\nglobal_store_dword v1, v2, s[4:5]\n", 0);
    struct wm_result result = {.struct_size = sizeof result};
    struct wm_dispatch request = request_of(&w, 1, 64);
    const uint32_t *counters = wm_host_pointer(w.machine, w.counters, 4 * WORDS);
    OK(wm_dispatch(w.machine, w.object, w.kernel, &request, &result, &diag));
    assert_int_equal(counters[0], 1);
    request.cooperative = false;
    OK(wm_dispatch(w.machine, w.object, w.kernel, &request, &result, &diag));
    assert_int_equal(counters[0], 0);
    destroy(&w);
}

/* By AMD's figures: a Vega 64 has 64 compute units of 4 SIMDs with 10 waves and 256 VGPRs, and 64 KiB of LDS;
 * an MI300X has 304 with 8 waves and 512 VGPRs. The kernel has 32 VGPRs. */
static void fits_or_not(void **state)
{
    (void)state;
    static const struct {
        const char *target, *gpu;
        unsigned items, lds, most;
        const char *text;
    } rows[] = {
        {"gfx900", NULL, 64, 0, 64 * 4 * 8, "AMD Radeon RX Vega 64 (vega64) holds 2048"},
        {"gfx900", "vega64", 256, 0, 64 * 8, "8 on each of its 64 compute units, limited by VGPRs"},
        {"gfx900", NULL, 1024, 0, 64 * 2, "limited by waves"},
        {"gfx900", NULL, 64, 32768, 64 * 2, "limited by LDS"},
        {"gfx900", NULL, 128, 0, 64 * 16, "limited by VGPRs"},
        {"gfx942", "mi300x", 64, 0, 304 * 4 * 8, "limited by waves"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w = world_of(rows[i].target, "", rows[i].lds);
        struct wm_result result = {.struct_size = sizeof result};
        struct wm_dispatch request = request_of(&w, rows[i].most, rows[i].items);
        if (rows[i].gpu)
            OK(wm_gpu_find(rows[i].gpu, &request.gpu, &diag));
        OK(wm_dispatch(w.machine, w.object, w.kernel, &request, &result, &diag));
        assert_int_equal(result.workgroups, rows[i].most);
        request.grid[0] += rows[i].items;
        assert_int_equal(wm_dispatch(w.machine, w.object, w.kernel, &request, &result, &diag),
                         WM_BAD_ARGUMENT);
        if (!strstr(diag.message, rows[i].text))
            fail_msg("'%s' is not in: %s", rows[i].text, diag.message);
        request.cooperative = false;
        OK(wm_dispatch(w.machine, w.object, w.kernel, &request, &result, &diag));
        destroy(&w);
    }
}

static void refuses(void **state)
{
    (void)state;
    struct world w = world_of("gfx900", "", 0);
    struct wm_result result = {.struct_size = sizeof result};
    struct wm_dispatch request = request_of(&w, 1, 64);
    struct wm_gpu wrong = {.name = "wrong", .title = "wrong"};
    request.gpu = &wrong;
    assert_int_equal(wm_dispatch(w.machine, w.object, w.kernel, &request, &result, &diag), WM_BAD_ARGUMENT);
    OK(wm_gpu_find("mi300x", &request.gpu, &diag));
    assert_int_equal(wm_dispatch(w.machine, w.object, w.kernel, &request, &result, &diag), WM_BAD_ARGUMENT);
    assert_non_null(strstr(diag.message, "the code object is for gfx900"));
    request.cooperative = false; /* its layout of images is that of another generation, too */
    assert_int_equal(wm_dispatch(w.machine, w.object, w.kernel, &request, &result, &diag), WM_BAD_ARGUMENT);
    destroy(&w);
}

/* All of the grid is resident, even if more memory is needed than other dispatches get for workgroups that
 * wait: the counter of the last workgroup is set by it alone. */
static void all_are_resident(void **state)
{
    (void)state;
    struct world w =
        world_of("gfx900",
                 "v_mov_b32 v1, 0\nv_mov_b32 v2, 1\ns_mov_b64 exec, 1\n"
                 "global_atomic_add v1, v2, s[4:5]\n1:\ns_sleep 8\nglobal_load_dword v3, v1, s[4:5] glc\n"
                 "s_waitcnt vmcnt(0)\nv_readfirstlane_b32 s8, v3\ns_cmp_lt_u32 s8, 0x80\n"
                 "s_cbranch_scc1 1b\n",
                 32768);
    struct wm_result result = {.struct_size = sizeof result};
    const struct wm_dispatch request = request_of(&w, 128, 256);
    OK(wm_dispatch(w.machine, w.object, w.kernel, &request, &result, &diag));
    if (result.fault.kind)
        fail_msg("%s", result.fault.text);
    destroy(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_global_wave_sync),
        cmocka_unit_test(by_atomics),
        cmocka_unit_test(only_if_requested),
        cmocka_unit_test(fits_or_not),
        cmocka_unit_test(refuses),
        cmocka_unit_test(all_are_resident),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
