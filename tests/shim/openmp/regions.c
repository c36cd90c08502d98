/* SPDX-License-Identifier: MIT */
/* OpenMP offload: parallel regions inside a target region, variables and functions of the device, atomics,
 * updates. */
#include <omp.h>
#include <stdio.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
            return 1;                                                                                        \
        }                                                                                                    \
    } while (0)

enum { N = 500 };

#pragma omp declare target
int total = 5; /* updates need an external name */
int factors[4] = {2, 3, 5, 7};

static int weigh(int i)
{
    return factors[i % 4] * i;
}
#pragma omp end declare target

int main(void)
{
    int counts[8] = {0}, squares[N], threads = 0, expected = 5;
    int *device, host[N];

#pragma omp target map(tofrom : threads) map(from : squares)
    { /* one thread starts others, twice */
#pragma omp parallel for
        for (int i = 0; i < N; i++)
            squares[i] = i * i;
#pragma omp parallel
        {
#pragma omp atomic
            threads++;
        }
    }
    CHECK(threads > 1);
    for (int i = 0; i < N; i++)
        CHECK(squares[i] == i * i);

#pragma omp target teams distribute parallel for map(tofrom : counts)
    for (int i = 0; i < N; i++) {
#pragma omp atomic
        counts[i * i % 8]++;
#pragma omp atomic
        total += weigh(i);
    }
#pragma omp target update from(total)
    for (int i = 0; i < N; i++)
        expected += weigh(i);
    CHECK(total == expected);
    /* squares modulo 8: 0 of multiples of 4, 4 of other even numbers, 1 of odd ones */
    CHECK(counts[0] == N / 4 && counts[4] == N / 4 && counts[1] == N / 2);

    device = omp_target_alloc(sizeof host, 0);
    CHECK(device);
#pragma omp target teams distribute parallel for is_device_ptr(device)
    for (int i = 0; i < N; i++)
        device[i] = N - i;
    CHECK(!omp_target_memcpy(host, device, sizeof host, 0, 0, omp_get_initial_device(), 0));
    omp_target_free(device, 0);
    for (int i = 0; i < N; i++)
        CHECK(host[i] == N - i);
    return 0;
}
