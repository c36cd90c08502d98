/* SPDX-License-Identifier: MIT */
/* Runs commands as processes, several at once, and collects what they print. */
#include "tool/batch/batch.h"
#include "tool/interrupt.h"
#include "tool/report/document.h"
#include "tool/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TEXT_MOST = 1 << 16,        /* bytes of text that a result keeps */
    REPORT_MOST = 1 << 26,      /* bytes of a report in JSON; a longer one is text */
    LOOK_NANOSECONDS = 5000000, /* between two looks at the processes */
};

struct process {
    pid_t pid; /* 0: none */
    size_t number;
    double start;
    bool timed_out;
    FILE *output, *errors;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Whether --json of the run's verb must be added for the report. */
static bool takes_json(const struct batch_run *run)
{
    const struct tool_verb *verb = tool_find_verb(tool_verbs, run->words[0]);
    for (size_t i = 1; i < run->count; i++)
        if (!strncmp(run->words[i], "--json", 6) || !strcmp(run->words[i], "--shard"))
            return false;
    for (const struct tool_option *option = verb ? verb->options : NULL; option && option->name; option++)
        if (!strcmp(option->name, "json"))
            return option->takes == TOOL_OPTIONAL_VALUE;
    return false;
}

static _Noreturn void become(const struct batch_run *run, const struct process *process, pid_t batch)
{
    static char name[] = "wavemem", json[] = "--json";
    char **words = calloc(run->count + 3, sizeof *words);
    const int input = open("/dev/null", O_RDONLY);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the batch is killed, so are its runs */
    setpgid(0, 0);
    if (getppid() == batch && words && input >= 0 && dup2(input, STDIN_FILENO) >= 0 &&
        dup2(fileno(process->output), STDOUT_FILENO) >= 0 &&
        dup2(fileno(process->errors), STDERR_FILENO) >= 0) {
        words[0] = name;
        memcpy(words + 1, run->words, run->count * sizeof *words);
        if (takes_json(run))
            words[run->count + 1] = json;
        execv("/proc/self/exe", words);
    }
    _exit(127);
}

static bool start(struct process *process, const struct batch_list *list, size_t number)
{
    *process = (struct process){.number = number, .start = now()};
    process->output = tmpfile();
    process->errors = tmpfile();
    if (process->output && process->errors) {
        fflush(NULL);
        const pid_t batch = getpid();
        process->pid = fork();
        if (!process->pid)
            become(&list->runs[number], process, batch);
    }
    if (process->pid > 0)
        return true;
    tool_fail("batch: run %zu cannot be started: %s", number + 1, strerror(errno));
    if (process->output)
        fclose(process->output);
    if (process->errors)
        fclose(process->errors);
    process->pid = 0;
    return false;
}

/* The beginning of what was printed, as text; null: no memory. */
static json_t *read_text(FILE *file)
{
    char *text = malloc(TEXT_MOST + 1);
    rewind(file);
    if (text)
        text[fread(text, 1, TEXT_MOST, file)] = 0;
    json_t *json = text ? tool_json_text(text) : json_null();
    free(text);
    return json;
}

/* What was printed, if it is a report of at most REPORT_MOST bytes; or NULL. */
static json_t *read_report(FILE *file)
{
    const long end = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
    rewind(file);
    const int first = end > 0 && end <= REPORT_MOST ? ungetc(getc(file), file) : EOF;
    return first == '{' ? json_loadf(file, 0, NULL) : NULL;
}

static json_t *result_of(const struct process *process, const struct batch_run *run, int status)
{
    json_t *words = json_array();
    for (size_t i = 0; i < run->count; i++)
        json_array_append_new(words, tool_json_text(run->words[i]));
    json_t *report = read_report(process->output);
    json_t *result =
        json_pack("{s:I, s:o, s:o, s:o, s:b, s:f}", "number", (json_int_t)process->number + 1, "command",
                  words, "exit", WIFEXITED(status) ? json_integer(WEXITSTATUS(status)) : json_null(),
                  "signal", WIFSIGNALED(status) ? json_integer(WTERMSIG(status)) : json_null(), "timed_out",
                  process->timed_out, "seconds", now() - process->start);
    if (report)
        json_object_set_new(result, "report", report);
    else
        json_object_set_new(result, "stdout", read_text(process->output));
    json_object_set_new(result, "stderr", read_text(process->errors));
    fclose(process->output);
    fclose(process->errors);
    return result;
}

/* Ends the process and all that it started. */
static void stop(struct process *process)
{
    kill(-process->pid, SIGKILL);
    kill(process->pid, SIGKILL); /* it may not have its group yet */
}

static void stop_all(struct process *processes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!processes[i].pid)
            continue;
        stop(&processes[i]);
        waitpid(processes[i].pid, NULL, 0);
        fclose(processes[i].output);
        fclose(processes[i].errors);
        processes[i].pid = 0;
    }
}

/* Looks whether the process is over. False: the caller wants no more. */
static bool look(struct process *process, const struct batch_settings *settings)
{
    int status;
    if (settings->timeout > 0 && !process->timed_out && now() - process->start > settings->timeout) {
        process->timed_out = true;
        stop(process);
    }
    if (waitpid(process->pid, &status, WNOHANG) != process->pid)
        return true;
    json_t *result = result_of(process, &settings->list->runs[process->number], status);
    process->pid = 0;
    return settings->result(settings->user, process->number, result);
}

int batch_execute(const struct batch_settings *settings)
{
    const struct timespec pause = {.tv_nsec = LOOK_NANOSECONDS};
    struct process *processes = calloc(settings->processes, sizeof *processes);
    size_t next = 0, running = 1;
    int code = processes ? TOOL_CLEAN : tool_fail("batch: out of memory");
    signal(SIGCHLD, SIG_DFL); /* a caller's SIG_IGN would hide how runs end */
    tool_watch_interrupts();
    while (code == TOOL_CLEAN && running) {
        running = 0;
        for (size_t i = 0; i < settings->processes && code == TOOL_CLEAN; i++) {
            if (processes[i].pid && !look(&processes[i], settings))
                code = TOOL_STOPPED;
            while (next < settings->list->count && settings->list->runs[next].done)
                next++;
            if (code == TOOL_CLEAN && !processes[i].pid && next < settings->list->count &&
                !start(&processes[i], settings->list, next++))
                code = TOOL_WRONG;
            running += processes[i].pid != 0;
        }
        if (tool_interrupted())
            code = TOOL_STOPPED;
        if (code == TOOL_CLEAN && running)
            nanosleep(&pause, NULL);
    }
    if (processes)
        stop_all(processes, settings->processes);
    free(processes);
    return code;
}
