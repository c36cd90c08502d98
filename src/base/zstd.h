/* SPDX-License-Identifier: MIT */
/* zstd, or in a build without it (-Dzstd=disabled) what makes its callers compile. They ask WMI_HAS_ZSTD
 * before the first call and refuse with WMI_NO_ZSTD. */
#ifndef WMI_ZSTD_H
#define WMI_ZSTD_H

#define WMI_NO_ZSTD "this wavemem was built without zstd (-Dzstd=disabled)"

#ifndef WMI_WITHOUT_ZSTD
#include <zstd.h>

enum { WMI_HAS_ZSTD = 1 };
#else
#include <stddef.h>
#include <stdint.h>

enum { WMI_HAS_ZSTD = 0 };

typedef struct ZSTD_CCtx ZSTD_CCtx;
typedef struct ZSTD_DCtx ZSTD_DCtx;
typedef struct {
    const void *src;
    size_t size, pos;
} ZSTD_inBuffer;
typedef struct {
    void *dst;
    size_t size, pos;
} ZSTD_outBuffer;
typedef enum { ZSTD_e_continue, ZSTD_e_end } ZSTD_EndDirective;
enum { ZSTD_c_compressionLevel, ZSTD_c_checksumFlag };

/* Never reached; each reports an error. */
#define ZSTD_createCCtx()                                 NULL
#define ZSTD_createDCtx()                                 NULL
#define ZSTD_freeCCtx(context)                            ((void)(context))
#define ZSTD_freeDCtx(context)                            ((void)(context))
#define ZSTD_CCtx_setParameter(context, parameter, value) ((void)(context))
#define ZSTD_compressStream2(context, out, in, end)       ((void)(out), (void)(in), (void)(end), (size_t)-1)
#define ZSTD_decompressStream(context, out, in)           ((void)(out), (void)(in), (size_t)-1)
#define ZSTD_compressBound(size)                          (size)
#define ZSTD_compress2(context, to, room, from, size)     ((void)(from), (size_t)-1)
#define ZSTD_getFrameContentSize(from, size)              ((void)(from), (void)(size), (uint64_t)-1)
#define ZSTD_decompress(to, room, from, size)             ((void)(from), (void)(size), (size_t)-1)
#define ZSTD_findFrameCompressedSize(from, size)          ((size_t)-1)
#define ZSTD_isError(code)                                ((code) == (size_t)-1)
#define ZSTD_getErrorName(code)                           WMI_NO_ZSTD
#endif

#endif
