/* SPDX-License-Identifier: MIT */
#include "jit/host_memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A copy of the code, in memory that can be executed and not written. */
static struct wmi_host_memory *make_executable(const struct wmi_host *host, bool *refused)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (host->count + page - 1) / page * page;
    struct wmi_host_memory *memory = malloc(sizeof *memory);
    if (!memory)
        return NULL;
    *memory = (struct wmi_host_memory){.size = size, .used = host->count};
    memory->code = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory->code == MAP_FAILED) {
        free(memory);
        return NULL;
    }
    memcpy(memory->code, host->bytes, host->count);
#if !defined(__wasm__) /* where nothing is compiled, and clang has no such thing */
    __builtin___clear_cache(memory->code, (char *)memory->code + host->count);
#endif
    if (mprotect(memory->code, size, PROT_READ | PROT_EXEC)) {
        munmap(memory->code, size);
        free(memory);
        *refused = true;
        return NULL;
    }
    return memory;
}

/* If WAVEMEM_PERF_MAP is set, tells perf and other profilers which code belongs to which instruction of the
 * GPU. Source: Linux, tools/perf/Documentation/jit-interface.txt. */
static void name_code(const struct wmi_host_memory *made, const struct wmi_block *block,
                      const struct wmi_patch *patches, size_t count)
{
    const char *setting = getenv("WAVEMEM_PERF_MAP");
    char path[40];
    if (!setting || !*setting)
        return;
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *map = file < 0 ? NULL : fdopen(file, "a");
    for (size_t i = 0; i < count && map; i++) {
        const size_t from = patches[i].code, to = i + 1 < count ? patches[i + 1].code : made->used;
        fprintf(map, "%" PRIxPTR " %zx wavemem_pc_0x%" PRIx64 "\n", (uintptr_t)made->code + from, to - from,
                block->steps[patches[i].step].pc);
    }
    if (map)
        fclose(map);
    else if (file >= 0)
        close(file);
}

bool wmi_publish_code(const struct wmi_host *host, const struct wmi_block *block,
                      const struct wmi_patch *patches, size_t count, struct wmi_host_memory **memory,
                      bool *refused)
{
    struct wmi_host_memory *made = make_executable(host, refused);
    if (!made)
        return false;
    made->next = *memory;
    *memory = made;
    name_code(made, block, patches, count);
    for (size_t i = 0; i < count; i++)
        __atomic_store_n(&block->ops[patches[i].step].body, wmi_body_at(made->code, patches[i].code),
                         __ATOMIC_RELEASE);
    return true;
}

void wmi_host_memory_free(struct wmi_host_memory *memory)
{
    for (struct wmi_host_memory *next; memory; memory = next) {
        next = memory->next;
        munmap(memory->code, memory->size);
        free(memory);
    }
}

size_t wmi_host_memory_size(const struct wmi_host_memory *memory)
{
    size_t size = 0;
    for (; memory; memory = memory->next)
        size += memory->used;
    return size;
}

wmi_body wmi_body_at(const unsigned char *code, size_t offset)
{
    const union {
        const unsigned char *code;
        wmi_body body;
    } entry = {.code = code + offset};
    return entry.body;
}
