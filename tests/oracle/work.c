/* SPDX-License-Identifier: MIT */
/* Reads hexadecimal dwords, an instruction per line, and prints for each what it counts as: the number of its
 * kind (enum wmi_work), dwords of LDS, clocks of the matrix unit; or "?". For work.py.
 *
 * usage: work TARGET */
#include "isa/rules/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    static const char *const names[WMI_WORK_KINDS] = {
        "internal", "salu",  "branch", "message",    "smem",         "vector_memory",
        "lds",      "gds",   "export", "full",       "multiply",     "divide",
        "wide",     "trans", "double", "double_mul", "double_trans", "matrix"};
    const struct wmi_target *target = wmi_target_find(argc == 2 ? argv[1] : "");
    char line[256];
    while (target && fgets(line, sizeof line, stdin)) {
        uint32_t words[WMI_INSTRUCTION_DWORDS] = {0}, counts[WMI_WORK_COUNTS] = {0};
        struct wmi_instruction insn;
        unsigned count = 0, work = 0;
        for (char *at = line, *end; count < WMI_INSTRUCTION_DWORDS; at = end, count++) {
            words[count] = (uint32_t)strtoul(at, &end, 16);
            if (end == at)
                break;
        }
        if (!count || wmi_decode(target, words, count, &insn) != count) {
            puts("?");
            continue;
        }
        wmi_work_add(target, &insn, counts);
        while (work < WMI_WORK_KINDS && !counts[work])
            work++;
        printf("%s %u %u\n", names[work], counts[WMI_WORK_LDS_DWORDS], counts[WMI_WORK_MATRIX_CLOCKS]);
    }
    return target ? 0 : 2;
}
