/* SPDX-License-Identifier: MIT */
/* Initial registers of a dispatch, from text. */
#include "tool/arguments/registers.h"

#include "tool/arguments/places.h"
#include "tool/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LANES = 64, FIRST_LIMIT = 100000 /* of register numbers; the library knows the real one */ };

/* What registers can hold besides values. */
static const struct {
    const char *name;
    enum wm_start_kind kind;
    unsigned words;
} kinds[] = {
    {"workgroup-id-x", WM_START_WORKGROUP_ID_X, 1}, {"workgroup-id-y", WM_START_WORKGROUP_ID_Y, 1},
    {"workgroup-id-z", WM_START_WORKGROUP_ID_Z, 1}, {"workgroup-id-yz", WM_START_WORKGROUP_ID_YZ, 1},
    {"workgroup-info", WM_START_WORKGROUP_INFO, 1}, {"wave-id", WM_START_WAVE_ID, 1},
    {"arguments", WM_START_ARGUMENTS, 2},           {"scratch-address", WM_START_SCRATCH_ADDRESS, 2},
    {"scratch-offset", WM_START_SCRATCH_OFFSET, 1}, {"workitem-id-x", WM_START_WORKITEM_ID_X, 1},
    {"workitem-id-y", WM_START_WORKITEM_ID_Y, 1},   {"workitem-id-z", WM_START_WORKITEM_ID_Z, 1},
    {"workitem-ids", WM_START_WORKITEM_IDS, 1},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The kind that the text names up to a comma or its end; KINDS: none. */
static size_t kind_at(const char *text)
{
    const size_t length = strcspn(text, ",");
    size_t i = 0;
    while (i < KINDS && (strlen(kinds[i].name) != length || strncmp(kinds[i].name, text, length)))
        i++;
    return i;
}

/* If the text resembles a kind, no expression was meant. */
static void explain_misspelled_kind(const char *text, struct wm_diag *diag)
{
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(text, ","), text);
    const char *nearest = tool_nearest(word, &kinds[0].name, KINDS, sizeof kinds[0]);
    if (nearest)
        tool_because(diag, "'%s' is nothing that a register holds; did you mean %s?", word, nearest);
}

/* ---- names ---- */

/* "s4", "s[4:7]", "v3", "vcc": `count` registers from `first` on. */
struct span {
    char prefix[20]; /* "s"; the whole name if it has no number */
    bool numbered, vector;
    unsigned first, count; /* count 0: as many as there are values */
};

static bool read_number(const char **text, unsigned *number)
{
    *number = 0;
    if (**text < '0' || **text > '9')
        return false;
    for (; **text >= '0' && **text <= '9'; ++*text)
        if ((*number = *number * 10 + (unsigned)(**text - '0')) >= FIRST_LIMIT)
            return false;
    return true;
}

/* Masks have as many bits as a wave has lanes. */
static unsigned words_of(const char *name, unsigned lanes)
{
    static const struct {
        const char *name;
        bool mask;
    } pairs[] = {{"vcc", true}, {"exec", true}, {"flat_scratch", false}, {"xnack_mask", false}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (!strcasecmp(name, pairs[i].name))
            return pairs[i].mask ? lanes / 32 : 2;
    return 1;
}

static bool read_span(const struct tool_pair *pair, unsigned lanes, struct span *span, struct wm_diag *diag)
{
    const char *prefix = !strcmp(pair->option, "--sgpr") ? "s" : !strcmp(pair->option, "--vgpr") ? "v" : "";
    const char *at = pair->key;
    unsigned last;
    *span = (struct span){0};
    if (!*prefix) {
        const size_t letters = strcspn(at, "[");
        size_t length = letters;
        while (at[letters] != '[' && length && at[length - 1] >= '0' && at[length - 1] <= '9')
            length--;
        if (length >= sizeof span->prefix)
            return tool_because(diag, "no register has so long a name");
        /* m0 has its digit in its name, and "vcc_lo" has none. */
        const bool named = at[letters] != '[' && (length == letters || !strcasecmp(at, "m0"));
        memcpy(span->prefix, at, named ? letters : length);
        if (named) {
            span->count = words_of(span->prefix, lanes);
            return true;
        }
        at += length;
    } else {
        memcpy(span->prefix, prefix, strlen(prefix));
    }
    span->numbered = true;
    span->vector = !strcasecmp(span->prefix, "v") || !strcasecmp(span->prefix, "a");
    if (*at != '[') {
        if (read_number(&at, &span->first) && !*at)
            return true;
        return tool_because(diag, "expected the number of a register, such as %s 4=0", pair->option);
    }
    at++;
    if (!read_number(&at, &span->first) || *at++ != ':' || !read_number(&at, &last) || *at++ != ']' || *at ||
        last < span->first)
        return tool_because(diag, "expected registers such as s[4:7]");
    span->count = last - span->first + 1;
    return true;
}

static void name_register(const struct span *span, unsigned index, char *name, size_t size)
{
    if (span->numbered)
        snprintf(name, size, "%s%u", span->prefix, span->first + index);
    else
        snprintf(name, size, "%s%s", span->prefix, index ? "_hi" : "");
}

/* ---- values ---- */

/* Adds a register; `count` values, which it copies, or none for a kind. */
static bool add(struct tool_start *start, const struct span *span, unsigned index, enum wm_start_kind kind,
                const uint32_t *values, size_t count, struct wm_diag *diag)
{
    const size_t i = start->start.register_count;
    if (i == start->room) {
        const size_t room = start->room * 2 + 16;
        void *registers = realloc(start->registers, room * sizeof *start->registers);
        start->registers = registers ? registers : start->registers;
        void *names = realloc(start->names, room * sizeof *start->names);
        start->names = names ? names : start->names;
        void *lists = realloc(start->values, room * sizeof *start->values);
        start->values = lists ? lists : start->values;
        if (!registers || !names || !lists)
            return tool_because(diag, "out of memory");
        start->room = room;
    }
    start->values[i] = count ? malloc(count * sizeof *values) : NULL;
    if (count && !start->values[i])
        return tool_because(diag, "out of memory");
    if (count)
        memcpy(start->values[i], values, count * sizeof *values);
    name_register(span, index, start->names[i].name, sizeof start->names[i].name);
    start->registers[i] = (struct wm_start_register){.kind = kind, .count = count};
    start->start.register_count++;
    return true;
}

/* Reads one item for all lanes, and adds its words to the registers from `index` on. */
static bool add_item(struct tool_start *start, const struct span *span, unsigned lanes, unsigned *index,
                     const char **text, struct tool_item_rules rules, struct wm_diag *diag)
{
    uint32_t values[WM_DESCRIPTOR_WORDS][LANES];
    struct tool_item item;
    const char *at = *text;
    for (unsigned lane = 0; lane < (span->vector ? lanes : 1); lane++) {
        at = *text;
        rules.lane = span->vector ? (int)lane : -1;
        if (!tool_read_item(&at, &rules, &item, diag)) {
            explain_misspelled_kind(*text, diag);
            return false;
        }
        for (unsigned w = 0; w < item.count; w++)
            values[w][lane] = item.words[w];
    }
    *text = at;
    for (unsigned w = 0; w < item.count; w++)
        if (!add(start, span, (*index)++, WM_START_VALUES, values[w], span->vector ? lanes : 1, diag))
            return false;
    return true;
}

static bool is_npy(const char *text)
{
    const size_t length = strlen(text);
    return text[0] == '@' && length > 5 && !strcmp(text + length - 4, ".npy");
}

/* Each value of the file has a word for each register. The library checks how many values there are. */
static bool add_file(struct tool_start *start, const struct span *span, const char *text,
                     struct wm_diag *diag)
{
    const unsigned count = span->count ? span->count : 1;
    struct tool_array array;
    if (!tool_array_parse(text, &array, diag))
        return false;
    const size_t size = tool_array_size(&array), values = size / sizeof(uint32_t) / count;
    bool good = array.type->size >= sizeof(uint32_t) && size % (sizeof(uint32_t) * count) == 0;
    if (!good)
        tool_because(diag,
                     "%s: the elements are %s; expected words of 32 bits, one per lane for each register",
                     text + 1, array.type->name);
    uint32_t *column = good ? malloc(size) : NULL;
    if (good && !column)
        good = tool_because(diag, "out of memory");
    for (unsigned r = 0; r < count && good; r++) {
        for (size_t i = 0; i < values; i++)
            memcpy(&column[i], array.bytes + (i * count + r) * sizeof(uint32_t), sizeof(uint32_t));
        good = add(start, span, r, WM_START_VALUES, column, values, diag);
    }
    free(column);
    tool_array_free(&array);
    return good;
}

static bool add_list(struct tool_start *start, const struct span *span, unsigned lanes, const char *text,
                     struct tool_item_rules rules, struct wm_diag *diag)
{
    unsigned index = 0;
    rules.pair = span->count == 2 && !strchr(text, ',');
    for (;; text++) {
        const size_t kind = kind_at(text);
        if (kind == KINDS) {
            if (!add_item(start, span, lanes, &index, &text, rules, diag))
                return false;
        } else {
            text += strlen(kinds[kind].name);
            if (!add(start, span, index, kinds[kind].kind, NULL, 0, diag))
                return false;
            index += kinds[kind].words;
        }
        if (index > FIRST_LIMIT)
            return tool_because(diag, "more values than registers");
        if (!*text)
            break;
    }
    return !span->count || index == span->count ||
           tool_because(diag, "%u word%s for %u register%s", index, index == 1 ? "" : "s", span->count,
                        span->count == 1 ? "" : "s");
}

static bool add_pair(struct tool_start *start, const struct tool_pair *pair, unsigned lanes,
                     const struct tool_item_rules *rules, struct wm_diag *diag)
{
    struct span span;
    if (!read_span(pair, lanes, &span, diag))
        return false;
    return span.vector && is_npy(pair->value) ? add_file(start, &span, pair->value, diag)
                                              : add_list(start, &span, lanes, pair->value, *rules, diag);
}

bool tool_start_make(struct tool_job *job, size_t index, struct wm_machine *machine, struct tool_start *start,
                     struct wm_diag *diag)
{
    const struct tool_dispatch *d = &job->dispatches[index];
    struct tool_scope scope = {job, index, machine};
    const struct tool_names names = {tool_find_place, &scope};
    const struct tool_item_rules rules = {.names = &names, .target = tool_job_target(job)};
    *start = (struct tool_start){.start = {.struct_size = sizeof start->start}};
    for (size_t i = d->registers_from; i <= index; i++)
        for (size_t p = 0; p < job->dispatches[i].registers.count; p++) {
            const struct tool_pair *pair = &job->dispatches[i].registers.pairs[p];
            struct wm_diag why;
            if (!add_pair(start, pair, d->kernel->wave_size, &rules, &why))
                return tool_because(diag, "%s %.40s=%.60s: %s", pair->option, pair->key, pair->value,
                                    why.message);
        }
    for (size_t i = 0; i < start->start.register_count; i++) {
        start->registers[i].name = start->names[i].name;
        start->registers[i].values = start->values[i];
    }
    start->start.bare = d->bare;
    start->start.scratch_bytes = d->scratch;
    start->start.registers = start->registers;
    start->given = d->bare || d->scratch || start->start.register_count;
    return true;
}

void tool_start_free(struct tool_start *start)
{
    for (size_t i = 0; i < start->start.register_count; i++)
        free(start->values[i]);
    free(start->registers);
    free(start->names);
    free(start->values);
    *start = (struct tool_start){0};
}

int tool_check_start(struct tool_job *job, size_t index)
{
    struct tool_start start;
    struct wm_diag diag;
    const bool good = tool_start_make(job, index, NULL, &start, &diag);
    tool_start_free(&start);
    return good ? TOOL_CLEAN : tool_fail("%s%s", job->dispatches[index].where, diag.message);
}
