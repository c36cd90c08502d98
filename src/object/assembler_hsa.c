/* SPDX-License-Identifier: MIT */
/* Kernel descriptors from .amdhsa_ directives.
 *
 * Source: LLVM 19 AMDGPUUsage, "Kernel Descriptor", "AMDHSA Kernel Assembler Directives". */
#include "object/assembler_parts.h"

#include <elf.h>
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
            extra = k->count[RESERVE_FLAT_SCRATCH] ? 4 : extra;
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
        if (wmi_asm_word_is(name + cut, length - cut, counted_names[i])) {
            k->count[i] = value;
            k->given[i] = true;
            if (value < 0 || value > 1024)
                wmi_asm_error(a, name + length, "expected a count of registers");
            return;
        }
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
        const struct directive *d = &directives[i];
        if (*d->name != name[cut] || !wmi_asm_word_is(name + cut, length - cut, d->name))
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
            wmi_asm_begin_bytes(a);
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
