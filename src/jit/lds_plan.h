/* SPDX-License-Identifier: MIT */
/* What a wave of a workgroup with LDS finds out once.
 *
 * Addresses in LDS that no step changes any more where accesses use them, so that a wave needs to find out
 * only once whether they are as guessed, and where they are.
 *
 * The frame holds what the wave found out (wmi_compiled_state.lds_known), and where the strips' elements
 * begin (wmi_compiled_state.lds_place), by the number of an address. Waves start without, unless the address
 * is the same in all workgroups (wmi_compiled_state.lds_lasting). */
#ifndef WMI_LDS_PLAN_H
#define WMI_LDS_PLAN_H

#include "jit/compile.h"

enum { WMI_NO_LDS_ADDRESS = 0xff, WMI_NO_MASK_NUMBER = 0xff };

/* Values of wmi_compiled_state.lds_known. */
enum wmi_lds_known {
    WMI_LDS_UNKNOWN,
    WMI_LDS_GUESSED, /* the addresses of all lanes, also of inactive ones, are as guessed, and in range */
    WMI_LDS_OTHERS,
};

struct wmi_lds_plan {
    uint8_t *number;                   /* of the address of each step, or WMI_NO_LDS_ADDRESS */
    uint32_t reach[WMI_LDS_ADDRESSES]; /* how many bytes beyond a lane's address its accesses end */
    bool lasts[WMI_LDS_ADDRESSES];     /* it depends on nothing but work-item ids */
    uint8_t *mask; /* the number of a compare that lasts, see masks.h, or WMI_NO_MASK_NUMBER */
};

/* Fills plan->number and plan->mask for all steps. guess: see wmi_guess_strides(). */
void wmi_plan_lds(const struct wmi_block *block, const int8_t *guess, struct wmi_lds_plan *plan);

#endif
