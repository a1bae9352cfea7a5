/* Makes a page from a template of the build (report/page.html). The page gets one object that says
 * what DIR contains. It also gets columns and chunks of text (trace_data.h), which the page unpacks
 * when it needs them. */
#include "report/report_folder.h"

#include <stdio.h>
#include <string.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "base/glib/command_line.h"
#include "base/glib/json.h"
#include "base/glib/page.h"
#include "base/glib/terminal.h"
#include "base/output.h"
#include "plots/input.h"
#include "report/exports.h"
#include "report/trace_data.h"
#include "world/result/result.h"

struct report {
  const char *folder; /* DIR */
  const char *beside; /* a second folder with another run, or NULL if there is none */
  JsonBuilder *about;
  GString *data; /* HTML elements for the page */
};

static char *in(const struct report *r, const char *name)
{
  return g_build_filename(r->folder, name, NULL);
}

static bool has(const struct report *r, const char *name)
{
  g_autofree char *file = in(r, name);
  return g_file_test(file, G_FILE_TEST_EXISTS);
}

/* Returns the text of a file of DIR, which the caller frees, or NULL with `error` set. */
static char *read_text(const struct report *r, const char *name, GError **error)
{
  g_autofree char *file = in(r, name), *text = NULL;
  gsize length;
  if (!g_file_get_contents(file, &text, &length, NULL))
    input_bad(error, file, 0, "cannot be read, expected what --out has kept");
  else if (!g_utf8_validate(text, (gssize)length, NULL))
    input_bad(error, file, 0, "not text, expected UTF-8");
  else
    return g_steal_pointer(&text);
  return NULL;
}

/* Adds the text of a file of DIR as the member `key`. */
static bool add_file(const struct report *r, const char *key, const char *name, GError **error)
{
  g_autofree char *text = read_text(r, name, error);
  if (text)
    json_add_text(r->about, key, text);
  return text != NULL;
}

static bool is_version(const char *file, const char *version, GError **error)
{
  if (version && !strcmp(version, RECLINE_VERSION))
    return true;
  return input_bad(error, file, 0, "written by recline %s, expected %s", version ? version : "?",
                   RECLINE_VERSION);
}

static int by_name(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns the names of the files with that ending in a folder of DIR, sorted. The caller frees the
 * array. */
static GPtrArray *files(const struct report *r, const char *folder, const char *suffix)
{
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  g_autofree char *path = in(r, folder);
  g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name(dir));)
    if (g_str_has_suffix(name, suffix) && name[0] != '.')
      g_ptr_array_add(names, g_strdup(name));
  g_ptr_array_sort(names, by_name);
  return names;
}

/* Adds a trace of DIR, with its activities if there is a file of them. */
static bool read_story(const struct report *r, const char *name, struct story *story,
                       GError **error)
{
  g_autofree char *file = in(r, name), *activities = in(r, "activity.txt");
  bool known = !strcmp(name, "trace.txt") && has(r, "activity.txt");
  return story_load(file, known ? activities : NULL, story, error);
}

static bool add_trace(const struct report *r, const char *name, unsigned number, GError **error)
{
  g_autofree char *prefix = g_strdup_printf("trace%u", number);
  struct story story;
  bool good = read_story(r, name, &story, error);
  if (good)
    trace_data_add(r->data, r->about, prefix, name, &story);
  story_clear(&story);
  return good;
}

/* ---- of a run ---- */

static bool check_result(const char *file, GError **error)
{
  g_autoptr(GError) reason = NULL;
  struct result result;
  if (!result_load(file, &result, &reason)) {
    g_set_error(error, INPUT_ERROR, 0, "%s, expected the result of a run", reason->message);
    return false;
  }
  bool good = is_version(file, result.version, error);
  result_clear(&result);
  return good;
}

static bool add_run(const struct report *r, GError **error)
{
  g_autofree char *file = in(r, "result.json");
  bool good = check_result(file, error);
  if (!good || !add_file(r, "result", "result.json", error) ||
      !add_file(r, "scenario", "scenario.yaml", error))
    return false;
  json_open_list(r->about, "traces");
  good = !has(r, "trace.txt") || add_trace(r, "trace.txt", 0, error);
  json_builder_end_array(r->about);
  return good && (!has(r, "program.out") || add_file(r, "output", "program.out", error));
}

/* Adds the result of a run that is shown beside another run. Such a run must have a trace. */
static bool add_beside(const struct report *r, GError **error)
{
  g_autofree char *file = in(r, "result.json");
  if (!has(r, "result.json") || !has(r, "trace.txt"))
    return input_bad(error, r->folder, 0, "no run with its trace, expected two of them");
  json_builder_begin_object(r->about);
  json_add_text(r->about, "folder", r->folder);
  bool good = check_result(file, error) && add_file(r, "result", "result.json", error) &&
              add_file(r, "scenario", "scenario.yaml", error);
  json_builder_end_object(r->about);
  return good;
}

/* Adds two runs. */
static bool add_pair(const struct report *r, GError **error)
{
  struct report second = *r;
  second.folder = r->beside;
  json_add_text(r->about, "kind", "pair");
  json_add_text(r->about, "version", RECLINE_VERSION);
  json_add_text(r->about, "folder", r->folder);
  json_open_list(r->about, "runs");
  bool good = add_beside(r, error) && add_beside(&second, error);
  json_builder_end_array(r->about);
  json_open_list(r->about, "traces");
  good = good && add_trace(r, "trace.txt", 0, error) && add_trace(&second, "trace.txt", 1, error);
  json_builder_end_array(r->about);
  return good;
}

/* ---- of a check ---- */

/* Returns the object in the file of claims, or NULL with `error` set if the file is wrong. */
static JsonObject *read_claims(JsonParser *parser, const char *file, GError **error)
{
  JsonNode *root =
      json_parser_load_from_file(parser, file, NULL) ? json_parser_get_root(parser) : NULL;
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT(root) ? json_node_get_object(root) : NULL;
  JsonNode *claims = object ? json_object_get_member(object, "claims") : NULL;
  bool good = claims && JSON_NODE_HOLDS_ARRAY(claims);
  for (guint i = 0; good && i < json_array_get_length(json_node_get_array(claims)); i++)
    good = JSON_NODE_HOLDS_OBJECT(json_array_get_element(json_node_get_array(claims), i));
  if (!good)
    input_bad(error, file, 0, "not claims, expected what recline check --out has written");
  else if (is_version(file, json_object_get_string_member_with_default(object, "version", NULL),
                      error))
    return object;
  return NULL;
}

static bool add_check(const struct report *r, GError **error)
{
  g_autofree char *file = in(r, "check.json");
  g_autoptr(JsonParser) parser = json_parser_new();
  JsonObject *object = read_claims(parser, file, error);
  if (!object || !add_file(r, "result", "check.json", error))
    return false;
  JsonArray *claims = json_object_get_array_member(object, "claims");
  bool good = true;
  unsigned number = 0;
  json_open_list(r->about, "traces");
  for (guint i = 0; i < json_array_get_length(claims) && good; i++) {
    JsonObject *claim = json_array_get_object_element(claims, i);
    const char *trace = json_object_get_string_member_with_default(claim, "trace", NULL);
    g_autofree char *name = trace ? g_path_get_basename(trace) : NULL;
    good = !name || add_trace(r, name, number++, error);
  }
  json_builder_end_array(r->about);
  return good;
}

/* ---- of a campaign, of a replication ---- */

static bool add_pictures(const struct report *r, GError **error)
{
  g_autoptr(GPtrArray) pictures = files(r, ".", ".svg");
  bool good = true;
  json_open_object(r->about, "pictures");
  for (guint i = 0; i < pictures->len && good; i++)
    good = add_file(r, pictures->pdata[i], pictures->pdata[i], error);
  json_builder_end_object(r->about);
  return good;
}

static bool add_campaign(const struct report *r, GError **error)
{
  g_autofree char *file = in(r, "campaign.txt"), *text = NULL;
  if (!g_file_get_contents(file, &text, NULL, NULL) || !g_str_has_prefix(text, "recline "))
    return input_bad(error, file, 0,
                     "cannot be read, expected what recline campaign --out has written");
  g_autofree char *version = g_strndup(text + 8, strcspn(text + 8, "\n"));
  return is_version(file, version, error) && add_file(r, "campaign", "campaign.txt", error) &&
         add_file(r, "table", "table.csv", error) && add_file(r, "runs", "runs.csv", error) &&
         (!has(r, "answer.json") || add_file(r, "answer", "answer.json", error)) &&
         add_file(r, "scenario", "cells/0.yaml", error) && add_pictures(r, error);
}

/* Adds the index of a replication, followed by the pages of the papers. */
static bool add_replication(const struct report *r, GError **error)
{
  g_autoptr(GPtrArray) pages = files(r, "replication", ".md");
  g_autofree char *text = read_text(r, "replication.md", error);
  for (guint i = 0; i < pages->len && text; i++) {
    g_autofree char *name = g_build_filename("replication", pages->pdata[i], NULL);
    g_autofree char *page = read_text(r, name, error), *before = text;
    text = page ? g_strconcat(before, "\n", page, NULL) : NULL;
  }
  if (text)
    json_add_text(r->about, "text", text);
  return text && add_pictures(r, error);
}

/* ---- the page ---- */

static const struct kind {
  const char *name, *file; /* a folder that contains `file` is of the kind `name` */
  bool (*add)(const struct report *, GError **);
} kinds[] = {{"run", "result.json", add_run},
             {"check", "check.json", add_check},
             {"campaign", "table.csv", add_campaign},
             {"replication", "replication.md", add_replication}};

static bool is_folder(const char *folder, GError **error)
{
  return g_file_test(folder, G_FILE_TEST_IS_DIR) ||
         input_bad(error, folder, 0, "%s, expected a folder that --out has written",
                   g_file_test(folder, G_FILE_TEST_EXISTS) ? "no folder" : "there is none");
}

static bool add_folder(const struct report *r, GError **error)
{
  if (!is_folder(r->folder, error))
    return false;
  if (r->beside)
    return is_folder(r->beside, error) && add_pair(r, error);
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
    if (!has(r, kinds[i].file))
      continue;
    json_add_text(r->about, "kind", kinds[i].name);
    json_add_text(r->about, "version", RECLINE_VERSION);
    json_add_text(r->about, "folder", r->folder);
    return kinds[i].add(r, error);
  }
  return input_bad(
      error, r->folder, 0,
      "no result, expected result.json of a run, check.json of a check, table.csv of a "
      "campaign or replication.md");
}

static bool write_report(const struct report *r, const char *file, GError **error)
{
  g_autofree char *page = page_load("report/page.html"), *about = NULL;
  REQUIRE(page, "report/page.html is in this build");
  json_builder_begin_object(r->about);
  if (!add_folder(r, error))
    return false;
  json_builder_end_object(r->about);
  about = page_json(r->about);
  page = page_put(page, "about", about);
  static const char PLACE[] = "<!-- data -->";
  char *place = strstr(page, PLACE);
  *place = '\0';
  g_string_prepend(r->data, page);
  g_string_append(r->data, place + strlen(PLACE));
  g_autofree char *folder = g_path_get_dirname(file);
  output_sweep(folder);
  return page_write(file, r->data->str, error);
}

/* ---- for other tools ---- */

/* Writes the run for another tool. If `export` is NULL, writes an OTF2 archive. */
static bool write_export(const struct report *r, const char *file,
                         char *(*export)(const struct story *), GError **error)
{
  struct story story = {0};
  g_autofree char *folder = g_path_get_dirname(file), *text = NULL;
  if (!has(r, "trace.txt"))
    return input_bad(error, r->folder, 0, "no trace.txt, expected a run with its trace");
  bool good = read_story(r, "trace.txt", &story, error);
  if (good && export)
    text = export(&story);
  else
    good = good && export_otf2(&story, file, error);
  story_clear(&story);
  output_sweep(folder);
  return good && (!text || page_write(file, text, error));
}

/* ---- the command ---- */

/* Writes the page or another format, as the suffix of the output's name says. */
static bool write_any(const struct report *r, const char *file, GError **error)
{
  if (r->beside && !g_str_has_suffix(file, ".html")) {
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                "%s: two runs for another tool, expected a file that ends in .html", file);
    return false;
  }
  if (g_str_has_suffix(file, ".paje"))
    return write_export(r, file, export_paje, error);
  if (g_str_has_suffix(file, ".json"))
    return write_export(r, file, export_json, error);
  if (g_str_has_suffix(file, ".otf2"))
    return write_export(r, file, NULL, error);
  if (g_str_has_suffix(file, ".html"))
    return write_report(r, file, error);
  g_set_error(
      error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
      "%s: not a kind of file that a report can be, expected one that ends in .html, .paje, "
      ".json or .otf2",
      file);
  return false;
}

/* Returns the name of a folder, which the caller frees. */
static char *folder_name(const char *folder)
{
  g_autofree char *path = g_canonicalize_filename(folder, NULL);
  g_autofree char *name = g_path_get_basename(path);
  return g_strdup(strcmp(name, "/") ? name : "report");
}

/* Returns a path in the current folder, named after the folders. The caller frees it. */
static char *default_output(char *const *folders)
{
  g_autofree char *first = folder_name(folders[0]);
  g_autofree char *second = folders[1] ? folder_name(folders[1]) : NULL;
  return g_strconcat(first, second ? "-" : "", second ? second : "", ".html", NULL);
}

const struct about about_report = {"report", "DIR [DIR]",
                                   "write a page about what --out has kept; of a run, a check, a "
                                   "campaign or a replication; two runs side by side; a trace for "
                                   "other tools",
                                   "report kept\n"
                                   "report kept other\n"
                                   "report kept -o kept.paje"};

int command_report(int argc, char **argv)
{
  g_autofree char *out = NULL;
  g_auto(GStrv) folders = NULL;
  const GOptionEntry entries[] = {
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &out,
       "Write the page there, a FILE.html; with .paje, .json or .otf2, a trace for other tools",
       "FILE"},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &folders, NULL, NULL},
      {NULL, 0, 0, 0, NULL, NULL, NULL}};
  g_autoptr(GError) error = NULL;
  if (!options_read(&about_report, argc, argv, entries))
    return EXIT_BAD_INPUT;
  if (!folders || (folders[1] && folders[2]))
    return bad_input("recline report: %s, expected one DIR, or two with a run each",
                     folders ? "more than two folders" : "no folder");
  g_autofree char *file = out ? g_strdup(out) : default_output(folders);
  g_autoptr(JsonBuilder) about = json_builder_new();
  g_autoptr(GString) data = g_string_new(NULL);
  struct report report = {folders[0], folders[1], about, data};
  progress_begin("writing the report");
  bool good = write_any(&report, file, &error);
  progress_end();
  if (!good)
    return bad_input("%s", error->message);
  printf("%s\n", file);
  return EXIT_FINE;
}
