/* SPDX-License-Identifier: MIT */
/* Waves that end in the compiled code in which they started, and start the next one there; also if some of
 * them leave that code, wait, or end elsewhere: the same results as interpreted. */
#include "unit/run_text.h"

#include "unit/ok.h"

enum {
    COUNTERS = 0,   /* first word of the numbers of workgroups that each item has seen */
    RESULTS = 1024, /* and of what it has found out, in order */
    GROUPS = 68,    /* more than one in each batch that an executor takes */
    SEEDS = 960,
    KEPT = 14, /* s0 to s13 are not changed at random */
};

struct program {
    const char *target;
    uint32_t seed;
    uint32_t items, rows, missing; /* of a workgroup; of the last one in a row */
    uint32_t lds;
};

static uint32_t random_below(uint32_t *state, uint32_t limit)
{
    *state = *state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)*state * limit >> 32);
}

/* s13 = a sum of what the wave has started with. */
static void add_sum(struct text *t, const struct program *p)
{
    add_text(t, "s_cselect_b32 s13, 7, 11\n");
    for (unsigned i = KEPT; i < 100; i++)
        add_text(t, "s_mul_i32 s13, s13, 5\ns_xor_b32 s13, s13, s%u\n", i);
    static const char *const others[] = {"vcc_lo", "vcc_hi", "m0", "exec_lo", "exec_hi"};
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        add_text(t, "s_mul_i32 s13, s13, 5\ns_xor_b32 s13, s13, %s\n", others[i]);
    if (generation_of(p->target) == 9)
        add_text(t, "s_mul_i32 s13, s13, 5\ns_xor_b32 s13, s13, flat_scratch_lo\n");
}

static void change_scalars(struct text *t, const struct program *p, uint32_t *random)
{
    for (unsigned i = random_below(random, 6); i; i--)
        add_text(t, "s_mov_b32 s%u, 0x%x\n", KEPT + random_below(random, 100 - KEPT), *random);
    if (random_below(random, 2))
        add_text(t, "s_mov_b32 vcc_hi, 0x%x\n", *random);
    if (!random_below(random, 3))
        add_text(t, "s_mov_b32 m0, 0x%x\n", *random);
    if (!random_below(random, 6) && generation_of(p->target) == 9)
        add_text(t, "s_mov_b32 flat_scratch_lo, 0x%x\n", *random);
    if (random_below(random, 2))
        add_text(t, "s_cmp_eq_u32 s12, 0\ns_cselect_b32 s9, 1, 2\n");
}

/* v8 = the number of the workgroup, or that of its wave; sometimes only its last bits. Returns one of them.
 */
static uint32_t number_waves(struct text *t, const struct program *p, uint32_t *random)
{
    const unsigned waves = p->items * p->rows / lanes_of(p->target);
    if (random_below(random, 2))
        add_text(t, "v_mov_b32 v8, v6\n");
    else
        add_text(t, "v_lshrrev_b32 v8, %u, v0\nv_mad_u32_u24 v8, v6, %u, v8\n",
                 lanes_of(p->target) == 64 ? 6 : 5, waves ? waves : 1);
    if (random_below(random, 3))
        return random_below(random, GROUPS);
    add_text(t, "v_and_b32 v8, 3, v8\n");
    return random_below(random, 4);
}

/* Some waves, workgroups or lanes do something that leaves the compiled code, or lasts. */
static void act(struct text *t, const struct program *p, unsigned number, uint32_t *random)
{
    static const char *const actions[] = {
        "s_barrier\n",
        "s_sleep 1\n",
        "v_mov_b32 v21, 5\nv_xor_b32 v0, 64, v0\n",
        "s_mov_b32 s5, 1\ns_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s5\n",
    };
    const char *suffix = lanes_of(p->target) == 64 ? "" : "_lo";
    const char *type = lanes_of(p->target) == 64 ? "b64" : "b32",
               *saved = lanes_of(p->target) == 64 ? "s[6:7]" : "s6";
    const unsigned kind = random_below(random, 8) % 6; /* many loops and NaNs */
    const uint32_t acts = number_waves(t, p, random);
    if (kind == 0) { /* a NaN */
        add_text(t,
                 "v_mov_b32 v9, 0x7f800000\nv_cmp_eq_u32 vcc%s, %u, v8\nv_cndmask_b32 v9, 1.0, v9, vcc%s\n"
                 "v_sub_f32 v9, v9, v9\nv_xor_b32 v5, v5, v9\n",
                 suffix, acts, suffix);
        return;
    }
    add_text(t, "v_cmp_ne_u32 vcc%s, %u, v8\ns_mov_%s %s, exec%s\ns_xor_%s exec%s, exec%s, vcc%s\n", suffix,
             acts, type, saved, suffix, type, suffix, suffix, suffix);
    add_text(t, "s_cbranch_execz other%u\n", number);
    if (kind > 1)
        add_text(t, "%s", actions[kind - 2]);
    else
        add_text(t,
                 "s_movk_i32 s4, %u\nlonger%u:\ns_sub_u32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\n"
                 "s_cbranch_scc1 longer%u\n",
                 1 + random_below(random, 2000), number, number);
    add_text(t, "other%u:\ns_mov_%s exec%s, %s\n", number, type, suffix, saved);
}

/* Waves read what the one before them has written to LDS, or what was there when the workgroup started, at
 * another place in each workgroup. */
static void use_lds(struct text *t, const struct program *p)
{
    add_text(t,
             "v_readfirstlane_b32 s4, v6\ns_lshl_b32 s4, s4, 6\nv_lshl_add_u32 v9, v0, 2, s4\n"
             "ds_read_b32 v10, v9\nds_write_b32 v9, v5 offset:%u\ns_waitcnt lgkmcnt(0)\n"
             "v_xor_b32 v5, v5, v10\n",
             4 * lanes_of(p->target) + 4);
}

/* Each item counts its workgroups, and adds up what the waves have found in their registers. */
static void write_program(struct text *t, struct text_run *run, const void *user)
{
    const struct program *p = user;
    const bool wide = lanes_of(p->target) == 64;
    uint32_t random = p->seed;
    (void)run;
    add_sum(t, p);
    add_text(t, "s_add_u32 s10, s2, %u\ns_mov_b32 s11, s3\nv_lshlrev_b32 v7, 2, v0\n", 4 * RESULTS);
    add_text(t, "global_load_dword v6, v7, s[2:3]\nglobal_load_dword v5, v7, s[10:11]\ns_waitcnt vmcnt(0)\n"
                "v_mul_lo_u32 v5, v5, 33\nv_xor_b32 v5, s13, v5\nv_xor_b32 v5, v5, v21\n"
                "v_mad_u32_u24 v6, v6, 1, 1\n");
    if (p->lds)
        use_lds(t, p);
    /* A sum that MODE rounds. */
    add_text(t, "v_cvt_f32_u32 v9, v5\nv_add_f32 v9, 0.5, v9\nv_xor_b32 v5, v5, v9\n");
    for (unsigned i = 0, actions = random_below(&random, 3); i < actions; i++) {
        change_scalars(t, p, &random);
        act(t, p, i, &random);
    }
    add_text(t, "v_xor_b32 v5, v5, v21\nv_xor_b32 v5, v5, v0\n");
    add_text(t, "global_store_dword v7, v6, s[2:3]\n");
    if (!random_below(&random, 3)) { /* some do not store what they have found */
        const uint32_t stores = number_waves(t, p, &random);
        add_text(t, "v_cmp_lt_u32 vcc%s, %u, v8\ns_and_saveexec_%s %s\ns_cbranch_execz done\n",
                 wide ? "" : "_lo", stores, wide ? "b64" : "b32", wide ? "s[6:7], vcc" : "s6, vcc_lo");
    }
    change_scalars(t, p, &random);
    add_text(t, "global_store_dword v7, v5, s[10:11]\ndone:\n");
}

static void run_program(const struct program *p, const char *compile, uint64_t limit, struct text_run *run)
{
    memset(run, 0, sizeof *run);
    assert_int_equal(setenv("WAVEMEM_COMPILE", compile, 1), 0);
    run_written(p->target, 0, run, write_program, p,
                (struct wm_dispatch){.grid = {GROUPS * p->items - p->missing, p->rows},
                                     .workgroup = {p->items, p->rows},
                                     .dynamic_lds = p->lds,
                                     .threads = 1,
                                     .max_instructions = limit});
    assert_int_equal(unsetenv("WAVEMEM_COMPILE"), 0);
}

static void waves_that_start_others_do_not_change_results(void **state)
{
    static const char *const targets[] = {"gfx900", "gfx1030"};
    static const uint32_t sizes[][2] = {{256, 1}, {64, 1}, {64, 4}, {80, 2}, {512, 1}, {16, 8}};
    static struct text_run expected, got;
    (void)state;
    for (unsigned i = 0; i < SEEDS; i++) {
        const uint32_t *size = sizes[i / 2 % 6];
        const struct program p = {
            .target = targets[i % 2],
            .seed = 0x9e3779b1 * i,
            .items = size[0],
            .rows = size[1],
            .missing = i / 12 % 4 ? 0 : size[0] / 2 + 3,
            .lds = i / 48 % 4 ? 0 : 16384,
        };
        const uint64_t limit = i % 4 < 2 ? 240 + i : 0;
        run_program(&p, "off", limit, &expected);
        run_program(&p, "always", limit, &got);
        assert_true(limit || expected.memory[COUNTERS] > 0);
        for (unsigned k = 0; k < TEXT_WORDS; k++)
            if (expected.memory[k] != got.memory[k])
                fail_msg("%s, seed 0x%x, %u x %u items: word %u is 0x%x, not 0x%x", p.target, p.seed, size[0],
                         size[1], k, got.memory[k], expected.memory[k]);
        assert_true(expected.wave_instructions == got.wave_instructions);
        assert_int_equal(expected.fault.kind, got.fault.kind);
        assert_int_equal(expected.fault.workgroup[0], got.fault.workgroup[0]);
        assert_int_equal(expected.fault.wave, got.fault.wave);
    }
}

/* ---- numbers of workgroups ---- */

enum { COLUMNS = 40, ROWS = 6, ITEMS = 128, OUT_WORDS = COLUMNS * ROWS * ITEMS };

/* Each item stores the number of its workgroup, s2 and s3, and the code changes these after that. */
static const char numbers[] =
    ".amdgcn_target \"amdgcn-amd-amdhsa--gfx900\"\n.text\n.globl k\n.p2align 8\n.type k,@function\nk:\n"
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_mul_i32 s6, s3, 40\ns_add_u32 s6, s6, s2\n"
    "s_lshl_b32 s6, s6, 7\nv_add_u32 v1, s6, v0\nv_lshlrev_b32 v1, 2, v1\ns_lshl_b32 s7, s3, 16\n"
    "s_or_b32 s7, s7, s2\nv_mov_b32 v2, s7\ns_mov_b64 s[2:3], -1\ns_waitcnt lgkmcnt(0)\n"
    "global_store_dword v1, v2, s[4:5]\ns_endpgm\n"
    ".rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n"
    ".amdhsa_kernarg_size 8\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
    ".amdhsa_system_sgpr_workgroup_id_y 1\n.end_amdhsa_kernel\n"
    ".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.kernels:\n"
    "  - .name: k\n    .symbol: k.kd\n    .kernarg_segment_size: 8\n    .kernarg_segment_align: 8\n"
    "    .group_segment_fixed_size: 0\n    .private_segment_fixed_size: 0\n    .wavefront_size: 64\n"
    "    .sgpr_count: 16\n    .vgpr_count: 8\n    .max_flat_workgroup_size: 1024\n    .args:\n"
    "      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}\n"
    "...\n.end_amdgpu_metadata\n";

static void waves_know_their_workgroup(void **state)
{
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    struct wm_result result = {.struct_size = sizeof result};
    char *messages = NULL;
    uint8_t *code;
    size_t bytes;
    uint64_t out;
    (void)state;
    assert_int_equal(setenv("WAVEMEM_COMPILE", "always", 1), 0);
    if (wm_assemble(numbers, sizeof numbers - 1, "k", "gfx900", 0, &code, &bytes, &messages, &diag))
        fail_msg("%s", messages ? messages : diag.message);
    OK(wm_object_open(code, bytes, "k", "gfx900", &object, &diag));
    OK(wm_object_find_kernel(object, "k", &kernel, &diag));
    OK(wm_machine_create("gfx900", &machine, &diag));
    OK(wm_load(machine, object, &diag));
    OK(wm_allocate(machine, 4 * OUT_WORDS, 0, "out", &out, &diag));
    for (unsigned threads = 1; threads <= 2; threads++) {
        const struct wm_dispatch request = {.struct_size = sizeof request,
                                            .grid = {COLUMNS * ITEMS, ROWS},
                                            .workgroup = {ITEMS, 1},
                                            .arguments = &out,
                                            .arguments_size = sizeof out,
                                            .threads = threads};
        uint32_t *words = wm_host_pointer(machine, out, 4 * OUT_WORDS);
        memset(words, 0xff, 4 * OUT_WORDS);
        OK(wm_dispatch(machine, object, kernel, &request, &result, &diag));
        for (unsigned i = 0; i < OUT_WORDS; i++)
            assert_int_equal(words[i], (i / ITEMS / COLUMNS) << 16 | i / ITEMS % COLUMNS);
    }
    assert_int_equal(unsetenv("WAVEMEM_COMPILE"), 0);
    wm_machine_destroy(machine);
    wm_object_close(object);
    free(messages);
    free(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves_that_start_others_do_not_change_results),
        cmocka_unit_test(waves_know_their_workgroup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
