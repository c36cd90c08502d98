/* SPDX-License-Identifier: MIT */
/* Scans blocks of code for the latencies that a wave cannot hide.
 *
 * A wave issues in order and waits only at s_waitcnt and its relatives, so the scan walks through a block
 * with a clock: each instruction takes its issue time; a memory instruction is in flight for the usual
 * latency of its kind; a wait advances the clock to the end of the last access that it covers. How far it
 * advances, relative to the latency of that access, is the exposed part. Accesses in flight together are thus
 * waited for once, and those that arrive while the wave computes not at all.
 *
 * A block starts with the accesses in flight at the end of the block before it. Of several, the one of the
 * smallest loop counts, because it is executed most; without a loop, the one that falls through.
 *
 * Issue times and the latencies of results: GCN and CDNA issue an instruction of a wave every four clocks,
 * and its result is there for the next one (AMD, "Graphics Cores Next" white paper). RDNA issues one per
 * clock; results of the VALU can be used after 5, of transcendental functions after 10 and of the SALU after
 * 2 clocks (medians of single instructions of gfx1100 and gfx1200, thread traces published by tinygrad);
 * those of 32-bit integer products and of f64, which are not in these traces, after 8 (assumed). */
#include "profile/time/path.h"

#include "isa/rules/registers.h"
#include "isa/rules/wait.h"

#include <stdlib.h>
#include <string.h>

enum {
    FLIGHTS = 64, /* accesses in flight at once; earlier ones are forgotten */
    PASSES = 3,   /* over all blocks: accesses in flight travel through so many blocks at least */
    NO_BLOCK = UINT32_MAX,
};

/* Only the ratio to the issue time matters: it decides how much of a latency other instructions hide. */
static const uint16_t usual_latency[WMI_PATH_KINDS] = {
    [WMI_PATH_KIND_MEMORY] = 500,
    [WMI_PATH_KIND_LDS] = 64,
    [WMI_PATH_KIND_SCALAR] = 150,
};

uint32_t wmi_path_usual_latency(enum wmi_path_kind kind)
{
    return usual_latency[kind];
}

struct item {
    uint64_t pc;
    uint16_t id;
    uint8_t kind;                     /* enum wmi_path_kind */
    uint8_t clocks;                   /* until the next instruction may issue, as far as this one decides */
    uint8_t units[WMI_COUNTER_COUNT]; /* increments of counters */
    uint8_t limit[WMI_COUNTER_COUNT]; /* waits; UINT8_MAX: not for this one */
    bool waits;
};

struct block {
    uint64_t from, to, branch; /* branch: where it may go; 0: nowhere */
    bool ends;
    uint32_t number;
    uint32_t first, count; /* of its items */
    uint32_t before;       /* the block that usually leads here; NO_BLOCK: none */
    struct wmi_path_cost cost;
    struct flight *out; /* in flight at its end, out_count of them, with times relative to it */
    uint32_t out_count;
};

struct flight {
    const struct item *item;
    int64_t since, ready;
};

struct wmi_paths {
    const struct wmi_target *target;
    unsigned lanes;
    bool fast; /* instructions issue each clock and may wait for results */
    bool failed;
    struct item *items;
    uint32_t item_count, item_capacity;
    uint32_t open; /* first item of the current block */
    uint64_t branch;
    bool ends;
    uint32_t stalls, barriers; /* of the current block */
    uint32_t clock, ready[WMI_REGISTER_COUNT];
    struct block *blocks;
    uint32_t block_count, block_capacity;
    uint32_t *by_number; /* index + 1 */
    uint32_t numbers;
};

struct wmi_paths *wmi_paths_create(void)
{
    return calloc(1, sizeof(struct wmi_paths));
}

static void forget_blocks(struct wmi_paths *paths)
{
    for (uint32_t i = 0; i < paths->block_count; i++) {
        free(paths->blocks[i].cost.waits);
        free(paths->blocks[i].out);
    }
    paths->block_count = paths->item_count = paths->open = 0;
    if (paths->numbers)
        memset(paths->by_number, 0, paths->numbers * sizeof *paths->by_number);
}

void wmi_paths_destroy(struct wmi_paths *paths)
{
    if (!paths)
        return;
    forget_blocks(paths);
    free(paths->items);
    free(paths->blocks);
    free(paths->by_number);
    free(paths);
}

/* By the limit `rates`. */
bool wmi_path_each_clock(const struct wmi_target *target)
{
    static const bool each_clock[] = {false, false, false, true, true};
    const unsigned row = wmi_target_limit(target, WMI_LIMIT_rates);
    return row < sizeof each_clock / sizeof *each_clock && each_clock[row];
}

static void begin_block(struct wmi_paths *paths)
{
    paths->open = paths->item_count;
    paths->branch = 0;
    paths->ends = false;
    paths->stalls = paths->barriers = paths->clock = 0;
    memset(paths->ready, 0, sizeof paths->ready);
}

void wmi_paths_begin(struct wmi_paths *paths, const struct wmi_target *target, unsigned lanes)
{
    forget_blocks(paths);
    paths->target = target;
    paths->lanes = lanes;
    paths->fast = target && wmi_path_each_clock(target);
    paths->failed = false;
    begin_block(paths);
}

/* ---- instructions ---- */

enum wmi_path_kind wmi_path_kind_of(const struct wmi_row *row)
{
    switch (row->work) {
    case WMI_WORK_VECTOR_MEMORY:
        return WMI_PATH_KIND_MEMORY;
    case WMI_WORK_LDS:
    case WMI_WORK_GDS:
        return WMI_PATH_KIND_LDS;
    case WMI_WORK_SMEM:
        return WMI_PATH_KIND_SCALAR;
    default:
        return WMI_PATH_KIND_NONE;
    }
}

uint32_t wmi_path_result_clocks(unsigned work)
{
    switch (work) {
    case WMI_WORK_SALU:
        return 2;
    case WMI_WORK_TRANS:
    case WMI_WORK_DOUBLE_TRANS:
        return 10;
    case WMI_WORK_MULTIPLY:
    case WMI_WORK_DOUBLE:
    case WMI_WORK_DOUBLE_MUL:
        return 8;
    default:
        return work >= WMI_WORK_FULL ? 5 : 1;
    }
}

/* Waits for the registers that the instruction reads; adds the clocks to the block's stalls. */
static void depend(struct wmi_paths *paths, const struct wmi_instruction *insn, unsigned work)
{
    struct wmi_span_of_registers spans[WMI_SPANS];
    const unsigned count = wmi_registers_of(paths->target, insn, spans);
    uint32_t ready = paths->clock;
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; spans[i].read && k < spans[i].count; k++)
            if (spans[i].first + k < WMI_REGISTER_COUNT && paths->ready[spans[i].first + k] > ready)
                ready = paths->ready[spans[i].first + k];
    paths->stalls += ready - paths->clock;
    paths->clock = ready + 1;
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; spans[i].written && k < spans[i].count; k++)
            if (spans[i].first + k < WMI_REGISTER_COUNT)
                paths->ready[spans[i].first + k] = ready + wmi_path_result_clocks(work);
}

static struct item *add_item(struct wmi_paths *paths)
{
    if (paths->item_count == paths->item_capacity) {
        const uint32_t capacity = paths->item_capacity ? 2 * paths->item_capacity : 256;
        struct item *items = realloc(paths->items, capacity * sizeof *items);
        if (!items) {
            paths->failed = true;
            return NULL;
        }
        paths->items = items;
        paths->item_capacity = capacity;
    }
    struct item *item = &paths->items[paths->item_count++];
    *item = (struct item){0};
    return item;
}

void wmi_paths_take(struct wmi_paths *paths, uint64_t pc, const struct wmi_instruction *insn,
                    uint64_t target_pc, bool ends)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const uint32_t stalls = paths->stalls;
    if (paths->fast)
        depend(paths, insn, row->work);
    const uint32_t clocks = paths->fast ? 1 + paths->stalls - stalls : row->work == WMI_WORK_TRANS ? 16 : 4;
    const struct wmi_wait_facts facts = wmi_wait_facts_of(paths->target, insn);
    const enum wmi_path_kind kind = wmi_path_kind_of(row);
    const bool barrier = insn->id == WMI_INSN_s_barrier || insn->id == WMI_INSN_s_barrier_wait;
    paths->barriers += barrier;
    paths->branch = target_pc;
    paths->ends = ends;
    struct item *last = paths->item_count > paths->open ? &paths->items[paths->item_count - 1] : NULL;
    if (!facts.waits && kind == WMI_PATH_KIND_NONE && last && last->clocks + clocks <= UINT8_MAX) {
        last->clocks = (uint8_t)(last->clocks + clocks);
        return;
    }
    struct item *item = add_item(paths);
    if (!item)
        return;
    item->pc = pc;
    item->id = insn->id;
    item->kind = (uint8_t)kind;
    item->clocks = (uint8_t)(clocks < UINT8_MAX ? clocks : UINT8_MAX);
    item->waits = facts.waits;
    memcpy(item->limit, facts.limit, sizeof item->limit);
    for (unsigned i = 0; i < facts.events; i++)
        if (facts.event[i].counter != WMI_COUNTER_EXP)
            item->units[facts.event[i].counter] += facts.event[i].units;
}

/* ---- blocks ---- */

void wmi_paths_block(struct wmi_paths *paths, uint64_t from, uint64_t to, uint32_t number)
{
    if (number == UINT32_MAX || from == to) {
        paths->item_count = paths->open;
        begin_block(paths);
        return;
    }
    if (paths->block_count == paths->block_capacity) {
        const uint32_t capacity = paths->block_capacity ? 2 * paths->block_capacity : 64;
        struct block *blocks = realloc(paths->blocks, capacity * sizeof *blocks);
        paths->failed |= !blocks;
        if (!blocks)
            return;
        paths->blocks = blocks;
        paths->block_capacity = capacity;
    }
    if (number >= paths->numbers) {
        const uint32_t numbers = 2 * number + 64;
        uint32_t *by_number = realloc(paths->by_number, numbers * sizeof *by_number);
        paths->failed |= !by_number;
        if (!by_number)
            return;
        memset(by_number + paths->numbers, 0, (numbers - paths->numbers) * sizeof *by_number);
        paths->by_number = by_number;
        paths->numbers = numbers;
    }
    paths->blocks[paths->block_count++] =
        (struct block){.from = from,
                       .to = to,
                       .branch = paths->branch,
                       .ends = paths->ends,
                       .number = number,
                       .first = paths->open,
                       .count = paths->item_count - paths->open,
                       .before = NO_BLOCK,
                       .cost = {.stalls = paths->stalls, .barriers = paths->barriers}};
    paths->by_number[number] = paths->block_count;
    begin_block(paths);
}

/* Prefers the block with the smallest loop, then one that falls through, then the nearest. */
static uint64_t distance_from(const struct block *from, const struct block *to)
{
    if (from->branch == to->from && from->to > to->from)
        return from->to - to->from;
    if (from->to == to->from && !from->ends)
        return UINT64_MAX / 2;
    return from->branch == to->from ? UINT64_MAX / 2 + (to->from - from->to) + 1 : UINT64_MAX;
}

static int by_place(const void *left, const void *right)
{
    const struct block *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

/* Sorts the blocks by address and finds which leads to which. */
static void link_blocks(struct wmi_paths *paths)
{
    struct block *blocks = paths->blocks;
    const uint32_t count = paths->block_count;
    if (count)
        qsort(blocks, count, sizeof *blocks, by_place);
    for (uint32_t i = 0; i < count; i++)
        paths->by_number[blocks[i].number] = i + 1;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t places[] = {blocks[i].branch, blocks[i].ends ? 0 : blocks[i].to};
        for (unsigned k = 0; k < 2; k++) {
            const struct block wanted = {.from = places[k]};
            uint32_t low = 0, high = count;
            while (low < high) {
                const uint32_t middle = (low + high) / 2;
                if (by_place(&blocks[middle], &wanted) < 0)
                    low = middle + 1;
                else
                    high = middle;
            }
            for (; places[k] && low < count && blocks[low].from == places[k]; low++) {
                struct block *to = &blocks[low];
                const uint64_t now =
                    to->before == NO_BLOCK ? UINT64_MAX : distance_from(&blocks[to->before], to);
                if (distance_from(&blocks[i], to) < now)
                    to->before = i;
            }
        }
    }
}

uint32_t wmi_path_add_place(struct wmi_path_place places[WMI_BESIDE], uint32_t count,
                            struct wmi_path_place place)
{
    uint32_t at = 0;
    while (at < count &&
           (places[at].pc < place.pc || (places[at].pc == place.pc && places[at].id < place.id)))
        at++;
    if (at == WMI_BESIDE || (at < count && places[at].pc == place.pc && places[at].id == place.id))
        return count;
    count += count < WMI_BESIDE;
    memmove(places + at + 1, places + at, (count - at - 1) * sizeof *places);
    places[at] = place;
    return count;
}

/* ---- the walk through a block ---- */

struct walk {
    struct flight flight[FLIGHTS]; /* in the order of issue */
    uint32_t count;
    int64_t now;
    struct wmi_path_cost *cost; /* to add to; NULL: only accesses in flight are of interest */
    bool failed;
};

/* The entry for the access, added if it is new; NULL: out of memory. */
static struct wmi_path_wait *entry_of(struct walk *walk, const struct item *item)
{
    struct wmi_path_cost *cost = walk->cost;
    for (uint32_t i = 0; i < cost->wait_count; i++)
        if (cost->waits[i].at.pc == item->pc && cost->waits[i].at.id == item->id)
            return &cost->waits[i];
    struct wmi_path_wait *waits = realloc(cost->waits, (cost->wait_count + 1) * sizeof *waits);
    walk->failed |= !waits;
    if (!waits)
        return NULL;
    cost->waits = waits;
    waits[cost->wait_count] = (struct wmi_path_wait){.at = {item->pc, item->id}};
    return &waits[cost->wait_count++];
}

/* Adds a wait for the accesses that are done: the last one is `last`. */
static void expose(struct walk *walk, const struct flight *last, const bool done[FLIGHTS])
{
    struct wmi_path_wait *wait = walk->cost ? entry_of(walk, last->item) : NULL;
    if (!wait)
        return;
    const int64_t whole = last->ready - last->since, stall = last->ready - walk->now;
    wait->exposed += (uint32_t)(stall * WMI_EXPOSED_ONE / whole);
    for (uint32_t i = 0; i < walk->count; i++) {
        const struct flight *flight = &walk->flight[i];
        if (!done[i] || flight == last || flight->ready <= walk->now)
            continue;
        const struct wmi_path_place place = {flight->item->pc, flight->item->id};
        wait->beside_count = wmi_path_add_place(wait->beside, wait->beside_count, place);
    }
}

/* Waits for the accesses that the item's limits do not allow to be in flight. */
static void wait_for(struct walk *walk, const struct item *item)
{
    unsigned newer[WMI_COUNTER_COUNT] = {0};
    const struct flight *last = NULL;
    bool done[FLIGHTS] = {false};
    for (uint32_t i = walk->count; i-- > 0;) {
        const struct flight *flight = &walk->flight[i];
        for (unsigned counter = 0; counter < WMI_COUNTER_COUNT; counter++) {
            newer[counter] += flight->item->units[counter];
            done[i] |= flight->item->units[counter] && item->limit[counter] != UINT8_MAX &&
                       newer[counter] > item->limit[counter];
        }
        if (done[i] && (!last || flight->ready > last->ready))
            last = flight;
    }
    if (last && last->ready > walk->now) {
        expose(walk, last, done);
        walk->now = last->ready;
    }
    uint32_t left = 0;
    for (uint32_t i = 0; i < walk->count; i++)
        if (!done[i])
            walk->flight[left++] = walk->flight[i];
    walk->count = left;
}

static void step(struct walk *walk, const struct item *item)
{
    if (item->waits)
        wait_for(walk, item);
    if (item->kind != WMI_PATH_KIND_NONE) {
        if (walk->count == FLIGHTS)
            memmove(walk->flight, walk->flight + 1, --walk->count * sizeof *walk->flight);
        walk->flight[walk->count++] = (struct flight){item, walk->now, walk->now + usual_latency[item->kind]};
    }
    walk->now += item->clocks;
}

/* Walks through the block from the accesses in flight before it; keeps those in flight at its end. cost: to
 * add to, or NULL. */
static bool walk_block(struct wmi_paths *paths, struct block *block, struct wmi_path_cost *cost)
{
    struct walk walk = {.cost = cost};
    if (block->before != NO_BLOCK) {
        const struct block *before = &paths->blocks[block->before];
        walk.count = before->out_count;
        if (walk.count)
            memcpy(walk.flight, before->out, walk.count * sizeof *walk.flight);
    }
    for (uint32_t i = 0; i < block->count; i++)
        step(&walk, &paths->items[block->first + i]);
    for (uint32_t i = 0; i < walk.count; i++) {
        walk.flight[i].since -= walk.now;
        walk.flight[i].ready -= walk.now;
    }
    struct flight *out = realloc(block->out, (walk.count + 1) * sizeof *out);
    if (!out)
        return false;
    block->out = out;
    block->out_count = walk.count;
    memcpy(out, walk.flight, walk.count * sizeof *out);
    return !walk.failed;
}

bool wmi_paths_solve(struct wmi_paths *paths)
{
    link_blocks(paths);
    for (unsigned pass = 0; pass < PASSES; pass++) {
        for (uint32_t i = 0; i < paths->block_count; i++)
            paths->failed |= !walk_block(paths, &paths->blocks[i], NULL);
    }
    for (uint32_t i = 0; i < paths->block_count; i++)
        paths->failed |= !walk_block(paths, &paths->blocks[i], &paths->blocks[i].cost);
    return !paths->failed;
}

const struct wmi_path_cost *wmi_paths_cost(const struct wmi_paths *paths, uint32_t number)
{
    const uint32_t index = number < paths->numbers ? paths->by_number[number] : 0;
    return index ? &paths->blocks[index - 1].cost : NULL;
}
