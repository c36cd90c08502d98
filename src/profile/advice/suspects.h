/* SPDX-License-Identifier: MIT */
/* What is known of the instructions of a kernel beyond their sums: the pattern of their lanes, which of them
 * use the same lines, and what a full wave with contiguous addresses would cost. */
#ifndef WMI_PROFILE_SUSPECTS_H
#define WMI_PROFILE_SUSPECTS_H

#include "profile/inside.h"

/* The access pattern of one wave, the first one in grid order, whose addresses the profile keeps as an
 * example for each instruction. */
struct wmi_shape {
    bool has;        /* there is an example wave */
    bool even;       /* all neighbouring active lanes are `stride` bytes apart */
    uint64_t stride; /* bytes */
    unsigned run;    /* neighbours within each aligned group of `run` lanes, a power of two, are so, too */
};

/* A family: instructions that access common lines in their example waves, such as those of the members of a
 * structure. */
struct wmi_family {
    unsigned block;           /* bytes of a request to L2 */
    uint32_t used;            /* wmi_used_dwords(), combined */
    double requested, loaded; /* distinct bytes of each execution, summed; of loads only */
    double l2_loaded, memory; /* bytes of loads from L2; from and to memory */
    double last;              /* bytes between L2 and the last-level cache */
};

/* What an instruction would cost with all lanes of its waves active: of one execution. */
struct wmi_ideal {
    double clocks, tags, data;
};

struct wmi_suspect {
    const struct wm_profile_row *row;
    const struct wm_gpu *gpu;
    const struct wmi_family *family; /* NULL: it does not access global memory */
    struct wmi_shape shape;
    enum wmi_access_kind kind;
    struct wmi_ideal contiguous; /* with contiguous addresses */
    double lds_passes;           /* atomics of memory: of the example wave's lanes if its data were in LDS */
    struct wmi_ideal wide;       /* if `members` is not 0: for so many bytes that follow one another */
    unsigned
        members;     /* so many instructions each access one of consecutive elements of a lane; 0: just one */
    uint64_t active; /* executions that accessed global memory */
    double room;     /* sum over executions of the lanes that the waves began with: `active` lanes if none
                        were masked off */
    double units;    /* compute units with work */
    double data_bytes;    /* per clock between vector cache and VGPRs */
    double waves_at_once; /* of a vector cache */
    bool bypasses;        /* its loads bypass L1 */
    bool in_scratch;      /* it accesses private memory */
    bool variable_index;  /* and its address is in a register of the lanes */
};

struct wmi_suspects {
    struct wmi_suspect *suspect; /* count of them, as the rows */
    size_t count;
    struct wmi_family *families;
};

struct wmi_binding; /* profile/kernels.h */

/* Looks at `count` rows of a kernel. False: out of memory. */
bool wmi_suspects_find(struct wmi_suspects *suspects, struct wm_profile *profile,
                       const struct wmi_binding *binding, const struct wm_profile_row *const *rows,
                       size_t count);
void wmi_suspects_free(struct wmi_suspects *suspects);

#endif
