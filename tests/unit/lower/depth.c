/* SPDX-License-Identifier: MIT */
/* Wait counters block by block, against a simple reference that works instruction by instruction. */
#include "lower/depth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"

enum counter { VM, LGKM, VS, COUNTERS };
enum { ANY = 255, INSTRUCTIONS = 16, STEPS = 20000, LONGEST = 400 };

/* Counters of one instruction according to the ISA documents, with the words that LLVM encodes. */
struct insn {
    uint32_t words[2];
    enum counter counter;
    unsigned units;           /* increment of the counter; 0: not a memory instruction */
    unsigned limit[COUNTERS]; /* waits until the counters are at most this; only if `waits` */
    bool waits;
};

struct target {
    const char *name;
    unsigned largest[COUNTERS]; /* from the field widths of s_waitcnt and s_waitcnt_vscnt */
    struct insn insn[INSTRUCTIONS];
    unsigned count;
};

/* Sources: Vega ISA and RDNA 2 ISA, "Data Dependency Resolution" and S_WAITCNT: scalar loads of more than a
 * dword count as two in lgkmcnt; stores count in vmcnt before gfx10, in vscnt later. */
static const struct target targets[] = {
    {"gfx900",
     {63, 15, 0},
     {
         {{0xdc508000, 0x067f0003}, VM, 1, {0}, false},   /* global_load_dword */
         {{0xdc708000, 0x007f0200}, VM, 1, {0}, false},   /* global_store_dword */
         {{0xd86c0000, 0x00000000}, LGKM, 1, {0}, false}, /* ds_read_b32 */
         {{0xc0020082, 0x0000002c}, LGKM, 1, {0}, false}, /* s_load_dword */
         {{0xc0060002, 0x00000048}, LGKM, 2, {0}, false}, /* s_load_dwordx2 */
         {{0x7e000301, 0}, VM, 0, {0}, false},            /* v_mov_b32 */
         {{0xbf8c0f70, 0}, VM, 0, {0, ANY, ANY}, true},   /* s_waitcnt vmcnt(0) */
         {{0xbf8c0275, 0}, VM, 0, {5, 2, ANY}, true},     /* s_waitcnt vmcnt(5) lgkmcnt(2) */
         {{0xbf8cc07f, 0}, VM, 0, {ANY, 0, ANY}, true},   /* s_waitcnt lgkmcnt(0) */
     },
     9},
    {"gfx1030",
     {63, 63, 63},
     {
         {{0xdc308000, 0x037d0002}, VM, 1, {0}, false},   /* global_load_dword */
         {{0xdc70800c, 0x007d0301}, VS, 1, {0}, false},   /* global_store_dword */
         {{0xd8d80000, 0x05000005}, LGKM, 1, {0}, false}, /* ds_read_b32 */
         {{0xf40000c2, 0xfa000018}, LGKM, 1, {0}, false}, /* s_load_dword */
         {{0xf4040002, 0xfa000010}, LGKM, 2, {0}, false}, /* s_load_dwordx2 */
         {{0x7e000301, 0}, VM, 0, {0}, false},            /* v_mov_b32 */
         {{0xbf8c3f70, 0}, VM, 0, {0, ANY, ANY}, true},   /* s_waitcnt vmcnt(0) */
         {{0xbf8c0275, 0}, VM, 0, {5, 2, ANY}, true},     /* s_waitcnt vmcnt(5) lgkmcnt(2) */
         {{0xbf8cc07f, 0}, VM, 0, {ANY, 0, ANY}, true},   /* s_waitcnt lgkmcnt(0) */
         {{0xbbfd0003, 0}, VM, 0, {ANY, ANY, 3}, true},   /* s_waitcnt_vscnt null, 3 */
     },
     10},
};

/* The reference. Returns the instruction's counter after its issue. */
static unsigned execute(const struct target *target, const struct insn *insn, unsigned counters[COUNTERS])
{
    for (unsigned i = 0; i < COUNTERS && insn->waits; i++)
        if (counters[i] > insn->limit[i])
            counters[i] = insn->limit[i];
    if (!insn->units)
        return 0;
    counters[insn->counter] += insn->units;
    if (counters[insn->counter] > target->largest[insn->counter])
        counters[insn->counter] = target->largest[insn->counter];
    return counters[insn->counter];
}

/* Blocks of random length, some of which fill the counters. rare: one in this many instructions may wait. */
static void check(const struct target *target, uint64_t seed, unsigned rare)
{
    const struct wmi_target *isa = wmi_target_find(target->name);
    struct wmi_instruction insns[INSTRUCTIONS];
    unsigned counters[COUNTERS] = {0};
    uint64_t word = 0, draw = 0;
    assert_non_null(isa);
    for (unsigned i = 0; i < target->count; i++)
        assert_true(wmi_decode(isa, target->insn[i].words, 2, &insns[i]));
    for (unsigned step = 0; step < STEPS;) {
        struct wmi_depth_change change = WMI_DEPTH_UNCHANGED;
        uint8_t entered[8];
        memcpy(entered, &word, sizeof entered);
        for (unsigned left = wmi_random_u32(seed, draw++) % LONGEST; left--; step++) {
            unsigned chosen = wmi_random_u32(seed, draw++) % target->count;
            if (target->insn[chosen].waits && wmi_random_u32(seed, draw++) % rare)
                chosen = wmi_random_u32(seed, draw++) % 6;
            const struct wmi_depth depth = wmi_depth_append(&change, isa, &insns[chosen]);
            const unsigned expected = execute(target, &target->insn[chosen], counters);
            if (wmi_depth_of(entered, depth) != expected)
                fail_msg("%s, step %u: depth %u instead of %u", target->name, step,
                         wmi_depth_of(entered, depth), expected);
        }
        word = wmi_depth_changed(word, change);
        step++;
    }
}

static void blocks_do_what_their_instructions_do(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof targets / sizeof *targets; i++)
        for (unsigned rare = 1; rare <= 256; rare *= 4)
            check(&targets[i], 77 + rare, rare);
}

static void an_empty_block_changes_nothing(void **state)
{
    (void)state;
    assert_true(wmi_depth_changed(0x3f0f00ff01020304, WMI_DEPTH_UNCHANGED) == 0x3f0f00ff01020304);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_do_what_their_instructions_do),
        cmocka_unit_test(an_empty_block_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
