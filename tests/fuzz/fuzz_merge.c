/* SPDX-License-Identifier: MIT */
/* libFuzzer target: `wavemem merge` of two parts, which may be anything.
 *
 * The first byte says how the rest becomes two files (enum choice). A part is its head (JSON, up to a NUL),
 * two bytes each for the sizes of body and trace, body and trace; all three are packed here, so that
 * mutations get past zstd. Half of the mutations change a value in a head. */
#include "base/random.h"
#include "tests/fuzz/trace_file.h"
#include "tool/tool.h"

#include <jansson.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum choice {
    CHOICE_OWN,   /* two parts */
    CHOICE_EQUAL, /* one, and the same as the second part of its job */
    CHOICE_SAME,  /* one, twice */
    CHOICE_FILES  /* two files as they are; four bytes for the size of the first one */
};
enum { CHOICES = 3, RECORDS = 4 /* traces are records, to be compressed */, OPTIONS = 3 /* shift */ };

struct part {
    json_t *head; /* NULL: no JSON */
    const uint8_t *text, *body, *trace;
    size_t text_size, body_size, trace_size;
};

static size_t take_size(const uint8_t **at, const uint8_t *end)
{
    const size_t left = (size_t)(end - *at), size = left >= 2 ? (*at)[0] | (size_t)(*at)[1] << 8 : 0;
    *at += left >= 2 ? 2 : left;
    return size;
}

static const uint8_t *take(const uint8_t **at, const uint8_t *end, size_t *size)
{
    const uint8_t *taken = *at;
    *size = *size < (size_t)(end - taken) ? *size : (size_t)(end - taken);
    *at += *size;
    return taken;
}

static struct part take_part(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *nul = *at < end ? memchr(*at, 0, (size_t)(end - *at)) : NULL;
    struct part part = {.text = *at, .text_size = (size_t)((nul ? nul : end) - *at)};
    *at = nul ? nul + 1 : end;
    part.body_size = take_size(at, end);
    part.trace_size = take_size(at, end);
    part.body = take(at, end, &part.body_size);
    part.trace = take(at, end, &part.trace_size);
    part.head = json_loadb((const char *)part.text, part.text_size, 0, NULL);
    return part;
}

/* ---- running ---- */

static void put_number(FILE *file, uint64_t number)
{
    for (unsigned i = 0; i < 8; i++)
        putc((int)(number >> 8 * i & 0xff), file);
}

/* A file in memory; its name goes to `path`. */
static FILE *open_file(char path[32])
{
    const int file = memfd_create("part", MFD_CLOEXEC);
    snprintf(path, 32, "/proc/self/fd/%d", file);
    return fdopen(file, "wb");
}

static void write_part(FILE *file, const struct part *part, bool records)
{
    const size_t room = ZSTD_compressBound(part->body_size);
    uint8_t *packed = malloc(room), *made = NULL;
    const size_t packed_size = ZSTD_compress(packed, room, part->body, part->body_size, 1);
    size_t trace_size = part->trace_size;
    if (trace_size && records)
        made = make_trace_file(part->trace, part->trace_size, &trace_size);
    char *text = part->head ? json_dumps(part->head, JSON_COMPACT) : NULL;
    const size_t text_size = text ? strlen(text) : part->text_size;
    fwrite("WMPART\0\1", 1, 8, file);
    put_number(file, text_size);
    put_number(file, part->body_size);
    put_number(file, packed_size);
    put_number(file, trace_size);
    fwrite(text ? text : (const char *)part->text, 1, text_size, file);
    fwrite(packed, 1, packed_size, file);
    fwrite(made ? made : part->trace, 1, trace_size, file);
    free(text);
    free(made);
    free(packed);
}

/* Makes the head that of part `index` of two, of dispatches of two workgroups. */
static void set_index(json_t *head, unsigned index)
{
    size_t i;
    json_t *one;
    json_object_set_new(head, "part", json_integer(index + 1));
    json_object_set_new(head, "parts", json_integer(2));
    json_object_set_new(head, "outputs", json_array());
    json_array_foreach(json_object_get(head, "dispatches"), i, one)
    {
        json_object_set_new(one, "first_workgroup", json_integer(index));
        json_object_set_new(one, "workgroups", json_integer(1));
        json_object_set_new(one, "all_workgroups", json_integer(2));
        json_object_set_new(one, "cluster", json_integer(1));
    }
}

/* Adds the options that parts of the verb have. options: some bits. output: the name of one, or NULL. */
static int add_words(char **words, int count, const char *verb, unsigned options, char *output)
{
    static char all[] = "--all", instructions[] = "--instructions", github[] = "--github",
                json[] = "--json=/dev/null", csv[] = "--csv=/dev/null", counters[] = "--counters=/dev/null",
                html[] = "--html=/dev/null", sarif[] = "--sarif=/dev/null", junit[] = "--junit=/dev/null",
                known[] = "--write-suppressions=/dev/null";
    char *const of_prof[] = {all, instructions, csv, counters, html};
    char *const of_check[] = {all, github, sarif, junit, known};
    char *const *of_verb = !strcmp(verb, "prof") ? of_prof : !strcmp(verb, "check") ? of_check : NULL;
    for (unsigned i = 0; of_verb && i < 5; i++)
        if (options >> i & 1)
            words[count++] = of_verb[i];
    if (!of_verb || options & 1)
        words[count++] = json;
    if (output)
        words[count++] = output;
    return count;
}

static void merge(char *first, char *second, const json_t *head, unsigned options)
{
    static char merge[] = "merge";
    char *words[16] = {merge, first, second}, output[64];
    const char *verb = json_string_value(json_object_get(head, "verb"));
    const char *name =
        json_string_value(json_object_get(json_array_get(json_object_get(head, "outputs"), 0), "name"));
    snprintf(output, sizeof output, "--out=%.32s=/dev/null", name ? name : "");
    const int count = add_words(words, 3, verb ? verb : "run", options, name ? output : NULL);
    tool_verb_merge.run(count, words);
    fflush(stdout);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 5)
        return 0;
    const uint8_t *at = bytes + 1, *end = bytes + size;
    const unsigned choice = bytes[0] & CHOICES;
    char path[2][32];
    FILE *file[2] = {open_file(path[0]), open_file(path[1])};
    json_t *head = NULL;
    if (choice == CHOICE_FILES) {
        uint32_t first;
        memcpy(&first, at, sizeof first);
        at += sizeof first;
        const size_t room = (size_t)(end - at), used = first < room ? first : room;
        fwrite(at, 1, used, file[0]);
        fwrite(at + used, 1, room - used, file[1]);
    } else {
        struct part part[2] = {take_part(&at, end)};
        part[1] = part[0];
        if (choice == CHOICE_OWN)
            part[1] = take_part(&at, end);
        else
            part[1].head = part[0].head ? json_deep_copy(part[0].head) : NULL;
        for (unsigned i = 0; i < 2; i++) {
            if (choice == CHOICE_EQUAL && part[i].head)
                set_index(part[i].head, i);
            write_part(file[i], &part[i], bytes[0] & RECORDS);
        }
        head = part[0].head;
        json_decref(part[1].head);
    }
    fflush(file[0]);
    fflush(file[1]);
    merge(path[0], path[1], head, bytes[0] >> OPTIONS);
    json_decref(head);
    fclose(file[0]);
    fclose(file[1]);
    return 0;
}

/* ---- mutating ---- */

/* A value in an object or array. */
struct place {
    json_t *parent;
    const char *key; /* NULL: of an array */
    size_t index;
    json_t *value;
};
enum { MOST_PLACES = 1 << 12 };

struct places {
    struct place place[MOST_PLACES];
    size_t count;
};

static void list_places(json_t *parent, struct places *places)
{
    const char *key;
    size_t i;
    json_t *one;
    if (json_is_array(parent))
        json_array_foreach(parent, i, one)
        {
            if (places->count < MOST_PLACES)
                places->place[places->count++] = (struct place){parent, NULL, i, one};
            list_places(one, places);
        }
    if (json_is_object(parent))
        json_object_foreach(parent, key, one)
        {
            if (places->count < MOST_PLACES)
                places->place[places->count++] = (struct place){parent, key, 0, one};
            list_places(one, places);
        }
}

/* A value for the place: another one of the head, a number near its own, or anything. NULL: none. */
static json_t *make_value(const struct places *places, const json_t *value, uint64_t random)
{
    static const json_int_t numbers[] = {-1, 0, 1, 2, 63, 64, 4096, INT32_MAX, UINT32_MAX, INT64_MAX};
    static const char *const texts[] = {"", "x", "\n", "\xc3\xa9", "0x10", "a<b>&\"c'", "(1, 2)", "f32"};
    const uint64_t more = random >> 8;
    switch (random & 7) {
    case 0:
        return NULL;
    case 1:
        return json_integer(json_integer_value(value) ^ (json_int_t)1 << more % 63);
    case 2:
        return json_integer((json_int_t)((uint64_t)json_integer_value(value) + (more % 2 ? 1 : UINT64_MAX)));
    case 3:
        return json_integer(numbers[more % (sizeof numbers / sizeof *numbers)]);
    case 4:
        return json_string(texts[more % (sizeof texts / sizeof *texts)]);
    case 5:
        return more % 3 ? json_boolean(more % 2) : json_null();
    default:
        return json_deep_copy(places->place[more % places->count].value);
    }
}

static bool change_head(json_t *head, uint64_t random)
{
    static struct places places;
    places.count = 0;
    list_places(head, &places);
    if (!places.count)
        return false;
    const struct place *place = &places.place[(random >> 4) % places.count];
    json_t *value = make_value(&places, place->value, wmi_random_bits(random, 1));
    if (place->key && value)
        json_object_set_new(place->parent, place->key, value);
    else if (place->key)
        json_object_del(place->parent, place->key);
    else if (!value)
        json_array_remove(place->parent, place->index);
    else if (random & 1)
        json_array_set_new(place->parent, place->index, value);
    else
        json_array_insert_new(place->parent, place->index, value);
    return true;
}

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed)
{
    const uint64_t random = wmi_random_bits(seed, size);
    const uint8_t *at = bytes + 1, *end = bytes + size;
    if (random & 1 || size < 5 || (bytes[0] & CHOICES) == CHOICE_FILES)
        return LLVMFuzzerMutate(bytes, size, most);
    struct part part = take_part(&at, end);
    if (random & 2 && (bytes[0] & CHOICES) == CHOICE_OWN) {
        json_decref(part.head);
        part = take_part(&at, end);
    }
    char *text =
        part.head && change_head(part.head, random >> 2) ? json_dumps(part.head, JSON_COMPACT) : NULL;
    json_decref(part.head);
    const size_t text_size = text ? strlen(text) : 0, behind = (size_t)(end - part.text) - part.text_size;
    const size_t before = (size_t)(part.text - bytes);
    if (!text || before + text_size + behind > most) {
        free(text);
        return LLVMFuzzerMutate(bytes, size, most);
    }
    memmove(bytes + before + text_size, part.text + part.text_size, behind);
    memcpy(bytes + before, text, text_size);
    free(text);
    return before + text_size + behind;
}
