/* SPDX-License-Identifier: MIT */
/* One step of a lattice Boltzmann fluid (D2Q9, BGK) on a periodic grid: pulls nine distributions from the neighbours,
 * relaxes and stores them. Each distribution is an array of its own. */
#define EQUILIBRIUM(weight, eu) ((weight) * density * (still + 3.0f * (eu) + 4.5f * (eu) * (eu)))
#define RELAX(i, weight, eu)    out[(i) * cells + here] = f##i + omega * (EQUILIBRIUM(weight, eu) - f##i)

__kernel void lbm(__global const float *in, __global float *out, int nx, int ny, float omega)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= nx || y >= ny)
        return;
    const int west = x > 0 ? x - 1 : nx - 1, east = x < nx - 1 ? x + 1 : 0;
    const int south = (y > 0 ? y - 1 : ny - 1) * nx, north = (y < ny - 1 ? y + 1 : 0) * nx, row = y * nx;
    const int cells = nx * ny, here = row + x;

    const float f0 = in[here];
    const float f1 = in[cells + row + west];
    const float f2 = in[2 * cells + south + x];
    const float f3 = in[3 * cells + row + east];
    const float f4 = in[4 * cells + north + x];
    const float f5 = in[5 * cells + south + west];
    const float f6 = in[6 * cells + south + east];
    const float f7 = in[7 * cells + north + east];
    const float f8 = in[8 * cells + north + west];

    const float density = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
    const float ux = (f1 + f5 + f8 - f3 - f6 - f7) / density;
    const float uy = (f2 + f5 + f6 - f4 - f7 - f8) / density;
    const float still = 1.0f - 1.5f * (ux * ux + uy * uy);
    RELAX(0, 4.0f / 9, 0.0f);
    RELAX(1, 1.0f / 9, ux);
    RELAX(2, 1.0f / 9, uy);
    RELAX(3, 1.0f / 9, -ux);
    RELAX(4, 1.0f / 9, -uy);
    RELAX(5, 1.0f / 36, ux + uy);
    RELAX(6, 1.0f / 36, uy - ux);
    RELAX(7, 1.0f / 36, -ux - uy);
    RELAX(8, 1.0f / 36, ux - uy);
}
