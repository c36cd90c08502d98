/* SPDX-License-Identifier: MIT */
/* Which instructions LLVM's assembler would not bring back from their text. */
#include "isa/disassemble.h"
#include "isa/tables.h"

bool wmi_reassembles(const struct wmi_target *target, const struct wmi_instruction *insn)
{
    (void)target;
    (void)insn;
    return true;
}
