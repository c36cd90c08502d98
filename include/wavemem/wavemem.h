/* SPDX-License-Identifier: MIT */
/* wavemem: executes the machine code of AMD GPUs on an ordinary CPU and shows what it does to memory.
 *
 * Opaque handles own memory; plain structs are values that the caller owns. A function that can fail returns
 * a wm_status and, if `diag` is not NULL, sets *diag to a message. A fault of the guest is a result
 * (wm_fault), not a status. The library has no global state: handles of different machines may be used from
 * different threads, and a machine from several.
 *
 * A pointer may be NULL only where its comment says so; `diag` always may. If another pointer is NULL, or a
 * value is not in its enum, a function that returns a wm_status returns WM_BAD_ARGUMENT with a message that
 * names the parameter; one that destroys or closes does nothing; any other returns what stands for "none".
 *
 * A struct that begins with struct_size may grow in later versions: set all of it to 0, then struct_size to
 * its sizeof. A library accepts shorter structs of older headers, as if what they lack were 0, and longer
 * structs of newer headers if what it does not know is 0 (else WM_BAD_ARGUMENT); results are filled in as far
 * as the caller's struct reaches.
 *
 * Text that does not fit into an array of a struct ends with "...". Functions that fill an array of the
 * caller's return the length of the whole text, as snprintf does.
 *
 * Example: run c = a + b from a file. Error checks are omitted:
 *
 *     wm_object_open_file("vecadd.co", NULL, &object, &diag);
 *     wm_object_find_kernel(object, "vecadd", &kernel, &diag);
 *     wm_machine_create(wm_object_target(object), &machine, &diag);
 *     wm_load(machine, object, &diag);
 *     wm_allocate(machine, 4 * n, 0, "a", &arguments.a, &diag);    and b, c
 *     wm_write(machine, arguments.a, a, 4 * n, &diag);             and b
 *     struct wm_dispatch dispatch = {.struct_size = sizeof(dispatch), .grid = {n}, .workgroup = {64},
 *                                    .arguments = &arguments, .arguments_size = sizeof(arguments)};
 *     struct wm_result result = {.struct_size = sizeof(result)};
 *     wm_dispatch(machine, object, kernel, &dispatch, &result, &diag);
 *     wm_read(machine, arguments.c, c, 4 * n, &diag);
 *
 * `arguments` has the layout that kernel->arguments[].offset describes, here struct { uint64_t a, b, c;
 * uint32_t n; }.
 */
#ifndef WAVEMEM_H
#define WAVEMEM_H

#include "check.h"    /* missing waits and hazards */
#include "explain.h"  /* descriptors, formats, addresses */
#include "fidelity.h" /* how exactly instructions are modelled */
#include "gpu.h"      /* products */
#include "image.h"    /* images and samplers */
#include "isa.h"      /* instructions: assembling, decoding, disassembling */
#include "machine.h"  /* machines and dispatches */
#include "memory.h"   /* guest memory */
#include "object.h"   /* code objects */
#include "observe.h"  /* callbacks for events of a dispatch and of its memory */
#include "profile.h"  /* cost of memory instructions */
#include "queue.h"    /* dispatches in the background */
#include "start.h"    /* initial registers of raw code */
#include "status.h"   /* status codes */
#include "stop.h"     /* breakpoints and steps */
#include "surface.h"  /* tiled images */
#include "tess.h"     /* Mesa's off-chip tessellation buffer */
#include "variable.h" /* variables of the source */

#endif
