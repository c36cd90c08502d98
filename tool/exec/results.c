/* SPDX-License-Identifier: MIT */
/* What the processes of a program left behind (shim/hsa/results.c), and its reports. */
#include "tool/check/show.h"
#include "tool/exec/exec.h"
#include "tool/input.h"
#include "tool/output.h"
#include "tool/replay.h"
#include "tool/report/document.h"
#include "tool/report/fidelity.h"
#include "wavemem/wavemem.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the folder ---- */

int exec_make_folder(char folder[PATH_MAX])
{
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, PATH_MAX, "%s/wavemem-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    return mkdtemp(folder) ? TOOL_CLEAN : tool_fail("exec: %s: %s", folder, strerror(errno));
}

void exec_remove_folder(const char *folder)
{
    DIR *directory = opendir(folder);
    for (const struct dirent *entry; directory && (entry = readdir(directory));)
        unlinkat(dirfd(directory), entry->d_name, 0); /* not "." and ".." */
    if (directory)
        closedir(directory);
    rmdir(folder);
}

/* ---- processes ---- */

/* A process, and what was observed on the GPUs of one product. */
struct part {
    const char *folder;
    unsigned process, number; /* from 1 on: of the process; of its product */
    char who[100];            /* "process 2 (pid 4711, app)" */
    char *trace;              /* path; NULL: none */
    bool faulted, wrong;      /* wrong: a command of the debugger */
};

static bool path_of(const struct part *part, const char *kind, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/%u.%s", part->folder, part->process, kind) < PATH_MAX &&
           !access(path, R_OK);
}

/* The whole text of a file; NULL: there is none. */
static char *read_text(const struct part *part, const char *kind)
{
    char path[PATH_MAX];
    uint8_t *bytes;
    size_t size;
    if (!path_of(part, kind, path) || !tool_read_file(path, &bytes, &size, &(struct wm_diag){0}))
        return NULL;
    char *text = realloc(bytes, size + 1);
    if (!text)
        free(bytes);
    else
        text[size] = 0;
    return text;
}

static void name_part(struct part *part)
{
    char *text = read_text(part, "process"), path[PATH_MAX];
    char *name = text ? strchr(text, ' ') : NULL;
    if (name)
        snprintf(part->who, sizeof part->who, "process %u (pid %.*s, %.*s)", part->process,
                 (int)(name - text), text, (int)strcspn(name + 1, "\n"), name + 1);
    else
        snprintf(part->who, sizeof part->who, "process %u", part->process);
    free(text);
    part->faulted = path_of(part, "fault", path);
    part->wrong = path_of(part, "wrong", path);
}

/* ---- reports ---- */

/* "a.json" is "a.2.json" for part 2; 0: there is one part only. */
static char *suffixed(const char *path, unsigned part)
{
    char *text = NULL;
    if (!part)
        return strdup(path);
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (!dot || (slash && dot < slash) || dot == path || dot[-1] == '/')
        dot = path + strlen(path);
    return asprintf(&text, "%.*s.%u%s", (int)(dot - path), path, part, dot) < 0 ? NULL : text;
}

/* Words of `replay`; part: 0 if there is one only. */
static int make_words(const struct exec_wanted *wanted, unsigned part, const char *trace, char **words)
{
    int count = 0;
    words[count++] = strdup("replay");
    for (int i = 0; i < wanted->kept_count && words[count - 1]; i++) {
        const char *value = wanted->kept[i].value;
        char *file = value && wanted->kept[i].is_file ? suffixed(value, part) : NULL;
        if (asprintf(&words[count++], "--%s%s%s", wanted->kept[i].name, value ? "=" : "",
                     file    ? file
                     : value ? value
                             : "") < 0)
            words[count - 1] = NULL;
        free(file);
    }
    if (words[count - 1])
        words[count++] = strdup(trace);
    return count;
}

static void free_words(char **words, int count)
{
    for (int i = 0; i < count; i++)
        free(words[i]);
}

int exec_check_wanted(const struct exec_wanted *wanted)
{
    char *words[EXEC_KEPT + 2];
    const int count = make_words(wanted, 0, "trace" /* not read */, words);
    int code = words[count - 1] ? tool_check_replay(count, words) : tool_fail("exec: out of memory");
    if (code == TOOL_CLEAN && wanted->trace)
        code = tool_check_file("--trace", wanted->trace);
    free_words(words, count);
    return code;
}

static int keep_trace(const struct exec_wanted *wanted, const char *trace, unsigned part)
{
    struct wm_diag diag;
    struct tool_file file;
    uint8_t *bytes = NULL;
    size_t size = 0;
    int code = TOOL_WRONG;
    char *path = suffixed(wanted->trace, part);
    if (!path)
        tool_fail("exec: out of memory");
    else if (!tool_read_file(trace, &bytes, &size, &diag))
        tool_fail("%s", diag.message);
    else if (tool_begin_file(&file, "--trace", path)) {
        fwrite(bytes, 1, size, file.whole.stream);
        code = tool_end_file(&file);
    }
    free(bytes);
    free(path);
    return code;
}

/* Reads what write_fidelity() of the shim wrote. Names and remarks point into `text`, which is changed. */
static struct wm_fidelity_row *read_fidelity(char *text, size_t *count)
{
    struct wm_fidelity_row *rows = NULL;
    char *state = NULL;
    *count = 0;
    for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
        struct wm_fidelity_row *more = realloc(rows, (*count + 1) * sizeof *rows);
        if (!more)
            break;
        rows = more;
        char *at;
        const unsigned long grade = strtoul(line, &at, 10);
        const uint64_t executions = strtoull(at, &at, 10);
        char *name = at + (*at == '\t'), *remark = strchr(name, '\t');
        if (!remark || grade > WM_GRADE_UNVERIFIED)
            continue;
        *remark++ = 0;
        rows[(*count)++] = (struct wm_fidelity_row){name, (enum wm_grade)grade, remark, executions};
    }
    return rows;
}

static int show_part(const struct exec_wanted *wanted, const struct part *part, unsigned suffix)
{
    char *words[EXEC_KEPT + 2], *losses = read_text(part, "incomplete"), path[PATH_MAX];
    char *text = wanted->fidelity && part->number == 1 ? read_text(part, "fidelity") : NULL;
    size_t row_count = 0;
    struct wm_fidelity_row *rows = text ? read_fidelity(text, &row_count) : NULL;
    struct tool_replay_more more = {
        .code = part->faulted ? TOOL_FAULT : TOOL_CLEAN, .who = part->who, .losses = losses};
    int code = more.code;
    if (suffix)
        printf("%s%s\n", suffix > 1 ? "\n" : "", part->who);
    if (!path_of(part, "end", path))
        more.killed = "it ended before what was observed had been written";
    if (text)
        more.fidelity = tool_json_fidelity_rows(rows, row_count);
    if (part->trace) {
        const int count = make_words(wanted, suffix, part->trace, words);
        code = words[count - 1] ? tool_replay(count, words, &more) : tool_fail("exec: out of memory");
        if (wanted->trace)
            code = tool_worse(code, keep_trace(wanted, part->trace, suffix));
        free_words(words, count);
    } else {
        code = tool_worse(code, tool_tell_more(NULL, &more));
    }
    if (text && !wanted->hides_text)
        tool_print_fidelity_rows(stdout, rows, row_count);
    json_decref(more.fidelity);
    free(rows);
    free(text);
    free(losses);
    return code;
}

static int by_number(const struct dirent **one, const struct dirent **other)
{
    return atol((*one)->d_name) < atol((*other)->d_name) ? -1 : 1;
}

static int is_process(const struct dirent *entry)
{
    const char *end = strchr(entry->d_name, '.');
    return end && !strcmp(end, ".process");
}

/* One for each product of each process that profiled kernels, and one for a process that did not. */
static struct part *find_parts(const char *folder, size_t *count)
{
    struct dirent **names = NULL;
    const int processes = scandir(folder, &names, is_process, by_number);
    struct part *parts = calloc((processes > 0 ? (size_t)processes : 0) * EXEC_GPUS + 1, sizeof *parts);
    *count = 0;
    for (int i = 0; i < processes; i++) {
        for (unsigned number = 1; parts && number <= EXEC_GPUS; number++) {
            char kind[24] = "trace", path[PATH_MAX];
            struct part *part = &parts[*count];
            *part = (struct part){
                .folder = folder, .process = (unsigned)atol(names[i]->d_name), .number = number};
            if (number > 1)
                snprintf(kind, sizeof kind, "%u.trace", number);
            if (path_of(part, kind, path))
                part->trace = strdup(path);
            if (number > 1 && !part->trace)
                break;
            name_part(part);
            ++*count;
        }
        free(names[i]);
    }
    free(names);
    return parts;
}

/* The runtime's own kernels are checked, because they write memory, but are not the program's. */
static bool is_own(const json_t *object)
{
    static const char runtime[] = "__amd_rocclr_";
    const char *kernel = tool_text_of(object, "kernel");
    return kernel && !strncmp(kernel, runtime, sizeof runtime - 1);
}

static bool has_kernel(const json_t *row)
{
    return tool_text_of(row, "kernel");
}

/* False: some are not what the runtime writes. */
static bool add_objects(json_t *list, const json_t *more, bool (*is_whole)(const json_t *one))
{
    bool whole = json_is_array(more);
    size_t i;
    json_t *one;
    json_array_foreach(more, i, one)
    {
        whole &= is_whole(one);
        if (is_whole(one) && !is_own(one))
            json_array_append(list, one);
    }
    return whole;
}

/* What the checks of all processes found, as one report. own: the program's exit code. */
static int show_check(const struct exec_wanted *wanted, const struct part *parts, size_t count, int own)
{
    json_t *findings = json_array(), *coverage = json_array(), *report = tool_report("check");
    for (size_t i = 0; i < count; i++) {
        char path[PATH_MAX], *losses = parts[i].number == 1 ? read_text(&parts[i], "incomplete") : NULL;
        char *state = NULL;
        if (parts[i].number > 1)
            continue;
        for (char *line = losses ? strtok_r(losses, "\n", &state) : NULL; line;
             line = strtok_r(NULL, "\n", &state))
            tool_incomplete(report, parts[i].who, line);
        free(losses);
        if (!path_of(&parts[i], "end", path))
            tool_incomplete(report, parts[i].who, "it ended before what was found had been written");
        json_t *found = path_of(&parts[i], "check", path) ? json_load_file(path, 0, NULL) : NULL;
        bool whole = add_objects(findings, json_object_get(found, "findings"), tool_is_finding);
        whole &= add_objects(coverage, json_object_get(found, "coverage"), has_kernel);
        if (found && !whole)
            tool_incomplete(report, parts[i].who, "what it found is damaged");
        json_decref(found);
    }
    json_object_set_new(report, "program_exit_code", json_integer(own));
    struct tool_check_request *request = wanted->check;
    int code = TOOL_CLEAN;
    if (json_array_size(coverage) || !own) /* else the program says why nothing ran */
        code = tool_check_show(request, findings, coverage, NULL, report,
                               request->json && !request->json_path ? NULL : stdout, TOOL_CLEAN);
    if (request->json)
        code = tool_write_report(report, request->json_path, code);
    json_decref(findings);
    json_decref(coverage);
    json_decref(report);
    return code;
}

int exec_report(const struct exec_wanted *wanted, const char *folder, int own)
{
    size_t count;
    struct part *parts = find_parts(folder, &count);
    int code = parts ? TOOL_CLEAN : tool_fail("exec: out of memory");
    size_t traces = 0;
    for (size_t i = 0; i < count; i++)
        traces += parts[i].trace != NULL;
    fflush(stdout);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* standard output is the program's */
    setvbuf(stdout, NULL, _IOLBF, 0);   /* keeps the order of messages and reports */
    unsigned shown = 0;
    for (size_t i = 0; i < count; i++) {
        const bool observes = wanted->profile || wanted->fidelity;
        if (parts[i].faulted)
            code = tool_worse(code, TOOL_FAULT);
        if (parts[i].wrong)
            code = tool_worse(code, TOOL_WRONG);
        if (observes)
            code = tool_worse(code, show_part(wanted, &parts[i], traces > 1 && parts[i].trace ? ++shown : 0));
        free(parts[i].trace);
    }
    if (wanted->check)
        code = tool_worse(code, show_check(wanted, parts, count, own));
    free(parts);
    fflush(stdout);
    if (wanted->profile && !traces && code == TOOL_CLEAN && !own)
        code = tool_fail("exec: no kernel was profiled");
    if (own == TOOL_STOPPED)
        return TOOL_STOPPED;
    if (code == TOOL_CLEAN && own >= TOOL_FINDINGS && own <= TOOL_INCOMPLETE)
        tool_fail("exec: the program itself exited with %d", own);
    return code != TOOL_CLEAN ? code : own;
}
