/* SPDX-License-Identifier: MIT */
/* The shadow execution of a wave. A shadow is a copy of the wave's frame in which undefined values differ,
 * and it executes the same instructions. A register that differs depends on an undefined value; one that does
 * not differ is independent of it, whatever it was computed from. So no rules are needed for what
 * instructions do with undefined bits. */
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
    uint8_t words; /* words of each operand; 0: the instruction is no comparison */
    bool ordered;  /* compares by order; else for equality */
    bool is_signed, is_float;
    struct {
        uint16_t reg; /* WMI_REGISTER_COUNT: the operand is a constant */
        uint64_t constant;
    } side[2];
};

struct wmi_shadow_instruction {
    uint64_t pc;
    uint16_t id;
    struct wmi_shadow_comparison comparison;
    uint8_t spans;
    bool computes; /* its results depend on registers alone, and the shadow computes them, too */
    struct wmi_span_of_registers span[WMI_SPANS];
};

/* A word of the frame that is loaded from memory, and its difference (XOR) from the wave's. */
struct wmi_shadow_load {
    uint32_t offset, difference, origin;
};

struct wmi_shadow {
    struct wmi_shadow *next;
    char *frame;
    size_t bytes;
    unsigned lanes;
    const struct wmi_frame_layout *layout;
    const struct wmi_shadow_instruction
        *last;     /* last instruction that the shadow has executed; the wave may not have executed it yet */
    uint64_t exec; /* EXEC of that instruction */
    uint32_t latest; /* origin of the last loaded value */
    uint32_t source; /* origin of the undefined values that the instruction reads; 0: none */
    uint32_t executed;
    uint32_t origin[WMI_SHADOW_PLACES]; /* by place: scalar words, then rows */
    struct wmi_shadow_load *load;
    size_t loads, room;
    struct { /* words whose values are replaced until the comparison has been executed */
        uint32_t offset, value;
    } chosen[2 * 64];
    unsigned chosen_count;
};

/* The difference between a wave and its shadow in some registers. */
struct wmi_shadow_difference {
    uint32_t origin; /* origin of the value; 0: there is no difference */
    uint64_t lanes;  /* lanes that differ in vector registers; 0 for scalar registers */
};

/* Describes the comparison that the instruction makes. */
struct wmi_shadow_comparison wmi_shadow_comparison_of(const struct wmi_instruction *insn,
                                                      const struct wmi_span_of_registers *spans,
                                                      unsigned count);

/* Creates a shadow with a copy of the frame. NULL: no memory. */
struct wmi_shadow *wmi_shadow_create(const char *frame, const struct wmi_frame_layout *layout,
                                     unsigned lanes);
void wmi_shadow_destroy(struct wmi_shadow *shadow);
/* Starts the shadow of a starting wave. All registers differ, except set_sgprs SGPRs from s0 on, set_vgprs
 * VGPRs from v0 on, and registers with names, such as VCC. Vector registers end at byte offset `end` of the
 * frame. The origin of a register's value is `first` plus its place, which wmi_shadow_place_name() names. */
void wmi_shadow_start(struct wmi_shadow *shadow, const char *frame, uint32_t set_sgprs, uint32_t set_vgprs,
                      uint32_t end, uint32_t first);
void wmi_shadow_place_name(unsigned place, unsigned vgprs, char *text, size_t size);
/* Resets the shadow to a copy of the frame. */
void wmi_shadow_restart(struct wmi_shadow *shadow, const char *frame);
/* Called when the wave has executed shadow->last: copies results that the shadow cannot compute. */
void wmi_shadow_follow(struct wmi_shadow *shadow, const char *frame);
/* Called after wmi_shadow_follow(): copies the wave's EXEC and MODE. */
void wmi_shadow_settle_state(struct wmi_shadow *shadow, const char *frame);
/* Called when the shadow is about to execute the instruction. */
void wmi_shadow_precede(struct wmi_shadow *shadow, const char *frame,
                        const struct wmi_shadow_instruction *insn);
/* Adds a word of the frame that shadow->last loads with a difference. False: no memory. */
bool wmi_shadow_load(struct wmi_shadow *shadow, uint32_t offset, uint32_t difference, uint32_t origin);
/* Compares the registers of the span with the wave's; vector registers in the active lanes. */
struct wmi_shadow_difference wmi_shadow_compare(const struct wmi_shadow *shadow, const char *frame,
                                                const struct wmi_span_of_registers *span, uint64_t active);
/* Compares one scalar word of the frame. */
struct wmi_shadow_difference wmi_shadow_compare_word(const struct wmi_shadow *shadow, const char *frame,
                                                     unsigned word);
/* Copies the wave's registers of the span, or a scalar word, to the shadow. */
void wmi_shadow_settle(struct wmi_shadow *shadow, const char *frame,
                       const struct wmi_span_of_registers *span);
void wmi_shadow_settle_word(struct wmi_shadow *shadow, const char *frame, unsigned word);
/* The difference (XOR) of the word at a byte offset of the frame. */
uint32_t wmi_shadow_word(const struct wmi_shadow *shadow, const char *frame, uint32_t offset);
/* The origin of that difference. */
uint32_t wmi_shadow_origin(const struct wmi_shadow *shadow, uint32_t offset);
/* Whether any register differs, or will after the current load. */
bool wmi_shadow_differs(const struct wmi_shadow *shadow, const char *frame);

#endif
