/* SPDX-License-Identifier: MIT */
/* .cfi_*: unwinding rules, emitted as .debug_frame and .eh_frame.
 *
 * Source: DWARF 5, section 6.4; LLVM 19 MCDwarf.cpp, FrameEmitterImpl, where the standard leaves a choice, so
 * that the bytes equal LLVM's; AMDGPUUsage, "Register Identifier", for register numbers. */
#include "assembler/dwarf_numbers.h"
#include "assembler/parts.h"
#include "object/relocation_types.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_FACTOR = 4, DATA_FACTOR = 4, RETURN_COLUMN = 16, POINTER = 8 };
enum { DW_CFA_LLVM_DEF_ASPACE_CFA = 0x30, DW_CFA_FIRST_ADVANCE = 1 << 6, SHORT_REGISTERS = 64 };

struct frame {
    struct frame *next;
    struct wmi_asm_section *section;
    uint64_t begin, end, at; /* at: location of the last rule */
    int64_t cfa_offset;
    struct wmi_bytes rules;
};

struct wmi_asm_frames {
    struct frame *first, **last, *open;
    bool debug, eh;
    struct wmi_asm_place place; /* of the open frame */
};

static struct wmi_asm_frames *frames_of(struct wmi_assembler *a)
{
    if (!a->frames) {
        a->frames = wmi_asm_allocate(a, 1, sizeof *a->frames);
        *a->frames = (struct wmi_asm_frames){.last = &a->frames->first, .eh = true};
    }
    return a->frames;
}

void wmi_asm_free_frames(struct wmi_assembler *a)
{
    for (struct frame *f = a->frames ? a->frames->first : NULL; f; f = f->next)
        free(f->rules.data);
}

/* ---- rules ---- */

static void put(struct wmi_assembler *a, struct wmi_bytes *bytes, uint64_t value, size_t size)
{
    wmi_asm_append(a, bytes, &value, size);
}

static void put_leb(struct wmi_assembler *a, struct wmi_bytes *bytes, int64_t value)
{
    wmi_asm_append_leb(a, bytes, value, false);
}

/* Advances the location to the current end of the code. */
static void advance(struct wmi_assembler *a, struct frame *f)
{
    const uint64_t step = (f->section->bytes.size - f->at) / CODE_FACTOR;
    f->at = f->section->bytes.size;
    if (!step)
        return;
    if (step < DW_CFA_FIRST_ADVANCE) {
        put(a, &f->rules, DW_CFA_FIRST_ADVANCE | step, 1);
        return;
    }
    const unsigned bytes = step <= UINT8_MAX ? 1 : step <= UINT16_MAX ? 2 : 4;
    put(a, &f->rules,
        bytes == 1   ? DW_CFA_advance_loc1
        : bytes == 2 ? DW_CFA_advance_loc2
                     : DW_CFA_advance_loc4,
        1);
    put(a, &f->rules, step, bytes);
}

/* s3, v7, a9 or a number. Numbers are those of wave64 on all targets, as in LLVM's assembler. */
static bool read_register(struct wmi_assembler *a, struct wmi_cursor *c, int64_t *number)
{
    enum { LOW_SGPRS = 64, SGPRS = 128 };
    static const struct {
        char letter;
        unsigned base;
    } files[] = {{'s', 32}, {'v', 2560}, {'a', 3072}};
    const size_t length = wmi_name_length(c);
    const char *name = c->at;
    if (!length)
        return wmi_asm_read_number(a, c, number);
    struct wmi_cursor digits = {.at = name + 1, .end = name + length};
    for (size_t i = 0; i < sizeof files / sizeof *files && length > 1; i++)
        if (*name == files[i].letter && wmi_read_number(&digits, number) && digits.at == digits.end &&
            *number < (i ? 256 : SGPRS)) {
            *number += !i && *number >= LOW_SGPRS ? 1088 - LOW_SGPRS : files[i].base;
            c->at += length;
            return true;
        }
    wmi_asm_error(a, name, "expected a register such as s3 or v7, or DWARF's number of one");
    return false;
}

static bool next_number(struct wmi_assembler *a, struct wmi_cursor *c, int64_t *number)
{
    if (wmi_take(c, ','))
        return wmi_asm_read_number(a, c, number);
    wmi_asm_error(a, c->at, "expected ','");
    return false;
}

static struct frame *open_frame(struct wmi_assembler *a)
{
    struct frame *f = a->frames ? a->frames->open : NULL;
    if (!f)
        wmi_asm_error(a, a->statement, "expected .cfi_startproc before this");
    else if (f->section != a->section)
        wmi_asm_error(a, a->statement, "expected this in '%s', where .cfi_startproc is", f->section->name);
    else
        return f;
    return NULL;
}

/* Adds a rule with an opcode and its operands; `operands`: r: a register, n: a number. */
static void rule(struct wmi_assembler *a, struct wmi_cursor *c, unsigned opcode, const char *operands)
{
    enum { MOST = 3 };
    struct frame *f = open_frame(a);
    int64_t value[MOST] = {0};
    for (unsigned i = 0; f && operands[i]; i++) {
        if (i && !wmi_take(c, ',')) {
            wmi_asm_error(a, c->at, "expected ','");
            return;
        }
        if (!(operands[i] == 'r' ? read_register(a, c, &value[i]) : wmi_asm_read_number(a, c, &value[i])))
            return;
    }
    if (!f || !wmi_asm_at_end(a, c))
        return;
    advance(a, f);
    if (opcode == DW_CFA_def_cfa || opcode == DW_CFA_LLVM_DEF_ASPACE_CFA)
        f->cfa_offset = value[1];
    if (opcode == DW_CFA_def_cfa_offset)
        f->cfa_offset = value[0];
    if (opcode == DW_CFA_restore && value[0] < SHORT_REGISTERS) {
        put(a, &f->rules, opcode | (uint64_t)value[0], 1);
        return;
    }
    put(a, &f->rules, opcode == DW_CFA_restore ? DW_CFA_restore_extended : opcode, 1);
    for (unsigned i = 0; operands[i]; i++)
        put_leb(a, &f->rules, value[i]);
}

void wmi_asm_cfi_registers(struct wmi_assembler *a, struct wmi_cursor *c, int opcode)
{
    rule(a, c, (unsigned)opcode, opcode == DW_CFA_register ? "rr" : "r");
}

void wmi_asm_cfi_cfa(struct wmi_assembler *a, struct wmi_cursor *c, int opcode)
{
    rule(a, c, (unsigned)opcode,
         opcode == DW_CFA_def_cfa          ? "rn"
         : opcode == DW_CFA_def_cfa_offset ? "n"
                                           : "rnn");
}

void wmi_asm_cfi_plain(struct wmi_assembler *a, struct wmi_cursor *c, int opcode)
{
    rule(a, c, (unsigned)opcode, "");
}

/* .cfi_adjust_cfa_offset number */
void wmi_asm_cfi_adjust(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    struct frame *f = open_frame(a);
    int64_t by;
    (void)unused;
    if (!f || !wmi_asm_read_number(a, c, &by) || !wmi_asm_at_end(a, c))
        return;
    advance(a, f);
    f->cfa_offset = (int64_t)((uint64_t)f->cfa_offset + (uint64_t)by);
    put(a, &f->rules, DW_CFA_def_cfa_offset, 1);
    put_leb(a, &f->rules, f->cfa_offset);
}

/* .cfi_offset register, offset; `relative`: to the current CFA offset */
void wmi_asm_cfi_offset(struct wmi_assembler *a, struct wmi_cursor *c, int relative)
{
    struct frame *f = open_frame(a);
    int64_t number, offset;
    if (!f || !read_register(a, c, &number) || !next_number(a, c, &offset) || !wmi_asm_at_end(a, c))
        return;
    advance(a, f);
    if (relative)
        offset = (int64_t)((uint64_t)offset - (uint64_t)f->cfa_offset);
    offset /= DATA_FACTOR;
    const bool is_short = offset >= 0 && number >= 0 && number < SHORT_REGISTERS;
    put(a, &f->rules,
        offset < 0 ? DW_CFA_offset_extended_sf
        : is_short ? DW_CFA_offset | (uint64_t)number
                   : DW_CFA_offset_extended,
        1);
    if (!is_short)
        put_leb(a, &f->rules, number);
    wmi_asm_append_leb(a, &f->rules, offset, offset < 0);
}

/* .cfi_escape byte, byte... */
void wmi_asm_cfi_escape(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    struct frame *f = open_frame(a);
    int64_t byte;
    (void)unused;
    if (!f)
        return;
    advance(a, f);
    do {
        if (!wmi_asm_read_number(a, c, &byte))
            return;
        put(a, &f->rules, (uint64_t)byte, 1);
    } while (wmi_take(c, ','));
    wmi_asm_at_end(a, c);
}

/* ---- frames ---- */

/* .cfi_sections .debug_frame, .eh_frame */
void wmi_asm_cfi_sections(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    struct wmi_asm_frames *frames = frames_of(a);
    (void)unused;
    frames->debug = frames->eh = false;
    do {
        const size_t length = wmi_name_length(c);
        const char *name = c->at;
        c->at += length;
        if (wmi_asm_word_is(name, length, ".debug_frame"))
            frames->debug = true;
        else if (wmi_asm_word_is(name, length, ".eh_frame"))
            frames->eh = true;
        else if (length) {
            wmi_asm_error(a, name, "expected .debug_frame or .eh_frame");
            return;
        }
    } while (wmi_take(c, ','));
    wmi_asm_at_end(a, c);
}

/* .cfi_startproc */
void wmi_asm_cfi_begin(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    struct wmi_asm_frames *frames = frames_of(a);
    (void)unused;
    if (!wmi_asm_at_end(a, c))
        return;
    if (frames->open) {
        wmi_asm_error(a, a->statement, "expected .cfi_endproc for the frame before");
        return;
    }
    struct frame *f = wmi_asm_allocate(a, 1, sizeof *f);
    const uint64_t here = a->section->bytes.size;
    *f = (struct frame){.section = a->section, .begin = here, .at = here, .end = here};
    frames->open = *frames->last = f;
    frames->last = &f->next;
    frames->place = a->place;
}

void wmi_asm_cfi_end(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    struct frame *f = open_frame(a);
    (void)unused;
    if (!f || !wmi_asm_at_end(a, c))
        return;
    f->end = a->section->bytes.size;
    a->frames->open = NULL;
}

/* ---- sections ---- */

/* Pads an entry that began at `begin`, and sets its length. */
static void end_entry(struct wmi_assembler *a, struct wmi_bytes *bytes, size_t begin, unsigned alignment)
{
    wmi_asm_append(a, bytes, NULL, -bytes->size & (alignment - 1));
    const uint32_t length = (uint32_t)(bytes->size - begin - 4);
    memcpy(bytes->data + begin, &length, sizeof length);
}

static void put_common(struct wmi_assembler *a, struct wmi_bytes *bytes, bool eh)
{
    const size_t begin = bytes->size;
    put(a, bytes, 0, 4);
    put(a, bytes, eh ? 0 : UINT32_MAX, 4);
    put(a, bytes, eh ? 1 : 4, 1);
    if (eh)
        wmi_asm_append(a, bytes, "zR", sizeof "zR");
    else
        put(a, bytes, POINTER << 8, 3); /* no augmentation, address size, segment selector size */
    put_leb(a, bytes, CODE_FACTOR);
    wmi_asm_append_leb(a, bytes, DATA_FACTOR, true);
    put(a, bytes, RETURN_COLUMN, 1);
    if (eh)
        put(a, bytes, 0x1b << 8 | 1, 2); /* one byte: addresses are PC-relative, signed, 4 bytes */
    end_entry(a, bytes, begin, eh ? 4 : POINTER);
}

static void put_frame(struct wmi_assembler *a, struct wmi_asm_section *s, const struct frame *f,
                      size_t common, bool eh)
{
    struct wmi_bytes *bytes = &s->bytes;
    const size_t begin = bytes->size;
    const unsigned pointer = eh ? 4 : POINTER;
    const struct wmi_value entry = {.number = (int64_t)common, .base = s};
    const struct wmi_value code = {.number = (int64_t)f->begin, .base = f->section};
    put(a, bytes, 0, 4);
    if (!eh)
        wmi_asm_relocate_as(a, s, bytes->size, &entry, ABS32);
    put(a, bytes, eh ? bytes->size - common : 0, 4);
    wmi_asm_relocate_as(a, s, bytes->size, &code, eh ? REL32 : ABS64);
    put(a, bytes, 0, pointer);
    put(a, bytes, f->end - f->begin, pointer);
    if (eh)
        put(a, bytes, 0, 1);
    wmi_asm_append(a, bytes, f->rules.data, f->rules.size);
    end_entry(a, bytes, begin, f->next ? pointer : POINTER);
}

static void write_section(struct wmi_assembler *a, const char *name, bool eh)
{
    struct wmi_asm_section *s = wmi_asm_section(a, name, strlen(name), SHT_PROGBITS, eh ? SHF_ALLOC : 0);
    size_t common = s->bytes.size;
    if (s->alignment < POINTER)
        s->alignment = POINTER;
    put_common(a, &s->bytes, eh);
    for (const struct frame *f = a->frames->first; f; f = f->next)
        put_frame(a, s, f, common, eh);
    if (eh)
        put(a, &s->bytes, 0, 4); /* terminator, as added by linkers */
}

void wmi_asm_write_frames(struct wmi_assembler *a)
{
    const struct wmi_asm_frames *frames = a->frames;
    if (!frames || !frames->first)
        return;
    if (frames->open) {
        a->place = frames->place;
        wmi_asm_error(a, a->place.line, "expected .cfi_endproc for this before the end of the file");
        return;
    }
    if (frames->eh)
        write_section(a, ".eh_frame", true);
    if (frames->debug)
        write_section(a, ".debug_frame", false);
}
