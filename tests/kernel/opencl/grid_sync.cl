// SPDX-License-Identifier: MIT
// Synchronizes its grid by the device library's function for HIP's cooperative groups. The workgroups of a dispatch count
// themselves in each round; behind the synchronization each must find all of them.
extern void __ockl_grid_sync(void);
extern int __ockl_grid_is_valid(void);
extern int __ockl_multi_grid_is_valid(void);

kernel void rounds(global volatile atomic_uint *counter, global uint *wrong, global int *valid, uint rounds)
{
    uint count = 0;
    for (uint r = 0; r < rounds; r++) {
        if (get_local_id(0) == 0)
            atomic_fetch_add_explicit(&counter[r], 1u, memory_order_relaxed, memory_scope_device);
        __ockl_grid_sync();
        count += atomic_load_explicit(&counter[r], memory_order_relaxed, memory_scope_device) != get_num_groups(0);
    }
    wrong[get_global_id(0)] = count;
    valid[0] = __ockl_grid_is_valid();
    valid[1] = __ockl_multi_grid_is_valid();
}
