/* SPDX-License-Identifier: MIT */
/* The server's side of the protocol: ports in memory that the kernel shares. */
#include "tool/loader/loader.h"

#include "tool/text.h"
#include "tool/tool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    DATA_MOST = 16 << 20,       /* bytes that a lane may send */
    PAUSE_NANOSECONDS = 100000, /* between two looks at a word that the kernel changes */
};

/* The client's variable __llvm_rpc_client, rpc::Client, up to the bits that lock its ports, of which clients
 * have had 4096 and 16384. Those after LLVM 22 begin with a doorbell, which may wake the server. */
struct client {
    uint32_t ports, unused;
    uint64_t inbox, outbox, header, packet; /* guest addresses */
};
struct newer_client {
    uint32_t ports, unused;
    uint64_t doorbell;
    uint64_t inbox, outbox, header, packet;
};
static_assert(sizeof(struct client) == 40 && sizeof(struct newer_client) == 48, "rpc::Client");
static_assert(sizeof(struct loader_header) == 16, "rpc::Header");

enum {
    LOCKS = 4096 / 8, /* bytes, at least; a multiple of this */
    DOORBELL = 64,    /* bytes of zeros: there is none to ring, because the server looks by itself */
    MAILBOX = 4 * LOADER_PORTS, /* bytes; the client's inbox comes first, then its outbox */
    HEADERS = DOORBELL + 2 * MAILBOX,
    PACKETS = HEADERS + 16 * LOADER_PORTS,
};

void loader_end(int code)
{
    fflush(NULL);
    _exit(code);
}

/* Whether so many bytes and the locks of ports make a client of `bytes`. */
static bool has_locks(uint64_t bytes, size_t before)
{
    return bytes >= before + LOCKS && (bytes - before) % LOCKS == 0;
}

bool loader_make_server(struct loader_server *server, struct wm_machine *machine,
                        const struct wm_object *object, uint32_t lanes, struct wm_diag *diag)
{
    const uint64_t size = PACKETS + (uint64_t)LOADER_PORTS * lanes * LOADER_PACKET;
    uint64_t variable, bytes;
    *server = (struct loader_server){.machine = machine, .lanes = lanes};
    if (wm_symbol(machine, object, "__llvm_rpc_client", &variable, &bytes, diag) != WM_OK ||
        wm_allocate(machine, size, 0, "RPC buffer", &server->address, diag) != WM_OK)
        return false;
    const uint64_t at = server->address;
    const struct client client = {.ports = LOADER_PORTS,
                                  .inbox = at + DOORBELL,
                                  .outbox = at + DOORBELL + MAILBOX,
                                  .header = at + HEADERS,
                                  .packet = at + PACKETS};
    const struct newer_client newer = {.ports = client.ports,
                                       .doorbell = at,
                                       .inbox = client.inbox,
                                       .outbox = client.outbox,
                                       .header = client.header,
                                       .packet = client.packet};
    const bool is_newer = has_locks(bytes, sizeof newer);
    if (!is_newer && !has_locks(bytes, sizeof client)) {
        snprintf(
            diag->message, sizeof diag->message,
            "__llvm_rpc_client has %llu bytes, expected %zu, or %zu with a doorbell: the client of LLVM 20 "
            "and later",
            (unsigned long long)bytes, sizeof client + LOCKS, sizeof newer + 4 * LOCKS);
        return false;
    }
    uint8_t *host = wm_host_pointer(machine, at, size);
    if (!host || wm_write(machine, variable, is_newer ? (const void *)&newer : &client,
                          is_newer ? sizeof newer : sizeof client, diag) != WM_OK)
        return false;
    server->outbox = (uint32_t *)(void *)(host + DOORBELL);
    server->inbox = (uint32_t *)(void *)(host + DOORBELL + MAILBOX);
    server->header = (struct loader_header *)(void *)(host + HEADERS);
    server->packet = (struct loader_packet *)(void *)(host + PACKETS);
    return true;
}

static uint32_t load(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

bool loader_open(struct loader_server *server, uint32_t first, struct loader_port *port)
{
    for (uint32_t i = 0; i < LOADER_PORTS; i++) {
        const uint32_t index = (first + i) % LOADER_PORTS, out = load(&server->outbox[index]);
        if (load(&server->inbox[index]) == out)
            continue;
        *port = (struct loader_port){.server = server, .index = index, .out = out, .owns = true};
        return true;
    }
    return false;
}

/* Hands the packets to the client. */
static void invert(struct loader_port *port)
{
    port->out = !port->out;
    __atomic_store_n(&port->server->outbox[port->index], port->out, __ATOMIC_RELEASE);
    port->owns = false;
}

void loader_close(struct loader_port *port)
{
    if (port->owns && !port->lost)
        invert(port);
}

static bool wait_for_packets(struct loader_port *port)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NANOSECONDS};
    while (!port->owns && load(&port->server->inbox[port->index]) == port->out) {
        if (port->server->finished) {
            port->lost = true;
            return false;
        }
        nanosleep(&pause, NULL);
    }
    return true;
}

bool loader_receive(struct loader_port *port)
{
    if (port->receive)
        invert(port);
    if (!wait_for_packets(port))
        return false;
    port->receive = port->owns = true;
    return true;
}

bool loader_begin_send(struct loader_port *port)
{
    return wait_for_packets(port);
}

void loader_sent(struct loader_port *port)
{
    invert(port);
    port->receive = false;
}

uint32_t loader_opcode(const struct loader_port *port)
{
    return port->server->header[port->index].opcode;
}

bool loader_has_lane(const struct loader_port *port, uint32_t lane)
{
    return lane < port->server->lanes && port->server->header[port->index].mask >> lane & 1;
}

struct loader_packet *loader_packet(const struct loader_port *port, uint32_t lane)
{
    return &port->server->packet[(size_t)port->index * port->server->lanes + lane];
}

/* ---- data of any size: its size and the first bytes, then packets of bytes ---- */

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The size of the part of the lane's data from `from` on, of at most `most` bytes. */
static uint64_t part_of(const struct loader_data *data, uint32_t lane, uint64_t from, uint64_t most)
{
    return data->bytes[lane] && from < data->size[lane] ? lesser(data->size[lane] - from, most) : 0;
}

static uint64_t longest(const struct loader_data *data)
{
    uint64_t most = 0;
    for (uint32_t lane = 0; lane < LOADER_LANES; lane++)
        if (data->bytes[lane] && data->size[lane] > most)
            most = data->size[lane];
    return most;
}

bool loader_receive_data(struct loader_port *port, struct loader_data *data)
{
    *data = (struct loader_data){0};
    if (!loader_receive(port))
        return false;
    for (uint32_t lane = 0; lane < LOADER_LANES; lane++) {
        if (!loader_has_lane(port, lane))
            continue;
        const struct loader_packet *packet = loader_packet(port, lane);
        data->size[lane] = packet->data[0];
        if (data->size[lane] > DATA_MOST) {
            tool_fail("loader: the program sends %llu bytes at once; at most %d are supported",
                      (unsigned long long)data->size[lane], DATA_MOST);
            loader_end(TOOL_INCOMPLETE);
        }
        data->bytes[lane] = tool_checked(calloc(1, (size_t)data->size[lane] + 1));
        memcpy(data->bytes[lane], packet->data + 1, part_of(data, lane, 0, LOADER_PACKET - 8));
    }
    for (uint64_t from = LOADER_PACKET - 8; from < longest(data); from += LOADER_PACKET) {
        if (!loader_receive(port))
            return false;
        for (uint32_t lane = 0; lane < LOADER_LANES; lane++)
            if (part_of(data, lane, from, LOADER_PACKET))
                memcpy(data->bytes[lane] + from, loader_packet(port, lane)->data,
                       part_of(data, lane, from, LOADER_PACKET));
    }
    return true;
}

bool loader_send_data(struct loader_port *port, const struct loader_data *data)
{
    if (!loader_begin_send(port))
        return false;
    for (uint32_t lane = 0; lane < LOADER_LANES; lane++) {
        if (!loader_has_lane(port, lane))
            continue;
        struct loader_packet *packet = loader_packet(port, lane);
        packet->data[0] = data->bytes[lane] ? data->size[lane] : 0;
        if (data->bytes[lane])
            memcpy(packet->data + 1, data->bytes[lane], part_of(data, lane, 0, LOADER_PACKET - 8));
    }
    loader_sent(port);
    for (uint64_t from = LOADER_PACKET - 8; from < longest(data); from += LOADER_PACKET) {
        if (!loader_begin_send(port))
            return false;
        for (uint32_t lane = 0; lane < LOADER_LANES; lane++)
            if (part_of(data, lane, from, LOADER_PACKET))
                memcpy(loader_packet(port, lane)->data, data->bytes[lane] + from,
                       part_of(data, lane, from, LOADER_PACKET));
        loader_sent(port);
    }
    return true;
}

void loader_free_data(struct loader_data *data)
{
    for (uint32_t lane = 0; lane < LOADER_LANES; lane++)
        free(data->bytes[lane]);
}
