/* SPDX-License-Identifier: MIT */
/* Traces: encoding of numbers, round trip of workgroup logs, truncated and damaged files. */
#include "profile/trace/trace.h"
#include "profile/measure/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t state = 1;

static uint64_t random_number(void)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return state >> 11;
}

/* LEB128 as in DWARF 5, section 7.6, figure 46: examples of unsigned numbers. */
static void test_numbers(void **unused)
{
    static const struct {
        uint64_t number;
        uint8_t byte[3];
        size_t size;
    } examples[] = {
        {2, {2}, 1}, {127, {127}, 1}, {128, {0x80, 1}, 2}, {129, {0x81, 1}, 2}, {12857, {0xb9, 0x64}, 2}};
    (void)unused;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct wmi_trace_bytes bytes = {0};
        wmi_trace_write_number(&bytes, examples[i].number);
        assert_int_equal(bytes.size, examples[i].size);
        assert_memory_equal(bytes.byte, examples[i].byte, bytes.size);
        wmi_trace_bytes_free(&bytes);
    }
    static const int64_t edges[] = {0, 1, -1, 63, 64, -64, -65, INT64_MAX, INT64_MIN};
    struct wmi_trace_bytes bytes = {0};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        wmi_trace_write_signed(&bytes, edges[i]);
        wmi_trace_write_number(&bytes, (uint64_t)edges[i]);
    }
    wmi_trace_write_string(&bytes, "text");
    wmi_trace_write_string(&bytes, "");
    wmi_trace_write_string(&bytes, NULL);
    struct wmi_reader reader = {.at = bytes.byte, .end = bytes.byte + bytes.size};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        assert_int_equal(wmi_trace_read_signed(&reader), edges[i]);
        assert_int_equal(wmi_trace_read_number(&reader), (uint64_t)edges[i]);
    }
    char *text = wmi_trace_read_string(&reader), *empty = wmi_trace_read_string(&reader);
    assert_string_equal(text, "text");
    assert_string_equal(empty, "");
    assert_null(wmi_trace_read_string(&reader));
    assert_false(reader.failed);
    free(text);
    free(empty);
    assert_int_equal(wmi_trace_read_number(&reader), 0);
    assert_true(reader.failed);
    wmi_trace_bytes_free(&bytes);
    /* More than 64 bits are invalid. */
    static const uint8_t longer[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2};
    reader = (struct wmi_reader){.at = longer, .end = longer + sizeof longer};
    wmi_trace_read_number(&reader);
    assert_true(reader.failed);
}

enum { SLOTS = 9, GROUPS = 40, WAVES = 4, BLOCKS = 700 };

/* Typical accesses, and some that no kernel makes. */
static void append_some(struct wmi_log_group *group, uint32_t wave)
{
    uint64_t blocks[BLOCKS];
    bool full[BLOCKS];
    const size_t count = 1 + random_number() % (random_number() % 8 ? 16 : BLOCKS);
    const uint64_t step = random_number() % 4 ? random_number() % 3 : random_number() << 20;
    const unsigned kind = random_number() % 4;
    blocks[0] = random_number();
    for (size_t i = 0; i < count; i++) {
        if (i)
            blocks[i] = kind ? blocks[i - 1] + step : random_number() << (random_number() % 2 ? 30 : 0);
        full[i] = kind == 2 || (kind == 3 && random_number() % 2);
    }
    wmi_log_append(group, wave, random_number() % SLOTS, blocks, kind > 1 ? full : NULL, count);
}

static struct wmi_log_group *random_group(uint64_t number)
{
    struct wmi_log_group *group = wmi_log_group_create(WAVES);
    wmi_log_group_reset(group, number, 1 + number % WAVES);
    for (uint32_t wave = 0; wave < group->waves; wave++)
        for (uint64_t i = random_number() % 30; i; i--)
            append_some(group, wave);
    group->instructions = random_number();
    return group;
}

static void assert_groups_equal(const struct wmi_log_group *a, const struct wmi_log_group *b)
{
    assert_int_equal(a->number, b->number);
    assert_int_equal(a->instructions, b->instructions);
    assert_int_equal(a->waves, b->waves);
    for (uint32_t wave = 0; wave < a->waves; wave++) {
        assert_int_equal(a->wave[wave].size, b->wave[wave].size);
        if (a->wave[wave].size)
            assert_memory_equal(a->wave[wave].words, b->wave[wave].words,
                                a->wave[wave].size * sizeof *a->wave[wave].words);
    }
}

struct file {
    uint8_t *bytes;
    size_t size;
    struct wmi_log_group *group[GROUPS];
};

static char path[] = "/tmp/wavemem-trace-XXXXXX";

static struct wmi_trace_writer *begin_file(void)
{
    struct wmi_trace_writer *writer;
    struct wm_diag diag;
    memset(strrchr(path, '-') + 1, 'X', 6);
    close(mkstemp(path));
    assert_int_equal(wmi_trace_create(path, &writer, &diag), WM_OK);
    return writer;
}

static void end_file(struct wmi_trace_writer *writer, struct file *file)
{
    struct wm_diag diag;
    assert_int_equal(wmi_trace_finish(writer, &diag), WM_OK);
    FILE *from = fopen(path, "rb");
    file->bytes = malloc(1 << 22);
    file->size = fread(file->bytes, 1, 1 << 22, from);
    fclose(from);
    unlink(path);
}

static struct file write_file(void)
{
    struct file file;
    struct wmi_trace_writer *writer = begin_file();
    struct wmi_trace_places places = {0};
    for (uint64_t i = 0; i < GROUPS; i++) {
        struct wmi_trace_bytes bytes = {0};
        file.group[i] = random_group(i);
        wmi_trace_put_group(&bytes, file.group[i], &places);
        wmi_trace_put(writer, WMI_TRACE_GROUP, &bytes);
        wmi_trace_bytes_free(&bytes);
    }
    wmi_trace_places_free(&places);
    end_file(writer, &file);
    return file;
}

static void free_file(struct file *file)
{
    for (size_t i = 0; i < GROUPS; i++)
        wmi_log_group_destroy(file->group[i]);
    free(file->bytes);
}

/* Reads the whole file; *groups: number of complete logs. expected: NULL to skip the comparison. */
static enum wm_status read_file(const void *bytes, size_t size, struct wmi_log_group *const *expected,
                                unsigned *groups, struct wm_diag *diag)
{
    struct wmi_trace *trace;
    struct wmi_trace_places places = {0};
    enum wm_status status = wmi_trace_open(bytes, size, "a.trace", &trace, diag);
    *groups = 0;
    for (bool more = !status; more;) {
        enum wmi_trace_kind kind;
        struct wmi_reader payload;
        status = wmi_trace_next(trace, &kind, &payload, diag);
        more = !status && kind != WMI_TRACE_END;
        if (status || kind != WMI_TRACE_GROUP)
            continue;
        const struct wmi_trace_group head = wmi_trace_get_group(&payload);
        struct wmi_log_group *group = wmi_log_group_create(head.waves);
        wmi_log_group_reset(group, head.number, head.waves);
        group->instructions = head.instructions;
        more = wmi_trace_get_log(&payload, SLOTS, NULL, &places, group);
        if (more && expected)
            assert_groups_equal(group, expected[*groups]);
        if (!more)
            status = wmi_trace_damaged(trace, "no log", diag);
        *groups += more;
        wmi_log_group_destroy(group);
    }
    wmi_trace_places_free(&places);
    wmi_trace_close(trace);
    return status;
}

static void test_there_and_back(void **unused)
{
    struct file file = write_file();
    struct wm_diag diag = {0};
    unsigned groups;
    (void)unused;
    assert_int_equal(read_file(file.bytes, file.size, file.group, &groups, &diag), WM_OK);
    assert_int_equal(groups, GROUPS);
    free_file(&file);
}

static void test_cut_off(void **unused)
{
    struct file file = write_file();
    (void)unused;
    for (size_t size = 0; size < file.size; size += size < 64 || size + 64 > file.size ? 1 : 997) {
        struct wm_diag diag = {0};
        unsigned groups;
        assert_int_equal(read_file(file.bytes, size, file.group, &groups, &diag), WM_BAD_FILE);
        assert_non_null(strstr(diag.message, size < 8 ? "no trace" : "cut off"));
        assert_true(groups <= GROUPS);
    }
    free_file(&file);
}

/* The frame has a checksum, so a wrong byte is detected at the end at the latest. */
static void test_damaged(void **unused)
{
    struct file file = write_file();
    (void)unused;
    for (unsigned i = 0; i < 200; i++) {
        struct wm_diag diag = {0};
        unsigned groups;
        const size_t at = i < 20 ? i : random_number() % file.size;
        const uint8_t bit = (uint8_t)(1 << random_number() % 8), before = file.bytes[at];
        file.bytes[at] ^= bit;
        const enum wm_status status = read_file(file.bytes, file.size, NULL, &groups, &diag);
        /* A few bits of zstd's headers have no effect. */
        if (status == WM_OK)
            assert_true(at >= 8 && at < 20);
        else
            assert_non_null(strstr(diag.message, "a.trace: "));
        file.bytes[at] = before;
    }
    free_file(&file);
}

/* One round of each complete block of rounds is sampled, and always the last round; places are contiguous. */
static void test_sample(void **unused)
{
    (void)unused;
    for (uint64_t groups = 1; groups < 200; groups += 7)
        for (unsigned one_in = 2; one_in < 6; one_in++) {
            const struct wmi_sampling sampling = {one_in, 10, groups};
            const uint64_t last = (groups - 1) / 10;
            unsigned taken[20] = {0}; /* per block before the last round */
            uint64_t next = 0, place;
            for (uint64_t number = 0; number < groups; number++) {
                const bool takes = wmi_sampling_takes(&sampling, number, &place);
                if (!takes)
                    continue;
                assert_int_equal(place, next++);
                if (number / 10 < last)
                    taken[number / 10 / one_in]++;
            }
            for (uint64_t block = 0; block < last / one_in; block++)
                assert_int_equal(taken[block], 10);
            if (last)
                assert_int_equal(taken[0], 10);
            assert_true(next >= groups - last * 10); /* the last round is complete */
            assert_true(wmi_sampling_takes(&sampling, groups - 1, &place));
        }
}

enum { ROUND = 5, ROUNDS = 200, DRAWN = 12, DRAWS = 400 };

/* Relative half width of the interval around the estimate, from `drawn` rounds; workgroups of a round are
 * equal. */
static double guess_from(struct wmi_log_group *rounds[ROUNDS][ROUND], unsigned drawn, double *guess)
{
    const struct wmi_sampling none_last = {.one_in = 1, .round = ROUND, .groups = ROUNDS * ROUND};
    static const struct wmi_log_instruction instructions[WMI_LOG_SLOTS];
    struct wmi_sample sample = {.groups = ROUNDS * ROUND};
    struct wmi_sample_sum sum = {0};
    for (unsigned i = 0; i < drawn; i++)
        for (unsigned k = 0; k < ROUND; k++) {
            rounds[i][k]->number = (i + 1) * ROUND + k; /* place 0 is the last round's, which is empty */
            wmi_sample_count(&sample, &none_last, rounds[i][k], instructions);
        }
    wmi_sample_end(&sample, &none_last, &sum);
    *guess = sum.requests;
    return wmi_sample_error(&sum);
}

/* 12 of 200 rounds, whose workgroups make 1 to 20 requests, are drawn at random: the interval contains the
 * true value in about 95 of 100 draws. Treating workgroups as drawn independently would make it too narrow by
 * a factor of sqrt(5). */
static void test_sample_error(void **unused)
{
    struct wmi_log_group *rounds[ROUNDS][ROUND];
    uint64_t total = 0, held = 0;
    double guess;
    (void)unused;
    for (unsigned i = 0; i < ROUNDS; i++) {
        const size_t level = random_number() % 16;
        for (unsigned k = 0; k < ROUND; k++) {
            uint64_t blocks[20];
            const size_t count = 1 + level + random_number() % 4;
            for (size_t block = 0; block < count; block++)
                blocks[block] = block;
            rounds[i][k] = wmi_log_group_create(1);
            wmi_log_group_reset(rounds[i][k], 0, 1);
            wmi_log_append(rounds[i][k], 0, 0, blocks, NULL, count);
            total += count;
        }
    }
    for (unsigned draw = 0; draw < DRAWS; draw++) {
        for (unsigned i = 0; i < DRAWN; i++) { /* the first cards of a shuffled deck */
            const unsigned other = i + random_number() % (ROUNDS - i);
            struct wmi_log_group *swap[ROUND];
            memcpy(swap, rounds[i], sizeof swap);
            memcpy(rounds[i], rounds[other], sizeof swap);
            memcpy(rounds[other], swap, sizeof swap);
        }
        const double error = guess_from(rounds, DRAWN, &guess) * guess;
        held += guess - error <= (double)total && (double)total <= guess + error;
    }
    assert_in_range(held, DRAWS * 90 / 100, DRAWS * 99 / 100);
    assert_true(guess_from(rounds, 1, &guess) < 0);
    assert_true(guess_from(rounds, ROUNDS, &guess) == 0);
    assert_true(guess == (double)total);
    for (unsigned i = 0; i < ROUNDS; i++)
        for (unsigned k = 0; k < ROUND; k++)
            wmi_log_group_destroy(rounds[i][k]);
}

/* A workgroup's log ends at its size limit, between two accesses. */
static void test_bound(void **unused)
{
    const uint64_t blocks[3] = {1, 20, 3};
    struct wmi_log_group *group = wmi_log_group_create(1);
    (void)unused;
    wmi_log_group_reset(group, 0, 1);
    wmi_log_append(group, 0, 0, blocks, NULL, 3);
    const size_t size = group->wave[0].size;
    assert_true(size > 0);
    assert_int_equal(group->cuts, 0);
    group->words = WMI_LOG_WORDS - 1; /* simulates a nearly full log */
    wmi_log_append(group, 0, 0, blocks, NULL, 3);
    assert_int_equal(group->cuts, WM_CUT_WORKGROUP);
    group->cuts = 0;
    wmi_log_repeat(group, 0, group->wave[0].words, size, 5);
    assert_int_equal(group->cuts, WM_CUT_WORKGROUP);
    assert_int_equal(group->wave[0].size, size);
    wmi_log_group_destroy(group);
}

/* Records without a payload are compared like others: an empty source, twice. */
static void test_merge_empty(void **unused)
{
    struct wmi_trace_writer *writer = begin_file();
    struct wmi_trace_bytes header = {0};
    const struct wmi_trace_bytes empty = {0};
    struct file file = {0};
    struct wm_diag diag = {0};
    (void)unused;
    wmi_trace_write_number(&header, WMI_TRACE_VERSION);
    wmi_trace_write_string(&header, "gfx900");
    wmi_trace_write_string(&header, "Vega 56");
    wmi_trace_write_number(&header, 0);
    wmi_trace_put(writer, WMI_TRACE_HEADER, &header);
    wmi_trace_put(writer, WMI_TRACE_SOURCE, &empty);
    wmi_trace_put(writer, WMI_TRACE_SOURCE, &empty);
    end_file(writer, &file);
    wmi_trace_bytes_free(&header);
    const struct wm_trace_range all = {0, 1};
    const struct wm_trace_part part = {file.bytes, file.size, "a.trace", &all, 1};
    assert_int_equal(wm_trace_merge(&part, 1, "/dev/null", &diag), WM_BAD_FILE);
    assert_non_null(strstr(diag.message, "a dispatch is missing, or does not end"));
    free(file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_cut_off), cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_sample),  cmocka_unit_test(test_sample_error),
        cmocka_unit_test(test_bound),   cmocka_unit_test(test_merge_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
