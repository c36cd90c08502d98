/* SPDX-License-Identifier: MIT */
/* The table of products against what AMD says of them, and figures that make no sense. */
#include "profile/caches/rounds.h"
#include "profile/cost/gpu.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What AMD's "Accelerator and GPU hardware specifications" (ROCm) say of these, in KiB but for the last
 * cache's MiB. LDS and VGPRs are of a compute unit, on RDNA of a WGP; sharing: of the scalar and instruction
 * caches. RX 580, R9 Fury X and RX Vega 64 stand there as MI6, MI8 and MI25. */
static void products(void **state)
{
    (void)state;
    static const struct {
        const char *name, *target; /* target: whose default it is, or NULL */
        unsigned units, lds, last, l2, gl1, vector, scalar, instruction, sharing, vgprs;
    } said[] = {
        {"mi355x", NULL, 256, 160, 256, 32 * 1024, 0, 32, 16, 64, 2, 512},
        {"mi350x", "gfx950", 256, 160, 256, 32 * 1024, 0, 32, 16, 64, 2, 512},
        {"mi300x", "gfx942", 304, 64, 256, 32 * 1024, 0, 32, 16, 64, 2, 512},
        {"mi300a", NULL, 228, 64, 256, 24 * 1024, 0, 32, 16, 64, 2, 512},
        {"mi250x", NULL, 110, 64, 0, 8 * 1024, 0, 16, 16, 32, 2, 512},
        {"mi210", "gfx90a", 104, 64, 0, 8 * 1024, 0, 16, 16, 32, 2, 512},
        {"mi100", "gfx908", 120, 64, 0, 8 * 1024, 0, 16, 16, 32, 3, 256},
        {"mi60", NULL, 64, 64, 0, 4 * 1024, 0, 16, 16, 32, 3, 256},
        {"mi50", "gfx906", 60, 64, 0, 4 * 1024, 0, 16, 16, 32, 3, 256},
        {"vega64", "gfx900", 64, 64, 0, 4 * 1024, 0, 16, 16, 32, 3, 256},
        {"r9-fury-x", NULL, 64, 64, 0, 2 * 1024, 0, 16, 16, 32, 4, 256},
        {"rx580", "gfx803", 36, 64, 0, 2 * 1024, 0, 16, 16, 32, 4, 256},
        {"rx9070xt", "gfx1201", 64, 128, 64, 8 * 1024, 0, 32, 16, 32, 2, 768},
        {"rx9060xt", "gfx1200", 32, 128, 32, 4 * 1024, 0, 32, 16, 32, 2, 768},
        {"rx7900xtx", "gfx1100", 96, 128, 96, 6 * 1024, 256, 32, 16, 32, 2, 768},
        {"rx7800xt", "gfx1101", 60, 128, 64, 4 * 1024, 256, 32, 16, 32, 2, 768},
        {"rx7600", "gfx1102", 32, 128, 32, 2 * 1024, 256, 32, 16, 32, 2, 512},
        {"rx6900xt", NULL, 80, 128, 128, 4 * 1024, 128, 16, 16, 32, 2, 512},
        {"rx6800", "gfx1030", 60, 128, 128, 4 * 1024, 128, 16, 16, 32, 2, 512},
        {"rx6700xt", "gfx1031", 40, 128, 96, 3 * 1024, 128, 16, 16, 32, 2, 512},
        {"rx6600xt", "gfx1032", 32, 128, 32, 2 * 1024, 128, 16, 16, 32, 2, 512},
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct wm_diag diag;
        const struct wm_gpu *gpu;
        assert_int_equal(wm_gpu_find(said[i].name, &gpu, &diag), WM_OK);
        const struct wm_cache *cache = gpu->cache;
        assert_int_equal(gpu->compute_units, said[i].units);
        assert_int_equal(gpu->lds_bytes, said[i].lds << 10);
        assert_int_equal(cache[WM_CACHE_LAST].bytes, (uint64_t)said[i].last << 20);
        assert_int_equal(cache[WM_CACHE_L2].bytes * gpu->xcds, (uint64_t)said[i].l2 << 10);
        assert_int_equal(cache[WM_CACHE_GL1].bytes, said[i].gl1 << 10);
        assert_int_equal(cache[WM_CACHE_VECTOR].bytes, said[i].vector << 10);
        assert_int_equal(cache[WM_CACHE_SCALAR].bytes, said[i].scalar << 10);
        assert_int_equal(cache[WM_CACHE_INSTRUCTION].bytes, said[i].instruction << 10);
        assert_int_equal(cache[WM_CACHE_SCALAR].sharing, said[i].sharing);
        assert_int_equal(cache[WM_CACHE_INSTRUCTION].sharing, said[i].sharing);
        assert_int_equal(gpu->vgprs * gpu->vgpr_lanes * 4 * gpu->simds * gpu->lds_sharing,
                         said[i].vgprs << 10);
        if (said[i].target)
            assert_ptr_equal(wm_gpu_default(said[i].target), gpu);
    }
}

/* ROCm's documentation, "AMD Instinct MI100", "MI250" and "MI300 series" "microarchitecture": FP32 vector
 * peaks, operations in a clock and compute unit, and memory bandwidth; of the MI250, whose dies have
 * MI210's compute units, one of two dies. */
static void product_peaks(void **state)
{
    (void)state;
    struct wm_diag diag;
    static const struct {
        const char *name;
        unsigned operations;
        double teraflops, terabytes;
    } peaks[] = {{"mi100", 128, 23.1, 1.2288}, {"mi210", 128, 45.3 / 2, 1.6}, {"mi300x", 256, 163.4, 5.3}};
    for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++) {
        const struct wm_gpu *gpu;
        assert_int_equal(wm_gpu_find(peaks[i].name, &gpu, &diag), WM_OK);
        const double teraflops = 1e-6 * gpu->compute_units * peaks[i].operations * gpu->clock_mhz;
        assert_true(teraflops - peaks[i].teraflops < 0.05 && peaks[i].teraflops - teraflops < 0.05);
        assert_true(gpu->memory_bandwidth / 1e3 - peaks[i].terabytes < 0.05 &&
                    peaks[i].terabytes - gpu->memory_bandwidth / 1e3 < 0.05);
    }
}

static void product_memories(void **state)
{
    (void)state;
    struct wm_diag diag;
    /* AMD's names of PCI devices (libdrm, data/amdgpu.ids), and VRAM of ROCm's table of GPU specifications.
     */
    static const struct {
        const char *name;
        unsigned chip, gib;
    } memories[] = {{"mi60", 0x66a1, 32},     {"mi100", 0x738c, 32},    {"mi210", 0x740f, 64},
                    {"mi300a", 0x74a0, 128},  {"mi300x", 0x74a1, 192},  {"mi350x", 0x75a0, 288},
                    {"mi355x", 0x75a3, 288},  {"rx6600xt", 0x73ff, 8},  {"rx6700xt", 0x73df, 12},
                    {"rx6800", 0x73bf, 16},   {"rx6900xt", 0x73bf, 16}, {"rx7900xtx", 0x744c, 24},
                    {"rx7800xt", 0x747e, 16}, {"rx7600", 0x7480, 8},    {"rx9070xt", 0x7550, 16},
                    {"rx9060xt", 0x7590, 16}};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
        const struct wm_gpu *gpu;
        assert_int_equal(wm_gpu_find(memories[i].name, &gpu, &diag), WM_OK);
        assert_int_equal(gpu->chip, memories[i].chip);
        assert_int_equal(gpu->memory_bytes >> 30, memories[i].gib);
    }
    /* The memory clock times the bus is the bandwidth: 2 transfers per clock of HBM2, 4 of HBM3 and GDDR5, 16
     * of GDDR6. Bandwidths are rounded. */
    size_t product_count;
    const struct wm_gpu *all = wm_gpus(&product_count);
    for (size_t i = 0; i < product_count; i++) {
        const double once = all[i].memory_mhz * 1e-3 * all[i].memory_bits / 8;
        const double transfers = once > 0 ? all[i].memory_bandwidth / once : 0;
        bool fits = !all[i].memory_mhz;
        for (unsigned expected = 2; expected <= 16; expected *= 2)
            fits |= transfers > 0.975 * expected && transfers < 1.005 * expected;
        assert_true(fits);
        assert_true((all[i].chip || !strncmp(all[i].targets, "gfx125", 6)) &&
                    all[i].memory_bits); /* not published */
    }
    /* LLVM 19, getInstCacheLineSize: 64 bytes, from gfx11 on 128. */
    assert_int_equal(wm_gpu_default("gfx1030")->cache[WM_CACHE_INSTRUCTION].line, 64);
    assert_int_equal(wm_gpu_default("gfx1100")->cache[WM_CACHE_INSTRUCTION].line, 128);
    assert_int_equal(wm_gpu_default("gfx1200")->cache[WM_CACHE_INSTRUCTION].line, 128);
}

/* Every target has a default product, every product makes caches that can be
 * modelled, and names are found in several spellings. */
static void product_names(void **state)
{
    (void)state;
    struct wm_diag diag;
    for (size_t i = 0; wm_target_at(i); i++)
        assert_non_null(wm_gpu_default(wm_target_at(i)));
    size_t count;
    const struct wm_gpu *gpus = wm_gpus(&count);
    for (size_t i = 0; i < count; i++) {
        struct wm_profile *profile;
        assert_int_equal(wm_profile_create(&profile, &diag), WM_OK);
        assert_int_equal(wm_profile_set_gpu(profile, &gpus[i], &diag), WM_OK);
        wm_profile_destroy(profile);
        assert_int_equal(gpus[i].compute_units % gpus[i].xcds, 0);
    }
    static const char *const spellings[] = {"rx6800",        "RX 6800", "rx-6800", "AMD Radeon RX 6800",
                                            "Radeon RX6800", "gfx1030"};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        const struct wm_gpu *found;
        assert_int_equal(wm_gpu_find(spellings[i], &found, &diag), WM_OK);
        assert_string_equal(found->name, "rx6800");
    }
    const struct wm_gpu *none;
    assert_int_equal(wm_gpu_find("6", &none, &diag), WM_NOT_FOUND);
    assert_int_equal(wm_gpu_find("", &none, &diag), WM_NOT_FOUND);
    assert_int_equal(wm_gpu_find("voodoo", &none, &diag), WM_NOT_FOUND);
    assert_non_null(strstr(diag.message, " mi210 "));
    assert_int_equal(wm_gpu_find("voodoo", &none, NULL), WM_NOT_FOUND);
}

/* Every figure that something is divided by, or that the model needs memory for, at values that make no
 * sense: each is refused, with its name; and what is taken can be modelled. */
static void wrong_products(void **state)
{
    (void)state;
#define FIGURE(member, zero, what)                                                                           \
    {offsetof(struct wm_gpu, member), sizeof(((struct wm_gpu *)0)->member), zero, what}
    static const struct {
        size_t at, size;
        bool zero; /* is allowed */
        const char *what;
    } figures[] = {
        FIGURE(xcds, false, "XCDs"),
        FIGURE(engines, false, "shader engines"),
        FIGURE(compute_units, false, "compute units"),
        FIGURE(simds, false, "SIMDs"),
        FIGURE(waves, false, "waves"),
        FIGURE(issue, false, "instructions a clock"),
        FIGURE(vgprs, false, "VGPRs"),
        FIGURE(vgpr_lanes, false, "lanes of VGPRs"),
        FIGURE(vgpr_granule, false, "VGPRs in a granule"),
        FIGURE(sgprs, true, "SGPRs"),
        FIGURE(lds_bytes, true, "bytes of LDS"),
        FIGURE(lds_sharing, false, "compute units that share LDS"),
        FIGURE(engine_units, true, "compute units of an engine"),
        FIGURE(clock_mhz, false, "MHz"),
        FIGURE(double_rate, true, "times the clocks of f32 for f64"),
        FIGURE(cache[WM_CACHE_VECTOR].bytes, true, "vector cache"),
        FIGURE(cache[WM_CACHE_VECTOR].line, false, "vector cache"),
        FIGURE(cache[WM_CACHE_VECTOR].ways, false, "vector cache"),
        FIGURE(cache[WM_CACHE_VECTOR].sharing, true, "vector cache"),
        FIGURE(cache[WM_CACHE_SCALAR].bytes, true, "scalar cache"),
        FIGURE(cache[WM_CACHE_SCALAR].sharing, true, "scalar cache"),
        FIGURE(cache[WM_CACHE_INSTRUCTION].bytes, true, "instruction cache"),
        FIGURE(cache[WM_CACHE_INSTRUCTION].ways, false, "instruction cache"),
        FIGURE(cache[WM_CACHE_L2].bytes, false, "L2"),
        FIGURE(cache[WM_CACHE_L2].line, false, "L2"),
        FIGURE(cache[WM_CACHE_L2].ways, false, "L2"),
        FIGURE(cache[WM_CACHE_L2].channels, true, "L2"),
        FIGURE(cache[WM_CACHE_L2].clock_bytes, true, "L2"),
        FIGURE(cache[WM_CACHE_L2].sharing, true, "L2"),
        FIGURE(cache[WM_CACHE_LAST].bytes, true, "last cache"),
        FIGURE(cache[WM_CACHE_LAST].line, false, "last cache"),
        FIGURE(cache[WM_CACHE_LAST].ways, false, "last cache"),
    };
#undef FIGURE
    static const uint64_t values[] = {0, 1, 3, 65, UINT16_MAX, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
    static const double speeds[] = {0, -1, 1e300, HUGE_VAL};
    const struct wm_gpu *gpus[2];
    assert_int_equal(wm_gpu_find("mi300x", &gpus[0], NULL), WM_OK);
    assert_int_equal(wm_gpu_find("rx7900xtx", &gpus[1], NULL), WM_OK);
    const struct wmi_vector_rules *rules = &wmi_cost_rules(0)->vector;
    for (size_t i = 0; i < sizeof figures / sizeof *figures * 2; i++)
        for (size_t value = 0; value < sizeof values / sizeof *values; value++) {
            struct wm_gpu gpu = *gpus[i % 2];
            struct wm_diag diag = {0};
            memcpy((char *)&gpu + figures[i / 2].at, &values[value], figures[i / 2].size);
            const enum wm_status status = wmi_gpu_check(&gpu, &diag);
            const bool impossible =
                values[value] ? (uint32_t)values[value] == UINT32_MAX : !figures[i / 2].zero;
            if (impossible && !status)
                fail_msg("%s of %llu is taken", figures[i / 2].what, (unsigned long long)values[value]);
            if (status && (status != WM_BAD_ARGUMENT || !strstr(diag.message, figures[i / 2].what)) &&
                gpu.compute_units == gpus[i % 2]->compute_units && gpu.xcds == gpus[i % 2]->xcds)
                fail_msg("%s of %llu: %s", figures[i / 2].what, (unsigned long long)values[value],
                         diag.message);
            if (status)
                continue;
            struct wmi_caches *caches = wmi_caches_create(&gpu, rules);
            assert_non_null(caches);
            assert_true(wmi_caches_begin(caches, (struct wmi_residence){.units = gpu.lds_sharing}));
            assert_true(wmi_caches_round_groups(caches) > 0);
            wmi_caches_destroy(caches);
        }
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++) {
        struct wm_gpu gpu = *gpus[0];
        gpu.memory_bandwidth = speeds[i];
        assert_int_equal(wmi_gpu_check(&gpu, NULL), WM_BAD_ARGUMENT);
    }
    struct wm_gpu gpu = *gpus[0];
    gpu.memory_bandwidth = NAN;
    assert_int_equal(wmi_gpu_check(&gpu, NULL), WM_BAD_ARGUMENT);
    gpu = *gpus[0];
    gpu.targets = NULL;
    struct wm_profile *profile;
    assert_int_equal(wm_profile_create(&profile, NULL), WM_OK);
    assert_int_equal(wm_profile_set_gpu(profile, &gpu, NULL), WM_BAD_ARGUMENT);
    wm_profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),      cmocka_unit_test(product_peaks),  cmocka_unit_test(product_memories),
        cmocka_unit_test(product_names), cmocka_unit_test(wrong_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
