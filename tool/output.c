/* SPDX-License-Identifier: MIT */
/* Files that the command writes: they are whole, or there are none. */
#include "tool/output.h"

#include "tool/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int tool_file_error(const char *path)
{
    struct stat status;
    const bool there = stat(path, &status) == 0;
    if (there && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return access(path, W_OK) == 0 ? 0 : errno; /* to open a pipe would wait for who reads it */
    const int file = open(path, there ? O_WRONLY : O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (file < 0)
        return !there && errno == EEXIST ? 0 : errno; /* a link to nothing: not tried */
    close(file);
    if (!there)
        unlink(path);
    return 0;
}

int tool_check_file(const char *option, const char *path)
{
    const int error = tool_file_error(path);
    return error ? tool_fail("%s %s: cannot be written: %s", option, path, strerror(error)) : TOOL_CLEAN;
}

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
