/* SPDX-License-Identifier: MIT */
/* Assembles the kernel of a target once, and replaces its body for each run. */
#include "kernel.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    TEXT = 1 << 17,
    SETS = 64, /* maximum words that set registers before an instruction */
    ROW = 256, /* bytes per row of the dump */
    LDS_BYTES = 1000,
    PRIVATE_BYTES = 64,
    MOST_TARGETS = 256,
    PAGE = 4096,
    PAGES = 4 * KERNEL_WORDS + 2 * PAGE,
};

static_assert(PAGES % PAGE == 0, "the memory ends where a page does");

#define MEMORY UINT64_C(0x200000000000) /* guest address */

/* Registers of the kernel itself; instructions.h has those of MANNER_ORDINARY. */
enum {
    V_ADDRESS = 32, /* source of VGPR_ADDRESS, two registers */
    V_LANE = 34,
    V_OFFSET = 35, /* source of VGPR_OFFSET: 16 * lane */
    V_DUMP = 36,   /* not dumped: the offset within a row, and rows of SGPRs */
    V_PACKED = 37,
    S_DUMP = 84,  /* a V# and an offset, */
    S_SAVED = 89, /* then other dumped state, in the rows of SGPRs that are not dumped */
};

enum { MACHINES = 4 };

enum set { SET_EXEC_LO, SET_EXEC_HI, SET_M0, SET_ADDRESS_LO, SET_ADDRESS_HI, SET_COUNT };

struct kernel {
    char name[32]; /* without the wave size */
    unsigned lanes, generation, agprs;
    const struct wmi_target *target;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    /* Two pairs, with the object loaded: for unobserved and observed runs, and for unobserved runs and runs
     * with stops. Each dispatch allocates at new addresses, but at the same in both machines of a pair. */
    struct wm_machine *machine[MACHINES];
    /* The memory that instructions access is the host's, with pages before and behind that nobody may touch.
     */
    unsigned char *pages[MACHINES];
    uint64_t memory, dump, constant; /* guest addresses, identical in all machines */
    uint8_t *code;                   /* original bytes at `entry`, to undo stores to code */
    uint64_t entry, code_size;
    uint64_t body, done;
    struct sets {
        uint32_t word[SETS];
        unsigned count, literal[SET_COUNT]; /* position of each literal; 0: not present */
    } all, few;                             /* address registers, EXEC and M0; EXEC and M0 only */
    uint32_t branch;                        /* s_branch 0 */
};

static void stop(const char *what, const char *message)
{
    fprintf(stderr, "%s: %s\n", what, message);
    abort();
}

static void require(enum wm_status status, const char *what, const struct wm_diag *diag)
{
    if (status != WM_OK)
        stop(what, diag->message);
}

static uint32_t limit(const struct kernel *k, enum wmi_limit limit)
{
    return wmi_target_limit(k->target, limit);
}

/* ---- targets ---- */

static const struct wmi_target *executed_target(const char *name, unsigned lanes)
{
    const struct wmi_target *target = wmi_target_find(name);
    const struct wmi_target *halves = wmi_target_variant(target, lanes, true);
    return halves ? halves : wmi_target_variant(target, lanes, false);
}

static bool same(const struct wmi_target *a, const struct wmi_target *b)
{
    return a->spaces == b->spaces && a->codes == b->codes &&
           !memcmp(a->limits, b->limits, sizeof a->limits) && !memcmp(a->names, b->names, sizeof a->names);
}

const char *kernel_target(size_t index, bool every)
{
    static _Thread_local char name[40];
    const struct wmi_target *found[MOST_TARGETS];
    size_t count = 0;
    for (size_t i = 0; wm_target_at(i); i++)
        for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
            const struct wmi_target *target = executed_target(wm_target_at(i), lanes);
            bool is_new = target != NULL && count < MOST_TARGETS;
            for (size_t k = 0; is_new && !every && k < count; k++)
                is_new = !same(found[k], target);
            if (!is_new)
                continue;
            if (count == index) {
                snprintf(name, sizeof name, "%s:wave%u", wmi_target_name(target), lanes);
                return name;
            }
            found[count++] = target;
        }
    return NULL;
}

static bool has_accumulators(const struct wmi_target *target)
{
    bool has = false;
    for (unsigned i = 0; i < target->mnemonic_count; i++)
        has |= !strcmp(target->mnemonics[i].name, "v_accvgpr_read_b32");
    return has;
}

/* ---- text ---- */

struct text {
    char text[TEXT];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(t->text + t->length, TEXT - t->length, format, arguments);
    va_end(arguments);
    t->length += (size_t)length;
    if (t->length >= TEXT)
        stop("text", "it is too long");
}

/* Initialises FLAT_SCRATCH from s[2:3] and s5. Source: LLVM AMDGPUUsage, "Flat Scratch". */
static void add_flat_scratch(struct text *t, const struct kernel *k)
{
    if (k->generation == 6 || limit(k, WMI_LIMIT_initial_scratch))
        return;
    if (limit(k, WMI_LIMIT_split_scratch))
        add(t, "s_mov_b32 flat_scratch_lo, s3\ns_add_u32 s2, s2, s5\ns_lshr_b32 flat_scratch_hi, s2, 8\n");
    else if (k->generation >= 10)
        add(t, "s_add_u32 s2, s2, s5\ns_addc_u32 s3, s3, 0\ns_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s2\n"
               "s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s3\n");
    else
        add(t, "s_add_u32 flat_scratch_lo, s2, s5\ns_addc_u32 flat_scratch_hi, s3, 0\n");
}

static void add_directives(struct text *t, const struct kernel *k)
{
    const bool unified = limit(k, WMI_LIMIT_vgprs_unified);
    add(t, ".rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr %u\n.amdhsa_next_free_sgpr 88\n",
        unified ? 2 * KERNEL_VGPRS : KERNEL_VGPRS);
    add(t, ".amdhsa_private_segment_fixed_size %u\n.amdhsa_group_segment_fixed_size %u\n", PRIVATE_BYTES,
        LDS_BYTES);
    add(t, ".amdhsa_user_sgpr_kernarg_segment_ptr 1\n");
    if (unified)
        add(t, ".amdhsa_accum_offset %u\n", KERNEL_VGPRS);
    if (k->generation >= 10)
        add(t, ".amdhsa_wavefront_size32 %u\n", k->lanes == 32);
    if (limit(k, WMI_LIMIT_initial_scratch))
        add(t, ".amdhsa_enable_private_segment 1\n");
    else if (k->generation > 6)
        add(t, ".amdhsa_user_sgpr_flat_scratch_init 1\n"
               ".amdhsa_system_sgpr_private_segment_wavefront_offset 1\n");
    add(t, ".end_amdhsa_kernel\n");
}

/* Sets four SGPRs to a V# of bytes, starting at `address`. */
static void add_buffer(struct text *t, const struct kernel *k, unsigned reg, uint64_t address)
{
    if (limit(k, WMI_LIMIT_descriptors) ==
        9) { /* CDNA 5 ISA, "Buffer Resource": 45 bits of NUM_RECORDS, from bit 57 on */
        add(t, "s_mov_b32 s%u, 0x%x\ns_mov_b32 s%u, 0x%x\ns_mov_b32 s%u, -1\ns_mov_b32 s%u, 0x3f\n", reg,
            (uint32_t)address, reg + 1, (uint32_t)(address >> 32) | 0xfe000000, reg + 2, reg + 3);
        return;
    }
    add(t, "s_mov_b32 s%u, 0x%x\ns_mov_b32 s%u, 0x%x\n", reg, (uint32_t)address, reg + 1,
        (uint32_t)(address >> 32));
    add(t, "s_mov_b32 s%u, -1\ns_mov_b32 s%u, 0x%x\n", reg + 2, reg + 3,
        k->generation >= 10 ? 0x31016facu : 0x00024facu);
}

/* Turns off VSKIP and VGPR indexing, which would change the meaning of the following code. */
static void add_states_off(struct text *t, const struct kernel *k)
{
    if (k->generation < 10)
        add(t, "s_setvskip 0, 0\n");
    if (k->generation == 8 || k->generation == 9)
        add(t, "s_set_gpr_idx_off\n");
}

static void add_all_lanes(struct text *t, const struct kernel *k)
{
    add(t, "s_mov_b32 exec_lo, -1\n");
    if (k->lanes == 64)
        add(t, "s_mov_b32 exec_hi, -1\n");
}

static void add_prologue(struct text *t, const struct kernel *k)
{
    add_flat_scratch(t, k);
    add(t, "s_load_dwordx16 s[%u:%u], s[0:1], 0x0\n", SGPR_BUFFER, SGPR_BUFFER + KERNEL_DESCRIPTORS - 1);
    add_buffer(t, k, 4, k->memory);
    add(t, "s_mov_b32 s%u, 0\n", SGPR_ZERO);
    add_all_lanes(t, k);
    add(t, "v_mbcnt_lo_u32_b32 v%u, -1, 0\nv_mbcnt_hi_u32_b32 v%u, -1, v%u\n", V_LANE, V_LANE, V_LANE);
    add(t, "v_lshlrev_b32 v%u, 4, v%u\n", V_OFFSET, V_LANE);
    add(t, "v_or_b32 v%u, 0x%x, v%u\nv_mov_b32 v%u, 0x%x\n", V_ADDRESS, (uint32_t)k->memory, V_OFFSET,
        V_ADDRESS + 1, (uint32_t)(k->memory >> 32));
    for (unsigned i = 6; i < V_ADDRESS; i++)
        add(t, "buffer_load_dword v%u, v%u, s[4:7], s%u offen offset:%u\n", i, V_OFFSET, SGPR_ZERO,
            (i - 6) * 4 + (i & 1) * 2048);
    add(t, "s_mov_b32 m0, -1\nds_write_b64 v%u, v[6:7]\n", V_OFFSET);
}

/* Stores registers to rows of the dump: row v is VGPR v, followed by AccVGPRs, LDS, SGPRs. */
static void add_stored(struct text *t, unsigned vgpr, unsigned row)
{
    add(t, "s_mov_b32 s%u, 0x%x\nbuffer_store_dword v%u, v%u, s[%u:%u], s%u offen\n", S_DUMP + 4, row * ROW,
        vgpr, V_DUMP, S_DUMP, S_DUMP + 3, S_DUMP + 4);
}

static void add_epilogue(struct text *t, const struct kernel *k)
{
    unsigned row = 0;
    add_states_off(t, k);
    static const char *const saved[] = {"exec_lo", "exec_hi", "m0", "vcc_lo", "vcc_hi"};
    add(t, "s_cselect_b32 s%u, 1, 0\ns_getreg_b32 s%u, hwreg(HW_REG_MODE)\n", S_SAVED, S_SAVED + 1);
    for (unsigned i = 0; i < sizeof saved / sizeof *saved; i++)
        if (i != 1 || k->lanes == 64)
            add(t, "s_mov_b32 s%u, %s\n", S_SAVED + 2 + i, saved[i]);
    add_buffer(t, k, S_DUMP, k->dump);
    add_all_lanes(t, k);
    add(t, "v_mbcnt_lo_u32_b32 v%u, -1, 0\nv_mbcnt_hi_u32_b32 v%u, -1, v%u\nv_lshlrev_b32 v%u, 2, v%u\n",
        V_DUMP, V_DUMP, V_DUMP, V_DUMP, V_DUMP);
    for (unsigned i = 0; i < KERNEL_VGPRS; i++, row++)
        if (i != V_DUMP && i != V_PACKED)
            add_stored(t, i, row);
    for (unsigned i = 0; i < k->agprs; i++, row++) {
        add(t, "v_accvgpr_read_b32 v%u, a%u\n", V_PACKED, i);
        add_stored(t, V_PACKED, row);
    }
    add(t, "s_mov_b32 m0, -1\n");
    for (unsigned at = 0; at < LDS_BYTES; at += 4 * k->lanes, row++) {
        add(t, "ds_read_b32 v%u, v%u offset:%u\n", V_PACKED, V_DUMP, at);
        add_stored(t, V_PACKED, row);
    }
    const unsigned sgprs = limit(k, WMI_LIMIT_sgprs);
    for (unsigned i = 0; i < sgprs; i++) {
        add(t, "v_writelane_b32 v%u, s%u, %u\n", V_PACKED, i, i % k->lanes);
        if ((i + 1) % k->lanes == 0 || i + 1 == sgprs)
            add_stored(t, V_PACKED, row++);
    }
    add(t, "s_endpgm\n");
}

static void assemble(const struct kernel *k, const struct text *t, unsigned flags, uint8_t **bytes,
                     size_t *size)
{
    struct wm_diag diag;
    char *messages = NULL;
    if (wm_assemble(t->text, t->length, k->name, k->name, flags, bytes, size, &messages, &diag))
        stop(diag.message, messages ? messages : "");
    free(messages);
}

/* ---- the kernel ---- */

/* Returns KERNEL_WORDS words between two pages without access. */
static unsigned char *guarded_memory(const char *target, unsigned char **pages)
{
    *pages = mmap(NULL, PAGES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (*pages == MAP_FAILED || mprotect(*pages + PAGE, PAGES - 2 * PAGE, PROT_READ | PROT_WRITE))
        stop(target, "no memory");
    return *pages + PAGE;
}

static struct wm_machine *new_machine(const char *target, unsigned char **pages, uint64_t *dump,
                                      uint64_t *constant)
{
    struct wm_machine *machine;
    struct wm_diag diag;
    unsigned char *host = guarded_memory(target, pages);
    require(wm_machine_create(target, &machine, &diag), target, &diag);
    require(wm_map_host(machine, host, 4 * KERNEL_WORDS, MEMORY, 0, "memory", &diag), target, &diag);
    require(wm_allocate(machine, 4 * DUMP_WORDS, 0, "dump", dump, &diag), target, &diag);
    require(wm_allocate(machine, 4096, WM_READ_ONLY, "constant", constant, &diag), target, &diag);
    return machine;
}

/* Emits the code before an instruction, with markers in place of literals. */
static void make_sets(struct kernel *k, struct text *t, bool all)
{
    static const uint32_t mark = 0x7fa51234;
    struct sets *sets = all ? &k->all : &k->few;
    uint8_t *bytes;
    size_t size;
    t->length = 0;
    add_states_off(t, k);
    if (all)
        add_all_lanes(t, k);
    for (unsigned i = 0; all && i < 2; i++) { /* the last registers hold an address too */
        const unsigned to = i ? KERNEL_VGPRS - 2 : VGPR_ADDRESS;
        add(t, "v_mov_b32 v%u, v%u\nv_mov_b32 v%u, v%u\n", to, V_ADDRESS, to + 1, V_ADDRESS + 1);
    }
    if (all) {
        add(t, "v_mov_b32 v%u, v%u\nv_mov_b32 v%u, v%u\n", VGPR_OFFSET, V_OFFSET, VGPR_OFFSET + 1, V_LANE);
        add(t, "s_mov_b32 s%u, 0x%x\ns_mov_b32 s%u, 0x%x\n", SGPR_ADDRESS, mark + SET_ADDRESS_LO,
            SGPR_ADDRESS + 1, mark + SET_ADDRESS_HI);
    }
    add(t, "s_mov_b32 m0, 0x%x\ns_mov_b32 exec_lo, 0x%x\n", mark + SET_M0, mark + SET_EXEC_LO);
    if (k->lanes == 64)
        add(t, "s_mov_b32 exec_hi, 0x%x\n", mark + SET_EXEC_HI);
    assemble(k, t, WM_ASSEMBLE_RAW, &bytes, &size);
    if (size > sizeof sets->word)
        stop(k->name, "more to set than there is room for");
    memcpy(sets->word, bytes, size);
    sets->count = (unsigned)size / 4;
    for (unsigned i = 0; i < sets->count; i++)
        if (sets->word[i] - mark < SET_COUNT)
            sets->literal[sets->word[i] - mark] = i;
    free(bytes);
}

static uint64_t place_of(const struct kernel *k, const char *symbol, uint64_t *size)
{
    uint64_t address;
    struct wm_diag diag;
    require(wm_symbol(k->machine[0], k->object, symbol, &address, size, &diag), symbol, &diag);
    return address;
}

static void load(struct kernel *k)
{
    struct wm_diag diag;
    for (unsigned i = 0; i < MACHINES; i++)
        require(wm_load(k->machine[i], k->object, &diag), k->name, &diag);
    k->entry = place_of(k, "k", &k->code_size);
    k->body = place_of(k, "body", NULL);
    k->done = place_of(k, "done", NULL);
    k->code = malloc(k->code_size);
    if (!k->code)
        stop(k->name, "no memory");
    require(wm_read(k->machine[0], k->entry, k->code, k->code_size, &diag), k->name, &diag);
}

struct kernel *kernel_create(const char *name)
{
    struct kernel *k = calloc(1, sizeof *k);
    struct text *t = calloc(1, sizeof *t);
    struct wm_diag diag;
    uint8_t *bytes;
    size_t size;
    if (!k || !t)
        stop(name, "no memory");
    snprintf(k->name, sizeof k->name, "%.*s", (int)strcspn(name, ":"), name);
    k->lanes = strstr(name, ":wave32") ? 32 : 64;
    k->target = executed_target(k->name, k->lanes);
    k->generation = limit(k, WMI_LIMIT_generation);
    k->agprs = has_accumulators(k->target) ? KERNEL_VGPRS : 0;
    for (unsigned i = 0; i < MACHINES; i++)
        k->machine[i] = new_machine(k->name, &k->pages[i], &k->dump, &k->constant);
    k->memory = MEMORY;

    add(t, ".text\n.globl k\n.p2align 8\n.type k,%%function\nk:\n");
    add_prologue(t, k);
    add(t,
        ".globl body\n.type body,%%function\nbody:\n.fill %u, 4, 0\n.globl done\n.type "
        "done,%%function\ndone:\n",
        BODY_WORDS);
    add_epilogue(t, k);
    add(t, ".size k, .-k\n");
    add_directives(t, k);
    assemble(k, t, 0, &bytes, &size);
    require(wm_object_open(bytes, size, k->name, k->name, &k->object, &diag), k->name, &diag);
    require(wm_object_find_kernel(k->object, "k", &k->kernel, &diag), k->name, &diag);
    free(bytes);
    make_sets(k, t, true);
    make_sets(k, t, false);
    t->length = 0;
    add(t, "s_branch 0\n");
    assemble(k, t, WM_ASSEMBLE_RAW, &bytes, &size);
    memcpy(&k->branch, bytes, sizeof k->branch);
    free(bytes);
    free(t);
    load(k);
    return k;
}

void kernel_destroy(struct kernel *k)
{
    if (!k)
        return;
    for (unsigned i = 0; i < MACHINES; i++)
        wm_machine_destroy(k->machine[i]);
    for (unsigned i = 0; i < MACHINES; i++)
        munmap(k->pages[i], PAGES);
    wm_object_close(k->object);
    free(k->code);
    free(k);
}

const struct wmi_target *kernel_decodes(const struct kernel *k)
{
    return k->target;
}

unsigned kernel_lanes(const struct kernel *k)
{
    return k->lanes;
}

/* ---- bodies ---- */

void kernel_descriptors(const struct kernel *k, bool ordinary, uint32_t d[KERNEL_DESCRIPTORS])
{
    enum { IMAGE = SGPR_IMAGE - SGPR_BUFFER, LINEAR = 8, TYPE_2D = 9, XYZW = 0xfac };
    static const uint8_t numbers[] = {0, 4, 5, 7};
    const unsigned g = k->generation;
    uint32_t *const image = d + IMAGE;
    if (ordinary) {
        d[1] = 0;
        d[2] = 4 * KERNEL_WORDS;
        d[3] = g >= 10 ? 0x31016fac : 0x00024fac;
        image[1] = 4;
        image[2] = 0x001f003f;
        image[3] = (TYPE_2D - 8) | XYZW;
        image[4] = image[5] = 0;
    }
    d[0] = (uint32_t)k->memory;
    d[1] = (uint32_t)(k->memory >> 32) | (d[1] & 0xc03f0000);
    d[2] &= d[2] >> 31 ? UINT32_MAX : 0xffff;
    d[3] &= 0x3fffffff;
    /* A valid format in word 1; one level. */
    const uint32_t format = g < 10 ? (1 + image[1] % 14) << 20 | (uint32_t)numbers[image[1] >> 8 & 3] << 26
                                   : (1 + image[1] % (g == 10 ? 77 : 63)) << (g == 12 ? 17 : 20);
    image[0] = (uint32_t)(k->memory >> 8);
    image[1] = (uint32_t)(k->memory >> 40) | format;
    image[2] &= 0x001f003f;
    const uint32_t linear = g < 9 ? (uint32_t)LINEAR << 20 : 0;
    const uint32_t mode = !ordinary && image[3] >> 8 & 1 ? image[3] & 31u << 20 : linear;
    image[3] = XYZW | (8 + image[3] % 8) << 28 | mode;
    image[4] &= 0x3003f;
    image[5] &= 0x3;
}

bool body_add(const struct kernel *k, const struct setting *s, struct body *body, bool all,
              const uint32_t *words, size_t count, uint64_t *offset)
{
    const uint64_t value[SET_COUNT] = {s->exec, s->exec >> 32, s->m0, k->memory, k->memory >> 32};
    const struct sets *sets = all ? &k->all : &k->few;
    if (body->count + sets->count + count + 1 > BODY_WORDS) /* the branch included */
        return false;
    uint32_t *const set = body->word + body->count;
    memcpy(set, sets->word, 4 * sets->count);
    for (unsigned i = 0; i < SET_COUNT; i++)
        if (sets->literal[i])
            set[sets->literal[i]] = (uint32_t)value[i];
    *offset = 4 * (body->count + sets->count);
    memcpy(set + sets->count, words, 4 * count);
    body->count += sets->count + count;
    return true;
}

/* ---- execution ---- */

enum way { UNOBSERVED, PROFILED, BY_ALL, STOPPED };

struct observers {
    struct wm_profile *profile;
    struct wm_check *check;
    struct wm_fidelity *fidelity;
};

/* Uses a product with small caches: clearing an L2 of 64 MiB takes longer than these kernels. */
static void use_small_caches(struct wm_profile *profile, const char *target)
{
    const struct wm_gpu *product = wm_gpu_default(target);
    struct wm_diag diag;
    if (!product)
        return;
    struct wm_gpu gpu = *product;
    for (unsigned i = 0; i < WM_CACHE_LEVELS; i++) {
        const uint64_t least = (uint64_t)gpu.cache[i].line * gpu.cache[i].ways;
        gpu.cache[i].bytes = gpu.cache[i].bytes > 16 * least ? 16 * least : gpu.cache[i].bytes;
    }
    require(wm_profile_set_gpu(profile, &gpu, &diag), target, &diag);
}

static struct observers make_observers(const struct kernel *k, enum way way)
{
    struct observers o = {0};
    struct wm_diag diag;
    if (way == PROFILED || way == BY_ALL) {
        require(wm_profile_create(&o.profile, &diag), "profile", &diag);
        use_small_caches(o.profile, k->name);
    }
    if (way == BY_ALL) {
        require(wm_check_create(WM_CHECK_WAITS | WM_CHECK_HAZARDS, &o.check, &diag), "check", &diag);
        require(wm_fidelity_create(&o.fidelity, &diag), "fidelity", &diag);
    }
    return o;
}

/* Reads the observers' results, as a user would. */
static void end_observers(struct observers *o)
{
    size_t count;
    if (o->profile)
        wm_profile_kernels(o->profile, &count);
    if (o->check)
        wm_check_findings(o->check, &count);
    if (o->fidelity)
        wm_fidelity_rows(o->fidelity, &count);
    wm_profile_destroy(o->profile);
    wm_check_destroy(o->check);
    wm_fidelity_destroy(o->fidelity);
}

/* The machine as it was after loading, with the setting's memory and the body. */
static void restore(const struct kernel *k, struct wm_machine *machine, const struct setting *s,
                    const struct body *body)
{
    static const uint32_t zeros[DUMP_WORDS];
    const uint32_t branch = k->branch | ((uint32_t)(k->done - k->body - 4 * body->count - 4) / 4 & 0xffff);
    struct wm_diag diag;
    require(wm_write(machine, k->memory, s->memory, sizeof s->memory, &diag), k->name, &diag);
    require(wm_write(machine, k->dump, zeros, sizeof zeros, &diag), k->name, &diag);
    require(wm_write(machine, k->entry, k->code, k->code_size, &diag), k->name, &diag);
    require(wm_write(machine, k->body, body->word, 4 * body->count, &diag), k->name, &diag);
    require(wm_write(machine, k->body + 4 * body->count, &branch, sizeof branch, &diag), k->name, &diag);
}

/* Sets a register to what it is. */
static void write_back(struct wm_run *run, const char *name, unsigned count)
{
    uint32_t values[64];
    struct wm_diag diag;
    require(wm_run_get(run, name, values, count, &diag), name, &diag);
    require(wm_run_set(run, name, values, count, &diag), name, &diag);
}

/* All special registers, and one in four of the others: those with this remainder. */
static void write_back_many(struct wm_run *run, const struct wm_stopped *at, unsigned remainder)
{
    static const char *const single[] = {"m0", "scc", "mode", "vcc_lo", "vcc_hi", "ttmp9"};
    static const char *const pairs[] = {"flat_scratch", "xnack_mask"};
    const struct {
        char file;
        unsigned registers, count;
    } files[] = {{'s', at->sgprs, 1}, {'v', at->vgprs, at->wave_size}, {'a', at->agprs, at->wave_size}};
    char name[16];
    for (unsigned i = 0; i < sizeof single / sizeof *single; i++)
        write_back(run, single[i], 1);
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++)
        write_back(run, pairs[i], 2);
    write_back(run, "exec", at->wave_size / 32);
    for (unsigned f = 0; f < 3; f++)
        for (unsigned i = remainder; i < files[f].registers; i += 4) {
            snprintf(name, sizeof name, "%c%u", files[f].file, i);
            write_back(run, name, files[f].count);
        }
}

/* Stops before accesses to memory and to LDS in turn, and every few instructions, but not in long loops. */
static void run_with_stops(const struct kernel *k, struct wm_machine *machine,
                           const struct wm_dispatch *dispatch, struct wm_result *result)
{
    enum { STOPS = 1000 };
    struct wm_run *run;
    struct wm_stopped at = {.struct_size = sizeof at};
    struct wm_diag diag;
    require(wm_run_begin(machine, k->object, k->kernel, dispatch, &run, &diag), k->name, &diag);
    for (unsigned i = 0; at.kind != WM_STOP_END; i++) {
        const struct wm_stop_at next = {.struct_size = sizeof next,
                                        .instructions = 1 + i * 7 % 53,
                                        .access_high = UINT64_MAX,
                                        .loads = true,
                                        .stores = true,
                                        .lds = i % 2};
        require(wm_run_to(run, i < STOPS ? &next : NULL, &at, &diag), k->name, &diag);
        if (at.kind != WM_STOP_END)
            write_back_many(run, &at, i % 4);
    }
    require(wm_run_end(run, false, result, &diag), k->name, &diag);
}

static void run(const struct kernel *k, const struct setting *s, const struct body *body, enum way way,
                struct wm_machine *machine, struct outcome *out)
{
    struct wm_diag diag;
    struct wm_result result = {.struct_size = sizeof result};
    struct observers observers = make_observers(k, way);
    restore(k, machine, s, body);
    const struct wm_dispatch dispatch = {
        .struct_size = sizeof dispatch,
        .grid = {s->items * s->groups},
        .workgroup = {s->items},
        .arguments = s->descriptor,
        .arguments_size = sizeof s->descriptor,
        .threads = 1,
        .max_instructions = s->max_instructions,
        .alignment = s->alignment,
        .scalar_cache = s->scalar_cache,
        .on_violation = s->on_violation,
        .profile = observers.profile,
        .check = observers.check,
        .fidelity = observers.fidelity,
    };
    if (way == STOPPED)
        run_with_stops(k, machine, &dispatch, &result);
    else
        require(wm_dispatch(machine, k->object, k->kernel, &dispatch, &result, &diag), k->name, &diag);
    out->fault = result.fault;
    out->fault.pc -= k->body;
    out->violation = result.violation;
    out->violations = result.violations;
    out->instructions = result.wave_instructions;
    require(wm_read(machine, k->memory, out->memory, sizeof out->memory, &diag), k->name, &diag);
    require(wm_read(machine, k->dump, out->dump, sizeof out->dump, &diag), k->name, &diag);
    end_observers(&observers);
}

static bool first_difference(const uint32_t *a, const uint32_t *b, size_t words, size_t *at)
{
    if (!memcmp(a, b, 4 * words))
        return false;
    for (*at = 0; a[*at] == b[*at];)
        ++*at;
    return true;
}

static bool differ(const struct outcome *a, const struct outcome *b, const char *way, char *text, size_t size)
{
    size_t at;
    if (a->fault.kind != b->fault.kind || strcmp(a->fault.text, b->fault.text))
        snprintf(text, size, "%s, it ends otherwise: %s | %s", way, a->fault.text, b->fault.text);
    else if (a->violations != b->violations || strcmp(a->violation.text, b->violation.text))
        snprintf(text, size, "%s, it violates otherwise: %s | %s", way, a->violation.text, b->violation.text);
    else if (a->instructions != b->instructions)
        snprintf(text, size, "%s, %llu and not %llu instructions are executed", way,
                 (unsigned long long)b->instructions, (unsigned long long)a->instructions);
    else if (first_difference(a->memory, b->memory, KERNEL_WORDS, &at))
        snprintf(text, size, "%s, dword %zu of memory is %08x and not %08x", way, at, b->memory[at],
                 a->memory[at]);
    else if (first_difference(a->dump, b->dump, DUMP_WORDS, &at))
        snprintf(text, size, "%s, row %zu of the dump, lane %zu, is %08x and not %08x", way, at / 64, at % 64,
                 b->dump[at], a->dump[at]);
    else
        return false;
    return true;
}

bool kernel_run(const struct kernel *k, const struct setting *s, const struct body *body,
                struct outcome *unobserved, char *difference, size_t size)
{
    static _Thread_local struct outcome first, second;
    const enum way way = s->by_all ? BY_ALL : PROFILED;
    run(k, s, body, UNOBSERVED, k->machine[0], unobserved);
    run(k, s, body, way, k->machine[1], &second);
    if (differ(unobserved, &second, way == BY_ALL ? "profiled and checked" : "profiled", difference, size))
        return false;
    if (!s->stops)
        return true;
    run(k, s, body, UNOBSERVED, k->machine[2], &first);
    run(k, s, body, STOPPED, k->machine[3], &second);
    if (first.fault.kind == WM_FAULT_DEADLOCK) /* is found later: at a stop, memory may have been changed */
        second.instructions = first.instructions;
    if (first.fault.kind == WM_FAULT_DEADLOCK && second.fault.kind == WM_FAULT_BUDGET)
        return true; /* so late that the budget is used up before */
    return !differ(&first, &second, "stopped", difference, size);
}
