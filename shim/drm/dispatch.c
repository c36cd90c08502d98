/* SPDX-License-Identifier: MIT */
/* Dispatches: from the registers of compute shaders to a packet of the machine. Registers: AMD's 3D register
 * reference guides, "Compute"; Mesa, sid.h. How waves begin: LLVM AMDGPUUsage, "Initial Kernel Execution
 * State", whose descriptor has RSRC1 to RSRC3 as they are. */
#include "shim/drm/drm.h"

#include "tool/progress.h"

/* Places in the file of SH registers. */
enum {
    START_X = 0x204, /* Y, Z follow */
    THREADS_X = 0x207,
    PGM_LO = 0x20c,
    PGM_HI,
    SCRATCH_BASE_LO = 0x210,
    SCRATCH_BASE_HI,
    RSRC1,
    RSRC2,
    TMPRING = 0x218,
    RSRC3 = 0x228,
    USER_DATA = 0x240,
    USER_COUNT = 16,
};

/* Initiator. */
enum { ENABLE = 1, PARTIAL = 2, FORCE_START_AT_0 = 4, COUNTS_ITEMS = 32, WAVE32 = 1 << 15 };

enum {
    DESCRIPTOR = 64,
    DESCRIPTOR_RSRC3 = 44,
    DESCRIPTOR_RSRC1 = 48,
    DESCRIPTOR_RSRC2 = 52,
    DESCRIPTOR_FLAGS = 56
};

static void put(unsigned char *bytes, unsigned at, uint32_t word)
{
    memcpy(bytes + at, &word, sizeof word);
}

/* What a descriptor reserves is what drivers set, and what wavemem takes from elsewhere. */
static void make_descriptor(const struct drm_ring_state *state, bool wave32, unsigned char bytes[DESCRIPTOR])
{
    enum {
        RSRC1_RESERVED =
            1u << 20 | 1u << 22 | 1u << 24 | 1u << 25 | 3u << 27, /* PRIV, DEBUG_MODE, BULKY, CDBG_USER */
        RSRC2_OWN = 1u,                                           /* scratch */
        RSRC2_LDS = 0x1ffu << 15,
        RSRC2_TRAP = 1u << 6,
        FLAG_WAVE32 = 1u << 10,
    };
    memset(bytes, 0, DESCRIPTOR);
    put(bytes, DESCRIPTOR_RSRC1, state->sh[RSRC1] & ~(uint32_t)RSRC1_RESERVED);
    put(bytes, DESCRIPTOR_RSRC2, state->sh[RSRC2] & ~(uint32_t)(RSRC2_OWN | RSRC2_LDS | RSRC2_TRAP));
    put(bytes, DESCRIPTOR_RSRC3, state->device->chip->generation->has_wave32 ? state->sh[RSRC3] & 0xf : 0);
    put(bytes, DESCRIPTOR_FLAGS, wave32 ? FLAG_WAVE32 : 0);
}

/* ---- registers when waves begin ---- */

struct start {
    struct wm_start_register registers[USER_COUNT + 16];
    size_t count;
    char names[USER_COUNT + 16][8];
    struct wm_start start;
};

static struct wm_start_register *add(struct start *s, const char *name, enum wm_start_kind kind)
{
    struct wm_start_register *r = &s->registers[s->count++];
    *r = (struct wm_start_register){.name = name, .kind = kind};
    return r;
}

static void add_scalar(struct start *s, unsigned *next, bool wanted, enum wm_start_kind kind)
{
    char *name = s->names[s->count];
    if (!wanted)
        return;
    snprintf(name, sizeof s->names[0], "s%u", (*next)++);
    add(s, name, kind);
}

/* SGPRs: user data, then what RSRC2 asks for. */
static void add_scalars(struct start *s, const struct drm_ring_state *state)
{
    const uint32_t rsrc2 = state->sh[RSRC2];
    const struct drm_generation *generation = state->device->chip->generation;
    unsigned next = rsrc2 >> 1 & 31;
    if (next > USER_COUNT)
        next = USER_COUNT;
    if (next) {
        struct wm_start_register *r = add(s, "s0", WM_START_VALUES);
        r->values = &state->sh[USER_DATA];
        r->count = next;
    }
    if (generation->has_group_ttmps) {
        add(s, "ttmp9", WM_START_WORKGROUP_ID_X);
        add(s, "ttmp7", WM_START_WORKGROUP_ID_YZ);
    } else {
        add_scalar(s, &next, rsrc2 >> 7 & 1, WM_START_WORKGROUP_ID_X);
        add_scalar(s, &next, rsrc2 >> 8 & 1, WM_START_WORKGROUP_ID_Y);
        add_scalar(s, &next, rsrc2 >> 9 & 1, WM_START_WORKGROUP_ID_Z);
    }
    add_scalar(s, &next, rsrc2 >> 10 & 1, WM_START_WORKGROUP_INFO);
    if (!generation->has_scratch_base)
        add_scalar(s, &next, rsrc2 & 1, WM_START_SCRATCH_OFFSET);
    else if (rsrc2 & 1)
        add(s, "flat_scratch", WM_START_SCRATCH_ADDRESS);
}

static void add_vectors(struct start *s, const struct drm_ring_state *state)
{
    static const char *const names[] = {"v0", "v1", "v2"};
    static const enum wm_start_kind kinds[] = {WM_START_WORKITEM_ID_X, WM_START_WORKITEM_ID_Y,
                                               WM_START_WORKITEM_ID_Z};
    const unsigned last = state->sh[RSRC2] >> 11 & 3;
    const bool packs = state->device->chip->generation->packs_ids;
    if (packs)
        add(s, "v0", WM_START_WORKITEM_IDS);
    for (unsigned i = 0; i <= last && i < 3 && !packs; i++)
        add(s, names[i], kinds[i]);
}

/* The driver's scratch memory: how many waves have place, and how much each. */
static void add_scratch(struct start *s, const struct drm_ring_state *state)
{
    const uint32_t ring = state->sh[TMPRING];
    if (!(state->sh[RSRC2] & 1))
        return;
    const struct drm_generation *generation = state->device->chip->generation;
    s->start.scratch_waves = ring & 0xfff;
    s->start.scratch_wave_bytes =
        (uint64_t)(ring >> 12 & generation->scratch_mask) * generation->scratch_granule;
    if (generation->has_scratch_base)
        s->start.scratch_address =
            ((uint64_t)(state->sh[SCRATCH_BASE_HI] & 0xff) << 32 | state->sh[SCRATCH_BASE_LO]) << 8;
}

static void make_start(struct start *s, const struct drm_ring_state *state)
{
    *s = (struct start){.start = {.struct_size = sizeof s->start, .bare = true}};
    add_scalars(s, state);
    add_vectors(s, state);
    add_scratch(s, state);
    s->start.registers = s->registers;
    s->start.register_count = s->count;
}

/* ---- what is dispatched ---- */

/* A box of workgroups. */
struct box {
    uint32_t first[3], end[3]; /* end: behind the last */
    uint32_t workgroup[3];
    uint32_t grid[3]; /* work-items, from workgroup 0 on */
};

static bool is_empty(const struct box *box)
{
    return box->first[0] >= box->end[0] || box->first[1] >= box->end[1] || box->first[2] >= box->end[2];
}

/* False: it would be larger than a grid can be. */
static bool make_box(const struct drm_ring_state *state, const uint32_t size[3], uint32_t initiator,
                     struct box *box)
{
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t threads = state->sh[THREADS_X + i], full = threads & 0xffff, partial = threads >> 16;
        const uint32_t workgroup = full ? full : 1;
        box->workgroup[i] = workgroup;
        box->first[i] = initiator & FORCE_START_AT_0 ? 0 : state->sh[START_X + i];
        uint64_t items;
        if (initiator & COUNTS_ITEMS) {
            items = size[i];
            box->end[i] = (uint32_t)((items + workgroup - 1) / workgroup);
        } else {
            box->end[i] = size[i];
            items = (uint64_t)size[i] * workgroup;
            if (initiator & PARTIAL && partial && size[i])
                items = (uint64_t)(size[i] - 1) * workgroup + partial;
        }
        if (items > UINT32_MAX)
            return false;
        box->grid[i] = (uint32_t)items;
    }
    return true;
}

/* Work-items of the box. */
static uint64_t count_invocations(const struct box *box)
{
    uint64_t all = 1;
    for (unsigned i = 0; i < 3; i++)
        all *= box->grid[i] - (uint64_t)box->first[i] * box->workgroup[i];
    return all;
}

static bool goes_on(void *user, uint64_t done, uint64_t all)
{
    const struct drm_ring_state *state = user;
    (void)done, (void)all;
    return !__atomic_load_n(state->ends, __ATOMIC_ACQUIRE);
}

/* Runs workgroups that follow each other: count 0: all. */
static bool run(struct drm_ring_state *state, struct wm_packet *packet, uint64_t first, uint64_t count)
{
    const struct shim_gpu *gpu = &state->device->gpu;
    const struct shim_launch launch = shim_launch(gpu, packet->kernel_object, packet->name);
    struct wm_dispatch options = *packet->options;
    struct wm_result result = {.struct_size = sizeof result};
    struct wm_diag diag = {0};
    struct wm_packet request = *packet;
    options.first_workgroup = first;
    options.workgroup_count = count;
    request.options = &options;
    request.result = &result;
    const bool observed = shim_observe_enter(&launch, gpu, &options);
    const enum wm_status status = shim_run_packet(gpu, &request, true, &diag);
    if (observed)
        shim_observe_leave(&launch, gpu, !status, &result);
    state->problem[0] = 0;
    if (status)
        shim_report_fault(&launch, &request, gpu, NULL, diag.message);
    else if (result.fault.kind && !__atomic_load_n(state->ends, __ATOMIC_ACQUIRE))
        shim_report_fault(&launch, &request, gpu, &result.fault, result.fault.text);
    return !status && !result.fault.kind;
}

/* The box row by row, since what runs is a range of workgroups in the grid's order. */
static bool run_box(struct drm_ring_state *state, struct wm_packet *packet, const struct box *box)
{
    const uint64_t x = box->end[0], y = box->end[1];
    if (!box->first[0] && !box->first[1] && !box->first[2])
        return run(state, packet, 0, 0);
    for (uint64_t k = box->first[2]; k < box->end[2]; k++)
        for (uint64_t j = box->first[1]; j < y; j++)
            if (!goes_on(state, 0, 0) ||
                !run(state, packet, (k * y + j) * x + box->first[0], x - box->first[0]))
                return false;
    return true;
}

/* clover's kernels lie behind their amd_kernel_code_t, which says what they expect in user SGPRs. Says, once,
 * that radeonsi leaves out the queue pointer, so that the pointer to the arguments behind it is not where the
 * kernel looks, as on a GPU. Sources: LLVM AMDGPUUsage, "Code Object V2 Kernel Descriptor"; Mesa 22.3,
 * si_compute.c, si_setup_user_sgprs_co_v2(). */
static void check_user_data(const struct drm_ring_state *state, uint64_t code, const char *name)
{
    enum {
        HEADER = 256,
        MAJOR = 0,
        MACHINE = 8,
        ENTRY = 16,
        PROPERTIES = 56,
        NEEDED = 60,
        AMDGPU = 1,
        QUEUE_POINTER = 4
    };
    static bool said;
    const unsigned char *header =
        code < HEADER ? NULL : wm_host_pointer(state->device->gpu.machine, code - HEADER, NEEDED);
    uint32_t major, properties;
    uint16_t machine;
    int64_t entry;
    if (!header)
        return;
    memcpy(&major, header + MAJOR, sizeof major);
    memcpy(&machine, header + MACHINE, sizeof machine);
    memcpy(&entry, header + ENTRY, sizeof entry);
    memcpy(&properties, header + PROPERTIES, sizeof properties);
    if (major != 1 || machine != AMDGPU || entry != HEADER || !(properties & QUEUE_POINTER) ||
        __atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        return;
    shim_complain("the kernel%s%s at 0x%llx expects a queue pointer in its registers (code properties 0x%x), "
                  "which Mesa's radeonsi does not pass: it gets wrong arguments, also on a GPU",
                  name ? " " : "", name ? name : "", (unsigned long long)code, properties);
}

uint64_t drm_code_address(const struct drm_ring_state *state)
{
    return ((uint64_t)(state->sh[PGM_HI] & 0xff) << 32 | state->sh[PGM_LO]) << 8;
}

static bool find_name(const struct drm_device *device, uint64_t code, char name[SHIM_OBJECT_NAME])
{
    return drm_code_name(device, code, name) || drm_kernel_name(device, code, name);
}

bool drm_dispatch(struct drm_ring_state *state, const uint32_t size[3], uint32_t initiator)
{
    const struct shim_settings *settings = shim_settings();
    const bool wave32 = initiator & WAVE32 && state->device->chip->generation->has_wave32;
    const unsigned lds_granule = state->device->chip->generation->lds_granule;
    const uint64_t code = drm_code_address(state);
    unsigned char descriptor[DESCRIPTOR];
    char name[SHIM_OBJECT_NAME];
    struct start start;
    struct box box;
    if (!(initiator & ENABLE))
        return true;
    if (!make_box(state, size, initiator, &box)) {
        snprintf(
            state->problem, sizeof state->problem,
            "a dispatch of %u x %u x %u workgroups; expected fewer than 2^32 work-items in each dimension",
            size[0], size[1], size[2]);
        return false;
    }
    if (is_empty(&box))
        return true;
    make_descriptor(state, wave32, descriptor);
    make_start(&start, state);
    struct wm_dispatch options = {.struct_size = sizeof options,
                                  .threads = settings->threads,
                                  .timeout = settings->timeout,
                                  .progress = goes_on,
                                  .progress_user = state,
                                  .waits_for_others = true,
                                  .others = drm_nobody_acts,
                                  .others_user = state,
                                  .gpu = state->device->gpu.product,
                                  .start = &start.start};
    struct wm_packet packet = {.struct_size = sizeof packet,
                               .kernel_object = code,
                               .group_segment_size = (state->sh[RSRC2] >> 15 & 0x1ff) * lds_granule,
                               .options = &options,
                               .descriptor = descriptor,
                               .name = find_name(state->device, code, name) ? name : NULL};
    check_user_data(state, code, packet.name);
    state->invocations += count_invocations(&box);
    memcpy(packet.grid, box.grid, sizeof packet.grid);
    memcpy(packet.workgroup, box.workgroup, sizeof packet.workgroup);
    return run_box(state, &packet, &box);
}

/* ---- for reports ---- */

void shim_name_kernel(uint64_t code, char *name, size_t size)
{
    snprintf(name, size, "shader at 0x%llx", (unsigned long long)code);
}
