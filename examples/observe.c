/* SPDX-License-Identifier: MIT */
/* Prints the memory accesses of each wave of vecadd.co: cc observe.c $(pkg-config --cflags --libs wavemem) */
#include <stdio.h>
#include <wavemem/wavemem.h>

static void show(void *user, const struct wm_event *event)
{
    uint64_t *bytes = user; /* loaded, stored */
    const struct wm_access *access = &event->access;
    for (uint32_t i = 0; i < access->places; i++) {
        const uint64_t lanes = access->place[i].lanes;
        const unsigned count = (unsigned)__builtin_popcountll(lanes);
        bytes[access->kind] += count * access->bytes;
        if (lanes)
            printf("workgroup %u wave %u: %s %s, %2u lanes of %u bytes, the first at 0x%llx\n",
                   event->workgroup[0], event->wave, wm_path_name(access->path),
                   wm_access_kind_name(access->kind), count, access->bytes,
                   (unsigned long long)access->place[i].address[__builtin_ctzll(lanes)]);
    }
}

int main(int count, char **arguments)
{
    struct wm_diag diag = {.message = "usage: observe vecadd.co"};
    struct wm_object *object;
    struct wm_machine *machine;
    const struct wm_kernel *kernel;
    struct {
        uint64_t a, b, c;
        uint32_t n;
    } given = {.n = 1000};
    uint64_t bytes[2] = {0};
    const struct wm_observer observer = {
        .struct_size = sizeof(observer), .events = WM_EVENT_ACCESS, .user = bytes, .event = show};
    const struct wm_observer *const observers[] = {&observer};
    struct wm_dispatch dispatch = {.struct_size = sizeof(dispatch), .grid = {1024}, .workgroup = {256}};
    struct wm_result result = {.struct_size = sizeof(result)};
    if (count != 2 || wm_object_open_file(arguments[1], NULL, &object, &diag) ||
        wm_object_find_kernel(object, "vecadd", &kernel, &diag) ||
        wm_machine_create(wm_object_target(object), &machine, &diag) || wm_load(machine, object, &diag) ||
        wm_allocate(machine, 4000, 0, "a", &given.a, &diag) ||
        wm_allocate(machine, 4000, 0, "b", &given.b, &diag) ||
        wm_allocate(machine, 4000, 0, "c", &given.c, &diag))
        return fprintf(stderr, "observe: %s\n", diag.message), 1;
    dispatch.arguments = &given;
    dispatch.arguments_size = sizeof(given);
    dispatch.observers = observers;
    dispatch.observer_count = 1;
    if (wm_dispatch(machine, object, kernel, &dispatch, &result, &diag))
        return fprintf(stderr, "observe: %s\n", diag.message), 1;
    printf("%llu bytes loaded, %llu stored\n", (unsigned long long)bytes[0], (unsigned long long)bytes[1]);
    wm_machine_destroy(machine);
    wm_object_close(object);
    return bytes[1] == 4000 ? 0 : 1;
}
