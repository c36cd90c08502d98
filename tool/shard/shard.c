/* SPDX-License-Identifier: MIT */
/* Runs a shard of a job and writes its part. */
#include "tool/shard/shard.h"

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

/* The first option of the job that a shard does not have; NULL: none. */
static const char *refused_option(const struct tool_job *job)
{
    const struct tool_dispatch *d = &job->dispatches[0];
    const struct tool_prof_outputs *outputs = &job->outputs;
    const struct {
        bool given;
        const char *name;
    } options[] = {
        {job->count > 1, "--then"},
        {d->expectations.count, "--expect"},
        {d->cooperative, "--cooperative"},
        {d->final.path, "--registers"},
        {job->check.given || job->check.classes, "--check"},
        {job->scalar_cache, "--scalar-cache"},
        {job->fidelity, "--fidelity"},
        {job->exports, "--exports"},
        {job->sample, "--sample"},
        {outputs->trace_path, "--trace"},
        {outputs->json, "--json"},
        {outputs->html_path, "--html"},
        {outputs->counters_path, "--counters"},
        {outputs->gates.count, "--fail-if"},
        {outputs->show.csv_path, "--csv"},
        {outputs->show.show, "--show"},
        {outputs->show.sort, "--sort"},
        {outputs->show.source, "--source"},
        {outputs->show.all, "--all"},
        {outputs->show.instructions, "--instructions"},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].given)
            return options[i].name;
    return NULL;
}

int tool_shard_check(struct tool_job *job)
{
    struct tool_shard *shard = &job->shard;
    const struct tool_dispatch *d = &job->dispatches[0];
    if (!shard->text && !shard->part)
        return TOOL_CLEAN;
    if (!shard->text || !shard->part)
        return tool_fail("%s needs %s", shard->text ? "--shard" : "--part",
                         shard->text ? "--part FILE, which 'wavemem merge' reads" : "--shard I/N");
    if (!strcmp(job->verb, "check"))
        return tool_fail("--shard: 'run' and 'prof' can be split, 'check' cannot");
    if (!WMI_HAS_ZSTD)
        return tool_fail("--shard: %s", WMI_NO_ZSTD);
    const char *refused = refused_option(job);
    if (refused)
        return tool_fail("%s: not with --shard, which runs a part of one dispatch; reports are made by "
                         "'wavemem merge'",
                         refused);
    if (!tool_parse_range("--shard", shard->text, &shard->range))
        return TOOL_WRONG;
    for (size_t i = 0; i < d->outputs.count; i++)
        if (tool_is_image(d->output[i].buffer))
            return tool_fail("--out %s: images cannot be merged from shards", d->output[i].key);
    shard->all = 1;
    for (unsigned i = 0; i < 3; i++)
        shard->all *= ((uint64_t)d->grid[i] + d->workgroup[i] - 1) / d->workgroup[i];
    if (shard->range.count > shard->all)
        return tool_fail("--shard %s: %" PRIu64 " shards of %" PRIu64 " workgroup%s; at most one for each",
                         shard->text, shard->range.count, shard->all, shard->all == 1 ? "" : "s");
    if (!strcmp(shard->text, "auto") && shard->range.count > 1 && !strstr(shard->part, "%i"))
        return tool_fail("--part %s: all shards would write the same file; expected a name with %%i, the "
                         "number of the shard",
                         shard->part);
    tool_range_of(&shard->range, shard->all, &shard->first, &shard->workgroups);
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

/* Sets the digest of what decides the result: parts of the same dispatch have the same. */
static bool make_digest(struct tool_job *job, struct wm_machine *machine, const struct wm_dispatch *dispatch,
                        struct wm_diag *diag)
{
    const struct tool_dispatch *d = &job->dispatches[0];
    uint8_t *file;
    size_t size;
    if (!tool_read_file(d->file, &file, &size, diag))
        return false;
    uint64_t digest = add_bytes(0, file, size);
    free(file);
    digest = add_text(add_text(digest, wm_object_target(d->object)), d->kernel->name);
    digest = add_bytes(digest, d->grid, sizeof d->grid);
    digest = add_bytes(digest, d->workgroup, sizeof d->workgroup);
    digest = add_bytes(digest, d->offset, sizeof d->offset);
    digest = add_bytes(digest, dispatch->arguments, dispatch->arguments_size);
    digest = add_bytes(digest, &dispatch->dynamic_lds, sizeof dispatch->dynamic_lds);
    const uint64_t modes[] = {(uint64_t)job->alignment, job->goes_on, d->bare, d->scratch};
    digest = add_bytes(digest, modes, sizeof modes);
    for (size_t i = 0; i < d->registers.count; i++)
        digest = add_text(add_text(digest, d->registers.pairs[i].key), d->registers.pairs[i].value);
    for (const struct tool_buffer *b = job->buffers; b; b = b->next) {
        const uint64_t bytes = tool_buffer_bytes(b);
        const void *content = b->address ? wm_host_pointer(machine, b->address, bytes) : NULL;
        digest = add_bytes(add_text(digest, b->name), &b->address, sizeof b->address);
        if (content)
            digest = add_bytes(digest, content, bytes);
    }
    job->shard.digest = digest;
    return true;
}

bool tool_shard_begin(struct tool_job *job, struct wm_machine *machine, struct wm_dispatch *dispatch,
                      struct wm_diag *diag)
{
    struct tool_shard *shard = &job->shard;
    dispatch->first_workgroup = shard->first;
    dispatch->workgroup_count = shard->workgroups;
    shard->footprint = footprint_create();
    if (!shard->footprint)
        return tool_because(diag, "out of memory");
    return make_digest(job, machine, dispatch, diag);
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

static json_t *make_head(const struct tool_job *job, const struct wm_result *result, size_t pages)
{
    const struct tool_shard *shard = &job->shard;
    const struct tool_dispatch *d = &job->dispatches[0];
    char digest[20];
    snprintf(digest, sizeof digest, "%016" PRIx64, shard->digest);
    json_t *buffers = json_array(), *outputs = json_array();
    for (const struct tool_buffer *b = job->buffers; b; b = b->next)
        if (b->address)
            json_array_append_new(buffers, describe_memory(b->name, b->address, tool_buffer_bytes(b)));
    for (size_t i = 0; i < d->outputs.count; i++) {
        const struct tool_output *output = &d->output[i];
        json_t *one =
            describe_memory(output->key, output->buffer->address + output->offset, output_size(output));
        json_object_set_new(one, "type", json_string(tool_buffer_type(output->buffer, output->offset)->name));
        json_object_set_new(one, "shape", json_string(output->offset ? "" : output->buffer->array.shape));
        json_array_append_new(outputs, one);
    }
    return json_pack("{s:i, s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:s, s:s, s:b, s:I, s:I, s:I, s:o, s:o}",
                     "version", PART_VERSION, "verb", job->verb, "part", (json_int_t)shard->range.index + 1,
                     "parts", (json_int_t)shard->range.count, "first_workgroup", (json_int_t)shard->first,
                     "workgroups", (json_int_t)shard->workgroups, "all_workgroups", (json_int_t)shard->all,
                     "kernel", tool_json_text(d->kernel->name), "target", wm_object_target(d->object),
                     "digest", digest, "gds", footprint_has_gds(shard->footprint), "waves",
                     (json_int_t)result->waves, "wave_instructions", (json_int_t)result->wave_instructions,
                     "pages", (json_int_t)pages, "buffers", buffers, "outputs", outputs);
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

bool tool_shard_end(struct tool_job *job, struct wm_machine *machine, const struct wm_result *result,
                    struct wm_diag *diag)
{
    struct tool_shard *shard = &job->shard;
    const struct tool_dispatch *d = &job->dispatches[0];
    size_t count;
    const struct footprint_page *pages = footprint_pages(shard->footprint, &count);
    FILE *out = open_memstream((char **)&shard->body, &shard->body_size);
    bool good = out;
    for (size_t i = 0; good && i < d->outputs.count && !shard->range.index; i++) {
        const struct tool_output *output = &d->output[i];
        const uint64_t size = output_size(output);
        const void *bytes = wm_host_pointer(machine, output->buffer->address + output->offset, size);
        good = bytes && fwrite(bytes, 1, size, out) == size;
    }
    good = good && (!count || fwrite(pages, sizeof *pages, count, out) == count);
    for (size_t page = 0; good && page < count && shard->range.index; page++)
        for (size_t i = 0; good && i < d->outputs.count; i++)
            good = write_page(out, &pages[page], &d->output[i], machine);
    if (out && fclose(out))
        good = false;
    shard->head = good ? make_head(job, result, count) : NULL;
    footprint_destroy(shard->footprint);
    shard->footprint = NULL;
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
