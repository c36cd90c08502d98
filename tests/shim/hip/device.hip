// SPDX-License-Identifier: MIT
// What the device says about itself: prints name, architecture, compute units, wave size.
#include "check.h"

int main()
{
    hipDeviceProp_t properties;
    int count = 0;
    HIP(hipGetDeviceCount(&count));
    CHECK(count == 1);
    HIP(hipGetDeviceProperties(&properties, 0));
    CHECK(properties.maxThreadsPerBlock == 1024 && properties.sharedMemPerBlock == 65536);
    std::printf("%s, %s, %d, %d\n", properties.name, properties.gcnArchName, properties.multiProcessorCount,
                properties.warpSize);
    return 0;
}
