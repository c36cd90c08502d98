/* SPDX-License-Identifier: MIT */
/* Runs a shard of a job and writes its part. */
#include "tool/shard/shard.h"
#include "tool/arguments/buffers.h"

#include "base/random.h"
#include "base/zstd.h"
#include "tool/input.h"
#include "tool/output.h"
#include "tool/report/document.h"
#include "tool/shard/part.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

/* An option that a shard does not have, and what to do instead; NULL: 'wavemem merge' has it. */
struct refused {
    bool given;
    const char *name, *instead;
};

static const struct refused *first_given(const struct refused *options, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (options[i].given)
            return &options[i];
    return NULL;
}

static int refuse(const char *where, const struct refused *refused)
{
    return refused->instead
               ? tool_fail("%s%s: not with --shard: %s", where, refused->name, refused->instead)
               : tool_fail("%s%s: not with --shard, which runs a part of the workgroups: give it to 'wavemem "
                           "merge', which makes the report of all",
                           where, refused->name);
}

static int check_dispatch(const struct tool_dispatch *d)
{
    const struct refused options[] = {
        {d->expectations.count, "--expect",
         "no shard has all elements; give the shards --out NAME=FILE, and compare the file that 'wavemem "
         "merge --out NAME=FILE' writes"},
        {d->cooperative, "--cooperative",
         "the workgroups wait for one another, so one process has to run them all; leave out --shard"},
        {d->final.path, "--registers", "it shows one wave, so there is nothing to split; leave out --shard"},
    };
    const struct refused *refused = first_given(options, sizeof options / sizeof *options);
    return refused ? refuse(d->where, refused) : TOOL_CLEAN;
}

static int check_job(const struct tool_job *job)
{
    static const char whole[] = "parts of it cannot be merged; run it without --shard, on a smaller grid";
    const struct tool_prof_outputs *outputs = &job->outputs;
    const struct tool_check_request *check = &job->check;
    const bool checks = !strcmp(job->verb, "check");
    const struct refused options[] = {
        {!checks && (check->given || check->classes), "--check", "use 'wavemem check'"},
        {check->only_kernel, "--only-kernel", NULL},
        {check->suppressions, "--suppressions", NULL},
        {check->write_suppressions, "--write-suppressions", NULL},
        {check->baseline, "--baseline", NULL},
        {check->sarif, "--sarif", NULL},
        {check->junit, "--junit", NULL},
        {check->github, "--github", NULL},
        {check->shuffle, "--shuffle",
         "it compares orders of all workgroups; run it without --shard. Several processes can each take a "
         "seed: 'wavemem batch' with a line 'check ... --shuffle {1,2,3}'"},
        {job->scalar_cache, "--scalar-cache", whole},
        {job->fidelity, "--fidelity", whole},
        {job->exports, "--exports", whole},
        {job->sample, "--sample",
         "both make 'prof' faster by profiling fewer workgroups; leave out one of them"},
        {outputs->products.count > 1, "--gpu with several products", NULL},
        {outputs->trace_path, "--trace", NULL},
        {outputs->json && strcmp(job->verb, "run") != 0, "--json", NULL},
        {outputs->html_path, "--html", NULL},
        {outputs->timeline_path, "--timeline", NULL},
        {outputs->viewer_path, "--viewer", NULL},
        {outputs->counters_path, "--counters", NULL},
        {outputs->gates.count, "--fail-if", NULL},
        {outputs->show.csv_path, "--csv", NULL},
        {outputs->show.show, "--show", NULL},
        {outputs->show.sort, "--sort", NULL},
        {outputs->show.source, "--source", NULL},
        {outputs->show.all, "--all", NULL},
        {outputs->show.instructions, "--instructions", NULL},
    };
    const struct refused *refused = first_given(options, sizeof options / sizeof *options);
    return refused ? refuse("", refused) : TOOL_CLEAN;
}

/* What the shard can do with the outputs of dispatch `index`. */
static int check_outputs(const struct tool_job *job, size_t index)
{
    const struct tool_dispatch *d = &job->dispatches[index];
    if (d->outputs.count && index + 1 < job->count)
        return tool_fail("%s--out %s: with --shard, outputs are those of the last dispatch", d->where,
                         d->output[0].key);
    for (size_t i = 0; i < d->outputs.count; i++)
        if (tool_is_image(d->output[i].buffer))
            return tool_fail("--out %s: images cannot be merged from shards", d->output[i].key);
    return TOOL_CLEAN;
}

/* Workgroups that run together. */
static uint64_t cluster_size(const struct tool_dispatch *d)
{
    uint64_t size = 1;
    for (unsigned axis = 0; axis < 3; axis++) {
        const uint32_t extent = d->cluster[0] ? d->cluster[axis] : d->kernel->required_cluster[axis];
        size *= extent ? extent : 1;
    }
    return size;
}

/* Which workgroups of each dispatch the shard runs: at least one, so that each shard allocates the same, and
 * whole clusters. */
static int choose_workgroups(struct tool_job *job)
{
    struct tool_shard *shard = &job->shard;
    if (!(shard->dispatches = calloc(job->count, sizeof *shard->dispatches)))
        return tool_fail("out of memory");
    shard->count = job->count;
    for (size_t i = 0; i < job->count; i++) {
        const struct tool_dispatch *d = &job->dispatches[i];
        struct tool_shard_dispatch *its = &shard->dispatches[i];
        its->all = 1;
        for (unsigned axis = 0; axis < 3; axis++)
            its->all *= ((uint64_t)d->grid[axis] + d->workgroup[axis] - 1) / d->workgroup[axis];
        its->cluster = cluster_size(d);
        const uint64_t parts = its->all / its->cluster;
        if (shard->range.count > parts)
            return tool_fail("%s--shard %s: %" PRIu64 " shards of %" PRIu64 " %s%s; at most one for each",
                             d->where, shard->text, shard->range.count, parts,
                             its->cluster > 1 ? "cluster" : "workgroup", parts == 1 ? "" : "s");
        tool_workgroups_of(&shard->range, its->all, its->cluster, &its->first, &its->workgroups);
    }
    return TOOL_CLEAN;
}

int tool_shard_check(struct tool_job *job)
{
    struct tool_shard *shard = &job->shard;
    if (!shard->text && !shard->part)
        return TOOL_CLEAN;
    if (!shard->text || !shard->part)
        return tool_fail("%s needs %s", shard->text ? "--shard" : "--part",
                         shard->text ? "--part FILE, which 'wavemem merge' reads" : "--shard I/N");
    if (!WMI_HAS_ZSTD)
        return tool_fail("--shard: %s", WMI_NO_ZSTD);
    int code = check_job(job);
    for (size_t i = 0; i < job->count && !code; i++)
        code = check_dispatch(&job->dispatches[i]);
    if (code)
        return code;
    if (!tool_parse_range("--shard", shard->text, &shard->range))
        return TOOL_WRONG;
    for (size_t i = 0; i < job->count; i++)
        if (check_outputs(job, i) != TOOL_CLEAN)
            return TOOL_WRONG;
    if (choose_workgroups(job) != TOOL_CLEAN)
        return TOOL_WRONG;
    if (!strcmp(shard->text, "auto") && shard->range.count > 1 && !strstr(shard->part, "%i"))
        return tool_fail("--part %s: all shards would write the same file; expected a name with %%i, the "
                         "number of the shard",
                         shard->part);
    shard->path = tool_range_path(shard->part, &shard->range);
    return shard->path ? tool_check_file("--part", shard->path) : tool_fail("out of memory");
}

/* ---- running ---- */

static uint64_t add_bytes(uint64_t digest, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    digest = wmi_random_bits(digest, size);
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        digest = wmi_random_bits(digest, word);
    }
    for (; size; size--)
        digest = wmi_random_bits(digest, *at++);
    return digest;
}

static uint64_t add_text(uint64_t digest, const char *text)
{
    return add_bytes(digest, text, strlen(text));
}

/* Adds the content of a buffer. A copy of it: to a check, a pointer to it would mean that the host writes it.
 */
static bool add_memory(struct wm_machine *machine, const struct tool_buffer *buffer, uint64_t *digest,
                       struct wm_diag *diag)
{
    const uint64_t bytes = tool_buffer_bytes(buffer);
    uint8_t chunk[1 << 14];
    for (uint64_t at = 0, size; at < bytes; at += size) {
        size = bytes - at < sizeof chunk ? bytes - at : sizeof chunk;
        if (wm_read(machine, buffer->address + at, chunk, size, diag) != WM_OK)
            return false;
        *digest = add_bytes(*digest, chunk, size);
    }
    return true;
}

/* Adds what decides the result of a dispatch to the digest: parts of the same job have the same. Of a buffer
 * only its first content: what dispatches write differs from part to part. */
static bool add_dispatch(struct tool_job *job, size_t index, struct wm_machine *machine,
                         const struct wm_dispatch *dispatch, struct wm_diag *diag)
{
    const struct tool_dispatch *d = &job->dispatches[index];
    uint8_t *file;
    size_t size;
    if (!tool_read_file(d->file, &file, &size, diag))
        return false;
    uint64_t digest = add_bytes(job->shard.digest, file, size);
    free(file);
    digest = add_text(add_text(digest, wm_object_target(d->object)), d->kernel->name);
    digest = add_bytes(digest, d->grid, sizeof d->grid);
    digest = add_bytes(digest, d->workgroup, sizeof d->workgroup);
    digest = add_bytes(digest, d->cluster, sizeof d->cluster);
    digest = add_bytes(digest, d->offset, sizeof d->offset);
    digest = add_bytes(digest, dispatch->arguments, dispatch->arguments_size);
    digest = add_bytes(digest, &dispatch->dynamic_lds, sizeof dispatch->dynamic_lds);
    const uint64_t modes[] = {(uint64_t)job->alignment, job->goes_on, d->bare, d->scratch,
                              job->check.classes};
    digest = add_bytes(digest, modes, sizeof modes);
    const struct tool_pairs *pairs[] = {&d->registers, &d->symbols};
    for (size_t list = 0; list < sizeof pairs / sizeof *pairs; list++)
        for (size_t i = 0; i < pairs[list]->count; i++)
            digest = add_text(add_text(digest, pairs[list]->pairs[i].key), pairs[list]->pairs[i].value);
    for (struct tool_buffer *b = job->buffers; b; b = b->next) {
        digest = add_bytes(add_text(digest, b->name), &b->address, sizeof b->address);
        if (b->address && !b->digested && !add_memory(machine, b, &digest, diag))
            return false;
        b->digested = b->address;
    }
    job->shard.digest = digest;
    return true;
}

bool tool_shard_begin(struct tool_job *job, size_t index, struct wm_machine *machine,
                      struct wm_dispatch *dispatch, const struct wm_observer **observer, struct wm_diag *diag)
{
    struct tool_shard_dispatch *its = &job->shard.dispatches[index];
    dispatch->first_workgroup = its->first;
    dispatch->workgroup_count = its->workgroups;
    its->footprint = footprint_create();
    if (!its->footprint)
        return tool_because(diag, "out of memory");
    *observer = footprint_observer(its->footprint);
    return add_dispatch(job, index, machine, dispatch, diag);
}

/* ---- what goes into the part ---- */

static uint64_t output_size(const struct tool_output *output)
{
    return tool_array_size(&output->buffer->array) - output->offset;
}

static json_t *describe_memory(const char *name, uint64_t address, uint64_t size)
{
    return json_pack("{s:o, s:I, s:I}", "name", tool_json_text(name), "address", (json_int_t)address, "size",
                     (json_int_t)size);
}

/* The dispatches of the job, with the pages of those that began. */
static json_t *describe_dispatches(const struct tool_job *job)
{
    json_t *list = json_array();
    for (size_t i = 0; i < job->count; i++) {
        const struct tool_shard_dispatch *its = &job->shard.dispatches[i];
        size_t pages = 0;
        if (its->footprint)
            footprint_pages(its->footprint, &pages);
        json_array_append_new(list, json_pack("{s:o, s:I, s:I, s:I, s:I, s:b, s:I}", "kernel",
                                              tool_json_text(job->dispatches[i].kernel->name),
                                              "first_workgroup", (json_int_t)its->first, "workgroups",
                                              (json_int_t)its->workgroups, "all_workgroups",
                                              (json_int_t)its->all, "cluster", (json_int_t)its->cluster,
                                              "gds", its->footprint && footprint_has_gds(its->footprint),
                                              "pages", (json_int_t)pages));
    }
    return list;
}

/* The outputs that the part has: those of the last dispatch, unless a fault ended the job before it. */
static size_t outputs_of(const struct tool_job *job, const struct tool_output **outputs)
{
    const struct tool_dispatch *last = &job->dispatches[job->count - 1];
    *outputs = last->output;
    return job->shard.dispatches[job->count - 1].footprint ? last->outputs.count : 0;
}

static json_t *make_head(const struct tool_job *job, const json_t *report)
{
    const struct tool_shard *shard = &job->shard;
    const struct tool_output *outputs_made;
    const size_t output_count = outputs_of(job, &outputs_made);
    char digest[20];
    snprintf(digest, sizeof digest, "%016" PRIx64, shard->digest);
    json_t *buffers = json_array(), *outputs = json_array();
    for (const struct tool_buffer *b = job->buffers; b; b = b->next)
        if (b->address)
            json_array_append_new(buffers, describe_memory(b->name, b->address, tool_buffer_bytes(b)));
    for (size_t i = 0; i < output_count; i++) {
        const struct tool_output *output = &outputs_made[i];
        json_t *one =
            describe_memory(output->key, output->buffer->address + output->offset, output_size(output));
        json_object_set_new(one, "type", json_string(tool_buffer_type(output->buffer, output->offset)->name));
        json_object_set_new(one, "shape", json_string(output->offset ? "" : output->buffer->array.shape));
        json_array_append_new(outputs, one);
    }
    json_t *head =
        json_pack("{s:i, s:s, s:I, s:I, s:s, s:s, s:o, s:o, s:o}", "version", PART_VERSION, "verb", job->verb,
                  "part", (json_int_t)shard->range.index + 1, "parts", (json_int_t)shard->range.count,
                  "target", wm_object_target(job->dispatches[0].object), "digest", digest, "dispatches",
                  describe_dispatches(job), "buffers", buffers, "outputs", outputs);
    json_object_set(head, "ran", json_object_get(report, "dispatches"));
    json_object_set(head, "incomplete", json_object_get(report, "incomplete"));
    if (shard->found)
        json_object_set(head, "check", shard->found);
    return head;
}

/* Writes the bytes that the shard wrote to the page, and that an output has. */
static bool write_page(FILE *out, const struct footprint_page *page, const struct tool_output *output,
                       struct wm_machine *machine)
{
    const uint64_t start = output->buffer->address + output->offset, end = start + output_size(output);
    const uint64_t from = page->number * FOOTPRINT_PAGE;
    const uint64_t low = from > start ? from : start;
    const uint64_t high = from + FOOTPRINT_PAGE < end ? from + FOOTPRINT_PAGE : end;
    const uint8_t *bytes = low < high ? wm_host_pointer(machine, low, high - low) : NULL;
    if (low < high && !bytes)
        return false;
    uint64_t at = low;
    for (uint64_t run; (run = footprint_run(page->written, &at, high)); at += run)
        if (fwrite(bytes + (at - low), 1, run, out) != run)
            return false;
    return true;
}

/* Writes the pages of each dispatch, and adds all of them to `job_pages`. */
static bool write_pages(FILE *out, const struct tool_shard *shard, struct footprint *job_pages)
{
    for (size_t i = 0; i < shard->count; i++) {
        size_t count = 0;
        const struct footprint_page *pages =
            shard->dispatches[i].footprint ? footprint_pages(shard->dispatches[i].footprint, &count) : NULL;
        if (count &&
            (fwrite(pages, sizeof *pages, count, out) != count || !footprint_add(job_pages, pages, count)))
            return false;
    }
    return true;
}

static bool write_body(FILE *out, const struct tool_job *job, struct wm_machine *machine,
                       struct footprint *job_pages)
{
    const struct tool_shard *shard = &job->shard;
    const struct tool_output *outputs;
    const size_t output_count = outputs_of(job, &outputs);
    for (size_t i = 0; i < output_count && !shard->range.index; i++) {
        const struct tool_output *output = &outputs[i];
        const uint64_t size = output_size(output);
        const void *bytes = wm_host_pointer(machine, output->buffer->address + output->offset, size);
        if (!bytes || fwrite(bytes, 1, size, out) != size)
            return false;
    }
    if (!write_pages(out, shard, job_pages))
        return false;
    size_t count;
    const struct footprint_page *pages = footprint_pages(job_pages, &count);
    for (size_t page = 0; page < count && shard->range.index; page++)
        for (size_t i = 0; i < output_count; i++)
            if (!write_page(out, &pages[page], &outputs[i], machine))
                return false;
    return true;
}

bool tool_shard_end(struct tool_job *job, struct wm_machine *machine, const json_t *report,
                    struct wm_diag *diag)
{
    struct tool_shard *shard = &job->shard;
    struct footprint *job_pages = footprint_create();
    FILE *out = open_memstream((char **)&shard->body, &shard->body_size);
    bool good = out && job_pages && write_body(out, job, machine, job_pages);
    if (out && fclose(out))
        good = false;
    shard->head = good ? make_head(job, report) : NULL;
    footprint_destroy(job_pages);
    for (size_t i = 0; i < shard->count; i++) {
        footprint_destroy(shard->dispatches[i].footprint);
        shard->dispatches[i].footprint = NULL;
    }
    return shard->head || tool_because(diag, "no memory for the part");
}

/* ---- the file ---- */

static void put_number(FILE *file, uint64_t number)
{
    for (unsigned i = 0; i < 8; i++)
        putc((int)(number >> 8 * i & 0xff), file);
}

int tool_shard_write(struct tool_job *job, const uint8_t *trace, size_t size)
{
    struct tool_shard *shard = &job->shard;
    struct tool_file file;
    char *head = json_dumps(shard->head, JSON_COMPACT);
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    const size_t most = ZSTD_compressBound(shard->body_size);
    uint8_t *packed = malloc(most);
    if (zstd)
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
    const size_t packed_size =
        zstd && packed ? ZSTD_compress2(zstd, packed, most, shard->body, shard->body_size) : 0;
    int code = TOOL_CLEAN;
    if (!head || !packed_size || ZSTD_isError(packed_size)) {
        code = tool_fail("--part %s: out of memory", shard->path);
    } else if (!tool_begin_file(&file, "--part", shard->path)) {
        code = TOOL_WRONG;
    } else {
        FILE *out = file.whole.stream;
        fwrite(PART_MAGIC, 1, PART_MAGIC_BYTES, out);
        put_number(out, strlen(head));
        put_number(out, shard->body_size);
        put_number(out, packed_size);
        put_number(out, size);
        fwrite(head, 1, strlen(head), out);
        fwrite(packed, 1, packed_size, out);
        if (size)
            fwrite(trace, 1, size, out);
        code = tool_end_file(&file);
    }
    ZSTD_freeCCtx(zstd);
    free(packed);
    free(head);
    return code;
}
