/* SPDX-License-Identifier: MIT */
/* The trace: the log on disk, with what a profile needs besides to tell the same. docs/trace.md has the
 * format.
 *
 * A trace is records, compressed together. This file knows records and how a workgroup's log is one; what
 * the other records hold is the profile's (replay.c). */
#ifndef WMI_PROFILE_TRACE_H
#define WMI_PROFILE_TRACE_H

#include "profile/caches/log.h"
#include "profile/cost/bytes.h"
#include "wavemem/wavemem.h"

enum wmi_trace_kind {
    WMI_TRACE_END, /* how many records there were before it */
    WMI_TRACE_HEADER,
    WMI_TRACE_DISPATCH,
    WMI_TRACE_SLOTS, /* instructions that the following logs name */
    WMI_TRACE_GROUP,
    WMI_TRACE_DISPATCH_END,
    WMI_TRACE_ROW,
    WMI_TRACE_CODE,
    WMI_TRACE_SOURCE,
    WMI_TRACE_KINDS
};

enum {
    WMI_TRACE_VERSION = 8,
    WMI_TRACE_WAVES = 64, /* of a workgroup, at most */
};

/* ---- writing ---- */

struct wmi_trace_writer;

/* Begins the file, which appears under its name when it is whole. */
enum wm_status wmi_trace_create(const char *path, struct wmi_trace_writer **writer, struct wm_diag *diag);
/* Appends a record; what fails is told by wmi_trace_finish(). One call at a time. */
void wmi_trace_put(struct wmi_trace_writer *writer, enum wmi_trace_kind kind,
                   const struct wmi_trace_bytes *payload);
/* Writes the end and frees the writer. WM_IO, WM_NO_MEMORY: the trace is not whole. */
enum wm_status wmi_trace_finish(struct wmi_trace_writer *writer, struct wm_diag *diag);

/* Frees the writer; there is no file. */
void wmi_trace_drop(struct wmi_trace_writer *writer);

/* Where the last access of each instruction lay: blocks are written as distances from there. */
struct wmi_trace_places {
    uint64_t *last; /* by slot */
    uint32_t count;
};
void wmi_trace_places_free(struct wmi_trace_places *places);

void wmi_trace_put_group(struct wmi_trace_bytes *bytes, const struct wmi_log_group *group,
                         struct wmi_trace_places *places);

/* ---- reading ---- */

struct wmi_trace;

/* Begins to read `size` bytes, which must stay; `name` stands in messages. WM_BAD_FILE: they are no trace;
 * WM_UNSUPPORTED: of another version. */
enum wm_status wmi_trace_open(const void *bytes, size_t size, const char *name, struct wmi_trace **trace,
                              struct wm_diag *diag);
void wmi_trace_close(struct wmi_trace *trace); /* NULL is nothing */
/* The next record; the last is WMI_TRACE_END. The payload is valid until the next call. WM_BAD_FILE: what
 * follows is cut off or damaged. */
enum wm_status wmi_trace_next(struct wmi_trace *trace, enum wmi_trace_kind *kind, struct wmi_reader *payload,
                              struct wm_diag *diag);
/* Says that the record just read is damaged; returns WM_BAD_FILE. */
enum wm_status wmi_trace_damaged(const struct wmi_trace *trace, const char *what, struct wm_diag *diag);

struct wmi_trace_group {
    uint64_t number, instructions;
    uint32_t waves; /* at most WMI_TRACE_WAVES */
};
struct wmi_trace_group wmi_trace_get_group(struct wmi_reader *reader);
/* Reads what follows it into an empty log of so many waves, for instructions below `slots`. False: the record
 * is damaged, or there is no memory. */
bool wmi_trace_get_log(struct wmi_reader *reader, uint32_t slots, struct wmi_trace_places *places,
                       struct wmi_log_group *group);

#endif
