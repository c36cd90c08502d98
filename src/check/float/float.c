/* SPDX-License-Identifier: MIT */
/* The checker of floating-point exceptions: where NaNs, infinities and saturated integers arise that are
 * stored.
 *
 * Correct code computes such values on the way: the expansion of a division multiplies by 1/0 and leaves the
 * result to v_div_fixup, exp() overflows and selects another value. So an exception is kept as an event,
 * which registers point to for as long as their values come from it, and is reported when such a register is
 * stored. Arithmetic with a finite result, a select of another value, or a load end that. */
#include "check/float/float.h"

#include "exec/run/dispatch.h"

#include <stdlib.h>
#include <string.h>

static const char no_memory[] = "no memory for all that was to be checked for floating-point exceptions";

struct group { /* a workgroup that runs */
    struct group *next;
    uint64_t number;
    uint32_t waves;
    struct wmi_float_wave *wave[WMI_CHECK_WAVES];
};

struct shard { /* of a worker thread */
    struct wmi_float *check;
    struct group *group, *unused; /* the current one; those that have ended */
    struct wmi_found_set findings;
    bool missed;
};

/* ---- stores ---- */

/* The registers are stored in the lanes. */
static void store(struct shard *shard, struct wmi_float_wave *wave, unsigned number,
                  const struct wmi_float_registers *registers, uint64_t lanes, uint64_t pc)
{
    for (unsigned reg = registers->first; reg < registers->first + registers->count; reg++) {
        const struct wmi_float_row *row = wave->row[reg];
        for (uint64_t left = row ? row->lanes & (reg < WMI_REGISTER_VGPR ? 1 : lanes) : 0; left;) {
            const uint32_t origin = row->origin[__builtin_ctzll(left)] & ~(uint32_t)WMI_FLOAT_STICKY;
            uint64_t same = 0;
            for (uint64_t rest = left; rest; rest &= rest - 1) {
                const unsigned lane = (unsigned)__builtin_ctzll(rest);
                if ((row->origin[lane] & ~(uint32_t)WMI_FLOAT_STICKY) == origin)
                    same |= UINT64_C(1) << lane;
            }
            left &= ~same;
            if (wave->event[origin]->reported)
                continue;
            wave->event[origin]->reported = true;
            struct wmi_found found = wmi_float_found(wave->event[origin], same, pc);
            found.wave = number;
            found.group = shard->group->number;
            found.launch = shard->check->dispatch.launch;
            shard->missed |= !wmi_found_add(&shard->findings, &found);
        }
    }
}

/* ---- private memory ---- */

/* Registers that are spilled, and variables in memory, keep their origins. */
static void store_private(struct shard *shard, struct wmi_float_wave *wave, const struct wmi_access *access,
                          const struct wmi_element *element)
{
    const struct wmi_float_registers *data = &wave->last->data[0];
    const unsigned dwords = access->bytes / 4;
    for (uint64_t lanes = element->mask; lanes; lanes &= lanes - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(lanes);
        for (unsigned dword = 0; dword < (dwords ? dwords : 1) && element->reg + dword < data->count;
             dword++) {
            const uint32_t origin = wmi_float_origin(wave, data->first + element->reg + dword, lane);
            if (origin || dwords) /* a part of a dword leaves the rest */
                shard->missed |= !wmi_float_put_private(wave, element->address[lane] + 4 * dword, origin);
        }
    }
}

static void load_private(struct wmi_float_wave *wave, const struct wmi_access *access,
                         const struct wmi_element *element)
{
    const unsigned dwords = (access->bytes + 3) / 4;
    for (unsigned dword = 0; dword < dwords && element->reg + dword < WMI_FLOAT_LOADED; dword++) {
        const unsigned at = element->reg + dword;
        if (!(wave->loads >> at & 1))
            memset(wave->loaded[at], 0, sizeof wave->loaded[at]);
        wave->loads |= 1u << at;
        for (uint64_t lanes = element->mask; lanes; lanes &= lanes - 1) {
            const unsigned lane = (unsigned)__builtin_ctzll(lanes);
            wave->loaded[at][lane] = wmi_float_private_origin(wave, element->address[lane] + 4 * dword);
        }
    }
}

/* ---- instructions ---- */

static void execute(void *local, void **own, uint32_t number, const uint32_t *scalars)
{
    struct shard *shard = local;
    const char *frame = (const char *)scalars - offsetof(struct wmi_frame, s);
    const struct wmi_wave *running = wmi_wave_of(frame);
    (void)own;
    if (!shard->group || running->index >= shard->group->waves)
        return;
    struct wmi_float_wave **wave = &shard->group->wave[running->index];
    if (!*wave && !(*wave = calloc(1, sizeof **wave))) {
        shard->missed = true;
        return;
    }
    if ((*wave)->last)
        wmi_float_finish(*wave, frame, &shard->missed);
    const struct wmi_float_instruction *insn = wmi_float_instruction_of(shard->check, number);
    wmi_float_begin(*wave, insn, frame);
    const struct wmi_float_operation *operation = &insn->operation[0];
    for (unsigned i = 0; insn->exports && (*wave)->live && i < operation->reads; i++)
        store(shard, *wave, running->index, &operation->read[i], (*wave)->exec, insn->pc);
}

static void see_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    struct shard *shard = local;
    uint64_t lanes = 0;
    (void)slot;
    if (!shard->group || access->wave >= shard->group->waves)
        return;
    struct wmi_float_wave *wave = shard->group->wave[access->wave];
    if (!wave || !wave->last || !(wave->live || wave->privates))
        return;
    for (unsigned e = 0; e < access->elements && e < WMI_ACCESS_ELEMENTS; e++) {
        const struct wmi_element *element = &access->element[e];
        if (!element->private_offset)
            lanes |= element->space != WMI_SPACE_LANES ? element->mask : 0;
        else if (access->kind == WMI_ACCESS_STORE)
            store_private(shard, wave, access, element);
        else if (access->kind == WMI_ACCESS_LOAD && wave->privates)
            load_private(wave, access, element);
    }
    for (unsigned i = 0; i < 2 && lanes && access->kind != WMI_ACCESS_LOAD; i++)
        store(shard, wave, access->wave, &wave->last->data[i], lanes, access->pc);
}

/* Whether no value of the wave has an origin, so that its accesses do not matter. */
static bool has_none(const struct shard *shard, uint32_t number)
{
    const struct wmi_float_wave *wave =
        shard->group && number < shard->group->waves ? shard->group->wave[number] : NULL;
    return !wave || !(wave->live || wave->privates);
}

static bool see_summary(void *local, const struct wmi_address_summary *summary, uint32_t slot)
{
    (void)slot;
    return has_none(local, summary->wave);
}

static bool see_lane(void *local, uint32_t slot, uint32_t wave, uint32_t depth, uint64_t address,
                     const struct wmi_hit *hit)
{
    (void)slot, (void)depth, (void)address, (void)hit;
    return has_none(local, wave);
}

static uint32_t add_instruction(void *self, uint64_t pc, const struct wmi_instruction *insn)
{
    struct wmi_float *check = self;
    const uint32_t number = check->instructions;
    if (number / WMI_FLOAT_CHUNK == WMI_FLOAT_CHUNKS) {
        check->missed = "floating-point exceptions: too many instructions";
        return WMI_NOT_SHOWN;
    }
    struct wmi_float_instruction **chunk = &check->chunk[number / WMI_FLOAT_CHUNK];
    if (!*chunk && !(*chunk = calloc(WMI_FLOAT_CHUNK, sizeof **chunk))) {
        check->missed = no_memory;
        return WMI_NOT_SHOWN;
    }
    struct wmi_float_instruction *entry = wmi_float_instruction_of(check, number);
    entry->number = number;
    wmi_float_describe(check->dispatch.target, pc, insn, entry);
    check->instructions++;
    return number;
}

/* ---- workgroups ---- */

static void resume(void *local, void **mine, uint64_t number, uint32_t waves, uint64_t scratch)
{
    struct shard *shard = local;
    struct group *group = *mine;
    (void)scratch;
    if (!group && waves <= WMI_CHECK_WAVES) {
        group = shard->unused;
        if (group)
            shard->unused = group->next;
        else if (!(group = calloc(1, sizeof *group)))
            shard->missed = true;
    }
    if (!*mine && group) {
        group->number = number;
        group->waves = waves;
        *mine = group;
    }
    shard->group = group;
    shard->missed |= waves > WMI_CHECK_WAVES;
}

static void end_group(void *local, void *mine, uint64_t instructions)
{
    struct shard *shard = local;
    struct group *group = mine;
    (void)instructions;
    if (!group)
        return;
    for (unsigned i = 0; i < WMI_CHECK_WAVES; i++)
        if (group->wave[i])
            wmi_float_clear(group->wave[i]);
    group->next = shard->unused;
    shard->unused = group;
    if (shard->group == group)
        shard->group = NULL;
}

/* ---- the checker ---- */

static void *begin_thread(void *self)
{
    struct shard *shard = calloc(1, sizeof *shard);
    if (shard)
        shard->check = self;
    return shard;
}

static void end_thread(void *self, void *local)
{
    struct wmi_float *check = self;
    struct shard *shard = local;
    if (!shard)
        return;
    pthread_mutex_lock(&check->lock);
    if (!wmi_found_move(&check->findings, &shard->findings) || shard->missed)
        check->missed = no_memory;
    pthread_mutex_unlock(&check->lock);
    for (struct group *group = shard->unused, *next; group; group = next) {
        next = group->next;
        for (unsigned i = 0; i < WMI_CHECK_WAVES; i++)
            wmi_float_destroy(group->wave[i]);
        free(group);
    }
    free(shard);
}

static const char *incomplete(void *self)
{
    return ((const struct wmi_float *)self)->missed;
}

static void *create(unsigned what)
{
    struct wmi_float *check = calloc(1, sizeof *check);
    (void)what;
    if (!check)
        return NULL;
    pthread_mutex_init(&check->lock, NULL);
    check->observer = (struct wmi_observer){
        .self = check,
        .thread_begin = begin_thread,
        .thread_end = end_thread,
        .access = see_access,
        .decoded = add_instruction,
        .execute = execute,
        .summary = see_summary,
        .summary_lane = see_lane,
        .resume = resume,
        .end = end_group,
        .incomplete = incomplete,
    };
    return check;
}

static void destroy(void *self)
{
    struct wmi_float *check = self;
    for (unsigned i = 0; i < WMI_FLOAT_CHUNKS; i++)
        free(check->chunk[i]);
    wmi_found_free(&check->findings);
    pthread_mutex_destroy(&check->lock);
    free(check);
}

static const struct wmi_observer *begin(void *self, const struct wmi_check_dispatch *dispatch)
{
    struct wmi_float *check = self;
    check->dispatch = *dispatch;
    check->missed = NULL;
    if (!dispatch->lowered)
        check->instructions = 0;
    return &check->observer;
}

struct code {
    struct wmi_float_instruction *chunk[WMI_FLOAT_CHUNKS];
    uint32_t instructions;
};

static bool exchange(void *self, void **kept)
{
    struct wmi_float *check = self;
    struct code *code = *kept ? *kept : calloc(1, sizeof *code);
    if (!code)
        return false;
    for (unsigned i = 0; i < WMI_FLOAT_CHUNKS; i++)
        WMI_EXCHANGE(code->chunk[i], check->chunk[i]);
    WMI_EXCHANGE(code->instructions, check->instructions);
    *kept = code;
    return true;
}

static void forget(void *kept)
{
    struct code *code = kept;
    for (unsigned i = 0; code && i < WMI_FLOAT_CHUNKS; i++)
        free(code->chunk[i]);
    free(code);
}

static bool end(void *self, struct wmi_found_set *findings)
{
    struct wmi_float *check = self;
    return wmi_found_move(findings, &check->findings);
}

const struct wmi_checker wmi_checker_float = {
    .name = "floating-point exceptions",
    .classes = WM_CHECK_FLOAT,
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .exchange = exchange,
    .forget = forget,
    .end = end,
};
