/* SPDX-License-Identifier: MIT */
/* What the check of waits and hazards remembers by path against the model, which executes every instruction
 * of every wave: random walks of many waves through blocks of random instructions, with EXEC changing.
 *
 * The check that looks for needless waits, too, does not remember anything. */
#include "base/random.h"
#include "check/check.h"
#include "isa/rules/registers.h"
#include "reduced.h"
#include "wavemem/wavemem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "unit/ok.h"

enum { BLOCKS = 6, BLOCK = 12, WAVES = 40, STEPS = 60, INSTRUCTIONS = BLOCKS * BLOCK };

struct code {
    const struct wmi_target *target;
    struct wmi_instruction insn[INSTRUCTIONS + 1]; /* the last one ends the wave */
};

static const char *const gfx9[] = {
    "v_add_u32 v%u, v%u, v%u",
    "v_mov_b32 v%u, v%u",
    "v_readfirstlane_b32 s4, v%u",
    "v_mov_b32_dpp v%u, v%u quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
    "s_add_u32 s%u, s%u, s8",
    "s_load_dword s%u, s[16:17], 0x0",
    "global_load_dword v%u, v[10:11], off",
    "global_load_dwordx2 v[%u:%u], v[10:11], off",
    "global_store_dword v[10:11], v%u, off",
    "flat_load_dword v%u, v[10:11]",
    "ds_read_b32 v%u, v12",
    "ds_write_b32 v12, v%u",
    "v_mfma_f32_4x4x1f32 a[0:3], v%u, v%u, a[0:3]",
    "s_waitcnt vmcnt(%u)",
    "s_waitcnt lgkmcnt(%u)",
    "s_waitcnt vmcnt(0) lgkmcnt(0)",
    "s_nop %u",
};
static const char *const gfx10[] = {
    "v_add_nc_u32 v%u, v%u, v%u",
    "v_mov_b32 v%u, v%u",
    "s_load_dword s%u, s[16:17], 0x0",
    "global_load_dword v%u, v[10:11], off",
    "global_store_dword v[10:11], v%u, off",
    "flat_load_dword v%u, v[10:11]",
    "ds_read_b32 v%u, v12",
    "ds_write_b32 v12, v%u",
    "s_waitcnt vmcnt(%u)",
    "s_waitcnt_vscnt null, %u",
    "s_waitcnt_vscnt s5, 0x0",
    "s_waitcnt lgkmcnt(%u)",
    "s_waitcnt vmcnt(0) lgkmcnt(0)",
};

static uint64_t random_state;

static uint32_t some(uint32_t below)
{
    return wmi_random_u32(7, random_state++) % below;
}

/* Writes an instruction with random registers v0 to v3 and s0 to s3. */
static void make_text(const char *form, char *text, size_t size)
{
    if (strstr(form, "v[%u:%u]")) {
        const unsigned first = 2 * some(2);
        snprintf(text, size, form, first, first + 1);
    } else {
        snprintf(text, size, form, some(4), some(4), some(4)); // NOLINT: forms with up to three numbers
    }
}

static void make_code(const char *target, const char *const *forms, unsigned count, struct code *code)
{
    code->target = wmi_target_find(target);
    for (unsigned i = 0; i <= INSTRUCTIONS; i++) {
        char text[128], *messages;
        uint8_t *bytes;
        size_t size;
        uint32_t words[WMI_INSTRUCTION_DWORDS] = {0};
        if (i < INSTRUCTIONS)
            make_text(forms[some(count)], text, sizeof text);
        else
            snprintf(text, sizeof text, "s_endpgm");
        OK(wm_assemble(text, strlen(text), "text", target, WM_ASSEMBLE_RAW, &bytes, &size, &messages, &diag));
        memcpy(words, bytes, size);
        assert_true(wmi_decode(code->target, words, size / 4, &code->insn[i]));
        free(bytes);
        free(messages);
    }
}

static void describe(void *user, unsigned id, struct wm_profile_row *row)
{
    (void)user, (void)id;
    row->text = row->kernel = "";
    row->offset = row->pc;
}

/* Executes the instruction, and tells where an access of FLAT went. */
static void execute(const struct wmi_observer *observer, void *local, void **wave, uint32_t number,
                    const struct wmi_instruction *insn, const uint32_t *scalars)
{
    observer->execute(local, wave, number, scalars);
    struct wmi_access access = {.pc = number, .path = WMI_PATH_FLAT, .lanes = 1, .elements = 1};
    access.element[0].mask = 1;
    access.element[0].space = some(2) ? WMI_SPACE_LDS : WMI_SPACE_GLOBAL;
    if (wmi_rows[insn->id].class == WMI_CLASS_FLAT)
        observer->access(local, &access, 0);
}

/* The waves' walks. */
static struct wm_check *walk(const struct code *code, unsigned what, uint64_t seed)
{
    static const uint64_t masks[] = {UINT64_MAX, UINT64_MAX, UINT32_MAX, 0x0ff0, UINT64_C(0xf0f0) << 32, 0};
    struct wm_check *check = wmi_check_create(what);
    struct wmi_check_observer observers[WMI_CHECKERS];
    assert_int_equal(
        wmi_check_begin(check,
                        &(struct wmi_check_dispatch){.target = code->target, .kernel = "k", .profiled = true},
                        observers),
        1);
    const struct wmi_observer *observer = observers[0].observer;
    void *local = observer->thread_begin(observer->self);
    uint32_t scalars[256] = {0};
    for (unsigned i = 0; i <= INSTRUCTIONS; i++)
        assert_int_equal(observer->decoded(observer->self, i, &code->insn[i]), i);
    for (unsigned w = 0; w < WAVES; w++) {
        void *wave = NULL;
        random_state = seed + 1000 * (w % 7); /* some waves take the same path */
        for (unsigned step = 0; step < STEPS; step++) {
            const unsigned block = some(BLOCKS);
            /* others have the same instructions and other lanes */
            const uint64_t exec =
                masks[wmi_random_u32(9, seed + w / 14 * 1000 + step) % (sizeof masks / sizeof *masks)];
            for (unsigned i = 0; i < BLOCK; i++) {
                if (some(BLOCK) == 0 || i == 0) {
                    scalars[WMI_REGISTER_EXEC] = (uint32_t)exec;
                    scalars[WMI_REGISTER_EXEC + 1] = (uint32_t)(exec >> 32);
                    scalars[5] = some(3);
                }
                const unsigned number = block * BLOCK + i;
                execute(observer, local, &wave, number, &code->insn[number], scalars);
            }
        }
        execute(observer, local, &wave, INSTRUCTIONS, &code->insn[INSTRUCTIONS], scalars);
        assert_null(wave);
    }
    observer->thread_end(observer->self, local);
    wmi_check_end(check, &(struct wmi_check_ran){0}, describe, NULL, NULL, NULL);
    return check;
}

/* The next finding that is not about a needless wait; advances *i. */
static const struct wm_finding *next(const struct wm_finding *findings, size_t count, size_t *i)
{
    while (*i < count && !strcmp(findings[*i].rule, "needless-wait"))
        ++*i;
    return *i < count ? &findings[(*i)++] : NULL;
}

static size_t compare(const char *target, const char *const *forms, unsigned count, uint64_t seed)
{
    static struct code code;
    size_t counts[2], at[2] = {0, 0}, compared = 0;
    random_state = seed;
    make_code(target, forms, count, &code);
    struct wm_check *one = walk(&code, WM_CHECK_WAITS | WM_CHECK_HAZARDS, seed),
                    *other = walk(&code, WM_CHECK_WAITS | WM_CHECK_HAZARDS | WM_CHECK_NEEDLESS, seed);
    const struct wm_finding *paths = wmi_check_findings(one, &counts[0]),
                            *model = wmi_check_findings(other, &counts[1]);
    for (;; compared++) {
        const struct wm_finding *a = next(paths, counts[0], &at[0]), *b = next(model, counts[1], &at[1]);
        if (!a && !b)
            break;
        assert_true(a && b);
        assert_string_equal(a->rule, b->rule);
        assert_string_equal(a->message, b->message);
        assert_int_equal(a->offset, b->offset);
        assert_int_equal(a->count, b->count);
    }
    wmi_check_destroy(one);
    wmi_check_destroy(other);
    return compared;
}

static void same_findings(void **state)
{
    (void)state;
    size_t found = 0;
    for (uint64_t seed = 1; seed <= (reduced() ? 4 : 20); seed++) {
        found += compare("gfx908", gfx9, sizeof gfx9 / sizeof *gfx9, seed << 32);
        found += compare("gfx1030", gfx10, sizeof gfx10 / sizeof *gfx10, seed << 32);
    }
    assert_true(found > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_findings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
