/* SPDX-License-Identifier: MIT */
/* The steps of DS instructions, compiled per CPU level and wave size, and how they take their record. */
#ifndef WMI_LDS_H
#define WMI_LDS_H

#include "exec/lower.h"

/* In the record of all these steps: a = ADDR row, b = DATA rows, c = DATA2 rows, d = result rows, x = byte
 * offset of the first place, y = of the second if there is one, data = the instruction's wmi_memory_op. */
/* clang-format off */
#define WMI_LDS_READS(X)                                                                               \
    X(read_u8) X(read_i8) X(read_u16) X(read_i16)                                                      \
    X(read_u8_d16) X(read_u8_d16_hi) X(read_i8_d16) X(read_i8_d16_hi)                                  \
    X(read_u16_d16) X(read_u16_d16_hi)                                                                 \
    X(read_b32) X(read_b64) X(read_b96) X(read_b128) X(read2_b32) X(read2_b64)
#define WMI_LDS_WRITES(X)                                                                              \
    X(write_b8) X(write_b16) X(write_b8_d16_hi) X(write_b16_d16_hi)                                    \
    X(write_b32) X(write_b64) X(write_b96) X(write_b128) X(write2_b32) X(write2_b64)
/* They return the value before when the memory_op says so. */
#define WMI_LDS_ATOMICS(X)                                                                             \
    X(add_b32) X(sub_b32) X(rsub_b32) X(inc_b32) X(dec_b32)                                            \
    X(min_i32) X(max_i32) X(min_u32) X(max_u32)                                                        \
    X(and_b32) X(or_b32) X(xor_b32) X(mskor_b32) X(wrxchg_b32) X(cmpst_b32) X(wrap_b32)                \
    X(cond_sub_b32) X(sub_clamp_b32)                                                                   \
    X(cmpst_f32) X(min_f32) X(max_f32) X(add_f32) X(pk_add_f16) X(pk_add_bf16)                         \
    X(add_b64) X(sub_b64) X(rsub_b64) X(inc_b64) X(dec_b64)                                            \
    X(min_i64) X(max_i64) X(min_u64) X(max_u64)                                                        \
    X(and_b64) X(or_b64) X(xor_b64) X(mskor_b64) X(wrxchg_b64) X(cmpst_b64)                            \
    X(cmpst_f64) X(min_f64) X(max_f64) X(add_f64) X(condxchg32_b64)                                    \
    X(wrxchg2_b32) X(wrxchg2_b64) X(append) X(consume)
/* The lanes exchange a row; addtid makes the ADDR row of *_addtid_b32; src2_* make the ADDR row (d) and read
 * the DATA rows (e) of *_src2_*; observe and observe_lanes tell the observer. permute and bpermute: y = lanes
 * that exchange with one another, a power of two. */
#define WMI_LDS_OTHERS(X)                                                                              \
    X(swizzle) X(permute) X(bpermute) X(addtid) X(src2_b32) X(src2_b64) X(observe) X(observe_lanes)
#define WMI_LDS_STEPS(X) WMI_LDS_READS(X) WMI_LDS_WRITES(X) WMI_LDS_ATOMICS(X) WMI_LDS_OTHERS(X)

enum wmi_lds_step {
    WMI_LDS_NONE,
#define STEP(name) WMI_LDS_##name,
    WMI_LDS_STEPS(STEP)
#undef STEP
    WMI_LDS_STEP_COUNT
};
/* clang-format on */

/* wmi_memory_op.parameter of DS instructions: places per lane and bytes of each place, as the hardware checks
 * and accesses them (ds_read_b96: 1 place of 12 bytes; ds_read2_b64: 2 of 8). */
static inline unsigned wmi_lds_places(const struct wmi_memory_op *memory)
{
    return memory->parameter & 0xff;
}

static inline unsigned wmi_lds_bytes(const struct wmi_memory_op *memory)
{
    return memory->parameter >> 8 & 0xff;
}

/* Emits the step that reads LDS_DIRECT, a source of the vector ALU instruction, into a temporary row. */
uint32_t wmi_lower_lds_direct(struct wmi_builder *builder, const struct wmi_instruction *insn);

/* Lowers ds_bvh_stack_rtn_b32. */
bool wmi_lower_stack(struct wmi_builder *builder, const struct wmi_instruction *insn);

wmi_body wmi_lds_body(enum wmi_cpu_level level, unsigned lanes, enum wmi_lds_step step);

#endif
