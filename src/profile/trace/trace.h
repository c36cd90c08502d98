/* SPDX-License-Identifier: MIT */
/* The trace file: the log of accesses and the other data that a profile needs to reproduce its report.
 * docs/trace.md describes the format.
 *
 * A trace is a sequence of records in one compressed frame. This file handles records and the log of a
 * workgroup; replay.c handles the contents of the other records. */
#ifndef WMI_PROFILE_TRACE_H
#define WMI_PROFILE_TRACE_H

#include "profile/caches/log.h"
#include "profile/cost/bytes.h"
#include "wavemem/wavemem.h"

enum wmi_trace_kind {
    WMI_TRACE_END, /* number of preceding records */
    WMI_TRACE_HEADER,
    WMI_TRACE_DISPATCH,
    WMI_TRACE_SLOTS, /* instructions that the following logs refer to */
    WMI_TRACE_GROUP,
    WMI_TRACE_DISPATCH_END,
    WMI_TRACE_ROW,
    WMI_TRACE_CODE,
    WMI_TRACE_SOURCE,
    WMI_TRACE_KINDS
};

enum {
    WMI_TRACE_VERSION = 13,
    WMI_TRACE_WAVES = 64, /* maximum per workgroup */
};

/* ---- writing ---- */

struct wmi_trace_writer;

/* Starts a file; it appears under its name when it is complete. */
enum wm_status wmi_trace_create(const char *path, struct wmi_trace_writer **writer, struct wm_diag *diag);
/* Appends a record; wmi_trace_finish() reports errors. Not thread-safe. */
void wmi_trace_put(struct wmi_trace_writer *writer, enum wmi_trace_kind kind,
                   const struct wmi_trace_bytes *payload);
/* The trace would have holes: no file appears, and wmi_trace_finish() says why. */
void wmi_trace_give_up(struct wmi_trace_writer *writer, const char *why);
/* Writes the end record and frees the writer. WM_IO, WM_NO_MEMORY: the trace could not be completed. */
enum wm_status wmi_trace_finish(struct wmi_trace_writer *writer, struct wm_diag *diag);

/* Frees the writer and removes the file. */
void wmi_trace_drop(struct wmi_trace_writer *writer);

/* The last block accessed by each instruction; blocks are written as differences from it. */
struct wmi_trace_places {
    uint64_t *last; /* by slot */
    uint32_t count;
};
void wmi_trace_places_free(struct wmi_trace_places *places);

void wmi_trace_put_group(struct wmi_trace_bytes *bytes, const struct wmi_log_group *group,
                         struct wmi_trace_places *places);

/* ---- reading ---- */

struct wmi_trace;

/* Starts reading `size` bytes, which must stay valid; `name` appears in messages. WM_BAD_FILE: not a trace;
 * WM_UNSUPPORTED: another version. */
enum wm_status wmi_trace_open(const void *bytes, size_t size, const char *name, struct wmi_trace **trace,
                              struct wm_diag *diag);
void wmi_trace_close(struct wmi_trace *trace); /* NULL is allowed */
/* Reads the next record; the last is WMI_TRACE_END. The payload is valid until the next call. WM_BAD_FILE:
 * the rest is truncated or damaged. */
enum wm_status wmi_trace_next(struct wmi_trace *trace, enum wmi_trace_kind *kind, struct wmi_reader *payload,
                              struct wm_diag *diag);
/* Reports that the last record is damaged; returns WM_BAD_FILE. */
enum wm_status wmi_trace_damaged(const struct wmi_trace *trace, const char *what, struct wm_diag *diag);

struct wmi_trace_group {
    uint64_t number, instructions;
    uint32_t waves; /* at most WMI_TRACE_WAVES */
};
struct wmi_trace_group wmi_trace_get_group(struct wmi_reader *reader);
/* Reads the rest of the record into an empty log of that many waves; instructions must be below `slots`. map:
 * the slots that they get in the log; NULL: the same. False: the record is damaged, or out of memory. */
bool wmi_trace_get_log(struct wmi_reader *reader, uint32_t slots, const uint32_t *map,
                       struct wmi_trace_places *places, struct wmi_log_group *group);

#endif
