/* SPDX-License-Identifier: MIT */
/* One Jacobi step with the seven-point stencil on a 3D grid; the border keeps its values. */
#define AT(x, y, z) (((z)*ny + (y)) * nx + (x))

__kernel void stencil7(__global const float *in, __global float *out, int nx, int ny, int nz, float c0, float c1)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x >= nx || y >= ny || z >= nz)
        return;
    if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
        out[AT(x, y, z)] = in[AT(x, y, z)];
        return;
    }
    out[AT(x, y, z)] = c1 * (in[AT(x - 1, y, z)] + in[AT(x + 1, y, z)] + in[AT(x, y - 1, z)] + in[AT(x, y + 1, z)] +
                             in[AT(x, y, z - 1)] + in[AT(x, y, z + 1)]) -
                       c0 * in[AT(x, y, z)];
}
