/* SPDX-License-Identifier: MIT */
/* Reports of faults: the machine's report, the launch, and the call site that allocated the memory nearby. */
#include "shim/common/common.h"

#include <inttypes.h>
#include <stdlib.h>

static void add_launch(FILE *out, const struct shim_launch *launch, const struct wm_packet *packet,
                       const struct shim_gpu *gpu)
{
    const char *separator = ", grid ";
    char name[SHIM_NAME];
    fprintf(out, "\n  in   ");
    if (*launch->symbol)
        fprintf(out, "%s, launch %" PRIu64, wm_source_name(launch->symbol, name, sizeof name),
                launch->number);
    else
        fprintf(out, "a kernel without a name");
    for (unsigned i = 0; i < 3 && packet->grid[i]; i++, separator = "x")
        fprintf(out, "%s%u", separator, packet->grid[i]);
    separator = " in workgroups of ";
    for (unsigned i = 0; i < 3 && packet->workgroup[i]; i++, separator = "x")
        fprintf(out, "%s%u", separator, packet->workgroup[i]);
    fprintf(out, ", on GPU %u (%s)", gpu->number, gpu->product->name);
}

static void add_allocation(FILE *out, const struct shim_gpu *gpu, uint64_t address)
{
    struct shim_allocation near;
    char site[SHIM_NAME + 300];
    if (!shim_nearest(gpu, address, &near))
        return;
    if (*near.name)
        fprintf(out, "\n  near '%s', %" PRIu64 " bytes at 0x%" PRIx64, near.name, near.size, near.low);
    else
        fprintf(out, "\n  near %" PRIu64 " bytes of %s at 0x%" PRIx64, near.size, near.kind, near.low);
    if (shim_site_text(&near.site, site, sizeof site))
        fprintf(out, ", allocated by %s", site);
    if (near.is_hidden)
        fprintf(out, "; GPU %u has no access to it", gpu->number);
}

/* Adds a hint how to learn more, once per process. */
static void add_hint(FILE *out)
{
    static bool said;
    if (shim_settings()->goes_on || shim_observe_checks() ||
        __atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        return;
    fputs(
        "\n  hint: 'exec --on-fault continue' runs on after a fault; 'exec --check' finds all such accesses",
        out);
}

void shim_report_fault(const struct shim_launch *launch, const struct wm_packet *packet,
                       const struct shim_gpu *gpu, const struct wm_fault *fault, const char *text)
{
    static const char object[] = SHIM_OBJECT ": "; /* redundant, because the kernel's name follows */
    char *report = NULL;
    size_t size;
    FILE *out = open_memstream(&report, &size);
    if (!out) {
        shim_report(text);
        return;
    }
    fputs(strncmp(text, object, sizeof object - 1) ? text : text + sizeof object - 1, out);
    add_launch(out, launch, packet, gpu);
    if (fault && fault->bytes)
        add_allocation(out, gpu, fault->low);
    if (fault && (fault->kind == WM_FAULT_MEMORY || fault->kind == WM_FAULT_READ_ONLY))
        add_hint(out);
    fclose(out);
    shim_report(report ? report : text);
    free(report);
}
