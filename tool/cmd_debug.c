/* SPDX-License-Identifier: MIT */
/* wavemem debug: stops kernels, looks at them, and goes back. */
#include "tool/arguments/run.h"
#include "tool/debug/remote.h"
#include "tool/interrupt.h"
#include "tool/tool.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: wavemem debug FILE -k KERNEL -g X[,Y[,Z]] -b X[,Y[,Z]] --arg NAME=VALUE ... [-x FILE] [--batch]\n"
    "\n"
    "Runs kernels under a debugger with gdb's commands, which also goes backwards: stops anywhere, steps in\n"
    "both directions, and says who wrote a byte. Takes the same options as 'wavemem run'.\n"
    "\n"
    "A prompt; `help' there lists the commands:\n"
    "  wavemem debug reduction.co -g 1024 -b 256 --arg in=iota:f32:1024 --arg sums=zero:f32:4 --arg n=1024\n"
    "      (wavemem) break reduction.cl:24 if $workgroup_x == 2\n"
    "      (wavemem) run\n"
    "      (wavemem) print partial[0]\n"
    "      (wavemem) who partial[0]\n"
    "      (wavemem) goto\n"
    "Commands of a file (this one is empty), without a prompt:\n"
    "  wavemem debug reduction.co --guess --batch -x /dev/null\n"
    "Commands on the command line:\n"
    "  wavemem debug saxpy.co --guess --batch --eval-command run --eval-command 'who y[3]'\n"
    "A source that is compiled without optimisation, to see all variables:\n"
    "  wavemem debug -m gfx1100 -O0 reduction.cl --guess\n"
    "\n"
    "Options of the debugger:\n"
    "  -x, --command FILE   carry out the commands of FILE first; a mistake ends them\n"
    "      --eval-command COMMAND  carry out this command; in the order of the command line with -x\n"
    "      --batch          end behind them, without a prompt; exit code 2 if a command was wrong\n"
    "      --gdb PORT       serve GDB's remote protocol on this port of 127.0.0.1 instead of a prompt, or "
    "on\n"
    "                       standard input and output ('-'): lldb's `gdb-remote PORT'\n"
    "\n"
    "Breakpoints and steps belong to waves; expressions to one lane of a wave. Waves run one at a time, and "
    "in\n"
    "the same order every time. docs/debugging.md explains it with four examples.\n"
    "\n";

static int refuse(const struct tool_job *job)
{
    const char *profile = tool_profile_option(job);
    const char *option = profile                                  ? profile
                         : job->outputs.json                      ? "--json"
                         : job->outputs.show.all                  ? "--all"
                         : job->shard.text                        ? "--shard"
                         : job->shard.part                        ? "--part"
                         : job->check.given || job->check.classes ? "--check"
                         : job->fidelity                          ? "--fidelity"
                         : job->exports                           ? "--exports"
                         : job->stats                             ? "--stats"
                         : job->timeout > 0                       ? "--timeout"
                                                                  : NULL;
    for (size_t i = 0; i < job->count && !option; i++)
        option = job->dispatches[i].final.path ? "--registers" : NULL;
    return option ? tool_fail("%s: 'wavemem debug' does not have it", option) : TOOL_CLEAN;
}

/* A file of commands that cannot be read is a mistake of the command line. */
static int check_files(const struct tool_job *job)
{
    const struct tool_kept_list *commands = &job->debug.commands;
    for (size_t i = 0; i < commands->count; i++)
        if (commands->kept[i].letter == 'x' && access(commands->kept[i].value, R_OK))
            return tool_fail("-x %s: %s", commands->kept[i].value, strerror(errno));
    return TOOL_CLEAN;
}

/* False: a command was wrong. */
static bool run_commands(struct debug_session *s)
{
    const struct tool_kept_list *commands = &s->job->debug.commands;
    for (size_t i = 0; i < commands->count && !s->quits; i++) {
        const struct tool_kept *one = &commands->kept[i];
        struct wm_diag diag;
        const bool good = one->letter == 'x' ? debug_execute_file(s, one->value, &diag)
                                             : debug_execute(s, one->value, &diag);
        if (!good) {
            fflush(stdout);
            tool_fail("%s", diag.message);
            return false;
        }
    }
    return true;
}

static int debug_job(struct tool_job *job)
{
    struct debug_session s;
    struct wm_diag diag;
    int code = TOOL_CLEAN;
    if (!debug_job_begin(&s, job, &diag)) {
        debug_close(&s);
        return tool_fail("%s", diag.message);
    }
    tool_catch_interrupts();
    s.interrupts = tool_take_interrupt;
    const bool good = run_commands(&s);
    if (!good && (job->debug.batch || job->debug.gdb))
        code = TOOL_WRONG;
    else if (job->debug.gdb)
        code = debug_serve(&s, job->debug.gdb);
    else if (!job->debug.batch && !s.quits)
        debug_prompt(&s, isatty(STDIN_FILENO));
    code = tool_worse(code, s.code);
    debug_close(&s);
    return code;
}

static int cmd_debug(int argc, char **argv)
{
    struct tool_job job;
    int code = tool_job_parse(&job, argv[0], argc - 1, argv + 1);
    if (code == TOOL_CLEAN && job.help) {
        fputs(help, stdout);
        fputs(tool_job_help, stdout);
        fputs(tool_compile_help, stdout);
        fputs(tool_job_codes, stdout);
    } else if (code == TOOL_CLEAN && (code = refuse(&job)) == TOOL_CLEAN &&
               (code = check_files(&job)) == TOOL_CLEAN && (code = tool_job_check(&job)) == TOOL_CLEAN) {
        code = debug_job(&job);
    }
    tool_job_free(&job);
    return code;
}

const struct tool_verb tool_verb_debug = {
    "debug", "execute a kernel under a debugger, forwards and backwards", cmd_debug, help, tool_job_options,
    NULL};
