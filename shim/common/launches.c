/* SPDX-License-Identifier: MIT */
/* Counts the launches of each kernel, and selects those that are observed. */
#include "shim/common/common.h"

#include <regex.h>
#include <stdlib.h>

struct kernel {
    uint64_t object; /* 0: the slot is free */
    const struct wm_machine *machine;
    uint64_t launches;
    const char *name;      /* kept in `names`; NULL: unknown */
    bool wanted, is_given; /* is_given: the name, by those who launch it */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct kernel *kernels;                           /* a hash table; machines do not unload kernels */
static size_t slots, count;                              /* slots: 0 or a power of two */

static regex_t pattern;    /* selects kernels by name */
static bool selects;       /* `pattern` is set */
static const char *ranges; /* numbers of launches: "3", "3-5", "7-", separated by commas; NULL: all */

void shim_launches_begin(void)
{
    const char *names = getenv("WAVEMEM_KERNEL");
    ranges = getenv("WAVEMEM_LAUNCHES");
    if (names && regcomp(&pattern, names, REG_EXTENDED | REG_NOSUB))
        shim_complain("WAVEMEM_KERNEL: '%s' is not a regular expression; all kernels are observed", names);
    else
        selects = names;
}

/* Whether the kernel is the program's rather than the runtime's own, and selected. */
static bool is_wanted(const char *symbol)
{
    static const char own[] = "__amd_rocclr_";
    char name[SHIM_NAME];
    if (!strncmp(symbol, own, sizeof own - 1))
        return false;
    return !selects || !regexec(&pattern, symbol, 0, NULL, 0) ||
           !regexec(&pattern, wm_source_name(symbol, name, sizeof name), 0, NULL, 0);
}

static bool is_in_ranges(uint64_t launch)
{
    const char *at = ranges;
    while (at && *at) {
        char *end;
        const uint64_t first = strtoull(at, &end, 10);
        uint64_t last = first;
        if (*end == '-')
            last = end[1] && end[1] != ',' ? strtoull(end + 1, &end, 10) : UINT64_MAX;
        if (launch >= first && launch <= last)
            return true;
        at = strchr(end, ',');
        at += at != NULL;
    }
    return !ranges;
}

/* The kernel's slot, or the free slot for it. */
static struct kernel *find(const struct wm_machine *machine, uint64_t object)
{
    size_t i = object / 64 * UINT64_C(0x9e3779b97f4a7c15) >> 32; /* descriptors are aligned to 64 bytes */
    while (kernels[i & (slots - 1)].object &&
           (kernels[i & (slots - 1)].object != object || kernels[i & (slots - 1)].machine != machine))
        i++;
    return &kernels[i & (slots - 1)];
}

/* Makes sure that there is a free slot. */
static bool grow(void)
{
    struct kernel *before = kernels;
    const size_t had = slots;
    if (2 * count < slots)
        return true;
    kernels = calloc(had ? 2 * had : 64, sizeof *kernels);
    if (!kernels) {
        kernels = before;
        return count + 1 < slots;
    }
    slots = had ? 2 * had : 64;
    for (size_t i = 0; i < had; i++)
        if (before[i].object)
            *find(before[i].machine, before[i].object) = before[i];
    free(before);
    return true;
}

/* All names that kernels have had: launches may still use an earlier one when a kernel is renamed. */
static struct name {
    struct name *previous;
    char text[];
} *names;

/* NULL: out of memory. */
static const char *keep_name(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    struct name *name = malloc(sizeof *name + bytes);
    if (!name)
        return NULL;
    memcpy(name->text, text, bytes);
    name->previous = names;
    names = name;
    return name->text;
}

static void set(struct kernel *kernel, const struct wm_machine *machine, uint64_t object, const char *given)
{
    char name[SHIM_NAME];
    if (given)
        snprintf(name, sizeof name, "%s", given);
    else
        shim_name_kernel(object, name, sizeof name);
    *kernel = (struct kernel){.object = object,
                              .machine = machine,
                              .name = *name ? keep_name(name) : NULL,
                              .wanted = is_wanted(name),
                              .is_given = given};
}

static bool is_renamed(const struct kernel *kernel, const char *name)
{
    return name ? !kernel->is_given || !kernel->name || strcmp(kernel->name, name) : kernel->is_given;
}

struct shim_launch shim_launch(const struct shim_gpu *gpu, uint64_t kernel_object, const char *name)
{
    struct shim_launch launch = {.symbol = ""};
    pthread_mutex_lock(&lock);
    if (kernel_object && grow()) {
        struct kernel *kernel = find(gpu->machine, kernel_object);
        count += !kernel->object;
        if (!kernel->object || is_renamed(kernel, name))
            set(kernel, gpu->machine, kernel_object, name);
        launch.number = ++kernel->launches;
        launch.symbol = kernel->name ? kernel->name : "";
        launch.observed = kernel->wanted && is_in_ranges(launch.number);
    }
    pthread_mutex_unlock(&lock);
    return launch;
}
