/* Keeps the checkpoints of a rank of optimistic.c that a recovery may need. Finds the checkpoint to
 * which the rank goes back, and drops checkpoints that no recovery needs. */
#ifndef RECLINE_OPTIMISTIC_IMAGES_H
#define RECLINE_OPTIMISTIC_IMAGES_H

#include "protocols/optimistic_log.h"

static inline struct rcl_links links_of(const struct rank *r)
{
  struct rcl_links links =
      rcl_links_at(r->config, &r->state->links, links_memory(r->config, r->state));
  links.held = recovers(r);
  links.interval = last_image(r)->number;
  links.epoch = r->state->epoch;
  return links;
}

/* ---- going back ---- */

/* Returns the place of the last checkpoint that was taken before that event, or 0 if there is
 * none. */
static inline uint32_t place_before(const struct rank *r, uint32_t event)
{
  uint32_t place = r->state->last;
  while (place > 0 && image_of(r, place)->events >= event)
    place--;
  return place;
}

/* Sets the state back to where the program was at the checkpoint with that place. If `live`, the
 * state is the one in memory, not one that a START gave back, so the slots of undone messages are
 * emptied, too. */
static inline void undo(const struct rank *r, uint32_t place, bool live)
{
  struct rcl_links links = links_of(r);
  for (int i = 0; i < r->config->ranks; i++) {
    links.link[i].sent = mark_of(r, place)[i].sent;
    links.link[i].received = mark_of(r, place)[i].received;
  }
  if (live)
    rcl_links_compact(&links);
  rcl_links_go_back(&links, image_of(r, place)->number, live, r->actions);
  for (; r->state->last > place; r->state->last--) {
    *last_image(r) = (struct image){0};
    memset(mark_of(r, r->state->last), 0, (size_t)r->config->ranks * sizeof(struct mark));
  }
  if (r->state->storing > last_image(r)->number) {
    r->state->storing = 0;
    rcl_act(r->actions, RCL_ACTION_SET_TIMER);
  }
}

/* ---- what no recovery needs ---- */

static inline void forget_released(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  for (uint32_t i = 0; i < r->state->links.log; i++)
    if (links.log[i].number <= peer_of(r, links.log[i].peer)->released)
      rcl_links_forget(&links.log[i], r->actions);
}

/* Drops the checkpoints before place `first`, and what only these checkpoints needed. */
static inline void drop_before(const struct rank *r, uint32_t first)
{
  struct rcl_links links = links_of(r);
  struct happened *entry = happened_of(r->config, r->state);
  size_t ranks = (size_t)r->config->ranks, left = r->state->last + (size_t)1 - first;
  uint32_t old = happened_until(r, image_of(r, first)->events);
  for (uint32_t i = 0; i < first; i++)
    if (image_of(r, i)->number != RCL_FRESH)
      rcl_act(r->actions, RCL_ACTION_ERASE)->checkpoint = image_of(r, i)->number;
  memmove(image_of(r, 0), image_of(r, first), left * sizeof(struct image));
  memset(image_of(r, (uint32_t)left), 0, first * sizeof(struct image));
  memmove(mark_of(r, 0), mark_of(r, first), left * ranks * sizeof(struct mark));
  memset(mark_of(r, (uint32_t)left), 0, first * ranks * sizeof(struct mark));
  r->state->last -= first;
  r->state->happened -= old;
  memmove(entry, entry + old, r->state->happened * sizeof *entry);
  memset(entry + r->state->happened, 0, old * sizeof *entry);
  r->state->decision -= r->state->decision < old ? r->state->decision : old;
  for (int i = 0; i < r->config->ranks; i++) {
    uint32_t received = mark_of(r, 0)[i].received;
    rcl_links_drop(links.ahead, &r->state->links.ahead, i, received, 0);
    if (i == r->config->self)
      peer_of(r, i)->released = received;
    else
      rcl_send_control(r->actions, i, RECEIVED, r->state->epoch, received);
  }
}

/* Returns the place of the last durable checkpoint that depends on nothing that can be lost. */
static inline uint32_t last_safe(const struct rank *r)
{
  const struct dependence *list = depends_of(r->config, r->state);
  uint32_t place = r->state->last;
  while (place > 0 && (image_of(r, place)->number == r->state->storing ||
                       (r->state->depends && list[0].event <= image_of(r, place)->events)))
    place--;
  return place;
}

static inline void collect(const struct rank *r)
{
  if (last_safe(r) > 0)
    drop_before(r, last_safe(r));
}

/* ---- invariants ---- */

static inline bool log_is_whole(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  uint32_t released[r->config->ranks];
  for (int i = 0; i < r->config->ranks; i++)
    released[i] = peer_of(r, i)->released;
  return rcl_links_log_is_whole(&links, released);
}

static inline bool dependences_happened(const struct rank *r)
{
  const struct dependence *list = depends_of(r->config, r->state);
  for (uint32_t i = 0; i < r->state->depends; i++)
    if (list[i].event > r->state->events || (i > 0 && list[i].event < list[i - 1].event))
      return false;
  return true;
}

static inline bool images_rise(const struct rank *r)
{
  for (uint32_t i = 0; i < r->state->last; i++)
    if (image_of(r, i)->events > image_of(r, i + 1)->events ||
        image_of(r, i)->number >= image_of(r, i + 1)->number)
      return false;
  return last_image(r)->events <= r->state->events;
}

static inline bool has_recovered(const struct rank *r)
{
  for (int i = 0; i < r->config->ranks; i++)
    if (peer_of(r, i)->awaited)
      return false;
  return !r->state->cut && !r->state->unsaved;
}

#endif
