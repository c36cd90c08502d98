/* SPDX-License-Identifier: MIT */
/* Memory violations on all targets: the run stops, or continues as the hardware does and sets MEM_VIOL (CDNA
 * 3 ISA, "Memory Violations"; RDNA 4 ISA, EXCP_FLAG_PRIV). And the addresses that alignment modes accept
 * (CDNA 4 ISA, "Memory Alignment"). */
#include "unit/run_text.h"

enum {
    OFFSETS = 0,  /* memory layout in words: v2 of each lane, */
    RESULT = 64,  /* v20 afterwards, */
    STICKY = 128, /* MEM_VIOL before, after, after clearing it and after setting it, */
    DATA = 256,   /* and the accessed data: words that hold their byte offsets */
    LDS_BYTES = 4096,
};
static const uint64_t bad_lanes = 1 << 3 | 1 << 17;

static uint32_t own_offset(unsigned lane)
{
    return 4 * DATA + 8 * lane;
}

/* At v2 a lane finds v1 = own_offset(), in memory, LDS and GDS; stores write v0, the lane. Violating lanes
 * have a value added to v2. */
struct violation {
    const char *text;
    const char *without; /* prefixes of targets without such an instruction */
    enum wm_fault_kind kind;
    uint32_t bad;
    bool unheard; /* MEM_VIOL stays 0 */
    bool strict;  /* in alignment mode STRICT */
    bool stores;
    bool scalar; /* v20 is 0, regardless of v2 */
};

/* @r: returns the old value; @f: the format 32 UINT; @n: a negative offset of s_buffer_load_b32 to s14.
 * s[4:7] is an unlimited V#, s[16:17] read-only memory. */
static const struct violation violations[] = {
    {"buffer_atomic_add v20, v2, s[8:11], s12 offen @r", "", WM_FAULT_MISALIGNED, 2},
    {"buffer_atomic_or_x2 v[20:21], v2, s[8:11], s12 offen @r", "", WM_FAULT_MISALIGNED, 4},
    {"buffer_load_dword v20, v2, s[4:7], s12 offen", "", WM_FAULT_MEMORY, 1 << 30, .unheard = true},
    {"buffer_store_dword v0, v2, s[4:7], s12 offen", "", WM_FAULT_MEMORY, 1 << 30, .unheard = true,
     .stores = true},
    {"buffer_load_format_x v20, v2, s[4:7], s12 offen", "", WM_FAULT_MEMORY, 1 << 30, .unheard = true},
    {"tbuffer_load_format_x v20, v2, s[8:11], s12 @f offen", "", WM_FAULT_MISALIGNED, 2, .strict = true},
    {"tbuffer_store_format_x v0, v2, s[8:11], s12 @f offen", "", WM_FAULT_MISALIGNED, 1, .strict = true,
     .stores = true},
    {"buffer_load_dwordx2 v[20:21], v2, s[8:11], s12 offen", "", WM_FAULT_MISALIGNED, 1, .strict = true},
    {"buffer_store_short v0, v2, s[8:11], s12 offen", "", WM_FAULT_MISALIGNED, 1, .strict = true,
     .stores = true},
    {"ds_add_rtn_u32 v20, v2, v1 offset:1024", "", WM_FAULT_MISALIGNED, 2},
    {"ds_inc_rtn_u64 v[20:21], v2, v[20:21] offset:1024", "", WM_FAULT_MISALIGNED, 4},
    {"ds_wrxchg2_rtn_b32 v[20:21], v2, v1, v1 offset1:1", "", WM_FAULT_MISALIGNED, 1},
    {"ds_read_b32 v20, v2 offset:1024", "", WM_FAULT_MISALIGNED, 2, .strict = true},
    {"ds_read2_b32 v[20:21], v2 offset1:255", "", WM_FAULT_MISALIGNED, 3, .strict = true},
    {"ds_write_b32 v2, v0\nds_read_b32 v20, v1", "", WM_FAULT_MISALIGNED, 2, .strict = true, .stores = true},
    {"s_mov_b32 m0, 0xffff\nds_write_b32 v1, v1 offset:1024 gds\nds_add_rtn_u32 v20, v2, v1 offset:1024 gds",
     "gfx90a gfx942 gfx12", WM_FAULT_MISALIGNED, 2},
    {"s_add_u32 s5, s3, 0x1000\ns_mov_b32 s4, s2\ns_load_dwordx2 s[14:15], s[4:5], 0x0\nv_mov_b32 v20, s14",
     "", WM_FAULT_MEMORY, .unheard = true, .scalar = true},
    {"s_mov_b32 s14, 7\ns_store_dword s14, s[16:17], 0x0\ns_load_dword s14, s[16:17], 0x0\nv_mov_b32 v20, "
     "s14",
     "gfx6 gfx7 gfx103 gfx11 gfx12", WM_FAULT_READ_ONLY, .unheard = true, .scalar = true},
    {"s_mov_b32 s14, 7\ns_atomic_add_x2 s[14:15], s[2:3], 0x4 glc\nv_mov_b32 v20, s14",
     "gfx6 gfx7 gfx8 gfx103 gfx11 gfx12", WM_FAULT_MISALIGNED, .unheard = true, .scalar = true},
    {"@nv_mov_b32 v20, s14", "gfx6 gfx7 gfx8 gfx9 gfx10", WM_FAULT_OFFSET, .scalar = true},
};
enum { VIOLATIONS = sizeof violations / sizeof *violations };

static bool begins_with_one_of(const char *name, const char *list)
{
    while (*list) {
        const size_t length = strcspn(list, " ");
        if (!strncmp(name, list, length))
            return true;
        list += length + (list[length] == ' ');
    }
    return false;
}

struct job {
    const char *target, *text;
};

static void add_translated(struct text *t, const struct job *job)
{
    const unsigned generation = generation_of(job->target);
    for (const char *at = job->text; *at; at++) {
        if (*at != '@')
            add_text(t, "%c", *at);
        else if (*++at == 'r')
            add_text(t, "%s",
                     generation >= 12                ? "th:TH_ATOMIC_RETURN"
                     : strcmp(job->target, "gfx942") ? "glc"
                                                     : "sc0");
        else if (*at == 'n') /* s_buffer_load_b32 s14, s[8:11], -0x4: LLVM accepts that on gfx12 only */
            add_text(t, ".long 0x%x, 0x%x\n", generation >= 12 ? 0xf4020384 : 0xf4200384,
                     generation >= 12 ? 0xf8fffffc : 0xf81ffffc);
        else
            add_text(t, "%s", generation >= 10 ? "format:20" : "dfmt:4, nfmt:4,");
    }
    add_text(t, "\n");
}

static void write_job(struct text *t, struct text_run *run, const void *user)
{
    const struct job *job = user;
    const char *sticky = generation_of(job->target) >= 12 ? "hwreg(17, 4, 1)" : "hwreg(3, 8, 1)";
    add_resource(t, 4, run->address, 0, UINT32_MAX, raw_word3(job->target));
    add_text(t, "s_mov_b32 s16, 0x%x\ns_mov_b32 s17, 0x%x\n", (uint32_t)run->constant,
             (uint32_t)(run->constant >> 32));
    add_text(t,
             "s_mov_b32 m0, -1\nv_lshlrev_b32 v1, 2, v0\n"
             "buffer_load_dword v2, v1, s[8:11], s12 offen offset:%d\n"
             "v_lshlrev_b32 v1, 3, v0\nv_or_b32 v1, 0x%x, v1\n"
             "ds_write_b32 v1, v1\nds_write_b32 v1, v1 offset:1024\n"
             "v_mov_b32 v20, 0\nv_mov_b32 v21, 0\n",
             4 * OFFSETS, 4 * DATA);
    add_text(t, "s_getreg_b32 s20, %s\n", sticky);
    add_translated(t, job);
    add_text(t, "s_getreg_b32 s21, %s\ns_setreg_imm32_b32 %s, 0\ns_getreg_b32 s22, %s\n", sticky, sticky,
             sticky);
    add_text(t, "s_setreg_imm32_b32 %s, 1\ns_getreg_b32 s23, %s\n", sticky, sticky);
    add_text(t, "v_lshlrev_b32 v1, 2, v0\nbuffer_store_dword v20, v1, s[8:11], s12 offen offset:%d\n",
             4 * RESULT);
    for (unsigned i = 0; i < 4; i++)
        add_text(t, "v_mov_b32 v20, s%u\nbuffer_store_dword v20, off, s[8:11], s12 offset:%u\n", 20 + i,
                 4 * (STICKY + i));
}

static void run_job(const struct violation *v, const char *target, unsigned on_violation,
                    struct text_run *run)
{
    const struct wm_dispatch dispatch = {.dynamic_lds = LDS_BYTES,
                                         .on_violation = on_violation,
                                         .alignment =
                                             v->strict ? WM_ALIGNMENT_STRICT : WM_ALIGNMENT_UNALIGNED};
    memset(run, 0, sizeof *run);
    for (unsigned i = 0; i < TEXT_WORDS; i++)
        run->memory[i] = 4 * i;
    for (unsigned lane = 0; lane < 64; lane++)
        run->memory[OFFSETS + lane] = own_offset(lane) + (bad_lanes >> lane & 1 ? v->bad : 0);
    run_written(target, lanes_of(target), run, write_job, &(struct job){target, v->text}, dispatch);
}

/* Stores do not change memory in the violating lanes. */
static uint32_t wanted(const struct violation *v, unsigned lane)
{
    const bool bad = bad_lanes >> lane & 1;
    if (v->scalar)
        return 0;
    return v->stores ? (bad ? own_offset(lane) : lane) : bad ? 0 : own_offset(lane);
}

static void goes_on_as_the_hardware_does(void **state)
{
    static struct text_run run;
    (void)state;
    for (unsigned i = 0; i < VIOLATIONS; i++)
        for (unsigned j = 0; j < ALL_TARGETS; j++) {
            const struct violation *v = &violations[i];
            const char *target = all_targets[j];
            if (begins_with_one_of(target, v->without))
                continue;
            run_job(v, target, WM_VIOLATION_STOPS, &run);
            if (run.fault.kind != v->kind || run.fault.lanes != (v->scalar ? 1 : bad_lanes))
                fail_msg("%s: %s: fault %d, lanes 0x%llx: %s", target, v->text, run.fault.kind,
                         (unsigned long long)run.fault.lanes, run.fault.text);
            run_job(v, target, WM_VIOLATION_GOES_ON, &run);
            if (run.fault.kind || run.violations != 1 || run.violation.kind != v->kind ||
                run.violation.lanes != (v->scalar ? 1 : bad_lanes))
                fail_msg("%s: %s: %u violations, of kind %d; %s", target, v->text, (unsigned)run.violations,
                         run.violation.kind, run.fault.text);
            for (unsigned lane = 0; lane < lanes_of(target); lane++) {
                const bool in_memory = v->stores && strncmp(v->text, "ds", 2) != 0;
                const uint32_t is = run.memory[in_memory ? own_offset(lane) / 4 : RESULT + lane];
                if (is != wanted(v, lane))
                    fail_msg("%s: %s: lane %u is 0x%x instead of 0x%x", target, v->text, lane, is,
                             wanted(v, lane));
            }
            const uint32_t *sticky = &run.memory[STICKY];
            if (sticky[0] != 0 || sticky[1] != !v->unheard || sticky[2] != 0 || sticky[3] != 1)
                fail_msg("%s: %s: MEM_VIOL %u %u %u %u", target, v->text, sticky[0], sticky[1], sticky[2],
                         sticky[3]);
        }
}

/* ---- alignment modes ---- */

/* v2 is the offset of DATA in the V# s[8:11]; v[14:15], v[16:17] and v[18:19] are its address plus 17, 18 and
 * 34. v4 loads 16 bits from there, v5 32 bits, and v0 is stored. */
static const struct {
    const char *text, *without;
} alignments[] = {
    {"buffer_load_ushort v4, v2, s[8:11], s12 offen offset:17\n"
     "buffer_load_dword v5, v2, s[8:11], s12 offen offset:18\n"
     "buffer_store_dword v0, v2, s[8:11], s12 offen offset:34\n",
     ""},
    {"buffer_load_ushort v4, v2, s[8:11], s12 offen offset:17\n"
     "tbuffer_load_format_x v5, v2, s[8:11], s12 @f offen offset:18\n"
     "tbuffer_store_format_x v0, v2, s[8:11], s12 @f offen offset:34\n",
     ""},
    {"flat_load_ushort v4, v[14:15]\nflat_load_dword v5, v[16:17]\nflat_store_dword v[18:19], v0\n", "gfx6"},
    {"global_load_ushort v4, v[14:15], off\nglobal_load_dword v5, v[16:17], off\n"
     "global_store_dword v[18:19], v0, off\n",
     "gfx6 gfx7 gfx8"},
};

/* The bytes of DATA are their own offsets. */
static const struct {
    enum wm_alignment mode;
    uint32_t half, word;
    unsigned stored_at, refused; /* 0: not stored; number of refused accesses */
} modes[] = {
    {WM_ALIGNMENT_UNALIGNED, 0x1211, 0x15141312, 34, 0},
    {WM_ALIGNMENT_DWORD, 0x1110, 0x13121110, 32, 0},
    {WM_ALIGNMENT_DWORD_STRICT, 0, 0, 0, 3},
    {WM_ALIGNMENT_STRICT, 0, 0, 0, 3},
};

static void write_alignment(struct text *t, struct text_run *run, const void *user)
{
    static const unsigned offsets[] = {17, 18, 34};
    (void)run;
    add_text(t, "v_mov_b32 v2, 0x%x\nv_mov_b32 v0, 0x11223344\n", 4 * DATA);
    for (unsigned i = 0; i < 3; i++)
        add_text(t, "s_add_u32 s16, s2, 0x%x\nv_mov_b32 v%u, s16\nv_mov_b32 v%u, s3\n", 4 * DATA + offsets[i],
                 14 + 2 * i, 15 + 2 * i);
    add_translated(t, user);
    for (unsigned i = 0; i < 2; i++)
        add_text(t, "buffer_store_dword v%u, off, s[8:11], s12 offset:%u\n", 4 + i, 4 * (RESULT + i));
}

static void aligns_as_the_mode_says(void **state)
{
    static struct text_run run;
    (void)state;
    for (unsigned i = 0; i < sizeof alignments / sizeof *alignments; i++)
        for (unsigned j = 0; j < ALL_TARGETS * 4; j++) {
            const char *target = all_targets[j / 4], *text = alignments[i].text;
            const unsigned mode = j % 4;
            unsigned char after[64];
            if (begins_with_one_of(target, alignments[i].without))
                continue;
            memset(&run, 0, sizeof run);
            for (unsigned b = 0; b < sizeof after; b++)
                after[b] = (unsigned char)b;
            memcpy(run.memory + DATA, after, sizeof after);
            run_written(
                target, 1, &run, write_alignment, &(struct job){target, text},
                (struct wm_dispatch){.alignment = modes[mode].mode, .on_violation = WM_VIOLATION_GOES_ON});
            if (modes[mode].stored_at)
                memcpy(after + modes[mode].stored_at, &(uint32_t){0x11223344}, 4);
            if (run.fault.kind || run.violations != modes[mode].refused ||
                run.memory[RESULT] != modes[mode].half || run.memory[RESULT + 1] != modes[mode].word ||
                memcmp(run.memory + DATA, after, sizeof after) != 0)
                fail_msg("%s, mode %u: 0x%x, 0x%x, %u violations %s\n%s", target, mode, run.memory[RESULT],
                         run.memory[RESULT + 1], (unsigned)run.violations, run.fault.text, text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_as_the_hardware_does),
        cmocka_unit_test(aligns_as_the_mode_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
