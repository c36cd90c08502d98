/* SPDX-License-Identifier: MIT */
/* Functions shared by the parser's files. */
#ifndef WMI_ASSEMBLER_PARTS_H
#define WMI_ASSEMBLER_PARTS_H

#include "assembler/state.h"

/* source.c */
/* The next line of the input, without comments; false at the end. */
bool wmi_asm_next_line(struct wmi_assembler *a, const char **begin, const char **end);
/* Whether another expansion is allowed. If not, reports an error at `at` and stops reading, which prevents
 * unlimited memory and time. */
bool wmi_asm_may_expand(struct wmi_assembler *a, const char *at);
void wmi_asm_give_up(struct wmi_assembler *a, const char *at, const char *why);
/* Inserts text before the rest of the current one. `macro`: the name of the macro it expands, which .exitm
 * leaves; or NULL. */
void wmi_asm_push_text(struct wmi_assembler *a, const char *text, size_t size, const char *macro);
/* Inserts the text of a file, which must remain valid. */
void wmi_asm_push_file(struct wmi_assembler *a, const char *name, const char *text, size_t size);
bool wmi_asm_word_is(const char *word, size_t length, const char *name);

enum { WMI_ASM_S_NOP = 0xbf800000 };

/* statements.c */
/* Labels, then a directive, a macro or an instruction. */
void wmi_asm_statement(struct wmi_assembler *a, const char *begin, const char *end);
/* Clears the cache of instruction lines: a new macro may have the name of an instruction. */
void wmi_asm_forget(struct wmi_assembler *a);
/* Records text to be read again when all symbols are known. */
struct wmi_asm_late *wmi_asm_note_late(struct wmi_assembler *a, const char *text, const char *end,
                                       unsigned bytes);
/* The size of the next item whose size depends on forward references: at least `least`, or what an earlier
 * pass over the file required. */
unsigned wmi_asm_next_size(struct wmi_assembler *a, unsigned least);
/* The item needs more bytes: requests another pass. `at`: where its text begins. */
void wmi_asm_grow(struct wmi_assembler *a, const struct wmi_asm_late *late, unsigned bytes, const char *at);
/* Reads all recorded text again. */
void wmi_asm_read_late(struct wmi_assembler *a);
void wmi_asm_relocate(struct wmi_assembler *a, struct wmi_asm_section *section, uint64_t offset,
                      const struct wmi_value *value, unsigned bytes, bool branch);
/* The same for a given relocation type R_AMDGPU_*. */
void wmi_asm_relocate_as(struct wmi_assembler *a, struct wmi_asm_section *section, uint64_t offset,
                         const struct wmi_value *value, uint32_t type);
/* Sets the value of "." for the next expression, and clears the flag for forward references. */
void wmi_asm_begin_expression(struct wmi_assembler *a);

/* directives.c: operands. These report errors and return false. */
bool wmi_asm_failed(struct wmi_assembler *a, const struct wmi_cursor *cursor);
bool wmi_asm_read_number(struct wmi_assembler *a, struct wmi_cursor *cursor, int64_t *value);
bool wmi_asm_at_end(struct wmi_assembler *a, struct wmi_cursor *cursor);
bool wmi_asm_read_name(struct wmi_assembler *a, struct wmi_cursor *cursor, const char **name, size_t *length);
bool wmi_asm_read_string(struct wmi_assembler *a, struct wmi_cursor *cursor, struct wmi_bytes *bytes);
void wmi_asm_directive(struct wmi_assembler *a, const char *name, size_t length, const char *rest,
                       const char *end);
void wmi_asm_set(struct wmi_assembler *a, const char *name, size_t length, struct wmi_cursor *cursor,
                 bool once);

/* macros.c */
/* Handles a line: skipped by a condition, a conditional directive, or a statement. */
void wmi_asm_line(struct wmi_assembler *a, const char *begin, const char *end);
bool wmi_asm_expand(struct wmi_assembler *a, const char *name, size_t length, const char *rest,
                    const char *end);
void wmi_asm_macro(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_exit_macro(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_forget_macro(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_alternate(struct wmi_assembler *a, struct wmi_cursor *cursor, int on);
void wmi_asm_repeat(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_repeat_for(struct wmi_assembler *a, struct wmi_cursor *cursor, int letters);

/* data.c */
void wmi_asm_append_leb(struct wmi_assembler *a, struct wmi_bytes *bytes, int64_t value, bool is_signed);
/* Parses a number of `bytes` bytes and writes it to `offset` of the section. */
void wmi_asm_number(struct wmi_assembler *a, struct wmi_cursor *cursor, struct wmi_asm_section *section,
                    uint64_t offset, unsigned bytes);
void wmi_asm_numbers(struct wmi_assembler *a, struct wmi_cursor *cursor, int bytes);
void wmi_asm_octa(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_reals(struct wmi_assembler *a, struct wmi_cursor *cursor, int bytes);
void wmi_asm_leb128(struct wmi_assembler *a, struct wmi_cursor *cursor, int is_signed);
void wmi_asm_read_late_leb(struct wmi_assembler *a, struct wmi_cursor *cursor,
                           const struct wmi_asm_late *late);
void wmi_asm_strings(struct wmi_assembler *a, struct wmi_cursor *cursor, int ends);
void wmi_asm_fill(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_room(struct wmi_assembler *a, struct wmi_cursor *cursor, int bytes);
void wmi_asm_zeros(struct wmi_assembler *a, struct wmi_cursor *cursor, int bytes);
void wmi_asm_copies(struct wmi_assembler *a, struct wmi_cursor *cursor, int bytes);
void wmi_asm_align(struct wmi_assembler *a, struct wmi_cursor *cursor, int unit);
void wmi_asm_align_power(struct wmi_assembler *a, struct wmi_cursor *cursor, int unit);
void wmi_asm_copies_real(struct wmi_assembler *a, struct wmi_cursor *cursor, int bytes);
void wmi_asm_origin(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_relocation(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);

/* sections.c */
void wmi_asm_named_section(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_subsection(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_known_section(struct wmi_assembler *a, const char *name, size_t length,
                           struct wmi_cursor *cursor);
void wmi_asm_push_section(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_pop_section(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_previous_section(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_bind(struct wmi_assembler *a, struct wmi_cursor *cursor, int binding);
void wmi_asm_show(struct wmi_assembler *a, struct wmi_cursor *cursor, int visibility);
void wmi_asm_symbol_type(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_symbol_size(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_common(struct wmi_assembler *a, struct wmi_cursor *cursor, int binding);
void wmi_asm_lds(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_identify(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_version(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);

/* counts.c: .amdgcn.next_free_vgpr and similar symbols */
void wmi_asm_define_counts(struct wmi_assembler *a);
/* Defines a symbol by NAME=NUMBER, which wmi_is_definition() has accepted. */
void wmi_asm_define_number(struct wmi_assembler *a, const char *text);
/* Whether the text refers to register counts, so that registers of instructions must be counted. */
bool wmi_asm_names_counts(const char *text, size_t size);
void wmi_asm_count_registers(struct wmi_assembler *a, const char *begin, const char *end,
                             const struct wmi_instruction *insn);

/* lines.c: .file and .loc */
void wmi_asm_file(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_location(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_add_row(struct wmi_assembler *a);
/* Called before bytes of an instruction or of data are added to a->section. */
static inline void wmi_asm_begin_bytes(struct wmi_assembler *a)
{
    if (a->row_pending)
        wmi_asm_add_row(a);
}
/* Adds a row for the instruction's line in the text, if requested. */
void wmi_asm_add_own_row(struct wmi_assembler *a);
static inline void wmi_asm_begin_code(struct wmi_assembler *a)
{
    if (a->own_lines)
        wmi_asm_add_own_row(a);
    wmi_asm_begin_bytes(a);
}
/* Writes the compilation unit in .debug_info that refers to .debug_line of own lines. */
void wmi_asm_write_unit(struct wmi_assembler *a);
/* At the end of the file: .debug_line and .debug_line_str. */
void wmi_asm_write_lines(struct wmi_assembler *a);
void wmi_asm_free_lines(struct wmi_assembler *a);

/* frames.c: .cfi_*; `opcode` is DWARF's */
void wmi_asm_cfi_sections(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_cfi_begin(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_cfi_end(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_cfi_cfa(struct wmi_assembler *a, struct wmi_cursor *cursor, int opcode);
void wmi_asm_cfi_adjust(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_cfi_offset(struct wmi_assembler *a, struct wmi_cursor *cursor, int relative);
void wmi_asm_cfi_registers(struct wmi_assembler *a, struct wmi_cursor *cursor, int opcode);
void wmi_asm_cfi_plain(struct wmi_assembler *a, struct wmi_cursor *cursor, int opcode);
void wmi_asm_cfi_escape(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
/* At the end of the file: .eh_frame and .debug_frame. */
void wmi_asm_write_frames(struct wmi_assembler *a);
void wmi_asm_free_frames(struct wmi_assembler *a);

/* files.c */
void wmi_asm_include(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
void wmi_asm_include_bytes(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);

/* hsa.c, metadata.c: the lines between .amdhsa_kernel or .amdgpu_metadata and its end */
void wmi_asm_kernel(struct wmi_assembler *a, const char *name, size_t length);
/* When all symbols are known: completes descriptors with forward references. */
void wmi_asm_read_late_kernels(struct wmi_assembler *a);
/* Functions of expressions, for struct wmi_symbols; `user` is the assembler. */
bool wmi_asm_call(void *user, const char *name, size_t length, const int64_t *arguments, unsigned count,
                  int64_t *value);
void wmi_asm_metadata(struct wmi_assembler *a);
/* metadata_scalar.c: adds a scalar to a->metadata: the value of `key`, or NULL. Returns what was expected in
 * its place, or NULL. */
enum { WMI_ASM_METADATA_KEY = 64 }; /* longer than all keys with values of a certain type */
const char *wmi_asm_metadata_scalar(struct wmi_assembler *a, const char *at, const char *end, const char *key,
                                    size_t key_length);

/* elf.c: whether the target supports XNACK and it is not disabled. */
bool wmi_asm_may_replay(const struct wmi_assembler *a);

/* link.c: assigns addresses and appends the finished code object to a->out. */
void wmi_asm_link(struct wmi_assembler *a);
/* Applies the relocations of .text, which must not need other sections. */
void wmi_asm_resolve_raw(struct wmi_assembler *a);

#endif
