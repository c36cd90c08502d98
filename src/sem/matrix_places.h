/* SPDX-License-Identifier: MIT */
/* Where the elements of the matrices of MFMA, SMFMAC, WMMA and SWMMAC are in a wave's registers.
 *
 * The bodies have the same layouts in forms that suit their loops; tests/unit/sem/matrix_places.c holds them
 * together. Which element along k is called which does not matter to a product as long as A and B agree: the
 * names are those of AMD's matrix instruction calculator (ROCm/amd_matrix_instruction_calculator, CDNA 1 to
 * 3, RDNA 3 and 4). gfx950 and gfx12.5: CDNA 4 and 5 ISA.
 *
 * format: the element type of A and B that the modifiers of an f8f6f4 choose; other rows ignore it. */
#ifndef WMI_MATRIX_PLACES_H
#define WMI_MATRIX_PLACES_H

#include "isa/isa.h"

enum wmi_matrix_side { WMI_SIDE_A, WMI_SIDE_B, WMI_SIDE_C, WMI_SIDE_D };

/* Bits `bit` to `bit + bits - 1` of register `dword` of the operand, and of the next one, of this lane. */
struct wmi_matrix_place {
    uint8_t lane, dword, bit, bits;
};

/* The matrix's lines and columns: those of A are i and k, of B k and j, of C and D i and j. A sparse A has
 * the columns that are stored. False: the target has no such instruction, or no such format. */
bool wmi_matrix_extent(const struct wmi_target *target, unsigned id, enum wmi_matrix_side side,
                       unsigned format, unsigned extent[2]);
/* line and column are less than the extent, block than the matrix's blocks. */
struct wmi_matrix_place wmi_matrix_place(const struct wmi_target *target, unsigned id,
                                         enum wmi_matrix_side side, unsigned format, unsigned block,
                                         unsigned line, unsigned column);

#endif
