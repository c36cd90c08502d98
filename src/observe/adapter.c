/* SPDX-License-Identifier: MIT */
/* Converts the events of execution to those of a caller's observer.
 *
 * Execution reports an access before performing it. A caller that requests values receives the event
 * afterwards, so the access is copied: the instruction may overwrite the registers of its addresses and
 * data. */
#include "observe/adapter.h"

#include <stdlib.h>
#include <string.h>

enum {
    PENDING = 4, /* maximum accesses of one instruction: both sides of an LDS move, halves of a block load */
    REGISTERS = 32, /* maximum registers of an instruction's data or result */
    LANES = 64,
    OF_DISPATCHES = WM_EVENT_INSTRUCTION | WM_EVENT_BLOCK | WM_EVENT_BARRIER_ARRIVE | WM_EVENT_BARRIER_LEAVE |
                    WM_EVENT_CACHE | WM_EVENT_MESSAGE | WM_EVENT_EXPORT | WM_EVENT_WAVE_BEGIN |
                    WM_EVENT_WAVE_END | WM_EVENT_WORKGROUP_BEGIN | WM_EVENT_WORKGROUP_END,
};

/* An access that was reported but is not known to be complete. */
struct pending {
    struct wm_event event;
    struct wm_access_place place[WMI_ACCESS_ELEMENTS];
    uint64_t address[WMI_ACCESS_ELEMENTS][LANES], private_offset[WMI_ACCESS_ELEMENTS][LANES];
    struct wmi_access_facts facts;
    const char *frame;
    const unsigned char *lds;
    uint32_t data[2][REGISTERS * LANES]; /* copied before the instruction, if it has a result */
    uint32_t moved[LANES];               /* data of WM_PATH_LDS_MOVE */
};

struct shard { /* of a worker thread */
    const struct wm_observer *outer;
    void *local;
    unsigned count;
    struct pending *pending; /* PENDING entries; NULL: values are not requested */
};

/* ---- accesses ---- */

static struct wm_registers registers_of(const struct wmi_register_range *range, unsigned lanes)
{
    const bool vector = range->file == WM_REGISTER_VGPR || range->file == WM_REGISTER_AGPR;
    return (struct wm_registers){.file = range->count ? (enum wm_register_file)range->file : WM_REGISTER_NONE,
                                 .first = range->first,
                                 .count = range->count,
                                 .stride = vector ? lanes : 1};
}

static void convert(const struct wmi_access *access, struct wm_event *event, struct wm_access_place *places)
{
    const struct wmi_access_facts *facts = access->facts;
    *event = (struct wm_event){
        .kind = WM_EVENT_ACCESS,
        .pc = access->pc,
        .workgroup = {access->workgroup[0], access->workgroup[1], access->workgroup[2]},
        .wave = access->wave,
        .lanes = access->lanes,
        .access = {.path = (enum wm_path)access->path,
                   .kind = (enum wm_access_kind)access->kind,
                   .atomic = (enum wm_atomic)facts->operation,
                   .scope = (enum wm_scope)facts->scope,
                   .policy = access->policy,
                   .bytes = access->bytes,
                   .places = access->elements,
                   .place = places,
                   .wave_size = facts->lanes,
                   .data = {registers_of(&facts->data[0], facts->lanes),
                            registers_of(&facts->data[1], facts->lanes)},
                   .result = registers_of(&facts->result, facts->lanes)},
    };
    for (unsigned i = 0; i < access->elements; i++) {
        const struct wmi_element *element = &access->element[i];
        places[i] = (struct wm_access_place){.space = (enum wm_space)element->space,
                                             .lanes = element->mask,
                                             .out_of_range = element->bad_range & element->mask,
                                             .misaligned = element->bad_align & element->mask,
                                             .no_address = element->bad_aperture & element->mask,
                                             .address = element->address,
                                             .private_offset = element->private_offset,
                                             .first_register = element->reg};
    }
}

/* Reports pending accesses whose instruction did not complete. */
static void give_up(struct shard *shard)
{
    for (unsigned i = 0; i < shard->count; i++)
        shard->outer->event(shard->local, &shard->pending[i].event);
    shard->count = 0;
}

static const uint32_t *at_offset(const char *frame, const struct wmi_register_range *range)
{
    return (const uint32_t *)(const void *)(frame + range->offset);
}

static void keep_data(struct pending *p, unsigned which)
{
    const struct wm_registers *data = &p->event.access.data[which];
    const size_t words = data->count < REGISTERS ? data->count : REGISTERS;
    if (words)
        memcpy(p->data[which], at_offset(p->frame, &p->facts.data[which]), 4 * words * data->stride);
}

/* Makes a deep copy of the access. */
static void keep(struct shard *shard, const struct wmi_access *access)
{
    if (shard->count == PENDING)
        give_up(shard);
    struct pending *p = &shard->pending[shard->count++];
    convert(access, &p->event, p->place);
    p->facts = *access->facts;
    p->frame = access->frame;
    p->lds = access->lds;
    const size_t bytes = p->facts.lanes * sizeof(uint64_t);
    for (unsigned i = 0; i < access->elements; i++) {
        const bool scalar = access->path == WMI_PATH_SMEM; /* SMEM has one address */
        memcpy(p->address[i], access->element[i].address, scalar ? sizeof(uint64_t) : bytes);
        p->place[i].address = p->address[i];
        if (access->element[i].private_offset)
            p->place[i].private_offset =
                memcpy(p->private_offset[i], access->element[i].private_offset, bytes);
    }
    if (p->facts.result.count)
        for (unsigned which = 0; which < 2; which++)
            keep_data(p, which);
}

/* Reads the data of a move from LDS, because it has no registers. */
static void find_moved(struct pending *p)
{
    const struct wm_access_place *place = &p->place[0];
    for (uint64_t left = place->lanes & ~place->out_of_range; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        memcpy(&p->moved[lane], p->lds + place->address[lane], sizeof *p->moved);
    }
    p->event.access.result = (struct wm_registers){.count = 1, .stride = p->facts.lanes, .values = p->moved};
}

static void complete(struct pending *p)
{
    struct wm_access *access = &p->event.access;
    access->completed = true;
    for (unsigned which = 0; which < 2; which++)
        if (access->data[which].count)
            access->data[which].values =
                p->facts.result.count ? p->data[which] : at_offset(p->frame, &p->facts.data[which]);
    if (access->result.count)
        access->result.values = at_offset(p->frame, &p->facts.result);
    if (access->path == WM_PATH_LDS_MOVE)
        find_moved(p);
}

static void see_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    struct shard *shard = local;
    struct wm_access_place places[WMI_ACCESS_ELEMENTS];
    struct wm_event event;
    (void)slot;
    if (access->path == WMI_PATH_CONTROL)
        return; /* see_event() reports it */
    if (shard->pending) {
        keep(shard, access);
        return;
    }
    convert(access, &event, places);
    shard->outer->event(shard->local, &event);
}

static void see_done(void *local)
{
    struct shard *shard = local;
    for (unsigned i = 0; i < shard->count; i++)
        complete(&shard->pending[i]);
    give_up(shard);
}

/* ---- the rest ---- */

static void see_event(void *local, const struct wm_event *event)
{
    struct shard *shard = local;
    give_up(shard);
    shard->outer->event(shard->local, event);
}

static void end_group(void *local, void *group, uint64_t instructions)
{
    (void)group, (void)instructions;
    give_up(local);
}

static void *begin_thread(void *self)
{
    const struct wmi_adapter *adapter = self;
    const struct wm_observer *outer = &adapter->outer;
    struct shard *shard = calloc(1, sizeof *shard);
    if (!shard)
        return NULL;
    shard->outer = outer;
    if (adapter->inner.done && !(shard->pending = malloc(PENDING * sizeof *shard->pending))) {
        free(shard);
        return NULL;
    }
    shard->local = outer->begin_thread ? outer->begin_thread(outer->user) : outer->user;
    if (outer->begin_thread && !shard->local) {
        free(shard->pending);
        free(shard);
        return NULL;
    }
    return shard;
}

static void end_thread(void *self, void *local)
{
    const struct wmi_adapter *adapter = self;
    struct shard *shard = local;
    if (adapter->outer.end_thread)
        adapter->outer.end_thread(adapter->outer.user, shard->local);
    free(shard->pending);
    free(shard);
}

static const char *incomplete(void *self)
{
    const struct wm_observer *outer = &((const struct wmi_adapter *)self)->outer;
    return outer->incomplete ? outer->incomplete(outer->user) : NULL;
}

void wmi_adapter_init(struct wmi_adapter *adapter, const struct wm_observer *outer)
{
    const bool accesses = outer->events & WM_EVENT_ACCESS;
    const bool values = accesses && outer->events & WM_EVENT_VALUES;
    *adapter = (struct wmi_adapter){0};
    memcpy(&adapter->outer, outer, outer->struct_size < sizeof *outer ? outer->struct_size : sizeof *outer);
    adapter->inner = (struct wmi_observer){
        .self = adapter,
        .events = outer->events & OF_DISPATCHES,
        .lds_moves = accesses,
        .thread_begin = begin_thread,
        .thread_end = end_thread,
        .access = accesses ? see_access : NULL,
        .done = values ? see_done : NULL,
        .end = values ? end_group : NULL,
        .event = see_event,
        .incomplete = incomplete,
    };
}
