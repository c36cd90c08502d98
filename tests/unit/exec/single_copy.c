/* SPDX-License-Identifier: MIT */
/* Aligned accesses of up to 8 bytes are not split (base/single_copy.h), whatever other threads do meanwhile.
 *
 * The host's trap flag stops it after each of its instructions, so that nothing depends on chance. Where
 * kernels load, the memory changes at each stop; a value that came from two instructions has different bytes.
 * Where they store, no element may have different bytes at any stop. A kernel starts the trace of an access
 * by a scalar load from a page that is protected, and ends it by a load from another one. */
#include "unit/run_text.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>

#if defined(__x86_64__) && defined(__linux__)
#include <ucontext.h>

enum { PAGE = 4096, USED = PAGE / 2, RESULTS = 1 << 20, TRAP_FLAG = 0x100, LANE_BYTES = 16 };

/* Two allocations, and what the handler does with them. */
static struct {
    unsigned char *memory[2];
    unsigned char *triggers; /* two pages: a load from the first one starts a trace, from the other ends it */
    bool loads;
    unsigned unit;  /* of stores, in bytes */
    unsigned times; /* that each access is made, of which the last one is traced */
    unsigned untraced;
    uint64_t stops;
    unsigned torn; /* places of stores */
} watched;

static bool is_torn(const unsigned char *p, unsigned bytes)
{
    for (unsigned i = 1; i < bytes; i++)
        if (p[i] != p[0])
            return true;
    return false;
}

/* Protects one of the two pages, so that only it stops the kernel. */
static void protect(bool first, bool second)
{
    mprotect(watched.triggers, PAGE, first ? PROT_NONE : PROT_READ | PROT_WRITE);
    mprotect(watched.triggers + PAGE, PAGE, second ? PROT_NONE : PROT_READ | PROT_WRITE);
}

static void start_or_end(int number, siginfo_t *info, void *context)
{
    greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
    const uintptr_t at = (uintptr_t)info->si_addr - (uintptr_t)watched.triggers;
    (void)number;
    if (at >= 2 * PAGE)
        abort();
    if (at >= PAGE)
        *flags &= ~(greg_t)TRAP_FLAG;
    else if (!watched.untraced)
        *flags |= TRAP_FLAG;
    else
        watched.untraced--;
    protect(at >= PAGE, at < PAGE);
}

static void stop(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    watched.stops++;
    for (unsigned i = 0; i < 2; i++) {
        if (watched.loads)
            memset(watched.memory[i], (int)(watched.stops % 255 + 1), USED);
        const uint64_t *unit = (const uint64_t *)watched.memory[i];
        for (unsigned at = 0; !watched.loads && at < USED / 8; at++)
            watched.torn += watched.unit == 2 ? ((unit[at] ^ unit[at] >> 8) & 0x00ff00ff00ff00ff) != 0
                                              : unit[at] != (unit[at] & 0xff) * 0x0101010101010101;
    }
}

/* cmocka has a handler of its own in each test. */
static bool handle_signals(void)
{
    const struct sigaction on_access = {.sa_sigaction = start_or_end, .sa_flags = SA_SIGINFO},
                           on_stop = {.sa_sigaction = stop, .sa_flags = SA_SIGINFO};
    return !sigaction(SIGSEGV, &on_access, NULL) && !sigaction(SIGTRAP, &on_stop, NULL);
}

/* ---- kernels ---- */

enum pattern { CONTIGUOUS, SCATTERED, SAME, STRIDED, TWO_ALLOCATIONS, PATTERNS };
enum path { SADDR, VADDR, FLAT, BUFFER, SHORT_BUFFER, FORMAT, PATHS };
static const uint64_t masks[] = {UINT64_MAX, 0x0003ffff0003ffff, 0x5555aaaa5555aaaa, 0x80000080};
enum { MASKS = sizeof masks / sizeof *masks, FEW = MASKS - 1 };

struct target {
    const char *name;
    unsigned lanes;
    uint64_t address[4]; /* of the two allocations, the results, and the triggers */
};

/* A lane's element: its suffix in mnemonics, its registers, its bytes in memory, and those that are one
 * element there. */
struct shape {
    const char *load, *store, *registers;
    unsigned bytes, spacing, unit;
};
static const struct shape shapes[] = {
    {"ushort", "short", "v4", 2, 2, 2},
    {"dwordx2", "dwordx2", "v[4:5]", 8, 8, 8},
    {"dwordx3", "dwordx3", "v[4:6]", 12, 16, 8},
    {"dwordx4", "dwordx4", "v[4:7]", 16, 16, 8},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, X2 = 1 };

/* Stops take 60 us on some virtual machines: only with WAVEMEM_TEST_FULL there are all masks and patterns. */
static bool is_usual(const struct shape *shape, enum pattern pattern, unsigned mask)
{
    if (getenv("WAVEMEM_TEST_FULL"))
        return true;
    if (shape->bytes == 2 || shape->bytes == 12 || mask == FEW)
        return mask == FEW && shape->bytes != 12 && (pattern == CONTIGUOUS || pattern == TWO_ALLOCATIONS);
    return pattern <= SAME && (!mask || mask == pattern + 1u);
}

/* Each mask and pattern takes one of the paths. What lanes do one by one is slow, so few of them are active.
 */
static bool is_chosen(const struct target *target, const struct shape *shape, enum pattern pattern,
                      unsigned mask, enum path path)
{
    if (!is_usual(shape, pattern, mask))
        return false;
    if (path >= SHORT_BUFFER || pattern == TWO_ALLOCATIONS) {
        if (mask != FEW || (path == FORMAT && (target->lanes != 64 || shape != &shapes[X2])))
            return false;
        return path == VADDR || (path >= SHORT_BUFFER && pattern < TWO_ALLOCATIONS && pattern != SAME);
    }
    if (shape->bytes == 12 && mask % 2 != pattern % 2)
        return false;
    return path == (pattern + mask) % SHORT_BUFFER;
}

/* v1 = the lanes' offsets, v[2:3] = their addresses; EXEC = the mask. */
static void add_case(struct text *t, const struct target *target, const struct shape *shape,
                     enum pattern pattern, uint64_t mask)
{
    const unsigned shift = (unsigned)__builtin_ctz(shape->spacing) + (pattern == STRIDED);
    add_text(t, "v_mov_b32 v1, v0\n");
    if (pattern == SCATTERED)
        add_text(t, "v_mul_u32_u24 v1, 37, v0\nv_and_b32 v1, %u, v1\n", target->lanes - 1);
    if (pattern == SAME)
        add_text(t, "v_mov_b32 v1, 3\n");
    add_text(t, "v_lshlrev_b32 v1, %u, v1\nv_or_b32 v2, s2, v1\nv_mov_b32 v3, s3\n", shift);
    if (pattern == TWO_ALLOCATIONS)
        add_text(t, "v_and_b32 v9, 1, v0\nv_mul_lo_u32 v8, v9, s31\nv_xor_b32 v2, v2, v8\n"
                    "v_mul_lo_u32 v8, v9, s30\nv_or_b32 v1, v1, v8\n");
    if (target->lanes == 64)
        add_text(t, "s_mov_b32 exec_lo, 0x%x\ns_mov_b32 exec_hi, 0x%x\n", (uint32_t)mask,
                 (uint32_t)(mask >> 32));
    else
        add_text(t, "s_mov_b32 exec_lo, 0x%x\n", (uint32_t)(mask | mask >> 32));
}

static void end_case(struct text *t, const struct target *target)
{
    add_text(t, "s_mov_b32 exec_lo, -1\n");
    if (target->lanes == 64)
        add_text(t, "s_mov_b32 exec_hi, -1\n");
}

static void add_access(struct text *t, const struct shape *shape, enum path path, bool loads)
{
    const char *what = loads ? shape->load : shape->store, *how = loads ? "load" : "store";
    const char *v = shape->registers;
    if (path == SADDR && loads)
        add_text(t, "global_load_%s %s, v1, s[2:3]\n", what, v);
    else if (path == SADDR)
        add_text(t, "global_store_%s v1, %s, s[2:3]\n", what, v);
    else if (path == VADDR && loads)
        add_text(t, "global_load_%s %s, v[2:3], off glc\n", what, v);
    else if (path == VADDR)
        add_text(t, "global_store_%s v[2:3], %s, off\n", what, v);
    else if (path == FLAT && loads)
        add_text(t, "flat_load_%s %s, v[2:3]\n", what, v);
    else if (path == FLAT)
        add_text(t, "flat_store_%s v[2:3], %s\n", what, v);
    else
        add_text(t, "buffer_%s_%s %s, v1, s[%u:%u], 0 offen\n", how, path == FORMAT ? "format_xy" : what, v,
                 path == BUFFER   ? 8
                 : path == FORMAT ? 16
                                  : 24,
                 path == BUFFER   ? 11
                 : path == FORMAT ? 19
                                  : 27);
}

static void begin(struct text *t, const struct target *target)
{
    const uint64_t *at = target->address;
    add_text(t, "s_mov_b32 s2, 0x%x\ns_mov_b32 s3, 0x%x\n", (uint32_t)at[0], (uint32_t)(at[0] >> 32));
    add_text(t, "s_mov_b32 s30, 0x%x\ns_mov_b32 s31, 0x%x\n", (uint32_t)(at[1] - at[0]),
             (uint32_t)(at[1] ^ at[0]));
    add_resource(t, 8, at[0], 0, PAGE, raw_word3(target->name));
    add_resource(t, 16, at[0], 0, PAGE, 11 << 15 | 4 << 12 | 0xfac); /* 32_32, UINT */
    add_resource(t, 24, at[0], 0, 128, raw_word3(target->name));     /* other lanes are out of range */
    add_text(t, "v_lshlrev_b32 v10, 4, v0\ns_mov_b32 s28, 0\nagain:\n");
    add_text(t, "s_mov_b32 s4, 0x%x\ns_mov_b32 s5, 0x%x\n", (uint32_t)at[2], (uint32_t)(at[2] >> 32));
    add_text(t, "s_mov_b32 s6, 0x%x\ns_mov_b32 s7, 0x%x\n", (uint32_t)at[3], (uint32_t)(at[3] >> 32));
}

static void add_trace(struct text *t, bool starts)
{
    add_text(t, "s_waitcnt 0\ns_load_dword s29, s[6:7], %u\ns_waitcnt 0\n", starts ? 0 : PAGE);
}

static void end(struct text *t)
{
    add_text(t, "s_add_u32 s28, s28, 1\ns_cmp_lt_u32 s28, %u\ns_cbranch_scc1 again\ns_endpgm\n",
             watched.times);
}

static void add_result(struct text *t)
{
    add_text(t,
             "s_waitcnt 0\nglobal_store_dwordx4 v10, v[4:7], s[4:5]\n"
             "s_add_u32 s4, s4, %u\ns_addc_u32 s5, s5, 0\n",
             64 * LANE_BYTES);
}

/* The units of the results, in the order of the cases. Returns the number of cases. */
static unsigned write_loads(struct text *t, const struct target *target, struct shape const **of)
{
    unsigned count = 0;
    begin(t, target);
    for (unsigned s = 0; s < SHAPES; s++)
        for (unsigned path = 0; path < PATHS; path++)
            for (unsigned pattern = 0; pattern < PATTERNS; pattern++)
                for (unsigned mask = 0; mask < MASKS; mask++) {
                    if (!is_chosen(target, &shapes[s], pattern, mask, path))
                        continue;
                    of[count++] = &shapes[s];
                    add_case(t, target, &shapes[s], pattern, masks[mask]);
                    add_trace(t, true);
                    add_access(t, &shapes[s], path, true);
                    add_trace(t, false);
                    add_result(t);
                    end_case(t, target);
                }
    for (unsigned buffer = 0; buffer < 2; buffer++)
        for (unsigned s = X2; s < SHAPES; s += 2) {
            of[count++] = &shapes[s];
            add_trace(t, true);
            add_text(t, "s_%sload_%s s[20:%u], s[%s], 16\n", buffer ? "buffer_" : "", shapes[s].load,
                     19 + shapes[s].bytes / 4, buffer ? "8:11" : "2:3");
            add_trace(t, false);
            for (unsigned i = 0; i < 4; i++)
                add_text(t, "v_mov_b32 v%u, s%u\n", 4 + i, 20 + i);
            add_result(t);
        }
    end(t);
    return count;
}

/* Each case stores other bytes. Three dwords would leave half an element. */
static unsigned write_stores(struct text *t, const struct target *target, unsigned unit)
{
    unsigned count = 0;
    begin(t, target);
    for (unsigned s = 0; s < SHAPES; s++)
        for (unsigned path = 0; path < PATHS && shapes[s].unit == unit && shapes[s].bytes != 12; path++)
            for (unsigned pattern = 0; pattern < PATTERNS; pattern++)
                for (unsigned mask = 0; mask < MASKS; mask++) {
                    if (!is_chosen(target, &shapes[s], pattern, mask, path))
                        continue;
                    for (unsigned i = 0; i < 4; i++)
                        add_text(t, "v_mov_b32 v%u, 0x%x\n", 4 + i, 0x01010101 * (count % 255 + 1));
                    count++;
                    add_case(t, target, &shapes[s], pattern, masks[mask]);
                    add_trace(t, true);
                    add_access(t, &shapes[s], path, false);
                    add_trace(t, false);
                    end_case(t, target);
                }
    if (unit == 8 && target->lanes == 64) {
        add_text(t, "s_mov_b32 s20, 0x10101010\ns_mov_b32 s21, s20\n");
        add_trace(t, true);
        add_text(t, "s_store_dwordx2 s[20:21], s[2:3], 16\n");
        add_trace(t, false);
        count++;
    }
    end(t);
    return count;
}

/* ---- runs ---- */

struct machine {
    struct wm_machine *machine;
    struct wm_diag diag;
    unsigned char *results;
    struct target target;
};

static void create(struct machine *m, const char *name)
{
    static const char *const names[] = {"first", "second", "results", "triggers"};
    m->target = (struct target){.name = name, .lanes = lanes_of(name)};
    assert_int_equal(wm_machine_create(name, &m->machine, &m->diag), WM_OK);
    for (unsigned i = 0; i < 4; i++) {
        const uint64_t size = i == 2 ? RESULTS : 3 * PAGE; /* one or two pages of the host's are in it */
        uint64_t address;
        assert_int_equal(wm_allocate(m->machine, size, 0, names[i], &address, &m->diag), WM_OK);
        m->target.address[i] = address + -(uintptr_t)wm_host_pointer(m->machine, address, size) % PAGE;
    }
    watched.triggers = wm_host_pointer(m->machine, m->target.address[3], 2 * PAGE);
    for (unsigned i = 0; i < 2; i++)
        watched.memory[i] = wm_host_pointer(m->machine, m->target.address[i], PAGE);
    m->results = wm_host_pointer(m->machine, m->target.address[2], RESULTS - PAGE);
    assert_true(watched.memory[0] && watched.memory[1] && m->results && watched.triggers);
    assert_true(m->target.address[1] > m->target.address[0]);
    assert_int_equal(m->target.address[1] >> 32, m->target.address[0] >> 32);
}

/* Runs the text of `count` accesses once, so that it is lowered and compiled, and again, traced. */
static void run_traced(struct machine *m, const struct text *t, unsigned count)
{
    struct wm_object *object;
    const struct wm_kernel *kernel;
    uint8_t *code = NULL;
    char *messages = NULL;
    size_t bytes = 0;
    if (wm_assemble(t->text, t->length, "single_copy", m->target.name, WM_ASSEMBLE_RAW, &code, &bytes,
                    &messages, &m->diag))
        fail_msg("%s\n%.500s", m->diag.message, messages ? messages : "");
    assert_int_equal(wm_object_open(code, bytes, "single_copy", m->target.name, &object, &m->diag), WM_OK);
    assert_int_equal(wm_object_find_kernel(object, NULL, &kernel, &m->diag), WM_OK);
    assert_int_equal(wm_load(m->machine, object, &m->diag), WM_OK);
    for (unsigned i = 0; i < 2; i++) {
        struct wm_result result = {.struct_size = sizeof result};
        const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                             .grid = {m->target.lanes},
                                             .workgroup = {m->target.lanes},
                                             .threads = 1};
        watched.untraced = (watched.times - 1) * count;
        protect(i == 1, false);
        const enum wm_status status = wm_dispatch(m->machine, object, kernel, &dispatch, &result, &m->diag);
        protect(false, false);
        if (status)
            fail_msg("%s", m->diag.message);
        assert_int_equal(result.fault.kind, WM_FAULT_NONE);
    }
    wm_object_close(object);
    free(code);
    free(messages);
    free(t->text);
}

static void try_loads(const char *name)
{
    static const struct shape *of[RESULTS / (64 * LANE_BYTES)];
    struct machine m;
    struct text t = {0};
    unsigned torn = 0, loaded = 0;
    create(&m, name);
    watched.loads = true;
    const unsigned count = write_loads(&t, &m.target, of);
    assert_true((count + 4) * 64 * LANE_BYTES < RESULTS);
    run_traced(&m, &t, count);
    for (unsigned i = 0; i < count; i++)
        for (unsigned lane = 0; lane < m.target.lanes; lane++) {
            const unsigned char *p = m.results + (i * 64 + lane) * LANE_BYTES;
            bool is_whole = true;
            for (unsigned at = 0; at + of[i]->unit <= of[i]->bytes; at += of[i]->unit)
                is_whole &= !is_torn(p + at, of[i]->unit);
            if (!is_whole && !torn++)
                print_error("case %u (%s), lane %u\n", i, of[i]->load, lane);
            loaded += p[0] != 0;
        }
    assert_true(loaded > count);
    assert_int_equal(torn, 0);
    wm_machine_destroy(m.machine);
}

static void try_stores(const char *name, unsigned unit)
{
    struct machine m;
    struct text t = {0};
    create(&m, name);
    watched.loads = false;
    watched.unit = unit;
    watched.torn = 0;
    for (unsigned i = 0; i < 2; i++)
        memset(watched.memory[i], 0, PAGE);
    const unsigned count = write_stores(&t, &m.target, unit);
    run_traced(&m, &t, count);
    assert_int_equal(watched.torn, 0);
    wm_machine_destroy(m.machine);
}

/* Waves of both sizes at each CPU level that has its own code. */
static void at_each_level(const char *compile, void (*try)(const char *target))
{
    static const struct {
        const char *level, *target;
    } ways[] = {{"baseline", "gfx1030"}, {"avx2", "gfx1030"}, {"avx512", "gfx900"}};
    assert_true(handle_signals());
    /* Compiled code is left for accesses to another allocation than the last one's. */
    watched.times = strcmp(compile, "off") ? 2 : 1;
    setenv("WAVEMEM_COMPILE", compile, 1);
    for (unsigned i = strcmp(compile, "off") ? 1 : 0; i < 3; i++) {
        struct wm_machine *probe;
        setenv("WAVEMEM_CPU", ways[i].level, 1);
        if (wm_machine_create(ways[i].target, &probe, NULL)) /* this CPU lacks the level */
            setenv("WAVEMEM_CPU", ways[i - 1].level, 1);
        else
            wm_machine_destroy(probe);
        try(ways[i].target);
    }
}

static void loads_are_whole(void **state)
{
    at_each_level(*state, try_loads);
}

static void try_all_stores(const char *target)
{
    try_stores(target, 2);
    try_stores(target, 8);
}

static void stores_are_whole(void **state)
{
    at_each_level(*state, try_all_stores);
}

/* Whether the host lets a program trace itself. */
static bool can_trace(void)
{
    static unsigned char some[2][PAGE];
    watched.loads = true;
    watched.memory[0] = some[0];
    watched.memory[1] = some[1];
    watched.triggers = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (watched.triggers == MAP_FAILED || !handle_signals())
        return false;
    (void)*(volatile unsigned char *)watched.triggers;
    (void)*(volatile unsigned char *)(watched.triggers + PAGE);
    munmap(watched.triggers, 2 * PAGE);
    return watched.stops > 0;
}

int main(void)
{
    static char off[] = "off", always[] = "always";
    const struct CMUnitTest tests[] = {
        {"loads_are_whole, interpreted", loads_are_whole, NULL, NULL, off},
        {"stores_are_whole, interpreted", stores_are_whole, NULL, NULL, off},
        {"loads_are_whole, compiled", loads_are_whole, NULL, NULL, always},
        {"stores_are_whole, compiled", stores_are_whole, NULL, NULL, always},
    };
    return can_trace() ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}
#else
int main(void)
{
    return 77;
}
#endif
