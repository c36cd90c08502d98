/* SPDX-License-Identifier: MIT */
/* The memory paths of the generations, as rows: what src/profile/coalesce.c and banks.c go by.
 *
 * Vector path. GCN and CDNA: GPUOpen, "Understanding Memory Coalescing on GCN" (groups of 16 lanes, quads,
 * 64-byte requests); tag lookups as counted by rocprofiler-compute on MI100 and MI200, whose published
 * workloads also show two lanes per lookup for stores with gaps, and 128-byte reads beside 64-byte writes on
 * MI300. RDNA: AMD's RDNA white paper (32 lanes within one line of 128 bytes; images without a sampler go at
 * the rate of buffers); that other accesses go by quads, and all of its lookups, is unverified.
 *
 * Loads that bypass the vector cache: LLVM AMDGPUUsage, "Memory Model", by target.
 *
 * LDS. 32 banks: Composable Kernel's notes on bank conflicts and AMD's measurements on MI210, by which the
 * groups were found; 64 banks: HipKittens' measurements on gfx950. b96 and b128 writes of the latter, b96
 * writes of the former, and RDNA but for the one pass of a wave of 32 (RDNA3 ISA, "Local Data Share") are
 * unverified.
 *
 * Instruction fetch. 32 bytes: rocprofiler-compute's published workload vcopy asks four times a wave for some
 * 130 bytes of code on MI100, MI200 and MI300X (SQ_IFETCH, SQC_ICACHE_REQ); RDNA white paper: "32B (typically
 * 2-4 instructions) every clock to each of the SIMDs". One a clock and compute unit before: "Graphics Cores
 * Next" white paper. */
#include "profile/cost.h"

#include <stddef.h>

#define LANES_32 {1, {0xffffffff}}
#define LANES_16 {2, {0x0000ffff, 0xffff0000}}
#define LANES_8  {4, {0x000000ff, 0x0000ff00, 0x00ff0000, 0xff000000}}
/* {0-3, 20-23} {4-7, 16-19} {8-11, 28-31} {12-15, 24-27} */
#define LANES_8_CROSSED {4, {0x00f0000f, 0x000f00f0, 0xf0000f00, 0x0f00f000}}
/* {0-3, 12-15, 20-27} {4-11, 16-19, 28-31} */
#define LANES_16_CROSSED {2, {0x0ff0f00f, 0xf00f0ff0}}

#define GCN_LDS                                                                                              \
    {                                                                                                        \
        .banks = 32, .read = {LANES_32, LANES_16, LANES_8_CROSSED, LANES_8_CROSSED}, .write = {              \
            LANES_32,                                                                                        \
            LANES_16,                                                                                        \
            LANES_8,                                                                                         \
            LANES_8                                                                                          \
        }                                                                                                    \
    }

const struct wmi_cost_rules *wmi_cost_rules(unsigned rules)
{
    static const struct wmi_cost_rules table[] = {
        /* gfx6 to gfx90a */
        {.vector = {.pattern = WMI_FAST_QUADS,
                    .group = 16,
                    .all_groups = true,
                    .gapped = 2,
                    .tag_shift = 6,
                    .read_shift = 6,
                    .write_shift = 6,
                    .bypass = WMI_POLICY_GLC,
                    .tcp_counters = true},
         .lds = GCN_LDS,
         .fetch = {.shift = 5}},
        /* gfx940 to gfx942 */
        {.vector = {.pattern = WMI_FAST_QUADS,
                    .group = 16,
                    .all_groups = true,
                    .gapped = 2,
                    .tag_shift = 7,
                    .read_shift = 7,
                    .write_shift = 6,
                    .bypass = WMI_POLICY_SC1,
                    .tcp_counters = true},
         .lds = GCN_LDS,
         .fetch = {.shift = 5}},
        /* gfx10 to gfx12. A wave has one half of the banks. */
        {.vector = {.pattern = WMI_FAST_LINE,
                    .group = 32,
                    .images = true,
                    .gapped = 4,
                    .tag_shift = 7,
                    .read_shift = 7,
                    .write_shift = 7,
                    .bypass = WMI_POLICY_GLC},
         .lds = {.banks = 32,
                 .read = {LANES_32, LANES_16, LANES_8, LANES_8},
                 .write = {LANES_32, LANES_16, LANES_8, LANES_8}},
         .fetch = {.shift = 5, .per_simd = true}},
        /* gfx950; no target has it yet */
        {.vector = {.pattern = WMI_FAST_QUADS,
                    .group = 16,
                    .all_groups = true,
                    .gapped = 2,
                    .tag_shift = 7,
                    .read_shift = 7,
                    .write_shift = 6,
                    .bypass = WMI_POLICY_SC1,
                    .tcp_counters = true},
         .lds = {.banks = 64,
                 .read = {LANES_32, LANES_32, LANES_8_CROSSED, LANES_16_CROSSED},
                 .write = {LANES_32, LANES_16, LANES_8, LANES_8}},
         .fetch = {.shift = 5}},
    };
    return rules < sizeof table / sizeof *table ? &table[rules] : NULL;
}
