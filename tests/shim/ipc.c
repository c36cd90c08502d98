/* SPDX-License-Identifier: MIT */
/* Signals that two processes share, as HIP 7.15 uses them for its events: each changes and waits for those of
 * the other, with its host threads and with its queues. The second process begins before the runtime does. */
#include "one_gpu.h"
#include "submit.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int to_other, from_other; /* pipes */
static pid_t other;

static void tell(const void *bytes, size_t size)
{
    assert_int_equal(write(to_other, bytes, size), size);
}

static void hear(void *bytes, size_t size)
{
    assert_int_equal(read(from_other, bytes, size), size);
}

static hsa_signal_t new_shared(int64_t value)
{
    hsa_signal_t signal;
    OK(hsa_amd_signal_create(value, 0, NULL, HSA_AMD_SIGNAL_IPC, &signal));
    return signal;
}

/* ---- the second process ---- */

static hsa_signal_t hear_signal(void)
{
    hsa_amd_ipc_signal_t handle;
    hsa_signal_t signal;
    hear(&handle, sizeof handle);
    OK(hsa_amd_ipc_signal_attach(&handle, &signal));
    return signal;
}

static void test_other(void **state)
{
    (void)state;
    char go;
    const hsa_signal_t first = hear_signal(), second = hear_signal();
    assert_int_equal(hsa_signal_load_relaxed(first), 1);
    hear(&go, 1);
    hsa_signal_subtract_screlease(first, 1);
    hear(&go, 1);
    hsa_signal_store_screlease(second, 0);
    assert_int_equal(
        hsa_signal_wait_scacquire(first, HSA_SIGNAL_CONDITION_EQ, 7, LONG, HSA_WAIT_STATE_BLOCKED), 7);
    tell("", 1);
    OK(hsa_signal_destroy(first));
    OK(hsa_signal_destroy(second));
}

/* ---- the first one ---- */

static void tell_signal(hsa_signal_t signal)
{
    hsa_amd_ipc_signal_t handle;
    OK(hsa_amd_ipc_signal_create(signal, &handle));
    tell(&handle, sizeof handle);
}

static void test_two_processes(void **state)
{
    (void)state;
    char done;
    hsa_queue_t *queue;
    const hsa_signal_t first = new_shared(1), second = new_shared(1), passed = new_signal(1);
    const hsa_barrier_and_packet_t barrier = {
        .header = HSA_PACKET_TYPE_BARRIER_AND, .dep_signal = {second}, .completion_signal = passed};
    tell_signal(first);
    tell_signal(second);

    tell("", 1);
    assert_int_equal(wait_below_1(first), 0);

    OK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &queue));
    submit(queue, &barrier);
    assert_int_equal(hsa_signal_load_scacquire(passed), 1);
    tell("", 1);
    assert_int_equal(wait_below_1(passed), 0);
    OK(hsa_queue_destroy(queue));

    hsa_signal_store_screlease(first, 7);
    hear(&done, 1);
    OK(hsa_signal_destroy(first));
    OK(hsa_signal_destroy(second));
    OK(hsa_signal_destroy(passed));
}

/* Handles of one signal in one process: it lives until all of them are destroyed. */
static void test_one_process(void **state)
{
    (void)state;
    hsa_amd_ipc_signal_t handle;
    hsa_signal_t again;
    const hsa_signal_t signal = new_shared(3);
    OK(hsa_amd_ipc_signal_create(signal, &handle));
    OK(hsa_amd_ipc_signal_attach(&handle, &again));
    assert_int_equal(again.handle, signal.handle);
    OK(hsa_signal_destroy(signal));
    assert_int_equal(hsa_signal_load_relaxed(again), 3);
    OK(hsa_signal_destroy(again));
    FAILS(hsa_signal_destroy(again));
    assert_int_not_equal(new_shared(0).handle, signal.handle); /* another process may still have it */
}

static void test_wrong(void **state)
{
    (void)state;
    hsa_amd_ipc_signal_t handle, changed;
    hsa_signal_t signal = new_shared(0);
    void *memory;
    FAILS(hsa_amd_ipc_signal_create(new_signal(0), &handle)); /* not made for it */
    FAILS(hsa_amd_ipc_signal_create(signal, NULL));
    OK(hsa_amd_ipc_signal_create(signal, &handle));
    FAILS(hsa_amd_ipc_signal_attach(&handle, NULL));
    FAILS(hsa_amd_ipc_signal_attach(NULL, &signal));
    FAILS(hsa_amd_ipc_memory_attach((const hsa_amd_ipc_memory_t *)&handle, 4096, 1, &gpu, &memory));
    for (size_t i = 0; i < sizeof handle / sizeof(uint32_t); i++) {
        changed = handle;
        changed.handle[i] ^= UINT32_C(0x40000000);
        FAILS(hsa_amd_ipc_signal_attach(&changed, &signal));
    }

    void *const shared = allocate(device, 4096 * 64); /* as large as what signals are in */
    OK(hsa_amd_ipc_memory_create(shared, 4096 * 64, (hsa_amd_ipc_memory_t *)&handle));
    FAILS(hsa_amd_ipc_signal_attach(&handle, &signal));
}

static int set_up(void **state)
{
    (void)state;
    return begin("vega64");
}

/* Separate pipes for each direction. */
static bool fork_other(void)
{
    int there[2], back[2];
    if (pipe(there) || pipe(back))
        return false;
    other = fork();
    to_other = other ? there[1] : back[1];
    from_other = other ? back[0] : there[0];
    close(other ? there[0] : there[1]);
    close(other ? back[1] : back[0]);
    return other >= 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_processes),
                                       cmocka_unit_test(test_one_process), cmocka_unit_test(test_wrong)};
    const struct CMUnitTest others[] = {cmocka_unit_test(test_other)};
    int status = 1;
    if (!fork_other())
        return 2;
    if (!other)
        return cmocka_run_group_tests(others, set_up, NULL);
    const int failed = cmocka_run_group_tests(tests, set_up, NULL);
    close(to_other); /* should the other process still wait for something */
    return waitpid(other, &status, 0) != other || status || failed;
}
