/* SPDX-License-Identifier: MIT */
/* Caches decoded images and samplers per instruction and worker: decoding a descriptor costs as much as many
 * texels, and most waves use the same descriptors. */
#ifndef WMI_RESOURCES_H
#define WMI_RESOURCES_H

#include "exec/run/wave.h"

#include <string.h>

static inline struct wmi_decoded *wmi_decoded_of(const char *frame, const struct wmi_memory_op *m)
{
    return &wmi_wave_of(frame)->worker->decoded[m->hit % WMI_DECODED];
}

/* The decoded T# at byte `offset` of the frame. r128: the T# has four words. Valid until the instruction
 * ends. */
static inline const struct wmi_image *wmi_decoded_image(const char *frame, const struct wmi_memory_op *m,
                                                        uint32_t offset, bool r128)
{
    struct wmi_decoded *d = wmi_decoded_of(frame, m);
    uint32_t words[8] = {0};
    memcpy(words, frame + offset, r128 ? 16 : 32);
    if (!d->has_image || memcmp(d->image_words, words, sizeof words) != 0) {
        memcpy(d->image_words, words, sizeof words);
        wmi_image_decode(m->image, words, &d->image);
        d->has_image = true;
    }
    return &d->image;
}

/* The decoded S# at byte `offset` of the frame. Valid until the instruction ends. */
static inline const struct wmi_sampler *wmi_decoded_sampler(const char *frame, const struct wmi_memory_op *m,
                                                            uint32_t offset)
{
    struct wmi_decoded *d = wmi_decoded_of(frame, m);
    if (!d->has_sampler || memcmp(d->sampler_words, frame + offset, sizeof d->sampler_words) != 0) {
        memcpy(d->sampler_words, frame + offset, sizeof d->sampler_words);
        d->sampler = wmi_sampler_decode(m->image->layout, d->sampler_words);
        d->has_sampler = true;
    }
    return &d->sampler;
}

#endif
