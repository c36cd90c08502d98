/* SPDX-License-Identifier: MIT */
/* Symbols defined by the assembler: the number of registers used so far, and the target's version.
 *
 * Source: LLVM 19 AMDGPUUsage, "Predefined Symbols (-mattr=+code-object-v3)"; AMDGPUAsmParser.cpp,
 * updateGprCountSymbols. */
#include "assembler/assembler.h"
#include "assembler/parts.h"

#include <stdlib.h>
#include <string.h>

static const char vgprs[] = ".amdgcn.next_free_vgpr", sgprs[] = ".amdgcn.next_free_sgpr";

static void define(struct wmi_assembler *a, const char *name, int64_t number)
{
    struct wmi_asm_symbol *s = wmi_asm_symbol(a, name, strlen(name));
    s->value = (struct wmi_value){.number = number};
    s->defined = s->variable = s->builtin = true;
}

/* gfx90a is 9.0.10: the last two characters are minor and stepping. gfx10-3-generic is 10.3.0. */
void wmi_asm_define_counts(struct wmi_assembler *a)
{
    char *rest;
    const char *name = wmi_target_name(a->target) + strlen("gfx");
    unsigned long number = strtoul(name, &rest, 16), minor, stepping;
    if (*rest == '-') {
        number = strtoul(name, &rest, 10);
        minor = strtoul(rest + 1, NULL, 10);
        stepping = 0;
    } else {
        char major[8] = {0};
        memcpy(major, name, strlen(name) - 2);
        stepping = number & 15;
        minor = number >> 4 & 15;
        number = strtoul(major, NULL, 10);
    }
    define(a, ".amdgcn.gfx_generation_number", (int64_t)number);
    define(a, ".amdgcn.gfx_generation_minor", (int64_t)minor);
    define(a, ".amdgcn.gfx_generation_stepping", (int64_t)stepping);
    define(a, vgprs, 0);
    define(a, sgprs, 0);
}

/* Splits NAME=NUMBER. */
static bool read_definition(const char *text, size_t *length, int64_t *number)
{
    struct wmi_cursor c = {.at = text, .end = text + strlen(text)};
    *length = wmi_name_length(&c);
    if (!*length || c.at != text)
        return false;
    c.at += *length;
    return wmi_take(&c, '=') && wmi_read_number(&c, number) && c.at == c.end;
}

bool wmi_is_definition(const char *text)
{
    size_t length;
    int64_t number;
    return read_definition(text, &length, &number);
}

void wmi_asm_define_number(struct wmi_assembler *a, const char *text)
{
    size_t length;
    int64_t number;
    if (!read_definition(text, &length, &number))
        return;
    struct wmi_asm_symbol *s = wmi_asm_symbol(a, text, length);
    s->value = (struct wmi_value){.number = number};
    s->defined = s->variable = true;
    s->builtin = false;
}

bool wmi_asm_names_counts(const char *text, size_t size)
{
    static const char stem[] = ".amdgcn.next_free_";
    return size && memmem(text, size, stem, strlen(stem));
}

static void count(struct wmi_assembler *a, const char *name, unsigned last)
{
    struct wmi_asm_symbol *s = wmi_asm_symbol(a, name, strlen(name));
    if (s->variable && !s->value.base && s->value.number <= last)
        s->value.number = last + 1;
}

/* Counts v[4:7] in the text: an image address may have more registers than are encoded. */
static void count_tuples(struct wmi_assembler *a, const char *begin, const char *end)
{
    struct wmi_cursor c = {.at = begin, .end = end, .symbols = &a->resolver};
    int64_t first, last;
    while ((c.at = memmem(c.at, (size_t)(end - c.at), "v[", 2))) {
        c.at += 2;
        if (wmi_read_number(&c, &first) && wmi_take(&c, ':') && wmi_read_number(&c, &last) && last >= first &&
            last < 256)
            count(a, vgprs, (unsigned)last);
    }
}

void wmi_asm_count_registers(struct wmi_assembler *a, const char *begin, const char *end,
                             const struct wmi_instruction *insn)
{
    enum { MOST = 16 };
    uint8_t listed[MOST];
    count_tuples(a, begin, end);
    for (unsigned i = 0; i < (unsigned)insn->operands + insn->second_operands; i++) {
        const struct wmi_operand *o = &insn->operand[i];
        if (o->kind != WMI_OPERAND_VGPR && o->kind != WMI_OPERAND_SGPR)
            continue;
        const unsigned names =
            o->kind == WMI_OPERAND_VGPR ? wmi_image_address(a->target, insn, i, listed, MOST) : 0;
        for (unsigned n = 0; n < names; n++)
            count(a, vgprs, listed[n]);
        if (!names)
            count(a, o->kind == WMI_OPERAND_VGPR ? vgprs : sgprs, o->reg + (o->dwords ? o->dwords : 1) - 1u);
    }
}
