/* SPDX-License-Identifier: MIT */
/* Errors that name an operand or modifier of the assembly line. */
#include "isa/rules/legal.h"

bool wmi_wrong_operand(struct wmi_encoder *e, unsigned index, const char *what)
{
    return wmi_expected(e->cursor, e->parsed[index].at, what);
}

bool wmi_wrong_field(struct wmi_encoder *e, enum wmi_field field, const char *what)
{
    return wmi_expected(e->cursor, e->field_at[field] ? e->field_at[field] : e->cursor->end, what);
}
