/* SPDX-License-Identifier: MIT */
/* What decoding promises to its users: operands, roles, constants, implied registers, and that no word breaks
 * it. */
#include "isa/isa.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct wmi_target *gfx900(void)
{
    const struct wmi_target *target = wmi_target_find("gfx900");
    assert_non_null(target);
    return target;
}

static struct wmi_instruction decoded(const uint32_t *words, size_t count)
{
    struct wmi_instruction insn;
    assert_int_equal(wmi_decode(gfx900(), words, count, &insn), count);
    return insn;
}

#define DECODED(...)                                                                                         \
    decoded((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void targets_are_found_by_name_and_mach(void **state)
{
    (void)state;
    assert_ptr_equal(wmi_target_find("gfx900:xnack-"), gfx900());
    assert_null(wmi_target_find("gfx9"));
    assert_null(wmi_target_find(""));
    /* LLVM AMDGPUUsage: EF_AMDGPU_MACH_AMDGCN_GFX900 is 0x02c; the feature bits above do not count */
    assert_ptr_equal(wmi_target_of_mach(0x52c), gfx900());
    assert_null(wmi_target_of_mach(0));
    assert_int_equal(wmi_target_limit(gfx900(), WMI_LIMIT_wave), 64);
    assert_int_equal(wmi_target_limit(gfx900(), WMI_LIMIT_sgprs), 102);
}

/* Names, EF_AMDGPU_MACH and LDS of a workgroup: LLVM 19, llvm/BinaryFormat/ELF.h and AMDGPU.td. */
static void gcn_and_cdna_targets_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t mach, lds_bytes;
    } known[] = {
        {"gfx600", 0x20, 32768}, {"gfx601", 0x21, 32768},       {"gfx602", 0x3a, 32768},
        {"gfx700", 0x22, 65536}, {"gfx701", 0x23, 65536},       {"gfx702", 0x24, 65536},
        {"gfx703", 0x25, 65536}, {"gfx704", 0x26, 65536},       {"gfx705", 0x3b, 65536},
        {"gfx801", 0x28, 65536}, {"gfx802", 0x29, 65536},       {"gfx803", 0x2a, 65536},
        {"gfx805", 0x3c, 65536}, {"gfx810", 0x2b, 65536},       {"gfx900", 0x2c, 65536},
        {"gfx902", 0x2d, 65536}, {"gfx904", 0x2e, 65536},       {"gfx906", 0x2f, 65536},
        {"gfx908", 0x30, 65536}, {"gfx909", 0x31, 65536},       {"gfx90a", 0x3f, 65536},
        {"gfx90c", 0x32, 65536}, {"gfx9-generic", 0x51, 65536}, {"gfx940", 0x40, 65536},
        {"gfx941", 0x4b, 65536}, {"gfx942", 0x4c, 65536},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct wmi_target *target = wmi_target_find(known[i].name);
        assert_non_null(target);
        assert_ptr_equal(wmi_target_of_mach(known[i].mach), target);
        assert_string_equal(wmi_target_name(target), known[i].name);
        assert_int_equal(wmi_target_limit(target, WMI_LIMIT_lds_bytes), known[i].lds_bytes);
        assert_int_equal(wmi_target_limit(target, WMI_LIMIT_wave), 64);
    }
}

/* How registers are allocated and counted in descriptors: LLVM 19, AMDGPUBaseInfo.cpp (getSGPRAllocGranule,
 * getSGPREncodingGranule, getVGPRAllocGranule, getVGPREncodingGranule) by the features that they ask for:
 * FeatureSGPRInitBug, FeatureGFX90AInsts, FeatureGFX10_3Insts, Feature1_5xVGPRs. */
static void registers_are_counted_as_by_llvm(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t sgpr_granule, fixed_sgprs;
        uint32_t vgpr_granule64, vgpr_granule32, vgpr_encoding64, vgpr_encoding32;
    } known[] = {
        {"gfx600", 8, 0, 4, 4, 4, 4},
        {"gfx705", 8, 0, 4, 4, 4, 4},
        {"gfx801", 16, 0, 4, 4, 4, 4},
        {"gfx802", 16, 96, 4, 4, 4, 4},
        {"gfx803", 16, 0, 4, 4, 4, 4},
        {"gfx805", 16, 96, 4, 4, 4, 4},
        {"gfx810", 16, 0, 4, 4, 4, 4},
        {"gfx900", 16, 0, 4, 4, 4, 4},
        {"gfx908", 16, 0, 4, 4, 4, 4},
        {"gfx90a", 16, 0, 8, 8, 8, 8},
        {"gfx90c", 16, 0, 4, 4, 4, 4},
        {"gfx942", 16, 0, 8, 8, 8, 8},
        {"gfx9-4-generic", 16, 0, 8, 8, 8, 8},
        {"gfx950", 16, 0, 8, 8, 8, 8},
        {"gfx1010", 16, 106, 4, 8, 4, 8},
        {"gfx1030", 16, 106, 8, 16, 4, 8},
        {"gfx1100", 16, 106, 12, 24, 4, 8},
        {"gfx1101", 16, 106, 12, 24, 4, 8},
        {"gfx1102", 16, 106, 8, 16, 4, 8},
        {"gfx1103", 16, 106, 8, 16, 4, 8},
        {"gfx11-generic", 16, 106, 8, 16, 4, 8},
        {"gfx1150", 16, 106, 8, 16, 4, 8},
        {"gfx1151", 16, 106, 12, 24, 4, 8},
        {"gfx1152", 16, 106, 8, 16, 4, 8},
        {"gfx1153", 16, 106, 8, 16, 4, 8},
        {"gfx1200", 16, 106, 12, 24, 4, 8},
        {"gfx12-generic", 16, 106, 12, 24, 4, 8},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct wmi_target *target = wmi_target_find(known[i].name);
        assert_non_null(target);
        assert_int_equal(wmi_target_limit(target, WMI_LIMIT_sgpr_encoding), 8);
        assert_int_equal(wmi_target_limit(target, WMI_LIMIT_sgpr_granule), known[i].sgpr_granule);
        assert_int_equal(wmi_target_limit(target, WMI_LIMIT_fixed_sgprs), known[i].fixed_sgprs);
        assert_int_equal(wmi_target_limit(target, WMI_LIMIT_vgpr_granule64), known[i].vgpr_granule64);
        assert_int_equal(wmi_target_limit(target, WMI_LIMIT_vgpr_granule32), known[i].vgpr_granule32);
        assert_int_equal(wmi_target_limit(target, WMI_LIMIT_vgpr_encoding64), known[i].vgpr_encoding64);
        assert_int_equal(wmi_target_limit(target, WMI_LIMIT_vgpr_encoding32), known[i].vgpr_encoding32);
    }
}

/* A row whose body depends on the generation (v_min_num_f32 of gfx12 is the row v_min_f32), and rows with one
 * body: in VOP2, VOP3 and both halves of a pair. */
static void bodies_follow_the_generation(void **state)
{
    (void)state;
    static const uint32_t min_10[] = {0x1e020501}, min_12[] = {0x2a020501},
                          min_e64_12[] = {0xd5150001, 0x00020501};
    static const uint32_t pair_12[] = {0xca960702, 0x01020b04}; /* v_dual_max_num_f32 :: v_dual_min_num_f32 */
    struct wmi_instruction insn;
    assert_int_equal(wmi_decode(wmi_target_find("gfx1030"), min_10, 1, &insn), 1);
    assert_int_equal(insn.id, WMI_INSN_v_min_f32);
    assert_int_equal(insn.body, WMI_INSN_v_min_f32);
    assert_int_equal(wmi_decode(wmi_target_find("gfx1200"), min_12, 1, &insn), 1);
    assert_int_equal(insn.id, WMI_INSN_v_min_f32);
    assert_int_equal(insn.body, WMI_BODY_v_min_f32_1);
    assert_int_equal(wmi_decode(wmi_target_find("gfx1200"), min_e64_12, 2, &insn), 2);
    assert_int_equal(insn.body, WMI_BODY_v_min_f32_1);
    assert_int_equal(wmi_decode(wmi_target_find("gfx1200"), pair_12, 2, &insn), 2);
    assert_int_equal(insn.id, WMI_INSN_v_max_f32);
    assert_int_equal(insn.body, WMI_BODY_v_max_f32_1);
    assert_int_equal(insn.second_id, WMI_INSN_v_min_f32);
    assert_int_equal(insn.second_body, WMI_BODY_v_min_f32_1);
}

/* What relatives differ in (LLVM AMDGPU.td: FeatureMadMixInsts, FeatureFmaMixInsts, FeatureUnpackedD16VMem):
 * 0xd3a0 is v_mad_mix_f32, v_fma_mix_f32 or nothing; four 16-bit elements are two registers or four. */
static void relatives_differ_in_rows_and_registers(void **state)
{
    (void)state;
    static const uint32_t mix[] = {0xd3a00008, 0x1c1a0902}, load_d16[] = {0xe02c1010, 0x03020402};
    static const struct {
        const char *name;
        uint16_t mix;
        uint8_t d16_dwords;
    } cases[] = {
        {"gfx803", WMI_INSN_NONE, 4},          {"gfx805", WMI_INSN_NONE, 4},
        {"gfx810", WMI_INSN_NONE, 2},          {"gfx900", WMI_INSN_v_mad_mix_f32, 2},
        {"gfx902", WMI_INSN_v_mad_mix_f32, 2}, {"gfx904", WMI_INSN_v_fma_mix_f32, 2},
        {"gfx906", WMI_INSN_v_fma_mix_f32, 2}, {"gfx909", WMI_INSN_v_mad_mix_f32, 2},
        {"gfx90c", WMI_INSN_v_mad_mix_f32, 2}, {"gfx9-generic", WMI_INSN_NONE, 2},
        {"gfx941", WMI_INSN_v_fma_mix_f32, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct wmi_target *target = wmi_target_find(cases[i].name);
        struct wmi_instruction insn;
        assert_int_equal(wmi_decode(target, mix, 2, &insn), cases[i].mix == WMI_INSN_NONE ? 0 : 2);
        if (cases[i].mix != WMI_INSN_NONE)
            assert_int_equal(insn.id, cases[i].mix);
        assert_int_equal(wmi_decode(target, load_d16, 2, &insn), 2);
        assert_int_equal(insn.id, WMI_INSN_buffer_load_format_d16_xyzw);
        assert_int_equal(wmi_operand(&insn, WMI_ROLE_D)->dwords, cases[i].d16_dwords);
    }
}

/* v_addc_co_u32_e32 v8, vcc, v2, v4, vcc: VCC is written and read though no field names it. */
static void implied_registers_are_operands(void **state)
{
    (void)state;
    const struct wmi_instruction insn = DECODED(0x38100902);
    assert_int_equal(insn.id, WMI_INSN_v_addc_co_u32);
    const struct wmi_operand *sdst = wmi_operand(&insn, WMI_ROLE_SDST), *c = wmi_operand(&insn, WMI_ROLE_C);
    assert_true(sdst->implied && sdst->written && !sdst->read);
    assert_true(c->implied && c->read && !c->written);
    assert_int_equal(sdst->kind, WMI_OPERAND_SPECIAL);
    assert_int_equal(sdst->reg, WMI_SPECIAL_VCC);
    assert_int_equal(sdst->dwords, 2);
    assert_int_equal(wmi_operand(&insn, WMI_ROLE_D)->reg, 8);
}

/* v_mac_f32_e32 v8, v2, v4 reads v8 as its third source. */
static void accumulators_are_tied_to_the_result(void **state)
{
    (void)state;
    const struct wmi_instruction insn = DECODED(0x2c100902);
    const struct wmi_operand *c = wmi_operand(&insn, WMI_ROLE_C);
    assert_true(c->implied && c->read);
    assert_int_equal(c->kind, WMI_OPERAND_VGPR);
    assert_int_equal(c->reg, 8);
    assert_true(wmi_rows[insn.id].flags & WMI_ROW_MACC);
}

/* Source of the 16-bit values: LLVM, getInlineEncodingV216 (see isa/ERRATA.md); of the others: the formats
 * themselves. */
static void constants_have_the_bits_of_their_type(void **state)
{
    (void)state;
    static const struct {
        uint32_t words[2];
        uint8_t dwords, kind;
        uint64_t value;
    } cases[] = {
        {{0x7e0202f2}, 1, WMI_OPERAND_CONSTANT, 0x3f800000},                   /* v_mov_b32 v1, 1.0 */
        {{0x7e0202c1}, 1, WMI_OPERAND_CONSTANT, 0xffffffff},                   /* v_mov_b32 v1, -1 */
        {{0xbe8001f2}, 1, WMI_OPERAND_CONSTANT, 0x3ff0000000000000},           /* s_mov_b64 s[0:1], 1.0 */
        {{0xbe8001c2}, 1, WMI_OPERAND_CONSTANT, UINT64_C(0xfffffffffffffffe)}, /* s_mov_b64 s[0:1], -2 */
        {{0x3e0202f2}, 1, WMI_OPERAND_CONSTANT, 0x3c00},                       /* v_add_f16 v1, 1.0, v1 */
        {{0x3e0202c1}, 1, WMI_OPERAND_CONSTANT, 0xffff},                       /* v_add_f16 v1, -1, v1 */
        {{0xd38f0001, 0x180202f2}, 2, WMI_OPERAND_CONSTANT, 0x3c00},           /* v_pk_add_f16 v1, 1.0, v1 */
        {{0xd3820001, 0x180202c1}, 2, WMI_OPERAND_CONSTANT, 0xffffffff},       /* v_pk_add_i16 v1, -1, v1 */
        {{0x7e0202ff, 0x12345678}, 2, WMI_OPERAND_LITERAL, 0x12345678},        /* v_mov_b32 v1, 0x12345678 */
        {{0x7e0206ff, 0x3ff00000},
         2,
         WMI_OPERAND_LITERAL,
         0x3ff0000000000000},                                           /* v_cvt_i32_f64 v1, literal */
        {{0xbe8001ff, 0x80000000}, 2, WMI_OPERAND_LITERAL, 0x80000000}, /* s_mov_b64 s[0:1], literal */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct wmi_instruction insn = decoded(cases[i].words, cases[i].dwords);
        const struct wmi_operand *a = wmi_operand(&insn, WMI_ROLE_A);
        assert_int_equal(a->kind, cases[i].kind);
        assert_int_equal(a->value, cases[i].value);
    }
}

static void memory_rows_say_what_they_move(void **state)
{
    (void)state;
    static const struct {
        uint16_t id;
        uint8_t class, memory, elements, bytes;
        uint32_t flags;
    } cases[] = {
        {WMI_INSN_global_load_dwordx3, WMI_CLASS_GLOBAL, WMI_MEMORY_LOAD, 3, 4, 0},
        {WMI_INSN_global_load_sbyte_d16_hi, WMI_CLASS_GLOBAL, WMI_MEMORY_LOAD, 1, 1,
         WMI_ROW_SIGNED | WMI_ROW_D16 | WMI_ROW_D16_HI},
        {WMI_INSN_flat_atomic_cmpswap_x2, WMI_CLASS_FLAT, WMI_MEMORY_ATOMIC, 1, 8, 0},
        {WMI_INSN_ds_read2st64_b64, WMI_CLASS_DS, WMI_MEMORY_LOAD, 2, 8, WMI_ROW_STRIDE64},
        {WMI_INSN_ds_add_rtn_u32, WMI_CLASS_DS, WMI_MEMORY_ATOMIC, 1, 4, WMI_ROW_RETURNS},
        {WMI_INSN_ds_write_b96, WMI_CLASS_DS, WMI_MEMORY_STORE, 3, 4, 0},
        {WMI_INSN_s_load_dwordx8, WMI_CLASS_SMEM, WMI_MEMORY_LOAD, 8, 4, 0},
        {WMI_INSN_buffer_store_short, WMI_CLASS_BUFFER, WMI_MEMORY_STORE, 1, 2, 0},
        {WMI_INSN_s_endpgm, WMI_CLASS_CONTROL, WMI_MEMORY_NONE, 0, 0, WMI_ROW_ENDS},
        {WMI_INSN_s_getpc_b64, WMI_CLASS_CONTROL, WMI_MEMORY_NONE, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct wmi_row *row = &wmi_rows[cases[i].id];
        assert_int_equal(row->class, cases[i].class);
        assert_int_equal(row->memory, cases[i].memory);
        assert_int_equal(row->elements, cases[i].elements);
        assert_int_equal(row->bytes, cases[i].bytes);
        assert_int_equal(row->flags, cases[i].flags);
    }
}

/* global_load_dword: with SADDR the address is one 32-bit VGPR; an atomic has a result only with glc. */
static void address_and_result_follow_the_fields(void **state)
{
    (void)state;
    struct wmi_instruction insn = DECODED(0xdc508000, 0x087f0002);
    assert_int_equal(wmi_operand(&insn, WMI_ROLE_ADDR)->dwords, 2);
    assert_int_equal(wmi_operand(&insn, WMI_ROLE_SADDR)->kind, WMI_OPERAND_OFF);
    insn = DECODED(0xdc509fff, 0x08040002);
    assert_int_equal(wmi_operand(&insn, WMI_ROLE_ADDR)->dwords, 1);
    assert_int_equal(wmi_operand(&insn, WMI_ROLE_SADDR)->reg, 4);
    assert_int_equal(insn.field[WMI_FIELD_offset], -1);
    insn = DECODED(0xdd008000, 0x087f0402);
    assert_null(wmi_operand(&insn, WMI_ROLE_D));
    insn = DECODED(0xdd018000, 0x087f0402);
    assert_int_equal(wmi_operand(&insn, WMI_ROLE_D)->reg, 8);
}

static void cut_off_instructions_are_refused(void **state)
{
    (void)state;
    struct wmi_instruction insn;
    const uint32_t literal[] = {0x7e0202ff, 0}, vop3[] = {0xd1010008, 0x00020902};
    assert_int_equal(wmi_decode(gfx900(), literal, 0, &insn), 0);
    assert_int_equal(wmi_decode(gfx900(), literal, 1, &insn), 0);
    assert_int_equal(wmi_decode(gfx900(), literal, 2, &insn), 2);
    assert_int_equal(wmi_decode(gfx900(), vop3, 1, &insn), 0);
}

/* xorshift64: any words will do, as long as they are the same each time */
static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

static void random_words_decode_to_sound_operands(void **state)
{
    (void)state;
    static const char *const names[] = {"gfx600",  "gfx700",  "gfx803", "gfx900",  "gfx906",
                                        "gfx908",  "gfx90a",  "gfx942", "gfx1010", "gfx1030",
                                        "gfx1100", "gfx1150", "gfx1200"};
    uint64_t seed = 0x9e3779b97f4a7c15;
    for (size_t t = 0; t < sizeof names / sizeof *names; t++) {
        const struct wmi_target *target = wmi_target_find(names[t]);
        unsigned good = 0;
        for (unsigned i = 0; i < 100000; i++) {
            uint32_t words[WMI_INSTRUCTION_DWORDS];
            for (size_t w = 0; w < WMI_INSTRUCTION_DWORDS; w++)
                words[w] = (uint32_t)next(&seed);
            if (i & 1)
                words[1] &= (uint32_t)next(&seed) & (uint32_t)next(&seed);
            struct wmi_instruction insn;
            const size_t available = 1 + i % WMI_INSTRUCTION_DWORDS;
            const unsigned dwords = wmi_decode(target, words, available, &insn);
            assert_true(dwords <= available);
            assert_int_equal(dwords, insn.dwords);
            if (!dwords)
                continue;
            good++;
            assert_true(insn.id > WMI_INSN_NONE && insn.id < WMI_INSN_COUNT);
            assert_true(insn.operands + insn.second_operands <= WMI_OPERANDS);
            for (unsigned o = 0; o < insn.operands; o++) {
                assert_true(insn.operand[o].role > WMI_ROLE_NONE && insn.operand[o].role < WMI_ROLE_COUNT);
                assert_true(insn.operand[o].kind != WMI_OPERAND_VGPR ||
                            insn.operand[o].reg + insn.operand[o].dwords <= 256);
                assert_true(insn.operand[o].kind != WMI_OPERAND_SGPR ||
                            insn.operand[o].reg + insn.operand[o].dwords <= 106);
            }
            char text[512], cut[8];
            const size_t length = wmi_print(target, &insn, text, sizeof text);
            assert_true(length > 0 && length < sizeof text);
            assert_int_equal(strlen(text), length);
            assert_int_equal(wmi_print(target, &insn, cut, sizeof cut), length);
            assert_true(strlen(cut) < sizeof cut);
            assert_int_equal(wmi_print(target, &insn, NULL, 0), length);
        }
        assert_true(good > 5000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_are_found_by_name_and_mach),
        cmocka_unit_test(gcn_and_cdna_targets_are_known),
        cmocka_unit_test(registers_are_counted_as_by_llvm),
        cmocka_unit_test(bodies_follow_the_generation),
        cmocka_unit_test(relatives_differ_in_rows_and_registers),
        cmocka_unit_test(implied_registers_are_operands),
        cmocka_unit_test(accumulators_are_tied_to_the_result),
        cmocka_unit_test(constants_have_the_bits_of_their_type),
        cmocka_unit_test(memory_rows_say_what_they_move),
        cmocka_unit_test(address_and_result_follow_the_fields),
        cmocka_unit_test(cut_off_instructions_are_refused),
        cmocka_unit_test(random_words_decode_to_sound_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
