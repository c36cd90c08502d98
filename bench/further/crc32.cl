/* SPDX-License-Identifier: MIT */
/* CRC-32 (reflected, 0xedb88320) of each message of `length` bytes, byte by byte with a table. */
__kernel void crc32(__global const uchar *data, __constant uint *table, __global uint *crc, uint messages, uint length)
{
    uint message = get_global_id(0);
    if (message >= messages)
        return;
    uint value = 0xffffffff;
    for (uint i = 0; i < length; i++)
        value = table[(value ^ data[message * length + i]) & 0xff] ^ (value >> 8);
    crc[message] = ~value;
}
