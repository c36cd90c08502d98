/* SPDX-License-Identifier: MIT */
/* Code objects in guest memory, loaded ones and those of code that the caller has put there. */
#ifndef WMI_API_MODULE_H
#define WMI_API_MODULE_H

#include "object/object.h"

/* An object in guest memory. */
struct wmi_module {
    const struct wm_object *object;
    uint64_t bias; /* guest address - object address */
    struct wmi_module *next;
};

/* A raw kernel in guest memory. */
struct wmi_raw {
    const uint8_t *descriptor, *code;
    const char *name; /* NULL: any */
    size_t size;      /* bytes of code, up to the end of the allocation */
    uint64_t entry;
};

/* Objects that were made of raw kernels. They are used again while memory holds the same code: drivers put
 * new shaders beside and in place of old ones all the time. */
struct wmi_raw_modules;

/* One of them. */
struct wmi_raw_module {
    struct wmi_module module; /* first */
    struct wm_object *object;
    struct wmi_raw_module *next; /* in its bucket */
    unsigned users;              /* dispatches */
    bool lasts;                  /* somebody may ask for it as long as the machine lives */
};

struct wmi_raw_modules *wmi_raw_modules_create(void); /* NULL: no memory */
void wmi_raw_modules_destroy(struct wmi_raw_modules *modules);
/* The module of this descriptor and code; NULL: none. Ends those of code that was at this entry before. */
struct wmi_raw_module *wmi_raw_modules_find(struct wmi_raw_modules *modules, const struct wmi_raw *raw);
/* Adds one, whose object becomes theirs. NULL: no memory. */
struct wmi_raw_module *wmi_raw_modules_add(struct wmi_raw_modules *modules, struct wm_object *object,
                                           uint64_t entry);

#endif
