#include "plots/draw.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/exit_codes.h"
#include "base/glib/catalogue.h"
#include "base/glib/command_line.h"
#include "base/glib/terminal.h"
#include "base/output.h"
#include "base/platform.h"
#include "plots/dependencies.h"
#include "plots/input.h"
#include "plots/narration.h"
#include "plots/part.h"
#include "plots/spacetime.h"
#include "plots/states.h"
#include "plots/topology.h"

struct request {
  bool dependencies; /* for a trace: draw the rollback-dependency graph */
  struct part part;  /* for a trace: which part of the trace to draw; the request owns the texts */
  char *input;       /* the file's name as the user gave it */
  char *file;        /* the file that was found under that name */
  char *text;        /* the content of the file */
  char *output;
};

/* --- what to draw, and how --- */

static bool wants_part(const struct request *request)
{
  return request->part.from || request->part.to || request->part.ranks;
}

static struct picture *draw_history(const struct request *request, const struct history *history,
                                    GError **error)
{
  unsigned outside = 0;
  struct history *part =
      wants_part(request) ? part_of(history, &request->part, &outside, error) : NULL;
  if (wants_part(request) && part == NULL)
    return NULL;
  const struct history *drawn = part ? part : history;
  struct picture *picture =
      request->dependencies ? dependencies_draw(history) : spacetime_draw(drawn, outside);
  if (part)
    part_free(part);
  return picture;
}

static struct picture *draw_trace(const struct request *request, GError **error)
{
  struct trace_file *trace = trace_file_parse(request->file, request->text, error);
  if (trace == NULL)
    return NULL;
  struct history *history = history_read(trace, error);
  struct picture *picture = NULL;
  if (history != NULL)
    picture = draw_history(request, history, error);
  if (history != NULL)
    history_free(history);
  trace_file_free(trace);
  return picture;
}

/* Draws the picture of a file. The content tells the kind of the file. C sources are recognized by
 * their name. */
static struct picture *draw(const struct request *request, const char **engine, GError **error)
{
  *engine = "nop2";
  if (g_str_has_prefix(request->text, "recline-trace")) {
    *engine = request->dependencies ? "nop" : "nop2";
    return draw_trace(request, error);
  }
  if (request->dependencies || wants_part(request)) {
    input_bad(error, request->file, 0, "no trace, expected one with %s",
              request->dependencies ? "--dependencies" : "--from, --to and --ranks");
    return NULL;
  }
  if (request->text[0] == '<') { /* <?xml, <!DOCTYPE, <platform, or a comment before them */
    *engine = "neato";
    return platform_draw(request->file, request->text, error);
  }
  if (g_str_has_suffix(request->file, ".c")) {
    *engine = "dot";
    return states_draw(request->file, request->text, error);
  }
  input_bad(
      error, request->file, 0,
      "neither a trace, a platform nor a protocol, expected \"recline-trace 3\", <platform> or "
      "a .c file");
  return NULL;
}

/* --- files --- */

enum { DRAWN = CATALOGUE_PROTOCOLS | CATALOGUE_PLATFORMS };

/* Finds the file of that name. If there is none, finds a protocol or platform of that name among
 * the data files. The caller frees the result. */
static char *find_file(const char *input)
{
  if (strchr(input, '/') != NULL || g_file_test(input, G_FILE_TEST_IS_REGULAR))
    return g_strdup(input);
  char *found = catalogue_find(DRAWN, input);
  return found ? found : g_strdup(input);
}

/* Returns a text that says what the user may have meant. The caller frees it. For a mutant, it
 * names the claim, because the counterexample of the claim can be drawn. The claim has the mutant's
 * name with - instead of ~. For any other input, the text gives a similar name. */
static char *hint_for(const char *input)
{
  g_autofree char *claim = g_strdelimit(g_strdup(input), "~", '-');
  g_autofree char *found = catalogue_find(CATALOGUE_CLAIMS | CATALOGUE_MUTANTS, claim);
  return found ? g_strdup_printf("; 'recline check %s --out DIR' draws the counterexample of that "
                                 "claim, if it is violated",
                                 claim)
               : catalogue_guess(DRAWN, input);
}

static bool read_input(struct request *request, GError **error)
{
  g_autoptr(GError) reason = NULL;
  gsize length;
  request->file = find_file(request->input);
  if (!g_file_get_contents(request->file, &request->text, &length, &reason)) {
    g_autofree char *hint = hint_for(request->input);
    return input_bad(error, request->file, 0,
                     "cannot be read, expected a trace, a platform or a protocol%s", hint);
  }
  if (!g_utf8_validate(request->text, (gssize)length, NULL))
    return input_bad(error, request->file, 0, "not text, expected UTF-8");
  return true;
}

/* Returns a path in the current folder, named after the input. The caller frees it. */
static char *default_output(const char *file)
{
  g_autofree char *name = g_path_get_basename(file);
  char *dot = strrchr(name, '.');
  if (dot != NULL && dot != name)
    *dot = '\0';
  return g_strconcat(name, ".svg", NULL);
}

/* Returns the format that the suffix names. Graphviz can make other formats besides SVG. */
static const char *format_of(const char *output)
{
  static const char *const FORMATS[] = {"svg", "pdf", "png"};
  const char *dot = strrchr(output, '.');
  for (unsigned i = 0; i < G_N_ELEMENTS(FORMATS); i++)
    if (dot != NULL && g_str_equal(dot + 1, FORMATS[i]))
      return FORMATS[i];
  return NULL;
}

/* Returns whether the user wants the trace told in words. */
static bool is_narration(const struct request *request)
{
  return request->output != NULL && g_str_has_suffix(request->output, ".txt");
}

const struct about about_draw = {
    "draw", "TRACE|PLATFORM|PROTOCOL",
    "draw a trace, a machine or the states of a protocol; tell a trace in words",
    "draw kept/trace.txt --from 100ms --to 200ms -o part.svg\n"
    "draw kept/c3-no-suppress.trace -o story.txt\n"
    "draw sif -o sif.png"};

static bool read_options(int argc, char **argv, struct request *request, GError **error)
{
  gboolean dependencies = FALSE;
  g_auto(GStrv) files = NULL;
  const GOptionEntry entries[] = {
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &request->output,
       "Write there: a picture, or with .txt a text that tells the trace",
       "FILE.svg|.pdf|.png|.txt"},
      {"dependencies", 0, 0, G_OPTION_ARG_NONE, &dependencies,
       "Draw the rollback-dependency graph of a trace", NULL},
      {"from", 0, 0, G_OPTION_ARG_STRING, &request->part.from,
       "Draw the trace from there on: a step, or a time (120ms); a text tells all of it", "TIME"},
      {"to", 0, 0, G_OPTION_ARG_STRING, &request->part.to, "Draw it up to there", "TIME"},
      {"ranks", 0, 0, G_OPTION_ARG_STRING, &request->part.ranks, "Draw these ranks (0-3,7)",
       "LIST"},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &files, NULL, NULL},
      {NULL, 0, 0, 0, NULL, NULL, NULL}};
  if (!options_read(&about_draw, argc, argv, entries))
    return false;
  if (files == NULL)
    return input_bad(error, "draw", 0,
                     "no file, expected TRACE|PLATFORM|PROTOCOL [-o FILE.svg] [--dependencies]");
  if (files[1] != NULL)
    return input_bad(error, "draw", 0, "a second file %s, expected one", files[1]);
  request->input = g_strdup(files[0]);
  request->dependencies = dependencies;
  return true;
}

static bool read_arguments(int argc, char **argv, struct request *request, GError **error)
{
  if (!read_options(argc, argv, request, error))
    return false;
  if (is_narration(request) && (request->dependencies || wants_part(request)))
    return input_bad(error, request->output, 0, "with %s, expected .svg, .pdf or .png",
                     request->dependencies ? "--dependencies" : "--from, --to or --ranks");
  if (request->dependencies && wants_part(request))
    return input_bad(error, "draw", 0,
                     "--dependencies with --from, --to or --ranks, expected the whole trace");
  if (request->output != NULL && !is_narration(request) && format_of(request->output) == NULL)
    return input_bad(error, request->output, 0,
                     "unknown kind of picture, expected .svg, .pdf, .png or .txt");
  return true;
}

static bool write_output(const struct request *request, const char *data, gsize length,
                         GError **error)
{
  g_autofree char *folder = g_path_get_dirname(request->output);
  output_sweep(folder);
  if (output_write(request->output, data, length))
    return true;
  g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno), OUTPUT_CANNOT,
              request->output, g_strerror(errno));
  return false;
}

static bool narrate(struct request *request, GError **error)
{
  if (!read_input(request, error))
    return false;
  if (!g_str_has_prefix(request->text, "recline-trace"))
    return input_bad(error, request->file, 0, "no trace, expected one to be told in words");
  struct trace_file *trace = trace_file_parse(request->file, request->text, error);
  struct history *history = trace != NULL ? history_read(trace, error) : NULL;
  bool good = history != NULL;
  if (good) {
    g_autofree char *text = narration_write(history);
    good = write_output(request, text, strlen(text), error);
    history_free(history);
  }
  if (trace != NULL)
    trace_file_free(trace);
  return good;
}

/* Tests whether there is memory. For a small picture, Graphviz and its fonts take 70 MB, and also
 * address space for the stacks and heaps of threads. Without that memory they crash, or measure
 * texts by other fonts. */
static bool has_memory(const struct request *request, GError **error)
{
  const size_t bytes = 512 << 20;
  void *memory = platform_reserve(bytes);
  if (memory == NULL)
    return input_bad(error, request->file, 0,
                     "not enough memory, expected 512 MiB of address space");
  platform_release(memory, bytes);
  return true;
}

static bool make_picture(struct request *request, GError **error)
{
  const char *engine;
  if (!read_input(request, error) || !has_memory(request, error))
    return false;
  if (request->output == NULL)
    request->output = default_output(request->file);
  struct picture *picture = draw(request, &engine, error);
  if (picture == NULL)
    return false;
  g_autofree char *data = NULL;
  gsize length;
  bool good = picture_render(picture, engine, format_of(request->output), &data, &length, error);
  picture_free(picture);
  return good && write_output(request, data, length, error);
}

int command_draw(int argc, char **argv)
{
  struct request request = {0};
  g_autoptr(GError) error = NULL;
  bool good = read_arguments(argc, argv, &request, &error);
  progress_begin("drawing");
  good = good && (is_narration(&request) ? narrate : make_picture)(&request, &error);
  progress_end();
  if (good)
    printf("%s\n", request.output);
  else if (error)
    fprintf(stderr, "%s\n", error->message);
  g_free(request.part.from);
  g_free(request.part.to);
  g_free(request.part.ranks);
  g_free(request.input);
  g_free(request.file);
  g_free(request.text);
  g_free(request.output);
  return good ? EXIT_FINE : EXIT_BAD_INPUT;
}
