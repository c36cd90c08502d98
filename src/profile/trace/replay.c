/* SPDX-License-Identifier: MIT */
/* A profile as a trace: what it sees goes into a file, and from there into another profile. */
#include "profile/trace/replay.h"

#include "base/diag.h"
#include "profile/measure/counts.h"

#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

struct wmi_tracer {
    struct wmi_trace_writer *writer;
    struct wmi_trace_places places;
    const struct wmi_log_instruction *instructions; /* of the profile, by slot */
    struct wmi_log_instruction *known;              /* as they were written, `known_count` of them */
    uint32_t known_count;
    size_t rows, codes, sources; /* that were written down */
    bool began;
};

enum wm_status wmi_tracer_create(const char *path, struct wmi_tracer **tracer, struct wm_diag *diag)
{
    *tracer = calloc(1, sizeof **tracer);
    if (!*tracer)
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a trace");
    const enum wm_status status = wmi_trace_create(path, &(*tracer)->writer, diag);
    if (status) {
        free(*tracer);
        *tracer = NULL;
    }
    return status;
}

static void put_record(struct wmi_tracer *tracer, enum wmi_trace_kind kind, struct wmi_trace_bytes *bytes)
{
    wmi_trace_put(tracer->writer, kind, bytes);
    wmi_trace_bytes_free(bytes);
}

/* Makes room for what is known of `slots` instructions. */
static bool know(struct wmi_tracer *tracer, uint32_t slots)
{
    if (slots <= tracer->known_count)
        return true;
    struct wmi_log_instruction *known = realloc(tracer->known, slots * sizeof *known);
    if (!known)
        return false;
    memset(known + tracer->known_count, 0, (slots - tracer->known_count) * sizeof *known);
    tracer->known = known;
    tracer->known_count = slots;
    return true;
}

/* Describes the instructions below `slots` that are new, or not what they were. */
static void put_slots(struct wmi_tracer *tracer, uint32_t slots)
{
    struct wmi_trace_bytes bytes = {0};
    if (!know(tracer, slots))
        wmi_trace_give_up(tracer->writer, "no memory for a part of the trace");
    for (uint32_t slot = 0; slot < slots && slot < tracer->known_count; slot++) {
        const struct wmi_log_instruction now = wmi_log_instruction_at(&tracer->instructions[slot]);
        if (memcmp(&now, &tracer->known[slot], sizeof now) == 0)
            continue;
        tracer->known[slot] = now;
        wmi_trace_write_number(&bytes, slot);
        wmi_trace_write_number(&bytes, now.path);
        wmi_trace_write_number(&bytes, now.kind);
        wmi_trace_write_number(&bytes, now.shift);
        wmi_trace_write_number(&bytes, now.policy);
    }
    if (bytes.size || bytes.failed)
        put_record(tracer, WMI_TRACE_SLOTS, &bytes);
}

static void put_group(void *user, const struct wmi_log_group *group)
{
    struct wmi_tracer *tracer = user;
    struct wmi_trace_bytes bytes = {0};
    put_slots(tracer, group->slots);
    if (group->cuts & WM_CUT_NO_MEMORY)
        wmi_trace_give_up(tracer->writer, "no memory for a part of the trace");
    else if (group->cuts)
        wmi_trace_give_up(tracer->writer, "the log of a workgroup would exceed 1 GiB");
    wmi_trace_put_group(&bytes, group, &tracer->places);
    put_record(tracer, WMI_TRACE_GROUP, &bytes);
}

static void put_header(struct wmi_tracer *tracer, const struct wm_profile *profile, const char *target)
{
    struct wmi_trace_bytes bytes = {0};
    wmi_trace_write_number(&bytes, WMI_TRACE_VERSION);
    wmi_trace_write_string(&bytes, target);
    wmi_trace_write_string(&bytes, profile->has_gpu ? profile->gpu.name : "");
    wmi_trace_write_number(&bytes, profile->keeps_l2);
    put_record(tracer, WMI_TRACE_HEADER, &bytes);
    tracer->began = true;
}

void wmi_tracer_begin(struct wmi_tracer *tracer, struct wm_profile *profile, const char *target)
{
    const struct wmi_profile_dispatch *dispatch = &profile->source.dispatch;
    struct wmi_trace_bytes bytes = {0};
    if (!tracer->began)
        put_header(tracer, profile, target);
    wmi_trace_write_string(&bytes, dispatch->kernel);
    wmi_trace_write_number(&bytes, dispatch->pc);
    for (unsigned i = 0; i < 3; i++)
        wmi_trace_write_number(&bytes, dispatch->grid[i]);
    for (unsigned i = 0; i < 3; i++)
        wmi_trace_write_number(&bytes, dispatch->workgroup[i]);
    wmi_trace_write_number(&bytes, dispatch->vgprs);
    wmi_trace_write_number(&bytes, dispatch->sgprs);
    wmi_trace_write_number(&bytes, dispatch->lds_bytes);
    wmi_trace_write_number(&bytes, dispatch->wgp_mode);
    wmi_trace_write_number(&bytes, dispatch->scratch_bytes ? dispatch->scratch : 0);
    wmi_trace_write_number(&bytes, dispatch->scratch_bytes);
    wmi_trace_write_number(&bytes, profile->source.wave_lanes);
    wmi_trace_write_number(&bytes, profile->one_in);
    wmi_trace_write_number(&bytes, profile->sampling.round);
    put_record(tracer, WMI_TRACE_DISPATCH, &bytes);
    tracer->instructions = profile->log_instructions;
    if (profile->rounds)
        wmi_rounds_set_sink(profile->rounds, put_group, tracer);
}

static void put_row(struct wmi_tracer *tracer, size_t slot, const struct wmi_profiled *instruction)
{
    const struct wm_profile_row *row = &instruction->row;
    struct wmi_trace_bytes bytes = {0};
    wmi_trace_write_number(&bytes, slot);
    wmi_trace_write_number(&bytes, instruction->id);
    wmi_trace_write_number(&bytes, row->pc);
    wmi_trace_write_number(&bytes, row->offset);
    wmi_trace_write_number(&bytes, row->line);
    wmi_trace_write_number(&bytes, row->column);
    wmi_trace_write_string(&bytes, row->kernel);
    wmi_trace_write_string(&bytes, row->text);
    wmi_trace_write_string(&bytes, row->file);
    put_record(tracer, WMI_TRACE_ROW, &bytes);
}

/* What is known since the last time. */
static void put_origins(struct wmi_tracer *tracer, const struct wmi_origins *origins)
{
    struct wmi_trace_bytes bytes = {0};
    for (; tracer->codes < origins->code_count; tracer->codes++) {
        wmi_put_code(&bytes, &origins->codes[tracer->codes]);
        put_record(tracer, WMI_TRACE_CODE, &bytes);
    }
    for (; tracer->sources < origins->source_count; tracer->sources++) {
        wmi_put_source(&bytes, &origins->sources[tracer->sources]);
        put_record(tracer, WMI_TRACE_SOURCE, &bytes);
    }
}

void wmi_tracer_end(struct wmi_tracer *tracer, struct wm_profile *profile)
{
    struct wmi_trace_bytes bytes = {0};
    wmi_trace_write_number(&bytes, profile->sample.groups);
    for (unsigned i = 0; i < WMI_WORK_COUNTS; i++)
        wmi_trace_write_number(&bytes, profile->work[i]);
    for (; tracer->rows < profile->count; tracer->rows++)
        put_row(tracer, tracer->rows, &profile->instructions[tracer->rows]);
    for (size_t slot = 0; slot < profile->count; slot++) {
        const struct wmi_counts *counts = &profile->instructions[slot].counts;
        if (!counts->executions && !counts->sum[WMI_SUM_FETCHES])
            continue;
        wmi_trace_write_number(&bytes, slot);
        wmi_put_counts(&bytes, counts);
    }
    put_record(tracer, WMI_TRACE_DISPATCH_END, &bytes);
}

static void destroy_tracer(struct wmi_tracer *tracer)
{
    wmi_trace_places_free(&tracer->places);
    free(tracer->known);
    free(tracer);
}

enum wm_status wmi_tracer_finish(struct wmi_tracer *tracer, const struct wm_profile *profile,
                                 struct wm_diag *diag)
{
    enum wm_status status = WM_OK;
    if (tracer->began)
        put_origins(tracer, &profile->origins);
    if (tracer->began)
        status = wmi_trace_finish(tracer->writer, diag);
    else
        wmi_trace_drop(tracer->writer);
    destroy_tracer(tracer);
    return status;
}

void wmi_tracer_drop(struct wmi_tracer *tracer)
{
    if (!tracer)
        return;
    wmi_trace_drop(tracer->writer);
    destroy_tracer(tracer);
}

/* ---- reading ---- */

void wmi_trace_header_free(struct wmi_trace_header *header)
{
    free(header->target);
    free(header->gpu);
    *header = (struct wmi_trace_header){0};
}

enum wm_status wmi_replay_header(struct wmi_trace *trace, struct wmi_trace_header *header,
                                 struct wm_diag *diag)
{
    enum wmi_trace_kind kind;
    struct wmi_reader reader;
    *header = (struct wmi_trace_header){0};
    const enum wm_status status = wmi_trace_next(trace, &kind, &reader, diag);
    if (status)
        return status;
    if (kind != WMI_TRACE_HEADER)
        return kind == WMI_TRACE_END ? wmi_trace_damaged(trace, "nothing was dispatched", diag)
                                     : wmi_trace_damaged(trace, "no header", diag);
    const uint64_t version = wmi_trace_read_number(&reader);
    if (version != WMI_TRACE_VERSION && !reader.failed)
        return wmi_fail(diag, WM_UNSUPPORTED, "a trace of version %llu; this wavemem reads version %d",
                        (unsigned long long)version, WMI_TRACE_VERSION);
    header->target = wmi_trace_read_string(&reader);
    header->gpu = wmi_trace_read_string(&reader);
    header->keeps_l2 = wmi_trace_read_upto(&reader, 1);
    if (!reader.failed && header->target && header->gpu)
        return WM_OK;
    wmi_trace_header_free(header);
    return wmi_trace_damaged(trace, "the header has no target and product", diag);
}

enum {
    MOST_ITEMS = 1024,    /* of a workgroup */
    MOST_EARLY = 1 << 16, /* workgroups behind one that is missing */
    MOST_SHIFT = 12,
};

struct replay {
    struct wmi_trace *trace;
    struct wm_profile *profile;
    const struct wmi_cost_rules *rules;
    struct wmi_trace_places places;
    uint32_t slots; /* that logs may name */
    bool running;   /* between a dispatch's beginning and its end */
    bool missed;    /* there was no memory for something */
    const char *target;
    char *kernel;                  /* its name */
    uint64_t next;                 /* workgroup */
    uint64_t early;                /* that came behind one that is missing */
    struct wmi_rounds_stock stock; /* empty between workgroups, which are modelled as they come */
};

/* Each returns NULL, or what is wrong with the record. */

static const char *get_dispatch(struct replay *replay, struct wmi_reader *reader)
{
    if (replay->running)
        return "a dispatch within another";
    free(replay->kernel);
    replay->kernel = wmi_trace_read_string(reader);
    struct wmi_profile_source source = {
        .rules = replay->rules, .target_name = replay->target, .dispatch = {.kernel = replay->kernel}};
    source.dispatch.pc = wmi_trace_read_number(reader);
    for (unsigned i = 0; i < 3; i++)
        source.dispatch.grid[i] = (uint32_t)wmi_trace_read_upto(reader, UINT32_MAX);
    for (unsigned i = 0; i < 3; i++)
        source.dispatch.workgroup[i] = (uint32_t)wmi_trace_read_upto(reader, MOST_ITEMS);
    source.dispatch.vgprs = (uint32_t)wmi_trace_read_upto(reader, 4096);
    source.dispatch.sgprs = (uint32_t)wmi_trace_read_upto(reader, 4096);
    source.dispatch.lds_bytes = (uint32_t)wmi_trace_read_upto(reader, 1 << 20);
    source.dispatch.wgp_mode = wmi_trace_read_upto(reader, 1);
    source.dispatch.scratch = wmi_trace_read_number(reader);
    source.dispatch.scratch_bytes = wmi_trace_read_upto(reader, UINT32_MAX);
    source.wave_lanes = (unsigned)wmi_trace_read_upto(reader, 64);
    const unsigned one_in = (unsigned)wmi_trace_read_upto(reader, UINT32_MAX);
    const uint64_t round = wmi_trace_read_upto(reader, UINT32_MAX);
    const uint64_t items =
        (uint64_t)source.dispatch.workgroup[0] * source.dispatch.workgroup[1] * source.dispatch.workgroup[2];
    if (reader->failed || !round || items > MOST_ITEMS ||
        (source.wave_lanes != 32 && source.wave_lanes != 64))
        return "no dispatch";
    wmi_profile_set_sample(replay->profile, one_in);
    wmi_profile_begin(replay->profile, &source);
    replay->profile->sampling.round = round; /* as when it was recorded */
    if (!replay->profile->rounds)
        return "no memory for the model of caches";
    replay->running = true;
    replay->next = replay->early = 0;
    return NULL;
}

static const char *get_slots(struct replay *replay, struct wmi_reader *reader)
{
    if (!replay->running)
        return "instructions outside a dispatch";
    while (reader->at < reader->end) {
        const uint32_t slot = (uint32_t)wmi_trace_read_upto(reader, WMI_LOG_SLOTS - 1);
        struct wmi_log_instruction *instruction = &replay->profile->log_instructions[slot];
        const uint8_t path = (uint8_t)wmi_trace_read_upto(reader, WMI_PATH_COUNT - 1);
        const uint8_t kind = (uint8_t)wmi_trace_read_upto(reader, WMI_ACCESS_ATOMIC);
        const uint8_t shift = (uint8_t)wmi_trace_read_upto(reader, MOST_SHIFT);
        const uint8_t policy = (uint8_t)wmi_trace_read_upto(reader, UINT8_MAX);
        if (reader->failed || shift < WMI_LOG_LEAST_SHIFT)
            return "no instruction of a log";
        *instruction = (struct wmi_log_instruction){path, kind, shift, policy};
        if (slot >= replay->slots)
            replay->slots = slot + 1;
    }
    return NULL;
}

static const char *get_group(struct replay *replay, struct wmi_reader *reader)
{
    const struct wmi_trace_group head = wmi_trace_get_group(reader);
    if (!replay->running)
        return "a workgroup outside a dispatch";
    if (reader->failed || head.number < replay->next || head.number == UINT64_MAX)
        return "no workgroup, or not in order";
    replay->early += replay->early || head.number > replay->next;
    replay->next = head.number + 1;
    if (replay->early > MOST_EARLY)
        return "too many workgroups behind one that is missing";
    struct wmi_rounds *rounds = replay->profile->rounds;
    struct wmi_rounds_stock *stock = &replay->stock;
    struct wmi_log_group *group = wmi_rounds_take(rounds, stock, head.number, head.waves);
    if (!group) {
        wmi_rounds_leave(rounds, stock);
        return "no memory for a workgroup";
    }
    const bool good = wmi_trace_get_log(reader, replay->slots, NULL, &replay->places, group);
    if (!good)
        wmi_log_group_reset(group, head.number, head.waves);
    group->instructions = head.instructions;
    if (good && replay->profile->one_in > 1)
        wmi_sample_count(&replay->profile->sample, &replay->profile->sampling, group,
                         replay->profile->log_instructions);
    wmi_rounds_give(rounds, stock, group);
    wmi_rounds_leave(rounds, stock);
    return good ? NULL : "no log of a workgroup";
}

static const char *get_row(struct replay *replay, struct wmi_reader *reader)
{
    struct wm_profile *profile = replay->profile;
    const uint64_t slot = wmi_trace_read_number(reader);
    const unsigned id = (unsigned)wmi_trace_read_upto(reader, UINT32_MAX);
    const uint64_t pc = wmi_trace_read_number(reader);
    struct wm_profile_row row = {.pc = pc, .offset = wmi_trace_read_number(reader)};
    row.line = (unsigned)wmi_trace_read_upto(reader, UINT32_MAX);
    row.column = (unsigned)wmi_trace_read_upto(reader, UINT32_MAX);
    row.kernel = wmi_trace_read_string(reader);
    row.text = wmi_trace_read_string(reader);
    row.file = wmi_trace_read_string(reader);
    const bool good = replay->running && !reader->failed && slot == profile->count &&
                      profile->observer.instruction(profile, pc, id) == slot && slot < profile->count;
    if (good) {
        profile->instructions[slot].row = row;
        return NULL;
    }
    free((char *)row.kernel);
    free((char *)row.text);
    free((char *)row.file);
    return "no instruction, or not in order";
}

static const char *get_dispatch_end(struct replay *replay, struct wmi_reader *reader)
{
    struct wm_profile *profile = replay->profile;
    if (!replay->running)
        return "the end of no dispatch";
    profile->sample.groups = wmi_trace_read_number(reader);
    for (unsigned i = 0; i < WMI_WORK_COUNTS; i++)
        profile->work[i] = wmi_trace_read_number(reader);
    while (reader->at < reader->end) {
        const uint64_t slot = wmi_trace_read_number(reader);
        struct wmi_counts counts;
        wmi_get_counts(reader, &counts);
        if (reader->failed || slot >= profile->count)
            return "no counts of an instruction";
        profile->instructions[slot].counts = counts;
    }
    wmi_profile_end(profile);
    replay->missed |= wmi_profile_missed(profile);
    replay->running = false;
    return NULL;
}

static const char *get_code(struct replay *replay, struct wmi_reader *reader)
{
    return wmi_get_code(reader, replay->target, &replay->profile->origins);
}

static const char *get_source(struct replay *replay, struct wmi_reader *reader)
{
    return wmi_get_source(reader, &replay->profile->origins);
}

static const char *get_record(struct replay *replay, enum wmi_trace_kind kind, struct wmi_reader *reader)
{
    static const char *(*const get[WMI_TRACE_KINDS])(struct replay *, struct wmi_reader *) = {
        [WMI_TRACE_DISPATCH] = get_dispatch, [WMI_TRACE_SLOTS] = get_slots,
        [WMI_TRACE_GROUP] = get_group,       [WMI_TRACE_DISPATCH_END] = get_dispatch_end,
        [WMI_TRACE_ROW] = get_row,           [WMI_TRACE_CODE] = get_code,
        [WMI_TRACE_SOURCE] = get_source,
    };
    if (kind == WMI_TRACE_END)
        return replay->running ? "the end within a dispatch" : NULL;
    return get[kind] ? get[kind](replay, reader) : "a record where none like it may be";
}

enum wm_status wmi_replay(struct wmi_trace *trace, struct wm_profile *profile, const char *target,
                          const struct wmi_cost_rules *rules, struct wm_diag *diag)
{
    struct replay replay = {.trace = trace, .profile = profile, .rules = rules, .target = target};
    enum wmi_trace_kind kind = WMI_TRACE_HEADER;
    enum wm_status status = WM_OK;
    while (!status && kind != WMI_TRACE_END) {
        struct wmi_reader reader;
        status = wmi_trace_next(trace, &kind, &reader, diag);
        const char *wrong = status ? NULL : get_record(&replay, kind, &reader);
        if (wrong)
            status = wmi_trace_damaged(trace, wrong, diag);
    }
    if (replay.running) /* after an error: what waits for its turn must go */
        wmi_profile_end(profile);
    profile->source.dispatch.kernel = profile->source.target_name = NULL;
    free(replay.kernel);
    wmi_trace_places_free(&replay.places);
    return status || !replay.missed ? status : wmi_fail(diag, WM_NO_MEMORY, "no memory for all of the trace");
}
