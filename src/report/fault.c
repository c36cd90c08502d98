/* SPDX-License-Identifier: MIT */
/* Words a guest fault the way a person reads it: what, at which instruction, by which lanes, to which bytes.
 */
#include "report/fault.h"

#include "base/escape.h"
#include "base/grid.h"
#include "base/quote.h"
#include "exec/run/program.h"
#include "isa/decode/msb.h"
#include "lower/allocated.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FAR_BYTES = 1 << 30,  /* an allocation farther away explains nothing */
    NULL_BYTES = 1 << 16, /* addresses that an index from a null pointer reaches */
};

struct text {
    char *at;
    size_t left;
    char *line; /* where the last line begins */
};

static void add_escaped(struct text *text, const char *more, const char *kept)
{
    enum { DOTS = sizeof "..." };
    const size_t wanted = wmi_escape(text->at, text->left, more, strlen(more), kept), used = strlen(text->at);
    char *end = text->at + text->left;
    const bool cut = wanted >= text->left;
    text->at += used;
    if (cut) {
        if (end - text->at < DOTS)
            text->at = end - DOTS;
        memcpy(text->at, "...", DOTS);
        text->at = end - 1;
        *text->at = '\0';
    }
    text->left = (size_t)(end - text->at);
}

/* A line feed at the beginning of `format` begins a line; others can only come from names. */
__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    char more[1024];
    const bool begins_line = *format == '\n';
    va_list arguments;
    va_start(arguments, format);
    const size_t used = begins_line ? 0 : (size_t)(text->at - text->line);
    wmi_quote_list(more, sizeof more, WMI_QUOTE_MOST - (used < WMI_QUOTE_MOST ? used : WMI_QUOTE_MOST),
                   format, arguments);
    va_end(arguments);
    if (begins_line) {
        add_escaped(text, "\n", "\n");
        text->line = text->at;
    }
    add_escaped(text, more + begins_line, "");
}

/* "0-15,32,40-63" */
static void add_lanes(struct text *text, uint64_t lanes)
{
    const char *separator = "";
    for (unsigned first = 0; first < 64; first++) {
        if (!(lanes >> first & 1))
            continue;
        unsigned last = first;
        while (last < 63 && lanes >> (last + 1) & 1)
            last++;
        add(text, first == last ? "%s%u" : "%s%u-%u", separator, first, last);
        separator = ",";
        first = last;
    }
}

static void add_unallocated(struct text *text, struct wmi_unallocated missing)
{
    if (missing.allocated)
        add(text, "%c%u is not among the %u %ss that the kernel descriptor allocates", missing.letter,
            missing.number, missing.allocated, missing.file);
    else
        add(text, "%c%u: the kernel descriptor allocates no %ss", missing.letter, missing.number,
            missing.file);
}

/* Why what is at the fault's pc cannot be executed. */
static void add_no_instruction(struct text *text, const struct wmi_dispatch *dispatch,
                               const struct wmi_fault *fault, const struct wmi_target *target)
{
    const struct wmi_allocation *in = wmi_space_find(dispatch->space, fault->pc);
    const struct wmi_code *code = dispatch->program ? wmi_program_code(dispatch->program) : NULL;
    struct wmi_instruction insn;
    struct wmi_unallocated missing;
    if (fault->pc & 3) {
        add(text, "a jump to an address that is no multiple of 4");
    } else if (!in) {
        add(text, "no code: the address is outside every allocation");
    } else if (fault->pc >= wmi_code_end(in)) {
        add(text, "no code: '%s' ends here", in->name);
    } else if (!code || !wmi_code_decode(code, fault->pc, &insn)) {
        const size_t left = (size_t)(wmi_code_end(in) - fault->pc);
        uint32_t word = 0;
        memcpy(&word, in->host + (fault->pc - in->low), left < sizeof word ? left : sizeof word);
        if (left < sizeof word)
            add(text, "no code: '%s' ends in the middle of an instruction", in->name);
        else
            add(text, "0x%08x is no instruction of %s", word, wmi_target_name(target));
    } else if (wmi_find_unallocated(code, &insn, &missing)) {
        add_unallocated(text, missing);
    } else if (fault->rows) {
        add_unallocated(text, wmi_unallocated_row(code, fault->rows - 1));
    } else if (wmi_rows[insn.id].class == WMI_CLASS_BUFFER) {
        add(text, "a load to LDS with tfe, which has no register for the status");
    } else {
        add(text, "an instruction that is always illegal");
    }
}

static void add_headline(struct text *text, const struct wmi_dispatch *dispatch,
                         const struct wmi_fault *fault, const struct wmi_target *target, const char *path)
{
    switch (fault->kind) {
    case WM_FAULT_MEMORY:
        add(text, "%s %s outside %s", path, fault->store ? "store" : "load",
            fault->own ? "the private memory of the wave" : "every allocation");
        break;
    case WM_FAULT_READ_ONLY:
        add(text, "%s store to read-only memory", path);
        break;
    case WM_FAULT_MISALIGNED:
        add(text, "misaligned %s %s", path, !fault->plain ? "atomic" : fault->store ? "store" : "load");
        break;
    case WM_FAULT_APERTURE:
        add(text, "%s %s at what is no address of memory: bits 63 to 47 are neither all 0 nor all 1", path,
            fault->store ? "store" : "load");
        break;
    case WM_FAULT_PRIVATE_ATOMIC:
        add(text, "%s atomic of 8 bytes on private memory, which has those of 4 only", path);
        break;
    case WM_FAULT_OFFSET:
        add(text, "%s %s with a negative offset from a buffer's base", path, fault->store ? "store" : "load");
        break;
    case WM_FAULT_INSTRUCTION:
        add_no_instruction(text, dispatch, fault, target);
        break;
    case WM_FAULT_TODO:
        add(text, "an instruction that wavemem does not execute yet%s%s", fault->detail ? ": " : "",
            fault->detail ? fault->detail : "");
        break;
    case WM_FAULT_RESOURCE:
        add(text, "%s", fault->detail);
        break;
    case WM_FAULT_TRAP:
        add(text, "the kernel trapped: %s", fault->detail);
        break;
    case WM_FAULT_BUDGET:
        add(text, "a wave used up its instruction budget");
        break;
    case WM_FAULT_TIMEOUT:
        add(text, "the time limit ran out");
        break;
    case WM_FAULT_DEADLOCK:
        add(text,
            "deadlock: all that is left waits, at a barrier or in a loop that nothing can end any more");
        if (dispatch->groups_started < dispatch->group_count)
            add(text, "; too many wait for the other workgroups to start");
        break;
    case WM_FAULT_CODE_LIMIT:
        add(text, "more code was reached than wavemem predecodes (%u steps)", WMI_STEP_LIMIT);
        break;
    case WM_FAULT_NO_MEMORY:
        add(text, "the host has no memory for what the kernel needs: code, GDS or the scalar cache");
        break;
    case WM_FAULT_STOPPED:
        add(text, "stopped");
        break;
    default:
        add(text, "fault %u", fault->kind);
        break;
    }
}

/* The instruction at the fault's pc, or false. */
static bool decode_at(const struct wmi_dispatch *dispatch, const struct wmi_target *target, uint64_t pc,
                      struct wmi_instruction *insn)
{
    const struct wmi_allocation *code = wmi_space_find(dispatch->space, pc);
    return code && !(pc & 3) && pc < wmi_code_end(code) &&
           wmi_decode(target, (const uint32_t *)(code->host + (pc - code->low)),
                      (size_t)(wmi_code_end(code) - pc) / 4, insn);
}

static const char *path_name(const struct wmi_instruction *insn)
{
    static const char *const names[] = {
        [WMI_CLASS_SMEM] = "scalar",     [WMI_CLASS_BUFFER] = "buffer", [WMI_CLASS_TBUFFER] = "typed buffer",
        [WMI_CLASS_IMAGE] = "image",     [WMI_CLASS_FLAT] = "flat",     [WMI_CLASS_GLOBAL] = "global",
        [WMI_CLASS_SCRATCH] = "scratch", [WMI_CLASS_DS] = "LDS",        [WMI_CLASS_EXPORT] = "export",
    };
    const char *name = names[wmi_rows[insn->id].class];
    return name ? name : "memory";
}

static void add_pc(struct text *text, const struct wmi_fault_place *place, uint64_t pc)
{
    uint64_t distance;
    const char *symbol = pc ? wm_object_symbol(place->object, pc - place->bias, &distance) : NULL;
    char name[512];
    if (symbol)
        add(text, "%s+0x%llx", wm_source_name(symbol, name, sizeof name), (unsigned long long)distance);
    else
        add(text, "0x%llx", (unsigned long long)pc);
}

static void add_place(struct text *text, const struct wmi_dispatch *dispatch,
                      const struct wmi_fault_place *place, bool decoded, struct wmi_instruction *insn)
{
    const uint64_t pc = dispatch->fault.pc, address = pc - place->bias;
    const char *file;
    unsigned line, column;
    char words[128];

    add(text, "\n  at   ");
    add_pc(text, place, pc);
    if (decoded) {
        wmi_extend_vgprs(insn, wm_object_state(place->object, address));
        wmi_print(place->target, insn, words, sizeof words);
        add(text, "   %s", words);
    }
    if (pc && wm_object_line(place->object, address, &file, &line, &column))
        add(text, "   %s:%u", file, line);
}

/* Which piece of scratch a wave has depends on the threads; what a report says must not. */
static void move_to_first_piece(const struct wmi_dispatch *dispatch, struct wmi_fault *fault)
{
    if (!fault->own)
        return;
    fault->low -= fault->own - dispatch->scratch_base;
    fault->high -= fault->own - dispatch->scratch_base;
}

/* What lies at the address, or near it. */
static void add_neighbour(struct text *text, const struct wmi_dispatch *dispatch, uint64_t address)
{
    const struct wmi_allocation *in = wmi_space_find(dispatch->space, address);
    const struct wmi_allocation *near = wmi_space_nearest(dispatch->space, address);
    struct wmi_hit hit;
    if (in && wmi_space_reach(dispatch->space, address, &hit)) {
        add(text, "; in '%s' 0x%llx .. 0x%llx", in->name, (unsigned long long)hit.low,
            (unsigned long long)hit.high - 1);
        return;
    }
    if (!near)
        return;
    const bool behind = address >= near->high;
    const uint64_t distance = behind ? address - near->high : near->low - address;
    if (distance > FAR_BYTES)
        add(text, "; no allocation is near%s", address < NULL_BYTES ? ": a null pointer?" : "");
    else if (behind)
        add(text, "; nearest: '%s' ends at 0x%llx, %llu bytes before", near->name,
            (unsigned long long)near->high, (unsigned long long)distance);
    else
        add(text, "; nearest: '%s' begins at 0x%llx, %llu bytes behind", near->name,
            (unsigned long long)near->low, (unsigned long long)distance);
}

static void add_target(struct text *text, const struct wmi_dispatch *dispatch, const struct wmi_fault *fault)
{
    add(text, "\n  to   0x%llx .. 0x%llx, %u bytes per lane", (unsigned long long)fault->low,
        (unsigned long long)fault->high, fault->bytes);
    if (!fault->private || fault->kind != WM_FAULT_MEMORY)
        add_neighbour(text, dispatch, fault->low);
    else if (dispatch->scratch_piece)
        add(text, "; beyond the %llu bytes of scratch that the wave has",
            (unsigned long long)dispatch->scratch_piece);
    else
        add(text, "; the kernel has no scratch");
}

static void place_group(const struct wmi_dispatch *dispatch, uint64_t group, uint32_t id[3])
{
    wmi_grid_place(dispatch->groups, dispatch->cluster, group, id);
}

/* How many waves wait forever, and where the first of them do. */
static void add_standstill(struct text *text, const struct wmi_dispatch *dispatch,
                           const struct wmi_fault_place *place)
{
    const struct wmi_standstill *all = &dispatch->standstill;
    if (all->waves < 2)
        return;
    add(text, "\n  %llu waves wait, in %llu workgroup%s%s:", (unsigned long long)all->waves,
        (unsigned long long)all->groups, all->groups == 1 ? "" : "s",
        all->waves > all->count ? "; the first of them" : "");
    for (unsigned i = 0; i < all->count; i++) {
        const struct wmi_waiting_wave *one = &all->first[i];
        uint32_t id[3];
        place_group(dispatch, one->group, id);
        add(text, "\n       workgroup (%u,%u,%u) wave %u at ", id[0], id[1], id[2], one->wave);
        add_pc(text, place, one->pc);
    }
}

void wmi_report_fault(const struct wmi_dispatch *dispatch, const struct wmi_fault_place *place,
                      struct wm_fault *out)
{
    struct wmi_fault moved = dispatch->fault;
    const struct wmi_fault *fault = &moved;
    struct text text = {out->text, sizeof out->text, out->text};
    struct wmi_instruction insn;
    const bool decoded = decode_at(dispatch, place->target, fault->pc, &insn);

    move_to_first_piece(dispatch, &moved);
    out->kind = (enum wm_fault_kind)fault->kind;
    out->pc = fault->pc;
    place_group(dispatch, dispatch->fault_group, out->workgroup);
    out->wave = dispatch->fault_wave;
    out->lanes = fault->lanes;
    out->low = fault->low;
    out->high = fault->high;
    out->bytes = fault->bytes;
    out->store = fault->store;

    add(&text, "%s: ", place->object_name);
    add_headline(&text, dispatch, fault, place->target, decoded ? path_name(&insn) : "memory");
    add_place(&text, dispatch, place, decoded, &insn);
    add(&text, "\n  by   workgroup (%u,%u,%u) wave %u", out->workgroup[0], out->workgroup[1],
        out->workgroup[2], out->wave);
    if (fault->lanes) {
        add(&text, ", lanes ");
        add_lanes(&text, fault->lanes);
    }
    if (fault->bytes && decoded && wmi_rows[insn.id].class == WMI_CLASS_DS)
        add(&text, "\n  to   LDS bytes 0x%llx .. 0x%llx, %u bytes per lane", (unsigned long long)fault->low,
            (unsigned long long)fault->high, fault->bytes);
    else if (fault->bytes)
        add_target(&text, dispatch, fault);
    if (fault->kind == WM_FAULT_DEADLOCK)
        add_standstill(&text, dispatch, place);
}

/* ---- scalar caches ---- */

static int by_address(const void *a, const void *b)
{
    const struct wmi_stale *x = a, *y = b;
    return x->pc != y->pc ? (x->pc < y->pc ? -1 : 1) : (x->kind > y->kind) - (x->kind < y->kind);
}

static void report_stale(const struct wmi_dispatch *dispatch, const struct wmi_fault_place *place,
                         const struct wmi_stale *found, struct wm_stale *out, char *words, size_t size)
{
    static const char *const headlines[] = {
        [WM_STALE_LOAD] =
            "scalar load may read a stale line: memory changed since the scalar cache fetched it, "
            "without S_DCACHE_INV",
        [WM_STALE_STORE] = "scalar store may be lost: the scalar cache was not written back with S_DCACHE_WB",
        [WM_STALE_VECTOR_LOAD] =
            "vector load may miss what a scalar store left in the scalar cache, which was "
            "not written back with S_DCACHE_WB",
    };
    struct text text = {words, size, words};
    struct wmi_instruction insn;
    struct wmi_dispatch at = *dispatch;
    at.fault = (struct wmi_fault){.pc = found->pc};
    *out = (struct wm_stale){.kind = (enum wm_stale_kind)found->kind,
                             .pc = found->pc,
                             .count = found->count,
                             .wave = found->wave,
                             .address = found->address,
                             .text = words};
    place_group(dispatch, found->group, out->workgroup);
    add(&text, "%s: %s", place->object_name, headlines[found->kind]);
    add_place(&text, &at, place, decode_at(dispatch, place->target, found->pc, &insn), &insn);
    add(&text, "\n  by   workgroup (%u,%u,%u) wave %u first, %llu times in all", out->workgroup[0],
        out->workgroup[1], out->workgroup[2], out->wave, (unsigned long long)found->count);
    const struct wmi_allocation *in = wmi_space_find(dispatch->space, found->address);
    if (in)
        add(&text, "\n  to   0x%llx, byte %llu of '%s'", (unsigned long long)found->address,
            (unsigned long long)(found->address - in->low), in->name);
}

void wmi_report_stales(struct wmi_dispatch *dispatch, const struct wmi_fault_place *place,
                       void (*visit)(void *user, const struct wm_stale *stale), void *user)
{
    const struct wmi_stales *stales = &dispatch->stales;
    if (!visit || !stales->count)
        return;
    qsort(stales->found, stales->count, sizeof *stales->found, by_address);
    for (size_t i = 0; i < stales->count; i++) {
        char words[1024];
        struct wm_stale out;
        report_stale(dispatch, place, &stales->found[i], &out, words, sizeof words);
        visit(user, &out);
    }
}
