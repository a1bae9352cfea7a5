#define _POSIX_C_SOURCE 200809L
#include "verify/check/claim.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/glib/terminal.h"
#include "base/platform.h"
#include "verify/check/claim_read.h"
#include "verify/check/counterexample.h"
#include "world/rules/properties.h"
#include "world/temporal/temporal.h"

/* Limits the share of the machine's memory that the explorer's tables may take, so that the machine
 * stays usable. */
enum { MEMORY_PERCENT = 60 };

/* If a claim does not name property `progress`, it is judged in worlds of at most this number of
 * states, and in larger worlds if steps alone decide it. In larger worlds it would otherwise take
 * up to twice as long as the search. */
enum { CYCLES_MAX = 1 << 20 };

char *claim_when(unsigned moves)
{
  return moves ? g_strdup_printf("by step %u", moves - 1) : g_strdup("before step 0");
}

const char *claim_verdict_name(enum claim_verdict verdict)
{
  static const char *const names[] = {"holds", "violated", "inconclusive", "vacuous", "breach"};
  return names[verdict];
}

const char *claim_expected(const struct scenario *claim)
{
  switch (claim->expect.verdict) {
  case EXPECT_VIOLATED:
    return "violated";
  case EXPECT_INCONCLUSIVE:
    return "inconclusive";
  case EXPECT_VACUOUS:
    return "vacuous";
  default:
    return "holds";
  }
}

/* Holds a claim that is being explored. */
struct job {
  const struct scenario *claim;
  const struct claim_options *options;
  struct script *script;
  struct reached least; /* the events that runs must show */
  struct intern outcomes;
  struct temporal formula; /* the formula of property `ltl` */
  /* why the formula says nothing, or "" if it says something, or there is none */
  char trivial[256];
  char *save;            /* file for saves, or NULL if there is none */
  char *disk;            /* prefix of files for states, or NULL if there is none */
  gint64 shown;          /* time of the last line of progress, in microseconds */
  uint64_t shown_states; /* number of states at that time */
};

static void explore_claim(const struct job *job, const struct explorer_options *options, bool whole,
                          struct exploration *found)
{
  struct world world;
  claim_world(job->claim, job->script, &world);
  world.whole = whole;
  explore(&world, (unsigned)job->claim->check.crashes, (unsigned)job->claim->check.checkpoints,
          options, found);
  world_clear(&world);
}

static uint64_t memory_limit(const struct job *job)
{
  if (job->claim->limits.memory > 0) /* leaves memory for the rest of the process */
    return (uint64_t)(job->claim->limits.memory * 3 / 4);
  if (job->options->memory)
    return job->options->memory / job->options->jobs;
  return platform_memory() / 100 * MEMORY_PERCENT / job->options->jobs;
}

/* Returns a text with the number of states to expect if levels go on shrinking as the last one did,
 * or "" if it is not known yet. The caller frees it. */
static char *estimate(const struct explorer_progress *p)
{
  double shrinks = p->before ? (double)p->level / (double)p->before : 1;
  if (shrinks >= 0.99)
    return g_strdup("");
  double rest = (double)p->level * shrinks / (1 - shrinks);
  return g_strdup_printf(", about %.3g states in all", (double)(p->states - p->level) + rest);
}

static void show_progress(void *data, const struct explorer_progress *p)
{
  struct job *job = data;
  bool terminal = terminal_shows_progress();
  gint64 now = g_get_monotonic_time();
  double seconds = (double)(now - job->shown) / G_USEC_PER_SEC;
  if (seconds < (terminal && job->shown_states ? 0.2 : 2))
    return;
  g_autofree char *in_all = estimate(p);
  double rate = (double)(p->states - job->shown_states) / seconds;
  fprintf(stderr,
          "%s%s: depth %u, %" PRIu64 " states, %" PRIu64
          " of this level to expand, %.2f M states/s, "
          "%.0f MB%s%s",
          terminal ? "\r\033[K" : "", job->claim->id, p->depth, p->states, p->left, rate / 1e6,
          (double)p->bytes / 1e6, in_all, terminal ? "" : "\n");
  fflush(stderr);
  job->shown = now;
  job->shown_states = p->states;
}

static uint64_t bound(const struct job *job)
{
  return job->options->max_states ? job->options->max_states : job->claim->check.max_states;
}

/* Collects the outcomes of failure-free runs: with the same script, without fault tolerance and
 * checkpoints. */
static bool find_outcomes(struct job *job, GError **error)
{
  static const char *const deadlock[] = {"deadlock", NULL};
  struct world world;
  struct exploration found;
  const struct explorer_options options = {.properties = deadlock,
                                           .outcomes = &job->outcomes,
                                           .collect = true,
                                           .workers = job->options->workers,
                                           .max_states = bound(job),
                                           .max_bytes = memory_limit(job)};
  world_init(&world, rcl_protocol_named("none"), job->claim->program.ranks, 1);
  world.fifo = job->claim->check.order == ORDER_FIFO;
  world.overtaking = job->claim->check.order == ORDER_NONE;
  world.bounded = true;
  world.script = job->script;
  explore(&world, 0, 0, &options, &found);
  world_clear(&world);
  bool fine = found.verdict == EXPLORER_HOLDS;
  if (found.verdict == EXPLORER_VIOLATED)
    scenario_complain(job->claim, "program.script", error,
                      "%s even without failures, expected a program that always ends",
                      found.why.text);
  else if (!fine)
    scenario_complain(job->claim, "program.script", error,
                      "too many runs without failures, expected a higher bound or a smaller "
                      "program");
  exploration_clear(&found);
  return fine;
}

static bool checks_outcome(const struct scenario *claim)
{
  const char *const *properties = (const char *const *)claim->check.properties;
  return !properties || g_strv_contains(properties, "outcome");
}

/* Returns whether the protocol's step was found impure, so that no other verdict counts. */
static bool is_impure(const struct exploration *found)
{
  return found->verdict == EXPLORER_VIOLATED && properties_impure(&found->why);
}

static enum claim_verdict verdict_of(const struct exploration *found)
{
  static const enum claim_verdict verdicts[] = {[EXPLORER_HOLDS] = CLAIM_HOLDS,
                                                [EXPLORER_VIOLATED] = CLAIM_VIOLATED,
                                                [EXPLORER_INCONCLUSIVE] = CLAIM_INCONCLUSIVE};
  return is_impure(found) ? CLAIM_BREACH : verdicts[found->verdict];
}

static void append_name(GString *list, const char *name)
{
  g_string_append_printf(list, "%s%s", list->len ? ", " : "", name);
}

/* Writes into result->unjudged the properties that no run gave an occasion to judge. Returns true
 * if the claim shows nothing, because a property that it names was not judged, or because no state
 * was at rest. Properties that are judged at rest count even if the claim names none. */
static bool find_unjudged(const struct job *job, const GPtrArray *properties,
                          struct claim_result *result, GString *missing)
{
  static const enum property rests[] = {PROPERTY_DEADLOCK,      PROPERTY_COMMITS, PROPERTY_REQUESTS,
                                        PROPERTY_BOUNDED,       PROPERTY_FREES,   PROPERTY_USEFUL,
                                        PROPERTY_OUTPUT_AT_REST};
  g_autoptr(GString) all = g_string_new(NULL);
  bool still = reached_judges(&result->reached, PROPERTY_DEADLOCK);
  bool named = job->claim->check.properties && !job->claim->check.all_but_some;
  for (unsigned i = 0; i < PROPERTIES; i++) {
    if (!properties_include((const char *const *)properties->pdata, properties_known[i]) ||
        (!named && i == PROPERTY_BOUNDS) || /* runs have shown that it was judged */
        (i == PROPERTY_PROGRESS ? result->cycles : reached_judges(&result->reached, i)))
      continue;
    bool rests_only = false;
    for (size_t k = 0; k < G_N_ELEMENTS(rests); k++)
      rests_only |= i == rests[k];
    append_name(all, properties_known[i]);
    if (named ? i != PROPERTY_PROGRESS : rests_only && !still)
      append_name(missing, properties_known[i]);
  }
  g_strlcpy(result->unjudged, all->str, sizeof result->unjudged);
  return missing->len;
}

/* Judges a claim that holds. It is vacuous if runs never show the events that it needs, or if a
 * property was never judged. */
static void judge_reached(const struct job *job, const GPtrArray *properties,
                          struct claim_result *result)
{
  g_autoptr(GString) missing = g_string_new(NULL), unjudged = g_string_new(NULL);
  g_autoptr(GString) text = g_string_new(NULL);
  if (result->verdict != CLAIM_HOLDS)
    return;
  for (int i = 0; i < REACHES; i++) {
    uint8_t least = job->least.most[i], most = result->reached.most[i];
    if (most < least)
      g_string_append_printf(missing, "%s%s %u", missing->len ? ", " : "", reach_names[i], least);
  }
  if (missing->len)
    g_string_append_printf(text, "no run shows %s", missing->str);
  if (find_unjudged(job, properties, result, unjudged))
    g_string_append_printf(text, "%sno occasion to judge %s", text->len ? "; " : "", unjudged->str);
  if (*job->trivial)
    g_string_append_printf(text, "%s%s", text->len ? "; " : "", job->trivial);
  /* symmetry leaves no kind of run out, but other reductions do */
  bool all = g_str_equal(result->reduction, "none") || g_str_equal(result->reduction, "sym");
  if (text->len) {
    result->verdict = all ? CLAIM_VACUOUS : CLAIM_INCONCLUSIVE;
    g_snprintf(result->text, sizeof result->text, "%s%s", text->str,
               all ? "" : ", but --reduce leaves out runs");
  } else if (result->recurs) {
    result->verdict = CLAIM_INCONCLUSIVE;
    g_strlcpy(result->text, "runs may go on for ever, and property progress was not judged",
              sizeof result->text);
  }
  if (result->verdict == CLAIM_INCONCLUSIVE)
    g_strlcpy(result->bound, text->len ? "reduction" : "livelock", sizeof result->bound);
}

static void add_size(struct claim_result *result, uint32_t size)
{
  unsigned at = 0;
  while (at < result->sizes_count && result->sizes[at] < size)
    at++;
  bool known = at < result->sizes_count && result->sizes[at] == size;
  if (known || at == CLAIM_SIZES)
    return;
  unsigned kept = MIN(result->sizes_count, CLAIM_SIZES - 1u);
  memmove(&result->sizes[at + 1], &result->sizes[at], (kept - at) * sizeof *result->sizes);
  result->sizes[at] = size;
  result->sizes_count = kept + 1;
}

/* Notes the sizes of the program's messages in the script; a protocol may see other sizes. */
static void note_sizes(const struct script *script, struct claim_result *result)
{
  struct operation **ops = script->written ? script->written : script->ops;
  for (int rank = 0; rank < script->ranks; rank++)
    for (const struct operation *op = ops[rank]; op->kind != SCRIPT_END; op++)
      if (op->kind == SCRIPT_SEND || op->kind == SCRIPT_FREE ||
          (op->kind == SCRIPT_COLLECTIVE && op->flow != RCL_FLOW_BARRIER))
        add_size(result, script_bytes(op));
}

static void fill_in(struct claim_result *result, const struct exploration *found)
{
  *result = (struct claim_result){.verdict = verdict_of(found),
                                  .states = found->states,
                                  .transitions = found->transitions,
                                  .steps = found->steps,
                                  .resumed = found->resumed,
                                  .archived = found->archived,
                                  .depth = found->depth,
                                  .reached = found->reached,
                                  .cycles = found->cycles,
                                  .recurs = found->recurs,
                                  .bytes = found->bytes,
                                  .omission = found->omission,
                                  .miss = found->miss,
                                  .seconds = found->seconds};
  g_strlcpy(result->reduction, found->reduction, sizeof result->reduction);
  if (found->unreduced)
    g_strlcpy(result->unreduced, found->unreduced, sizeof result->unreduced);
  if (found->no_stubborn_sets)
    g_strlcpy(result->no_stubborn_sets, found->no_stubborn_sets, sizeof result->no_stubborn_sets);
  if (found->bound)
    g_strlcpy(result->bound, found->bound, sizeof result->bound);
  if (found->verdict == EXPLORER_VIOLATED) {
    result->depth = found->moves_count;
    result->rank = found->why.rank;
    g_strlcpy(result->property, found->why.property, sizeof result->property);
    g_strlcpy(result->text, found->why.text, sizeof result->text);
  }
}

/* Returns a digest of the claim, of this executable, and of the reductions of the search. */
static uint64_t digest(const struct scenario *claim, const struct claim_options *options)
{
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  const char *const files[] = {"/proc/self/exe", claim->file};
  for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
    g_autofree char *bytes = NULL;
    gsize size = 0;
    if (g_file_get_contents(files[i], &bytes, &size, NULL))
      g_checksum_update(sum, (const guchar *)bytes, (gssize)size);
  }
  guint8 all[32];
  gsize length = sizeof all;
  uint64_t first;
  g_checksum_get_digest(sum, all, &length);
  memcpy(&first, all, sizeof first);
  return first + options->stubborn + 2u * options->symmetry + 4u * options->whole;
}

static struct explorer_options in_full(const struct explorer_options *reduced)
{
  struct explorer_options options = *reduced;
  options.stubborn = options.symmetry = false;
  options.fingerprint = 0;
  options.rests = NULL;
  options.save = NULL;
  return options;
}

/* Explores again without a reduction, and compares everything that a reduction must not change. A
 * difference is a breach. */
static void audit_reduction(const struct job *job, const struct explorer_options *reduced,
                            struct claim_result *result)
{
  struct exploration found;
  struct intern rests = {0};
  struct explorer_options options = in_full(reduced);
  const struct intern *left = reduced->rests;
  options.orbits = reduced->symmetry;
  options.rests = &rests;
  explore_claim(job, &options, job->options->whole, &found);
  result->full_states = found.states;
  result->rests = rests.count;
  bool same = found.verdict == EXPLORER_HOLDS ? left->count == rests.count : true;
  for (uint32_t i = 1; i <= rests.count && found.verdict == EXPLORER_HOLDS; i++)
    same &= intern_find(left, rests.item[i].bytes, rests.item[i].size) != 0;
  if (found.verdict != EXPLORER_INCONCLUSIVE && (!same || verdict_of(&found) != result->verdict)) {
    result->verdict = CLAIM_BREACH;
    g_snprintf(result->text, sizeof result->text,
               "reduction %s: %s, with %u states at rest; without: %s, with %u", result->reduction,
               claim_verdict_name(result->verdict), left->count,
               claim_verdict_name(verdict_of(&found)), rests.count);
  }
  intern_clear(&rests);
  exploration_clear(&found);
}

/* Explores again with all stored contents (world_settles()). The verdict must be the same and,
 * without a reduction, come at the same depth. */
static void audit_contents(const struct job *job, const struct explorer_options *explored,
                           struct claim_result *result)
{
  struct exploration found;
  struct explorer_options options = in_full(explored);
  options.audit = false;
  explore_claim(job, &options, true, &found);
  bool shortest = !found.cycles && !job->claim->check.ltl && strcmp(result->reduction, "none") == 0;
  bool same =
      verdict_of(&found) == result->verdict &&
      (found.verdict != EXPLORER_VIOLATED || !shortest || found.moves_count == result->depth);
  if (found.verdict != EXPLORER_INCONCLUSIVE && !same) {
    result->verdict = CLAIM_BREACH;
    g_snprintf(result->text, sizeof result->text, "with all that is stored: %s, in %u moves",
               claim_verdict_name(verdict_of(&found)), found.moves_count);
  }
  exploration_clear(&found);
}

/* Returns whether a claim judges the line invariant although it does not name it. The clauses of a
 * protocol that assumes ordered channels say nothing about channels without order. */
static bool judges_line(const struct scenario *claim, const struct rcl_protocol *protocol)
{
  bool in_order = protocol->place && protocol->place->assumes & RCL_ASSUMES_FIFO;
  return protocol->line && claim->expect.verdict != EXPECT_VIOLATED &&
         !(in_order && claim->check.order == ORDER_NONE);
}

GPtrArray *claim_properties(const struct scenario *claim)
{
  static const char *const more[] = {"bounded", "frees", "frees-at-capture", "once-per-failure"};
  const struct rcl_protocol *protocol = rcl_protocol_named(claim->protocol.name);
  char **named = claim->check.properties;
  GPtrArray *names = g_ptr_array_new();
  for (const char *const *name = named ? (const char *const *)named : properties_default; *name;
       name++)
    g_ptr_array_add(names, (gpointer)*name);
  g_ptr_array_add(names, (gpointer) "recovers");
  bool named_line = named && g_strv_contains((const char *const *)named, "line-invariant");
  if (!named_line && judges_line(claim, protocol))
    g_ptr_array_add(names, (gpointer) "line-invariant");
  for (size_t i = 0; !named && i < G_N_ELEMENTS(more); i++)
    if (properties_include(properties_promised(protocol), more[i]))
      g_ptr_array_add(names, (gpointer)more[i]);
  if (!named)
    g_ptr_array_add(names, (gpointer) "progress");
  if (claim->check.ltl && !(named && g_strv_contains((const char *const *)named, "ltl")))
    g_ptr_array_add(names, (gpointer) "ltl");
  g_ptr_array_add(names, NULL);
  return names;
}

/* Returns a bound on the probability that two different contents were taken for one (content.h). A
 * transition makes at most one content for each rank and each name of a receive, one for a sent
 * message, and one for a choice. A state at the end makes one content for each message. Free
 * programs have no contents. */
static double collision(const struct job *job, const struct claim_result *result)
{
  double each = job->script->ranks + SCRIPT_NAMES + 3;
  double made = (double)MAX(result->transitions, result->steps) * each +
                (double)result->states * result->depth;
  return job->script->free ? 0 : made * made * 0x1p-129;
}

static bool run(struct job *job, struct claim_result *result, GError **error)
{
  const struct claim_options *asked = job->options;
  g_autoptr(GPtrArray) properties = claim_properties(job->claim);
  bool outcome = checks_outcome(job->claim);
  if (outcome && !find_outcomes(job, error))
    return false;
  struct exploration found;
  struct intern rests = {0};
  bool audits = job->options->audit && (job->options->stubborn || job->options->symmetry);
  const struct explorer_options options = {
      .rests = audits ? &rests : NULL,
      .properties = (const char *const *)properties->pdata,
      .max_cycles = job->claim->check.properties ? 0 : CYCLES_MAX,
      .outcomes = outcome ? &job->outcomes : NULL,
      .temporal = job->claim->check.ltl ? &job->formula : NULL,
      .workers = job->options->workers,
      .stubborn = job->options->stubborn,
      .symmetry = job->options->symmetry,
      .fingerprint = job->options->compact ? EXPLORER_FINGERPRINT : 0,
      .audit = job->options->audit,
      .max_states = bound(job),
      .max_bytes = memory_limit(job),
      .max_seconds = asked->seconds,
      .max_queue = memory_limit(job) / 4,
      .progress = job->options->progress ? show_progress : NULL,
      .progress_data = job,
      .save = job->save,
      .disk = job->disk,
      .save_seconds = job->options->save_seconds,
      .protocol = asked->protocol,
      .world_digest = job->save ? digest(job->claim, job->options) : 0,
      .transport = asked->transport};
  explore_claim(job, &options, job->options->whole, &found);
  progress_clear(terminal_shows_progress() && job->shown_states);
  if (found.refused) {
    g_set_error(error, SCENARIO_ERROR, 0, "%s: %s, expected one of this claim; remove it",
                job->save, found.refused);
    exploration_clear(&found);
    return false;
  }
  fill_in(result, &found);
  g_strlcpy(job->trivial, found.trivial, sizeof job->trivial);
  note_sizes(job->script, result);
  result->collision = collision(job, result);
  if (audits && !is_impure(&found) && result->verdict != CLAIM_INCONCLUSIVE &&
      strcmp(found.reduction, "none") != 0)
    audit_reduction(job, &options, result);
  bool settles =
      !rcl_protocol_named(job->claim->protocol.name)->independent && !job->options->whole;
  if (job->options->audit && settles && !is_impure(&found) && result->verdict != CLAIM_INCONCLUSIVE)
    audit_contents(job, &options, result);
  judge_reached(job, properties, result);
  intern_clear(&rests);
  bool fine = true;
  if (found.verdict == EXPLORER_VIOLATED && job->options->out) {
    g_autofree char *trace =
        counterexample_keep(job->claim, job->script, &found, job->options->out, error);
    g_strlcpy(result->trace, trace ? trace : "", sizeof result->trace);
    if (result->verdict == CLAIM_VIOLATED)
      g_strlcpy(result->text, found.why.text, sizeof result->text);
    fine = trace;
  }
  exploration_clear(&found);
  return fine;
}

bool claim_check(const struct scenario *claim, const struct claim_options *options,
                 struct claim_result *result, GError **error)
{
  struct job job = {.claim = claim, .options = options, .shown = g_get_monotonic_time()};
  if (options->saves)
    job.save = g_strdup_printf("%s/%s.%s", options->saves, claim->id,
                               options->protocol ? "checkpoints" : "save");
  if (options->disk)
    job.disk = g_strdup_printf("%s/%s", options->disk, claim->id);
  char problem[TEMPORAL_PROBLEM];
  bool fine = claim_read(claim, &job.script, &job.least, error);
  if (fine && claim->check.ltl)
    temporal_parse(&job.formula, claim->check.ltl, claim->program.ranks, problem);
  fine = fine && run(&job, result, error);
  script_free(job.script);
  intern_clear(&job.outcomes);
  g_free(job.save);
  g_free(job.disk);
  return fine;
}
