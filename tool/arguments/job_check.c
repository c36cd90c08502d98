/* SPDX-License-Identifier: MIT */
/* Checks a parsed job before anything runs: opens its files, finds kernels and buffers. */
#include "tool/arguments/buffers.h"
#include "tool/arguments/job.h"

#include "tool/arguments/dwords.h"
#include "tool/input.h"
#include "tool/output.h"
#include "tool/shard/shard.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Raw code has the wave size of its target, unless --wave selects the other. */
static int open_with_wave(const struct tool_job *job, const struct tool_dispatch *d,
                          struct wm_object **object)
{
    const struct tool_open how = {.where = d->where,
                                  .file = d->file,
                                  .target = d->target,
                                  .kernel = d->kernel_name,
                                  .wave = d->wave,
                                  .gpu = job->gpu,
                                  .compile = &job->compile,
                                  .verb = job->verb};
    char target[64];
    struct wm_diag diag;
    const int code = tool_open(&how, object);
    if (code != TOOL_CLEAN)
        return code;
    if (!d->wave || wm_object_version(*object) || wm_object_kernel(*object, 0)->wave_size == d->wave)
        return TOOL_CLEAN;
    snprintf(target, sizeof target, "%s:wave%u", wm_object_target(*object), d->wave);
    if (strstr(d->target, ":wave") || !wm_target_known(target))
        return TOOL_CLEAN; /* find_kernel() refuses it */
    wm_object_close(*object);
    *object = NULL;
    if (wm_object_open_file(d->file, target, object, &diag) != WM_OK)
        return tool_fail("%s%s", d->where, diag.message);
    return TOOL_CLEAN;
}

static int open_object(struct tool_job *job, struct tool_dispatch *d)
{
    for (size_t i = 0; i < job->opened_count; i++) {
        const struct tool_opened *opened = &job->opened[i];
        if (same_text(opened->file, d->file) && same_text(opened->target, d->target) &&
            (opened->wave == d->wave || wm_object_version(opened->object))) {
            d->object = opened->object;
            return TOOL_CLEAN;
        }
    }
    struct wm_object *object = NULL;
    const int code = open_with_wave(job, d, &object);
    if (!object)
        return code;
    job->opened = tool_checked(realloc(job->opened, (job->opened_count + 1) * sizeof(*job->opened)));
    job->opened[job->opened_count++] = (struct tool_opened){d->file, d->target, d->wave, object};
    d->object = object;
    const char *first = wm_object_target(job->opened[0].object), *here = wm_object_target(object);
    if (strcmp(first, here) != 0)
        return tool_fail("%s%s is for %s, %s for %s; one run has one target", d->where, d->file, here,
                         job->opened[0].file, first);
    return TOOL_CLEAN;
}

static int find_kernel(struct tool_dispatch *d)
{
    struct wm_diag diag;
    if (wm_object_find_kernel(d->object, d->kernel_name, &d->kernel, &diag) != WM_OK)
        return tool_fail("%s%s%s", d->where,
                         d->kernel_name || !wm_object_kernel_count(d->object) ? "" : "-k KERNEL is needed: ",
                         diag.message);
    if (d->wave && d->wave != d->kernel->wave_size)
        return tool_fail("%s--wave %u: %s of %s has waves of %u lanes", d->where, d->wave,
                         d->kernel->source_name, d->file, d->kernel->wave_size);
    return TOOL_CLEAN;
}

static int check_sizes(struct tool_dispatch *d)
{
    const uint32_t *required = d->kernel->required_workgroup;
    const char *name = d->kernel->source_name;
    if (required[0] && !d->has_workgroup)
        memcpy(d->workgroup, required, sizeof(d->workgroup));
    else if (!d->has_workgroup)
        return TOOL_CLEAN; /* what is missing is listed later, all at once */
    if (required[0] && memcmp(d->workgroup, required, sizeof(d->workgroup)) != 0)
        return tool_fail("%s-b %u,%u,%u: %s was compiled for workgroups of %u,%u,%u", d->where,
                         d->workgroup[0], d->workgroup[1], d->workgroup[2], name, required[0], required[1],
                         required[2]);
    const uint64_t plane = (uint64_t)d->workgroup[0] * d->workgroup[1];
    const uint64_t most = d->kernel->max_workgroup ? d->kernel->max_workgroup : 1024;
    if (plane > most || plane * d->workgroup[2] > most)
        return tool_fail("%s-b %u,%u,%u: a workgroup of %s has at most %llu work-items", d->where,
                         d->workgroup[0], d->workgroup[1], d->workgroup[2], name, (unsigned long long)most);
    for (unsigned i = 0; d->counts_blocks && i < 3; i++)
        if (__builtin_mul_overflow(d->grid[i], i < d->dimensions ? d->workgroup[i] : 1, &d->grid[i]))
            return tool_fail("%s--blocks: more than 2^32 work-items along one dimension", d->where);
    return TOOL_CLEAN;
}

void tool_warn_of_sizes(const struct tool_job *job, size_t index)
{
    const struct tool_dispatch *d = &job->dispatches[index];
    if (index && !memcmp(d[-1].grid, d->grid, sizeof d->grid))
        return;
    uint64_t workgroups = 1, items = 1, whole = 1;
    uint32_t up[3];
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t count = ((uint64_t)d->grid[i] + d->workgroup[i] - 1) / d->workgroup[i];
        workgroups *= count;
        items *= d->grid[i];
        whole *= d->workgroup[i];
        up[i] = (uint32_t)(count * d->workgroup[i]);
    }
    char grid[40], blocks[40];
    tool_extent_text(d->grid, d->dimensions, blocks);
    tool_extent_text(up, d->dimensions, grid);
    if (workgroups == 1 && items < whole) {
        tool_print_label(stderr, TOOL_YELLOW, "warning");
        tool_print(stderr,
                   "%s-g counts work-items: %llu of the %llu lanes of a workgroup are active; --blocks %s "
                   "counts workgroups\n",
                   d->where, (unsigned long long)items, (unsigned long long)whole, blocks);
    } else if (memcmp(up, d->grid, sizeof up) != 0) {
        tool_print_label(stderr, TOOL_YELLOW, "note");
        tool_print(stderr,
                   "%s-g %s fills the last workgroups only partly, which OpenCL allows; HIP would launch all "
                   "of -g %s\n",
                   d->where, blocks, grid);
    }
}

static int check_final(const struct tool_dispatch *d)
{
    const struct tool_final *final = &d->final;
    const uint32_t items = d->workgroup[0] * d->workgroup[1] * d->workgroup[2];
    const uint32_t waves = (items + d->kernel->wave_size - 1) / d->kernel->wave_size;
    uint64_t grid[3];
    bool inside = final->wave < waves;
    if (final->given && !final->path)
        return tool_fail("%s--of is for --registers FILE", d->where);
    for (unsigned i = 0; i < 3; i++) {
        grid[i] = ((uint64_t)d->grid[i] + d->workgroup[i] - 1) / d->workgroup[i];
        inside = inside && final->workgroup[i] < grid[i];
    }
    if (!inside)
        return tool_fail("%s--of %u,%u,%u:%u: there are %llu x %llu x %llu workgroups of %u wave%s", d->where,
                         final->workgroup[0], final->workgroup[1], final->workgroup[2], final->wave,
                         (unsigned long long)grid[0], (unsigned long long)grid[1],
                         (unsigned long long)grid[2], waves, waves == 1 ? "" : "s");
    return final->path ? tool_check_file("--registers", final->path) : TOOL_CLEAN;
}

const char *tool_out_option(const struct tool_dispatch *d, const struct tool_output *output,
                            char text[TOOL_OUT_OPTION])
{
    snprintf(text, TOOL_OUT_OPTION, "%s--out %.200s:", d->where, output->key);
    return text;
}

static int check_frees(struct tool_job *job, size_t index)
{
    struct tool_dispatch *d = &job->dispatches[index];
    struct wm_diag diag;
    if (d->frees.count && job->shard.text)
        return tool_fail("%s--free: shards compare all buffers at their end; expected no --shard", d->where);
    d->freed = tool_checked(calloc(d->frees.count + 1, sizeof(*d->freed)));
    for (size_t i = 0; i < d->frees.count; i++) {
        const char *key = d->frees.pairs[i].key;
        uint64_t offset;
        if (!tool_find_buffer(job, index, key, &d->freed[i], &offset, &diag))
            return tool_fail("%s--free %s: %s", d->where, key, diag.message);
        if (d->freed[i]->symbol_of || offset)
            return tool_fail("%s--free %s: expected the start of an allocated buffer", d->where, key);
        if (d->freed[i]->freed)
            return tool_fail("%s--free %s: the buffer is freed already", d->where, key);
        d->freed[i]->freed = true;
    }
    return TOOL_CLEAN;
}

/* Refuses to read, after this dispatch, a buffer that an earlier one frees. */
static int check_not_freed(const struct tool_dispatch *d, const char *option, const char *key,
                           const struct tool_buffer *buffer)
{
    return buffer->freed ? tool_fail("%s%s %s: the buffer is freed by then", d->where, option, key)
                         : TOOL_CLEAN;
}

static int check_results(struct tool_job *job, size_t index)
{
    struct tool_dispatch *d = &job->dispatches[index];
    struct wm_diag diag;
    d->output = tool_checked(calloc(d->outputs.count + 1, sizeof(*d->output)));
    d->expect = tool_checked(calloc(d->expectations.count + 1, sizeof(*d->expect)));
    for (size_t i = 0; i < d->outputs.count; i++) {
        struct tool_output *o = &d->output[i];
        o->key = d->outputs.pairs[i].key;
        o->path = d->outputs.pairs[i].value;
        if (!tool_find_buffer(job, index, o->key, &o->buffer, &o->offset, &diag))
            return tool_fail("%s--out %s: %s", d->where, o->key, diag.message);
        if (check_not_freed(d, "--out", o->key, o->buffer) != TOOL_CLEAN)
            return TOOL_WRONG;
        char option[TOOL_OUT_OPTION];
        if (tool_check_file(tool_out_option(d, o, option), o->path) != TOOL_CLEAN)
            return TOOL_WRONG;
    }
    for (size_t i = 0; i < d->expectations.count; i++) {
        struct tool_expectation *e = &d->expect[i];
        e->key = d->expectations.pairs[i].key;
        e->spec = d->expectations.pairs[i].value;
        if (!tool_find_buffer(job, index, e->key, &e->buffer, &e->offset, &diag) ||
            !tool_expectation_parse(e, &diag))
            return tool_fail("%s--expect %s: %s", d->where, e->key, diag.message);
        if (check_not_freed(d, "--expect", e->key, e->buffer) != TOOL_CLEAN)
            return TOOL_WRONG;
    }
    return TOOL_CLEAN;
}

/* --buffer also takes words without "words:", unless they begin as a file name does. */
static const char *array_text(struct tool_job *job, const char *value)
{
    if (!strchr("0123456789.-~(", value[0]) && !tool_is_descriptor(value))
        return value;
    static const char prefix[] = "words:";
    char *text = tool_checked(malloc(strlen(prefix) + strlen(value) + 1));
    sprintf(text, "%s%s", prefix, value);
    tool_keep_text(job, text);
    return text;
}

static int declare_buffers(struct tool_job *job)
{
    for (size_t i = 0; i < job->declared.count; i++) {
        const struct tool_pair *pair = &job->declared.pairs[i];
        struct tool_array array;
        struct wm_diag diag;
        for (size_t before = 0; before < i; before++)
            if (strcmp(job->declared.pairs[before].key, pair->key) == 0)
                return tool_fail("--buffer %s is given twice", pair->key);
        if (!tool_array_parse(array_text(job, pair->value), &array, &diag)) {
            const bool list = pair->value[0] == '@' && strchr(pair->value, ',');
            return tool_fail("--buffer %s: %s%s", pair->key, diag.message,
                             list ? "; a list that begins with an address begins with words:" : "");
        }
        tool_add_buffer(job, pair->key, &array)->declared = true;
    }
    return TOOL_CLEAN;
}

/* Registers stay from dispatch to dispatch of the same kernel, as arguments do. */
static void inherit_registers(struct tool_job *job, size_t index)
{
    struct tool_dispatch *d = &job->dispatches[index];
    const struct tool_dispatch *before = index ? d - 1 : NULL;
    const bool same = before && before->kernel == d->kernel;
    d->registers_from = same ? before->registers_from : index;
    d->bare |= same && before->bare;
    d->cooperative |= same && before->cooperative;
}

int tool_job_check(struct tool_job *job)
{
    int code = declare_buffers(job);
    for (size_t i = 0; i < job->count && code == TOOL_CLEAN; i++) {
        struct tool_dispatch *d = &job->dispatches[i];
        if (!d->file)
            return tool_fail("%sa code object is needed: FILE -k KERNEL -g X,Y -b X,Y ...", d->where);
        code = open_object(job, d);
        code = code ? code : find_kernel(d);
        code = code ? code : tool_name_arguments(job, i);
        if (job->guess)
            code = code ? code : tool_complete_dispatch(job, i);
        code = code ? code : tool_bind_arguments(job, i);
        code = code ? code : check_sizes(d);
        code = code ? code : tool_complete_dispatch(job, i);
        code = code ? code : check_final(d);
        code = code ? code : tool_check_symbols(job, i);
        code = code ? code : tool_check_places(job, i);
        inherit_registers(job, i);
        code = code ? code : tool_check_start(job, i);
        code = code ? code : check_results(job, i);
        code = code ? code : check_frees(job, i);
    }
    code = code ? code : tool_check_words(job);
    code = code ? code : tool_shard_check(job);
    wm_machine_destroy(job->sizes); /* all symbols are known now */
    job->sizes = NULL;
    job->check.all = job->outputs.show.all;
    job->goes_on |= job->check.given && !job->stops;
    code = code ? code : tool_check_prepare(&job->check);
    return code ? code : tool_check_outputs(&job->outputs);
}
