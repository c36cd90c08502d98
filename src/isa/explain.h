/* SPDX-License-Identifier: MIT */
/* What is told of rows beyond their tables; made by isagen/notes.py. */
#ifndef WMI_ISA_EXPLAIN_H
#define WMI_ISA_EXPLAIN_H

#include "isa/isa.h"

struct wmi_erratum {
    uint16_t id;
    const char *text;
};

extern const char *const wmi_layout_names[];
extern const char *const wmi_formulas[WMI_INSN_COUNT]; /* NULL: none */
extern const struct wmi_erratum wmi_errata[];          /* ends with id 0 */

#endif
