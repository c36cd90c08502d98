/* SPDX-License-Identifier: MIT */
/* The log: which blocks of memory each instruction of each wave asked for, in the order of the wave.
 *
 * It is what the models of caches go by, live or from a trace. A workgroup's log is complete when the
 * workgroup has ended; workgroups are handed on in the order of their numbers (see caches.h), so what is made
 * of a log does not depend on the host's threads.
 *
 * A wave's log is a row of 8-byte words. An entry is two of them, struct wmi_log_entry, and with `list` set
 * (count - 1 + 1) / 2 more: count - 1 signed 32-bit differences from `block`, in pairs, the last one padded
 * with 0. An access of more than WMI_LOG_BLOCKS blocks, or of such that lie too far apart, is several
 * entries, of which all but the last have `continues` set. Byte order is the host's, little-endian. */
#ifndef WMI_PROFILE_LOG_H
#define WMI_PROFILE_LOG_H

#include "wavemem/wavemem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    WMI_LOG_BLOCKS = 255,    /* of one entry */
    WMI_LOG_SLOTS = 1 << 17, /* instructions; what is beyond is not logged */
    WMI_LOG_WORDS = 1 << 27, /* of a workgroup, 1 GiB; nor what is beyond these */
    WMI_LOG_LEAST_SHIFT = 2, /* of an instruction's blocks */
};

struct wmi_log_entry {
    uint64_t block;         /* the first block: its address >> log2 of its bytes, see wmi_log_instruction */
    int32_t stride;         /* without `list`: blocks from each one to the next; may be 0 for atomics */
    uint32_t count : 8;     /* blocks, at least 1; equal ones are requests of their own */
    uint32_t list : 1;      /* differences follow */
    uint32_t continues : 1; /* the access goes on with the next entry */
    uint32_t full : 1;      /* a store that writes all bytes of each block */
    uint32_t slot : 21;     /* the instruction */
};

_Static_assert(sizeof(struct wmi_log_entry) == 16, "two words");

/* What is the same for all executions of the instruction with a slot. */
struct wmi_log_instruction {
    uint8_t path, kind; /* enum wmi_path, enum wmi_access_kind */
    uint8_t shift;      /* log2 of a block's bytes */
    uint8_t policy;     /* WMI_POLICY_*; of CONTROL 1 << enum wm_cache_level */
};

struct wmi_log_wave {
    uint64_t *words;
    size_t size, capacity; /* words */
};

/* A workgroup. */
struct wmi_log_group {
    struct wmi_log_group *next; /* for whoever has it */
    uint64_t number;            /* in dispatch order */
    uint64_t words;             /* of all waves */
    uint64_t instructions;      /* that its waves executed */
    uint32_t waves, capacity;   /* waves that it has, and that there is room for */
    uint32_t slots;             /* more than the highest slot in it */
    unsigned cuts;              /* enum wm_profile_cut: why a part of it is missing */
    struct wmi_log_wave wave[];
};

/* Behind its last word; it may have none, and no memory then. */
static inline const uint64_t *wmi_log_end(const struct wmi_log_wave *wave)
{
    return wave->size ? wave->words + wave->size : wave->words;
}

struct wmi_log_group *wmi_log_group_create(uint32_t waves); /* NULL: no memory */
/* Makes it an empty one of at most `capacity` waves. Its memory stays. */
void wmi_log_group_reset(struct wmi_log_group *group, uint64_t number, uint32_t waves);
void wmi_log_group_destroy(struct wmi_log_group *group); /* NULL is nothing */

/* Appends an access to `count` blocks, at least 1. full: by block, or NULL: none. */
void wmi_log_append(struct wmi_log_group *group, uint32_t wave, uint32_t slot, const uint64_t *blocks,
                    const bool *full, size_t count);

/* Appends `size` words, the entries of one access in a log, with all blocks moved by `distance`. */
void wmi_log_repeat(struct wmi_log_group *group, uint32_t wave, const uint64_t *words, size_t size,
                    uint64_t distance);

/* The same of one entry without a list, where that is all: false, and nothing was done, if there is no room.
 */
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

/* Moves what the group asks for in the `bytes` from `start` on by `distance`, all in bytes. An access that
 * begins elsewhere stays where it is. */
void wmi_log_move(struct wmi_log_group *group, const struct wmi_log_instruction *instructions, uint64_t start,
                  uint64_t bytes, uint64_t distance);

/* Reads the entry at *words, which must be whole (wmi_log_check), and goes on behind it. Returns its blocks.
 */
unsigned wmi_log_read(const uint64_t **words, struct wmi_log_entry *entry, uint64_t blocks[WMI_LOG_BLOCKS]);

/* Whether `size` words from elsewhere are whole entries of slots below `slots`. */
bool wmi_log_check(const uint64_t *words, size_t size, uint32_t slots);

#endif
