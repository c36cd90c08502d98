/* SPDX-License-Identifier: MIT */
/* WMMA: what the step of one carries, and where the elements lie in the registers. */
#ifndef WMI_WMMA_H
#define WMI_WMMA_H

#include <stdint.h>

/* Limit wmma_rules: how a generation multiplies matrices. */
enum wmi_wmma_rules { WMI_WMMA_NONE, WMI_WMMA_RDNA3, WMI_WMMA_RDNA4 };

/* x of the step: the instruction's id, and its rules from this bit on. */
enum { WMI_WMMA_RULES_AT = 16 };

/* y of the step: modifiers, from these bits on. */
enum wmi_wmma_modifier {
    WMI_WMMA_CLAMP = 0,
    WMI_WMMA_OP_SEL = 1,
    WMI_WMMA_NEG_LO = 4,
    WMI_WMMA_NEG_HI = 7,
    WMI_WMMA_C_CONSTANT = 10, /* C is one row for all registers */
};

/* Where an element is: its lane, and its number among the lane's elements. */
struct wmi_wmma_place {
    uint16_t lane, slot;
};

/* gfx12: element k of a row of A or a column of B, `i`. Waves of 64: K of 32 is unverified. Source:
 * bjacob/goc, RX 9070. */
static inline struct wmi_wmma_place wmi_wmma12_factor(unsigned wave, unsigned i, unsigned k)
{
    if (wave == 64)
        return (struct wmi_wmma_place){(uint16_t)(i + 16 * (k >> 2 & 1) + 32 * (k >> 3 & 1)),
                                       (uint16_t)(k % 4 + 4 * (k / 16))};
    return (struct wmi_wmma_place){(uint16_t)(i + 16 * (k / 8 % 2)), (uint16_t)(8 * (k / 16) + k % 8)};
}

/* gfx12: element (i, j) of C and D; the slot counts elements. Source: as above. */
static inline struct wmi_wmma_place wmi_wmma12_result(unsigned wave, unsigned i, unsigned j)
{
    if (wave == 64)
        return (struct wmi_wmma_place){(uint16_t)(j + 16 * (i >> 3 & 1) + 32 * (i >> 2 & 1)),
                                       (uint16_t)(i % 4)};
    return (struct wmi_wmma_place){(uint16_t)(16 * (i / 8) + j), (uint16_t)(i % 8)};
}

#endif
