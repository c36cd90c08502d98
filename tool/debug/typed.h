/* SPDX-License-Identifier: MIT */
/* Values whose type DWARF describes: structs, arrays, pointers to them. */
#ifndef WAVEMEM_DEBUG_TYPED_H
#define WAVEMEM_DEBUG_TYPED_H

#include "tool/debug/value.h"

/* The part of a value from `offset` on that has the type: `whole` is an aggregate or a place in memory. */
bool debug_part(struct debug_session *s, const struct debug_value *whole, uint64_t offset,
                const struct wm_object *object, uint64_t type, struct debug_value *part,
                struct wm_diag *diag);
/* What a pointer points to, `index` elements further. */
bool debug_target(struct debug_session *s, const struct debug_value *pointer, int64_t index,
                  struct debug_value *target, struct wm_diag *diag);
/* A member of a struct or union; of an unnamed one or a base class, too. */
bool debug_member(struct debug_session *s, const struct debug_value *v, const char *name, size_t length,
                  struct debug_value *member, struct wm_diag *diag);
/* Element of an array, or member by its number (*name); false without a message: there is none. */
bool debug_child(struct debug_session *s, const struct debug_value *v, uint64_t index, const char **name,
                 struct debug_value *child, struct wm_diag *diag);
/* How many there are. */
uint64_t debug_children(const struct debug_value *v);

#endif
