/* SPDX-License-Identifier: MIT */
/* Descriptors in registers and memory, with their fields. */
#include "tool/debug/evaluate.h"
#include "tool/debug/show.h"
#include "tool/explain/explain.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    const char *name;
    enum wm_descriptor_kind kind;
    unsigned words;
} kinds[] = {{"buffer", WM_DESCRIPTOR_BUFFER, 4},
             {"image", WM_DESCRIPTOR_IMAGE, 8},
             {"sampler", WM_DESCRIPTOR_SAMPLER, 4}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* "s[4:7]": SGPRs. False without a message: the text has another form. */
static bool read_registers(struct debug_session *s, const char *text, uint32_t words[WM_DESCRIPTOR_WORDS],
                           unsigned *count, bool *is_registers, struct wm_diag *diag)
{
    unsigned first, last;
    int used = 0;
    text += *text == '$';
    *is_registers = sscanf(text, "s[%u:%u]%n", &first, &last, &used) == 2 && used && !text[used];
    if (!*is_registers)
        return true;
    if (last < first || last - first >= WM_DESCRIPTOR_WORDS)
        return tool_because(diag, "A descriptor has four or eight registers: s[4:7], s[8:15].");
    *count = last - first + 1;
    for (unsigned i = 0; i < *count; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%u", first + i);
        if (!debug_get(s, name, &words[i], 1, diag))
            return false;
    }
    return true;
}

static bool read_memory(struct debug_session *s, const char *text, uint32_t words[WM_DESCRIPTOR_WORDS],
                        unsigned count, struct wm_diag *diag)
{
    struct debug_value v;
    if (!debug_evaluate(s, text, s->lane, &v, diag))
        return false;
    const bool place = v.space != DEBUG_NOWHERE && v.space != DEBUG_REGISTER;
    const enum debug_space space = place ? v.space : v.pointer ? v.target_space : DEBUG_GLOBAL;
    return debug_read(s, space, s->lane, place ? v.address : v.bits, words, 4 * (size_t)count, diag);
}

/* Cuts the last word off if it is a kind of descriptor. */
static int take_kind(char *text)
{
    char *word = strrchr(text, ' ');
    for (int i = 0; word && i < KINDS; i++)
        if (!strcmp(word + 1, kinds[i].name)) {
            *word = 0;
            return i;
        }
    return -1;
}

bool debug_print_descriptor(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    char what[DEBUG_TEXT];
    uint32_t words[WM_DESCRIPTOR_WORDS];
    struct wm_descriptor descriptor;
    unsigned count = 0;
    bool is_registers;
    if (!debug_need_wave(s, diag))
        return false;
    if (!*text)
        return tool_because(diag, "Argument required: s[4:7], s[8:15] or an address, and the kind: buffer, "
                                  "image, sampler.");
    snprintf(what, sizeof what, "%s", text);
    int kind = take_kind(what);
    if (!read_registers(s, what, words, &count, &is_registers, diag))
        return false;
    if (kind < 0)
        kind = is_registers && count == 8 ? 1 : 0;
    if (!is_registers) {
        count = kinds[kind].words;
        if (!read_memory(s, what, words, count, diag))
            return false;
    }
    const char *target = wm_object_target(debug_dispatch(s)->object);
    if (wm_descriptor_decode(target, kinds[kind].kind, words, count, &descriptor, diag) != WM_OK)
        return false;
    tool_print_descriptor(s->out, target, &descriptor);
    return true;
}
