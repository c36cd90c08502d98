/* SPDX-License-Identifier: MIT */
/* Creates the kernels from the metadata note, or, without one, from the descriptors in the symbol table.
 *
 * Source: LLVM 19 AMDGPUUsage, "Code Object Metadata", versions 3 to 5. */
#include "object/msgpack.h"
#include "object/parts.h"

#include <stdio.h>
#include <string.h>

enum field_kind { TEXT, NUMBER32, NUMBER64, FLAG, EXTENT, ARGUMENTS };

/* A map key, and the member of the struct that receives its value. */
struct field {
    const char *key;
    uint8_t length;
    enum field_kind kind;
    uint16_t member;
    bool required;
};

struct argument {
    const char *name, *type_name, *value_kind, *access, *actual_access;
    uint32_t offset, size, alignment;
    bool is_const;
};

struct kernel {
    const char *name, *symbol;
    uint64_t kernarg_size;
    uint32_t max_workgroup, required_workgroup[3], required_cluster[3];
    uint32_t sgprs, vgprs, agprs, sgpr_spills, vgpr_spills;
    struct wm_argument *arguments;
    size_t argument_count;
};

#define MEMBER(key, kind, type, member, required)                                                            \
    {key, sizeof(key) - 1, kind, offsetof(struct type, member), required}

static const struct field argument_fields[] = {
    MEMBER(".name", TEXT, argument, name, false),
    MEMBER(".type_name", TEXT, argument, type_name, false),
    MEMBER(".value_kind", TEXT, argument, value_kind, true),
    MEMBER(".offset", NUMBER32, argument, offset, true),
    MEMBER(".size", NUMBER32, argument, size, true),
    MEMBER(".pointee_align", NUMBER32, argument, alignment, false),
    MEMBER(".access", TEXT, argument, access, false),
    MEMBER(".actual_access", TEXT, argument, actual_access, false),
    MEMBER(".is_const", FLAG, argument, is_const, false),
    {NULL},
};

static const struct field kernel_fields[] = {
    MEMBER(".args", ARGUMENTS, kernel, arguments, false),
    MEMBER(".name", TEXT, kernel, name, true),
    MEMBER(".symbol", TEXT, kernel, symbol, true),
    MEMBER(".kernarg_segment_size", NUMBER64, kernel, kernarg_size, true),
    MEMBER(".max_flat_workgroup_size", NUMBER32, kernel, max_workgroup, false),
    MEMBER(".reqd_workgroup_size", EXTENT, kernel, required_workgroup, false),
    MEMBER(".cluster_dims", EXTENT, kernel, required_cluster, false),
    MEMBER(".sgpr_count", NUMBER32, kernel, sgprs, false),
    MEMBER(".vgpr_count", NUMBER32, kernel, vgprs, false),
    MEMBER(".agpr_count", NUMBER32, kernel, agprs, false),
    MEMBER(".sgpr_spill_count", NUMBER32, kernel, sgpr_spills, false),
    MEMBER(".vgpr_spill_count", NUMBER32, kernel, vgpr_spills, false),
    {NULL},
};

/* The values of value_kind, so that each is stored once. */
static const struct {
    const char *word;
    enum wm_argument_kind kind;
} value_kinds[] = {
    {"by_value", WM_ARGUMENT_BY_VALUE},
    {"global_buffer", WM_ARGUMENT_GLOBAL_BUFFER},
    {"dynamic_shared_pointer", WM_ARGUMENT_DYNAMIC_LDS},
    {"image", WM_ARGUMENT_IMAGE},
    {"sampler", WM_ARGUMENT_SAMPLER},
    {"pipe", WM_ARGUMENT_PIPE},
    {"queue", WM_ARGUMENT_QUEUE},
};
enum { VALUE_KINDS = sizeof(value_kinds) / sizeof(value_kinds[0]) };

struct parse {
    struct wm_object *object;
    struct wm_diag *diag;
    struct wmi_msgpack reader;
    int64_t kernel, argument; /* position of the reader, for messages; -1: none */
};

static enum wm_status bad(const struct parse *p, const char *what, const char *expected)
{
    char kernel[40] = "", argument[40] = "";
    if (p->kernel >= 0)
        snprintf(kernel, sizeof(kernel), "kernel %lld, ", (long long)p->kernel);
    if (p->argument >= 0)
        snprintf(argument, sizeof(argument), "argument %lld, ", (long long)p->argument);
    return wmi_fail(p->diag, WM_BAD_FILE, "%s: metadata: %s%s%s at byte 0x%zx; expected %s", p->object->name,
                    kernel, argument, what, (size_t)(p->reader.at - p->object->bytes), expected);
}

static bool is(const struct wmi_msgpack_value *value, const char *word)
{
    return value->kind == WMI_MSGPACK_TEXT && value->length == strlen(word) &&
           memcmp(value->text, word, value->length) == 0;
}

static enum wm_status read_extent(struct parse *p, const char *key, uint32_t extent[3])
{
    const struct wmi_msgpack_value list = wmi_msgpack_next(&p->reader);
    if (list.kind != WMI_MSGPACK_ARRAY || list.number != 3)
        return bad(p, key, "three sizes");
    for (unsigned i = 0; i < 3; i++) {
        const struct wmi_msgpack_value value = wmi_msgpack_next(&p->reader);
        if (value.kind != WMI_MSGPACK_UNSIGNED || value.number > UINT32_MAX)
            return bad(p, key, "three sizes");
        extent[i] = (uint32_t)value.number;
    }
    return WM_OK;
}

static enum wm_status read_field(struct parse *p, const struct field *field, void *into)
{
    char *member = (char *)into + field->member;
    if (field->kind == EXTENT)
        return read_extent(p, field->key, (uint32_t *)(void *)member);
    const struct wmi_msgpack_value value = wmi_msgpack_next(&p->reader);
    switch (field->kind) {
    case TEXT: {
        if (value.kind != WMI_MSGPACK_TEXT)
            return bad(p, field->key, "text");
        const char *text = wmi_arena_text(&p->object->arena, value.text, value.length);
        memcpy(member, &text, sizeof(text));
        return text ? WM_OK : wmi_no_memory(p->object, p->diag);
    }
    case FLAG:
        /* also integers, which LLVM 5's runtime metadata used */
        if (value.kind != WMI_MSGPACK_BOOLEAN && value.kind != WMI_MSGPACK_UNSIGNED)
            return bad(p, field->key, "a boolean");
        *(bool *)member = value.number != 0;
        return WM_OK;
    case NUMBER32:
    case NUMBER64:
    default:
        if (value.kind != WMI_MSGPACK_UNSIGNED || (field->kind == NUMBER32 && value.number > UINT32_MAX))
            return bad(p, field->key, field->kind == NUMBER32 ? "a number below 2^32" : "a number from 0 on");
        memcpy(member, &value.number, field->kind == NUMBER32 ? 4 : 8);
        return WM_OK;
    }
}

static enum wm_status read_arguments(struct parse *p, struct kernel *kernel);

/* Reads a map into a struct; unknown keys are skipped. */
static enum wm_status read_map(struct parse *p, const struct field *fields, void *into)
{
    const struct wmi_msgpack_value map = wmi_msgpack_next(&p->reader);
    uint32_t seen = 0;
    if (map.kind != WMI_MSGPACK_MAP)
        return bad(p, "value", "a map");
    for (uint64_t i = 0; i < map.number; i++) {
        const struct wmi_msgpack_value key = wmi_msgpack_next(&p->reader);
        unsigned f = 0;
        if (key.kind != WMI_MSGPACK_TEXT)
            return bad(p, "key", "text");
        while (fields[f].key &&
               (fields[f].length != key.length || memcmp(fields[f].key, key.text, key.length) != 0))
            f++;
        if (fields[f].key && fields[f].kind == ARGUMENTS) {
            const enum wm_status status = read_arguments(p, into);
            if (status)
                return status;
        } else if (fields[f].key) {
            const enum wm_status status = read_field(p, &fields[f], into);
            if (status)
                return status;
        } else if (!wmi_msgpack_skip(&p->reader)) {
            return bad(p, "value", "well-formed MessagePack");
        }
        seen |= 1u << f;
    }
    for (unsigned f = 0; fields[f].key; f++)
        if (fields[f].required && !(seen & 1u << f))
            return bad(p, "the end of the map", fields[f].key);
    return WM_OK;
}

static enum wm_argument_kind argument_kind(const char **word)
{
    for (size_t i = 0; i < VALUE_KINDS; i++)
        if (strcmp(*word, value_kinds[i].word) == 0) {
            *word = value_kinds[i].word;
            return value_kinds[i].kind;
        }
    /* Kinds from future versions: the caller cannot set them either. */
    return WM_ARGUMENT_HIDDEN;
}

static bool read_only(const struct argument *a)
{
    const char *access = a->actual_access ? a->actual_access : a->access;
    return a->is_const || (access && strcmp(access, "read_only") == 0);
}

static enum wm_status read_arguments(struct parse *p, struct kernel *kernel)
{
    const struct wmi_msgpack_value list = wmi_msgpack_next(&p->reader);
    /* An argument takes at least 30 bytes, a kernel 40: limits the allocation to what the input can contain.
     */
    if (list.kind != WMI_MSGPACK_ARRAY || list.number > (uint64_t)(p->reader.end - p->reader.at) / 24)
        return bad(p, ".args", "a list of maps");
    struct wm_argument *arguments = wmi_arena_array(&p->object->arena, list.number, sizeof(*arguments));
    if (!arguments)
        return wmi_no_memory(p->object, p->diag);
    for (uint64_t i = 0; i < list.number; i++) {
        struct argument a = {.name = "", .type_name = "", .value_kind = ""};
        p->argument = (int64_t)i;
        const enum wm_status status = read_map(p, argument_fields, &a);
        if (status)
            return status;
        const enum wm_argument_kind kind = argument_kind(&a.value_kind);
        arguments[i] = (struct wm_argument){.name = a.name,
                                            .type_name = a.type_name,
                                            .value_kind = a.value_kind,
                                            .kind = kind,
                                            .offset = a.offset,
                                            .size = a.size,
                                            .alignment = a.alignment,
                                            .is_const = read_only(&a)};
    }
    p->argument = -1;
    kernel->arguments = arguments;
    kernel->argument_count = list.number;
    return WM_OK;
}

static enum wm_status read_kernel(struct parse *p, uint64_t index, struct wmi_kernel *kernel)
{
    struct kernel k = {0};
    p->kernel = (int64_t)index;
    const enum wm_status status = read_map(p, kernel_fields, &k);
    if (status)
        return status;
    kernel->public = (struct wm_kernel){
        .name = k.name,
        .kernarg_size = k.kernarg_size > UINT32_MAX ? UINT32_MAX : (uint32_t)k.kernarg_size,
        .sgprs = k.sgprs,
        .vgprs = k.vgprs,
        .agprs = k.agprs,
        .sgpr_spills = k.sgpr_spills,
        .vgpr_spills = k.vgpr_spills,
        .max_workgroup = k.max_workgroup,
        .arguments = k.arguments,
        .argument_count = k.argument_count};
    kernel->arguments = k.arguments;
    memcpy(kernel->public.required_workgroup, k.required_workgroup, sizeof(k.required_workgroup));
    memcpy(kernel->public.required_cluster, k.required_cluster, sizeof(k.required_cluster));
    return wmi_kernel_describe(p->object, kernel, k.symbol, p->diag);
}

static enum wm_status read_kernels(struct parse *p)
{
    const struct wmi_msgpack_value list = wmi_msgpack_next(&p->reader);
    if (list.kind != WMI_MSGPACK_ARRAY || list.number > (uint64_t)(p->reader.end - p->reader.at) / 32)
        return bad(p, "amdhsa.kernels", "a list of maps");
    p->object->kernels = wmi_arena_array(&p->object->arena, list.number, sizeof(*p->object->kernels));
    if (!p->object->kernels)
        return wmi_no_memory(p->object, p->diag);
    for (uint64_t i = 0; i < list.number; i++) {
        const enum wm_status status = read_kernel(p, i, &p->object->kernels[i]);
        if (status)
            return status;
        p->object->kernel_count = i + 1;
    }
    return WM_OK;
}

static enum wm_status read_version(struct parse *p)
{
    const struct wmi_msgpack_value list = wmi_msgpack_next(&p->reader);
    const struct wmi_msgpack_value major = wmi_msgpack_next(&p->reader);
    const struct wmi_msgpack_value minor = wmi_msgpack_next(&p->reader);
    if (list.kind != WMI_MSGPACK_ARRAY || list.number != 2 || major.kind != WMI_MSGPACK_UNSIGNED ||
        minor.kind != WMI_MSGPACK_UNSIGNED)
        return bad(p, "amdhsa.version", "two numbers");
    if (major.number != 1)
        return wmi_fail(p->diag, WM_UNSUPPORTED, "%s: metadata of version %llu; 1 is supported",
                        p->object->name, (unsigned long long)major.number);
    return WM_OK;
}

static enum wm_status read_printf(struct parse *p)
{
    const struct wmi_msgpack_value list = wmi_msgpack_next(&p->reader);
    if (list.kind != WMI_MSGPACK_ARRAY)
        return bad(p, "amdhsa.printf", "a list");
    p->object->printf_formats =
        wmi_arena_array(&p->object->arena, list.number, sizeof(*p->object->printf_formats));
    if (!p->object->printf_formats)
        return wmi_no_memory(p->object, p->diag);
    for (uint64_t i = 0; i < list.number; i++) {
        const struct wmi_msgpack_value value = wmi_msgpack_next(&p->reader);
        if (value.kind != WMI_MSGPACK_TEXT)
            return bad(p, "amdhsa.printf", "texts");
        p->object->printf_formats[i] = wmi_arena_text(&p->object->arena, value.text, value.length);
        if (!p->object->printf_formats[i])
            return wmi_no_memory(p->object, p->diag);
        p->object->printf_count = i + 1;
    }
    return WM_OK;
}

static enum wm_status skip(struct parse *p)
{
    return wmi_msgpack_skip(&p->reader) ? WM_OK : bad(p, "value", "well-formed MessagePack");
}

static enum wm_status read_root(struct parse *p)
{
    static const struct {
        const char *key;
        enum wm_status (*read)(struct parse *p);
    } keys[] = {{"amdhsa.kernels", read_kernels},
                {"amdhsa.version", read_version},
                {"amdhsa.printf", read_printf},
                {NULL, skip}};
    const struct wmi_msgpack_value map = wmi_msgpack_next(&p->reader);
    uint32_t seen = 0;
    if (map.kind != WMI_MSGPACK_MAP)
        return bad(p, "value", "a map");
    for (uint64_t i = 0; i < map.number; i++) {
        const struct wmi_msgpack_value key = wmi_msgpack_next(&p->reader);
        unsigned k = 0;
        p->kernel = -1;
        if (key.kind != WMI_MSGPACK_TEXT)
            return bad(p, "key", "text");
        while (keys[k].key && !is(&key, keys[k].key))
            k++;
        if (keys[k].key && seen & 1u << k)
            return bad(p, keys[k].key, "each key once");
        seen |= 1u << k;
        const enum wm_status status = keys[k].read(p);
        if (status)
            return status;
    }
    return WM_OK;
}

/* Without metadata, kernels are those with a descriptor; their arguments are unknown. */
static enum wm_status from_symbols(struct wm_object *object, struct wm_diag *diag)
{
    object->kernels = wmi_arena_array(&object->arena, object->symbol_count, sizeof(*object->kernels));
    if (!object->kernels)
        return wmi_no_memory(object, diag);
    for (size_t i = 0; i < object->symbol_count; i++) {
        const struct wmi_symbol *symbol = &object->symbols[i];
        if (symbol->kind != WMI_SYMBOL_DESCRIPTOR || symbol->size != WMI_DESCRIPTOR_BYTES)
            continue;
        struct wmi_kernel *kernel = &object->kernels[object->kernel_count];
        kernel->public.name =
            wmi_arena_text(&object->arena, symbol->name, strlen(symbol->name) - strlen(".kd"));
        if (!kernel->public.name)
            return wmi_no_memory(object, diag);
        const enum wm_status status = wmi_kernel_describe(object, kernel, symbol->name, diag);
        if (status)
            return status;
        object->kernel_count++;
    }
    return WM_OK;
}

enum wm_status wmi_metadata_parse(struct wm_object *object, struct wm_diag *diag)
{
    if (!object->metadata)
        return from_symbols(object, diag);
    struct parse p = {object, diag, {object->metadata, object->metadata + object->metadata_size}, -1, -1};
    return read_root(&p);
}
