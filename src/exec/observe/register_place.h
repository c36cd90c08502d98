/* SPDX-License-Identifier: MIT */
/* Finds registers of a wave by name, and their offsets in its frame. */
#ifndef WMI_REGISTER_PLACE_H
#define WMI_REGISTER_PLACE_H

#include "lower/code.h"
#include "sem/sem.h"

enum wmi_place_kind {
    WMI_PLACE_SCALAR,
    WMI_PLACE_VECTOR,
    WMI_PLACE_EXEC,
    WMI_PLACE_SCC,
    WMI_PLACE_MODE, /* has no slot in the frame */
    WMI_PLACE_PC,   /* has no slot in the frame */
};

struct wmi_register_place {
    enum wmi_place_kind kind;
    uint32_t offset; /* byte offset of the first word in the frame */
    uint32_t words;  /* of the register: one per lane of a vector register; 2: 64 bits */
    uint32_t more;   /* words up to the end of its register file, for scalar registers */
};

/* Finds a register of waves that run the code: "s4", "v3", "a0", "ttmp5", "vcc", "vcc_lo", "exec", "m0",
 * "scc", "mode", "flat_scratch", "xnack_mask", "pc"; case does not matter. False: there is no register of
 * this name. */
bool wmi_register_find(const struct wmi_code *code, const char *name, struct wmi_register_place *place);

static inline uint32_t *wmi_register_words(struct wmi_frame *frame, const struct wmi_register_place *place)
{
    return (uint32_t *)((char *)frame + place->offset);
}

#endif
