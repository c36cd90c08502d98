/* SPDX-License-Identifier: MIT */
/* Runs instruction tests: run FILE.test... README.md describes the format. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, got;
    FILE *out = file ? open_memstream(&text, &size) : NULL;
    char part[4096];
    while (out && (got = fread(part, 1, sizeof part, file)))
        fwrite(part, 1, got, out);
    if (out)
        fclose(out);
    if (file)
        fclose(file);
    return text;
}

int main(int count, char **paths)
{
    struct report report = {.out = stderr};
    struct tally tally = {0};
    if (count < 2) {
        fprintf(stderr, "usage: %s FILE.test...\n", paths[0]);
        return 2;
    }
    for (int i = 1; i < count; i++) {
        struct test_file file;
        char *text = read_whole(paths[i]);
        if (!text) {
            fprintf(stderr, "%s: cannot be read\n", paths[i]);
            return 2;
        }
        if (parse_test_file(&file, paths[i], text, &report))
            check_file(&file, &report, &tally);
        free_test_file(&file);
    }
    printf("%u cases, %u runs, %u values compared, %u messages\n", tally.cases, tally.runs, tally.values,
           report.messages);
    return report.messages != 0;
}
