/* SPDX-License-Identifier: MIT */
/* Kernels with images and samplers, for tests/kernel/images.c. */
#define AT const uint i = get_global_id(0)

kernel void sample_1d(read_only image1d_t in, sampler_t s, global const float4 *at, global float4 *out)
{
    AT;
    out[i] = read_imagef(in, s, at[i].x);
}

kernel void sample_2d(read_only image2d_t in, sampler_t s, global const float4 *at, global float4 *out)
{
    AT;
    out[i] = read_imagef(in, s, at[i].xy);
}

kernel void sample_3d(read_only image3d_t in, sampler_t s, global const float4 *at, global float4 *out)
{
    AT;
    out[i] = read_imagef(in, s, at[i]);
}

kernel void sample_1d_array(read_only image1d_array_t in, sampler_t s, global const float4 *at, global float4 *out)
{
    AT;
    out[i] = read_imagef(in, s, at[i].xy);
}

kernel void sample_2d_array(read_only image2d_array_t in, sampler_t s, global const float4 *at, global float4 *out)
{
    AT;
    out[i] = read_imagef(in, s, at[i]);
}

/* Integers. */
kernel void sample_2d_signed(read_only image2d_t in, sampler_t s, global const float4 *at, global int4 *out)
{
    AT;
    out[i] = read_imagei(in, s, at[i].xy);
}

kernel void sample_2d_unsigned(read_only image2d_t in, sampler_t s, global const float4 *at, global uint4 *out)
{
    AT;
    out[i] = read_imageui(in, s, at[i].xy);
}

/* Samplers in the program's constants: AMD's device library holds their words. */
constant sampler_t nearest_edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t linear_repeat = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
constant sampler_t linear_mirror = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_LINEAR;

kernel void constant_nearest_edge(read_only image2d_t in, global const float4 *at, global float4 *out)
{
    AT;
    out[i] = read_imagef(in, nearest_edge, at[i].xy);
}

kernel void constant_linear_repeat(read_only image2d_t in, global const float4 *at, global float4 *out)
{
    AT;
    out[i] = read_imagef(in, linear_repeat, at[i].xy);
}

kernel void constant_linear_mirror(read_only image2d_t in, global const float4 *at, global float4 *out)
{
    AT;
    out[i] = read_imagef(in, linear_mirror, at[i].xy);
}

/* As HIP's headers use a texture object: the words of the image, and 12 words behind them those of the sampler. */
float4 __ockl_image_sample_2D(constant uint *image, constant uint *sampler, float2 at);

kernel void texture_2d(constant uint *texture, global const float4 *at, global float4 *out)
{
    AT;
    out[i] = __ockl_image_sample_2D(texture, texture + 12, at[i].xy);
}

/* Without a sampler, at integers; and with one. */
kernel void copy_2d(read_only image2d_t in, write_only image2d_t out, uint width)
{
    const int2 at = (int2)(get_global_id(0) % width, get_global_id(0) / width);
    const float4 a = read_imagef(in, at), b = read_imagef(in, nearest_edge, at);
    if (at.y < get_image_height(in))
        write_imagef(out, at, all(a == b) ? a : (float4)(-1.0f));
}

kernel void copy_3d_unsigned(read_only image3d_t in, write_only image3d_t out)
{
    const int4 size = (int4)(get_image_width(in), get_image_height(in), get_image_depth(in), 1);
    const int i = get_global_id(0);
    const int4 at = (int4)(i % size.x, i / size.x % size.y, i / size.x / size.y, 0);
    if (at.z < size.z)
        write_imageui(out, at, read_imageui(in, at));
}

kernel void copy_buffer(read_only image1d_buffer_t in, write_only image1d_buffer_t out)
{
    const int i = get_global_id(0);
    if (i < get_image_width(in))
        write_imagef(out, i, read_imagef(in, i));
}

kernel void queries(read_only image2d_t a, read_only image3d_t b, read_only image2d_array_t c,
                    read_only image1d_array_t d, read_only image1d_buffer_t e, global uint *out)
{
    out[0] = get_image_width(a);
    out[1] = get_image_height(a);
    out[2] = get_image_channel_data_type(a);
    out[3] = get_image_channel_order(a);
    out[4] = get_image_width(b);
    out[5] = get_image_height(b);
    out[6] = get_image_depth(b);
    out[7] = get_image_width(c);
    out[8] = get_image_height(c);
    out[9] = get_image_array_size(c);
    out[10] = get_image_width(d);
    out[11] = get_image_array_size(d);
    out[12] = get_image_channel_data_type(d);
    out[13] = get_image_width(e);
    out[14] = get_image_channel_order(e);
}

/* Levels, as HIP's texture functions read them. */
float4 __ockl_image_sample_lod_2D(constant uint *image, constant uint *sampler, float2 at, float level);
float4 __ockl_image_load_lod_2D(constant uint *image, int2 at, int level);
void __ockl_image_store_lod_2D(constant uint *image, int2 at, int level, float4 value);

kernel void sample_2d_level(constant uint *in, constant uint *s, global const float4 *at, global float4 *out)
{
    AT;
    out[i] = __ockl_image_sample_lod_2D(in, s, at[i].xy, at[i].z);
}

kernel void copy_2d_level(constant uint *in, constant uint *out, uint width, int from, int to)
{
    AT;
    const int2 at = (int2)(i % width, i / width);
    __ockl_image_store_lod_2D(out, at, to, __ockl_image_load_lod_2D(in, at, from));
}
