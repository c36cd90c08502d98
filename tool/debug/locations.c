/* SPDX-License-Identifier: MIT */
/* Locations: how the user names code. */
#include "tool/debug/locations.h"

#include "tool/debug/evaluate.h"
#include "tool/tool.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- locations ---- */

struct found {
    uint64_t *addresses;
    size_t count;
    bool lost;
};

static void add(struct found *found, uint64_t pc)
{
    uint64_t *larger = realloc(found->addresses, (found->count + 1) * sizeof *larger);
    found->lost |= !larger;
    if (!larger)
        return;
    found->addresses = larger;
    larger[found->count++] = pc;
}

/* Whether one of the two names ends with the other, at a slash: debug information and users abbreviate. */
static bool is_file(const char *file, const char *wanted, size_t length)
{
    const size_t all = strlen(file), least = all < length ? all : length;
    const char *longer = all > length ? file : wanted;
    const size_t more = all > length ? all - length : length - all;
    return least && !strncmp(file + all - least, wanted + length - least, least) &&
           (!more || longer[more - 1] == '/');
}

/* Lines of a file: the first address of each function, of each copy of an inlined one, and of each copy that
 * an unrolled loop has made. Such a copy begins in a basic block of its own, with a column that the first one
 * has. */
struct line_search {
    const struct debug_session *s;
    struct found found;
    const char *file;
    size_t file_length;
    unsigned wanted, nearest; /* line; the next one above it that has code */
    bool before;              /* the instruction before was of this line, in this basic block */
    bool in_first;            /* so were all since the last address that was added for its function */
    bool in_block;            /* the basic block has an address that was added */
    /* Of the last function, or copy of an inlined one, for which an address was added. */
    const char *symbol;
    struct wm_inlined copy;
    unsigned columns[16], column_count;
};

static bool has_column(const struct line_search *search, unsigned column)
{
    for (unsigned i = 0; i < search->column_count; i++)
        if (search->columns[i] == column)
            return true;
    return false;
}

static bool see_line(void *user, const struct debug_place *place, uint64_t pc,
                     const struct wm_instruction *instruction)
{
    struct line_search *search = user;
    const bool in_file = place->file && is_file(place->file, search->file, search->file_length);
    if (in_file && place->line >= search->wanted && (!search->nearest || place->line < search->nearest))
        search->nearest = place->line;
    const bool here = in_file && place->line == search->wanted;
    struct wm_inlined copy = {0};
    wm_object_inlined(place->object, place->address, 0, &copy);
    const bool known = search->found.count && search->symbol == place->symbol &&
                       search->copy.function == copy.function && search->copy.call_line == copy.call_line &&
                       search->copy.call_column == copy.call_column;
    const bool begins = here && !search->before;
    search->in_first &= here;
    if (begins && !known) {
        search->symbol = place->symbol;
        search->copy = copy;
        search->column_count = 0;
        search->in_first = true;
    }
    if (search->in_first && search->column_count < sizeof search->columns / sizeof *search->columns)
        search->columns[search->column_count++] = place->column;
    if (begins && (!known || (!search->in_block && has_column(search, place->column)))) {
        add(&search->found, pc);
        search->in_block = true;
    }
    const bool ends_block = instruction->flags & (WM_INSTRUCTION_BRANCH | WM_INSTRUCTION_ENDS);
    search->in_block &= !ends_block;
    search->in_first &= !ends_block;
    search->before = here && !ends_block;
    return true;
}

static bool find_line(struct debug_session *s, const char *file, size_t length, unsigned line,
                      struct found *found, struct wm_diag *diag)
{
    struct line_search search = {.s = s, .file = file, .file_length = length, .wanted = line};
    debug_each_instruction(s, see_line, &search);
    if (!search.found.count && search.nearest) {
        search.wanted = search.nearest;
        debug_each_instruction(s, see_line, &search);
    }
    *found = search.found;
    return found->count ||
           tool_because(diag,
                        TOOL_HAS_DWARF ? "No line %u in file \"%.*s\"." : TOOL_NO_DWARF " (line %u of %.*s)",
                        line, (int)length, file);
}

struct insn_search {
    struct found found;
    const char *pattern;
};

static bool matches(const struct wm_instruction *i, const char *pattern)
{
    static const struct {
        const char *name;
        uint32_t flags;
    } classes[] = {{"load", WM_INSTRUCTION_LOAD},
                   {"store", WM_INSTRUCTION_STORE},
                   {"atomic", WM_INSTRUCTION_ATOMIC},
                   {"branch", WM_INSTRUCTION_BRANCH},
                   {"end", WM_INSTRUCTION_ENDS}};
    for (size_t c = 0; c < sizeof classes / sizeof *classes; c++)
        if (!strcmp(pattern, classes[c].name))
            return i->flags & classes[c].flags;
    if (!strcmp(pattern, "barrier"))
        return !strncmp(i->name, "s_barrier", 9);
    if (!strcmp(pattern, "call"))
        return debug_is_call(i);
    if (!strcmp(pattern, "lds"))
        return !strcmp(i->kind, "DS");
    return !fnmatch(pattern, i->name, 0) || (i->second_name && !fnmatch(pattern, i->second_name, 0));
}

static bool see_insn(void *user, const struct debug_place *place, uint64_t pc,
                     const struct wm_instruction *instruction)
{
    struct insn_search *search = user;
    (void)place;
    if (matches(instruction, search->pattern))
        add(&search->found, pc);
    return true;
}

struct function_search {
    struct found found;
    const char *name;
    uint64_t offset;
};

/* A function of C++ by its name without parameters, or with them. */
static bool see_function(void *user, const struct debug_place *place, uint64_t pc,
                         const struct wm_instruction *instruction)
{
    struct function_search *search = user;
    char name[TOOL_NAME];
    (void)instruction;
    if (place->offset || !place->symbol)
        return true;
    const char *text = tool_name(place->symbol, name);
    const size_t length = strcspn(text, "(");
    if (!strcmp(text, search->name) ||
        (strlen(search->name) == length && !strncmp(text, search->name, length)))
        add(&search->found, pc + search->offset);
    return true;
}

static bool find_function(struct debug_session *s, const char *text, struct found *found,
                          struct wm_diag *diag)
{
    const char *plus = strrchr(text, '+');
    uint64_t offset = 0;
    char *name =
        plus && tool_parse_u64(plus + 1, &offset) ? strndup(text, (size_t)(plus - text)) : strdup(text);
    for (size_t i = 0; name && i < s->job->opened_count && !found->count; i++) {
        const struct wm_object *object = s->job->opened[i].object;
        const struct wm_kernel *kernel;
        uint64_t address, size, bias;
        if (wm_object_find_kernel(object, name, &kernel, NULL) == WM_OK && debug_bias(s, object, &bias))
            add(found, kernel->entry + bias + offset);
        else if (wm_symbol(s->machine, object, name, &address, &size, NULL) == WM_OK)
            add(found, address + offset);
    }
    if (!found->count && name) {
        struct function_search search = {.name = name, .offset = offset};
        debug_each_instruction(s, see_function, &search);
        *found = search.found;
    }
    if (!found->count)
        tool_because(diag, "Function \"%s\" not defined.", text);
    free(name);
    return found->count;
}

bool debug_locate(struct debug_session *s, const char *location, uint64_t **addresses, size_t *count,
                  struct wm_diag *diag)
{
    struct found found = {0};
    const char *colon = strrchr(location, ':');
    uint64_t number;
    bool good;
    if (*location == '*') {
        struct debug_value value;
        good = debug_evaluate(s, location + 1, s->lane, &value, diag);
        if (good)
            add(&found, value.bits);
    } else if (!strncmp(location, "insn ", 5)) {
        struct insn_search search = {.pattern = location + 5 + strspn(location + 5, " ")};
        debug_each_instruction(s, see_insn, &search);
        found = search.found;
        good = found.count || tool_because(diag, "No instruction matches \"%s\".", search.pattern);
    } else if (tool_parse_u64(location, &number) && number <= UINT32_MAX) {
        const char *file = debug_place_of(s, s->state == DEBUG_STOPPED ? s->wave.pc : 0).file;
        unsigned line;
        if (!file && !wm_kernel_line(debug_dispatch(s)->object, debug_dispatch(s)->kernel, &file, &line))
            return tool_because(diag, "No symbol table is loaded: the code object has no source lines.");
        good = find_line(s, file, strlen(file), (unsigned)number, &found, diag);
    } else if (colon && colon > location && tool_parse_u64(colon + 1, &number) && number <= UINT32_MAX) {
        good = find_line(s, location, (size_t)(colon - location), (unsigned)number, &found, diag);
    } else {
        good = find_function(s, location, &found, diag);
    }
    if (good && found.lost)
        good = tool_because(diag, "out of memory");
    struct wm_instruction instruction;
    for (size_t i = 0; i < found.count && good; i++)
        if (!debug_instruction(s, found.addresses[i], &instruction, NULL))
            good = tool_because(diag, "No instruction at 0x%" PRIx64 ".", found.addresses[i]);
    if (!good)
        free(found.addresses);
    *addresses = found.addresses;
    *count = found.count;
    return good;
}
