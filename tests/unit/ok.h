/* SPDX-License-Identifier: MIT */
/* OK(): a call of the API that must succeed, else the test fails with its message. Include behind cmocka.h.
 */
#ifndef TESTS_UNIT_OK_H
#define TESTS_UNIT_OK_H

#include "wavemem/wavemem.h"

static struct wm_diag diag;

#define OK(call)                                                                                             \
    do {                                                                                                     \
        if ((call) != WM_OK)                                                                                 \
            fail_msg("%s: %s", #call, diag.message);                                                         \
    } while (0)

#endif
