/* SPDX-License-Identifier: MIT */
/* GDB's remote protocol, as a front end of the session. A thread is a wave: its id is 1 + its number in the
 * grid, in the order in which workgroups are dispatched. What clients send is not trusted.
 *
 * Source: GDB 13, "GDB Remote Serial Protocol"; LLVM 19, lldb/docs/resources/lldbgdbremote.md. */
#include "tool/debug/remote.h"

#include "tool/debug/connection.h"
#include "tool/debug/registers.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    WAVES = 1024,
    MOST_BYTES = 1 << 16,
    PACKET = 1 << 20,
    SIGNAL_TRAP = 5,
    SIGNAL_SEGV = 11,
    SIGNAL_INT = 2
};

/* lldb has no plugin for amdgcn up to version 19, and then knows no registers; what it does with this triple
 * fits: 64-bit addresses, little-endian, and registers as the target description names them. */
#define TRIPLE "riscv64-unknown-unknown"

struct remote {
    struct debug_session *s;
    struct debug_connection connection;
    struct debug_registers registers;
    FILE *reply;
    bool for_gdb, done;
};

/* ---- parsing ---- */

/* A hexadecimal number at *text, which is moved behind it. False: there is none, or it is too large. */
static bool take_hex(const char **text, uint64_t *number)
{
    const char *at = *text;
    *number = 0;
    for (; debug_hex_digit(*at) >= 0; at++) {
        if (*number >> 60)
            return false;
        *number = *number << 4 | (uint64_t)debug_hex_digit(*at);
    }
    const bool any = at > *text;
    *text = at;
    return any;
}

static bool take_char(const char **text, char c)
{
    if (**text != c)
        return false;
    ++*text;
    return true;
}

static void ok(struct remote *r)
{
    fputs("OK", r->reply);
}

static void error(struct remote *r, unsigned number)
{
    fprintf(r->reply, "E%02x", number);
}

static void put_hex(struct remote *r, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fprintf(r->reply, "%02x", ((const uint8_t *)bytes)[i]);
}

/* ---- threads ---- */

static uint64_t thread_of(const struct debug_session *s, const struct wm_stopped *wave)
{
    uint32_t groups[3], waves;
    debug_grid(s, groups, &waves);
    return (((uint64_t)wave->workgroup[2] * groups[1] + wave->workgroup[1]) * groups[0] +
            wave->workgroup[0]) *
               waves +
           wave->wave + 1;
}

static bool select_thread(struct remote *r, uint64_t thread)
{
    struct debug_session *s = r->s;
    uint32_t groups[3], waves;
    struct wm_diag diag;
    if (s->between && thread == DEBUG_PROGRAM_THREAD)
        return true;
    if (!thread || !debug_need_wave(s, &diag))
        return !thread;
    debug_grid(s, groups, &waves);
    const uint64_t wave = (thread - 1) % waves, group = (thread - 1) / waves;
    const uint32_t id[3] = {(uint32_t)(group % groups[0]), (uint32_t)(group / groups[0] % groups[1]),
                            (uint32_t)(group / groups[0] / groups[1])};
    return group / groups[0] / groups[1] < groups[2] && debug_select(s, id, (uint32_t)wave, &diag);
}

/* "-1" and "0" are any thread: the one that is selected. */
static bool take_thread(struct remote *r, const char **text)
{
    uint64_t thread;
    if (!strncmp(*text, "-1", 2)) {
        *text += 2;
        return true;
    }
    return take_hex(text, &thread) && select_thread(r, thread);
}

static void list_threads(struct remote *r)
{
    struct wm_stopped *waves = malloc(WAVES * sizeof *waves);
    const size_t count = waves ? debug_waves(r->s, waves, WAVES) : 0;
    fputs(count || r->s->between ? "m" : "l", r->reply);
    if (r->s->between)
        fprintf(r->reply, "%x", DEBUG_PROGRAM_THREAD);
    for (size_t i = 0; i < count; i++)
        fprintf(r->reply, "%s%" PRIx64, i ? "," : "", thread_of(r->s, &waves[i]));
    free(waves);
}

static void describe_thread(struct remote *r, const struct wm_stopped *wave, char text[256])
{
    char where[96], lanes[256];
    (void)r;
    snprintf(text, 256, "%s, lanes %.100s%s%s", debug_wave_text(wave->workgroup, wave->wave, -1, where),
             debug_lanes(wave->lanes, lanes), wave->waits ? ", " : "", debug_wait_text(wave->waits));
}

/* ---- stops ---- */

static void stop_reply(struct remote *r, const struct debug_event *event)
{
    const struct debug_session *s = r->s;
    if (s->between) {
        fprintf(r->reply, "T%02xthread:%x;", SIGNAL_INT, DEBUG_PROGRAM_THREAD);
        return;
    }
    if (s->state != DEBUG_STOPPED) {
        fprintf(r->reply, s->fault.kind == WM_FAULT_NONE ? "W00" : "X%02x", SIGNAL_SEGV);
        return;
    }
    const bool fault = event->kind == DEBUG_EVENT_FAULT || event->kind == DEBUG_EVENT_DEADLOCK;
    fprintf(r->reply, "T%02xthread:%" PRIx64 ";",
            fault                                    ? SIGNAL_SEGV
            : event->kind == DEBUG_EVENT_INTERRUPTED ? SIGNAL_INT
                                                     : SIGNAL_TRAP,
            thread_of(s, &s->wave));
    const struct debug_breakpoint *b =
        event->kind == DEBUG_EVENT_WATCHPOINT ? debug_breakpoint(r->s, event->number) : NULL;
    if (b)
        fprintf(r->reply, "%s:%" PRIx64 ";",
                b->reads && b->writes ? "awatch"
                : b->reads            ? "rwatch"
                                      : "watch",
                event->change.is.address + (b->place.space == DEBUG_LDS ? DEBUG_REMOTE_LDS : 0));
    if (event->kind == DEBUG_EVENT_BREAKPOINT)
        fputs("hwbreak:;", r->reply);
    if (event->kind == DEBUG_EVENT_BEGINNING)
        fputs("replaylog:begin;", r->reply);
}

static void resume(struct remote *r, bool steps, bool backwards)
{
    struct debug_event event = {.kind = DEBUG_EVENT_STEP};
    struct wm_diag diag;
    const bool good = steps ? debug_step(r->s, DEBUG_STEP_INSTRUCTION, backwards, &event, &diag)
                            : debug_continue(r->s, backwards, &event, &diag);
    const struct wm_stopped wave = r->s->wave;
    /* gdb's riscv64 stops before the access, which gdb steps over to see the new value. */
    const bool before = good && r->for_gdb && event.kind == DEBUG_EVENT_WATCHPOINT;
    if (good && (!before || debug_go_to_wave(r->s, event.time, wave.workgroup, wave.wave, &diag)))
        stop_reply(r, &event);
    else
        error(r, 1);
}

/* Steps while the pc is in [from, to). */
static void step_range(struct remote *r, uint64_t from, uint64_t to)
{
    struct debug_event event;
    struct wm_diag diag;
    do {
        if (!debug_step(r->s, DEBUG_STEP_INSTRUCTION, false, &event, &diag)) {
            error(r, 1);
            return;
        }
        if (event.kind == DEBUG_EVENT_STEP && r->s->interrupts(r->s->interrupts_user))
            event.kind = DEBUG_EVENT_INTERRUPTED;
    } while (event.kind == DEBUG_EVENT_STEP && r->s->wave.pc >= from && r->s->wave.pc < to);
    stop_reply(r, &event);
}

/* vCont;ACTION[:THREAD]...: a step decides, and else the first action. */
static void vcont(struct remote *r, const char *text)
{
    const char *chosen = NULL;
    if (r->s->between) { /* any step goes to the next launch */
        resume(r, false, false);
        return;
    }
    if (r->s->state != DEBUG_STOPPED) {
        stop_reply(r, &(struct debug_event){.kind = DEBUG_EVENT_END});
        return;
    }
    for (const char *at = text; at && *at == ';'; at = strchr(at + 1, ';'))
        if (!chosen || strchr("sSr", at[1]))
            chosen = strchr("sSr", at[1]) || !chosen ? at + 1 : chosen;
    if (!chosen || !strchr("cCsSrt", *chosen) || !*chosen) {
        error(r, 1);
        return;
    }
    const char action = *chosen++;
    uint64_t from = 0, to = 0, signal;
    if ((action == 'C' || action == 'S') && !take_hex(&chosen, &signal)) {
        error(r, 1);
        return;
    }
    if (action == 'r' && (!take_hex(&chosen, &from) || !take_char(&chosen, ',') || !take_hex(&chosen, &to))) {
        error(r, 1);
        return;
    }
    if (take_char(&chosen, ':') && !take_thread(r, &chosen)) {
        error(r, 1);
        return;
    }
    if (action == 'r')
        step_range(r, from, to);
    else
        resume(r, action == 's' || action == 'S', false);
}

/* ---- registers and memory ---- */

static void read_registers(struct remote *r)
{
    uint8_t bytes[DEBUG_REGISTER_BYTES];
    for (size_t i = 0; i < r->registers.count; i++) {
        const struct debug_register *one = &r->registers.one[i];
        if (debug_read_register(r->s, one, bytes))
            put_hex(r, bytes, one->bytes);
        else
            for (size_t b = 0; b < one->bytes; b++)
                fputs("xx", r->reply);
    }
}

static void read_one_register(struct remote *r, const char *text)
{
    uint8_t bytes[DEBUG_REGISTER_BYTES];
    uint64_t number;
    if (!take_hex(&text, &number) || number >= r->registers.count ||
        !debug_read_register(r->s, &r->registers.one[number], bytes))
        error(r, 2);
    else
        put_hex(r, bytes, r->registers.one[number].bytes);
}

/* Bytes of hexadecimal digits. False: not so many, or other characters. */
static bool take_bytes(const char **text, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const int high = debug_hex_digit((*text)[0]), low = high < 0 ? -1 : debug_hex_digit((*text)[1]);
        if (low < 0)
            return false;
        bytes[i] = (uint8_t)(high << 4 | low);
        *text += 2;
    }
    return true;
}

static void write_registers(struct remote *r, const char *text)
{
    uint8_t bytes[DEBUG_REGISTER_BYTES], now[DEBUG_REGISTER_BYTES];
    for (size_t i = 0; i < r->registers.count && *text; i++) {
        const struct debug_register *one = &r->registers.one[i];
        if (!take_bytes(&text, bytes, one->bytes)) {
            error(r, 2);
            return;
        }
        if (debug_read_register(r->s, one, now) && memcmp(now, bytes, one->bytes) &&
            !debug_write_register(r->s, one, bytes)) {
            error(r, 2);
            return;
        }
    }
    ok(r);
}

static void write_one_register(struct remote *r, const char *text)
{
    uint8_t bytes[DEBUG_REGISTER_BYTES];
    uint64_t number;
    if (!take_hex(&text, &number) || number >= r->registers.count || !take_char(&text, '=') ||
        !take_bytes(&text, bytes, r->registers.one[number].bytes) || *text ||
        !debug_write_register(r->s, &r->registers.one[number], bytes))
        error(r, 2);
    else
        ok(r);
}

static enum debug_space space_of(uint64_t *address)
{
    const enum debug_space space = *address >> 48 == 1   ? DEBUG_LDS
                                   : *address >> 49 == 1 ? DEBUG_PRIVATE
                                                         : DEBUG_GLOBAL;
    if (space != DEBUG_GLOBAL)
        *address &= UINT32_MAX;
    return space;
}

static void read_memory(struct remote *r, const char *text)
{
    uint64_t address, size;
    struct wm_diag diag;
    if (!take_hex(&text, &address) || !take_char(&text, ',') || !take_hex(&text, &size) || *text) {
        error(r, 3);
        return;
    }
    const enum debug_space space = space_of(&address);
    size = size < MOST_BYTES ? size : MOST_BYTES;
    uint8_t *bytes = malloc(size + 1);
    uint64_t read = 0;
    if (bytes && debug_read(r->s, space, r->s->lane, address, bytes, size, &diag))
        read = size;
    while (bytes && read < size &&
           debug_read(r->s, space, r->s->lane, address + read, bytes + read, 1, &diag))
        read++;
    if (read || (bytes && !size))
        put_hex(r, bytes, read);
    else
        error(r, 3);
    free(bytes);
}

static void write_memory(struct remote *r, const char *text, const char *end, bool binary)
{
    uint64_t address, size;
    struct wm_diag diag;
    if (!take_hex(&text, &address) || !take_char(&text, ',') || !take_hex(&text, &size) ||
        !take_char(&text, ':') || size > MOST_BYTES) {
        error(r, 3);
        return;
    }
    const enum debug_space space = space_of(&address);
    uint8_t *bytes = malloc(size + 1);
    bool good =
        bytes && (binary ? (size_t)(end - text) == size : take_bytes(&text, bytes, size) && text == end);
    if (good && binary)
        memcpy(bytes, text, size);
    good = good && (!size || debug_write(r->s, space, r->s->lane, address, bytes, size, &diag));
    free(bytes);
    if (good)
        ok(r);
    else
        error(r, 3);
}

/* ---- breakpoints ---- */

/* What a breakpoint of the protocol is called in the session, so that it is found again. */
static void name_of(const char *text, char name[64])
{
    snprintf(name, 64, "remote %.50s", text);
    for (char *at = name; *at; at++)
        if (*at == ';')
            *at = 0;
}

static void insert(struct remote *r, const char *text)
{
    char name[64], place[96];
    uint64_t kind, address, size;
    const char *at = text;
    struct wm_diag diag;
    unsigned number = 0;
    if (!take_hex(&at, &kind) || !take_char(&at, ',') || !take_hex(&at, &address) || !take_char(&at, ',') ||
        !take_hex(&at, &size) || kind > 4) {
        error(r, 4);
        return;
    }
    if (kind < 2) {
        snprintf(place, sizeof place, "*0x%" PRIx64, address);
        number = debug_break(r->s, place, NULL, false, &diag);
    } else if (size && size < MOST_BYTES) {
        const bool lds = space_of(&address) == DEBUG_LDS;
        snprintf(place, sizeof place, "*(unsigned char *) %s#0x%" PRIx64 "@%" PRIu64,
                 lds ? "local" : "global", address, size);
        number = debug_watch(r->s, place, NULL, kind != 2, kind != 3, &diag);
    }
    struct debug_breakpoint *b = debug_breakpoint(r->s, number);
    name_of(text, name);
    char *copy = number ? strdup(name) : NULL;
    if (!copy) {
        debug_delete(r->s, number);
        error(r, 4);
        return;
    }
    free(b->what);
    b->what = copy;
    b->any_write = true;
    ok(r);
}

static void take_out(struct remote *r, const char *text)
{
    char name[64];
    name_of(text, name);
    for (size_t i = 0; i < r->s->breakpoint_count; i++)
        if (!strcmp(r->s->breakpoints[i].what, name)) {
            debug_delete(r->s, r->s->breakpoints[i].number);
            break;
        }
    ok(r);
}

/* ---- queries ---- */

/* The part of a document that is asked for. */
static void send_part(struct remote *r, const char *document, const char *range)
{
    uint64_t from, size;
    const size_t length = strlen(document);
    if (!take_hex(&range, &from) || !take_char(&range, ',') || !take_hex(&range, &size)) {
        error(r, 5);
        return;
    }
    from = from < length ? from : length;
    const uint64_t left = length - from, part = size < left ? size : left;
    fputc(part < left ? 'm' : 'l', r->reply);
    fwrite(document + from, 1, part, r->reply);
}

static void write_threads(struct remote *r, FILE *out)
{
    struct wm_stopped *waves = malloc(WAVES * sizeof *waves);
    const size_t count = waves ? debug_waves(r->s, waves, WAVES) : 0;
    fputs("<?xml version=\"1.0\"?>\n<threads>\n", out);
    if (r->s->between)
        fprintf(out, "<thread id=\"%x\" name=\"the program, between launches\"/>\n", DEBUG_PROGRAM_THREAD);
    for (size_t i = 0; i < count; i++) {
        char text[256];
        describe_thread(r, &waves[i], text);
        fprintf(out, "<thread id=\"%" PRIx64 "\" name=\"%s\"/>\n", thread_of(r->s, &waves[i]), text);
    }
    fputs("</threads>\n", out);
    free(waves);
}

static void write_memory_map(struct remote *r, FILE *out)
{
    struct wm_allocation a = {.struct_size = sizeof a};
    fputs("<?xml version=\"1.0\"?>\n<memory-map>\n", out);
    for (uint64_t at = 0; wm_find_allocation(r->s->machine, at, true, &a, NULL) == WM_OK;
         at = a.address + a.size)
        fprintf(out, "<memory type=\"%s\" start=\"0x%" PRIx64 "\" length=\"0x%" PRIx64 "\"/>\n",
                a.flags & WM_READ_ONLY ? "rom" : "ram", a.address, a.size);
    if (r->s->state == DEBUG_STOPPED && r->s->wave.lds_bytes)
        fprintf(out, "<memory type=\"ram\" start=\"0x%" PRIx64 "\" length=\"0x%x\"/>\n", DEBUG_REMOTE_LDS,
                r->s->wave.lds_bytes);
    fputs("</memory-map>\n", out);
}

static void transfer(struct remote *r, const char *text)
{
    static const struct {
        const char *name;
        void (*write)(struct remote *r, FILE *out);
    } documents[] = {{"threads:read::", write_threads}, {"memory-map:read::", write_memory_map}};
    if (!strncmp(text, "features:read:target.xml:", 25)) {
        char *xml = debug_target_xml(r->s, &r->registers);
        if (xml)
            send_part(r, xml, text + 25);
        else
            error(r, 5);
        free(xml);
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        const size_t length = strlen(documents[i].name);
        char *document = NULL;
        size_t size;
        if (strncmp(text, documents[i].name, length))
            continue;
        FILE *out = open_memstream(&document, &size);
        if (out) {
            documents[i].write(r, out);
            fclose(out);
        }
        if (document)
            send_part(r, document, text + length);
        else
            error(r, 5);
        free(document);
        return;
    }
}

/* `monitor COMMAND` is a command of the prompt. */
static void monitor(struct remote *r, const char *text)
{
    char command[1024], *shown = NULL;
    size_t size, length = strlen(text) / 2;
    struct wm_diag diag;
    if (length >= sizeof command || !take_bytes(&text, (uint8_t *)command, length)) {
        error(r, 6);
        return;
    }
    command[length] = 0;
    FILE *out = r->s->out;
    r->s->out = open_memstream(&shown, &size);
    if (r->s->out) {
        if (!debug_execute(r->s, command, &diag))
            fprintf(r->s->out, "%s\n", diag.message);
        fclose(r->s->out);
    }
    r->s->out = out;
    if (shown && size)
        put_hex(r, shown, size);
    else
        ok(r);
    free(shown);
}

static void region_info(struct remote *r, const char *text)
{
    struct wm_allocation a = {.struct_size = sizeof a};
    uint64_t address;
    if (!take_hex(&text, &address)) {
        error(r, 3);
        return;
    }
    if (wm_find_allocation(r->s->machine, address, true, &a, NULL) != WM_OK)
        fprintf(r->reply, "start:%" PRIx64 ";size:%" PRIx64 ";", address, -address);
    else if (a.address > address)
        fprintf(r->reply, "start:%" PRIx64 ";size:%" PRIx64 ";", address, a.address - address);
    else
        fprintf(r->reply, "start:%" PRIx64 ";size:%" PRIx64 ";permissions:r%sx;", a.address, a.size,
                a.flags & WM_READ_ONLY ? "" : "w");
}

static void put_text(struct remote *r, const char *text)
{
    put_hex(r, text, strlen(text));
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static void extra_info(struct remote *r, const char *text)
{
    char info[256];
    if (!take_thread(r, &text)) {
        error(r, 1);
        return;
    }
    describe_thread(r, &r->s->wave, info);
    put_text(r, info);
}

/* gdb is known by a feature that lldb does not name. */
static void supported(struct remote *r, const char *text)
{
    struct debug_registers list;
    if (strstr(text, "swbreak+") && debug_registers_of(r->s, true, &list)) {
        free(r->registers.one);
        r->registers = list;
        r->for_gdb = true;
    }
    fprintf(r->reply,
            "PacketSize=%x;QStartNoAckMode+;qXfer:features:read+;qXfer:threads:read+;"
            "qXfer:memory-map:read+;ReverseStep+;ReverseContinue+;hwbreak+;vContSupported+",
            PACKET / 2);
}

static void query(struct remote *r, const char *text)
{
    if (begins(text, "qSupported"))
        supported(r, text);
    else if (begins(text, "qXfer:"))
        transfer(r, text + 6);
    else if (begins(text, "qRcmd,"))
        monitor(r, text + 6);
    else if (begins(text, "qThreadExtraInfo,"))
        extra_info(r, text + 17);
    else if (begins(text, "qMemoryRegionInfo:"))
        region_info(r, text + 18);
    else if (!strcmp(text, "qC") && r->s->state == DEBUG_STOPPED)
        fprintf(r->reply, "QC%" PRIx64, thread_of(r->s, &r->s->wave));
    else if (!strcmp(text, "qfThreadInfo"))
        list_threads(r);
    else if (!strcmp(text, "qsThreadInfo"))
        fputc('l', r->reply);
    else if (begins(text, "qAttached"))
        fputc('1', r->reply);
    else if (!strcmp(text, "qHostInfo") || !strcmp(text, "qProcessInfo")) {
        fprintf(r->reply, "%striple:", text[1] == 'P' ? "pid:1;" : "");
        put_text(r, TRIPLE);
        fputs(";ptrsize:8;endian:little;watchpoint_exceptions_received:after;", r->reply);
    } else if (begins(text, "qSymbol"))
        ok(r);
}

/* ---- packets ---- */

static void set_thread(struct remote *r, const char *text)
{
    if (*text != 'g' && *text != 'c') {
        error(r, 1);
        return;
    }
    text++;
    if (take_thread(r, &text))
        ok(r);
    else
        error(r, 1);
}

static void answer(struct remote *r, const char *packet, size_t length)
{
    const char *rest = packet + 1;
    const struct debug_event here = {.kind = DEBUG_EVENT_STEP};
    switch (*packet) {
    case '?':
        stop_reply(r, &here);
        break;
    case 'g':
        read_registers(r);
        break;
    case 'G':
        write_registers(r, rest);
        break;
    case 'p':
        read_one_register(r, rest);
        break;
    case 'P':
        write_one_register(r, rest);
        break;
    case 'm':
        read_memory(r, rest);
        break;
    case 'M':
    case 'X':
        write_memory(r, rest, packet + length, *packet == 'X');
        break;
    case 'H':
        set_thread(r, rest);
        break;
    case 'T':
        if (take_thread(r, &rest))
            ok(r);
        else
            error(r, 1);
        break;
    case 'c':
    case 's':
        resume(r, *packet == 's', false);
        break;
    case 'b':
        if (!strcmp(rest, "s") || !strcmp(rest, "c"))
            resume(r, *rest == 's', true);
        break;
    case 'v':
        if (!strcmp(rest, "Cont?"))
            fputs("vCont;c;C;s;S;r", r->reply);
        else if (begins(rest, "Cont"))
            vcont(r, rest + 4);
        else if (begins(rest, "Kill")) {
            r->done = r->s->quits = true;
            ok(r);
        }
        break;
    case 'Z':
        insert(r, rest);
        break;
    case 'z':
        take_out(r, rest);
        break;
    case 'q':
        query(r, packet);
        break;
    case 'Q':
        if (!strcmp(rest, "StartNoAckMode")) {
            r->connection.leaves_acks = true;
            ok(r);
        }
        break;
    case 'D':
        r->done = true;
        ok(r);
        break;
    case 'k':
        r->done = r->s->quits = true;
        break;
    default:
        break; /* an empty answer: not supported */
    }
}

static bool is_interrupted(void *user)
{
    struct remote *r = user;
    return debug_connection_interrupts(&r->connection);
}

static int serve(struct remote *r)
{
    struct debug_session *s = r->s;
    struct wm_diag diag;
    s->interrupts = is_interrupted;
    s->interrupts_user = r;
    if (s->state == DEBUG_BEFORE && !debug_restart(s, &diag))
        return tool_fail("%s", diag.message);
    if (!debug_registers_of(s, false, &r->registers))
        return tool_fail("out of memory");
    char *packet = malloc(PACKET);
    size_t length;
    while (packet && !r->done && debug_receive(&r->connection, packet, PACKET, &length)) {
        char *reply = NULL;
        size_t size;
        r->reply = open_memstream(&reply, &size);
        if (!r->reply)
            break;
        answer(r, packet, length);
        fclose(r->reply);
        if (*packet != 'k' && !debug_send(&r->connection, reply, size))
            r->done = true;
        free(reply);
    }
    free(packet);
    free(r->registers.one);
    s->interrupts = NULL;
    return TOOL_CLEAN;
}

int debug_serve(struct debug_session *s, const char *where)
{
    struct remote r = {.s = s};
    FILE *messages = s->out;
    s->out = stderr;
    int code = debug_connect(&r.connection, where, messages);
    if (code == TOOL_CLEAN)
        code = serve(&r);
    debug_disconnect(&r.connection);
    s->out = messages;
    return code;
}
