/* SPDX-License-Identifier: MIT */
/* Directives that emit data: numbers, strings, fill, alignment. */
#include "assembler/parts.h"
#include "object/relocation_types.h"

#include <ctype.h>
#include <elf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 24 };

/* ---- numbers ---- */

void wmi_asm_number(struct wmi_assembler *a, struct wmi_cursor *c, struct wmi_asm_section *section,
                    uint64_t offset, unsigned bytes)
{
    struct wmi_value value;
    c->wrong = NULL;
    wmi_skip_space(c);
    const char *start = c->at;
    if (!wmi_read_expression(c, &value)) {
        wmi_asm_failed(a, c);
        return;
    }
    if (value.base && !a->saw_late) {
        if (bytes < 4) {
            wmi_asm_error(a, start, "expected a number: an address has 4 or 8 bytes");
            return;
        }
        wmi_asm_relocate(a, section, offset, &value, bytes, false);
        value.number = 0;
    }
    if (bytes < 8 && !value.base && !value.late && !value.literal && value.number >> 8 * bytes &&
        value.number >> (8 * bytes - 1) != -1)
        wmi_asm_error(a, start, "expected a number of %u bytes", bytes);
    if (offset + bytes <= section->bytes.size)
        memcpy(section->bytes.data + offset, &value.number, bytes);
}

void wmi_asm_numbers(struct wmi_assembler *a, struct wmi_cursor *c, int width)
{
    const unsigned bytes = (unsigned)width;
    wmi_skip_space(c);
    if (c->at == c->end)
        return;
    do {
        wmi_skip_space(c);
        const char *start = c->at;
        wmi_asm_begin_bytes(a);
        const uint64_t offset = a->section->bytes.size;
        const unsigned errors = a->errors;
        wmi_asm_begin_expression(a);
        struct wmi_cursor probe = *c;
        struct wmi_value value;
        probe.wrong = NULL;
        const bool good = wmi_read_expression(&probe, &value);
        if (good && a->saw_late)
            wmi_asm_note_late(a, start, probe.at, bytes);
        wmi_asm_append(a, &a->section->bytes, NULL, bytes);
        if (good && a->saw_late)
            c->at = probe.at;
        else
            wmi_asm_number(a, c, a->section, offset, bytes);
        if (a->errors != errors)
            return;
    } while (wmi_take(c, ','));
    wmi_asm_at_end(a, c);
}

/* Integers of 16 bytes, which expressions cannot represent. */
void wmi_asm_octa(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    (void)unused;
    do {
        unsigned __int128 number = 0;
        wmi_skip_space(c);
        const bool hexadecimal =
            c->end - c->at > 2 && *c->at == '0' && tolower((unsigned char)c->at[1]) == 'x';
        c->at += hexadecimal ? 2 : 0;
        const char *start = c->at;
        for (; c->at < c->end &&
               (hexadecimal ? isxdigit((unsigned char)*c->at) : isdigit((unsigned char)*c->at));
             c->at++) {
            const unsigned digit = isdigit((unsigned char)*c->at)
                                       ? (unsigned)(*c->at - '0')
                                       : (unsigned)(tolower((unsigned char)*c->at) - 'a') + 10;
            const unsigned base = hexadecimal ? 16 : 10;
            if (number > (~(unsigned __int128)0 - digit) / base) {
                wmi_asm_error(a, start, "expected a number of 16 bytes");
                return;
            }
            number = number * base + digit;
        }
        if (c->at == start) {
            wmi_asm_error(a, start, "expected a decimal or hexadecimal number without a sign");
            return;
        }
        wmi_asm_begin_bytes(a);
        wmi_asm_append(a, &a->section->bytes, &number, sizeof number);
    } while (wmi_take(c, ','));
    wmi_asm_at_end(a, c);
}

static bool read_real(struct wmi_assembler *a, struct wmi_cursor *c, double *real)
{
    static const struct {
        const char *name;
        double value;
    } names[] = {{"inf", INFINITY}, {"infinity", INFINITY}, {"nan", NAN}};
    const bool minus = wmi_take(c, '-');
    if (!minus)
        wmi_take(c, '+');
    const size_t length = wmi_name_length(c);
    int64_t whole;
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && length; i++)
        if (wmi_asm_word_is(c->at, length, names[i].name)) {
            *real = names[i].value;
            c->at += length;
            found = true;
            break;
        }
    if (!found && !wmi_read_real(c, real)) {
        if (!wmi_asm_read_number(a, c, &whole))
            return false;
        *real = (double)whole;
    }
    *real = minus ? -*real : *real;
    return true;
}

/* The bits of a NaN are all ones, as in LLVM. */
static uint64_t bits_of(double real, int bytes)
{
    const float single = (float)real;
    const bool wide = bytes == sizeof real;
    uint64_t bits = 0;
    memcpy(&bits, wide ? (void *)&real : (void *)&single, (size_t)bytes);
    return isnan(real) ? bits | (wide ? ~UINT64_C(0) >> 1 : ~UINT32_C(0) >> 1) : bits;
}

void wmi_asm_reals(struct wmi_assembler *a, struct wmi_cursor *c, int bytes)
{
    do {
        double real;
        if (!read_real(a, c, &real))
            return;
        const uint64_t bits = bits_of(real, bytes);
        wmi_asm_begin_bytes(a);
        wmi_asm_append(a, &a->section->bytes, &bits, (size_t)bytes);
    } while (wmi_take(c, ','));
    wmi_asm_at_end(a, c);
}

void wmi_asm_append_leb(struct wmi_assembler *a, struct wmi_bytes *bytes, int64_t value, bool is_signed)
{
    bool more = true;
    while (more) {
        uint8_t byte = value & 0x7f;
        value = is_signed ? value >> 7 : (int64_t)((uint64_t)value >> 7);
        more = is_signed ? !((value == 0 && !(byte & 0x40)) || (value == -1 && byte & 0x40)) : value != 0;
        byte |= more ? 0x80 : 0;
        wmi_asm_append(a, bytes, &byte, 1);
    }
}

static void note_late_leb(struct wmi_assembler *a, const char *text, const char *end, bool is_signed)
{
    const unsigned number = a->size_count, bytes = wmi_asm_next_size(a, 1);
    struct wmi_asm_late *late = wmi_asm_note_late(a, text, end, bytes);
    late->sized = number + 1;
    late->is_signed = is_signed;
    wmi_asm_append(a, &a->section->bytes, NULL, bytes);
}

void wmi_asm_leb128(struct wmi_assembler *a, struct wmi_cursor *c, int is_signed)
{
    do {
        int64_t value;
        struct wmi_value probed;
        wmi_skip_space(c);
        wmi_asm_begin_bytes(a);
        wmi_asm_begin_expression(a);
        struct wmi_cursor probe = *c;
        if (wmi_read_expression(&probe, &probed) && a->saw_late) {
            note_late_leb(a, c->at, probe.at, is_signed);
            c->at = probe.at;
        } else if (wmi_asm_read_number(a, c, &value)) {
            wmi_asm_append_leb(a, &a->section->bytes, value, is_signed);
        } else {
            return;
        }
    } while (wmi_take(c, ','));
    wmi_asm_at_end(a, c);
}

/* If there are more bytes than the number needs, pads it like LLVM. */
void wmi_asm_read_late_leb(struct wmi_assembler *a, struct wmi_cursor *c, const struct wmi_asm_late *late)
{
    int64_t value;
    const char *const start = c->at;
    const unsigned bytes = late->bytes;
    if (!wmi_asm_read_number(a, c, &value))
        return;
    a->scratch.size = 0;
    wmi_asm_append_leb(a, &a->scratch, value, late->is_signed);
    if (a->scratch.size > bytes) {
        wmi_asm_grow(a, late, (unsigned)a->scratch.size, start);
        return;
    }
    const uint8_t sign = late->is_signed && value < 0 ? 0x7f : 0, more = sign | 0x80;
    while (a->scratch.size < bytes) {
        a->scratch.data[a->scratch.size - 1] |= 0x80;
        wmi_asm_append(a, &a->scratch, a->scratch.size + 1 < bytes ? &more : &sign, 1);
    }
    memcpy(late->section->bytes.data + late->offset, a->scratch.data, bytes);
}

/* `ends`: each string is NUL-terminated. Otherwise, strings may be adjacent, as in LLVM. */
void wmi_asm_strings(struct wmi_assembler *a, struct wmi_cursor *c, int ends)
{
    wmi_skip_space(c);
    if (c->at == c->end)
        return;
    wmi_asm_begin_bytes(a);
    do {
        do {
            if (!wmi_asm_read_string(a, c, &a->section->bytes))
                return;
            wmi_skip_space(c);
        } while (!ends && c->at < c->end && *c->at == '"');
        if (ends)
            wmi_asm_append(a, &a->section->bytes, "", 1);
    } while (wmi_take(c, ','));
    wmi_asm_at_end(a, c);
}

/* ---- fill ---- */

static void repeat(struct wmi_assembler *a, const char *at, int64_t count, int64_t bytes, uint64_t value)
{
    enum { WIDEST = 12 }; /* zeros of .ds.x */
    const int64_t widest = value ? sizeof value : WIDEST;
    if (count < 0 || count > MOST_BYTES || bytes < 0 || bytes > widest || count * bytes > MOST_BYTES) {
        wmi_asm_error(a, at, "expected a count up to 16 MiB of elements up to 8 bytes");
        return;
    }
    if (!value)
        wmi_asm_append(a, &a->section->bytes, NULL, (size_t)(count * bytes));
    for (int64_t i = 0; value && i < count; i++)
        wmi_asm_append(a, &a->section->bytes, &value, (size_t)bytes);
}

/* .fill count[, bytes[, value]]: elements wider than 4 bytes have a 32-bit value. */
void wmi_asm_fill(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    int64_t count, bytes = 1, value = 0;
    const char *at = c->at;
    (void)unused;
    if (!wmi_asm_read_number(a, c, &count) || (wmi_take(c, ',') && !wmi_asm_read_number(a, c, &bytes)) ||
        (wmi_take(c, ',') && !wmi_asm_read_number(a, c, &value)) || !wmi_asm_at_end(a, c))
        return;
    if (count < 0 || bytes < 0 || bytes > 8)
        wmi_asm_warning(a, at, "expected elements of 0 to 8 bytes: %s",
                        bytes > 8 ? "these have 8" : "this does nothing");
    bytes = bytes > 8 ? 8 : bytes;
    if (count >= 0 && bytes >= 0)
        repeat(a, at, count, bytes, bytes > 4 ? (uint32_t)value : (uint64_t)value);
}

/* Whether the count is valid; for negative counts LLVM only warns. */
static bool is_count(struct wmi_assembler *a, const char *at, int64_t count)
{
    if (count < 0)
        wmi_asm_warning(a, at, "expected a count that is not negative: this does nothing");
    return count >= 0;
}

/* .ds.w count */
void wmi_asm_room(struct wmi_assembler *a, struct wmi_cursor *c, int bytes)
{
    int64_t count;
    const char *at = c->at;
    if (wmi_asm_read_number(a, c, &count) && wmi_asm_at_end(a, c) && is_count(a, at, count))
        repeat(a, at, count, bytes, 0);
}

/* .zero count[, value] */
void wmi_asm_zeros(struct wmi_assembler *a, struct wmi_cursor *c, int bytes)
{
    int64_t count, value = 0;
    const char *at = c->at;
    if (wmi_asm_read_number(a, c, &count) && (!wmi_take(c, ',') || wmi_asm_read_number(a, c, &value)) &&
        wmi_asm_at_end(a, c))
        repeat(a, at, count, bytes, (uint64_t)value);
}

/* .dcb.w count, value */
void wmi_asm_copies(struct wmi_assembler *a, struct wmi_cursor *c, int bytes)
{
    int64_t count, value;
    const char *at = c->at;
    if (!wmi_asm_read_number(a, c, &count))
        return;
    if (!wmi_take(c, ','))
        wmi_asm_error(a, c->at, "expected ',' and a value");
    else if (wmi_asm_read_number(a, c, &value) && wmi_asm_at_end(a, c) && is_count(a, at, count))
        repeat(a, at, count, bytes, (uint64_t)value);
}

/* .dcb.s count, real */
void wmi_asm_copies_real(struct wmi_assembler *a, struct wmi_cursor *c, int bytes)
{
    int64_t count;
    double real;
    const char *at = c->at;
    if (!wmi_asm_read_number(a, c, &count))
        return;
    if (!wmi_take(c, ',')) {
        wmi_asm_error(a, c->at, "expected ',' and a value");
        return;
    }
    if (!read_real(a, c, &real) || !wmi_asm_at_end(a, c))
        return;
    if (is_count(a, at, count))
        repeat(a, at, count, bytes, bits_of(real, bytes));
}

/* Pads code with s_nop 0, like LLVM. */
static void align(struct wmi_assembler *a, struct wmi_cursor *c, bool power, unsigned unit)
{
    enum { MOST_POWER = 16 };
    int64_t alignment, value = 0, most = 0;
    bool given = false;
    const char *at = c->at;
    wmi_skip_space(c);
    if (power && unit == 1 && c->at == c->end) { /* like LLVM, for old files */
        wmi_asm_warning(a, at, ".p2align without an operand does nothing");
        return;
    }
    if (!wmi_asm_read_number(a, c, &alignment))
        return;
    if (wmi_take(c, ',')) {
        wmi_skip_space(c);
        given = c->at < c->end && *c->at != ',';
        if ((given && !wmi_asm_read_number(a, c, &value)) ||
            (wmi_take(c, ',') && !wmi_asm_read_number(a, c, &most)))
            return;
    }
    if (!wmi_asm_at_end(a, c))
        return;
    if (power ? alignment < 0 || alignment > MOST_POWER
              : alignment < 0 || alignment > 1 << MOST_POWER || alignment & (alignment - 1)) {
        wmi_asm_error(a, at, power ? "expected a power from 0 to 16" : "expected a power of two up to 65536");
        return;
    }
    const uint64_t bytes = power ? UINT64_C(1) << alignment : alignment ? (uint64_t)alignment : 1;
    struct wmi_asm_section *s = a->section;
    const uint64_t padding = -s->bytes.size & (bytes - 1);
    if (s->alignment < bytes)
        s->alignment = bytes;
    if (most && padding > (uint64_t)most)
        return;
    const uint64_t nop = WMI_ASM_S_NOP, filler = given ? (uint64_t)value : 0;
    const bool code = !given && s->flags & SHF_EXECINSTR;
    if (code)
        wmi_asm_append(a, &s->bytes, NULL, padding % 4);
    for (uint64_t i = 0; i < (code ? padding / 4 : padding / unit); i++)
        wmi_asm_append(a, &s->bytes, code ? &nop : &filler, code ? 4 : unit);
}

void wmi_asm_align(struct wmi_assembler *a, struct wmi_cursor *c, int unit)
{
    align(a, c, false, (unsigned)unit);
}

void wmi_asm_align_power(struct wmi_assembler *a, struct wmi_cursor *c, int unit)
{
    align(a, c, true, (unsigned)unit);
}

/* .org place[, byte]: pads up to an offset or a label of this section. */
void wmi_asm_origin(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    struct wmi_value place;
    int64_t filler = 0;
    (void)unused;
    wmi_asm_begin_expression(a);
    wmi_skip_space(c);
    const char *at = c->at;
    c->wrong = NULL;
    if (!wmi_read_expression(c, &place)) {
        wmi_asm_failed(a, c);
        return;
    }
    if ((wmi_take(c, ',') && !wmi_asm_read_number(a, c, &filler)) || !wmi_asm_at_end(a, c))
        return;
    struct wmi_bytes *bytes = &a->section->bytes;
    if (a->saw_late || (place.base && place.base != a->section))
        wmi_asm_error(a, at, "expected an offset in this section that is known here");
    else if (place.number < (int64_t)bytes->size || place.number - (int64_t)bytes->size > MOST_BYTES)
        wmi_asm_error(a, at, "expected an offset from %zu, which is here, to 16 MiB further", bytes->size);
    else
        repeat(a, at, place.number - (int64_t)bytes->size, 1, (uint64_t)filler);
}

/* ---- relocations ---- */

static bool read_relocation_type(struct wmi_assembler *a, struct wmi_cursor *c, uint32_t *type)
{
    static const struct {
        const char *name;
        uint32_t type;
    } types[] = {
        {"R_AMDGPU_ABS32_LO", ABS32_LO},
        {"R_AMDGPU_ABS32_HI", ABS32_HI},
        {"R_AMDGPU_ABS64", ABS64},
        {"R_AMDGPU_REL32", REL32},
        {"R_AMDGPU_REL64", REL64},
        {"R_AMDGPU_ABS32", ABS32},
        {"R_AMDGPU_GOTPCREL", GOTPCREL},
        {"R_AMDGPU_GOTPCREL32_LO", GOTPCREL32_LO},
        {"R_AMDGPU_GOTPCREL32_HI", GOTPCREL32_HI},
        {"R_AMDGPU_REL32_LO", REL32_LO},
        {"R_AMDGPU_REL32_HI", REL32_HI},
        {"R_AMDGPU_REL16", REL16},
    };
    const size_t length = wmi_name_length(c);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (wmi_asm_word_is(c->at, length, types[i].name)) {
            c->at += length;
            *type = types[i].type;
            return true;
        }
    wmi_asm_error(a, c->at, "expected the name of a relocation, such as R_AMDGPU_ABS64");
    return false;
}

/* .reloc place, type[, expression]: relocates an offset of this section, or a label. */
void wmi_asm_relocation(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    struct wmi_value place, value = {0};
    uint32_t type;
    (void)unused;
    wmi_asm_begin_expression(a);
    wmi_skip_space(c);
    const char *const at = c->at, *value_at = c->at;
    c->wrong = NULL;
    if (!wmi_read_expression(c, &place)) {
        wmi_asm_failed(a, c);
        return;
    }
    if (!wmi_take(c, ',')) {
        wmi_asm_error(a, c->at, "expected ','");
        return;
    }
    if (!read_relocation_type(a, c, &type))
        return;
    if (wmi_take(c, ',')) {
        value_at = c->at;
        if (!wmi_read_expression(c, &value)) {
            wmi_asm_failed(a, c);
            return;
        }
    }
    if (!wmi_asm_at_end(a, c))
        return;
    if (a->saw_late) {
        wmi_asm_note_late(a, a->statement, c->end, UINT8_MAX);
        return;
    }
    const struct wmi_asm_base *base = place.base ? place.base : &a->section->base;
    if (!base->is_section || place.number < 0)
        wmi_asm_error(a, at, "expected an offset in this section that is not negative, or a label");
    else if (!value.base)
        wmi_asm_error(a, value_at, "expected a symbol for this relocation");
    else
        wmi_asm_relocate_as(a, (struct wmi_asm_section *)(uintptr_t)base, (uint64_t)place.number, &value,
                            type);
}
