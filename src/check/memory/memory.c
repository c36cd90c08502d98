/* SPDX-License-Identifier: MIT */
/* The memory checker: accesses to memory that a kernel was not given. */
#include "check/memory/history.h"
#include "check/memory/memory_rules.h"
#include "memory/buffer.h"
#include "sem/sem.h"

#include <stdlib.h>
#include <string.h>

static const char no_memory[] = "no memory for all that was found";

enum {
    NULL_PAGES = 1 << 16, /* addresses below are taken for null plus an offset */
    DWORD = 4,
};

struct checker {
    const struct wmi_check_dispatch *dispatch;
    struct wmi_observer observer;
    struct wmi_history history;
    pthread_mutex_t lock; /* of what follows, while threads end */
    struct wmi_found_set findings;
    const char *missed; /* why the check is incomplete, or NULL */
};

/* An allocation, and whether the kernel may store to all of it. */
struct range {
    uint64_t low, high;
    bool plain;
};

struct shard { /* of a worker thread */
    struct checker *check;
    struct wmi_found_set findings;
    struct range last; /* the last allocation that was accessed */
    bool missed;
};

/* What the lanes of one access break. */
struct broken {
    uint64_t lanes[WMI_MEMORY_RULES];
    uint64_t address[WMI_MEMORY_RULES]; /* the lowest */
};

static void add(struct broken *broken, enum wmi_memory_rule rule, unsigned lane, uint64_t address)
{
    if (!broken->lanes[rule] || address < broken->address[rule])
        broken->address[rule] = address;
    broken->lanes[rule] |= 1ULL << lane;
}

/* ---- global memory ---- */

static bool overlaps(const struct wmi_guard *guard, uint64_t low, uint64_t high)
{
    return guard->low < high && low < guard->high;
}

static bool guards(void *self, uint64_t low, uint64_t high)
{
    const struct wmi_check_dispatch *d = ((const struct checker *)self)->dispatch;
    for (size_t i = 0; i < d->guard_count; i++)
        if (overlaps(&d->guards[i], low, high))
            return true;
    return false;
}

/* Sets the shard's last range to the allocation that holds the address. False: none does. */
static bool reach(struct shard *shard, uint64_t address)
{
    const struct wmi_check_dispatch *d = shard->check->dispatch;
    struct wmi_hit hit;
    if (address - shard->last.low < shard->last.high - shard->last.low)
        return true;
    if (!wmi_space_reach(d->space, address, &hit))
        return false;
    shard->last = (struct range){hit.low, hit.high,
                                 !(hit.flags & WM_READ_ONLY) && !guards(shard->check, hit.low, hit.high)};
    return true;
}

/* Which rule forbids a store to memory that exists; WMI_MEMORY_RULES: none does. */
static enum wmi_memory_rule forbidden_store(const struct shard *shard, uint64_t address, uint64_t bytes)
{
    static const uint8_t rules[] = {
        [WMI_GUARD_CODE] = WMI_RULE_CODE_STORE,
        [WMI_GUARD_DATA] = WMI_RULE_READ_ONLY_STORE,
        [WMI_GUARD_KERNARG] = WMI_RULE_KERNARG_STORE,
        [WMI_GUARD_CONSTANT] = WMI_RULE_CONST_STORE,
    };
    const struct wmi_check_dispatch *d = shard->check->dispatch;
    for (size_t i = 0; i < d->guard_count; i++)
        if (overlaps(&d->guards[i], address, address + bytes))
            return (enum wmi_memory_rule)rules[d->guards[i].kind];
    const struct wmi_allocation *allocation = wmi_space_find(d->space, address);
    return allocation && allocation->flags & WM_READ_ONLY ? WMI_RULE_READ_ONLY_STORE : WMI_MEMORY_RULES;
}

/* Whether the base address lies in another allocation than the address, and not near it: compilers put a
 * part of an offset into the base, so that it may lie before an array and in the one that precedes it. */
static bool strays(const struct shard *shard, uint64_t base, uint64_t address)
{
    const struct wmi_space *space = shard->check->dispatch->space;
    if (!base || base - shard->last.low <= shard->last.high - shard->last.low)
        return false;
    const struct wmi_allocation *from = wmi_space_find(space, base), *to = wmi_space_find(space, address);
    if (!from || !to || from == to)
        return false;
    const uint64_t distance = base < to->low ? to->low - base : base - to->high;
    return distance >= WMI_SPACE_GAP;
}

static enum wmi_memory_rule not_there(struct checker *check, uint64_t address)
{
    struct wmi_past_allocation freed;
    return wmi_history_freed(&check->history, address, &freed) ? WMI_RULE_USE_AFTER_FREE
           : address < NULL_PAGES                              ? WMI_RULE_NULL_POINTER
                                                               : WMI_RULE_OUT_OF_BOUNDS;
}

static unsigned less(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Whether the lane's access is to private memory. An access of FLAT may be to both kinds; lanes that are not
 * private then have an offset of 0. */
static bool is_private(const struct checker *check, const struct wmi_access *access,
                       const struct wmi_element *element, unsigned lane)
{
    const struct wmi_check_dispatch *d = check->dispatch;
    if (!element->private_offset)
        return false;
    if (access->path != WMI_PATH_FLAT || element->private_offset[lane])
        return true;
    const struct wmi_allocation *scratch = d->scratch ? wmi_space_find(d->space, d->scratch) : NULL;
    return scratch && element->address[lane] - scratch->low < scratch->high - scratch->low;
}

static void see_global_lane(struct shard *shard, const struct wmi_access *access,
                            const struct wmi_element *element, unsigned lane, struct broken *broken)
{
    const uint64_t address = element->address[lane], bit = 1ULL << lane;
    const bool private = is_private(shard->check, access, element, lane);
    if (element->bad_aperture & bit) {
        add(broken, private ? WMI_RULE_PRIVATE_ATOMIC : WMI_RULE_APERTURE, lane,
            private ? element->private_offset[lane] : address);
        return;
    }
    if (private) { /* lies in dwords; clang's own offsets of SS and ST are not aligned to more, whatever
                      RDNA3's ISA asks */
        if (element->bad_range & bit)
            add(broken, WMI_RULE_PRIVATE_OUT_OF_BOUNDS, lane, element->private_offset[lane]);
        else if (element->bad_align & bit && element->private_offset[lane] % less(access->bytes, DWORD))
            add(broken, WMI_RULE_MISALIGNED, lane, element->private_offset[lane]);
        return;
    }
    if (element->dropped & bit) {
        add(broken, access->path == WMI_PATH_IMAGE ? WMI_RULE_IMAGE_DROPPED : WMI_RULE_BUFFER_DROPPED, lane,
            address);
        return;
    }
    if (element->bad_align & bit)
        add(broken, WMI_RULE_MISALIGNED, lane, address);
    if (!reach(shard, address) || access->bytes > shard->last.high - address) {
        const enum wmi_memory_rule rule =
            reach(shard, address) ? WMI_RULE_OUT_OF_BOUNDS : not_there(shard->check, address);
        add(broken, rule, lane, address);
        return;
    }
    if (access->kind != WMI_ACCESS_LOAD && !shard->last.plain) {
        const enum wmi_memory_rule rule = forbidden_store(shard, address, access->bytes);
        if (rule != WMI_MEMORY_RULES)
            add(broken, rule, lane, address);
    }
    /* A V# may begin before an array, and has its own check. */
    if (access->base && (access->path == WMI_PATH_GLOBAL || access->path == WMI_PATH_FLAT) &&
        strays(shard, access->base, address))
        add(broken, WMI_RULE_OTHER_ALLOCATION, lane, address);
}

static void see_global(struct shard *shard, const struct wmi_access *access,
                       const struct wmi_element *element, struct broken *broken)
{
    for (uint64_t left = element->mask; left; left &= left - 1)
        see_global_lane(shard, access, element, (unsigned)__builtin_ctzll(left), broken);
}

/* ---- LDS and GDS ---- */

static void see_share(const struct wmi_element *element, enum wmi_memory_rule rule, struct broken *broken)
{
    for (uint64_t left = element->mask & (element->bad_range | element->bad_align); left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        add(broken, element->bad_range >> lane & 1 ? rule : WMI_RULE_MISALIGNED, lane,
            element->address[lane]);
    }
}

/* ---- findings ---- */

static void describe_buffer(const struct wmi_access_buffer *buffer, struct wmi_found *found)
{
    found->bytes = buffer->bytes;
    found->detail[WMI_DETAIL_BUFFER] = buffer->words[0] | (uint64_t)buffer->words[1] << 32;
    found->detail[WMI_DETAIL_RECORDS] = buffer->words[2] | (uint64_t)buffer->words[3] << 32;
    found->detail[WMI_DETAIL_PLACE] = buffer->index | (uint64_t)buffer->offset << 32;
    found->detail[WMI_DETAIL_SOFFSET] =
        buffer->soffset | (uint64_t)buffer->bytes << 32 | (uint64_t)buffer->idxen << 63;
}

/* What a rule's finding says besides who and where. */
static void fill(const struct shard *shard, const struct wmi_access *access, enum wmi_memory_rule rule,
                 struct wmi_found *found)
{
    struct checker *check = shard->check;
    const struct wmi_check_dispatch *d = check->dispatch;
    const struct wmi_frame *frame = (const struct wmi_frame *)(const void *)access->frame;
    struct wmi_past_allocation freed;
    switch (rule) {
    case WMI_RULE_USE_AFTER_FREE:
        if (wmi_history_freed(&check->history, found->address, &freed)) {
            found->allocation = freed.name->text;
            found->allocation_address = freed.low;
            found->allocation_bytes = freed.high - freed.low;
        }
        break;
    case WMI_RULE_OUT_OF_BOUNDS:
        if (access->base && !wmi_space_find(d->space, found->address) &&
            wmi_space_find(d->space, access->base))
            found->allocation_address = access->base;
        break;
    case WMI_RULE_OTHER_ALLOCATION:
        found->allocation_address = access->base;
        found->detail[WMI_DETAIL_LIMIT] = access->base;
        break;
    case WMI_RULE_PRIVATE_OUT_OF_BOUNDS:
    case WMI_RULE_PRIVATE_ATOMIC:
        found->allocation = WMI_PRIVATE_MEMORY;
        found->allocation_bytes = found->detail[WMI_DETAIL_LIMIT] = d->lane_scratch;
        break;
    case WMI_RULE_LDS_OUT_OF_BOUNDS:
        found->space = WMI_SPACE_LDS;
        found->detail[WMI_DETAIL_LIMIT] = d->lds_bytes;
        break;
    case WMI_RULE_GDS_OUT_OF_BOUNDS:
        found->space = WMI_SPACE_GDS;
        found->detail[WMI_DETAIL_LIMIT] = frame->s[WMI_S_M0] & 0xffff;
        break;
    case WMI_RULE_BUFFER_DROPPED:
        if (access->buffer)
            describe_buffer(access->buffer, found);
        break;
    default:
        break;
    }
}

static void report(struct shard *shard, const struct wmi_access *access, const struct broken *broken,
                   enum wmi_address_space space)
{
    const struct wmi_check_dispatch *d = shard->check->dispatch;
    for (unsigned rule = 0; rule < WMI_MEMORY_RULES; rule++) {
        if (!broken->lanes[rule])
            continue;
        struct wmi_found found = {
            .rule = &wmi_memory_rules[rule],
            .pc = access->pc,
            .count = 1,
            .has_wave = true,
            .wave = access->wave,
            .group = wmi_check_group_number(d, access->workgroup),
            .lanes = access->path == WMI_PATH_SMEM ? 0 : broken->lanes[rule],
            .space = space,
            .address = broken->address[rule],
            .bytes = access->bytes,
            .detail = {[WMI_DETAIL_ACCESS] = (uint64_t)access->kind |
                                             (uint64_t)access->facts->operation << 8 |
                                             (uint64_t)access->path << 16},
            .launch = d->launch,
        };
        fill(shard, access, (enum wmi_memory_rule)rule, &found);
        shard->missed |= !wmi_found_add(&shard->findings, &found);
    }
}

/* ---- the observer ---- */

/* slot: enum wmi_late. What is shown for its base is shown once more if it breaks another rule. */
static void see_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    struct shard *shard = local;
    for (unsigned space = 0; space < WMI_SPACE_LANES; space++) {
        struct broken broken = {{0}, {0}};
        uint64_t any = 0;
        for (unsigned i = 0; i < access->elements; i++) {
            const struct wmi_element *element = &access->element[i];
            if (element->space != space)
                continue;
            if (space == WMI_SPACE_GLOBAL)
                see_global(shard, access, element, &broken);
            else
                see_share(element,
                          space == WMI_SPACE_LDS ? WMI_RULE_LDS_OUT_OF_BOUNDS : WMI_RULE_GDS_OUT_OF_BOUNDS,
                          &broken);
        }
        for (unsigned rule = 0; rule < WMI_MEMORY_RULES; rule++) {
            const bool is_base = rule == WMI_RULE_OTHER_ALLOCATION;
            if (slot == (is_base ? WMI_LATE_REFUSED : WMI_LATE_BASE))
                broken.lanes[rule] = 0;
            any |= broken.lanes[rule];
        }
        if (any)
            report(shard, access, &broken, (enum wmi_address_space)space);
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
    struct checker *check = self;
    struct shard *shard = local;
    pthread_mutex_lock(&check->lock);
    shard->missed |= !wmi_found_move(&check->findings, &shard->findings);
    if (shard->missed)
        check->missed = no_memory;
    pthread_mutex_unlock(&check->lock);
    wmi_found_free(&shard->findings);
    free(shard);
}

static const char *incomplete(void *self)
{
    const struct checker *check = self;
    return check->missed           ? check->missed
           : check->history.missed ? "no memory for what was allocated and freed"
                                   : NULL;
}

/* ---- the checker ---- */

const struct wmi_buffer_rules *wmi_memory_buffer_rules(const void *checker)
{
    const struct checker *check = checker;
    return wmi_buffer_rules(wmi_target_limit(check->dispatch->target, WMI_LIMIT_buffer_rules));
}

static void *create(unsigned what)
{
    struct checker *check = calloc(1, sizeof *check);
    (void)what;
    if (!check)
        return NULL;
    check->observer = (struct wmi_observer){
        .self = check,
        .lds_moves = true,
        .late = true,
        .guards = guards,
        .thread_begin = begin_thread,
        .thread_end = end_thread,
        .access = see_access,
        .incomplete = incomplete,
    };
    pthread_mutex_init(&check->lock, NULL);
    wmi_history_init(&check->history);
    return check;
}

static void destroy(void *self)
{
    struct checker *check = self;
    wmi_found_free(&check->findings);
    wmi_history_destroy(&check->history);
    pthread_mutex_destroy(&check->lock);
    free(check);
}

static const struct wmi_observer *begin(void *self, const struct wmi_check_dispatch *dispatch)
{
    struct checker *check = self;
    check->dispatch = dispatch;
    check->missed = NULL;
    wmi_history_begin_use(&check->history);
    return &check->observer;
}

static bool end(void *self, struct wmi_found_set *findings)
{
    struct checker *check = self;
    return wmi_found_move(findings, &check->findings);
}

/* What visits allocations that have not been freed. */
struct leaks {
    struct wmi_found_set *findings;
    bool ok;
};

static void add_leak(void *user, const struct wmi_past_allocation *allocation)
{
    struct leaks *leaks = user;
    /* The earlier place tells the findings apart: they have no instruction. */
    leaks->ok &= wmi_found_add(leaks->findings,
                               &(struct wmi_found){.rule = &wmi_memory_rules[WMI_RULE_LEAK],
                                                   .first_pc = allocation->low,
                                                   .count = 1,
                                                   .address = allocation->low,
                                                   .bytes = allocation->high - allocation->low,
                                                   .allocation = allocation->name->text,
                                                   .allocation_address = allocation->low,
                                                   .allocation_bytes = allocation->high - allocation->low});
}

static bool find_leaks(void *self, struct wmi_found_set *findings)
{
    struct checker *check = self;
    struct leaks leaks = {findings, true};
    wmi_history_begin_use(&check->history);
    wmi_history_visit(&check->history, add_leak, &leaks);
    return leaks.ok;
}

static void worded(void *self)
{
    struct checker *check = self;
    wmi_history_end_use(&check->history);
}

static void see_memory(void *self, const struct wm_event *event)
{
    struct checker *check = self;
    wmi_history_see(&check->history, event);
}

const struct wmi_checker wmi_checker_memory = {
    .name = "memory",
    .classes = WM_CHECK_MEMORY,
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .end = end,
    .worded = worded,
    .leaks = find_leaks,
    .memory = see_memory,
};
