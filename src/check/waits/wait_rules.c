/* SPDX-License-Identifier: MIT */
/* What the checker of waits and hazards reports, in words. */
#include "check/waits/wait_rules.h"

#include "isa/rules/wait.h"

#include <inttypes.h>
#include <stdio.h>

enum { TEXT = 256 };

static void first_text(const struct wmi_words *words, const struct wmi_found *found, char *text, size_t size)
{
    struct wm_profile_row row = {.pc = found->first_pc};
    words->describe(words->user, 0, &row);
    snprintf(text, size, "%s", row.text);
}

static void register_text(const struct wmi_found *found, char *text, size_t size)
{
    *text = 0;
    if (found->detail[WMI_DETAIL_REGISTER])
        wmi_register_name((unsigned)found->detail[WMI_DETAIL_REGISTER] - 1, text, size);
}

static void word_missing_wait(const struct wmi_words *words, const struct wmi_found *found, char *message,
                              size_t size);

#define WAITS_SOURCE "AMD's ISA documents, \"Data Dependency Resolution\""
#define WAITS_REMEDY "put the wait in front of this instruction, or use the register later"

const struct wmi_check_rule wmi_missing_wait_rules[WMI_MISSING_WAITS] = {
    [WMI_READ_EARLY] = {.name = "read-before-wait",
                        .source = WAITS_SOURCE,
                        .remedy = WAITS_REMEDY,
                        .class = WM_CHECK_WAITS,
                        .has_first = true,
                        .word = word_missing_wait},
    [WMI_OVERWRITTEN_EARLY] = {.name = "write-before-wait",
                               .source = WAITS_SOURCE,
                               .remedy = WAITS_REMEDY,
                               .class = WM_CHECK_WAITS,
                               .has_first = true,
                               .word = word_missing_wait},
    [WMI_HELD_OVERWRITTEN] = {.name = "store-data-before-wait",
                              .source = WAITS_SOURCE,
                              .remedy = WAITS_REMEDY,
                              .class = WM_CHECK_WAITS,
                              .word = word_missing_wait},
    [WMI_REPLAY_OVERWRITTEN] = {.name = "source-before-translation",
                                .source = "CDNA 5 ISA, S_WAIT_XCNT; LLVM, SIInsertWaitcnts",
                                .remedy = WAITS_REMEDY,
                                .class = WM_CHECK_WAITS,
                                .has_first = true,
                                .word = word_missing_wait},
    [WMI_PREFETCHED_EARLY] = {.name = "prefetch-before-translation",
                              .source = "CDNA 5 ISA, \"Scalar Prefetch Instructions\"; LLVM 22 does not wait",
                              .remedy = "put the wait in front of this instruction",
                              .class = WM_CHECK_WAITS,
                              .severity = WM_SEVERITY_NOTE,
                              .has_first = true,
                              .word = word_missing_wait},
    [WMI_SCRATCH_DEALLOCATED] =
        {.name = "scratch-store-before-dealloc",
         .source = "LLVM, SIInsertWaitcnts, MSG_DEALLOC_VGPRS",
         .remedy = "put the wait in front of this instruction, or leave this instruction out",
         .class = WM_CHECK_WAITS,
         .has_first = true,
         .word = word_missing_wait},
};

static void word_missing_wait(const struct wmi_words *words, const struct wmi_found *found, char *message,
                              size_t size)
{
    static const char *const what[] = {
        [WMI_READ_EARLY] = "is read before its data is there",
        [WMI_OVERWRITTEN_EARLY] = "is overwritten before data on its way has arrived",
        [WMI_HELD_OVERWRITTEN] = "is overwritten before it has been read as data",
        [WMI_REPLAY_OVERWRITTEN] = "is overwritten while a memory instruction that reads it may be replayed",
        [WMI_PREFETCHED_EARLY] =
            "of earlier memory instructions may not be complete when this one prefetches",
        [WMI_SCRATCH_DEALLOCATED] = "is deallocated with the VGPRs while a store to it is in flight",
    };
    const struct wmi_wait_rules *rules = words->checker;
    const uint64_t distance = found->detail[WMI_DETAIL_DISTANCE];
    char wait[64], first[TEXT], reg[32];
    wmi_wait_text(rules->target, (enum wmi_counter)found->detail[WMI_DETAIL_COUNTER],
                  (unsigned)found->detail[WMI_DETAIL_VALUE], wait, sizeof wait);
    first_text(words, found, first, sizeof first);
    register_text(found, reg, sizeof reg);
    snprintf(message, size, "%s %s: '%s' is missing after '%s', %s%" PRIu64 " instruction%s before", reg,
             what[found->rule - wmi_missing_wait_rules], wait, first,
             distance == WMI_WAIT_FAR ? "at least " : "", distance + 1, distance ? "s" : "");
}

static void word_hazard(const struct wmi_words *words, const struct wmi_found *found, char *message,
                        size_t size)
{
    const struct wmi_wait_rules *rules = words->checker;
    const struct wmi_hazard *hazard = &wmi_hazards[found->rule - rules->hazard];
    const unsigned missing = (unsigned)found->detail[WMI_DETAIL_VALUE];
    char first[TEXT], reg[16];
    first_text(words, found, first, sizeof first);
    register_text(found, reg, sizeof reg);
    const char *space = *reg ? " " : "";
    if (missing)
        snprintf(message, size, "%s%s%s: %u wait state%s missing after '%s' ('s_nop %u' between them)", reg,
                 space, hazard->what, missing, missing == 1 ? " is" : "s are", first, missing - 1);
    else if (!hazard->remedy)
        snprintf(message, size, "%s%s%s", reg, space, hazard->what);
    else
        snprintf(message, size, "%s%s%s: '%s' is missing after '%s'", reg, space, hazard->what,
                 hazard->remedy, first);
}

static void word_needless(const struct wmi_words *words, const struct wmi_found *found, char *message,
                          size_t size)
{
    char later[TEXT];
    if (!found->distance) {
        snprintf(message, size, "this wait is needless: nothing that it waits for was on its way");
        return;
    }
    first_text(words, found, later, sizeof later);
    snprintf(message, size,
             "this wait is needless: what it waits for is not used before '%s', at least %" PRIu64
             " instruction%s later",
             later, found->distance - 1, found->distance == 2 ? "" : "s");
}

static void word_needed(const struct wmi_words *words, const struct wmi_found *found, char *message,
                        size_t size)
{
    (void)words, (void)found;
    snprintf(message, size, "this wait was needed");
}

#define NEEDLESS_RULE                                                                                        \
    .name = "needless-wait", .source = WAITS_SOURCE,                                                         \
    .remedy = "leave it out, or wait later; a fence or an acquiring load that needs it is not seen in code", \
    .class = WM_CHECK_WAITS, .severity = WM_SEVERITY_NOTE, .has_first = true, .word = word_needless

const struct wmi_check_rule wmi_needless_rule = {NEEDLESS_RULE};
const struct wmi_check_rule wmi_needless_in_launch_rule = {NEEDLESS_RULE, .launches = true};
const struct wmi_check_rule wmi_needed_rule = {.name = "needed-wait",
                                               .source = WAITS_SOURCE,
                                               .class = WM_CHECK_WAITS,
                                               .severity = WM_SEVERITY_NOTE,
                                               .launches = true,
                                               .word = word_needed};

void wmi_wait_rules_init(struct wmi_wait_rules *rules)
{
    for (unsigned i = 0; i < WMI_HAZARD_COUNT; i++)
        rules->hazard[i] =
            (struct wmi_check_rule){.name = wmi_hazards[i].name,
                                    .source = wmi_hazards[i].source,
                                    .class = WM_CHECK_HAZARDS,
                                    .severity = wmi_hazards[i].is_new ? WM_SEVERITY_NOTE : WM_SEVERITY_ERROR,
                                    .has_first = true,
                                    .word = word_hazard};
}
