/* Reads facts for scenarios from a SimGrid platform file: its hosts and settings. */
#ifndef RECLINE_PLATFORM_FILE_H
#define RECLINE_PLATFORM_FILE_H

#include <glib.h>
#include <stdbool.h>

/* Returns the text of platform `file`, for the functions below, or NULL with `error` set. The
 * caller frees the text. */
char *platform_read(const char *file, GError **error);

/* A platform whose nodes are on several interconnects has a zone for each interconnect, with the
 * property `interconnect`. Each zone has a host for every node, in the same order: to SimGrid, a
 * node is a different host on each interconnect.
 *
 * Returns the ids of the hosts on `interconnect` and of the hosts on no interconnect, in the order
 * of the file, with <cluster>s written out. The list ends with NULL, and the caller frees it with
 * g_strfreev(). If `interconnect` is NULL, the first interconnect in the file is meant, if there is
 * any. Returns NULL with `error` set to one line that says what is wrong with the file, or which
 * interconnects it has. */
char **platform_hosts(const char *text, const char *interconnect, GError **error);

/* Returns for each of `hosts` the id of the innermost zone that holds it; <cluster>s are zones,
 * too. The list ends with NULL, and the caller frees it with g_strfreev(). platform_hosts() must
 * have read the text before. */
char **platform_zones(const char *text, const char *interconnect, char *const *hosts);

/* PLATFORM_ERROR is the domain of two errors: the requested interconnect does not exist, or a host
 * or link would go off by itself. In the second case the text begins with the line in the file and
 * ": ". Other errors of the file are G_MARKUP_ERROR and G_FILE_ERROR. */
#define PLATFORM_ERROR platform_error_quark()
enum { PLATFORM_ERROR_INTERCONNECT, PLATFORM_ERROR_STATE };
GQuark platform_error_quark(void);

/* Returns the value of the last <prop id="`name`"> in the <config> of a platform, or NULL if there
 * is none. The caller frees it. */
char *platform_setting(const char *text, const char *name);

/* Returns whether `host` is for services (dispatcher, file server) and not for ranks, that is,
 * whether it is called "service-…". */
bool platform_is_service(const char *host);

/* Returns the absolute path of platform `name`: `name` itself if it is absolute, else in
 * `directory`, else in the folders that the environment variable RECLINE_PLATFORMS lists (separated
 * by colons). Returns NULL if no folder has it. The caller frees the path. */
char *platform_find(const char *name, const char *directory);

/* Returns the shortest name by which platform_find() finds `path` from any directory: relative to a
 * folder of RECLINE_PLATFORMS, or `path` itself. The returned name points into `path`. */
const char *platform_name(const char *path);

#endif
