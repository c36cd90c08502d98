/* SPDX-License-Identifier: MIT */
/* Every instruction that a target decodes, made from the decoder's own tables with operands of one's choice.
 */
#ifndef TESTS_INSTRUCTIONS_H
#define TESTS_INSTRUCTIONS_H

#include "isa/tables.h"

/* A row in one encoding, and what its words have in common. */
struct form {
    const struct wmi_space *space;
    uint32_t opcode;
    uint16_t number; /* in wmi_forms */
};

struct forms {
    struct form *form;
    size_t count;
};

/* All forms of the target, without the second halves of pairs; the caller frees forms.form. */
struct forms all_forms(const struct wmi_target *target);

/* How the value of an operand or a field is found. */
enum manner {
    MANNER_ORDINARY, /* registers of their own for each role, immediates and modifiers that do nothing much */
    MANNER_LAST,     /* the last registers, the largest immediates, modifiers with all bits set */
    MANNER_SPECIAL,  /* scalars: special registers, constants, literals, null; immediates: the sign bit */
    MANNER_SAME,     /* one register for all operands */
    MANNER_ANY,      /* whatever draw() says */
    MANNERS
};

/* The choice of operands. Addresses and resources are those that the ordinary registers of code.h hold. */
struct choice {
    enum manner address, data, field; /* of addresses and resources, of other operands, and of fields */
    unsigned vgprs;                   /* that the kernel has */
    uint32_t (*draw)(void *user);     /* any number */
    void *user;
};

/* The registers that hold addresses where these are chosen in an ordinary manner. */
enum {
    VGPR_ADDRESS = 0,  /* 64 bits */
    VGPR_OFFSET = 2,   /* 32 bits, and coordinates in the registers behind it */
    SGPR_ZERO = 12,    /* 0 */
    SGPR_ADDRESS = 16, /* 64 bits */
    SGPR_BUFFER = 20,  /* a V# */
    SGPR_IMAGE = 24,   /* a T# */
    SGPR_SAMPLER = 32, /* an S# */
};

/* Makes the words of an instruction. Returns its length in dwords; 0: what was chosen is none of the target's
 * (asking again may draw something else). */
unsigned make_words(const struct wmi_target *target, const struct form *form, const struct choice *choice,
                    uint32_t words[WMI_INSTRUCTION_DWORDS]);

#endif
