/* SPDX-License-Identifier: MIT */
/* Escaping of text for display: what is kept, what becomes \xNN, and small buffers. */
#include "base/escape.h"
#include "base/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void characters(void **state)
{
    static const struct {
        const char *text, *kept, *escaped;
    } cases[] = {
        {"", "", ""},
        {"plain ~ text\\", "", "plain ~ text\\"},
        {"a\x1b[31mb", "", "a\\x1b[31mb"},
        {"\x7f\r\n\t", "", "\\x7f\\x0d\\x0a\\x09"},
        {"\r\n\t", "\t", "\\x0d\\x0a\t"},
        {"\xc3\xa9 \xe2\x80\xa6 \xf0\x9f\x98\x80", "", "\xc3\xa9 \xe2\x80\xa6 \xf0\x9f\x98\x80"},
        {"\xc2\x9b\xc2\xa0", "", "\\xc2\\x9b\xc2\xa0"}, /* C1: CSI as a character */
        {"\x9b"
         "31m",
         "", "\\x9b31m"},                                                            /* and as a byte */
        {"\xc0\x80\xc1\xbf\xe0\x80\x80", "", "\\xc0\\x80\\xc1\\xbf\\xe0\\x80\\x80"}, /* overlong */
        {"\xed\xa0\x80\xf4\x90\x80\x80\xff", "", "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xff"},
        {"\xe2\x80", "", "\\xe2\\x80"}, /* truncated */
        {"\xe2(\xa1", "", "\\xe2(\\xa1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char escaped[80];
        const size_t length = strlen(cases[i].text);
        assert_int_equal(wmi_escape(escaped, sizeof escaped, cases[i].text, length, cases[i].kept),
                         strlen(cases[i].escaped));
        assert_string_equal(escaped, cases[i].escaped);
        assert_int_equal(wmi_is_plain(cases[i].text, length),
                         !*cases[i].kept && !strcmp(cases[i].text, cases[i].escaped));
    }
    char zero[8];
    assert_int_equal(wmi_escape(zero, sizeof zero, "a\0b", 3, "\t"), 6);
    assert_string_equal(zero, "a\\x00b");
}

/* Truncation does not split a character or an escape. */
static void small_buffers(void **state)
{
    static const char text[] = "a\x1b\xc3\xa9z", whole[] = "a\\x1b\xc3\xa9z";
    static const size_t ends[] = {0, 0, 1, 1, 1, 1, 5, 5, 7, 8, 8};
    (void)state;
    for (size_t room = 1; room < sizeof ends / sizeof *ends; room++) {
        char escaped[16];
        memset(escaped, '#', sizeof escaped);
        assert_int_equal(wmi_escape(escaped, room, text, strlen(text), ""), strlen(whole));
        assert_int_equal(strlen(escaped), ends[room]);
        assert_memory_equal(escaped, whole, ends[room]);
        for (size_t behind = room; behind < sizeof escaped; behind++)
            assert_int_equal(escaped[behind], '#');
    }
    assert_int_equal(wmi_escape(NULL, 0, text, strlen(text), ""), strlen(whole));
}

static void messages(void **state)
{
    struct wm_diag diag;
    char name[600];
    (void)state;
    wmi_fail(&diag, WM_NOT_FOUND, "%s: no kernel '%s'", "a.co", "k\x1b[2J\n\x9b");
    assert_string_equal(diag.message, "a.co: no kernel 'k\\x1b[2J\\x0a\\x9b'");
    for (unsigned first = 0; first < 5;
         first++) { /* the cuts are at every byte of an escape and a character */
        memset(name, 'n', first);
        for (unsigned i = first; i + 3 < sizeof name; i += 3)
            memcpy(name + i, "\x1b\xc3\xa9", 4);
        wmi_fail(&diag, WM_NOT_FOUND, "%s", name);
        const size_t length = strlen(diag.message);
        const char *cut = strstr(diag.message, "...");
        assert_in_range(length, 300 - 30, 300);
        assert_true(wmi_is_plain(diag.message, length));
        assert_non_null(cut);
        assert_true(cut[-1] == '\xa9' || cut[-1] == 'b');
        assert_true(cut[3] == '\\' || cut[3] == '\xc3');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters),
        cmocka_unit_test(small_buffers),
        cmocka_unit_test(messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
