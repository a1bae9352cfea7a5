#include "sim/host/accounting.h"

#include "sim/host/rank.h"

#include <string.h>

enum { STARTED = 1, SURVIVORS_TOO = 2 };
static GByteArray *went_back;

void accounting_rollback(uint32_t incarnation, bool survivor)
{
  if (!went_back)
    went_back = g_byte_array_new();
  guint old = went_back->len;
  if (incarnation >= old) {
    g_byte_array_set_size(went_back, incarnation + 1);
    memset(went_back->data + old, 0, went_back->len - old);
  }
  went_back->data[incarnation] |= (guint8)(survivor ? STARTED | SURVIVORS_TOO : STARTED);
}

void accounting_report(void)
{
  for (guint i = 0; went_back && i < went_back->len; i++)
    if (went_back->data[i] & SURVIVORS_TOO)
      layer.result.rollbacks_global++;
    else if (went_back->data[i] & STARTED)
      layer.result.rollbacks_local++;
}
