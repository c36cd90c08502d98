/* SPDX-License-Identifier: MIT */
/* Splits .test files into cases and sections, and rejects format errors. */
#include "case.h"

#include "wavemem/wavemem.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct kind {
    const char *name;
    bool needed;      /* required for every target */
    bool for_targets; /* may be limited to targets */
    bool adds_up;     /* a target may have several */
    bool expects;     /* contains expectations */
} kinds[SECTION_KINDS] = {
    [SECTION_SOURCE] = {"source", .needed = true},
    [SECTION_TARGETS] = {"targets", .needed = true},
    [SECTION_WAVES] = {"waves"},
    [SECTION_RUN] = {"run", .for_targets = true, .adds_up = true},
    [SECTION_BEFORE] = {"before", .for_targets = true, .adds_up = true},
    [SECTION_CODE] = {"code", .needed = true, .for_targets = true},
    [SECTION_AFTER] = {"after", .for_targets = true, .adds_up = true, .expects = true},
    [SECTION_FAULT] = {"fault", .for_targets = true, .expects = true},
    [SECTION_VIOLATIONS] = {"violations", .for_targets = true, .expects = true},
    [SECTION_ACCESSES] = {"accesses", .for_targets = true, .expects = true},
    [SECTION_INSTRUCTIONS] = {"instructions", .for_targets = true, .expects = true},
    [SECTION_FAILS] = {"fails", .for_targets = true},
};

/* The targets that represent their generations; ranges consist of these. */
static const char *const main_targets[] = {"gfx600",  "gfx700",  "gfx803",  "gfx900",  "gfx906",
                                           "gfx908",  "gfx90a",  "gfx942",  "gfx1010", "gfx1030",
                                           "gfx1100", "gfx1150", "gfx1200", "gfx1250"};
enum { MAIN_TARGETS = sizeof main_targets / sizeof *main_targets };

struct parser {
    struct test_file *file;
    struct report *report;
    struct test_case *test;  /* current case, or NULL */
    struct section *section; /* current section, or NULL */
    bool titled, in_prose;   /* in_prose: the previous line was prose */
};

void complain(struct report *report, const char *path, unsigned line, const char *format, ...)
{
    va_list arguments;
    fprintf(report->out, "%s:%u: ", path, line);
    va_start(arguments, format);
    vfprintf(report->out, format, arguments);
    va_end(arguments);
    fputc('\n', report->out);
    report->messages++;
}

/* Appends a zeroed element of `size` bytes to an array of `count`. */
static void *add_element(void *array, size_t count, size_t size)
{
    char *grown = realloc(*(void **)array, (count + 1) * size);
    if (!grown) {
        fprintf(stderr, "no memory\n");
        exit(2);
    }
    memset(grown + count * size, 0, size);
    *(void **)array = grown;
    return grown + count * size;
}

bool next_word(const char **text, const char *stops, char *word, size_t size)
{
    const char *at = *text + strspn(*text, " ,");
    size_t length = 0;
    while (at[length] && at[length] != ' ' && at[length] != ',' && !strchr(stops, at[length]))
        length++;
    if (!length || length >= size)
        return false;
    memcpy(word, at, length);
    word[length] = '\0';
    *text = at + length;
    return true;
}

/* ---- targets ---- */

static int target_index(const char *name)
{
    const char *known;
    for (unsigned i = 0; (known = wm_target_at(i)) && i < 64; i++)
        if (!strcmp(known, name))
            return (int)i;
    return -1;
}

static target_set set_of(int index)
{
    return (target_set)1 << index;
}

/* "gfx900", "gfx900-gfx942" or "all". 0 for other words. */
static target_set targets_of_word(const char *word)
{
    const char *dash = strstr(word, "-gfx");
    char name[32];
    target_set set = 0;
    if (target_index(word) >= 0)
        return set_of(target_index(word));
    snprintf(name, sizeof name, "%.*s", dash ? (int)(dash - word) : 0, word);
    const int from = dash ? target_index(name) : 0, to = dash ? target_index(dash + 1) : 63;
    if ((dash && (from < 0 || to < 0)) || (!dash && strcmp(word, "all")))
        return 0;
    for (unsigned i = 0; i < MAIN_TARGETS; i++) {
        const int index = target_index(main_targets[i]);
        if (index >= from && index <= to)
            set |= set_of(index);
    }
    return set;
}

/* A list of words; those after "except" are removed from the set. 0 on error, with a message. */
static target_set parse_targets(struct parser *parser, unsigned line, const char *list)
{
    target_set set = 0;
    bool except = false;
    char word[48];
    while (next_word(&list, "", word, sizeof word)) {
        const target_set named = targets_of_word(word);
        if (!strcmp(word, "except")) {
            except = true;
            continue;
        }
        if (!named) {
            complain(parser->report, parser->file->path, line,
                     "'%s' is no target; expected gfx900, gfx900-gfx942, all, or except and some of these",
                     word);
            return 0;
        }
        set = except ? set & ~named : set | named;
    }
    if (!set)
        complain(parser->report, parser->file->path, line, "this names no target");
    return set;
}

/* ---- sections ---- */

static void add_line(struct section *section, unsigned number, char *line, size_t indent)
{
    char *text = line + indent;
    const bool has_comments = section->kind >= SECTION_RUN && section->kind <= SECTION_INSTRUCTIONS;
    if (has_comments && section->kind != SECTION_CODE) { /* comments in code are the assembler's */
        size_t length = strcspn(text, ";");
        while (length && text[length - 1] == ' ')
            length--;
        text[length] = '\0';
        if (!length)
            return;
    }
    struct text_line *added = add_element(&section->lines, section->count, sizeof *section->lines);
    *added = (struct text_line){number, (unsigned)indent, text};
    section->count++;
}

/* The section kind called `name`; SECTION_KINDS if there is none. */
static enum section_kind kind_named(const char *name, size_t length)
{
    for (unsigned i = 0; i < SECTION_KINDS; i++)
        if (strlen(kinds[i].name) == length && !memcmp(kinds[i].name, name, length))
            return (enum section_kind)i;
    return SECTION_KINDS;
}

/* "word:" or "word gfx...:" begins a section; other unindented lines are prose. Within a paragraph of prose,
 * only section names begin a section. */
static bool looks_like_section(const char *line, bool in_prose)
{
    const size_t word = strspn(line, "abcdefghijklmnopqrstuvwxyz");
    if (!word)
        return false;
    if (line[word] == ':')
        return !in_prose || kind_named(line, word) != SECTION_KINDS;
    return line[word] == ' ' && !strncmp(line + word + 1, "gfx", 3) && strchr(line, ':') &&
           (!in_prose || kind_named(line, word) != SECTION_KINDS);
}

static void begin_section(struct parser *parser, unsigned number, char *line)
{
    const char *path = parser->file->path;
    const size_t word = strspn(line, "abcdefghijklmnopqrstuvwxyz");
    const enum section_kind kind = kind_named(line, word);
    char *colon = strchr(line, ':');
    parser->section = NULL;
    if (kind == SECTION_KINDS) {
        complain(parser->report, path, number,
                 "unknown section '%.*s'; sections are source, targets, waves, run, before, code, after, "
                 "fault, violations, accesses, instructions, fails",
                 (int)word, line);
        return;
    }
    if (!parser->test) {
        complain(parser->report, path, number, "section '%s' outside a case; a line '## Title' begins one",
                 kinds[kind].name);
        return;
    }
    *colon = '\0';
    if (!kinds[kind].for_targets && colon != line + word) {
        complain(parser->report, path, number, "section '%s' is for all targets of the case",
                 kinds[kind].name);
        return;
    }
    struct section *section = add_element(&parser->test->sections, parser->test->count, sizeof *section);
    parser->test->count++;
    parser->section = section;
    section->kind = kind;
    section->line = number;
    section->targets = colon == line + word ? UINT64_MAX : parse_targets(parser, number, line + word);
    colon += 1 + strspn(colon + 1, " ");
    if (*colon)
        add_line(section, number, line, (size_t)(colon - line));
}

/* Checks the number of sections of a kind for each target of the case. */
static void check_kind(struct parser *parser, enum section_kind kind)
{
    const struct test_case *test = parser->test;
    const char *path = parser->file->path;
    target_set seen = 0;
    for (size_t i = 0; i < test->count; i++) {
        const struct section *section = &test->sections[i];
        if (section->kind != kind)
            continue;
        if (!section->count)
            complain(parser->report, path, section->line, "section '%s' is empty", kinds[kind].name);
        else if (test->targets && !(section->targets & test->targets))
            complain(parser->report, path, section->line, "this section is for none of the case's targets");
        else if (seen & section->targets && !kinds[kind].adds_up)
            complain(parser->report, path, section->line, "a second section '%s'%s", kinds[kind].name,
                     kinds[kind].for_targets ? " for the same target" : "");
        seen |= section->targets;
    }
    if (kinds[kind].needed && (!seen || test->targets & ~seen))
        complain(parser->report, path, test->line, "%s has no section '%s'",
                 seen ? "a target of this case" : "this case", kinds[kind].name);
}

static void check_expectations(struct parser *parser)
{
    const struct test_case *test = parser->test;
    target_set seen = 0;
    for (size_t i = 0; i < test->count; i++)
        if (kinds[test->sections[i].kind].expects)
            seen |= test->sections[i].targets;
    if (test->targets & ~seen || !seen)
        complain(parser->report, parser->file->path, test->line,
                 "%s expects nothing; it needs after, fault, violations, accesses or instructions",
                 seen ? "a target of this case" : "this case");
}

static void parse_waves(struct parser *parser, const struct section *section)
{
    const char *list = section->count ? section->lines[0].text : "";
    char word[16];
    while (next_word(&list, "", word, sizeof word)) {
        parser->test->wave32 |= !strcmp(word, "32");
        parser->test->wave64 |= !strcmp(word, "64");
        if (strcmp(word, "32") && strcmp(word, "64"))
            complain(parser->report, parser->file->path, section->line,
                     "waves of '%s' lanes; expected 32, 64 or both", word);
    }
    /* gfx6 to gfx9 have no wave32. */
    if (parser->test->wave32 && parser->test->targets & targets_of_word("gfx600-gfx942"))
        complain(parser->report, parser->file->path, section->line,
                 "a target of this case has no waves of 32 lanes");
}

static void end_case(struct parser *parser)
{
    struct test_case *test = parser->test;
    if (!test)
        return;
    for (size_t i = 0; i < test->count; i++)
        if (test->sections[i].kind == SECTION_TARGETS && test->sections[i].count)
            test->targets = parse_targets(parser, test->sections[i].line, test->sections[i].lines[0].text);
    for (size_t i = 0; i < test->count; i++)
        if (test->sections[i].kind == SECTION_WAVES)
            parse_waves(parser, &test->sections[i]);
    for (unsigned kind = 0; kind < SECTION_KINDS; kind++)
        check_kind(parser, (enum section_kind)kind);
    check_expectations(parser);
    parser->test = NULL;
    parser->section = NULL;
}

/* ---- lines ---- */

static void read_heading(struct parser *parser, unsigned number, char *line)
{
    if (line[1] == ' ') {
        if (parser->titled)
            complain(parser->report, parser->file->path, number, "a second title");
        parser->titled = true;
        return;
    }
    if (line[1] != '#' || line[2] != ' ') {
        complain(parser->report, parser->file->path, number,
                 "expected '# Title of the file' or '## Title of a case'");
        return;
    }
    end_case(parser);
    parser->test = add_element(&parser->file->cases, parser->file->count, sizeof *parser->test);
    parser->file->count++;
    parser->test->title = line + 3;
    parser->test->line = number;
}

static void read_line(struct parser *parser, unsigned number, char *line)
{
    const size_t indent = strspn(line, " ");
    size_t length = strlen(line);
    if (strchr(line, '\t'))
        complain(parser->report, parser->file->path, number, "a tab; lines are indented by blanks");
    while (length && isspace((unsigned char)line[length - 1]))
        line[--length] = '\0';
    if (number == 1) {
        if (strcmp(line, "SPDX-License-Identifier: MIT"))
            complain(parser->report, parser->file->path, number,
                     "expected 'SPDX-License-Identifier: MIT' in the first line");
        return;
    }
    const bool in_prose = parser->in_prose;
    parser->in_prose = false;
    if (!line[indent])
        return;
    if (indent && parser->section) {
        add_line(parser->section, number, line, indent);
    } else if (indent) {
        if (parser->test && parser->test->count) /* otherwise prose */
            complain(parser->report, parser->file->path, number,
                     "an indented line that belongs to no section");
    } else if (line[0] == '#') {
        read_heading(parser, number, line);
    } else if (looks_like_section(line, in_prose)) {
        begin_section(parser, number, line);
    } else {
        parser->section = NULL;
        parser->in_prose = true;
    }
}

bool parse_test_file(struct test_file *file, const char *path, char *text, struct report *report)
{
    struct parser parser = {.file = file, .report = report};
    const unsigned before = report->messages;
    unsigned number = 0;
    *file = (struct test_file){.path = path, .text = text};
    while (*text) {
        char *end = text + strcspn(text, "\n");
        const bool last = !*end;
        *end = '\0';
        read_line(&parser, ++number, text);
        text = last ? end : end + 1;
    }
    end_case(&parser);
    if (!parser.titled)
        complain(report, path, 1, "the file has no title: a line '# Title'");
    if (!file->count)
        complain(report, path, 1, "the file has no case: a line '## Title' begins one");
    return report->messages == before;
}

void free_test_file(struct test_file *file)
{
    for (size_t i = 0; i < file->count; i++) {
        for (size_t k = 0; k < file->cases[i].count; k++)
            free(file->cases[i].sections[k].lines);
        free(file->cases[i].sections);
    }
    free(file->cases);
    free(file->text);
}

const struct section *find_section(const struct test_case *test, enum section_kind kind, target_set target,
                                   unsigned n)
{
    for (size_t i = 0; i < test->count; i++)
        if (test->sections[i].kind == kind && test->sections[i].targets & target && n-- == 0)
            return &test->sections[i];
    return NULL;
}
