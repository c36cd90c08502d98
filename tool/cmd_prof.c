/* SPDX-License-Identifier: MIT */
/* wavemem prof: executes kernels and shows what each of their memory instructions costs. */
#include "tool/arguments/run.h"
#include "tool/report/document.h"
#include "tool/report/prof.h"
#include "tool/tool.h"

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
    "The source with what each line costs beside it; other columns, the worst of one first:\n"
    "  wavemem prof ... --source\n"
    "  wavemem prof ... --show lines,tag_lookups,clocks --sort tag_lookups\n"
    "\n"
    "Those rows come first that have most of the work of what binds the kernel; what is not of a row's kind "
    "is\n"
    "a dash. Below the table stands what to do, and how much of the least time it can save at most; what "
    "would\n"
    "save less than 5 % is left out. A wave of 64\n"
    "takes 4 clocks of the address unit when all lanes load or store 4 bytes or less and each four lanes "
    "share\n"
    "an address or an aligned block of four elements, else 16; from gfx10 on 32 lanes take 1 within a line "
    "of\n"
    "128 bytes, else 8.\n"
    "\n"
    "      --gpu NAME       the product whose caches, occupancy and bounds are modelled, of the code "
    "object's\n"
    "                       generation (mi210, rx7900xtx; an unknown name lists all); without it the "
    "default\n"
    "                       of the code object's target\n"
    "      --show COLUMNS   these columns, with commas between them; 'all'. Without it the usual ones, fewer "
    "in\n"
    "                       a narrow terminal\n"
    "      --sort COLUMN    the worst of this column first; also 'offset' and 'source'\n"
    "      --source[=DIR]   the source, or the listing where it cannot be read, with the columns beside it; "
    "DIR is\n"
    "                       one more --source-path\n"
    "      --source-path DIR  where sources are, if not below the current folder: there they are looked for "
    "by\n"
    "                       their name and by its last parts, so code may have been built elsewhere. May be\n"
    "                       repeated. --source, --html and --trace take no files from anywhere else\n"
    "      --csv FILE       a line per instruction with all columns, under the names of --json\n"
    "      --trace FILE     all accesses, for 'wavemem replay': other products and cache sizes. It has\n"
    "                       the code and, where they are found, the sources; a run that is refused leaves "
    "none\n"
    "      --sample 1/N     looks at one in N rounds of workgroups, those that are resident at once, and "
    "says how\n"
    "                       far what instructions ask for may be off, not hits; all are executed\n"
    "      --counters FILE  the same as AMD's hardware counters (SQ_INSTS_*, SQ_LDS_*, TA_*, TD_*, TCP_*),\n"
    "                       as CSV: kernel,name,value, with a total for the kernel '*'\n"
    "      --html FILE      one page that needs nothing else: sortable tables, and of each instruction one\n"
    "                       real wave drawn onto cache lines or LDS banks\n";
/* The columns, from the table that everything else is made from. */
static void print_columns(void)
{
    puts("Columns, with their names in --json where these differ:");
    for (size_t i = 0; i < tool_figure_count; i++) {
        const struct tool_figure *figure = &tool_figures[i];
        printf("  %-17s %s", tool_figure_title(figure), figure->meaning);
        printf(figure->title ? " (%s)\n" : "\n", figure->key);
    }
    puts("  source            file and line, when the code object has them (clang -g)\n"
         "  offset            bytes from the start of the kernel, as 'wavemem dis' prints them\n");
}

static int show(const struct tool_job *job, struct wm_profile *profile, json_t *json, int code)
{
    const char **files = calloc(job->opened_count + 1, sizeof *files);
    for (size_t i = 0; files && i < job->opened_count; i++)
        files[i] = job->opened[i].file;
    code = tool_show_profile(&job->outputs, profile, files, files ? job->opened_count : 0, json, code);
    free(files);
    return code;
}

static int profile_job(struct tool_job *job)
{
    struct wm_profile *profile;
    struct wm_diag diag;
    if (wm_profile_create(&profile, &diag) != WM_OK)
        return tool_fail("%s", diag.message);
    if (job->gpu && wm_profile_set_gpu(profile, job->gpu, &diag) != WM_OK) {
        wm_profile_destroy(profile);
        return tool_fail("--gpu: %s", diag.message);
    }
    if (job->sample && wm_profile_set_sample(profile, job->sample, &diag) != WM_OK) {
        wm_profile_destroy(profile);
        return tool_fail("--sample: %s", diag.message);
    }
    if (job->outputs.trace_path && wm_profile_trace(profile, job->outputs.trace_path, &diag) != WM_OK) {
        wm_profile_destroy(profile);
        return tool_fail("--trace %s", diag.message);
    }
    json_t *report = tool_report("prof");
    int code = tool_job_run(job, profile, report);
    if (code != TOOL_WRONG) /* what was counted before a fault still helps */
        code = show(job, profile, report, code);
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
        fputs(tool_gates_help, stdout);
        putchar('\n');
        print_columns();
        fputs(tool_job_help, stdout);
    } else if (code == TOOL_CLEAN && (code = tool_job_check(&job)) == TOOL_CLEAN) {
        code = profile_job(&job);
    }
    tool_job_free(&job);
    return code;
}
