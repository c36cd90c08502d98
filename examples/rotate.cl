// SPDX-License-Identifier: MIT
// Rotates an image about its centre, with the filter and the edges that the sampler says.
//
//   wavemem run gfx900/rotate.co -g 64,64 -b 16,16 -a in=image2d:unorm8x4:64,64:rand:u8:16384:1 \
//       -a turned=image2d:f32x4:64,64 -a s=sampler:linear,border,normalized -a sine=0.5 -a cosine=0.8660254 -o turned=turned.npy
kernel void rotate_image(read_only image2d_t in, write_only image2d_t turned, sampler_t s, float sine, float cosine)
{
    const int2 at = (int2)(get_global_id(0), get_global_id(1)), size = get_image_dim(turned);
    const float2 from = (convert_float2(at) + 0.5f) / convert_float2(size) - 0.5f;
    const float2 to = (float2)(from.x * cosine - from.y * sine, from.x * sine + from.y * cosine) + 0.5f;
    if (at.x < size.x && at.y < size.y)
        write_imagef(turned, at, read_imagef(in, s, to));
}
