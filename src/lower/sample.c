/* SPDX-License-Identifier: MIT */
/* Lowers image instructions with a sampler. */
#include "lower/classes.h"
#include "memory/image.h"

/* The parts of an address and what is done, by the suffixes of the row's name. */
enum {
    LEVEL = 7, /* enum wmi_sample_level */
    COMPARE = 1 << 3,
    OFFSET = 1 << 4,
    BOUND = 1 << 5,
    GATHER = 1 << 6,
    LOD = 1 << 7,
    KNOWN = 1 << 8,
    ROW = 1 << 9,
};

/* X(suffix, facts): rows of samples, gathers, and samples that also exist with 16-bit gradients. */
#define SAMPLES(X)                                                                                           \
    X(, WMI_LEVEL_IMPLICIT)                                                                                  \
    X(_cl, WMI_LEVEL_IMPLICIT | BOUND)                                                                       \
    X(_l, WMI_LEVEL_GIVEN)                                                                                   \
    X(_b, WMI_LEVEL_BIAS)                                                                                    \
    X(_b_cl, WMI_LEVEL_BIAS | BOUND)                                                                         \
    X(_lz, WMI_LEVEL_ZERO)
#define WITH_GRADIENTS(X)                                                                                    \
    X(_d, WMI_LEVEL_GRADIENTS)                                                                               \
    X(_d_cl, WMI_LEVEL_GRADIENTS | BOUND)                                                                    \
    X(_cd, WMI_LEVEL_GRADIENTS)                                                                              \
    X(_cd_cl, WMI_LEVEL_GRADIENTS | BOUND)

static unsigned facts_of(unsigned id)
{
#define ROWS(name, suffix, end, facts)                                                                       \
    [WMI_INSN_image_##name##suffix##end] = KNOWN | (facts),                                                  \
    [WMI_INSN_image_##name##_c##suffix##end] = KNOWN | COMPARE | (facts),                                    \
    [WMI_INSN_image_##name##suffix##_o##end] = KNOWN | OFFSET | (facts),                                     \
    [WMI_INSN_image_##name##_c##suffix##_o##end] = KNOWN | COMPARE | OFFSET | (facts),
#define SAMPLE(suffix, facts)    ROWS(sample, suffix, , facts)
#define GATHER_4(suffix, facts)  ROWS(gather4, suffix, , GATHER | (facts))
#define GRADIENTS(suffix, facts) ROWS(sample, suffix, , facts) ROWS(sample, suffix, _g16, facts)
    static const uint16_t facts[WMI_INSN_COUNT] = {
        /* clang-format off */
        SAMPLES(SAMPLE) WITH_GRADIENTS(GRADIENTS) SAMPLES(GATHER_4)
        [WMI_INSN_image_gather4h] = KNOWN | GATHER | ROW | WMI_LEVEL_IMPLICIT,
        [WMI_INSN_image_get_lod] = KNOWN | LOD | WMI_LEVEL_IMPLICIT,
        /* clang-format on */
    };
    return facts[id];
}

/* Number of registers that an address may have if the encoding does not say. */
static unsigned most_registers(const struct wmi_sample_request *r)
{
    enum { AXES = 3 };
    const bool bias = r->level == WMI_LEVEL_BIAS;
    const unsigned coordinates = AXES + (r->bound || r->level == WMI_LEVEL_GIVEN);
    const unsigned gradients = r->level != WMI_LEVEL_GRADIENTS ? 0 : 2 * (r->g16 ? (AXES + 1) / 2 : AXES);
    return r->offset + bias + r->compare + gradients + (r->a16 ? (coordinates + 1) / 2 : coordinates);
}

/* Fills in the VGPRs of the address. Before gfx10 their number depends on the T#'s type: those that the
 * kernel does not have are not needed. */
static bool lower_address(struct wmi_builder *b, const struct wmi_instruction *insn,
                          struct wmi_sample_request *r, uint8_t registers[WMI_SAMPLE_ADDRESS])
{
    const struct wmi_operand *addr = wmi_operand(insn, WMI_ROLE_ADDR);
    if (!addr || addr->kind != WMI_OPERAND_VGPR)
        return false;
    unsigned count = wmi_image_address(wmi_builder_target(b), insn, (unsigned)(addr - insn->operand),
                                       registers, WMI_SAMPLE_ADDRESS);
    const bool listed = count != 0, known = wmi_builder_limit(b, WMI_LIMIT_image_dim);
    if (!listed)
        count = known ? addr->dwords : most_registers(r);
    if (count > WMI_SAMPLE_ADDRESS)
        return false;
    for (unsigned i = 0; i < count; i++) {
        const unsigned reg = listed ? registers[i] : addr->reg + i;
        bool there = reg < 256;
        wmi_lower_vgpr(b, reg, 1, &there);
        if (!there)
            return r->count = (uint8_t)i, i && !known;
        registers[i] = (uint8_t)reg;
    }
    r->count = (uint8_t)count;
    return true;
}

/* The result rows. LWE alone adds a status row that is not part of the operand. */
static bool lower_result(struct wmi_builder *b, const struct wmi_instruction *insn, uint32_t *offset)
{
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    const bool more = insn->field[WMI_FIELD_lwe] && !insn->field[WMI_FIELD_tfe];
    bool ok = true;
    if (!result || result->kind != WMI_OPERAND_VGPR)
        return false;
    *offset = wmi_lower_vgpr(b, result->reg, result->dwords + more, &ok);
    return ok;
}

bool wmi_lower_sample(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const int32_t *field = insn->field;
    const struct wmi_operand *rsrc = wmi_operand(insn, WMI_ROLE_RSRC),
                             *samp = wmi_operand(insn, WMI_ROLE_SAMP);
    const unsigned facts = facts_of(insn->id);
    const bool dims = wmi_builder_limit(b, WMI_LIMIT_image_dim);
    bool ok = true;
    struct wmi_step step = {.lanes = offsetof(struct wmi_frame, exec), .a = wmi_lower_vgpr(b, 0, 1, &ok)};
    struct wmi_sample_request r = {
        .dmask = (uint8_t)field[WMI_FIELD_dmask],
        .dim = dims ? (uint8_t)(field[WMI_FIELD_dim] & 7) : WMI_IMAGE_DIM_TYPE,
        .level = facts & LEVEL,
        .action = facts & GATHER ? WMI_SAMPLE_GATHER
                  : facts & LOD  ? WMI_SAMPLE_LOD
                                 : WMI_SAMPLE_FILTER,
        .offset = facts & OFFSET,
        .compare = facts & COMPARE,
        .bound = facts & BOUND,
        .row = facts & ROW,
        .array = field[WMI_FIELD_da],
        .a16 = field[WMI_FIELD_a16],
        /* Before gfx10, A16 also makes gradients 16-bit (LLVM, FeatureG16). */
        .g16 = wmi_rows[insn->id].flags & WMI_ROW_G16 || (field[WMI_FIELD_a16] && !dims),
        .r128 = field[WMI_FIELD_r128],
        .unnormalized = field[WMI_FIELD_unorm],
        .d16 = field[WMI_FIELD_d16],
        .unpacked = wmi_builder_limit(b, WMI_LIMIT_unpacked_d16),
        .status = field[WMI_FIELD_tfe] || field[WMI_FIELD_lwe],
    };
    struct wmi_memory_op *m = wmi_builder_memory_op(b, insn);
    if (!facts || !rsrc || !samp || !ok || !lower_result(b, insn, &step.d) ||
        !lower_address(b, insn, &r, m->address))
        return false;
    step.b = wmi_lower_scalar(b, rsrc);
    step.c = wmi_lower_scalar(b, samp);
    m->image = wmi_builder_images(b);
    memcpy(&m->parameter, &r, sizeof r);
    step.data = m;
    const bool access = r.action != WMI_SAMPLE_LOD;
    if (access)
        wmi_emit_watch(b, WMI_STEP_sample_watch, &step);
    wmi_emit_as(b, access ? WMI_STEP_sample : WMI_STEP_sample_lod, &step);
    return true;
}
