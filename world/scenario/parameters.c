#include "world/scenario/parameters.h"

#include <string.h>

#include "world/scenario/document_inside.h"
#include "world/scenario/keys.h"
#include "world/scenario/scenario_judge.h"

_Static_assert(PLACES_ANYWHERE == 0 && PLACES_PROGRAM == 1, "`iterations` is a truth value");

static const struct {
  const char *name, *path;
  size_t offset; /* offset of the value in struct scenario, an enum or uint32_t */
} parameters[] = {
    {"interval", "protocol.interval", offsetof(struct scenario, protocol.interval)},
    {"log", "protocol.log", offsetof(struct scenario, protocol.log)},
    {"log_in", "protocol.log_in", offsetof(struct scenario, protocol.log_in)},
    {"failures", "protocol.failures", offsetof(struct scenario, protocol.failures)},
    {"crossings", "protocol.crossings", offsetof(struct scenario, protocol.crossings)},
    {"initiators", "protocol.initiators", offsetof(struct scenario, protocol.initiators)},
    {"exchange", "protocol.exchange", offsetof(struct scenario, protocol.exchange)},
    {"iterations", "checkpoint.places", offsetof(struct scenario, checkpoint.places)},
};

const char *parameter_at(const struct scenario *scenario, unsigned index, uint32_t *value)
{
  if (index >= G_N_ELEMENTS(parameters))
    return NULL;
  memcpy(value, (const char *)scenario + parameters[index].offset, sizeof *value);
  return parameters[index].name;
}

static void clear(void *at)
{
  g_free(((struct parameter *)at)->text);
}

/* Returns the parameters to whose keys the document gives values. */
static GArray *list(struct document *document, const struct scenario *scenario)
{
  GArray *given = g_array_new(FALSE, TRUE, sizeof(struct parameter));
  g_array_set_clear_func(given, clear);
  struct parameter one;
  for (unsigned i = 0; (one.name = parameter_at(scenario, i, &one.value)); i++) {
    if (!scenario_given(scenario, parameters[i].path))
      continue;
    int node = document_find(document->lines, parameters[i].path)->node;
    one.text = g_strdup_printf("%s=%s", parameters[i].path,
                               text_of(yaml_document_get_node(&document->yaml, node)));
    g_array_append_val(given, one);
  }
  return given;
}

GArray *parameters_read(const char *const *set, GError **error)
{
  struct document document;
  struct scenario *scenario = g_new0(struct scenario, 1);
  bool good = true;
  document_begin(&document);
  for (; good && *set; set++)
    good = document_set(&document, *set, error);
  scenario->lines = g_hash_table_ref(document.lines);
  good = good && keys_check(&document, parameter_keys, error) &&
         keys_read(&document, parameter_keys, scenario, error);
  GArray *given = good ? list(&document, scenario) : NULL;
  document_clear(&document);
  scenario_free(scenario);
  return given;
}
