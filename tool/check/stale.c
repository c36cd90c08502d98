/* SPDX-License-Identifier: MIT */
/* Findings of the scalar cache. */
#include "tool/check/stale.h"

#include "tool/check/findings.h"

/* The rules. Source of all: the scalar cache is not coherent (Vega ISA, "Scalar Memory Operations"). */
static const struct {
    const char *rule, *message, *remedy;
} rules[] = {
    [WM_STALE_LOAD] = {"stale-scalar-load",
                       "scalar load of a line that has changed in memory since the scalar cache fetched it",
                       "execute s_dcache_inv before the load"},
    [WM_STALE_STORE] = {"lost-scalar-store", "scalar store that is never written back from the scalar cache",
                        "execute s_dcache_wb after the store"},
    [WM_STALE_VECTOR_LOAD] = {"stale-vector-load",
                              "vector load of what a scalar store left in the scalar cache",
                              "execute s_dcache_wb between the store and the load"},
};

enum { DEEPEST = 32 }; /* inlined functions that are shown */

/* Sets kernel, text, line and inlined functions of the instruction. */
static void describe(const struct tool_stale_place *place, struct wm_finding *finding, char *text,
                     size_t size, struct wm_inlined inlined[DEEPEST])
{
    uint32_t words[5]; /* the longest instruction; fewer at the end of the code */
    uint64_t entry, bytes;
    unsigned dwords = sizeof words / sizeof *words;
    finding->kernel = place->kernel->name;
    finding->text = text;
    *text = 0;
    while (dwords && wm_read(place->machine, finding->pc, words, 4 * dwords, NULL))
        dwords--;
    wm_disassemble(wm_object_target(place->object), words, dwords, text, size);
    if (wm_symbol(place->machine, place->object, place->kernel->name, &entry, &bytes, &(struct wm_diag){0}))
        return; /* raw instructions */
    const uint64_t address = finding->pc - entry + place->kernel->entry;
    const char *symbol = wm_object_symbol(place->object, address, &finding->offset);
    finding->kernel = symbol ? symbol : finding->kernel;
    if (!wm_object_line(place->object, address, &finding->file, &finding->line, &finding->column))
        finding->file = NULL;
    finding->inlined = inlined;
    while (finding->inlined_count < DEEPEST &&
           wm_object_inlined(place->object, address, (unsigned)finding->inlined_count,
                             &inlined[finding->inlined_count]))
        finding->inlined_count++;
}

json_t *tool_stale_finding(const struct tool_stale_place *place, const struct wm_stale *stale)
{
    struct wm_allocation found = {.struct_size = sizeof found};
    struct wm_inlined inlined[DEEPEST];
    char text[256];
    struct wm_finding finding = {
        .rule = rules[stale->kind].rule,
        .message = rules[stale->kind].message,
        .source = "Vega ISA, \"Scalar Memory Operations\"",
        .remedy = rules[stale->kind].remedy,
        .what = WM_CHECK_WAITS,
        .severity = WM_SEVERITY_ERROR,
        .count = stale->count,
        .pc = stale->pc,
        .launch = place->launch,
        .has_wave = true,
        .workgroup = {stale->workgroup[0], stale->workgroup[1], stale->workgroup[2]},
        .wave = stale->wave,
        .space = WM_SPACE_GLOBAL,
        .address = stale->address,
        .bytes = 1,
    };
    describe(place, &finding, text, sizeof text, inlined);
    if (!wm_find_allocation(place->machine, stale->address, false, &found, NULL)) {
        finding.allocation = found.name ? found.name : "";
        finding.allocation_address = found.address;
        finding.allocation_bytes = found.size;
    }
    return tool_json_finding(&finding);
}
