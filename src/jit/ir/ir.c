/* SPDX-License-Identifier: MIT */
#include "jit/ir/ir.h"

#include <string.h>

static const struct wmi_ir_facts facts[WMI_IR_OPS] = {
#define OP(name, result, arguments) [WMI_IR_##name] = {#name, result, arguments},
#include "jit/ir/ir.def"
};

struct wmi_ir_facts wmi_ir_facts_of(enum wmi_ir_op op)
{
    return facts[op];
}

unsigned wmi_ir_arguments(enum wmi_ir_op op)
{
    return (unsigned)strcspn(facts[op].arguments, "/");
}

static enum wmi_ir_type type_for(char letter, enum wmi_ir_type type)
{
    switch (letter) {
    case 'T':
        return type;
    case 'B':
        return type == WMI_IR_LANES ? WMI_IR_MASK : WMI_IR_WORD;
    case 'C': /* of a shift */
        return type == WMI_IR_LANES ? WMI_IR_LANES : WMI_IR_WORD;
    default:
        return (enum wmi_ir_type)letter;
    }
}

enum wmi_ir_type wmi_ir_type_of(const struct wmi_ir_insn *insn)
{
    return type_for(*facts[insn->op].result, (enum wmi_ir_type)insn->type);
}

enum wmi_ir_type wmi_ir_argument_type(enum wmi_ir_op op, enum wmi_ir_type type, unsigned argument)
{
    return type_for(facts[op].arguments[argument], type);
}

bool wmi_ir_is_once(const struct wmi_ir *ir, unsigned number)
{
    const struct wmi_ir_insn *insn = &ir->insn[number];
    return insn->op == WMI_IR_splat || insn->op == WMI_IR_put || wmi_ir_is_scalar(wmi_ir_type_of(insn));
}

bool wmi_ir_is_constant(const struct wmi_ir *ir, unsigned number, uint64_t *value)
{
    const struct wmi_ir_insn *insn = &ir->insn[number];
    if (insn->op == WMI_IR_splat)
        insn = &ir->insn[insn->argument[0]];
    *value = insn->immediate;
    return insn->op == WMI_IR_const;
}

/* ---- what is known without executing it ---- */

static uint64_t truncated(enum wmi_ir_type type, uint64_t value)
{
    return type == WMI_IR_DWORD ? value : (uint32_t)value;
}

static bool compute(enum wmi_ir_op op, enum wmi_ir_type type, uint64_t a, uint64_t b, uint64_t *value)
{
    const unsigned count = b & (type == WMI_IR_DWORD ? 63 : 31);
    switch (op) {
    case WMI_IR_add:
        *value = truncated(type, a + b);
        return true;
    case WMI_IR_sub:
        *value = truncated(type, a - b);
        return true;
    case WMI_IR_mul:
        *value = truncated(type, a * b);
        return true;
    case WMI_IR_and:
        *value = a & b;
        return true;
    case WMI_IR_or:
        *value = a | b;
        return true;
    case WMI_IR_xor:
        *value = a ^ b;
        return true;
    case WMI_IR_not:
        *value = truncated(type, ~a);
        return true;
    case WMI_IR_shl:
        *value = truncated(type, a << count);
        return true;
    case WMI_IR_shr:
        *value = a >> count;
        return true;
    case WMI_IR_low:
        *value = (uint32_t)a;
        return true;
    default:
        return false;
    }
}

/* An argument that is the result, or -1. */
static int same_as(enum wmi_ir_op op, enum wmi_ir_type type, uint64_t b)
{
    const uint64_t ones = truncated(type, UINT64_MAX);
    const bool zero = b == 0, keeps = op == WMI_IR_add || op == WMI_IR_sub || op == WMI_IR_or ||
                                      op == WMI_IR_xor || op == WMI_IR_shl || op == WMI_IR_shr ||
                                      op == WMI_IR_sar;
    if ((keeps && zero) || (op == WMI_IR_and && b == ones) || (op == WMI_IR_mul && b == 1))
        return 0;
    return (op == WMI_IR_and || op == WMI_IR_mul) && zero ? 1 : -1;
}

/* The number of a value that the instruction need not compute, or WMI_IR_NO_VALUE. */
static unsigned fold(struct wmi_ir *ir, const struct wmi_ir_insn *insn)
{
    const enum wmi_ir_op op = (enum wmi_ir_op)insn->op;
    const enum wmi_ir_type type = (enum wmi_ir_type)insn->type;
    const unsigned arguments = wmi_ir_arguments(op);
    uint64_t a = 0, b = 0, value;
    if (type == WMI_IR_MASK || !arguments || arguments > 2)
        return WMI_IR_NO_VALUE;
    const bool has_a = wmi_ir_is_constant(ir, insn->argument[0], &a),
               has_b = arguments < 2 || wmi_ir_is_constant(ir, insn->argument[1], &b);
    if (has_a && has_b && compute(op, type, a, b, &value))
        return wmi_ir_constant(ir, type, value);
    if (arguments == 2 && has_b && same_as(op, type, b) >= 0)
        return insn->argument[same_as(op, type, b)];
    return WMI_IR_NO_VALUE;
}

static bool is_equal(const struct wmi_ir_insn *a, const struct wmi_ir_insn *b)
{
    return a->op == b->op && a->type == b->type && a->immediate == b->immediate &&
           !memcmp(a->argument, b->argument, sizeof a->argument);
}

/* Outputs have an effect, and inputs are read anew after one: their user remembers them. */
static bool may_be_merged(enum wmi_ir_op op)
{
    return *facts[op].result != '-' && op != WMI_IR_row && op != WMI_IR_load;
}

static unsigned append(struct wmi_ir *ir, const struct wmi_ir_insn *insn)
{
    if (may_be_merged((enum wmi_ir_op)insn->op))
        for (unsigned i = 0; i < ir->count; i++)
            if (is_equal(&ir->insn[i], insn))
                return i;
    if (ir->count == WMI_IR_MOST) {
        ir->failed = true;
        return 0;
    }
    ir->insn[ir->count] = *insn;
    return ir->count++;
}

unsigned wmi_ir_add(struct wmi_ir *ir, enum wmi_ir_op op, enum wmi_ir_type type, const uint16_t *arguments,
                    uint64_t immediate)
{
    struct wmi_ir_insn insn = {.op = (uint8_t)op, .type = (uint8_t)type, .immediate = immediate};
    memset(insn.argument, 0xff, sizeof insn.argument);
    for (unsigned i = 0; i < wmi_ir_arguments(op) && !ir->failed; i++) {
        const enum wmi_ir_type wanted = wmi_ir_argument_type(op, type, i),
                               given = wmi_ir_type_of(&ir->insn[arguments[i]]);
        insn.argument[i] = arguments[i];
        if (wanted == WMI_IR_LANES && given == WMI_IR_WORD)
            insn.argument[i] = (uint16_t)wmi_ir_add(ir, WMI_IR_splat, WMI_IR_LANES, &arguments[i], 0);
        else if (wanted == WMI_IR_WORD && given == WMI_IR_DWORD)
            insn.argument[i] = (uint16_t)wmi_ir_add(ir, WMI_IR_low, WMI_IR_WORD, &arguments[i], 0);
        else if (wanted != given)
            ir->failed = true;
    }
    if (ir->failed)
        return 0;
    const unsigned known = fold(ir, &insn);
    return known != WMI_IR_NO_VALUE ? known : append(ir, &insn);
}

unsigned wmi_ir_constant(struct wmi_ir *ir, enum wmi_ir_type type, uint64_t value)
{
    const enum wmi_ir_type scalar = type == WMI_IR_LANES ? WMI_IR_WORD : type;
    const uint16_t word = (uint16_t)wmi_ir_add(ir, WMI_IR_const, scalar, NULL, truncated(scalar, value));
    return type == WMI_IR_LANES ? wmi_ir_add(ir, WMI_IR_splat, WMI_IR_LANES, &word, 0) : word;
}

void wmi_ir_sweep(struct wmi_ir *ir)
{
    bool used[WMI_IR_MOST] = {false};
    for (unsigned i = ir->count; i-- > 0;) {
        struct wmi_ir_insn *insn = &ir->insn[i];
        if (wmi_ir_type_of(insn) != WMI_IR_NONE)
            insn->dead = !used[i];
        for (unsigned k = 0; !insn->dead && k < wmi_ir_arguments((enum wmi_ir_op)insn->op); k++)
            used[insn->argument[k]] = true;
    }
}

const char *wmi_ir_verify(const struct wmi_ir *ir, unsigned *number)
{
    for (unsigned i = 0; i < ir->count; i++) {
        const struct wmi_ir_insn *insn = &ir->insn[i];
        *number = i;
        if (insn->op >= WMI_IR_OPS)
            return "no such operation";
        for (unsigned k = 0; k < wmi_ir_arguments((enum wmi_ir_op)insn->op); k++) {
            if (insn->argument[k] >= i)
                return "an argument comes later";
            if (ir->insn[insn->argument[k]].dead && !insn->dead)
                return "an argument is dead";
            if (wmi_ir_type_of(&ir->insn[insn->argument[k]]) !=
                wmi_ir_argument_type((enum wmi_ir_op)insn->op, (enum wmi_ir_type)insn->type, k))
                return "an argument has another type";
        }
    }
    return NULL;
}
