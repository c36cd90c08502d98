/* SPDX-License-Identifier: MIT */
/* Runs raw code whose registers begin as a graphics driver would set them: an address in s[2:3], the
 * workgroup's number in s4, work-item ids packed in v0, and a value per lane in v1. cc start.c $(pkg-config
 * --cflags --libs wavemem) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wavemem/wavemem.h>

static const char text[] = "v_and_b32 v2, 0x3ff, v0\n"      /* x of the work-item */
                           "v_lshl_add_u32 v2, s4, 6, v2\n" /* + 64 * workgroup */
                           "v_lshlrev_b32 v2, 2, v2\n"
                           "global_store_b32 v2, v1, s[2:3]\n"
                           "s_endpgm\n";
enum { N = 128 };
static uint32_t out[N], values[32];

static int failed(const char *message)
{
    fprintf(stderr, "start: %s\n", message);
    return 1;
}

int main(void)
{
    struct wm_diag diag;
    struct wm_object *object;
    struct wm_machine *machine;
    const struct wm_kernel *kernel;
    uint8_t *code;
    size_t size;
    char *messages;
    if (wm_assemble(text, strlen(text), "text", "gfx1100", WM_ASSEMBLE_RAW, &code, &size, &messages, &diag) ||
        wm_object_open(code, size, "text", "gfx1100", &object, &diag) ||
        wm_object_find_kernel(object, NULL, &kernel, &diag) ||
        wm_machine_create("gfx1100", &machine, &diag) || wm_load(machine, object, &diag) ||
        wm_map_host(machine, out, sizeof(out), 0, 0, "out", &diag))
        return failed(diag.message);
    for (uint32_t lane = 0; lane < 32; lane++)
        values[lane] = lane * lane;
    const uint32_t address[] = {(uint32_t)(uintptr_t)out, (uint32_t)((uint64_t)(uintptr_t)out >> 32)};
    const struct wm_start_register registers[] = {{.name = "s2", .values = address, .count = 2},
                                                  {.name = "s4", .kind = WM_START_WORKGROUP_ID_X},
                                                  {.name = "v0", .kind = WM_START_WORKITEM_IDS},
                                                  {.name = "v1", .values = values, .count = 32}};
    const struct wm_start start = {
        .struct_size = sizeof(start), .bare = true, .registers = registers, .register_count = 4};
    const struct wm_dispatch dispatch = {
        .struct_size = sizeof(dispatch), .grid = {N}, .workgroup = {64}, .start = &start};
    struct wm_result result = {.struct_size = sizeof(result)};
    if (wm_dispatch(machine, object, kernel, &dispatch, &result, &diag) || result.fault.kind)
        return failed(result.fault.kind ? result.fault.text : diag.message);
    printf("out[%d] = %u\n", N - 1, out[N - 1]);
    wm_machine_destroy(machine);
    wm_object_close(object);
    free(code);
    free(messages);
    return out[N - 1] == 31 * 31 ? 0 : failed("expected 961");
}
