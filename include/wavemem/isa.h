/* SPDX-License-Identifier: MIT */
/* Targets and instructions: assembler, decoder, disassembler, description of the instruction set. */
#ifndef WAVEMEM_ISA_H
#define WAVEMEM_ISA_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- targets and instructions ---- */

/* Whether wavemem decodes the target `name` ("gfx900", "gfx90a:xnack+"). From gfx10 on, "gfx1030:wave64" is
 * the target with waves of 64 lanes, in which lane masks and matrix operands have other sizes. From gfx11 on,
 * "gfx1100:real-true16" names halves of VGPRs (v1.l, v1.h), as LLVM's mode real-true16 does.
 * "gfx1200:llvm22" reads and writes text as LLVM 22 does where that differs from LLVM 19's: marked literals,
 * lit(0x1), modes of ds_swizzle_b32, hardware registers of gfx12, dot products without op_sel_hi. Targets
 * that LLVM 19 does not know (gfx950, gfx1153, gfx1250) have LLVM 22's text in any case. */
WM_API bool wm_target_known(const char *name);
/* The generic target whose code objects the target executes, too, such as "gfx11-generic" for "gfx1100";
 * NULL: none. */
WM_API const char *wm_target_generic(const char *name);

/* Assembles `size` bytes of text in LLVM's syntax for `target`. `name` is the file name in messages. Sets
 * *bytes to a code object of *bytes_size bytes, or with WM_ASSEMBLE_RAW to the contents of section .text; the
 * caller frees it with free(). WM_BAD_FILE: the text has errors. *messages, also freed by the caller,
 * contains up to 20 errors in the form "name:line:column: error: ...", each followed by the source line and a
 * caret. With WM_OK it contains the warnings, or is "". Thread-safe. */
enum {
    WM_ASSEMBLE_RAW = 1,
    WM_ASSEMBLE_FILES = 2, /* allow .include and .incbin: files next to `name`, then in `folders` */
    WM_ASSEMBLE_LINES = 4, /* generate line tables for the text itself, unless it has .file and .loc */
};
WM_API enum wm_status wm_assemble(const char *text, size_t size, const char *name, const char *target,
                                  unsigned flags, uint8_t **bytes, size_t *bytes_size, char **messages,
                                  struct wm_diag *diag);
/* wm_assemble() with all options. */
struct wm_assemble_options {
    size_t struct_size; /* sizeof(struct wm_assemble_options) */
    unsigned flags;     /* WM_ASSEMBLE_* */
    const char *const *folders;
    size_t folder_count;
    const char *const *symbols; /* "NAME=NUMBER": defined before the text is read, as by .set */
    size_t symbol_count;
};
WM_API enum wm_status wm_assemble_with(const struct wm_assemble_options *options, const char *text,
                                       size_t size, const char *name, const char *target, uint8_t **bytes,
                                       size_t *bytes_size, char **messages, struct wm_diag *diag);

/* Returns the target `name` (see wm_target_known()) for wm_decode(): immutable, shared by all threads, never
 * freed. NULL: no such target. */
struct wm_target;
WM_API const struct wm_target *wm_target(const char *name);

enum wm_operand_kind {
    WM_OPERAND_NONE,      /* absent in this instruction: the result of an atomic without return */
    WM_OPERAND_SGPR,      /* SGPRs reg to reg + dwords - 1; 0 to 105 */
    WM_OPERAND_VGPR,      /* 0 to 255, or 1023 by wm_decode_in(); for NSA image addresses see
                             wm_instruction.address */
    WM_OPERAND_AGPR,      /* 0 to 255 */
    WM_OPERAND_TTMP,      /* 0 to 15 */
    WM_OPERAND_SPECIAL,   /* `name`: "vcc", "exec_lo", "m0", "null", "src_shared_base" */
    WM_OPERAND_CONSTANT,  /* inline constant; value: its bits in the operand's type (1.0 as f16:
                             0x3c00) */
    WM_OPERAND_LITERAL,   /* value: likewise (for a 64-bit float, the literal is the high dword) */
    WM_OPERAND_IMMEDIATE, /* value: the field, sign-extended if signed */
    WM_OPERAND_LABEL,     /* value: branch distance, signed dwords from the end of the instruction */
    WM_OPERAND_OFF,       /* "off": an optional address or base register that is absent */
};

struct wm_operand {
    enum wm_operand_kind kind;
    const char
        *role; /* "d", "sdst": results; "a", "b", "c": sources; "addr", "data", "saddr", "soffset", ... */
    const char *type;    /* type per lane: "f32", "v2f16", "b128" */
    const char *name;    /* name of a special register; else NULL */
    uint16_t bits;       /* of the type; image and buffer data may be larger, see `dwords` */
    uint16_t reg;        /* first register */
    uint8_t dwords;      /* number of registers */
    char half;           /* 'l' or 'h' for a 16-bit operand in half of a VGPR; else 0 */
    bool read, written;  /* both: the addend of v_fmac, the data of a returning atomic */
    bool implied;        /* not encoded: VCC of v_addc_co_u32_e32 */
    bool neg, abs, sext; /* source modifiers */
    uint64_t value;
};

/* A field of the encoding other than an operand: "offset", "glc", "clamp", "dpp_ctrl", "dmask", "op_sel".
 * Signed fields are sign-extended. `wavemem isa` shows the names. */
struct wm_modifier {
    const char *name;
    int32_t value;
};

enum {
    WM_INSTRUCTION_LOAD = 1 << 0, /* memory access; see `elements` and `bytes` */
    WM_INSTRUCTION_STORE = 1 << 1,
    WM_INSTRUCTION_ATOMIC = 1 << 2,
    WM_INSTRUCTION_MEMORY_CONTROL = 1 << 3, /* cache control, clocks, counters: no data */
    WM_INSTRUCTION_FORMAT = 1 << 4,         /* memory: converts with a format */
    WM_INSTRUCTION_D16 = 1 << 5,            /* memory: 16-bit data in half of a VGPR */
    WM_INSTRUCTION_BRANCH = 1 << 6,         /* has an operand WM_OPERAND_LABEL */
    WM_INSTRUCTION_ENDS = 1 << 7,           /* ends the wave: s_endpgm */
    WM_INSTRUCTION_MASKED = 1 << 8,         /* executes only for lanes set in EXEC */
    WM_INSTRUCTION_CROSS_LANE = 1 << 9,     /* reads or writes registers of other lanes */
    WM_INSTRUCTION_READS_SCC = 1 << 10,     /* READS_ and WRITES_: implicitly, apart from operands */
    WM_INSTRUCTION_WRITES_SCC = 1 << 11,
    WM_INSTRUCTION_READS_VCC = 1 << 12,
    WM_INSTRUCTION_WRITES_VCC = 1 << 13,
    WM_INSTRUCTION_READS_EXEC = 1 << 14, /* as a value, not as the lane mask */
    WM_INSTRUCTION_WRITES_EXEC = 1 << 15,
    WM_INSTRUCTION_READS_M0 = 1 << 16,
};

enum {
    WM_INSTRUCTION_DWORDS = 5,
    WM_INSTRUCTION_OPERANDS = 12,
    WM_INSTRUCTION_MODIFIERS = 16,
    WM_ADDRESS_DWORDS = 16
};

/* One decoded instruction. All strings are static. */
struct wm_instruction {
    const struct wm_target *target;
    uint32_t words[WM_INSTRUCTION_DWORDS];
    unsigned dwords;      /* length, including literals and NSA address dwords */
    const char *name;     /* LLVM's mnemonic: "v_add_f32_e32" */
    const char *encoding; /* "vop2", "vop3_dpp8", "global", as in `wavemem isa` */
    const char
        *kind;  /* "scalar", "vector", "SMEM", "buffer", "image", "FLAT", "GLOBAL", "SCRATCH", "DS", ... */
    size_t row; /* for wm_isa_row(); independent of name and encoding */
    uint32_t flags; /* WM_INSTRUCTION_* */
    unsigned elements,
        bytes; /* memory: elements per lane (read2: 2, x4: 4; images: maximum), bytes of each */
    unsigned operand_count, modifier_count;
    struct wm_operand operand[WM_INSTRUCTION_OPERANDS]; /* in assembly order, including implied ones */
    struct wm_modifier
        modifier[WM_INSTRUCTION_MODIFIERS]; /* all fields of the encoding, whatever their value */
    /* The VGPR of each address dword of an image instruction, if they are encoded separately (NSA, gfx12);
     * else address_count is 0. */
    unsigned address_count;
    uint8_t address[WM_ADDRESS_DWORDS];
    /* The second instruction of a VOPD pair, or NULL; its operands start at second_operand. */
    const char *second_name;
    size_t second_row;
    unsigned second_operand;
    unsigned state; /* in which it was decoded, see wm_decode_in() */
};

/* Decodes the instruction at `words`; at most `dwords` dwords are read. Returns its length in dwords, or 0 if
 * it is invalid or truncated; *out is then empty. Does not allocate memory and has no state; thread-safe. */
WM_API unsigned wm_decode(const struct wm_target *target, const uint32_t *words, size_t dwords,
                          struct wm_instruction *out);
/* The same where earlier instructions have set something that the meaning of this one depends on (see
 * wm_object_state(), wm_stopped.state): the VGPRs of its operands have their whole numbers, up to v1023. */
WM_API unsigned wm_decode_in(const struct wm_target *target, const uint32_t *words, size_t dwords,
                             unsigned state, struct wm_instruction *out);
/* Prints a decoded instruction in LLVM's syntax, NUL-terminated and truncated to `size` bytes. Only its
 * target, words and state are used. Returns the full length without the NUL, as snprintf() does, or 0 if the
 * words are not an instruction. Does not allocate memory; thread-safe. */
WM_API size_t wm_print(const struct wm_instruction *instruction, char *text, size_t size);

/* Disassembles the instruction at `words` for `target`; at most `dwords` dwords are read. Writes LLVM's
 * syntax to `text`, NUL-terminated and truncated to `size` bytes. Returns the length of the instruction in
 * dwords, or 0 if it is invalid.
 */
WM_API unsigned wm_disassemble(const char *target, const uint32_t *words, size_t dwords, char *text,
                               size_t size);

/* A disassembler for long code, faster than wm_disassemble(): it looks up the target once and caches the text
 * of repeated words. Behind s_set_vgpr_msb, up to the end of the block, it shows the whole numbers of VGPRs
 * in comments, as LLVM 22. Not thread-safe; use one per thread. */
struct wm_disassembler;
enum {
    /* Print .long for instructions that LLVM's assembler would not reassemble to the same words: literals
     * equal to inline constants, ignored bits that are set, encodings without a distinct syntax. */
    WM_DISASSEMBLE_REASSEMBLABLE = 1,
};
/* Creates a disassembler for `target`; flags: WM_DISASSEMBLE_*. Fails for an unknown target or if out of
 * memory. */
WM_API enum wm_status wm_disassembler_create(const char *target, unsigned flags,
                                             struct wm_disassembler **disassembler, struct wm_diag *diag);
WM_API void wm_disassembler_destroy(struct wm_disassembler *disassembler); /* NULL is allowed */

/* One instruction, or one dword of data. */
struct wm_disassembled {
    const char
        *text; /* `length` bytes and a NUL, valid until the next call; at least 64 bytes are readable */
    uint32_t length;
    uint8_t dwords;
    bool data;      /* not an instruction: ".long 0x...", one dword */
    bool branch;    /* a branch with an encoded distance: */
    int32_t target; /* dwords from the end of the instruction */
};
/* What earlier instructions have set, and the texts of later ones depend on: the last s_set_vgpr_msb of
 * gfx1250. It is 0 where a symbol begins, which the caller tells the disassembler. */
WM_API unsigned wm_disassembler_state(const struct wm_disassembler *disassembler);
WM_API void wm_disassembler_begin(struct wm_disassembler *disassembler, unsigned state);
/* Disassembles the instruction at `words`; at most `dwords` dwords (at least 1) are read. */
WM_API struct wm_disassembled wm_disassembler_next(struct wm_disassembler *disassembler,
                                                   const uint32_t *words, size_t dwords);

/* A request for listing lines as llvm-objdump -d writes them: a tab, the text, and from column 60 on two
 * slashes, the address and the words. */
struct wm_lines {
    const void *code;
    size_t size;      /* readable bytes of code */
    size_t end;       /* instructions that start at this offset or later are not listed */
    uint64_t address; /* of the first byte of code */
    char *text;       /* output, without a NUL */
    size_t room;      /* size of `text`, at least WM_LINE_ROOM bytes */
    bool plain;       /* print only the instruction text, for branches too */
};
enum { WM_LINE_ROOM = 2048 }; /* no line is started with less space left */
/* Lists instructions until the end of the code, until `text` is full or, unless plain, until a branch, whose
 * target the caller prints by name. Returns the number of bytes of code listed and sets *length to the length
 * of the text. */
WM_API size_t wm_disassembler_lines(struct wm_disassembler *disassembler, const struct wm_lines *lines,
                                    size_t *length);

/* ---- description of the instruction set ---- */

/* Returns the name of target `index` ("gfx600", ...), or NULL after the last one. */
WM_API const char *wm_target_at(size_t index);

/* An instruction, independent of its name and encoding on each target. Rows are numbered from 0. */
struct wm_isa_row {
    const char *name;           /* its first name */
    const char *kind;           /* "scalar", "vector", "buffer", ... */
    const char *formula;        /* what it computes, one line; or NULL */
    const char *grade;          /* "exact", "approx", "unverified", or "todo": decoded but not executed yet */
    const char *remark;         /* if approximate or unverified: bound or reason; or NULL */
    const char *remark_field;   /* the grade applies only with this modifier; or NULL */
    char reads[64], writes[64]; /* implicitly: "SCC, VCC" */
};
WM_API size_t wm_isa_row_count(void);
WM_API bool wm_isa_row(size_t row, struct wm_isa_row *out);
/* The matrix product that a matrix instruction computes: `blocks` products D += A * B, each of an m x k and a
 * k x n matrix. Elements: "f32", "f64", "f16", "bf16", "xf32", "i32", "i8", "iu8" and "iu4" (signed or
 * unsigned, as the instruction selects), "fp8", "bf8", "fp4", "f8f6f4" (as its modifiers select). sparse: of
 * each four elements of A along k only two are stored. False: the row is not a matrix instruction. */
struct wm_isa_matrix {
    unsigned m, n, k, blocks;
    const char *d, *a, *b;
    bool sparse;
};
WM_API bool wm_isa_matrix(size_t row, struct wm_isa_matrix *out);
/* The product of a decoded instruction: as wm_isa_matrix(), but instead of "f8f6f4", a and b are the formats
 * that the modifiers select: "fp8", "bf8", "fp6", "bf6" or "fp4"; a format that does not exist is "fp8". */
WM_API bool wm_isa_product(const struct wm_instruction *instruction, struct wm_isa_matrix *out);
/* Sets *value to the number that the low bits of `code` mean as an element of this type; "iu8" and "iu4" are
 * unsigned. The target decides between OCP's fp8 and bf8, and FNUZ's. False: there is no such target or
 * type. */
WM_API bool wm_isa_element(const char *target, const char *type, uint64_t code, double *value);
/* Where the elements of its matrices are in the registers of a wave. A has m lines and k columns, B k and n,
 * C and D m and n; a sparse A has the k / 2 columns that are stored. */
enum wm_matrix { WM_MATRIX_A, WM_MATRIX_B, WM_MATRIX_C, WM_MATRIX_D };
/* False: the target has no such instruction. target: "gfx942", "gfx1100:wave64". format: of f8f6f4, which
 * places depend on: "fp8", "bf8", "fp6", "bf6" or "fp4"; not used by other rows, and may be NULL. */
WM_API bool wm_isa_matrix_extent(const char *target, size_t row, enum wm_matrix matrix, const char *format,
                                 unsigned *lines, unsigned *columns);
/* Bits `bit` to `bit + bits - 1`, counted from bit 0 of dword `dword` of the operand, in this lane. They may
 * reach into the next dword. On gfx11, further groups of 16 lanes repeat the lanes 0 to 15 of A and B. */
struct wm_matrix_place {
    unsigned lane, dword, bit, bits;
};
/* Source: AMD's matrix instruction calculator; of gfx950 and gfx12.5, CDNA 4 and 5 ISA. False: as above, or
 * there is no such block or element. */
WM_API bool wm_isa_matrix_place(const char *target, size_t row, enum wm_matrix matrix, const char *format,
                                unsigned block, unsigned line, unsigned column, struct wm_matrix_place *out);
/* Returns remark `n` about differences between AMD's documents, LLVM and wavemem for this row, or NULL. */
WM_API const char *wm_isa_erratum(size_t row, size_t n);
/* Writes the wait counters that the instruction increments on the target until it completes, in words ("vmcnt
 * and lgkmcnt"), cut to `size` bytes. False: it increments none. */
enum { WM_ISA_WAIT = 128 }; /* a size that always suffices */
WM_API bool wm_isa_wait(size_t row, const char *target, char *text, size_t size);

/* One encoding of a row on a target. */
enum { WM_ISA_BITS = 48, WM_ISA_OPERANDS = 12 };
struct wm_isa_bits { /* a field within one dword; position is counted from bit 0 of the first dword */
    const char *name;
    uint32_t value;
    uint8_t position, width;
    bool fixed; /* part of the encoding, not a parameter */
};
struct wm_isa_operand {
    const char *role, *type;
    uint16_t bits; /* of the type; image and buffer data may be larger */
    bool read, written, implied, optional;
    char text[32]; /* in this instruction (wm_isa_decode): "v[2:5]" */
};
struct wm_isa_form {
    const char *target, *name, *encoding;
    size_t row;
    unsigned opcode, dwords, length; /* length: of this instruction, with literals */
    unsigned bits_count, operand_count;
    struct wm_isa_bits bits[WM_ISA_BITS]; /* ordered by position */
    struct wm_isa_operand operands[WM_ISA_OPERANDS];
};
/* Calls `visit` for each encoding of each row on the target until it returns false. Returns the number of
 * calls. */
typedef bool (*wm_isa_visit)(void *user, const struct wm_isa_form *form);
WM_API size_t wm_isa_forms(const char *target, wm_isa_visit visit, void *user);
/* Describes the encoding of the instruction at `words` with the values of its fields. Returns its length in
 * dwords, or 0 if it is invalid. */
WM_API unsigned wm_isa_decode(const char *target, const uint32_t *words, size_t dwords,
                              struct wm_isa_form *out);

#ifdef __cplusplus
}
#endif

#endif
