/* SPDX-License-Identifier: MIT */
/* States of blocks in the check for races against a model with three records for each byte: random accesses
 * of a few waves of two workgroups to one block, with epochs that go on and knowledge that grows. */
#include "base/random.h"
#include "check/races/race_shadow.h"
#include "reduced.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

enum { BYTES = 1 << WMI_RACE_BLOCK_BITS, WAVES = 4, SLOTS = 3, ROLES = 3, ADDRESS = 0x12380 };

struct model {
    uint64_t record[ROLES][BYTES]; /* without bytes; 0: none */
};

struct wave {
    uint32_t tag, number, epoch, floor;
};

/* Whether the bytes may be accessed, as far as the records tell. */
static bool is_ordered(const struct model *model, const struct wmi_race_access *access,
                       const uint64_t bytes[2])
{
    for (unsigned i = 0; i < BYTES; i++)
        for (unsigned role = 0; role < ROLES; role++)
            if (bytes[i / 64] >> i % 64 & 1 && (access->writes || role == WMI_RACE_WRITE) &&
                !wmi_race_is_settled(model->record[role][i], access))
                return false;
    return true;
}

static void record(struct model *model, const struct wmi_race_access *access, const uint64_t bytes[2])
{
    for (unsigned i = 0; i < BYTES; i++) {
        if (!(bytes[i / 64] >> i % 64 & 1))
            continue;
        const bool other = !wmi_race_is_settled(model->record[WMI_RACE_READ][i], access);
        model->record[access->writes ? WMI_RACE_WRITE
                      : other        ? WMI_RACE_OTHER
                                     : WMI_RACE_READ][i] = access->record;
    }
}

/* What the block's state tells. gone: records below it no longer matter. */
static void compare(const struct wmi_race_shadow *shadow, const uint64_t *owner, const struct model *model,
                    uint64_t gone)
{
    const struct wmi_race_state *state = owner[0] ? shadow->states.state[owner[0] & WMI_RACE_STATE] : NULL;
    struct model told = {0};
    for (uint32_t i = 0; state && i < state->count; i++) {
        const struct wmi_race_state_entry *entry = &state->entry[i];
        assert_true(entry->owner < state->owners);
        for (unsigned byte = 0; byte < BYTES; byte++)
            if (entry->bytes[byte / 64] >> byte % 64 & 1) {
                uint64_t *at = &told.record[entry->role][byte];
                assert_int_equal(*at, 0);
                *at = (owner[entry->owner * WMI_RACE_AREA_BLOCKS] & ~WMI_RACE_STATE) +
                      ((uint64_t)entry->epoch << WMI_RACE_EPOCH_AT) +
                      ((uint64_t)entry->slot << WMI_RACE_SLOT_AT);
            }
    }
    for (unsigned role = 0; role < ROLES; role++)
        for (unsigned byte = 0; byte < BYTES; byte++) {
            const uint64_t wanted = model->record[role][byte], got = told.record[role][byte];
            assert_true(got == wanted || (wanted < gone && got < gone));
        }
}

/* After wmi_race_leave_state(): whether the block, now in another form, holds exactly these records. */
static void leave(struct wmi_race_shadow *shadow, struct wmi_race_page *page, unsigned block,
                  const struct model *model)
{
    struct wmi_race_cells cells = {0};
    assert_true(wmi_race_leave_state(shadow, page, block));
    assert_true(wmi_race_find_cells(shadow, page, block, &cells));
    for (unsigned byte = 0; byte < BYTES; byte++) {
        const unsigned dword = byte / 4;
        const bool split = cells.write[dword] >= WMI_RACE_SPLIT;
        const struct wmi_race_bytes *bytes = split ? wmi_race_bytes_at(shadow, cells.write[dword]) : NULL;
        const uint64_t got[ROLES] = {split ? bytes->write[byte % 4] : cells.write[dword],
                                     split ? bytes->read[byte % 4] : cells.read[dword],
                                     split ? bytes->other[byte % 4] : cells.other[dword]};
        for (unsigned role = 0; role < ROLES; role++) {
            const bool there = split ? got[role] : wmi_race_bytes(got[role]) >> byte % 4 & 1;
            assert_int_equal(there ? got[role] & ~UINT64_C(15) : 0, model->record[role][byte]);
        }
    }
}

/* Bytes from a random one on, in steps, or dwords: as lanes of a wave with a stride access them. */
static bool random_bytes(uint64_t bits, uint64_t bytes[2])
{
    const unsigned size = 1u << (bits & 3) % 3, stride = 4u << (bits >> 2 & 3),
                   from = bits >> 4 & (BYTES - 1);
    bytes[0] = bytes[1] = 0;
    for (unsigned at = from; at < BYTES; at += stride)
        for (unsigned i = at; i < at + size && i < BYTES; i++)
            bytes[i / 64] |= UINT64_C(1) << i % 64;
    return size == 4 && from % 4 == 0;
}

static uint64_t dwords_of(const uint64_t bytes[2])
{
    uint64_t dwords = 0;
    for (unsigned i = 0; i < BYTES / 4; i++)
        dwords |= (bytes[i / 16] >> i % 16 * 4 & 1) << i;
    return dwords;
}

static unsigned walk(struct wmi_race_shadow *shadow, uint64_t seed, bool lds, unsigned steps,
                     unsigned *conflicts)
{
    const unsigned block = wmi_race_block_of(ADDRESS);
    wmi_race_shadow_begin(shadow, (uint32_t)seed);
    struct wmi_race_page *page = wmi_race_page(shadow, ADDRESS);
    struct wave wave[WAVES];
    struct model model = {0};
    uint64_t gone = 0;
    unsigned recorded = 0;
    for (unsigned i = 0; i < WAVES; i++)
        wave[i] = (struct wave){.tag = lds ? 7 : 7 + i % 2, .number = i};
    assert_non_null(page);
    for (unsigned step = 0; step < steps; step++) {
        const uint64_t bits = wmi_random_bits(seed, step);
        struct wave *w = &wave[bits % WAVES];
        uint64_t bytes[2];
        const bool dwords = random_bytes(bits >> 8, bytes);
        shadow->states.credit = WMI_RACE_MOST_CREDIT;
        if ((bits >> 40) % 8 == 0) /* a barrier of all waves of the workgroup */
            for (unsigned i = 0, epoch = w->epoch; i < 2 * WAVES; i++) {
                struct wave *one = &wave[i % WAVES];
                epoch = one->tag == w->tag && one->epoch > epoch ? one->epoch : epoch;
                if (i >= WAVES && one->tag == w->tag)
                    one->floor = one->epoch = epoch + 1;
            }
        else if ((bits >> 43) % 4 == 0)
            w->epoch++;
        if (lds) { /* what is below the floors of all waves */
            uint32_t least = UINT32_MAX;
            for (unsigned i = 0; i < WAVES; i++)
                least = wave[i].floor < least ? wave[i].floor : least;
            gone = (uint64_t)w->tag << WMI_RACE_TAG_AT | (uint64_t)least << WMI_RACE_EPOCH_AT;
        }
        const uint64_t tag = (uint64_t)w->tag << WMI_RACE_TAG_AT;
        const struct wmi_race_access access = {
            .record = tag | (uint64_t)w->epoch << WMI_RACE_EPOCH_AT |
                      (uint64_t)w->number << WMI_RACE_WAVE_AT |
                      (1 + (bits >> 48) % SLOTS) << WMI_RACE_SLOT_AT,
            .from = lds ? 0 : tag,
            .before = (lds ? tag : 0) + ((uint64_t)w->floor << WMI_RACE_EPOCH_AT),
            .gone = gone,
            .writes = bits >> 52 & 1,
        };
        const uint64_t mask[2] = {dwords ? dwords_of(bytes) : bytes[0], dwords ? 0 : bytes[1]};
        const bool ordered = is_ordered(&model, &access, bytes);
        switch (wmi_race_touch_owners(shadow, &page->owner[block], mask, dwords, &access)) {
        case WMI_RACE_STEPS_ON:
            assert_true(ordered);
            record(&model, &access, bytes);
            compare(shadow, &page->owner[block], &model, gone);
            recorded++;
            break;
        case WMI_RACE_CONFLICTS_NOW:
            assert_false(ordered);
            ++*conflicts;
            break;
        default: /* too many owners or entries */
            if (!lds)
                leave(shadow, page, block, &model);
            return recorded;
        }
    }
    if (!lds)
        leave(shadow, page, block, &model);
    return recorded;
}

static void same_records(void **state)
{
    enum { SEEDS = 2000, STEPS = 60 };
    (void)state;
    struct wmi_race_shadow *shadow = calloc(1, sizeof *shadow);
    unsigned recorded = 0, conflicts = 0;
    const uint64_t seeds = reduced() ? SEEDS / 10 : SEEDS;
    assert_non_null(shadow);
    for (uint64_t seed = 1; seed <= seeds; seed++)
        recorded += walk(shadow, seed, seed % 2, STEPS, &conflicts);
    assert_true(recorded > 5 * seeds && conflicts > seeds);
    wmi_race_shadow_free(shadow);
    free(shadow);
}

/* Waves that make the same accesses to blocks of their own reach the same few states. */
static void shared_states(void **state)
{
    enum { BLOCKS = 1000, MEMBERS = 16 };
    (void)state;
    struct wmi_race_shadow *shadow = calloc(1, sizeof *shadow);
    assert_non_null(shadow);
    wmi_race_shadow_begin(shadow, 1);
    for (uint64_t i = 0; i < BLOCKS; i++) {
        struct wmi_race_page *page = wmi_race_page(shadow, i * BYTES);
        assert_non_null(page);
        for (uint64_t member = 0; member < MEMBERS; member++) {
            const uint64_t dwords[2] = {UINT64_C(0x10001) << member};
            const struct wmi_race_access access = {
                .record = (1 + i) << WMI_RACE_TAG_AT | (i + member) << WMI_RACE_EPOCH_AT |
                          (1 + member) << WMI_RACE_SLOT_AT,
                .from = (1 + i) << WMI_RACE_TAG_AT,
                .writes = member % 2,
            };
            assert_int_equal(wmi_race_touch_owners(shadow, &page->owner[wmi_race_block_of(i * BYTES)], dwords,
                                                   true, &access),
                             WMI_RACE_STEPS_ON);
        }
    }
    assert_int_equal(shadow->states.count, 1 + MEMBERS);
    wmi_race_shadow_free(shadow);
    free(shadow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_records), cmocka_unit_test(shared_states)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
