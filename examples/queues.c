/* SPDX-License-Identifier: MIT */
/* Two queues, of which the second waits for the first:
 * cc queues.c $(pkg-config --cflags --libs wavemem) */
#include <stdio.h>
#include <wavemem/wavemem.h>

enum { N = 256 };

static struct { /* mapped, so that the guest sees it at its own address */
    _Alignas(64) float a[N], b[N], sum[N], total[N];
    struct {
        const float *a, *b, *c;
        uint32_t n, hidden[71];
    } first, second;
    int64_t signal;
} memory = {.first = {memory.a, memory.b, memory.sum, N},
            .second = {memory.sum, memory.a, memory.total, N},
            .signal = 1};

static int failed(const char *message)
{
    fprintf(stderr, "queues: %s\n", message);
    return 1;
}

int main(int count, char **arguments)
{
    struct wm_diag diag = {.message = "usage: queues vecadd.co"};
    struct wm_object *object;
    struct wm_machine *machine;
    struct wm_queue *one, *two;
    bool done;
    const uint64_t signal = (uintptr_t)&memory.signal;
    struct wm_packet add = {
        .struct_size = sizeof(add), .grid = {N}, .workgroup = {64}, .fills_hidden_arguments = true};
    if (count != 2 || wm_object_open_file(arguments[1], NULL, &object, &diag) ||
        wm_machine_create(wm_object_target(object), &machine, &diag) || wm_load(machine, object, &diag) ||
        wm_symbol(machine, object, "vecadd.kd", &add.kernel_object, NULL, &diag) ||
        wm_map_host(machine, &memory, sizeof(memory), 0, 0, "memory", &diag) ||
        wm_queue_create(machine, &one, &diag) || wm_queue_create(machine, &two, &diag))
        return failed(diag.message);
    for (int i = 0; i < N; i++)
        memory.a[i] = memory.b[i] = (float)i;
    struct wm_packet then = add;
    add.kernarg_address = (uintptr_t)&memory.first;
    add.completion_signal = signal; /* decremented when it has completed */
    then.kernarg_address = (uintptr_t)&memory.second;
    then.dependencies = &signal; /* must be 0 before it starts */
    then.dependency_count = 1;
    if (wm_queue_submit(two, &then, NULL, &diag) || wm_queue_submit(one, &add, NULL, &diag) ||
        wm_queue_wait(two, 0, -1, &done, &diag))
        return failed(diag.message);
    printf("total[%d] = %g\n", N - 1, (double)memory.total[N - 1]);
    wm_queue_destroy(one);
    wm_queue_destroy(two);
    wm_machine_destroy(machine);
    wm_object_close(object);
    return memory.total[N - 1] == 3.0f * (N - 1) ? 0 : failed("expected 3 * (n - 1)");
}
