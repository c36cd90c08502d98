/* SPDX-License-Identifier: MIT */
/* Code: addresses, symbols, source lines, inlined functions, instructions; and how the user names them. */
#include "tool/debug/places.h"

#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what an address is ---- */

bool debug_bias(const struct debug_session *s, const struct wm_object *object, uint64_t *bias)
{
    uint64_t entry, size;
    const struct wm_kernel *kernel = wm_object_kernel(object, 0);
    *bias = s->bias;
    if (s->source->launches)
        return true;
    if (!kernel || wm_symbol(s->machine, object, kernel->name, &entry, &size, NULL) != WM_OK)
        return false;
    *bias = entry - kernel->entry;
    return true;
}

static bool is_code(const struct wm_object *object, uint64_t address)
{
    struct wm_code code[16];
    size_t count = wm_object_code(object, code, 16);
    for (size_t i = 0; i < count && i < 16; i++)
        if (address >= code[i].address && address - code[i].address < code[i].size)
            return true;
    return false;
}

struct debug_place debug_place_of(const struct debug_session *s, uint64_t pc)
{
    struct debug_place place = {0};
    for (size_t i = 0; i < s->job->opened_count && !place.object; i++) {
        const struct wm_object *object = s->job->opened[i].object;
        uint64_t bias;
        if (!debug_bias(s, object, &bias) || !is_code(object, pc - bias))
            continue;
        place.object = object;
        place.address = pc - bias;
        place.bias = bias;
        place.symbol = wm_object_symbol(object, place.address, &place.offset);
        if (!wm_object_line(object, place.address, &place.file, &place.line, &place.column))
            place.file = NULL;
    }
    return place;
}

const char *debug_symbol_text(const struct debug_place *place, char text[DEBUG_TEXT])
{
    char name[TOOL_NAME];
    if (!place->symbol)
        snprintf(text, DEBUG_TEXT, "0x%" PRIx64, place->address + place->bias);
    else if (place->offset)
        snprintf(text, DEBUG_TEXT, "%.480s+0x%" PRIx64, tool_name(place->symbol, name), place->offset);
    else
        snprintf(text, DEBUG_TEXT, "%.480s", tool_name(place->symbol, name));
    return text;
}

static const struct wm_target *target_of(const struct debug_session *s, const struct wm_object *object)
{
    char name[64];
    const char *target = wm_object_target(object);
    const bool wide = debug_dispatch(s)->kernel && debug_dispatch(s)->kernel->wave_size == 64;
    snprintf(name, sizeof name, "%.40s%s", target, wide ? ":wave64" : "");
    const struct wm_target *found = wm_target(name);
    return found ? found : wm_target(target);
}

unsigned debug_instruction(const struct debug_session *s, uint64_t pc, struct wm_instruction *instruction,
                           char text[DEBUG_TEXT])
{
    const bool here = s->state == DEBUG_STOPPED && pc == s->wave.pc;
    const struct debug_place place = debug_place_of(s, pc);
    return debug_instruction_in(s, pc, here ? s->wave.state : wm_object_state(place.object, place.address),
                                instruction, text);
}

unsigned debug_instruction_in(const struct debug_session *s, uint64_t pc, unsigned state,
                              struct wm_instruction *instruction, char text[DEBUG_TEXT])
{
    struct wm_instruction unused;
    uint32_t words[WM_INSTRUCTION_DWORDS + 3];
    unsigned count = 0;
    const struct debug_place place = debug_place_of(s, pc);
    instruction = instruction ? instruction : &unused;
    *instruction = (struct wm_instruction){0};
    if (text)
        snprintf(text, DEBUG_TEXT, "(bad)");
    if (!place.object)
        return 0;
    while (count < sizeof words / sizeof *words &&
           wm_read(s->machine, pc + 4 * count, &words[count], 4, NULL) == WM_OK)
        count++;
    const unsigned dwords = wm_decode_in(target_of(s, place.object), words, count, state, instruction);
    if (dwords && text)
        wm_print(instruction, text, DEBUG_TEXT);
    return 4 * dwords;
}

void debug_each_instruction(const struct debug_session *s, debug_visit *visit, void *user)
{
    for (size_t i = 0; i < s->job->opened_count; i++) {
        const struct wm_object *object = s->job->opened[i].object;
        struct wm_code code[16];
        uint64_t bias;
        const size_t count = wm_object_code(object, code, 16);
        if (!debug_bias(s, object, &bias))
            continue;
        for (size_t c = 0; c < count && c < 16; c++)
            for (uint64_t at = 0; at + 4 <= code[c].size;) {
                struct wm_instruction instruction;
                const uint64_t pc = code[c].address + at + bias;
                const unsigned bytes = debug_instruction(s, pc, &instruction, NULL);
                const struct debug_place place = debug_place_of(s, pc);
                if (bytes && !visit(user, &place, pc, &instruction))
                    return;
                at += bytes ? bytes : 4;
            }
    }
}

/* ---- frames ---- */

unsigned debug_depth(const struct debug_session *s, uint64_t pc)
{
    const struct debug_place place = debug_place_of(s, pc);
    struct wm_inlined inlined;
    unsigned depth = 0;
    while (place.object && depth < DEBUG_FRAMES &&
           wm_object_inlined(place.object, place.address, depth, &inlined))
        depth++;
    return depth;
}

unsigned debug_frames(const struct debug_session *s, uint64_t pc, struct debug_frame frames[DEBUG_FRAMES])
{
    const struct debug_place place = debug_place_of(s, pc);
    const char *file = place.file;
    unsigned line = place.line, column = place.column, count = 0;
    for (;;) {
        struct debug_frame *frame = &frames[count];
        struct wm_inlined inlined;
        *frame = (struct debug_frame){.pc = pc, .file = file, .line = line, .column = column, .depth = count};
        if (count + 1 < DEBUG_FRAMES && place.object &&
            wm_object_inlined(place.object, place.address, count, &inlined)) {
            frame->inlined = true;
            frame->function = *inlined.function ? inlined.function : "??";
            file = inlined.call_file;
            line = inlined.call_line;
            column = inlined.call_column;
            count++;
            continue;
        }
        frame->function = place.symbol ? tool_name(place.symbol, frame->name) : "??";
        return count + 1;
    }
}

/* ---- source files ---- */

struct debug_text {
    char *name;
    bool read;
    struct tool_source source;
};

static const struct debug_text *text_of(struct debug_session *s, const char *file)
{
    for (size_t i = 0; i < s->text_count; i++)
        if (!strcmp(s->texts[i].name, file))
            return &s->texts[i];
    struct debug_text *larger = realloc(s->texts, (s->text_count + 1) * sizeof *larger);
    if (!larger)
        return NULL;
    s->texts = larger;
    struct debug_text *text = &larger[s->text_count];
    *text = (struct debug_text){.name = strdup(file)};
    if (!text->name)
        return NULL;
    text->read = tool_source_read(&s->sources, file, &text->source) == TOOL_SOURCE_READ;
    s->text_count++;
    return text;
}

const char *debug_source_line(struct debug_session *s, const char *file, unsigned line)
{
    const struct debug_text *text = text_of(s, file);
    return text && text->read && line && line <= text->source.count ? text->source.line[line - 1] : NULL;
}

void debug_free_texts(struct debug_session *s)
{
    for (size_t i = 0; i < s->text_count; i++) {
        if (s->texts[i].read)
            tool_source_free(&s->texts[i].source);
        free(s->texts[i].name);
    }
    free(s->texts);
}
