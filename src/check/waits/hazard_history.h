/* SPDX-License-Identifier: MIT */
/* The recent history of a wave for hazard detection: when each register was accessed, in wait states; and
 * what is said of an instruction that comes too early. */
#ifndef WMI_HAZARD_HISTORY_H
#define WMI_HAZARD_HISTORY_H

#include "isa/rules/hazards.h"

struct wmi_moment {
    uint64_t clock; /* wait states before the instruction, plus 1; 0: never */
    uint32_t number;
};

/* Above all distances in wait states: the largest is 19 (src/isa/rules/hazards_matrix.c). */
enum { WMI_HAZARD_FAR = 32 };

enum { WMI_VECTOR_REGISTERS = WMI_REGISTER_FLAT_SCRATCH - WMI_REGISTER_VGPR };

/* An instruction that accessed a register as part of a tuple. */
struct wmi_matrix_touch {
    struct wmi_moment when;
    struct wmi_matrix_facts facts;
    uint16_t first, count;
};

struct wmi_matrix_state {
    struct wmi_matrix_touch wrote[WMI_VECTOR_REGISTERS]; /* MFMA */
    struct wmi_matrix_touch c[WMI_VECTOR_REGISTERS];     /* read as C by MFMA */
    struct wmi_matrix_touch acc[WMI_VECTOR_REGISTERS];   /* written by v_accvgpr_read or _write */
    struct wmi_matrix_touch dot[WMI_VECTOR_REGISTERS];
    struct wmi_moment valu[WMI_VECTOR_REGISTERS]; /* written by other VALU instructions */
    struct wmi_moment exec, dgemm;                /* VALU write of EXEC; last DGEMM */
    struct wmi_moment acc_access;                 /* the last v_accvgpr_read or _write */
};

/* ---- hazards that wait states do not resolve: they last until certain other instructions, or an
 * s_waitcnt_depctr ---- */

/* The last access of a vector instruction to a VGPR; counts are of instructions before it. */
struct wmi_valu_touch {
    uint64_t valus, transcendentals;
    uint64_t exec; /* vector instructions before the preceding scalar write of EXEC, plus 1; 0: no write */
    uint32_t number;
    bool there;
};

/* A register of a WMMA; valus: vector instructions before it. */
struct wmi_wmma_touch {
    uint64_t valus;
    uint32_t number;
    uint8_t busy_valu, busy_wmma; /* as in struct wmi_hazard_facts; 0: there is none */
};

/* A write of a scalar register after a vector instruction read it. */
struct wmi_sgpr_write {
    struct wmi_moment when;
    bool valu;
};

enum { WMI_SCALAR_REGISTERS = WMI_REGISTER_VGPR };

/* Who wrote a scalar register. */
enum wmi_sgpr_writer { WMI_WROTE_SALU, WMI_WROTE_VALU_SGPR, WMI_WROTE_VALU_VCC, WMI_SGPR_WRITERS };

struct wmi_unsettled_state {
    uint64_t clock;                  /* instructions */
    uint64_t valus, transcendentals; /* executed */
    uint64_t exec_valus;             /* `valus` at the last scalar write of EXEC, plus 1; 0: no write */
    struct wmi_valu_touch wrote[WMI_VECTOR_REGISTERS], used[WMI_VECTOR_REGISTERS];
    struct wmi_valu_touch transcendental[WMI_VECTOR_REGISTERS]; /* written by a transcendental */
    struct wmi_moment memory[WMI_VECTOR_REGISTERS];             /* used by a memory instruction */
    struct wmi_moment vmem_reads[WMI_SCALAR_REGISTERS], smem_reads[WMI_SCALAR_REGISTERS];
    struct wmi_moment last_memory; /* the last LDS or vector memory instruction, */
    bool memory_was_lds, branched; /* whether it was LDS, and whether a branch followed */
    struct wmi_moment vcmpx;       /* wrote EXEC; cleared by the next vector instruction except v_nop */
    struct wmi_moment exec_read;   /* EXEC read by a non-vector instruction */
    struct wmi_moment mask[WMI_SCALAR_REGISTERS], mask_written[WMI_SCALAR_REGISTERS];
    bool valu_read[WMI_SCALAR_REGISTERS];
    struct wmi_sgpr_write rewritten[WMI_SCALAR_REGISTERS];
    struct wmi_moment wmma; /* set if the last vector instruction was WMMA */
    uint16_t wmma_first, wmma_count;
    struct wmi_wmma_touch wmma_result[WMI_VECTOR_REGISTERS], wmma_source[WMI_VECTOR_REGISTERS];
    struct wmi_moment deallocated;
    struct wmi_moment mad_high[WMI_VECTOR_REGISTERS]; /* upper half of a multiply-add; may be wrong */
    /* What is older has been forgotten, which saves clearing it: `wrote` and `transcendental`, and `used`, by
     * `valus`, as the registers of WMMAs; the others by `clock`. */
    struct wmi_unsettled_since {
        uint64_t wmma, wrote, used, memory, mad_high, vmem_reads, smem_reads, mask, mask_written;
        uint64_t rewritten[WMI_SGPR_WRITERS];
    } since;
};

/* ---- all ---- */

enum { WMI_HARDWARE_REGISTERS = 64 };

struct wmi_hazard_state {
    const struct wmi_target *target;
    uint64_t clock;
    struct wmi_moment valu_wrote[WMI_REGISTER_COUNT], salu_wrote[WMI_REGISTER_COUNT],
        wrote[WMI_REGISTER_COUNT];
    struct wmi_moment stores[WMI_REGISTER_COUNT]; /* read as data by a wide store */
    struct wmi_moment setreg[WMI_HARDWARE_REGISTERS];
    struct wmi_moment fp_atomic; /* cleared by a wait or a vector instruction */
    struct wmi_moment trans_wrote[WMI_REGISTER_COUNT], part_wrote[WMI_REGISTER_COUNT];
    struct wmi_matrix_state matrix;
    struct wmi_unsettled_state unsettled;
};

/* A hazard of the instruction being executed. */
struct wmi_hazard_found {
    enum wmi_hazard_kind kind;
    int reg;          /* or -1 */
    uint32_t number;  /* of the earlier instruction */
    unsigned missing; /* wait states */
};

enum { WMI_HAZARDS_AT_ONCE = 4 };

/* Collects the hazards of one instruction. */
struct wmi_hazard_search {
    const struct wmi_hazard_state *state;
    struct wmi_hazard_found *found;
    unsigned count;
};

/* Reports a hazard if `first` was less than `states` wait states ago; wmi_hazard_look_at() takes `states`
 * from the table of hazards. */
void wmi_hazard_look(struct wmi_hazard_search *search, enum wmi_hazard_kind kind, int reg,
                     const struct wmi_moment *first, unsigned states);
void wmi_hazard_look_at(struct wmi_hazard_search *search, enum wmi_hazard_kind kind, int reg,
                        const struct wmi_moment *first);
/* Reports a hazard that no number of wait states resolves. */
void wmi_hazard_look_unsettled(struct wmi_hazard_search *search, enum wmi_hazard_kind kind, int reg,
                               const struct wmi_moment *first);

#endif
