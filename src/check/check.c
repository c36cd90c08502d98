/* SPDX-License-Identifier: MIT */
/* Checks each wave for missing waits and hazards; keeps one finding per instruction and rule.
 *
 * Findings do not depend on the number of threads: occurrences are summed, and the details shown are those
 * that sort first by register and first instruction. After a missing wait the model continues as if the wave
 * had waited, so that each missing wait gives one finding. */
#include "check/check.h"

#include "check/hazard_state.h"
#include "check/wait_state.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum rule { READ_EARLY, OVERWRITTEN_EARLY, HELD_OVERWRITTEN, FIRST_HAZARD };

enum {
    CHUNK = 1 << 10, /* instructions; chunks never move, because workers read them without a lock */
    CHUNKS = 1 << 12,
    TEXT = 256,
    MESSAGE = 1024,
};

struct instruction {
    uint64_t pc;
    struct wmi_wait_facts waits;
    struct wmi_hazard_facts hazards;
    struct wmi_span_of_registers span[WMI_SPANS];
    uint8_t spans;
    bool ends;
};

struct found {
    uint64_t pc, first_pc; /* the instruction, and the earlier one that it depends on */
    uint64_t count;
    uint64_t distance; /* instructions between them */
    int reg;           /* or -1 */
    uint16_t rule;     /* enum rule, or FIRST_HAZARD + enum wmi_hazard_kind */
    uint8_t counter;
    unsigned value; /* waits: required maximum of the counter; hazards: missing wait states */
};

/* Hash table of findings by pc and rule: open addressing, at most half full. */
struct findings {
    struct found *entry;
    size_t count, capacity;
};

struct wave {
    struct wave *next_free, *next;
    struct wmi_wait_state waits;
    struct wmi_hazard_state hazards;
};

struct shard { /* of a worker thread */
    struct wm_check *check;
    struct findings findings;
    struct wave *waves, *unused;
    bool missed;       /* out of memory: findings are incomplete */
    struct wave *last; /* the wave that executed last, and its instruction */
    const struct instruction *last_insn;
};

struct wm_check {
    bool busy;
    unsigned what;
    struct wmi_observer observer;
    const struct wmi_target *target;
    struct instruction *chunk[CHUNKS];
    uint32_t instructions;
    const char *missed;       /* why the check is incomplete, or NULL */
    struct findings findings; /* of all dispatches */
    struct wording {
        unsigned rule;
        char *message, *kernel, *text, *file;
        struct wm_finding row;
    } *wordings;
    struct wm_finding *rows;
    size_t worded;
    pthread_mutex_t lock;
};

static const char no_memory[] = "no memory for all that was to be checked";

/* ---- sets of findings ---- */

static struct found *slot_of(const struct findings *set, uint64_t pc, unsigned rule)
{
    size_t at = (pc * 31 + rule) * 0x9e3779b97f4a7c15ULL >> 32;
    while (set->entry[at % set->capacity].count &&
           (set->entry[at % set->capacity].pc != pc || set->entry[at % set->capacity].rule != rule))
        at++;
    return &set->entry[at % set->capacity];
}

static bool make_room(struct findings *set)
{
    if (2 * (set->count + 1) <= set->capacity)
        return true;
    struct findings larger = {.capacity = set->capacity ? 2 * set->capacity : 64, .count = set->count};
    larger.entry = calloc(larger.capacity, sizeof *larger.entry);
    if (!larger.entry)
        return false;
    for (size_t i = 0; i < set->capacity; i++)
        if (set->entry[i].count)
            *slot_of(&larger, set->entry[i].pc, set->entry[i].rule) = set->entry[i];
    free(set->entry);
    *set = larger;
    return true;
}

/* Picks which of two findings to show. Depends on their contents only, so that threads make no difference. */
static bool shows_before(const struct found *a, const struct found *b)
{
    if (a->reg != b->reg)
        return a->reg < b->reg;
    if (a->first_pc != b->first_pc)
        return a->first_pc < b->first_pc;
    if (a->counter != b->counter)
        return a->counter < b->counter;
    return a->value != b->value ? a->value < b->value : a->distance < b->distance;
}

/* Returns false if out of memory. */
static bool add_found(struct findings *set, const struct found *found)
{
    if (!make_room(set))
        return false;
    struct found *slot = slot_of(set, found->pc, found->rule);
    const uint64_t count = slot->count + found->count;
    set->count += slot->count == 0;
    if (slot->count == 0 || shows_before(found, slot))
        *slot = *found;
    slot->count = count;
    return true;
}

/* ---- waves ---- */

static const struct instruction *instruction_of(const struct wm_check *check, uint32_t number)
{
    return &check->chunk[number / CHUNK][number % CHUNK];
}

static struct wave *new_wave(struct shard *shard)
{
    struct wave *wave = shard->unused, *next;
    if (wave) {
        shard->unused = wave->next_free;
        next = wave->next;
        memset(wave, 0, sizeof *wave);
    } else {
        if (!(wave = calloc(1, sizeof *wave)))
            return NULL;
        next = shard->waves;
        shard->waves = wave;
    }
    wave->next = next;
    wave->waits.target = wave->hazards.target = shard->check->target;
    return wave;
}

/* Adds a finding and continues as if the wave had waited. */
static void add_missing_wait(struct shard *shard, struct wave *wave, const struct instruction *insn,
                             enum rule rule, unsigned reg, const struct wmi_not_ready *why)
{
    struct wmi_wait_facts waited = {.waits = true};
    shard->missed |= !add_found(&shard->findings,
                                &(struct found){.pc = insn->pc,
                                                .first_pc = instruction_of(shard->check, why->number)->pc,
                                                .count = 1,
                                                .distance = why->distance,
                                                .reg = (int)reg,
                                                .rule = rule,
                                                .counter = why->counter,
                                                .value = why->value});
    memset(waited.limit, UINT8_MAX, sizeof waited.limit);
    waited.limit[why->counter] = (uint8_t)why->value;
    wmi_wait_issue(&wave->waits, &waited, NULL, 0, 0);
    wave->waits.instructions--;
}

/* The instruction's wait limits, including one from a scalar register. */
static struct wmi_wait_facts waits_of(const struct instruction *insn, const uint32_t *scalars)
{
    struct wmi_wait_facts waits = insn->waits;
    for (unsigned i = 0; waits.by_scalar && i < insn->spans; i++)
        if (insn->span[i].role == WMI_ROLE_A && insn->span[i].first < WMI_REGISTER_VGPR)
            wmi_wait_by_scalar(&waits, scalars[insn->span[i].first]);
    return waits;
}

static void check_waits(struct shard *shard, struct wave *wave, const struct instruction *insn,
                        uint32_t number, const uint32_t *scalars)
{
    const struct wmi_wait_facts waits = waits_of(insn, scalars);
    struct wmi_wait_state *state = &wave->waits;
    struct wmi_not_ready why;
    for (unsigned i = 0; i < insn->spans; i++) {
        const struct wmi_span_of_registers *span = &insn->span[i];
        for (unsigned reg = span->first; reg < span->first + span->count; reg++) {
            if (!state->written[reg].count && !state->held[reg].count)
                continue;
            /* Waits on two counters may be missing. */
            while (!wmi_wait_ready(state, reg, &why)) {
                if (span->written && wmi_wait_follows(state, reg, &insn->waits))
                    break;
                add_missing_wait(shard, wave, insn, span->read ? READ_EARLY : OVERWRITTEN_EARLY, reg, &why);
            }
            if (span->written && !wmi_wait_free(state, reg, &why))
                add_missing_wait(shard, wave, insn, HELD_OVERWRITTEN, reg, &why);
        }
    }
    wmi_wait_issue(state, &waits, insn->span, insn->spans, number);
}

static void check_hazards(struct shard *shard, struct wave *wave, const struct instruction *insn,
                          uint32_t number)
{
    struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE];
    const unsigned count =
        wmi_hazard_execute(&wave->hazards, &insn->hazards, insn->span, insn->spans, number, found);
    for (unsigned i = 0; i < count; i++)
        shard->missed |= !add_found(
            &shard->findings, &(struct found){.pc = insn->pc,
                                              .first_pc = instruction_of(shard->check, found[i].number)->pc,
                                              .count = 1,
                                              .reg = found[i].reg,
                                              .rule = (uint16_t)(FIRST_HAZARD + found[i].kind),
                                              .value = found[i].missing});
}

/* ---- the observer ---- */

static uint32_t add_instruction(void *self, uint64_t pc, const struct wmi_instruction *insn)
{
    struct wm_check *check = self;
    const uint32_t number = check->instructions;
    if (number / CHUNK == CHUNKS) {
        check->missed = "too many instructions";
        return UINT32_MAX;
    }
    struct instruction **chunk = &check->chunk[number / CHUNK];
    if (!*chunk && !(*chunk = calloc(CHUNK, sizeof **chunk))) {
        check->missed = no_memory;
        return UINT32_MAX;
    }
    struct instruction *entry = &(*chunk)[number % CHUNK];
    *entry = (struct instruction){.pc = pc,
                                  .waits = wmi_wait_facts_of(check->target, insn),
                                  .hazards = wmi_hazard_facts_of(check->target, insn),
                                  .ends = wmi_rows[insn->id].flags & WMI_ROW_ENDS};
    entry->spans = (uint8_t)wmi_registers_of(check->target, insn, entry->span);
    check->instructions++;
    return number;
}

static void execute(void *local, void **mine, uint32_t number, const uint32_t *scalars)
{
    struct shard *shard = local;
    if (!shard || number == UINT32_MAX)
        return;
    struct wave *wave = *mine ? *mine : new_wave(shard);
    if (!wave) {
        shard->missed = true;
        return;
    }
    *mine = wave;
    const struct instruction *insn = instruction_of(shard->check, number);
    shard->last = wave;
    shard->last_insn = insn;
    if (shard->check->what & WM_CHECK_WAITS)
        check_waits(shard, wave, insn, number, scalars);
    if (shard->check->what & WM_CHECK_HAZARDS)
        check_hazards(shard, wave, insn, number);
    if (insn->ends) {
        wave->next_free = shard->unused;
        shard->unused = wave;
        *mine = NULL;
    }
}

static void *begin_thread(void *self)
{
    struct shard *shard = calloc(1, sizeof *shard);
    if (shard)
        shard->check = self;
    return shard;
}

static void end_thread(void *self, void *local)
{
    struct wm_check *check = self;
    struct shard *shard = local;
    if (!shard)
        return;
    pthread_mutex_lock(&check->lock);
    for (size_t i = 0; i < shard->findings.capacity; i++)
        if (shard->findings.entry[i].count)
            shard->missed |= !add_found(&check->findings, &shard->findings.entry[i]);
    if (shard->missed)
        check->missed = no_memory;
    pthread_mutex_unlock(&check->lock);
    for (struct wave *wave = shard->waves, *next; wave; wave = next) {
        next = wave->next;
        free(wave);
    }
    free(shard->findings.entry);
    free(shard);
}

/* Called for accesses of the last executed instruction: completes the facts of FLAT with its destination. */
static void see_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    struct shard *shard = local;
    bool to_lds = false, to_memory = access->lanes == 0;
    (void)slot;
    if (!shard || !shard->last || access->path != WMI_PATH_FLAT || access->pc != shard->last_insn->pc)
        return;
    for (unsigned i = 0; i < access->elements; i++)
        if (access->element[i].mask)
            *(access->element[i].space == WMI_SPACE_LDS ? &to_lds : &to_memory) = true;
    if (to_lds != to_memory)
        wmi_wait_went(&shard->last->waits, &shard->last_insn->waits, shard->last_insn->span,
                      shard->last_insn->spans, to_lds);
}

static const char *incomplete(void *self)
{
    return ((const struct wm_check *)self)->missed;
}

/* ---- wording ---- */

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

static void word_missing_wait(const struct wm_check *check, const struct found *found, const char *reg,
                              const char *first, char *message)
{
    static const char *const what[] = {
        [READ_EARLY] = "is read before its data is there",
        [OVERWRITTEN_EARLY] = "is overwritten before data on its way has arrived",
        [HELD_OVERWRITTEN] = "is overwritten before it has been read as data",
    };
    char wait[64];
    wmi_wait_text(check->target, found->counter, found->value, wait, sizeof wait);
    snprintf(message, MESSAGE, "%s %s: '%s' is missing after '%s', %" PRIu64 " instruction%s before", reg,
             what[found->rule], wait, first, found->distance + 1, found->distance ? "s" : "");
}

static void word_hazard(const struct found *found, const char *reg, const char *first, char *message)
{
    const struct wmi_hazard *hazard = &wmi_hazards[found->rule - FIRST_HAZARD];
    const char *space = *reg ? " " : "";
    if (found->value)
        snprintf(message, MESSAGE, "%s%s%s: %u wait state%s missing after '%s' ('s_nop %u' between them)",
                 reg, space, hazard->what, found->value, found->value == 1 ? " is" : "s are", first,
                 found->value - 1);
    else
        snprintf(message, MESSAGE, "%s%s%s: '%s' is missing after '%s'", reg, space, hazard->what,
                 hazard->remedy, first);
}

static void forget(struct wording *wording)
{
    free(wording->message);
    free(wording->kernel);
    free(wording->text);
    free(wording->file);
}

/* False: no memory. */
static bool word(struct wm_check *check, const struct found *found, struct wording *wording,
                 wmi_describe *describe, void *user)
{
    static const char *const rules[] = {
        [READ_EARLY] = "read-before-wait",
        [OVERWRITTEN_EARLY] = "write-before-wait",
        [HELD_OVERWRITTEN] = "store-data-before-wait",
    };
    struct wm_profile_row row = {.pc = found->first_pc};
    char first[TEXT], reg[16] = "", message[MESSAGE];
    describe(user, 0, &row);
    snprintf(first, sizeof first, "%s", row.text);
    if (found->reg >= 0)
        wmi_register_name((unsigned)found->reg, reg, sizeof reg);
    if (found->rule < FIRST_HAZARD)
        word_missing_wait(check, found, reg, first, message);
    else
        word_hazard(found, reg, first, message);
    row = (struct wm_profile_row){.pc = found->pc};
    describe(user, 0, &row);
    wording->rule = found->rule;
    wording->message = copy(message);
    wording->kernel = copy(row.kernel);
    wording->text = copy(row.text);
    wording->file = copy(row.file);
    wording->row = (struct wm_finding){
        .rule =
            found->rule < FIRST_HAZARD ? rules[found->rule] : wmi_hazards[found->rule - FIRST_HAZARD].name,
        .source = found->rule < FIRST_HAZARD ? NULL : wmi_hazards[found->rule - FIRST_HAZARD].source,
        .message = wording->message,
        .kernel = wording->kernel,
        .text = wording->text,
        .file = wording->file,
        .line = row.line,
        .column = row.column,
        .pc = found->pc,
        .offset = row.offset,
        .first_pc = found->first_pc,
        .count = found->count,
    };
    if (wording->message && wording->kernel && wording->text && !wording->file == !row.file)
        return true;
    forget(wording);
    return false;
}

/* ---- the checker ---- */

static void forget_wordings(struct wm_check *check)
{
    for (size_t i = 0; i < check->worded; i++)
        forget(&check->wordings[i]);
    free(check->wordings);
    free(check->rows);
    check->wordings = NULL;
    check->rows = NULL;
    check->worded = 0;
}

struct wm_check *wmi_check_create(unsigned what)
{
    struct wm_check *check = calloc(1, sizeof *check);
    if (!check)
        return NULL;
    check->what = what;
    check->observer = (struct wmi_observer){
        .self = check,
        .thread_begin = begin_thread,
        .thread_end = end_thread,
        .access = what & WM_CHECK_WAITS ? see_access : NULL,
        .decoded = add_instruction,
        .execute = execute,
        .incomplete = incomplete,
    };
    pthread_mutex_init(&check->lock, NULL);
    return check;
}

void wmi_check_destroy(struct wm_check *check)
{
    if (!check)
        return;
    forget_wordings(check);
    for (unsigned i = 0; i < CHUNKS; i++)
        free(check->chunk[i]);
    free(check->findings.entry);
    pthread_mutex_destroy(&check->lock);
    free(check);
}

bool *wmi_check_busy(struct wm_check *check)
{
    return &check->busy;
}

const struct wmi_observer *wmi_check_begin(struct wm_check *check, const struct wmi_target *target)
{
    check->target = target;
    check->instructions = 0;
    check->missed = NULL;
    return &check->observer;
}

static int by_place(const void *left, const void *right)
{
    const struct wm_finding *a = &((const struct wording *)left)->row,
                            *b = &((const struct wording *)right)->row;
    if (a->pc != b->pc)
        return (a->pc > b->pc) - (a->pc < b->pc);
    return strcmp(a->rule, b->rule);
}

/* The wording of a finding that an earlier dispatch already had, or NULL. */
static struct wording *wording_of(struct wm_check *check, const struct found *found)
{
    for (size_t i = 0; i < check->worded; i++)
        if (check->wordings[i].row.pc == found->pc && check->wordings[i].rule == found->rule)
            return &check->wordings[i];
    return NULL;
}

void wmi_check_end(struct wm_check *check, wmi_describe *describe, void *user)
{
    const size_t room = check->findings.count + 1;
    struct wording *wordings = realloc(check->wordings, room * sizeof *wordings);
    if (wordings)
        check->wordings = wordings;
    struct wm_finding *rows = realloc(check->rows, room * sizeof *rows);
    if (rows)
        check->rows = rows;
    if (!wordings || !rows) {
        check->missed = no_memory;
        return;
    }
    const size_t known = check->worded;
    for (size_t i = 0; i < check->findings.capacity; i++) {
        const struct found *found = &check->findings.entry[i];
        struct wording *wording = found->count && known ? wording_of(check, found) : NULL;
        if (wording)
            wording->row.count = found->count;
        else if (found->count && word(check, found, &check->wordings[check->worded], describe, user))
            check->worded++;
        else if (found->count)
            check->missed = no_memory;
    }
    qsort(check->wordings, check->worded, sizeof *check->wordings, by_place);
    for (size_t i = 0; i < check->worded; i++)
        check->rows[i] = check->wordings[i].row;
}

const struct wm_finding *wmi_check_findings(struct wm_check *check, size_t *count)
{
    *count = check->worded;
    return check->rows;
}
