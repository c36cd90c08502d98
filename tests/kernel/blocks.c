/* SPDX-License-Identifier: MIT */
/* Checks waits and hazards of compiled code for any target, block by block and without running it. LLVM
 * inserts all required waits and wait states, so there must be no findings within a block.
 *
 * usage: blocks [--without-waits] OBJECT...
 *
 * A block starts with no outstanding memory instruction, which can only hide errors. --without-waits ignores
 * waits and s_nop: then there must be many findings. */
#include "check/check.h"
#include "isa/rules/registers.h"
#include "wavemem/wavemem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTIONS = 16, TEXT = 256 };

static bool without_waits;
static const struct wmi_target *described; /* for describe(): the code that pc is an offset into */
static const uint8_t *described_bytes;
static size_t described_size;

static void describe(void *user, unsigned id, struct wm_profile_row *row)
{
    static char text[TEXT];
    struct wmi_instruction insn;
    uint32_t words[WMI_INSTRUCTION_DWORDS] = {0};
    const size_t left = described_size - row->pc;
    (void)user, (void)id;
    memcpy(words, described_bytes + row->pc, left < sizeof words ? left : sizeof words);
    text[0] = 0;
    if (wmi_decode(described, words, left / 4, &insn))
        wmi_print(described, &insn, text, sizeof text);
    row->text = text;
    row->kernel = "";
    row->offset = row->pc;
}

/* Marks the branch targets in the code. */
static void mark_targets(const struct wmi_target *target, const uint8_t *bytes, size_t size, bool *begins)
{
    struct wmi_instruction insn;
    for (size_t at = 0; at < size; at += insn.dwords ? 4u * insn.dwords : 4) {
        uint32_t words[WMI_INSTRUCTION_DWORDS] = {0};
        const size_t left = size - at;
        memcpy(words, bytes + at, left < sizeof words ? left : sizeof words);
        if (!wmi_decode(target, words, left / 4, &insn)) {
            insn.dwords = 0;
            continue;
        }
        for (unsigned i = 0; i < insn.operands; i++) {
            if (insn.operand[i].kind != WMI_OPERAND_LABEL)
                continue;
            const int64_t to = (int64_t)at + 4 * (insn.dwords + (int64_t)insn.operand[i].value);
            begins[(at + 4u * insn.dwords) / 4] = true;
            if (to >= 0 && to < (int64_t)size)
                begins[to / 4] = true;
        }
        if (wmi_rows[insn.id].flags & WMI_ROW_ENDS || !strncmp(wmi_rows[insn.id].name, "s_setpc", 7) ||
            !strncmp(wmi_rows[insn.id].name, "s_swappc", 8))
            begins[(at + 4u * insn.dwords) / 4] = true;
    }
}

/* Prints each finding and returns their number; adds to *instructions. */
static size_t check_code(const char *name, const struct wmi_target *target, const uint8_t *bytes, size_t size,
                         size_t *instructions)
{
    static const uint32_t scalars[256] = {[WMI_REGISTER_EXEC] = UINT32_MAX,
                                          [WMI_REGISTER_EXEC + 1] = UINT32_MAX};
    bool *begins = calloc(size / 4 + 8, sizeof *begins);
    struct wm_check *check = wmi_check_create(WM_CHECK_WAITS | WM_CHECK_HAZARDS);
    struct wmi_check_observer observers[WMI_CHECKERS];
    (void)(wmi_check_begin(
        check, &(struct wmi_check_dispatch){.target = target, .kernel = "k", .profiled = true}, observers));
    const struct wmi_observer *observer = observers[0].observer;
    void *local = observer->thread_begin(observer->self), *wave = NULL;
    struct wmi_instruction insn;
    size_t count;
    mark_targets(target, bytes, size, begins);
    for (size_t at = 0; at < size; at += insn.dwords ? 4u * insn.dwords : 4) {
        uint32_t words[WMI_INSTRUCTION_DWORDS] = {0};
        const size_t left = size - at;
        if (begins[at / 4])
            wave = NULL; /* a new wave; the checker owns the old one until the end */
        memcpy(words, bytes + at, left < sizeof words ? left : sizeof words);
        if (!wmi_decode(target, words, left / 4, &insn)) {
            insn.dwords = 0;
            wave = NULL;
            continue;
        }
        if (without_waits && (!strncmp(wmi_rows[insn.id].name, "s_wait", 6) || insn.id == WMI_INSN_s_nop))
            continue;
        observer->execute(local, &wave, observer->decoded(observer->self, at, &insn), scalars);
        if (wmi_rows[insn.id].class == WMI_CLASS_FLAT) /* LLVM usually knows the address space: memory */
            observer->access(local, &(struct wmi_access){.pc = at, .path = WMI_PATH_FLAT}, 0);
        ++*instructions;
    }
    observer->thread_end(observer->self, local);
    described = target;
    described_bytes = bytes;
    described_size = size;
    wmi_check_end(check, &(struct wmi_check_ran){0}, describe, NULL, NULL, NULL);
    const struct wm_finding *findings = wmi_check_findings(check, &count);
    size_t all = 0;
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(findings[i].rule, "valu-read-sgpr")) /* unknown to LLVM 19 */
            continue;
        all++;
        if (without_waits)
            continue;
        printf("%s: +0x%llx %s: %s\n", name, (unsigned long long)findings[i].offset, findings[i].text,
               findings[i].message);
    }
    wmi_check_destroy(check);
    free(begins);
    return all;
}

int main(int argc, char **argv)
{
    size_t findings = 0, instructions = 0;
    without_waits = argc > 1 && !strcmp(argv[1], "--without-waits");
    for (int i = 1 + without_waits; i < argc; i++) {
        struct wm_diag diag;
        struct wm_object *object;
        struct wm_code code[SECTIONS];
        if (wm_object_open_file(argv[i], NULL, &object, &diag)) {
            fprintf(stderr, "%s\n", diag.message);
            return 2;
        }
        const struct wmi_target *target = wmi_target_find(wm_object_target(object));
        size_t sections = wm_object_code(object, code, SECTIONS);
        for (size_t s = 0; s < sections && s < SECTIONS; s++)
            findings += check_code(argv[i], target, code[s].bytes, code[s].size, &instructions);
        wm_object_close(object);
    }
    printf("%zu instructions, %zu findings\n", instructions, findings);
    if (instructions < 1000)
        return 1;
    return without_waits ? findings < instructions / 50 : findings != 0;
}
