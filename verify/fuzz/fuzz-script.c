/* Fuzzes scripts. The first byte of the input is the number of ranks. */
#include "verify/fuzz/fuzz.h"
#include "world/script/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  enum { RANKS = 8 };
  if (size == 0)
    return 0;
  g_autofree char *text = g_strndup((const char *)data + 1, size - 1);
  int line = 0;
  char *message = NULL;
  struct script *script = script_parse(text, 1 + data[0] % RANKS, &line, &message);
  if (!script && (line < 1 || !message || strchr(message, '\n')))
    abort();
  free(message);
  if (script)
    script_spell_out(script);
  script_free(script);
  return 0;
}
