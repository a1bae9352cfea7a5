#include "command/campaign/answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/glib/json.h"
#include "command/campaign/numbers.h"
#include "protocols/protocol.h"
#include "world/scenario/protocol_words.h"

/* ---- the ranking ---- */

static bool is_before(double a, double b)
{
  return isfinite(a) && (!isfinite(b) || a < b);
}

/* Returns the mean of a cell, or NAN if no run of the cell has ended as expected. In that case the
 * mean says nothing. */
static double meant(const struct table *table, unsigned cell, int field)
{
  return table_unexpected(table, cell) == table->count ? NAN : table_mean(table, cell, field).mean;
}

/* Returns whether cell `a` is better than cell `b`. A cell whose runs lack checkpoints that were
 * due is worse than any other cell, because its mean says nothing about its interval. */
static bool is_better(const struct table *table, const double *mean, unsigned a, unsigned b)
{
  bool short_a = table_is_short(table, a), short_b = table_is_short(table, b);
  if (isfinite(mean[a]) && isfinite(mean[b]) && short_a != short_b)
    return short_b;
  return is_before(mean[a], mean[b]);
}

struct ranking ranking_of(const struct table *table, int field, double failure_free)
{
  unsigned cells = table->runs->grid->cells;
  struct ranking ranking = {cells, g_new(unsigned, cells), g_new0(bool, cells), failure_free};
  g_autofree double *mean = g_new(double, cells);
  for (unsigned i = 0; i < cells; i++) {
    unsigned at = i;
    mean[i] = meant(table, i, field);
    for (; at > 0 && is_better(table, mean, i, ranking.cell[at - 1]); at--)
      ranking.cell[at] = ranking.cell[at - 1];
    ranking.cell[at] = i;
  }
  for (unsigned i = 0; i < cells; i++) {
    struct estimate more = table_difference(table, ranking.cell[i], ranking.cell[0], field);
    bool comparable =
        table_is_short(table, ranking.cell[i]) == table_is_short(table, ranking.cell[0]);
    ranking.tied[i] = i == 0 || (isfinite(mean[ranking.cell[i]]) && comparable && more.count > 0 &&
                                 !(more.mean > more.half));
  }
  return ranking;
}

/* Returns the cells of the only sweep, sorted by the numbers of the sweep. The caller frees them
 * with g_free(). */
static unsigned *cells_by_number(const struct grid *grid)
{
  unsigned *cells = g_new(unsigned, grid->cells);
  for (unsigned i = 0; i < grid->cells; i++) {
    double number = 0.0, other = 0.0;
    unsigned at = i;
    sweep_number(grid_value(grid, i, 0), &number);
    for (; at > 0 && sweep_number(grid_value(grid, cells[at - 1], 0), &other) && other > number;
         at--)
      cells[at] = cells[at - 1];
    cells[at] = i;
  }
  return cells;
}

struct range range_of(const struct table *table, int field)
{
  const struct grid *grid = table->runs->grid;
  struct ranking ranking = ranking_of(table, field, NAN);
  g_autofree unsigned *cell = cells_by_number(grid);
  g_autofree bool *tied = g_new0(bool, grid->cells);
  unsigned best = 0, first, last;
  for (unsigned i = 0; i < grid->cells; i++)
    tied[ranking.cell[i]] = ranking.tied[i];
  while (cell[best] != ranking.cell[0])
    best++;
  for (first = best; first > 0 && tied[cell[first - 1]];)
    first--;
  for (last = best; last + 1 < grid->cells && tied[cell[last + 1]];)
    last++;
  struct range range = {cell[best], cell[first], cell[last], cell[best]};
  for (unsigned i = grid->cells; i-- > 1;)
    for (unsigned k = first; k <= last; k++)
      range.next = ranking.cell[i] == cell[k] ? cell[k] : range.next;
  ranking_clear(&ranking);
  return range;
}

void ranking_clear(struct ranking *ranking)
{
  g_free(ranking->cell);
  g_free(ranking->tied);
}

/* Returns a number rounded to two digits, because an estimate has no more digits. */
static double two_digits(double wanted)
{
  double step = wanted >= 1000 ? 100 : wanted >= 100 ? 10 : 1;
  return fmax(ceil(wanted / step) * step, 1.0);
}

static char *runs_text(double wanted, int most)
{
  return wanted > most ? g_strdup_printf("more than %d", most)
                       : g_strdup_printf("about %.0f", two_digits(wanted));
}

char *answer_few_failures(const struct table *table, unsigned cell)
{
  enum { ENOUGH = 5, SETTLES = 10 };
  int field = runs_field(table->runs, "crashes");
  struct estimate crashes = table_mean(table, cell, field);
  double all = crashes.mean * crashes.count, expected = table_expected(table, cell);
  if (field < 0 || !(all < ENOUGH) || expected <= 0.0)
    return NULL;
  g_autofree char *of =
      crashes.count < table->count
          ? g_strdup_printf("the %u of its %u runs that ended", crashes.count, table->count)
          : g_strdup_printf("its %u runs", crashes.count);
  g_autofree char *shown = number_digits(expected, 2);
  g_autofree char *more = runs_text((SETTLES - all) * crashes.count / expected, ANSWER_RUNS_MOST);
  return g_strdup_printf("only %.0f failure%s struck in %s, too few to tell what failures cost (%s "
                         "expected); %s further runs of each would meet %d",
                         all, all > 0.5 && all < 1.5 ? "" : "s", of, shown, more, SETTLES);
}

void answer_add_missing(GString *text, const struct table *table, const char *cells)
{
  unsigned least = table->count, most = 0, with = 0;
  for (unsigned cell = 0; cell < table->runs->grid->cells; cell++) {
    unsigned missing = table->count - table_ended(table, cell);
    with += missing > 0;
    least = MIN(least, missing);
    most = MAX(most, missing);
  }
  if (most == 0)
    return;
  g_autofree char *range =
      least == most ? g_strdup_printf("%u", most) : g_strdup_printf("%u to %u", least, most);
  g_string_append_printf(text,
                         " %s of %u runs did not end, at %u of %u %s: means are over the runs "
                         "that did%s.",
                         range, table->count, with, table->runs->grid->cells, cells,
                         least == most ? "" : ", and not all over the same ones");
}

void answer_add_short(GString *text, const struct table *table)
{
  const char *between = " ";
  for (unsigned cell = 0; cell < table->runs->grid->cells; cell++) {
    double due, committed;
    g_autofree char *name = table_cell_name(table, cell);
    if (!table_checkpoints(table, cell, &due, &committed) || !is_short(due, committed))
      continue;
    g_string_append_printf(text, "%s%s%scommitted %.3g of the %.3g checkpoints that were due",
                           between, name, *name ? " " : "The runs ", committed, due);
    between = ", ";
  }
  if (*between == ',')
    g_string_append(text, ": the program has too few places for them, expected steps shorter than "
                          "checkpoint.every.");
}

unsigned answer_further_runs(const struct table *table, unsigned a, unsigned b, int field)
{
  struct estimate more = table_difference(table, a, b, field);
  double mean = fabs(more.mean);
  if (mean > more.half)
    return 0;
  double share = more.half / mean, wanted = more.count * share * share - more.count;
  if (!isfinite(wanted) || wanted > ANSWER_RUNS_MOST)
    return ANSWER_RUNS_MOST + 1;
  return (unsigned)two_digits(wanted);
}

/* ---- words ---- */

const struct answer_unit *answer_unit(double seconds, double least)
{
  static const struct answer_unit units[] = {{"d", 86400}, {"h", 3600},  {"min", 60},
                                             {"s", 1},     {"ms", 1e-3}, {"us", 1e-6}};
  size_t i = 0;
  while (i + 1 < G_N_ELEMENTS(units) && seconds < least * units[i].seconds)
    i++;
  return &units[i];
}

char *answer_time(double seconds)
{
  const struct answer_unit *unit = answer_unit(seconds, 1.5);
  double value = seconds / unit->seconds;
  return value >= 99.5 ? g_strdup_printf("%.0f %s", value, unit->name)
                       : g_strdup_printf("%.2g %s", value, unit->name);
}

static const double MANY_TIMES = 5.0;
static const double SHARE_SHOWN = 0.1; /* per cent; a share has at most one digit after the point */

char *answer_cost(const struct table *table, unsigned cell, int field, double failure_free)
{
  struct estimate mean = table_mean(table, cell, field);
  if (!isfinite(failure_free) || failure_free <= 0.0 || !isfinite(mean.mean))
    return g_strdup("");
  double times = mean.mean / failure_free, half = 100 * mean.half / failure_free;
  double share = 100 * (times - 1);
  if (times >= MANY_TIMES)
    return g_strdup_printf("takes %.0f times as long as the failure-free job", times);
  int digits = half < 10 ? 1 : 0;
  if (share + (isfinite(half) ? half : 0) < SHARE_SHOWN)
    return g_strdup_printf("costs less than %g %% of the job", SHARE_SHOWN);
  return isfinite(half) && half >= SHARE_SHOWN / 2
             ? g_strdup_printf("costs %.*f ± %.*f %% of the job", digits, share, digits, half)
             : g_strdup_printf("costs %.*f %% of the job", digits, share);
}

/* Names the cells that tie with the first one: "a, b and c". If there are many, names only a few of
 * them. */
static char *tied_names(const struct table *table, const struct ranking *ranking, unsigned *count)
{
  enum { NAMED = 4 };
  GString *names = g_string_new(NULL);
  unsigned all = 0;
  *count = 0;
  for (unsigned i = 1; i < ranking->cells; i++)
    all += ranking->tied[i];
  for (unsigned i = 1; i < ranking->cells && *count < NAMED; i++) {
    g_autofree char *name = table_cell_name(table, ranking->cell[i]);
    if (!ranking->tied[i])
      continue;
    ++*count;
    g_string_append_printf(names, "%s%s",
                           *count == 1                     ? ""
                           : *count == all && all <= NAMED ? " and "
                                                           : ", ",
                           name);
  }
  if (all > NAMED)
    g_string_append_printf(names, " and %u more", all - NAMED);
  *count = all;
  return g_string_free(names, FALSE);
}

void answer_add_further(GString *text, unsigned more, const char *name)
{
  if (more > ANSWER_RUNS_MOST)
    g_string_append_printf(text,
                           " More than %d further runs of each would tell it from %s: either "
                           "will do.",
                           ANSWER_RUNS_MOST, name);
  else
    g_string_append_printf(text, " About %u further runs of each would tell it from %s.", more,
                           name);
}

/* Returns the number of cells whose checkpoints were taken or, if there is no such cell, the number
 * of all cells. */
static unsigned sound_cells(const struct table *table)
{
  unsigned cells = table->runs->grid->cells, sound = 0;
  for (unsigned cell = 0; cell < cells; cell++)
    sound += !table_is_short(table, cell);
  return sound ? sound : cells;
}

char *answer_sentence(const struct table *table, const struct ranking *ranking, int field)
{
  unsigned count, best = ranking->cell[0];
  GString *text = g_string_new(NULL);
  g_autofree char *name = table_cell_name(table, best);
  g_autofree char *tied = tied_names(table, ranking, &count);
  g_autofree char *cost = answer_cost(table, best, field, ranking->failure_free);
  struct estimate mean = table_mean(table, best, field);
  if (!isfinite(mean.mean)) {
    g_string_append(text, "No run ended.");
    return g_string_free(text, FALSE);
  }
  unsigned wrong = table_unexpected(table, best);
  /* no run of any other cell has ended as expected either, because all other cells are ranked
   * behind this one */
  if (wrong == table->count) {
    g_string_append_printf(text, "No run ended as expected, so %s says nothing.",
                           (const char *)table->runs->fields->pdata[field]);
    return g_string_free(text, FALSE);
  }
  const char *shown = table->runs->fields->pdata[field];
  unsigned sound = sound_cells(table);
  g_autofree char *few = answer_few_failures(table, best);
  if (few) { /* a cell that hardly met a failure is not called the best */
    few[0] = g_ascii_toupper(few[0]);
    g_string_append_printf(text, "%s. So far ", few);
  }
  if (ranking->cells == 1)
    g_string_append_printf(text, "%s is %.4g on average", shown, mean.mean);
  else
    g_string_append_printf(text, "%s has the least %s%s", name, shown,
                           sound < ranking->cells ? " of those with the checkpoints that were due"
                                                  : "");
  if (count > 0)
    g_string_append_printf(text, "; %s %s not measurably worse", tied, count > 1 ? "are" : "is");
  else if (sound > 1)
    g_string_append(text, few ? "; all others took longer" : "; all others are measurably worse");
  g_string_append_printf(text, "%s%s.", *cost ? "; it " : "", cost);
  if (wrong > 0)
    g_string_append_printf(text, " %u of its %u runs did not end as expected.", wrong,
                           table->count);
  answer_add_short(text, table);
  if (ranking->cells > 1 && ranking->tied[1] && !few) {
    unsigned next = ranking->cell[1];
    g_autofree char *other = table_cell_name(table, next);
    answer_add_further(text, answer_further_runs(table, next, best, field), other);
  }
  return g_string_free(text, FALSE);
}

/* ---- the ranking, printed ---- */

/* Returns the sweep whose key is the protocol's name, or -1 if there is none. */
static int protocol_sweep(const struct grid *grid)
{
  for (unsigned i = 0; i < grid->sweeps; i++)
    if (!strcmp(grid->sweep[i].key, "protocol.name"))
      return (int)i;
  return -1;
}

char *answer_assumed(const char *name)
{
  const struct rcl_protocol *protocol = rcl_protocol_named(name);
  return protocol && protocol->place ? assumptions_of(protocol->place, ", ") : g_strdup("");
}

static void print_assumptions(const struct grid *grid)
{
  int sweep = protocol_sweep(grid);
  for (char **name = sweep < 0 ? NULL : grid->sweep[sweep].values; name && *name; name++) {
    g_autofree char *assumed = answer_assumed(*name);
    printf("%s assumes %s\n", *name, *assumed ? assumed : "nothing more than MPI");
  }
}

/* Cells that cannot be told apart from the first cell share the first cell's rank. */
void answer_print_ranking(const struct table *table, const struct ranking *ranking, int field)
{
  int width = 8;
  if (ranking->cells < 2 || !isfinite(meant(table, ranking->cell[0], field)))
    return;
  for (unsigned i = 0; i < ranking->cells; i++) {
    g_autofree char *name = table_cell_name(table, i);
    width = MAX(width, (int)g_utf8_strlen(name, -1));
  }
  printf("ranked, the least %s first\n", (const char *)table->runs->fields->pdata[field]);
  for (unsigned i = 0; i < ranking->cells; i++) {
    unsigned cell = ranking->cell[i];
    g_autofree char *name = table_cell_name(table, cell);
    g_autofree char *cost = answer_cost(table, cell, field, ranking->failure_free);
    printf("  %2u  %-*s  %s%s%s%s\n", ranking->tied[i] ? 1 : i + 1, width, name,
           isfinite(meant(table, cell, field))             ? cost
           : isfinite(table_mean(table, cell, field).mean) ? "no run ended as expected"
                                                           : "no run ended",
           *cost && i > 0 && ranking->tied[i] ? ", " : "",
           i > 0 && ranking->tied[i] ? "not measurably worse than the first" : "",
           table_is_short(table, cell) ? " (!) too few checkpoints" : "");
  }
  print_assumptions(table->runs->grid);
}

/* ---- for a program ---- */

static void add_place(const struct table *table, const struct ranking *ranking, unsigned i,
                      int field, JsonBuilder *json)
{
  unsigned cell = ranking->cell[i], best = ranking->cell[0];
  double mean = table_mean(table, cell, field).mean;
  int sweep = protocol_sweep(table->runs->grid);
  g_autofree char *assumed =
      sweep < 0 ? NULL : answer_assumed(grid_value(table->runs->grid, cell, (unsigned)sweep));
  json_builder_begin_object(json);
  json_add_whole(json, "cell", cell);
  json_add_bool(json, "tied", ranking->tied[i]);
  json_add_real(json, "cost", mean / ranking->failure_free - 1);
  json_add_whole(json, "further_runs",
                 i > 0 && ranking->tied[i] ? answer_further_runs(table, cell, best, field) : 0);
  json_add_text(json, "assumes", assumed);
  json_builder_end_object(json);
}

void answer_add_json(const struct table *table, const struct ranking *ranking, int field,
                     JsonBuilder *json)
{
  g_autofree char *sentence = answer_sentence(table, ranking, field);
  json_add_text(json, "answer", sentence);
  json_add_real(json, "failure_free_s", ranking->failure_free);
  json_open_list(json, "ranking");
  for (unsigned i = 0; i < ranking->cells; i++)
    add_place(table, ranking, i, field, json);
  json_builder_end_array(json);
}
