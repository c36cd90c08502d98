/* SPDX-License-Identifier: MIT */
/* Runs the seventeen example kernels at sizes that are not multiples of the workgroup size, and compares with
 * plain C.
 *
 * usage: examples FOLDER|FILE      (FOLDER/NAME.co, or all kernels in one file) */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reference.h"
#include "runner.h"
#include "workloads.h"

struct example {
    const struct workload *workload;
    const char *place;
};

static void run_example(void **state)
{
    const struct example *example = *state;
    struct workload_run run;
    assert_true(workload_prepare(example->workload, example->workload->small, true, &run));

    char path[4096];
    const char *ending = strrchr(example->place, '.');
    if (ending && !strcmp(ending, ".co"))
        snprintf(path, sizeof(path), "%s", example->place);
    else
        snprintf(path, sizeof(path), "%s/%s.co", example->place, example->workload->file);
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct runner runner;
        if (!runner_open(&runner, &run, path) || !runner_reset(&runner) ||
            !runner_dispatch(&runner, threads) || !runner_check(&runner, NULL)) {
            runner_close(&runner);
            workload_free(&run);
            fail_msg("%s, %u thread(s): %s", example->workload->name, threads, runner.message);
        }
        assert_true(runner.wave_instructions > 0);
        runner_close(&runner);
    }
    workload_free(&run);
}

/* The comparison must be able to fail: the last element of each output is changed by more than the
 * tolerance. */
static void spoilt_results_differ(void **state)
{
    (void)state;
    for (size_t i = 0; i < WORKLOAD_COUNT; i++) {
        struct workload_run run;
        assert_true(workload_prepare(&workloads[i], workloads[i].small, true, &run));
        size_t outputs = 0;
        for (size_t j = 0; j < run.buffer_count; j++) {
            struct workload_buffer *buffer = &run.buffer[j];
            if (!buffer->expected)
                continue;
            outputs++;
            assert_int_equal(workload_compare(buffer, buffer->expected, NULL, 0, NULL), 0);
            assert_true(workload_compare(buffer, buffer->initial, NULL, 0, NULL) > 0);
            memcpy(buffer->initial, buffer->expected, buffer->count * 4);
            if (buffer->type == WORKLOAD_U32)
                ((uint32_t *)buffer->initial)[buffer->count - 1] ^= 1;
            else
                ((float *)buffer->initial)[buffer->count - 1] = __builtin_nanf("");
            assert_int_equal(workload_compare(buffer, buffer->initial, NULL, 0, NULL), 1);
        }
        assert_true(outputs > 0);
        workload_free(&run);
    }
}

/* The examples of FIPS 180-2, appendices B.1 (one block) and B.2 (two blocks). */
static void reference_sha256_is_right(void **state)
{
    static const struct {
        const char *message;
        uint8_t start[4];
    } known[] = {
        {"abc", {0xba, 0x78, 0x16, 0xbf}},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", {0x24, 0x8d, 0x6a, 0x61}},
    };
    (void)state;
    struct sha256_constants constants;
    reference_sha256_constants(&constants);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        uint8_t digest[32];
        reference_sha256(&constants, (const uint8_t *)known[i].message, strlen(known[i].message), digest);
        assert_memory_equal(digest, known[i].start, 4);
    }
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: examples FOLDER|FILE\n");
        return 2;
    }
    static struct example example[WORKLOAD_COUNT];
    struct CMUnitTest test[WORKLOAD_COUNT + 2] = {
        cmocka_unit_test(spoilt_results_differ),
        cmocka_unit_test(reference_sha256_is_right),
    };
    for (size_t i = 0; i < WORKLOAD_COUNT; i++) {
        example[i] = (struct example){.workload = &workloads[i], .place = arguments[1]};
        test[i + 2] = (struct CMUnitTest){
            .name = workloads[i].name, .test_func = run_example, .initial_state = &example[i]};
    }
    return cmocka_run_group_tests(test, NULL, NULL);
}
