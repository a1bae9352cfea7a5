#include "world/scenario/document.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world/scenario/document_inside.h"
#include "world/scenario/scenario.h"

/* Sets limits that no scenario reaches, but a file of nested aliases may. */
enum { DEPTH_MAX = 16, NODES_MAX = 100000, BYTES_MAX = 1 << 20 };

/* ---- nodes ---- */

/* Ends the process if libyaml could not add a node, which happens only if there is no memory. GLib
 * ends the process in that case, too. */
static int added(int node)
{
  if (!node)
    g_error("out of memory");
  return node;
}

int document_scalar(yaml_document_t *yaml, const char *text, yaml_scalar_style_t style)
{
  return added(yaml_document_add_scalar(yaml, NULL, (const yaml_char_t *)text, -1, style));
}

int document_collection(yaml_document_t *yaml, bool sequence, bool flow)
{
  if (sequence)
    return added(yaml_document_add_sequence(
        yaml, NULL, flow ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE));
  return added(yaml_document_add_mapping(
      yaml, NULL, flow ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE));
}

void document_append_item(yaml_document_t *yaml, int sequence, int item)
{
  added(yaml_document_append_sequence_item(yaml, sequence, item));
}

void document_append_pair(yaml_document_t *yaml, int mapping, int key, int value)
{
  added(yaml_document_append_mapping_pair(yaml, mapping, key, value));
}

/* Copies node `from` of `source`, with all nodes below it, to the end of `yaml`. `line` (from 0)
 * replaces the source's lines, unless it is negative. Returns the new node, or 0 if the nesting is
 * too deep. */
static int copy(yaml_document_t *yaml, yaml_document_t *source, int from, int line, int depth)
{
  yaml_node_t *node = yaml_document_get_node(source, from);
  if (depth > DEPTH_MAX || yaml->nodes.top - yaml->nodes.start > NODES_MAX)
    return 0;
  int to = node->type == YAML_SCALAR_NODE
               ? document_scalar(yaml, text_of(node), node->data.scalar.style)
               : document_collection(yaml, node->type == YAML_SEQUENCE_NODE, false);
  yaml_node_t *new = yaml_document_get_node(yaml, to);
  new->start_mark = node->start_mark;
  if (line >= 0)
    new->start_mark.line = (size_t)line;
  /* Adding a node can move the nodes of both documents, so only numbers of nodes stay valid across
   * the calls below. */
  if (node->type == YAML_SEQUENCE_NODE)
    for (unsigned i = 0, n = items_of(node); i < n; i++) {
      int item = yaml_document_get_node(source, from)->data.sequence.items.start[i];
      item = copy(yaml, source, item, line, depth + 1);
      if (!item)
        return 0;
      document_append_item(yaml, to, item);
    }
  if (node->type == YAML_MAPPING_NODE)
    for (unsigned i = 0, n = pairs_of(node); i < n; i++) {
      yaml_node_pair_t pair = yaml_document_get_node(source, from)->data.mapping.pairs.start[i];
      pair.key = copy(yaml, source, pair.key, line, depth + 1);
      pair.value = pair.key ? copy(yaml, source, pair.value, line, depth + 1) : 0;
      if (!pair.value)
        return 0;
      document_append_pair(yaml, to, pair.key, pair.value);
    }
  return to;
}

void document_empty(yaml_document_t *yaml)
{
  added(yaml_document_initialize(yaml, NULL, NULL, NULL, 1, 1));
}

/* ---- reading ---- */

/* Returns the line at which the parser stopped. For bad characters, the parser tells the offset
 * only. */
static int problem_line(const yaml_parser_t *parser, const char *text)
{
  if (parser->error != YAML_READER_ERROR)
    return (int)parser->problem_mark.line + 1;
  int line = 1;
  for (size_t i = 0; i < parser->problem_offset && text[i]; i++)
    line += text[i] == '\n';
  return line;
}

/* Returns why the text is refused, with its line (from 1), or NULL. As libyaml's time grows with
 * the square of the depth, this function first reads the file as events. It refuses a file that is
 * deeper than a scenario can be, or that has a NUL in a text. */
static const char *refuses(const char *text, size_t length, int *line)
{
  yaml_parser_t parser;
  yaml_event_t event;
  unsigned depth = 0;
  const char *wrong = NULL;
  bool more = true;
  if (!yaml_parser_initialize(&parser))
    return NULL;
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
  while (more && !wrong && yaml_parser_parse(&parser, &event)) {
    more = event.type != YAML_STREAM_END_EVENT;
    if (event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT)
      wrong = ++depth > DEPTH_MAX ? "nested too deep" : NULL;
    if (event.type == YAML_SCALAR_EVENT &&
        strlen((const char *)event.data.scalar.value) != event.data.scalar.length)
      wrong = "a text with a NUL byte (\\0)";
    *line = (int)event.start_mark.line + 1;
    if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT)
      depth--;
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  return wrong;
}

/* Loads the only document of `text` into `yaml`. On an error returns false with the line and a
 * message, which ends with `hope` and which the caller frees; `yaml` is then empty. */
static bool load(const char *text, size_t length, const char *hope, yaml_document_t *yaml,
                 int *line, char **message)
{
  yaml_parser_t parser;
  yaml_document_t second;
  const char *wrong = refuses(text, length, line);
  if (wrong) {
    *message = g_strdup_printf("%s, expected %s", wrong, hope);
    return false;
  }
  added(yaml_parser_initialize(&parser));
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
  bool good = yaml_parser_load(&parser, yaml);
  bool alone = good && yaml_parser_load(&parser, &second);
  added(parser.error != YAML_MEMORY_ERROR);
  *line = 1;
  if (!good || !alone) {
    *line = problem_line(&parser, text);
    *message = g_strdup_printf("not YAML (%s), expected %s", parser.problem, hope);
  } else if (yaml_document_get_root_node(&second)) {
    *line = line_of(yaml_document_get_root_node(&second));
    *message = g_strdup_printf("a second document, expected %s", hope);
    good = false;
  }
  if (alone)
    yaml_document_delete(&second);
  if (!(good && alone) && yaml->nodes.start)
    yaml_document_delete(yaml);
  yaml_parser_delete(&parser);
  return good && alone;
}

/* Reads a file, but at most BYTES_MAX, because it may be a device or a pipe that never ends. */
static char *read_text(const char *file, size_t *length, GError **error)
{
  FILE *from = g_file_test(file, G_FILE_TEST_IS_DIR) ? NULL : fopen(file, "r");
  int problem = from ? 0 : g_file_test(file, G_FILE_TEST_IS_DIR) ? EISDIR : errno;
  g_autofree char *text = from ? g_malloc(BYTES_MAX + 2) : NULL;
  if (from) {
    *length = fread(text, 1, BYTES_MAX + 1, from);
    problem = ferror(from) ? errno : *length > BYTES_MAX ? EFBIG : 0;
    fclose(from);
  }
  if (problem) {
    g_set_error(error, SCENARIO_ERROR, 0, "%s: %s, expected a scenario file%s", file,
                g_strerror(problem), problem == EFBIG ? " of at most 1 MiB" : "");
    return NULL;
  }
  text[*length] = '\0';
  return g_steal_pointer(&text);
}

/* Completes a document that has all its nodes from the file. */
static void begin(struct document *document, const char *file)
{
  document->file = g_strdup(file);
  document->from_file = (int)(document->yaml.nodes.top - document->yaml.nodes.start);
  document->lines = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

void document_begin(struct document *document)
{
  document_empty(&document->yaml);
  document_collection(&document->yaml, false, false);
  begin(document, NULL);
}

bool document_read(struct document *document, const char *file, GError **error)
{
  g_autofree char *text = NULL, *message = NULL;
  size_t length = 0;
  yaml_document_t source = {0};
  int line = 1, root = 1;

  text = read_text(file, &length, error);
  if (!text)
    return false;
  if (!load(text, length, "one scenario", &source, &line, &message)) {
    document_fail(error, file, line, false, "", message);
    return false;
  }
  document_empty(&document->yaml);
  if (yaml_document_get_root_node(&source))
    root = copy(&document->yaml, &source, 1, -1, 0);
  else
    document_collection(&document->yaml, false, false);
  yaml_document_delete(&source);
  if (!root) {
    document_fail(error, file, 1, false, "", "nested too deep, expected a scenario");
    yaml_document_delete(&document->yaml);
    return false;
  }
  begin(document, file);
  return true;
}

void document_clear(struct document *document)
{
  yaml_document_delete(&document->yaml);
  g_hash_table_unref(document->lines);
  g_free(document->file);
}

/* Returns the pair of top-level `key` if its value is a text, otherwise NULL. */
static yaml_node_pair_t *text_pair(yaml_document_t *yaml, const char *key)
{
  yaml_node_t *root = yaml_document_get_root_node(yaml);
  yaml_node_pair_t *pair = root->type == YAML_MAPPING_NODE ? pair_named(yaml, root, key) : NULL;
  bool text = pair && yaml_document_get_node(yaml, pair->value)->type == YAML_SCALAR_NODE;
  return text ? pair : NULL;
}

char *document_value(struct document *document, const char *key)
{
  yaml_node_pair_t *pair = text_pair(&document->yaml, key);
  return pair ? g_strdup(text_of(yaml_document_get_node(&document->yaml, pair->value))) : NULL;
}

void document_none(struct document *document, const char *key)
{
  yaml_document_t *yaml = &document->yaml;
  yaml_node_pair_t *pair = text_pair(yaml, key);
  yaml_node_t *value = pair ? yaml_document_get_node(yaml, pair->value) : NULL;
  if (!value || strcmp(text_of(value), "none"))
    return;
  size_t line = value->start_mark.line;
  int list = document_collection(yaml, true, false);
  yaml_document_get_node(yaml, list)->start_mark.line = line;
  text_pair(yaml, key)->value = list;
}

/* ---- --set ---- */

static bool is_index(const char *key)
{
  return *key && strspn(key, "0123456789") == strlen(key) && strlen(key) < 7;
}

/* Takes one step of a dotted path. Returns the place of the number of child `key` of node `parent`.
 * A missing child is added, with number 0. Returns NULL if `parent` cannot have such a child. */
static int *child(yaml_document_t *yaml, int parent, const char *key)
{
  yaml_node_t *node = yaml_document_get_node(yaml, parent);
  if (node->type == YAML_SEQUENCE_NODE && is_index(key)) {
    unsigned index = (unsigned)atoi(key);
    if (index > items_of(node))
      return NULL;
    if (index == items_of(node)) {
      document_append_item(yaml, parent, 1);
      node = yaml_document_get_node(yaml, parent);
      node->data.sequence.items.start[index] = 0;
    }
    return &node->data.sequence.items.start[index];
  }
  if (node->type != YAML_MAPPING_NODE || !*key)
    return NULL;
  if (!pair_named(yaml, node, key)) {
    int name = document_scalar(yaml, key, YAML_PLAIN_SCALAR_STYLE);
    node = yaml_document_get_node(yaml, parent);
    yaml_document_get_node(yaml, name)->start_mark.line = node->start_mark.line;
    document_append_pair(yaml, parent, name, 1);
    node = yaml_document_get_node(yaml, parent);
    pair_named(yaml, node, key)->value = 0;
  }
  return &pair_named(yaml, node, key)->value;
}

/* Adds the value of an override. Returns its node, or 0 with a message that the caller frees. */
static int add_value(yaml_document_t *yaml, const char *text, size_t line, char **message)
{
  yaml_document_t source = {0};
  int ignored = 0;
  if (!load(text, strlen(text), "one value", &source, &ignored, message))
    return 0;
  int value = 0;
  if (yaml_document_get_root_node(&source))
    value = copy(yaml, &source, 1, (int)line, 0);
  else
    value = document_scalar(yaml, "", YAML_PLAIN_SCALAR_STYLE);
  yaml_document_delete(&source);
  if (!value)
    *message = g_strdup("nested too deep, expected a value");
  return value;
}

/* Follows `keys` from the root and puts `text` at the end. On an error returns a message, which the
 * caller frees, and sets `*line` to its line, from 0. Otherwise returns NULL. */
static char *put(yaml_document_t *yaml, char **keys, const char *text, size_t *line)
{
  char *message = NULL;
  int node = 1;
  for (unsigned i = 0; keys[i]; i++) {
    *line = yaml_document_get_node(yaml, node)->start_mark.line;
    int *place = child(yaml, node, keys[i]);
    if (!place) {
      g_autofree char *key = document_quote(keys[i]);
      bool list = yaml_document_get_node(yaml, node)->type == YAML_SEQUENCE_NODE;
      return g_strdup_printf("no place for %s, expected %s", key,
                             list ? "the index of an item, or the next one"
                                  : "a path of keys and list indexes");
    }
    int next = *place;
    if (next)
      *line = yaml_document_get_node(yaml, next)->start_mark.line;
    if (!keys[i + 1])
      next = add_value(yaml, text, *line, &message);
    else if (!next)
      next = document_collection(yaml, is_index(keys[i + 1]), false);
    if (!next)
      return message;
    yaml_document_get_node(yaml, next)->start_mark.line = *line;
    /* the place is looked up again, because adding nodes may have moved it */
    *child(yaml, node, keys[i]) = next;
    node = next;
  }
  return NULL;
}

bool document_set(struct document *document, const char *assignment, GError **error)
{
  const char *equals = strchr(assignment, '=');
  g_autofree char *shown = document_quote(assignment);
  size_t line = 0;
  g_autofree char *message = NULL;
  if (!equals || equals == assignment) {
    message = g_strdup_printf("--set %s, expected dotted.path=value", shown);
  } else if (yaml_document_get_root_node(&document->yaml)->type != YAML_MAPPING_NODE) {
    return true; /* keys_check() will report it */
  } else {
    g_autofree char *path = g_strndup(assignment, (gsize)(equals - assignment));
    g_auto(GStrv) keys = g_strsplit(path, ".", -1);
    g_autofree char *problem = put(&document->yaml, keys, equals + 1, &line);
    if (problem)
      message = g_strdup_printf("--set %s: %s", shown, problem);
  }
  if (message)
    document_fail(error, document->file, (int)line + 1, false, "", message);
  return !message;
}

/* ---- writing ---- */

static int append(void *text, unsigned char *bytes, size_t count)
{
  g_string_append_len(text, (const char *)bytes, (gssize)count);
  return 1;
}

GString *document_text(yaml_document_t *yaml)
{
  GString *text = g_string_new(NULL);
  yaml_emitter_t emitter;
  added(yaml_emitter_initialize(&emitter));
  yaml_emitter_set_output(&emitter, append, text);
  yaml_emitter_set_unicode(&emitter, 1);
  added(yaml_emitter_open(&emitter) && yaml_emitter_dump(&emitter, yaml) &&
        yaml_emitter_close(&emitter));
  yaml_emitter_delete(&emitter);
  return text;
}
