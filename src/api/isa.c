/* SPDX-License-Identifier: MIT */
/* The public API: assembling and disassembling. */
#include "isa/isa.h"
#include "arithmetic/small_float.h"
#include "assembler/assembler.h"
#include "base/versioned.h"
#include "isa/element_bits.h"
#include "isa/text/disassemble.h"
#include "isa/text/explain.h"
#include "sem/matrix_places.h"

#include <stdlib.h>
#include <string.h>

bool wm_target_known(const char *name)
{
    return wmi_target_find(name) != NULL;
}

const char *wm_target_generic(const char *name)
{
    const struct wmi_target *target = wmi_target_find(name);
    return target ? wmi_target_generic(target) : NULL;
}

enum wm_status wm_assemble_with(const struct wm_assemble_options *options, const char *text, size_t size,
                                const char *name, const char *target, uint8_t **bytes, size_t *bytes_size,
                                char **messages, struct wm_diag *diag)
{
    enum { FLAGS = WM_ASSEMBLE_RAW | WM_ASSEMBLE_FILES | WM_ASSEMBLE_LINES };
    const struct {
        const void *pointer;
        const char *name;
    } needed[] = {{options, "options"},  {text, "text"},   {name, "name"},
                  {target, "target"},    {bytes, "bytes"}, {bytes_size, "bytes_size"},
                  {messages, "messages"}};
    for (unsigned i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!needed[i].pointer)
            return wmi_null(diag, "wm_assemble", needed[i].name);
    *bytes = NULL;
    *bytes_size = 0;
    *messages = NULL;
    struct wm_assemble_options all;
    const enum wm_status taken =
        wmi_take_struct(&all, sizeof all, offsetof(struct wm_assemble_options, folders), options,
                        "wm_assemble_options", diag);
    if (taken)
        return taken;
    options = &all;
    if (options->flags & ~(unsigned)FLAGS)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "flags are 0x%x; expected some of WM_ASSEMBLE_*",
                        options->flags);
    for (size_t i = 0; i < options->folder_count; i++)
        if (!options->folders || !options->folders[i])
            return wmi_null(diag, "wm_assemble", "a folder");
    for (size_t i = 0; i < options->symbol_count; i++) {
        if (!options->symbols || !options->symbols[i])
            return wmi_null(diag, "wm_assemble", "a symbol");
        if (!wmi_is_definition(options->symbols[i]))
            return wmi_fail(diag, WM_BAD_ARGUMENT, "symbol '%.60s': expected NAME=NUMBER",
                            options->symbols[i]);
    }
    const struct wmi_assemble_options how = {
        .name = name,
        .target = target,
        .raw = options->flags & WM_ASSEMBLE_RAW,
        .lines = options->flags & WM_ASSEMBLE_LINES,
        .reads_files = options->flags & WM_ASSEMBLE_FILES,
        .folders = options->folders,
        .folder_count = options->folder_count,
        .symbols = options->symbols,
        .symbol_count = options->symbol_count,
    };
    const enum wm_status status = wmi_assemble_file(text, size, &how, bytes, bytes_size, messages);
    if (status == WM_NOT_FOUND)
        return wmi_fail(diag, status, "'%s' is no target that wavemem knows", target);
    return status ? wmi_fail(diag, status, status == WM_NO_MEMORY ? "%s: no memory" : "%s: wrong text", name)
                  : status;
}

enum wm_status wm_assemble(const char *text, size_t size, const char *name, const char *target,
                           unsigned flags, uint8_t **bytes, size_t *bytes_size, char **messages,
                           struct wm_diag *diag)
{
    const struct wm_assemble_options options = {.struct_size = sizeof options, .flags = flags};
    return wm_assemble_with(&options, text, size, name, target, bytes, bytes_size, messages, diag);
}

unsigned wm_disassemble(const char *target_name, const uint32_t *words, size_t dwords, char *text,
                        size_t size)
{
    const struct wmi_target *target = wmi_target_find(target_name);
    struct wmi_instruction insn;
    if (!text && size)
        return 0;
    const unsigned length = target && words ? wmi_decode(target, words, dwords, &insn) : 0;
    if (size)
        text[0] = '\0';
    if (length)
        wmi_print(target, &insn, text, size);
    return length;
}

enum wm_status wm_disassembler_create(const char *target_name, unsigned flags,
                                      struct wm_disassembler **disassembler, struct wm_diag *diag)
{
    const struct wmi_target *target = wmi_target_find(target_name);
    if (!disassembler)
        return wmi_null(diag, __func__, "disassembler");
    *disassembler = NULL;
    if (flags & ~(unsigned)WM_DISASSEMBLE_REASSEMBLABLE)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "flags are 0x%x; expected 0 or WM_DISASSEMBLE_REASSEMBLABLE",
                        flags);
    *disassembler = target ? wmi_disassembler_create(target, flags) : NULL;
    if (!target)
        return wmi_fail(diag, WM_NOT_FOUND, "unknown target '%s'; expected a gfx name such as gfx900",
                        target_name ? target_name : "");
    return *disassembler ? WM_OK : wmi_fail(diag, WM_NO_MEMORY, "no memory for a disassembler");
}

void wm_disassembler_destroy(struct wm_disassembler *disassembler)
{
    free(disassembler);
}

/* ---- matrices ---- */

/* 0: there is none of this name. */
static enum wmi_matrix_element find_element(const char *name)
{
    unsigned element = WMI_ELEMENT_COUNT;
    while (name && --element && strcmp(wmi_element_names[element], name) != 0)
        ;
    return (enum wmi_matrix_element)(name ? element : 0);
}

bool wm_isa_product(const struct wm_instruction *instruction, struct wm_isa_matrix *out)
{
    static const char *const formats[] = {"fp8", "bf8", "fp6", "bf6", "fp4"};
    if (!instruction || !wm_isa_matrix(instruction->row, out))
        return false;
    const bool selects = !strcmp(out->a, wmi_element_names[WMI_ELEMENT_f8f6f4]);
    if (selects)
        out->a = out->b = formats[0];
    for (unsigned i = 0; i < instruction->modifier_count && selects; i++) {
        const struct wm_modifier *modifier = &instruction->modifier[i];
        const bool exists = modifier->value >= 0 && modifier->value < (int)(sizeof formats / sizeof *formats);
        if (exists && (!strcmp(modifier->name, "cbsz") || !strcmp(modifier->name, "matrix_a_fmt")))
            out->a = formats[modifier->value];
        if (exists && (!strcmp(modifier->name, "blgp") || !strcmp(modifier->name, "matrix_b_fmt")))
            out->b = formats[modifier->value];
    }
    return true;
}

bool wm_isa_element(const char *target, const char *type, uint64_t code, double *value)
{
    const struct wmi_target *on = wmi_target_find(target);
    const enum wmi_matrix_element element = find_element(type);
    const bool ocp = on && wmi_target_limit(on, WMI_LIMIT_fp8_ocp);
    uint32_t word = (uint32_t)code;
    float single;
    if (!on || !element || element == WMI_ELEMENT_f8f6f4 || !value)
        return false;
    switch (element) {
    case WMI_ELEMENT_f64:
        memcpy(value, &code, sizeof *value);
        return true;
    case WMI_ELEMENT_i32:
        *value = (int32_t)word;
        return true;
    case WMI_ELEMENT_i8:
        *value = (int8_t)word;
        return true;
    case WMI_ELEMENT_iu8:
    case WMI_ELEMENT_iu4:
        *value = word & ((1u << wmi_element_bits(element)) - 1);
        return true;
    case WMI_ELEMENT_f16:
        word = wmi_f32_of_small(word, WMI_SMALL_F16);
        break;
    case WMI_ELEMENT_bf16:
    case WMI_ELEMENT_bf16f32:
        word = wmi_f32_of_small(word, WMI_SMALL_BF16);
        break;
    case WMI_ELEMENT_fp8:
        word = wmi_f32_of_small(word, ocp ? WMI_FP8_OCP : WMI_FP8_FNUZ);
        break;
    case WMI_ELEMENT_bf8:
        word = wmi_f32_of_small(word, ocp ? WMI_BF8_OCP : WMI_BF8_FNUZ);
        break;
    case WMI_ELEMENT_fp6:
        word = wmi_f32_of_small(word, WMI_FP6);
        break;
    case WMI_ELEMENT_bf6:
        word = wmi_f32_of_small(word, WMI_BF6);
        break;
    case WMI_ELEMENT_fp4:
        word = wmi_f32_of_small(word, WMI_FP4);
        break;
    default: /* f32, xf32 */
        break;
    }
    memcpy(&single, &word, sizeof single);
    *value = (double)single;
    return true;
}

bool wm_isa_matrix_extent(const char *target, size_t row, enum wm_matrix matrix, const char *format,
                          unsigned *lines, unsigned *columns)
{
    const struct wmi_target *on = wmi_target_find(target);
    unsigned extent[2];
    if (!on || row >= WMI_INSN_COUNT - 1 || (unsigned)matrix > WM_MATRIX_D || !lines || !columns ||
        !wmi_target_has(on, (unsigned)row + 1) ||
        !wmi_matrix_extent(on, (unsigned)row + 1, (enum wmi_matrix_side)matrix, find_element(format), extent))
        return false;
    *lines = extent[0];
    *columns = extent[1];
    return true;
}

bool wm_isa_matrix_place(const char *target, size_t row, enum wm_matrix matrix, const char *format,
                         unsigned block, unsigned line, unsigned column, struct wm_matrix_place *out)
{
    unsigned lines, columns;
    if (!out || !wm_isa_matrix_extent(target, row, matrix, format, &lines, &columns) || line >= lines ||
        column >= columns || block >= wmi_matrix_of((unsigned)row + 1)->blocks)
        return false;
    const struct wmi_matrix_place place =
        wmi_matrix_place(wmi_target_find(target), (unsigned)row + 1, (enum wmi_matrix_side)matrix,
                         find_element(format), block, line, column);
    *out = (struct wm_matrix_place){place.lane, place.dword, place.bit, place.bits};
    return true;
}
