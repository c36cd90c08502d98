/* SPDX-License-Identifier: MIT */
/* Host code of the representation: what all hosts share, and what each one provides. */
#ifndef WMI_EMIT_H
#define WMI_EMIT_H

#include "jit/allocate.h"
#include "jit/compile.h"
#include "jit/host.h"

/* A body that the code calls for some lanes: from where, and where it comes back. */
struct wmi_stub {
    size_t from, back;
    unsigned insn;
};

struct wmi_emitter {
    struct wmi_host host; /* the code */
    const struct wmi_ir_host *target;
    const struct wmi_block *block;
    const struct wmi_ir *ir;
    struct wmi_registers registers;
    bool partial;   /* the loop is for waves with inactive lanes */
    unsigned masks; /* sets of lanes that the loop has written so far */
    size_t save;    /* where the code is that executes the body of a step for lanes */
    struct wmi_stub stubs[WMI_IR_MOST];
    unsigned stub_count;
};

/* A kind of host. Each function adds code. */
struct wmi_ir_host {
    struct wmi_register_file file;
    /* A bit for each operation on lanes that it has not; steps that need one are interpreted. */
    uint64_t lacks;
    /* Code that the others call. Comes first. */
    void (*begin)(struct wmi_emitter *e);
    /* Where waves enter code that begins with the step, and where they go on with it. */
    void (*enter)(struct wmi_emitter *e, const struct wmi_op *op);
    void (*leave)(struct wmi_emitter *e, const struct wmi_op *op);
    /* Around a part: memory for slots; `calls`: it may call bodies. */
    void (*open)(struct wmi_emitter *e, unsigned slots, bool calls);
    void (*close)(struct wmi_emitter *e, unsigned slots, bool calls);
    /* An instruction for the wave, and for the lanes of a turn of the loop. */
    void (*once)(struct wmi_emitter *e, unsigned number);
    void (*in_loop)(struct wmi_emitter *e, unsigned number);
    /* needs_bits: the loop has sets of lanes as bits. */
    void (*before_loops)(struct wmi_emitter *e, bool needs_bits);
    size_t (*begin_loop)(struct wmi_emitter *e);
    void (*end_loop)(struct wmi_emitter *e, size_t top);
    /* Branches to where land() is called with their result; the first one for waves with inactive lanes. */
    size_t (*branch_if_partial)(struct wmi_emitter *e);
    /* If the wave's time slice has fewer instructions left, which else are subtracted from it; if a scalar of
     * 32 or 64 bits in the frame is 0, or is not. */
    size_t (*branch_if_slice_ends)(struct wmi_emitter *e, uint32_t instructions);
    size_t (*branch_if_zero)(struct wmi_emitter *e, uint32_t place, bool wide, bool zero);
    size_t (*branch)(struct wmi_emitter *e);
    void (*land)(struct wmi_emitter *e, size_t from);
    void (*stub)(struct wmi_emitter *e, const struct wmi_stub *stub);
};

extern const struct wmi_ir_host wmi_ir_arm64, wmi_ir_avx2;

void wmi_emit_ir(struct wmi_emitter *e, const struct wmi_ir *ir);

/* For hosts: whether the instruction is executed in the loop; the rows for a body; its step with these
 * operands, followed by one that comes back. */
bool wmi_emit_is_in_loop(const struct wmi_emitter *e, unsigned number);
uint32_t wmi_emit_repair_row(const struct wmi_emitter *e, unsigned which);
void wmi_emit_records(struct wmi_emitter *e, size_t step);

static inline bool wmi_emit_is_scalar(const struct wmi_emitter *e, unsigned number)
{
    return wmi_ir_is_scalar(wmi_ir_type_of(&e->ir->insn[number]));
}

#endif
