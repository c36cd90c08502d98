/* SPDX-License-Identifier: MIT */
/* How products tile: their rules, classes and swizzle modes.
 *
 * Source of the fields of GB_ADDR_CONFIG: AMD's register headers in linux (gc_9_0_sh_mask.h,
 * gc_10_1_0_sh_mask.h, gc_10_3_0_sh_mask.h, gc_11_0_0_sh_mask.h). The file `equations` has the others. */
#include "memory/tiling/tiling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { GCN_LINEAR = 8 }; /* gfx6 to gfx8: the GB_TILE_MODE that Linux sets to LINEAR_ALIGNED */

/* In the order of the limit `tiling`. */
static const struct wmi_tiling_rules rules_table[] = {
    {.linear = GCN_LINEAR, .indexed = true, .pitch_bytes = 256},
    {.linear = 0, .equations = 9, .chain = WMI_CHAIN_BESIDE, .pitch_bytes = 256},
    {.linear = 0,
     .equations = 10,
     .chain = WMI_CHAIN_SMALLEST_FIRST,
     .pitch_bytes = 256,
     .small_z_tail = true},
    {.linear = 0, .equations = 10, .chain = WMI_CHAIN_SMALLEST_FIRST, .pitch_bytes = 256}, /* gfx1010 */
    {.linear = 0,
     .equations = 103,
     .chain = WMI_CHAIN_SMALLEST_FIRST,
     .pitch_bytes = 256,
     .small_z_tail = true},
    {.linear = 0,
     .equations = 11,
     .chain = WMI_CHAIN_SMALLEST_FIRST,
     .pitch_bytes = 256,
     .small_z_tail = true},
    {.linear = 0, .equations = 12, .chain = WMI_CHAIN_SMALLEST_FIRST, .pitch_bytes = 128, .level_bytes = 256},
};

const struct wmi_tiling_rules *wmi_tiling_rules(const struct wmi_tiling *tiling)
{
    return &rules_table[tiling->rules];
}

/* The classes, in the order of the bits of wmi_equation.classes. */
static const struct {
    uint8_t equations, pipes, second; /* second: log2 of banks (gfx9) or packers */
    const char *name;
} classes[] = {
#define WMI_CLASS(equations, pipes, second, name) {equations, pipes, second, name},
#include "tiling_equations.def"
};

static int8_t class_of(unsigned equations, uint32_t config)
{
    unsigned pipes = config & 7, second = 0;
    if (equations == 9) {
        pipes += config >> 19 & 3;
        second = config >> 12 & 7;
    } else if (equations == 103 || equations == 11) {
        second = config >> 8 & 7;
    } else if (equations == 12) {
        pipes = 0;
    }
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].equations == equations && classes[i].pipes == pipes && classes[i].second == second)
            return (int8_t)i;
    return -1;
}

struct wmi_tiling wmi_tiling_of(unsigned rules, uint32_t address_config, uint32_t chip)
{
    struct wmi_tiling tiling = {.rules = (uint8_t)rules, .product = -1};
    if (rules_table[rules].indexed)
        tiling.tables = wmi_tile_tables(chip);
    else
        tiling.product = class_of(rules_table[rules].equations, address_config);
    return tiling;
}

const char *wmi_tiling_class(const struct wmi_tiling *tiling)
{
    if (tiling->tables)
        return wmi_tile_tables_name(tiling->tables);
    return tiling->product < 0 ? "" : classes[tiling->product].name;
}

bool wmi_tiling_indexed(const struct wmi_tiling *tiling)
{
    return rules_table[tiling->rules].indexed;
}

unsigned wmi_tiling_linear(const struct wmi_tiling *tiling)
{
    return rules_table[tiling->rules].linear;
}

/* ---- equations ---- */

static const uint64_t terms_0[][8] = {
#define WMI_TERMS_0(...) {__VA_ARGS__},
#include "tiling_equations.def"
};
static const uint64_t terms_1[][4] = {
#define WMI_TERMS_1(...) {__VA_ARGS__},
#include "tiling_equations.def"
};
static const uint64_t terms_2[][4] = {
#define WMI_TERMS_2(...) {__VA_ARGS__},
#include "tiling_equations.def"
};
static const uint64_t terms_3[][2] = {
#define WMI_TERMS_3(...) {__VA_ARGS__},
#include "tiling_equations.def"
};

/* Sorted by mode, element and samples. */
static const struct wmi_equation equations[] = {
#define WMI_EQUATION(mode, name, dimensions, element, samples, width, height, depth, bits, xor_mask,         \
                     classes, a, b, c, d)                                                                    \
    {name, mode, dimensions, element, samples, {width, height, depth}, bits, xor_mask, {a, b, c, d}, classes},
#include "tiling_equations.def"
};

enum { EQUATIONS = sizeof equations / sizeof *equations };

const struct wmi_equation *wmi_equations(size_t *count)
{
    *count = EQUATIONS;
    return equations;
}

struct wmi_term wmi_equation_term(const struct wmi_equation *equation, unsigned bit)
{
    const uint16_t *group = equation->group;
    const uint64_t term = bit < 8    ? terms_0[group[0]][bit]
                          : bit < 12 ? terms_1[group[1]][bit - 8]
                          : bit < 16 ? terms_2[group[2]][bit - 12]
                                     : terms_3[group[3]][bit - 16];
    return (struct wmi_term){(uint16_t)term, (uint16_t)(term >> 16), (uint16_t)(term >> 32),
                             (uint16_t)(term >> 48)};
}

static unsigned key(unsigned mode, unsigned element, unsigned samples)
{
    return mode << 8 | element << 4 | samples;
}

const struct wmi_equation *wmi_equation_find(const struct wmi_tiling *tiling, unsigned mode,
                                             unsigned dimensions, unsigned element, unsigned samples)
{
    const unsigned wanted = key(mode, element, samples);
    size_t from = 0, to = EQUATIONS;
    if (tiling->product < 0)
        return NULL;
    while (from < to) {
        const size_t middle = (from + to) / 2;
        const struct wmi_equation *e = &equations[middle];
        if (key(e->mode, e->element, e->samples) < wanted)
            from = middle + 1;
        else
            to = middle;
    }
    /* A 1D image has the equation of a 2D image with y = 0. */
    const unsigned bit = dimensions == 3 ? 4 : 2;
    for (; from < EQUATIONS; from++) {
        const struct wmi_equation *e = &equations[from];
        if (key(e->mode, e->element, e->samples) != wanted)
            return NULL;
        if (e->classes >> tiling->product & 1 && e->dimensions & bit)
            return e;
    }
    return NULL;
}

/* ---- names ---- */

bool wmi_tiling_for_depth(const struct wmi_tiling *tiling, unsigned mode)
{
    char name[WMI_TILING_NAME];
    wmi_tiling_mode_name(tiling, mode, name);
    return strstr(name, "_Z") || strstr(name, " depth");
}

void wmi_tiling_mode_name(const struct wmi_tiling *tiling, unsigned mode, char name[WMI_TILING_NAME])
{
    name[0] = '\0';
    if (rules_table[tiling->rules].indexed) {
        wmi_tile_mode_name(tiling->tables, mode, name);
        return;
    }
    if (mode == rules_table[tiling->rules].linear)
        snprintf(name, WMI_TILING_NAME, "linear");
    for (size_t i = 0; tiling->product >= 0 && i < EQUATIONS; i++)
        if (equations[i].mode == mode && equations[i].classes >> tiling->product & 1) {
            snprintf(name, WMI_TILING_NAME, "%s", equations[i].name);
            return;
        }
}

bool wmi_tiling_mode_find(const struct wmi_tiling *tiling, const char *name, unsigned *mode)
{
    enum { MODES = 32 };
    char *end;
    const unsigned long number = strtoul(name, &end, 10);
    if (!strcasecmp(name, "linear")) {
        *mode = rules_table[tiling->rules].linear;
        return true;
    }
    for (unsigned i = 0; i < MODES; i++) {
        char own[WMI_TILING_NAME];
        wmi_tiling_mode_name(tiling, i, own);
        if (own[0] && (*end == '\0' && end != name ? number == i : !strcasecmp(name, own))) {
            *mode = i;
            return true;
        }
    }
    return false;
}
