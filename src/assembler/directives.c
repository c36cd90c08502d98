/* SPDX-License-Identifier: MIT */
/* The table of directives, and those that do not belong in another file. */
#include "assembler/dwarf_numbers.h"
#include "assembler/parts.h"

#include <ctype.h>
#include <elf.h>
#include <string.h>

/* ---- symbol values ---- */

/* Whether the value refers to the symbol itself. */
static bool is_made_of(const struct wmi_value *value, const struct wmi_asm_symbol *symbol)
{
    const struct wmi_asm_base *base = value->base;
    for (unsigned i = 0; base && !base->is_section; i++) {
        const struct wmi_asm_symbol *s = (const struct wmi_asm_symbol *)base;
        if (s == symbol || i == WMI_ASM_LONGEST_CHAIN)
            return true;
        base = s->defined && s->variable ? s->value.base : NULL;
    }
    return false;
}

void wmi_asm_set(struct wmi_assembler *a, const char *name, size_t length, struct wmi_cursor *c, bool once)
{
    struct wmi_value value;
    wmi_asm_begin_expression(a);
    c->wrong = NULL;
    if (!wmi_read_expression(c, &value)) {
        wmi_asm_failed(a, c);
        return;
    }
    if (!wmi_asm_at_end(a, c))
        return;
    struct wmi_asm_symbol *s = wmi_asm_symbol(a, name, length);
    if (a->saw_late) {
        wmi_asm_note_late(a, a->statement, c->end, UINT8_MAX);
        if (s->variable && !once)
            s->defined = false; /* until it is read again */
        return;
    }
    if (is_made_of(&value, s)) {
        wmi_asm_error(a, name, "'%s' is defined by itself", s->name);
        return;
    }
    if (s->defined && (once || !s->variable)) {
        wmi_asm_error(a, name, s->variable ? "'%s' is defined already" : "'%s' is a label", s->name);
        return;
    }
    if (value.base && !((const struct wmi_asm_base *)value.base)->is_section)
        ((struct wmi_asm_symbol *)value.base)->named = true;
    value.literal = false;
    s->value = value;
    s->defined = s->variable = true;
    s->builtin = false;
}

static void set_line(struct wmi_assembler *a, struct wmi_cursor *c, int once)
{
    const char *name;
    size_t length;
    if (!wmi_asm_read_name(a, c, &name, &length))
        return;
    if (!wmi_take(c, ','))
        wmi_asm_error(a, c->at, "expected ','");
    else
        wmi_asm_set(a, name, length, c, once);
}

/* ---- the code object ---- */

/* .amdgcn_target "amdgcn-amd-amdhsa--gfx90a:xnack+" */
static void target_line(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    (void)unused;
    wmi_take(c, '"');
    const char *name = wmi_target_name(a->target), *at = c->at;
    const size_t length = strlen(name);
    for (; at + length <= c->end; at++)
        if (!memcmp(at, name, length) && at > c->at && at[-1] == '-' &&
            (at + length == c->end || !isalnum((unsigned char)at[length]))) {
            const char *end = memchr(at, '"', (size_t)(c->end - at));
            const bool features = strchr(a->target_id, ':') != NULL;
            if (end && at[length] == ':' && !features) /* sets the features, unless -m gave some */
                a->target_id = wmi_asm_text(a, at, (size_t)(end - at));
            return;
        }
    wmi_asm_error(a, c->at, "expected the target that is assembled for, %s", name);
}

static void version_line(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    int64_t value;
    wmi_skip_space(c);
    const char *at = c->at;
    (void)unused;
    if (!wmi_asm_read_number(a, c, &value) || !wmi_asm_at_end(a, c))
        return;
    if (value < 4 || value > 6)
        wmi_asm_error(a, at, "expected a version from 4 to 6");
    else
        a->code_object_version = (unsigned)value;
}

static void kernel_lines(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    const char *name;
    size_t length;
    (void)unused;
    if (wmi_asm_read_name(a, c, &name, &length))
        wmi_asm_kernel(a, name, length);
}

static void metadata_lines(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    (void)unused;
    if (wmi_asm_at_end(a, c))
        wmi_asm_metadata(a);
}

/* ---- messages ---- */

/* .error "text"; .err */
static void error_line(struct wmi_assembler *a, struct wmi_cursor *c, int has_text)
{
    wmi_skip_space(c);
    a->scratch.size = 0;
    if (!has_text || c->at == c->end)
        wmi_asm_error(a, a->statement, has_text ? ".error" : ".err");
    else if (wmi_asm_read_string(a, c, &a->scratch))
        wmi_asm_error(a, a->statement, "%.*s", (int)a->scratch.size, (char *)a->scratch.data);
}

/* .warning "text" */
static void warning_line(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    (void)unused;
    wmi_skip_space(c);
    a->scratch.size = 0;
    if (c->at == c->end || wmi_asm_read_string(a, c, &a->scratch))
        wmi_asm_warning(a, a->statement, "%.*s", (int)a->scratch.size,
                        a->scratch.size ? (char *)a->scratch.data : "");
}

/* .print "text" */
static void print_line(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    (void)unused;
    a->scratch.size = 0;
    if (wmi_asm_read_string(a, c, &a->scratch) && wmi_asm_at_end(a, c))
        wmi_asm_note(a, a->statement, "%.*s", (int)a->scratch.size,
                     a->scratch.size ? (char *)a->scratch.data : "");
}

/* .end: ignores the rest of the input. */
static void end_line(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    (void)c;
    (void)unused;
    while (a->source->outer)
        a->source = a->source->outer;
    a->source->at = a->source->end;
    a->conditions = a->source->conditions;
}

static void ignored(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    (void)a;
    (void)c;
    (void)unused;
}

/* ---- the table ---- */

static const struct {
    const char *name;
    void (*run)(struct wmi_assembler *a, struct wmi_cursor *cursor, int value);
    int value;
} directives[] = {
    {".long", wmi_asm_numbers, 4},
    {".int", wmi_asm_numbers, 4},
    {".4byte", wmi_asm_numbers, 4},
    {".dc.l", wmi_asm_numbers, 4},
    {".byte", wmi_asm_numbers, 1},
    {".dc.b", wmi_asm_numbers, 1},
    {".short", wmi_asm_numbers, 2},
    {".value", wmi_asm_numbers, 2},
    {".2byte", wmi_asm_numbers, 2},
    {".dc", wmi_asm_numbers, 2},
    {".dc.w", wmi_asm_numbers, 2},
    {".quad", wmi_asm_numbers, 8},
    {".8byte", wmi_asm_numbers, 8},
    {".dc.a", wmi_asm_numbers, 8},
    {".octa", wmi_asm_octa, 0},
    {".float", wmi_asm_reals, 4},
    {".single", wmi_asm_reals, 4},
    {".dc.s", wmi_asm_reals, 4},
    {".double", wmi_asm_reals, 8},
    {".dc.d", wmi_asm_reals, 8},
    {".uleb128", wmi_asm_leb128, 0},
    {".sleb128", wmi_asm_leb128, 1},
    {".ascii", wmi_asm_strings, 0},
    {".asciz", wmi_asm_strings, 1},
    {".string", wmi_asm_strings, 1},
    {".p2align", wmi_asm_align_power, 1},
    {".p2alignw", wmi_asm_align_power, 2},
    {".p2alignl", wmi_asm_align_power, 4},
    {".align", wmi_asm_align, 1},
    {".balign", wmi_asm_align, 1},
    {".balignw", wmi_asm_align, 2},
    {".balignl", wmi_asm_align, 4},
    {".fill", wmi_asm_fill, 0},
    {".zero", wmi_asm_zeros, 1},
    {".skip", wmi_asm_zeros, 1},
    {".space", wmi_asm_zeros, 1},
    {".ds", wmi_asm_room, 2},
    {".ds.b", wmi_asm_room, 1},
    {".ds.w", wmi_asm_room, 2},
    {".ds.l", wmi_asm_room, 4},
    {".ds.s", wmi_asm_room, 4},
    {".ds.d", wmi_asm_room, 8},
    {".ds.p", wmi_asm_room, 12},
    {".ds.x", wmi_asm_room, 12},
    {".dcb", wmi_asm_copies, 2},
    {".dcb.b", wmi_asm_copies, 1},
    {".dcb.w", wmi_asm_copies, 2},
    {".dcb.l", wmi_asm_copies, 4},
    {".dcb.s", wmi_asm_copies_real, 4},
    {".dcb.d", wmi_asm_copies_real, 8},
    {".org", wmi_asm_origin, 0},
    {".reloc", wmi_asm_relocation, 0},
    {".incbin", wmi_asm_include_bytes, 0},
    {".include", wmi_asm_include, 0},
    {".section", wmi_asm_named_section, 0},
    {".subsection", wmi_asm_subsection, 0},
    {".pushsection", wmi_asm_push_section, 0},
    {".popsection", wmi_asm_pop_section, 0},
    {".previous", wmi_asm_previous_section, 0},
    {".ident", wmi_asm_identify, 0},
    {".version", wmi_asm_version, 0},
    {".globl", wmi_asm_bind, STB_GLOBAL},
    {".global", wmi_asm_bind, STB_GLOBAL},
    {".weak", wmi_asm_bind, STB_WEAK},
    {".local", wmi_asm_bind, STB_LOCAL},
    {".hidden", wmi_asm_show, STV_HIDDEN},
    {".internal", wmi_asm_show, STV_INTERNAL},
    {".protected", wmi_asm_show, STV_PROTECTED},
    {".type", wmi_asm_symbol_type, 0},
    {".size", wmi_asm_symbol_size, 0},
    {".comm", wmi_asm_common, STB_GLOBAL},
    {".common", wmi_asm_common, STB_GLOBAL},
    {".lcomm", wmi_asm_common, STB_LOCAL},
    {".amdgpu_lds", wmi_asm_lds, 0},
    {".set", set_line, false},
    {".equ", set_line, false},
    {".equiv", set_line, true},
    {".file", wmi_asm_file, 0},
    {".loc", wmi_asm_location, 0},
    {".cfi_sections", wmi_asm_cfi_sections, 0},
    {".cfi_startproc", wmi_asm_cfi_begin, 0},
    {".cfi_endproc", wmi_asm_cfi_end, 0},
    {".cfi_def_cfa", wmi_asm_cfi_cfa, DW_CFA_def_cfa},
    {".cfi_def_cfa_offset", wmi_asm_cfi_cfa, DW_CFA_def_cfa_offset},
    {".cfi_llvm_def_aspace_cfa", wmi_asm_cfi_cfa, 0x30},
    {".cfi_def_cfa_register", wmi_asm_cfi_registers, DW_CFA_def_cfa_register},
    {".cfi_adjust_cfa_offset", wmi_asm_cfi_adjust, 0},
    {".cfi_offset", wmi_asm_cfi_offset, false},
    {".cfi_rel_offset", wmi_asm_cfi_offset, true},
    {".cfi_undefined", wmi_asm_cfi_registers, DW_CFA_undefined},
    {".cfi_same_value", wmi_asm_cfi_registers, DW_CFA_same_value},
    {".cfi_register", wmi_asm_cfi_registers, DW_CFA_register},
    {".cfi_restore", wmi_asm_cfi_registers, DW_CFA_restore},
    {".cfi_remember_state", wmi_asm_cfi_plain, DW_CFA_remember_state},
    {".cfi_restore_state", wmi_asm_cfi_plain, DW_CFA_restore_state},
    {".cfi_window_save", wmi_asm_cfi_plain, DW_CFA_GNU_window_save},
    {".cfi_escape", wmi_asm_cfi_escape, 0},
    {".macro", wmi_asm_macro, 0},
    {".exitm", wmi_asm_exit_macro, 0},
    {".purgem", wmi_asm_forget_macro, 0},
    {".altmacro", wmi_asm_alternate, true},
    {".noaltmacro", wmi_asm_alternate, false},
    {".rept", wmi_asm_repeat, 0},
    {".rep", wmi_asm_repeat, 0},
    {".irp", wmi_asm_repeat_for, false},
    {".irpc", wmi_asm_repeat_for, true},
    {".amdgcn_target", target_line, 0},
    {".amdhsa_code_object_version", version_line, 0},
    {".amdhsa_kernel", kernel_lines, 0},
    {".amdgpu_metadata", metadata_lines, 0},
    {".err", error_line, false},
    {".error", error_line, true},
    {".warning", warning_line, 0},
    {".print", print_line, 0},
    {".end", end_line, 0},
    /* Relevant only to linkers and debuggers, or obsolete. */
    {".addrsig", ignored, 0},
    {".addrsig_sym", ignored, 0},
    {".cg_profile", ignored, 0},
    {".extern", ignored, 0},
    {".line", ignored, 0},
    {".macros_off", ignored, 0},
    {".macros_on", ignored, 0},
    {".no_dead_strip", ignored, 0},
    {".symver", ignored, 0},
};

/* .text and similar directives select the section of this name. */
static const char *const sections[] = {".text", ".data", ".bss", ".rodata", ".data.rel", ".data.rel.ro"};

/* Reports the end of a block that was not begun, or an unknown name with the nearest known one. */
static void unknown_directive(struct wmi_assembler *a, const char *name, size_t length)
{
    static const struct {
        const char *end, *begin;
    } pairs[] = {{".endm", ".macro"},
                 {".endmacro", ".macro"},
                 {".endr", ".rept, .irp or .irpc"},
                 {".end_amdhsa_kernel", ".amdhsa_kernel"},
                 {".end_amdgpu_metadata", ".amdgpu_metadata"}};
    const char *nearest = NULL;
    unsigned least = (unsigned)length / 3;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (wmi_asm_word_is(name, length, pairs[i].end)) {
            wmi_asm_error(a, name, "expected %s before this", pairs[i].begin);
            return;
        }
    for (size_t i = 0; least && a->errors < WMI_ASM_MESSAGES && i < sizeof directives / sizeof *directives;
         i++) {
        const unsigned edits = wmi_edits(name, length, directives[i].name, least - 1);
        if (edits < least) {
            least = edits;
            nearest = directives[i].name;
        }
    }
    wmi_asm_error(a, name, "unknown directive '%.*s'%s%s", length < 64 ? (int)length : 64, name,
                  nearest ? "; nearest: " : "", nearest ? nearest : "");
}

void wmi_asm_directive(struct wmi_assembler *a, const char *name, size_t length, const char *rest,
                       const char *end)
{
    struct wmi_cursor c = {.at = rest, .end = end, .symbols = &a->resolver};
    for (size_t i = 0; length > 1 && i < sizeof directives / sizeof *directives; i++)
        if (directives[i].name[1] == name[1] && wmi_asm_word_is(name, length, directives[i].name)) {
            directives[i].run(a, &c, directives[i].value);
            return;
        }
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (wmi_asm_word_is(name, length, sections[i])) {
            wmi_asm_known_section(a, name, length, &c);
            return;
        }
    unknown_directive(a, name, length);
}
