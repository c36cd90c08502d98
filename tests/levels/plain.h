/* SPDX-License-Identifier: MIT */
/* Bodies, stages and fused steps in plain C: every CPU level must equal them bit for bit. */
#ifndef WM_TEST_PLAIN_H
#define WM_TEST_PLAIN_H

#include "isa/isa.h"
#include "sem/fused.h"
#include "sem/stage.h"

wmi_body plain_body_of(unsigned lanes, unsigned number);
wmi_body plain_stage_of(unsigned lanes, enum wmi_stage stage);
wmi_body plain_fused_of(unsigned lanes, enum wmi_fused fused);

#endif
