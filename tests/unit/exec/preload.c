/* SPDX-License-Identifier: MIT */
/* Arguments that the packet processor loads into SGPRs. Source of what must hold: LLVM AMDGPUUsage,
 * "Preloaded Kernel Arguments". */
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

enum { ARGUMENTS = 32 };

/* How kernels begin, and what differs in their text. LLVM puts no code in front on gfx1250
 * (needsKernArgPreloadProlog). */
static const struct flavour {
    const char *target, *start, *load, *store, *directive;
} flavours[] = {
    {"gfx90a", "s_trap 2\n.p2align 8\n", "s_load_dwordx2 s[40:41], s[0:1], 0\ns_waitcnt lgkmcnt(0)",
     "global_store_dwordx4 v4, v[0:3], s[40:41]", ".amdhsa_accum_offset 8"},
    {"gfx942", "s_trap 2\n.p2align 8\n", "s_load_dwordx2 s[40:41], s[0:1], 0\ns_waitcnt lgkmcnt(0)",
     "global_store_dwordx4 v4, v[0:3], s[40:41]", ".amdhsa_accum_offset 8"},
    {"gfx1250", "", "s_load_b64 s[40:41], s[0:1], 0\ns_wait_kmcnt 0",
     "global_store_b128 v4, v[0:3], s[40:41]", ""},
};

/* A kernel that traps where the descriptor says that it begins, if waves begin 256 bytes later, and stores
 * SGPRs s[FIRST:FIRST+3]. Its first argument is the address to store to; `length` dwords from `offset` on are
 * loaded behind the kernarg pointer, s[0:1]. */
static enum wm_status run(const struct flavour *f, unsigned length, unsigned offset, unsigned first,
                          uint32_t stored[4])
{
    const char *target = f->target;
    char text[2048], *messages = NULL;
    uint8_t *bytes;
    size_t size;
    struct wm_object *object;
    struct wm_machine *machine;
    const struct wm_kernel *kernel;
    uint64_t out;
    uint32_t arguments[ARGUMENTS];
    struct wm_result result = {.struct_size = sizeof result};
    const int written = snprintf(
        text, sizeof text,
        ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n.text\n.globl k\n.p2align 8\n.type k,@function\nk:\n"
        "%sv_mov_b32 v0, s%u\nv_mov_b32 v1, s%u\nv_mov_b32 v2, s%u\nv_mov_b32 v3, s%u\nv_mov_b32 v4, 0\n"
        "%s\n%s\ns_endpgm\n"
        ".rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 48\n"
        "%s\n.amdhsa_kernarg_size %u\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
        ".amdhsa_user_sgpr_kernarg_preload_length %u\n.amdhsa_user_sgpr_kernarg_preload_offset %u\n"
        ".end_amdhsa_kernel\n",
        target, f->start, first, first + 1, first + 2, first + 3, f->load, f->store, f->directive,
        4 * ARGUMENTS, length, offset);
    if (wm_assemble(text, (size_t)written, "kernel", target, 0, &bytes, &size, &messages, &diag))
        fail_msg("%s: %s", target, messages ? messages : diag.message);
    OK(wm_object_open(bytes, size, "kernel", target, &object, &diag));
    free(bytes);
    free(messages);
    OK(wm_object_find_kernel(object, "k", &kernel, &diag));
    OK(wm_machine_create(target, &machine, &diag));
    OK(wm_load(machine, object, &diag));
    OK(wm_allocate(machine, 16, 0, "out", &out, &diag));
    for (unsigned i = 0; i < ARGUMENTS; i++)
        arguments[i] = 0x1000 + i;
    memcpy(arguments, &out, sizeof out);
    const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                         .grid = {1},
                                         .workgroup = {1},
                                         .arguments = arguments,
                                         .arguments_size = sizeof arguments,
                                         .threads = 1};
    const enum wm_status status = wm_dispatch(machine, object, kernel, &dispatch, &result, &diag);
    if (!status) {
        if (result.fault.kind)
            fail_msg("%s: %s", target, result.fault.text);
        memcpy(stored, wm_host_pointer(machine, out, 16), 16);
    }
    wm_machine_destroy(machine);
    wm_object_close(object);
    return status;
}

static void loads_arguments(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof flavours / sizeof *flavours; t++) {
        uint32_t s[4];
        OK(run(&flavours[t], 6, 4, 2, s)); /* s[2:7] are dwords 4 to 9 */
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(s[i], 0x1004 + i);
        OK(run(&flavours[t], 14, 2, 12, s)); /* s[2:15] are dwords 2 to 15 */
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(s[i], 0x100c + i);
    }
}

/* gfx1250 has 32 user SGPRs. */
static void loads_many(void **state)
{
    (void)state;
    uint32_t s[4];
    OK(run(&flavours[2], 30, 0, 28, s)); /* s[2:31] are dwords 0 to 29 */
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(s[i], 0x101a + i);
}

static void refuses_too_many(void **state)
{
    (void)state;
    uint32_t s[4];
    assert_int_equal(run(&flavours[0], 13, 400, 2, s), WM_BAD_ARGUMENT);
    assert_non_null(strstr(diag.message, "do not lie in one allocation"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loads_arguments), cmocka_unit_test(loads_many),
                                       cmocka_unit_test(refuses_too_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
