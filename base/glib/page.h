/* Makes the HTML pages that commands write: a template from the build, with data put into it.
 * Belongs to the library recline-base-glib. */
#ifndef RECLINE_PAGE_H
#define RECLINE_PAGE_H

#include <glib.h>
#include <json-glib/json-glib.h>
#include <stdbool.h>

/* Returns the folder of this build or installation, which holds bin/. The caller frees it. */
char *page_tree(void);

/* Returns the template `name`, a path below the folder of page_tree(), or NULL if there is no such
 * file. The caller frees it. */
char *page_load(const char *name);

/* Returns `page` with `content` in the element that begins with `<script ... id="ID">`, in place of
 * what the element contained. The page must have that element. Frees `page`; the caller frees the
 * result. */
char *page_put(char *page, const char *id, const char *content);

/* Returns the bytes, deflated and in base64, as a text that page_put() can put into an element. The
 * caller frees it. */
char *page_pack(const void *bytes, gsize size);

/* Returns what was built as JSON text in which nothing looks like a tag of HTML. The caller frees
 * it. */
char *page_json(JsonBuilder *builder);

/* Writes the file, whole or not at all. Returns false and sets `error` if that fails. */
bool page_write(const char *file, const char *page, GError **error);

#endif
