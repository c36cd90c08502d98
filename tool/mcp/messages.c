/* SPDX-License-Identifier: MIT */
/* Messages of JSON-RPC 2.0, one per line. */
#include "tool/mcp/mcp.h"

#include "tool/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void give(struct mcp_lines *lines, void (*take)(void *user, char *line, size_t size), void *user)
{
    if (lines->skipping)
        take(user, NULL, 0);
    else if (lines->size)
        take(user, lines->bytes, lines->size);
    lines->size = 0;
    lines->skipping = false;
}

static void append(struct mcp_lines *lines, const char *bytes, size_t size)
{
    if (lines->skipping || lines->size + size > MCP_LINE) {
        lines->skipping = true;
        lines->size = 0;
        return;
    }
    if (lines->size + size + 1 > lines->room) {
        lines->room = 2 * (lines->size + size + 1);
        lines->bytes = tool_checked(realloc(lines->bytes, lines->room));
    }
    memcpy(lines->bytes + lines->size, bytes, size);
    lines->size += size;
    lines->bytes[lines->size] = 0;
}

bool mcp_read(struct mcp_lines *lines, int file, void (*take)(void *user, char *line, size_t size),
              void *user)
{
    char bytes[1 << 16];
    const ssize_t size = read(file, bytes, sizeof bytes);
    if (size < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (size <= 0) {
        give(lines, take, user); /* a last line without its end */
        return false;
    }
    for (size_t at = 0; at < (size_t)size;) {
        const char *end = memchr(bytes + at, '\n', (size_t)size - at);
        const size_t length = end ? (size_t)(end - bytes) - at : (size_t)size - at;
        append(lines, bytes + at, length);
        if (end)
            give(lines, take, user);
        at += length + 1;
    }
    return true;
}

void mcp_free_lines(struct mcp_lines *lines)
{
    free(lines->bytes);
}

static bool write_all(int file, const char *bytes, size_t size)
{
    while (size) {
        const ssize_t part = write(file, bytes, size);
        if (part < 0 && errno == EINTR)
            continue;
        if (part <= 0)
            return false;
        bytes += part;
        size -= (size_t)part;
    }
    return true;
}

bool mcp_send(int file, json_t *message)
{
    char *text =
        tool_checked(json_dumps(message, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6)));
    const size_t size = strlen(text);
    json_decref(message);
    text[size] = '\n'; /* in the place of the terminator */
    const bool good = write_all(file, text, size + 1);
    free(text);
    return good;
}

json_t *mcp_result(const json_t *id, json_t *result)
{
    return json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result);
}

json_t *mcp_refusal(const json_t *id, enum mcp_error code, const char *message)
{
    json_t *answer =
        json_pack("{s:s, s:{s:i, s:s}}", "jsonrpc", "2.0", "error", "code", (int)code, "message", message);
    json_object_set_new(answer, "id", id ? json_deep_copy(id) : json_null());
    return answer;
}

json_t *mcp_notification(const char *method, json_t *parameters)
{
    return json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", method, "params", parameters);
}
