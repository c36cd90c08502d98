/* SPDX-License-Identifier: MIT */
/* Checks of many dispatches: what is found and covered does not depend on whether the kernel was lowered for
 * an earlier one, and code that has changed is lowered again. */
#include "check/check.h"
#include "unit/run_text.h"

enum {
    ALL = WM_CHECK_MEMORY | WM_CHECK_UNINIT | WM_CHECK_RACES | WM_CHECK_SYNC | WM_CHECK_WAITS |
          WM_CHECK_HAZARDS,
    LAUNCHES = 3,
};

struct launched {
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    struct wm_check *check;
};

static void launch(const struct launched *l)
{
    struct wm_diag diag;
    struct wm_result result = {.struct_size = sizeof result};
    const struct wm_dispatch dispatch = {
        .struct_size = sizeof dispatch, .grid = {128}, .workgroup = {128}, .check = l->check};
    if (wm_dispatch(l->machine, l->object, l->kernel, &dispatch, &result, &diag))
        fail_msg("%s", diag.message);
    assert_int_equal(result.fault.kind, WM_FAULT_NONE);
}

/* Two waves store to the same dwords; v2 is used before its load is known to be complete. The number of s_nop
 * makes kernels differ. */
static void add_kernel(const struct launched *l, const char *target, uint64_t memory, unsigned nops,
                       struct wm_object **object, const struct wm_kernel **kernel)
{
    struct wm_diag diag;
    struct text t = {0};
    uint8_t *code = NULL;
    char *messages = NULL;
    size_t bytes = 0;
    char name[16];
    snprintf(name, sizeof name, "k%u", nops);
    for (unsigned i = 0; i < nops; i++)
        add_text(&t, "s_nop 0\n");
    add_text(&t,
             "s_mov_b32 s2, 0x%x\ns_mov_b32 s3, 0x%x\nv_lshlrev_b32 v4, 2, v0\n"
             "global_load_dword v2, v4, s[2:3] offset:1024\nv_mov_b32 v3, v2\n"
             "v_and_b32 v1, 63, v0\nv_lshlrev_b32 v1, 2, v1\nglobal_store_dword v1, v0, s[2:3]\ns_endpgm\n",
             (uint32_t)memory, (uint32_t)(memory >> 32));
    if (wm_assemble(t.text, t.length, name, target, WM_ASSEMBLE_RAW, &code, &bytes, &messages, &diag))
        fail_msg("%s\n%s", diag.message, messages ? messages : "");
    assert_int_equal(wm_object_open(code, bytes, name, target, object, &diag), WM_OK);
    assert_int_equal(wm_object_find_kernel(*object, NULL, kernel, &diag), WM_OK);
    assert_int_equal(wm_load(l->machine, *object, &diag), WM_OK);
    free(code);
    free(messages);
    free(t.text);
}

static void open_kernel(struct launched *l, const char *target, uint64_t *memory)
{
    struct wm_diag diag;
    assert_int_equal(wm_machine_create(target, &l->machine, &diag), WM_OK);
    assert_int_equal(wm_check_create(ALL, &l->check, &diag), WM_OK);
    assert_int_equal(wm_check_machine(l->check, l->machine, &diag), WM_OK);
    assert_int_equal(wm_allocate(l->machine, 4096, 0, "memory", memory, &diag), WM_OK);
    assert_non_null(wm_host_pointer(l->machine, *memory, 4096));
    add_kernel(l, target, *memory, 0, &l->object, &l->kernel);
}

static void close_kernel(struct launched *l)
{
    wm_check_destroy(l->check);
    wm_machine_destroy(l->machine);
    wm_object_close(l->object);
}

static const struct wm_finding *finding_of(const struct launched *l, const char *rule)
{
    size_t count;
    const struct wm_finding *found = wm_check_findings(l->check, &count);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(found[i].rule, rule))
            return &found[i];
    fail_msg("no finding of %s among %zu", rule, count);
    return NULL;
}

static void expect_counts(const struct launched *l, unsigned launches)
{
    size_t count;
    assert_int_equal(finding_of(l, "race-global")->count, launches);
    assert_int_equal(finding_of(l, "read-before-wait")->count, 2 * launches);
    wm_check_findings(l->check, &count);
    assert_int_equal(count, 2);
    const struct wm_coverage *row = wm_check_coverage(l->check, &count);
    assert_int_equal(count, 1);
    assert_int_equal(row->launches, launches);
    assert_int_equal(row->code, 9);
    assert_int_equal(row->executed_code, 9);
    assert_int_equal(row->accesses[WM_COVER_GLOBAL], 4 * launches);
}

static void lowers_once(void **state)
{
    struct launched l;
    uint64_t memory;
    (void)state;
    open_kernel(&l, "gfx90a", &memory);
    const struct wmi_program *first = NULL;
    for (unsigned i = 1; i <= LAUNCHES; i++) {
        launch(&l);
        expect_counts(&l, i);
        struct wmi_program *program = wmi_check_take_program(l.check);
        assert_non_null(program);
        assert_true(!first || program == first);
        first = program;
        wmi_check_keep_program(l.check, program);
    }
    close_kernel(&l);
}

static void lowers_changed_code(void **state)
{
    struct launched l;
    uint64_t memory;
    struct wm_diag diag;
    const uint32_t v_mov_b32_v1_v0 = 0x7e020300;
    (void)state;
    open_kernel(&l, "gfx90a", &memory);
    launch(&l);
    launch(&l);
    expect_counts(&l, 2);
    const uint64_t store = finding_of(&l, "race-global")->pc;
    assert_int_equal(wm_write(l.machine, store - 8, &v_mov_b32_v1_v0, 4, &diag), WM_OK);
    launch(&l);
    assert_int_equal(finding_of(&l, "race-global")->count, 2); /* the waves store to different dwords now */
    assert_int_equal(finding_of(&l, "read-before-wait")->count, 6);
    close_kernel(&l);
}

/* More kernels than programs are kept, in turn and in another order: each finding is that of the kernel
 * alone, and those of two kernels that alternate are each lowered once. */
static void keeps_programs(void **state)
{
    enum { KERNELS = 20, MOST = 2 * KERNELS };
    struct launched l;
    struct wm_object *object[KERNELS];
    const struct wm_kernel *kernel[KERNELS];
    const struct wmi_program *program[2] = {NULL};
    uint64_t memory;
    size_t count;
    (void)state;
    open_kernel(&l, "gfx90a", &memory);
    struct wm_object *const first = l.object;
    for (unsigned i = 0; i < KERNELS; i++)
        add_kernel(&l, "gfx90a", memory, i, &object[i], &kernel[i]);
    for (unsigned i = 0; i < MOST; i++) {
        l.object = object[i * 7 % KERNELS];
        l.kernel = kernel[i * 7 % KERNELS];
        launch(&l);
    }
    const struct wm_finding *found = wm_check_findings(l.check, &count);
    assert_int_equal(count, 2 * KERNELS);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(found[i].count, strcmp(found[i].rule, "race-global") ? 4 : 2);
    const struct wm_coverage *row = wm_check_coverage(l.check, &count);
    assert_int_equal(count, KERNELS);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(row[i].launches, 2);
        assert_int_equal(row[i].code, row[i].executed_code);
        assert_int_equal(row[i].accesses[WM_COVER_GLOBAL], 4 * 2);
    }
    for (unsigned i = 0; i < 8; i++) {
        l.object = object[i % 2];
        l.kernel = kernel[i % 2];
        launch(&l);
        struct wmi_program *last = wmi_check_take_program(l.check);
        assert_true(!program[i % 2] || last == program[i % 2]);
        program[i % 2] = last;
        wmi_check_keep_program(l.check, last);
    }
    assert_true(program[0] != program[1]);
    l.object = first;
    close_kernel(&l);
    for (unsigned i = 0; i < KERNELS; i++)
        wm_object_close(object[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lowers_once), cmocka_unit_test(lowers_changed_code),
                                       cmocka_unit_test(keeps_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
