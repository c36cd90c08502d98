/* SPDX-License-Identifier: MIT */
/* Stops vecadd.co before each wave's store and changes what it stores:
 * cc breakpoint.c $(pkg-config --cflags --libs wavemem) */
#include <stdio.h>
#include <wavemem/wavemem.h>

enum { N = 1000, STORE = 0xa0 }; /* offset of global_store_dword v[0:1], v2, off: see wavemem dis */

static int failed(const char *message)
{
    fprintf(stderr, "breakpoint: %s\n", message);
    return 1;
}

int main(int count, char **arguments)
{
    struct wm_diag diag = {.message = "usage: breakpoint vecadd.co"};
    struct wm_object *object;
    struct wm_machine *machine;
    const struct wm_kernel *kernel;
    struct {
        uint64_t a, b, c;
        uint32_t n;
    } given = {.n = N};
    uint64_t store;
    uint32_t v2[64], c[N];
    if (count != 2 || wm_object_open_file(arguments[1], NULL, &object, &diag) ||
        wm_object_find_kernel(object, "vecadd", &kernel, &diag) ||
        wm_machine_create(wm_object_target(object), &machine, &diag) || wm_load(machine, object, &diag) ||
        wm_symbol(machine, object, "vecadd", &store, NULL, &diag) ||
        wm_allocate(machine, 4 * N, 0, "a", &given.a, &diag) ||
        wm_allocate(machine, 4 * N, 0, "b", &given.b, &diag) ||
        wm_allocate(machine, 4 * N, 0, "c", &given.c, &diag))
        return failed(diag.message);
    const struct wm_dispatch dispatch = {.struct_size = sizeof(dispatch),
                                         .grid = {1024},
                                         .workgroup = {256},
                                         .arguments = &given,
                                         .arguments_size = sizeof(given)};
    const struct wm_stop_at at = {.struct_size = sizeof(at), .addresses = &store, .address_count = 1};
    struct wm_run *run;
    store += STORE;
    if (wm_run_begin(machine, object, kernel, &dispatch, &run, &diag))
        return failed(diag.message);
    struct wm_stopped stopped = {.struct_size = sizeof(stopped)};
    for (unsigned wave = 0; !wm_run_to(run, &at, &stopped, &diag) && stopped.kind == WM_STOP_ADDRESS;
         wave++) {
        for (unsigned lane = 0; lane < stopped.wave_size; lane++)
            v2[lane] = wave;
        if (wm_run_set(run, "v2", v2, stopped.wave_size, &diag))
            return failed(diag.message);
        printf("workgroup %u wave %u: v2 = %u\n", stopped.workgroup[0], stopped.wave, wave);
    }
    if (wm_run_end(run, false, NULL, &diag) || wm_read(machine, given.c, c, sizeof(c), &diag))
        return failed(diag.message);
    wm_machine_destroy(machine);
    wm_object_close(object);
    return c[0] == 0 && c[64] == 1 && c[N - 1] == 15 ? 0 : failed("c is not what v2 was");
}
