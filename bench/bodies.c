/* SPDX-License-Identifier: MIT */
/* What each body costs: nanoseconds per instruction of a wave of 64 lanes, at each CPU level of the host,
 * with all lanes active and with every second one. `bodies [PART OF A NAME]`. */
#include "base/host_float.h"
#include "isa/isa.h"
#include "sem/table.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    STEPS = 64, /* in one pass, each with operands of its own */
    PASSES = 400,
    TRIES = 5,
    ROWS = 64,
    ROW = 256,
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void set_lanes(struct wmi_lanes *set, uint64_t bits)
{
    set->bits = bits;
    set->full = bits == UINT64_MAX;
    for (unsigned i = 0; i < 64; i++)
        set->row[i] = bits >> i & 1 ? UINT32_MAX : 0;
}

/* Values that are dull as integers and as floats: both halves 1 to 2 as f16, 2^-7 to 2^-6 as f32. */
static void fill(struct wmi_frame *frame)
{
    uint32_t *words = (uint32_t *)frame->rows;
    for (unsigned i = 0; i < ROWS * ROW / 4; i++)
        words[i] = 0x3c003c00 | (i * 2654435761u >> 4 & 0x03ff03ff);
    for (unsigned i = 0; i < 100; i++)
        frame->s[i] = i * 2654435761u;
}

/* Every offset is good for a row and for a word, so no body needs to be known. */
static void make_steps(struct wmi_op *steps, wmi_body body, bool scalar)
{
    const uint32_t rows = offsetof(struct wmi_frame, rows);
    memset(steps, 0, (STEPS + 1) * sizeof *steps);
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
    double best = 1;
    for (unsigned i = 0; i < TRIES; i++) {
        const double start = seconds();
        for (unsigned pass = 0; pass < PASSES; pass++)
            for (const struct wmi_op *p = steps; p->body;)
                p = p->body((char *)frame, p);
        const double time = seconds() - start;
        best = time < best ? time : best;
    }
    return best * 1e9 / PASSES / STEPS;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"baseline", "avx2", "avx512"};
    const size_t size = sizeof(struct wmi_frame) + ROWS * ROW;
    struct wmi_frame *frame = aligned_alloc(64, (size + 63) & ~(size_t)63);
    struct wmi_op steps[STEPS + 1];
    const enum wmi_cpu_level host = wmi_cpu_level();

    if (argc > 2 || !frame) {
        fprintf(stderr, "usage: %s [PART OF A NAME]\n", argv[0]);
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
        const bool scalar = wmi_rows[id].class == WMI_CLASS_SALU;
        if (!wmi_sem_body(WMI_CPU_BASELINE, 64, id) || (argc == 2 && !strstr(name, argv[1])))
            continue;
        printf("%-28s", name);
        for (enum wmi_cpu_level level = WMI_CPU_BASELINE; level <= host; level++) {
            make_steps(steps, wmi_sem_body(level, 64, id), scalar);
            fill(frame);
            set_lanes(&frame->exec, UINT64_MAX);
            const double full = measure(frame, steps);
            set_lanes(&frame->exec, UINT64_C(0xaaaaaaaaaaaaaaaa));
            printf("%8.1f%8.1f", full, measure(frame, steps));
            if (scalar)
                break;
        }
        printf("\n");
    }
    free(frame);
    return 0;
}
