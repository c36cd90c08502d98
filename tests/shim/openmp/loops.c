/* SPDX-License-Identifier: MIT */
/* OpenMP offload: loops over teams and threads, reductions, mapped arrays that stay on the device. */
#include <omp.h>
#include <stdio.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
            return 1;                                                                                        \
        }                                                                                                    \
    } while (0)

enum { N = 10000, SIDE = 40 };

static float a[N], b[N];
static int in[SIDE][SIDE], out[SIDE][SIDE];

int main(void)
{
    double sum = 0;
    int largest = -1, on_host = 1;
    CHECK(omp_get_num_devices() == 1);
#pragma omp target map(from : on_host)
    on_host = omp_is_initial_device();
    CHECK(!on_host);

    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = (float)(2 * i);
    }
#pragma omp target teams distribute parallel for map(to : a) map(tofrom : b) reduction(+ : sum)              \
    reduction(max : largest)
    for (int i = 0; i < N; i++) {
        b[i] += 3 * a[i];
        sum += (double)b[i];
        largest = i * 7 % 1009 > largest ? i * 7 % 1009 : largest;
    }
    CHECK(sum == 5.0 * N * (N - 1) / 2);
    CHECK(largest == 1008);
    for (int i = 0; i < N; i++)
        CHECK(b[i] == (float)(5 * i));

    for (int i = 0; i < SIDE * SIDE; i++)
        in[i / SIDE][i % SIDE] = i;
#pragma omp target data map(to : in) map(from : out)
    {
#pragma omp target teams distribute parallel for collapse(2)
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                out[x][y] = in[y][x];
        in[0][0] = 77; /* the device's copy stays */
#pragma omp target teams distribute parallel for collapse(2)
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                out[y][x] += in[0][0] + 1;
    }
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            CHECK(out[x][y] == y * SIDE + x + 1);
    return 0;
}
