// SPDX-License-Identifier: MIT
// math.cl for double.
#define DOUBLES
#include "math.cl"
