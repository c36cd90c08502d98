/* SPDX-License-Identifier: MIT */
/* Lists of words, such as a command line. */
#include "tool/sources/sources.h"
#include "tool/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void tool_list_add(struct tool_list *list, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    list->words = tool_checked(realloc(list->words, (list->count + 2) * sizeof *list->words));
    if (vasprintf(&list->words[list->count], format, values) < 0)
        tool_checked(NULL);
    list->words[++list->count] = NULL;
    va_end(values);
}

void tool_list_free(struct tool_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->words[i]);
    free(list->words);
    *list = (struct tool_list){0};
}
