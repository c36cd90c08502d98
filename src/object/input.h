/* SPDX-License-Identifier: MIT */
/* The input of a code object: a file or the caller's memory, and the offload bundles in it. */
#ifndef WMI_INPUT_H
#define WMI_INPUT_H

#include "base/arena.h"
#include "wavemem/wavemem.h"

/* A compressed bundle, decompressed. */
struct wmi_blob {
    struct wmi_blob *next;
    uint8_t bytes[];
};

/* An input; one with entries is a bundle of the public API. */
struct wm_bundle {
    const char *name; /* for messages */
    const uint8_t *bytes;
    size_t size;
    bool mapped; /* bytes are a mapped file; else from malloc */
    int file;    /* that is mapped, or -1 */
    struct wmi_blob *blobs;
    uint64_t blob_bytes; /* of all of them */
    size_t bundles;      /* 0: the input contains no bundles */
    struct wm_bundle_entry *entries;
    size_t entry_count, entry_room;
    struct wmi_arena arena;
};

enum wm_status wmi_input_copy(const void *bytes, size_t size, const char *name, struct wm_bundle **input,
                              struct wm_diag *diag);
enum wm_status wmi_input_file(const char *path, struct wm_bundle **input, struct wm_diag *diag);
void wmi_input_close(struct wm_bundle *input);

/* Finds the entries of an offload bundle, plain or compressed, or of those in a host's ELF file. For other
 * inputs, `bundles` stays 0, and WM_OK is returned. */
enum wm_status wmi_bundle_read(struct wm_bundle *input, struct wm_diag *diag);
/* Selects the entry for `target`: see wm_object_open(). */
enum wm_status wmi_bundle_choose(const struct wm_bundle *input, const char *target,
                                 const struct wm_bundle_entry **entry, struct wm_diag *diag);

/* Whether code for `has` can be used for `wanted`: the same processor, and no feature with different
 * settings. `exact`: also the same set of features. Source: LLVM 19, "ClangOffloadBundler", "Target ID".
 */
bool wmi_target_id_fits(const char *wanted, const char *has, bool exact);

#endif
