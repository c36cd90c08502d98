/* SPDX-License-Identifier: MIT */
/* wavemem prof: executes kernels and shows the cost of each memory instruction. */
#include "tool/arguments/run.h"
#include "tool/input.h"
#include "tool/report/document.h"
#include "tool/report/prof.h"
#include "tool/shard/shard.h"
#include "tool/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: wavemem prof FILE -k KERNEL -g X[,Y[,Z]] -b X[,Y[,Z]] --arg NAME=VALUE ... [--then ...]\n"
    "\n"
    "Executes kernels as 'wavemem run' does, with the same options, and prints for each kernel what bounds "
    "it,\n"
    "the best fix, the bound now and after it, and a row for each source line and kind of access.\n"
    "\n"
    "Which access makes the transpose slow:\n"
    "  wavemem prof transpose.co -k transpose_naive -g 1024,1024 -b 16,16 --arg in=rand:f32:1048576:7 \\\n"
    "      --arg out=zero:f32:1048576 --arg n=1024\n"
    "An HTML page with charts and a drawing of each access; the same figures for a script:\n"
    "  wavemem prof ... --html report.html\n"
    "  wavemem prof ... --json | jq '.rows[] | select(.efficiency < 0.5) | .text'\n"
    "A test that fails if an access becomes inefficient; the changes between two builds:\n"
    "  wavemem prof ... --fail-if 'efficiency<0.5' --fail-if 'conflicts>0' --json=new.json\n"
    "  wavemem diff old.json new.json\n"
    "The predicted time on several products, compared; the kernel runs once:\n"
    "  wavemem prof ... --gpu mi100,mi210,vega64\n"
    "  wavemem prof ... --gpu mi100,mi210 --json | jq '.products[] | [.gpu, "
    ".kernels[].predicted.seconds]'\n"
    "The source annotated with the figures of each line; other columns, sorted by one:\n"
    "  wavemem prof ... --source\n"
    "  wavemem prof ... --show lines,tag_lookups,clocks --sort tag_lookups\n"
    "\n"
    "The kernel with the longest bound comes first, of its rows those with the largest share of the work of\n"
    "the part that bounds it. Source lines need a line table (clang -g). A request is a memory instruction\n"
    "executed by one wave; columns with /req are averages per request, the others totals. A dash means that\n"
    "a column does not apply. Findings follow the table, with the bound now and after the change; gains\n"
    "below 5 % are omitted. Ctrl-C ends the run with a partial report. The address unit takes 4 clocks for "
    "a\n"
    "wave of 64 lanes if all lanes access at most 4 bytes and each four lanes share an address or an "
    "aligned\n"
    "block of four elements, else 16; from gfx10 on, 32 lanes take 1 clock within a line of 128 bytes, else "
    "8.\n"
    "\n"
    "      --gpu NAME[,NAME...]  the product to model (caches, occupancy, bounds), of the code object's\n"
    "                       generation (mi210, 'RX 7900 XTX', gfx1100; list: prints all); default:\n"
    "                       that of the code object's target. Of several, the report, its files and\n"
    "                       --fail-if are of the first, and a table compares all of them ('products'\n"
    "                       in JSON). Tiled images keep the layout of the first\n"
    "      --all            print all kernels, rows and findings; else two kernels, of instances of a\n"
    "                       template one, at most 20 rows, and 5 findings per kernel\n"
    "      --instructions   a row for each memory instruction\n"
    "      --show COLUMNS   these columns, separated by commas, or 'all'; default: the usual ones, fewer in\n"
    "                       a narrow terminal\n"
    "      --sort COLUMN    sort by this column, worst first; also 'offset' and 'source'\n"
    "      --source[=DIR]   annotate the source, or the listing if the source cannot be read; DIR is one "
    "more\n"
    "                       --source-path\n"
    "      --source-path DIR  search sources in DIR too, by their path and its last parts (the code may have "
    "been\n"
    "                       built elsewhere); repeatable. --source, --html and --trace read only files "
    "below\n"
    "                       the current folder or a DIR\n"
    "      --csv FILE       write all columns, one line per instruction, under the names of --json\n"
    "      --trace FILE     record all accesses, for 'wavemem replay' with other products and cache sizes.\n"
    "                       Includes the code and the sources that are found; a failed run leaves no file\n"
    "      --timeline FILE  write the predicted timeline of waves on the first compute units, for Perfetto\n"
    "                       (ui.perfetto.dev) or chrome://tracing\n"
    "      --viewer FOLDER  write it as the folder that AMD's ROCprof Compute Viewer opens. No time of a\n"
    "                       timeline is measured\n"
    "      --sample 1/N     observe one in N rounds of workgroups (a round: those resident at once) and "
    "estimate\n"
    "                       the error of the requests, not of the hits; all workgroups are executed\n"
    "      --keep-l2        L2 keeps its contents from one dispatch to the next; else it is written back "
    "and\n"
    "                       empty after each\n"
    "      --counters FILE  write the figures as AMD's hardware counters (SQ_INSTS_*, SQ_LDS_*, TA_*, TD_*, "
    "TCP_*),\n"
    "                       as CSV: kernel,name,value; the kernel '*' is the total\n"
    "      --html FILE      write a self-contained page: verdict, memory chart, roofline, source and "
    "listing,\n"
    "                       sortable tables, and for each instruction one real wave drawn on cache lines or\n"
    "                       LDS banks\n";
/* Prints the columns, from the table of figures. */
static void print_columns(void)
{
    puts("Columns, with their names in --json if different:");
    for (size_t i = 0; i < tool_figure_count; i++) {
        const struct tool_figure *figure = &tool_figures[i];
        printf("  %-17s %s", tool_figure_title(figure), figure->meaning);
        printf(figure->title ? " (%s)\n" : "\n", figure->key);
    }
    puts("  source            file and line, if the code object has a line table (clang -g)\n"
         "  access            kind of access: global load, LDS store, ...\n"
         "  offset            bytes from the start of the kernel, as 'wavemem dis' prints them\n");
}

/* Puts the trace of the shard into its part. */
static int write_part(struct tool_job *job, struct wm_profile *profile, const char *const *files)
{
    struct wm_diag diag;
    uint8_t *trace;
    size_t size;
    int code = tool_end_trace(&job->outputs, profile, files, job->opened_count);
    if (code == TOOL_CLEAN && !tool_read_file(job->outputs.trace_path, &trace, &size, &diag))
        code = tool_fail("%s", diag.message);
    else if (code == TOOL_CLEAN) {
        code = tool_shard_write(job, trace, size);
        free(trace);
    }
    unlink(job->outputs.trace_path);
    return code;
}

static int show(struct tool_job *job, struct wm_profile *profile, json_t *json, int code)
{
    const char **files = calloc(job->opened_count + 1, sizeof *files);
    for (size_t i = 0; files && i < job->opened_count; i++)
        files[i] = job->opened[i].file;
    if (!job->shard.text)
        code = tool_show_profile(&job->outputs, profile, files, files ? job->opened_count : 0, json, code);
    else if (code == TOOL_CLEAN)
        code = files ? write_part(job, profile, files) : tool_fail("out of memory");
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
    if (job->keeps_l2)
        wm_profile_keep_l2(profile, &diag);
    if ((job->outputs.timeline_path || job->outputs.viewer_path) &&
        wm_profile_set_timeline(profile, &diag) != WM_OK) {
        wm_profile_destroy(profile);
        return tool_fail("%s", diag.message);
    }
    if (job->outputs.trace_path && wm_profile_trace(profile, job->outputs.trace_path, &diag) != WM_OK) {
        wm_profile_destroy(profile);
        return tool_fail("--trace %s", diag.message);
    }
    json_t *report = tool_report("prof");
    int code = tool_job_run(job, profile, report);
    if (code != TOOL_WRONG) /* figures up to a fault are still useful */
        code = show(job, profile, report, code);
    json_decref(report);
    wm_profile_destroy(profile);
    return code;
}

/* A folder for a trace that only the comparison of products reads; NULL, after a message: none. */
static char *make_folder(void)
{
    const char *temporary = getenv("TMPDIR");
    char *folder = NULL;
    if (asprintf(&folder, "%s/wavemem-XXXXXX", temporary && *temporary ? temporary : "/tmp") < 0) {
        tool_fail("out of memory");
        return NULL;
    }
    if (mkdtemp(folder))
        return folder;
    tool_fail("%s: %s", folder, strerror(errno));
    free(folder);
    return NULL;
}

/* Executes once, and models the accesses on each product. */
static int profile_products(struct tool_job *job)
{
    char *folder = NULL, *trace = NULL;
    int code = tool_check_products(&job->outputs.products, wm_object_target(job->opened[0].object));
    if (code != TOOL_CLEAN || job->outputs.products.count < 2 || job->outputs.trace_path)
        return code == TOOL_CLEAN ? profile_job(job) : code;
    folder = make_folder();
    if (!folder || asprintf(&trace, "%s/trace", folder) < 0) {
        free(folder);
        return TOOL_WRONG;
    }
    job->outputs.trace_path = trace;
    job->outputs.trace_is_private = true;
    code = profile_job(job);
    unlink(trace);
    rmdir(folder);
    free(trace);
    free(folder);
    return code;
}

static int cmd_prof(int argc, char **argv)
{
    struct tool_job job;
    int code = tool_job_parse(&job, argv[0], argc - 1, argv + 1);
    if (code == TOOL_CLEAN && job.help) {
        fputs(help, stdout);
        fputs(tool_gates_help, stdout);
        putchar('\n');
        print_columns();
        fputs(tool_job_help, stdout);
        fputs(tool_compile_help, stdout);
        fputs(tool_job_codes, stdout);
    } else if (code == TOOL_CLEAN && (code = tool_job_check(&job)) == TOOL_CLEAN) {
        char *trace = NULL; /* of a shard, beside its part */
        if (job.shard.text && asprintf(&trace, "%s.%ld.trace", job.shard.path, (long)getpid()) < 0)
            trace = NULL;
        job.outputs.trace_path = trace ? trace : job.outputs.trace_path;
        job.outputs.command = tool_command_line(argc, argv);
        code = profile_products(&job);
        free(job.outputs.command);
        free(trace);
    }
    tool_job_free(&job);
    return code;
}

const struct tool_verb tool_verb_prof = {
    "prof", "execute a kernel and show what each memory instruction costs", cmd_prof, help, tool_job_options,
    NULL};
