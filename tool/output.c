/* SPDX-License-Identifier: MIT */
/* Files that the command writes: they are whole, or there are none. */
#include "output.h"

#include "tool.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *tool_begin_file(const char *option, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        tool_fail("%s %s: cannot be written: %s", option, path, strerror(errno));
    return file;
}

int tool_end_file(const char *option, const char *path, FILE *file)
{
    struct stat status;
    const bool plain = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
    const bool good = fflush(file) == 0 && !ferror(file);
    if (fclose(file) == 0 && good)
        return TOOL_CLEAN;
    const int error = errno;
    if (plain)
        unlink(path);
    return tool_fail("%s %s: could not be written: %s", option, path, strerror(error));
}
