// SPDX-License-Identifier: MIT
// Texture objects on arrays, on linear and on pitched memory: formats, filters, address modes, in one to three dimensions,
// against the rules of OpenCL 2.0, section 8.2, in double precision.
#include "check.h"
#include <cmath>
#include <cstring>
#include <vector>

// ---- the rules ----

// The texel that a coordinate stands for; -1: the border.
static int texel(int i, int size, hipTextureAddressMode mode)
{
    switch (mode) {
    case hipAddressModeWrap:
        return (i % size + size) % size;
    case hipAddressModeMirror:
        i = (i % (2 * size) + 2 * size) % (2 * size);
        return i < size ? i : 2 * size - 1 - i;
    case hipAddressModeClamp:
        return i < 0 ? 0 : i >= size ? size - 1 : i;
    default:
        return i < 0 || i >= size ? -1 : i;
    }
}

struct volume {
    int width, height, depth;
    std::vector<float> texels;
    double at(int x, int y, int z, hipTextureAddressMode mode) const
    {
        x = texel(x, width, mode), y = texel(y, height, mode), z = texel(z, depth, mode);
        return x < 0 || y < 0 || z < 0 ? 0 : texels[(static_cast<size_t>(z) * height + y) * width + x];
    }
};

// Both neighbours of a coordinate, and the weight of the second one: 8 bits, as AMD's units have them.
struct pair {
    int first;
    double weight;
};
static pair neighbours(double coordinate, int size, bool used, bool normalized, bool linear)
{
    if (!used)
        return {0, 0};
    double u = normalized ? coordinate * size : coordinate;
    if (!linear)
        return {static_cast<int>(std::floor(u)), 0};
    u = std::nearbyint((u - 0.5) * 256) / 256;
    return {static_cast<int>(std::floor(u)), u - std::floor(u)};
}

static double expected(const volume &v, int dimensions, const float *at, const hipTextureDesc &how)
{
    const bool normalized = how.normalizedCoords, linear = how.filterMode == hipFilterModeLinear;
    const hipTextureAddressMode mode = how.addressMode[0];
    const pair x = neighbours(at[0], v.width, true, normalized, linear),
               y = neighbours(at[1], v.height, dimensions > 1, normalized, linear),
               z = neighbours(at[2], v.depth, dimensions > 2, normalized, linear);
    double sum = 0;
    for (int corner = 0; corner < 8; corner++) {
        const bool i = corner & 1, j = corner & 2, k = corner & 4;
        const double weight = (i ? x.weight : 1 - x.weight) * (j ? y.weight : 1 - y.weight) * (k ? z.weight : 1 - z.weight);
        if (weight)
            sum += weight * v.at(x.first + i, y.first + j, z.first + k, mode);
    }
    return sum;
}

// ---- kernels ----

// Headers of HIP 7 refuse textures for gfx94x and gfx950, which have no image instructions.
#if __HIP_NO_IMAGE_SUPPORT
#define TEXEL(type, ...) type()
#else
#define TEXEL(type, ...) __VA_ARGS__
#endif

template <int dimensions> __global__ void sample(hipTextureObject_t texture, const float *at, float *out, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const float x = at[3 * i], y = at[3 * i + 1], z = at[3 * i + 2];
    if constexpr (dimensions == 1)
        out[i] = TEXEL(float, tex1D<float>(texture, x));
    else if constexpr (dimensions == 2)
        out[i] = TEXEL(float, tex2D<float>(texture, x, y));
    else
        out[i] = TEXEL(float, tex3D<float>(texture, x, y, z));
}

__global__ void fetch(hipTextureObject_t texture, int *out, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = TEXEL(int, tex1Dfetch<int>(texture, i));
}

__global__ void read_bytes(hipTextureObject_t texture, uchar4 *out, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < width && y < height)
        out[y * width + x] = TEXEL(uchar4, tex2D<uchar4>(texture, x + 0.5f, y + 0.5f));
}

__global__ void read_normalized(hipTextureObject_t texture, float4 *out, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < width && y < height)
        out[y * width + x] = TEXEL(float4, tex2D<float4>(texture, x + 0.5f, y + 0.5f));
}

// ---- checks ----

static constexpr int samples = 500;

static void check_samples(const volume &v, int dimensions, const hipResourceDesc &resource, bool repeats)
{
    std::vector<float> at(3 * samples), got(samples);
    float *at_device, *out;
    HIP(hipMalloc(&at_device, at.size() * sizeof(float)));
    HIP(hipMalloc(&out, got.size() * sizeof(float)));
    for (bool normalized : {false, true})
        for (hipTextureFilterMode filter : {hipFilterModePoint, hipFilterModeLinear})
            for (hipTextureAddressMode mode :
                 {hipAddressModeWrap, hipAddressModeClamp, hipAddressModeMirror, hipAddressModeBorder}) {
                // OpenCL 2.0, table 5.22: these two need normalized coordinates
                if ((mode == hipAddressModeWrap || mode == hipAddressModeMirror) && !(normalized && repeats))
                    continue;
                hipTextureDesc how = {};
                for (hipTextureAddressMode &m : how.addressMode)
                    m = mode;
                how.filterMode = filter;
                how.readMode = hipReadModeElementType;
                how.normalizedCoords = normalized;
                const int sizes[] = {v.width, v.height, v.depth};
                for (int i = 0; i < 3 * samples; i++) // -1 to 2 images, never between two texels
                    at[i] = (static_cast<float>((i * 7919) % (3 * 64 * sizes[i % 3])) + 0.25f) / 64 - sizes[i % 3];
                if (normalized)
                    for (int i = 0; i < 3 * samples; i++)
                        at[i] /= static_cast<float>(sizes[i % 3]);
                hipTextureObject_t texture;
                const hipError_t made = hipCreateTextureObject(&texture, &resource, &how, nullptr);
                if (made == hipErrorNotSupported && dimensions == 3 && filter == hipFilterModeLinear && HIP_VERSION_MAJOR > 5)
                    continue; // HIP refuses this on gfx90a
                HIP(made);
                HIP(hipMemcpy(at_device, at.data(), at.size() * sizeof(float), hipMemcpyHostToDevice));
                if (dimensions == 1)
                    sample<1><<<8, 64>>>(texture, at_device, out, samples);
                else if (dimensions == 2)
                    sample<2><<<8, 64>>>(texture, at_device, out, samples);
                else
                    sample<3><<<8, 64>>>(texture, at_device, out, samples);
                HIP(hipMemcpy(got.data(), out, got.size() * sizeof(float), hipMemcpyDeviceToHost));
                for (int i = 0; i < samples; i++) {
                    // Rounding of a normalized coordinate may change the weight's last bit: neighbours differ by up to 100.
                    const double right = expected(v, dimensions, &at[3 * i], how);
                    const double tolerance = filter == hipFilterModePoint ? 0 : normalized ? 3 * 100.0 / 256 : 1e-3;
                    if (std::fabs(got[i] - right) > tolerance) {
                        std::fprintf(stderr, "%dD, normalized %d, filter %d, mode %d, at %g %g %g: %g, expected %g\n", dimensions,
                                     normalized, filter, mode, at[3 * i], at[3 * i + 1], at[3 * i + 2], got[i], right);
                        std::exit(1);
                    }
                }
                HIP(hipDestroyTextureObject(texture));
            }
    HIP(hipFree(at_device));
    HIP(hipFree(out));
}

static volume random_volume(int width, int height, int depth)
{
    volume v{width, height, depth, std::vector<float>(static_cast<size_t>(width) * height * depth)};
    unsigned state = 1;
    for (float &texel : v.texels) {
        state = state * 1664525 + 1013904223;
        texel = static_cast<float>(state >> 16) / 655.36f;
    }
    return v;
}

static void arrays()
{
    const hipChannelFormatDesc format = hipCreateChannelDesc<float>();
    hipResourceDesc resource = {};
    resource.resType = hipResourceTypeArray;
    hipArray *array;

    const volume row = random_volume(37, 1, 1);
    HIP(hipMallocArray(&array, &format, 37, 0));
    HIP(hipMemcpy2DToArray(array, 0, 0, row.texels.data(), 37 * sizeof(float), 37 * sizeof(float), 1, hipMemcpyHostToDevice));
    resource.res.array.array = array;
    check_samples(row, 1, resource, true);
    HIP(hipFreeArray(array));

    const volume plane = random_volume(33, 20, 1);
    std::vector<float> back(plane.texels.size());
    HIP(hipMallocArray(&array, &format, 33, 20));
    HIP(hipMemcpy2DToArray(array, 0, 0, plane.texels.data(), 33 * sizeof(float), 33 * sizeof(float), 20,
                           hipMemcpyHostToDevice));
    HIP(hipMemcpy2DFromArray(back.data(), 33 * sizeof(float), array, 0, 0, 33 * sizeof(float), 20, hipMemcpyDeviceToHost));
    CHECK(back == plane.texels);
    resource.res.array.array = array;
    check_samples(plane, 2, resource, true);
    HIP(hipFreeArray(array));

    const volume box = random_volume(11, 7, 5);
    const hipExtent extent = make_hipExtent(11, 7, 5);
    hipMemcpy3DParms copy = {};
    HIP(hipMalloc3DArray(&array, &format, extent, hipArrayDefault));
    copy.srcPtr = make_hipPitchedPtr(const_cast<float *>(box.texels.data()), 11 * sizeof(float), 11, 7);
    copy.dstArray = array;
    copy.extent = extent;
    copy.kind = hipMemcpyHostToDevice;
    HIP(hipMemcpy3D(&copy));
    resource.res.array.array = array;
    check_samples(box, 3, resource, true);
    HIP(hipFreeArray(array));
}

// Any pitch that the device can have, from any place that it can have.
static void pitched()
{
    const volume plane = random_volume(30, 12, 1);
    hipDeviceProp_t properties;
    hipResourceDesc resource = {};
    char *memory;
    size_t least;
    HIP(hipGetDeviceProperties(&properties, 0));
    HIP(hipMallocPitch(reinterpret_cast<void **>(&memory), &least, 30 * sizeof(float), 12));
    HIP(hipFree(memory));
    for (size_t more : {0, 1, 2, 11}) {
        const size_t pitch = least + more * properties.texturePitchAlignment, at = more * properties.textureAlignment;
        HIP(hipMalloc(reinterpret_cast<void **>(&memory), at + 12 * pitch));
        HIP(hipMemset(memory, 0x7b, at + 12 * pitch));
        HIP(hipMemcpy2D(memory + at, pitch, plane.texels.data(), 30 * sizeof(float), 30 * sizeof(float), 12,
                        hipMemcpyHostToDevice));
        resource.resType = hipResourceTypePitch2D;
        resource.res.pitch2D.devPtr = memory + at;
        resource.res.pitch2D.desc = hipCreateChannelDesc<float>();
        resource.res.pitch2D.width = 30;
        resource.res.pitch2D.height = 12;
        resource.res.pitch2D.pitchInBytes = pitch;
        check_samples(plane, 2, resource, true);
        HIP(hipFree(memory));
    }
}

static void linear()
{
    constexpr int count = 1000;
    std::vector<int> values(count), got(count);
    int *memory, *out;
    for (int i = 0; i < count; i++)
        values[i] = i * i - 7;
    HIP(hipMalloc(&memory, count * sizeof(int)));
    HIP(hipMalloc(&out, count * sizeof(int)));
    HIP(hipMemcpy(memory, values.data(), count * sizeof(int), hipMemcpyHostToDevice));
    hipResourceDesc resource = {};
    hipTextureDesc how = {};
    hipTextureObject_t texture;
    resource.resType = hipResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = hipCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = count * sizeof(int);
    how.readMode = hipReadModeElementType;
    HIP(hipCreateTextureObject(&texture, &resource, &how, nullptr));
    fetch<<<(count + 63) / 64, 64>>>(texture, out, count);
    HIP(hipMemcpy(got.data(), out, count * sizeof(int), hipMemcpyDeviceToHost));
    CHECK(got == values);
    HIP(hipDestroyTextureObject(texture));
}

// Four bytes as they are, and as fractions of 255.
static void bytes()
{
    constexpr int width = 50, height = 9;
    std::vector<uchar4> texels(width * height), got(texels.size());
    std::vector<float4> fractions(texels.size());
    for (int i = 0; i < width * height; i++)
        texels[i] = make_uchar4(i * 3, i * 5 + 1, i * 7 + 2, 255 - i);
    // hipCreateChannelDesc<uchar4>() of HIP 5.2 is signed.
    const hipChannelFormatDesc format = hipCreateChannelDesc(8, 8, 8, 8, hipChannelFormatKindUnsigned);
    hipArray *array;
    uchar4 *out;
    float4 *wide;
    HIP(hipMallocArray(&array, &format, width, height));
    HIP(hipMemcpy2DToArray(array, 0, 0, texels.data(), width * 4, width * 4, height, hipMemcpyHostToDevice));
    HIP(hipMalloc(&out, texels.size() * sizeof *out));
    HIP(hipMalloc(&wide, texels.size() * sizeof *wide));
    hipResourceDesc resource = {};
    hipTextureDesc how = {};
    hipTextureObject_t plain, fractional;
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = array;
    how.addressMode[0] = how.addressMode[1] = hipAddressModeClamp;
    how.readMode = hipReadModeElementType;
    HIP(hipCreateTextureObject(&plain, &resource, &how, nullptr));
    how.readMode = hipReadModeNormalizedFloat;
    HIP(hipCreateTextureObject(&fractional, &resource, &how, nullptr));
    read_bytes<<<dim3(1, height), 64>>>(plain, out, width, height);
    read_normalized<<<dim3(1, height), 64>>>(fractional, wide, width, height);
    HIP(hipMemcpy(got.data(), out, got.size() * sizeof *out, hipMemcpyDeviceToHost));
    HIP(hipMemcpy(fractions.data(), wide, fractions.size() * sizeof *wide, hipMemcpyDeviceToHost));
    // HIP 5.2 destroys an array with its texture unless it has another view of the array, as the fractional one is.
    HIP(hipDestroyTextureObject(plain));
    HIP(hipDestroyTextureObject(fractional));
    for (size_t i = 0; i < texels.size(); i++) {
        const uchar4 t = texels[i], g = got[i];
        const float4 f = fractions[i];
        CHECK(t.x == g.x && t.y == g.y && t.z == g.z && t.w == g.w);
        CHECK(std::fabs(f.x - t.x / 255.0f) < 1e-6f && std::fabs(f.w - t.w / 255.0f) < 1e-6f);
    }
    HIP(hipFreeArray(array));
}

int main()
{
    hipDeviceProp_t properties;
    HIP(hipGetDeviceProperties(&properties, 0));
    if (!std::strncmp(properties.gcnArchName, "gfx94", 5) || !std::strncmp(properties.gcnArchName, "gfx95", 5))
        return 0;
    arrays();
    pitched();
    linear();
    bytes();
    return 0;
}
