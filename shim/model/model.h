/* SPDX-License-Identifier: MIT */
/* What the parts of the model know of one another. */
#ifndef MODEL_H
#define MODEL_H

#include "shim/aql/aql.h"
#include "shim/model/interface.h"

/* ---- topology.c ---- */

/* The target of the GPU with that number, from 0 on, in the topology that HSA_MODEL_TOPOLOGY names. False
 * after a message. */
bool model_find_target(unsigned number, char target[SHIM_TARGET]);

/* ---- memory.c ---- */

/* Where the guest memory of a GPU is in this process. */
void model_set_aperture(const struct shim_gpu *gpu, void *base, uint64_t size);
/* Memory that some GPU may see from now on. flags: of interface.h. */
void model_add_memory(uint64_t low, uint64_t size, uint32_t flags);
void model_remove_memory(uint64_t low);
/* Makes the machine see what its aperture contains now. */
void model_update_memory(const struct shim_gpu *gpu);
/* What the guest has there, or NULL. */
void *model_find(const struct shim_gpu *gpu, uint64_t address, uint64_t size, bool writable);

#endif
