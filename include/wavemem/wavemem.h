/* SPDX-License-Identifier: MIT */
/* wavemem: executes the machine code of AMD GPUs on an ordinary CPU and shows what it does to memory.
 *
 * Opaque handles own memory; plain structs are values that the caller owns. A function that can fail returns
 * a wm_status and, if `diag` is not NULL, says there where and why. A fault of the guest is a result
 * (wm_fault), not a status. Nothing here is global: handles of different machines may be used from different
 * threads.
 *
 * A kernel c = a + b from its file to its result, without the checks of each status:
 *
 *     wm_object_open_file("vecadd.co", NULL, &object, &diag);
 *     wm_object_find_kernel(object, "vecadd", &kernel, &diag);
 *     wm_machine_create(wm_object_target(object), &machine, &diag);
 *     wm_load(machine, object, &diag);
 *     wm_allocate(machine, 4 * n, 0, "a", &arguments.a, &diag);    and b, c
 *     wm_write(machine, arguments.a, a, 4 * n, &diag);             and b
 *     struct wm_dispatch dispatch = {.struct_size = sizeof(dispatch), .grid = {n}, .workgroup = {64},
 *                                    .arguments = &arguments, .arguments_size = sizeof(arguments)};
 *     struct wm_result result = {.struct_size = sizeof(result)};
 *     wm_dispatch(machine, object, kernel, &dispatch, &result, &diag);
 *     wm_read(machine, arguments.c, c, 4 * n, &diag);
 *
 * with arguments laid out as kernel->arguments[].offset says, here struct { uint64_t a, b, c; uint32_t n; }.
 */
#ifndef WAVEMEM_H
#define WAVEMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WM_API __attribute__((visibility("default")))
#else
#define WM_API
#endif

/* ---- what went wrong ---- */

enum wm_status {
    WM_OK = 0,
    WM_BAD_ARGUMENT, /* the caller asked for something that makes no sense */
    WM_BAD_FILE,     /* truncated, corrupt or foreign input */
    WM_UNSUPPORTED,  /* well-formed, but wavemem cannot do it */
    WM_NOT_FOUND,    /* no such kernel, argument, target, symbol */
    WM_NO_MEMORY,    /* the host, or the guest's limit */
    WM_IO,           /* a file could not be read or written */
    WM_OUT_OF_RANGE, /* outside an allocation */
};

struct wm_diag {
    enum wm_status status;
    char message[480]; /* one line: where, what, what was expected */
};

WM_API const char *wm_status_name(enum wm_status status);
WM_API const char *wm_version(void);

/* ---- targets and instructions ---- */

/* Whether `name` ("gfx900", "gfx90a:xnack+") is a target that wavemem decodes. From gfx10 on "gfx1030:wave64"
 * is the target with waves of 64, which decodes lane masks and matrices otherwise; from gfx11 on
 * "gfx1100:real-true16" shows halves of VGPRs (v1.l, v1.h) as LLVM's mode of that name does. */
WM_API bool wm_target_known(const char *name);

/* Assembles `size` bytes of text in LLVM's syntax for `target`; `name` stands before messages. Sets *bytes,
 * for the caller to free(), to a code object of `*bytes_size` bytes, or with WM_ASSEMBLE_RAW to the bytes of
 * section .text. WM_BAD_FILE: the text is wrong, and *messages, also to be freed, has all that is (up to 20
 * errors) as lines of "name:line:column: error: ...", each with the source line and a caret below. With WM_OK
 * *messages has the text's warnings, or is "". Thread-safe. */
enum {
    WM_ASSEMBLE_RAW = 1,
    WM_ASSEMBLE_FILES = 2, /* .include and .incbin may read files: beside `name`, then in `folders` */
    WM_ASSEMBLE_LINES = 4, /* DWARF that names the lines of the text, unless it has .file and .loc itself */
};
WM_API enum wm_status wm_assemble(const char *text, size_t size, const char *name, const char *target,
                                  unsigned flags, uint8_t **bytes, size_t *bytes_size, char **messages,
                                  struct wm_diag *diag);
/* The same with all options. */
struct wm_assemble_options {
    size_t struct_size; /* sizeof(struct wm_assemble_options) */
    unsigned flags;     /* WM_ASSEMBLE_* */
    const char *const *folders;
    size_t folder_count;
};
WM_API enum wm_status wm_assemble_with(const struct wm_assemble_options *options, const char *text,
                                       size_t size, const char *name, const char *target, uint8_t **bytes,
                                       size_t *bytes_size, char **messages, struct wm_diag *diag);

/* A target as wm_decode() takes it: immutable, shared by all threads, never freed. NULL: `name` is none (see
 * wm_target_known()). */
struct wm_target;
WM_API const struct wm_target *wm_target(const char *name);

enum wm_operand_kind {
    WM_OPERAND_NONE,      /* not in this word: the result of an atomic that returns none */
    WM_OPERAND_SGPR,      /* registers reg to reg + dwords - 1; SGPRs 0 to 105 */
    WM_OPERAND_VGPR,      /* 0 to 255; of images whose address is a list see wm_instruction.address */
    WM_OPERAND_AGPR,      /* 0 to 255 */
    WM_OPERAND_TTMP,      /* 0 to 15 */
    WM_OPERAND_SPECIAL,   /* `name`: "vcc", "exec_lo", "m0", "null", "src_shared_base" */
    WM_OPERAND_CONSTANT,  /* inline; value: its bits, as an operand of this type takes them (1.0 in f16:
                             0x3c00) */
    WM_OPERAND_LITERAL,   /* value: likewise (a 64-bit float has the literal as its high dword) */
    WM_OPERAND_IMMEDIATE, /* value: the field, sign-extended where it is signed */
    WM_OPERAND_LABEL,     /* value: signed dwords from the end of the instruction to where it branches */
    WM_OPERAND_OFF,       /* the address or base register that the instruction can have and has not */
};

struct wm_operand {
    enum wm_operand_kind kind;
    const char
        *role; /* "d", "sdst": results; "a", "b", "c": sources; "addr", "data", "saddr", "soffset", ... */
    const char *type;    /* of one lane's element: "f32", "v2f16", "b128" */
    const char *name;    /* of a special register, else NULL */
    uint16_t bits;       /* of the type; images and buffers may move more: `dwords` says it */
    uint16_t reg;        /* the first register */
    uint8_t dwords;      /* registers that it spans */
    char half;           /* of a 16-bit operand that names half of its VGPR: 'l' or 'h'; else 0 */
    bool read, written;  /* both: what v_fmac adds to, data of an atomic that returns */
    bool implied;        /* has no bits in the word: VCC of v_addc_co_u32_e32 */
    bool neg, abs, sext; /* modifiers of a source */
    uint64_t value;
};

/* A field of the encoding that is no operand, as it stands in the word: "offset", "glc", "clamp", "dpp_ctrl",
 * "dmask", "op_sel". Signed fields are sign-extended. Names are those of `wavemem isa`. */
struct wm_modifier {
    const char *name;
    int32_t value;
};

enum {
    WM_INSTRUCTION_LOAD =
        1 << 0, /* the first four: what it does to memory; `elements` and `bytes` say how much */
    WM_INSTRUCTION_STORE = 1 << 1,
    WM_INSTRUCTION_ATOMIC = 1 << 2,
    WM_INSTRUCTION_MEMORY_CONTROL = 1 << 3, /* caches, clocks, counters: no data */
    WM_INSTRUCTION_FORMAT = 1 << 4,         /* memory: converts by a format */
    WM_INSTRUCTION_D16 = 1 << 5,            /* memory: of 16 bits, in half a VGPR */
    WM_INSTRUCTION_BRANCH = 1 << 6,         /* has an operand of kind WM_OPERAND_LABEL */
    WM_INSTRUCTION_ENDS = 1 << 7,           /* the wave: s_endpgm */
    WM_INSTRUCTION_MASKED = 1 << 8,         /* only the lanes that EXEC has take part */
    WM_INSTRUCTION_CROSS_LANE = 1 << 9,     /* reads other lanes' registers, or writes to them */
    WM_INSTRUCTION_READS_SCC = 1 << 10,     /* these besides its operands */
    WM_INSTRUCTION_WRITES_SCC = 1 << 11,
    WM_INSTRUCTION_READS_VCC = 1 << 12,
    WM_INSTRUCTION_WRITES_VCC = 1 << 13,
    WM_INSTRUCTION_READS_EXEC = 1 << 14, /* as a value */
    WM_INSTRUCTION_WRITES_EXEC = 1 << 15,
    WM_INSTRUCTION_READS_M0 = 1 << 16,
};

enum {
    WM_INSTRUCTION_DWORDS = 5,
    WM_INSTRUCTION_OPERANDS = 12,
    WM_INSTRUCTION_MODIFIERS = 16,
    WM_ADDRESS_DWORDS = 16
};

/* One decoded instruction. Strings live as long as the library. */
struct wm_instruction {
    const struct wm_target *target;
    uint32_t words[WM_INSTRUCTION_DWORDS];
    unsigned dwords;      /* of `words`; literals and lists of addresses included */
    const char *name;     /* LLVM's mnemonic: "v_add_f32_e32" */
    const char *encoding; /* "vop2", "vop3_dpp8", "global": as in `wavemem isa` */
    const char
        *kind;  /* "scalar", "vector", "SMEM", "buffer", "image", "FLAT", "GLOBAL", "SCRATCH", "DS", ... */
    size_t row; /* for wm_isa_row(): the same whatever its name and encoding */
    uint32_t flags;           /* WM_INSTRUCTION_* */
    unsigned elements, bytes; /* memory: places per lane (read2: 2, x4: 4; images: at most), bytes of each */
    unsigned operand_count, modifier_count;
    struct wm_operand operand[WM_INSTRUCTION_OPERANDS]; /* in the order of the text, implied ones too */
    struct wm_modifier
        modifier[WM_INSTRUCTION_MODIFIERS]; /* all that the encoding has, whatever their value */
    /* The VGPR of each dword of an image's address where the words name them singly (NSA, gfx12); else 0 of
     * them. */
    unsigned address_count;
    uint8_t address[WM_ADDRESS_DWORDS];
    /* The other half of a pair (VOPD), or NULL; its operands are those from second_operand on. */
    const char *second_name;
    size_t second_row;
    unsigned second_operand;
};

/* Decodes the instruction at `words`, of which `dwords` may be read. Returns its length in dwords; 0: it is
 * none of the target's, or is cut off, and *out is empty. Allocates nothing, keeps nothing, is thread-safe.
 */
WM_API unsigned wm_decode(const struct wm_target *target, const uint32_t *words, size_t dwords,
                          struct wm_instruction *out);
/* Writes LLVM's text of a decoded instruction (its target and words count, what else stands there does not):
 * NUL-terminated, cut to `size` bytes. Returns the length that it needs without the NUL, as snprintf() does;
 * 0: the words are no instruction. Allocates nothing, is thread-safe. */
WM_API size_t wm_print(const struct wm_instruction *instruction, char *text, size_t size);

/* Disassembles the instruction at `words` (of which `dwords` may be read) for `target`: writes LLVM's text
 * into `text`, cut to `size` bytes, NUL-terminated. Returns the instruction's length in dwords; 0 when it is
 * none. */
WM_API unsigned wm_disassemble(const char *target, const uint32_t *words, size_t dwords, char *text,
                               size_t size);

/* Disassembles long code fast: finds its target once and remembers the texts of words that come again. To be
 * used by one thread at a time. */
struct wm_disassembler;
enum {
    /* Instructions whose text would not become the same words again in LLVM's assembler are shown as .long:
     * literals equal to inline constants, unused bits that are set, encodings that no text asks for. */
    WM_DISASSEMBLE_REASSEMBLABLE = 1,
};
/* `target` as wm_disassemble() takes it; `flags`: WM_DISASSEMBLE_*. Fails on an unknown target and for want
 * of memory. */
WM_API enum wm_status wm_disassembler_create(const char *target, unsigned flags,
                                             struct wm_disassembler **disassembler, struct wm_diag *diag);
WM_API void wm_disassembler_destroy(struct wm_disassembler *disassembler); /* NULL is allowed */

/* One instruction, or one dword of data. */
struct wm_disassembled {
    const char *text; /* `length` bytes and a NUL, until the next call; 64 bytes may be read in any case */
    uint32_t length;
    uint8_t dwords;
    bool data;      /* the words are no instruction: ".long 0x...", of one dword */
    bool branch;    /* to a place told by the words: */
    int32_t target; /* dwords from the end of the instruction */
};
/* What stands at `words`, of which `dwords`, at least 1, may be read. */
WM_API struct wm_disassembled wm_disassembler_next(struct wm_disassembler *disassembler,
                                                   const uint32_t *words, size_t dwords);

/* Lines of a listing as llvm-objdump -d writes them: a tab, the text, from column 60 on two slashes, the
 * address and the words. */
struct wm_lines {
    const void *code;
    size_t size;      /* bytes of code that may be read */
    size_t end;       /* instructions that begin at this byte or behind it are not listed */
    uint64_t address; /* of the code */
    char *text;       /* for the lines, without a NUL */
    size_t room;      /* bytes, at least WM_LINE_ROOM */
    bool plain;       /* lines have nothing but the text, then; branches too */
};
enum { WM_LINE_ROOM = 2048 }; /* with less than that left no line begins */
/* Lists until the end, until there is no more room, or, unless plain, in front of a branch: whoever lists
 * knows the name of the place it leads to. Returns the bytes of code listed; *length becomes that of the
 * text. */
WM_API size_t wm_disassembler_lines(struct wm_disassembler *disassembler, const struct wm_lines *lines,
                                    size_t *length);

/* ---- the instruction set, explained ---- */

/* The target number `index` ("gfx600", ...), or NULL behind the last. */
WM_API const char *wm_target_at(size_t index);

/* An instruction by its identity, whatever its name and encoding on a target. Rows are numbered from 0. */
struct wm_isa_row {
    const char *name;           /* its first name */
    const char *kind;           /* "scalar", "vector", "buffer", ... */
    const char *formula;        /* what it computes, in a line; or NULL */
    const char *grade;          /* "exact", "approx", "unverified", or "todo": decodes, is not executed yet */
    const char *remark;         /* of an approximate or unverified one; or NULL */
    const char *remark_field;   /* only with this modifier; or NULL */
    char reads[64], writes[64]; /* besides its operands: "SCC, VCC" */
};
WM_API size_t wm_isa_row_count(void);
WM_API bool wm_isa_row(size_t row, struct wm_isa_row *out);
/* What documents, LLVM and wavemem say differently of the row: the nth remark, or NULL. */
WM_API const char *wm_isa_erratum(size_t row, size_t n);
/* The counters that it raises on the target until its work is done ("vmcnt"), or NULL. */
WM_API const char *wm_isa_wait(size_t row, const char *target);

/* A row in one encoding of a target. */
enum { WM_ISA_BITS = 48, WM_ISA_OPERANDS = 12 };
struct wm_isa_bits { /* within one dword; position counts from bit 0 of the first dword */
    const char *name;
    uint32_t value;
    uint8_t position, width;
    bool fixed; /* the value is the same in all words */
};
struct wm_isa_operand {
    const char *role, *type;
    uint16_t bits; /* of the type; data of images and buffers may have more */
    bool read, written, implied, optional;
    char text[32]; /* of this word's (wm_isa_decode): "v[2:5]" */
};
struct wm_isa_form {
    const char *target, *name, *encoding;
    size_t row;
    unsigned opcode, dwords, length; /* length: of this word's, with literals */
    unsigned bits_count, operand_count;
    struct wm_isa_bits bits[WM_ISA_BITS]; /* by position */
    struct wm_isa_operand operands[WM_ISA_OPERANDS];
};
/* Calls `visit` for all encodings of all rows that the target has, until it returns false; how many. */
typedef bool (*wm_isa_visit)(void *user, const struct wm_isa_form *form);
WM_API size_t wm_isa_forms(const char *target, wm_isa_visit visit, void *user);
/* The encoding of the instruction at `words`, with the values of its bits. Its length in dwords; 0: none. */
WM_API unsigned wm_isa_decode(const char *target, const uint32_t *words, size_t dwords,
                              struct wm_isa_form *out);
/* ---- descriptors ---- */

enum wm_descriptor_kind {
    WM_DESCRIPTOR_BUFFER,  /* V#, four words */
    WM_DESCRIPTOR_IMAGE,   /* T#, eight words; with R128 the first four */
    WM_DESCRIPTOR_SAMPLER, /* S#, four words */
};

enum { WM_DESCRIPTOR_WORDS = 8, WM_DESCRIPTOR_FIELDS = 64, WM_DESCRIPTOR_WARNINGS = 16 };

struct wm_descriptor_field {
    const char *name; /* AMD's: "NUM_RECORDS" */
    uint64_t value;
    unsigned bit, bits; /* from bit `bit` of the whole descriptor on */
    char meaning[64];   /* "64 records", "FLOAT"; "" when the number says it all */
};

struct wm_descriptor {
    enum wm_descriptor_kind kind;
    uint32_t words[WM_DESCRIPTOR_WORDS];
    unsigned word_count;
    struct wm_descriptor_field field[WM_DESCRIPTOR_FIELDS]; /* in the order of their bits */
    size_t field_count;
    char warning[WM_DESCRIPTOR_WARNINGS][240]; /* what is odd, and what the hardware does about it */
    size_t warning_count;
};

/* Takes `count` words apart as `target` does. WM_BAD_ARGUMENT for another number of words than the kind has,
 * WM_UNSUPPORTED when the target has no such descriptors. */
WM_API enum wm_status wm_descriptor_decode(const char *target, enum wm_descriptor_kind kind,
                                           const uint32_t *words, size_t count,
                                           struct wm_descriptor *descriptor, struct wm_diag *diag);
/* Makes one of `count` fields, of which name (in any case) and value are set; what is not named is 0. Then as
 * wm_descriptor_decode. WM_NOT_FOUND for a field that the target does not have, WM_BAD_ARGUMENT for a value
 * that does not fit. */
WM_API enum wm_status wm_descriptor_encode(const char *target, enum wm_descriptor_kind kind,
                                           const struct wm_descriptor_field *fields, size_t count,
                                           struct wm_descriptor *descriptor, struct wm_diag *diag);

/* What a buffer instruction gives one lane. */
struct wm_buffer_request {
    bool idxen, offen, addr64;
    uint32_t index, offset; /* of the VGPRs; without IDXEN or OFFEN they do not count */
    uint64_t address;       /* of the VGPRs with ADDR64 */
    int32_t inst_offset;
    uint32_t soffset;
    unsigned lane;  /* 0 to 63 */
    unsigned bytes; /* that the lane moves: 1 to 16 */
    bool format;    /* converts by the V#'s format */
    unsigned parts; /* with a format: components that are checked one by one; 0 or 1: all at once */
    bool atomic;    /* as format conversions, checked as one; others dword by dword */
};

enum { WM_BUFFER_ELEMENTS = 4, WM_BUFFER_STEPS = 40 };

struct wm_buffer_answer {
    unsigned elements; /* that are checked by themselves */
    uint64_t address[WM_BUFFER_ELEMENTS];
    bool in_range[WM_BUFFER_ELEMENTS];
    char step[WM_BUFFER_STEPS][160]; /* how it came to that: a formula with its numbers each */
    size_t step_count;
};

/* The address of one lane's access through the V# `words`, step by step, and whether it is in range.
 * Sources: CLRX and the ISA documents, "Buffer Addressing"; see docs/hacking.md for what is unverified. */
WM_API enum wm_status wm_buffer_explain(const char *target, const uint32_t words[4],
                                        const struct wm_buffer_request *request,
                                        struct wm_buffer_answer *answer, struct wm_diag *diag);

/* ---- formats ---- */

/* A component of an element: bits [shift, shift + bits) of it. */
struct wm_format_component {
    unsigned bits, shift;
    uint32_t raw;
};

/* A format of buffers, an element in it, and the registers that belong to it. */
struct wm_format_answer {
    char name[32];       /* "8_8_8_8 UNORM" */
    const char *formula; /* of a component x of n bits */
    bool unified;        /* code is FORMAT; else DATA_FORMAT | NUM_FORMAT << 4 */
    unsigned code, bytes, components;
    bool integer, is_signed; /* what registers hold: u32, i32, else f32 */
    bool unsigned_alpha;     /* the fourth component is read without its sign, as gfx6 to gfx8 do */
    struct wm_format_component component[4];
    uint32_t element[4]; /* little-endian in memory; 0 behind its bytes */
    uint32_t value[4];   /* registers; of a load, 0 where the format has no component */
};

/* What a load through the buffer format makes of `element`. layout, number: names like "8_8_8_8" and "unorm",
 * with AMD's prefixes or without, in any case; number may be NULL when layout has both ("8_8_8_8_UNORM").
 * WM_NOT_FOUND: the target has no such format. */
WM_API enum wm_status wm_format_load(const char *target, const char *layout, const char *number,
                                     const uint32_t element[4], struct wm_format_answer *answer,
                                     struct wm_diag *diag);
/* What a store of these registers writes: answer->element. */
WM_API enum wm_status wm_format_store(const char *target, const char *layout, const char *number,
                                      const uint32_t value[4], struct wm_format_answer *answer,
                                      struct wm_diag *diag);

/* ---- the addresses of an instruction ---- */

/* A register of 32 bits before the instruction: "s4", "v3", "m0", "vcc_lo", "vcc_hi", "flat_scratch_lo",
 * "flat_scratch_hi". */
struct wm_register {
    const char *name;
    uint32_t value[64]; /* by lane; of scalar registers the first */
};

struct wm_address_request {
    const char *target;                  /* also "gfx1030:wave64" */
    const char *text;                    /* a memory instruction, as LLVM writes it */
    const struct wm_register *registers; /* those that are not given are 0; M0, where it limits LDS, is -1 */
    size_t register_count;
    uint64_t lanes;     /* EXEC; bits above the wave do not count */
    uint32_t lds_bytes; /* of the workgroup; 0: as many as the target has for one */
    unsigned lane;      /* whose address is told step by step */
};

enum { WM_ADDRESS_ELEMENTS = 16, WM_ADDRESS_STEPS = 64 };

/* One place of each lane. */
struct wm_address_element {
    const char *space;                           /* "memory" or "LDS" */
    uint64_t lanes;                              /* that reach this space */
    uint64_t bad_range, bad_align, bad_aperture; /* of `lanes`: what the hardware does not let through */
    uint64_t address[64];                        /* of private memory as it is interleaved */
    bool has_private;
    uint64_t private_offset[64]; /* of private memory: the lane's own byte */
};

struct wm_address_answer {
    char text[160];     /* LLVM's */
    const char *path;   /* "BUFFER", "FLAT", "DS" ... */
    const char *kind;   /* "load", "store" or "atomic" */
    unsigned wave_size; /* 32 or 64 */
    uint64_t lanes;     /* EXEC; 1 for SMEM */
    unsigned bytes;     /* of each element */
    unsigned elements;
    struct wm_address_element element[WM_ADDRESS_ELEMENTS];
    char step[WM_ADDRESS_STEPS][200]; /* how the lane's addresses come about: formulas with their numbers */
    size_t step_count;
};

/* Which addresses the instruction touches, with which verdict, as execution would. No memory is needed: every
 * address counts as allocated. WM_BAD_FILE: the text is no instruction of the target; WM_UNSUPPORTED: it does
 * not access memory, or wavemem does not execute it yet; WM_BAD_ARGUMENT: a register that there is not, or a
 * lane that is not active. */
WM_API enum wm_status wm_address_explain(const struct wm_address_request *request,
                                         struct wm_address_answer *answer, struct wm_diag *diag);

/* ---- tessellation: the off-chip buffer of Mesa's drivers ---- */

/* Where a workgroup's tessellation control shader leaves its outputs for the evaluation shader. Each slot is
 * one vec4, 16 bytes; a slot's values of all vertices of all patches stand together, and so do those of a
 * slot per patch behind them. Source: "radeonsi: Add offchip buffer address calculation" (Mesa, 2016) and
 * what became of it: the layouts of wm_tess_layout_at(). */
struct wm_tess_layout {
    const char *name;
    const char *source;                    /* where the layout is from */
    uint32_t patches, vertices;            /* of the workgroup; that the control shader writes per patch */
    uint32_t attributes, patch_attributes; /* slots per vertex, and per patch */
    uint32_t attribute_stride;             /* bytes from a slot per vertex to the next */
    uint32_t patch_stride;                 /* bytes from a slot per patch to the next */
    uint32_t patch_data;                   /* byte where the slots per patch begin */
    uint32_t size;                         /* bytes */
    uint32_t word;                         /* the layout as the shaders get it, TCS_OFFCHIP_LAYOUT */
};

/* One component of one slot. */
struct wm_tess_place {
    bool per_patch;    /* then vertex does not count */
    uint32_t patch;    /* in its workgroup */
    uint32_t vertex;   /* of the patch */
    uint32_t slot;     /* the attribute: wm_tess_slot() */
    uint32_t indirect; /* is added to the slot: the index into an array of attributes */
    uint32_t byte;     /* within the slot: 4 per component */
};

/* The name of layout number `index` ("radeonsi-2016", ...), or NULL behind the last. */
WM_API const char *wm_tess_layout_at(size_t index);
/* The layout `name` of so much. WM_NOT_FOUND for another name; WM_BAD_ARGUMENT where a number does not fit
 * its field in the word. */
WM_API enum wm_status wm_tess_layout(const char *name, uint32_t patches, uint32_t vertices,
                                     uint32_t attributes, uint32_t patch_attributes,
                                     struct wm_tess_layout *layout, struct wm_diag *diag);
/* The layout that a word describes; how many slots per patch there are stands in none. */
WM_API enum wm_status wm_tess_layout_of_word(const char *name, uint32_t word, uint32_t patch_attributes,
                                             struct wm_tess_layout *layout, struct wm_diag *diag);
/* The byte of the place. WM_BAD_ARGUMENT when the layout has no such patch, vertex or slot. */
WM_API enum wm_status wm_tess_offset(const struct wm_tess_layout *layout, const struct wm_tess_place *place,
                                     uint32_t *offset, struct wm_diag *diag);
/* The place that the byte belongs to. WM_NOT_FOUND between slots that are apart, and behind the end. */
WM_API enum wm_status wm_tess_place(const struct wm_tess_layout *layout, uint32_t offset,
                                    struct wm_tess_place *place, struct wm_diag *diag);
/* The slot of a semantic: "position", "psize", "clipdist", "generic", and per patch "tessouter", "tessinner",
 * "patch", in any case, with TGSI_SEMANTIC_ before it or not. WM_UNSUPPORTED for layouts that number the
 * slots by which ones a shader uses. Source: Mesa 12, si_shader_io_get_unique_index(). */
WM_API enum wm_status wm_tess_slot(const char *name, const char *semantic, uint32_t index, uint32_t *slot,
                                   bool *per_patch, struct wm_diag *diag);

/* Different cache lines that an instruction of one wave touches, here and in the layout before, in which all
 * of a patch stands together. */
struct wm_tess_lines {
    uint32_t store_lanes, load_lanes; /* active ones */
    uint32_t store, store_before; /* the control shader stores a slot per vertex, a lane for each vertex */
    uint32_t load, load_before;   /* the evaluation shader loads a slot of one vertex of each patch */
};
/* For lines of `line_bytes` (a power of two from 16 on), waves of `lanes`, and `points` lanes of the
 * evaluation shader for each patch. Counts for the first wave, which has the most. WM_BAD_ARGUMENT for other
 * numbers, and for layouts without slots per vertex. */
WM_API enum wm_status wm_tess_lines(const struct wm_tess_layout *layout, uint32_t line_bytes, uint32_t lanes,
                                    uint32_t points, struct wm_tess_lines *lines, struct wm_diag *diag);

/* ---- code objects ---- */

struct wm_object; /* a parsed code object; immutable, may be shared */

/* .value_kind of the metadata; source: LLVM AMDGPUUsage, "AMDHSA Code Object Metadata". */
enum wm_argument_kind {
    WM_ARGUMENT_BY_VALUE,
    WM_ARGUMENT_GLOBAL_BUFFER,
    WM_ARGUMENT_DYNAMIC_LDS, /* dynamic_shared_pointer */
    WM_ARGUMENT_IMAGE,
    WM_ARGUMENT_SAMPLER,
    WM_ARGUMENT_PIPE,
    WM_ARGUMENT_QUEUE,
    WM_ARGUMENT_HIDDEN, /* filled by wm_dispatch */
};

struct wm_argument {
    const char *name;       /* "" when neither metadata nor DWARF has one */
    const char *type_name;  /* "float*", or "" */
    const char *value_kind; /* the metadata's own word */
    enum wm_argument_kind kind;
    uint32_t offset, size, alignment; /* bytes in the kernarg segment; pointee alignment for dynamic LDS */
    bool is_const;                    /* the metadata says that the kernel only reads it */
};

struct wm_kernel {
    const char *name;        /* the symbol: mangled, if the source is C++ */
    const char *source_name; /* "math::scale<float, 4>"; cut before what wavemem cannot unmangle */
    const char *target;
    uint64_t descriptor, entry;      /* addresses in the object, before loading */
    uint32_t kernarg_size;           /* bytes, hidden arguments included */
    uint32_t lds_size, scratch_size; /* bytes; static LDS of a workgroup, scratch of a lane */
    uint32_t sgprs, vgprs, agprs, sgpr_spills, vgpr_spills;
    uint32_t wave_size;             /* 32 or 64 */
    uint32_t max_workgroup;         /* work-items */
    uint32_t required_workgroup[3]; /* reqd_work_group_size; 0,0,0 when free */
    bool dynamic_stack;
    const struct wm_argument *arguments;
    size_t argument_count;
};

/* Parses `size` bytes, which are copied; `name` is used in messages. They are
 * - an ELF code object; `target`, if not NULL, only says what it must be for;
 * - something that holds code objects: see wm_bundle_open(). `target` chooses the entry: a processor
 *   ("gfx900"), perhaps with features ("gfx90a:xnack+"), or the number that wm_bundle_entry() has it under.
 * Of a feature that it does not name any setting will do, and an entry that does not name a feature fits
 * every setting; one that names the same features goes before others. NULL: the only code object.
 * WM_NOT_FOUND when there is none, WM_BAD_ARGUMENT when there are several; the message lists them;
 * - anything else, with `target` not NULL: raw instructions of that target.
 * Raw instructions have one kernel, "raw", that starts at their first: s[0:1] holds the address of the
 * arguments, s2, s3, s4 the workgroup's id; v0, v1, v2 hold the work-item's, or where the target packs them
 * v0 alone; it has all registers, no static LDS, no scratch; denormals are kept, waves are 64 lanes wide,
 * from gfx10 on 32. */
WM_API enum wm_status wm_object_open(const void *bytes, size_t size, const char *name, const char *target,
                                     struct wm_object **object, struct wm_diag *diag);
/* The same from a file. */
WM_API enum wm_status wm_object_open_file(const char *path, const char *target, struct wm_object **object,
                                          struct wm_diag *diag);
/* The same for its code alone: metadata is not read, and the object has no kernels, unless it is raw. What
 * wm_object_code(), _symbol(), _next_symbol(), _wave_size() and _line() say is the same. */
WM_API enum wm_status wm_object_open_code(const char *path, const char *target, struct wm_object **object,
                                          struct wm_diag *diag);
WM_API void wm_object_close(struct wm_object *object);

struct wm_bundle; /* what a file holds for several targets; immutable, may be shared */

struct wm_bundle_entry {
    const char *id;       /* "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", "host-x86_64-unknown-linux--" */
    const char *target;   /* "gfx90a:xnack+"; "" when it is for no GPU of AMD's, as the host's entry */
    const uint8_t *bytes; /* valid until wm_bundle_close; for wm_object_open when it has a target */
    size_t size;
    size_t bundle;   /* which bundle of the file, from 0 */
    uint64_t offset; /* from the beginning of that bundle, decompressed */
    bool compressed;
};

/* Finds the entries of clang's offload bundles: a bundle by itself, plain or compressed (header versions 1 to
 * 3, zstd or zlib), or all bundles in the .hip_fatbin sections of an ELF file for the host. WM_NOT_FOUND when
 * the bytes are none of these. Compressed bundles are decompressed at once, to at most 2^30 bytes a file. */
WM_API enum wm_status wm_bundle_open(const void *bytes, size_t size, const char *name,
                                     struct wm_bundle **bundle, struct wm_diag *diag);
WM_API enum wm_status wm_bundle_open_file(const char *path, struct wm_bundle **bundle, struct wm_diag *diag);
WM_API void wm_bundle_close(struct wm_bundle *bundle);
WM_API size_t wm_bundle_entry_count(const struct wm_bundle *bundle);
WM_API const struct wm_bundle_entry *wm_bundle_entry(const struct wm_bundle *bundle, size_t index);
WM_API const char *wm_object_target(const struct wm_object *object); /* "gfx900" */
/* With the features that it was compiled for: "gfx90a:sramecc+:xnack-". */
WM_API const char *wm_object_target_id(const struct wm_object *object);
WM_API unsigned wm_object_version(const struct wm_object *object); /* code object version; 0: raw */
WM_API size_t wm_object_kernel_count(const struct wm_object *object);
WM_API const struct wm_kernel *wm_object_kernel(const struct wm_object *object, size_t index);
/* By its symbol, or by its source name with or without the last template arguments ("math::scale") if no
 * other kernel has that; with NULL the only kernel. */
WM_API enum wm_status wm_object_find_kernel(const struct wm_object *object, const char *name,
                                            const struct wm_kernel **kernel, struct wm_diag *diag);

/* A stretch of instructions, for disassembly. */
struct wm_code {
    uint64_t address;
    const uint8_t *bytes;
    size_t size;
    const char *section; /* ".text"; NULL or "" when it has no name */
};
/* The executable sections in address order; returns how many there are and fills up to `count`. */
WM_API size_t wm_object_code(const struct wm_object *object, struct wm_code *code, size_t count);
/* The symbol (function, or label) that `address` lies in: its name and the distance to it; NULL when none. */
WM_API const char *wm_object_symbol(const struct wm_object *object, uint64_t address, uint64_t *distance);
/* The first address from `address` on at which a symbol of code begins; UINT64_MAX: there is none. */
WM_API uint64_t wm_object_next_symbol(const struct wm_object *object, uint64_t address);
/* Lanes of a wave of the kernel that begins at `address`, by its descriptor; 0: none begins there. */
WM_API unsigned wm_object_wave_size(const struct wm_object *object, uint64_t address);
/* The source line of `address` from DWARF: file and line; false when unknown. */
WM_API bool wm_object_line(const struct wm_object *object, uint64_t address, const char **file,
                           unsigned *line, unsigned *column);

/* ---- the machine: guest memory and dispatches ---- */

/* LIMITS. No kernel reads or writes memory of the host outside the guest's allocations, and these bounds
 * hold: all allocations of a machine        64 GiB; WM_NO_MEMORY arguments of a dispatch             1 MiB;
 * WM_BAD_ARGUMENT workgroup                           1024 work-items, 64 KiB of LDS; WM_BAD_ARGUMENT grid
 * 2^64 workgroups; WM_BAD_ARGUMENT threads                             256; more count as 256 scratch 4 GiB
 * of addresses for the workgroups that are unfinished at the same time, gaps between waves included; fewer
 * threads run if it is short; WM_UNSUPPORTED unfinished workgroups               8192 of a thread, 1 GiB of
 * all (registers, LDS, scratch) instructions of a wave              max_instructions; WM_FAULT_BUDGET time of
 * a dispatch                  timeout, looked at every 2^19 instructions of a thread; WM_FAULT_TIMEOUT
 *   waiting                             when all waves that are left only wait; WM_FAULT_DEADLOCK
 *   predecoded code of a dispatch       2^22 steps, about 700 MB; WM_FAULT_CODE_LIMIT
 * Code may be written by the guest, but what was reached once in a dispatch stays as it was decoded then. LDS
 * and scratch are zero when a workgroup begins. */

struct wm_machine; /* one GPU of one target with its memory; not thread-safe, uses threads of its own */

WM_API enum wm_status wm_machine_create(const char *target, struct wm_machine **machine,
                                        struct wm_diag *diag);
WM_API void wm_machine_destroy(struct wm_machine *machine);

/* Where FLAT finds LDS and private memory in 64-bit addresses: 4 GiB from each base on. A new machine has
 * what drivers of its generation choose. WM_BAD_ARGUMENT unless both are different multiples of 2^32 whose
 * bits 63 to 47 are not all equal; WM_UNSUPPORTED on targets without FLAT. Sources: LLVM AMDGPUUsage,
 * "Address Spaces"; for the defaults isa/targets. */
WM_API enum wm_status wm_set_apertures(struct wm_machine *machine, uint64_t shared_base,
                                       uint64_t private_base, struct wm_diag *diag);

enum { WM_READ_ONLY = 1 }; /* flags of wm_allocate */

/* Reserves `size` bytes of zeroed guest memory, with a guard gap behind it; `name` appears in fault reports.
 * Addresses do not depend on the host: the same calls give the same addresses. */
WM_API enum wm_status wm_allocate(struct wm_machine *machine, uint64_t size, unsigned flags, const char *name,
                                  uint64_t *address, struct wm_diag *diag);
WM_API enum wm_status wm_free(struct wm_machine *machine, uint64_t address, struct wm_diag *diag);
WM_API enum wm_status wm_write(struct wm_machine *machine, uint64_t address, const void *bytes, uint64_t size,
                               struct wm_diag *diag);
WM_API enum wm_status wm_read(const struct wm_machine *machine, uint64_t address, void *bytes, uint64_t size,
                              struct wm_diag *diag);
/* The host bytes of a guest allocation from `address` on, `size` of them, to fill or read in place; NULL if
 * the range is not inside one allocation. Valid until wm_free. */
WM_API void *wm_host_pointer(struct wm_machine *machine, uint64_t address, uint64_t size);

/* Loads an object's segments into guest memory and applies its relocations; idempotent. The object must
 * outlive the machine. Its target must be the machine's. */
WM_API enum wm_status wm_load(struct wm_machine *machine, const struct wm_object *object,
                              struct wm_diag *diag);
/* The guest address of a symbol of a loaded object: a __device__ global, a function. */
WM_API enum wm_status wm_symbol(struct wm_machine *machine, const struct wm_object *object, const char *name,
                                uint64_t *address, uint64_t *size, struct wm_diag *diag);

struct wm_profile;  /* counts what each memory instruction does; see below */
struct wm_check;    /* looks for missing waits and hazards; see below */
struct wm_fidelity; /* counts which instructions were executed, and says how exact they are; see below */

/* SH_MEM_CONFIG.ALIGNMENT_MODE: of DS, FLAT, GLOBAL, SCRATCH and buffer instructions. Scalar memory drops the
 * low bits of addresses anyway, and texels of images lie where they should. Atomics must be naturally aligned
 * in every mode. What a mode refuses is WM_FAULT_MISALIGNED.
 * Source: AMD's register headers in PAL; CDNA 4 ISA, "Memory Alignment". */
enum wm_alignment {
    WM_ALIGNMENT_UNALIGNED,    /* any address; what the Linux driver sets */
    WM_ALIGNMENT_DWORD,        /* the low bits of the address are dropped, 2 at most */
    WM_ALIGNMENT_DWORD_STRICT, /* dwords and what is larger must lie on dwords */
    WM_ALIGNMENT_STRICT,       /* and 16 bits on two bytes */
};

/* What scalar loads and stores (SMRD, SMEM) see of the scalar data cache, which on hardware nothing keeps
 * coherent with memory. The model: src/exec/smem_cache.h. */
enum wm_scalar_cache {
    WM_SCALAR_CACHE_COHERENT, /* nothing: loads see memory, stores reach it at once */
    WM_SCALAR_CACHE_CHECKED,  /* the same, but what hardware may do otherwise is found */
    WM_SCALAR_CACHE_STALE,    /* loads see lines as they were fetched, stores stay there until S_DCACHE_WB */
};

enum wm_stale_kind {
    WM_STALE_LOAD,  /* a scalar load of a line that memory has changed since: S_DCACHE_INV is missing */
    WM_STALE_STORE, /* a scalar store that nothing wrote back: S_DCACHE_WB is missing */
    /* a FLAT or GLOBAL load of what a scalar store of the workgroup has not written back yet */
    WM_STALE_VECTOR_LOAD,
};

/* An instruction that relies on the scalar cache to be coherent. */
struct wm_stale {
    enum wm_stale_kind kind;
    uint64_t pc, count;    /* guest address; executions of it, for stores lines that were lost */
    uint32_t workgroup[3]; /* the first one, */
    uint32_t wave;         /* its wave, */
    uint64_t address;      /* and where it loaded or stored */
    const char *text;      /* the whole report, several lines */
};

struct wm_dispatch {
    size_t struct_size;        /* sizeof(struct wm_dispatch) */
    uint32_t grid[3];          /* work-items; 0 counts as 1 */
    uint32_t workgroup[3];     /* work-items; 0 counts as 1 */
    const void *arguments;     /* the explicit arguments as they lie in the kernarg segment */
    uint64_t arguments_size;   /* bytes; the rest, hidden arguments included, is filled by wavemem */
    uint32_t dynamic_lds;      /* bytes behind the static LDS */
    uint32_t threads;          /* host threads; 0: one per CPU */
    uint64_t max_instructions; /* per wave; 0: 2^40 */
    double timeout;            /* seconds of wall-clock time; 0: none */
    enum wm_alignment alignment;
    struct wm_profile *profile;   /* observes the dispatch, or NULL */
    struct wm_check *check;       /* so does this, or NULL */
    struct wm_fidelity *fidelity; /* or NULL */
    /* Called now and then, on the thread that called wm_dispatch; false stops the run. Or NULL. A kernel that
     * waits for what it might write into guest memory counts as a deadlock. */
    bool (*progress)(void *user, uint64_t workgroups_done, uint64_t workgroups);
    void *progress_user;
    /* Called after the run, also after a fault, with pieces of what the kernel printed by OpenCL's printf, in
     * the order in which its lanes reserved their places; not terminated. NULL: printf does nothing. A
     * dispatch prints at most 4 MiB of arguments, after that a line says that later output is missing. */
    void (*print)(void *user, const char *text, size_t length);
    void *print_user;
    enum wm_scalar_cache scalar_cache;
    /* Called after the run for each instruction that WM_SCALAR_CACHE_CHECKED or _STALE found, by address. */
    void (*stale)(void *user, const struct wm_stale *stale);
    void *stale_user;
    /* What a memory access does that may not be: WM_VIOLATION_STOPS ends the dispatch with a fault;
     * WM_VIOLATION_GOES_ON goes on as the hardware does where nobody handles its trap: the lanes that may not
     * load 0 and store nothing, TRAPSTS.MEM_VIOL is set (not for addresses outside every allocation, which
     * are page faults), and the result has the first one. For FLAT, GLOBAL and SCRATCH; others stop.
     */
    unsigned on_violation;
};

enum { WM_VIOLATION_STOPS, WM_VIOLATION_GOES_ON }; /* on_violation of wm_dispatch */

enum wm_fault_kind {
    WM_FAULT_NONE,
    WM_FAULT_MEMORY,      /* outside every allocation */
    WM_FAULT_READ_ONLY,   /* a store or atomic to read-only memory */
    WM_FAULT_MISALIGNED,  /* an atomic that is not naturally aligned, or what the alignment mode refuses */
    WM_FAULT_INSTRUCTION, /* the words are no instruction of the target, or the pc left the code */
    WM_FAULT_TODO,        /* an instruction that wavemem does not execute yet */
    WM_FAULT_TRAP,        /* s_trap */
    WM_FAULT_BUDGET,      /* max_instructions reached */
    WM_FAULT_TIMEOUT,
    WM_FAULT_DEADLOCK,   /* all waves that are left wait: at a barrier, or in a loop that nothing can end any
                            more */
    WM_FAULT_STOPPED,    /* progress() said so */
    WM_FAULT_CODE_LIMIT, /* more different code was reached than wavemem predecodes: see LIMITS above */
    WM_FAULT_NO_MEMORY,  /* the host had no memory to predecode more code */
    WM_FAULT_APERTURE,   /* no address: bits 63 to 47 differ, and FLAT finds it in no aperture */
    WM_FAULT_PRIVATE_ATOMIC, /* an atomic of 8 bytes on private memory */
    WM_FAULT_RESOURCE,       /* an image that wavemem does not access: tiled, multisampled */
    WM_FAULT_OFFSET,         /* a negative offset of s_buffer_load, gfx11 and later */
};

/* Why a dispatch ended early. The fault of the lowest workgroup and wave, whatever the number of threads. */
struct wm_fault {
    enum wm_fault_kind kind;
    uint64_t pc; /* guest address of the instruction */
    uint32_t workgroup[3];
    uint32_t wave;      /* in its workgroup */
    uint64_t lanes;     /* that faulted */
    uint64_t low, high; /* first and last byte that they touch */
    uint32_t bytes;     /* per lane */
    bool store;
    char text[1024]; /* the whole report, several lines; the command puts "error: " before it */
};

struct wm_result {
    size_t struct_size; /* sizeof(struct wm_result), set by the caller */
    struct wm_fault fault;
    uint64_t violations;        /* with WM_VIOLATION_GOES_ON: memory instructions of waves that did it, */
    struct wm_fault violation;  /* and the first of the lowest workgroup and wave */
    double seconds;             /* wall-clock time of the dispatch alone */
    uint64_t wave_instructions; /* executed, waits and nops included */
    uint64_t waves, workgroups;
};

/* Runs a kernel of a loaded object to its end. WM_OK also when the guest faulted: look at result->fault.kind.
 */
WM_API enum wm_status wm_dispatch(struct wm_machine *machine, const struct wm_object *object,
                                  const struct wm_kernel *kernel, const struct wm_dispatch *dispatch,
                                  struct wm_result *result, struct wm_diag *diag);

/* ---- products ---- */

enum wm_cache_level {
    WM_CACHE_VECTOR, /* of a compute unit: L1, from gfx10 on L0 */
    WM_CACHE_GL1,    /* of a shader array, gfx10 and gfx11 */
    WM_CACHE_SCALAR, /* of scalar data */
    WM_CACHE_INSTRUCTION,
    WM_CACHE_L2,   /* of an XCD */
    WM_CACHE_LAST, /* behind all L2: Infinity Cache */
    WM_CACHE_LEVELS
};

struct wm_cache {
    uint64_t bytes; /* of one such cache; 0: the product has none */
    uint32_t line;  /* bytes */
    uint32_t ways;
    uint32_t channels;    /* 0: not known, or there is one */
    uint32_t sharing;     /* compute units that have one together; 0: all of an XCD, of the last level all */
    uint32_t clock_bytes; /* that it, or each channel, gives in a clock; 0: not known */
};

/* A GPU one can buy. Figures of 0 are not known. */
struct wm_gpu {
    const char *name;    /* "mi210" */
    const char *title;   /* "AMD Instinct MI210" */
    const char *targets; /* "gfx90a"; behind its own those that it stands for, which have no product here */
    uint32_t xcds;       /* that workgroups are dealt to; 1 where the GPU is one piece */
    uint32_t engines;    /* shader engines of an XCD */
    uint32_t compute_units;  /* of all XCDs */
    uint32_t simds;          /* of a compute unit */
    uint32_t waves;          /* that a SIMD holds at most */
    uint32_t issue;          /* instructions that a compute unit starts in a clock, at most */
    uint32_t vgprs;          /* of a SIMD, in rows of vgpr_lanes */
    uint32_t vgpr_lanes;     /* 64, from gfx10 on 32 */
    uint32_t vgpr_granule;   /* that a wave's VGPRs are allocated in, in such rows */
    uint32_t sgprs;          /* of a SIMD; 0: they limit nothing */
    uint32_t lds_bytes;      /* that workgroups of a compute unit (RDNA: of a WGP) share */
    uint32_t lds_sharing;    /* compute units that share them */
    uint32_t clock_mhz;      /* the highest */
    double memory_bandwidth; /* GB/s */
    struct wm_cache cache[WM_CACHE_LEVELS];
    const char *assumed; /* what of it is not documented, in words; NULL: nothing */
    const char
        *unverified; /* what of it is generally known, but was not found in AMD's documents; NULL: nothing */
};

/* The products that wavemem knows, by target; the first of a target is its default. */
WM_API const struct wm_gpu *wm_gpus(size_t *count);
/* By name ("mi210"), in any case; WM_NOT_FOUND with all names in the message. */
WM_API enum wm_status wm_gpu_find(const char *name, const struct wm_gpu **gpu, struct wm_diag *diag);
/* What a target runs on unless told; NULL: no product is known. */
WM_API const struct wm_gpu *wm_gpu_default(const char *target);

/* ---- profile ---- */

enum { WM_PROFILE_LINES = 64 };

/* One execution as it was: the first of the first workgroup's first wave that reached memory. */
struct wm_profile_wave {
    uint32_t workgroup[3], wave;
    bool in_lds;          /* the addresses are LDS offsets */
    uint32_t bytes;       /* of each lane, at the first of the instruction's places */
    uint64_t lanes;       /* those that reached memory */
    uint64_t address[64]; /* theirs */
};

/* What became of requests at one cache. A request is what one instruction of a wave asks of one line. */
struct wm_cache_use {
    uint64_t requests, hits;
    uint64_t bytes; /* that were moved between the cache and what asked it */
};

/* One memory instruction over all dispatches that the profile observed. */
struct wm_profile_row {
    const char *kernel;      /* symbol that it lies in */
    const char *text;        /* LLVM's text */
    const char *path;        /* "GLOBAL", "FLAT", "SCRATCH", "BUFFER", "SMEM", "DS" */
    const char *operation;   /* "load", "store", "atomic" */
    const char *file;        /* source file, or NULL */
    unsigned line, column;   /* 0 when unknown */
    uint64_t pc, offset;     /* guest address; bytes from the symbol */
    uint64_t executions;     /* by waves */
    uint64_t lanes;          /* active lanes, summed */
    uint32_t bytes;          /* per lane */
    uint64_t bytes_asked;    /* lanes x bytes */
    uint64_t distinct_bytes; /* different bytes, per execution, summed */
    uint64_t lines;          /* distinct lines touched, per execution, summed; 0 for DS */
    uint32_t line_bytes;     /* of the lines: of the generation's vector cache, 64 or 128 */
    uint64_t ideal_lines;    /* max(1, ceil(distinct bytes / line_bytes)) per execution with lanes, summed */
    bool has_lines;          /* false for DS: lines mean nothing there */

    /* The vector memory path, for all but SMEM, DS and GDS. Sums; requests are those of an empty vector
     * cache. */
    bool has_vector;
    uint64_t fast;            /* executions that went through the address unit a group of lanes in a clock */
    uint64_t address_clocks;  /* of the address unit */
    uint64_t tag_lookups;     /* in the vector cache */
    uint64_t read_requests;   /* to L2, of 64 bytes; of 128 on gfx942 and from gfx10 on */
    uint64_t write_requests;  /* of 64 bytes; of 128 from gfx10 on */
    uint64_t atomic_requests; /* atomics to one address stay apart */
    uint64_t collapsed;       /* stores to an address that a lower lane of the wave stores to as well */
    bool has_tcp_counters;    /* the generation has counters TCP_TOTAL_ACCESSES and the like */

    /* LDS: DS instructions, and FLAT ones that reach it. Sums but for the last three. */
    bool has_lds;
    uint64_t lds_passes;    /* over the banks */
    uint64_t lds_conflicts; /* passes that a bank conflict cost */
    uint64_t lds_serial;    /* lanes that went one by one because of a misaligned one */
    uint32_t lds_depth;     /* the most dwords of one bank that were wanted at once: 1 is no conflict */
    uint32_t lds_bank;      /* the bank */
    uint64_t lds_lanes;     /* the lanes that wanted them */

    /* What the product's caches make of it; see docs/model.md. False: no product is known for the target. */
    bool has_caches;
    uint64_t data_clocks; /* that returning the data to VGPRs, or fetching them, takes */
    struct wm_cache_use cache[WM_CACHE_LEVELS]; /* requests that this instruction made, at each level */
    uint64_t memory_read, memory_written; /* bytes from and to DRAM; written: when lines leave the caches */
    uint64_t wait_depth;                  /* memory instructions of the wave still on their way, when it
                                             was issued, itself included; summed over the executions */
    uint32_t wait_depth_most;             /* and the most */
    const char *limit;  /* what takes the most time of it, as a bound's name; NULL: nothing of note */
    bool has_share;     /* false: it is not known, or what binds is the fetching of code, which is no row's */
    double share;       /* of what the part that binds the kernel has to do, from 0 to 1 */
    const char *advice; /* a sentence with figures; NULL: there is little to gain */
    double gain; /* with an advice: the most that it can save of one part, over the time of the part that
                    binds */

    const uint64_t *lines_histogram;    /* [n]: executions that touched n lines; the last: or more */
    const struct wm_profile_wave *wave; /* NULL: no lane of any execution reached memory */
};

enum { WM_PROFILE_BOUNDS = 8 };

/* The names of the parts of a GPU that can bind a kernel: of a bound, of a row's limit. */
WM_API const char *const *wm_bound_names(size_t *count);

/* The least time that one part of the GPU needs for the whole work. */
struct wm_bound {
    const char *name; /* of wm_bound_names() */
    double clocks;    /* of the product's highest clock */
    double seconds;
    const char *arithmetic; /* "1048576 B / (64 B/clock x 104)" */
};

/* One cache of the product over a kernel's dispatches, all its instances together. */
struct wm_profile_cache {
    const char *name; /* "vector L1", "L0", "GL1", "scalar", "instruction", "L2", "Infinity Cache" */
    enum wm_cache_level level;
    uint32_t instances;
    struct wm_cache_use read, write, atomic;
};

/* Why caches did not see all that workgroups ask for, or not as many workgroups at once as fit. */
enum wm_profile_cut {
    WM_CUT_ROUND = 1,     /* more workgroups at once would take more than 128 MiB of log */
    WM_CUT_WORKGROUP = 2, /* one takes more than 1 GiB of log: caches did not see what follows */
    WM_CUT_REGIONS = 4,   /* more than 62 regions of 4 GiB are touched: the others count as the first */
    WM_CUT_NO_MEMORY = 8, /* there was no memory for a part of the log */
};

/* A kernel over all dispatches that the profile observed. Without a product (gpu NULL) only its counts. */
struct wm_profile_kernel {
    const char *kernel;
    uint64_t pc; /* where it begins */
    uint64_t dispatches, workgroups, waves;
    uint64_t instructions; /* executed by waves */
    const struct wm_gpu *gpu;

    /* Occupancy: what fits at once onto a compute unit, in WGP mode onto a WGP, which is two of them. */
    uint32_t workgroup_items, vgprs, sgprs, lds_bytes; /* of a workgroup, a wave, a wave, a workgroup */
    uint32_t waves_per_simd, waves_per_simd_most;
    uint32_t workgroups_per_cu; /* in WGP mode of a WGP */
    const char *mode; /* "CU" or "WGP": what the waves of a workgroup share; NULL: there are no modes */
    const char *occupancy_limit; /* "VGPRs", "SGPRs", "LDS", "waves", "workgroups" */

    /* What waves fetched of their code, in aligned pieces of fetch_bytes; what became of it at each cache and
     * in memory is part of the kernel's figures, but of no row's. */
    uint64_t fetches;
    uint32_t fetch_bytes;
    uint32_t code_bytes; /* of the last dispatch's code, as far as branches lead */
    struct wm_cache_use fetch_use[WM_CACHE_LEVELS];
    uint64_t fetch_memory_read; /* bytes */
    uint64_t fetch_missed;      /* lines that the instruction caches had not, */
    uint64_t fetch_late; /* and those that they had asked for just before, behind one that was wanted */

    struct wm_profile_cache cache[WM_CACHE_LEVELS];
    uint32_t caches;                      /* how many of them there are */
    uint64_t vector_invalidations;        /* of vector caches, by waves: buffer_gl0_inv and its kin */
    uint64_t memory_read, memory_written; /* bytes from and to DRAM */
    uint64_t memory_dirty;                /* bytes that the last dispatch left written in the caches */
    /* With wm_profile_set_sample(): all counts, and those of the rows, are of `workgroups` out of so many;
     * the bounds are of all. Else 0. */
    uint64_t sampled_from;
    double sample_scale; /* how many times as much as was counted all of them ask for; 1 without a sample */
    double sample_error; /* of what instructions ask for when it is scaled up: half the width of the interval
                            that holds the truth in 95 of 100 cases, if rounds were drawn at random, as a
                            share; below 0: there are too few to tell. It is not that of hits and of memory:
                            caches were shown the sample alone */
    uint64_t resident_workgroups; /* most that the caches were modelled with at once */
    bool resident_cut;            /* caches did not see all as they should: */
    unsigned cuts;                /* enum wm_profile_cut, of all dispatches */

    struct wm_bound bound[WM_PROFILE_BOUNDS];
    uint32_t bounds;
    const struct wm_bound *binds; /* the longest; a lower bound of the kernel's time, no prediction */
    const char *advice;           /* a sentence where code is what binds; else NULL: the rows have it */
};

/* One struct wm_profile_kernel per kernel, by address; valid until the next dispatch or wm_profile_destroy.
 */
WM_API const struct wm_profile_kernel *wm_profile_kernels(struct wm_profile *profile, size_t *count);

WM_API enum wm_status wm_profile_create(struct wm_profile **profile, struct wm_diag *diag);
/* The product whose caches are modelled, which is copied; so it may be a wm_gpu_find() one with another size
 * of L2. Without this it is the default of the first dispatch's target. WM_BAD_ARGUMENT: after the first
 * dispatch, or sizes that make no cache. A dispatch whose target is of another
 * generation than gpu->targets is refused; so is the replay of a trace of one. */
WM_API enum wm_status wm_profile_set_gpu(struct wm_profile *profile, const struct wm_gpu *gpu,
                                         struct wm_diag *diag);
/* Observes only one in so many rounds of workgroups, those that are resident at once; all are executed. 1:
 * all. WM_BAD_ARGUMENT: 0, or after the first dispatch. */
WM_API enum wm_status wm_profile_set_sample(struct wm_profile *profile, unsigned one_in,
                                            struct wm_diag *diag);
/* Writes what the profile observes into a file from now on: docs/trace.md has the format. The file
 * appears when wm_profile_end_trace() says that it is whole; until then there is NAME.PID.part beside it.
 * WM_BAD_ARGUMENT: after the first dispatch. */
WM_API enum wm_status wm_profile_trace(struct wm_profile *profile, const char *path, struct wm_diag *diag);
/* Completes that file; WM_IO, WM_NO_MEMORY: it could not be, and there is none. Without a trace, or before
 * the first dispatch, nothing is written; wm_profile_destroy() without this leaves no file either. */
WM_API enum wm_status wm_profile_end_trace(struct wm_profile *profile, struct wm_diag *diag);
/* Makes a new profile tell what the `size` bytes of a trace hold; `name` stands in messages. The product is
 * that of wm_profile_set_gpu(), else the one that the trace was made with; one of another generation is
 * refused with WM_BAD_ARGUMENT. With the same product all figures are those of the profile that wrote the
 * trace. WM_BAD_FILE: it is no trace, cut off or damaged; WM_UNSUPPORTED: of another version. */
WM_API enum wm_status wm_profile_replay(struct wm_profile *profile, const void *bytes, size_t size,
                                        const char *name, struct wm_diag *diag);
/* The product that a trace was made with. Errors as above; WM_NOT_FOUND: it is not known here. */
WM_API enum wm_status wm_trace_gpu(const void *bytes, size_t size, const char *name,
                                   const struct wm_gpu **gpu, struct wm_diag *diag);
WM_API void wm_profile_destroy(struct wm_profile *profile);

/* A dispatch that the profile observed. */
struct wm_profile_dispatch {
    const char *kernel, *target;    /* "gfx900" */
    uint32_t grid[3], workgroup[3]; /* work-items */
};

/* The code of a symbol that rows lie in, up to the next symbol. */
struct wm_profile_code {
    const char *kernel;   /* the symbol */
    const char *target;   /* "gfx1030" */
    unsigned wave_lanes;  /* 32 or 64: of the first dispatch that came here */
    uint64_t pc;          /* guest address of the first byte */
    const uint8_t *bytes; /* of each instruction at its offset */
    size_t size;
};

/* In their order, those of a replayed trace as well. Valid until the next dispatch or wm_profile_destroy. */
WM_API const struct wm_profile_dispatch *wm_profile_dispatches(struct wm_profile *profile, size_t *count);
WM_API const struct wm_profile_code *wm_profile_code(struct wm_profile *profile, size_t *count);
/* Gives the profile, and the trace that it writes, the text of a source file that rows name; a name's first
 * text stays. WM_NO_MEMORY: none, or more than 64 MiB of code and sources in all. */
WM_API enum wm_status wm_profile_add_source(struct wm_profile *profile, const char *name, const char *text,
                                            struct wm_diag *diag);
/* A text that was given, or was in the replayed trace; NULL: there is none. */
WM_API const char *wm_profile_source(struct wm_profile *profile, const char *name);

/* The rows, in order of their address; valid until the next dispatch or wm_profile_destroy. */
WM_API const struct wm_profile_row *wm_profile_rows(struct wm_profile *profile, size_t *count);

/* ---- checks ---- */

/* What a check looks for: registers that are used before the wait counters say that their data is there, and
 * instructions that must be further apart on the target (AMD's "manually inserted wait states" and what LLVM
 * keeps apart). Both by what the documents guarantee, not by how long things take. Values are always right.
 */
enum wm_check_what { WM_CHECK_WAITS = 1, WM_CHECK_HAZARDS = 2 };

/* One instruction and rule over all dispatches that were checked. */
struct wm_finding {
    const char
        *rule; /* "read-before-wait", "write-before-wait", "store-data-before-wait", or a hazard's name */
    const char *message;   /* a sentence: what, after which instruction, and what is missing */
    const char *source;    /* the document that asks for it, or NULL */
    const char *kernel;    /* symbol that the instruction lies in */
    const char *text;      /* LLVM's text of it */
    const char *file;      /* source file, or NULL */
    unsigned line, column; /* 0 when unknown */
    uint64_t pc, offset;   /* guest address; bytes from the symbol */
    uint64_t first_pc;     /* of the instruction that it goes back to */
    uint64_t count;        /* executions by waves */
};

WM_API enum wm_status wm_check_create(unsigned what, struct wm_check **check, struct wm_diag *diag);
WM_API void wm_check_destroy(struct wm_check *check);
/* What was found, in order of addresses; valid until the next dispatch or wm_check_destroy. */
WM_API const struct wm_finding *wm_check_findings(struct wm_check *check, size_t *count);

/* ---- fidelity ---- */

enum wm_grade {
    WM_GRADE_EXACT,      /* does what its source says, bit by bit */
    WM_GRADE_APPROX,     /* the hardware's last bits are known to nobody: the remark gives the bounds */
    WM_GRADE_UNVERIFIED, /* no document or measurement decides what the remark says */
};

/* One kind of instruction over all dispatches that counted it. */
struct wm_fidelity_row {
    const char *name; /* of the row in isa/, without _e32 and the like */
    enum wm_grade grade;
    const char *remark;  /* bound and source, or what is unverified; "" when exact */
    uint64_t executions; /* by waves, also with no lane active */
};

WM_API enum wm_status wm_fidelity_create(struct wm_fidelity **fidelity, struct wm_diag *diag);
WM_API void wm_fidelity_destroy(struct wm_fidelity *fidelity);
/* The rows that were executed: what is unverified, then what is approximate, then the rest, each by
 * executions. An instruction whose grade depends on a modifier has a row for each. Valid until the next
 * dispatch or wm_fidelity_destroy. */
WM_API const struct wm_fidelity_row *wm_fidelity_rows(struct wm_fidelity *fidelity, size_t *count);
/* What is unverified of many instructions alike, ended by NULL. */
WM_API const char *const *wm_fidelity_general(void);

#ifdef __cplusplus
}
#endif

#endif
