/* SPDX-License-Identifier: MIT */
#include "tool/debug/typed.h"

#include "tool/tool.h"

#include <inttypes.h>
#include <string.h>

enum { NESTING = 16 };

static enum debug_space space_of(enum wm_variable_space space)
{
    return space == WM_VARIABLE_LDS ? DEBUG_LDS : space == WM_VARIABLE_PRIVATE ? DEBUG_PRIVATE : DEBUG_GLOBAL;
}

/* FLAT addresses: 4 GiB from each base are LDS and private memory. Source: LLVM AMDGPUUsage, "Address
 * Spaces". */
static void resolve_flat(struct debug_session *s, struct debug_value *v)
{
    static const char *const names[] = {"shared_base", "private_base"};
    static const enum debug_space spaces[] = {DEBUG_LDS, DEBUG_PRIVATE};
    for (unsigned i = 0; i < 2 && v->space == DEBUG_GLOBAL; i++) {
        uint32_t half[2];
        struct wm_diag ignored;
        if (!debug_get(s, names[i], half, 2, &ignored) || !half[1] || v->address >> 32 != half[1])
            continue;
        v->space = spaces[i];
        v->address &= UINT32_MAX;
    }
}

static bool read_bytes(struct debug_session *s, const struct debug_value *v, uint64_t offset, void *bytes,
                       size_t size, struct wm_diag *diag)
{
    if (!v->is_held)
        return debug_read(s, v->space, v->lane, v->address + offset, bytes, size, diag);
    if (offset > sizeof v->held || size > sizeof v->held - offset)
        return tool_because(diag, "The value is too large to be shown.");
    memcpy(bytes, v->held + offset, size);
    return true;
}

static char kind_of(enum wm_variable_kind kind)
{
    return kind == WM_VARIABLE_FLOAT ? 'f' : kind == WM_VARIABLE_SIGNED ? 'i' : 'u';
}

static void set_pointer(const struct wm_object *object, const struct wm_type *type, struct debug_value *v)
{
    struct wm_type target;
    v->kind = 'u';
    v->pointer = true;
    v->target_kind = 'u';
    v->target_size = 1;
    v->target_type = type->element;
    v->target_space = space_of(type->has_space ? type->space : WM_VARIABLE_GLOBAL);
    if (!wm_object_type(object, type->element, &target))
        return;
    v->target_kind = kind_of(target.kind);
    v->target_size = target.bytes && target.bytes <= 8 ? (unsigned)target.bytes : 1;
}

bool debug_part(struct debug_session *s, const struct debug_value *whole, uint64_t offset,
                const struct wm_object *object, uint64_t id, struct debug_value *part, struct wm_diag *diag)
{
    struct wm_type type;
    struct debug_value v = *whole;
    if (!wm_object_type(object, id, &type) || !type.bytes)
        return tool_because(diag, "The type of the value is not known.");
    v.object = object;
    v.type = id;
    v.count = 1;
    v.vector = v.pointer = v.aggregate = false;
    v.bits = 0;
    if (!v.is_held) {
        v.address += offset;
        resolve_flat(s, &v);
    }
    if (type.kind == WM_VARIABLE_OTHER || type.bytes > 8) {
        v.aggregate = true;
        v.kind = 'u';
        v.size = type.bytes < UINT32_MAX ? (unsigned)type.bytes : 0;
        if (v.is_held && offset < sizeof v.held)
            memmove(v.held, v.held + offset, sizeof v.held - offset);
        *part = v;
        return true;
    }
    v.kind = kind_of(type.kind);
    v.size = (unsigned)type.bytes;
    v.is_held = false;
    if (!read_bytes(s, whole->is_held ? whole : &v, whole->is_held ? offset : 0, &v.bits, v.size, diag))
        return false;
    if (whole->is_held)
        v.space = DEBUG_NOWHERE;
    if (type.kind == WM_VARIABLE_POINTER)
        set_pointer(object, &type, &v);
    *part = v;
    return true;
}

bool debug_target(struct debug_session *s, const struct debug_value *pointer, int64_t index,
                  struct debug_value *target, struct wm_diag *diag)
{
    struct wm_type type;
    struct debug_value place = {.space = pointer->target_space, .lane = pointer->lane, .count = 1};
    place.address = pointer->bits;
    if (wm_object_type(pointer->object, pointer->target_type, &type))
        return debug_part(s, &place, (uint64_t)index * type.bytes, pointer->object, pointer->target_type,
                          target, diag);
    place.address += (uint64_t)index * pointer->target_size;
    resolve_flat(s, &place);
    place.kind = pointer->target_kind;
    place.size = pointer->target_size;
    *target = place;
    return debug_read(s, place.space, place.lane, place.address, &target->bits, place.size, diag);
}

/* ---- members ---- */

static void cut_bit_field(const struct wm_member *member, struct debug_value *v)
{
    if (!member->bits || member->bits >= 64)
        return;
    v->bits = v->bits >> member->bit_offset & ((UINT64_C(1) << member->bits) - 1);
    if (v->kind == 'i' && v->bits >> (member->bits - 1))
        v->bits = debug_cut(v->bits | UINT64_MAX << member->bits, v->size);
    v->space = DEBUG_NOWHERE;
}

/* *found false: no member of that name. */
static bool find_member(struct debug_session *s, const struct debug_value *v, const char *name, size_t length,
                        unsigned depth, struct debug_value *out, bool *found, struct wm_diag *diag)
{
    struct wm_member member;
    *found = false;
    for (size_t i = 0; !*found && depth < NESTING && wm_object_member(v->object, v->type, i, &member); i++) {
        const bool is = strlen(member.name) == length && !strncmp(member.name, name, length);
        struct debug_value part;
        if (!is && *member.name)
            continue;
        if (!debug_part(s, v, member.offset, v->object, member.type_id, &part, diag))
            return false;
        cut_bit_field(&member, &part);
        *found = is;
        if (is)
            *out = part;
        else if (part.aggregate && !find_member(s, &part, name, length, depth + 1, out, found, diag))
            return false;
    }
    return true;
}

bool debug_member(struct debug_session *s, const struct debug_value *v, const char *name, size_t length,
                  struct debug_value *member, struct wm_diag *diag)
{
    bool found;
    struct wm_type type;
    static const char vector[] = "xyzw";
    if (!wm_object_type(v->object, v->type, &type))
        return tool_because(diag, "The type of the value is not known.");
    const char *component = length == 1 ? strchr(vector, *name) : NULL;
    if (type.elements && component && debug_child(s, v, (uint64_t)(component - vector), NULL, member, diag))
        return true;
    if (!find_member(s, v, name, length, 0, member, &found, diag))
        return false;
    return found || tool_because(diag, "There is no member named %.*s.", (int)length, name);
}

uint64_t debug_children(const struct debug_value *v)
{
    struct wm_type type;
    return wm_object_type(v->object, v->type, &type) ? type.elements + type.members : 0;
}

bool debug_child(struct debug_session *s, const struct debug_value *v, uint64_t index, const char **name,
                 struct debug_value *child, struct wm_diag *diag)
{
    struct wm_type type, element;
    struct wm_member member;
    if (name)
        *name = NULL;
    if (!wm_object_type(v->object, v->type, &type))
        return tool_because(diag, "The type of the value is not known.");
    if (type.elements) {
        if (index >= type.elements || !wm_object_type(v->object, type.element, &element))
            return tool_because(diag, "The array has %" PRIu64 " elements.", type.elements);
        return debug_part(s, v, index * element.bytes, v->object, type.element, child, diag);
    }
    if (!wm_object_member(v->object, v->type, index, &member) ||
        !debug_part(s, v, member.offset, v->object, member.type_id, child, diag))
        return false;
    cut_bit_field(&member, child);
    if (name)
        *name = *member.name ? member.name : NULL;
    return true;
}
