/* SPDX-License-Identifier: MIT */
/* Guest memory through the API: given addresses, memory of the host, and changes while dispatches run. */
#include "wavemem/wavemem.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define OK(call)                                                                                             \
    do {                                                                                                     \
        struct wm_diag diag;                                                                                 \
        if ((call) != WM_OK)                                                                                 \
            fail_msg("%s: %s", #call, diag.message);                                                         \
    } while (0)

enum { PAGE = 4096 };

struct world {
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
};

/* A raw kernel for gfx900: s[0:1] is the address of its arguments, v0 the work-item. */
static struct world open_world(const char *text)
{
    struct world w;
    uint8_t *bytes;
    size_t size;
    char *messages;
    OK(wm_assemble(text, strlen(text), "kernel", "gfx900", WM_ASSEMBLE_RAW, &bytes, &size, &messages, &diag));
    OK(wm_object_open(bytes, size, "kernel", "gfx900", &w.object, &diag));
    free(bytes);
    free(messages);
    OK(wm_object_find_kernel(w.object, NULL, &w.kernel, &diag));
    OK(wm_machine_create("gfx900", &w.machine, &diag));
    OK(wm_load(w.machine, w.object, &diag));
    return w;
}

static void close_world(const struct world *w)
{
    wm_machine_destroy(w->machine);
    wm_object_close(w->object);
}

static struct wm_result run(const struct world *w, const struct wm_dispatch *given, uint64_t argument)
{
    struct wm_dispatch dispatch = *given;
    struct wm_result result = {.struct_size = sizeof result};
    dispatch.struct_size = sizeof dispatch;
    dispatch.arguments = &argument;
    dispatch.arguments_size = sizeof argument;
    OK(wm_dispatch(w->machine, w->object, w->kernel, &dispatch, &result, &diag));
    return result;
}

/* Adds 1 to the word of each work-item. */
static const char increments[] = "s_load_dwordx2 s[4:5], s[0:1], 0\n"
                                 "v_lshlrev_b32 v1, 2, v0\n"
                                 "s_waitcnt lgkmcnt(0)\n"
                                 "global_load_dword v2, v1, s[4:5]\n"
                                 "s_waitcnt vmcnt(0)\n"
                                 "v_add_u32 v2, 1, v2\n"
                                 "global_store_dword v1, v2, s[4:5]\n"
                                 "s_endpgm\n";

static void given_addresses(void **state)
{
    static const uint64_t addresses[] = {0x1000, 0x20000000000, 0x7ffffffff000, 0xffff800000000000,
                                         0xffffffffffffe000};
    const struct world w = open_world(increments);
    uint64_t before, after;
    (void)state;
    OK(wm_allocate(w.machine, 256, 0, "before", &before, &diag));
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        uint32_t words[64] = {[63] = (uint32_t)i};
        OK(wm_allocate_at(w.machine, addresses[i], 256, 0, "given", &diag));
        OK(wm_write(w.machine, addresses[i], words, sizeof words, &diag));
        const struct wm_result result =
            run(&w, &(struct wm_dispatch){.grid = {64}, .workgroup = {64}}, addresses[i]);
        assert_int_equal(result.fault.kind, WM_FAULT_NONE);
        OK(wm_read(w.machine, addresses[i], words, sizeof words, &diag));
        for (unsigned lane = 0; lane < 64; lane++)
            assert_int_equal(words[lane], 1 + (lane == 63 ? i : 0));
    }
    /* the machine goes around what is taken */
    OK(wm_allocate_at(w.machine, before + 0x100000, 4096, 0, "in the way", &diag));
    for (unsigned i = 0; i < 40; i++) {
        OK(wm_allocate(w.machine, 4096, 0, "after", &after, &diag));
        assert_true(after > before && (after + 4096 + 0x10000 <= before + 0x100000 ||
                                       after >= before + 0x100000 + 4096 + 0x10000));
    }
    close_world(&w);
}

static void queries(void **state)
{
    const struct world w = open_world(increments);
    struct wm_allocation found = {.struct_size = sizeof found};
    uint32_t own[16];
    char name[200];
    unsigned count = 0, wavemems = 0;
    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    OK(wm_allocate_at(w.machine, 0x50000, 5000, WM_READ_ONLY, name, &diag));
    OK(wm_map_host(w.machine, own, sizeof own, 0, 0, NULL, &diag));
    OK(wm_find_allocation(w.machine, 0x50000 + 4999, false, &found, &diag));
    assert_int_equal(found.address, 0x50000);
    assert_int_equal(found.size, 5000);
    assert_int_equal(found.flags, WM_READ_ONLY);
    assert_string_equal(found.name, name);
    assert_false(found.is_host || found.is_own);
    assert_ptr_equal(found.host, wm_host_pointer(w.machine, 0x50000, 5000));
    assert_int_equal(wm_find_allocation(w.machine, 0x50000 + 5000, false, &found, NULL), WM_NOT_FOUND);
    OK(wm_find_allocation(w.machine, (uintptr_t)&own[3], false, &found, &diag));
    assert_ptr_equal(found.host, own);
    assert_true(found.is_host);
    for (uint64_t at = 0; !wm_find_allocation(w.machine, at, true, &found, NULL);
         at = found.address + found.size) {
        count++;
        wavemems += found.is_own;
        if (found.is_own) {
            struct wm_diag diag;
            assert_int_equal(wm_free(w.machine, found.address, &diag), WM_BAD_ARGUMENT);
        }
    }
    assert_int_equal(count, 3);
    assert_int_equal(wavemems, 1); /* the code */
    close_world(&w);
}

/* The guest works on a page of the host, and faults on the bytes beside it. */
static void host_memory(void **state)
{
    const struct world w = open_world(increments);
    unsigned char *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t *words = (uint32_t *)(pages + PAGE);
    (void)state;
    assert_true(pages != MAP_FAILED && !mprotect(words, PAGE, PROT_READ | PROT_WRITE));
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t address = i ? 0x123456789000 : (uintptr_t)words;
        OK(wm_map_host(w.machine, words, PAGE, i ? address : 0, 0, "page", &diag));
        words[1] = 41;
        assert_int_equal(
            run(&w, &(struct wm_dispatch){.grid = {1024}, .workgroup = {1024}}, address).fault.kind,
            WM_FAULT_NONE);
        assert_int_equal(words[1], 42);
        assert_int_equal(words[1023], i + 1);
        for (unsigned beside = 0; beside < 2; beside++) {
            const struct wm_result result = run(&w, &(struct wm_dispatch){.grid = {64}, .workgroup = {64}},
                                                address + (beside ? PAGE - 252 : -4));
            assert_int_equal(result.fault.kind, WM_FAULT_MEMORY);
            assert_int_equal(result.fault.lanes, beside ? UINT64_C(1) << 63 : 1);
        }
        OK(wm_free(w.machine, address, &diag));
        assert_int_equal(run(&w, &(struct wm_dispatch){.grid = {64}, .workgroup = {64}}, address).fault.kind,
                         WM_FAULT_MEMORY);
        assert_int_equal(words[1], 42);
    }
    OK(wm_map_host(w.machine, words, PAGE, 0, WM_READ_ONLY, "page", &diag));
    assert_int_equal(
        run(&w, &(struct wm_dispatch){.grid = {64}, .workgroup = {64}}, (uintptr_t)words).fault.kind,
        WM_FAULT_READ_ONLY);
    munmap(pages, 3 * PAGE); /* it is only mapped, never touched */
    close_world(&w);
}

/* Observers of the machine hear of mappings, and reports that are too long say so. */
static void count_event(void *local, const struct wm_event *event)
{
    unsigned *counts = local;
    const unsigned kind = event->kind == WM_EVENT_MAP ? 0 : event->kind == WM_EVENT_ALLOCATE ? 1 : 2;
    assert_string_equal(event->memory.name, "page");
    assert_int_equal(event->memory.size, PAGE);
    assert_int_equal(event->memory.flags, WM_READ_ONLY);
    counts[kind]++;
}

static void events(void **state)
{
    const struct world w = open_world(increments);
    void *page = aligned_alloc(PAGE, PAGE);
    unsigned counts[3] = {0};
    uint64_t address;
    const struct wm_observer observer = {.struct_size = sizeof observer,
                                         .events = WM_EVENT_MAP | WM_EVENT_ALLOCATE | WM_EVENT_FREE,
                                         .user = counts,
                                         .event = count_event};
    (void)state;
    OK(wm_machine_observe(w.machine, &observer, &diag));
    OK(wm_map_host(w.machine, page, PAGE, 0, WM_READ_ONLY, "page", &diag));
    OK(wm_allocate(w.machine, PAGE, WM_READ_ONLY, "page", &address, &diag));
    OK(wm_free(w.machine, (uintptr_t)page, &diag));
    OK(wm_free(w.machine, address, &diag));
    OK(wm_machine_unobserve(w.machine, &observer, &diag));
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[1], 1);
    assert_int_equal(counts[2], 2);
    close_world(&w);
    free(page);
}

static void long_names(void **state)
{
    const struct world w = open_world(increments);
    char name[3000];
    uint64_t address;
    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    OK(wm_allocate(w.machine, 64, WM_READ_ONLY, name, &address, &diag));
    const struct wm_result result = run(&w, &(struct wm_dispatch){.grid = {1}}, address);
    assert_int_equal(result.fault.kind, WM_FAULT_READ_ONLY);
    assert_non_null(strstr(result.fault.text, "n...n"));
    for (const char *line = result.fault.text; *line; line += strcspn(line, "\n") + 1) {
        assert_true(strcspn(line, "\n") <= 300);
        if (!line[strcspn(line, "\n")])
            break;
    }
    close_world(&w);
}

/* ---- changes while dispatches run ---- */

/* Increments words until the first of them is large enough. */
static const char busy[] = "s_load_dwordx2 s[4:5], s[0:1], 0\n"
                           "v_lshlrev_b32 v1, 2, v0\n"
                           "v_mov_b32 v3, 1\n"
                           "s_mov_b32 s6, 3000\n"
                           "s_waitcnt lgkmcnt(0)\n"
                           "again:\n"
                           "global_atomic_add v1, v3, s[4:5]\n"
                           "s_sub_u32 s6, s6, 1\n"
                           "s_cmp_lg_u32 s6, 0\n"
                           "s_cbranch_scc1 again\n"
                           "s_endpgm\n";

struct changer {
    struct wm_machine *machine;
    int stop;
    unsigned rounds;
};

static void *change(void *user)
{
    struct changer *c = user;
    static uint32_t own[64];
    while (!__atomic_load_n(&c->stop, __ATOMIC_RELAXED)) {
        struct wm_allocation found = {.struct_size = sizeof found};
        uint64_t address;
        uint32_t word = c->rounds;
        OK(wm_allocate(c->machine, 100000, 0, "changing", &address, &diag));
        OK(wm_write(c->machine, address + 4, &word, 4, &diag));
        OK(wm_map_host(c->machine, own, sizeof own, 0, 0, "mapped", &diag));
        OK(wm_find_allocation(c->machine, (uintptr_t)own, false, &found, &diag));
        OK(wm_read(c->machine, address + 4, &word, 4, &diag));
        assert_int_equal(word, c->rounds);
        OK(wm_free(c->machine, (uintptr_t)own, &diag));
        OK(wm_free(c->machine, address, &diag));
        c->rounds++;
    }
    return NULL;
}

/* Others allocate and free all the time; no wave loses what it adds. */
static void changes_of_others(void **state)
{
    enum { ITEMS = 2048 };
    const struct world w = open_world(busy);
    struct changer changer = {.machine = w.machine};
    static uint32_t words[64];
    pthread_t thread;
    uint64_t sum = 0;
    (void)state;
    OK(wm_map_host(w.machine, words, sizeof words, 0, 0, "words", &diag));
    assert_int_equal(pthread_create(&thread, NULL, change, &changer), 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(
            run(&w, &(struct wm_dispatch){.grid = {ITEMS}, .workgroup = {64}, .threads = 2}, (uintptr_t)words)
                .fault.kind,
            WM_FAULT_NONE);
    __atomic_store_n(&changer.stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    for (unsigned i = 0; i < 64; i++)
        sum += words[i];
    assert_int_equal(sum, 4 * ITEMS * 3000);
    assert_true(changer.rounds > 0);
    close_world(&w);
}

/* progress() frees what the kernel uses: it ends with a fault, and the host's memory is not touched after
 * that. */
struct freer {
    const struct world *w;
    uint64_t address;
};

static bool frees(void *user, uint64_t done, uint64_t all)
{
    struct freer *f = user;
    (void)done, (void)all;
    if (f->address) {
        OK(wm_free(f->w->machine, f->address, &diag));
        munmap((void *)(uintptr_t)f->address, PAGE);
    }
    f->address = 0;
    return true;
}

static void freed_in_use(void **state)
{
    const struct world w = open_world("s_load_dwordx2 s[4:5], s[0:1], 0\n"
                                      "v_mov_b32 v1, 0\n"
                                      "s_waitcnt lgkmcnt(0)\n"
                                      "again:\n"
                                      "global_store_dword v1, v0, s[4:5]\n"
                                      "s_branch again\n");
    (void)state;
    for (unsigned threads = 1; threads < 3; threads++) {
        void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct freer freer = {&w, (uintptr_t)page};
        OK(wm_map_host(w.machine, page, PAGE, 0, 0, "page", &diag));
        const struct wm_result result = run(&w,
                                            &(struct wm_dispatch){.grid = {256},
                                                                  .workgroup = {64},
                                                                  .threads = threads,
                                                                  .progress = frees,
                                                                  .progress_user = &freer},
                                            (uintptr_t)page);
        assert_int_equal(freer.address, 0);
        assert_int_equal(result.fault.kind, WM_FAULT_MEMORY);
    }
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_addresses),   cmocka_unit_test(queries),      cmocka_unit_test(host_memory),
        cmocka_unit_test(changes_of_others), cmocka_unit_test(freed_in_use), cmocka_unit_test(events),
        cmocka_unit_test(long_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
