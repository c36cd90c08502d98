/* SPDX-License-Identifier: MIT */
/* Macros, repetition and conditional assembly. */
#include "assembler/parts.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 1 << 24 }; /* most bytes that one macro or repetition may expand to */

static bool is_in(const char *word, size_t length, const char *const *names)
{
    for (; *names; names++)
        if (wmi_asm_word_is(word, length, *names))
            return true;
    return false;
}

/* ---- bodies ---- */

static const char *const macro_begins[] = {".macro", NULL},
                         *const macro_ends[] = {".endm", ".endmacro", NULL},
                         *const repeat_begins[] = {".rept", ".rep", ".irp", ".irpc", NULL},
                         *const repeat_ends[] = {".endr", NULL};

/* Reads the lines up to the matching end; false after a message. */
static bool read_body(struct wmi_assembler *a, const char *const *begins, const char *const *ends,
                      const char **body, size_t *size)
{
    const char *begin, *end;
    const struct wmi_asm_place place = a->place;
    const struct wmi_asm_source *source = a->source;
    unsigned depth = 1;
    *body = source ? source->at : place.line;
    while (a->source == source && source && source->at < source->end && wmi_asm_next_line(a, &begin, &end)) {
        struct wmi_cursor c = {.at = begin, .end = end};
        const size_t length = wmi_name_length(&c);
        depth += is_in(c.at, length, begins);
        if (is_in(c.at, length, ends) && --depth == 0) {
            *size = (size_t)(begin - *body);
            return true;
        }
    }
    a->place = place;
    wmi_asm_error(a, place.line, "expected %s for this before the end of the file", *ends);
    return false;
}

static bool may_be_in_parameter(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.';
}

/* Expands \@, \+ and \() at `at`. Returns the end of the mark, or `at` if there is none. */
static const char *replace_mark(struct wmi_assembler *a, const char *at, const char *stop, unsigned count,
                                struct wmi_bytes *text)
{
    char digits[16];
    if (*at != '\\' || at + 1 >= stop)
        return at;
    if (at[1] == '(' && at + 2 < stop && at[2] == ')')
        return at + 3;
    if (at[1] != '@' && at[1] != '+')
        return at;
    unsigned n = at[1] == '@' ? a->macros_used : count, size = 0;
    do
        digits[sizeof digits - ++size] = (char)('0' + n % 10);
    while (n /= 10);
    wmi_asm_append(a, text, digits + sizeof digits - size, size);
    return at + 2;
}

/* The next possible parameter name: after a backslash or, with .altmacro, anywhere. */
static const char *next_name(const struct wmi_assembler *a, const char *at, const char *stop)
{
    if (!a->alternate) {
        const char *slash = memchr(at, '\\', (size_t)(stop - at));
        return slash ? slash : stop;
    }
    while (at < stop && *at != '\\' && !may_be_in_parameter(*at))
        at++;
    return at;
}

/* Size limit of the next expansion. */
static size_t room_of(const struct wmi_assembler *a)
{
    const uint64_t left = a->expanded < WMI_ASM_MOST_TEXT ? WMI_ASM_MOST_TEXT - a->expanded : 0;
    return left < MOST_TEXT ? (size_t)left : MOST_TEXT;
}

static void text_is_too_long(struct wmi_assembler *a, const char *at)
{
    wmi_asm_give_up(a, at,
                    room_of(a) < MOST_TEXT ? "macros, repetitions and files come to more than 128 MiB of text"
                                           : "one macro or repetition comes to more than 16 MiB of text");
}

/* Appends the body to `text` with \name replaced by values; false after a message if it becomes too long.
 * With .altmacro the backslash is optional, and an & after the name is removed. Source: LLVM 19
 * AsmParser.cpp, expandMacro. */
static bool replace(struct wmi_assembler *a, const struct wmi_asm_macro *m, const char *const *value,
                    const size_t *length, unsigned count, struct wmi_bytes *text)
{
    const size_t room = room_of(a);
    for (const char *at = m->body, *stop = m->body + m->body_size; at < stop;) {
        if (text->size > room) {
            text_is_too_long(a, a->place.line);
            return false;
        }
        const char *plain = next_name(a, at, stop);
        wmi_asm_append(a, text, at, (size_t)(plain - at));
        at = plain;
        if (at == stop)
            break;
        const char *behind = replace_mark(a, at, stop, count, text);
        if (behind > at) {
            at = behind;
            continue;
        }
        const size_t slash = *at == '\\';
        size_t n = 0;
        unsigned p = 0;
        while (at + slash + n < stop && may_be_in_parameter(at[slash + n]))
            n++;
        while (p < m->parameters &&
               !(m->parameter[p].length == n && !memcmp(m->parameter[p].name, at + slash, n)))
            p++;
        if (p < m->parameters)
            wmi_asm_append(a, text, value[p], length[p]);
        else
            wmi_asm_append(a, text, at, slash + n);
        at += slash + n;
        if (a->alternate && (slash || p < m->parameters) && at < stop && *at == '&')
            at++;
    }
    return true;
}

/* Inserts the expansion before the lines that follow. */
static void push(struct wmi_assembler *a, const struct wmi_bytes *text, const char *macro)
{
    const char *copy = wmi_asm_text(a, text->data ? (char *)text->data : "", text->size);
    wmi_asm_push_text(a, copy, text->size, macro);
}

/* ---- macros ---- */

/* A default value: ends at a comma or a blank. */
static const char *read_default(struct wmi_assembler *a, struct wmi_cursor *c)
{
    wmi_skip_space(c);
    const char *start = c->at;
    const bool quoted = wmi_take(c, '"');
    while (c->at < c->end && (quoted ? *c->at != '"' : *c->at != ',' && !isspace((unsigned char)*c->at)))
        c->at++;
    const char *text = wmi_asm_text(a, start + quoted, (size_t)(c->at - start) - quoted);
    c->at += quoted && c->at < c->end;
    return text;
}

static bool read_parameter(struct wmi_assembler *a, struct wmi_cursor *c, struct wmi_asm_macro *m)
{
    const size_t length = wmi_name_length(c);
    if (!length) {
        wmi_asm_error(a, c->at, "expected the name of a parameter");
        return false;
    }
    if (m->parameters == WMI_ASM_PARAMETERS ||
        (m->parameters && m->parameter[m->parameters - 1].takes_rest)) {
        wmi_asm_error(a, c->at, "expected at most %u parameters, and none behind a vararg",
                      WMI_ASM_PARAMETERS);
        return false;
    }
    struct wmi_asm_parameter *p = &m->parameter[m->parameters++];
    p->name = c->at;
    p->length = length;
    for (const struct wmi_asm_parameter *other = m->parameter; other < p; other++)
        if (other->length == length && !memcmp(other->name, p->name, length)) {
            wmi_asm_error(a, c->at, "expected a name that no other parameter has");
            return false;
        }
    c->at += length;
    if (wmi_take(c, ':')) {
        const size_t qualifier = wmi_name_length(c);
        p->required = wmi_asm_word_is(c->at, qualifier, "req");
        p->takes_rest = wmi_asm_word_is(c->at, qualifier, "vararg");
        if (!p->required && !p->takes_rest) {
            wmi_asm_error(a, c->at, "expected req or vararg");
            return false;
        }
        c->at += qualifier;
    }
    if (wmi_take(c, '='))
        p->otherwise = read_default(a, c);
    return true;
}

static struct wmi_asm_macro **find_macro(struct wmi_assembler *a, const char *name, size_t length)
{
    struct wmi_asm_macro **m = &a->macros;
    while (*m && !wmi_asm_word_is(name, length, (*m)->name))
        m = &(*m)->next;
    return m;
}

void wmi_asm_macro(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    const char *name;
    size_t length;
    (void)unused;
    struct wmi_asm_macro *m = wmi_asm_allocate(a, 1, sizeof *m);
    bool good = wmi_asm_read_name(a, c, &name, &length);
    m->name = good ? wmi_asm_text(a, name, length) : "";
    while (wmi_take(c, ','), wmi_skip_space(c), good && c->at < c->end)
        good = read_parameter(a, c, m);
    if (good && *find_macro(a, name, length)) {
        wmi_asm_error(a, name, "macro '%s' is defined already", m->name);
        good = false;
    }
    /* The body of an invalid macro is skipped, to avoid follow-up errors. */
    if (read_body(a, macro_begins, macro_ends, &m->body, &m->body_size) && good) {
        m->next = a->macros;
        a->macros = m;
        wmi_asm_forget(a);
    }
}

void wmi_asm_forget_macro(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    const char *name;
    size_t length;
    (void)unused;
    if (!wmi_asm_read_name(a, c, &name, &length) || !wmi_asm_at_end(a, c))
        return;
    struct wmi_asm_macro **m = find_macro(a, name, length);
    if (*m)
        *m = (*m)->next;
    else
        wmi_asm_error(a, name, "macro '%.*s' is not defined", (int)length, name);
}

/* .altmacro, .noaltmacro */
void wmi_asm_alternate(struct wmi_assembler *a, struct wmi_cursor *c, int on)
{
    if (wmi_asm_at_end(a, c))
        a->alternate = on;
}

void wmi_asm_exit_macro(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    struct wmi_asm_source *s = a->source;
    (void)unused;
    while (s && !s->macro)
        s = s->outer;
    if (!s) {
        wmi_asm_error(a, c->at, ".exitm outside of a macro");
        return;
    }
    while (a->source != s)
        a->source = a->source->outer;
    s->at = s->end;
    a->conditions = s->conditions;
}

/* An operator surrounded by blanks is part of the argument. Source: LLVM 19 AsmParser.cpp, isOperator. */
static bool is_operator(char c)
{
    return c && strchr("+-~/*.=|^&!<>", c);
}

/* Arguments of .altmacro: %expression, replaced by its value, and <text>, in which ! quotes the next
 * character. Returns false if there is none; *good: false after a message. */
static bool read_alternate(struct wmi_assembler *a, struct wmi_cursor *c, struct wmi_bytes *text, bool *good)
{
    char digits[24];
    int64_t value;
    wmi_skip_space(c);
    if (!a->alternate || c->at == c->end)
        return false;
    if (*c->at == '%') {
        c->at++;
        wmi_asm_begin_expression(a);
        *good = wmi_asm_read_number(a, c, &value);
        if (*good)
            wmi_asm_append(a, text, digits, (size_t)snprintf(digits, sizeof digits, "%" PRId64, value));
        return true;
    }
    const char *close = c->at;
    if (*close != '<' || (close + 1 < c->end && strchr("<=>", close[1]))) /* an operator */
        return false;
    while (close < c->end && *close != '>')
        close += *close == '!' ? 2 : 1;
    if (close >= c->end)
        return false;
    for (c->at++; c->at < close; c->at++) {
        c->at += *c->at == '!';
        wmi_asm_append(a, text, c->at, 1);
    }
    c->at = close + 1;
    return true;
}

/* Appends an argument to `text`: ends at a comma, or at a blank without an adjacent operator; blanks around
 * operators and quotes of strings are removed. */
static void read_plain_argument(struct wmi_assembler *a, struct wmi_cursor *c, struct wmi_bytes *text)
{
    unsigned depth = 0;
    wmi_skip_space(c);
    while (c->at < c->end) {
        if (!depth) {
            const char *before = c->at;
            wmi_skip_space(c);
            if (c->at == c->end || *c->at == ',')
                return;
            if (is_operator(*c->at)) {
                wmi_asm_append(a, text, c->at++, 1);
                wmi_skip_space(c);
                continue;
            }
            if (c->at != before)
                return;
        }
        if (*c->at == '"') {
            const char *closing = memchr(c->at + 1, '"', (size_t)(c->end - c->at - 1));
            const char *stop = closing ? closing : c->end;
            wmi_asm_append(a, text, c->at + 1, (size_t)(stop - c->at - 1));
            c->at = closing ? closing + 1 : stop;
            continue;
        }
        depth += *c->at == '(';
        depth -= depth && *c->at == ')';
        wmi_asm_append(a, text, c->at++, 1);
    }
}

static bool read_argument(struct wmi_assembler *a, struct wmi_cursor *c, struct wmi_bytes *text)
{
    bool good = true;
    if (!read_alternate(a, c, text, &good))
        read_plain_argument(a, c, text);
    return good;
}

/* The index of the parameter in `name=`; the number of parameters if there is none. */
static unsigned named_parameter(struct wmi_cursor *c, const struct wmi_asm_macro *m)
{
    struct wmi_cursor ahead = *c;
    const size_t length = wmi_name_length(&ahead);
    const char *name = ahead.at;
    ahead.at += length;
    if (!length || !wmi_take(&ahead, '=') || (ahead.at < ahead.end && *ahead.at == '='))
        return m->parameters;
    for (unsigned p = 0; p < m->parameters; p++)
        if (length == m->parameter[p].length && !memcmp(name, m->parameter[p].name, length)) {
            c->at = ahead.at;
            return p;
        }
    return m->parameters;
}

/* Parses the arguments; false after a message. */
static bool read_arguments(struct wmi_assembler *a, const struct wmi_asm_macro *m, struct wmi_cursor *c,
                           const char **value, size_t *length)
{
    for (unsigned i = 0; wmi_skip_space(c), c->at < c->end; i++) {
        struct wmi_bytes *text = &a->scratch;
        text->size = 0;
        const char *start = c->at;
        const unsigned named = named_parameter(c, m), at = named < m->parameters ? named : i;
        if (at >= m->parameters) {
            wmi_asm_error(a, start, "macro '%s' has %u parameters", m->name, m->parameters);
            return false;
        }
        bool good = true;
        const bool alternate = read_alternate(a, c, text, &good);
        if (!good)
            return false;
        if (alternate) {
            ;
        } else if (m->parameter[at].takes_rest) {
            wmi_asm_append(a, text, c->at, (size_t)(c->end - c->at));
            while (text->size && isspace(text->data[text->size - 1]))
                text->size--;
            c->at = c->end;
        } else {
            read_plain_argument(a, c, text);
        }
        if (text->size || alternate || !value[at]) {
            length[at] = text->size;
            value[at] = text->size ? wmi_asm_text(a, (char *)text->data, text->size) : alternate ? "" : NULL;
        }
        wmi_take(c, ',');
    }
    for (unsigned p = 0; p < m->parameters; p++) {
        if (!value[p] && m->parameter[p].required) {
            wmi_asm_error(a, c->at, "macro '%s' needs a value for '%.*s'", m->name,
                          (int)m->parameter[p].length, m->parameter[p].name);
            return false;
        }
        if (!value[p]) {
            value[p] = m->parameter[p].otherwise ? m->parameter[p].otherwise : "";
            length[p] = strlen(value[p]);
        }
    }
    return true;
}

bool wmi_asm_expand(struct wmi_assembler *a, const char *name, size_t name_length, const char *rest,
                    const char *end)
{
    if (!a->macros)
        return false;
    struct wmi_asm_macro *m = *find_macro(a, name, name_length);
    const char *value[WMI_ASM_PARAMETERS] = {0};
    size_t length[WMI_ASM_PARAMETERS] = {0};
    struct wmi_cursor c = {.at = rest, .end = end, .symbols = &a->resolver};
    if (!m)
        return false;
    if (!read_arguments(a, m, &c, value, length) || !wmi_asm_may_expand(a, a->place.line))
        return true;
    a->scratch.size = 0;
    if (replace(a, m, value, length, m->used++, &a->scratch)) {
        a->macros_used++;
        push(a, &a->scratch, m->name);
    }
    return true;
}

/* ---- repetition ---- */

/* .rept count */
void wmi_asm_repeat(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    int64_t count;
    struct wmi_asm_macro m = {0};
    const char *at = c->at;
    const struct wmi_asm_place place = a->place;
    (void)unused;
    const bool good = wmi_asm_read_number(a, c, &count) && wmi_asm_at_end(a, c);
    if (!read_body(a, repeat_begins, repeat_ends, &m.body, &m.body_size) || !good)
        return;
    a->place = place; /* errors in its lines refer to this line */
    if (count < 0)
        wmi_asm_error(a, at, "expected a count that is not negative");
    if (count < 0 || !wmi_asm_may_expand(a, at))
        return;
    if (m.body_size && (uint64_t)count > room_of(a) / m.body_size) {
        text_is_too_long(a, at);
        return;
    }
    a->scratch.size = 0;
    for (int64_t i = 0; i < count && m.body_size; i++)
        if (!replace(a, &m, NULL, NULL, (unsigned)i, &a->scratch))
            return;
    push(a, &a->scratch, NULL);
}

/* .irp name, value, value...; .irpc name, letters: once per value or letter. */
void wmi_asm_repeat_for(struct wmi_assembler *a, struct wmi_cursor *c, int letters)
{
    struct wmi_asm_macro m = {.parameters = 1};
    struct wmi_bytes *item = &a->scratch, *text = &a->repeated;
    const char *values[1];
    size_t length;
    const size_t name = wmi_name_length(c);
    m.parameter[0] = (struct wmi_asm_parameter){.name = c->at, .length = name};
    c->at += name;
    const bool good = name && wmi_take(c, ',');
    if (!good)
        wmi_asm_error(a, c->at, name ? "expected ','" : "expected the name of a parameter");
    struct wmi_cursor list = *c;
    const struct wmi_asm_place place = a->place;
    if (!read_body(a, repeat_begins, repeat_ends, &m.body, &m.body_size) || !good)
        return;
    a->place = place;
    if (!wmi_asm_may_expand(a, place.line))
        return;
    text->size = 0;
    item->size = 0;
    if (letters)
        read_plain_argument(a, &list, item);
    for (unsigned i = 0, at = 0;; i++) {
        if (letters) {
            if (at == item->size)
                break;
            values[0] = (char *)item->data + at++;
            length = 1;
        } else {
            item->size = 0;
            if (!read_argument(a, &list, item))
                return;
            values[0] = item->size ? (char *)item->data : "";
            length = item->size;
        }
        if (!replace(a, &m, values, &length, i, text))
            return;
        wmi_skip_space(&list);
        if (!letters && !wmi_take(&list, ',') && list.at == list.end)
            break;
    }
    push(a, text, NULL);
}

/* ---- conditional assembly ---- */

enum test {
    NOT_ZERO,
    ZERO,
    AT_LEAST,
    MORE,
    AT_MOST,
    LESS,
    BLANK,
    NOT_BLANK,
    SAME,
    OTHER,
    SAME_STRING,
    OTHER_STRING,
    DEFINED,
    NOT_DEFINED
};

static const struct {
    const char *name;
    enum test test;
} tests[] = {
    {".if", NOT_ZERO},        {".ifne", NOT_ZERO}, {".ifeq", ZERO},          {".ifge", AT_LEAST},
    {".ifgt", MORE},          {".ifle", AT_MOST},  {".iflt", LESS},          {".ifb", BLANK},
    {".ifnb", NOT_BLANK},     {".ifc", SAME},      {".ifeqs", SAME_STRING},  {".ifnc", OTHER},
    {".ifnes", OTHER_STRING}, {".ifdef", DEFINED}, {".ifndef", NOT_DEFINED}, {".ifnotdef", NOT_DEFINED},
};

/* Whether the texts before and after the comma are equal. */
static bool are_same(struct wmi_assembler *a, struct wmi_cursor *c)
{
    const char *comma = memchr(c->at, ',', (size_t)(c->end - c->at));
    if (!comma) {
        wmi_asm_error(a, c->at, "expected two texts with ',' between them");
        return false;
    }
    struct wmi_cursor left = {.at = c->at, .end = comma}, right = {.at = comma + 1, .end = c->end};
    wmi_skip_space(&left);
    wmi_skip_space(&right);
    while (left.end > left.at && isspace((unsigned char)left.end[-1]))
        left.end--;
    while (right.end > right.at && isspace((unsigned char)right.end[-1]))
        right.end--;
    return left.end - left.at == right.end - right.at &&
           !memcmp(left.at, right.at, (size_t)(left.end - left.at));
}

/* Whether two quoted strings are equal. */
static bool are_same_strings(struct wmi_assembler *a, struct wmi_cursor *c)
{
    wmi_skip_space(c);
    a->scratch.size = a->repeated.size = 0;
    if (!wmi_asm_read_string(a, c, &a->scratch))
        return false;
    if (!wmi_take(c, ',')) {
        wmi_asm_error(a, c->at, "expected ','");
        return false;
    }
    return wmi_asm_read_string(a, c, &a->repeated) && wmi_asm_at_end(a, c) &&
           a->scratch.size == a->repeated.size &&
           (!a->scratch.size || !memcmp(a->scratch.data, a->repeated.data, a->scratch.size));
}

static bool is_true(struct wmi_assembler *a, enum test test, struct wmi_cursor *c)
{
    int64_t value = 0;
    wmi_skip_space(c);
    if (test <= LESS) {
        wmi_asm_begin_expression(a);
        if (!wmi_asm_read_number(a, c, &value) || !wmi_asm_at_end(a, c))
            return false;
    }
    switch (test) {
    case NOT_ZERO:
        return value != 0;
    case ZERO:
        return value == 0;
    case AT_LEAST:
        return value >= 0;
    case MORE:
        return value > 0;
    case AT_MOST:
        return value <= 0;
    case LESS:
        return value < 0;
    case BLANK:
    case NOT_BLANK:
        return (c->at == c->end) == (test == BLANK);
    case SAME:
    case OTHER:
        return are_same(a, c) == (test == SAME);
    case SAME_STRING:
    case OTHER_STRING:
        return are_same_strings(a, c) == (test == SAME_STRING);
    default: {
        const char *name;
        size_t length;
        if (!wmi_asm_read_name(a, c, &name, &length))
            return false;
        return wmi_asm_symbol(a, name, length)->defined == (test == DEFINED);
    }
    }
}

static bool skips(const struct wmi_assembler *a)
{
    return a->conditions && a->skipping[a->conditions - 1];
}

static void begin_condition(struct wmi_assembler *a, const char *word, enum test test, struct wmi_cursor *c)
{
    if (a->conditions == WMI_ASM_CONDITIONS) {
        wmi_asm_error(a, word, "conditions are nested too deep");
        return;
    }
    const bool enclosing = skips(a);
    const unsigned i = a->conditions++;
    const bool value = !enclosing && is_true(a, test, c);
    a->skipping[i] = !value;
    a->taken[i] = enclosing || value;
    a->last_part[i] = false;
}

/* .elseif, .else, .endif */
static void continue_condition(struct wmi_assembler *a, const char *word, size_t length, struct wmi_cursor *c)
{
    const unsigned floor = a->source ? a->source->conditions : 0;
    if (a->conditions <= floor) {
        wmi_asm_error(a, word, "%.*s without .if", (int)length, word);
        return;
    }
    const unsigned i = a->conditions - 1;
    if (wmi_asm_word_is(word, length, ".endif")) {
        a->conditions--;
        return;
    }
    if (a->last_part[i])
        wmi_asm_error(a, word, "%.*s behind .else", (int)length, word);
    const bool last = a->last_part[i] |= wmi_asm_word_is(word, length, ".else");
    const bool value = !a->taken[i] && (last || is_true(a, NOT_ZERO, c));
    a->skipping[i] = !value;
    a->taken[i] |= value;
}

/* Handles the line if it is a conditional directive; returns whether it is. */
static bool condition_line(struct wmi_assembler *a, const char *begin, const char *end)
{
    struct wmi_cursor c = {.at = begin, .end = end, .symbols = &a->resolver};
    const size_t length = wmi_name_length(&c);
    const char *word = c.at;
    c.at += length;
    if (length < 3 || (word[1] != 'i' && word[1] != 'e'))
        return false;
    if (word[1] == 'e') {
        static const char *const others[] = {".elseif", ".else", ".endif", NULL};
        if (!is_in(word, length, others))
            return false;
        continue_condition(a, word, length, &c);
        return true;
    }
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (wmi_asm_word_is(word, length, tests[i].name)) {
            begin_condition(a, word, tests[i].test, &c);
            return true;
        }
    return false;
}

void wmi_asm_line(struct wmi_assembler *a, const char *begin, const char *end)
{
    while (begin < end && isspace((unsigned char)*begin))
        begin++;
    if (begin == end)
        return;
    const bool directive = *begin == '.';
    if (directive && condition_line(a, begin, end))
        return;
    if (!skips(a))
        wmi_asm_statement(a, begin, end);
}
