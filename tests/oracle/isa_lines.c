/* SPDX-License-Identifier: MIT */
/* One instruction per line: `print` reads hexadecimal dwords and prints our text of them, or "?" if they are
 * not exactly one instruction; `assemble` reads text and prints its dwords, or "? column expected" on error.
 * Lines that differ from an earlier one in registers only use the pattern caches, as in long files.
 * Attributes are LLVM's, +wavefrontsize64 and +real-true16, and +llvm22: text as LLVM 22 writes it. */
#include "isa/text/assemble.h"
#include "isa/text/word_pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024 };

static void print(const struct wmi_target *target, struct wmi_word_patterns *patterns, char *line)
{
    uint32_t words[WMI_INSTRUCTION_DWORDS + 1];
    char text[LINE];
    size_t count = 0;
    for (char *at = line, *end; count < sizeof words / sizeof *words; at = end) {
        const unsigned long value = strtoul(at, &end, 16);
        if (end == at)
            break;
        words[count++] = (uint32_t)value;
    }
    struct wmi_instruction insn;
    uint32_t length;
    const struct wmi_word_pattern *pattern =
        count ? wmi_print_alike(patterns, words[0] | (uint64_t)(count > 1 ? words[1] : 0) << 32, count, text,
                                &length)
              : NULL;
    if (pattern ? pattern->dwords != count : wmi_decode(target, words, count, &insn) != count) {
        puts("?");
        return;
    }
    if (!pattern)
        wmi_keep_word_pattern(patterns, &insn, text, wmi_print(target, &insn, text, sizeof text), false);
    puts(text);
}

static void assemble(const struct wmi_target *target, struct wmi_text_patterns *patterns, char *line)
{
    struct wmi_cursor cursor = {.at = line, .end = line + strcspn(line, "\n"), .patterns = patterns};
    struct wmi_instruction insn;
    unsigned dwords = wmi_assemble_alike(patterns, line, cursor.end, insn.words);
    if (!dwords)
        dwords = wmi_assemble(target, &cursor, &insn, NULL);
    if (!dwords) {
        printf("? %td ", cursor.wrong ? cursor.wrong_at - line + 1 : 0);
        printf(cursor.wrong ? cursor.wrong : "a mnemonic", cursor.number);
    }
    for (unsigned i = 0; i < dwords; i++)
        printf(i ? " %08x" : "%08x", insn.words[i]);
    putchar('\n');
}

/* NULL for an unknown attribute. */
static const struct wmi_target *find_target(int argc, char **argv)
{
    static const struct {
        const char *attribute, *feature;
    } known[] = {{"+wavefrontsize64", ":wave64"}, {"+real-true16", ":real-true16"}, {"+llvm22", ":llvm22"}};
    char name[LINE];
    snprintf(name, sizeof name, "%s", argv[0]);
    for (int i = 1; i < argc; i++) {
        size_t k = 0;
        while (k < sizeof known / sizeof *known && strcmp(argv[i], known[k].attribute) != 0)
            k++;
        if (k == sizeof known / sizeof *known)
            return NULL;
        strncat(name, known[k].feature, sizeof name - strlen(name) - 1);
    }
    return wmi_target_find(name);
}

int main(int argc, char **argv)
{
    const struct wmi_target *target = argc > 2 ? find_target(argc - 2, argv + 2) : NULL;
    const bool prints = argc > 1 && !strcmp(argv[1], "print");
    if (!target || (!prints && strcmp(argv[1], "assemble"))) {
        fprintf(stderr, "use: isa_lines print|assemble TARGET [+wavefrontsize64] [+real-true16] < lines\n");
        return 2;
    }
    struct wmi_text_patterns *patterns = calloc(1, WMI_PATTERNS_BYTES);
    struct wmi_word_patterns *word_patterns = calloc(1, sizeof *word_patterns);
    char line[LINE];
    if (word_patterns)
        wmi_word_patterns_begin(word_patterns, target);
    while (patterns && word_patterns && fgets(line, sizeof line, stdin)) {
        if (prints)
            print(target, word_patterns, line);
        else
            assemble(target, patterns, line);
    }
    free(patterns);
    free(word_patterns);
    return 0;
}
