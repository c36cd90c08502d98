/* SPDX-License-Identifier: MIT */
/* What code tells of whether workgroups may depend on one another. */
#include "wavemem/wavemem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

/* The kernel of this code, and the answer. The instruction is the one at the label `here`, if there is one.
 */
static void expect(const char *target, const char *code, enum wm_dependence_kind kind)
{
    struct wm_object *object;
    struct wm_machine *machine;
    struct wm_dependence found;
    struct wm_diag diag;
    const struct wm_kernel *kernel;
    uint64_t entry, here;
    uint8_t *bytes;
    size_t size;
    char *messages = NULL;
    char text[4096];
    snprintf(
        text, sizeof text,
        ".p2align 8\n.globl k\n.type k,@function\nk:\n%s\ns_endpgm\n.globl f\n.type f,@function\nf: s_nop 0\n"
        "s_setpc_b64 s[30:31]\n.rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 32\n"
        ".amdhsa_next_free_sgpr 40\n%s.end_amdhsa_kernel\n",
        code, strcmp(target, "gfx942") && strcmp(target, "gfx90a") ? "" : ".amdhsa_accum_offset 32\n");
    if (wm_assemble(text, strlen(text), "code", target, 0, &bytes, &size, &messages, &diag))
        fail_msg("%s: %s\n%s", target, messages ? messages : diag.message, text);
    if (wm_object_open(bytes, size, "code", NULL, &object, &diag))
        fail_msg("%s: %s\n%s", target, diag.message, text);
    assert_int_equal(wm_machine_create(target, &machine, &diag), WM_OK);
    assert_int_equal(wm_load(machine, object, &diag), WM_OK);
    assert_int_equal(wm_object_find_kernel(object, "k", &kernel, &diag), WM_OK);
    assert_int_equal(wm_find_dependence(machine, object, kernel, &found, &diag), WM_OK);
    if (found.kind != kind)
        fail_msg("%s: %d by '%s', not %d:\n%s", target, found.kind, found.text, kind, code);
    if (kind != WM_INDEPENDENT && strstr(code, "here:")) {
        assert_int_equal(wm_symbol(machine, object, "here", &here, NULL, &diag), WM_OK);
        assert_int_equal(wm_symbol(machine, object, "k", &entry, NULL, &diag), WM_OK);
        assert_true(found.pc == here);
        assert_true(found.offset == here - entry);
        assert_string_equal(found.function, "k");
    }
    wm_machine_destroy(machine);
    wm_object_close(object);
    free(bytes);
    free(messages);
}

static void only_what_returns_tells_of_others(void **state)
{
    (void)state;
    static const struct {
        const char *target, *code;
        enum wm_dependence_kind kind;
    } cases[] = {
        {"gfx900", "global_load_dword v1, v0, s[0:1]\n global_store_dword v0, v1, s[2:3]", WM_INDEPENDENT},
        {"gfx900", "global_store_dword v0, v1, s[2:3] glc", WM_INDEPENDENT},
        {"gfx900", "global_atomic_add v0, v1, s[0:1]", WM_INDEPENDENT},
        {"gfx900", "s_nop 0\n.globl here\nhere: global_atomic_add v2, v0, v1, s[0:1] glc",
         WM_DEPENDS_BY_ATOMIC},
        {"gfx900", "flat_atomic_cmpswap v2, v[0:1], v[4:5] glc", WM_DEPENDS_BY_ATOMIC},
        {"gfx900", "buffer_atomic_add v0, off, s[0:3], 0", WM_INDEPENDENT},
        {"gfx900", "global_atomic_smin v0, v1, s[0:1]", WM_INDEPENDENT},
        {"gfx900", "global_atomic_swap v0, v1, s[0:1]", WM_DEPENDS_BY_ATOMIC}, /* the last one wins */
        {"gfx900", "buffer_atomic_cmpswap v[0:1], off, s[0:3], 0", WM_DEPENDS_BY_ATOMIC},
        {"gfx900", "s_atomic_dec s4, s[0:1], 0x0", WM_DEPENDS_BY_ATOMIC},
        {"gfx90a", "global_atomic_add_f32 v0, v1, s[0:1]", WM_DEPENDS_BY_ATOMIC}, /* sums are rounded */
        {"gfx942", "global_atomic_pk_add_bf16 v0, v1, s[0:1]", WM_DEPENDS_BY_ATOMIC},
        {"gfx942", "global_atomic_max_f64 v0, v[2:3], s[0:1]", WM_INDEPENDENT},
        {"gfx900", "buffer_atomic_add v0, off, s[0:3], 0 glc", WM_DEPENDS_BY_ATOMIC},
        {"gfx900", "s_atomic_add s4, s[0:1], 0x0", WM_INDEPENDENT},
        {"gfx900", "s_atomic_add s4, s[0:1], 0x0 glc", WM_DEPENDS_BY_ATOMIC},
        {"gfx900", "ds_add_rtn_u32 v1, v0, v2", WM_INDEPENDENT},
        {"gfx900", "ds_add_u32 v0, v2 gds", WM_DEPENDS_BY_GDS},
        {"gfx900", "ds_gws_barrier v0 gds", WM_DEPENDS_BY_GDS},
        {"gfx900", "ds_ordered_count v0, v1 offset:4 gds", WM_DEPENDS_BY_GDS},
        {"gfx942", "global_atomic_add v0, v1, s[0:1]", WM_INDEPENDENT},
        {"gfx942", "global_atomic_add v2, v0, v1, s[0:1] sc0", WM_DEPENDS_BY_ATOMIC},
        {"gfx942", "buffer_atomic_add v0, off, s[0:3], 0 sc0", WM_DEPENDS_BY_ATOMIC},
        {"gfx1030", "image_atomic_add v0, v[0:1], s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_2D", WM_INDEPENDENT},
        {"gfx1030", "image_atomic_add v0, v[0:1], s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_2D glc",
         WM_DEPENDS_BY_ATOMIC},
        {"gfx1200", "global_atomic_add_u32 v0, v1, s[0:1] scope:SCOPE_DEV", WM_INDEPENDENT},
        {"gfx1200", "global_atomic_add_u32 v2, v0, v1, s[0:1] th:TH_ATOMIC_RETURN", WM_DEPENDS_BY_ATOMIC},
        {"gfx1200", "buffer_atomic_add_u32 v0, off, s[0:3], null th:TH_ATOMIC_RETURN", WM_DEPENDS_BY_ATOMIC},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].target, cases[i].code, cases[i].kind);
}

/* Source: LLVM AMDGPUUsage, "Memory Model" of each generation: what loads of each scope and nontemporal ones
 * have. */
static void scopes_beyond_the_workgroup_tell_of_others(void **state)
{
    (void)state;
    static const struct {
        const char *target, *code;
        enum wm_dependence_kind kind;
    } cases[] = {
        {"gfx803", "flat_load_dword v0, v[0:1] glc", WM_DEPENDS_BY_LOAD},
        {"gfx900", "global_load_dword v1, v0, s[0:1] glc slc", WM_INDEPENDENT}, /* nontemporal */
        {"gfx900", "global_load_dword v1, v0, s[0:1] glc", WM_DEPENDS_BY_LOAD},
        {"gfx900", "s_load_dword s4, s[0:1], 0x0 glc", WM_DEPENDS_BY_LOAD},
        {"gfx900", "buffer_wbinvl1_vol", WM_DEPENDS_BY_INVALIDATION},
        {"gfx900", "s_dcache_inv", WM_DEPENDS_BY_INVALIDATION},
        {"gfx900", "s_dcache_wb", WM_INDEPENDENT},
        {"gfx942", "global_load_dword v1, v0, s[0:1] nt", WM_INDEPENDENT},
        {"gfx942", "global_load_dword v1, v0, s[0:1] sc0", WM_INDEPENDENT}, /* of the workgroup */
        {"gfx942", "global_load_dword v1, v0, s[0:1] sc1", WM_DEPENDS_BY_LOAD},
        {"gfx942", "global_load_dword v1, v0, s[0:1] sc0 sc1", WM_DEPENDS_BY_LOAD},
        {"gfx942", "buffer_inv sc0", WM_INDEPENDENT},
        {"gfx942", "buffer_inv sc1", WM_DEPENDS_BY_INVALIDATION},
        {"gfx942", "buffer_wbl2 sc1", WM_INDEPENDENT},
        {"gfx1030", "global_load_dword v1, v0, s[0:1] slc", WM_INDEPENDENT},
        {"gfx1030", "global_load_dword v1, v0, s[0:1] glc dlc", WM_DEPENDS_BY_LOAD},
        {"gfx1030", "buffer_gl0_inv", WM_INDEPENDENT}, /* at each barrier in WGP mode */
        {"gfx1030", "buffer_gl1_inv", WM_DEPENDS_BY_INVALIDATION},
        {"gfx1100", "global_load_b32 v1, v0, s[0:1] slc dlc", WM_INDEPENDENT},
        {"gfx1100", "global_load_b32 v1, v0, s[0:1] glc", WM_DEPENDS_BY_LOAD},
        {"gfx1200", "global_load_b32 v1, v0, s[0:1] th:TH_LOAD_NT", WM_INDEPENDENT},
        {"gfx1200", "global_load_b32 v1, v0, s[0:1] scope:SCOPE_SE", WM_INDEPENDENT},
        {"gfx1200", "global_load_b32 v1, v0, s[0:1] scope:SCOPE_DEV", WM_DEPENDS_BY_LOAD},
        {"gfx1200", "global_inv scope:SCOPE_SE", WM_INDEPENDENT},
        {"gfx1200", "global_inv scope:SCOPE_DEV", WM_DEPENDS_BY_INVALIDATION},
        {"gfx1200", "global_wb scope:SCOPE_DEV", WM_INDEPENDENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].target, cases[i].code, cases[i].kind);
}

static void loops_that_only_memory_ends_wait(void **state)
{
    (void)state;
    expect("gfx900",
           "loop: s_load_dword s4, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_cmp_eq_u32 s4, 0\n"
           ".globl here\nhere: s_cbranch_scc1 loop",
           WM_DEPENDS_BY_LOOP);
    expect("gfx900",
           "loop: global_load_dword v1, v0, s[0:1]\ns_waitcnt vmcnt(0)\nv_cmp_ne_u32 vcc, 0, v1\n"
           "s_cbranch_vccnz out\ns_sleep 1\ns_branch loop\nout: s_nop 0",
           WM_DEPENDS_BY_LOOP);
    /* Lanes leave it one by one, as clang makes it. */
    expect("gfx900",
           "s_mov_b64 s[4:5], 0\n"
           "loop: global_load_dword v1, v0, s[0:1]\ns_waitcnt vmcnt(0)\nv_cmp_ne_u32 vcc, 0, v1\n"
           "s_or_b64 s[4:5], vcc, s[4:5]\ns_andn2_b64 exec, exec, s[4:5]\ns_cbranch_execnz loop",
           WM_DEPENDS_BY_LOOP);
    /* It counts, */
    expect("gfx900",
           "loop: s_load_dword s4, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_add_u32 s5, s5, 1\n"
           "s_cmp_lt_u32 s5, s4\ns_cbranch_scc1 loop",
           WM_INDEPENDENT);
    /* walks along a list, */
    expect("gfx900",
           "loop: s_load_dwordx2 s[0:1], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_cmp_lg_u64 s[0:1], 0\n"
           "s_cbranch_scc1 loop",
           WM_INDEPENDENT);
    /* halves a range, */
    expect("gfx900",
           "loop: v_add_u32 v4, v2, v3\nv_lshrrev_b32 v4, 1, v4\nglobal_load_dword v5, v4, s[0:1]\n"
           "s_waitcnt vmcnt(0)\nv_cmp_lt_u32 vcc, v5, v0\nv_cndmask_b32 v2, v2, v4, vcc\n"
           "v_cndmask_b32 v3, v4, v3, vcc\nv_cmp_lt_u32 vcc, v2, v3\ns_cbranch_vccnz loop",
           WM_INDEPENDENT);
    /* has its counter in scratch memory, as at -O0, */
    expect("gfx942",
           "loop: scratch_load_dword v1, off, s32\nglobal_load_dword v2, v0, s[0:1]\ns_waitcnt vmcnt(0)\n"
           "v_add_u32 v3, v1, 1\nscratch_store_dword off, v3, s32\nv_cmp_lt_u32 vcc, v1, v2\n"
           "s_cbranch_vccnz loop",
           WM_INDEPENDENT);
    /* or takes lanes with the same V# together. */
    expect("gfx900",
           "s_mov_b64 s[6:7], exec\n"
           "loop: v_readfirstlane_b32 s0, v4\nv_cmp_eq_u32 vcc, s0, v4\ns_and_saveexec_b64 s[8:9], vcc\n"
           "buffer_load_dword v1, off, s[0:3], 0\ns_xor_b64 exec, exec, s[8:9]\ns_cbranch_execnz loop",
           WM_INDEPENDENT);
}

static void calls_are_followed(void **state)
{
    (void)state;
    static const char *const before =
        "s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, %s@rel32@lo+4\n"
        "s_addc_u32 s5, s5, %s@rel32@hi+12\ns_swappc_b64 s[30:31], s[4:5]\ns_endpgm\n"
        ".globl g\n.type g,@function\n"
        "g: global_load_dword v1, v0, s[0:1] glc\ns_setpc_b64 s[30:31]\n";
    char code[1024];
    snprintf(code, sizeof code, before, "f", "f");
    expect("gfx900", code, WM_INDEPENDENT);
    snprintf(code, sizeof code, before, "g", "g");
    expect("gfx900", code, WM_DEPENDS_BY_LOAD);
    expect("gfx900",
           "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_swappc_b64 s[30:31], s[4:5]",
           WM_DEPENDS_BY_CODE);
    expect("gfx900", "s_setpc_b64 s[4:5]", WM_DEPENDS_BY_CODE);
    /* Data that happen to look like such a load are none. */
    expect("gfx900",
           "s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, table@rel32@lo+4\ns_addc_u32 s5, s5, table@rel32@hi+12\n"
           "s_load_dword s6, s[4:5], 0x0\ns_endpgm\n.rodata\n.globl table\ntable: .long 0xdc518000, "
           "0x03080000\n.text",
           WM_INDEPENDENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_returns_tells_of_others),
        cmocka_unit_test(scopes_beyond_the_workgroup_tell_of_others),
        cmocka_unit_test(loops_that_only_memory_ends_wait),
        cmocka_unit_test(calls_are_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
