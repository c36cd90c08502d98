/* SPDX-License-Identifier: MIT */
/* The check for memory errors: who, where and which bytes it names, for instructions of six targets; memory
 * that was freed or never is; dispatches that stop at violations; any number of threads. */
#include "unit/run_text.h"

static const char *const targets[] = {"gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"};
enum { TARGETS = sizeof targets / sizeof *targets, BYTES = 4 * TEXT_WORDS };

/* In the text, s[2:3] is `memory`, s[8:11] a V# of it, s[16:17] read-only memory. */
struct wrong {
    const char *text, *rule, *message;
    uint64_t lanes; /* of 32 */
    bool note;
    uint32_t lds;
};

static const struct wrong wrongs[] = {
    {"v_mov_b32 v1, 0x3ffc\nglobal_load_dword v2, v1, s[2:3]", NULL, NULL},
    {"v_mov_b32 v1, 0x4000\nglobal_load_dword v2, v1, s[2:3]", "out-of-bounds",
     "load of 4 bytes 0 bytes behind 'memory' of 16384 bytes", UINT32_MAX},
    {"v_mov_b32 v1, 0x3ffd\nglobal_load_dword v2, v1, s[2:3]", "out-of-bounds",
     "load of 4 bytes at byte 16381 of 'memory' of 16384 bytes: the last 1 lies behind it", UINT32_MAX},
    {"v_lshlrev_b32 v1, 9, v0\nv_add_u32 v1, 0x200, v1\nglobal_store_dwordx2 v1, v[2:3], s[2:3]",
     "out-of-bounds", "store of 8 bytes 0 bytes behind 'memory' of 16384 bytes", UINT64_C(1) << 31},
    {"s_sub_u32 s4, s2, 8\ns_subb_u32 s5, s3, 0\nv_mov_b32 v1, 0\nglobal_load_ubyte v2, v1, s[4:5]",
     "out-of-bounds", "load of 1 byte 8 bytes before 'memory' of 16384 bytes", UINT32_MAX},
    {"v_mov_b32 v1, 0x4000\nv_mov_b32 v2, 1\nglobal_atomic_add v1, v2, s[2:3]", "out-of-bounds",
     "atomic add of 4 bytes 0 bytes behind 'memory' of 16384 bytes", UINT32_MAX},
    {"v_mov_b32 v1, 2\nglobal_atomic_add v1, v2, s[2:3]", "misaligned", "atomic add of 4 bytes at address",
     UINT32_MAX},
    {"s_load_dwordx2 s[4:5], s[2:3], 0x3ffc", "out-of-bounds",
     "load of 8 bytes at byte 16380 of 'memory' of 16384 bytes: the last 4 lie behind it", 0},
    {"v_mov_b32 v4, 12\nv_mov_b32 v5, 0\nglobal_load_dword v2, v[4:5], off", "null-pointer",
     "load of 4 bytes at 0xc, a null pointer plus an offset", UINT32_MAX},
    {"v_mov_b32 v4, 0\nv_mov_b32 v5, 0x18000\nglobal_load_dword v2, v[4:5], off", "aperture",
     "load of 4 bytes at 0x1800000000000, which is no address of global memory", UINT32_MAX},
    {"v_mov_b32 v1, 4\nglobal_load_dword v2, v1, s[16:17]", NULL, NULL},
    {"v_mov_b32 v1, 4\nglobal_store_dword v1, v0, s[16:17]", "read-only-store",
     "store of 4 bytes to byte 4 of 'constant' of 256 bytes, which is read-only", UINT32_MAX},
    {"s_getpc_b64 s[4:5]\nv_mov_b32 v1, 0\nglobal_store_dword v1, v0, s[4:5]", "code-store",
     "the kernel's instructions", UINT32_MAX},
    /* from memory to the read-only allocation behind it */
    {"v_mov_b32 v1, s16\nv_sub_u32 v1, v1, v3\nv_subrev_u32 v1, s2, v1\nglobal_load_dword v2, v1, s[2:3]",
     "other-allocation", "bytes behind 'memory' of 16384 bytes, which its base address", UINT32_MAX},
    {"v_mov_b32 v1, 0\nbuffer_load_dword v2, v1, s[8:11], s12 offen offset:4", NULL, NULL},
    {"v_mov_b32 v1, 0x4000\nbuffer_load_dword v2, v1, s[8:11], s12 offen", "buffer-dropped",
     "stride 0, NUM_RECORDS 16384): index 0, offset 16384, SOFFSET 0 are out of range", UINT32_MAX, true},
    {"v_lshlrev_b32 v1, 10, v0\nbuffer_store_dword v2, v1, s[8:11], s12 offen", "buffer-dropped",
     "store of 4 bytes dropped by its V#", UINT32_MAX & ~UINT32_C(0xffff), true},
    {"v_mov_b32 v1, 60\nds_write_b32 v1, v0", NULL, NULL, .lds = 64},
    {"v_mov_b32 v1, 61\nds_write_b32 v1, v0", "lds-out-of-bounds",
     "store of 4 bytes at byte 61 of LDS: the last 1 lie behind the 64 of the workgroup", UINT32_MAX,
     .lds = 64},
    {"v_lshlrev_b32 v1, 2, v0\nds_add_u32 v1, v0", "lds-out-of-bounds",
     "atomic add of 4 bytes at byte 64 of LDS, 0 bytes behind the 64 of the workgroup", 0xffff0000,
     .lds = 64},
    {"v_mov_b32 v1, 1\nds_add_u32 v1, v0", "misaligned", "atomic add of 4 bytes at offset 0x1", UINT32_MAX,
     .lds = 64},
};
enum { WRONGS = sizeof wrongs / sizeof *wrongs };

static void write_wrong(struct text *text, struct text_run *run, const void *user)
{
    add_text(text, "s_mov_b32 s16, 0x%x\ns_mov_b32 s17, 0x%x\nv_mov_b32 v3, 0\n", (uint32_t)run->constant,
             (uint32_t)(run->constant >> 32));
    write_text(text, run, user);
}

static void expect(const char *target, const struct wrong *wrong, struct wm_check *check)
{
    size_t count;
    const struct wm_finding *found = wm_check_findings(check, &count);
    if (count != (wrong->rule ? 1 : 0) || (count && strcmp(found->rule, wrong->rule)))
        fail_msg("%s: %s\n%zu findings: %s: %s", target, wrong->text, count, count ? found->rule : "",
                 count ? found->message : "");
    if (!count)
        return;
    if (!strstr(found->message, wrong->message))
        fail_msg("%s: %s\n%s, not: %s", target, wrong->text, found->message, wrong->message);
    assert_int_equal(found->what, WM_CHECK_MEMORY);
    assert_int_equal(found->severity, wrong->note ? WM_SEVERITY_NOTE : WM_SEVERITY_ERROR);
    assert_int_equal(found->lanes, wrong->lanes);
    assert_int_equal(found->count, 1);
    assert_true(found->has_wave && found->wave == 0 && found->workgroup[0] == 0 && found->launch == 1);
    assert_non_null(found->source);
    assert_non_null(found->remedy);
}

static void names_what_is_wrong(void **state)
{
    static struct text_run run;
    struct wm_diag diag;
    (void)state;
    for (unsigned t = 0; t < TARGETS; t++)
        for (unsigned i = 0; i < WRONGS; i++)
            for (unsigned stops = 0; stops < 2; stops++) {
                const struct wrong *wrong = &wrongs[i];
                struct wm_check *check;
                assert_int_equal(wm_check_create(WM_CHECK_MEMORY, &check, &diag), WM_OK);
                memset(&run, 0, sizeof run);
                run_written(
                    targets[t], 32, &run, write_wrong, wrong->text,
                    (struct wm_dispatch){.check = check,
                                         .on_violation = stops ? WM_VIOLATION_STOPS : WM_VIOLATION_GOES_ON,
                                         .dynamic_lds = wrong->lds});
                expect(targets[t], wrong, check);
                assert_true(stops || run.fault.kind == WM_FAULT_NONE);
                wm_check_destroy(check);
            }
}

/* ---- memory that is freed ---- */

struct machine {
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    struct wm_check *check;
    uint8_t *code;
};

/* A machine that is watched from the start, and a kernel that adds 1 at `address`. */
static void open_machine(struct machine *m, const char *target)
{
    struct wm_diag diag;
    *m = (struct machine){0};
    assert_int_equal(wm_machine_create(target, &m->machine, &diag), WM_OK);
    assert_int_equal(wm_check_create(WM_CHECK_MEMORY, &m->check, &diag), WM_OK);
    assert_int_equal(wm_check_machine(m->check, m->machine, &diag), WM_OK);
}

static void add_at(struct machine *m, const char *target, uint64_t address, uint32_t workgroups,
                   uint32_t threads)
{
    struct wm_diag diag;
    struct wm_result result = {.struct_size = sizeof result};
    struct text t = {0};
    char *messages = NULL;
    size_t bytes;
    add_text(&t, "s_mov_b32 s4, 0x%x\ns_mov_b32 s5, 0x%x\nv_lshlrev_b32 v1, 2, v0\nv_mov_b32 v2, 1\n",
             (uint32_t)address, (uint32_t)(address >> 32));
    add_text(&t, "global_atomic_add v1, v2, s[4:5]\ns_endpgm\n");
    assert_int_equal(
        wm_assemble(t.text, t.length, target, target, WM_ASSEMBLE_RAW, &m->code, &bytes, &messages, &diag),
        WM_OK);
    assert_int_equal(wm_object_open(m->code, bytes, "test", target, &m->object, &diag), WM_OK);
    assert_int_equal(wm_object_find_kernel(m->object, NULL, &m->kernel, &diag), WM_OK);
    assert_int_equal(wm_load(m->machine, m->object, &diag), WM_OK);
    const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                         .grid = {32 * workgroups},
                                         .workgroup = {32},
                                         .threads = threads,
                                         .check = m->check,
                                         .on_violation = WM_VIOLATION_GOES_ON};
    assert_int_equal(wm_dispatch(m->machine, m->object, m->kernel, &dispatch, &result, &diag), WM_OK);
    free(messages);
    free(t.text);
}

static void close_machine(struct machine *m)
{
    wm_check_destroy(m->check);
    wm_machine_destroy(m->machine);
    wm_object_close(m->object);
    free(m->code);
}

static void freed_memory_is_known(void **state)
{
    struct wm_diag diag;
    (void)state;
    for (unsigned t = 0; t < TARGETS; t++) {
        struct machine m;
        uint64_t first, second;
        size_t count;
        open_machine(&m, targets[t]);
        assert_int_equal(wm_allocate(m.machine, 1000, 0, "first", &first, &diag), WM_OK);
        assert_int_equal(wm_allocate(m.machine, 128, 0, "second", &second, &diag), WM_OK);
        assert_int_equal(wm_free(m.machine, first, &diag), WM_OK);
        add_at(&m, targets[t], first + 16, 1, 1);
        const struct wm_finding *found = wm_check_findings(m.check, &count);
        assert_int_equal(count, 1);
        assert_string_equal(found->rule, "use-after-free");
        assert_string_equal(
            found->message,
            "atomic add of 4 bytes at byte 16 of 'first' of 1000 bytes, which has been freed");
        assert_string_equal(found->allocation, "first");
        assert_int_equal(found->allocation_address, first);
        assert_int_equal(found->address, first + 16);
        close_machine(&m);
    }
}

/* Memory that takes the place of freed memory is as good as any. */
static void reused_addresses_are_not_freed(void **state)
{
    struct wm_diag diag;
    struct machine m;
    size_t count;
    const uint64_t at = UINT64_C(0x20000000000);
    (void)state;
    open_machine(&m, "gfx900");
    assert_int_equal(wm_allocate_at(m.machine, at, 4096, 0, "old", &diag), WM_OK);
    assert_int_equal(wm_free(m.machine, at, &diag), WM_OK);
    assert_int_equal(wm_allocate_at(m.machine, at, 64, 0, "new", &diag), WM_OK);
    add_at(&m, "gfx900", at, 1, 1);
    const struct wm_finding *found = wm_check_findings(m.check, &count);
    assert_int_equal(count, 1); /* 16 lanes are behind it */
    assert_string_equal(found->rule, "out-of-bounds");
    assert_int_equal(found->lanes, 0xffff0000);
    close_machine(&m);
}

static void what_is_not_freed_leaks(void **state)
{
    struct wm_diag diag;
    struct machine m;
    struct wm_check *other;
    uint64_t kept, freed, also;
    size_t count;
    (void)state;
    open_machine(&m, "gfx900");
    assert_int_equal(wm_allocate(m.machine, 100, 0, "kept", &kept, &diag), WM_OK);
    assert_int_equal(wm_allocate(m.machine, 128, 0, "freed", &freed, &diag), WM_OK);
    assert_int_equal(wm_allocate(m.machine, 1, 0, NULL, &also, &diag), WM_OK);
    add_at(&m, "gfx900", freed, 1, 1); /* its own allocations and the code are not the program's */
    assert_int_equal(wm_free(m.machine, freed, &diag), WM_OK);
    assert_int_equal(wm_check_leaks(m.check, &diag), WM_OK);
    const struct wm_finding *found = wm_check_findings(m.check, &count);
    assert_int_equal(count, 2);
    assert_string_equal(found[0].rule, "leak");
    assert_string_equal(found[0].allocation, "kept");
    assert_non_null(strstr(found[0].message, "'kept' of 100 bytes has not"));
    assert_int_equal(found[0].pc, 0);
    assert_int_equal(found[0].severity, WM_SEVERITY_NOTE);
    assert_int_equal(found[1].address, also);
    assert_non_null(strstr(found[1].message, "an allocation of 1 byte has not"));
    close_machine(&m);
    assert_int_equal(wm_check_leaks(NULL, &diag), WM_BAD_ARGUMENT);
    assert_int_equal(wm_check_create(WM_CHECK_WAITS, &other, &diag), WM_OK);
    assert_int_equal(wm_check_leaks(other, &diag), WM_BAD_ARGUMENT);
    wm_check_destroy(other);
}

/* ---- threads ---- */

/* Of 256 workgroups, the first one is shown, and all are counted. */
static void threads_make_no_difference(void **state)
{
    struct wm_diag diag;
    (void)state;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        struct machine m;
        uint64_t address;
        size_t count;
        open_machine(&m, "gfx900");
        assert_int_equal(wm_allocate(m.machine, 64, 0, "short", &address, &diag), WM_OK);
        add_at(&m, "gfx900", address, 256, threads);
        const struct wm_finding *found = wm_check_findings(m.check, &count);
        assert_int_equal(count, 1);
        assert_string_equal(found->rule, "out-of-bounds");
        assert_int_equal(found->count, 256);
        assert_int_equal(found->workgroup[0], 0);
        assert_int_equal(found->lanes, 0xffff0000);
        close_machine(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_what_is_wrong),
        cmocka_unit_test(freed_memory_is_known),
        cmocka_unit_test(reused_addresses_are_not_freed),
        cmocka_unit_test(what_is_not_freed_leaks),
        cmocka_unit_test(threads_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
