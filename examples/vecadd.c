/* SPDX-License-Identifier: MIT */
/* Runs vecadd.co without a GPU: cc vecadd.c $(pkg-config --cflags --libs wavemem) */
#include <stdio.h>
#include <wavemem/wavemem.h>

enum { N = 1000 };

static int failed(const char *message)
{
    fprintf(stderr, "vecadd: %s\n", message);
    return 1;
}

int main(int count, char **arguments)
{
    static float a[N], b[N], c[N];
    for (int i = 0; i < N; i++) {
        a[i] = (float)i, b[i] = 0.5f;
    }

    struct wm_diag diag;
    struct wm_object *object;
    struct wm_machine *machine;
    const struct wm_kernel *kernel;
    if (wm_object_open_file(count > 1 ? arguments[1] : "gfx900/vecadd.co", NULL, &object, &diag) ||
        wm_object_find_kernel(object, "vecadd", &kernel, &diag) ||
        wm_machine_create(wm_object_target(object), &machine, &diag) || wm_load(machine, object, &diag))
        return failed(diag.message);

    struct {
        uint64_t a, b, c;
        uint32_t n;
    } given = {.n = N};
    if (wm_allocate(machine, sizeof(a), WM_READ_ONLY, "a", &given.a, &diag) ||
        wm_allocate(machine, sizeof(b), WM_READ_ONLY, "b", &given.b, &diag) ||
        wm_allocate(machine, sizeof(c), 0, "c", &given.c, &diag) ||
        wm_write(machine, given.a, a, sizeof(a), &diag) || wm_write(machine, given.b, b, sizeof(b), &diag))
        return failed(diag.message);

    const struct wm_dispatch dispatch = {.struct_size = sizeof(dispatch),
                                         .grid = {1024},
                                         .workgroup = {256},
                                         .arguments = &given,
                                         .arguments_size = sizeof(given)};
    struct wm_result result = {.struct_size = sizeof(result)};
    if (wm_dispatch(machine, object, kernel, &dispatch, &result, &diag) ||
        wm_read(machine, given.c, c, sizeof(c), &diag))
        return failed(diag.message);
    if (result.fault.kind != WM_FAULT_NONE)
        return failed(result.fault.text);

    for (int i = 0; i < N; i++)
        if (c[i] != a[i] + b[i])
            return failed("a sum is wrong");
    printf("%d sums, %g wave-instructions\n", N, (double)result.wave_instructions);
    wm_machine_destroy(machine);
    wm_object_close(object);
    return 0;
}
