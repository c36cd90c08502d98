/* SPDX-License-Identifier: MIT */
/* The rules of the memory checker, and how their findings are worded. */
#ifndef WMI_MEMORY_RULES_H
#define WMI_MEMORY_RULES_H

#include "check/checker.h"

enum wmi_memory_rule {
    WMI_RULE_OUT_OF_BOUNDS,
    WMI_RULE_USE_AFTER_FREE,
    WMI_RULE_NULL_POINTER,
    WMI_RULE_OTHER_ALLOCATION,
    WMI_RULE_READ_ONLY_STORE,
    WMI_RULE_CODE_STORE,
    WMI_RULE_KERNARG_STORE,
    WMI_RULE_CONST_STORE,
    WMI_RULE_MISALIGNED,
    WMI_RULE_APERTURE,
    WMI_RULE_PRIVATE_ATOMIC,
    WMI_RULE_LDS_OUT_OF_BOUNDS,
    WMI_RULE_GDS_OUT_OF_BOUNDS,
    WMI_RULE_PRIVATE_OUT_OF_BOUNDS,
    WMI_RULE_BUFFER_DROPPED,
    WMI_RULE_IMAGE_DROPPED,
    WMI_RULE_LEAK,
    WMI_MEMORY_RULES
};

extern const struct wmi_check_rule wmi_memory_rules[WMI_MEMORY_RULES];

/* details of their findings */
enum {
    WMI_DETAIL_ACCESS, /* enum wmi_access_kind; from bit 8 enum wm_atomic, from 16 enum wmi_path */
    WMI_DETAIL_LIMIT,  /* LDS, GDS, private memory: its bytes. OTHER_ALLOCATION: the base address */
    /* BUFFER_DROPPED, instead: */
    WMI_DETAIL_BUFFER = 1, /* words 0 and 1 of the V# */
    WMI_DETAIL_RECORDS,    /* words 2 and 3 */
    WMI_DETAIL_PLACE,      /* index; from bit 32 the offset */
    WMI_DETAIL_SOFFSET, /* SOFFSET; from bit 32 the bytes that are checked as a unit, and idxen in bit 63 */
};

/* What rules of buffers depend on. */
const struct wmi_buffer_rules *wmi_memory_buffer_rules(const void *checker);

#endif
