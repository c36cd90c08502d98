/* SPDX-License-Identifier: MIT */
/* Observers: callbacks for what happens while kernels run.
 *
 * An observer asks for kinds of events and gets those and no others. Any number of them may watch a dispatch
 * (wm_dispatch.observers) or a machine (wm_machine_observe); an observer changes nothing and costs nothing
 * where nobody asks for it. examples/observe.c is a complete one.
 *
 * ORDER. The events of a wave come in the order of its instructions, those of a workgroup in the order in
 * which its waves had their turns: a workgroup stays on one thread from its beginning to its end. Each
 * begin comes before everything that it holds and has its end. Between workgroups on different threads there
 * is no order.
 *
 * THREADS. Without begin_thread, or if workgroups may depend on one another (wm_find_dependence), a dispatch
 * runs on one thread, whatever wm_dispatch.threads says: callbacks come in the same order in every run.
 * Otherwise each worker thread has a `local` of its own, and which workgroups it runs, and addresses of their
 * scratch memory, differ from run to run. Callbacks for one `local` need no locks. */
#ifndef WAVEMEM_OBSERVE_H
#define WAVEMEM_OBSERVE_H

#include "gpu.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of events, as bits of wm_observer.events. `wm_event.kind` is one of them. */
enum wm_event_kind {
    /* of instructions; wm_event.pc, workgroup, wave and lanes are set */
    WM_EVENT_ACCESS = 1 << 0,         /* of memory, LDS or GDS: before it happens, with VALUES after it */
    WM_EVENT_INSTRUCTION = 1 << 1,    /* is about to be executed, waits and nops included */
    WM_EVENT_BLOCK = 1 << 2,          /* of instructions without branches is about to be executed */
    WM_EVENT_BARRIER_ARRIVE = 1 << 3, /* s_barrier, s_barrier_signal */
    WM_EVENT_BARRIER_LEAVE = 1 << 4,  /* s_barrier, s_barrier_wait: all have arrived */
    WM_EVENT_CACHE = 1 << 5,          /* an instruction writes back or invalidates caches */
    WM_EVENT_MESSAGE = 1 << 6,        /* s_sendmsg, s_sendmsghalt, s_sendmsg_rtn */
    /* of a dispatch; workgroup is set, and for waves wave and lanes */
    WM_EVENT_WAVE_BEGIN = 1 << 7,
    WM_EVENT_WAVE_END = 1 << 8,
    WM_EVENT_WORKGROUP_BEGIN = 1 << 9,
    WM_EVENT_WORKGROUP_END = 1 << 10,
    WM_EVENT_DISPATCH_BEGIN = 1 << 11, /* `local` is the observer's `user`; also for the next one */
    WM_EVENT_DISPATCH_END = 1 << 12,
    /* of a machine: for observers of wm_machine_observe, on the thread that makes the call, one event at a
     * time; `local` is `user` */
    WM_EVENT_ALLOCATE = 1 << 13, /* also what wavemem allocates: code objects, kernarg segments, scratch */
    WM_EVENT_FREE = 1 << 14,
    WM_EVENT_MAP = 1 << 15,          /* host memory becomes guest memory: wm_map_host */
    WM_EVENT_HOST_WRITE = 1 << 16,   /* wm_write, wm_load: is done */
    WM_EVENT_HOST_READ = 1 << 17,    /* wm_read */
    WM_EVENT_HOST_POINTER = 1 << 18, /* wm_host_pointer: the host may read and write there from now on */
    /* no event of its own: accesses come with the values of their registers */
    WM_EVENT_VALUES = 1 << 19,
    /* of instructions, as above */
    WM_EVENT_EXPORT = 1 << 20, /* exp */
    WM_EVENT_ALL = (1 << 21) - 1,
};

/* By which kind of instruction memory is accessed. */
enum wm_path {
    WM_PATH_SMEM,
    WM_PATH_BUFFER,
    WM_PATH_TBUFFER,
    WM_PATH_IMAGE,
    WM_PATH_FLAT,
    WM_PATH_GLOBAL,
    WM_PATH_SCRATCH,
    WM_PATH_DS,
    WM_PATH_GDS,      /* DS with the gds bit */
    WM_PATH_LDS_MOVE, /* the LDS side of loads to LDS and stores from LDS; their memory side has its own event
                       */
    WM_PATH_COUNT
};

enum wm_access_kind { WM_ACCESS_LOAD, WM_ACCESS_STORE, WM_ACCESS_ATOMIC };

/* Where addresses lie. WM_SPACE_LANES is no memory: ds_permute_b32 and its kin move data between lanes, four
 * bytes of address for each. */
enum wm_space { WM_SPACE_GLOBAL, WM_SPACE_LDS, WM_SPACE_GDS, WM_SPACE_LANES, WM_SPACE_COUNT };

/* What an atomic does to the value in memory (m) with the data (d, and e that it compares with). */
enum wm_atomic {
    WM_ATOMIC_NONE, /* no atomic, or one with no name here */
    WM_ATOMIC_SWAP,
    WM_ATOMIC_COMPARE_SWAP, /* m == e ? d : m */
    WM_ATOMIC_ADD,
    WM_ATOMIC_SUB,
    WM_ATOMIC_REVERSE_SUB, /* d - m */
    WM_ATOMIC_SIGNED_MIN,
    WM_ATOMIC_UNSIGNED_MIN,
    WM_ATOMIC_SIGNED_MAX,
    WM_ATOMIC_UNSIGNED_MAX,
    WM_ATOMIC_AND,
    WM_ATOMIC_OR,
    WM_ATOMIC_XOR,
    WM_ATOMIC_INC,       /* m >= d ? 0 : m + 1 */
    WM_ATOMIC_DEC,       /* m == 0 || m > d ? d : m - 1 */
    WM_ATOMIC_SUB_CLAMP, /* m >= d ? m - d : 0 */
    WM_ATOMIC_COND_SUB,  /* m >= d ? m - d : m */
    WM_ATOMIC_FLOAT_COMPARE_SWAP,
    WM_ATOMIC_FLOAT_MIN,
    WM_ATOMIC_FLOAT_MAX,
    WM_ATOMIC_FLOAT_ADD,
    WM_ATOMIC_PACKED_ADD_F16,
    WM_ATOMIC_PACKED_ADD_BF16,
    WM_ATOMIC_ORDERED_ADD,      /* global_atomic_ordered_add_b64 */
    WM_ATOMIC_MASKED_OR,        /* (m & ~d) | e */
    WM_ATOMIC_WRAP,             /* m >= d ? m - d : m + e */
    WM_ATOMIC_CONDITIONAL_SWAP, /* ds_condxchg32: each half becomes d's if d's sign bit is set */
    WM_ATOMIC_APPEND,           /* m plus the number of active lanes */
    WM_ATOMIC_CONSUME,          /* m minus it */
    WM_ATOMIC_COUNT
};

/* Cache bits of an instruction, under the names of gfx9. SC0 of gfx940 is GLC, NT is SLC, and so is a
 * non-temporal hint of gfx12; any scope of gfx12 beyond the compute unit is GLC. */
enum wm_policy {
    WM_POLICY_GLC = 1,
    WM_POLICY_SLC = 2,
    WM_POLICY_DLC = 4,
    WM_POLICY_NV = 8,
    WM_POLICY_SC1 = 16,
};

/* The scope that an instruction names; before gfx940, and on gfx10 and gfx11, there are only cache bits. */
enum wm_scope {
    WM_SCOPE_NONE,      /* the target's instructions name none */
    WM_SCOPE_WAVE,      /* gfx940: sc0 and sc1 are 0 */
    WM_SCOPE_WORKGROUP, /* gfx940: sc0 */
    WM_SCOPE_CU,        /* gfx12: SCOPE_CU */
    WM_SCOPE_ENGINE,    /* gfx12: SCOPE_SE */
    WM_SCOPE_DEVICE,    /* gfx940: sc1; gfx12: SCOPE_DEV */
    WM_SCOPE_SYSTEM,    /* gfx940: sc0 and sc1; gfx12: SCOPE_SYS */
    WM_SCOPE_COUNT
};

enum wm_register_file {
    WM_REGISTER_NONE,
    WM_REGISTER_SGPR,
    WM_REGISTER_VGPR,
    WM_REGISTER_AGPR,
    WM_REGISTER_OTHER
};

/* Registers of an instruction: file, first, first + 1, ..., first + count - 1. OTHER: VCC, M0 and the like.
 * With WM_EVENT_VALUES, values[i * stride + lane] is what register first + i has in the lane; scalar
 * registers have one value: stride 1, lane 0. Without it, and of an instruction that faulted, values is NULL.
 */
struct wm_registers {
    enum wm_register_file file; /* NONE: the instruction has no such registers */
    uint32_t first, count, stride;
    const uint32_t *values;
};

/* One place per lane. Lane l of `lanes` accesses wm_access.bytes from address[l] on, unless it is refused. */
struct wm_access_place {
    enum wm_space space;
    uint64_t lanes;
    /* Lanes of those that do not access anything: loads give 0. Out of an allocation, of LDS or of a buffer;
     * not aligned as they must be; with an address that is none. */
    uint64_t out_of_range, misaligned, no_address;
    const uint64_t *address;        /* per lane (64); of lanes not in `lanes` without meaning */
    const uint64_t *private_offset; /* of private memory: the lane's own offset; else NULL */
    uint32_t first_register;        /* of `data` or `result`, from 0 on, in which the place's bytes begin */
};

/* What one wave does to memory by one instruction. An instruction may have more than one such event: a load
 * to LDS, a block of more than 16 registers. */
struct wm_access {
    enum wm_path path;
    enum wm_access_kind kind;
    enum wm_atomic atomic;
    enum wm_scope scope;
    uint32_t policy; /* enum wm_policy */
    uint32_t bytes;  /* of each place */
    /* Places per lane: dwordx4 has one of 16 bytes, read2 two; private memory one for each dword. A FLAT
     * instruction whose lanes go to different spaces has one for each space. */
    uint32_t places;
    const struct wm_access_place *place;
    uint32_t wave_size; /* lanes of the wave, 32 or 64 */
    bool completed;     /* with WM_EVENT_VALUES: false if it faulted */
    /* What it stores: the registers before it. data[1] is DATA2 of DS instructions. And what it loads, or the
     * value before an atomic: the registers after it. Formats are not undone: a register has what the
     * instruction takes or gives. The LDS side of a move has the bytes moved as `result`, in no register. */
    struct wm_registers data[2], result;
};

enum { WM_BARRIER_WORKGROUP = -1, WM_BARRIER_CLUSTER = -3 }; /* numbers of barriers */

struct wm_barrier {
    int32_t number; /* WM_BARRIER_WORKGROUP, WM_BARRIER_CLUSTER, or of gfx12's named barriers 1 to 16 */
    bool waits;     /* arriving: the wave goes no further until the others are there (s_barrier) */
};

enum wm_cache_operation { WM_CACHE_WRITE_BACK = 1, WM_CACHE_INVALIDATE = 2, WM_CACHE_DISCARD = 4 };

struct wm_cache_control {
    uint32_t operations; /* enum wm_cache_operation */
    uint32_t caches;     /* 1 << enum wm_cache_level: that the instruction is about on this target */
    enum wm_scope scope;
    uint32_t policy;    /* enum wm_policy */
    bool volatile_only; /* lines marked volatile only */
};

struct wm_message {
    uint32_t id; /* SIMM16 of s_sendmsg, the source of s_sendmsg_rtn */
    uint32_t m0;
    const char *name;      /* "MSG_GS"; "": the target has no name for it */
    const char *operation; /* "GS_OP_EMIT", of messages with one; else "" */
};

/* What a wave hands to the fixed functions behind it: a position, a parameter, a colour. */
struct wm_export {
    uint32_t target;     /* as encoded */
    const char *name;    /* "mrt0", "pos1", "param2", "prim", "null"; "": the target has no name for it */
    uint32_t components; /* EN: bit i means component i, x to w */
    uint32_t wave_size;  /* lanes of the wave, 32 or 64 */
    /* values[i][lane] is component i; NULL: it is not enabled. If compressed, each has two components of 16
     * bits, low half first: values[0] x and y, values[1] z and w. */
    const uint32_t *values[4];
    bool compressed;
    bool done;       /* the wave's last export of this kind */
    bool valid_mask; /* EXEC says which pixels live (VM) */
    bool row;        /* M0 has the number of a row (ROW_EN, gfx11 and later) */
    uint32_t m0;
};

/* What begins or ends. */
struct wm_extent {
    bool completed;        /* at the end: by itself, not by a fault or because the dispatch was stopped */
    uint32_t waves;        /* of the workgroup */
    uint64_t instructions; /* at the end: executed */
    /* of dispatches */
    const char *kernel;
    uint32_t grid[3], workgroup_size[3]; /* work-items */
    uint32_t lds_bytes;                  /* of a workgroup */
};

struct wm_memory {
    uint64_t address, size; /* bytes */
    unsigned flags;         /* of an allocation or a mapping: WM_READ_ONLY */
    const char *name;       /* likewise, else NULL */
    const void *bytes; /* of host reads and writes: what was read or written, `size` of them; else NULL */
    bool is_own;       /* of an allocation: wavemem's, as code objects, kernarg segments and scratch are */
};

struct wm_event {
    enum wm_event_kind kind; /* says which of the union is set */
    uint64_t pc;             /* guest address of the instruction, or 0 */
    uint32_t workgroup[3], wave;
    uint64_t lanes; /* EXEC */
    union {
        struct wm_access access;       /* ACCESS */
        uint64_t block_end;            /* BLOCK: guest address behind it; pc is where it begins */
        struct wm_barrier barrier;     /* BARRIER_* */
        struct wm_cache_control cache; /* CACHE */
        struct wm_message message;     /* MESSAGE */
        struct wm_export exported;     /* EXPORT */
        struct wm_extent extent;       /* *_BEGIN, *_END */
        struct wm_memory memory;       /* ALLOCATE, FREE, MAP, HOST_* */
    };
};

struct wm_observer {
    size_t struct_size; /* sizeof(struct wm_observer) */
    uint64_t events;    /* enum wm_event_kind: what event() is called for */
    void *user;
    /* The event and all that it points to are valid during the call only. It may read and write guest memory
     * (wm_read, wm_write, wm_host_pointer, wm_find_allocation); functions that would change the machine
     * refuse. */
    void (*event)(void *local, const struct wm_event *event);
    /* Both or none, see THREADS. A thread's first and last call; returns the thread's `local`, NULL: there is
     * no memory, and wm_dispatch returns WM_NO_MEMORY. end_thread may run on several threads at once. */
    void *(*begin_thread)(void *user);
    void (*end_thread)(void *user, void *local);
    /* NULL, or asked when a dispatch is over: a text without a period that says what the observer could not
     * see (no memory, too much of it), or NULL: nothing. It comes to wm_result.incomplete. */
    const char *(*incomplete)(void *user);
};

struct wm_machine;

/* Shows the machine's events (ALLOCATE to HOST_POINTER) to the observer, which must live until
 * wm_machine_unobserve() or the end of the machine; other bits do nothing here. WM_BAD_ARGUMENT: a
 * struct_size of another version, no event(), unknown bits, or it is there already. */
WM_API enum wm_status wm_machine_observe(struct wm_machine *machine, const struct wm_observer *observer,
                                         struct wm_diag *diag);
/* WM_NOT_FOUND: it was not there. */
WM_API enum wm_status wm_machine_unobserve(struct wm_machine *machine, const struct wm_observer *observer,
                                           struct wm_diag *diag);

/* Names for reports: "access", "GLOBAL", "load", "LDS", "add", "device". "?": there is no such value. */
WM_API const char *wm_event_name(enum wm_event_kind kind);
WM_API const char *wm_path_name(enum wm_path path);
WM_API const char *wm_access_kind_name(enum wm_access_kind kind);
WM_API const char *wm_space_name(enum wm_space space);
WM_API const char *wm_atomic_name(enum wm_atomic atomic);
WM_API const char *wm_scope_name(enum wm_scope scope);

#ifdef __cplusplus
}
#endif

#endif
