// SPDX-License-Identifier: MIT
// Kernels with faults, each in the line that ends with "here"; faults.py has the expected reports.

kernel void store_outside(global uint *out)
{
    if (get_group_id(0) >= 3)
        out[get_global_id(0) + 1000000] = 1; // here
}

kernel void load_null(global const uint *in, global uint *out)
{
    out[get_global_id(0)] = in[get_local_id(0)]; // here
}

kernel void misaligned_atomic(global uint *out)
{
    if (get_global_id(0) >= 70)
        atomic_add((global uint *)((global char *)out + 4 * get_local_id(0) + 2), 1u); // here
}

kernel void bad_opcode(global uint *out)
{
    out[get_global_id(0)] = 1;
    if (get_group_id(0) == 2)
        __asm__ volatile(".long 0xffffffff"); // here
}

kernel void trap(global uint *out)
{
    out[get_global_id(0)] = 1;
    if (get_group_id(0) == 2)
        __builtin_trap(); // here
}

kernel void jump_nowhere(global uint *out)
{
    out[get_global_id(0)] = 1;
    if (get_group_id(0) == 2)
        __asm__ volatile("s_mov_b32 s0, 0x1230\n s_mov_b32 s1, 0x4567\n s_setpc_b64 s[0:1]" ::: "s0", "s1");
}

kernel void count_for_ever(volatile global uint *out)
{
    for (uint i = get_group_id(0) + 1; i; i += 2) // here
        ;
    out[0] = 1;
}

kernel void half_at_the_barrier(global uint *out)
{
    local volatile uint flag;
    if (get_local_id(0) == 0)
        flag = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) >= 64)
        barrier(CLK_LOCAL_MEM_FENCE);
    else
        while (!flag) // here
            ;
    flag = 1;
    out[get_global_id(0)] = flag;
}

kernel void stack_overflow(global uint *out, uint n)
{
    volatile uint stack[64];
    for (uint i = 0; i < n; i++)
        stack[i] = i; // here
    out[get_global_id(0)] = stack[get_local_id(0) & 63];
}

// What another wave has at this distance must not be changed.
kernel void stack_of_another(global uint *out, uint n)
{
    volatile uint stack[64];
    const bool last = get_group_id(0) >= 3 && get_local_id(0) >= 64;
    for (uint i = 0; i < 64; i++)
        stack[i] = i;
    if (last)
        stack[n] = 1; // here
    out[get_global_id(0)] = stack[get_local_id(0) & 63];
}

// No fault: a workgroup's private and local memory does not depend on previous workgroups.
kernel void remember(global uint *out)
{
    volatile uint private_memory[64];
    volatile local uint local_memory[64];
    const uint i = get_global_id(0), l = get_local_id(0);
    uint sum = 0;
    for (uint k = 0; k < 64; k++)
        sum += private_memory[(k * 7 + i) & 63] + local_memory[k];
    out[i] = sum;
    for (uint k = 0; k < 64; k++)
        private_memory[k] = local_memory[l & 63] = i + k + 1;
}
