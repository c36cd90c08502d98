/* SPDX-License-Identifier: MIT */
/* Output files that are complete or absent. */
#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40, MOST_TRIES = 100 };

static int close_with(struct wmi_whole_file *file, int error)
{
    if (file->temporary && error)
        unlink(file->temporary);
    free(file->path);
    free(file->temporary);
    *file = (struct wmi_whole_file){0};
    return error;
}

/* ---- location ---- */

/* The path with symbolic links in its folder resolved; NULL: see errno. */
static char *in_real_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    char *real = folder ? realpath(folder, NULL) : NULL, *joined = NULL;
    if (real && asprintf(&joined, "%s/%s", real, slash ? slash + 1 : path) < 0)
        joined = NULL;
    free(folder);
    free(real);
    return joined;
}

/* The target of the symbolic link at `path`; NULL: not a link, or out of memory. */
static char *link_target(const char *path)
{
    char target[PATH_MAX], *joined;
    const ssize_t length = readlink(path, target, sizeof target);
    const int folder = (int)(strrchr(path, '/') - path);
    if (length <= 0 || length == (ssize_t)sizeof target)
        return NULL;
    return asprintf(&joined, "%.*s/%.*s", *target == '/' ? 0 : folder, path, (int)length, target) < 0
               ? NULL
               : joined;
}

/* The path of a file that does not exist yet, with symbolic links resolved. NULL: see errno. */
static char *path_of_new(const char *path)
{
    char *at = in_real_folder(path);
    for (unsigned links = 0; at && links < MOST_LINKS; links++) {
        char *target = link_target(at);
        if (!target)
            return at;
        free(at);
        at = in_real_folder(target);
        free(target);
    }
    if (at)
        errno = ELOOP;
    free(at);
    return NULL;
}

/* A mounted file cannot be replaced. */
static bool is_mounted(const char *path)
{
#ifdef STATX_ATTR_MOUNT_ROOT
    struct statx status;
    return statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &status) == 0 &&
           status.stx_attributes & STATX_ATTR_MOUNT_ROOT;
#else
    (void)path;
    return false;
#endif
}

/* The standard stream that is this file, or -1. */
static int stream_of(const struct stat *file)
{
    struct stat stream;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &stream) == 0 && stream.st_dev == file->st_dev && stream.st_ino == file->st_ino)
            return fd;
    return -1;
}

/* ---- begin ---- */

static int open_stream(struct wmi_whole_file *file, int fd)
{
    file->stream = fd < 0 ? NULL : fdopen(fd, "w");
    const int error = errno;
    if (file->stream)
        return 0;
    if (fd >= 0)
        close(fd);
    return close_with(file, error);
}

/* Writes to the file itself. */
static int begin_direct(struct wmi_whole_file *file, const char *path)
{
    return open_stream(file, open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
}

/* Appends to a standard stream. */
static int begin_behind(struct wmi_whole_file *file, int stream)
{
    fflush(stream == STDOUT_FILENO ? stdout : stderr);
    return open_stream(file, fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

/* A new file in the same folder as `path`; -1: see errno. */
static int open_temporary(struct wmi_whole_file *file, const char *path)
{
    const char *slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash - path) + 1 : 0;
    for (unsigned i = 0; i < MOST_TRIES; i++) {
        char number[16] = "";
        if (i)
            snprintf(number, sizeof number, ".%u", i);
        if (asprintf(&file->temporary, "%.*s%.200s.%ld%s.part", folder, path, path + folder, (long)getpid(),
                     number) < 0)
            file->temporary = NULL;
        const int fd =
            file->temporary ? open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
        if (fd >= 0)
            return fd;
        const int error = file->temporary ? errno : ENOMEM;
        free(file->temporary);
        file->temporary = NULL;
        errno = error;
        if (error != EEXIST)
            break;
    }
    return -1;
}

/* Copies owner and mode of the old file to the temporary one. */
static void keep_attributes(int fd, const struct stat *old)
{
    struct stat now;
    if (fstat(fd, &now) != 0)
        return;
    if ((now.st_uid != old->st_uid || now.st_gid != old->st_gid) && fchown(fd, old->st_uid, old->st_gid) != 0)
        errno = 0; /* the old file belongs to another user: the new one to us */
    fchmod(fd, old->st_mode & 0777);
}

int wmi_whole_file_begin(struct wmi_whole_file *file, const char *path)
{
    struct stat old;
    *file = (struct wmi_whole_file){0};
    const bool exists = stat(path, &old) == 0;
    if (!exists && (errno != ENOENT || !*path))
        return errno;
    if (exists && !S_ISREG(old.st_mode))
        return begin_direct(file, path);
    if (exists && stream_of(&old) >= 0)
        return begin_behind(file, stream_of(&old));
    if (exists && access(path, W_OK) != 0)
        return errno;
    file->path = exists ? realpath(path, NULL) : path_of_new(path);
    if (!file->path)
        return exists ? begin_direct(file, path) : errno;
    const int fd = exists && is_mounted(file->path) ? -1 : open_temporary(file, file->path);
    if (fd < 0)
        return exists ? begin_direct(file, path) : close_with(file, errno);
    if (exists)
        keep_attributes(fd, &old);
    return open_stream(file, fd);
}

/* ---- end ---- */

int wmi_whole_file_end(struct wmi_whole_file *file)
{
    int error = 0;
    errno = 0;
    if (fflush(file->stream) != 0 || ferror(file->stream)) {
        if (!errno && write(fileno(file->stream), "", 1) == 1)
            errno = EIO; /* an earlier error that does not recur */
        error = errno ? errno : EIO;
    }
    if (fclose(file->stream) != 0 && !error)
        error = errno;
    if (!error && file->temporary && rename(file->temporary, file->path) != 0)
        error = errno;
    return close_with(file, error);
}

void wmi_whole_file_drop(struct wmi_whole_file *file)
{
    fclose(file->stream);
    if (file->temporary)
        unlink(file->temporary);
    close_with(file, 0);
}

int wmi_whole_file_possible(const char *path)
{
    struct stat status;
    struct wmi_whole_file file;
    if (stat(path, &status) == 0)
        return S_ISDIR(status.st_mode) ? EISDIR : access(path, W_OK) == 0 ? 0 : errno;
    const int error = wmi_whole_file_begin(&file, path);
    if (!error)
        wmi_whole_file_drop(&file);
    return error;
}
