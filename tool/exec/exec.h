/* SPDX-License-Identifier: MIT */
/* The parts of `wavemem exec`: which GPUs, running the program, what its processes left behind. */
#ifndef WAVEMEM_TOOL_EXEC_H
#define WAVEMEM_TOOL_EXEC_H

#include "tool/check/request.h"
#include "tool/tool.h"

#include <limits.h>

/* ---- gpus.c ---- */

enum { EXEC_GPUS = 16 };

struct exec_gpus {
    const struct wm_gpu *gpu[EXEC_GPUS];
    unsigned count;
    char target[EXEC_GPUS][16];
    char names[512], targets[EXEC_GPUS * 16]; /* separated by commas */
};

/* Chooses by `names`, as --gpu has them, or NULL: a product that the program has code for. TOOL_WRONG, after
 * a message: no such product, or the program was built for others. */
int exec_choose_gpus(const char *names, const char *program, struct exec_gpus *gpus);
/* The file that would be executed; the name itself if PATH does not have it. */
const char *exec_find_program(const char *name, char path[PATH_MAX]);

/* ---- run.c ---- */

/* A variable of the program's environment. */
struct exec_setting {
    const char *name, *value; /* NULL: not set */
};

/* The libraries that take the place of the driver's; "": it was not built. */
struct exec_libraries {
    char runtime[PATH_MAX]; /* under HIP */
    char driver[PATH_MAX];  /* under Mesa's drivers for Vulkan and OpenCL */
    char radv[PATH_MAX];    /* in front of RADV, for names, and to hide queues */
};

/* TOOL_WRONG, after a message: there is none. */
int exec_find_libraries(struct exec_libraries *libraries);

/* RADV with ours in front. */
struct exec_driver {
    char manifest[PATH_MAX]; /* the file by which the Vulkan loader finds both; "": it finds RADV alone */
    char radv[PATH_MAX];     /* Mesa's library */
};

/* Looks for RADV where the environment has it, or Debian. TOOL_WRONG, after a message: it is needed and
 * cannot be had, or the manifest cannot be written. */
int exec_find_driver(const struct exec_libraries *libraries, const char *folder, bool needed,
                     struct exec_driver *driver);
/* Runs the program until it ends. *own: its exit code, or 128 + the signal that ended it. */
int exec_run(char **program, const struct exec_libraries *libraries, const struct exec_setting *settings,
             int *own);

/* ---- results.c ---- */

enum { EXEC_KEPT = 64 };

/* What to do with what was observed. */
struct exec_wanted {
    bool profile, fidelity;
    struct tool_check_request *check; /* NULL: nothing is checked */
    const char *trace;                /* where to keep it; or NULL */
    /* Options of the report, as `replay` has them. */
    struct {
        const char *name, *value;
        bool is_file;
    } kept[EXEC_KEPT];
    int kept_count;
    bool hides_text; /* the report is JSON on standard output */
};

/* Makes a temporary folder for results. */
int exec_make_folder(char folder[PATH_MAX]);
void exec_remove_folder(const char *folder);
/* Checks the options of the report before the program runs. */
int exec_check_wanted(const struct exec_wanted *wanted);
/* Reports what the processes observed. Returns the exit code of the whole: what was found, or else the
 * program's own. */
int exec_report(const struct exec_wanted *wanted, const char *folder, int own);

#endif
