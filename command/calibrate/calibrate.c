/* recline calibrate: writes a description of the machine on which it runs. Under mpirun, it hands
 * over to the program recline-calibrate, which is built with the system's MPI library.
 * recline-calibrate measures, and then starts recline calibrate again with the samples. */
#include "command/calibrate/calibrate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "base/output.h"
#include "command/calibrate/machine_check.h"
#include "command/calibrate/machine_text.h"
#include "world/scenario/scenario.h"

const struct about about_calibrate = {
    "calibrate", "",
    "measure this machine under mpirun and describe it, for simulations; "
    "then simulate what was measured, and compare",
    "calibrate --samples machine.samples -o machine.yaml"};

struct calibration {
  char *output, *samples, *largest;
  char **disks;
  gint repetitions;
};

/* ---- measuring ---- */

/* Returns the name of the description with another suffix. The caller frees it. */
static char *samples_name(const char *output)
{
  const char *end = g_str_has_suffix(output, ".yaml")  ? ".yaml"
                    : g_str_has_suffix(output, ".yml") ? ".yml"
                                                       : "";
  g_autofree char *base = g_strndup(output, strlen(output) - strlen(end));
  return g_strconcat(base, ".samples", NULL);
}

/* Hands over to the program that measures. Returns only if this build does not have that
 * program. */
static int measure(const struct calibration *asked, double largest)
{
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
  g_autofree char *samples = samples_name(asked->output);
  g_autofree char *repetitions = g_strdup_printf("%d", asked->repetitions);
  g_autofree char *bytes = g_strdup_printf("%.0f", largest);
  g_autoptr(GPtrArray) words = g_ptr_array_new();
  char *const fixed[] = {samples, repetitions, bytes, self, asked->output};
  for (size_t i = 0; i < G_N_ELEMENTS(fixed); i++)
    g_ptr_array_add(words, fixed[i]);
  for (char **disk = asked->disks; disk && *disk; disk++)
    g_ptr_array_add(words, *disk);
  hand_over("recline-calibrate", words);
  return bad_input("recline calibrate: this build measures nothing, expected the packages "
                   "libopenmpi-dev or libmpich-dev where it is configured");
}

/* ---- what was measured ---- */

static int describe(const char *file, const char *output)
{
  g_autoptr(GError) error = NULL;
  struct sample_file samples;
  struct fit fit = {.speed = {0}};
  int code = EXIT_FINE;
  if (!sample_file_read(&samples, file, &error)) {
    sample_file_clear(&samples);
    return bad_input("%s", error->message);
  }
  fit_machine(&fit, &samples);
  g_autofree char *text = machine_text(&fit, &samples);
  if (!output_write(output, text, strlen(text)))
    code = bad_input(OUTPUT_CANNOT, output, g_strerror(errno));
  else if (!machine_check(&samples, output, &error))
    code = bad_input("%s", error->message);
  fit_clear(&fit);
  sample_file_clear(&samples);
  return code;
}

/* ---- options ---- */

static int run(const struct calibration *asked)
{
  enum { MOST = 1 << 30 };
  g_autoptr(GError) error = NULL;
  double largest = 16777216.0;
  if (asked->largest &&
      (!scenario_bytes(asked->largest, &largest, &error) || largest < 1 || largest > MOST))
    return bad_input("recline calibrate: --largest %s, expected a size from 1B to 1GiB",
                     asked->largest);
  if (asked->repetitions < 1)
    return bad_input("recline calibrate: --repetitions, expected a number from 1");
  if (!g_str_has_suffix(asked->output, ".yaml") && !g_str_has_suffix(asked->output, ".yml"))
    return bad_input("recline calibrate: -o %s, expected FILE.yaml", asked->output);
  if (asked->samples && asked->disks)
    return bad_input("recline calibrate: --samples, expected no --disk: nothing is measured");
  return asked->samples ? describe(asked->samples, asked->output) : measure(asked, largest);
}

int command_calibrate(int argc, char **argv)
{
  enum { REPETITIONS = 20 };
  struct calibration asked = {.repetitions = REPETITIONS};
  g_auto(GStrv) words = NULL;
  const GOptionEntry entries[] = {
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &asked.output,
       "the description; what was measured goes beside it (machine.yaml, machine.samples)",
       "FILE.yaml"},
      {"disk", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &asked.disks,
       "measure the disk on which this folder is; may be given several times", "DIR"},
      {"repetitions", 0, 0, G_OPTION_ARG_INT, &asked.repetitions,
       "repetitions of each measurement, in each process (20)", "N"},
      {"largest", 0, 0, G_OPTION_ARG_STRING, &asked.largest,
       "size of the largest message and file (16MiB)", "SIZE"},
      {"samples", 0, 0, G_OPTION_ARG_FILENAME, &asked.samples,
       "measure nothing: describe what was measured before", "FILE"},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &words, NULL, NULL},
      G_OPTION_ENTRY_NULL};
  if (!options_read(&about_calibrate, argc, argv, entries))
    return EXIT_BAD_INPUT;
  if (!asked.output)
    asked.output = g_strdup("machine.yaml");
  int code = words ? bad_input("recline calibrate: %s, expected no words but options", words[0])
                   : run(&asked);
  g_free(asked.output);
  g_free(asked.samples);
  g_free(asked.largest);
  g_strfreev(asked.disks);
  return code;
}
