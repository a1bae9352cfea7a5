/* Writes the table of replicas: on the terminal, as JSON, as pages. */
#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/glib/json.h"
#include "base/output.h"
#include "command/replicate/replicate.h"

static const char *const VERDICTS[ROW_VERDICTS] = {
    [ROW_WITHIN] = "within", [ROW_MISSED] = "missed", [ROW_TRUE] = "true",    [ROW_FALSE] = "false",
    [ROW_INPUT] = "input",   [ROW_FAILED] = "failed", [ROW_ABSENT] = "absent"};

static const char *const KINDS[ROW_KINDS] = {[KIND_INFORMATIVE] = "informative",
                                             [KIND_ZERO] = "zero",
                                             [KIND_DERIVED] = "derived",
                                             [KIND_SHARED] = "shared"};

const char *row_verdict_name(enum row_verdict verdict)
{
  return VERDICTS[verdict];
}

bool replica_is_expected(const struct replica *r)
{
  bool explained = r->row && r->row->why;
  switch (r->verdict) {
  case ROW_WITHIN:
  case ROW_TRUE:
    return !explained;
  case ROW_MISSED:
  case ROW_FALSE:
  case ROW_ABSENT:
    return explained;
  case ROW_INPUT:
    return true;
  default:
    return false;
  }
}

/* Returns a value with its unit: "434 MB", "17 s", "true". */
static char *show(const struct published *p, double value)
{
  static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
  unsigned unit = 0;
  if (isnan(value))
    return g_strdup("");
  if (!p->number)
    return g_strdup(value != 0.0 ? "true" : "false");
  if (strcmp(p->unit, "size") != 0)
    return g_strdup_printf("%.4g %s", value, p->unit);
  for (; fabs(value) >= 1000 && unit + 1 < G_N_ELEMENTS(units); unit++)
    value /= 1000;
  return g_strdup_printf("%.4g %s", value, units[unit]);
}

static char *show_published(const struct published *p)
{
  bool whole = !p->number || !strcmp(p->unit, "size");
  return whole ? g_strdup(p->number ? p->text : p->unit) : g_strconcat(p->text, " ", p->unit, NULL);
}

static char *show_ratio(const struct replica *r)
{
  bool there = r->published->number && r->published->value != 0.0 && !isnan(r->value);
  return there ? g_strdup_printf("%.3f", r->value / r->published->value) : g_strdup("");
}

/* Counts values of one paper, or of all papers. */
struct counts {
  unsigned verdict[ROW_VERDICTS];
  unsigned within[ROW_KINDS], results[ROW_KINDS];
};

static struct counts count(const struct replicas *all, const char *source)
{
  struct counts counts = {0};
  for (unsigned i = 0; i < all->count; i++) {
    const struct replica *r = &all->item[i];
    if (source && strcmp(r->published->source, source) != 0)
      continue;
    counts.verdict[r->verdict]++;
    counts.within[replica_kind(r)] += r->verdict == ROW_WITHIN;
    counts.results[replica_kind(r)] += replica_is_result(r);
  }
  return counts;
}

/* Returns "36 of 40 informative results within (90 %), besides 4 of 4 published as zero; 3 of 3
 * claims true, 12 inputs, 2 failed, 80 absent". */
static char *sum_up(const struct counts *counts)
{
  static const char *const besides[ROW_KINDS] = {[KIND_ZERO] = "published as zero",
                                                 [KIND_DERIVED] = "that an input decides",
                                                 [KIND_SHARED] = "of one shared constant"};
  unsigned within = counts->within[KIND_INFORMATIVE], results = counts->results[KIND_INFORMATIVE];
  const unsigned *verdict = counts->verdict;
  GString *text = g_string_new(NULL);
  g_string_printf(text, "%u of %u informative results within", within, results);
  if (results)
    g_string_append_printf(text, " (%.0f %%)", 100.0 * within / results);
  const char *comma = ", besides ";
  for (unsigned kind = KIND_ZERO; kind < ROW_KINDS; kind++) {
    if (!counts->results[kind])
      continue;
    g_string_append_printf(text, "%s%u of %u %s", comma, counts->within[kind],
                           counts->results[kind], besides[kind]);
    comma = ", ";
  }
  g_string_append_printf(text, "; %u of %u claims true, %u inputs", verdict[ROW_TRUE],
                         verdict[ROW_TRUE] + verdict[ROW_FALSE], verdict[ROW_INPUT]);
  if (verdict[ROW_FAILED])
    g_string_append_printf(text, ", %u failed", verdict[ROW_FAILED]);
  if (verdict[ROW_ABSENT])
    g_string_append_printf(text, ", %u absent", verdict[ROW_ABSENT]);
  return g_string_free(text, FALSE);
}

void report_print(const struct replicas *all, const struct reachable *reach)
{
  int width = (int)strlen("value");
  for (unsigned i = 0; i < all->count; i++)
    width = MAX(width, (int)strlen(all->item[i].published->id));
  printf("%-*s %12s %12s %8s\n", width, "value", "published", "simulated", "ratio");
  for (unsigned i = 0; i < all->count; i++) {
    const struct replica *r = &all->item[i];
    g_autofree char *published = show_published(r->published), *ratio = show_ratio(r);
    g_autofree char *simulated = show(r->published, r->value);
    printf("%-*s %12s %12s %8s  %s%s%s\n", width, r->published->id, published, simulated, ratio,
           row_verdict_name(r->verdict), r->failed ? ": " : "", r->failed ? r->failed : "");
  }
  struct counts counts = count(all, NULL);
  g_autofree char *sum = sum_up(&counts);
  printf("%s\n", sum);
  if (reach->results_met < reach->results)
    printf("at most %u of %u results can be within, whatever the model\n", reach->results_met,
           reach->results);
  for (unsigned i = 0; i < all->count; i++)
    if (!replica_is_expected(&all->item[i]))
      printf("not as expected: %s is %s%s\n", all->item[i].published->id,
             row_verdict_name(all->item[i].verdict),
             all->item[i].row && all->item[i].row->why ? ", and the plan says why it is not"
                                                       : ", and the plan does not say why");
}

void report_print_json(const struct replicas *all, const struct reachable *reach)
{
  g_autoptr(JsonBuilder) builder = json_builder_new();
  json_builder_begin_object(builder);
  json_add_text(builder, "version", RECLINE_VERSION);
  json_open_list(builder, "values");
  for (unsigned i = 0; i < all->count; i++) {
    const struct replica *r = &all->item[i];
    json_builder_begin_object(builder);
    json_add_text(builder, "id", r->published->id);
    json_add_real(builder, "published", r->published->number ? r->published->value : (double)NAN);
    json_add_real(builder, "simulated", r->value);
    json_add_text(builder, "unit", r->published->unit);
    json_add_text(builder, "verdict", row_verdict_name(r->verdict));
    json_add_text(builder, "kind", replica_is_result(r) ? KINDS[replica_kind(r)] : NULL);
    json_add_text(builder, "why", r->failed ? r->failed : r->row ? r->row->why : NULL);
    json_builder_end_object(builder);
  }
  json_builder_end_array(builder);
  struct counts counts = count(all, NULL);
  for (unsigned verdict = 0; verdict < ROW_VERDICTS; verdict++)
    json_add_whole(builder, VERDICTS[verdict], counts.verdict[verdict]);
  json_add_whole(builder, "informative", counts.results[KIND_INFORMATIVE]);
  json_add_whole(builder, "informative_within", counts.within[KIND_INFORMATIVE]);
  json_add_whole(builder, "reachable", reach->results_met);
  json_builder_end_object(builder);
  json_print(builder);
}

/* ---- the pages ---- */

#define PAGES "replication" /* the folder of the papers' pages */
#define CONSTANTS_PAGE "constants.md"

static const char HEAD[] =
    "# Published and simulated\n\n"
    "Which published values does recline reproduce? `recline replicate [ID]... --out DIR` "
    "simulates them by the scenarios and formulas of "
    "[plan.ini](../scenarios/replication/plan.ini), and writes to `DIR`:\n\n"
    "| file | content |\n|---|---|\n"
    "| `replication.md` | this index |\n"
    "| `replication/*.md` | a page for each paper |\n"
    "| `*.svg` | the figures of the plan |\n\n"
    "| verdict | meaning |\n|---|---|\n"
    "| within | a result differs from the published value by at most 15 %, or by at most the "
    "rounding of that value |\n"
    "| missed | a result differs by more |\n"
    "| true, false | the simulated values make a claim, which is a statement of a paper, true or "
    "false |\n"
    "| input | the value went into the platform or the scenario, and is no result |\n"
    "| absent | nothing simulates the value yet |\n"
    "| failed | a run has failed, or the formula has no value |\n\n"
    "Three kinds of results say little; all others are called *informative*:\n\n"
    "| kind | meaning |\n|---|---|\n"
    "| zero | it is published as zero |\n"
    "| derived | an input or another value decides it |\n"
    "| shared | one fitted constant serves it and values like it |\n\n"
    "Each value that is missed, false or absent needs a reason. The reason is below the table, and "
    "has the result with another constant or another formula. The exit code is 1 if"
    " a reason is missing, if a value that is within or true has one, or if a value failed. The"
    " same command with the same `DIR` runs only what has not been run; `--sensitivity` also "
    "halves and doubles each estimated constant.\n\n";

static void write_table(FILE *out, const struct replicas *all, unsigned first, unsigned end)
{
  const struct published *p = all->item[first].published;
  fprintf(out, "\n## %s\n\n| value | published | simulated | ratio | |\n|---|---|---|---|---|\n",
          p->where);
  for (unsigned i = first; i < end; i++) {
    const struct replica *r = &all->item[i];
    g_autofree char *published = show_published(r->published), *ratio = show_ratio(r);
    g_autofree char *simulated = show(r->published, r->value);
    bool less = replica_is_result(r) && replica_kind(r) != KIND_INFORMATIVE;
    fprintf(out, "| `%s` | %s | %s | %s | %s%s%s |\n", r->published->id, published, simulated,
            ratio, row_verdict_name(r->verdict), less ? ", " : "",
            less ? KINDS[replica_kind(r)] : "");
  }
}

/* Returns whether a row of the plan gives the same reason for a missed value, with the same
 * trials. */
static bool has_reason(const struct replica *r, const struct plan_row *row)
{
  return r->row && r->row->why && !strcmp(r->row->why, row->why) &&
         g_strv_equal((const gchar *const *)r->row->tried, (const gchar *const *)row->tried);
}

/* Writes the trials that belong to a reason, for all values to which the reason applies. */
static void write_tried(FILE *out, const struct replicas *all, struct outcomes *outcomes,
                        unsigned first, unsigned end, unsigned index)
{
  const struct plan_row *row = all->item[first].row;
  GString *values = g_string_new(NULL);
  unsigned good = 0, count = 0;
  for (unsigned i = first; i < end; i++) {
    const struct replica *r = &all->item[i];
    double value;
    g_autoptr(GError) error = NULL;
    if (!has_reason(r, row))
      continue;
    bool there = tried_value(outcomes, r->row, index, outcomes_lookup, &value, &error);
    g_autofree char *text = there ? show(r->published, value) : g_strdup(error->message);
    enum row_verdict verdict = there ? replica_judge(r->published, value) : ROW_FAILED;
    good += verdict == ROW_WITHIN || verdict == ROW_TRUE;
    g_string_append_printf(values, "%s%s", count++ ? ", " : "", text);
  }
  fprintf(out, "  - %s: %u of %u within (%s)\n", row->tried[index], good, count, values->str);
  g_string_free(values, TRUE);
}

/* Writes why values are missed. Each reason is written once, with all values to which it
 * applies. */
static void write_reasons(FILE *out, const struct replicas *all, struct outcomes *outcomes,
                          unsigned first, unsigned end)
{
  fputc('\n', out);
  for (unsigned i = first; i < end; i++) {
    const struct plan_row *row = all->item[i].row;
    bool said = !row || !row->why;
    for (unsigned k = first; !said && k < i; k++)
      said = has_reason(&all->item[k], row);
    if (said)
      continue;
    const char *comma = "- ";
    for (unsigned k = i; k < end; k++)
      if (has_reason(&all->item[k], row))
        fprintf(out, "%s`%s`", comma, all->item[k].published->id), comma = ", ";
    fprintf(out, ": %s\n", row->why);
    for (unsigned k = 0; row->tried[k]; k++)
      write_tried(out, all, outcomes, i, end, k);
  }
}

static unsigned end_of(const struct replicas *all, unsigned first, bool where)
{
  const struct published *p = all->item[first].published;
  unsigned end = first;
  while (end < all->count && !strcmp(all->item[end].published->source, p->source) &&
         (!where || !strcmp(all->item[end].published->where, p->where)))
    end++;
  return end;
}

/* Returns the name of a paper's page: "event-logging.md" for "Event Logging". The caller frees
 * it. */
static char *page_name(const char *source)
{
  GString *name = g_string_new(NULL);
  for (const char *c = source; *c; c++)
    if (g_ascii_isalnum(*c))
      g_string_append_c(name, g_ascii_tolower(*c));
    else if (name->len && name->str[name->len - 1] != '-')
      g_string_append_c(name, '-');
  if (g_str_has_suffix(name->str, "-"))
    g_string_truncate(name, name->len - 1);
  g_string_append(name, ".md");
  return g_string_free(name, FALSE);
}

struct page {
  char *file;
  struct output *output;
  FILE *out; /* the file, or NULL if it cannot be written */
};

static struct page page_begin(const char *folder, const char *name)
{
  struct page page = {.file = g_build_filename(folder, name, NULL)};
  page.output = output_open(page.file);
  page.out = page.output ? output_stream(page.output) : NULL;
  return page;
}

static bool page_end(struct page *page, GError **error)
{
  bool good = page->output && output_close(page->output, false);
  if (!good)
    g_set_error(error, G_IO_ERROR, (int)g_io_error_from_errno(errno), OUTPUT_CANNOT, page->file,
                g_strerror(errno));
  g_free(page->file);
  return good;
}

/* Writes the page of the paper whose values have the indices `first` to `end` - 1. */
static bool write_paper(const struct replicas *all, struct outcomes *outcomes, const char *folder,
                        unsigned first, unsigned end, GError **error)
{
  const char *source = all->item[first].published->source;
  struct counts counts = count(all, source);
  g_autofree char *name = page_name(source), *sum = sum_up(&counts);
  struct page page = page_begin(folder, name);
  if (page.out)
    fprintf(page.out, "# %s\n\n%s ([all papers](../replication.md)).\n", source, sum);
  for (unsigned next; page.out && first < end; first = next) {
    next = end_of(all, first, true);
    write_table(page.out, all, first, next);
    write_reasons(page.out, all, outcomes, first, next);
  }
  if (page.out && outcomes->sensitivity)
    sensitivity_write(page.out, outcomes, all, source);
  return page_end(&page, error);
}

static bool write_constants(const struct outcomes *outcomes, const char *folder, GError **error)
{
  struct page page = page_begin(folder, CONSTANTS_PAGE);
  if (page.out)
    constants_write(page.out, outcomes);
  return page_end(&page, error);
}

static bool write_index(const struct replicas *all, struct outcomes *outcomes, const char *folder,
                        GError **error)
{
  struct counts counts = count(all, NULL);
  g_autofree char *total = sum_up(&counts);
  struct page page = page_begin(folder, "replication.md");
  if (page.out)
    fprintf(page.out, "%s| paper | values |\n|---|---|\n", HEAD);
  for (unsigned i = 0; page.out && i < all->count; i = end_of(all, i, false)) {
    const char *source = all->item[i].published->source;
    counts = count(all, source);
    g_autofree char *name = page_name(source), *sum = sum_up(&counts);
    fprintf(page.out, "| [%s](" PAGES "/%s) | %s |\n", source, name, sum);
  }
  if (page.out)
    fprintf(page.out, "| all | %s |\n", total), bounds_write(page.out, outcomes, all);
  if (page.out && outcomes->plan->constants->len)
    fputs("\n## Constants of the platforms\n\n[Where each comes from](" PAGES "/" CONSTANTS_PAGE
          ").\n",
          page.out);
  return page_end(&page, error);
}

bool report_write(const struct replicas *all, struct outcomes *outcomes, const char *folder,
                  GError **error)
{
  g_autofree char *pages = g_build_filename(folder, PAGES, NULL);
  bool good = g_mkdir_with_parents(pages, 0777) == 0;
  if (!good)
    g_set_error(error, G_IO_ERROR, (int)g_io_error_from_errno(errno), OUTPUT_CANNOT, pages,
                g_strerror(errno));
  for (unsigned i = 0, end; good && i < all->count; i = end) {
    end = end_of(all, i, false);
    good = write_paper(all, outcomes, pages, i, end, error);
  }
  return good && (!outcomes->plan->constants->len || write_constants(outcomes, pages, error)) &&
         write_index(all, outcomes, folder, error);
}
