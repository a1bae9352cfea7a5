#include "world/script/window_rules.h"

#include <stdbool.h>
#include <stddef.h>

static bool excludes(int lock, int other)
{
  return lock != LOCK_NONE && other != LOCK_NONE &&
         (lock == LOCK_EXCLUSIVE || other == LOCK_EXCLUSIVE);
}

static bool is_free(const struct lock_wait *wait, const uint8_t *held, int ranks)
{
  for (int i = 0; i < ranks; i++)
    if (i != wait->origin && excludes(held[i], wait->lock))
      return false;
  return true;
}

static bool is_behind_own(const struct lock_wait *first, const struct lock_wait *wait)
{
  for (; first != wait; first = first->next)
    if (first->origin == wait->origin)
      return true;
  return false;
}

struct lock_wait *locks_next(struct lock_wait *first, const uint8_t *held, int ranks)
{
  bool waited = false;
  for (struct lock_wait *wait = first; wait; wait = wait->next) {
    bool asks = wait->lock != LOCK_NONE;
    if (!is_behind_own(first, wait) && (!asks || (!waited && is_free(wait, held, ranks))))
      return wait;
    waited |= asks;
  }
  return NULL;
}
