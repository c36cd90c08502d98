/* SPDX-License-Identifier: MIT */
/* Statements of assembly files: labels, directives, macros, instructions; and those read again when all
 * symbols are known. */
#include "assembler/parts.h"
#include "object/relocation_types.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- instructions ---- */

static void mnemonic_error(struct wmi_assembler *a, const char *at, size_t length)
{
    static const char *const shown[] = {"gfx600",  "gfx700",  "gfx803",  "gfx900", "gfx906",
                                        "gfx908",  "gfx90a",  "gfx942",  "gfx950", "gfx1010",
                                        "gfx1030", "gfx1100", "gfx1150", "gfx1200"};
    enum { NEAREST = 3 };
    if (a->errors >= WMI_ASM_MESSAGES) {
        wmi_asm_error(a, at, "unknown"); /* not printed, only counted: macros can cause many errors */
        return;
    }
    char targets[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (wmi_has_mnemonic(wmi_target_find(shown[i]), at, length))
            used += (size_t)snprintf(targets + used, sizeof targets - used, " %s", shown[i]);
    const char *found[NEAREST];
    const unsigned count = wmi_nearest_mnemonics(a->target, at, length, found, NEAREST);
    char near[256] = "";
    for (unsigned i = 0, end = 0; i < count; i++)
        end += (unsigned)snprintf(near + end, sizeof near - end, i ? ", %s" : "%s", found[i]);
    const int n = length < 64 ? (int)length : 64;
    if (used)
        wmi_asm_error(a, at, "%s does not have '%.*s'; these have it:%s%s%s", wmi_target_name(a->target), n,
                      at, targets, count ? "; nearest here: " : "", near);
    else
        wmi_asm_error(a, at, "unknown instruction '%.*s'%s%s", n, at, count ? "; nearest: " : "", near);
}

/* Relocates a dword, two, or a branch. As in LLVM, a literal that is a label plus a number is the distance
 * from the literal (AMDGPUMCCodeEmitter.cpp, needsPCRel). */
static void relocate_word(struct wmi_assembler *a, struct wmi_asm_section *section, uint64_t offset,
                          const struct wmi_relocation *r, uint32_t *word)
{
    const unsigned bytes = r->wide ? 8 : 4;
    if (r->branch || r->value.part || !r->value.relative) {
        wmi_asm_relocate(a, section, offset, &r->value, bytes, r->branch);
    } else if (r->value.base == section) {
        const int64_t distance = r->value.number - (int64_t)offset;
        memcpy(word, &distance, bytes);
    } else {
        wmi_asm_relocate_as(a, section, offset, &r->value, r->wide ? REL64 : REL32);
    }
}

static unsigned assemble_at(struct wmi_assembler *a, const char *begin, const char *end,
                            struct wmi_asm_section *section, uint64_t offset, struct wmi_instruction *insn,
                            bool *relocated)
{
    struct wmi_cursor c = {
        .at = begin, .end = end, .symbols = &a->resolver, .names = a->names, .patterns = a->patterns};
    struct wmi_relocation relocation;
    a->resolver.here = (struct wmi_value){.number = (int64_t)offset, .base = section};
    a->saw_late = false;
    const unsigned dwords = wmi_assemble(a->target, &c, insn, &relocation);
    *relocated = dwords && relocation.value.base && !a->saw_late;
    if (!dwords && !c.wrong) {
        size_t length = 0;
        while (c.at + length < end &&
               (isalnum((unsigned char)c.at[length]) || c.at[length] == '_' || c.at[length] == '.'))
            length++;
        if (length)
            mnemonic_error(a, c.at, length);
        else
            wmi_asm_error(a, c.at, "expected an instruction, a label or a directive");
    } else if (!dwords) {
        char expected[256];
        snprintf(expected, sizeof expected, c.wrong, c.number);
        wmi_asm_error(a, c.wrong_at, "expected %s", expected);
    } else if (*relocated) {
        relocate_word(a, section, offset + 4u * relocation.word, &relocation, &insn->words[relocation.word]);
    }
    return dwords;
}

static bool is_remembered(struct wmi_assembler *a, const char *begin, const char *end)
{
    uint32_t words[WMI_INSTRUCTION_DWORDS];
    const unsigned dwords = wmi_assemble_alike(a->patterns, begin, end, words);
    if (dwords)
        wmi_asm_begin_code(a);
    wmi_asm_append(a, &a->section->bytes, words, 4 * (size_t)dwords);
    return dwords != 0;
}

void wmi_asm_forget(struct wmi_assembler *a)
{
    memset(a->patterns, 0, WMI_PATTERNS_BYTES);
}

/* gfx1010 to gfx1013 do not execute branches with an offset of 0x3f correctly, so LLVM adds an s_nop after
 * each branch that has it or may get it from the linker (AMDGPUAsmBackend.cpp, FeatureOffset3fBug). */
enum { BRANCH_BYTES = 4, PADDED_BRANCH_BYTES = 8, PADDED_OFFSET = 0x3f };

static bool may_be_padded(const struct wmi_assembler *a, const struct wmi_instruction *insn)
{
    return wmi_target_limit(a->target, WMI_LIMIT_pads_branches) && insn->operands == 1 &&
           insn->operand[0].kind == WMI_OPERAND_LABEL;
}

static void instruction(struct wmi_assembler *a, const char *begin, const char *end)
{
    struct wmi_instruction insn;
    bool relocated;
    const unsigned dwords = assemble_at(a, begin, end, a->section, a->section->bytes.size, &insn, &relocated);
    const bool late = dwords && a->saw_late, sized = dwords && may_be_padded(a, &insn);
    unsigned bytes = 4 * dwords;
    if (sized && relocated)
        bytes = PADDED_BRANCH_BYTES;
    if (late) {
        struct wmi_asm_late *noted = wmi_asm_note_late(a, begin, end, 0);
        if (sized) {
            bytes = wmi_asm_next_size(a, BRANCH_BYTES);
            noted->sized = a->size_count;
        }
    }
    wmi_asm_begin_code(a);
    if (a->counts_registers && dwords)
        wmi_asm_count_registers(a, begin, end, &insn);
    wmi_asm_append(a, &a->section->bytes, insn.words, 4 * (size_t)dwords);
    if (bytes > 4 * dwords)
        wmi_asm_append(a, &a->section->bytes, (const uint32_t[]){WMI_ASM_S_NOP}, bytes - 4 * dwords);
}

static void late_instruction(struct wmi_assembler *a, const struct wmi_asm_late *late)
{
    struct wmi_instruction insn;
    bool relocated;
    const unsigned dwords =
        assemble_at(a, late->text, late->end, late->section, late->offset, &insn, &relocated);
    if (late->offset + 4 * dwords > late->section->bytes.size)
        return;
    memcpy(late->section->bytes.data + late->offset, insn.words, 4 * (size_t)dwords);
    if (dwords && late->sized && (relocated || (insn.words[0] & 0xffff) == PADDED_OFFSET) &&
        a->sizes->bytes[late->sized - 1] < PADDED_BRANCH_BYTES)
        wmi_asm_grow(a, late, PADDED_BRANCH_BYTES, late->text);
}

/* ---- statements ---- */

void wmi_asm_statement(struct wmi_assembler *a, const char *begin, const char *end)
{
    struct wmi_cursor c = {.at = begin, .end = end, .symbols = &a->resolver};
    if (!a->counts_registers && is_remembered(a, begin, end))
        return;
    for (;;) {
        wmi_skip_space(&c);
        if (c.at == c.end)
            return;
        const char *at = c.at;
        if (isdigit((unsigned char)*at) && at + 1 < end && at[1] == ':') {
            char name[32];
            const unsigned digit = (unsigned)(*at - '0');
            const size_t length = wmi_asm_numbered_name(name, digit, ++a->numbered[digit]);
            wmi_asm_define(a, at, wmi_asm_symbol(a, name, length));
            c.at += 2;
            continue;
        }
        size_t length = wmi_name_length(&c), quotes = 0;
        if (*at == '"') {
            const char *closing = memchr(at + 1, '"', (size_t)(end - at - 1));
            length = closing ? (size_t)(closing - at - 1) : 0;
            quotes = 1;
        }
        const char *name = at + quotes, *behind = name + length + quotes;
        if (length && behind < end && *behind == ':' && !(behind + 1 < end && behind[1] == ':')) {
            wmi_asm_define(a, at, wmi_asm_symbol(a, name, length));
            c.at = behind + 1;
            continue;
        }
        c.at = behind;
        a->statement = at;
        if (length && wmi_take(&c, '=') && !wmi_take(&c, '=')) {
            wmi_asm_set(a, name, length, &c, false);
            return;
        }
        if (length && wmi_asm_expand(a, name, length, behind, end))
            return;
        if (*at == '.')
            wmi_asm_directive(a, at, length, behind, end);
        else
            instruction(a, at, end);
        return;
    }
}

static void read_late_one(struct wmi_assembler *a, const struct wmi_asm_late *late)
{
    a->place = late->place;
    memcpy(a->numbered, late->numbered, sizeof a->numbered);
    if (late->bytes == UINT8_MAX) {
        a->section = late->section;
        a->late_offset = late->offset;
        wmi_asm_statement(a, late->text, late->end);
    } else if (late->bytes) {
        struct wmi_cursor c = {.at = late->text, .end = late->end, .symbols = &a->resolver};
        a->resolver.here = (struct wmi_value){.number = (int64_t)late->offset, .base = late->section};
        if (late->sized)
            wmi_asm_read_late_leb(a, &c, late);
        else
            wmi_asm_number(a, &c, late->section, late->offset, late->bytes);
    } else {
        late_instruction(a, late);
    }
}

/* Reads directives with forward references again, as long as more symbols get values by that: those that
 * still have none are recorded again. */
static void settle(struct wmi_assembler *a)
{
    unsigned before, after = UINT_MAX;
    a->settling = true;
    do {
        before = after;
        after = 0;
        struct wmi_asm_late *next, *list = a->late, **last = &a->late;
        a->late = NULL;
        a->last_late = &a->late;
        for (struct wmi_asm_late *late = list; late; late = next) {
            next = late->next;
            late->next = NULL;
            last = a->last_late;
            if (late->bytes == UINT8_MAX)
                read_late_one(a, late);
            else
                *last = late, a->last_late = &late->next;
        }
        for (const struct wmi_asm_late *late = a->late; late; late = late->next)
            after += late->bytes == UINT8_MAX;
    } while (after && after < before);
    a->settling = false;
}

/* Statements that define symbols are read first. */
void wmi_asm_read_late(struct wmi_assembler *a)
{
    a->reading_late = true;
    settle(a);
    a->saw_late = false;
    for (unsigned values = 2; values-- > 0;)
        for (const struct wmi_asm_late *late = a->late; late; late = late->next)
            if ((late->bytes == UINT8_MAX) == values)
                read_late_one(a, late);
    wmi_asm_read_late_kernels(a);
}
