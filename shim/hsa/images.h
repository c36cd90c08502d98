/* SPDX-License-Identifier: MIT */
/* The extension of images and samplers. */
#ifndef SHIM_IMAGES_H
#define SHIM_IMAGES_H

#include "shim.h"

#include <hsa/hsa_ext_image.h>

/* The table of the extension's functions, a hsa_ext_images_1_pfn_t. */
const void *shim_images_table(size_t *size);

#endif
