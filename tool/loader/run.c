/* SPDX-License-Identifier: MIT */
/* Starts the kernels of a program, and serves them while they run. */
#include "tool/loader/loader.h"

#include "tool/tool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern char **environ;

enum {
    CLOCK_HZ = 100000000,       /* of s_memrealtime, as of the HSA library */
    PAUSE_NANOSECONDS = 100000, /* between two looks for requests */
};

/* A kernel that runs on a thread of its own. */
struct launch {
    struct loader_server *server;
    const struct wm_object *object;
    const struct wm_kernel *kernel;
    struct wm_dispatch dispatch;
    struct wm_result result;
    struct wm_diag diag;
    enum wm_status status;
};

static void *run_kernel(void *user)
{
    struct launch *launch = user;
    launch->status = wm_dispatch(launch->server->machine, launch->object, launch->kernel, &launch->dispatch,
                                 &launch->result, &launch->diag);
    launch->server->finished = true;
    return NULL;
}

/* Serves requests until the kernel has ended. Whatever it asked for before its end is served, too. */
static void serve(struct loader_server *server)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NANOSECONDS};
    struct loader_port port;
    for (uint32_t next = 0;;) {
        const bool finished = server->finished;
        if (!loader_open(server, next, &port)) {
            if (finished)
                return;
            nanosleep(&pause, NULL);
            continue;
        }
        if (!loader_serve(&port))
            loader_end(TOOL_INCOMPLETE); /* its client waits for the answer */
        loader_close(&port);
        next = (port.index + 1) % LOADER_PORTS;
        if (port.lost)
            return;
    }
}

static int run_one(struct loader_server *server, const struct loader_request *request, const char *name,
                   bool whole_grid, const void *arguments, size_t size)
{
    struct launch launch = {.server = server,
                            .object = request->object,
                            .dispatch = {.struct_size = sizeof launch.dispatch,
                                         .arguments = arguments,
                                         .arguments_size = size,
                                         .timeout = request->timeout,
                                         .waits_for_others = true},
                            .result = {.struct_size = sizeof launch.result}};
    pthread_t thread;
    for (unsigned i = 0; i < 3; i++) {
        launch.dispatch.workgroup[i] = whole_grid ? request->threads[i] : 1;
        launch.dispatch.grid[i] = whole_grid ? request->threads[i] * request->blocks[i] : 1;
    }
    if (wm_object_find_kernel(request->object, name, &launch.kernel, &launch.diag) != WM_OK)
        return tool_fail("loader: %s; expected a program with the kernels _begin, _start and _end",
                         launch.diag.message);
    server->finished = false;
    if (pthread_create(&thread, NULL, run_kernel, &launch))
        return tool_fail("loader: no thread for %s", name);
    serve(server);
    pthread_join(thread, NULL);
    fflush(stdout);
    if (launch.status != WM_OK)
        return tool_fail("loader: %s: %s", name, launch.diag.message);
    if (launch.result.fault.kind == WM_FAULT_NONE)
        return TOOL_CLEAN;
    fprintf(stderr, "error: %s\n", launch.result.fault.text);
    return TOOL_FAULT;
}

/* ---- what the program gets ---- */

static bool put(struct wm_machine *machine, const void *bytes, uint64_t size, const char *name,
                uint64_t *address, struct wm_diag *diag)
{
    return wm_allocate(machine, size, 0, name, address, diag) == WM_OK &&
           wm_write(machine, *address, bytes, size, diag) == WM_OK;
}

/* Copies strings and the array of pointers to them, which ends with a NULL. */
static bool put_strings(struct wm_machine *machine, char *const *strings, const char *name, uint64_t *address,
                        uint32_t *count, struct wm_diag *diag)
{
    for (*count = 0; strings[*count];)
        ++*count;
    uint64_t *pointers = calloc(*count + 1, sizeof *pointers);
    bool good = pointers;
    if (!good)
        snprintf(diag->message, sizeof diag->message, "out of memory");
    for (uint32_t i = 0; good && i < *count; i++)
        good = put(machine, strings[i], strlen(strings[i]) + 1, name, &pointers[i], diag);
    good = good && put(machine, pointers, (*count + 1) * sizeof *pointers, name, address, diag);
    free(pointers);
    return good;
}

/* Tells the program how fast its clock is, if it wants to know. */
static void set_clock(struct wm_machine *machine, const struct wm_object *object)
{
    static const uint64_t hz = CLOCK_HZ;
    uint64_t address, size;
    struct wm_diag diag;
    if (wm_symbol(machine, object, "__llvm_libc_clock_freq", &address, &size, &diag) == WM_OK &&
        size >= sizeof hz)
        wm_write(machine, address, &hz, sizeof hz, &diag);
}

static int run_all(struct loader_server *server, const struct loader_request *request)
{
    struct {
        uint32_t count, unused;
        uint64_t words, environment, result;
    } start = {0};
    struct wm_machine *machine = server->machine;
    struct wm_diag diag;
    const uint64_t zero = 0;
    uint32_t variables, value;
    if (!put_strings(machine, request->words, "argv", &start.words, &start.count, &diag) ||
        !put_strings(machine, environ, "envp", &start.environment, &variables, &diag) ||
        !put(machine, &zero, sizeof zero, "exit code", &start.result, &diag))
        return tool_fail("loader: %s", diag.message);
    int code = run_one(server, request, "_begin", false, &start, offsetof(__typeof__(start), result));
    if (code == TOOL_CLEAN)
        code = run_one(server, request, "_start", true, &start, sizeof start);
    if (code == TOOL_CLEAN && wm_read(machine, start.result, &value, sizeof value, &diag) != WM_OK)
        code = tool_fail("loader: %s", diag.message);
    if (code == TOOL_CLEAN)
        code = run_one(server, request, "_end", false, &value, sizeof value);
    return code == TOOL_CLEAN ? (int)(value & 0xff) : code;
}

int loader_run(const struct loader_request *request)
{
    struct wm_machine *machine = NULL;
    struct loader_server server;
    struct wm_diag diag;
    uint32_t lanes = 32;
    for (size_t i = 0; i < wm_object_kernel_count(request->object); i++)
        if (wm_object_kernel(request->object, i)->wave_size > lanes)
            lanes = wm_object_kernel(request->object, i)->wave_size;
    int code = TOOL_WRONG;
    if (wm_machine_create(wm_object_target(request->object), &machine, &diag) != WM_OK ||
        wm_load(machine, request->object, &diag) != WM_OK ||
        !loader_make_server(&server, machine, request->object, lanes, &diag)) {
        tool_fail("loader: %s", diag.message);
    } else {
        set_clock(machine, request->object);
        code = run_all(&server, request);
        for (unsigned i = 0; i < LOADER_FILES; i++)
            if (server.files[i])
                fclose(server.files[i]);
    }
    wm_machine_destroy(machine);
    return code;
}
