/* SPDX-License-Identifier: MIT */
#include "sem/matrix_places.h"
#include "isa/element_bits.h"

#include "isa/tables.h"
#include "sem/wmma.h"

enum { WAVE = 64, SIDE = 16 /* lines of WMMA */ };

static unsigned element_of(const struct wmi_matrix *m, enum wmi_matrix_side side, unsigned format)
{
    const bool is_factor = side == WMI_SIDE_A || side == WMI_SIDE_B;
    return is_factor && m->a == WMI_ELEMENT_f8f6f4             ? format
           : side == WMI_SIDE_A                                ? m->a
           : side == WMI_SIDE_B                                ? m->b
           : side == WMI_SIDE_C && m->d == WMI_ELEMENT_bf16f32 ? WMI_ELEMENT_f32
                                                               : m->d;
}

static struct wmi_matrix_place place_at(unsigned lane, unsigned slot, unsigned bits)
{
    return (struct wmi_matrix_place){.lane = (uint8_t)lane,
                                     .dword = (uint8_t)(slot * bits / 32),
                                     .bit = (uint8_t)(slot * bits % 32),
                                     .bits = (uint8_t)bits};
}

/* ---- MFMA and SMFMAC ---- */

/* Each group of lanes has `run` consecutive k, and if a lane has more of them, another run past those of all
 * groups. */
static struct wmi_matrix_place factor_place(unsigned k, unsigned run, unsigned groups, unsigned lanes,
                                            unsigned first_lane, unsigned bits)
{
    return place_at(k / run % groups * lanes + first_lane, k / (run * groups) * run + k % run, bits);
}

static struct wmi_matrix_place mfma_place(const struct wmi_matrix *m, enum wmi_matrix_side side,
                                          unsigned format, unsigned block, unsigned line, unsigned column)
{
    const unsigned bits = wmi_element_bits(element_of(m, side, format)), lanes = m->m * m->blocks;
    const unsigned own = m->m * m->k * m->blocks / WAVE; /* elements of B that a lane has */
    if (side == WMI_SIDE_A || side == WMI_SIDE_B) {
        const bool is_a = side == WMI_SIDE_A;
        unsigned run = own;
        if (m->sparse && own * wmi_element_bits(m->a) > 128) /* see sparse_places() of mfma_lanes.c */
            run = 128 / wmi_element_bits(m->a);
        if (m->a == WMI_ELEMENT_f8f6f4 && bits == 8) /* see read_formatted() there */
            run = 16;
        if (m->sparse && is_a)
            run /= 2;
        return factor_place(is_a ? column : line, run, WAVE / lanes, lanes,
                            block * m->m + (is_a ? line : column), bits);
    }
    if (m->m == 4 && bits == 32) /* each lane has a column of its own block */
        return place_at(4 * block + column, line, bits);
    if (bits == 64) /* f64: lines are distributed one by one */
        return place_at(WAVE / 4 * (line % 4) + block * m->m + column, line / 4, bits);
    const unsigned of_block = m->m * m->n / WAVE, groups = WAVE / m->n;
    return place_at(line / 4 % groups * m->n + column, block * of_block + line / 4 / groups * 4 + line % 4,
                    bits);
}

/* ---- WMMA and SWMMAC ---- */

/* Elements along k that a lane has in a row, see wmma_lanes.c. */
static unsigned run_of_cdna5(const struct wmi_matrix *m, bool is_a, unsigned bits)
{
    if (m->a == WMI_ELEMENT_f8f6f4 || m->a == WMI_ELEMENT_fp4)
        return bits == 8 ? 16 : 32;
    return m->a == WMI_ELEMENT_f32 ? 2 : !is_a && m->sparse ? 16 : 8;
}

/* Of matrices with 32 lines, the other 16 have eight registers of their own. */
static struct wmi_matrix_place in_half(struct wmi_matrix_place place, unsigned line)
{
    place.dword = (uint8_t)(place.dword + 8 * (line / SIDE));
    return place;
}

static struct wmi_matrix_place wmma_place(const struct wmi_target *target, const struct wmi_matrix *m,
                                          enum wmi_matrix_side side, unsigned format, unsigned line,
                                          unsigned column)
{
    const unsigned rules = wmi_target_limit(target, WMI_LIMIT_wmma_rules),
                   wave = wmi_target_limit(target, WMI_LIMIT_wave);
    const unsigned bits = wmi_element_bits(element_of(m, side, format));
    struct wmi_wmma_place at = {0, 0};
    if (side == WMI_SIDE_A || side == WMI_SIDE_B) {
        const bool is_a = side == WMI_SIDE_A;
        const unsigned k = is_a ? column : line, count = is_a && m->sparse ? m->k / 2u : m->k;
        if (rules == WMI_WMMA_RDNA4 && bits == 16)
            return factor_place(k, m->sparse && !is_a ? 8 : 4, wave / SIDE, SIDE, is_a ? line : column, bits);
        if (rules == WMI_WMMA_CDNA5)
            at = wmi_wmma125_factor(k, run_of_cdna5(m, is_a, bits));
        else if (rules == WMI_WMMA_RDNA4)
            at = wmi_wmma12_factor(wave, k, count, bits);
        else
            at.slot = (uint16_t)k;
        return in_half(place_at(at.lane + (is_a ? line : column) % SIDE, at.slot, bits), is_a ? line : 0);
    }
    if (rules == WMI_WMMA_RDNA3) {
        const unsigned lines = wave / SIDE; /* of a register, an element in each of which has 32 bits */
        at = (struct wmi_wmma_place){(uint16_t)(SIDE * (line % lines)),
                                     (uint16_t)(32 / bits * (line / lines))};
    } else {
        at = wmi_wmma12_result(wave, line % SIDE);
    }
    return in_half(place_at(at.lane + column, at.slot, bits), line);
}

/* ---- both ---- */

static bool is_wmma(const struct wmi_target *target)
{
    return wmi_target_limit(target, WMI_LIMIT_wmma_rules) != WMI_WMMA_NONE;
}

static bool is_format(unsigned element)
{
    return element == WMI_ELEMENT_fp8 || element == WMI_ELEMENT_bf8 || element == WMI_ELEMENT_fp6 ||
           element == WMI_ELEMENT_bf6 || element == WMI_ELEMENT_fp4;
}

bool wmi_matrix_extent(const struct wmi_target *target, unsigned id, enum wmi_matrix_side side,
                       unsigned format, unsigned extent[2])
{
    const struct wmi_matrix *m = wmi_matrix_of(id);
    const bool is_factor = side == WMI_SIDE_A || side == WMI_SIDE_B;
    if (!m || (m->a == WMI_ELEMENT_f8f6f4 && is_factor && !is_format(format)) ||
        !(is_wmma(target) || wmi_target_limit(target, WMI_LIMIT_matrix_rules)))
        return false;
    extent[0] = side == WMI_SIDE_B ? m->k : m->m;
    extent[1] = side != WMI_SIDE_A ? m->n : m->sparse ? m->k / 2u : m->k;
    return true;
}

struct wmi_matrix_place wmi_matrix_place(const struct wmi_target *target, unsigned id,
                                         enum wmi_matrix_side side, unsigned format, unsigned block,
                                         unsigned line, unsigned column)
{
    const struct wmi_matrix *m = wmi_matrix_of(id);
    return is_wmma(target) ? wmma_place(target, m, side, format, line, column)
                           : mfma_place(m, side, format, block, line, column);
}
