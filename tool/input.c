/* SPDX-License-Identifier: MIT */
/* Reads files, pipes and standard input. */
#include "tool/input.h"

#include "tool/arguments/value.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads the descriptor to its end and closes it. */
static bool read_all(int file, const char *name, uint8_t **bytes, size_t *size, struct wm_diag *diag)
{
    struct stat status;
    size_t used = 0, room = 65536;
    ssize_t got = 1;
    const bool known = fstat(file, &status) == 0;
    if (known && S_ISDIR(status.st_mode)) {
        close(file);
        return tool_because(diag, "%s: a folder; expected a file", name);
    }
    if (known && S_ISREG(status.st_mode)) /* one extra byte, to detect the end */
        room = (size_t)status.st_size + 1;
    uint8_t *all = malloc(room);
    while (all && got) {
        if (used == room) {
            uint8_t *larger = realloc(all, room *= 2);
            if (!larger)
                free(all);
            all = larger;
            continue;
        }
        got = read(file, all + used, room - used);
        if (got < 0 && errno != EINTR)
            break;
        used += got > 0 ? (size_t)got : 0;
    }
    const int error = errno;
    close(file);
    if (!all)
        return tool_because(diag, "%s: too large for this host's memory", name);
    if (got < 0) {
        free(all);
        return tool_because(diag, "%s: cannot be read: %s", name, strerror(error));
    }
    *bytes = all;
    *size = used;
    return true;
}

bool tool_read_file(const char *path, uint8_t **bytes, size_t *size, struct wm_diag *diag)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return tool_because(diag, "%s: cannot be read: %s", path, strerror(errno));
    return read_all(file, path, bytes, size, diag);
}

bool tool_read_stdin(uint8_t **bytes, size_t *size, struct wm_diag *diag)
{
    const int file = dup(STDIN_FILENO);
    if (file < 0)
        return tool_because(diag, "standard input: cannot be read: %s", strerror(errno));
    return read_all(file, "standard input", bytes, size, diag);
}
