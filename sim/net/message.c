#include "sim/net/message.h"

#include "sim/net/transport.h"

#include <string.h>

static struct message *unused; /* list of unused messages, linked by `self` */
static unsigned in_transit[2]; /* number of control messages, and of messages of programs */

void message_set_in_transit(struct message *message, bool on)
{
  if (message->kind == MESSAGE_NOTICE || message->in_transit == on)
    return;
  message->in_transit = on;
  in_transit[message->kind != MESSAGE_CONTROL] += on ? 1 : -1U;
}

unsigned transport_in_transit(void)
{
  return in_transit[0] + in_transit[1];
}

unsigned transport_program_in_transit(void)
{
  return in_transit[1];
}

struct message *message_new(enum message_kind kind, int source, int destination)
{
  struct message *message = unused;
  if (message)
    unused = message->self;
  else
    message = g_new(struct message, 1);
  *message = (struct message){.kind = kind, .source = source, .destination = destination};
  return message;
}

void message_free(struct message *message)
{
  message_set_in_transit(message, false);
  payload_drop(message->payload);
  message->payload = NULL;
  g_free(message->piggybacked);
  message->piggybacked = NULL;
  if (message->flight == FLIGHT_UNDER_WAY) {
    message->flight = FLIGHT_IN_VAIN;
    return;
  }
  message->self = unused;
  unused = message;
}

struct letter message_fold(struct message *message)
{
  struct letter letter = {.wire_bytes = message->wire_bytes,
                          .piggybacked = message->piggybacked,
                          .riders_count = message->riders_count,
                          .source = message->source,
                          .serial = message->serial,
                          .incarnation = message->incarnation,
                          .life = message->life,
                          .line = message->line,
                          .joined = message->joined};
  memcpy(letter.words, message->words, sizeof letter.words);
  message->piggybacked = NULL;
  message->in_transit = false; /* so that message_free() does not count the message as gone */
  message_free(message);
  return letter;
}

struct message *message_unfold(const struct letter *letter, int destination)
{
  struct message *message = message_new(MESSAGE_CONTROL, letter->source, destination);
  message->wire_bytes = letter->wire_bytes;
  message->piggybacked = letter->piggybacked;
  message->riders_count = letter->riders_count;
  message->serial = letter->serial;
  message->incarnation = letter->incarnation;
  message->life = letter->life;
  message->line = letter->line;
  message->joined = letter->joined;
  message->eager = message->in_transit = true;
  memcpy(message->words, letter->words, sizeof message->words);
  return message;
}
