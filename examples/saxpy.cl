/* SPDX-License-Identifier: MIT */
/* y = alpha * x + y: one fused multiply-add for twelve bytes of memory traffic. */
kernel void saxpy(float alpha, global const float *restrict x, global float *restrict y, uint n)
{
    const uint i = get_global_id(0);
    if (i < n)
        y[i] = fma(alpha, x[i], y[i]);
}
