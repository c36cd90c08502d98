/* SPDX-License-Identifier: MIT */
/* The representation as text: "%3 = add.L %1 %2", "put_row.L 0x2400 %3". */
#include "jit/ir/ir.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_immediate(enum wmi_ir_op op)
{
    return strchr(wmi_ir_facts_of(op).arguments, '/');
}

size_t wmi_ir_print(const struct wmi_ir *ir, char *text, size_t size)
{
    size_t length = 0;
#define PUT(...)                                                                                             \
    length += (size_t)snprintf(text + (length < size ? length : size), length < size ? size - length : 0,    \
                               __VA_ARGS__)
    for (unsigned i = 0; i < ir->count; i++) {
        const struct wmi_ir_insn *insn = &ir->insn[i];
        if (insn->dead)
            continue;
        if (wmi_ir_type_of(insn) != WMI_IR_NONE)
            PUT("%%%u = ", i);
        PUT("%s.%c", wmi_ir_facts_of((enum wmi_ir_op)insn->op).name, insn->type);
        if (has_immediate((enum wmi_ir_op)insn->op))
            PUT(" 0x%" PRIx64, insn->immediate);
        for (unsigned k = 0; k < wmi_ir_arguments((enum wmi_ir_op)insn->op); k++)
            PUT(" %%%u", insn->argument[k]);
        PUT("\n");
    }
#undef PUT
    return length;
}

/* ---- reading ---- */

struct reader {
    struct wmi_ir *ir;
    const char *at;
    uint16_t number[WMI_IR_MOST]; /* of the instruction that the text calls so; NO_VALUE: there is none */
};

static void skip_blanks(struct reader *r)
{
    r->at += strspn(r->at, " \t");
}

static bool read_name(struct reader *r, unsigned *name)
{
    char *end;
    skip_blanks(r);
    if (*r->at != '%')
        return false;
    const unsigned long value = strtoul(r->at + 1, &end, 10);
    if (end == r->at + 1 || value >= WMI_IR_MOST)
        return false;
    r->at = end;
    *name = (unsigned)value;
    return true;
}

static bool read_operation(struct reader *r, struct wmi_ir_insn *insn)
{
    const size_t length = strcspn(r->at, ". \t\n");
    for (unsigned op = 0; op < WMI_IR_OPS; op++) {
        const char *name = wmi_ir_facts_of((enum wmi_ir_op)op).name;
        if (strlen(name) != length || strncmp(name, r->at, length) || r->at[length] != '.' ||
            !r->at[length + 1] || !strchr("LMWD", r->at[length + 1]))
            continue;
        insn->op = (uint8_t)op;
        insn->type = (uint8_t)r->at[length + 1];
        r->at += length + 2;
        return true;
    }
    return false;
}

static const char *read_line(struct reader *r)
{
    struct wmi_ir_insn insn = {0};
    unsigned result = WMI_IR_NO_VALUE;
    memset(insn.argument, 0xff, sizeof insn.argument);
    if (*r->at == '%') {
        if (!read_name(r, &result))
            return "a number was expected after %";
        skip_blanks(r);
        if (*r->at++ != '=')
            return "= was expected after the name of a value";
        skip_blanks(r);
    }
    if (!read_operation(r, &insn))
        return "an operation with a type was expected, as in add.L";
    if ((result == WMI_IR_NO_VALUE) != (wmi_ir_type_of(&insn) == WMI_IR_NONE))
        return "the operation has a value and no name for it, or the other way round";
    if (has_immediate((enum wmi_ir_op)insn.op)) {
        char *end;
        insn.immediate = strtoull(r->at, &end, 0);
        if (end == r->at)
            return "a number was expected";
        r->at = end;
    }
    for (unsigned k = 0; k < wmi_ir_arguments((enum wmi_ir_op)insn.op); k++) {
        unsigned name;
        if (!read_name(r, &name) || r->number[name] == WMI_IR_NO_VALUE)
            return "the name of an earlier value was expected";
        insn.argument[k] = r->number[name];
    }
    skip_blanks(r);
    if (*r->at && *r->at != '\n')
        return "more than the operation takes";
    if (r->ir->count == WMI_IR_MOST)
        return "too many instructions";
    if (result != WMI_IR_NO_VALUE)
        r->number[result] = (uint16_t)r->ir->count;
    r->ir->insn[r->ir->count++] = insn;
    return NULL;
}

const char *wmi_ir_parse(struct wmi_ir *ir, const char *text, unsigned *line)
{
    struct reader r = {.ir = ir, .at = text};
    memset(r.number, 0xff, sizeof r.number);
    ir->count = 0;
    ir->failed = false;
    for (*line = 1; *r.at; ++*line) {
        skip_blanks(&r);
        if (*r.at && *r.at != '\n') {
            const char *wrong = read_line(&r);
            if (wrong)
                return wrong;
        }
        r.at += *r.at == '\n';
    }
    unsigned number;
    return wmi_ir_verify(ir, &number);
}
