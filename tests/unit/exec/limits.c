/* SPDX-License-Identifier: MIT */
/* The limits documented in wavemem.h, as met by hostile kernels and huge requests. With ThreadSanitizer,
 * which makes it slow to fill memory and its amount meaningless, without the two tests that do. */
#include "wavemem/wavemem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
// clang-format off
#include <cmocka.h>
// clang-format on

/* A raw gfx900 kernel on a separate machine. s[0:1] hold the address of its arguments. */
struct guest {
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    struct wm_diag diag;
    struct wm_result result;
    uint64_t base;
    unsigned char *page; /* of the host, mapped; no kernel is told of it */
};

enum { PAGE = 4096, FILL = 0xa5 };

static void open_guest(struct guest *guest, const void *words, size_t bytes)
{
    assert_int_equal(wm_machine_create("gfx900", &guest->machine, &guest->diag), WM_OK);
    assert_int_equal(wm_object_open(words, bytes, "limits", "gfx900", &guest->object, &guest->diag), WM_OK);
    assert_int_equal(wm_object_find_kernel(guest->object, NULL, &guest->kernel, &guest->diag), WM_OK);
    assert_int_equal(wm_load(guest->machine, guest->object, &guest->diag), WM_OK);
    assert_int_equal(
        wm_symbol(guest->machine, guest->object, guest->kernel->name, &guest->base, NULL, &guest->diag),
        WM_OK);
    guest->page = aligned_alloc(PAGE, PAGE);
    assert_non_null(guest->page);
    memset(guest->page, FILL, PAGE);
    assert_int_equal(wm_map_host(guest->machine, guest->page, PAGE, 0, 0, "page", &guest->diag), WM_OK);
}

static void close_guest(struct guest *guest)
{
    for (unsigned i = 0; i < PAGE; i++)
        assert_int_equal(guest->page[i], FILL);
    free(guest->page);
    wm_machine_destroy(guest->machine);
    wm_object_close(guest->object);
}

static enum wm_status dispatch(struct guest *guest, struct wm_dispatch request)
{
    request.struct_size = sizeof request;
    guest->result = (struct wm_result){.struct_size = sizeof guest->result};
    return wm_dispatch(guest->machine, guest->object, guest->kernel, &request, &guest->result, &guest->diag);
}

static enum wm_fault_kind fault_of(struct guest *guest, struct wm_dispatch request)
{
    assert_int_equal(dispatch(guest, request), WM_OK);
    return guest->result.fault.kind;
}

#ifndef __has_feature
#define __has_feature(x) 0
#endif
enum { THREAD_SANITIZER = __has_feature(thread_sanitizer) };

/* Peak memory of this process in bytes; 0 with ThreadSanitizer, whose own memory use is a multiple. */
static uint64_t peak(void)
{
    if (THREAD_SANITIZER)
        return 0;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

// clang-format off
static const uint32_t end[] = {
    0xbf810000, /* s_endpgm */
};

static const uint32_t wait_for_ever[] = {
    0xbf82ffff, /* top: s_branch top */
};

/* Every iteration differs, so this does not count as waiting. */
static const uint32_t count_for_ever[] = {
    0x80048104, /* top: s_add_u32 s4, s4, 1 */
    0xbf82fffe, /* s_branch top */
};

/* Writes s_endpgm over the code it will reach, then jumps there: the old instructions remain valid until the
 * dispatch ends. */
static const uint32_t writes_itself[] = {
    0xbe841c00, /* s_getpc_b64 s[4:5] */
    0x8004a004, /* s_add_u32 s4, s4, 32: the address of target */
    0x82058005, /* s_addc_u32 s5, s5, 0 */
    0x7e0402ff, 0xbf810000, /* v_mov_b32_e32 v2, 0xbf810000 */
    0x7e000280, /* v_mov_b32_e32 v0, 0 */
    0xdc708000, 0x00040200, /* global_store_dword v0, v2, s[4:5] */
    0xbf930000, /* s_icache_inv */
    0xbf920002, /* target: s_trap 2 */
    0xbf810000, /* s_endpgm */
};
// clang-format on

static void refuses_huge_grids(void **state)
{
    (void)state;
    struct guest guest;
    open_guest(&guest, end, sizeof end);
    struct wm_dispatch request = {.grid = {UINT32_MAX, UINT32_MAX, UINT32_MAX}, .workgroup = {1, 1, 1}};
    assert_int_equal(dispatch(&guest, request), WM_BAD_ARGUMENT);
    assert_non_null(strstr(guest.diag.message, "2^64"));
    request.workgroup[0] = 1025;
    assert_int_equal(dispatch(&guest, request), WM_BAD_ARGUMENT);
    request = (struct wm_dispatch){.grid = {64}, .workgroup = {64}, .dynamic_lds = 65537};
    assert_int_equal(dispatch(&guest, request), WM_BAD_ARGUMENT);
    request = (struct wm_dispatch){
        .grid = {64}, .workgroup = {64}, .arguments = end, .arguments_size = (1 << 20) + 1};
    assert_int_equal(dispatch(&guest, request), WM_BAD_ARGUMENT);
    close_guest(&guest);
}

/* 2^64 - 2^33 + 1 workgroups that do nothing, and as many that never end: both reach the time limit. */
static void stops_huge_grids_in_time(void **state)
{
    (void)state;
    const struct wm_dispatch request = {
        .grid = {UINT32_MAX, UINT32_MAX, 1}, .workgroup = {1, 1, 1}, .threads = 2, .timeout = 0.1};
    struct guest guest;
    open_guest(&guest, end, sizeof end);
    assert_int_equal(fault_of(&guest, request), WM_FAULT_TIMEOUT);
    assert_true(guest.result.seconds < 10);
    close_guest(&guest);
    open_guest(&guest, count_for_ever, sizeof count_for_ever);
    assert_int_equal(fault_of(&guest, request), WM_FAULT_TIMEOUT);
    assert_true(guest.result.seconds < 10);
    close_guest(&guest);
}

/* More workgroups wait than may be kept unfinished: the dispatch ends within the documented memory limit. */
static void bounds_what_waits(void **state)
{
    (void)state;
    if (THREAD_SANITIZER)
        skip();
    struct guest guest;
    open_guest(&guest, wait_for_ever, sizeof wait_for_ever);
    const struct wm_dispatch request = {
        .grid = {UINT32_MAX, UINT32_MAX, 1}, .workgroup = {1024, 1, 1}, .threads = 2, .timeout = 100};
    const uint64_t before = peak();
    assert_int_equal(fault_of(&guest, request), WM_FAULT_DEADLOCK);
    assert_non_null(strstr(guest.result.fault.text, "too many wait"));
    assert_true(peak() - before < UINT64_C(1400) << 20);
    close_guest(&guest);
}

/* Straight-line code of more instructions than may be lowered. */
static void bounds_predecoded_code(void **state)
{
    (void)state;
    enum { INSTRUCTIONS = (1 << 22) + (1 << 17) };
    if (THREAD_SANITIZER)
        skip();
    uint32_t *words = malloc(4 * (INSTRUCTIONS + 1));
    struct guest guest;
    assert_non_null(words);
    for (size_t i = 0; i < INSTRUCTIONS; i++)
        words[i] = 0x80848104; /* s_sub_u32 s4, s4, 1 */
    words[INSTRUCTIONS] = end[0];
    open_guest(&guest, words, 4 * (INSTRUCTIONS + 1));
    assert_int_equal(fault_of(&guest, (struct wm_dispatch){.grid = {1}, .threads = 1}), WM_FAULT_CODE_LIMIT);
    const uint64_t pc = guest.result.fault.pc;
    assert_true(pc > guest.base + 4 * (1 << 21) && pc < guest.base + 4 * INSTRUCTIONS);
    assert_non_null(strstr(guest.result.fault.text, "s_sub_u32 s4, s4, 1"));
    close_guest(&guest);
    free(words);
}

static void keeps_code_for_a_dispatch(void **state)
{
    (void)state;
    struct guest guest;
    open_guest(&guest, writes_itself, sizeof writes_itself);
    const struct wm_dispatch request = {.grid = {64}, .workgroup = {64}, .threads = 1};
    assert_int_equal(fault_of(&guest, request), WM_FAULT_TRAP);
    assert_int_equal(fault_of(&guest, request), WM_FAULT_NONE); /* the next dispatch executes the new code */
    close_guest(&guest);
}

/* Workgroups from the second on store; the report is about the second one, with any number of threads. */
static void reports_stores_to_read_only_memory(void **state)
{
    // clang-format off
    static const uint32_t code[] = {
        0xc0060080, 0x00000000, /* s_load_dwordx2 s[2:3], s[0:1], 0x0 */
        0x7e000280, /* v_mov_b32_e32 v0, 0 */
        0xbf068004, /* s_cmp_eq_u32 s4, 0 */
        0xbf850002, /* s_cbranch_scc1 over */
        0xdc708008, 0x00020000, /* global_store_dword v0, v0, s[2:3] offset:8 */
        0xbf810000, /* over: s_endpgm */
    };
    // clang-format on
    (void)state;
    char text[1024] = "";
    for (uint32_t threads = 1; threads <= 4; threads++) {
        struct guest guest;
        uint64_t address;
        open_guest(&guest, code, sizeof code);
        assert_int_equal(wm_allocate(guest.machine, 64, WM_READ_ONLY, "table", &address, &guest.diag), WM_OK);
        const struct wm_dispatch request = {.grid = {64, 1, 100},
                                            .workgroup = {64, 1, 1},
                                            .arguments = &address,
                                            .arguments_size = sizeof address,
                                            .threads = threads};
        assert_int_equal(fault_of(&guest, request), WM_FAULT_READ_ONLY);
        const struct wm_fault *fault = &guest.result.fault;
        assert_int_equal(fault->workgroup[2], 1);
        assert_true(fault->low == address + 8 && fault->high == address + 11 && fault->lanes == UINT64_MAX);
        assert_int_equal(fault->pc, guest.base + 20);
        assert_non_null(strstr(fault->text, "store to read-only memory"));
        assert_non_null(strstr(fault->text, "global_store_dword v0, v0, s[2:3] offset:8"));
        assert_non_null(strstr(fault->text, "in 'table'"));
        assert_true(threads == 1 || !strcmp(text, fault->text));
        strcpy(text, fault->text);
        close_guest(&guest);
    }
}

static void bounds_guest_memory(void **state)
{
    (void)state;
    struct guest guest;
    uint64_t address;
    open_guest(&guest, end, sizeof end);
    assert_int_equal(wm_allocate(guest.machine, UINT64_C(513) << 30, 0, "huge", &address, &guest.diag),
                     WM_NO_MEMORY);
    assert_int_equal(wm_allocate(guest.machine, UINT64_MAX, 0, "huge", &address, &guest.diag), WM_NO_MEMORY);
    assert_int_equal(fault_of(&guest, (struct wm_dispatch){.grid = {64}, .threads = UINT32_MAX}),
                     WM_FAULT_NONE);
    close_guest(&guest);
}

/* ---- kernel descriptors with arbitrary contents ---- */

enum { DESCRIPTOR_BYTES = 64, DESCRIPTOR_DWORDS = DESCRIPTOR_BYTES / 4, MOST_FILE_BYTES = 1 << 16 };

struct file {
    unsigned char bytes[MOST_FILE_BYTES];
    size_t size, descriptor; /* offset of the 64-byte kernel descriptor */
};

static void read_file(struct file *file)
{
    unsigned char descriptor[DESCRIPTOR_BYTES];
    struct guest guest;
    uint64_t address;
    FILE *in = fopen(EXAMPLES "/vecadd.co", "rb");
    assert_non_null(in);
    file->size = fread(file->bytes, 1, sizeof file->bytes, in);
    fclose(in);
    open_guest(&guest, file->bytes, file->size);
    assert_int_equal(wm_symbol(guest.machine, guest.object, "vecadd.kd", &address, NULL, &guest.diag), WM_OK);
    assert_int_equal(wm_read(guest.machine, address, descriptor, sizeof descriptor, &guest.diag), WM_OK);
    close_guest(&guest);
    for (file->descriptor = 0; memcmp(file->bytes + file->descriptor, descriptor, sizeof descriptor);
         file->descriptor++)
        assert_true(file->descriptor + sizeof descriptor < file->size);
}

/* Opens the file, and runs a workgroup unless it is refused. Returns whether it ran. */
static bool run_claims(const struct file *file)
{
    struct guest guest = {0};
    const unsigned char arguments[32] = {0};
    enum wm_status status = wm_machine_create("gfx900", &guest.machine, &guest.diag);
    assert_int_equal(status, WM_OK);
    guest.diag.message[0] = 0;
    status = wm_object_open(file->bytes, file->size, "claims", NULL, &guest.object, &guest.diag);
    if (!status)
        status = wm_object_find_kernel(guest.object, NULL, &guest.kernel, &guest.diag);
    if (!status)
        status = wm_load(guest.machine, guest.object, &guest.diag);
    if (!status)
        status = dispatch(&guest, (struct wm_dispatch){.grid = {64},
                                                       .workgroup = {64},
                                                       .arguments = arguments,
                                                       .arguments_size = 28,
                                                       .threads = 1,
                                                       .max_instructions = 1000});
    if (status)
        assert_true(guest.diag.message[0]);
    wm_machine_destroy(guest.machine);
    wm_object_close(guest.object);
    return !status;
}

static void survives_what_descriptors_claim(void **state)
{
    static const uint32_t claims[] = {0, 1, 0x3f, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff};
    static struct file file;
    uint64_t random = 1;
    unsigned ran = 0, refused = 0;
    (void)state;
    read_file(&file);
    const struct file good = file;
    for (unsigned dword = 0; dword < DESCRIPTOR_DWORDS; dword++) {
        for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
            file = good;
            memcpy(file.bytes + file.descriptor + 4 * dword, &claims[i], sizeof claims[i]);
            *(run_claims(&file) ? &ran : &refused) += 1;
        }
    }
    for (unsigned i = 0; i < 500; i++) {
        file = good;
        for (unsigned bit = 0; bit < 3; bit++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            file.bytes[file.descriptor + (random >> 40) % DESCRIPTOR_BYTES] ^= 1 << (random >> 33) % 8;
        }
        *(run_claims(&file) ? &ran : &refused) += 1;
    }
    assert_true(ran > 100); /* otherwise little is tested */
    assert_true(refused > 10);
    assert_true(peak() < (uint64_t)3 << 30); /* including the previous tests */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_huge_grids),
        cmocka_unit_test(stops_huge_grids_in_time),
        cmocka_unit_test(bounds_what_waits),
        cmocka_unit_test(bounds_predecoded_code),
        cmocka_unit_test(keeps_code_for_a_dispatch),
        cmocka_unit_test(bounds_guest_memory),
        cmocka_unit_test(reports_stores_to_read_only_memory),
        cmocka_unit_test(survives_what_descriptors_claim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
