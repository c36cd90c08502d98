/* SPDX-License-Identifier: MIT */
/* Kernels without library calls that exercise much of an instruction set: compiled.py. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define ID (__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x())

kernel void add(global const float *a, global const float *b, global float *c, uint n)
{
    const uint i = ID;
    if (i < n)
        c[i] = a[i] * 3.25f + b[i];
}

kernel void integers(global long *a, global const ulong *b, global int *c, global short *d, global char *e)
{
    const uint i = ID;
    a[i] = a[i] / (long)(b[i] | 1) + a[i] % 1000003 + ((long)c[i] << (b[i] & 63));
    c[i] = (c[i] * 12345 >> 3) ^ (c[i] / 7) ^ __builtin_popcountl(b[i]) ^ __builtin_clz(c[i] | 1);
    d[i] = (short)(d[i] * d[i + 1] + e[i]);
    e[i] = (char)(e[i] >> 1);
}

kernel void doubles(global double *a, global const double *b, global float *f)
{
    const uint i = ID;
    double s = 0;
    for (uint k = 0; k < 16; k++)
        s = __builtin_fma(a[i * 16 + k], b[k], s);
    a[i] = s / (b[i] + 0.5) + __builtin_floor(s) + __builtin_fabs(b[i]);
    f[i] = (float)s + (float)(int)f[i] + (float)(uint)s;
}

kernel void tile(global const float4 *a, global float4 *b, local float *l)
{
    const uint x = __builtin_amdgcn_workitem_id_x();
    l[x] = a[ID].x;
    l[x + 64] = a[ID].y;
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
    __builtin_amdgcn_s_barrier();
    float s = 0;
    for (uint k = 0; k < 128; k += 2)
        s += l[k ^ x] * l[(k + 1) ^ x];
    b[ID] = (float4)(s, a[ID].z, l[63 - x], s * a[ID].w);
}

kernel void atomics(volatile global int *a, volatile global long *b, volatile local int *l)
{
    __atomic_fetch_add(&l[ID & 15], 3, __ATOMIC_RELAXED);
    __atomic_fetch_add(&a[0], a[ID + 1], __ATOMIC_SEQ_CST);
    a[ID] = __atomic_fetch_max(&a[1], (int)ID, __ATOMIC_RELAXED);
    b[ID] = __atomic_fetch_xor(&b[1], (long)ID, __ATOMIC_RELAXED) + l[ID & 15];
}

kernel void spilled(global int *a)
{
    int t[64];
    for (uint k = 0; k < 64; k++)
        t[k] = a[k * ID];
    for (uint k = 0; k < 64; k++)
        a[k + ID] = t[(t[k] + k) & 63];
}
