/* SPDX-License-Identifier: MIT */
/* Checks for errors that the hardware lets pass. */
#ifndef WAVEMEM_CHECK_H
#define WAVEMEM_CHECK_H

#include "object.h"
#include "observe.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wm_machine;
struct wm_check; /* watches dispatches (wm_dispatch.check) and keeps what it finds */

/* What to check. Checks do not change what a kernel computes.
 * WM_CHECK_WAITS: registers that are used before the wait counters guarantee that their data has arrived.
 * WM_CHECK_HAZARDS: instructions that are closer together than the target requires (AMD's "manually inserted
 * wait states" and the distances that LLVM keeps). Both follow the documented guarantees, not actual
 * latencies.
 * WM_CHECK_UNINIT: values that nobody wrote, of global memory, LDS and private memory, if something depends
 * on them: reported at the load. WM_CHECK_ORIGINS: the same where something depends on them, and of
 * registers. Dispatches run on one thread. WM_CHECK_NEEDLESS: with WM_CHECK_WAITS, also notes of waits that
 * were needless whenever they were executed. WM_CHECK_EVERY_WAIT: with WM_CHECK_NEEDLESS, these notes for
 * each dispatch on its own, and notes of rule "needed-wait" for waits that were needed, so that the notes of
 * parts of a dispatch (wm_dispatch.first_workgroup) can be combined.
 * WM_CHECK_PORTABILITY: notes of what waves of 64 lanes order and waves of 32 would not, and of results that
 * depend on the order of workgroups (wm_check_shuffle).
 * WM_CHECK_FLOAT: NaNs, infinities and saturated integers that arise from finite numbers and reach a store.
 * wm_check_create() refuses what this version does not have. */
enum wm_check_what {
    WM_CHECK_WAITS = 1 << 0,
    WM_CHECK_HAZARDS = 1 << 1,
    WM_CHECK_MEMORY = 1 << 2,
    WM_CHECK_UNINIT = 1 << 3,
    WM_CHECK_RACES = 1 << 4,
    WM_CHECK_SYNC = 1 << 5,
    WM_CHECK_ORIGINS = 1 << 6,
    WM_CHECK_STRICT = 1 << 7,
    WM_CHECK_NEEDLESS = 1 << 8,
    WM_CHECK_PORTABILITY = 1 << 9,
    WM_CHECK_EVERY_WAIT = 1 << 10,
    WM_CHECK_FLOAT = 1 << 11,
};

enum wm_severity {
    WM_SEVERITY_ERROR, /* results may be wrong */
    WM_SEVERITY_NOTE,  /* worth knowing: correct, but costs time, or depends on what the target guarantees */
};

/* One violated rule at one instruction, over all checked dispatches. Who and where are of the first case, by
 * launch, workgroup and wave. Strings are valid as long as the finding. */
struct wm_finding {
    const char *rule;        /* "read-before-wait", or a hazard's name; docs/checking.md lists them */
    const char *message;     /* a sentence: the problem, the earlier instruction, what is missing */
    const char *source;      /* the document that states the rule, or NULL */
    const char *remedy;      /* what usually mends it, or NULL */
    enum wm_check_what what; /* one bit */
    enum wm_severity severity;
    uint64_t count; /* executions, counted per wave */
    /* The instruction. */
    const char *kernel;    /* symbol that contains it */
    const char *text;      /* in LLVM's syntax */
    const char *file;      /* source file, or NULL */
    unsigned line, column; /* 0 when unknown */
    uint64_t pc, offset;   /* guest address; bytes from the symbol, or from the start of code without one */
    /* The earlier instruction that it conflicts with; first_text is NULL if there is none. */
    const char *first_kernel, *first_text, *first_file;
    unsigned first_line, first_column;
    uint64_t first_pc, first_offset;
    /* Who. */
    uint32_t launch;   /* number of the checked dispatch, from 1 */
    uint32_t has_wave; /* 0: workgroup and wave are not known */
    uint32_t workgroup[3], wave;
    uint64_t lanes; /* 0: it is not about lanes */
    /* Memory; bytes is 0 if it is not about memory. */
    enum wm_space space;
    uint32_t pairs; /* 1: the rule is about pairs of instructions, so that another earlier one is another
                       finding */
    uint64_t address, bytes; /* first byte; bytes from there */
    const char *allocation;  /* name of the one that it lies in (of a code object's variable: of that), or of
                                the nearest; or NULL */
    uint64_t allocation_address, allocation_bytes; /* address 0: the private memory of a lane, and `address`
                                                      is an offset in it */
    /* The inlined functions that the instruction, and the earlier one, belong to: the innermost comes first.
     * NULL: none. */
    const struct wm_inlined *inlined, *first_inlined;
    size_t inlined_count, first_inlined_count;
    uint64_t distance; /* rule "needless-wait": 1 + the fewest instructions before the later wait (first_pc);
                          0: nothing was on its way */
    uint32_t by_allocation; /* 1: findings of this rule about the same allocation have the same cause,
                               wherever they are: it was never written, or is too small */
};

/* The bits of enum wm_check_what that this version has. */
WM_API unsigned wm_check_known(void);
/* "race"; of no single bit that stands for a class of findings "". */
WM_API const char *wm_check_class_name(enum wm_check_what what);
/* What the method of the class cannot see, for reports: "an index that leaves ..."; of no single bit that
 * stands for a class of findings "". docs/checking.md says more. */
WM_API const char *wm_check_class_limits(enum wm_check_what what);
/* what: bits of enum wm_check_what. */
WM_API enum wm_status wm_check_create(unsigned what, struct wm_check **check, struct wm_diag *diag);
WM_API void wm_check_destroy(struct wm_check *check);
/* Shows the check what happens to the machine's memory from now on: allocations, frees, what the host writes.
 * Call it before the first allocation: what is there already counts as allocated and written. The check must
 * be destroyed before the machine. WM_BAD_ARGUMENT: it watches a machine already. */
WM_API enum wm_status wm_check_machine(struct wm_check *check, struct wm_machine *machine,
                                       struct wm_diag *diag);
/* Repeats each dispatch for each seed, with its workgroups and the waves in them in another order, from the
 * same memory, and adds a finding (rules "order-dependent", "order-dependent-sum" and "order-fault", notes)
 * if the results differ or it does not end. Memory and the result are then those of the order of workgroup
 * numbers. count 0: no more. WM_BAD_ARGUMENT: a seed is 0, the check has no WM_CHECK_PORTABILITY, or a
 * dispatch is being checked. */
WM_API enum wm_status wm_check_shuffle(struct wm_check *check, const uint64_t *seeds, size_t count,
                                       struct wm_diag *diag);
/* Adds a finding (rule "leak", a note without an instruction: pc is 0) for each allocation of the machine of
 * wm_check_machine() that was made since then and has not been freed; wavemem's own do not count. Call it
 * once, when everything should have been freed. WM_BAD_ARGUMENT: the check watches no machine, has no
 * WM_CHECK_MEMORY, or a dispatch is being checked. */
WM_API enum wm_status wm_check_leaks(struct wm_check *check, struct wm_diag *diag);
/* Tells the check that the program has copied `size` bytes of the machine of wm_check_machine() from `from`
 * to `to`, another address of that machine, or to the host (to is 0). What nobody has written, nobody has
 * written in the copy either. If that is on the host, it is a finding without an instruction (rule
 * "uninit-copy", pc is 0): an error if nobody has written any of these bytes, else a note. A copy that begins
 * where the last one, of 1 MiB or more, has ended is its next piece, unless a dispatch has begun in between.
 * *unwritten (or NULL): how many of them nobody has written; 0 also without WM_CHECK_UNINIT. A dispatch may
 * be running.
 * WM_BAD_ARGUMENT: the check watches no machine; WM_OUT_OF_RANGE: the bytes at `from` do not lie in one
 * allocation. */
WM_API enum wm_status wm_check_copied(struct wm_check *check, uint64_t to, uint64_t from, uint64_t size,
                                      uint64_t *unwritten, struct wm_diag *diag);
/* The findings in order of their address; valid until the next dispatch or wm_check_destroy. */
WM_API const struct wm_finding *wm_check_findings(struct wm_check *check, size_t *count);

/* Instructions that access memory, by where: FLAT ones, whose address decides, on their own. */
enum wm_cover {
    WM_COVER_GLOBAL, /* GLOBAL, buffers and images */
    WM_COVER_FLAT,
    WM_COVER_LDS,
    WM_COVER_SCRATCH,
    WM_COVER_GDS,
    WM_COVER_SCALAR,
    WM_COVER_COUNT
};

/* What the check has seen of a kernel, over all launches. */
struct wm_coverage {
    const char *kernel; /* symbol */
    uint64_t launches, workgroups, waves;
    uint64_t instructions;        /* executed, counted per wave */
    uint64_t code, executed_code; /* instructions that its branches can reach, with functions that it calls;
                                     those of them that were executed. Whole blocks count */
    uint64_t accesses[WM_COVER_COUNT]; /* executed, counted per wave */
    uint32_t
        counts_accesses; /* 0: of a launch, a profile counted instead, and code and accesses are too low */
};

/* One row per kernel in the order of first launches; valid until the next dispatch or wm_check_destroy. */
WM_API const struct wm_coverage *wm_check_coverage(struct wm_check *check, size_t *count);

/* Code without a branch or a branch target between its ends, as far as a check knows it. */
struct wm_check_block {
    uint64_t from, to;     /* guest addresses */
    uint32_t instructions; /* in it */
    uint32_t executed;     /* 1: by some wave */
};

/* The blocks that `code` and `executed_code` of a row of wm_check_coverage() count, in the order of
 * addresses; valid until the next call, the next dispatch, or wm_check_destroy. NULL: there are none, or no
 * memory. */
WM_API const struct wm_check_block *wm_check_blocks(struct wm_check *check, size_t row, size_t *count);

#ifdef __cplusplus
}
#endif

#endif
