/* SPDX-License-Identifier: MIT */
/* VGPRs that the halves of a wave of 64 lanes share: what one half writes, the other reads in the lane 32
 * away. Source of what must hold: Mesa, aco_lower_to_hw_instr.cpp,
 * emit_gfx10_wave64_bpermute(), whose way to swap the halves this is. */
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

enum { LANES = 64, OWN = 8 };

/* v8 and v9 are the first shared VGPRs. v9 is written by a DPP move to the upper rows only, with all lanes
 * enabled. v2 = 100 + lane. */
static const char code[] = "s_load_dwordx2 s[2:3], s[0:1], 0x0\n"
                           "v_lshlrev_b32 v1, 2, v0\n"
                           "v_add_nc_u32 v2, 100, v0\n"
                           "s_mov_b64 s[4:5], exec\n"
                           "v_mov_b32_dpp v9, v2 quad_perm:[0,1,2,3] row_mask:0xc bank_mask:0xf\n"
                           "s_mov_b64 exec, 0xffffffff\n"
                           "v_mov_b32 v8, v2\n"
                           "v_add_nc_u32 v3, 2000, v9\n"
                           "s_lshl_b64 exec, exec, 32\n"
                           "v_add_nc_u32 v3, 1000, v8\n"
                           "s_mov_b64 exec, s[4:5]\n"
                           "s_waitcnt lgkmcnt(0)\n"
                           "global_store_dword v1, v3, s[2:3]\n"
                           "s_endpgm\n";

/* Runs the code with so many blocks of shared VGPRs. Returns the kind of its fault, 0: none. */
static unsigned run(const char *target, unsigned blocks, uint32_t stored[LANES])
{
    char text[2048], *messages = NULL;
    uint8_t *bytes;
    size_t size;
    struct wm_object *object;
    struct wm_machine *machine;
    const struct wm_kernel *kernel;
    uint64_t out;
    struct wm_result result = {.struct_size = sizeof result};
    const int written = snprintf(
        text, sizeof text,
        ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n.text\n.globl k\n.p2align 8\n.type k,@function\nk:\n"
        "%s.rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr %u\n.amdhsa_next_free_sgpr 8\n"
        ".amdhsa_wavefront_size32 0\n.amdhsa_shared_vgpr_count %u\n.amdhsa_kernarg_size 8\n"
        ".amdhsa_user_sgpr_kernarg_segment_ptr 1\n.end_amdhsa_kernel\n",
        target, code, OWN, blocks);
    if (wm_assemble(text, (size_t)written, "kernel", target, 0, &bytes, &size, &messages, &diag))
        fail_msg("%s: %s", target, messages ? messages : diag.message);
    OK(wm_object_open(bytes, size, "kernel", target, &object, &diag));
    free(bytes);
    free(messages);
    OK(wm_object_find_kernel(object, "k", &kernel, &diag));
    OK(wm_machine_create(target, &machine, &diag));
    OK(wm_load(machine, object, &diag));
    OK(wm_allocate(machine, 4 * LANES, 0, "out", &out, &diag));
    const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                         .grid = {LANES},
                                         .workgroup = {LANES},
                                         .arguments = &out,
                                         .arguments_size = sizeof out,
                                         .threads = 1};
    OK(wm_dispatch(machine, object, kernel, &dispatch, &result, &diag));
    memcpy(stored, wm_host_pointer(machine, out, 4 * LANES), 4 * LANES);
    wm_machine_destroy(machine);
    wm_object_close(object);
    return result.fault.kind;
}

static void halves_share(void **state)
{
    static const char *const targets[] = {"gfx1010", "gfx1030", "gfx1100"};
    (void)state;
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        uint32_t got[LANES];
        assert_int_equal(run(targets[t], 1, got), 0);
        for (uint32_t lane = 0; lane < LANES; lane++)
            assert_int_equal(got[lane], lane < 32 ? 2100 + lane + 32 : 1100 + lane - 32);
    }
}

/* Without them, v8 does not exist. */
static void are_allocated(void **state)
{
    uint32_t got[LANES];
    (void)state;
    assert_int_equal(run("gfx1030", 0, got), WM_FAULT_INSTRUCTION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(halves_share), cmocka_unit_test(are_allocated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
