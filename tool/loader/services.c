/* SPDX-License-Identifier: MIT */
/* What a program on the GPU asks of the host: output, files, memory, its exit. */
#include "tool/loader/loader.h"

#include "tool/text.h"
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

/* rpc_opcode_t, without LLVM's prefix 'c' in the highest byte. */
enum {
    PREFIX = 'c' << 24,
    NOOP = 0,
    EXIT,
    WRITE_TO_STDOUT,
    WRITE_TO_STDERR,
    WRITE_TO_STREAM,
    WRITE_TO_STDOUT_NEWLINE,
    READ_FROM_STREAM,
    READ_FGETS,
    OPEN_FILE,
    CLOSE_FILE,
    MALLOC,
    FREE,
    HOST_CALL,
    ABORT,
    FEOF,
    FERROR,
    CLEARERR,
    FSEEK,
    FTELL,
    FFLUSH,
    UNGETC,
    PRINTF_TO_STDOUT, /* then STDERR, STREAM, and the same with packed arguments */
    PRINTF_TO_STDOUT_PACKED = 24,
    REMOVE = 27,
    RENAME,
    SYSTEM,
};
enum { READ_MOST = 16 << 20 /* bytes that a lane reads at once */ };

/* ---- streams: a handle is a number of files[] in steps of 16; 1 to 3 are the standard ones ---- */

static FILE *stream_of(struct loader_server *server, uint64_t handle)
{
    FILE *const standard[] = {NULL, stdin, stdout, stderr};
    if (handle & 3)
        return standard[handle & 3];
    const uint64_t number = handle / 16;
    return number > 0 && number <= LOADER_FILES ? server->files[number - 1] : NULL;
}

static uint64_t open_file(struct loader_server *server, const char *path, const struct loader_packet *packet)
{
    char mode[LOADER_PACKET + 1] = "";
    memcpy(mode, packet->data, LOADER_PACKET);
    for (uint64_t i = 0; i < LOADER_FILES; i++)
        if (!server->files[i])
            return (server->files[i] = fopen(path, mode)) ? 16 * (i + 1) : 0;
    return 0;
}

static int close_file(struct loader_server *server, uint64_t handle)
{
    FILE *file = stream_of(server, handle);
    if (!file || handle & 3)
        return EOF;
    server->files[handle / 16 - 1] = NULL;
    return fclose(file);
}

/* ---- services that take a packet and give one back ---- */

static uint64_t allocate(struct loader_server *server, uint64_t size)
{
    struct wm_diag diag;
    uint64_t address;
    return size && wm_allocate(server->machine, size, 0, "malloc", &address, &diag) == WM_OK ? address : 0;
}

static void release(struct loader_server *server, uint64_t address)
{
    struct wm_diag diag;
    if (address && wm_free(server->machine, address, &diag) != WM_OK)
        tool_fail("loader: free: %s", diag.message);
}

/* Replaces the words of the packet by the answer. */
static void answer(struct loader_server *server, uint32_t opcode, uint64_t data[LOADER_PACKET / 8])
{
    FILE *file = opcode == MALLOC || opcode == FREE ? NULL
                 : opcode == UNGETC                 ? stream_of(server, data[1])
                                                    : stream_of(server, data[0]);
    switch (opcode) {
    case MALLOC:
        data[0] = allocate(server, data[0]);
        break;
    case FREE:
        release(server, data[0]);
        break;
    case CLOSE_FILE:
        data[0] = (uint64_t)close_file(server, data[0]);
        break;
    case FEOF:
        data[0] = file ? (uint64_t)feof(file) : 1;
        break;
    case FERROR:
        data[0] = file ? (uint64_t)ferror(file) : 1;
        break;
    case CLEARERR:
        if (file)
            clearerr(file);
        break;
    case FSEEK:
        data[0] = (uint64_t)(file ? fseek(file, (long)data[1], (int)data[2]) : -1);
        break;
    case FTELL:
        data[0] = (uint64_t)(file ? ftell(file) : -1);
        break;
    case FFLUSH:
        data[0] = (uint64_t)(file ? fflush(file) : EOF);
        break;
    case UNGETC:
        data[0] = (uint64_t)(file ? ungetc((int)data[0], file) : EOF);
        break;
    default: /* NOOP */
        break;
    }
}

static void answer_lanes(struct loader_port *port, uint32_t opcode)
{
    if (!loader_receive(port))
        return;
    for (uint32_t lane = 0; lane < LOADER_LANES; lane++)
        if (loader_has_lane(port, lane))
            answer(port->server, opcode, loader_packet(port, lane)->data);
    if (loader_begin_send(port))
        loader_sent(port);
}

/* Sends a word per lane. */
static void send_words(struct loader_port *port, const uint64_t words[LOADER_LANES])
{
    if (!loader_begin_send(port))
        return;
    for (uint32_t lane = 0; lane < LOADER_LANES; lane++)
        if (loader_has_lane(port, lane))
            loader_packet(port, lane)->data[0] = words[lane];
    loader_sent(port);
}

/* ---- output and input ---- */

/* The stream of each lane: the request's, or with `receives` those whose handles come first. */
static bool choose_streams(struct loader_port *port, FILE *standard, bool receives, FILE *files[LOADER_LANES])
{
    for (uint32_t lane = 0; lane < LOADER_LANES; lane++)
        files[lane] = standard;
    if (!receives)
        return true;
    if (!loader_receive(port))
        return false;
    for (uint32_t lane = 0; lane < LOADER_LANES; lane++)
        if (loader_has_lane(port, lane))
            files[lane] = stream_of(port->server, loader_packet(port, lane)->data[0]);
    return true;
}

static void print_lanes(struct loader_port *port, uint32_t opcode)
{
    FILE *files[LOADER_LANES];
    const bool packed = opcode >= PRINTF_TO_STDOUT_PACKED;
    const uint32_t stream =
        opcode - (packed ? PRINTF_TO_STDOUT_PACKED : PRINTF_TO_STDOUT); /* 2: has a handle */
    if (choose_streams(port, stream == 1 ? stderr : stdout, stream == 2, files))
        loader_printf(port, files, packed);
}

static void write_lanes(struct loader_port *port, uint32_t opcode)
{
    FILE *files[LOADER_LANES];
    uint64_t written[LOADER_LANES] = {0};
    struct loader_data data = {0};
    if (choose_streams(port, opcode == WRITE_TO_STDERR ? stderr : stdout, opcode == WRITE_TO_STREAM, files) &&
        loader_receive_data(port, &data)) {
        for (uint32_t lane = 0; lane < LOADER_LANES; lane++) {
            if (!data.bytes[lane] || !files[lane])
                continue;
            written[lane] = fwrite(data.bytes[lane], 1, (size_t)data.size[lane], files[lane]);
            if (opcode == WRITE_TO_STDOUT_NEWLINE && written[lane] == data.size[lane])
                written[lane] += fputc('\n', files[lane]) != EOF;
        }
        send_words(port, written);
    }
    loader_free_data(&data);
}

static void read_lanes(struct loader_port *port, uint32_t opcode)
{
    struct loader_data data = {0};
    if (!loader_receive(port))
        return;
    for (uint32_t lane = 0; lane < LOADER_LANES; lane++) {
        if (!loader_has_lane(port, lane))
            continue;
        const uint64_t *words = loader_packet(port, lane)->data;
        const size_t most = words[0] < READ_MOST ? (size_t)words[0] : READ_MOST;
        FILE *file = stream_of(port->server, words[1]);
        data.bytes[lane] = tool_checked(calloc(1, most + 1));
        if (opcode == READ_FROM_STREAM)
            data.size[lane] = file ? fread(data.bytes[lane], 1, most, file) : 0;
        else if (file && most && fgets((char *)data.bytes[lane], (int)most, file))
            data.size[lane] = strlen((char *)data.bytes[lane]) + 1;
    }
    if (loader_send_data(port, &data) && opcode == READ_FROM_STREAM)
        send_words(port, data.size);
    loader_free_data(&data);
}

/* ---- files by name ---- */

/* A name, and in the packet behind it the mode; or two names. */
static void name_lanes(struct loader_port *port, uint32_t opcode)
{
    struct loader_data first = {0}, second = {0};
    uint64_t results[LOADER_LANES] = {0};
    bool good = loader_receive_data(port, &first);
    if (good && opcode == RENAME)
        good = loader_receive_data(port, &second);
    if (good && opcode == OPEN_FILE)
        good = loader_receive(port);
    for (uint32_t lane = 0; lane < LOADER_LANES && good; lane++) {
        const char *name = (const char *)first.bytes[lane];
        if (!name)
            continue;
        results[lane] = opcode == OPEN_FILE ? open_file(port->server, name, loader_packet(port, lane))
                        : opcode == REMOVE  ? (uint64_t)remove(name)
                                            : (uint64_t)rename(name, (const char *)second.bytes[lane]);
    }
    if (good)
        send_words(port, results);
    loader_free_data(&first);
    loader_free_data(&second);
}

/* ---- the end of the program ---- */

static void exit_program(struct loader_port *port, bool aborts)
{
    answer_lanes(port, NOOP);
    if (!loader_receive(port))
        return;
    for (uint32_t lane = 0; lane < LOADER_LANES; lane++)
        if (loader_has_lane(port, lane)) {
            if (aborts)
                tool_fail("loader: the program has called abort()");
            loader_end(aborts ? 128 + 6 : (int)loader_packet(port, lane)->data[0] & 0xff);
        }
}

bool loader_serve(struct loader_port *port)
{
    const uint32_t opcode = loader_opcode(port) & 0xffffff;
    if ((loader_opcode(port) & 0xff000000) != PREFIX)
        return tool_fail("loader: request 0x%x: not one of LLVM's libc", loader_opcode(port)) == TOOL_CLEAN;
    switch (opcode) {
    case EXIT:
    case ABORT:
        exit_program(port, opcode == ABORT);
        return true;
    case WRITE_TO_STDOUT:
    case WRITE_TO_STDERR:
    case WRITE_TO_STREAM:
    case WRITE_TO_STDOUT_NEWLINE:
        write_lanes(port, opcode);
        return true;
    case READ_FROM_STREAM:
    case READ_FGETS:
        read_lanes(port, opcode);
        return true;
    case OPEN_FILE:
    case REMOVE:
    case RENAME:
        name_lanes(port, opcode);
        return true;
    case PRINTF_TO_STDOUT:
    case PRINTF_TO_STDOUT + 1:
    case PRINTF_TO_STDOUT + 2:
    case PRINTF_TO_STDOUT_PACKED:
    case PRINTF_TO_STDOUT_PACKED + 1:
    case PRINTF_TO_STDOUT_PACKED + 2:
        print_lanes(port, opcode);
        return true;
    case NOOP: /* the client waits for no answer */
        loader_receive(port);
        return true;
    case CLOSE_FILE:
    case MALLOC:
    case FREE:
    case FEOF:
    case FERROR:
    case CLEARERR:
    case FSEEK:
    case FTELL:
    case FFLUSH:
    case UNGETC:
        answer_lanes(port, opcode);
        return true;
    default:
        return tool_fail("loader: request %u of LLVM's libc is not supported%s", opcode,
                         opcode == HOST_CALL ? " (a call of the host)"
                         : opcode == SYSTEM  ? " (system)"
                                             : "") == TOOL_CLEAN;
    }
}
