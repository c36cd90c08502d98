/* SPDX-License-Identifier: MIT */
/* The Model Context Protocol: verbs of the command as tools for agents.
 *
 * A call of a tool is a list of commands, which run as processes under limits (process.c). Nothing of a
 * client's input is interpreted in the server itself but JSON.
 *
 * Source: Model Context Protocol, revision 2025-11-25, modelcontextprotocol.io/specification. */
#ifndef WAVEMEM_TOOL_MCP_H
#define WAVEMEM_TOOL_MCP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mcp_settings {
    const char *root;           /* absolute, without links: nothing else of the user's is read */
    char *folder;               /* of all temporary files */
    const char *const *allowed; /* more folders that compilers may read, up to a NULL */
    double seconds;             /* of a call */
    uint64_t memory;            /* address space of a process, bytes; 0: not limited */
    size_t output;              /* bytes of an answer */
    bool unconfined;            /* the kernel does not confine processes to the folders */
};

/* Serves one client on standard input and output. Returns an enum tool_exit. */
int mcp_serve(const struct mcp_settings *settings);

/* ---- messages.c: JSON-RPC 2.0, one message per line ---- */

enum { MCP_LINE = 16 << 20 }; /* bytes of the longest message that is read */

struct mcp_lines {
    char *bytes; /* of a line whose end has not come */
    size_t size, room;
    bool skipping; /* the rest of a line that is too long */
};

enum mcp_error {
    MCP_PARSE = -32700,
    MCP_INVALID = -32600,
    MCP_NO_METHOD = -32601,
    MCP_BAD_PARAMETERS = -32602,
};

/* Reads what is there, and calls take() for each line, which is NULL if it was too long. False: the end of
 * the input. */
bool mcp_read(struct mcp_lines *lines, int file, void (*take)(void *user, char *line, size_t size),
              void *user);
void mcp_free_lines(struct mcp_lines *lines);
/* Sends the message, which is taken; false: nobody reads. */
bool mcp_send(int file, json_t *message);
json_t *mcp_result(const json_t *id, json_t *result);
/* id NULL: of a message that has none that can be read. */
json_t *mcp_refusal(const json_t *id, enum mcp_error code, const char *message);
json_t *mcp_notification(const char *method, json_t *parameters);

/* ---- process.c ---- */

struct mcp_process {
    pid_t pid; /* 0: none */
    int alive; /* readable when the process and those that it started have ended */
};

/* Whether the kernel can confine processes to folders (Landlock, Linux 5.13). */
bool mcp_can_confine(void);
/* Runs `wavemem WORDS...` in the root, with `out` and `err` as its outputs. False: it cannot be started. */
bool mcp_start(struct mcp_process *process, const struct mcp_settings *settings, char *const *words,
               const char *out, const char *err);
/* Ends it if it still runs; returns its status, as of waitpid(). */
int mcp_end(struct mcp_process *process);
/* Removes the folder and what is in it. */
void mcp_remove_folder(const char *path);

/* ---- tools.c: what the tools are ---- */

enum { MCP_STEPS = 3 };

/* A command of a call: the words after "wavemem". */
struct mcp_step {
    char **words; /* up to a NULL */
    size_t count, room;
    bool report; /* standard output is the report, not text for the reader */
};

struct mcp_tool;
struct mcp_call {
    json_t *id, *token; /* token: of progress; or NULL */
    const struct mcp_tool *tool;
    json_t *arguments;
    struct mcp_step step[MCP_STEPS];
    unsigned steps;
    char *folder; /* of its files */
    struct mcp_call *next;
};

/* The tools with their schemas, for tools/list. */
json_t *mcp_list_tools(void);
const struct mcp_tool *mcp_find_tool(const char *name);
const char *mcp_tool_name(const struct mcp_tool *tool);
/* Checks the arguments, writes the sources to the call's folder and makes its steps. False: see `why`. */
bool mcp_plan(struct mcp_call *call, const struct mcp_settings *settings, char why[512]);
void mcp_free_call(struct mcp_call *call);

/* ---- answer.c: what a call returns ---- */

/* The result of a call of which `steps` steps ran. code: the worst of their exit codes. signal: what ended
 * the last one; or 0. why: why it was stopped; or NULL. */
json_t *mcp_answer(const struct mcp_call *call, const struct mcp_settings *settings, unsigned steps, int code,
                   int signal, const char *why);
/* A result with a message only. */
json_t *mcp_failure(const char *message);
/* "FOLDER/KIND.STEP", a file of the call; the caller frees it. */
char *mcp_path(const struct mcp_call *call, const char *kind, unsigned step);

#endif
