/* Compares a document with the schema. */
#include <stdlib.h>
#include <string.h>

#include "verify/scenario/document_inside.h"
#include "verify/scenario/scenario.h"

struct walk {
  struct document *document;
  const char *later;
  GError **error;
};

static void note(struct walk *walk, const char *path, int id)
{
  const yaml_node_t *node = yaml_document_get_node(&walk->document->yaml, id);
  struct document_place *place = g_new0(struct document_place, 1);
  place->line = place->text_line = line_of(node);
  place->set = id > walk->document->from_file;
  if (node->type == YAML_SCALAR_NODE && (node->data.scalar.style == YAML_LITERAL_SCALAR_STYLE ||
                                         node->data.scalar.style == YAML_FOLDED_SCALAR_STYLE))
    place->text_line++;
  g_hash_table_insert(walk->document->lines, g_strdup(path), place);
}

static void enumerate_fields(GString *text, const cyaml_schema_field_t *fields)
{
  unsigned total = 0, count = 0;
  for (const cyaml_schema_field_t *field = fields; field->key; field++)
    total += field->value.type != CYAML_IGNORE;
  for (const cyaml_schema_field_t *field = fields; field->key; field++)
    if (field->value.type != CYAML_IGNORE)
      document_enumerate(text, count++, total, field->key);
}

static GString *expected(const cyaml_schema_value_t *schema)
{
  GString *text = g_string_new(NULL);
  if (schema->type == CYAML_MAPPING) {
    g_string_append(text, "a mapping with ");
    enumerate_fields(text, schema->mapping.fields);
  } else if (schema->type == CYAML_SEQUENCE) {
    g_string_append(text, "a list");
  } else if (schema->type == CYAML_INT || schema->type == CYAML_UINT) {
    g_string_append(text, "a whole number");
  } else if (schema->type == CYAML_ENUM) {
    for (unsigned i = 0; i < schema->enumeration.count; i++)
      document_enumerate(text, i, schema->enumeration.count, schema->enumeration.strings[i].str);
  } else {
    g_string_append(text, "a text");
  }
  return text;
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

static bool refuse_value(struct walk *walk, int id, const char *path,
                         const cyaml_schema_value_t *schema)
{
  yaml_node_t *node = yaml_document_get_node(&walk->document->yaml, id);
  GString *hope = expected(schema);
  g_autofree char *problem = NULL;
  if (node->type == YAML_SEQUENCE_NODE)
    problem = g_strdup("a list");
  else if (node->type == YAML_MAPPING_NODE)
    problem = g_strdup("a mapping");
  else if (!*text_of(node))
    problem = g_strdup("no value");
  else {
    g_autofree char *value = document_quote(text_of(node));
    bool numeric = schema->type == CYAML_INT || schema->type == CYAML_UINT;
    bool choice = schema->type == CYAML_ENUM;
    problem = g_strconcat(value,
                          numeric  ? " is no whole number"
                          : choice ? " is unknown"
                                   : "",
                          NULL);
    if (numeric)
      g_string_assign(hope,
                      schema->type == CYAML_UINT ? "0 to 18446744073709551615" : "digits only");
  }
  refuse(walk, id, path, problem, hope->str);
  g_string_free(hope, TRUE);
  return false;
}

/* Decimal, without the leading zeros that libcyaml would read as octal. */
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

static bool is_one_of(const char *text, const cyaml_schema_value_t *schema)
{
  for (unsigned i = 0; i < schema->enumeration.count; i++)
    if (!strcmp(schema->enumeration.strings[i].str, text))
      return true;
  return false;
}

static bool fits(const yaml_node_t *node, const cyaml_schema_value_t *schema)
{
  switch (schema->type) {
  case CYAML_MAPPING:
    return node->type == YAML_MAPPING_NODE;
  case CYAML_SEQUENCE:
    return node->type == YAML_SEQUENCE_NODE;
  case CYAML_INT:
  case CYAML_UINT:
    return node->type == YAML_SCALAR_NODE && is_number(text_of(node), schema->type == CYAML_INT);
  case CYAML_ENUM:
    return node->type == YAML_SCALAR_NODE && is_one_of(text_of(node), schema);
  default:
    return node->type == YAML_SCALAR_NODE;
  }
}

static bool visit(struct walk *walk, int id, const char *path, const cyaml_schema_value_t *schema);

static char *below(const char *path, const char *key)
{
  return *path ? g_strconcat(path, ".", key, NULL) : g_strdup(key);
}

static bool visit_pair(struct walk *walk, int mapping, unsigned index, const char *path,
                       const cyaml_schema_value_t *schema)
{
  yaml_document_t *yaml = &walk->document->yaml;
  yaml_node_t *node = yaml_document_get_node(yaml, mapping);
  yaml_node_pair_t *pair = &node->data.mapping.pairs.start[index];
  yaml_node_t *key = yaml_document_get_node(yaml, pair->key);
  if (key->type != YAML_SCALAR_NODE)
    return refuse(walk, pair->key, path, "a key that is no text", "a name");
  g_autofree char *here = below(path, text_of(key));
  const cyaml_schema_field_t *field = schema->mapping.fields;
  while (field->key && strcmp(field->key, text_of(key)))
    field++;
  if (!field->key) {
    GString *keys = g_string_new(NULL);
    enumerate_fields(keys, schema->mapping.fields);
    g_autofree char *shown = document_quote(here);
    g_autofree char *problem = g_strdup_printf("unknown key %s", shown);
    refuse(walk, pair->key, "", problem, keys->str);
    g_string_free(keys, TRUE);
    return false;
  }
  if (field->value.type == CYAML_IGNORE) {
    document_fail(walk->error, walk->document->file, line_of(key),
                  pair->key > walk->document->from_file, here, walk->later);
    return false;
  }
  if (pair_named(yaml, node, text_of(key)) != pair)
    return refuse(walk, pair->key, here, "the key is there twice", "it once");
  return visit(walk, pair->value, here, &field->value);
}

static bool visit_mapping(struct walk *walk, int id, const char *path,
                          const cyaml_schema_value_t *schema)
{
  yaml_document_t *yaml = &walk->document->yaml;
  yaml_node_t *node = yaml_document_get_node(yaml, id);
  for (unsigned i = 0; i < pairs_of(node); i++)
    if (!visit_pair(walk, id, i, path, schema))
      return false;
  for (const cyaml_schema_field_t *field = schema->mapping.fields; field->key; field++) {
    if ((field->value.flags & CYAML_FLAG_OPTIONAL) || pair_named(yaml, node, field->key))
      continue;
    g_autofree char *here = below(path, field->key);
    GString *hope = expected(&field->value);
    refuse(walk, id, here, "missing", hope->str);
    g_string_free(hope, TRUE);
    return false;
  }
  return true;
}

static bool visit(struct walk *walk, int id, const char *path, const cyaml_schema_value_t *schema)
{
  yaml_node_t *node = yaml_document_get_node(&walk->document->yaml, id);
  if (!fits(node, schema))
    return refuse_value(walk, id, path, schema);
  note(walk, path, id);
  if (schema->type == CYAML_MAPPING)
    return visit_mapping(walk, id, path, schema);
  for (unsigned i = 0; schema->type == CYAML_SEQUENCE && i < items_of(node); i++) {
    g_autofree char *here = g_strdup_printf("%s.%u", path, i);
    if (!visit(walk, node->data.sequence.items.start[i], here, schema->sequence.entry))
      return false;
  }
  return true;
}

bool document_check(struct document *document, const cyaml_schema_value_t *schema,
                    const char *later, GError **error)
{
  struct walk walk = {document, later, error};
  return visit(&walk, 1, "", schema);
}
