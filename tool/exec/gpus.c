/* SPDX-License-Identifier: MIT */
/* Which GPUs a program sees. */
#include "tool/exec/exec.h"
#include "wavemem/wavemem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *exec_find_program(const char *name, char path[PATH_MAX])
{
    const char *rest = strchr(name, '/') ? NULL : getenv("PATH");
    while (rest && *rest) {
        const size_t length = strcspn(rest, ":");
        snprintf(path, PATH_MAX, "%.*s/%s", (int)length, rest, name);
        if (!access(path, X_OK))
            return path;
        rest += length + (rest[length] == ':');
    }
    return name;
}

/* Appends a word to a list, once. */
static void list(char *text, size_t size, const char *word)
{
    const size_t used = strlen(text), length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += length)
        if (at[length] == 0 || at[length] == ',')
            return;
    if (used + length + 3 < size)
        snprintf(text + used, size - used, "%s%s", used ? ", " : "", word);
}

/* The target that a name of --gpu stands for: itself, or the product's. */
static void target_of(const struct wm_gpu *gpu, const char *name, char target[16])
{
    const char *text = !strncmp(name, "gfx", 3) ? name : gpu->targets;
    snprintf(target, 16, "%.*s", (int)strcspn(text, " ,:"), text);
}

static int add(struct exec_gpus *gpus, const char *name)
{
    const struct wm_gpu *gpu;
    const size_t used = strlen(gpus->names);
    if (tool_choose_gpu("", name, &gpu))
        return TOOL_WRONG;
    if (gpus->count == EXEC_GPUS)
        return tool_fail("--gpu: at most %d GPUs", EXEC_GPUS);
    snprintf(gpus->names + used, sizeof gpus->names - used, "%s%s", used ? "," : "", gpu->name);
    target_of(gpu, name, gpus->target[gpus->count]);
    gpus->gpu[gpus->count++] = gpu;
    return TOOL_CLEAN;
}

static int add_all(struct exec_gpus *gpus, const char *names)
{
    int code = TOOL_CLEAN;
    for (const char *at = names; code == TOOL_CLEAN && at; at = strchr(at, ',')) {
        char name[64];
        at += *at == ',';
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        code = add(gpus, name);
    }
    return code;
}

/* The targets of all GPUs, separated by commas. */
static void join_targets(struct exec_gpus *gpus)
{
    gpus->targets[0] = 0;
    for (unsigned i = 0; i < gpus->count; i++) {
        const size_t used = strlen(gpus->targets);
        snprintf(gpus->targets + used, sizeof gpus->targets - used, "%s%s", used ? "," : "", gpus->target[i]);
    }
}

/* What a program is built for. */
struct built {
    char targets[400];          /* "gfx900, gfx90a" */
    bool has[EXEC_GPUS];        /* the target of the GPU */
    const struct wm_gpu *first; /* a product of the first of them that has one; or NULL */
    char first_target[16];
};

static void read_targets(const struct wm_bundle *bundle, const struct exec_gpus *gpus, struct built *built)
{
    for (size_t i = 0; i < wm_bundle_entry_count(bundle); i++) {
        char target[16];
        const char *id = wm_bundle_entry(bundle, i)->target;
        if (!*id)
            continue;
        snprintf(target, sizeof target, "%.*s", (int)strcspn(id, ":"), id);
        list(built->targets, sizeof built->targets, target);
        for (unsigned k = 0; k < gpus->count; k++) {
            const char *generic = wm_target_generic(gpus->target[k]);
            built->has[k] |= !strcmp(target, gpus->target[k]) || (generic && !strcmp(target, generic));
        }
        if (!built->first && (built->first = wm_gpu_default(target)))
            memcpy(built->first_target, target, sizeof built->first_target);
    }
}

/* Compares with the program's own code objects. A program without any, such as an interpreter, has them
 * elsewhere: gfx900, or what --gpu says. */
int exec_choose_gpus(const char *names, const char *program, struct exec_gpus *gpus)
{
    struct wm_bundle *bundle = NULL;
    struct built built = {0};
    unsigned missing = 0;
    *gpus = (struct exec_gpus){0};
    if (add_all(gpus, names ? names : "gfx900"))
        return TOOL_WRONG;
    join_targets(gpus);
    if (wm_bundle_open_file(program, &bundle, NULL))
        return TOOL_CLEAN;
    read_targets(bundle, gpus, &built);
    wm_bundle_close(bundle);
    while (missing < gpus->count && built.has[missing])
        missing++;
    if (missing == gpus->count || !*built.targets)
        return TOOL_CLEAN;
    if (!built.first)
        return tool_fail("exec: '%s' is built for %s, and no product with such a target is known", program,
                         built.targets);
    if (names) /* a product may have several targets, of which its name stands for the first */
        return tool_fail("exec: '%s' is built for %s; %s is %s: use --gpu %s", program, built.targets,
                         gpus->gpu[missing]->name, gpus->target[missing],
                         built.first == gpus->gpu[missing] ? built.first_target : built.first->name);
    *gpus = (struct exec_gpus){.gpu = {built.first}, .count = 1};
    snprintf(gpus->names, sizeof gpus->names, "%s", built.first->name);
    memcpy(gpus->target[0], built.first_target, sizeof gpus->target[0]);
    join_targets(gpus);
    return TOOL_CLEAN;
}
