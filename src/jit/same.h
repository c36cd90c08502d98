/* SPDX-License-Identifier: MIT */
/* Rows that are the same in all lanes of a strip outside of the code for waves that start: elements that
 * each strip reads from one place in the LDS, and what is computed from them. One register holds such a row
 * for the whole wave, as a row in runs whose stride is 0.
 *
 * That is known only where the addresses are as guessed. Where they are not, the wave leaves for the same
 * steps with a register per strip: a split. */
#ifndef WMI_SAME_H
#define WMI_SAME_H

#include "jit/stretch.h"

/* Whether it is worth it to hold what the current step, an LDS read, reads for each strip in one register:
 * until nothing reads it any more, only steps use it that can work on all strips at once, and there are some.
 */
bool wmi_same_is_worth(const struct wmi_stretch *s, const struct wmi_step *step);
/* Emits the step if it reads rows that are the same in strips, and no others that have a register per strip.
 */
bool wmi_same_emit(struct wmi_stretch *s, const struct wmi_step *step);

#endif
