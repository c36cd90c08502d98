; SPDX-License-Identifier: MIT
; Seeds of fuzz_exec: one short kernel per label, cut apart by dev/fuzz. For registers see fuzz_exec.c.
seed_global:
    global_load_dword v8, v3, s[8:9]
    global_load_dwordx4 v[12:15], v[4:5], off offset:16
    s_waitcnt vmcnt(0)
    v_add_u32_e32 v8, v8, v12
    global_store_dword v3, v8, s[8:9] offset:1024
    global_atomic_add v9, v[4:5], v8, off glc
    global_atomic_cmpswap_x2 v[16:17], v[4:5], v[12:15], off offset:8 glc
    global_store_short_d16_hi v3, v9, s[8:9]
seed_flat:
    v_add_co_u32_e32 v20, vcc, v3, v4
    v_addc_co_u32_e32 v21, vcc, 0, v5, vcc
    flat_load_ubyte_d16 v22, v[20:21] offset:3
    flat_load_dwordx2 v[24:25], v[20:21]
    s_waitcnt vmcnt(0) lgkmcnt(0)
    flat_store_dwordx3 v[20:21], v[24:26] offset:256
    flat_atomic_swap v26, v[20:21], v22 glc
seed_scalar:
    s_load_dwordx8 s[16:23], s[10:11], 0x40
    s_load_dword s24, s[8:9], s12
    s_waitcnt lgkmcnt(0)
    s_mul_i32 s25, s16, s17
    s_bfe_u32 s26, s18, 0x80008
    s_lshl_b64 s[28:29], s[16:17], s26
    s_cselect_b32 s30, s25, s26
seed_lds:
    ds_write_b32 v3, v0
    ds_write2_b64 v3, v[4:5], v[6:7] offset0:1 offset1:9
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b128 v[12:15], v3
    ds_read2st64_b32 v[16:17], v3 offset1:1
    ds_add_rtn_u32 v18, v3, v0 offset:8
    ds_bpermute_b32 v19, v3, v0
    ds_swizzle_b32 v20, v0 offset:swizzle(SWAP,16)
seed_loop:
    s_mov_b32 s16, 0
loop:
    v_mul_f32_e32 v8, 0x3fc00000, v0
    v_cmp_gt_u32_e32 vcc, 20, v0
    s_and_saveexec_b64 s[20:21], vcc
    s_cbranch_execz skip
    v_fma_f32 v9, v8, -v9, |v10| clamp
skip:
    s_or_b64 exec, exec, s[20:21]
    s_add_i32 s16, s16, 1
    s_cmp_lt_i32 s16, 10
    s_cbranch_scc1 loop
seed_modifiers:
    v_mov_b32_dpp v8, v0 row_shr:1 row_mask:0xf bank_mask:0x7 bound_ctrl:0
    v_add_u32_dpp v9, v0, v3 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf
    v_add_f16_sdwa v10, v0, -v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 src1_sel:WORD_1
    v_pk_mad_u16 v11, v0, v3, v8 op_sel:[1,0,0] op_sel_hi:[0,1,1]
    v_readlane_b32 s16, v3, 5
    v_writelane_b32 v3, s16, 63
    v_mad_u64_u32 v[12:13], s[18:19], v0, v3, v[4:5]
    v_div_scale_f32 v14, vcc, v8, v9, v8
    v_cvt_f16_f32_e32 v15, v8
    v_exp_f32_e32 v16, v8
seed_calls:
    s_getpc_b64 s[16:17]
    s_add_u32 s16, s16, 12
    s_addc_u32 s17, s17, 0
    s_setpc_b64 s[16:17]
    s_nop 0
    s_swappc_b64 s[18:19], s[16:17]
seed_private:
    s_mov_b32 s0, 0
    buffer_store_dword v3, off, s[0:3], 0 offset:4
    scratch_store_dword v3, v0, off
    buffer_load_dword v9, v3, s[8:11], 0 offen
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0x35
    s_getreg_b32 s20, hwreg(HW_REG_MODE)
    s_memtime s[22:23]
    s_dcache_wb
    s_trap 2
seed_waiting:
    s_cmp_eq_u32 s2, 0
    s_cbranch_scc1 publish
wait:
    global_load_dword v8, v0, s[8:9] glc
    s_waitcnt vmcnt(0)
    s_sleep 1
    v_cmp_eq_u32_e32 vcc, 1, v8
    s_cbranch_vccz wait
publish:
    v_mov_b32_e32 v9, 1
    global_store_dword v0, v9, s[8:9]
seed_lock:
    v_mov_b32_e32 v10, 1
    v_mov_b32_e32 v11, 0
try:
    global_atomic_cmpswap v12, v[4:5], v[10:11], off glc
    s_waitcnt vmcnt(0)
    v_cmp_ne_u32_e32 vcc, 0, v12
    s_cbranch_vccnz try
    global_atomic_swap v[4:5], v11, off
seed_barriers:
    v_cmp_gt_u32_e32 vcc, 64, v0
    s_cbranch_vccz other
    s_barrier
    ds_read_b32 v8, v3
    s_endpgm
other:
    s_branch other
seed_writes_code:
    s_getpc_b64 s[16:17]
    v_mov_b32_e32 v8, 0xbf810000
    v_mov_b32_e32 v9, 0
    global_store_dword v9, v8, s[16:17] offset:24
    s_icache_inv
    s_nop 0
    s_setpc_b64 s[16:17]
seed_state:
    s_set_gpr_idx_on 2, gpr_idx(SRC0,SRC1,DST)
    v_add_u32_e32 v8, v3, v4
    v_mac_f32_e32 v8, v3, v4
    v_mov_b32_sdwa v8, v3 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1
    s_set_gpr_idx_mode gpr_idx(SRC2)
    v_fma_f64 v[12:13], v[4:5], -v[6:7], v[4:5]
    s_set_gpr_idx_idx s20
    s_set_gpr_idx_off
    s_mov_b32 s20, 0x10
    s_setvskip s20, 4
    v_mov_b32_e32 v8, 0
    s_setvskip s20, 5
    s_getreg_b32 s21, hwreg(HW_REG_MODE, 29, 3)
    v_cmp_gt_u32_e32 vcc, 10, v0
    s_cbranch_i_fork vcc, .Lpass
    v_add_u32_e32 v8, 1, v8
.Lpass:
    s_cbranch_join s21
    s_getreg_b32 s20, hwreg(HW_REG_STATUS)
    s_sendmsg sendmsg(MSG_GET_DOORBELL)
    s_call_b64 exec, .Lend
.Lend:
    s_sethalt 1
seed_buffers:
    s_mov_b32 s12, s8
    s_or_b32 s13, s9, 0x80100000
    s_movk_i32 s14, 0x200
    s_mov_b32 s15, 0x00e24fac
    v_mov_b32_e32 v4, 4
    buffer_store_dwordx2 v[3:4], v[3:4], s[12:15], 0 idxen offen offset:4
    buffer_load_sbyte_d16_hi v9, v3, s[12:15], s20 offen offset:3
    buffer_atomic_cmpswap_x2 v[8:11], v3, s[12:15], 0 idxen glc
    buffer_load_dwordx4 v[12:15], off, s[12:15], 0 offset:16
    s_mov_b32 s13, s9
    buffer_store_short v3, v3, s[12:15], 0 offen
    s_scratch_load_dwordx2 s[22:23], s[8:9], s20
seed_global_share:
    s_mov_b32 m0, 0x00400100
    ds_add_rtn_u32 v8, v3, v0 offset:4 gds
    ds_append v9 gds
    ds_gws_init v0 gds
    ds_gws_sema_v gds
    ds_gws_sema_p gds
    ds_gws_barrier v0 gds
    ds_add_src2_u64 v3 offset:16
    ds_min_src2_f32 v3 offset:32768
seed_end:
