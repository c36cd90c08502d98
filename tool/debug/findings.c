/* SPDX-License-Identifier: MIT */
/* What `wavemem check' finds in the dispatch that is debugged, as places to go to. */
#include "tool/debug/findings.h"

#include <string.h>

static const unsigned usual = WM_CHECK_WAITS | WM_CHECK_HAZARDS | WM_CHECK_MEMORY | WM_CHECK_UNINIT |
                              WM_CHECK_RACES | WM_CHECK_SYNC | WM_CHECK_FLOAT;

static bool parse_classes(const char *text, unsigned *classes, struct wm_diag *diag)
{
    *classes = *text ? 0 : usual;
    for (const char *at = text; *at;) {
        const size_t length = strcspn(at, ", ");
        unsigned bit = 0;
        for (unsigned i = 0; i < 32 && !bit; i++) {
            const char *name = wm_check_class_name((enum wm_check_what)(usual & 1u << i));
            if (*name && strlen(name) == length && !strncmp(name, at, length))
                bit = 1u << i;
        }
        if (!bit)
            return tool_because(diag,
                                "No class of findings is called \"%.*s\": memory, uninit, race, sync, wait, "
                                "hazard, float.",
                                (int)length, at);
        *classes |= bit;
        at += length + strspn(at + length, ", ");
    }
    return true;
}

/* The first error, or the first note if there is none, whose wave is known. */
static const struct wm_finding *choose(const struct wm_finding *findings, size_t count, uint32_t since)
{
    const struct wm_finding *chosen = NULL;
    for (size_t i = 0; i < count; i++)
        if (findings[i].has_wave && findings[i].launch > since &&
            (!chosen || findings[i].severity < chosen->severity))
            chosen = &findings[i];
    return chosen;
}

static bool print_findings(struct debug_session *s, const struct wm_finding *findings, size_t count,
                           uint32_t since)
{
    bool shown = false;
    for (size_t i = 0; i < count; i++) {
        if (findings[i].launch <= since)
            continue;
        shown = true;
        tool_print(s->out, "%s: %s\n", findings[i].severity == WM_SEVERITY_ERROR ? "error" : "note",
                   findings[i].message);
        tool_print(s->out, "  %s+0x%llx  %s", findings[i].kernel, (unsigned long long)findings[i].offset,
                   findings[i].text);
        if (findings[i].file)
            tool_print(s->out, "  %s:%u", findings[i].file, findings[i].line);
        fputc('\n', s->out);
    }
    return shown;
}

/* Where a finding was first seen. */
struct spot {
    uint64_t pc, lanes;
    uint32_t workgroup[3], wave;
};

/* Goes to the first execution of the instruction by the wave in which the lanes take part. */
static bool go_to_spot(struct debug_session *s, const struct spot *spot, struct wm_diag *diag)
{
    struct debug_goal goal = {
        .addresses = &spot->pc, .address_count = 1, .of_wave = true, .wave = spot->wave};
    struct wm_stopped stopped;
    memcpy(goal.workgroup, spot->workgroup, sizeof goal.workgroup);
    if (!debug_go_to(s, (struct debug_time){s->dispatch, 0}, diag))
        return false;
    do {
        if (s->state != DEBUG_STOPPED)
            return tool_because(diag, "The wave did not come to the instruction again.");
        if (!(s->now == 0 && s->wave.pc == spot->pc && s->wave.wave == spot->wave) &&
            !debug_advance(s, &goal, &stopped, diag))
            return false;
    } while (s->state != DEBUG_STOPPED || s->wave.pc != spot->pc ||
             (spot->lanes && !(s->wave.lanes & spot->lanes)));
    if (spot->lanes)
        s->lane = (unsigned)__builtin_ctzll(spot->lanes);
    return true;
}

/* Prints what is new, and finds the spot to go to; false: there is none. */
static bool find_spot(struct debug_session *s, struct wm_check *check, uint32_t since, bool *found,
                      struct spot *spot)
{
    size_t count;
    const struct wm_finding *findings = wm_check_findings(check, &count);
    const struct wm_finding *first = choose(findings, count, since);
    *found = print_findings(s, findings, count, since);
    if (!first)
        return false;
    *spot = (struct spot){first->pc, first->lanes, {0}, first->wave};
    memcpy(spot->workgroup, first->workgroup, sizeof spot->workgroup);
    return true;
}

bool debug_show_findings(struct debug_session *s, struct wm_check *check, uint32_t since, bool *found,
                         struct wm_diag *diag)
{
    struct spot spot;
    return !find_spot(s, check, since, found, &spot) || go_to_spot(s, &spot, diag);
}

bool debug_go_to_finding(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    struct wm_check *check;
    struct wm_machine *machine;
    struct spot spot;
    unsigned classes;
    bool found = false, goes = false;
    if (!parse_classes(text, &classes, diag) || (s->state == DEBUG_BEFORE && !debug_restart(s, diag)) ||
        wm_check_create(classes, &check, diag) != WM_OK)
        return false;
    const bool good = s->source->check(s, check, &machine, diag);
    if (good) {
        goes = find_spot(s, check, (uint32_t)s->dispatch, &found, &spot);
        if (!found)
            fprintf(s->out, "Nothing found.\n");
    }
    wm_check_destroy(check);
    wm_machine_destroy(machine);
    return good && (!goes || go_to_spot(s, &spot, diag));
}
