/* SPDX-License-Identifier: MIT */
/* Runs the program in a child, with wavemem in place of the driver. */
#include "tool/exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the build folder, or where `meson install` puts it, beside the command; "": it is in neither. */
static void find_library(const char *beside, const char *folder, const char *name, char path[PATH_MAX])
{
    const char *const places[] = {folder, TOOL_RUNTIME_FOLDER};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (snprintf(path, PATH_MAX, "%s/%s/%s", beside, places[i], name) < PATH_MAX && !access(path, R_OK))
            return;
    path[0] = 0;
}

int exec_find_libraries(struct exec_libraries *libraries)
{
    char own[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length < 0 ? 0 : length] = 0;
    char *end = strrchr(own, '/');
    if (end)
        *end = 0;
    find_library(own, "shim/hsa", "libhsa-runtime64.so.1", libraries->runtime);
    find_library(own, "shim/drm", "libwavemem-drm.so", libraries->driver);
    find_library(own, "shim/drm", "libwavemem-radv.so", libraries->radv);
    if (*libraries->runtime || *libraries->driver)
        return TOOL_CLEAN;
    return tool_fail(
        "exec: wavemem's libhsa-runtime64.so.1 is neither in %s/shim/hsa nor in %s/" TOOL_RUNTIME_FOLDER
        ": it is in the package libwavemem-hsa; to build it, install libhsa-runtime-dev, then run `make`",
        own, own);
}

/* The file that lets the Vulkan loader see RADV; of several that are chosen, the loader finds RADV itself. */
static const char *radv_manifest(void)
{
    const char *files = getenv("VK_DRIVER_FILES");
    files = files ? files : getenv("VK_ICD_FILENAMES");
    return files ? files : "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json";
}

/* The library that a manifest names; false: it is not there, or another driver. Source: Vulkan-Loader,
 * docs/LoaderDriverInterface.md, "Driver Manifest File Format". */
static bool find_radv(const char *manifest, char path[PATH_MAX])
{
    json_t *document = json_load_file(manifest, 0, NULL);
    const char *library =
        json_string_value(json_object_get(json_object_get(document, "ICD"), "library_path"));
    const char *folder = strrchr(manifest, '/'), *name = library ? strrchr(library, '/') : NULL;
    name = name ? name + 1 : library;
    const bool is_relative = library && name != library && *library != '/' && folder;
    const bool ok = library && !strncmp(name, "libvulkan_radeon", 16) &&
                    snprintf(path, PATH_MAX, "%.*s%s", is_relative ? (int)(folder + 1 - manifest) : 0,
                             manifest, library) < PATH_MAX;
    json_decref(document);
    return ok;
}

int exec_find_driver(const struct exec_libraries *libraries, const char *folder, bool needed,
                     struct exec_driver *driver)
{
    *driver->manifest = 0;
    if (!*libraries->radv)
        return needed
                   ? tool_fail(
                         "--queues compute: wavemem's libwavemem-radv.so was not built; install libdrm-dev "
                         "and libvulkan-dev, then run `make`")
                   : TOOL_CLEAN;
    if (!find_radv(radv_manifest(), driver->radv))
        return needed ? tool_fail("--queues compute: %s is not the manifest of Mesa's RADV", radv_manifest())
                      : TOOL_CLEAN;
    snprintf(driver->manifest, PATH_MAX, "%s/radv.json", folder);
    json_t *manifest = json_pack("{s:s, s:{s:s, s:s}}", "file_format_version", "1.0.0", "ICD", "library_path",
                                 libraries->radv, "api_version", "1.3.0");
    const bool ok = manifest && !json_dump_file(manifest, driver->manifest, 0);
    json_decref(manifest);
    return ok ? TOOL_CLEAN : tool_fail("%s: %s", driver->manifest, strerror(errno));
}

/* Puts a value in front of those that the variable lists. */
static bool put_first(const char *variable, const char *first)
{
    const char *before = getenv(variable);
    const size_t size = strlen(first) + (before ? strlen(before) : 0) + 2;
    char *value = malloc(size);
    if (!value)
        return false;
    snprintf(value, size, "%s%s%s", first, before && *before ? ":" : "", before ? before : "");
    const bool ok = !setenv(variable, value, 1);
    free(value);
    return ok;
}

/* LD_PRELOAD, because a library's own RPATH comes before the search path; the path too, for those who open
 * the library by its name without a version, as LLVM's OpenMP runtime does. */
static bool preload_runtime(const char *runtime)
{
    char folder[PATH_MAX];
    const char *end = strrchr(runtime, '/');
    snprintf(folder, sizeof folder, "%.*s", (int)(end - runtime), runtime);
    return put_first("LD_PRELOAD", runtime) && put_first("LD_LIBRARY_PATH", folder);
}

static bool set_unless_set(const char *variable, const char *value)
{
    return !setenv(variable, value, 0);
}

/* Lets loaders see AMD's drivers alone, so that no program runs on a driver for CPUs unnoticed. Without RADV,
 * the Vulkan loader says that this file is missing. */
static bool preload_driver(const char *driver)
{
    static const char clover[] = "/etc/OpenCL/vendors/mesa.icd";
    const char *manifest = radv_manifest();
    return put_first("LD_PRELOAD", driver) && set_unless_set("VK_DRIVER_FILES", manifest) &&
           set_unless_set("VK_ICD_FILENAMES", manifest) &&
           (access(clover, R_OK) || set_unless_set("OCL_ICD_VENDORS", clover));
}

static bool preload(const struct exec_libraries *libraries)
{
    return (!*libraries->driver || preload_driver(libraries->driver)) &&
           (!*libraries->runtime || preload_runtime(libraries->runtime));
}

static bool set(const struct exec_setting *setting)
{
    return setting->value ? !setenv(setting->name, setting->value, 1) : !unsetenv(setting->name);
}

/* Signals that would end this process before the results are shown and removed. The program gets those of the
 * terminal itself; the others are passed on. */
static const struct {
    int signal;
    bool passed_on;
} signals[] = {{SIGINT, false}, {SIGQUIT, false}, {SIGTERM, true}, {SIGHUP, true}};

enum { SIGNALS = sizeof signals / sizeof *signals };

static volatile pid_t child;

static void pass_on(int signal)
{
    kill(child, signal);
}

/* Becomes the program, or writes to `failed` that it cannot. */
static _Noreturn void become(char **program, const struct sigaction before[SIGNALS], const sigset_t *mask,
                             int failed)
{
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i].signal, &before[i], NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(*program, program);
    const int code = tool_fail("exec: '%s': %s", *program, strerror(errno));
    _exit(write(failed, "", 1) < 0 ? code : code);
}

/* Starts the program with the signals as they were. */
static pid_t start(char **program, int failed)
{
    struct sigaction before[SIGNALS];
    sigset_t all, mask;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask); /* until `child` is known */
    for (size_t i = 0; i < SIGNALS; i++) {
        const struct sigaction now = {.sa_handler = signals[i].passed_on ? pass_on : SIG_IGN,
                                      .sa_flags = SA_RESTART};
        sigaction(signals[i].signal, NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(signals[i].signal, &now, NULL);
    }
    child = fork();
    if (!child)
        become(program, before, &mask, failed);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return child;
}

/* A runtime that finds no device often ends so, without a word. */
static bool is_crash(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
}

int exec_run(char **program, const struct exec_libraries *libraries, const struct exec_setting *settings,
             int *own)
{
    int status;
    bool ok = preload(libraries);
    for (; ok && settings->name; settings++)
        ok = set(settings);
    if (!ok)
        return tool_fail("exec: the environment has no room");
    int failed[2]; /* closed without a byte when the child has become the program */
    char byte;
    if (pipe2(failed, O_CLOEXEC) < 0 || start(program, failed[1]) < 0)
        return tool_fail("exec: no process can be started: %s", strerror(errno));
    close(failed[1]);
    const bool started = read(failed[0], &byte, 1) != 1;
    close(failed[0]);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return tool_fail("exec: the program's end was not noticed: %s", strerror(errno));
    *own = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (WIFSIGNALED(status) && is_crash(WTERMSIG(status)))
        tool_fail("exec: the program itself crashed: %s", strsignal(WTERMSIG(status)));
    return started ? TOOL_CLEAN : TOOL_WRONG; /* the child has said why */
}
