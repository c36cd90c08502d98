/* SPDX-License-Identifier: MIT */
/* The MessagePack cursor. */
#include "object/msgpack.h"

/* What follows a leading byte: `size` bytes of number or length, then the payload. */
struct lead {
    uint8_t kind, size;
    bool is_signed, has_payload;
    uint8_t extra; /* payload bytes in addition to the length: the type of an extension */
};

/* Leading bytes 0xc0 to 0xdf. */
static const struct lead leads[32] = {
    [0x00] = {WMI_MSGPACK_NIL},
    [0x02] = {WMI_MSGPACK_BOOLEAN},
    [0x03] = {WMI_MSGPACK_BOOLEAN},
    [0x04] = {WMI_MSGPACK_BINARY, 1, .has_payload = true},
    [0x05] = {WMI_MSGPACK_BINARY, 2, .has_payload = true},
    [0x06] = {WMI_MSGPACK_BINARY, 4, .has_payload = true},
    [0x07] = {WMI_MSGPACK_EXTENSION, 1, .has_payload = true, .extra = 1},
    [0x08] = {WMI_MSGPACK_EXTENSION, 2, .has_payload = true, .extra = 1},
    [0x09] = {WMI_MSGPACK_EXTENSION, 4, .has_payload = true, .extra = 1},
    [0x0a] = {WMI_MSGPACK_FLOAT, 4},
    [0x0b] = {WMI_MSGPACK_FLOAT, 8},
    [0x0c] = {WMI_MSGPACK_UNSIGNED, 1},
    [0x0d] = {WMI_MSGPACK_UNSIGNED, 2},
    [0x0e] = {WMI_MSGPACK_UNSIGNED, 4},
    [0x0f] = {WMI_MSGPACK_UNSIGNED, 8},
    [0x10] = {WMI_MSGPACK_UNSIGNED, 1, .is_signed = true},
    [0x11] = {WMI_MSGPACK_UNSIGNED, 2, .is_signed = true},
    [0x12] = {WMI_MSGPACK_UNSIGNED, 4, .is_signed = true},
    [0x13] = {WMI_MSGPACK_UNSIGNED, 8, .is_signed = true},
    /* fixext 1, 2, 4, 8, 16: no length, a type byte and the payload */
    [0x14] = {WMI_MSGPACK_EXTENSION, 0, .has_payload = true, .extra = 1 + 1},
    [0x15] = {WMI_MSGPACK_EXTENSION, 0, .has_payload = true, .extra = 1 + 2},
    [0x16] = {WMI_MSGPACK_EXTENSION, 0, .has_payload = true, .extra = 1 + 4},
    [0x17] = {WMI_MSGPACK_EXTENSION, 0, .has_payload = true, .extra = 1 + 8},
    [0x18] = {WMI_MSGPACK_EXTENSION, 0, .has_payload = true, .extra = 1 + 16},
    [0x19] = {WMI_MSGPACK_TEXT, 1, .has_payload = true},
    [0x1a] = {WMI_MSGPACK_TEXT, 2, .has_payload = true},
    [0x1b] = {WMI_MSGPACK_TEXT, 4, .has_payload = true},
    [0x1c] = {WMI_MSGPACK_ARRAY, 2},
    [0x1d] = {WMI_MSGPACK_ARRAY, 4},
    [0x1e] = {WMI_MSGPACK_MAP, 2},
    [0x1f] = {WMI_MSGPACK_MAP, 4},
};

static const struct wmi_msgpack_value bad = {WMI_MSGPACK_BAD};

/* Consumes the payload of `length` bytes, or checks that the elements of an array or map can fit. */
static inline struct wmi_msgpack_value finish(struct wmi_msgpack *reader, struct wmi_msgpack_value value)
{
    const uint64_t left = (uint64_t)(reader->end - reader->at);
    switch (value.kind) {
    case WMI_MSGPACK_TEXT:
    case WMI_MSGPACK_BINARY:
    case WMI_MSGPACK_EXTENSION:
        if (value.length > left)
            return bad;
        value.text = (const char *)reader->at;
        reader->at += value.length;
        return value;
    case WMI_MSGPACK_ARRAY:
        return value.number > left ? bad : value;
    case WMI_MSGPACK_MAP:
        return value.number > left / 2 ? bad : value;
    default:
        return value;
    }
}

struct wmi_msgpack_value wmi_msgpack_next(struct wmi_msgpack *reader)
{
    if (reader->at >= reader->end)
        return bad;
    const uint8_t first = *reader->at++;
    struct wmi_msgpack_value value = {WMI_MSGPACK_UNSIGNED, .number = first};
    if (first >= 0xa0 && first < 0xc0) { /* short text, the most frequent case */
        value.kind = WMI_MSGPACK_TEXT;
        value.text = (const char *)reader->at;
        value.length = first & 31;
        if (value.length > (size_t)(reader->end - reader->at))
            return bad;
        reader->at += value.length;
        return value;
    }
    if (first < 0x80)
        return value;
    if (first >= 0xe0) {
        value.kind = WMI_MSGPACK_NEGATIVE;
        value.number = (uint64_t)(int64_t)(int8_t)first;
        return value;
    }
    if (first < 0xc0) {
        value.kind = first < 0x90 ? WMI_MSGPACK_MAP : WMI_MSGPACK_ARRAY;
        value.number = first & 15;
        return finish(reader, value);
    }

    const struct lead *lead = &leads[first - 0xc0];
    if (lead->size > reader->end - reader->at)
        return bad;
    value.kind = lead->kind;
    value.number = lead->kind == WMI_MSGPACK_BOOLEAN ? first & 1 : 0;
    for (unsigned i = 0; i < lead->size; i++)
        value.number = value.number << 8 | reader->at[i];
    if (lead->is_signed && (reader->at[0] & 0x80)) {
        value.kind = WMI_MSGPACK_NEGATIVE;
        if (lead->size < 8)
            value.number |= ~(uint64_t)0 << 8 * lead->size;
    }
    reader->at += lead->size;
    if (lead->has_payload)
        value.length = (size_t)value.number + lead->extra;
    return finish(reader, value);
}

bool wmi_msgpack_skip(struct wmi_msgpack *reader)
{
    uint64_t pending = 1;
    while (pending) {
        const struct wmi_msgpack_value value = wmi_msgpack_next(reader);
        pending--;
        if (value.kind == WMI_MSGPACK_ARRAY)
            pending += value.number;
        else if (value.kind == WMI_MSGPACK_MAP)
            pending += 2 * value.number;
        if (value.kind == WMI_MSGPACK_BAD || pending > (uint64_t)(reader->end - reader->at))
            return false;
    }
    return true;
}
