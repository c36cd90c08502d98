/* SPDX-License-Identifier: MIT */
/* What code has set where an instruction is reached: the upper bits of VGPR numbers of gfx1250. */
#include "isa/decode/msb.h"
#include "object/object.h"
#include "object/parts.h"

#include <stdlib.h>
#include <string.h>

/* Follows the functions of a range of code, or what there is without symbols. False: no memory. */
static bool follow(const struct wm_object *object, const struct wm_code *code, const uint32_t *words,
                   uint16_t *state)
{
    const size_t count = code->size / sizeof *words;
    for (size_t i = 0; i < count; i++)
        state[i] = WMI_MSB_UNREACHED;
    bool good = wmi_follow_msb(object->target, words, count, 0, state);
    for (size_t i = 0; i < object->symbol_count && good; i++) {
        const struct wmi_symbol *symbol = &object->symbols[i];
        const uint64_t offset = symbol->address - code->address;
        if (symbol->kind == WMI_SYMBOL_FUNCTION && offset < code->size && offset % sizeof *words == 0)
            good = wmi_follow_msb(object->target, words, count, offset / sizeof *words, state);
    }
    return good;
}

static uint16_t *states_of(const struct wm_object *object, const struct wm_code *code)
{
    uint32_t *words = malloc(code->size + 1); /* aligned, as in the file they need not be */
    uint16_t *state = malloc((code->size / sizeof *words + 1) * sizeof *state);
    if (words && code->size)
        memcpy(words, code->bytes, code->size);
    if (!words || !state || !follow(object, code, words, state)) {
        free(state);
        state = NULL;
    }
    free(words);
    return state;
}

static void find_states(const struct wm_object *object, struct wmi_lazy *lazy)
{
    lazy->has_states = true;
    lazy->states = calloc(object->code_count + 1, sizeof(*lazy->states));
    uint64_t left = object->size; /* hostile files have ranges that overlap */
    for (size_t i = 0; i < object->code_count && lazy->states && object->code[i].size <= left; i++) {
        left -= object->code[i].size;
        lazy->states[i] = states_of(object, &object->code[i]);
    }
}

unsigned wm_object_state(const struct wm_object *object, uint64_t address)
{
    if (!object || !object->target || !wmi_target_limit(object->target, WMI_LIMIT_vgpr_msb))
        return 0;
    struct wmi_lazy *lazy = object->lazy;
    pthread_mutex_lock(&lazy->lock);
    if (!lazy->has_states)
        find_states(object, lazy);
    pthread_mutex_unlock(&lazy->lock);
    for (size_t i = 0; i < object->code_count && lazy->states; i++) {
        const uint64_t offset = address - object->code[i].address;
        if (offset >= object->code[i].size / sizeof(uint32_t) * sizeof(uint32_t) || !lazy->states[i])
            continue;
        const unsigned state = lazy->states[i][offset / sizeof(uint32_t)];
        return state < WMI_MSB_UNREACHED ? state : 0;
    }
    return 0;
}

void wmi_states_free(struct wm_object *object)
{
    for (size_t i = 0; i < object->code_count && object->lazy->states; i++)
        free(object->lazy->states[i]);
    free(object->lazy->states);
}
