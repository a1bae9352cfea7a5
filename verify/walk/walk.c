/* The command `recline walk`: reads which world to walk through, lets a crew take walks, and keeps
 * the findings. */
#include "verify/walk/walk.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "base/glib/catalogue.h"
#include "base/output.h"
#include "verify/check/check.h"
#include "verify/check/counterexample.h"
#include "verify/walk/crew.h"
#include "verify/walk/drawing.h"
#include "verify/walk/judged.h"
#include "verify/walk/shrink.h"
#include "world/scenario/plugin.h"

enum {
  WORKERS_MAX = 1024,
  LEAST_RANKS = 2,
  MOST_RANKS = 64,
  GUARDED = 8, /* one in this many walks judges `pure` in full */
  WALKS = 1000 /* number of walks if neither --until nor --for is given */
};

struct command {
  char *ranks, *time, *file, *out; /* options as the user wrote them */
  char **names;
  gint64 until, seed;
  gint workers;
  gboolean json, whole;
  double seconds;
  struct drawing drawing; /* how worlds of a protocol are drawn */
  struct course course;   /* the world of a claim */
  bool draws;             /* worlds are drawn, so there is no claim */
  struct run run;         /* the last walk of this process */
  GPtrArray *judged;
};

const struct about about_walk = {
    "walk", "[PROTOCOL|CLAIM]",
    "take random runs of large worlds, drawn anew for each; judge them as check does",
    "walk c3 --until 200\n"
    "walk bookmark --ranks 4..8 --until 50 --seed 7 --out kept\n"
    "walk c3-recovers --until 100"};

/* ---- options ---- */

static bool parse_options(struct command *c, int argc, char **argv)
{
  const GOptionEntry entries[] = {
      {"ranks", 0, 0, G_OPTION_ARG_STRING, &c->ranks, "Draw worlds of so many ranks (2..32)",
       "FROM..TO"},
      {"for", 0, 0, G_OPTION_ARG_STRING, &c->time, "Walk for that time", "TIME"},
      {"until", 0, 0, G_OPTION_ARG_INT64, &c->until, "Take N walks (1000)", "N"},
      {"seed", 0, 0, G_OPTION_ARG_INT64, &c->seed, "Draw the walks of seed N (1)", "N"},
      {"workers", 0, 0, G_OPTION_ARG_INT, &c->workers, "Walk in N processes", "N"},
      {"plugin", 0, 0, G_OPTION_ARG_FILENAME, &c->file, "Take the protocol from a shared object",
       "FILE"},
      {"out", 0, 0, G_OPTION_ARG_FILENAME, &c->out, "Write a violation there (walk)", "DIR"},
      {"whole", 0, 0, G_OPTION_ARG_NONE, &c->whole, "Keep a violation as it was found", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &c->json, "Print one JSON object", NULL},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &c->names, NULL, NULL},
      {NULL, 0, 0, 0, NULL, NULL, NULL}};
  return options_read(&about_walk, argc, argv, entries);
}

/* Reads "8" or "4..64". */
static bool read_ranks(struct command *c)
{
  guint64 least = LEAST_RANKS, most = 32;
  g_auto(GStrv) ends = g_strsplit(c->ranks ? c->ranks : "2..32", "..", 2);
  const char *last = ends[0] && ends[1] ? ends[1] : ends[0];
  bool fine = ends[0] &&
              g_ascii_string_to_unsigned(ends[0], 10, LEAST_RANKS, MOST_RANKS, &least, NULL) &&
              g_ascii_string_to_unsigned(last, 10, least, MOST_RANKS, &most, NULL);
  c->drawing.least_ranks = (int)least;
  c->drawing.most_ranks = (int)most;
  return fine;
}

static int check_options(struct command *c)
{
  g_autoptr(GError) error = NULL;
  if (!read_ranks(c))
    return bad_input("recline walk: --ranks %s, expected a number or FROM..TO, from %d to %d",
                     c->ranks, LEAST_RANKS, MOST_RANKS);
  if (c->time && !scenario_option_seconds(c->time, &c->seconds, &error))
    return bad_input("recline walk: --for: %s", error->message);
  if (c->time && c->seconds <= 0)
    return bad_input("recline walk: --for %s, expected a time above 0", c->time);
  if (c->until == -1)
    c->until = c->time ? INT64_MAX : WALKS;
  if (c->until < 1 || c->seed < 0)
    return bad_input("recline walk: --until %" PRId64 " --seed %" PRId64
                     ", expected at least one walk and no negative seed",
                     c->until, c->seed);
  if (c->workers == -1)
    c->workers = (gint)MIN(g_get_num_processors(), WORKERS_MAX);
  if (c->workers < 1 || c->workers > WORKERS_MAX)
    return bad_input("recline walk: --workers %d, expected 1 to %d", c->workers, WORKERS_MAX);
  if (!c->names || c->names[1])
    return bad_input("recline walk: %s, expected one protocol or claim",
                     c->names ? "several names" : "nothing to walk through");
  return EXIT_FINE;
}

/* ---- what to walk through ---- */

static int open_claim(struct command *c, const char *name)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *file = check_find_claim(name);
  if (!file) {
    g_autofree char *guess = catalogue_guess(CHECKABLE | CATALOGUE_PROTOCOLS, name);
    return bad_input("recline walk: there is no protocol or claim '%s', expected one of 'recline "
                     "list protocols', 'mutants' or 'claims', or a file%s",
                     name, guess);
  }
  if (c->ranks)
    return bad_input("recline walk: --ranks with the claim %s, expected a protocol, whose worlds "
                     "are drawn",
                     name);
  if (!course_open(&c->course, file, &error))
    return bad_input("%s", error->message);
  if (c->course.claim->program.ranks > 2 * MOST_RANKS)
    return bad_input("%s: %d ranks, expected at most %d", file, c->course.claim->program.ranks,
                     2 * MOST_RANKS);
  c->judged = g_ptr_array_ref(c->course.judged);
  return EXIT_FINE;
}

/* Opens what has that name: a protocol, a mutant ("c3~no-suppress") or a claim. */
static int open_named(struct command *c)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *file = c->file ? g_canonicalize_filename(c->file, NULL) : NULL;
  if (file && !plugin_load(file, &error))
    return bad_input("%s: %s", c->file, error->message);
  const char *name = c->names[0];
  c->drawing.protocol = plugin_protocol(name);
  if (!c->drawing.protocol)
    return open_claim(c, name);
  c->draws = true;
  c->drawing.file = plugin_file(name);
  c->judged = judged_of(c->drawing.protocol);
  return EXIT_FINE;
}

/* ---- a walk ---- */

/* Returns the name of the claim that keeps the finding of walk `number`. The caller frees it with
 * g_free(). */
static char *id_of(const struct command *c, uint64_t number)
{
  const char *name = c->draws ? c->drawing.protocol->name : c->course.claim->id;
  return g_strdup_printf("%s-walk-%" PRId64 "-%" PRIu64, name, c->seed, number);
}

/* Opens the world that was drawn; a world that is not valid is an error of the drawing. */
static void open_drawn(const struct draft *draft, struct course *course)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *text = draft_claim(draft, "drawn", "a drawn world");
  if (!course_read(course, text, &error))
    breach("a drawn world is not valid: %s\n%s", error->message, text);
}

/* Takes the run of a walk, and writes it to c->run. `dice` are the dice that have drawn the
 * world. */
static void take_run(struct command *c, struct course *course, struct dice *dice)
{
  course->unguarded = !dice_once_in(dice, GUARDED);
  walker_run(course, dice, &c->run);
}

/* Takes walk `number`. The walk depends only on the seed and on that number. */
static void take_walk(void *data, uint64_t number, struct walked *walked)
{
  struct command *c = data;
  struct dice dice = dice_of((uint64_t)c->seed, number);
  struct course drawn, *course = &c->course;
  struct draft draft;
  if (c->draws) {
    draft = drawing_draw(&c->drawing, &dice);
    open_drawn(&draft, &drawn);
    course = &drawn;
  }
  take_run(c, course, &dice);
  *walked = (struct walked){.number = number,
                            .steps = c->run.moves->len,
                            .families = c->draws ? draft.families : 0,
                            .ranks = (uint16_t)course->script->ranks,
                            .crashes = (uint16_t)c->run.crashes,
                            .ending = (uint8_t)c->run.ending,
                            .reached = c->run.reached};
  if (!c->draws)
    return;
  course_close(&drawn);
  draft_clear(&draft);
}

/* ---- keeping a violation ---- */

static bool keep_trace(const struct course *course, struct run *run, const char *out,
                       struct outcome *outcome, GError **error)
{
  struct exploration found = {.verdict = EXPLORER_VIOLATED,
                              .why = run->why,
                              .moves = (struct move *)(void *)run->moves->data,
                              .moves_count = run->moves->len};
  outcome->trace = counterexample_keep(course->claim, course->script, &found, out, error);
  run->why = found.why;
  return outcome->trace;
}

static void tell(struct outcome *outcome, const struct course *course, const struct run *run)
{
  outcome->property = run->why.property;
  outcome->text = run->why.text;
  outcome->rank = run->why.rank;
  outcome->ranks = course->script->ranks;
  outcome->moves = run->moves->len;
}

/* Keeps a violation in a drawn world: the world as a claim, the run as a trace. */
static bool keep_drawn(struct command *c, struct dice *dice, struct outcome *outcome,
                       GError **error)
{
  struct course course;
  struct draft draft = drawing_draw(&c->drawing, dice);
  g_autofree char *id = id_of(c, outcome->number);
  g_autofree char *name = g_strconcat(id, ".yaml", NULL);
  char *file = g_build_filename(c->out, name, NULL);
  open_drawn(&draft, &course);
  take_run(c, &course, dice);
  course_close(&course);
  if (!c->whole)
    shrink(&draft, &c->run, dice);
  g_autofree char *statement =
      g_strdup_printf("A walk finds that %s is violated", c->run.why.property);
  g_autofree char *text = draft_claim(&draft, id, statement);
  draft_clear(&draft);
  outcome->claim = file;
  if (!output_write(file, text, strlen(text))) {
    g_set_error(error, SCENARIO_ERROR, 0, OUTPUT_CANNOT, file, g_strerror(errno));
    return false;
  }
  bool fine =
      course_open(&course, file, error) && keep_trace(&course, &c->run, c->out, outcome, error);
  tell(outcome, &course, &c->run);
  course_close(&course);
  return fine;
}

/* Takes the walk again in this process, and writes its findings to files. */
static bool keep(struct command *c, struct outcome *outcome, GError **error)
{
  struct dice dice = dice_of((uint64_t)c->seed, outcome->number);
  if (g_mkdir_with_parents(c->out, 0777) != 0) {
    g_set_error(error, SCENARIO_ERROR, 0, "%s: cannot be made: %s, expected a folder", c->out,
                g_strerror(errno));
    return false;
  }
  output_sweep(c->out);
  if (c->draws)
    return keep_drawn(c, &dice, outcome, error);
  take_run(c, &c->course, &dice);
  if (!c->whole)
    shrink_moves(&c->course, &c->run);
  char *id = id_of(c, outcome->number);
  g_free(c->course.claim->id);
  c->course.claim->id = id;
  tell(outcome, &c->course, &c->run);
  return keep_trace(&c->course, &c->run, c->out, outcome, error);
}

/* ---- the command ---- */

static void report(const struct command *c, const struct tally *tally,
                   const struct outcome *outcome)
{
  g_autofree char *json = c->json ? tally_json(tally, outcome) : NULL;
  if (json)
    printf("%s\n", json);
  else
    tally_print(tally, outcome);
}

static int walk(struct command *c)
{
  g_autoptr(GError) error = NULL;
  struct tally tally = {0};
  struct walked last = {0};
  struct outcome outcome = {.what = c->names[0],
                            .seed = (uint64_t)c->seed,
                            .taken = c->draws ? families_taken(c->drawing.protocol) : 0,
                            .judged = (const char *const *)c->judged->pdata};
  const struct crew crew = {.workers = (unsigned)c->workers,
                            .until = (uint64_t)c->until,
                            .seconds = c->seconds,
                            .walk = take_walk,
                            .data = c};
  enum crew_end end = crew_walk(&crew, c->names[0], &tally, &last);
  if (end == CREW_NONE)
    return bad_input("recline walk: no process to walk in: %s", g_strerror(errno));
  outcome.number = last.number;
  outcome.stopped = end == CREW_STOPPED;
  bool kept = end != CREW_VIOLATED || keep(c, &outcome, &error);
  if (kept)
    report(c, &tally, &outcome);
  else
    bad_input("%s", error->message);
  if (end == CREW_LOST)
    fprintf(stderr, "recline walk: walk %" PRIu64 " of seed %" PRId64 " ended its process\n",
            last.number, c->seed);
  g_free((char *)outcome.claim);
  g_free((char *)outcome.trace);
  if (!kept)
    return EXIT_BAD_INPUT;
  return end == CREW_LOST       ? EXIT_BREACH
         : end == CREW_VIOLATED ? EXIT_NOT_AS_EXPECTED
         : end == CREW_STOPPED  ? EXIT_INCONCLUSIVE
                                : EXIT_FINE;
}

int command_walk(int argc, char **argv)
{
  struct command c = {.until = -1, .seed = 1, .workers = -1};
  int code = parse_options(&c, argc, argv) ? check_options(&c) : EXIT_BAD_INPUT;
  if (!c.out)
    c.out = g_strdup("walk");
  run_init(&c.run);
  code = code == EXIT_FINE ? open_named(&c) : code;
  code = code == EXIT_FINE ? walk(&c) : code;
  run_clear(&c.run);
  course_close(&c.course);
  if (c.judged)
    g_ptr_array_unref(c.judged);
  g_free(c.ranks);
  g_free(c.time);
  g_free(c.file);
  g_free(c.out);
  g_strfreev(c.names);
  return code;
}
