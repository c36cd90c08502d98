/* SPDX-License-Identifier: MIT */
/* libremu.so: runs code at host addresses on memory of the host, for programs that were written for the
 * emulator remu (tinygrad's). The guest's addresses are the host's.
 *
 * All functions may be called from several threads. */
#ifndef WAVEMEM_RUN_ASM_H
#define WAVEMEM_RUN_ASM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RUN_ASM_API __attribute__((visibility("default")))

enum run_asm_status {
    RUN_ASM_OK = 0,
    RUN_ASM_BAD_ARGUMENT = 1,
    RUN_ASM_FAULT =
        2, /* the code did what it may not do: an address outside the ranges, an endless loop, ... */
    RUN_ASM_NO_MEMORY = 3,
    RUN_ASM_UNSUPPORTED = 4,
};

/* Runs gfx1100 code in waves of 32 lanes: gx, gy, gz workgroups of lx, ly, lz work-items. s[0:1] holds
 * `args`, s13 to s15 the workgroup's number, v0 the packed number of the work-item; workgroups have 64 KiB of
 * LDS, work-items no scratch memory. The code may touch what the process has mapped when the call is made,
 * and write what is writable; all else is a fault, not a crash. Returns enum run_asm_status;
 * run_asm_message() explains it. */
RUN_ASM_API int32_t run_asm(const char *code, uint32_t size, uint32_t gx, uint32_t gy, uint32_t gz,
                            uint32_t lx, uint32_t ly, uint32_t lz, const uint64_t *args);

struct run_asm_range {
    uint64_t address, size; /* bytes of the host's memory */
    uint32_t read_only;     /* 0 or 1 */
};

struct run_asm_request {
    size_t struct_size;               /* sizeof(struct run_asm_request) */
    const char *target;               /* "gfx90a"; "gfx1100:wave64" for waves of 64 lanes */
    const void *code;                 /* a multiple of 4; runs where it is */
    uint64_t size;                    /* bytes */
    uint32_t groups[3], workgroup[3]; /* workgroups; work-items of each */
    /* COMPUTE_PGM_RSRC2: user SGPRs in bits 5:1, enabled workgroup ids in bits 9:7, which follow them,
     * work-item ids in bits 12:11. */
    uint32_t rsrc2;
    uint32_t scratch_bytes;             /* per lane */
    uint32_t lds_bytes;                 /* per workgroup */
    const uint32_t *user_sgprs;         /* s0 and those after it; user_sgpr_count of them */
    uint32_t user_sgpr_count;           /* at most the user SGPRs of rsrc2 */
    const struct run_asm_range *ranges; /* what the code may touch, besides itself; range_count of them */
    size_t range_count;
    uint64_t max_instructions; /* per wave; 0: 2^40 */
    double timeout;            /* seconds; 0: none */
    uint32_t threads;          /* 0: one per CPU */
};

/* The same with all that can be chosen. */
RUN_ASM_API int32_t run_asm_with(const struct run_asm_request *request);

/* What the calling thread's last call that did not return RUN_ASM_OK had to say: several lines after a fault.
 */
RUN_ASM_API const char *run_asm_message(void);

#ifdef __cplusplus
}
#endif

#endif
