/* SPDX-License-Identifier: MIT */
/* Writes and reads the log of what waves ask of memory. */
#include "profile/caches/log.h"

#include <stdlib.h>
#include <string.h>

enum { ENTRY = sizeof(struct wmi_log_entry) / sizeof(uint64_t), FIRST_WORDS = 64 };

struct wmi_log_group *wmi_log_group_create(uint32_t waves)
{
    struct wmi_log_group *group = calloc(1, sizeof *group + waves * sizeof *group->wave);
    if (group)
        group->waves = group->capacity = waves;
    return group;
}

void wmi_log_group_reset(struct wmi_log_group *group, uint64_t number, uint32_t waves)
{
    for (uint32_t i = 0; i < group->waves; i++)
        group->wave[i].size = 0;
    group->next = NULL;
    group->number = number;
    group->waves = waves;
    group->words = group->instructions = group->slots = 0;
    group->cuts = 0;
}

void wmi_log_group_destroy(struct wmi_log_group *group)
{
    for (uint32_t i = 0; group && i < group->capacity; i++)
        free(group->wave[i].words);
    free(group);
}

/* Room for `more` words at the end of the wave's log, or NULL. */
static uint64_t *reserve(struct wmi_log_group *group, struct wmi_log_wave *wave, size_t more)
{
    if (wave->size + more > wave->capacity) {
        size_t capacity = wave->capacity                      ? 2 * wave->capacity
                          : group->likely_words < FIRST_WORDS ? FIRST_WORDS
                                                              : group->likely_words;
        while (capacity < wave->size + more)
            capacity *= 2;
        uint64_t *words = realloc(wave->words, capacity * sizeof *words);
        if (!words) {
            group->cuts |= WM_CUT_NO_MEMORY;
            return NULL;
        }
        wave->words = words;
        wave->capacity = capacity;
    }
    wave->size += more;
    group->words += more;
    return wave->words + wave->size - more;
}

static bool is_near(uint64_t from, uint64_t to)
{
    const int64_t difference = (int64_t)(to - from);
    return difference == (int32_t)difference;
}

/* How many of the blocks, at least one, are near the first one before there is one that is not. */
static size_t count_near(const uint64_t *blocks, size_t count)
{
    uint64_t far = 0;
    size_t near = 1;
    for (size_t i = 0; i < count; i++) /* mostly all are, and vectors find that out */
        far |= (blocks[i] - blocks[0] + (1ULL << 31)) >> 32;
    if (!far)
        return count;
    while (near < count && is_near(blocks[0], blocks[near]))
        near++;
    return near;
}

/* How many of the blocks, at least one, are as full as the first one before there is one that is not. */
static size_t count_alike(const bool *full, size_t count)
{
    const bool *other = full ? memchr(full, !full[0], count) : NULL;
    return other ? (size_t)(other - full) : count;
}

/* Differences from the first one, in pairs; the last one may have none. */
static void put_differences(uint64_t *restrict to, const uint64_t *restrict blocks, size_t count)
{
    uint32_t __attribute__((may_alias)) *const words = (void *)to;
    const uint64_t first = blocks[0];
    for (size_t i = 1; i < count; i++)
        words[i - 1] = (uint32_t)(blocks[i] - first);
    if (count % 2 == 0)
        words[count - 1] = 0;
}

static size_t list_words(size_t count)
{
    return count / 2; /* of count - 1 differences */
}

/* Whether so many words more are too many; then no part of an access may be written. */
static bool is_full_log(struct wmi_log_group *group, size_t words)
{
    if (group->words + words <= WMI_LOG_WORDS)
        return false;
    group->cuts |= WM_CUT_WORKGROUP;
    return true;
}

void wmi_log_append(struct wmi_log_group *group, uint32_t wave, uint32_t slot, const uint64_t *blocks,
                    const bool *full, size_t count)
{
    struct wmi_log_wave *log = &group->wave[wave];
    if (is_full_log(group, count * (ENTRY + 1)))
        return;
    if (slot >= group->slots)
        group->slots = slot + 1;
    while (count) {
        const size_t most = count_alike(full, count < WMI_LOG_BLOCKS ? count : WMI_LOG_BLOCKS);
        const uint64_t stride = most > 1 ? blocks[1] - blocks[0] : 0;
        size_t row = 1; /* blocks in steps of the stride */
        if (most > 1 && is_near(blocks[0], blocks[1]))
            while (row < most && blocks[row] - blocks[row - 1] == stride)
                row++;
        const size_t near = row < most ? count_near(blocks, most) : 1; /* blocks that a list can name */
        const bool list = row < near;
        const size_t taken = list ? near : row, words = ENTRY + (list ? list_words(taken) : 0);
        uint64_t *at = reserve(group, log, words);
        if (!at)
            return;
        const struct wmi_log_entry entry = {.block = blocks[0],
                                            .stride = list ? 0 : (int32_t)stride,
                                            .count = taken & 0xff,
                                            .list = list,
                                            .continues = taken < count,
                                            .full = full && full[0],
                                            .slot = slot & (WMI_LOG_SLOTS - 1)};
        memcpy(at, &entry, sizeof entry);
        if (list)
            put_differences(at + ENTRY, blocks, taken);
        blocks += taken;
        full = full ? full + taken : NULL;
        count -= taken;
    }
}

void wmi_log_append_near(struct wmi_log_group *group, uint32_t wave, uint32_t slot, uint64_t base,
                         const uint32_t *block, bool full, size_t count)
{
    struct wmi_log_wave *log = &group->wave[wave];
    const uint32_t first = block[0], stride = count > 1 ? block[1] - first : 0;
    size_t row = 1;
    if (is_full_log(group, count * (ENTRY + 1)))
        return;
    if (slot >= group->slots)
        group->slots = slot + 1;
    while (row < count && block[row] - block[row - 1] == stride)
        row++;
    const bool list = row < count;
    uint64_t *at = reserve(group, log, ENTRY + (list ? list_words(count) : 0));
    if (!at)
        return;
    const struct wmi_log_entry entry = {.block = base + first,
                                        .stride = list ? 0 : (int32_t)stride,
                                        .count = count & 0xff,
                                        .list = list,
                                        .full = full,
                                        .slot = slot & (WMI_LOG_SLOTS - 1)};
    memcpy(at, &entry, sizeof entry);
    uint32_t __attribute__((may_alias)) *const differences = (void *)(at + ENTRY);
    for (size_t i = 1; list && i < count; i++)
        differences[i - 1] = block[i] - first;
    if (list && count % 2 == 0)
        differences[count - 1] = 0;
}

void wmi_log_repeat(struct wmi_log_group *group, uint32_t wave, const uint64_t *words, size_t size,
                    uint64_t distance)
{
    if (is_full_log(group, size))
        return;
    uint64_t *at = reserve(group, &group->wave[wave], size);
    struct wmi_log_entry entry;
    if (!at)
        return;
    for (size_t i = 0; i < size; i++) /* few: a call would take longer */
        at[i] = words[i];
    for (size_t i = 0; i < size; i += ENTRY + (entry.list ? list_words(entry.count) : 0)) {
        memcpy(&entry, at + i, sizeof entry);
        entry.block += distance;
        memcpy(at + i, &entry, sizeof entry);
        if (entry.slot >= group->slots)
            group->slots = entry.slot + 1;
    }
}

void wmi_log_move(struct wmi_log_group *group, const struct wmi_log_instruction *instructions, uint64_t start,
                  uint64_t bytes, uint64_t distance)
{
    for (uint32_t i = 0; i < group->waves; i++) {
        struct wmi_log_wave *wave = &group->wave[i];
        struct wmi_log_entry entry;
        for (size_t at = 0; at < wave->size; at += ENTRY + (entry.list ? list_words(entry.count) : 0)) {
            memcpy(&entry, wave->words + at, sizeof entry);
            const unsigned shift = wmi_log_instruction_at(&instructions[entry.slot]).shift;
            if ((entry.block << shift) - start >= bytes)
                continue;
            entry.block += distance >> shift;
            memcpy(wave->words + at, &entry, sizeof entry);
        }
    }
}

unsigned wmi_log_read(const uint64_t **words, struct wmi_log_entry *entry, uint64_t blocks[WMI_LOG_BLOCKS])
{
    const uint64_t *pairs = *words + ENTRY;
    memcpy(entry, *words, sizeof *entry);
    const uint64_t first = entry->block;
    const unsigned count = entry->count;
    if (!entry->list) {
        const uint64_t stride = (uint64_t)entry->stride;
        for (unsigned i = 0; i < count; i++)
            blocks[i] = first + i * stride;
        *words = pairs;
        return count;
    }
    unsigned i = 1;
    blocks[0] = first;
    for (; i + 1 < count; i += 2) {
        const int64_t pair = (int64_t)pairs[i / 2];
        blocks[i] = first + (uint64_t)(int32_t)pair;
        blocks[i + 1] = first + (uint64_t)(pair >> 32);
    }
    if (i < count)
        blocks[i] = first + (uint64_t)(int32_t)pairs[i / 2];
    *words = pairs + list_words(count);
    return count;
}

bool wmi_log_check(const uint64_t *words, size_t size, uint32_t slots)
{
    bool continues = false;
    uint32_t slot = 0;
    for (size_t at = 0; at < size;) {
        struct wmi_log_entry entry;
        if (size - at < ENTRY)
            return false;
        memcpy(&entry, words + at, sizeof entry);
        at += ENTRY;
        if (!entry.count || entry.slot >= slots || (continues && entry.slot != slot) ||
            (entry.list && size - at < list_words(entry.count)))
            return false;
        at += entry.list ? list_words(entry.count) : 0;
        continues = entry.continues;
        slot = entry.slot;
    }
    return !continues;
}
