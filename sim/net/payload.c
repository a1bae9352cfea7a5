#include "sim/net/payload.h"

#include "sim/memory/die.h"

#include <glib.h>
#include <stdint.h>
#include <string.h>

struct payload *payload_new(size_t size)
{
  struct payload *payload = g_malloc(sizeof *payload + size);
  *payload = (struct payload){.bytes = payload->own, .size = size, .holders = 1};
  return payload;
}

struct payload *payload_lend(const void *bytes, size_t size)
{
  struct payload *payload = g_malloc(sizeof *payload);
  *payload = (struct payload){.bytes = bytes, .size = size, .holders = 1, .lent = true};
  return payload;
}

struct payload *payload_hold(struct payload *payload)
{
  if (payload)
    payload->holders++;
  return payload;
}

void payload_drop(struct payload *payload)
{
  if (!payload)
    return;
  REQUIRE(payload->holders > 0, "a payload is dropped once by each holder");
  if (--payload->holders > 0)
    return;
  if (!payload->lent && payload->bytes != payload->own)
    g_free((void *)(uintptr_t)payload->bytes);
  g_free(payload);
}

void payload_settle(struct payload *payload)
{
  if (!payload || !payload->lent)
    return;
  payload->bytes = g_memdup2(payload->bytes, payload->size);
  payload->lent = false;
}

void payload_call_in(struct payload *payload)
{
  if (payload && payload->holders > 1)
    payload_settle(payload);
  payload_drop(payload);
}
