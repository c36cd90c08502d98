/* SPDX-License-Identifier: MIT */
/* wavemem run: executes kernels, writes and compares their outputs. */
#include "tool/arguments/run.h"
#include "tool/report/document.h"
#include "tool/shard/shard.h"
#include "tool/tool.h"

static const char help[] =
    "usage: wavemem run FILE -k KERNEL -g X[,Y[,Z]] -b X[,Y[,Z]] --arg NAME=VALUE ... [--then ...]\n"
    "\n"
    "Executes kernels of a code object. The arguments are checked against the metadata\n"
    "('wavemem info FILE' lists them).\n"
    "\n"
    "Transpose 1024 x 1024 random numbers, write the result, compare it with a reference:\n"
    "  wavemem run transpose.co -k transpose_naive -g 1024,1024 -b 16,16 --arg in=rand:f32:1048576:7 \\\n"
    "      --arg out=zero:f32:1048576 --arg n=1024 --out out=out.npy --expect out=@ref.npy:1e-6\n"
    "The same from a source, which is compiled for gfx1100; sizes that are made up:\n"
    "  wavemem run -m gfx1100 transpose.cl -k transpose_naive --guess --stats\n"
    "Arguments by position, for code objects without argument names:\n"
    "  wavemem run k.co -g 4096 -b 256 --arg 0=@in.npy --arg 1=zero:f32:4096 --arg 2=4096\n"
    "A scan in three dispatches on the same memory; --then keeps options that are not given:\n"
    "  wavemem run scan.co --buffer all=zero:u32:4096 --buffer sums=zero:u32:4 -k scan_blocks -g 1024 \\\n"
    "      --arg in=iota:u32:4096 --arg out=same:all --arg totals=same:sums --arg n=4096 \\\n"
    "      --then -g 256 --arg in=same:sums --arg out=same:sums --arg totals=zero:u32:1 --arg n=4 \\\n"
    "      --then -k scan_add -g 4096 -b 256 --arg out=same:all --arg before=same:sums --arg n=4096 \\\n"
    "      --out all=scan.npy --stats\n"
    "Check for missing waits and hazards; exit code 1 if there are any:\n"
    "  wavemem run vecadd.co -g 256 -b 64 --arg a=iota:f32:256 --arg b=iota:f32:256 --arg c=zero:f32:256 \\\n"
    "      --arg n=256 --check-waits --check-hazards\n"
    "Raw instructions that find a descriptor of 'out' at s[4:5] and the workgroup in s6:\n"
    "  wavemem run fragment.bin -m gfx1030 --wave 64 -g 256 -b 64 --buffer out=zero:u32:256 \\\n"
    "      --buffer 'table=V#(@out)' --sgpr 4=@table,workgroup-id-x --vgpr 0=workitem-id-x --vgpr "
    "1=lane*4+16 \\\n"
    "      --out out=out.npy\n"
    "A variable of a HIP program; a buffer of pointers:\n"
    "  wavemem run chain.co -g 64 -b 64 --symbol scale=f32:1,2,3,4 --arg list=words:@a,@b \\\n"
    "      --buffer a=zeros:256 --buffer b=iota:f32:64 --out symbol:count=count.npy\n"
    "Dispatches from a file, one per line, with the same options:\n"
    "  wavemem run bitonic.co --job sort.job -j 4\n"
    "\n";

static int cmd_run(int argc, char **argv)
{
    struct tool_job job;
    int code = tool_job_parse(&job, argv[0], argc - 1, argv + 1);
    if (code == TOOL_CLEAN && !job.help)
        code = tool_refuse_profile(&job);
    if (code == TOOL_CLEAN && job.help) {
        fputs(help, stdout);
        fputs(tool_job_help, stdout);
        fputs(tool_compile_help, stdout);
        fputs(tool_job_codes, stdout);
    } else if (code == TOOL_CLEAN && (code = tool_job_check(&job)) == TOOL_CLEAN) {
        json_t *report = job.outputs.json || job.check.given || job.shard.text ? tool_report("run") : NULL;
        code = tool_job_run(&job, NULL, report);
        if (code == TOOL_CLEAN && job.shard.text)
            code = tool_shard_write(&job, NULL, 0);
        if (job.outputs.json && code != TOOL_WRONG)
            code = tool_write_report(report, job.outputs.json_path, code);
        json_decref(report);
    }
    tool_job_free(&job);
    return code;
}

const struct tool_verb tool_verb_run = {
    "run", "execute a kernel, write and compare its outputs", cmd_run, help, tool_job_options, NULL};
