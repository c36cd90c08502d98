/* SPDX-License-Identifier: MIT */
/* Kernel descriptors from .amdhsa_ directives.
 *
 * Source: LLVM 19 AMDGPUUsage, "Kernel Descriptor", "AMDHSA Kernel Assembler Directives". */
#include "assembler/parts.h"

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

/* Targets that support a directive. */
enum owners {
    ALL,
    FROM_8,
    FROM_9,
    FROM_90A, /* also gfx940 */
    FROM_10,
    WITH_WGPS,
    WITH_PRELOADS,
    WITH_NAMED_BARRIERS,
    ONLY_10_AND_11,
    FROM_11,
    BEFORE_12,
    FROM_12,
    SCRATCH_BY_CODE,  /* where a prologue sets up scratch */
    FROM_7_BY_CODE,   /* likewise, from gfx7 on */
    SCRATCH_AT_START, /* where scratch is set up when a wave starts */
    OWNERS
};
static const struct {
    const char *name;
    uint8_t first, last; /* generations; 0: no limit */
    uint8_t has, lacks;  /* limits that must be nonzero, and zero; 0: none */
} owner_rules[OWNERS] = {
    [FROM_8] = {"gfx8 or later", .first = 8},
    [FROM_9] = {"gfx9 or later", .first = 9},
    [FROM_90A] = {"gfx90a or gfx940 and its kin", .has = WMI_LIMIT_vgprs_unified},
    [FROM_10] = {"gfx10 or later", .has = WMI_LIMIT_rdna_descriptor},
    [WITH_WGPS] = {"gfx10 to gfx12.0", .has = WMI_LIMIT_wgp_mode},
    [WITH_PRELOADS] = {"gfx90a, gfx940 and its kin, or gfx12.5", .has = WMI_LIMIT_kernarg_preload},
    [WITH_NAMED_BARRIERS] = {"gfx12.5", .has = WMI_LIMIT_named_barriers},
    [ONLY_10_AND_11] = {"gfx10 or gfx11", .first = 10, .last = 11},
    [FROM_11] = {"gfx11 or later", .has = WMI_LIMIT_inst_pref_bits},
    [BEFORE_12] = {"a target before gfx12", .has = WMI_LIMIT_clamp_ieee},
    [FROM_12] = {"gfx12 or later", .lacks = WMI_LIMIT_clamp_ieee},
    [SCRATCH_BY_CODE] = {"a target before gfx11 but gfx940 and its kin", .lacks = WMI_LIMIT_initial_scratch},
    [FROM_7_BY_CODE] = {"gfx7 or later, but before gfx11 and not gfx940 and its kin", .first = 7,
                        .lacks = WMI_LIMIT_initial_scratch},
    [SCRATCH_AT_START] = {"gfx11 or later, or gfx940 and its kin", .has = WMI_LIMIT_initial_scratch},
};

/* A directive that sets bits of the descriptor: their position, required user SGPRs, and supporting targets.
 */
static const struct directive {
    const char *name;
    uint8_t at, shift, width, sgprs;
    enum owners owners;
    bool is_early; /* must be known when read, as in LLVM */
} directives[] = {
    {"group_segment_fixed_size", 0, 0, 32, 0, ALL},
    {"private_segment_fixed_size", 4, 0, 32, 0, ALL},
    {"kernarg_size", KERNARG_AT, 0, 32, 0, ALL, true},
    {"user_sgpr_private_segment_buffer", PROPERTIES_AT, 0, 1, 4, SCRATCH_BY_CODE, true},
    {"user_sgpr_dispatch_ptr", PROPERTIES_AT, 1, 1, 2, ALL, true},
    {"user_sgpr_queue_ptr", PROPERTIES_AT, 2, 1, 2, ALL, true},
    {"user_sgpr_kernarg_segment_ptr", PROPERTIES_AT, 3, 1, 2, ALL, true},
    {"user_sgpr_dispatch_id", PROPERTIES_AT, 4, 1, 2, ALL, true},
    {"user_sgpr_flat_scratch_init", PROPERTIES_AT, 5, 1, 2, SCRATCH_BY_CODE, true},
    {"user_sgpr_private_segment_size", PROPERTIES_AT, 6, 1, 1, ALL, true},
    {"wavefront_size32", PROPERTIES_AT, 10, 1, 0, FROM_10},
    {"uses_dynamic_stack", PROPERTIES_AT, 11, 1, 0, ALL},
    {"user_sgpr_kernarg_preload_length", PRELOAD_AT, 0, 7, 0, WITH_PRELOADS, true},
    {"user_sgpr_kernarg_preload_offset", PRELOAD_AT, 7, 9, 0, WITH_PRELOADS, true},
    {"enable_private_segment", RSRC2_AT, 0, 1, 0, SCRATCH_AT_START},
    {"system_sgpr_private_segment_wavefront_offset", RSRC2_AT, 0, 1, 0, SCRATCH_BY_CODE},
    {"system_sgpr_workgroup_id_x", RSRC2_AT, 7, 1, 0, ALL},
    {"system_sgpr_workgroup_id_y", RSRC2_AT, 8, 1, 0, ALL},
    {"system_sgpr_workgroup_id_z", RSRC2_AT, 9, 1, 0, ALL},
    {"system_sgpr_workgroup_info", RSRC2_AT, 10, 1, 0, ALL},
    {"system_vgpr_workitem_id", RSRC2_AT, 11, 2, 0, ALL},
    {"exception_fp_ieee_invalid_op", RSRC2_AT, 24, 1, 0, ALL},
    {"exception_fp_denorm_src", RSRC2_AT, 25, 1, 0, ALL},
    {"exception_fp_ieee_div_zero", RSRC2_AT, 26, 1, 0, ALL},
    {"exception_fp_ieee_overflow", RSRC2_AT, 27, 1, 0, ALL},
    {"exception_fp_ieee_underflow", RSRC2_AT, 28, 1, 0, ALL},
    {"exception_fp_ieee_inexact", RSRC2_AT, 29, 1, 0, ALL},
    {"exception_int_div_zero", RSRC2_AT, 30, 1, 0, ALL},
    {"float_round_mode_32", RSRC1_AT, 12, 2, 0, ALL},
    {"float_round_mode_16_64", RSRC1_AT, 14, 2, 0, ALL},
    {"float_denorm_mode_32", RSRC1_AT, 16, 2, 0, ALL},
    {"float_denorm_mode_16_64", RSRC1_AT, 18, 2, 0, ALL},
    {"dx10_clamp", RSRC1_AT, 21, 1, 0, BEFORE_12},
    {"round_robin_scheduling", RSRC1_AT, 21, 1, 0, FROM_12},
    {"ieee_mode", RSRC1_AT, 23, 1, 0, BEFORE_12},
    {"fp16_overflow", RSRC1_AT, 26, 1, 0, FROM_9},
    {"workgroup_processor_mode", RSRC1_AT, 29, 1, 0, WITH_WGPS},
    {"memory_ordered", RSRC1_AT, 30, 1, 0, FROM_10},
    {"forward_progress", RSRC1_AT, 31, 1, 0, FROM_10},
    {"tg_split", RSRC3_AT, 16, 1, 0, FROM_90A},
    {"named_barrier_count", RSRC3_AT, 14, 3, 0, WITH_NAMED_BARRIERS},
    {"shared_vgpr_count", RSRC3_AT, 0, 4, 0, ONLY_10_AND_11},
};

enum { FIELDS = sizeof directives / sizeof *directives };

/* Counts from which fields of the descriptor are computed. */
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
static const struct {
    const char *name;
    enum owners owners;
    uint16_t first, last; /* valid range */
} counts[COUNTED] = {
    [NEXT_VGPR] = {"next_free_vgpr", ALL, 0, 1024},
    [NEXT_SGPR] = {"next_free_sgpr", ALL, 0, UINT16_MAX},
    [ACCUM_OFFSET] = {"accum_offset", FROM_90A, 4, 256},
    [RESERVE_VCC] = {"reserve_vcc", ALL, 0, 1},
    [RESERVE_FLAT_SCRATCH] = {"reserve_flat_scratch", FROM_7_BY_CODE, 0, 1},
    [RESERVE_XNACK] = {"reserve_xnack_mask", FROM_8, 0, 1},
    [USER_SGPRS] = {"user_sgpr_count", ALL, 0, 63},
    [INST_PREF_SIZE] = {"inst_pref_size", FROM_11, 0, 255},
};

struct kernel {
    uint8_t bytes[DESCRIPTOR];
    int64_t count[COUNTED];
    bool given[COUNTED], said[FIELDS];
    unsigned user_sgprs;
    struct late_line *late, **last_late; /* lines with forward references */
    struct wmi_asm_place place;
};

struct late_line {
    struct late_line *next;
    const char *begin, *end;
    struct wmi_asm_place place;
};

/* A descriptor with such lines. */
struct wmi_asm_late_kernel {
    struct wmi_asm_late_kernel *next;
    struct kernel kernel;
    struct wmi_asm_section *section;
    uint64_t offset;
};

static bool owns(const struct wmi_target *target, enum owners owners)
{
    const uint32_t generation = wmi_target_limit(target, WMI_LIMIT_generation),
                   first = owner_rules[owners].first, last = owner_rules[owners].last;
    const enum wmi_limit has = owner_rules[owners].has, lacks = owner_rules[owners].lacks;
    return generation >= first && (!last || generation <= last) && (!has || wmi_target_limit(target, has)) &&
           (!lacks || !wmi_target_limit(target, lacks));
}

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
    memset(k, 0, sizeof *k);
    set(k, "float_denorm_mode_16_64", 3);
    set(k, "system_sgpr_workgroup_id_x", 1);
    if (wmi_target_limit(target, WMI_LIMIT_clamp_ieee)) {
        set(k, "dx10_clamp", 1);
        set(k, "ieee_mode", 1);
    }
    if (wmi_target_limit(target, WMI_LIMIT_rdna_descriptor)) {
        set(k, "wavefront_size32", wmi_target_limit(target, WMI_LIMIT_wave) == 32);
        set(k, "workgroup_processor_mode", wmi_target_limit(target, WMI_LIMIT_wgp_mode));
        set(k, "forward_progress", wmi_target_limit(target, WMI_LIMIT_progresses));
        set(k, "memory_ordered", 1);
    }
    k->count[RESERVE_VCC] = k->count[RESERVE_FLAT_SCRATCH] = 1;
}

/* Granules of registers minus one, as encoded in the descriptor; an error if they exceed the field. */
static uint64_t blocks(struct wmi_assembler *a, const char *at, const char *what, int64_t count,
                       int64_t granule, unsigned bits)
{
    const int64_t number = ((count < 1 ? 1 : count) + granule - 1) / granule - 1;
    if (number >> bits)
        wmi_asm_error(a, at, "expected at most %lld %s on %s, with those that the hardware adds, not %lld",
                      (long long)(granule << bits), what, wmi_target_name(a->target), (long long)count);
    return (uint64_t)number & ((UINT64_C(1) << bits) - 1);
}

/* SGPRs that the hardware adds. Source: LLVM AMDGPUBaseInfo.cpp, getNumExtraSGPRs. */
static int64_t extra_sgprs(const struct wmi_target *target, bool vcc, bool flat_scratch, bool xnack)
{
    const int64_t with_flat = wmi_target_limit(target, WMI_LIMIT_flat_scratch_sgprs);
    const int64_t with_xnack = wmi_target_limit(target, WMI_LIMIT_xnack_sgprs);
    if (wmi_target_limit(target, WMI_LIMIT_fixed_sgprs))
        return vcc ? 2 : 0;
    if (with_flat && (flat_scratch || wmi_target_limit(target, WMI_LIMIT_initial_scratch)))
        return with_flat;
    return xnack && with_xnack ? with_xnack : vcc ? 2 : 0;
}

static int64_t round_up(int64_t value, int64_t unit)
{
    return (int64_t)(((uint64_t)value + (uint64_t)unit - 1) / (uint64_t)unit * (uint64_t)unit);
}

/* The waves of a SIMD. Source: LLVM 19 AMDGPUMCExpr.cpp, evaluateOccupancy; AMDGPUBaseInfo.cpp,
 * getOccupancyWithNumSGPRs, getNumWavesPerEUWithNumVGPRs. Arguments: most waves, granule and number of VGPRs,
 * LLVM's generation, waves by LDS, SGPRs, VGPRs. */
static int64_t occupancy(const int64_t *x)
{
    enum { VOLCANIC_ISLANDS = 7, GFX10 = 9 }; /* of AMDGPUSubtarget::Generation */
    const int64_t most = x[0], granule = x[1], total = x[2], generation = x[3], sgprs = x[5], vgprs = x[6];
    int64_t waves = x[4];
    if (sgprs && generation < GFX10) {
        const bool later = generation >= VOLCANIC_ISLANDS;
        const int64_t by_sgprs = later ? (sgprs <= 80    ? 10
                                          : sgprs <= 88  ? 9
                                          : sgprs <= 100 ? 8
                                                         : 7)
                                       : (sgprs <= 48   ? 10
                                          : sgprs <= 56 ? 9
                                          : sgprs <= 64 ? 8
                                          : sgprs <= 72 ? 7
                                          : sgprs <= 80 ? 6
                                                        : 5);
        waves = by_sgprs < waves ? by_sgprs : waves;
    } else if (sgprs) {
        waves = most < waves ? most : waves;
    }
    if (vgprs) {
        const int64_t rounded = round_up(vgprs, granule);
        const int64_t fit = vgprs < granule ? most : rounded ? total / rounded : 0;
        const int64_t by_vgprs = fit < 1 ? 1 : fit > most ? most : fit;
        waves = by_vgprs < waves ? by_vgprs : waves;
    }
    return waves;
}

/* Source: LLVM 19 and 22 AMDGPUMCExpr.cpp. */
bool wmi_asm_call(void *user, const char *name, size_t length, const int64_t *x, unsigned count,
                  int64_t *value)
{
    const struct wmi_assembler *a = user;
    const bool is_max = wmi_asm_word_is(name, length, "max");
    if (is_max || wmi_asm_word_is(name, length, "or")) {
        *value = x[0];
        for (unsigned i = 1; i < count; i++)
            *value = is_max ? (x[i] > *value ? x[i] : *value) : *value | x[i];
        return true;
    }
    if (wmi_asm_word_is(name, length, "extrasgprs") && count == 3) {
        *value = extra_sgprs(a->target, x[0], x[1], x[2]);
        return true;
    }
    if (wmi_asm_word_is(name, length, "totalnumvgprs") && count == 2) {
        const bool unified = wmi_target_limit(a->target, WMI_LIMIT_vgprs_unified);
        *value = unified && x[0] ? (int64_t)((uint64_t)round_up(x[1], 4) + (uint64_t)x[0])
                 : x[0] > x[1]   ? x[0]
                                 : x[1];
        return true;
    }
    if (wmi_asm_word_is(name, length, "alignto") && count == 2 && x[1] > 0) {
        *value = round_up(x[0], x[1]);
        return true;
    }
    if (wmi_asm_word_is(name, length, "occupancy") && count == 7 && x[1] > 0) {
        *value = occupancy(x);
        return true;
    }
    return false;
}

/* SGPR granules, including reserved SGPRs. Source: LLVM AMDGPUBaseInfo.cpp, getNumExtraSGPRs;
 * AMDGPUAsmParser.cpp, calculateGPRBlocks. */
static uint64_t sgpr_blocks(struct wmi_assembler *a, const struct kernel *k, const char *at)
{
    const uint32_t fixed = wmi_target_limit(a->target, WMI_LIMIT_fixed_sgprs);
    const uint32_t unit = wmi_target_limit(a->target, WMI_LIMIT_sgpr_encoding);
    const int64_t most = fixed ? fixed : wmi_target_limit(a->target, WMI_LIMIT_sgprs);
    const int64_t extra =
        extra_sgprs(a->target, k->count[RESERVE_VCC], k->count[RESERVE_FLAT_SCRATCH], wmi_asm_may_replay(a));
    const int64_t count = k->count[NEXT_SGPR];
    const int64_t limited = count + (wmi_target_limit(a->target, WMI_LIMIT_extra_sgprs_limited) ? extra : 0);
    if (limited > most)
        wmi_asm_error(a, at, "expected at most %lld SGPRs on %s, not %lld", (long long)most,
                      wmi_target_name(a->target), (long long)limited);
    if (fixed)
        return fixed / unit - 1;
    return ((uint64_t)(count + extra < 1 ? 1 : count + extra) + unit - 1) / unit - 1;
}

static bool is_complete(struct wmi_assembler *a, const struct kernel *k, const char *at)
{
    static const enum counted needed[] = {NEXT_VGPR, NEXT_SGPR, ACCUM_OFFSET};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!k->given[needed[i]] && (i < 2 || owns(a->target, FROM_90A))) {
            wmi_asm_error(a, at, ".amdhsa_%s is missing from this kernel", counts[needed[i]].name);
            return false;
        }
    if (k->given[RESERVE_XNACK] && k->count[RESERVE_XNACK] != wmi_asm_may_replay(a)) {
        wmi_asm_error(a, at, "expected .amdhsa_reserve_xnack_mask %d for target '%s'", wmi_asm_may_replay(a),
                      a->target_id);
        return false;
    }
    return true;
}

/* Source: LLVM AMDGPUBaseInfo.cpp, getVGPREncodingGranule; AMDGPUAsmParser.cpp, ParseDirectiveAMDHSAKernel.
 */
static void set_registers(struct wmi_assembler *a, struct kernel *k, const char *at)
{
    static const struct directive vgprs = {"", RSRC1_AT, 0, 6, 0, ALL}, sgprs = {"", RSRC1_AT, 6, 4, 0, ALL},
                                  accum = {"", RSRC3_AT, 0, 6, 0, ALL};
    const struct directive user = {
        "", RSRC2_AT, 1, (uint8_t)wmi_target_limit(a->target, WMI_LIMIT_user_sgpr_bits), 0, ALL};
    const struct directive prefetch = {
        "", RSRC3_AT, 4, (uint8_t)wmi_target_limit(a->target, WMI_LIMIT_inst_pref_bits), 0, ALL};
    uint16_t properties;
    memcpy(&properties, k->bytes + PROPERTIES_AT, 2);
    const bool wave32 = properties >> 10 & 1;
    if (!is_complete(a, k, at))
        return;
    const uint32_t unit =
        wmi_target_limit(a->target, wave32 ? WMI_LIMIT_vgpr_encoding32 : WMI_LIMIT_vgpr_encoding64);
    put_bits(k->bytes, &vgprs, blocks(a, at, "VGPRs", k->count[NEXT_VGPR], unit, 6));
    if (wmi_target_limit(a->target, WMI_LIMIT_sgprs_counted))
        put_bits(k->bytes, &sgprs, sgpr_blocks(a, k, at));
    if (k->given[USER_SGPRS] && k->count[USER_SGPRS] < k->user_sgprs)
        wmi_asm_error(a, at, "expected a .amdhsa_user_sgpr_count from %u on, as this kernel asks for them",
                      k->user_sgprs);
    if (k->given[USER_SGPRS] && k->count[USER_SGPRS] >> user.width)
        wmi_asm_error(a, at, "expected at most %d in .amdhsa_user_sgpr_count on %s", (1 << user.width) - 1,
                      wmi_target_name(a->target));
    put_bits(k->bytes, &user, (uint64_t)(k->given[USER_SGPRS] ? k->count[USER_SGPRS] : k->user_sgprs));
    if (owns(a->target, FROM_90A)) {
        if (k->count[ACCUM_OFFSET] % 4)
            wmi_asm_error(a, at, "expected a .amdhsa_accum_offset that is a multiple of 4");
        if (k->count[ACCUM_OFFSET] > (k->count[NEXT_VGPR] < 1 ? 4 : (k->count[NEXT_VGPR] + 3) / 4 * 4))
            wmi_asm_error(a, at, "expected a .amdhsa_accum_offset within .amdhsa_next_free_vgpr, %lld",
                          (long long)k->count[NEXT_VGPR]);
        put_bits(k->bytes, &accum, (uint64_t)(k->count[ACCUM_OFFSET] / 4 - 1));
    }
    if (prefetch.width)
        put_bits(k->bytes, &prefetch, (uint64_t)k->count[INST_PREF_SIZE]);
}

/* Whether the directive is allowed: the target supports it, and it is the first of its kind. */
static bool may_say(struct wmi_assembler *a, const char *at, enum owners owners, bool *said)
{
    if (!owns(a->target, owners)) {
        wmi_asm_error(a, at, "expected %s for this, not %s", owner_rules[owners].name,
                      wmi_target_name(a->target));
        return false;
    }
    if (*said && !a->reading_late) {
        wmi_asm_error(a, at, "expected this once in a kernel");
        return false;
    }
    *said = true;
    return true;
}

static void note_late_line(struct wmi_assembler *a, struct kernel *k, const char *begin, const char *end)
{
    struct late_line *line = wmi_asm_allocate(a, 1, sizeof *line);
    *line = (struct late_line){.begin = begin, .end = end, .place = a->place};
    *k->last_late = line;
    k->last_late = &line->next;
}

static void set_count(struct wmi_assembler *a, struct kernel *k, enum counted which, const char *at,
                      int64_t value)
{
    if (value < counts[which].first || value > counts[which].last)
        wmi_asm_error(a, at, "expected a number from %u to %u", counts[which].first, counts[which].last);
    else
        k->count[which] = value;
}

static void set_field(struct wmi_assembler *a, struct kernel *k, const struct directive *d, const char *at,
                      int64_t value)
{
    if (value < 0 || (uint64_t)value >> d->width) {
        wmi_asm_error(a, at, "expected an unsigned number of %u bits", d->width);
        return;
    }
    put_bits(k->bytes, d, (uint64_t)value);
    k->user_sgprs += value ? d->sgprs : 0;
    if (d->at == PRELOAD_AT && d->shift == 0)
        k->user_sgprs += (unsigned)value;
}

static const char *nearest_name(const char *word, size_t length)
{
    const char *nearest = NULL;
    unsigned least = (unsigned)length / 3 + 1;
    for (unsigned i = 0; least && i < COUNTED + FIELDS; i++) {
        const char *name = i < COUNTED ? counts[i].name : directives[i - COUNTED].name;
        const unsigned edits = wmi_edits(word, length, name, least - 1);
        if (edits < least) {
            least = edits;
            nearest = name;
        }
    }
    return nearest;
}

static void read_directive(struct wmi_assembler *a, struct kernel *k, const char *begin, const char *end)
{
    static const char prefix[] = ".amdhsa_";
    struct wmi_cursor c = {.at = begin, .end = end, .symbols = &a->resolver};
    const size_t length = wmi_name_length(&c), cut = strlen(prefix);
    const char *name = c.at, *const word = name + cut;
    struct wmi_value value;
    unsigned count = 0;
    size_t field = 0;
    if (c.at == c.end)
        return;
    if (length <= cut || memcmp(name, prefix, cut)) {
        wmi_asm_error(a, name, "expected a .amdhsa_ directive or .end_amdhsa_kernel");
        return;
    }
    while (count < COUNTED && !wmi_asm_word_is(word, length - cut, counts[count].name))
        count++;
    while (field < FIELDS && !wmi_asm_word_is(word, length - cut, directives[field].name))
        field++;
    if (count == COUNTED && field == FIELDS) {
        const char *nearest = nearest_name(word, length - cut);
        wmi_asm_error(a, name, "unknown directive %.*s%s%s", length < 64 ? (int)length : 64, name,
                      nearest ? "; nearest: .amdhsa_" : "", nearest ? nearest : "");
        return;
    }
    if (!may_say(a, name, count < COUNTED ? counts[count].owners : directives[field].owners,
                 count < COUNTED ? &k->given[count] : &k->said[field]))
        return;
    c.at += length;
    wmi_skip_space(&c);
    const char *at = c.at;
    wmi_asm_begin_expression(a);
    if (!wmi_read_expression(&c, &value)) {
        wmi_asm_failed(a, &c);
        return;
    }
    if (!wmi_asm_at_end(a, &c))
        return;
    const bool early = count == USER_SGPRS || (count == COUNTED && directives[field].is_early);
    if (a->saw_late && !early)
        note_late_line(a, k, begin, end);
    else if (a->saw_late || value.base)
        wmi_asm_error(a, at, "expected a number%s", a->saw_late ? " that is known here" : "");
    else if (count < COUNTED)
        set_count(a, k, count, at, value.number);
    else
        set_field(a, k, &directives[field], at, value.number);
}

/* Defines the descriptor's symbol, and reserves its bytes. */
static void define_descriptor(struct wmi_assembler *a, const char *name, const struct wmi_asm_place *place)
{
    struct wmi_asm_section *section = a->section;
    const size_t length = strlen(name);
    char *descriptor = wmi_asm_allocate(a, length + sizeof ".kd", 1);
    memcpy(descriptor, name, length);
    memcpy(descriptor + length, ".kd", sizeof ".kd");
    struct wmi_asm_symbol *code = wmi_asm_symbol(a, name, length);
    struct wmi_asm_symbol *symbol = wmi_asm_symbol(a, descriptor, length + strlen(".kd"));
    symbol->section = section;
    symbol->value.number = (int64_t)section->bytes.size;
    symbol->defined = true;
    symbol->size = DESCRIPTOR;
    symbol->type = STT_OBJECT;
    symbol->binding = code->binding;
    symbol->visibility = code->visibility;
    if (code->visibility == STV_DEFAULT) /* the descriptor's distance to it must be known */
        code->visibility = STV_PROTECTED;
    const struct wmi_asm_place here = a->place;
    const struct wmi_value entry = {.number = ENTRY_AT, .base = code, .part = WMI_PART_REL64};
    a->place = *place; /* errors refer to the line of .amdhsa_kernel, which names the code */
    wmi_asm_relocate(a, section, section->bytes.size + ENTRY_AT, &entry, 8, false);
    a->place = here;
    if (section->alignment < DESCRIPTOR)
        section->alignment = DESCRIPTOR;
}

static void end_kernel(struct wmi_assembler *a, struct kernel *k, const char *name, const char *at)
{
    const struct wmi_asm_place begin = k->place;
    k->place = a->place;
    if (!k->late)
        set_registers(a, k, at);
    wmi_asm_begin_bytes(a);
    define_descriptor(a, name, &begin);
    if (k->late) {
        struct wmi_asm_late_kernel *late = wmi_asm_allocate(a, 1, sizeof *late);
        *late = (struct wmi_asm_late_kernel){
            .next = a->late_kernels, .kernel = *k, .section = a->section, .offset = a->section->bytes.size};
        a->late_kernels = late;
    }
    wmi_asm_append(a, &a->section->bytes, k->bytes, DESCRIPTOR);
}

void wmi_asm_read_late_kernels(struct wmi_assembler *a)
{
    for (struct wmi_asm_late_kernel *late = a->late_kernels; late; late = late->next) {
        a->section = late->section;
        a->late_offset = late->offset;
        for (const struct late_line *line = late->kernel.late; line; line = line->next) {
            a->place = line->place;
            read_directive(a, &late->kernel, line->begin, line->end);
        }
        a->place = late->kernel.place;
        set_registers(a, &late->kernel, a->place.line);
        memcpy(late->section->bytes.data + late->offset, late->kernel.bytes, DESCRIPTOR);
    }
}

void wmi_asm_kernel(struct wmi_assembler *a, const char *name, size_t length)
{
    struct kernel k;
    const char *begin, *end;
    set_defaults(a->target, &k);
    k.last_late = &k.late;
    k.place = a->place;
    const char *owned = wmi_asm_text(a, name, length);
    while (wmi_asm_next_line(a, &begin, &end)) {
        struct wmi_cursor c = {.at = begin, .end = end};
        const size_t word = wmi_name_length(&c);
        if (wmi_asm_word_is(c.at, word, ".end_amdhsa_kernel")) {
            end_kernel(a, &k, owned, c.at);
            return;
        }
        read_directive(a, &k, begin, end);
    }
    wmi_asm_error(a, a->place.line, "expected .end_amdhsa_kernel before the end of the file");
}
