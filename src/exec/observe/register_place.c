/* SPDX-License-Identifier: MIT */
/* Finds registers of a wave by name, and their offsets in its frame. */
#include "exec/observe/register_place.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TTMPS = 16, MASK = 0 /* `words` of a lane mask, which has a bit per lane */ };

static const struct {
    const char *name;
    enum wmi_place_kind kind;
    uint16_t slot, words;
} specials[] = {
    {"vcc", WMI_PLACE_SCALAR, WMI_S_VCC, MASK},
    {"vcc_lo", WMI_PLACE_SCALAR, WMI_S_VCC, 1},
    {"vcc_hi", WMI_PLACE_SCALAR, WMI_S_VCC + 1, 1},
    {"exec", WMI_PLACE_EXEC, WMI_S_EXEC, MASK},
    {"exec_lo", WMI_PLACE_EXEC, WMI_S_EXEC, 1},
    {"exec_hi", WMI_PLACE_EXEC, WMI_S_EXEC + 1, 1},
    {"m0", WMI_PLACE_SCALAR, WMI_S_M0, 1},
    {"scc", WMI_PLACE_SCC, WMI_S_SCC, 1},
    {"flat_scratch", WMI_PLACE_SCALAR, WMI_S_FLAT_SCRATCH, 2},
    {"flat_scratch_lo", WMI_PLACE_SCALAR, WMI_S_FLAT_SCRATCH, 1},
    {"flat_scratch_hi", WMI_PLACE_SCALAR, WMI_S_FLAT_SCRATCH + 1, 1},
    {"xnack_mask", WMI_PLACE_SCALAR, WMI_S_XNACK_MASK, 2},
    {"xnack_mask_lo", WMI_PLACE_SCALAR, WMI_S_XNACK_MASK, 1},
    {"xnack_mask_hi", WMI_PLACE_SCALAR, WMI_S_XNACK_MASK + 1, 1},
    {"shared_base", WMI_PLACE_SCALAR, WMI_S_SHARED_BASE, 2},
    {"private_base", WMI_PLACE_SCALAR, WMI_S_PRIVATE_BASE, 2},
    {"mode", WMI_PLACE_MODE, 0, 1},
    {"pc", WMI_PLACE_PC, 0, 2},
};

static uint32_t slot_offset(unsigned slot)
{
    return (uint32_t)(offsetof(struct wmi_frame, s) + slot * sizeof(uint32_t));
}

/* Whether the name consists of `prefix` and a number below `limit`. */
static bool is_numbered(const char *name, const char *prefix, uint32_t limit, uint32_t *number)
{
    const size_t length = strlen(prefix);
    char *end;
    if (strncasecmp(name, prefix, length) || name[length] < '0' || name[length] > '9')
        return false;
    const unsigned long value = strtoul(name + length, &end, 10);
    *number = (uint32_t)value;
    return !*end && value < limit;
}

static bool find_special(const struct wmi_code *code, const char *name, struct wmi_register_place *place)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (!strcasecmp(name, specials[i].name)) {
            const uint32_t words = specials[i].words ? specials[i].words : code->options.lanes / 32;
            *place =
                (struct wmi_register_place){specials[i].kind, slot_offset(specials[i].slot), words, words};
            return true;
        }
    return false;
}

bool wmi_register_find(const struct wmi_code *code, const char *name, struct wmi_register_place *place)
{
    const struct wmi_code_options *options = &code->options;
    const uint32_t sgprs = wmi_target_limit(options->target, WMI_LIMIT_sgprs);
    uint32_t number;
    if (find_special(code, name, place))
        return true;
    *place = (struct wmi_register_place){.kind = WMI_PLACE_SCALAR, .words = 1};
    if (is_numbered(name, "s", sgprs, &number)) {
        place->offset = slot_offset(number);
        place->more = sgprs - number;
    } else if (is_numbered(name, "ttmp", TTMPS, &number)) {
        place->offset = slot_offset(WMI_S_TTMP + number);
        place->more = TTMPS - number;
    } else {
        const bool vgpr = is_numbered(name, "v", options->vgprs, &number);
        if (!vgpr && !is_numbered(name, "a", options->agprs, &number))
            return false;
        const uint32_t row = number + (vgpr ? 0 : options->vgprs);
        *place = (struct wmi_register_place){.kind = WMI_PLACE_VECTOR,
                                             .offset = code->vgpr_offset + row * code->row_bytes,
                                             .words = options->lanes,
                                             .more = options->lanes};
    }
    return true;
}
