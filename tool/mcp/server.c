/* SPDX-License-Identifier: MIT */
/* Serves a client of the Model Context Protocol: one call of a tool at a time, in the order of requests. */
#include "tool/mcp/mcp.h"

#include "tool/interrupt.h"
#include "tool/text.h"
#include "tool/tool.h"
#include "wavemem/wavemem.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    WAITING_MOST = 64,          /* calls */
    PROGRESS_MILLISECONDS = 500 /* between two notifications */
};

/* The revisions of the protocol, the latest first. The one of 2025-03-26 has batches, which this server
 * lacks. */
static const char *const revisions[] = {"2025-11-25", "2025-06-18", "2024-11-05"};

static const char instructions[] =
    "Compiles, executes, checks and profiles GPU kernels of AMD (OpenCL C, HIP, assembly, LLVM IR, code "
    "objects) on the CPU; times are predictions. Give 'source' or 'file'; sizes and arguments that are "
    "missing are made up, and the answer says which. A usual order: compile, check until it is clean, prof, "
    "change what 'advice' says, compare.";

struct server {
    struct mcp_settings settings;
    struct mcp_lines lines;
    bool initialized, gone; /* gone: nobody reads what is sent */
    struct mcp_call *calls; /* the first one runs */
    struct mcp_process process;
    unsigned step; /* of the first call */
    int code;      /* the worst of its steps */
    double since, told;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void send_message(struct server *s, json_t *message)
{
    s->gone |= !mcp_send(STDOUT_FILENO, message);
}

/* ---- calls ---- */

static bool start_step(struct server *s)
{
    struct mcp_call *call = s->calls;
    char *out = mcp_path(call, "out", s->step), *err = mcp_path(call, "err", s->step);
    const bool good = mcp_start(&s->process, &s->settings, call->step[s->step].words, out, err);
    free(out);
    free(err);
    return good;
}

/* Removes the call from the list, without an answer. */
static void drop_call(struct server *s, struct mcp_call **place)
{
    struct mcp_call *call = *place;
    if (call == s->calls) {
        mcp_end(&s->process);
        s->step = 0;
        s->code = TOOL_CLEAN;
    }
    *place = call->next;
    mcp_free_call(call);
}

static void start_call(struct server *s)
{
    while (s->calls && !s->process.pid) {
        s->since = s->told = now();
        if (start_step(s))
            return;
        send_message(s, mcp_result(s->calls->id, mcp_failure("the command cannot be started")));
        drop_call(s, &s->calls);
    }
}

static void answer_call(struct server *s, int signal, const char *why)
{
    send_message(
        s, mcp_result(s->calls->id, mcp_answer(s->calls, &s->settings, s->step + 1, s->code, signal, why)));
    drop_call(s, &s->calls);
    start_call(s);
}

/* The process has ended: the next step, or the answer. */
static void end_step(struct server *s)
{
    const int status = mcp_end(&s->process);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    s->code = code > TOOL_INCOMPLETE ? TOOL_WRONG : tool_worse(s->code, code);
    const bool goes_on = WIFEXITED(status) && code != TOOL_WRONG && code != TOOL_FAULT &&
                         code <= TOOL_INCOMPLETE && s->step + 1 < s->calls->steps;
    if (!goes_on) {
        answer_call(s, WIFSIGNALED(status) ? WTERMSIG(status) : 0, NULL);
        return;
    }
    s->step++;
    if (!start_step(s))
        answer_call(s, 0, "the command cannot be started");
}

static void tell_progress(struct server *s)
{
    const double time = now();
    const struct mcp_call *call = s->calls;
    char text[100];
    if (!call->token || (time - s->told) * 1e3 < PROGRESS_MILLISECONDS)
        return;
    s->told = time;
    snprintf(text, sizeof text, "%s: %s, step %u of %u", mcp_tool_name(call->tool),
             call->step[s->step].words[0], s->step + 1, call->steps);
    send_message(s,
                 mcp_notification("notifications/progress",
                                  json_pack("{s:O, s:f, s:f, s:s}", "progressToken", call->token, "progress",
                                            time - s->since, "total", s->settings.seconds, "message", text)));
}

static void watch_call(struct server *s)
{
    char why[100];
    if (now() - s->since < s->settings.seconds) {
        tell_progress(s);
        return;
    }
    mcp_end(&s->process);
    snprintf(why, sizeof why, "stopped: it took longer than %g seconds (wavemem mcp --timeout)",
             s->settings.seconds);
    answer_call(s, 0, why);
}

/* The place of the call in the list; NULL: there is none. */
static struct mcp_call **find_call(struct server *s, const json_t *id)
{
    struct mcp_call **place = &s->calls;
    while (*place && !json_equal((*place)->id, id))
        place = &(*place)->next;
    return *place ? place : NULL;
}

/* ---- requests ---- */

static void refuse(struct server *s, const json_t *id, enum mcp_error code, const char *message)
{
    send_message(s, mcp_refusal(id, code, message));
}

static void initialize(struct server *s, const json_t *id, const json_t *parameters)
{
    const char *wanted = json_string_value(json_object_get(parameters, "protocolVersion"));
    const char *revision = revisions[0];
    if (!wanted) {
        refuse(s, id, MCP_BAD_PARAMETERS, "initialize: expected protocolVersion");
        return;
    }
    for (size_t i = 0; i < sizeof revisions / sizeof *revisions; i++)
        if (!strcmp(revisions[i], wanted))
            revision = revisions[i];
    s->initialized = true;
    send_message(s, mcp_result(id, json_pack("{s:s, s:{s:{}}, s:{s:s, s:s, s:s}, s:s}", "protocolVersion",
                                             revision, "capabilities", "tools", "serverInfo", "name",
                                             "wavemem", "title", "wavemem: AMD GPU kernels on a CPU",
                                             "version", wm_version(), "instructions", instructions)));
}

static void call_tool(struct server *s, const json_t *id, const json_t *parameters)
{
    const char *name = json_string_value(json_object_get(parameters, "name"));
    const struct mcp_tool *tool = name ? mcp_find_tool(name) : NULL;
    json_t *arguments = json_object_get(parameters, "arguments"),
           *token = json_object_get(json_object_get(parameters, "_meta"), "progressToken");
    struct mcp_call **last = &s->calls;
    size_t count = 0;
    char why[512] = "out of memory";
    if (!tool) {
        refuse(s, id, MCP_BAD_PARAMETERS, "tools/call: no such tool; tools/list names them");
        return;
    }
    if (arguments && !json_is_object(arguments)) {
        refuse(s, id, MCP_BAD_PARAMETERS, "tools/call: arguments: expected an object");
        return;
    }
    for (; *last; last = &(*last)->next)
        count++;
    if (count == WAITING_MOST) {
        send_message(s, mcp_result(id, mcp_failure("too many calls are waiting: try again later")));
        return;
    }
    struct mcp_call *call = tool_checked(calloc(1, sizeof *call));
    call->id = json_deep_copy(id);
    call->token = json_is_string(token) || json_is_integer(token) ? json_incref(token) : NULL;
    call->tool = tool;
    call->arguments = arguments ? json_incref(arguments) : json_object();
    if (!mcp_plan(call, &s->settings, why)) {
        send_message(s, mcp_result(id, mcp_failure(why)));
        mcp_free_call(call);
        return;
    }
    *last = call;
    start_call(s);
}

static void take_request(struct server *s, const char *method, const json_t *id, const json_t *parameters)
{
    if (find_call(s, id)) {
        refuse(s, id, MCP_INVALID, "a request with this id is being served");
    } else if (!strcmp(method, "ping")) {
        send_message(s, mcp_result(id, json_object()));
    } else if (!strcmp(method, "initialize")) {
        initialize(s, id, parameters);
    } else if (!s->initialized) {
        refuse(s, id, MCP_INVALID, "expected 'initialize' first");
    } else if (!strcmp(method, "tools/list")) {
        if (json_object_get(parameters, "cursor"))
            refuse(s, id, MCP_BAD_PARAMETERS, "tools/list: no such cursor: the list has one page");
        else
            send_message(s, mcp_result(id, json_pack("{s:o}", "tools", mcp_list_tools())));
    } else if (!strcmp(method, "tools/call")) {
        call_tool(s, id, parameters);
    } else {
        refuse(s, id, MCP_NO_METHOD, "no such method; this server has tools only");
    }
}

static void take_notification(struct server *s, const char *method, const json_t *parameters)
{
    struct mcp_call **place = find_call(s, json_object_get(parameters, "requestId"));
    if (strcmp(method, "notifications/cancelled") || !place)
        return;
    drop_call(s, place);
    start_call(s);
}

static void take_line(void *user, char *line, size_t size)
{
    struct server *s = user;
    json_error_t error;
    if (!line) {
        refuse(s, NULL, MCP_PARSE, "the message is longer than 16 MiB");
        return;
    }
    if (strspn(line, " \t\r") == size)
        return;
    json_t *message = json_loadb(line, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    const char *method = json_string_value(json_object_get(message, "method")),
               *version = json_string_value(json_object_get(message, "jsonrpc"));
    const json_t *id = json_object_get(message, "id"), *parameters = json_object_get(message, "params");
    const bool named = json_is_string(id) || json_is_integer(id);
    if (!message)
        refuse(s, NULL, MCP_PARSE, error.text);
    else if (!version || strcmp(version, "2.0") || (id && !named) ||
             (parameters && !json_is_object(parameters)))
        refuse(s, named ? id : NULL, MCP_INVALID, "expected one message of JSON-RPC 2.0");
    else if (method && id)
        take_request(s, method, id, parameters);
    else if (method)
        take_notification(s, method, parameters);
    else if (!json_object_get(message, "result") && !json_object_get(message, "error"))
        refuse(s, named ? id : NULL, MCP_INVALID, "expected a method");
    json_decref(message);
}

/* ---- the loop ---- */

static void serve(struct server *s)
{
    bool open = true;
    while (!s->gone && (open || s->calls) && !tool_interrupted()) {
        struct pollfd ready[] = {{.fd = open ? STDIN_FILENO : -1, .events = POLLIN},
                                 {.fd = s->process.pid ? s->process.alive : -1, .events = POLLIN}};
        if (poll(ready, 2, s->process.pid ? PROGRESS_MILLISECONDS / 5 : -1) < 0 && errno != EINTR)
            return;
        if (ready[1].revents && s->process.pid)
            end_step(s);
        if (ready[0].revents)
            open = mcp_read(&s->lines, STDIN_FILENO, take_line, s);
        if (s->process.pid)
            watch_call(s);
    }
}

int mcp_serve(const struct mcp_settings *settings)
{
    struct server s = {.settings = *settings};
    const char *temporary = getenv("TMPDIR");
    char *folder;
    if (asprintf(&folder, "%s/wavemem-mcp.XXXXXX", temporary && *temporary == '/' ? temporary : "/tmp") < 0)
        folder = NULL;
    if (!mkdtemp(tool_checked(folder))) {
        const int code = tool_fail("mcp: %s: %s", folder, strerror(errno));
        free(folder);
        return code;
    }
    s.settings.folder = folder;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* a caller's SIG_IGN would hide how commands end */
    tool_watch_interrupts();
    tool_watch_termination();
    serve(&s);
    while (s.calls)
        drop_call(&s, &s.calls);
    mcp_free_lines(&s.lines);
    mcp_remove_folder(folder);
    free(folder);
    return TOOL_CLEAN;
}
