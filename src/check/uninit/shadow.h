/* SPDX-License-Identifier: MIT */
/* The shadow of a wave: a copy of its frame in which undefined values are others. It executes what the wave
 * executes. A register that differs depends on an undefined value; one that does not differ does not matter,
 * whatever it was computed from. Thus no rule is needed for what an instruction does with undefined bits. */
#ifndef WMI_SHADOW_H
#define WMI_SHADOW_H

#include "isa/rules/registers.h"
#include "memory/access.h"

enum {
    WMI_SHADOW_SCALARS = 256, /* scalar words of a frame */
    WMI_SHADOW_PLACES = WMI_SHADOW_SCALARS + 512,
};

/* A comparison of 32 or 64 bits; in the shadow, an undefined operand has the value that changes the result.
 */
struct wmi_shadow_comparison {
    uint8_t words; /* of each operand; 0: it is none */
    bool ordered;  /* by size; else whether the operands are equal */
    bool is_signed, is_float;
    struct {
        uint16_t reg; /* WMI_REGISTER_COUNT: it is a constant */
        uint64_t constant;
    } side[2];
};

struct wmi_shadow_instruction {
    uint64_t pc;
    uint16_t id;
    struct wmi_shadow_comparison comparison;
    uint8_t spans;
    bool computes; /* its results are computed from registers alone, by the shadow as well */
    struct wmi_span_of_registers span[WMI_SPANS];
};

/* By how much a word of the frame that is loaded from memory differs. */
struct wmi_shadow_load {
    uint32_t offset, difference, origin;
};

struct wmi_shadow {
    struct wmi_shadow *next;
    char *frame;
    size_t bytes;
    unsigned lanes;
    const struct wmi_frame_layout *layout;
    const struct wmi_shadow_instruction *last; /* that it has executed, and the wave perhaps not */
    uint64_t exec;                             /* of that instruction */
    uint32_t latest;                           /* origin of what it loaded last */
    uint32_t source;                           /* origin of the undefined values that it reads; 0: none */
    uint32_t executed;
    uint32_t origin[WMI_SHADOW_PLACES]; /* of scalar words and rows */
    struct wmi_shadow_load *load;
    size_t loads, room;
    struct { /* words that have other values until the comparison has been executed */
        uint32_t offset, value;
    } chosen[2 * 64];
    unsigned chosen_count;
};

/* What differs. */
struct wmi_shadow_difference {
    uint32_t origin; /* 0: nothing */
    uint64_t lanes;  /* of vector registers; 0: scalar ones */
};

/* What the instruction compares. */
struct wmi_shadow_comparison wmi_shadow_comparison_of(const struct wmi_instruction *insn,
                                                      const struct wmi_span_of_registers *spans,
                                                      unsigned count);

/* A copy of the frame. NULL: no memory. */
struct wmi_shadow *wmi_shadow_create(const char *frame, const struct wmi_frame_layout *layout,
                                     unsigned lanes);
void wmi_shadow_destroy(struct wmi_shadow *shadow);
/* A wave starts: in its shadow, all registers have other values, except set_sgprs SGPRs from s0 on, set_vgprs
 * VGPRs from v0 on, and registers with names, such as VCC. Vector registers end at offset `end` of the frame.
 * The origin of a register's value is `first` plus its place, which wmi_shadow_place_name() names. */
void wmi_shadow_start(struct wmi_shadow *shadow, const char *frame, uint32_t set_sgprs, uint32_t set_vgprs,
                      uint32_t end, uint32_t first);
void wmi_shadow_place_name(unsigned place, unsigned vgprs, char *text, size_t size);
/* Copies the frame again. */
void wmi_shadow_restart(struct wmi_shadow *shadow, const char *frame);
/* The wave has executed shadow->last: takes from its frame what the shadow cannot compute. */
void wmi_shadow_follow(struct wmi_shadow *shadow, const char *frame);
/* Then: lets EXEC and MODE be as the wave's. */
void wmi_shadow_settle_state(struct wmi_shadow *shadow, const char *frame);
/* The shadow is about to execute the instruction. */
void wmi_shadow_precede(struct wmi_shadow *shadow, const char *frame,
                        const struct wmi_shadow_instruction *insn);
/* A word of the frame that shadow->last loads will differ. False: no memory. */
bool wmi_shadow_load(struct wmi_shadow *shadow, uint32_t offset, uint32_t difference, uint32_t origin);
/* Whether registers of the span differ: vector registers in the active lanes. */
struct wmi_shadow_difference wmi_shadow_compare(const struct wmi_shadow *shadow, const char *frame,
                                                const struct wmi_span_of_registers *span, uint64_t active);
/* The same of one scalar word of the frame. */
struct wmi_shadow_difference wmi_shadow_compare_word(const struct wmi_shadow *shadow, const char *frame,
                                                     unsigned word);
/* Lets the registers of the span, or a scalar word, be as the wave's. */
void wmi_shadow_settle(struct wmi_shadow *shadow, const char *frame,
                       const struct wmi_span_of_registers *span);
void wmi_shadow_settle_word(struct wmi_shadow *shadow, const char *frame, unsigned word);
/* By how much the word at a byte offset of the frame differs. */
uint32_t wmi_shadow_word(const struct wmi_shadow *shadow, const char *frame, uint32_t offset);
/* Where that comes from. */
uint32_t wmi_shadow_origin(const struct wmi_shadow *shadow, uint32_t offset);
/* Whether any register differs, or is about to. */
bool wmi_shadow_differs(const struct wmi_shadow *shadow, const char *frame);

#endif
