/* SPDX-License-Identifier: MIT */
/* Hazards of matrix instructions: their properties, and the required wait states.
 *
 * Source: LLVM, GCNHazardRecognizer.cpp (checkMAIHazards908, checkMAIHazards90A, checkMAIVALUHazards,
 * checkMAILdStHazards), and SISchedule.td for the passes. */
#include "isa/rules/hazards.h"

/* The limit matrix_hazards: from gfx908, gfx90a, gfx940 and gfx950 on. */
enum rules { NONE, SPLIT, UNIFIED, XDL, XDL_LATER };

static enum rules rules_of(const struct wmi_target *target)
{
    return (enum rules)wmi_target_limit(target, WMI_LIMIT_matrix_hazards);
}

/* f8f6f4: one of A and B has 8 bits. Source: LLVM 22, PredIsF8_MFMA_SCALE. */
static bool has_bytes(const struct wmi_instruction *insn)
{
    return insn->field[WMI_FIELD_cbsz] < 2 || insn->field[WMI_FIELD_blgp] < 2;
}

/* Passes by matrix size; `deep`: large k, from gfx940 on. */
static unsigned passes_of(enum rules rules, const struct wmi_matrix *matrix,
                          const struct wmi_instruction *insn)
{
    const bool xf32 = matrix->a == WMI_ELEMENT_xf32;
    const bool deep = rules >= XDL && (matrix->k >= 8 || matrix->sparse || xf32);
    if (matrix->d == WMI_ELEMENT_f64)
        return matrix->m == 4 ? 4 : rules == XDL_LATER ? 16 : 8;
    if (matrix->a == WMI_ELEMENT_f8f6f4)
        return (matrix->m == 16 ? 4 : 8) * (has_bytes(insn) ? 2 : 1);
    return matrix->m == 4 ? 2 : matrix->m == 16 ? (deep ? 4 : 8) : deep ? 8 : 16;
}

struct wmi_matrix_facts wmi_matrix_facts_of(const struct wmi_target *target,
                                            const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const enum rules rules = rules_of(target);
    const struct wmi_matrix *matrix = rules == NONE ? NULL : wmi_matrix_of(insn->id);
    struct wmi_matrix_facts facts = {
        .sparse = matrix && matrix->sparse,
        .unified = rules != SPLIT,
        .dot = row->group == WMI_GROUP_DOT,
        .acc_read = rules == SPLIT && row->group == WMI_GROUP_ACC_READ,
        .acc_write = rules == SPLIT && row->group == WMI_GROUP_ACC_WRITE,
        .fma64 = row->group == WMI_GROUP_FMA64,
        .id = insn->id,
    };
    facts.mai = matrix || facts.acc_read || facts.acc_write;
    if (!matrix)
        return facts;
    facts.dgemm = matrix->d == WMI_ELEMENT_f64;
    facts.small = facts.dgemm && matrix->m == 4;
    facts.xdl = !facts.dgemm && (rules < XDL || matrix->a != WMI_ELEMENT_f32);
    facts.passes = (uint8_t)passes_of(rules, matrix, insn);
    return facts;
}

/* Before gfx940, wait states depend on three classes of passes: 2, 8 and 16. */
static unsigned by_passes(const struct wmi_matrix_facts *first, unsigned two, unsigned eight,
                          unsigned sixteen)
{
    return first->passes == 2 ? two : first->passes == 8 ? eight : sixteen;
}

static unsigned split_states(const struct wmi_matrix_facts *first, enum wmi_matrix_dependence use,
                             const struct wmi_matrix_facts *second, bool same)
{
    if (first->acc_read) /* the result is a VGPR */
        return use == WMI_MATRIX_MEMORY ? 2 : 0;
    if (first->acc_write)
        return use == WMI_MATRIX_ACC_C ? 1 : use == WMI_MATRIX_ACC_SOURCE ? 3 : 0;
    if (use == WMI_MATRIX_C_WRITTEN)
        return second->acc_write ? by_passes(first, 0, 5, 13) : 0;
    if (same || !second->mai)
        return 0; /* interlocked by hardware */
    if (use == WMI_MATRIX_WRITE)
        return second->acc_write ? by_passes(first, 1, 7, 15) : 0;
    if (second->acc_read)
        return by_passes(first, 4, 10, 18);
    return use == WMI_MATRIX_C ? 2 : 4;
}

/* The wait state that gfx950 needs in addition, from this number of passes on. */
static unsigned later(enum rules rules, const struct wmi_matrix_facts *first, unsigned passes)
{
    return rules == XDL_LATER && first->xdl && first->passes >= passes;
}

/* The result of a matrix instruction is C of the next. */
static unsigned c_states(enum rules rules, const struct wmi_matrix_facts *first,
                         const struct wmi_matrix_facts *second, bool same)
{
    if (rules < XDL && !second->dgemm && first->dgemm)
        return 0;
    if (same)
        return first->small && second->small ? 4 : rules >= XDL && first->passes == 2 ? 2 : 0;
    if (first->dgemm)
        return second->xdl ? 0 : first->small ? 4 : rules == XDL_LATER ? 17 : 9;
    if (rules >= XDL)
        return second->xdl && !first->xdl ? 0
                                          : first->passes + (first->xdl ? 1u : 0u) + later(rules, first, 2);
    return second->dgemm ? by_passes(first, 3, 9, 17) : by_passes(first, 2, 8, 16);
}

static unsigned unified_states(enum rules rules, const struct wmi_matrix_facts *first,
                               enum wmi_matrix_dependence use, const struct wmi_matrix_facts *second,
                               bool same)
{
    switch (use) {
    case WMI_MATRIX_C:
        return c_states(rules, first, second, same);
    case WMI_MATRIX_MEMORY:
        if (first->dgemm)
            return first->small ? 9 : 18;
        break;
    case WMI_MATRIX_C_WRITTEN:
        if (rules >= XDL && !first->xdl)
            return 0;
        return first->passes == 4 ? 3 : by_passes(first, 1, 7, 15);
    case WMI_MATRIX_ACC_SOURCE:
    case WMI_MATRIX_ACC_C:
        return 0;
    default:
        break;
    }
    if (first->dgemm)
        return first->small ? 6 : rules == XDL_LATER && use != WMI_MATRIX_WRITE ? 19 : 11;
    if (rules >= XDL)
        return first->passes + (first->xdl ? 3u : 2u) + later(rules, first, 4);
    return by_passes(first, 5, 11, 19);
}

unsigned wmi_matrix_states(const struct wmi_target *target, const struct wmi_matrix_facts *first,
                           enum wmi_matrix_dependence use, const struct wmi_matrix_facts *second, bool same)
{
    const enum rules rules = rules_of(target);
    return rules == NONE    ? 0
           : rules == SPLIT ? split_states(first, use, second, same)
                            : unified_states(rules, first, use, second, same);
}
