/* SPDX-License-Identifier: MIT */
/* wavemem run: executes kernels, writes and compares their outputs. */
#include "run.h"
#include "tool.h"

static const char help[] =
    "usage: wavemem run FILE -k KERNEL -g X[,Y[,Z]] -b X[,Y[,Z]] --arg NAME=VALUE ... [--then ...]\n"
    "\n"
    "Executes a kernel of a code object. Its arguments are checked against the metadata first\n"
    "('wavemem info FILE' lists them).\n"
    "\n"
    "Transpose 1024 x 1024 random numbers, keep the result, compare it with NumPy's:\n"
    "  wavemem run transpose.co -k transpose_naive -g 1024,1024 -b 16,16 --arg in=rand:f32:1048576:7 \\\n"
    "      --arg out=zero:f32:1048576 --arg n=1024 --out out=out.npy --expect out=@ref.npy:1e-6\n"
    "Arguments by position, for code objects without names:\n"
    "  wavemem run k.co -g 4096 -b 256 --arg 0=@in.npy --arg 1=zero:f32:4096 --arg 2=4096\n"
    "Two kernels over the same memory, and how fast they ran:\n"
    "  wavemem run scan.co -k scan_blocks -g 4096 -b 256 --arg in=iota:u32:4096 --arg out=zero:u32:4096 \\\n"
    "      --arg sums=zero:u32:16 --then -k add_sums --arg data=same:out --arg sums=same:sums \\\n"
    "      --out data=scan.npy --stats\n"
    "The same kernel again: what is not given stays, and two buffers can change places:\n"
    "  wavemem run sort.co -k step -g 1024 -b 64 --arg in=rand:u32:1024:1 --arg out=zero:u32:1024 --arg k=2 "
    "\\\n"
    "      --then --arg in=same:out --arg out=same:in --arg k=4\n"
    "Many dispatches from a file, one per line:\n"
    "  wavemem run sort.co --job sort.job -j 4\n"
    "\n";

int cmd_run(int argc, char **argv)
{
    struct tool_job job;
    int code = tool_job_parse(&job, argv[0], argc - 1, argv + 1);
    if (code == TOOL_CLEAN && job.help) {
        fputs(help, stdout);
        fputs(tool_job_help, stdout);
    } else if (code == TOOL_CLEAN && (code = tool_job_check(&job)) == TOOL_CLEAN) {
        json_t *report = job.json ? tool_report("run") : NULL;
        code = tool_job_run(&job, NULL, report);
        if (report && code != TOOL_WRONG)
            code = tool_write_report(report, job.json_path, code);
        json_decref(report);
    }
    tool_job_free(&job);
    return code;
}
