/* SPDX-License-Identifier: MIT */
/* Timelines as the folder that ROCprof Compute Viewer opens.
 *
 * The files, their keys and units are those that rocprofv3 writes (rocprofiler-sdk, source/lib/att-tool) and
 * the viewer reads (rocprof-compute-viewer, src/data/json_emitter.cpp, wavemanager.cpp, code/codeload.cpp);
 * numbers of categories and states: rocprof-trace-decoder, include/trace_decoder_types.h. Times are clocks. A
 * compute unit that is shown stands for its shader engine, because workgroups are dealt to engines in turn.
 */
#include "tool/timeline/timeline.h"

#include "tool/output.h"
#include "tool/report/document.h"
#include "tool/report/source.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char version[] = "3.0.0"; /* of the format, in which rocprofv3 writes it */

/* enum rocprofiler_thread_trace_decoder_inst_category_t */
enum category { SMEM = 1, SALU, VMEM, FLAT, LDS, VALU, JUMP, NEXT, IMMED, MESSAGE = 11, BVH };
/* enum rocprofiler_thread_trace_decoder_wstate_type_t */
enum state { EXEC = 2, WAIT, STALL };

struct folder {
    const struct tool_report *report;
    const char *path;
    json_t *waves, *occupancy, *code, *snapshots; /* of filenames.json; the other files */
    unsigned sources;
    double offset; /* clocks before the dispatch */
};

/* ---- files ---- */

static int write_json(const char *folder, const char *name, const json_t *json)
{
    struct tool_file file;
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        path = NULL;
    tool_checked(path);
    int code = TOOL_WRONG;
    if (tool_begin_file(&file, "--viewer", path)) {
        json_dumpf(json, file.whole.stream, JSON_COMPACT | JSON_PRESERVE_ORDER);
        code = tool_end_file(&file);
    }
    free(path);
    return code;
}

/* The value of the key, which is made if it is not there. */
static json_t *below(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (value)
        return value;
    json_object_set_new(object, key, json_object());
    return json_object_get(object, key);
}

static json_t *numbered(json_t *object, uint32_t number)
{
    char key[16];
    snprintf(key, sizeof key, "%" PRIu32, number);
    return below(object, key);
}

static json_int_t clocks(double value)
{
    return (json_int_t)llround(value);
}

/* ---- waves ---- */

static enum category category_of(const struct wm_timeline *timeline, const struct wm_timeline_wave *wave,
                                 size_t i)
{
    const struct wm_timeline_code *code = &timeline->code[wave->step[i].code];
    const struct wm_timeline_code *next =
        i + 1 < wave->steps ? &timeline->code[wave->step[i + 1].code] : NULL;
    switch (code->unit) {
    case WM_TIMELINE_SMEM:
        return SMEM;
    case WM_TIMELINE_SALU:
        return SALU;
    case WM_TIMELINE_VALU:
    case WM_TIMELINE_MATRIX:
        return VALU;
    case WM_TIMELINE_LDS:
    case WM_TIMELINE_GDS:
        return LDS;
    case WM_TIMELINE_BRANCH:
        return next && next->pc == code->pc + code->bytes ? NEXT : JUMP;
    case WM_TIMELINE_VMEM:
        return !strncmp(code->text, "flat_", 5) ? FLAT : !strncmp(code->text, "image_bvh", 9) ? BVH : VMEM;
    default:
        return strncmp(code->text, "s_sendmsg", 9) ? IMMED : MESSAGE;
    }
}

/* Adds a state, or lengthens the last one. */
static void add_state(json_t *states, enum state state, json_int_t duration)
{
    const size_t count = json_array_size(states);
    json_t *last = count ? json_array_get(states, count - 1) : NULL;
    if (duration <= 0)
        return;
    if (last && json_integer_value(json_array_get(last, 0)) == state)
        json_array_set_new(last, 1, json_integer(json_integer_value(json_array_get(last, 1)) + duration));
    else
        json_array_append_new(states, json_pack("[i, I]", (int)state, duration));
}

/* first: line number of the timeline's first instruction. */
static int write_wave(struct folder *folder, const struct wm_timeline *timeline,
                      const struct wm_timeline_wave *wave, json_int_t first)
{
    json_t *instructions = json_array(), *states = json_array();
    const double offset = folder->offset;
    for (size_t i = 0; i < wave->steps; i++) {
        const struct wm_timeline_step *step = &wave->step[i];
        const double waited = step->begin + step->waits, issued = waited + step->stalls;
        const json_int_t begin = clocks(offset + step->begin), wait = clocks(offset + waited),
                         issue = clocks(offset + issued), end = clocks(offset + issued + step->issues);
        json_array_append_new(instructions,
                              json_pack("[I, i, I, I, I]", begin, (int)category_of(timeline, wave, i),
                                        issue - begin, end - begin, first + (json_int_t)step->code));
        add_state(states, WAIT, wait - begin);
        add_state(states, STALL, issue - wait);
        add_state(states, EXEC, end - issue);
    }
    json_t *slot = numbered(numbered(numbered(folder->waves, wave->unit), wave->simd), wave->slot);
    const unsigned id = (unsigned)json_object_size(slot);
    const json_int_t begin = clocks(offset + wave->begin), end = clocks(offset + wave->end);
    char name[96], key[16];
    snprintf(name, sizeof name, "se%" PRIu32 "_sm%" PRIu32 "_sl%" PRIu32 "_wv%u.json", wave->unit, wave->simd,
             wave->slot, id);
    snprintf(key, sizeof key, "%u", id);
    json_object_set_new(slot, key, json_pack("[s, I, I]", name, begin, end));
    json_t *file = json_pack(
        "{s:s, s:I, s:{s:i, s:i, s:i, s:i, s:I, s:I, s:o, s:o, s:[], s:{s:i, s:i, s:i, s:i}}, s:I, s:I, s:s}",
        "name", "predicted", "duration", end - begin, "wave", "cu", 0, "id", id, "simd", (int)wave->simd,
        "slot", (int)wave->slot, "begin", begin, "end", end, "instructions", instructions, "timeline", states,
        "waitcnt", "info", "workgroup_x", (int)wave->workgroup[0], "workgroup_y", (int)wave->workgroup[1],
        "workgroup_z", (int)wave->workgroup[2], "wave_in_workgroup", (int)wave->wave, "num_stitched",
        (json_int_t)wave->steps, "num_insts", (json_int_t)wave->steps, "wavemem",
        "predicted by a model, not measured");
    const int code = write_json(folder->path, name, file);
    json_decref(file);
    return code;
}

/* ---- occupancy ---- */

struct change {
    double time;
    const struct wm_timeline_wave *wave;
    bool starts;
};

static int by_time(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    return a->time != b->time ? (a->time > b->time) - (a->time < b->time) : (int)a->starts - (int)b->starts;
}

static void add_occupancy(struct folder *folder, const struct wm_timeline *timeline, int kernel)
{
    struct change *changes = tool_checked(calloc(2 * timeline->waves + 1, sizeof *changes));
    char key[16];
    for (size_t i = 0; i < timeline->waves; i++) {
        changes[2 * i] = (struct change){timeline->wave[i].begin, &timeline->wave[i], true};
        changes[2 * i + 1] = (struct change){timeline->wave[i].end, &timeline->wave[i], false};
    }
    qsort(changes, 2 * timeline->waves, sizeof *changes, by_time);
    for (size_t i = 0; i < 2 * timeline->waves; i++) {
        const struct wm_timeline_wave *wave = changes[i].wave;
        snprintf(key, sizeof key, "%" PRIu32, wave->unit);
        if (!json_object_get(folder->occupancy, key))
            json_object_set_new(folder->occupancy, key, json_array());
        json_array_append_new(json_object_get(folder->occupancy, key),
                              json_pack("[I, i, i, i, i, i]", clocks(folder->offset + changes[i].time), 0,
                                        (int)wave->simd, (int)wave->slot, (int)changes[i].starts, kernel));
    }
    free(changes);
    snprintf(key, sizeof key, "%d", kernel);
    json_object_set_new(below(folder->occupancy, "dispatches"), key,
                        tool_json_text(timeline->kernel ? timeline->kernel : ""));
}

/* ---- code and sources ---- */

/* What the waves that are shown spent on an instruction, clocks. */
struct spent {
    json_int_t hits, latency, stall;
};

static void add_spent(const struct wm_timeline *timeline, struct spent *spent)
{
    for (size_t w = 0; w < timeline->waves; w++)
        for (size_t i = 0; i < timeline->wave[w].steps; i++) {
            const struct wm_timeline_step *step = &timeline->wave[w].step[i];
            struct spent *its = &spent[step->code];
            its->hits++;
            its->stall += clocks(step->waits + step->stalls);
            its->latency += clocks(step->waits + step->stalls + step->issues);
        }
}

/* Copies the source into the folder, and adds it to the tree of paths. */
static void add_source(struct folder *folder, const char *name)
{
    enum tool_source_state state;
    char *path = tool_checked(strdup(name)), *next = NULL, copy[64], *full;
    json_t *tree = folder->snapshots;
    const char *base = strrchr(name, '/'), *dot = strrchr(base ? base : name, '.');
    char *part = strtok_r(path, "/", &next);
    if (name[0] == '/')
        tree = below(tree, "/");
    for (char *after; part && (after = strtok_r(NULL, "/", &next)); part = after)
        tree = below(tree, part);
    char *text = part && !json_object_get(tree, part) ? tool_source_text(folder->report, name, &state) : NULL;
    snprintf(copy, sizeof copy, "source_%u%.16s", folder->sources, dot ? dot : "");
    if (asprintf(&full, "%s/%s", folder->path, copy) < 0)
        full = NULL;
    struct tool_file file;
    if (text && tool_begin_file(&file, "--viewer", tool_checked(full))) {
        fputs(text, file.whole.stream);
        if (tool_end_file(&file) == TOOL_CLEAN) {
            json_object_set_new(tree, part, json_string(copy));
            folder->sources++;
        }
    }
    free(full);
    free(text);
    free(path);
}

/* Adds the rows of the timeline's code; returns the line number of the first instruction. */
static json_int_t add_code(struct folder *folder, const struct wm_timeline *timeline)
{
    struct spent *spent = tool_checked(calloc(timeline->codes + 1, sizeof *spent));
    const json_int_t first = (json_int_t)json_array_size(folder->code) + 1;
    char name[TOOL_NAME], label[TOOL_NAME + 8];
    add_spent(timeline, spent);
    snprintf(label, sizeof label, "; %s", timeline->kernel ? timeline->kernel : "");
    json_array_append_new(folder->code,
                          json_pack("[o, i, I, o, i, I, i, i, i, i]", tool_json_text(label), 0, first - 1,
                                    tool_json_text(tool_name(timeline->kernel, name)), 0,
                                    (json_int_t)(timeline->codes ? timeline->code[0].pc : 0), 0, 0, 0, 0));
    for (size_t i = 0; i < timeline->codes; i++) {
        const struct wm_timeline_code *code = &timeline->code[i];
        json_t *source = code->file && code->line ? json_sprintf("%s:%u", code->file, code->line) : NULL;
        json_array_append_new(folder->code,
                              json_pack("[o, i, I, o, i, I, I, I, I, i]", tool_json_text(code->text), 0,
                                        first + (json_int_t)i, source ? source : json_string(""), 0,
                                        (json_int_t)code->pc, spent[i].hits, spent[i].latency, spent[i].stall,
                                        0));
        if (source)
            add_source(folder, code->file);
    }
    free(spent);
    return first;
}

/* ---- the folder ---- */

int tool_check_viewer(const char *path)
{
    DIR *folder = opendir(path);
    bool empty = true, known = false;
    if (!folder)
        return errno == ENOENT ? TOOL_CLEAN : tool_fail("--viewer %s: %s", path, strerror(errno));
    for (const struct dirent *entry; (entry = readdir(folder));) {
        empty &= !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
        known |= !strcmp(entry->d_name, "filenames.json");
    }
    closedir(folder);
    return empty || known
               ? TOOL_CLEAN
               : tool_fail("--viewer %s: expected an empty folder, or one that was written by --viewer",
                           path);
}

/* Removes the files of an earlier timeline, which the viewer would find. */
static void remove_waves(const char *path)
{
    DIR *folder = opendir(path);
    unsigned numbers[4];
    int end;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        end = 0;
        if (sscanf(entry->d_name, "se%u_sm%u_sl%u_wv%u.json%n", &numbers[0], &numbers[1], &numbers[2],
                   &numbers[3], &end) == 4 &&
            end && !entry->d_name[end])
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
    if (folder)
        closedir(folder);
}

static int write_timeline(struct folder *folder, const struct wm_timeline *timeline, int number)
{
    const json_int_t first = add_code(folder, timeline);
    const uint32_t engines = timeline->gpu->xcds * timeline->gpu->engines;
    int code = TOOL_CLEAN;
    folder->offset += timeline->launch / 2;
    add_occupancy(folder, timeline, number);
    for (size_t i = 0; i < timeline->waves && code == TOOL_CLEAN; i++)
        if (timeline->wave[i].unit < engines)
            code = write_wave(folder, timeline, &timeline->wave[i], first);
    folder->offset += timeline->clocks - timeline->launch / 2;
    return code;
}

/* The generation, of "gfx1100". */
static int generation_of(const char *target)
{
    const size_t digits = strspn(target + 3, "0123456789abcdef");
    return digits == 4 ? (target[3] - '0') * 10 + target[4] - '0' : target[3] - '0';
}

static int write_files(struct folder *folder, const struct wm_timeline *timelines, size_t count)
{
    int code = TOOL_CLEAN;
    for (size_t i = 0; i < count && code == TOOL_CLEAN; i++)
        code = write_timeline(folder, &timelines[i], (int)i + 1);
    const int generation = generation_of(timelines[0].gpu->targets);
    json_object_set_new(folder->occupancy, "version", json_string(version));
    json_t *code_file = json_pack("{s:O, s:s, s:s}", "code", folder->code, "version", version, "header",
                                  "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle");
    json_t *names = json_pack("{s:i, s:s, s:i, s:s, s:b, s:b, s:[], s:O, s:s}", "global_begin_time", 0,
                              "gfxv", generation > 9 ? "navi" : "vega", "gfxip", generation, "version",
                              version, "thread_trace", 1, "pc_sampling", 0, "counter_names", "wave_filenames",
                              folder->waves, "wavemem", "predicted by a model, not measured");
    if (code == TOOL_CLEAN)
        code = write_json(folder->path, "code.json", code_file);
    if (code == TOOL_CLEAN)
        code = write_json(folder->path, "occupancy.json", folder->occupancy);
    if (code == TOOL_CLEAN && folder->sources)
        code = write_json(folder->path, "snapshots.json", folder->snapshots);
    if (code == TOOL_CLEAN) /* last, because the viewer looks for it */
        code = write_json(folder->path, "filenames.json", names);
    json_decref(code_file);
    json_decref(names);
    return code;
}

int tool_write_viewer(const struct tool_report *report, const char *path)
{
    size_t count;
    const struct wm_timeline *timelines = wm_profile_timelines(report->profile, &count);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return tool_fail("--viewer %s: %s", path, strerror(errno));
    if (!count)
        return TOOL_CLEAN;
    remove_waves(path);
    struct folder folder = {.report = report,
                            .path = path,
                            .waves = json_object(),
                            .occupancy = json_object(),
                            .code = json_array(),
                            .snapshots = json_object()};
    const int code = write_files(&folder, timelines, count);
    json_decref(folder.waves);
    json_decref(folder.occupancy);
    json_decref(folder.code);
    json_decref(folder.snapshots);
    return code;
}
