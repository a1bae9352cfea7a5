#include "sim/host/piggyback.h"

#include "sim/host/schedule.h"
#include "sim/host/shadow.h"

#include <string.h>

struct rider {
  int destination;
  uint32_t words[MESSAGE_WORDS];
};

bool piggyback_on(void)
{
  return shadow_protocol()->piggybacks && !schedule_on();
}

void piggyback_add(struct rank *r, const struct rcl_action *action)
{
  struct rider rider = {.destination = action->peer};
  memcpy(rider.words, action->words, sizeof rider.words);
  if (!r->riders)
    r->riders = g_array_new(FALSE, FALSE, sizeof rider);
  g_array_append_val(r->riders, rider);
}

uint64_t piggyback_attach(struct rank *r, struct message *message)
{
  guint left = 0, count = r->riders ? r->riders->len : 0;
  if (!count)
    return 0;
  message->riders = g_malloc_n(count, sizeof *message->riders);
  for (guint i = 0; i < count; i++) {
    const struct rider *rider = &g_array_index(r->riders, struct rider, i);
    if (rider->destination == message->destination)
      memcpy(message->riders[message->riders_count++], rider->words, sizeof rider->words);
    else
      g_array_index(r->riders, struct rider, left++) = *rider;
  }
  g_array_set_size(r->riders, left);
  return (uint64_t)message->riders_count * shadow_protocol()->control_bytes;
}

int piggyback_left(const struct rank *r)
{
  if (r->dead && r->riders)
    g_array_set_size(r->riders, 0);
  return r->riders && r->riders->len ? g_array_index(r->riders, struct rider, 0).destination : -1;
}
