/* SPDX-License-Identifier: MIT */
/* Reads lines of hexadecimal dwords and prints our text of each, or "?" where they are not exactly one
 * instruction. */
#include "isa/isa.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const struct wmi_target *target = argc > 1 ? wmi_target_find(argv[1]) : NULL;
    if (!target) {
        fprintf(stderr, "use: decode_words TARGET < words\n");
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
