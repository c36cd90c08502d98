/* SPDX-License-Identifier: MIT */
/* What the Debug Adapter Protocol shows of the state: waves, frames, variables, instructions, memory. */
#include "tool/debug/calls.h"
#include "tool/debug/dap.h"
#include "tool/debug/names.h"
#include "tool/debug/registers.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WAVES = 256, ELEMENTS = 256, MOST_BYTES = 1 << 20, MOST_INSTRUCTIONS = 1 << 14 };

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static int64_t number_of(const json_t *object, const char *key, int64_t otherwise)
{
    const json_t *number = json_object_get(object, key);
    return json_is_integer(number) ? json_integer_value(number) : otherwise;
}

/* ---- threads ---- */

uint64_t debug_dap_thread(const struct debug_session *s, const struct wm_stopped *wave)
{
    uint32_t groups[3], waves;
    debug_grid(s, groups, &waves);
    return (((uint64_t)wave->workgroup[2] * groups[1] + wave->workgroup[1]) * groups[0] +
            wave->workgroup[0]) *
               waves +
           wave->wave + 1;
}

bool debug_dap_select_thread(struct debug_adapter *a, uint64_t thread, struct wm_diag *diag)
{
    struct debug_session *s = a->session;
    uint32_t groups[3], waves;
    if (!debug_need_wave(s, diag))
        return false;
    debug_grid(s, groups, &waves);
    const uint64_t wave = (thread - 1) % waves, group = (thread - 1) / waves;
    if (!thread || group >= (uint64_t)groups[0] * groups[1] * groups[2])
        return tool_because(diag, "There is no thread %" PRIu64 ".", thread);
    const uint32_t id[3] = {(uint32_t)(group % groups[0]), (uint32_t)(group / groups[0] % groups[1]),
                            (uint32_t)(group / groups[0] / groups[1])};
    return debug_select(s, id, (uint32_t)wave, diag);
}

json_t *debug_dap_threads(struct debug_adapter *a, const json_t *arguments, struct wm_diag *diag)
{
    struct debug_session *s = a->session;
    struct wm_stopped *waves = malloc(WAVES * sizeof *waves);
    const size_t count = waves && a->begun ? debug_waves(s, waves, WAVES) : 0;
    json_t *threads = json_array();
    (void)arguments, (void)diag;
    if (s->between)
        json_array_append_new(threads, json_pack("{s:i, s:s}", "id", DEBUG_PROGRAM_THREAD, "name",
                                                 "the program, between launches"));
    for (size_t i = 0; i < count; i++) {
        char text[96], name[192];
        const bool selected = debug_dap_thread(s, &s->wave) == debug_dap_thread(s, &waves[i]);
        debug_wave_text(waves[i].workgroup, waves[i].wave, selected ? (int)s->lane : -1, text);
        snprintf(name, sizeof name, "%s%s%s", text, waves[i].waits ? ", " : "",
                 debug_wait_text(waves[i].waits));
        json_array_append_new(
            threads, json_pack("{s:I, s:s}", "id", (json_int_t)debug_dap_thread(s, &waves[i]), "name", name));
    }
    free(waves);
    return json_pack("{s:o}", "threads", threads);
}

/* ---- frames ---- */

/* Where the client finds a file that debug information names relatively. NULL: nowhere. */
static char *find_path(const struct debug_session *s, const char *file)
{
    const struct tool_report_options *options = &s->job->outputs.show;
    char path[4096];
    char *found = realpath(file, NULL);
    for (size_t i = 0; !found && i < options->source_path_count; i++) {
        snprintf(path, sizeof path, "%s/%s", options->source_paths[i], file);
        found = realpath(path, NULL);
    }
    for (size_t i = 0; !found && i < s->job->opened_count; i++) {
        const char *object = s->job->opened[i].file, *end = strrchr(object, '/');
        for (unsigned up = 0; up < 2 && !found; up++) {
            snprintf(path, sizeof path, "%.*s/%s%s", end ? (int)(end - object) : 1, end ? object : ".",
                     up ? "../" : "", file);
            found = realpath(path, NULL);
        }
    }
    return found;
}

static json_t *source_of(const struct debug_session *s, const char *file)
{
    const char *slash = strrchr(file, '/');
    json_t *source = json_pack("{s:s%}", "name", slash ? slash + 1 : file, strlen(slash ? slash + 1 : file));
    char *path = find_path(s, file);
    json_object_set_new(source, "path", json_string(path ? path : file));
    free(path);
    return source;
}

json_t *debug_dap_stack(struct debug_adapter *a, const json_t *arguments, struct wm_diag *diag)
{
    struct debug_session *s = a->session;
    struct debug_frame frames[DEBUG_FRAMES];
    const uint64_t thread = (uint64_t)number_of(arguments, "threadId", 0);
    if (s->between && thread == DEBUG_PROGRAM_THREAD)
        return json_pack("{s:[], s:i}", "stackFrames", "totalFrames", 0);
    if (!debug_dap_select_thread(a, thread, diag))
        return NULL;
    const unsigned count = debug_stack(s, frames);
    const int64_t first = number_of(arguments, "startFrame", 0), levels = number_of(arguments, "levels", 0);
    json_t *list = json_array();
    for (unsigned i = 0; i < count; i++) {
        if (i < first || (levels > 0 && i >= first + levels))
            continue;
        json_t *frame = json_pack("{s:I, s:s, s:I, s:I}", "id", (json_int_t)(thread * DEBUG_FRAMES + i),
                                  "name", frames[i].function, "line", (json_int_t)frames[i].line, "column",
                                  (json_int_t)frames[i].column);
        json_object_set_new(frame, "instructionPointerReference", json_sprintf("0x%" PRIx64, frames[i].pc));
        if (frames[i].file)
            json_object_set_new(frame, "source", source_of(s, frames[i].file));
        json_array_append_new(list, frame);
    }
    return json_pack("{s:o, s:i}", "stackFrames", list, "totalFrames", count);
}

/* Selects the wave and frame of a frame id; 0: leaves them. */
static bool select_frame(struct debug_adapter *a, int64_t id, struct wm_diag *diag)
{
    struct debug_frame frames[DEBUG_FRAMES];
    if (id <= 0)
        return true;
    if (!debug_dap_select_thread(a, (uint64_t)id / DEBUG_FRAMES, diag))
        return false;
    const unsigned frame = (unsigned)(id % DEBUG_FRAMES);
    if (frame >= debug_stack(a->session, frames))
        return tool_because(diag, "There is no frame %" PRId64 ".", id);
    a->session->frame = frame;
    return true;
}

/* ---- variables ---- */

void debug_dap_forget_references(struct debug_adapter *a)
{
    for (size_t i = 0; i < a->reference_count; i++)
        free(a->references[i].expression);
    a->reference_count = 0;
}

/* Returns its number; 0: no memory. */
static int64_t add_reference(struct debug_adapter *a, enum debug_scope scope, const char *expression)
{
    struct debug_reference *larger = realloc(a->references, (a->reference_count + 1) * sizeof *larger);
    if (!larger)
        return 0;
    a->references = larger;
    larger[a->reference_count] =
        (struct debug_reference){.scope = scope,
                                 .thread = debug_dap_thread(a->session, &a->session->wave),
                                 .frame = a->session->frame,
                                 .expression = expression ? strdup(expression) : NULL};
    return (int64_t)++a->reference_count;
}

json_t *debug_dap_scopes(struct debug_adapter *a, const json_t *arguments, struct wm_diag *diag)
{
    static const struct {
        enum debug_scope scope;
        const char *name, *hint;
        bool expensive;
    } scopes[] = {{DEBUG_LOCALS, "Locals", "locals", false},
                  {DEBUG_ARGUMENTS, "Arguments", "arguments", false},
                  {DEBUG_SCALARS, "Scalar registers", "registers", true},
                  {DEBUG_VECTORS, "Vector registers of the lane", "registers", true},
                  {DEBUG_LDS_WORDS, "LDS", NULL, true}};
    if (!debug_need_wave(a->session, diag) || !select_frame(a, number_of(arguments, "frameId", 0), diag))
        return NULL;
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        json_t *scope =
            json_pack("{s:s, s:I, s:b}", "name", scopes[i].name, "variablesReference",
                      (json_int_t)add_reference(a, scopes[i].scope, NULL), "expensive", scopes[i].expensive);
        if (scopes[i].hint)
            json_object_set_new(scope, "presentationHint", json_string(scopes[i].hint));
        json_array_append_new(list, scope);
    }
    return json_pack("{s:o}", "scopes", list);
}

/* The text of a value; the caller frees. */
static char *value_text(struct debug_session *s, const struct debug_value *value, struct wm_diag *diag)
{
    char *text = NULL;
    size_t size;
    FILE *out = s->out;
    s->out = open_memstream(&text, &size);
    const bool good = s->out && debug_print_value(s, value, 0, diag);
    if (s->out)
        fclose(s->out);
    s->out = out;
    if (good)
        return text;
    free(text);
    return NULL;
}

/* Memory at an address, as memory references name it. */
static json_t *memory_reference(enum debug_space space, uint64_t address)
{
    return json_sprintf(space == DEBUG_LDS       ? "local#0x%" PRIx64
                        : space == DEBUG_PRIVATE ? "private_lane#0x%" PRIx64
                                                 : "0x%" PRIx64,
                        address);
}

static json_t *describe(struct debug_adapter *a, const char *name, const char *expression,
                        const struct debug_value *value, const char *why)
{
    char type[32];
    struct wm_diag diag = {0};
    char *text = why ? strdup(why) : value_text(a->session, value, &diag);
    const bool parts = !why && (value->count > 1 || value->pointer);
    json_t *object = json_object();
    json_object_set_new(object, "name", tool_json_text(name));
    json_object_set_new(object, "value", tool_json_text(text ? text : diag.message));
    json_object_set_new(object, "variablesReference",
                        json_integer(parts ? add_reference(a, DEBUG_ELEMENTS, expression) : 0));
    if (!why) {
        json_object_set_new(object, "type", json_string(debug_type_name(value, type)));
        json_object_set_new(object, "evaluateName", tool_json_text(expression));
        if (value->pointer)
            json_object_set_new(object, "memoryReference",
                                memory_reference(value->target_space, value->bits));
        else if (value->space == DEBUG_GLOBAL || value->space == DEBUG_LDS)
            json_object_set_new(object, "memoryReference", memory_reference(value->space, value->address));
    }
    free(text);
    return object;
}

static void add_locals(struct debug_adapter *a, json_t *list)
{
    struct debug_session *s = a->session;
    struct wm_variable variable;
    struct debug_value value;
    const char *why;
    const unsigned depth = debug_selected_depth(s);
    for (size_t i = 0; debug_variable(s, i, s->lane, &variable, &value, &why); i++)
        if (variable.depth == depth)
            json_array_append_new(list, describe(a, variable.name, variable.name, &value, why));
}

static void add_arguments(struct debug_adapter *a, json_t *list)
{
    struct debug_session *s = a->session;
    const struct tool_dispatch *d = debug_dispatch(s);
    for (size_t i = 0; i < d->formals; i++) {
        struct debug_value value;
        const bool known = debug_argument(s, i, &value);
        json_array_append_new(list, describe(a, d->formal[i].name, d->formal[i].name, &value,
                                             known ? NULL : "<type not supported>"));
    }
}

static void add_registers(struct debug_adapter *a, json_t *list, bool lanes)
{
    struct debug_session *s = a->session;
    struct debug_registers registers;
    if (!debug_registers_of(s, false, &registers))
        return;
    for (size_t i = 0; i < registers.count; i++) {
        char expression[32];
        struct debug_value value;
        struct wm_diag diag;
        snprintf(expression, sizeof expression, lanes ? "$%s.u32" : "$%s", registers.one[i].name);
        if (registers.one[i].lanes == lanes && debug_evaluate(s, expression, s->lane, &value, &diag))
            json_array_append_new(list, describe(a, registers.one[i].name, expression, &value, NULL));
    }
    free(registers.one);
}

/* Elements of what the expression stands for, from `first` on. */
static void add_elements(struct debug_adapter *a, json_t *list, const char *expression, int64_t first,
                         int64_t count)
{
    struct debug_session *s = a->session;
    struct debug_value value;
    struct wm_diag diag;
    struct wm_allocation all = {.struct_size = sizeof all};
    if (!debug_evaluate(s, expression, s->lane, &value, &diag))
        return;
    uint64_t most = value.count;
    if (value.pointer && value.target_space == DEBUG_GLOBAL)
        most = wm_find_allocation(s->machine, value.bits, false, &all, NULL) == WM_OK
                   ? (all.address + all.size - value.bits) / value.target_size
                   : 0;
    else if (value.pointer)
        most = s->wave.lds_bytes > value.bits ? (s->wave.lds_bytes - value.bits) / value.target_size : 0;
    for (int64_t i = first; i < first + count && (uint64_t)i < most; i++) {
        char name[32], part[DEBUG_TEXT];
        struct debug_value element;
        snprintf(name, sizeof name, "[%" PRId64 "]", i);
        snprintf(part, sizeof part, "(%.400s)%s", expression, name);
        if (debug_evaluate(s, part, s->lane, &element, &diag))
            json_array_append_new(list, describe(a, name, part, &element, NULL));
    }
}

static void add_lds(struct debug_adapter *a, json_t *list)
{
    add_elements(a, list, "(unsigned *) local#0", 0, ELEMENTS);
}

json_t *debug_dap_variables(struct debug_adapter *a, const json_t *arguments, struct wm_diag *diag)
{
    const int64_t number = number_of(arguments, "variablesReference", 0);
    if (number < 1 || (uint64_t)number > a->reference_count) {
        tool_because(diag, "There are no variables of reference %" PRId64 ".", number);
        return NULL;
    }
    const struct debug_reference reference = a->references[number - 1];
    if (!debug_dap_select_thread(a, reference.thread, diag))
        return NULL;
    a->session->frame = reference.frame;
    const int64_t first = number_of(arguments, "start", 0), count = number_of(arguments, "count", ELEMENTS);
    json_t *list = json_array();
    switch (reference.scope) {
    case DEBUG_LOCALS:
        add_locals(a, list);
        break;
    case DEBUG_ARGUMENTS:
        add_arguments(a, list);
        break;
    case DEBUG_SCALARS:
    case DEBUG_VECTORS:
        add_registers(a, list, reference.scope == DEBUG_VECTORS);
        break;
    case DEBUG_LDS_WORDS:
        add_lds(a, list);
        break;
    case DEBUG_ELEMENTS:
        add_elements(a, list, reference.expression, first < 0 ? 0 : first,
                     count > 0 && count < ELEMENTS ? count : ELEMENTS);
        break;
    }
    return json_pack("{s:o}", "variables", list);
}

char *debug_dap_command(struct debug_adapter *a, const char *line, bool *good)
{
    struct debug_session *s = a->session;
    struct wm_diag diag;
    char *text = NULL;
    size_t size;
    FILE *out = s->out;
    s->out = open_memstream(&text, &size);
    *good = s->out && debug_execute(s, line, &diag);
    if (s->out && !*good)
        fprintf(s->out, "%s\n", diag.message);
    if (s->out)
        fclose(s->out);
    s->out = out;
    return text;
}

json_t *debug_dap_evaluate(struct debug_adapter *a, const json_t *arguments, struct wm_diag *diag)
{
    const char *expression = text_of(arguments, "expression");
    struct debug_value value;
    if (!expression || !select_frame(a, number_of(arguments, "frameId", 0), diag)) {
        if (!expression)
            tool_because(diag, "evaluate: there is no expression.");
        return NULL;
    }
    if (!debug_evaluate(a->session, expression, a->session->lane, &value, diag))
        return NULL;
    json_t *described = describe(a, "result", expression, &value, NULL);
    json_object_set(described, "result", json_object_get(described, "value"));
    json_object_del(described, "value");
    json_object_del(described, "name");
    json_object_del(described, "evaluateName");
    return described;
}

static json_t *set_place(struct debug_adapter *a, const char *place, const char *text, struct wm_diag *diag)
{
    struct debug_session *s = a->session;
    struct debug_value to, from;
    if (!place || !text) {
        tool_because(diag, "Expected a place and a value.");
        return NULL;
    }
    if (!debug_evaluate(s, place, s->lane, &to, diag) || !debug_evaluate(s, text, s->lane, &from, diag) ||
        !debug_assign(s, &to, &from, diag) || !debug_evaluate(s, place, s->lane, &to, diag))
        return NULL;
    char *shown = value_text(s, &to, diag);
    json_t *body = shown ? json_pack("{s:s}", "value", shown) : NULL;
    free(shown);
    return body;
}

json_t *debug_dap_set_variable(struct debug_adapter *a, const json_t *arguments, struct wm_diag *diag)
{
    const int64_t number = number_of(arguments, "variablesReference", 0);
    const char *name = text_of(arguments, "name"), *value = text_of(arguments, "value");
    char place[DEBUG_TEXT];
    if (number < 1 || (uint64_t)number > a->reference_count || !name) {
        tool_because(diag, "There are no variables of reference %" PRId64 ".", number);
        return NULL;
    }
    const struct debug_reference reference = a->references[number - 1];
    if (!debug_dap_select_thread(a, reference.thread, diag))
        return NULL;
    a->session->frame = reference.frame;
    const bool reg = reference.scope == DEBUG_SCALARS || reference.scope == DEBUG_VECTORS;
    if (reference.scope == DEBUG_ELEMENTS || reference.scope == DEBUG_LDS_WORDS)
        snprintf(place, sizeof place, "(%.400s)%.60s",
                 reference.expression ? reference.expression : "(unsigned *) local#0", name);
    else
        snprintf(place, sizeof place, "%s%.400s%s", reg ? "$" : "", name,
                 reference.scope == DEBUG_VECTORS ? ".u32" : "");
    return set_place(a, place, value, diag);
}

json_t *debug_dap_set_expression(struct debug_adapter *a, const json_t *arguments, struct wm_diag *diag)
{
    if (!select_frame(a, number_of(arguments, "frameId", 0), diag))
        return NULL;
    return set_place(a, text_of(arguments, "expression"), text_of(arguments, "value"), diag);
}

/* ---- code and memory ---- */

static bool reference_place(struct debug_adapter *a, const json_t *arguments, struct debug_value *value,
                            struct wm_diag *diag)
{
    const char *reference = text_of(arguments, "memoryReference");
    if (!reference)
        return tool_because(diag, "There is no memoryReference.");
    if (!debug_evaluate(a->session, reference, a->session->lane, value, diag))
        return false;
    value->bits += (uint64_t)number_of(arguments, "offset", 0);
    return true;
}

struct addresses {
    uint64_t *pc;
    size_t count, room;
};

static bool keep_address(void *user, const struct debug_place *place, uint64_t pc,
                         const struct wm_instruction *instruction)
{
    struct addresses *all = user;
    (void)place, (void)instruction;
    if (all->count == all->room) {
        uint64_t *larger = realloc(all->pc, (all->room * 2 + 256) * sizeof *larger);
        if (!larger)
            return false;
        all->pc = larger;
        all->room = all->room * 2 + 256;
    }
    all->pc[all->count++] = pc;
    return true;
}

static json_t *describe_instruction(struct debug_session *s, uint64_t pc)
{
    char text[DEBUG_TEXT], symbol[DEBUG_TEXT];
    const struct debug_place place = debug_place_of(s, pc);
    const unsigned bytes = debug_instruction(s, pc, NULL, text);
    uint8_t raw[64] = {0};
    char hex[160] = "";
    if (bytes <= sizeof raw && wm_read(s->machine, pc, raw, bytes, NULL) == WM_OK)
        for (unsigned i = 0; i < bytes; i++)
            snprintf(hex + 3 * i, sizeof hex - 3 * i, "%02x ", raw[i]);
    json_t *object = json_object();
    json_object_set_new(object, "address", json_sprintf("0x%" PRIx64, pc));
    json_object_set_new(object, "instructionBytes", json_string(hex));
    json_object_set_new(object, "instruction", tool_json_text(text));
    if (place.symbol && !place.offset)
        json_object_set_new(object, "symbol", tool_json_text(debug_symbol_text(&place, symbol)));
    if (place.file) {
        json_object_set_new(object, "location", source_of(s, place.file));
        json_object_set_new(object, "line", json_integer(place.line));
    }
    return object;
}

json_t *debug_dap_disassemble(struct debug_adapter *a, const json_t *arguments, struct wm_diag *diag)
{
    struct debug_value value;
    struct addresses all = {0};
    const int64_t wanted = number_of(arguments, "instructionCount", 0);
    if (!reference_place(a, arguments, &value, diag))
        return NULL;
    if (wanted < 0 || wanted > MOST_INSTRUCTIONS) {
        tool_because(diag, "%" PRId64 " instructions are too many.", wanted);
        return NULL;
    }
    debug_each_instruction(a->session, keep_address, &all);
    int64_t at = 0;
    while ((size_t)at < all.count && all.pc[at] < value.bits)
        at++;
    const int64_t shift = number_of(arguments, "instructionOffset", 0);
    at += shift > -MOST_INSTRUCTIONS && shift < MOST_INSTRUCTIONS ? shift : 0;
    json_t *list = json_array();
    for (int64_t i = at; i < at + wanted; i++)
        json_array_append_new(list, i >= 0 && (size_t)i < all.count
                                        ? describe_instruction(a->session, all.pc[i])
                                        : json_pack("{s:s, s:s, s:s}", "address", "0x0", "instruction", "",
                                                    "presentationHint", "invalid"));
    free(all.pc);
    return json_pack("{s:o}", "instructions", list);
}

json_t *debug_dap_read_memory(struct debug_adapter *a, const json_t *arguments, struct wm_diag *diag)
{
    struct debug_session *s = a->session;
    struct debug_value value;
    const int64_t size = number_of(arguments, "count", 0);
    if (!reference_place(a, arguments, &value, diag))
        return NULL;
    if (size < 0 || size > MOST_BYTES) {
        tool_because(diag, "%" PRId64 " bytes are too many.", size);
        return NULL;
    }
    const enum debug_space space = value.pointer ? value.target_space : DEBUG_GLOBAL;
    uint8_t *bytes = malloc((size_t)size + 1);
    size_t read = 0;
    if (bytes && size && debug_read(s, space, s->lane, value.bits, bytes, (size_t)size, diag))
        read = (size_t)size;
    while (bytes && read < (size_t)size &&
           debug_read(s, space, s->lane, value.bits + read, bytes + read, 1, diag))
        read++;
    char *text = bytes ? debug_base64(bytes, read) : NULL;
    json_t *body = json_object();
    json_object_set_new(body, "address", json_sprintf("0x%" PRIx64, value.bits));
    json_object_set_new(body, "data", json_string(text ? text : ""));
    json_object_set_new(body, "unreadableBytes", json_integer(size - (int64_t)read));
    free(text);
    free(bytes);
    return body;
}

json_t *debug_dap_write_memory(struct debug_adapter *a, const json_t *arguments, struct wm_diag *diag)
{
    struct debug_session *s = a->session;
    struct debug_value value;
    uint8_t *bytes = NULL;
    size_t size;
    const char *data = text_of(arguments, "data");
    if (!reference_place(a, arguments, &value, diag))
        return NULL;
    if (!data || !debug_from_base64(data, &bytes, &size)) {
        tool_because(diag, "The data are not base64.");
        return NULL;
    }
    const bool good = debug_write(s, value.pointer ? value.target_space : DEBUG_GLOBAL, s->lane, value.bits,
                                  bytes, size, diag);
    free(bytes);
    return good ? json_pack("{s:I}", "bytesWritten", (json_int_t)size) : NULL;
}
