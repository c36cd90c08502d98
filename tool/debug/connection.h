/* SPDX-License-Identifier: MIT */
/* Packets of GDB's remote protocol over a socket of this host, or standard input and output. */
#ifndef WAVEMEM_DEBUG_CONNECTION_H
#define WAVEMEM_DEBUG_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct debug_connection {
    int in, out;
    bool socket;
    bool leaves_acks; /* QStartNoAckMode: after the answer to that, */
    bool no_acks;     /* no more acknowledgements */
    unsigned char buffer[4096];
    size_t begin, end; /* of what was received and not read yet */
};

/* Waits for a client; `out' is told where. Returns an enum tool_exit. */
int debug_connect(struct debug_connection *c, const char *where, FILE *out);
void debug_disconnect(struct debug_connection *c);

/* Receives a packet, decoded and with a NUL behind it. False: the end. One that is too long is refused. */
bool debug_receive(struct debug_connection *c, char *packet, size_t room, size_t *length);
bool debug_send(struct debug_connection *c, const char *reply, size_t length);
/* Whether the client wants to stop what runs. */
bool debug_connection_interrupts(struct debug_connection *c);

/* The value of a hexadecimal digit; -1: it is none. */
static inline int debug_hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

#endif
