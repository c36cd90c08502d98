/* SPDX-License-Identifier: MIT */
/* Parses images, samplers, texture and surface objects of the command line, and places them in guest memory.
 */
#include "tool/arguments/image.h"
#include "tool/arguments/buffers.h"
#include "tool/arguments/formals.h"

#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

static const char samplers_form[] =
    "nearest or linear, edge, border, repeat or mirror, normalized or unnormalized";

/* ---- words ---- */

static const struct geometry {
    const char *name;
    enum wm_image_geometry geometry;
    unsigned sizes; /* numbers that are given */
    enum {
        IMAGE,
        SURFACE,
        TEXTURE
    } object; /* of HIP: in place of a pointer; TEXTURE: a sampler follows the sizes */
} geometries[] = {
    {"image1d", WM_IMAGE_1D, 1, IMAGE},
    {"image1d_buffer", WM_IMAGE_1D_BUFFER, 1, IMAGE},
    {"image2d", WM_IMAGE_2D, 2, IMAGE},
    {"image3d", WM_IMAGE_3D, 3, IMAGE},
    {"image1d_array", WM_IMAGE_1D_ARRAY, 2, IMAGE},
    {"image2d_array", WM_IMAGE_2D_ARRAY, 3, IMAGE},
    {"texture1d", WM_IMAGE_1D, 1, TEXTURE},
    {"texture2d", WM_IMAGE_2D, 2, TEXTURE},
    {"texture3d", WM_IMAGE_3D, 3, TEXTURE},
    {"texture1d_array", WM_IMAGE_1D_ARRAY, 2, TEXTURE},
    {"texture2d_array", WM_IMAGE_2D_ARRAY, 3, TEXTURE},
    {"surface1d", WM_IMAGE_1D, 1, SURFACE},
    {"surface2d", WM_IMAGE_2D, 2, SURFACE},
    {"surface3d", WM_IMAGE_3D, 3, SURFACE},
    {"surface1d_array", WM_IMAGE_1D_ARRAY, 2, SURFACE},
    {"surface2d_array", WM_IMAGE_2D_ARRAY, 3, SURFACE},
};
enum { GEOMETRIES = sizeof geometries / sizeof *geometries };

static const struct component {
    const char *name;
    enum wm_image_type type;
    char kind; /* of the elements in files */
    unsigned bytes;
} components[] = {
    {"unorm8", WM_IMAGE_UNORM8, 'u', 1}, {"unorm16", WM_IMAGE_UNORM16, 'u', 2},
    {"snorm8", WM_IMAGE_SNORM8, 'i', 1}, {"snorm16", WM_IMAGE_SNORM16, 'i', 2},
    {"u8", WM_IMAGE_U8, 'u', 1},         {"u16", WM_IMAGE_U16, 'u', 2},
    {"u32", WM_IMAGE_U32, 'u', 4},       {"i8", WM_IMAGE_I8, 'i', 1},
    {"i16", WM_IMAGE_I16, 'i', 2},       {"i32", WM_IMAGE_I32, 'i', 4},
    {"f16", WM_IMAGE_F16, 'f', 2},       {"f32", WM_IMAGE_F32, 'f', 4},
};
enum { COMPONENTS = sizeof components / sizeof *components };

/* The part of *text up to the next of `ends`, and what follows it. */
struct part {
    const char *text;
    size_t length;
};

static struct part next_part(const char **text, const char *ends)
{
    const struct part part = {*text, strcspn(*text, ends)};
    *text += part.length + ((*text)[part.length] != 0);
    return part;
}

static bool is(struct part part, const char *name)
{
    return strlen(name) == part.length && !strncmp(name, part.text, part.length);
}

static const struct geometry *geometry_of(const char *value)
{
    const struct part name = next_part(&value, ":");
    for (size_t i = 0; i < GEOMETRIES && name.text[name.length] == ':'; i++)
        if (is(name, geometries[i].name))
            return &geometries[i];
    return NULL;
}

static bool is_sampler(const char *value)
{
    return !strncmp(value, "sampler:", strlen("sampler:"));
}

bool tool_image_is_pointer(const char *value)
{
    const struct geometry *g = geometry_of(value);
    return g && g->object != IMAGE;
}

bool tool_image_looks_like(const char *value)
{
    return is_sampler(value) || geometry_of(value);
}

/* ---- parsing ---- */

/* "f32x4", "u32" */
static const struct component *parse_format(struct part part, uint32_t *channels, struct wm_diag *diag)
{
    struct part type = part;
    *channels = 1;
    if (part.length > 2 && part.text[part.length - 2] == 'x') {
        *channels = (uint32_t)(part.text[part.length - 1] - '0');
        type.length -= 2;
    }
    for (size_t i = 0; i < COMPONENTS && (*channels == 1 || *channels == 2 || *channels == 4); i++)
        if (is(type, components[i].name))
            return &components[i];
    tool_because(
        diag,
        "'%.*s' is no format; expected unorm8, unorm16, snorm8, snorm16, u8, u16, u32, i8, i16, i32, f16 or "
        "f32, and x2 or x4 behind it",
        (int)part.length, part.text);
    return NULL;
}

static bool parse_sizes(const struct geometry *g, struct part part, struct wm_image *image,
                        struct wm_diag *diag)
{
    static const char *const forms[] = {"WIDTH", "WIDTH,HEIGHT", "WIDTH,HEIGHT,DEPTH"};
    const bool layers = g->geometry == WM_IMAGE_1D_ARRAY || g->geometry == WM_IMAGE_2D_ARRAY;
    uint64_t size[3] = {0};
    char text[64];
    unsigned commas = 0;
    snprintf(text, sizeof text, "%.*s", (int)part.length, part.text);
    for (const char *c = text; *c; c++)
        commas += *c == ',';
    bool good = part.length < sizeof text && commas + 1 == g->sizes && tool_parse_triple(text, size);
    for (unsigned i = 0; i < g->sizes; i++)
        good = good && size[i] && size[i] <= UINT32_MAX;
    if (!good)
        return tool_because(diag, "'%.*s' is no size of %s; expected %s", (int)part.length, part.text,
                            g->name,
                            !layers                            ? forms[g->sizes - 1]
                            : g->geometry == WM_IMAGE_1D_ARRAY ? "WIDTH,LAYERS"
                                                               : "WIDTH,HEIGHT,LAYERS");
    image->width = (uint32_t)size[0];
    image->height = g->geometry == WM_IMAGE_1D_ARRAY ? 1 : (uint32_t)size[1];
    image->depth = layers ? (uint32_t)size[g->sizes - 1] : (uint32_t)size[2];
    return true;
}

static bool parse_sampler(struct part list, struct wm_sampler *sampler, struct wm_diag *diag)
{
    static const struct {
        const char *name;
        enum { FILTER, ADDRESSING, COORDINATES } what;
        unsigned value;
    } words[] = {
        {"nearest", FILTER, false},
        {"linear", FILTER, true},
        {"edge", ADDRESSING, WM_ADDRESSING_EDGE},
        {"border", ADDRESSING, WM_ADDRESSING_BORDER},
        {"repeat", ADDRESSING, WM_ADDRESSING_REPEAT},
        {"mirror", ADDRESSING, WM_ADDRESSING_MIRROR},
        {"normalized", COORDINATES, true},
        {"unnormalized", COORDINATES, false},
    };
    enum { WORDS = sizeof words / sizeof *words, ALL = 7 };
    unsigned given = 0;
    *sampler = (struct wm_sampler){.struct_size = sizeof *sampler};
    for (const char *text = list.text, *end = list.text + list.length; text < end;) {
        const struct part word = next_part(&text, ",:");
        size_t i = 0;
        while (i < WORDS && !is(word, words[i].name))
            i++;
        if (i == WORDS)
            return tool_because(diag, "'%.*s' is no property of a sampler; expected %s", (int)word.length,
                                word.text, samplers_form);
        if (given >> words[i].what & 1)
            return tool_because(diag, "'%.*s' contradicts, or repeats, what is before it; expected %s",
                                (int)word.length, word.text, samplers_form);
        given |= 1u << words[i].what;
        if (words[i].what == FILTER)
            sampler->linear = words[i].value;
        else if (words[i].what == COORDINATES)
            sampler->normalized = words[i].value;
        for (unsigned axis = 0; words[i].what == ADDRESSING && axis < 3; axis++)
            sampler->addressing[axis] = (enum wm_addressing)words[i].value;
    }
    return given == ALL || tool_because(diag, "'%.*s' is not all of a sampler; expected %s", (int)list.length,
                                        list.text, samplers_form);
}

/* "mode=64KB_R_X:", if *rest begins with it. */
static bool parse_mode(const char **rest, char mode[sizeof((struct tool_buffer *)0)->mode],
                       struct wm_diag *diag)
{
    static const char prefix[] = "mode=";
    if (strncmp(*rest, prefix, strlen(prefix)) != 0)
        return true;
    const struct part part = next_part(rest, ":");
    const size_t length = part.length - strlen(prefix);
    if (!length || length >= sizeof((struct tool_buffer *)0)->mode)
        return tool_because(diag, "'%.*s' is no swizzle mode; expected mode=64KB_R_X or the like",
                            (int)part.length, part.text);
    memcpy(mode, part.text + strlen(prefix), length);
    mode[length] = '\0';
    return true;
}

/* The texels: zeros, or an array of the format's elements. */
static bool parse_texels(const char *spec, const struct component *c, uint64_t count,
                         struct tool_array *array, struct wm_diag *diag)
{
    const struct tool_type *type = tool_type_of(c->kind, c->bytes);
    if (!*spec) {
        *array = (struct tool_array){.kind = TOOL_ZERO, .type = type, .count = count, .spec = ""};
        return true;
    }
    if (!tool_array_parse(spec, array, diag))
        return false;
    bool good = true;
    if (array->kind == TOOL_WORDS)
        good = tool_because(diag, "the texels are addresses; expected elements of %s", type->name);
    else if (!array->type && !tool_array_adopt(array, type))
        good = tool_because(diag, "%llu bytes are no whole number of %s elements",
                            (unsigned long long)array->count, type->name);
    else if (array->type != type)
        good = tool_because(diag, "the elements are %s; %s takes %s", array->type->name, c->name, type->name);
    else if (array->count != count)
        good = tool_because(diag, "%llu elements; the image has %llu", (unsigned long long)array->count,
                            (unsigned long long)count);
    if (!good)
        tool_array_free(array);
    return good;
}

/* Rows by columns by channels, as NumPy has them. */
static void set_shape(const struct wm_image *image, const struct wm_image_layout *layout,
                      struct tool_array *array)
{
    const bool flat = image->geometry == WM_IMAGE_1D || image->geometry == WM_IMAGE_1D_BUFFER;
    const bool slices = layout->slices > 1 || image->geometry == WM_IMAGE_3D ||
                        image->geometry == WM_IMAGE_1D_ARRAY || image->geometry == WM_IMAGE_2D_ARRAY;
    char *to = array->shape;
    const size_t size = sizeof array->shape;
    size_t used = (size_t)snprintf(to, size, "(");
    if (slices)
        used += (size_t)snprintf(to + used, size - used, "%u, ", layout->slices);
    if (!flat && image->geometry != WM_IMAGE_1D_ARRAY)
        used += (size_t)snprintf(to + used, size - used, "%u, ", layout->rows);
    used += (size_t)snprintf(to + used, size - used, "%u, ", image->width);
    if (image->components > 1)
        used += (size_t)snprintf(to + used, size - used, "%u, ", image->components);
    const bool one = !strchr(strchr(to, ',') + 1, ','); /* "(4,)" and "(4, 4)" */
    strcpy(to + used - (one ? 1 : 2), ")");
}

/* ---- binding ---- */

static bool kind_takes(const struct wm_argument *formal, bool sampler, bool pointer)
{
    if (formal->size != 8)
        return false;
    if (pointer)
        return formal->kind == WM_ARGUMENT_GLOBAL_BUFFER || formal->kind == WM_ARGUMENT_BY_VALUE;
    return formal->kind == (sampler ? WM_ARGUMENT_SAMPLER : WM_ARGUMENT_IMAGE);
}

/* "image2d" for image2d_t and image2d_depth_t, if the metadata names the type. */
static bool geometry_fits(const struct geometry *g, const char *type)
{
    const size_t length = strlen(g->name);
    if (g->object != IMAGE || !type || strncmp(type, "image", strlen("image")) != 0)
        return true;
    return !strncmp(type, g->name, length) &&
           (!strcmp(type + length, "_t") || !strcmp(type + length, "_depth_t"));
}

static bool bind_texels(struct tool_job *job, size_t index, size_t argument, const struct geometry *g,
                        const char *rest, struct tool_binding *binding, struct wm_diag *diag)
{
    const struct tool_dispatch *d = &job->dispatches[index];
    struct wm_image image = {.struct_size = sizeof image, .geometry = g->geometry};
    struct wm_image_layout layout = {0};
    struct tool_array array;
    uint32_t words[WM_IMAGE_WORDS];
    char mode[sizeof binding->buffer->mode] = "";
    const struct component *c = parse_format(next_part(&rest, ":"), &image.components, diag);
    if (!c || !parse_sizes(g, next_part(&rest, ":"), &image, diag) || !parse_mode(&rest, mode, diag) ||
        (g->object == TEXTURE && !parse_sampler(next_part(&rest, ":"), &binding->sampler, diag)))
        return false;
    image.type = c->type;
    image.mode = mode[0] ? mode : NULL;
    image.gpu = job->gpu;
    if (wm_image_describe(wm_object_target(d->object), &image, words, &layout, diag) != WM_OK ||
        !parse_texels(rest, c, (uint64_t)image.width * layout.rows * layout.slices * image.components, &array,
                      diag))
        return false;
    set_shape(&image, &layout, &array);
    char title[120];
    const char *name = d->formal[argument].name;
    tool_argument_title(d, argument, title, sizeof title);
    binding->buffer = tool_add_buffer(job, name && name[0] ? name : title, &array);
    binding->buffer->dispatch = index;
    binding->buffer->image = image;
    binding->buffer->layout = layout;
    if (!image.mode)
        return true;
    strcpy(binding->buffer->mode, mode);
    binding->buffer->image.mode = binding->buffer->mode;
    return wm_surface_of_image(wm_object_target(d->object), image.gpu, words, &binding->buffer->surface, NULL,
                               diag) == WM_OK;
}

bool tool_bind_image(struct tool_job *job, size_t index, size_t argument, const char *value,
                     struct wm_diag *diag)
{
    const struct tool_dispatch *d = &job->dispatches[index];
    const struct wm_argument *formal = &d->formal[argument];
    const struct geometry *g = geometry_of(value);
    const bool sampler = is_sampler(value), texture = g && g->object == TEXTURE;
    struct tool_binding binding = {.kind = TOOL_DESCRIPTORS, .has_sampler = sampler || texture};
    const char *rest = strchr(value, ':');
    if (!sampler && !g)
        return tool_because(
            diag, "'%s': expected %s", value,
            formal->kind == WM_ARGUMENT_SAMPLER
                ? "sampler:linear,edge,normalized or the like"
                : "image2d:f32x4:W,H:@FILE.npy or the like: image1d, image1d_buffer, image2d, image3d, "
                  "image1d_array, image2d_array");
    if (!kind_takes(formal, sampler, g && g->object != IMAGE) || (g && !geometry_fits(g, formal->type_name)))
        return tool_because(diag, "'%.*s' does not fit an argument of this type", (int)strcspn(value, ":"),
                            value);
    if (sampler) {
        uint32_t words[WM_SAMPLER_WORDS];
        const char *list = rest + 1;
        if (!parse_sampler((struct part){list, strlen(list)}, &binding.sampler, diag) ||
            wm_sampler_describe(wm_object_target(d->object), &binding.sampler, words, diag) != WM_OK)
            return false;
    } else if (!bind_texels(job, index, argument, g, rest + 1, &binding, diag)) {
        return false;
    }
    free(d->bindings[argument].bytes);
    d->bindings[argument] = binding;
    return true;
}

/* ---- memory ---- */

bool tool_place_descriptors(struct wm_machine *machine, const char *target,
                            const struct tool_binding *binding, uint64_t *address, struct wm_diag *diag)
{
    uint32_t words[WM_IMAGE_WORDS + WM_SAMPLER_WORDS];
    size_t count = 0;
    if (binding->buffer) {
        struct wm_image image = binding->buffer->image;
        image.address = binding->buffer->address;
        if (wm_image_describe(target, &image, words, NULL, diag) != WM_OK)
            return false;
        count = WM_IMAGE_WORDS;
    }
    if (binding->has_sampler) {
        if (wm_sampler_describe(target, &binding->sampler, words + count, diag) != WM_OK)
            return false;
        count += WM_SAMPLER_WORDS;
    }
    return wm_allocate(machine, count * sizeof *words, 0, "descriptors", address, diag) == WM_OK &&
           wm_write(machine, *address, words, count * sizeof *words, diag) == WM_OK;
}

static void copy_rows(const struct tool_buffer *buffer, const uint8_t *from, uint8_t *to, bool pack)
{
    const struct wm_image_layout *l = &buffer->layout;
    const uint64_t packed = (uint64_t)buffer->image.width * l->texel;
    for (uint32_t slice = 0; slice < l->slices; slice++)
        for (uint32_t row = 0; row < l->rows; row++) {
            const uint64_t apart = slice * l->slice + row * l->row;
            const uint64_t together = ((uint64_t)slice * l->rows + row) * packed;
            memcpy(to + (pack ? together : apart), from + (pack ? apart : together), packed);
        }
}

void tool_spread_rows(const struct tool_buffer *buffer, const void *packed, void *bytes)
{
    if (buffer->surface)
        wm_surface_tile(buffer->surface, packed, wm_surface_layout(buffer->surface)->packed, bytes,
                        buffer->layout.bytes, NULL);
    else
        copy_rows(buffer, packed, bytes, false);
}

void tool_pack_rows(const struct tool_buffer *buffer, const void *bytes, void *packed)
{
    if (buffer->surface)
        wm_surface_untile(buffer->surface, bytes, buffer->layout.bytes, packed,
                          wm_surface_layout(buffer->surface)->packed, NULL);
    else
        copy_rows(buffer, bytes, packed, true);
}
