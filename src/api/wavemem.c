/* SPDX-License-Identifier: MIT */
/* The public API over the rooms: machines, their memory, loading and dispatching. */
#include "wavemem/wavemem.h"

#include "assembler/assembler.h"
#include "base/diag.h"
#include "check/check.h"
#include "exec/abi.h"
#include "exec/dependence.h"
#include "exec/workgroup.h"
#include "isa/disassemble.h"
#include "isa/isa.h"
#include "memory/space.h"
#include "object/object.h"
#include "observe/observers.h"
#include "profile/cost/gpu.h"
#include "profile/fidelity.h"
#include "profile/profile.h"
#include "profile/trace/replay.h"
#include "report/fault.h"
#include "report/printf.h"
#include "sem/sem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LDS = 64 << 10, MAX_THREADS = 256, MAX_WORKGROUP = 1024, MAX_KERNARG = 1 << 20 };
static const uint64_t MAX_CACHE = UINT64_C(1) << 32; /* bytes that a modelled cache may have */
#define MAX_INSTRUCTIONS (UINT64_C(1) << 40)

/* An object in guest memory. */
struct module {
    const struct wm_object *object;
    uint64_t bias; /* guest address - object address */
    struct module *next;
};

struct wm_machine {
    const struct wmi_target *target;
    struct wmi_space *space;
    struct module *modules;
    struct wmi_apertures apertures;
};

const char *wm_version(void)
{
    return WMI_VERSION;
}

const char *wm_status_name(enum wm_status status)
{
    static const char *const names[] = {
        [WM_OK] = "ok",
        [WM_BAD_ARGUMENT] = "bad argument",
        [WM_BAD_FILE] = "bad file",
        [WM_UNSUPPORTED] = "unsupported",
        [WM_NOT_FOUND] = "not found",
        [WM_NO_MEMORY] = "no memory",
        [WM_IO] = "input/output error",
        [WM_OUT_OF_RANGE] = "out of range",
    };
    return (unsigned)status < sizeof names / sizeof *names ? names[status] : "unknown status";
}

bool wm_target_known(const char *name)
{
    return name && wmi_target_find(name);
}

enum wm_status wm_assemble_with(const struct wm_assemble_options *options, const char *text, size_t size,
                                const char *name, const char *target, uint8_t **bytes, size_t *bytes_size,
                                char **messages, struct wm_diag *diag)
{
    const struct wmi_assemble_options how = {
        .name = name,
        .target = target,
        .raw = options->flags & WM_ASSEMBLE_RAW,
        .lines = options->flags & WM_ASSEMBLE_LINES,
        .reads_files = options->flags & WM_ASSEMBLE_FILES,
        .folders = options->folders,
        .folder_count = options->folder_count,
    };
    const enum wm_status status = wmi_assemble_file(text, size, &how, bytes, bytes_size, messages);
    if (status == WM_NOT_FOUND)
        return wmi_fail(diag, status, "'%s' is no target that wavemem knows", target);
    return status ? wmi_fail(diag, status, status == WM_NO_MEMORY ? "%s: no memory" : "%s: wrong text", name)
                  : status;
}

enum wm_status wm_assemble(const char *text, size_t size, const char *name, const char *target,
                           unsigned flags, uint8_t **bytes, size_t *bytes_size, char **messages,
                           struct wm_diag *diag)
{
    const struct wm_assemble_options options = {.struct_size = sizeof options, .flags = flags};
    return wm_assemble_with(&options, text, size, name, target, bytes, bytes_size, messages, diag);
}

unsigned wm_disassemble(const char *target_name, const uint32_t *words, size_t dwords, char *text,
                        size_t size)
{
    const struct wmi_target *target = target_name ? wmi_target_find(target_name) : NULL;
    struct wmi_instruction insn;
    const unsigned length = target && words ? wmi_decode(target, words, dwords, &insn) : 0;
    if (size)
        text[0] = '\0';
    if (length)
        wmi_print(target, &insn, text, size);
    return length;
}

enum wm_status wm_disassembler_create(const char *target_name, unsigned flags,
                                      struct wm_disassembler **disassembler, struct wm_diag *diag)
{
    const struct wmi_target *target = target_name ? wmi_target_find(target_name) : NULL;
    *disassembler = target ? wmi_disassembler_create(target, flags) : NULL;
    if (!target)
        return wmi_fail(diag, WM_NOT_FOUND, "unknown target '%s'; expected a gfx name such as gfx900",
                        target_name ? target_name : "");
    return *disassembler ? WM_OK : wmi_fail(diag, WM_NO_MEMORY, "no memory for a disassembler");
}

void wm_disassembler_destroy(struct wm_disassembler *disassembler)
{
    free(disassembler);
}

/* ---- machines and memory ---- */

static void place_apertures(struct wm_machine *machine, uint64_t shared, uint64_t private)
{
    machine->apertures = (struct wmi_apertures){shared, shared + UINT32_MAX, private, private + UINT32_MAX};
}

/* The fast steps of FLAT rely on it that no allocation is within reach of an aperture. */
static bool may_be_aperture(uint64_t base)
{
    const int64_t top = (int64_t)base >> 47;
    return (uint32_t)base == 0 && top != 0 && top != -1;
}

enum wm_status wm_set_apertures(struct wm_machine *machine, uint64_t shared_base, uint64_t private_base,
                                struct wm_diag *diag)
{
    if (!wmi_target_limit(machine->target, WMI_LIMIT_shared_aperture))
        return wmi_fail(diag, WM_UNSUPPORTED, "%s has no FLAT instructions, and so no apertures",
                        wmi_target_name(machine->target));
    if (!may_be_aperture(shared_base) || !may_be_aperture(private_base) || shared_base == private_base)
        return wmi_fail(
            diag, WM_BAD_ARGUMENT,
            "apertures at 0x%llx and 0x%llx; expected two multiples of 2^32 that are no addresses "
            "of memory (bits 63 to 47 not all equal)",
            (unsigned long long)shared_base, (unsigned long long)private_base);
    place_apertures(machine, shared_base, private_base);
    return WM_OK;
}

enum wm_status wm_machine_create(const char *target_name, struct wm_machine **machine, struct wm_diag *diag)
{
    const struct wmi_target *target = target_name ? wmi_target_find(target_name) : NULL;
    *machine = NULL;
    if (!target)
        return wmi_fail(diag, WM_NOT_FOUND, "unknown target '%s'; expected a gfx name such as gfx900",
                        target_name ? target_name : "");
    struct wm_machine *m = calloc(1, sizeof *m);
    if (m)
        m->space = wmi_space_create();
    if (!m || !m->space) {
        free(m);
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a machine");
    }
    m->target = target;
    place_apertures(m, (uint64_t)wmi_target_limit(m->target, WMI_LIMIT_shared_aperture) << 32,
                    (uint64_t)wmi_target_limit(m->target, WMI_LIMIT_private_aperture) << 32);
    *machine = m;
    return WM_OK;
}

void wm_machine_destroy(struct wm_machine *machine)
{
    if (!machine)
        return;
    for (struct module *module = machine->modules, *next; module; module = next) {
        next = module->next;
        free(module);
    }
    wmi_space_destroy(machine->space);
    free(machine);
}

enum wm_status wm_allocate(struct wm_machine *machine, uint64_t size, unsigned flags, const char *name,
                           uint64_t *address, struct wm_diag *diag)
{
    return wmi_space_allocate(machine->space, size, flags, name, address, diag);
}

enum wm_status wm_free(struct wm_machine *machine, uint64_t address, struct wm_diag *diag)
{
    return wmi_space_free(machine->space, address, diag);
}

void *wm_host_pointer(struct wm_machine *machine, uint64_t address, uint64_t size)
{
    return wmi_space_host(machine->space, address, size);
}

static enum wm_status outside(struct wm_diag *diag, uint64_t address, uint64_t size)
{
    return wmi_fail(diag, WM_OUT_OF_RANGE, "%llu bytes at 0x%llx do not lie in one allocation",
                    (unsigned long long)size, (unsigned long long)address);
}

enum wm_status wm_write(struct wm_machine *machine, uint64_t address, const void *bytes, uint64_t size,
                        struct wm_diag *diag)
{
    unsigned char *host = wmi_space_host(machine->space, address, size);
    if (!host)
        return outside(diag, address, size);
    memcpy(host, bytes, size);
    return WM_OK;
}

enum wm_status wm_read(const struct wm_machine *machine, uint64_t address, void *bytes, uint64_t size,
                       struct wm_diag *diag)
{
    const unsigned char *host = wmi_space_host(machine->space, address, size);
    if (!host)
        return outside(diag, address, size);
    memcpy(bytes, host, size);
    return WM_OK;
}

/* ---- loading ---- */

static struct module *find_module(const struct wm_machine *machine, const struct wm_object *object)
{
    for (struct module *module = machine->modules; module; module = module->next)
        if (module->object == object)
            return module;
    return NULL;
}

enum wm_status wm_load(struct wm_machine *machine, const struct wm_object *object, struct wm_diag *diag)
{
    if (find_module(machine, object))
        return WM_OK;
    if (strcmp(wm_object_target(object), wmi_target_name(machine->target)))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the code object is for %s, the machine is a %s",
                        wm_object_target(object), wmi_target_name(machine->target));
    const struct wmi_span span = wmi_object_span(object);
    uint64_t address;
    struct module *module = calloc(1, sizeof *module);
    if (!module)
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a code object");
    enum wm_status status =
        wmi_space_allocate(machine->space, span.high - span.low, 0, "code object", &address, diag);
    if (!status) {
        /* the span's alignment is kept, because allocations are aligned as much as segments ever are */
        void *image = wmi_space_host(machine->space, address, span.high - span.low);
        status = wmi_object_image(object, address, NULL, NULL, image, true, diag);
        if (status)
            wmi_space_free(machine->space, address, NULL);
    }
    if (status) {
        free(module);
        return status;
    }
    *module = (struct module){object, address - span.low, machine->modules};
    machine->modules = module;
    return WM_OK;
}

enum wm_status wm_symbol(struct wm_machine *machine, const struct wm_object *object, const char *name,
                         uint64_t *address, uint64_t *size, struct wm_diag *diag)
{
    const struct module *module = find_module(machine, object);
    const struct wmi_symbol *symbol = wmi_object_symbol_named(object, name);
    if (!module)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the code object is not loaded");
    const struct wm_kernel *kernel;
    if (!symbol && !wm_object_find_kernel(object, name, &kernel, NULL)) { /* a raw object has no symbols */
        *address = kernel->entry + module->bias;
        if (size)
            *size = 0;
        return WM_OK;
    }
    if (!symbol)
        return wmi_fail(diag, WM_NOT_FOUND, "no symbol '%s' in the code object", name);
    *address = symbol->address + module->bias;
    if (size)
        *size = symbol->size;
    return WM_OK;
}

/* ---- dispatching ---- */

static uint32_t at_least_one(uint32_t value)
{
    return value ? value : 1;
}

/* The geometry of the request, checked against the kernel. */
static enum wm_status check_geometry(const struct wm_kernel *kernel, const struct wm_dispatch *request,
                                     struct wmi_dispatch *dispatch, struct wm_diag *diag)
{
    const uint32_t *required = kernel->required_workgroup;
    uint64_t items = 1;
    dispatch->group_count = 1;
    for (unsigned i = 0; i < 3; i++) {
        dispatch->grid[i] = at_least_one(request->grid[i]);
        dispatch->workgroup[i] = at_least_one(request->workgroup[i]);
        dispatch->groups[i] =
            (uint32_t)(((uint64_t)dispatch->grid[i] + dispatch->workgroup[i] - 1) / dispatch->workgroup[i]);
        if (dispatch->workgroup[i] > 1024)
            return wmi_fail(diag, WM_BAD_ARGUMENT, "workgroup dimension %u is %u; at most 1024 work-items", i,
                            dispatch->workgroup[i]);
        items *= dispatch->workgroup[i];
        if (__builtin_mul_overflow(dispatch->group_count, dispatch->groups[i], &dispatch->group_count))
            return wmi_fail(diag, WM_BAD_ARGUMENT, "the grid has more than 2^64 workgroups");
    }
    const uint32_t most = kernel->max_workgroup && kernel->max_workgroup < MAX_WORKGROUP
                              ? kernel->max_workgroup
                              : MAX_WORKGROUP;
    if (items > most)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "workgroup of %llu work-items; kernel '%s' takes at most %u",
                        (unsigned long long)items, kernel->name, most);
    if (required[0] && (required[0] != dispatch->workgroup[0] || required[1] != dispatch->workgroup[1] ||
                        required[2] != dispatch->workgroup[2]))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "workgroup %u,%u,%u; kernel '%s' requires %u,%u,%u",
                        dispatch->workgroup[0], dispatch->workgroup[1], dispatch->workgroup[2], kernel->name,
                        required[0], required[1], required[2]);
    return WM_OK;
}

static enum wm_status check_request(const struct wm_kernel *kernel, const struct wm_dispatch *request,
                                    const struct wm_result *result, struct wmi_dispatch *dispatch,
                                    struct wm_diag *diag)
{
    if (request->struct_size == sizeof *request && request->on_violation > WM_VIOLATION_GOES_ON)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "on_violation is %u; expected WM_VIOLATION_STOPS or _GOES_ON",
                        request->on_violation);
    if (request->struct_size != sizeof *request || result->struct_size != sizeof *result)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "struct_size is not that of this version of wavemem (%s)",
                        wm_version());
    if (request->alignment > WM_ALIGNMENT_STRICT)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "alignment %u is none of enum wm_alignment",
                        (unsigned)request->alignment);
    if (request->arguments_size && !request->arguments)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "arguments_size is %llu but arguments is NULL",
                        (unsigned long long)request->arguments_size);
    if (request->arguments_size > MAX_KERNARG)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%llu bytes of arguments; at most %u",
                        (unsigned long long)request->arguments_size, MAX_KERNARG);
    const uint64_t lds = (uint64_t)kernel->lds_size + request->dynamic_lds;
    if (lds > MAX_LDS)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "kernel '%s' would use %llu bytes of LDS; a workgroup has %u",
                        kernel->name, (unsigned long long)lds, MAX_LDS);
    dispatch->lds_size = (uint32_t)lds;
    return check_geometry(kernel, request, dispatch, diag);
}

static unsigned thread_count(uint32_t asked)
{
    const long online = asked ? (long)asked : sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > MAX_THREADS ? MAX_THREADS : (unsigned)online;
}

/* ---- profile ---- */

/* Where a profiled dispatch's code comes from. */
struct profiled {
    const struct wm_machine *machine;
    const struct module *module;
    char text[256];
};

static void describe(void *user, unsigned id, struct wm_profile_row *row)
{
    struct profiled *profiled = user;
    const uint64_t address = row->pc - profiled->module->bias;
    const struct wmi_allocation *code = wmi_space_find(profiled->machine->space, row->pc);
    struct wmi_instruction insn;
    (void)id;
    profiled->text[0] = '\0';
    if (code && wmi_decode(profiled->machine->target, (const uint32_t *)(code->host + (row->pc - code->low)),
                           (size_t)(code->high - row->pc) / 4, &insn))
        wmi_print(profiled->machine->target, &insn, profiled->text, sizeof profiled->text);
    row->text = profiled->text;
    row->kernel = wm_object_symbol(profiled->module->object, address, &row->offset);
    if (!row->kernel)
        row->kernel = "";
    if (!wm_object_line(profiled->module->object, address, &row->file, &row->line, &row->column)) {
        row->file = NULL;
        row->line = row->column = 0;
    }
}

/* The stretch of code that the address lies in. */
static bool find_code(const struct wm_object *object, uint64_t address, struct wm_code *found)
{
    const size_t count = wm_object_code(object, NULL, 0);
    struct wm_code *code = calloc(count + 1, sizeof *code);
    bool good = false;
    if (code)
        wm_object_code(object, code, count);
    for (size_t i = 0; code && i < count && !good; i++)
        if (address - code[i].address < code[i].size) {
            *found = code[i];
            good = true;
        }
    free(code);
    return good;
}

static bool code_of(void *user, uint64_t pc, struct wm_profile_code *code)
{
    const struct profiled *profiled = user;
    const struct wm_object *object = profiled->module->object;
    const uint64_t address = pc - profiled->module->bias;
    uint64_t distance;
    struct wm_code found;
    const char *symbol = wm_object_symbol(object, address, &distance);
    if (!symbol || !find_code(object, address, &found) || distance > address - found.address)
        return false;
    const uint64_t next = wm_object_next_symbol(object, address + 1), limit = found.address + found.size;
    *code = (struct wm_profile_code){.kernel = symbol,
                                     .pc = pc - distance,
                                     .bytes = found.bytes + (address - distance - found.address),
                                     .size = (next < limit ? next : limit) - (address - distance)};
    return true;
}

enum wm_status wm_profile_create(struct wm_profile **profile, struct wm_diag *diag)
{
    *profile = wmi_profile_create();
    return *profile ? WM_OK : wmi_fail(diag, WM_NO_MEMORY, "no memory for a profile");
}

static bool makes_cache(const struct wm_cache *cache)
{
    const uint64_t way = (uint64_t)cache->line * cache->ways;
    return !cache->bytes || (way && !(cache->line & (cache->line - 1)) && cache->line >= 64 &&
                             cache->bytes <= MAX_CACHE && cache->bytes % way == 0);
}

enum wm_status wm_profile_set_gpu(struct wm_profile *profile, const struct wm_gpu *gpu, struct wm_diag *diag)
{
    static const char *const names[WM_CACHE_LEVELS] = {"vector cache",      "GL1", "scalar cache",
                                                       "instruction cache", "L2",  "last cache"};
    if (wmi_profile_began(profile))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the product must be chosen before the first dispatch");
    for (unsigned level = 0; level < WM_CACHE_LEVELS; level++) {
        const struct wm_cache *cache = &gpu->cache[level];
        if (!makes_cache(cache))
            return wmi_fail(
                diag, WM_BAD_ARGUMENT,
                "%s of %llu bytes: expected a multiple of %u ways of lines of %u bytes, a power of "
                "two from 64 on",
                names[level], (unsigned long long)cache->bytes, cache->ways, cache->line);
    }
    wmi_profile_set_gpu(profile, gpu);
    return WM_OK;
}

/* The product of a profile without one is that of its first dispatch's target, if there is one. */
static enum wm_status choose_gpu(struct wm_profile *profile, const struct wmi_target *target,
                                 struct wm_diag *diag)
{
    const struct wm_gpu *gpu = wmi_profile_gpu(profile);
    char what[64];
    if (!gpu) {
        gpu = wm_gpu_default(wmi_target_name(target));
        if (gpu && !wmi_profile_began(profile))
            wmi_profile_set_gpu(profile, gpu);
        return WM_OK;
    }
    snprintf(what, sizeof what, "the code object is for %s", wmi_target_name(target));
    return wmi_gpu_fits(gpu, target, what, diag);
}

static uint32_t round_up(uint32_t number, uint32_t granule)
{
    return (number + granule - 1) / granule * granule;
}

/* Where a lane has 512 VGPRs, accumulators are the upper ones of the same file, else they have one of their
 * own. */
static struct wmi_profile_dispatch occupancy_of(const struct wm_machine *machine,
                                                const struct wm_kernel *kernel,
                                                const struct wmi_dispatch *dispatch)
{
    const struct wmi_kernel_descriptor *descriptor = wmi_kernel_descriptor(kernel);
    const uint32_t vgprs = descriptor->vgprs, agprs = descriptor->agprs;
    const bool one_file = wmi_target_limit(machine->target, WMI_LIMIT_vgprs) > 256;
    return (struct wmi_profile_dispatch){
        .kernel = kernel->name,
        .pc = dispatch->launch.entry,
        .grid = {dispatch->grid[0], dispatch->grid[1], dispatch->grid[2]},
        .workgroup = {dispatch->workgroup[0], dispatch->workgroup[1], dispatch->workgroup[2]},
        .vgprs = one_file        ? vgprs + agprs
                 : vgprs > agprs ? vgprs
                                 : agprs,
        .sgprs = descriptor->sgprs,
        .lds_bytes = round_up(dispatch->lds_size, wmi_target_limit(machine->target, WMI_LIMIT_lds_granule)),
        .wgp_mode = descriptor->wgp_mode,
    };
}

/* Where execution puts scratch memory, and how much of it the hardware gives to a wave. */
static void tell_scratch(const struct wm_machine *machine, const struct wmi_abi_memory *memory,
                         uint32_t waves, struct wmi_profile_source *source)
{
    const struct wmi_allocation *all =
        memory->scratch ? wmi_space_find(machine->space, memory->scratch) : NULL;
    if (!all)
        return;
    source->scratch_size = all->high - all->low;
    source->scratch_stride = memory->scratch_stride;
    source->scratch_wave = round_up((uint32_t)memory->scratch_piece,
                                    wmi_target_limit(machine->target, WMI_LIMIT_scratch_granule));
    source->dispatch.scratch = memory->scratch;
    source->dispatch.scratch_bytes = waves * source->scratch_wave;
}

const struct wm_profile_kernel *wm_profile_kernels(struct wm_profile *profile, size_t *count)
{
    return wmi_profile_kernels(profile, count);
}

const char *const *wm_bound_names(size_t *count)
{
    return wmi_profile_parts(count);
}

void wm_profile_destroy(struct wm_profile *profile)
{
    if (profile)
        wmi_tracer_drop(wmi_profile_tracer(profile));
    wmi_profile_destroy(profile);
}

const struct wm_profile_row *wm_profile_rows(struct wm_profile *profile, size_t *count)
{
    return wmi_profile_rows(profile, count);
}

/* ---- checks ---- */

enum wm_status wm_check_create(unsigned what, struct wm_check **check, struct wm_diag *diag)
{
    if (!what || what & ~(unsigned)(WM_CHECK_WAITS | WM_CHECK_HAZARDS))
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "a check of 0x%x; expected WM_CHECK_WAITS, WM_CHECK_HAZARDS or both", what);
    *check = wmi_check_create(what);
    return *check ? WM_OK : wmi_fail(diag, WM_NO_MEMORY, "no memory for a check");
}

void wm_check_destroy(struct wm_check *check)
{
    wmi_check_destroy(check);
}

const struct wm_finding *wm_check_findings(struct wm_check *check, size_t *count)
{
    return wmi_check_findings(check, count);
}

/* ---- fidelity ---- */

enum wm_status wm_fidelity_create(struct wm_fidelity **fidelity, struct wm_diag *diag)
{
    *fidelity = wmi_fidelity_create();
    return *fidelity ? WM_OK : wmi_fail(diag, WM_NO_MEMORY, "no memory for a fidelity report");
}

void wm_fidelity_destroy(struct wm_fidelity *fidelity)
{
    wmi_fidelity_destroy(fidelity);
}

const struct wm_fidelity_row *wm_fidelity_rows(struct wm_fidelity *fidelity, size_t *count)
{
    return wmi_fidelity_rows(fidelity, count);
}

const char *const *wm_fidelity_general(void)
{
    return wmi_fidelity_general;
}

/* ---- running ---- */

/* What the words of a kernel are depends on its waves' size; an impossible one is the usual one. Hardware
 * always knows both halves of VGPRs. */
static const struct wmi_target *with_waves_of(const struct wmi_target *target, unsigned lanes)
{
    const struct wmi_target *halves = wmi_target_variant(target, lanes, true);
    const struct wmi_target *whole = halves ? halves : wmi_target_variant(target, lanes, false);
    return whole ? whole : target;
}

static bool is_code(void *user, uint64_t pc)
{
    const struct module *module = user;
    struct wm_code code;
    return find_code(module->object, pc - module->bias, &code);
}

static bool find_dependence(const struct wm_machine *machine, const struct module *module,
                            const struct wm_kernel *kernel, struct wm_dependence *dependence,
                            struct wmi_entries *entries)
{
    const struct wmi_dependence_source source = {
        .target = with_waves_of(machine->target, kernel->wave_size),
        .space = machine->space,
        .entry = kernel->entry + module->bias,
        .unknown_calls = kernel->dynamic_stack,
        .is_code = is_code,
        .user = (void *)module,
    };
    return wmi_dependence_find(&source, dependence, entries);
}

enum wm_status wm_find_dependence(struct wm_machine *machine, const struct wm_object *object,
                                  const struct wm_kernel *kernel, struct wm_dependence *dependence,
                                  struct wm_diag *diag)
{
    const struct module *module = find_module(machine, object);
    struct profiled profiled = {machine, module, ""};
    struct wm_profile_row row = {0};
    if (!module)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the code object is not loaded: call wm_load first");
    if (!find_dependence(machine, module, kernel, dependence, NULL))
        return wmi_fail(diag, WM_NO_MEMORY, "no memory to look at the code of kernel '%s'", kernel->name);
    row.pc = dependence->pc;
    if (dependence->kind != WM_INDEPENDENT)
        describe(&profiled, 0, &row);
    dependence->offset = row.offset;
    snprintf(dependence->function, sizeof dependence->function, "%s", row.kernel ? row.kernel : "");
    snprintf(dependence->text, sizeof dependence->text, "%s", row.text ? row.text : "");
    return WM_OK;
}

/* Somebody watches the dispatch: workgroups that may depend on one another run on one thread, so that what is
 * seen does not depend on the number of threads. The program gets all code that can be found, in a fixed
 * order. False: no memory. */
static bool fix_order(const struct wm_machine *machine, const struct module *module,
                      const struct wm_kernel *kernel, struct wmi_dispatch *dispatch)
{
    struct wm_dependence dependence;
    struct wmi_entries entries = {0};
    bool full;
    const bool ok = find_dependence(machine, module, kernel, &dependence, &entries);
    for (size_t i = 0; ok && i < entries.count; i++)
        wmi_program_at(dispatch->program, entries.address[i], &full);
    if (dependence.kind != WM_INDEPENDENT)
        dispatch->threads = 1;
    dispatch->in_one_order = dependence.kind != WM_INDEPENDENT;
    wmi_entries_free(&entries);
    return ok;
}

static bool is_reproducible(const struct wmi_dispatch *dispatch, size_t steps)
{
    const unsigned fault = dispatch->fault.kind;
    if (dispatch->in_one_order)
        return fault != WM_FAULT_TIMEOUT && fault != WM_FAULT_STOPPED;
    return fault == WM_FAULT_NONE && wmi_program_steps(dispatch->program) == steps;
}

static enum wm_status run(struct wm_machine *machine, const struct module *module,
                          const struct wm_kernel *kernel, struct wmi_dispatch *dispatch,
                          const struct wm_dispatch *request, struct wm_result *result, struct wm_diag *diag)
{
    const struct wmi_program_options options = {
        .target = with_waves_of(machine->target, kernel->wave_size),
        .space = machine->space,
        .entry = dispatch->launch.entry,
        .lanes = kernel->wave_size,
        .vgprs = wmi_kernel_descriptor(kernel)->vgprs,
        .agprs = wmi_kernel_descriptor(kernel)->agprs,
        .level = wmi_cpu_level(),
        .observer = dispatch->observer,
        .alignment = dispatch->alignment,
        .scalar_cache = dispatch->stales.mode,
        .counts = dispatch->executed,
    };
    const double begin = wmi_seconds();
    dispatch->program = wmi_program_create(&options);
    const bool watched = dispatch->observer || dispatch->executed || dispatch->stales.mode;
    bool ok = dispatch->program && (!watched || fix_order(machine, module, kernel, dispatch));
    const size_t steps = ok ? wmi_program_steps(dispatch->program) : 0;
    ok = ok && wmi_dispatch_run(dispatch);
    result->seconds = wmi_seconds() - begin;
    const struct wmi_fault_place place = {machine->target, module->object, wmi_object_name(module->object),
                                          module->bias};
    if (ok) {
        result->wave_instructions = dispatch->instructions;
        result->waves = dispatch->waves;
        result->workgroups = dispatch->groups_done;
        result->reproducible = is_reproducible(dispatch, steps);
        if (dispatch->fault.kind != WM_FAULT_NONE)
            wmi_report_fault(dispatch, &place, &result->fault);
        wmi_report_stales(dispatch, &place, request->stale, request->stale_user);
        result->violations = dispatch->violation.count;
        if (result->violations) {
            dispatch->fault = dispatch->violation.first;
            dispatch->fault_group = dispatch->violation.group;
            dispatch->fault_wave = dispatch->violation.wave;
            wmi_report_fault(dispatch, &place, &result->violation);
        }
    }
    free(dispatch->stales.found);
    wmi_program_destroy(dispatch->program);
    return ok ? WM_OK : wmi_fail(diag, WM_NO_MEMORY, "no memory to run kernel '%s'", kernel->name);
}

enum wm_status wm_dispatch(struct wm_machine *machine, const struct wm_object *object,
                           const struct wm_kernel *kernel, const struct wm_dispatch *request,
                           struct wm_result *result, struct wm_diag *diag)
{
    struct wmi_dispatch dispatch = {.space = machine->space, .apertures = machine->apertures};
    enum wm_status status = check_request(kernel, request, result, &dispatch, diag);
    if (status)
        return status;
    *result = (struct wm_result){.struct_size = sizeof *result};
    const struct module *module = find_module(machine, object);
    if (!module)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the code object is not loaded: call wm_load first");

    if (request->profile) {
        status = choose_gpu(request->profile, machine->target, diag);
        if (status)
            return status;
    }

    struct wmi_abi_memory memory;
    dispatch.threads = thread_count(request->threads);
    const uint64_t items = (uint64_t)dispatch.workgroup[0] * dispatch.workgroup[1] * dispatch.workgroup[2];
    const struct wmi_abi_request abi = {
        .kernel = kernel,
        .dispatch = request,
        .bias = module->bias,
        .space = machine->space,
        .apertures = &machine->apertures,
        .waves_per_group = (uint32_t)((items + kernel->wave_size - 1) / kernel->wave_size),
        .prints = request->print != NULL,
    };
    status = wmi_abi_prepare(&abi, &memory, &dispatch.launch, diag);
    if (status)
        return status;
    dispatch.scratch_stride = memory.scratch_stride;
    dispatch.scratch_piece = memory.scratch_piece;
    dispatch.scratch = memory.scratch ? wmi_space_host(machine->space, memory.scratch, 1) : NULL;
    dispatch.scratch_base = memory.scratch;
    dispatch.goes_on = request->on_violation == WM_VIOLATION_GOES_ON;
    dispatch.residents = memory.places < WMI_RESIDENT_LIMIT ? memory.places : WMI_RESIDENT_LIMIT;
    dispatch.max_instructions = request->max_instructions ? request->max_instructions : MAX_INSTRUCTIONS;
    dispatch.timeout = request->timeout;
    dispatch.alignment = request->alignment;
    dispatch.stales.mode = request->scalar_cache;
    pthread_mutex_init(&dispatch.stales.lock, NULL);
    dispatch.progress = request->progress;
    dispatch.progress_user = request->progress_user;
    if (request->fidelity)
        dispatch.executed = wmi_fidelity_counters(request->fidelity);
    struct profiled profiled = {machine, module, ""};
    if (request->profile) {
        struct wmi_profile_source source = {
            .user = &profiled,
            .describe = describe,
            .code = code_of,
            .target_name = wmi_target_name(machine->target),
            .rules = wmi_cost_rules(wmi_target_limit(machine->target, WMI_LIMIT_cost_rules)),
            .wave_lanes = kernel->wave_size,
            .dispatch = occupancy_of(machine, kernel, &dispatch),
        };
        tell_scratch(machine, &memory, abi.waves_per_group, &source);
        dispatch.observer = wmi_profile_begin(request->profile, &source);
    }
    struct wmi_observers *both = NULL;
    const struct wmi_observer *profile = dispatch.observer, *check = NULL;
    if (request->check)
        dispatch.observer = check =
            wmi_check_begin(request->check, with_waves_of(machine->target, kernel->wave_size));
    struct wmi_tracer *tracer = request->profile ? wmi_profile_tracer(request->profile) : NULL;
    if (tracer)
        wmi_tracer_begin(tracer, request->profile, wmi_target_name(machine->target));
    if (profile && check && (both = wmi_observers_create(check, profile)))
        dispatch.observer = wmi_observers_as_one(both);
    status = profile && check && !both
                 ? wmi_fail(diag, WM_NO_MEMORY, "no memory to watch kernel '%s'", kernel->name)
                 : run(machine, module, kernel, &dispatch, request, result, diag);
    wmi_observers_destroy(both);
    if (request->profile)
        wmi_profile_end(request->profile);
    if (tracer)
        wmi_tracer_end(tracer, request->profile);
    if (request->check)
        wmi_check_end(request->check, describe, &profiled);
    if (status == WM_OK && memory.printf && request->print) {
        size_t count;
        const char *const *formats = wmi_object_printf(object, &count);
        wmi_print_buffer(formats, count, wmi_space_host(machine->space, memory.printf, WMI_PRINTF_BYTES),
                         WMI_PRINTF_BYTES, request->print, request->print_user);
    }
    wmi_abi_release(machine->space, &memory);
    return status;
}
