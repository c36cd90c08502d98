/* SPDX-License-Identifier: MIT */
/* Every instruction of every target with edge-case operands and states, and random programs with random
 * descriptors. A run must end, fault, report a violation or reach its budget; sanitizers detect accesses to
 * host memory outside the guest's. Each program runs unobserved and observed, and some with stops, which must
 * leave the same registers, LDS and memory; otherwise a fast path differs from its slow path. On targets
 * whose instructions do not execute, each is a program and must stop as one that is not implemented.
 *
 * An instruction has one of the first three patterns of operands, in turn, on every second target that has
 * it. WAVEMEM_TEST_FULL: all patterns on all targets. WAVEMEM_TEST_REDUCED: on every sixth, and fewer random
 * programs. */
#include "kernel.h"
#include "reduced.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

enum {
    CHUNK = 40,    /* instructions per run */
    ATTEMPTS = 16, /* attempts to choose operands that the target accepts */
    ROUNDS = 80,   /* random programs per target, */
    RANDOM = 12,   /* and instructions in each */
    DIFFERENCE = 2400,
    KNOWN = 64,
};

static const uint64_t seed = 77;
static uint64_t drawn;

static uint32_t word(void *user)
{
    (void)user;
    return (uint32_t)wmi_random_bits(seed, drawn++);
}

static uint32_t below(uint32_t limit)
{
    return word(NULL) % limit;
}

/* ---- programs ---- */

struct member {
    size_t form;
    size_t start;    /* words of the body before it */
    uint64_t offset; /* byte offset of its instruction */
    uint32_t word[WMI_INSTRUCTION_DWORDS];
};

struct program {
    struct setting setting;
    struct body body;
    struct member member[CHUNK];
    unsigned count;
};

static void fill_memory(struct setting *s)
{
    for (unsigned i = 0; i < KERNEL_WORDS; i++)
        s->memory[i] = word(NULL);
    for (unsigned i = 0; i < 256; i++) /* many register values are small */
        if (below(4))
            s->memory[i] = below(64) * (below(2) ? 4 : 1);
}

/* Chooses operands until the target accepts them. */
static bool append(const struct kernel *k, const struct forms *forms, size_t form,
                   const struct choice *choice, struct program *p)
{
    struct member *m = &p->member[p->count];
    unsigned length = 0;
    for (unsigned i = 0; i < ATTEMPTS && !length; i++)
        length = make_words(kernel_decodes(k), &forms->form[form], choice, m->word);
    m->form = form;
    m->start = p->body.count;
    if (!length)
        return false;
    const bool spares_addresses = choice->data == MANNER_ORDINARY || choice->data == MANNER_SPECIAL;
    assert_true(
        body_add(k, &p->setting, &p->body, !p->count || !spares_addresses, m->word, length, &m->offset));
    p->count++;
    return true;
}

static void print_member(const struct kernel *k, const struct member *m, char *text, size_t size)
{
    struct wmi_instruction insn;
    text[0] = '\0';
    if (wmi_decode(kernel_decodes(k), m->word, WMI_INSTRUCTION_DWORDS, &insn))
        wmi_print(kernel_decodes(k), &insn, text, size);
}

static void fail_at(const char *target, const struct kernel *k, const struct program *p,
                    const char *difference)
{
    char *text = calloc(1, 200 * CHUNK + 1);
    for (unsigned i = 0; text && i < p->count; i++) {
        print_member(k, &p->member[i], text + strlen(text), 190);
        strcat(text, "\n");
    }
    fail_msg("%s: exec %llx m0 %x:\n%s%s", target, (unsigned long long)p->setting.exec, p->setting.m0, text,
             difference);
}

static struct outcome outcome;

/* Runs members [first, end) of the program as a separate program. */
static void run_part(const char *target, const struct kernel *k, const struct program *whole, unsigned first,
                     unsigned end)
{
    static struct program part;
    char difference[DIFFERENCE];
    if (first == end)
        return;
    const size_t from = whole->member[first].start,
                 to = end < whole->count ? whole->member[end].start : whole->body.count;
    part.setting = whole->setting;
    part.count = end - first;
    part.body.count = to - from;
    memcpy(part.body.word, whole->body.word + from, 4 * (to - from));
    memcpy(part.member, whole->member + first, part.count * sizeof *part.member);
    if (!kernel_run(k, &part.setting, &part.body, &outcome, difference, sizeof difference)) {
        for (unsigned i = first; part.count > 1 && i < end; i++) /* find the differing one */
            run_part(target, k, whole, i, i + 1);
        fail_at(target, k, &part, difference);
    }
}

/* ---- every instruction ---- */

static const struct pattern {
    enum manner address, data, field;
} patterns[] = {
    {MANNER_ORDINARY, MANNER_ORDINARY, MANNER_ORDINARY},
    {MANNER_ORDINARY, MANNER_LAST, MANNER_ORDINARY},
    {MANNER_ANY, MANNER_ANY, MANNER_ANY},
    {MANNER_LAST, MANNER_LAST, MANNER_LAST},
    {MANNER_ORDINARY, MANNER_SPECIAL, MANNER_SAME},
    {MANNER_SPECIAL, MANNER_ORDINARY, MANNER_SPECIAL},
    {MANNER_SAME, MANNER_SAME, MANNER_ANY},
    {MANNER_ORDINARY, MANNER_ANY, MANNER_ANY},
};
enum { PATTERNS = sizeof patterns / sizeof *patterns, USUAL_PATTERNS = 3 };

static bool full(void)
{
    return getenv("WAVEMEM_TEST_FULL") != NULL;
}

/* Over the patterns, each form is run in all states. */
static void choose_state(struct setting *s, unsigned pattern, size_t form)
{
    static const uint64_t exec[] = {UINT64_MAX, UINT64_C(0x5555555555555555), 0,
                                    UINT64_C(1) << 63 | 1u << 31};
    static const uint32_t m0[] = {UINT32_MAX, 0, 0x40, UINT32_C(0x00100010)};
    s->exec = exec[(pattern + form) % 4];
    s->m0 = m0[(pattern + form / 4) % 4];
}

/* Progress of a form. */
struct progress {
    unsigned targets;  /* that had the form before this one */
    unsigned patterns; /* for which operands were found: bits */
    bool todo;         /* not implemented: two patterns are enough */
};

static bool is_left_out(const struct form *form, const struct progress *progress, unsigned pattern)
{
    const unsigned each = reduced() ? 6 : 2;
    if (!full() &&
        (progress->targets % each || (form->number + progress->targets / each) % USUAL_PATTERNS != pattern))
        return true;
    const bool todo = progress->todo || wmi_rows[wmi_forms[form->number].id].flags & WMI_ROW_TODO;
    return todo && pattern != 0 && pattern != 2;
}

/* Runs as many forms from `first` as fit in a program, up to the first that does not continue with the next
 * one. Returns the first form that was not reached. */
static size_t run_some(const char *target, const struct kernel *k, const struct forms *forms,
                       unsigned pattern, struct program *p, size_t first, struct progress *progress)
{
    const struct choice choice = {
        patterns[pattern].address, patterns[pattern].data, patterns[pattern].field, KERNEL_VGPRS, word, NULL};
    char difference[DIFFERENCE];
    size_t next = first;
    p->count = 0;
    p->body.count = 0;
    p->setting.by_all = first / CHUNK % 2;
    p->setting.stops = pattern == first / CHUNK % (full() ? 3 : 16);
    for (; next < forms->count && p->count < CHUNK; next++) {
        choose_state(&p->setting, pattern, next);
        if (!is_left_out(&forms->form[next], &progress[next], pattern))
            progress[next].patterns |= (unsigned)append(k, forms, next, &choice, p) << pattern;
    }
    if (!p->count)
        return next;
    if (!kernel_run(k, &p->setting, &p->body, &outcome, difference, sizeof difference)) {
        for (unsigned i = 0; i < p->count; i++)
            run_part(target, k, p, i, i + 1);
        fail_at(target, k, p, difference);
    }
    if (outcome.fault.kind == WM_FAULT_NONE)
        return next;
    unsigned at = 0;
    while (at < p->count && p->member[at].offset != outcome.fault.pc)
        at++;
    if (at == p->count) { /* it jumped */
        for (unsigned i = 0; i < p->count; i++)
            run_part(target, k, p, i, i + 1);
        return next;
    }
    progress[p->member[at].form].todo |= outcome.fault.kind == WM_FAULT_TODO;
    run_part(target, k, p, 0, at); /* whose registers were not compared */
    return p->member[at].form + 1;
}

/* Forms already run, for groups of targets that differ only in their sets of forms. */
struct known {
    const struct wmi_target *target;
    bool *form; /* indexed by form number */
};

static bool *forms_known(struct known *known, const struct wmi_target *target)
{
    unsigned i = 0;
    while (known[i].target && (known[i].target->codes != target->codes ||
                               memcmp(known[i].target->limits, target->limits, sizeof target->limits) != 0))
        i++;
    assert_true(i + 1 < KNOWN);
    if (!known[i].target)
        known[i] = (struct known){target, calloc(UINT16_MAX + 1, sizeof(bool))};
    assert_non_null(known[i].form);
    return known[i].form;
}

/* The target's forms, except those already run on a similar target. */
static struct forms new_forms(const struct wmi_target *target, struct known *known)
{
    bool *const ran = forms_known(known, target);
    struct forms forms = all_forms(target);
    size_t count = 0;
    for (size_t i = 0; i < forms.count; i++)
        if (!ran[forms.form[i].number])
            forms.form[count++] = forms.form[i];
    for (size_t i = 0; i < count; i++) /* a form may be in two encoding spaces */
        ran[forms.form[i].number] = true;
    forms.count = count;
    return forms;
}

static void every_instruction(void **state)
{
    static struct program p;
    static struct known known[KNOWN];
    static unsigned targets[UINT16_MAX + 1]; /* of each form number */
    const unsigned count = full() ? PATTERNS : USUAL_PATTERNS;
    size_t all = 0, run = 0;
    (void)state;
    for (size_t t = 0; kernel_target(t, false); t++) {
        char target[40];
        snprintf(target, sizeof target, "%s", kernel_target(t, false));
        struct kernel *k = kernel_create(target);
        const struct forms forms = new_forms(kernel_decodes(k), known);
        struct progress *progress = calloc(forms.count + 1, sizeof *progress);
        assert_non_null(progress);
        for (size_t i = 0; i < forms.count; i++)
            progress[i].targets = targets[forms.form[i].number]++;
        p.setting = (struct setting){.items = kernel_lanes(k), .groups = 1, .max_instructions = 5000};
        fill_memory(&p.setting);
        kernel_descriptors(k, true, p.setting.descriptor);
        for (unsigned pattern = 0; pattern < count; pattern++) {
            p.setting.on_violation = pattern % 2 ? WM_VIOLATION_GOES_ON : WM_VIOLATION_STOPS;
            for (size_t i = 0; i < forms.count;)
                i = run_some(target, k, &forms, pattern, &p, i, progress);
        }
        for (size_t i = 0; i < forms.count; run += (unsigned)__builtin_popcount(progress[i++].patterns))
            if (!progress[i].patterns && full()) /* of one pattern alone there may be none */
                fail_msg("%s: no operands for %s (layout %u)", target, wmi_forms[forms.form[i].number].name,
                         wmi_forms[forms.form[i].number].layout);
        all += forms.count;
        free(progress);
        free(forms.form);
        kernel_destroy(k);
    }
    for (unsigned i = 0; i < KNOWN; i++)
        free(known[i].form);
    assert_true(run > all / 10 * (full() ? 15 : reduced() ? 2 : 4)); /* otherwise little is tested */
    print_message("%zu forms, with %zu patterns\n", all, run);
}

/* ---- random programs ---- */

static void draw_setting(const struct kernel *k, struct setting *s)
{
    fill_memory(s);
    for (unsigned i = 0; i < KERNEL_DESCRIPTORS; i++)
        s->descriptor[i] = word(NULL);
    if (below(5))
        kernel_descriptors(k, below(2), s->descriptor);
    s->items = kernel_lanes(k) - (below(2) ? 0 : below(20));
    s->items *= below(8) ? 1 : 2;
    s->groups = below(8) ? 1 : 3;
    s->alignment = (enum wm_alignment)(below(2) ? 0 : below(4));
    s->scalar_cache = (enum wm_scalar_cache)(below(2) ? 0 : below(3));
    s->by_all = below(2);
    s->on_violation = below(4) ? WM_VIOLATION_GOES_ON : WM_VIOLATION_STOPS;
    s->max_instructions = 5000;
}

/* Mostly implemented instructions, and more memory instructions. */
static size_t draw_form(const struct forms *forms)
{
    size_t form = 0;
    for (unsigned i = 0; i < 3; i++) {
        form = below((uint32_t)forms->count);
        const struct wmi_row *row = &wmi_rows[wmi_forms[forms->form[form].number].id];
        if (row->memory && !(row->flags & WMI_ROW_TODO))
            break;
    }
    return form;
}

static void random_programs(void **state)
{
    static struct program p;
    static const enum manner manners[] = {MANNER_ORDINARY, MANNER_ORDINARY, MANNER_LAST, MANNER_ANY};
    const unsigned rounds = reduced() ? ROUNDS / 4 : ROUNDS;
    char difference[DIFFERENCE];
    unsigned ended = 0, runs = 0;
    (void)state;
    for (size_t t = 0; kernel_target(t, false); t++) {
        char target[40];
        snprintf(target, sizeof target, "%s", kernel_target(t, false));
        struct kernel *k = kernel_create(target);
        const struct forms forms = all_forms(kernel_decodes(k));
        for (unsigned round = 0; round < rounds; round++) {
            draw_setting(k, &p.setting);
            p.setting.stops = round % 8 == 0;
            p.count = 0;
            p.body.count = 0;
            while (p.count < RANDOM) {
                const struct choice choice = {
                    manners[below(4)], manners[below(4)], manners[below(4)], KERNEL_VGPRS, word, NULL};
                choose_state(&p.setting, below(4), below(16));
                append(k, &forms, draw_form(&forms), &choice, &p);
            }
            if (!kernel_run(k, &p.setting, &p.body, &outcome, difference, sizeof difference))
                fail_at(target, k, &p, difference);
            ended += outcome.fault.kind == WM_FAULT_NONE;
            runs++;
        }
        free(forms.form);
        kernel_destroy(k);
    }
    assert_in_range(ended, runs / 20, runs); /* otherwise little is tested */
    print_message("%u of %u programs went to their end\n", ended, runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction),
        cmocka_unit_test(random_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
