/* Reports the results of claims: for people, as JSON, as TAP, and as JUnit's XML. */
#include <inttypes.h>
#include <stdio.h>

#include "base/glib/json.h"
#include "base/glib/terminal.h"
#include "verify/check/check.h"

bool checked_as_expected(const struct checked *c)
{
  return g_str_equal(claim_verdict_name(c->result.verdict), claim_expected(c->claim));
}

static double rate(const struct claim_result *result)
{
  return result->seconds > 0 ? (double)result->transitions / result->seconds : 0;
}

static double bytes_per_state(const struct claim_result *result)
{
  return result->states ? (double)result->bytes / (double)result->states : 0;
}

static double megabytes(uint64_t bytes)
{
  return (double)bytes / 1e6;
}

/* Returns the explanation of a verdict, or NULL if there is none. The caller frees it. */
static char *why(const struct claim_result *result)
{
  g_autofree char *when = claim_when(result->depth);
  switch (result->verdict) {
  case CLAIM_BREACH:
    if (!*result->property)
      return g_strdup(result->text);
    __attribute__((fallthrough));
  case CLAIM_VIOLATED:
    return g_strdup_printf("%s, rank %d, %s: %s", result->property, result->rank, when,
                           result->text);
  case CLAIM_INCONCLUSIVE:
    return *result->text ? g_strdup(result->text)
                         : g_strdup_printf("bound reached: %s", result->bound);
  case CLAIM_VACUOUS:
    return g_strdup(result->text);
  case CLAIM_HOLDS:
    break;
  }
  return NULL;
}

/* Returns the sizes as "0, 16, 65,537". The caller frees it. */
static char *sizes(const struct claim_result *r)
{
  GString *text = g_string_new(NULL);
  for (unsigned i = 0; i < r->sizes_count; i++) {
    g_autofree char *digits = g_strdup_printf("%u", r->sizes[i]);
    size_t length = strlen(digits);
    g_string_append(text, i ? ", " : "");
    for (size_t k = 0; k < length; k++)
      g_string_append_printf(text, "%s%c", k && (length - k) % 3 == 0 ? "," : "", digits[k]);
  }
  return g_string_free(text, FALSE);
}

/* ---- for people ---- */

void report_line(const struct checked *c)
{
  const struct claim_result *r = &c->result;
  bool fine = checked_as_expected(c);
  struct look look = terminal_look();
  printf("%-28s %s%-12s%s %s%s\n", c->claim->id, fine ? look.good : look.wrong,
         claim_verdict_name(r->verdict), look.plain,
         fine ? "as expected" : "NOT AS EXPECTED: ", fine ? "" : claim_expected(c->claim));
  if (c->claim->statement)
    printf("    %s\n", g_strchomp(c->claim->statement));
  printf("    %" PRIu64 " states, %" PRIu64 " transitions, depth %u, %.2f s, %.2f M "
         "transitions/s, %.0f bytes/state, %.0f MB\n",
         r->states, r->transitions, r->depth, r->seconds, rate(r) / 1e6, bytes_per_state(r),
         megabytes(r->peak_rss));
  g_autofree char *bytes = sizes(r);
  if (*bytes)
    printf("    sizes: %s bytes\n", bytes);
  if (r->archived > 0)
    printf("    %" PRIu64 " states on disk\n", r->archived);
  if (r->omission > 0)
    printf("    fingerprints of states: one was left out with a probability of %.1e at most, a "
           "violation "
           "was missed with %.1e\n",
           r->omission, r->miss);
  if (r->verdict == CLAIM_HOLDS && !r->cycles)
    printf("    livelock was not judged (property progress)\n");
  if (*r->unjudged)
    printf("    no occasion to judge: %s\n", r->unjudged);
  if (r->collision > 0)
    printf("    contents in 128 bits: two were taken for one with a probability of %.1e at most\n",
           r->collision);
  if (*r->unreduced)
    printf("    not reduced: %s\n", r->unreduced);
  if (*r->no_stubborn_sets)
    printf("    no stubborn sets: %s\n", r->no_stubborn_sets);
  if (r->full_states)
    printf("    without reduction %" PRIu64 " states, the same %" PRIu64 " at rest\n",
           r->full_states, r->rests);
  g_autofree char *text = why(r);
  if (text)
    printf("    %s\n", text);
  if (*r->trace)
    printf("    %s\n", r->trace);
  fflush(stdout);
}

void report_end(const struct checked *list, unsigned count)
{
  unsigned fine = 0;
  for (unsigned i = 0; i < count; i++)
    fine += checked_as_expected(&list[i]);
  if (count > 1)
    printf("%u of %u claims as expected\n", fine, count);
}

/* ---- JSON ---- */

static const char *some(const char *text)
{
  return text && *text ? text : NULL;
}

static void add_bounds(JsonBuilder *b, const struct scenario *claim)
{
  json_open_object(b, "bounds");
  json_add_whole(b, "ranks", claim->program.ranks);
  json_add_whole(b, "checkpoints", claim->check.checkpoints);
  json_add_whole(b, "crashes", claim->check.crashes);
  static const char *const orders[] = {"any", "fifo", "none"};
  json_add_text(b, "order", orders[claim->check.order]);
  json_add_text(b, "places", claim->checkpoint.places == PLACES_ANYWHERE ? "anywhere" : "program");
  json_add_whole(b, "capacity", claim->protocol.capacity);
  json_builder_end_object(b);
}

static void add_claim(JsonBuilder *b, const struct checked *c)
{
  const struct claim_result *r = &c->result;
  g_autofree char *text = why(r);
  json_builder_begin_object(b);
  json_add_text(b, "id", c->claim->id);
  json_add_text(b, "statement", some(c->claim->statement));
  json_add_text(b, "source", some(c->claim->source));
  json_add_text(b, "protocol", c->claim->protocol.name);
  add_bounds(b, c->claim);
  json_add_text(b, "verdict", claim_verdict_name(r->verdict));
  json_add_text(b, "expected", claim_expected(c->claim));
  json_add_text(b, "property", some(r->property));
  json_add_text(b, "why", some(text));
  json_add_text(b, "trace", some(r->trace));
  json_add_whole(b, "states", (gint64)r->states);
  json_add_whole(b, "transitions", (gint64)r->transitions);
  json_add_real(b, "omission_probability", r->omission);
  json_add_real(b, "miss_probability", r->miss);
  json_add_real(b, "collision_probability", r->collision);
  json_add_whole(b, "depth", r->depth);
  json_add_bool(b, "livelock_judged", r->cycles);
  json_open_list(b, "sizes");
  for (unsigned i = 0; i < r->sizes_count; i++)
    json_builder_add_int_value(b, r->sizes[i]);
  json_builder_end_array(b);
  json_open_list(b, "not_judged");
  g_auto(GStrv) unjudged = g_strsplit(r->unjudged, ", ", 0);
  for (char **name = unjudged; *name; name++)
    json_builder_add_string_value(b, *name);
  json_builder_end_array(b);
  json_open_object(b, "reached");
  for (int i = 0; i < REACHES; i++)
    json_add_whole(b, reach_names[i], r->reached.most[i]);
  json_builder_end_object(b);
  json_add_whole(b, "steps", (gint64)r->steps);
  json_add_whole(b, "resumed_states", (gint64)r->resumed);
  json_add_whole(b, "archived_states", (gint64)r->archived);
  json_add_real(b, "seconds", r->seconds);
  json_add_real(b, "states_per_s", r->seconds > 0 ? (double)r->states / r->seconds : 0);
  json_add_real(b, "transitions_per_s", rate(r));
  json_add_real(b, "bytes_per_state", bytes_per_state(r));
  json_add_real(b, "peak_rss_mb", megabytes(r->peak_rss));
  json_add_text(b, "reduction", *r->reduction ? r->reduction : "none");
  json_add_text(b, "unreduced", some(r->unreduced));
  json_add_text(b, "no_stubborn_sets", some(r->no_stubborn_sets));
  json_add_whole(b, "audited_states", (gint64)r->full_states);
  json_add_whole(b, "audited_rests", (gint64)r->rests);
  json_builder_end_object(b);
}

char *report_json(const struct checked *list, unsigned count)
{
  g_autoptr(JsonBuilder) b = json_builder_new();
  json_builder_begin_object(b);
  json_add_text(b, "version", RECLINE_VERSION);
  json_open_list(b, "claims");
  for (unsigned i = 0; i < count; i++)
    add_claim(b, &list[i]);
  json_builder_end_array(b);
  json_builder_end_object(b);
  return json_text(b, true);
}

/* ---- TAP ---- */

/* Returns the text as a description or comment: on one line, without directives for a harness. The
 * caller frees it. */
static char *tap_text(const char *text)
{
  GString *safe = g_string_new(NULL);
  for (; *text; text++) {
    if (*text == '#' || *text == '\\')
      g_string_append_c(safe, '\\');
    g_string_append_c(safe, g_ascii_iscntrl(*text) ? ' ' : *text);
  }
  return g_string_free(safe, FALSE);
}

void report_tap(const struct checked *list, unsigned count)
{
  printf("TAP version 13\n1..%u\n", count);
  for (unsigned i = 0; i < count; i++) {
    const struct checked *c = &list[i];
    g_autofree char *text = why(&c->result);
    g_autofree char *id = tap_text(c->claim->id), *safe = tap_text(text ? text : "");
    printf("%sok %u - %s %s\n", checked_as_expected(c) ? "" : "not ", i + 1, id,
           claim_verdict_name(c->result.verdict));
    if (!checked_as_expected(c))
      printf("# expected: %s\n", claim_expected(c->claim));
    printf("# %" PRIu64 " states, %" PRIu64 " transitions, %.2f s\n", c->result.states,
           c->result.transitions, c->result.seconds);
    if (c->result.omission > 0)
      printf("# a state was left out with a probability of %.1e at most, a violation was missed "
             "with %.1e\n",
             c->result.omission, c->result.miss);
    if (c->result.collision > 0)
      printf("# contents in 128 bits: two were taken for one with a probability of %.1e at most\n",
             c->result.collision);
    if (*c->result.unjudged)
      printf("# no occasion to judge: %s\n", c->result.unjudged);
    if (text)
      printf("# %s\n", safe);
  }
}

/* ---- annotations ---- */

/* Prints text of a workflow command (docs.github.com, "Workflow commands"): line ends are escaped
 * and, in a property, also the signs that would end it. */
static void put_command_text(FILE *out, const char *text, const char *special)
{
  for (; *text; text++)
    if (strchr(special, *text) || (unsigned char)*text < ' ')
      fprintf(out, "%%%02X", (unsigned char)*text);
    else
      fputc(*text, out);
}

void report_annotate(FILE *out, const struct checked *list, unsigned count)
{
  for (unsigned i = 0; i < count; i++) {
    const struct checked *c = &list[i];
    g_autofree char *reason = why(&c->result);
    g_autofree char *text =
        g_strdup_printf("%s, expected %s%s%s", claim_verdict_name(c->result.verdict),
                        claim_expected(c->claim), reason ? ": " : "", reason ? reason : "");
    if (checked_as_expected(c))
      continue;
    fputs("::error file=", out);
    put_command_text(out, c->claim->file, "%,:");
    fprintf(out, ",line=%d,title=", scenario_line(c->claim, "expect.verdict"));
    put_command_text(out, c->claim->id, "%,:");
    fputs("::", out);
    put_command_text(out, text, "%");
    fputc('\n', out);
  }
}

/* ---- JUnit ---- */

/* Returns the text without the characters that XML cannot hold, even escaped. The caller frees
 * it. */
static char *xml_text(const char *text)
{
  char *valid = g_utf8_make_valid(text ? text : "", -1);
  for (char *at = valid; *at; at++)
    if (g_ascii_iscntrl(*at) && *at != '\n' && *at != '\t')
      *at = ' ';
  return valid;
}

static void junit_case(const struct checked *c)
{
  g_autofree char *reason = why(&c->result);
  g_autofree char *text = xml_text(reason), *id = xml_text(c->claim->id);
  g_autofree char *protocol = xml_text(c->claim->protocol.name);
  g_autofree char *head = g_markup_printf_escaped(
      "  <testcase classname=\"%s\" name=\"%s\" time=\"%.3f\"", protocol, id, c->result.seconds);
  if (checked_as_expected(c) && *c->result.unjudged)
    printf("%s>\n    <system-out>no occasion to judge: %s</system-out>\n  </testcase>\n", head,
           c->result.unjudged);
  else if (checked_as_expected(c))
    printf("%s/>\n", head);
  if (checked_as_expected(c))
    return;
  g_autofree char *body = g_markup_printf_escaped(
      "    <failure message=\"%s, expected %s\">%s</failure>\n",
      claim_verdict_name(c->result.verdict), claim_expected(c->claim), text);
  printf("%s>\n%s  </testcase>\n", head, body);
}

void report_junit(const struct checked *list, unsigned count)
{
  unsigned failures = 0;
  double seconds = 0;
  for (unsigned i = 0; i < count; i++) {
    failures += !checked_as_expected(&list[i]);
    seconds += list[i].result.seconds;
  }
  printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<testsuite name=\"recline check\" tests=\"%u\" failures=\"%u\" time=\"%.3f\">\n",
         count, failures, seconds);
  for (unsigned i = 0; i < count; i++)
    junit_case(&list[i]);
  printf("</testsuite>\n");
}
