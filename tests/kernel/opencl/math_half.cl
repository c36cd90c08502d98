// SPDX-License-Identifier: MIT
// math.cl for half.
#define HALVES
#include "math.cl"
