/* SPDX-License-Identifier: MIT */
/* The compiler's intermediate representation of a run of steps: instructions in static single assignment, in
 * the order of the steps.
 *
 * It has two sides. Scalars (W, D) are computed once for the wave; lanes (L, M) for some lanes at a time, in
 * a loop, after all scalars. So no scalar can depend on lanes, and no lane on another lane. The frame holds
 * all registers before and after. */
#ifndef WMI_IR_H
#define WMI_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wmi_ir_op {
#define OP(name, result, arguments) WMI_IR_##name,
#include "jit/ir/ir.def"
    WMI_IR_OPS
};

enum wmi_ir_type {
    WMI_IR_NONE = '-',
    WMI_IR_LANES = 'L',
    WMI_IR_MASK = 'M',
    WMI_IR_WORD = 'W',
    WMI_IR_DWORD = 'D'
};

enum {
    WMI_IR_ARGUMENTS = 5,
    WMI_IR_MOST = 2048, /* instructions */
    WMI_IR_NO_VALUE = 0xffff,
};

struct wmi_ir_insn {
    uint8_t op;                          /* enum wmi_ir_op */
    uint8_t type;                        /* enum wmi_ir_type: that of the operation */
    bool dead;                           /* nothing uses it: it has no effect */
    uint16_t argument[WMI_IR_ARGUMENTS]; /* numbers of instructions */
    uint64_t immediate;
};

struct wmi_ir {
    struct wmi_ir_insn insn[WMI_IR_MOST];
    unsigned count;
    bool failed; /* it is too long, or its types do not fit */
};

struct wmi_ir_facts {
    const char *name, *result, *arguments;
};
struct wmi_ir_facts wmi_ir_facts_of(enum wmi_ir_op op);
unsigned wmi_ir_arguments(enum wmi_ir_op op);
/* The type of its value; WMI_IR_NONE: it has none. */
enum wmi_ir_type wmi_ir_type_of(const struct wmi_ir_insn *insn);
/* The type that an argument must have. */
enum wmi_ir_type wmi_ir_argument_type(enum wmi_ir_op op, enum wmi_ir_type type, unsigned argument);
static inline bool wmi_ir_is_scalar(enum wmi_ir_type type)
{
    return type == WMI_IR_WORD || type == WMI_IR_DWORD;
}
/* Whether it is executed once for the wave, before the lanes. */
bool wmi_ir_is_once(const struct wmi_ir *ir, unsigned number);
bool wmi_ir_is_constant(const struct wmi_ir *ir, unsigned number, uint64_t *value);

/* Adds an instruction and returns its number, or that of an earlier one with this value. What can be computed
 * now is. Words become lanes where lanes are expected. */
unsigned wmi_ir_add(struct wmi_ir *ir, enum wmi_ir_op op, enum wmi_ir_type type, const uint16_t *arguments,
                    uint64_t immediate);
unsigned wmi_ir_constant(struct wmi_ir *ir, enum wmi_ir_type type, uint64_t value);
/* Marks what has no effect. */
void wmi_ir_sweep(struct wmi_ir *ir);

/* One line for each instruction that is not dead; returns the length as snprintf does. */
size_t wmi_ir_print(const struct wmi_ir *ir, char *text, size_t size);
/* Reads what wmi_ir_print() writes. NULL, or what is wrong with the line *line, from 1 on. Nothing is
 * computed or merged. */
const char *wmi_ir_parse(struct wmi_ir *ir, const char *text, unsigned *line);
/* NULL, or what is wrong with the instruction *number. */
const char *wmi_ir_verify(const struct wmi_ir *ir, unsigned *number);

#endif
