/* SPDX-License-Identifier: MIT */
/* A library whose name begins with libamdhip64.so, and which waits as HIP 7 does (ROCclr 7.15,
 * rocvirtual.hpp, WaitForSignal()). */
#include <hsa/hsa.h>

__attribute__((visibility("default"))) int64_t wait_as_hip(hsa_signal_t signal);

int64_t wait_as_hip(hsa_signal_t signal)
{
    const uint64_t limit = 4000000;
    hsa_signal_value_t value;
    do
        value = hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, limit, HSA_WAIT_STATE_BLOCKED);
    while (value >= 1);
    return value;
}
