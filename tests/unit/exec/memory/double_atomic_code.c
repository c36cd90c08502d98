/* SPDX-License-Identifier: MIT */
/* Atomics on 64-bit floats by buffer, FLAT and GLOBAL instructions on all targets that have them, against the
 * host's doubles: sums to nearest even with denormals (CDNA 4 ISA, "Float Memory Atomics"), numbers take
 * precedence over NaNs and -0 < +0 (RDNA 4 ISA, DS_MIN_NUM_RTN_F32). */
#include "unit/run_text.h"

#include "base/random.h"

#include <math.h>

enum {
    SOURCE = 0,   /* memory layout in words: v[20:23] of each lane, data and comparand, */
    DATA = 512,   /* a double per lane, */
    RESULT = 768, /* and the returned values */
};

static uint64_t drawn;

static double draw(void)
{
    static const double special[] = {0.0,
                                     -0.0,
                                     1.0,
                                     -1.0,
                                     INFINITY,
                                     -INFINITY,
                                     NAN,
                                     0x1p-1074,
                                     -0x1p-1074,
                                     0x1p-1022,
                                     0x1.fffffffffffffp1023,
                                     0x1p-53,
                                     1 + 0x1p-52};
    const uint64_t bits = wmi_random_bits(5, drawn++);
    double number;
    if (bits % 3)
        return special[bits / 3 % (sizeof special / sizeof *special)];
    memcpy(&number, &bits, sizeof number);
    return number;
}

static double add(double m, double d, double c)
{
    (void)c;
    return m + d;
}

static bool below_number(double a, double b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

static double least(double m, double d, double c)
{
    (void)c;
    return isnan(d) ? m : isnan(m) || below_number(d, m) ? d : m;
}

static double most(double m, double d, double c)
{
    (void)c;
    return isnan(d) ? m : isnan(m) || below_number(m, d) ? d : m;
}

static double swap_if_equal(double m, double d, double c)
{
    return m == c ? d : m;
}

static const struct operation {
    const char *name, *targets;
    double (*make)(double m, double d, double c);
    bool compares;
} operations[] = {
    {"add_f64", "gfx90a gfx942", add, false},
    {"min_f64", "gfx90a gfx942", least, false},
    {"max_f64", "gfx90a gfx942", most, false},
    {"fmin_x2", "gfx600 gfx700 gfx1010 gfx1030", least, false},
    {"fmax_x2", "gfx600 gfx700 gfx1010 gfx1030", most, false},
    {"fcmpswap_x2", "gfx600 gfx700 gfx1010 gfx1030", swap_if_equal, true},
};
enum { OPERATIONS = sizeof operations / sizeof *operations, PATHS = 3 };

struct job {
    const struct operation *operation;
    const char *target;
    unsigned path; /* buffer, FLAT, GLOBAL */
};

static void write_job(struct text *t, struct text_run *run, const void *user)
{
    const struct job *job = user;
    const char *data = job->operation->compares ? "v[20:23]" : "v[20:21]";
    const char *returns = strcmp(job->target, "gfx942") ? "glc" : "sc0", *name = job->operation->name;
    (void)run;
    add_text(t, "v_lshlrev_b32 v1, 4, v0\nbuffer_load_dwordx4 v[20:23], v1, s[8:11], s12 offen\n");
    add_text(t, "v_lshlrev_b32 v1, 3, v0\nv_or_b32 v2, 0x%x, v1\nv_or_b32 v14, s2, v2\nv_mov_b32 v15, s3\n",
             4 * DATA);
    if (job->path == 0)
        add_text(t, "buffer_atomic_%s %s, v2, s[8:11], s12 offen %s\n", name, data, returns);
    else
        add_text(t, "%s_atomic_%s v[20:21], v[14:15], %s%s %s\n", job->path == 1 ? "flat" : "global", name,
                 data, job->path == 1 ? "" : ", off", returns);
    add_text(t, "buffer_store_dwordx2 v[20:21], v1, s[8:11], s12 offen offset:%u\n", 4 * RESULT);
}

static double double_at(const struct text_run *run, unsigned word)
{
    double number;
    memcpy(&number, &run->memory[word], sizeof number);
    return number;
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b);
}

static void atomics_on_doubles(void **state)
{
    static struct text_run before, after;
    unsigned tried = 0;
    (void)state;
    for (unsigned i = 0; i < OPERATIONS * PATHS * ALL_TARGETS; i++) {
        const struct job job = {&operations[i % OPERATIONS], all_targets[i / OPERATIONS / PATHS],
                                i / OPERATIONS % PATHS};
        const bool has_path = job.path == 0 || generation_of(job.target) >= (job.path == 1 ? 7 : 9);
        if (!strstr(job.operation->targets, job.target) || !has_path)
            continue;
        for (unsigned lane = 0; lane < 64; lane++) {
            const double numbers[] = {draw(), draw(), draw()};
            memcpy(&before.memory[SOURCE + 4 * lane], numbers, 16);
            memcpy(&before.memory[DATA + 2 * lane], lane % 2 ? &numbers[1] : &numbers[2], 8);
        }
        after = before;
        run_written(job.target, lanes_of(job.target), &after, write_job, &job, (struct wm_dispatch){0});
        assert_string_equal(after.fault.text, "");
        for (unsigned lane = 0; lane < lanes_of(job.target); lane++) {
            const double m = double_at(&before, DATA + 2 * lane), d = double_at(&before, SOURCE + 4 * lane),
                         c = double_at(&before, SOURCE + 4 * lane + 2);
            const double is = double_at(&after, DATA + 2 * lane), wanted = job.operation->make(m, d, c);
            if (!same(is, wanted) ||
                memcmp(&after.memory[RESULT + 2 * lane], &before.memory[DATA + 2 * lane], 8))
                fail_msg("%s %s path %u: %a and %a (%a) is %a instead of %a", job.target, job.operation->name,
                         job.path, m, d, c, is, wanted);
        }
        tried++;
    }
    assert_int_equal(tried, 3 * (2 * 3 + 1 + 2 + 3 + 3)); /* operations by paths and targets */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(atomics_on_doubles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
