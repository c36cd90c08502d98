/* SPDX-License-Identifier: MIT */
/* Verifies the declared reads and writes of steps: every form of every target is lowered, and each PURE step
 * runs on random frames. It must change only what it writes, and depend only on what it reads. This tests
 * src/lower/steps.def and the operand uses filled in by lowering. WAVEMEM_TEST_REDUCED: of each list one form
 * in three, from each list others.
 *
 * usage: unit_steps LIST...     lists of tests/oracle/forms-TARGET.tsv */
#include "exec/control/hwreg.h"
#include "exec/run/bind.h"
#include "lower/lower.h"
#include "reduced.h"
#include "unit/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_BYTES = 64, ROUNDS = 3, VGPRS = 256 };
static unsigned failures;

static const struct wmi_op *stop(char *restrict frame, const struct wmi_op *op)
{
    (void)frame, (void)op;
    return NULL;
}

struct world {
    struct wmi_code code;
    size_t frame_bytes;
    char *frame, *before, *other;
    unsigned char *read, *written; /* for each byte of the frame: 0, or 0xff if it is */
};

/* Eight bytes, which a frame consists of: comparing byte by byte would be most of the time. */
static uint64_t eight(const void *bytes, size_t at)
{
    uint64_t value;
    memcpy(&value, (const char *)bytes + at, sizeof value);
    return value;
}

static void put_eight(void *bytes, size_t at, uint64_t value)
{
    memcpy((char *)bytes + at, &value, sizeof value);
}

static void mark(const struct world *w, size_t from, size_t to, bool read, bool written)
{
    to = to < w->frame_bytes ? to : w->frame_bytes;
    if (from < to && read)
        memset(w->read + from, 0xff, to - from);
    if (from < to && written)
        memset(w->written + from, 0xff, to - from);
}

/* Marks the locations of a set of enum wmi_step_state. */
static void mark_states(const struct world *w, unsigned states, bool read, bool written)
{
    static const struct {
        unsigned state, slot, words;
    } slots[] = {{WMI_ON_EXEC, WMI_S_EXEC, 2}, {WMI_ON_SCC, WMI_S_SCC, 1}, {WMI_ON_VCC, WMI_S_VCC, 2},
                 {WMI_ON_M0, WMI_S_M0, 1},     {WMI_ON_SGPRS, 0, 108},     {WMI_ON_ZERO_BITS, WMI_S_VCCZ, 2}};
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if (states & slots[i].state)
            mark(w, 4 * slots[i].slot, 4 * (slots[i].slot + slots[i].words), read, written);
    if (states & WMI_ON_EXEC)
        mark(w, offsetof(struct wmi_frame, exec), offsetof(struct wmi_frame, exec) + sizeof(struct wmi_lanes),
             read, written);
    if (states & WMI_ON_MODE)
        mark(w, offsetof(struct wmi_frame, mode), offsetof(struct wmi_frame, wave_size), read, written);
    if (states & WMI_ON_VGPRS)
        mark(w, w->code.vgpr_offset, w->code.constant_offset, read, written);
}

static void mark_step(const struct world *w, const struct wmi_step *step)
{
    const unsigned lanes = w->code.options.lanes;
    const struct wmi_step_facts facts = wmi_step_facts_of((enum wmi_step_id)step->id);
    memset(w->read, 0, w->frame_bytes);
    memset(w->written, 0, w->frame_bytes);
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++) {
        const struct wmi_extent span = wmi_step_span(step, (enum wmi_step_operand)i, lanes);
        mark(w, span.from, span.to, step->use[i] & WMI_USE_READ, step->use[i] & WMI_USE_WRITE);
    }
    mark_states(w, facts.reads, true, false);
    mark_states(w, facts.writes, false, true);
    /* Every step may read its lane set and the wave size. */
    mark(w, step->lanes, step->lanes + sizeof(struct wmi_lanes), true, false);
    mark(w, offsetof(struct wmi_frame, wave_size), offsetof(struct wmi_frame, rows), true, false);
}

static void fill_lanes(struct wmi_lanes *set, unsigned lanes, uint64_t bits)
{
    set->bits = lanes == 64 ? bits : (uint32_t)bits;
    set->full = set->bits == (lanes == 64 ? UINT64_MAX : UINT32_MAX);
    for (unsigned i = 0; i < 64; i++)
        set->row[i] = set->bits >> i & 1 ? UINT32_MAX : 0;
}

static void fill(const struct world *w, unsigned round)
{
    struct wmi_frame *f = (struct wmi_frame *)w->frame;
    const unsigned lanes = w->code.options.lanes;
    memset(f, 0, w->frame_bytes);
    wmi_code_prepare_frame(&w->code, f);
    for (size_t i = offsetof(struct wmi_frame, rows); i < w->code.constant_offset; i += 8)
        put_eight(f, i, random_bits() & (round ? UINT64_MAX : UINT64_C(0x3f9fffff3f9fffff)));
    for (unsigned i = 0; i < WMI_SCALARS; i++)
        f->s[i] = random_word();
    f->s[WMI_S_SCC] &= 1;
    f->s[WMI_S_M0] = random_word() & 7; /* a small index */
    const uint64_t exec = round == 1 ? UINT64_MAX : (uint64_t)random_word() << 32 | random_word();
    fill_lanes(&f->exec, lanes, exec);
    f->s[WMI_S_EXEC] = (uint32_t)f->exec.bits;
    f->s[WMI_S_EXEC + 1] = (uint32_t)(f->exec.bits >> 32);
    for (unsigned i = 0; i < WMI_LANE_SETS; i++)
        fill_lanes(&f->lanes[i], lanes, (uint64_t)random_word() << 32 | random_word());
    f->wave_size = lanes;
    wmi_frame_set_mode(f, 0x3f0);
}

static void run(const struct world *w, const struct wmi_step *step, char *frame)
{
    const struct wmi_op ops[3] = {
        wmi_bind_step(step, WMI_CPU_BASELINE, w->code.options.lanes), {.body = stop}, {.body = stop}};
    ops[0].body(frame, ops);
}

static void complain(const char *text, const struct wmi_step *step, const char *what, size_t at)
{
    if (failures++ < 40)
        printf("%s: step %s %s byte %zu of the frame (d %u a %u b %u c %u e %u x %u y %u)\n", text,
               wmi_step_facts_of((enum wmi_step_id)step->id).name, what, at, step->d, step->a, step->b,
               step->c, step->e, step->x, step->y);
}

/* Compares the frames after the step, of which eight bytes from `at` differ. False if they must not. */
static bool allows(const struct world *w, const struct wmi_step *step, const char *text, size_t at)
{
    for (size_t i = at; i < at + 8; i++) {
        if (!w->written[i] && w->frame[i] != w->before[i]) {
            complain(text, step, "writes", i);
            return false;
        }
        if (w->written[i] && w->frame[i] != w->other[i] && (w->read[i] || w->frame[i] != w->before[i])) {
            complain(text, step, "depends on what it does not read, in", i);
            return false;
        }
    }
    return true;
}

static void check_step(const struct world *w, const struct wmi_step *step, const char *text)
{
    mark_step(w, step);
    for (unsigned round = 0; round < ROUNDS; round++) {
        fill(w, round);
        memcpy(w->before, w->frame, w->frame_bytes);
        memcpy(w->other, w->frame, w->frame_bytes);
        /* Every byte of the other frame differs that the step does not declare as read. */
        for (size_t i = 0; i < w->code.constant_offset; i += 8)
            put_eight(w->other, i,
                      eight(w->frame, i) ^
                          ((random_bits() | UINT64_C(0x0101010101010101)) & ~eight(w->read, i)));
        run(w, step, w->frame);
        run(w, step, w->other);
        for (size_t i = 0; i < w->frame_bytes; i += 8) {
            const uint64_t got = eight(w->frame, i), written = eight(w->written, i);
            if (((got ^ eight(w->before, i)) & ~written || (got ^ eight(w->other, i)) & written) &&
                !allows(w, step, text, i))
                return;
        }
    }
}

/* Lowers the instruction as the first of a kernel, and checks its steps. False if none of them is PURE. */
static bool check_instruction(const struct wmi_target *target, const uint32_t *words, unsigned count,
                              const char *text)
{
    struct wmi_space *space = wmi_space_create();
    struct wm_diag diag;
    struct wmi_lowered lowered;
    const struct wmi_place_map known = {0};
    uint64_t entry = 0;
    bool computes = false;
    if (wmi_space_allocate(space, CODE_BYTES, 0, "code", &entry, &diag))
        exit(1);
    memcpy(wmi_space_host(space, entry, CODE_BYTES), words, 4 * count);
    const struct wmi_code_options options = {.target = target,
                                             .space = space,
                                             .entry = entry,
                                             .lanes = wmi_target_limit(target, WMI_LIMIT_wave),
                                             .vgprs = VGPRS,
                                             .agprs = VGPRS};
    struct world w = {0};
    wmi_code_init(&w.code, &options);
    if (!wmi_lower(&w.code, entry, &known, 1, &lowered))
        exit(1);
    w.frame_bytes = wmi_code_frame_size(&w.code);
    w.frame = aligned_alloc(64, w.frame_bytes);
    w.before = aligned_alloc(64, w.frame_bytes);
    w.other = aligned_alloc(64, w.frame_bytes);
    w.read = malloc(w.frame_bytes);
    w.written = malloc(w.frame_bytes);
    for (size_t i = 0; i < lowered.count; i++) {
        const struct wmi_step *step = &lowered.steps[i];
        if (!wmi_bind((enum wmi_step_id)step->id, WMI_CPU_BASELINE, options.lanes)) {
            complain(text, step, "has no function,", 0);
        } else if (wmi_step_facts_of((enum wmi_step_id)step->id).flags & WMI_STEP_PURE) {
            check_step(&w, step, text);
            computes |= step->id >= WMI_STEP_BODIES;
        }
    }
    free(w.frame);
    free(w.before);
    free(w.other);
    free(w.read);
    free(w.written);
    wmi_lowered_free(&lowered);
    wmi_code_free(&w.code);
    wmi_space_destroy(space);
    return computes;
}

static void check_list(const char *path, unsigned list)
{
    char line[512], name[16];
    FILE *file = fopen(path, "r");
    const char *at = strstr(path, "forms-");
    if (!file || !at) {
        printf("%s: no list\n", path);
        exit(1);
    }
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 6, "."), at + 6);
    const struct wmi_target *target = wmi_target_find(name);
    const unsigned step = reduced() ? 3 : 1;
    unsigned computed = 0, lines = 0;
    while (fgets(line, sizeof line, file)) {
        uint32_t words[5];
        char *field[4] = {line};
        unsigned fields = 1, count = 0;
        for (char *p = line; *p && fields < 4; p++)
            if (*p == '\t') {
                *p = 0;
                field[fields++] = p + 1;
            }
        if (fields < 4 || (lines++ + list) % step)
            continue;
        field[3][strcspn(field[3], "\n")] = 0;
        for (char *p = field[2]; *p && count < 5;) {
            words[count++] = (uint32_t)strtoul(p, &p, 16);
            while (*p == ' ')
                p++;
        }
        computed += check_instruction(target, words, count, field[3]);
    }
    fclose(file);
    printf("%s: %u instructions compute\n", name, computed);
    if (computed < 400 / step)
        failures++;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        check_list(argv[i], (unsigned)i);
    printf("%u failures\n", failures);
    return failures || argc < 2;
}
