/* recline platform: prints the SimGrid platform on which a run on a described machine takes
 * place. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/glib/catalogue.h"
#include "base/output.h"
#include "command/common.h"
#include "command/main.h"
#include "world/scenario/machine_file.h"
#include "world/scenario/platform_file.h"

const struct about about_platform = {
    "platform", "MACHINE|FILE.yaml",
    "show what SimGrid gets of a described machine; and its defaults",
    "platform ten-lines -o ten-lines.xml"};

static int not_one(char *const *words)
{
  return bad_input("recline platform: %s, expected one file that describes a machine (.yaml)",
                   words && *words ? "too many words" : "no machine");
}

static void tell_defaults(const struct machine *machine, unsigned presumed)
{
  struct machine_default each;
  for (unsigned i = 0; (each = machine_presumed(machine, i)).taken; i++) {
    bool matters = each.matters != MATTERS_TREE || machine->topology != TOPOLOGY_FLAT;
    if ((presumed & 1u << i) && matters)
      g_printerr("%s: no %s, taken as %s\n", each.decisive ? "warning" : "note", each.key,
                 each.taken);
    g_free(each.taken);
  }
}

static int show(const char *name, const char *output)
{
  g_autoptr(GError) error = NULL;
  struct machine machine;
  int per_node;
  g_autofree char *file = platform_find(name, ".");
  g_autofree char *guess = catalogue_guess(CATALOGUE_MACHINES, name);
  if (!file)
    return bad_input("%s: not there, expected a file that describes a machine%s", name, guess);
  if (!is_machine_file(file))
    return bad_input("%s: a SimGrid platform, expected a file that describes a machine (.yaml)",
                     name);
  if (!machine_read(file, &machine, &per_node, &error))
    return bad_input("%s", error->message);
  unsigned presumed = machine_complete(&machine, per_node);
  g_autofree char *xml = machine_xml(&machine);
  if (!output)
    fputs(xml, stdout);
  else if (!output_write(output, xml, strlen(xml)))
    return bad_input(OUTPUT_CANNOT, output, g_strerror(errno));
  tell_defaults(&machine, presumed);
  return EXIT_FINE;
}

int command_platform(int argc, char **argv)
{
  g_auto(GStrv) words = NULL;
  g_autofree char *output = NULL;
  const GOptionEntry entries[] = {
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Write the platform there", "FILE.xml"},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &words, NULL, NULL},
      G_OPTION_ENTRY_NULL};
  if (!options_read(&about_platform, argc, argv, entries))
    return EXIT_BAD_INPUT;
  return words && g_strv_length(words) == 1 ? show(words[0], output) : not_one(words);
}
