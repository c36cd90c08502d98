/* SPDX-License-Identifier: MIT */
/* Demangles C++ names to their qualified names: "math::scale<float, 4>" for _ZN4math5scaleIfLi4EEEvPT_.
 *
 * Supports what kernel names usually contain: namespaces, templates over builtin types, named types and
 * numbers. At the first substitution, expression or operator the result ends, so it is a prefix of the true
 * name. Source: Itanium C++ ABI, section 5.1. */
#include "object/parts.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 512, DEEPEST = 16 };

struct reader {
    const char *at;
    char text[LONGEST];
    size_t length;
    unsigned depth;
};

static bool put(struct reader *r, const char *text, size_t length)
{
    if (length >= LONGEST - r->length)
        return false;
    memcpy(r->text + r->length, text, length);
    r->length += length;
    return true;
}

static bool put_text(struct reader *r, const char *text)
{
    return put(r, text, strlen(text));
}

static bool take(struct reader *r, char c)
{
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

/* <source-name>: a length and that many characters. */
static bool source_name(struct reader *r)
{
    static const char anonymous[] = "_GLOBAL__N_";
    size_t length = 0;
    take(r, 'L'); /* internal linkage */
    if (*r->at < '1' || *r->at > '9')
        return false;
    while (*r->at >= '0' && *r->at <= '9' && length < LONGEST)
        length = 10 * length + (size_t)(*r->at++ - '0');
    const char *name = r->at;
    if (length >= LONGEST || strnlen(name, length) < length)
        return false;
    r->at += length;
    if (length >= sizeof(anonymous) - 1 && memcmp(name, anonymous, sizeof(anonymous) - 1) == 0)
        return put_text(r, "(anonymous namespace)");
    return put(r, name, length);
}

static bool type(struct reader *r);
static bool arguments(struct reader *r);

/* Names and template arguments up to E, joined by "::". */
static bool nested_name(struct reader *r)
{
    while (*r->at == 'r' || *r->at == 'V' || *r->at == 'K')
        r->at++;
    for (bool first = true; !take(r, 'E'); first = false) {
        if (*r->at == 'I' ? first || !arguments(r) : !(first || put_text(r, "::")) || !source_name(r))
            return false;
    }
    return true;
}

static bool pointer_type(struct reader *r, const char *mark)
{
    r->at++;
    return type(r) && put_text(r, mark);
}

static const char *builtin(char letter)
{
    static const struct {
        char letter;
        const char *name;
    } names[] = {
        {'v', "void"},        {'w', "wchar_t"},
        {'b', "bool"},        {'c', "char"},
        {'a', "signed char"}, {'h', "unsigned char"},
        {'s', "short"},       {'t', "unsigned short"},
        {'i', "int"},         {'j', "unsigned int"},
        {'l', "long"},        {'m', "unsigned long"},
        {'x', "long long"},   {'y', "unsigned long long"},
        {'n', "__int128"},    {'o', "unsigned __int128"},
        {'f', "float"},       {'d', "double"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].letter == letter)
            return names[i].name;
    return NULL;
}

static bool any_type(struct reader *r)
{
    const char *name = builtin(*r->at);
    if (name) {
        r->at++;
        return put_text(r, name);
    }
    switch (*r->at) {
    case 'P':
        return pointer_type(r, "*");
    case 'R':
        return pointer_type(r, "&");
    case 'O':
        return pointer_type(r, "&&");
    case 'K':
        return pointer_type(r, " const");
    case 'V':
        return pointer_type(r, " volatile");
    case 'N':
        r->at++;
        return nested_name(r);
    case 'D':
        if (r->at[1] != 'F' || strncmp(r->at, "DF16_", 5) != 0)
            return false;
        r->at += 5;
        return put_text(r, "_Float16");
    default:
        return source_name(r) && (*r->at != 'I' || arguments(r));
    }
}

static bool type(struct reader *r)
{
    if (++r->depth > DEEPEST)
        return false;
    const bool good = any_type(r);
    r->depth--;
    return good;
}

/* L <type> <number> E */
static bool literal(struct reader *r)
{
    static const char letters[] = "ijlmxyb";
    static const char *const suffixes[] = {"", "u", "l", "ul", "ll", "ull", ""};
    const char letter = *r->at, *known = letter ? strchr(letters, letter) : NULL;
    if (!known)
        return false;
    r->at++;
    if (letter == 'b') {
        const bool yes = *r->at == '1';
        return (*r->at == '0' || yes) && r->at[1] == 'E' && (r->at += 2) &&
               put_text(r, yes ? "true" : "false");
    }
    const bool negative = take(r, 'n');
    const size_t digits = strspn(r->at, "0123456789");
    if (!digits || r->at[digits] != 'E' || (negative && !put_text(r, "-")) || !put(r, r->at, digits))
        return false;
    r->at += digits + 1;
    return put_text(r, suffixes[known - letters]);
}

/* I <argument>... E */
static bool arguments(struct reader *r)
{
    r->at++;
    if (++r->depth > DEEPEST || !put_text(r, "<"))
        return false;
    for (bool first = true; !take(r, 'E'); first = false) {
        if (!first && !put_text(r, ", "))
            return false;
        if (take(r, 'L') ? !literal(r) : !type(r))
            return false;
    }
    r->depth--;
    return put_text(r, ">");
}

/* Like nested_name(), but keeps what was read before an error. */
static void outer_name(struct reader *r)
{
    const bool nested = take(r, 'N');
    size_t good = 0;
    for (bool first = true; !(nested && take(r, 'E')); first = false) {
        if (*r->at == 'I' && !first) {
            if (!arguments(r))
                break;
        } else if ((!first && !nested) || !(first || put_text(r, "::")) || !source_name(r)) {
            break;
        }
        good = r->length;
    }
    r->length = good;
}

/* Fills `r` with the demangled name; false: it is none, or nothing of it can be demangled. */
static bool demangle(struct reader *r, const char *name)
{
    if (strncmp(name, "_Z", 2) != 0)
        return false;
    *r = (struct reader){.at = name + 2};
    outer_name(r);
    return r->length;
}

const char *wmi_source_name(struct wmi_arena *arena, const char *name)
{
    struct reader r;
    return demangle(&r, name) ? wmi_arena_text(arena, r.text, r.length) : name;
}

const char *wm_source_name(const char *symbol, char *text, size_t size)
{
    struct reader r;
    if (!size)
        return text;
    if (symbol && demangle(&r, symbol))
        snprintf(text, size, "%.*s", (int)r.length, r.text);
    else
        snprintf(text, size, "%s", symbol ? symbol : "");
    return text;
}

/* Whether the first `length` characters of `a` equal `b`, ignoring blanks. */
static bool same_words(const char *a, size_t length, const char *b)
{
    for (const char *end = a + length;; a++, b++) {
        while (a < end && *a == ' ')
            a++;
        while (*b == ' ')
            b++;
        if (a == end || !*b)
            return a == end && !*b;
        if (*a != *b)
            return false;
    }
}

bool wmi_source_name_is(const char *source_name, const char *wanted)
{
    size_t length = strlen(source_name);
    if (same_words(source_name, length, wanted))
        return true;
    if (!length || source_name[length - 1] != '>')
        return false;
    /* without the last template arguments */
    for (unsigned depth = 0; length--;) {
        depth += source_name[length] == '>';
        if (source_name[length] == '<' && --depth == 0)
            return same_words(source_name, length, wanted);
    }
    return false;
}
