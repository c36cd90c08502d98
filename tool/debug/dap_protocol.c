/* SPDX-License-Identifier: MIT */
/* Messages of the Debug Adapter Protocol: a header with Content-Length, and JSON. */
#include "tool/debug/dap.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { LONGEST = 16 << 20, HEADER = 256 };

/* ---- messages ---- */

static bool read_all(int file, char *bytes, size_t size)
{
    while (size) {
        const ssize_t part = read(file, bytes, size);
        if (part < 0 && errno == EINTR)
            continue;
        if (part <= 0)
            return false;
        bytes += part;
        size -= (size_t)part;
    }
    return true;
}

/* Reads the lines of a header that begins with `first`, up to the empty one. False: the end, or a line that
 * is too long. */
static bool read_header(int file, char first, size_t *length)
{
    char line[HEADER];
    size_t used = 0;
    *length = SIZE_MAX;
    for (char c = first;; c = 0) {
        if ((!c && !read_all(file, &c, 1)) || used + 1 == sizeof line)
            return false;
        if (c == '\r')
            continue;
        if (c != '\n') {
            line[used++] = c;
            continue;
        }
        line[used] = 0;
        if (!used)
            return true;
        if (!strncasecmp(line, "Content-Length:", 15)) {
            char *end;
            *length = strtoull(line + 15, &end, 10);
            if (*end)
                return false;
        }
        used = 0;
    }
}

json_t *debug_dap_receive(struct debug_adapter *a)
{
    json_t *request = json_incref(json_array_get(a->pending, 0));
    if (!request)
        return debug_dap_read(a);
    json_array_remove(a->pending, 0);
    return request;
}

json_t *debug_dap_read(struct debug_adapter *a)
{
    size_t length;
    char first;
    if (a->garbled || !read_all(a->in, &first, 1))
        return NULL; /* the end of the input, where the adapter ends */
    char *text = NULL;
    json_t *message = NULL;
    if (read_header(a->in, first, &length) && length <= LONGEST && (text = malloc(length + 1)) &&
        read_all(a->in, text, length))
        message = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    free(text);
    a->garbled = !message;
    return message;
}

bool debug_dap_waiting(const struct debug_adapter *a)
{
    struct pollfd ready = {.fd = a->in, .events = POLLIN};
    return poll(&ready, 1, 0) > 0;
}

static void send_message(struct debug_adapter *a, json_t *message)
{
    json_object_set_new(message, "seq", json_integer(++a->sequence));
    char *text = json_dumps(message, JSON_COMPACT | JSON_PRESERVE_ORDER);
    char header[64];
    const size_t length = text ? strlen(text) : 0;
    const int size = snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", length);
    if (text &&
        (write(a->out, header, (size_t)size) != size || write(a->out, text, length) != (ssize_t)length))
        a->done = true;
    free(text);
    json_decref(message);
}

void debug_dap_event(struct debug_adapter *a, const char *event, json_t *body)
{
    json_t *message = json_pack("{s:s, s:s}", "type", "event", "event", event);
    if (body)
        json_object_set_new(message, "body", body);
    send_message(a, message);
}

static json_t *response(const json_t *request, bool success)
{
    const char *command = json_string_value(json_object_get(request, "command"));
    return json_pack("{s:s, s:I, s:b, s:s}", "type", "response", "request_seq",
                     json_integer_value(json_object_get(request, "seq")), "success", success, "command",
                     command ? command : "");
}

void debug_dap_respond(struct debug_adapter *a, const json_t *request, json_t *body)
{
    json_t *message = response(request, true);
    if (body)
        json_object_set_new(message, "body", body);
    send_message(a, message);
}

void debug_dap_refuse(struct debug_adapter *a, const json_t *request, const char *message)
{
    json_t *answer = response(request, false);
    json_t *text = json_string(message);
    json_object_set(answer, "message", text);
    json_object_set_new(answer, "body",
                        json_pack("{s:{s:i, s:o, s:b}}", "error", "id", 1, "format", text, "showUser", 1));
    send_message(a, answer);
}

/* ---- base64: RFC 4648 ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *debug_base64(const uint8_t *bytes, size_t size)
{
    char *text = malloc((size + 2) / 3 * 4 + 1), *at = text;
    for (size_t i = 0; text && i < size; i += 3) {
        uint32_t three = 0;
        for (unsigned b = 0; b < 3; b++)
            three = three << 8 | (i + b < size ? bytes[i + b] : 0);
        for (unsigned d = 0; d < 4; d++)
            *at++ = i + d <= size ? digits[three >> (18 - 6 * d) & 63] : '=';
    }
    if (text)
        *at = 0;
    return text;
}

bool debug_from_base64(const char *text, uint8_t **bytes, size_t *size)
{
    const size_t length = strlen(text);
    uint32_t bits = 0;
    unsigned count = 0;
    *size = 0;
    *bytes = malloc(length + 1);
    for (size_t i = 0; *bytes && i < length && text[i] != '='; i++) {
        const char *digit = strchr(digits, text[i]);
        if (!digit) {
            free(*bytes);
            *bytes = NULL;
            break;
        }
        bits = bits << 6 | (uint32_t)(digit - digits);
        count += 6;
        if (count >= 8) {
            count -= 8;
            (*bytes)[(*size)++] = (uint8_t)(bits >> count);
        }
    }
    return *bytes;
}
