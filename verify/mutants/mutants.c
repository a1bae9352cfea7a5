#include "verify/mutants/mutants.h"

#include <glib.h>
#include <string.h>

#include "protocols/protocol.h"

/* verify/CMakeLists.txt writes mutants.inc: MUTANT("c3~no-suppress", mutant_c3_no_suppress) ... */
#define MUTANT(name, symbol) extern const struct rcl_protocol symbol;
#include "mutants.inc"
#undef MUTANT

#define MUTANT(name, symbol) {name, &symbol},
static const struct {
  const char *name;
  const struct rcl_protocol *protocol;
} mutants[] = {
#include "mutants.inc"
    {NULL, NULL}};

/* Named as what it was made from, so that its traces replay through it: "c3" and "c3~no-hold". */
static const struct rcl_protocol *copy(const struct rcl_protocol *form, const char *flaw)
{
  struct rcl_protocol *mutant = g_memdup2(form, sizeof *form);
  mutant->name = g_strconcat(form->name, flaw, NULL);
  mutant->variant = NULL;
  return mutant;
}

void mutants_register(void)
{
  static GPtrArray *list; /* lives as long as the process */
  if (list)
    return;
  list = g_ptr_array_new();
  for (size_t i = 0; mutants[i].name; i++)
    for (const struct rcl_protocol *form = mutants[i].protocol; form; form = form->variant)
      g_ptr_array_add(list, (void *)copy(form, strchr(mutants[i].name, '~')));
  g_ptr_array_add(list, NULL);
  rcl_protocol_register((const struct rcl_protocol *const *)list->pdata);
}
