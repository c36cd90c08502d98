/* SPDX-License-Identifier: MIT */
/* The memory access of one instruction of one wave. Built only for observers and on slow paths. */
#ifndef WMI_ACCESS_H
#define WMI_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wmi_path {
    WMI_PATH_SMEM,
    WMI_PATH_BUFFER,
    WMI_PATH_TBUFFER,
    WMI_PATH_IMAGE,
    WMI_PATH_FLAT,
    WMI_PATH_GLOBAL,
    WMI_PATH_SCRATCH,
    WMI_PATH_DS,
    WMI_PATH_GDS,
    WMI_PATH_LDS_DMA, /* the LDS side of an instruction that moves data between memory and LDS */
    WMI_PATH_IFETCH,
    WMI_PATH_CONTROL, /* cache invalidation without a memory request; `policy` is a mask of 1 <<
                         wm_cache_level */
    WMI_PATH_COUNT
};

enum wmi_access_kind { WMI_ACCESS_LOAD, WMI_ACCESS_STORE, WMI_ACCESS_ATOMIC };

/* WMI_SPACE_LANES is not memory: ds_permute_b32 and similar instructions route data through the LDS hardware,
 * with four bytes of address per lane. */
enum wmi_address_space { WMI_SPACE_GLOBAL, WMI_SPACE_LDS, WMI_SPACE_GDS, WMI_SPACE_LANES, WMI_SPACE_COUNT };

enum { WMI_ACCESS_ELEMENTS = 16 };

/* Cache policy bits of the instruction. */
enum {
    WMI_POLICY_GLC = 1,
    WMI_POLICY_SLC = 2,
    WMI_POLICY_DLC = 4,
    WMI_POLICY_NV = 8,
    WMI_POLICY_SC1 = 16,
};

/* One element per lane: `bytes` of the access at address[lane], for the lanes in `mask`. */
struct wmi_element {
    enum wmi_address_space space;
    uint64_t mask;                               /* lanes whose address is in this space */
    uint64_t bad_range, bad_align, bad_aperture; /* lanes of `mask` that fail a check */
    uint64_t dropped; /* lanes of `bad_range` whose access the hardware drops without a fault, because of a
                         descriptor or the size of scratch */
    const uint64_t *address;        /* per lane, as the hardware sees it (scratch: swizzled) */
    const uint64_t *private_offset; /* scratch: offset in the lane's private segment; else NULL */
    uint8_t reg; /* first register of this element, relative to the instruction's data or result */
};

/* What a V# makes of an instruction's lanes. */
struct wmi_access_buffer {
    uint32_t words[4];
    bool idxen;       /* there is an index */
    uint32_t lane;    /* the first one that is out of range, and its operands: */
    uint32_t index;   /* records */
    uint32_t offset;  /* bytes: instruction plus VGPR, plus the place in the access */
    uint32_t soffset; /* bytes */
    uint32_t bytes;   /* range-checked as a unit */
};

/* Consecutive registers of a memory instruction; also consecutive in the wave's frame. */
struct wmi_register_range {
    uint8_t file;    /* enum wm_register_file */
    uint8_t count;   /* 0: no registers */
    uint16_t first;  /* number of the first register */
    uint32_t offset; /* in bytes from the start of the frame */
};

/* Properties of a memory instruction for observers, besides its addresses; constant after lowering. */
struct wmi_access_facts {
    uint8_t operation; /* enum wm_atomic */
    uint8_t scope;     /* enum wm_scope */
    uint8_t lanes;     /* of the wave: 32 or 64 */
    struct wmi_register_range data[2], result;
};

/* Where the registers of a wave are in its frame: byte offsets of v0 and of a0. */
struct wmi_frame_layout {
    size_t bytes; /* of the frame */
    uint32_t vgprs, agprs;
};

struct wmi_access {
    uint64_t pc, instruction; /* guest address; sequence number in the wave (0 if not counted) */
    uint32_t workgroup[3], wave;
    enum wmi_path path;
    enum wmi_access_kind kind;
    uint64_t lanes;   /* EXEC at issue; 1 for SMEM; may be 0 */
    uint32_t policy;  /* WMI_POLICY_*; see WMI_PATH_CONTROL for that path */
    uint32_t depth;   /* value of its wait counter at issue, including itself; 0: no counter, or no observer
                         asked for it */
    uint8_t elements; /* elements per lane (dwordx4: 1 element of 16 bytes; read2: 2 elements) */
    uint8_t bytes;    /* bytes of each element */
    bool goes_on;     /* it is a further access of the instruction that was shown last */
    const struct wmi_access_facts *facts;
    const char *frame; /* of the wave; contains the registers */
    const struct wmi_frame_layout *layout;
    void **watched;           /* what the observer keeps of the wave, as in its execute() */
    const unsigned char *lds; /* of the workgroup */
    /* The next two are set for WMI_SPACE_GLOBAL only. */
    uint64_t base; /* the address in SGPRs or in a V# that the addresses are computed from; 0: none */
    const struct wmi_access_buffer *buffer; /* if a V# drops lanes; else NULL */
    struct wmi_element element[WMI_ACCESS_ELEMENTS];
};

/* The apertures of FLAT instructions for LDS and private memory: 64-bit address ranges, limits inclusive.
 * Software sets them. The defaults (exec/memory/apertures.c) are non-canonical 48-bit addresses, which no
 * allocation can have. Source: LLVM AMDGPUUsage, "Address Spaces" (4 GiB wide and aligned). */
struct wmi_apertures {
    uint64_t shared_base, shared_limit, private_base, private_limit;
};

#endif
