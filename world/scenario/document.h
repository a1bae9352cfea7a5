/* Keeps a YAML document with the place of each value, so that messages name lines. `--set` changes
 * a value before the value is checked.
 *
 *     file --read--> document --set--> document --keys_check()--> keys_read()
 */
#ifndef RECLINE_DOCUMENT_H
#define RECLINE_DOCUMENT_H

#include <glib.h>
#include <stdarg.h>
#include <stdbool.h>
#include <yaml.h>

struct document {
  char *file; /* name of the file in messages, or NULL for a document without a file */
  yaml_document_t yaml;
  /* largest number of a node from the file; higher numbers come from document_set() */
  int from_file;
  GHashTable *lines; /* dotted path -> struct document_place; filled by keys_check() */
};

/* Tells the place of a value. */
struct document_place {
  int line;      /* number of the line, from 1 */
  int text_line; /* line on which the text of the value begins, which for `|` is the next line */
  int node;      /* number of the value's node, valid while the document lives */
  bool set;      /* document_set() has made the value; `line` is the line of the replaced value */
};

/* Reads the one YAML document of `file`, and replaces aliases by copies. The caller ends with
 * document_clear(). Returns false with SCENARIO_ERROR, one line. */
bool document_read(struct document *, const char *file, GError **error);
void document_clear(struct document *);

/* Begins a document that has no file and no keys; document_set() adds them. The caller ends with
 * document_clear(). */
void document_begin(struct document *);

/* Applies "dotted.path=value"; the value is read as YAML. Missing mappings and lists on the path
 * are made; an index one past the end of a list appends to the list. */
bool document_set(struct document *, const char *assignment, GError **error);

/* Puts an empty list in place of the plain text "none" at top-level `key`. */
void document_none(struct document *, const char *key);

/* Returns a copy of the text at top-level `key`, which the caller frees, or NULL if there is
 * none. */
char *document_value(struct document *, const char *key);

/* Returns the document as YAML text, and frees the document. */
GString *document_text(yaml_document_t *);

/* Returns the place of `path`, or of the nearest key above it, in the `lines` of a document, or
 * NULL if the document is empty. */
const struct document_place *document_find(GHashTable *lines, const char *path);

/* Sets `error` to `file:line: path: ` and the formatted text. */
void document_error(GError **error, const char *file, GHashTable *lines, const char *path,
                    const char *format, va_list values) G_GNUC_PRINTF(5, 0);

/* Returns `text` in double quotes, on one line and cut if it is long. The caller frees it. */
char *document_quote(const char *text);

/* Returns whether `text` can be the name of a thing, a file and a test: 1 to 100 ASCII letters,
 * digits, `.`, `_`, `-` and `~`; the first is a letter or a digit. */
bool document_is_name(const char *text);

/* Returns "a, b or c" for a list of items that ends with NULL. The caller frees it. */
char *document_alternatives(const char *const *items);

#endif
