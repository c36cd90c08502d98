/* SPDX-License-Identifier: MIT */
/* Files that stand for buffer objects, syncobjs and fences, by which drivers pass them on within the process.
 * Those of buffers only have the size of the buffer, as drivers ask for it, and cannot be mapped; the others
 * are pipes, which can be polled: a fence's has a byte when it is signalled. Sources: linux, drm_prime.c,
 * drm_syncobj.c, sync_file.c. */
#include "shim/drm/drm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { BUFFER, SYNCOBJ, FENCE };

struct file {
    struct file *next;
    enum kind kind;
    dev_t device; /* by which its descriptors are recognized */
    ino_t node;
    int end;         /* to write to; -1: of a buffer */
    bool is_written; /* of a fence */
    uint32_t buffer;
    struct drm_syncobj *syncobj;
    struct drm_fence *fence;
};

static struct file *files;

/* ---- which are still open ---- */

/* One of the process's descriptors is of this file. */
static bool is_open(const struct file *file)
{
    if (file->end >= 0) { /* a pipe that nobody can read has an error */
        struct pollfd poll_end = {.fd = file->end, .events = POLLOUT};
        return poll(&poll_end, 1, 0) < 0 || !(poll_end.revents & POLLERR);
    }
    DIR *folder = opendir("/proc/self/fd");
    bool found = !folder;
    for (const struct dirent *entry; folder && !found && (entry = readdir(folder));) {
        struct stat status;
        found = !fstat(atoi(entry->d_name), &status) && status.st_dev == file->device &&
                status.st_ino == file->node;
    }
    if (folder)
        closedir(folder);
    return found;
}

void drm_files_end(void)
{
    for (struct file **at = &files, *file; (file = *at);) {
        if (is_open(file)) {
            at = &file->next;
            continue;
        }
        *at = file->next;
        if (file->end >= 0)
            close(file->end);
        if (file->kind == BUFFER)
            drm_buffer_release(file->buffer);
        else if (file->kind == SYNCOBJ)
            drm_syncobj_release(file->syncobj);
        else
            drm_fence_release(file->fence);
        free(file);
    }
}

/* ---- making and finding them ---- */

/* Returns the program's descriptor, or -errno. */
static int add(struct file what, int own)
{
    struct stat status;
    struct file *file = malloc(sizeof *file);
    if (!file || fstat(own, &status)) {
        const int error = file ? -errno : -ENOMEM;
        free(file);
        close(own);
        if (what.end >= 0)
            close(what.end);
        return error;
    }
    *file = what;
    file->device = status.st_dev;
    file->node = status.st_ino;
    file->next = files;
    files = file;
    return own;
}

static int add_pipe(struct file what)
{
    int ends[2];
    drm_files_end();
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return -errno;
    what.end = ends[1];
    return add(what, ends[0]);
}

static const struct file *find(int descriptor, enum kind kind)
{
    struct stat status;
    const struct file *file = fstat(descriptor, &status) ? NULL : files;
    while (file && !(file->kind == kind && file->device == status.st_dev && file->node == status.st_ino))
        file = file->next;
    return file;
}

int drm_file_of_buffer(uint32_t handle, uint64_t size)
{
    char path[64];
    drm_files_end();
    const int whole = memfd_create("wavemem-prime", MFD_CLOEXEC);
    if (whole < 0)
        return -errno;
    snprintf(path, sizeof path, "/proc/self/fd/%d", whole);
    /* what is open for writing alone cannot be mapped */
    const int own = ftruncate(whole, (off_t)size) ? -1 : open(path, O_WRONLY | O_CLOEXEC);
    const int error = errno;
    close(whole);
    return own < 0 ? -error : add((struct file){.kind = BUFFER, .end = -1, .buffer = handle}, own);
}

uint32_t drm_file_buffer(int descriptor)
{
    const struct file *file = find(descriptor, BUFFER);
    return file ? file->buffer : 0;
}

int drm_file_of_syncobj(struct drm_syncobj *syncobj)
{
    return add_pipe((struct file){.kind = SYNCOBJ, .syncobj = syncobj});
}

struct drm_syncobj *drm_file_syncobj(int descriptor)
{
    const struct file *file = find(descriptor, SYNCOBJ);
    return file ? file->syncobj : NULL;
}

int drm_file_of_fence(struct drm_fence *fence)
{
    const int own = add_pipe((struct file){.kind = FENCE, .fence = fence});
    drm_files_signal();
    return own;
}

struct drm_fence *drm_file_fence(int descriptor)
{
    const struct file *file = find(descriptor, FENCE);
    return file ? file->fence : NULL;
}

void drm_files_signal(void)
{
    for (struct file *file = files; file; file = file->next)
        if (file->kind == FENCE && !file->is_written && drm_fence_is_signalled(file->fence))
            file->is_written = write(file->end, "", 1) == 1;
}

/* ---- requests to files of fences ---- */

static int merge(struct drm_fence *fence, struct sync_merge_data *data)
{
    struct drm_fence *other = drm_file_fence(data->fd2);
    if (!other)
        return -ENOENT;
    struct drm_fence *both = drm_fence_both(fence, other);
    if (!both)
        return -ENOMEM;
    data->fence = drm_file_of_fence(both);
    if (data->fence >= 0)
        return 0;
    drm_fence_release(both);
    return data->fence;
}

static int describe(struct drm_fence *fence, struct sync_file_info *info)
{
    const int status = !drm_fence_is_signalled(fence) ? 0 : fence->error ? fence->error : 1;
    struct sync_fence_info *fences = (struct sync_fence_info *)(uintptr_t)info->sync_fence_info;
    if (info->num_fences && fences) {
        *fences = (struct sync_fence_info){
            .status = status, .driver_name = "amdgpu", .timestamp_ns = status ? shim_now() : 0};
    }
    info->num_fences = 1;
    info->status = status;
    snprintf(info->name, sizeof info->name, "wavemem");
    return 0;
}

bool drm_file_request(int descriptor, unsigned long request, void *arguments, int *result)
{
    pthread_mutex_lock(&drm_lock);
    struct drm_fence *fence = files ? drm_file_fence(descriptor) : NULL;
    if (fence)
        *result = request == SYNC_IOC_MERGE       ? merge(fence, arguments)
                  : request == SYNC_IOC_FILE_INFO ? describe(fence, arguments)
                                                  : -ENOTTY;
    pthread_mutex_unlock(&drm_lock);
    return fence;
}
