/* Makes copies of platforms with another value of one constant. */
#include <gio/gio.h>
#include <stdio.h>
#include <string.h>

#include "command/replicate/expression.h"
#include "command/replicate/replicate.h"

static char *own_platform(const struct outcomes *all, const char *name)
{
  return g_build_filename(all->data, "platforms", name, NULL);
}

/* Replaces the text that the expression's group matches. The new text is the matched number times a
 * factor, or a given text. */
static gboolean change(const GMatchInfo *match, GString *text, void *data)
{
  const char *to = data;
  char *rest;
  double factor = g_ascii_strtod(to, &rest);
  int begin, end, number_begin, number_end;
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  g_match_info_fetch_pos(match, 0, &begin, &end);
  g_match_info_fetch_pos(match, 1, &number_begin, &number_end);
  g_autofree char *whole = g_match_info_fetch(match, 0), *old = g_match_info_fetch(match, 1);
  g_ascii_formatd(number, sizeof number, "%.9g", g_ascii_strtod(old, NULL) * factor);
  g_string_append_len(text, whole, number_begin - begin);
  g_string_append_printf(text, "%s%s", *rest ? to : number, whole + (number_end - begin));
  return FALSE;
}

static const struct plan_constant *constant_named(const struct plan *plan, const char *name)
{
  for (guint i = 0; i < plan->constants->len; i++) {
    const struct plan_constant *constant = plan->constants->pdata[i];
    if (!strcmp(constant->name, name))
      return constant;
  }
  return NULL;
}

char *constant_platform(const struct outcomes *all, const char *variation, GError **error)
{
  g_auto(GStrv) words = g_strsplit(variation, ":", 2);
  const struct plan_constant *constant = constant_named(all->plan, words[0]);
  if (!constant || !words[1]) {
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                "\"%s\", expected CONSTANT:FACTOR with a constant of the plan", variation);
    return NULL;
  }
  g_autofree char *from = own_platform(all, constant->platform), *text = NULL;
  g_autofree char *name = g_strconcat(variation, ".xml", NULL);
  char *file = g_build_filename(all->out, "platforms", name, NULL);
  g_autoptr(GRegex) find = g_regex_new(constant->find, 0, 0, error);
  if (find && g_file_get_contents(from, &text, NULL, error) && !g_regex_match(find, text, 0, NULL))
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s has nothing like \"%s\"", from,
                constant->find);
  g_autofree char *changed =
      error && *error ? NULL : g_regex_replace_eval(find, text, -1, 0, 0, change, words[1], error);
  g_autofree char *folder = g_path_get_dirname(file), *there = NULL;
  g_mkdir_with_parents(folder, 0777);
  if (changed && ((g_file_get_contents(file, &there, NULL, NULL) && !strcmp(there, changed)) ||
                  g_file_set_contents(file, changed, -1, error)))
    return file;
  g_free(file);
  return NULL;
}

/* ---- values with a constant changed ---- */

struct varied {
  struct outcomes *all;
  const struct plan_constant *constant;
  const char *factor;
  expression_lookup *lookup;
};

static bool concerns(const struct plan_constant *constant, const struct plan_run *run)
{
  g_autofree char *platform = run ? run_platform(run) : NULL;
  return platform && !strcmp(platform, constant->platform) &&
         (!constant->runs || g_regex_match_simple(constant->runs, run->name, 0, 0));
}

/* Finds the number in the run with the changed constant. If the constant does not concern the run,
 * finds it in the unchanged run. */
static bool lookup_varied(void *data, const char *run, const char *field, double *value,
                          GError **error)
{
  struct varied *v = data;
  g_autofree char *name = g_strconcat(run, "@", v->constant->name, ":", v->factor, NULL);
  bool changed = concerns(v->constant, g_hash_table_lookup(v->all->plan->runs, run));
  return v->lookup(v->all, changed ? name : run, field, value, error);
}

bool varied_value(struct outcomes *all, const struct plan_row *row,
                  const struct plan_constant *constant, const char *factor,
                  expression_lookup *lookup, double *value, GError **error)
{
  struct varied v = {all, constant, factor, lookup};
  return expression_value(row->value, lookup_varied, &v, value, error);
}

bool tried_value(struct outcomes *all, const struct plan_row *row, unsigned index,
                 expression_lookup *lookup, double *value, GError **error)
{
  const char *text = row->tried_value[index], *colon = strchr(text, ':');
  if (*text != '@')
    return expression_value(text, lookup, all, value, error);
  g_autofree char *name = colon ? g_strndup(text + 1, (gsize)(colon - text - 1)) : g_strdup("");
  const struct plan_constant *constant = constant_named(all->plan, name);
  if (constant && row->value)
    return varied_value(all, row, constant, colon + 1, lookup, value, error);
  g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "\"%s\", expected @CONSTANT:FACTOR",
              text);
  return false;
}

void sensitivity_note(struct outcomes *all, const struct replicas *replicas,
                      expression_lookup *note_run)
{
  double value;
  for (guint i = 0; i < all->plan->constants->len; i++) {
    const struct plan_constant *constant = all->plan->constants->pdata[i];
    for (unsigned k = 0; !strcmp(constant->kind, "estimate") && k < replicas->count; k++) {
      const struct plan_row *row = replicas->item[k].row;
      if (!row || !row->value || row->input)
        continue;
      varied_value(all, row, constant, HALVED, note_run, &value, NULL);
      varied_value(all, row, constant, DOUBLED, note_run, &value, NULL);
    }
  }
}

/* ---- origins of constants ---- */

static void write_constant(FILE *out, const struct plan_constant *constant, const char *text)
{
  g_autoptr(GMatchInfo) match = NULL;
  g_autoptr(GRegex) find = g_regex_new(constant->find, 0, 0, NULL);
  g_autofree char *value = find && g_regex_match(find, text, 0, &match)
                               ? g_match_info_fetch(match, 1)
                               : g_strdup("not there");
  fprintf(out, "| `%s` | %s | %s | %s |\n", constant->name, value, constant->kind, constant->text);
}

void constants_write(FILE *out, const struct outcomes *all)
{
  const char *last = "";
  fputs("# Constants of the platforms\n", out);
  for (guint i = 0; i < all->plan->constants->len; i++) {
    const struct plan_constant *constant = all->plan->constants->pdata[i];
    g_autofree char *file = own_platform(all, constant->platform), *text = NULL;
    if (!g_file_get_contents(file, &text, NULL, NULL))
      continue;
    if (strcmp(last, constant->platform) != 0)
      fprintf(out, "\n## %s\n\n| constant | value | | source |\n|---|---|---|---|\n",
              constant->platform);
    last = constant->platform;
    write_constant(out, constant, text);
  }
}
