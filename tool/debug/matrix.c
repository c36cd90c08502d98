/* SPDX-License-Identifier: MIT */
/* `info matrix': the operands of a matrix instruction as matrices. */
#include "tool/debug/show.h"
#include "tool/tool.h"

#include <string.h>

enum { DWORDS = 32 /* of an operand */, CELL = 12 };

/* The matrix instruction at or in front of the one that the wave is at. */
struct product {
    char target[64];
    struct wm_instruction insn;
    struct wm_isa_matrix shape;
    bool is_next; /* not executed yet */
};

/* Sets the instruction. False: neither the one at the wave's place nor the one in front of it is a product.
 */
static bool find_product(const struct debug_session *s, struct product *p)
{
    struct wm_instruction next, before;
    const struct debug_place place = debug_place_of(s, s->wave.pc);
    bool has_before = false;
    if (!place.object)
        return false;
    snprintf(p->target, sizeof p->target, "%.40s:wave%u", wm_object_target(place.object), s->wave.wave_size);
    if (!wm_target_known(p->target))
        snprintf(p->target, sizeof p->target, "%.40s", wm_object_target(place.object));
    if (debug_instruction(s, s->wave.pc, &next, NULL) && wm_isa_product(&next, &p->shape)) {
        p->insn = next;
        return p->is_next = true;
    }
    for (uint64_t pc = s->wave.pc - place.offset; pc < s->wave.pc;) {
        const unsigned bytes = debug_instruction(s, pc, &before, NULL);
        pc += bytes ? bytes : 4;
        has_before = bytes && pc == s->wave.pc;
    }
    /* The product leaves the state that the numbers of VGPRs depend on as it was. */
    if (has_before)
        debug_instruction_in(s, s->wave.pc - 4 * before.dwords, s->wave.state, &p->insn, NULL);
    return has_before && wm_isa_product(&before, &p->shape);
}

static const struct wm_operand *operand_of(const struct product *p, char letter)
{
    for (unsigned i = 0; i < p->insn.operand_count; i++)
        if (p->insn.operand[i].role[0] == letter - 'A' + 'a' && !p->insn.operand[i].role[1])
            return &p->insn.operand[i];
    return NULL;
}

struct shown {
    enum wm_matrix matrix;
    unsigned lines, columns;
    const char *type;
};

/* Prints the elements of a block, or finds the width of the widest. */
static void print_block(struct debug_session *s, const struct product *p, const struct shown *of,
                        uint32_t value[DWORDS][DEBUG_LANES], unsigned block, int *width, bool prints)
{
    for (unsigned cell = 0; cell < of->lines * of->columns; cell++) {
        const unsigned line = cell / of->columns, column = cell % of->columns;
        struct wm_matrix_place at;
        char text[CELL + 1];
        double number = 0;
        wm_isa_matrix_place(p->target, p->insn.row, of->matrix, of->type, block, line, column, &at);
        const uint64_t high = at.bit + at.bits > 32 ? value[at.dword + 1][at.lane] : 0;
        wm_isa_element(p->target, of->type, (value[at.dword][at.lane] | high << 32) >> at.bit, &number);
        snprintf(text, sizeof text, *of->type == 'i' ? "%.0f" : "%.5g", number);
        if (prints)
            fprintf(s->out, column + 1 < of->columns ? "%*s " : "%*s\n", *width, text);
        else if ((int)strlen(text) > *width)
            *width = (int)strlen(text);
    }
}

static bool print_matrix(struct debug_session *s, const struct product *p, char letter, struct wm_diag *diag)
{
    const enum wm_matrix matrix = (enum wm_matrix)(letter - 'A');
    const struct wm_operand *operand = operand_of(p, letter == 'C' && p->shape.sparse ? 'D' : letter);
    const char *type = letter == 'A' ? p->shape.a : letter == 'B' ? p->shape.b : p->shape.d;
    static uint32_t value[DWORDS][DEBUG_LANES];
    unsigned lines, columns;
    if (letter == 'C' && !strcmp(type, "bf16f32"))
        type = "f32";
    if (!operand || (operand->kind != WM_OPERAND_VGPR && operand->kind != WM_OPERAND_AGPR) ||
        operand->dwords > DWORDS) {
        fprintf(s->out, "%c: a constant\n", letter);
        return true;
    }
    if (!wm_isa_matrix_extent(p->target, p->insn.row, matrix, type, &lines, &columns))
        return tool_because(diag, "%s has no such matrix.", p->target);
    for (unsigned i = 0; i < operand->dwords; i++) {
        char name[16];
        snprintf(name, sizeof name, "%c%u", operand->kind == WM_OPERAND_AGPR ? 'a' : 'v', operand->reg + i);
        if (!debug_get(s, name, value[i], s->wave.wave_size, diag))
            return false;
    }
    const struct shown of = {matrix, lines, columns, type};
    int width = 0;
    for (unsigned block = 0; block < p->shape.blocks; block++)
        print_block(s, p, &of, value, block, &width, false);
    for (unsigned block = 0; block < p->shape.blocks; block++) {
        fprintf(s->out, "%c, %u x %u of %s%s", letter, lines, columns, type,
                p->shape.sparse && letter == 'A' ? ", those that are stored" : "");
        fprintf(s->out, p->shape.blocks > 1 ? ", block %u:\n" : ":\n", block);
        print_block(s, p, &of, value, block, &width, true);
    }
    return true;
}

bool debug_print_matrix(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    struct product p = {.is_next = false};
    char shown[256];
    if (!debug_need_wave(s, diag))
        return false;
    if (strlen(text) > 1 || (*text && !strchr("ABCD", *text)))
        return tool_because(diag, "`info matrix' takes A, B, C or D.");
    if (!find_product(s, &p))
        return tool_because(diag, "Neither this instruction nor the one in front of it is a matrix product.");
    wm_print(&p.insn, shown, sizeof shown);
    fprintf(s->out, "%s: %s\n", p.is_next ? "next" : "executed", shown);
    if (*text)
        return print_matrix(s, &p, *text, diag);
    /* What it reads, or what it has written. */
    return p.is_next ? print_matrix(s, &p, 'A', diag) && print_matrix(s, &p, 'B', diag)
                     : print_matrix(s, &p, 'D', diag);
}
