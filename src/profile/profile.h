/* SPDX-License-Identifier: MIT */
/* The profile: an observer that measures the figures of struct wm_profile_row for each memory instruction.
 *
 * Each worker thread counts separately and adds its sums at its end, so the figures do not depend on the
 * distribution of workgroups over threads. */
#ifndef WMI_PROFILE_H
#define WMI_PROFILE_H

#include "observe/observer.h"
#include "profile/cost/cost.h"
#include "wavemem/wavemem.h"

struct wmi_origins; /* origins.h */
struct wmi_tracer;  /* replay.h */

/* The parameters of a dispatch that determine its occupancy. */
struct wmi_profile_dispatch {
    const char *kernel;             /* copied; NULL: "" */
    uint64_t pc;                    /* entry */
    uint32_t grid[3], workgroup[3]; /* work-items */
    uint32_t vgprs;                 /* per lane, including AccVGPRs if they share the register file */
    uint32_t sgprs;                 /* per wave, as allocated */
    uint32_t lds_bytes;             /* per workgroup, as allocated */
    bool wgp_mode;                  /* its waves run on both compute units of a WGP */
    uint64_t scratch;               /* guest address of the scratch memory of all waves */
    uint64_t scratch_bytes;         /* per workgroup, as the hardware allocates it; 0: none */
    uint64_t first_group;           /* number of the first workgroup that runs */
};

/* How many workgroups of a dispatch a GPU can hold at once, from their registers, LDS and waves. */
struct wmi_capacity {
    uint32_t units;    /* neighbouring compute units on which a workgroup runs: 1, in WGP mode of RDNA 2 */
    uint32_t groups;   /* that these hold; 0: not even one */
    uint32_t waves;    /* of a workgroup */
    const char *limit; /* the first of the lowest in `limits` */
    struct wm_occupancy_limit limits[WM_OCCUPANCY_LIMITS];
    uint32_t limit_count;
};
struct wmi_capacity wmi_capacity_of(const struct wm_gpu *gpu, const struct wmi_profile_dispatch *dispatch,
                                    unsigned wave_lanes);

/* Describes instructions. describe() sets kernel, text, file, line, column and offset of the row for row->pc.
 * It is called once per instruction, under a lock; the strings are copied before the next call. */
struct wmi_profile_source {
    void *user;
    void (*describe)(void *user, unsigned id, struct wm_profile_row *row);
    const struct wmi_cost_rules *rules; /* of the target; NULL: no costs are counted */
    unsigned wave_lanes;                /* 32 or 64 */
    const char *target_name;            /* "gfx900" */
    /* Sets *code to the code of the symbol that contains `pc`; it is copied. False: unknown. */
    bool (*code)(void *user, uint64_t pc, struct wm_profile_code *code);
    struct wmi_profile_dispatch dispatch;
    /* How execution lays out scratch memory, which is not how a GPU does: bytes of all of it, and from one
     * wave's to the next one's; bytes of a wave as the hardware allocates it. */
    uint64_t scratch_size, scratch_stride, scratch_wave;
};

/* NULL: no memory. */
struct wm_profile *wmi_profile_create(void);
void wmi_profile_destroy(struct wm_profile *profile);

/* Returns the observer for a dispatch. One dispatch at a time; counts accumulate over dispatches. `source` is
 * copied and used until the next wmi_profile_begin. Instructions are identified by pc and id, so dispatches
 * with different code at the same address need different profiles. */
const struct wmi_observer *wmi_profile_begin(struct wm_profile *profile,
                                             const struct wmi_profile_source *source);

/* Ends the current dispatch. */
void wmi_profile_end(struct wm_profile *profile);

/* The product to model from the next wmi_profile_begin on; it is copied. */
void wmi_profile_set_gpu(struct wm_profile *profile, const struct wm_gpu *gpu);
/* NULL: not chosen yet. */
const struct wm_gpu *wmi_profile_gpu(const struct wm_profile *profile);
bool wmi_profile_began(const struct wm_profile *profile); /* whether wmi_profile_begin was called */

/* Rounds of workgroups of which one is observed, from the next wmi_profile_begin on; see sample.h. */
void wmi_profile_set_sample(struct wm_profile *profile, unsigned one_in);

bool wmi_profile_takes_sample(const struct wm_profile *profile);

/* L2 keeps its contents from dispatch to dispatch; before the first wmi_profile_begin. */
void wmi_profile_keep_l2(struct wm_profile *profile);

/* Makes timelines from the next wmi_profile_begin on. False: no memory. */
bool wmi_profile_set_timelines(struct wm_profile *profile);
/* The observer of a dispatch that has begun, for its timeline; NULL: there is none. */
const struct wmi_observer *wmi_profile_timeline_observer(struct wm_profile *profile);
const struct wm_timeline *wmi_profile_timelines(const struct wm_profile *profile, size_t *count);

/* Who writes the profile down; NULL: nobody. The profile does not free it. */
void wmi_profile_set_tracer(struct wm_profile *profile, struct wmi_tracer *tracer);
struct wmi_tracer *wmi_profile_tracer(const struct wm_profile *profile);

bool *wmi_profile_busy(struct wm_profile *profile); /* whether a dispatch is being profiled */

/* What the figures are of. */
struct wmi_origins *wmi_profile_origins(struct wm_profile *profile);

const struct wm_profile_kernel *wmi_profile_kernels(struct wm_profile *profile, size_t *count);
/* The names of the parts of a GPU, and of the causes of findings. */
const char *const *wmi_profile_parts(size_t *count);
const char *const *wmi_profile_causes(size_t *count);

/* The instructions that were executed, in order of their address, and what was found; valid until the next
 * dispatch begins or ends, or wmi_profile_destroy. NULL with *count == 0 when there are none, or no memory.
 */
const struct wm_profile_row *wmi_profile_rows(struct wm_profile *profile, size_t *count);
const struct wm_profile_finding *wmi_profile_findings(struct wm_profile *profile, size_t *count);

#endif
