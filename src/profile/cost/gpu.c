/* SPDX-License-Identifier: MIT */
/* The products: the figures of each GPU that the models use.
 *
 * Sources. Compute units, sizes and sharing of caches, VGPRs: AMD, "Accelerator and GPU hardware
 * specifications" of ROCm's documentation (rows in tests/unit/profile/caches.c; the chips of RX 580, R9 Fury
 * X and RX Vega 64 are listed as MI6, MI8 and MI25); linux, kfd_crat.c. Lines and ways: GCN: AMD, "Graphics
 * Cores Next" white paper (scalar data 16 KiB, instructions 32 KiB, both four ways of 64-byte lines; L2
 * sixteen ways); MI300: CDNA 3 white paper; RDNA: RDNA white paper. Lines of instructions: LLVM,
 * getInstCacheLineSize (64 bytes, from gfx11 on 128). L2 channels: the same white papers, and
 * rocprofiler-compute for MI100 and MI200. VGPRs, SGPRs, granules and waves: LLVM 19, AMDGPUBaseInfo. Highest
 * clock and theoretical bandwidth of MI100, MI200 and MI300X: ROCm's documentation, "AMD Instinct MI100"
 * (MI250, MI300 series) "microarchitecture", which gives peak FLOPS (tests/unit/profile/caches.c) and GB/s;
 * exact clocks in MHz as reported by these GPUs (mt4g); MI200's 1.6 TB/s as 4096 bits at 3.2 Gb/s. Clocks of
 * RX 6800 and RX 6900 XT: AMD's announcement of the series. Reached bandwidth of memory, the best that
 * gpu-benches or another published program had: MI200 93 % of the peak (gpu-stream, gpu-l2-cache), MI300X 91
 * % (gpu-stream; assumed for MI300A, which has the same memory), RX 6900 XT 99 %. Infinity Cache: CDNA 3
 * white paper (17.2 TB/s); RX 6900 XT: 16 channels of 64 bytes at 1.94 GHz, of which gpu-l2-cache reaches
 * 1987.7 GB/s. Workgroups per clock: MI210, gpu-small-kernels (520,697 workgroups in 629 us).
 * MI350X and MI355X: the same tables of ROCm (256 compute units in 8 dies, 160 KiB
 * of LDS, 4 MiB of L2 a die, 256 MiB of Infinity Cache); clocks and 8 TB/s: AMD at Hot Chips 2025. Rows list
 * figures without such a source as `unverified`. For Radeon Pro W5500, with the RX 5500 XT's chip, AMD lists
 * 4 MiB of L2, linux 2 MiB.
 *
 * Chips: AMD's names of PCI devices (libdrm, data/amdgpu.ids). Sizes of memory: ROCm's table, where it lists
 * the product; those of the others, bus widths and memory clocks are commonly known, fit the bandwidth, and
 * are unverified; no model uses them.
 *
 * GB_ADDR_CONFIG: Mesa, amdgpu_devices.c and ac_fake_hw_db.h; linux, golden settings of gfx_v9_0.c,
 * gfx_v10_0.c and gfx_v11_0.c, and what it gives the IMU of gfx11 (imu_v11_0.c, imu_v11_0_3.c: RX 7600; RX
 * 7800 XT, where two values follow one another, of which the first counts as on gfx1100). Unverified: RX 6700
 * XT's and 6600 XT's, which follow from configurations that Mesa tests (ac_surface_test_common.h) and from
 * the numbers of channels and packers. Assumed: RX 7900 XTX's, RX 9060 XT's (without effect), and the number
 * of shader engines in MI100's and MI200's. Not found: Radeon 8060S's. */
#include "profile/cost/gpu.h"

#include "base/diag.h"
#include "memory/tiling/tile_tables.h"
#include "profile/caches/caches.h"
#include "profile/caches/inside.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define KIB(n) ((uint64_t)(n) << 10)
#define MIB(n) ((uint64_t)(n) << 20)

/* Caches of a compute unit, and those that `share` compute units share. */
#define GCN_CACHES(share)                                                                                    \
    [WM_CACHE_VECTOR] = {KIB(16), 64, 64, 0, 1, 64}, [WM_CACHE_SCALAR] = {KIB(16), 64, 4, 0, share},         \
    [WM_CACHE_INSTRUCTION] = {KIB(32), 64, 4, 0, share}
#define CDNA3_CACHES                                                                                         \
    [WM_CACHE_VECTOR] = {KIB(32), 128, 64, 0, 1, 128}, [WM_CACHE_SCALAR] = {KIB(16), 64, 4, 0, 2},           \
    [WM_CACHE_INSTRUCTION] = {KIB(64), 128, 8, 0, 2}
/* line: line size of the instruction cache. */
#define RDNA_CACHES(l0, line)                                                                                \
    [WM_CACHE_VECTOR] = {KIB(l0), 128, 4, 0, 1, 128}, [WM_CACHE_SCALAR] = {KIB(16), 64, 4, 0, 2},            \
    [WM_CACHE_INSTRUCTION] = {KIB(32), line, 4, 0, 2}
/* GiB, 0: the host's memory; bits; MHz, 0: unknown. */
#define MEMORY(gib, bits, mhz)                                                                               \
    .memory_bytes = (uint64_t)(gib) << 30, .memory_bits = (bits), .memory_mhz = (mhz)
#define GL1(kib, cus) [WM_CACHE_GL1] = {KIB(kib), 128, 16, 0, cus}
#define LAST(mib)     [WM_CACHE_LAST] = {MIB(mib), 64, 16, 0, 0}

/* Allocation granule of VGPRs on each target. */
enum {
#define TARGET(name, vgpr_granule64, vgpr_granule32)                                                         \
    GRANULE64_##name = (vgpr_granule64), GRANULE32_##name = (vgpr_granule32),
#include "targets.def"
};

/* Capacity of a SIMD: waves, VGPRs, their granule, SGPRs; and LDS of the compute unit or WGP. */
#define GCN_SIMD(s, target)                                                                                  \
    .simds = 4, .waves = 10, .issue = 5, .vgprs = 256, .vgpr_lanes = 64, .vgpr_granule = GRANULE64_##target, \
    .sgprs = s, .lds_bytes = 65536, .lds_sharing = 1
#define CDNA2_SIMD(target)                                                                                   \
    .simds = 4, .waves = 8, .issue = 5, .vgprs = 512, .vgpr_lanes = 64, .vgpr_granule = GRANULE64_##target,  \
    .sgprs = 800, .lds_bytes = 65536, .lds_sharing = 1
#define CDNA4_SIMD(target)                                                                                   \
    .simds = 4, .waves = 8, .issue = 5, .vgprs = 512, .vgpr_lanes = 64, .vgpr_granule = GRANULE64_##target,  \
    .sgprs = 800, .lds_bytes = 163840, .lds_sharing = 1
#define RDNA_SIMD(w, v, target)                                                                              \
    .simds = 2, .waves = w, .issue = 8, .vgprs = v, .vgpr_lanes = 32, .vgpr_granule = GRANULE32_##target,    \
    .lds_bytes = 131072, .lds_sharing = 2

#define GFX1250_SIMD(target)                                                                                 \
    .simds = 4, .waves = 16, .issue = 8, .vgprs = 1024, .vgpr_lanes = 32,                                    \
    .vgpr_granule = GRANULE32_##target, .lds_bytes = 327680, .lds_sharing = 1
/* Memory and bandwidth as AMD announced them of MI455X, waves and VGPRs as LLVM 22 has them; the rest is
 * MI355X's. */
#define GFX1250_PRODUCT(target)                                                                              \
    8, 4, 256, GFX1250_SIMD(target), .clock_mhz = 2400, .memory_bandwidth = 19600, MEMORY(432, 24576, 0),    \
        .cache = {CDNA3_CACHES, [WM_CACHE_L2] = {MIB(4), 128, 16, 16, 0, 128}, LAST(256)},                   \
        .assumed = cdna3_assumed, .unverified = unlisted

static const char gcn_assumed[] = "how addresses are spread over L2 channels";
static const char cdna3_assumed[] = "how addresses are spread over L2 channels";
static const char rdna_assumed[] =
    "ways of the scalar and instruction caches and of the Infinity Cache, and how addresses are spread over "
    "L2 channels";

static const char speeds[] = "clock and bandwidth";
static const char unlisted[] = "compute units, sizes of caches, clock and bandwidth";

static const struct wm_gpu gpus[] = {
    {"hd7970", "AMD Radeon HD 7970", "gfx600 gfx601 gfx602", 1, 2, 32, GCN_SIMD(512, gfx600),
     .clock_mhz = 925, .double_rate = 4, .memory_bandwidth = 264, MEMORY(3, 384, 1375), .chip = 0x6798,
     .cache = {GCN_CACHES(4), [WM_CACHE_L2] = {KIB(768), 64, 16, 12, 0, 64}}, .assumed = gcn_assumed,
     .unverified = unlisted},
    {"r9-290x", "AMD Radeon R9 290X", "gfx701 gfx700 gfx702 gfx703 gfx704 gfx705", 1, 4, 44,
     GCN_SIMD(512, gfx701), .clock_mhz = 1000, .double_rate = 8, .memory_bandwidth = 320,
     MEMORY(4, 512, 1250), .chip = 0x67b0,
     .cache = {GCN_CACHES(4), [WM_CACHE_L2] = {MIB(1), 64, 16, 16, 0, 64}}, .assumed = gcn_assumed,
     .unverified = unlisted},
    {"rx580", "AMD Radeon RX 580", "gfx803 gfx801 gfx802 gfx805 gfx810", 1, 4, 36, GCN_SIMD(800, gfx803),
     .clock_mhz = 1340, .double_rate = 16, .memory_bandwidth = 256, MEMORY(8, 256, 2000), .chip = 0x67df,
     .cache = {GCN_CACHES(4), [WM_CACHE_L2] = {MIB(2), 64, 16, 16, 0, 64}}, .assumed = gcn_assumed,
     .unverified = speeds},
    {"r9-fury-x", "AMD Radeon R9 Fury X", "gfx803", 1, 4, 64, GCN_SIMD(800, gfx803), .clock_mhz = 1050,
     .double_rate = 16, .memory_bandwidth = 512, MEMORY(4, 4096, 500), .chip = 0x7300,
     .cache = {GCN_CACHES(4), [WM_CACHE_L2] = {MIB(2), 64, 16, 16, 0, 64}}, .assumed = gcn_assumed,
     .unverified = speeds},
    {"vega64", "AMD Radeon RX Vega 64", "gfx900 gfx902 gfx904 gfx909 gfx90c gfx9-generic", 1, 4, 64,
     GCN_SIMD(800, gfx900), .clock_mhz = 1546, .double_rate = 16, .memory_bandwidth = 483.8,
     MEMORY(8, 2048, 945), .chip = 0x687f, .address_config = 0x2a114042,
     .cache = {GCN_CACHES(3), [WM_CACHE_L2] = {MIB(4), 64, 16, 16, 0, 64}}, .assumed = gcn_assumed,
     .unverified = speeds},
    {"vega56", "AMD Radeon RX Vega 56", "gfx900 gfx902 gfx904 gfx909 gfx90c gfx9-generic", 1, 4, 56,
     GCN_SIMD(800, gfx900), .clock_mhz = 1471, .double_rate = 16, .memory_bandwidth = 409.6,
     MEMORY(8, 2048, 800), .chip = 0x687f, .address_config = 0x2a114042,
     .cache = {GCN_CACHES(3), [WM_CACHE_L2] = {MIB(4), 64, 16, 16, 0, 64}}, .assumed = gcn_assumed,
     .unverified = unlisted},
    {"mi50", "AMD Instinct MI50", "gfx906", 1, 4, 60, GCN_SIMD(800, gfx906), .clock_mhz = 1725,
     .double_rate = 2, .memory_bandwidth = 1024, MEMORY(16, 4096, 1000), .chip = 0x66a1,
     .address_config = 0x2a114042, .cache = {GCN_CACHES(3), [WM_CACHE_L2] = {MIB(4), 64, 16, 16, 0, 64}},
     .assumed = gcn_assumed, .unverified = speeds},
    {"mi60", "AMD Instinct MI60", "gfx906", 1, 4, 64, GCN_SIMD(800, gfx906), .clock_mhz = 1800,
     .double_rate = 2, .memory_bandwidth = 1024, MEMORY(32, 4096, 1000), .chip = 0x66a1,
     .address_config = 0x2a114042, .cache = {GCN_CACHES(3), [WM_CACHE_L2] = {MIB(4), 64, 16, 16, 0, 64}},
     .assumed = gcn_assumed, .unverified = speeds},
    {"mi100", "AMD Instinct MI100", "gfx908", 1, 8, 120, GCN_SIMD(800, gfx908), .engine_units = 16,
     .clock_mhz = 1502, .double_rate = 2, .memory_bandwidth = 1228.8, MEMORY(32, 4096, 1200), .chip = 0x738c,
     .address_config = 0x22194042, .cache = {GCN_CACHES(3), [WM_CACHE_L2] = {MIB(8), 64, 16, 32, 0, 64}},
     .assumed = gcn_assumed},
    {"mi210", "AMD Instinct MI210", "gfx90a", 1, 8, 104, CDNA2_SIMD(gfx90a), .clock_mhz = 1700,
     .double_rate = 1, .memory_bandwidth = 1638.4, .memory_reached = 1524, .dispatch_clocks = 2,
     MEMORY(64, 4096, 1600), .chip = 0x740f, .address_config = 0x22194042,
     .cache = {GCN_CACHES(2), [WM_CACHE_L2] = {MIB(8), 128, 16, 32, 0, 128}}, .assumed = gcn_assumed},
    {"mi250x", "AMD Instinct MI250X, one of its two dies", "gfx90a", 1, 8, 110, CDNA2_SIMD(gfx90a),
     .clock_mhz = 1700, .double_rate = 1, .memory_bandwidth = 1638.4, .dispatch_clocks = 2,
     MEMORY(64, 4096, 1600), .chip = 0x7408, .address_config = 0x22194042,
     .cache = {GCN_CACHES(2), [WM_CACHE_L2] = {MIB(8), 128, 16, 32, 0, 128}}, .assumed = gcn_assumed},
    {"mi300x", "AMD Instinct MI300X", "gfx942 gfx940 gfx941 gfx9-4-generic", 8, 4, 304, CDNA2_SIMD(gfx942),
     .clock_mhz = 2100, .double_rate = 1, .memory_bandwidth = 5300, .memory_reached = 4823,
     .last_bandwidth = 17200, MEMORY(192, 8192, 1300), .chip = 0x74a1,
     .cache = {CDNA3_CACHES, [WM_CACHE_L2] = {MIB(4), 128, 16, 16, 0, 128}, LAST(256)},
     .assumed = cdna3_assumed},
    {"mi300a", "AMD Instinct MI300A", "gfx942 gfx940 gfx941 gfx9-4-generic", 6, 4, 228, CDNA2_SIMD(gfx942),
     .clock_mhz = 2100, .double_rate = 1, .memory_bandwidth = 5300, .memory_reached = 4823,
     .last_bandwidth = 17200, .apu = true, MEMORY(128, 8192, 1300), .chip = 0x74a0,
     .cache = {CDNA3_CACHES, [WM_CACHE_L2] = {MIB(4), 128, 16, 16, 0, 128}, LAST(256)},
     .assumed = cdna3_assumed, .unverified = speeds},
    {"mi350x", "AMD Instinct MI350X", "gfx950", 8, 4, 256, CDNA4_SIMD(gfx950), .clock_mhz = 2200,
     .double_rate = 1, .memory_bandwidth = 8000, MEMORY(288, 8192, 2000), .chip = 0x75a0,
     .cache = {CDNA3_CACHES, [WM_CACHE_L2] = {MIB(4), 128, 16, 16, 0, 128}, LAST(256)},
     .assumed = cdna3_assumed},
    {"mi355x", "AMD Instinct MI355X", "gfx950", 8, 4, 256, CDNA4_SIMD(gfx950), .clock_mhz = 2400,
     .double_rate = 1, .memory_bandwidth = 8000, MEMORY(288, 8192, 2000), .chip = 0x75a3,
     .cache = {CDNA3_CACHES, [WM_CACHE_L2] = {MIB(4), 128, 16, 16, 0, 128}, LAST(256)},
     .assumed = cdna3_assumed},
    {"rx5700xt", "AMD Radeon RX 5700 XT", "gfx1010 gfx1013 gfx10-1-generic", 1, 2, 40,
     RDNA_SIMD(20, 1024, gfx1010), .clock_mhz = 1905, .double_rate = 16, .memory_bandwidth = 448,
     MEMORY(8, 256, 875), .chip = 0x731f, .address_config = 0x00100044,
     .cache = {RDNA_CACHES(16, 64), GL1(128, 10), [WM_CACHE_L2] = {MIB(4), 128, 16, 16, 0, 128}},
     .assumed = rdna_assumed, .unverified = unlisted},
    {"rx5500xt", "AMD Radeon RX 5500 XT", "gfx1012 gfx1011", 1, 1, 22, RDNA_SIMD(20, 1024, gfx1012),
     .clock_mhz = 1845, .double_rate = 16, .memory_bandwidth = 224, MEMORY(8, 128, 875), .chip = 0x7340,
     .address_config = 0x00000043,
     .cache = {RDNA_CACHES(16, 64), GL1(128, 12), [WM_CACHE_L2] = {MIB(2), 128, 16, 8, 0, 128}},
     .assumed = rdna_assumed, .unverified = unlisted},
    {"rx6800", "AMD Radeon RX 6800", "gfx1030 gfx1033 gfx1034 gfx1035 gfx1036 gfx10-3-generic", 1, 3, 60,
     RDNA_SIMD(16, 1024, gfx1030), .clock_mhz = 2105, .double_rate = 16, .memory_bandwidth = 512,
     .last_bandwidth = 1988, MEMORY(16, 256, 1000), .chip = 0x73bf, .address_config = 0x00000444,
     .cache = {RDNA_CACHES(16, 64), GL1(128, 10), [WM_CACHE_L2] = {MIB(4), 128, 16, 16, 0, 128}, LAST(128)},
     .assumed = rdna_assumed, .unverified = "bandwidth"},
    {"rx6900xt", "AMD Radeon RX 6900 XT", "gfx1030", 1, 4, 80, RDNA_SIMD(16, 1024, gfx1030),
     .clock_mhz = 2250, .double_rate = 16, .memory_bandwidth = 512, .memory_reached = 507,
     .last_bandwidth = 1988, MEMORY(16, 256, 1000), .chip = 0x73bf, .address_config = 0x00000444,
     .cache = {RDNA_CACHES(16, 64), GL1(128, 10), [WM_CACHE_L2] = {MIB(4), 128, 16, 16, 0, 128}, LAST(128)},
     .assumed = rdna_assumed, .unverified = "bandwidth"},
    {"rx6700xt", "AMD Radeon RX 6700 XT", "gfx1031", 1, 2, 40, RDNA_SIMD(16, 1024, gfx1031),
     .clock_mhz = 2581, .double_rate = 16, .memory_bandwidth = 384, MEMORY(12, 192, 1000), .chip = 0x73df,
     .address_config = 0x00000344,
     .cache = {RDNA_CACHES(16, 64), GL1(128, 10), [WM_CACHE_L2] = {MIB(3), 128, 16, 12, 0, 128}, LAST(96)},
     .assumed = rdna_assumed, .unverified = speeds},
    {"rx6600xt", "AMD Radeon RX 6600 XT", "gfx1032", 1, 2, 32, RDNA_SIMD(16, 1024, gfx1032),
     .clock_mhz = 2589, .double_rate = 16, .memory_bandwidth = 256, MEMORY(8, 128, 1000), .chip = 0x73ff,
     .address_config = 0x00000343,
     .cache = {RDNA_CACHES(16, 64), GL1(128, 8), [WM_CACHE_L2] = {MIB(2), 128, 16, 8, 0, 128}, LAST(32)},
     .assumed = rdna_assumed, .unverified = speeds},
    {"rx7900xtx", "AMD Radeon RX 7900 XTX", "gfx1100 gfx11-generic", 1, 6, 96, RDNA_SIMD(16, 1536, gfx1100),
     .clock_mhz = 2499, .double_rate = 16, .memory_bandwidth = 960, MEMORY(24, 384, 1250), .chip = 0x744c,
     .address_config = 0x00000545,
     .cache = {RDNA_CACHES(32, 128), GL1(256, 8), [WM_CACHE_L2] = {MIB(6), 128, 16, 24, 0, 128}, LAST(96)},
     .assumed = rdna_assumed, .unverified = speeds},
    {"rx7800xt", "AMD Radeon RX 7800 XT", "gfx1101", 1, 3, 60, RDNA_SIMD(16, 1536, gfx1101),
     .clock_mhz = 2430, .double_rate = 16, .memory_bandwidth = 624, MEMORY(16, 256, 1219), .chip = 0x747e,
     .address_config = 0x00000444,
     .cache = {RDNA_CACHES(32, 128), GL1(256, 10), [WM_CACHE_L2] = {MIB(4), 128, 16, 16, 0, 128}, LAST(64)},
     .assumed = rdna_assumed, .unverified = speeds},
    {"rx7600", "AMD Radeon RX 7600", "gfx1102 gfx1103", 1, 2, 32, RDNA_SIMD(16, 1024, gfx1102),
     .clock_mhz = 2655, .double_rate = 16, .memory_bandwidth = 288, MEMORY(8, 128, 1125), .chip = 0x7480,
     .address_config = 0x00000243,
     .cache = {RDNA_CACHES(32, 128), GL1(256, 8), [WM_CACHE_L2] = {MIB(2), 128, 16, 16, 0, 128}, LAST(32)},
     .assumed = rdna_assumed, .unverified = speeds},
    {"radeon-890m", "AMD Radeon 890M (Ryzen AI 9)", "gfx1150 gfx1152 gfx1153", 1, 1, 16,
     RDNA_SIMD(16, 1024, gfx1150), .apu = true, .clock_mhz = 2900, .double_rate = 16, .memory_bandwidth = 120,
     MEMORY(0, 128, 0), .chip = 0x150e, .address_config = 0x00000242,
     .cache = {RDNA_CACHES(32, 128), GL1(256, 8), [WM_CACHE_L2] = {MIB(2), 128, 16, 0, 0, 128}},
     .assumed = rdna_assumed, .unverified = unlisted},
    {"radeon-8060s", "AMD Radeon 8060S (Ryzen AI Max)", "gfx1151", 1, 2, 40, RDNA_SIMD(16, 1536, gfx1151),
     .apu = true, .clock_mhz = 2900, .double_rate = 16, .memory_bandwidth = 256, MEMORY(0, 256, 0),
     .chip = 0x1586,
     .cache = {RDNA_CACHES(32, 128), GL1(256, 10), [WM_CACHE_L2] = {MIB(2), 128, 16, 0, 0, 128}, LAST(32)},
     .assumed = rdna_assumed, .unverified = unlisted},
    {"rx9060xt", "AMD Radeon RX 9060 XT", "gfx1200 gfx12-generic", 1, 2, 32, RDNA_SIMD(16, 1536, gfx1200),
     .clock_mhz = 3130, .double_rate = 16, .memory_bandwidth = 320, MEMORY(16, 128, 1250), .chip = 0x7590,
     .address_config = 0x08200444,
     .cache = {RDNA_CACHES(32, 128), [WM_CACHE_L2] = {MIB(4), 128, 16, 0, 0, 128}, LAST(32)},
     .assumed = rdna_assumed, .unverified = speeds},
    {"rx9070xt", "AMD Radeon RX 9070 XT", "gfx1201", 1, 4, 64, RDNA_SIMD(16, 1536, gfx1201),
     .clock_mhz = 2970, .double_rate = 16, .memory_bandwidth = 640, MEMORY(16, 256, 1250), .chip = 0x7550,
     .address_config = 0x08200545,
     .cache = {RDNA_CACHES(32, 128), [WM_CACHE_L2] = {MIB(8), 128, 16, 0, 0, 128}, LAST(64)},
     .assumed = rdna_assumed, .unverified = speeds},
    {"mi455x", "AMD Instinct MI455X", "gfx1250", GFX1250_PRODUCT(gfx1250)},
    {"mi430x", "AMD Instinct MI430X", "gfx1251", GFX1250_PRODUCT(gfx1251)},
};

enum { GPUS = sizeof gpus / sizeof *gpus };

const struct wm_gpu *wm_gpus(size_t *count)
{
    if (!count)
        return NULL;
    *count = GPUS;
    return gpus;
}

/* Whether the product executes the target, which may have features: "gfx90a:xnack+". */
static bool executes(const struct wm_gpu *gpu, const char *target)
{
    const size_t length = strcspn(target, ":");
    for (const char *word = gpu->targets; *word; word += strspn(word, " ")) {
        const size_t size = strcspn(word, " ");
        if (size == length && strncmp(word, target, length) == 0)
            return true;
        word += size;
    }
    return false;
}

bool wm_gpu_tile_modes(const struct wm_gpu *gpu, uint32_t tile[WM_TILE_MODES],
                       uint32_t macro[WM_MACRO_TILE_MODES])
{
    const struct wmi_tile_tables *tables = gpu ? wmi_tile_tables(gpu->chip) : NULL;
    if (!tables || !tile || !macro)
        return false;
    memcpy(tile, tables->tile, sizeof tables->tile);
    memcpy(macro, tables->macro, sizeof tables->macro);
    return true;
}

const struct wm_gpu *wm_gpu_default(const char *target)
{
    for (size_t i = 0; target && i < GPUS; i++)
        if (executes(&gpus[i], target))
            return &gpus[i];
    return NULL;
}

/* Whether the texts are equal but for case, spaces and hyphens. */
static bool is_same(const char *a, const char *b)
{
    a += strspn(a, " -"), b += strspn(b, " -");
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
        a += 1 + strspn(a + 1, " -");
        b += 1 + strspn(b + 1, " -");
    }
    return *a == *b;
}

/* "mi210", and its title from any word on: "AMD Instinct MI210", "Instinct MI210". */
static bool is_called(const struct wm_gpu *gpu, const char *name)
{
    for (const char *word = gpu->title; word; word = strchr(word, ' ') ? strchr(word, ' ') + 1 : NULL)
        if (is_same(word, name))
            return true;
    return is_same(gpu->name, name);
}

enum wm_status wm_gpu_find(const char *name, const struct wm_gpu **gpu, struct wm_diag *diag)
{
    if (!name || !gpu)
        return wmi_null(diag, __func__, name ? "gpu" : "name");
    *gpu = NULL;
    for (size_t i = 0; i < GPUS && !*gpu; i++)
        if (is_called(&gpus[i], name))
            *gpu = &gpus[i];
    if (!*gpu)
        *gpu = wm_gpu_default(name);
    if (*gpu)
        return WM_OK;
    char names[sizeof diag->message];
    size_t length = 0;
    for (size_t i = 0; i < GPUS && length < sizeof names; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, " %s", gpus[i].name);
    return wmi_fail(diag, WM_NOT_FOUND, "no product '%.40s' is known; these are:%s", name, names);
}

struct wmi_tiling wmi_gpu_tiling(const struct wm_gpu *gpu, const struct wmi_target *target)
{
    static const struct wm_gpu unknown;
    gpu = gpu ? gpu : wm_gpu_default(wmi_target_name(target));
    gpu = gpu ? gpu : &unknown;
    return wmi_tiling_of(wmi_target_limit(target, WMI_LIMIT_tiling), gpu->address_config, gpu->chip);
}

/* ---- whether a product can be modelled ---- */

static const char *const cache_names[WM_CACHE_LEVELS] = {
    [WM_CACHE_VECTOR] = "vector cache",           [WM_CACHE_GL1] = "GL1", [WM_CACHE_SCALAR] = "scalar cache",
    [WM_CACHE_INSTRUCTION] = "instruction cache", [WM_CACHE_L2] = "L2",   [WM_CACHE_LAST] = "last cache",
};

/* Maximum tags of all instances of a cache, including padding of sets: 256 MiB. */
static const uint64_t most_lines = UINT64_C(1) << 26;

enum { MOST_SHARING = 1 << 16 }; /* compute units; may exceed those of the product */

static enum wm_status check_cache(const struct wm_gpu *gpu, enum wm_cache_level level, struct wm_diag *diag)
{
    const struct wm_cache *cache = &gpu->cache[level];
    const char *name = cache_names[level];
    const unsigned long long bytes = cache->bytes;
    if (!bytes && level != WM_CACHE_L2)
        return WM_OK;
    if (cache->line != 64 && cache->line != 128)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%s with lines of %u bytes: expected 64 or 128", name,
                        cache->line);
    if (!cache->ways || cache->ways > 1024)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%s of %u ways: expected 1 to 1024", name, cache->ways);
    if (cache->sharing > MOST_SHARING || cache->channels > 4096 || cache->clock_bytes > 4096)
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "%s shared by %u compute units, with %u channels of %u bytes per clock: expected at "
                        "most %u compute units, 4096 channels and 4096 bytes",
                        name, cache->sharing, cache->channels, cache->clock_bytes, (unsigned)MOST_SHARING);
    if (!bytes || bytes % ((uint64_t)cache->line * cache->ways))
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "%s of %llu bytes: expected a multiple of %llu, %u ways of lines of %u bytes%s", name,
                        bytes, (unsigned long long)cache->line * cache->ways, cache->ways, cache->line,
                        bytes ? "" : "; every product has one");
    const uint64_t instances = wmi_caches_instances(gpu, level), room = wmi_cache_room(cache->ways);
    const uint64_t most_sets = most_lines / instances / room, sets = bytes / cache->line / cache->ways;
    if (sets > most_sets)
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "%s of %llu bytes, %llu of them: too large to be modelled; expected at most %llu",
                        name, bytes, (unsigned long long)instances,
                        (unsigned long long)(most_sets * cache->line * cache->ways));
    return WM_OK;
}

enum wm_status wmi_gpu_check(const struct wm_gpu *gpu, struct wm_diag *diag)
{
    const struct {
        const char *what;
        uint32_t value, least, most;
    } figures[] = {
        {"XCDs", gpu->xcds, 1, 64},
        {"shader engines", gpu->engines, 1, 64},
        {"compute units", gpu->compute_units, 1, 1 << 16},
        {"SIMDs", gpu->simds, 1, 64},
        {"waves", gpu->waves, 1, 1024},
        {"instructions a clock", gpu->issue, 1, 1024},
        {"VGPRs", gpu->vgprs, 1, 1 << 20},
        {"lanes of VGPRs", gpu->vgpr_lanes, 1, 64},
        {"VGPRs in a granule", gpu->vgpr_granule, 1, 1 << 16},
        {"SGPRs", gpu->sgprs, 0, 1 << 20},
        {"bytes of LDS", gpu->lds_bytes, 0, 1 << 30},
        {"compute units that share LDS", gpu->lds_sharing, 1, 64},
        {"compute units of an engine", gpu->engine_units, 0, 1024},
        {"MHz", gpu->clock_mhz, 1, 1 << 20},
        {"times the clocks of f32 for f64", gpu->double_rate, 0, 64},
        {"clocks to start a workgroup", gpu->dispatch_clocks, 0, 1 << 20},
    };
    if (!gpu->name || !gpu->title || !gpu->targets)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "a product without name, title or targets");
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (figures[i].value < figures[i].least || figures[i].value > figures[i].most)
            return wmi_fail(diag, WM_BAD_ARGUMENT, "product %s has %u %s: expected %u to %u", gpu->name,
                            figures[i].value, figures[i].what, figures[i].least, figures[i].most);
    if (gpu->compute_units < gpu->xcds)
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "product %s has %u compute units: expected one for each of %u "
                        "XCDs at least",
                        gpu->name, gpu->compute_units, gpu->xcds);
    if (!(gpu->memory_bandwidth > 0 && gpu->memory_bandwidth <= 1e9))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "product %s has %g GB/s: expected more than 0, at most 1e9",
                        gpu->name, gpu->memory_bandwidth);
    if (!(gpu->memory_reached >= 0 && gpu->memory_reached <= 1e9 && gpu->last_bandwidth >= 0 &&
          gpu->last_bandwidth <= 1e9))
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "product %s reaches %g GB/s, and %g GB/s of its last cache: expected 0 to 1e9",
                        gpu->name, gpu->memory_reached, gpu->last_bandwidth);
    for (enum wm_cache_level level = 0; level < WM_CACHE_LEVELS; level++) {
        const enum wm_status status = check_cache(gpu, level, diag);
        if (status)
            return status;
    }
    return WM_OK;
}

/* ---- which code runs on it ---- */

/* Whether both targets have the same generation and cost rules. */
static bool same_generation(const struct wmi_target *a, const struct wmi_target *b)
{
    return wmi_target_limit(a, WMI_LIMIT_generation) == wmi_target_limit(b, WMI_LIMIT_generation) &&
           wmi_target_limit(a, WMI_LIMIT_cost_rules) == wmi_target_limit(b, WMI_LIMIT_cost_rules);
}

const struct wmi_target *wmi_gpu_target(const struct wm_gpu *gpu)
{
    char first[32];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(gpu->targets, " "), gpu->targets);
    return wmi_target_find(first);
}

static bool fits(const struct wm_gpu *gpu, const struct wmi_target *target)
{
    const struct wmi_target *own = wmi_gpu_target(gpu);
    return own && same_generation(own, target);
}

enum wm_status wmi_gpu_fits(const struct wm_gpu *gpu, const struct wmi_target *target, const char *what,
                            struct wm_diag *diag)
{
    char names[256] = "none";
    int length = 0;
    if (fits(gpu, target))
        return WM_OK;
    for (size_t i = 0; i < GPUS; i++)
        if (fits(&gpus[i], target) && length < (int)sizeof names)
            length += snprintf(names + length, sizeof names - (size_t)length, "%s%s", length ? " " : "",
                               gpus[i].name);
    return wmi_fail(diag, WM_BAD_ARGUMENT, "%s; product %s is of another generation; of its own are: %s",
                    what, gpu->name, names);
}

enum wm_status wm_gpu_fits(const struct wm_gpu *gpu, const char *target, struct wm_diag *diag)
{
    char what[64];
    if (!gpu || !target)
        return wmi_null(diag, __func__, gpu ? "target" : "gpu");
    const struct wmi_target *found = wmi_target_find(target);
    if (!found)
        return wmi_fail(diag, WM_NOT_FOUND, "%.40s: not a target that wavemem knows", target);
    if (!gpu->name || !gpu->targets)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "a product without name or targets");
    snprintf(what, sizeof what, "the code object is for %s", wmi_target_name(found));
    return wmi_gpu_fits(gpu, found, what, diag);
}
