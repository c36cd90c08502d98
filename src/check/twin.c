/* SPDX-License-Identifier: MIT */
/* The twin of a wave. */
#include "check/twin.h"

#include "check/undefined.h"
#include "sem/sem.h"

#include <stdlib.h>
#include <string.h>

static_assert((int)WMI_TWIN_SCALARS == (int)WMI_SCALARS, "all scalar words");

/* ---- places ---- */

/* Byte offset of a register in the frame, by the numbers of isa/registers.h; 0 with a register that the frame
 * lacks, which no instruction can execute. *vector: it has a word per lane. */
static uint32_t offset_of(const struct wmi_twin *twin, unsigned reg, bool *vector)
{
    const uint32_t row = 4 * twin->lanes;
    const uint32_t agpr = twin->layout->agprs + (reg - WMI_REGISTER_AGPR) * row;
    const uint32_t vgpr = twin->layout->vgprs + (reg - WMI_REGISTER_VGPR) * row;
    *vector = reg >= WMI_REGISTER_VGPR && reg < WMI_REGISTER_FLAT_SCRATCH;
    if (reg >= WMI_REGISTER_XNACK_MASK)
        return 4 * (WMI_S_XNACK_MASK + reg - WMI_REGISTER_XNACK_MASK);
    if (reg >= WMI_REGISTER_FLAT_SCRATCH)
        return 4 * (WMI_S_FLAT_SCRATCH + reg - WMI_REGISTER_FLAT_SCRATCH);
    if (reg >= WMI_REGISTER_AGPR)
        return agpr + row <= twin->bytes ? agpr : 0;
    if (reg >= WMI_REGISTER_VGPR)
        return vgpr + row <= twin->layout->agprs ? vgpr : 0;
    return 4 * reg;
}

/* Index of a place in twin->origin. */
static unsigned place_of(const struct wmi_twin *twin, uint32_t offset)
{
    const uint32_t row = 4 * twin->lanes;
    const unsigned place =
        offset < 4 * WMI_TWIN_SCALARS ? offset / 4 : WMI_TWIN_SCALARS + (offset - twin->layout->vgprs) / row;
    return place < WMI_TWIN_PLACES ? place : WMI_TWIN_PLACES - 1;
}

static uint32_t word_at(const char *frame, uint32_t offset)
{
    uint32_t word;
    memcpy(&word, frame + offset, sizeof word);
    return word;
}

uint32_t wmi_twin_word(const struct wmi_twin *twin, const char *frame, uint32_t offset)
{
    return word_at(frame, offset) ^ word_at(twin->frame, offset);
}

uint32_t wmi_twin_origin(const struct wmi_twin *twin, uint32_t offset)
{
    const uint32_t origin = twin->origin[place_of(twin, offset)];
    return origin ? origin : twin->latest; /* registers chosen by an index */
}

/* ---- comparison ---- */

static uint64_t differing_lanes(const struct wmi_twin *twin, const char *frame, uint32_t offset)
{
    uint64_t lanes = 0;
    if (!memcmp(frame + offset, twin->frame + offset, 4 * twin->lanes))
        return 0;
    for (unsigned lane = 0; lane < twin->lanes; lane++)
        lanes |= (uint64_t)(wmi_twin_word(twin, frame, offset + 4 * lane) != 0) << lane;
    return lanes;
}

struct wmi_twin_difference wmi_twin_compare_word(const struct wmi_twin *twin, const char *frame,
                                                 unsigned word)
{
    const uint32_t differs = wmi_twin_word(twin, frame, 4 * word);
    return (struct wmi_twin_difference){.origin = differs ? wmi_twin_origin(twin, 4 * word) : 0};
}

struct wmi_twin_difference wmi_twin_compare(const struct wmi_twin *twin, const char *frame,
                                            const struct wmi_span_of_registers *span, uint64_t active)
{
    struct wmi_twin_difference found = {0};
    for (unsigned reg = span->first; reg < span->first + span->count; reg++) {
        bool vector;
        const uint32_t offset = offset_of(twin, reg, &vector);
        const uint64_t lanes = vector && offset ? differing_lanes(twin, frame, offset) & active : 0;
        const bool differs = vector ? lanes : wmi_twin_word(twin, frame, offset);
        found.lanes |= lanes;
        if (differs && !found.origin)
            found.origin = wmi_twin_origin(twin, offset);
    }
    return found;
}

/* ---- changes ---- */

struct wmi_twin *wmi_twin_create(const char *frame, const struct wmi_frame_layout *layout, unsigned lanes)
{
    struct wmi_twin *twin = calloc(1, sizeof *twin);
    if (!twin)
        return NULL;
    twin->layout = layout;
    twin->bytes = layout->bytes;
    twin->lanes = lanes;
    if (!(twin->frame = aligned_alloc(64, (layout->bytes + 63) / 64 * 64))) {
        free(twin);
        return NULL;
    }
    wmi_twin_restart(twin, frame);
    return twin;
}

void wmi_twin_destroy(struct wmi_twin *twin)
{
    if (!twin)
        return;
    free(twin->load);
    free(twin->frame);
    free(twin);
}

void wmi_twin_restart(struct wmi_twin *twin, const char *frame)
{
    memcpy(twin->frame, frame, twin->bytes);
    memset(twin->origin, 0, sizeof twin->origin);
    twin->last = NULL;
    twin->source = twin->latest = 0;
    twin->executed = 0;
    twin->loads = 0;
}

/* Gives another value to the words of the frame in [from, to). */
static void make_undefined(struct wmi_twin *twin, uint32_t from, uint32_t to, uint32_t first)
{
    for (uint32_t at = from; at < to; at += 4) {
        const uint32_t value = word_at(twin->frame, at) ^ wmi_undefined_pattern(at);
        memcpy(twin->frame + at, &value, sizeof value);
        twin->origin[place_of(twin, at)] = first + place_of(twin, at);
    }
}

void wmi_twin_start(struct wmi_twin *twin, const char *frame, uint32_t set_sgprs, uint32_t set_vgprs,
                    uint32_t end, uint32_t first)
{
    wmi_twin_restart(twin, frame);
    make_undefined(twin, 4 * set_sgprs, 4 * WMI_S_VCC, first);
    make_undefined(twin, twin->layout->vgprs + set_vgprs * 4 * twin->lanes, end, first);
}

void wmi_twin_place_name(unsigned place, unsigned vgprs, char *text, size_t size)
{
    const bool scalar = place < WMI_TWIN_SCALARS;
    const unsigned row = scalar ? 0 : place - WMI_TWIN_SCALARS;
    wmi_register_name(scalar        ? place
                      : row < vgprs ? WMI_REGISTER_VGPR + row
                                    : WMI_REGISTER_AGPR + row - vgprs,
                      text, size);
}

void wmi_twin_settle_word(struct wmi_twin *twin, const char *frame, unsigned word)
{
    memcpy(twin->frame + 4 * word, frame + 4 * word, 4);
}

/* Copies the words of the lanes. */
static void copy_lanes(struct wmi_twin *twin, const char *frame, uint32_t offset, uint64_t lanes)
{
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t at = offset + 4 * (uint32_t)__builtin_ctzll(lanes);
        memcpy(twin->frame + at, frame + at, 4);
    }
}

static void copy_span(struct wmi_twin *twin, const char *frame, const struct wmi_span_of_registers *span,
                      uint64_t lanes)
{
    for (unsigned reg = span->first; reg < span->first + span->count; reg++) {
        bool vector;
        const uint32_t offset = offset_of(twin, reg, &vector);
        if (!vector)
            memcpy(twin->frame + offset, frame + offset, 4);
        else if (offset)
            copy_lanes(twin, frame, offset, lanes);
    }
}

void wmi_twin_settle(struct wmi_twin *twin, const char *frame, const struct wmi_span_of_registers *span)
{
    copy_span(twin, frame, span, UINT64_MAX >> (64 - twin->lanes));
}

bool wmi_twin_load(struct wmi_twin *twin, uint32_t offset, uint32_t difference, uint32_t origin)
{
    if (twin->loads == twin->room) {
        const size_t room = twin->room ? 2 * twin->room : 64;
        struct wmi_twin_load *load = realloc(twin->load, room * sizeof *load);
        if (!load)
            return false;
        twin->load = load;
        twin->room = room;
    }
    twin->load[twin->loads++] = (struct wmi_twin_load){offset, difference, origin};
    return true;
}

static void take_results(struct wmi_twin *twin, const char *frame)
{
    const struct wmi_twin_instruction *insn = twin->last;
    for (unsigned i = 0; i < insn->spans; i++)
        if (insn->span[i].written)
            copy_span(twin, frame, &insn->span[i], twin->exec);
    wmi_twin_settle_word(twin, frame, WMI_S_SCC);
    for (size_t i = 0; i < twin->loads; i++) {
        const struct wmi_twin_load *load = &twin->load[i];
        const uint32_t value = word_at(frame, load->offset) ^ load->difference;
        memcpy(twin->frame + load->offset, &value, sizeof value);
        twin->origin[place_of(twin, load->offset)] = twin->latest = load->origin;
    }
    twin->loads = 0;
}

/* Where results that differ come from. */
static void trace_results(struct wmi_twin *twin, const char *frame)
{
    const struct wmi_twin_instruction *insn = twin->last;
    for (unsigned i = 0; twin->source && i < insn->spans; i++) {
        const struct wmi_span_of_registers *span = &insn->span[i];
        for (unsigned reg = span->first; span->written && reg < span->first + span->count; reg++) {
            bool vector;
            const uint32_t offset = offset_of(twin, reg, &vector);
            if (vector ? offset && differing_lanes(twin, frame, offset) : wmi_twin_word(twin, frame, offset))
                twin->origin[place_of(twin, offset)] = twin->source;
        }
    }
    if (twin->source && wmi_twin_word(twin, frame, 4 * WMI_S_SCC))
        twin->origin[WMI_S_SCC] = twin->source;
}

void wmi_twin_follow(struct wmi_twin *twin, const char *frame)
{
    if (twin->last && twin->last->computes)
        trace_results(twin, frame);
    else if (twin->last)
        take_results(twin, frame);
}

void wmi_twin_settle_state(struct wmi_twin *twin, const char *frame)
{
    struct wmi_frame *own = (struct wmi_frame *)twin->frame;
    const struct wmi_frame *wave = (const struct wmi_frame *)frame;
    twin->last = NULL;
    wmi_twin_settle_word(twin, frame, WMI_S_EXEC);
    wmi_twin_settle_word(twin, frame, WMI_S_EXEC + 1);
    own->mode = wave->mode;
    own->mxcsr32 = wave->mxcsr32;
    own->mxcsr64 = wave->mxcsr64;
    if (own->exec.bits != wave->exec.bits)
        own->exec = wave->exec;
}

void wmi_twin_precede(struct wmi_twin *twin, const char *frame, const struct wmi_twin_instruction *insn)
{
    twin->last = insn;
    twin->exec = ((const struct wmi_frame *)frame)->exec.bits;
    twin->source = 0;
    twin->executed++;
    for (unsigned i = 0; i < insn->spans && !twin->source; i++)
        if (insn->span[i].read)
            twin->source = wmi_twin_compare(twin, frame, &insn->span[i], UINT64_MAX).origin;
    if (!twin->source && wmi_rows[insn->id].flags & WMI_ROW_READS_SCC)
        twin->source = wmi_twin_compare_word(twin, frame, WMI_S_SCC).origin;
}

bool wmi_twin_differs(const struct wmi_twin *twin, const char *frame)
{
    return twin->loads || memcmp(frame, twin->frame, 4 * WMI_TWIN_SCALARS) ||
           memcmp(frame + twin->layout->vgprs, twin->frame + twin->layout->vgprs,
                  twin->bytes - twin->layout->vgprs);
}
