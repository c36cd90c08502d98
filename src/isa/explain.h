/* SPDX-License-Identifier: MIT */
/* What is told of rows beyond their tables; made by isagen/notes.py. */
#ifndef WMI_ISA_EXPLAIN_H
#define WMI_ISA_EXPLAIN_H

#include "isa/isa.h"

/* Whether it does something for each lane that EXEC has. */
bool wmi_is_masked(const struct wmi_row *row);

struct wmi_erratum {
    uint16_t id;
    const char *text;
};

extern const char *const wmi_class_names[];                /* by enum wmi_class: "scalar" */
extern const char *const wmi_role_names[WMI_ROLE_COUNT];   /* "saddr" */
extern const char *const wmi_type_names[WMI_TYPE_COUNT];   /* "f32" */
extern const char *const wmi_field_names[WMI_FIELD_COUNT]; /* "dpp_ctrl" */
extern const char *const wmi_layout_names[];               /* "vop3_dpp" */
extern const char *const wmi_formulas[WMI_INSN_COUNT];     /* NULL: none */
extern const struct wmi_erratum wmi_errata[];              /* ends with id 0 */

#endif
