/* SPDX-License-Identifier: MIT */
/* Types of the tables that isagen generates from isa/; internal to src/isa. */
#ifndef WMI_ISA_TABLES_H
#define WMI_ISA_TABLES_H

#include "isa/isa.h"
#include "isa_enums.h"

/* Position and kind of an operand of a form. Bit positions count from bit 0 of the first dword. */
struct wmi_spec {
    uint8_t kind, role, type, dwords;
    uint8_t pos, width;
    uint8_t neg, abs, sext, alt; /* bit positions of the source modifiers; 0: none */
    uint8_t flags;               /* WMI_SPEC_* */
};

enum { WMI_SPEC_READ = 1, WMI_SPEC_WRITTEN = 2, WMI_SPEC_IMPLIED = 4, WMI_SPEC_OPTIONAL = 8 };

struct wmi_field_spec {
    uint8_t field, show;
    uint8_t pos, width, pos2, width2;
    uint8_t is_signed;
};

struct wmi_instruction_layout {
    uint8_t id, dwords, extension, fields;
    uint16_t field; /* index of the first in wmi_field_specs */
};

/* A row in one encoding. */
struct wmi_form {
    uint16_t id, body, spec, zero, layout;
    uint8_t specs, name_length;
    uint16_t canonical; /* index in wmi_canonical */
    const char *name;   /* includes suffixes such as _e32 */
};

/* Opcode space: words whose `mask` bits equal `match` share one opcode field. */
struct wmi_opcode_space {
    uint64_t mask, match;             /* of the first two dwords */
    uint64_t later_mask, later_match; /* of the next two */
    uint8_t pos, width, pos2, width2;
    const uint16_t *forms; /* by opcode; 0: none */
};

/* Meaning of an operand code. */
struct wmi_operand_meaning {
    uint8_t kind, reg;
};

struct wmi_name {
    int32_t value;
    const char *text; /* "" ends a group */
};

/* The encodings of a mnemonic, in the order in which LLVM's assembler tries them. */
enum wmi_variant {
    WMI_VARIANT_PLAIN, /* _e32, and encodings without a suffix */
    WMI_VARIANT_E64,
    WMI_VARIANT_SDWA,
    WMI_VARIANT_DPP,
    WMI_VARIANT_E64_DPP,
    WMI_VARIANT_SECOND, /* the second half of a VOPD pair */
};

/* A form by its mnemonic without suffix. */
struct wmi_mnemonic {
    const char *name;
    uint16_t form, opcode;
    uint8_t space, variant;
};

struct wmi_target {
    const char *name;
    uint32_t mach;
    bool real_true16;                        /* LLVM's mode of this name */
    uint8_t node;                            /* its generation's number in isa/targets */
    const struct wmi_operand_meaning *codes; /* 256 */
    const struct wmi_opcode_space *spaces;
    const uint16_t *first;     /* upper nine bits of the word -> index in candidates */
    const uint8_t *candidates; /* lists of space numbers, each ended by 255 */
    uint8_t second[2];         /* spaces of the second half of a pair, in two and in three dwords, or 255 */
    uint32_t limits[WMI_LIMIT_COUNT];
    const struct wmi_name *names[WMI_NAMES_COUNT];
    const struct wmi_mnemonic *mnemonics; /* sorted by name, then variant */
    unsigned mnemonic_count;
};

extern const struct wmi_spec wmi_specs[];
extern const struct wmi_field_spec wmi_field_specs[];
extern const struct wmi_instruction_layout wmi_layouts[];
extern const struct wmi_form wmi_forms[];
extern const uint64_t wmi_zero_masks[];
extern const uint32_t wmi_canonical[][3]; /* ignored bits that the assembler sets */
/* The default variants of all targets, followed by the other variants (wmi_target_variant). */
extern const struct wmi_target wmi_targets[];
extern const unsigned wmi_target_count, wmi_target_variants;
/* The same in the same order, with texts as LLVM 22 writes them. */
extern const struct wmi_target wmi_targets_llvm22[];

/* The same target and text with or without LLVM's mode real-true16. */
const struct wmi_target *wmi_target_of_mode(const struct wmi_target *target, bool real_true16);

/* The form of the words on the target, or 0; `word` is the first two dwords, the first in the lower half, and
 * `later` the next two, 0 if there are none. */
unsigned wmi_find_form(const struct wmi_target *target, uint64_t word, uint64_t later);

/* The name of `value` in a name group of the target, or NULL. */
const char *wmi_name_of(const struct wmi_target *target, enum wmi_name_group group, int32_t value);

/* Two dwords that form one operand; inline constants are as for one dword. */
bool wmi_is_pair32(enum wmi_type type);

/* Whether op_sel chooses halves of VGPRs that the text names (LLVM's mode real-true16). */
bool wmi_is_true16_vop3(const struct wmi_target *target, const struct wmi_form *form);

/* The same if text names the halves of all 16-bit operands, and the assembler sets op_sel by them (LLVM 22).
 */
static inline bool wmi_names_all_halves(const struct wmi_target *target, const struct wmi_form *form)
{
    return target->limits[WMI_LIMIT_names_halves] && wmi_is_true16_vop3(target, form);
}

enum { WMI_OP_SEL = 11 }; /* the first bit of op_sel in VOP3 and VINTERP */

/* The bit of op_sel for an operand of VOP3 and VINTERP. */
unsigned wmi_op_sel_bit(const struct wmi_spec *spec);

/* Whether the form's layout has the field. */
bool wmi_form_has_field(const struct wmi_form *form, enum wmi_field field);

/* op_sel of VOP3 whose layout does not have it, which text has beside the halves that it chooses; NULL if the
 * layout has it or the text names no halves. */
const struct wmi_field_spec *wmi_op_sel_of_halves(const struct wmi_target *target,
                                                  const struct wmi_form *form);

/* Whether text names the modes FFT and ROTATE of ds_swizzle_b32. */
static inline bool wmi_names_swizzle_modes(const struct wmi_target *target)
{
    return target->limits[WMI_LIMIT_names_swizzles] && target->limits[WMI_LIMIT_swizzle_modes];
}

/* Number of items in the address list of an image instruction; 0: the address is one tuple. */
unsigned wmi_image_slots(const struct wmi_target *target, const struct wmi_instruction *insn);

extern const char *const wmi_special_names[WMI_SPECIAL_COUNT]; /* "vcc_lo" */

struct wmi_text; /* isa/text/put.h */

/* src/isa/text/print_special.c: immediates and modifiers with a syntax of their own. */
void wmi_print_immediate(struct wmi_text *text, const struct wmi_target *target,
                         const struct wmi_instruction *insn, const struct wmi_spec *spec,
                         const struct wmi_operand *operand);
void wmi_print_field(struct wmi_text *text, const struct wmi_target *target,
                     const struct wmi_instruction *insn, const struct wmi_field_spec *spec);

#endif
