/* SPDX-License-Identifier: MIT */
/* Predicts how long a dispatch takes. docs/model.md, "Predicted time", states the rules. */
#ifndef WMI_PROFILE_PREDICT_H
#define WMI_PROFILE_PREDICT_H

#include "isa/rules/work.h"
#include "memory/access.h"
#include "profile/cost/rates.h"
#include "profile/time/path.h"
#include "wavemem/wavemem.h"

/* The parts of a prediction: WMI_GPU_PARTS, and these. */
enum {
    WMI_TIME_LATENCY = WMI_GPU_PARTS, /* waves one after another, each as if it were alone */
    WMI_TIME_PARTS
};
const char *wmi_time_part_name(unsigned part);
/* Whether the part is in each compute unit, so that its clocks depend on how many of these have work. */
bool wmi_time_in_units(unsigned part);

/* A memory instruction in one dispatch. */
struct wmi_time_access {
    uint8_t path, kind;         /* enum wmi_path, enum wmi_access_kind */
    double executions, exposed; /* exposed: whole latencies that waves wait for */
    double clocks;              /* of the busiest unit of a compute unit */
    double requests[WM_CACHE_LEVELS], missed[WM_CACHE_LEVELS]; /* requests */
    double memory_read;                                        /* bytes */
    size_t beside[WMI_BESIDE]; /* other accesses, beside_count of them, that the same waits cover */
    uint32_t beside_count;
};

/* What a dispatch did. */
struct wmi_time_work {
    const struct wm_gpu *gpu;
    unsigned wave_lanes;
    double workgroups, waves;
    uint32_t resident, units; /* workgroups that `units` neighbouring compute units hold at once */
    double work[WMI_WORK_COUNTS];
    double busy[WMI_GPU_PARTS];          /* clocks, as in the bound */
    double last_bytes;                   /* of the Infinity Cache */
    double memory_bytes, memory_written; /* of memory: all, and of these written */
    double scale;                        /* what all workgroups do, over what was counted; see --sample */
    /* Above 1: predict what so many times as many workgroups would take for the same work. Waves share what
     * they execute repeatedly, but each still executes everything once. */
    double split;
    const struct wmi_time_access *accesses;
    size_t access_count;
};

struct wmi_time {
    double clocks;               /* 0: nothing ran */
    double part[WMI_TIME_PARTS]; /* clocks, if only this part took time */
    double launch;               /* clocks before and after all workgroups; part of `clocks` */
    double issue, waits;         /* of the latency of a wave, in clocks: issuing; waiting for memory */
    double stalls;               /* and waiting for results */
    double wave;                 /* all clocks of a wave, with those from one workgroup to the next */
    double together;             /* of these, while the other waves of its workgroup use the same units */
};

struct wmi_time wmi_time_of(const struct wmi_time_work *work);

/* Clocks that all waves together wait for accesses to memory and LDS, and for one of them. */
double wmi_time_waits(const struct wmi_time_work *work);
double wmi_time_access_waits(const struct wmi_time_work *work, size_t at);
/* The most clocks of the units that the waves of a workgroup with barriers use at the same time. */
double wmi_time_together(const double busy[WMI_GPU_PARTS]);

/* The clocks of a dispatch without launch: the norm of the latency, of the busiest part of the compute units,
 * and of the busiest part that all of them share. */
double wmi_time_combine(const double part[WMI_TIME_PARTS]);

/* The latency of an access on the product, from its counts, in clocks. */
double wmi_time_latency(const struct wmi_time_access *access, const struct wm_gpu *gpu);
/* Clocks from an instruction to the next one of its wave, alone on its SIMD; matrices aside. */
double wmi_time_issue(const struct wm_gpu *gpu, unsigned wave_lanes, enum wmi_work kind);

/* How far off predictions for this product have been where `part` takes longest: they were within a factor of
 * this or better in two thirds of the measurements. */
double wmi_time_factor(const struct wm_gpu *gpu, unsigned part);

#endif
