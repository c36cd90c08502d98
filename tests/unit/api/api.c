/* SPDX-License-Identifier: MIT */
/* What every public function does with parameters that make no sense: a status with a message, or nothing;
 * never a crash. And what callbacks of a dispatch may not do while it runs. */
#include "wavemem/wavemem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static struct wm_diag diag;

/* A call refuses its arguments, with or without somebody to say so to. */
static void refuses(enum wm_status with, enum wm_status without, const char *call)
{
    if (with != WM_BAD_ARGUMENT || without != WM_BAD_ARGUMENT || diag.status != WM_BAD_ARGUMENT ||
        !*diag.message)
        fail_msg("%s: '%s' and '%s', message '%s'", call, wm_status_name(with), wm_status_name(without),
                 diag.message);
    diag = (struct wm_diag){0};
}

#define REFUSES(function, ...)                                                                               \
    refuses(function(__VA_ARGS__, &diag), function(__VA_ARGS__, NULL), #function "(" #__VA_ARGS__ ")")

#define OK(call)                                                                                             \
    do {                                                                                                     \
        if ((call) != WM_OK)                                                                                 \
            fail_msg("%s: %s", #call, diag.message);                                                         \
    } while (0)

/* s_endpgm; and a loop without an end: s_add_u32 s6, s6, 1 and a branch back. */
static const uint32_t ends[] = {0xbf810000}, loops[] = {0x80068106, 0xbf82fffe};

struct world {
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    uint64_t buffer;
};

static struct world open_world(const uint32_t *code, size_t bytes)
{
    struct world w;
    OK(wm_machine_create("gfx900", &w.machine, &diag));
    OK(wm_object_open(code, bytes, "code", "gfx900", &w.object, &diag));
    OK(wm_object_find_kernel(w.object, NULL, &w.kernel, &diag));
    OK(wm_load(w.machine, w.object, &diag));
    OK(wm_allocate(w.machine, 64, 0, "buffer", &w.buffer, &diag));
    return w;
}

static void close_world(const struct world *w)
{
    wm_machine_destroy(w->machine);
    wm_object_close(w->object);
}

/* ---- status.h, isa.h ---- */

static bool goes_on(void *user, const struct wm_isa_form *form)
{
    (void)user;
    return form != NULL;
}

static void assembling(void **state)
{
    const char *folders[] = {NULL};
    const struct wm_assemble_options good = {.struct_size = sizeof good};
    struct wm_assemble_options bad = good;
    uint8_t *bytes = NULL;
    size_t size;
    char *messages = NULL;
    (void)state;
    assert_non_null(wm_version());
    assert_string_equal(wm_status_name((enum wm_status)77), "unknown status");
    assert_string_equal(wm_status_name((enum wm_status) - 1), "unknown status");
    assert_false(wm_target_known(NULL));
    assert_null(wm_target_generic(NULL));
    assert_null(wm_target_generic("gfx908"));
    assert_string_equal(wm_target_generic("gfx906:xnack-"), "gfx9-generic"); /* LLVM AMDGPUUsage */
    assert_string_equal(wm_target_generic("gfx1151"), "gfx11-generic");
    REFUSES(wm_assemble, NULL, 0, "n", "gfx900", 0, &bytes, &size, &messages);
    REFUSES(wm_assemble, "", 0, NULL, "gfx900", 0, &bytes, &size, &messages);
    REFUSES(wm_assemble, "", 0, "n", NULL, 0, &bytes, &size, &messages);
    REFUSES(wm_assemble, "", 0, "n", "gfx900", 0, NULL, &size, &messages);
    REFUSES(wm_assemble, "", 0, "n", "gfx900", 0, &bytes, NULL, &messages);
    REFUSES(wm_assemble, "", 0, "n", "gfx900", 0, &bytes, &size, NULL);
    REFUSES(wm_assemble, "", 0, "n", "gfx900", 64, &bytes, &size, &messages);
    REFUSES(wm_assemble_with, NULL, "", 0, "n", "gfx900", &bytes, &size, &messages);
    bad.struct_size = 1;
    REFUSES(wm_assemble_with, &bad, "", 0, "n", "gfx900", &bytes, &size, &messages);
    bad = good;
    bad.folder_count = 1;
    REFUSES(wm_assemble_with, &bad, "", 0, "n", "gfx900", &bytes, &size, &messages);
    bad.folders = folders;
    REFUSES(wm_assemble_with, &bad, "", 0, "n", "gfx900", &bytes, &size, &messages);
    bad = good;
    bad.symbol_count = 1;
    REFUSES(wm_assemble_with, &bad, "", 0, "n", "gfx900", &bytes, &size, &messages);
    bad.symbols = folders;
    REFUSES(wm_assemble_with, &bad, "", 0, "n", "gfx900", &bytes, &size, &messages);
    const char *symbols[] = {"n=1x"};
    bad.symbols = symbols;
    REFUSES(wm_assemble_with, &bad, "", 0, "n", "gfx900", &bytes, &size, &messages);
    assert_int_equal(wm_assemble("", 0, "n", "gfx1", 0, &bytes, &size, &messages, NULL), WM_NOT_FOUND);
    assert_null(bytes);
    free(messages);
}

static void decoding(void **state)
{
    char text[64];
    size_t length = 1;
    struct wm_instruction insn;
    struct wm_disassembler *d = NULL;
    struct wm_lines lines = {.code = ends, .size = 4, .end = 4, .text = text, .room = sizeof text};
    (void)state;
    assert_null(wm_target(NULL));
    assert_int_equal(wm_decode(NULL, ends, 1, &insn), 0);
    assert_int_equal(wm_decode(wm_target("gfx900"), NULL, 1, &insn), 0);
    assert_int_equal(wm_decode(wm_target("gfx900"), ends, 0, &insn), 0);
    assert_int_equal(wm_decode(wm_target("gfx900"), ends, 1, NULL), 0);
    assert_int_equal(wm_decode(wm_target("gfx900"), ends, 1, &insn), 1);
    assert_int_equal(wm_decode_in(NULL, ends, 1, 0, &insn), 0);
    assert_int_equal(wm_decode_in(wm_target("gfx900"), ends, 1, 1, NULL), 0);
    assert_int_equal(wm_decode_in(wm_target("gfx900"), ends, 1, 1, &insn), 1);
    assert_int_equal(wm_print(NULL, text, sizeof text), 0);
    assert_int_equal(wm_print(&insn, NULL, sizeof text), 0);
    assert_int_equal(wm_print(&insn, NULL, 0), strlen("s_endpgm"));
    insn.dwords = 77;
    assert_int_equal(wm_print(&insn, text, sizeof text), 0);
    assert_int_equal(wm_disassemble(NULL, ends, 1, text, sizeof text), 0);
    assert_int_equal(wm_disassemble("gfx900", NULL, 1, text, sizeof text), 0);
    assert_int_equal(wm_disassemble("gfx900", ends, 1, NULL, sizeof text), 0);
    assert_int_equal(wm_disassemble("gfx900", ends, 1, NULL, 0), 1);
    REFUSES(wm_disassembler_create, "gfx900", 0, NULL);
    REFUSES(wm_disassembler_create, "gfx900", 2, &d);
    assert_int_equal(wm_disassembler_create(NULL, 0, &d, NULL), WM_NOT_FOUND);
    wm_disassembler_destroy(NULL);
    OK(wm_disassembler_create("gfx900", 0, &d, &diag));
    assert_int_equal(wm_disassembler_next(NULL, ends, 1).dwords, 0);
    assert_int_equal(wm_disassembler_next(d, NULL, 1).dwords, 0);
    assert_string_equal(wm_disassembler_next(d, ends, 0).text, "");
    wm_disassembler_begin(NULL, 1);
    assert_int_equal(wm_disassembler_state(NULL), 0);
    assert_int_equal(wm_disassembler_lines(d, &lines, &length), 0); /* no room for a line */
    assert_int_equal(length, 0);
    assert_int_equal(wm_disassembler_lines(NULL, &lines, &length), 0);
    assert_int_equal(wm_disassembler_lines(d, NULL, &length), 0);
    assert_int_equal(wm_disassembler_lines(d, &lines, NULL), 0);
    lines.text = NULL;
    lines.room = WM_LINE_ROOM;
    assert_int_equal(wm_disassembler_lines(d, &lines, &length), 0);
    lines.code = NULL;
    assert_int_equal(wm_disassembler_lines(d, &lines, &length), 0);
    wm_disassembler_destroy(d);
}

static void instruction_set(void **state)
{
    static struct wm_isa_form form;
    char text[WM_ISA_WAIT];
    (void)state;
    assert_null(wm_target_at(SIZE_MAX));
    assert_false(wm_isa_row(SIZE_MAX, &(struct wm_isa_row){0}));
    assert_false(wm_isa_row(wm_isa_row_count(), &(struct wm_isa_row){0}));
    assert_false(wm_isa_row(0, NULL));
    assert_null(wm_isa_erratum(SIZE_MAX, 0));
    assert_null(wm_isa_erratum(0, SIZE_MAX));
    assert_false(wm_isa_matrix(SIZE_MAX, &(struct wm_isa_matrix){0}));
    for (size_t row = 0; row < wm_isa_row_count(); row++)
        assert_false(wm_isa_matrix(row, NULL));
    struct wm_matrix_place place;
    unsigned lines, columns;
    for (size_t row = 0; row < wm_isa_row_count(); row++) {
        assert_false(wm_isa_matrix_extent("gfx900", row, WM_MATRIX_A, NULL, &lines, &columns));
        if (!wm_isa_matrix_extent("gfx90a", row, WM_MATRIX_A, NULL, &lines, &columns))
            continue;
        assert_false(wm_isa_matrix_extent("gfx90a", row, WM_MATRIX_A, NULL, &lines, NULL));
        assert_false(wm_isa_matrix_extent("gfx1100", row, WM_MATRIX_A, NULL, &lines, &columns));
        assert_false(wm_isa_matrix_place("gfx90a", row, WM_MATRIX_A, NULL, 0, lines, 0, &place));
        assert_false(wm_isa_matrix_place("gfx90a", row, WM_MATRIX_A, NULL, 0, 0, columns, &place));
        assert_false(wm_isa_matrix_place("gfx90a", row, WM_MATRIX_A, NULL, 16, 0, 0, &place));
        assert_false(wm_isa_matrix_place("gfx90a", row, WM_MATRIX_A, NULL, 0, 0, 0, NULL));
    }
    assert_false(wm_isa_matrix_extent(NULL, 0, WM_MATRIX_A, NULL, &lines, &columns));
    assert_false(wm_isa_matrix_extent("gfx90a", SIZE_MAX, WM_MATRIX_A, NULL, &lines, &columns));
    double value;
    assert_false(wm_isa_element("gfx90a", "f8f6f4", 0, &value));
    assert_false(wm_isa_element("gfx90a", NULL, 0, &value));
    assert_false(wm_isa_element(NULL, "f16", 0, &value));
    assert_false(wm_isa_element("gfx90a", "f16", 0, NULL));
    assert_false(wm_isa_product(NULL, &(struct wm_isa_matrix){0}));
    assert_false(wm_isa_product(&(struct wm_instruction){.row = SIZE_MAX}, &(struct wm_isa_matrix){0}));
    assert_false(wm_isa_wait(0, NULL, text, sizeof text));
    assert_false(wm_isa_wait(SIZE_MAX, "gfx900", text, sizeof text));
    for (size_t row = 0; row < wm_isa_row_count(); row++)
        assert_false(wm_isa_wait(row, "gfx900", NULL, sizeof text));
    assert_int_equal(wm_isa_forms(NULL, goes_on, NULL), 0);
    assert_int_equal(wm_isa_forms("gfx900", NULL, NULL), 0);
    assert_int_equal(wm_isa_decode(NULL, ends, 1, &form), 0);
    assert_int_equal(wm_isa_decode("gfx900", NULL, 1, &form), 0);
    assert_int_equal(wm_isa_decode("gfx900", ends, 0, &form), 0);
    assert_int_equal(wm_isa_decode("gfx900", ends, 1, NULL), 0);
}

/* ---- object.h ---- */

static void objects(void **state)
{
    struct wm_object *object = NULL;
    struct wm_bundle *bundle = NULL;
    const uint8_t *bytes;
    const struct wm_kernel *kernel;
    struct wm_code code;
    (void)state;
    REFUSES(wm_object_open, NULL, 4, "n", "gfx900", &object);
    REFUSES(wm_object_open, ends, 4, "n", "gfx900", NULL);
    REFUSES(wm_object_open_file, NULL, "gfx900", &object);
    REFUSES(wm_object_open_file, "file", "gfx900", NULL);
    REFUSES(wm_object_open_code, NULL, "gfx900", &object);
    REFUSES(wm_object_open_code, "file", "gfx900", NULL);
    assert_int_equal(wm_object_open(NULL, 0, NULL, NULL, &object, NULL), WM_BAD_FILE);
    assert_int_equal(wm_object_open(ends, 4, "n", "gfx1", &object, NULL), WM_NOT_FOUND);
    wm_object_close(NULL);
    REFUSES(wm_bundle_open, NULL, 4, "n", &bundle);
    REFUSES(wm_bundle_open, ends, 4, "n", NULL);
    REFUSES(wm_bundle_open_file, NULL, &bundle);
    REFUSES(wm_bundle_open_file, "file", NULL);
    assert_int_equal(wm_bundle_open(ends, 4, NULL, &bundle, NULL), WM_NOT_FOUND);
    wm_bundle_close(NULL);
    assert_int_equal(wm_bundle_entry_count(NULL), 0);
    assert_null(wm_bundle_entry(NULL, 0));
    REFUSES(wm_bundle_bytes, NULL, 0, &bytes);
    assert_null(wm_object_target(NULL));
    assert_null(wm_object_target_id(NULL));
    assert_int_equal(wm_object_version(NULL), 0);
    assert_int_equal(wm_object_kernel_count(NULL), 0);
    assert_null(wm_object_kernel(NULL, 0));
    REFUSES(wm_object_find_kernel, NULL, "k", &kernel);
    char name[4] = "old";
    assert_string_equal(wm_source_name("k", name, 0), "old");
    assert_string_equal(wm_source_name(NULL, name, sizeof name), "");
    assert_int_equal(wm_object_code(NULL, &code, 1), 0);
    assert_null(wm_object_symbol(NULL, 0, NULL));
    assert_null(wm_object_label(NULL, 0));
    assert_int_equal(wm_object_state(NULL, 0), 0);
    assert_int_equal(wm_object_next_symbol(NULL, 0), UINT64_MAX);
    assert_int_equal(wm_object_wave_size(NULL, 0), 0);
    assert_false(wm_object_line(NULL, 0, NULL, NULL, NULL));
    assert_false(wm_kernel_line(NULL, NULL, NULL, NULL));
    assert_false(wm_object_inlined(NULL, 0, 0, NULL));
    assert_false(wm_object_variable(NULL, 0, 0, NULL));
    assert_false(wm_object_type(NULL, 1, NULL));
    assert_false(wm_object_member(NULL, 1, 0, NULL));
    assert_int_equal(wm_object_variable_read(NULL, 0, 0, NULL, NULL, 0), WM_VARIABLE_UNREADABLE);
    OK(wm_object_open(ends, 4, NULL, "gfx900", &object, &diag));
    REFUSES(wm_object_find_kernel, object, NULL, NULL);
    assert_null(wm_object_kernel(object, 1));
    assert_int_equal(wm_object_code(object, NULL, 1), 1);
    wm_object_close(object);
}

/* ---- machine.h ---- */

static void machines(void **state)
{
    const struct wm_observer observer = {.struct_size = 1};
    const struct world w = open_world(ends, sizeof ends);
    struct wm_machine *machine = NULL;
    uint64_t address;
    char bytes[4];
    (void)state;
    REFUSES(wm_machine_create, "gfx900", NULL);
    assert_int_equal(wm_machine_create(NULL, &machine, NULL), WM_NOT_FOUND);
    wm_machine_destroy(NULL);
    REFUSES(wm_set_apertures, NULL, UINT64_C(1) << 48, UINT64_C(2) << 48);
    REFUSES(wm_set_apertures, w.machine, 0, UINT64_C(2) << 48);
    REFUSES(wm_reset_gws, NULL);
    OK(wm_reset_gws(w.machine, NULL));
    REFUSES(wm_allocate, NULL, 4, 0, "n", &address);
    REFUSES(wm_allocate, w.machine, 0, 0, "n", &address);
    REFUSES(wm_allocate, w.machine, 4, WM_UNBOUND, "n", &address);
    REFUSES(wm_allocate, w.machine, 4, 4, "n", &address);
    REFUSES(wm_allocate, w.machine, 4, 0, "n", NULL);
    assert_int_equal(wm_allocate(w.machine, UINT64_MAX, 0, NULL, &address, NULL), WM_NO_MEMORY);
    REFUSES(wm_set_first_address, NULL, UINT64_C(1) << 44);
    REFUSES(wm_set_first_address, w.machine, 1 << 16);
    REFUSES(wm_set_first_address, w.machine, UINT64_C(1) << 47);
    REFUSES(wm_set_first_address, w.machine, (UINT64_C(1) << 44) + 4096);
    OK(wm_set_first_address(w.machine, UINT64_C(1) << 44, NULL));
    OK(wm_allocate(w.machine, 4, 0, "n", &address, NULL));
    assert_int_equal(address, UINT64_C(1) << 44);
    OK(wm_set_first_address(w.machine, UINT64_C(1) << 40, NULL));
    REFUSES(wm_allocate_at, NULL, 4096, 4, 0, "n");
    REFUSES(wm_allocate_at, w.machine, 0, 4, 0, "n");
    REFUSES(wm_allocate_at, w.machine, 4097, 4, 0, "n");
    REFUSES(wm_allocate_at, w.machine, 4096, 0, 0, "n");
    REFUSES(wm_allocate_at, w.machine, 4096, 4, 4, "n");
    REFUSES(wm_allocate_at, w.machine, UINT64_C(0x7ffffffff000), 4097, 0, "n");
    REFUSES(wm_allocate_at, w.machine, UINT64_C(1) << 47, 4, 0, "n");
    REFUSES(wm_allocate_at, w.machine, 0 - UINT64_C(4096), 4, 0, "n");
    REFUSES(wm_allocate_at, w.machine, w.buffer, 4, 0, "n");
    uint32_t host[4];
    REFUSES(wm_map_host, NULL, host, 4, 0, 0, "n");
    REFUSES(wm_map_host, w.machine, NULL, 4, 4096, 0, "n");
    REFUSES(wm_map_host, w.machine, host, 0, 0, 0, "n");
    REFUSES(wm_map_host, w.machine, host, UINT64_MAX, 0, 0, "n");
    REFUSES(wm_map_host, w.machine, host, 4, (uintptr_t)host + 4, 0, "n");
    REFUSES(wm_map_host, w.machine, host, 4, 0, 8, "n");
    struct wm_allocation allocation = {.struct_size = sizeof allocation};
    REFUSES(wm_find_allocation, NULL, w.buffer, false, &allocation);
    REFUSES(wm_find_allocation, w.machine, w.buffer, false, NULL);
    allocation.struct_size = 1;
    REFUSES(wm_find_allocation, w.machine, w.buffer, false, &allocation);
    allocation.struct_size = sizeof allocation;
    assert_int_equal(wm_find_allocation(w.machine, 5, false, &allocation, NULL), WM_NOT_FOUND);
    assert_int_equal(wm_find_allocation(w.machine, UINT64_MAX, true, &allocation, NULL), WM_NOT_FOUND);
    REFUSES(wm_share, NULL, w.buffer, -1);
    assert_int_equal(wm_share(w.machine, w.buffer + 1, -1, NULL), WM_NOT_FOUND);
    assert_int_equal(wm_share(w.machine, w.buffer, -1, NULL), WM_NO_MEMORY);
    REFUSES(wm_free, NULL, w.buffer);
    assert_int_equal(wm_free(w.machine, 0, NULL), WM_NOT_FOUND);
    assert_int_equal(wm_free(w.machine, w.buffer + 1, NULL), WM_NOT_FOUND);
    REFUSES(wm_write, NULL, w.buffer, bytes, 4);
    REFUSES(wm_write, w.machine, w.buffer, NULL, 4);
    REFUSES(wm_read, NULL, w.buffer, bytes, 4);
    REFUSES(wm_read, w.machine, w.buffer, NULL, 4);
    OK(wm_write(w.machine, w.buffer, NULL, 0, &diag));
    OK(wm_read(w.machine, w.buffer, NULL, 0, &diag));
    assert_int_equal(wm_read(w.machine, w.buffer, bytes, UINT64_MAX, NULL), WM_OUT_OF_RANGE);
    assert_int_equal(wm_write(w.machine, UINT64_MAX, bytes, 4, NULL), WM_OUT_OF_RANGE);
    assert_null(wm_host_pointer(NULL, w.buffer, 4));
    assert_null(wm_host_pointer(w.machine, w.buffer, UINT64_MAX));
    REFUSES(wm_machine_observe, NULL, &observer);
    REFUSES(wm_machine_observe, w.machine, NULL);
    REFUSES(wm_machine_observe, w.machine, &observer);
    REFUSES(wm_machine_unobserve, NULL, &observer);
    REFUSES(wm_machine_unobserve, w.machine, NULL);
    assert_int_equal(wm_machine_unobserve(w.machine, &observer, NULL), WM_NOT_FOUND);
    REFUSES(wm_load, NULL, w.object);
    REFUSES(wm_load, w.machine, NULL);
    REFUSES(wm_symbol, NULL, w.object, "raw", &address, NULL);
    REFUSES(wm_symbol, w.machine, NULL, "raw", &address, NULL);
    REFUSES(wm_symbol, w.machine, w.object, NULL, &address, NULL);
    REFUSES(wm_symbol, w.machine, w.object, "raw", NULL, NULL);
    OK(wm_symbol(w.machine, w.object, "raw", &address, NULL, &diag));
    close_world(&w);
}

static void count_event(void *local, const struct wm_event *event)
{
    (void)event;
    ++*(unsigned *)local;
}

static void forbidden(void *user, void *local)
{
    (void)user, (void)local;
    abort();
}

static void dispatches(void **state)
{
    static const struct wm_observer *const observers[] = {NULL};
    const struct world w = open_world(ends, sizeof ends), other = open_world(ends, sizeof ends);
    const struct wm_dispatch good = {.struct_size = sizeof good};
    struct wm_dispatch bad = good;
    struct wm_result result = {.struct_size = sizeof result}, strange = {.struct_size = 1};
    const struct wm_kernel copy = *w.kernel;
    (void)state;
    REFUSES(wm_dispatch, NULL, w.object, w.kernel, &good, &result);
    REFUSES(wm_dispatch, w.machine, NULL, w.kernel, &good, &result);
    REFUSES(wm_dispatch, w.machine, w.object, NULL, &good, &result);
    REFUSES(wm_dispatch, w.machine, w.object, w.kernel, NULL, &result);
    REFUSES(wm_dispatch, w.machine, w.object, w.kernel, &good, NULL);
    REFUSES(wm_dispatch, w.machine, w.object, w.kernel, &good, &strange);
    REFUSES(wm_dispatch, w.machine, w.object, other.kernel, &good, &result);
    REFUSES(wm_dispatch, w.machine, w.object, &copy, &good, &result);
    REFUSES(wm_dispatch, w.machine, other.object, other.kernel, &good, &result);
#define BAD(member, ...)                                                                                     \
    bad = good;                                                                                              \
    bad.member = __VA_ARGS__;                                                                                \
    REFUSES(wm_dispatch, w.machine, w.object, w.kernel, &bad, &result)
    BAD(struct_size, 1);
    BAD(workgroup[1], 1025);
    BAD(arguments_size, 1);
    BAD(arguments_size, UINT64_MAX);
    BAD(dynamic_lds, UINT32_MAX);
    BAD(timeout, -1);
    BAD(timeout, -INFINITY);
    BAD(timeout, NAN);
    BAD(alignment, (enum wm_alignment)77);
    BAD(alignment, (enum wm_alignment) - 1);
    BAD(scalar_cache, (enum wm_scalar_cache)77);
    BAD(scalar_cache, (enum wm_scalar_cache) - 1);
    BAD(on_violation, 2);
    BAD(on_violation, UINT32_MAX);
    BAD(observer_count, 1);
    BAD(first_workgroup, UINT64_MAX);
    BAD(workgroup_count, UINT64_MAX);
    bad.observers = observers;
    REFUSES(wm_dispatch, w.machine, w.object, w.kernel, &bad, &result);
    bad = good;
    for (unsigned i = 0; i < 3; i++)
        bad.grid[i] = UINT32_MAX;
    REFUSES(wm_dispatch, w.machine, w.object, w.kernel, &bad, &result);
    bad = good;
    bad.timeout = INFINITY;
    bad.threads = UINT32_MAX;
    OK(wm_dispatch(w.machine, w.object, w.kernel, &bad, &result, &diag));
    assert_int_equal(result.fault.kind, WM_FAULT_NONE);
    close_world(&w);
    close_world(&other);
}

/* A caller that was compiled with an older or a newer header. */
static void versions(void **state)
{
    const struct world w = open_world(ends, sizeof ends);
    struct {
        struct wm_dispatch known;
        uint64_t later;
    } request = {{.struct_size = sizeof request}, 0};
    struct {
        struct wm_result known;
        uint64_t later;
    } result = {{.struct_size = sizeof result}, 7};
    struct wm_result older = {.struct_size = offsetof(struct wm_result, waves), .waves = 99};
    struct wm_observer observer = {.struct_size = offsetof(struct wm_observer, begin_thread),
                                   .events = WM_EVENT_WAVE_BEGIN,
                                   .event = count_event,
                                   .end_thread = forbidden}; /* beyond its size: not there */
    const struct wm_observer *observers[] = {&observer};
    unsigned waves = 0;
    (void)state;
    observer.user = &waves;
    OK(wm_dispatch(w.machine, w.object, w.kernel, &request.known, &result.known, &diag));
    assert_int_equal(result.known.struct_size, sizeof result);
    assert_int_equal(result.known.waves, 1);
    assert_int_equal(result.later, 0);
    request.later = 1;
    REFUSES(wm_dispatch, w.machine, w.object, w.kernel, &request.known, &result.known);
    request.later = 0;
    request.known.struct_size = SIZE_MAX;
    REFUSES(wm_dispatch, w.machine, w.object, w.kernel, &request.known, &result.known);
    request.known.struct_size = offsetof(struct wm_dispatch, global_offset); /* before it was there */
    request.known.global_offset[0] = 1;
    request.known.observers = observers;
    request.known.observer_count = 1;
    OK(wm_dispatch(w.machine, w.object, w.kernel, &request.known, &older, &diag));
    assert_int_equal(waves, 1);
    assert_int_equal(older.struct_size, offsetof(struct wm_result, waves));
    assert_true(older.wave_instructions > 0);
    assert_int_equal(older.waves, 99);
    request.known.struct_size = sizeof request.known;
    REFUSES(wm_dispatch, w.machine, w.object, w.kernel, &request.known,
            &older); /* an offset for a raw kernel */
    close_world(&w);
}

static void ignore(void *user, const char *line)
{
    (void)user;
    (void)line;
}

static void steps(void **state)
{
    const struct world w = open_world(ends, sizeof ends), other = open_world(ends, sizeof ends);
    (void)state;
    struct wm_dependence dependence;
    REFUSES(wm_find_dependence, NULL, w.object, w.kernel, &dependence);
    REFUSES(wm_find_dependence, w.machine, NULL, w.kernel, &dependence);
    REFUSES(wm_find_dependence, w.machine, w.object, NULL, &dependence);
    REFUSES(wm_find_dependence, w.machine, w.object, w.kernel, NULL);
    REFUSES(wm_find_dependence, w.machine, w.object, other.kernel, &dependence);
    OK(wm_find_dependence(w.machine, w.object, w.kernel, &dependence, &diag));
    REFUSES(wm_kernel_steps, NULL, w.kernel, ignore, NULL);
    REFUSES(wm_kernel_steps, w.object, NULL, ignore, NULL);
    REFUSES(wm_kernel_steps, w.object, w.kernel, NULL, NULL);
    REFUSES(wm_kernel_steps, w.object, other.kernel, ignore, NULL);
    OK(wm_kernel_steps(w.object, w.kernel, ignore, NULL, &diag));
    close_world(&w);
    close_world(&other);
}

/* ---- stop.h ---- */

static void runs(void **state)
{
    const struct world w = open_world(loops, sizeof loops), other = open_world(ends, sizeof ends);
    const struct wm_dispatch good = {.struct_size = sizeof good};
    struct wm_dispatch bad = {.struct_size = sizeof bad, .timeout = -1};
    struct wm_run *run = NULL, *second = NULL;
    const struct wm_stop_at one = {.struct_size = sizeof one, .instructions = 1};
    struct wm_stop_at wrong = {.struct_size = 1};
    struct wm_stopped stopped = {.struct_size = sizeof stopped}, strange = {.struct_size = 1};
    struct wm_result result = {.struct_size = 1};
    const uint32_t group[3] = {0, 0, 0};
    uint32_t values[64];
    struct {
        struct wm_stop_at known;
        uint64_t later;
    } newer = {{.struct_size = sizeof newer, .instructions = 1}, 1};
    struct {
        struct wm_stopped known;
        uint64_t later;
    } longer = {{.struct_size = sizeof longer}, 7};
    (void)state;
    REFUSES(wm_run_begin, NULL, w.object, w.kernel, &good, &run);
    REFUSES(wm_run_begin, w.machine, NULL, w.kernel, &good, &run);
    REFUSES(wm_run_begin, w.machine, w.object, NULL, &good, &run);
    REFUSES(wm_run_begin, w.machine, w.object, w.kernel, NULL, &run);
    REFUSES(wm_run_begin, w.machine, w.object, w.kernel, &good, NULL);
    REFUSES(wm_run_begin, w.machine, w.object, other.kernel, &good, &run);
    REFUSES(wm_run_begin, w.machine, w.object, w.kernel, &bad, &run);
    bad.struct_size = 1;
    REFUSES(wm_run_begin, w.machine, w.object, w.kernel, &bad, &run);
    assert_null(run);
    struct wm_packet packet = {.struct_size = 1};
    struct wm_checkpoint *checkpoint = NULL;
    const struct wm_object *object;
    const struct wm_kernel *kernel;
    uint64_t bias;
    REFUSES(wm_run_begin_packet, NULL, &packet, &run);
    REFUSES(wm_run_begin_packet, w.machine, NULL, &run);
    REFUSES(wm_run_begin_packet, w.machine, &packet, &run);
    REFUSES(wm_run_begin_packet, w.machine, &packet, NULL);
    REFUSES(wm_packet_kernel, NULL, &packet, &object, &kernel, &bias);
    REFUSES(wm_packet_kernel, w.machine, NULL, &object, &kernel, &bias);
    REFUSES(wm_packet_kernel, w.machine, &packet, &object, &kernel, &bias);
    packet.struct_size = sizeof packet;
    packet.kernel_object = 3;
    REFUSES(wm_packet_kernel, w.machine, &packet, NULL, &kernel, &bias);
    REFUSES(wm_packet_kernel, w.machine, &packet, &object, NULL, &bias);
    REFUSES(wm_packet_kernel, w.machine, &packet, &object, &kernel, NULL);
    REFUSES(wm_packet_kernel, w.machine, &packet, &object, &kernel, &bias);
    REFUSES(wm_run_begin_packet, w.machine, &packet, &run);
    assert_null(run);
    REFUSES(wm_run_save, NULL, &checkpoint);
    REFUSES(wm_run_restore, NULL, NULL);
    wm_checkpoint_destroy(NULL);
    assert_int_equal(wm_checkpoint_bytes(NULL), 0);
    REFUSES(wm_run_to, NULL, &one, &stopped);
    REFUSES(wm_run_select, NULL, group, 0, &stopped);
    REFUSES(wm_run_get, NULL, "s0", values, 1);
    REFUSES(wm_run_set, NULL, "s0", values, 1);
    REFUSES(wm_run_read_lds, NULL, 0, values, 4);
    REFUSES(wm_run_write_lds, NULL, 0, values, 4);
    REFUSES(wm_run_read_private, NULL, 0, 0, values, 4);
    REFUSES(wm_run_write_private, NULL, 0, 0, values, 4);
    REFUSES(wm_run_end, NULL, true, NULL);
    OK(wm_run_begin(w.machine, w.object, w.kernel, &good, &run, &diag));
    OK(wm_run_begin(w.machine, w.object, w.kernel, &good, &second, &diag)); /* another one */
    OK(wm_run_end(second, true, NULL, &diag));
    REFUSES(wm_run_select, run, group, 0, &stopped); /* no wave is stopped */
    REFUSES(wm_run_get, run, "s0", values, 1);
    REFUSES(wm_run_set, run, "s0", values, 1);
    REFUSES(wm_run_read_lds, run, 0, values, 0);
    REFUSES(wm_run_write_lds, run, 0, values, 0);
    REFUSES(wm_run_save, run, &checkpoint);
    REFUSES(wm_run_restore, run, NULL);
    REFUSES(wm_run_to, run, &one, NULL);
    REFUSES(wm_run_to, run, &one, &strange);
    REFUSES(wm_run_to, run, &wrong, &stopped);
    REFUSES(wm_run_to, run, &newer.known, &stopped);
    newer.later = 0;
    OK(wm_run_to(run, &newer.known, &longer.known, &diag));
    assert_int_equal(longer.known.struct_size, sizeof longer);
    assert_int_equal(longer.known.kind, WM_STOP_STEP);
    assert_int_equal(longer.later, 0);
    wrong = one;
    wrong.access_low = 4;
    wrong.access_high = 3;
    REFUSES(wm_run_to, run, &wrong, &stopped);
    wrong = one;
    wrong.range_count = 1;
    REFUSES(wm_run_to, run, &wrong, &stopped);
    wrong.ranges = &(const struct wm_stop_range){.low = 4, .high = 4, .loads = true};
    REFUSES(wm_run_to, run, &wrong, &stopped);
    wrong = one;
    wrong.at_wave_end = true;
    REFUSES(wm_run_to, run, &wrong, &stopped);
    REFUSES(wm_run_select, run, NULL, 0, &stopped);
    REFUSES(wm_run_select, run, group, 0, &strange);
    OK(wm_run_select(run, group, 0, NULL, &diag));
    assert_int_equal(wm_run_select(run, group, UINT32_MAX, NULL, NULL), WM_NOT_FOUND);
    REFUSES(wm_run_get, run, NULL, values, 1);
    REFUSES(wm_run_get, run, "s0", NULL, 1);
    REFUSES(wm_run_get, run, "s0", values, 0);
    REFUSES(wm_run_set, run, NULL, values, 1);
    REFUSES(wm_run_set, run, "s0", NULL, 1);
    REFUSES(wm_run_set, run, "s0", values, 0);
    assert_int_equal(wm_run_get(run, "s99999999999999999999", values, 1, NULL), WM_NOT_FOUND);
    REFUSES(wm_run_read_lds, run, 0, NULL, 4);
    REFUSES(wm_run_write_lds, run, 0, NULL, 4);
    assert_int_equal(wm_run_read_lds(run, 0, values, 4, NULL), WM_OUT_OF_RANGE); /* it has no LDS */
    assert_int_equal(wm_run_end(run, true, &result, NULL), WM_BAD_ARGUMENT);     /* and frees it */
    OK(wm_run_begin(w.machine, w.object, w.kernel, &good, &run, &diag));
    OK(wm_run_end(run, true, NULL, &diag));
    close_world(&w);
    close_world(&other);
}

/* ---- observe.h ---- */

static void names(void **state)
{
    (void)state;
    for (int nonsense = -1; nonsense <= 77; nonsense += 78) {
        assert_string_equal(wm_event_name((enum wm_event_kind)nonsense), "?");
        assert_string_equal(wm_path_name((enum wm_path)nonsense), "?");
        assert_string_equal(wm_access_kind_name((enum wm_access_kind)nonsense), "?");
        assert_string_equal(wm_space_name((enum wm_space)nonsense), "?");
        assert_string_equal(wm_atomic_name((enum wm_atomic)nonsense), "?");
        assert_string_equal(wm_scope_name((enum wm_scope)nonsense), "?");
    }
}

/* ---- callbacks ---- */

struct seen {
    struct world w;
    struct wm_profile *profile;
    struct wm_check *check;
    struct wm_fidelity *fidelity;
    unsigned calls;
};

/* All that would pull something from under the dispatch that runs. */
static bool meddles(void *user, uint64_t done, uint64_t all)
{
    struct seen *s = user;
    struct wm_machine *const machine = s->w.machine;
    const struct wm_dispatch again = {.struct_size = sizeof again};
    struct wm_dispatch with = again;
    struct wm_result result = {.struct_size = sizeof result};
    struct world other;
    uint64_t address;
    uint32_t word = 5;
    size_t count = 1;
    (void)done;
    (void)all;
    if (s->calls++)
        return false;
    OK(wm_allocate(machine, 64, 0, "more", &address, &diag));
    OK(wm_free(machine, address, &diag));
    REFUSES(wm_set_apertures, machine, UINT64_C(1) << 48, UINT64_C(2) << 48);
    REFUSES(wm_reset_gws, machine);
    REFUSES(wm_dispatch, machine, s->w.object, s->w.kernel, &again, &result);
    OK(wm_load(machine, s->w.object, &diag)); /* it is there already */
    other = open_world(ends, sizeof ends);
    with.profile = s->profile;
    REFUSES(wm_dispatch, other.machine, other.object, other.kernel, &with, &result);
    with = again;
    with.check = s->check;
    REFUSES(wm_dispatch, other.machine, other.object, other.kernel, &with, &result);
    with = again;
    with.fidelity = s->fidelity;
    REFUSES(wm_dispatch, other.machine, other.object, other.kernel, &with, &result);
    OK(wm_dispatch(other.machine, other.object, other.kernel, &again, &result, &diag));
    close_world(&other);
    OK(wm_write(machine, s->w.buffer, &word, 4, &diag));
    OK(wm_read(machine, s->w.buffer, &word, 4, &diag));
    REFUSES(wm_profile_set_sample, s->profile, 2);
    REFUSES(wm_profile_keep_l2, s->profile);
    REFUSES(wm_profile_set_timeline, s->profile);
    REFUSES(wm_profile_set_gpu, s->profile, wm_gpu_default("gfx900"));
    REFUSES(wm_profile_trace, s->profile, "file");
    REFUSES(wm_profile_end_trace, s->profile);
    REFUSES(wm_profile_replay, s->profile, "", 0, "n");
    REFUSES(wm_profile_add_source, s->profile, "file", "text");
    assert_null(wm_profile_rows(s->profile, &count));
    assert_int_equal(count, 0);
    assert_null(wm_profile_kernels(s->profile, &count));
    assert_null(wm_profile_timelines(s->profile, &count));
    assert_null(wm_profile_findings(s->profile, &count));
    assert_null(wm_profile_dispatches(s->profile, &count));
    assert_null(wm_profile_code(s->profile, &count));
    assert_null(wm_check_findings(s->check, &count));
    assert_null(wm_fidelity_rows(s->fidelity, &count));
    wm_profile_destroy(s->profile); /* these have no effect */
    wm_check_destroy(s->check);
    wm_fidelity_destroy(s->fidelity);
    wm_machine_destroy(machine);
    return true;
}

/* An access or an instruction is being carried out: nothing may move. */
static void meddles_inside(void *user, const struct wm_event *event)
{
    struct seen *s = user;
    struct wm_machine *const machine = s->w.machine;
    const struct wm_dispatch again = {.struct_size = sizeof again};
    struct wm_result result = {.struct_size = sizeof result};
    struct world other;
    uint64_t address;
    uint32_t word = 5;
    (void)event;
    if (s->calls++)
        return;
    REFUSES(wm_free, machine, s->w.buffer);
    REFUSES(wm_allocate, machine, 64, 0, "more", &address);
    REFUSES(wm_allocate_at, machine, 4096, 64, 0, "more");
    REFUSES(wm_map_host, machine, &word, sizeof word, 0, 0, "more");
    REFUSES(wm_dispatch, machine, s->w.object, s->w.kernel, &again, &result);
    other = open_world(ends, sizeof ends);
    REFUSES(wm_load, machine, other.object);
    OK(wm_allocate(other.machine, 64, 0, "more", &address, &diag));
    OK(wm_dispatch(other.machine, other.object, other.kernel, &again, &result, &diag));
    close_world(&other);
    OK(wm_write(machine, s->w.buffer, &word, 4, &diag));
    OK(wm_read(machine, s->w.buffer, &word, 4, &diag));
    assert_non_null(wm_host_pointer(machine, s->w.buffer, 4));
    wm_machine_destroy(machine);
}

static void callbacks_of_observers(void **state)
{
    (void)state;
    struct seen s = {.w = open_world(ends, sizeof ends)};
    const struct wm_observer observer = {
        .struct_size = sizeof observer, .events = WM_EVENT_INSTRUCTION, .user = &s, .event = meddles_inside};
    const struct wm_observer *const observers[] = {&observer};
    const struct wm_dispatch dispatch = {
        .struct_size = sizeof dispatch, .observers = observers, .observer_count = 1};
    struct wm_result result = {.struct_size = sizeof result};
    OK(wm_dispatch(s.w.machine, s.w.object, s.w.kernel, &dispatch, &result, &diag));
    assert_true(s.calls);
    close_world(&s.w);
}

/* Sanitizers see what is freed too early or twice. */
static void callbacks(void **state)
{
    (void)state;
    struct seen s = {.w = open_world(loops, sizeof loops)};
    struct wm_result result = {.struct_size = sizeof result};
    size_t count;
    OK(wm_profile_create(&s.profile, &diag));
    OK(wm_check_create(WM_CHECK_WAITS, &s.check, &diag));
    OK(wm_fidelity_create(&s.fidelity, &diag));
    const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                         .threads = 2,
                                         .profile = s.profile,
                                         .check = s.check,
                                         .fidelity = s.fidelity,
                                         .progress = meddles,
                                         .progress_user = &s};
    OK(wm_dispatch(s.w.machine, s.w.object, s.w.kernel, &dispatch, &result, &diag));
    assert_int_equal(result.fault.kind, WM_FAULT_STOPPED);
    assert_int_equal(s.calls, 2);
    assert_non_null(wm_fidelity_rows(s.fidelity, &count));
    assert_int_equal(count, 2);
    assert_non_null(wm_profile_rows(s.profile, &count));
    OK(wm_free(s.w.machine, s.w.buffer, &diag));
    wm_profile_destroy(s.profile);
    wm_check_destroy(s.check);
    wm_fidelity_destroy(s.fidelity);
    close_world(&s.w);
}

/* ---- profile.h, gpu.h, check.h, fidelity.h ---- */

static void profiles(void **state)
{
    struct wm_profile *profile = NULL;
    const struct wm_gpu *gpu = NULL;
    size_t count = 1;
    uint32_t tile[WM_TILE_MODES], macro[WM_MACRO_TILE_MODES];
    (void)state;
    assert_null(wm_gpus(NULL));
    assert_int_equal(wm_gpu_find("rx580", &gpu, NULL), WM_OK);
    assert_true(wm_gpu_tile_modes(gpu, tile, macro));
    assert_int_equal(tile[8],
                     0x00000304); /* linux, gfx_v8_0.c, Polaris10: LINEAR_ALIGNED, ADDR_SURF_P8_32x32_8x16 */
    assert_false(wm_gpu_tile_modes(NULL, tile, macro));
    assert_false(wm_gpu_tile_modes(gpu, NULL, macro));
    assert_false(wm_gpu_tile_modes(gpu, tile, NULL));
    assert_int_equal(wm_gpu_find("mi210", &gpu, NULL), WM_OK);
    assert_false(wm_gpu_tile_modes(gpu, tile, macro));
    REFUSES(wm_gpu_find, NULL, &gpu);
    REFUSES(wm_gpu_find, "mi210", NULL);
    OK(wm_gpu_fits(gpu, "gfx90a:xnack+", &diag));
    OK(wm_gpu_fits(gpu, "gfx908", &diag)); /* another target whose accesses are measured in the same way */
    assert_int_equal(wm_gpu_fits(gpu, "gfx1100", &diag), WM_BAD_ARGUMENT);
    assert_non_null(strstr(diag.message, "product mi210 is of another generation"));
    assert_int_equal(wm_gpu_fits(gpu, "gfx9999", &diag), WM_NOT_FOUND);
    REFUSES(wm_gpu_fits, NULL, "gfx90a");
    REFUSES(wm_gpu_fits, gpu, NULL);
    assert_int_equal(wm_gpu_find("no such product", &gpu, NULL), WM_NOT_FOUND);
    assert_null(wm_gpu_default(NULL));
    assert_null(wm_bound_names(NULL));
    assert_null(wm_cause_names(NULL));
    REFUSES(wm_profile_create, NULL);
    wm_profile_destroy(NULL);
    OK(wm_profile_create(&profile, &diag));
    REFUSES(wm_profile_set_gpu, NULL, wm_gpu_default("gfx900"));
    REFUSES(wm_profile_set_gpu, profile, NULL);
    REFUSES(wm_profile_set_sample, NULL, 1);
    REFUSES(wm_profile_set_sample, profile, 0);
    REFUSES(wm_profile_keep_l2, NULL);
    REFUSES(wm_profile_set_timeline, NULL);
    assert_null(wm_profile_timelines(NULL, &count));
    assert_null(wm_profile_timelines(profile, NULL));
    assert_null(wm_profile_timelines(profile, &count));
    assert_int_equal(count, 0);
    REFUSES(wm_profile_trace, NULL, "file");
    REFUSES(wm_profile_trace, profile, NULL);
    REFUSES(wm_profile_end_trace, NULL);
    REFUSES(wm_profile_replay, NULL, "", 0, "n");
    REFUSES(wm_profile_replay, profile, NULL, 0, "n");
    REFUSES(wm_profile_replay, profile, "", 0, NULL);
    assert_int_equal(wm_profile_replay(profile, "", 0, "n", NULL), WM_BAD_FILE);
    REFUSES(wm_trace_gpu, NULL, 0, "n", &gpu);
    REFUSES(wm_trace_gpu, "", 0, NULL, &gpu);
    REFUSES(wm_trace_gpu, "", 0, "n", NULL);
    const struct wm_trace_range first = {0, 1}, second = {1, 1}, nothing = {0, 0};
    const struct wm_trace_part none = {"", 0, "n", &first, 1}, late = {"", 0, "n", &second, 1},
                               empty = {"", 0, "n", &nothing, 1}, idle = {"", 0, "n", &first, 0},
                               rangeless = {"", 0, "n", NULL, 1};
    const struct wm_trace_part nameless = {"", 0, NULL, &first, 1}, absent = {NULL, 0, "n", &first, 1};
    const struct wm_trace_range twice[] = {{0, 1}, {1, 1}};
    const struct wm_trace_part unequal[] = {none, {"", 0, "n", twice, 2}},
                               bad_second = {"", 0, "n", twice, 2};
    REFUSES(wm_trace_merge, NULL, 1, "file");
    REFUSES(wm_trace_merge, &none, 1, NULL);
    REFUSES(wm_trace_merge, &none, 0, "file");
    REFUSES(wm_trace_merge, &late, 1, "file");
    REFUSES(wm_trace_merge, &empty, 1, "file");
    REFUSES(wm_trace_merge, &nameless, 1, "file");
    REFUSES(wm_trace_merge, &absent, 1, "file");
    REFUSES(wm_trace_merge, &idle, 1, "file");
    REFUSES(wm_trace_merge, &rangeless, 1, "file");
    REFUSES(wm_trace_merge, unequal, 2, "file");
    REFUSES(wm_trace_merge, &bad_second, 1, "file");
    assert_int_equal(wm_trace_merge(&none, 1, "file", NULL), WM_BAD_FILE);
    REFUSES(wm_profile_add_source, NULL, "file", "text");
    REFUSES(wm_profile_add_source, profile, NULL, "text");
    REFUSES(wm_profile_add_source, profile, "file", NULL);
    assert_null(wm_profile_source(NULL, "file"));
    assert_null(wm_profile_source(profile, NULL));
    assert_null(wm_profile_rows(NULL, &count));
    assert_int_equal(count, 0);
    assert_null(wm_profile_rows(profile, NULL));
    assert_null(wm_profile_kernels(NULL, &count));
    assert_null(wm_profile_kernels(profile, NULL));
    assert_null(wm_profile_findings(NULL, &count));
    assert_null(wm_profile_findings(profile, NULL));
    assert_null(wm_profile_dispatches(NULL, &count));
    assert_null(wm_profile_dispatches(profile, NULL));
    assert_null(wm_profile_code(NULL, &count));
    assert_null(wm_profile_code(profile, NULL));
    wm_profile_destroy(profile);
}

static void checks(void **state)
{
    struct wm_check *check = NULL;
    struct wm_fidelity *fidelity = NULL;
    size_t count;
    (void)state;
    REFUSES(wm_check_create, WM_CHECK_WAITS, NULL);
    REFUSES(wm_check_create, 0, &check);
    REFUSES(wm_check_create, 1u << 31, &check);
    assert_int_equal(wm_check_known() & (WM_CHECK_WAITS | WM_CHECK_HAZARDS),
                     WM_CHECK_WAITS | WM_CHECK_HAZARDS);
    wm_check_destroy(NULL);
    assert_null(wm_check_findings(NULL, &count));
    OK(wm_check_create(WM_CHECK_HAZARDS, &check, &diag));
    assert_null(wm_check_findings(check, NULL));
    assert_null(wm_check_coverage(check, NULL));
    assert_null(wm_check_coverage(NULL, &count));
    assert_null(wm_check_blocks(check, 0, NULL));
    assert_null(wm_check_blocks(check, 0, &count)); /* nothing has run */
    assert_null(wm_check_blocks(NULL, 0, &count));
    assert_string_equal(wm_check_class_name(WM_CHECK_RACES), "race");
    assert_string_equal(wm_check_class_name(0), "");
    assert_string_equal(wm_check_class_limits(0), "");
    for (unsigned bit = 1; bit; bit <<= 1) /* each class says what it cannot see */
        assert_int_equal(*wm_check_class_name(bit) == 0, *wm_check_class_limits(bit) == 0);
    REFUSES(wm_check_leaks, NULL);
    REFUSES(wm_check_leaks, check);
    REFUSES(wm_check_copied, NULL, 0, 4096, 1, NULL);
    REFUSES(wm_check_copied, check, 0, 4096, 1, NULL);
    REFUSES(wm_check_shuffle, NULL, &(uint64_t){1}, 1);
    REFUSES(wm_check_shuffle, check, NULL, 1);
    REFUSES(wm_check_shuffle, check, &(uint64_t){1}, 1); /* it does not look for portability */
    struct wm_machine *machine;
    OK(wm_machine_create("gfx900", &machine, &diag));
    REFUSES(wm_check_machine, NULL, machine);
    REFUSES(wm_check_machine, check, NULL);
    OK(wm_check_machine(check, machine, &diag));
    REFUSES(wm_check_machine, check, machine);
    REFUSES(wm_check_leaks, check); /* it does not look for memory errors */
    wm_check_destroy(check);
    OK(wm_check_create(WM_CHECK_PORTABILITY, &check, &diag));
    REFUSES(wm_check_shuffle, check, ((const uint64_t[]){1, 0}), 2);
    OK(wm_check_shuffle(check, (const uint64_t[]){1, 2}, 2, &diag));
    OK(wm_check_shuffle(check, NULL, 0, &diag));
    wm_check_destroy(check);
    wm_machine_destroy(machine);
    REFUSES(wm_fidelity_create, NULL);
    wm_fidelity_destroy(NULL);
    assert_null(wm_fidelity_rows(NULL, &count));
    OK(wm_fidelity_create(&fidelity, &diag));
    assert_null(wm_fidelity_rows(fidelity, NULL));
    wm_fidelity_destroy(fidelity);
    assert_non_null(wm_fidelity_general());
}

/* ---- explain.h, tess.h ---- */

static void explanations(void **state)
{
    static struct wm_descriptor descriptor;
    static struct wm_buffer_answer buffer;
    static struct wm_address_answer answer;
    const struct wm_descriptor_field nameless = {.value = 1};
    const struct wm_register no_name = {.value = {1}};
    const struct wm_buffer_request request = {.bytes = 4};
    struct wm_buffer_request bad = request;
    struct wm_address_request address = {.target = "gfx900",
                                         .text = "s_load_dword s0, s[2:3], 0x0",
                                         .lanes = 1},
                              wrong = address;
    struct wm_format_answer format;
    const uint32_t words[4] = {0};
    (void)state;
    REFUSES(wm_descriptor_decode, "gfx900", (enum wm_descriptor_kind)77, words, 4, &descriptor);
    REFUSES(wm_descriptor_decode, "gfx900", (enum wm_descriptor_kind) - 1, words, 4, &descriptor);
    REFUSES(wm_descriptor_decode, "gfx900", WM_DESCRIPTOR_BUFFER, NULL, 4, &descriptor);
    REFUSES(wm_descriptor_decode, "gfx900", WM_DESCRIPTOR_BUFFER, words, 4, NULL);
    REFUSES(wm_descriptor_decode, "gfx900", WM_DESCRIPTOR_BUFFER, words, 3, &descriptor);
    assert_int_equal(wm_descriptor_decode(NULL, WM_DESCRIPTOR_BUFFER, words, 4, &descriptor, NULL),
                     WM_NOT_FOUND);
    REFUSES(wm_descriptor_encode, "gfx900", (enum wm_descriptor_kind)77, &nameless, 0, &descriptor);
    REFUSES(wm_descriptor_encode, "gfx900", WM_DESCRIPTOR_BUFFER, NULL, 1, &descriptor);
    REFUSES(wm_descriptor_encode, "gfx900", WM_DESCRIPTOR_BUFFER, &nameless, 1, &descriptor);
    REFUSES(wm_descriptor_encode, "gfx900", WM_DESCRIPTOR_BUFFER, NULL, 0, NULL);
    REFUSES(wm_buffer_explain, "gfx900", NULL, &request, &buffer);
    REFUSES(wm_buffer_explain, "gfx900", words, NULL, &buffer);
    REFUSES(wm_buffer_explain, "gfx900", words, &request, NULL);
    bad.lane = 64;
    REFUSES(wm_buffer_explain, "gfx900", words, &bad, &buffer);
    bad = (struct wm_buffer_request){.bytes = 0};
    REFUSES(wm_buffer_explain, "gfx900", words, &bad, &buffer);
    bad = (struct wm_buffer_request){.bytes = 4, .parts = 77};
    REFUSES(wm_buffer_explain, "gfx900", words, &bad, &buffer);
    bad = (struct wm_buffer_request){.bytes = 4, .inst_offset = -1};
    REFUSES(wm_buffer_explain, "gfx900", words, &bad, &buffer);
    assert_int_equal(wm_buffer_explain(NULL, words, &request, &buffer, NULL), WM_NOT_FOUND);
    REFUSES(wm_format_load, NULL, "32", "uint", words, &format);
    REFUSES(wm_format_load, "gfx900", NULL, "uint", words, &format);
    REFUSES(wm_format_load, "gfx900", "32", "uint", NULL, &format);
    REFUSES(wm_format_load, "gfx900", "32", "uint", words, NULL);
    REFUSES(wm_format_store, NULL, "32", "uint", words, &format);
    REFUSES(wm_format_store, "gfx900", NULL, "uint", words, &format);
    REFUSES(wm_format_store, "gfx900", "32", "uint", NULL, &format);
    REFUSES(wm_format_store, "gfx900", "32", "uint", words, NULL);
    assert_int_equal(wm_format_load("gfx900", "32", NULL, words, &format, NULL), WM_NOT_FOUND);
    REFUSES(wm_address_explain, NULL, &answer);
    REFUSES(wm_address_explain, &address, NULL);
    wrong.text = NULL;
    REFUSES(wm_address_explain, &wrong, &answer);
    wrong = address;
    wrong.register_count = 1;
    REFUSES(wm_address_explain, &wrong, &answer);
    wrong.registers = &no_name;
    REFUSES(wm_address_explain, &wrong, &answer);
    wrong = address;
    wrong.lane = 77;
    REFUSES(wm_address_explain, &wrong, &answer);
    wrong = address;
    wrong.lds_bytes = UINT32_MAX;
    REFUSES(wm_address_explain, &wrong, &answer);
    wrong.target = NULL;
    assert_int_equal(wm_address_explain(&wrong, &answer, NULL), WM_NOT_FOUND);
    OK(wm_address_explain(&address, &answer, &diag));
}

/* Rows of 64 and of 16384 texels of 16 bytes. PITCH: GCN 3 ISA, table 8.11, and Vega ISA, "Image Resource
 * Definition"; pitch - 1 in DEPTH from gfx1030 on: ROCR, image_manager_nv.cpp. */
static void rows_of_images(const struct wm_image *image)
{
    static const struct {
        const char *target;
        unsigned shift;
    } targets[] = {{"gfx803", 13}, {"gfx900", 13}, {"gfx1030", 0}, {"gfx1100", 0}, {"gfx1200", 0}};
    struct wm_image wide = *image;
    struct wm_image_layout layout;
    uint32_t words[WM_IMAGE_WORDS];
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        for (uint32_t texels = 64; texels <= 16384; texels *= 256) {
            wide.row = UINT64_C(16) * texels;
            OK(wm_image_describe(targets[i].target, &wide, words, &layout, NULL));
            assert_int_equal(words[4] >> targets[i].shift & 0x3fff, texels - 1);
            assert_true(layout.row == wide.row && layout.bytes == 3 * wide.row);
        }
    wide.row = 1024;
    assert_int_equal(wm_image_describe("gfx1010", &wide, words, &layout, NULL), WM_UNSUPPORTED);
    wide.row = UINT64_C(1) << 40;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        assert_int_not_equal(wm_image_describe(targets[i].target, &wide, words, &layout, NULL), WM_OK);
    wide.row = 256; /* as without */
    OK(wm_image_describe("gfx1010", &wide, words, &layout, NULL));
}

static void images(void **state)
{
    const struct wm_image image = {.struct_size = sizeof image,
                                   .geometry = WM_IMAGE_2D,
                                   .type = WM_IMAGE_F32,
                                   .components = 4,
                                   .width = 5,
                                   .height = 3,
                                   .address = 0x1000};
    const struct wm_sampler sampler = {.struct_size = sizeof sampler}, none = {0};
    struct wm_sampler wrong_sampler = sampler;
    struct wm_image wrong[14];
    struct wm_image_layout layout;
    uint32_t words[WM_IMAGE_WORDS], s[WM_SAMPLER_WORDS];
    (void)state;
    for (unsigned i = 0; i < 14; i++)
        wrong[i] = image;
    wrong[0].struct_size = 0;
    wrong[1].geometry = (enum wm_image_geometry)77;
    wrong[2].type = (enum wm_image_type) - 1;
    wrong[3].components = 3;
    wrong[4].components = UINT32_MAX;
    wrong[5].width = 0;
    wrong[6].width = 16385;
    wrong[7].height = UINT32_MAX;
    wrong[8].address = 0x1080;
    wrong[9].address = 1ULL << 47;
    wrong[10].geometry = WM_IMAGE_3D; /* without a depth */
    wrong[11].geometry = WM_IMAGE_2D_ARRAY;
    wrong[11].depth = 8193;
    wrong[12].row = 264;
    wrong[13].width = 17; /* 272 bytes */
    wrong[13].row = 256;
    for (unsigned i = 0; i < 14; i++)
        REFUSES(wm_image_describe, "gfx1100", &wrong[i], words, &layout);
    REFUSES(wm_image_describe, "gfx1100", NULL, words, &layout);
    REFUSES(wm_image_describe, "gfx1100", &image, NULL, &layout);
    assert_int_equal(wm_image_describe(NULL, &image, words, &layout, NULL), WM_NOT_FOUND);
    assert_int_equal(wm_image_describe("gfx942", &image, words, &layout, NULL), WM_UNSUPPORTED);
    struct wm_image tiled = image;
    tiled.mode = "64KB_R_X";
    REFUSES(wm_image_describe, "gfx1100", &tiled, words, &layout); /* 0x1000 is no multiple of 64 KB */
    tiled.address = 0x10000;
    OK(wm_image_describe("gfx1100", &tiled, words, &layout, &diag));
    assert_true(layout.alignment == 0x10000 && layout.bytes == 0x10000 && !layout.row);
    rows_of_images(&image);
    OK(wm_image_describe("gfx1100", &image, words, NULL, &diag));
    OK(wm_image_describe("gfx1100", &image, words, &layout, &diag));
    assert_true(layout.texel == 16 && layout.row == 256 && layout.bytes == 768);
    REFUSES(wm_sampler_describe, "gfx900", NULL, s);
    REFUSES(wm_sampler_describe, "gfx900", &sampler, NULL);
    REFUSES(wm_sampler_describe, "gfx900", &none, s);
    wrong_sampler.addressing[2] = (enum wm_addressing)4;
    REFUSES(wm_sampler_describe, "gfx900", &wrong_sampler, s);
    assert_int_equal(wm_sampler_describe(NULL, &sampler, s, NULL), WM_NOT_FOUND);
    assert_int_equal(wm_sampler_describe("gfx942", &sampler, s, NULL), WM_UNSUPPORTED);
    OK(wm_sampler_describe("gfx900", &sampler, s, &diag));
}

static void surfaces(void **state)
{
    const struct wm_surface_shape shape = {
        .struct_size = sizeof shape, .mode = "64KB_R_X", .bytes = 4, .width = 20, .height = 10};
    const uint32_t t[8] = {0x1000, 0xc2a00000, 0x010dc1df, 0x91b00fac}, none[8] = {0};
    const struct wm_surface_place place = {0}, far[] = {{20, 0, 0, 0, 0},
                                                        {0, 10, 0, 0, 0},
                                                        {0, 0, 1, 0, 0},
                                                        {0, 0, 0, 1, 0},
                                                        {0, 0, 0, 0, UINT32_MAX}};
    struct wm_surface_shape wrong[13];
    struct wm_surface_steps how;
    struct wm_surface *surface, *other;
    uint64_t offset;
    (void)state;
    for (unsigned i = 0; i < 13; i++)
        wrong[i] = shape;
    wrong[0].struct_size = 0;
    wrong[1].bytes = 0;
    wrong[2].bytes = 17;
    wrong[3].width = 0;
    wrong[4].width = UINT32_MAX;
    wrong[5].height = UINT32_MAX;
    wrong[6].depth = 65537;
    wrong[7].levels = WM_SURFACE_LEVELS + 1;
    wrong[8].samples = 17;
    wrong[9].dimensions = 4;
    wrong[10].dimensions = 1; /* with a height */
    wrong[11].block = 3;
    wrong[12].pitch = UINT32_MAX;
    for (unsigned i = 0; i < 13; i++)
        REFUSES(wm_surface_create, "gfx1100", NULL, &wrong[i], &surface);
    REFUSES(wm_surface_create, "gfx1100", NULL, NULL, &surface);
    REFUSES(wm_surface_create, "gfx1100", NULL, &shape, NULL);
    REFUSES(wm_surface_create, "gfx1100", wm_gpu_default("gfx900"), &shape, &surface);
    assert_int_equal(wm_surface_create(NULL, NULL, &shape, &surface, NULL), WM_NOT_FOUND);
    assert_int_equal(wm_surface_create("gfx942", NULL, &shape, &surface, NULL), WM_UNSUPPORTED);
    assert_int_equal(wm_surface_create("gfx1200", NULL, &shape, &surface, NULL), WM_NOT_FOUND);
    assert_int_equal(wm_surface_create("gfx600", NULL, &shape, &surface, NULL), WM_NOT_FOUND);
    wrong[0] = shape;
    wrong[0].mode = NULL;
    assert_int_equal(wm_surface_create("gfx1100", NULL, &wrong[0], &surface, NULL), WM_NOT_FOUND);
    wrong[0].mode = "64KB_R_X";
    wrong[0].bytes = 12;
    assert_int_equal(wm_surface_create("gfx1100", NULL, &wrong[0], &surface, NULL), WM_UNSUPPORTED);
    REFUSES(wm_surface_of_image, "gfx1100", NULL, NULL, &surface, NULL);
    REFUSES(wm_surface_of_image, "gfx1100", NULL, t, NULL, NULL);
    REFUSES(wm_surface_of_image, "gfx1100", NULL, none, &surface, NULL);
    assert_int_equal(wm_surface_of_image(NULL, NULL, t, &surface, NULL, NULL), WM_NOT_FOUND);
    OK(wm_surface_of_image("gfx1100", NULL, t, &other, &offset, &diag));
    assert_int_equal(offset, 0x100000);
    wm_surface_destroy(other);
    OK(wm_surface_create("gfx1100", NULL, &shape, &surface, &diag));
    REFUSES(wm_surface_offset, NULL, &place, &offset);
    REFUSES(wm_surface_offset, surface, NULL, &offset);
    REFUSES(wm_surface_offset, surface, &place, NULL);
    REFUSES(wm_surface_explain, NULL, &place, &how);
    REFUSES(wm_surface_explain, surface, NULL, &how);
    REFUSES(wm_surface_explain, surface, &place, NULL);
    for (unsigned i = 0; i < sizeof far / sizeof *far; i++) {
        REFUSES(wm_surface_offset, surface, &far[i], &offset);
        REFUSES(wm_surface_explain, surface, &far[i], &how);
    }
    const struct wm_surface_layout *layout = wm_surface_layout(surface);
    unsigned char *bytes = malloc(layout->bytes), packed[800] = {0};
    assert_non_null(bytes);
    assert_int_equal(layout->packed, sizeof packed);
    REFUSES(wm_surface_tile, NULL, packed, sizeof packed, bytes, layout->bytes);
    REFUSES(wm_surface_tile, surface, NULL, sizeof packed, bytes, layout->bytes);
    REFUSES(wm_surface_tile, surface, packed, sizeof packed, NULL, layout->bytes);
    REFUSES(wm_surface_tile, surface, packed, sizeof packed - 1, bytes, layout->bytes);
    REFUSES(wm_surface_tile, surface, packed, sizeof packed, bytes, layout->bytes - 1);
    REFUSES(wm_surface_untile, NULL, bytes, layout->bytes, packed, sizeof packed);
    REFUSES(wm_surface_untile, surface, NULL, layout->bytes, packed, sizeof packed);
    REFUSES(wm_surface_untile, surface, bytes, layout->bytes, NULL, sizeof packed);
    REFUSES(wm_surface_untile, surface, bytes, layout->bytes, packed, 0);
    free(bytes);
    wm_surface_destroy(surface);
    wm_surface_destroy(NULL);
    assert_null(wm_surface_layout(NULL));
}

static void tessellation(void **state)
{
    struct wm_tess_layout layout, nothing = {0};
    struct wm_tess_place place = {0}, far = {.slot = UINT32_MAX, .indirect = UINT32_MAX};
    struct wm_tess_lines lines;
    const char *name = wm_tess_layout_at(0);
    uint32_t number;
    bool per_patch;
    (void)state;
    assert_null(wm_tess_layout_at(SIZE_MAX));
    REFUSES(wm_tess_layout, name, 1, 3, 1, 1, NULL);
    REFUSES(wm_tess_layout, name, 0, 3, 1, 1, &layout);
    REFUSES(wm_tess_layout, name, UINT32_MAX, 3, 1, 1, &layout);
    REFUSES(wm_tess_layout, name, 1, UINT32_MAX, 1, 1, &layout);
    REFUSES(wm_tess_layout, name, 1, 3, UINT32_MAX, 1, &layout);
    REFUSES(wm_tess_layout, name, 1, 3, 1, UINT32_MAX, &layout);
    assert_int_equal(wm_tess_layout(NULL, 1, 3, 1, 1, &layout, NULL), WM_NOT_FOUND);
    REFUSES(wm_tess_layout_of_word, name, 0, 1, NULL);
    REFUSES(wm_tess_layout_of_word, name, 0, 1, &layout);
    REFUSES(wm_tess_layout_of_word, name, UINT32_MAX, UINT32_MAX, &layout);
    assert_int_equal(wm_tess_layout_of_word(NULL, 0, 1, &layout, NULL), WM_NOT_FOUND);
    OK(wm_tess_layout(name, 4, 3, 2, 1, &layout, &diag));
    REFUSES(wm_tess_offset, NULL, &place, &number);
    REFUSES(wm_tess_offset, &layout, NULL, &number);
    REFUSES(wm_tess_offset, &layout, &place, NULL);
    REFUSES(wm_tess_offset, &layout, &far, &number);
    REFUSES(wm_tess_offset, &nothing, &place, &number);
    REFUSES(wm_tess_place, NULL, 0, &place);
    REFUSES(wm_tess_place, &layout, 0, NULL);
    REFUSES(wm_tess_place, &nothing, 0, &place);
    assert_int_equal(wm_tess_place(&layout, UINT32_MAX, &place, NULL), WM_NOT_FOUND);
    REFUSES(wm_tess_slot, name, NULL, 0, &number, &per_patch);
    REFUSES(wm_tess_slot, name, "generic", 0, NULL, &per_patch);
    REFUSES(wm_tess_slot, name, "generic", 0, &number, NULL);
    REFUSES(wm_tess_slot, name, "generic", UINT32_MAX, &number, &per_patch);
    assert_int_equal(wm_tess_slot(NULL, "generic", 0, &number, &per_patch, NULL), WM_NOT_FOUND);
    REFUSES(wm_tess_lines, NULL, 64, 64, 1, &lines);
    REFUSES(wm_tess_lines, &layout, 64, 64, 1, NULL);
    REFUSES(wm_tess_lines, &layout, 63, 64, 1, &lines);
    REFUSES(wm_tess_lines, &layout, 64, 0, 1, &lines);
    REFUSES(wm_tess_lines, &layout, 64, UINT32_MAX, 1, &lines);
    REFUSES(wm_tess_lines, &layout, 64, 64, 0, &lines);
    REFUSES(wm_tess_lines, &nothing, 64, 64, 1, &lines);
}

static void queues(void **state)
{
    const struct world w = open_world(ends, sizeof ends);
    const struct wm_packet packet = {.struct_size = sizeof packet};
    struct wm_queue *queue;
    bool completed;
    (void)state;
    REFUSES(wm_queue_create, NULL, &queue);
    REFUSES(wm_queue_create, w.machine, NULL);
    OK(wm_queue_create(w.machine, &queue, &diag));
    REFUSES(wm_dispatch_packet, NULL, &packet);
    REFUSES(wm_dispatch_packet, w.machine, NULL);
    REFUSES(wm_dispatch_packet, w.machine, &packet);
    REFUSES(wm_queue_submit, NULL, &packet, NULL);
    REFUSES(wm_queue_submit, queue, NULL, NULL);
    REFUSES(wm_queue_submit, queue, &packet, NULL);
    REFUSES(wm_queue_wait, NULL, 0, 0, &completed);
    REFUSES(wm_queue_wait, queue, 0, 0, NULL);
    REFUSES(wm_queue_wait, queue, 7, 0, &completed);
    REFUSES(wm_queue_wait, queue, 0, NAN, &completed);
    REFUSES(wm_queue_cancel, NULL, 0);
    REFUSES(wm_queue_cancel, queue, 7);
    wm_queue_destroy(queue);
    wm_queue_destroy(NULL);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assembling), cmocka_unit_test(decoding),  cmocka_unit_test(instruction_set),
        cmocka_unit_test(objects),    cmocka_unit_test(machines),  cmocka_unit_test(dispatches),
        cmocka_unit_test(versions),   cmocka_unit_test(callbacks), cmocka_unit_test(callbacks_of_observers),
        cmocka_unit_test(profiles),   cmocka_unit_test(checks),    cmocka_unit_test(explanations),
        cmocka_unit_test(steps),      cmocka_unit_test(names),     cmocka_unit_test(tessellation),
        cmocka_unit_test(surfaces),   cmocka_unit_test(runs),      cmocka_unit_test(queues),
        cmocka_unit_test(images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
