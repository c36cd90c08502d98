/* SPDX-License-Identifier: MIT */
/* Looks up the fidelity of an instruction. */
#include "isa/tables.h"

const struct wmi_fidelity *wmi_fidelity_of(const struct wmi_target *target,
                                           const struct wmi_instruction *insn, unsigned id)
{
    for (const struct wmi_fidelity *f = wmi_fidelities; f->id; f++)
        if (f->id == id && f->nodes >> target->node & 1 &&
            (f->field == WMI_FIELD_COUNT || insn->field[f->field]))
            return f;
    return NULL;
}
