/* SPDX-License-Identifier: MIT */
/* wm_decode and wm_print: words encoded by llvm-mc-19 from the texts next to them, and their fields.
 * WAVEMEM_TEST_REDUCED: a fifth of the random words of each target. */
#include "reduced.h"
#include "wavemem/wavemem.h"

#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

/* Decodes the words, which must print as `text`. */
static struct wm_instruction decoded(const char *target, const char *text, const uint32_t *words,
                                     unsigned dwords)
{
    struct wm_instruction insn;
    char printed[256];
    assert_int_equal(wm_decode(wm_target(target), words, dwords, &insn), dwords);
    assert_int_equal(wm_print(&insn, printed, sizeof(printed)), strlen(text));
    assert_string_equal(printed, text);
    assert_int_equal(insn.dwords, dwords);
    assert_memory_equal(insn.words, words, 4 * dwords);
    return insn;
}
#define DECODED(target, text, ...)                                                                           \
    decoded(target, text, (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4)

static void expect_registers(const struct wm_operand *o, const char *role, enum wm_operand_kind kind,
                             unsigned reg, unsigned dwords)
{
    assert_string_equal(o->role, role);
    assert_int_equal(o->kind, kind);
    assert_int_equal(o->reg, reg);
    assert_int_equal(o->dwords, dwords);
}

static int32_t modifier(const struct wm_instruction *insn, const char *name)
{
    for (unsigned i = 0; i < insn->modifier_count; i++)
        if (!strcmp(insn->modifier[i].name, name))
            return insn->modifier[i].value;
    fail_msg("%s has no modifier %s", insn->name, name);
    return 0;
}

static void a_load(void **state)
{
    (void)state;
    const struct wm_instruction i =
        DECODED("gfx900", "global_load_dwordx4 v[2:5], v1, s[6:7] offset:-16 glc", 0xdc5d9ff0, 0x02060001);
    assert_string_equal(i.name, "global_load_dwordx4");
    assert_string_equal(i.encoding, "global");
    assert_string_equal(i.kind, "GLOBAL");
    assert_int_equal(i.flags, WM_INSTRUCTION_LOAD | WM_INSTRUCTION_MASKED);
    assert_int_equal(i.elements * i.bytes, 16);
    assert_int_equal(i.operand_count, 3);
    expect_registers(&i.operand[0], "d", WM_OPERAND_VGPR, 2, 4);
    assert_true(i.operand[0].written && !i.operand[0].read);
    assert_int_equal(i.operand[0].bits, 128);
    expect_registers(&i.operand[1], "addr", WM_OPERAND_VGPR, 1, 1);
    expect_registers(&i.operand[2], "saddr", WM_OPERAND_SGPR, 6, 2);
    assert_true(i.operand[2].read && !i.operand[2].written);
    assert_int_equal(modifier(&i, "offset"), -16);
    assert_int_equal(modifier(&i, "glc"), 1);
    assert_int_equal(modifier(&i, "slc"), 0);
    struct wm_isa_row row;
    assert_true(wm_isa_row(i.row, &row));
    assert_string_equal(row.name, "global_load_dwordx4");
}

static void one_row_of_two_names(void **state)
{
    (void)state;
    const struct wm_instruction nine =
        DECODED("gfx900", "ds_read2st64_b32 v[1:2], v3 offset0:4 offset1:5", 0xd8700504, 0x01000003);
    const struct wm_instruction eleven = DECODED(
        "gfx1100", "ds_load_2addr_stride64_b32 v[1:2], v3 offset0:4 offset1:5", 0xd8e00504, 0x01000003);
    assert_int_equal(nine.row, eleven.row);
    assert_int_equal(nine.elements, 2);
    assert_int_equal(nine.bytes, 4);
    assert_int_equal(modifier(&eleven, "offset1"), 5);
}

static void an_atomic(void **state)
{
    (void)state;
    const struct wm_instruction i =
        DECODED("gfx1030", "buffer_atomic_add v1, v2, s[4:7], s1 idxen", 0xe0c82000, 0x01010102);
    assert_int_equal(i.flags, WM_INSTRUCTION_ATOMIC | WM_INSTRUCTION_MASKED);
    expect_registers(&i.operand[0], "data", WM_OPERAND_VGPR, 1, 1);
    assert_true(i.operand[0].read && !i.operand[0].written); /* no glc: no return value */
    expect_registers(&i.operand[2], "rsrc", WM_OPERAND_SGPR, 4, 4);
}

static void modifiers_of_sources(void **state)
{
    (void)state;
    const struct wm_instruction i =
        DECODED("gfx900", "v_add_f32_e64 v1, -v2, |s3| clamp mul:2", 0xd1018201, 0x28000702);
    assert_true(i.operand[1].neg && !i.operand[1].abs);
    assert_true(i.operand[2].abs && !i.operand[2].neg);
    expect_registers(&i.operand[2], "b", WM_OPERAND_SGPR, 3, 1);
    assert_string_equal(i.operand[2].type, "f32");
    assert_int_equal(modifier(&i, "clamp"), 1);
    assert_int_equal(modifier(&i, "omod"), 1);
    const struct wm_instruction dpp =
        DECODED("gfx1100", "v_mov_b32_dpp v1, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", 0x7e0202fa,
                0xff00b102);
    assert_string_equal(dpp.encoding, "vop1_dpp");
    assert_int_equal(modifier(&dpp, "dpp_ctrl"), 0xb1);
}

static void special_registers_and_constants(void **state)
{
    (void)state;
    const struct wm_instruction carry =
        DECODED("gfx900", "v_addc_co_u32_e32 v1, vcc, v2, v3, vcc", 0x38020702);
    assert_int_equal(carry.operand[1].kind, WM_OPERAND_SPECIAL);
    assert_string_equal(carry.operand[1].name, "vcc");
    assert_true(carry.operand[1].implied && carry.operand[1].written);
    assert_true(carry.operand[4].implied && carry.operand[4].read);
    const struct wm_instruction literal = DECODED("gfx900", "s_mov_b64 exec, 0x12345", 0xbefe01ff, 0x12345);
    assert_string_equal(literal.operand[0].name, "exec");
    assert_int_equal(literal.operand[1].kind, WM_OPERAND_LITERAL);
    assert_int_equal(literal.operand[1].value, 0x12345);
    const struct wm_instruction constant = DECODED("gfx1030", "v_fmac_f32_e32 v1, 1.0, v2", 0x560204f2);
    assert_int_equal(constant.operand[1].kind, WM_OPERAND_CONSTANT);
    assert_int_equal(constant.operand[1].value, 0x3f800000);
}

static void a_branch(void **state)
{
    (void)state;
    const struct wm_instruction i = DECODED("gfx1100", "s_cbranch_vccnz 65534", 0xbfa4fffe);
    assert_int_equal(i.flags & WM_INSTRUCTION_BRANCH, WM_INSTRUCTION_BRANCH);
    assert_int_equal(i.operand[0].kind, WM_OPERAND_LABEL);
    assert_int_equal((int64_t)i.operand[0].value, -2);
    assert_true(DECODED("gfx900", "s_endpgm", 0xbf810000).flags & WM_INSTRUCTION_ENDS);
}

static void a_list_of_addresses(void **state)
{
    (void)state;
    static const uint8_t registers[] = {32, 1, 4, 5, 9, 10};
    const struct wm_instruction i = DECODED(
        "gfx1030",
        "image_sample_d v[4:7], [v32, v1, v4, v5, v9, v10], s[8:15], s[4:7] dmask:0xf dim:SQ_RSRC_IMG_2D",
        0xf0880f0c, 0x00220420, 0x09050401, 0x0000000a);
    assert_int_equal(i.address_count, 6);
    assert_memory_equal(i.address, registers, 6);
    const struct wm_instruction tuple = DECODED(
        "gfx1200",
        "image_sample_d_cl v[8:11], [v2, v0, v0, v[0:3]], s[8:15], s[12:15] dmask:0xf dim:SQ_RSRC_IMG_2D",
        0xe7d04001, 0x06001008, 0x00000002);
    static const uint8_t with_tuple[] = {2, 0, 0, 0, 1, 2, 3};
    assert_int_equal(tuple.address_count, 7);
    assert_memory_equal(tuple.address, with_tuple, 7);
    assert_int_equal(DECODED("gfx1030",
                             "image_sample_d v[8:11], v[2:7], s[8:15], s[0:3] dmask:0xf dim:SQ_RSRC_IMG_2D",
                             0xf0880f08, 0x00020802)
                         .address_count,
                     0);
}

static void a_pair(void **state)
{
    (void)state;
    const struct wm_instruction i =
        DECODED("gfx1100", "v_dual_mul_f32 v0, v1, v2 :: v_dual_fmaak_f32 v5, v6, v7, 0x3f000001", 0xc8c20501,
                0x00040f06, 0x3f000001);
    assert_string_equal(i.second_name, "v_dual_fmaak_f32");
    assert_int_equal(i.second_operand, 3);
    assert_int_equal(i.operand_count, 7);
    expect_registers(&i.operand[3], "d", WM_OPERAND_VGPR, 5, 1);
    assert_int_equal(i.operand[6].value, 0x3f000001);
}

static void halves(void **state)
{
    (void)state;
    const struct wm_instruction i =
        DECODED("gfx1100:real-true16", "v_add_f16_e32 v1.h, v2.l, v3.h", 0x65030702);
    assert_int_equal(i.operand[0].half, 'h');
    assert_int_equal(i.operand[1].half, 'l');
    expect_registers(&i.operand[2], "b", WM_OPERAND_VGPR, 3, 1);
    /* LLVM always prints .l; op_sel is what counts */
    const struct wm_instruction e64 = DECODED(
        "gfx1100:real-true16", "v_add_f16_e64 v8.l, v2.l, v4.l op_sel:[1,0,0]", 0xd5320808, 0x00020902);
    assert_int_equal(e64.operand[1].half, 'h');
    assert_int_equal(e64.operand[2].half, 'l');
}

static void refusals(void **state)
{
    (void)state;
    struct wm_instruction i, empty = {0};
    char text[8] = "before";
    const uint32_t literal[] = {0xbefe01ff, 0x12345}, none = 0xffffffff;
    assert_null(wm_target("gfx9000"));
    assert_null(wm_target(NULL));
    assert_int_equal(wm_decode(NULL, literal, 2, &i), 0);
    assert_int_equal(wm_decode(wm_target("gfx900"), literal, 1, &i), 0); /* truncated */
    assert_int_equal(wm_decode(wm_target("gfx900"), literal, 0, &i), 0);
    assert_int_equal(wm_decode(wm_target("gfx900"), NULL, 0, &i), 0);
    assert_int_equal(wm_decode(wm_target("gfx900"), &none, 1, &i), 0);
    assert_memory_equal(&i, &empty, sizeof(i));
    assert_int_equal(wm_print(&i, text, sizeof(text)), 0);
    assert_string_equal(text, "");
    i = DECODED("gfx900", "s_mov_b64 exec, 0x12345", 0xbefe01ff, 0x12345);
    assert_int_equal(wm_print(&i, text, sizeof(text)), strlen("s_mov_b64 exec, 0x12345"));
    assert_string_equal(text, "s_mov_b"); /* truncated */
    assert_int_equal(wm_print(&i, NULL, 0), strlen("s_mov_b64 exec, 0x12345"));
    i.words[0] = none; /* callers may modify it */
    i.dwords = 1000;
    assert_int_equal(wm_print(&i, text, sizeof(text)), 0);
}

static uint32_t random_word(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 32);
}

/* A hash of the decoded random words of all targets. */
static void *random_words(void *user)
{
    const unsigned count = reduced() ? 4000 : 20000;
    uint64_t *hash = user, seed = 1;
    for (size_t t = 0; wm_target_at(t); t++) {
        const struct wm_target *target = wm_target(wm_target_at(t));
        for (unsigned n = 0; n < count; n++) {
            uint32_t words[WM_INSTRUCTION_DWORDS];
            for (unsigned i = 0; i < WM_INSTRUCTION_DWORDS; i++) {
                words[i] = random_word(&seed);
            }
            struct wm_instruction insn;
            char text[512] = "";
            const unsigned length = wm_decode(target, words, WM_INSTRUCTION_DWORDS, &insn);
            const size_t printed = wm_print(&insn, text, sizeof(text));
            *hash = (*hash ^ length ^ printed << 8) * UINT64_C(0x100000001b3);
            for (const char *at = text; *at; at++)
                *hash = (*hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
        }
    }
    return NULL;
}

static void no_allocation_and_many_threads(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    uint64_t alone = 1, hash[THREADS];
    const struct mallinfo2 before = mallinfo2();
    random_words(&alone);
    const struct mallinfo2 after = mallinfo2();
    assert_true(before.uordblks == after.uordblks && before.hblkhd == after.hblkhd);
    pthread_t thread[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        hash[i] = 1;
        assert_int_equal(pthread_create(&thread[i], NULL, random_words, &hash[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(hash[i], alone);
    }
}

/* ---- lines of long code ---- */

enum { CODE = 12000, VOCABULARY = 200, LONGEST = 8 };

/* Repeated words, and words that differ only in possible register fields. */
static void write_code(uint64_t *seed, uint8_t *code)
{
    uint32_t vocabulary[VOCABULARY];
    for (unsigned i = 0; i < VOCABULARY; i++)
        vocabulary[i] = random_word(seed);
    for (size_t i = 0; i < CODE; i++) {
        const uint32_t how = random_word(seed);
        uint32_t word = vocabulary[how % VOCABULARY];
        if (how & 1 << 20)
            word ^= random_word(seed) & 0x01fe00ff;
        if (how >> 24 == 0)
            word |= 0xff; /* a literal, where that is a source */
        memcpy(code + 4 * i, &word, 4);
    }
}

/* Prints the line of llvm-objdump, or the text alone; returns the dwords. */
static unsigned slow_line(const char *target, const uint8_t *code, size_t dwords, uint64_t address,
                          bool plain, char *line)
{
    uint32_t words[LONGEST] = {0};
    char text[1024];
    dwords = dwords < LONGEST ? dwords : LONGEST;
    memcpy(words, code, 4 * dwords);
    unsigned length = wm_disassemble(target, words, dwords, text, sizeof text);
    if (!length)
        snprintf(text, sizeof text, ".long 0x%08x", words[0]);
    length = length ? length : 1;
    if (plain) {
        sprintf(line, "%s\n", text);
        return length;
    }
    int at = sprintf(line, "\t%-59s// %012llX:", text, (unsigned long long)address);
    for (unsigned i = 0; i < length; i++)
        at += sprintf(line + at, " %08X", words[i]);
    strcpy(line + at, "\n");
    return length;
}

/* Checks the lines written by one call; returns their bytes of code. */
static size_t check_lines(const char *target, const struct wm_lines *lines, size_t listed, size_t length)
{
    char line[2048];
    size_t at = 0, done = 0;
    while (at < listed) {
        assert_true(at < lines->end);
        at += 4 * slow_line(target, (const uint8_t *)lines->code + at, (lines->size - at) / 4,
                            lines->address + at, lines->plain, line);
        assert_true(done + strlen(line) <= length && length <= lines->room);
        assert_memory_equal(lines->text + done, line, strlen(line));
        done += strlen(line);
    }
    assert_int_equal(at, listed);
    assert_int_equal(done, length);
    return listed;
}

static void check_branch(struct wm_disassembler *d, const char *target, const uint8_t *code, size_t dwords,
                         size_t *at)
{
    uint32_t words[LONGEST] = {0};
    char text[1024];
    dwords = dwords < LONGEST ? dwords : LONGEST;
    memcpy(words, code, 4 * dwords);
    const struct wm_disassembled branch = wm_disassembler_next(d, words, dwords);
    assert_true(branch.branch);
    assert_int_equal(branch.dwords, wm_disassemble(target, words, dwords, text, sizeof text));
    assert_string_equal(branch.text, text);
    assert_int_equal(branch.length, strlen(text));
    assert_int_equal(branch.target, (int16_t)words[0]);
    *at += 4u * branch.dwords;
}

static void lines_of(const char *target, uint64_t seed)
{
    struct wm_disassembler *d;
    uint8_t *code = malloc(4 * CODE + 1); /* at an odd address, without padding at the end */
    write_code(&seed, code + 1);
    assert_int_equal(wm_disassembler_create(target, 0, &d, NULL), WM_OK);
    for (size_t at = 0; at + 4 <= 4 * CODE;) {
        const size_t left = 4 * CODE - at, room = WM_LINE_ROOM + random_word(&seed) % (2 * WM_LINE_ROOM);
        const uint32_t end = random_word(&seed) % 4096;
        size_t length;
        char *text = malloc(room);
        const struct wm_lines lines = {
            code + 1 + at, left, end < left ? end : left, UINT64_C(0xfffff000) + at,
            text,          room, random_word(&seed) % 2};
        const size_t listed = wm_disassembler_lines(d, &lines, &length);
        at += check_lines(target, &lines, listed, length);
        if (listed < lines.end && at + 4 <= 4 * CODE && length + WM_LINE_ROOM <= room)
            check_branch(d, target, code + 1 + at, (4 * CODE - at) / 4, &at);
        free(text);
    }
    wm_disassembler_destroy(d);
    free(code);
}

static void lines(void **state)
{
    (void)state;
    static const char *const targets[] = {"gfx600", "gfx803",  "gfx900",  "gfx90a",
                                          "gfx942", "gfx1030", "gfx1100", "gfx1200"};
    for (unsigned i = 0; i < sizeof targets / sizeof *targets; i++)
        lines_of(targets[i], i + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load),
        cmocka_unit_test(one_row_of_two_names),
        cmocka_unit_test(an_atomic),
        cmocka_unit_test(modifiers_of_sources),
        cmocka_unit_test(special_registers_and_constants),
        cmocka_unit_test(a_branch),
        cmocka_unit_test(a_list_of_addresses),
        cmocka_unit_test(a_pair),
        cmocka_unit_test(halves),
        cmocka_unit_test(refusals),
        cmocka_unit_test(no_allocation_and_many_threads),
        cmocka_unit_test(lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
