/* SPDX-License-Identifier: MIT */
/* The twin of a wave. */
#include "check/uninit/twin.h"

#include "check/uninit/undefined.h"
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

/* ---- comparisons ---- */

/* A comparison with one particular value mostly has the same result in the wave and its twin: neither has a
 * count of
 * 77. So the twin compares the value that leads to the other result, if the undefined bytes can have it: that
 * of the other operand, or the next one beyond it. */

static bool begins_with(const char *text, const char *begin)
{
    return !strncmp(text, begin, strlen(begin));
}

/* The names of comparisons say what they compare for: v_cmp_eq_u32, s_cmpk_lt_i32. */
static bool compares_for(const char *name, const char *const *relations)
{
    static const char *const prefixes[] = {"s_cmp_", "s_cmpk_", "v_cmp_", "v_cmpx_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        for (; begins_with(name, prefixes[i]) && *relations; relations++)
            if (begins_with(name + strlen(prefixes[i]), *relations))
                return true;
    return false;
}

struct wmi_twin_comparison wmi_twin_comparison_of(const struct wmi_instruction *insn,
                                                  const struct wmi_span_of_registers *spans, unsigned count)
{
    static const char *const equal[] = {"eq_", "lg_", "ne_", "neq_", "nlg_", NULL};
    static const char *const order[] = {"lt_", "le_", "gt_", "ge_", "nlt_", "nle_", "ngt_", "nge_", NULL};
    static const uint8_t roles[] = {WMI_ROLE_A, WMI_ROLE_B};
    const char *name = wmi_rows[insn->id].name;
    const struct wmi_operand *first = wmi_operand(insn, WMI_ROLE_A);
    struct wmi_twin_comparison comparison = {.ordered = compares_for(name, order)};
    const bool compares = comparison.ordered || compares_for(name, equal);
    const unsigned bits = compares && first ? wmi_type_bits((enum wmi_type)first->type) : 0;
    if ((bits != 32 && bits != 64) || insn->extension == WMI_EXT_DPP || insn->extension == WMI_EXT_DPP8 ||
        insn->extension == WMI_EXT_SDWA)
        return comparison;
    comparison.is_float = first->type == WMI_TYPE_f32 || first->type == WMI_TYPE_f64;
    comparison.is_signed = first->type == WMI_TYPE_i32 || first->type == WMI_TYPE_i64;
    for (unsigned side = 0; side < 2; side++) {
        const struct wmi_operand *operand = wmi_operand(insn, roles[side]);
        if (!operand)
            operand = wmi_operand(insn, WMI_ROLE_IMM);
        if (!operand || operand->neg || operand->abs)
            return comparison;
        comparison.side[side].reg = WMI_REGISTER_COUNT;
        comparison.side[side].constant = bits == 32 ? (uint32_t)operand->value : operand->value;
        for (unsigned i = 0; i < count; i++)
            if (spans[i].role == roles[side])
                comparison.side[side].reg = spans[i].first;
        const bool known = operand->kind == WMI_OPERAND_CONSTANT || operand->kind == WMI_OPERAND_IMMEDIATE ||
                           (operand->kind == WMI_OPERAND_LITERAL && bits == 32);
        if (comparison.side[side].reg == WMI_REGISTER_COUNT && !known)
            return comparison;
    }
    comparison.words = (uint8_t)(bits / 32);
    return comparison;
}

/* The value of an operand in a lane. *offset: of its first word in the frame; 0: it is a constant. */
static uint64_t compared(const struct wmi_twin *twin, const char *frame, unsigned side, unsigned lane,
                         uint32_t *offset)
{
    const struct wmi_twin_comparison *comparison = &twin->last->comparison;
    bool vector;
    *offset = 0;
    if (comparison->side[side].reg == WMI_REGISTER_COUNT)
        return comparison->side[side].constant;
    *offset = offset_of(twin, comparison->side[side].reg, &vector);
    *offset += vector ? 4 * lane : 0;
    const uint32_t step = vector ? 4 * twin->lanes : 4;
    const uint64_t high = comparison->words > 1 ? word_at(frame, *offset + step) : 0;
    return high << 32 | word_at(frame, *offset);
}

static double number_of(const struct wmi_twin_comparison *comparison, uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float single;
    double number;
    memcpy(&single, &low, sizeof single);
    memcpy(&number, &bits, sizeof number);
    return comparison->words > 1 ? number : (double)single;
}

/* Infinity with the sign that makes it greater or less than all other numbers. */
static uint64_t infinity(const struct wmi_twin_comparison *comparison, bool negative)
{
    const uint64_t bits = comparison->words > 1 ? UINT64_C(0x7ff0000000000000) : UINT64_C(0x7f800000);
    return bits | (negative ? UINT64_C(1) << (32 * comparison->words - 1) : 0);
}

/* A value in place of `own` for which the comparison with `other` has another result. */
static uint64_t beyond(const struct wmi_twin_comparison *comparison, uint64_t own, uint64_t other)
{
    const uint64_t sign = comparison->is_signed ? UINT64_C(1) << (32 * comparison->words - 1) : 0;
    if (!comparison->ordered || own == other)
        return other;
    if (comparison->is_float)
        return infinity(comparison, !(number_of(comparison, own) < number_of(comparison, other)));
    const uint64_t next = (own ^ sign) < (other ^ sign) ? other + 1 : other - 1;
    return comparison->words > 1 ? next : (uint32_t)next;
}

/* All bits of the bytes that differ. */
static uint64_t differing_bytes(uint64_t a, uint64_t b)
{
    uint64_t bytes = 0;
    for (unsigned shift = 0; shift < 64; shift += 8)
        bytes |= (a ^ b) >> shift & 255 ? UINT64_C(255) << shift : 0;
    return bytes;
}

/* Whether the comparison itself writes this scalar word. */
static bool is_result(const struct wmi_twin_instruction *insn, uint32_t offset)
{
    for (unsigned i = 0; i < insn->spans; i++)
        if (insn->span[i].written && offset / 4 - insn->span[i].first < insn->span[i].count)
            return true;
    return false;
}

static void choose_word(struct wmi_twin *twin, uint32_t offset, uint32_t value)
{
    if (!is_result(twin->last, offset)) {
        twin->chosen[twin->chosen_count].offset = offset;
        twin->chosen[twin->chosen_count++].value = word_at(twin->frame, offset);
    }
    memcpy(twin->frame + offset, &value, sizeof value);
}

static void choose(struct wmi_twin *twin, const char *frame, unsigned lane)
{
    const struct wmi_twin_comparison *comparison = &twin->last->comparison;
    uint64_t own[2], others[2];
    uint32_t offset[2];
    for (unsigned side = 0; side < 2; side++) {
        own[side] = compared(twin, frame, side, lane, &offset[side]);
        others[side] = compared(twin, twin->frame, side, lane, &offset[side]);
    }
    const unsigned side = own[0] == others[0];
    const uint64_t wanted = beyond(comparison, own[side], own[!side]);
    if (own[side] == others[side] || own[!side] != others[!side] || wanted == own[side] ||
        (wanted ^ own[side]) & ~differing_bytes(own[side], others[side]))
        return;
    bool vector;
    offset_of(twin, comparison->side[side].reg, &vector);
    choose_word(twin, offset[side], (uint32_t)wanted);
    if (comparison->words > 1)
        choose_word(twin, offset[side] + (vector ? 4 * twin->lanes : 4), (uint32_t)(wanted >> 32));
}

/* Before the twin compares, if it reads what differs. */
static void choose_compared(struct wmi_twin *twin, const char *frame)
{
    const struct wmi_twin_comparison *comparison = &twin->last->comparison;
    bool vector = false;
    for (unsigned side = 0; side < 2; side++) {
        const unsigned reg = comparison->side[side].reg;
        vector |= reg >= WMI_REGISTER_VGPR && reg != WMI_REGISTER_COUNT;
    }
    for (uint64_t lanes = vector ? twin->exec : 1; lanes; lanes &= lanes - 1)
        choose(twin, frame, (unsigned)__builtin_ctzll(lanes));
}

static void restore_compared(struct wmi_twin *twin)
{
    for (; twin->chosen_count; twin->chosen_count--)
        memcpy(twin->frame + twin->chosen[twin->chosen_count - 1].offset,
               &twin->chosen[twin->chosen_count - 1].value, 4);
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
    twin->loads = twin->chosen_count = 0;
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
    restore_compared(twin);
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
    if (twin->source && insn->comparison.words)
        choose_compared(twin, frame);
}

bool wmi_twin_differs(const struct wmi_twin *twin, const char *frame)
{
    return twin->loads || memcmp(frame, twin->frame, 4 * WMI_TWIN_SCALARS) ||
           memcmp(frame + twin->layout->vgprs, twin->frame + twin->layout->vgprs,
                  twin->bytes - twin->layout->vgprs);
}
