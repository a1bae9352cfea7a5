/* Plays a text scenario through a protocol and checks the actions of every step.
 *
 *     protocol c3 ranks 2 capacity 4        and perhaps, behind it, parameters: interval 2 log 1,
 *                                           and: topology line
 *     0 timer                               an event of rank 0
 *       control peer=1 please-checkpoint words=1,1,0     the actions it must give, in order
 *       work records=1 matches=0.75       first what it costs, where the header ends with `work`
 *
 * The state that a STORE keeps comes back with the next `start checkpoint=N` of that rank. If ranks
 * recover on their own (independent), a line `1 crash` brings back the last state that rank 1 has
 * stored, and a start leaves the state as it is. A state that breaks an invariant fails the step.
 * One TAP line per event.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/neighbours.h"
#include "protocols/text.h"

enum { RANKS_MAX = 8, CHECKPOINTS_MAX = 8, STATE_MAX = 16384, ACTIONS = 512 };

static const struct rcl_protocol *protocol;
static struct rcl_config config[RANKS_MAX];
static uint64_t state[RANKS_MAX][STATE_MAX / 8];
static uint64_t stored[RANKS_MAX][CHECKPOINTS_MAX][STATE_MAX / 8];
static uint64_t last_stored[RANKS_MAX][STATE_MAX / 8];
static struct rcl_action items[ACTIONS];
static struct rcl_actions actions = {.capacity = ACTIONS, .item = items};
static bool works;                                  /* costs are checked, too */
static struct rcl_work spent[RANKS_MAX][RANKS_MAX]; /* by the peer of a control message */
static int tests, failed;

static void fail(const char *file, int line, const char *what)
{
  fprintf(stderr, "%s:%d: %s\n", file, line, what);
  exit(64);
}

/* Reads the text after the word `topology`, up to the end of the line. */
static void set_topology(const char *file, const char *header, int ranks)
{
  static const char word[] = " topology ";
  char problem[NEIGHBOURS_PROBLEM], text[64];
  const char *found = strstr(header, word);
  if (!found)
    return;
  snprintf(text, sizeof text, "%.*s", (int)strcspn(found + sizeof word - 1, "\n"),
           found + sizeof word - 1);
  const uint32_t *rows = neighbours_read(text, ranks, problem);
  if (!rows)
    fail(file, 1, problem);
  for (int rank = 0; rank < ranks; rank++)
    config[rank].neighbours = &rows[(size_t)rank * neighbours_row(ranks)];
}

/* Returns the protocol's parameter of that name in the header, or 0 if it is not there. */
static uint32_t parameter_in(const char *header, const char *name)
{
  char key[64];
  uint32_t value = 0;
  snprintf(key, sizeof key, " %s ", name);
  const char *at = strstr(header, key);
  return at && sscanf(at + strlen(key), "%u", &value) == 1 ? value : 0;
}

static void begin(const char *file, const char *header)
{
  char name[64];
  int ranks, capacity;
  if (sscanf(header, "protocol %63s ranks %d capacity %d", name, &ranks, &capacity) < 3 ||
      !(protocol = rcl_protocol_named(name)) || ranks > RANKS_MAX)
    fail(file, 1, "no header, expected 'protocol NAME ranks N capacity K [PARAMETER VALUE]...'");
  for (int rank = 0; rank < ranks; rank++) {
    config[rank] = (struct rcl_config){
        .self = (int16_t)rank, .ranks = (int16_t)ranks, .capacity = (uint32_t)capacity};
    for (int i = 0; protocol->parameters && protocol->parameters[i]; i++)
      config[rank].parameter[i] = parameter_in(header, protocol->parameters[i]);
  }
  set_topology(file, header, ranks);
  works = protocol->work && strstr(header, " work");
  if (protocol->state_size(config) > STATE_MAX || RCL_ACTIONS_MAX(config) > ACTIONS)
    fail(file, 1, "state too large, expected a smaller capacity");
}

/* Counts what the event costs, in the state before its step. */
static void count_work(int rank, const struct rcl_event *event, char *got)
{
  struct rcl_work *work = &spent[rank][event->kind == RCL_EVENT_CONTROL ? event->peer : rank];
  if (event->kind == RCL_EVENT_START)
    memset(spent[rank], 0, sizeof spent[rank]);
  work->records = work->matches = 0.0;
  protocol->work(&config[rank], state[rank], event, work);
  if (work->records > 0.0 || work->matches > 0.0)
    sprintf(got, "  work records=%g matches=%g\n", work->records, work->matches);
}

static void take(int rank, const struct rcl_event *event, char *got)
{
  char text[TEXT_MAX];
  size_t bytes = protocol->state_size(&config[rank]);
  if (event->kind == RCL_EVENT_START && event->checkpoint && !protocol->independent)
    memcpy(state[rank], stored[rank][event->checkpoint], bytes);
  *got = '\0';
  if (works)
    count_work(rank, event, got);
  int broken = rcl_protocol_step(protocol, &config[rank], state[rank], event, &actions,
                                 protocol->violated_invariant);
  for (uint32_t i = 0; i < actions.count; i++) {
    strcat(strcat(got, "  "), action_print(protocol, &items[i], text));
    strcat(got, "\n");
    if (items[i].kind == RCL_ACTION_STORE) {
      memcpy(stored[rank][items[i].checkpoint], state[rank], bytes);
      memcpy(last_stored[rank], state[rank], bytes);
    }
  }
  if (broken)
    sprintf(got + strlen(got), "  invariant %d broken\n", broken);
}

/* Reads a line `N crash`. */
static bool crashes(long rank, const char *event)
{
  if (strcmp(event, "crash") || !protocol->independent || rank < 0 || rank >= RANKS_MAX)
    return false;
  memcpy(state[rank], last_stored[rank], sizeof state[rank]);
  return true;
}

static void check(const char *step, const char *expected, const char *got)
{
  bool right = !strcmp(expected, got);
  printf("%s %d - %s\n", right ? "ok" : "not ok", ++tests, step);
  if (right)
    return;
  failed++;
  fprintf(stderr, "# at '%s' expected\n%s# got\n%s", step, expected, got);
}

int main(int argc, char **argv)
{
  static char line[1024], step[1024], expected[65536], got[65536];
  FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (!file || !fgets(line, sizeof line, file))
    fail(argc == 2 ? argv[1] : "steps-test", 1, "cannot be read, expected one steps file");
  begin(argv[1], line);
  for (int number = 2; fgets(line, sizeof line, file); number++) {
    if (*line == '#' || *line == '\n')
      continue;
    if (*line == ' ') {
      strcat(expected, line);
      continue;
    }
    line[strcspn(line, "\n")] = '\0';
    char *text;
    long rank = strtol(line, &text, 10);
    struct rcl_event event;
    if (*step)
      check(step, expected, got);
    *step = '\0';
    if (crashes(rank, text + strspn(text, " ")))
      continue;
    if (text == line || rank >= RANKS_MAX || event_parse(text + strspn(text, " "), &event))
      fail(argv[1], number, "expected a rank and an event");
    strcpy(step, line);
    *expected = '\0';
    take((int)rank, &event, got);
  }
  check(step, expected, got);
  printf("1..%d\n", tests);
  fclose(file);
  return failed > 0;
}
