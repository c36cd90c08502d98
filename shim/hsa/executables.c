/* SPDX-License-Identifier: MIT */
/* Executables: code objects in the machine's memory, their kernels and variables, and the loader's table. The
 * machine keeps what was loaded, so that destroying an executable only makes its handles invalid. */
#include "images.h"
#include "shim.h"
#include "variables.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* A code object, whose bytes exist as long as its reader. */
struct reader {
    const void *bytes;
    size_t size;
    void *own; /* read from a file; or NULL */
};

struct symbol {
    char *name;
    const struct wm_kernel *kernel; /* NULL: a variable */
    uint64_t address, size;
    hsa_agent_t agent;
};

struct code {
    struct wm_object *object;
    hsa_agent_t agent;
    const void *bytes; /* address of the bytes in the program */
    size_t size;
    uint64_t base, length, delta;
    struct shim_variables variables;
};

struct executable {
    bool frozen;
    struct code *codes;
    size_t code_count;
    struct symbol *symbols;
    size_t symbol_count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct reader **readers;
static struct executable **executables;
static size_t reader_count, executable_count;

/* Handles are indexes plus 1. The upper half of a symbol's handle is the handle of its executable, as is that
 * of a loaded code object. */
#define UPPER 32

static struct reader *reader_of(hsa_code_object_reader_t reader)
{
    return reader.handle - 1 < reader_count ? readers[reader.handle - 1] : NULL;
}

static struct executable *executable_of(uint64_t handle)
{
    return handle - 1 < executable_count ? executables[handle - 1] : NULL;
}

static struct symbol *symbol_of(hsa_executable_symbol_t symbol)
{
    const struct executable *executable = executable_of(symbol.handle >> UPPER);
    const uint64_t index = (uint32_t)symbol.handle - UINT64_C(1);
    return executable && index < executable->symbol_count ? &executable->symbols[index] : NULL;
}

static struct code *code_of(hsa_loaded_code_object_t loaded)
{
    const struct executable *executable = executable_of(loaded.handle >> UPPER);
    const uint64_t index = (uint32_t)loaded.handle - UINT64_C(1);
    return executable && index < executable->code_count ? &executable->codes[index] : NULL;
}

/* Makes room for one more element. */
static bool grow(void *list, size_t count, size_t size)
{
    void **place = list;
    if (count & (count - 1)) /* the capacity is the next power of two, so there is room */
        return true;
    void *more = realloc(*place, (count ? 2 * count : 1) * size);
    if (more)
        *place = more;
    return more;
}

/* ---- readers ---- */

static hsa_status_t add_reader(const struct reader *given, hsa_code_object_reader_t *made)
{
    struct reader *reader = malloc(sizeof *reader);
    pthread_mutex_lock(&lock);
    const bool ok = reader && grow(&readers, reader_count, sizeof *readers);
    if (ok) {
        *reader = *given;
        readers[reader_count] = reader;
        made->handle = ++reader_count;
    }
    pthread_mutex_unlock(&lock);
    if (ok)
        return HSA_STATUS_SUCCESS;
    free(reader);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

SHIM_API hsa_status_t hsa_code_object_reader_create_from_memory(const void *bytes, size_t size,
                                                                hsa_code_object_reader_t *made)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!bytes || !size || !made)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return add_reader(&(struct reader){.bytes = bytes, .size = size}, made);
}

static hsa_status_t read_part(hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t *made)
{
    char *bytes = malloc(size);
    size_t done = 0;
    if (!bytes)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    while (done < size) {
        const ssize_t got = pread(file, bytes + done, size - done, (off_t)(offset + done));
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    const hsa_status_t status =
        done < size ? HSA_STATUS_ERROR_INVALID_FILE : add_reader(&(struct reader){bytes, size, bytes}, made);
    if (status)
        free(bytes);
    return status;
}

static hsa_status_t read_file(hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t *made)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    const off_t end = lseek(file, 0, SEEK_END);
    if (!made)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (end <= 0 || offset > (size_t)end || size > (size_t)end - offset)
        return HSA_STATUS_ERROR_INVALID_FILE;
    size = size ? size : (size_t)end - offset;
    return size ? read_part(file, offset, size, made) : HSA_STATUS_ERROR_INVALID_FILE;
}

SHIM_API hsa_status_t hsa_code_object_reader_create_from_file(hsa_file_t file, hsa_code_object_reader_t *made)
{
    return read_file(file, 0, 0, made);
}

SHIM_API hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t given)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    struct reader *reader = reader_of(given);
    if (reader)
        readers[given.handle - 1] = NULL;
    pthread_mutex_unlock(&lock);
    if (!reader)
        return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
    free(reader->own);
    free(reader);
    return HSA_STATUS_SUCCESS;
}

/* ---- code objects, the older interface of readers ---- */

/* Their handles are addresses of copies of their bytes, as in ROCr: LLVM 15's OpenMP runtime changes a
 * variable there before it loads them. */
SHIM_API hsa_status_t hsa_code_object_deserialize(void *bytes, size_t size, const char *options,
                                                  hsa_code_object_t *made)
{
    hsa_code_object_reader_t reader;
    (void)options;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!bytes || !size || !made)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    void *own = malloc(size);
    if (!own)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    memcpy(own, bytes, size);
    const hsa_status_t status = add_reader(&(struct reader){own, size, own}, &reader);
    if (status)
        free(own);
    else
        made->handle = (uintptr_t)own;
    return status;
}

/* Returns the reader of a code object; 0: there is none. */
static hsa_code_object_reader_t reader_with(hsa_code_object_t code)
{
    hsa_code_object_reader_t found = {0};
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < reader_count && !found.handle; i++)
        if (readers[i] && readers[i]->own && (uintptr_t)readers[i]->own == code.handle)
            found.handle = i + 1;
    pthread_mutex_unlock(&lock);
    return found;
}

SHIM_API hsa_status_t hsa_code_object_destroy(hsa_code_object_t given)
{
    return hsa_code_object_reader_destroy(reader_with(given)) ? HSA_STATUS_ERROR_INVALID_CODE_OBJECT
                                                              : HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_executable_load_code_object(hsa_executable_t executable, hsa_agent_t agent,
                                                      hsa_code_object_t given, const char *options)
{
    const hsa_status_t status =
        hsa_executable_load_agent_code_object(executable, agent, reader_with(given), options, NULL);
    return status == HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER ? HSA_STATUS_ERROR_INVALID_CODE_OBJECT
                                                                 : status;
}

/* ---- executables ---- */

SHIM_API hsa_status_t hsa_executable_create_alt(hsa_profile_t profile,
                                                hsa_default_float_rounding_mode_t rounding,
                                                const char *options, hsa_executable_t *made)
{
    (void)profile, (void)rounding, (void)options;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!made)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    struct executable *executable = calloc(1, sizeof *executable);
    pthread_mutex_lock(&lock);
    const bool ok = executable && grow(&executables, executable_count, sizeof *executables);
    if (ok) {
        executables[executable_count] = executable;
        made->handle = ++executable_count;
    }
    pthread_mutex_unlock(&lock);
    if (ok)
        return HSA_STATUS_SUCCESS;
    free(executable);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

SHIM_API hsa_status_t hsa_executable_create(hsa_profile_t profile, hsa_executable_state_t state,
                                            const char *options, hsa_executable_t *made)
{
    const hsa_status_t status =
        hsa_executable_create_alt(profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, options, made);
    return status || state != HSA_EXECUTABLE_STATE_FROZEN ? status : hsa_executable_freeze(*made, NULL);
}

SHIM_API hsa_status_t hsa_executable_destroy(hsa_executable_t given)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    struct executable *executable = executable_of(given.handle);
    if (executable)
        executables[given.handle - 1] = NULL;
    pthread_mutex_unlock(&lock);
    if (!executable)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    for (size_t i = 0; i < executable->symbol_count; i++)
        free(executable->symbols[i].name);
    for (size_t i = 0; i < executable->code_count; i++) {
        shim_give_back(executable->codes[i].agent, executable->codes[i].length, false);
        shim_variables_free(&executable->codes[i].variables);
    }
    free(executable->symbols);
    free(executable->codes);
    free(executable);
    return HSA_STATUS_SUCCESS;
}

/* Finds the allocation that contains the loaded object, by any of its symbols. */
static void find_place(struct code *code)
{
    struct wm_machine *machine = shim_device()->gpus[shim_gpu(code->agent)].machine;
    struct wm_allocation found = {.struct_size = sizeof found};
    char name[512];
    for (size_t i = 0; i < wm_object_kernel_count(code->object); i++) {
        const struct wm_kernel *kernel = wm_object_kernel(code->object, i);
        uint64_t address;
        snprintf(name, sizeof name, "%.*s.kd", (int)(sizeof name - 4), kernel->name);
        if (wm_symbol(machine, code->object, name, &address, NULL, NULL) ||
            wm_find_allocation(machine, address, false, &found, NULL))
            continue;
        code->base = found.address;
        code->length = found.size;
        code->delta = address - kernel->descriptor;
        return;
    }
}

static hsa_status_t load(struct executable *executable, hsa_agent_t agent, const struct reader *reader)
{
    const struct shim_gpu *gpu = &shim_device()->gpus[shim_gpu(agent)];
    struct wm_diag diag = {0};
    struct code code = {.agent = agent, .bytes = reader->bytes, .size = reader->size};
    if (!grow(&executable->codes, executable->code_count, sizeof code))
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    if (!shim_variables_find(reader->bytes, reader->size, &code.variables))
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    enum wm_status status =
        wm_object_open(reader->bytes, reader->size, SHIM_OBJECT, gpu->target, &code.object, &diag);
    if (!status) {
        status = wm_load(gpu->machine, code.object, &diag);
        if (status)
            wm_object_close(code.object);
    }
    if (status) {
        shim_variables_free(&code.variables);
        shim_complain("%s", diag.message);
        return status == WM_NO_MEMORY ? HSA_STATUS_ERROR_OUT_OF_RESOURCES
                                      : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    }
    find_place(&code);
    if (!shim_take(agent, code.length, false)) {
        shim_variables_free(&code.variables);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    executable->codes[executable->code_count++] = code;
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t given, hsa_agent_t agent,
                                                            hsa_code_object_reader_t reader,
                                                            const char *options,
                                                            hsa_loaded_code_object_t *loaded)
{
    (void)options;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (shim_gpu(agent) < 0)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    pthread_mutex_lock(&lock);
    struct executable *executable = executable_of(given.handle);
    const struct reader *r = reader_of(reader);
    const hsa_status_t status = !executable          ? HSA_STATUS_ERROR_INVALID_EXECUTABLE
                                : !r                 ? HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER
                                : executable->frozen ? HSA_STATUS_ERROR_FROZEN_EXECUTABLE
                                                     : load(executable, agent, r);
    if (!status && loaded)
        loaded->handle = given.handle << UPPER | executable->code_count;
    pthread_mutex_unlock(&lock);
    return status;
}

SHIM_API hsa_status_t hsa_executable_freeze(hsa_executable_t given, const char *options)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    (void)options;
    pthread_mutex_lock(&lock);
    struct executable *executable = executable_of(given.handle);
    const hsa_status_t status = !executable          ? HSA_STATUS_ERROR_INVALID_EXECUTABLE
                                : executable->frozen ? HSA_STATUS_ERROR_FROZEN_EXECUTABLE
                                                     : HSA_STATUS_SUCCESS;
    if (!status)
        executable->frozen = true;
    pthread_mutex_unlock(&lock);
    return status;
}

/* wm_load() resolves only what the object itself defines, so that an object which needs such a variable is
 * refused when it is loaded. */
SHIM_API hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t given, hsa_agent_t agent,
                                                                  const char *name, void *address)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    (void)address;
    if (!shim_is_agent(agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    shim_complain("variables that the host defines are not implemented: '%s'", name ? name : "");
    pthread_mutex_lock(&lock);
    const bool known = executable_of(given.handle);
    pthread_mutex_unlock(&lock);
    return known ? HSA_STATUS_ERROR : HSA_STATUS_ERROR_INVALID_EXECUTABLE;
}

/* ---- symbols ---- */

static const struct wm_kernel *find_kernel(const struct wm_object *object, const char *name)
{
    const size_t length = strlen(name);
    if (length < 3 || strcmp(name + length - 3, ".kd"))
        return NULL;
    for (size_t i = 0; i < wm_object_kernel_count(object); i++) {
        const struct wm_kernel *kernel = wm_object_kernel(object, i);
        if (strlen(kernel->name) == length - 3 && !memcmp(kernel->name, name, length - 3))
            return kernel;
    }
    return NULL;
}

/* Returns the index of the symbol plus 1; 0: there is no such symbol, or no memory. agent: owner of the
 * symbol; NULL: any. */
static uint64_t find_symbol(struct executable *executable, const hsa_agent_t *agent, const char *name)
{
    struct symbol symbol = {0};
    bool found = false;
    for (size_t i = 0; i < executable->symbol_count; i++)
        if (!strcmp(executable->symbols[i].name, name) &&
            (!agent || agent->handle == executable->symbols[i].agent.handle))
            return i + 1;
    for (size_t i = 0; i < executable->code_count && !found; i++) {
        if (agent && executable->codes[i].agent.handle != agent->handle)
            continue;
        symbol.agent = executable->codes[i].agent;
        symbol.kernel = find_kernel(executable->codes[i].object, name);
        found = !wm_symbol(shim_device()->gpus[shim_gpu(symbol.agent)].machine, executable->codes[i].object,
                           name, &symbol.address, &symbol.size, NULL);
    }
    if (!found || !grow(&executable->symbols, executable->symbol_count, sizeof symbol) ||
        !(symbol.name = strdup(name)))
        return 0;
    executable->symbols[executable->symbol_count++] = symbol;
    return executable->symbol_count;
}

SHIM_API hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t given, const char *name,
                                                        const hsa_agent_t *agent,
                                                        hsa_executable_symbol_t *symbol)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!name || !symbol)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (agent && !shim_is_agent(*agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    pthread_mutex_lock(&lock);
    struct executable *executable = executable_of(given.handle);
    const uint64_t index = executable ? find_symbol(executable, agent, name) : 0;
    pthread_mutex_unlock(&lock);
    if (!executable)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (!index)
        return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
    symbol->handle = given.handle << UPPER | index;
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_executable_get_symbol(hsa_executable_t executable, const char *module,
                                                const char *name, hsa_agent_t agent, int32_t convention,
                                                hsa_executable_symbol_t *symbol)
{
    (void)module, (void)convention;
    return hsa_executable_get_symbol_by_name(executable, name, &agent, symbol);
}

void shim_name_kernel(uint64_t kernel_object, char *name, size_t size)
{
    *name = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < executable_count; i++)
        for (size_t k = 0; executables[i] && k < executables[i]->symbol_count; k++)
            if (executables[i]->symbols[k].kernel && executables[i]->symbols[k].address == kernel_object)
                snprintf(name, size, "%s", executables[i]->symbols[k].kernel->name);
    pthread_mutex_unlock(&lock);
}

static hsa_status_t describe(const struct symbol *symbol, uint32_t attribute, void *value)
{
    static const uint32_t kernarg_alignment = 64, variable_alignment = 16;
    static const bool yes = true, no = false;
    static const struct wm_kernel none;
    const struct wm_kernel *kernel = symbol->kernel ? symbol->kernel : &none;
    const hsa_symbol_kind_t kind = symbol->kernel ? HSA_SYMBOL_KIND_KERNEL : HSA_SYMBOL_KIND_VARIABLE;
    const hsa_symbol_linkage_t linkage = HSA_SYMBOL_LINKAGE_PROGRAM;
    const hsa_variable_allocation_t allocation = HSA_VARIABLE_ALLOCATION_AGENT;
    const hsa_variable_segment_t segment = HSA_VARIABLE_SEGMENT_GLOBAL;
    const uint32_t length = (uint32_t)strlen(symbol->name), size = (uint32_t)symbol->size;
    const struct shim_fact facts[] = {
        {HSA_EXECUTABLE_SYMBOL_INFO_TYPE, sizeof kind, &kind},
        {HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, sizeof length, &length},
        {HSA_EXECUTABLE_SYMBOL_INFO_NAME, length, symbol->name},
        {HSA_EXECUTABLE_SYMBOL_INFO_AGENT, sizeof symbol->agent, &symbol->agent},
        {HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, sizeof symbol->address, &symbol->address},
        {HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE, sizeof linkage, &linkage},
        {HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION, sizeof yes, &yes},
        {HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION, sizeof allocation, &allocation},
        {HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT, sizeof segment, &segment},
        {HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT, sizeof variable_alignment, &variable_alignment},
        {HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE, sizeof size, &size},
        {HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST, sizeof no, &no},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, sizeof symbol->address, &symbol->address},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, sizeof(uint32_t), &kernel->kernarg_size},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT, sizeof kernarg_alignment,
         &kernarg_alignment},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, sizeof(uint32_t), &kernel->lds_size},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, sizeof(uint32_t), &kernel->scratch_size},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK, sizeof(bool), &kernel->dynamic_stack},
    };
    return shim_find_fact(facts, SHIM_COUNT(facts), NULL, attribute, value);
}

SHIM_API hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t given,
                                                     hsa_executable_symbol_info_t attribute, void *value)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    const struct symbol *symbol = symbol_of(given);
    const hsa_status_t status =
        symbol ? describe(symbol, attribute, value) : HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
    pthread_mutex_unlock(&lock);
    return status;
}

typedef hsa_status_t on_symbol(hsa_executable_t executable, hsa_agent_t agent, hsa_executable_symbol_t symbol,
                               void *data);

/* Stores the name of symbol `number` of the code; kernels come first, then variables. False: there are no
 * more. */
static bool name_symbol(const struct code *code, size_t number, char *name, size_t size)
{
    const size_t kernels = wm_object_kernel_count(code->object);
    if (number < kernels)
        snprintf(name, size, "%.*s.kd", (int)(size - 4), wm_object_kernel(code->object, number)->name);
    else if (number - kernels < code->variables.count)
        snprintf(name, size, "%s", code->variables.names[number - kernels]);
    else
        return false;
    return true;
}

/* agent: NULL for all. */
static hsa_status_t iterate(hsa_executable_t given, const hsa_agent_t *agent, on_symbol *callback, void *data)
{
    char name[4096];
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    for (size_t code = 0, number = 0;;) {
        pthread_mutex_lock(&lock);
        struct executable *executable = executable_of(given.handle);
        const bool known = executable, more = executable && code < executable->code_count;
        const hsa_agent_t owner = more ? executable->codes[code].agent : (hsa_agent_t){0};
        const bool wanted = more && (!agent || agent->handle == owner.handle);
        const bool has = wanted && name_symbol(&executable->codes[code], number, name, sizeof name);
        const uint64_t index = has ? find_symbol(executable, &owner, name) : 0;
        pthread_mutex_unlock(&lock);
        if (!more)
            return known ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_EXECUTABLE;
        if (!has) {
            code++;
            number = 0;
            continue;
        }
        number++;
        const hsa_status_t status =
            index ? callback(given, owner, (hsa_executable_symbol_t){given.handle << UPPER | index}, data)
                  : HSA_STATUS_SUCCESS;
        if (status)
            return status;
    }
}

SHIM_API hsa_status_t
hsa_executable_iterate_agent_symbols(hsa_executable_t given, hsa_agent_t agent,
                                     hsa_status_t (*callback)(hsa_executable_t executable, hsa_agent_t agent,
                                                              hsa_executable_symbol_t symbol, void *data),
                                     void *data)
{
    return callback ? iterate(given, &agent, callback, data) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* For the older function, whose callback does not receive the agent. */
struct without_agent {
    hsa_status_t (*callback)(hsa_executable_t executable, hsa_executable_symbol_t symbol, void *data);
    void *data;
};

static hsa_status_t drop_agent(hsa_executable_t executable, hsa_agent_t agent, hsa_executable_symbol_t symbol,
                               void *data)
{
    const struct without_agent *older = data;
    (void)agent;
    return older->callback(executable, symbol, older->data);
}

SHIM_API hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t given,
                                                     hsa_status_t (*callback)(hsa_executable_t executable,
                                                                              hsa_executable_symbol_t symbol,
                                                                              void *data),
                                                     void *data)
{
    struct without_agent older = {callback, data};
    return callback ? iterate(given, NULL, drop_agent, &older) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* ---- the loader's table ---- */

static hsa_status_t query_host_address(const void *address, const void **host)
{
    if (!address || !host || !shim_device())
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const struct shim_gpu *gpu = shim_gpu_at((uintptr_t)address);
    *host = gpu ? wm_host_pointer(gpu->machine, (uintptr_t)address, 1) : NULL;
    return *host ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t query_segment_descriptors(hsa_ven_amd_loader_segment_descriptor_t *segments,
                                              size_t *count)
{
    (void)segments;
    if (!count)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    shim_complain("hsa_ven_amd_loader_query_segment_descriptors is not implemented; it fails");
    return HSA_STATUS_ERROR;
}

static hsa_status_t query_executable(const void *address, hsa_executable_t *found)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    hsa_status_t status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!found)
        return status;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < executable_count; i++)
        for (size_t k = 0; executables[i] && k < executables[i]->code_count; k++)
            if ((uintptr_t)address - executables[i]->codes[k].base < executables[i]->codes[k].length) {
                found->handle = i + 1;
                status = HSA_STATUS_SUCCESS;
            }
    pthread_mutex_unlock(&lock);
    return status;
}

static hsa_status_t iterate_code(hsa_executable_t given,
                                 hsa_status_t (*callback)(hsa_executable_t executable,
                                                          hsa_loaded_code_object_t loaded, void *data),
                                 void *data)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!callback)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&lock);
    const struct executable *executable = executable_of(given.handle);
    const bool known = executable;
    const size_t count = executable ? executable->code_count : 0;
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < count; i++) {
        const hsa_status_t status =
            callback(given, (hsa_loaded_code_object_t){given.handle << UPPER | (i + 1)}, data);
        if (status)
            return status;
    }
    return known ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_EXECUTABLE;
}

static hsa_status_t describe_code(const struct code *code, uint64_t handle, uint32_t attribute, void *value)
{
    const hsa_executable_t executable = {handle >> UPPER};
    const uint32_t kind = HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT,
                   storage = HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY;
    const uint64_t bytes = (uintptr_t)code->bytes, size = code->size;
    char uri[128];
    const uint32_t length =
        (uint32_t)snprintf(uri, sizeof uri, "memory://%ld#offset=0x%llx&size=%llu", (long)getpid(),
                           (unsigned long long)bytes, (unsigned long long)size);
    const struct shim_fact facts[] = {
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE, sizeof executable, &executable},
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND, sizeof kind, &kind},
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT, sizeof code->agent, &code->agent},
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE, sizeof storage, &storage},
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE, sizeof bytes, &bytes},
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE, sizeof size, &size},
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA, sizeof code->delta, &code->delta},
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE, sizeof code->base, &code->base},
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE, sizeof code->length, &code->length},
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH, sizeof length, &length},
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI, length, uri},
    };
    return shim_find_fact(facts, SHIM_COUNT(facts), NULL, attribute, value);
}

static hsa_status_t get_code_info(hsa_loaded_code_object_t loaded,
                                  hsa_ven_amd_loader_loaded_code_object_info_t attribute, void *value)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    const struct code *code = code_of(loaded);
    const hsa_status_t status =
        code ? describe_code(code, loaded.handle, attribute, value) : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    pthread_mutex_unlock(&lock);
    return status;
}

static hsa_status_t read_from_file(hsa_file_t file, size_t offset, size_t size,
                                   hsa_code_object_reader_t *made)
{
    return size ? read_file(file, offset, size, made) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t iterate_executables(hsa_status_t (*callback)(hsa_executable_t executable, void *data),
                                        void *data)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    hsa_status_t status = callback ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (uint64_t handle = 1; !status; handle++) {
        pthread_mutex_lock(&lock);
        const bool ends = handle > executable_count, known = !ends && executable_of(handle);
        pthread_mutex_unlock(&lock);
        if (ends)
            break;
        if (known)
            status = callback((hsa_executable_t){handle}, data);
    }
    return status;
}

static const hsa_ven_amd_loader_1_03_pfn_t loader_table = {
    query_host_address, query_segment_descriptors, query_executable, iterate_code, get_code_info,
    read_from_file,     iterate_executables};

SHIM_API hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t version,
                                                           size_t length, void *table)
{
    if (!table || !length)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    size_t size = sizeof loader_table;
    const void *functions = extension == HSA_EXTENSION_AMD_LOADER ? &loader_table
                            : extension == HSA_EXTENSION_IMAGES   ? shim_images_table(&size)
                                                                  : NULL;
    if (!functions || version != 1)
        return HSA_STATUS_ERROR;
    memcpy(table, functions, length < size ? length : size);
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_system_get_extension_table(uint16_t extension, uint16_t major, uint16_t minor,
                                                     void *table)
{
    (void)minor;
    const size_t size = extension == HSA_EXTENSION_IMAGES ? sizeof(hsa_ext_images_1_00_pfn_t)
                                                          : sizeof(hsa_ven_amd_loader_1_01_pfn_t);
    return hsa_system_get_major_extension_table(extension, major, size, table);
}
