/* SPDX-License-Identifier: MIT */
/* ChaCha20 (RFC 8439): each work-item makes the key stream of one block of 64 bytes and applies it. */
#define QUARTER(a, b, c, d)                                                                                            \
    a += b, d = rotate(d ^ a, (uint4)(16)), c += d, b = rotate(b ^ c, (uint4)(12)), a += b,                            \
        d = rotate(d ^ a, (uint4)(8)), c += d, b = rotate(b ^ c, (uint4)(7))

__kernel void chacha20(__global const uint4 *in, __global uint4 *out, __constant uint4 *key, uint blocks, uint counter,
                       uint nonce0, uint nonce1, uint nonce2)
{
    uint block = get_global_id(0);
    if (block >= blocks)
        return;
    const uint4 a0 = (uint4)(0x61707865, 0x3320646e, 0x79622d32, 0x6b206574);
    const uint4 b0 = key[0], c0 = key[1], d0 = (uint4)(counter + block, nonce0, nonce1, nonce2);
    uint4 a = a0, b = b0, c = c0, d = d0;
    for (int i = 0; i < 10; i++) {
        QUARTER(a, b, c, d);
        b = b.yzwx;
        c = c.zwxy;
        d = d.wxyz;
        QUARTER(a, b, c, d);
        b = b.wxyz;
        c = c.zwxy;
        d = d.yzwx;
    }
    out[block * 4] = in[block * 4] ^ (a + a0);
    out[block * 4 + 1] = in[block * 4 + 1] ^ (b + b0);
    out[block * 4 + 2] = in[block * 4 + 2] ^ (c + c0);
    out[block * 4 + 3] = in[block * 4 + 3] ^ (d + d0);
}
