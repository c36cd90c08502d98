/* SPDX-License-Identifier: MIT */
/* Encodes and decodes the counts of one instruction as bytes of a trace, with one table for both. */
#include "profile/measure/counts.h"

#include <assert.h>
#include <string.h>

/* A number, or an array of numbers. */
struct field {
    size_t at, size, count;
    uint64_t most; /* maximum value; 0: only the field's size limits it */
};

#define SIZE(member)         sizeof(((struct wmi_counts *)0)->member)
#define NUMBER(member, most) {offsetof(struct wmi_counts, member), SIZE(member), 1, most}
#define ROW(member)          {offsetof(struct wmi_counts, member), SIZE(member[0]), SIZE(member) / SIZE(member[0]), 0}

static const struct field fields[] = {
    NUMBER(path, WMI_PATH_COUNT - 1),
    NUMBER(kind, WMI_ACCESS_ATOMIC),
    NUMBER(bytes, 0),
    NUMBER(used, 0),
    NUMBER(executions, 0),
    ROW(sum),
    NUMBER(depth, 0),
    NUMBER(depth_most, 0),
    NUMBER(worst.passes, 0),
    NUMBER(worst.conflicts, 0),
    NUMBER(worst.serial, 0),
    NUMBER(worst.depth, 0),
    NUMBER(worst.bank, 0),
    NUMBER(worst.lanes, 0),
    ROW(code.work),
    NUMBER(code.fetches, 0),
    NUMBER(exposed, 0),
    NUMBER(beside_count, WMI_BESIDE),
    NUMBER(beside[0].pc, 0),
    NUMBER(beside[0].id, 0),
    NUMBER(beside[1].pc, 0),
    NUMBER(beside[1].id, 0),
    NUMBER(beside[2].pc, 0),
    NUMBER(beside[2].id, 0),
    NUMBER(beside[3].pc, 0),
    NUMBER(beside[3].id, 0),
    ROW(histogram),
    ROW(wave.workgroup),
    NUMBER(wave.wave, 0),
    NUMBER(wave.in_lds, 1),
    NUMBER(wave.bytes, UINT8_MAX),
    NUMBER(wave.lanes, 0),
    ROW(wave.address),
};

static_assert(WMI_BESIDE == 4, "fields of each");

void wmi_put_counts(struct wmi_trace_bytes *bytes, const struct wmi_counts *counts)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *at = (const char *)counts + fields[i].at;
        for (size_t left = fields[i].count; left; left--, at += fields[i].size) {
            uint64_t number = 0;
            memcpy(&number, at, fields[i].size);
            wmi_trace_write_number(bytes, number);
        }
    }
}

void wmi_get_counts(struct wmi_reader *reader, struct wmi_counts *counts)
{
    *counts = (struct wmi_counts){0};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const uint64_t room = UINT64_MAX >> (64 - 8 * fields[i].size);
        char *at = (char *)counts + fields[i].at;
        for (size_t left = fields[i].count; left; left--, at += fields[i].size) {
            const uint64_t number = wmi_trace_read_upto(reader, fields[i].most ? fields[i].most : room);
            memcpy(at, &number, fields[i].size);
        }
    }
}
