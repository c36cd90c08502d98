/* SPDX-License-Identifier: MIT */
/* Texels and weights of a sample.
 *
 * Coordinates are rounded to 8 fractional bits, ties to even, before the filter divides them into a texel and
 * a weight; a point filter does the same unless TRUNC_COORD is set, and then drops the fraction (measured on
 * AMD GPUs by vkd3d-proton, test_sampler_rounding, pull request 1884; xgl, pull request 49, cites "n.6" from
 * a header). Levels of detail have 8 fractional bits (the S#'s MIN_LOD and MAX_LOD; RADV,
 * mipmapPrecisionBits). Addressing and filters: Vulkan, "Texel Input Operations", which these GPUs implement;
 * the names of clamp modes are those of Direct3D 9 and OpenGL (HALF_BORDER is GL_CLAMP). Unverified: a NaN is
 * coordinate 0; MIP_FILTER POINT takes the level at lod + 0.5, rounded down; texels of weight 0 do not count,
 * even if infinite. */
#include "memory/sample.h"

#include <math.h>
#include <string.h>

enum { FRACTION_ONE = 256, FURTHEST = 1 << 26 };

/* Independent of the host's rounding mode. */
static double nearest_even(double x)
{
    const double below = floor(x), rest = x - below;
    return rest > 0.5 || (rest == 0.5 && fmod(below, 2) != 0) ? below + 1 : below;
}

static double within(double x, double least, double most)
{
    return isnan(x) ? least : x < least ? least : x > most ? most : x;
}

struct wmi_sample_dims wmi_sample_dims(const struct wmi_image *image, unsigned dim, bool array)
{
    /* By DIM; TYPE - 8 has the same order. */
    static const struct wmi_sample_dims dims[] = {
        {1, false, false}, {2, false, false}, {3, false, false}, {2, true, true},
        {1, true, false},  {2, true, false},  {2, false, false}, {2, true, false},
    };
    const bool by_type = dim == WMI_IMAGE_DIM_TYPE;
    const bool is_array = image->type == WMI_IMAGE_1D_ARRAY || image->type == WMI_IMAGE_2D_ARRAY;
    struct wmi_sample_dims d = dims[(by_type ? image->type : dim) & 7];
    if (by_type && is_array && !array)
        d.slice = false;
    return d;
}

/* ---- level of detail ---- */

static uint32_t extent(const struct wmi_image *image, unsigned axis, uint32_t level)
{
    const uint32_t texels[] = {image->width, image->height, image->depth};
    return wmi_image_extent(texels[axis], image->base_level + level);
}

static double length(const struct wmi_image *image, const struct wmi_sampler *sampler,
                     struct wmi_sample_dims dims, const double step[3])
{
    double sum = 0;
    for (unsigned i = 0; i < dims.axes; i++) {
        const double texels = step[i] * (sampler->unnormalized ? 1 : extent(image, i, 0));
        sum += texels * texels;
    }
    return sqrt(sum);
}

/* Source: Vulkan, "Scale Factor Operation, LOD Operation and Image Level(s) Selection". */
double wmi_sample_lod(const struct wmi_image *image, const struct wmi_sampler *sampler,
                      struct wmi_sample_dims dims, const double across[3], const double down[3])
{
    const double a = length(image, sampler, dims, across), b = length(image, sampler, dims, down);
    return log2(a > b ? a : b);
}

/* MIN_LOD counts from level 0 of the resource (Vulkan, VK_EXT_image_view_min_lod, and RADV, which passes its
 * value on). */
double wmi_sample_limit(const struct wmi_image *image, const struct wmi_sampler *sampler, double lod,
                        bool biased, double least)
{
    const double of_image = image->lod_least - image->base_level;
    const double bounded_lod =
        within(lod + (biased ? sampler->bias : 0), sampler->lod_least, sampler->lod_most);
    least = least > of_image ? least : of_image;
    return bounded_lod > least ? bounded_lod : least;
}

/* The levels of a sample and the weight of the second. */
struct levels {
    uint32_t level[2];
    double second;
};

static struct levels levels_of(const struct wmi_image *image, const struct wmi_sampler *sampler, double lod)
{
    const double last = image->levels - 1;
    const double fixed = nearest_even(within(lod, 0, last) * FRACTION_ONE) / FRACTION_ONE;
    struct levels l = {.second = 0};
    if (sampler->mip == WMI_Z_FILTER_POINT) {
        l.level[0] = (uint32_t)within(floor(fixed + 0.5), 0, last);
    } else if (sampler->mip == WMI_Z_FILTER_LINEAR) {
        l.level[0] = (uint32_t)fixed;
        l.second = fixed - floor(fixed);
        l.level[1] = l.level[0] + 1;
    }
    return l;
}

/* ---- one axis ---- */

static int32_t wrapped(int64_t i, int64_t n)
{
    const int64_t rest = i % n;
    return (int32_t)(rest < 0 ? rest + n : rest);
}

static int32_t bounded(int64_t i, int64_t n)
{
    return (int32_t)(i < 0 ? 0 : i >= n ? n - 1 : i);
}

/* The texel that stands for number i of n; -1: the border. */
static int32_t addressed(unsigned clamp, int64_t i, int64_t n)
{
    const int64_t once = i < 0 ? -1 - i : i, mirrored = wrapped(i, 2 * n);
    switch ((enum wmi_clamp)clamp) {
    case WMI_CLAMP_WRAP:
        return wrapped(i, n);
    case WMI_CLAMP_MIRROR:
        return (int32_t)(mirrored < n ? mirrored : 2 * n - 1 - mirrored);
    case WMI_CLAMP_MIRROR_ONCE_LAST_TEXEL:
        return bounded(once, n);
    case WMI_CLAMP_HALF_BORDER:
    case WMI_CLAMP_BORDER:
        return i < 0 || i >= n ? -1 : (int32_t)i;
    case WMI_CLAMP_MIRROR_ONCE_HALF_BORDER:
    case WMI_CLAMP_MIRROR_ONCE_BORDER:
        return once >= n ? -1 : (int32_t)once;
    default:
        return bounded(i, n);
    }
}

/* Bounds a coordinate (in texels) so that its number fits, without changing which texel it stands for. */
static double reduced(unsigned clamp, double x, uint32_t n)
{
    const double period = clamp == WMI_CLAMP_WRAP ? n : 2.0 * n;
    if (!isfinite(x) && (isnan(x) || clamp <= WMI_CLAMP_MIRROR))
        return 0;
    if (clamp <= WMI_CLAMP_MIRROR && (x < 0 || x >= period))
        return x < 0 ? fmod(x, period) + period : fmod(x, period);
    if (clamp <= WMI_CLAMP_MIRROR)
        return x;
    if (clamp == WMI_CLAMP_HALF_BORDER)
        return within(x, 0, n);
    if (clamp == WMI_CLAMP_MIRROR_ONCE_HALF_BORDER)
        return within(x, -(double)n, n);
    return within(x, -FURTHEST, FURTHEST);
}

static struct wmi_axis_texels span_of(unsigned clamp, double x, uint32_t n, bool linear, bool truncates)
{
    x = reduced(clamp, x, n);
    if (!linear) {
        const double fixed = truncates ? x : nearest_even(x * FRACTION_ONE) / FRACTION_ONE;
        int64_t i = (int64_t)floor(fixed);
        /* OpenGL, GL_CLAMP: the point filter has no border. */
        if (clamp == WMI_CLAMP_HALF_BORDER || clamp == WMI_CLAMP_MIRROR_ONCE_HALF_BORDER)
            i = i < -(int64_t)n ? -(int64_t)n : i >= n ? (int64_t)n - 1 : i;
        return (struct wmi_axis_texels){{addressed(clamp, i, n), 0}, 0};
    }
    const double fixed = nearest_even((x - 0.5) * FRACTION_ONE) / FRACTION_ONE, below = floor(fixed);
    const int64_t i = (int64_t)below;
    return (struct wmi_axis_texels){{addressed(clamp, i, n), addressed(clamp, i + 1, n)}, fixed - below};
}

static bool filters(const struct wmi_sampler *sampler, unsigned axis, double lod)
{
    const bool linear = lod <= 0 ? sampler->linear_near : sampler->linear_far;
    return axis == 2 && sampler->z != WMI_Z_FILTER_NONE ? sampler->z == WMI_Z_FILTER_LINEAR : linear;
}

/* ---- one level ---- */

/* A cube's slice is 8 x layer + face (RDNA 3 ISA, "Image address VGPRs"). Layers are rounded to nearest even
 * and clamped (Vulkan, "Wrapping operation"). */
static uint32_t slice_of(const struct wmi_image *image, struct wmi_sample_dims dims, double slice,
                         uint32_t level)
{
    enum { FACES = 6, STEP = 8 };
    if (!dims.slice)
        return 0;
    const uint32_t number = (uint32_t)within(nearest_even(within(slice, 0, FURTHEST)), 0, FURTHEST);
    const uint32_t face = number % STEP < FACES ? number % STEP : FACES - 1;
    const uint32_t wanted = dims.cube ? number / STEP * FACES + face : number;
    const uint32_t slices = image->type == WMI_IMAGE_3D ? extent(image, 2, level) : image->slices;
    return wanted < slices ? wanted : slices - 1;
}

static void add_tap(struct wmi_footprint *f, const struct wmi_axis_texels span[3], const unsigned which[3],
                    const struct wmi_texel *base, double weight)
{
    struct wmi_tap *tap = &f->tap[f->count++];
    int32_t texel[3];
    *tap = (struct wmi_tap){.weight = weight, .texel = *base};
    for (unsigned i = 0; i < 3; i++) {
        texel[i] = span[i].texel[which[i]];
        tap->border |= texel[i] < 0;
    }
    if (tap->border)
        return;
    tap->texel.x = (uint32_t)texel[0];
    tap->texel.y = (uint32_t)texel[1];
    tap->texel.slice += (uint32_t)texel[2];
}

void wmi_sample_spans(const struct wmi_image *image, const struct wmi_sampler *sampler,
                      struct wmi_sample_dims dims, const struct wmi_sample_place *place, uint32_t level,
                      bool gather, struct wmi_axis_texels span[3])
{
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t n = extent(image, i, level);
        const unsigned clamp = dims.cube ? WMI_CLAMP_LAST_TEXEL : sampler->clamp[i];
        span[i] = (struct wmi_axis_texels){{0, 0}, 0};
        if (i >= dims.axes)
            continue;
        const double from = place->coordinate[i] - (dims.cube ? 1 : 0);
        const double x = (sampler->unnormalized ? from : from * n) + place->offset[i];
        span[i] = span_of(clamp, x, n, gather || filters(sampler, i, place->lod), sampler->truncates);
    }
}

static void add_level(const struct wmi_image *image, const struct wmi_sampler *sampler,
                      struct wmi_sample_dims dims, const struct wmi_sample_place *place, uint32_t level,
                      double weight, struct wmi_footprint *f)
{
    const struct wmi_texel base = {.slice = slice_of(image, dims, place->slice, level), .level = level};
    struct wmi_axis_texels span[3];
    wmi_sample_spans(image, sampler, dims, place, level, false, span);
    for (unsigned corner = 0; corner < 8; corner++) {
        const unsigned which[3] = {corner & 1, corner >> 1 & 1, corner >> 2};
        double product = weight;
        for (unsigned i = 0; i < 3; i++)
            product *= which[i] ? span[i].second : 1 - span[i].second;
        if (product > 0)
            add_tap(f, span, which, &base, product);
    }
}

bool wmi_sample_is_flat(const struct wmi_image *image, const struct wmi_sampler *sampler,
                        struct wmi_sample_dims dims)
{
    return image->bound && image->slices && image->levels && !dims.slice && dims.axes < 3 &&
           (image->levels == 1 || sampler->mip == WMI_Z_FILTER_NONE) &&
           sampler->linear_near == sampler->linear_far;
}

static bool is_empty(const struct wmi_image *image)
{
    return !image->bound || !image->levels || !image->slices;
}

void wmi_sample_footprint(const struct wmi_image *image, const struct wmi_sampler *sampler,
                          struct wmi_sample_dims dims, const struct wmi_sample_place *place,
                          struct wmi_footprint *f)
{
    f->count = 0;
    if (is_empty(image))
        return;
    const struct levels levels = levels_of(image, sampler, place->lod);
    add_level(image, sampler, dims, place, levels.level[0], 1 - levels.second, f);
    if (levels.second > 0)
        add_level(image, sampler, dims, place, levels.level[1], levels.second, f);
}

void wmi_gather_footprint(const struct wmi_image *image, const struct wmi_sampler *sampler,
                          struct wmi_sample_dims dims, const struct wmi_sample_place *place, bool row,
                          struct wmi_footprint *f)
{
    static const unsigned first[3] = {0},
                          corners[WMI_GATHER_TAPS][3] = {{0, 1, 0}, {1, 1, 0}, {1, 0, 0}, {0, 0, 0}};
    f->count = 0;
    if (is_empty(image))
        return;
    struct wmi_sampler point = *sampler;
    if (point.mip == WMI_Z_FILTER_LINEAR)
        point.mip = WMI_Z_FILTER_POINT;
    const uint32_t level = levels_of(image, &point, place->lod).level[0];
    const struct wmi_texel base = {.slice = slice_of(image, dims, place->slice, level), .level = level};
    for (unsigned i = 0; i < WMI_GATHER_TAPS; i++) {
        struct wmi_sample_place at = *place;
        struct wmi_axis_texels span[3];
        at.offset[0] += row ? (int)i : 0;
        wmi_sample_spans(image, sampler, dims, &at, level, true, span);
        add_tap(f, span, row ? first : corners[i], &base, 1);
    }
}

/* ---- texels ---- */

bool wmi_sample_integers(const struct wmi_image *image)
{
    return image->format.number == WMI_NUMBER_UINT || image->format.number == WMI_NUMBER_SINT;
}

/* BC_SWIZZLE orders the border's channels before DST_SEL; only the place of alpha matters for the fixed
 * colours. Source: PAL, GetBcSwizzle. */
static unsigned border_alpha(const struct wmi_image *image)
{
    static const uint8_t place[8] = {3, 1, 0, 0, 3, 2, 3, 3};
    return place[image->border_order & 7];
}

static void border(const struct wmi_image *image, const struct wmi_sampler *sampler, bool half,
                   uint32_t value[4])
{
    const uint32_t one = wmi_sample_integers(image) ? 1 : half ? 0x3c00 : 0x3f800000;
    for (unsigned i = 0; i < 4; i++)
        value[i] = sampler->border == WMI_BORDER_WHITE ? one : 0;
    if (sampler->border == WMI_BORDER_BLACK)
        value[border_alpha(image)] = one;
}

/* Formats that need no general conversion. */
static bool load_plain(const struct wmi_format *format, const unsigned char *texel, uint32_t value[4])
{
    const struct wmi_format_layout *layout = format->layout;
    const bool floats = format->number == WMI_NUMBER_FLOAT && layout->bits[0] == 32 &&
                        layout->bytes == 4 * layout->components;
    const bool bytes =
        format->number == WMI_NUMBER_UNORM && layout->bits[0] == 8 && layout->bytes == layout->components;
    memset(value, 0, 4 * sizeof *value);
    if (floats)
        memcpy(value, texel, layout->bytes);
    for (unsigned i = 0; bytes && i < layout->components; i++) {
        const float x = (float)texel[i] / 255.0f;
        memcpy(&value[i], &x, sizeof x);
    }
    return floats || bytes;
}

void wmi_sample_texel(const struct wmi_image *image, const struct wmi_sampler *sampler,
                      const struct wmi_texel *texel, const unsigned char *from, bool half, uint32_t value[4])
{
    if (!from)
        border(image, sampler, half, value);
    else if (half || !load_plain(&image->format, from, value))
        wmi_texel_load(image, texel, from, half, value);
}

/* Source: SQ_TEX_DEPTH_COMPARE; Direct3D 11.3, "sample_c": the reference is on the left, and clamped to the
 * range of normalized formats. */
double wmi_sample_compare(const struct wmi_image *image, const struct wmi_sampler *sampler, double reference,
                          uint32_t texel)
{
    enum { LESS = 1, EQUAL = 2, GREATER = 4, ALWAYS = 7 };
    float own;
    memcpy(&own, &texel, sizeof own);
    if (image->format.number == WMI_NUMBER_UNORM)
        reference = within(reference, 0, 1);
    const unsigned relation = reference < (double)own    ? LESS
                              : reference == (double)own ? EQUAL
                              : reference > (double)own  ? GREATER
                                                         : 0;
    /* The function is the mask of relations that hold; NOTEQUAL also holds for NaNs. */
    if (sampler->compare == ALWAYS || (!relation && sampler->compare == (LESS | GREATER)))
        return 1;
    return (sampler->compare & relation) != 0;
}
