/* Compares a document with the table of keys, before any value is read. */
#include <string.h>

#include "base/nearest.h"
#include "world/scenario/document_inside.h"
#include "world/scenario/keys.h"

struct walk {
  struct document *document;
  GError **error;
};

static void note(struct walk *walk, const char *path, int id)
{
  const yaml_node_t *node = yaml_document_get_node(&walk->document->yaml, id);
  struct document_place *place = g_new0(struct document_place, 1);
  place->line = place->text_line = line_of(node);
  place->node = id;
  place->set = id > walk->document->from_file;
  if (node->type == YAML_SCALAR_NODE && (node->data.scalar.style == YAML_LITERAL_SCALAR_STYLE ||
                                         node->data.scalar.style == YAML_FOLDED_SCALAR_STYLE))
    place->text_line++;
  g_hash_table_insert(walk->document->lines, g_strdup(path), place);
}

/* Returns "a, b or c", and the name that `word` may have meant. */
static char *names_of(const struct key *keys, const char *word)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (const struct key *key = keys; key->name; key++)
    g_ptr_array_add(names, (char *)key->name);
  g_ptr_array_add(names, NULL);
  g_autofree char *known = document_alternatives((const char *const *)names->pdata);
  g_autofree char *guess = did_you_mean(word, (const char *const *)names->pdata);
  return g_strconcat(known, guess, NULL);
}

static bool is_count(const struct key *key)
{
  return key->kind == KEY_WHOLE || key->kind == KEY_RANKS || key->kind == KEY_NUMBER;
}

static bool is_list(const struct key *key)
{
  return key->kind == KEY_LIST || key->kind == KEY_TEXTS || key->kind == KEY_SET;
}

static char *expected(const struct key *key)
{
  if (key->kind == KEY_MAPPING) {
    g_autofree char *names = names_of(key->keys, "");
    return g_strconcat("a mapping with ", names, NULL);
  }
  if (key->kind == KEY_CHOICE)
    return document_alternatives(key->names);
  return g_strdup(is_list(key) ? "a list" : is_count(key) ? "a whole number" : "a text");
}

static bool refuse(struct walk *walk, int id, const char *path, const char *problem,
                   const char *hope)
{
  g_autofree char *text = g_strdup_printf("%s, expected %s", problem, hope);
  document_fail(walk->error, walk->document->file,
                line_of(yaml_document_get_node(&walk->document->yaml, id)),
                id > walk->document->from_file, path, text);
  return false;
}

static bool refuse_value(struct walk *walk, int id, const char *path, const struct key *key)
{
  yaml_node_t *node = yaml_document_get_node(&walk->document->yaml, id);
  bool list = node->type == YAML_SEQUENCE_NODE, mapping = node->type == YAML_MAPPING_NODE;
  if (list || mapping || !*text_of(node)) {
    g_autofree char *hope = expected(key);
    return refuse(walk, id, path, list ? "a list" : mapping ? "a mapping" : "no value", hope);
  }
  g_autofree char *value = document_quote(text_of(node));
  g_autofree char *hope = key->kind == KEY_NUMBER ? g_strdup("0 to 18446744073709551615")
                          : is_count(key)         ? g_strdup("digits only")
                                                  : expected(key);
  const char *problem = is_count(key)             ? " is no whole number"
                        : key->kind == KEY_CHOICE ? " is unknown"
                                                  : "";
  g_autofree char *text = g_strconcat(value, problem, NULL);
  g_autofree char *guess =
      key->kind == KEY_CHOICE ? did_you_mean(text_of(node), key->names)
      : key->kind == KEY_MAPPING && *path && key->keys->kind == KEY_TEXT
          ? g_strdup_printf("; did you mean {%s: %s}?", key->keys->name, text_of(node))
          : g_strdup("");
  g_autofree char *both = g_strconcat(hope, guess, NULL);
  return refuse(walk, id, path, text, both);
}

/* Returns whether the text is a decimal number. Leading zeroes, as octal numbers have them, are
 * refused. */
static bool is_number(const char *text, bool negative)
{
  const char *digits = text + (negative && *text == '-');
  if (!*digits || strspn(digits, "0123456789") != strlen(digits) || (digits[0] == '0' && digits[1]))
    return false;
  errno = 0;
  if (negative)
    g_ascii_strtoll(text, NULL, 10);
  else
    g_ascii_strtoull(text, NULL, 10);
  return errno == 0;
}

static bool fits(const yaml_node_t *node, const struct key *key)
{
  if (key->kind == KEY_MAPPING)
    return node->type == YAML_MAPPING_NODE;
  if (is_list(key))
    return node->type == YAML_SEQUENCE_NODE;
  if (node->type != YAML_SCALAR_NODE)
    return false;
  if (is_count(key))
    return is_number(text_of(node), key->kind != KEY_NUMBER);
  return key->kind != KEY_CHOICE || g_strv_contains(key->names, text_of(node));
}

static bool visit(struct walk *walk, int id, const char *path, const struct key *key);

static char *below(const char *path, const char *key)
{
  return *path ? g_strconcat(path, ".", key, NULL) : g_strdup(key);
}

static bool visit_pair(struct walk *walk, int mapping, unsigned index, const char *path,
                       const struct key *keys)
{
  yaml_document_t *yaml = &walk->document->yaml;
  yaml_node_t *node = yaml_document_get_node(yaml, mapping);
  yaml_node_pair_t *pair = &node->data.mapping.pairs.start[index];
  yaml_node_t *name = yaml_document_get_node(yaml, pair->key);
  if (name->type != YAML_SCALAR_NODE)
    return refuse(walk, pair->key, path, "a key that is no text", "a name");
  g_autofree char *here = below(path, text_of(name));
  const struct key *key = keys;
  while (key->name && strcmp(key->name, text_of(name)))
    key++;
  if (!key->name) {
    g_autofree char *shown = document_quote(here), *known = names_of(keys, text_of(name));
    g_autofree char *problem = g_strdup_printf("unknown key %s", shown);
    return refuse(walk, pair->key, "", problem, known);
  }
  if (pair_named(yaml, node, text_of(name)) != pair)
    return refuse(walk, pair->key, here, "the key is there twice", "it once");
  return visit(walk, pair->value, here, key);
}

static bool visit_mapping(struct walk *walk, int id, const char *path, const struct key *keys)
{
  yaml_document_t *yaml = &walk->document->yaml;
  yaml_node_t *node = yaml_document_get_node(yaml, id);
  for (unsigned i = 0; i < pairs_of(node); i++)
    if (!visit_pair(walk, id, i, path, keys))
      return false;
  for (const struct key *key = keys; key->name; key++) {
    if (!key->needed || pair_named(yaml, node, key->name))
      continue;
    g_autofree char *here = below(path, key->name), *hope = expected(key);
    return refuse(walk, id, here, "missing", hope);
  }
  return true;
}

static bool visit(struct walk *walk, int id, const char *path, const struct key *key)
{
  yaml_node_t *node = yaml_document_get_node(&walk->document->yaml, id);
  if (!fits(node, key))
    return refuse_value(walk, id, path, key);
  note(walk, path, id);
  if (key->kind == KEY_MAPPING)
    return visit_mapping(walk, id, path, key->keys);
  const struct key item = {.kind = key->kind == KEY_LIST ? KEY_MAPPING : KEY_TEXT,
                           .keys = key->keys};
  for (unsigned i = 0; is_list(key) && i < items_of(node); i++) {
    g_autofree char *here = g_strdup_printf("%s.%u", path, i);
    if (!visit(walk, node->data.sequence.items.start[i], here, &item))
      return false;
  }
  return true;
}

bool keys_check(struct document *document, const struct key *keys, GError **error)
{
  struct walk walk = {document, error};
  return visit(&walk, 1, "", &(struct key){.kind = KEY_MAPPING, .keys = keys});
}
