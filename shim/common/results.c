/* SPDX-License-Identifier: MIT */
/* What `wavemem exec` learns of a process: files in a folder that it names. Processes are numbered in the
 * order in which they call hsa_init(): N.process says who it is, N.trace and N.fidelity are what was
 * observed, N.fault and N.incomplete say what went wrong, a line each, and N.end that nothing more will come.
 */
#include "shim/common/common.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 100000 }; /* maximum processes */

static const char *folder; /* NULL: no results are requested */
static unsigned number;
static pid_t owner; /* a forked child has no part in the results of its parent */

static bool is_owner(void)
{
    return folder && getpid() == owner;
}

bool shim_result_path(const char *kind, char path[SHIM_PATH])
{
    return is_owner() && snprintf(path, SHIM_PATH, "%s/%u.%s", folder, number, kind) < SHIM_PATH;
}

void shim_results_begin(void)
{
    const char *where = getenv("WAVEMEM_RESULTS");
    char path[SHIM_PATH];
    int file = -1;
    if (!where || !*where)
        return;
    for (number = 1; number < MOST && file < 0; number++) {
        snprintf(path, sizeof path, "%s/%u.process", where, number);
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0 && errno != EEXIST)
            break;
    }
    if (file < 0) {
        shim_complain("WAVEMEM_RESULTS: '%s': %s", where, strerror(errno));
        return;
    }
    number--; /* number of the file that was created */
    folder = where;
    owner = getpid();
    dprintf(file, "%ld %s\n", (long)owner, program_invocation_short_name);
    close(file);
}

void shim_result(const char *kind, const char *text)
{
    char path[SHIM_PATH];
    if (!shim_result_path(kind, path))
        return;
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0 || dprintf(file, "%s\n", text) < 0)
        shim_complain("%s: %s", path, strerror(errno));
    if (file >= 0)
        close(file);
}
