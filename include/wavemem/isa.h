/* SPDX-License-Identifier: MIT */
/* Targets, instructions and the instruction set: assembling, decoding, disassembling, explaining. */
#ifndef WAVEMEM_ISA_H
#define WAVEMEM_ISA_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

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
/* The product that a matrix instruction computes: `blocks` products, each D += A * B of an m x k and a k x n
 * matrix. Elements: "f32", "f64", "f16", "bf16", "xf32", "i32", "i8", "iu8" and "iu4" (with or without sign,
 * as the instruction says), "fp8", "bf8". sparse: of each four elements of A along k only two are there.
 * False: the row is no matrix instruction. */
struct wm_isa_matrix {
    unsigned m, n, k, blocks;
    const char *d, *a, *b;
    bool sparse;
};
WM_API bool wm_isa_matrix(size_t row, struct wm_isa_matrix *out);
/* What documents, LLVM and wavemem say differently of the row: the nth remark, or NULL. */
WM_API const char *wm_isa_erratum(size_t row, size_t n);
/* Writes the counters that it raises on the target until its work is done, in words ("vmcnt and lgkmcnt"),
 * cut to `size` bytes. False: it raises none. */
enum { WM_ISA_WAIT = 128 }; /* bytes that always suffice */
WM_API bool wm_isa_wait(size_t row, const char *target, char *text, size_t size);

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

#ifdef __cplusplus
}
#endif

#endif
