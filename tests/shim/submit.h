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

#endif
