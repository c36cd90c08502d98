/* SPDX-License-Identifier: MIT */
/* Holds docs/support.md to LLVM's lists, to the tables in the library, and to what execution does.
 *
 * usage: support SUPPORT.MD TARGET NODE FORMS.TSV [--run]
 *
 * Every instruction of the list must have a cell in the column NODE under LLVM's name, and the cell must say
 * what the library says. With --run each is executed alone: it must stop as "not executed yet" exactly where
 * the cell says todo. */
#include "isa/tables.h"
#include "wavemem/wavemem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096, ROWS = 4096, NAME = 64 };

struct row {
    char name[NAME], mark[NAME];
};

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "support: %s %s\n", what, which);
    exit(1);
}

/* The `number`th cell of a table's line, trimmed, into `cell`; false when there is none. */
static bool cell_of(const char *line, unsigned number, char cell[NAME])
{
    for (; *line == '|'; number--) {
        const char *start = line + 1 + strspn(line + 1, " "), *end = strchr(line + 1, '|');
        if (!end)
            return false;
        line = end;
        if (number)
            continue;
        while (end > start && end[-1] == ' ')
            end--;
        snprintf(cell, NAME, "%.*s", end > start ? (int)(end - start) : 0, start);
        return true;
    }
    return false;
}

static size_t read_matrix(const char *path, const char *node, struct row *rows)
{
    char line[LINE], cell[NAME];
    unsigned column = 0;
    size_t count = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        fail("no file", path);
    while (fgets(line, sizeof line, file)) {
        if (!strncmp(line, "| instruction |", 15)) {
            for (column = 1; cell_of(line, column, cell) && strcmp(cell, node);)
                column++;
            if (strcmp(cell, node))
                fail("no column", node);
        } else if (column && line[0] == '|' && strncmp(line, "| ---", 5) && count < ROWS) {
            if (!cell_of(line, 0, rows[count].name) || !cell_of(line, column, rows[count].mark))
                fail("bad line", line);
            count++;
        }
    }
    fclose(file);
    return count;
}

/* Whether LLVM's mnemonic is the instruction's name, with a suffix for the encoding or without. */
static bool is_called(const char *mnemonic, const char *name)
{
    static const char *const suffixes[] = {"",      "_e32",     "_e64",     "_dpp",     "_dpp8",
                                           "_sdwa", "_e64_dpp", "_e32_dpp", "_e64_dpp8"};
    const size_t length = strlen(name);
    if (strncmp(mnemonic, name, length))
        return false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (!strcmp(mnemonic + length, suffixes[i]))
            return true;
    return false;
}

static const char *expected_mark(const struct wmi_target *target, unsigned id)
{
    bool conditional = false;
    if (wmi_rows[id].flags & WMI_ROW_TODO)
        return "todo";
    for (const struct wmi_fidelity *f = wmi_fidelities; f->id; f++) {
        if (f->id != id || !(f->nodes >> target->node & 1))
            continue;
        if (f->field == WMI_FIELD_COUNT)
            return f->grade == WMI_GRADE_APPROX ? "approx" : "unverified";
        conditional = true;
    }
    return conditional ? "exact*" : "exact";
}

/* s_endpgm */
static uint32_t end_of(const char *target)
{
    const struct wmi_target *t = wmi_target_find(target);
    for (uint32_t word = 0xbf810000; word <= 0xbfb00000; word += 0x2f0000) {
        struct wmi_instruction insn;
        if (wmi_decode(t, &word, 1, &insn) && insn.id == WMI_INSN_s_endpgm)
            return word;
    }
    fail("no s_endpgm on", target);
    return 0;
}

/* Whether execution says that it cannot do the instruction. */
static bool stops_as_todo(const char *target, const struct wmi_instruction *insn)
{
    struct wm_diag diag;
    struct wm_machine *machine = NULL;
    struct wm_object *object = NULL;
    const struct wm_kernel *kernel;
    struct wm_result result = {.struct_size = sizeof result};
    const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                         .grid = {64},
                                         .workgroup = {64},
                                         .threads = 1,
                                         .max_instructions = 100};
    uint32_t words[WMI_INSTRUCTION_DWORDS + 1] = {0};
    memcpy(words, insn->words, 4u * insn->dwords);
    words[insn->dwords] = end_of(target);
    if (wm_object_open(words, 4u * (insn->dwords + 1u), "support", target, &object, &diag) ||
        wm_object_find_kernel(object, NULL, &kernel, &diag) || wm_machine_create(target, &machine, &diag) ||
        wm_load(machine, object, &diag) || wm_dispatch(machine, object, kernel, &dispatch, &result, &diag))
        fail("cannot run:", diag.message);
    wm_machine_destroy(machine);
    wm_object_close(object);
    return result.fault.kind == WM_FAULT_TODO;
}

int main(int count, char **arguments)
{
    static struct row rows[ROWS];
    if (count < 5)
        fail("usage: support SUPPORT.MD TARGET NODE FORMS.TSV [--run]", "");
    const bool runs = count > 5;
    const struct wmi_target *target = wmi_target_find(arguments[2]);
    const size_t row_count = read_matrix(arguments[1], arguments[3], rows);
    FILE *file = fopen(arguments[4], "r");
    char line[LINE];
    size_t checked = 0, wrong = 0;
    if (!target || !file)
        fail("no target or list", arguments[2]);
    while (fgets(line, sizeof line, file)) {
        uint32_t words[WMI_INSTRUCTION_DWORDS];
        size_t dwords = 0;
        struct wmi_instruction insn;
        char *at = line;
        if (line[0] == '#')
            continue;
        at = strchr(at, '\t') + 1;
        at = strchr(at, '\t') + 1;
        for (char *end; dwords < WMI_INSTRUCTION_DWORDS && *at != '\t';
             at = end + (*end == ' ' || *end == ','))
            words[dwords++] = (uint32_t)strtoul(at, &end, 16);
        if (!wmi_decode(target, words, dwords, &insn)) /* the lists' own test says so */
            continue;
        char name[NAME];
        const char *mark = NULL;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 1, " \n"), at + 1);
        for (size_t i = 0; i < row_count && !mark; i++)
            if (*rows[i].mark && is_called(name, rows[i].name))
                mark = rows[i].mark;
        checked++;
        if (!mark || strcmp(mark, expected_mark(target, insn.id))) {
            printf("%s: '%s', expected '%s'\n", name, mark ? mark : "no row", expected_mark(target, insn.id));
            wrong++;
        } else if (runs && stops_as_todo(arguments[2], &insn) != !strcmp(mark, "todo")) {
            printf("%s: '%s', but execution %s: %s", name, mark, strcmp(mark, "todo") ? "stops" : "goes on",
                   line);
            wrong++;
        }
    }
    fclose(file);
    printf("%zu forms, %zu wrong\n", checked, wrong);
    return wrong || checked < 100;
}
