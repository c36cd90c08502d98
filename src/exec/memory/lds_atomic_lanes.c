/* SPDX-License-Identifier: MIT */
/* DS atomics on LDS. A workgroup runs on one thread, so atomics are plain operations, executed in lane
 * order. */
#include "arithmetic/host_float.h"
#include "exec/memory/lds.h"
#include "exec/memory/lds_places.h"
#include "sem/atomic.h"

#include <string.h>

static void drop_lanes(struct places *places, uint64_t lanes)
{
    for (unsigned i = 0; i < WMI_LANES; i++)
        if (lanes >> i & 1 || places->all_in_range)
            places->keep[i] = lanes >> i & 1 ? 0 : ~0u;
    places->lanes &= ~lanes;
    places->all_in_range = places->full = false;
}

/* LDS atomics must be naturally aligned, regardless of the alignment mode. Source: CDNA3 ISA, "LDS
 * alignment". Misaligned lanes do nothing and return 0, like lanes out of range. False: the wave has
 * faulted. */
static bool without_misaligned(char *frame, const struct wmi_op *op, struct places *places, unsigned count,
                               unsigned bytes)
{
    const struct wmi_memory_op *memory = op->data;
    struct wmi_fault fault = {
        .kind = WM_FAULT_MISALIGNED, .pc = memory->pc, .low = UINT64_MAX, .bytes = bytes, .store = true};
    for (unsigned p = 0; p < count; p++)
        for (uint64_t left = places[p].lanes; left; left &= left - 1) {
            const unsigned i = (unsigned)__builtin_ctzll(left);
            const uint32_t at = places[p].at[i];
            if (at % bytes == 0)
                continue;
            fault.lanes |= 1ULL << i;
            fault.low = at < fault.low ? at : fault.low;
            fault.high = at + bytes - 1 > fault.high ? at + bytes - 1 : fault.high;
        }
    bool shown = false;
    for (unsigned p = 0; p < count; p++)
        shown |= !places[p].all_in_range;
    if (memory->late && !shown)
        WMI_BUILD_NAME(wmi_lds_show_late)(frame, op, op->x);
    if (!wmi_wave_violates(wmi_wave_of(frame), &fault))
        return false;
    for (unsigned p = 0; p < count; p++)
        drop_lanes(&places[p], fault.lanes);
    return true;
}

ALWAYS_INLINE bool aligned(const struct places *places, unsigned bytes)
{
    uint32_t low = 0;
    for (unsigned i = 0; i < WMI_LANES; i++)
        low |= places->at[i];
    return low % bytes == 0;
}

/* a, b: the lane's DATA and DATA2. False: the wave has faulted. */
ALWAYS_INLINE bool atomic32(char *frame, const struct wmi_op *op,
                            uint32_t (*value)(uint32_t memory, uint32_t a, uint32_t b))
{
    const struct wmi_memory_op *memory = op->data;
    struct places places;
    find_places(frame, op, op->x, 4, &places);
    if (__builtin_expect(!aligned(&places, 4), 0) && !without_misaligned(frame, op, &places, 1, 4))
        return false;
    unsigned char *lds = lds_of(frame);
    const uint32_t *a = row(frame, op->b), *b = row(frame, op->c);
    alignas(64) uint32_t before[WMI_LANES];
    for (uint64_t left = places.lanes; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        memcpy(&before[i], lds + places.at[i], 4);
        const uint32_t after = value(before[i], a[i], b[i]);
        memcpy(lds + places.at[i], &after, 4);
    }
    if (memory->returns)
        put_row(frame, op, op->d, &places, before);
    return true;
}

ALWAYS_INLINE uint64_t pair(const uint32_t *rows, unsigned i)
{
    return rows[i] | (uint64_t)rows[WMI_LANES + i] << 32;
}

ALWAYS_INLINE bool atomic64(char *frame, const struct wmi_op *op,
                            uint64_t (*value)(uint64_t memory, uint64_t a, uint64_t b))
{
    const struct wmi_memory_op *memory = op->data;
    struct places places;
    find_places(frame, op, op->x, 8, &places);
    if (__builtin_expect(!aligned(&places, 8), 0) && !without_misaligned(frame, op, &places, 1, 8))
        return false;
    unsigned char *lds = lds_of(frame);
    const uint32_t *a = row(frame, op->b), *b = row(frame, op->c);
    alignas(64) uint32_t before[2][WMI_LANES];
    for (uint64_t left = places.lanes; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        uint64_t was;
        memcpy(&was, lds + places.at[i], 8);
        const uint64_t after = value(was, pair(a, i), pair(b, i));
        memcpy(lds + places.at[i], &after, 8);
        before[0][i] = (uint32_t)was;
        before[1][i] = (uint32_t)(was >> 32);
    }
    if (memory->returns)
        for (unsigned k = 0; k < 2; k++)
            put_row(frame, op, op->d + k * WMI_ROW_BYTES, &places, before[k]);
    return true;
}

/* An atomic with the operands of sem/atomic.h: DATA, and DATA2 where there is one. */
#define ATOMIC(name, bits, function)                                                                         \
    STEP(name)                                                                                               \
    {                                                                                                        \
        return atomic##bits(frame, op, function) ? wmi_next(frame, op) : NULL;                               \
    }
/* DS compares with DATA and stores DATA2. */
#define COMPARE_AND_STORE(name, bits, function)                                                              \
    static inline uint##bits##_t name##_value(uint##bits##_t m, uint##bits##_t a, uint##bits##_t b)          \
    {                                                                                                        \
        return function(m, b, a);                                                                            \
    }                                                                                                        \
    ATOMIC(name, bits, name##_value)

#define ATOMICS(bits)                                                                                        \
    ATOMIC(add_b##bits, bits, wmi_atomic_add_##bits)                                                         \
    ATOMIC(sub_b##bits, bits, wmi_atomic_sub_##bits)                                                         \
    ATOMIC(rsub_b##bits, bits, wmi_atomic_rsub_##bits)                                                       \
    ATOMIC(inc_b##bits, bits, wmi_atomic_inc_##bits)                                                         \
    ATOMIC(dec_b##bits, bits, wmi_atomic_dec_##bits)                                                         \
    ATOMIC(min_i##bits, bits, wmi_atomic_smin_##bits)                                                        \
    ATOMIC(max_i##bits, bits, wmi_atomic_smax_##bits)                                                        \
    ATOMIC(min_u##bits, bits, wmi_atomic_umin_##bits)                                                        \
    ATOMIC(max_u##bits, bits, wmi_atomic_umax_##bits)                                                        \
    ATOMIC(and_b##bits, bits, wmi_atomic_and_##bits)                                                         \
    ATOMIC(or_b##bits, bits, wmi_atomic_or_##bits)                                                           \
    ATOMIC(xor_b##bits, bits, wmi_atomic_xor_##bits)                                                         \
    ATOMIC(mskor_b##bits, bits, wmi_atomic_masked_or_##bits)                                                 \
    ATOMIC(wrxchg_b##bits, bits, wmi_atomic_swap_##bits)                                                     \
    ATOMIC(min_f##bits, bits, wmi_atomic_fmin_##bits)                                                        \
    ATOMIC(max_f##bits, bits, wmi_atomic_fmax_##bits)                                                        \
    COMPARE_AND_STORE(cmpst_b##bits, bits, wmi_atomic_cmpswap_##bits)                                        \
    COMPARE_AND_STORE(cmpst_f##bits, bits, wmi_atomic_fcmpswap_##bits)

ATOMICS(32)
ATOMICS(64)
ATOMIC(wrap_b32, 32, wmi_atomic_wrap_32)
ATOMIC(cond_sub_b32, 32, wmi_atomic_cond_sub_32)
ATOMIC(sub_clamp_b32, 32, wmi_atomic_csub_32)
ATOMIC(barrier_arrive_b64, 64, wmi_atomic_barrier_arrive_64)
ATOMIC(condxchg32_b64, 64, wmi_atomic_exchange_marked_halves_64)

/* Runs `work` with the host rounding to nearest even, as DS float atomics do regardless of MODE, and with the
 * given denormal mode. Source: LLVM, SIISelLowering.cpp, on DS float atomics. */
#define ROUNDING_TO_NEAREST(denormals, work)                                                                 \
    const struct wmi_frame *state = (const struct wmi_frame *)frame;                                         \
    const uint32_t nearest = wmi_host_float_word(0, denormals);                                              \
    const bool other = nearest != state->mxcsr32;                                                            \
    if (other)                                                                                               \
        wmi_host_float_set(nearest);                                                                         \
    __asm__ volatile("" ::: "memory");                                                                       \
    const bool ok = work;                                                                                    \
    __asm__ volatile("" ::: "memory");                                                                       \
    if (other)                                                                                               \
        wmi_host_float_set(state->mxcsr32);                                                                  \
    return ok ? wmi_next(frame, op) : NULL;

STEP(add_f32){ROUNDING_TO_NEAREST(state->mode >> 4, atomic32(frame, op, wmi_atomic_fadd_32))}

STEP(add_f64){ROUNDING_TO_NEAREST(state->mode >> 6, atomic64(frame, op, wmi_atomic_fadd_64))}

/* Denormals as MODE says for f16; only the setting that keeps both inputs and outputs keeps any. */
STEP(pk_add_f16){ROUNDING_TO_NEAREST(3, (state->mode >> 6 & 3) == 3
                                            ? atomic32(frame, op, wmi_atomic_pk_add_f16_32)
                                            : atomic32(frame, op, wmi_atomic_pk_add_f16_flush_32))}

/* MODE has no bf16 denormal setting: they are kept (unverified). */
STEP(pk_add_bf16){ROUNDING_TO_NEAREST(3, atomic32(frame, op, wmi_atomic_pk_add_bf16_32))}

/* Exchanges two places per lane; both are read before either is written. */
ALWAYS_INLINE const struct wmi_op *exchange2(char *frame, const struct wmi_op *op, unsigned dwords)
{
    const unsigned bytes = 4 * dwords;
    struct places places[2];
    alignas(64) uint32_t before[4][WMI_LANES];
    unsigned char *lds = lds_of(frame);
    const uint32_t *data[2] = {row(frame, op->b), row(frame, op->c)};
    find_places(frame, op, op->x, bytes, &places[0]);
    find_places(frame, op, op->y, bytes, &places[1]);
    if ((!aligned(&places[0], bytes) || !aligned(&places[1], bytes)) &&
        !without_misaligned(frame, op, places, 2, bytes))
        return NULL;
    for (uint64_t left = lanes_of(frame, op)->bits; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        for (unsigned p = 0; p < 2; p++)
            for (unsigned k = 0; k < dwords; k++)
                memcpy(&before[p * dwords + k][i], lds + places[p].at[i] + 4 * k, 4);
        for (unsigned p = 0; p < 2; p++)
            for (unsigned k = 0; k < dwords && places[p].lanes >> i & 1; k++)
                memcpy(lds + places[p].at[i] + 4 * k, &data[p][k * WMI_LANES + i], 4);
    }
    for (unsigned k = 0; k < 2 * dwords; k++)
        put_row(frame, op, op->d + k * WMI_ROW_BYTES, &places[k / dwords], before[k]);
    return wmi_next(frame, op);
}

/* clang-format off */
STEP(wrxchg2_b32) { return exchange2(frame, op, 1); }
STEP(wrxchg2_b64) { return exchange2(frame, op, 2); }
/* clang-format on */

/* Adds the number of active lanes to (or subtracts it from) the counter at M0[15:0] + offset; all lanes get
 * the old value. Sources: RDNA4 ISA, DS_APPEND; LDS takes its base from M0: LLVM, SelectDSAppendConsume. */
ALWAYS_INLINE const struct wmi_op *count(char *frame, const struct wmi_op *op, uint32_t sign)
{
    const struct wmi_workgroup *group = wmi_wave_of(frame)->group;
    const struct wmi_lanes *lanes = lanes_of(frame, op);
    const uint32_t at = ((((struct wmi_frame *)frame)->s[WMI_S_M0] & 0xffff) + op->x) & ~3u;
    uint32_t before = 0;
    if (lanes->bits && group->lds_size >= 4 && at <= group->lds_size - 4) {
        memcpy(&before, group->lds + at, 4);
        const uint32_t after = before + sign * (uint32_t)__builtin_popcountll(lanes->bits);
        memcpy(group->lds + at, &after, 4);
    }
    uint32_t *d = row(frame, op->d);
    for (unsigned i = 0; i < WMI_LANES; i++)
        d[i] = (before & lanes->row[i]) | (d[i] & ~lanes->row[i]);
    return wmi_next(frame, op);
}

/* clang-format off */
STEP(append) { return count(frame, op, 1); }
STEP(consume) { return count(frame, op, ~0u); }
/* clang-format on */

const wmi_body WMI_BUILD_NAME(wmi_lds_atomics)[WMI_LDS_STEP_COUNT] = {
#undef STEP
#define STEP(name) [WMI_LDS_##name] = name,
    WMI_LDS_ATOMICS(STEP)};
