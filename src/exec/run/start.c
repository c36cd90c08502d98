/* SPDX-License-Identifier: MIT */
/* Starts workgroups: registers, EXEC, LDS and scratch memory of their waves, and the executors that run them.
 */
#include "base/grid.h"
#include "exec/control/frame_words.h"
#include "exec/run/executor.h"
#include "exec/run/switch.h"

#include <stdlib.h>
#include <string.h>

enum { LDS_PADDING = 64 };

void *wmi_aligned_zero(size_t size)
{
    size = (size + 63) & ~(size_t)63;
    void *memory = aligned_alloc(64, size);
    if (memory)
        memset(memory, 0, size);
    return memory;
}

/* Packs the ids into one row: x in bits 9:0, y in 19:10, z in 29:20. Ids that the kernel does not request are
 * 0. */
static void pack_workitems(unsigned ids, unsigned lanes, uint32_t *rows)
{
    for (unsigned lane = 0; lane < lanes; lane++)
        for (unsigned i = 1; i < ids; i++)
            rows[lane] |= rows[i * lanes + lane] << 10 * i;
}

/* Computes v0 to v2 and EXEC of wave `wave` in a workgroup of size[] work-items. */
static void place_workitems(const struct wmi_launch *launch, const uint32_t size[3], unsigned wave,
                            unsigned lanes, uint32_t *rows, struct wmi_lanes *exec)
{
    const uint64_t items = (uint64_t)size[0] * size[1] * size[2];
    uint64_t bits = 0;
    for (unsigned lane = 0; lane < lanes; lane++) {
        const uint64_t item = (uint64_t)wave * lanes + lane;
        const bool exists = item < items;
        bits |= (uint64_t)exists << lane;
        rows[lane] = exists ? (uint32_t)(item % size[0]) : 0;
        rows[lanes + lane] = exists ? (uint32_t)(item / size[0] % size[1]) : 0;
        rows[2 * lanes + lane] = exists ? (uint32_t)(item / size[0] / size[1]) : 0;
    }
    if (launch->packed_ids)
        pack_workitems(launch->workitem_ids, lanes, rows);
    wmi_lanes_fill(exec, bits, lanes);
}

uint64_t wmi_resident_bytes(const struct wmi_executor *executor)
{
    const struct wmi_dispatch *dispatch = executor->steps.dispatch;
    return executor->waves_per_group * (executor->frame_size + dispatch->scratch_piece) + dispatch->lds_size +
           LDS_PADDING;
}

static void free_one(struct wmi_resident *resident)
{
    if (!resident)
        return;
    free(resident->frames);
    free(resident->group.lds);
    free(resident->group.scalar_cache);
    free(resident->watched);
    free(resident);
}

static void free_resident(struct wmi_resident *resident)
{
    struct wmi_cluster *cluster = resident->group.cluster;
    for (uint32_t i = 1; cluster && i < cluster->size; i++)
        free_one((struct wmi_resident *)cluster->member[i]);
    free(cluster);
    free_one(resident);
}

static struct wmi_resident *create_one(struct wmi_executor *executor, uint32_t number)
{
    const struct wmi_dispatch *dispatch = executor->steps.dispatch;
    const unsigned waves = executor->waves_per_group, observers = dispatch->observers.count;
    struct wmi_resident *resident = calloc(1, sizeof *resident + waves * sizeof *resident->waves);
    const size_t frames = waves * executor->frame_size, lds = dispatch->lds_size + LDS_PADDING;
    if (resident) {
        resident->frames = wmi_aligned_zero(frames);
        resident->group.lds = wmi_aligned_zero(lds);
    }
    if (resident && observers)
        resident->watched = calloc((waves + 1) * (size_t)observers, sizeof *resident->watched);
    if (!resident || !resident->frames || !resident->group.lds || (observers && !resident->watched)) {
        executor->out_of_memory = true;
        free_one(resident);
        return NULL;
    }
    resident->group.dispatch = executor->steps.dispatch;
    resident->group.lds_size = dispatch->lds_size;
    resident->group.waves = resident->waves;
    for (unsigned i = 0; i < waves; i++) {
        struct wmi_frame *frame = (struct wmi_frame *)(resident->frames + i * executor->frame_size);
        wmi_code_prepare_frame(wmi_program_code(dispatch->program), frame);
        memcpy(&frame->s[WMI_S_SHARED_BASE], &dispatch->apertures, sizeof dispatch->apertures);
        frame->wave_size = executor->lanes;
        frame->wave = &resident->waves[i];
        resident->waves[i] = (struct wmi_wave){.frame = frame, .group = &resident->group, .index = i};
        if (dispatch->scratch_piece) {
            const uint64_t place = (number * (uint64_t)waves + i) * dispatch->scratch_stride;
            frame->private_low = dispatch->scratch_base + place;
            frame->private_bytes = dispatch->scratch_piece;
            frame->private_host = (uintptr_t)(dispatch->scratch + place);
        }
        if (observers)
            resident->waves[i].watched = resident->watched + (i + 1) * (size_t)observers;
    }
    resident->number = number;
    return resident;
}

struct wmi_resident *wmi_resident_create(struct wmi_executor *executor, uint32_t number)
{
    const uint32_t size = executor->steps.dispatch->cluster_size;
    if (size == 1)
        return create_one(executor, number);
    struct wmi_cluster *cluster = calloc(1, sizeof *cluster + size * sizeof *cluster->member);
    for (uint32_t i = 0; cluster && i < size; i++) {
        struct wmi_resident *one = create_one(executor, number * size + i);
        if (!one) {
            while (i-- > 0)
                free_one((struct wmi_resident *)cluster->member[i]);
            free(cluster);
            return NULL;
        }
        cluster->member[i] = &one->group;
        one->group.cluster = cluster;
        one->group.rank = i;
    }
    if (!cluster) {
        executor->out_of_memory = true;
        return NULL;
    }
    cluster->size = size;
    return (struct wmi_resident *)cluster->member[0];
}

/* Usually the workgroup follows the previous one, so that no division is needed. */
static void place_group(struct wmi_executor *executor, struct wmi_workgroup *group, uint64_t flat_id)
{
    const struct wmi_dispatch *dispatch = executor->steps.dispatch;
    uint32_t *id = executor->last_id;
    if (group->cluster) {
        wmi_grid_place(dispatch->groups, dispatch->cluster, flat_id, id);
    } else if (flat_id && flat_id == executor->last_flat_id + 1) {
        if (++id[0] == dispatch->groups[0]) {
            id[0] = 0;
            if (++id[1] == dispatch->groups[1]) {
                id[1] = 0;
                id[2]++;
            }
        }
    } else {
        wmi_grid_split(dispatch->groups, flat_id, id);
    }
    executor->last_flat_id = flat_id;
    group->flat_id = flat_id;
    memcpy(group->id, id, sizeof executor->last_id);
}

/* First wave [31], number of the wave in the workgroup [11:6], waves of the workgroup [5:0]. Source of
 * [11:6]: Mesa, src/amd/compiler/aco_instruction_selection.cpp, load_subgroup_id. */
static uint32_t workgroup_info(const struct wmi_workgroup *group, uint32_t wave)
{
    return (uint32_t)(wave == 0) << 31 | wave << 6 | group->wave_count;
}

/* The workgroup's place in its cluster, x [3:0], y [7:4], z [11:8], and the cluster's largest numbers, x
 * [15:12], y [19:16], z [23:20], of all [27:24]. place: of the cluster in the grid. Source: CDNA 5 ISA,
 * "Cluster State". */
static uint32_t place_in_cluster(const struct wmi_workgroup *group, uint32_t place[3])
{
    const uint32_t *size = group->dispatch->cluster;
    uint32_t word = (group->cluster->size - 1) << 24;
    for (unsigned i = 0; i < 3; i++) {
        place[i] = group->id[i] / size[i];
        word |= group->id[i] % size[i] << 4 * i | (size[i] - 1) << (12 + 4 * i);
    }
    return word;
}

/* Sets the trap temporaries that hold the workgroup's numbers where no SGPR does: ttmp9 = x, ttmp7 = {z, y},
 * and ttmp8 = the number of the wave in the workgroup [29:25]. Source: LLVM 19, SIISelLowering,
 * getPreloadedValue. */
static void place_ttmp(const struct wmi_launch *launch, const struct wmi_wave *wave)
{
    uint32_t place[3];
    const uint32_t *id = wave->group->id;
    uint32_t *ttmp = &wave->frame->s[WMI_S_TTMP];
    if (wave->group->cluster) {
        ttmp[6] = place_in_cluster(wave->group, place);
        id = place;
    }
    ttmp[9] = id[0];
    ttmp[7] = (launch->ttmp_y ? id[1] & 0xffff : 0) | (launch->ttmp_z ? id[2] << 16 : 0);
    ttmp[8] = (wave->index & 31) << 25;
}

/* Where FLAT finds the wave's scratch memory, in lane 0. Source: CDNA 5 ISA, "Memory Aperture Query". */
static void place_scratch_base(const struct wmi_dispatch *dispatch, const struct wmi_wave *wave,
                               uint64_t flat_scratch)
{
    enum { SHIFT = 5 }; /* a dword of one lane is 32 dwords of all lanes */
    const uint64_t base = dispatch->apertures.private_base | flat_scratch >> SHIFT;
    memcpy(&wave->frame->s[WMI_S_FLAT_SCRATCH_BASE], &base, sizeof base);
}

/* Sets the scalar registers that differ between waves. They are written after the vector copy of the common
 * ones, because a vector load right after a store of one of its words stalls until that store has retired. */
static void place_own_numbers(const struct wmi_dispatch *dispatch, const struct wmi_wave *wave,
                              uint64_t scratch)
{
    const struct wmi_launch *launch = &dispatch->launch;
    const uint64_t flat_scratch = dispatch->scratch_base + scratch;
    if (launch->flat_scratch)
        memcpy(&wave->frame->s[WMI_S_FLAT_SCRATCH], &flat_scratch, sizeof flat_scratch);
    if (launch->flat_scratch && launch->scratch_shared)
        place_scratch_base(dispatch, wave, flat_scratch);
    if (launch->workgroup_info != WMI_NO_REGISTER)
        wave->frame->s[launch->workgroup_info] = workgroup_info(wave->group, wave->index);
    if (launch->scratch_wave_offset != WMI_NO_REGISTER)
        wave->frame->s[launch->scratch_wave_offset] = (uint32_t)scratch;
    if (launch->ttmp)
        place_ttmp(launch, wave);
}

/* ---- registers that the caller chooses ---- */

/* Number of a work-item in its workgroup. size: of the workgroup in each dimension. */
static uint32_t workitem(enum wm_start_kind kind, uint64_t item, const uint32_t size[3])
{
    const uint32_t x = (uint32_t)(item % size[0]), y = (uint32_t)(item / size[0] % size[1]),
                   z = (uint32_t)(item / size[0] / size[1]);
    switch (kind) {
    case WM_START_WORKITEM_ID_X:
        return x;
    case WM_START_WORKITEM_ID_Y:
        return y;
    case WM_START_WORKITEM_ID_Z:
        return z;
    default:
        return x | y << 10 | z << 20;
    }
}

static void set_vector(const struct wmi_start_register *r, const struct wmi_wave *wave,
                       const uint32_t size[3])
{
    uint32_t *row = wmi_register_words(wave->frame, &r->place);
    const uint32_t lanes = wave->frame->wave_size;
    const uint64_t items = (uint64_t)size[0] * size[1] * size[2];
    for (uint32_t lane = 0; lane < lanes; lane++) {
        const uint64_t item = (uint64_t)wave->index * lanes + lane;
        if (r->kind != WM_START_VALUES)
            row[lane] = item < items ? workitem(r->kind, item, size) : 0;
        else if (r->count <= lanes)
            row[lane] = r->values[r->count == 1 ? 0 : lane];
        else
            row[lane] = item < r->count ? r->values[item] : 0;
    }
}

/* The value of a kind that is equal in all lanes. scratch: offset of the wave's scratch memory. */
static uint64_t wave_value(enum wm_start_kind kind, const struct wmi_dispatch *dispatch,
                           const struct wmi_wave *wave, uint64_t scratch)
{
    const struct wmi_workgroup *group = wave->group;
    switch (kind) {
    case WM_START_WORKGROUP_ID_X:
        return group->id[0];
    case WM_START_WORKGROUP_ID_Y:
        return group->id[1];
    case WM_START_WORKGROUP_ID_Z:
        return group->id[2];
    case WM_START_WORKGROUP_ID_YZ:
        return (group->id[1] & 0xffff) | group->id[2] << 16;
    case WM_START_WORKGROUP_INFO:
        return workgroup_info(group, wave->index);
    case WM_START_WAVE_ID:
        return wave->index;
    case WM_START_ARGUMENTS:
        return dispatch->arguments;
    case WM_START_SCRATCH_ADDRESS:
        return dispatch->scratch_base ? dispatch->scratch_base + scratch : 0;
    default:
        return scratch;
    }
}

static void set_registers(const struct wmi_executor *executor, const struct wmi_wave *wave,
                          const uint32_t size[3], uint64_t scratch)
{
    const struct wmi_dispatch *dispatch = executor->steps.dispatch;
    struct wmi_frame *frame = wave->frame;
    for (size_t i = 0; i < dispatch->start_count; i++) {
        const struct wmi_start_register *r = &dispatch->start[i];
        if (r->place.kind == WMI_PLACE_VECTOR) {
            set_vector(r, wave, size);
            continue;
        }
        const bool given = r->kind == WM_START_VALUES;
        const uint64_t value = given ? 0 : wave_value(r->kind, dispatch, wave, scratch);
        memcpy(wmi_register_words(frame, &r->place), given ? (const void *)r->values : &value,
               r->count * sizeof(uint32_t));
        if (r->place.kind == WMI_PLACE_EXEC) {
            wmi_lanes_fill(&frame->exec, frame->s[WMI_S_EXEC] | (uint64_t)frame->s[WMI_S_EXEC + 1] << 32,
                           executor->lanes);
            memcpy(&frame->s[WMI_S_EXEC], &frame->exec.bits, sizeof frame->exec.bits);
        }
    }
}

/* The step at which the waves of whole workgroups start. *rows: the number of VGPRs, from v0 on, that must
 * have their initial values; unchanged if all must. */
static const struct wmi_op *launch_step_of(const struct wmi_dispatch *dispatch, unsigned lanes,
                                           unsigned *rows)
{
    enum { STRIP = 16 }; /* lanes of a chunk, in which compiled code expects only x to differ */
    const enum wmi_launch_code code =
        dispatch->workgroup[0] & (lanes - 1) ? WMI_LAUNCH_STRIPS : WMI_LAUNCH_WAVES;
    if (dispatch->workgroup[0] % STRIP || dispatch->start_count)
        return dispatch->entry_step;
    const struct wmi_op *step = wmi_program_launch(dispatch->program, code, rows);
    return step ? step : dispatch->entry_step;
}

static unsigned vgpr_rows(const struct wmi_dispatch *dispatch)
{
    const struct wmi_code_options *options = &wmi_program_code(dispatch->program)->options;
    return options->vgprs + options->agprs;
}

/* Sets the size of the workgroup, and returns whether it is whole. */
static bool find_size(const struct wmi_dispatch *dispatch, const struct wmi_workgroup *group,
                      uint32_t size[3])
{
    bool whole = true;
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t left = dispatch->grid[i] - group->id[i] * dispatch->workgroup[i];
        size[i] = left < dispatch->workgroup[i] ? left : dispatch->workgroup[i];
        whole &= size[i] == dispatch->workgroup[i];
    }
    return whole;
}

/* Resets memory and observers' data for a new workgroup. */
static void clear_resident(const struct wmi_executor *executor, struct wmi_resident *resident)
{
    const struct wmi_dispatch *dispatch = executor->steps.dispatch;
    struct wmi_workgroup *group = &resident->group;
    group->waves_left = group->wave_count;
    group->waves_at_barrier = group->waves_at_signals = group->signals = group->waves_at_named = 0;
    group->waves_at_cluster = 0;
    memset(group->named, 0, sizeof group->named);
    /* On hardware, LDS and scratch contain leftovers of earlier waves; zeros make runs reproducible. */
    if (dispatch->lds_size)
        memset(group->lds, 0, dispatch->lds_size);
    if (dispatch->scratch_piece && resident->used) {
        unsigned char *scratch = dispatch->scratch + wmi_resident_scratch(executor, resident);
        for (unsigned i = 0; i < group->wave_count; i++)
            wmi_space_clear(scratch + i * dispatch->scratch_stride, dispatch->scratch_piece);
    }
    resident->used = true;
    if (resident->watched)
        memset(resident->watched, 0,
               (group->wave_count + 1) * (size_t)dispatch->observers.count * sizeof *resident->watched);
}

/* Sets how many VGPRs are cleared, if waves may read `rows` of them and the ids come first. */
static void set_rows(struct wmi_wave_start *start, unsigned rows)
{
    start->zero_rows = rows > start->id_rows ? rows - start->id_rows : 0;
}

/* Resets the state of a wave that starts at `step`, except its registers. */
static inline void reset_wave(struct wmi_executor *executor, struct wmi_wave *wave, const struct wmi_op *step,
                              int64_t turn)
{
    wave->worker = wave->frame->worker =
        &executor->steps; /* another executor may have created the resident */
    wave->frame->left = wave->slice = turn;
    wave->state = WMI_WAVE_READY;
    wave->resume = step;
    wave->program = executor->steps.dispatch->program;
    wave->instructions = 0;
    wave->quantum = WMI_FIRST_SLICE;
    wave->counters = 0;
    wave->waits = wave->barrier_complete = wave->named_complete = wave->cluster_complete = false;
    wave->violated = false;
    wave->joined = 0;
}

void wmi_wave_set_own_registers(struct wmi_executor *executor, struct wmi_wave *wave, const uint32_t size[3])
{
    const struct wmi_dispatch *dispatch = executor->steps.dispatch;
    const struct wmi_resident *resident = (const struct wmi_resident *)wave->group;
    const uint64_t scratch =
        wmi_resident_scratch(executor, resident) + wave->index * dispatch->scratch_stride;
    place_own_numbers(dispatch, wave, scratch);
    set_registers(executor, wave, size, scratch);
}

static void start_whole(struct wmi_executor *executor, struct wmi_resident *resident)
{
    const struct wmi_dispatch *dispatch = executor->steps.dispatch;
    unsigned rows = vgpr_rows(dispatch);
    const struct wmi_op *step = launch_step_of(dispatch, executor->lanes, &rows);
    set_rows(&executor->start, rows);
    executor->start.repeats = true;
    resident->unstarted = executor->starts_late;
    struct wmi_wave *const end = resident->waves + executor->waves_per_group;
    for (struct wmi_wave *wave = resident->waves; wave < end; wave++)
        reset_wave(executor, wave, step, resident->unstarted ? executor->steps.first_slice : WMI_SLICE_OVER);
    if (resident->unstarted)
        return;
    for (struct wmi_wave *wave = resident->waves; wave < end; wave++)
        wmi_wave_set_registers(executor, wave,
                               executor->workitem_rows + (size_t)wave->index * 3 * executor->lanes,
                               &executor->exec[wave->index], dispatch->workgroup);
}

/* Starts a workgroup that the end of the grid cuts off. */
static void start_part(struct wmi_executor *executor, struct wmi_resident *resident, const uint32_t size[3])
{
    const struct wmi_dispatch *dispatch = executor->steps.dispatch;
    alignas(64) uint32_t ids[3 * 64];
    struct wmi_lanes exec;
    set_rows(&executor->start, vgpr_rows(dispatch));
    executor->start.repeats = false;
    resident->unstarted = false;
    for (unsigned i = 0; i < resident->group.wave_count; i++) {
        place_workitems(&dispatch->launch, size, i, executor->lanes, ids, &exec);
        reset_wave(executor, &resident->waves[i], dispatch->entry_step, WMI_SLICE_OVER);
        wmi_wave_set_registers(executor, &resident->waves[i], ids, &exec, size);
    }
}

/* Starts a workgroup in a resident that renew() in slices.c has reset. */
static inline void start_again(struct wmi_resident *resident)
{
    resident->group.waves_left = resident->group.wave_count;
    resident->unstarted = true;
}

/* Starts a workgroup in any resident. */
static __attribute__((noinline)) void start_afresh(struct wmi_executor *executor,
                                                   struct wmi_resident *resident)
{
    const struct wmi_dispatch *dispatch = executor->steps.dispatch;
    struct wmi_workgroup *group = &resident->group;
    uint32_t size[3];
    const bool whole = executor->all_whole || find_size(dispatch, group, size);
    group->wave_count = executor->waves_per_group;
    if (!whole) {
        const uint64_t items = (uint64_t)size[0] * size[1] * size[2];
        group->wave_count = (uint32_t)((items + executor->lanes - 1) / executor->lanes);
    }
    clear_resident(executor, resident);
    if (whole)
        start_whole(executor, resident);
    else
        start_part(executor, resident, size);
}

static inline void start_one(struct wmi_executor *executor, struct wmi_resident *resident, uint64_t flat_id)
{
    place_group(executor, &resident->group, flat_id);
    if (resident->renewed_by == executor)
        start_again(resident);
    else
        start_afresh(executor, resident);
    resident->renewed_by = NULL;
    executor->waves += resident->group.wave_count;
    executor->groups_started++;
}

void wmi_resident_start(struct wmi_executor *executor, struct wmi_resident *resident, uint64_t flat_id)
{
    struct wmi_cluster *cluster = resident->group.cluster;
    if (!cluster) {
        start_one(executor, resident, flat_id);
        return;
    }
    cluster->left = cluster->size;
    cluster->signals = 0;
    cluster->completed = 0;
    for (uint32_t i = 0; i < cluster->size; i++) {
        struct wmi_resident *one = wmi_resident_member(resident, i);
        start_one(executor, one, flat_id + i);
        one->ended = false;
    }
}

/* Whether an id of the workgroup is in an SGPR that compiled code does not restore. */
static bool has_far_ids(const struct wmi_launch *launch)
{
    for (unsigned i = 0; i < 3; i++)
        if (launch->workgroup_id[i] != WMI_NO_REGISTER && launch->workgroup_id[i] >= WMI_ID_SGPRS)
            return true;
    return false;
}

/* Finds out in which registers waves differ. */
static void prepare_numbers(struct wmi_executor *executor)
{
    const struct wmi_dispatch *dispatch = executor->steps.dispatch;
    const struct wmi_launch *launch = &dispatch->launch;
    executor->all_whole = true;
    for (unsigned i = 0; i < 3; i++) {
        executor->all_whole &= dispatch->grid[i] % dispatch->workgroup[i] == 0;
        if (launch->workgroup_id[i] == WMI_NO_REGISTER)
            continue;
        executor->id_register[executor->id_count] = launch->workgroup_id[i];
        executor->id_dimension[executor->id_count++] = (uint8_t)i;
    }
    executor->has_own_registers = has_far_ids(launch) || launch->workgroup_info != WMI_NO_REGISTER ||
                                  launch->scratch_wave_offset != WMI_NO_REGISTER || launch->flat_scratch ||
                                  launch->ttmp || dispatch->start_count;
    executor->starts_late = !dispatch->observers.count && !dispatch->shuffle && dispatch->cluster_size == 1;
    executor->renews = executor->starts_late && executor->all_whole && !executor->has_own_registers &&
                       !dispatch->lds_size && !dispatch->scratch_piece;
    memcpy(executor->scalars, launch->sgpr, sizeof executor->scalars);
    executor->steps.start_scalars = executor->scalars;
    executor->steps.id_place =
        4 * (launch->workgroup_id[0] == WMI_NO_REGISTER ? (unsigned)WMI_S_NULL : launch->workgroup_id[0]);
    executor->steps.first_slice =
        dispatch->max_instructions < WMI_FIRST_SLICE ? (int64_t)dispatch->max_instructions : WMI_FIRST_SLICE;
}

bool wmi_executor_prepare(struct wmi_executor *executor, struct wmi_dispatch *dispatch, unsigned number)
{
    const uint64_t items = (uint64_t)dispatch->workgroup[0] * dispatch->workgroup[1] * dispatch->workgroup[2];
    const struct wmi_code *code = wmi_program_code(dispatch->program);
    const struct wmi_code_options *options = &code->options;
    const unsigned id_rows = dispatch->launch.packed_ids ? 1 : dispatch->launch.workitem_ids;
    executor->number = number;
    executor->read_lock = number ? &executor->own_read_lock : dispatch->read_lock;
    executor->steps.dispatch = dispatch;
    executor->go_on = wmi_wave_go_on;
    executor->steps.space = dispatch->space;
    executor->lanes = options->lanes;
    executor->frame_size = wmi_code_frame_size(code);
    executor->steps.layout = (struct wmi_frame_layout){
        .bytes = executor->frame_size,
        .vgprs = code->vgpr_offset,
        .agprs = code->vgpr_offset + options->vgprs * code->row_bytes,
    };
    executor->start_frame = wmi_launcher(wmi_program_level(dispatch->program), options->lanes);
    executor->start = (struct wmi_wave_start){
        .sgpr = dispatch->launch.sgpr,
        .vgpr_offset = code->vgpr_offset,
        .id_rows = id_rows < options->vgprs ? id_rows : options->vgprs,
        .only_ids = !dispatch->start_count,
        .has_lds = dispatch->lds_size > 0,
        .mode = dispatch->launch.mode,
        .mxcsr32 = dispatch->mxcsr32,
        .mxcsr64 = dispatch->mxcsr64,
    };
    prepare_numbers(executor);
    executor->waves_per_group = (unsigned)((items + executor->lanes - 1) / executor->lanes);
    executor->workitem_rows =
        wmi_aligned_zero(executor->waves_per_group * 3 * executor->lanes * sizeof(uint32_t));
    executor->exec = wmi_aligned_zero(executor->waves_per_group * sizeof *executor->exec);
    executor->quiescent_generation = UINT64_MAX;
    executor->next_poll = WMI_INSTRUCTIONS_PER_POLL;
    executor->compile_at = wmi_program_compile_in(dispatch->program);
    executor->probe.run = wmi_wave_run_to_branch;
    executor->probe.vgpr_offset = executor->start.vgpr_offset;
    executor->probe.vgpr_bytes = (size_t)vgpr_rows(dispatch) * code->row_bytes;
    executor->probe.vgprs = malloc(executor->probe.vgpr_bytes + 1);
    if (dispatch->observers.count)
        executor->steps.observers = calloc(dispatch->observers.count, sizeof *executor->steps.observers);
    if (!executor->workitem_rows || !executor->exec || !executor->probe.vgprs ||
        (dispatch->observers.count && !executor->steps.observers))
        return false;
    for (unsigned i = 0; i < executor->waves_per_group; i++)
        place_workitems(&dispatch->launch, dispatch->workgroup, i, executor->lanes,
                        executor->workitem_rows + 3 * i * executor->lanes, &executor->exec[i]);
    return true;
}

void wmi_executor_free(struct wmi_executor *executor)
{
    free(executor->workitem_rows);
    free(executor->exec);
    free(executor->probe.vgprs);
    free(executor->steps.observers);
    free(executor);
}

void wmi_residents_free(struct wmi_resident *resident)
{
    while (resident) {
        struct wmi_resident *next = resident->next;
        free_resident(resident);
        resident = next;
    }
}
