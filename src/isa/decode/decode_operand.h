/* SPDX-License-Identifier: MIT */
/* Decodes the operands of an instruction whose form is known. */
#ifndef WMI_DECODE_OPERAND_H
#define WMI_DECODE_OPERAND_H

#include "isa/tables.h"

struct wmi_decoder {
    const struct wmi_target *target;
    struct wmi_instruction *out;
    const uint32_t *words;
    size_t available;
    unsigned literal; /* where the literal begins; 0: none yet */
    bool executes;    /* decode what hardware does, not what LLVM prints */
};

static inline uint32_t wmi_bits_at(const uint32_t *words, unsigned pos, unsigned width)
{
    return words[pos / 32] >> pos % 32 & (uint32_t)((UINT64_C(1) << width) - 1);
}

/* False: the operand cannot have this value. */
bool wmi_decode_operand(struct wmi_decoder *c, const struct wmi_spec *spec, struct wmi_operand *o);
/* Which halves of registers op_sel chooses, once the operands are decoded. */
void wmi_decode_halves(const struct wmi_decoder *c, const struct wmi_form *form);

#endif
