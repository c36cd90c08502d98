/* SPDX-License-Identifier: MIT */
/* How a program hands a packet to a queue: the header last, since the queue's thread looks at it meanwhile.
 */
#ifndef WAVEMEM_TESTS_SUBMIT_H
#define WAVEMEM_TESTS_SUBMIT_H

#include <hsa/hsa.h>
#include <string.h>

enum { PACKET_WORDS = 16 };

static void submit(hsa_queue_t *queue, const void *packet)
{
    uint32_t words[PACKET_WORDS];
    const uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
    while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
        ;
    uint32_t *slot = (uint32_t *)queue->base_address + index % queue->size * PACKET_WORDS;
    memcpy(words, packet, sizeof words);
    memcpy(slot + 1, words + 1, sizeof words - 4);
    __atomic_store_n(slot, words[0], __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (int64_t)index);
}

/* Starts a workgroup of `items` work-items. */
static inline void submit_workgroup(hsa_queue_t *queue, uint64_t kernel, void *arguments, uint16_t items,
                                    hsa_signal_t done)
{
    const hsa_kernel_dispatch_packet_t packet = {.header = HSA_PACKET_TYPE_KERNEL_DISPATCH,
                                                 .setup = 1,
                                                 .workgroup_size_x = items,
                                                 .workgroup_size_y = 1,
                                                 .workgroup_size_z = 1,
                                                 .grid_size_x = items,
                                                 .grid_size_y = 1,
                                                 .grid_size_z = 1,
                                                 .kernel_object = kernel,
                                                 .kernarg_address = arguments,
                                                 .completion_signal = done};
    submit(queue, &packet);
}

#endif
