/* SPDX-License-Identifier: MIT */
/* Kernels that a program launches as the dispatches of a session. It has one dispatch at a time: the program
 * cannot be set back. Breakpoints stay from launch to launch. */
#include "tool/debug/launch.h"

#include "tool/debug/dap.h"
#include "tool/debug/findings.h"
#include "tool/debug/prompt.h"
#include "tool/debug/remote.h"
#include "tool/debug/stops.h"
#include "tool/input.h"
#include "tool/interrupt.h"
#include "tool/tool.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A command of the command line, or of a file. */
struct line {
    const char *file; /* NULL: of the command line */
    unsigned number;
    char *text;
};

/* The only session of the process. */
static struct launches {
    pthread_mutex_t lock;
    struct debug_session session;
    struct tool_job job;
    struct tool_dispatch dispatch;
    struct tool_opened opened;
    struct wm_packet packet; /* that is debugged */
    struct wm_dispatch options;
    struct wm_check *check; /* of all launches; or NULL */
    struct line *lines;
    size_t line_count, next;
    size_t count; /* launches */
    bool begun, batch, all_memory;

    /* A client of GDB's or editors' protocol is served by a thread of its own, which sees the launches as
     * dispatches that follow one another. It and the program's threads take turns. */
    const char *port, *editor; /* GDB's, or an editor; both NULL: there is none, but the prompt */
    pthread_t server;
    pthread_mutex_t turn_lock;
    pthread_cond_t turn_changes;
    bool servers_turn, ended; /* ended: the program calls exit() */
    bool busy;                /* a thread of the program is in a launch */
    bool held; /* the client has interrupted the program between launches: the next one waits */
} launches = {.lock = PTHREAD_MUTEX_INITIALIZER,
              .turn_lock = PTHREAD_MUTEX_INITIALIZER,
              .turn_changes = PTHREAD_COND_INITIALIZER};

bool debug_is_wanted(void)
{
    return getenv(DEBUG_COMMANDS);
}

/* ---- commands ---- */

static bool add_line(const char *file, unsigned number, const char *text, struct wm_diag *diag)
{
    struct line *larger = realloc(launches.lines, (launches.line_count + 1) * sizeof *larger);
    launches.lines = larger ? larger : launches.lines;
    const struct line line = {file, number, strdup(text)};
    if (!larger || !line.text)
        return tool_because(diag, "out of memory");
    larger[launches.line_count++] = line;
    return true;
}

static bool add_file(const char *path, struct wm_diag *diag)
{
    uint8_t *bytes;
    size_t size;
    if (!tool_read_file(path, &bytes, &size, diag))
        return false;
    char *text = strndup((const char *)bytes, size);
    free(bytes);
    bool good = text || tool_because(diag, "out of memory");
    unsigned number = 1;
    for (char *line = text, *next; line && good; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        good = add_line(path, number, line, diag);
    }
    free(text);
    return good;
}

/* Reads the files of commands, and takes the commands of the command line. */
static bool read_commands(struct wm_diag *diag)
{
    const size_t count = strtoul(getenv(DEBUG_COMMANDS), NULL, 10);
    for (size_t i = 0; i < count; i++) {
        char name[48];
        snprintf(name, sizeof name, DEBUG_COMMAND, i);
        const char *command = getenv(name);
        if (command &&
            !(*command == 'x' ? add_file(command + 1, diag) : add_line(NULL, 0, command + 1, diag)))
            return false;
    }
    return true;
}

/* Carries out the commands that are left, up to one with which the program goes on. */
static bool run_lines(struct debug_session *s)
{
    while (launches.next < launches.line_count && !s->quits && !debug_has_left(s)) {
        const struct line *line = &launches.lines[launches.next++];
        struct wm_diag diag;
        if (s->traces && line->file && *line->text && *line->text != '#')
            tool_print(s->out, "+%s\n", line->text);
        if (debug_execute(s, line->text, &diag))
            continue;
        fflush(s->out);
        if (line->file)
            tool_fail("%.100s:%u: %s", line->file, line->number, diag.message);
        else
            tool_fail("%s", diag.message);
        launches.next = launches.line_count;
        return false;
    }
    return true;
}

/* Lets the user act until the program goes on. */
static void interact(struct debug_session *s, bool *wrong)
{
    const bool good = run_lines(s);
    if (debug_has_left(s) || s->quits)
        return;
    if (launches.batch) {
        *wrong |= !good;
        s->detached = true;
    } else if (!debug_prompt(s, isatty(STDIN_FILENO))) {
        s->quits = true;
    }
}

/* ---- the dispatches of a session ---- */

static bool prepare(struct debug_session *s, size_t index, struct wm_diag *diag)
{
    struct tool_prepared *prepared = &s->prepared[index];
    const struct wm_kernel *kernel = launches.dispatch.kernel;
    *prepared = (struct tool_prepared){.arguments = calloc(1, kernel->kernarg_size + 1)};
    if (!prepared->arguments)
        return tool_because(diag, "out of memory");
    struct wm_diag ignored; /* a shader has no kernarg segment */
    wm_read(s->machine, launches.packet.kernarg_address, prepared->arguments, kernel->kernarg_size, &ignored);
    return true;
}

static void release(struct debug_session *s, size_t index)
{
    free(s->prepared[index].arguments);
}

static bool begin(struct debug_session *s, size_t index, struct wm_diag *diag)
{
    (void)index;
    return wm_run_begin_packet(s->machine, &launches.packet, &s->run, diag) == WM_OK;
}

/* What the kernel prints while it is only checked. */
static void drop_text(void *user, const char *text, size_t length)
{
    (void)user, (void)text, (void)length;
}

static bool run_checked(void *check, const struct wm_observer *observer, struct wm_diag *diag)
{
    struct wm_result result = {.struct_size = sizeof result};
    struct wm_dispatch options = launches.packet.options
                                     ? *launches.packet.options
                                     : (struct wm_dispatch){.struct_size = sizeof options};
    struct wm_packet packet = launches.packet;
    options.check = check;
    options.observers = &observer;
    options.observer_count = 1;
    options.threads = 1;
    options.on_violation = WM_VIOLATION_GOES_ON; /* as `wavemem check' */
    options.print = drop_text;
    packet.options = &options;
    packet.result = &result;
    return wm_dispatch_packet(launches.session.machine, &packet, diag) == WM_OK;
}

/* On the program's machine. What the program has written before is not known to the check. */
static bool check(struct debug_session *s, struct wm_check *check, struct wm_machine **machine,
                  struct wm_diag *diag)
{
    *machine = NULL;
    return debug_run_apart(s, run_checked, check, diag);
}

static uint32_t last_launch(struct wm_check *check)
{
    size_t count;
    const struct wm_finding *findings = wm_check_findings(check, &count);
    uint32_t last = 0;
    for (size_t i = 0; i < count; i++)
        last = findings[i].launch > last ? findings[i].launch : last;
    return last;
}

/* Checks the launch, and goes to what is found for the first time. Findings of later launches have larger
 * numbers. */
static bool check_launch(struct debug_session *s, bool *found, struct wm_diag *diag)
{
    struct wm_check *all = launches.check;
    const uint32_t before = all ? last_launch(all) : 0;
    *found = false;
    return !all ||
           (debug_run_apart(s, run_checked, all, diag) && debug_show_findings(s, all, before, found, diag));
}

static int use_results(struct debug_session *s, const struct wm_result *result)
{
    (void)s, (void)result;
    return TOOL_CLEAN;
}

static bool restores(const struct wm_allocation *allocation)
{
    return launches.all_memory || !allocation->is_host;
}

/* ---- clients of protocols ---- */

static bool has_client(void)
{
    return launches.port || launches.editor;
}

/* Gives the turn away, and waits until it is back, or the program ends. */
static void give_turn(bool to_server)
{
    pthread_mutex_lock(&launches.turn_lock);
    launches.servers_turn = to_server;
    pthread_cond_broadcast(&launches.turn_changes);
    while (launches.servers_turn == to_server && !(launches.ended && !to_server))
        pthread_cond_wait(&launches.turn_changes, &launches.turn_lock);
    pthread_mutex_unlock(&launches.turn_lock);
}

/* Lets the program go on, and waits for its next launch, its end, or until the client interrupts it. The
 * program itself cannot be stopped, but its next launch waits then. */
static void await_launch(struct debug_session *s)
{
    enum { LOOK_NANOSECONDS = 20000000 };
    pthread_mutex_lock(&launches.turn_lock);
    launches.servers_turn = launches.held = false;
    pthread_cond_broadcast(&launches.turn_changes);
    while (!launches.servers_turn && !launches.ended && !launches.held) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_NANOSECONDS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&launches.turn_changes, &launches.turn_lock, &until);
        launches.held =
            !launches.servers_turn && !launches.ended && !launches.busy && s->interrupts(s->interrupts_user);
    }
    s->between = launches.held;
    pthread_mutex_unlock(&launches.turn_lock);
}

static bool next_launch(struct debug_session *s, bool *last, struct wm_diag *diag)
{
    await_launch(s);
    *last = launches.ended;
    if (s->between)
        return tool_because(diag, "The program is between launches.");
    return !*last && debug_begin_launch(s, diag) && (debug_relocate(s), true);
}

/* Waits while the client holds the program. */
static void enter_launch(void)
{
    pthread_mutex_lock(&launches.turn_lock);
    while (launches.held)
        pthread_cond_wait(&launches.turn_changes, &launches.turn_lock);
    launches.busy = true;
    pthread_mutex_unlock(&launches.turn_lock);
}

static void leave_launch(void)
{
    pthread_mutex_lock(&launches.turn_lock);
    launches.busy = false;
    pthread_mutex_unlock(&launches.turn_lock);
}

static void *serve(void *session)
{
    struct debug_session *s = session;
    sigset_t pipe; /* a client that is gone is no reason for the program to end */
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    if (launches.editor)
        debug_adapt_launches(s, launches.editor);
    else
        debug_serve(s, launches.port);
    if (s->quits && !launches.ended)
        _exit(TOOL_CLEAN);
    s->detached = true;
    pthread_mutex_lock(&launches.turn_lock);
    launches.servers_turn = launches.held = false;
    pthread_cond_broadcast(&launches.turn_changes);
    pthread_mutex_unlock(&launches.turn_lock);
    return NULL;
}

/* Tells the client that the program ends, and waits until it has gone. */
static void end_serving(void)
{
    pthread_mutex_lock(&launches.turn_lock);
    launches.ended = true;
    pthread_cond_broadcast(&launches.turn_changes);
    pthread_mutex_unlock(&launches.turn_lock);
    pthread_join(launches.server, NULL);
}

/* Lets the client act until it lets the kernel end. */
static bool let_client_act(struct debug_session *s, struct wm_diag *diag)
{
    if (launches.count > 1)
        give_turn(true);
    else if (!debug_begin_launch(s, diag))
        return false;
    else {
        launches.servers_turn = true;
        if (pthread_create(&launches.server, NULL, serve, s) || atexit(end_serving))
            return tool_because(diag, "a thread for the client cannot be created");
        give_turn(true);
    }
    return true;
}

/* ---- Ctrl-C between launches ---- */

/* The prompt while the program is in code of its own, which goes on. */
static void prompt_between(struct debug_session *s)
{
    fprintf(s->out,
            "\n[The program is between launches and goes on meanwhile; its next launch waits for you.]\n");
    s->leaves = false;
    s->between = true;
    if (!debug_prompt(s, isatty(STDIN_FILENO)))
        s->quits = true;
    s->between = false;
    fflush(s->out);
    if (s->quits)
        _exit(TOOL_CLEAN);
}

/* A launch that is executed takes interrupts itself. After `detach', Ctrl-C ends the program as ever. */
static void *watch(void *session)
{
    enum { LOOK_MICROSECONDS = 10000 };
    struct debug_session *s = session;
    for (;;) {
        tool_await_interrupt();
        while (tool_interrupted()) {
            if (pthread_mutex_trylock(&launches.lock)) {
                usleep(LOOK_MICROSECONDS);
                continue;
            }
            if (tool_take_interrupt(NULL)) {
                if (s->detached) {
                    tool_leave_interrupts();
                    kill(getpid(), SIGINT); /* this thread blocks it */
                } else {
                    prompt_between(s);
                }
            }
            pthread_mutex_unlock(&launches.lock);
        }
    }
    return NULL;
}

static void catch_interrupts(struct debug_session *s)
{
    struct sigaction before;
    pthread_t thread;
    sigset_t all, old;
    if (launches.batch || has_client() || sigaction(SIGINT, NULL, &before) || before.sa_handler != SIG_DFL)
        return;
    tool_catch_interrupts();
    sigfillset(&all); /* signals go to the program's threads */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (!pthread_create(&thread, NULL, watch, s))
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* ---- launches ---- */

static bool begin_session(struct debug_session *s, struct wm_machine *machine, struct wm_diag *diag)
{
    static struct debug_source source = {.prepare = prepare,
                                         .release = release,
                                         .begin = begin,
                                         .check = check,
                                         .use_results = use_results,
                                         .launches = true,
                                         .restores = restores};
    launches.port = getenv(DEBUG_GDB);
    launches.editor = getenv(DEBUG_DAP);
    source.next = has_client() ? next_launch : NULL;
    launches.opened.file = "code object";
    launches.dispatch.where = (char *)(uintptr_t)"";
    launches.job = (struct tool_job){
        .dispatches = &launches.dispatch, .count = 1, .opened = &launches.opened, .opened_count = 1};
    launches.batch = getenv(DEBUG_BATCH);
    if (!debug_session_begin(s, &source, &launches.job, machine, diag) || !read_commands(diag))
        return false;
    s->out = stderr; /* standard output is the program's */
    s->interrupts = tool_take_interrupt;
    catch_interrupts(s);
    return launches.begun = true;
}

static bool take_packet(struct debug_session *s, struct wm_machine *machine, const struct wm_packet *packet,
                        struct wm_diag *diag)
{
    struct tool_dispatch *d = &launches.dispatch;
    debug_forget(s);
    s->machine = machine;
    s->before = launches.count++;
    s->leaves = false;
    if (wm_packet_kernel(machine, packet, &d->object, &d->kernel, &s->bias, diag) != WM_OK)
        return false;
    launches.opened.object = (struct wm_object *)(uintptr_t)d->object; /* closed by its owner */
    launches.packet = *packet;
    launches.packet.completion_signal = 0; /* the dispatch may be repeated */
    launches.packet.completed = NULL;
    launches.packet.result = NULL;
    launches.check = NULL;
    if (packet->options) {
        launches.options = *packet->options;
        launches.check = launches.options.check;
        launches.options.check = NULL;
        launches.options.progress = NULL; /* no bar within the prompt */
        launches.packet.options = &launches.options;
    }
    memcpy(d->grid, packet->grid, sizeof d->grid);
    memcpy(d->workgroup, packet->workgroup, sizeof d->workgroup);
    d->formal = d->kernel->arguments;
    d->formals = 0;
    while (d->formals < d->kernel->argument_count && d->formal[d->formals].kind != WM_ARGUMENT_HIDDEN)
        d->formals++;
    return true;
}

/* Runs to the first stop of the launch; of the first launch, before its first instruction. With a check, to
 * what it finds, if there is something. */
static bool enter(struct debug_session *s, struct wm_diag *diag)
{
    struct debug_event event = {.kind = DEBUG_EVENT_STEP};
    bool found;
    if (!debug_begin_launch(s, diag))
        return false;
    debug_relocate(s);
    if (!check_launch(s, &found, diag) || (launches.count > 1 && !found && !debug_run_on(s, &event, diag)))
        return false;
    if (launches.count == 1 || !debug_has_left(s)) {
        tool_print(s->out, "[Kernel %s, dispatch %zu]\n", launches.dispatch.kernel->source_name,
                   debug_dispatch_number(s, 0));
        debug_print_event(s, &event, NULL);
    }
    return true;
}

/* Lets the kernel end. */
static bool leave(struct debug_session *s, struct wm_diag *diag)
{
    const struct debug_goal none = {0};
    struct wm_stopped stopped;
    while (s->state == DEBUG_STOPPED)
        if (!debug_advance(s, &none, &stopped, diag))
            return false;
    return true;
}

static enum wm_status run(struct wm_machine *machine, const struct wm_packet *packet, bool *wrong,
                          struct wm_diag *diag)
{
    struct debug_session *s = &launches.session;
    if (!launches.begun && !begin_session(s, machine, diag)) {
        tool_fail("%s", diag->message);
        *wrong = true;
        s->detached = true;
    }
    if (s->detached)
        return wm_dispatch_packet(machine, packet, diag);
    if (!take_packet(s, machine, packet, diag) ||
        !(has_client() ? let_client_act(s, diag) : enter(s, diag))) {
        debug_forget(s);
        return wm_dispatch_packet(machine, packet, diag); /* it says why it cannot run */
    }
    if (!has_client())
        interact(s, wrong);
    fflush(s->out);
    if (s->quits)
        _exit(TOOL_CLEAN);
    if (!leave(s, diag))
        return WM_NO_MEMORY;
    if (packet->result)
        *packet->result = s->result;
    return WM_OK;
}

enum wm_status debug_packet(struct wm_machine *machine, const struct wm_packet *packet, bool all_memory,
                            bool *wrong, struct wm_diag *diag)
{
    *wrong = false;
    pthread_mutex_lock(&launches.lock);
    launches.all_memory = all_memory;
    enter_launch();
    const enum wm_status status = run(machine, packet, wrong, diag);
    leave_launch();
    pthread_mutex_unlock(&launches.lock);
    return status;
}
