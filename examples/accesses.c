/* SPDX-License-Identifier: MIT */
/* Lists the memory accesses in a code object: cc accesses.c $(pkg-config --cflags --libs wavemem) */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <wavemem/wavemem.h>

/* Prints one line: the instruction, bytes per lane, and the VGPRs involved. */
static void show(uint64_t address, const struct wm_instruction *insn)
{
    char text[256];
    wm_print(insn, text, sizeof(text));
    printf("%6" PRIx64 "  %-48s %2u bytes", address, text, insn->elements * insn->bytes);
    for (unsigned i = 0; i < insn->operand_count; i++) {
        const struct wm_operand *o = &insn->operand[i];
        if (o->kind == WM_OPERAND_VGPR)
            printf(", %s v%u..v%u", o->written ? "writes" : "reads", o->reg, o->reg + o->dwords - 1u);
    }
    putchar('\n');
}

static unsigned list(const struct wm_target *target, const struct wm_code *code)
{
    unsigned found = 0;
    for (size_t at = 0, length = 0; at + 4 <= code->size; at += 4 * (length ? length : 1)) {
        struct wm_instruction insn;
        uint32_t words[WM_INSTRUCTION_DWORDS] = {0};
        const size_t left = code->size - at, bytes = left < sizeof(words) ? left : sizeof(words);
        memcpy(words, code->bytes + at, bytes);
        length = wm_decode(target, words, bytes / 4, &insn);
        if (insn.flags & (WM_INSTRUCTION_LOAD | WM_INSTRUCTION_STORE | WM_INSTRUCTION_ATOMIC)) {
            show(code->address + at, &insn);
            found++;
        }
    }
    return found;
}

int main(int count, char **arguments)
{
    struct wm_diag diag;
    struct wm_object *object;
    struct wm_code code[8];
    if (wm_object_open_file(count > 1 ? arguments[1] : "gfx900/vecadd.co", NULL, &object, &diag)) {
        fprintf(stderr, "accesses: %s\n", diag.message);
        return 1;
    }
    unsigned found = 0;
    const size_t sections = wm_object_code(object, code, 8);
    for (size_t i = 0; i < sections && i < 8; i++)
        found += list(wm_target(wm_object_target(object)), &code[i]);
    wm_object_close(object);
    return found ? 0 : 1;
}
