/* SPDX-License-Identifier: MIT */
/* The registers of a wave as a list, as GDB's protocol and DAP show them. */
#ifndef WAVEMEM_DEBUG_REGISTERS_H
#define WAVEMEM_DEBUG_REGISTERS_H

#include "tool/debug/session.h"

enum { DEBUG_REGISTER_BYTES = 4 * DEBUG_LANES };

struct debug_register {
    char name[16];
    unsigned bytes, words; /* in the list; of the wave: half of vcc and exec in waves of 32 lanes */
    bool lanes;            /* one word for each */
    bool stands_in;        /* for one that gdb asks for and a wave does not have: 0 */
};

struct debug_registers {
    struct debug_register *one;
    size_t count;
};

/* pc, exec, vcc, scc, m0, mode; SGPRs, VGPRs, AccVGPRs that the kernel has. The caller frees list->one.
 * for_gdb: gdb, which knows no AMD GPU unless it is ROCm's, accepts only descriptions of processors that it
 * knows, so that those registers of riscv64 that it insists on come first. */
bool debug_registers_of(const struct debug_session *s, bool for_gdb, struct debug_registers *list);
bool debug_read_register(struct debug_session *s, const struct debug_register *one,
                         uint8_t bytes[DEBUG_REGISTER_BYTES]);
bool debug_write_register(struct debug_session *s, const struct debug_register *one, const uint8_t *bytes);
/* The target description of GDB's protocol, which the caller frees; NULL: no memory. */
char *debug_target_xml(const struct debug_session *s, const struct debug_registers *list);

#endif
