#include "command/replicate/plan.h"

#include <gio/gio.h>
#include <string.h>

enum { CHOICES = 4 }; /* most pairs of braces in a name */

struct expansion {
  const char *choice[CHOICES]; /* the values of $1, $2 and so on */
  unsigned choices;
};

static void free_run(void *data)
{
  struct plan_run *run = data;
  g_free(run->name);
  g_free(run->scenario);
  g_strfreev(run->set);
  g_free(run);
}

static void free_row(void *data)
{
  struct plan_row *row = data;
  g_free(row->id);
  g_free(row->value);
  g_free(row->why);
  g_strfreev(row->tried);
  g_strfreev(row->tried_value);
  g_free(row);
}

static void free_constant(void *data)
{
  struct plan_constant *constant = data;
  char *texts[] = {constant->name, constant->platform, constant->find,
                   constant->kind, constant->text,     constant->runs};
  for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
    g_free(texts[i]);
  g_free(constant);
}

static void free_bound(void *data)
{
  struct plan_bound *bound = data;
  g_free(bound->name);
  g_free(bound->text);
  g_strfreev(bound->row);
  g_strfreev(bound->form);
  g_free(bound);
}

static void free_figure(void *data)
{
  struct plan_figure *figure = data;
  char *texts[] = {figure->name, figure->title, figure->x, figure->y};
  for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
    g_free(texts[i]);
  g_strfreev(figure->at);
  g_strfreev(figure->line);
  g_strfreev(figure->value);
  g_free(figure);
}

/* Returns the text in which $1, $2 and so on are replaced. */
static char *choose(const struct expansion *e, const char *text)
{
  GString *chosen = g_string_new(NULL);
  for (; *text; text++) {
    unsigned index = *text == '$' ? (unsigned)text[1] - '1' : CHOICES;
    if (index < e->choices)
      g_string_append(chosen, e->choice[index]), text++;
    else
      g_string_append_c(chosen, *text);
  }
  return g_string_free(chosen, FALSE);
}

/* Expands lists: @(a b: text %) becomes "text a,text b". */
static char *repeat(const char *text)
{
  GString *all = g_string_new(NULL);
  for (const char *open; (open = strstr(text, "@("));) {
    const char *colon = strchr(open, ':'), *close = colon + 1;
    for (int depth = 1; colon && *close; close++)
      if ((depth += (*close == '(') - (*close == ')')) == 0)
        break;
    if (!colon || !*close)
      break;
    g_string_append_len(all, text, open - text);
    g_autofree char *list = g_strndup(open + 2, (gsize)(colon - open - 2));
    g_autofree char *body = g_strndup(colon + 1, (gsize)(close - colon - 1));
    g_auto(GStrv) words = g_strsplit(list, " ", -1), parts = g_strsplit(body, "%", -1);
    for (char **word = words; *word; word++) {
      g_autofree char *copy = g_strjoinv(*word, parts);
      g_string_append_printf(all, "%s%s", word == words ? "" : ",", copy);
    }
    text = close + 1;
  }
  g_string_append(all, text);
  return g_string_free(all, FALSE);
}

/* Tells what a plan is read from, and the plan to which the contents are added. */
struct source {
  GKeyFile *keys;
  const char *group, *file;
  struct plan *plan;
};

static char *value_of(const struct source *s, const struct expansion *e, const char *key)
{
  g_autofree char *text = g_key_file_get_value(s->keys, s->group, key, NULL);
  g_autofree char *chosen = text ? choose(e, text) : NULL;
  return chosen ? repeat(chosen) : NULL;
}

static bool add_run(const struct source *s, const struct expansion *e, const char *name,
                    GError **error)
{
  g_autofree char *scenario = value_of(s, e, "scenario"), *set = value_of(s, e, "set");
  g_autofree char *folder = g_path_get_dirname(s->file);
  if (!scenario) {
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: [%s]: expected scenario = FILE",
                s->file, s->group);
    return false;
  }
  struct plan_run *run = g_new0(struct plan_run, 1);
  run->name = g_strdup(name);
  run->scenario = g_build_filename(folder, scenario, NULL);
  run->set = g_strsplit(set ? set : "", " ", -1);
  g_hash_table_insert(s->plan->runs, run->name, run);
  return true;
}

static void add_row(const struct source *s, const struct expansion *e, const char *id)
{
  struct plan_row *row = g_new0(struct plan_row, 1);
  row->id = g_strdup(id);
  row->value = value_of(s, e, "value");
  g_hash_table_insert(s->plan->rows, row->id, row);
}

/* Adds the names and the values of keys "WORD NAME = VALUE". */
static void add_named(const struct source *s, const struct expansion *e, const char *word,
                      char ***name, char ***value)
{
  g_auto(GStrv) keys = g_key_file_get_keys(s->keys, s->group, NULL, NULL);
  unsigned count = 0;
  *name = g_new0(char *, g_strv_length(keys) + 1);
  *value = g_new0(char *, g_strv_length(keys) + 1);
  for (char **key = keys; *key; key++)
    if (g_str_has_prefix(*key, word)) {
      (*name)[count] = choose(e, *key + strlen(word));
      (*value)[count++] = value_of(s, e, *key);
    }
}

static void add_figure(const struct source *s, const struct expansion *e, const char *name)
{
  struct plan_figure *figure = g_new0(struct plan_figure, 1);
  g_autofree char *at = value_of(s, e, "at"), *log = value_of(s, e, "log");
  *figure = (struct plan_figure){.name = g_strdup(name),
                                 .title = value_of(s, e, "title"),
                                 .x = value_of(s, e, "x"),
                                 .y = value_of(s, e, "y"),
                                 .log = log != NULL,
                                 .at = g_strsplit(at ? at : "", " ", -1)};
  add_named(s, e, "line ", &figure->line, &figure->value);
  g_ptr_array_add(s->plan->figures, figure);
}

static void add_bound(const struct source *s, const struct expansion *e, const char *name)
{
  struct plan_bound *bound = g_new0(struct plan_bound, 1);
  *bound = (struct plan_bound){.name = g_strdup(name), .text = value_of(s, e, "text")};
  add_named(s, e, "row ", &bound->row, &bound->form);
  g_ptr_array_add(s->plan->bounds, bound);
}

/* Adds a remark on a row. If the row does not exist yet, makes a row without a value. */
static void add_remark(const struct source *s, const struct expansion *e, const char *id,
                       char remark)
{
  struct plan_row *row = g_hash_table_lookup(s->plan->rows, id);
  if (!row) {
    add_row(s, e, id);
    row = g_hash_table_lookup(s->plan->rows, id);
  }
  row->input |= remark == 'i';
  if (remark != 'w') {
    row->kind = remark == 'd' ? KIND_DERIVED : remark == 's' ? KIND_SHARED : row->kind;
    return;
  }
  g_free(row->why);
  g_strfreev(row->tried);
  g_strfreev(row->tried_value);
  row->why = value_of(s, e, "text");
  add_named(s, e, "tried ", &row->tried, &row->tried_value);
}

static bool add_constant(const struct source *s, const struct expansion *e, const char *name,
                         GError **error)
{
  struct plan_constant *constant = g_new0(struct plan_constant, 1);
  *constant = (struct plan_constant){.name = g_strdup(name),
                                     .platform = value_of(s, e, "platform"),
                                     .find = value_of(s, e, "find"),
                                     .kind = value_of(s, e, "kind"),
                                     .text = value_of(s, e, "text"),
                                     .runs = value_of(s, e, "runs")};
  g_ptr_array_add(s->plan->constants, constant);
  if (constant->platform && constant->find && constant->kind && constant->text)
    return true;
  g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
              "%s: [%s]: expected platform, find, kind and text", s->file, s->group);
  return false;
}

/* Adds all expansions of a name. They begin with `name`, which is followed by `rest` with each
 * choice of each pair of braces. */
static bool expand(const struct source *s, struct expansion *e, const char *name, const char *rest,
                   GError **error)
{
  const char *open = strchr(rest, '{'), *close = open ? strchr(open, '}') : NULL;
  if (!close || e->choices == CHOICES) {
    g_autofree char *whole = g_strconcat(name, rest, NULL);
    const char *what = strchr(whole, ' ') + 1;
    if (*whole == 'r' && whole[1] == 'u')
      return add_run(s, e, what, error);
    if (*whole == 'c')
      return add_constant(s, e, what, error);
    if (*whole == 'r')
      add_row(s, e, what);
    else if (*whole == 'f')
      add_figure(s, e, what);
    else if (*whole == 'b')
      add_bound(s, e, what);
    else
      add_remark(s, e, what, *whole);
    return true;
  }
  g_autofree char *list = g_strndup(open + 1, (gsize)(close - open - 1));
  g_auto(GStrv) words = g_strsplit(list, ",", -1);
  unsigned index = e->choices++;
  for (char **word = words; *word; word++) {
    char *equals = strchr(*word, '=');
    e->choice[index] = equals ? equals + 1 : *word;
    if (equals)
      *equals = '\0';
    g_autofree char *longer = g_strdup_printf("%s%.*s%s", name, (int)(open - rest), rest, *word);
    if (!expand(s, e, longer, close + 1, error))
      return false;
  }
  e->choices--;
  return true;
}

bool plan_load(struct plan *plan, const char *file, GError **error)
{
  g_autoptr(GKeyFile) keys = g_key_file_new();
  *plan = (struct plan){g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_run),
                        g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_row),
                        g_ptr_array_new_with_free_func(free_figure),
                        g_ptr_array_new_with_free_func(free_constant),
                        g_ptr_array_new_with_free_func(free_bound)};
  if (!g_key_file_load_from_file(keys, file, G_KEY_FILE_NONE, error)) {
    g_prefix_error(error, "%s: ", file);
    return false;
  }
  g_auto(GStrv) groups = g_key_file_get_groups(keys, NULL);
  for (char **group = groups; *group; group++) {
    struct source s = {keys, *group, file, plan};
    struct expansion e = {0};
    bool known = g_regex_match_simple("^(run|row|input|derived|shared|why|bound|figure|constant) ",
                                      *group, 0, 0);
    if (!known)
      g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                  "%s: [%s], expected [run NAME], [row ID], [input ID], [derived ID], [shared ID], "
                  "[why ID], [bound NAME], [constant NAME] or [figure NAME]",
                  file, *group);
    if (!known || !expand(&s, &e, "", *group, error))
      return false;
  }
  return true;
}

/* Returns the NAME of the run's setting "platform.file=NAME". Without such a setting, returns the
 * NAME of "file: NAME.xml" in the scenario. */
char *run_platform(const struct plan_run *run)
{
  static const char key[] = "platform.file=";
  g_autofree char *scenario = NULL;
  g_autoptr(GMatchInfo) match = NULL;
  g_autoptr(GRegex) file = g_regex_new("\\bfile: *([^ ,}]+\\.xml)", 0, 0, NULL);
  for (char **set = run->set; *set; set++)
    if (g_str_has_prefix(*set, key))
      return g_strdup(*set + strlen(key));
  bool found = g_file_get_contents(run->scenario, &scenario, NULL, NULL) &&
               g_regex_match(file, scenario, 0, &match);
  return found ? g_match_info_fetch(match, 1) : NULL;
}

void plan_clear(struct plan *plan)
{
  g_hash_table_unref(plan->runs);
  g_hash_table_unref(plan->rows);
  g_ptr_array_unref(plan->figures);
  g_ptr_array_unref(plan->constants);
  g_ptr_array_unref(plan->bounds);
}
