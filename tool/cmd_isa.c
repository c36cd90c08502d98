/* SPDX-License-Identifier: MIT */
/* wavemem isa: prints everything that the tables contain about one instruction. */
#include "tool/tool.h"
#include "wavemem/wavemem.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: wavemem isa [--json] [-m TARGET] [--matrix A|B|C|D[:FORMAT]] NAME\n"
    "       wavemem isa [--json] TARGET WORD...\n"
    "       wavemem isa [--json] --all\n"
    "\n"
    "Explains an instruction: the targets that have it and under which name and opcode, its encodings "
    "bit\n"
    "by bit, operands, implicit reads and writes, the wait counter that it increments, its operation, and\n"
    "differences between AMD's documents, LLVM and hardware.\n"
    "\n"
    "  wavemem isa buffer_load_format_xyzw      by name, on all targets\n"
    "  wavemem isa -m gfx1100 s_load_b128       with the encodings of this target\n"
    "  wavemem isa gfx900 e00c2000 80010203     one instruction's words in hexadecimal, with their values\n"
    "  wavemem isa -m gfx942 v_mfma_f32_16x16x16_f16 --matrix A   the register and lane of each element of "
    "A\n"
    "\n"
    "  -m, --target NAME  show the encodings of this target; default: the latest that has the instruction\n"
    "      --matrix A|B|C|D[:FORMAT]  where the matrix's elements are: v1{17}.[31:16] is in bits 31 to 16 "
    "of\n"
    "                     the operand's second register, lane 17. -m gfx1100:wave64 for waves of 64. FORMAT, "
    "of\n"
    "                     A and B of f8f6f4: fp8, bf8, fp6, bf6 or fp4\n"
    "      --json         write JSON\n"
    "      --all          every instruction of every target\n"
    "\n"
    "Exit codes: 0 clean, 2 wrong usage, unknown name, or words that are not an instruction.\n";

enum option { HELP = 1, TARGET, JSON, ALL, MATRIX };

static const struct tool_option options[] = {
    {"help", 'h', TOOL_NO_VALUE, HELP}, {"target", 'm', TOOL_VALUE, TARGET}, {"json", 0, TOOL_NO_VALUE, JSON},
    {"all", 0, TOOL_NO_VALUE, ALL},     {"matrix", 0, TOOL_VALUE, MATRIX},   {NULL, 0, TOOL_NO_VALUE, 0},
};

enum { WORDS = 8, NEW_ROOM = 1024 };

/* All forms of all targets. */
struct catalogue {
    struct wm_isa_form *forms;
    size_t count, room;
    bool out_of_memory;
};

static bool keep(void *user, const struct wm_isa_form *form)
{
    struct catalogue *all = user;
    if (all->count == all->room) {
        const size_t room = all->room ? 2 * all->room : NEW_ROOM;
        struct wm_isa_form *grown = realloc(all->forms, room * sizeof(*grown));
        if (!grown) {
            all->out_of_memory = true;
            return false;
        }
        all->forms = grown;
        all->room = room;
    }
    all->forms[all->count++] = *form;
    return true;
}

/* A filter for the forms of all targets (about a hundred thousand): by name or by rows. */
struct search {
    struct catalogue found;
    const char *name;
    const bool *rows; /* NULL: by name */
};

/* Length of the name without the suffix of the encoding: _e32, _e64, _sdwa, _dpp etc. */
static size_t stem(const char *name)
{
    static const char *const suffixes[] = {"_e64_dpp", "_e32", "_e64", "_sdwa", "_dpp"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
        const size_t end = strlen(suffixes[i]);
        if (length > end && strcmp(name + length - end, suffixes[i]) == 0)
            return length - end;
    }
    return length;
}

static bool is_called(const struct wm_isa_form *form, const char *name)
{
    const size_t length = stem(form->name);
    return strcmp(form->name, name) == 0 ||
           (strlen(name) == length && strncmp(form->name, name, length) == 0);
}

static bool keep_named(void *user, const struct wm_isa_form *form)
{
    struct search *search = user;
    struct wm_isa_row row;
    const bool wanted = search->rows ? search->rows[form->row]
                                     : is_called(form, search->name) || (wm_isa_row(form->row, &row) &&
                                                                         strcmp(row.name, search->name) == 0);
    return !wanted || keep(&search->found, form);
}

static bool search_targets(struct search *search)
{
    const char *target;
    for (size_t i = 0; (target = wm_target_at(i)) && !search->found.out_of_memory; i++)
        wm_isa_forms(target, keep_named, search);
    return !search->found.out_of_memory;
}

/* ---- text ---- */

static bool same_bits(const struct wm_isa_form *a, const struct wm_isa_form *b)
{
    if (a->bits_count != b->bits_count || a->operand_count != b->operand_count ||
        strcmp(a->name, b->name) != 0 || a->opcode != b->opcode)
        return false;
    for (unsigned i = 0; i < a->bits_count; i++)
        if (strcmp(a->bits[i].name, b->bits[i].name) != 0 || a->bits[i].value != b->bits[i].value ||
            a->bits[i].position != b->bits[i].position || a->bits[i].width != b->bits[i].width)
            return false;
    return true;
}

/* Prints a line for each name, encoding and opcode, with its targets. */
static void print_targets(const struct catalogue *all, size_t row)
{
    bool *done = calloc(all->count + 1, sizeof(*done));
    printf("\n  %-36s %-14s %-8s targets\n", "name", "encoding", "opcode");
    for (size_t i = 0; done && i < all->count; i++) {
        const struct wm_isa_form *first = &all->forms[i];
        if (done[i] || first->row != row)
            continue;
        printf("  %-36s %-14s 0x%-6x", first->name, first->encoding, first->opcode);
        for (size_t j = i; j < all->count; j++) {
            const struct wm_isa_form *other = &all->forms[j];
            if (done[j] || other->row != row || other->opcode != first->opcode ||
                strcmp(other->name, first->name) != 0 || strcmp(other->encoding, first->encoding) != 0)
                continue;
            done[j] = true;
            printf(" %s", other->target);
        }
        putchar('\n');
    }
    free(done);
}

/* Prints the fields of a form, for each dword from the highest bit down; `word`: with values. */
static void print_bits(const struct wm_isa_form *form, bool word)
{
    for (unsigned dword = 0; dword < 4; dword++) {
        bool any = false;
        for (unsigned i = form->bits_count; i--;) {
            const struct wm_isa_bits *field = &form->bits[i];
            if (field->position / 32 != dword)
                continue;
            if (!any)
                printf("    dword %u\n", dword);
            any = true;
            const unsigned low = field->position % 32, high = low + field->width - 1;
            char range[16];
            snprintf(range, sizeof(range), high == low ? "%u" : "%u:%u", high, low);
            printf("      %-6s %-14s ", range, field->name);
            for (unsigned b = field->width; b--;)
                putchar(word || field->fixed ? '0' + (int)(field->value >> b & 1) : '.');
            if ((word || field->fixed) && field->width > 1)
                printf("  0x%" PRIx32, field->value);
            putchar('\n');
        }
    }
}

static void print_operands(const struct wm_isa_form *form, bool word)
{
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct wm_isa_operand *o = &form->operands[i];
        printf("    %-7s %-6s %4u bits  %s%s%s", o->role, o->type, o->bits,
               o->read && o->written ? "read, written"
               : o->written          ? "written"
               : o->read             ? "read"
                                     : "",
               o->implied ? ", implied" : "", o->optional ? ", if it returns a value" : "");
        if (word && o->text[0])
            printf(", here %s", o->text);
        putchar('\n');
    }
}

static void print_form(const struct wm_isa_form *form, bool word)
{
    printf("\n  %s on %s: %s, opcode 0x%x, %u dword%s\n", form->name, form->target, form->encoding,
           form->opcode, form->dwords, form->dwords == 1 ? "" : "s");
    print_bits(form, word);
    if (form->operand_count)
        puts("    operands");
    print_operands(form, word);
}

static void print_waits(const struct catalogue *all, size_t index)
{
    char wait[WM_ISA_WAIT], last[WM_ISA_WAIT] = "";
    for (size_t i = 0; i < all->count; i++) {
        const char *target = all->forms[i].target;
        if (all->forms[i].row != index || !wm_isa_wait(index, target, wait, sizeof(wait)) ||
            strcmp(wait, last) == 0)
            continue;
        printf("%s%s (from %s)", *last ? "; " : "  raises    ", wait, target);
        memcpy(last, wait, sizeof(last));
    }
    if (*last)
        putchar('\n');
}

static void print_row(const struct catalogue *all, size_t index)
{
    struct wm_isa_row row;
    struct wm_isa_matrix matrix;
    const char *erratum;
    wm_isa_row(index, &row);
    printf("%s: %s instruction\n", row.name, row.kind);
    if (row.formula)
        printf("  computes  %s\n", row.formula);
    if (row.reads[0])
        printf("  reads     %s\n", row.reads);
    if (row.writes[0])
        printf("  writes    %s\n", row.writes);
    if (wm_isa_matrix(index, &matrix))
        printf("  matrix    %ux%ux%u%s, %u %s: %s += %s * %s\n", matrix.m, matrix.n, matrix.k,
               matrix.sparse ? ", A sparse" : "", matrix.blocks, matrix.blocks > 1 ? "blocks" : "block",
               matrix.d, matrix.a, matrix.b);
    print_waits(all, index);
    printf("  fidelity  %s", row.grade);
    if (row.remark_field)
        printf(", with %s", row.remark_field);
    printf("%s%s\n", row.remark ? ": " : "", row.remark ? row.remark : "");
    for (size_t n = 0; (erratum = wm_isa_erratum(index, n)); n++)
        printf("  erratum   %s\n", erratum);
    print_targets(all, index);
}

/* ---- JSON ---- */

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text && *text)
        json_object_set_new(object, key, json_string(text));
}

static json_t *json_of_form(const struct wm_isa_form *form)
{
    json_t *bits = json_array(), *operands = json_array();
    for (unsigned i = 0; i < form->bits_count; i++) {
        const struct wm_isa_bits *field = &form->bits[i];
        json_t *object = json_pack("{s:s,s:i,s:i}", "name", field->name, "position", field->position, "width",
                                   field->width);
        if (field->fixed || form->length)
            json_object_set_new(object, "value", json_integer(field->value));
        json_array_append_new(bits, object);
    }
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct wm_isa_operand *o = &form->operands[i];
        json_t *operand =
            json_pack("{s:s,s:s,s:i,s:b,s:b,s:b,s:b}", "role", o->role, "type", o->type, "bits", o->bits,
                      "read", o->read, "written", o->written, "implied", o->implied, "optional", o->optional);
        set_text(operand, "here", o->text);
        json_array_append_new(operands, operand);
    }
    return json_pack("{s:s,s:s,s:i,s:i,s:o,s:o}", "name", form->name, "encoding", form->encoding, "opcode",
                     form->opcode, "dwords", form->dwords, "bits", bits, "operands", operands);
}

/* The forms of a row; equal forms of several targets are merged. */
static json_t *json_of_forms(const struct catalogue *all, size_t row)
{
    json_t *forms = json_array();
    bool *done = calloc(all->count + 1, sizeof(*done));
    for (size_t i = 0; done && i < all->count; i++) {
        if (done[i] || all->forms[i].row != row)
            continue;
        json_t *form = json_of_form(&all->forms[i]), *targets = json_array();
        for (size_t j = i; j < all->count; j++)
            if (!done[j] && all->forms[j].row == row && same_bits(&all->forms[i], &all->forms[j])) {
                const char *target = all->forms[j].target;
                char wait[WM_ISA_WAIT];
                done[j] = true;
                json_array_append_new(targets, wm_isa_wait(row, target, wait, sizeof(wait))
                                                   ? json_pack("{s:s,s:s}", "name", target, "raises", wait)
                                                   : json_pack("{s:s}", "name", target));
            }
        json_object_set_new(form, "targets", targets);
        json_array_append_new(forms, form);
    }
    free(done);
    return forms;
}

static json_t *json_of_row(const struct catalogue *all, size_t index)
{
    struct wm_isa_row row;
    struct wm_isa_matrix matrix;
    json_t *errata = json_array();
    const char *erratum;
    wm_isa_row(index, &row);
    json_t *object = json_pack("{s:s,s:s}", "row", row.name, "kind", row.kind);
    set_text(object, "computes", row.formula);
    set_text(object, "reads", row.reads);
    set_text(object, "writes", row.writes);
    if (wm_isa_matrix(index, &matrix))
        json_object_set_new(object, "matrix",
                            json_pack("{s:i,s:i,s:i,s:i,s:s,s:s,s:s,s:b}", "m", (int)matrix.m, "n",
                                      (int)matrix.n, "k", (int)matrix.k, "blocks", (int)matrix.blocks, "d",
                                      matrix.d, "a", matrix.a, "b", matrix.b, "sparse", matrix.sparse));
    set_text(object, "fidelity", row.grade);
    set_text(object, "remark", row.remark);
    set_text(object, "remark_with", row.remark_field);
    for (size_t n = 0; (erratum = wm_isa_erratum(index, n)); n++)
        json_array_append_new(errata, json_string(erratum));
    json_object_set_new(object, "errata", errata);
    json_object_set_new(object, "forms", json_of_forms(all, index));
    return object;
}

static int print_json(json_t *json)
{
    const int failed = json_dumpf(json, stdout, JSON_INDENT(1));
    json_decref(json);
    putchar('\n');
    return failed ? tool_fail("out of memory") : TOOL_CLEAN;
}

/* ---- the verb ---- */

/* Prints the rows in `rows`. drawn: the target whose encodings are drawn; default: the last one that has the
 * row. */
static int print_rows(const struct catalogue *all, const bool *rows, bool json, const char *drawn)
{
    json_t *array = json ? json_array() : NULL;
    bool first = true;
    for (size_t row = 0; row < wm_isa_row_count(); row++) {
        if (!rows[row])
            continue;
        if (json) {
            json_array_append_new(array, json_of_row(all, row));
            continue;
        }
        if (!first)
            putchar('\n');
        first = false;
        print_row(all, row);
        const char *target = NULL;
        for (size_t i = 0; i < all->count; i++)
            if (all->forms[i].row == row && (!drawn || strcmp(all->forms[i].target, drawn) == 0))
                target = all->forms[i].target;
        for (size_t i = 0; i < all->count && target; i++)
            if (all->forms[i].row == row && strcmp(all->forms[i].target, target) == 0)
                print_form(&all->forms[i], false);
    }
    return json ? print_json(array) : TOOL_CLEAN;
}

/* ---- matrices ---- */

/* "v1{17}.[31:16]": the notation of AMD's matrix instruction calculator. */
static void place_text(const struct wm_matrix_place *place, char *text, size_t size)
{
    const unsigned last = place->bit + place->bits - 1;
    if (place->bits > 32)
        snprintf(text, size, "v[%u:%u]{%u}", place->dword + 1, place->dword, place->lane);
    else if (last > 31)
        snprintf(text, size, "v[%u:%u]{%u}.[%u:%u]", place->dword + 1, place->dword, place->lane, last,
                 place->bit);
    else if (place->bits == 32)
        snprintf(text, size, "v%u{%u}", place->dword, place->lane);
    else
        snprintf(text, size, "v%u{%u}.[%u:%u]", place->dword, place->lane, last, place->bit);
}

struct layout {
    const char *target;
    size_t row;
    enum wm_matrix matrix;
    const char *format; /* of f8f6f4; or NULL */
    unsigned blocks, lines, columns;
};

static void put_cell(const char *text, int width, bool last)
{
    printf(" %-*s", last ? 0 : width, text);
}

static void print_layout(const struct layout *l)
{
    static const char *const indices[] = {"i,k", "k,j", "i,j", "i,j"};
    enum { TEXT = 64, MARGIN = 6 };
    char text[TEXT];
    struct wm_matrix_place place;
    int width = 0;
    for (unsigned cell = 0; cell < l->lines * l->columns; cell++) {
        wm_isa_matrix_place(l->target, l->row, l->matrix, l->format, l->blocks - 1, cell / l->columns,
                            cell % l->columns, &place);
        place_text(&place, text, sizeof text);
        width = (int)strlen(text) > width ? (int)strlen(text) : width;
    }
    for (unsigned block = 0; block < l->blocks; block++) {
        putchar('\n');
        if (l->blocks > 1)
            printf("block %u\n", block);
        printf("%-*s", MARGIN, indices[l->matrix]);
        for (unsigned column = 0; column < l->columns; column++) {
            snprintf(text, sizeof text, "%u", column);
            put_cell(text, width, column + 1 == l->columns);
        }
        for (unsigned line = 0; line < l->lines; line++) {
            printf("\n%-*u", MARGIN, line);
            for (unsigned column = 0; column < l->columns; column++) {
                wm_isa_matrix_place(l->target, l->row, l->matrix, l->format, block, line, column, &place);
                place_text(&place, text, sizeof text);
                put_cell(text, width, column + 1 == l->columns);
            }
        }
        putchar('\n');
    }
}

/* The places of a matrix: [block][line][column] = {lane, dword, bit, bits}. */
static json_t *json_of_layout(const struct layout *l)
{
    json_t *blocks = json_array();
    for (unsigned block = 0; block < l->blocks; block++) {
        json_t *lines = json_array();
        for (unsigned line = 0; line < l->lines; line++) {
            json_t *columns = json_array();
            for (unsigned column = 0; column < l->columns; column++) {
                struct wm_matrix_place place;
                wm_isa_matrix_place(l->target, l->row, l->matrix, l->format, block, line, column, &place);
                json_array_append_new(columns, json_pack("{s:i,s:i,s:i,s:i}", "lane", (int)place.lane,
                                                         "dword", (int)place.dword, "bit", (int)place.bit,
                                                         "bits", (int)place.bits));
            }
            json_array_append_new(lines, columns);
        }
        json_array_append_new(blocks, lines);
    }
    return json_pack("{s:s,s:o}", "target", l->target, "blocks", blocks);
}

/* Explains where a matrix of the row is, on the target or the last one of those that have it. */
static int explain_matrix(const struct catalogue *all, const bool *rows, const char *letter,
                          const char *target, bool json)
{
    static const char letters[] = "ABCD";
    struct layout l = {.target = target};
    struct wm_isa_matrix matrix;
    struct wm_isa_row row;
    while (l.row < wm_isa_row_count() && !rows[l.row])
        l.row++;
    if (!letter[0] || (letter[1] && letter[1] != ':') || !strchr(letters, letter[0]))
        return tool_fail("--matrix %s: expected A, B, C or D", letter);
    l.format = letter[1] ? letter + 2 : NULL;
    l.matrix = (enum wm_matrix)(strchr(letters, letter[0]) - letters);
    wm_isa_row(l.row, &row);
    if (!wm_isa_matrix(l.row, &matrix))
        return tool_fail("--matrix: %s is not a matrix instruction", row.name);
    for (size_t i = 0; i < all->count && !target; i++)
        if (all->forms[i].row == l.row)
            l.target = all->forms[i].target;
    if (!wm_isa_matrix_extent(l.target, l.row, l.matrix, "fp8", &l.lines, &l.columns))
        return tool_fail("--matrix: %s does not have %s", l.target, row.name);
    const bool selects = l.matrix <= WM_MATRIX_B && !strcmp(matrix.a, "f8f6f4");
    if (selects != (l.format != NULL) ||
        !wm_isa_matrix_extent(l.target, l.row, l.matrix, l.format, &l.lines, &l.columns))
        return tool_fail(
            selects ? "--matrix %s: modifiers of %s select the format: expected %c:fp8, bf8, fp6, bf6 or fp4"
                    : "--matrix %s: %s has one format: expected %c",
            letter, row.name, letter[0]);
    l.blocks = matrix.blocks;
    if (json)
        return print_json(json_of_layout(&l));
    const bool repeats = !strncmp(l.target, "gfx11", 5) && l.matrix <= WM_MATRIX_B;
    printf("%s on %s: %s, %u x %u%s%s\n", row.name, l.target, letter, l.lines, l.columns,
           matrix.sparse && l.matrix == WM_MATRIX_A ? ", those that are stored" : "",
           repeats ? ", repeated in each further 16 lanes" : "");
    print_layout(&l);
    return TOOL_CLEAN;
}

/* Prints a message with the most similar name. */
static int unknown_name(const char *name)
{
    const size_t count = wm_isa_row_count();
    const char **names = calloc(count, sizeof(*names));
    struct wm_isa_row row;
    for (size_t i = 0; names && i < count; i++)
        names[i] = wm_isa_row(i, &row) ? row.name : "";
    const char *nearest = names ? tool_nearest(name, names, count, sizeof(*names)) : NULL;
    free(names);
    if (nearest)
        return tool_fail("no target has an instruction '%s'; did you mean '%s'?", name, nearest);
    return tool_fail(
        "no target has an instruction '%s'; expected a name like v_add_f32, or a target and words in "
        "hexadecimal",
        name);
}

/* Finds the rows of a name, then all forms of these rows regardless of their names. */
static int explain_name(const char *name, bool json, const char *target, const char *matrix)
{
    struct search search = {.name = name};
    bool *rows = calloc(wm_isa_row_count() + 1, sizeof(*rows));
    int result = TOOL_CLEAN;
    if (!rows || !search_targets(&search)) {
        result = tool_fail("out of memory");
    } else {
        for (size_t i = 0; i < search.found.count; i++)
            rows[search.found.forms[i].row] = true;
        const bool found = search.found.count || !name;
        search.found.count = 0;
        search.rows = rows;
        if (!found)
            result = unknown_name(name);
        else if (!search_targets(&search))
            result = tool_fail("out of memory");
        else if (matrix)
            result = explain_matrix(&search.found, rows, matrix, target, json);
        else
            result = print_rows(&search.found, rows, json, target);
    }
    free(search.found.forms);
    free(rows);
    return result;
}

/* Processes some rows at a time, to limit memory: there are a hundred thousand forms. */
static int explain_all(void)
{
    enum { AT_A_TIME = 128 };
    const size_t count = wm_isa_row_count();
    struct search search = {0};
    bool *rows = calloc(count + 1, sizeof(*rows));
    const char *separator = "";
    int result = rows ? TOOL_CLEAN : tool_fail("out of memory");
    search.rows = rows;
    puts("[");
    for (size_t first = 0; first < count && result == TOOL_CLEAN; first += AT_A_TIME) {
        const size_t end = first + AT_A_TIME < count ? first + AT_A_TIME : count;
        memset(rows, false, count);
        memset(rows + first, true, end - first);
        search.found.count = 0;
        if (!search_targets(&search))
            result = tool_fail("out of memory");
        for (size_t row = first; row < end && result == TOOL_CLEAN; row++) {
            fputs(separator, stdout);
            separator = ",\n";
            result = print_json(json_of_row(&search.found, row));
        }
    }
    puts("]");
    free(search.found.forms);
    free(rows);
    return result;
}

static int explain_words(const char *target, char *const *texts, size_t count, bool json)
{
    uint32_t words[WORDS] = {0};
    char text[512];
    struct wm_isa_form form;
    for (size_t i = 0; i < count; i++) {
        char *end;
        const unsigned long long word = strtoull(texts[i], &end, 16);
        if (*end || !*texts[i] || word > UINT32_MAX || strchr("+- \t", texts[i][0]))
            return tool_fail("'%s': expected an instruction's word of up to eight hexadecimal digits",
                             texts[i]);
        words[i] = (uint32_t)word;
    }
    const unsigned length = wm_isa_decode(target, words, count, &form);
    if (!length)
        return tool_fail("%s...: not an instruction of %s, or words are missing", texts[0], target);
    if (length < count)
        return tool_fail("the instruction on %s has %u dwords, not %zu", target, length, count);
    wm_disassemble(target, words, count, text, sizeof(text));
    struct search search = {0};
    bool *rows = calloc(wm_isa_row_count() + 1, sizeof(*rows));
    if (!rows)
        return tool_fail("out of memory");
    rows[form.row] = true;
    search.rows = rows;
    int result = TOOL_CLEAN;
    if (!search_targets(&search)) {
        result = tool_fail("out of memory");
    } else if (json) {
        json_t *object = json_of_form(&form);
        set_text(object, "target", target);
        set_text(object, "text", text);
        char wait[WM_ISA_WAIT];
        set_text(object, "raises", wm_isa_wait(form.row, target, wait, sizeof(wait)) ? wait : NULL);
        json_object_set_new(object, "instruction", json_of_row(&search.found, form.row));
        result = print_json(object);
    } else {
        printf("%s\n\n", text);
        print_row(&search.found, form.row);
        print_form(&form, true);
        for (unsigned i = form.dwords; i < length; i++)
            printf("    dword %u\n      31:0   %-14s 0x%08" PRIx32 "\n", i, "literal, NSA", words[i]);
    }
    free(search.found.forms);
    free(rows);
    return result;
}

static int cmd_isa(int argc, char **argv)
{
    struct tool_words words = {.verb = argv[0], .options = options, .count = argc - 1, .words = argv + 1};
    char *operands[WORDS + 1];
    size_t count = 0;
    const char *target = NULL, *matrix = NULL;
    bool json = false, all = false;
    for (int id; (id = tool_next_option(&words)) != TOOL_OPTION_END;) {
        switch (id) {
        case TOOL_OPTION_WRONG:
            return TOOL_WRONG;
        case TOOL_OPTION_OPERAND:
            if (count == WORDS + 1)
                return tool_fail("unexpected '%s': no instruction has so many words", words.value);
            operands[count++] = words.words[words.next - 1];
            break;
        case HELP:
            fputs(help, stdout);
            return TOOL_CLEAN;
        case TARGET:
            target = words.value;
            break;
        case JSON:
            json = true;
            break;
        case MATRIX:
            matrix = words.value;
            break;
        default:
            all = true;
        }
    }
    if (all)
        return json && !count && !matrix ? explain_all()
                                         : tool_fail("--all goes with --json and without a name");
    if (!count)
        return tool_fail("an instruction is needed: wavemem isa v_add_f32, or wavemem isa gfx900 7e000280");
    if (target && !wm_target_known(target))
        return tool_fail("-m %s: unknown target; expected one such as gfx900", target);
    if (count == 1)
        return explain_name(operands[0], json, target, matrix);
    if (matrix)
        return tool_fail("--matrix goes with a name: wavemem isa v_mfma_f32_16x16x16_f16 --matrix A");
    if (!wm_target_known(operands[0]))
        return tool_fail("'%s': unknown target; expected one such as gfx900 before the words", operands[0]);
    return explain_words(operands[0], operands + 1, count - 1, json);
}

const struct tool_verb tool_verb_isa = {
    "isa", "explain an instruction: encodings, operands, operation", cmd_isa, help, options, NULL};
