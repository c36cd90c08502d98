/* SPDX-License-Identifier: MIT */
/* Wait counters: the counters that `wavemem isa` lists for an instruction against those that the checker's
 * model increments, for every row of every target. tests/oracle/waits.py compares the former with LLVM. */
#include "check/waits/wait_state.h"
#include "isa/text/explain.h"
#include "wavemem/wavemem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct {
    const struct wmi_target *target;
    unsigned compared, wrong;
    bool *there, *seen; /* by row: the target has it; a form of it was compared */
} all;

/* The counters named in the text before `end`, one bit per enum wmi_counter. */
static unsigned named(const char *text, const char *end)
{
    unsigned found = 0;
    for (unsigned counter = 0; counter < WMI_COUNTER_COUNT; counter++) {
        char wait[64];
        if (!wmi_counter_largest(all.target, counter))
            continue;
        /* "s_wait_loadcnt 0x0", "s_waitcnt vmcnt(0)", "s_waitcnt_vscnt null, 0x0" */
        wmi_wait_text(all.target, counter, 0, wait, sizeof wait);
        char *name = wait + strlen(wait[6] == '_' ? "s_wait_" : "s_waitcnt ");
        name[strcspn(name, "( ")] = '\0';
        for (const char *at = text; (at = strstr(at, name)) && at < end; at++)
            found |= (at == text || at[-1] == ' ') << counter;
    }
    return found;
}

/* The counters that the text lists for an instruction with or without return value, and with or without
 * gds. */
static unsigned says(const char *text, bool returns, bool gds)
{
    static const char otherwise[] = " if it returns a value, else ", with_gds[] = "; with gds ";
    const char *other = strstr(text, otherwise), *global = strstr(text, with_gds);
    if (global && gds)
        return named(global + strlen(with_gds), text + strlen(text));
    if (other && returns)
        return named(text, other);
    return named(other ? other + strlen(otherwise) : text, global ? global : text + strlen(text));
}

/* The counters that the checker's model of a wave increments. */
static unsigned raised(const struct wmi_instruction *insn)
{
    static struct wmi_wait_state state;
    struct wmi_span_of_registers spans[WMI_SPANS];
    const struct wmi_wait_facts facts = wmi_wait_facts_of(all.target, insn);
    unsigned found = 0;
    memset(&state, 0, sizeof state);
    state.target = all.target;
    wmi_wait_issue(&state, &facts, spans, wmi_registers_of(all.target, insn, spans), 0, UINT64_MAX);
    for (unsigned counter = 0; counter < WMI_COUNTER_COUNT; counter++)
        for (unsigned order = 0; order < WMI_ORDER_COUNT; order++)
            found |= (state.issued[counter][order] != 0) << counter;
    return found;
}

static bool returns(const struct wmi_instruction *insn)
{
    for (unsigned i = 0; i < insn->operands; i++)
        if (insn->operand[i].written &&
            (insn->operand[i].kind == WMI_OPERAND_VGPR || insn->operand[i].kind == WMI_OPERAND_AGPR))
            return true;
    return false;
}

static void compare(const struct wm_isa_form *form, const uint32_t *words)
{
    struct wmi_instruction insn;
    char text[WM_ISA_WAIT];
    if (!wmi_decode(all.target, words, WMI_INSTRUCTION_DWORDS, &insn) || insn.id != form->row + 1)
        return;
    wm_isa_wait(form->row, wmi_target_name(all.target), text, sizeof text);
    const unsigned want = says(text, returns(&insn), insn.field[WMI_FIELD_gds]), got = raised(&insn);
    all.seen[form->row] = true;
    all.compared++;
    if (want != got && all.wrong++ < 20)
        printf("%s %s (%08x %08x): isa says '%s', 0x%x; the checker raises 0x%x\n",
               wmi_target_name(all.target), form->name, words[0], words[1], text, want, got);
}

static void set_bits(uint32_t *words, const struct wm_isa_bits *bits, uint32_t value)
{
    words[bits->position / 32] |= value << bits->position % 32;
}

/* The form with all other bits 0, and with each of the fields that may affect counters. */
static bool visit(void *user, const struct wm_isa_form *form)
{
    static const char *const fields[] = {"glc", "th", "gds", "lds", "dmask"};
    uint32_t words[WMI_INSTRUCTION_DWORDS] = {0}, plain[WMI_INSTRUCTION_DWORDS];
    (void)user;
    all.there[form->row] = true;
    for (unsigned i = 0; i < form->bits_count; i++)
        if (form->bits[i].fixed)
            set_bits(words, &form->bits[i], form->bits[i].value);
    memcpy(plain, words, sizeof plain);
    compare(form, words);
    for (unsigned i = 0; i < form->bits_count; i++)
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
            if (!form->bits[i].fixed && !strcmp(form->bits[i].name, fields[f])) {
                memcpy(words, plain, sizeof words);
                set_bits(words, &form->bits[i], 1);
                compare(form, words);
            }
    return true;
}

static void isa_and_checker_agree(void **state)
{
    const char *name;
    const size_t rows = wm_isa_row_count();
    unsigned unseen = 0;
    (void)state;
    all.seen = calloc(rows, sizeof *all.seen);
    all.there = calloc(rows, sizeof *all.there);
    assert_non_null(all.seen);
    assert_non_null(all.there);
    for (size_t i = 0; (name = wm_target_at(i)); i++) {
        char text[WM_ISA_WAIT];
        all.target = wmi_target_find(name);
        memset(all.there, 0, rows * sizeof *all.there);
        memset(all.seen, 0, rows * sizeof *all.seen);
        wm_isa_forms(name, visit, NULL);
        for (size_t row = 0; row < rows; row++)
            if (all.there[row] && !all.seen[row] && wm_isa_wait(row, name, text, sizeof text) &&
                unseen++ < 20)
                printf("%s %s: raises '%s', but was not compared\n", name, wmi_rows[row + 1].name, text);
    }
    free(all.seen);
    free(all.there);
    assert_int_equal(all.wrong, 0);
    assert_int_equal(unseen, 0);
    assert_true(all.compared > 50000);
}

/* Cases where the two disagreed, or both were wrong. Source: LLVM, SIInsertWaitcnts.cpp; for global_wb and
 * buffer_wbl2 LLVM 22, AMDGPUHWEvents.cpp, for s_get_barrier_state also linux,
 * cwsr_trap_handler_gfx12.asm; for scalar prefetches RDNA 4 ISA, "Scalar Prefetch Instructions". */
static void what_they_disagreed_on(void **state)
{
    static const struct {
        const char *target;
        enum wmi_insn_id id;
        const char *raises;
    } cases[] = {
        {"gfx1200", WMI_INSN_global_wb, "storecnt"},
        {"gfx1200", WMI_INSN_global_wbinv, "storecnt"},
        {"gfx1200", WMI_INSN_global_inv, "loadcnt"},
        {"gfx900", WMI_INSN_s_dcache_wb, "lgkmcnt"},
        {"gfx900", WMI_INSN_s_dcache_inv, "lgkmcnt"},
        {"gfx1200", WMI_INSN_s_prefetch_data, ""},
        {"gfx1200", WMI_INSN_image_msaa_load, "samplecnt"},
        {"gfx1030", WMI_INSN_global_atomic_add, "vmcnt if it returns a value, else vscnt"},
        {"gfx900", WMI_INSN_buffer_wbinvl1_vol, ""},
        {"gfx1030", WMI_INSN_buffer_gl0_inv, ""},
        {"gfx90a", WMI_INSN_buffer_wbl2, "vmcnt"},
        {"gfx942", WMI_INSN_buffer_inv, ""},
        {"gfx1200", WMI_INSN_s_get_barrier_state, "kmcnt"},
        {"gfx900", WMI_INSN_ds_gws_barrier, "lgkmcnt, and expcnt until its data may be overwritten"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[WM_ISA_WAIT];
        const bool raises = wm_isa_wait(cases[i].id - 1u, cases[i].target, text, sizeof text);
        assert_string_equal(text, cases[i].raises);
        assert_int_equal(raises, *text != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(isa_and_checker_agree),
        cmocka_unit_test(what_they_disagreed_on),
    };
    return cmocka_run_group_tests_name("wait counters", tests, NULL, NULL);
}
