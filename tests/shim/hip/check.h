// SPDX-License-Identifier: MIT
// Ends the program with exit code 1 if something is not as it should be.
#pragma once
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                             \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)
#define HIP(call)                                                                                            \
    do {                                                                                                     \
        const hipError_t error = (call);                                                                     \
        if (error != hipSuccess) {                                                                           \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(error));    \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)
