/* SPDX-License-Identifier: MIT */
/* The table of steps and queries on it. */
#include "lower/step.h"

#include "sem/table.h"

#include <stddef.h>

/* Vocabulary of steps.def. */
#define R_ROWS(n)   (WMI_USE_READ | WMI_USE_ROWS | (n))
#define W_ROWS(n)   (WMI_USE_WRITE | WMI_USE_ROWS | (n))
#define M_ROWS(n)   (WMI_USE_READ | WMI_USE_WRITE | WMI_USE_ROWS | (n))
#define RW_ROWS(n)  (WMI_USE_READ | WMI_USE_WRITE | WMI_USE_ROWS | (n))
#define R_WORDS(n)  (WMI_USE_READ | WMI_USE_WORDS | (n))
#define W_WORDS(n)  (WMI_USE_WRITE | WMI_USE_WORDS | (n))
#define RW_WORDS(n) (WMI_USE_READ | WMI_USE_WRITE | WMI_USE_WORDS | (n))
#define W_MASK      (WMI_USE_WRITE | WMI_USE_WORDS | WMI_USE_MASK)
#define W_SET       (WMI_USE_WRITE | WMI_USE_SET | 1)
enum {
    MANY = WMI_USE_MANY,
    ON_EXEC = WMI_ON_EXEC,
    ON_SCC = WMI_ON_SCC,
    ON_VCC = WMI_ON_VCC,
    ON_M0 = WMI_ON_M0,
    ON_MODE = WMI_ON_MODE,
    ON_ZERO_BITS = WMI_ON_ZERO_BITS,
    ON_SGPRS = WMI_ON_SGPRS,
    ON_VGPRS = WMI_ON_VGPRS,
    ON_MEMORY = WMI_ON_MEMORY,
    ON_LDS = WMI_ON_LDS,
    ON_GDS = WMI_ON_GDS,
    ON_WAVE = WMI_ON_WAVE,
    ON_OBSERVER = WMI_ON_OBSERVER,
    ON_SCRATCH = WMI_ON_SCRATCH,
    ON_EVERYTHING = ON_EXEC | ON_SCC | ON_VCC | ON_M0 | ON_MODE | ON_ZERO_BITS | ON_SGPRS | ON_VGPRS |
                    ON_MEMORY | ON_LDS | ON_WAVE | ON_OBSERVER | ON_SCRATCH,
    PURE = WMI_STEP_PURE,
    LEAVES = WMI_STEP_LEAVES,
    BRANCHES = WMI_STEP_BRANCHES,
    PAUSES = WMI_STEP_PAUSES,
    FAULTS = WMI_STEP_FAULTS,
    ENDS_WAVE = WMI_STEP_ENDS_WAVE,
    CROSSES_LANES = WMI_STEP_CROSSES_LANES,
    TAKES_NEXT = WMI_STEP_TAKES_NEXT,
};

/* Buffer shapes set .flags twice, in SHAPE_* and in their row: the last one counts. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const struct wmi_step_facts table[WMI_STEP_BODIES] = {
#define ROW(row_name, ...) [WMI_STEP_##row_name] = {.name = #row_name, __VA_ARGS__},
#include "lower/steps.def"
};
#pragma GCC diagnostic pop

/* Families of steps are in the order of their enums. */
#define ROW(...)
#define STAGE(name, ...)                                                                                     \
    static_assert(WMI_STEP_stage_##name - WMI_STEP_FIRST_STAGE == (int)WMI_STAGE_##name, "the same order");
#define FUSED(name, ...)                                                                                     \
    static_assert(WMI_STEP_fused_##name - WMI_STEP_FIRST_FUSED == (int)WMI_FUSED_##name, "the same order");
#define LDS(name, ...)                                                                                       \
    static_assert(WMI_STEP_lds_##name - WMI_STEP_FIRST_LDS == (int)WMI_LDS_##name - 1, "the same order");
#include "lower/steps.def"

struct wmi_step_facts wmi_step_facts_of(enum wmi_step_id id)
{
    static const struct {
        uint32_t flag;
        uint16_t reads, writes, flags;
    } of_row[] = {
        {WMI_ROW_READS_SCC, WMI_ON_SCC, 0, 0},   {WMI_ROW_WRITES_SCC, 0, WMI_ON_SCC, 0},
        {WMI_ROW_READS_EXEC, WMI_ON_EXEC, 0, 0}, {WMI_ROW_WRITES_EXEC, 0, WMI_ON_EXEC, 0},
        {WMI_ROW_READS_VCC, WMI_ON_VCC, 0, 0},   {WMI_ROW_WRITES_VCC, 0, WMI_ON_VCC, 0},
        {WMI_ROW_READS_M0, WMI_ON_M0, 0, 0},     {WMI_ROW_CROSS_LANE, 0, 0, WMI_STEP_CROSSES_LANES},
    };
    if (id < WMI_STEP_BODIES)
        return table[id];
    const struct wmi_row *row = &wmi_rows[wmi_row_of_body(id - WMI_STEP_BODIES)];
    struct wmi_step_facts facts = {.name = row->name, .reads = WMI_ON_MODE, .flags = WMI_STEP_PURE};
    for (size_t i = 0; i < sizeof of_row / sizeof *of_row; i++)
        if (row->flags & of_row[i].flag) {
            facts.reads |= of_row[i].reads;
            facts.writes |= of_row[i].writes;
            facts.flags |= of_row[i].flags;
        }
    return facts;
}

void wmi_step_take_uses(struct wmi_step *step)
{
    const struct wmi_step_facts facts = wmi_step_facts_of(step->id);
    const uint8_t use[WMI_STEP_OPERANDS] = {facts.d, facts.a, facts.b, facts.c, facts.e, facts.x, facts.y};
    memcpy(step->use, use, sizeof use);
}

static uint32_t offset_of(const struct wmi_step *step, enum wmi_step_operand operand)
{
    const uint32_t offsets[WMI_STEP_OPERANDS] = {step->d, step->a, step->b, step->c,
                                                 step->e, step->x, step->y};
    return offsets[operand];
}

struct wmi_extent wmi_step_span(const struct wmi_step *step, enum wmi_step_operand operand, unsigned lanes)
{
    const unsigned use = step->use[operand];
    const uint32_t from = offset_of(step, operand);
    const unsigned named = use & WMI_USE_COUNT, count = named == WMI_USE_MANY ? WMI_USE_MOST : named;
    switch (use & WMI_USE_KIND) {
    case WMI_USE_ROWS:
        return (struct wmi_extent){from, from + count * 4 * lanes};
    case WMI_USE_WORDS:
        return (struct wmi_extent){from, from + (named == WMI_USE_MASK ? lanes / 8 : 4 * count)};
    case WMI_USE_SET:
        return (struct wmi_extent){from, from + (uint32_t)sizeof(struct wmi_lanes)};
    default:
        return (struct wmi_extent){0, 0};
    }
}

static bool overlap(struct wmi_extent a, struct wmi_extent b)
{
    return a.from < b.to && b.from < a.to;
}

/* Whether an operand of this kind that is read (or written) overlaps the span. */
static bool operands_meet(const struct wmi_step *step, unsigned access, unsigned kind, struct wmi_extent span,
                          unsigned lanes)
{
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++)
        if (step->use[i] & access && (step->use[i] & WMI_USE_KIND) == kind &&
            overlap(wmi_step_span(step, (enum wmi_step_operand)i, lanes), span))
            return true;
    return false;
}

/* Whether a set of enum wmi_step_state overlaps a span of the scalar file. */
static bool state_meets(unsigned states, struct wmi_extent span)
{
    static const struct {
        unsigned state, slot, words;
    } places[] = {
        {WMI_ON_EXEC, WMI_S_EXEC, 2},
        {WMI_ON_SCC, WMI_S_SCC, 1},
        {WMI_ON_VCC, WMI_S_VCC, 2},
        {WMI_ON_M0, WMI_S_M0, 1},
        {WMI_ON_ZERO_BITS, WMI_S_VCCZ, 2},
        {WMI_ON_SGPRS, 0, WMI_SCALARS},
        {WMI_ON_SCRATCH, WMI_S_FLAT_SCRATCH, 2},
        {WMI_ON_SCRATCH, WMI_S_SHARED_BASE, 8},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const struct wmi_extent place = {4 * places[i].slot, 4 * (places[i].slot + places[i].words)};
        if (states & places[i].state && overlap(place, span))
            return true;
    }
    return false;
}

bool wmi_step_reads_scalars(const struct wmi_step *step, struct wmi_extent span, unsigned lanes)
{
    return operands_meet(step, WMI_USE_READ, WMI_USE_WORDS, span, lanes) ||
           state_meets(wmi_step_facts_of(step->id).reads, span);
}

bool wmi_step_writes_scalars(const struct wmi_step *step, struct wmi_extent span, unsigned lanes)
{
    return operands_meet(step, WMI_USE_WRITE, WMI_USE_WORDS, span, lanes) ||
           state_meets(wmi_step_facts_of(step->id).writes, span);
}

bool wmi_step_overwrites(const struct wmi_step *step, struct wmi_extent span, unsigned lanes)
{
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++) {
        const struct wmi_extent written = wmi_step_span(step, (enum wmi_step_operand)i, lanes);
        if ((step->use[i] & (WMI_USE_READ | WMI_USE_WRITE)) == WMI_USE_WRITE &&
            (step->use[i] & WMI_USE_COUNT) != WMI_USE_MANY && written.from <= span.from &&
            written.to >= span.to)
            return true;
    }
    return false;
}

bool wmi_step_reads_rows(const struct wmi_step *step, struct wmi_extent span, unsigned lanes)
{
    return wmi_step_facts_of(step->id).reads & WMI_ON_VGPRS ||
           operands_meet(step, WMI_USE_READ, WMI_USE_ROWS, span, lanes);
}

bool wmi_step_writes_rows(const struct wmi_step *step, struct wmi_extent span, unsigned lanes)
{
    return wmi_step_facts_of(step->id).writes & WMI_ON_VGPRS ||
           operands_meet(step, WMI_USE_WRITE, WMI_USE_ROWS, span, lanes);
}
