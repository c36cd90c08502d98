/* SPDX-License-Identifier: MIT */
/* A program for `wavemem loader`: a client of the protocol in LLVM's libc/shared/rpc.h, and a main() that
 * does what its first argument says. Compiled for a GPU by loader.py, without any library. */
typedef unsigned int u32;
typedef unsigned long u64;

enum {
    NOOP,
    EXIT,
    TO_STDOUT,
    TO_STDERR,
    TO_STREAM,
    TO_STDOUT_NEWLINE,
    FROM_STREAM,
    FGETS,
    OPEN,
    CLOSE,
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
    PRINTF,
    REMOVE = 27,
    RENAME,
    SYSTEM
};

struct packet {
    u64 data[8];
};
struct header {
    u64 mask;
    u32 opcode;
};
struct doorbell {
    u64 *value, *mailbox;
    u32 event;
};
struct client {
    u32 ports;
#ifdef DOORBELL /* as after LLVM 22 */
    const struct doorbell *doorbell;
#endif
    const u32 *inbox;
    u32 *outbox;
    struct header *header;
    struct packet *packet;
#ifdef DOORBELL
    u32 lock[16384 / 32];
#else
    u32 lock[4096 / 32];
#endif
};
__attribute__((visibility("protected"), used)) struct client __llvm_rpc_client;
__attribute__((visibility("protected"), used)) u64 __llvm_libc_clock_freq;

/* ---- ports ---- */

struct port {
    u32 index, out;
    u64 mask;
    _Bool receive, owns;
};

static u32 lane(void)
{
    const u32 low = __builtin_amdgcn_mbcnt_lo(~0u, 0);
    return __builtin_amdgcn_wavefrontsize() == 32 ? low : __builtin_amdgcn_mbcnt_hi(~0u, low);
}

static u64 active(void)
{
    return __builtin_amdgcn_ballot_w64(1);
}

static _Bool is_first(u64 mask)
{
    return lane() == (u32)__builtin_ctzl(mask);
}

/* The first lane's value. */
static u32 uniform(u32 value)
{
    return __builtin_amdgcn_readfirstlane(value);
}

static struct packet *mine(const struct port *p)
{
    return &__llvm_rpc_client.packet[p->index * __builtin_amdgcn_wavefrontsize() + lane()];
}

static struct port open(u32 opcode)
{
    struct client *c = &__llvm_rpc_client;
    const u64 mask = active();
    for (u32 i = 0;; i = i + 1 < c->ports ? i + 1 : 0) {
        u32 taken = 0;
        if (is_first(mask))
            taken = __atomic_fetch_or(&c->lock[i / 32], 1u << i % 32, __ATOMIC_ACQUIRE) >> i % 32 & 1;
        if (uniform(taken))
            continue;
        const u32 in = uniform(__atomic_load_n(&c->inbox[i], __ATOMIC_RELAXED)),
                  out = uniform(__atomic_load_n(&c->outbox[i], __ATOMIC_RELAXED));
        if (in != out) { /* the server still has it */
            if (is_first(mask))
                __atomic_fetch_and(&c->lock[i / 32], ~(1u << i % 32), __ATOMIC_RELEASE);
            continue;
        }
        if (is_first(mask)) {
            c->header[i].opcode = opcode < 100 ? 'c' << 24 | opcode : opcode;
            c->header[i].mask = mask;
        }
#ifdef DOORBELL /* where there is none, the client rings none */
        if (c->doorbell->value)
            __builtin_trap();
#endif
        return (struct port){i, out, mask, 0, 1};
    }
}

static void give(struct port *p)
{
    p->out = !p->out;
    p->owns = 0;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&__llvm_rpc_client.outbox[p->index], p->out, __ATOMIC_RELAXED);
}

static void take(struct port *p)
{
    while (!p->owns &&
           uniform(__atomic_load_n(&__llvm_rpc_client.inbox[p->index], __ATOMIC_RELAXED)) != p->out)
        __builtin_amdgcn_s_sleep(2);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static struct packet *begin_send(struct port *p)
{
    take(p);
    return mine(p);
}

static void sent(struct port *p)
{
    give(p);
    p->receive = 0;
}

static struct packet *receive(struct port *p)
{
    if (p->receive)
        give(p);
    take(p);
    p->receive = p->owns = 1;
    return mine(p);
}

static void close(struct port *p)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
    if (is_first(p->mask))
        __atomic_fetch_and(&__llvm_rpc_client.lock[p->index / 32], ~(1u << p->index % 32), __ATOMIC_RELEASE);
}

static void copy(void *to, const void *from, u64 size)
{
    for (u64 i = 0; i < size; i++)
        ((volatile char *)to)[i] = ((const char *)from)[i];
}

static u64 lesser(u64 a, u64 b)
{
    return a < b ? a : b;
}

/* All lanes send, also those that have nothing left. */
static void send_data(struct port *p, const void *bytes, u64 size)
{
    struct packet *packet = begin_send(p);
    packet->data[0] = size;
    copy(packet->data + 1, bytes, lesser(size, 56));
    sent(p);
    for (u64 at = 56; __builtin_amdgcn_ballot_w64(at < size); at += 64) {
        packet = begin_send(p);
        if (at < size)
            copy(packet->data, (const char *)bytes + at, lesser(size - at, 64));
        sent(p);
    }
}

/* Returns the size. */
static u64 receive_data(struct port *p, char *bytes)
{
    struct packet *packet = receive(p);
    const u64 size = packet->data[0];
    copy(bytes, packet->data + 1, lesser(size, 56));
    for (u64 at = 56; __builtin_amdgcn_ballot_w64(at < size); at += 64) {
        packet = receive(p);
        if (at < size)
            copy(bytes + at, packet->data, lesser(size - at, 64));
    }
    return size;
}

/* ---- services ---- */

static u64 length(const char *text)
{
    u64 size = 0;
    while (text[size])
        size++;
    return size;
}

static u64 put(u32 opcode, const char *bytes, u64 size)
{
    struct port p = open(opcode);
    send_data(&p, bytes, size);
    const u64 written = receive(&p)->data[0];
    close(&p);
    return written;
}

static u64 say(const char *text)
{
    return put(TO_STDOUT_NEWLINE, text, length(text));
}

/* Words there and back. */
static u64 call(u32 opcode, u64 a, u64 b, u64 c)
{
    struct port p = open(opcode);
    struct packet *packet = begin_send(&p);
    packet->data[0] = a;
    packet->data[1] = b;
    packet->data[2] = c;
    sent(&p);
    const u64 result = receive(&p)->data[0];
    close(&p);
    return result;
}

static void leave(u32 opcode, int status)
{
    struct port p = open(opcode);
    begin_send(&p);
    sent(&p);
    receive(&p);
    begin_send(&p)->data[0] = (u32)status;
    sent(&p);
    close(&p);
    __builtin_amdgcn_endpgm();
}

static u64 read_from(u64 stream, char *bytes, u64 most)
{
    struct port p = open(FROM_STREAM);
    struct packet *packet = begin_send(&p);
    packet->data[0] = most;
    packet->data[1] = stream;
    sent(&p);
    receive_data(&p, bytes);
    const u64 size = receive(&p)->data[0];
    close(&p);
    return size;
}

static u64 open_file(const char *path, const char *mode)
{
    struct port p = open(OPEN);
    send_data(&p, path, length(path) + 1);
    copy(begin_send(&p)->data, mode, length(mode) + 1);
    sent(&p);
    const u64 file = receive(&p)->data[0];
    close(&p);
    return file;
}

static u64 write_to(u64 file, const char *bytes, u64 size)
{
    struct port p = open(TO_STREAM);
    begin_send(&p)->data[0] = file;
    sent(&p);
    send_data(&p, bytes, size);
    const u64 written = receive(&p)->data[0];
    close(&p);
    return written;
}

static _Bool equal(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* ---- the program ---- */

static char buffer[300];

/* printf of each lane; the arguments lie as a struct has them, or without gaps. */
static u32 print(u32 opcode, _Bool packed)
{
    static const char format[] = "%d|%5.2f|%-4s|%s|%c|%lx|%*u|%%|%hhd\n";
    struct {
        int number;
        double real;
        const char *text, *other;
        int letter;
        u64 word;
        int width;
        u32 count;
        int small;
    } apart = {-7 - (int)__builtin_amdgcn_workitem_id_x(),
               2.5,
               "ab",
               "a string of more than fifty-six bytes, so that it takes two packets",
               'c',
               0xfedcba9876543210,
               6,
               42,
               3};
    char close_by[64];
    u64 used = 0;
    const struct {
        const void *bytes;
        u64 size;
    } parts[] = {{&apart.number, 4}, {&apart.real, 8},   {&apart.text, 8},
                 {&apart.other, 8},  {&apart.letter, 4}, {&apart.word, 8},
                 {&apart.width, 4},  {&apart.count, 4},  {&apart.small, 4}};
    for (u32 i = 0; i < 9; used += parts[i++].size)
        copy(close_by + used, parts[i].bytes, parts[i].size);
    struct port p = open(opcode);
    send_data(&p, format, sizeof format);
    const u64 size = receive(&p)->data[0];
    send_data(&p, packed ? (const void *)close_by : &apart, size);
    for (;;) {
        const struct packet *packet = receive(&p);
        const u32 result = (u32)packet->data[0];
        const char *text = (const char *)packet->data[1];
        if (!__builtin_amdgcn_ballot_w64(text != 0)) {
            close(&p);
            return result;
        }
        send_data(&p, text, text ? length(text) + 1 : 0);
    }
}

static int started;

static int files(const char *path)
{
    const u64 file = open_file(path, "w+");
    if (!file || write_to(file, "line one\nline two", 17) != 17)
        return 1;
    if (call(FSEEK, file, 5, 0) || call(FTELL, file, 0, 0) != 5)
        return 2;
    if (read_from(file, buffer, 100) != 12 || buffer[0] != 'o' || !call(FEOF, file, 0, 0))
        return 3;
    if (call(FFLUSH, file, 0, 0) || call(CLOSE, file, 0, 0) || !(u32)call(CLOSE, file, 0, 0) ||
        open_file("/no/such/file", "r"))
        return 4;
    return 0;
}

static int memory(void)
{
    volatile u32 *block = (volatile u32 *)call(MALLOC, 4000, 0, 0);
    if (!block)
        return 1;
    for (u32 i = 0; i < 1000; i++)
        block[i] = i;
    u32 sum = 0;
    for (u32 i = 0; i < 1000; i++)
        sum += block[i];
    call(FREE, (u64)block, 0, 0);
    return sum == 499500 ? 0 : 2;
}

/* Each lane says another text of another length. */
static void lanes(void)
{
    char text[100];
    const u32 number = __builtin_amdgcn_workgroup_id_x() * 10 + __builtin_amdgcn_workitem_id_x(),
              size = 2 + number;
    text[0] = 'A' + (char)number;
    for (u32 i = 1; i < size; i++)
        text[i] = '.';
    put(TO_STDOUT_NEWLINE, text, size);
}

static int run(int count, char **words, char **environment)
{
    if (count < 2)
        return 7;
    if (equal(words[1], "arguments")) {
        for (int i = 0; i < count; i++)
            say(words[i]);
        for (; *environment; environment++)
            if ((*environment)[0] == 'L' && (*environment)[1] == 'T')
                say(*environment);
        return started == 1 && __llvm_libc_clock_freq == 100000000 ? 42 : 1;
    }
    if (equal(words[1], "long")) {
        for (u32 i = 0; i < sizeof buffer; i++)
            buffer[i] = 'a' + i % 26;
        return put(TO_STDERR, buffer, sizeof buffer) == sizeof buffer ? 0 : 1;
    }
    if (equal(words[1], "echo")) {
        const u64 size = read_from(1, buffer, sizeof buffer);
        return (int)put(TO_STDOUT, buffer, size);
    }
    if (equal(words[1], "files"))
        return files(words[2]);
    if (equal(words[1], "memory"))
        return memory();
    if (equal(words[1], "exit")) {
        say("before");
        leave(EXIT, 9);
    }
    if (equal(words[1], "abort"))
        leave(ABORT, 0);
    if (equal(words[1], "printf"))
        return (int)(print(PRINTF, 0) + print(PRINTF + 1, 0) + print(PRINTF + 3, 1));
    if (equal(words[1], "system"))
        call(SYSTEM, 0, 0, 0);
    if (equal(words[1], "unknown"))
        call(0x41000000, 0, 0, 0);
    if (equal(words[1], "noop")) {
        struct port p = open(NOOP);
        begin_send(&p)->data[0] = 1;
        sent(&p);
        close(&p);
        say("noop");
        return 0;
    }
    if (equal(words[1], "rename")) {
        struct port p = open(RENAME);
        send_data(&p, words[2], length(words[2]) + 1);
        send_data(&p, words[3], length(words[3]) + 1);
        const u64 renamed = receive(&p)->data[0];
        close(&p);
        p = open(REMOVE);
        send_data(&p, words[2], length(words[2]) + 1); /* it is not there any more */
        const u64 removed = receive(&p)->data[0];
        close(&p);
        return renamed == 0 && (u32)removed == ~0u ? 0 : 1;
    }
    if (equal(words[1], "much")) {
        struct port p = open(TO_STDOUT);
        begin_send(&p)->data[0] = (16 << 20) + 1;
        sent(&p);
        receive(&p);
    }
    if (equal(words[1], "fault"))
        return *(volatile int *)16;
    if (equal(words[1], "spin"))
        for (volatile int i = 0;; i++)
            ;
    if (equal(words[1], "lanes"))
        lanes();
    return 0;
}

__attribute__((amdgpu_kernel, visibility("protected"))) void _begin(int count, char **words,
                                                                    char **environment)
{
    (void)count, (void)words, (void)environment;
    started = 1;
}

__attribute__((amdgpu_kernel, visibility("protected"))) void _start(int count, char **words,
                                                                    char **environment, int *result)
{
    __atomic_fetch_or(result, run(count, words, environment), __ATOMIC_RELAXED);
}

__attribute__((amdgpu_kernel, visibility("protected"))) void _end(int result)
{
    say("end");
    leave(EXIT, result);
}
