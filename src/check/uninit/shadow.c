/* SPDX-License-Identifier: MIT */
/* The shadow execution of a wave. */
#include "check/uninit/shadow.h"

#include "check/uninit/undefined.h"
#include "sem/sem.h"

#include <stdlib.h>
#include <string.h>

static_assert((int)WMI_SHADOW_SCALARS == (int)WMI_SCALARS, "all scalar words");

/* ---- places ---- */

/* Byte offset of a register in the frame; registers are numbered as in isa/rules/registers.h. 0 for a
 * register that the frame lacks, which no instruction can access. *vector: the register has a word per
 * lane. */
static uint32_t offset_of(const struct wmi_shadow *shadow, unsigned reg, bool *vector)
{
    const uint32_t row = 4 * shadow->lanes;
    const uint32_t agpr = shadow->layout->agprs + (reg - WMI_REGISTER_AGPR) * row;
    const uint32_t vgpr = shadow->layout->vgprs + (reg - WMI_REGISTER_VGPR) * row;
    *vector = reg >= WMI_REGISTER_VGPR && reg < WMI_REGISTER_FLAT_SCRATCH;
    if (reg >= WMI_REGISTER_XNACK_MASK)
        return 4 * (WMI_S_XNACK_MASK + reg - WMI_REGISTER_XNACK_MASK);
    if (reg >= WMI_REGISTER_FLAT_SCRATCH)
        return 4 * (WMI_S_FLAT_SCRATCH + reg - WMI_REGISTER_FLAT_SCRATCH);
    if (reg >= WMI_REGISTER_AGPR)
        return agpr + row <= shadow->bytes ? agpr : 0;
    if (reg >= WMI_REGISTER_VGPR)
        return vgpr + row <= shadow->layout->agprs ? vgpr : 0;
    return 4 * reg;
}

/* Index of a place in shadow->origin. */
static unsigned place_of(const struct wmi_shadow *shadow, uint32_t offset)
{
    const uint32_t row = 4 * shadow->lanes;
    const unsigned place = offset < 4 * WMI_SHADOW_SCALARS
                               ? offset / 4
                               : WMI_SHADOW_SCALARS + (offset - shadow->layout->vgprs) / row;
    return place < WMI_SHADOW_PLACES ? place : WMI_SHADOW_PLACES - 1;
}

static uint32_t word_at(const char *frame, uint32_t offset)
{
    uint32_t word;
    memcpy(&word, frame + offset, sizeof word);
    return word;
}

uint32_t wmi_shadow_word(const struct wmi_shadow *shadow, const char *frame, uint32_t offset)
{
    return word_at(frame, offset) ^ word_at(shadow->frame, offset);
}

uint32_t wmi_shadow_origin(const struct wmi_shadow *shadow, uint32_t offset)
{
    const uint32_t origin = shadow->origin[place_of(shadow, offset)];
    return origin ? origin
                  : shadow->latest; /* the place is unknown for registers that are selected by an index */
}

/* ---- comparison ---- */

static uint64_t differing_lanes(const struct wmi_shadow *shadow, const char *frame, uint32_t offset)
{
    uint64_t lanes = 0;
    if (!memcmp(frame + offset, shadow->frame + offset, 4 * shadow->lanes))
        return 0;
    for (unsigned lane = 0; lane < shadow->lanes; lane++)
        lanes |= (uint64_t)(wmi_shadow_word(shadow, frame, offset + 4 * lane) != 0) << lane;
    return lanes;
}

struct wmi_shadow_difference wmi_shadow_compare_word(const struct wmi_shadow *shadow, const char *frame,
                                                     unsigned word)
{
    const uint32_t differs = wmi_shadow_word(shadow, frame, 4 * word);
    return (struct wmi_shadow_difference){.origin = differs ? wmi_shadow_origin(shadow, 4 * word) : 0};
}

struct wmi_shadow_difference wmi_shadow_compare(const struct wmi_shadow *shadow, const char *frame,
                                                const struct wmi_span_of_registers *span, uint64_t active)
{
    struct wmi_shadow_difference found = {0};
    for (unsigned reg = span->first; reg < span->first + span->count; reg++) {
        bool vector;
        const uint32_t offset = offset_of(shadow, reg, &vector);
        const uint64_t lanes = vector && offset ? differing_lanes(shadow, frame, offset) & active : 0;
        const bool differs = vector ? lanes : wmi_shadow_word(shadow, frame, offset);
        found.lanes |= lanes;
        if (differs && !found.origin)
            found.origin = wmi_shadow_origin(shadow, offset);
    }
    return found;
}

/* ---- comparisons ---- */

/* A comparison with one particular value usually has the same result in the wave and its shadow: neither has
 * a count of 77, for example. So the shadow compares the value that leads to the other result, if the
 * undefined bytes can have it: the value of the other operand, or the next value beyond it. */

static bool begins_with(const char *text, const char *begin)
{
    return !strncmp(text, begin, strlen(begin));
}

/* Whether the name of a comparison contains one of the relations: v_cmp_eq_u32, s_cmpk_lt_i32. */
static bool compares_for(const char *name, const char *const *relations)
{
    static const char *const prefixes[] = {"s_cmp_", "s_cmpk_", "v_cmp_", "v_cmpx_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        for (; begins_with(name, prefixes[i]) && *relations; relations++)
            if (begins_with(name + strlen(prefixes[i]), *relations))
                return true;
    return false;
}

struct wmi_shadow_comparison wmi_shadow_comparison_of(const struct wmi_instruction *insn,
                                                      const struct wmi_span_of_registers *spans,
                                                      unsigned count)
{
    static const char *const equal[] = {"eq_", "lg_", "ne_", "neq_", "nlg_", NULL};
    static const char *const order[] = {"lt_", "le_", "gt_", "ge_", "nlt_", "nle_", "ngt_", "nge_", NULL};
    static const uint8_t roles[] = {WMI_ROLE_A, WMI_ROLE_B};
    const char *name = wmi_rows[insn->id].name;
    const struct wmi_operand *first = wmi_operand(insn, WMI_ROLE_A);
    struct wmi_shadow_comparison comparison = {.ordered = compares_for(name, order)};
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

/* The value of an operand in a lane. *offset: byte offset of its first word in the frame; 0: the operand is a
 * constant. */
static uint64_t compared(const struct wmi_shadow *shadow, const char *frame, unsigned side, unsigned lane,
                         uint32_t *offset)
{
    const struct wmi_shadow_comparison *comparison = &shadow->last->comparison;
    bool vector;
    *offset = 0;
    if (comparison->side[side].reg == WMI_REGISTER_COUNT)
        return comparison->side[side].constant;
    *offset = offset_of(shadow, comparison->side[side].reg, &vector);
    *offset += vector ? 4 * lane : 0;
    const uint32_t step = vector ? 4 * shadow->lanes : 4;
    const uint64_t high = comparison->words > 1 ? word_at(frame, *offset + step) : 0;
    return high << 32 | word_at(frame, *offset);
}

static double number_of(const struct wmi_shadow_comparison *comparison, uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float single;
    double number;
    memcpy(&single, &low, sizeof single);
    memcpy(&number, &bits, sizeof number);
    return comparison->words > 1 ? number : (double)single;
}

/* The infinity that is greater or, if `negative`, less than all numbers. */
static uint64_t infinity(const struct wmi_shadow_comparison *comparison, bool negative)
{
    const uint64_t bits = comparison->words > 1 ? UINT64_C(0x7ff0000000000000) : UINT64_C(0x7f800000);
    return bits | (negative ? UINT64_C(1) << (32 * comparison->words - 1) : 0);
}

/* A value in place of `own` for which the comparison with `other` has another result. */
static uint64_t beyond(const struct wmi_shadow_comparison *comparison, uint64_t own, uint64_t other)
{
    const uint64_t sign = comparison->is_signed ? UINT64_C(1) << (32 * comparison->words - 1) : 0;
    if (!comparison->ordered || own == other)
        return other;
    if (comparison->is_float)
        return infinity(comparison, !(number_of(comparison, own) < number_of(comparison, other)));
    const uint64_t next = (own ^ sign) < (other ^ sign) ? other + 1 : other - 1;
    return comparison->words > 1 ? next : (uint32_t)next;
}

/* A mask with all bits of the bytes that differ. */
static uint64_t differing_bytes(uint64_t a, uint64_t b)
{
    uint64_t bytes = 0;
    for (unsigned shift = 0; shift < 64; shift += 8)
        bytes |= (a ^ b) >> shift & 255 ? UINT64_C(255) << shift : 0;
    return bytes;
}

/* Whether the comparison itself writes this scalar word. */
static bool is_result(const struct wmi_shadow_instruction *insn, uint32_t offset)
{
    for (unsigned i = 0; i < insn->spans; i++)
        if (insn->span[i].written && offset / 4 - insn->span[i].first < insn->span[i].count)
            return true;
    return false;
}

static void choose_word(struct wmi_shadow *shadow, uint32_t offset, uint32_t value)
{
    if (!is_result(shadow->last, offset)) {
        shadow->chosen[shadow->chosen_count].offset = offset;
        shadow->chosen[shadow->chosen_count++].value = word_at(shadow->frame, offset);
    }
    memcpy(shadow->frame + offset, &value, sizeof value);
}

static void choose(struct wmi_shadow *shadow, const char *frame, unsigned lane)
{
    const struct wmi_shadow_comparison *comparison = &shadow->last->comparison;
    uint64_t own[2], others[2];
    uint32_t offset[2];
    for (unsigned side = 0; side < 2; side++) {
        own[side] = compared(shadow, frame, side, lane, &offset[side]);
        others[side] = compared(shadow, shadow->frame, side, lane, &offset[side]);
    }
    const unsigned side = own[0] == others[0];
    const uint64_t wanted = beyond(comparison, own[side], own[!side]);
    if (own[side] == others[side] || own[!side] != others[!side] || wanted == own[side] ||
        (wanted ^ own[side]) & ~differing_bytes(own[side], others[side]))
        return;
    bool vector;
    offset_of(shadow, comparison->side[side].reg, &vector);
    choose_word(shadow, offset[side], (uint32_t)wanted);
    if (comparison->words > 1)
        choose_word(shadow, offset[side] + (vector ? 4 * shadow->lanes : 4), (uint32_t)(wanted >> 32));
}

/* Chooses operands before the shadow executes a comparison, if operands differ from the wave's. */
static void choose_compared(struct wmi_shadow *shadow, const char *frame)
{
    const struct wmi_shadow_comparison *comparison = &shadow->last->comparison;
    bool vector = false;
    for (unsigned side = 0; side < 2; side++) {
        const unsigned reg = comparison->side[side].reg;
        vector |= reg >= WMI_REGISTER_VGPR && reg != WMI_REGISTER_COUNT;
    }
    for (uint64_t lanes = vector ? shadow->exec : 1; lanes; lanes &= lanes - 1)
        choose(shadow, frame, (unsigned)__builtin_ctzll(lanes));
}

static void restore_compared(struct wmi_shadow *shadow)
{
    for (; shadow->chosen_count; shadow->chosen_count--)
        memcpy(shadow->frame + shadow->chosen[shadow->chosen_count - 1].offset,
               &shadow->chosen[shadow->chosen_count - 1].value, 4);
}

/* ---- changes ---- */

struct wmi_shadow *wmi_shadow_create(const char *frame, const struct wmi_frame_layout *layout, unsigned lanes)
{
    struct wmi_shadow *shadow = calloc(1, sizeof *shadow);
    if (!shadow)
        return NULL;
    shadow->layout = layout;
    shadow->bytes = layout->bytes;
    shadow->lanes = lanes;
    if (!(shadow->frame = aligned_alloc(64, (layout->bytes + 63) / 64 * 64))) {
        free(shadow);
        return NULL;
    }
    wmi_shadow_restart(shadow, frame);
    return shadow;
}

void wmi_shadow_destroy(struct wmi_shadow *shadow)
{
    if (!shadow)
        return;
    free(shadow->load);
    free(shadow->frame);
    free(shadow);
}

void wmi_shadow_restart(struct wmi_shadow *shadow, const char *frame)
{
    memcpy(shadow->frame, frame, shadow->bytes);
    memset(shadow->origin, 0, sizeof shadow->origin);
    shadow->last = NULL;
    shadow->source = shadow->latest = 0;
    shadow->executed = 0;
    shadow->loads = shadow->chosen_count = 0;
}

/* Changes the words of the frame in [from, to). */
static void make_undefined(struct wmi_shadow *shadow, uint32_t from, uint32_t to, uint32_t first)
{
    for (uint32_t at = from; at < to; at += 4) {
        const uint32_t value = word_at(shadow->frame, at) ^ wmi_undefined_pattern(at);
        memcpy(shadow->frame + at, &value, sizeof value);
        shadow->origin[place_of(shadow, at)] = first + place_of(shadow, at);
    }
}

void wmi_shadow_start(struct wmi_shadow *shadow, const char *frame, uint32_t set_sgprs, uint32_t set_vgprs,
                      uint32_t end, uint32_t first)
{
    wmi_shadow_restart(shadow, frame);
    make_undefined(shadow, 4 * set_sgprs, 4 * WMI_S_VCC, first);
    make_undefined(shadow, shadow->layout->vgprs + set_vgprs * 4 * shadow->lanes, end, first);
}

void wmi_shadow_place_name(unsigned place, unsigned vgprs, char *text, size_t size)
{
    const bool scalar = place < WMI_SHADOW_SCALARS;
    const unsigned row = scalar ? 0 : place - WMI_SHADOW_SCALARS;
    wmi_register_name(scalar        ? place
                      : row < vgprs ? WMI_REGISTER_VGPR + row
                                    : WMI_REGISTER_AGPR + row - vgprs,
                      text, size);
}

void wmi_shadow_settle_word(struct wmi_shadow *shadow, const char *frame, unsigned word)
{
    memcpy(shadow->frame + 4 * word, frame + 4 * word, 4);
}

/* Copies the words of the lanes. */
static void copy_lanes(struct wmi_shadow *shadow, const char *frame, uint32_t offset, uint64_t lanes)
{
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t at = offset + 4 * (uint32_t)__builtin_ctzll(lanes);
        memcpy(shadow->frame + at, frame + at, 4);
    }
}

static void copy_span(struct wmi_shadow *shadow, const char *frame, const struct wmi_span_of_registers *span,
                      uint64_t lanes)
{
    for (unsigned reg = span->first; reg < span->first + span->count; reg++) {
        bool vector;
        const uint32_t offset = offset_of(shadow, reg, &vector);
        if (!vector)
            memcpy(shadow->frame + offset, frame + offset, 4);
        else if (offset)
            copy_lanes(shadow, frame, offset, lanes);
    }
}

void wmi_shadow_settle(struct wmi_shadow *shadow, const char *frame, const struct wmi_span_of_registers *span)
{
    copy_span(shadow, frame, span, UINT64_MAX >> (64 - shadow->lanes));
}

bool wmi_shadow_load(struct wmi_shadow *shadow, uint32_t offset, uint32_t difference, uint32_t origin)
{
    if (shadow->loads == shadow->room) {
        const size_t room = shadow->room ? 2 * shadow->room : 64;
        struct wmi_shadow_load *load = realloc(shadow->load, room * sizeof *load);
        if (!load)
            return false;
        shadow->load = load;
        shadow->room = room;
    }
    shadow->load[shadow->loads++] = (struct wmi_shadow_load){offset, difference, origin};
    return true;
}

static void take_results(struct wmi_shadow *shadow, const char *frame)
{
    const struct wmi_shadow_instruction *insn = shadow->last;
    for (unsigned i = 0; i < insn->spans; i++)
        if (insn->span[i].written)
            copy_span(shadow, frame, &insn->span[i], shadow->exec);
    wmi_shadow_settle_word(shadow, frame, WMI_S_SCC);
    for (size_t i = 0; i < shadow->loads; i++) {
        const struct wmi_shadow_load *load = &shadow->load[i];
        const uint32_t value = word_at(frame, load->offset) ^ load->difference;
        memcpy(shadow->frame + load->offset, &value, sizeof value);
        shadow->origin[place_of(shadow, load->offset)] = shadow->latest = load->origin;
    }
    shadow->loads = 0;
}

/* Sets the origins of results that differ. */
static void trace_results(struct wmi_shadow *shadow, const char *frame)
{
    const struct wmi_shadow_instruction *insn = shadow->last;
    for (unsigned i = 0; shadow->source && i < insn->spans; i++) {
        const struct wmi_span_of_registers *span = &insn->span[i];
        for (unsigned reg = span->first; span->written && reg < span->first + span->count; reg++) {
            bool vector;
            const uint32_t offset = offset_of(shadow, reg, &vector);
            if (vector ? offset && differing_lanes(shadow, frame, offset)
                       : wmi_shadow_word(shadow, frame, offset))
                shadow->origin[place_of(shadow, offset)] = shadow->source;
        }
    }
    if (shadow->source && wmi_shadow_word(shadow, frame, 4 * WMI_S_SCC))
        shadow->origin[WMI_S_SCC] = shadow->source;
}

void wmi_shadow_follow(struct wmi_shadow *shadow, const char *frame)
{
    restore_compared(shadow);
    if (shadow->last && shadow->last->computes)
        trace_results(shadow, frame);
    else if (shadow->last)
        take_results(shadow, frame);
}

void wmi_shadow_settle_state(struct wmi_shadow *shadow, const char *frame)
{
    struct wmi_frame *own = (struct wmi_frame *)shadow->frame;
    const struct wmi_frame *wave = (const struct wmi_frame *)frame;
    shadow->last = NULL;
    wmi_shadow_settle_word(shadow, frame, WMI_S_EXEC);
    wmi_shadow_settle_word(shadow, frame, WMI_S_EXEC + 1);
    own->mode = wave->mode;
    own->mxcsr32 = wave->mxcsr32;
    own->mxcsr64 = wave->mxcsr64;
    if (own->exec.bits != wave->exec.bits)
        own->exec = wave->exec;
}

void wmi_shadow_precede(struct wmi_shadow *shadow, const char *frame,
                        const struct wmi_shadow_instruction *insn)
{
    shadow->last = insn;
    shadow->exec = ((const struct wmi_frame *)frame)->exec.bits;
    shadow->source = 0;
    shadow->executed++;
    for (unsigned i = 0; i < insn->spans && !shadow->source; i++)
        if (insn->span[i].read)
            shadow->source = wmi_shadow_compare(shadow, frame, &insn->span[i], UINT64_MAX).origin;
    if (!shadow->source && wmi_rows[insn->id].flags & WMI_ROW_READS_SCC)
        shadow->source = wmi_shadow_compare_word(shadow, frame, WMI_S_SCC).origin;
    if (shadow->source && insn->comparison.words)
        choose_compared(shadow, frame);
}

bool wmi_shadow_differs(const struct wmi_shadow *shadow, const char *frame)
{
    return shadow->loads || memcmp(frame, shadow->frame, 4 * WMI_SHADOW_SCALARS) ||
           memcmp(frame + shadow->layout->vgprs, shadow->frame + shadow->layout->vgprs,
                  shadow->bytes - shadow->layout->vgprs);
}
