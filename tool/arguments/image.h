/* SPDX-License-Identifier: MIT */
/* Images, samplers, texture and surface objects on the command line: "image2d:f32x4:64,64:@in.npy",
 * "sampler:linear,edge,normalized", "texture2d:f32:64,64:linear,edge,normalized:@in.npy". */
#ifndef WAVEMEM_TOOL_IMAGE_H
#define WAVEMEM_TOOL_IMAGE_H

#include "tool/arguments/job.h"

/* Whether `value` begins like one of them. */
bool tool_image_looks_like(const char *value);
/* Whether it is a texture or surface object, in place of a pointer. */
bool tool_image_is_pointer(const char *value);
/* Binds one to an argument of dispatch `index`; the texels are a new buffer of the job. */
bool tool_bind_image(struct tool_job *job, size_t index, size_t argument, const char *value,
                     struct wm_diag *diag);
/* Writes the descriptors of a binding to guest memory and returns their address; the texels must be
 * allocated. */
bool tool_place_descriptors(struct wm_machine *machine, const char *target,
                            const struct tool_binding *binding, uint64_t *address, struct wm_diag *diag);

/* Rows of texels are one behind the other in files, and further apart in an image. `bytes`: the image's
 * memory. */
void tool_spread_rows(const struct tool_buffer *buffer, const void *packed, void *bytes);
void tool_pack_rows(const struct tool_buffer *buffer, const void *bytes, void *packed);

#endif
