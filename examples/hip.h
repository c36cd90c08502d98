// SPDX-License-Identifier: MIT
// The few words of HIP that the examples use, over clang's builtins: no ROCm headers are needed.
#ifndef WAVEMEM_EXAMPLES_HIP_H
#define WAVEMEM_EXAMPLES_HIP_H

#define __global__   __attribute__((global))
#define __device__   __attribute__((device))
#define __shared__   __attribute__((shared))
#define __constant__ __attribute__((constant))

// threadIdx.x and the like, which are calls.
#define WAVEMEM_EXTENT(name, builtin)                                                                        \
    static const struct {                                                                                    \
        __device__ unsigned get_x() const                                                                    \
        {                                                                                                    \
            return builtin##_x();                                                                            \
        }                                                                                                    \
        __declspec(property(get = get_x)) unsigned x;                                                        \
    } name = {};

WAVEMEM_EXTENT(threadIdx, __builtin_amdgcn_workitem_id)
WAVEMEM_EXTENT(blockIdx, __builtin_amdgcn_workgroup_id)
WAVEMEM_EXTENT(blockDim, __builtin_amdgcn_workgroup_size)

static inline __device__ void __syncthreads()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// What another lane of the wave has; lanes are 0 to 63.
template <class T> static inline __device__ T __shfl(T value, unsigned lane)
{
    constexpr unsigned words = sizeof(T) / 4;
    static_assert(sizeof(T) % 4 == 0, "whole words");
    union {
        T value;
        int word[words];
    } u = {value};
    for (unsigned i = 0; i < words; i++)
        u.word[i] = __builtin_amdgcn_ds_bpermute(4 * lane, u.word[i]);
    return u.value;
}

#endif
