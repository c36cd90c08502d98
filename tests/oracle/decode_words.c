/* SPDX-License-Identifier: MIT */
/* Reads lines of hexadecimal dwords and prints our text of each, or "?" where they are not exactly one
 * instruction. Attributes are LLVM's: +wavefrontsize64, +real-true16. */
#include "isa/isa.h"

#include <stdio.h>
#include <stdlib.h>
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
        fprintf(stderr, "use: decode_words TARGET [+wavefrontsize64] [+real-true16] < words\n");
        return 2;
    }
    char line[256], text[512];
    while (fgets(line, sizeof line, stdin)) {
        uint32_t words[WMI_INSTRUCTION_DWORDS + 1];
        size_t count = 0;
        for (char *at = line, *end; count < sizeof words / sizeof *words; at = end) {
            const unsigned long value = strtoul(at, &end, 16);
            if (end == at)
                break;
            words[count++] = (uint32_t)value;
        }
        struct wmi_instruction insn;
        if (wmi_decode(target, words, count, &insn) != count) {
            puts("?");
            continue;
        }
        wmi_print(target, &insn, text, sizeof text);
        puts(text);
    }
    return 0;
}
