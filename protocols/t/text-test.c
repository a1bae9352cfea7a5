/* Events and actions survive printing and parsing; what is no event is refused where it stops
 * being one. The seed of the random values is printed; pass one to reproduce. */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "protocols/text.h"

static int tests, failed;

static void ok(bool right, const char *what, const char *detail)
{
  tests++;
  if (right) {
    printf("ok %d - %s\n", tests, what);
    return;
  }
  failed++;
  printf("not ok %d - %s\n# %s\n", tests, what, detail);
}

static uint32_t draw(void)
{
  return (uint32_t)random() % 1000;
}

static void fill_words(uint32_t *words)
{
  for (int i = 0; i < WORDS; i++)
    words[i] = draw();
}

/* Random values in exactly the fields that the kind uses (protocol.h). */
static struct event random_event(enum event_kind kind)
{
  struct event e = {.kind = (uint8_t)kind};
  bool collective = kind == EVENT_COLLECTIVE || kind == EVENT_COLLECTED;
  bool envelope =
      kind == EVENT_OFFER || kind == EVENT_RECEIVE || kind == EVENT_ARRIVED || collective;
  if (envelope) {
    e.peer = (int16_t)draw();
    e.tag = kind == EVENT_RECEIVE && draw() % 2 ? ANY : (int32_t)draw();
    e.comm = (int16_t)draw();
  }
  if (kind == EVENT_RECEIVE || kind == EVENT_ARRIVED)
    e.request = draw();
  if (kind == EVENT_OFFER || kind == EVENT_ARRIVED || collective)
    e.bytes = draw();
  if (kind == EVENT_ARRIVED)
    e.wildcard = draw() % 2;
  if (kind == EVENT_ARRIVED || kind == EVENT_CONTROL)
    fill_words(e.words);
  if (kind == EVENT_CONTROL || kind == EVENT_DOWN)
    e.peer = (int16_t)draw();
  if (kind == EVENT_START || kind == EVENT_DOWN || kind >= EVENT_CAPTURED)
    e.checkpoint = draw();
  if (kind == EVENT_MEMBER)
    e.comm = (int16_t)draw();
  if (kind == EVENT_DURABLE)
    e.part = draw() % PARTS;
  if (kind == EVENT_CHOOSE || kind == EVENT_COLLECTED)
    e.outcome = draw();
  if (kind == EVENT_CHOOSE)
    e.request = draw() % 2;
  if (collective)
    e.flow = (uint8_t)(draw() % FLOWS);
  if (kind == EVENT_COLLECTED)
    fill_words(e.words);
  return e;
}

static void round_trip_events(void)
{
  char text[TEXT_MAX] = "";
  const struct protocol *c3 = protocol_named("c3");
  for (enum event_kind kind = EVENT_NONE + 1; kind < EVENT_KINDS; kind++) {
    bool same = true;
    for (int i = 0; i < 200 && same; i++) {
      struct event before = random_event(kind), after;
      const char *stopped = event_parse(event_print(c3, &before, text), &after);
      same = !stopped && !memcmp(&before, &after, sizeof before);
    }
    ok(same && event_named(event_name(kind)) == kind, event_name(kind), text);
  }
}

static struct action random_action(enum action_kind kind)
{
  struct action a = {.kind = (uint8_t)kind};
  switch (kind) {
  case ACTION_REJOIN:
    a.peer = (int16_t)draw();
    a.tag = (int32_t)draw();
    a.comm = (int16_t)draw();
    break;
  case ACTION_JOIN:
  case ACTION_TRANSMIT:
    fill_words(a.words);
    break;
  case ACTION_CONTROL:
    a.peer = (int16_t)draw();
    fill_words(a.words);
    break;
  case ACTION_MATCH:
    a.request = draw();
    a.peer = draw() % 2 ? ANY : (int16_t)draw();
    a.tag = draw() % 2 ? ANY : (int32_t)draw();
    break;
  case ACTION_DELIVER:
    a.request = draw();
    a.slot = draw();
    a.peer = a.slot ? (int16_t)draw() : 0;
    a.tag = a.slot ? (int32_t)draw() : 0;
    break;
  case ACTION_KEEP:
  case ACTION_FORGET:
    a.slot = draw();
    break;
  case ACTION_FORCE:
    a.outcome = draw();
    break;
  case ACTION_DRAIN:
    a.peer = ANY;
    break;
  case ACTION_STORE:
    a.part = draw() % PARTS;
    a.checkpoint = draw();
    break;
  case ACTION_GIVE_UP:
    a.reason = (uint8_t)(draw() % REASONS);
    break;
  case ACTION_CAPTURE:
  case ACTION_COMMIT:
  case ACTION_ERASE:
  case ACTION_ROLL_BACK:
    a.checkpoint = draw();
    break;
  case ACTION_STOPPED_LOGGING:
    a.checkpoint = draw();
    a.outcome = draw();
    break;
  default:
    break;
  }
  return a;
}

static void round_trip_actions(void)
{
  char text[TEXT_MAX] = "";
  const struct protocol *c3 = protocol_named("c3");
  for (enum action_kind kind = ACTION_NONE + 1; kind < ACTION_KINDS; kind++) {
    bool same = true;
    for (int i = 0; i < 200 && same; i++) {
      struct action before = random_action(kind), after;
      const char *stopped = action_parse(action_print(c3, &before, text), &after);
      same = !stopped && !memcmp(&before, &after, sizeof before);
    }
    ok(same && action_named(action_name(kind)) == kind, action_name(kind), text);
  }
}

static void refusals(void)
{
  static const struct {
    const char *text;
    const char *stops_at;
  } bad[] = {{"arived peer=1", "arived peer=1"},       {"arrived pear=1", "pear=1"},
             {"arrived peer=one", "peer=one"},         {"arrived peer=1 words=1,2", "words=1,2"},
             {"durable part=nothing", "part=nothing"}, {"offer wildly", "wildly"}};
  struct event event;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *stopped = event_parse(bad[i].text, &event);
    ok(stopped && !strcmp(stopped, bad[i].stops_at), bad[i].text, stopped ? stopped : "accepted");
  }
}

static void registry(void)
{
  const struct protocol *p;
  for (size_t i = 0; (p = protocol_at(i)); i++)
    ok(protocol_named(p->name) == p, p->name, "the registry does not find it by name");
  ok(!protocol_named("no such"), "no such protocol", "found");
}

int main(int argc, char **argv)
{
  unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : (unsigned)time(NULL);
  printf("# seed %u\n", seed);
  srandom(seed);
  round_trip_events();
  round_trip_actions();
  refusals();
  registry();
  printf("1..%d\n", tests);
  return failed > 0;
}
