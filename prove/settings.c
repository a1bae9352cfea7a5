#include "prove/settings.h"

#include <string.h>

static void clear(void *at)
{
  struct setting *setting = at;
  g_free(setting->parameter);
  g_free(setting->text);
}

GArray *settings_read(const char *words)
{
  GArray *settings = g_array_new(FALSE, FALSE, sizeof(struct setting));
  g_array_set_clear_func(settings, clear);
  g_auto(GStrv) all = g_strsplit(words, ",", -1);
  for (char **word = all; *word; word++) {
    g_auto(GStrv) part = g_strsplit(*word, "=", 3);
    const struct setting setting = {.parameter = g_strdup(part[0]),
                                    .value = (guint32)g_ascii_strtoull(part[1], NULL, 10),
                                    .text = g_strdup(part[2])};
    g_array_append_val(settings, setting);
  }
  return settings;
}

const struct setting *setting_at(const GArray *settings, guint index)
{
  return &g_array_index(settings, struct setting, index);
}

const struct setting *setting_of(const GArray *settings, const char *parameter)
{
  for (guint i = 0; settings && parameter && i < settings->len; i++)
    if (g_str_equal(setting_at(settings, i)->parameter, parameter))
      return setting_at(settings, i);
  return NULL;
}

char *settings_text(const GArray *settings)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < settings->len; i++)
    g_string_append_printf(text, "%s, ", setting_at(settings, i)->text);
  return g_string_free(text, FALSE);
}
