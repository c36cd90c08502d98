/* SPDX-License-Identifier: MIT */
/* What assembler.c and assembler_directives.c do for each other. */
#ifndef WMI_ASSEMBLER_PARTS_H
#define WMI_ASSEMBLER_PARTS_H

#include "object/assembler.h"

/* assembler.c */
bool wmi_asm_define(struct wmi_assembler *a, const char *at, struct wmi_asm_symbol *symbol);
bool wmi_asm_word_is(const char *word, size_t length, const char *name);
void wmi_asm_statement(struct wmi_assembler *a, const char *begin, const char *end);
void wmi_asm_push_source(struct wmi_assembler *a, const char *text, size_t size);
void wmi_asm_note_late(struct wmi_assembler *a, const char *text, const char *end, unsigned bytes);
void wmi_asm_relocate(struct wmi_assembler *a, struct wmi_asm_section *section, uint64_t offset,
                      const struct wmi_value *value, unsigned bytes, bool branch);

/* assembler_directives.c */
/* A line: a condition, the head of a macro, or a statement. */
void wmi_asm_line(struct wmi_assembler *a, const char *begin, const char *end);
void wmi_asm_directive(struct wmi_assembler *a, const char *name, size_t length, const char *rest,
                       const char *end);
void wmi_asm_expand(struct wmi_assembler *a, const struct wmi_asm_macro *macro, const char *rest,
                    const char *end);
void wmi_asm_set(struct wmi_assembler *a, const char *name, size_t length, struct wmi_cursor *cursor);
/* Reads a number of `bytes` bytes to `offset` of the section. */
void wmi_asm_number(struct wmi_assembler *a, struct wmi_cursor *cursor, struct wmi_asm_section *section,
                    uint64_t offset, unsigned bytes);

#endif
