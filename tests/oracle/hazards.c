/* SPDX-License-Identifier: MIT */
/* Finds the first instruction with a hazard in short pieces of code, for hazards.py.
 *
 * usage: hazards TARGET < CODE; TARGET like gfx1100 or gfx1100:wave64; pieces are separated by lines "--".
 * Also compares what waves find that remember the hazards of sequences. Prints a line for each: the index of
 * the first instruction with a hazard, the missing wait states, and the hazards; or "-". */
#include "check/waits/hazard_memo.h"
#include "check/waits/hazard_state.h"
#include "wavemem/wavemem.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 256, PIECE = 1 << 14, INSTRUCTIONS = 1 << 10, ROUNDS = 3 };

struct instruction {
    struct wmi_hazard_facts facts;
    struct wmi_span_of_registers spans[WMI_SPANS];
    unsigned count;
};

static unsigned execute(struct wmi_hazard_state *state, const struct instruction *insn, unsigned number,
                        struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE])
{
    return wmi_hazard_execute(state, &insn->facts, insn->spans, insn->count, number, found);
}

static bool is_same(const struct wmi_hazard_found *found, unsigned count,
                    const struct wmi_hazard_found *other, unsigned others)
{
    bool same = count == others;
    for (unsigned k = 0; same && k < count; k++)
        same = found[k].kind == other[k].kind && found[k].reg == other[k].reg &&
               found[k].number == other[k].number && found[k].missing == other[k].missing;
    return same;
}

/* Whether waves that share a memo find what exact detection does, of the code in a loop, and also a wave that
 * goes on from each of their places in turn. */
static bool memo_agrees(const struct wmi_target *target, const struct instruction *code, unsigned count)
{
    struct wmi_hazard_memo *memo = wmi_hazard_memo_create(target);
    struct wmi_hazard_wave *wave = wmi_hazard_wave_create(memo), *other = wmi_hazard_wave_create(memo);
    struct wmi_hazard_state *state = calloc(1, sizeof *state);
    bool same = true;
    for (unsigned pass = 0; pass < 2; pass++) {
        wmi_hazard_begin(state, target);
        wmi_hazard_wave_begin(wave);
        for (unsigned i = 0; same && i < ROUNDS * count; i++) {
            const struct instruction *insn = &code[i % count];
            struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE], known[WMI_HAZARDS_AT_ONCE],
                resumed[WMI_HAZARDS_AT_ONCE];
            const uint64_t key = wmi_hazard_wave_key(wave, WMI_REGISTER_COUNT);
            struct wmi_hazard_place *place = wmi_hazard_wave_place(wave);
            wmi_hazard_wave_resume(other, place);
            same &= wmi_hazard_wave_key(other, WMI_REGISTER_COUNT) == key;
            const unsigned exact = execute(state, insn, i % count, found),
                           remembered = wmi_hazard_wave_execute(wave, &insn->facts, insn->spans, insn->count,
                                                                i % count, known),
                           later = wmi_hazard_wave_execute(other, &insn->facts, insn->spans, insn->count,
                                                           i % count, resumed);
            same &= is_same(found, exact, known, remembered) && is_same(found, exact, resumed, later);
            same &= wmi_hazard_wave_key(wave, WMI_REGISTER_COUNT) ==
                    wmi_hazard_wave_key(other, WMI_REGISTER_COUNT);
            free(place);
        }
    }
    wmi_hazard_wave_destroy(wave);
    wmi_hazard_wave_destroy(other);
    wmi_hazard_memo_destroy(memo);
    free(state);
    return same;
}

static int check_piece(const struct wmi_target *target, const char *name, const char *text)
{
    static struct instruction code[INSTRUCTIONS];
    uint8_t *bytes;
    size_t size;
    char *messages;
    struct wm_diag diag;
    struct wmi_instruction insn;
    struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE];
    if (wm_assemble(text, strlen(text), "piece", name, WM_ASSEMBLE_RAW, &bytes, &size, &messages, &diag)) {
        fprintf(stderr, "%s", messages ? messages : diag.message);
        return 1;
    }
    unsigned length = 0, number = 0, count = 0;
    for (size_t at = 0; at < size; at += 4u * insn.dwords, length++) {
        uint32_t words[WMI_INSTRUCTION_DWORDS] = {0};
        memcpy(words, bytes + at, size - at < sizeof words ? size - at : sizeof words);
        if (length == INSTRUCTIONS || !wmi_decode(target, words, (size - at) / 4, &insn))
            return 1;
        code[length].facts = wmi_hazard_facts_of(target, &insn);
        code[length].count = wmi_registers_of(target, &insn, code[length].spans);
    }
    struct wmi_hazard_state *state = calloc(1, sizeof *state);
    state->target = target;
    for (; number < length && !count; number++)
        count = execute(state, &code[number], number, found);
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
    if (length && !memo_agrees(target, code, length)) {
        fprintf(stderr, "other hazards if they are remembered:\n%s", text);
        return 1;
    }
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
