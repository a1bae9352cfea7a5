/* Makes the shared object of the mutants (CMakeLists.txt beside this file says how they are made)
 * and of the reference worlds. plugin.h loads it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/protocol.h"

/* CMakeLists.txt writes mutants.inc: MUTANT("c3~no-suppress", mutant_c3_no_suppress) ... */
#define MUTANT(name, symbol) extern const struct rcl_protocol symbol;
#include "mutants.inc"
#undef MUTANT

#define MUTANT(name, symbol) {name, &symbol},
static const struct {
  const char *name;
  const struct rcl_protocol *protocol;
} mutants[] = {
#include "mutants.inc"
};

enum { MUTANTS = sizeof mutants / sizeof *mutants, FORMS_MAX = 4, NAME_MAX = 64 };

extern const uint32_t recline_door;
const uint32_t recline_door = RECLINE_DOOR;

extern const struct rcl_protocol *recline_protocols[];
const struct rcl_protocol *recline_protocols[MUTANTS * FORMS_MAX + 1];

/* The name of a form of a mutated protocol consists of the name of the original form and the name
 * of the flaw: the forms of event-logging~no-drop are event-logging~no-drop,
 * event-logging-posted~no-drop and so on. */
static void add(const struct rcl_protocol *form, const char *flaw)
{
  static struct rcl_protocol copies[MUTANTS * FORMS_MAX];
  static char names[MUTANTS * FORMS_MAX][NAME_MAX];
  static size_t count;
  if (count == MUTANTS * FORMS_MAX)
    abort(); /* FORMS_MAX is too small */
  struct rcl_protocol *copy = &copies[count];
  *copy = *form;
  if (snprintf(names[count], NAME_MAX, "%s%s", form->name, flaw) >= NAME_MAX)
    abort(); /* NAME_MAX is too small */
  copy->name = names[count];
  copy->variant = NULL;
  recline_protocols[count++] = copy;
}

__attribute__((constructor)) static void fill(void)
{
  for (size_t i = 0; i < MUTANTS; i++) {
    const char *flaw = strchr(mutants[i].name, '~');
    for (const struct rcl_protocol *form = mutants[i].protocol; form; form = form->variant)
      add(form, flaw ? flaw : "");
  }
}
