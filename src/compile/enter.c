/* SPDX-License-Identifier: MIT */
#include "compile/compile.h"

#include "compile/host_area.h"

#if defined(__x86_64__) && defined(__linux__)
/* Keeps the registers that compiled code for hosts without AVX-512 changes and a C function must not: see
 * host_avx2.c. Steps that are C functions keep them in turn, so that the area stays in R15. */
__asm__(".pushsection .text\n"
        ".type wmi_enter_keeping, @function\n"
        "wmi_enter_keeping:\n"
        ".cfi_startproc\n"
        "push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbx, 0\n"
        "push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbp, 0\n"
        "push %r12\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset r12, 0\n"
        "push %r13\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset r13, 0\n"
        "push %r14\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset r14, 0\n"
        "push %r15\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset r15, 0\n"
        "sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
        "mov %rdx, %r15\n"
        "call *%rcx\n"
        "add $8, %rsp\n.cfi_adjust_cfa_offset -8\n"
        "pop %r15\n.cfi_adjust_cfa_offset -8\n.cfi_restore r15\n"
        "pop %r14\n.cfi_adjust_cfa_offset -8\n.cfi_restore r14\n"
        "pop %r13\n.cfi_adjust_cfa_offset -8\n.cfi_restore r13\n"
        "pop %r12\n.cfi_adjust_cfa_offset -8\n.cfi_restore r12\n"
        "pop %rbp\n.cfi_adjust_cfa_offset -8\n.cfi_restore rbp\n"
        "pop %rbx\n.cfi_adjust_cfa_offset -8\n.cfi_restore rbx\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size wmi_enter_keeping, . - wmi_enter_keeping\n"
        ".popsection\n");

extern const struct wmi_op *wmi_enter_keeping(char *frame, const struct wmi_op *op,
                                              struct wmi_host_area *area,
                                              wmi_body body) __asm__("wmi_enter_keeping");

const struct wmi_op *wmi_enter_compiled(char *frame, const struct wmi_op *op, struct wmi_host_area *area)
{
    return wmi_enter_keeping(frame, op, area, op->body);
}
#else
const struct wmi_op *wmi_enter_compiled(char *frame, const struct wmi_op *op, struct wmi_host_area *area)
{
    (void)area;
    return op->body(frame, op);
}
#endif
