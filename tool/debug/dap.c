/* SPDX-License-Identifier: MIT */
/* The Debug Adapter Protocol, as a front end of the session. A thread is a wave, as in remote.c.
 *
 * Source: Debug Adapter Protocol 1.65, microsoft.github.io/debug-adapter-protocol. */
#include "tool/debug/dap.h"

#include "tool/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static int64_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* ---- stops ---- */

static void say(struct debug_adapter *a, const char *category, const char *text)
{
    json_t *shown = tool_json_text(text);
    debug_dap_event(a, "output", json_pack("{s:s, s:o}", "category", category, "output", shown));
}

static void send_stopped(struct debug_adapter *a, const char *reason, const char *text, unsigned breakpoint)
{
    const struct debug_session *s = a->session;
    json_t *body = json_pack("{s:s, s:I, s:b}", "reason", reason, "threadId",
                             s->between ? DEBUG_PROGRAM_THREAD : (json_int_t)debug_dap_thread(s, &s->wave),
                             "allThreadsStopped", 1);
    debug_dap_forget_references(a);
    if (text)
        json_object_set_new(body, "text", tool_json_text(text));
    if (breakpoint)
        json_object_set_new(body, "hitBreakpointIds", json_pack("[i]", breakpoint));
    debug_dap_event(a, "stopped", body);
}

static void send_end(struct debug_adapter *a)
{
    struct debug_session *s = a->session;
    struct wm_diag diag;
    if (s->fault.kind != WM_FAULT_NONE) {
        say(a, "stderr", s->fault.text);
        say(a, "stderr", "\n");
    }
    if (a->stops_at_end && s->now && debug_go_to(s, (struct debug_time){s->dispatch, s->now - 1}, &diag)) {
        send_stopped(a, "pause", "The kernel has ended: this is its last instruction", 0);
        return;
    }
    debug_dap_event(a, "exited", json_pack("{s:i}", "exitCode", s->code));
    debug_dap_event(a, "terminated", NULL);
}

/* Says what a move ended with. */
static void send_event(struct debug_adapter *a, const struct debug_event *event)
{
    static const char *const reasons[] = {
        [DEBUG_EVENT_STEP] = "step",
        [DEBUG_EVENT_BREAKPOINT] = "breakpoint",
        [DEBUG_EVENT_WATCHPOINT] = "data breakpoint",
        [DEBUG_EVENT_FAULT] = "exception",
        [DEBUG_EVENT_DEADLOCK] = "exception",
        [DEBUG_EVENT_WAVE_END] = "step",
        [DEBUG_EVENT_END] = "step",
        [DEBUG_EVENT_BEGINNING] = "step",
        [DEBUG_EVENT_INTERRUPTED] = "pause",
    };
    const struct debug_session *s = a->session;
    char text[DEBUG_TEXT], was[DEBUG_SCALAR], is[DEBUG_SCALAR];
    const char *shown = NULL;
    if (s->between) {
        send_stopped(a, "pause",
                     "The program is between launches and goes on meanwhile; its next launch waits", 0);
        return;
    }
    if (s->state != DEBUG_STOPPED) {
        send_end(a);
        return;
    }
    if (event->kind == DEBUG_EVENT_WATCHPOINT) {
        snprintf(text, sizeof text, "%s -> %s", debug_scalar(&event->change.was, 0, was),
                 debug_scalar(&event->change.is, 0, is));
        shown = text;
    } else if (event->kind == DEBUG_EVENT_FAULT) {
        shown = "The wave has faulted";
    } else if (event->kind == DEBUG_EVENT_DEADLOCK) {
        shown = s->fault.text;
    } else if (event->kind == DEBUG_EVENT_BEGINNING) {
        shown = "No more reverse-execution history";
    } else if (event->kind == DEBUG_EVENT_WAVE_END) {
        shown = "The wave has ended";
    }
    send_stopped(a, reasons[event->kind], shown, event->number);
}

/* ---- launch ---- */

static bool add_word(struct debug_adapter *a, const char *word)
{
    char **larger = realloc(a->words, (a->word_count + 2) * sizeof *larger);
    if (!larger)
        return false;
    a->words = larger;
    larger[a->word_count] = strdup(word);
    larger[a->word_count + 1] = NULL;
    return larger[a->word_count++];
}

/* "4096" or [64, 64] as the value of an option. */
static bool add_extent(struct debug_adapter *a, const char *option, const json_t *extent)
{
    char text[128] = "";
    size_t i;
    json_t *one;
    if (json_is_string(extent))
        snprintf(text, sizeof text, "%s", json_string_value(extent));
    else if (json_is_integer(extent))
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(extent));
    json_array_foreach(extent, i, one)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%" JSON_INTEGER_FORMAT, i ? "," : "",
                 json_integer_value(one));
    return add_word(a, option) && add_word(a, text);
}

static bool add_arguments(struct debug_adapter *a, const json_t *arguments)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)arguments, name, value)
    {
        char text[4096];
        if (json_is_string(value))
            snprintf(text, sizeof text, "%s=%s", name, json_string_value(value));
        else if (json_is_integer(value))
            snprintf(text, sizeof text, "%s=%" JSON_INTEGER_FORMAT, name, json_integer_value(value));
        else
            snprintf(text, sizeof text, "%s=%.17g", name, json_number_value(value));
        if (!add_word(a, "--arg") || !add_word(a, text))
            return false;
    }
    return true;
}

/* The command line of `debug' that the request stands for. */
static bool make_words(struct debug_adapter *a, const json_t *launch)
{
    static const struct {
        const char *key, *option;
    } texts[] = {{"kernel", "--kernel"}, {"target", "--target"}};
    const char *program = text_of(launch, "program");
    size_t i;
    json_t *word;
    bool good = !program || add_word(a, program);
    for (size_t t = 0; t < 2 && good; t++)
        if (text_of(launch, texts[t].key))
            good = add_word(a, texts[t].option) && add_word(a, text_of(launch, texts[t].key));
    if (good && json_object_get(launch, "grid"))
        good = add_extent(a, "--grid", json_object_get(launch, "grid"));
    if (good && json_object_get(launch, "workgroup"))
        good = add_extent(a, "--workgroup", json_object_get(launch, "workgroup"));
    good = good && add_arguments(a, json_object_get(launch, "arguments"));
    json_array_foreach(json_object_get(launch, "args"), i, word) good =
        good && json_is_string(word) && add_word(a, json_string_value(word));
    return good;
}

/* Keeps what else comes for later. */
static bool is_interrupted(void *user)
{
    struct debug_adapter *a = user;
    while (debug_dap_waiting(a)) {
        json_t *request = debug_dap_read(a);
        const char *command = text_of(request, "command");
        const bool stops = !command || !strcmp(command, "pause") || !strcmp(command, "disconnect") ||
                           !strcmp(command, "terminate");
        if (request)
            json_array_append_new(a->pending ? a->pending : (a->pending = json_array()), request);
        if (stops)
            return true;
    }
    return false;
}

/* Parses and checks the job; what the parts of the command say goes to *messages, which the caller frees. */
static bool open_job(struct debug_adapter *a, char **messages)
{
    size_t size;
    FILE *before = stderr, *kept = open_memstream(messages, &size);
    if (kept)
        stderr = kept;
    const bool good = tool_job_parse(&a->job, "debug", (int)a->word_count, a->words) == TOOL_CLEAN &&
                      !a->job.help && tool_job_check(&a->job) == TOOL_CLEAN;
    stderr = before;
    if (kept)
        fclose(kept);
    return good;
}

/* Turns the process into `exec --debug', whose program serves the client from its first launch on. Returns if
 * that is impossible. */
static void execute_program(struct debug_adapter *a, const json_t *request, const json_t *arguments)
{
    char *client = NULL;
    size_t i;
    json_t *word;
    const char *program = text_of(arguments, "program");
    if (program && strchr(program, '/') && access(program, X_OK)) {
        char why[DEBUG_TEXT];
        snprintf(why, sizeof why, "%.300s: %s", program, strerror(errno));
        debug_dap_refuse(a, request, why);
        return;
    }
    const int in = dup(a->in), nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool good = add_word(a, "wavemem") && add_word(a, "exec") && add_word(a, "--debug") && program &&
                add_word(a, program);
    json_array_foreach(json_object_get(arguments, "args"), i, word) good =
        good && json_is_string(word) && add_word(a, json_string_value(word));
    good = good && in >= 0 && nothing >= 0 &&
           asprintf(&client, "%d %d %lld %lld %d", in, a->out, (long long)a->sequence,
                    (long long)number_of(request, "seq"),
                    json_is_true(json_object_get(arguments, "stopOnEntry"))) >= 0 &&
           !setenv(DEBUG_DAP, client, 1) && dup2(nothing, STDIN_FILENO) >= 0;
    free(client);
    if (good)
        execv("/proc/self/exe", a->words);
    debug_dap_refuse(a, request, "launch: expected program and args, words of the program's command line");
}

static void launch(struct debug_adapter *a, const json_t *request, const json_t *arguments)
{
    struct wm_diag diag = {.message = "out of memory"};
    char *messages = NULL;
    const char *folder = text_of(arguments, "cwd");
    if (a->begun || a->word_count) {
        debug_dap_refuse(a, request, "launch: the kernel has been launched already");
        return;
    }
    if (folder && chdir(folder)) {
        debug_dap_refuse(a, request, "launch: cwd is no folder");
        return;
    }
    if (json_is_true(json_object_get(arguments, "exec"))) {
        execute_program(a, request, arguments);
        return;
    }
    if (!make_words(a, arguments) || !open_job(a, &messages)) {
        debug_dap_refuse(a, request,
                         messages && *messages ? messages
                                               : "launch: expected program, kernel, grid, "
                                                 "workgroup, arguments, args");
        free(messages);
        tool_job_free(&a->job);
        a->job = (struct tool_job){0};
        for (size_t i = 0; i < a->word_count; i++)
            free(a->words[i]);
        a->word_count = 0;
        return;
    }
    free(messages);
    a->session = &a->own;
    a->begun = debug_job_begin(a->session, &a->job, &diag);
    a->session->out = stderr;
    a->session->interrupts = is_interrupted;
    a->session->interrupts_user = a;
    if (!a->begun || !debug_restart(a->session, &diag)) {
        debug_dap_refuse(a, request, diag.message);
        return;
    }
    a->stops_on_entry = json_is_true(json_object_get(arguments, "stopOnEntry"));
    a->stops_at_end = json_is_true(json_object_get(arguments, "stopAtEnd"));
    debug_dap_respond(a, request, NULL);
    debug_dap_event(a, "initialized", NULL);
}

static void initialize(struct debug_adapter *a, const json_t *request, const json_t *arguments)
{
    static const char *const able[] = {"supportsConfigurationDoneRequest",
                                       "supportsFunctionBreakpoints",
                                       "supportsConditionalBreakpoints",
                                       "supportsHitConditionalBreakpoints",
                                       "supportsEvaluateForHovers",
                                       "supportsStepBack",
                                       "supportsSetVariable",
                                       "supportsSetExpression",
                                       "supportsDisassembleRequest",
                                       "supportsReadMemoryRequest",
                                       "supportsWriteMemoryRequest",
                                       "supportsSteppingGranularity",
                                       "supportsInstructionBreakpoints",
                                       "supportsDataBreakpoints",
                                       "supportsDataBreakpointBytes",
                                       "supportsTerminateRequest",
                                       "supportsExceptionInfoRequest"};
    json_t *body = json_object();
    (void)arguments;
    for (size_t i = 0; i < sizeof able / sizeof *able; i++)
        json_object_set_new(body, able[i], json_true());
    debug_dap_respond(a, request, body);
}

/* ---- breakpoints ---- */

/* Removes the breakpoints that a kind of request has set, for one source; they are named so. */
static void remove_breakpoints(struct debug_adapter *a, const char *name)
{
    struct debug_session *s = a->session;
    const size_t length = strlen(name);
    for (size_t i = s->breakpoint_count; i-- > 0;)
        if (!strncmp(s->breakpoints[i].what, name, length))
            debug_delete(s, s->breakpoints[i].number);
}

/* Names the breakpoint `number` and describes it; number 0: it was not set, see diag. */
static json_t *describe(struct debug_adapter *a, unsigned number, const char *name, const json_t *wanted,
                        const struct wm_diag *diag)
{
    struct debug_session *s = a->session;
    struct debug_breakpoint *b = debug_breakpoint(s, number);
    json_t *object = json_pack("{s:b}", "verified", number != 0);
    if (!b) {
        json_object_set_new(object, "message", tool_json_text(diag->message));
        return object;
    }
    char *copy = strdup(name);
    if (copy) {
        free(b->what);
        b->what = copy;
    }
    const char *hits = text_of(wanted, "hitCondition");
    b->ignore = hits && strtoull(hits, NULL, 10) > 1 ? strtoull(hits, NULL, 10) - 1 : 0;
    json_object_set_new(object, "id", json_integer(number));
    if (b->address_count) {
        const struct debug_place place = debug_place_of(s, b->addresses[0]);
        if (place.file)
            json_object_set_new(object, "line", json_integer(place.line));
        json_object_set_new(object, "instructionReference", json_sprintf("0x%" PRIx64, b->addresses[0]));
    }
    return object;
}

static json_t *set_breakpoints(struct debug_adapter *a, const json_t *arguments, struct wm_diag *diag)
{
    const json_t *source = json_object_get(arguments, "source");
    const char *path = text_of(source, "path") ? text_of(source, "path") : text_of(source, "name");
    char name[1024], location[1200];
    size_t i;
    json_t *wanted, *list = json_array();
    (void)diag;
    snprintf(name, sizeof name, "dap-source %s:", path ? path : "");
    remove_breakpoints(a, name);
    json_array_foreach(json_object_get(arguments, "breakpoints"), i, wanted)
    {
        struct wm_diag why = {.message = ""};
        snprintf(location, sizeof location, "%.1000s:%" PRId64, path ? path : "", number_of(wanted, "line"));
        const unsigned number = debug_break(a->session, location, text_of(wanted, "condition"), false, &why);
        json_array_append_new(list, describe(a, number, name, wanted, &why));
    }
    return json_pack("{s:o}", "breakpoints", list);
}

static json_t *set_function_breakpoints(struct debug_adapter *a, const json_t *arguments,
                                        struct wm_diag *diag)
{
    size_t i;
    json_t *wanted, *list = json_array();
    (void)diag;
    remove_breakpoints(a, "dap-function");
    json_array_foreach(json_object_get(arguments, "breakpoints"), i, wanted)
    {
        struct wm_diag why = {.message = ""};
        const char *function = text_of(wanted, "name");
        const unsigned number =
            debug_break(a->session, function ? function : "", text_of(wanted, "condition"), false, &why);
        json_array_append_new(list, describe(a, number, "dap-function", wanted, &why));
    }
    return json_pack("{s:o}", "breakpoints", list);
}

static json_t *set_instruction_breakpoints(struct debug_adapter *a, const json_t *arguments,
                                           struct wm_diag *diag)
{
    size_t i;
    json_t *wanted, *list = json_array();
    (void)diag;
    remove_breakpoints(a, "dap-instruction");
    json_array_foreach(json_object_get(arguments, "breakpoints"), i, wanted)
    {
        struct wm_diag why = {.message = ""};
        const char *reference = text_of(wanted, "instructionReference");
        char location[96];
        snprintf(location, sizeof location, "*%.60s + %" PRId64, reference ? reference : "",
                 number_of(wanted, "offset"));
        const unsigned number = debug_break(a->session, location, text_of(wanted, "condition"), false, &why);
        json_array_append_new(list, describe(a, number, "dap-instruction", wanted, &why));
    }
    return json_pack("{s:o}", "breakpoints", list);
}

static json_t *data_breakpoint_info(struct debug_adapter *a, const json_t *arguments, struct wm_diag *diag)
{
    const char *name = text_of(arguments, "name");
    const int64_t reference = number_of(arguments, "variablesReference");
    struct debug_value value;
    char expression[DEBUG_TEXT];
    (void)diag;
    const char *around = reference > 0 && (uint64_t)reference <= a->reference_count
                             ? a->references[reference - 1].expression
                             : NULL;
    if (around)
        snprintf(expression, sizeof expression, "(%.400s)%.60s", around, name ? name : "");
    else
        snprintf(expression, sizeof expression, "%.500s", name ? name : "");
    struct wm_diag why;
    if (!debug_evaluate(a->session, expression, a->session->lane, &value, &why))
        return json_pack("{s:n, s:s}", "dataId", "description", why.message);
    return json_pack("{s:s, s:s, s:[s,s,s]}", "dataId", expression, "description", expression, "accessTypes",
                     "read", "write", "readWrite");
}

static json_t *set_data_breakpoints(struct debug_adapter *a, const json_t *arguments, struct wm_diag *diag)
{
    size_t i;
    json_t *wanted, *list = json_array();
    (void)diag;
    remove_breakpoints(a, "dap-data");
    json_array_foreach(json_object_get(arguments, "breakpoints"), i, wanted)
    {
        struct wm_diag why = {.message = ""};
        const char *id = text_of(wanted, "dataId"), *access = text_of(wanted, "accessType");
        const bool reads = access && !strncmp(access, "read", 4),
                   writes = !reads || !strcmp(access, "readWrite");
        const unsigned number =
            debug_watch(a->session, id ? id : "", text_of(wanted, "condition"), reads, writes, &why);
        json_array_append_new(list, describe(a, number, "dap-data", wanted, &why));
    }
    return json_pack("{s:o}", "breakpoints", list);
}

/* ---- moving ---- */

static void begin_to_run(struct debug_adapter *a)
{
    struct debug_event event;
    struct wm_diag diag;
    if (a->stops_on_entry)
        send_stopped(a, "entry", NULL, 0);
    else if (a->session->source->launches ? debug_run_on(a->session, &event, &diag)
                                          : debug_run(a->session, &event, &diag))
        send_event(a, &event);
    else
        say(a, "stderr", diag.message);
}

/* Steps, or continues; the answer comes before it. */
static void move(struct debug_adapter *a, const json_t *request, const json_t *arguments)
{
    static const struct {
        const char *command;
        bool steps, backwards;
        enum debug_step lines, instructions;
    } moves[] = {{"continue", false, false, 0, 0},
                 {"reverseContinue", false, true, 0, 0},
                 {"next", true, false, DEBUG_NEXT_LINE, DEBUG_NEXT_INSTRUCTION},
                 {"stepIn", true, false, DEBUG_STEP_LINE, DEBUG_STEP_INSTRUCTION},
                 {"stepOut", true, false, DEBUG_FINISH, DEBUG_FINISH},
                 {"stepBack", true, true, DEBUG_NEXT_LINE, DEBUG_STEP_INSTRUCTION}};
    struct debug_session *s = a->session;
    struct debug_event event = {.kind = DEBUG_EVENT_STEP};
    struct wm_diag diag;
    size_t i = 0;
    while (strcmp(moves[i].command, text_of(request, "command")))
        i++;
    const int64_t thread = number_of(arguments, "threadId");
    const bool goes_on = s->between && !moves[i].backwards; /* any step goes to the next launch */
    if (!goes_on &&
        (!debug_need_wave(s, &diag) || (thread && !debug_dap_select_thread(a, (uint64_t)thread, &diag)))) {
        debug_dap_refuse(a, request, diag.message);
        return;
    }
    debug_dap_respond(a, request, i < 2 ? json_pack("{s:b}", "allThreadsContinued", 1) : NULL);
    const char *granularity = text_of(arguments, "granularity");
    const bool instruction = granularity && !strcmp(granularity, "instruction");
    bool good = moves[i].steps && !goes_on
                    ? debug_step(s, instruction ? moves[i].instructions : moves[i].lines, moves[i].backwards,
                                 &event, &diag)
                    : debug_continue(s, moves[i].backwards, &event, &diag);
    if (!good && moves[i].lines == DEBUG_FINISH) /* out of the kernel: to its end */
        good = debug_continue(s, false, &event, &diag);
    if (good) {
        send_event(a, &event);
    } else {
        say(a, "stderr", diag.message);
        send_stopped(a, "step", diag.message, 0);
    }
}

/* In the debug console, commands of the prompt work, too. */
static void evaluate(struct debug_adapter *a, const json_t *request, const json_t *arguments)
{
    struct debug_session *s = a->session;
    const char *context = text_of(arguments, "context"), *text = text_of(arguments, "expression");
    struct wm_diag diag;
    json_t *body = debug_dap_evaluate(a, arguments, &diag);
    if (body) {
        debug_dap_respond(a, request, body);
        return;
    }
    if (!context || strcmp(context, "repl") || !text) {
        debug_dap_refuse(a, request, diag.message);
        return;
    }
    const struct debug_time before = debug_now(s);
    const uint64_t thread = debug_dap_thread(s, &s->wave);
    bool good;
    char *shown = debug_dap_command(a, text, &good);
    debug_dap_respond(
        a, request,
        json_pack("{s:o, s:i}", "result", tool_json_text(shown ? shown : ""), "variablesReference", 0));
    free(shown);
    const struct debug_time now = debug_now(s);
    if (s->quits)
        debug_dap_event(a, "terminated", NULL);
    else if (s->state != DEBUG_STOPPED)
        send_end(a);
    else if (before.dispatch != now.dispatch || before.executed != now.executed ||
             thread != debug_dap_thread(s, &s->wave))
        send_stopped(a, "step", NULL, 0);
}

/* ---- requests ---- */

static json_t *exception_info(struct debug_adapter *a, const json_t *arguments, struct wm_diag *diag)
{
    const struct debug_session *s = a->session;
    (void)arguments, (void)diag;
    return json_pack("{s:s, s:s, s:s}", "exceptionId", s->faulted ? "fault" : "deadlock", "breakMode",
                     "always", "description",
                     s->faulted ? "The wave has faulted; `continue' ends the kernel and reports it"
                                : s->fault.text);
}

static json_t *nothing(struct debug_adapter *a, const json_t *arguments, struct wm_diag *diag)
{
    (void)a, (void)arguments, (void)diag;
    return json_object();
}

static const struct {
    const char *command;
    debug_dap_show *show;
} shows[] = {{"threads", debug_dap_threads},
             {"stackTrace", debug_dap_stack},
             {"scopes", debug_dap_scopes},
             {"variables", debug_dap_variables},
             {"setVariable", debug_dap_set_variable},
             {"setExpression", debug_dap_set_expression},
             {"disassemble", debug_dap_disassemble},
             {"readMemory", debug_dap_read_memory},
             {"writeMemory", debug_dap_write_memory},
             {"setBreakpoints", set_breakpoints},
             {"setFunctionBreakpoints", set_function_breakpoints},
             {"setInstructionBreakpoints", set_instruction_breakpoints},
             {"setDataBreakpoints", set_data_breakpoints},
             {"dataBreakpointInfo", data_breakpoint_info},
             {"exceptionInfo", exception_info},
             {"setExceptionBreakpoints", nothing},
             {"pause", nothing}};

static bool is_move(const char *command)
{
    static const char *const moves[] = {"continue", "reverseContinue", "next",
                                        "stepIn",   "stepOut",         "stepBack"};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (!strcmp(command, moves[i]))
            return true;
    return false;
}

static void handle(struct debug_adapter *a, const json_t *request)
{
    const char *command = text_of(request, "command");
    const json_t *arguments = json_object_get(request, "arguments");
    struct wm_diag diag = {.message = "out of memory"};
    if (!command)
        return;
    if (!strcmp(command, "initialize")) {
        initialize(a, request, arguments);
        return;
    }
    if (!strcmp(command, "launch")) {
        launch(a, request, arguments);
        return;
    }
    if (!strcmp(command, "disconnect") || !strcmp(command, "terminate")) {
        debug_dap_respond(a, request, NULL);
        if (*command == 't')
            debug_dap_event(a, "terminated", NULL);
        a->done = *command == 'd';
        if (a->done && a->begun)
            a->session->quits = !json_is_false(json_object_get(arguments, "terminateDebuggee"));
        return;
    }
    if (!a->begun) {
        debug_dap_refuse(a, request, "nothing has been launched");
        return;
    }
    if (!strcmp(command, "configurationDone")) {
        debug_dap_respond(a, request, NULL);
        begin_to_run(a);
        return;
    }
    if (!strcmp(command, "evaluate")) {
        evaluate(a, request, arguments);
        return;
    }
    if (is_move(command)) {
        move(a, request, arguments);
        return;
    }
    for (size_t i = 0; i < sizeof shows / sizeof *shows; i++)
        if (!strcmp(command, shows[i].command)) {
            json_t *body = shows[i].show(a, arguments, &diag);
            if (body)
                debug_dap_respond(a, request, body);
            else
                debug_dap_refuse(a, request, diag.message);
            return;
        }
    debug_dap_refuse(a, request, "this request is not supported");
}

static void serve(struct debug_adapter *a)
{
    for (json_t *request; !a->done && (request = debug_dap_receive(a));) {
        if (json_is_object(request))
            handle(a, request);
        json_decref(request);
    }
    json_decref(a->pending);
    debug_dap_forget_references(a);
    free(a->references);
}

void debug_adapt_launches(struct debug_session *s, const char *client)
{
    struct debug_adapter a = {.session = s, .begun = true};
    long long sequence, launch;
    int stops;
    if (sscanf(client, "%d %d %lld %lld %d", &a.in, &a.out, &sequence, &launch, &stops) != 5)
        return;
    a.sequence = sequence;
    a.stops_on_entry = stops;
    s->interrupts = is_interrupted;
    s->interrupts_user = &a;
    json_t *request = json_pack("{s:I, s:s}", "seq", (json_int_t)launch, "command", "launch");
    debug_dap_respond(&a, request, NULL);
    json_decref(request);
    debug_dap_event(&a, "initialized", NULL);
    serve(&a);
    s->interrupts = NULL;
}

int debug_adapt(void)
{
    /* What kernels and comparisons print must not get between the messages. */
    struct debug_adapter a = {.in = STDIN_FILENO, .out = dup(STDOUT_FILENO)};
    if (a.out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return tool_fail("dap: standard output cannot be used");
    serve(&a);
    if (a.begun)
        debug_close(a.session);
    tool_job_free(&a.job);
    for (size_t i = 0; i < a.word_count; i++)
        free(a.words[i]);
    free(a.words);
    close(a.out);
    return a.garbled
               ? tool_fail(
                     "dap: standard input is no message of the Debug Adapter Protocol; expected a header "
                     "with Content-Length and JSON of that size")
               : TOOL_CLEAN;
}
