/* SPDX-License-Identifier: MIT */
/* How far a dispatch is, on a terminal. */
#include "tool/progress.h"

#include "base/escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The line on the terminal; changed under the lock of stderr. */
static struct {
    bool shown;
    double last; /* when it was written */
} line;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

struct tool_progress tool_progress_begin(const char *kernel)
{
    const char *delay = getenv("WAVEMEM_PROGRESS");
    const double time = now();
    return (struct tool_progress){.kernel = kernel,
                                  .from = time + (delay && *delay ? strtod(delay, NULL) : 1),
                                  .begin = time,
                                  .on_terminal = isatty(STDERR_FILENO)};
}

static void write_line(const struct tool_progress *progress, uint64_t done, uint64_t workgroups,
                       double seconds)
{
    char name[61];
    wmi_escape(name, sizeof name, progress->kernel, strlen(progress->kernel), "");
    fprintf(stderr, "\r%s: %" PRIu64 " of %" PRIu64 " workgroups, %.0f%%, %.0f s", name, done, workgroups,
            workgroups ? 100.0 * (double)done / (double)workgroups : 0, seconds);
    if (done && seconds > 0)
        fprintf(stderr, ", %.3g workgroups/s", (double)done / seconds);
    if (done && done < workgroups)
        fprintf(stderr, ", about %.0f s left", seconds * (double)(workgroups - done) / (double)done);
    fputs("\x1b[K", stderr);
    fflush(stderr);
}

void tool_progress_show(const struct tool_progress *progress, uint64_t done, uint64_t workgroups)
{
    enum { PER_SECOND = 5 };
    if (!progress->on_terminal)
        return;
    const double time = now();
    if (time < progress->from)
        return;
    flockfile(stderr);
    if (!line.last || time - line.last >= 1.0 / PER_SECOND) {
        line.last = time;
        line.shown = true;
        write_line(progress, done, workgroups, time - progress->begin);
    }
    funlockfile(stderr);
}

void tool_progress_clear(void)
{
    flockfile(stderr);
    if (line.shown)
        fputs("\r\x1b[K", stderr);
    line.shown = false;
    funlockfile(stderr);
}
