// SPDX-License-Identifier: MIT
// Texels outside of an image: loads without a sampler return 0, and stores are dropped.
// TARGETS: gfx900 gfx1030 gfx1100

// RUN: texel -g 32 -b 32 --arg image=image2d:u32:16,4 --arg out=zero:u32:32
kernel void texel(read_only image2d_t image, global uint *out)
{
    const int i = get_global_id(0);
    out[i] = read_imageui(image, (int2)(i, 1)).x; // FINDS: image-dropped
}

// RUN: texel_good -g 32 -b 32 --arg image=image2d:u32:16,4 --arg out=zero:u32:32
kernel void texel_good(read_only image2d_t image, global uint *out)
{
    const int i = get_global_id(0);
    out[i] = read_imageui(image, (int2)(i % 16, 1)).x;
}

// RUN: draw -g 8,5 -b 8,5 --arg image=image2d:u32:8,4
kernel void draw(write_only image2d_t image)
{
    write_imageui(image, (int2)(get_global_id(0), get_global_id(1)), (uint4)(1)); // FINDS: image-dropped
}

// RUN: draw_good -g 8,4 -b 8,4 --arg image=image2d:u32:8,4
kernel void draw_good(write_only image2d_t image)
{
    write_imageui(image, (int2)(get_global_id(0), get_global_id(1)), (uint4)(1));
}
