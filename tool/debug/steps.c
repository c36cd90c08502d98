/* SPDX-License-Identifier: MIT */
/* Steps of the selected wave, forwards and backwards, and what its instructions wrote to registers. */
#include "tool/debug/calls.h"
#include "tool/debug/places.h"
#include "tool/debug/stops.h"
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 1 << 12 /* instructions of a wave that are looked at together, going back */ };

static struct debug_goal of_wave(const struct debug_session *s)
{
    struct debug_goal goal = {.of_wave = true, .wave = s->wave.wave};
    memcpy(goal.workgroup, s->wave.workgroup, sizeof goal.workgroup);
    return goal;
}

static bool is_same(const struct wm_stopped *a, const struct wm_stopped *b)
{
    return a->wave == b->wave && !memcmp(a->workgroup, b->workgroup, sizeof a->workgroup);
}

/* ---- forwards ---- */

/* What a move of the wave ended with, if not where it should. */
static void describe(struct debug_session *s, const struct wm_stopped *wave, struct debug_event *event)
{
    *event = (struct debug_event){.kind = DEBUG_EVENT_STEP, .time = debug_now(s), .pc = s->wave.pc};
    if (s->state != DEBUG_STOPPED)
        event->kind = DEBUG_EVENT_END;
    else if (s->faulted)
        event->kind = DEBUG_EVENT_FAULT;
    else if (s->interrupted)
        event->kind = DEBUG_EVENT_INTERRUPTED;
    else if (!is_same(&s->wave, wave))
        event->kind = DEBUG_EVENT_WAVE_END;
}

/* Executes one instruction of the wave; others run if it waits for them. */
static bool one_instruction(struct debug_session *s, struct debug_event *event, struct wm_diag *diag)
{
    const struct wm_stopped wave = s->wave;
    struct debug_goal goal = of_wave(s);
    struct wm_stopped stopped;
    goal.each = goal.wave_end = true;
    do { /* a wave that has not had its turn first comes to the instruction that it is at */
        if (!debug_advance(s, &goal, &stopped, diag))
            return false;
        describe(s, &wave, event);
    } while (event->kind == DEBUG_EVENT_STEP && s->wave.instructions == wave.instructions);
    return true;
}

bool debug_run_to(struct debug_session *s, const uint64_t *addresses, size_t count, struct debug_event *event,
                  struct wm_diag *diag)
{
    const struct wm_stopped wave = s->wave;
    struct debug_goal goal = of_wave(s);
    struct wm_stopped stopped;
    goal.wave_end = true;
    goal.addresses = addresses;
    goal.address_count = count;
    if (!debug_need_wave(s, diag) || !debug_advance(s, &goal, &stopped, diag))
        return false;
    describe(s, &wave, event);
    return true;
}

/* The same, but over a function that the instruction calls. */
static bool next_instruction(struct debug_session *s, struct debug_event *event, struct wm_diag *diag)
{
    struct wm_instruction instruction;
    const unsigned bytes = debug_instruction(s, s->wave.pc, &instruction, NULL);
    const uint64_t after = s->wave.pc + bytes;
    if (!debug_is_call(&instruction))
        return one_instruction(s, event, diag);
    return debug_run_to(s, &after, 1, event, diag);
}

/* Where a step by lines began. */
struct origin {
    const char *file, *symbol;
    unsigned line, depth;
};

static struct origin origin_at(struct debug_session *s, uint64_t pc)
{
    struct debug_frame frames[DEBUG_FRAMES];
    const struct debug_place place = debug_place_of(s, pc);
    const unsigned count = debug_frames(s, pc, frames);
    return (struct origin){place.file, place.symbol, place.line, count - 1};
}

/* The line that the frame at `depth` inlined functions is in: of a deeper function, where it is called. */
static struct origin outer(struct debug_session *s, uint64_t pc, unsigned depth)
{
    struct debug_frame frames[DEBUG_FRAMES];
    const unsigned count = debug_frames(s, pc, frames);
    struct origin at = origin_at(s, pc);
    if (at.depth > depth) {
        const struct debug_frame *frame = &frames[count - 1 - depth];
        at.file = frame->file;
        at.line = frame->line;
        at.depth = depth;
    }
    return at;
}

static bool is_done(struct debug_session *s, enum debug_step how, const struct origin *from)
{
    const bool over = how != DEBUG_STEP_LINE;
    const struct origin at = over ? outer(s, s->wave.pc, from->depth) : origin_at(s, s->wave.pc);
    if (how == DEBUG_FINISH)
        return origin_at(s, s->wave.pc).depth < from->depth;
    if (!at.line)
        return false;
    if (at.symbol != from->symbol || at.depth != from->depth)
        return true;
    if (how == DEBUG_UNTIL)
        return at.line > from->line || at.file != from->file;
    return at.line != from->line || at.file != from->file;
}

static bool has_breakpoint(const struct debug_session *s)
{
    for (size_t i = 0; i < s->breakpoint_count; i++)
        for (size_t a = 0;
             s->breakpoints[i].enabled && !s->breakpoints[i].condition && a < s->breakpoints[i].address_count;
             a++)
            if (s->breakpoints[i].addresses[a] == s->wave.pc)
                return true;
    return false;
}

/* Out of a function that was called, to behind the call. */
static bool finish_call(struct debug_session *s, const struct debug_call *call, struct debug_event *event,
                        struct wm_diag *diag)
{
    return debug_run_to(s, &call->returns_to, 1, event, diag);
}

/* The call of the selected frame, if that is not inlined; NULL: it is, or was not called. */
static const struct debug_call *selected_call(struct debug_session *s, struct debug_call calls[DEBUG_FRAMES])
{
    const struct debug_frame frame = debug_selected_frame(s);
    const unsigned count = debug_calls(s, calls);
    return !frame.inlined && frame.call < count && calls[frame.call].returns_to ? &calls[frame.call] : NULL;
}

static bool step_lines(struct debug_session *s, enum debug_step how, struct debug_event *event,
                       struct wm_diag *diag)
{
    const struct origin from = origin_at(s, s->wave.pc);
    if (!from.line && how != DEBUG_FINISH) /* as gdb: by instruction where no line is known */
        return how == DEBUG_STEP_LINE ? one_instruction(s, event, diag) : next_instruction(s, event, diag);
    struct debug_call calls[DEBUG_FRAMES];
    const struct debug_call *call = how == DEBUG_FINISH ? selected_call(s, calls) : NULL;
    if (call)
        return finish_call(s, call, event, diag);
    if (how == DEBUG_FINISH && from.depth == 0)
        return tool_because(diag, "\"finish\" not meaningful in the outermost frame.");
    do {
        const bool good =
            how == DEBUG_STEP_LINE ? one_instruction(s, event, diag) : next_instruction(s, event, diag);
        if (!good)
            return false;
        if (s->interrupts && s->interrupts(s->interrupts_user) && event->kind == DEBUG_EVENT_STEP)
            event->kind = DEBUG_EVENT_INTERRUPTED;
    } while (event->kind == DEBUG_EVENT_STEP && !is_done(s, how, &from) && !has_breakpoint(s));
    return true;
}

/* ---- backwards ---- */

/* Instructions that a wave has executed. */
struct past {
    struct past_step {
        uint64_t pc, lanes;
        unsigned state;
        struct debug_time time;
    } *step;
    uint64_t first; /* number of step[0] among the wave's, from 0 on */
    size_t count;
};

/* Reads the wave's instructions [from, to), and leaves the session somewhere. The caller frees past->step. */
static bool read_past(struct debug_session *s, const struct wm_stopped *wave, uint64_t from, uint64_t to,
                      struct past *past, struct wm_diag *diag)
{
    struct debug_goal goal = {.of_wave = true, .wave = wave->wave, .count = from + 1};
    struct wm_stopped stopped;
    memcpy(goal.workgroup, wave->workgroup, sizeof goal.workgroup);
    *past = (struct past){.first = from, .step = malloc((to - from + 1) * sizeof *past->step)};
    if (!past->step)
        return tool_because(diag, "out of memory");
    if (!debug_go_before(s, wave->workgroup, wave->wave, from + 1, diag) ||
        !debug_advance(s, &goal, &stopped, diag))
        return false;
    goal.count = 0;
    goal.each = true;
    while (s->state == DEBUG_STOPPED && past->count < to - from) {
        past->step[past->count++] =
            (struct past_step){s->wave.pc, s->wave.lanes, s->wave.state, debug_now(s)};
        if (past->count < to - from && !debug_advance(s, &goal, &stopped, diag))
            return false;
    }
    return true;
}

/* Asked about the instructions of the past, the latest one first: whether it is the one that is looked for.
 */
typedef bool past_is(struct debug_session *s, const struct past *past, size_t index, void *user);

/* Finds the latest instruction of the wave before now. *found false: the session is where it was. */
static bool search_past(struct debug_session *s, past_is *is, void *user, struct past_step *step, bool *found,
                        struct wm_diag *diag)
{
    const struct wm_stopped wave = s->wave;
    const struct debug_time now = debug_now(s);
    uint64_t to = s->wave.instructions;
    *found = false;
    for (uint64_t window = WINDOW; to && !*found; window *= 4) {
        const uint64_t from = to > window ? to - window : 0;
        struct past past;
        bool good = read_past(s, &wave, from, to, &past, diag);
        for (size_t i = past.count; good && i-- > 0 && !*found;) {
            *found = is(s, &past, i, user);
            *step = past.step[i];
        }
        free(past.step);
        if (!good)
            return false;
        to = from;
    }
    return debug_go_to_wave(s, now, wave.workgroup, wave.wave, diag);
}

struct line_before {
    struct origin from;
    enum debug_step how;
    bool left;             /* an instruction of another line has been seen */
    struct origin target;  /* its line */
    struct past_step last; /* the earliest instruction of the target line that has been seen */
    bool has_last;
};

static bool same_line(const struct origin *a, const struct origin *b)
{
    return a->line == b->line && a->file == b->file && a->symbol == b->symbol && a->depth == b->depth;
}

/* True at the instruction before the first one of the line to which the step goes. */
static bool is_before_line(struct debug_session *s, const struct past *past, size_t index, void *user)
{
    struct line_before *search = user;
    const struct past_step *step = &past->step[index];
    const bool over = search->how != DEBUG_STEP_LINE;
    const struct origin at = over ? outer(s, step->pc, search->from.depth) : origin_at(s, step->pc);
    if (over && at.symbol != search->from.symbol) /* a called function */
        return false;
    if (!at.line)
        return false;
    if (search->how == DEBUG_FINISH)
        return origin_at(s, step->pc).depth < search->from.depth;
    if (!search->left) {
        search->left = true;
        search->target = at; /* the rest of this line, or the line before it */
    }
    if (!same_line(&at, &search->target))
        return true;
    search->last = *step;
    search->has_last = true;
    return false;
}

static bool is_at(struct debug_session *s, const struct past *past, size_t index, void *user)
{
    (void)s;
    return past->step[index].pc == *(const uint64_t *)user;
}

/* Back to the call of the function. */
static bool call_back(struct debug_session *s, const struct debug_call *call, struct debug_event *event,
                      struct wm_diag *diag)
{
    const struct wm_stopped wave = s->wave;
    uint64_t pc = call->returns_to - 4;
    struct past_step step;
    bool found;
    if (!search_past(s, is_at, &pc, &step, &found, diag))
        return false;
    event->kind = found ? DEBUG_EVENT_STEP : DEBUG_EVENT_BEGINNING;
    return !found || debug_go_to_wave(s, step.time, wave.workgroup, wave.wave, diag);
}

static bool step_lines_back(struct debug_session *s, enum debug_step how, struct debug_event *event,
                            struct wm_diag *diag)
{
    struct line_before search = {.from = origin_at(s, s->wave.pc), .how = how};
    const struct wm_stopped wave = s->wave;
    struct past_step step;
    bool found;
    struct debug_call calls[DEBUG_FRAMES];
    const struct debug_call *call = how == DEBUG_FINISH ? selected_call(s, calls) : NULL;
    if (call)
        return call_back(s, call, event, diag);
    if (how == DEBUG_FINISH && !search.from.depth)
        return tool_because(diag, "\"finish\" not meaningful in the outermost frame.");
    if (!search_past(s, is_before_line, &search, &step, &found, diag))
        return false;
    if (how != DEBUG_FINISH || !found)
        step = search.last;
    if (!found && !search.has_last) {
        event->kind = DEBUG_EVENT_BEGINNING;
        return true;
    }
    event->kind = DEBUG_EVENT_STEP;
    return debug_go_to_wave(s, step.time, wave.workgroup, wave.wave, diag);
}

static bool instruction_back(struct debug_session *s, bool over, struct debug_event *event,
                             struct wm_diag *diag)
{
    const struct wm_stopped wave = s->wave;
    const char *symbol = debug_place_of(s, wave.pc).symbol;
    struct debug_goal goal = of_wave(s);
    struct wm_stopped stopped;
    event->kind = DEBUG_EVENT_STEP;
    goal.count = wave.instructions; /* from 1 on: the one before */
    if (!goal.count) {
        event->kind = DEBUG_EVENT_BEGINNING;
        return true;
    }
    do {
        if (!debug_go_before(s, wave.workgroup, wave.wave, goal.count, diag))
            return false;
        const uint64_t from = s->now;
        if (!debug_advance(s, &goal, &stopped, diag))
            return false;
        s->repeated += s->now - from;
    } while (over && debug_place_of(s, s->wave.pc).symbol != symbol && --goal.count);
    return debug_select(s, wave.workgroup, wave.wave, diag);
}

bool debug_step(struct debug_session *s, enum debug_step how, bool backwards, struct debug_event *event,
                struct wm_diag *diag)
{
    *event = (struct debug_event){.kind = DEBUG_EVENT_STEP};
    s->repeated = 0;
    if (backwards && s->state == DEBUG_AFTER && s->now) /* the last instruction of all */
        return debug_go_to(s, (struct debug_time){s->dispatch, s->now - 1}, diag);
    if (!debug_need_wave(s, diag))
        return false;
    if (how == DEBUG_STEP_INSTRUCTION || how == DEBUG_NEXT_INSTRUCTION) {
        const bool over = how == DEBUG_NEXT_INSTRUCTION;
        return backwards ? instruction_back(s, over, event, diag)
               : over    ? next_instruction(s, event, diag)
                         : one_instruction(s, event, diag);
    }
    return backwards ? step_lines_back(s, how, event, diag) : step_lines(s, how, event, diag);
}

/* ---- writes to registers ---- */

struct register_write {
    enum wm_operand_kind kind;
    unsigned number;  /* of an SGPR, VGPR, ... */
    const char *name; /* of a special one */
    unsigned lane;
};

static bool writes_special(const struct wm_instruction *instruction, const char *name)
{
    return (!strncmp(name, "vcc", 3) && instruction->flags & WM_INSTRUCTION_WRITES_VCC) ||
           (!strncmp(name, "exec", 4) && instruction->flags & WM_INSTRUCTION_WRITES_EXEC) ||
           (!strcmp(name, "scc") && instruction->flags & WM_INSTRUCTION_WRITES_SCC);
}

static bool writes_register(struct debug_session *s, const struct past *past, size_t index, void *user)
{
    const struct register_write *wanted = user;
    const struct past_step *step = &past->step[index];
    struct wm_instruction instruction;
    if (!debug_instruction_in(s, step->pc, step->state, &instruction, NULL))
        return false;
    const bool masked = wanted->kind == WM_OPERAND_VGPR || wanted->kind == WM_OPERAND_AGPR;
    if (masked && instruction.flags & WM_INSTRUCTION_MASKED && !(step->lanes >> wanted->lane & 1))
        return false;
    if (wanted->kind == WM_OPERAND_SPECIAL && writes_special(&instruction, wanted->name))
        return true;
    for (unsigned i = 0; i < instruction.operand_count; i++) {
        const struct wm_operand *operand = &instruction.operand[i];
        if (operand->kind != wanted->kind || !operand->written)
            continue;
        if (wanted->kind == WM_OPERAND_SPECIAL
                ? !strncmp(operand->name, wanted->name, strlen(wanted->name)) ||
                      !strncmp(operand->name, wanted->name, strlen(operand->name))
                : wanted->number >= operand->reg && wanted->number - operand->reg < operand->dwords)
            return true;
    }
    return false;
}

bool debug_last_register_write(struct debug_session *s, const char *name, struct debug_write_found *write,
                               bool *found, struct wm_diag *diag)
{
    struct register_write wanted = {.kind = WM_OPERAND_SPECIAL, .name = name, .lane = s->lane};
    const struct wm_stopped wave = s->wave;
    const unsigned lane = s->lane;
    struct past_step step = {0};
    s->repeated = 0;
    if (!debug_need_wave(s, diag))
        return false;
    if (sscanf(name, "v%u", &wanted.number) == 1 && name[1] != 'c')
        wanted.kind = WM_OPERAND_VGPR;
    else if (sscanf(name, "s%u", &wanted.number) == 1)
        wanted.kind = WM_OPERAND_SGPR;
    else if (sscanf(name, "a%u", &wanted.number) == 1)
        wanted.kind = WM_OPERAND_AGPR;
    if (!search_past(s, writes_register, &wanted, &step, found, diag))
        return false;
    s->lane = lane;
    *write =
        (struct debug_write_found){.time = step.time,
                                   .workgroup = {wave.workgroup[0], wave.workgroup[1], wave.workgroup[2]},
                                   .wave = wave.wave,
                                   .lanes = wanted.kind == WM_OPERAND_SGPR ? 0 : step.lanes,
                                   .pc = step.pc,
                                   .state = step.state};
    return true;
}
