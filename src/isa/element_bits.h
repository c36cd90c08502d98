/* SPDX-License-Identifier: MIT */
/* Sizes of matrix elements. */
#ifndef WMI_ELEMENT_BITS_H
#define WMI_ELEMENT_BITS_H

#include "isa/isa.h"

/* element: enum wmi_matrix_element. */
static inline unsigned wmi_element_bits(unsigned element)
{
    static const uint8_t bits[] = {
        0,
#define ELEMENT(name, bits) bits,
#include "elements.def"
    };
    return bits[element];
}

#endif
