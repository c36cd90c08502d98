/* SPDX-License-Identifier: MIT */
/* The checker of uninitialised values: which bytes nobody wrote, and what depends on those that are loaded.
 *
 * A load of such bytes is not an error by itself: code copies padding, updates bit fields, and loads what it
 * then does not use. So a wave that loads them gets a shadow (check/uninit/shadow.h), in which they have
 * other values. It is an error when the two differ in what they do: in a branch, in EXEC, in an address, in
 * what they store to global memory, in a message. */
#include "check/uninit/uninit.h"

#include "sem/table.h"

#include <stdlib.h>

const char wmi_uninit_no_memory[] = "no memory for all that was to be checked";

static uint32_t add_instruction(void *self, uint64_t pc, const struct wmi_instruction *insn)
{
    struct wmi_uninit *check = self;
    const uint32_t number = check->instructions;
    const struct wmi_row *row = &wmi_rows[insn->id];
    if (number / WMI_UNINIT_CHUNK == WMI_UNINIT_CHUNKS) {
        check->missed = "too many instructions";
        return WMI_NOT_SHOWN;
    }
    struct wmi_uninit_instruction **chunk = &check->chunk[number / WMI_UNINIT_CHUNK];
    if (!*chunk && !(*chunk = calloc(WMI_UNINIT_CHUNK, sizeof **chunk))) {
        check->missed = wmi_uninit_no_memory;
        return WMI_NOT_SHOWN;
    }
    struct wmi_uninit_instruction *entry = &(*chunk)[number % WMI_UNINIT_CHUNK];
    *entry = (struct wmi_uninit_instruction){.shadow = {.pc = pc, .id = insn->id}};
    entry->shadow.spans = (uint8_t)wmi_registers_of(check->dispatch.target, insn, entry->shadow.span);
    entry->shadow.comparison = wmi_shadow_comparison_of(insn, entry->shadow.span, entry->shadow.spans);
    entry->shadow.computes =
        row->class == WMI_CLASS_SALU || row->class == WMI_CLASS_VALU || wmi_uninit_exchanges_lanes(row);
    for (unsigned i = 0; i < insn->operands; i++)
        if (insn->operand[i].kind == WMI_OPERAND_SPECIAL && insn->operand[i].reg == WMI_SPECIAL_LDS_DIRECT)
            entry->shadow.computes = false;
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    const unsigned bytes = row->elements * row->bytes;
    entry->distance = wmi_check_distance(insn);
    entry->is_signed = row->flags & WMI_ROW_SIGNED;
    entry->d16 = row->flags & WMI_ROW_D16;
    entry->d16_hi = row->flags & WMI_ROW_D16_HI;
    entry->opaque = row->class == WMI_CLASS_IMAGE || row->class == WMI_CLASS_TBUFFER ||
                    row->flags & WMI_ROW_FORMAT ||
                    (row->memory == WMI_MEMORY_LOAD && result && result->dwords != (bytes + 3) / 4);
    check->decoded = number;
    check->instructions++;
    return number;
}

/* Checks a scalar load. */
static bool see_lane(void *local, uint32_t slot, uint32_t wave, uint32_t depth, uint64_t address,
                     const struct wmi_hit *hit)
{
    struct wmi_uninit_shard *shard = local;
    (void)depth;
    if (!shard->group || wave >= shard->group->waves || address < hit->low || address >= hit->high)
        return false;
    const struct wmi_shadow *shadow = shard->group->shadow[wave];
    const struct wmi_written *written = wmi_uninit_region(shard, address, slot);
    return !(shadow && shadow->last) && (!written || __atomic_load_n(&written->all, __ATOMIC_RELAXED));
}

static uint32_t add_slot(void *self, uint64_t pc, unsigned id)
{
    enum { AT_ONCE = 256 };
    struct wmi_uninit *check = self;
    (void)pc, (void)id;
    if (check->slots % AT_ONCE == 0) {
        uint32_t *more = realloc(check->slot, (check->slots + AT_ONCE) * sizeof *more);
        if (!more) {
            check->missed = wmi_uninit_no_memory;
            return UINT32_MAX;
        }
        check->slot = more;
    }
    check->slot[check->slots] = check->decoded;
    return check->slots++;
}

static void destroy_group(struct wmi_uninit_group *group, uint32_t waves)
{
    for (uint32_t i = 0; i < waves; i++)
        wmi_shadow_destroy(group->shadow[i]);
    wmi_written_destroy(&group->lds);
    free(group);
}

static void *begin_thread(void *self)
{
    struct wmi_uninit_shard *shard = calloc(1, sizeof *shard);
    if (shard)
        shard->check = self;
    return shard;
}

static void end_thread(void *self, void *local)
{
    struct wmi_uninit *check = self;
    struct wmi_uninit_shard *shard = local;
    if (shard && shard->missed)
        check->missed = wmi_uninit_no_memory;
    for (struct wmi_uninit_group *group = shard ? shard->unused : NULL, *next; group; group = next) {
        next = group->next;
        destroy_group(group, check->waves);
    }
    free(shard);
}

/* Starts a workgroup: its LDS and the private memory of its waves are undefined. */
static struct wmi_uninit_group *begin_group(struct wmi_uninit_shard *shard, uint64_t number, uint32_t waves,
                                            uint64_t scratch)
{
    struct wmi_uninit *check = shard->check;
    const struct wmi_check_dispatch *dispatch = &check->dispatch;
    struct wmi_uninit_group *group = shard->unused;
    if (group) {
        shard->unused = group->next;
        wmi_written_restart(&group->lds);
    } else {
        group = calloc(1, sizeof *group + check->waves * sizeof(struct wmi_shadow *));
        if (!group || !wmi_written_create(&group->lds, 0, dispatch->lds_bytes)) {
            free(group);
            shard->missed = true;
            return NULL;
        }
    }
    group->number = number;
    group->waves = waves;
    for (uint32_t wave = 0; dispatch->scratch_stride && wave < waves; wave++) {
        const uint64_t at = scratch + wave * dispatch->scratch_stride;
        const size_t piece = (size_t)((at - dispatch->scratch) / dispatch->scratch_stride);
        if (piece >= check->pieces || !check->scratch_high[piece])
            continue;
        wmi_written_clear(&check->scratch, at, check->scratch_high[piece]);
        check->scratch_high[piece] = 0;
    }
    return group;
}

static void resume(void *local, void **watched, uint64_t number, uint32_t waves, uint64_t scratch)
{
    struct wmi_uninit_shard *shard = local;
    if (!*watched && waves <= shard->check->waves)
        *watched = begin_group(shard, number, waves, scratch);
    shard->group = *watched;
}

static void end_group(void *local, void *watched, uint64_t instructions)
{
    struct wmi_uninit_shard *shard = local;
    struct wmi_uninit_group *group = watched;
    (void)instructions;
    if (!group)
        return;
    for (uint32_t i = 0; i < group->waves; i++)
        if (group->shadow[i])
            group->shadow[i]->last = NULL;
    wmi_undefined_free(&group->lds_values);
    wmi_undefined_free(&group->scratch_values);
    group->next = shard->unused;
    shard->unused = group;
    shard->group = NULL;
}

static const char *incomplete(void *self)
{
    const struct wmi_uninit *check = self;
    return check->lost && !check->missed ? wmi_uninit_no_memory : check->missed;
}

/* ---- the checker ---- */

static void *create(unsigned what)
{
    struct wmi_uninit *check = calloc(1, sizeof *check);
    if (!check)
        return NULL;
    check->origins = what & WM_CHECK_ORIGINS;
    check->observer = (struct wmi_observer){
        .self = check,
        .lds_moves = true,
        .shadows_always = check->origins,
        .thread_begin = begin_thread,
        .thread_end = end_thread,
        .access = wmi_uninit_access,
        .summary_lane = see_lane,
        .instruction = add_slot,
        .decoded = add_instruction,
        .shadow = wmi_uninit_shadow,
        .resume = resume,
        .end = end_group,
        .incomplete = incomplete,
    };
    pthread_mutex_init(&check->lock, NULL);
    return check;
}

static void destroy(void *self)
{
    struct wmi_uninit *check = self;
    for (unsigned i = 0; i < WMI_UNINIT_CHUNKS; i++)
        free(check->chunk[i]);
    wmi_uninit_free_memory(check);
    wmi_found_free(&check->findings);
    wmi_found_free(&check->copied);
    for (size_t i = 0; i < check->names; i++)
        free(check->name[i]);
    free(check->name);
    free(check->copy.name);
    pthread_mutex_destroy(&check->lock);
    free(check->origin);
    free(check->slot);
    free(check);
}

static const struct wmi_observer *begin(void *self, const struct wmi_check_dispatch *dispatch)
{
    struct wmi_uninit *check = self;
    const uint64_t items = (uint64_t)dispatch->workgroup[0] * dispatch->workgroup[1] * dispatch->workgroup[2];
    check->dispatch = *dispatch;
    check->waves = (uint32_t)((items + dispatch->wave_lanes - 1) / dispatch->wave_lanes);
    WMI_TABLE_OF_BUILDS(builds, wmi_uninit_summary);
    check->observer.summary = builds[wmi_cpu_level()][dispatch->wave_lanes != 32];
    if (!dispatch->lowered)
        check->instructions = check->slots = 0;
    check->missed = NULL;
    return wmi_uninit_begin_memory(check) ? &check->observer : NULL;
}

struct code {
    struct wmi_uninit_instruction *chunk[WMI_UNINIT_CHUNKS];
    uint32_t instructions, decoded, *slot, slots;
};

static bool exchange(void *self, void **kept)
{
    struct wmi_uninit *check = self;
    struct code *code = *kept ? *kept : calloc(1, sizeof *code);
    if (!code)
        return false;
    for (unsigned i = 0; i < WMI_UNINIT_CHUNKS; i++)
        WMI_EXCHANGE(code->chunk[i], check->chunk[i]);
    WMI_EXCHANGE(code->instructions, check->instructions);
    WMI_EXCHANGE(code->decoded, check->decoded);
    WMI_EXCHANGE(code->slot, check->slot);
    WMI_EXCHANGE(code->slots, check->slots);
    *kept = code;
    return true;
}

static void forget(void *kept)
{
    struct code *code = kept;
    for (unsigned i = 0; code && i < WMI_UNINIT_CHUNKS; i++)
        free(code->chunk[i]);
    if (code)
        free(code->slot);
    free(code);
}

static bool end(void *self, struct wmi_found_set *findings)
{
    struct wmi_uninit *check = self;
    return wmi_found_move(findings, &check->findings);
}

const struct wmi_checker wmi_checker_uninit = {
    .name = "uninitialised values",
    .classes = WM_CHECK_UNINIT | WM_CHECK_ORIGINS,
    .in_order = true,
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .exchange = exchange,
    .forget = forget,
    .end = end,
    .memory = wmi_uninit_memory,
    .copied = wmi_uninit_copied,
    .outside = wmi_uninit_outside,
};
