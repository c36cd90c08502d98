/* SPDX-License-Identifier: MIT */
/* Output files: either complete, or not written, so that an existing file is kept. */
#include "tool/output.h"

#include "tool/tool.h"

#include <string.h>

static int fail(const char *option, const char *path, int error)
{
    return tool_fail("%s %s: cannot be written: %s", option, path, strerror(error));
}

int tool_check_file(const char *option, const char *path)
{
    const int error = wmi_whole_file_possible(path);
    return error ? fail(option, path, error) : TOOL_CLEAN;
}

bool tool_begin_file(struct tool_file *file, const char *option, const char *path)
{
    *file = (struct tool_file){.option = option, .path = path};
    const int error = wmi_whole_file_begin(&file->whole, path);
    if (error)
        fail(option, path, error);
    return !error;
}

int tool_end_file(struct tool_file *file)
{
    const int error = wmi_whole_file_end(&file->whole);
    return error ? fail(file->option, file->path, error) : TOOL_CLEAN;
}

void tool_drop_file(struct tool_file *file)
{
    wmi_whole_file_drop(&file->whole);
}

int tool_write_object(const char *path, const uint8_t *bytes, size_t size)
{
    struct tool_file file;
    if (strcmp(path, "-") == 0) {
        fwrite(bytes, 1, size, stdout);
        return TOOL_CLEAN;
    }
    if (!tool_begin_file(&file, "-o", path))
        return TOOL_WRONG;
    fwrite(bytes, 1, size, file.whole.stream);
    return tool_end_file(&file);
}
