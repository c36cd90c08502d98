/* SPDX-License-Identifier: MIT */
/* One trace from the traces of parts of dispatches.
 *
 * Parts number instructions in the order in which they met them. The merged trace has one number for each,
 * and the counts of an instruction added up; the logs of workgroups are copied, in each dispatch one part
 * after the other. So all parts are read together, dispatch by dispatch, once for the instructions and once
 * for the rest.
 *
 * A trace that is being read takes about a megabyte. So only the first parts stay open from one dispatch to
 * the next; each of the others is opened again, and its earlier dispatches are skipped. */
#include "base/diag.h"
#include "base/random.h"
#include "isa/rules/work.h"
#include "profile/measure/counts.h"
#include "profile/measure/shard.h"
#include "profile/trace/replay.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_COPIED = 1 << 14, /* symbols with code, and sources */
    MOST_OPEN = 32,        /* parts that stay open */
};

/* An instruction of the merged trace. */
struct merged {
    uint64_t pc;
    unsigned id;
    struct wmi_trace_bytes row; /* the record's payload behind the slot */
    struct wmi_counts counts;
    struct wmi_log_instruction known; /* as the merged trace has described it */
};

/* A record that is copied: code or a source. */
struct copied {
    enum wmi_trace_kind kind;
    struct wmi_trace_bytes bytes;
};

struct merge {
    struct wmi_trace_writer *writer;
    struct wmi_trace_bytes header, dispatch; /* payloads of the first part; `dispatch`: of this dispatch */
    struct merged *instructions;
    size_t count, capacity;
    size_t rows, written; /* instructions that have been named up to this dispatch; and written */
    uint32_t *index;      /* hash of pc and id -> number + 1, open addressing; twice the capacity */
    struct copied *copied;
    size_t copied_count;
    uint64_t work[WMI_WORK_COUNTS]; /* of this dispatch */
    struct wmi_trace_places places; /* of the merged trace */
    struct wmi_log_group *group;    /* the workgroup that is copied */
};

/* One part. */
struct pass {
    struct merge *merge;
    const struct wm_trace_part *part;
    struct wmi_trace *trace; /* while it is read */
    uint32_t *map;           /* its slots -> merged slots */
    size_t map_count, rows;  /* `rows`: met in the second reading */
    uint32_t slots;          /* that logs may name */
    struct wmi_trace_places places;
    uint64_t next; /* workgroup */
    bool is_first, stays_open;
    bool began, ended; /* this dispatch */
};

static const char no_memory[] = "no memory to merge traces";

/* Each of the following returns NULL, or what is wrong with the record. */

static void copy_rest(struct wmi_trace_bytes *to, const struct wmi_reader *reader)
{
    wmi_trace_write_bytes(to, reader->at, (size_t)(reader->end - reader->at));
}

static bool is_rest(const struct wmi_trace_bytes *bytes, const struct wmi_reader *reader)
{
    const size_t size = (size_t)(reader->end - reader->at);
    return bytes->size == size && (!size || !memcmp(bytes->byte, reader->at, size));
}

/* Keeps the payload, or compares it with the one of the first part. */
static const char *keep_same(struct wmi_trace_bytes *kept, const struct wmi_reader *reader)
{
    if (!kept->size)
        copy_rest(kept, reader);
    else if (!is_rest(kept, reader))
        return "it is of another dispatch, or of another build or product, than the first part";
    return kept->failed ? no_memory : NULL;
}

static const char *get_dispatch(struct pass *pass, struct wmi_reader *reader)
{
    if (pass->began)
        return "a second dispatch";
    pass->began = true;
    return keep_same(&pass->merge->dispatch, reader);
}

/* The entry of the index for the instruction; 0: it is new. */
static uint32_t *find_index(const struct merge *merge, uint64_t pc, unsigned id)
{
    const size_t size = 2 * merge->capacity;
    size_t at = (size_t)(wmi_random_bits(pc, id) % size);
    for (;; at = (at + 1) % size) {
        const uint32_t entry = merge->index[at];
        if (!entry || (merge->instructions[entry - 1].pc == pc && merge->instructions[entry - 1].id == id))
            return &merge->index[at];
    }
}

static bool grow(struct merge *merge)
{
    const size_t capacity = merge->capacity ? 2 * merge->capacity : 64;
    uint32_t *index = calloc(2 * capacity, sizeof *index);
    struct merged *grown = index ? realloc(merge->instructions, capacity * sizeof *grown) : NULL;
    if (!grown) {
        free(index);
        return false;
    }
    free(merge->index);
    merge->index = index;
    merge->instructions = grown;
    merge->capacity = capacity;
    for (size_t i = 0; i < merge->count; i++)
        *find_index(merge, grown[i].pc, grown[i].id) = (uint32_t)i + 1;
    return true;
}

/* The instruction, which is new if it has no row. NULL: no memory. */
static struct merged *instruction_at(struct merge *merge, uint64_t pc, unsigned id)
{
    if (merge->count == merge->capacity && (merge->count >= WMI_LOG_SLOTS || !grow(merge)))
        return NULL;
    uint32_t *entry = find_index(merge, pc, id);
    if (!*entry) {
        merge->instructions[merge->count] = (struct merged){.pc = pc, .id = id};
        *entry = (uint32_t)++merge->count;
    }
    return &merge->instructions[*entry - 1];
}

static const char *get_row(struct pass *pass, struct wmi_reader *reader)
{
    struct merge *merge = pass->merge;
    const uint64_t slot = wmi_trace_read_number(reader);
    const struct wmi_reader payload = *reader;
    const unsigned id = (unsigned)wmi_trace_read_upto(reader, UINT32_MAX);
    const uint64_t pc = wmi_trace_read_number(reader);
    if (reader->failed || !pass->began || slot != pass->map_count || slot >= WMI_LOG_SLOTS)
        return "no instruction, or not in order";
    struct merged *instruction = instruction_at(merge, pc, id);
    if (!instruction)
        return no_memory;
    if (!instruction->row.size)
        copy_rest(&instruction->row, &payload);
    uint32_t *map = realloc(pass->map, (slot + 1) * sizeof *map);
    if (!map)
        return no_memory;
    pass->map = map;
    if (instruction->row.failed)
        return no_memory;
    map[pass->map_count++] = (uint32_t)(instruction - merge->instructions);
    return NULL;
}

static const char *get_dispatch_end(struct pass *pass)
{
    if (!pass->began || pass->ended)
        return "the end of no dispatch";
    pass->ended = true;
    return NULL;
}

/* Copies code or a source that no earlier part has. */
static const char *get_copied(struct pass *pass, enum wmi_trace_kind kind, const struct wmi_reader *reader)
{
    struct merge *merge = pass->merge;
    for (size_t i = 0; i < merge->copied_count; i++)
        if (merge->copied[i].kind == kind && is_rest(&merge->copied[i].bytes, reader))
            return NULL;
    if (merge->copied_count == MOST_COPIED)
        return "more code and sources than a kernel has";
    struct copied *grown = realloc(merge->copied, (merge->copied_count + 1) * sizeof *grown);
    if (!grown)
        return no_memory;
    merge->copied = grown;
    struct copied *added = &grown[merge->copied_count++];
    *added = (struct copied){.kind = kind};
    copy_rest(&added->bytes, reader);
    return added->bytes.failed ? no_memory : NULL;
}

/* The first reading: instructions, code and sources. */
static const char *collect(struct pass *pass, enum wmi_trace_kind kind, struct wmi_reader *reader)
{
    switch (kind) {
    case WMI_TRACE_DISPATCH:
        return get_dispatch(pass, reader);
    case WMI_TRACE_ROW:
        return get_row(pass, reader);
    case WMI_TRACE_DISPATCH_END:
        return get_dispatch_end(pass);
    case WMI_TRACE_CODE:
    case WMI_TRACE_SOURCE:
        return get_copied(pass, kind, reader);
    case WMI_TRACE_HEADER:
        return "a second header";
    default:
        return NULL;
    }
}

/* Describes the instructions under their merged slots, as far as they are new or not what they were. */
static const char *copy_slots(struct pass *pass, struct wmi_reader *reader)
{
    struct wmi_trace_bytes bytes = {0};
    while (reader->at < reader->end) {
        const uint32_t slot = (uint32_t)wmi_trace_read_upto(reader, WMI_LOG_SLOTS - 1);
        const uint8_t path = (uint8_t)wmi_trace_read_upto(reader, UINT8_MAX);
        const uint8_t kind = (uint8_t)wmi_trace_read_upto(reader, UINT8_MAX);
        const uint8_t shift = (uint8_t)wmi_trace_read_upto(reader, UINT8_MAX);
        const uint8_t policy = (uint8_t)wmi_trace_read_upto(reader, UINT8_MAX);
        if (reader->failed || slot >= pass->map_count) {
            wmi_trace_bytes_free(&bytes);
            return "no instruction of a log";
        }
        pass->slots = slot >= pass->slots ? slot + 1 : pass->slots;
        const struct wmi_log_instruction now = {path, kind, shift, policy};
        struct wmi_log_instruction *known = &pass->merge->instructions[pass->map[slot]].known;
        if (!memcmp(&now, known, sizeof now))
            continue;
        *known = now;
        wmi_trace_write_number(&bytes, pass->map[slot]);
        wmi_trace_write_number(&bytes, path);
        wmi_trace_write_number(&bytes, kind);
        wmi_trace_write_number(&bytes, shift);
        wmi_trace_write_number(&bytes, policy);
    }
    if (bytes.size || bytes.failed)
        wmi_trace_put(pass->merge->writer, WMI_TRACE_SLOTS, &bytes);
    wmi_trace_bytes_free(&bytes);
    return NULL;
}

static const char *copy_group(struct pass *pass, struct wmi_reader *reader)
{
    const struct wmi_trace_group head = wmi_trace_get_group(reader);
    struct wmi_trace_bytes bytes = {0};
    if (reader->failed || head.number != pass->next++)
        return "it is not the workgroup that the part must have here";
    struct merge *merge = pass->merge;
    if (!merge->group && !(merge->group = wmi_log_group_create(WMI_TRACE_WAVES)))
        return no_memory;
    wmi_log_group_reset(merge->group, head.number, head.waves);
    merge->group->instructions = head.instructions;
    if (!wmi_trace_get_log(reader, pass->slots, pass->map, &pass->places, merge->group))
        return "no log of a workgroup";
    wmi_trace_put_group(&bytes, merge->group, &merge->places);
    wmi_trace_put(merge->writer, WMI_TRACE_GROUP, &bytes);
    wmi_trace_bytes_free(&bytes);
    return NULL;
}

/* Writes the record of the first part, which is that of all. */
static const char *begin_dispatch(struct pass *pass, struct wmi_reader *reader)
{
    struct wmi_trace_bytes bytes = {0};
    pass->began = true;
    if (pass->is_first) {
        copy_rest(&bytes, reader);
        wmi_trace_put(pass->merge->writer, WMI_TRACE_DISPATCH, &bytes);
        wmi_trace_bytes_free(&bytes);
    }
    return NULL;
}

/* Instructions got their numbers dispatch by dispatch. So all up to this one have been named. */
static const char *meet_row(struct pass *pass)
{
    const size_t count = pass->map[pass->rows++] + (size_t)1;
    pass->merge->rows = count > pass->merge->rows ? count : pass->merge->rows;
    return NULL;
}

/* Adds the counts of the part, which are those from the beginning of its trace, and its work. */
static const char *add_dispatch_end(struct pass *pass, struct wmi_reader *reader)
{
    struct merge *merge = pass->merge;
    pass->ended = true;
    if (wmi_trace_read_number(reader))
        return "a sample of workgroups";
    for (unsigned i = 0; i < WMI_WORK_COUNTS; i++)
        merge->work[i] += wmi_trace_read_number(reader);
    while (reader->at < reader->end) {
        const uint64_t slot = wmi_trace_read_number(reader);
        struct wmi_counts counts;
        wmi_get_counts(reader, &counts);
        if (reader->failed || slot >= pass->map_count)
            return "no counts of an instruction";
        struct wmi_counts *sum = &merge->instructions[pass->map[slot]].counts;
        wmi_counts_add(sum, &counts);
        sum->code.fetches += counts.code.fetches;
        sum->exposed += counts.exposed;
        for (uint32_t i = 0; i < counts.beside_count; i++)
            sum->beside_count = wmi_path_add_place(sum->beside, sum->beside_count, counts.beside[i]);
        for (unsigned i = 0; i < WMI_WORK_COUNTS; i++)
            sum->code.work[i] += counts.code.work[i];
    }
    return reader->failed ? "no counts" : NULL;
}

/* The second reading: the rest. */
static const char *copy(struct pass *pass, enum wmi_trace_kind kind, struct wmi_reader *reader)
{
    switch (kind) {
    case WMI_TRACE_DISPATCH:
        return begin_dispatch(pass, reader);
    case WMI_TRACE_ROW:
        return meet_row(pass);
    case WMI_TRACE_SLOTS:
        return pass->began ? copy_slots(pass, reader) : "instructions outside a dispatch";
    case WMI_TRACE_GROUP:
        return pass->began ? copy_group(pass, reader) : "a workgroup outside a dispatch";
    case WMI_TRACE_DISPATCH_END:
        return add_dispatch_end(pass, reader);
    default:
        return NULL;
    }
}

typedef const char *visit(struct pass *pass, enum wmi_trace_kind kind, struct wmi_reader *reader);

static enum wm_status tell(const struct pass *pass, const char *wrong, struct wm_diag *diag)
{
    return wrong == no_memory ? wmi_fail(diag, WM_NO_MEMORY, "%s: %s", pass->part->name, no_memory)
                              : wmi_trace_damaged(pass->trace, wrong, diag);
}

/* Reads past so many dispatches, which have been read before. */
static enum wm_status skip_dispatches(struct pass *pass, size_t count, struct wm_diag *diag)
{
    enum wm_status status = WM_OK;
    while (count && !status) {
        enum wmi_trace_kind kind = WMI_TRACE_END;
        struct wmi_reader reader;
        status = wmi_trace_next(pass->trace, &kind, &reader, diag);
        if (!status && kind == WMI_TRACE_END)
            status = tell(pass, "a dispatch is missing", diag);
        count -= kind == WMI_TRACE_DISPATCH_END;
    }
    return status;
}

/* Opens the part's trace, reads its header, and goes to dispatch `index`. */
static enum wm_status open_part(struct pass *pass, size_t index, struct wm_diag *diag)
{
    const struct wm_trace_part *part = pass->part;
    struct wmi_trace_header header;
    enum wm_status status = wmi_trace_open(part->bytes, part->size, part->name, &pass->trace, diag);
    status = status ? status : wmi_replay_header(pass->trace, &header, diag);
    if (status)
        return status;
    struct wmi_trace_bytes again = {0};
    wmi_trace_write_number(&again, WMI_TRACE_VERSION);
    wmi_trace_write_string(&again, header.target);
    wmi_trace_write_string(&again, header.gpu);
    wmi_trace_write_number(&again, header.keeps_l2);
    const char *wrong = no_memory;
    if (!again.failed) {
        const struct wmi_reader written = {.at = again.byte, .end = again.byte + again.size};
        wrong = keep_same(&pass->merge->header, &written);
    }
    wmi_trace_bytes_free(&again);
    wmi_trace_header_free(&header);
    return wrong ? tell(pass, wrong, diag) : skip_dispatches(pass, index, diag);
}

/* Reads the part's records of dispatch `index`, and of the last one also the rest. */
static enum wm_status read_dispatch(struct pass *pass, size_t index, visit *each, struct wm_diag *diag)
{
    const bool last = index + 1 == pass->part->dispatch_count;
    enum wmi_trace_kind kind = WMI_TRACE_HEADER;
    enum wm_status status = pass->trace ? WM_OK : open_part(pass, index, diag);
    pass->began = pass->ended = false;
    while (!status && (last ? kind != WMI_TRACE_END : !pass->ended)) {
        struct wmi_reader reader;
        status = wmi_trace_next(pass->trace, &kind, &reader, diag);
        const char *wrong = status ? NULL : each(pass, kind, &reader);
        if (!status && kind == WMI_TRACE_END && !pass->ended)
            wrong = "a dispatch is missing, or does not end";
        if (wrong)
            status = tell(pass, wrong, diag);
    }
    if (last || status || !pass->stays_open) {
        wmi_trace_close(pass->trace);
        pass->trace = NULL;
    }
    return status;
}

/* Copies what the part logged of dispatch `index`, and adds its counts. */
static enum wm_status copy_dispatch(struct pass *pass, size_t index, struct wm_diag *diag)
{
    const struct wm_trace_range *range = &pass->part->dispatches[index];
    pass->next = range->first_workgroup;
    const enum wm_status status = read_dispatch(pass, index, copy, diag);
    if (!status && pass->next != range->first_workgroup + range->workgroup_count)
        return wmi_fail(diag, WM_BAD_FILE, "%s: it lacks workgroups from number %llu on", pass->part->name,
                        (unsigned long long)pass->next);
    return status;
}

/* Ends the dispatch in the merged trace: its new instructions, and the counts of all. */
static void put_dispatch_end(struct merge *merge)
{
    struct wmi_trace_bytes end = {0};
    wmi_trace_write_number(&end, 0);
    for (unsigned i = 0; i < WMI_WORK_COUNTS; i++)
        wmi_trace_write_number(&end, merge->work[i]);
    memset(merge->work, 0, sizeof merge->work);
    for (; merge->written < merge->rows; merge->written++) {
        const struct wmi_trace_bytes *payload = &merge->instructions[merge->written].row;
        struct wmi_trace_bytes row = {0};
        wmi_trace_write_number(&row, merge->written);
        wmi_trace_write_bytes(&row, payload->byte, payload->size);
        wmi_trace_put(merge->writer, WMI_TRACE_ROW, &row);
        wmi_trace_bytes_free(&row);
    }
    for (size_t slot = 0; slot < merge->count; slot++) {
        struct wmi_counts *counts = &merge->instructions[slot].counts;
        if (counts->executions || counts->sum[WMI_SUM_FETCHES]) {
            wmi_trace_write_number(&end, slot);
            wmi_put_counts(&end, counts);
        }
        /* Later dispatches must not replace these by equal ones. */
        *counts = (struct wmi_counts){.worst = counts->worst, .wave = counts->wave};
    }
    wmi_trace_put(merge->writer, WMI_TRACE_DISPATCH_END, &end);
    wmi_trace_bytes_free(&end);
}

static void free_merge(struct merge *merge)
{
    for (size_t i = 0; i < merge->count; i++)
        wmi_trace_bytes_free(&merge->instructions[i].row);
    for (size_t i = 0; i < merge->copied_count; i++)
        wmi_trace_bytes_free(&merge->copied[i].bytes);
    free(merge->instructions);
    free(merge->index);
    free(merge->copied);
    wmi_trace_bytes_free(&merge->header);
    wmi_trace_bytes_free(&merge->dispatch);
    wmi_trace_places_free(&merge->places);
    wmi_log_group_destroy(merge->group);
}

/* Reads the instructions, code and sources of all parts. */
static enum wm_status collect_all(struct merge *merge, struct pass *passes, size_t count,
                                  struct wm_diag *diag)
{
    const size_t dispatches = passes[0].part->dispatch_count;
    enum wm_status status = WM_OK;
    for (size_t d = 0; d < dispatches && !status; d++) {
        wmi_trace_bytes_free(&merge->dispatch);
        for (size_t i = 0; i < count && !status; i++)
            status = read_dispatch(&passes[i], d, collect, diag);
    }
    return status;
}

/* Writes the merged trace. */
static enum wm_status copy_all(struct merge *merge, struct pass *passes, size_t count, struct wm_diag *diag)
{
    const size_t dispatches = passes[0].part->dispatch_count;
    enum wm_status status = WM_OK;
    wmi_trace_put(merge->writer, WMI_TRACE_HEADER, &merge->header);
    for (size_t d = 0; d < dispatches && !status; d++) {
        for (size_t i = 0; i < count && !status; i++)
            status = copy_dispatch(&passes[i], d, diag);
        put_dispatch_end(merge);
    }
    for (enum wmi_trace_kind kind = WMI_TRACE_CODE; kind <= WMI_TRACE_SOURCE; kind++)
        for (size_t i = 0; i < merge->copied_count; i++)
            if (merge->copied[i].kind == kind)
                wmi_trace_put(merge->writer, kind, &merge->copied[i].bytes);
    return status;
}

enum wm_status wmi_trace_merge(const struct wm_trace_part *parts, size_t count, const char *path,
                               struct wm_diag *diag)
{
    struct merge merge = {0};
    struct pass *passes = calloc(count, sizeof *passes);
    enum wm_status status = passes ? WM_OK : wmi_fail(diag, WM_NO_MEMORY, "%s", no_memory);
    for (size_t i = 0; passes && i < count; i++)
        passes[i] = (struct pass){
            .merge = &merge, .part = &parts[i], .is_first = i == 0, .stays_open = i < MOST_OPEN};
    status = status ? status : collect_all(&merge, passes, count, diag);
    status = status ? status : wmi_trace_create(path, &merge.writer, diag);
    if (!status) {
        status = copy_all(&merge, passes, count, diag);
        if (status)
            wmi_trace_drop(merge.writer);
        else
            status = wmi_trace_finish(merge.writer, diag);
    }
    for (size_t i = 0; passes && i < count; i++) {
        wmi_trace_close(passes[i].trace);
        wmi_trace_places_free(&passes[i].places);
        free(passes[i].map);
    }
    free(passes);
    free_merge(&merge);
    return status;
}
