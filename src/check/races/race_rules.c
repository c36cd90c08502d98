/* SPDX-License-Identifier: MIT */
/* Which instructions communicate, and what reports say of races.
 *
 * Code does not tell all: before gfx940, and on gfx10 and gfx11, an atomic store is a plain store, and an
 * atomic load of LDS is a plain load. So both sides decide: an aligned store of 1, 2, 4 or 8 bytes is taken
 * as atomic if the other side is an atomic load; if the other side is an atomic, it must be one that
 * exchanges, or one that returns a value, and the store must follow a wait for earlier stores, as releases
 * do. A load without cache bits is taken as atomic within a workgroup if only its value can end a loop that
 * it is in or that repeats it, and a scalar load also between workgroups if that loop invalidates the scalar
 * cache. A strict check assumes none of this. */
#include "check/races/race_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- who communicates ---- */

static bool reaches_device(unsigned scope)
{
    return scope == WM_SCOPE_DEVICE || scope == WM_SCOPE_SYSTEM;
}

/* The role of a load or store as far as its scope or cache bits tell. */
static enum wmi_race_role role_by_scope(const struct wmi_race_insn *insn, bool same_group)
{
    if (insn->scope == WM_SCOPE_WAVE || insn->scope == WM_SCOPE_CU)
        return WMI_RACE_PLAIN;
    return same_group || reaches_device(insn->scope) ? WMI_RACE_ATOMIC : WMI_RACE_NARROW;
}

/* The role of a load as far as its scope or cache bits tell. */
static enum wmi_race_role role_by_policy(const struct wmi_race_rules *rules, const struct wmi_race_insn *insn,
                                         bool same_group)
{
    const uint32_t bits = rules->model->load_bits;
    if (insn->lds)
        return WMI_RACE_PLAIN;
    if (rules->model->has_scopes)
        return role_by_scope(insn, same_group);
    if (insn->policy & WMI_POLICY_GLC && !(insn->policy & WMI_POLICY_SLC))
        return same_group || (insn->policy & bits) == bits ? WMI_RACE_ATOMIC : WMI_RACE_NARROW;
    return WMI_RACE_PLAIN;
}

bool wmi_race_bypasses(const struct wmi_race_rules *rules, const struct wmi_race_insn *insn, bool same_group)
{
    return insn->kind == WMI_ACCESS_LOAD && role_by_policy(rules, insn, same_group) == WMI_RACE_ATOMIC;
}

bool wmi_race_is_coherent(const struct wmi_race_rules *rules, const struct wmi_race_insn *insn)
{
    return wmi_race_bypasses(rules, insn, true);
}

bool wmi_race_writes_through(const struct wmi_race_rules *rules, const struct wmi_race_insn *insn)
{
    return rules->model->writes_back && insn->kind != WMI_ACCESS_LOAD && !insn->lds &&
           reaches_device(insn->scope);
}

static enum wmi_race_role role_of_load(const struct wmi_race_rules *rules, const struct wmi_race_insn *insn,
                                       bool same_group)
{
    const enum wmi_race_role role = role_by_policy(rules, insn, same_group);
    const struct wmi_race_load *load = &insn->load;
    const bool rereads = insn->path == WMI_PATH_SMEM && load->invalidates;
    const bool communicates = (load->polls && same_group) || rereads || load->seeds;
    return role == WMI_RACE_PLAIN && communicates && !rules->strict ? WMI_RACE_ATOMIC : role;
}

bool wmi_race_is_word(const struct wmi_race_insn *insn)
{
    return insn->elements == 1 && insn->bytes <= 8 && !(insn->bytes & (insn->bytes - 1));
}

static enum wmi_race_role role_of_store(const struct wmi_race_rules *rules, const struct wmi_race_insn *insn,
                                        bool same_group)
{
    if (!wmi_race_is_word(insn) || insn->path == WMI_PATH_LDS_DMA)
        return WMI_RACE_PLAIN;
    if (!insn->lds && rules->model->has_scopes) {
        const enum wmi_race_role role = role_by_scope(insn, same_group);
        if (role != WMI_RACE_PLAIN || !same_group)
            return role;
    }
    return rules->strict ? WMI_RACE_PLAIN : WMI_RACE_MAYBE;
}

enum wmi_race_role wmi_race_role(const struct wmi_race_rules *rules, const struct wmi_race_insn *insn,
                                 bool same_group)
{
    switch (insn->kind) {
    case WMI_ACCESS_LOAD:
        return role_of_load(rules, insn, same_group);
    case WMI_ACCESS_STORE:
        return role_of_store(rules, insn, same_group);
    default:
        return !insn->lds && rules->model->atomics_have_scopes && !same_group && !reaches_device(insn->scope)
                   ? WMI_RACE_NARROW
                   : WMI_RACE_ATOMIC;
    }
}

/* Whether a store that may be atomic is taken to be, given the other access. */
static bool is_atomic_with(const struct wmi_race_insn *store, const struct wmi_race_insn *other)
{
    switch (other->kind) {
    case WMI_ACCESS_LOAD:
        return !other->load.seeds || other->load.polls || other->coherent;
    case WMI_ACCESS_ATOMIC:
        return (store->released && other->returns) || other->load.polls ||
               other->operation == WM_ATOMIC_SWAP || other->operation == WM_ATOMIC_COMPARE_SWAP;
    default:
        return store->communicated && other->communicated;
    }
}

bool wmi_race_communicates(const struct wmi_race_rules *rules, const struct wmi_race_insn *first,
                           const struct wmi_race_insn *second, bool same_group)
{
    const enum wmi_race_role a = wmi_race_role(rules, first, same_group),
                             b = wmi_race_role(rules, second, same_group);
    if (a == WMI_RACE_ATOMIC && b == WMI_RACE_ATOMIC)
        return true;
    if (a == WMI_RACE_MAYBE && (b == WMI_RACE_ATOMIC || b == WMI_RACE_MAYBE))
        return is_atomic_with(first, second);
    return b == WMI_RACE_MAYBE && a == WMI_RACE_ATOMIC && is_atomic_with(second, first);
}

/* ---- texts ---- */

static const char *verb(unsigned kind)
{
    static const char *const verbs[] = {
        [WMI_ACCESS_LOAD] = "reads", [WMI_ACCESS_STORE] = "stores", [WMI_ACCESS_ATOMIC] = "updates"};
    return verbs[kind];
}

static const char *past(unsigned kind)
{
    static const char *const verbs[] = {[WMI_ACCESS_LOAD] = "has read",
                                        [WMI_ACCESS_STORE] = "has stored",
                                        [WMI_ACCESS_ATOMIC] = "has updated atomically"};
    return verbs[kind];
}

/* The plural of lanes. */
static const char *plural(unsigned kind)
{
    static const char *const verbs[] = {
        [WMI_ACCESS_LOAD] = "read", [WMI_ACCESS_STORE] = "store", [WMI_ACCESS_ATOMIC] = "update"};
    return verbs[kind];
}

static const char *plural_past(unsigned kind)
{
    static const char *const verbs[] = {[WMI_ACCESS_LOAD] = "have read",
                                        [WMI_ACCESS_STORE] = "have stored",
                                        [WMI_ACCESS_ATOMIC] = "have updated atomically"};
    return verbs[kind];
}

/* Names the wave that made the earlier access, relative to the later one. */
static void name_first(const struct wmi_found *found, char *text, size_t size)
{
    const uint64_t how = found->detail[WMI_RACE_HOW];
    if (how & WMI_RACE_HOW_SAME_GROUP)
        snprintf(text, size, "wave %" PRIu64, found->detail[WMI_RACE_FIRST_WAVE]);
    else
        snprintf(text, size, "wave %" PRIu64 " of workgroup %" PRIu64, found->detail[WMI_RACE_FIRST_WAVE],
                 found->detail[WMI_RACE_FIRST_GROUP]);
}

/* Names the barrier at which an operation was in flight: "a.s:9", or without a line table "kernel+0x40". */
static void name_barrier(const struct wmi_words *words, const struct wmi_found *found, char *text,
                         size_t size)
{
    struct wm_profile_row row = {.pc = found->detail[WMI_RACE_BARRIER]};
    words->describe(words->user, 0, &row);
    const char *name = row.file ? strrchr(row.file, '/') : NULL;
    if (row.file && row.line)
        snprintf(text, size, "%s:%u", name ? name + 1 : row.file, row.line);
    else
        snprintf(text, size, "%s+0x%" PRIx64, row.kernel ? row.kernel : "", row.offset);
}

static const char *wait_for_move(const struct wmi_race_model *model)
{
    return model->wait_move ? model->wait_move : model->wait_load;
}

/* The text for two accesses to LDS of which the first was in flight. */
static void word_flight(const struct wmi_words *words, const struct wmi_found *found, const char *start,
                        char *message, size_t size)
{
    const struct wmi_race_model *model = wmi_race_model_numbered(found->detail[WMI_RACE_MODEL]);
    const enum wmi_race_kind kind = (enum wmi_race_kind)(found->rule - wmi_race_texts);
    const bool stores = found->detail[WMI_RACE_HOW] >> WMI_RACE_HOW_FIRST_KIND & 3;
    const bool to_lds = kind == WMI_RACE_LOAD_TO_LDS_AT_BARRIER || kind == WMI_RACE_STORE_FROM_LDS_AT_BARRIER;
    char barrier[160];
    if (kind == WMI_RACE_STORE_FROM_LDS) {
        snprintf(
            message, size,
            "wave %u overwrites LDS that its store to memory still reads: '%s' is missing between the two",
            found->wave, wait_for_move(model));
        return;
    }
    if (kind == WMI_RACE_LOAD_TO_LDS) {
        snprintf(
            message, size,
            stores ? "wave %u accesses LDS that its load to LDS still writes: '%s' is missing between the two"
                   : "wave %u loads to LDS that an earlier instruction still accesses: '%s' is missing "
                     "between the two",
            found->wave, stores ? wait_for_move(model) : model->wait_lds);
        return;
    }
    name_barrier(words, found, barrier, sizeof barrier);
    snprintf(message, size,
             "%s: that was still in flight when it came to the barrier at %s, which waits for no counter: "
             "'%s' is missing before it",
             start, barrier, to_lds ? wait_for_move(model) : model->wait_lds);
}

static void word_race(const struct wmi_words *words, const struct wmi_found *found, char *message,
                      size_t size)
{
    const uint64_t how = found->detail[WMI_RACE_HOW];
    const bool loads = (how >> WMI_RACE_HOW_FIRST_KIND & 3) == WMI_ACCESS_LOAD;
    const struct wmi_race_model *model = wmi_race_model_numbered(found->detail[WMI_RACE_MODEL]);
    const bool writes_back = model->write_back && !loads && !(how & WMI_RACE_HOW_THROUGH);
    char first[64], start[192];
    name_first(found, first, sizeof first);
    snprintf(start, sizeof start, "wave %u %s what %s %s", found->wave, verb(how >> WMI_RACE_HOW_KIND & 3),
             first, past(how >> WMI_RACE_HOW_FIRST_KIND & 3));
    switch ((enum wmi_race_kind)(found->rule - wmi_race_texts)) {
    case WMI_RACE_OF_LDS:
        snprintf(message, size, "%s, with no barrier in between", start);
        break;
    case WMI_RACE_OF_GLOBAL:
        snprintf(message, size, "%s, and nothing orders the two", start);
        break;
    case WMI_RACE_OF_MIXED:
        snprintf(message, size, "%s: one of the two is not atomic, and nothing orders them", start);
        break;
    case WMI_RACE_OF_FLAGS:
        snprintf(
            message, size,
            "%s, and nothing orders the two: right only if both are atomic stores of a flag, which have the "
            "same instructions (--strict: an error)",
            start);
        break;
    case WMI_RACE_OF_RELEASE:
        snprintf(message, size,
                 "%s: the flag was stored without waiting for that: '%s%s%s' is missing before it", start,
                 writes_back ? model->write_back : "", writes_back ? "; " : "",
                 loads ? model->wait_load : model->wait);
        break;
    case WMI_RACE_OF_ACQUIRE:
        snprintf(
            message, size,
            "%s: it has seen the flag, but its caches may hold older data: '%s' %s missing after the load",
            start, model->invalidate, strstr(model->invalidate, " and ") ? "are" : "is");
        break;
    case WMI_RACE_OF_SCOPE:
        snprintf(message, size, "%s: the scope of one of the two ends at the workgroup", start);
        break;
    case WMI_RACE_OF_HALVES:
        snprintf(message, size,
                 "lanes %s of wave %u %s what its lanes %s %s, with no barrier in between: in order only "
                 "because they are one wave of 64 lanes",
                 how & WMI_RACE_HOW_UPPER ? "0-31" : "32-63", found->wave,
                 plural(how >> WMI_RACE_HOW_KIND & 3), how & WMI_RACE_HOW_UPPER ? "32-63" : "0-31",
                 plural_past(how >> WMI_RACE_HOW_FIRST_KIND & 3));
        break;
    case WMI_RACE_OF_STORE_AT_BARRIER:
    case WMI_RACE_OF_READ_AT_BARRIER:
    case WMI_RACE_LOAD_TO_LDS_AT_BARRIER:
    case WMI_RACE_LOAD_TO_LDS:
    case WMI_RACE_STORE_FROM_LDS_AT_BARRIER:
    case WMI_RACE_STORE_FROM_LDS:
        word_flight(words, found, start, message, size);
        break;
    case WMI_RACE_OF_STORE_BEFORE_BARRIER:
        snprintf(message, size,
                 "%s: that store was still in flight when it came to the barrier, and in %s waves have "
                 "different vector caches: '%s' is missing before it",
                 start, model->mode, model->wait);
        break;
    case WMI_RACE_OF_LOAD_BEHIND_BARRIER:
        snprintf(message, size,
                 "%s: in %s waves have different vector caches, of which its own may hold older data: "
                 "'%s' is missing behind the barrier",
                 start, model->mode, model->mode_invalidate);
        break;
    case WMI_RACE_OF_EQUALS:
        snprintf(message, size, "%s, with the same value, and nothing orders the two", start);
        break;
    case WMI_RACE_OF_LANE_WORDS:
        snprintf(
            message, size,
            "lanes store different values to one address: which one remains is undefined; that is right for "
            "relaxed atomics only, which have the same instructions (--strict: an error)");
        break;
    default:
        snprintf(message, size,
                 "lanes store different values to one address: which one remains is undefined");
        break;
    }
}

#define RULE(rule_name, what, fix, pair)                                                                     \
    {.name = rule_name,                                                                                      \
     .source = "LLVM AMDGPUUsage, \"Memory Model\"",                                                         \
     .remedy = fix,                                                                                          \
     .class = WM_CHECK_RACES,                                                                                \
     .severity = what,                                                                                       \
     .has_first = pair,                                                                                      \
     .pairs = pair,                                                                                          \
     .word = word_race}

const struct wmi_check_rule wmi_race_texts[WMI_RACE_KINDS] = {
    [WMI_RACE_OF_LDS] = RULE("race-lds", WM_SEVERITY_ERROR,
                             "a barrier between the two, with a fence of workgroup scope", true),
    [WMI_RACE_OF_GLOBAL] = RULE("race-global", WM_SEVERITY_ERROR,
                                "an atomic or a flag that releases the one and acquires it before the other; "
                                "within a workgroup a barrier",
                                true),
    [WMI_RACE_OF_LANES] =
        RULE("race-lanes", WM_SEVERITY_ERROR, "let one lane store, or use an atomic", false),
    [WMI_RACE_OF_LANE_WORDS] =
        RULE("race-lanes", WM_SEVERITY_NOTE, "let one lane store, or use an atomic", false),
    [WMI_RACE_OF_MIXED] =
        RULE("race-mixed", WM_SEVERITY_ERROR, "make both atomic, or order them by a barrier or a flag", true),
    [WMI_RACE_OF_FLAGS] =
        RULE("race-flags", WM_SEVERITY_NOTE, "make both atomic, or order them by a barrier or a flag", true),
    [WMI_RACE_OF_RELEASE] = RULE("race-release", WM_SEVERITY_ERROR,
                                 "release with the scope of the device before the flag is stored", true),
    [WMI_RACE_OF_ACQUIRE] = RULE("race-acquire", WM_SEVERITY_ERROR,
                                 "acquire with the scope of the device after the flag is read", true),
    [WMI_RACE_OF_SCOPE] = RULE("race-scope", WM_SEVERITY_ERROR, "use the scope of the device for both", true),
    [WMI_RACE_OF_EQUALS] = RULE("race-same-value", WM_SEVERITY_NOTE, "let one of them store", true),
    [WMI_RACE_OF_HALVES] = {.name = "wave-size",
                            .source = "LLVM AMDGPUUsage, \"Memory Model\"",
                            .remedy = "a barrier between the two, or compile for waves of 64 lanes only",
                            .class = WM_CHECK_PORTABILITY,
                            .severity = WM_SEVERITY_NOTE,
                            .has_first = true,
                            .pairs = true,
                            .word = word_race},
    [WMI_RACE_OF_STORE_AT_BARRIER] = RULE("lds-store-at-barrier", WM_SEVERITY_ERROR,
                                          "wait until the counter of LDS is 0 before the barrier", true),
    [WMI_RACE_OF_READ_AT_BARRIER] = RULE("lds-read-at-barrier", WM_SEVERITY_ERROR,
                                         "wait until the counter of LDS is 0 before the barrier", true),
    [WMI_RACE_LOAD_TO_LDS_AT_BARRIER] =
        RULE("load-to-lds-at-barrier", WM_SEVERITY_ERROR,
             "wait for the load by the counter of loads from memory before the barrier", true),
    [WMI_RACE_STORE_FROM_LDS_AT_BARRIER] =
        RULE("store-from-lds-at-barrier", WM_SEVERITY_ERROR, "wait for the store before the barrier", true),
    [WMI_RACE_STORE_FROM_LDS] =
        RULE("store-from-lds-before-wait", WM_SEVERITY_ERROR, "wait for the store", true),
    [WMI_RACE_OF_STORE_BEFORE_BARRIER] =
        RULE("race-release", WM_SEVERITY_ERROR,
             "a fence of workgroup scope for global memory before the barrier, as __syncthreads() has", true),
    [WMI_RACE_OF_LOAD_BEHIND_BARRIER] =
        RULE("race-acquire", WM_SEVERITY_ERROR,
             "a fence of workgroup scope for global memory behind the barrier, as __syncthreads() has", true),
    [WMI_RACE_LOAD_TO_LDS] =
        RULE("load-to-lds-before-wait", WM_SEVERITY_ERROR,
             "wait by the counter of what comes first: of loads from memory, or of LDS", true),
};
