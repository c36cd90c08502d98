/* SPDX-License-Identifier: MIT */
/* Reads lines of assembly text, one instruction each, and prints their words, or "? column expected" where a
 * line is wrong. Attributes are LLVM's: +wavefrontsize64, +real-true16. */
#include "isa/assemble.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const struct wmi_target *target = argc > 1 ? wmi_target_find(argv[1]) : NULL;
    unsigned lanes = target ? wmi_target_limit(target, WMI_LIMIT_wave) : 0;
    bool real_true16 = false;
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "+wavefrontsize64"))
            lanes = 64;
        else if (!strcmp(argv[i], "+real-true16"))
            real_true16 = true;
        else
            target = NULL;
    }
    target = target ? wmi_target_variant(target, lanes, real_true16) : NULL;
    if (!target) {
        fprintf(stderr, "use: assemble_lines TARGET [+wavefrontsize64] [+real-true16] < text\n");
        return 2;
    }
    char line[1024];
    while (fgets(line, sizeof line, stdin)) {
        struct wmi_cursor cursor = {.at = line, .end = line + strcspn(line, "\n")};
        struct wmi_instruction insn;
        const unsigned dwords = wmi_assemble(target, &cursor, &insn, NULL);
        if (!dwords) {
            printf("? %td ", cursor.wrong ? cursor.wrong_at - line + 1 : 0);
            printf(cursor.wrong ? cursor.wrong : "a mnemonic", cursor.number);
        }
        for (unsigned i = 0; i < dwords; i++)
            printf(i ? " %08x" : "%08x", insn.words[i]);
        putchar('\n');
    }
    return 0;
}
