/* SPDX-License-Identifier: MIT */
/* Names from files, and sizes, in JSON. */
#include "tool/report/document.h"

#include "base/escape.h"

#include <stdlib.h>
#include <string.h>

json_t *tool_json_text(const char *text)
{
    json_t *string = json_string(text);
    if (string)
        return string;
    const size_t length = strlen(text), size = wmi_escape(NULL, 0, text, length, "") + 1;
    char *escaped = malloc(size);
    if (escaped) {
        wmi_escape(escaped, size, text, length, "");
        string = json_string(escaped);
    }
    free(escaped);
    return string;
}

json_t *tool_json_extent(const uint32_t extent[3])
{
    return json_pack("[i,i,i]", (int)extent[0], (int)extent[1], (int)extent[2]);
}
