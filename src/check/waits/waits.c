/* SPDX-License-Identifier: MIT */
/* The checker of waits and hazards: tracks each wave's wait counters and the instructions that it issued.
 * After a missing wait the model continues as if the wave had waited, so that each missing wait gives one
 * finding. */
#include "check/checker.h"
#include "check/waits/needless.h"
#include "check/waits/wait_paths.h"
#include "check/waits/wait_rules.h"
#include "check/waits/wait_state.h"
#include "exec/run/dispatch.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 1 << 10, /* instructions; chunks never move, because workers read them without a lock */
    CHUNKS = 1 << 12,
};

struct instruction {
    uint64_t pc;
    struct wmi_wait_facts waits;
    struct wmi_hazard_facts hazards;
    struct wmi_span_of_registers span[WMI_SPANS];
    uint8_t spans;
    bool ends;
    bool goes_on; /* the next one is executed with it, see joins() of struct wmi_observer */
    enum wmi_wait_role role;
    bool masked;    /* it writes VGPRs only in the lanes of EXEC, */
    bool by_lane;   /* and reads them only there */
    uint16_t reach; /* 1 + its highest register */
};

/* The state of a wave. */
struct model {
    unsigned reach; /* 1 + the highest register that it has used */
    struct wmi_wait_state waits;
    struct wmi_hazard_wave *hazards; /* if they are asked for; else NULL */
};

struct wave {
    struct wave *next_free, *next;
    struct wmi_wait_node *node; /* its place on remembered paths; NULL: `model` has its state */
    uint64_t mask;              /* the lanes that are meant if the node is masked */
    struct model *model;        /* or NULL */
    struct wmi_last_wait last;
};

struct shard { /* of a worker thread */
    struct checker *check;
    struct shard *next;               /* that is idle, too */
    struct wmi_hazard_memo *memo;     /* if hazards are asked for; else NULL */
    struct wmi_wait_paths *paths;     /* or NULL */
    const struct wmi_wait_node *root; /* of a wave that begins */
    struct model *model;              /* continues paths; its state is that of `at`, or NULL */
    const struct wmi_wait_node *at;
    struct {
        struct wmi_found *item;
        size_t count, capacity;
    } found; /* by the last instruction */
    struct wmi_found_set findings;
    struct wave *waves, *unused;
    struct wmi_wait_use *uses; /* by number of the instruction; with WM_CHECK_NEEDLESS */
    size_t use_count;
    bool missed;       /* out of memory: findings are incomplete */
    struct wave *last; /* the wave that executed last, and its instruction */
    uint32_t last_number;
};

struct checker {
    struct wmi_wait_rules rules; /* first: rules know the checker by this part */
    unsigned what;
    struct wmi_observer observer;
    bool in_waves; /* instructions are executed by waves of src/exec; else by a test */
    uint32_t launch;
    struct instruction *chunk[CHUNKS];
    uint32_t instructions;
    const char *missed;            /* why the check is incomplete, or NULL */
    struct wmi_found_set findings; /* of the dispatch */
    struct wmi_wait_use *uses;     /* of all threads of the dispatch */
    size_t use_count;
    struct shard *idle; /* of threads that have ended, with the paths of the last program */
    pthread_mutex_t lock;
};

static const char no_memory[] = "no memory for all that was to be checked";

/* ---- instructions ---- */

static struct instruction *instruction_of(const struct checker *check, uint32_t number)
{
    return &check->chunk[number / CHUNK][number % CHUNK];
}

/* The uses of a wait, which has several numbers if its code was lowered for several states. */
struct use_at {
    uint64_t pc;
    struct wmi_wait_use use;
};

static int by_pc(const void *left, const void *right)
{
    const struct use_at *a = left, *b = right;
    return (a->pc > b->pc) - (a->pc < b->pc);
}

static bool add_use(struct checker *check, const struct use_at *at)
{
    const struct wmi_wait_use *use = &at->use;
    const bool every = check->what & WM_CHECK_EVERY_WAIT;
    const struct wmi_found needless = {.rule = every ? &wmi_needless_in_launch_rule : &wmi_needless_rule,
                                       .pc = at->pc,
                                       .first_pc = use->early ? use->later : 0,
                                       .count = use->idle + use->early,
                                       .launch = check->launch,
                                       .distance = use->early ? use->distance + 1 : 0};
    const struct wmi_found needed = {
        .rule = &wmi_needed_rule, .pc = at->pc, .count = use->needed, .launch = check->launch};
    if (use->needed)
        return !every || wmi_found_add(&check->findings, &needed);
    return !needless.count || wmi_found_add(&check->findings, &needless);
}

/* Adds the waits that were never needed in the dispatch. */
static bool add_needless(struct checker *check)
{
    /* The list has room for more than the instructions that there are. */
    const size_t count = check->use_count < check->instructions ? check->use_count : check->instructions;
    struct use_at *all = malloc((count + 1) * sizeof *all);
    bool ok = all;
    for (uint32_t i = 0; all && i < count; i++)
        all[i] = (struct use_at){instruction_of(check, i)->pc, check->uses[i]};
    if (all)
        qsort(all, count, sizeof *all, by_pc);
    for (size_t i = 0; all && i < count; i++) {
        if (i + 1 < count && all[i + 1].pc == all[i].pc)
            wmi_wait_use_add(&all[i + 1].use, &all[i].use);
        else
            ok &= add_use(check, &all[i]);
    }
    free(all);
    return ok;
}

/* ---- waves ---- */

/* Adds what the last instruction has found; scalars: of its wave. */
static void add_found(struct shard *shard, const uint32_t *scalars)
{
    for (size_t i = 0; i < shard->found.count; i++) {
        struct wmi_found *found = &shard->found.item[i];
        found->count = 1;
        found->launch = shard->check->launch;
        if ((found->has_wave = shard->check->in_waves)) {
            const struct wmi_wave *wave = wmi_wave_of((const char *)scalars - offsetof(struct wmi_frame, s));
            found->wave = wave->index;
            found->group = wave->group->flat_id;
        }
        shard->missed |= !wmi_found_add(&shard->findings, found);
    }
    shard->found.count = 0;
}

/* Keeps it until the instruction has been executed. */
static void find(struct shard *shard, struct wmi_found found)
{
    if (shard->found.count == shard->found.capacity) {
        const size_t capacity = 2 * shard->found.capacity + 16;
        struct wmi_found *item = realloc(shard->found.item, capacity * sizeof *item);
        if (!item) {
            shard->missed = true;
            return;
        }
        shard->found.item = item;
        shard->found.capacity = capacity;
    }
    shard->found.item[shard->found.count++] = found;
}

/* ---- models ---- */

static void free_model(struct model *model)
{
    if (model)
        wmi_hazard_wave_destroy(model->hazards);
    free(model);
}

/* The state of a wave that begins. NULL: no memory. */
static struct model *create_model(const struct shard *shard)
{
    struct model *model = calloc(1, sizeof *model);
    if (!model)
        return NULL;
    model->waits.target = shard->check->rules.target;
    if (shard->memo && !(model->hazards = wmi_hazard_wave_create(shard->memo))) {
        free(model);
        return NULL;
    }
    return model;
}

static void reset_model(struct model *model)
{
    wmi_wait_clear(&model->waits, model->reach);
    model->reach = 0;
    if (model->hazards)
        wmi_hazard_wave_begin(model->hazards);
}

static void free_wave(struct wave *wave)
{
    free_model(wave->model);
    free(wave);
}

static struct wave *new_wave(struct shard *shard)
{
    struct wave *wave = shard->unused;
    if (wave) {
        shard->unused = wave->next_free;
        if (wave->model)
            reset_model(wave->model);
        memset(&wave->last, 0, sizeof wave->last);
    } else {
        if (!(wave = calloc(1, sizeof *wave)))
            return NULL;
        if (!shard->root && !(wave->model = create_model(shard))) {
            free(wave);
            return NULL;
        }
        wave->next = shard->waves;
        shard->waves = wave;
    }
    wave->node = (struct wmi_wait_node *)shard->root;
    return wave;
}

/* Keeps a finding and continues as if the wave had waited. */
static void find_missing_wait(struct shard *shard, struct model *model, const struct instruction *insn,
                              enum wmi_missing_wait rule, unsigned reg, const struct wmi_not_ready *why)
{
    struct wmi_wait_facts waited = {.waits = true};
    find(shard,
         (struct wmi_found){.rule = &wmi_missing_wait_rules[rule],
                            .pc = insn->pc,
                            .first_pc = instruction_of(shard->check, why->number)->pc,
                            .detail = {[WMI_DETAIL_REGISTER] = reg + 1,
                                       [WMI_DETAIL_COUNTER] = why->counter,
                                       [WMI_DETAIL_VALUE] = why->value,
                                       [WMI_DETAIL_DISTANCE] =
                                           why->distance < WMI_WAIT_FAR ? why->distance : WMI_WAIT_FAR}});
    memset(waited.limit, UINT8_MAX, sizeof waited.limit);
    waited.limit[why->counter] = (uint8_t)why->value;
    wmi_wait_issue(&model->waits, &waited, NULL, 0, 0, 0);
    model->waits.instructions--;
}

/* The value of the register that an instruction with `by_scalar` waits by. */
static uint32_t value_of(const struct instruction *insn, const uint32_t *scalars)
{
    for (unsigned i = 0; i < insn->spans; i++)
        if (insn->span[i].role == WMI_ROLE_A && insn->span[i].first < WMI_REGISTER_VGPR)
            return scalars[insn->span[i].first];
    return 0;
}

static uint64_t exec_of(const uint32_t *scalars)
{
    return scalars[WMI_REGISTER_EXEC] | (uint64_t)scalars[WMI_REGISTER_EXEC + 1] << 32;
}

/* Whether the instruction's results come only after what it may overwrite has been translated, because memory
 * instructions are translated in order. */
static bool translates(const struct wmi_target *target, const struct instruction *insn)
{
    bool does = false;
    for (unsigned i = 0; i < insn->waits.events && wmi_counts_translations(target); i++)
        does |= insn->waits.event[i].counter == WMI_COUNTER_TRANSLATION;
    return does;
}

/* Whether the registers of one operand may be used yet. exec: the active lanes. */
static void check_span(struct shard *shard, struct model *model, const struct instruction *insn,
                       const struct wmi_span_of_registers *span, uint64_t exec)
{
    const uint64_t lanes = (span->read ? insn->by_lane : insn->masked) ? exec : UINT64_MAX;
    struct wmi_wait_state *state = &model->waits;
    struct wmi_not_ready why;
    for (unsigned reg = span->first; reg < span->first + span->count; reg++) {
        if (!state->written[reg].count && !state->held[reg].count)
            continue;
        /* Waits on two counters may be missing. */
        while (!wmi_wait_ready(state, reg, lanes, &why)) {
            if (span->written && wmi_wait_follows(state, reg, &insn->waits))
                break;
            find_missing_wait(shard, model, insn,
                              reg == WMI_REGISTER_SCRATCH ? WMI_SCRATCH_DEALLOCATED
                              : span->read                ? WMI_READ_EARLY
                                                          : WMI_OVERWRITTEN_EARLY,
                              reg, &why);
        }
        if (span->written && !translates(state->target, insn) && !wmi_wait_free(state, reg, &why))
            find_missing_wait(shard, model, insn,
                              reg == WMI_REGISTER_TRANSLATION          ? WMI_PREFETCHED_EARLY
                              : wmi_counts_translations(state->target) ? WMI_REPLAY_OVERWRITTEN
                                                                       : WMI_HELD_OVERWRITTEN,
                              reg, &why);
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
static void check_waits(struct shard *shard, struct wave *wave, struct model *model,
                        const struct instruction *insn, uint32_t number, uint64_t exec, uint32_t value)
{
    struct wmi_wait_facts waits = insn->waits;
    if (waits.by_scalar)
        wmi_wait_by_scalar(&waits, value);
    for (unsigned i = 0; i < insn->spans; i++)
        if (insn->span[i].read)
            check_span(shard, model, insn, &insn->span[i], exec);
    for (unsigned i = 0; i < insn->spans; i++)
        if (!insn->span[i].read)
            check_span(shard, model, insn, &insn->span[i], exec);
    const bool of_translation = waits.waits && wmi_counts_translations(shard->check->rules.target) &&
                                waits.limit[WMI_COUNTER_TRANSLATION] != UINT8_MAX;
    const bool needless =
        shard->check->what & WM_CHECK_NEEDLESS && !of_translation && keep_uses(shard, number);
    uint64_t before[WMI_COUNTER_COUNT][WMI_ORDER_COUNT];
    if (needless && !waits.waits)
        wmi_needless_instruction(&wave->last, shard->uses, &model->waits, insn->role, insn->span,
                                 insn->spans);
    if (needless)
        memcpy(before, model->waits.done, sizeof before);
    wmi_wait_issue(&model->waits, &waits, insn->span, insn->spans, number, insn->masked ? exec : UINT64_MAX);
    if (needless && waits.waits)
        wmi_needless_wait(&wave->last, shard->uses, before, &model->waits, &waits, number, insn->pc);
    else if (needless)
        wmi_needless_issued(&wave->last, &model->waits, &waits, insn->role);
}

static void check_hazards(struct shard *shard, struct wmi_hazard_wave *hazards,
                          const struct instruction *insn, uint32_t number)
{
    struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE];
    const unsigned count =
        wmi_hazard_wave_execute(hazards, &insn->hazards, insn->span, insn->spans, number, found);
    for (unsigned i = 0; i < count; i++)
        find(shard, (struct wmi_found){.rule = &shard->check->rules.hazard[found[i].kind],
                                       .pc = insn->pc,
                                       .first_pc = instruction_of(shard->check, found[i].number)->pc,
                                       .detail = {[WMI_DETAIL_REGISTER] = (uint64_t)(found[i].reg + 1),
                                                  [WMI_DETAIL_VALUE] = found[i].missing}});
}

/* Executes the instruction in the model. */
static void run(struct shard *shard, struct wave *wave, struct model *model, const struct instruction *insn,
                uint32_t number, uint64_t exec, uint32_t value)
{
    model->reach = insn->reach > model->reach ? insn->reach : model->reach;
    if (shard->check->what & WM_CHECK_WAITS)
        check_waits(shard, wave, model, insn, number, exec, value);
    if (model->hazards)
        check_hazards(shard, model->hazards, insn, number);
}

/* ---- paths ---- */

/* What the state after the instruction depends on. */
static enum wmi_wait_input input_of(const struct model *model, const struct instruction *insn)
{
    struct wmi_not_ready why;
    if (insn->waits.by_scalar)
        return WMI_WAIT_VALUE;
    for (unsigned i = 0; insn->masked && i < insn->spans; i++) {
        const struct wmi_span_of_registers *span = &insn->span[i];
        if (span->first < WMI_REGISTER_VGPR)
            continue;
        if (span->written && insn->waits.events)
            return WMI_WAIT_LANES;
        for (unsigned reg = span->first; reg < span->first + span->count; reg++)
            if (!wmi_wait_ready(&model->waits, reg, UINT64_MAX, &why))
                return WMI_WAIT_LANES;
    }
    return WMI_WAIT_NOTHING;
}

static uint64_t value_of_input(enum wmi_wait_input by, const struct instruction *insn,
                               const uint32_t *scalars)
{
    return by == WMI_WAIT_LANES   ? wmi_wait_lanes(exec_of(scalars))
           : by == WMI_WAIT_VALUE ? value_of(insn, scalars)
                                  : 0;
}

/* Whether some lanes are active that are not those which the wave's node means. */
static bool has_other_lanes(const struct wave *wave, uint64_t exec)
{
    return wave->node->masked && wmi_wait_lanes(exec) == 1 && exec != wave->mask;
}

/* The edge on which the wave goes on, or NULL. */
static const struct wmi_wait_edge *edge_of(const struct wave *wave, const struct instruction *insn,
                                           uint32_t number, const uint32_t *scalars)
{
    for (const struct wmi_wait_edge *edge = wave->node->edge; edge; edge = edge->next) {
        if (edge->number != number)
            continue;
        if (edge->by == WMI_WAIT_NOTHING)
            return edge;
        if (edge->by == WMI_WAIT_LANES && has_other_lanes(wave, exec_of(scalars)))
            return NULL;
        if (edge->input == value_of_input(edge->by, insn, scalars))
            return edge;
    }
    return NULL;
}

/* Lets the wave go on if it takes the first edge of its node, and if there is no more to do. */
static inline bool takes_first_edge(struct wave *wave, uint32_t number, const uint32_t *scalars)
{
    const struct wmi_wait_edge *edge = wave->node->edge;
    if (!edge || edge->number != number || !edge->plain)
        return false;
    if (edge->by == WMI_WAIT_LANES) {
        const uint64_t exec = exec_of(scalars), lanes = wmi_wait_lanes(exec);
        if (edge->input != lanes || has_other_lanes(wave, exec))
            return false;
        if (lanes == 1)
            wave->mask = exec;
    }
    wave->node = edge->to;
    return true;
}

/* The shard's model in the state of the wave's node. */
static struct model *model_at(struct shard *shard, const struct wmi_wait_node *node)
{
    struct model *model = shard->model;
    if (shard->at != node)
        wmi_wait_resume(node, &model->waits, model->hazards, &model->reach, node->mask);
    shard->at = NULL;
    return model;
}

/* From here on, the wave's own model has its state. False: no memory. */
static bool leave_paths(struct shard *shard, struct wave *wave)
{
    struct model *model = wave->model ? wave->model : create_model(shard);
    wave->model = model;
    if (model)
        wmi_wait_resume(wave->node, &model->waits, model->hazards, &model->reach, wave->mask);
    wave->node = NULL;
    return model;
}

/* Makes the edge from the wave's node to the state of the shard's model, and takes it. False: it cannot be
 * made. */
static bool add_edge(struct shard *shard, struct wave *wave, struct wmi_wait_edge edge, uint64_t mask)
{
    bool is_new;
    struct model *model = shard->model;
    edge.to =
        wmi_wait_node(shard->paths, &model->waits, model->hazards, edge.number, model->reach, mask, &is_new);
    if (!edge.to || !wmi_wait_add_edge(wave->node, &edge))
        return false;
    if (is_new)
        shard->at = edge.to;
    wave->node = edge.to;
    return true;
}

/* Executes instructions, from the first on, that no wave has executed in this state, and remembers what they
 * do. False: the wave has to leave the paths. */
static bool extend_path(struct shard *shard, struct wave *wave, uint32_t first, const uint32_t *scalars)
{
    const uint64_t exec = exec_of(scalars);
    const struct wmi_wait_node *node = wave->node;
    const struct instruction *insn = NULL;
    struct model *model = model_at(shard, node);
    struct wmi_wait_edge edge = {.number = first};
    bool some = false; /* it depends on which lanes are active */
    for (uint32_t number = first; !insn || insn->goes_on; number++) {
        insn = instruction_of(shard->check, number);
        const enum wmi_wait_input by = input_of(model, insn);
        const bool by_some = by == WMI_WAIT_LANES && wmi_wait_lanes(exec) == 1;
        if (by_some && has_other_lanes(wave, exec)) {
            shard->found.count = 0;
            return false;
        }
        some |= by_some;
        edge.by = by > edge.by ? by : edge.by;
        run(shard, wave, model, insn, number, by_some && node->masked ? node->mask : exec,
            value_of(insn, scalars));
    }
    edge.input = value_of_input(edge.by, instruction_of(shard->check, first), scalars);
    edge.found = shard->found.item;
    edge.found_count = shard->found.count;
    edge.plain = !edge.found_count && edge.by != WMI_WAIT_VALUE && !insn->ends;
    if (!add_edge(shard, wave, edge, some && !node->masked ? exec : node->mask)) {
        shard->found.count = 0;
        return false;
    }
    if (some)
        wave->mask = exec;
    return true;
}

/* Whether nothing is on its way, so that the wave can return to remembered paths. */
static bool may_return(const struct shard *shard, const struct model *model, const struct instruction *insn)
{
    return shard->paths && (insn->waits.waits || insn->waits.events) && wmi_wait_is_idle(&model->waits);
}

/* Takes the wave along an edge. False: there is none. */
static bool follow_edge(struct shard *shard, struct wave *wave, uint32_t number, const uint32_t *scalars)
{
    const struct wmi_wait_edge *edge = edge_of(wave, instruction_of(shard->check, number), number, scalars);
    if (!edge)
        return false;
    for (size_t i = 0; i < edge->found_count; i++)
        find(shard, edge->found[i]);
    if (edge->by == WMI_WAIT_LANES && edge->input == 1)
        wave->mask = exec_of(scalars);
    wave->node = edge->to;
    return true;
}

/* Executes the instruction, and those that go with it, for the wave. False: no memory. */
static bool advance(struct shard *shard, struct wave *wave, uint32_t number, const uint32_t *scalars)
{
    const struct instruction *insn = NULL;
    bool is_new;
    for (; !insn || insn->goes_on; number++) {
        if (wave->node) {
            if (follow_edge(shard, wave, number, scalars) || extend_path(shard, wave, number, scalars))
                return true;
            if (!leave_paths(shard, wave))
                return false;
        }
        struct model *model = wave->model;
        if (!model)
            return false;
        insn = instruction_of(shard->check, number);
        run(shard, wave, model, insn, number, exec_of(scalars), value_of(insn, scalars));
        if (may_return(shard, model, insn))
            wave->node =
                wmi_wait_node(shard->paths, &model->waits, model->hazards, number, model->reach, 0, &is_new);
    }
    return true;
}

/* The last instruction of the wave, FLAT, has accessed only memory or only LDS. */
static void see_flat(struct shard *shard, struct wave *wave, const struct instruction *insn, bool to_lds)
{
    const uint32_t number = (uint32_t)(to_lds ? WMI_WAIT_WENT_TO_LDS : WMI_WAIT_WENT_TO_MEMORY);
    if (wave->node) {
        const struct wmi_wait_edge *edge = edge_of(wave, insn, number, NULL);
        const struct wmi_wait_node *node = wave->node;
        if (edge) {
            wave->node = edge->to;
            return;
        }
        wmi_wait_went(&model_at(shard, node)->waits, &insn->waits, insn->span, insn->spans, to_lds);
        if (add_edge(shard, wave, (struct wmi_wait_edge){.number = number}, node->mask))
            return;
        if (!leave_paths(shard, wave)) {
            shard->missed = true;
            return;
        }
    }
    if (wave->model)
        wmi_wait_went(&wave->model->waits, &insn->waits, insn->span, insn->spans, to_lds);
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

/* Scratch memory as a whole is like a register that stores write, in the order of issue, and that the message
 * DEALLOC_VGPRS reads. */
static void add_scratch(const struct wmi_target *target, struct instruction *entry,
                        const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const bool stores = row->class == WMI_CLASS_SCRATCH && row->memory == WMI_MEMORY_STORE;
    if (!wmi_hazard_states(target, WMI_HAZARD_VGPR_DEALLOCATED) ||
        (!stores && !entry->hazards.deallocates_vgprs))
        return;
    for (unsigned i = 0; i < entry->waits.events && stores && !entry->waits.event[i].holds; i++) {
        entry->waits.event[i].writes = true;
        entry->waits.event[i].sequence = 1;
    }
    entry->span[entry->spans++] = (struct wmi_span_of_registers){
        .first = WMI_REGISTER_SCRATCH, .count = 1, .read = !stores, .written = stores};
}

static bool prefetches(unsigned id)
{
    static const uint16_t ids[] = {WMI_INSN_s_prefetch_inst, WMI_INSN_s_prefetch_inst_pc_rel,
                                   WMI_INSN_s_prefetch_data, WMI_INSN_s_prefetch_data_pc_rel,
                                   WMI_INSN_s_buffer_prefetch_data};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* The translation of addresses as a whole is like a register that instructions with XCNT read, and that
 * scalar prefetches, which have to wait for all of it, overwrite. */
static void add_translation(const struct wmi_target *target, struct instruction *entry, unsigned id)
{
    const bool reads = translates(target, entry);
    if (!wmi_counts_translations(target) || (!reads && !prefetches(id)))
        return;
    entry->span[entry->spans++] = (struct wmi_span_of_registers){
        .first = WMI_REGISTER_TRANSLATION, .count = 1, .read = reads, .written = !reads};
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
                                  .waits = wmi_wait_facts_of_all(check->rules.target, insn),
                                  .hazards = wmi_hazard_facts_of(check->rules.target, insn),
                                  .ends = wmi_rows[insn->id].flags & WMI_ROW_ENDS,
                                  .role = wmi_wait_role_of(insn),
                                  .masked = is_masked(insn)};
    entry->by_lane = entry->masked && stays_in_lane(insn);
    entry->spans = (uint8_t)wmi_registers_of(check->rules.target, insn, entry->span);
    add_scratch(check->rules.target, entry, insn);
    add_translation(check->rules.target, entry, insn->id);
    for (unsigned i = 0; i < entry->spans; i++) {
        const unsigned end = entry->span[i].first + entry->span[i].count;
        entry->reach = end > entry->reach ? (uint16_t)end : entry->reach;
    }
    check->instructions++;
    return number;
}

/* Whether the instruction can go with the one before: it does not begin with a wait, after which a wave may
 * return to remembered paths, and nothing but EXEC decides what it and the one before do. */
static bool joins(void *self, const struct wmi_instruction *insn)
{
    const struct checker *check = self;
    const struct wmi_wait_facts facts = wmi_wait_facts_of_all(check->rules.target, insn);
    if (!check->instructions || facts.waits || facts.by_place || wmi_rows[insn->id].flags & WMI_ROW_ENDS)
        return false;
    const struct instruction *before = instruction_of(check, check->instructions - 1);
    return !before->waits.by_scalar && !before->waits.by_place && !before->ends;
}

static void join(void *self, uint64_t pc, const struct wmi_instruction *insn)
{
    struct checker *check = self;
    const uint32_t number = add_instruction(self, pc, insn);
    if (number != UINT32_MAX)
        instruction_of(check, number - 1)->goes_on = true;
}

/* The rest of execute(), if the wave does not take the first edge of its node. */
static __attribute__((noinline)) void execute_slowly(struct shard *shard, struct wave *wave, void **mine,
                                                     uint32_t number, const uint32_t *scalars)
{
    shard->missed |= !advance(shard, wave, number, scalars);
    add_found(shard, scalars);
    if (instruction_of(shard->check, number)->ends) {
        wave->next_free = shard->unused;
        shard->unused = wave;
        *mine = NULL;
    }
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
    shard->last = wave;
    shard->last_number = number;
    if (!wave->node || !takes_first_edge(wave, number, scalars))
        execute_slowly(shard, wave, mine, number, scalars);
}

static void free_shards(struct shard *shards)
{
    for (struct shard *shard = shards, *next; shard; shard = next) {
        next = shard->next;
        for (struct wave *wave = shard->waves, *behind; wave; wave = behind) {
            behind = wave->next;
            free_wave(wave);
        }
        free_model(shard->model);
        wmi_wait_paths_destroy(shard->paths);
        wmi_hazard_memo_destroy(shard->memo);
        free(shard->found.item);
        free(shard);
    }
}

static void free_idle(struct checker *check)
{
    free_shards(check->idle);
    check->idle = NULL;
}

static void *begin_thread(void *self)
{
    struct checker *check = self;
    pthread_mutex_lock(&check->lock);
    struct shard *shard = check->idle;
    if (shard)
        check->idle = shard->next;
    pthread_mutex_unlock(&check->lock);
    if (shard || !(shard = calloc(1, sizeof *shard)))
        return shard;
    shard->check = check;
    bool is_new;
    if (check->what & WM_CHECK_HAZARDS && !(shard->memo = wmi_hazard_memo_create(check->rules.target))) {
        free(shard);
        return NULL;
    }
    /* Needless waits depend on more than nodes know. */
    if (!(check->what & WM_CHECK_NEEDLESS) && (shard->model = create_model(shard)) &&
        (shard->paths = wmi_wait_paths_create()))
        shard->root = wmi_wait_node(shard->paths, &shard->model->waits, shard->model->hazards, UINT32_MAX, 0,
                                    0, &is_new);
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
    wmi_found_free(&shard->findings);
    free(shard->uses);
    shard->uses = NULL;
    shard->use_count = 0;
    shard->missed = false;
    shard->found.count = 0;
    shard->last = NULL;
    shard->unused = NULL;
    for (struct wave *wave = shard->waves; wave; wave = wave->next) {
        wave->next_free = shard->unused;
        shard->unused = wave;
    }
    shard->next = check->idle;
    check->idle = shard;
    pthread_mutex_unlock(&check->lock);
}

/* Called for accesses of the last executed instruction: completes the facts of FLAT with its destination. */
static void see_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    struct shard *shard = local;
    bool to_lds = false, to_memory = access->lanes == 0;
    (void)slot;
    if (!shard || !shard->last || access->path != WMI_PATH_FLAT)
        return;
    const struct instruction *insn = instruction_of(shard->check, shard->last_number);
    if (access->pc != insn->pc || !insn->waits.by_place)
        return;
    for (unsigned i = 0; i < access->elements; i++)
        if (access->element[i].mask)
            *(access->element[i].space == WMI_SPACE_LDS ? &to_lds : &to_memory) = true;
    if (to_lds != to_memory)
        see_flat(shard, shard->last, insn, to_lds);
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
        .flat_only = true,
        .decoded = add_instruction,
        .joins = joins,
        .join = join,
        .execute = execute,
        .incomplete = incomplete,
    };
    wmi_wait_rules_init(&check->rules);
    pthread_mutex_init(&check->lock, NULL);
    return check;
}

static void destroy(void *self)
{
    struct checker *check = self;
    free_idle(check);
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
    check->rules.target = dispatch->target;
    check->launch = dispatch->launch;
    check->in_waves = dispatch->space;
    if (!dispatch->lowered) {
        free_idle(check);
        check->instructions = 0;
    }
    check->missed = NULL;
    return &check->observer;
}

struct code {
    struct instruction *chunk[CHUNKS];
    uint32_t instructions;
    struct shard *idle;
};

static bool exchange(void *self, void **kept)
{
    struct checker *check = self;
    struct code *code = *kept ? *kept : calloc(1, sizeof *code);
    if (!code)
        return false;
    if (check->idle) { /* what one thread has learned is enough to keep */
        free_shards(check->idle->next);
        check->idle->next = NULL;
    }
    for (unsigned i = 0; i < CHUNKS; i++)
        WMI_EXCHANGE(code->chunk[i], check->chunk[i]);
    WMI_EXCHANGE(code->instructions, check->instructions);
    WMI_EXCHANGE(code->idle, check->idle);
    *kept = code;
    return true;
}

static void forget(void *kept)
{
    struct code *code = kept;
    for (unsigned i = 0; code && i < CHUNKS; i++)
        free(code->chunk[i]);
    if (code)
        free_shards(code->idle);
    free(code);
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
    .classes = WM_CHECK_WAITS | WM_CHECK_HAZARDS | WM_CHECK_NEEDLESS | WM_CHECK_EVERY_WAIT,
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .exchange = exchange,
    .forget = forget,
    .end = end,
};
