/* SPDX-License-Identifier: MIT */
/* Evaluates the lines of instruction tests that describe registers and memory. */
#include "world.h"

#include "machine.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MEMORY = 1 << 20, MOST_LDS = 64 << 10 };

void world_complains(struct world *world, unsigned line, const char *format, ...)
{
    char message[1600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    complain(world->report, world->file->path, line, "%s: %s", world->context, message);
}

/* ---- names in expressions ---- */

static struct memory *memory_named(struct world *world, const char *name, size_t length)
{
    for (unsigned i = 0; i < world->memory_count; i++)
        if (strlen(world->memories[i].name) == length && !memcmp(world->memories[i].name, name, length))
            return &world->memories[i];
    return NULL;
}

static const struct named_row {
    const char *name;
    unsigned row;
    bool is_mask; /* two dwords in wave64 */
} named_rows[] = {
    {"exec", ROW_EXEC, true}, {"vcc", ROW_VCC, true}, {"m0", ROW_M0, false}, {"scc", ROW_SCC, false}};

/* v5, a5, s5, or v, a, s with numbers in brackets; exec and others. False if it is not a register. */
static bool register_rows(const struct world *world, const char *name, size_t length, const uint64_t *index,
                          unsigned *row, unsigned *rows)
{
    static const struct {
        char letter;
        unsigned row, limit;
    } files[] = {{'v', ROW_V, CASE_VGPRS}, {'a', ROW_A, 256}, {'s', ROW_S, CASE_SGPRS}};
    char *end;
    *rows = 1;
    for (unsigned i = 0; i < 4; i++)
        if (strlen(named_rows[i].name) == length && !memcmp(name, named_rows[i].name, length)) {
            *row = named_rows[i].row;
            *rows = named_rows[i].is_mask && world->lanes == 64 ? 2 : 1;
            return !index;
        }
    for (unsigned i = 0; i < 3; i++) {
        const bool single = length > 1 && isdigit((unsigned char)name[1]);
        if (*name != files[i].letter || (length > 1 ? !single || index : !index))
            continue;
        const uint64_t first = single ? strtoull(name + 1, &end, 10) : index[0];
        const uint64_t last = single ? first : index[1];
        if ((single && end != name + length) || last < first || last >= files[i].limit)
            return false;
        *row = files[i].row + (unsigned)first;
        *rows = (unsigned)(last - first + 1);
        return true;
    }
    return false;
}

static bool look_up(void *user, struct scope *scope, const char *name, size_t length, const uint64_t *index,
                    uint64_t *value)
{
    struct world *world = user;
    unsigned row, rows;
    char label[64];
    const bool address = *name == '&';
    const struct memory *memory = memory_named(world, name + address, length - address);
    snprintf(label, sizeof label, "%.*s", (int)(length - address), name + address);
    *value = 0;
    if (address && memory) {
        *value = memory->address;
    } else if (address) {
        if (!machine_label(world, label, value))
            snprintf(scope->error, sizeof scope->error, "no memory or label is named '%s'", label);
    } else if (memory) {
        if (!index || index[0] >= memory->bytes / 4)
            snprintf(scope->error, sizeof scope->error, "'%s' has dwords [0] to [%u]", label,
                     memory->bytes / 4 - 1);
        else
            *value = ((const uint32_t *)memory->before)[index[0]];
    } else if (!register_rows(world, name, length, index, &row, &rows) || rows > 2) {
        snprintf(scope->error, sizeof scope->error, "'%s' is no register or memory of this case", label);
    } else if (!world->before.set[row] || !world->before.set[row + rows - 1]) {
        snprintf(scope->error, sizeof scope->error, "'%s' is not set before the code", label);
    } else if (row < ROW_S && !scope->has_lane) {
        snprintf(scope->error, sizeof scope->error, "'%s' has a value in each lane, and here is none", label);
    } else {
        const unsigned lane = row < ROW_S ? scope->lane : 0;
        *value = world->before.lane[row][lane];
        if (rows == 2)
            *value |= (uint64_t)world->before.lane[row + 1][lane] << 32;
    }
    return !*scope->error;
}

/* ---- places ---- */

static const struct {
    const char *name;
    unsigned bit, width;
} mode_fields[] = {
    {"mode", 0, 32},           {"mode.round_f32", 0, 2},      {"mode.round_f16_f64", 2, 2},
    {"mode.denorm_f32", 4, 2}, {"mode.denorm_f16_f64", 6, 2}, {"mode.dx10_clamp", 8, 1},
    {"mode.ieee", 9, 1},       {"mode.fp16_ovfl", 23, 1},
};

/* Parses a number at *at. */
static bool parse_number(const char **at, uint64_t *number)
{
    char *end;
    *at += strspn(*at, " ");
    if (!isdigit((unsigned char)**at))
        return false;
    *number = strtoull(*at, &end, 0);
    *at = end;
    return true;
}

/* "[3]", "[3:5]" or "[3..5]" after a name: returns the separator, 0 for a single number. False on error. */
static bool parse_index(const char **at, uint64_t index[2], char *separator)
{
    *separator = 0;
    ++*at;
    if (!parse_number(at, &index[0]))
        return false;
    index[1] = index[0];
    if (**at == ':' || !strncmp(*at, "..", 2)) {
        *separator = **at;
        *at += **at == ':' ? 1 : 2;
        if (!parse_number(at, &index[1]))
            return false;
    }
    return *(*at)++ == ']';
}

static bool parse_memory_place(struct place *place, const uint64_t *index, char separator, char error[512])
{
    const unsigned size = type_bytes(place->type == TYPES ? TYPE_U32 : place->type);
    const uint64_t elements = place->memory->bytes / size;
    place->kind = PLACE_MEMORY;
    place->from = index ? index[0] : 0;
    place->count = index ? index[1] - index[0] + 1 : elements;
    if (separator == ':' || (index && (index[1] < index[0] || index[1] >= elements))) {
        snprintf(error, 512, "'%s' has elements [0..%llu]", place->memory->name,
                 (unsigned long long)elements - 1);
        return false;
    }
    return true;
}

/* [type] name, optionally with an index. */
static bool parse_left(struct world *world, const char **at, struct place *place, char error[512])
{
    uint64_t index[2];
    char separator = 0;
    *place = (struct place){.type = type_named(*at)};
    if (place->type != TYPES)
        *at += strcspn(*at, " "), *at += strspn(*at, " ");
    const char *name = *at;
    while (isalnum((unsigned char)**at) || **at == '_' || **at == '.')
        ++*at;
    const size_t length = (size_t)(*at - name);
    const bool indexed = **at == '[';
    if (!length || (indexed && !parse_index(at, index, &separator))) {
        snprintf(error, 512, "expected a register or memory, as v1, s[2:3] or data[0..7], at '%s'", name);
        return false;
    }
    place->memory = memory_named(world, name, length);
    if (place->memory)
        return parse_memory_place(place, indexed ? index : NULL, separator, error);
    for (size_t i = 0; i < sizeof mode_fields / sizeof *mode_fields; i++)
        if (strlen(mode_fields[i].name) == length && !memcmp(mode_fields[i].name, name, length)) {
            place->kind = PLACE_MODE;
            place->row = ROW_MODE;
            place->rows = 1;
            place->bit = mode_fields[i].bit;
            place->width = mode_fields[i].width;
            return true;
        }
    place->kind = PLACE_ROWS;
    if (separator == '.' ||
        !register_rows(world, name, length, indexed ? index : NULL, &place->row, &place->rows)) {
        snprintf(
            error, 512,
            "'%.*s' is no register or memory of this case; registers are v0 to v%u, s0 to s%u, a0 to a255, "
            "exec, vcc, m0, scc and mode",
            (int)length, name, CASE_VGPRS - 1, CASE_SGPRS - 1);
        return false;
    }
    place->by_lane = place->row < ROW_S;
    place->is_mask = place->row == ROW_EXEC || place->row == ROW_VCC;
    return true;
}

void name_place(char *text, size_t size, const struct place *place, uint64_t number, unsigned lane)
{
    const unsigned step = place->type != TYPES && type_bytes(place->type) == 8 ? 2 : 1;
    const unsigned row = place->row + (unsigned)number * step;
    if (place->kind == PLACE_MEMORY) {
        snprintf(text, size, "%s[%llu]", place->memory->name, (unsigned long long)number);
        return;
    }
    if (place->kind == PLACE_MODE) {
        snprintf(text, size, "mode bits [%u:%u]", place->bit + place->width - 1, place->bit);
        return;
    }
    for (unsigned i = 0; i < 4; i++)
        if (named_rows[i].row == row) {
            snprintf(text, size, "%s", named_rows[i].name);
            return;
        }
    const char letter = row < ROW_A ? 'v' : row < ROW_S ? 'a' : 's';
    const unsigned first = row - (row < ROW_A ? ROW_V : row < ROW_S ? ROW_A : ROW_S);
    const int at = step == 2 ? snprintf(text, size, "%c[%u:%u]", letter, first, first + 1)
                             : snprintf(text, size, "%c%u", letter, first);
    if (place->by_lane)
        snprintf(text + at, size - (size_t)at, ", lane %u,", lane);
}

/* ---- values ---- */

enum { MOST_LISTED = 256 };

/* Reads a list in braces at *at; *goes_on: its last value applies to all further elements. */
static unsigned read_list(struct scope *scope, const char **at, struct value values[MOST_LISTED],
                          bool *goes_on)
{
    unsigned count = 0;
    *goes_on = false;
    do {
        ++*at; /* brace or comma */
        if (count == MOST_LISTED || !evaluate(scope, at, &values[count++]))
            return 0;
    } while (**at == ',');
    if (!strncmp(*at, "...", 3)) {
        *goes_on = true;
        *at += 3 + strspn(*at + 3, " ");
    }
    if (**at != '}') {
        snprintf(scope->error, sizeof scope->error, "expected ',' or '}' at '%s'", *at);
        return 0;
    }
    ++*at;
    return count;
}

/* The item at *at for the n-th lane or element: an expression, the n-th value of a list in braces, or, if an
 * index follows the list, the value at that index. */
static bool item_value(struct scope *scope, const char **at, uint64_t n, struct value *value)
{
    struct value values[MOST_LISTED], index;
    bool goes_on;
    if (**at != '{')
        return evaluate(scope, at, value);
    const unsigned count = read_list(scope, at, values, &goes_on);
    if (count && **at == '[') {
        ++*at;
        if (!evaluate(scope, at, &index))
            return false;
        *at += **at == ']';
        n = (uint64_t)index.integer;
    }
    if (count && n >= count && !goes_on)
        snprintf(
            scope->error, sizeof scope->error,
            "the list has %u values; it needs one for number %llu, or '...' behind the last for all others",
            count, (unsigned long long)n);
    else if (count)
        *value = values[n < count ? n : count - 1];
    return !*scope->error;
}

enum { MOST_ITEMS = 256 };

/* Splits at commas outside brackets. */
static unsigned split_items(const char *text, const char *items[MOST_ITEMS])
{
    unsigned count = 0;
    int depth = 0;
    items[count++] = text + strspn(text, " ");
    for (; *text && count < MOST_ITEMS; text++) {
        depth += strchr("([{", *text) ? 1 : strchr(")]}", *text) ? -1 : 0;
        if (*text == ',' && !depth)
            items[count++] = text + 1 + strspn(text + 1, " ");
    }
    return count;
}

static bool at_end_of_item(struct scope *scope, const char *at)
{
    at += strspn(at, " ");
    if (*at && *at != ',')
        snprintf(scope->error, sizeof scope->error, "expected the end of a value at '%s'", at);
    return !*scope->error;
}

static bool assign_elements(struct world *world, struct assignment *a, struct scope *scope,
                            const char *const *items, unsigned count)
{
    struct value value;
    if (a->place.type == TYPES)
        a->place.type = TYPE_U32;
    if (count != 1 && count != a->place.count) {
        snprintf(scope->error, sizeof scope->error, "%u values for %llu elements", count,
                 (unsigned long long)a->place.count);
        return false;
    }
    scope->has_i = true;
    for (uint64_t k = 0; k < a->place.count; k++) {
        const char *at = items[count == 1 ? 0 : k];
        scope->i = a->place.from + k;
        if (!item_value(scope, &at, k, &value) || !at_end_of_item(scope, at))
            return false;
        a->each(world, a, scope->i, 0, &value);
        if (*scope->error)
            return false;
    }
    return true;
}

static bool assign_descriptor(struct world *world, struct assignment *a, struct scope *scope,
                              const char *item)
{
    uint32_t words[8];
    const unsigned count = machine_descriptor(world, scope, &item, words);
    if (!count || !at_end_of_item(scope, item))
        return false;
    if (a->place.by_lane || a->place.rows != count) {
        snprintf(scope->error, sizeof scope->error, "the descriptor takes %u SGPRs", count);
        return false;
    }
    a->place.type = TYPE_U32;
    for (unsigned i = 0; i < count; i++)
        a->each(world, a, i, 0, &(struct value){.integer = words[i], .last = words[i]});
    return true;
}

static bool assign_rows(struct world *world, struct assignment *a, struct scope *scope,
                        const char *const *items, unsigned count)
{
    struct value value;
    struct place *place = &a->place;
    if (place->type == TYPES)
        place->type = place->rows == 2 && count == 1 ? TYPE_U64 : TYPE_U32;
    const unsigned each = type_bytes(place->type) == 8 ? 2 : 1;
    if (place->rows != each * count) {
        snprintf(scope->error, sizeof scope->error, "%u value%s of type %s for %u register%s", count,
                 count == 1 ? "" : "s", type_name(place->type), place->rows, place->rows == 1 ? "" : "s");
        return false;
    }
    scope->has_lane = place->by_lane;
    for (unsigned k = 0; k < count; k++)
        for (scope->lane = 0; scope->lane < (place->by_lane ? world->lanes : 1); scope->lane++) {
            const char *at = items[k];
            if (!item_value(scope, &at, scope->lane, &value) || !at_end_of_item(scope, at))
                return false;
            if (place->is_mask && world->lanes == 32 && value.kind == VALUE_INTEGER)
                value.integer = value.last = (uint32_t)value.integer;
            a->each(world, a, k, scope->lane, &value);
        }
    return true;
}

static bool is_descriptor(const char *item)
{
    return !strncmp(item, "buffer(", 7) || !strncmp(item, "image(", 6) || !strncmp(item, "sampler(", 8);
}

bool assign(struct world *world, const struct text_line *line, struct assignment *assignment)
{
    struct scope scope = {.lanes = world->lanes, .look_up = look_up, .user = world};
    const char *at = line->text, *items[MOST_ITEMS];
    assignment->line = line->number;
    if (parse_left(world, &at, &assignment->place, scope.error)) {
        at += strspn(at, " ");
        if (*at != '=') {
            snprintf(scope.error, sizeof scope.error, "expected '=' at '%s'", at);
        } else {
            const unsigned count = split_items(at + 1, items);
            if (assignment->place.kind == PLACE_MEMORY)
                assign_elements(world, assignment, &scope, items, count);
            else if (is_descriptor(items[0]))
                assign_descriptor(world, assignment, &scope, items[0]);
            else
                assign_rows(world, assignment, &scope, items, count);
        }
    }
    if (*scope.error)
        world_complains(world, line->number, "%s", scope.error);
    return !*scope.error;
}

bool world_value(struct world *world, unsigned line, const char *text, struct value *value)
{
    struct scope scope = {.lanes = world->lanes, .look_up = look_up, .user = world};
    if (evaluate(&scope, &text, value) && at_end_of_item(&scope, text))
        return true;
    world_complains(world, line, "%s", scope.error);
    return false;
}

/* ---- before ---- */

static void set_value(struct world *world, const struct assignment *a, uint64_t number, unsigned lane,
                      const struct value *value)
{
    struct scope scope = {.lanes = 0};
    uint64_t bits = 0;
    const struct place *place = &a->place;
    if (!value_bits(&scope, place->type, value, &bits)) {
        if (!*(bool *)a->user)
            world_complains(world, a->line, "%s", scope.error);
        *(bool *)a->user = true;
        return;
    }
    if (place->kind == PLACE_MEMORY) {
        memcpy(place->memory->before + number * type_bytes(place->type), &bits, type_bytes(place->type));
        return;
    }
    if (place->kind == PLACE_MODE) {
        if (world->mode_count < MODE_FIELDS)
            world->modes[world->mode_count++] = (struct mode_field){place->bit, place->width, (uint32_t)bits};
        return;
    }
    const unsigned words = type_bytes(place->type) == 8 ? 2 : 1, row = place->row + (unsigned)number * words;
    for (unsigned i = 0; i < words; i++) {
        for (unsigned k = lane; k < (place->by_lane ? lane + 1 : MOST_LANES); k++)
            world->before.lane[row + i][k] = (uint32_t)(bits >> (32 * i));
        world->before.set[row + i] = true;
    }
}

static bool set_line(struct world *world, const struct text_line *line)
{
    bool failed = false;
    return assign(world, line, &(struct assignment){.each = set_value, .user = &failed}) && !failed;
}

/* Whether the name is available for memory: names of registers and of values in expressions are reserved. */
static bool name_is_free(struct world *world, const char *name, size_t length)
{
    static const char *const taken[] = {"i", "lane", "lanes", "mode", "nan", "inf", "v", "a", "s"};
    unsigned row, rows;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strlen(taken[i]) == length && !memcmp(taken[i], name, length))
            return false;
    return length && length < sizeof world->memories->name && !memory_named(world, name, length) &&
           !register_rows(world, name, length, NULL, &row, &rows);
}

static struct memory *add_memory(struct world *world, unsigned line, const char *name, size_t length,
                                 uint64_t bytes, bool read_only)
{
    struct memory *memory = &world->memories[world->memory_count];
    const uint64_t room = (bytes + 3) & ~(uint64_t)3; /* LDS is read and written in dwords */
    const bool is_lds = length == 3 && !memcmp(name, "lds", 3);
    const unsigned most = is_lds ? MOST_LDS : MOST_MEMORY;
    if (world->memory_count == MEMORIES || !bytes || bytes > most) {
        world_complains(world, line, "'%.*s' must have 1 byte to %u KiB, and there may be %d memories",
                        (int)length, name, most / 1024, MEMORIES);
        return NULL;
    }
    *memory = (struct memory){.bytes = (uint32_t)bytes, .before = calloc(2, room)};
    if (!memory->before)
        return NULL;
    snprintf(memory->name, sizeof memory->name, "%.*s", (int)length, name);
    memory->after = memory->before + room;
    world->memory_count++;
    if (is_lds)
        world->lds = memory;
    return is_lds || machine_allocate(world, memory, line, read_only) ? memory : NULL;
}

/* "memory [type] name[count]", optionally with "= values" for the whole memory. */
static bool declare_memory(struct world *world, const struct text_line *line, bool read_only)
{
    const char *type_at = line->text + strcspn(line->text, " ");
    type_at += strspn(type_at, " ");
    const enum type type = type_named(type_at);
    const char *name = type_at + (type == TYPES ? 0 : strcspn(type_at, " "));
    name += strspn(name, " ");
    const char *at = name;
    while (isalnum((unsigned char)*at) || *at == '_')
        at++;
    const size_t length = (size_t)(at - name);
    uint64_t index[2];
    char separator, *whole;
    if (!name_is_free(world, name, length) || *at != '[' || !parse_index(&at, index, &separator) ||
        separator) {
        world_complains(world, line->number, "expected 'memory NAME[COUNT]' with a new name, at '%s'", name);
        return false;
    }
    const unsigned size = type_bytes(type == TYPES ? TYPE_U32 : type);
    const uint64_t bytes = index[0] > MOST_MEMORY ? MOST_MEMORY + 1 : index[0] * size;
    if (!add_memory(world, line->number, name, length, bytes, read_only))
        return false;
    at += strspn(at, " ");
    if (!*at)
        return true;
    if (asprintf(&whole, "%.*s%.*s %s", (int)(name - type_at), type_at, (int)length, name, at) < 0)
        return false;
    const bool good = set_line(world, &(struct text_line){line->number, 0, whole});
    free(whole);
    return good;
}

/* ---- run ---- */

enum option {
    OPTION_GRID,
    OPTION_WORKGROUP,
    OPTION_CLUSTER,
    OPTION_LDS,
    OPTION_THREADS,
    OPTION_BUDGET,
    OPTION_TIMEOUT,
    OPTION_ALIGNMENT,
    OPTION_ON_VIOLATION,
    OPTION_SCALAR_CACHE,
    OPTIONS
};

/* The values of an option: words, otherwise numbers. */
static const struct {
    const char *name;
    unsigned most; /* maximum number of values */
    const char *words[4];
} options[OPTIONS] = {
    [OPTION_GRID] = {"grid", 3, {0}},
    [OPTION_WORKGROUP] = {"workgroup", 3, {0}},
    [OPTION_CLUSTER] = {"cluster", 3, {0}}, /* workgroups */
    [OPTION_LDS] = {"lds", 1, {0}},
    [OPTION_THREADS] = {"threads", THREAD_COUNTS, {0}},
    [OPTION_BUDGET] = {"budget", 1, {0}},
    [OPTION_TIMEOUT] = {"timeout", 1, {0}}, /* milliseconds */
    [OPTION_ALIGNMENT] = {"alignment", 1, {"unaligned", "dword", "dword_strict", "strict"}},
    [OPTION_ON_VIOLATION] = {"on_violation", 1, {"stop", "go_on"}},
    [OPTION_SCALAR_CACHE] = {"scalar_cache", 1, {"coherent", "checked", "stale"}},
};

static void set_option(struct run_options *run, enum option option, const uint64_t *numbers, unsigned count)
{
    switch (option) {
    case OPTION_GRID:
    case OPTION_WORKGROUP:
    case OPTION_CLUSTER:
        for (unsigned i = 0; i < 3; i++)
            (option == OPTION_GRID        ? run->grid
             : option == OPTION_WORKGROUP ? run->workgroup
                                          : run->cluster)[i] = i < count ? (uint32_t)numbers[i] : 1;
        break;
    case OPTION_LDS:
        run->lds = (uint32_t)numbers[0];
        break;
    case OPTION_THREADS:
        for (unsigned i = 0; i < count; i++)
            run->threads[i] = (unsigned)numbers[i];
        run->thread_counts = count;
        break;
    case OPTION_BUDGET:
        run->budget = numbers[0];
        break;
    case OPTION_TIMEOUT:
        run->timeout = (double)numbers[0] / 1000;
        break;
    case OPTION_ALIGNMENT:
        run->alignment = (unsigned)numbers[0];
        break;
    case OPTION_ON_VIOLATION:
        run->on_violation = (unsigned)numbers[0];
        break;
    default:
        run->scalar_cache = (unsigned)numbers[0];
    }
}

/* A number, or one of the option's words. */
static bool option_value(enum option option, const char *word, uint64_t *value)
{
    for (unsigned i = 0; i < 4 && options[option].words[i]; i++)
        if (!strcmp(options[option].words[i], word)) {
            *value = i;
            return true;
        }
    return !options[option].words[0] && parse_number(&word, value) && !*word;
}

static bool read_option(struct world *world, const struct text_line *line)
{
    const char *at = line->text;
    char word[32];
    uint64_t numbers[THREAD_COUNTS];
    unsigned count = 0, option = 0;
    bool good = next_word(&at, "=", word, sizeof word);
    while (good && option < OPTIONS && strcmp(options[option].name, word))
        option++;
    at += strspn(at, " ");
    if (!good || option == OPTIONS || *at++ != '=') {
        world_complains(
            world, line->number,
            "'%s' is no option; options are grid, workgroup, cluster, lds, threads, budget, timeout, "
            "alignment, on_violation, scalar_cache",
            line->text);
        return false;
    }
    while (good && next_word(&at, "", word, sizeof word))
        good = count < options[option].most && option_value((enum option)option, word, &numbers[count++]);
    if (!good || !count) {
        world_complains(
            world, line->number, "'%s': expected %s%s%s%s%s%s%s%s", line->text,
            options[option].words[0] ? "one of " : "numbers",
            options[option].words[0] ? options[option].words[0] : "", options[option].words[1] ? ", " : "",
            options[option].words[1] ? options[option].words[1] : "", options[option].words[2] ? ", " : "",
            options[option].words[2] ? options[option].words[2] : "", options[option].words[3] ? ", " : "",
            options[option].words[3] ? options[option].words[3] : "");
        return false;
    }
    set_option(&world->run, (enum option)option, numbers, count);
    return true;
}

/* ---- the whole case ---- */

/* Marks the rows that a line of `after` mentions. */
static bool want_rows(struct world *world, const struct text_line *line)
{
    struct place place;
    char error[512] = "";
    const char *at = line->text;
    if (!parse_left(world, &at, &place, error)) {
        world_complains(world, line->number, "%s", error);
        return false;
    }
    if (place.kind != PLACE_MEMORY)
        for (unsigned i = 0; i < place.rows; i++)
            world->wanted[place.row + i] = true;
    return true;
}

static bool each_line(struct world *world, enum section_kind kind,
                      bool (*read)(struct world *world, const struct text_line *line))
{
    const struct section *section;
    bool good = true;
    for (unsigned n = 0; good && (section = find_section(world->test, kind, world->target_bit, n)); n++)
        for (size_t i = 0; good && i < section->count; i++)
            good = read(world, &section->lines[i]);
    return good;
}

static bool read_before(struct world *world, const struct text_line *line)
{
    if (!strncmp(line->text, "memory ", 7) || !strncmp(line->text, "readonly ", 9))
        return declare_memory(world, line, *line->text == 'r');
    return set_line(world, line);
}

bool prepare_world(struct world *world)
{
    struct run_options *run = &world->run;
    *run = (struct run_options){.grid = {world->lanes, 1, 1}, .workgroup = {world->lanes, 1, 1}};
    if (!each_line(world, SECTION_RUN, read_option))
        return false;
    if (!run->thread_counts)
        run->threads[run->thread_counts++] = 1;
    if (run->workgroup[0] == world->lanes && run->grid[0] <= world->lanes && run->grid[1] == 1 &&
        run->grid[2] == 1) { /* v0 is the lane number */
        for (unsigned lane = 0; lane < MOST_LANES; lane++)
            world->before.lane[ROW_V][lane] = lane;
        world->before.set[ROW_V] = true;
    }
    if (!each_line(world, SECTION_BEFORE, read_before) || !each_line(world, SECTION_AFTER, want_rows))
        return false;
    if (world->lds && run->lds < world->lds->bytes)
        run->lds = world->lds->bytes;
    const bool one_wave = run->grid[0] <= world->lanes && run->workgroup[0] == world->lanes &&
                          (uint64_t)run->grid[1] * run->grid[2] == 1;
    bool registers = world->lds != NULL;
    for (unsigned row = 0; row < ROWS; row++)
        registers |= world->wanted[row];
    if (registers && !one_wave)
        world_complains(world, world->test->line,
                        "registers and lds can be compared after the code of one wave only");
    if (registers && find_section(world->test, SECTION_FAULT, world->target_bit, 0))
        world_complains(world, world->test->line, "registers and lds are unknown after a fault");
    return true;
}

void free_world(struct world *world)
{
    machine_destroy(world->machine);
    for (unsigned i = 0; i < world->memory_count; i++)
        free(world->memories[i].before);
    free(world);
}
