/* SPDX-License-Identifier: MIT */
/* wavemem check: executes kernels and finds errors that the hardware lets pass. */
#include "tool/arguments/run.h"
#include "tool/report/document.h"
#include "tool/tool.h"

static const char help[] =
    "usage: wavemem check FILE -k KERNEL -g X[,Y[,Z]] -b X[,Y[,Z]] --arg NAME=VALUE ... [--then ...]\n"
    "\n"
    "Executes kernels as 'wavemem run' does, with the same options, and finds errors that the hardware lets\n"
    "pass. Dispatches go on after a memory violation, as on the hardware.\n"
    "\n"
    "Everything that can be checked:\n"
    "  wavemem check vecadd.co -g 256 -b 64 --arg a=iota:f32:256 --arg b=iota:f32:256 --arg c=uninit:f32:256 "
    "\\\n"
    "      --arg n=256\n"
    "Only missing waits and hazards:\n"
    "  wavemem check vecadd.co -g 256 -b 64 --arg a=iota:f32:256 --arg b=iota:f32:256 --arg c=uninit:f32:256 "
    "\\\n"
    "      --arg n=256 --only wait,hazard\n"
    "\n"
    "      --only LIST      only these classes of findings, separated by commas: memory, uninit, race, "
    "sync,\n"
    "                       wait, hazard; default: all that this version has\n"
    "\n";

int cmd_check(int argc, char **argv)
{
    struct tool_job job;
    int code = tool_job_parse(&job, argv[0], argc - 1, argv + 1);
    job.check.given = true;
    tool_check_complete(&job.check);
    job.goes_on = true;
    if (code == TOOL_CLEAN && job.help) {
        fputs(help, stdout);
        fputs(tool_job_help, stdout);
    } else if (code == TOOL_CLEAN && (code = tool_job_check(&job)) == TOOL_CLEAN) {
        json_t *report = job.outputs.json ? tool_report("check") : NULL;
        code = tool_job_run(&job, NULL, report);
        if (report && code != TOOL_WRONG)
            code = tool_write_report(report, job.outputs.json_path, code);
        json_decref(report);
    }
    tool_job_free(&job);
    return code;
}
