/* SPDX-License-Identifier: MIT */
/* Finds the first instruction with a hazard in short pieces of code, for hazards.py.
 *
 * usage: hazards TARGET < CODE; TARGET like gfx1100 or gfx1100:wave64; pieces are separated by lines "--".
 * Prints a line for each: the index of the first instruction with a hazard, the missing wait states, and the
 * hazards; or "-". */
#include "check/hazard_state.h"
#include "wavemem/wavemem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 256, PIECE = 1 << 14 };

static int check_piece(const struct wmi_target *target, const char *name, const char *text)
{
    uint8_t *bytes;
    size_t size;
    char *messages;
    struct wm_diag diag;
    struct wmi_instruction insn;
    struct wmi_span_of_registers spans[WMI_SPANS];
    struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE];
    if (wm_assemble(text, strlen(text), "piece", name, WM_ASSEMBLE_RAW, &bytes, &size, &messages, &diag)) {
        fprintf(stderr, "%s", messages ? messages : diag.message);
        return 1;
    }
    struct wmi_hazard_state *state = calloc(1, sizeof *state);
    state->target = target;
    unsigned number = 0, count = 0;
    for (size_t at = 0; at < size && !count; at += 4u * insn.dwords, number++) {
        uint32_t words[WMI_INSTRUCTION_DWORDS] = {0};
        memcpy(words, bytes + at, size - at < sizeof words ? size - at : sizeof words);
        if (!wmi_decode(target, words, (size - at) / 4, &insn))
            return 1;
        const struct wmi_hazard_facts facts = wmi_hazard_facts_of(target, &insn);
        count =
            wmi_hazard_execute(state, &facts, spans, wmi_registers_of(target, &insn, spans), number, found);
    }
    unsigned missing = 0;
    for (unsigned i = 0; i < count; i++)
        missing = found[i].missing > missing ? found[i].missing : missing;
    if (!count)
        printf("-");
    else
        printf("%u %u", number - 1, missing);
    for (unsigned i = 0; i < count; i++)
        printf(" %s", wmi_hazards[found[i].kind].name);
    printf("\n");
    free(state);
    free(bytes);
    free(messages);
    return 0;
}

int main(int argc, char **argv)
{
    static char piece[PIECE];
    char line[LINE];
    const struct wmi_target *target = argc == 2 ? wmi_target_find(argv[1]) : NULL;
    if (!target)
        return 2;
    int code = 0;
    while (!code && fgets(line, sizeof line, stdin)) {
        if (strcmp(line, "--\n")) {
            strncat(piece, line, sizeof piece - strlen(piece) - 1);
            continue;
        }
        code = check_piece(target, argv[1], piece);
        piece[0] = '\0';
    }
    return code;
}
