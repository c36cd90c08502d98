/* SPDX-License-Identifier: MIT */
/* libFuzzer target: lines of arbitrary bytes as packets of GDB's remote protocol, or as messages of the Debug
 * Adapter Protocol, to a debugger that has a kernel. The first byte chooses. Packets get their checksum, and
 * messages their header, so that what they say is reached. The debugger answers all of them and ends. */
#include "tool/debug/dap.h"
#include "tool/debug/remote.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char *words[] = {OBJECT,
                        "-g",
                        "128",
                        "-b",
                        "64",
                        "--arg",
                        "a=iota:f32:128",
                        "--arg",
                        "b=iota:f32:128",
                        "--arg",
                        "c=zero:f32:100",
                        "--arg",
                        "n=128"};
enum { WORDS = sizeof words / sizeof *words };

static const char launch[] =
    "{\"seq\":2,\"type\":\"request\",\"command\":\"launch\",\"arguments\":{\"program\":\"" OBJECT
    "\",\"grid\":128,"
    "\"workgroup\":64,\"arguments\":{\"a\":\"iota:f32:128\",\"b\":\"iota:f32:128\",\"c\":\"zero:f32:100\","
    "\"n\":128}}}";

static void put_message(FILE *out, const char *text, size_t length)
{
    fprintf(out, "Content-Length: %zu\r\n\r\n", length);
    fwrite(text, 1, length, out);
}

static void put_packet(FILE *out, const char *text, size_t length)
{
    uint8_t sum = 0;
    for (size_t i = 0; i < length; i++)
        sum = (uint8_t)(sum + (uint8_t)text[i]);
    fputc('$', out);
    fwrite(text, 1, length, out);
    fprintf(out, "#%02x+", sum);
}

/* What reaches for files and other programs is not for random words. */
static bool is_harmless(const char *text, size_t length)
{
    static const char *const names[] = {"launch", "source", "output", "736f75726365" /* of monitor */};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (memmem(text, length, names[i], strlen(names[i])))
            return false;
    return true;
}

/* Puts the lines where the debugger reads. */
static void feed(const char *text, size_t size, bool dap)
{
    const int file = memfd_create("input", MFD_CLOEXEC);
    FILE *out = fdopen(file, "w+");
    if (!out)
        abort();
    if (dap) {
        static const char first[] =
            "{\"seq\":1,\"type\":\"request\",\"command\":\"initialize\",\"arguments\":{\"adapterID\":\"x\"}}";
        put_message(out, first, sizeof first - 1);
        put_message(out, launch, sizeof launch - 1);
    }
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        const size_t length = end ? (size_t)(end - text) - at : size - at;
        if (is_harmless(text + at, length))
            (dap ? put_message : put_packet)(out, text + at, length);
        at += length + 1;
    }
    fflush(out);
    lseek(file, 0, SEEK_SET);
    dup2(file, STDIN_FILENO);
    fclose(out);
}

static void serve(void)
{
    struct debug_session s;
    struct tool_job job;
    struct wm_diag diag;
    if (tool_job_parse(&job, "debug", WORDS, words) || tool_job_check(&job) ||
        !debug_job_begin(&s, &job, &diag))
        abort();
    debug_serve(&s, "-");
    debug_close(&s);
    tool_job_free(&job);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static int output = -1;
    if (output < 0) /* the servers give standard output to others */
        output = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (!size)
        return 0;
    dup2(output, STDOUT_FILENO);
    feed((const char *)bytes + 1, size - 1, bytes[0] & 1);
    if (bytes[0] & 1)
        debug_adapt();
    else
        serve();
    return 0;
}
