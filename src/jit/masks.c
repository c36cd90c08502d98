/* SPDX-License-Identifier: MIT */
#include "jit/masks.h"

#include "jit/lds_plan.h"

bool wmi_mask_lasts(const struct wmi_stretch *s)
{
    return s->version != WMI_LAUNCH && s->lds->mask[s->at] != WMI_NO_MASK_NUMBER;
}

/* k = the lanes of a strip for which a and b compare so. */
static void compare_strip(struct wmi_stretch *s, uint32_t instruction, int predicate,
                          const struct wmi_rows *a, const struct wmi_rows *b, unsigned strip, unsigned k)
{
    wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, WMI_SCRATCH, 0, wmi_rows_operand(s, a, strip));
    wmi_evex(&s->host, instruction, k, WMI_SCRATCH, wmi_rows_operand(s, b, strip), WMI_NO_MASK, predicate);
}

/* k5 = the mask of all lanes. Changes k6 and k7. */
static void compare_all(struct wmi_stretch *s, uint32_t instruction, int predicate, const struct wmi_rows *a,
                        const struct wmi_rows *b)
{
    for (unsigned i = 0; i < s->strips; i += 2) {
        const unsigned joined = WMI_K + i / 2;
        compare_strip(s, instruction, predicate, a, b, i, joined);
        compare_strip(s, instruction, predicate, a, b, i + 1, joined + 1);
        wmi_kunpack(&s->host, joined, joined + 1, joined, 16);
    }
    if (s->strips == 4)
        wmi_kunpack(&s->host, WMI_K, WMI_K + 1, WMI_K, 32);
}

void wmi_put_lasting_mask(struct wmi_stretch *s, const struct wmi_step *step, uint32_t instruction,
                          int predicate)
{
    enum { BT = 4, BTS = 5 };
    const int32_t known = offsetof(struct wmi_frame, compiled.masks_known);
    const unsigned number = s->lds->mask[s->at];
    const int32_t mask = (int32_t)(offsetof(struct wmi_frame, compiled.mask) + number * sizeof(uint64_t));
    const bool wide = s->lanes == 64;
    const struct wmi_rows a = wmi_stretch_use_in_memory(s, step->a),
                          b = wmi_stretch_use_in_memory(s, step->b);
    wmi_bit_memory(&s->host, BT, WMI_FRAME, known, number);
    const size_t unknown = wmi_jump_if(&s->host, WMI_IF_NOT_BELOW), back = s->host.count;
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, wide, WMI_RAX, WMI_FRAME, mask);
    if (s->partial)
        wmi_scalar_memory(&s->host, WMI_AND, wide, WMI_RAX, WMI_FRAME, WMI_EXEC_BITS);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, wide, WMI_RAX, WMI_FRAME, (int32_t)step->d);
    const size_t end = s->host.count, first_exit = s->exit_count;
    compare_all(s, instruction, predicate, &a, &b);
    wmi_kmov_store(&s->host, WMI_K, WMI_FRAME, mask, 2 * s->strips);
    wmi_bit_memory(&s->host, BTS, WMI_FRAME, known, number);
    wmi_stretch_set_aside(s, end, first_exit, &unknown, 1, back);
}
