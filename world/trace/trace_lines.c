#include "world/trace/trace_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "protocols/text.h"
#include "world/rules/properties.h"

/* ---- message numbers ---- */

/* Holds a message under way, as it is in its channel, with its number, which is 0 if it has none
 * yet. */
struct numbered {
  uint64_t number;
  struct world_message message;
};

/* Holds the copy of a channel. */
struct queue {
  uint32_t part;
  struct numbered *item;
  uint32_t count, room;
};

/* Holds the number of a message of the programs, and the message's place in its flow. */
struct placed {
  uint64_t number;
  int32_t tag;
  uint32_t sequence;
  int16_t source, destination, comm;
};

enum { PLACED = 1 << 14 }; /* number of messages, the last ones, whose places are known */

/* Holds copies of the channels whose messages carry numbers. */
struct trace_lines {
  uint32_t *queue_of; /* by part: 1 + the index in `queues`, or 0 if it has no queue yet */
  struct queue *queues;
  uint32_t count, room;
  uint64_t last;
  struct placed *placed; /* a ring buffer */
  uint64_t placed_count; /* number of messages that were ever put into the ring */
  uint32_t placed_room;
};

struct trace_lines *trace_lines_new(void)
{
  return memset(memory_grow(NULL, sizeof(struct trace_lines)), 0, sizeof(struct trace_lines));
}

void trace_lines_free(struct trace_lines *numbers)
{
  for (uint32_t i = 0; i < numbers->count; i++)
    free(numbers->queues[i].item);
  free(numbers->queues);
  free(numbers->queue_of);
  free(numbers->placed);
  free(numbers);
}

/* Returns the queue of a part, valid until the next call. */
static struct queue *queue_of(struct trace_lines *numbers, const struct world *world, uint32_t part)
{
  if (!numbers->queue_of) {
    uint32_t parts = world_parts(world);
    numbers->queue_of = calloc(parts, sizeof *numbers->queue_of); /* most pages are never touched */
    if (!numbers->queue_of)
      memory_exhausted(parts * sizeof *numbers->queue_of);
  }
  if (!numbers->queue_of[part]) {
    numbers->queues =
        memory_room(numbers->queues, numbers->count, &numbers->room, sizeof *numbers->queues);
    numbers->queues[numbers->count++] = (struct queue){.part = part};
    numbers->queue_of[part] = numbers->count;
  }
  return &numbers->queues[numbers->queue_of[part] - 1];
}

static void append(struct queue *queue, struct numbered entry)
{
  queue->item = memory_room(queue->item, queue->count, &queue->room, sizeof *queue->item);
  queue->item[queue->count++] = entry;
}

/* Returns whether two values are the same message. A message that stays in its channel changes only
 * when its sender's next alarm goes off, or when control messages before it are taken. */
static bool is_same(const struct world_message *was, const struct world_message *now)
{
  struct world_message then = *now;
  then.before = was->before;
  then.behind = was->behind;
  return !memcmp(was, &then, sizeof then);
}

/* Returns whether the channel is unchanged, which is the most frequent case. */
static bool keeps(const struct queue *queue, const struct world_message *now, uint32_t count)
{
  if (count != queue->count)
    return false;
  for (uint32_t i = 0; i < count; i++)
    if (memcmp(&queue->item[i].message, &now[i], sizeof *now) != 0)
      return false;
  return true;
}

/* Makes the copy of a channel equal to the channel. Messages that are gone, because of a new
 * incarnation or an injected fault, are removed, and new messages are added without a number. It
 * uses no knowledge of the world's rules. */
static void follow(struct trace_lines *numbers, const struct world *world, uint32_t part)
{
  uint32_t size, from = 0;
  const struct world_message *now = world->memory.read(world->memory.ctx, part, &size);
  struct queue *queue = queue_of(numbers, world, part), next = {.part = part};
  if (keeps(queue, now, size / (uint32_t)sizeof *now))
    return;
  for (uint32_t i = 0; i < size / sizeof *now; i++) {
    struct numbered entry = {.message = now[i]};
    uint32_t found = from;
    while (found < queue->count && !is_same(&queue->item[found].message, &now[i]))
      found++;
    if (found < queue->count) {
      entry.number = queue->item[found].number;
      from = found + 1;
    }
    append(&next, entry);
  }
  free(queue->item);
  *queue = next;
}

static void follow_all(struct trace_lines *numbers, const struct world *world)
{
  for (uint32_t i = 0; i < numbers->count; i++)
    follow(numbers, world, numbers->queues[i].part);
}

static void note_place(struct trace_lines *numbers, const struct numbered *entry, int source,
                       int destination)
{
  const struct world_message *message = &entry->message;
  if (message->comm == CONTROL_COMM)
    return;
  if (numbers->placed_count < PLACED)
    numbers->placed = memory_room(numbers->placed, (uint32_t)numbers->placed_count,
                                  &numbers->placed_room, sizeof *numbers->placed);
  numbers->placed[numbers->placed_count++ % PLACED] =
      (struct placed){.number = entry->number,
                      .tag = message->tag,
                      .sequence = message->sequence,
                      .source = (int16_t)source,
                      .destination = (int16_t)destination,
                      .comm = message->comm};
}

/* Numbers the oldest message of the channel that has no number. Returns the number, or 0 if there
 * is no such message, because it was lost on the way. */
static uint64_t number_next(struct trace_lines *numbers, struct queue *queue, int source,
                            int destination)
{
  for (uint32_t i = 0; i < queue->count; i++)
    if (!queue->item[i].number) {
      queue->item[i].number = ++numbers->last;
      note_place(numbers, &queue->item[i], source, destination);
      return numbers->last;
    }
  return 0;
}

static bool is_placed(const struct placed *placed, const struct verdict *verdict, int which)
{
  const struct verdict_messages *about = &verdict->about;
  return placed->sequence == about->sequence[which] && placed->source == about->source &&
         placed->destination == verdict->rank && placed->comm == about->comm &&
         placed->tag == about->tag;
}

/* Appends the numbers that one of the messages has had, as far as there is room. */
static void list_numbers(const struct trace_lines *numbers, struct verdict *verdict, int which)
{
  enum { ROOM = 30 }; /* characters for a number with the text around it */
  size_t size = sizeof verdict->text, said = strlen(verdict->text);
  uint64_t first = numbers->placed_count > PLACED ? numbers->placed_count - PLACED : 0;
  const char *before = which ? "; " : " (";
  for (uint64_t i = first; i < numbers->placed_count && said + ROOM < size; i++) {
    const struct placed *placed = &numbers->placed[i % PLACED];
    if (!is_placed(placed, verdict, which))
      continue;
    said +=
        (size_t)snprintf(verdict->text + said, size - said, "%s@%" PRIu64, before, placed->number);
    before = ", ";
  }
}

void trace_name_messages(const struct trace_lines *numbers, struct verdict *verdict)
{
  size_t said = strlen(verdict->text);
  for (int which = 0; which < 2 && verdict->about.sequence[which]; which++)
    list_numbers(numbers, verdict, which);
  if (verdict->text[said])
    strncat(verdict->text, ")", sizeof verdict->text - strlen(verdict->text) - 1);
  verdict->about = (struct verdict_messages){0};
}

/* ---- one line ---- */

static void put_number(struct buffer *line, const char *before, uint64_t number)
{
  char digits[NUMBER_MAX];
  number_print((int64_t)number, digits);
  buffer_text(line, before);
  buffer_text(line, digits);
}

static void put_hex(struct buffer *line, uint64_t value, int digits)
{
  char text[17];
  text[digits] = '\0';
  for (int i = digits; i-- > 0; value >>= 4)
    text[i] = "0123456789abcdef"[value & 15];
  buffer_text(line, text);
}

static uint32_t channel(const struct world *world, bool control, int source, int destination)
{
  bool shared = world->protocol->level == RCL_LEVEL_CHANNEL;
  return world_part(world, control && !shared ? WORLD_CONTROL : WORLD_CHANNEL, source, destination);
}

bool trace_takes_message(const struct move *move)
{
  return move->kind == MOVE_FAULT ||
         (move->kind == MOVE_EVENT &&
          (move->event.kind == RCL_EVENT_ARRIVED || move->event.kind == RCL_EVENT_CONTROL));
}

/* Prints ` @n` for the message that `move` takes, before the copy of its channel follows. Adds `
 * at=K` if a duplicate has the same number. */
static void print_taken(struct buffer *line, const struct queue *queue, uint32_t index)
{
  if (index >= queue->count)
    return;
  uint64_t number = queue->item[index].number;
  put_number(line, " @", number);
  for (uint32_t i = 0; i < queue->count; i++)
    if (i != index && queue->item[i].number == number) {
      buffer_printf(line, " at=%u", index);
      return;
    }
}

/* Updates the copy of the channel from which `move` took a message. */
static void take(struct trace_lines *numbers, const struct world *world, const struct move *move,
                 uint32_t part)
{
  struct queue *queue = queue_of(numbers, world, part);
  if (move->index >= queue->count)
    return;
  uint64_t number = queue->item[move->index].number;
  if (move->kind != MOVE_FAULT || move->fault == FAULT_DROP) {
    struct numbered *taken = &queue->item[move->index];
    memmove(taken, taken + 1, (--queue->count - move->index) * sizeof *taken);
  }
  follow(numbers, world, part);
  for (uint32_t i = 0; move->kind == MOVE_FAULT && i < queue->count; i++)
    if (!queue->item[i].number)
      queue->item[i].number = number;
}

static const char *lie_name(unsigned lie)
{
  return lie == FAULT_DROP ? "drop" : "duplicate";
}

void trace_print_move(struct buffer *line, const struct world *world, const struct move *move)
{
  char text[TEXT_MAX];
  uint32_t size;
  const struct world_global *global;
  switch ((enum move_kind)move->kind) {
  case MOVE_EVENT:
    buffer_text(line, event_print(world->protocol, &move->event, text));
    if (!content_is_none(&move->content))
      buffer_text(line, " content=");
    for (int i = 0; i < 4 && !content_is_none(&move->content); i++)
      put_hex(line, move->content.word[i], 8);
    if (move->fault == FAULT_EARLY_DURABLE)
      buffer_printf(line, " early");
    if (world_cut(move) >= 0)
      buffer_printf(line, " cut=%d", world_cut(move));
    break;
  case MOVE_CRASH:
    buffer_printf(line, "crash");
    if (move->index)
      buffer_printf(line, " writes=%u", move->index);
    if (move->fault)
      buffer_printf(line, " leaves=%u", move->fault);
    break;
  case MOVE_FINISH:
    buffer_printf(line, "finished");
    break;
  case MOVE_SENT:
    buffer_printf(line, "sent");
    break;
  case MOVE_DETECT:
    if (move->fault == DETECT_END) {
      buffer_printf(line, "ended");
      break;
    }
    global = world->memory.read(world->memory.ctx, world_part(world, WORLD_GLOBAL, 0, 0), &size);
    buffer_printf(line, "detected rank=%d incarnation=%u checkpoint=%u", global->down,
                  global->incarnation, global->target);
    if (move->fault == DETECT_FALSELY)
      buffer_printf(line, " falsely");
    break;
  case MOVE_FAULT:
    buffer_printf(line, "lie %s peer=%d", lie_name(move->fault), move->event.peer);
    break;
  }
}

/* Appends the actions of a step to `line`, and numbers the messages that it sent. Returns the
 * number of the program's message. */
static uint64_t print_actions(struct buffer *line, struct trace_lines *numbers,
                              const struct world *world, const struct move *move,
                              const struct rcl_actions *actions)
{
  uint64_t offered = 0;
  uint32_t followed = UINT32_MAX;
  for (uint32_t i = 0; i < actions->count; i++) {
    const struct rcl_action *action = &actions->item[i];
    char text[TEXT_MAX];
    buffer_text(line, " | ");
    buffer_text(line, action_print(world->protocol, action, text));
    bool control = action->kind == RCL_ACTION_CONTROL, answer = action->kind == RCL_ACTION_TRANSMIT;
    if (!control && !answer && action->kind != RCL_ACTION_RESEND)
      continue;
    int peer = answer ? move->event.peer : action->peer;
    uint32_t part = channel(world, control, move->rank, peer);
    if (part != followed)
      follow(numbers, world, part);
    followed = part;
    uint64_t number = number_next(numbers, queue_of(numbers, world, part), move->rank, peer);
    if (answer)
      offered = number;
    else if (number)
      put_number(line, " @", number);
  }
  return offered;
}

static uint64_t state_digest(const struct world *world, int rank)
{
  uint32_t size;
  const char *bytes =
      world->memory.read(world->memory.ctx, world_part(world, WORLD_RANK, rank, 0), &size);
  return rcl_protocol_digest_state(world->protocol, &world->config[rank],
                                   bytes + sizeof(struct world_rank));
}

char *trace_line(struct trace_lines *numbers, const struct world *world, const struct move *move,
                 const struct rcl_actions *actions, const struct verdict *verdict)
{
  struct buffer line_buffer = {0}, *line = &line_buffer, rest = {0};
  if (move->rank < 0 || (move->kind == MOVE_DETECT && move->fault != DETECT_END))
    buffer_text(line, "-");
  else
    put_number(line, "", (uint64_t)move->rank);
  buffer_text(line, " ");
  trace_print_move(line, world, move);
  if (trace_takes_message(move)) {
    bool control = move->kind == MOVE_EVENT && move->event.kind == RCL_EVENT_CONTROL;
    uint32_t part = channel(world, control, move->event.peer, move->rank);
    print_taken(line, queue_of(numbers, world, part), move->index);
    take(numbers, world, move, part);
  }
  bool down = move->event.kind == RCL_EVENT_DOWN && world->protocol->independent;
  if (move->kind != MOVE_EVENT || move->event.kind == RCL_EVENT_START || down ||
      world_cut(move) >= 0)
    follow_all(numbers, world);
  uint64_t offered = print_actions(&rest, numbers, world, move, actions);
  if (offered)
    put_number(line, " @", offered);
  buffer_text(line, rest.text ? rest.text : "");
  free(rest.text);
  if (move->kind == MOVE_EVENT && !properties_impure(verdict)) {
    buffer_text(line, " # ");
    put_hex(line, state_digest(world, move->rank), 16);
  }
  return line->text;
}

int64_t trace_find(struct trace_lines *numbers, const struct world *world, const struct move *move,
                   uint64_t number, int64_t place)
{
  bool control = move->kind == MOVE_EVENT && move->event.kind == RCL_EVENT_CONTROL;
  uint32_t part = channel(world, control, move->event.peer, move->rank);
  const struct queue *queue = queue_of(numbers, world, part);
  for (uint32_t i = 0; i < queue->count; i++)
    if (queue->item[i].number == number && (place < 0 || place == i))
      return i;
  return -1;
}

uint64_t trace_number(struct trace_lines *numbers, const struct world *world,
                      const struct move *move)
{
  if (!trace_takes_message(move))
    return 0;
  bool control = move->kind == MOVE_EVENT && move->event.kind == RCL_EVENT_CONTROL;
  const struct queue *queue =
      queue_of(numbers, world, channel(world, control, move->event.peer, move->rank));
  return move->index < queue->count ? queue->item[move->index].number : 0;
}

char *trace_violation_line(const struct trace_lines *numbers, struct verdict *verdict)
{
  struct buffer line = {0};
  trace_name_messages(numbers, verdict);
  buffer_printf(&line, "violation %s rank=%d: %s", verdict->property, verdict->rank, verdict->text);
  return line.text;
}

/* ---- the header ---- */

const struct trace_lie trace_lies[TRACE_LIES] = {{FAULT_DROP, "drop"},
                                                 {FAULT_DUPLICATE, "duplicate"},
                                                 {FAULT_EARLY_DURABLE, "early-durable"},
                                                 {FAULT_WINDOWS_LOST, "windows-lost"},
                                                 {FAULT_LOCKS_LOST, "locks-lost"}};

static void print_peer(struct buffer *out, const char *before, int number)
{
  if (number == RCL_ANY)
    buffer_printf(out, "%sany", before);
  else
    buffer_printf(out, "%s%d", before, number);
}

/* Prints an operation on a window as a script writes it. */
static void print_access(struct buffer *out, const struct operation *operation)
{
  enum script_kind kind = operation->kind;
  if (kind == SCRIPT_ACCESS || kind == SCRIPT_POST || kind == SCRIPT_START || kind == SCRIPT_LOCK ||
      kind == SCRIPT_FLUSH || kind == SCRIPT_UNLOCK)
    buffer_printf(out, " %d", operation->peer);
  if (kind == SCRIPT_LOCK && operation->count)
    buffer_text(out, " shared");
  if (kind == SCRIPT_ACCESS || kind == SCRIPT_LOAD)
    buffer_printf(out, " %u", operation->cell);
  if (kind != SCRIPT_ACCESS || operation->flow == ACCESS_GET)
    return;
  if (operation->last)
    buffer_printf(out, " last+%u", operation->value);
  else
    buffer_printf(out, " %u", operation->value);
}

void trace_print_operation(struct buffer *out, const struct operation *operation)
{
  enum script_kind kind = operation->kind;
  bool message = kind == SCRIPT_SEND || kind == SCRIPT_RECV || kind == SCRIPT_IRECV;
  bool rooted = kind == SCRIPT_COLLECTIVE &&
                (operation->flow == RCL_FLOW_FROM_ROOT || operation->flow == RCL_FLOW_TO_ROOT);
  bool named = kind == SCRIPT_IRECV || kind == SCRIPT_WAIT || kind == SCRIPT_CANCEL ||
               kind == SCRIPT_TEST || kind == SCRIPT_WAITANY;
  buffer_printf(out, "%s", script_word(operation));
  if (named)
    buffer_printf(out, " %c", 'a' + operation->name);
  if (kind == SCRIPT_WAITANY)
    buffer_printf(out, " %c", 'a' + operation->tag);
  if (kind == SCRIPT_CHOOSE || kind == SCRIPT_FREE)
    buffer_printf(out, " %u", kind == SCRIPT_FREE ? 1 : operation->count);
  if (kind == SCRIPT_COMPUTE)
    buffer_printf(out, " %.9gs", operation->seconds);
  if (message || rooted)
    print_peer(out, " ", operation->peer);
  if (message && operation->tag)
    print_peer(out, " tag ", operation->tag);
  if (operation->sized)
    buffer_printf(out, " bytes %u", operation->bytes);
  print_access(out, operation);
  if (operation->comm && kind != SCRIPT_CANCEL) /* the irecv tells the communicator */
    buffer_printf(out, kind == SCRIPT_MEMBER ? " %d" : " on %d", operation->comm);
}

void trace_print_operations(struct buffer *out, const struct operation *first,
                            const struct operation *end)
{
  for (const struct operation *op = first; op != end; op++) {
    buffer_printf(out, "%s", op == first ? "" : ", ");
    if (op->kind != SCRIPT_IF) {
      trace_print_operation(out, op);
      continue;
    }
    buffer_printf(out, "if %u (", op->count);
    trace_print_operations(out, op + 1, op + 1 + op->skip);
    buffer_printf(out, ")");
    op += op->skip;
  }
}

static void print_script(struct buffer *out, const struct script *script)
{
  struct operation **ops = script->written ? script->written : script->ops;
  for (int rank = 0; rank < script->ranks; rank++) {
    const struct operation *end = ops[rank];
    while (end->kind != SCRIPT_END)
      end++;
    buffer_printf(out, "script rank %d:%s", rank, end == ops[rank] ? "" : " ");
    trace_print_operations(out, ops[rank], end);
    buffer_printf(out, "\n");
  }
}

static void print_bounds(struct buffer *out, const struct world *world)
{
  uint32_t size;
  const struct world_global *global =
      world->memory.read(world->memory.ctx, world_part(world, WORLD_GLOBAL, 0, 0), &size);
  buffer_printf(out, "crashes %u\ntimers %u\n", global->crashes, global->timers);
  if (world->per_node > 1)
    buffer_printf(out, "per_node %d\n", world->per_node);
}

char *trace_header(const struct world *world, const char *host)
{
  struct buffer text = {0}, *out = &text;
  buffer_printf(
      out, "recline-trace 3\nprotocol %s\nranks %d\ncapacity %u\norder %s\nplaces %s\nhost %s\n",
      world->protocol->name, world->ranks, world->config[0].capacity,
      world->fifo         ? "fifo"
      : world->overtaking ? "none"
                          : "any",
      world->places_anywhere ? "anywhere" : "program", host);
  const char *const *parameters = world->protocol->parameters;
  for (int i = 0; parameters && parameters[i]; i++)
    if (world->config[0].parameter[i])
      buffer_printf(out, "%s %u\n", parameters[i], world->config[0].parameter[i]);
  if (world->topology)
    buffer_printf(out, "topology %s\n", world->topology);
  const struct rcl_phase *phase = world->protocol->phases;
  for (; phase && phase->name; phase++)
    buffer_printf(out, "phase %s: %s > %s\n", phase->name, phase->from, phase->to);
  for (const char *const *control = world->protocol->controls; control && *control; control++)
    if (strchr(*control, ':'))
      buffer_printf(out, "control %s\n", *control);
  if (world->bounded)
    print_bounds(out, world);
  if (world->line_stamps)
    buffer_printf(out, "stamps lines\n");
  for (size_t i = 0; i < TRACE_LIES; i++)
    if (world->faults & trace_lies[i].lie)
      buffer_printf(out, "lie %s\n", trace_lies[i].name);
  if (world->hazards)
    buffer_printf(out, "hazards %u\n", world->hazards);
  if (world->exceeds)
    buffer_printf(out, "exceeds %u\n", world->exceeds);
  if (world->attempts)
    buffer_printf(out, "attempts %u\n", world->attempts);
  if (world->levels)
    buffer_printf(out, "stored_per_node %d\n", world->stored_per_node);
  for (int i = 0; i < world->levels; i++)
    buffer_printf(out, "level %u %d %d %d %d\n", world->level[i].every, world->level[i].needs,
                  world->level[i].set, world->level[i].losses, world->level[i].ring);
  if (world->script)
    print_script(out, world->script);
  buffer_printf(out, "---\n");
  return out->text;
}
