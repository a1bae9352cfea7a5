/* Reads a document that keys_check() has accepted into a struct scenario. Each value is looked up
 * by its path, in the order of the table. */
#include <inttypes.h>
#include <string.h>

#include "base/nearest.h"
#include "protocols/text.h"
#include "world/scenario/document_inside.h"
#include "world/scenario/keys.h"

struct reader {
  struct document *document;
  struct scenario *scenario;
  GError **error;
};

static bool read_keys(const struct reader *reader, const struct key *keys, const char *prefix,
                      char *into);

/* Writes a value of at most INT32_MAX, as an int or a uint32_t. */
static void put(void *to, int64_t value)
{
  int32_t narrow = (int32_t)value;
  memcpy(to, &narrow, sizeof narrow);
}

static void put_default(const struct key *key, void *to)
{
  switch (key->kind) {
  case KEY_WHOLE:
  case KEY_RANKS:
  case KEY_CHOICE:
    put(to, (int64_t)key->otherwise);
    break;
  case KEY_NUMBER:
    *(uint64_t *)to = (uint64_t)key->otherwise;
    break;
  case KEY_REAL:
  case KEY_SECONDS:
  case KEY_BYTES:
  case KEY_RATE:
  case KEY_FLOPS:
    *(double *)to = key->otherwise;
    break;
  default: /* nothing to do, as the memory is zero already */
    break;
  }
}

static bool read_whole(const struct reader *reader, const struct key *key, const char *path,
                       const char *text, void *to)
{
  int64_t value = g_ascii_strtoll(text, NULL, 10), least = (int64_t)key->least;
  int64_t most = (int64_t)key->most;
  if (key->kind == KEY_RANKS)
    most += reader->scenario->program.ranks;
  if (value < least || value > most)
    return scenario_complain(reader->scenario, path, reader->error,
                             "%" PRId64 " is out of range, expected %" PRId64 " to %" PRId64, value,
                             least, most);
  put(to, value);
  return true;
}

static bool read_amount(const struct reader *reader, const struct key *key, const char *path,
                        const char *text, double *to)
{
  g_autoptr(GError) problem = NULL;
  bool good = key->kind == KEY_SECONDS ? scenario_seconds(text, to, &problem)
              : key->kind == KEY_RATE  ? scenario_rate(text, to, &problem)
              : key->kind == KEY_FLOPS ? scenario_flops(text, to, &problem)
                                       : scenario_bytes(text, to, &problem);
  if (!good)
    return scenario_complain(reader->scenario, path, reader->error, "%s", problem->message);
  bool speed = key->kind == KEY_RATE || key->kind == KEY_FLOPS;
  return !speed || *to > 0 ||
         scenario_complain(reader->scenario, path, reader->error, "%s, expected more than 0", text);
}

static bool read_real(const struct reader *reader, const struct key *key, const char *path,
                      const char *text, double *to)
{
  char *end = NULL;
  *to = g_ascii_strtod(text, &end);
  if (strspn(text, "0123456789.") == strlen(text) && !*end && *to >= key->least && *to <= key->most)
    return true;
  g_autofree char *shown = document_quote(text);
  return scenario_complain(reader->scenario, path, reader->error,
                           "%s, expected a number from %g to %g", shown, key->least, key->most);
}

static unsigned index_of(const char *const *names, const char *name)
{
  unsigned i = 0;
  while (names[i] && strcmp(names[i], name))
    i++;
  return i;
}

/* Sets the error "NAME is no WORD, expected NAMES" at `path`. Returns false. */
static bool refuse_name(const struct scenario *scenario, const char *path, GError **error,
                        const char *name, const char *word, const char *const *names)
{
  g_autofree char *shown = document_quote(name), *known = document_alternatives(names);
  g_autofree char *guess = did_you_mean(name, names);
  return scenario_complain(scenario, path, error, "%s is no %s, expected %s%s", shown, word, known,
                           guess);
}

static bool read_event(const struct reader *reader, const char *path, const char *name,
                       enum rcl_event_kind *event)
{
  const char *names[RCL_EVENT_KINDS] = {NULL};
  *event = event_named(name);
  if (*event != RCL_EVENT_NONE)
    return true;
  for (unsigned kind = RCL_EVENT_NONE + 1; kind < RCL_EVENT_KINDS; kind++)
    names[kind - 1] = event_name((enum rcl_event_kind)kind);
  return refuse_name(reader->scenario, path, reader->error, name, "event", names);
}

static char **read_texts(yaml_document_t *yaml, const yaml_node_t *list)
{
  char **texts = g_new0(char *, items_of(list) + 1);
  for (unsigned i = 0; i < items_of(list); i++)
    texts[i] = g_strdup(text_of(yaml_document_get_node(yaml, list->data.sequence.items.start[i])));
  return texts;
}

static bool read_set(const struct reader *reader, const struct key *key, const char *path,
                     const yaml_node_t *list, unsigned *set)
{
  g_auto(GStrv) names = read_texts(&reader->document->yaml, list);
  for (unsigned i = 0; names[i]; i++) {
    unsigned index = index_of(key->names, names[i]);
    g_autofree char *here = g_strdup_printf("%s.%u", path, i);
    if (!key->names[index])
      return refuse_name(reader->scenario, here, reader->error, names[i], key->word, key->names);
    *set |= 1u << index;
  }
  return true;
}

static bool read_list(const struct reader *reader, const struct key *key, const char *path,
                      const yaml_node_t *list, char *into)
{
  unsigned count = items_of(list);
  char *items = g_malloc0_n(count, key->size);
  *(void **)(void *)(into + key->offset) = items;
  *(unsigned *)(void *)(into + key->count) = count;
  for (unsigned i = 0; i < count; i++) {
    g_autofree char *prefix = g_strdup_printf("%s.%u.", path, i);
    if (!read_keys(reader, key->keys, prefix, items + i * key->size))
      return false;
  }
  return true;
}

static bool read_mapping(const struct reader *reader, const struct key *key, const char *path,
                         bool given, char *into)
{
  g_autofree char *prefix = g_strconcat(path, ".", NULL);
  if (key->size && !given)
    return true;
  if (key->size)
    into = *(void **)(void *)(into + key->offset) = g_malloc0(key->size);
  return read_keys(reader, key->keys, prefix, into);
}

static bool read_key(const struct reader *reader, const struct key *key, const char *path,
                     char *into)
{
  const struct document_place *place = g_hash_table_lookup(reader->document->lines, path);
  yaml_document_t *yaml = &reader->document->yaml;
  const yaml_node_t *node = place ? yaml_document_get_node(yaml, place->node) : NULL;
  void *to = into + key->offset;
  if (key->kind == KEY_MAPPING)
    return read_mapping(reader, key, path, node, into);
  if (!node) {
    put_default(key, to);
    return true;
  }
  switch (key->kind) {
  case KEY_TEXT:
    *(char **)to = g_strdup(text_of(node));
    return true;
  case KEY_TEXTS:
    *(char ***)to = read_texts(yaml, node);
    return true;
  case KEY_SET:
    return read_set(reader, key, path, node, to);
  case KEY_WHOLE:
  case KEY_RANKS:
    return read_whole(reader, key, path, text_of(node), to);
  case KEY_NUMBER:
    *(uint64_t *)to = g_ascii_strtoull(text_of(node), NULL, 10);
    return true;
  case KEY_REAL:
    return read_real(reader, key, path, text_of(node), to);
  case KEY_SECONDS:
  case KEY_BYTES:
  case KEY_RATE:
  case KEY_FLOPS:
    return read_amount(reader, key, path, text_of(node), to);
  case KEY_CHOICE:
    put(to, (int64_t)key->least + index_of(key->names, text_of(node)));
    return true;
  case KEY_EVENT:
    return read_event(reader, path, text_of(node), to);
  case KEY_LIST:
    return read_list(reader, key, path, node, into);
  default:
    return true;
  }
}

static bool read_keys(const struct reader *reader, const struct key *keys, const char *prefix,
                      char *into)
{
  for (const struct key *key = keys; key->name; key++) {
    g_autofree char *path = g_strconcat(prefix, key->name, NULL);
    if (!read_key(reader, key, path, into))
      return false;
  }
  return true;
}

bool keys_read(struct document *document, const struct key *keys, struct scenario *scenario,
               GError **error)
{
  return read_keys(&(struct reader){document, scenario, error}, keys, "", (char *)scenario);
}

void keys_clear(const struct key *keys, void *from)
{
  for (const struct key *key = keys; key->name; key++) {
    char *at = (char *)from + key->offset;
    void *pointed = NULL;
    if (key->kind == KEY_TEXT || key->kind == KEY_TEXTS || key->size)
      pointed = *(void **)(void *)at;
    if (key->kind == KEY_TEXTS)
      g_strfreev(pointed);
    else if (key->kind == KEY_MAPPING && !key->size)
      keys_clear(key->keys, from);
    else if (key->kind == KEY_MAPPING && pointed)
      keys_clear(key->keys, pointed);
    else if (key->kind == KEY_LIST)
      for (unsigned i = 0; i < *(unsigned *)(void *)((char *)from + key->count); i++)
        keys_clear(key->keys, (char *)pointed + i * key->size);
    if (key->kind != KEY_TEXTS)
      g_free(pointed);
  }
}
