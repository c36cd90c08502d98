/* SPDX-License-Identifier: MIT */
/* Checks: asks checkers to watch dispatches, gathers what they find, and words it. */
#include "check/check.h"
#include "base/grow.h"
#include "check/coverage.h"
#include "exec/run/program.h"

#include <stdlib.h>
#include <string.h>

static const struct wmi_checker *const kinds[] = {&wmi_checker_waits,  &wmi_checker_memory,
                                                  &wmi_checker_uninit, &wmi_checker_races,
                                                  &wmi_checker_sync,   &wmi_checker_float};

enum { KINDS = sizeof kinds / sizeof *kinds };
_Static_assert((int)KINDS < (int)WMI_CHECKERS, "room for every checker, and for the coverage");

/* Programs that were lowered with the observers of the check, and what the checkers know of them. */
enum {
    MOST_KEPT = 16,
    MOST_STEPS = 1 << 18, /* of all kept programs */
};
struct kept {
    struct wmi_program *program; /* NULL: unused */
    void *code[KINDS + 1];       /* of each checker, and of the coverage */
    uint64_t used;               /* number of the last dispatch that executed it */
};

struct wording {   /* of a finding */
    char *text[8]; /* all that `row` points to and that rules do not own */
    unsigned texts;
    struct wm_inlined *inlined[2]; /* with texts of their own */
    struct wm_finding row;
};

struct wm_check {
    bool busy;
    void *checker[KINDS]; /* NULL: not asked for */
    struct wmi_coverage *coverage;
    bool in_order;
    unsigned what;   /* enum wm_check_what */
    uint64_t *seeds; /* of the orders in which dispatches are repeated */
    size_t seed_count;
    struct wmi_check_dispatch dispatch; /* the last one */
    struct wmi_check_machine machine;
    struct kept kept[MOST_KEPT];
    /* The program that the checkers know now: its `code` is of no use meanwhile. NULL: none that is kept. */
    struct kept *current;
    struct wmi_check_observer observers[WMI_CHECKERS]; /* of the last dispatch */
    unsigned observer_count;
    const char *missed;            /* why the check is incomplete, or NULL */
    struct wmi_found_set findings; /* of all dispatches */
    struct wording *wordings;
    struct wm_finding *rows;
    size_t worded;
};

static const char no_memory[] = "no memory for all that was found";

/* ---- wording ---- */

static void forget_inlined(struct wm_inlined *inlined, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free((char *)(uintptr_t)inlined[i].function);
        free((char *)(uintptr_t)inlined[i].call_file);
    }
    free(inlined);
}

static void forget(struct wording *wording)
{
    for (unsigned i = 0; i < wording->texts; i++)
        free(wording->text[i]);
    forget_inlined(wording->inlined[0], wording->row.inlined_count);
    forget_inlined(wording->inlined[1], wording->row.first_inlined_count);
}

static void forget_wordings(struct wm_check *check)
{
    for (size_t i = 0; i < check->worded; i++)
        forget(&check->wordings[i]);
    free(check->wordings);
    free(check->rows);
    check->wordings = NULL;
    check->rows = NULL;
    check->worded = 0;
}

/* A copy of the text that lives as long as the wording; *ok becomes false without memory. */
static const char *keep(struct wording *wording, const char *text, bool *ok)
{
    char *copy = text ? strdup(text) : NULL;
    *ok &= !text == !copy;
    if (copy)
        wording->text[wording->texts++] = copy;
    return copy;
}

/* The allocation that the finding is about, or the variable: all of a code object are one allocation. */
static void find_allocation(const struct wm_check *check, const struct wmi_words *words,
                            const struct wmi_found *found, struct wording *wording, bool *ok)
{
    struct wm_finding *row = &wording->row;
    const struct wmi_allocation *near = NULL;
    if (found->allocation) {
        row->allocation = keep(wording, found->allocation, ok);
        row->allocation_address = found->allocation_address;
        row->allocation_bytes = found->allocation_bytes;
        row->by_allocation =
            found->rule->by_allocation && found->allocation_address; /* else it is a lane's */
        return;
    }
    const uint64_t address = found->allocation_address ? found->allocation_address : found->address;
    if (found->bytes && found->space == WMI_SPACE_GLOBAL && !found->rule->nowhere && check->dispatch.space &&
        !(near = wmi_space_find(check->dispatch.space, address)))
        near = wmi_space_nearest(check->dispatch.space, address);
    if (!near)
        return;
    struct wmi_variable variable;
    if (near->flags & WMI_ALLOCATION_OWN && words->variable &&
        words->variable(words->user, address, &variable)) {
        row->allocation = keep(wording, variable.name, ok);
        row->allocation_address = variable.address;
        row->allocation_bytes = variable.bytes;
        row->by_allocation = found->rule->by_allocation;
        return;
    }
    row->allocation = keep(wording, near->name ? near->name : "", ok);
    row->allocation_address = near->low;
    row->allocation_bytes = near->high - near->low;
    row->by_allocation = found->rule->by_allocation && !(near->flags & WMI_ALLOCATION_OWN);
}

/* Copies of the inlined functions that the instruction belongs to. NULL: none, or no memory: *ok becomes
 * false. */
static struct wm_inlined *keep_inlined(const struct wmi_words *words, uint64_t pc, size_t *count, bool *ok)
{
    struct wm_inlined *kept = NULL, one;
    size_t room = 0;
    while (words->inlined && words->inlined(words->user, pc, (unsigned)*count, &one)) {
        if (!wmi_grow(&kept, &room, *count, sizeof *kept)) {
            *ok = false;
            break;
        }
        const struct wm_inlined copy = {.function = strdup(one.function),
                                        .call_file = one.call_file ? strdup(one.call_file) : NULL,
                                        .call_line = one.call_line,
                                        .call_column = one.call_column};
        *ok &= copy.function && !copy.call_file == !one.call_file;
        kept[(*count)++] = copy;
    }
    return kept;
}

/* Kernel, text and line of both instructions. */
static void describe_place(struct wording *wording, const struct wmi_words *words,
                           const struct wmi_found *found, bool *ok)
{
    struct wm_finding *row = &wording->row;
    struct wm_profile_row at = {.pc = found->pc};
    words->describe(words->user, 0, &at);
    row->kernel = keep(wording, at.kernel, ok);
    row->text = keep(wording, at.text, ok);
    row->file = keep(wording, at.file, ok);
    row->line = at.line;
    row->column = at.column;
    row->offset = at.offset;
    row->inlined = wording->inlined[0] = keep_inlined(words, found->pc, &row->inlined_count, ok);
    if (!found->rule->has_first || !found->first_pc)
        return;
    at = (struct wm_profile_row){.pc = found->first_pc};
    words->describe(words->user, 0, &at);
    row->first_kernel = keep(wording, at.kernel, ok);
    row->first_text = keep(wording, at.text, ok);
    row->first_file = keep(wording, at.file, ok);
    row->first_line = at.line;
    row->first_column = at.column;
    row->first_offset = at.offset;
    row->first_inlined = wording->inlined[1] =
        keep_inlined(words, found->first_pc, &row->first_inlined_count, ok);
}

static bool word(const struct wm_check *check, const struct wmi_found *found, struct wording *wording,
                 struct wmi_words *words)
{
    char message[WMI_FOUND_MESSAGE] = "";
    bool ok = true;
    *wording = (struct wording){0};
    struct wm_finding *row = &wording->row;
    *row = (struct wm_finding){
        .rule = found->rule->name,
        .source = found->rule->source,
        .remedy = found->rule->remedy,
        .what = found->rule->class,
        .severity = found->rule->severity,
        .count = found->count,
        .pc = found->pc,
        .first_pc = found->first_pc,
        .launch = found->launch,
        .has_wave = found->has_wave,
        .wave = found->wave,
        .lanes = found->lanes,
        .space = (enum wm_space)found->space,
        .pairs = found->rule->pairs,
        .distance = found->distance,
        .address = found->address,
        .bytes = found->bytes,
    };
    describe_place(wording, words, found, &ok);
    if (found->has_wave)
        wmi_check_group_id(&check->dispatch, found->group, row->workgroup);
    find_allocation(check, words, found, wording, &ok);
    words->finding = row;
    found->rule->word(words, found, message, sizeof message);
    row->message = keep(wording, message, &ok);
    if (!ok)
        forget(wording);
    return ok;
}

static int by_place(const void *left, const void *right)
{
    const struct wm_finding *a = left, *b = right;
    if (a->pc != b->pc)
        return (a->pc > b->pc) - (a->pc < b->pc);
    const int order = strcmp(a->rule, b->rule);
    if (order || a->first_pc != b->first_pc)
        return order ? order : (a->first_pc > b->first_pc) - (a->first_pc < b->first_pc);
    return (a->launch > b->launch) - (a->launch < b->launch);
}

/* Words what is new. */
static bool word_new(struct wm_check *check, struct wmi_words *words)
{
    const size_t room = check->findings.count + 1;
    bool ok = true;
    struct wording *wordings = realloc(check->wordings, room * sizeof *wordings);
    if (wordings)
        check->wordings = wordings;
    struct wm_finding *rows = realloc(check->rows, room * sizeof *rows);
    if (rows)
        check->rows = rows;
    if (!wordings || !rows)
        return false;
    for (size_t i = 0; i < check->findings.capacity; i++) {
        struct wmi_found *found = &check->findings.entry[i];
        if (found->worded)
            wordings[found->worded - 1].row.count = found->count;
        if (!found->count || found->worded)
            continue;
        for (unsigned k = 0; k < KINDS; k++)
            if (kinds[k]->classes & found->rule->class)
                words->checker = check->checker[k];
        if (word(check, found, &wordings[check->worded], words))
            found->worded = ++check->worded;
        else
            ok = false;
    }
    for (size_t i = 0; i < check->worded; i++)
        rows[i] = wordings[i].row;
    qsort(rows, check->worded, sizeof *rows, by_place);
    return ok;
}

static void word_all(struct wm_check *check, struct wmi_words *words)
{
    if (!word_new(check, words))
        check->missed = no_memory;
    for (size_t i = 0; i < check->findings.capacity; i++)
        check->findings.entry[i].allocation = NULL; /* its name lives until now */
    for (unsigned i = 0; i < KINDS; i++)
        if (check->checker[i] && kinds[i]->worded)
            kinds[i]->worded(check->checker[i]);
}

/* ---- the check ---- */

unsigned wmi_check_known(void)
{
    unsigned known = 0;
    for (unsigned i = 0; i < KINDS; i++)
        known |= kinds[i]->classes;
    return known;
}

struct wm_check *wmi_check_create(unsigned what)
{
    struct wm_check *check = calloc(1, sizeof *check);
    if (check && !(check->coverage = wmi_coverage_create())) {
        free(check);
        return NULL;
    }
    if (check)
        check->what = what;
    for (unsigned i = 0; check && i < KINDS; i++) {
        if (!(what & kinds[i]->classes))
            continue;
        check->in_order |= kinds[i]->in_order;
        if (!(check->checker[i] = kinds[i]->create(what))) {
            wmi_check_destroy(check);
            return NULL;
        }
    }
    return check;
}

/* ---- programs ---- */

static void forget_program(struct kept *kept)
{
    wmi_program_destroy(kept->program);
    for (unsigned i = 0; i < KINDS; i++)
        if (kinds[i]->forget)
            kinds[i]->forget(kept->code[i]);
    wmi_coverage_forget(kept->code[KINDS]);
    *kept = (struct kept){0};
}

/* Exchanges what the checkers know with what is kept of the program. If there is no memory, what is kept is
 * of no use any more, and the checkers know nothing that they may use. */
static bool exchange(struct wm_check *check, struct kept *kept)
{
    bool ok = wmi_coverage_exchange(check->coverage, &kept->code[KINDS]);
    for (unsigned i = 0; i < KINDS; i++)
        if (check->checker[i] && kinds[i]->exchange)
            ok &= kinds[i]->exchange(check->checker[i], &kept->code[i]);
    return ok;
}

/* Puts away what the checkers know, so that they can learn another program. */
static void put_away(struct wm_check *check)
{
    if (check->current && !exchange(check, check->current))
        forget_program(check->current);
    check->current = NULL;
}

/* Makes the checkers know a program of this code. False: none is kept. */
static bool find_program(struct wm_check *check, const struct wmi_code_options *code)
{
    struct kept *found = NULL;
    for (struct kept *kept = check->kept; kept < check->kept + MOST_KEPT && !found && code; kept++)
        if (kept->program && wmi_program_serves_observed(kept->program, code))
            found = kept;
    if (found != check->current || !found)
        put_away(check);
    if (!found)
        return false;
    if (found != check->current && !exchange(check, found)) {
        forget_program(found);
        return false;
    }
    check->current = found;
    return true;
}

/* A place for one more program, of so many steps. Those that were executed least recently are forgotten. */
static struct kept *make_room(struct wm_check *check, size_t steps)
{
    for (;;) {
        struct kept *oldest = NULL, *unused = NULL;
        size_t all = steps;
        for (struct kept *kept = check->kept; kept < check->kept + MOST_KEPT; kept++) {
            if (!kept->program) {
                unused = kept;
                continue;
            }
            all += wmi_program_steps(kept->program);
            oldest = !oldest || kept->used < oldest->used ? kept : oldest;
        }
        if (unused && (all <= MOST_STEPS || !oldest))
            return unused;
        forget_program(oldest);
    }
}

void wmi_check_destroy(struct wm_check *check)
{
    if (!check)
        return;
    forget_wordings(check);
    wmi_found_free(&check->findings);
    wmi_coverage_destroy(check->coverage);
    free(check->seeds);
    for (unsigned i = 0; i < MOST_KEPT; i++)
        forget_program(&check->kept[i]);
    for (unsigned i = 0; i < KINDS; i++)
        if (check->checker[i])
            kinds[i]->destroy(check->checker[i]);
    free(check);
}

bool wmi_check_does(const struct wm_check *check, enum wm_check_what what)
{
    return check->what & what;
}

bool *wmi_check_busy(struct wm_check *check)
{
    return &check->busy;
}

bool wmi_check_in_order(const struct wm_check *check)
{
    return check->in_order || check->seed_count;
}

bool wmi_check_set_seeds(struct wm_check *check, const uint64_t *seeds, size_t count)
{
    uint64_t *copy = malloc((count + 1) * sizeof *copy);
    if (!copy)
        return false;
    if (count)
        memcpy(copy, seeds, count * sizeof *copy);
    free(check->seeds);
    check->seeds = copy;
    check->seed_count = count;
    return true;
}

const uint64_t *wmi_check_seeds(const struct wm_check *check, size_t *count)
{
    *count = check->seed_count;
    return check->seeds;
}

bool wmi_check_add(struct wm_check *check, const struct wmi_found *found)
{
    struct wmi_found launched = *found;
    launched.launch = check->dispatch.launch;
    return wmi_found_add(&check->findings, &launched);
}

unsigned wmi_check_begin(struct wm_check *check, struct wmi_check_dispatch *dispatch,
                         struct wmi_check_observer observers[WMI_CHECKERS])
{
    unsigned count = 0;
    dispatch->launch = check->dispatch.launch + 1;
    dispatch->lowered = find_program(check, dispatch->code);
    check->dispatch = *dispatch;
    check->dispatch.code = NULL; /* lives until this returns */
    check->missed = NULL;
    const struct wmi_observer *coverage = wmi_coverage_begin(check->coverage, &check->dispatch);
    if (!dispatch->profiled)
        observers[count++] = (struct wmi_check_observer){coverage, "coverage"};
    for (unsigned i = 0; i < KINDS; i++) {
        const struct wmi_observer *observer =
            check->checker[i] ? kinds[i]->begin(check->checker[i], &check->dispatch) : NULL;
        if (observer)
            observers[count++] = (struct wmi_check_observer){observer, kinds[i]->name};
        else if (check->checker[i])
            check->missed = no_memory;
    }
    memcpy(check->observers, observers, count * sizeof *observers);
    check->observer_count = count;
    return count;
}

struct wmi_program *wmi_check_take_program(struct wm_check *check)
{
    struct kept *current = check->current;
    struct wmi_program *program = current ? current->program : NULL;
    if (current)
        current->program = NULL;
    return program;
}

/* What a checker has missed while the program was lowered, it would miss again. */
void wmi_check_keep_program(struct wm_check *check, struct wmi_program *program)
{
    bool complete = program && !check->missed;
    for (unsigned i = 0; i < check->observer_count; i++) {
        const struct wmi_observer *observer = check->observers[i].observer;
        complete &= !observer->incomplete || !observer->incomplete(observer->self);
    }
    struct kept *current = check->current;
    if (!complete) {
        wmi_program_destroy(program);
        if (current)
            forget_program(current);
        check->current = NULL;
        return;
    }
    if (!current)
        current = make_room(check, wmi_program_steps(program));
    current->program = program;
    current->used = check->dispatch.launch;
    check->current = current;
}

void wmi_check_end(struct wm_check *check, const struct wmi_check_ran *ran, wmi_describe *describe,
                   wmi_inlined_at *inlined, wmi_variable_at *variable, void *user)
{
    struct wmi_words words = {.describe = describe, .inlined = inlined, .variable = variable, .user = user};
    for (unsigned i = 0; i < KINDS; i++)
        if (check->checker[i] && !kinds[i]->end(check->checker[i], &check->findings))
            check->missed = no_memory;
    if (!wmi_coverage_end(check->coverage, ran))
        check->missed = no_memory;
    word_all(check, &words);
}

/* Of findings that are about no instruction. */
static void describe_nothing(void *user, unsigned id, struct wm_profile_row *row)
{
    (void)user, (void)id;
    row->kernel = row->text = "";
}

bool wmi_check_leaks(struct wm_check *check)
{
    struct wmi_words words = {.describe = describe_nothing};
    bool known = false;
    for (unsigned i = 0; i < KINDS; i++) {
        if (!check->checker[i] || !kinds[i]->leaks)
            continue;
        known = true;
        if (!kinds[i]->leaks(check->checker[i], &check->findings))
            check->missed = no_memory;
    }
    word_all(check, &words);
    return known;
}

const struct wm_coverage *wmi_check_coverage(const struct wm_check *check, size_t *count)
{
    return wmi_coverage_rows(check->coverage, count);
}

const struct wm_check_block *wmi_check_blocks(struct wm_check *check, size_t row, size_t *count)
{
    return wmi_coverage_blocks(check->coverage, row, count);
}

uint64_t wmi_check_copied(struct wm_check *check, const struct wmi_allocation *allocation, uint64_t to,
                          uint64_t from, uint64_t size)
{
    uint64_t unwritten = 0;
    for (unsigned i = 0; i < KINDS; i++)
        if (check->checker[i] && kinds[i]->copied)
            unwritten += kinds[i]->copied(check->checker[i], allocation, to, from, size);
    return unwritten;
}

const struct wm_finding *wmi_check_findings(struct wm_check *check, size_t *count)
{
    struct wmi_words words = {.describe = describe_nothing};
    const size_t before = check->findings.count;
    for (unsigned i = 0; i < KINDS; i++)
        if (check->checker[i] && kinds[i]->outside && !kinds[i]->outside(check->checker[i], &check->findings))
            check->missed = no_memory;
    if (check->findings.count > before)
        word_all(check, &words);
    *count = check->worded;
    return check->rows;
}

const char *wmi_check_incomplete(const struct wm_check *check)
{
    return check->missed;
}

void wmi_check_memory(struct wm_check *check, const struct wm_event *event)
{
    for (unsigned i = 0; i < KINDS; i++)
        if (check->checker[i] && kinds[i]->memory)
            kinds[i]->memory(check->checker[i], event);
}

struct wmi_check_machine *wmi_check_machine(struct wm_check *check)
{
    return &check->machine;
}
