/* SPDX-License-Identifier: MIT */
/* Assembles a file: parses it, resolves forward references, and links. */
#include "assembler/assembler.h"

#include "assembler/parts.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_file(struct wmi_assembler *a, const char *text, size_t size,
                      const struct wmi_assemble_options *options)
{
    const char *begin, *end;
    wmi_asm_push_file(a, options->name, text, size);
    a->text = a->section = wmi_asm_section(a, ".text", 5, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR);
    a->text->alignment = 4;
    wmi_asm_define_counts(a);
    for (size_t i = 0; i < options->symbol_count; i++)
        wmi_asm_define_number(a, options->symbols[i]);
    while (wmi_asm_next_line(a, &begin, &end))
        wmi_asm_line(a, begin, end);
    if (!a->gave_up) /* else undefined symbols may be due to input not read */
        wmi_asm_read_late(a);
}

static void close_messages(struct wmi_assembler *a)
{
    char more[64];
    if (a->errors > WMI_ASM_MESSAGES) {
        const int n = snprintf(more, sizeof more, "and: %u errors more\n", a->errors - WMI_ASM_MESSAGES);
        wmi_asm_append(a, &a->messages, more, (size_t)n);
    }
    wmi_asm_append(a, &a->messages, "", 1);
}

static void free_all(struct wmi_assembler *a)
{
    for (struct wmi_asm_section *s = a->sections; s; s = s->next)
        free(s->bytes.data);
    if (a->open_file)
        fclose(a->open_file);
    wmi_asm_free_lines(a);
    wmi_asm_free_frames(a);
    free(a->scratch.data);
    free(a->repeated.data);
    free(a->metadata.data);
    free(a->out.data);
    wmi_arena_free(&a->arena);
    free(a);
}

static enum wm_status assemble_once(const char *text, size_t size, const struct wmi_assemble_options *options,
                                    struct wmi_asm_sizes *sizes, uint8_t **bytes, size_t *bytes_size,
                                    char **messages)
{
    struct wmi_assembler *a = calloc(1, sizeof *a);
    volatile enum wm_status status = WM_OK;
    *bytes = NULL;
    *messages = NULL;
    *bytes_size = 0;
    if (!a)
        return WM_NO_MEMORY;
    a->place.name = options->name;
    a->target = wmi_target_find(options->target);
    a->target_id = options->target;
    a->reads_files = options->reads_files;
    a->is_raw = options->raw;
    a->own_lines = options->lines && !options->raw;
    a->folders = options->folders;
    a->folder_count = options->folder_count;
    a->code_object_version = 5;
    a->last_symbol = &a->first_symbol;
    a->last_late = &a->late;
    a->sizes = sizes;
    a->resolver = (struct wmi_symbols){.find = wmi_asm_find_symbol, .call = wmi_asm_call, .user = a};
    if (!a->target) {
        status = WM_NOT_FOUND;
    } else if (setjmp(a->no_memory)) {
        status = WM_NO_MEMORY;
    } else {
        a->patterns = wmi_asm_allocate(a, 1, WMI_PATTERNS_BYTES);
        read_file(a, text, size, options);
        if (!a->errors && options->raw)
            wmi_asm_resolve_raw(a);
        if (!a->errors && options->raw) {
            a->out = a->text->bytes;
            a->text->bytes = (struct wmi_bytes){0};
        } else if (!a->errors) {
            wmi_asm_write_frames(a);
            wmi_asm_write_lines(a);
            wmi_asm_write_unit(a);
            wmi_asm_link(a);
        }
        close_messages(a);
        status = a->errors ? WM_BAD_FILE : WM_OK;
    }
    if (status == WM_OK) {
        *bytes = a->out.data ? a->out.data : calloc(1, 1);
        *bytes_size = a->out.size;
        a->out.data = NULL;
    }
    *messages = (char *)a->messages.data;
    free_all(a);
    return *bytes || status ? status : WM_NO_MEMORY;
}

enum wm_status wmi_assemble_file(const char *text, size_t size, const struct wmi_assemble_options *options,
                                 uint8_t **bytes, size_t *bytes_size, char **messages)
{
    enum { MOST_READINGS = 32 };
    struct wmi_asm_sizes sizes = {0};
    enum wm_status status = assemble_once(text, size, options, &sizes, bytes, bytes_size, messages);
    for (unsigned readings = 1; sizes.grew && status != WM_NO_MEMORY && readings < MOST_READINGS;
         readings++) {
        free(*bytes);
        free(*messages);
        sizes.grew = false;
        sizes.last = readings + 1 == MOST_READINGS;
        status = assemble_once(text, size, options, &sizes, bytes, bytes_size, messages);
    }
    free(sizes.bytes);
    return status;
}
