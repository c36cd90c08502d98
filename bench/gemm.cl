// SPDX-License-Identifier: MIT
// C = A B of SIDE x SIDE bf16, B by columns. A workgroup of four waves makes 128x128 elements of C from 32 columns of A
// and rows of B at a time, which it has in LDS; each wave has four products of 32x32.
#define SIDE 1024
#define TILE 128
#define DEPTH 32
#define RUNS (DEPTH / 8) // of 16 bytes in a row of a tile

typedef short bf16x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void gemm(global const uint4 *a, global const uint4 *b, global float *c)
{
    local uint4 a_tile[TILE * RUNS], b_tile[TILE * RUNS];
    const int item = (int)get_local_id(0), lane = item % 64, wave = item / 64;
    const int row = (int)get_group_id(1) * TILE, column = (int)get_group_id(0) * TILE;
    const int own_row = wave / 2 * 64 + lane % 32, own_column = wave % 2 * 64 + lane % 32;
    f32x16 sum[2][2] = {{0, 0}, {0, 0}};
    for (int k = 0; k < SIDE / 8; k += RUNS) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = item; i < TILE * RUNS; i += 256) {
            a_tile[i] = a[(row + i / RUNS) * (SIDE / 8) + k + i % RUNS];
            b_tile[i] = b[(column + i / RUNS) * (SIDE / 8) + k + i % RUNS];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int step = 0; step < RUNS; step++) { // 8 k, of which each half of the wave has 4
            const int at = 2 * step + lane / 32;
            bf16x4 x[2], y[2];
            for (int i = 0; i < 2; i++) {
                x[i] = ((local const bf16x4 *)a_tile)[(own_row + 32 * i) * 2 * RUNS + at];
                y[i] = ((local const bf16x4 *)b_tile)[(own_column + 32 * i) * 2 * RUNS + at];
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++)
                    sum[i][j] = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(x[i], y[j], sum[i][j], 0, 0, 0);
        }
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int v = 0; v < 16; v++) {
                const int y = row + wave / 2 * 64 + 32 * i + 8 * (v / 4) + 4 * (lane / 32) + v % 4;
                c[y * SIDE + column + own_column + 32 * j] = sum[i][j][v];
            }
}
