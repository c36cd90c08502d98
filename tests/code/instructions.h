/* SPDX-License-Identifier: MIT */
/* Generates every instruction that a target decodes, from the decoder's own tables, with chosen operands. */
#ifndef TESTS_INSTRUCTIONS_H
#define TESTS_INSTRUCTIONS_H

#include "isa/tables.h"

/* A row in one encoding, and the fixed bits of its words. */
struct form {
    const struct wmi_opcode_space *space;
    uint32_t opcode;
    uint16_t number; /* index in wmi_forms */
};

struct forms {
    struct form *form;
    size_t count;
};

/* All forms of the target, except second halves of pairs; the caller frees forms.form. */
struct forms all_forms(const struct wmi_target *target);

/* How to choose the value of an operand or a field. */
enum manner {
    MANNER_ORDINARY, /* distinct registers per role; immediates and modifiers with little effect */
    MANNER_LAST,     /* the last registers, the largest immediates, modifiers with all bits set */
    MANNER_SPECIAL,  /* scalars: special registers, constants, literals, null; immediates: the sign bit */
    MANNER_SAME,     /* one register for all operands */
    MANNER_ANY,      /* random, by draw() */
    MANNERS
};

/* Choice of operands. Addresses and resources are those in the ordinary registers of kernel.h. */
struct choice {
    enum manner address, data, field; /* for addresses and resources, other operands, and fields */
    unsigned vgprs;                   /* VGPRs of the kernel */
    uint32_t (*draw)(void *user);     /* random numbers */
    void *user;
};

/* Registers that hold addresses with MANNER_ORDINARY. */
enum {
    VGPR_ADDRESS = 0,  /* 64 bits */
    VGPR_OFFSET = 2,   /* 32 bits; coordinates in the registers after it */
    SGPR_ZERO = 12,    /* 0 */
    SGPR_ADDRESS = 16, /* 64 bits */
    SGPR_BUFFER = 20,  /* a V# */
    SGPR_IMAGE = 24,   /* a T# */
    SGPR_SAMPLER = 32, /* an S# */
};

/* Encodes an instruction. Returns its length in dwords; 0 if the choice is not valid on the target (another
 * call may draw another choice). */
unsigned make_words(const struct wmi_target *target, const struct form *form, const struct choice *choice,
                    uint32_t words[WMI_INSTRUCTION_DWORDS]);

#endif
