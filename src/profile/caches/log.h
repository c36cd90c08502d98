/* SPDX-License-Identifier: MIT */
/* The log: the blocks of memory that each instruction of each wave requested, in the order of the wave.
 *
 * The cache model processes logs, live or from a trace. The log of a workgroup is complete when the workgroup
 * has ended; logs are processed in the order of the workgroups (see caches.h), so the results do not depend
 * on host threads.
 *
 * A wave's log is an array of 8-byte words. An entry consists of two words, struct wmi_log_entry, and with
 * `list` set of (count - 1 + 1) / 2 more: count - 1 signed 32-bit differences from `block`, in pairs, padded
 * with 0. An access of more than WMI_LOG_BLOCKS blocks, or of blocks that are too far apart, has several
 * entries; all but the last have `continues` set. The byte order is that of the host, little-endian. */
#ifndef WMI_PROFILE_LOG_H
#define WMI_PROFILE_LOG_H

#include "wavemem/wavemem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    WMI_LOG_BLOCKS = 255,    /* maximum per entry */
    WMI_LOG_SLOTS = 1 << 17, /* maximum number of instructions; others are not logged */
    WMI_LOG_WORDS = 1 << 27, /* maximum per workgroup, 1 GiB; later accesses are not logged */
    WMI_LOG_LEAST_SHIFT = 2, /* log2 of the minimum block size in bytes */
};

struct wmi_log_entry {
    uint64_t block;         /* the first block: address >> wmi_log_instruction.shift */
    int32_t stride;         /* without `list`: distance between consecutive blocks; may be 0 for atomics */
    uint32_t count : 8;     /* number of blocks, at least 1; equal blocks are separate requests */
    uint32_t list : 1;      /* differences follow */
    uint32_t continues : 1; /* the next entry belongs to the same access */
    uint32_t full : 1;      /* a store that writes all bytes of each block */
    uint32_t slot : 21;     /* the instruction */
};

_Static_assert(sizeof(struct wmi_log_entry) == 16, "two words");

/* Properties of the instruction of a slot. */
struct wmi_log_instruction {
    uint8_t path, kind; /* enum wmi_path, enum wmi_access_kind */
    uint8_t shift;      /* log2 of a block's bytes */
    uint8_t policy;     /* WMI_POLICY_*; for WMI_PATH_CONTROL: 1 << enum wm_cache_level */
};

union wmi_log_instruction_word {
    struct wmi_log_instruction instruction;
    uint32_t word;
};
_Static_assert(sizeof(union wmi_log_instruction_word) == sizeof(uint32_t), "one word");

/* Reads an instruction that workers may be writing: each stores the same or a newer description as one word.
 */
static inline struct wmi_log_instruction wmi_log_instruction_at(const struct wmi_log_instruction *shared)
{
    const union wmi_log_instruction_word now = {
        .word = __atomic_load_n((const uint32_t __attribute__((may_alias)) *)shared, __ATOMIC_RELAXED)};
    return now.instruction;
}

struct wmi_log_wave {
    uint64_t *words;
    size_t size, capacity; /* words */
};

/* The log of a workgroup. */
struct wmi_log_group {
    struct wmi_log_group *next; /* for the owner */
    uint64_t number;            /* in dispatch order */
    uint64_t words;             /* total of all waves */
    uint64_t instructions;      /* executed by its waves */
    uint32_t waves, capacity;   /* number of waves; allocated waves */
    uint32_t slots;             /* highest slot + 1 */
    size_t likely_words;        /* of a wave: how much memory it gets at first; 0: unknown */
    unsigned cuts;              /* enum wm_profile_cut: why the log is incomplete; 0: it is complete */
    struct wmi_log_wave wave[];
};

/* Returns the end of its words; it may have none, and then no memory. */
static inline const uint64_t *wmi_log_end(const struct wmi_log_wave *wave)
{
    return wave->size ? wave->words + wave->size : wave->words;
}

struct wmi_log_group *wmi_log_group_create(uint32_t waves); /* NULL: no memory */
/* Empties the log for a workgroup of at most `capacity` waves; keeps its memory. */
void wmi_log_group_reset(struct wmi_log_group *group, uint64_t number, uint32_t waves);
void wmi_log_group_destroy(struct wmi_log_group *group); /* NULL is allowed */

/* Appends an access of `count` blocks, at least 1. full: per block; NULL: none is written completely. */
void wmi_log_append(struct wmi_log_group *group, uint32_t wave, uint32_t slot, const uint64_t *blocks,
                    const bool *full, size_t count);

/* The same for at most WMI_LOG_BLOCKS blocks base + block[i]. full: all are written completely. */
void wmi_log_append_near(struct wmi_log_group *group, uint32_t wave, uint32_t slot, uint64_t base,
                         const uint32_t *block, bool full, size_t count);

/* Appends `size` words, the entries of one access in a log, with `distance` added to all blocks. */
void wmi_log_repeat(struct wmi_log_group *group, uint32_t wave, const uint64_t *words, size_t size,
                    uint64_t distance);

/* The same for a single entry without a list. False if the log must grow; nothing was changed. */
static inline bool wmi_log_repeat_short(struct wmi_log_group *group, uint32_t wave, const uint64_t words[2],
                                        uint64_t distance)
{
    struct wmi_log_wave *log = &group->wave[wave];
    struct wmi_log_entry entry;
    memcpy(&entry, words, sizeof entry);
    if (log->size + 2 > log->capacity)
        return false;
    if (entry.slot >= group->slots)
        group->slots = entry.slot + 1;
    log->words[log->size] = words[0] + distance;
    log->words[log->size + 1] = words[1];
    log->size += 2;
    group->words += 2;
    return true;
}

/* Adds `distance` to the addresses of accesses that begin in the `bytes` from `start` on. All are multiples
 * of the block size. */
void wmi_log_move(struct wmi_log_group *group, const struct wmi_log_instruction *instructions, uint64_t start,
                  uint64_t bytes, uint64_t distance);

/* Reads the entry at *words, which must be complete (wmi_log_check), and advances *words. Returns the number
 * of blocks.
 */
unsigned wmi_log_read(const uint64_t **words, struct wmi_log_entry *entry, uint64_t blocks[WMI_LOG_BLOCKS]);

/* Whether `size` words of untrusted data are complete entries with slots below `slots`. */
bool wmi_log_check(const uint64_t *words, size_t size, uint32_t slots);

#endif
