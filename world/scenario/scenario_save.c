/* Writes a struct scenario as YAML, by the table of keys. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/output.h"
#include "protocols/text.h"
#include "world/scenario/document_inside.h"
#include "world/scenario/keys.h"
#include "world/scenario/platform_file.h"

static int plain(yaml_document_t *yaml, const char *text)
{
  return document_scalar(yaml, text, YAML_PLAIN_SCALAR_STYLE);
}

/* Adds the shortest text that reads back as `value`. */
static int add_amount(yaml_document_t *yaml, double value, const char *unit)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  char format[8];
  for (int precision = 1; precision <= 17; precision++) {
    g_snprintf(format, sizeof format, "%%.%dg", precision);
    g_ascii_formatd(digits, sizeof digits, format, value);
    if (g_ascii_strtod(digits, NULL) == value)
      break;
  }
  g_autofree char *text = g_strconcat(digits, unit, NULL);
  return plain(yaml, text);
}

static int add_number(yaml_document_t *yaml, uint64_t value)
{
  g_autofree char *text = g_strdup_printf("%" PRIu64, value);
  return plain(yaml, text);
}

static int add_set(yaml_document_t *yaml, const struct key *key, unsigned set)
{
  int list = document_collection(yaml, true, true);
  for (unsigned i = 0; key->names[i]; i++)
    if (set & 1u << i)
      document_append_item(yaml, list, plain(yaml, key->names[i]));
  return list;
}

static int add_texts(yaml_document_t *yaml, char *const *texts)
{
  if (!texts)
    return 0;
  int list = document_collection(yaml, true, true);
  for (; *texts; texts++)
    document_append_item(yaml, list, plain(yaml, *texts));
  return list;
}

static int add_mapping(yaml_document_t *yaml, const struct key *keys, bool flow, bool sparse,
                       const void *from);

static int add_items(yaml_document_t *yaml, const struct key *key, const char *items,
                     unsigned count)
{
  int list = document_collection(yaml, true, false);
  for (unsigned i = 0; i < count; i++)
    document_append_item(yaml, list,
                         add_mapping(yaml, key->keys, true, false, items + i * key->size));
  return list;
}

static int add_value(yaml_document_t *yaml, const struct key *key, const char *from)
{
  const void *at = from + key->offset;
  switch (key->kind) {
  case KEY_TEXT: {
    const char *text = *(char *const *)at;
    return text
               ? document_scalar(yaml, text,
                                 key->literal ? YAML_LITERAL_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE)
               : 0;
  }
  case KEY_TEXTS:
    return add_texts(yaml, *(char **const *)at);
  case KEY_SET:
    return add_set(yaml, key, *(const unsigned *)at);
  case KEY_WHOLE:
  case KEY_RANKS: {
    int value = *(const int *)at;
    return value < key->least ? 0 : add_number(yaml, (uint64_t)value);
  }
  case KEY_NUMBER:
    return add_number(yaml, *(const uint64_t *)at);
  case KEY_REAL:
  case KEY_SECONDS:
  case KEY_BYTES:
  case KEY_RATE:
  case KEY_FLOPS: {
    static const char *const units[] = {[KEY_REAL] = "",
                                        [KEY_SECONDS] = "s",
                                        [KEY_BYTES] = "B",
                                        [KEY_RATE] = "Bps",
                                        [KEY_FLOPS] = "f"};
    double value = *(const double *)at;
    return value < key->least ? 0 : add_amount(yaml, value, units[key->kind]);
  }
  case KEY_CHOICE: {
    int index = *(const int *)at - (int)key->least;
    return index < 0 ? 0 : plain(yaml, key->names[index]);
  }
  case KEY_EVENT: {
    enum rcl_event_kind event = *(const enum rcl_event_kind *)at;
    return event == RCL_EVENT_NONE ? 0 : plain(yaml, event_name(event));
  }
  case KEY_MAPPING:
    from = key->size ? *(char *const *)at : from;
    return from ? add_mapping(yaml, key->keys, key->flow, key->sparse, from) : 0;
  case KEY_LIST: {
    unsigned count = *(const unsigned *)(from + key->count);
    return count < key->least ? 0 : add_items(yaml, key, *(char *const *)at, count);
  }
  default:
    return 0;
  }
}

static int add_mapping(yaml_document_t *yaml, const struct key *keys, bool flow, bool sparse,
                       const void *from)
{
  /* The document's root must be its first node. */
  int mapping = keys->needed || sparse ? 0 : document_collection(yaml, false, flow);
  for (const struct key *key = keys; key->name; key++) {
    int value = add_value(yaml, key, from);
    if (!value && !mapping && !sparse)
      return 0;
    if (value && !mapping)
      mapping = document_collection(yaml, false, flow);
    if (value)
      document_append_pair(yaml, mapping, plain(yaml, key->name), value);
  }
  return mapping;
}

/* Leaves out the platform if there is none: defaults alone would be a platform without a
 * machine. */
static void leave_out_platform(struct scenario *scenario)
{
  static const int UNSTATED = -1;
  scenario->platform.layout.per_node = scenario->platform.spares = UNSTATED;
  memcpy(&scenario->platform.placement, &UNSTATED, sizeof UNSTATED);
}

bool scenario_save(const struct scenario *scenario, const char *file, GError **error)
{
  struct scenario shown = *scenario;
  yaml_document_t yaml;
  if (shown.platform.file)
    shown.platform.file = (char *)platform_name(shown.platform.file);
  else if (!shown.platform.stated.nodes)
    leave_out_platform(&shown);
  document_empty(&yaml);
  add_mapping(&yaml, scenario_keys, false, false, &shown);
  GString *text = document_text(&yaml);
  bool saved = output_write(file, text->str, text->len);
  if (!saved)
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno), OUTPUT_CANNOT, file,
                g_strerror(errno));
  g_string_free(text, TRUE);
  return saved;
}
