/* SPDX-License-Identifier: MIT */
/* Results that depend on the order of workgroups and waves: the rules, and who stored what differs. */
#ifndef WMI_CHECK_ORDER_H
#define WMI_CHECK_ORDER_H

#include "check/checker.h"

enum wmi_order_rule {
    WMI_ORDER_RESULT, /* memory differs */
    WMI_ORDER_SUM,    /* the same, where an atomic adds floats */
    WMI_ORDER_FAULT,  /* the kernel faults in another order only */
    WMI_ORDER_RULES
};
extern const struct wmi_check_rule wmi_order_rules[WMI_ORDER_RULES];

/* Details of their findings. */
enum {
    WMI_ORDER_SEED,
    WMI_ORDER_VALUES, /* the value in order; from bit 32 in the other one */
    WMI_ORDER_BYTES,  /* that differ, in all */
    WMI_ORDER_GROUP,  /* who stored the value in the other order: number of the workgroup, UINT64_MAX: nobody
                       */
    WMI_ORDER_WAVE,
};

/* Watches a dispatch on one thread for the last store to some bytes of global memory. */
struct wmi_last_store {
    struct wmi_observer observer;
    uint64_t address;
    unsigned size;
    uint32_t groups[3], cluster[3];
    uint64_t pc; /* 0: nobody has stored there */
    uint64_t group, lanes;
    uint32_t wave;
    bool adds_floats; /* an atomic, at any time */
};
void wmi_last_store_init(struct wmi_last_store *last, uint64_t address, unsigned size,
                         const uint32_t groups[3], const uint32_t cluster[3]);

#endif
