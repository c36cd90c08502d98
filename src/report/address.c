/* SPDX-License-Identifier: MIT */
/* Computes the addresses of an instruction: lowers it as for a dispatch and executes it in a wave with the
 * given registers, up to the step that shows its access to an observer. So addresses and checks are those of
 * execution; address_steps.c adds the formulas. */
#include "report/address.h"

#include "exec/control/frame_words.h"
#include "exec/memory/apertures.h"
#include "exec/memory/gds.h"
#include "exec/observe/register_place.h"
#include "exec/run/environment.h"
#include "exec/run/program.h"

#include "base/diag.h"
#include "isa/text/assemble.h"
#include "memory/space.h"
#include "profile/cost/gpu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_STEPS = 64,   /* maximum steps of an instruction up to its access */
    LDS_PADDING = 64, /* see struct wmi_workgroup */
    GDS_FROM_0 = 0xffff,
};

/* A dispatch of one wave and one instruction. */
struct stage {
    const struct wmi_target *target;
    struct wmi_instruction insn;
    struct wmi_space *code, *memory;
    struct wmi_program *program;
    struct wmi_frame *frame;
    struct wmi_dispatch dispatch;
    struct wmi_workgroup group;
    struct wmi_wave wave;
    struct wmi_worker worker;
    struct wmi_observer observer;
    const struct wmi_observer *one; /* &observer */
    void *local;                    /* the observer's local state: the stage */
    struct wm_address_answer *answer;
    bool seen;
};

/* ---- the observer ---- */

static void *begin(void *self)
{
    return self;
}

static void end(void *self, void *local)
{
    (void)self;
    (void)local;
}

static uint32_t slot_of(void *self, uint64_t pc, unsigned id)
{
    (void)self;
    (void)pc;
    (void)id;
    return 0;
}

static void take_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    static const char *const spaces[] = {[WMI_SPACE_GLOBAL] = "memory",
                                         [WMI_SPACE_LDS] = "LDS",
                                         [WMI_SPACE_GDS] = "GDS",
                                         [WMI_SPACE_LANES] = "lanes"};
    struct stage *stage = local;
    struct wm_address_answer *a = stage->answer;
    (void)slot;
    if (stage->seen || access->path == WMI_PATH_CONTROL)
        return; /* only the first access is shown */
    stage->seen = true;
    a->path = wm_path_name((enum wm_path)access->path);
    a->kind = wm_access_kind_name((enum wm_access_kind)access->kind);
    a->lanes = access->lanes;
    a->bytes = access->bytes;
    a->elements = access->elements < WM_ADDRESS_ELEMENTS ? access->elements : WM_ADDRESS_ELEMENTS;
    for (unsigned i = 0; i < a->elements; i++) {
        const struct wmi_element *from = &access->element[i];
        struct wm_address_element *to = &a->element[i];
        to->space = spaces[from->space];
        to->lanes = from->mask;
        to->bad_range = from->bad_range;
        to->bad_align = from->bad_align;
        to->bad_aperture = from->bad_aperture;
        for (uint64_t left = from->mask; left; left &= left - 1) {
            const unsigned lane = (unsigned)__builtin_ctzll(left);
            to->address[lane] = from->address[lane];
            if (from->private_offset)
                to->private_offset[lane] = from->private_offset[lane];
        }
        to->has_private = from->private_offset != NULL;
    }
}

/* ---- registers ---- */

static enum wm_status set_register(struct stage *stage, const struct wm_register *r, struct wm_diag *diag)
{
    struct wmi_register_place place;
    if (!r->name)
        return wmi_null(diag, "wm_address_explain", "a register's name");
    if (!wmi_register_find(wmi_program_code(stage->program), r->name, &place) ||
        (place.kind != WMI_PLACE_SCALAR && place.kind != WMI_PLACE_VECTOR))
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "'%s': no register of %s; expected one like s4, v3, m0, vcc_lo, flat_scratch_lo",
                        r->name, wmi_target_name(stage->target));
    memcpy(wmi_register_words(stage->frame, &place), r->value, place.words * sizeof *r->value);
    return WM_OK;
}

static void set_exec(struct stage *stage, uint64_t bits)
{
    struct wmi_frame *frame = stage->frame;
    wmi_lanes_fill(&frame->exec, bits, frame->wave_size);
    memcpy(&frame->s[WMI_S_EXEC], &frame->exec.bits, 8);
}

/* ---- the stage ---- */

static enum wm_status assemble(struct stage *stage, const char *text, struct wm_diag *diag)
{
    struct wmi_cursor cursor = {.at = text, .end = text + strlen(text)};
    if (!wmi_assemble(stage->target, &cursor, &stage->insn, NULL))
        return cursor.wrong ? wmi_fail(diag, WM_BAD_FILE, "'%s': expected %s at '%s'", text, cursor.wrong,
                                       cursor.wrong_at ? cursor.wrong_at : "")
                            : wmi_fail(diag, WM_BAD_FILE, "'%s': no instruction of %s", text,
                                       wmi_target_name(stage->target));
    const struct wmi_row *row = &wmi_rows[stage->insn.id];
    const bool exchange = row->class == WMI_CLASS_DS && row->flags & WMI_ROW_CROSS_LANE;
    if (row->memory == WMI_MEMORY_NONE && !exchange)
        return wmi_fail(diag, WM_UNSUPPORTED, "'%s' does not access memory", text);
    return WM_OK;
}

static enum wm_status no_memory(struct wm_diag *diag)
{
    return wmi_fail(diag, WM_NO_MEMORY, "no memory to explain an instruction");
}

/* Lowers the instruction, followed by the end of the program. */
static enum wm_status build(struct stage *stage, const struct wm_address_request *request,
                            struct wm_diag *diag)
{
    struct wmi_instruction last;
    static const char text[] = "s_endpgm";
    struct wmi_cursor cursor = {.at = text, .end = text + sizeof text - 1};
    uint64_t entry;
    stage->code = wmi_space_create();
    stage->memory = wmi_space_create_everywhere();
    if (!stage->code || !stage->memory || !wmi_assemble(stage->target, &cursor, &last, NULL) ||
        wmi_space_allocate(stage->code, 4096, 0, "code", &entry, diag))
        return no_memory(diag);
    unsigned char *host = wmi_space_host(stage->code, entry, 4096);
    memcpy(host, stage->insn.words, 4 * stage->insn.dwords);
    memcpy(host + 4 * stage->insn.dwords, last.words, 4 * last.dwords);
    const struct wmi_code_options options = {
        .target = stage->target,
        .space = stage->code,
        .entry = entry,
        .lanes = wmi_target_limit(stage->target, WMI_LIMIT_wave),
        .vgprs = wmi_target_limit(stage->target, WMI_LIMIT_vgprs),
        .observers = {.one = &stage->one, .count = 1},
        .tiling = wmi_gpu_tiling(NULL, stage->target),
        .sramecc = wmi_sramecc_of(request->target),
    };
    stage->program = wmi_program_create(&options, wmi_cpu_level());
    if (!stage->program)
        return no_memory(diag);
    const size_t size = wmi_code_frame_size(wmi_program_code(stage->program));
    stage->frame = aligned_alloc(64, size);
    if (!stage->frame)
        return no_memory(diag);
    memset(stage->frame, 0, size);
    wmi_code_prepare_frame(wmi_program_code(stage->program), stage->frame);
    stage->frame->wave_size = options.lanes;
    stage->frame->wave = &stage->wave;
    return WM_OK;
}

static enum wm_status connect(struct stage *stage, const struct wm_address_request *request,
                              struct wm_diag *diag)
{
    struct wmi_apertures apertures = wmi_apertures_of(stage->target);
    if (request->shared_base || request->private_base) {
        const enum wm_status status =
            wmi_apertures_set(stage->target, request->shared_base, request->private_base, &apertures, diag);
        if (status)
            return status;
    }
    uint32_t *s = stage->frame->s;
    memcpy(&s[WMI_S_SHARED_BASE], &apertures.shared_base, 8);
    memcpy(&s[WMI_S_SHARED_LIMIT], &apertures.shared_limit, 8);
    memcpy(&s[WMI_S_PRIVATE_BASE], &apertures.private_base, 8);
    memcpy(&s[WMI_S_PRIVATE_LIMIT], &apertures.private_limit, 8);
    const uint32_t most = wmi_target_limit(stage->target, WMI_LIMIT_lds_bytes);
    const uint32_t lds_bytes = request->lds_bytes ? request->lds_bytes : most;
    if (lds_bytes > most)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%u bytes of LDS: a workgroup of %s has %u at most", lds_bytes,
                        wmi_target_name(stage->target), most);
    stage->group.lds = calloc(1, lds_bytes + LDS_PADDING);
    if (!stage->group.lds)
        return no_memory(diag);
    pthread_mutex_init(&stage->dispatch.lock, NULL);
    stage->dispatch.program = stage->program;
    stage->dispatch.space = stage->memory;
    stage->dispatch.apertures = apertures;
    stage->dispatch.lds_size = stage->group.lds_size = lds_bytes;
    stage->group.dispatch = &stage->dispatch;
    stage->group.waves = &stage->wave;
    stage->group.wave_count = stage->group.waves_left = 1;
    stage->worker.dispatch = &stage->dispatch;
    stage->worker.space = stage->memory;
    stage->worker.observers = &stage->local;
    stage->wave.program = stage->program;
    stage->wave.frame = stage->frame;
    stage->wave.group = &stage->group;
    stage->wave.worker = &stage->worker;
    if (wmi_target_limit(stage->target, WMI_LIMIT_lds_m0))
        s[WMI_S_M0] = UINT32_MAX; /* as compilers set it: no limit on LDS */
    if (stage->insn.field[WMI_FIELD_gds])
        s[WMI_S_M0] = GDS_FROM_0; /* all of the GDS */
    for (size_t i = 0; i < request->register_count; i++) {
        const enum wm_status status = set_register(stage, &request->registers[i], diag);
        if (status)
            return status;
    }
    set_exec(stage, request->lanes);
    if (request->lane >= stage->frame->wave_size || !(stage->frame->exec.bits >> request->lane & 1))
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "lane %u is not active: the wave has %u lanes, EXEC is 0x%" PRIx64, request->lane,
                        stage->frame->wave_size, stage->frame->exec.bits);
    return WM_OK;
}

/* Executes steps until the access was shown, and no further, because the memory does not exist. Steps that
 * show an access return afterwards. */
static enum wm_status run(struct stage *stage, const struct wm_address_request *request, struct wm_diag *diag)
{
    bool full;
    const struct wmi_op *op =
        wmi_program_at(stage->program, wmi_program_code(stage->program)->options.entry, &full);
    for (unsigned i = 0; op && !stage->seen && i < MAX_STEPS; i++)
        op = op->body((char *)stage->frame, op);
    if (!stage->seen && stage->worker.fault.detail)
        return wmi_fail(diag, WM_UNSUPPORTED, "'%s': %s", request->text, stage->worker.fault.detail);
    if (!stage->seen)
        return wmi_fail(diag, WM_UNSUPPORTED, "'%s': wavemem does not execute this yet, or it has no address",
                        request->text);
    return WM_OK;
}

/* Adds the formulas if their addresses are those of execution. */
static void tell(struct stage *stage, const struct wm_address_request *request)
{
    struct wm_address_answer *a = stage->answer;
    struct wmi_explained e = {
        .target = stage->target,
        .insn = &stage->insn,
        .frame = stage->frame,
        .vgpr_offset = wmi_program_code(stage->program)->vgpr_offset,
        .row_bytes = wmi_program_code(stage->program)->row_bytes,
        .lds_bytes = stage->group.lds_size,
        .lane = request->lane,
        .answer = a,
    };
    const unsigned lane = a->lanes >> request->lane & 1 ? request->lane : 0;
    wmi_explain_steps(&e);
    bool same = e.addresses > 0;
    for (unsigned i = 0; i < a->elements && i < e.addresses; i++)
        if (a->element[i].lanes >> lane & 1)
            same &= e.address[i] == a->element[i].address[lane];
    if (!same)
        a->step_count = 0;
}

static void strike(struct stage *stage)
{
    if (stage->program)
        wmi_program_destroy(stage->program);
    wmi_space_destroy(stage->code);
    wmi_space_destroy(stage->memory);
    wmi_gds_destroy(stage->dispatch.gds);
    free(stage->frame);
    free(stage->group.lds);
    free(stage);
}

enum wm_status wm_address_explain(const struct wm_address_request *request, struct wm_address_answer *answer,
                                  struct wm_diag *diag)
{
    if (!request || !answer)
        return wmi_null(diag, __func__, request ? "answer" : "request");
    if (!request->text || (request->register_count && !request->registers))
        return wmi_null(diag, __func__, request->text ? "request->registers" : "request->text");
    const struct wmi_target *target = wmi_target_find(request->target);
    if (!target)
        return wmi_fail(diag, WM_NOT_FOUND, "%s: not a target that wavemem knows; expected one like gfx900",
                        request->target ? request->target : "(null)");
    enum wm_status status = wmi_environment_check(diag);
    if (status)
        return status;
    struct stage *stage = calloc(1, sizeof *stage);
    if (!stage)
        return no_memory(diag);
    memset(answer, 0, sizeof *answer);
    stage->target = target;
    stage->answer = answer;
    stage->observer = (struct wmi_observer){.self = stage,
                                            .explains = true,
                                            .thread_begin = begin,
                                            .thread_end = end,
                                            .access = take_access,
                                            .instruction = slot_of};
    stage->one = &stage->observer;
    stage->local = stage;
    status = assemble(stage, request->text, diag);
    if (!status)
        status = build(stage, request, diag);
    if (!status)
        status = connect(stage, request, diag);
    if (!status) {
        answer->wave_size = stage->frame->wave_size;
        answer->format = wmi_rows[stage->insn.id].flags & WMI_ROW_FORMAT;
        wmi_print(target, &stage->insn, answer->text, sizeof answer->text);
        status = run(stage, request, diag);
    }
    if (!status)
        tell(stage, request);
    strike(stage);
    return status;
}
