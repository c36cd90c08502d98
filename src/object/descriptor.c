/* SPDX-License-Identifier: MIT */
/* Reads kernel descriptors. Source: AMDGPUUsage, "Kernel Descriptor". */
#include "object/object.h"
#include "object/parts.h"

#include <string.h>

enum word { RSRC1, RSRC2, RSRC3, PROPERTIES, PRELOAD, WORDS };

/* Offset of each word in the descriptor, and its size in bytes. */
static const struct {
    uint8_t offset, size;
} words[WORDS] = {
    [RSRC1] = {48, 4}, [RSRC2] = {52, 4}, [RSRC3] = {44, 4}, [PROPERTIES] = {56, 2}, [PRELOAD] = {58, 2}};

enum {
    USER_SGPRS_AT = 1,
    INST_PREF_SIZE_AT = 4, /* in RSRC3; isa/targets has its width */
    ACCUM_OFFSET_UNIT = 4,
    PRELOAD_PROLOGUE = 256,
    ALWAYS = WMI_LIMIT_COUNT,
    CLAMP_IEEE = WMI_LIMIT_clamp_ieee,
    RDNA = WMI_LIMIT_rdna_descriptor,
    WGPS = WMI_LIMIT_wgp_mode,
    UNIFIED = WMI_LIMIT_vgprs_unified,
    PRELOADS = WMI_LIMIT_kernarg_preload,
};

/* A field of one of the words; it exists on targets where the limit `when` is not 0. */
static const struct {
    uint16_t member;
    uint8_t word, shift, width, when;
} fields[] = {
#define FIELD(member, word, shift, width, when)                                                              \
    {offsetof(struct wmi_kernel_descriptor, member), word, shift, width, when}
    FIELD(granulated_vgprs, RSRC1, 0, 6, ALWAYS),
    FIELD(granulated_sgprs, RSRC1, 6, 4, ALWAYS),
    FIELD(priority, RSRC1, 10, 2, ALWAYS),
    FIELD(round_32, RSRC1, 12, 2, ALWAYS),
    FIELD(round_16_64, RSRC1, 14, 2, ALWAYS),
    FIELD(denorm_32, RSRC1, 16, 2, ALWAYS),
    FIELD(denorm_16_64, RSRC1, 18, 2, ALWAYS),
    FIELD(privileged, RSRC1, 20, 1, ALWAYS),
    FIELD(dx10_clamp, RSRC1, 21, 1, CLAMP_IEEE),
    FIELD(debug_mode, RSRC1, 22, 1, ALWAYS),
    FIELD(ieee, RSRC1, 23, 1, CLAMP_IEEE),
    FIELD(bulky, RSRC1, 24, 1, ALWAYS),
    FIELD(fp16_overflow, RSRC1, 26, 1, ALWAYS), /* reserved and 0 before gfx9 */
    FIELD(wgp_mode, RSRC1, 29, 1, WGPS),
    FIELD(mem_ordered, RSRC1, 30, 1, RDNA),
    FIELD(forward_progress, RSRC1, 31, 1, RDNA),
    FIELD(scratch_enabled, RSRC2, 0, 1, ALWAYS),
    FIELD(trap_handler, RSRC2, 6, 1, CLAMP_IEEE),
    FIELD(workgroup_id_x, RSRC2, 7, 1, ALWAYS),
    FIELD(workgroup_id_y, RSRC2, 8, 1, ALWAYS),
    FIELD(workgroup_id_z, RSRC2, 9, 1, ALWAYS),
    FIELD(workgroup_info, RSRC2, 10, 1, ALWAYS),
    FIELD(workitem_id, RSRC2, 11, 2, ALWAYS),
    FIELD(exception_address_watch, RSRC2, 13, 1, ALWAYS),
    FIELD(exception_memory, RSRC2, 14, 1, ALWAYS),
    FIELD(granulated_lds, RSRC2, 15, 9, ALWAYS),
    FIELD(exceptions, RSRC2, 24, 7, ALWAYS),
    FIELD(accum_offset, RSRC3, 0, 6, UNIFIED),
    FIELD(tg_split, RSRC3, 16, 1, UNIFIED),
    FIELD(shared_vgprs, RSRC3, 0, 4, RDNA),
    FIELD(private_segment_buffer, PROPERTIES, 0, 1, ALWAYS),
    FIELD(dispatch_ptr, PROPERTIES, 1, 1, ALWAYS),
    FIELD(queue_ptr, PROPERTIES, 2, 1, ALWAYS),
    FIELD(kernarg_segment_ptr, PROPERTIES, 3, 1, ALWAYS),
    FIELD(dispatch_id, PROPERTIES, 4, 1, ALWAYS),
    FIELD(flat_scratch_init, PROPERTIES, 5, 1, ALWAYS),
    FIELD(private_segment_size, PROPERTIES, 6, 1, ALWAYS),
    FIELD(wave32, PROPERTIES, 10, 1, RDNA),
    FIELD(dynamic_stack, PROPERTIES, 11, 1, ALWAYS),
    FIELD(preload_length, PRELOAD, 0, 7, PRELOADS),
    FIELD(preload_offset, PRELOAD, 7, 9, PRELOADS),
#undef FIELD
};

static uint32_t little(const uint8_t *bytes, unsigned size)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint32_t)bytes[i] << 8 * i;
    return value;
}

static uint32_t round_up(uint32_t number, uint32_t granule)
{
    return (number + granule - 1) / granule * granule;
}

unsigned wmi_descriptor_shared_vgprs(const struct wmi_kernel_descriptor *d)
{
    enum { BLOCK = 8, MOST = 256 };
    const unsigned shared = d->wave32 ? 0 : BLOCK * d->shared_vgprs, left = MOST - d->vgprs;
    return d->vgprs > MOST ? 0 : shared < left ? shared : left;
}

void wmi_descriptor_count_registers(struct wmi_kernel_descriptor *d, const struct wmi_target *target)
{
    const uint32_t fixed_sgprs = wmi_target_limit(target, WMI_LIMIT_fixed_sgprs);
    d->vgprs = (d->granulated_vgprs + 1) *
               wmi_target_limit(target, d->wave32 ? WMI_LIMIT_vgpr_encoding32 : WMI_LIMIT_vgpr_encoding64);
    if (wmi_target_limit(target, WMI_LIMIT_vgprs_unified)) {
        const uint32_t total = d->vgprs;
        d->accum_offset = (d->accum_offset + 1) * ACCUM_OFFSET_UNIT;
        d->vgprs = d->accum_offset < total ? d->accum_offset : total;
        d->agprs = total - d->vgprs;
    } else {
        const uint32_t most = wmi_target_limit(target, WMI_LIMIT_vgprs);
        if (d->vgprs > most)
            d->vgprs = most;
        d->agprs = wmi_target_limit(target, WMI_LIMIT_agpr_file) ? d->vgprs : 0;
    }
    d->sgprs = fixed_sgprs
                   ? fixed_sgprs
                   : round_up((d->granulated_sgprs + 1) * wmi_target_limit(target, WMI_LIMIT_sgpr_encoding),
                              wmi_target_limit(target, WMI_LIMIT_sgpr_granule));
}

void wmi_descriptor_read(const uint8_t bytes[WMI_DESCRIPTOR_BYTES], const struct wmi_target *target,
                         struct wmi_kernel_descriptor *descriptor)
{
    uint32_t value[WORDS];
    for (unsigned i = 0; i < WORDS; i++)
        value[i] = little(bytes + words[i].offset, words[i].size);
    *descriptor = (struct wmi_kernel_descriptor){
        .lds_size = little(bytes, 4),
        .scratch_size = little(bytes + 4, 4),
        .kernarg_size = little(bytes + 8, 4),
        .entry_offset = (int64_t)(little(bytes + 16, 4) | (uint64_t)little(bytes + 20, 4) << 32),
        .rsrc1 = value[RSRC1],
        .rsrc2 = value[RSRC2],
        .rsrc3 = value[RSRC3],
        .properties = value[PROPERTIES],
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (fields[i].when != ALWAYS && !wmi_target_limit(target, (enum wmi_limit)fields[i].when))
            continue;
        const uint32_t mask = (1u << fields[i].width) - 1;
        uint32_t *member = (uint32_t *)(void *)((char *)descriptor + fields[i].member);
        *member = value[fields[i].word] >> fields[i].shift & mask;
    }
    const uint32_t inst_pref = (1u << wmi_target_limit(target, WMI_LIMIT_inst_pref_bits)) - 1;
    descriptor->user_sgprs =
        value[RSRC2] >> USER_SGPRS_AT & ((1u << wmi_target_limit(target, WMI_LIMIT_user_sgpr_bits)) - 1);
    descriptor->inst_pref_size = value[RSRC3] >> INST_PREF_SIZE_AT & inst_pref;
    if (descriptor->preload_length && wmi_target_limit(target, WMI_LIMIT_kernarg_preload) == 1)
        descriptor->preload_prologue = PRELOAD_PROLOGUE;
    wmi_descriptor_count_registers(descriptor, target);
}

unsigned wmi_lanes(const struct wmi_target *target, const struct wmi_kernel_descriptor *descriptor)
{
    return wmi_target_limit(target, WMI_LIMIT_rdna_descriptor) && descriptor->wave32 ? 32 : 64;
}
