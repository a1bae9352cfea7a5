/* Tests that result.json is read back as it was written, in the same bytes, and that wrong files
 * are refused. */
#include "world/result/result.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tests;

static void ok(bool good, const char *name)
{
  printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
}

static uint64_t images[8] = {1, 0, 3, 4, 5, 6, 7, G_MAXINT64};

static char *notes[] = {(char *)"failures.0: did not strike", (char *)"a \"note\"", NULL};

static struct run_phase phases[] = {
    {.name = (char *)"capture", .checkpoint = 1, .ranks = 8, .least = 0.1, .mean = 0.25, .most = 1},
    {.name = (char *)"a \"phase\"", .checkpoint = 2, .ranks = 1, .most = 1e-9},
};

static const struct result FULL = {
    .verdict = RUN_GAVE_UP,
    .program_exit = 64,
    .ranks = 8,
    .crashes = 2,
    .rollbacks_global = 3,
    .rollbacks_local = 4,
    .checkpoints_committed = 5,
    .checkpoints_aborted = 6,
    .checkpoints_abandoned = 2,
    .messages = {7, 8, 9, 10, 11, UINT64_MAX / 2},
    .simulated_s = 0.1,
    .time = {1e-9, 2.5, 1.0 / 3.0, 4, 123456789.25, 0},
    .network = {100, 200, 3000},
    .stored_bytes = 4000,
    .copies = {1, 2, 0.5, 0.25},
    .repair = {1, 2, 3, 4, 5, 6},
    .phases = phases,
    .phases_count = 2,
    .iterations = 12,
    .rank_iterations = images,
    .image_bytes = 1,
    .rank_image_bytes = images,
    .audit_violations = 2,
    .audit_first = (char *)"\"quoted\"\nline \\ \xff \xc3\xa9",
    .gave_up = (char *)"full",
    .notes = notes,
    .version = (char *)"0.0.1",
    .program = (char *)"cg S",
    .seed = UINT64_MAX,
};

/* Loads FULL's JSON with `from` replaced by `to`. */
static bool loads(const char *file, const char *from, const char *to)
{
  g_autofree char *json = result_json(&FULL);
  g_auto(GStrv) parts = g_strsplit(json, from, 2);
  g_autofree char *changed = g_strjoinv(to, parts);
  g_autoptr(GError) error = NULL;
  struct result result;
  g_file_set_contents(file, changed, -1, NULL);
  if (g_strv_length(parts) != 2) {
    printf("Bail out! %s is not in %s\n", from, json);
    exit(1);
  }
  bool loaded = result_load(file, &result, &error);
  if (loaded)
    result_clear(&result);
  else if (error != NULL)
    printf("# %s\n", error->message);
  return loaded;
}

static void round_trip(const char *file)
{
  struct result result;
  GError *error = NULL;
  bool saved = result_save(&FULL, file, &error);
  bool loaded = saved && result_load(file, &result, &error);
  ok(loaded, "a result is saved and loaded");
  if (!loaded) {
    printf("Bail out! %s\n", error->message);
    return;
  }
  g_autofree char *before = result_json(&FULL), *after = result_json(&result);
  ok(strcmp(before, after) == 0, "all of it comes back in the same bytes");
  ok(result.seed == UINT64_MAX && result.time.compute == 1e-9 && result.verdict == RUN_GAVE_UP,
     "and as the same numbers");
  ok(g_utf8_validate(before, -1, NULL) && strstr(before, "\\n") != NULL && !strstr(before, "\xff"),
     "texts are valid JSON whatever they hold");
  ok(strstr(before, "\"protocol\": 0.333333333,") != NULL, "seconds have 9 significant digits");
  result_clear(&result);
}

int main(void)
{
  g_autofree char *file = NULL;
  int handle = g_file_open_tmp("result-XXXXXX.json", &file, NULL);
  g_close(handle, NULL);
  round_trip(file);
  ok(!loads(file, "[1, 0", "[1"), "as many images as ranks");
  ok(!loads(file, "[1, 0", "[1, -1"), "each with a size");
  ok(loads(file, "64", "63"), "a change of a number is read");
  ok(!loads(file, "\"crashes\"", "\"crashs\""), "a missing key is refused");
  ok(!loads(file, "\"global\"", "\"globe\""), "so is one of a group");
  ok(!loads(file, "gave-up", "given-up"), "an unknown verdict");
  ok(!loads(file, "\"ranks\": 8", "\"ranks\": \"8\""), "a text for a number");
  ok(!loads(file, "\"ranks\": 8", "\"ranks\": 8.5"), "a fraction for a whole number");
  ok(!loads(file, "\"crashes\": 2", "\"crashes\": -2"), "a negative count");
  ok(loads(file, ": 18446744073709551615", ": 9223372036854775808"), "a seed of 2^63");
  ok(!loads(file, ": 18446744073709551615", ": 18446744073709551616"), "one of 2^64");
  ok(!loads(file, ": 18446744073709551615", ": -1"), "a negative one");
  ok(!loads(file, ": 18446744073709551615", ": 1.5"), "a fraction");
  ok(!loads(file, "[\"failures", "[0, \"failures"), "a number for a note");
  ok(!loads(file, "\"mean_s\": 0.25, ", ""), "a phase without its mean");
  ok(!loads(file, "\"capture\"", "1"), "or with a number for its name");
  ok(!loads(file, "\n}\n", ""), "a file that ends early");
  remove(file);
  printf("1..22\n");
  return tests == 22 ? 0 : 1;
}
