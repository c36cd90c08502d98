/* SPDX-License-Identifier: MIT */
/* PM4: the packets of command buffers, for compute and transfers. A packet that is not in the table, or that
 * draws, fails the submission, and is named.
 *
 * Packets run in order, and a dispatch has ended when the next packet begins, so that what flushes, waits for
 * shaders or invalidates caches has nothing to do. Sources: linux, soc15d.h, nvd.h, cikd.h, sid.h; Mesa,
 * src/amd/common/sid.h and its uses in src/amd/vulkan and src/gallium/drivers/radeonsi. */
#include "shim/drm/drm.h"

#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

enum {
    MOST_BYTES = 64 << 20, /* of a command buffer */
    MOST_DEPTH = 4,        /* of calls */
    MOST_CHAINED = 65536,  /* buffers of a submission */
    POLL_NANOSECONDS = 100000,
};

/* A buffer that is being executed. */
struct buffer {
    struct drm_ring_state *state;
    uint64_t address;
    const uint32_t *words;
    size_t count, at; /* at: of the next packet */
    unsigned depth;
    uint64_t chain; /* address of the buffer that goes on; 0: none */
    uint32_t chain_bytes;
};

static bool fail(struct drm_ring_state *state, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(struct drm_ring_state *state, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(state->problem, sizeof state->problem, format, arguments);
    va_end(arguments);
    return false;
}

static uint64_t pair(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

/* ---- memory ---- */

/* Bytes of guest memory; NULL, after a message: they are not all mapped. */
static void *reach(struct drm_ring_state *state, const char *what, uint64_t address, uint64_t size)
{
    void *host = wm_host_pointer(state->device->gpu.machine, address, size);
    if (!host)
        fail(state, "%s: %llu bytes at 0x%llx are not mapped", what, (unsigned long long)size,
             (unsigned long long)address);
    return host;
}

static bool write_value(struct drm_ring_state *state, const char *what, uint64_t address, uint64_t value,
                        unsigned bytes)
{
    void *host = reach(state, what, address, bytes);
    if (!host)
        return false;
    if (bytes == 8 && address % 8 == 0)
        __atomic_store_n((uint64_t *)host, value, __ATOMIC_RELEASE);
    else
        memcpy(host, &value, bytes);
    return true;
}

static bool read_value(struct drm_ring_state *state, const char *what, uint64_t address, uint64_t *value,
                       unsigned bytes)
{
    const void *host = reach(state, what, address, bytes);
    *value = 0;
    if (!host)
        return false;
    if (bytes == 4 && address % 4 == 0)
        *value = __atomic_load_n((const uint32_t *)host, __ATOMIC_ACQUIRE);
    else
        memcpy(value, host, bytes);
    return true;
}

/* ---- registers ---- */

/* first: dword address. Only shader registers have an effect. */
static void set_registers(struct drm_ring_state *state, uint32_t first, const uint32_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (first + i - DRM_SH_FIRST < DRM_SH_COUNT)
            state->sh[first + i - DRM_SH_FIRST] = values[i];
}

/* ---- packets ---- */

/* body: `count` dwords. */
typedef bool action(struct buffer *b, const char *name, const uint32_t *body, size_t count);

static bool nothing(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    (void)b, (void)name, (void)body, (void)count;
    return true;
}

static bool draw(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    (void)body, (void)count;
    return fail(b->state,
                "%s: draws are not executed. Drivers draw to copy and clear images on a queue with graphics: "
                "use a queue family with compute alone, or 'exec --queues compute', which hides the others",
                name);
}

static bool unsupported(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    (void)body, (void)count;
    return fail(b->state, "%s is not executed", name);
}

/* Without draws no sample has passed: each backend writes a count of 0 whose top bit says that it is there.
 */
static bool write_samples(struct buffer *b, const char *name, uint64_t address)
{
    enum { STRIDE = 16 };
    bool ok = true;
    for (uint32_t i = 0; i < b->state->device->chip->backends && ok; i++)
        ok = write_value(b->state, name, address + STRIDE * i, UINT64_C(1) << 63, 8);
    return ok;
}

/* The counters of the pipeline. Those of compute shaders are the last of the older ones, and all that a
 * compute ring has. Source: Mesa, radv_query.c. */
static bool write_statistics(struct buffer *b, const char *name, uint64_t address)
{
    enum { COMPUTE = 10 };
    const struct drm_generation *generation = b->state->device->chip->generation;
    if (b->state->type == AMDGPU_HW_IP_COMPUTE && generation->has_compute_processor)
        return write_value(b->state, name, address, b->state->invocations, 8);
    bool ok = true;
    for (unsigned i = 0; i < generation->statistics && ok; i++)
        ok = write_value(b->state, name, address + 8 * i, i == COMPUTE ? b->state->invocations : 0, 8);
    return ok;
}

/* Events with an address write what only the graphics pipeline or its counters know. */
static bool event(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    enum { ZPASS_DONE = 21, SAMPLE_PIPELINESTAT = 30 };
    const uint32_t type = body[0] & 0x3f;
    if (count == 3 && type == ZPASS_DONE)
        return write_samples(b, name, pair(body[1], body[2]));
    if (count == 3 && type == SAMPLE_PIPELINESTAT)
        return write_statistics(b, name, pair(body[1], body[2]));
    return count == 1 ||
           fail(b->state, "%s of event %u writes counters of the pipeline, which are not modelled", name,
                type);
}

static bool set_base(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    (void)name, (void)count;
    if ((body[0] & 0xf) == 1)
        b->state->base = pair(body[1], body[2] & 0xffff);
    return true;
}

static bool set_sh(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    (void)name;
    set_registers(b->state, DRM_SH_FIRST + (body[0] & 0xffff), body + 1, count - 1);
    return true;
}

static bool set_sh_pairs(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    (void)name;
    for (size_t i = 0; i + 1 < count; i += 2)
        set_registers(b->state, DRM_SH_FIRST + (body[i] & 0xffff), &body[i + 1], 1);
    return true;
}

/* A count, then for two registers both offsets in one dword, and the values. */
static bool set_sh_packed(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    (void)name;
    for (size_t i = 1; i + 2 < count; i += 3) {
        set_registers(b->state, DRM_SH_FIRST + (body[i] & 0xffff), &body[i + 1], 1);
        set_registers(b->state, DRM_SH_FIRST + (body[i] >> 16), &body[i + 2], 1);
    }
    return true;
}

static bool load_sh(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    (void)count;
    const uint32_t number = body[3] & 0x3fff;
    const uint32_t *from = reach(b->state, name, pair(body[0] & ~3u, body[1]), 4ull * number);
    if (from)
        set_registers(b->state, DRM_SH_FIRST + (body[2] & 0xffff), from, number);
    return from;
}

static bool dispatch_direct(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    (void)name, (void)count;
    return drm_dispatch(b->state, body, body[3]);
}

static bool dispatch_indirect(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    const uint64_t address = count == 2 ? b->state->base + body[0] : pair(body[0], body[1]);
    const void *from = reach(b->state, name, address, 12); /* perhaps not aligned */
    uint32_t size[3];
    if (!from)
        return false;
    memcpy(size, from, sizeof size);
    return drm_dispatch(b->state, size, body[count - 1]);
}

static bool write_data(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    const unsigned to = body[0] >> 8 & 0xf;
    const bool one_address = body[0] >> 16 & 1;
    if (to == 0) {
        set_registers(b->state, body[1], body + 3, count - 3);
        return true;
    }
    if (to != 1 && to != 2 && to != 5)
        return fail(b->state, "%s to destination %u; expected memory or a register", name, to);
    for (size_t i = 3; i < count; i++)
        if (!write_value(b->state, name, pair(body[1], body[2]) + (one_address ? 0 : 4 * (i - 3)), body[i],
                         4))
            return false;
    return true;
}

static bool copy_data(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    const unsigned from = body[0] & 0xf, to = body[0] >> 8 & 0xf, bytes = body[0] >> 16 & 1 ? 8 : 4;
    uint64_t value;
    (void)count;
    if (from == 1 || from == 2) {
        if (!read_value(b->state, name, pair(body[1], body[2]), &value, bytes))
            return false;
    } else if (from == 5) {
        value = pair(body[1], body[2]);
    } else if (from == 9) {
        value = drm_timestamp();
    } else if (from == 0 && body[1] - DRM_SH_FIRST < DRM_SH_COUNT) {
        value = b->state->sh[body[1] - DRM_SH_FIRST];
    } else {
        return fail(b->state,
                    "%s from source %u, 0x%x; expected memory, a value, a timestamp or a register of shaders",
                    name, from, body[1]);
    }
    if (to == 1 || to == 2 || to == 5)
        return write_value(b->state, name, pair(body[3], body[4]), value, bytes);
    if (to != 0)
        return fail(b->state, "%s to destination %u; expected memory or a register", name, to);
    set_registers(b->state, body[3], (const uint32_t *)&value, bytes / 4);
    return true;
}

/* A packet that waits for memory to change. */
struct waiting {
    uint64_t nobody; /* the last answer of drm_nobody_acts() that was not 0 */
};

/* Before another look at memory; false: it will never change, or the ring ends. */
static bool pause_ring(struct buffer *b, const char *name, struct waiting *waiting)
{
    const struct timespec pause = {.tv_nsec = POLL_NANOSECONDS};
    struct drm_ring_state *state = b->state;
    if (__atomic_load_n(state->ends, __ATOMIC_ACQUIRE))
        return fail(state, "%s: the context ends", name);
    __atomic_store_n(&state->polls, true, __ATOMIC_RELEASE);
    nanosleep(&pause, NULL);
    const uint64_t nobody = drm_nobody_acts(state);
    __atomic_store_n(&state->polls, false, __ATOMIC_RELEASE);
    if (nobody && nobody == waiting->nobody)
        return fail(state, "%s waits for ever: all threads of the program wait, too (deadlock)", name);
    waiting->nobody = nobody ? nobody : waiting->nobody;
    return true;
}

/* ---- atomics ---- */

/* TC_OP: bits 4:0, and whether it is of 64 bits. */
enum {
    ATOMIC_SWAP = 7,
    ATOMIC_CMPSWAP,
    ATOMIC_ADD = 15,
    ATOMIC_SUB,
    ATOMIC_SMIN,
    ATOMIC_UMIN,
    ATOMIC_SMAX,
    ATOMIC_UMAX,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_INC,
    ATOMIC_DEC,
    ATOMIC_WIDE = 32,
};

/* The value in memory afterwards. The operands are sign-extended, which does not change the order of unsigned
 * ones. */
static uint64_t combine(unsigned operation, uint64_t old, uint64_t data, uint64_t compare)
{
    switch (operation) {
    case ATOMIC_SWAP:
        return data;
    case ATOMIC_CMPSWAP:
        return old == compare ? data : old;
    case ATOMIC_ADD:
        return old + data;
    case ATOMIC_SUB:
        return old - data;
    case ATOMIC_SMIN:
        return (int64_t)data < (int64_t)old ? data : old;
    case ATOMIC_UMIN:
        return data < old ? data : old;
    case ATOMIC_SMAX:
        return (int64_t)data > (int64_t)old ? data : old;
    case ATOMIC_UMAX:
        return data > old ? data : old;
    case ATOMIC_AND:
        return old & data;
    case ATOMIC_OR:
        return old | data;
    case ATOMIC_XOR:
        return old ^ data;
    case ATOMIC_INC:
        return old >= data ? 0 : old + 1;
    default: /* DEC */
        return !old || old > data ? data : old - 1;
    }
}

/* Returns the value before. */
static uint64_t change(void *host, unsigned operation, bool is_wide, uint64_t data, uint64_t compare)
{
    if (is_wide) {
        uint64_t old = __atomic_load_n((uint64_t *)host, __ATOMIC_ACQUIRE);
        while (!__atomic_compare_exchange_n((uint64_t *)host, &old, combine(operation, old, data, compare),
                                            false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            ;
        return old;
    }
    const uint64_t d = (uint64_t)(int32_t)data, c = (uint64_t)(int32_t)compare;
    int32_t old = __atomic_load_n((int32_t *)host, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n((int32_t *)host, &old,
                                        (int32_t)combine(operation, (uint64_t)old, d, c), false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        ;
    return (uint64_t)old;
}

/* Command 1 repeats a compare and swap until it swaps. Sources: linux, nvd.h; navi10_enum.h, TC_OP; PAL,
 * gfx9CmdUtil.cpp. */
static bool atomic_memory(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    const unsigned operation = body[0] & 0x1f, command = body[0] >> 8 & 0xf;
    const bool is_wide = body[0] & ATOMIC_WIDE, repeats = command == 1;
    const uint64_t address = pair(body[1], body[2]), data = pair(body[3], body[4]),
                   compare = pair(body[5], body[6]);
    struct waiting waiting = {0};
    const uint64_t wanted = is_wide ? compare : (uint64_t)(int32_t)compare;
    (void)count;
    if ((operation != ATOMIC_SWAP && operation != ATOMIC_CMPSWAP &&
         (operation < ATOMIC_ADD || operation > ATOMIC_DEC)) ||
        body[0] & ATOMIC_WIDE << 2 || command > 1 || (repeats && operation != ATOMIC_CMPSWAP))
        return fail(b->state, "%s of operation 0x%x, command %u, is not executed", name, body[0] & 0x7f,
                    command);
    if (!b->state->device->chip->generation->has_compute_processor || address % (is_wide ? 8 : 4))
        return fail(b->state, "%s at 0x%llx: %s", name, (unsigned long long)address,
                    address % (is_wide ? 8 : 4) ? "expected an aligned address"
                                                : "gfx6 has other operations");
    for (;;) {
        void *host = reach(b->state, name, address, is_wide ? 8 : 4);
        if (!host)
            return false;
        if (change(host, operation, is_wide, data, compare) == wanted || !repeats)
            return true;
        if (!pause_ring(b, name, &waiting))
            return false;
    }
}

/* ---- transfers ---- */

enum { FROM_MEMORY, FROM_GDS, FROM_DATA, FROM_MEMORY_L2 };

/* repeats: the source is one dword at one address. */
static bool transfer(struct buffer *b, const char *name, unsigned from, uint64_t source, unsigned to,
                     uint64_t target, uint32_t bytes, bool repeats)
{
    if (!bytes || to == 2 || (from != FROM_DATA && source == target))
        return true; /* a wait, or a prefetch */
    if (from == FROM_GDS || to == 1)
        return fail(b->state, "%s from or to GDS is not executed", name);
    unsigned char *host = reach(b->state, name, target, bytes);
    if (!host)
        return false;
    if (from == FROM_DATA || repeats) {
        uint64_t value = source;
        if (from != FROM_DATA && !read_value(b->state, name, source, &value, 4))
            return false;
        for (uint32_t i = 0; i < bytes; i += 4)
            memcpy(host + i, &value, bytes - i < 4 ? bytes - i : 4);
        return true;
    }
    const void *origin = reach(b->state, name, source, bytes);
    if (origin)
        memmove(host, origin, bytes);
    return origin;
}

static bool dma_data(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    const unsigned from = body[0] >> 29 & 3;
    (void)count;
    return transfer(b, name, from, from == FROM_DATA ? body[1] : pair(body[1], body[2]), body[0] >> 20 & 3,
                    pair(body[3], body[4]), body[5] & b->state->device->chip->generation->dma_bytes,
                    body[5] >> 28 & 1);
}

static bool cp_dma(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    const unsigned from = body[1] >> 29 & 3;
    (void)count;
    return transfer(b, name, from, from == FROM_DATA ? body[0] : pair(body[0], body[1] & 0xffff),
                    body[1] >> 20 & 3, pair(body[2], body[3] & 0xffff), body[4] & 0x1fffff,
                    body[4] >> 28 & 1);
}

/* ---- ends of work ---- */

/* select: what is written: 1 and 2 the value, 3 the time. */
static bool write_end(struct buffer *b, const char *name, unsigned select, uint64_t address, uint64_t value)
{
    switch (select) {
    case 0:
        return true;
    case 1:
        return write_value(b->state, name, address, value, 4);
    case 2:
        return write_value(b->state, name, address, value, 8);
    case 3:
        return write_value(b->state, name, address, drm_timestamp(), 8);
    default:
        return fail(b->state, "%s writes data of kind %u; expected 0 to 3", name, select);
    }
}

static bool release_memory(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    (void)count;
    return write_end(b, name, body[1] >> 29, pair(body[2], body[3]), pair(body[4], body[5]));
}

static bool event_end(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    (void)count;
    return write_end(b, name, body[2] >> 29, pair(body[1], body[2] & 0xffff), pair(body[3], body[4]));
}

/* When shaders have ended: command 2 writes a value. */
static bool event_shaders(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    (void)count;
    if (body[2] >> 29 != 2)
        return fail(b->state, "%s with command %u; expected 2", name, body[2] >> 29);
    return write_value(b->state, name, pair(body[1], body[2] & 0xffff), body[3], 4);
}

/* ---- waits and conditions ---- */

static bool holds(unsigned function, uint32_t value, uint32_t reference)
{
    switch (function) {
    case 1:
        return value < reference;
    case 2:
        return value <= reference;
    case 3:
        return value == reference;
    case 4:
        return value != reference;
    case 5:
        return value >= reference;
    case 6:
        return value > reference;
    default:
        return true;
    }
}

static bool wait_memory(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    const uint64_t address = pair(body[1] & ~3u, body[2]);
    struct waiting waiting = {0};
    uint64_t value;
    (void)count;
    if (!(body[0] >> 4 & 1))
        return fail(b->state, "%s on a register; expected memory", name);
    for (;;) {
        if (!read_value(b->state, name, address, &value, 4))
            return false;
        if (holds(body[0] & 7, (uint32_t)value & body[4], body[3]))
            return true;
        if (!pause_ring(b, name, &waiting))
            return false;
    }
}

static bool conditional(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    uint64_t value;
    if (!read_value(b->state, name, pair(body[0] & ~3u, body[1]), &value, 4))
        return false;
    const size_t skipped = body[count - 1] & 0x3fff;
    if (value)
        return true;
    if (skipped > b->count - b->at)
        return fail(b->state, "%s of %zu dwords, %zu before the buffer ends", name, skipped,
                    b->count - b->at);
    b->at += skipped;
    return true;
}

/* Bits 18:16: 0 none, 3 a condition of 64 bits, 4 of 32; bit 8: packets run if it is not 0. */
static bool set_predication(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    const bool is_new = count >= 3;
    const uint32_t operation = is_new ? body[0] : body[1];
    const uint64_t address = is_new ? pair(body[1] & ~15u, body[2]) : pair(body[0] & ~15u, body[1] & 0xff);
    const unsigned kind = operation >> 16 & 7;
    uint64_t value;
    b->state->skips = false;
    if (kind == 0)
        return true;
    if (kind != 3 && kind != 4)
        return fail(b->state, "%s by operation %u; expected 0 (none), 3 or 4 (a value in memory)", name,
                    kind);
    if (!read_value(b->state, name, address, &value, kind == 3 ? 8 : 4))
        return false;
    b->state->skips = (operation >> 8 & 1) ? !value : value != 0;
    return true;
}

static bool execute_words(struct buffer *b);
static bool execute_at(struct drm_ring_state *state, uint64_t address, uint32_t bytes, unsigned depth);

static bool indirect(struct buffer *b, const char *name, const uint32_t *body, size_t count)
{
    const uint64_t address = pair(body[0] & ~3u, body[1] & 0xffff);
    const uint32_t bytes = (body[2] & 0xfffff) * 4;
    (void)name, (void)count;
    if (!(body[2] >> 20 & 1))
        return execute_at(b->state, address, bytes, b->depth + 1);
    b->chain = address;
    b->chain_bytes = bytes;
    b->at = b->count;
    return true;
}

/* ---- the table ---- */

static const struct packet {
    const char *name;
    action *act;
    uint8_t least; /* dwords of the body */
} packets[256] = {
    [0x10] = {"NOP", nothing, 0},
    [0x11] = {"SET_BASE", set_base, 3},
    [0x12] = {"CLEAR_STATE", nothing, 0},
    [0x15] = {"DISPATCH_DIRECT", dispatch_direct, 4},
    [0x16] = {"DISPATCH_INDIRECT", dispatch_indirect, 2},
    [0x1e] = {"ATOMIC_MEM", atomic_memory, 8},
    [0x1f] = {"OCCLUSION_QUERY", unsupported, 0},
    [0x20] = {"SET_PREDICATION", set_predication, 2},
    [0x22] = {"COND_EXEC", conditional, 3},
    [0x24] = {"DRAW_INDIRECT", draw, 0},
    [0x25] = {"DRAW_INDEX_INDIRECT", draw, 0},
    [0x26] = {"INDEX_BASE", nothing, 0},
    [0x27] = {"DRAW_INDEX_2", draw, 0},
    [0x28] = {"CONTEXT_CONTROL", nothing, 0},
    [0x2a] = {"INDEX_TYPE", nothing, 0},
    [0x2c] = {"DRAW_INDIRECT_MULTI", draw, 0},
    [0x2d] = {"DRAW_INDEX_AUTO", draw, 0},
    [0x2f] = {"NUM_INSTANCES", nothing, 0},
    [0x34] = {"STRMOUT_BUFFER_UPDATE", unsupported, 0},
    [0x35] = {"DRAW_INDEX_OFFSET_2", draw, 0},
    [0x37] = {"WRITE_DATA", write_data, 3},
    [0x38] = {"DRAW_INDEX_INDIRECT_MULTI", draw, 0},
    [0x39] = {"MEM_SEMAPHORE", unsupported, 0},
    [0x3c] = {"WAIT_REG_MEM", wait_memory, 6},
    [0x3f] = {"INDIRECT_BUFFER", indirect, 3},
    [0x40] = {"COPY_DATA", copy_data, 5},
    [0x41] = {"CP_DMA", cp_dma, 5},
    [0x42] = {"PFP_SYNC_ME", nothing, 0},
    [0x43] = {"SURFACE_SYNC", nothing, 0},
    [0x46] = {"EVENT_WRITE", event, 1},
    [0x47] = {"EVENT_WRITE_EOP", event_end, 5},
    [0x48] = {"EVENT_WRITE_EOS", event_shaders, 4},
    [0x49] = {"RELEASE_MEM", release_memory, 6},
    [0x4a] = {"DISPATCH_MESH_INDIRECT_MULTI", draw, 0},
    [0x4c] = {"DISPATCH_TASKMESH_GFX", draw, 0},
    [0x50] = {"DMA_DATA", dma_data, 6},
    [0x51] = {"CONTEXT_REG_RMW", nothing, 0},
    [0x58] = {"ACQUIRE_MEM", nothing, 0},
    [0x59] = {"REWIND", unsupported, 0},
    [0x5d] = {"PRIME_UTCL2", nothing, 0},
    [0x5e] = {"LOAD_UCONFIG_REG", unsupported, 0},
    [0x5f] = {"LOAD_SH_REG", unsupported, 0},
    [0x61] = {"LOAD_CONTEXT_REG", unsupported, 0},
    [0x63] = {"LOAD_SH_REG_INDEX", load_sh, 4},
    [0x68] = {"SET_CONFIG_REG", nothing, 0},
    [0x69] = {"SET_CONTEXT_REG", nothing, 0},
    [0x6a] = {"SET_CONTEXT_REG_INDEX", nothing, 0},
    [0x76] = {"SET_SH_REG", set_sh, 1},
    [0x79] = {"SET_UCONFIG_REG", nothing, 0},
    [0x7a] = {"SET_UCONFIG_REG_INDEX", nothing, 0},
    [0x8c] = {"SQ_THREAD_TRACE", unsupported, 0},
    [0x90] = {"FRAME_CONTROL", nothing, 0},
    [0x9b] = {"SET_SH_REG_INDEX", set_sh, 1},
    [0xa9] = {"DISPATCH_TASK_STATE_INIT", unsupported, 0},
    [0xaa] = {"DISPATCH_TASKMESH_DIRECT_ACE", unsupported, 0},
    [0xad] = {"DISPATCH_TASKMESH_INDIRECT_MULTI_ACE", unsupported, 0},
    [0xb8] = {"SET_CONTEXT_REG_PAIRS", nothing, 0},
    [0xb9] = {"SET_CONTEXT_REG_PAIRS_PACKED", nothing, 0},
    [0xba] = {"SET_SH_REG_PAIRS", set_sh_pairs, 2},
    [0xbb] = {"SET_SH_REG_PAIRS_PACKED", set_sh_packed, 4},
    [0xbd] = {"SET_SH_REG_PAIRS_PACKED_N", set_sh_packed, 4},
    [0xbe] = {"SET_UCONFIG_REG_PAIRS", nothing, 0},
};

bool drm_find_code(const uint32_t *words, size_t count, uint64_t *address)
{
    struct drm_ring_state *state = calloc(1, sizeof *state);
    struct buffer b = {.state = state, .words = words, .count = count};
    bool found = false;
    while (state && b.at < count && !found) {
        const uint32_t header = words[b.at], body = (header >> 16 & 0x3fff) + 1;
        const struct packet *packet = &packets[header >> 8 & 0xff];
        if (header >> 30 == 2 || header == 0xffff1000) { /* filler */
            b.at++;
            continue;
        }
        if (header >> 30 != 3 || !packet->name || body > count - b.at - 1 || body < packet->least)
            break;
        if (packet->act == set_sh || packet->act == set_sh_pairs || packet->act == set_sh_packed)
            packet->act(&b, packet->name, words + b.at + 1, body);
        found = packet->act == dispatch_direct;
        b.at += 1 + body;
    }
    *address = found ? drm_code_address(state) : 0;
    free(state);
    return *address;
}

/* One packet of type 3 at b->at, with its body there. */
static bool execute_packet(struct buffer *b, uint32_t header)
{
    const unsigned code = header >> 8 & 0xff;
    const struct packet *packet = &packets[code];
    const size_t place = b->at, count = (header >> 16 & 0x3fff) + 1u;
    const uint32_t *body = b->words + place + 1;
    struct drm_ring_state *state = b->state;
    if (code == 0x10 && (header >> 16 & 0x3fff) == 0x3fff) { /* filler without a body */
        b->at++;
        return true;
    }
    if (!packet->name)
        return fail(state, "packet 0x%02x (header 0x%08x) at dword %zu is not known", code, header, place);
    if (count > b->count - place - 1)
        return fail(state, "%s at dword %zu has %zu dwords, and the buffer ends %zu behind it", packet->name,
                    place, count, b->count - place - 1);
    if (count < packet->least)
        return fail(state, "%s at dword %zu has %zu dwords; expected at least %u", packet->name, place, count,
                    packet->least);
    if (drm_text_wanted())
        drm_text_packet(b->address + 4 * place, packet->name, body, count, packet->act == set_sh);
    b->at += 1 + count;
    return (header & 1 && state->skips) || packet->act(b, packet->name, body, count);
}

static bool execute_words(struct buffer *b)
{
    while (b->at < b->count) {
        const uint32_t header = b->words[b->at];
        if (header >> 30 == 2) { /* filler */
            b->at++;
            continue;
        }
        if (header >> 30 != 3)
            return fail(b->state, "header 0x%08x at dword %zu; expected a packet of type 2 or 3", header,
                        b->at);
        if (!execute_packet(b, header))
            return false;
    }
    return true;
}

static bool execute_at(struct drm_ring_state *state, uint64_t address, uint32_t bytes, unsigned depth)
{
    if (depth > MOST_DEPTH)
        return fail(state, "INDIRECT_BUFFER: more than %d calls deep", MOST_DEPTH);
    for (unsigned i = 0; bytes; i++) {
        if (i == MOST_CHAINED)
            return fail(state, "INDIRECT_BUFFER: more than %d buffers in a chain", MOST_CHAINED);
        if (bytes > MOST_BYTES || bytes % 4 || address % 4)
            return fail(state,
                        "a command buffer of %u bytes at 0x%llx; expected dwords, and at most %u bytes",
                        bytes, (unsigned long long)address, MOST_BYTES);
        const void *from = reach(state, "command buffer", address, bytes);
        uint32_t *words = from ? malloc(bytes) : NULL; /* a copy: shaders may write to it */
        if (!words)
            return from ? fail(state, "no memory for a command buffer of %u bytes", bytes) : false;
        memcpy(words, from, bytes);
        drm_text_buffer(state, address, bytes, depth);
        struct buffer b = {
            .state = state, .address = address, .words = words, .count = bytes / 4, .depth = depth};
        const bool ok = execute_words(&b);
        free(words);
        if (!ok)
            return false;
        address = b.chain;
        bytes = b.chain ? b.chain_bytes : 0;
    }
    return true;
}

bool drm_execute(struct drm_ring_state *state, uint64_t address, uint32_t bytes)
{
    state->problem[0] = 0;
    if (state->type == AMDGPU_HW_IP_DMA)
        return fail(state, "SDMA packets are not executed");
    return execute_at(state, address, bytes, 0);
}
