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

/* The first failure whole, of others what fails. */
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

int line_report(const char *name, const struct line_asked *asked, const struct line_proof *proof,
                double seconds)
{
  bool failed = proof->failed->len > 0;
  g_autofree char *before =
      proof->kept ? g_strdup_printf("%u moves as before, ", proof->kept) : g_strdup("");
  printf("%-28s %-10s %d ranks, capacity %u, %u clauses (%u of ranks and pairs), %u moves, "
         "%s%" G_GUINT64_FORMAT " paths, %" G_GUINT64_FORMAT " queries, %.1f s\n",
         name,
         failed             ? "fails"
         : proof->undecided ? "undecided"
                            : "proved",
         asked->ranks, asked->capacity, proof->clauses, proof->instances, proof->moves, before,
         proof->paths, proof->queries, seconds);
  print_failures(proof->failed);
  if (proof->undecided)
    printf("  %s\n", proof->undecided);
  else if (!failed)
    print_never(proof->never);
  fflush(stdout);
  return failed ? EXIT_NOT_AS_EXPECTED : proof->undecided ? EXIT_INCONCLUSIVE : EXIT_FINE;
}
