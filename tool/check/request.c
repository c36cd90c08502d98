/* SPDX-License-Identifier: MIT */
/* What is checked: the options of `check` and --check. */
#include "tool/check/request.h"

#include "tool/output.h"

#include <stdlib.h>
#include <string.h>

const char tool_check_help[] =
    "Options of checks:\n"
    "      --only LIST      only these classes of findings, separated by commas: memory, uninit, race, "
    "sync,\n"
    "                       wait, hazard, portability, float; default: all but portability and float\n"
    "      --origins        uninit: follow values through registers, and report where they matter and where\n"
    "                       they come from, instead of loads\n"
    "      --strict         race: report also what is right only by what the target guarantees beyond the\n"
    "                       memory model\n"
    "      --portability    also notes of what is in order only because waves have 64 lanes\n"
    "      --float          also NaNs, infinities and saturated integers that arise from finite numbers and\n"
    "                       reach a store\n"
    "      --needless       wait: report also waits that were needless whenever they were executed\n"
    "      --shuffle SEED[,SEED]...  repeat each dispatch for each seed (numbers above 0) with its "
    "workgroups\n"
    "                       and waves in another order, and report the first difference in the results, as "
    "a\n"
    "                       note of class portability\n"
    "      --only-kernel REGEX  report only findings in kernels whose symbol or source name matches\n"
    "      --baseline OLD.json  report only findings that the --json of an earlier check does not have, by\n"
    "                       their keys, which do not change when code moves\n"
    "      --suppressions FILE  hide findings that a line of FILE matches: RULE KERNEL [PLACE], patterns "
    "with\n"
    "                       * and ?; PLACE is a key, a file, FILE:LINE or +0xOFFSET; # begins a comment\n"
    "      --write-suppressions FILE  write such lines for all that is reported\n"
    "      --sarif FILE     write the findings as SARIF 2.1.0\n"
    "      --junit FILE     write them as JUnit XML: a test case for each cause, kernel and class\n"
    "      --github         print annotations of GitHub Actions (::error file=...)\n"
    "      --all            print all findings; default: of those with the same cause only one, for the "
    "first\n"
    "                       100 causes\n";

/* Names of classes; their bits are those of the library. */
static const struct {
    const char *name, *plural;
    enum wm_check_what bit;
} classes[] = {
    {"memory", "memory", WM_CHECK_MEMORY},
    {"uninit", "uninit", WM_CHECK_UNINIT},
    {"race", "races", WM_CHECK_RACES},
    {"sync", "sync", WM_CHECK_SYNC},
    {"wait", "waits", WM_CHECK_WAITS},
    {"hazard", "hazards", WM_CHECK_HAZARDS},
    {"portability", "portability", WM_CHECK_PORTABILITY},
    {"float", "float", WM_CHECK_FLOAT},
};
enum {
    CLASSES = sizeof classes / sizeof *classes,
    ON_REQUEST = WM_CHECK_PORTABILITY | WM_CHECK_FLOAT, /* not checked by default */
};

static unsigned class_of(const char *name, size_t length)
{
    for (size_t i = 0; i < CLASSES; i++)
        if ((strlen(classes[i].name) == length && !strncmp(classes[i].name, name, length)) ||
            (strlen(classes[i].plural) == length && !strncmp(classes[i].plural, name, length)))
            return classes[i].bit & wm_check_known();
    return 0;
}

int tool_check_add_classes(struct tool_check_request *request, const char *option, const char *list)
{
    if (!*list)
        return tool_fail("%s: the list is empty", option);
    while (*list) {
        const size_t length = strcspn(list, ",");
        const unsigned bit = class_of(list, length);
        char known[120] = "";
        for (size_t i = 0; i < CLASSES; i++)
            if (classes[i].bit & wm_check_known())
                snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", *known ? ", " : "",
                         classes[i].name);
        if (!bit)
            return tool_fail("%s: '%.*s' is no class of findings; expected a list of %s", option, (int)length,
                             list, known);
        request->classes |= bit;
        list += length + (list[length] == ',');
    }
    return TOOL_CLEAN;
}

/* Options that change what a class reports: they need that class. */
static int add_modifiers(struct tool_check_request *request)
{
    const struct {
        bool given;
        const char *name;
        unsigned bit, of; /* enum wm_check_what */
    } modifiers[] = {
        {request->strict, "--strict", WM_CHECK_STRICT, WM_CHECK_RACES},
        {request->origins, "--origins", WM_CHECK_ORIGINS, WM_CHECK_UNINIT},
        {request->needless, "--needless", WM_CHECK_NEEDLESS, WM_CHECK_WAITS},
        {request->leaks, "--leaks", 0, WM_CHECK_MEMORY},
    };
    for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++) {
        const unsigned needs = modifiers[i].bit | modifiers[i].of;
        if (!modifiers[i].given)
            continue;
        if (needs & ~wm_check_known())
            return tool_fail("%s: this version has no such check", modifiers[i].name);
        if (!(request->classes & modifiers[i].of))
            return tool_fail("%s is about the class '%s', which --only leaves out", modifiers[i].name,
                             wm_check_class_name((enum wm_check_what)modifiers[i].of));
        request->classes |= modifiers[i].bit;
    }
    return TOOL_CLEAN;
}

/* An option that makes no sense without a check; NULL: none is given. */
static const char *option_of(const struct tool_check_request *request)
{
    return request->only                 ? "--only"
           : request->only_kernel        ? "--only-kernel"
           : request->suppressions       ? "--suppressions"
           : request->write_suppressions ? "--write-suppressions"
           : request->baseline           ? "--baseline"
           : request->sarif              ? "--sarif"
           : request->junit              ? "--junit"
           : request->github             ? "--github"
           : request->strict             ? "--strict"
           : request->origins            ? "--origins"
           : request->portability        ? "--portability"
           : request->floats             ? "--float"
           : request->shuffle            ? "--shuffle"
           : request->needless           ? "--needless"
           : request->leaks              ? "--leaks"
                                         : NULL;
}

static int check_outputs(const struct tool_check_request *request)
{
    const struct {
        const char *option, *path;
    } outputs[] = {
        {"--sarif", request->sarif},
        {"--junit", request->junit},
        {"--write-suppressions", request->write_suppressions},
    };
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (outputs[i].path && tool_check_file(outputs[i].option, outputs[i].path) != TOOL_CLEAN)
            return TOOL_WRONG;
    return TOOL_CLEAN;
}

/* The seeds of --shuffle, separated by commas. */
static int read_seeds(struct tool_check_request *request)
{
    size_t room = 1;
    for (const char *at = request->shuffle; *at; at++)
        room += *at == ',';
    if (!(request->seeds = calloc(room, sizeof *request->seeds)))
        return tool_fail("out of memory");
    for (const char *text = request->shuffle; request->seed_count < room;) {
        const size_t length = strcspn(text, ",");
        char one[24];
        snprintf(one, sizeof one, "%.*s", (int)length, text);
        if (length >= sizeof one || !tool_parse_u64(one, &request->seeds[request->seed_count]) ||
            !request->seeds[request->seed_count++])
            return tool_fail("--shuffle %s: expected seeds, numbers above 0, separated by commas",
                             request->shuffle);
        text += length + (text[length] == ',');
    }
    return TOOL_CLEAN;
}

int tool_check_prepare(struct tool_check_request *request)
{
    int code = TOOL_CLEAN;
    if (!request->given && !request->classes && option_of(request))
        return tool_fail("%s is an option of checks: it needs --check", option_of(request));
    if (request->only)
        code = tool_check_add_classes(request, "--only", request->only);
    for (size_t i = 0; i < CLASSES && request->given && !request->only && !request->chosen; i++)
        request->classes |= classes[i].bit & wm_check_known() & ~(unsigned)ON_REQUEST;
    if (request->portability || request->shuffle)
        request->classes |= WM_CHECK_PORTABILITY;
    if (request->floats)
        request->classes |= WM_CHECK_FLOAT;
    code = code ? code : add_modifiers(request);
    code = code || !request->shuffle ? code : read_seeds(request);
    if (!code && request->only_kernel) {
        if (regcomp(&request->regex, request->only_kernel, REG_EXTENDED | REG_NOSUB))
            return tool_fail("--only-kernel %s: expected a regular expression", request->only_kernel);
        request->has_regex = true;
    }
    code = code || !request->suppressions ? code : tool_read_suppressions(request);
    code = code || !request->baseline ? code : tool_read_baseline(request);
    return code ? code : check_outputs(request);
}

void tool_check_free(struct tool_check_request *request)
{
    for (size_t i = 0; i < request->suppression_count; i++)
        free(request->suppression[i].rule); /* the others point into it */
    free(request->suppression);
    json_decref(request->keyed);
    free(request->seeds);
    if (request->has_regex)
        regfree(&request->regex);
    json_decref(request->known);
    *request = (struct tool_check_request){0};
}
