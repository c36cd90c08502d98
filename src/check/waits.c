/* SPDX-License-Identifier: MIT */
/* The checker of waits and hazards: tracks each wave's wait counters and the instructions that it issued.
 * After a missing wait the model continues as if the wave had waited, so that each missing wait gives one
 * finding. */
#include "check/checker.h"
#include "check/hazard_memo.h"
#include "check/needless.h"
#include "check/wait_state.h"
#include "exec/dispatch.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 1 << 10, /* instructions; chunks never move, because workers read them without a lock */
    CHUNKS = 1 << 12,
    TEXT = 256,
};

struct instruction {
    uint64_t pc;
    struct wmi_wait_facts waits;
    struct wmi_hazard_facts hazards;
    struct wmi_span_of_registers span[WMI_SPANS];
    uint8_t spans;
    bool ends;
    enum wmi_wait_role role;
    bool masked;    /* it writes VGPRs only in the lanes of EXEC, */
    bool by_lane;   /* and reads them only there */
    uint16_t reach; /* 1 + its highest register */
};

struct wave {
    struct wave *next_free, *next;
    unsigned reach; /* 1 + the highest register that it has used */
    bool idle;      /* all that it has issued is known to be complete */
    struct wmi_wait_state waits;
    struct wmi_last_wait last;
    struct wmi_hazard_wave *hazards; /* NULL: they are not asked for */
};

struct shard { /* of a worker thread */
    struct checker *check;
    struct wmi_hazard_memo *memo; /* or NULL */
    struct wmi_found_set findings;
    bool has_wave; /* the next two are those of the wave that executes */
    uint32_t wave;
    uint64_t group;
    struct wave *waves, *unused;
    struct wmi_wait_use *uses; /* by number of the instruction; with WM_CHECK_NEEDLESS */
    size_t use_count;
    bool missed;       /* out of memory: findings are incomplete */
    struct wave *last; /* the wave that executed last, and its instruction */
    const struct instruction *last_insn;
};

struct checker {
    unsigned what;
    struct wmi_observer observer;
    const struct wmi_target *target;
    bool in_waves; /* instructions are executed by waves of src/exec; else by a test */
    uint32_t launch;
    struct instruction *chunk[CHUNKS];
    uint32_t instructions;
    const char *missed;            /* why the check is incomplete, or NULL */
    struct wmi_found_set findings; /* of the dispatch */
    struct wmi_wait_use *uses;     /* of all threads of the dispatch */
    size_t use_count;
    struct wmi_check_rule hazard_rules[WMI_HAZARD_COUNT];
    pthread_mutex_t lock;
};

static const char no_memory[] = "no memory for all that was to be checked";

/* ---- rules ---- */

enum missing_wait { READ_EARLY, OVERWRITTEN_EARLY, HELD_OVERWRITTEN, MISSING_WAITS };

/* Details of what is found. The register is its number plus 1, or 0; the value that the counter must not
 * exceed, or the wait states that are missing; the instructions between the two. */
enum { REGISTER, COUNTER, VALUE, DISTANCE };

static void first_text(const struct wmi_words *words, const struct wmi_found *found, char *text, size_t size)
{
    struct wm_profile_row row = {.pc = found->first_pc};
    words->describe(words->user, 0, &row);
    snprintf(text, size, "%s", row.text);
}

static void register_text(const struct wmi_found *found, char *text, size_t size)
{
    *text = 0;
    if (found->detail[REGISTER])
        wmi_register_name((unsigned)found->detail[REGISTER] - 1, text, size);
}

static void word_missing_wait(const struct wmi_words *words, const struct wmi_found *found, char *message,
                              size_t size);

#define WAITS_SOURCE "AMD's ISA documents, \"Data Dependency Resolution\""
#define WAITS_REMEDY "put the wait in front of this instruction, or use the register later"

static const struct wmi_check_rule wait_rules[MISSING_WAITS] = {
    [READ_EARLY] = {.name = "read-before-wait",
                    .source = WAITS_SOURCE,
                    .remedy = WAITS_REMEDY,
                    .class = WM_CHECK_WAITS,
                    .has_first = true,
                    .word = word_missing_wait},
    [OVERWRITTEN_EARLY] = {.name = "write-before-wait",
                           .source = WAITS_SOURCE,
                           .remedy = WAITS_REMEDY,
                           .class = WM_CHECK_WAITS,
                           .has_first = true,
                           .word = word_missing_wait},
    [HELD_OVERWRITTEN] = {.name = "store-data-before-wait",
                          .source = WAITS_SOURCE,
                          .remedy = WAITS_REMEDY,
                          .class = WM_CHECK_WAITS,
                          .word = word_missing_wait},
};

static void word_missing_wait(const struct wmi_words *words, const struct wmi_found *found, char *message,
                              size_t size)
{
    static const char *const what[] = {
        [READ_EARLY] = "is read before its data is there",
        [OVERWRITTEN_EARLY] = "is overwritten before data on its way has arrived",
        [HELD_OVERWRITTEN] = "is overwritten before it has been read as data",
    };
    const struct checker *check = words->checker;
    const uint64_t distance = found->detail[DISTANCE];
    char wait[64], first[TEXT], reg[16];
    wmi_wait_text(check->target, (enum wmi_counter)found->detail[COUNTER], (unsigned)found->detail[VALUE],
                  wait, sizeof wait);
    first_text(words, found, first, sizeof first);
    register_text(found, reg, sizeof reg);
    snprintf(message, size, "%s %s: '%s' is missing after '%s', %" PRIu64 " instruction%s before", reg,
             what[found->rule - wait_rules], wait, first, distance + 1, distance ? "s" : "");
}

static void word_hazard(const struct wmi_words *words, const struct wmi_found *found, char *message,
                        size_t size)
{
    const struct checker *check = words->checker;
    const struct wmi_hazard *hazard = &wmi_hazards[found->rule - check->hazard_rules];
    const unsigned missing = (unsigned)found->detail[VALUE];
    char first[TEXT], reg[16];
    first_text(words, found, first, sizeof first);
    register_text(found, reg, sizeof reg);
    const char *space = *reg ? " " : "";
    if (missing)
        snprintf(message, size, "%s%s%s: %u wait state%s missing after '%s' ('s_nop %u' between them)", reg,
                 space, hazard->what, missing, missing == 1 ? " is" : "s are", first, missing - 1);
    else
        snprintf(message, size, "%s%s%s: '%s' is missing after '%s'", reg, space, hazard->what,
                 hazard->remedy, first);
}

static const struct instruction *instruction_of(const struct checker *check, uint32_t number)
{
    return &check->chunk[number / CHUNK][number % CHUNK];
}

/* Details of a needless wait: executions without anything on its way; instructions up to the later wait. */
enum { IDLE, BEFORE };

static void word_needless(const struct wmi_words *words, const struct wmi_found *found, char *message,
                          size_t size)
{
    char later[TEXT];
    first_text(words, found, later, sizeof later);
    if (found->detail[IDLE] == found->count)
        snprintf(message, size, "this wait is needless: nothing that it waits for was on its way");
    else
        snprintf(message, size,
                 "this wait is needless: what it waits for is not used before '%s', at least %" PRIu64
                 " instruction%s later",
                 later, found->detail[BEFORE], found->detail[BEFORE] == 1 ? "" : "s");
}

static const struct wmi_check_rule needless_rule = {
    .name = "needless-wait",
    .source = WAITS_SOURCE,
    .remedy = "leave it out, or wait later; a fence or an acquiring load that needs it is not seen in code",
    .class = WM_CHECK_WAITS,
    .severity = WM_SEVERITY_NOTE,
    .has_first = true,
    .word = word_needless,
};

/* Adds the waits that were never needed in the dispatch. */
static bool add_needless(struct checker *check)
{
    bool ok = true;
    for (uint32_t i = 0; i < check->use_count; i++) {
        const struct wmi_wait_use *use = &check->uses[i];
        if (use->needed || use->idle + use->early == 0)
            continue;
        const uint32_t later = use->early ? use->later : i;
        ok &= wmi_found_add(&check->findings,
                            &(struct wmi_found){.rule = &needless_rule,
                                                .pc = instruction_of(check, i)->pc,
                                                .first_pc = instruction_of(check, later)->pc,
                                                .count = use->idle + use->early,
                                                .launch = check->launch,
                                                .detail = {[IDLE] = use->idle, [BEFORE] = use->distance}});
    }
    return ok;
}

/* ---- waves ---- */

/* Adds what the wave that executes has found. */
static void add(struct shard *shard, struct wmi_found found)
{
    found.count = 1;
    found.launch = shard->check->launch;
    found.has_wave = shard->has_wave;
    found.wave = shard->wave;
    found.group = shard->group;
    shard->missed |= !wmi_found_add(&shard->findings, &found);
}

/* Makes a wave new that has ended. Most registers it never used, and their state is as at its beginning. */
static void reset_wave(struct wave *wave)
{
    const size_t used = wave->reach;
    struct wmi_wait_state *waits = &wave->waits;
    memset(waits->written, 0, used * sizeof *waits->written);
    memset(waits->held, 0, used * sizeof *waits->held);
    memset(waits, 0, offsetof(struct wmi_wait_state, written));
    memset(wave, 0, offsetof(struct wave, waits));
    memset(waits + 1, 0, sizeof *wave - offsetof(struct wave, waits) - sizeof *waits);
}

static struct wave *new_wave(struct shard *shard)
{
    struct wave *wave = shard->unused, *next;
    struct wmi_hazard_wave *hazards = wave ? wave->hazards : NULL;
    if (!wave && shard->check->what & WM_CHECK_HAZARDS && !(hazards = wmi_hazard_wave_create()))
        return NULL;
    if (wave) {
        shard->unused = wave->next_free;
        next = wave->next;
        reset_wave(wave);
    } else {
        if (!(wave = calloc(1, sizeof *wave))) {
            free(hazards);
            return NULL;
        }
        next = shard->waves;
        shard->waves = wave;
    }
    wave->next = next;
    wave->waits.target = shard->check->target;
    if ((wave->hazards = hazards))
        wmi_hazard_wave_begin(hazards, shard->check->target, shard->memo);
    return wave;
}

/* Adds a finding and continues as if the wave had waited. */
static void add_missing_wait(struct shard *shard, struct wave *wave, const struct instruction *insn,
                             enum missing_wait rule, unsigned reg, const struct wmi_not_ready *why)
{
    struct wmi_wait_facts waited = {.waits = true};
    add(shard, (struct wmi_found){.rule = &wait_rules[rule],
                                  .pc = insn->pc,
                                  .first_pc = instruction_of(shard->check, why->number)->pc,
                                  .detail = {[REGISTER] = reg + 1,
                                             [COUNTER] = why->counter,
                                             [VALUE] = why->value,
                                             [DISTANCE] = why->distance}});
    memset(waited.limit, UINT8_MAX, sizeof waited.limit);
    waited.limit[why->counter] = (uint8_t)why->value;
    wmi_wait_issue(&wave->waits, &waited, NULL, 0, 0, 0);
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

/* Whether the registers of one operand may be used yet. exec: the active lanes. */
static void check_span(struct shard *shard, struct wave *wave, const struct instruction *insn,
                       const struct wmi_span_of_registers *span, uint64_t exec)
{
    const uint64_t lanes = (span->read ? insn->by_lane : insn->masked) ? exec : UINT64_MAX;
    struct wmi_wait_state *state = &wave->waits;
    struct wmi_not_ready why;
    for (unsigned reg = span->first; reg < span->first + span->count; reg++) {
        if (!state->written[reg].count && !state->held[reg].count)
            continue;
        /* Waits on two counters may be missing. */
        while (!wmi_wait_ready(state, reg, lanes, &why)) {
            if (span->written && wmi_wait_follows(state, reg, &insn->waits))
                break;
            add_missing_wait(shard, wave, insn, span->read ? READ_EARLY : OVERWRITTEN_EARLY, reg, &why);
        }
        if (span->written && !wmi_wait_free(state, reg, &why))
            add_missing_wait(shard, wave, insn, HELD_OVERWRITTEN, reg, &why);
    }
}

/* Makes room for the counts of the instruction. */
static bool keep_uses(struct shard *shard, uint32_t number)
{
    if (number < shard->use_count)
        return true;
    const size_t count = 2 * (size_t)number + 64;
    struct wmi_wait_use *uses = realloc(shard->uses, count * sizeof *uses);
    if (!uses) {
        shard->missed = true;
        return false;
    }
    memset(uses + shard->use_count, 0, (count - shard->use_count) * sizeof *uses);
    shard->uses = uses;
    shard->use_count = count;
    return true;
}

/* Reads come first: of a register that is read and then overwritten, the read is the mistake. */
static void check_waits(struct shard *shard, struct wave *wave, const struct instruction *insn,
                        uint32_t number, const uint32_t *scalars)
{
    const struct wmi_wait_facts waits = waits_of(insn, scalars);
    const uint64_t exec = scalars[WMI_REGISTER_EXEC] | (uint64_t)scalars[WMI_REGISTER_EXEC + 1] << 32;
    for (unsigned i = 0; i < insn->spans; i++)
        if (insn->span[i].read)
            check_span(shard, wave, insn, &insn->span[i], exec);
    for (unsigned i = 0; i < insn->spans; i++)
        if (!insn->span[i].read)
            check_span(shard, wave, insn, &insn->span[i], exec);
    const bool needless = shard->check->what & WM_CHECK_NEEDLESS && keep_uses(shard, number);
    uint64_t before[WMI_COUNTER_COUNT][WMI_ORDER_COUNT];
    if (needless && !waits.waits)
        wmi_needless_instruction(&wave->last, shard->uses, &wave->waits, insn->role, insn->span, insn->spans);
    if (needless)
        memcpy(before, wave->waits.done, sizeof before);
    wmi_wait_issue(&wave->waits, &waits, insn->span, insn->spans, number, insn->masked ? exec : UINT64_MAX);
    if (needless && waits.waits)
        wmi_needless_wait(&wave->last, shard->uses, before, &wave->waits, &waits, number);
    else if (needless)
        wmi_needless_issued(&wave->last, &wave->waits, &waits, insn->role);
}

static void check_hazards(struct shard *shard, struct wave *wave, const struct instruction *insn,
                          uint32_t number)
{
    struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE];
    const unsigned count =
        wmi_hazard_wave_execute(wave->hazards, &insn->hazards, insn->span, insn->spans, number, found);
    for (unsigned i = 0; i < count; i++)
        add(shard, (struct wmi_found){
                       .rule = &shard->check->hazard_rules[found[i].kind],
                       .pc = insn->pc,
                       .first_pc = instruction_of(shard->check, found[i].number)->pc,
                       .detail = {[REGISTER] = (uint64_t)(found[i].reg + 1), [VALUE] = found[i].missing}});
}

/* ---- the observer ---- */

/* Whether it writes VGPRs only in the lanes of EXEC. */
static bool is_masked(const struct wmi_instruction *insn)
{
    return !(wmi_rows[insn->id].flags & WMI_ROW_IGNORES_EXEC) && !wmi_rows[insn->id].matrix;
}

/* Whether each active lane reads its own VGPRs only. Images read those of neighbours for their derivatives.
 */
static bool stays_in_lane(const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    return !(row->flags & WMI_ROW_CROSS_LANE) && insn->extension != WMI_EXT_DPP &&
           insn->extension != WMI_EXT_DPP8 && row->class != WMI_CLASS_IMAGE && row->class != WMI_CLASS_EXPORT;
}

static uint32_t add_instruction(void *self, uint64_t pc, const struct wmi_instruction *insn)
{
    struct checker *check = self;
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
                                  .ends = wmi_rows[insn->id].flags & WMI_ROW_ENDS,
                                  .role = wmi_wait_role_of(insn),
                                  .masked = is_masked(insn)};
    entry->by_lane = entry->masked && stays_in_lane(insn);
    entry->spans = (uint8_t)wmi_registers_of(check->target, insn, entry->span);
    for (unsigned i = 0; i < entry->spans; i++) {
        const unsigned end = entry->span[i].first + entry->span[i].count;
        entry->reach = end > entry->reach ? (uint16_t)end : entry->reach;
    }
    check->instructions++;
    return number;
}

/* Whether the instruction neither waits nor issues anything to wait for, so that the state of a wave that is
 * idle stays the same. */
static bool is_plain(const struct checker *check, const struct instruction *insn)
{
    return !insn->waits.waits && !insn->waits.events && !(check->what & WM_CHECK_NEEDLESS);
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
    if (shard->check->in_waves) {
        const struct wmi_wave *running = wmi_wave_of((const char *)scalars - offsetof(struct wmi_frame, s));
        shard->has_wave = true;
        shard->wave = running->index;
        shard->group = running->group->flat_id;
    }
    const struct instruction *insn = instruction_of(shard->check, number);
    shard->last = wave;
    shard->last_insn = insn;
    wave->reach = insn->reach > wave->reach ? insn->reach : wave->reach;
    if (wave->idle && is_plain(shard->check, insn)) {
        wave->waits.instructions++;
    } else if (shard->check->what & WM_CHECK_WAITS) {
        check_waits(shard, wave, insn, number, scalars);
        if (!is_plain(shard->check, insn))
            wave->idle = wmi_wait_is_idle(&wave->waits);
    }
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
    struct checker *check = self;
    struct shard *shard = calloc(1, sizeof *shard);
    if (!shard)
        return NULL;
    shard->check = check;
    if (check->what & WM_CHECK_HAZARDS)
        shard->memo = wmi_hazard_memo_create(check->target);
    return shard;
}

static void end_thread(void *self, void *local)
{
    struct checker *check = self;
    struct shard *shard = local;
    if (!shard)
        return;
    pthread_mutex_lock(&check->lock);
    shard->missed |= !wmi_found_move(&check->findings, &shard->findings);
    if (!check->uses || check->use_count < shard->use_count) {
        struct wmi_wait_use *uses = shard->uses; /* the longer list takes the other one in */
        const size_t count = shard->use_count;
        shard->uses = check->uses;
        shard->use_count = check->use_count;
        check->uses = uses;
        check->use_count = count;
    }
    for (size_t i = 0; i < shard->use_count; i++)
        wmi_wait_use_add(&check->uses[i], &shard->uses[i]);
    if (shard->missed)
        check->missed = no_memory;
    pthread_mutex_unlock(&check->lock);
    for (struct wave *wave = shard->waves, *next; wave; wave = next) {
        next = wave->next;
        free(wave->hazards);
        free(wave);
    }
    wmi_hazard_memo_destroy(shard->memo);
    wmi_found_free(&shard->findings);
    free(shard->uses);
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
    return ((const struct checker *)self)->missed;
}

/* ---- the checker ---- */

static void *create(unsigned what)
{
    struct checker *check = calloc(1, sizeof *check);
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
    for (unsigned i = 0; i < WMI_HAZARD_COUNT; i++)
        check->hazard_rules[i] =
            (struct wmi_check_rule){.name = wmi_hazards[i].name,
                                    .source = wmi_hazards[i].source,
                                    .class = WM_CHECK_HAZARDS,
                                    .severity = wmi_hazards[i].is_new ? WM_SEVERITY_NOTE : WM_SEVERITY_ERROR,
                                    .has_first = true,
                                    .word = word_hazard};
    pthread_mutex_init(&check->lock, NULL);
    return check;
}

static void destroy(void *self)
{
    struct checker *check = self;
    for (unsigned i = 0; i < CHUNKS; i++)
        free(check->chunk[i]);
    wmi_found_free(&check->findings);
    free(check->uses);
    pthread_mutex_destroy(&check->lock);
    free(check);
}

static const struct wmi_observer *begin(void *self, const struct wmi_check_dispatch *dispatch)
{
    struct checker *check = self;
    check->target = dispatch->target;
    check->launch = dispatch->launch;
    check->in_waves = dispatch->space;
    check->instructions = 0;
    check->missed = NULL;
    return &check->observer;
}

static bool end(void *self, struct wmi_found_set *findings)
{
    struct checker *check = self;
    const bool ok = add_needless(check);
    free(check->uses);
    check->uses = NULL;
    check->use_count = 0;
    return ok & wmi_found_move(findings, &check->findings);
}

const struct wmi_checker wmi_checker_waits = {
    .name = "waits and hazards",
    .classes = WM_CHECK_WAITS | WM_CHECK_HAZARDS | WM_CHECK_NEEDLESS,
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .end = end,
};
