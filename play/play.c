#include "play/play.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "base/glib/catalogue.h"
#include "base/glib/command_line.h"
#include "base/glib/json.h"
#include "base/glib/page.h"
#include "base/glib/terminal.h"
#include "base/platform.h"
#include "plots/states.h"
#include "plots/words.h"
#include "verify/check/check.h"
#include "world/rules/in_place.h"
#include "world/rules/properties.h"
#include "world/scenario/plugin.h"
#include "world/trace/trace.h"
#include "world/trace/trace_lines.h"

/* ---- the world that is played ---- */

/* Returns the header of a trace, to which the names of properties and other missing lines are
 * added. The caller frees it. */
static char *describe(const char *header, const char *const *properties, bool closes,
                      const char *more)
{
  g_autoptr(GString) text = g_string_new_len(header, strstr(header, "---\n") - header);
  for (const char *const *name = properties; *name; name++)
    g_string_append_printf(text, "property %s\n", *name);
  if (closes)
    g_string_append(text, "closes 1\n");
  g_string_append(text, more);
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
    g_autoptr(GPtrArray) properties = claim_properties(claim);
    for (guint i = 0; i + 1 < properties->len; i++) /* pages do not judge formulas */
      if (g_str_equal(properties->pdata[i], "ltl"))
        g_ptr_array_remove_index(properties, i--);
    char *header = trace_header(&world, "explorer");
    p->description = describe(header, (const char *const *)properties->pdata, world.closes, "");
    p->name = g_strdup(claim->id);
    p->title = g_strdup_printf("%s: %s", claim->id, world.protocol->title);
    p->statement = g_strdup(claim->statement);
    p->source = g_strdup(claim->source);
    p->object = g_strdup(claim->protocol.file);
    p->protocol = g_strdup(claim->protocol.name);
    p->searches = claim->expect.verdict == EXPECT_VIOLATED && properties->len > 1;
    free(header);
    parts_clear(&parts);
    world_clear(&world);
  }
  script_free(script);
  scenario_free(claim);
  return script != NULL;
}

/* Returns the properties to judge. As in a replay, they are the properties that the trace calls
 * violated. If the trace names none, they are `recovers` and the protocol's promises. For real
 * programs, properties about how a run would go on are left out. */
static GPtrArray *properties_of(const struct rcl_protocol *protocol, char **lines, bool real)
{
  static const char *const searched[] = {"deadlock", "commits",  "outcome",
                                         "requests", "progress", NULL};
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  for (; *lines; lines++)
    if (g_str_has_prefix(*lines, "violation "))
      g_ptr_array_add(names, g_strndup(*lines + 10, strcspn(*lines + 10, " ")));
  if (!names->len) {
    for (const char *const *name = properties_promised(protocol); *name; name++)
      if (!real || !g_strv_contains(searched, *name))
        g_ptr_array_add(names, g_strdup(*name));
  }
  g_ptr_array_add(names, NULL);
  return names;
}

/* Returns the lines of the header that real programs tell only later. Sets `times` to the times of
 * all steps, with one line for each. The caller frees both. */
static char *read_steps(char **lines, char **times)
{
  g_autoptr(GString) later = g_string_new(NULL), time = g_string_new(NULL);
  while (!g_str_equal(*lines, "---"))
    lines++;
  for (lines++; *lines && **lines; lines++) {
    unsigned rank, comm;
    if (g_str_has_prefix(*lines, "violation ") || g_str_has_prefix(*lines, "again "))
      continue;
    g_string_append_len(time, *lines, (gssize)strcspn(*lines, " "));
    g_string_append_c(time, '\n');
    if (sscanf(*lines, "%*s %u member comm=%u", &rank, &comm) == 2)
      g_string_append_printf(later, "later %u member comm=%u\n", rank, comm);
  }
  *times = g_strdup(time->str);
  return g_strdup(later->str);
}

/* Returns a name for the trace. A file trace.txt is named after its folder, as the report is. */
static char *trace_name(const char *file, const char *base)
{
  g_autofree char *path = g_canonicalize_filename(file, NULL), *folder = g_path_get_dirname(path);
  return g_str_equal(base, "trace.txt") ? g_path_get_basename(folder)
                                        : g_strndup(base, strcspn(base, "."));
}

/* Runs a program. Returns whether it succeeded. If not, sets `error`, which begins with `what`. */
static bool run_program(char **command, const char *what, char **out, GError **error)
{
  g_autofree char *said = NULL;
  int status = -1;
  if (!g_spawn_sync(NULL, command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, out, &said, &status,
                    error))
    return false;
  if (status)
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "recline play: %s cannot be compiled: %s",
                what, g_strchomp(said));
  return !status;
}

/* Compiles a protocol's C file for this machine, and loads it. */
static bool load_source(const char *source, GError **error)
{
  g_autofree char *tree = page_tree(), *dir = g_dir_make_tmp("recline-XXXXXX", error);
  if (!dir)
    return false;
  g_autofree char *object = g_build_filename(dir, "protocol.so", NULL), *said = NULL;
  g_autofree char *built = g_strdup_printf("-I%s/include", tree);
  g_autofree char *installed = g_strdup_printf("-I%s/../../include", tree);
  char *command[] = {"cc",  "-std=c11", "-O2", "-shared", "-fPIC",
                     built, installed,  "-o",  object,    (char *)(uintptr_t)source,
                     NULL};
  bool good = run_program(command, source, &said, error) && plugin_load(object, error);
  g_remove(object);
  g_rmdir(dir);
  return good;
}

/* Finds the protocol of a trace. If the protocol is not known and `source` is not NULL, compiles it
 * from `source`. */
static bool find_protocol(const char *source, char **lines, GError **error)
{
  for (; source && *lines && !g_str_equal(*lines, "---"); lines++)
    if (g_str_has_prefix(*lines, "protocol ") && !plugin_protocol(*lines + strlen("protocol ")))
      return load_source(source, error);
  return true;
}

/* Adds the statement of the claim or mutant to which a counterexample belongs. It says what is
 * claimed, or what was broken on purpose. */
static void add_statement(struct played *p)
{
  g_autofree char *file = check_find_claim(p->name);
  struct scenario *claim = file ? scenario_load(file, NULL, NULL) : NULL;
  if (claim && g_str_equal(claim->protocol.name, p->protocol)) {
    p->statement = g_strdup(claim->statement);
    p->source = g_strdup(claim->source);
  }
  scenario_free(claim);
}

static bool read_trace(const char *file, const char *source, const char *text, struct played *p,
                       GError **error)
{
  struct trace_story story;
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  if (!find_protocol(source, lines, error) || !trace_read(file, &story, error))
    return false;
  bool real = !g_regex_match_simple("^script ", text, G_REGEX_MULTILINE, 0), closes = false;
  g_autoptr(GPtrArray) properties = properties_of(story.protocol, lines, real);
  g_autofree char *later = real ? read_steps(lines, &p->times) : g_strdup("");
  for (unsigned i = 0; i < story.count; i++)
    closes |= story.moves[i].event.closed;
  g_autofree char *base = g_path_get_basename(file);
  p->description = describe(text, (const char *const *)properties->pdata, closes, later);
  p->name = trace_name(file, base);
  p->title = g_strdup_printf("%s: %s", p->name, story.protocol->title);
  p->moves = g_memdup2(story.moves, story.count * sizeof *story.moves);
  p->count = p->at = story.count;
  p->again = story.again;
  p->protocol = g_strdup(story.protocol->name);
  p->object = g_strdup(plugin_file(p->protocol));
  add_statement(p);
  for (char **line = lines; *line; line++)
    if (g_str_has_prefix(*line, "violation ")) {
      g_free(p->violation);
      p->violation = g_strdup(*line);
    }
  trace_story_clear(&story);
  return true;
}

bool played_read(const char *name, const char *source, struct played *p, GError **error)
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
  return g_str_has_prefix(text, "recline-trace ") ? read_trace(file, source, text, p, error)
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
  g_free(p->times);
  g_free(p->moves);
  *p = (struct played){0};
}

/* ---- the page ---- */

static void add_words(JsonBuilder *builder, const char *key, const struct words *words)
{
  json_open_object(builder, key);
  for (; words->name; words++) {
    json_open_object(builder, words->name);
    json_add_text(builder, "text", words->text);
    if (words->field)
      json_add_text(builder, "field", words->field);
    json_builder_end_object(builder);
  }
  json_builder_end_object(builder);
}

/* Adds the texts of the protocol's control messages, by name. */
static void add_controls(JsonBuilder *builder, const char *name)
{
  const struct rcl_protocol *protocol = rcl_protocol_named(name);
  json_open_object(builder, "controls");
  for (const char *const *control = protocol ? protocol->controls : NULL; control && *control;
       control++) {
    g_auto(GStrv) halves = g_strsplit(*control, ": ", 2);
    if (halves[1])
      json_add_text(builder, halves[0], halves[1]);
  }
  json_builder_end_object(builder);
}

static void add_transition(void *builder, const char *from, const char *to, const char *event)
{
  json_builder_begin_object(builder);
  json_add_text(builder, "from", from);
  json_add_text(builder, "to", to);
  json_add_text(builder, "event", event);
  json_builder_end_object(builder);
}

/* Returns the source of a protocol, or of the protocol that it is a form or a mutant of, or NULL if
 * it is not known. The caller frees it. */
static char *protocol_source(const char *name)
{
  g_autofree char *plain = g_strndup(name, strcspn(name, "~"));
  const struct rcl_protocol *first = NULL, *form;
  for (size_t i = 0; (form = rcl_protocol_at(i)); i++) {
    g_autofree char *file = catalogue_find(CATALOGUE_PROTOCOLS, form->name);
    first = file ? form : first; /* other forms follow the first form */
    if (g_str_equal(form->name, plain))
      return first ? catalogue_find(CATALOGUE_PROTOCOLS, first->name) : NULL;
  }
  return NULL;
}

/* Returns the state diagram of a protocol in SVG, or "" if its source has no diagram. The caller
 * frees the text. Graphviz needs address space, and crashes without it. */
static char *draw_states(const char *file, const char *text)
{
  g_autofree char *svg = NULL;
  gsize length;
  const size_t room = 512 << 20;
  void *memory = platform_reserve(room);
  if (memory)
    platform_release(memory, room);
  struct picture *picture = memory ? states_draw(file, text, NULL) : NULL;
  bool good = picture && picture_render(picture, "dot", "svg", &svg, &length, NULL);
  if (picture)
    picture_free(picture);
  const char *begin = good ? g_strstr_len(svg, (gssize)length, "<svg") : NULL;
  return begin ? g_strndup(begin, length - (gsize)(begin - svg)) : g_strdup("");
}

/* Adds the transitions of the protocol, in the order of their numbers, and puts the diagram into
 * the page. */
static char *add_states(JsonBuilder *builder, const struct played *p, const char *source,
                        char *page)
{
  g_autofree char *file = source ? g_strdup(source) : protocol_source(p->protocol), *text = NULL;
  json_open_list(builder, "transitions");
  if (!file || !g_file_get_contents(file, &text, NULL, NULL))
    text = g_strdup("");
  g_autofree char *svg = draw_states(file ? file : "", text);
  if (*svg)
    states_each(file, text, add_transition, builder, NULL);
  json_builder_end_array(builder);
  g_autofree char *packed = page_pack(svg, strlen(svg));
  return page_put(page, "states-drawn", packed);
}

/* Returns the page with its data. Frees `page`. The caller frees the result. */
static char *put_world(const struct played *p, const char *source, char *page)
{
  g_autoptr(JsonBuilder) builder = json_builder_new();
  json_builder_begin_object(builder);
  json_add_text(builder, "name", p->name);
  json_add_text(builder, "title", p->title);
  json_add_text(builder, "statement", p->statement);
  json_add_text(builder, "source", p->source);
  json_add_text(builder, "description", p->description);
  json_add_text(builder, "violation", p->violation);
  json_add_whole(builder, "again", p->again);
  json_add_whole(builder, "at", p->at);
  json_add_bool(builder, "real", p->times != NULL);
  json_add_bool(builder, "searches", p->searches);
  page = add_states(builder, p, source, page);
  json_open_object(builder, "words");
  add_words(builder, "events", words_events);
  add_words(builder, "actions", words_actions);
  add_words(builder, "quiet", words_quiet);
  add_words(builder, "flows", words_flows);
  add_words(builder, "rules", words_rules);
  add_words(builder, "harms", words_harms);
  add_words(builder, "reasons", words_reasons);
  add_words(builder, "marks", words_marks);
  add_words(builder, "labels", words_labels);
  add_controls(builder, p->protocol);
  json_builder_end_object(builder);
  json_builder_end_object(builder);
  g_autofree char *world = page_json(builder);
  return page_put(page, "world", world);
}

/* Returns the path of the source beside a shared object, FILE.c for FILE.so, or NULL if there is
 * none. The caller frees it. */
static char *find_source(const char *object)
{
  g_autofree char *stem = g_strndup(object, strlen(object) - strlen(strrchr(object, '.')));
  g_autofree char *source = g_strconcat(stem, ".c", NULL);
  return g_file_test(source, G_FILE_TEST_EXISTS) ? g_steal_pointer(&source) : NULL;
}

/* Returns the wasm module, linked with a protocol that it lacks. The layout of the protocol's state
 * follows on a line of its own, which may be empty. On failure, returns NULL with `error` set. */
static char *link_module(const struct played *p, const char *source, GError **error)
{
  g_autofree char *tree = page_tree(), *script = g_build_filename(tree, "play", "link.sh", NULL);
  g_autofree char *beside = p->object && !source ? find_source(p->object) : NULL;
  char *out = NULL;
  source = source ? source : beside;
  if (p->object && !source) {
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                "recline play: protocol %s comes from %s, expected --source with its C file",
                p->protocol, p->object);
    return NULL;
  }
  char *command[] = {script, tree, p->protocol, (char *)(uintptr_t)source, NULL};
  if (run_program(command, p->protocol, &out, error))
    return out;
  g_free(out);
  return NULL;
}

static bool write_page(const struct played *p, const char *source, const char *file, GError **error)
{
  g_autofree char *page = page_load("play/page.html");
  if (!page) {
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                "recline play: recline was built without clang, lld or wasi-libc, expected a build "
                "where these packages are installed");
    return false;
  }
  g_autofree char *beside = p->object && !source ? find_source(p->object) : NULL;
  if (p->object || strchr(p->protocol, '~')) {
    g_autofree char *module = link_module(p, source, error);
    if (!module)
      return false;
    char *layout = strchr(module, '\n');
    *layout++ = '\0';
    page = page_put(page, "module", module);
    page = page_put(page, "own", layout);
  }
  page = put_world(p, beside ? beside : source, page);
  g_autofree char *moves = page_pack(p->moves, p->count * sizeof *p->moves);
  page = page_put(page, "moves-known", moves);
  g_autofree char *times = page_pack(p->times, p->times ? strlen(p->times) : 0);
  page = page_put(page, "times", times);
  return page_write(file, page, error);
}

/* ---- the command ---- */

/* Makes the page open at the last step up to that time or, for a counterexample, at the step with
 * that number. */
static bool open_at(struct played *p, const char *time, GError **error)
{
  double at = 0;
  guint64 step;
  if (!p->times && g_ascii_string_to_unsigned(time, 10, 0, p->count, &step, NULL)) {
    p->at = (unsigned)step;
    return true;
  }
  if (!p->times) {
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                "recline play: --at %s, expected a step from 0 to %u", time, p->count);
    return false;
  }
  if (!scenario_seconds(time, &at, error)) {
    g_prefix_error(error, "recline play: --at: ");
    return false;
  }
  const char *line = p->times;
  for (p->at = 0; *line && g_ascii_strtod(line, NULL) <= at; p->at++)
    line = strchr(line, '\n') + 1;
  return true;
}

const struct about about_play = {"play", "CLAIM|SCENARIO|TRACE",
                                 "write a page in which a world is taken move by move",
                                 "play c3-recovers\n"
                                 "play kept/c3-no-suppress.trace -o look.html\n"
                                 "play kept/trace.txt --at 150ms\n"
                                 "play my-claim.yaml --source my-protocol.c"};

int command_play(int argc, char **argv)
{
  g_autofree char *out = NULL, *source = NULL, *at = NULL;
  g_auto(GStrv) names = NULL;
  const GOptionEntry entries[] = {
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &out, "Write the page there", "FILE.html"},
      {"source", 0, 0, G_OPTION_ARG_FILENAME, &source, "C file of a protocol of one's own",
       "FILE.c"},
      {"at", 0, 0, G_OPTION_ARG_STRING, &at,
       "Open a trace at its last step up to that time (120ms), a counterexample's at that step",
       "TIME"},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &names, NULL, NULL},
      {NULL, 0, 0, 0, NULL, NULL, NULL}};
  g_autoptr(GError) error = NULL;
  if (!options_read(&about_play, argc, argv, entries))
    return EXIT_BAD_INPUT;
  if (!names || !names[0] || names[1])
    return bad_input("recline play: %s, expected one claim, scenario or trace",
                     names && names[0] ? "more than one thing" : "nothing to play");
  struct played played;
  bool fine =
      played_read(names[0], source, &played, &error) && (!at || open_at(&played, at, &error));
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
