/* SPDX-License-Identifier: MIT */
/* The tools of `wavemem mcp`: their parameters, and the commands that a call stands for. */
#include "tool/mcp/mcp.h"

#include "tool/report/document.h"
#include "tool/sources/sources.h"
#include "tool/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LIST_MOST = 64,        /* elements of a parameter */
    TEXT_MOST = 4096,      /* bytes of a text that is no source */
    SOURCE_MOST = 1 << 20, /* bytes */
    LANGUAGES = 4,
};

/* ---- parameters ---- */

enum type { TEXT, SOURCE_TEXT, LANGUAGE, WHOLE, NUMBER, FLAG, EXTENT, TEXTS, VALUES };

/* Each is the JSON schema of a type. */
static const char *const schemas[] = {
    [TEXT] = "{'type':'string','maxLength':4096}",
    [SOURCE_TEXT] = "{'type':'string','maxLength':1048576}",
    [LANGUAGE] = "{'enum':['opencl','hip','assembly','llvm-ir']}",
    [WHOLE] = "{'type':'integer','minimum':0,'maximum':4294967295}",
    [NUMBER] = "{'type':'number','minimum':0}",
    [FLAG] = "{'type':'boolean'}",
    [EXTENT] =
        "{'type':['integer','array'],'minimum':1,'minItems':1,'maxItems':3,'items':{'type':'integer'}}",
    [TEXTS] = "{'type':'array','maxItems':64,'items':{'type':'string','maxLength':4096}}",
    [VALUES] = "{'type':'object','maxProperties':64,'additionalProperties':{'type':['string','number']}}",
};
static const char *const expected[] = {
    [TEXT] = "a string of at most 4096 bytes",
    [SOURCE_TEXT] = "a string of at most 1 MiB",
    [LANGUAGE] = "'opencl', 'hip', 'assembly' or 'llvm-ir'",
    [WHOLE] = "an integer from 0 to 4294967295",
    [NUMBER] = "a number that is not negative",
    [FLAG] = "true or false",
    [EXTENT] = "an integer from 1 to 4294967295, or an array of up to three",
    [TEXTS] = "an array of at most 64 strings of at most 4096 bytes",
    [VALUES] = "an object of at most 64 strings or numbers",
};
static const struct {
    const char *name, *suffix;
} languages[LANGUAGES] = {{"opencl", "cl"}, {"hip", "hip"}, {"assembly", "s"}, {"llvm-ir", "ll"}};

/* Groups of parameters that tools have. */
enum {
    OF_FILE = 1 << 0,
    OF_LAUNCH = 1 << 1,
    OF_OTHER = 1 << 2, /* the other kernel of a comparison */
    OF_NAME = 1 << 3,
    OF_ADDRESS = 1 << 4,
    OF_WORDS = 1 << 5,
    OF_KERNEL = 1 << 6,
    OF_TARGET = 1 << 7,
    OF_PRODUCT = 1 << 8,
};

static const struct parameter {
    const char *name;
    unsigned groups;
    enum type type;
    const char *option; /* that has its value; NULL: it needs more */
    const char *description;
} parameters[] = {
    {"file", OF_FILE, TEXT, NULL,
     "a code object (.co, .hsaco, a HIP program) or a source (.cl, .hip, .s, .ll) below the server's root"},
    {"source", OF_FILE, SOURCE_TEXT, NULL, "instead of file: the text of a source"},
    {"language", OF_FILE, LANGUAGE, NULL, "of source; default: opencl"},
    {"defines", OF_FILE, TEXTS, "-D", "macros for the compiler: [\"TILE=16\"]"},
    {"other_file", OF_OTHER, TEXT, NULL, "the kernel to compare with, as file"},
    {"other_source", OF_OTHER, SOURCE_TEXT, NULL, "the kernel to compare with, as source"},
    {"other_kernel", OF_OTHER, TEXT, NULL, "its name, if the file has several"},
    {"outputs", OF_OTHER, TEXTS, NULL, "names of arguments whose buffers must be equal after both kernels"},
    {"tolerance", OF_OTHER, NUMBER, NULL, "of outputs, relative; default: all bits are equal"},
    {"target", OF_FILE | OF_NAME | OF_ADDRESS | OF_WORDS | OF_TARGET, TEXT, "-m",
     "gfx90a, gfx942, gfx1100, ...; of a bundle: its entry"},
    {"gpu", OF_PRODUCT, TEXT, "--gpu", "the product to model: mi210, mi300x, rx7900xtx, ..."},
    {"kernel", OF_KERNEL, TEXT, "-k", "the kernel's name, if the file has several"},
    {"grid", OF_LAUNCH, EXTENT, "-g", "size of the grid in work-items (not workgroups)"},
    {"workgroup", OF_LAUNCH, EXTENT, "-b", "size of a workgroup in work-items"},
    {"arguments", OF_LAUNCH, VALUES, "--arg",
     "values of the kernel's arguments by name: a number; rand:f32:N, zero:f32:N, iota:u32:N, "
     "fill:f32:N:1.5, f32:1,2,3 for a buffer of N elements; @in.npy; same:NAME; lds:BYTES. What is missing "
     "is made up"},
    {"lds", OF_LAUNCH, WHOLE, "--lds", "dynamic LDS that is no argument, bytes"},
    {"instruction", OF_NAME | OF_ADDRESS, TEXT, NULL,
     "isa: a mnemonic (v_mfma_f32_32x32x8f16) or, with target, its words in hexadecimal; address: the "
     "instruction with its operands"},
    {"registers", OF_ADDRESS, VALUES, "--set",
     "what registers hold: {\"s[4:5]\": \"0x7f0000000000\", \"v2\": \"lane*8\"}"},
    {"lane", OF_ADDRESS, WHOLE, "--lane", "show the calculation for this lane"},
    {"words", OF_WORDS, TEXTS, NULL, "the descriptor's words, or FIELD=VALUE"},
    {"kind", OF_WORDS, TEXT, "--kind", "buffer, image or sampler"},
};
enum { PARAMETERS = sizeof parameters / sizeof *parameters };

static bool fits(const json_t *value, enum type type)
{
    const char *text = json_string_value(value), *name;
    size_t i;
    json_t *one;
    switch (type) {
    case TEXT:
    case SOURCE_TEXT:
        return text && strlen(text) <= (type == TEXT ? TEXT_MOST : SOURCE_MOST);
    case LANGUAGE:
        for (i = 0; text && i < LANGUAGES; i++)
            if (!strcmp(text, languages[i].name))
                return true;
        return false;
    case WHOLE:
        return json_is_integer(value) && json_integer_value(value) >= 0 &&
               json_integer_value(value) <= UINT32_MAX;
    case NUMBER:
        return json_is_number(value) && json_number_value(value) >= 0;
    case FLAG:
        return json_is_boolean(value);
    case EXTENT:
        if (json_is_integer(value))
            return fits(value, WHOLE) && json_integer_value(value) > 0;
        json_array_foreach(value, i, one) if (!json_is_integer(one) || !fits(one, EXTENT)) return false;
        return json_array_size(value) >= 1 && json_array_size(value) <= 3;
    case TEXTS:
        json_array_foreach(value, i, one) if (!fits(one, TEXT)) return false;
        return json_is_array(value) && json_array_size(value) <= LIST_MOST;
    default:
        json_object_foreach((json_t *)(uintptr_t)value, name, one)
        {
            if (!(json_is_number(one) || fits(one, TEXT)) || strlen(name) > TEXT_MOST)
                return false;
        }
        return json_is_object(value) && json_object_size(value) <= LIST_MOST;
    }
}

/* ---- steps ---- */

static void add_word(struct mcp_step *step, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_word(struct mcp_step *step, const char *format, ...)
{
    va_list list;
    if (step->count + 1 >= step->room) {
        step->room = step->room ? 2 * step->room : 16;
        step->words = tool_checked(realloc(step->words, step->room * sizeof *step->words));
    }
    va_start(list, format);
    char **word = &step->words[step->count++];
    if (vasprintf(word, format, list) < 0)
        *word = NULL;
    va_end(list);
    tool_checked(*word);
    step->words[step->count] = NULL;
}

static struct mcp_step *add_step(struct mcp_call *call, const char *verb, bool report)
{
    struct mcp_step *step = &call->step[call->steps++];
    step->report = report;
    add_word(step, "%s", verb);
    return step;
}

static const json_t *value_of(const struct mcp_call *call, const char *name)
{
    return json_object_get(call->arguments, name);
}

static const char *text_of(const struct mcp_call *call, const char *name)
{
    return json_string_value(value_of(call, name));
}

static void add_number(struct mcp_step *step, const char *prefix, const json_t *number)
{
    if (json_is_integer(number))
        add_word(step, "%s%" JSON_INTEGER_FORMAT, prefix, json_integer_value(number));
    else
        add_word(step, "%s%.17g", prefix, json_number_value(number));
}

/* Adds an option with the parameter's value. */
static void add_value(struct mcp_step *step, const struct parameter *parameter, const json_t *value)
{
    const char *name;
    char text[64] = "", prefix[TEXT_MOST + 2];
    size_t i;
    json_t *one;
    json_object_foreach((json_t *)(uintptr_t)value, name, one)
    {
        add_word(step, "%s", parameter->option);
        snprintf(prefix, sizeof prefix, "%s=", name);
        if (json_is_string(one))
            add_word(step, "%s%s", prefix, json_string_value(one));
        else
            add_number(step, prefix, one);
    }
    json_array_foreach(value, i, one)
    {
        if (parameter->type == EXTENT)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%" JSON_INTEGER_FORMAT, i ? "," : "",
                     json_integer_value(one));
        else
            add_word(step, "%s%s", parameter->option, json_string_value(one));
    }
    if (*text || !(json_is_object(value) || json_is_array(value)))
        add_word(step, "%s", parameter->option);
    if (*text)
        add_word(step, "%s", text);
    else if (json_is_string(value))
        add_word(step, "%s", json_string_value(value));
    else if (json_is_number(value))
        add_number(step, "", value);
}

/* Adds the options of these groups. Texts include files of the root as files there do. */
static void add_options(const struct mcp_call *call, struct mcp_step *step, unsigned groups)
{
    const char *language = text_of(call, "language");
    if (groups & OF_FILE && text_of(call, "source") && !(language && !strcmp(language, "llvm-ir")))
        add_word(step, "-I.");
    for (size_t i = 0; i < PARAMETERS; i++) {
        const json_t *value = value_of(call, parameters[i].name);
        if (value && parameters[i].option && parameters[i].groups & groups)
            add_value(step, &parameters[i], value);
    }
}

/* ---- files ---- */

/* Whether the path lies below the root, links resolved; returns it relative to the root, to be freed, or
 * NULL. */
static char *inside(const struct mcp_settings *settings, const char *path, char why[512])
{
    char *full = NULL, *joined = NULL;
    const size_t length = strcmp(settings->root, "/") ? strlen(settings->root) : 0;
    if (asprintf(&joined, "%s/%s", path[0] == '/' ? "" : settings->root, path) < 0)
        joined = NULL;
    tool_checked(joined);
    full = realpath(joined, NULL);
    free(joined);
    /* What lies outside is not told from what is not there. */
    if (!full || strncmp(full, settings->root, length) || full[length] != '/') {
        snprintf(why, 512, "%.200s: no such file below the root", path);
        free(full);
        return NULL;
    }
    struct stat facts;
    if (stat(full, &facts) || !S_ISREG(facts.st_mode)) {
        snprintf(why, 512, "%.200s: expected a file", path);
        free(full);
        return NULL;
    }
    char *relative = tool_checked(strdup(full + length + 1));
    free(full);
    return relative;
}

/* The path that a command gets for the file or the source; NULL: see `why`. */
static char *input_path(const struct mcp_call *call, const struct mcp_settings *settings, const char *prefix,
                        char why[512])
{
    char name[32], *path = NULL;
    snprintf(name, sizeof name, "%sfile", prefix);
    const char *file = text_of(call, name);
    snprintf(name, sizeof name, "%ssource", prefix);
    const char *source = text_of(call, name), *language = text_of(call, "language");
    if (!file == !source) {
        snprintf(why, 512, "expected %sfile or %ssource%s", prefix, prefix, file ? ", not both" : "");
        return NULL;
    }
    if (file) {
        char *relative = inside(settings, file, why);
        if (relative && asprintf(&path, "./%s", relative) < 0)
            path = NULL;
        free(relative);
        return path;
    }
    const char *suffix = languages[0].suffix;
    for (size_t i = 0; language && i < LANGUAGES; i++)
        if (!strcmp(language, languages[i].name))
            suffix = languages[i].suffix;
    if (asprintf(&path, "%s/%skernel.%s", call->folder, prefix, suffix) < 0)
        return NULL;
    FILE *out = fopen(path, "we");
    if (!out || fputs(source, out) < 0 || fclose(out)) {
        snprintf(why, 512, "the source cannot be written: %s", strerror(errno));
        free(path);
        return NULL;
    }
    return path;
}

/* ---- the tools ---- */

struct plan {
    struct mcp_call *call;
    const struct mcp_settings *settings;
    char *path, *report; /* the input file; the report of the first step */
    char *why;
};

static void launch(const struct plan *plan, const char *verb, const char *path, const char *report)
{
    struct mcp_step *step = add_step(plan->call, verb, false);
    add_word(step, "%s", path);
    add_options(plan->call, step, OF_FILE | OF_KERNEL | OF_LAUNCH | OF_PRODUCT);
    add_word(step, "--guess");
    add_word(step, "--timeout=%g", plan->settings->seconds * 0.75);
    add_word(step, "--json=%s", report);
}

static bool plan_prof(const struct plan *plan)
{
    launch(plan, "prof", plan->path, plan->report);
    return true;
}

static bool plan_check(const struct plan *plan)
{
    launch(plan, "check", plan->path, plan->report);
    return true;
}

/* The same command as text and as JSON. */
static bool plan_both(const struct plan *plan, const char *verb, const char *subject, unsigned groups)
{
    const char *instruction = text_of(plan->call, "instruction");
    for (unsigned i = 0; i < 2; i++) {
        struct mcp_step *step = add_step(plan->call, verb, i);
        size_t k;
        json_t *word;
        if (subject)
            add_word(step, "%s", subject);
        add_options(plan->call, step, groups);
        if (i)
            add_word(step, "--json");
        add_word(step, "--");
        if (plan->path)
            add_word(step, "%s", plan->path);
        if (instruction)
            add_word(step, "%s", instruction);
        json_array_foreach(value_of(plan->call, "words"), k, word)
            add_word(step, "%s", json_string_value(word));
    }
    return true;
}

static bool plan_info(const struct plan *plan)
{
    return plan_both(plan, "info", NULL, OF_FILE | OF_KERNEL);
}

static bool plan_address(const struct plan *plan)
{
    return plan_both(plan, "explain", "address", OF_ADDRESS);
}

static bool plan_descriptor(const struct plan *plan)
{
    return plan_both(plan, "explain", "descriptor", OF_WORDS);
}

/* A mnemonic; or words, which the verb wants one by one and behind their target. */
static bool plan_isa(const struct plan *plan)
{
    const char *text = text_of(plan->call, "instruction"), *target = text_of(plan->call, "target");
    char copy[TEXT_MOST + 1], *words[8];
    snprintf(copy, sizeof copy, "%s", text);
    if (strspn(text, "0123456789abcdefABCDEFx ") != strlen(text))
        return plan_both(plan, "isa", NULL, OF_NAME);
    const int count = tool_cut_line(copy, words, 8);
    if (!target || count < 1) {
        snprintf(plan->why, 512, "isa: expected a mnemonic, or words and their target");
        return false;
    }
    for (unsigned i = 0; i < 2; i++) {
        struct mcp_step *step = add_step(plan->call, "isa", i);
        if (i)
            add_word(step, "--json");
        add_word(step, "%s", target);
        for (int k = 0; k < count; k++)
            add_word(step, "%s", words[k]);
    }
    return true;
}

static bool plan_disassemble(const struct plan *plan)
{
    struct mcp_step *step = add_step(plan->call, "dis", false);
    add_options(plan->call, step, OF_FILE | OF_KERNEL);
    add_word(step, "--lines");
    add_word(step, "--");
    add_word(step, "%s", plan->path);
    return true;
}

static bool plan_compile(const struct plan *plan)
{
    char *object = mcp_path(plan->call, "object", 0);
    struct mcp_step *step = add_step(plan->call, "compile", false);
    add_options(plan->call, step, OF_FILE | OF_PRODUCT);
    add_word(step, "-o");
    add_word(step, "%s", object);
    add_word(step, "%s", plan->path);
    step = add_step(plan->call, "info", false);
    add_word(step, "%s", object);
    step = add_step(plan->call, "info", true);
    add_word(step, "--json");
    add_word(step, "%s", object);
    free(object);
    return true;
}

static bool is_name(const char *name)
{
    return *name && strlen(name) < 200 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(name);
}

/* The outputs of the first kernel are written, and those of the second compared with them. */
static bool plan_compare(const struct plan *plan)
{
    struct mcp_call *call = plan->call;
    const json_t *tolerance = value_of(call, "tolerance");
    const char *other = text_of(call, "other_kernel");
    char *path = input_path(call, plan->settings, "other_", plan->why), *report = mcp_path(call, "report", 1);
    size_t i;
    json_t *name;
    if (path) {
        launch(plan, "prof", plan->path, plan->report);
        launch(plan, "prof", path, report);
        if (other) {
            add_word(&call->step[1], "-k");
            add_word(&call->step[1], "%s", other);
        }
        struct mcp_step *diff = add_step(call, "diff", false);
        add_word(diff, "%s", plan->report);
        add_word(diff, "%s", report);
        add_word(diff, "--json=%s/report.2", call->folder);
    }
    bool good = path;
    json_array_foreach(value_of(call, "outputs"), i, name)
    {
        const char *text = json_string_value(name);
        if (!good || !(good = is_name(text)))
            break;
        add_word(&call->step[0], "--out");
        add_word(&call->step[0], "%s=%s/%s.npy", text, call->folder, text);
        add_word(&call->step[1], "--expect");
        add_word(&call->step[1], "%s=@%s/%s.npy", text, call->folder, text);
        if (tolerance) {
            char **word = &call->step[1].words[call->step[1].count - 1], *before = *word;
            if (asprintf(word, "%s:%.17g", before, json_number_value(tolerance)) < 0)
                *word = NULL;
            tool_checked(*word);
            free(before);
        }
    }
    if (path && !good)
        snprintf(plan->why, 512, "outputs: expected names of arguments");
    free(path);
    free(report);
    return good;
}

struct mcp_tool {
    const char *name, *description;
    unsigned groups;
    const char *required; /* a parameter; or NULL */
    bool (*plan)(const struct plan *plan);
};

static const struct mcp_tool tools[] = {
    {"compile",
     "Compile or assemble a kernel for an AMD GPU; returns the compiler's messages, and per kernel its "
     "registers, LDS and arguments.",
     OF_FILE | OF_PRODUCT, NULL, plan_compile},
    {"info", "Kernels of a code object or source: registers, LDS, scratch, arguments with types and offsets.",
     OF_FILE | OF_KERNEL, NULL, plan_info},
    {"check",
     "Execute a kernel on the CPU and find what an AMD GPU lets pass: accesses out of bounds, reads of "
     "uninitialised memory, races, missing waits; with source lines and remedies.",
     OF_FILE | OF_KERNEL | OF_LAUNCH | OF_PRODUCT, NULL, plan_check},
    {"prof",
     "Execute a kernel on the CPU and predict its time on an AMD GPU without one: what bounds it, the best "
     "fix with its gain, coalescing, bank conflicts and cache hits per source line.",
     OF_FILE | OF_KERNEL | OF_LAUNCH | OF_PRODUCT, NULL, plan_prof},
    {"compare",
     "Profile two kernels with the same sizes and arguments, compare predicted times and accesses, and "
     "optionally their outputs.",
     OF_FILE | OF_KERNEL | OF_LAUNCH | OF_PRODUCT | OF_OTHER, NULL, plan_compare},
    {"disassemble", "The instructions of a code object or source, with source lines, in LLVM's syntax.",
     OF_FILE | OF_KERNEL, NULL, plan_disassemble},
    {"isa",
     "Explain an instruction of AMD GPUs: targets, encodings, operands, operation, wait counter, errata.",
     OF_NAME, "instruction", plan_isa},
    {"explain_address",
     "The address that each lane of a memory instruction accesses, step by step, with its checks.",
     OF_ADDRESS, "instruction", plan_address},
    {"explain_descriptor",
     "Decode or build a buffer, image or sampler descriptor (V#, T#, S#), with warnings.", OF_WORDS, "words",
     plan_descriptor},
};
enum { TOOLS = sizeof tools / sizeof *tools };

static bool has(const struct mcp_tool *tool, const struct parameter *parameter)
{
    return parameter->groups & tool->groups;
}

/* A schema with single quotes in place of double ones. */
static json_t *schema_of(const char *text)
{
    char *copy = tool_checked(strdup(text));
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    json_t *schema = json_loads(copy, 0, NULL);
    free(copy);
    return schema;
}

json_t *mcp_list_tools(void)
{
    json_t *list = json_array();
    for (size_t t = 0; t < TOOLS; t++) {
        json_t *properties = json_object(), *input;
        for (size_t i = 0; i < PARAMETERS; i++) {
            if (!has(&tools[t], &parameters[i]))
                continue;
            json_t *schema = schema_of(schemas[parameters[i].type]);
            json_object_set_new(schema, "description", json_string(parameters[i].description));
            json_object_set_new(properties, parameters[i].name, schema);
        }
        input = json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties,
                          "additionalProperties", 0);
        if (tools[t].required)
            json_object_set_new(input, "required", json_pack("[s]", tools[t].required));
        json_t *output = schema_of(
            "{'type':'object','required':['outcome'],'properties':{'outcome':{'type':'string','description':"
            "'clean, findings, wrong (bad input), fault (the kernel faulted), incomplete or limit'},"
            "'messages':{'type':'string'},'report':{'type':'object'}}}");
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o, s:{s:b, s:b, s:b}}", "name",
                                              tools[t].name, "description", tools[t].description,
                                              "inputSchema", input, "outputSchema", output, "annotations",
                                              "readOnlyHint", 1, "idempotentHint", 1, "openWorldHint", 0));
    }
    return list;
}

const struct mcp_tool *mcp_find_tool(const char *name)
{
    for (size_t t = 0; t < TOOLS; t++)
        if (!strcmp(tools[t].name, name))
            return &tools[t];
    return NULL;
}

const char *mcp_tool_name(const struct mcp_tool *tool)
{
    return tool->name;
}

static bool check_arguments(const struct mcp_call *call, char why[512])
{
    const char *name;
    json_t *value;
    json_object_foreach(call->arguments, name, value)
    {
        size_t i = 0;
        while (i < PARAMETERS && (strcmp(parameters[i].name, name) || !has(call->tool, &parameters[i])))
            i++;
        if (i == PARAMETERS) {
            snprintf(why, 512, "%s has no parameter '%.100s'", call->tool->name, name);
            return false;
        }
        if (!fits(value, parameters[i].type)) {
            snprintf(why, 512, "%s: expected %s", name, expected[parameters[i].type]);
            return false;
        }
    }
    if (call->tool->required && !value_of(call, call->tool->required)) {
        snprintf(why, 512, "%s needs %s", call->tool->name, call->tool->required);
        return false;
    }
    return true;
}

char *mcp_path(const struct mcp_call *call, const char *kind, unsigned step)
{
    char *path;
    if (asprintf(&path, "%s/%s.%u", call->folder, kind, step) < 0)
        path = NULL;
    return tool_checked(path);
}

bool mcp_plan(struct mcp_call *call, const struct mcp_settings *settings, char why[512])
{
    struct plan plan = {.call = call, .settings = settings, .why = why};
    if (!check_arguments(call, why))
        return false;
    if (asprintf(&call->folder, "%s/call.XXXXXX", settings->folder) < 0)
        call->folder = NULL;
    if (!mkdtemp(tool_checked(call->folder))) {
        snprintf(why, 512, "no temporary folder: %s", strerror(errno));
        return false;
    }
    bool good = !(call->tool->groups & OF_FILE) || (plan.path = input_path(call, settings, "", why));
    plan.report = mcp_path(call, "report", 0);
    good = good && call->tool->plan(&plan);
    free(plan.path);
    free(plan.report);
    return good;
}

void mcp_free_call(struct mcp_call *call)
{
    for (unsigned i = 0; i < call->steps; i++) {
        for (size_t k = 0; k < call->step[i].count; k++)
            free(call->step[i].words[k]);
        free(call->step[i].words);
    }
    if (call->folder)
        mcp_remove_folder(call->folder);
    free(call->folder);
    json_decref(call->id);
    json_decref(call->token);
    json_decref(call->arguments);
    free(call);
}
