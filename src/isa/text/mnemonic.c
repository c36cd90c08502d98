/* SPDX-License-Identifier: MIT */
#include "isa/text/mnemonic.h"

#include <ctype.h>
#include <string.h>

enum { MNEMONIC = 64 }; /* bytes of a name */

/* The first entry for `name`, or NULL. */
static const struct wmi_mnemonic *first_of_name(const struct wmi_target *target, const char *name)
{
    unsigned low = 0, high = target->mnemonic_count;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (strcmp(target->mnemonics[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < target->mnemonic_count && !strcmp(target->mnemonics[low].name, name)
               ? &target->mnemonics[low]
               : NULL;
}

static const struct {
    const char *suffix;
    uint8_t variants; /* bits of enum wmi_variant */
} suffixes[] = {
    {"_e64_dpp", 1 << WMI_VARIANT_E64_DPP}, {"_e64", 1 << WMI_VARIANT_E64},
    {"_e32", 1 << WMI_VARIANT_PLAIN},       {"_dpp", 1 << WMI_VARIANT_DPP},
    {"_sdwa", 1 << WMI_VARIANT_SDWA},
};

const struct wmi_mnemonic *wmi_find_mnemonic(const struct wmi_target *target, const char *text, size_t length,
                                             unsigned *variants)
{
    char name[MNEMONIC];
    *variants = WMI_ALL_VARIANTS;
    if (!length || length >= sizeof name)
        return NULL;
    for (size_t i = 0; i < length; i++)
        name[i] = (char)tolower((unsigned char)text[i]);
    name[length] = 0;
    const struct wmi_mnemonic *found = first_of_name(target, name);
    for (unsigned i = 0; !found && i < sizeof suffixes / sizeof *suffixes; i++) {
        const size_t n = strlen(suffixes[i].suffix);
        if (length > n && !strcmp(name + length - n, suffixes[i].suffix)) {
            name[length - n] = 0;
            *variants = suffixes[i].variants;
            return first_of_name(target, name);
        }
    }
    return found;
}

const struct wmi_mnemonic *wmi_find_mnemonic_here(const struct wmi_target *target, struct wmi_cursor *c,
                                                  size_t length, unsigned *variants)
{
    uint32_t hash = 0;
    if (!c->names)
        return wmi_find_mnemonic(target, c->at, length, variants);
    for (size_t i = 0; i < length; i++)
        hash = hash * 31 + (uint8_t)c->at[i];
    struct wmi_name_memory *m = &c->names[hash % WMI_NAME_MEMORIES];
    if (!m->found || m->length != length || memcmp(m->text, c->at, length)) {
        m->text = c->at;
        m->length = length;
        m->found = wmi_find_mnemonic(target, c->at, length, variants);
        m->variants = *variants;
    }
    *variants = m->variants;
    return m->found;
}

bool wmi_has_mnemonic(const struct wmi_target *target, const char *name, size_t length)
{
    unsigned variants;
    return wmi_find_mnemonic(target, name, length, &variants) != NULL;
}

/* ---- similar names ---- */

unsigned wmi_edits(const char *a, size_t length, const char *b, unsigned most)
{
    unsigned row[MNEMONIC];
    const size_t other = strlen(b);
    if (other >= MNEMONIC || length >= MNEMONIC || (length > other ? length - other : other - length) > most)
        return most + 1;
    for (size_t j = 0; j <= other; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= length; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= other; j++) {
            const unsigned change = diagonal + (tolower((unsigned char)a[i - 1]) != b[j - 1]);
            diagonal = row[j];
            const unsigned insert = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = change < insert ? change : insert;
        }
    }
    return row[other];
}

unsigned wmi_nearest_mnemonics(const struct wmi_target *target, const char *name, size_t length,
                               const char **found, unsigned most)
{
    unsigned count = 0, furthest = (unsigned)length / 3 + 1;
    for (unsigned i = 0; i < target->mnemonic_count; i++) {
        const char *candidate = target->mnemonics[i].name;
        if (i && !strcmp(candidate, target->mnemonics[i - 1].name))
            continue;
        const unsigned edits = wmi_edits(name, length, candidate, furthest);
        if (edits >= furthest)
            continue;
        unsigned at = count < most ? count++ : most - 1; /* by edits, then by name */
        for (; at && wmi_edits(name, length, found[at - 1], furthest) > edits; at--)
            found[at] = found[at - 1];
        found[at] = candidate;
        if (count == most)
            furthest = wmi_edits(name, length, found[most - 1], furthest);
    }
    return count;
}
