/* SPDX-License-Identifier: MIT */
/* wavemem prof: executes kernels and shows what each of their memory instructions costs. */
#include "counters.h"
#include "html.h"
#include "report.h"
#include "run.h"
#include "tool.h"

#include <stdlib.h>

static const char help[] =
    "usage: wavemem prof FILE -k KERNEL -g X[,Y[,Z]] -b X[,Y[,Z]] --arg NAME=VALUE ... [--then ...]\n"
    "\n"
    "Executes kernels as 'wavemem run' does, with the same options, and prints a row per memory "
    "instruction.\n"
    "\n"
    "Which access makes the transpose slow:\n"
    "  wavemem prof transpose.co -k transpose_naive -g 1024,1024 -b 16,16 --arg in=rand:f32:1048576:7 \\\n"
    "      --arg out=zero:f32:1048576 --arg n=1024\n"
    "A page with a drawing of each access, and the same figures for a script:\n"
    "  wavemem prof ... --html report.html\n"
    "  wavemem prof ... --json | jq '.rows[] | select(.efficiency < 0.5) | .text'\n"
    "A test that fails when an access becomes bad, and what changed between two builds:\n"
    "  wavemem prof ... --fail-if 'efficiency<0.5' --fail-if 'conflicts>0' --json=new.json\n"
    "  wavemem diff old.json new.json\n"
    "\n"
    "Columns:\n"
    "  efficiency  ideal / lines\n"
    "  runs        executions by waves\n"
    "  lanes       active lanes of a run, on average\n"
    "  bytes       that one lane asks for\n"
    "  lines       distinct 64-byte lines that a run touches, summed over the runs\n"
    "  ideal       lines that the distinct bytes of a run would fill, at least 1, summed\n"
    "  source      file and line, when the code object has them (clang -g)\n"
    "  offset      bytes from the start of the kernel, as 'wavemem dis' prints them\n"
    "  clocks      of the address unit for a run, or of LDS, on average. A wave of 64 takes 4 when all "
    "lanes\n"
    "              load or store 4 bytes or less and each four lanes share an address or an aligned block "
    "of\n"
    "              four elements, else 16; from gfx10 on 32 lanes take 1 within a line of 128 bytes, else 8\n"
    "  conflicts   of these, clocks that LDS lost because lanes wanted different dwords of one bank\n"
    "Rows that waste most lines come first. LDS has no lines, and what is not of its kind is a dash.\n"
    "Below the table: the lanes that meet in the worst bank conflict of a row.\n"
    "--json has more: tag lookups, requests to L2, stores that collapse, the worst bank conflict.\n"
    "\n"
    "      --counters FILE  the same as AMD's hardware counters (SQ_INSTS_*, SQ_LDS_*, TA_*, TD_*, TCP_*),\n"
    "                       as CSV: kernel,name,value, with a total for the kernel '*'. TCP_TCC_READ_REQ is\n"
    "                       what an empty vector cache would ask for: hardware asks for less where it hits\n"
    "      --html FILE      one page that needs nothing else: sortable tables, and of each instruction one\n"
    "                       real wave drawn onto cache lines or LDS banks\n"
    "      --fail-if FIGURE<NUMBER  exit code 1 when an instruction's figure is so; also <=, >, >=. Figures "
    "are\n"
    "                       the keys of a row of --json; 'total.' before one: the sum over all instructions\n"
    "\n";

static int report_profile(const struct tool_job *job, struct wm_profile *profile, json_t *report, int code)
{
    size_t count;
    const struct wm_profile_row *rows = wm_profile_rows(profile, &count);
    const struct wm_profile_row **sorted = malloc((count + 1) * sizeof(const struct wm_profile_row *));
    if (!sorted)
        return tool_fail("out of memory");
    for (size_t i = 0; i < count; i++)
        sorted[i] = &rows[i];
    qsort(sorted, count, sizeof(const struct wm_profile_row *), tool_worst_first);
    tool_report_json(report, sorted, count);
    if (!job->json || job->json_path)
        tool_report_text(sorted, count);
    json_t *failed =
        tool_gates_failed(&job->gates, json_object_get(report, "rows"), json_object_get(report, "totals"));
    code = tool_gates_report(failed, code);
    json_object_set_new(report, "failed", failed);
    if (job->counters_path && tool_write_counters(sorted, count, job->counters_path) != TOOL_CLEAN)
        code = TOOL_WRONG;
    if (job->html_path && tool_write_html(sorted, count, report, job->html_path) != TOOL_CLEAN)
        code = TOOL_WRONG;
    free(sorted);
    return job->json ? tool_write_report(report, job->json_path, code) : code;
}

static int profile_job(struct tool_job *job)
{
    struct wm_profile *profile;
    struct wm_diag diag;
    if (wm_profile_create(&profile, &diag) != WM_OK)
        return tool_fail("%s", diag.message);
    json_t *report = tool_report("prof");
    int code = tool_job_run(job, profile, report);
    if (code != TOOL_WRONG) /* what was counted before a fault still helps */
        code = report_profile(job, profile, report, code);
    json_decref(report);
    wm_profile_destroy(profile);
    return code;
}

int cmd_prof(int argc, char **argv)
{
    struct tool_job job;
    int code = tool_job_parse(&job, argv[0], argc - 1, argv + 1);
    if (code == TOOL_CLEAN && job.help) {
        fputs(help, stdout);
        fputs(tool_job_help, stdout);
    } else if (code == TOOL_CLEAN && (code = tool_job_check(&job)) == TOOL_CLEAN) {
        code = profile_job(&job);
    }
    tool_job_free(&job);
    return code;
}
