/* SPDX-License-Identifier: MIT */
/* Looks up the fidelity of an instruction. */
#include "isa/isa.h"

const struct wmi_fidelity *wmi_fidelity_of(const struct wmi_instruction *insn)
{
    for (const struct wmi_fidelity *f = wmi_fidelities; f->id; f++)
        if (f->id == insn->id && (f->field == WMI_FIELD_COUNT || insn->field[f->field]))
            return f;
    return NULL;
}
