/* SPDX-License-Identifier: MIT */
/* wavemem check: executes kernels and finds errors that the hardware lets pass. */
#include "tool/arguments/run.h"
#include "tool/report/document.h"
#include "tool/shard/shard.h"
#include "tool/tool.h"

static const char help[] =
    "usage: wavemem check FILE -k KERNEL -g X[,Y[,Z]] -b X[,Y[,Z]] --arg NAME=VALUE ... [--then ...]\n"
    "\n"
    "Executes kernels as 'wavemem run' does, with the same options, and finds errors that the hardware lets\n"
    "pass. Dispatches go on after a memory violation, as on the hardware.\n"
    "\n"
    "Everything that can be checked; 'uninit:' is a buffer that nobody has written:\n"
    "  wavemem check vecadd.co -g 256 -b 64 --arg a=iota:f32:256 --arg b=iota:f32:256 --arg c=uninit:f32:256 "
    "\\\n"
    "      --arg n=256\n"
    "Only missing waits and hazards; the findings for a script, and for code scanning:\n"
    "  wavemem check vecadd.co -g 256 -b 64 --arg a=iota:f32:256 --arg b=iota:f32:256 --arg c=uninit:f32:256 "
    "\\\n"
    "      --arg n=256 --only wait,hazard --json=check.json --sarif check.sarif\n"
    "Does the result depend on the order of workgroups? In two other orders:\n"
    "  wavemem check vecadd.co -g 256 -b 64 --arg a=iota:f32:256 --arg b=iota:f32:256 --arg c=uninit:f32:256 "
    "\\\n"
    "      --arg n=256 --shuffle 1,2\n"
    "Hide what is known, and report what is new:\n"
    "  wavemem check ... --write-suppressions known.txt\n"
    "  wavemem check ... --suppressions known.txt\n"
    "  wavemem check ... --baseline check.json\n"
    "\n"
    "The same checks: 'wavemem run --check', 'prof --check', and 'exec --check' for a whole HIP program.\n"
    "Exit codes: 0 nothing was found, 1 something was, 2 wrong usage or bad input, 3 a kernel faulted and "
    "no\n"
    "finding tells why, 4 incomplete, or nothing was checked. Notes do not count.\n"
    "\n";

static int cmd_check(int argc, char **argv)
{
    struct tool_job job;
    int code = tool_job_parse(&job, argv[0], argc - 1, argv + 1);
    job.check.given = true;
    if (code == TOOL_CLEAN && !job.help)
        code = tool_refuse_profile(&job);
    if (code == TOOL_CLEAN && job.help) {
        fputs(help, stdout);
        fputs(tool_check_help, stdout);
        putchar('\n');
        fputs(tool_job_help, stdout);
        fputs(tool_compile_help, stdout);
        fputs(tool_job_codes, stdout);
    } else if (code == TOOL_CLEAN && (code = tool_job_check(&job)) == TOOL_CLEAN) {
        json_t *report = tool_report("check");
        code = tool_job_run(&job, NULL, report);
        if (job.shard.head) /* also after a fault: what was found until then */
            code = tool_worse(code, tool_shard_write(&job, NULL, 0));
        if (job.outputs.json && code != TOOL_WRONG)
            code = tool_write_report(report, job.outputs.json_path, code);
        json_decref(report);
    }
    tool_job_free(&job);
    return code;
}

const struct tool_verb tool_verb_check = {
    "check",          "execute a kernel and find errors that the hardware lets pass",
    cmd_check,        help,
    tool_job_options, NULL};
