/* SPDX-License-Identifier: MIT */
/* The predicted time against hand-computed cases: what waves wait for, and how long a dispatch takes. */
#include "profile/time/predict.h"

#include "profile/time/clocks.h"
#include "profile/time/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

/* ---- the latency path ---- */

/* gfx900, as LLVM encodes it. */
enum {
    LOAD,        /* global_load_dword v6, v[3:4], off */
    LDS,         /* ds_read_b32 v0, v0 */
    SCALAR,      /* s_load_dword s2, s[4:5], 0x2c */
    MOVE,        /* v_mov_b32_e32 v0, v1 */
    WAIT_ALL,    /* s_waitcnt vmcnt(0) */
    WAIT_BUT_1,  /* s_waitcnt vmcnt(1) */
    WAIT_SCALAR, /* s_waitcnt lgkmcnt(0) */
    BARRIER,     /* s_barrier */
    JUMP,        /* s_cbranch_scc1 to the start of the block */
};
static const uint32_t words[][2] = {
    [LOAD] = {0xdc508000, 0x067f0003},
    [LDS] = {0xd86c0000, 0x00000000},
    [SCALAR] = {0xc0020082, 0x0000002c},
    [MOVE] = {0x7e000301},
    [WAIT_ALL] = {0xbf8c0f70},
    [WAIT_BUT_1] = {0xbf8c0f71},
    [WAIT_SCALAR] = {0xbf8cc07f},
    [BARRIER] = {0xbf8a0000},
    [JUMP] = {0xbf85ffff},
};

/* Usual latencies and the clocks from one instruction to the next: path.c. */
enum { MEMORY = 500, SCALAR_HIT = 150, TURN = 4, ONE = WMI_EXPOSED_ONE };

/* Adds a block of these instructions at `from`, each 4 bytes for the sake of simple addresses; -1 ends it. */
static void add_block(struct wmi_paths *paths, const struct wmi_target *target, uint64_t from,
                      uint32_t number, const int *code)
{
    uint64_t pc = from;
    for (; *code >= 0; code++, pc += 4) {
        struct wmi_instruction insn;
        assert_int_not_equal(wmi_decode(target, words[*code], 2, &insn), 0);
        wmi_paths_take(paths, pc, &insn, *code == JUMP ? from : 0, false);
    }
    wmi_paths_block(paths, from, pc, number);
}

static struct wmi_paths *begin(const char *name)
{
    struct wmi_paths *paths = wmi_paths_create();
    assert_non_null(paths);
    wmi_paths_begin(paths, wmi_target_find(name), 64);
    return paths;
}

/* The only wait of block `number` is for the instruction at `pc`, for so many clocks of a latency. */
static const struct wmi_path_wait *only_wait(const struct wmi_paths *paths, uint32_t number, uint64_t pc,
                                             unsigned clocks, unsigned latency)
{
    const struct wmi_path_cost *cost = wmi_paths_cost(paths, number);
    assert_non_null(cost);
    assert_int_equal(cost->wait_count, 1);
    assert_int_equal(cost->waits[0].at.pc, pc);
    assert_int_equal(cost->waits[0].exposed, clocks * ONE / latency);
    return &cost->waits[0];
}

static void hidden_latency(void **state)
{
    (void)state;
    const struct wmi_target *target = wmi_target_find("gfx900");
    struct wmi_paths *paths = begin("gfx900");
    add_block(paths, target, 0x1000, 0, (const int[]){LOAD, WAIT_ALL, -1});
    add_block(paths, target, 0x2000, 1, (const int[]){LOAD, MOVE, MOVE, MOVE, WAIT_ALL, -1});
    add_block(paths, target, 0x3000, 2, (const int[]){SCALAR, WAIT_SCALAR, -1});
    /* Nothing waits, and a wait for the other counter. */
    add_block(paths, target, 0x4000, 3, (const int[]){LOAD, MOVE, -1});
    add_block(paths, target, 0x5000, 4, (const int[]){LOAD, WAIT_SCALAR, BARRIER, -1});
    assert_true(wmi_paths_solve(paths));
    only_wait(paths, 0, 0x1000, MEMORY - TURN, MEMORY);
    only_wait(paths, 1, 0x2000, MEMORY - 4 * TURN, MEMORY);
    only_wait(paths, 2, 0x3000, SCALAR_HIT - TURN, SCALAR_HIT);
    assert_int_equal(wmi_paths_cost(paths, 3)->wait_count, 0);
    assert_int_equal(wmi_paths_cost(paths, 4)->wait_count, 0);
    assert_int_equal(wmi_paths_cost(paths, 4)->barriers, 1);
    assert_int_equal(wmi_paths_cost(paths, 0)->barriers, 0);
    assert_null(wmi_paths_cost(paths, 5));
    wmi_paths_destroy(paths);
}

/* Accesses in flight together are waited for once. */
static void together(void **state)
{
    (void)state;
    const struct wmi_target *target = wmi_target_find("gfx900");
    struct wmi_paths *paths = begin("gfx900");
    add_block(paths, target, 0x1000, 0, (const int[]){LOAD, LOAD, WAIT_ALL, -1});
    add_block(paths, target, 0x2000, 1, (const int[]){LOAD, LOAD, WAIT_BUT_1, WAIT_ALL, -1});
    assert_true(wmi_paths_solve(paths));
    const struct wmi_path_wait *wait = only_wait(paths, 0, 0x1004, MEMORY - TURN, MEMORY);
    assert_int_equal(wait->beside_count, 1);
    assert_int_equal(wait->beside[0].pc, 0x1000);
    /* The second one comes as long after the first as it was issued later: in the clocks of s_waitcnt. */
    wait = only_wait(paths, 1, 0x2000, MEMORY - 2 * TURN, MEMORY);
    assert_int_equal(wait->beside_count, 0);
    wmi_paths_destroy(paths);
}

/* A loop that waits for the load of the round before: its body hides a part. */
static void loop(void **state)
{
    (void)state;
    const struct wmi_target *target = wmi_target_find("gfx900");
    struct wmi_paths *paths = begin("gfx900");
    add_block(paths, target, 0x0f00, 0, (const int[]){MOVE, -1}); /* does not lead there */
    add_block(paths, target, 0x1000, 1, (const int[]){WAIT_ALL, LOAD, MOVE, MOVE, JUMP, -1});
    add_block(paths, target, 0x1014, 2, (const int[]){WAIT_ALL, -1});
    assert_true(wmi_paths_solve(paths));
    only_wait(paths, 1, 0x1004, MEMORY - 4 * TURN, MEMORY);
    only_wait(paths, 2, 0x1004, MEMORY - 4 * TURN, MEMORY);
    wmi_paths_destroy(paths);
}

/* RDNA waits for results: dependent VALU instructions issue every five clocks (published thread traces). */
static void dependent(void **state)
{
    (void)state;
    static const uint32_t move[] = {0x7e000301}, /* v_mov_b32_e32 v0, v1 */
        back[] = {0x7e020300};                   /* v_mov_b32_e32 v1, v0 */
    const struct wmi_target *target = wmi_target_find("gfx1100");
    struct wmi_paths *paths = begin("gfx1100");
    for (unsigned block = 0; block < 2; block++) {
        struct wmi_instruction insn;
        assert_int_not_equal(wmi_decode(target, move, 1, &insn), 0);
        wmi_paths_take(paths, 0x1000 + 0x100 * block, &insn, 0, false);
        assert_int_not_equal(wmi_decode(target, block ? back : move, 1, &insn), 0);
        wmi_paths_take(paths, 0x1004 + 0x100 * block, &insn, 0, false);
        wmi_paths_block(paths, 0x1000 + 0x100 * block, 0x1008 + 0x100 * block, block);
    }
    assert_true(wmi_paths_solve(paths));
    assert_int_equal(wmi_paths_cost(paths, 0)->stalls, 0);
    assert_int_equal(wmi_paths_cost(paths, 1)->stalls, 4);
    wmi_paths_destroy(paths);
}

/* ---- the time ---- */

static const struct wm_gpu *gpu(const char *name)
{
    const struct wm_gpu *found;
    assert_int_equal(wm_gpu_find(name, &found, NULL), WM_OK);
    return found;
}

static struct wmi_time_work waves_on(const char *name, double workgroups, uint32_t resident)
{
    return (struct wmi_time_work){.gpu = gpu(name),
                                  .wave_lanes = 64,
                                  .workgroups = workgroups,
                                  .waves = workgroups,
                                  .resident = resident,
                                  .units = 1,
                                  .scale = 1};
}

/* A chain of 1000 dependent loads in one wave takes as long as published: gpu-benches, MI210. */
static void chain(void **state)
{
    (void)state;
    enum { LOADS = 1000 };
    struct wmi_time_access access = {.path = WMI_PATH_GLOBAL,
                                     .kind = WMI_ACCESS_LOAD,
                                     .executions = LOADS,
                                     .exposed = LOADS,
                                     .clocks = 16 * LOADS,
                                     .requests = {[WM_CACHE_VECTOR] = LOADS}};
    struct wmi_time_work work = waves_on("mi210", 1, 1);
    work.accesses = &access;
    work.access_count = 1;
    work.work[WMI_WORK_VECTOR_MEMORY] = work.work[WMI_WORK_INTERNAL] = LOADS; /* and s_waitcnt */
    struct wmi_time time = wmi_time_of(&work);
    assert_float_equal(time.issue + time.waits, 125 * LOADS, 0.1);
    access.missed[WM_CACHE_VECTOR] = access.requests[WM_CACHE_L2] = LOADS;
    time = wmi_time_of(&work);
    assert_float_equal(time.issue + time.waits, 249 * LOADS, 0.1);
    access.missed[WM_CACHE_L2] = LOADS;
    time = wmi_time_of(&work);
    assert_float_equal(time.issue + time.waits, 584 * LOADS, 0.1);
    access.missed[WM_CACHE_L2] = LOADS / 2;
    time = wmi_time_of(&work);
    assert_float_equal(time.issue + time.waits, (249 + 584) / 2.0 * LOADS, 0.1);
}

/* A wait for two accesses takes as long as the slower one. */
static void slower_one(void **state)
{
    (void)state;
    struct wmi_time_access access[] = {
        {.path = WMI_PATH_GLOBAL,
         .executions = 10,
         .clocks = 160,
         .requests = {[WM_CACHE_VECTOR] = 10, [WM_CACHE_L2] = 10},
         .missed = {[WM_CACHE_VECTOR] = 10}},
        {.path = WMI_PATH_GLOBAL,
         .executions = 10,
         .exposed = 10,
         .clocks = 160,
         .requests = {[WM_CACHE_VECTOR] = 10}},
    };
    struct wmi_time_work work = waves_on("mi210", 1, 1);
    work.accesses = access;
    work.access_count = 2;
    assert_float_equal(wmi_time_of(&work).waits, 10 * (125 - 8), 0.01);
    access[1].beside_count = 1;
    assert_float_equal(wmi_time_of(&work).waits, 10 * (249 - 8), 0.01);
}

/* Workgroups follow one another in their places; twice as many places take half as long. */
static void places(void **state)
{
    (void)state;
    struct wmi_time_work work = waves_on("mi210", 104 * 40, 4);
    work.work[WMI_WORK_SALU] = 104 * 40 * 100.0;
    const double four = wmi_time_of(&work).part[WMI_TIME_LATENCY];
    work.resident = 8;
    assert_float_equal(wmi_time_of(&work).part[WMI_TIME_LATENCY], four / 2, 1e-6 * four);
    work.resident = 100; /* all at once */
    const double alone = 100 * TURN + wmi_clocks_of(work.gpu).turnaround;
    assert_float_equal(wmi_time_of(&work).part[WMI_TIME_LATENCY], alone, 1e-6 * alone);
    assert_float_equal(four, 10 * alone, 1e-6 * four);
}

/* The norm: both equally long, and one alone; never below the part of the bound. */
static void norm(void **state)
{
    (void)state;
    struct wmi_time_work work = waves_on("mi210", 104, 1);
    const struct wmi_clocks clocks = wmi_clocks_of(work.gpu);
    const double launch = clocks.launch * work.gpu->clock_mhz / 1e3;
    for (unsigned part = 0; part < WMI_GPU_PARTS; part++) {
        memset(work.busy, 0, sizeof work.busy);
        work.busy[part] = 1e9;
        assert_true(wmi_time_of(&work).clocks >= 1e9);
    }
    memset(work.busy, 0, sizeof work.busy);
    work.busy[WMI_GPU_VALU] = clocks.turnaround; /* the latency of waves that execute nothing */
    assert_float_equal(wmi_time_of(&work).clocks, launch + clocks.turnaround * sqrt(2), 0.01);
    /* Two workgroups on one of the compute units, and one on the others: it is busy twice as long. */
    work.workgroups = work.waves = 105;
    assert_float_equal(wmi_time_of(&work).part[WMI_GPU_VALU], clocks.turnaround * 2 / (105 / 104.0), 0.01);
    assert_float_equal(wmi_time_of(&work).part[WMI_GPU_MEMORY], 0, 0);
    work.workgroups = work.waves = 0;
    assert_float_equal(wmi_time_of(&work).clocks, 0, 0);
}

/* 1638.4 GB/s at 1700 MHz are 963.76 bytes per clock, of which streams reach 92 %. As many writes as reads
 * take a fifth longer; a quarter of writes three quarters of that. */
static void both_directions(void **state)
{
    (void)state;
    const double bytes = 963.7647 * 0.92 * 1e6;
    struct wmi_time_work work = waves_on("mi210", 104, 1);
    work.memory_bytes = bytes;
    assert_float_equal(wmi_time_of(&work).part[WMI_GPU_MEMORY], 1e6, 10);
    work.memory_written = bytes;
    assert_float_equal(wmi_time_of(&work).part[WMI_GPU_MEMORY], 1e6, 10);
    work.memory_written = bytes / 2;
    assert_float_equal(wmi_time_of(&work).part[WMI_GPU_MEMORY], 1.2e6, 10);
    work.memory_written = bytes / 4;
    assert_float_equal(wmi_time_of(&work).part[WMI_GPU_MEMORY], 1.15e6, 10);
}

/* 13 workgroups on 104 compute units; eight times as many share what they do: a loop of 16 turns takes an
 * eighth per wave, what each wave executes once stays, and units work in parallel. */
static void split(void **state)
{
    (void)state;
    struct wmi_time_access accesses[] = {
        {.path = WMI_PATH_GLOBAL, .kind = WMI_ACCESS_LOAD, .executions = 13 * 16, .exposed = 13 * 16},
        {.path = WMI_PATH_GLOBAL, .kind = WMI_ACCESS_LOAD, .executions = 13, .exposed = 13},
    };
    for (unsigned i = 0; i < 2; i++)
        accesses[i].requests[WM_CACHE_VECTOR] = accesses[i].executions;
    struct wmi_time_work work = waves_on("mi210", 13, 1);
    const double load = 125 - TURN - 4;
    work.accesses = accesses;
    work.access_count = 2;
    work.busy[WMI_GPU_VALU] = 8000;
    work.busy[WMI_GPU_L2] = 7000;
    work.work[WMI_WORK_SALU] = 13 * 80;
    const struct wmi_time now = wmi_time_of(&work);
    assert_float_equal(now.waits, 17 * load, 0.01);
    assert_float_equal(wmi_time_access_waits(&work, 0), 13 * 16 * load, 0.01);
    assert_float_equal(wmi_time_access_waits(&work, 1), 13 * load, 0.01);
    assert_float_equal(now.issue, 80 * TURN, 0.01);
    work.split = 8;
    const struct wmi_time then = wmi_time_of(&work);
    assert_float_equal(then.waits, 3 * load, 0.01);
    assert_float_equal(then.issue, 10 * TURN, 0.01);
    assert_float_equal(then.part[WMI_GPU_VALU], 1000, 0.01);
    assert_float_equal(then.part[WMI_GPU_L2], now.part[WMI_GPU_L2], 0.01);
    work.access_count = 0; /* no loop is known, so each wave issues everything */
    assert_float_equal(wmi_time_of(&work).issue, 80 * TURN, 0.01);
}

/* Every product has clocks: its own, or those of a measured one with the same levels of caches. */
static void products(void **state)
{
    (void)state;
    size_t count, own = 0;
    const struct wm_gpu *gpus = wm_gpus(&count);
    for (size_t i = 0; i < count; i++) {
        const struct wmi_clocks clocks = wmi_clocks_of(&gpus[i]);
        own += !wmi_clocks_like(&gpus[i]);
        assert_true(clocks.l1 > 0 && clocks.l2 > clocks.l1 && clocks.memory > clocks.last);
        assert_int_equal(clocks.last > 0, gpus[i].cache[WM_CACHE_LAST].bytes > 0);
        assert_int_equal(clocks.gl1 > 0, gpus[i].cache[WM_CACHE_GL1].bytes > 0);
        assert_true(clocks.memory_share > 0 && clocks.memory_share <= 1);
        assert_true(clocks.l2_share > 0 && clocks.l2_share <= 1);
        for (unsigned part = 0; part < WMI_TIME_PARTS; part++)
            assert_true(wmi_time_factor(&gpus[i], part) >= 1);
    }
    assert_int_equal(own, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hidden_latency), cmocka_unit_test(together), cmocka_unit_test(loop),
        cmocka_unit_test(dependent),      cmocka_unit_test(chain),    cmocka_unit_test(slower_one),
        cmocka_unit_test(places),         cmocka_unit_test(norm),     cmocka_unit_test(both_directions),
        cmocka_unit_test(split),          cmocka_unit_test(products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
