/* SPDX-License-Identifier: MIT */
/* Findings of the modelled scalar caches of a dispatch. */
#ifndef WMI_STALE_H
#define WMI_STALE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An instruction whose behaviour on hardware may differ from coherent memory. */
struct wmi_stale {
    unsigned kind; /* enum wm_stale_kind */
    uint64_t pc, count;
    uint64_t group, address; /* of the example: the lowest workgroup and wave */
    uint32_t wave;
};

/* Findings of a dispatch; in wmi_dispatch. */
struct wmi_stales {
    unsigned mode; /* enum wm_scalar_cache */
    pthread_mutex_t lock;
    struct wmi_stale *found;
    size_t count, room;
    bool lost; /* there was no memory for all of it */
};

#endif
