#include "world/scenario/protocol_words.h"

/* Has the words, in the order of their bits. */
static const struct {
  const char *name, *text;
} assumptions[] = {{"control-order", "control messages in order"},
                   {"mpi-order", "MPI's order"},
                   {"fifo", "FIFO channels"},
                   {"anywhere", "checkpoints at any time"},
                   {"barriers", "barriers that no message crosses"},
                   {"iterations", "iterations that no message crosses"},
                   {"received", "every message is received"},
                   {"same-again", "what is sent again is the same"},
                   {"clocks", "clocks and latencies within bounds"},
                   {"whole-writes", "no torn writes"},
                   {"logger", "storage loses nothing"},
                   {"failures", "at most f failures at once"},
                   {"connected", "a connected topology"}};

const char *assumption_name(unsigned i)
{
  return i < G_N_ELEMENTS(assumptions) ? assumptions[i].name : NULL;
}

const char *assumption_text(unsigned i)
{
  return i < G_N_ELEMENTS(assumptions) ? assumptions[i].text : NULL;
}

char *assumptions_of(const struct rcl_place *place, const char *between)
{
  GString *text = g_string_new(NULL);
  for (unsigned i = 0; i < G_N_ELEMENTS(assumptions); i++)
    if (place->assumes & 1u << i)
      g_string_append_printf(text, "%s%s", text->len ? between : "", assumptions[i].text);
  return g_string_free(text, FALSE);
}
