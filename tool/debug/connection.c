/* SPDX-License-Identifier: MIT */
/* Packets of GDB's remote protocol over a socket of this host, or standard input and output. */
#include "tool/debug/connection.h"

#include "tool/tool.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { INTERRUPT = 3 };

static int listen_on(uint16_t port, uint16_t *chosen)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int one = 1, server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0)
        return -1;
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(server, (const struct sockaddr *)&address, sizeof address) || listen(server, 1) ||
        getsockname(server, (struct sockaddr *)&address, &size)) {
        close(server);
        return -1;
    }
    *chosen = ntohs(address.sin_port);
    return server;
}

int debug_connect(struct debug_connection *c, const char *where, FILE *out)
{
    const int one = 1;
    uint64_t port;
    uint16_t chosen;
    signal(SIGPIPE, SIG_IGN);
    *c = (struct debug_connection){.in = STDIN_FILENO, .out = STDOUT_FILENO};
    if (!strcmp(where, "-")) { /* what kernels print must not get between the packets */
        c->out = dup(STDOUT_FILENO);
        if (c->out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
            return tool_fail("--gdb -: standard output cannot be used");
        return TOOL_CLEAN;
    }
    if (!tool_parse_u64(where, &port) || port > UINT16_MAX)
        return tool_fail("--gdb %s: expected a port, or -", where);
    const int server = listen_on((uint16_t)port, &chosen);
    if (server < 0)
        return tool_fail("--gdb %s: %s", where, strerror(errno));
    fprintf(out, "listening on 127.0.0.1:%u\n", chosen);
    fflush(out);
    do
        c->in = accept(server, NULL, NULL);
    while (c->in < 0 && errno == EINTR);
    close(server);
    if (c->in < 0)
        return tool_fail("--gdb %s: %s", where, strerror(errno));
    setsockopt(c->in, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    c->out = c->in;
    c->socket = true;
    return TOOL_CLEAN;
}

void debug_disconnect(struct debug_connection *c)
{
    if (c->socket)
        close(c->in);
}

/* The next byte; -1: the end. */
static int next_byte(struct debug_connection *c)
{
    if (c->begin == c->end) {
        ssize_t size;
        do
            size = read(c->in, c->buffer, sizeof c->buffer);
        while (size < 0 && errno == EINTR);
        if (size <= 0)
            return -1;
        c->begin = 0;
        c->end = (size_t)size;
    }
    return c->buffer[c->begin++];
}

static bool send_bytes(struct debug_connection *c, const void *bytes, size_t size)
{
    for (const char *at = bytes; size;) {
        const ssize_t sent = write(c->out, at, size);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        size -= (size_t)sent;
    }
    return true;
}

/* Reads up to '#'. False: the end. *length more than `room`: it was too long. */
static bool receive_data(struct debug_connection *c, char *packet, size_t room, size_t *length, uint8_t *sum)
{
    bool escaped = false;
    *length = 0;
    *sum = 0;
    for (int byte; (byte = next_byte(c)) != '#';) {
        if (byte < 0)
            return false;
        if (byte == '$' && !escaped) { /* a new packet */
            *length = 0;
            *sum = 0;
            continue;
        }
        *sum = (uint8_t)(*sum + byte);
        if (byte == '}' && !escaped) {
            escaped = true;
            continue;
        }
        if (*length < room)
            packet[*length] = (char)(escaped ? byte ^ 0x20 : byte);
        *length += *length <= room;
        escaped = false;
    }
    return true;
}

bool debug_receive(struct debug_connection *c, char *packet, size_t room, size_t *length)
{
    for (;;) {
        uint8_t sum;
        int byte = next_byte(c);
        if (byte < 0)
            return false;
        if (byte != '$') /* acknowledgements, and interrupts when nothing runs */
            continue;
        if (!receive_data(c, packet, room - 1, length, &sum))
            return false;
        const int high = next_byte(c), low = next_byte(c);
        if (low < 0)
            return false;
        const bool right = debug_hex_digit((char)high) * 16 + debug_hex_digit((char)low) == sum &&
                           debug_hex_digit((char)high) >= 0 && debug_hex_digit((char)low) >= 0;
        if (!c->no_acks && !send_bytes(c, right ? "+" : "-", 1))
            return false;
        if (!right && !c->no_acks)
            continue;
        if (*length > room - 1)
            *length = 0; /* an unknown packet: the answer is empty */
        packet[*length] = 0;
        return true;
    }
}

bool debug_send(struct debug_connection *c, const char *reply, size_t length)
{
    char block[1024];
    size_t used = 0;
    uint8_t sum = 0;
    block[used++] = '$';
    for (size_t i = 0; i < length; i++) {
        const bool special = reply[i] == '$' || reply[i] == '#' || reply[i] == '}' || reply[i] == '*';
        if (special) {
            block[used++] = '}';
            sum = (uint8_t)(sum + '}');
        }
        block[used] = (char)(special ? reply[i] ^ 0x20 : reply[i]);
        sum = (uint8_t)(sum + (uint8_t)block[used++]);
        if (used > sizeof block - 8) {
            if (!send_bytes(c, block, used))
                return false;
            used = 0;
        }
    }
    used += (size_t)snprintf(block + used, sizeof block - used, "#%02x", sum);
    const bool sent = send_bytes(c, block, used);
    c->no_acks |= c->leaves_acks;
    return sent;
}

bool debug_connection_interrupts(struct debug_connection *c)
{
    struct pollfd ready = {.fd = c->in, .events = POLLIN};
    if (c->begin == c->end) {
        if (poll(&ready, 1, 0) <= 0)
            return false;
        const ssize_t size = read(c->in, c->buffer, sizeof c->buffer);
        c->begin = 0;
        c->end = size > 0 ? (size_t)size : 0;
        if (size <= 0) /* the client is gone */
            return true;
    }
    if (c->buffer[c->begin] != INTERRUPT)
        return false;
    c->begin++;
    return true;
}
