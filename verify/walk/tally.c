#include "verify/walk/tally.h"

#include <inttypes.h>
#include <string.h>

#include "base/glib/json.h"
#include "base/glib/terminal.h"
#include "verify/check/claim.h"
#include "world/rules/properties.h"

static const char *const ending_names[ENDINGS] = {"finished", "at-rest", "full", "cut", "violated"};

/* The text BEYOND says why walks do not judge the other properties. */
#define BEYOND "liveness needs all states, and outcome all runs without failures"

static void add_heap(struct heap *heap, const struct walked *walked)
{
  heap->walks++;
  heap->steps += walked->steps;
  reached_add(&heap->reached, &walked->reached);
  for (int i = 0; i < REACHES; i++)
    heap->seen[i] += walked->reached.most[i] > 0;
}

void tally_add(struct tally *tally, const struct walked *walked)
{
  add_heap(&tally->all, walked);
  for (unsigned i = 0; i < FAMILIES; i++)
    if (walked->families >> i & 1U)
      add_heap(&tally->family[i], walked);
  tally->endings[walked->ending]++;
  tally->crashes += walked->crashes;
  if (!tally->least_ranks || walked->ranks < tally->least_ranks)
    tally->least_ranks = walked->ranks;
  if (walked->ranks > tally->most_ranks)
    tally->most_ranks = walked->ranks;
}

/* Appends a name to a list with commas. */
static void append(GString *list, const char *name)
{
  g_string_append_printf(list, "%s%s", list->len ? ", " : "", name);
}

/* Returns the names of the things that walks have reached, each with the number of walks. Without
 * `seen`, returns the names of the things that no walk has reached. The caller ends with
 * g_string_free(). */
static GString *reached_names(const struct heap *heap, bool seen)
{
  GString *list = g_string_new(NULL);
  for (int i = 0; i < REACHES; i++) {
    if ((heap->seen[i] > 0) != seen)
      continue;
    append(list, reach_names[i]);
    if (seen)
      g_string_append_printf(list, " %" PRIu64, heap->seen[i]);
  }
  return list;
}

/* Returns whether walks cannot judge the property, or no walk gave an occasion to judge it. */
static bool is_unjudged(const struct tally *tally, const struct outcome *outcome, unsigned property)
{
  return !properties_judge(outcome->judged, properties_known[property]) ||
         !reached_judges(&tally->all.reached, property);
}

static void print_heap(const char *name, const struct heap *heap)
{
  g_autoptr(GString) seen = reached_names(heap, true);
  printf("  %-16s %9" PRIu64 " walks %12" PRIu64 " steps  %s\n", name, heap->walks, heap->steps,
         seen->len ? seen->str : "nothing");
}

static void print_violation(const struct outcome *outcome)
{
  const struct look look = terminal_look();
  printf("%s: %sviolated%s by walk %" PRIu64 " of seed %" PRIu64 "\n", outcome->what, look.wrong,
         look.plain, outcome->number, outcome->seed);
  g_autofree char *when = claim_when(outcome->moves);
  printf("  %s, rank %d, in a world of %d ranks, %s: %s\n", outcome->property, outcome->rank,
         outcome->ranks, when, outcome->text);
  if (outcome->claim)
    printf("  claim %s\n", outcome->claim);
  if (outcome->trace)
    printf("  trace %s\n", outcome->trace);
}

void tally_print(const struct tally *tally, const struct outcome *outcome)
{
  const struct look look = terminal_look();
  if (outcome->property)
    print_violation(outcome);
  else
    printf("%s: %sno violation%s in the walks of seed %" PRIu64 "%s\n", outcome->what, look.good,
           look.plain, outcome->seed, outcome->stopped ? ", stopped by a signal" : "");
  printf("  %u to %u ranks, %" PRIu64 " crashes; ended: %" PRIu64 " with all programs finished, "
         "%" PRIu64 " at rest otherwise, %" PRIu64 " as a list was full, %" PRIu64 " cut short\n",
         tally->least_ranks, tally->most_ranks, tally->crashes, tally->endings[ENDING_FINISHED],
         tally->endings[ENDING_RESTED], tally->endings[ENDING_FULL], tally->endings[ENDING_CUT]);
  print_heap("all", &tally->all);
  for (unsigned i = 0; i < FAMILIES; i++)
    if (outcome->taken >> i & 1U)
      print_heap(family_names[i], &tally->family[i]);
  g_autoptr(GString) never = reached_names(&tally->all, false);
  g_autoptr(GString) unjudged = g_string_new(NULL);
  for (unsigned i = 0; i < PROPERTIES; i++)
    if (is_unjudged(tally, outcome, i))
      append(unjudged, properties_known[i]);
  printf("  never reached: %s\n", never->len ? never->str : "nothing");
  printf("  not judged: %s (" BEYOND ")\n", unjudged->str);
}

/* ---- JSON ---- */

static void add_reached(JsonBuilder *b, const struct heap *heap)
{
  json_add_whole(b, "walks", (gint64)heap->walks);
  json_add_whole(b, "steps", (gint64)heap->steps);
  json_open_object(b, "reached");
  for (int i = 0; i < REACHES; i++)
    json_add_whole(b, reach_names[i], (gint64)heap->seen[i]);
  json_builder_end_object(b);
}

static void add_violation(JsonBuilder *b, const struct outcome *outcome)
{
  json_open_object(b, "violation");
  json_add_whole(b, "walk", (gint64)outcome->number);
  json_add_text(b, "property", outcome->property);
  json_add_whole(b, "rank", outcome->rank);
  json_add_whole(b, "ranks", outcome->ranks);
  json_add_whole(b, "moves", outcome->moves);
  json_add_text(b, "why", outcome->text);
  json_add_text(b, "claim", outcome->claim);
  json_add_text(b, "trace", outcome->trace);
  json_builder_end_object(b);
}

char *tally_json(const struct tally *tally, const struct outcome *outcome)
{
  g_autoptr(JsonBuilder) b = json_builder_new();
  json_builder_begin_object(b);
  json_add_text(b, "what", outcome->what);
  json_add_whole(b, "seed", (gint64)outcome->seed);
  json_add_text(b, "verdict", outcome->property ? "violated" : "no violation");
  json_add_bool(b, "stopped", outcome->stopped);
  json_add_whole(b, "least_ranks", tally->least_ranks);
  json_add_whole(b, "most_ranks", tally->most_ranks);
  json_add_whole(b, "crashes", (gint64)tally->crashes);
  add_reached(b, &tally->all);
  json_open_object(b, "endings");
  for (int i = 0; i < ENDINGS; i++)
    json_add_whole(b, ending_names[i], (gint64)tally->endings[i]);
  json_builder_end_object(b);
  json_open_object(b, "families");
  for (unsigned i = 0; i < FAMILIES; i++)
    if (outcome->taken >> i & 1U) {
      json_open_object(b, family_names[i]);
      add_reached(b, &tally->family[i]);
      json_builder_end_object(b);
    }
  json_builder_end_object(b);
  json_open_list(b, "not_judged");
  for (unsigned i = 0; i < PROPERTIES; i++)
    if (is_unjudged(tally, outcome, i))
      json_builder_add_string_value(b, properties_known[i]);
  json_builder_end_array(b);
  if (outcome->property)
    add_violation(b, outcome);
  json_builder_end_object(b);
  return json_text(b, true);
}
