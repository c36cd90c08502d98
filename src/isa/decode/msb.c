/* SPDX-License-Identifier: MIT */
/* VGPRs above v255. Source: CDNA 5 ISA, "Waves with up to 1024 VGPRs" and S_SET_VGPR_MSB, whose tables say
 * which two bits belong to which operand. */
#include "isa/decode/msb.h"
#include "isa/tables.h"

#include <stdlib.h>

/* Positions of the bits. */
enum { FIRST = 0, SECOND = 2, THIRD = 4, DESTINATION = 6, NONE = 8 };

static unsigned place_of(const struct wmi_row *row, const struct wmi_operand *operand)
{
    const bool alu = row->class == WMI_CLASS_VALU, buffer = row->class == WMI_CLASS_BUFFER,
               ds = row->class == WMI_CLASS_DS;
    switch (operand->role) {
    case WMI_ROLE_A:
    case WMI_ROLE_ADDR:
        return FIRST;
    case WMI_ROLE_B: /* the addend of v_fmamk is its third source */
        return row->group == WMI_GROUP_MADMK ? THIRD : SECOND;
    case WMI_ROLE_C: /* of v_fmac it is the destination */
        return operand->implied ? DESTINATION : THIRD;
    case WMI_ROLE_DATA: /* scales of a matrix product have none: "V_WMMA_LD_SCALE ignores VGPR-MSB" */
        return alu ? NONE : buffer ? DESTINATION : SECOND;
    case WMI_ROLE_DATA2: /* of DS; elsewhere an LDS address in the field of the result */
        return alu ? NONE : ds ? THIRD : DESTINATION;
    default:
        return DESTINATION;
    }
}

static void extend(const struct wmi_row *row, struct wmi_operand *operand, unsigned msb)
{
    const unsigned place = place_of(row, operand);
    if (operand->kind == WMI_OPERAND_VGPR && place != NONE)
        operand->reg = (uint16_t)(operand->reg | (msb >> place & 3) << 8);
}

void wmi_extend_vgprs(struct wmi_instruction *insn, unsigned msb)
{
    if (!msb || insn->id == WMI_INSN_v_wmma_ld_scale_paired_b32 ||
        insn->id == WMI_INSN_v_wmma_ld_scale16_paired_b64)
        return;
    for (unsigned i = 0; i < insn->operands; i++)
        extend(&wmi_rows[insn->id], &insn->operand[i], msb);
    for (unsigned i = 0; insn->second_id && i < insn->second_operands; i++)
        extend(&wmi_rows[insn->second_id], &insn->operand[insn->operands + i], msb);
}

/* ---- along control flow ---- */

/* Dwords that are still to be followed. */
struct work {
    size_t *at, count, room;
};

static bool push(struct work *work, size_t at)
{
    if (work->count == work->room) {
        const size_t room = work->room ? 2 * work->room : 64;
        size_t *larger = realloc(work->at, room * sizeof *larger);
        if (!larger)
            return false;
        work->at = larger;
        work->room = room;
    }
    work->at[work->count++] = at;
    return true;
}

/* Merges what is known at a dword with what now arrives there. Returns whether that has changed. */
static bool arrive(uint16_t *state, unsigned msb)
{
    if (*state == msb || *state == WMI_MSB_DIFFERENT)
        return false;
    *state = (uint16_t)(*state == WMI_MSB_UNREACHED ? msb : WMI_MSB_DIFFERENT);
    return true;
}

/* Whether the instruction writes the bits in MODE, which it takes from a register or, rarely, a literal. */
static bool writes_mode(const struct wmi_instruction *insn)
{
    enum { MODE = 1, HIGHEST = 19 };
    if (insn->id != WMI_INSN_s_setreg_b32 && insn->id != WMI_INSN_s_setreg_imm32_b32)
        return false;
    const unsigned field = insn->words[0] & UINT16_MAX, low = field >> 6 & 31, bits = (field >> 11) + 1;
    return (field & 63) == MODE && low <= HIGHEST && low + bits > WMI_MODE_MSB_SHIFT;
}

static bool ends(const struct wmi_instruction *insn)
{
    switch (insn->id) {
    case WMI_INSN_s_branch:
    case WMI_INSN_s_setpc_b64:
    case WMI_INSN_s_endpgm:
    case WMI_INSN_s_endpgm_saved:
        return true;
    default:
        return false;
    }
}

static bool follow(const struct wmi_target *target, const uint32_t *words, size_t count, uint16_t *state,
                   struct work *work)
{
    struct wmi_instruction insn;
    bool good = true;
    while (work->count && good) {
        size_t at = work->at[--work->count];
        while (at < count && good) {
            const unsigned dwords = wmi_decode(target, words + at, count - at, &insn);
            unsigned msb = state[at];
            if (!dwords)
                break;
            at += dwords;
            for (unsigned i = 0; i < insn.operands; i++) {
                const int64_t to = (int64_t)at + (int64_t)insn.operand[i].value;
                if (insn.operand[i].kind == WMI_OPERAND_LABEL && to >= 0 && (uint64_t)to < count &&
                    arrive(&state[to], msb))
                    good &= push(work, (size_t)to);
            }
            if (insn.id == WMI_INSN_s_set_vgpr_msb)
                msb = insn.words[0] & UINT8_MAX;
            else if (writes_mode(&insn))
                msb = WMI_MSB_DIFFERENT;
            if (ends(&insn) || at >= count || !arrive(&state[at], msb))
                break;
        }
    }
    return good;
}

bool wmi_follow_msb(const struct wmi_target *target, const uint32_t *words, size_t count, size_t first,
                    uint16_t *state)
{
    struct work work = {0};
    const bool good = first >= count || !arrive(&state[first], 0) ||
                      (push(&work, first) && follow(target, words, count, state, &work));
    free(work.at);
    return good;
}
