/* SPDX-License-Identifier: MIT */
/* C = alpha * A * B + beta * C in row-major order: A is m x k, B is k x n.
 *
 * A workgroup of 16 x 16 makes a 64 x 64 tile of C, 4 x 4 elements per work-item in registers; slices of A
 * and B that are 16 deep pass through LDS. Elements outside the matrices count as zero. */
#define TILE  64
#define DEPTH 16
#define GROUP 16
#define EACH  (TILE / GROUP)

kernel __attribute__((reqd_work_group_size(GROUP, GROUP, 1))) void sgemm(uint m, uint n, uint k, float alpha,
                                                                         global const float *restrict a,
                                                                         global const float *restrict b,
                                                                         float beta, global float *restrict c)
{
    local float slice_a[DEPTH][TILE + 1]; /* transposed; padded, as it is written down its columns */
    local float slice_b[DEPTH][TILE];
    const uint x = get_local_id(0), y = get_local_id(1), item = y * GROUP + x;
    const uint left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
    float sum[EACH][EACH] = {{0}};

    for (uint start = 0; start < k; start += DEPTH) {
        for (uint i = item; i < TILE * DEPTH; i += GROUP * GROUP) {
            const uint row = top + i / DEPTH, depth = start + i % DEPTH;
            slice_a[i % DEPTH][i / DEPTH] = row < m && depth < k ? a[row * k + depth] : 0;
        }
        for (uint i = item; i < TILE * DEPTH; i += GROUP * GROUP) {
            const uint depth = start + i / TILE, column = left + i % TILE;
            slice_b[i / TILE][i % TILE] = depth < k && column < n ? b[depth * n + column] : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        for (uint depth = 0; depth < DEPTH; depth++) {
            float column[EACH], row[EACH];
            for (uint i = 0; i < EACH; i++) {
                column[i] = slice_a[depth][y + i * GROUP];
                row[i] = slice_b[depth][x + i * GROUP];
            }
            for (uint i = 0; i < EACH; i++)
                for (uint j = 0; j < EACH; j++)
                    sum[i][j] = fma(column[i], row[j], sum[i][j]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    for (uint i = 0; i < EACH; i++) {
        for (uint j = 0; j < EACH; j++) {
            const uint row = top + y + i * GROUP, column = left + x + j * GROUP;
            if (row < m && column < n)
                c[row * n + column] = fma(alpha, sum[i][j], beta * c[row * n + column]);
        }
    }
}
