/* SPDX-License-Identifier: MIT */
/* SHA-256 of n messages of 64 bytes each. Words lie a message apart (word w of message i at w * n + i), so
 * that neighbouring lanes read neighbouring words; they are big-endian, as FIPS 180-4 wants them. */
constant const uint round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

#define ROTATE_RIGHT(x, bits) rotate((x), (uint)(32 - (bits)))

/* Mixes one block of 16 words into the state; the schedule lives in a ring of 16. */
static void compress(uint state[8], uint w[16])
{
    uint a = state[0], b = state[1], c = state[2], d = state[3];
    uint e = state[4], f = state[5], g = state[6], h = state[7];

    for (uint start = 0; start < 64; start += 16) {
#pragma unroll
        for (uint i = 0; i < 16; i++) {
            if (start > 0) {
                const uint early = w[(i + 1) % 16], late = w[(i + 14) % 16];
                w[i] += w[(i + 9) % 16] + (ROTATE_RIGHT(early, 7) ^ ROTATE_RIGHT(early, 18) ^ early >> 3) +
                        (ROTATE_RIGHT(late, 17) ^ ROTATE_RIGHT(late, 19) ^ late >> 10);
            }
            const uint big = ROTATE_RIGHT(e, 6) ^ ROTATE_RIGHT(e, 11) ^ ROTATE_RIGHT(e, 25);
            const uint first = h + big + bitselect(g, f, e) + round_constant[start + i] + w[i];
            const uint small = ROTATE_RIGHT(a, 2) ^ ROTATE_RIGHT(a, 13) ^ ROTATE_RIGHT(a, 22);
            const uint second = small + bitselect(a, b, a ^ c);
            h = g;
            g = f;
            f = e;
            e = d + first;
            d = c;
            c = b;
            b = a;
            a = first + second;
        }
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

static uint swap_bytes(uint word)
{
    return as_uint(as_uchar4(word).wzyx);
}

kernel void sha256(global const uint *restrict messages, global uint *restrict digests, uint n)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;

    uint state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint w[16];
    for (uint word = 0; word < 16; word++)
        w[word] = swap_bytes(messages[word * n + i]);
    compress(state, w);

    for (uint word = 0; word < 16; word++)
        w[word] = 0;
    w[0] = 0x80000000; /* the padding: a one bit, and the length of the message in bits */
    w[15] = 512;
    compress(state, w);
    for (uint word = 0; word < 8; word++)
        digests[word * n + i] = swap_bytes(state[word]);
}
