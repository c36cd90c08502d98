/* SPDX-License-Identifier: MIT */
/* Finds clang, AMD's device library and HIP's headers where distributions and ROCm install them. */
#include "tool/sources/sources.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Adds the program if it can be executed: a path, or a name to find in PATH. */
static void add_program(struct tool_list *paths, const char *name)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/')) {
        if (access(name, X_OK) == 0)
            tool_list_add(paths, "%s", name);
        return;
    }
    for (path = path ? path : ""; *path;) {
        const size_t length = strcspn(path, ":");
        char full[512];
        const int wrote = snprintf(full, sizeof full, "%.*s/%s", (int)length, path, name);
        if (length && wrote < (int)sizeof full && access(full, X_OK) == 0) {
            tool_list_add(paths, "%s", full);
            return;
        }
        path += length + (path[length] == ':');
    }
}

static void add_below(struct tool_list *paths, const char *folder, const char *rest)
{
    char full[512];
    if (folder && *folder && snprintf(full, sizeof full, "%s/%s", folder, rest) < (int)sizeof full)
        add_program(paths, full);
}

void tool_find_compilers(const char *clang, struct tool_list *paths)
{
    /* 19 is the version that the tests use most; those before it know fewer targets. */
    static const char *const names[] = {"clang-19", "clang-20", "clang-21", "clang-22", "clang",
                                        "clang-18", "clang-17", "clang-16", "clang-15"};
    if (clang) {
        add_program(paths, clang);
        return;
    }
    add_below(paths, getenv("HIP_CLANG_PATH"), "clang");
    add_below(paths, getenv("ROCM_PATH"), "llvm/bin/clang");
    add_below(paths, "/opt/rocm", "llvm/bin/clang");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        add_program(paths, names[i]);
}

/* Sets `folder` to the first match of the pattern that contains `file`. */
static bool try_folder(const char *pattern, const char *file, char folder[512])
{
    glob_t found;
    bool good = false;
    if (glob(pattern, 0, NULL, &found) != 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc && !good; i++) {
        char full[600];
        const int wrote = snprintf(full, sizeof full, "%s/%s", found.gl_pathv[i], file);
        good = wrote < (int)sizeof full && strlen(found.gl_pathv[i]) < 512 && access(full, R_OK) == 0;
        if (good)
            snprintf(folder, 512, "%s", found.gl_pathv[i]);
    }
    globfree(&found);
    return good;
}

void tool_find_device_library(char folder[512], char *looked, size_t size)
{
    static const char *const places[] = {
        "/opt/rocm/amdgcn/bitcode", "/opt/rocm/lib/llvm/lib/clang/*/lib/amdgcn/bitcode",
        "/usr/lib/*/amdgcn/bitcode", "/usr/lib/clang/*/amdgcn/bitcode", "/usr/amdgcn/bitcode"};
    const char *named = getenv("HIP_DEVICE_LIB_PATH"), *rocm = getenv("ROCM_PATH");
    char below[512] = "";
    size_t used = 0;
    folder[0] = looked[0] = 0;
    if (rocm && strlen(rocm) < 480)
        snprintf(below, sizeof below, "%s/amdgcn/bitcode", rocm);
    for (size_t i = 0; i < 2 + sizeof places / sizeof *places; i++) {
        const char *place = i == 0 ? named : i == 1 ? below : places[i - 2];
        if (!place || !*place)
            continue;
        if (try_folder(place, "ocml.bc", folder))
            return;
        if (place == named)
            i = 1 + sizeof places / sizeof *places; /* no other one in place of that which the user names */
        const int wrote =
            used < size ? snprintf(looked + used, size - used, "%s%s", used ? ", " : "", place) : 0;
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}

void tool_find_rocm(char folder[512])
{
    const char *named = getenv("ROCM_PATH");
    folder[0] = 0;
    if (!(named && try_folder(named, "include/hip/hip_runtime.h", folder)) &&
        !try_folder("/opt/rocm", "include/hip/hip_runtime.h", folder))
        try_folder("/usr", "include/hip/hip_runtime.h", folder);
}
