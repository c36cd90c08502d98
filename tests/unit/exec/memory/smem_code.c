/* SPDX-License-Identifier: MIT */
/* Assembled scalar memory instructions on all targets: offsets, range checks, atomics, caches and clocks,
 * against a simple reference based on the documents. */
#include "atomic_operations.h"
#include "unit/run_text.h"

#include "base/random.h"

enum { RESULTS = TEXT_WORDS / 2, FIRST_SGPR = 32 };

static uint64_t drawn;

static uint32_t word(void)
{
    return (uint32_t)wmi_random_bits(7, drawn++);
}

static void fill(struct text_run *run)
{
    for (unsigned i = 0; i < TEXT_WORDS; i++)
        run->memory[i] = i < RESULTS ? word() : 0;
}

/* Stores SGPRs to the result words starting at *place. */
static void show(struct text *t, unsigned first, unsigned count, unsigned *place)
{
    for (unsigned i = 0; i < count; i++)
        add_text(t, "v_mov_b32 v1, s%u\nv_mov_b32 v2, 0x%x\nbuffer_store_dword v1, v2, s[8:11], s12 offen\n",
                 first + i, 4 * (*place)++);
}

static void add_registers(struct text *t, unsigned first, unsigned count)
{
    if (count == 1)
        add_text(t, "s%u", first);
    else
        add_text(t, "s[%u:%u]", first, first + count - 1);
}

static const char *load_name(unsigned dwords)
{
    return dwords == 1   ? "dword"
           : dwords == 2 ? "dwordx2"
           : dwords == 4 ? "dwordx4"
           : dwords == 8 ? "dwordx8"
                         : "dwordx16";
}

/* ---- offsets ---- */

struct load {
    unsigned dwords;
    int64_t immediate; /* in bytes */
    bool has_immediate, has_sgpr;
    uint32_t sgpr;
    unsigned misplaced; /* low bits of the base, which are ignored */
    bool buffer;
    uint32_t stride, records; /* of the V# */
};

struct loads {
    const char *target;
    struct load load[48];
    unsigned count;
};

enum { BASE_BYTE = 1024 };

static void write_loads(struct text *t, struct text_run *run, const void *user)
{
    const struct loads *loads = user;
    const unsigned generation = generation_of(loads->target);
    unsigned place = RESULTS;
    for (unsigned i = 0; i < loads->count; i++) {
        const struct load *l = &loads->load[i];
        const int64_t unit = generation < 8 ? 4 : 1;
        /* scalar loads ignore the swizzle and word 3 */
        add_resource(t, 4, (run->address + BASE_BYTE) | l->misplaced,
                     l->buffer ? l->stride << 16 | 1u << 31 : 0, l->records, l->buffer ? 0x00a00000 : 0);
        add_text(t, "s_mov_b32 s13, 0x%x\n%s_%s ", l->sgpr, l->buffer ? "s_buffer_load" : "s_load",
                 load_name(l->dwords));
        add_registers(t, FIRST_SGPR, l->dwords);
        add_text(t, l->buffer ? ", s[4:7], " : ", s[4:5], ");
        if (!l->has_sgpr)
            add_text(t, l->immediate < 0 ? "-0x%llx" : "0x%llx",
                     (unsigned long long)llabs(l->immediate / unit));
        else if (l->has_immediate)
            add_text(t, l->immediate < 0 ? "s13 offset:-0x%llx" : "s13 offset:0x%llx",
                     (unsigned long long)llabs(l->immediate));
        else
            add_text(t, "s13");
        add_text(t, "\n");
        show(t, FIRST_SGPR, l->dwords, &place);
    }
}

/* Immediates per generation: 8-bit dwords, 32-bit from gfx7 on, 20-bit bytes, signed 21-bit and 24-bit. */
static int64_t draw_immediate(unsigned generation, bool buffer)
{
    const int64_t small = word() % 2048;
    if (generation < 8)
        return small / (generation == 6 ? 2 : 1) & ~3;
    return generation >= 9 && !buffer && word() % 2 ? -(small / 2) : small;
}

static void draw_load(struct load *l, const char *target, bool buffer)
{
    static const uint8_t sizes[] = {1, 2, 4, 8, 16};
    const unsigned generation = generation_of(target);
    *l = (struct load){.dwords = sizes[word() % 5], .buffer = buffer, .misplaced = word() % 4};
    l->has_sgpr = word() % 2;
    l->has_immediate = !l->has_sgpr || (generation >= 9 && word() % 2);
    l->immediate = l->has_immediate ? draw_immediate(generation, buffer) : 0;
    l->sgpr = l->has_sgpr ? word() % 2048 : 0;
    l->stride = word() % 2 ? word() % 40 : 0;
    l->records = word() % (l->stride ? 100 : 3000);
}

static void offsets_and_ranges(void **state)
{
    (void)state;
    unsigned inside = 0, outside = 0;
    for (unsigned i = 0; i < ALL_TARGETS; i++) {
        struct loads loads = {.target = all_targets[i], .count = 48};
        struct text_run run;
        uint32_t before[TEXT_WORDS];
        fill(&run);
        memcpy(before, run.memory, sizeof before);
        for (unsigned k = 0; k < loads.count; k++)
            draw_load(&loads.load[k], loads.target, k % 2);
        run_written(loads.target, lanes_of(loads.target), &run, write_loads, &loads, (struct wm_dispatch){0});
        assert_string_equal(run.fault.text, "");
        unsigned place = RESULTS;
        for (unsigned k = 0; k < loads.count; k++) {
            const struct load *l = &loads.load[k];
            const int64_t offset = l->immediate / 4 * 4 - (l->immediate % 4 < 0 ? 4 : 0) + l->sgpr / 4 * 4;
            const int64_t size = (int64_t)l->records * (l->stride ? l->stride : 1);
            for (unsigned d = 0; d < l->dwords; d++, place++) {
                const bool in = !l->buffer || offset + 4 * d < size;
                if (run.memory[place] != (in ? before[(BASE_BYTE + offset) / 4 + d] : 0))
                    fail_msg("%s: load %u, dword %u", loads.target, k, d);
                inside += in;
                outside += !in;
            }
        }
    }
    assert_true(inside > 500 && outside > 500);
}

/* ---- stores and atomics ---- */

struct atomic {
    const char *name;
    uint64_t (*make)(uint64_t m, uint64_t d, uint64_t c, unsigned bits); /* new memory value */
};

static int64_t sign(uint64_t x, unsigned bits)
{
    return bits == 64 ? (int64_t)x : (int32_t)(uint32_t)x;
}

OPERATION(smin, sign(m, bits) < sign(d, bits) ? m : d)
OPERATION(smax, sign(m, bits) > sign(d, bits) ? m : d)

#define ATOMIC(name) {#name, name}
static const struct atomic atomics[] = {
    ATOMIC(swap), ATOMIC(cmpswap), ATOMIC(add), ATOMIC(sub), ATOMIC(smin), ATOMIC(umin), ATOMIC(smax),
    ATOMIC(umax), ATOMIC(and),     ATOMIC(or),  ATOMIC(xor), ATOMIC(inc),  ATOMIC(dec)};
enum { ATOMICS = sizeof atomics / sizeof *atomics, CASES = 8 * ATOMICS };

/* Case k: operation, with or without return, 64 or 32 bits, with or without V#. The cell is the 16 bytes at k
 * * 16; every fifth cell with a V# is out of range. */
struct atomic_case {
    const struct atomic *operation;
    bool returns, wide, buffer, outside;
    uint64_t data, compare;
};

static struct atomic_case atomic_case(unsigned k, const uint32_t memory[TEXT_WORDS])
{
    struct atomic_case a = {.operation = &atomics[k % ATOMICS],
                            .returns = k / ATOMICS % 2,
                            .wide = k / ATOMICS / 2 % 2,
                            .buffer = k / ATOMICS / 4};
    const uint64_t cell = memory[4 * k] | (uint64_t)memory[4 * k + 1] << 32;
    a.outside = a.buffer && k % 5 == 0;
    a.data = (k % 3 ? 0x9e3779b97f4a7c15ULL * (k + 1) : cell + k % 2);
    a.compare = k % 7 ? cell : ~cell;
    if (!a.wide) {
        a.data = (uint32_t)a.data;
        a.compare = (uint32_t)a.compare;
    }
    return a;
}

static void add_constant(struct text *t, unsigned first, uint64_t value, bool wide)
{
    add_text(t, "s_mov_b32 s%u, 0x%x\n", first, (uint32_t)value);
    if (wide)
        add_text(t, "s_mov_b32 s%u, 0x%x\n", first + 1, (uint32_t)(value >> 32));
}

static void write_atomics(struct text *t, struct text_run *run, const void *user)
{
    unsigned place = RESULTS;
    (void)user;
    for (unsigned k = 0; k < CASES; k++) {
        const struct atomic_case a = atomic_case(k, run->memory);
        const bool compares = a.operation->make == cmpswap;
        const unsigned width = a.wide ? 2 : 1;
        add_resource(t, 4, run->address, 0, a.outside ? 16 * k : sizeof run->memory, 0);
        add_constant(t, FIRST_SGPR, a.data, a.wide);
        if (compares)
            add_constant(t, FIRST_SGPR + width, a.compare, a.wide);
        add_text(t, "%s_%s%s ", a.buffer ? "s_buffer_atomic" : "s_atomic", a.operation->name,
                 a.wide ? "_x2" : "");
        add_registers(t, FIRST_SGPR, compares ? 2 * width : width);
        add_text(t, ", %s, 0x%x%s\n", a.buffer ? "s[4:7]" : "s[2:3]", 16 * k, a.returns ? " glc" : "");
        add_text(t, "s_waitcnt lgkmcnt(0)\n");
        show(t, FIRST_SGPR, width, &place);
    }
}

static void atomic_operations(void **state)
{
    static const char *const targets[] = {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1010"};
    (void)state;
    for (unsigned i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct text_run run;
        uint32_t before[TEXT_WORDS];
        fill(&run);
        memcpy(before, run.memory, sizeof before);
        run_written(targets[i], lanes_of(targets[i]), &run, write_atomics, NULL, (struct wm_dispatch){0});
        assert_string_equal(run.fault.text, "");
        unsigned place = RESULTS;
        for (unsigned k = 0; k < CASES; k++) {
            const struct atomic_case a = atomic_case(k, before);
            const uint64_t whole = before[4 * k] | (uint64_t)before[4 * k + 1] << 32;
            const uint64_t m = a.wide ? whole : (uint32_t)whole;
            uint64_t made = a.outside ? m : a.operation->make(m, a.data, a.compare, a.wide ? 64 : 32);
            const uint64_t shown = !a.returns ? a.data : a.outside ? 0 : m;
            if (!a.wide)
                made = (uint32_t)made | (whole & 0xffffffff00000000);
            assert_int_equal(run.memory[4 * k], (uint32_t)made);
            assert_int_equal(run.memory[4 * k + 1], (uint32_t)(made >> 32));
            assert_int_equal(run.memory[place++], (uint32_t)shown);
            if (a.wide)
                assert_int_equal(run.memory[place++], (uint32_t)(shown >> 32));
        }
    }
}

/* ---- the non-coherent scalar cache ---- */

struct finding {
    enum wm_stale_kind kind;
    uint64_t count, address;
    const char *instruction; /* substring of its text */
};

struct findings {
    struct finding list[8];
    char text[8][512];
    unsigned count;
};

static void keep(void *user, const struct wm_stale *stale)
{
    struct findings *f = user;
    assert_true(f->count < 8);
    snprintf(f->text[f->count], sizeof f->text[0], "%s", stale->text);
    f->list[f->count++] = (struct finding){stale->kind, stale->count, stale->address, NULL};
}

/* Runs `text` and compares the findings with `expected`; word 100 ends as `stale_word` if the cache is really
 * stale, as `coherent_word` otherwise. */
static void check_cache(const char *target, const char *text, const struct finding *expected, unsigned count,
                        uint32_t coherent_word, uint32_t stale_word)
{
    for (enum wm_scalar_cache mode = WM_SCALAR_CACHE_COHERENT; mode <= WM_SCALAR_CACHE_STALE; mode++) {
        struct findings found = {.count = 0};
        struct text_run run = {0};
        for (unsigned i = 0; i < TEXT_WORDS; i++)
            run.memory[i] = i;
        run_written(target, lanes_of(target), &run, write_text, text,
                    (struct wm_dispatch){.scalar_cache = mode, .stale = keep, .stale_user = &found});
        assert_string_equal(run.fault.text, "");
        assert_int_equal(run.memory[100], mode == WM_SCALAR_CACHE_STALE ? stale_word : coherent_word);
        assert_int_equal(found.count, mode ? count : 0);
        for (unsigned i = 0; i < found.count; i++) {
            assert_int_equal(found.list[i].kind, expected[i].kind);
            assert_int_equal(found.list[i].count, expected[i].count);
            assert_int_equal(found.list[i].address, run.address + expected[i].address);
            assert_non_null(strstr(found.text[i], expected[i].instruction));
        }
    }
}

/* Word 20 is loaded, stored to by the vector path, then loaded again and written to word 100. */
#define STORE_VECTOR "v_mov_b32 v1, 77\nv_mov_b32 v2, 80\nbuffer_store_dword v1, v2, s[8:11], s12 offen\n"
#define SHOW(sgpr)                                                                                           \
    "v_mov_b32 v1, " sgpr "\nv_mov_b32 v2, 400\nbuffer_store_dword v1, v2, s[8:11], s12 offen\n"
#define SCALAR_20 "s_buffer_load_dword s20, s[8:11], " /* offset 80 in s14, valid on every target */

static void stale_loads(void **state)
{
    static const char set[] = "s_movk_i32 s14, 80\n";
    static const struct finding one = {WM_STALE_LOAD, 1, 80, "s_buffer_load_"};
    char text[1024];
    (void)state;
    for (unsigned i = 0; i < ALL_TARGETS; i++) {
        const char *target = all_targets[i];
        snprintf(text, sizeof text, "%s%s", set,
                 SCALAR_20 "s14\n" STORE_VECTOR SCALAR_20 "s14\n" SHOW("s20"));
        check_cache(target, text, &one, 1, 77, 20);
        snprintf(text, sizeof text, "%s%s", set,
                 SCALAR_20 "s14\n" STORE_VECTOR "s_dcache_inv\n" SCALAR_20 "s14\n" SHOW("s20"));
        check_cache(target, text, NULL, 0, 77, 77);
        snprintf(text, sizeof text, "%s%s", set,
                 STORE_VECTOR SCALAR_20 "s14\n" SHOW("s20")); /* not cached before */
        check_cache(target, text, NULL, 0, 77, 77);
    }
}

static void lost_stores(void **state)
{
    static const struct finding lost = {WM_STALE_STORE, 1, 400, "s_store_dword s20"};
    static const char store[] = "s_movk_i32 s20, 55\ns_store_dword s20, s[2:3], 0x190\n";
    static const char *const targets[] = {"gfx803", "gfx900", "gfx90a", "gfx942", "gfx1010"};
    char text[512];
    (void)state;
    for (unsigned i = 0; i < sizeof targets / sizeof *targets; i++) {
        check_cache(targets[i], store, &lost, 1, 55, 100);
        snprintf(text, sizeof text, "%ss_dcache_wb\n", store);
        check_cache(targets[i], text, NULL, 0, 55, 55);
        /* its own wave sees it in the cache */
        snprintf(text, sizeof text, "%ss_load_dword s21, s[2:3], 0x190\ns_dcache_wb\n%s", store, SHOW("s21"));
        check_cache(targets[i], text, NULL, 0, 55, 55);
        /* an atomic executes in memory, after writing back the line */
        if (generation_of(targets[i]) >= 9) {
            snprintf(text, sizeof text, "%ss_atomic_add s20, s[2:3], 0x190\n", store);
            check_cache(targets[i], text, NULL, 0, 110, 110);
            snprintf(text, sizeof text, "%ss_dcache_discard s[2:3], 0x1a0\n", store);
            check_cache(targets[i], text, NULL, 0, 55, 100);
        }
    }
}

/* s_dcache_inv_vol keeps lines that were only accessed with NV. The words are s_load_dword s20, s[2:3], 0x50
 * with bit 15 set, which LLVM has no syntax for. */
static void volatile_lines(void **state)
{
    static const struct finding one = {WM_STALE_LOAD, 1, 80, "s_load_dword"};
    static const char nv[] = ".long 0xc0028501, 0x00000050\n", plain[] = "s_load_dword s20, s[2:3], 0x50\n";
    char text[512];
    (void)state;
    snprintf(text, sizeof text, "%s%ss_dcache_inv_vol\n%s%s", nv, STORE_VECTOR, nv, SHOW("s20"));
    check_cache("gfx900", text, &one, 1, 77, 20);
    snprintf(text, sizeof text, "%s%ss_dcache_inv_vol\n%s%s", plain, STORE_VECTOR, nv, SHOW("s20"));
    check_cache("gfx900", text, NULL, 0, 77, 77);
}

/* ---- clocks ---- */

static void clocks(void **state)
{
    static const char *const targets[] = {"gfx600", "gfx700", "gfx803",  "gfx900",
                                          "gfx90a", "gfx942", "gfx1010", "gfx1030"};
    (void)state;
    for (unsigned i = 0; i < sizeof targets / sizeof *targets; i++) {
        char text[1024];
        struct text_run run = {0}, again = {0};
        const bool real = generation_of(targets[i]) >= 8;
        snprintf(
            text, sizeof text,
            "s_memtime s[20:21]\ns_movk_i32 s30, 100\nloop:\ns_sub_u32 s30, s30, 1\ns_cmp_lg_u32 s30, 0\n"
            "s_cbranch_scc1 loop\ns_memtime s[22:23]\n%ss_sub_u32 s22, s22, s20\n%s",
            real ? "s_memrealtime s[24:25]\n" : "", SHOW("s22"));
        run_text(targets[i], text, &run);
        run_text(targets[i], text, &again);
        assert_string_equal(run.fault.text, "");
        assert_memory_equal(run.memory, again.memory, sizeof run.memory);
        assert_in_range(run.memory[100], 3 * 100 * 4 - 16, 3 * 100 * 4 + 64); /* 3 instructions of 4 cycles */
    }
}

/* The clocks that replace s_memtime and s_memrealtime on later targets count the same. */
static void later_clocks(void **state)
{
    static const struct {
        const char *target, *read;
        unsigned cycles; /* per tick */
    } rows[] = {
        {"gfx1030", "s_getreg_b32 %s, hwreg(HW_REG_SHADER_CYCLES, 0, 20)\n", 1},
        {"gfx1100", "s_getreg_b32 %s, hwreg(HW_REG_SHADER_CYCLES, 0, 20)\n", 1},
        {"gfx1200", "s_getreg_b32 %s, hwreg(HW_REG_SHADER_CYCLES_LO)\n", 1},
        {"gfx1100", "s_sendmsg_rtn_b32 %s, sendmsg(MSG_RTN_GET_REALTIME)\n", 15},
        {"gfx1200", "s_sendmsg_rtn_b32 %s, sendmsg(MSG_RTN_GET_REALTIME)\n", 15},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        char first[128], second[128], text[1024];
        struct text_run run = {0};
        snprintf(first, sizeof first, rows[i].read, "s20");
        snprintf(second, sizeof second, rows[i].read, "s22");
        snprintf(text, sizeof text,
                 "%ss_movk_i32 s30, 1000\nloop:\ns_sub_u32 s30, s30, 1\ns_cmp_lg_u32 s30, 0\n"
                 "s_cbranch_scc1 loop\n%ss_sub_u32 s22, s22, s20\n%s",
                 first, second, SHOW("s22"));
        run_text(rows[i].target, text, &run);
        assert_string_equal(run.fault.text, "");
        assert_in_range(run.memory[100], 12000 / rows[i].cycles - 16, 12000 / rows[i].cycles + 64);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_and_ranges), cmocka_unit_test(atomic_operations),
        cmocka_unit_test(stale_loads),        cmocka_unit_test(lost_stores),
        cmocka_unit_test(volatile_lines),     cmocka_unit_test(clocks),
        cmocka_unit_test(later_clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
