#include "sim/host/failures/fall_back.h"

#include "sim/host/rank/rank.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/result/result_notes.h"
#include "sim/host/result/run_end.h"

/* Returns the name of a checkpoint for messages, which the caller frees. */
static char *name_of(uint32_t checkpoint)
{
  return checkpoint == RCL_FRESH ? g_strdup("the beginning")
                                 : g_strdup_printf("checkpoint %u", checkpoint);
}

static const char *times(int count)
{
  return count == 1 ? "restart" : "restarts";
}

static void give_up(uint32_t checkpoint)
{
  int attempts = layer.scenario->recovery.attempts;
  uint32_t before = shadow_global()->before;
  bool fell = checkpoint > before && shadow_global()->falls >= attempts;
  g_autofree char *name = name_of(checkpoint), *earlier = name_of(before);
  g_autofree char *why =
      fell ? g_strdup_printf("%d %s from %s failed, after %d from %s (recovery.attempts)", attempts,
                             times(attempts), name, attempts, earlier)
           : g_strdup_printf("%d %s from %s failed (recovery.attempts), and there is no earlier "
                             "checkpoint to go back to",
                             attempts, times(attempts), name);
  run_stop(RUN_GAVE_UP, why);
}

void fall_back_look(void)
{
  uint32_t last = shadow_global()->committed;
  switch (shadow_next_line()) {
  case NEXT_NEWEST:
    return;
  case NEXT_EXHAUSTED:
    give_up(last);
    return;
  case NEXT_BEFORE:
    notes_abandoned(last);
    return;
  }
}
