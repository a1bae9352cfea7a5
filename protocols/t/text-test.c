/* Tests that events and actions stay the same when they are printed and parsed. A text that is no
 * event must be refused at the character where it stops being one. The program prints the seed of
 * its random values; pass a seed to repeat them. */
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
  for (int i = 0; i < RCL_WORDS; i++)
    words[i] = draw();
}

/* Returns an event with random values in exactly the fields that its kind uses (protocol.h). */
static struct rcl_event random_event(enum rcl_event_kind kind)
{
  struct rcl_event e = {.kind = (uint8_t)kind};
  bool collective = kind == RCL_EVENT_COLLECTIVE || kind == RCL_EVENT_COLLECTED;
  bool envelope = kind == RCL_EVENT_SEND || kind == RCL_EVENT_RECEIVE ||
                  kind == RCL_EVENT_ARRIVED || collective;
  if (envelope) {
    e.peer = (int16_t)draw();
    e.tag = kind == RCL_EVENT_RECEIVE && draw() % 2 ? RCL_ANY : (int32_t)draw();
    e.comm = (int16_t)draw();
  }
  if (kind == RCL_EVENT_RECEIVE || kind == RCL_EVENT_ARRIVED)
    e.request = draw();
  if (kind == RCL_EVENT_SEND || kind == RCL_EVENT_ARRIVED || collective)
    e.bytes = draw();
  if (kind == RCL_EVENT_ARRIVED)
    e.wildcard = draw() % 2;
  if (kind == RCL_EVENT_ARRIVED || kind == RCL_EVENT_CONTROL)
    fill_words(e.words);
  if (kind == RCL_EVENT_CONTROL || kind == RCL_EVENT_DOWN)
    e.peer = (int16_t)draw();
  if (kind == RCL_EVENT_START || kind == RCL_EVENT_DOWN || kind >= RCL_EVENT_CAPTURED)
    e.checkpoint = draw();
  if (kind == RCL_EVENT_MEMBER)
    e.comm = (int16_t)draw();
  if (kind == RCL_EVENT_OUTPUT)
    e.bytes = draw();
  if (kind == RCL_EVENT_OUTPUT || kind == RCL_EVENT_CAPTURED || kind == RCL_EVENT_START)
    e.output = draw();
  if (kind == RCL_EVENT_DURABLE)
    e.part = draw() % RCL_PARTS;
  if (kind == RCL_EVENT_CHOICE || kind == RCL_EVENT_COLLECTED)
    e.outcome = draw();
  if (kind == RCL_EVENT_CHOICE)
    e.request = draw() % 2;
  if (collective)
    e.flow = (uint8_t)(draw() % RCL_FLOWS);
  if (kind == RCL_EVENT_COLLECTED)
    fill_words(e.words);
  return e;
}

static void round_trip_events(void)
{
  char text[TEXT_MAX] = "";
  const struct rcl_protocol *c3 = rcl_protocol_named("c3");
  for (enum rcl_event_kind kind = RCL_EVENT_NONE + 1; kind < RCL_EVENT_KINDS; kind++) {
    bool same = true;
    for (int i = 0; i < 200 && same; i++) {
      struct rcl_event before = random_event(kind), after;
      const char *stopped = event_parse(event_print(c3, &before, text), &after);
      same = !stopped && !memcmp(&before, &after, sizeof before);
    }
    ok(same && event_named(event_name(kind)) == kind, event_name(kind), text);
  }
}

static struct rcl_action random_action(enum rcl_action_kind kind)
{
  struct rcl_action a = {.kind = (uint8_t)kind};
  switch (kind) {
  case RCL_ACTION_REJOIN:
    a.peer = (int16_t)draw();
    a.tag = (int32_t)draw();
    a.comm = (int16_t)draw();
    break;
  case RCL_ACTION_JOIN:
  case RCL_ACTION_TRANSMIT:
    fill_words(a.words);
    break;
  case RCL_ACTION_CONTROL:
    a.peer = (int16_t)draw();
    fill_words(a.words);
    break;
  case RCL_ACTION_MATCH:
    a.request = draw();
    a.peer = draw() % 2 ? RCL_ANY : (int16_t)draw();
    a.tag = draw() % 2 ? RCL_ANY : (int32_t)draw();
    break;
  case RCL_ACTION_DELIVER:
    a.request = draw();
    a.slot = draw();
    a.peer = a.slot ? (int16_t)draw() : 0;
    a.tag = a.slot ? (int32_t)draw() : 0;
    break;
  case RCL_ACTION_KEEP:
  case RCL_ACTION_FORGET:
    a.slot = draw();
    break;
  case RCL_ACTION_OUTPUT:
    a.output = draw();
    a.checkpoint = draw() % 2;
    break;
  case RCL_ACTION_FORCE:
    a.outcome = draw();
    break;
  case RCL_ACTION_DRAIN:
    a.peer = RCL_ANY;
    break;
  case RCL_ACTION_STORE:
    a.part = draw() % RCL_PARTS;
    a.checkpoint = draw();
    a.bare = draw() % 2;
    break;
  case RCL_ACTION_GIVE_UP:
    a.reason = (uint8_t)(draw() % RCL_REASONS);
    break;
  case RCL_ACTION_CAPTURE:
  case RCL_ACTION_COMMIT:
  case RCL_ACTION_ERASE:
  case RCL_ACTION_ROLL_BACK:
    a.checkpoint = draw();
    break;
  case RCL_ACTION_STOPPED_LOGGING:
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
  const struct rcl_protocol *c3 = rcl_protocol_named("c3");
  for (enum rcl_action_kind kind = RCL_ACTION_NONE + 1; kind < RCL_ACTION_KINDS; kind++) {
    bool same = true;
    for (int i = 0; i < 200 && same; i++) {
      struct rcl_action before = random_action(kind), after;
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
             {"durable part=nothing", "part=nothing"}, {"send wildly", "wildly"}};
  struct rcl_event event;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *stopped = event_parse(bad[i].text, &event);
    ok(stopped && !strcmp(stopped, bad[i].stops_at), bad[i].text, stopped ? stopped : "accepted");
  }
}

static void registry(void)
{
  const struct rcl_protocol *p;
  for (size_t i = 0; (p = rcl_protocol_at(i)); i++)
    ok(rcl_protocol_named(p->name) == p, p->name, "the registry does not find it by name");
  ok(!rcl_protocol_named("no such"), "no such protocol", "found");
}

/* Returns where `text` has a place that words_control() of plots/words.h does not know, or NULL if
 * it has none. */
static const char *unknown_place(const char *text)
{
  static const char *const places[] = {"about",     "value",      "about.high",
                                       "about.low", "value.high", "value.low"};
  while ((text = strchr(text, '{'))) {
    size_t length = strcspn(text + 1, "?}"), i = 0;
    while (i < sizeof places / sizeof *places &&
           (strlen(places[i]) != length || memcmp(text + 1, places[i], length)))
      i++;
    if (i == sizeof places / sizeof *places || !strchr(text, '}'))
      return text;
    text++;
  }
  return NULL;
}

/* Tests that every control message of every protocol has words that say what it carries, and that
 * traces have only its name. */
static void controls(void)
{
  const struct rcl_protocol *p;
  char text[TEXT_MAX];
  for (size_t i = 0; (p = rcl_protocol_at(i)); i++)
    for (uint32_t k = 1; p->controls && p->controls[k]; k++) {
      const struct rcl_action action = {.kind = RCL_ACTION_CONTROL, .control = k};
      const char *says = strstr(p->controls[k], ": ");
      const char *unknown = says ? unknown_place(says) : "";
      ok(says && !unknown, p->controls[k], says ? unknown : "it has no text");
      size_t length = strcspn(p->controls[k], ":");
      const char *name = action_print(p, &action, text) + strlen("control peer=0 ");
      ok(!memcmp(name, p->controls[k], length) && name[length] == ' ', "its name", text);
    }
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
  controls();
  printf("1..%d\n", tests);
  return failed > 0;
}
