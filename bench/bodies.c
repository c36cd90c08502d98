/* SPDX-License-Identifier: MIT */
/* Measures each body: nanoseconds per instruction of a wave of 64 lanes, at each CPU level of the host, with
 * all lanes active and with every second one. `bodies COMMONEST [PART OF A NAME]`; COMMONEST is the list of
 * the most frequent instructions in compiled code, which are compared with a goal at the end. */
#include "arithmetic/host_float.h"
#include "clock.h"
#include "isa/isa.h"
#include "sem/table.h"
#include "small.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 64, /* per pass, each with different operands */
    PASSES = 400,
    TRIES = 5,
    ROWS = 96, /* results begin in row 60 at most and have up to 32 */
    ROW = 256,
};

static void set_lanes(struct wmi_lanes *set, uint64_t bits)
{
    set->bits = bits;
    set->full = bits == UINT64_MAX;
    for (unsigned i = 0; i < 64; i++)
        set->row[i] = bits >> i & 1 ? UINT32_MAX : 0;
}

/* Values without special cases as integers and floats: both halves 1 to 2 as f16, 2^-7 to 2^-6 as f32. */
static void fill(struct wmi_frame *frame)
{
    uint32_t *words = (uint32_t *)frame->rows;
    for (unsigned i = 0; i < ROWS * ROW / 4; i++)
        words[i] = 0x3c003c00 | (i * 2654435761u >> 4 & 0x03ff03ff);
    for (unsigned i = 0; i < 100; i++)
        frame->s[i] = i * 2654435761u;
}

/* Exponents that are typical of programs: 0 to 7. */
static void fill_exponents(struct wmi_frame *frame)
{
    uint32_t *words = (uint32_t *)(frame->rows + 16 * ROW);
    for (unsigned i = 0; i < 16 * ROW / 4; i++)
        words[i] = i * 2654435761u >> 29;
}

/* Follows the measured steps. */
static const struct wmi_op *stop(char *restrict frame, const struct wmi_op *op)
{
    (void)frame;
    (void)op;
    return NULL;
}

/* Every offset is valid for a row and for a word, so the same operands work for all bodies. */
static void make_steps(struct wmi_op *steps, wmi_body body, bool scalar)
{
    const uint32_t rows = offsetof(struct wmi_frame, rows);
    steps[STEPS] = (struct wmi_op){.body = stop};
    for (uint32_t i = 0; i < STEPS; i++)
        steps[i] = (struct wmi_op){
            .body = body,
            .d = scalar ? 4 * (60 + i % 7 * 2) : rows + ROW * (48 + i % 4 * 4),
            .a = scalar ? 4 * (i % 5 * 2) : rows + ROW * (i % 4 * 4),
            .b = scalar ? 4 * (20 + i % 3 * 2) : rows + ROW * (16 + i % 4 * 4),
            .c = scalar ? 4 * 40 : rows + ROW * (32 + i % 4 * 4),
            .e = 4 * 90,
            .lanes = offsetof(struct wmi_frame, exec),
        };
}

static double measure(struct wmi_frame *frame, const struct wmi_op *steps)
{
    const unsigned passes = bench_size(PASSES, 2), tries = bench_size(TRIES, 1);
    double best = 1;
    for (unsigned i = 0; i < tries; i++) {
        const double start = bench_seconds();
        for (unsigned pass = 0; pass < passes; pass++)
            for (const struct wmi_op *p = steps; p;)
                p = p->body((char *)frame, p);
        const double time = bench_seconds() - start;
        best = time < best ? time : best;
    }
    return best * 1e9 / passes / STEPS;
}

struct figures {
    double all, some; /* ns with all lanes and with every second one */
};

/* Scalar float instructions use vector bodies. */
static bool is_scalar(enum wmi_insn_id id)
{
    return wmi_rows[id].class == WMI_CLASS_SALU && !(wmi_rows[id].flags & WMI_ROW_ONE_LANE);
}

static struct figures measure_body(struct wmi_frame *frame, enum wmi_insn_id id, enum wmi_cpu_level level)
{
    struct wmi_op steps[STEPS + 1];
    struct figures f;

    make_steps(steps, wmi_sem_body(level, 64, id), is_scalar(id));
    fill(frame);
    if (strstr(wmi_rows[id].name, "ldexp"))
        fill_exponents(frame);
    set_lanes(&frame->exec, UINT64_MAX);
    f.all = measure(frame, steps);
    set_lanes(&frame->exec, UINT64_C(0xaaaaaaaaaaaaaaaa));
    f.some = measure(frame, steps);
    return f;
}

static enum wmi_insn_id find(const char *name)
{
    for (enum wmi_insn_id id = WMI_INSN_NONE + 1; id < WMI_INSN_COUNT; id++)
        if (!strcmp(wmi_rows[id].name, name))
            return id;
    return WMI_INSN_NONE;
}

static bool is_apart(enum wmi_insn_id id)
{
    return wmi_rows[id].flags & WMI_ROW_TRANS || strstr(wmi_rows[id].name, "64");
}

/* f: the figures of an instruction per level; 0: not measured. */
static bool is_slow(const struct figures *f)
{
    return f[WMI_CPU_AVX2].all > 30 || f[WMI_CPU_AVX2].some > 30 || f[WMI_CPU_AVX512].all > 20 ||
           f[WMI_CPU_AVX512].some > 20;
}

/* Prints the listed instructions that miss the goal; `apart`: the 64-bit and transcendental ones, else the
 * others. */
static void hold_against_goal(const char *list, struct figures (*figures)[WMI_CPU_LEVELS], bool apart)
{
    FILE *file = fopen(list, "r");
    char line[128], name[64];
    unsigned listed = 0, slow = 0;

    if (!file) {
        fprintf(stderr, "bodies: cannot read %s\n", list);
        exit(2);
    }
    printf("\ncommonest, %s: over 20 ns at avx512 or 30 ns at avx2\n",
           apart ? "64-bit or transcendental" : "all others");
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%*u %63s", name) != 1)
            continue;
        const enum wmi_insn_id id = find(name);
        if (id == WMI_INSN_NONE || !figures[id][WMI_CPU_BASELINE].all || is_apart(id) != apart)
            continue;
        listed++;
        if (!is_slow(figures[id]))
            continue;
        slow++;
        printf("%-28s", name);
        for (enum wmi_cpu_level level = WMI_CPU_BASELINE; level <= wmi_cpu_level(); level++)
            printf("%8.1f%8.1f", figures[id][level].all, figures[id][level].some);
        printf("\n");
    }
    printf("%u of %u\n", slow, listed);
    fclose(file);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"baseline", "avx2", "avx512"};
    const size_t size = sizeof(struct wmi_frame) + ROWS * ROW;
    struct wmi_frame *frame = aligned_alloc(64, (size + 63) & ~(size_t)63);
    struct figures(*figures)[WMI_CPU_LEVELS] = calloc(WMI_INSN_COUNT, sizeof *figures);
    const enum wmi_cpu_level host = wmi_cpu_level();

    if (argc < 2 || argc > 3 || !frame || !figures) {
        fprintf(stderr, "usage: %s COMMONEST [PART OF A NAME]\n", argv[0]);
        return 2;
    }
    memset(frame, 0, sizeof *frame);
    frame->wave_size = 64;
    frame->mxcsr32 = wmi_host_float_word(0, 0);
    frame->mxcsr64 = wmi_host_float_word(0, 3);
    frame->mode = 0xc0; /* f32 denormals flushed, f64 and f16 kept */
    wmi_host_float_set(frame->mxcsr32);

    printf("ns per wave64 instruction, all lanes and every second one; compiler %s\n%-28s", __VERSION__, "");
    for (enum wmi_cpu_level level = WMI_CPU_BASELINE; level <= host; level++)
        printf("%16s", names[level]);
    printf("\n");
    for (enum wmi_insn_id id = WMI_INSN_NONE + 1; id < WMI_INSN_COUNT; id++) {
        const char *name = wmi_rows[id].name;
        if (!wmi_sem_body(WMI_CPU_BASELINE, 64, id) || wmi_matrix_of(id) || /* matrix.c */
            (argc == 3 && !strstr(name, argv[2])))
            continue;
        printf("%-28s", name);
        for (enum wmi_cpu_level level = WMI_CPU_BASELINE; level <= host; level++) {
            figures[id][level] = measure_body(frame, id, level);
            printf("%8.1f%8.1f", figures[id][level].all, figures[id][level].some);
            if (is_scalar(id))
                break;
        }
        printf("\n");
    }
    hold_against_goal(argv[1], figures, false);
    hold_against_goal(argv[1], figures, true);
    free(figures);
    free(frame);
    return 0;
}
