/* SPDX-License-Identifier: MIT */
/* The compute shaders of tests/radv: their resources, inputs and references. */
#ifndef RADV_CASES_H
#define RADV_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RADV_BINDINGS = 8, RADV_BUFFERS = 16, RADV_PUSH = 32 };

/* The buffer of an image has rows of RADV_WIDTH texels of 4 bytes. */
enum radv_kind { RADV_STORAGE, RADV_UNIFORM, RADV_TEXELS, RADV_STORED_TEXELS, RADV_IMAGE, RADV_STORED_IMAGE };
enum { RADV_WIDTH = 64 };

enum radv_format { RADV_NO_FORMAT, RADV_RGBA8_UNORM, RADV_RG16_SINT, RADV_RGBA16_FLOAT, RADV_R32_UINT };

/* An array of descriptors; each refers to a buffer of its own. */
struct radv_binding {
    uint32_t set, binding;
    enum radv_kind kind;
    uint32_t count; /* 0: the list of bindings ends here */
    uint32_t size;  /* bytes of each buffer */
    enum radv_format format;
};

struct radv_buffer {
    uint8_t *bytes;
    uint64_t address; /* in guest memory */
    uint32_t size;
};

/* Words of push constants from here on stand for addresses of buffers, which only the run knows: word
 * RADV_LOW + n is the low half of the address of buffer n, RADV_HIGH + n the high half. */
enum { RADV_LOW = 0x5add0000, RADV_HIGH = 0x5ade0000 };

struct radv_case {
    const char *name, *shader;            /* the file is <shader>.comp */
    uint32_t wave;                        /* required size of a subgroup; 0: what the driver prefers */
    bool half_floats, words16, atomics64; /* features that the GPU must have */
    uint32_t workgroups[3];
    struct radv_binding bindings[RADV_BINDINGS];
    uint32_t push[RADV_PUSH], push_words;
    uint32_t
        hidden; /* bytes of a further buffer, behind those of the bindings, that only addresses lead to */
    void (*fill)(struct radv_buffer *buffers); /* inputs; buffers are 0 before, in the order of bindings */
    void (*run)(struct radv_buffer *buffers, const struct radv_case *this, uint32_t wave); /* the reference */
    void (*settle)(struct radv_buffer *buffers); /* removes what is not determined; or NULL */
};

extern const struct radv_case radv_cases[];
extern const size_t radv_case_count;

/* Sizes in bytes of the buffers of a case; returns how many there are. */
size_t radv_sizes(const struct radv_case *this, uint32_t sizes[RADV_BUFFERS]);

#endif
