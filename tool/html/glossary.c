/* SPDX-License-Identifier: MIT */
/* The glossary of the page of `prof --html`; the figures' meanings are in tool/report/figures.c. */
#include "tool/html/parts.h"

static const struct {
    const char *term, *meaning;
} terms[] = {
    {"wave, wavefront", "32 or 64 work-items (lanes) that execute one instruction together"},
    {"request",
     "one memory instruction executed by one wave. Figures \u201c/req\u201d are averages per request, "
     "all others totals over all requests"},
    {"line", "the unit of a cache: 64 or 128 bytes. A request costs at least one clock per distinct line"},
    {"ideal lines", "the lines that a request would need if its distinct bytes were contiguous"},
    {"efficiency",
     "ideal lines divided by lines. Below 100 %, lines are fetched of which lanes use only a part"},
    {"address unit",
     "computes and groups the addresses of a wave (TA): 4 clocks for a wave of 64 lanes on the fast path, "
     "16 otherwise; from gfx10 on 1 and 8 for 32 lanes"},
    {"bank conflict",
     "lanes access distinct dwords of one LDS bank at the same time, which takes a pass each"},
    {"bound",
     "the minimum time in which the busiest part of the GPU can do the kernel\u2019s work. The kernel "
     "takes longer: no latency is modelled"},
    {"% of bound", "the instruction\u2019s part of the work of the part that binds"},
    {"share of peak",
     "how busy a part would be if the kernel ran as fast as its bound: the part that binds has "
     "100 %"},
    {"occupancy",
     "waves that a SIMD holds at once. More waves hide more latency; they do not lower the bound"},
    {"instruction intensity", "wave instructions executed per byte that a level of memory moves"},
    {"hit rate", "requests of lines that the cache had. Misses go to the next level"},
    {"dirty bytes", "modified bytes still in a cache at the end of the last dispatch"},
};

void html_glossary(FILE *file)
{
    fputs("<details class=\"glossary\"><summary>Glossary</summary>\n<dl>\n", file);
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        fprintf(file, "<dt>%s</dt><dd>%s.</dd>\n", terms[i].term, terms[i].meaning);
    fputs("</dl></details>\n", file);
}
