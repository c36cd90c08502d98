/* SPDX-License-Identifier: MIT */
/* What a misspelt word most likely means. */
#include "tool/tool.h"

#include <string.h>

/* Edit distance of short words: letters inserted, deleted or replaced. */
static unsigned edits(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    unsigned row[LONGEST + 1];
    const size_t length = strlen(b);
    if (strlen(a) > LONGEST || length > LONGEST)
        return LONGEST;
    for (size_t i = 0; i <= length; i++)
        row[i] = (unsigned)i;
    for (size_t j = 1; a[j - 1]; j++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)j;
        for (size_t i = 1; i <= length; i++) {
            const unsigned replaced = diagonal + (a[j - 1] != b[i - 1]);
            diagonal = row[i];
            const unsigned shifted = (row[i - 1] < row[i] ? row[i - 1] : row[i]) + 1;
            row[i] = replaced < shifted ? replaced : shifted;
        }
    }
    return row[length];
}

const char *tool_nearest(const char *word, const void *names, size_t count, size_t stride)
{
    const char *nearest = NULL;
    unsigned best = ((unsigned)strlen(word) + 1) / 2 + 1; /* every second letter may be wrong */
    if (best > 4)
        best = 4;
    for (size_t i = 0; i < count; i++) {
        const char *name = *(const char *const *)(const void *)((const char *)names + i * stride);
        const unsigned distance = edits(word, name);
        const bool prefix = strlen(word) >= 2 && strncmp(word, name, strlen(word)) == 0;
        if (prefix && best > 1) {
            nearest = name;
            best = 1;
        } else if (distance < best && distance < strlen(name)) {
            nearest = name;
            best = distance;
        }
    }
    return nearest;
}
