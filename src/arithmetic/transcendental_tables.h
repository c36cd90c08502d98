/* SPDX-License-Identifier: MIT */
/* The tables of the transcendental units of gfx11 and gfx12, by columns: see transcendental_units.h, which
 * computes with them, and jit/vector_transcendental.c, whose host code does. */
#ifndef WMI_TRANSCENDENTAL_TABLES_H
#define WMI_TRANSCENDENTAL_TABLES_H

#include <stdint.h>

/* Lookups load all 64 rows, also of functions that have fewer. Factors of the square have the scale 2^-23,
 * which makes the cut product's unit one. */
struct wmi_unit_table {
    int32_t c0[64];
    float c1[64], c2[64], c3[64];
} __attribute__((aligned(64)));
/* Added to a number below 2^-1, rounds it to a multiple of 2^-23. */
#define WMI_UNIT_MAGIC 1.5f

static const struct wmi_unit_table wmi_rcp_table = {
    .c0 =
        {
#define RCP(c0, c1, c2, c3) 8 * (c0),
#include "arithmetic/transcendental.def"
        },
    .c1 =
        {
#define RCP(c0, c1, c2, c3) (c1) * 0x1p-15f,
#include "arithmetic/transcendental.def"
        },
    .c2 =
        {
#define RCP(c0, c1, c2, c3) (c2) * 0x1p-15f + WMI_UNIT_MAGIC,
#include "arithmetic/transcendental.def"
        },
    .c3 =
        {
#define RCP(c0, c1, c2, c3) (c3) * 0x1p-35f,
#include "arithmetic/transcendental.def"
        },
};
static const struct wmi_unit_table wmi_rsq_table = {
    .c0 =
        {
#define RSQ(c0, c1, c2, c3) 16 * (c0),
#include "arithmetic/transcendental.def"
        },
    .c1 =
        {
#define RSQ(c0, c1, c2, c3) (c1) * 0x1p-15f,
#include "arithmetic/transcendental.def"
        },
    .c2 =
        {
#define RSQ(c0, c1, c2, c3) (c2) * 0x1p-14f + WMI_UNIT_MAGIC,
#include "arithmetic/transcendental.def"
        },
    .c3 =
        {
#define RSQ(c0, c1, c2, c3) (c3) * 0x1p-34f,
#include "arithmetic/transcendental.def"
        },
};
static const struct wmi_unit_table wmi_sqrt_table = {
    .c0 =
        {
#define SQRT(c0, c1, c2, c3) 16 * (c0) + (1 << 29),
#include "arithmetic/transcendental.def"
        },
    .c1 =
        {
#define SQRT(c0, c1, c2, c3) (c1) * 0x1p-17f,
#include "arithmetic/transcendental.def"
        },
    .c2 =
        {
#define SQRT(c0, c1, c2, c3) (c2) * 0x1p-15f + WMI_UNIT_MAGIC,
#include "arithmetic/transcendental.def"
        },
    .c3 =
        {
#define SQRT(c0, c1, c2, c3) (c3) * 0x1p-34f,
#include "arithmetic/transcendental.def"
        },
};
#define WMI_UNIT_EXP_BIAS 0x1p-4f /* brings c2 to 24 bits */
static const struct wmi_unit_table wmi_exp_table = {
    .c0 =
        {
#define EXP(c0, c1, c2, c3) c0,
#include "arithmetic/transcendental.def"
        },
    .c1 =
        {
#define EXP(c0, c1, c2, c3) (c1) * 0x1p-24f,
#include "arithmetic/transcendental.def"
        },
    .c2 =
        {
#define EXP(c0, c1, c2, c3) (c2) * 0x1p-23f + WMI_UNIT_EXP_BIAS,
#include "arithmetic/transcendental.def"
        },
    .c3 =
        {
#define EXP(c0, c1, c2, c3) (c3) * 0x1p-36f,
#include "arithmetic/transcendental.def"
        },
};
static const struct wmi_unit_table wmi_log_table = {
    .c0 =
        {
#define LOG(c0, c1, c2, c3) c0,
#include "arithmetic/transcendental.def"
        },
    .c1 =
        {
#define LOG(c0, c1, c2, c3) (c1) * 0x1p-16f,
#include "arithmetic/transcendental.def"
        },
    .c2 =
        {
#define LOG(c0, c1, c2, c3) (c2) * 0x1p-23f,
#include "arithmetic/transcendental.def"
        },
    .c3 =
        {
#define LOG(c0, c1, c2, c3) (c3) * 0x1p-45f,
#include "arithmetic/transcendental.def"
        },
};
#define WMI_UNIT_TWO_PI (0xc90fd5 * 0x1p-21f) /* rounded down */
/* An eighth of a turn in 16 rows, of the sine and then the cosine; the value and its change in this row, each
 * in units of 2^-26. */
static const struct wmi_unit_table wmi_sin_table = {
    .c0 =
        {
#define SIN(c0, c1, c2, c3) c0,
#define COS(c0, c1, c2, c3) c0,
#include "arithmetic/transcendental.def"
        },
    .c1 =
        {
#define SIN(c0, c1, c2, c3) c1,
#define COS(c0, c1, c2, c3) c1,
#include "arithmetic/transcendental.def"
        },
    .c2 =
        {
#define SIN(c0, c1, c2, c3) c2,
#define COS(c0, c1, c2, c3) c2,
#include "arithmetic/transcendental.def"
        },
    .c3 =
        {
#define SIN(c0, c1, c2, c3) c3,
#define COS(c0, c1, c2, c3) c3,
#include "arithmetic/transcendental.def"
        },
};

#endif
