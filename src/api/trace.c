/* SPDX-License-Identifier: MIT */
/* The public API of traces. */
#include "base/diag.h"
#include "exec/run/environment.h"
#include "isa/isa.h"
#include "profile/cost/gpu.h"
#include "profile/origins.h"
#include "profile/trace/replay.h"

#include <stdio.h>
#include <string.h>

enum wm_status wm_profile_set_sample(struct wm_profile *profile, unsigned one_in, struct wm_diag *diag)
{
    if (!profile)
        return wmi_null(diag, __func__, "profile");
    if (one_in == 0 || wmi_profile_began(profile))
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "a sample of one in %u rounds; expected 1 or more, before the "
                        "first dispatch",
                        one_in);
    wmi_profile_set_sample(profile, one_in);
    return WM_OK;
}

enum wm_status wm_profile_keep_l2(struct wm_profile *profile, struct wm_diag *diag)
{
    if (!profile)
        return wmi_null(diag, __func__, "profile");
    if (wmi_profile_began(profile))
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "whether L2 keeps its contents is decided before the first dispatch");
    wmi_profile_keep_l2(profile);
    return WM_OK;
}

enum wm_status wm_profile_trace(struct wm_profile *profile, const char *path, struct wm_diag *diag)
{
    struct wmi_tracer *tracer;
    if (!profile || !path)
        return wmi_null(diag, __func__, profile ? "path" : "profile");
    if (wmi_profile_began(profile) || wmi_profile_tracer(profile))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "a trace must begin before the first dispatch, and once");
    const enum wm_status status = wmi_tracer_create(path, &tracer, diag);
    if (!status)
        wmi_profile_set_tracer(profile, tracer);
    return status;
}

enum wm_status wm_profile_end_trace(struct wm_profile *profile, struct wm_diag *diag)
{
    if (!profile)
        return wmi_null(diag, __func__, "profile");
    if (*wmi_profile_busy(profile))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "a trace cannot be completed during a dispatch");
    struct wmi_tracer *tracer = wmi_profile_tracer(profile);
    wmi_profile_set_tracer(profile, NULL);
    return tracer ? wmi_tracer_finish(tracer, profile, diag) : WM_OK;
}

static unsigned cost_rules_of(const struct wmi_target *target)
{
    return wmi_target_limit(target, WMI_LIMIT_cost_rules);
}

/* The product of the trace, unless one was chosen. */
static enum wm_status choose_replayed(struct wm_profile *profile, const struct wmi_trace_header *header,
                                      const struct wmi_target *target, const char *name, struct wm_diag *diag)
{
    const struct wm_gpu *gpu = wmi_profile_gpu(profile);
    if (!gpu) {
        const enum wm_status status = wm_gpu_find(header->gpu, &gpu, diag);
        if (status)
            return status;
        wmi_profile_set_gpu(profile, gpu);
    }
    char what[128];
    snprintf(what, sizeof what, "%.60s: a trace of %.16s on %.32s", name, header->target, header->gpu);
    return wmi_gpu_fits(gpu, target, what, diag);
}

enum wm_status wm_profile_replay(struct wm_profile *profile, const void *bytes, size_t size, const char *name,
                                 struct wm_diag *diag)
{
    struct wmi_trace *trace;
    struct wmi_trace_header header = {0};
    if (!profile || !bytes || !name)
        return wmi_null(diag, __func__, !profile ? "profile" : bytes ? "name" : "bytes");
    if (wmi_profile_began(profile))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "a trace goes into a profile that has seen nothing yet");
    enum wm_status status = wmi_environment_check(diag);
    if (status)
        return status;
    status = wmi_trace_open(bytes, size, name, &trace, diag);
    status = status ? status : wmi_replay_header(trace, &header, diag);
    const struct wmi_target *target = status ? NULL : wmi_target_find(header.target);
    if (!status && !target)
        status =
            wmi_fail(diag, WM_UNSUPPORTED, "%s: a trace of the unknown target '%s'", name, header.target);
    status = status ? status : choose_replayed(profile, &header, target, name, diag);
    if (!status && header.keeps_l2)
        wmi_profile_keep_l2(profile);
    status = status ? status
                    : wmi_replay(trace, profile, header.target, wmi_cost_rules(cost_rules_of(target)), diag);
    wmi_trace_header_free(&header);
    wmi_trace_close(trace);
    return status;
}

enum wm_status wm_trace_gpu(const void *bytes, size_t size, const char *name, const struct wm_gpu **gpu,
                            struct wm_diag *diag)
{
    struct wmi_trace *trace;
    struct wmi_trace_header header = {0};
    if (!bytes || !name || !gpu)
        return wmi_null(diag, __func__, !bytes ? "bytes" : name ? "gpu" : "name");
    enum wm_status status = wmi_trace_open(bytes, size, name, &trace, diag);
    status = status ? status : wmi_replay_header(trace, &header, diag);
    status = status ? status : wm_gpu_find(header.gpu, gpu, diag);
    wmi_trace_header_free(&header);
    wmi_trace_close(trace);
    return status;
}

/* Whether the parts have each workgroup of dispatch `index` once, in order. */
static enum wm_status check_ranges(const struct wm_trace_part *parts, size_t count, size_t index,
                                   struct wm_diag *diag)
{
    uint64_t next = 0;
    for (size_t i = 0; i < count; i++) {
        const struct wm_trace_range *range = &parts[i].dispatches[index];
        if (range->first_workgroup != next || !range->workgroup_count ||
            __builtin_add_overflow(next, range->workgroup_count, &next))
            return wmi_fail(diag, WM_BAD_ARGUMENT,
                            "%s: a part of %llu workgroups from number %llu on; expected one or more from "
                            "number %llu on",
                            parts[i].name, (unsigned long long)range->workgroup_count,
                            (unsigned long long)range->first_workgroup, (unsigned long long)next);
    }
    return WM_OK;
}

enum wm_status wm_trace_merge(const struct wm_trace_part *parts, size_t count, const char *path,
                              struct wm_diag *diag)
{
    if (!parts || !path)
        return wmi_null(diag, __func__, parts ? "path" : "parts");
    if (!count)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "no parts of a trace");
    for (size_t i = 0; i < count; i++) {
        const struct wm_trace_part *part = &parts[i];
        if (!part->bytes || !part->name || !part->dispatches)
            return wmi_null(diag, __func__, !part->bytes ? "bytes" : !part->name ? "name" : "dispatches");
        if (!part->dispatch_count || part->dispatch_count != parts[0].dispatch_count)
            return wmi_fail(diag, WM_BAD_ARGUMENT, "%s: a part of %zu dispatches; expected %zu", part->name,
                            part->dispatch_count, parts[0].dispatch_count ? parts[0].dispatch_count : 1);
    }
    enum wm_status status = WM_OK;
    for (size_t d = 0; d < parts[0].dispatch_count && !status; d++)
        status = check_ranges(parts, count, d, diag);
    return status ? status : wmi_trace_merge(parts, count, path, diag);
}

enum wm_status wm_profile_add_source(struct wm_profile *profile, const char *name, const char *text,
                                     struct wm_diag *diag)
{
    if (!profile || !name || !text)
        return wmi_null(diag, __func__, !profile ? "profile" : name ? "text" : "name");
    if (*wmi_profile_busy(profile))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "a source cannot be added during a dispatch");
    return wmi_origins_add_source(wmi_profile_origins(profile), name, text, strlen(text))
               ? WM_OK
               : wmi_fail(diag, WM_NO_MEMORY, "no room for the source %.60s", name);
}

const char *wm_profile_source(struct wm_profile *profile, const char *name)
{
    return profile && name ? wmi_origins_source(wmi_profile_origins(profile), name) : NULL;
}
