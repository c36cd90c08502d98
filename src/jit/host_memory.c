/* SPDX-License-Identifier: MIT */
#include "jit/host_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Copies the code to memory that can be executed and not written. */
struct wmi_host_memory *wmi_make_executable(const struct wmi_host *host, bool *refused)
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
    __builtin___clear_cache(memory->code, (char *)memory->code + host->count);
    if (mprotect(memory->code, size, PROT_READ | PROT_EXEC)) {
        munmap(memory->code, size);
        free(memory);
        *refused = true;
        return NULL;
    }
    return memory;
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
