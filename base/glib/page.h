/* Pages that commands write: a template of the build, with data put into it. In the library
 * recline-base-glib. */
#ifndef RECLINE_PAGE_H
#define RECLINE_PAGE_H

#include <glib.h>
#include <json-glib/json-glib.h>
#include <stdbool.h>

/* The folder of this build or installation: bin/ is in it. The caller frees it. */
char *page_tree(void);

/* The template `name`, a path below that folder, for the caller to free; NULL: there is none. */
char *page_load(const char *name);

/* `page` with `content` in the element that begins with `<script ... id="ID">`, which is there and
 * is empty or holds something else; frees `page`. The caller frees the result. */
char *page_put(char *page, const char *id, const char *content);

/* Bytes for such an element: deflated, in base64. The caller frees it. */
char *page_pack(const void *bytes, gsize size);

/* Returns what was built as JSON, nothing in which looks like a tag. The caller frees it. */
char *page_json(JsonBuilder *builder);

/* Writes the file, whole or not at all; false, and `error` says why. */
bool page_write(const char *file, const char *page, GError **error);

#endif
