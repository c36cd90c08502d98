/* SPDX-License-Identifier: MIT */
/* Names of the values in events. */
#include "wavemem/observe.h"

#include "memory/access.h"

#include <assert.h>

#define NAME_OF(names, value)                                                                                \
    ((unsigned)(value) < sizeof(names) / sizeof *(names) && (names)[value] ? (names)[value] : "?")

static_assert((int)WM_PATH_SMEM == WMI_PATH_SMEM && (int)WM_PATH_LDS_MOVE == WMI_PATH_LDS_DMA &&
                  (int)WM_ACCESS_ATOMIC == WMI_ACCESS_ATOMIC && (int)WM_SPACE_COUNT == WMI_SPACE_COUNT &&
                  (int)WM_POLICY_SC1 == WMI_POLICY_SC1,
              "events show these as they are inside");

const char *wm_event_name(enum wm_event_kind kind)
{
    static const char *const names[] = {
        "access",        "instruction",    "block",        "barrier arrive", "barrier leave",
        "cache",         "message",        "wave begin",   "wave end",       "workgroup begin",
        "workgroup end", "dispatch begin", "dispatch end", "allocate",       "free",
        "map",           "host write",     "host read",    "host pointer",   NULL,
        "export",
    };
    const unsigned bits = (unsigned)kind;
    return bits && !(bits & (bits - 1)) ? NAME_OF(names, __builtin_ctz(bits)) : "?";
}

const char *wm_path_name(enum wm_path path)
{
    static const char *const names[WM_PATH_COUNT] = {
        [WM_PATH_SMEM] = "SMEM",         [WM_PATH_BUFFER] = "BUFFER", [WM_PATH_TBUFFER] = "TBUFFER",
        [WM_PATH_IMAGE] = "IMAGE",       [WM_PATH_FLAT] = "FLAT",     [WM_PATH_GLOBAL] = "GLOBAL",
        [WM_PATH_SCRATCH] = "SCRATCH",   [WM_PATH_DS] = "DS",         [WM_PATH_GDS] = "GDS",
        [WM_PATH_LDS_MOVE] = "LDS move",
    };
    return NAME_OF(names, path);
}

const char *wm_access_kind_name(enum wm_access_kind kind)
{
    static const char *const names[] = {"load", "store", "atomic"};
    return NAME_OF(names, kind);
}

const char *wm_space_name(enum wm_space space)
{
    static const char *const names[WM_SPACE_COUNT] = {"global", "LDS", "GDS", "lanes"};
    return NAME_OF(names, space);
}

const char *wm_atomic_name(enum wm_atomic atomic)
{
    static const char *const names[WM_ATOMIC_COUNT] = {
        [WM_ATOMIC_NONE] = "",
        [WM_ATOMIC_SWAP] = "swap",
        [WM_ATOMIC_COMPARE_SWAP] = "compare and swap",
        [WM_ATOMIC_ADD] = "add",
        [WM_ATOMIC_SUB] = "subtract",
        [WM_ATOMIC_REVERSE_SUB] = "reverse subtract",
        [WM_ATOMIC_SIGNED_MIN] = "signed minimum",
        [WM_ATOMIC_UNSIGNED_MIN] = "unsigned minimum",
        [WM_ATOMIC_SIGNED_MAX] = "signed maximum",
        [WM_ATOMIC_UNSIGNED_MAX] = "unsigned maximum",
        [WM_ATOMIC_AND] = "and",
        [WM_ATOMIC_OR] = "or",
        [WM_ATOMIC_XOR] = "xor",
        [WM_ATOMIC_INC] = "increment",
        [WM_ATOMIC_DEC] = "decrement",
        [WM_ATOMIC_SUB_CLAMP] = "clamped subtract",
        [WM_ATOMIC_COND_SUB] = "conditional subtract",
        [WM_ATOMIC_FLOAT_COMPARE_SWAP] = "float compare and swap",
        [WM_ATOMIC_FLOAT_MIN] = "float minimum",
        [WM_ATOMIC_FLOAT_MAX] = "float maximum",
        [WM_ATOMIC_FLOAT_ADD] = "float add",
        [WM_ATOMIC_PACKED_ADD_F16] = "packed f16 add",
        [WM_ATOMIC_PACKED_ADD_BF16] = "packed bf16 add",
        [WM_ATOMIC_ORDERED_ADD] = "ordered add",
        [WM_ATOMIC_MASKED_OR] = "masked or",
        [WM_ATOMIC_WRAP] = "wrap",
        [WM_ATOMIC_CONDITIONAL_SWAP] = "conditional swap",
        [WM_ATOMIC_APPEND] = "append",
        [WM_ATOMIC_CONSUME] = "consume",
    };
    return NAME_OF(names, atomic);
}

const char *wm_scope_name(enum wm_scope scope)
{
    static const char *const names[WM_SCOPE_COUNT] = {
        [WM_SCOPE_NONE] = "",         [WM_SCOPE_WAVE] = "wave",     [WM_SCOPE_WORKGROUP] = "workgroup",
        [WM_SCOPE_CU] = "CU",         [WM_SCOPE_ENGINE] = "engine", [WM_SCOPE_DEVICE] = "device",
        [WM_SCOPE_SYSTEM] = "system",
    };
    return NAME_OF(names, scope);
}
