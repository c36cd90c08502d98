/* SPDX-License-Identifier: MIT */
/* The twin of a wave: a copy of its frame in which undefined values are others. It executes what the wave
 * executes. A register that differs depends on an undefined value; one that does not differ does not matter,
 * whatever it was computed from. Thus no rule is needed for what an instruction does with undefined bits. */
#ifndef WMI_TWIN_H
#define WMI_TWIN_H

#include "isa/rules/registers.h"
#include "memory/access.h"

enum {
    WMI_TWIN_SCALARS = 256, /* scalar words of a frame */
    WMI_TWIN_PLACES = WMI_TWIN_SCALARS + 512,
};

/* A comparison of 32 or 64 bits; in the twin, an undefined operand has the value that changes the result. */
struct wmi_twin_comparison {
    uint8_t words; /* of each operand; 0: it is none */
    bool ordered;  /* by size; else whether the operands are equal */
    bool is_signed, is_float;
    struct {
        uint16_t reg; /* WMI_REGISTER_COUNT: it is a constant */
        uint64_t constant;
    } side[2];
};

struct wmi_twin_instruction {
    uint64_t pc;
    uint16_t id;
    struct wmi_twin_comparison comparison;
    uint8_t spans;
    bool computes; /* its results are computed from registers alone, by the twin as well */
    struct wmi_span_of_registers span[WMI_SPANS];
};

/* By how much a word of the frame that is loaded from memory differs. */
struct wmi_twin_load {
    uint32_t offset, difference, origin;
};

struct wmi_twin {
    struct wmi_twin *next;
    char *frame;
    size_t bytes;
    unsigned lanes;
    const struct wmi_frame_layout *layout;
    const struct wmi_twin_instruction *last; /* that it has executed, and the wave perhaps not */
    uint64_t exec;                           /* of that instruction */
    uint32_t latest;                         /* origin of what it loaded last */
    uint32_t source;                         /* origin of the undefined values that it reads; 0: none */
    uint32_t executed;
    uint32_t origin[WMI_TWIN_PLACES]; /* of scalar words and rows */
    struct wmi_twin_load *load;
    size_t loads, room;
    struct { /* words that have other values until the comparison has been executed */
        uint32_t offset, value;
    } chosen[2 * 64];
    unsigned chosen_count;
};

/* What differs. */
struct wmi_twin_difference {
    uint32_t origin; /* 0: nothing */
    uint64_t lanes;  /* of vector registers; 0: scalar ones */
};

/* What the instruction compares. */
struct wmi_twin_comparison wmi_twin_comparison_of(const struct wmi_instruction *insn,
                                                  const struct wmi_span_of_registers *spans, unsigned count);

/* A copy of the frame. NULL: no memory. */
struct wmi_twin *wmi_twin_create(const char *frame, const struct wmi_frame_layout *layout, unsigned lanes);
void wmi_twin_destroy(struct wmi_twin *twin);
/* A wave starts: in its twin, all registers have other values, except set_sgprs SGPRs from s0 on, set_vgprs
 * VGPRs from v0 on, and registers with names, such as VCC. Vector registers end at offset `end` of the frame.
 * The origin of a register's value is `first` plus its place, which wmi_twin_place_name() names. */
void wmi_twin_start(struct wmi_twin *twin, const char *frame, uint32_t set_sgprs, uint32_t set_vgprs,
                    uint32_t end, uint32_t first);
void wmi_twin_place_name(unsigned place, unsigned vgprs, char *text, size_t size);
/* Copies the frame again. */
void wmi_twin_restart(struct wmi_twin *twin, const char *frame);
/* The wave has executed twin->last: takes from its frame what the twin cannot compute. */
void wmi_twin_follow(struct wmi_twin *twin, const char *frame);
/* Then: lets EXEC and MODE be as the wave's. */
void wmi_twin_settle_state(struct wmi_twin *twin, const char *frame);
/* The twin is about to execute the instruction. */
void wmi_twin_precede(struct wmi_twin *twin, const char *frame, const struct wmi_twin_instruction *insn);
/* A word of the frame that twin->last loads will differ. False: no memory. */
bool wmi_twin_load(struct wmi_twin *twin, uint32_t offset, uint32_t difference, uint32_t origin);
/* Whether registers of the span differ: vector registers in the active lanes. */
struct wmi_twin_difference wmi_twin_compare(const struct wmi_twin *twin, const char *frame,
                                            const struct wmi_span_of_registers *span, uint64_t active);
/* The same of one scalar word of the frame. */
struct wmi_twin_difference wmi_twin_compare_word(const struct wmi_twin *twin, const char *frame,
                                                 unsigned word);
/* Lets the registers of the span, or a scalar word, be as the wave's. */
void wmi_twin_settle(struct wmi_twin *twin, const char *frame, const struct wmi_span_of_registers *span);
void wmi_twin_settle_word(struct wmi_twin *twin, const char *frame, unsigned word);
/* By how much the word at a byte offset of the frame differs. */
uint32_t wmi_twin_word(const struct wmi_twin *twin, const char *frame, uint32_t offset);
/* Where that comes from. */
uint32_t wmi_twin_origin(const struct wmi_twin *twin, uint32_t offset);
/* Whether any register differs, or is about to. */
bool wmi_twin_differs(const struct wmi_twin *twin, const char *frame);

#endif
