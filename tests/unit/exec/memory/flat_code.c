/* SPDX-License-Identifier: MIT */
/* Assembled FLAT, GLOBAL and SCRATCH instructions of every generation that has them, against a reference for
 * the destination of each lane's address: LDS, the lane's private memory, or a buffer.
 *
 * Sources of the reference: RDNA3 and RDNA4 ISA, CDNA3 ISA, LLVM AMDGPUUsage ("Flat Scratch", "Address
 * Spaces"). Each target's kernel gets two addresses per lane from a table; it stores to one, loads from the
 * other, and writes the loaded value to the result. */
#include "unit/run_text.h"

enum { LANES = 32, MOST_LANES = 64, PRIVATE_BYTES = 64, LDS_BYTES = 512, DATA_WORDS = 128, CODE = 8192 };

/* Initialisation of FLAT_SCRATCH: the prologue's code for the SGPRs s[2:3] and s5. */
static const char size_and_offset[] = "s_mov_b32 flat_scratch_lo, s3\n"
                                      "s_add_u32 s2, s2, s5\n"
                                      "s_lshr_b32 flat_scratch_hi, s2, 8\n";
static const char address_by_move[] = "s_add_u32 flat_scratch_lo, s2, s5\n"
                                      "s_addc_u32 flat_scratch_hi, s3, 0\n";
static const char address_by_setreg[] = "s_add_u32 s2, s2, s5\n"
                                        "s_addc_u32 s3, s3, 0\n"
                                        "s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s2\n"
                                        "s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s3\n";

static const struct target {
    const char *name, *prologue;        /* NULL: the hardware sets FLAT_SCRATCH */
    uint64_t shared, private;           /* high words of the default apertures */
    bool global, scratch_s, scratch_st; /* has GLOBAL and SCRATCH; has SVS; has ST */
    bool newer;                         /* gfx11 mnemonics */
    unsigned lds_bits;
    int offset; /* valid FLAT offset */
    const char *wait, *returns;
} targets[] = {
    {"gfx700", size_and_offset, 0x20000000, 0x20000001, false, false, false, false, 64, 0, "s_waitcnt 0",
     "glc"},
    {"gfx803", size_and_offset, 0x20000000, 0x20000001, false, false, false, false, 32, 0, "s_waitcnt 0",
     "glc"},
    {"gfx900", address_by_move, 0x10000, 0x20000, true, false, false, false, 32, 24, "s_waitcnt 0", "glc"},
    {"gfx906", address_by_move, 0x10000, 0x20000, true, false, false, false, 32, 24, "s_waitcnt 0", "glc"},
    {"gfx908", address_by_move, 0x10000, 0x20000, true, false, false, false, 32, 24, "s_waitcnt 0", "glc"},
    {"gfx90a", address_by_move, 0x10000, 0x20000, true, false, false, false, 32, 24, "s_waitcnt 0", "glc"},
    {"gfx942", NULL, 0x10000, 0x20000, true, true, true, false, 32, 24, "s_waitcnt 0", "sc0"},
    {"gfx1010", address_by_setreg, 0x10000, 0x20000, true, false, false, false, 32, 0, "s_waitcnt 0", "glc"},
    {"gfx1030", address_by_setreg, 0x10000, 0x20000, true, false, true, false, 32, 24, "s_waitcnt 0", "glc"},
    {"gfx1100", NULL, 0x10000, 0x20000, true, true, true, true, 32, 24, "s_waitcnt 0", "glc"},
    {"gfx1150", NULL, 0x10000, 0x20000, true, true, true, true, 32, 24, "s_waitcnt 0", "glc"},
    {"gfx1200", NULL, 0x10000, 0x20000, true, true, true, true, 17, -24,
     "s_wait_loadcnt_dscnt 0x0\ns_wait_kmcnt 0x0", "th:TH_ATOMIC_RETURN"},
};
enum { TARGETS = sizeof targets / sizeof *targets };

/* The kernel's arguments in guest memory. */
struct arguments {
    uint64_t out, to, from; /* results; store address and load address of each lane */
};

struct world {
    const struct target *t;
    struct wm_machine *machine;
    struct wm_object *object;
    struct arguments arguments;
    uint64_t data;
    uint64_t to[MOST_LANES], from[MOST_LANES];
    uint32_t out[MOST_LANES];
    unsigned on_violation;
    bool read_only, wave64;
    struct wm_result result;
};

/* `text` with target-specific words inserted: @4 and @8 for dwords and pairs, and other marks. */
static void spell(const struct target *t, const char *text, char *out, size_t size)
{
    const struct {
        char mark;
        const char *older, *newer;
    } words[] = {{'4', "dword", "b32"},         {'8', "dwordx2", "b64"}, {'w', t->wait, t->wait},
                 {'r', t->returns, t->returns}, {'a', "add", "add_u32"}, {'A', "add_x2", "add_u64"}};
    size_t at = 0;
    for (; *text && at + 64 < size; text++) {
        if (*text != '@') {
            out[at++] = *text;
            continue;
        }
        text++;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (words[i].mark == *text)
                at += (size_t)snprintf(out + at, size - at, "%s", t->newer ? words[i].newer : words[i].older);
    }
    out[at] = '\0';
}

static void check(enum wm_status status, const struct wm_diag *diag)
{
    if (status != WM_OK)
        fail_msg("%s", diag->message);
}

/* The kernel: v[2:3] is the lane's place in the result, v1 = 4 * lane, v8 = 100 + lane, v[6:7] the store
 * address, v[10:11] the load address. */
static void build(struct world *w, const char *body)
{
    static const char before[] = ".text\n.globl k\n.p2align 8\n.type k,%%function\nk:\n%s"
                                 "s_load_@8 s[8:9], s[0:1], 0x0\n"
                                 "s_load_@8 s[10:11], s[0:1], %s\n"
                                 "s_load_@8 s[12:13], s[0:1], %s\n@w\n"
                                 "v_and_b32 v0, 0x3ff, v0\n"
                                 "s_mov_b32 m0, -1\n"
                                 "v_lshlrev_b32 v1, 2, v0\nv_lshlrev_b32 v4, 3, v0\n"
                                 "v_or_b32 v2, s8, v1\nv_mov_b32 v3, s9\n"
                                 "v_or_b32 v10, s10, v4\nv_mov_b32 v11, s11\n"
                                 "flat_load_@8 v[6:7], v[10:11]\n"
                                 "v_or_b32 v12, s12, v4\nv_mov_b32 v13, s13\n"
                                 "flat_load_@8 v[10:11], v[12:13]\n@w\n"
                                 "v_or_b32 v8, 0x80, v0\nv_mov_b32 v9, 77\n";
    static const char after[] = "@w\nflat_store_@4 v[2:3], v9\ns_endpgm\n"
                                ".rodata\n.p2align 6\n.amdhsa_kernel k\n"
                                ".amdhsa_next_free_vgpr 16\n.amdhsa_next_free_sgpr 32\n"
                                "%s.amdhsa_private_segment_fixed_size 64\n"
                                ".amdhsa_group_segment_fixed_size 512\n"
                                ".amdhsa_user_sgpr_kernarg_segment_ptr 1\n%s.end_amdhsa_kernel\n";
    const struct target *t = w->t;
    const bool dwords = !strcmp(t->name, "gfx700"); /* the unit of SMRD offsets */
    char head[CODE], tail[CODE], text[2 * CODE], *messages;
    char flags[512];
    const bool unified = !strcmp(t->name, "gfx90a") || !strcmp(t->name, "gfx942");
    struct wm_diag diag;
    uint8_t *bytes;
    size_t size;
    snprintf(flags, sizeof flags, "%s%s%s", w->wave64 ? ".amdhsa_wavefront_size32 0\n" : "",
             t->prologue ? ".amdhsa_user_sgpr_flat_scratch_init 1\n" : "",
             t->prologue ? ".amdhsa_system_sgpr_private_segment_wavefront_offset 1\n"
                         : ".amdhsa_enable_private_segment 1\n");
    snprintf(head, sizeof head, before, t->prologue ? t->prologue : "", dwords ? "0x2" : "0x8",
             dwords ? "0x4" : "0x10");
    snprintf(tail, sizeof tail, after, unified ? ".amdhsa_accum_offset 16\n" : "", flags);
    spell(t, head, text, CODE);
    spell(t, body, text + strlen(text), CODE / 2);
    spell(t, tail, text + strlen(text), CODE / 2);
    if (wm_assemble(text, strlen(text), t->name, t->name, 0, &bytes, &size, &messages, &diag))
        fail_msg("%s", messages);
    check(wm_object_open(bytes, size, t->name, t->name, &w->object, &diag), &diag);
    free(bytes);
    free(messages);
    check(wm_machine_create(t->name, &w->machine, &diag), &diag);
    check(wm_load(w->machine, w->object, &diag), &diag);
    check(wm_allocate(w->machine, 2 * sizeof w->out, 0, "out", &w->arguments.out, &diag), &diag);
    check(wm_allocate(w->machine, sizeof w->to, 0, "to", &w->arguments.to, &diag), &diag);
    check(wm_allocate(w->machine, sizeof w->from, 0, "from", &w->arguments.from, &diag), &diag);
    check(wm_allocate(w->machine, 4 * DATA_WORDS, w->read_only ? WM_READ_ONLY : 0, "data", &w->data, &diag),
          &diag);
    uint32_t *data = wm_host_pointer(w->machine, w->data, 4 * DATA_WORDS);
    for (unsigned i = 0; i < DATA_WORDS; i++)
        data[i] = 1000 + i;
}

static void run(struct world *w)
{
    const struct wm_kernel *kernel;
    struct wm_diag diag;
    const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                         .grid = {w->wave64 ? MOST_LANES : LANES},
                                         .workgroup = {w->wave64 ? MOST_LANES : LANES},
                                         .arguments = &w->arguments,
                                         .arguments_size = sizeof w->arguments,
                                         .threads = 1,
                                         .max_instructions = 10000,
                                         .on_violation = w->on_violation};
    w->result = (struct wm_result){.struct_size = sizeof w->result};
    check(wm_object_find_kernel(w->object, "k", &kernel, &diag), &diag);
    check(wm_write(w->machine, w->arguments.to, w->to, sizeof w->to, &diag), &diag);
    check(wm_write(w->machine, w->arguments.from, w->from, sizeof w->from, &diag), &diag);
    check(wm_dispatch(w->machine, w->object, kernel, &dispatch, &w->result, &diag), &diag);
    check(wm_read(w->machine, w->arguments.out, w->out, sizeof w->out, &diag), &diag);
}

static void close_world(struct world *w)
{
    wm_machine_destroy(w->machine);
    wm_object_close(w->object);
    w->machine = NULL;
    w->object = NULL;
}

static void no_fault(const struct world *w)
{
    if (w->result.fault.kind != WM_FAULT_NONE)
        fail_msg("%s: %s", w->t->name, w->result.fault.text);
}

static uint64_t shared(const struct world *w, uint64_t offset)
{
    return (w->t->shared << 32) + offset;
}

static uint64_t private_place(const struct world *w, uint64_t offset)
{
    return (w->t->private << 32) + offset;
}

/* Each third of the lanes: LDS at a per-lane address, private memory at a common offset, the lane's dword of
 * the buffer. */
static uint64_t place_of(const struct world *w, unsigned lane)
{
    return lane % 3 == 0 ? shared(w, 4 * lane) : lane % 3 == 1 ? private_place(w, 8) : w->data + 4 * lane;
}

static void lanes_go_where_their_addresses_lead(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TARGETS; i++) {
        struct world w = {.t = &targets[i]};
        build(&w, "flat_store_@4 v[6:7], v8\n@w\nflat_load_@4 v9, v[10:11]\n");
        for (unsigned lane = 0; lane < LANES; lane++)
            w.to[lane] = w.from[lane] = place_of(&w, lane);
        run(&w);
        no_fault(&w);
        for (unsigned lane = 0; lane < LANES; lane++)
            assert_int_equal(w.out[lane], 0x80 | lane);
        /* Bases chosen by software. */
        struct wm_diag diag;
        const uint64_t bases[] = {UINT64_C(0x7654321) << 32, UINT64_C(0x1234567) << 32};
        assert_int_equal(wm_set_apertures(w.machine, bases[0], bases[0], &diag), WM_BAD_ARGUMENT);
        assert_int_equal(wm_set_apertures(w.machine, w.data, bases[0], &diag), WM_BAD_ARGUMENT);
        assert_int_equal(wm_set_apertures(w.machine, bases[0] + 4, bases[1], &diag), WM_BAD_ARGUMENT);
        check(wm_set_apertures(w.machine, bases[0], bases[1], &diag), &diag);
        for (unsigned lane = 0; lane < LANES; lane++)
            w.to[lane] = w.from[lane] = lane % 2 ? bases[0] + 4 * lane : bases[1] + 4;
        run(&w);
        no_fault(&w);
        for (unsigned lane = 0; lane < LANES; lane++)
            assert_int_equal(w.out[lane], 0x80 | lane);
        close_world(&w);
    }
}

/* The register selects the aperture; the offset, which may be negative on gfx12, is added afterwards. */
static void offsets_are_added_behind_the_test(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TARGETS; i++) {
        const struct target *t = &targets[i];
        struct world w = {.t = t};
        char body[256];
        if (!t->offset)
            continue;
        snprintf(body, sizeof body, "flat_store_@4 v[6:7], v8\n@w\nflat_load_@4 v9, v[10:11] offset:%d\n",
                 t->offset);
        build(&w, body);
        for (unsigned lane = 0; lane < LANES; lane++) {
            w.to[lane] = lane % 3 == 1 ? private_place(&w, 32) : place_of(&w, lane);
            w.from[lane] = w.to[lane] - (uint64_t)(int64_t)t->offset;
        }
        /* LDS lanes 0 and 3 then have addresses below the aperture, and the offset must not lead into it. */
        run(&w);
        if (t->offset > 0) {
            assert_int_equal(w.result.fault.kind, WM_FAULT_APERTURE);
            assert_int_equal(w.result.fault.lanes, 1 << 0 | 1 << 3);
        } else {
            no_fault(&w);
            for (unsigned lane = 0; lane < LANES; lane++)
                assert_int_equal(w.out[lane], 0x80 | lane);
        }
        w.from[0] = w.to[0] = w.data;
        w.from[3] = w.to[3] = w.data + 12;
        w.from[0] -= (uint64_t)(int64_t)t->offset;
        w.from[3] -= (uint64_t)(int64_t)t->offset;
        run(&w);
        no_fault(&w);
        for (unsigned lane = 0; lane < LANES; lane++)
            assert_int_equal(w.out[lane], 0x80 | lane);
        close_world(&w);
    }
}

/* LDS accesses beyond the workgroup's allocation are dropped; on gfx12 addresses are first truncated to 17
 * bits. */
static void lds_ends_at_its_size(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TARGETS; i++) {
        struct world w = {.t = &targets[i]};
        build(&w, "flat_store_@4 v[6:7], v8\n@w\nflat_load_@4 v9, v[10:11]\n");
        for (unsigned lane = 0; lane < LANES; lane++)
            w.to[lane] = w.from[lane] = shared(&w, 4 * lane + (lane % 2   ? LDS_BYTES
                                                               : lane % 4 ? 1 << 17
                                                                          : 0));
        run(&w);
        no_fault(&w);
        for (unsigned lane = 0; lane < LANES; lane++)
            assert_int_equal(w.out[lane], lane % 2 || (lane % 4 && w.t->lds_bits > 17) ? 0 : 0x80 | lane);
        close_world(&w);
    }
}

/* Private memory beyond a lane's size: on GCN 1.1 and 1.2 FLAT_SCRATCH holds the size, and loads return 0. */
static void the_size_in_flat_scratch_counts(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TARGETS; i++) {
        struct world w = {.t = &targets[i]};
        build(&w, "flat_store_@4 v[6:7], v8\n@w\nflat_load_@4 v9, v[10:11]\n");
        for (unsigned lane = 0; lane < LANES; lane++)
            w.to[lane] = w.from[lane] = private_place(&w, lane == 5 ? PRIVATE_BYTES : PRIVATE_BYTES - 4);
        run(&w);
        if (targets[i].prologue == size_and_offset) {
            no_fault(&w);
            for (unsigned lane = 0; lane < LANES; lane++)
                assert_int_equal(w.out[lane], lane == 5 ? 0 : 0x80 | lane);
        } else {
            assert_int_equal(w.result.fault.kind, WM_FAULT_MEMORY);
            assert_int_equal(w.result.fault.lanes, 1 << 5);
        }
        close_world(&w);
    }
}

/* 4-byte atomics work on all memory and return the old value. */
static void atomics_reach_all_memory(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TARGETS; i++) {
        struct world w = {.t = &targets[i]};
        build(&w, "flat_store_@4 v[6:7], v8\n@w\nflat_atomic_@a v9, v[6:7], v8 @r\n@w\n"
                  "flat_atomic_@a v9, v[6:7], v8 @r\n");
        for (unsigned lane = 0; lane < LANES; lane++)
            w.to[lane] = place_of(&w, lane);
        run(&w);
        no_fault(&w);
        for (unsigned lane = 0; lane < LANES; lane++)
            assert_int_equal(w.out[lane], 2 * (0x80 | lane));
        close_world(&w);
    }
}

struct violation {
    const char *body;
    enum wm_fault_kind kind;
    bool read_only;
};

/* Violations by instruction: either the run stops, or the lanes load 0 and store nothing. */
static void violations_stop_or_go_on(void **state)
{
    static const struct violation violations[] = {
        {"flat_load_@4 v9, v[10:11]\n", WM_FAULT_APERTURE, false},
        {"flat_store_@4 v[10:11], v8\nv_mov_b32 v9, 0\n", WM_FAULT_APERTURE, false},
        {"flat_atomic_@a v9, v[10:11], v8 @r\n", WM_FAULT_APERTURE, false},
        {"flat_atomic_@a v9, v[10:11], v8 @r\n", WM_FAULT_MISALIGNED, false},
        {"flat_atomic_@A v[8:9], v[10:11], v[6:7] @r\n@w\n", WM_FAULT_PRIVATE_ATOMIC, false},
        {"flat_store_@4 v[10:11], v8\nv_mov_b32 v9, 0\n", WM_FAULT_READ_ONLY, true},
        {"flat_load_@4 v9, v[10:11]\n", WM_FAULT_MEMORY, false},
    };
    (void)state;
    for (unsigned i = 0; i < TARGETS; i++)
        for (unsigned j = 0; j < sizeof violations / sizeof *violations; j++) {
            const struct violation *v = &violations[j];
            struct world w = {.t = &targets[i], .read_only = v->read_only};
            const uint64_t lanes = 1 << 3 | 1 << 17;
            build(&w, v->body);
            for (unsigned lane = 0; lane < LANES; lane++) {
                const bool bad = lanes >> lane & 1;
                w.from[lane] = v->read_only && !bad ? w.arguments.out + 4 * lane : w.data + 8 * lane;
                if (bad)
                    w.from[lane] = v->kind == WM_FAULT_APERTURE         ? UINT64_C(5) << 50
                                   : v->kind == WM_FAULT_MISALIGNED     ? w.data + 4 * lane + 2
                                   : v->kind == WM_FAULT_PRIVATE_ATOMIC ? private_place(&w, 8)
                                   : v->kind == WM_FAULT_MEMORY         ? w.data - 4096
                                                                        : w.from[lane];
                w.from[lane] -= v->kind == WM_FAULT_MISALIGNED && !bad ? w.from[lane] % 4 : 0;
            }
            run(&w);
            assert_int_equal(w.result.fault.kind, v->kind);
            assert_int_equal(w.result.fault.lanes, lanes);
            assert_int_equal(w.result.violations, 0);
            w.on_violation = WM_VIOLATION_GOES_ON;
            run(&w);
            no_fault(&w);
            assert_int_equal(w.result.violations, 1);
            assert_int_equal(w.result.violation.kind, v->kind);
            assert_int_equal(w.result.violation.lanes, lanes);
            for (unsigned lane = 0; lane < LANES; lane++)
                if (lanes >> lane & 1)
                    assert_int_equal(w.out[lane], 0);
            if (v->read_only) {
                const uint32_t *data = wm_host_pointer(w.machine, w.data, 4 * DATA_WORDS);
                assert_int_equal(data[6], 1006);
            }
            close_world(&w);
        }
}

/* GLOBAL with a scalar base, and with the lane number only; it must not access an aperture. */
static void global_has_scalar_bases(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TARGETS; i++) {
        const struct target *t = &targets[i];
        struct world w = {.t = t};
        if (!t->global)
            continue;
        build(&w, "global_store_@4 v1, v8, s[8:9] offset:4\n@w\nglobal_load_@4 v9, v1, s[8:9]\n");
        run(&w);
        no_fault(&w);
        for (unsigned lane = 1; lane < LANES - 1; lane++)
            assert_int_equal(w.out[lane], 0x80 | (lane - 1));
        close_world(&w);
        build(&w, "global_load_@4 v9, v[10:11], off\n");
        for (unsigned lane = 0; lane < LANES; lane++)
            w.from[lane] = lane == 4 ? shared(&w, 0) : w.data;
        run(&w);
        assert_int_equal(w.result.fault.kind, WM_FAULT_APERTURE);
        assert_int_equal(w.result.fault.lanes, 1 << 4);
        close_world(&w);
        if (!t->scratch_st || !strcmp(t->name, "gfx942"))
            continue;
        build(&w, t->newer ? "global_store_addtid_b32 v8, s[8:9] offset:4\n@w\n"
                             "global_load_addtid_b32 v9, s[8:9]\n"
                           : "global_store_dword_addtid v8, s[8:9] offset:4\n@w\n"
                             "global_load_dword_addtid v9, s[8:9]\n");
        run(&w);
        no_fault(&w);
        for (unsigned lane = 1; lane < LANES - 1; lane++)
            assert_int_equal(w.out[lane], 0x80 | (lane - 1));
        close_world(&w);
    }
}

/* SCRATCH: the lane's offset is the sum of the form's operands; FLAT finds the data there. */
static void scratch_adds_what_its_form_has(void **state)
{
    static const struct {
        const char *body;
        unsigned offset;
        bool svs, st;
    } forms[] = {
        {"v_mov_b32 v5, 8\nscratch_store_@4 v5, v8, off offset:12\n", 20, false, false},
        {"v_lshlrev_b32 v5, 0, 28\nscratch_store_@4 v5, v8, off offset:-8\n", 20, false, false},
        {"s_mov_b32 s14, 16\nscratch_store_@4 off, v8, s14 offset:4\n", 20, false, false},
        {"s_mov_b32 s14, 24\nscratch_store_@4 off, v8, s14 offset:-4\n", 20, false, false},
        {"scratch_store_@4 off, v8, off offset:20\n", 20, false, true},
        {"v_mov_b32 v5, 4\ns_mov_b32 s14, 8\nscratch_store_@4 v5, v8, s14 offset:8\n", 20, true, false},
    };
    (void)state;
    for (unsigned i = 0; i < TARGETS; i++)
        for (unsigned j = 0; j < sizeof forms / sizeof *forms; j++) {
            const struct target *t = &targets[i];
            struct world w = {.t = t};
            char body[256];
            if (!t->global || (forms[j].svs && !t->scratch_s) || (forms[j].st && !t->scratch_st))
                continue;
            snprintf(body, sizeof body, "%s@w\nflat_load_@4 v9, v[10:11]\n", forms[j].body);
            build(&w, body);
            for (unsigned lane = 0; lane < LANES; lane++)
                w.from[lane] = private_place(&w, forms[j].offset);
            run(&w);
            no_fault(&w);
            for (unsigned lane = 0; lane < LANES; lane++)
                assert_int_equal(w.out[lane], 0x80 | lane);
            close_world(&w);
        }
}

/* Loads to LDS: M0 + offset + 4 * lane; small elements are extended to dwords. */
static void loads_go_to_lds(void **state)
{
    static const struct {
        const char *target, *body;
    } loads[] = {
        {"gfx942", "s_mov_b32 m0, 64\ns_nop 0\nglobal_load_lds_dword v[6:7], off offset:8\n"},
        {"gfx942", "s_mov_b32 m0, 64\ns_nop 0\nglobal_load_lds_ushort v[6:7], off offset:8\n"},
        {"gfx900", "s_mov_b32 m0, 64\ns_nop 0\nglobal_load_dword v[6:7], off offset:8 lds\n"},
        {"gfx1030", "s_mov_b32 m0, 64\ns_nop 0\nglobal_load_dword v[6:7], off offset:8 lds\n"},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof loads / sizeof *loads; i++) {
        struct world w = {0};
        char body[256];
        for (unsigned j = 0; j < TARGETS; j++)
            if (!strcmp(targets[j].name, loads[i].target))
                w.t = &targets[j];
        snprintf(body, sizeof body, "%s@w\nflat_load_@4 v9, v[10:11]\n", loads[i].body);
        build(&w, body);
        for (unsigned lane = 0; lane < LANES; lane++) {
            w.to[lane] = w.data + 4 * (LANES - 1 - lane);
            w.from[lane] = shared(&w, 64 + 8 + 4 * lane);
        }
        run(&w);
        no_fault(&w);
        for (unsigned lane = 0; lane < LANES; lane++)
            assert_int_equal(w.out[lane], 1000 + 2 + LANES - 1 - lane);
        close_world(&w);
    }
}

/* On targets whose DS instructions need M0, FLAT accesses to LDS do too: 63 is the address of the last
 * byte. */
static void lds_ends_where_m0_says(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TARGETS; i++) {
        struct world w = {.t = &targets[i]};
        build(&w, "s_mov_b32 m0, 63\nflat_store_@4 v[6:7], v8\n@w\nflat_load_@4 v9, v[10:11]\n");
        for (unsigned lane = 0; lane < LANES; lane++)
            w.to[lane] = w.from[lane] = shared(&w, 4 * lane);
        run(&w);
        no_fault(&w);
        for (unsigned lane = 0; lane < LANES; lane++)
            assert_int_equal(w.out[lane],
                             targets[i].prologue == size_and_offset && lane >= 16 ? 0 : 0x80 | lane);
        close_world(&w);
    }
}

/* flat_load_dword v8, v[10:11] with TFE, which LLVM has no syntax for: v9 receives the status. */
static void loads_may_have_a_status(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct world w = {.t = &targets[i]};
        build(&w, i ? ".long 0xdc500000, 0x0880000a\n@w\nv_or_b32 v9, v8, v9\n"
                    : ".long 0xdc300000, 0x0880000a\n@w\nv_or_b32 v9, v8, v9\n");
        for (unsigned lane = 0; lane < LANES; lane++)
            w.from[lane] = w.data + 4 * lane;
        run(&w);
        no_fault(&w);
        for (unsigned lane = 0; lane < LANES; lane++)
            assert_int_equal(w.out[lane], 1000 + lane);
        close_world(&w);
    }
}

static const struct target *find_target(const char *name)
{
    unsigned i = 0;
    while (strcmp(targets[i].name, name))
        i++;
    return &targets[i];
}

/* Block loads and stores: bit n of M0 enables register n and dword n; the kernel has 16 registers, and v0 is
 * stored for missing ones. The addresses are read before loads overwrite them. */
static void blocks_have_holes(void **state)
{
    static const char set[] = "s_mov_b32 exec_lo, 3\nv_mov_b32 v12, 1\nv_mov_b32 v13, 2\nv_mov_b32 v14, 3\n"
                              "v_mov_b32 v15, 4\ns_mov_b32 m0, 0x1d\n";
    static const char get[] = "s_wait_loadcnt 0x0\nv_lshlrev_b32 v10, 8, v10\nv_lshlrev_b32 v11, 16, v11\n"
                              "v_or3_b32 v9, v8, v10, v11\n";
    (void)state;
    for (unsigned scratch = 0; scratch < 2; scratch++) {
        struct world w = {.t = find_target("gfx1200")};
        char body[1024];
        snprintf(body, sizeof body, "%s%s\n@w\ns_wait_storecnt 0x0\ns_mov_b32 m0, 0x8000000d\n%s\n%s", set,
                 scratch ? "v_mov_b32 v10, 8\nscratch_store_block v10, v[12:43], off offset:-4"
                         : "global_store_block v[6:7], v[12:43], off offset:4",
                 scratch ? "scratch_load_block v[8:39], v10, off offset:-4"
                         : "global_load_block v[8:39], v[10:11], off offset:4",
                 get);
        build(&w, body);
        for (unsigned lane = 0; lane < 2; lane++)
            w.to[lane] = w.from[lane] = w.data + 128 * lane;
        run(&w);
        no_fault(&w);
        for (unsigned lane = 0; lane < 2; lane++) {
            const uint32_t *data = wm_host_pointer(w.machine, w.data + 128 * lane, 24);
            const uint32_t stored[] = {1, 1000 + 2 + 32 * lane, 3, 4, lane};
            assert_int_equal(w.out[lane], 0x040301);
            if (!scratch)
                assert_memory_equal(data + 1, stored, sizeof stored);
        }
        close_world(&w);
    }
}

/* Only a VGPR-only address has two rows. Here its single row is the last of the frame, since nothing else
 * needs a row of constants: AddressSanitizer detects reads past it. */
static void blocks_end_with_the_frame(void **state)
{
    static struct text_run run;
    (void)state;
    for (unsigned i = 0; i < TEXT_WORDS; i++)
        run.memory[i] = 1000 + i;
    run_text("gfx1200",
             "s_mov_b32 m0, -1\nglobal_load_block v[8:39], v255, s[2:3]\n"
             "global_store_block v255, v[8:39], s[2:3] offset:128",
             &run);
    assert_int_equal(run.fault.kind, WM_FAULT_NONE);
    for (unsigned i = 0; i < 32; i++)
        assert_int_equal(run.memory[32 + i], 1000 + i);
    /* The kernel has no private memory. */
    run_text("gfx1200", "s_mov_b32 m0, -1\nscratch_load_block v[0:31], off, off", &run);
    assert_int_equal(run.fault.kind, WM_FAULT_MEMORY);
    run_text("gfx1200", "s_mov_b32 m0, -1\nscratch_store_block off, v[0:31], s12", &run);
    assert_int_equal(run.fault.kind, WM_FAULT_MEMORY);
}

/* Lane L supplies the address of 8 elements. In wave32, by AMD's ROCm documentation ("RDNA4 WMMA transpose
 * load builtins"), its element e is that of row 2 * (L / 8) + e / 4 and column 8 * (e % 4) + L % 8 of 8 rows
 * of 32, which the lanes' addresses traverse in order. In wave64 the layout is that of WMMA (RDNA 4 ISA,
 * "Matrix Element Storage in VGPRs"): row L % 16, bits 3 and 2 of k from bits 4 and 5 of L, where address n
 * is for k = n % 8
 * + 8 * (n / 16) and the rows starting at 8 * (n / 8 % 2). */
static unsigned transposed(bool wave64, unsigned lane, unsigned e)
{
    if (!wave64)
        return 32 * (2 * (lane / 8) + e / 4) + 8 * (e % 4) + lane % 8;
    const unsigned row = lane % 16, k = 8 * (lane / 16 % 2) + 4 * (lane / 32) + e;
    for (unsigned n = 0; n < 32; n++)
        if (k == n % 8 + 8 * (n / 16) && row / 8 == n / 8 % 2)
            return 8 * n + row % 8;
    return 0;
}

static void loads_transpose(void **state)
{
    (void)state;
    for (unsigned bytes = 1; bytes <= 2; bytes++)
        for (unsigned wave64 = 0; wave64 < 2; wave64++) {
            const unsigned lanes = wave64 ? 64 : 32, dwords = 8 * bytes / (wave64 ? 8 : 4);
            for (unsigned dword = 0; dword < dwords; dword++) {
                struct world w = {.t = find_target("gfx1200"), .wave64 = wave64};
                char body[256];
                snprintf(body, sizeof body,
                         "global_load_tr_%s v[12:%u], v[10:11], off\n@w\nv_mov_b32 v9, v%u\n",
                         bytes == 2 ? "b128" : "b64", 12 + 2 * bytes - 1, 12 + dword); /* as in wave32 */
                build(&w, body);
                uint8_t *data = wm_host_pointer(w.machine, w.data, 4 * DATA_WORDS);
                for (unsigned i = 0; i < 256; i++) {
                    const uint16_t value = (uint16_t)(bytes == 2 ? 0x1000 + i : i);
                    memcpy(data + bytes * i, &value, bytes);
                }
                for (unsigned lane = 0; lane < lanes; lane++) /* addresses of lanes above 31 are ignored */
                    w.from[lane] = lane < 32 ? w.data + 8 * bytes * lane : 0;
                run(&w);
                no_fault(&w);
                for (unsigned lane = 0; lane < lanes; lane++)
                    for (unsigned part = 0; part < 4 / bytes; part++) {
                        const unsigned expected = transposed(wave64, lane, 4 / bytes * dword + part);
                        assert_int_equal(w.out[lane] >> 8 * bytes * part & (bytes == 2 ? 0xffff : 0xff),
                                         bytes == 2 ? 0x1000 + expected : expected);
                    }
                close_world(&w);
            }
        }
}

/* Adds the high half if the low half equals memory's, and increments the low half. */
static void ordered_adds_wait_for_their_turn(void **state)
{
    (void)state;
    struct world w = {.t = find_target("gfx1200")};
    build(&w, "v_mov_b32 v8, 1006\nv_mov_b32 v9, 100\n"
              "global_atomic_ordered_add_b64 v[8:9], v[10:11], v[8:9], off @r\n");
    for (unsigned lane = 0; lane < LANES; lane++)
        w.from[lane] = w.data + 8 * lane;
    run(&w);
    no_fault(&w);
    const uint32_t *data = wm_host_pointer(w.machine, w.data, 4 * DATA_WORDS);
    for (unsigned lane = 0; lane < LANES; lane++) {
        const bool turn = lane == 3;
        assert_int_equal(w.out[lane], 1000 + 2 * lane + 1);
        assert_int_equal(data[2 * lane], 1000 + 2 * lane + turn);
        assert_int_equal(data[2 * lane + 1], 1000 + 2 * lane + 1 + (turn ? 100 : 0));
    }
    close_world(&w);
}

/* An address past a buffer may fall into the gaps between the waves' scratch; the report must not name
 * scratch then. */
static void faults_name_what_the_kernel_was_after(void **state)
{
    static const struct {
        const char *body;
        uint64_t distance; /* from `data` to the lanes' load addresses */
        const char *words;
    } cases[] = {
        {"global_load_@4 v9, v[10:11], off\n", (UINT64_C(4) << 30) + 0x8000, "; no allocation is near\n"},
        {"flat_load_@4 v9, v[10:11]\n", (UINT64_C(4) << 30) + 0x8000, "; no allocation is near\n"},
        {"global_load_@4 v9, v[10:11], off\n", 4 * DATA_WORDS + 8, "; nearest: 'data' ends at "},
        {"v_mov_b32 v12, 0x400\nscratch_load_@4 v9, v12, off\n", 0, "; beyond the 2048 bytes of scratch "},
        {"v_mov_b32 v12, 0x3c\nscratch_load_@8 v[8:9], v12, off\n", 0, "; beyond the 2048 bytes of scratch "},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w = {.t = find_target("gfx1100")};
        build(&w, cases[i].body);
        for (unsigned lane = 0; lane < LANES; lane++)
            w.to[lane] = w.from[lane] = w.data + cases[i].distance;
        run(&w);
        if (w.result.fault.kind != WM_FAULT_MEMORY)
            fail_msg("case %u: no fault", i);
        char text[sizeof w.result.fault.text + 1];
        snprintf(text, sizeof text, "%s\n", w.result.fault.text);
        if (!strstr(text, cases[i].words))
            fail_msg("case %u: %s", i, text);
        if (cases[i].distance)
            assert_int_equal(w.result.fault.low, w.data + cases[i].distance);
        close_world(&w);
    }
    static struct text_run run;
    run_text("gfx1100", "scratch_load_b32 v9, off, s12", &run);
    assert_non_null(strstr(run.fault.text, "; the kernel has no scratch"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_go_where_their_addresses_lead),
        cmocka_unit_test(offsets_are_added_behind_the_test),
        cmocka_unit_test(lds_ends_at_its_size),
        cmocka_unit_test(the_size_in_flat_scratch_counts),
        cmocka_unit_test(atomics_reach_all_memory),
        cmocka_unit_test(violations_stop_or_go_on),
        cmocka_unit_test(global_has_scalar_bases),
        cmocka_unit_test(scratch_adds_what_its_form_has),
        cmocka_unit_test(loads_go_to_lds),
        cmocka_unit_test(lds_ends_where_m0_says),
        cmocka_unit_test(loads_may_have_a_status),
        cmocka_unit_test(blocks_have_holes),
        cmocka_unit_test(blocks_end_with_the_frame),
        cmocka_unit_test(loads_transpose),
        cmocka_unit_test(ordered_adds_wait_for_their_turn),
        cmocka_unit_test(faults_name_what_the_kernel_was_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
