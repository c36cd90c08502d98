/* SPDX-License-Identifier: MIT */
/* The memory paths of the generations: a row of rules each, for coalesce.c and banks.c.
 *
 * Vector path. GCN and CDNA: GPUOpen, "Understanding Memory Coalescing on GCN" (groups of 16 lanes, quads,
 * 64-byte requests); tag lookups as counted by rocprofiler-compute on MI100 and MI200, whose published
 * workloads also show two lanes per lookup for stores with gaps, and 128-byte reads with 64-byte writes on
 * MI300. RDNA: AMD's RDNA white paper (32 lanes within one line of 128 bytes; images without a sampler have
 * the rate of buffers); unverified: how other accesses are counted, which no counter shows.
 *
 * Clocks of the vector path: fits to gpu-benches' gpu-strides, in which a workgroup of 1024 loads floats and
 * doubles that hit, lanes 0 to 64 (16) elements apart, each loop eight loads at multiples of four elements.
 * Both: lanes that are taken at once wait for one another if they need different lines of one of four banks
 * of the tags, by the lowest bits of the line's number, or different words of one bank of the data; the
 * longer wait counts. MI210: four lanes at once, data in 8 banks of 8 bytes. The four are consecutive lanes
 * for doubles, but for floats lanes n, n + 4, n + 8 and n + 12 of each 16. Within 1 % for all 80 strides that
 * are not contiguous. RX 6900 XT: 32 lanes at once, data in 32 banks of 4 bytes; within 1 % for 74 of 82
 * strides, never too long (doubles up to 7 apart: their sums take 4 clocks; floats 3 apart take 2 clocks, for
 * an unknown reason). 128 bytes per clock: gpu-cache reaches 114. Assumed for other products before gfx940,
 * and on gfx11 and gfx12. Assumed for gfx942, whose lines have 128 bytes, because published times of random
 * and strided loads on MI300A fit better (docs/model.md); gfx950: unknown, so no banks. Stores were not
 * measured, so in the bound their lines count as in different banks; predictions let them wait as those of
 * loads do, because AMD's transposes on MI210 (HPCTrainingExamples) take longer with stores than with loads
 * down columns. 64 bytes per clock: issue cycles, CLRX GcnTimings
 * (buffer_load_dwordx4: 16 cycles), gpu-cache on MI210 (60), and dwordx4 on gfx942 (one per 16 cycles).
 *
 * Cache policy: LLVM, SIMemoryLegalizer.cpp, by target: MISS_EVICT by GLC on gfx6 to gfx90a and SC1 on gfx942
 * (agent scope); on gfx10 GLC of L0 and DLC of GL1, on gfx11 GLC of both, on gfx12 a scope beyond the compute
 * unit; HIT_EVICT of loads by SLC from gfx10 on; STREAM in L2 by SLC, on gfx942 NT; MALL NOALLOC by DLC on
 * gfx11. gfx12's temporal hints: SIDefines.h: NT of compute unit and engine, of MALL, or of both.
 * STREAM: RDNA's L2 does not change the LRU order of such a line (Chips and Cheese, "RDNA 4's memory
 * subsystem"). Unverified: the same on other generations; a missing line is inserted last; NT has no other
 * effect than STREAM on gfx942.
 *
 * LDS. 32 banks: Composable Kernel's notes on bank conflicts and AMD's measurements on MI210, from which the
 * groups were derived; 64 banks: HipKittens' measurements on gfx950. Unverified: b96 and b128 writes of the
 * latter, b96 writes of the former, and RDNA except that a wave of 32 takes one pass (RDNA3 ISA, "Local Data
 * Share"), and that gfx12 reads b96 and b128 by eight lanes in sequence, which is a change from gfx11 (AMD,
 * in triton's pull request 11365). So gfx11 has another order, presumably the measured one of CDNA.
 *
 * Instruction fetch. 32 bytes: rocprofiler-compute's published workload vcopy fetches four times per wave for
 * about 130 bytes of code on MI100, MI200 and MI300X (SQ_IFETCH, SQC_ICACHE_REQ); RDNA white paper: "32B
 * (typically 2-4 instructions) every clock to each of the SIMDs". Before RDNA one per clock and compute unit:
 * "Graphics Cores Next" white paper. */
#include "profile/cost/cost.h"

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

#define RDNA_VECTOR                                                                                          \
    .pattern = WMI_FAST_LINE, .banks = WMI_DATA_GROUP, .data_bytes = 128, .tags = 4, .group = 32,            \
    .images = true, .gapped = 4, .tag_shift = 7, .read_shift = 7, .write_shift = 7,
/* A wave uses one half of the WGP's banks. wide: groups of reads of more than 8 bytes. */
#define RDNA_LDS(wide)                                                                                       \
    {                                                                                                        \
        .banks = 32, .read = {LANES_32, LANES_16, wide, wide}, .write = {                                    \
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
                    .banks = WMI_DATA_QUADS,
                    .data_bytes = 64,
                    .tags = 4,
                    .group = 16,
                    .all_groups = true,
                    .gapped = 2,
                    .tag_shift = 6,
                    .read_shift = 6,
                    .write_shift = 6,
                    .bypass = WMI_POLICY_GLC,
                    .streams = WMI_POLICY_SLC,
                    .tcp_counters = true},
         .lds = GCN_LDS,
         .fetch = {.shift = 5}},
        /* gfx940 to gfx942 */
        {.vector = {.pattern = WMI_FAST_QUADS,
                    .banks = WMI_DATA_QUADS,
                    .data_bytes = 64,
                    .tags = 4,
                    .group = 16,
                    .all_groups = true,
                    .gapped = 2,
                    .tag_shift = 7,
                    .read_shift = 7,
                    .write_shift = 6,
                    .bypass = WMI_POLICY_SC1,
                    .streams = WMI_POLICY_SLC,
                    .tcp_counters = true},
         .lds = GCN_LDS,
         .fetch = {.shift = 5}},
        /* gfx10 */
        {.vector = {RDNA_VECTOR.bypass = WMI_POLICY_GLC, .bypass_gl1 = WMI_POLICY_DLC,
                    .leaves = WMI_POLICY_SLC, .streams = WMI_POLICY_SLC},
         .lds = RDNA_LDS(LANES_8),
         .fetch = {.shift = 5, .per_simd = true}},
        /* gfx950 */
        {.vector = {.pattern = WMI_FAST_QUADS,
                    .data_bytes = 64,
                    .tags = 4,
                    .group = 16,
                    .all_groups = true,
                    .gapped = 2,
                    .tag_shift = 7,
                    .read_shift = 7,
                    .write_shift = 6,
                    .bypass = WMI_POLICY_SC1,
                    .streams = WMI_POLICY_SLC,
                    .tcp_counters = true},
         .lds = {.banks = 64,
                 .read = {LANES_32, LANES_32, LANES_8_CROSSED, LANES_16_CROSSED},
                 .write = {LANES_32, LANES_16, LANES_8, LANES_8}},
         .fetch = {.shift = 5}},
        /* gfx11 */
        {.vector = {RDNA_VECTOR.bypass = WMI_POLICY_GLC, .bypass_gl1 = WMI_POLICY_GLC,
                    .leaves = WMI_POLICY_SLC, .streams = WMI_POLICY_SLC, .skips_last = WMI_POLICY_DLC},
         .lds = RDNA_LDS(LANES_8_CROSSED),
         .fetch = {.shift = 5, .per_simd = true}},
        /* gfx12 */
        {.vector = {RDNA_VECTOR.bypass = WMI_POLICY_GLC, .leaves = WMI_POLICY_SLC, .streams = WMI_POLICY_SLC,
                    .skips_last = WMI_POLICY_DLC},
         .lds = RDNA_LDS(LANES_8),
         .fetch = {.shift = 5, .per_simd = true}},
    };
    return rules < sizeof table / sizeof *table ? &table[rules] : NULL;
}
