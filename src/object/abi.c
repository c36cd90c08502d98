/* SPDX-License-Identifier: MIT */
/* What the HSA ABI fixes per target: register granules and the descriptor's variants.
 *
 * Sources: LLVM 19, llvm/BinaryFormat/ELF.h (EF_AMDGPU_MACH_*) and AMDGPUUsage, tables compute_pgm_rsrc1
 * to 3. */
#include "object/object.h"
#include "object/parts.h"

#include <string.h>

static const struct wmi_abi_family gcn = {
    .sgpr_granule = 8, .vgpr_granule = 4, .vgpr_granule32 = 4, .raw_wave = 64, .clamp_ieee = true};
static const struct wmi_abi_family gfx9 = {
    .sgpr_granule = 16, .vgpr_granule = 4, .vgpr_granule32 = 4, .raw_wave = 64, .clamp_ieee = true};
static const struct wmi_abi_family cdna1 = {.sgpr_granule = 16,
                                            .vgpr_granule = 4,
                                            .vgpr_granule32 = 4,
                                            .raw_wave = 64,
                                            .clamp_ieee = true,
                                            .accumulators = true};
static const struct wmi_abi_family cdna2 = {.sgpr_granule = 16,
                                            .vgpr_granule = 8,
                                            .vgpr_granule32 = 8,
                                            .raw_wave = 64,
                                            .clamp_ieee = true,
                                            .unified_file = true,
                                            .preload = true};
/* 106 that code can name, VCC included: 128 with trap temporaries and constants, "always allocated". */
static const struct wmi_abi_family rdna = {.fixed_sgprs = 106,
                                           .vgpr_granule = 4,
                                           .vgpr_granule32 = 8,
                                           .raw_wave = 32,
                                           .clamp_ieee = true,
                                           .rsrc3_rdna = true};
static const struct wmi_abi_family rdna4 = {
    .fixed_sgprs = 106, .vgpr_granule = 4, .vgpr_granule32 = 8, .raw_wave = 32, .rsrc3_rdna = true};

static const struct wmi_abi targets[] = {
    {"gfx600", 0x20, &gcn},         {"gfx601", 0x21, &gcn},           {"gfx602", 0x3a, &gcn},
    {"gfx700", 0x22, &gcn},         {"gfx701", 0x23, &gcn},           {"gfx702", 0x24, &gcn},
    {"gfx703", 0x25, &gcn},         {"gfx704", 0x26, &gcn},           {"gfx705", 0x3b, &gcn},
    {"gfx801", 0x28, &gcn},         {"gfx802", 0x29, &gcn},           {"gfx803", 0x2a, &gcn},
    {"gfx805", 0x3c, &gcn},         {"gfx810", 0x2b, &gcn},           {"gfx900", 0x2c, &gfx9},
    {"gfx902", 0x2d, &gfx9},        {"gfx904", 0x2e, &gfx9},          {"gfx906", 0x2f, &gfx9},
    {"gfx908", 0x30, &cdna1},       {"gfx909", 0x31, &gfx9},          {"gfx90c", 0x32, &gfx9},
    {"gfx90a", 0x3f, &cdna2},       {"gfx940", 0x40, &cdna2},         {"gfx941", 0x4b, &cdna2},
    {"gfx942", 0x4c, &cdna2},       {"gfx1010", 0x33, &rdna},         {"gfx1011", 0x34, &rdna},
    {"gfx1012", 0x35, &rdna},       {"gfx1013", 0x42, &rdna},         {"gfx1030", 0x36, &rdna},
    {"gfx1031", 0x37, &rdna},       {"gfx1032", 0x38, &rdna},         {"gfx1033", 0x39, &rdna},
    {"gfx1034", 0x3e, &rdna},       {"gfx1035", 0x3d, &rdna},         {"gfx1036", 0x45, &rdna},
    {"gfx1100", 0x41, &rdna},       {"gfx1101", 0x46, &rdna},         {"gfx1102", 0x47, &rdna},
    {"gfx1103", 0x44, &rdna},       {"gfx1150", 0x43, &rdna},         {"gfx1151", 0x4a, &rdna},
    {"gfx1152", 0x55, &rdna},       {"gfx1200", 0x48, &rdna4},        {"gfx1201", 0x4e, &rdna4},
    {"gfx9-generic", 0x51, &gfx9},  {"gfx10-1-generic", 0x52, &rdna}, {"gfx10-3-generic", 0x53, &rdna},
    {"gfx11-generic", 0x54, &rdna}, {"gfx12-generic", 0x59, &rdna4},
};
enum { TARGETS = sizeof(targets) / sizeof(targets[0]), MACH_MASK = 0xff };

const struct wmi_abi *wmi_abi_of_mach(uint32_t e_flags)
{
    for (size_t i = 0; i < TARGETS; i++)
        if (targets[i].mach == (e_flags & MACH_MASK))
            return &targets[i];
    return NULL;
}

const struct wmi_abi *wmi_abi_named(const char *name)
{
    const size_t length = strcspn(name, ":");
    for (size_t i = 0; i < TARGETS; i++)
        if (strlen(targets[i].name) == length && memcmp(targets[i].name, name, length) == 0)
            return &targets[i];
    return NULL;
}

bool wmi_abi_known(const char *target)
{
    return wmi_abi_named(target) != NULL;
}
