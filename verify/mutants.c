#include "mutants.h"

#include <stddef.h>

#include "protocol.h"

/* verify/CMakeLists.txt writes mutants.inc: MUTANT("c3~no-suppress", mutant_c3_no_suppress) ... */
#define MUTANT(name, symbol) extern const struct protocol symbol;
#include "mutants.inc"
#undef MUTANT

#define MUTANT(name, symbol) {name, &symbol},
static const struct {
  const char *name;
  const struct protocol *protocol;
} mutants[] = {
#include "mutants.inc"
    {NULL, NULL}};

enum { COUNT = sizeof mutants / sizeof *mutants - 1 };

void mutants_register(void)
{
  static struct protocol copies[COUNT + 1];
  static const struct protocol *list[COUNT + 1];
  for (size_t i = 0; mutants[i].name; i++) {
    copies[i] = *mutants[i].protocol; /* named as what it was made from */
    copies[i].name = mutants[i].name;
    list[i] = &copies[i];
  }
  protocol_register(list);
}
