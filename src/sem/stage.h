/* SPDX-License-Identifier: MIT */
/* Modifier stages: the steps that lowering inserts before and after a vector body to apply an instruction's
 * modifiers.
 *
 * A stage has the signature of a body. "Row d" is the row at byte offset op->d; a 64-bit operand is two rows,
 * low then high. d may equal a except where noted. Stages that prepare a source write all lanes of row d, a
 * temporary; stages that finish a result write only the lanes in op->lanes.
 *
 * Order for a source: broadcast, then DPP or SDWA or op_sel, then neg/abs. For a result with op_sel or an
 * SDWA destination: the body writes a temporary t; omod and clamp with d = a = t; then the destination's
 * stage from t to the register. Otherwise the body writes the register itself, and omod and clamp follow with
 * d = a = register.
 *
 * Operands of float bodies, where they are not d, a, b, c, e by the roles of the row:
 *
 * - v_madmk, v_madak: a and b are the register operands, c a row that holds the literal.
 * - v_mac_*: c = d.
 * - v_mad_mix*: a, b, c are f32 rows; before them one WMI_STAGE_WIDEN_F16 per operand with op_sel_hi, then
 *   WMI_STAGE_MODIFY_F32 for its neg and abs.
 * - v_mad_mixlo, v_mad_mixhi: write their half of d and keep the other; op->y bit 0 is
 *   clamp, done by the body.
 * - v_cmp_*: d is the offset of the mask in the scalar file. v_cmpx_* are these with EXEC as d, or followed
 * by a copy of the mask to EXEC; WMI_STAGE_EXEC follows.
 * - v_div_scale_*: e is the offset of the mask. v_div_fmas_*: VCC is read from its place in the scalar file.
 * - rows with an integer result (v_cvt_*, v_frexp_exp): op->y bit 0 is clamp; they saturate
 *   with or without it.
 *
 * Bodies with a 16-bit result write zeros into the high half. On gfx9, rows with VOP3_OPSEL keep it: they
 * write a temporary, followed by WMI_STAGE_OP_SEL_LOW or WMI_STAGE_OP_SEL_HIGH. Source: LLVM,
 * GCNSubtarget::zeroesHigh16BitsOfDest; Vega ISA, "VOP3 OPSEL". */
#ifndef WMI_STAGE_H
#define WMI_STAGE_H

#include "sem/sem.h"

enum wmi_stage {
    /* row d <- the scalar word at a. All lanes. */
    WMI_STAGE_BROADCAST,

    /* row d <- row a with abs, then neg. x: enum wmi_source_modifier. All lanes. */
    WMI_STAGE_MODIFY_F32,
    WMI_STAGE_MODIFY_F64, /* two rows */
    WMI_STAGE_MODIFY_F16, /* the low half; the high half becomes 0 */
    /* row d <- row a with abs, then neg of its halves. x bit 0: neg_lo, bit 1: neg_hi, bits 2 and 3: abs. All
     * lanes. */
    WMI_STAGE_MODIFY_V2F16,

    /* row d <- { low: the half of a selected by x bit 0, high: the half selected by x bit 1 }. All lanes.
     * x = 2 is the identity: op_sel:0, op_sel_hi:1. */
    WMI_STAGE_PACK_SELECT,
    /* row d <- the high half of a, zero-extended: op_sel of a 16-bit source. */
    WMI_STAGE_HIGH_HALF,
    /* row d <- f32 of the f16 in the low (x = 0) or high (x = 1) half of a: mixed precision sources. All
     * lanes. f16 denormals are flushed according to MODE. */
    WMI_STAGE_WIDEN_F16,
    /* the low (high) half of row d <- the low half of row a; keeps the other half of d. In op->lanes. */
    WMI_STAGE_OP_SEL_LOW,
    WMI_STAGE_OP_SEL_HIGH,

    /* row d <- for each lane, the lane of row a selected by DPP. x: wmi_dpp_control(). Also writes the lane
     * set at e, which replaces op->lanes in the body and all later steps: the lanes of op->lanes that
     * row_mask and bank_mask enable and that have a source, or bound_ctrl set. Lanes outside op->lanes are
     * not sources unless WMI_DPP_FETCH_INACTIVE is set. d must not be a. Source: Vega ISA, "DPP"; LLVM,
     * AMDGPUUsage and SIDefines.h, DPP::DppCtrl. */
    WMI_STAGE_DPP,

    /* The same for DPP8: in each group of 8 lanes, lane i reads the lane given by bits 3i to 3i + 2 of x. x
     * bit 24: WMI_DPP8_FETCH_INACTIVE. A lane whose source is inactive reads 0. */
    WMI_STAGE_DPP8,
    /* the word at d <- lane 0 of row a. */
    WMI_STAGE_FIRST_LANE,

    /* row d <- the part of row a selected by x: SDWA sel (0-3 byte, 4-5 word, 6 dword), bit 3: sign-extended.
     * All lanes. */
    WMI_STAGE_SDWA_SOURCE,
    /* the part of row d selected by x bits 0-2 <- the low bits of row a, in op->lanes.
     * x bits 3-4: dst_unused, for the rest of d (0 zeros, 1 sign, 2 preserved). */
    WMI_STAGE_SDWA_RESULT,

    /* row d <- row a clamped to [0, 1]; a NaN becomes 0 when MODE.DX10_CLAMP is set. In op->lanes. */
    WMI_STAGE_CLAMP_F32,
    WMI_STAGE_CLAMP_F64,
    WMI_STAGE_CLAMP_F16, /* the low half; the high half becomes 0 */
    WMI_STAGE_CLAMP_V2F16,

    /* row d <- row a times 2, times 4, or halved: x = 1, 2, 3 as in the OMOD field, with WMI_OMOD_ALWAYS
     * whatever MODE says. In op->lanes. Only copies if MODE.IEEE is set or MODE allows denormal results. */
    WMI_STAGE_OMOD_F32,
    WMI_STAGE_OMOD_F64,
    WMI_STAGE_OMOD_F16, /* the high half becomes 0 */

    /* frame->exec <- s[126:127] (s[126] for 32 lanes): after an instruction that writes EXEC. */
    WMI_STAGE_EXEC,

    WMI_STAGES
};

/* x of the WMI_STAGE_MODIFY_* stages. */
enum { WMI_OMOD_ALWAYS = 4 };
enum wmi_source_modifier { WMI_MODIFY_NEG = 1, WMI_MODIFY_ABS = 2 };

/* x of WMI_STAGE_DPP, from the fields of the DPP dword: dpp_ctrl 9 bits, row_mask and bank_mask 4 bits each,
 * bound_ctrl as encoded (LLVM prints bound_ctrl:0 when it is set). */
static inline uint32_t wmi_dpp_control(uint32_t dpp_ctrl, uint32_t row_mask, uint32_t bank_mask,
                                       uint32_t bound_ctrl)
{
    return dpp_ctrl | bound_ctrl << 16 | bank_mask << 20 | row_mask << 24;
}

/* Added to wmi_dpp_control(): inactive lanes are sources, too. */
enum { WMI_DPP_FETCH_INACTIVE = 1 << 17, WMI_DPP8_FETCH_INACTIVE = 1 << 24 };

/* The stage for a CPU level and a wave size (32 or 64). Never NULL for a level of this build. */
wmi_body wmi_stage(enum wmi_cpu_level level, unsigned lanes, enum wmi_stage stage);

#endif
