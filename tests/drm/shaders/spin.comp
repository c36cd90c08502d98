#version 450
// SPDX-License-Identifier: MIT
// Waits for the host.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) coherent volatile buffer A { uint flag; uint seen; };
void main() { while (atomicAdd(flag, 0) == 0); seen = flag; }
