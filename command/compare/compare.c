/* recline compare A B: shows the numbers of two runs, or of two sets of repetitions, side by
 * side. */
#include "command/compare/compare.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "base/glib/json.h"
#include "command/campaign/estimate.h"
#include "command/campaign/runs.h"
#include "command/compare/samples.h"

const struct about about_compare = {
    "compare", "DIR|FILE.json",
    "lay two results beside each other; runs, repetitions, campaigns, simulated and measured ones",
    "compare kept kept/result.json --json"};

enum { SIDES = 2 };

/* Holds a number that both sides have. Without repetitions, a mean has no interval, and half the
 * width of its interval counts as 0. */
struct compared {
  const char *name;
  struct estimate side[SIDES];
  double ratio; /* B divided by A */
  double half;  /* half the width of the ratio's 95 % interval, or NAN if there is no interval */
};

static struct estimate estimate_in(const struct samples *samples, const char *name)
{
  const GArray *values = g_hash_table_lookup(samples->values, name);
  return values ? estimate_of((const double *)(const void *)values->data, values->len)
                : estimate_of(NULL, 0);
}

/* Makes the row of a number. Computes the error of a quotient of two independent means, to first
 * order. */
static struct compared row_of(const struct samples *samples, const char *name)
{
  struct compared row = {
      name, {estimate_in(&samples[0], name), estimate_in(&samples[1], name)}, NAN, NAN};
  double square = 0.0;
  bool repeated = false;
  row.ratio = row.side[1].mean / row.side[0].mean;
  for (int i = 0; i < SIDES; i++) {
    double share = row.side[i].half / fabs(row.side[i].mean);
    repeated |= row.side[i].count > 1;
    square += row.side[i].count > 1 ? share * share : 0.0;
  }
  row.half = repeated ? fabs(row.ratio) * sqrt(square) : NAN;
  return row;
}

/* Returns the numbers that both sides have, in the order of A, without numbers that are 0 on both
 * sides. */
static GArray *rows_of(const struct samples *samples)
{
  GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct compared));
  for (guint i = 0; i < samples[0].names->len; i++) {
    const char *name = samples[0].names->pdata[i];
    struct compared row = row_of(samples, name);
    if (row.side[1].count > 0 && (row.side[0].mean > 0 || row.side[1].mean > 0))
      g_array_append_val(rows, row);
  }
  return rows;
}

static const struct compared *row_named(const GArray *rows, const char *name)
{
  for (guint i = 0; i < rows->len; i++)
    if (!strcmp(g_array_index(rows, struct compared, i).name, name))
      return &g_array_index(rows, struct compared, i);
  return NULL;
}

/* ---- for a person ---- */

static char *ratio_text(const struct compared *row)
{
  return !isfinite(row->ratio) ? g_strdup("-")
         : isfinite(row->half) ? g_strdup_printf("%.3g ± %.2g", row->ratio, row->half)
                               : g_strdup_printf("%.3g", row->ratio);
}

static bool is_phase(const struct compared *row)
{
  return g_str_has_prefix(row->name, "phase ");
}

static bool is_account(const struct compared *row)
{
  return g_str_has_prefix(row->name, "time_s.");
}

/* Returns whether two means differ by more than 5 per cent. */
static bool differs(const struct compared *row)
{
  return row->side[0].mean <= 0 || row->side[1].mean <= 0 || fabs(log(row->ratio)) > log(1.05);
}

/* Returns that row of the account of time in which the sides differ by the most seconds. Returns
 * NULL if no row differs by more than 5 per cent. */
static const struct compared *account_apart(const GArray *rows)
{
  const struct compared *worst = NULL;
  double most = 0.0;
  for (guint i = 0; i < rows->len; i++) {
    const struct compared *row = &g_array_index(rows, struct compared, i);
    double apart = fabs(row->side[1].mean - row->side[0].mean);
    if (is_account(row) && differs(row) && apart > most)
      worst = row, most = apart;
  }
  return worst;
}

/* Returns the phase whose ratio is furthest from 1, or NULL if all ratios are within 5 per cent of
 * 1. */
static const struct compared *phase_apart(const GArray *rows)
{
  const struct compared *worst = NULL;
  for (guint i = 0; i < rows->len; i++) {
    const struct compared *row = &g_array_index(rows, struct compared, i);
    if (is_phase(row) && isfinite(row->ratio) && row->ratio > 0 && differs(row) &&
        (!worst || fabs(log(row->ratio)) > fabs(log(worst->ratio))))
      worst = row;
  }
  return worst;
}

/* Returns a number without a fraction, with commas between thousands: "24,857". The caller frees
 * it. */
static char *count_text(double number)
{
  GString *text = g_string_new(NULL);
  g_string_printf(text, "%.0f", number);
  for (gssize at = (gssize)text->len - 3; at > (number < 0 ? 1 : 0); at -= 3)
    g_string_insert_c(text, at, ',');
  return g_string_free(text, FALSE);
}

static char *value_text(const char *name, const struct estimate *e)
{
  bool time = runs_is_time(name) || g_str_has_prefix(name, "phase");
  bool interval = e->count > 1 && e->half > 0.0 && isfinite(e->half);
  double share = interval ? 100 * e->half / fabs(e->mean) : 0.0;
  const char *unit = "";
  double mean = e->mean;
  if (time && mean > 0 && mean < 1) {
    unit = mean < 1e-3 ? " us" : " ms";
    mean *= mean < 1e-3 ? 1e6 : 1e3;
  } else if (time) {
    unit = " s";
  }
  g_autofree char *number = !time && (mean == floor(mean) || mean >= 1000)
                                ? count_text(mean)
                                : g_strdup_printf("%.4g", mean);
  return interval ? g_strdup_printf("%s%s ± %.2g %%", number, unit, share)
                  : g_strdup_printf("%s%s", number, unit);
}

/* Returns "B takes 1.02 ± 0.05 of the time of A; of the account of time checkpoint is furthest
 * apart: 55.4 ms and 0.749 ms; of the phases capture: 1.47.", which the caller frees. */
static char *sentence_of(const GArray *rows)
{
  const struct compared *whole = row_named(rows, "simulated_s");
  const struct compared *account = account_apart(rows), *phase = phase_apart(rows);
  GString *text = g_string_new(NULL);
  g_autofree char *all = whole ? ratio_text(whole) : NULL, *far = phase ? ratio_text(phase) : NULL;
  if (all)
    g_string_append_printf(text, "B takes %s of the time of A", all);
  if (account) {
    g_autofree char *a = value_text(account->name, &account->side[0]);
    g_autofree char *b = value_text(account->name, &account->side[1]);
    g_string_append_printf(text, "%sof the account of time %s is furthest apart: %s and %s",
                           all ? "; " : "", account->name + strlen("time_s."), a, b);
  }
  if (far)
    g_string_append_printf(text, "%sof the phases %s%s: %s", text->len ? "; " : "",
                           phase->name + strlen("phase "), account ? "" : " is furthest apart",
                           far);
  g_string_append(text, text->len ? "." : "They have no time in common.");
  return g_string_free(text, FALSE);
}

static void print_row(const struct compared *row, const char *name)
{
  g_autofree char *a = value_text(row->name, &row->side[0]);
  g_autofree char *b = value_text(row->name, &row->side[1]), *ratio = ratio_text(row);
  /* the sign of ± takes two bytes and one column */
  int more_a = strstr(a, "±") ? 1 : 0, more_b = strstr(b, "±") ? 1 : 0;
  printf("  %-24s %*s %*s   %s\n", name, 20 + more_a, a, 20 + more_b, b, ratio);
}

/* Lists the sections of the table. A section has the numbers whose names begin with the section's
 * prefix. */
static const struct section {
  const char *title, *prefix;
  bool whole; /* the prefix is the complete name */
} sections[] = {{"whole run", "simulated_s", true},
                {"phases, mean over checkpoints", "phase ", false},
                {"account of time, of a rank", "time_s.", false},
                {"repairs", "repair_s.", false},
                {"counts", "crashes", true},
                {"counts", "rollbacks.", false},
                {"counts", "checkpoints.", false},
                {"counts", "messages.", false},
                {"counts", "network.", false},
                {"counts", "stored_bytes", true},
                {"counts", "image_bytes", true}};

static bool belongs(const struct section *section, const char *name)
{
  return section->whole ? !strcmp(name, section->prefix) : g_str_has_prefix(name, section->prefix);
}

/* Prints the rows of a section. Prints the section's title first, unless it is `*told`, the title
 * of the section before. */
static void print_section(const GArray *rows, const struct section *section, const char **told)
{
  for (guint i = 0; i < rows->len; i++) {
    const struct compared *row = &g_array_index(rows, struct compared, i);
    if (!belongs(section, row->name))
      continue;
    if (strcmp(*told, section->title) != 0)
      printf("%s\n", section->title);
    *told = section->title;
    const char *name = is_phase(row) ? row->name + strlen("phase ") : row->name;
    print_row(row, !strcmp(name, "simulated_s") ? "time" : name);
  }
}

static void print_warning(const struct samples *samples)
{
  if (strcmp(samples[0].protocol, samples[1].protocol) != 0)
    printf("note: A ran under %s, B under %s\n", samples[0].protocol, samples[1].protocol);
  if (samples[0].ranks != samples[1].ranks)
    printf("note: A has %d ranks, B has %d\n", samples[0].ranks, samples[1].ranks);
}

static void print_table(const struct samples *samples, const GArray *rows)
{
  const char *told = "";
  g_autofree char *sentence = sentence_of(rows);
  printf("%s\n", sentence);
  for (int i = 0; i < SIDES; i++)
    printf("%c: %s; %u run%s\n", "AB"[i], samples[i].title, samples[i].runs,
           samples[i].runs > 1 ? "s" : "");
  print_warning(samples);
  printf("  %-24s %20s %20s   %s\n", "", "A", "B", "B / A");
  for (size_t i = 0; i < G_N_ELEMENTS(sections); i++)
    print_section(rows, &sections[i], &told);
}

/* ---- for a program ---- */

static void add_side(JsonBuilder *json, const char *name, const struct samples *samples)
{
  json_open_object(json, name);
  json_add_text(json, "title", samples->title);
  json_add_text(json, "protocol", samples->protocol);
  json_add_whole(json, "ranks", samples->ranks);
  json_add_whole(json, "runs", samples->runs);
  json_builder_end_object(json);
}

static void print_json(const struct samples *samples, const GArray *rows)
{
  g_autoptr(JsonBuilder) json = json_builder_new();
  g_autofree char *sentence = sentence_of(rows);
  json_builder_begin_object(json);
  json_add_text(json, "version", RECLINE_VERSION);
  json_add_text(json, "answer", sentence);
  add_side(json, "a", &samples[0]);
  add_side(json, "b", &samples[1]);
  json_open_list(json, "rows");
  for (guint i = 0; i < rows->len; i++) {
    const struct compared *row = &g_array_index(rows, struct compared, i);
    json_builder_begin_object(json);
    json_add_text(json, "name", row->name);
    json_add_real(json, "a", row->side[0].mean);
    json_add_real(json, "a_half_width_95", row->side[0].half);
    json_add_real(json, "b", row->side[1].mean);
    json_add_real(json, "b_half_width_95", row->side[1].half);
    json_add_real(json, "ratio", row->ratio);
    json_add_real(json, "ratio_half_width_95", row->half);
    json_builder_end_object(json);
  }
  json_builder_end_array(json);
  json_builder_end_object(json);
  json_print(json);
}

static int compare(char *const *words, bool json)
{
  struct samples samples[SIDES] = {{0}, {0}};
  g_autoptr(GError) error = NULL;
  bool good =
      samples_read(&samples[0], words[0], &error) && samples_read(&samples[1], words[1], &error);
  if (good) {
    GArray *rows = rows_of(samples);
    if (json)
      print_json(samples, rows);
    else
      print_table(samples, rows);
    g_array_unref(rows);
  }
  for (int i = 0; i < SIDES; i++)
    samples_clear(&samples[i]);
  return good ? EXIT_FINE : bad_input("%s", error->message);
}

int command_compare(int argc, char **argv)
{
  g_auto(GStrv) words = NULL;
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object and nothing else", NULL},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &words, NULL, NULL},
      G_OPTION_ENTRY_NULL};
  if (!options_read(&about_compare, argc, argv, entries))
    return EXIT_BAD_INPUT;
  if (!words || g_strv_length(words) != SIDES)
    return bad_input("recline compare: %u words, expected two results: folders or result.json",
                     words ? g_strv_length(words) : 0);
  return compare(words, json);
}
