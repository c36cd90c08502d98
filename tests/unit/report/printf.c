/* SPDX-License-Identifier: MIT */
/* The reader of printf buffers, on buffers and formats that no kernel writes. tests/kernel/printf.py tests
 * real ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "object/object.h"
#include "report/printf.h"

static char text[1 << 16];
static size_t length;

static void collect(void *user, const char *piece, size_t size)
{
    (void)user;
    assert_true(length + size < sizeof(text));
    memcpy(text + length, piece, size);
    length += size;
    text[length] = '\0';
}

/* Prints the records `words`; the header says that `used` bytes are valid. */
static const char *print(const char *const *formats, size_t count, const uint32_t *words, size_t word_count,
                         size_t used)
{
    uint32_t buffer[64];
    for (size_t i = 0; i < 64; i++)
        buffer[i] = WMI_PRINTF_UNWRITTEN;
    buffer[0] = (uint32_t)used;
    buffer[1] = sizeof(buffer);
    for (size_t i = 0; i < word_count; i++)
        buffer[i + 2] = words[i];
    length = 0;
    text[0] = '\0';
    wmi_print_buffer(formats, count, (const uint8_t *)buffer, sizeof(buffer), collect, NULL);
    return text;
}
#define WORDS(...) (sizeof((const uint32_t[]){__VA_ARGS__}) / 4)
#define PRINT(FORMAT, ...)                                                                                   \
    print((const char *const[]){FORMAT}, 1, (const uint32_t[]){__VA_ARGS__}, WORDS(__VA_ARGS__),             \
          4 * WORDS(__VA_ARGS__))

static void good_records(void **state)
{
    (void)state;
    assert_string_equal(PRINT("1:1:4:<%d>\\n", 1, 5, 1, (uint32_t)-6), "<5>\n<-6>\n");
    assert_string_equal(PRINT("7:0:\\72\\a\\\\q%%", 7), ":\a\\\\q%");
    assert_string_equal(PRINT("1:1:4:%c|", 1, 0x141), "A|");
    assert_string_equal(PRINT("1:2:4:4:%5s|%-5s|", 1, 0x6261, 0x6463), "   ab|cd   |");
    assert_string_equal(print(NULL, 0, NULL, 0, 0), "");
}

/* "abcd" and "abcdefgh" take their own size; LLVM counts four more bytes for each. */
static void strings_that_llvm_19_miscounts(void **state)
{
    (void)state;
    const uint32_t none = WMI_PRINTF_UNWRITTEN, abcd = 0x64636261, efgh = 0x68676665, x = 0x78;
    assert_string_equal(PRINT("1:2:8:4:%s|%x", 1, abcd, x, none), "abcd|78");
    assert_string_equal(PRINT("1:2:8:4:%s|%x", 1, abcd, x, 9), "abcdx|9");
    assert_string_equal(PRINT("1:2:8:4:%s|%x", 1, abcd, efgh, x), "abcdefgh|78");
    assert_string_equal(PRINT("1:3:8:8:4:%s|%s|%x", 1, abcd, x, abcd, 0x41414141, none),
                        "abcdx|abcd|41414141");
    assert_string_equal(PRINT("1:2:12:8:%s|%s", 1, abcd, efgh, abcd, none, none), "abcdefgh|abcd");
}

static bool complains(const char *what)
{
    return strstr(text, "\nwavemem: ") && strstr(text, what);
}

static void bad_buffers(void **state)
{
    (void)state;
    static const char *const formats[] = {"1:1:4:%d\\n"};
    print(formats, 1, (const uint32_t[]){1, 5, 1}, 3, 12); /* half a record */
    assert_true(complains("corrupt"));
    assert_memory_equal(text, "5\n", 2);
    print(formats, 1, (const uint32_t[]){1, 5}, 2, 7);
    assert_true(complains("corrupt"));
    print(formats, 1, (const uint32_t[]){1, 5}, 2, 249);
    assert_true(complains("corrupt"));
    print(formats, 1, (const uint32_t[]){1, 5}, 2, UINT32_MAX);
    assert_true(complains("corrupt"));
    print(formats, 1, (const uint32_t[]){2, 5}, 2, 8);
    assert_true(complains("does not have"));
    print(formats, 1, (const uint32_t[]){WMI_PRINTF_UNWRITTEN, 5}, 2, 8);
    assert_true(complains("while it printed"));
    uint32_t many[62];
    for (size_t i = 0; i < 62; i++)
        many[i] = i % 2 ? 7 : 1;
    print(formats, 1, many, 62, sizeof(many));
    assert_true(complains("full"));
}

static void bad_formats(void **state)
{
    (void)state;
    static const char *const broken[] = {"",         ":",       "1",       "1:",        "x:0:text",
                                         "1:1:3:%d", "1:1:4x:", "1:1::%d", "-1:0:text", "1:1:70000:%d",
                                         "1:1:4"};
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        print(&broken[i], 1, (const uint32_t[]){1, 5}, 2, 8);
        assert_true(complains("does not have"));
    }
    assert_string_equal(PRINT("1:1:4:%", 1, 5), "(?)");
    assert_string_equal(PRINT("1:1:4:%n%q", 1, 5), "(?)(?)");
    assert_string_equal(PRINT("1:1:4:%d %d", 1, 5), "5 (?)");
    assert_string_equal(PRINT("1:1:4:%v16hld", 1, 5), "(?)");
    assert_string_equal(PRINT("1:1:4:%v7d", 1, 5), "5");
    assert_string_equal(PRINT("1:1:12:%d", 1, 5, 6, 7), "(?)");
    assert_int_equal(strlen(PRINT("1:1:4:%99999999999d", 1, 5)), 1000);
    assert_int_equal(strlen(PRINT("1:1:4:%.99999999999d", 1, 5)), 1000);
    assert_int_equal(strlen(PRINT("1:1:4:%999999999s", 1, 0x61)), 1000);
    assert_true(strlen(PRINT("1:1:8:%.9999f", 1, UINT32_MAX, 0x7fefffff)) == 309 + 1 + 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_records),
        cmocka_unit_test(strings_that_llvm_19_miscounts),
        cmocka_unit_test(bad_buffers),
        cmocka_unit_test(bad_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
