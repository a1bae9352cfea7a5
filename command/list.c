/* recline list: lists what can be run and checked. */
#include <stdio.h>
#include <string.h>

#include "base/glib/catalogue.h"
#include "base/glib/json.h"
#include "base/nearest.h"
#include "command/common.h"
#include "command/main.h"
#include "command/map.h"
#include "protocols/protocol.h"
#include "world/scenario/machine_file.h"
#include "world/scenario/platform_file.h"
#include "world/scenario/scenario.h"

static const char expected[] =
    "expected protocols, claims, platforms, scenarios, programs or mutants";

/* Lists the MPI programs that come with recline, with descriptions from the comments at the tops of
 * their sources. */
static const struct program {
  const char *name, *what, *usage;
} programs[] = {
#include "programs.inc"
};

/* Lists the kinds of things that can be listed. Protocols and programs have no files. */
static const struct kind {
  const char *name;
  unsigned files; /* enum catalogue */
} kinds[] = {{"protocols", 0},
             {"claims", CATALOGUE_CLAIMS},
             {"platforms", CATALOGUE_PLATFORMS | CATALOGUE_MACHINES},
             {"scenarios", CATALOGUE_SCENARIOS},
             {"programs", 0},
             {"mutants", CATALOGUE_MUTANTS}};

const char *list_kind(size_t i)
{
  return i < G_N_ELEMENTS(kinds) ? kinds[i].name : NULL;
}

/* Holds the command line. */
struct request {
  char **words; /* the kind, followed by words that names must contain or match */
  gboolean json, map;
  char *output; /* the file for the map, or NULL for a table on standard output */
};

/* Returns whether the user asks for `name`. It must contain one of `words` or, if the word has * or
 * ?, must match the word. Without words, every name is asked for. */
static bool is_asked(char *const *words, const char *name)
{
  for (char *const *word = words; *word; word++)
    if (strpbrk(*word, "*?") ? g_pattern_match_simple(*word, name) : strstr(name, *word) != NULL)
      return true;
  return !*words;
}

/* Prints a list to standard output, or adds it to `builder`. Returns the number of entries. */
static unsigned list_protocols(JsonBuilder *builder, char *const *words)
{
  const struct rcl_protocol *protocol;
  unsigned count = 0;
  for (size_t i = 0; (protocol = rcl_protocol_at(i)); i++) {
    if (!is_asked(words, protocol->name))
      continue;
    count++;
    if (!builder) {
      printf("%-20s %s\n", protocol->name, protocol->title);
      continue;
    }
    json_builder_begin_object(builder);
    json_add_text(builder, "name", protocol->name);
    json_add_text(builder, "title", protocol->title);
    json_add_whole(builder, "piggyback_bytes", protocol->piggyback_bytes);
    json_add_whole(builder, "control_bytes", protocol->control_bytes);
    json_add_bool(builder, "collectives", protocol->collectives);
    json_add_bool(builder, "piggybacks", protocol->piggybacks);
    json_open_list(builder, "promises");
    for (const char *const *name = protocol->promises; name && *name; name++)
      json_builder_add_string_value(builder, *name);
    json_builder_end_array(builder);
    if (protocol->place)
      map_add(builder, protocol->place);
    json_builder_end_object(builder);
  }
  return count;
}

static unsigned list_programs(JsonBuilder *builder, char *const *words)
{
  unsigned count = 0;
  for (size_t i = 0; i < G_N_ELEMENTS(programs); i++) {
    const struct program *program = &programs[i];
    if (!is_asked(words, program->name))
      continue;
    count++;
    if (!builder) {
      printf("%-12s %s\n%-12s %s\n", program->name, program->what, "", program->usage);
      continue;
    }
    json_builder_begin_object(builder);
    json_add_text(builder, "name", program->name);
    json_add_text(builder, "what", program->what);
    json_add_text(builder, "usage", program->usage);
    json_builder_end_object(builder);
  }
  return count;
}

static void print_item(JsonBuilder *builder, const char *id, const char *text, const char *file)
{
  if (!builder) {
    printf("%-32s %s\n", id, text ? text : file);
    return;
  }
  json_builder_begin_object(builder);
  json_add_text(builder, "id", id);
  json_add_text(builder, "statement", text);
  json_add_text(builder, "file", file);
  json_builder_end_object(builder);
}

static bool list_platform(JsonBuilder *builder, const char *id, const char *file, GError **error)
{
  g_autoptr(GError) problem = NULL;
  g_autofree char *text = NULL;
  if (is_machine_file(file) && !(text = machine_load(file, error)))
    return false;
  text = text ? text : platform_read(file, &problem);
  g_auto(GStrv) hosts = text ? platform_hosts(text, NULL, &problem) : NULL;
  if (!hosts) {
    g_set_error(error, SCENARIO_ERROR, 0, "%s: %s, expected a SimGrid platform file", file,
                problem->message);
    return false;
  }
  if (!builder) {
    printf("%-20s %u hosts\n", id, g_strv_length(hosts));
    return true;
  }
  json_builder_begin_object(builder);
  json_add_text(builder, "id", id);
  json_add_whole(builder, "hosts", g_strv_length(hosts));
  json_add_text(builder, "file", file);
  json_builder_end_object(builder);
  return true;
}

/* If the user asks for the file, lists it and counts it. */
static bool list_file(const struct request *request, const struct kind *kind, JsonBuilder *builder,
                      const char *file, unsigned *count, GError **error)
{
  g_autofree char *id = NULL, *statement = NULL, *name = g_path_get_basename(file);
  bool platform = (kind->files & CATALOGUE_PLATFORMS) != 0;
  *strrchr(name, '.') = '\0';
  if (!platform && !scenario_headline(file, &id, &statement, error))
    return false;
  if (!is_asked(request->words + 1, platform ? name : id))
    return true;
  ++*count;
  if (platform)
    return list_platform(builder, name, file, error);
  print_item(builder, id, statement, file);
  return true;
}

/* Lists files. Goes on after a bad file, so that a bad file does not hide other files. */
static int list_files(const struct request *request, const struct kind *kind, JsonBuilder *builder,
                      unsigned *count)
{
  g_auto(GStrv) files = catalogue_files(kind->files);
  int code = EXIT_FINE;
  for (char **file = files; *file; file++) {
    g_autoptr(GError) error = NULL;
    if (!list_file(request, kind, builder, *file, count, &error))
      code = bad_input("%s", error->message);
  }
  return code;
}

static const struct kind *kind_named(const char *name)
{
  const char *names[G_N_ELEMENTS(kinds) + 1] = {NULL};
  for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
    names[i] = kinds[i].name;
    if (!strcmp(kinds[i].name, name))
      return &kinds[i];
  }
  g_autofree char *guess = did_you_mean(name, names);
  bad_input("recline list: \"%s\" is nothing to list, %s%s", name, expected, guess);
  return NULL;
}

const struct about about_list = {"list", "WHAT [NAME]...",
                                 "say what there is: protocols, claims, platforms, scenarios, "
                                 "programs or mutants; all, or those with NAME in theirs, or that "
                                 "match it, with * and ?",
                                 "list scenarios\n"
                                 "list claims 'c3*barrier*'\n"
                                 "list programs\n"
                                 "list claims --json\n"
                                 "list protocols --map -o map.svg"};

static bool read_request(int argc, char **argv, struct request *request)
{
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &request->json, "Print one JSON object and nothing else",
       NULL},
      {"map", 0, 0, G_OPTION_ARG_NONE, &request->map,
       "Say what each protocol logs, when and where, who goes back, what it assumes", NULL},
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &request->output, "Draw the map there",
       "FILE.svg|.pdf|.png"},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &request->words, NULL, NULL},
      {NULL, 0, 0, 0, NULL, NULL, NULL}};
  return options_read(&about_list, argc, argv, entries);
}

static int make_map(const struct request *request, const struct kind *kind)
{
  g_autoptr(GError) error = NULL;
  if (strcmp(kind->name, "protocols") || request->words[1] || request->json || !request->map)
    return bad_input("recline list: %s, expected list protocols --map [-o FILE.svg]",
                     !request->map   ? "-o without --map"
                     : request->json ? "--map with --json"
                                     : "a map of something else");
  if (!request->output)
    map_print();
  else if (!map_draw(request->output, &error))
    return bad_input("%s", error->message);
  return EXIT_FINE;
}

static int make_list(const struct request *request, const struct kind *kind)
{
  g_autoptr(JsonBuilder) builder = request->json ? json_builder_new() : NULL;
  unsigned count = 0;
  int code = EXIT_FINE;
  if (builder) {
    json_builder_begin_object(builder);
    json_open_list(builder, kind->name);
  }
  if (kind->files)
    code = list_files(request, kind, builder, &count);
  else if (!strcmp(kind->name, "programs"))
    count = list_programs(builder, request->words + 1);
  else
    count = list_protocols(builder, request->words + 1);
  if (builder) {
    json_builder_end_array(builder);
    json_builder_end_object(builder);
    json_print(builder);
  }
  if (!count && request->words[1] && code == EXIT_FINE)
    return bad_input("recline list: no name of %s matches '%s', expected a part of one, or * and ?",
                     kind->name, request->words[1]);
  return code;
}

int command_list(int argc, char **argv)
{
  struct request request = {0};
  bool read = read_request(argc, argv, &request);
  g_auto(GStrv) words = request.words;
  g_autofree char *output = request.output;
  if (!read)
    return EXIT_BAD_INPUT;
  if (!words)
    return bad_input("recline list: nothing named, %s", expected);
  const struct kind *kind = kind_named(words[0]);
  if (!kind)
    return EXIT_BAD_INPUT;
  return request.map || output ? make_map(&request, kind) : make_list(&request, kind);
}
