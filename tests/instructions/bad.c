/* SPDX-License-Identifier: MIT */
/* Messages about wrong or failing instruction tests: one message with file, line and reason. */
#include "check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Lines 1 to 5 of each test; further text starts at line 6. */
#define FRONT "SPDX-License-Identifier: MIT\n# Title\n## Case\nsource: a document\ntargets: gfx900\n"
#define CODE  "code:\n    v_mov_b32 v1, v0\n    s_mov_b32 s4, 5\n"
#define HERE  "bad.test:"
#define ON    "gfx900, waves of 64: "
#define RUN   "gfx900, waves of 64, baseline, 1 thread: "

struct bad {
    const char *text, *message;
};

static const struct bad bad_files[] = {
    {"", HERE "1: the file has no title: a line '# Title'\n" HERE
              "1: the file has no case: a line '## Title' begins one\n"},
    {"# Title\n", HERE "1: expected 'SPDX-License-Identifier: MIT' in the first line\n" HERE
                       "1: the file has no title: a line '# Title'\n" HERE
                       "1: the file has no case: a line '## Title' begins one\n"},
    {FRONT CODE "sauce: x\nafter: s4 = 5\n",
     HERE "9: unknown section 'sauce'; sections are source, targets, waves, run, before, code, after, fault, "
          "violations, accesses, instructions, fails\n"},
    {"SPDX-License-Identifier: MIT\n# Title\nsource: x\n## Case\nsource: y\ntargets: gfx900\n" CODE
     "after: s4 = 5\n",
     HERE "3: section 'source' outside a case; a line '## Title' begins one\n"},
    {"SPDX-License-Identifier: MIT\n# Title\n## Case\ntargets: gfx900\n" CODE "after: s4 = 5\n",
     HERE "3: this case has no section 'source'\n"},
    {"SPDX-License-Identifier: MIT\n# Title\n## Case\nsource: x\n" CODE "after: s4 = 5\n",
     HERE "3: this case has no section 'targets'\n"},
    {FRONT "after: s4 = 5\n", HERE "3: this case has no section 'code'\n"},
    {FRONT CODE, HERE "3: this case expects nothing; it needs after, fault, violations, accesses or "
                      "instructions\n"},
    {FRONT CODE "after:\n", HERE "9: section 'after' is empty\n"},
    {FRONT CODE "after: s4 = 5\nsource: again\n", HERE "10: a second section 'source'\n"},
    {FRONT CODE "after: s4 = 5\ncode gfx900:\n    s_nop 0\n",
     HERE "10: a second section 'code' for the same target\n"},
    {FRONT CODE "after: v1 = v0\nafter gfx908: s4 = 5\n",
     HERE "10: this section is for none of the case's targets\n"},
    {FRONT CODE "afer gfx900: s4 = 5\nafter: s4 = 5\n",
     HERE "9: unknown section 'afer'; sections are source, targets, waves, run, before, code, after, fault, "
          "violations, accesses, instructions, fails\n"},
    {"SPDX-License-Identifier: MIT\n# Title\n## Case\nsource: x\ntargets: gfx900, gfx908\n" CODE
     "after gfx900: s4 = 5\n",
     HERE "3: a target of this case expects nothing; it needs after, fault, violations, accesses or "
          "instructions\n"},
    {FRONT CODE "prose with a word\nafer: of no meaning\n\nafter: s4 = 6\n",
     HERE "12: " RUN "s4 is 0x00000005, expected 0x00000006\n"},
    {FRONT "source gfx900: x\n" CODE "after: s4 = 5\n",
     HERE "6: section 'source' is for all targets of the case\n"},
    {FRONT CODE "after: s4 = 5\n# Another\n", HERE "10: a second title\n"},
    {FRONT CODE "after: s4 = 5\n### Deep\n",
     HERE "10: expected '# Title of the file' or '## Title of a case'\n"},
    {FRONT CODE "after: s4 = 5\nprose\n    v1 = 3\n",
     HERE "11: an indented line that belongs to no section\n"},
    {FRONT "\tcode:\n" CODE "after: s4 = 5\n", HERE "6: a tab; lines are indented by blanks\n"},
    {FRONT "waves: 16\n" CODE "after: s4 = 5\n", HERE "6: waves of '16' lanes; expected 32, 64 or both\n"},
    {FRONT "waves: 32\n" CODE "after: s4 = 5\n", HERE "6: a target of this case has no waves of 32 lanes\n"},
    {"SPDX-License-Identifier: MIT\n# Title\n## Case\nsource: x\ntargets: gfx9000\n" CODE "after: s4 = 5\n",
     HERE "5: 'gfx9000' is no target; expected gfx900, gfx900-gfx942, all, or except and some of these\n"},
    {"SPDX-License-Identifier: MIT\n# Title\n## Case\nsource: x\ntargets: gfx900 except all\n" CODE
     "after: s4 = 5\n",
     HERE "5: this names no target\n"},
    {"SPDX-License-Identifier: MIT\n# Title\n## Case\nsource: x\ntargets: gfx900, gfx908\ncode gfx900:\n"
     "    s_nop 0\nafter: s4 = 5\n",
     HERE "3: a target of this case has no section 'code'\n"},
};

static const struct bad bad_lines[] = {
    {FRONT "run: grids = 5\n" CODE "after: s4 = 5\n",
     HERE "6: " ON
          "'grids = 5' is no option; options are grid, workgroup, cluster, lds, threads, budget, timeout, "
          "alignment, on_violation, scalar_cache\n"},
    {FRONT "run: alignment = odd\n" CODE "after: s4 = 5\n",
     HERE "6: " ON "'alignment = odd': expected one of unaligned, dword, dword_strict, strict\n"},
    {FRONT "run: lds = 5, 6\n" CODE "after: s4 = 5\n", HERE "6: " ON "'lds = 5, 6': expected numbers\n"},
    {FRONT "before: v1\n" CODE "after: s4 = 5\n", HERE "6: " ON "expected '=' at ''\n"},
    {FRONT "before: q1 = 5\n" CODE "after: s4 = 5\n",
     HERE "6: " ON "'q1' is no register or memory of this case; registers are v0 to v249, s0 to s83, a0 to "
          "a255, exec, vcc, m0, scc and mode\n"},
    {FRONT "before: s84 = 5\n" CODE "after: s4 = 5\n",
     HERE "6: " ON "'s84' is no register or memory of this case; registers are v0 to v249, s0 to s83, a0 to "
          "a255, exec, vcc, m0, scc and mode\n"},
    {FRONT "before: v1 = 5 +\n" CODE "after: s4 = 5\n", HERE "6: " ON "expected a value at the end\n"},
    {FRONT "before: v1 = 5 6\n" CODE "after: s4 = 5\n", HERE "6: " ON "expected the end of a value at '6'\n"},
    {FRONT "before: v1 = (5\n" CODE "after: s4 = 5\n", HERE "6: " ON "expected ')' at ''\n"},
    {FRONT "before: v1 = 12a\n" CODE "after: s4 = 5\n", HERE "6: " ON "'12a...' is no number\n"},
    {FRONT "before: v1 = 5 / (lane - lane)\n" CODE "after: s4 = 5\n", HERE "6: " ON "division by 0\n"},
    {FRONT "before: v1 = sinus(5)\n" CODE "after: s4 = 5\n", HERE "6: " ON "unknown function 'sinus'\n"},
    {FRONT "before: s4 = lane\n" CODE "after: s4 = 5\n", HERE "6: " ON "'lane' means nothing here\n"},
    {FRONT "before: v1 = v2\n" CODE "after: s4 = 5\n", HERE "6: " ON "'v2' is not set before the code\n"},
    {FRONT "before: v1 = 0x100000000\n" CODE "after: s4 = 5\n",
     HERE "6: " ON "0x100000000 does not fit in 32 bits\n"},
    {FRONT "before: v1 = 1.5\n" CODE "after: s4 = 5\n",
     HERE "6: " ON "1.5 is no integer; write 'f32 v1 = 1.5', or f32(1.5) for its bits\n"},
    {FRONT "before: v1 = nan\n" CODE "after: s4 = 5\n",
     HERE "6: " ON "nan is a value of f16, bf16, f32 and f64; write 'f32 v1 = nan'\n"},
    {FRONT "before: v1 = 1.5 & 3\n" CODE "after: s4 = 5\n", HERE "6: " ON "operator & takes integers\n"},
    {FRONT "before: v1 = -\n" CODE "after: s4 = 5\n", HERE "6: " ON "expected one value\n"},
    {FRONT "before: v[1:3] = 5\n" CODE "after: s4 = 5\n",
     HERE "6: " ON "1 value of type u32 for 3 registers\n"},
    {FRONT "before: v1 = {1, 2}\n" CODE "after: s4 = 5\n", HERE
     "6: " ON "the list has 2 values; it needs one for number 2, or '...' behind the last for all others\n"},
    {FRONT "before: memory v1[3]\n" CODE "after: s4 = 5\n",
     HERE "6: " ON "expected 'memory NAME[COUNT]' with a new name, at 'v1[3]'\n"},
    {FRONT "before: memory data[0]\n" CODE "after: s4 = 5\n",
     HERE "6: " ON "'data' must have 1 byte to 1024 KiB, and there may be 12 memories\n"},
    {FRONT "before: memory data[4] = 1, 2\n" CODE "after: s4 = 5\n",
     HERE "6: " ON "2 values for 4 elements\n"},
    {FRONT "before:\n    memory data[4]\n    data[3..4] = 7\n" CODE "after: s4 = 5\n",
     HERE "8: " ON "'data' has elements [0..3]\n"},
    {FRONT "before: s[4:7] = buffer(BASE: 5)\n" CODE "after: s4 = 5\n",
     HERE "6: " ON "BASE: no field of that name on gfx900\n"},
    {FRONT "before: s[4:5] = buffer(STRIDE: 5)\n" CODE "after: s4 = 5\n",
     HERE "6: " ON "the descriptor takes 4 SGPRs\n"},
    {FRONT "code:\n    v_mov_b32 v1, v0\n    v_bogus v1\nafter: s4 = 5\n",
     HERE "8:5: error: unknown instruction 'v_bogus'\n    v_bogus v1\n    ^\n" HERE "6: " ON
          "this code does not assemble\n"},
    {FRONT "run: grid = 128\n" CODE "after: s4 = 5\n",
     HERE "3: " ON "registers and lds can be compared after the code of one wave only\n"},
    {FRONT CODE "fault: trap\nafter: s4 = 5\n",
     HERE "3: " ON "registers and lds are unknown after a fault\n"},
};

static const struct bad failures[] = {
    {FRONT CODE "after:\n    v1 = lane < 7 ? lane : 9\n    s4 = 6\n",
     HERE "10: " RUN "v1, lane 7, is 0x00000007, expected 0x00000009\n" HERE "11: " RUN
          "s4 is 0x00000005, expected 0x00000006\n"},
    {FRONT "code:\n    v_mov_b32 v1, 1.5\nafter: f32 v1 = 2\n",
     HERE "8: " RUN "v1, lane 0, is 0x3fc00000 (1.5), expected 0x40000000 (2)\n"},
    {FRONT "code:\n    v_mov_b32 v1, 1.5\nafter: f32 v1 = nan\n",
     HERE "8: " RUN "v1, lane 0, is 0x3fc00000 (1.5), expected a NaN\n"},
    {FRONT CODE "after: s4 = 6..9\n", HERE "9: " RUN "s4 is 0x00000005, expected 6 to 9\n"},
    {FRONT CODE "after: s4 = 0x1ffffffff\n", HERE "9: " RUN "0x1ffffffff does not fit in 32 bits\n"},
    {FRONT CODE "fault: trap\n", HERE "9: " RUN "ends with a fault of kind none, expected trap:\n\n"},
    {FRONT CODE "fault: bang\n", HERE "9: " RUN "'bang' is no kind of fault\n"},
    {FRONT CODE "violations: 1\n",
     HERE "9: " RUN "the number of violations is 0x0 (0), expected 0x0000000000000001\n"},
    {FRONT CODE "instructions: 3\n",
     HERE "9: " RUN "the number of instructions is 0x2 (2), expected 0x0000000000000003\n"},
    {FRONT "before:\n    memory data[4]\n    v[2:3] = &data\n    v1 = 7\n"
           "code:\n    global_store_dword v[2:3], v1, off offset:4\nafter: data[0] = 0\n",
     HERE "3: " RUN "byte 4 of 'data' is 0x07, expected 0x00 as before: no line mentions it\n"},
    {FRONT "code:\n    s_endpgm\nafter: s4 = 5\n",
     HERE "3: " RUN "the wave ended before the end of the code: its registers are unknown\n"},
    {FRONT CODE "after: s4 = 5\nfails: it does not\n",
     HERE "10: gfx900, waves of 64: it does not fail any more; remove 'fails'\n"},
    {FRONT "before:\n    memory lds[64]\n    v2 = 4 * lane\ncode:\n    ds_read_b32 v1, v2\naccesses:\n"
           "    ds_read_b32 v1, v2 = DS store, lanes 64\n",
     HERE "12: gfx900, waves of 64, baseline, observed, 1 thread: 'store': the access is 'DS load', with "
          "executions, lanes, bytes, distinct, lines, conflicts\n"},
    {FRONT CODE "accesses:\n    ds_read_b32 v1, v2 = DS store, lanes 64\n",
     HERE "10: gfx900, waves of 64, baseline, observed, 1 thread: there is no such access\n"},
};

static void check_messages(const struct bad *bad, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct test_file file;
        struct tally tally = {0};
        char *message = NULL;
        size_t size;
        struct report report = {.out = open_memstream(&message, &size)};
        assert_non_null(report.out);
        if (parse_test_file(&file, "bad.test", strdup(bad[i].text), &report))
            check_file(&file, &report, &tally);
        fclose(report.out);
        free_test_file(&file);
        assert_string_equal(message, bad[i].message);
        free(message);
    }
}

static void wrong_files(void **state)
{
    (void)state;
    check_messages(bad_files, sizeof bad_files / sizeof *bad_files);
}

static void wrong_lines(void **state)
{
    (void)state;
    check_messages(bad_lines, sizeof bad_lines / sizeof *bad_lines);
}

static void failing_cases(void **state)
{
    (void)state;
    check_messages(failures, sizeof failures / sizeof *failures);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_files),
        cmocka_unit_test(wrong_lines),
        cmocka_unit_test(failing_cases),
    };
    unsetenv("WAVEMEM_TEST_REDUCED"); /* messages name the first CPU level */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
