/* SPDX-License-Identifier: MIT */
/* Queues (wavemem/queue.h): order, dependencies, signals, cancellation, descriptors in memory. */
#include "wavemem/wavemem.h"

#include <malloc.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "unit/ok.h"

/* The kernarg segment: an address, a number, and another address. */
struct arguments {
    uint64_t out, number, flag;
};

/* add: each of 64 lanes adds the number to its word. wait: the wave waits until the flag is not 0, then
 * stores the number. raise: sets the flag. loop: sets the flag, then has no end. lds: reads back what it
 * wrote to LDS at the end of 512 bytes. */
static const char text[] = ".text\n.globl add\n.p2align 8\n.type add,@function\nadd:\n"
                           "s_load_dwordx4 s[8:11], s[0:1], 0\n"
                           "v_lshlrev_b32 v1, 2, v0\n"
                           "s_waitcnt lgkmcnt(0)\n"
                           "global_load_dword v2, v1, s[8:9]\n"
                           "s_waitcnt vmcnt(0)\n"
                           "v_add_u32 v2, s10, v2\n"
                           "global_store_dword v1, v2, s[8:9]\n"
                           "s_endpgm\n"
                           ".globl wait\n.p2align 8\n.type wait,@function\nwait:\n"
                           "s_load_dwordx4 s[8:11], s[0:1], 0\n"
                           "s_load_dwordx2 s[12:13], s[0:1], 16\n"
                           "v_mov_b32 v1, 0\n"
                           "s_waitcnt lgkmcnt(0)\n"
                           "again:\n"
                           "global_load_dword v2, v1, s[12:13] glc\n"
                           "s_waitcnt vmcnt(0)\n"
                           "v_readfirstlane_b32 s14, v2\n"
                           "s_cmp_eq_u32 s14, 0\n"
                           "s_cbranch_scc1 again\n"
                           "v_mov_b32 v2, s10\n"
                           "global_store_dword v1, v2, s[8:9]\n"
                           "s_endpgm\n"
                           /* half: the last of four workgroups stores to address 0, the others wait. */
                           ".globl half\n.p2align 8\n.type half,@function\nhalf:\n"
                           "s_load_dwordx2 s[12:13], s[0:1], 16\n"
                           "v_mov_b32 v1, 0\n"
                           "s_waitcnt lgkmcnt(0)\n"
                           "s_cmp_eq_u32 s2, 3\n"
                           "s_cbranch_scc1 wrong\n"
                           "still:\n"
                           "global_load_dword v2, v1, s[12:13] glc\n"
                           "s_waitcnt vmcnt(0)\n"
                           "v_readfirstlane_b32 s14, v2\n"
                           "s_cmp_eq_u32 s14, 0\n"
                           "s_cbranch_scc1 still\n"
                           "s_endpgm\n"
                           "wrong:\n"
                           "s_mov_b64 s[4:5], 0\n"
                           "global_store_dword v1, v1, s[4:5]\n"
                           "s_endpgm\n"
                           ".globl raise\n.p2align 8\n.type raise,@function\nraise:\n"
                           "s_load_dwordx2 s[12:13], s[0:1], 16\n"
                           "v_mov_b32 v1, 0\n"
                           "v_mov_b32 v2, 1\n"
                           "s_waitcnt lgkmcnt(0)\n"
                           "global_store_dword v1, v2, s[12:13]\n"
                           "s_endpgm\n"
                           ".globl loop\n.p2align 8\n.type loop,@function\nloop:\n"
                           "s_load_dwordx2 s[12:13], s[0:1], 16\n"
                           "v_mov_b32 v1, 0\n"
                           "v_mov_b32 v2, 1\n"
                           "s_waitcnt lgkmcnt(0)\n"
                           "global_store_dword v1, v2, s[12:13]\n"
                           "round:\n"
                           "s_add_u32 s6, s6, 1\n"
                           "s_branch round\n"
                           ".globl lds\n.p2align 8\n.type lds,@function\nlds:\n"
                           "s_load_dwordx2 s[8:9], s[0:1], 0\n"
                           "s_mov_b32 m0, -1\n"
                           "v_mov_b32 v1, 508\n"
                           "v_mov_b32 v2, 77\n"
                           "ds_write_b32 v1, v2\n"
                           "s_waitcnt lgkmcnt(0)\n"
                           "ds_read_b32 v3, v1\n"
                           "v_mov_b32 v1, 0\n"
                           "s_waitcnt lgkmcnt(0)\n"
                           "global_store_dword v1, v3, s[8:9]\n"
                           "s_endpgm\n"
#define DESCRIPTOR(name) DESCRIPTOR_WITH(name, "0")
#define DESCRIPTOR_WITH(name, ids)                                                                           \
    ".rodata\n.p2align 6\n.amdhsa_kernel " name "\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n"                \
    ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n.amdhsa_system_sgpr_workgroup_id_x " ids "\n"      \
    ".end_amdhsa_kernel\n"
    DESCRIPTOR("add") DESCRIPTOR("wait") DESCRIPTOR("raise") DESCRIPTOR("loop") DESCRIPTOR("lds")
        DESCRIPTOR_WITH("half", "1") ".amdgpu_metadata\n---\namdhsa.version: [1, 1]\namdhsa.kernels:\n"
#define METADATA(name)                                                                                       \
    "  - {.name: " name ", .symbol: " name ".kd, .kernarg_segment_size: 24, .group_segment_fixed_size: 0, "  \
    ".private_segment_fixed_size: 0, .kernarg_segment_align: 8, .wavefront_size: 64, .sgpr_count: 16, "      \
    ".vgpr_count: 8, .max_flat_workgroup_size: 256}\n"
    METADATA("add") METADATA("wait") METADATA("raise") METADATA("loop") METADATA("lds")
        METADATA("half") "...\n.end_amdgpu_metadata\n";

struct world {
    struct wm_machine *machine;
    struct wm_object *object;
    uint64_t memory; /* 1 MiB, mapped at its own address */
    char *host;
    size_t used;
};

static struct world open_world(void)
{
    enum { SIZE = 1 << 20 };
    struct world w = {0};
    uint8_t *bytes;
    size_t size;
    char *messages = NULL;
    if (wm_assemble(text, strlen(text), "kernels", "gfx900", 0, &bytes, &size, &messages, &diag))
        fail_msg("%s", messages ? messages : diag.message);
    OK(wm_object_open(bytes, size, "kernels", "gfx900", &w.object, &diag));
    free(bytes);
    free(messages);
    OK(wm_machine_create("gfx900", &w.machine, &diag));
    OK(wm_load(w.machine, w.object, &diag));
    w.host = aligned_alloc(4096, SIZE);
    memset(w.host, 0, SIZE);
    w.memory = (uintptr_t)w.host;
    OK(wm_map_host(w.machine, w.host, SIZE, 0, 0, "memory", &diag));
    return w;
}

static void close_world(struct world *w)
{
    wm_machine_destroy(w->machine);
    wm_object_close(w->object);
    free(w->host);
}

static void *take(struct world *w, size_t size)
{
    void *place = w->host + w->used;
    w->used += (size + 255) / 256 * 256;
    return place;
}

static uint64_t address_of(const void *place)
{
    return (uintptr_t)place;
}

static int64_t *new_signal(struct world *w, int64_t value)
{
    int64_t *signal = take(w, sizeof *signal);
    *signal = value;
    return signal;
}

static struct wm_packet packet_of(struct world *w, const char *kernel, const void *out, uint64_t number,
                                  const void *flag)
{
    char name[32];
    struct wm_packet packet = {.struct_size = sizeof packet, .grid = {64}, .workgroup = {64}};
    struct arguments *arguments = take(w, sizeof *arguments);
    *arguments = (struct arguments){address_of(out), number, address_of(flag)};
    snprintf(name, sizeof name, "%s.kd", kernel);
    OK(wm_symbol(w->machine, w->object, name, &packet.kernel_object, NULL, &diag));
    packet.kernarg_address = address_of(arguments);
    return packet;
}

static struct wm_queue *new_queue(const struct world *w)
{
    struct wm_queue *queue;
    OK(wm_queue_create(w->machine, &queue, &diag));
    return queue;
}

static uint64_t submit(struct wm_queue *queue, const struct wm_packet *packet)
{
    uint64_t ticket = 0;
    OK(wm_queue_submit(queue, packet, &ticket, &diag));
    assert_true(ticket > 0);
    return ticket;
}

static void finish(struct wm_queue *queue)
{
    bool completed = false;
    OK(wm_queue_wait(queue, 0, -1, &completed, &diag));
    assert_true(completed);
}

struct seen {
    unsigned calls;
    enum wm_status status;
    struct wm_result result;
    char message[sizeof(((struct wm_diag *)0)->message)];
};

static void see(void *user, enum wm_status status, const struct wm_result *result, const struct wm_diag *d)
{
    struct seen *seen = user;
    seen->calls++;
    seen->status = status;
    seen->result = *result;
    memcpy(seen->message, d->message, sizeof seen->message);
}

/* In order, with signals, callbacks and results. */
static void order(void **state)
{
    struct world w = open_world();
    struct wm_queue *queue = new_queue(&w);
    uint32_t *out = take(&w, 256);
    int64_t *signal = new_signal(&w, 20);
    struct seen seen = {0};
    struct wm_result results[20] = {{0}};
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        struct wm_packet packet = packet_of(&w, "add", out, i + 1, NULL);
        packet.completion_signal = address_of(signal);
        packet.completed = see;
        packet.user = &seen;
        packet.result = &results[i];
        results[i].struct_size = sizeof results[i];
        assert_int_equal(submit(queue, &packet), i + 1);
    }
    finish(queue);
    assert_int_equal(*signal, 0);
    assert_int_equal(seen.calls, 20);
    assert_int_equal(seen.status, WM_OK);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(out[i], 210);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(results[i].wave_instructions, 8);
    wm_queue_destroy(queue);
    close_world(&w);
}

struct late {
    const int64_t *signal;
    int64_t seen;
    unsigned looks; /* how often the submitter has looked for the end of the packet, and not seen it */
    bool saw_end;
};

/* Sees the signal, and lets the submitter look a few times more before it returns. */
static void see_late(void *user, enum wm_status status, const struct wm_result *result,
                     const struct wm_diag *d)
{
    struct late *late = user;
    (void)status, (void)result, (void)d;
    late->seen = __atomic_load_n(late->signal, __ATOMIC_ACQUIRE);
    const unsigned until = __atomic_load_n(&late->looks, __ATOMIC_ACQUIRE) + 3;
    while (__atomic_load_n(&late->looks, __ATOMIC_ACQUIRE) < until &&
           !__atomic_load_n(&late->saw_end, __ATOMIC_ACQUIRE))
        sched_yield();
}

/* The callback comes first; then, at once, the signal is decremented and the ticket completed: who sees one
 * of them sees the other. */
static void signal_and_ticket(void **state)
{
    struct world w = open_world();
    struct wm_queue *queue = new_queue(&w);
    uint32_t *out = take(&w, 256);
    int64_t *signal = new_signal(&w, 100);
    struct late late = {.signal = signal};
    (void)state;
    for (int64_t left = 99; left >= 0; left--) {
        bool completed = false;
        struct wm_packet packet = packet_of(&w, "add", out, 1, NULL);
        packet.completion_signal = address_of(signal);
        packet.completed = see_late;
        packet.user = &late;
        __atomic_store_n(&late.saw_end, false, __ATOMIC_RELEASE);
        const uint64_t ticket = submit(queue, &packet);
        if (left % 2)
            for (; __atomic_load_n(signal, __ATOMIC_ACQUIRE) != left; sched_yield())
                __atomic_fetch_add(&late.looks, 1, __ATOMIC_RELEASE);
        while (!completed) {
            OK(wm_queue_wait(queue, ticket, 0, &completed, &diag));
            assert_true(completed || left % 2 == 0);
            if (!completed)
                __atomic_fetch_add(&late.looks, 1, __ATOMIC_RELEASE);
        }
        __atomic_store_n(&late.saw_end, true, __ATOMIC_RELEASE);
        assert_int_equal(__atomic_load_n(signal, __ATOMIC_ACQUIRE), left);
        assert_int_equal(late.seen, left + 1);
    }
    wm_queue_destroy(queue);
    close_world(&w);
}

/* The second queue goes on when the first one has decremented a signal, whoever was submitted first. */
static void dependencies(void **state)
{
    struct world w = open_world();
    struct wm_queue *first = new_queue(&w), *second = new_queue(&w);
    uint32_t *out = take(&w, 256);
    int64_t *signals[2] = {new_signal(&w, 3), new_signal(&w, 1)};
    bool completed;
    (void)state;
    struct wm_packet late = packet_of(&w, "add", out, 1000, NULL);
    const uint64_t addresses[2] = {address_of(signals[0]), address_of(signals[1])};
    late.dependencies = addresses;
    late.dependency_count = 2;
    const uint64_t ticket = submit(second, &late);
    for (unsigned i = 0; i < 3; i++) {
        struct wm_packet early = packet_of(&w, "add", out, 1, NULL);
        early.completion_signal = address_of(signals[0]);
        submit(first, &early);
    }
    finish(first);
    OK(wm_queue_wait(second, ticket, 0.02, &completed, &diag));
    assert_false(completed); /* the other signal is the host's */
    assert_int_equal(out[63], 3);
    __atomic_store_n(signals[1], 0, __ATOMIC_RELEASE);
    finish(second);
    assert_int_equal(out[63], 1003);
    wm_queue_destroy(first);
    wm_queue_destroy(second);
    close_world(&w);
}

/* A kernel waits in a loop for one of another queue: no deadlock. */
static void kernels_of_two_queues(void **state)
{
    struct world w = open_world();
    struct wm_queue *first = new_queue(&w), *second = new_queue(&w);
    uint32_t *out = take(&w, 256), *flag = take(&w, 4);
    struct wm_result result = {.struct_size = sizeof result};
    (void)state;
    struct wm_packet waits = packet_of(&w, "wait", out, 55, flag);
    const struct wm_dispatch options = {
        .struct_size = sizeof options, .threads = 1, .waits_for_others = true, .timeout = 60};
    waits.options = &options;
    waits.result = &result;
    submit(first, &waits);
    const struct wm_packet raises = packet_of(&w, "raise", out, 0, flag);
    submit(second, &raises);
    finish(first);
    finish(second);
    assert_int_equal(result.fault.kind, WM_FAULT_NONE);
    assert_int_equal(out[0], 55);
    wm_queue_destroy(first);
    wm_queue_destroy(second);
    close_world(&w);
}

/* What others() returns, the last one again and again; how often it was called. */
struct answers {
    const uint64_t *numbers;
    unsigned count, asked;
    uint32_t *flag; /* set at the last number; or NULL */
};

static uint64_t answer(void *user)
{
    struct answers *answers = user;
    const unsigned i = answers->asked < answers->count ? answers->asked : answers->count - 1;
    answers->asked++;
    if (answers->flag && i == answers->count - 1)
        __atomic_store_n(answers->flag, 1, __ATOMIC_RELEASE);
    return answers->numbers[i];
}

/* Waiting is a deadlock when others() returns a number for the second time, and all have looked again in
 * between. */
static void deadlock_if_nobody_acts(void **state)
{
    static const uint64_t twice[] = {0, 1, 2, 0, 0, 3, 4, 0, 4}, released[] = {5}, unknown[] = {0, 0, 0, 0};
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct world w = open_world();
        uint32_t *out = take(&w, 256), *flag = take(&w, 4);
        struct wm_result result = {.struct_size = sizeof result};
        struct answers answers = {twice, sizeof twice / sizeof *twice, 0, NULL};
        const struct wm_dispatch options = {.struct_size = sizeof options,
                                            .threads = threads,
                                            .waits_for_others = true,
                                            .timeout = 60,
                                            .others = answer,
                                            .others_user = &answers};
        struct wm_packet waits = packet_of(&w, "wait", out, 55, flag);
        waits.options = &options;
        waits.result = &result;
        OK(wm_dispatch_packet(w.machine, &waits, &diag));
        assert_int_equal(result.fault.kind, WM_FAULT_DEADLOCK);
        assert_int_equal(answers.asked, answers.count);
        /* Memory that changed at the first call is seen before the second one. */
        answers = (struct answers){released, 1, 0, flag};
        OK(wm_dispatch_packet(w.machine, &waits, &diag));
        assert_int_equal(result.fault.kind, WM_FAULT_NONE);
        assert_int_equal(out[0], 55);
        __atomic_store_n(flag, 0, __ATOMIC_RELEASE);
        answers = (struct answers){unknown, 4, 0, flag};
        OK(wm_dispatch_packet(w.machine, &waits, &diag));
        assert_int_equal(result.fault.kind, WM_FAULT_NONE);
        close_world(&w);
    }
}

/* A kernel that waits for others ends all the same when one of its workgroups faults. */
static void fault_beside_waiting(void **state)
{
    struct world w = open_world();
    uint32_t *out = take(&w, 256), *flag = take(&w, 4);
    struct wm_result result = {.struct_size = sizeof result};
    const struct wm_dispatch options = {
        .struct_size = sizeof options, .waits_for_others = true, .timeout = 60};
    struct wm_packet packet = packet_of(&w, "half", out, 55, flag);
    (void)state;
    packet.grid[0] = 4 * 64;
    packet.options = &options;
    packet.result = &result;
    OK(wm_dispatch_packet(w.machine, &packet, &diag));
    assert_int_equal(result.fault.kind, WM_FAULT_MEMORY);
    assert_int_equal(result.fault.workgroup[0], 3);
    close_world(&w);
}

/* Alone it is one, unless the host may end the waiting. */
static void deadlock(void **state)
{
    struct world w = open_world();
    struct wm_queue *queue = new_queue(&w);
    uint32_t *out = take(&w, 256), *flag = take(&w, 4);
    struct seen seen = {0};
    (void)state;
    struct wm_packet waits = packet_of(&w, "wait", out, 55, flag);
    waits.completed = see;
    waits.user = &seen;
    submit(queue, &waits);
    finish(queue);
    assert_int_equal(seen.result.fault.kind, WM_FAULT_DEADLOCK);
    wm_queue_destroy(queue);
    close_world(&w);
}

static void cancellation(void **state)
{
    struct world w = open_world();
    struct wm_queue *queue = new_queue(&w);
    int64_t *never = new_signal(&w, 1), *done = new_signal(&w, 4);
    struct seen seen[4] = {{0}};
    uint64_t ticket[4];
    uint32_t *out = take(&w, 256), *begun = take(&w, sizeof *begun);
    bool completed = true;
    const uint64_t dependency = address_of(never);
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct wm_packet packet = packet_of(&w, i == 3 ? "add" : "loop", out, 9, begun);
        packet.completed = see;
        packet.user = &seen[i];
        packet.completion_signal = address_of(done);
        packet.dependencies = &dependency;
        packet.dependency_count = i == 1;
        ticket[i] = submit(queue, &packet);
    }
    while (!__atomic_load_n(begun, __ATOMIC_ACQUIRE))
        OK(wm_queue_wait(queue, ticket[0], 0.01, &completed, &diag));
    OK(wm_queue_wait(queue, ticket[0], 0, &completed, &diag));
    assert_false(completed);
    OK(wm_queue_cancel(queue, ticket[2], &diag)); /* has not begun */
    OK(wm_queue_cancel(queue, ticket[0], &diag)); /* runs */
    OK(wm_queue_wait(queue, ticket[0], -1, &completed, &diag));
    assert_true(completed);
    assert_int_equal(seen[0].result.fault.kind, WM_FAULT_STOPPED);
    assert_true(seen[0].result.wave_instructions > 0);
    OK(wm_queue_cancel(queue, ticket[1], &diag)); /* waits for the signal */
    finish(queue);
    assert_int_equal(seen[1].result.fault.kind, WM_FAULT_STOPPED);
    assert_int_equal(seen[2].result.fault.kind, WM_FAULT_STOPPED);
    assert_int_equal(seen[2].result.wave_instructions, 0);
    assert_int_equal(seen[3].result.fault.kind, WM_FAULT_NONE);
    assert_int_equal(out[0], 9);
    assert_int_equal(*done, 0);
    /* To destroy a queue ends what runs. */
    const struct wm_packet last = packet_of(&w, "loop", out, 0, begun);
    submit(queue, &last);
    submit(queue, &last);
    wm_machine_destroy(w.machine); /* has no effect */
    wm_queue_destroy(queue);
    close_world(&w);
}

/* A descriptor and code that the caller has put into memory, as drivers do; then other code at the same
 * place. */
static void descriptors_in_memory(void **state)
{
    static const uint32_t store[2] = {0x7e040280 | 5, 0x7e040280 | 6}; /* v_mov_b32 v2, 5 or 6 */
    struct world w = open_world();
    struct wm_queue *queue = new_queue(&w);
    unsigned char *own = take(&w, 4096);
    uint32_t *out = take(&w, 256);
    struct wm_packet packet = packet_of(&w, "add", out, 0, NULL);
    const int64_t offset = 256;
    struct wm_profile *profile;
    size_t count;
    (void)state;
    OK(wm_profile_create(&profile, &diag));
    const struct wm_dispatch options = {.struct_size = sizeof options, .profile = profile};
    OK(wm_read(w.machine, packet.kernel_object, own, 64, &diag));
    memcpy(own + 16, &offset, sizeof offset);
    packet.kernel_object = address_of(own);
    packet.private_segment_size = 64;
    packet.group_segment_size = 1024;
    packet.options = &options;
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t code[] = {0xc0060200, 0,          /* s_load_dwordx2 s[8:9], s[0:1], 0 */
                                 0x24020082,             /* v_lshlrev_b32 v1, 2, v0 */
                                 store[i],   0xbf8cc07f, /* s_waitcnt lgkmcnt(0) */
                                 0xdc708000, 0x00080201, /* global_store_dword v1, v2, s[8:9] */
                                 0xbf810000};
        memcpy(own + offset, code, sizeof code);
        submit(queue, &packet);
        finish(queue);
        for (unsigned lane = 0; lane < 64; lane++)
            assert_int_equal(out[lane], 5 + i);
    }
    const struct wm_profile_row *rows = wm_profile_rows(profile, &count);
    assert_int_equal(count, 2);
    assert_string_equal(rows[1].text, "global_store_dword v1, v2, s[8:9]");
    wm_queue_destroy(queue);
    close_world(&w);
    wm_profile_destroy(profile);
}

/* What profiles call code without a file: after its instructions, or as the packet says, which may change. */
static void named_code(void **state)
{
    static const uint32_t code[] = {0xc0060200, 0,          0x24020082, 0x7e040285,
                                    0xbf8cc07f, 0xdc708000, 0x00080201, 0xbf810000};
    static const char *const names[] = {NULL, "blur", "sharpen", "blur"};
    struct world w = open_world();
    unsigned char *own = take(&w, 4096), descriptor[64];
    struct wm_packet packet = packet_of(&w, "add", take(&w, 256), 0, NULL);
    struct wm_profile *profile;
    size_t count;
    (void)state;
    OK(wm_profile_create(&profile, &diag));
    const struct wm_dispatch options = {.struct_size = sizeof options, .profile = profile};
    OK(wm_read(w.machine, packet.kernel_object, descriptor, sizeof descriptor, &diag));
    memcpy(own, code, sizeof code);
    packet.kernel_object = address_of(own);
    packet.descriptor = descriptor;
    packet.options = &options;
    for (unsigned i = 0; i < 4; i++) {
        packet.name = names[i];
        OK(wm_dispatch_packet(w.machine, &packet, &diag));
    }
    const struct wm_profile_dispatch *dispatches = wm_profile_dispatches(profile, &count);
    assert_int_equal(count, 4);
    assert_memory_equal(dispatches[0].kernel, "shader ", 7);
    for (unsigned i = 1; i < 4; i++)
        assert_string_equal(dispatches[i].kernel, names[i]);
    close_world(&w);
    wm_profile_destroy(profile);
}

/* Drivers keep code in large allocations, in which shaders come and go, and describe it beside memory. */
static void code_in_an_arena(void **state)
{
    enum { ARENA = 256 << 10, SLOT = 256, TIMES = 3000, WARM = 1100 };
    struct world w = open_world();
    unsigned char *arena = take(&w, ARENA), descriptor[64];
    uint32_t *out = take(&w, 256);
    struct wm_packet packet = packet_of(&w, "add", out, 0, NULL);
    size_t warm = 0;
    (void)state;
    OK(wm_read(w.machine, packet.kernel_object, descriptor, sizeof descriptor, &diag));
    packet.descriptor = descriptor;
    for (unsigned i = 0; i < TIMES; i++) {
        const uint32_t code[] = {0xc0060200, 0, /* s_load_dwordx2 s[8:9], s[0:1], 0 */
                                 0x24020082,    /* v_lshlrev_b32 v1, 2, v0 */
                                 0x7e0402ff, i,
                                 0xbf8cc07f,             /* v_mov_b32 v2, i; s_waitcnt lgkmcnt(0) */
                                 0xdc708000, 0x00080201, /* global_store_dword v1, v2, s[8:9] */
                                 0xbf810000};
        unsigned char *place = arena + i * 7 % (ARENA / SLOT) * SLOT;
        memcpy(place, code, sizeof code);
        packet.kernel_object = address_of(place);
        OK(wm_dispatch_packet(w.machine, &packet, &diag));
        assert_int_equal(out[63], i);
        warm = i == WARM ? mallinfo2().uordblks : warm;
    }
    /* All slots were used by WARM; copies of the arena would take hundreds of MiB. Sanitizers say 0. */
    assert_true(mallinfo2().uordblks < warm + (2 << 20));
    packet.kernel_object = 64;
    assert_int_equal(wm_dispatch_packet(w.machine, &packet, &diag), WM_BAD_ARGUMENT);
    assert_non_null(strstr(diag.message, "its code would begin at 0x40"));
    close_world(&w);
}

static void segments(void **state)
{
    struct world w = open_world();
    struct wm_queue *queue = new_queue(&w);
    uint32_t *out = take(&w, 256);
    (void)state;
    for (unsigned size = 508; size <= 512; size += 4) {
        struct wm_packet packet = packet_of(&w, "lds", out, 0, NULL);
        packet.group_segment_size = size;
        out[0] = 1;
        submit(queue, &packet);
        finish(queue);
        assert_int_equal(out[0], size == 512 ? 77 : 0); /* beyond its LDS a load gives 0 */
    }
    wm_queue_destroy(queue);
    close_world(&w);
}

#define REFUSES(call)                                                                                        \
    do {                                                                                                     \
        diag = (struct wm_diag){0};                                                                          \
        assert_int_equal(call, WM_BAD_ARGUMENT);                                                             \
        assert_true(*diag.message);                                                                          \
    } while (0)

static void nonsense(void **state)
{
    struct world w = open_world();
    struct wm_queue *queue = new_queue(&w);
    uint32_t *out = take(&w, 256);
    const struct wm_packet good = packet_of(&w, "add", out, 1, NULL);
    struct seen seen = {0};
    bool completed;
    (void)state;
    const struct wm_dispatch with_grid = {.struct_size = sizeof with_grid, .grid = {1}};
    struct wm_result unset = {0};
    const uint64_t odd = w.memory + 4;
#define BAD(member, value)                                                                                   \
    do {                                                                                                     \
        struct wm_packet bad = good;                                                                         \
        bad.member = value;                                                                                  \
        REFUSES(wm_queue_submit(queue, &bad, NULL, &diag));                                                  \
    } while (0)
    BAD(struct_size, 3);
    BAD(kernel_object, 0);
    BAD(kernel_object, w.memory + 8);
    BAD(kernel_object, UINT64_MAX - 63);
    BAD(completion_signal, odd);
    BAD(completion_signal, 8);
    BAD(dependency_count, 1);
    BAD(options, &with_grid);
    BAD(result, &unset);
    struct wm_packet depends = good;
    depends.dependencies = &odd;
    depends.dependency_count = 1;
    REFUSES(wm_queue_submit(queue, &depends, NULL, &diag));
    /* a descriptor whose code would lie nowhere */
    int64_t *own = take(&w, 256);
    own[2] = INT64_MAX / 2;
    BAD(kernel_object, address_of(own));
    REFUSES(wm_queue_wait(queue, 1, 0, &completed, &diag));
    REFUSES(wm_queue_wait(queue, 0, NAN, &completed, &diag));
    REFUSES(wm_queue_cancel(queue, 1, &diag));
    /* what only execution can tell */
    struct wm_packet large = good;
    large.workgroup[0] = 2048;
    large.completed = see;
    large.user = &seen;
    submit(queue, &large);
    finish(queue);
    assert_int_equal(seen.status, WM_BAD_ARGUMENT);
    assert_non_null(strstr(seen.message, "2048"));
    wm_queue_destroy(queue);
    close_world(&w);
}

/* Reports do not depend on what runs beside a queue. */
static uint64_t accesses(bool beside)
{
    struct world w = open_world();
    struct wm_queue *queue = new_queue(&w), *other = new_queue(&w);
    uint32_t *out = take(&w, 256), *out2 = take(&w, 256);
    struct wm_profile *profile;
    uint64_t sum = 0, scratch;
    size_t count;
    OK(wm_profile_create(&profile, &diag));
    const struct wm_dispatch options = {.struct_size = sizeof options, .profile = profile};
    for (unsigned i = 0; i < 8; i++) {
        struct wm_packet packet = packet_of(&w, "add", out, 1, NULL),
                         extra = packet_of(&w, "add", out2, 1, NULL);
        packet.options = &options;
        packet.private_segment_size = extra.private_segment_size = 256;
        submit(queue, &packet);
        for (unsigned j = 0; j < 5 && beside; j++) {
            submit(other, &extra);
            OK(wm_allocate(w.machine, 4096, 0, "beside", &scratch, &diag));
        }
    }
    finish(queue);
    finish(other);
    const struct wm_profile_row *rows = wm_profile_rows(profile, &count);
    for (size_t i = 0; i < count; i++)
        sum = sum * 31 + rows[i].executions + rows[i].pc;
    wm_queue_destroy(queue);
    wm_queue_destroy(other);
    close_world(&w);
    wm_profile_destroy(profile);
    return sum;
}

static void same_beside_others(void **state)
{
    (void)state;
    assert_int_equal(accesses(false), accesses(true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order),
        cmocka_unit_test(signal_and_ticket),
        cmocka_unit_test(dependencies),
        cmocka_unit_test(kernels_of_two_queues),
        cmocka_unit_test(deadlock_if_nobody_acts),
        cmocka_unit_test(fault_beside_waiting),
        cmocka_unit_test(deadlock),
        cmocka_unit_test(cancellation),
        cmocka_unit_test(descriptors_in_memory),
        cmocka_unit_test(named_code),
        cmocka_unit_test(code_in_an_arena),
        cmocka_unit_test(segments),
        cmocka_unit_test(nonsense),
        cmocka_unit_test(same_beside_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
