/* SPDX-License-Identifier: MIT */
/* Compiles OpenCL, HIP and LLVM's IR with the clang that is installed. */
#include "tool/sources/sources.h"

#include "tool/input.h"
#include "tool/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char tool_compile_help[] =
    "Options of sources (.cl, .hip, .ll and .bc are compiled, .s is assembled; -m is the target):\n"
    "  -D, --define NAME[=VALUE]  define a macro\n"
    "  -I, --include DIR    search included files in DIR, too\n"
    "      --defsym NAME=NUMBER  define a symbol of assembly\n"
    "  -O, --optimize LEVEL  the level of optimization, default 3: -O0, -O2\n"
    "      --clang PROGRAM  the compiler; default: that of ROCm if it is installed, else clang-19, 20, 21, "
    "22 or\n"
    "                       one of another version\n"
    "      --compile-option OPTION  one more option for the compiler: --compile-option=-ffast-math\n";

extern char **environ;

/* ---- languages and targets ---- */

enum tool_language tool_language_of(const char *file)
{
    static const struct {
        const char *suffix;
        enum tool_language language;
    } rows[] = {{".cl", TOOL_OPENCL}, {".hip", TOOL_HIP},    {".ll", TOOL_IR},
                {".bc", TOOL_IR},     {".s", TOOL_ASSEMBLY}, {".S", TOOL_ASSEMBLY}};
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot && i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(dot, rows[i].suffix))
            return rows[i].language;
    return TOOL_NO_SOURCE;
}

bool tool_is_source(const char *file)
{
    return tool_language_of(file) != TOOL_NO_SOURCE;
}

void tool_named_target(enum tool_language language, const char *text, size_t size, char target[64])
{
    static const char *const marks[] = {
        [TOOL_IR] = "\"target-cpu\"=\"", [TOOL_ASSEMBLY] = ".amdgcn_target \"amdgcn-amd-amdhsa--"};
    const char *mark = language == TOOL_IR || language == TOOL_ASSEMBLY ? marks[language] : NULL;
    const char *at = mark ? memmem(text, size, mark, strlen(mark)) : NULL;
    size_t length = 0;
    target[0] = 0;
    if (!at)
        return;
    at += strlen(mark);
    while (at + length < text + size && length < 63 &&
           (isalnum((unsigned char)at[length]) || (at[length] && strchr(":+-", at[length]))))
        length++;
    memcpy(target, at, length);
    target[length] = 0;
}

/* Splits "gfx1030:wave64" into what clang calls the target and the wave size, 0 if none is named. */
static void split_target(const char *target, char name[64], unsigned *wave)
{
    const char *colon = strstr(target, ":wave");
    snprintf(name, 64, "%.*s", colon ? (int)(colon - target) : (int)strlen(target), target);
    if (colon)
        *wave = (unsigned)strtoul(colon + 5, NULL, 10);
}

/* The number of a target in AMD's device library: gfx90a is 9 * 1000 + 0 * 100 + 10. 0: it has none. */
static unsigned isa_number(const char *target)
{
    const char *digits = target + 3;
    const size_t length = strcspn(digits, ":");
    if (length < 3 || length > 4 || strspn(digits, "0123456789") < length - 1 ||
        !isxdigit((unsigned char)digits[length - 1]))
        return 0;
    char major[3], step[2] = {digits[length - 1]};
    snprintf(major, sizeof major, "%.*s", (int)length - 2, digits);
    return (unsigned)(strtoul(major, NULL, 10) * 1000 + (unsigned long)(digits[length - 2] - '0') * 100 +
                      strtoul(step, NULL, 16));
}

/* ---- running the compiler ---- */

static char *read_text(const char *path, size_t *size)
{
    struct wm_diag diag;
    uint8_t *bytes;
    size_t length;
    if (!tool_read_file(path, &bytes, &length, &diag))
        return NULL;
    char *text = tool_checked(realloc(bytes, length + 1));
    text[length] = 0;
    if (size)
        *size = length;
    return text;
}

static bool stopped; /* Ctrl-C ended a program */

/* Runs a program, its output going to the file `log`; returns its exit code, or 127. Ctrl-C ends the program
 * alone, so that the caller can remove its temporary files. */
static int run(char *const *words, const char *log)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child;
    int status = 0;
    sigset_t defaults;
    struct sigaction before;
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&defaults);
    sigaction(SIGINT, &ignore, &before);
    if (before.sa_handler != SIG_IGN) /* it is ignored under nohup, and stays so */
        sigaddset(&defaults, SIGINT);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    int error = posix_spawn(&child, words[0], &actions, &attributes, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    while (!error && waitpid(child, &status, 0) < 0)
        error = errno != EINTR;
    sigaction(SIGINT, &before, NULL);
    stopped |= !error && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT;
    return !error && WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

/* A compilation. */
struct work {
    const struct tool_open *how;
    enum tool_language language;
    char name[64]; /* of the target, as clang has it */
    unsigned wave; /* 0: as the target has it */
    char library[640], rocm[512], looked[1024];
    char cache[512];
    char folder[560]; /* for temporary files */
    char path[5][640];
    unsigned version; /* of the compiler */
};
enum { OUTPUT, FILES, LOG, NUMBER, FARM };

static const char *temporary(struct work *work, unsigned which)
{
    static const char *const names[] = {"out.co", "files", "log", "number.cl", "bitcode"};
    snprintf(work->path[which], sizeof work->path[which], "%s/%s", work->folder, names[which]);
    return work->path[which];
}

static void remove_folder(const char *folder)
{
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));)
        unlinkat(dirfd(list), entry->d_name, 0);
    if (list)
        closedir(list);
    rmdir(folder);
}

static void finish(struct work *work)
{
    char farm[640];
    if (!*work->folder)
        return;
    snprintf(farm, sizeof farm, "%s", temporary(work, FARM));
    remove_folder(farm);
    remove_folder(work->folder);
}

/* Adds what the user's options say, in their order, then the file. */
static void add_options(const struct work *work, struct tool_list *words)
{
    const struct tool_compile *compile = work->how->compile;
    if (work->wave)
        tool_list_add(words, work->wave == 64 ? "-mwavefrontsize64" : "-mno-wavefrontsize64");
    tool_list_add(words, "-O%s", compile->level ? compile->level : "3");
    if (work->language != TOOL_IR) {
        tool_list_add(words, "-g");
        tool_list_add(words, "-fdebug-compilation-dir=."); /* paths in line tables as they are given */
    }
    for (size_t i = 0; i < compile->options.count; i++) {
        const struct tool_kept *kept = &compile->options.kept[i];
        if (kept->letter)
            tool_list_add(words, "-%c%s", kept->letter, kept->value);
        else
            tool_list_add(words, "%s", kept->value);
    }
}

/* The compiler's words, without those that depend on this computer. */
static void add_language(const struct work *work, struct tool_list *words)
{
    switch (work->language) {
    case TOOL_HIP:
        tool_list_add(words, "-xhip");
        tool_list_add(words, "--cuda-device-only");
        tool_list_add(words, "--no-gpu-bundle-output");
        tool_list_add(words, "--offload-arch=%s", work->name);
        break;
    case TOOL_OPENCL:
        tool_list_add(words, "-xcl");
        tool_list_add(words, "-cl-std=CL2.0");
        tool_list_add(words, "-cl-kernel-arg-info");
        break;
    default:
        tool_list_add(words, "-xir");
    }
    if (work->language != TOOL_HIP) {
        tool_list_add(words, "--target=amdgcn-amd-amdhsa");
        tool_list_add(words, "-mcpu=%s", work->name);
    }
    tool_list_add(words, "-mcode-object-version=5"); /* that the device library of Debian 12 knows */
}

/* ---- targets that the device library does not list ---- */

/* Makes a folder with the library and the missing number of the target, as the compiler looks for it. Sets
 * work->library to it. False: after a message. */
static bool add_number(struct work *work, const char *clang)
{
    char file[80], full[640];
    const char *farm = temporary(work, FARM);
    const unsigned number = isa_number(work->name);
    snprintf(file, sizeof file, "oclc_isa_version_%.*s.bc", (int)strcspn(work->name + 3, ":"),
             work->name + 3);
    if (snprintf(full, sizeof full, "%s/%s", work->library, file) >= (int)sizeof full ||
        access(full, R_OK) == 0)
        return true;
    if (!number) {
        tool_fail("%s%s: the device library in %s has no %s", work->how->where, work->how->file,
                  work->library, file);
        return false;
    }
    DIR *list = mkdir(farm, 0700) ? NULL : opendir(work->library);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        char from[1000], to[1000];
        snprintf(from, sizeof from, "%s/%s", work->library, entry->d_name);
        snprintf(to, sizeof to, "%s/%s", farm, entry->d_name);
        if (strstr(entry->d_name, ".bc") && symlink(from, to) != 0)
            break;
    }
    if (list)
        closedir(list);
    FILE *source = fopen(temporary(work, NUMBER), "w");
    if (source) {
        fprintf(source, "extern const __constant int __oclc_ISA_version = %u;\n", number);
        fclose(source);
    }
    char output[760];
    snprintf(output, sizeof output, "%s/%s", farm, file);
    struct tool_list words = {0};
    tool_list_add(&words, "%s", clang);
    static const char *const fixed[] = {"-xcl", "--target=amdgcn-amd-amdhsa", "-nogpulib",
                                        "-w",   "-mcode-object-version=5",    "-emit-llvm",
                                        "-c"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        tool_list_add(&words, "%s", fixed[i]);
    tool_list_add(&words, "%s", work->path[NUMBER]);
    tool_list_add(&words, "-o");
    tool_list_add(&words, "%s", output);
    const bool good = run(words.words, temporary(work, LOG)) == 0;
    tool_list_free(&words);
    if (good)
        snprintf(work->library, sizeof work->library, "%s", farm);
    else
        tool_fail("%s%s: %s could not be made for the device library", work->how->where, work->how->file,
                  file);
    return good;
}

/* ---- compiling ---- */

/* Whether the compiler knows the target; sets work->version. */
static bool knows(struct work *work, const char *clang)
{
    char cpu[80], *words[] = {(char *)(uintptr_t)clang, "--version", NULL};
    work->version = 0;
    if (run(words, temporary(work, LOG)) != 0)
        return false;
    char *text = read_text(work->path[LOG], NULL);
    const char *at = text ? strstr(text, "version ") : NULL;
    work->version = at ? (unsigned)strtoul(at + 8, NULL, 10) : 0;
    free(text);
    snprintf(cpu, sizeof cpu, "-mcpu=%s", work->name);
    char *test[] = {(char *)(uintptr_t)clang,
                    "--target=amdgcn-amd-amdhsa",
                    cpu,
                    "-nogpulib",
                    "-xc",
                    "-fsyntax-only",
                    "/dev/null",
                    NULL};
    return work->version >= 15 && run(test, temporary(work, LOG)) == 0;
}

/* Adds words for the compiler proper, not its driver. */
static void add_each(struct tool_list *words, const char *const *each)
{
    for (; *each; each++) {
        tool_list_add(words, "-Xclang");
        tool_list_add(words, "%s", *each);
    }
}

/* Lanes of the target's waves. */
static unsigned lanes(const struct work *work)
{
    static const uint8_t code[4];
    struct wm_object *object; /* raw instructions have the wave size of their target */
    if (work->wave || wm_object_open(code, sizeof code, "", work->name, &object, NULL) != WM_OK)
        return work->wave ? work->wave : 64;
    const unsigned size = wm_object_kernel(object, 0)->wave_size;
    wm_object_close(object);
    return size;
}

/* The linker beside the compiler itself, if that is not behind a wrapper such as ccache. Where clang was
 * called by a link, as on Debian, it would take ld.lld from the folder of the link, which is another
 * version's. */
static void add_linker(const char *clang, struct tool_list *words)
{
    char linker[PATH_MAX + 8], *real = realpath(clang, NULL);
    char *end = real ? strrchr(real, '/') : NULL;
    if (end && strncmp(end, "/clang", 6) == 0) {
        *end = 0;
        snprintf(linker, sizeof linker, "%s/ld.lld", real);
        if (access(linker, X_OK) == 0)
            tool_list_add(words, "-B%s", real);
    }
    free(real);
}

static struct tool_list command_of(struct work *work, const char *clang)
{
    struct tool_list words = {0};
    tool_list_add(&words, "%s", clang);
    add_linker(clang, &words);
    add_language(work, &words);
    if (work->language == TOOL_HIP && *work->rocm)
        tool_list_add(&words, "--rocm-path=%s", work->rocm);
    if (*work->library)
        tool_list_add(&words, "--rocm-device-lib-path=%s", work->library);
    else
        tool_list_add(&words, "-nogpulib");
    /* From 20 on, clang does not link this option of the library any more, which one of an older ROCm needs.
     * Code for denormals is right also where they are flushed. */
    char daz[700];
    snprintf(daz, sizeof daz, "%s/oclc_daz_opt_off.bc", work->library);
    if (work->version > 19 && *work->library && access(daz, R_OK) == 0) {
        add_each(&words, (const char *const[]){"-mlink-builtin-bitcode", daz, NULL});
    }
    add_options(work, &words);
    if (work->language == TOOL_HIP &&
        work->version > 19) /* headers of HIP 5 and 6 want what clang 20 removed */
        tool_list_add(&words, "-D__AMDGCN_WAVEFRONT_SIZE=%u", lanes(work));
    if (work->language != TOOL_IR) /* -MD itself is ignored for HIP by some versions */
        add_each(&words, (const char *const[]){"-dependency-file", temporary(work, FILES), "-sys-header-deps",
                                               "-MT", "out", NULL});
    tool_list_add(&words, "%s", work->how->file);
    tool_list_add(&words, "-o");
    tool_list_add(&words, "%s", temporary(work, OUTPUT));
    return words;
}

/* All that an object depends on, apart from files that the source includes. */
static char *key_of(const struct work *work, const char *clang, const char *text, size_t text_size,
                    size_t *size)
{
    char *key = NULL, real[4096];
    struct stat status = {0}, library = {0};
    struct tool_list words = {0};
    FILE *out = tool_checked(open_memstream(&key, size));
    if (!realpath(clang, real))
        snprintf(real, sizeof real, "%s", clang);
    char opencl[700];
    snprintf(opencl, sizeof opencl, "%s/ocml.bc", work->library);
    stat(real, &status);
    stat(opencl, &library);
    add_language(work, &words);
    add_options(work, &words);
    fprintf(out, "%s %lld %lld\n%s %lld\n%s\n%s\n", real, (long long)status.st_size,
            (long long)status.st_mtim.tv_sec, opencl, (long long)library.st_mtim.tv_sec, work->rocm,
            work->how->file);
    for (size_t i = 0; i < words.count; i++)
        fprintf(out, "%s\n", words.words[i]);
    const char *path = getenv("CPATH");
    fprintf(out, "%s\n", path ? path : "");
    fwrite(text, 1, text_size, out);
    fclose(out);
    tool_list_free(&words);
    return tool_checked(key);
}

/* Says what the compiler's failure is likely to mean. */
static void explain(const struct work *work, const char *messages)
{
    if (work->language == TOOL_HIP && !*work->rocm)
        fputs("wavemem: HIP's headers were not found in $ROCM_PATH, /opt/rocm and /usr: Debian has them in "
              "libamdhip64-dev\n",
              stderr);
    else if (strstr(messages, "unable to execute command") || strstr(messages, "ld.lld"))
        fprintf(stderr, "wavemem: clang links with ld.lld of its own version: Debian has it in lld-%u\n",
                work->version);
}

/* Compiles with `clang`; *entry gets the object and the messages. */
static int compile_with(struct work *work, const char *clang, struct tool_cache_entry *entry, const char *key,
                        size_t key_size)
{
    if (*work->library && !add_number(work, clang))
        return TOOL_WRONG;
    struct tool_list words = command_of(work, clang);
    const int code = run(words.words, temporary(work, LOG));
    tool_list_free(&words);
    entry->messages = read_text(work->path[LOG], NULL);
    if (!entry->messages)
        entry->messages = tool_checked(strdup(""));
    fputs(entry->messages, stderr);
    if (stopped)
        return TOOL_STOPPED;
    if (code != 0) {
        explain(work, entry->messages);
        return tool_fail("%s%s: %s failed", work->how->where, work->how->file, clang);
    }
    entry->bytes = (uint8_t *)read_text(work->path[OUTPUT], &entry->size);
    if (!entry->bytes)
        return tool_fail("%s%s: %s wrote no object", work->how->where, work->how->file, clang);
    char *files = work->language == TOOL_IR ? tool_checked(strdup("")) : read_text(work->path[FILES], NULL);
    if (files)
        tool_cache_keep(work->cache, key, key_size, files, entry);
    free(files);
    return TOOL_CLEAN;
}

/* Without a compiler: says how to compile elsewhere. */
static int no_compiler(struct work *work, bool unknown_target)
{
    const struct tool_open *how = work->how;
    const char *base = strrchr(how->file, '/');
    struct tool_list words = {0};
    base = base ? base + 1 : how->file;
    char output[400];
    snprintf(output, sizeof output, "%.*s-%.*s.co", (int)(strrchr(base, '.') - base), base,
             (int)strcspn(work->name, ":"), work->name);
    tool_list_add(&words, "clang");
    add_language(work, &words);
    add_options(work, &words);
    tool_list_add(&words, "%s", how->file);
    tool_list_add(&words, "-o");
    tool_list_add(&words, "%s", output);
    if (how->compile->clang)
        tool_fail("%s--clang %s: %s", how->where, how->compile->clang,
                  unknown_target ? "it does not compile for this target, or is no clang"
                                 : "there is no such program");
    else
        tool_fail("%s%s: no clang was found that compiles for %s (clang-19 to clang-22, or ROCm's; --clang "
                  "names another one)",
                  how->where, how->file, work->name);
    fputs("Where there is one with AMD's device library (Debian: clang-19 lld-19 rocm-device-libs), run\n  ",
          stderr);
    for (size_t i = 0; i < words.count; i++) {
        fputs(i ? " " : "", stderr);
        tool_print_word(stderr, words.words[i]);
    }
    fprintf(stderr, "\nand give the result to wavemem %s: %s\n", how->verb, output);
    tool_list_free(&words);
    return TOOL_WRONG;
}

static int make_folder(struct work *work)
{
    const char *base = getenv("TMPDIR");
    const int wrote =
        snprintf(work->folder, sizeof work->folder, "%s/wavemem-XXXXXX", base && *base ? base : "/tmp");
    if (wrote < 512 && mkdtemp(work->folder))
        return TOOL_CLEAN;
    work->folder[0] = 0;
    return tool_fail("%s%s: no folder for the compiler's files: %s", work->how->where, work->how->file,
                     strerror(errno));
}

int tool_compile_source(const struct tool_open *how, enum tool_language language, const char *target,
                        const char *text, size_t text_size, uint8_t **bytes, size_t *size)
{
    struct work work = {.how = how, .language = language, .wave = how->wave};
    struct tool_list compilers = {0};
    struct tool_cache_entry entry = {0};
    split_target(target, work.name, &work.wave);
    tool_find_compilers(how->compile->clang, &compilers);
    tool_find_device_library(work.library, work.looked, sizeof work.looked);
    tool_find_rocm(work.rocm);
    tool_cache_folder(work.cache);
    int code = TOOL_CLEAN;
    bool done = false;
    for (size_t i = 0; i < compilers.count && !done; i++) {
        size_t key_size;
        char *key = key_of(&work, compilers.words[i], text, text_size, &key_size);
        done = tool_cache_find(work.cache, key, key_size, &entry);
        free(key);
    }
    if (done)
        fputs(entry.messages, stderr);
    else if (compilers.count && !*work.library && language != TOOL_IR)
        code = tool_fail("%s%s: AMD's device library is not there (%s): install rocm-device-libs, or set "
                         "HIP_DEVICE_LIB_PATH to the folder of ocml.bc",
                         how->where, how->file, work.looked);
    else if (compilers.count)
        code = make_folder(&work);
    for (size_t i = 0; i < compilers.count && !done && code == TOOL_CLEAN; i++) {
        size_t key_size;
        if (!knows(&work, compilers.words[i]))
            continue;
        char *key = key_of(&work, compilers.words[i], text, text_size, &key_size);
        code = compile_with(&work, compilers.words[i], &entry, key, key_size);
        done = true;
        free(key);
    }
    finish(&work);
    if (stopped)
        raise(SIGINT);
    if (!done && code == TOOL_CLEAN)
        code = no_compiler(&work, compilers.count != 0);
    tool_list_free(&compilers);
    free(entry.messages);
    if (code != TOOL_CLEAN)
        free(entry.bytes);
    *bytes = code == TOOL_CLEAN ? entry.bytes : NULL;
    *size = entry.size;
    return code;
}
