/* SPDX-License-Identifier: MIT */
/* Decodes blocks of a block-compressed format for blocks.py.
 *
 * usage: block_dump TARGET CODE <BLOCKS >TEXELS
 *
 * CODE: FORMAT of a T#, or DATA_FORMAT | NUM_FORMAT << 6. TEXELS: four f32 of each texel, 16 texels of each
 * block, by rows. */
#include <stdio.h>
#include <stdlib.h>

#include "isa/isa.h"
#include "memory/blocks.h"

int main(int count, char **arguments)
{
    const struct wmi_target *target = count == 3 ? wmi_target_find(arguments[1]) : NULL;
    if (!target) {
        fprintf(stderr, "usage: block_dump TARGET CODE <BLOCKS >TEXELS\n");
        return 2;
    }
    const struct wmi_format format =
        wmi_format_of_image(wmi_format_rules((unsigned)wmi_target_limit(target, WMI_LIMIT_format_rules)),
                            (unsigned)strtoul(arguments[2], NULL, 0));
    unsigned char block[16];
    if (!format.layout->block) {
        fprintf(stderr, "block_dump: %s: not a format of blocks\n", arguments[2]);
        return 2;
    }
    while (fread(block, format.layout->bytes, 1, stdin) == 1)
        for (unsigned texel = 0; texel < 16; texel++) {
            uint32_t value[4];
            wmi_block_load(&format, block, texel % 4, texel / 4, false, value);
            fwrite(value, sizeof value, 1, stdout);
        }
    return 0;
}
