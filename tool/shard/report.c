/* SPDX-License-Identifier: MIT */
/* Puts together what the parts of a job report. */
#include "tool/shard/report.h"

#include "tool/check/filter.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- of a shard ---- */

static json_t *list_blocks(struct wm_check *check, size_t row)
{
    size_t count;
    const struct wm_check_block *blocks = wm_check_blocks(check, row, &count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list,
                              json_pack("[I, I, i, b]", (json_int_t)blocks[i].from, (json_int_t)blocks[i].to,
                                        (int)blocks[i].instructions, (int)blocks[i].executed));
    return list;
}

json_t *tool_part_findings(const struct tool_job *job, struct wm_check *check, const json_t *findings,
                           const json_t *coverage, const json_t *unchecked)
{
    size_t count, i;
    json_t *one, *found = json_deep_copy(findings), *rows = json_deep_copy(coverage);
    const struct wm_finding *row = wm_check_findings(check, &count);
    json_array_foreach(found, i, one)
    {
        json_object_set_new(one, "pairs", json_boolean(i < count && row[i].pairs));
        json_object_set_new(one, "distance", json_integer(i < count ? (json_int_t)row[i].distance : 0));
    }
    json_array_foreach(rows, i, one) json_object_set_new(one, "blocks", list_blocks(check, i));
    return json_pack("{s:i, s:o, s:o, s:O}", "classes", (int)job->check.classes, "findings", found,
                     "coverage", rows, "unchecked", unchecked);
}

/* ---- sums ---- */

static bool damaged(const struct part *part, const char *what)
{
    tool_fail("%s: the part is damaged: %s", part->path, what);
    return false;
}

static bool is_count(const json_t *number)
{
    return json_is_integer(number) && json_integer_value(number) >= 0;
}

/* Adds the counts of `more` under the keys. False: one is missing. */
static bool add_counts(json_t *to, const json_t *more, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *a = json_object_get(to, keys[i]), *b = json_object_get(more, keys[i]);
        json_int_t sum;
        if (!is_count(a) || !is_count(b) ||
            __builtin_add_overflow(json_integer_value(a), json_integer_value(b), &sum))
            return false;
        json_object_set_new(to, keys[i], json_integer(sum));
    }
    return true;
}

/* ---- coverage ---- */

/* A block as it is in a part: from, to, instructions, whether it was executed. */
enum { FROM, TO, INSTRUCTIONS, EXECUTED, BLOCK_MEMBERS };

static json_int_t member(const json_t *block, size_t index)
{
    return json_integer_value(json_array_get(block, index));
}

static bool is_block(const json_t *block)
{
    return json_array_size(block) == BLOCK_MEMBERS && json_is_integer(json_array_get(block, FROM)) &&
           json_is_integer(json_array_get(block, TO)) && is_count(json_array_get(block, INSTRUCTIONS)) &&
           member(block, INSTRUCTIONS) <= INT32_MAX && json_is_boolean(json_array_get(block, EXECUTED));
}

static bool is_coverage(const json_t *row)
{
    static const char *const counts[] = {"launches",     "workgroups", "waves",
                                         "instructions", "code",       "executed_code"};
    const json_t *blocks = json_object_get(row, "blocks"), *accesses = json_object_get(row, "accesses");
    const char *key;
    json_t *one;
    size_t i;
    bool good = tool_text_of(row, "kernel") && json_is_array(blocks) && json_is_object(accesses);
    for (i = 0; i < sizeof counts / sizeof *counts; i++)
        good = good && is_count(json_object_get(row, counts[i]));
    json_object_foreach((json_t *)accesses, key, one) good = good && is_count(one);
    json_array_foreach(blocks, i, one) good = good && is_block(one);
    return good;
}

static int by_block(const void *left, const void *right)
{
    const json_t *a = *(json_t *const *)left, *b = *(json_t *const *)right;
    for (size_t i = FROM; i <= TO; i++)
        if (member(a, i) != member(b, i))
            return member(a, i) < member(b, i) ? -1 : 1;
    /* The executed one first. */
    return json_is_true(json_array_get(b, EXECUTED)) - json_is_true(json_array_get(a, EXECUTED));
}

/* Replaces the row's blocks, of all parts, by the counts of different ones. */
static bool count_code(json_t *row)
{
    json_t *blocks = json_object_get(row, "blocks");
    const size_t count = json_array_size(blocks);
    json_t **sorted = malloc((count + 1) * sizeof *sorted);
    json_int_t code = 0, executed = 0;
    for (size_t i = 0; sorted && i < count; i++)
        sorted[i] = json_array_get(blocks, i);
    if (sorted && count)
        qsort(sorted, count, sizeof *sorted, by_block);
    for (size_t i = 0; sorted && i < count; i++) {
        const json_t *last = i ? sorted[i - 1] : NULL, *one = sorted[i];
        if (last && member(last, FROM) == member(one, FROM) && member(last, TO) == member(one, TO))
            continue;
        code += member(one, INSTRUCTIONS);
        executed += json_is_true(json_array_get(one, EXECUTED)) ? member(one, INSTRUCTIONS) : 0;
    }
    json_object_set_new(row, "code", json_integer(code));
    json_object_set_new(row, "executed_code", json_integer(executed));
    json_object_del(row, "blocks");
    const bool good = sorted;
    free(sorted);
    return good;
}

/* Adds the rows of a part. All parts run the same dispatches, so that a row's place says of which kernel it
 * is: two code objects may have kernels of the same name. After a fault, the last rows are missing. */
static bool add_coverage(json_t *rows, const json_t *more)
{
    static const char *const sums[] = {"workgroups", "waves", "instructions"};
    size_t i;
    json_t *one;
    json_array_foreach(more, i, one)
    {
        json_t *row = json_array_get(rows, i);
        if (!is_coverage(one))
            return false;
        if (!row) {
            json_array_append_new(rows, json_deep_copy(one));
            continue;
        }
        if (strcmp(tool_text_of(row, "kernel"), tool_text_of(one, "kernel")) != 0)
            return false;
        json_t *accesses = json_object_get(row, "accesses"), *number;
        const json_t *its = json_object_get(one, "accesses");
        const char *key;
        if (!add_counts(row, one, sums, sizeof sums / sizeof *sums))
            return false;
        json_object_foreach((json_t *)its, key, number) if (!add_counts(accesses, its, &key, 1)) return false;
        json_array_extend(json_object_get(row, "blocks"), json_object_get(one, "blocks"));
    }
    return true;
}

/* ---- findings ---- */

static uint64_t hex_of(const json_t *finding, const char *key)
{
    const char *text = tool_text_of(finding, key);
    return text ? strtoull(text, NULL, 0) : 0;
}

/* The order of wm_check_findings(): 0 if both are the same finding. */
static int compare(const json_t *a, const json_t *b)
{
    const uint64_t pc = hex_of(a, "pc"), other = hex_of(b, "pc");
    const int rule = strcmp(tool_text_of(a, "rule"), tool_text_of(b, "rule"));
    if (pc != other || rule)
        return pc != other ? (pc > other) - (pc < other) : rule;
    const uint64_t first = hex_of(a, "first_pc"), its = hex_of(b, "first_pc");
    return json_is_true(json_object_get(a, "pairs")) ? (first > its) - (first < its) : 0;
}

static bool is_finding(const json_t *one)
{
    return tool_is_finding(one) && tool_text_of(one, "rule") &&
           is_count(json_object_get(one, "executions")) && is_count(json_object_get(one, "launch")) &&
           is_count(json_object_get(one, "distance"));
}

/* Waits, of which a part has a finding for each dispatch: whether it was needed there. */
struct wait {
    json_t *finding;
    uint64_t pc, later;
    json_int_t launch, distance;
    bool needed;
    size_t index; /* among all findings */
};

static bool is_wait(const json_t *finding, bool *needed)
{
    const char *rule = tool_text_of(finding, "rule");
    *needed = !strcmp(rule, "needed-wait");
    return *needed || !strcmp(rule, "needless-wait");
}

/* The finding to show comes first, as the check chooses it: of the first dispatch, and there of the nearest
 * later wait; a wait that was needed in a dispatch comes before its other findings there. */
static int by_wait(const void *left, const void *right)
{
    const struct wait *a = left, *b = right;
    if (a->pc != b->pc)
        return (a->pc > b->pc) - (a->pc < b->pc);
    if (a->launch != b->launch)
        return (a->launch > b->launch) - (a->launch < b->launch);
    if (a->needed != b->needed)
        return b->needed - a->needed;
    if (!a->distance != !b->distance)
        return !a->distance - !b->distance;
    if (a->distance != b->distance)
        return (a->distance > b->distance) - (a->distance < b->distance);
    if (a->later != b->later)
        return (a->later > b->later) - (a->later < b->later);
    return (a->index > b->index) - (a->index < b->index);
}

/* Lists the waits among the findings. The caller frees the list; NULL: no memory. */
static struct wait *list_waits(const json_t *all, size_t *count)
{
    struct wait *waits = malloc((json_array_size(all) + 1) * sizeof *waits);
    size_t i;
    json_t *one;
    *count = 0;
    json_array_foreach(all, i, one)
    {
        bool needed;
        if (waits && is_wait(one, &needed))
            waits[(*count)++] = (struct wait){.finding = one,
                                              .pc = hex_of(one, "pc"),
                                              .later = hex_of(one, "first_pc"),
                                              .launch = tool_number_of(one, "launch"),
                                              .distance = tool_number_of(one, "distance"),
                                              .needed = needed,
                                              .index = i};
    }
    return waits;
}

/* Leaves one finding for each wait that no part needed in some dispatch, with its executions there, and null
 * in place of all others. False: no memory, or too many executions. */
static bool settle_waits(json_t *all)
{
    static const char *const sums[] = {"executions"};
    size_t count;
    struct wait *waits = list_waits(all, &count), *shown = NULL;
    bool good = waits, needed = false;
    if (waits && count)
        qsort(waits, count, sizeof *waits, by_wait);
    for (size_t i = 0; good && i < count; i++) {
        struct wait *wait = &waits[i];
        const bool same = shown && shown->pc == wait->pc;
        if (!i || wait[-1].pc != wait->pc || wait[-1].launch != wait->launch)
            needed = wait->needed;
        if (!needed && same)
            good = add_counts(shown->finding, wait->finding, sums, 1);
        if (needed || same)
            json_array_set_new(all, wait->index, json_null());
        else
            shown = wait;
    }
    free(waits);
    return good;
}

/* Adds the findings of all parts in their order. Of the same ones, which become one, the first by launch and
 * part is shown. */
static bool combine(json_t *findings, json_t *all)
{
    static const char *const sums[] = {"executions"};
    const size_t count = json_array_size(all);
    json_t **kept = malloc((count + 1) * sizeof *kept);
    size_t used = 0;
    bool good = kept;
    for (size_t i = 0; i < count && good; i++) {
        json_t *one = json_array_get(all, i);
        size_t low = 0, high = used;
        if (json_is_null(one))
            continue;
        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (compare(kept[middle], one) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < used && !compare(kept[low], one)) {
            json_t *first = kept[low];
            if (tool_number_of(one, "launch") < tool_number_of(first, "launch")) {
                kept[low] = one;
                good = add_counts(one, first, sums, 1);
            } else {
                good = add_counts(first, one, sums, 1);
            }
            continue;
        }
        memmove(&kept[low + 1], &kept[low], (used - low) * sizeof *kept);
        kept[low] = one;
        used++;
    }
    for (size_t i = 0; i < used && good; i++) {
        json_object_del(kept[i], "pairs");
        json_object_del(kept[i], "distance");
        json_array_append(findings, kept[i]);
    }
    free(kept);
    return good;
}

/* Takes what one part found. */
static bool take(struct part_findings *merged, const struct part *part, json_t *all)
{
    const json_t *check = json_object_get(part->head, "check"), *classes = json_object_get(check, "classes"),
                 *findings = json_object_get(check, "findings"),
                 *coverage = json_object_get(check, "coverage"),
                 *unchecked = json_object_get(check, "unchecked");
    size_t i;
    json_t *one;
    if (!is_count(classes) || !json_is_array(findings) || !json_is_array(coverage) ||
        !json_is_array(unchecked))
        return damaged(part, "it has no findings of 'check'");
    if (json_integer_value(classes) > UINT32_MAX ||
        (merged->unchecked && merged->classes != (unsigned)json_integer_value(classes)))
        return damaged(part, "it checked other classes");
    merged->classes = (unsigned)json_integer_value(classes);
    json_array_foreach(findings, i, one)
    {
        if (!is_finding(one))
            return damaged(part, "a finding lacks a member");
        json_array_append_new(all, json_deep_copy(one));
    }
    json_array_foreach(unchecked, i, one) if (!json_is_string(one)) return damaged(
        part, "a kernel that did not run has no name");
    if (!merged->unchecked)
        merged->unchecked = json_deep_copy(unchecked);
    return add_coverage(merged->coverage, coverage) ||
           damaged(part, "its coverage lacks a member, or is of another kernel");
}

bool part_merge_findings(struct part_findings *merged, const struct part *parts, size_t count)
{
    *merged = (struct part_findings){.findings = json_array(), .coverage = json_array()};
    json_t *all = json_array(), *row;
    bool good = all && merged->findings && merged->coverage;
    size_t i;
    for (i = 0; i < count && good; i++)
        if (!take(merged, &parts[i], all)) {
            json_decref(all);
            return false;
        }
    json_array_foreach(merged->coverage, i, row) good = good && count_code(row);
    good = good && settle_waits(all) && combine(merged->findings, all);
    json_decref(all);
    if (!good)
        tool_fail("merge: out of memory, or more executions than can be counted");
    return good;
}

void part_findings_free(struct part_findings *merged)
{
    json_decref(merged->findings);
    json_decref(merged->coverage);
    json_decref(merged->unchecked);
}

size_t part_drop_uninit(struct part_findings *merged)
{
    size_t dropped = 0;
    for (size_t i = json_array_size(merged->findings); i-- > 0;) {
        const char *class = tool_text_of(json_array_get(merged->findings, i), "class");
        if (!class || strcmp(class, wm_check_class_name(WM_CHECK_UNINIT)) != 0)
            continue;
        json_array_remove(merged->findings, i);
        dropped++;
    }
    return dropped;
}

/* ---- dispatches ---- */

static void print_fault(const char *label, const char *text)
{
    const size_t length = strlen(text);
    tool_print_label(stderr, TOOL_RED, label);
    tool_print(stderr, "%s%s", text, length && text[length - 1] == '\n' ? "" : "\n");
}

/* Adds what another part did in the same dispatch. */
static bool add_ran(json_t *entry, const json_t *more)
{
    static const char *const sums[] = {"workgroups", "waves", "wave_instructions", "violations"};
    static const char *const firsts[] = {"fault", "violation"};
    const json_t *seconds = json_object_get(entry, "seconds"), *its = json_object_get(more, "seconds");
    if (!add_counts(entry, more, sums, sizeof sums / sizeof *sums) || !json_is_number(seconds) ||
        !json_is_number(its))
        return false;
    const double together = json_number_value(seconds) + json_number_value(its);
    json_object_set_new(entry, "seconds", json_real(together));
    json_object_set_new(
        entry, "wave_instructions_per_second",
        json_real(together > 0 ? (double)tool_number_of(entry, "wave_instructions") / together : 0));
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
        if (json_is_null(json_object_get(entry, firsts[i])))
            json_object_set(entry, firsts[i], json_object_get(more, firsts[i]));
    if (json_is_false(json_object_get(more, "reproducible")))
        json_object_set_new(entry, "reproducible", json_false());
    return true;
}

static bool is_ran(const json_t *entry)
{
    const json_t *fault = json_object_get(entry, "fault"), *violation = json_object_get(entry, "violation");
    return (json_is_null(fault) || tool_text_of(fault, "text")) &&
           is_count(json_object_get(entry, "waves")) && is_count(json_object_get(entry, "violations")) &&
           (json_is_null(violation) || tool_text_of(violation, "text"));
}

/* Adds what the part could not do, unless another one could not either. */
static bool add_incomplete(json_t *list, const json_t *more)
{
    size_t i, j;
    json_t *one, *other;
    json_array_foreach(more, i, one)
    {
        bool known = false;
        if (!tool_text_of(one, "what") || !tool_text_of(one, "why"))
            return false;
        json_array_foreach(list, j, other) known |= json_equal(one, other);
        if (!known)
            json_array_append(list, one);
    }
    return json_is_array(more);
}

int part_merge_dispatches(const struct part *parts, size_t count, json_t *report)
{
    json_t *ran = json_array(), *one;
    const json_t *check = json_object_get(parts[0].head, "check");
    const bool memory = tool_number_of(check, "classes") & WM_CHECK_MEMORY;
    int code = TOOL_CLEAN;
    size_t i;
    json_object_set_new(report, "dispatches", ran);
    for (size_t p = 0; p < count; p++) {
        const json_t *its = json_object_get(parts[p].head, "ran");
        bool good = json_is_array(its) && add_incomplete(json_object_get(report, "incomplete"),
                                                         json_object_get(parts[p].head, "incomplete"));
        json_array_foreach(its, i, one)
        {
            good = good && is_ran(one);
            if (good && i < json_array_size(ran))
                good = add_ran(json_array_get(ran, i), one);
            else if (good)
                json_array_append_new(ran, json_deep_copy(one));
        }
        if (!good) {
            damaged(&parts[p], "its dispatches lack a member");
            return TOOL_WRONG;
        }
    }
    json_array_foreach(ran, i, one)
    {
        const json_t *fault = json_object_get(one, "fault");
        const json_int_t violations = tool_number_of(one, "violations");
        if (violations && !memory) {
            const char *text = tool_text_of(json_object_get(one, "violation"), "text");
            print_fault("warning", text ? text : "a memory violation");
            fprintf(stderr, "  this is the first of %" PRId64 " such accesses\n", (int64_t)violations);
            code = tool_worse(code, TOOL_FINDINGS);
        }
        if (json_is_object(fault)) {
            print_fault("error", tool_text_of(fault, "text"));
            code = tool_worse(code, TOOL_FAULT);
        }
    }
    return code;
}
