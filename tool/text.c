/* SPDX-License-Identifier: MIT */
/* Printing of text that contains untrusted names from files. */
#include "tool/text.h"

#include "base/escape.h"
#include "base/quote.h"
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Exits if out of memory. */
static char *escape(const char *text, size_t length, const char *kept)
{
    const size_t size = wmi_escape(NULL, 0, text, length, kept) + 1;
    char *escaped = tool_checked(malloc(size));
    wmi_escape(escaped, size, text, length, kept);
    return escaped;
}

char *tool_escaped(const char *text)
{
    return escape(text, strlen(text), "\t");
}

void tool_print_list(FILE *file, const char *format, va_list list)
{
    const size_t begin = strspn(format, "\n");
    size_t end = 0;
    for (const char *at = format + strlen(format); at > format + begin && at[-1] == '\n'; at--)
        end++;
    char *text = NULL;
    if (file == stderr) { /* messages */
        const size_t size = wmi_quote_list(NULL, 0, WMI_QUOTE_MOST, format, list) + 1;
        text = malloc(size);
        if (text)
            wmi_quote_list(text, size, WMI_QUOTE_MOST, format, list);
    } else if (vasprintf(&text, format, list) < 0) {
        text = NULL;
    }
    if (!text)
        return;
    const size_t length = strlen(text);
    char *escaped = escape(text + begin, length - begin - end, "");
    fprintf(file, "%.*s%s%s", (int)begin, text, escaped, text + length - end);
    free(escaped);
    free(text);
}

void tool_print(FILE *file, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    tool_print_list(file, format, list);
    va_end(list);
}

void tool_print_word(FILE *file, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
    if (*word && strspn(word, plain) == strlen(word)) {
        fputs(word, file);
        return;
    }
    fputc('\'', file);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", file);
        else
            fputc(*word, file);
    fputc('\'', file);
}

const char *tool_style(FILE *file, enum tool_style style)
{
    static const char *const codes[] = {
        [TOOL_PLAIN] = "\x1b[0m", [TOOL_BOLD] = "\x1b[1m",    [TOOL_FAINT] = "\x1b[2m",
        [TOOL_RED] = "\x1b[31m",  [TOOL_YELLOW] = "\x1b[33m", [TOOL_GREEN] = "\x1b[32m",
    };
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM"); /* https://no-color.org */
    const bool colours =
        isatty(fileno(file)) && !(none && *none) && terminal && strcmp(terminal, "dumb") != 0;
    return colours ? codes[style] : "";
}

void tool_print_label(FILE *file, enum tool_style style, const char *label)
{
    fprintf(file, "%s%s:%s ", tool_style(file, style), label, tool_style(file, TOOL_PLAIN));
}

void *tool_checked(void *memory)
{
    if (!memory) {
        fputs("wavemem: out of memory\n", stderr);
        exit(TOOL_WRONG);
    }
    return memory;
}
