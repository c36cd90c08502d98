/* SPDX-License-Identifier: MIT */
/* Names of instructions in assembly text. */
#ifndef WMI_MNEMONIC_H
#define WMI_MNEMONIC_H

#include "isa/text/parsed.h"

enum { WMI_ALL_VARIANTS = 0x1f }; /* bits of enum wmi_variant */

/* The first of the entries for a mnemonic in any case, with or without a suffix, or NULL. *variants is set to
 * the variants that the suffix allows. */
const struct wmi_mnemonic *wmi_find_mnemonic(const struct wmi_target *target, const char *text, size_t length,
                                             unsigned *variants);
/* The same for the word at the cursor, cached by its text. */
const struct wmi_mnemonic *wmi_find_mnemonic_here(const struct wmi_target *target, struct wmi_cursor *c,
                                                  size_t length, unsigned *variants);

#endif
