/* SPDX-License-Identifier: MIT */
/* The input of a code object: a file or the caller's memory, and the offload bundles it contains. */
#ifndef WMI_INPUT_H
#define WMI_INPUT_H

#include "base/arena.h"
#include "wavemem/wavemem.h"

#include <pthread.h>

/* A compressed bundle, decompressed. */
struct wmi_blob {
    struct wmi_blob *next;
    uint8_t bytes[];
};

struct wmi_bundle_entry {
    struct wm_bundle_entry public;
    const uint8_t *bytes; /* valid after wmi_input_need() */
};

/* An input; if it has entries, it is a bundle of the public API. */
struct wm_bundle {
    const char *name; /* for messages */
    const uint8_t *bytes;
    size_t size;
    /* Large files are read in blocks as needed, see wmi_input_need(). */
    bool mapped;          /* bytes are a mapping; else malloc'ed and complete */
    int memory;           /* the mapped memfd, which no other process can change; or -1 */
    int file;             /* the file that blocks are read from, or -1 */
    uint8_t *blocks;      /* a bit for each block that has been read */
    pthread_mutex_t lock; /* protects the preceding three */
    struct wmi_blob *blobs;
    uint64_t blob_bytes; /* total size of the blobs */
    size_t bundles;      /* 0: the input contains no bundles */
    struct wmi_bundle_entry *entries;
    size_t entry_count, entry_room;
    struct wmi_arena arena;
};

enum wm_status wmi_input_copy(const void *bytes, size_t size, const char *name, struct wm_bundle **input,
                              struct wm_diag *diag);
enum wm_status wmi_input_file(const char *path, struct wm_bundle **input, struct wm_diag *diag);
void wmi_input_close(struct wm_bundle *input);
/* Reads `size` bytes at `bytes` if necessary; only such bytes may be accessed. Bytes outside input->bytes are
 * always available. WM_IO: the file could not be read, or has become shorter. */
enum wm_status wmi_input_need(const struct wm_bundle *input, const uint8_t *bytes, uint64_t size,
                              struct wm_diag *diag);
/* Closes the file when nothing more will be read. */
void wmi_input_done(struct wm_bundle *input);

/* Finds the entries of an offload bundle, plain or compressed, or of the bundles in a host ELF file. For
 * other inputs, returns WM_OK and leaves `bundles` 0. */
enum wm_status wmi_bundle_read(struct wm_bundle *input, struct wm_diag *diag);
/* Selects the entry for `target`: see wm_object_open(). */
enum wm_status wmi_bundle_choose(const struct wm_bundle *input, const char *target,
                                 const struct wmi_bundle_entry **entry, struct wm_diag *diag);

/* Whether code for `has` can be used for `wanted`: the same processor, and no feature with different
 * settings. `exact`: also the same set of features. Source: LLVM 19, "ClangOffloadBundler", "Target ID".
 */
bool wmi_target_id_fits(const char *wanted, const char *has, bool exact);

#endif
