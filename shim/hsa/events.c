/* SPDX-License-Identifier: MIT */
/* Handlers of events of the whole system: memory faults of kernels. They are called on the thread of the
 * queue, before its own callback. Source: hsa_ext_amd.h, hsa_amd_register_system_event_handler(). */
#include "shim.h"

#include <pthread.h>

enum { MOST = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct handler {
    hsa_amd_system_event_callback_t call;
    void *user;
} handlers[MOST];
static unsigned count;

SHIM_API hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t callback,
                                                            void *user)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!callback)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&lock);
    const bool ok = count < MOST;
    if (ok)
        handlers[count++] = (struct handler){callback, user};
    pthread_mutex_unlock(&lock);
    return ok ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

void shim_tell_fault(unsigned gpu, const struct wm_fault *fault)
{
    const hsa_amd_event_t event = {
        .event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT,
        .memory_fault = {.agent = {SHIM_GPU + gpu},
                         .virtual_address = fault->low,
                         .fault_reason_mask = fault->kind == WM_FAULT_READ_ONLY
                                                  ? HSA_AMD_MEMORY_FAULT_READ_ONLY
                                                  : HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT}};
    pthread_mutex_lock(&lock);
    const unsigned known = count;
    pthread_mutex_unlock(&lock);
    for (unsigned i = 0; i < known; i++) /* never changed once they are there */
        handlers[i].call(&event, handlers[i].user);
}
