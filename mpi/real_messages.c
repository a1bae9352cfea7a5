/* Sends messages of the program, matches messages with receives, and delivers them.
 *
 * Call cycle with real_host.c: this file finds a match, real_host.c raises the event, and the
 * actions of that event are carried out here.
 */
#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/memory.h"
#include "mpi/real_inside.h"

static struct real_receive *posted(uint32_t request)
{
  struct real_receive *receive = real.posted;
  while (receive && (receive->request != request || receive->done))
    receive = receive->next;
  REQUIRE(receive, "a protocol names receives that wait");
  return receive;
}

/* ---- matching ---- */

static bool accepts(const struct real_receive *receive, const struct real_message *message)
{
  return receive->announced && !receive->done && receive->comm == message->comm &&
         rcl_matches(receive->from, receive->from_tag, message->peer, message->tag);
}

static struct real_receive *receive_for(const struct real_message *message)
{
  struct real_receive *receive = real.posted;
  while (receive && !accepts(receive, message))
    receive = receive->next;
  return receive;
}

static void complete(struct real_receive *receive, int peer, int32_t tag,
                     struct real_payload *payload)
{
  receive->done = true;
  receive->source = (int16_t)peer;
  receive->sent_tag = tag;
  receive->payload = real_payload_hold(payload);
}

static void arrive(struct real_message *message, const struct real_receive *receive)
{
  struct rcl_event event = {.kind = RCL_EVENT_ARRIVED,
                            .peer = message->peer,
                            .comm = message->comm,
                            .tag = message->tag,
                            .bytes = (uint32_t)message->payload->size};
  memcpy(event.words, message->words, sizeof event.words);
  if (receive) {
    event.request = receive->request;
    event.wildcard = receive->peer == RCL_ANY || receive->tag == RCL_ANY;
  }
  real_step(event, message);
  real_payload_drop(message->payload);
  free(message);
}

void real_arrive(struct real_message *message)
{
  arrive(message, NULL);
}

/* Used above the matching: takes one message, the first to arrive that a receive matches or that is
 * drained. If several receives match, the one that was posted first gets the message. */
static bool match_one(void)
{
  struct real_message **place = &real.channel.first;
  for (; *place; place = &(*place)->next) {
    struct real_receive *receive = receive_for(*place);
    if (!receive && !(real.held && real.draining))
      continue;
    arrive(real_take_out(&real.channel, place), receive);
    return true;
  }
  return false;
}

/* Used below the matching, where messages are already delivered: gives one message to a receive. */
static bool give_one(void)
{
  struct real_message **place = &real.channel.first;
  for (; *place; place = &(*place)->next) {
    struct real_receive *receive = receive_for(*place);
    if (!receive)
      continue;
    struct real_message *message = real_take_out(&real.channel, place);
    complete(receive, message->peer, message->tag, message->payload);
    real_payload_drop(message->payload);
    free(message);
    return true;
  }
  return false;
}

void real_match_all(void)
{
  while (!real.capturing && (real_below_matching() ? give_one() : match_one()))
    continue;
}

static void announce(struct real_receive *receive)
{
  receive->announced = true;
  receive->from = receive->peer;
  receive->from_tag = receive->tag;
  real_step((struct rcl_event){.kind = RCL_EVENT_RECEIVE,
                               .request = receive->request,
                               .peer = receive->peer,
                               .comm = receive->comm,
                               .tag = receive->tag},
            NULL);
}

void real_announce_all(void)
{
  struct real_receive *receive = real.posted;
  while (receive && !real.held) {
    if (receive->announced || receive->done) {
      receive = receive->next;
      continue;
    }
    announce(receive);
    receive = real.posted;
  }
}

/* ---- actions ---- */

void real_allow(const struct rcl_action *action)
{
  struct real_receive *receive = posted(action->request);
  receive->from = action->peer;
  receive->from_tag = action->tag;
}

void real_deliver(const struct rcl_action *action)
{
  const struct real_message *from =
      action->slot == RCL_NO_SLOT ? real.now : &real_slot_of(action->slot)->message;
  if (!from)
    return; /* the slot belongs to a collective that is over */
  if (!real_below_matching()) {
    complete(posted(action->request), from->peer, from->tag, from->payload);
    return;
  }
  struct real_message *message = memory_grow(NULL, sizeof *message);
  *message = *from;
  real_payload_hold(message->payload);
  real_append(&real.channel, message);
}

void real_resend(const struct rcl_action *action)
{
  struct real_message message = real_slot_of(action->slot)->message;
  memcpy(message.words, action->words, sizeof message.words);
  real_wire_send(action->peer, &message);
}

/* ---- the program's ---- */

void real_send(int peer, int tag, int comm, const void *bytes, size_t size)
{
  struct real_message message = {.peer = (int16_t)peer, .comm = (int16_t)comm, .tag = tag};
  if (peer < 0 || peer >= real.ranks)
    real_die(64, "process %d sends to process %d, expected 0 to %d", real.rank, peer,
             real.ranks - 1);
  enum real_activity before = real_switch(REAL_MPI);
  real_ready();
  message.payload = real_payload_new(size);
  if (size)
    memcpy(message.payload->bytes, bytes, size);
  real_step((struct rcl_event){.kind = RCL_EVENT_SEND,
                               .peer = (int16_t)peer,
                               .comm = (int16_t)comm,
                               .tag = tag,
                               .bytes = (uint32_t)size},
            &message);
  real_payload_drop(message.payload);
  real_ready();
  real_switch(before);
}

struct real_receive *real_post(int peer, int tag, int comm)
{
  enum real_activity before = real_switch(REAL_MPI);
  struct real_receive *receive = memory_grow(NULL, sizeof *receive);
  real_ready();
  *receive = (struct real_receive){
      .request = ++real.receives, .peer = (int16_t)peer, .comm = (int16_t)comm, .tag = tag};
  real_add_receive(receive);
  real_ready();
  real_switch(before);
  return receive;
}

static bool test(struct real_receive *receive)
{
  real_ready();
  if (!real.determinants)
    return receive->done;
  real_step((struct rcl_event){.kind = RCL_EVENT_CHOICE, .outcome = receive->done}, NULL);
  bool done = receive->done;
  if (real.answer.kind == RCL_ACTION_FORCE)
    done = real.answer.outcome;
  if (done)
    real_wait(receive);
  return done;
}

bool real_test(struct real_receive *receive)
{
  enum real_activity before = real_switch(REAL_MPI);
  bool done = test(receive);
  real_switch(before);
  return done;
}

void real_wait(struct real_receive *receive)
{
  enum real_activity before = real_switch(REAL_MPI);
  for (real_ready(); !receive->done; real_ready())
    real_pump(true);
  real_switch(before);
}

void *real_take(struct real_receive *receive, size_t *size, int *peer, int *tag)
{
  enum real_activity before = real_switch(REAL_MPI);
  struct real_receive **place = &real.posted;
  while (*place != receive)
    place = &(*place)->next;
  *place = receive->next;
  *size = receive->payload->size;
  void *bytes = memory_grow(NULL, *size + 1);
  memcpy(bytes, receive->payload->bytes, *size);
  if (peer)
    *peer = receive->source;
  if (tag)
    *tag = receive->sent_tag;
  real_payload_drop(receive->payload);
  free(receive);
  real_switch(before);
  return bytes;
}

/* Returns the posted receive of a communicator. After a restart, it is the receive of the image. */
struct real_receive *real_standing(int comm)
{
  struct real_receive *receive = real.posted;
  while (receive && receive->comm != comm)
    receive = receive->next;
  return receive ? receive : real_post(RCL_ANY, RCL_ANY, comm);
}

void *real_poll(int comm, size_t *size, int *peer)
{
  struct real_receive *receive = real_standing(comm);
  return real_test(receive) ? real_take(receive, size, peer, NULL) : NULL;
}
