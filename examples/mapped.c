/* SPDX-License-Identifier: MIT */
/* Runs vecadd.co on arrays of the host, without copies: guest addresses are host addresses.
 * cc mapped.c $(pkg-config --cflags --libs wavemem) */
#include <stdio.h>
#include <wavemem/wavemem.h>

enum { N = 1000 };

static float a[N], b[N], c[N];

static int failed(const char *message)
{
    fprintf(stderr, "mapped: %s\n", message);
    return 1;
}

int main(int count, char **arguments)
{
    struct wm_diag diag = {.message = "usage: mapped vecadd.co"};
    struct wm_object *object;
    struct wm_machine *machine;
    const struct wm_kernel *kernel;
    if (count != 2 || wm_object_open_file(arguments[1], NULL, &object, &diag) ||
        wm_object_find_kernel(object, "vecadd", &kernel, &diag) ||
        wm_machine_create(wm_object_target(object), &machine, &diag) || wm_load(machine, object, &diag) ||
        wm_map_host(machine, a, sizeof(a), 0, WM_READ_ONLY, "a", &diag) ||
        wm_map_host(machine, b, sizeof(b), 0, WM_READ_ONLY, "b", &diag) ||
        wm_map_host(machine, c, sizeof(c), 0, 0, "c", &diag))
        return failed(diag.message);
    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = 0.5f;
    }
    const struct {
        const float *a, *b, *c;
        uint32_t n;
    } given = {a, b, c, N};
    const struct wm_dispatch dispatch = {.struct_size = sizeof(dispatch),
                                         .grid = {1024},
                                         .workgroup = {256},
                                         .arguments = &given,
                                         .arguments_size = sizeof(given)};
    struct wm_result result = {.struct_size = sizeof(result)};
    if (wm_dispatch(machine, object, kernel, &dispatch, &result, &diag))
        return failed(diag.message);
    if (result.fault.kind)
        return failed(result.fault.text);
    for (int i = 0; i < N; i++)
        if (c[i] != (float)i + 0.5f)
            return failed("c is not a + b");
    printf("c[%d] = %g\n", N - 1, (double)c[N - 1]);
    wm_machine_destroy(machine); /* a, b and c stay the host's */
    wm_object_close(object);
    return 0;
}
