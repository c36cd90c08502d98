/* SPDX-License-Identifier: MIT */
/* libFuzzer: kernels of every target, made of the instructions in its tables or of raw words, with a budget.
 *
 * No input may do anything but end, fault or run out of budget. Each runs unobserved and observed: both must
 * leave the same registers, LDS and memory, or a fast path differs from its slow path.
 *
 * Input: byte 0 is the target with its size of waves; byte 1 and 2 are what the code finds (enum below); then
 * come raw words, or records of an instruction: two bytes for the form, one for how operands are chosen, and
 * what is drawn for them, two bytes each. */
#include "kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 4096, TARGETS = 256, HEADER = 3 };

/* Byte 1. */
enum {
    RAW = 128,
    GOES_ON = 64,
    BY_ALL = 32,
    MORE_GROUPS = 16,
    MORE_WAVES = 8,
    PARTIAL_WAVE = 4,
    ALIGNMENT = 3
};
/* Byte 2: indices of EXEC and M0, the scalar cache, and whether descriptors are drawn. */
enum { EXEC = 3, M0_SHIFT = 2, CACHE_SHIFT = 4, DRAWN_DESCRIPTORS = 64, ODD_DESCRIPTORS = 128 };

struct input {
    const uint8_t *at, *end;
};

static uint32_t byte(struct input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static uint32_t draw(void *user)
{
    struct input *in = user;
    const uint32_t low = byte(in);
    return low | byte(in) << 8;
}

static uint32_t draw_word(struct input *in)
{
    const uint32_t low = draw(in);
    return low | draw(in) << 16;
}

static struct target {
    struct kernel *kernel;
    struct forms forms;
} targets[TARGETS];

/* Made when it is first wanted, and kept. */
static struct target *target_of(unsigned choice)
{
    static unsigned count;
    while (!count || kernel_target(count, true))
        count++;
    struct target *t = &targets[choice % count];
    if (!t->kernel) {
        t->kernel = kernel_create(kernel_target(choice % count, true));
        t->forms = all_forms(kernel_decodes(t->kernel));
    }
    return t;
}

static void choose_setting(const struct kernel *k, struct input *in, unsigned one, unsigned two,
                           struct setting *s)
{
    static const uint64_t exec[] = {UINT64_MAX, UINT64_C(0x5555555555555555), 0,
                                    UINT64_C(1) << 63 | 1u << 31};
    static const uint32_t m0[] = {UINT32_MAX, 0, 0x40, UINT32_C(0x00100010)};
    s->exec = exec[two & EXEC];
    s->m0 = m0[two >> M0_SHIFT & 3];
    s->scalar_cache = (enum wm_scalar_cache)((two >> CACHE_SHIFT & 3) % 3);
    s->items = kernel_lanes(k) * (one & MORE_WAVES ? 2 : 1) - (one & PARTIAL_WAVE ? 13 : 0);
    s->groups = one & MORE_GROUPS ? 3 : 1;
    s->by_all = one & BY_ALL;
    s->alignment = (enum wm_alignment)(one & ALIGNMENT);
    s->on_violation = one & GOES_ON ? WM_VIOLATION_GOES_ON : WM_VIOLATION_STOPS;
    s->max_instructions = 5000;
    for (unsigned i = 0; i < KERNEL_DESCRIPTORS; i++)
        s->descriptor[i] = two & DRAWN_DESCRIPTORS ? draw_word(in) : 0;
    if (!(two & ODD_DESCRIPTORS))
        kernel_descriptors(k, !(two & DRAWN_DESCRIPTORS), s->descriptor);
    for (unsigned i = 0; i < KERNEL_WORDS; i++)
        s->memory[i] = i % 3 ? i * 0x9e3779b9 : i % 64 * 4;
}

static void add_raw(const struct kernel *k, struct input *in, const struct setting *s, struct body *body)
{
    static uint32_t word[LARGEST / 4];
    const size_t count = (size_t)(in->end - in->at) / 4;
    uint64_t offset;
    memcpy(word, in->at, 4 * count);
    body_add(k, s, body, true, word, count, &offset);
}

/* Of the byte that says how operands are chosen, two bits are for each kind; the highest: the registers of
 * addresses are not set anew. */
static void add_instructions(const struct target *t, struct input *in, const struct setting *s,
                             struct body *body)
{
    static const enum manner manners[] = {MANNER_ORDINARY, MANNER_LAST, MANNER_SPECIAL, MANNER_ANY};
    uint32_t word[WMI_INSTRUCTION_DWORDS];
    uint64_t offset;
    bool room = true;
    while (in->at < in->end && room) {
        const struct form *form = &t->forms.form[draw(in) % t->forms.count];
        const uint32_t how = byte(in);
        const struct choice choice = {
            manners[how & 3], manners[how >> 2 & 3], manners[how >> 4 & 3], KERNEL_VGPRS, draw, in};
        const unsigned length = make_words(kernel_decodes(t->kernel), form, &choice, word);
        room = !length || body_add(t->kernel, s, body, !(how & 128), word, length, &offset);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct setting setting;
    static struct body body;
    static struct outcome outcome;
    char difference[2400];
    if (size < HEADER + 4 || size > LARGEST)
        return 0;
    const struct target *t = target_of(bytes[0]);
    struct input in = {bytes + HEADER, bytes + size};
    choose_setting(t->kernel, &in, bytes[1], bytes[2], &setting);
    body.count = 0;
    if (bytes[1] & RAW)
        add_raw(t->kernel, &in, &setting, &body);
    else
        add_instructions(t, &in, &setting, &body);
    if (!kernel_run(t->kernel, &setting, &body, &outcome, difference, sizeof difference)) {
        fprintf(stderr, "fuzz_exec: %s\n", difference);
        abort();
    }
    return 0;
}
