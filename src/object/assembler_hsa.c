/* SPDX-License-Identifier: MIT */
/* Kernel descriptors from .amdhsa_ directives, and metadata from YAML to MessagePack.
 *
 * Source: LLVM 19 AMDGPUUsage, "Kernel Descriptor", "AMDHSA Kernel Assembler Directives", "AMDHSA Code Object
 * Metadata". */
#include "object/assembler_parts.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
    DESCRIPTOR = 64,
    KERNARG_AT = 8,
    ENTRY_AT = 16,
    RSRC3_AT = 44,
    RSRC1_AT = 48,
    RSRC2_AT = 52,
    PROPERTIES_AT = 56,
    PRELOAD_AT = 58,
    NOTE_METADATA = 32,
};

/* A directive that sets bits of the descriptor: where, and how many user SGPRs it asks for. */
static const struct directive {
    const char *name;
    uint8_t at, shift, width, sgprs;
} directives[] = {
    {"group_segment_fixed_size", 0, 0, 32, 0},
    {"private_segment_fixed_size", 4, 0, 32, 0},
    {"kernarg_size", KERNARG_AT, 0, 32, 0},
    {"user_sgpr_private_segment_buffer", PROPERTIES_AT, 0, 1, 4},
    {"user_sgpr_dispatch_ptr", PROPERTIES_AT, 1, 1, 2},
    {"user_sgpr_queue_ptr", PROPERTIES_AT, 2, 1, 2},
    {"user_sgpr_kernarg_segment_ptr", PROPERTIES_AT, 3, 1, 2},
    {"user_sgpr_dispatch_id", PROPERTIES_AT, 4, 1, 2},
    {"user_sgpr_flat_scratch_init", PROPERTIES_AT, 5, 1, 2},
    {"user_sgpr_private_segment_size", PROPERTIES_AT, 6, 1, 1},
    {"wavefront_size32", PROPERTIES_AT, 10, 1, 0},
    {"uses_dynamic_stack", PROPERTIES_AT, 11, 1, 0},
    {"user_sgpr_kernarg_preload_length", PRELOAD_AT, 0, 7, 0},
    {"user_sgpr_kernarg_preload_offset", PRELOAD_AT, 7, 9, 0},
    {"enable_private_segment", RSRC2_AT, 0, 1, 0},
    {"system_sgpr_private_segment_wavefront_offset", RSRC2_AT, 0, 1, 0},
    {"system_sgpr_workgroup_id_x", RSRC2_AT, 7, 1, 0},
    {"system_sgpr_workgroup_id_y", RSRC2_AT, 8, 1, 0},
    {"system_sgpr_workgroup_id_z", RSRC2_AT, 9, 1, 0},
    {"system_sgpr_workgroup_info", RSRC2_AT, 10, 1, 0},
    {"system_vgpr_workitem_id", RSRC2_AT, 11, 2, 0},
    {"exception_fp_ieee_invalid_op", RSRC2_AT, 24, 1, 0},
    {"exception_fp_denorm_src", RSRC2_AT, 25, 1, 0},
    {"exception_fp_ieee_div_zero", RSRC2_AT, 26, 1, 0},
    {"exception_fp_ieee_overflow", RSRC2_AT, 27, 1, 0},
    {"exception_fp_ieee_underflow", RSRC2_AT, 28, 1, 0},
    {"exception_fp_ieee_inexact", RSRC2_AT, 29, 1, 0},
    {"exception_int_div_zero", RSRC2_AT, 30, 1, 0},
    {"float_round_mode_32", RSRC1_AT, 12, 2, 0},
    {"float_round_mode_16_64", RSRC1_AT, 14, 2, 0},
    {"float_denorm_mode_32", RSRC1_AT, 16, 2, 0},
    {"float_denorm_mode_16_64", RSRC1_AT, 18, 2, 0},
    {"dx10_clamp", RSRC1_AT, 21, 1, 0},
    {"round_robin_scheduling", RSRC1_AT, 21, 1, 0},
    {"ieee_mode", RSRC1_AT, 23, 1, 0},
    {"fp16_overflow", RSRC1_AT, 26, 1, 0},
    {"workgroup_processor_mode", RSRC1_AT, 29, 1, 0},
    {"memory_ordered", RSRC1_AT, 30, 1, 0},
    {"forward_progress", RSRC1_AT, 31, 1, 0},
    {"tg_split", RSRC3_AT, 16, 1, 0},
    {"shared_vgpr_count", RSRC3_AT, 0, 4, 0},
};

/* What is counted and not stored as it stands. */
enum counted {
    NEXT_VGPR,
    NEXT_SGPR,
    ACCUM_OFFSET,
    RESERVE_VCC,
    RESERVE_FLAT_SCRATCH,
    RESERVE_XNACK,
    USER_SGPRS,
    INST_PREF_SIZE,
    COUNTED
};
static const char *const counted_names[COUNTED] = {
    "next_free_vgpr",       "next_free_sgpr",     "accum_offset",    "reserve_vcc",
    "reserve_flat_scratch", "reserve_xnack_mask", "user_sgpr_count", "inst_pref_size",
};

struct kernel {
    uint8_t bytes[DESCRIPTOR];
    int64_t count[COUNTED];
    bool given[COUNTED];
    unsigned user_sgprs;
};

static void put_bits(uint8_t *bytes, const struct directive *d, uint64_t value)
{
    const unsigned size = d->at == PROPERTIES_AT || d->at == PRELOAD_AT ? 2 : 4;
    uint32_t word = 0;
    memcpy(&word, bytes + d->at, size);
    const uint32_t mask = (uint32_t)((UINT64_C(1) << d->width) - 1) << d->shift;
    word = (word & ~mask) | ((uint32_t)value << d->shift & mask);
    memcpy(bytes + d->at, &word, size);
}

static void set(struct kernel *k, const char *name, uint64_t value)
{
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (!strcmp(directives[i].name, name))
            put_bits(k->bytes, &directives[i], value);
}

/* Source: LLVM AMDGPUMCKernelDescriptor.cpp, getDefaultAmdhsaKernelDescriptor. */
static void set_defaults(const struct wmi_target *target, struct kernel *k)
{
    const uint32_t generation = wmi_target_limit(target, WMI_LIMIT_generation);
    const bool rdna = wmi_target_limit(target, WMI_LIMIT_sgprs) == 106;
    memset(k, 0, sizeof *k);
    set(k, "float_denorm_mode_16_64", 3);
    set(k, "system_sgpr_workgroup_id_x", 1);
    if (generation < 12) {
        set(k, "dx10_clamp", 1);
        set(k, "ieee_mode", 1);
    }
    if (rdna) {
        set(k, "wavefront_size32", wmi_target_limit(target, WMI_LIMIT_wave) == 32);
        set(k, "workgroup_processor_mode", 1);
        set(k, "memory_ordered", 1);
    }
    k->count[RESERVE_VCC] = k->count[RESERVE_FLAT_SCRATCH] = 1;
}

static uint32_t blocks(int64_t count, int64_t granule)
{
    return (uint32_t)(((count < 1 ? 1 : count) + granule - 1) / granule - 1);
}

/* Source: LLVM AMDGPUBaseInfo.cpp, getNumExtraSGPRs, getVGPREncodingGranule. */
static void set_registers(struct wmi_assembler *a, struct kernel *k, const char *at)
{
    static const struct directive vgprs = {"", RSRC1_AT, 0, 6, 0}, sgprs = {"", RSRC1_AT, 6, 4, 0},
                                  user = {"", RSRC2_AT, 1, 5, 0}, accum = {"", RSRC3_AT, 0, 6, 0},
                                  prefetch = {"", RSRC3_AT, 4, 6, 0}, prefetch_long = {"", RSRC3_AT, 4, 8, 0};
    const uint32_t generation = wmi_target_limit(a->target, WMI_LIMIT_generation);
    const bool rdna = wmi_target_limit(a->target, WMI_LIMIT_sgprs) == 106;
    const bool even = wmi_target_limit(a->target, WMI_LIMIT_even_tuples);
    uint16_t properties;
    memcpy(&properties, k->bytes + PROPERTIES_AT, 2);
    const bool wave32 = properties >> 10 & 1;
    if (!k->given[NEXT_VGPR] || !k->given[NEXT_SGPR]) {
        wmi_asm_error(a, at, ".amdhsa_next_free_%s is missing from this kernel",
                      k->given[NEXT_VGPR] ? "sgpr" : "vgpr");
        return;
    }
    if (even && !k->given[ACCUM_OFFSET]) {
        wmi_asm_error(a, at, ".amdhsa_accum_offset is missing from this kernel");
        return;
    }
    put_bits(k->bytes, &vgprs, blocks(k->count[NEXT_VGPR], even || wave32 ? 8 : 4));
    int64_t scalar = k->count[NEXT_SGPR];
    if (!rdna) {
        int64_t extra = k->count[RESERVE_VCC] ? 2 : 0;
        const bool xnack = k->given[RESERVE_XNACK] ? k->count[RESERVE_XNACK] != 0 : wmi_asm_may_replay(a);
        if (generation < 8)
            extra = k->count[RESERVE_FLAT_SCRATCH] && generation == 7 ? 4 : extra;
        else if (k->count[RESERVE_FLAT_SCRATCH] || !strncmp(wmi_target_name(a->target), "gfx94", 5))
            extra = 6;
        else if (xnack)
            extra = 4;
        put_bits(k->bytes, &sgprs, blocks(scalar + extra, 8));
    }
    put_bits(k->bytes, &user, (uint64_t)(k->given[USER_SGPRS] ? k->count[USER_SGPRS] : k->user_sgprs));
    if (even)
        put_bits(k->bytes, &accum, (uint64_t)(k->count[ACCUM_OFFSET] / 4 - 1));
    if (generation >= 11)
        put_bits(k->bytes, generation == 11 ? &prefetch : &prefetch_long, (uint64_t)k->count[INST_PREF_SIZE]);
}

static void read_directive(struct wmi_assembler *a, struct kernel *k, const char *begin, const char *end)
{
    static const char prefix[] = ".amdhsa_";
    struct wmi_cursor c = {.at = begin, .end = end, .symbols = &a->resolver};
    const size_t length = wmi_name_length(&c), cut = strlen(prefix);
    const char *name = c.at;
    int64_t value;
    if (!length)
        return;
    if (length <= cut || memcmp(name, prefix, cut)) {
        wmi_asm_error(a, name, "expected a .amdhsa_ directive or .end_amdhsa_kernel");
        return;
    }
    c.at += length;
    if (!wmi_read_number(&c, &value)) {
        wmi_asm_error(a, c.wrong_at, "expected %s", c.wrong);
        return;
    }
    for (unsigned i = 0; i < COUNTED; i++)
        if (strlen(counted_names[i]) == length - cut && !memcmp(counted_names[i], name + cut, length - cut)) {
            k->count[i] = value;
            k->given[i] = true;
            if (value < 0 || value > 1024)
                wmi_asm_error(a, name + length, "expected a count of registers");
            return;
        }
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
        const struct directive *d = &directives[i];
        if (strlen(d->name) != length - cut || memcmp(d->name, name + cut, length - cut))
            continue;
        if (value < 0 || (uint64_t)value >> d->width)
            wmi_asm_error(a, name + length, "expected an unsigned number of %u bits", d->width);
        put_bits(k->bytes, d, (uint64_t)value);
        k->user_sgprs += value ? d->sgprs : 0;
        if (d->at == PRELOAD_AT && d->shift == 0)
            k->user_sgprs += (unsigned)value;
        return;
    }
    wmi_asm_error(a, name, "unknown directive %.*s", (int)length, name);
}

void wmi_asm_kernel(struct wmi_assembler *a, const char *name, size_t length)
{
    struct kernel k;
    const char *begin, *end;
    set_defaults(a->target, &k);
    char *owned = wmi_asm_text(a, name, length);
    char *descriptor = wmi_asm_allocate(a, length + 4, 1);
    memcpy(descriptor, owned, length);
    memcpy(descriptor + length, ".kd", 4);
    while (wmi_asm_next_line(a, &begin, &end)) {
        struct wmi_cursor c = {.at = begin, .end = end};
        const size_t word = wmi_name_length(&c);
        if (word == strlen(".end_amdhsa_kernel") && !memcmp(c.at, ".end_amdhsa_kernel", word)) {
            set_registers(a, &k, c.at);
            struct wmi_asm_section *section = a->section;
            struct wmi_asm_symbol *code = wmi_asm_symbol(a, owned, length);
            struct wmi_asm_symbol *symbol = wmi_asm_symbol(a, descriptor, length + 3);
            symbol->section = section;
            symbol->value.number = (int64_t)section->bytes.size;
            symbol->defined = true;
            symbol->size = DESCRIPTOR;
            symbol->type = STT_OBJECT;
            symbol->binding = code->binding;
            symbol->visibility = code->visibility;
            const struct wmi_value entry = {.number = ENTRY_AT, .base = code, .part = WMI_PART_REL64};
            wmi_asm_relocate(a, section, section->bytes.size + ENTRY_AT, &entry, 8, false);
            if (section->alignment < DESCRIPTOR)
                section->alignment = DESCRIPTOR;
            wmi_asm_append(a, &section->bytes, k.bytes, DESCRIPTOR);
            return;
        }
        read_directive(a, &k, begin, end);
    }
    wmi_asm_error(a, a->place.line, "expected .end_amdhsa_kernel before the end of the file");
}

/* ---- metadata ---- */

struct yaml_line {
    const char *at, *end;
    unsigned indent;
};

struct yaml {
    struct wmi_assembler *a;
    struct yaml_line *lines;
    size_t count, next;
    struct wmi_bytes out;
};

static void put_byte(struct yaml *y, unsigned byte)
{
    const uint8_t b = (uint8_t)byte;
    wmi_asm_append(y->a, &y->out, &b, 1);
}

static void put_big(struct yaml *y, uint64_t value, unsigned bytes)
{
    while (bytes--)
        put_byte(y, (unsigned)(value >> 8 * bytes));
}

static void put_string(struct yaml *y, const char *text, size_t length)
{
    if (length < 32) {
        put_byte(y, 0xa0 | (unsigned)length);
    } else if (length < 256) {
        put_byte(y, 0xd9);
        put_big(y, length, 1);
    } else {
        put_byte(y, 0xda);
        put_big(y, length, 2);
    }
    wmi_asm_append(y->a, &y->out, text, length);
}

static void put_integer(struct yaml *y, uint64_t value)
{
    if (value < 128)
        put_byte(y, (unsigned)value);
    else if (value <= UINT8_MAX)
        put_byte(y, 0xcc), put_big(y, value, 1);
    else if (value <= UINT16_MAX)
        put_byte(y, 0xcd), put_big(y, value, 2);
    else if (value <= UINT32_MAX)
        put_byte(y, 0xce), put_big(y, value, 4);
    else
        put_byte(y, 0xcf), put_big(y, value, 8);
}

static bool is(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && !memcmp(at, word, length);
}

static void put_scalar(struct yaml *y, const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    while (end > at && isspace((unsigned char)end[-1]))
        end--;
    const size_t length = (size_t)(end - at);
    char number[32], *rest = number;
    if (length >= 2 && (*at == '\'' || *at == '"') && end[-1] == *at) {
        put_string(y, at + 1, length - 2);
        return;
    }
    if (is(at, length, "true") || is(at, length, "false")) {
        put_byte(y, is(at, length, "true") ? 0xc3 : 0xc2);
        return;
    }
    if (length && length < sizeof number && isdigit((unsigned char)*at)) {
        memcpy(number, at, length);
        number[length] = 0;
        const uint64_t value = strtoull(number, &rest, 0);
        if (!*rest) {
            put_integer(y, value);
            return;
        }
    }
    if (is(at, length, "[]") || is(at, length, "{}")) {
        put_byte(y, *at == '[' ? 0x90 : 0x80);
        return;
    }
    put_string(y, at, length);
}

/* The end of a key, where its colon is; NULL: the line is a scalar. */
static const char *key_end(const char *at, const char *end)
{
    for (; at < end; at++)
        if (*at == ':' && (at + 1 == end || isspace((unsigned char)at[1])))
            return at;
        else if (*at == '\'' || *at == '"')
            return NULL;
    return NULL;
}

/* Puts the head of `count` items before what was written from `start` on. */
static void put_head(struct yaml *y, size_t start, unsigned count, bool map)
{
    uint8_t head[3] = {(uint8_t)((map ? 0x80 : 0x90) | count)};
    size_t size = 1;
    if (count >= 16) {
        head[0] = map ? 0xde : 0xdc;
        head[1] = (uint8_t)(count >> 8);
        head[2] = (uint8_t)count;
        size = 3;
    }
    const size_t behind = y->out.size - start;
    wmi_asm_append(y->a, &y->out, head, size);
    memmove(y->out.data + start + size, y->out.data + start, behind);
    memcpy(y->out.data + start, head, size);
}

enum { YAML_DEEPEST = 32 };

static void put_block(struct yaml *y, unsigned indent, unsigned depth)
{
    const size_t start = y->out.size;
    unsigned count = 0;
    if (y->next >= y->count || depth > YAML_DEEPEST) {
        put_byte(y, 0xc0);
        y->next += depth > YAML_DEEPEST;
        return;
    }
    const struct yaml_line *first = &y->lines[y->next];
    const bool sequence = first->at + 1 <= first->end && *first->at == '-' &&
                          (first->at + 1 == first->end || first->at[1] == ' ');
    if (!sequence && !key_end(first->at, first->end)) {
        put_scalar(y, first->at, first->end);
        y->next++;
        return;
    }
    while (y->next < y->count && y->lines[y->next].indent == indent) {
        struct yaml_line *line = &y->lines[y->next];
        const bool item = *line->at == '-' && (line->at + 1 == line->end || line->at[1] == ' ');
        if (item != sequence)
            break;
        count++;
        if (item) { /* what stands behind "- " is a line of its own, further in */
            const char *at = line->at + 1;
            while (at < line->end && *at == ' ')
                at++;
            line->indent += (unsigned)(at - line->at);
            line->at = at;
            if (at == line->end)
                y->next++;
            put_block(y, y->next < y->count ? y->lines[y->next].indent : 0, depth + 1);
            continue;
        }
        const char *colon = key_end(line->at, line->end);
        if (!colon) {
            y->next++;
            continue;
        }
        put_scalar(y, line->at, colon);
        const char *value = colon + 1;
        while (value < line->end && isspace((unsigned char)*value))
            value++;
        y->next++;
        if (value < line->end) {
            put_scalar(y, value, line->end);
        } else {
            const struct yaml_line *next = y->next < y->count ? &y->lines[y->next] : NULL;
            const bool deeper =
                next && (next->indent > indent || (next->indent == indent && *next->at == '-'));
            if (deeper)
                put_block(y, next->indent, depth + 1);
            else
                put_byte(y, 0xc0);
        }
    }
    put_head(y, start, count, !sequence);
}

void wmi_asm_metadata(struct wmi_assembler *a)
{
    struct yaml y = {.a = a};
    const char *begin, *end;
    size_t capacity = 0;
    bool closed = false;
    while (wmi_asm_next_line(a, &begin, &end)) {
        const char *at = begin;
        while (at < end && isspace((unsigned char)*at))
            at++;
        while (end > at && isspace((unsigned char)end[-1]))
            end--;
        if (is(at, (size_t)(end - at), ".end_amdgpu_metadata")) {
            closed = true;
            break;
        }
        if (at == end || is(at, (size_t)(end - at), "---") || is(at, (size_t)(end - at), "..."))
            continue;
        if (y.count == capacity) {
            struct yaml_line *more = wmi_asm_allocate(a, capacity ? capacity * 2 : 64, sizeof *more);
            if (y.count)
                memcpy(more, y.lines, y.count * sizeof *more);
            y.lines = more;
            capacity = capacity ? capacity * 2 : 64;
        }
        y.lines[y.count++] = (struct yaml_line){at, end, (unsigned)(at - begin)};
    }
    if (!closed) {
        wmi_asm_error(a, a->place.line, "expected .end_amdgpu_metadata before the end of the file");
        return;
    }
    if (y.count)
        put_block(&y, y.lines[0].indent, 0);
    if (y.next < y.count)
        wmi_asm_error(a, y.lines[y.next].at, "expected YAML of maps and lists by indentation");
    struct wmi_asm_section *note = wmi_asm_section(a, ".note", 5, SHT_NOTE, SHF_ALLOC);
    const uint32_t head[] = {7, (uint32_t)y.out.size, NOTE_METADATA};
    static const char owner[8] = "AMDGPU", zeros[4];
    note->alignment = 4;
    wmi_asm_append(a, &note->bytes, head, sizeof head);
    wmi_asm_append(a, &note->bytes, owner, sizeof owner);
    wmi_asm_append(a, &note->bytes, y.out.data, y.out.size);
    wmi_asm_append(a, &note->bytes, zeros, -y.out.size & 3);
    free(y.out.data);
}
