/* SPDX-License-Identifier: MIT */
/* MFMA and SMFMAC as one step: d, a, b, c are the rows of the operands, e and x those of the scales of A and
 * B, `value` is struct wmi_matrix_use. */
#ifndef WMI_MATRIX_H
#define WMI_MATRIX_H

#include <stdint.h>
#include <string.h>

/* Arithmetic of a generation: the limit matrix_rules. */
enum wmi_matrix_rules {
    WMI_MATRIX_NONE,
    WMI_MATRIX_CDNA1, /* exact sums of a group and C, rounded once */
    WMI_MATRIX_CDNA2, /* f32 sums in pairs, denormals flushed */
    WMI_MATRIX_CDNA3, /* sums of a group cut at its largest exponent */
};

/* abid of f8f6f4: there are scales, and which bytes of their words. */
enum { WMI_MATRIX_SCALED = 1, WMI_MATRIX_SCALE_A = 1 /* first bit */, WMI_MATRIX_SCALE_B = 3 };

struct wmi_matrix_use {
    uint8_t matrix;           /* index in wmi_matrices */
    uint8_t rules;            /* enum wmi_matrix_rules */
    uint8_t cbsz, abid, blgp; /* of f8f6f4: the format of A, WMI_MATRIX_SCALED, the format of B */
    uint8_t neg;              /* f64: signs of A, B, C */
    uint8_t ocp;              /* fp8 and bf8 are OCP's, else FNUZ */
    uint8_t constant;         /* C is a constant: one row, two for f64, that all registers use */
};

static inline uint64_t wmi_matrix_pack(struct wmi_matrix_use use)
{
    uint64_t value;
    _Static_assert(sizeof use == sizeof value, "it is the value of a step");
    memcpy(&value, &use, sizeof value);
    return value;
}

static inline struct wmi_matrix_use wmi_matrix_unpack(uint64_t value)
{
    struct wmi_matrix_use use;
    memcpy(&use, &value, sizeof use);
    return use;
}

#endif
