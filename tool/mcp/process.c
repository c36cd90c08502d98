/* SPDX-License-Identifier: MIT */
/* Runs the commands of a call as processes that are limited in memory and output, and that see no files but
 * those below the root, of installed programs, and their own temporary ones.
 *
 * Source: Linux, Documentation/userspace-api/landlock.rst. */
#include "tool/mcp/mcp.h"

#include "tool/sources/sources.h"
#include "wavemem/wavemem.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_MOST = 64 << 20 /* bytes of a file that a process writes */ };

/* Sanitizers reserve more address space than any limit allows, and look for leaks in /proc/self. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* ---- the folders ---- */

enum {
    READS = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
    WRITES = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
             LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
             LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
             LANDLOCK_ACCESS_FS_MAKE_SYM,
    OF_FILES = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE,
};

bool mcp_can_confine(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 1;
}

/* Allows access to the file or to all below the folder; one that is not there needs no permission. */
static bool allow(int rules, const char *path, uint64_t access)
{
    const int file = open(path, O_PATH | O_CLOEXEC);
    if (file < 0)
        return true;
    struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = file};
    const bool good = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    close(file);
    return good;
}

/* The folder `up` levels above the file: that of an installation. */
static bool allow_above(int rules, const char *path, unsigned up)
{
    char *full = realpath(path, NULL);
    for (unsigned i = 0; full && i < up && strrchr(full, '/'); i++)
        *strrchr(full, '/') = 0;
    const bool good = !full || !*full || allow(rules, full, READS);
    free(full);
    return good;
}

/* Compilers outside of /usr and /opt, and this command. */
static bool allow_programs(int rules)
{
    static const char *const variables[] = {"ROCM_PATH", "HIP_CLANG_PATH", "HIP_DEVICE_LIB_PATH"};
    struct tool_list compilers = {0};
    Dl_info library;
    bool good = allow_above(rules, "/proc/self/exe", 1);
    if (dladdr((void *)(uintptr_t)wm_version, &library) && library.dli_fname)
        good &= allow_above(rules, library.dli_fname, 1);
    tool_find_compilers(NULL, &compilers);
    for (size_t i = 0; i < compilers.count; i++)
        good &= allow_above(rules, compilers.words[i], 2);
    tool_list_free(&compilers);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            good &= allow_above(rules, getenv(variables[i]), 0);
    return good;
}

/* Confines this process, and those that it will start, to the folders. */
static bool confine(const struct mcp_settings *settings)
{
    static const char *const installed[] = {"/usr",
                                            "/lib",
                                            "/lib32",
                                            "/lib64",
                                            "/bin",
                                            "/sbin",
                                            "/opt",
                                            "/nix/store",
                                            "/gnu/store",
                                            "/etc/alternatives",
                                            "/sys/devices/system"};
    static const char *const files[] = {"/etc/ld.so.cache", "/etc/ld.so.preload", "/dev/urandom"};
    const struct landlock_ruleset_attr all = {.handled_access_fs = READS | WRITES};
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
    bool good = rules >= 0 && allow(rules, settings->root, READS) &&
                allow(rules, settings->folder, READS | WRITES) && allow(rules, "/dev/null", OF_FILES) &&
                allow_programs(rules);
    for (size_t i = 0; good && i < sizeof installed / sizeof *installed; i++)
        good = allow(rules, installed[i], READS);
    for (size_t i = 0; good && i < sizeof files / sizeof *files; i++)
        good = allow(rules, files[i], LANDLOCK_ACCESS_FS_READ_FILE);
    if (SANITIZED)
        good = good && allow(rules, "/proc/self", READS);
    for (const char *const *path = settings->allowed; good && *path; path++)
        good = allow(rules, *path, READS);
    good = good && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    if (rules >= 0)
        close(rules);
    return good;
}

/* ---- processes ---- */

static bool limit(int resource, uint64_t most)
{
    const struct rlimit both = {most, most};
    return setrlimit(resource, &both) == 0;
}

static bool limit_all(const struct mcp_settings *settings)
{
    return limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, FILE_MOST) &&
           (SANITIZED || !settings->memory || limit(RLIMIT_AS, settings->memory));
}

static bool redirect(const char *path, int flags, int to)
{
    const int file = open(path, flags, 0600);
    if (file < 0)
        return false;
    const bool good = dup2(file, to) == to;
    if (file != to)
        close(file);
    return good;
}

static _Noreturn void become(const struct mcp_settings *settings, char *const *words, const char *out,
                             const char *err, pid_t server)
{
    static char name[] = "wavemem";
    char *command[256] = {name};
    size_t count = 1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL);
    while (*words && count + 1 < sizeof command / sizeof *command)
        command[count++] = *words++;
    if (getppid() == server && !*words && redirect("/dev/null", O_RDONLY, STDIN_FILENO) &&
        redirect(out, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO) &&
        redirect(err, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO) && chdir(settings->root) == 0 &&
        setenv("TMPDIR", settings->folder, 1) == 0 && setenv("XDG_CACHE_HOME", settings->folder, 1) == 0 &&
        limit_all(settings)) {
        if (settings->unconfined || confine(settings))
            execv("/proc/self/exe", command);
        dprintf(STDERR_FILENO, "wavemem: mcp: the process cannot be confined: %s\n", strerror(errno));
    }
    _exit(127);
}

bool mcp_start(struct mcp_process *process, const struct mcp_settings *settings, char *const *words,
               const char *out, const char *err)
{
    int ends[2];
    const pid_t server = getpid();
    if (pipe(ends))
        return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fflush(NULL);
    process->pid = fork();
    if (!process->pid) {
        setpgid(0, 0);
        become(settings, words, out, err, server);
    }
    close(ends[1]);
    process->alive = ends[0];
    if (process->pid > 0)
        return true;
    close(ends[0]);
    process->pid = 0;
    return false;
}

int mcp_end(struct mcp_process *process)
{
    int status = 0;
    if (!process->pid)
        return 0;
    kill(-process->pid, SIGKILL);
    kill(process->pid, SIGKILL); /* it may not have its group yet */
    while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(process->alive);
    process->pid = 0;
    return status;
}

static int remove_one(const char *path, const struct stat *facts, int type, struct FTW *walk)
{
    (void)facts, (void)type, (void)walk;
    return remove(path);
}

void mcp_remove_folder(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
