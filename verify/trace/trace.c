#include "verify/trace/trace.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "protocols/text.h"
#include "verify/trace/trace_lines.h"

/* ---- message numbers ---- */

/* A message under way, as it stands in its channel, with its number; 0: not yet numbered. */
struct numbered {
  uint64_t number;
  struct world_message message;
};

/* Copies of the channels, by part, whose messages carry numbers. */
struct trace_lines {
  GHashTable *queues; /* part -> GArray of struct numbered */
  uint64_t last;
};

static void free_queue(gpointer queue)
{
  g_array_unref(queue);
}

struct trace_lines *trace_lines_new(void)
{
  struct trace_lines *numbers = g_new0(struct trace_lines, 1);
  numbers->queues = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, free_queue);
  return numbers;
}

void trace_lines_free(struct trace_lines *numbers)
{
  g_hash_table_unref(numbers->queues);
  g_free(numbers);
}

static GArray *queue_of(struct trace_lines *numbers, uint32_t part)
{
  GArray *queue = g_hash_table_lookup(numbers->queues, GUINT_TO_POINTER(part));
  if (!queue) {
    queue = g_array_new(FALSE, TRUE, sizeof(struct numbered));
    g_hash_table_insert(numbers->queues, GUINT_TO_POINTER(part), queue);
  }
  return queue;
}

static struct numbered *at(GArray *queue, guint index)
{
  return &g_array_index(queue, struct numbered, index);
}

/* Makes the copy of a channel equal to the channel: messages that are gone (a new incarnation, a
 * lie) leave, new ones come in without a number. Needs no knowledge of the world's rules. */
static void follow(struct trace_lines *numbers, const struct world *world, uint32_t part)
{
  uint32_t size;
  const struct world_message *now = world->memory.read(world->memory.ctx, part, &size);
  GArray *queue = queue_of(numbers, part);
  GArray *next = g_array_new(FALSE, TRUE, sizeof(struct numbered));
  guint from = 0;
  for (guint i = 0; i < size / sizeof *now; i++) {
    struct numbered entry = {.message = now[i]};
    guint found = from;
    while (found < queue->len && memcmp(&at(queue, found)->message, &now[i], sizeof *now) != 0)
      found++;
    if (found < queue->len) {
      entry.number = at(queue, found)->number;
      from = found + 1;
    }
    g_array_append_val(next, entry);
  }
  g_hash_table_replace(numbers->queues, GUINT_TO_POINTER(part), next);
}

static void follow_all(struct trace_lines *numbers, const struct world *world)
{
  g_autoptr(GList) parts = g_hash_table_get_keys(numbers->queues);
  for (GList *item = parts; item; item = item->next)
    follow(numbers, world, GPOINTER_TO_UINT(item->data));
}

/* Numbers the oldest message of the channel that has none. 0 when there is none: the message was
 * lost on the way. */
static uint64_t number_next(struct trace_lines *numbers, uint32_t part)
{
  GArray *queue = queue_of(numbers, part);
  for (guint i = 0; i < queue->len; i++)
    if (!at(queue, i)->number)
      return at(queue, i)->number = ++numbers->last;
  return 0;
}

/* ---- one line ---- */

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

/* ` @n` of the message that `move` takes, found before the copy of its channel follows; with
 * ` at=K` where a duplicate has the same number. */
static void print_taken(GString *line, GArray *queue, uint32_t index)
{
  if (index >= queue->len)
    return;
  uint64_t number = at(queue, index)->number;
  g_string_append_printf(line, " @%" G_GUINT64_FORMAT, number);
  for (guint i = 0; i < queue->len; i++)
    if (i != index && at(queue, i)->number == number) {
      g_string_append_printf(line, " at=%u", index);
      return;
    }
}

/* Brings the copy of the channel that `move` took a message from up to date. */
static void take(struct trace_lines *numbers, const struct world *world, const struct move *move,
                 uint32_t part)
{
  GArray *queue = queue_of(numbers, part);
  if (move->index >= queue->len)
    return;
  uint64_t number = at(queue, move->index)->number;
  if (move->kind != MOVE_FAULT || move->fault == FAULT_DROP)
    g_array_remove_index(queue, move->index);
  follow(numbers, world, part);
  if (move->kind == MOVE_FAULT)
    for (queue = queue_of(numbers, part); queue->len;) {
      guint i = 0;
      while (i < queue->len && at(queue, i)->number)
        i++;
      if (i == queue->len)
        break;
      at(queue, i)->number = number;
    }
}

static const char *lie_name(unsigned lie)
{
  return lie == FAULT_DROP ? "drop" : "duplicate";
}

/* The part of the line that says what happened, without message numbers. */
static void print_move(GString *line, const struct world *world, const struct move *move)
{
  char text[TEXT_MAX];
  uint32_t size;
  const struct world_global *global;
  switch ((enum move_kind)move->kind) {
  case MOVE_EVENT:
    g_string_append(line, event_print(world->protocol, &move->event, text));
    if (move->content)
      g_string_append_printf(line, " content=%u", move->content);
    if (move->fault)
      g_string_append(line, " early");
    break;
  case MOVE_CRASH:
    g_string_append(line, "crash");
    break;
  case MOVE_FINISH:
    g_string_append(line, "finished");
    break;
  case MOVE_DETECT:
    global = world->memory.read(world->memory.ctx, world_part(world, WORLD_GLOBAL, 0, 0), &size);
    g_string_append_printf(line, "detected rank=%d incarnation=%u checkpoint=%u", global->down,
                           global->incarnation, global->target);
    break;
  case MOVE_FAULT:
    g_string_append_printf(line, "lie %s peer=%d", lie_name(move->fault), move->event.peer);
    break;
  }
}

/* Appends the actions of a step to `line` and gives numbers to the messages that it sent; returns
 * that of the program's message. */
static uint64_t print_actions(GString *line, struct trace_lines *numbers, const struct world *world,
                              const struct move *move, const struct rcl_actions *actions)
{
  uint64_t offered = 0;
  for (uint32_t i = 0; i < actions->count; i++) {
    const struct rcl_action *action = &actions->item[i];
    char text[TEXT_MAX];
    g_string_append_printf(line, " | %s", action_print(world->protocol, action, text));
    bool control = action->kind == RCL_ACTION_CONTROL, answer = action->kind == RCL_ACTION_TRANSMIT;
    if (!control && !answer && action->kind != RCL_ACTION_RESEND)
      continue;
    uint32_t part = channel(world, control, move->rank, answer ? move->event.peer : action->peer);
    follow(numbers, world, part);
    uint64_t number = number_next(numbers, part);
    if (answer)
      offered = number;
    else if (number)
      g_string_append_printf(line, " @%" G_GUINT64_FORMAT, number);
  }
  return offered;
}

static uint64_t state_digest(const struct world *world, int rank)
{
  uint32_t size;
  const char *bytes =
      world->memory.read(world->memory.ctx, world_part(world, WORLD_RANK, rank, 0), &size);
  return rcl_protocol_digest(bytes + (size - world->state_bytes), world->state_bytes);
}

char *trace_line(struct trace_lines *numbers, const struct world *world, const struct move *move,
                 const struct rcl_actions *actions)
{
  GString *line = g_string_new(NULL);
  if (move->kind == MOVE_DETECT)
    g_string_append(line, "- ");
  else
    g_string_append_printf(line, "%d ", move->rank);
  print_move(line, world, move);
  if (trace_takes_message(move)) {
    bool control = move->kind == MOVE_EVENT && move->event.kind == RCL_EVENT_CONTROL;
    uint32_t part = channel(world, control, move->event.peer, move->rank);
    print_taken(line, queue_of(numbers, part), move->index);
    take(numbers, world, move, part);
  }
  bool down = move->event.kind == RCL_EVENT_DOWN && world->protocol->independent;
  if (move->kind != MOVE_EVENT || move->event.kind == RCL_EVENT_START || down)
    follow_all(numbers, world);
  g_autoptr(GString) rest = g_string_new(NULL);
  uint64_t offered = print_actions(rest, numbers, world, move, actions);
  if (offered)
    g_string_append_printf(line, " @%" G_GUINT64_FORMAT, offered);
  g_string_append(line, rest->str);
  if (move->kind == MOVE_EVENT)
    g_string_append_printf(line, " # %016" G_GINT64_MODIFIER "x", state_digest(world, move->rank));
  return g_string_free(line, FALSE);
}

int64_t trace_find(struct trace_lines *numbers, const struct world *world, const struct move *move,
                   uint64_t number, int64_t place)
{
  bool control = move->kind == MOVE_EVENT && move->event.kind == RCL_EVENT_CONTROL;
  GArray *queue = queue_of(numbers, channel(world, control, move->event.peer, move->rank));
  for (guint i = 0; i < queue->len; i++)
    if (at(queue, i)->number == number && (place < 0 || place == i))
      return i;
  return -1;
}

char *trace_violation_line(const struct verdict *verdict)
{
  return g_strdup_printf("violation %s rank=%d: %s", verdict->property, verdict->rank,
                         verdict->text);
}

/* ---- writing ---- */

struct trace {
  FILE *out; /* NULL: closed */
  char *file, *temporary;
  bool steps;
  struct trace_lines *lines;
};

const struct trace_lie trace_lies[TRACE_LIES] = {
    {FAULT_DROP, "drop"}, {FAULT_DUPLICATE, "duplicate"}, {FAULT_EARLY_DURABLE, "early-durable"}};

static void print_peer(GString *out, const char *before, int number)
{
  if (number == RCL_ANY)
    g_string_append_printf(out, "%sany", before);
  else
    g_string_append_printf(out, "%s%d", before, number);
}

static void print_collective(GString *out, const struct operation *operation)
{
  static const char *const names[RCL_FLOWS] = {[RCL_FLOW_FROM_ROOT] = "bcast",
                                               [RCL_FLOW_TO_ROOT] = "reduce",
                                               [RCL_FLOW_ALL] = "allreduce",
                                               [RCL_FLOW_BARRIER] = "barrier"};
  g_string_append(out, names[operation->flow]);
  if (operation->flow == RCL_FLOW_FROM_ROOT || operation->flow == RCL_FLOW_TO_ROOT)
    print_peer(out, " ", operation->peer);
}

static void print_operation(GString *out, const struct operation *operation)
{
  switch (operation->kind) {
  case SCRIPT_IRECV:
    g_string_append_printf(out, "irecv %c", 'a' + operation->name);
    break;
  case SCRIPT_SEND:
    g_string_append(out, "send");
    break;
  case SCRIPT_RECV:
    g_string_append(out, "recv");
    break;
  case SCRIPT_WAIT:
    g_string_append_printf(out, "wait %c", 'a' + operation->name);
    return;
  case SCRIPT_CANCEL:
    g_string_append_printf(out, "cancel %c", 'a' + operation->name);
    return;
  case SCRIPT_CHOOSE:
    g_string_append_printf(out, "choose %u", operation->count);
    return;
  case SCRIPT_CHECKPOINT:
    g_string_append(out, operation->count ? "iteration" : "checkpoint");
    return;
  case SCRIPT_COMPUTE:
    g_string_append_printf(out, "compute %.9gs", operation->seconds);
    return;
  case SCRIPT_COLLECTIVE:
    print_collective(out, operation);
    return;
  case SCRIPT_FREE:
    g_string_append(out, "free 1");
    return;
  case SCRIPT_END:
    return;
  }
  print_peer(out, " ", operation->peer);
  if (operation->tag)
    print_peer(out, " tag ", operation->tag);
}

static void print_script(GString *out, const struct script *script)
{
  struct operation **ops = script->written ? script->written : script->ops;
  for (int rank = 0; rank < script->ranks; rank++) {
    g_string_append_printf(out, "script rank %d:", rank);
    for (const struct operation *operation = ops[rank]; operation->kind != SCRIPT_END;
         operation++) {
      g_string_append(out, operation == ops[rank] ? " " : ", ");
      print_operation(out, operation);
    }
    g_string_append_c(out, '\n');
  }
}

static void print_bounds(GString *out, const struct world *world)
{
  uint32_t size;
  const struct world_global *global =
      world->memory.read(world->memory.ctx, world_part(world, WORLD_GLOBAL, 0, 0), &size);
  g_string_append_printf(out, "crashes %u\ntimers %u\n", global->crashes, global->timers);
}

static char *print_header(const struct world *world, const char *host)
{
  GString *out = g_string_new("recline-trace 2\n");
  g_string_append_printf(out, "protocol %s\nranks %d\ncapacity %u\norder %s\nplaces %s\nhost %s\n",
                         world->protocol->name, world->ranks, world->config[0].capacity,
                         world->fifo         ? "fifo"
                         : world->overtaking ? "none"
                                             : "any",
                         world->places_anywhere ? "anywhere" : "program", host);
  const char *const *parameters = world->protocol->parameters;
  for (int i = 0; parameters && parameters[i]; i++)
    if (world->config[0].parameter[i])
      g_string_append_printf(out, "%s %u\n", parameters[i], world->config[0].parameter[i]);
  if (world->bounded)
    print_bounds(out, world);
  if (world->line_stamps)
    g_string_append(out, "stamps lines\n");
  for (size_t i = 0; i < TRACE_LIES; i++)
    if (world->faults & trace_lies[i].lie)
      g_string_append_printf(out, "lie %s\n", trace_lies[i].name);
  if (world->exceeds)
    g_string_append_printf(out, "exceeds %u\n", world->exceeds);
  if (world->script)
    print_script(out, world->script);
  g_string_append(out, "---\n");
  return g_string_free(out, FALSE);
}

static bool file_error(GError **error, const char *file, const char *what)
{
  int code = errno;
  g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code), "%s: %s: %s", file, what,
              g_strerror(code));
  return false;
}

static void trace_free(struct trace *trace)
{
  if (trace->out)
    fclose(trace->out);
  trace_lines_free(trace->lines);
  g_free(trace->file);
  g_free(trace->temporary);
  g_free(trace);
}

struct trace *trace_open(const char *file, const struct world *world, const char *host, bool steps,
                         GError **error)
{
  struct trace *trace = g_new0(struct trace, 1);
  trace->file = g_strdup(file);
  trace->temporary = g_strconcat(file, ".tmp", NULL);
  trace->steps = steps;
  trace->lines = trace_lines_new();
  trace->out = fopen(trace->temporary, "w");
  if (!trace->out) {
    file_error(error, trace->temporary, "cannot be written");
    trace_free(trace);
    return NULL;
  }
  g_autofree char *header = print_header(world, host);
  fputs(header, trace->out);
  return trace;
}

void trace_move(struct trace *trace, double time, const struct world *world,
                const struct move *move, const struct rcl_actions *actions,
                const struct verdict *verdict)
{
  g_autofree char *line = trace_line(trace->lines, world, move, actions);
  if (trace->steps)
    fprintf(trace->out, "%.0f %s\n", time, line);
  else
    fprintf(trace->out, "%.9f %s\n", time, line);
  if (verdict->kind == VERDICT_VIOLATION)
    trace_violation(trace, verdict);
}

void trace_violation(struct trace *trace, const struct verdict *verdict)
{
  g_autofree char *line = trace_violation_line(verdict);
  fprintf(trace->out, "%s\n", line);
}

void trace_again(struct trace *trace, unsigned step)
{
  fprintf(trace->out, "again from=%u\n", step);
}

bool trace_close(struct trace *trace, GError **error)
{
  bool fine = !ferror(trace->out);
  fine &= fclose(trace->out) == 0;
  trace->out = NULL;
  if (!fine)
    file_error(error, trace->temporary, "cannot be written");
  else if (g_rename(trace->temporary, trace->file) != 0)
    fine = file_error(error, trace->file, "cannot be renamed to");
  trace_free(trace);
  return fine;
}
