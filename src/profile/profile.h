/* SPDX-License-Identifier: MIT */
/* The profile: an observer that counts, per memory instruction, what struct wm_profile_row says.
 *
 * Each worker thread counts for itself and adds its sums when it ends, so the figures do not depend on how
 * the workgroups were spread over threads. */
#ifndef WMI_PROFILE_H
#define WMI_PROFILE_H

#include "base/use.h"
#include "memory/access.h"
#include "profile/cost/cost.h"
#include "wavemem/wavemem.h"

struct wmi_origins; /* origins.h */
struct wmi_tracer;  /* replay.h */

/* The kernel of a dispatch, as far as occupancy goes. */
struct wmi_profile_dispatch {
    const char *kernel;             /* copied; NULL: "" */
    uint64_t pc;                    /* where it begins */
    uint32_t grid[3], workgroup[3]; /* work-items */
    uint32_t vgprs;                 /* of a lane, accumulators included where they are in the same file */
    uint32_t sgprs;                 /* of a wave, as allocated */
    uint32_t lds_bytes;             /* of a workgroup, as allocated */
    bool wgp_mode;                  /* its waves go to all compute units of a WGP */
};

/* Says what the instruction at row->pc is: fills kernel, text, file, line, column and offset. Called once per
 * instruction, under a lock; the strings are copied before the next call. */
struct wmi_profile_source {
    void *user;
    void (*describe)(void *user, unsigned id, struct wm_profile_row *row);
    const struct wmi_cost_rules *rules; /* of the GPU that executes it; NULL: costs are not counted */
    unsigned wave_lanes;                /* 32 or 64 */
    const char *target_name;            /* "gfx900" */
    /* The code of the symbol that the instruction at `pc` lies in, which is copied. False: it is not known.
     */
    bool (*code)(void *user, uint64_t pc, struct wm_profile_code *code);
    struct wmi_profile_dispatch dispatch;
};

/* NULL: no memory. */
struct wm_profile *wmi_profile_create(void);
void wmi_profile_destroy(struct wm_profile *profile);

/* The observer to dispatch with. One dispatch at a time; counts go on from those before. `source` is copied,
 * and used until the next wmi_profile_begin. An instruction is known by its pc and id, so dispatches that
 * load other code at the same address should use another profile. */
const struct wmi_observer *wmi_profile_begin(struct wm_profile *profile,
                                             const struct wmi_profile_source *source);

/* The dispatch that began is over. */
void wmi_profile_end(struct wm_profile *profile);

/* The product to model from the next wmi_profile_begin on; it is copied. */
void wmi_profile_set_gpu(struct wm_profile *profile, const struct wm_gpu *gpu);
/* NULL: not chosen yet. */
const struct wm_gpu *wmi_profile_gpu(const struct wm_profile *profile);
bool wmi_profile_began(const struct wm_profile *profile); /* whether wmi_profile_begin was called */

/* Rounds of workgroups of which one is observed, from the next wmi_profile_begin on; see sample.h. */
void wmi_profile_set_sample(struct wm_profile *profile, unsigned one_in);

/* Who writes the profile down; NULL: nobody. The profile does not free it. */
void wmi_profile_set_tracer(struct wm_profile *profile, struct wmi_tracer *tracer);
struct wmi_tracer *wmi_profile_tracer(const struct wm_profile *profile);

struct wmi_use *wmi_profile_use(struct wm_profile *profile);

/* What the figures are of. */
struct wmi_origins *wmi_profile_origins(struct wm_profile *profile);

const struct wm_profile_kernel *wmi_profile_kernels(struct wm_profile *profile, size_t *count);
/* The names of the parts of a GPU. */
const char *const *wmi_profile_parts(size_t *count);

/* The instructions that were executed, in order of their address; valid until the next call of this function
 * or of wmi_profile_destroy. NULL with *count == 0 when there are none, or no memory. */
const struct wm_profile_row *wmi_profile_rows(struct wm_profile *profile, size_t *count);

#endif
