/* SPDX-License-Identifier: MIT */
/* Return addresses, by the calling convention: a function is called with its return address in s[30:31]. LLVM
 * emits no rules to find it later (clang 15 to 22 write FDEs without instructions), so the code of the
 * function up to the pc is read: where it puts s30, s31, the caller's s33, and VGPRs that it saves. Source:
 * LLVM AMDGPUUsage, "Call Convention", "Non-Kernel Functions". */
#include "tool/debug/calls.h"

#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

enum { RETURN_LOW = 30, RETURN_HIGH = 31, STACK = 32, FRAME = 33, MOST_READ = 1 << 14 /* instructions */ };

/* Where a value of 32 bits is. */
struct held {
    enum { IN_SGPR, IN_LANE, IN_SPECIAL } in;
    unsigned number, lane;
    const char *name; /* of a special register: "vcc_lo" */
};

/* What a function has done with its caller's registers up to an instruction. */
struct prologue {
    struct held low, high, frame;
    bool has_frame; /* it has set s33 for itself */
    struct {
        unsigned vgpr, base;
        int64_t offset;
        bool per_wave; /* the base is an offset for the whole wave */
    } saved[DEBUG_SAVED];
    unsigned saved_count;
};

static bool is_sgpr(const struct wm_operand *operand, unsigned number)
{
    return operand->kind == WM_OPERAND_SGPR && operand->reg == number;
}

static int64_t modifier(const struct wm_instruction *i, const char *name)
{
    for (unsigned m = 0; m < i->modifier_count; m++)
        if (!strcmp(i->modifier[m].name, name))
            return i->modifier[m].value;
    return 0;
}

/* A VGPR that is stored at s33 or s32 before the function uses it. */
static void see_store(const struct wm_instruction *i, struct prologue *p)
{
    const struct wm_operand *data = NULL, *base = NULL;
    const bool buffer = !strncmp(i->name, "buffer_store", 12);
    if (!buffer && strncmp(i->name, "scratch_store", 13))
        return;
    for (unsigned o = 0; o < i->operand_count; o++) {
        const struct wm_operand *operand = &i->operand[o];
        if (!strcmp(operand->role, "data") && operand->kind == WM_OPERAND_VGPR && operand->dwords == 1)
            data = operand;
        if (is_sgpr(operand, FRAME) || is_sgpr(operand, STACK))
            base = operand;
    }
    for (unsigned n = 0; data && n < p->saved_count; n++)
        if (p->saved[n].vgpr == data->reg)
            return;
    if (!data || !base || p->saved_count == DEBUG_SAVED)
        return;
    p->saved[p->saved_count].vgpr = data->reg;
    p->saved[p->saved_count].base = base->reg;
    p->saved[p->saved_count].offset = modifier(i, "offset");
    p->saved[p->saved_count++].per_wave = buffer;
}

static void move_held(struct held *held, unsigned from, struct held to)
{
    if (held->in == IN_SGPR && held->number == from)
        *held = to;
}

/* Follows what the instruction does with the caller's registers. */
static void see(const struct wm_instruction *i, struct prologue *p)
{
    const struct wm_operand *o = i->operand;
    if (i->operand_count >= 3 && !strncmp(i->name, "v_writelane_b32", 15) && o[1].kind == WM_OPERAND_SGPR) {
        const struct held lane = {.in = IN_LANE, .number = o[0].reg, .lane = (unsigned)o[2].value};
        move_held(&p->low, o[1].reg, lane);
        move_held(&p->high, o[1].reg, lane);
        if (!p->has_frame || p->frame.number != FRAME)
            move_held(&p->frame, o[1].reg, lane);
    } else if (i->operand_count >= 3 && !strncmp(i->name, "v_readlane_b32", 14)) {
        if (is_sgpr(&o[0], RETURN_LOW))
            p->low = (struct held){.in = IN_SGPR, .number = RETURN_LOW};
        if (is_sgpr(&o[0], RETURN_HIGH))
            p->high = (struct held){.in = IN_SGPR, .number = RETURN_HIGH};
    } else if (i->operand_count >= 2 && !strcmp(i->name, "s_mov_b32")) {
        if (is_sgpr(&o[0], FRAME) && is_sgpr(&o[1], STACK))
            p->has_frame = true;
        else if (is_sgpr(&o[1], FRAME) && !p->has_frame)
            p->frame = o[0].kind == WM_OPERAND_SPECIAL ? (struct held){.in = IN_SPECIAL, .name = o[0].name}
                                                       : (struct held){.in = IN_SGPR, .number = o[0].reg};
        else if (is_sgpr(&o[0], FRAME) && p->has_frame) /* the epilogue has restored it */
            p->has_frame = false, p->frame = (struct held){.in = IN_SGPR, .number = FRAME};
    } else if (i->operand_count >= 2 && !strcmp(i->name, "s_mov_b64")) {
        if (is_sgpr(&o[1], RETURN_LOW) && o[0].kind == WM_OPERAND_SGPR) {
            p->low = (struct held){.in = IN_SGPR, .number = o[0].reg};
            p->high = (struct held){.in = IN_SGPR, .number = o[0].reg + 1u};
        } else if (is_sgpr(&o[0], RETURN_LOW) && p->low.in == IN_SGPR && is_sgpr(&o[1], p->low.number)) {
            p->low = (struct held){.in = IN_SGPR, .number = RETURN_LOW};
            p->high = (struct held){.in = IN_SGPR, .number = RETURN_HIGH};
        }
    } else {
        see_store(i, p);
    }
}

static bool is_return(const struct wm_instruction *i)
{
    return !strncmp(i->name, "s_setpc", 7) && i->operand_count && is_sgpr(&i->operand[0], RETURN_LOW);
}

/* Reads the code from `begin` up to `pc`. Behind a return, registers are as they were before the epilogue. */
static struct prologue read_code(const struct debug_session *s, uint64_t begin, uint64_t pc)
{
    struct prologue p = {.low = {.in = IN_SGPR, .number = RETURN_LOW},
                         .high = {.in = IN_SGPR, .number = RETURN_HIGH},
                         .frame = {.in = IN_SGPR, .number = FRAME}},
                    body = p;
    for (unsigned count = 0; begin < pc && count < MOST_READ; count++) {
        struct wm_instruction i;
        const unsigned bytes = debug_instruction(s, begin, &i, NULL);
        if (!bytes)
            break;
        see(&i, &p);
        if (p.low.in == IN_LANE && p.high.in == IN_LANE && p.has_frame >= body.has_frame)
            body = p;
        if (is_return(&i))
            p = body;
        begin += bytes;
    }
    return p;
}

/* ---- registers of callers ---- */

static bool get(struct debug_session *s, const char *prefix, unsigned number, unsigned lane, uint32_t *value)
{
    char name[16];
    uint32_t values[DEBUG_LANES];
    struct wm_diag ignored;
    snprintf(name, sizeof name, "%s%u", prefix, number);
    if (!debug_get(s, name, values, DEBUG_LANES, &ignored))
        return false;
    *value = values[*prefix == 's' ? 0 : lane];
    return true;
}

static bool read_vgpr(struct debug_session *s, const struct debug_call *call, unsigned vgpr, unsigned lane,
                      uint32_t *value)
{
    struct wm_diag ignored;
    for (unsigned i = 0; i < call->saved_count; i++)
        if (call->saved[i].vgpr == vgpr)
            return debug_read(s, DEBUG_PRIVATE, lane, call->saved[i].offset, value, sizeof *value, &ignored);
    return get(s, "v", vgpr, lane, value);
}

static bool read_held(struct debug_session *s, const struct debug_call *call, const struct held *held,
                      uint32_t *value)
{
    struct wm_diag ignored;
    switch (held->in) {
    case IN_LANE:
        return read_vgpr(s, call, held->number, held->lane, value);
    case IN_SPECIAL:
        return debug_get(s, held->name, value, 1, &ignored);
    default:
        return get(s, "s", held->number, 0, value);
    }
}

static bool is_kernel(const struct debug_place *place)
{
    for (size_t i = 0; i < wm_object_kernel_count(place->object); i++)
        if (wm_object_kernel(place->object, i)->entry == place->address - place->offset)
            return true;
    return false;
}

static bool is_behind_call(const struct debug_session *s, uint64_t pc)
{
    struct wm_instruction i;
    return pc > 4 && debug_instruction(s, pc - 4, &i, NULL) == 4 && debug_is_call(&i);
}

/* Puts what the function has saved in front of what is known already: it has been called by the outer one. */
static void add_saved(struct debug_session *s, const struct prologue *p, const struct debug_call *callee,
                      struct debug_call *caller)
{
    for (unsigned i = 0; i < p->saved_count; i++) {
        const uint32_t base = p->saved[i].base == FRAME ? callee->frame_base : callee->stack;
        const struct debug_saved new = {p->saved[i].vgpr,
                                        (p->saved[i].per_wave ? base / s->wave.wave_size : base) +
                                            (uint32_t)p->saved[i].offset};
        unsigned at = 0;
        while (at < caller->saved_count && caller->saved[at].vgpr != new.vgpr)
            at++;
        if (at == DEBUG_SAVED)
            continue;
        caller->saved[at] = new;
        caller->saved_count += at == caller->saved_count;
    }
}

/* Finds the caller. False: it is a kernel, or not known. */
static bool find_caller(struct debug_session *s, struct debug_call *call, struct debug_call *caller)
{
    const struct debug_place place = debug_place_of(s, call->pc);
    uint32_t low, high;
    call->returns_to = 0;
    if (!place.object || !place.symbol || is_kernel(&place))
        return false;
    const struct prologue p = read_code(s, call->pc - place.offset, call->pc);
    if (!read_held(s, call, &p.low, &low) || !read_held(s, call, &p.high, &high) ||
        !is_behind_call(s, low | (uint64_t)high << 32))
        return false;
    call->returns_to = low | (uint64_t)high << 32;
    *caller = *call;
    caller->pc = call->returns_to - 4;
    if (p.has_frame) {
        caller->stack = call->frame_base;
        if (!read_held(s, call, &p.frame, &caller->frame_base))
            return false;
    }
    add_saved(s, &p, call, caller);
    return true;
}

unsigned debug_calls(struct debug_session *s, struct debug_call calls[DEBUG_FRAMES])
{
    unsigned count = 1;
    calls[0] = (struct debug_call){.pc = s->wave.pc};
    get(s, "s", FRAME, 0, &calls[0].frame_base);
    get(s, "s", STACK, 0, &calls[0].stack);
    while (count < DEBUG_FRAMES && find_caller(s, &calls[count - 1], &calls[count]))
        count++;
    return count;
}

unsigned debug_stack(struct debug_session *s, struct debug_frame frames[DEBUG_FRAMES])
{
    struct debug_call calls[DEBUG_FRAMES];
    struct debug_frame of_call[DEBUG_FRAMES];
    const unsigned call_count = debug_calls(s, calls);
    unsigned count = 0;
    for (unsigned call = 0; call < call_count; call++) {
        const unsigned more = debug_frames(s, calls[call].pc, of_call);
        for (unsigned i = 0; i < more && count < DEBUG_FRAMES; i++) {
            frames[count] = of_call[i];
            if (frames[count].function == of_call[i].name)
                frames[count].function = frames[count].name;
            frames[count++].call = call;
        }
    }
    return count;
}

struct debug_frame debug_selected_frame(struct debug_session *s)
{
    struct debug_frame frames[DEBUG_FRAMES];
    const unsigned count = debug_stack(s, frames);
    return frames[s->frame < count ? s->frame : 0];
}

bool debug_register_in(struct debug_session *s, const struct debug_call *call, const char *name,
                       unsigned lane, uint32_t *value)
{
    char *end;
    const unsigned long number = strtoul(name + 1, &end, 10);
    const bool numbered = end > name + 1 && !*end;
    if (!call) {
        uint32_t values[DEBUG_LANES];
        struct wm_diag ignored;
        const bool lanes = numbered && (*name == 'v' || *name == 'a');
        if (!debug_get(s, name, values, DEBUG_LANES, &ignored))
            return false;
        *value = values[lanes ? lane : 0];
        return true;
    }
    if (*name == 's' && numbered && (number == FRAME || number == STACK)) {
        *value = number == FRAME ? call->frame_base : call->stack;
        return true;
    }
    for (unsigned i = 0; *name == 'v' && numbered && i < call->saved_count; i++)
        if (call->saved[i].vgpr == number)
            return read_vgpr(s, call, (unsigned)number, lane, value);
    return false;
}
