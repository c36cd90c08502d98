/* SPDX-License-Identifier: MIT */
/* Runs cases and compares registers, memory, faults and accesses with what the case expects. */
#include "check.h"

#include "machine.h"
#include "reduced.h"

#include <stdlib.h>
#include <string.h>

/* State of the comparison with the lines of one section. */
struct comparison {
    struct world *world;
    const struct outcome *outcome;
    struct tally *tally;
    unsigned line;            /* last line with a complaint; one complaint per line */
    unsigned char *mentioned; /* bytes of all memories, concatenated, that lines mention */
};

/* ---- registers and memory ---- */

static size_t memory_start(const struct world *world, const struct memory *memory)
{
    size_t start = 0;
    for (const struct memory *at = world->memories; at < memory; at++)
        start += at->bytes;
    return start;
}

static uint64_t actual_bits(const struct comparison *c, const struct place *place, uint64_t number,
                            unsigned lane)
{
    const unsigned size = type_bytes(place->type), words = size == 8 ? 2 : 1;
    const uint32_t(*rows)[MOST_LANES] = c->outcome->after.lane;
    uint64_t bits = 0;
    if (place->kind == PLACE_MEMORY) {
        memcpy(&bits, place->memory->after + number * size, size);
        memset(c->mentioned + memory_start(c->world, place->memory) + number * size, 1, size);
        return bits;
    }
    bits = rows[place->row + number * words][lane];
    if (words == 2)
        bits |= (uint64_t)rows[place->row + number * words + 1][lane] << 32;
    if (place->kind == PLACE_MODE)
        bits = bits >> place->bit & (place->width == 32 ? UINT32_MAX : (1u << place->width) - 1);
    return size < 4 ? bits & ((1u << (8 * size)) - 1) : bits;
}

static void compare_value(struct world *world, const struct assignment *a, uint64_t number, unsigned lane,
                          const struct value *value)
{
    struct comparison *c = a->user;
    struct scope scope = {.lanes = 0};
    char name[64], is[64], wanted[64];
    uint64_t bits;
    const bool any =
        value->kind == VALUE_ANY || (value->kind == VALUE_INTEGER && value->integer != value->last);
    const uint64_t actual = actual_bits(c, &a->place, number, lane);
    c->tally->values += value->kind != VALUE_ANY;
    if (c->line == a->line || (!any && !value_bits(&scope, a->place.type, value, &bits))) {
        if (c->line != a->line)
            world_complains(world, a->line, "%s", scope.error);
        c->line = a->line;
        return;
    }
    if (value_is(a->place.type, value, actual))
        return;
    name_place(name, sizeof name, &a->place, number, lane);
    show_bits(is, sizeof is, a->place.type, actual);
    show_value(wanted, sizeof wanted, a->place.type, value);
    world_complains(world, a->line, "%s is %s, expected %s", name, is, wanted);
    c->line = a->line;
}

/* State that no line mentions must be unchanged. */
static void compare_rest(struct comparison *c)
{
    const struct world *world = c->world;
    for (unsigned i = 0; i < world->memory_count; i++) {
        const struct memory *memory = &world->memories[i];
        const unsigned char *mentioned = c->mentioned + memory_start(world, memory);
        for (uint32_t at = 0; at < memory->bytes; at++) {
            if (mentioned[at] || memory->before[at] == memory->after[at])
                continue;
            world_complains(c->world, world->test->line,
                            "byte %u of '%s' is 0x%02x, expected 0x%02x as before: no line mentions it", at,
                            memory->name, memory->after[at], memory->before[at]);
            break;
        }
        c->tally->values += (memory->bytes + 3) / 4;
    }
}

static void compare_after(struct comparison *c)
{
    struct world *world = c->world;
    const struct section *section;
    size_t bytes = 1;
    bool good = true;
    for (unsigned i = 0; i < world->memory_count; i++)
        bytes += world->memories[i].bytes;
    c->mentioned = calloc(1, bytes);
    for (unsigned n = 0;
         c->mentioned && (section = find_section(world->test, SECTION_AFTER, world->target_bit, n)); n++)
        for (size_t i = 0; i < section->count; i++)
            good &= assign(world, &section->lines[i], &(struct assignment){.each = compare_value, .user = c});
    if (c->mentioned && good)
        compare_rest(c);
    free(c->mentioned);
}

/* ---- faults ---- */

static const char *const fault_kinds[] = {
    [WM_FAULT_NONE] = "none",
    [WM_FAULT_MEMORY] = "memory",
    [WM_FAULT_READ_ONLY] = "read_only",
    [WM_FAULT_MISALIGNED] = "misaligned",
    [WM_FAULT_INSTRUCTION] = "instruction",
    [WM_FAULT_TODO] = "todo",
    [WM_FAULT_TRAP] = "trap",
    [WM_FAULT_BUDGET] = "budget",
    [WM_FAULT_TIMEOUT] = "timeout",
    [WM_FAULT_DEADLOCK] = "deadlock",
    [WM_FAULT_STOPPED] = "stopped",
    [WM_FAULT_CODE_LIMIT] = "code_limit",
    [WM_FAULT_NO_MEMORY] = "no_memory",
    [WM_FAULT_APERTURE] = "aperture",
    [WM_FAULT_PRIVATE_ATOMIC] = "private_atomic",
    [WM_FAULT_RESOURCE] = "resource",
    [WM_FAULT_OFFSET] = "offset",
};
enum { FAULT_KINDS = sizeof fault_kinds / sizeof *fault_kinds };

static const char *fault_name(enum wm_fault_kind kind)
{
    return (unsigned)kind < FAULT_KINDS ? fault_kinds[kind] : "unknown";
}

/* The text after "name =" in a line, or NULL. */
static const char *value_of(const char *line, const char *name)
{
    const size_t length = strlen(name);
    if (strncmp(line, name, length))
        return NULL;
    line += length + strspn(line + length, " ");
    return *line == '=' ? line + 1 + strspn(line + 1, " ") : NULL;
}

/* Compares a number with the text of a line. */
static void compare_figure(struct comparison *c, unsigned line, const char *name, const char *text,
                           uint64_t is)
{
    char wanted[64];
    struct value value;
    c->tally->values++;
    if (!world_value(c->world, line, text, &value) || value_is(TYPE_U64, &value, is))
        return;
    show_value(wanted, sizeof wanted, TYPE_U64, &value);
    world_complains(c->world, line, "%s is 0x%llx (%llu), expected %s", name, (unsigned long long)is,
                    (unsigned long long)is, wanted);
}

/* Compares one line of `fault` or `violations` after the first. */
static void compare_fault_line(struct comparison *c, const struct text_line *line,
                               const struct wm_fault *fault)
{
    const struct {
        const char *name;
        uint64_t is;
    } fields[] = {{"pc", fault->pc},       {"low", fault->low},
                  {"high", fault->high},   {"lanes", fault->lanes},
                  {"bytes", fault->bytes}, {"store", fault->store},
                  {"wave", fault->wave},   {"workgroup", fault->workgroup[0]}};
    struct world *world = c->world;
    const char *text = value_of(line->text, "text"), *kind = value_of(line->text, "kind");
    const char *is = fault_name(fault->kind);
    if (text || kind) {
        c->tally->values++;
        if (text && !strstr(fault->text, text))
            world_complains(world, line->number, "the report does not say '%s':\n%s", text, fault->text);
        if (kind && strcmp(kind, is))
            world_complains(world, line->number, "a fault of kind %s, expected %s:\n%s", is, kind,
                            fault->text);
        return;
    }
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *value = value_of(line->text, fields[i].name);
        if (!value)
            continue;
        compare_figure(c, line->number, fields[i].name, value, fields[i].is);
        return;
    }
    world_complains(world, line->number,
                    "expected kind, text, pc, low, high, lanes, bytes, store, wave or workgroup = value");
}

/* Whether the run ended as the case expects; if not, nothing else is compared. */
static bool compare_fault(struct comparison *c)
{
    struct world *world = c->world;
    const struct wm_fault *fault = &c->outcome->fault;
    const struct section *section = find_section(world->test, SECTION_FAULT, world->target_bit, 0);
    const char *is = fault_name(fault->kind);
    const char *wanted = section ? section->lines[0].text : "none";
    bool known = false;
    for (unsigned i = 0; i < FAULT_KINDS; i++)
        known |= !strcmp(fault_kinds[i], wanted);
    c->tally->values++;
    if (!known)
        world_complains(world, section->lines[0].number, "'%s' is no kind of fault", wanted);
    else if (strcmp(wanted, is))
        world_complains(world, section ? section->line : world->test->line,
                        "ends with a fault of kind %s, expected %s:\n%s", is, wanted, fault->text);
    if (!known || strcmp(wanted, is))
        return false;
    for (size_t i = 1; section && i < section->count; i++)
        compare_fault_line(c, &section->lines[i], fault);
    return true;
}

static void compare_violations(struct comparison *c)
{
    struct world *world = c->world;
    const struct section *section = find_section(world->test, SECTION_VIOLATIONS, world->target_bit, 0);
    const struct text_line none = {world->test->line, 0, (char[]){"0"}};
    const struct text_line *count = section ? &section->lines[0] : &none;
    compare_figure(c, count->number, "the number of violations", count->text, c->outcome->violations);
    for (size_t i = 1; section && i < section->count; i++)
        compare_fault_line(c, &section->lines[i], &c->outcome->violation);
}

/* ---- accesses ---- */

/* "TEXT = PATH operation, lanes 64, bytes 4". */
static void compare_access(struct comparison *c, const struct text_line *line, const struct access *access)
{
    const struct {
        const char *name;
        uint64_t is;
    } figures[] = {{"executions", access->executions}, {"lanes", access->lanes},
                   {"bytes", access->bytes},           {"distinct", access->distinct_bytes},
                   {"lines", access->lines},           {"conflicts", access->lds_conflicts}};
    struct world *world = c->world;
    const char *at = strstr(line->text, " = ");
    char word[32], number[32];
    size_t i;
    if (!at) {
        world_complains(world, line->number, "expected 'instruction = PATH operation, figures'");
        return;
    }
    c->tally->values++;
    if (strlen(access->text) != (size_t)(at - line->text) ||
        memcmp(access->text, line->text, strlen(access->text)))
        world_complains(world, line->number, "the access is by '%s'", access->text);
    for (at += 3; next_word(&at, "", word, sizeof word);) {
        if (!strcmp(word, access->path) || !strcmp(word, access->operation))
            continue;
        for (i = 0; i < sizeof figures / sizeof *figures && strcmp(figures[i].name, word); i++)
            ;
        if (i == sizeof figures / sizeof *figures || !next_word(&at, "", number, sizeof number)) {
            world_complains(world, line->number,
                            "'%s': the access is '%s %s', with executions, lanes, bytes, distinct, lines, "
                            "conflicts",
                            word, access->path, access->operation);
            return;
        }
        compare_figure(c, line->number, word, number, figures[i].is);
    }
}

static void compare_accesses(struct comparison *c)
{
    struct world *world = c->world;
    const struct section *section = find_section(world->test, SECTION_ACCESSES, world->target_bit, 0);
    if (!section || !c->outcome->observed)
        return;
    for (size_t i = 0; i < section->count && i < c->outcome->access_count; i++)
        compare_access(c, &section->lines[i], &c->outcome->accesses[i]);
    if (section->count < c->outcome->access_count)
        world_complains(world, section->line, "another access, by '%s'",
                        c->outcome->accesses[section->count].text);
    else if (section->count > c->outcome->access_count)
        world_complains(world, section->lines[c->outcome->access_count].number, "there is no such access");
}

/* ---- running ---- */

static void compare(struct world *world, const struct outcome *outcome, struct tally *tally)
{
    struct comparison c = {.world = world, .outcome = outcome, .tally = tally};
    const struct section *count = find_section(world->test, SECTION_INSTRUCTIONS, world->target_bit, 0);
    bool wants_registers = false;
    if (!compare_fault(&c))
        return;
    compare_violations(&c);
    for (unsigned row = 0; row < ROWS; row++)
        wants_registers |= world->wanted[row];
    if (outcome->fault.kind == WM_FAULT_NONE && wants_registers && !outcome->reached_end) {
        world_complains(world, world->test->line,
                        "the wave ended before the end of the code: its registers are unknown");
        return;
    }
    compare_after(&c);
    compare_accesses(&c);
    if (count)
        compare_figure(&c, count->line, "the number of instructions", count->lines[0].text,
                       outcome->instructions);
}

static const char *const levels[] = {"baseline", "avx2", "avx512"};

static void name_context(struct world *world, const char *level, bool observed, unsigned threads)
{
    snprintf(world->context, sizeof world->context, "%s, waves of %u", world->target, world->lanes);
    const size_t length = strlen(world->context);
    if (level)
        snprintf(world->context + length, sizeof world->context - length, ", %s%s, %u thread%s", level,
                 observed ? ", observed" : "", threads, threads == 1 ? "" : "s");
}

/* Runs all CPU levels, observed and unobserved, until one fails. */
static void run_world(struct world *world, struct tally *tally)
{
    struct outcome *outcome = malloc(sizeof *outcome);
    const unsigned before = world->report->messages;
    for (unsigned i = 0; outcome && i < 3 * 2 * world->run.thread_counts; i++) {
        const unsigned level = i / 2 % 3, threads = world->run.threads[i / 6];
        const bool observed = i % 2, last = level == 2 || !machine_has_level(levels[level + 1]);
        if (!machine_has_level(levels[level]) || (reduced() && !last))
            continue;
        name_context(world, levels[level], observed, threads);
        tally->runs++;
        if (machine_run(world, levels[level], observed, threads, outcome))
            compare(world, outcome, tally);
        if (world->report->messages != before)
            break;
    }
    free(outcome);
}

/* Runs the case on one target with one wave size. */
static void run_target(const struct test_file *file, const struct test_case *test, unsigned index,
                       unsigned lanes, struct report *report, struct tally *tally)
{
    struct world *world = calloc(1, sizeof *world);
    if (!world) {
        complain(report, file->path, test->line, "no memory");
        return;
    }
    world->file = file;
    world->test = test;
    world->target = wm_target_at(index);
    world->target_bit = (target_set)1 << index;
    world->lanes = lanes;
    world->report = report;
    name_context(world, NULL, false, 0);
    const unsigned before = report->messages;
    if (machine_create(world) && prepare_world(world) && report->messages == before && machine_load(world))
        run_world(world, tally);
    free_world(world);
}

/* With `fails`, wavemem is known to deviate from the case on some targets. */
static void run_or_fail(const struct test_file *file, const struct test_case *test, unsigned index,
                        unsigned lanes, struct report *report, struct tally *tally)
{
    const struct section *fails = find_section(test, SECTION_FAILS, (target_set)1 << index, 0);
    char *text = NULL;
    size_t size;
    struct report kept = {.out = fails ? open_memstream(&text, &size) : report->out};
    run_target(file, test, index, lanes, fails ? &kept : report, tally);
    if (!fails)
        return;
    fclose(kept.out);
    if (!kept.messages)
        complain(report, file->path, fails->line,
                 "%s, waves of %u: it does not fail any more; remove 'fails'", wm_target_at(index), lanes);
    free(text);
}

void check_file(const struct test_file *file, struct report *report, struct tally *tally)
{
    for (size_t i = 0; i < file->count; i++) {
        const struct test_case *test = &file->cases[i];
        for (unsigned index = 0; index < 64 && wm_target_at(index); index++) {
            const bool old = wm_target_at(index)[strlen("gfx9xx")] == '\0'; /* gfx6 to gfx9 */
            if (!(test->targets >> index & 1))
                continue;
            if (test->wave32 || (!test->wave64 && !old))
                run_or_fail(file, test, index, 32, report, tally);
            if (test->wave64 || (!test->wave32 && old))
                run_or_fail(file, test, index, 64, report, tally);
        }
        tally->cases++;
    }
}
