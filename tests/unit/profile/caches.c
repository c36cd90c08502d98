/* SPDX-License-Identifier: MIT */
/* The log, and the model of caches against cases worked out by hand and against a slow statement of its rules
 * (docs/model.md) that shares nothing with it. */
#include "profile/caches/rounds.h"
#include "profile/cost/gpu.h"
#include "unit/random.h"

#include "isa/isa.h"
#include "memory/access.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the log ---- */

static void log_brings_back(void **state)
{
    (void)state;
    enum { ACCESSES = 2000, MOST = 700 };
    static uint64_t blocks[ACCESSES][MOST];
    static bool full[ACCESSES][MOST];
    static size_t count[ACCESSES];
    struct wmi_log_group *group = wmi_log_group_create(2);
    wmi_log_group_reset(group, 7, 2);
    for (int i = 0; i < ACCESSES; i++) {
        const unsigned kind = random_bits() % 4;
        uint64_t at = random_bits() >> 10;
        count[i] = 1 + random_bits() % (i % 10 ? 64 : MOST);
        for (size_t b = 0; b < count[i]; b++) {
            /* Rows, steps, random blocks nearby, and such that are far apart. */
            at += kind == 0   ? 1
                  : kind == 1 ? 64
                  : kind == 2 ? random_bits() % 1000 - 500
                              : random_bits() >> 20;
            blocks[i][b] = at & ((1ULL << 58) - 1);
            full[i][b] = i % 3 == 0 && random_bits() % 8;
        }
        const size_t before = group->wave[1].size;
        wmi_log_append(group, 1, (uint32_t)i, blocks[i], i % 3 ? NULL : full[i], count[i]);
        assert_true(wmi_log_check(group->wave[1].words + before, group->wave[1].size - before, ACCESSES));
    }
    assert_int_equal(group->cuts, 0);
    assert_int_equal(group->words, group->wave[1].size);
    assert_int_equal(group->slots, ACCESSES);
    const uint64_t *at = group->wave[1].words;
    for (int i = 0; i < ACCESSES; i++) {
        struct wmi_log_entry entry;
        size_t b = 0;
        do {
            uint64_t read[WMI_LOG_BLOCKS];
            const unsigned many = wmi_log_read(&at, &entry, read);
            assert_int_equal(entry.slot, i);
            for (unsigned k = 0; k < many; k++, b++) {
                assert_true(b < count[i]);
                assert_true(read[k] == blocks[i][b]);
                assert_int_equal(entry.full, i % 3 == 0 && full[i][b]);
            }
        } while (entry.continues);
        assert_int_equal(b, count[i]);
    }
    assert_ptr_equal(at, group->wave[1].words + group->wave[1].size);
    /* Cut short, an unknown slot, and a list that is longer than what there is. */
    const size_t size = group->wave[1].size;
    assert_false(wmi_log_check(group->wave[1].words, size - 1, ACCESSES));
    assert_false(wmi_log_check(group->wave[1].words, size, ACCESSES - 1));
    wmi_log_group_destroy(group);
}

/* Blocks given by their distances from one make the same entry. */
static void log_takes_distances(void **state)
{
    (void)state;
    struct wmi_log_group *group = wmi_log_group_create(2);
    wmi_log_group_reset(group, 0, 2);
    for (uint32_t i = 0; i < 3000; i++) {
        uint64_t blocks[WMI_LOG_BLOCKS];
        uint32_t distance[WMI_LOG_BLOCKS];
        bool full[WMI_LOG_BLOCKS];
        const size_t count = 1 + random_bits() % (i % 4 ? 64 : WMI_LOG_BLOCKS);
        const uint64_t base = random_bits() >> 8;
        for (size_t b = 0; b < count; b++) {
            distance[b] = (uint32_t)(i % 3 ? random_bits() % (1 << 26) : b * (i % 7) + i);
            blocks[b] = base + distance[b];
            full[b] = i & 1;
        }
        wmi_log_append(group, 0, i, blocks, full, count);
        wmi_log_append_near(group, 1, i, base, distance, i & 1, count);
        assert_int_equal(group->wave[0].size, group->wave[1].size);
    }
    assert_memory_equal(group->wave[0].words, group->wave[1].words,
                        group->wave[0].size * sizeof *group->wave[0].words);
    assert_int_equal(group->slots, 3000);
    wmi_log_group_destroy(group);
}

/* A repeated access is the same one, moved. */
static void log_repeats(void **state)
{
    (void)state;
    const uint64_t blocks[] = {100, 101, 102, 200, 5, 7};
    struct wmi_log_group *group = wmi_log_group_create(1);
    wmi_log_group_reset(group, 0, 1);
    wmi_log_append(group, 0, 3, blocks, NULL, 6);
    const size_t size = group->wave[0].size;
    uint64_t copy[16];
    memcpy(copy, group->wave[0].words, size * sizeof *copy);
    wmi_log_repeat(group, 0, copy, size, (uint64_t)-4);
    const uint64_t *at = group->wave[0].words + size;
    size_t seen = 0;
    while (at < group->wave[0].words + group->wave[0].size) {
        uint64_t read[WMI_LOG_BLOCKS];
        struct wmi_log_entry entry;
        const unsigned many = wmi_log_read(&at, &entry, read);
        for (unsigned i = 0; i < many; i++)
            assert_true(read[i] == blocks[seen++] - 4);
    }
    assert_int_equal(seen, 6);
    wmi_log_group_destroy(group);
}

/* What does not fit says why. The sizes are those of log.h, rounds.h and docs/model.md, which are only
 * claimed to be reached. */
static void logs_are_bounded(void **state)
{
    (void)state;
    static const struct wmi_log_instruction load = {WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 6, 0};
    static const struct {
        uint64_t words; /* of each of two workgroups, before */
        unsigned regions, cuts;
    } cases[] = {{0, 62, 0},
                 {0, 63, WM_CUT_REGIONS},
                 {WMI_ROUND_WORDS / 2 - 124, 62, 0},
                 {WMI_ROUND_WORDS / 2, 62, WM_CUT_ROUND},
                 {WMI_LOG_WORDS, 62, WM_CUT_ROUND | WM_CUT_WORKGROUP},
                 {WMI_LOG_WORDS - 126, 63, WM_CUT_ROUND | WM_CUT_WORKGROUP}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct wm_gpu *gpu = wm_gpu_default("gfx900");
        struct wmi_rounds *rounds = wmi_rounds_create(gpu, &wmi_cost_rules(0)->vector, &load);
        wmi_rounds_begin(rounds, (struct wmi_residence){1, 1}, false);
        struct wmi_rounds_stock stock = {0};
        for (unsigned number = 0; number < 2; number++) {
            struct wmi_log_group *group = wmi_rounds_take(rounds, &stock, number, 1);
            group->words = cases[i].words;
            for (uint64_t region = 0; region < cases[i].regions; region++)
                wmi_log_append(group, 0, 0, &(uint64_t){region << 26}, NULL, 1);
            assert_int_equal(group->cuts, cases[i].cuts & WM_CUT_WORKGROUP);
            wmi_rounds_give(rounds, &stock, group);
        }
        wmi_rounds_leave(rounds, &stock);
        wmi_rounds_end(rounds);
        const struct wmi_rounds_facts facts = wmi_rounds_facts(rounds);
        assert_int_equal(facts.cuts, cases[i].cuts);
        assert_int_equal(facts.most_groups, cases[i].cuts & WM_CUT_ROUND ? 1 : 2);
        wmi_rounds_destroy(rounds);
    }
}

/* Logs have the scratch memory of all workgroups at one place; workgroups of a round have places of their
 * own, and those of the next round the same ones. */
static void scratch_is_each_workgroups_own(void **state)
{
    (void)state;
    enum { START = 1 << 20, BYTES = 1 << 10 };
    static const struct wmi_log_instruction load = {WMI_PATH_SCRATCH, WMI_ACCESS_LOAD, 6, 0};
    for (unsigned scratch = 0; scratch < 2; scratch++) {
        const struct wm_gpu *gpu = wm_gpu_default("gfx900");
        struct wmi_rounds *rounds = wmi_rounds_create(gpu, &wmi_cost_rules(0)->vector, &load);
        wmi_rounds_begin(rounds, (struct wmi_residence){1, 1, START, scratch ? BYTES : 0}, true);
        struct wmi_rounds_stock stock = {0};
        const uint64_t round = wmi_caches_round_groups(wmi_rounds_caches(rounds));
        for (unsigned number = 0; number < 3 * round; number++) {
            struct wmi_log_group *group = wmi_rounds_take(rounds, &stock, number, 1);
            const uint64_t blocks[] = {START >> 6, (START + BYTES - 64) >> 6}, behind = (START + BYTES) >> 6;
            wmi_log_append(group, 0, 0, blocks, NULL, 2);
            wmi_log_append(group, 0, 0, &behind, NULL, 1); /* no scratch memory */
            wmi_rounds_give(rounds, &stock, group);
        }
        wmi_rounds_leave(rounds, &stock);
        wmi_rounds_end(rounds);
        const struct wmi_caches_sums *sums = wmi_caches_sums(wmi_rounds_caches(rounds));
        /* The second workgroup's first block is what lies behind the first one's memory. */
        assert_int_equal(sums->memory_read, 64 * (scratch ? 2 * round + (round < 2) : 3));
        wmi_rounds_destroy(rounds);
    }
}

/* ---- by hand ---- */

/* One compute unit with 4 lines of L1 in two sets, 16 of L2 in four sets of 128 bytes with two sectors. */
static struct wm_gpu tiny(void)
{
    return (struct wm_gpu){
        .xcds = 1,
        .engines = 1,
        .compute_units = 1,
        .cache = {[WM_CACHE_VECTOR] = {.bytes = 256, .line = 64, .ways = 2, .sharing = 1},
                  [WM_CACHE_L2] = {.bytes = 2048, .line = 128, .ways = 4}},
    };
}

static const struct wmi_log_instruction hand[] = {
    {WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 6, 0},
    {WMI_PATH_GLOBAL, WMI_ACCESS_STORE, 6, 0},
    {WMI_PATH_GLOBAL, WMI_ACCESS_ATOMIC, 6, 0},
    {WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 6, WMI_POLICY_GLC},
};

enum { LOAD, STORE, ATOMIC, LOAD_GLC, HAND_SLOTS };

/* L2 of MI200: a wave reads 64 lines twice that are a power of two apart, of at most 16 MiB. Without a hash,
 * from 512 KiB on all would be in one of its 16-way sets. Contiguous data fills the whole cache. */
static void hashed_sets(void **state)
{
    (void)state;
    const struct wm_gpu *mi210;
    assert_int_equal(wm_gpu_find("mi210", &mi210, NULL), WM_OK);
    for (unsigned shift = 7; shift <= 24; shift++) {
        const uint64_t lines = shift == 7 ? (8 << 20) / 128 : 64;
        struct wmi_caches *caches = wmi_caches_create(mi210, &wmi_cost_rules(0)->vector);
        struct wmi_log_group *group = wmi_log_group_create(1);
        wmi_log_group_reset(group, 0, 1);
        assert_true(wmi_caches_begin(caches, (struct wmi_residence){1, 1}));
        for (uint64_t i = 0; i < 2 * lines; i++) {
            const uint64_t block = (i % lines << shift) / 64;
            wmi_log_append(group, 0, LOAD_GLC, &block, NULL, 1);
        }
        assert_int_equal(wmi_caches_round(caches, &group, 1, hand, HAND_SLOTS), 0);
        assert_int_equal(wmi_caches_sums(caches)->use[WM_CACHE_L2][WMI_ACCESS_LOAD].hits, lines);
        wmi_log_group_destroy(group);
        wmi_caches_destroy(caches);
    }
}

/* What one of MI300A's six L2s has of two arrays of 8 MiB whose workgroups read 32 KiB each, as in a
 * published spmv: 2.7 of 4 MiB, so that nearly all of it is there when it is read again. By the lowest bits
 * of its lines it would fall into half of the sets. */
static void dies_in_turn(void **state)
{
    (void)state;
    enum { CHUNK = 32 << 10, ARRAY = 8 << 20, LINE = 128 };
    const struct wm_gpu *mi300a;
    assert_int_equal(wm_gpu_find("mi300a", &mi300a, NULL), WM_OK);
    struct wmi_caches *caches = wmi_caches_create(mi300a, &wmi_cost_rules(0)->vector);
    struct wmi_log_group *group = wmi_log_group_create(1);
    wmi_log_group_reset(group, 0, 1);
    assert_true(wmi_caches_begin(caches, (struct wmi_residence){1, 1}));
    uint64_t lines = 0;
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint64_t at = 0; at < 2 * ARRAY; at += LINE) {
            const uint64_t block = at / 64;
            if (at % ARRAY / CHUNK % mi300a->xcds)
                continue;
            lines += pass;
            wmi_log_append(group, 0, LOAD_GLC, &block, NULL, 1);
        }
    assert_int_equal(wmi_caches_round(caches, &group, 1, hand, HAND_SLOTS), 0);
    const uint64_t hits = wmi_caches_sums(caches)->use[WM_CACHE_L2][WMI_ACCESS_LOAD].hits;
    assert_true(hits <= lines && 10 * hits >= 9 * lines);
    wmi_log_group_destroy(group);
    wmi_caches_destroy(caches);
}

/* One wave that does this, as text: l, s, S (a whole block), a, g and a block's number. */
static struct wmi_caches *play(const char *text)
{
    const struct wm_gpu gpu = tiny();
    struct wmi_caches *caches = wmi_caches_create(&gpu, &wmi_cost_rules(0)->vector);
    struct wmi_log_group *group = wmi_log_group_create(1);
    wmi_log_group_reset(group, 0, 1);
    assert_true(wmi_caches_begin(caches, (struct wmi_residence){1, 1}));
    for (const char *at = text; *at; at += *at == ' ') {
        const char what = *at++;
        char *end;
        const uint64_t block = strtoull(at, &end, 10);
        const bool full = what == 'S';
        at = end;
        wmi_log_append(group, 0,
                       what == 'l'   ? LOAD
                       : what == 'a' ? ATOMIC
                       : what == 'g' ? LOAD_GLC
                                     : STORE,
                       &block, &full, 1);
    }
    assert_int_equal(wmi_caches_round(caches, &group, 1, hand, HAND_SLOTS), 0);
    wmi_log_group_destroy(group);
    return caches;
}

static void check_hits(const char *text, uint64_t l1_hits, uint64_t l2_requests, uint64_t l2_hits,
                       uint64_t read, uint64_t written, uint64_t dirty)
{
    struct wmi_caches *caches = play(text);
    const struct wmi_caches_sums *sums = wmi_caches_sums(caches);
    uint64_t requests = 0, hits = 0;
    for (unsigned kind = 0; kind < WMI_CACHE_KINDS; kind++) {
        requests += sums->use[WM_CACHE_L2][kind].requests;
        hits += sums->use[WM_CACHE_L2][kind].hits;
    }
    assert_int_equal(sums->use[WM_CACHE_VECTOR][WMI_ACCESS_LOAD].hits, l1_hits);
    assert_int_equal(requests, l2_requests);
    assert_int_equal(hits, l2_hits);
    assert_int_equal(sums->memory_read, read * 64);
    assert_int_equal(sums->memory_written, written * 64);
    assert_int_equal(wmi_caches_dirty(caches), dirty * 64);
    wmi_caches_destroy(caches);
}

/* Two waves ask a scalar cache of two lines for neighbouring ones: what each of them does to the order
 * counts, though the first one then asks for the same again. */
static void scalar_order(void **state)
{
    (void)state;
    static const struct wmi_log_instruction scalar[] = {{WMI_PATH_SMEM, WMI_ACCESS_LOAD, 6, 0}};
    static const uint64_t first[] = {0, 0, 2, 0}, second = 1;
    struct wm_gpu gpu = tiny();
    gpu.cache[WM_CACHE_SCALAR] = (struct wm_cache){.bytes = 128, .line = 64, .ways = 2, .sharing = 1};
    gpu.cache[WM_CACHE_L2].line = 64;
    struct wmi_caches *caches = wmi_caches_create(&gpu, &wmi_cost_rules(0)->vector);
    struct wmi_log_group *group = wmi_log_group_create(2);
    wmi_log_group_reset(group, 0, 2);
    assert_true(wmi_caches_begin(caches, (struct wmi_residence){1, 1}));
    for (unsigned i = 0; i < 4; i++)
        wmi_log_append(group, 0, 0, &first[i], NULL, 1);
    wmi_log_append(group, 1, 0, &second, NULL, 1);
    assert_int_equal(wmi_caches_round(caches, &group, 1, scalar, 1), 0);
    const struct wm_cache_use *use = &wmi_caches_sums(caches)->use[WM_CACHE_SCALAR][WMI_ACCESS_LOAD];
    assert_int_equal(use->requests, 5);
    assert_int_equal(use->hits, 2); /* 0 and 1 are missed, 0 is there, 2 drives 1 out, 0 is there */
    wmi_log_group_destroy(group);
    wmi_caches_destroy(caches);
}

/* 500 workgroups are dispatched in 1000 clocks, which is four turns: the last one begins in turn 3, and if
 * there are more, the next round in turn 4. The first and the last one of each round load two blocks of their
 * own twice, all in a set of two lines; the others load a block of the other set. The first one hits twice
 * before the last one begins; the last one hits twice only if no round follows, whose first one takes its
 * lines. */
static void starts(void **state)
{
    (void)state;
    enum { GROUPS = 500, LOADS = 4 };
    const struct wm_gpu gpu = tiny();
    for (unsigned rounds = 1; rounds <= 2; rounds++) {
        struct wmi_caches *caches = wmi_caches_create(&gpu, &wmi_cost_rules(0)->vector);
        struct wmi_log_group *group[2 * GROUPS];
        const struct wmi_residence residence = {1, GROUPS, .workgroups = GROUPS * rounds};
        assert_true(wmi_caches_begin(caches, residence));
        for (unsigned number = 0; number < GROUPS * rounds; number++) {
            const unsigned place = number % GROUPS, own = 4 * (2 * (number / GROUPS) + (place > 0));
            const bool apart = place == 0 || place == GROUPS - 1;
            group[number] = wmi_log_group_create(1);
            wmi_log_group_reset(group[number], number, 1);
            for (unsigned i = 0; i < LOADS; i++)
                wmi_log_append(group[number], 0, LOAD, &(uint64_t){apart ? own + 2 * (i % 2) : 1}, NULL, 1);
        }
        for (unsigned round = 0; round < rounds; round++)
            assert_int_equal(wmi_caches_round(caches, &group[GROUPS * round], GROUPS, hand, HAND_SLOTS), 0);
        assert_int_equal(wmi_caches_rest(caches), 0);
        const struct wm_cache_use *use = &wmi_caches_sums(caches)->use[WM_CACHE_VECTOR][WMI_ACCESS_LOAD];
        const unsigned others = (GROUPS - 2) * LOADS * rounds - 1; /* all but the first of them hit */
        assert_int_equal(use->requests, GROUPS * LOADS * rounds);
        assert_int_equal(use->hits, others + 4);
        for (unsigned number = 0; number < GROUPS * rounds; number++)
            wmi_log_group_destroy(group[number]);
        wmi_caches_destroy(caches);
    }
}

static void by_hand(void **state)
{
    (void)state;
    check_hits("", 0, 0, 0, 0, 0, 0);
    check_hits("l0 l0 l1 l1", 2, 2, 0, 2, 0, 0);
    /* Blocks 0, 2, 4 are three lines for the two ways of set 0: least recently used goes. */
    check_hits("l0 l2 l4 l0", 0, 4, 1, 3, 0, 0);
    check_hits("l0 l2 l0 l4 l0", 2, 3, 0, 3, 0, 0);
    /* Sectors: block 1 lies in the line of L2 that block 0 brought, but not in its sector. */
    check_hits("l0 l1 l0", 1, 2, 0, 2, 0, 0);
    /* A part of a line that is written leaves L1; a whole one stays, and is read there and in L2. */
    check_hits("l0 s0 l0", 0, 3, 2, 1, 0, 1);
    check_hits("S0 l0", 1, 1, 0, 0, 0, 1);
    /* L2 takes a store without reading, but cannot give what it only has a part of. */
    check_hits("s0 l0", 0, 2, 0, 1, 0, 1);
    /* Atomics are done in L2, each of them, and L1 forgets the line. */
    check_hits("l0 a0 a0 l0", 0, 4, 3, 1, 0, 1);
    /* GLC goes past L1, and what L1 had is gone. */
    check_hits("l0 g0 l0", 0, 3, 2, 1, 0, 0);
    /* Five lines of L2's first set (blocks 0, 8, 16, 24, 32 are lines 0, 4, ...): the first written goes to
     * memory, both of its sectors. */
    check_hits("s0 s1 s8 s16 s24 s32", 0, 6, 1, 0, 2, 4);
}

/* ---- the slow statement ---- */

enum { SLOW_LINES = 4096 };

struct slow_line {
    bool used;
    uint64_t number;
    int64_t time; /* of its last use; before 0: it only streamed, the later the lower */
    uint32_t writer;
    bool readable[2], dirty[2];
};

struct slow_cache {
    uint64_t sets, ways, line;
    struct slow_line lines[SLOW_LINES]; /* of all sets; a line knows its own by its number */
};

struct slow {
    struct wm_gpu gpu;
    struct slow_cache cache[WM_CACHE_LEVELS][16];
    int64_t time, streamed;
    uint64_t hits[WM_CACHE_LEVELS], requests[WM_CACHE_LEVELS], read, written;
    uint64_t moved; /* bytes between L2 and what is in front of it */
};

static struct slow_line *slow_find(struct slow_cache *cache, uint64_t number)
{
    for (size_t i = 0; i < SLOW_LINES; i++)
        if (cache->lines[i].used && cache->lines[i].number == number)
            return &cache->lines[i];
    return NULL;
}

/* A line for the number, which is not there; what it was before is in *old. most_dirty: if so many lines of
 * the set are dirty, one of these goes. */
static struct slow_line *slow_make(struct slow_cache *cache, uint64_t number, size_t most_dirty,
                                   struct slow_line *old)
{
    struct slow_line *oldest = NULL, *oldest_dirty = NULL, *empty = NULL;
    size_t in_set = 0, dirty = 0;
    for (size_t i = 0; i < SLOW_LINES; i++) {
        struct slow_line *line = &cache->lines[i];
        if (!line->used)
            empty = line;
        else if (line->number % cache->sets == number % cache->sets) {
            in_set++;
            if (!oldest || line->time < oldest->time)
                oldest = line;
            if (line->dirty[0] || line->dirty[1]) {
                dirty++;
                if (!oldest_dirty || line->time < oldest_dirty->time)
                    oldest_dirty = line;
            }
        }
    }
    struct slow_line *place = in_set != cache->ways                 ? empty
                              : oldest_dirty && dirty >= most_dirty ? oldest_dirty
                                                                    : oldest;
    *old = *place;
    *place = (struct slow_line){.used = true, .number = number};
    return place;
}

static void slow_last(struct slow *slow, uint64_t address, bool writes, bool skips)
{
    struct slow_cache *cache = slow->cache[WM_CACHE_LAST];
    if (!slow->gpu.cache[WM_CACHE_LAST].bytes) {
        *(writes ? &slow->written : &slow->read) += 64;
        return;
    }
    struct slow_line *line = slow_find(cache, address / 64), old;
    slow->requests[WM_CACHE_LAST]++;
    slow->hits[WM_CACHE_LAST] += line != NULL;
    if (!line && skips) {
        slow->read += 64;
        return;
    }
    if (!line) {
        line = slow_make(cache, address / 64, SLOW_LINES, &old);
        if (old.used && old.dirty[0])
            slow->written += 64;
        if (!writes)
            slow->read += 64;
    }
    line->dirty[0] |= writes;
    line->time = ++slow->time;
}

static void slow_l2(struct slow *slow, unsigned xcd, uint64_t address, uint64_t bytes, unsigned kind,
                    bool full, bool streams, bool skips)
{
    struct slow_cache *cache = &slow->cache[WM_CACHE_L2][xcd];
    struct slow_line *line = slow_find(cache, address / cache->line), old = {0};
    bool there = line != NULL;
    for (uint64_t at = address; there && kind != WMI_ACCESS_STORE && at < address + bytes; at += 64)
        there &= line->readable[at % cache->line / 64];
    slow->requests[WM_CACHE_L2]++;
    slow->hits[WM_CACHE_L2] += there;
    slow->moved += kind == WMI_ACCESS_LOAD || full ? bytes : 64;
    const bool stays = line && streams;
    if (!line) {
        line = slow_make(cache, address / cache->line, streams ? SLOW_LINES : cache->ways / 3, &old);
        for (unsigned sector = 0; old.used && sector < 2; sector++)
            if (old.dirty[sector])
                slow_last(slow, old.number * cache->line + 64 * sector, true, false);
    }
    for (uint64_t at = address; at < address + bytes; at += 64) {
        const unsigned sector = at % cache->line / 64;
        if (kind != WMI_ACCESS_STORE && !line->readable[sector])
            slow_last(slow, at, false, skips);
        line->readable[sector] |= kind != WMI_ACCESS_STORE || full;
        line->dirty[sector] |= kind != WMI_ACCESS_LOAD;
    }
    if (!stays)
        line->time = streams ? --slow->streamed : ++slow->time;
}

/* Several L2 are written back when a dispatch ends: set by set, what was used last first. */
static void slow_flush(struct slow *slow, struct slow_cache *cache)
{
    for (uint64_t set = 0; set < cache->sets; set++)
        for (uint64_t way = 0; way < cache->ways; way++) {
            struct slow_line *newest = NULL;
            for (size_t i = 0; i < SLOW_LINES; i++) {
                struct slow_line *line = &cache->lines[i];
                if (line->used && line->number % cache->sets == set && (!newest || line->time > newest->time))
                    newest = line;
            }
            for (unsigned sector = 0; newest && sector < 2; sector++)
                if (newest->dirty[sector])
                    slow_last(slow, newest->number * cache->line + 64 * sector, true, false);
            if (newest)
                newest->used = false;
        }
}

/* Whether the request is answered here. */
static bool slow_first(struct slow *slow, unsigned level, unsigned instance, uint64_t address, uint64_t bytes,
                       unsigned kind, bool full, bool bypass, bool leaves)
{
    struct slow_cache *cache = &slow->cache[level][instance];
    struct slow_line *line = slow_find(cache, address / cache->line), old;
    const bool fills = level == WM_CACHE_VECTOR && full && bytes == cache->line;
    slow->requests[level]++;
    if (kind == WMI_ACCESS_LOAD && line && !bypass) {
        slow->hits[level]++;
        line->time = ++slow->time;
        line->used = !leaves;
        return true;
    }
    if (line && (bypass || (kind != WMI_ACCESS_LOAD && !(kind == WMI_ACCESS_STORE && fills))))
        line->used = false;
    else if (!bypass && ((kind == WMI_ACCESS_LOAD && !leaves) || (kind == WMI_ACCESS_STORE && fills))) {
        if (!line)
            line = slow_make(cache, address / cache->line, SLOW_LINES, &old);
        line->time = ++slow->time;
    }
    return false;
}

enum { SLOW_UNITS = 8, SLOW_XCDS = 2, SLOW_GROUPS = 48, SLOW_WAVES = 3, SLOW_ACCESSES = 40 };

enum { SLOW_BLOCKS = 4 };

struct slow_access {
    unsigned slot, blocks;
    uint64_t block[SLOW_BLOCKS];
    bool full[SLOW_BLOCKS]; /* all the same */
};

/* Where a wave of the group runs on the product below, as number of the unit in the XCD: first one of engine
 * 0 (0 and 1), then of engine 1 (2 and 3), then the second unit of each. */
static unsigned slow_unit(unsigned group, unsigned wave, bool wgp)
{
    static const unsigned alone[] = {0, 2, 1, 3};
    const unsigned nth = group / SLOW_XCDS;
    if (!wgp)
        return alone[nth % 4];
    /* Both units of an engine are a WGP; it holds four workgroups at once, whose waves go to them by turns.
     */
    const unsigned before = nth / 2 % 4 * SLOW_WAVES + wave;
    return nth % 2 * 2 + before % 2;
}

/* An access of a wave of the group there: all of its blocks ask one cache, then what is left the next. */
static void slow_access(struct slow *slow, unsigned group, unsigned unit_of_xcd,
                        const struct slow_access *access, const struct wmi_log_instruction *what)
{
    const uint64_t bytes = 1u << what->shift, line = slow->gpu.cache[WM_CACHE_L2].line;
    const unsigned xcd = group % SLOW_XCDS, unit = xcd * 4 + unit_of_xcd;
    /* Three units would share a scalar and an instruction cache, but an engine has only two. */
    const unsigned engine = unit / 2;
    const bool vector = what->path == WMI_PATH_GLOBAL, full = access->full[0];
    if (what->path == WMI_PATH_CONTROL) {
        const unsigned instance[] = {
            [WM_CACHE_VECTOR] = unit, [WM_CACHE_GL1] = engine, [WM_CACHE_SCALAR] = engine};
        for (unsigned level = WM_CACHE_VECTOR; level <= WM_CACHE_SCALAR; level++)
            for (size_t i = 0; i < SLOW_LINES; i++)
                if (what->policy & 1 << level)
                    slow->cache[level][instance[level]].lines[i].used = false;
        return;
    }
    const bool glc = what->policy & WMI_POLICY_GLC, slc = what->policy & WMI_POLICY_SLC,
               dlc = what->policy & WMI_POLICY_DLC, loads = what->kind == WMI_ACCESS_LOAD;
    const unsigned level = vector                          ? WM_CACHE_VECTOR
                           : what->path == WMI_PATH_IFETCH ? WM_CACHE_INSTRUCTION
                                                           : WM_CACHE_SCALAR;
    uint64_t left[SLOW_BLOCKS];
    unsigned count = 0, still = 0;
    const uint64_t near = slow->gpu.cache[level].line;
    for (unsigned i = 0; i < access->blocks; i++) {
        /* Two halves of a line that one store fills are as good as a whole one. */
        const bool whole = vector && full && what->kind == WMI_ACCESS_STORE && 2 * bytes == near &&
                           access->block[i] % 2 == 0 && i + 1 < access->blocks &&
                           access->block[i + 1] == access->block[i] + 1;
        if (whole) {
            slow_first(slow, level, unit, access->block[i] * bytes, near, what->kind, true, glc, false);
            slow->requests[level]++;
            left[count++] = access->block[i++] * bytes;
            left[count++] = access->block[i] * bytes;
        } else if (!slow_first(slow, level, vector ? unit : engine, access->block[i] * bytes, bytes,
                               what->kind, vector && full, vector && glc, vector && slc && loads)) {
            left[count++] = access->block[i] * bytes;
        }
    }
    for (unsigned i = 0; i < count; i++)
        if (!slow->gpu.cache[WM_CACHE_GL1].bytes || !slow_first(slow, WM_CACHE_GL1, engine, left[i], bytes,
                                                                what->kind, full, dlc && loads, slc && loads))
            left[still++] = left[i];
    for (unsigned i = 0; i < still; i++) {
        const bool pair =
            loads && bytes < line && i + 1 < still && left[i + 1] == left[i] + bytes && left[i] % line == 0;
        slow_l2(slow, xcd, left[i], pair ? line : bytes, what->kind, full, slc, dlc);
        i += pair;
    }
}

/* The last two slots are seldom. */
static unsigned slow_slot(unsigned slots)
{
    return random_bits() % (random_bits() % 4 ? slots - 2 : slots);
}

/* Fills in the n-th accesses of a workgroup's waves. rows: most of them go on where the wave before ends, or
 * ask for the same. */
static void slow_choose(struct slow_access accesses[SLOW_WAVES][SLOW_ACCESSES], unsigned n, bool rows,
                        const struct wmi_log_instruction *instructions, unsigned slots)
{
    const unsigned how = rows ? random_bits() % 4 : 3, blocks = rows ? 1u << random_bits() % 3 : 1;
    const unsigned slot = slow_slot(slots);
    const bool aligned = random_bits() % 4;
    /* What many waves share comes again and again. */
    const uint64_t range = instructions[slot].path == WMI_PATH_GLOBAL ? 40000 : 1000;
    const uint64_t start = random_bits() % range >> instructions[slot].shift;
    for (unsigned w = 0; w < SLOW_WAVES; w++) {
        const bool alone = how == 3 || random_bits() % 8 == 0;
        struct slow_access *access = &accesses[w][n];
        access->slot = alone ? slow_slot(slots) : slot;
        access->blocks = blocks;
        const struct wmi_log_instruction *what = &instructions[access->slot];
        const bool full = what->kind == WMI_ACCESS_STORE && (alone ? random_bits() % 2 : start % 2);
        const uint64_t from = aligned ? start / blocks * blocks : start; /* most of it below 4 GiB */
        const uint64_t base = rows ? ((1ULL << 32) - 20480) >> what->shift : 0;
        for (unsigned i = 0; i < blocks; i++) {
            access->block[i] = base +
                               (alone      ? random_bits() % 8000 >> what->shift
                                : how == 2 ? from
                                           : from + w * blocks) +
                               i;
            access->full[i] = full;
        }
    }
}

/* A product of two XCDs with four units each, in two shader engines. */
static struct wm_gpu slow_product(int round)
{
    struct wm_gpu gpu = {
        .xcds = SLOW_XCDS,
        .engines = 2,
        .compute_units = SLOW_UNITS,
        .cache = {[WM_CACHE_VECTOR] = {.bytes = 1024, .line = 128, .ways = 2, .sharing = 1},
                  [WM_CACHE_SCALAR] = {.bytes = 512, .line = 64, .ways = 4, .sharing = 3},
                  [WM_CACHE_INSTRUCTION] = {.bytes = 512, .line = 64, .ways = 2, .sharing = 3},
                  [WM_CACHE_L2] = {.bytes = 3 * 512, .line = 128, .ways = 4}},
    };
    if (round >= 8) /* sets in powers of two, as most products have them */
        gpu.cache[WM_CACHE_L2] = (struct wm_cache){.bytes = 16384, .line = 128, .ways = 16};
    if (round >= 16) {
        const unsigned ways = round & 1 ? 64 : 16;
        gpu.cache[WM_CACHE_L2] = (struct wm_cache){.bytes = 8192, .line = 64, .ways = ways / 4};
        gpu.cache[WM_CACHE_VECTOR] =
            (struct wm_cache){.bytes = 4 * 64 * ways, .line = 64, .ways = ways, .sharing = 1};
    } else if ((round & 3) == 3) { /* many ways are kept in another way */
        gpu.cache[WM_CACHE_VECTOR] = (struct wm_cache){.bytes = 8192, .line = 128, .ways = 32, .sharing = 1};
    }
    if (round & 1)
        gpu.cache[WM_CACHE_GL1] = (struct wm_cache){
            .bytes = 2048, .line = gpu.cache[WM_CACHE_VECTOR].line, .ways = 2, .sharing = 2};
    if (round & 2)
        gpu.cache[WM_CACHE_LAST] = (struct wm_cache){.bytes = 2048, .line = 64, .ways = 4};
    return gpu;
}

static struct slow *slow_create(const struct wm_gpu *gpu)
{
    struct slow *slow = calloc(1, sizeof *slow);
    slow->gpu = *gpu;
    for (unsigned level = 0; level < WM_CACHE_LEVELS; level++)
        for (unsigned i = 0; i < 16 && gpu->cache[level].bytes; i++) {
            slow->cache[level][i].line = gpu->cache[level].line;
            slow->cache[level][i].ways = gpu->cache[level].ways;
            slow->cache[level][i].sets =
                gpu->cache[level].bytes / gpu->cache[level].line / gpu->cache[level].ways;
        }
    return slow;
}

static void slow_compare(const struct slow *slow, const struct wmi_caches_sums *sums)
{
    uint64_t moved = 0;
    for (unsigned level = 0; level < WM_CACHE_LEVELS; level++) {
        uint64_t requests = 0, hits = 0;
        for (unsigned kind = 0; kind < WMI_CACHE_KINDS; kind++) {
            requests += sums->use[level][kind].requests;
            hits += sums->use[level][kind].hits;
        }
        assert_int_equal(requests, slow->requests[level]);
        assert_int_equal(hits, slow->hits[level]);
    }
    for (unsigned kind = 0; kind < WMI_CACHE_KINDS; kind++)
        moved += sums->use[WM_CACHE_L2][kind].bytes;
    assert_int_equal(moved, slow->moved);
    assert_int_equal(sums->memory_read, slow->read);
    assert_int_equal(sums->memory_written, slow->written);
    assert_true(slow->hits[WM_CACHE_VECTOR] > 10 && slow->hits[WM_CACHE_L2] > 10 && slow->written > 640);
}

/* Random waves there, with all levels; workgroups stay on a unit, or run on both of a WGP. Waves of the later
 * rounds mostly do alike. */
static void against_slow_statement(void **state)
{
    (void)state;
    static const struct wmi_log_instruction wide[] = {
        {WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 7, 0},
        {WMI_PATH_GLOBAL, WMI_ACCESS_STORE, 6, 0},
        {WMI_PATH_GLOBAL, WMI_ACCESS_ATOMIC, 6, 0},
        {WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 7, WMI_POLICY_GLC},
        {WMI_PATH_SMEM, WMI_ACCESS_LOAD, 6, 0},
        {WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 7, WMI_POLICY_SLC},
        {WMI_PATH_GLOBAL, WMI_ACCESS_STORE, 6, WMI_POLICY_SLC},
        {WMI_PATH_GLOBAL, WMI_ACCESS_LOAD, 6, WMI_POLICY_DLC},
        {WMI_PATH_IFETCH, WMI_ACCESS_LOAD, 6, 0},
        {WMI_PATH_CONTROL, WMI_ACCESS_LOAD, 6, 1 << WM_CACHE_VECTOR},
        {WMI_PATH_CONTROL, WMI_ACCESS_LOAD, 6, 1 << WM_CACHE_GL1 | 1 << WM_CACHE_SCALAR},
    };
    enum { SLOTS = sizeof wide / sizeof *wide };
    struct wmi_log_instruction narrow[SLOTS];
    memcpy(narrow, wide, sizeof narrow);
    for (unsigned i = 0; i < SLOTS; i++)
        narrow[i].shift = 6;
    const struct wmi_vector_rules rules = {.bypass = WMI_POLICY_GLC,
                                           .bypass_gl1 = WMI_POLICY_DLC,
                                           .leaves = WMI_POLICY_SLC,
                                           .streams = WMI_POLICY_SLC,
                                           .skips_last = WMI_POLICY_DLC};
    for (int round = 0; round < 24; round++) {
        const bool wgp = round & 4;
        const struct wmi_log_instruction *instructions = round < 16 ? wide : narrow;
        const struct wm_gpu gpu = slow_product(round);
        struct slow *slow = slow_create(&gpu);

        static struct slow_access accesses[SLOW_GROUPS][SLOW_WAVES][SLOW_ACCESSES];
        unsigned length[SLOW_GROUPS][SLOW_WAVES];
        struct wmi_rounds *rounds = wmi_rounds_create(&gpu, &rules, instructions);
        if (round == 6) /* a dispatch in the other mode before it */
            wmi_rounds_begin(rounds, (struct wmi_residence){.units = 1, .groups = 7}, true);
        wmi_rounds_begin(rounds, (struct wmi_residence){.units = wgp ? 2 : 1, .groups = wgp ? 4 : 2}, true);
        struct wmi_rounds_stock stock = {0};
        for (unsigned g = 0; g < SLOW_GROUPS; g++)
            for (unsigned w = 0; w < SLOW_WAVES; w++)
                length[g][w] = (unsigned)(random_bits() % (SLOW_ACCESSES + 1));
        for (unsigned g = 0; g < SLOW_GROUPS; g++)
            for (unsigned n = 0; n < SLOW_ACCESSES; n++)
                slow_choose(accesses[g], n, round >= 8, instructions, SLOTS);
        /* The logs come in any order, as from many threads. */
        unsigned order[SLOW_GROUPS];
        for (unsigned g = 0; g < SLOW_GROUPS; g++) {
            const unsigned other = (unsigned)(random_bits() % (g + 1));
            order[g] = order[other];
            order[other] = g;
        }
        for (unsigned i = 0; i < SLOW_GROUPS; i++) {
            const unsigned g = order[i];
            struct wmi_log_group *group = wmi_rounds_take(rounds, &stock, g, SLOW_WAVES);
            for (unsigned w = 0; w < SLOW_WAVES; w++)
                for (unsigned n = 0; n < length[g][w]; n++)
                    wmi_log_append(group, w, accesses[g][w][n].slot, accesses[g][w][n].block,
                                   accesses[g][w][n].full, accesses[g][w][n].blocks);
            wmi_rounds_give(rounds, &stock, group);
        }
        wmi_rounds_leave(rounds, &stock);
        wmi_rounds_end(rounds);

        const unsigned resident = SLOW_UNITS * 2;
        unsigned done[SLOW_GROUPS][SLOW_WAVES] = {0};
        for (unsigned first = 0; first < SLOW_GROUPS; first += resident)
            for (unsigned turn = 0; turn < SLOW_ACCESSES; turn++)
                for (unsigned g = first; g < first + resident; g++)
                    for (unsigned w = 0; w < SLOW_WAVES; w++) {
                        bool code = true; /* goes with what follows it */
                        while (code && done[g][w] < length[g][w]) {
                            const struct slow_access *access = &accesses[g][w][done[g][w]++];
                            code = instructions[access->slot].path == WMI_PATH_IFETCH;
                            slow_access(slow, g, slow_unit(g, w, wgp), access, &instructions[access->slot]);
                        }
                    }
        for (unsigned xcd = 0; xcd < SLOW_XCDS; xcd++)
            slow_flush(slow, &slow->cache[WM_CACHE_L2][xcd]);
        slow_compare(slow, wmi_caches_sums(wmi_rounds_caches(rounds)));
        const struct wmi_rounds_facts facts = wmi_rounds_facts(rounds);
        assert_int_equal(facts.workgroups, SLOW_GROUPS);
        assert_int_equal(facts.most_groups, resident);
        assert_int_equal(facts.cuts, 0);
        wmi_rounds_destroy(rounds);
        free(slow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_brings_back),
        cmocka_unit_test(log_takes_distances),
        cmocka_unit_test(log_repeats),
        cmocka_unit_test(logs_are_bounded),
        cmocka_unit_test(scratch_is_each_workgroups_own),
        cmocka_unit_test(dies_in_turn),
        cmocka_unit_test(starts),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(hashed_sets),
        cmocka_unit_test(scalar_order),
        cmocka_unit_test(against_slow_statement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
