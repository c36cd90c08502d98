/* SPDX-License-Identifier: MIT */
/* WMMA and SWMMAC: what the step of one carries, and where the elements lie in the registers. */
#ifndef WMI_WMMA_H
#define WMI_WMMA_H

#include <stdint.h>

/* Limit wmma_rules: how a generation multiplies matrices. */
enum wmi_wmma_rules { WMI_WMMA_NONE, WMI_WMMA_RDNA3, WMI_WMMA_RDNA4, WMI_WMMA_CDNA5 };

/* `value` of the step: the instruction's id, and its rules from this bit on. e and x: the rows of the scales
 * of A and B. */
enum { WMI_WMMA_RULES_AT = 16 };

/* Values of one scale along k. */
enum wmi_wmma_block { WMI_WMMA_UNSCALED, WMI_WMMA_BLOCK_32, WMI_WMMA_BLOCK_16 };

/* Formats of scales, as encoded. */
enum wmi_wmma_scale { WMI_WMMA_E8M0, WMI_WMMA_SCALE_E5M3, WMI_WMMA_SCALE_E4M3 };

/* y of the step: modifiers, from these bits on. */
enum wmi_wmma_modifier {
    WMI_WMMA_CLAMP = 0,
    WMI_WMMA_OP_SEL = 1,
    WMI_WMMA_NEG_LO = 4,
    WMI_WMMA_NEG_HI = 7,
    WMI_WMMA_C_CONSTANT = 10, /* C is one row for all registers */
    WMI_WMMA_INDEX_KEY = 11,  /* of SWMMAC, whose c holds the indices; D is C, too */
    WMI_WMMA_A_FORMAT = 13,   /* of f8f6f4: 0 to 4 are fp8, bf8, fp6, bf6, fp4 */
    WMI_WMMA_B_FORMAT = 16,
    WMI_WMMA_A_SCALE_FORMAT = 19, /* enum wmi_wmma_scale */
    WMI_WMMA_B_SCALE_FORMAT = 21,
    WMI_WMMA_A_SCALE_HIGH = 23, /* the scales are in the upper lanes */
    WMI_WMMA_B_SCALE_HIGH = 24,
    WMI_WMMA_A_SCALE_BYTE = 25, /* there is one scale: the lowest byte */
    WMI_WMMA_B_SCALE_BYTE = 26,
    WMI_WMMA_BLOCK = 27, /* enum wmi_wmma_block */
};

/* Where 16 elements are: in that many lanes from `lane` on, each at `slot` among the lane's elements. */
struct wmi_wmma_place {
    uint16_t lane, slot;
};

/* gfx12: the elements with one k of the rows of A or the columns of B. count: the elements of a row; SWMMAC's
 * A has half as many as B. A lane with fewer than 32 bits of elements takes a whole register, so waves of 64
 * leave lanes 32 and up unused. Sources: bjacob/goc, RX 9070; ROCm/rocm-systems, emulation/rocjitsu, tests of
 * matrices of integers and of "fpsan" on gfx1201, of which those of goc differ in the names of k only. */
static inline struct wmi_wmma_place wmi_wmma12_factor(unsigned wave, unsigned k, unsigned count,
                                                      unsigned bits)
{
    const unsigned half = count / 2, shared = 16 * count / wave,
                   own = shared < 32 / bits ? 32 / bits : shared;
    return (struct wmi_wmma_place){(uint16_t)(16 * (k / half) + 32 * (k % half / own)), (uint16_t)(k % own)};
}

/* gfx12.5: `run` elements along k are in the lower half of the lanes, as many in the upper one. Source: CDNA
 * 5 ISA, "Matrix Element Storage in VGPRs", "16-bit Sparse Matrices" and the following. */
static inline struct wmi_wmma_place wmi_wmma125_factor(unsigned k, unsigned run)
{
    return (struct wmi_wmma_place){(uint16_t)(16 * (k / run % 2)), (uint16_t)(k / (2 * run) * run + k % run)};
}

/* gfx12: row i of C and D. Source: as above. */
static inline struct wmi_wmma_place wmi_wmma12_result(unsigned wave, unsigned i)
{
    if (wave == 64)
        return (struct wmi_wmma_place){(uint16_t)(16 * (i >> 3 & 1) + 32 * (i >> 2 & 1)), (uint16_t)(i % 4)};
    return (struct wmi_wmma_place){(uint16_t)(16 * (i / 8)), (uint16_t)(i % 8)};
}

#endif
