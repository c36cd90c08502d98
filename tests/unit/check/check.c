/* SPDX-License-Identifier: MIT */
/* Missing waits and hazards: the wait-counter model against an enumeration of all possible completion orders,
 * and short code for thirteen targets with the expected findings. */
#include "check/check.h"
#include "check/waits/wait_state.h"
#include "unit/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the model ---- */

enum { EVENTS = 5, UNITS = 2 * EVENTS, SETS = 1 << UNITS };

/* All states that are possible at one moment. A state is a bit set with one bit per completed unit of an
 * event. */
struct possible {
    bool set[SETS];
    unsigned order[EVENTS], units[EVENTS], events;
};

static bool is_whole(const struct possible *p, unsigned set, unsigned event)
{
    const unsigned bits = (1u << p->units[event]) - 1;
    return (set >> 2 * event & bits) == bits;
}

/* Adds the states reachable by completions: a unit of an event can complete if all earlier events of its
 * order have, or if it has no order. */
static void let_finish(struct possible *p)
{
    for (unsigned set = 0; set < SETS; set++) /* completions only add bits, so one ascending pass is enough */
        for (unsigned e = 0; p->set[set] && e < p->events; e++) {
            bool first = true;
            for (unsigned before = 0; before < e; before++)
                first &= p->order[before] != p->order[e] || p->order[e] >= WMI_ORDER_NONE ||
                         is_whole(p, set, before);
            for (unsigned unit = 0; first && unit < p->units[e]; unit++)
                p->set[set | 1u << (2 * e + unit)] = true;
        }
}

static unsigned left(const struct possible *p, unsigned set)
{
    unsigned units = 0;
    for (unsigned e = 0; e < p->events; e++)
        units += p->units[e] - (unsigned)__builtin_popcount(set >> 2 * e & 3);
    return units;
}

static void model_knows_what_is_sure(void **state)
{
    (void)state;
    static struct possible p;
    static struct wmi_wait_state model;
    unsigned ready = 0, not_ready = 0;
    for (int round = 0; round < 3000; round++) {
        memset(&p, 0, sizeof p);
        memset(&model, 0, sizeof model);
        model.target = wmi_target_find("gfx900");
        p.set[0] = true;
        for (int step = 0; step < 12; step++) {
            if (random_below(2) && p.events < EVENTS) {
                static const unsigned orders[] = {WMI_ORDER_LDS, WMI_ORDER_LDS, WMI_ORDER_GDS,
                                                  WMI_ORDER_SCALAR, WMI_ORDER_FLAT};
                const unsigned order = orders[random_below(5)], e = p.events++;
                p.order[e] = order;
                p.units[e] = order == WMI_ORDER_SCALAR ? 1 + random_below(2) : 1;
                const struct wmi_wait_facts facts = {
                    .event = {{WMI_COUNTER_DS, (uint8_t)order, (uint8_t)p.units[e], 0, true, false}},
                    .events = 1};
                const struct wmi_span_of_registers span = {.first = (uint16_t)e, .count = 1, .written = true};
                wmi_wait_issue(&model, &facts, &span, 1, e, UINT64_MAX);
            } else {
                const unsigned value = random_below(4);
                struct wmi_wait_facts facts = {.waits = true};
                memset(facts.limit, UINT8_MAX, sizeof facts.limit);
                facts.limit[WMI_COUNTER_DS] = (uint8_t)value;
                wmi_wait_issue(&model, &facts, NULL, 0, 0, UINT64_MAX);
                let_finish(&p);
                for (unsigned set = 0; set < SETS; set++)
                    p.set[set] &= left(&p, set) <= value;
            }
            for (unsigned e = 0; e < p.events; e++) {
                struct wmi_not_ready why;
                bool sure = true;
                for (unsigned set = 0; set < SETS; set++)
                    sure &= !p.set[set] || is_whole(&p, set, e);
                assert_int_equal(wmi_wait_ready(&model, e, UINT64_MAX, &why), sure);
                ready += sure;
                not_ready += !sure;
            }
        }
    }
    assert_true(ready > 1000 && not_ready > 1000);
}

/* ---- code ---- */

static char texts[64][128]; /* of the instructions, for describe() */
static const uint32_t scalars[256] = {
    [8] = 1, [9] = 64, [WMI_REGISTER_EXEC] = UINT32_MAX, [WMI_REGISTER_EXEC + 1] = UINT32_MAX};

static void describe(void *user, unsigned id, struct wm_profile_row *row)
{
    (void)user, (void)id;
    row->text = texts[row->pc / 4];
    row->kernel = "code";
}

enum {
    GFX6 = 1,
    GFX7 = 2,
    GFX8 = 4,
    GFX9 = 8,
    GFX940 = 16,
    GFX10 = 32,
    GFX103 = 64,
    GFX11 = 128,
    GFX12 = 256
};
enum { GCN = GFX6 | GFX7 | GFX8 | GFX9 | GFX940, ALL = 511, RDNA = ALL & ~GCN };

static const struct {
    const char *name;
    unsigned is;
} targets[] = {{"gfx600", GFX6},   {"gfx700", GFX7},    {"gfx803", GFX8},   {"gfx900", GFX9},
               {"gfx906", GFX9},   {"gfx908", GFX9},    {"gfx90a", GFX9},   {"gfx942", GFX940},
               {"gfx1010", GFX10}, {"gfx1030", GFX103}, {"gfx1100", GFX11}, {"gfx1150", GFX11},
               {"gfx1200", GFX12}};
enum { TARGETS = sizeof targets / sizeof *targets };

/* Short words for text that differs between generations; other text is used literally. %s: the rest of the
 * line. */
static const struct {
    const char *word, *text, *gfx11, *gfx12; /* NULL: as on earlier generations */
} words[] = {
    {"load ", "buffer_load_dword %s, v0, s[4:7], 0 offen", "buffer_load_b32 %s, v0, s[4:7], 0 offen",
     "buffer_load_b32 %s, v0, s[4:7], null offen"},
    {"load4 ", "buffer_load_dwordx4 %s, v0, s[4:7], 0 offen", "buffer_load_b128 %s, v0, s[4:7], 0 offen",
     "buffer_load_b128 %s, v0, s[4:7], null offen"},
    {"store ", "buffer_store_dword %s, v0, s[4:7], 0 offen", "buffer_store_b32 %s, v0, s[4:7], 0 offen",
     "buffer_store_b32 %s, v0, s[4:7], null offen"},
    {"atomic ", "buffer_atomic_add %s, v0, s[4:7], 0 offen", "buffer_atomic_add_u32 %s, v0, s[4:7], 0 offen",
     "buffer_atomic_add_u32 %s, v0, s[4:7], null offen"},
    {"returning ", "buffer_atomic_add %s, v0, s[4:7], 0 offen glc",
     "buffer_atomic_add_u32 %s, v0, s[4:7], 0 offen glc",
     "buffer_atomic_add_u32 %s, v0, s[4:7], null offen th:TH_ATOMIC_RETURN"},
    {"flat ", "flat_load_dword %s, v[10:11]", "flat_load_b32 %s, v[10:11]", NULL},
    {"lds ", "ds_read_b32 %s, v0", "ds_load_b32 %s, v0", NULL},
    {"scalar ", "s_load_dword %s, s[4:5], 0x0", "s_load_b32 %s, s[4:5], 0x0", NULL},
    {"use ", "v_mov_b32 v30, %s", NULL, NULL},
    {"set ", "v_mov_b32 %s, 0", NULL, NULL},
    {"suse ", "s_mov_b32 s30, %s", NULL, NULL},
    {"wait loads ", "s_waitcnt vmcnt(%s)", NULL, "s_wait_loadcnt %s"},
    {"wait lds ", "s_waitcnt lgkmcnt(%s)", NULL, "s_wait_dscnt %s"},
    {"wait scalar ", "s_waitcnt lgkmcnt(%s)", NULL, "s_wait_kmcnt %s"},
    {"wait exports ", "s_waitcnt expcnt(%s)", NULL, "s_wait_expcnt %s"},
};

static void add_line(char *text, size_t size, unsigned is, const char *line)
{
    char full[128];
    snprintf(full, sizeof full, "%s", line);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i].word);
        const char *format = is == GFX12 && words[i].gfx12            ? words[i].gfx12
                             : is & (GFX11 | GFX12) && words[i].gfx11 ? words[i].gfx11
                                                                      : words[i].text;
        if (strncmp(line, words[i].word, length))
            continue;
        const char *mark = strstr(format, "%s");
        snprintf(full, sizeof full, "%.*s%s%s", (int)(mark - format), format, line + length, mark + 2);
        break;
    }
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s\n", full);
}

/* The findings in code, "RULE@INSTRUCTION ..." in order. Instructions are separated by "; ". */
static void check_code(const char *target, unsigned is, const char *code, char *found, size_t size)
{
    char text[4096] = "", line[128], *messages = NULL;
    uint8_t *bytes;
    size_t length, count;
    struct wm_diag diag;
    struct wmi_instruction insn;
    void *wave = NULL;
    for (const char *at = code; *at;) {
        const char *end = strstr(at, "; ");
        snprintf(line, sizeof line, "%.*s", end ? (int)(end - at) : (int)strlen(at), at);
        add_line(text, sizeof text, is, line);
        at = end ? end + 2 : at + strlen(at);
    }
    if (wm_assemble(text, strlen(text), "code", target, WM_ASSEMBLE_RAW, &bytes, &length, &messages, &diag))
        fail_msg("%s: %s", target, messages ? messages : diag.message);
    struct wm_check *check = wmi_check_create(WM_CHECK_WAITS | WM_CHECK_HAZARDS);
    const struct wmi_target *t = wmi_target_find(target);
    struct wmi_check_observer observers[WMI_CHECKERS];
    assert_int_equal(
        1, wmi_check_begin(check, &(struct wmi_check_dispatch){.target = t, .kernel = "k", .profiled = true},
                           observers));
    const struct wmi_observer *observer = observers[0].observer;
    void *local = observer->thread_begin(observer->self);
    unsigned index = 0;
    for (size_t at = 0; at < length; at += 4u * insn.dwords, index++) {
        uint32_t copied[WMI_INSTRUCTION_DWORDS] = {0};
        const size_t left_over = (length - at) / 4;
        memcpy(copied, bytes + at, left_over < 5 ? 4 * left_over : sizeof copied);
        assert_true(wmi_decode(t, copied, left_over, &insn));
        wmi_print(t, &insn, texts[index], sizeof texts[index]);
        observer->execute(local, &wave, observer->decoded(observer->self, 4 * index, &insn), scalars);
    }
    observer->thread_end(observer->self, local);
    wmi_check_end(check, &(struct wmi_check_ran){0}, describe, NULL, NULL, NULL);
    const struct wm_finding *findings = wmi_check_findings(check, &count);
    found[0] = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t used = strlen(found);
        assert_int_equal(findings[i].count, 1);
        assert_true(*findings[i].message);
        snprintf(found + used, size - used, "%s%s@%u", i ? " " : "", findings[i].rule,
                 (unsigned)findings[i].pc / 4);
    }
    wmi_check_destroy(check);
    free(bytes);
    free(messages);
}

struct code_case {
    unsigned on; /* generations to test */
    const char *code;
    unsigned finds; /* subset with these findings; the others have none */
    const char *what;
};

static void run_cases(const struct code_case *cases, size_t count)
{
    for (size_t c = 0; c < count; c++)
        for (unsigned t = 0; t < TARGETS; t++) {
            char found[256];
            const char *expected = targets[t].is & cases[c].finds ? cases[c].what : "";
            if (!(targets[t].is & cases[c].on))
                continue;
            check_code(targets[t].name, targets[t].is, cases[c].code, found, sizeof found);
            if (strcmp(found, expected))
                fail_msg("%s: %s: found \"%s\", not \"%s\"", targets[t].name, cases[c].code, found, expected);
        }
}

#define LOADS_10                                                                                             \
    "load v2; load v3; load v4; load v5; load v6; load v7; load v8; load v9; load v10; load v11; "

static void waits(void **state)
{
    (void)state;
    static const struct code_case cases[] = {
        {ALL, "load v1; use v1", ALL, "read-before-wait@1"},
        {ALL, "load v1; wait loads 0; use v1", 0, ""},
        {ALL, "load v1; set v2; wait lds 0; use v1", ALL, "read-before-wait@3"},
        {ALL, "load4 v[4:7]; wait loads 1; use v7", ALL, "read-before-wait@2"},
        {ALL, "load v1; load v2; wait loads 1; use v1; use v2", ALL, "read-before-wait@4"},
        /* After a finding, the register counts as waited for. */
        {ALL, "load v1; use v1; use v1", ALL, "read-before-wait@1"},
        {ALL, "load v1; set v1", ALL, "write-before-wait@1"},
        /* Loads of one kind write in order before gfx12, so the second may overwrite the first. Source:
         * LLVM's si-insert-waitcnts waits between the two loads in the cases that are reported here. */
        {ALL, "load v1; load v1; wait loads 0; use v1", GFX12, "write-before-wait@1"},
        {GFX6 | GFX7 | GFX8 | GFX9, "image_sample v1, v[2:3], s[8:15], s[16:19] dmask:0x1; load v1", ALL,
         "write-before-wait@1"},
        {GFX10 | GFX103 | GFX11,
         "image_sample v1, v[2:3], s[8:15], s[16:19] dmask:0x1 dim:SQ_RSRC_IMG_2D; load v1", ALL,
         "write-before-wait@1"},
        {GFX10 | GFX103 | GFX11,
         "image_load v1, v[2:3], s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm; load v1; wait loads 0; use v1",
         0, ""},
        {ALL, "load v1; lds v1; wait loads 0; wait lds 0; use v1", ALL, "write-before-wait@1"},
        /* LDS returns in order, scalar memory does not. */
        {ALL, "lds v1; lds v2; wait lds 1; use v1", 0, ""},
        {ALL, "scalar s8; scalar s9; wait scalar 1; suse s8", ALL, "read-before-wait@3"},
        {ALL, "scalar s8; wait scalar 0; suse s8", 0, ""},
        {ALL, "scalar s8; scalar s8", ALL, "write-before-wait@1"},
        /* A shared counter, or one each. */
        {ALL, "lds v1; scalar s8; wait scalar 0; use v1", GFX12, "read-before-wait@3"},
        {ALL, "lds v1; scalar s8; wait lds 1; use v1", ALL, "read-before-wait@3"},
        /* Stores: in vmcnt, or in a separate counter. */
        {ALL, "load v1; store v2; wait loads 1; use v1", RDNA, "read-before-wait@3"},
        {ALL, "load v1; atomic v2; wait loads 1; use v1", RDNA, "read-before-wait@3"},
        {ALL & ~GFX940, "load v1; returning v2; wait loads 1; use v1; use v2", ALL, "read-before-wait@4"},
        {GFX940, "buffer_atomic_add v2, v0, s[4:7], 0 offen sc0; use v2", ALL, "read-before-wait@1"},
        /* Data of stores, on gfx6. */
        {ALL, "store v1; set v1", GFX6, "store-data-before-wait@1"},
        {ALL, "store v1; wait exports 0; set v1", 0, ""},
        {ALL, "store v1; set v0", 0, ""},
        /* A 4-bit counter is full at 15: the next instruction stalls. */
        {ALL, "load v1; " LOADS_10 "load v12; load v13; load v14; load v15; use v1", ALL,
         "read-before-wait@15"},
        {ALL, "load v1; " LOADS_10 "load v12; load v13; load v14; load v15; load v16; use v1",
         ALL & ~(GFX6 | GFX7 | GFX8), "read-before-wait@16"},
        /* FLAT increments two counters, and is unordered before gfx10. */
        {ALL & ~GFX6, "flat v1; wait loads 0; use v1", ALL, "read-before-wait@2"},
        {ALL & ~GFX6, "flat v1; wait loads 0; wait lds 0; use v1", 0, ""},
        {ALL & ~GFX6, "flat v1; load v2; wait loads 1; wait lds 0; use v1", GCN, "read-before-wait@4"},
        {ALL & ~GFX6, "load v1; flat v2; wait loads 1; use v1", GCN, "read-before-wait@3"},
        /* Encodings of waits. */
        {GFX10 | GFX103 | GFX11, "load v1; s_waitcnt_vmcnt null, 0x0; use v1", 0, ""},
        {GFX10 | GFX103 | GFX11, "load v1; s_waitcnt_vmcnt null, 0x1; use v1", ALL, "read-before-wait@2"},
        {GFX10 | GFX103 | GFX11, "lds v1; s_waitcnt_lgkmcnt null, 0x0; use v1", 0, ""},
        {GFX10 | GFX103 | GFX11, "load v1; s_waitcnt_vscnt null, 0x0; use v1", ALL, "read-before-wait@2"},
        /* Counts in SGPRs: s8 = 1, s9 = 64 (only 6 bits count), others 0. */
        {GFX10 | GFX103, "load v1; load v2; s_waitcnt_vmcnt s8, 0x0; use v1", 0, ""},
        {GFX10 | GFX103, "load v1; load v2; s_waitcnt_vmcnt s8, 0x0; use v2", ALL, "read-before-wait@3"},
        {GFX10 | GFX103, "load v1; load v2; s_waitcnt_vmcnt s8, 0x1; use v1", ALL, "read-before-wait@3"},
        {GFX10 | GFX103, "load v1; load v2; s_waitcnt_vmcnt s9, 0x0; use v2", 0, ""},
        {GFX10 | GFX103 | GFX11, "load v1; lds v2; s_wait_idle; use v1; use v2", 0, ""},
        {GFX12, "load v1; lds v2; s_wait_loadcnt_dscnt 0x0; use v1; use v2", 0, ""},
        {GFX12, "load v1; lds v2; s_wait_loadcnt_dscnt 0x1; use v1; use v2", ALL, "read-before-wait@4"},
        {GFX12, "load v1; lds v2; s_wait_loadcnt_dscnt 0x100; use v2; use v1", ALL, "read-before-wait@4"},
        {GFX12, "load v1; lds v2; s_wait_storecnt_dscnt 0x0; use v2; use v1", ALL, "read-before-wait@4"},
        {GFX12, "load v1; s_wait_samplecnt 0x0; s_wait_bvhcnt 0x0; use v1", ALL, "read-before-wait@3"},
        /* Cache invalidations do not increment a counter, write-backs do. */
        {GFX9, "load v1; buffer_wbinvl1; wait loads 1; use v1", ALL, "read-before-wait@3"},
        {GFX10 | GFX103 | GFX11, "load v1; buffer_gl0_inv; wait loads 1; use v1", ALL, "read-before-wait@3"},
        {GFX12, "load v1; global_wb; wait loads 1; use v1", ALL, "read-before-wait@3"},
        {GFX12, "load v1; global_inv; wait loads 1; use v1", 0, ""},
        /* Image addresses that are lists of registers. */
        {GFX10 | GFX103 | GFX11,
         "load v9; image_sample_lz v1, [v4, v9], s[8:15], s[16:19] dmask:0x1 dim:SQ_RSRC_IMG_2D", ALL,
         "read-before-wait@1"},
        {GFX10 | GFX103 | GFX11,
         "load v5; image_sample_lz v1, [v4, v9], s[8:15], s[16:19] dmask:0x1 dim:SQ_RSRC_IMG_2D", 0, ""},
        /* Messages with a result, and GDS, which uses address and data after issue. */
        {GFX11, "s_sendmsg_rtn_b32 s8, sendmsg(MSG_RTN_GET_REALTIME); suse s8", ALL, "read-before-wait@1"},
        {GFX11 | GFX12, "s_sendmsg_rtn_b32 s8, sendmsg(MSG_RTN_GET_REALTIME); wait scalar 0; suse s8", 0, ""},
        {GFX6 | GFX7 | GFX8 | GFX10 | GFX103 | GFX11, "ds_add_u32 v1, v2 gds; set v2", ALL,
         "store-data-before-wait@1"},
        {GFX6 | GFX7 | GFX8 | GFX10 | GFX103 | GFX11, "ds_add_u32 v1, v2 gds; wait exports 0; set v1; set v2",
         0, ""},
    };
    run_cases(cases, sizeof cases / sizeof *cases);
}

#define DPP    "v_mov_b32_dpp v2, v1 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf"
#define STORE4 "buffer_store_dwordx4 v[4:7], v0, s[4:7], "

/* Lane masks are operands of that type, or VCC; LLVM, fixVALUMaskWriteHazard. */
static void masks_are_operands(void **state)
{
    (void)state;
    static const struct {
        const char *code, *what;
    } cases[] = {
        {"v_cndmask_b32_e64 v1, v2, v3, s[8:9]; s_mov_b32 s8, s12; s_mov_b32 s13, s8", "mask-write@2"},
        {"v_cndmask_b32_e32 v1, v2, v3, vcc; s_mov_b32 vcc_lo, s12; s_mov_b32 s13, vcc_lo", "mask-write@2"},
        {"v_div_fmas_f32 v1, v2, v3, v4; s_mov_b32 vcc_lo, s12; s_mov_b32 s13, vcc_lo", "mask-write@2"},
        {"v_div_fmas_f32 v1, v2, v3, s8; s_mov_b32 s8, s12; s_mov_b32 s13, s8", ""},
        {"v_fma_f32 v1, v2, v3, s8; s_mov_b32 s8, s12; s_mov_b32 s13, s8", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char found[256];
        check_code("gfx1100:wave64", GFX11, cases[i].code, found, sizeof found);
        assert_string_equal(found, cases[i].what);
    }
}

static void registers_stay_in_their_files(void **state)
{
    (void)state;
    struct wmi_instruction insn = {.operands = 4};
    struct wmi_span_of_registers spans[WMI_SPANS];
    const uint8_t kinds[] = {WMI_OPERAND_SGPR, WMI_OPERAND_TTMP, WMI_OPERAND_VGPR, WMI_OPERAND_AGPR};
    const uint16_t last[] = {105, 15, 1023, 255}, ends[] = {128, 128, 1152, 1408};
    for (unsigned i = 0; i < 4; i++)
        insn.operand[i] = (struct wmi_operand){.kind = kinds[i], .reg = last[i], .dwords = 32, .read = true};
    assert_int_equal(wmi_registers_of(NULL, &insn, spans), 4);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(spans[i].first + spans[i].count, ends[i]);
}

static void hazards(void **state)
{
    (void)state;
    enum { WITH_DPP = GFX8 | GFX9 | GFX940, BEFORE_11 = ALL & ~(GFX11 | GFX12) };
    static const struct code_case cases[] = {
        {ALL, "v_readfirstlane_b32 s4, v1; load v2", WITH_DPP, "valu-sgpr-vmem@1"},
        {ALL, "v_readfirstlane_b32 s4, v1; s_nop 3; load v2", WITH_DPP, "valu-sgpr-vmem@2"},
        {ALL, "v_readfirstlane_b32 s4, v1; s_nop 4; load v2", 0, ""},
        {ALL, "v_readfirstlane_b32 s4, v1; s_mov_b32 s9, 0; s_nop 2; load v2", WITH_DPP, "valu-sgpr-vmem@3"},
        {ALL, "v_readfirstlane_b32 s8, v1; load v2", 0, ""},
        {ALL, "v_readfirstlane_b32 s4, v1; s_nop 2; scalar s9", GFX6, "valu-sgpr-smem@2"},
        {ALL & ~GFX10, "v_readfirstlane_b32 s4, v1; s_nop 3; scalar s9", 0, ""},
        {GFX6 | GFX7 | GFX8 | GFX9, "s_mov_b32 s6, 0; s_buffer_load_dword s9, s[4:7], 0x0", GFX6 | GFX8,
         "salu-sgpr-sbuffer@1"},
        {GFX6 | GFX7 | GFX8 | GFX9, "s_mov_b32 s6, 0; s_nop 0; s_buffer_load_dword s9, s[4:7], 0x0", GFX6,
         "salu-sgpr-sbuffer@2"},
        {GFX6 | GFX7 | GFX8 | GFX9, "s_mov_b32 s6, 0; s_nop 3; s_buffer_load_dword s9, s[4:7], 0x0", 0, ""},
        {BEFORE_11 & ~GFX6, STORE4 "0 offen; set v5", GFX7 | WITH_DPP, "store-data@1"},
        {BEFORE_11 & ~GFX6, STORE4 "0 offen; s_nop 0; set v5", GFX940, "store-data@2"},
        {BEFORE_11 & ~GFX6, STORE4 "0 offen; s_nop 1; set v5", 0, ""},
        {BEFORE_11 & ~GFX6, STORE4 "s8 offen; set v5", 0, ""},
        {BEFORE_11 & ~GFX6, "buffer_store_dwordx2 v[4:5], v0, s[4:7], 0 offen; set v5", 0, ""},
        {GFX9 | GFX940, "global_store_dwordx4 v[10:11], v[4:7], off; set v5", ALL, "store-data@1"},
        {GFX9 | GFX940, "s_mov_b32 m0, s1; ds_read_addtid_b32 v1", ALL, "salu-m0-use@1"},
        {GFX9 | GFX940, "s_mov_b32 m0, s1; s_nop 0; ds_read_addtid_b32 v1", 0, ""},
        {GFX9 | GFX940, "s_mov_b32 m0, s1; ds_read_b32 v1, v0", 0, ""},
        {ALL, "s_mov_b32 m0, s1; s_sendmsg sendmsg(MSG_INTERRUPT)", WITH_DPP, "salu-m0-sendmsg@1"},
        {ALL, "s_mov_b32 m0, s1; s_nop 0; s_sendmsg sendmsg(MSG_INTERRUPT)", 0, ""},
        {ALL & ~(GFX6 | GFX7), "v_mov_b32 v1, v0; s_nop 0; " DPP, WITH_DPP, "vgpr-dpp@2"},
        {ALL & ~(GFX6 | GFX7), "v_mov_b32 v1, v0; s_nop 1; " DPP, 0, ""},
        {GFX8 | GFX9 | GFX940, "v_cmpx_eq_u32 exec, v3, v4; s_nop 3; " DPP, ALL, "exec-dpp@2"},
        {GFX8 | GFX9 | GFX940, "v_cmpx_eq_u32 exec, v3, v4; s_nop 4; " DPP, 0, ""},
        {GCN, "v_cmp_eq_u32 vcc, v3, v4; s_nop 2; v_div_fmas_f32 v1, v2, v3, v4", ALL, "vcc-div-fmas@2"},
        {GCN, "v_cmp_eq_u32 vcc, v3, v4; s_nop 3; v_div_fmas_f32 v1, v2, v3, v4", 0, ""},
        {ALL, "v_readfirstlane_b32 s8, v1; s_nop 2; v_readlane_b32 s9, v2, s8", GCN, "valu-lane-select@2"},
        {ALL, "v_readfirstlane_b32 s8, v1; s_nop 3; v_readlane_b32 s9, v2, s8", 0, ""},
        {GCN, "v_cmp_eq_u32 vcc, v3, v4; s_nop 3; v_mov_b32 v1, src_vccz", ALL, "valu-vccz@2"},
        {GCN, "v_cmp_eq_u32 vcc, v3, v4; s_nop 4; v_mov_b32 v1, src_vccz", 0, ""},
        {BEFORE_11, "s_setreg_b32 hwreg(HW_REG_MODE), s1; s_nop 0; s_getreg_b32 s2, hwreg(HW_REG_MODE)", GCN,
         "setreg-getreg@2"},
        {BEFORE_11, "s_setreg_b32 hwreg(HW_REG_MODE), s1; s_nop 1; s_getreg_b32 s2, hwreg(HW_REG_MODE)", 0,
         ""},
        {BEFORE_11, "s_setreg_b32 hwreg(HW_REG_MODE), s1; s_getreg_b32 s2, hwreg(HW_REG_STATUS)", 0, ""},
        {BEFORE_11, "s_setreg_b32 hwreg(HW_REG_MODE), s1; s_nop 0; s_setreg_b32 hwreg(HW_REG_MODE), s2",
         GFX8 | GFX9 | GFX940, "setreg-setreg@2"},
        {ALL, "load v1; s_mov_b32 s4, 0", GFX10, "vmem-scalar-write@1"},
        {ALL, "lds v1; s_mov_b64 exec, 0", GFX10, "vmem-scalar-write@1"},
        {ALL, "load v1; s_mov_b32 s8, 0", 0, ""},
        {ALL, "load v1; v_mov_b32 v2, 0; s_mov_b32 s4, 0", 0, ""},
        {GFX10, "load v1; s_waitcnt_depctr 0xffe3; s_mov_b32 s4, 0", 0, ""},
        {GFX10, "load v1; s_waitcnt 0; s_mov_b32 s4, 0", 0, ""},
        {GFX10, "load v1; s_nop 4; s_mov_b32 s4, 0", ALL, "vmem-scalar-write@2"},
        {ALL & ~GFX6, "scalar s9; v_readfirstlane_b32 s4, v1", GFX10, "smem-vector-write@1"},
        {ALL & ~GFX6, "scalar s9; s_nop 0; v_readfirstlane_b32 s4, v1", GFX10, "smem-vector-write@2"},
        {ALL & ~GFX6, "scalar s9; s_mov_b32 s10, 0; v_readfirstlane_b32 s4, v1", 0, ""},
        {ALL & ~GFX6, "scalar s9; wait scalar 0; v_readfirstlane_b32 s4, v1", 0, ""},
        {ALL, "lds v1; s_branch 0; load v2", GFX10, "lds-branch-vmem@2"},
        {ALL, "load v1; s_cbranch_scc0 0; lds v2", GFX10, "lds-branch-vmem@2"},
        {ALL, "load v1; s_branch 0; load v2", 0, ""},
        {GFX10, "lds v1; s_branch 0; s_waitcnt_vscnt null, 0x0; load v2", 0, ""},
    };
    run_cases(cases, sizeof cases / sizeof *cases);
}

/* Hazards not covered by LLVM 19's recognizer in tests/oracle/hazards.py. */
static void later_hazards(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        unsigned is;
        const char *code, *expected;
    } cases[] = {
        {"gfx900", GFX9, "s_setreg_b32 hwreg(HW_REG_TRAPSTS), s1; s_rfe_b64 s[2:3]", "setreg-rfe@1"},
        {"gfx900", GFX9, "s_setreg_b32 hwreg(HW_REG_TRAPSTS), s1; s_nop 0; s_rfe_b64 s[2:3]", ""},
        /* EXEC and matrices: 4 wait states. */
        {"gfx908", GFX9, "v_cmpx_eq_u32 exec, v3, v4; s_nop 2; v_mfma_f32_4x4x1f32 a[0:3], v1, v2, a[0:3]",
         "exec-matrix@2"},
        {"gfx90a", GFX9, "v_cmpx_eq_u32 exec, v3, v4; s_nop 3; v_mfma_f32_4x4x1f32 a[0:3], v1, v2, a[0:3]",
         ""},
        /* Dot products: 3, except as C of the same instruction. */
        {"gfx90a", GFX9, "v_dot4_i32_i8 v1, v2, v3, v4; s_nop 1; v_mov_b32 v5, v1", "dot-result@2"},
        {"gfx90a", GFX9, "v_dot4_i32_i8 v1, v2, v3, v4; s_nop 2; v_mov_b32 v5, v1", ""},
        {"gfx90a", GFX9, "v_dot4_i32_i8 v1, v2, v3, v4; v_dot4_i32_i8 v5, v2, v3, v1", ""},
        {"gfx90a", GFX9, "v_dot4_i32_i8 v1, v2, v3, v4; v_dot4_i32_i8 v5, v1, v3, v4", "dot-result@1"},
        {"gfx908", GFX9, "v_dot4_i32_i8 v1, v2, v3, v4; v_mov_b32 v5, v1", ""},
        /* gfx940 */
        {"gfx942", GFX940, "v_readfirstlane_b32 s8, v0; s_nop 0; v_mov_b32 v1, s8", "valu-sgpr-valu@2"},
        {"gfx942", GFX940, "v_readfirstlane_b32 s8, v0; s_nop 1; v_mov_b32 v1, s8", ""},
        {"gfx942", GFX940, "v_mov_b32 v1, v0; v_readfirstlane_b32 s8, v1", "vgpr-readlane@1"},
        {"gfx942", GFX940, "v_cmpx_eq_u32 exec, v3, v4; s_nop 2; v_readfirstlane_b32 s8, v1",
         "exec-rwlane@2"},
        /* gfx950: exchanges between VGPRs, results of part of a VGPR, and one wait state more after matrices.
         */
        {"gfx950", GFX940, "v_mov_b32 v1, v0; s_nop 0; v_permlane16_swap_b32 v1, v2", "valu-swap@2"},
        {"gfx950", GFX940, "v_mov_b32 v2, v0; v_permlane32_swap_b32 v1, v2", "valu-swap@1"},
        {"gfx950", GFX940, "v_mov_b32 v1, v0; s_nop 1; v_permlane16_swap_b32 v1, v2", ""},
        {"gfx950", GFX940, "v_permlane16_swap_b32 v1, v2; v_mov_b32 v3, v1", ""},
        {"gfx950", GFX940, "v_cvt_sr_f16_f32 v1, v2, v3 op_sel:[0,0,1]; v_mov_b32 v4, v1", "part-forward@1"},
        {"gfx950", GFX940, "v_cvt_sr_f16_f32 v1, v2, v3 op_sel:[0,0,1]; s_nop 0; v_mov_b32 v4, v1", ""},
        {"gfx950", GFX940, "v_cvt_sr_f16_f32 v1, v2, v3; v_mov_b32 v4, v1", ""},
        {"gfx950", GFX940, "v_cvt_scalef32_pk_fp4_f16 v1, v2, v3 op_sel:[0,0,0,1]; v_mov_b32 v4, v1",
         "part-forward@1"},
        {"gfx950", GFX940, "v_cvt_scalef32_pk_fp4_f16 v1, v2, v3 op_sel:[0,0,1,0]; v_mov_b32 v4, v1", ""},
        {"gfx950", GFX940, "v_cvt_scalef32_sr_pk_fp4_f16 v1, v2, v3, v4; v_mov_b32 v5, v1", "part-forward@1"},
        {"gfx942", GFX940,
         "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]; s_nop 6; v_mov_b32 v9, v0", ""},
        {"gfx950", GFX940,
         "v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]; s_nop 6; v_mov_b32 v12, v0",
         "matrix-read@2"},
        {"gfx950", GFX940,
         "v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]; s_nop 7; v_mov_b32 v12, v0", ""},
        {"gfx950", GFX940,
         "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:17], v[0:3] blgp:2; s_nop 10; v_mov_b32 v20, v0",
         "matrix-read@2"},
        {"gfx950", GFX940,
         "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:17], v[0:3] blgp:2; s_nop 11; v_mov_b32 v20, v0",
         ""},
        {"gfx950", GFX940,
         "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:9], v[12:15], v[0:3] cbsz:3 blgp:4; s_nop 6; v_mov_b32 "
         "v20, v0",
         "matrix-read@2"},
        {"gfx950", GFX940,
         "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:9], v[12:15], v[0:3] cbsz:3 blgp:4; s_nop 7; v_mov_b32 "
         "v20, v0",
         ""},
        {"gfx950", GFX940,
         "v_mfma_f64_16x16x4_f64 v[0:7], v[8:9], v[10:11], v[0:7]; s_nop 15; s_nop 1; v_mov_b32 v20, v0",
         "matrix-read@3"},
        {"gfx950", GFX940,
         "v_mfma_f64_16x16x4_f64 v[0:7], v[8:9], v[10:11], v[0:7]; s_nop 15; s_nop 2; v_mov_b32 v20, v0", ""},
        /* RDNA's matrix instructions must be separated by a vector instruction. */
        {"gfx1100", GFX11,
         "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]; v_wmma_f32_16x16x16_f16 v[24:31], "
         "v[0:7], "
         "v[16:23], v[24:31]",
         "wmma@1"},
        {"gfx1100", GFX11,
         "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]; v_nop; v_wmma_f32_16x16x16_f16 "
         "v[24:31], "
         "v[0:7], v[16:23], v[24:31]",
         ""},
        {"gfx1100", GFX11,
         "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]; v_wmma_f32_16x16x16_f16 v[0:7], "
         "v[8:15], "
         "v[16:23], v[0:7]",
         ""},
        /* gfx12.5 executes vector instructions beside a WMMA: LLVM, wmma-coexecution-valu-hazards.mir. */
        {"gfx1250", GFX12,
         "v_wmma_f32_16x16x32_f16 v[16:23], v[0:7], v[8:15], v[16:23]; v_nop; v_nop; v_nop; v_add_f32 v25, "
         "v24, v16",
         "wmma-busy@4"},
        {"gfx1250", GFX12,
         "v_wmma_f32_16x16x32_f16 v[16:23], v[0:7], v[8:15], v[16:23]; v_nop; v_nop; v_nop; v_nop; v_add_f32 "
         "v25, v24, v16",
         ""},
        {"gfx1250", GFX12,
         "v_wmma_f32_16x16x32_f16 v[16:23], v[0:7], v[8:15], v[16:23]; v_nop; v_nop; v_nop; s_mov_b32 s0, 0; "
         "v_add_f32 v25, v24, v16",
         "wmma-busy@5"},
        {"gfx1250", GFX12,
         "v_wmma_f32_16x16x32_f16 v[16:23], v[0:7], v[8:15], v[16:23]; v_nop; v_nop; v_nop; v_add_f32 v16, "
         "v24, v25",
         "wmma-busy@4"},
        {"gfx1250", GFX12,
         "v_wmma_f32_16x16x32_f16 v[16:23], v[0:7], v[8:15], v[16:23]; v_nop; v_nop; v_nop; v_add_f32 v0, "
         "v24, v25",
         "wmma-busy@4"},
        {"gfx1250", GFX12,
         "v_wmma_f32_16x16x32_f16 v[16:23], v[0:7], v[8:15], v[16:23]; v_nop; v_nop; v_nop; v_add_f32 v25, "
         "v0, v8",
         ""},
        {"gfx1250", GFX12,
         "v_wmma_f32_16x16x32_f16 v[16:23], v[0:7], v[8:15], v[16:23]; v_nop; v_nop; v_nop; v_nop; "
         "v_wmma_f32_16x16x32_f16 v[32:39], v[16:23], v[8:15], v[32:39]",
         "wmma-busy@5"},
        {"gfx1250", GFX12,
         "v_wmma_f32_16x16x32_f16 v[16:23], v[0:7], v[8:15], v[16:23]; v_nop; v_nop; v_nop; v_nop; v_nop; "
         "v_wmma_f32_16x16x32_f16 v[32:39], v[16:23], v[8:15], v[32:39]",
         ""},
        {"gfx1250", GFX12,
         "v_wmma_f32_16x16x32_f16 v[16:23], v[0:7], v[8:15], v[16:23]; v_wmma_f32_16x16x32_f16 v[16:23], "
         "v[0:7], v[8:15], v[16:23]",
         ""},
        {"gfx1250", GFX12,
         "v_wmma_f32_16x16x32_f16 v[16:23], v[0:7], v[8:15], v[16:23]; global_store_b32 v[40:41], v16, off",
         ""},
        {"gfx1250", GFX12,
         "v_wmma_i32_16x16x64_iu8 v[16:23], v[0:7], v[8:15], v[16:23]; v_nop; v_nop; v_nop; v_nop; v_nop; "
         "v_nop; v_nop; v_add_f32 v25, v24, v16",
         "wmma-busy@8"},
        {"gfx1250", GFX12,
         "v_wmma_i32_16x16x64_iu8 v[16:23], v[0:7], v[8:15], v[16:23]; v_nop; v_nop; v_nop; v_nop; v_nop; "
         "v_nop; v_nop; v_nop; v_add_f32 v25, v24, v16",
         ""},
        {"gfx1250", GFX12,
         "v_wmma_f32_16x16x64_fp8_fp8 v[16:23], v[0:7], v[8:15], v[16:23]; v_nop; v_add_f32 v25, v24, v16",
         ""},
        {"gfx1250", GFX12,
         "v_swmmac_f32_16x16x64_f16 v[24:31], v[0:7], v[8:23], v32; v_nop; v_mov_b32 v32, v1", "wmma-busy@2"},
        {"gfx1250", GFX12,
         "v_swmmac_f32_16x16x64_f16 v[24:31], v[0:7], v[8:23], v32; v_nop; v_nop; v_mov_b32 v32, v1", ""},
        {"gfx1250", GFX12,
         "v_wmma_f32_16x16x4_f32 v[16:23], v[0:1], v[8:9], v[16:23]; v_add_f32 v25, v24, v16", ""},
        /* LDSDIR encodes how many vector instructions may be outstanding. */
        {"gfx1100", GFX11, "v_mov_b32 v2, v1; lds_direct_load v1 wait_vdst:1", "ldsdir-valu@1"},
        {"gfx1100", GFX11, "v_mov_b32 v2, v1; lds_direct_load v1 wait_vdst:0", ""},
        {"gfx1100", GFX11, "v_mov_b32 v2, v1; v_mov_b32 v4, v5; lds_direct_load v1 wait_vdst:1", ""},
        {"gfx1100", GFX11, "v_mov_b32 v2, v1; v_sqrt_f32 v4, v5; lds_direct_load v1 wait_vdst:1",
         "ldsdir-valu@2"},
        {"gfx1100", GFX11, "ds_store_b32 v1, v2; lds_direct_load v2 wait_vdst:0", "ldsdir-vmem@1"},
        {"gfx1100", GFX11, "ds_store_b32 v1, v2; s_waitcnt_depctr 0xffe3; lds_direct_load v2 wait_vdst:0",
         ""},
        {"gfx1200", GFX12, "ds_store_b32 v1, v2; ds_direct_load v2 wait_va_vdst:0 wait_vm_vsrc:1",
         "ldsdir-vmem@1"},
        {"gfx1200", GFX12, "ds_store_b32 v1, v2; ds_direct_load v2 wait_va_vdst:0 wait_vm_vsrc:0", ""},
        /* SGPRs read by vector instructions, on gfx12: AMDGPUWaitSGPRHazards of LLVM 20. */
        {"gfx1200", GFX12, "v_mov_b32 v1, s2; s_mov_b32 s2, 0; v_mov_b32 v1, s2", "valu-read-sgpr@2"},
        {"gfx1200", GFX12, "v_mov_b32 v1, s2; s_mov_b32 s2, 0; s_mov_b32 s9, s2", "valu-read-sgpr@2"},
        {"gfx1200", GFX12, "v_mov_b32 v1, s3; s_mov_b32 s2, 0; v_mov_b32 v1, s2", "valu-read-sgpr@2"},
        {"gfx1200", GFX12, "s_mov_b32 s2, 0; v_mov_b32 v1, s2; v_mov_b32 v2, s2", ""},
        {"gfx1200", GFX12, "v_mov_b32 v1, s2; s_mov_b32 s2, 0; s_wait_alu 0xfffe; v_mov_b32 v1, s2", ""},
        {"gfx1200", GFX12, "v_mov_b32 v1, s2; s_mov_b32 s2, 0; s_wait_alu 0xf1ff; v_mov_b32 v1, s2",
         "valu-read-sgpr@3"},
        {"gfx1200", GFX12, "v_mov_b32 v1, s2; v_readfirstlane_b32 s2, v3; v_mov_b32 v1, s2",
         "valu-read-sgpr@2"},
        {"gfx1200", GFX12,
         "v_mov_b32 v1, s2; v_readfirstlane_b32 s2, v3; s_wait_alu 0xf1ff; v_mov_b32 v1, s2", ""},
        {"gfx1200", GFX12, "v_mov_b32 v1, s2; v_readfirstlane_b32 s2, v3; s_mov_b32 s9, s2", ""},
        {"gfx1200", GFX12, "v_mov_b32 v1, vcc_lo; v_cmp_eq_u32 vcc_lo, v3, v4; v_mov_b32 v1, vcc_lo",
         "valu-read-sgpr@2"},
        {"gfx1200", GFX12,
         "v_mov_b32 v1, vcc_lo; v_cmp_eq_u32 vcc_lo, v3, v4; s_wait_alu 0xfffd; v_mov_b32 v1, vcc_lo", ""},
        {"gfx1200", GFX12, "v_mov_b32 v1, s2; s_mov_b32 s2, 0; scalar s9; v_mov_b32 v1, s2", ""},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char found[256];
        check_code(cases[c].target, cases[c].is, cases[c].code, found, sizeof found);
        if (strcmp(found, cases[c].expected))
            fail_msg("%s: %s: found \"%s\", not \"%s\"", cases[c].target, cases[c].code, found,
                     cases[c].expected);
    }
}

/* Messages name the register, the instruction and the wait in the target's syntax. */
static void says_what_is_missing(void **state)
{
    (void)state;
    static const struct {
        const char *target, *code, *expected;
    } cases[] = {
        {"gfx900", "ds_read_b32 v1, v0\nds_read_b32 v2, v0\nv_mov_b32 v3, v1\n",
         "v1 is read before its data is there: 's_waitcnt lgkmcnt(1)' is missing after 'ds_read_b32 v1, v0', "
         "2 "
         "instructions before"},
        {"gfx1200", "ds_load_b32 v1, v0\nv_mov_b32 v3, v1\n",
         "v1 is read before its data is there: 's_wait_dscnt 0x0' is missing after 'ds_load_b32 v1, v0', 1 "
         "instruction before"},
        {"gfx900", "v_readfirstlane_b32 s5, v0\ns_nop 1\nbuffer_load_dword v1, v0, s[4:7], 0 offen\n",
         "s5 was written by a vector instruction and is read by vector memory: 3 wait states are missing "
         "after "
         "'v_readfirstlane_b32 s5, v0' ('s_nop 2' between them)"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint8_t *bytes;
        size_t length, count;
        char *messages;
        struct wm_diag diag;
        struct wmi_instruction insn;
        void *wave = NULL;
        assert_int_equal(wm_assemble(cases[c].code, strlen(cases[c].code), "code", cases[c].target,
                                     WM_ASSEMBLE_RAW, &bytes, &length, &messages, &diag),
                         WM_OK);
        struct wm_check *check = wmi_check_create(WM_CHECK_WAITS | WM_CHECK_HAZARDS);
        const struct wmi_target *t = wmi_target_find(cases[c].target);
        struct wmi_check_observer observers[WMI_CHECKERS];
        assert_int_equal(
            1,
            wmi_check_begin(check, &(struct wmi_check_dispatch){.target = t, .kernel = "k", .profiled = true},
                            observers));
        const struct wmi_observer *observer = observers[0].observer;
        void *local = observer->thread_begin(observer->self);
        unsigned index = 0;
        for (size_t at = 0; at < length; at += 4u * insn.dwords, index++) {
            assert_true(wmi_decode(t, (const uint32_t *)(bytes + at), (length - at) / 4, &insn));
            wmi_print(t, &insn, texts[index], sizeof texts[index]);
            observer->execute(local, &wave, observer->decoded(observer->self, 4 * index, &insn), scalars);
        }
        observer->thread_end(observer->self, local);
        wmi_check_end(check, &(struct wmi_check_ran){0}, describe, NULL, NULL, NULL);
        const struct wm_finding *findings = wmi_check_findings(check, &count);
        assert_int_equal(count, 1);
        assert_string_equal(findings->message, cases[c].expected);
        wmi_check_destroy(check);
        free(bytes);
        free(messages);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(model_knows_what_is_sure),
        cmocka_unit_test(waits),
        cmocka_unit_test(hazards),
        cmocka_unit_test(later_hazards),
        cmocka_unit_test(masks_are_operands),
        cmocka_unit_test(registers_stay_in_their_files),
        cmocka_unit_test(says_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
