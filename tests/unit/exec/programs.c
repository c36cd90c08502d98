/* SPDX-License-Identifier: MIT */
/* Which dispatches a program that was kept serves: those of the same options and the same code only. */
#include "exec/run/programs.h"
#include "jit/compile.h"
#include "memory/space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CODE_BYTES = 4096, WAVE = 64 };

static const uint32_t s_nop = 0xbf800000, s_endpgm = 0xbf810000; /* LLVM's encodings for gfx900 */

static struct {
    struct wmi_space *space;
    uint32_t *code;
    struct wmi_code_options options;
} world;

static int open_world(void **state)
{
    struct wm_diag diag;
    (void)state;
    world.space = wmi_space_create();
    assert_non_null(world.space);
    world.options = (struct wmi_code_options){
        .target = wmi_target_find("gfx900"), .space = world.space, .lanes = WAVE, .vgprs = 8};
    assert_int_equal(wmi_space_allocate(world.space, CODE_BYTES, 0, "code", &world.options.entry, &diag),
                     WM_OK);
    world.code = (uint32_t *)wmi_space_host(world.space, world.options.entry, CODE_BYTES);
    for (unsigned i = 0; i < 8; i++)
        world.code[i] = i % 4 == 3 ? s_endpgm : s_nop;
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    wmi_space_destroy(world.space);
    return 0;
}

static void each_option_counts(void **state)
{
    (void)state;
    static const struct wmi_tile_tables *const tables = (const void *)"tables";
    struct wmi_code_options other[9];
    struct wmi_program *program = wmi_program_create(&world.options, wmi_cpu_level());
    assert_non_null(program);
    assert_true(wmi_program_serves(program, &world.options, wmi_cpu_level()));
    for (unsigned i = 0; i < sizeof other / sizeof *other; i++)
        other[i] = world.options;
    other[0].target = wmi_target_find("gfx906");
    other[1].entry += 16;
    other[2].lanes = 32;
    other[3].vgprs++;
    other[4].agprs++;
    other[5].alignment++;
    other[6].tiling.product++;
    other[7].tiling.tables = tables;
    other[8].tiling.rules++;
    for (unsigned i = 0; i < sizeof other / sizeof *other; i++)
        assert_false(wmi_program_serves(program, &other[i], wmi_cpu_level()));
    wmi_program_destroy(program);
}

static void the_way_of_executing_counts(void **state)
{
    (void)state;
    assert_int_equal(setenv("WAVEMEM_COMPILE", "off", 1), 0);
    struct wmi_program *program = wmi_program_create(&world.options, wmi_cpu_level());
    assert_non_null(program);
    assert_true(wmi_program_serves(program, &world.options, wmi_cpu_level()));
    assert_int_equal(setenv("WAVEMEM_COMPILE", "always", 1), 0);
    assert_int_equal(wmi_program_serves(program, &world.options, wmi_cpu_level()),
                     !wmi_can_compile(wmi_cpu_level()));
    assert_int_equal(unsetenv("WAVEMEM_COMPILE"), 0);
    wmi_program_destroy(program);
}

static void code_counts(void **state)
{
    (void)state;
    struct wmi_program *program = wmi_program_create(&world.options, wmi_cpu_level());
    assert_non_null(program);
    world.code[1] = s_endpgm;
    assert_false(wmi_program_serves(program, &world.options, wmi_cpu_level()));
    world.code[1] = s_nop;
    assert_true(wmi_program_serves(program, &world.options, wmi_cpu_level()));
    wmi_program_destroy(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_option_counts),
        cmocka_unit_test(the_way_of_executing_counts),
        cmocka_unit_test(code_counts),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
