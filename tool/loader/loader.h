/* SPDX-License-Identifier: MIT */
/* Runs a program that was linked for a GPU, as LLVM's llvm-gpu-loader does: it is a kernel that calls main(),
 * and asks the host for services through memory that both share.
 *
 * Source: LLVM 20 and later, libc/shared/rpc.h (the protocol), libc/shared/rpc_opcodes.h, and
 * libc/src/__support/RPC/rpc_server.h (what services do); llvm/tools/llvm-gpu-loader (the start). */
#ifndef WAVEMEM_TOOL_LOADER_H
#define WAVEMEM_TOOL_LOADER_H

#include "wavemem/wavemem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    LOADER_PORTS = 256, /* of those that a client can have */
    LOADER_LANES = 64,  /* of a wave, at most */
    LOADER_PACKET = 64, /* bytes of a lane */
    LOADER_FILES = 256, /* that the program has open */
};

/* A packet of one lane. */
struct loader_packet {
    uint64_t data[LOADER_PACKET / 8];
};

/* Who has the packets of a port is told by two words for each: they are the server's while inbox and outbox
 * differ. */
struct loader_header {
    uint64_t mask; /* lanes of the client */
    uint32_t opcode;
};

struct loader_server {
    struct wm_machine *machine;
    uint64_t address; /* of the memory that is shared */
    uint32_t lanes;
    uint32_t *inbox, *outbox; /* the server's; a word for each port */
    struct loader_header *header;
    struct loader_packet *packet; /* lanes for each port */
    _Atomic bool finished;        /* the kernel has ended: nobody answers any more */
    FILE *files[LOADER_FILES];    /* by the program's handle */
};

/* ---- ports.c ---- */

/* Makes the shared memory, and tells the client in the program where it is. */
bool loader_make_server(struct loader_server *server, struct wm_machine *machine,
                        const struct wm_object *object, uint32_t lanes, struct wm_diag *diag);

/* A port while the server serves its request. */
struct loader_port {
    struct loader_server *server;
    uint32_t index, out;
    bool receive, owns;
    bool lost; /* the kernel ended in the middle of a request */
};

/* Opens the next port from `first` on with a request; false: there is none. */
bool loader_open(struct loader_server *server, uint32_t first, struct loader_port *port);
void loader_close(struct loader_port *port);
uint32_t loader_opcode(const struct loader_port *port);
bool loader_has_lane(const struct loader_port *port, uint32_t lane);
/* Wait for the packets, which the caller then reads, or writes before loader_sent(). False: port->lost. */
bool loader_receive(struct loader_port *port);
bool loader_begin_send(struct loader_port *port);
void loader_sent(struct loader_port *port);
struct loader_packet *loader_packet(const struct loader_port *port, uint32_t lane);

/* Bytes of each lane, of any size. */
struct loader_data {
    uint8_t *bytes[LOADER_LANES]; /* followed by a zero; NULL: the lane has none */
    uint64_t size[LOADER_LANES];
};
bool loader_receive_data(struct loader_port *port, struct loader_data *data);
bool loader_send_data(struct loader_port *port, const struct loader_data *data);
void loader_free_data(struct loader_data *data);

/* Ends the process while the kernel still runs on other threads. */
_Noreturn void loader_end(int code);

/* ---- services.c ---- */

/* Serves the request of the port; may end the process. False, after a message: it has no such service. */
bool loader_serve(struct loader_port *port);

/* ---- printf.c ---- */

/* Prints what a call of printf says in each lane, to the lane's file; NULL: it has none. */
void loader_printf(struct loader_port *port, FILE *const files[LOADER_LANES], bool packed);

/* ---- run.c ---- */

struct loader_request {
    const struct wm_object *object;
    uint32_t blocks[3], threads[3];
    double timeout;     /* seconds of a kernel; 0: none */
    char *const *words; /* of the program, up to a NULL; the first one is its name */
};

/* Runs the program. Returns its exit code, or an enum tool_exit after a message. */
int loader_run(const struct loader_request *request);

#endif
