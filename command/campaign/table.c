#include "command/campaign/table.h"

#include <math.h>
#include <stdio.h>

#include "base/exit_codes.h"
#include "base/glib/json.h"
#include "command/campaign/numbers.h"

static bool counts(const struct row *row, int field)
{
  return row->ended && field >= 0 && isfinite(row->value[field]);
}

struct estimate table_mean(const struct table *table, unsigned cell, int field)
{
  g_autofree double *values = g_new(double, table->count + 1);
  unsigned found = 0;
  for (unsigned run = 0; run < table->count; run++) {
    const struct row *row = runs_row(table->runs, cell, run);
    if (counts(row, field))
      values[found++] = row->value[field];
  }
  return estimate_of(values, found);
}

struct estimate table_difference(const struct table *table, unsigned cell, unsigned from, int field)
{
  g_autofree double *values = g_new(double, table->count + 1);
  unsigned found = 0;
  for (unsigned run = 0; run < table->count; run++) {
    const struct row *row = runs_row(table->runs, cell, run);
    const struct row *first = runs_row(table->runs, from, run);
    if (counts(row, field) && counts(first, field))
      values[found++] = row->value[field] - first->value[field];
  }
  return estimate_of(values, found);
}

unsigned table_ended(const struct table *table, unsigned cell)
{
  unsigned ended = 0;
  for (unsigned run = 0; run < table->count; run++)
    ended += runs_row(table->runs, cell, run)->ended;
  return ended;
}

unsigned table_failed(const struct table *table, unsigned cell)
{
  unsigned failed = 0;
  for (unsigned run = 0; run < table->count; run++)
    failed += runs_row(table->runs, cell, run)->exit > EXIT_INCONCLUSIVE;
  return failed;
}

unsigned table_unexpected(const struct table *table, unsigned cell)
{
  unsigned unexpected = 0;
  for (unsigned run = 0; run < table->count; run++)
    unexpected += runs_row(table->runs, cell, run)->exit != 0;
  return unexpected;
}

bool is_short(double due, double committed)
{
  enum { FEW = 4 };
  return due >= FEW && committed * 2 <= due;
}

bool table_checkpoints(const struct table *table, unsigned cell, double *due, double *committed)
{
  static const char *const names[] = {"checkpoints.committed", "simulated_s", "time_s.lost",
                                      "time_s.restart", "time_s.checkpoint"};
  const struct outlook *outlook = &table->outlook[cell];
  double mean[G_N_ELEMENTS(names)];
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
    mean[i] = table_mean(table, cell, runs_field(table->runs, names[i])).mean;
  double time = mean[1] - mean[2] - mean[3] - mean[4];
  *committed = mean[0];
  *due = outlook->every > 0.0 ? floor(time / outlook->every) * outlook->each : NAN;
  return isfinite(*due) && isfinite(*committed);
}

double table_expected(const struct table *table, unsigned cell)
{
  struct estimate time = table_mean(table, cell, runs_field(table->runs, "simulated_s"));
  return time.count * time.mean / table->outlook[cell].mtbf;
}

bool table_is_short(const struct table *table, unsigned cell)
{
  double due, committed;
  return table_checkpoints(table, cell, &due, &committed) && is_short(due, committed);
}

double table_width(const struct table *table, int field)
{
  double widest = 0.0;
  for (unsigned cell = 0; cell < table->runs->grid->cells; cell++) {
    struct estimate e = table_mean(table, cell, field);
    double width = e.half > 0.0 ? e.half / fabs(e.mean) : 0.0;
    widest = isnan(e.mean) ? INFINITY : fmax(widest, width);
  }
  return widest;
}

char *table_cell_name(const struct table *table, unsigned cell)
{
  GString *name = g_string_new(NULL);
  for (unsigned i = 0; i < table->runs->grid->sweeps; i++)
    g_string_append_printf(name, "%s%s", i ? " " : "", grid_value(table->runs->grid, cell, i));
  return g_string_free(name, FALSE);
}

/* ---- CSV ---- */

static void add_number(GString *csv, double number)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE] = "";
  csv_add(csv, isfinite(number) ? g_ascii_formatd(text, sizeof text, "%.9g", number) : text);
}

static void add_line(const struct table *table, unsigned cell, int field, GString *csv)
{
  struct estimate mean = table_mean(table, cell, field);
  struct estimate more = table_difference(table, cell, 0, field);
  g_string_append_printf(csv, "%u", cell);
  for (unsigned i = 0; i < table->runs->grid->sweeps; i++)
    csv_add(csv, grid_value(table->runs->grid, cell, i));
  csv_add(csv, table->runs->fields->pdata[field]);
  g_string_append_printf(csv, ",%u,%u,%u", table->count, mean.count, table_unexpected(table, cell));
  const double numbers[] = {mean.mean, mean.half, mean.deviation, mean.least,
                            mean.most, more.mean, more.half};
  for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
    add_number(csv, numbers[i]);
  g_string_append_c(csv, '\n');
}

bool table_write_csv(const struct table *table, const char *file, GError **error)
{
  GString *csv = g_string_new("cell");
  for (unsigned i = 0; i < table->runs->grid->sweeps; i++)
    csv_add(csv, table->runs->grid->sweep[i].key);
  g_string_append(csv, ",field,runs,ended,unexpected,mean,half_width_95,deviation,least,most,"
                       "difference,difference_half_width_95\n");
  for (unsigned cell = 0; cell < table->runs->grid->cells; cell++)
    for (guint field = 0; field < table->runs->fields->len; field++)
      add_line(table, cell, (int)field, csv);
  return text_write(csv, file, error);
}

/* ---- for a person ---- */

static void print_cell(const struct table *table, unsigned cell, int field, int width)
{
  struct estimate mean = table_mean(table, cell, field);
  struct estimate more = table_difference(table, cell, 0, field);
  struct estimate crashes = table_mean(table, cell, runs_field(table->runs, "crashes"));
  double first = table_mean(table, 0, field).mean;
  g_autofree char *name = table_cell_name(table, cell);
  g_autofree char *shown = number_digits(mean.mean, 6), *half = number_half(mean.mean, mean.half);
  g_autofree char *change = number_change(more.mean / first);
  double due, committed;
  unsigned ended = table_ended(table, cell);
  printf("  %-*s  ", width, *name ? name : "all runs");
  if (ended == 0)
    printf("no run ended");
  else
    printf("%12s ± %-10s %8.3g crashes", shown, half, crashes.mean);
  if (table_checkpoints(table, cell, &due, &committed))
    printf("  %.3g of %.3g checkpoints%s", committed, due, is_short(due, committed) ? " (!)" : "");
  if (cell > 0 && more.count > 1 && first != 0)
    printf("  %7s ± %.2f %%", change, 100 * more.half / fabs(first));
  if (ended < table->count)
    printf("  %u of %u runs ended", ended, table->count);
  if (table_unexpected(table, cell) > 0)
    printf("  %u not as expected", table_unexpected(table, cell));
  if (table_failed(table, cell) > 0)
    printf(", of which %u failed", table_failed(table, cell));
  printf("\n");
}

void table_print(const struct table *table, int field)
{
  const struct grid *grid = table->runs->grid;
  int width = 8;
  for (unsigned cell = 0; cell < grid->cells; cell++) {
    g_autofree char *name = table_cell_name(table, cell);
    width = MAX(width, (int)g_utf8_strlen(name, -1));
  }
  printf("%s, mean of %u runs with 95 %% confidence%s\n",
         (const char *)table->runs->fields->pdata[field], table->count,
         grid->cells > 1 ? ", and difference from the first" : "");
  for (unsigned cell = 0; cell < grid->cells; cell++)
    print_cell(table, cell, field, width);
}

/* ---- for a program ---- */

static void add_cell(const struct table *table, unsigned cell, int field, JsonBuilder *json)
{
  struct estimate mean = table_mean(table, cell, field);
  struct estimate more = table_difference(table, cell, 0, field);
  double due, committed;
  json_builder_begin_object(json);
  json_open_object(json, "sweep");
  for (unsigned i = 0; i < table->runs->grid->sweeps; i++) {
    json_add_text(json, table->runs->grid->sweep[i].key, grid_value(table->runs->grid, cell, i));
  }
  json_builder_end_object(json);
  json_add_whole(json, "runs", table->count);
  json_add_whole(json, "ended", mean.count);
  json_add_whole(json, "unexpected", table_unexpected(table, cell));
  bool asks = table_checkpoints(table, cell, &due, &committed);
  json_add_real(json, "due", asks ? due : NAN);
  json_add_real(json, "committed", asks ? committed : NAN);
  json_add_real(json, "mean", mean.mean);
  json_add_real(json, "half_width_95", mean.half);
  json_add_real(json, "deviation", mean.deviation);
  json_add_real(json, "difference", more.mean);
  json_add_real(json, "difference_half_width_95", more.half);
  json_builder_end_object(json);
}

void table_add_json(const struct table *table, int field, JsonBuilder *json)
{
  json_open_list(json, "cells");
  for (unsigned cell = 0; cell < table->runs->grid->cells; cell++)
    add_cell(table, cell, field, json);
  json_builder_end_array(json);
}
