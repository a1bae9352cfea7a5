#include "prove/line_report.h"

#include <stdio.h>
#include <string.h>

#include "base/exit_codes.h"

static void print_lines(const char *title, const GString *lines)
{
  for (char *line = lines->str, *end; *line; line = end) {
    end = strchr(line, '\n') + 1;
    printf("    %-8s %.*s\n", line == lines->str ? title : "", (int)(end - line) - 1, line);
  }
}

/* Prints the first failure in full, and only the clauses of the other failures. */
static void print_failures(const GPtrArray *failed)
{
  for (guint i = 0; i < failed->len; i++) {
    const struct line_failure *f = failed->pdata[i], *first = failed->pdata[0];
    printf("  clause \"%s\"%s%s: %s\n", f->clause, *f->who ? " " : "", f->who, f->text);
    if (f != first)
      continue;
    printf("    %-8s %s%s%s\n", "move:", f->move, *f->event ? ": " : "", f->event);
    print_lines("before:", f->before);
    print_lines("actions:", f->actions);
    print_lines("after:", f->after);
  }
}

static void print_never(const GPtrArray *never)
{
  for (guint i = 0; i < never->len; i++)
    printf("%s%s", i ? ", " : "  cannot happen: ", (const char *)never->pdata[i]);
  if (never->len)
    printf("\n");
}

const char *verdict_word(bool failed, const char *undecided)
{
  return failed ? "fails" : undecided ? "undecided" : "proved";
}

static void print_text(const char *name, const struct line_asked *asked,
                       const struct line_proof *proof, const char *verdict, double seconds)
{
  g_autofree char *before =
      proof->kept ? g_strdup_printf("%u moves as before, ", proof->kept) : g_strdup("");
  g_autofree char *set = settings_text(asked->worlds.set);
  printf("%-28s %-10s %d ranks, capacity %u, %s%u clauses (%u of ranks and pairs), %u moves, "
         "%s%" G_GUINT64_FORMAT " paths, %" G_GUINT64_FORMAT " queries, %.1f s\n",
         name, verdict, asked->worlds.ranks, asked->worlds.capacity, set, proof->clauses,
         proof->instances, proof->moves, before, proof->paths, proof->queries, seconds);
  print_failures(proof->failed);
  if (proof->undecided)
    printf("  %s\n", proof->undecided);
  else if (!proof->failed->len)
    print_never(proof->never);
  fflush(stdout);
}

static void add_failures(JsonBuilder *json, const GPtrArray *failed)
{
  json_open_list(json, "failed");
  for (guint i = 0; i < failed->len; i++) {
    const struct line_failure *f = failed->pdata[i];
    json_builder_begin_object(json);
    json_add_text(json, "clause", f->clause);
    json_add_text(json, "text", f->text);
    json_add_text(json, "of", f->who);
    json_add_text(json, "move", f->move);
    json_add_text(json, "event", f->event);
    json_add_text(json, "before", f->before->str);
    json_add_text(json, "actions", f->actions->str);
    json_add_text(json, "after", f->after->str);
    json_builder_end_object(json);
  }
  json_builder_end_array(json);
}

static void add_json(JsonBuilder *json, const char *name, const struct line_asked *asked,
                     const struct line_proof *proof, const char *verdict, double seconds)
{
  json_builder_begin_object(json);
  json_add_text(json, "protocol", name);
  json_add_text(json, "verdict", verdict);
  json_add_text(json, "undecided", proof->undecided);
  json_add_whole(json, "ranks", asked->worlds.ranks);
  json_add_whole(json, "capacity", asked->worlds.capacity);
  json_open_list(json, "set");
  for (guint i = 0; i < asked->worlds.set->len; i++)
    json_builder_add_string_value(json, setting_at(asked->worlds.set, i)->text);
  json_builder_end_array(json);
  json_add_text(json, "without", asked->without);
  json_add_whole(json, "clauses", proof->clauses);
  json_add_whole(json, "instances", proof->instances);
  json_add_whole(json, "moves", proof->moves);
  json_add_whole(json, "kept", proof->kept);
  json_add_whole(json, "paths", (gint64)proof->paths);
  json_add_whole(json, "queries", (gint64)proof->queries);
  json_add_real(json, "seconds", seconds);
  json_open_list(json, "cannot_happen");
  for (guint i = 0; i < proof->never->len; i++)
    json_builder_add_string_value(json, proof->never->pdata[i]);
  json_builder_end_array(json);
  add_failures(json, proof->failed);
  json_builder_end_object(json);
}

int line_report(const char *name, const struct line_asked *asked, const struct line_proof *proof,
                double seconds, JsonBuilder *json)
{
  bool failed = proof->failed->len > 0;
  const char *verdict = verdict_word(failed, proof->undecided);
  if (json)
    add_json(json, name, asked, proof, verdict, seconds);
  else
    print_text(name, asked, proof, verdict, seconds);
  return failed ? EXIT_NOT_AS_EXPECTED : proof->undecided ? EXIT_INCONCLUSIVE : EXIT_FINE;
}
