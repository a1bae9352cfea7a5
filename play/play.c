#include "play/play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/base/breach.h"
#include "verify/base/catalogue.h"
#include "verify/base/command_line.h"
#include "verify/base/exit_codes.h"
#include "verify/base/json.h"
#include "verify/base/page.h"
#include "verify/base/terminal.h"
#include "verify/check/check.h"
#include "verify/trace/trace.h"
#include "verify/trace/trace_lines.h"
#include "verify/world/in_place.h"
#include "verify/world/properties.h"

/* ---- what is played ---- */

/* The header of a trace, with the names of properties and what else it does not tell. */
static char *describe(const char *header, const char *const *properties, bool closes)
{
  g_autoptr(GString) text = g_string_new_len(header, strstr(header, "---\n") - header);
  for (const char *const *name = properties; *name; name++)
    g_string_append_printf(text, "property %s\n", *name);
  if (closes)
    g_string_append(text, "closes 1\n");
  g_string_append(text, "---\n");
  return g_strdup(text->str);
}

static bool read_claim(const char *file, struct played *p, GError **error)
{
  struct scenario *claim = scenario_load(file, NULL, error);
  struct script *script = claim ? claim_script(claim, error) : NULL;
  if (script) {
    struct world world;
    struct parts parts;
    claim_world(claim, script, &world);
    parts_init(&parts, &world);
    world_begin(&world, (unsigned)claim->check.crashes, (unsigned)claim->check.checkpoints);
    g_autoptr(GPtrArray) properties = claim_properties(claim, true);
    char *header = trace_header(&world, "explorer");
    p->description = describe(header, (const char *const *)properties->pdata, world.closes);
    p->name = g_strdup(claim->id);
    p->title = g_strdup_printf("%s: %s", claim->id, world.protocol->title);
    p->statement = g_strdup(claim->statement);
    p->source = g_strdup(claim->source);
    p->object = g_strdup(claim->protocol.file);
    p->protocol = g_strdup(claim->protocol.name);
    free(header);
    parts_clear(&parts);
    world_clear(&world);
  }
  script_free(script);
  scenario_free(claim);
  return script != NULL;
}

/* Those that the trace says are violated, as in a replay; if there are none, those that the
 * protocol promises, and to recover. */
static GPtrArray *properties_of(const struct rcl_protocol *protocol, char **lines)
{
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  for (; *lines; lines++)
    if (g_str_has_prefix(*lines, "violation "))
      g_ptr_array_add(names, g_strndup(*lines + 10, strcspn(*lines + 10, " ")));
  if (!names->len) {
    for (const char *const *name = properties_promised(protocol); *name; name++)
      g_ptr_array_add(names, g_strdup(*name));
    g_ptr_array_add(names, g_strdup("recovers"));
  }
  g_ptr_array_add(names, NULL);
  return names;
}

static bool read_trace(const char *file, const char *text, struct played *p, GError **error)
{
  struct trace_story story;
  if (!trace_read(file, &story, error))
    return false;
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_autoptr(GPtrArray) properties = properties_of(story.protocol, lines);
  bool closes = false;
  for (unsigned i = 0; i < story.count; i++)
    closes |= story.moves[i].event.closed;
  g_autofree char *base = g_path_get_basename(file);
  p->description = describe(text, (const char *const *)properties->pdata, closes);
  p->name = g_strndup(base, strcspn(base, "."));
  p->title = g_strdup_printf("%s: %s", base, story.protocol->title);
  p->moves = g_memdup2(story.moves, story.count * sizeof *story.moves);
  p->count = story.count;
  p->again = story.again;
  p->protocol = g_strdup(story.protocol->name);
  for (char **line = lines; *line; line++)
    if (g_str_has_prefix(*line, "violation ")) {
      g_free(p->violation);
      p->violation = g_strdup(*line);
    }
  trace_story_clear(&story);
  if (strstr(p->description, "\nscript "))
    return true;
  g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
              "%s: a run of a program, expected a trace of a script (recline check --out)", file);
  return false;
}

bool played_read(const char *name, struct played *p, GError **error)
{
  *p = (struct played){0};
  g_autofree char *found = check_find_claim(name);
  g_autofree char *text = NULL;
  const char *file = found ? found : name;
  if (!g_file_get_contents(file, &text, NULL, error)) {
    g_clear_error(error);
    g_autofree char *guess = catalogue_guess(CHECKABLE, name);
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                "recline play: there is no claim and no file '%s', expected one of 'recline list "
                "claims' or 'mutants', a scenario or a trace%s",
                name, guess);
    return false;
  }
  return g_str_has_prefix(text, "recline-trace ") ? read_trace(file, text, p, error)
                                                  : read_claim(file, p, error);
}

void played_clear(struct played *p)
{
  g_free(p->name);
  g_free(p->title);
  g_free(p->statement);
  g_free(p->source);
  g_free(p->violation);
  g_free(p->protocol);
  g_free(p->object);
  g_free(p->description);
  g_free(p->moves);
  *p = (struct played){0};
}

/* ---- the page ---- */

/* As JSON that may stand in a page. */
static char *as_json(const struct played *p)
{
  g_autoptr(JsonBuilder) builder = json_builder_new();
  g_autoptr(GString) moves = g_string_new(NULL);
  for (size_t i = 0; i < p->count * sizeof *p->moves; i++)
    g_string_append_printf(moves, "%02x", ((const unsigned char *)p->moves)[i]);
  json_builder_begin_object(builder);
  json_add_text(builder, "name", p->name);
  json_add_text(builder, "title", p->title);
  json_add_text(builder, "statement", p->statement);
  json_add_text(builder, "source", p->source);
  json_add_text(builder, "description", p->description);
  json_add_text(builder, "moves", moves->str);
  json_add_text(builder, "violation", p->violation);
  json_add_whole(builder, "again", p->again);
  json_builder_end_object(builder);
  return page_json(builder);
}

/* The source beside a shared object, FILE.c of FILE.so; NULL: there is none. */
static char *find_source(const char *object)
{
  g_autofree char *stem = g_strndup(object, strlen(object) - strlen(strrchr(object, '.')));
  g_autofree char *source = g_strconcat(stem, ".c", NULL);
  return g_file_test(source, G_FILE_TEST_EXISTS) ? g_steal_pointer(&source) : NULL;
}

/* The module with a protocol that is not in it; NULL with `error` set. */
static char *link_module(const struct played *p, const char *source, GError **error)
{
  g_autofree char *tree = page_tree(), *script = g_build_filename(tree, "play", "link.sh", NULL);
  g_autofree char *beside = p->object && !source ? find_source(p->object) : NULL;
  g_autofree char *out = NULL, *said = NULL;
  int status = -1;
  source = source ? source : beside;
  if (p->object && !source) {
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                "recline play: protocol %s comes from %s, expected --source with its C file",
                p->protocol, p->object);
    return NULL;
  }
  char *command[] = {script, tree, p->protocol, (char *)(uintptr_t)source, NULL};
  if (g_spawn_sync(NULL, command, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out, &said, &status, error) &&
      status == 0)
    return g_steal_pointer(&out);
  if (said) {
    g_clear_error(error);
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "recline play: %s cannot be compiled: %s",
                p->protocol, g_strchomp(said));
  }
  return NULL;
}

static bool write_page(const struct played *p, const char *source, const char *file, GError **error)
{
  g_autofree char *page = page_load("play/page.html");
  if (!page) {
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                "recline play: recline was built without clang, lld or wasi-libc, expected these "
                "packages, and then to be built anew");
    return false;
  }
  if (p->object || strchr(p->protocol, '~')) {
    g_autofree char *module = link_module(p, source, error);
    if (!module)
      return false;
    page = page_put(page, "module", module);
  }
  g_autofree char *world = as_json(p);
  page = page_put(page, "world", world);
  return page_write(file, page, error);
}

/* ---- the command ---- */

const struct about about_play = {"play", "CLAIM|SCENARIO|TRACE",
                                 "write a page in which a world is taken move by move",
                                 "play c3-recovers\n"
                                 "play kept/c3-no-suppress.trace -o look.html\n"
                                 "play my-claim.yaml --source my-protocol.c"};

int command_play(int argc, char **argv)
{
  g_autofree char *out = NULL, *source = NULL;
  g_auto(GStrv) names = NULL;
  const GOptionEntry entries[] = {
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &out, "Write the page there", "FILE.html"},
      {"source", 0, 0, G_OPTION_ARG_FILENAME, &source, "C file of a protocol of one's own",
       "FILE.c"},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &names, NULL, NULL},
      {NULL, 0, 0, 0, NULL, NULL, NULL}};
  g_autoptr(GError) error = NULL;
  if (!options_read(&about_play, argc, argv, entries))
    return EXIT_BAD_INPUT;
  if (!names || !names[0] || names[1])
    return bad_input("recline play: %s, expected one claim, scenario or trace",
                     names && names[0] ? "more than one thing" : "nothing to play");
  struct played played;
  bool fine = played_read(names[0], &played, &error);
  g_autofree char *file =
      out ? g_strdup(out) : g_strconcat(played.name ? played.name : "", ".html", NULL);
  progress_begin("making the page");
  fine = fine && write_page(&played, source, file, &error);
  progress_end();
  played_clear(&played);
  if (!fine)
    return bad_input("%s", error->message);
  printf("%s\n", file);
  return EXIT_FINE;
}
