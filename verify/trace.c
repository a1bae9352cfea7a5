#include "trace.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "parts.h"
#include "text.h"

/* ---- message numbers ---- */

/* A message under way, as it stands in its channel, with its number; 0: not yet numbered. */
struct numbered {
  uint64_t number;
  struct world_message message;
};

/* Copies of the channels, by part, whose messages carry numbers. */
struct numbers {
  GHashTable *queues; /* part -> GArray of struct numbered */
  uint64_t last;
};

static void free_queue(gpointer queue)
{
  g_array_unref(queue);
}

static void numbers_init(struct numbers *numbers)
{
  numbers->queues = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, free_queue);
  numbers->last = 0;
}

static GArray *queue_of(struct numbers *numbers, uint32_t part)
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
static void follow(struct numbers *numbers, const struct world *world, uint32_t part)
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

static void follow_all(struct numbers *numbers, const struct world *world)
{
  g_autoptr(GList) parts = g_hash_table_get_keys(numbers->queues);
  for (GList *item = parts; item; item = item->next)
    follow(numbers, world, GPOINTER_TO_UINT(item->data));
}

/* Numbers the oldest message of the channel that has none. 0 when there is none: the message was
 * lost on the way. */
static uint64_t number_next(struct numbers *numbers, uint32_t part)
{
  GArray *queue = queue_of(numbers, part);
  for (guint i = 0; i < queue->len; i++)
    if (!at(queue, i)->number)
      return at(queue, i)->number = ++numbers->last;
  return 0;
}

/* ---- one line ---- */

struct trace {
  FILE *out; /* NULL while replaying */
  char *file, *temporary;
  bool steps;
  struct numbers numbers;
};

static uint32_t channel(const struct world *world, bool control, int source, int destination)
{
  bool shared = world->protocol->level == LEVEL_CHANNEL;
  return world_part(world, control && !shared ? WORLD_CONTROL : WORLD_CHANNEL, source, destination);
}

static bool takes_message(const struct move *move)
{
  return move->kind == MOVE_LIE ||
         (move->kind == MOVE_EVENT &&
          (move->event.kind == EVENT_ARRIVED || move->event.kind == EVENT_CONTROL));
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
static void take(struct numbers *numbers, const struct world *world, const struct move *move,
                 uint32_t part)
{
  GArray *queue = queue_of(numbers, part);
  if (move->index >= queue->len)
    return;
  uint64_t number = at(queue, move->index)->number;
  if (move->kind != MOVE_LIE || move->lie == LIE_DROP)
    g_array_remove_index(queue, move->index);
  follow(numbers, world, part);
  if (move->kind == MOVE_LIE)
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
  return lie == LIE_DROP ? "drop" : "duplicate";
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
    if (move->lie)
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
  case MOVE_LIE:
    g_string_append_printf(line, "lie %s peer=%d", lie_name(move->lie), move->event.peer);
    break;
  }
}

/* Appends the actions of a step to `line` and gives numbers to the messages that it sent; returns
 * that of the program's message. */
static uint64_t print_actions(GString *line, struct numbers *numbers, const struct world *world,
                              const struct move *move, const struct actions *actions)
{
  uint64_t offered = 0;
  for (uint32_t i = 0; i < actions->count; i++) {
    const struct action *action = &actions->item[i];
    char text[TEXT_MAX];
    g_string_append_printf(line, " | %s", action_print(world->protocol, action, text));
    bool control = action->kind == ACTION_CONTROL, answer = action->kind == ACTION_TRANSMIT;
    if (!control && !answer && action->kind != ACTION_RESEND)
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
  return protocol_digest(bytes + (size - world->state_bytes), world->state_bytes);
}

/* The line of a move that has been taken, but for its time and line end. */
static char *print_line(struct trace *trace, const struct world *world, const struct move *move,
                        const struct actions *actions)
{
  struct numbers *numbers = &trace->numbers;
  GString *line = g_string_new(NULL);
  if (move->kind == MOVE_DETECT)
    g_string_append(line, "- ");
  else
    g_string_append_printf(line, "%d ", move->rank);
  print_move(line, world, move);
  if (takes_message(move)) {
    bool control = move->kind == MOVE_EVENT && move->event.kind == EVENT_CONTROL;
    uint32_t part = channel(world, control, move->event.peer, move->rank);
    print_taken(line, queue_of(numbers, part), move->index);
    take(numbers, world, move, part);
  }
  bool down = move->event.kind == EVENT_DOWN && world->protocol->independent;
  if (move->kind != MOVE_EVENT || move->event.kind == EVENT_START || down)
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

static char *print_violation(const struct verdict *verdict)
{
  return g_strdup_printf("violation %s rank=%d: %s", verdict->property, verdict->rank,
                         verdict->text);
}

/* ---- writing ---- */

static const struct {
  unsigned lie;
  const char *name;
} lies[] = {{LIE_DROP, "drop"}, {LIE_DUPLICATE, "duplicate"}, {LIE_EARLY_DURABLE, "early-durable"}};

static void print_peer(GString *out, const char *before, int number)
{
  if (number == ANY)
    g_string_append_printf(out, "%sany", before);
  else
    g_string_append_printf(out, "%s%d", before, number);
}

static void print_collective(GString *out, const struct operation *operation)
{
  static const char *const names[FLOWS] = {[FLOW_FROM_ROOT] = "bcast",
                                           [FLOW_TO_ROOT] = "reduce",
                                           [FLOW_ALL] = "allreduce",
                                           [FLOW_BARRIER] = "barrier"};
  g_string_append(out, names[operation->flow]);
  if (operation->flow == FLOW_FROM_ROOT || operation->flow == FLOW_TO_ROOT)
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
  GString *out = g_string_new("recline-trace 1\n");
  g_string_append_printf(out, "protocol %s\nranks %d\ncapacity %u\norder %s\nplaces %s\nhost %s\n",
                         world->protocol->name, world->ranks, world->config[0].capacity,
                         world->fifo         ? "fifo"
                         : world->overtaking ? "none"
                                             : "any",
                         world->places_anywhere ? "anywhere" : "program", host);
  if (world->config[0].interval)
    g_string_append_printf(out, "interval %u\nlog %u\n", world->config[0].interval,
                           world->config[0].log);
  if (world->bounded)
    print_bounds(out, world);
  if (world->line_stamps)
    g_string_append(out, "stamps lines\n");
  for (size_t i = 0; i < G_N_ELEMENTS(lies); i++)
    if (world->lies & lies[i].lie)
      g_string_append_printf(out, "lie %s\n", lies[i].name);
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
  g_hash_table_unref(trace->numbers.queues);
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
  numbers_init(&trace->numbers);
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
                const struct move *move, const struct actions *actions,
                const struct verdict *verdict)
{
  g_autofree char *line = print_line(trace, world, move, actions);
  if (trace->steps)
    fprintf(trace->out, "%.0f %s\n", time, line);
  else
    fprintf(trace->out, "%.9f %s\n", time, line);
  if (verdict->kind == VERDICT_VIOLATION)
    trace_violation(trace, verdict);
}

void trace_violation(struct trace *trace, const struct verdict *verdict)
{
  g_autofree char *line = print_violation(verdict);
  fprintf(trace->out, "%s\n", line);
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

/* ---- replay ---- */

struct replay {
  const char *file;
  unsigned line;
  GError **error;
  struct trace *trace;
  struct world world;
  struct script *script;
  struct parts parts;
  struct actions actions;
  struct verdict verdict; /* of the last line */
  bool begun;
  unsigned steps;
  GPtrArray *properties; /* names in the lines that say `violation`; ends with NULL */
  GHashTable *members;   /* member_key() of each that the trace speaks of */
};

static bool bad(struct replay *r, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool bad(struct replay *r, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  g_set_error(r->error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s:%u: %s", r->file, r->line, text);
  return false;
}

/* What the lines before `---` say. */
struct header {
  char *protocol;
  guint64 ranks, capacity, crashes, timers, interval, log, exceeds;
  bool fifo, overtaking, anywhere, bounded, stamps;
  unsigned lies;
  GString *script; /* NULL: none */
};

static bool whole(struct replay *r, const char *key, const char *value, guint64 least, guint64 most,
                  guint64 *number)
{
  if (g_ascii_string_to_unsigned(value, 10, least, most, number, NULL))
    return true;
  return bad(r, "%s is '%s', expected %s from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, key,
             value, "a number", least, most);
}

static bool either(struct replay *r, const char *key, const char *value, const char *yes,
                   const char *no, bool *flag)
{
  *flag = g_str_equal(value, yes);
  if (*flag || g_str_equal(value, no))
    return true;
  return bad(r, "%s is '%s', expected %s or %s", key, value, yes, no);
}

static bool read_lie(struct replay *r, const char *value, struct header *header)
{
  for (size_t i = 0; i < G_N_ELEMENTS(lies); i++)
    if (g_str_equal(value, lies[i].name)) {
      header->lies |= lies[i].lie;
      return true;
    }
  return bad(r, "lie is '%s', expected drop, duplicate or early-durable", value);
}

static bool read_header_line(struct replay *r, const char *text, struct header *header)
{
  const char *space = strchr(text, ' ');
  if (!space)
    return bad(r, "found '%s', expected 'key value' or ---", text);
  g_autofree char *key = g_strndup(text, (gsize)(space - text));
  const char *value = space + 1;
  if (g_str_equal(key, "protocol")) {
    g_free(header->protocol);
    header->protocol = g_strdup(value);
  } else if (g_str_equal(key, "ranks")) {
    return whole(r, key, value, 1, G_MAXINT16, &header->ranks);
  } else if (g_str_equal(key, "capacity")) {
    return whole(r, key, value, 0, G_MAXINT32, &header->capacity);
  } else if (g_str_equal(key, "interval") || g_str_equal(key, "log")) {
    return whole(r, key, value, 0, G_MAXINT32,
                 g_str_equal(key, "log") ? &header->log : &header->interval);
  } else if (g_str_equal(key, "order")) {
    header->overtaking = g_str_equal(value, "none");
    return header->overtaking || either(r, key, value, "fifo", "any", &header->fifo);
  } else if (g_str_equal(key, "places")) {
    return either(r, key, value, "anywhere", "program", &header->anywhere);
  } else if (g_str_equal(key, "crashes") || g_str_equal(key, "timers")) {
    header->bounded = true;
    return whole(r, key, value, 0, G_MAXUINT16,
                 g_str_equal(key, "crashes") ? &header->crashes : &header->timers);
  } else if (g_str_equal(key, "stamps")) {
    header->stamps = true;
  } else if (g_str_equal(key, "lie")) {
    return read_lie(r, value, header);
  } else if (g_str_equal(key, "exceeds")) {
    return whole(r, key, value, 0, (1u << BOUNDS) - 1, &header->exceeds);
  } else if (g_str_equal(key, "script")) {
    if (!header->script)
      header->script = g_string_new(NULL);
    g_string_append_printf(header->script, "%s\n", value);
  } /* other keys are for other readers (docs/trace.md) */
  return true;
}

static bool begin_script(struct replay *r, const struct header *header)
{
  if (!header->script)
    return true;
  int line;
  char *message;
  r->script = script_parse(header->script->str, (int)header->ranks, &line, &message);
  if (r->script)
    return true;
  bad(r, "line %d of the script: %s", line, message);
  free(message);
  return false;
}

static void *member_key(unsigned comm, unsigned rank)
{
  return GUINT_TO_POINTER(comm << 16 | rank);
}

static bool is_member(const void *ctx, int comm, int rank)
{
  const struct replay *r = ctx;
  return comm == 0 || g_hash_table_contains(r->members, member_key((unsigned)comm, (unsigned)rank));
}

/* Who is a member of which communicator, now or later in the trace: contributions to a collective
 * go to all members, of whom some learn only later that they are. */
static void find_members(struct replay *r, char **lines)
{
  unsigned rank, comm;
  r->members = g_hash_table_new(NULL, NULL);
  for (; *lines; lines++)
    if (sscanf(*lines, "%*s %u member comm=%u", &rank, &comm) == 2)
      g_hash_table_add(r->members, member_key(comm, rank));
}

static bool begin(struct replay *r, const struct header *header)
{
  if (!header->protocol || !header->ranks)
    return bad(r, "the header ends, expected lines 'protocol NAME' and 'ranks N' in it");
  const struct protocol *protocol = protocol_named(header->protocol);
  if (!protocol)
    return bad(r, "there is no protocol '%s', expected one of 'recline list protocols'",
               header->protocol);
  if (!begin_script(r, header))
    return false;
  if (r->script && !protocol->collectives && !script_spell_out(r->script))
    return bad(r, "too many messages in its collectives, expected a smaller %s", "script");
  struct world *world = &r->world;
  world_init(world, protocol, (int)header->ranks, (uint32_t)header->capacity);
  world_set_iterations(world, (uint32_t)header->interval, (uint32_t)header->log);
  world->fifo = header->fifo;
  world->overtaking = header->overtaking;
  world->places_anywhere = header->anywhere;
  world->bounded = header->bounded;
  world->line_stamps = header->stamps;
  world->lies = header->lies;
  world->exceeds = (unsigned)header->exceeds;
  world->check = true;
  world->script = r->script;
  world->properties = (const char *const *)r->properties->pdata;
  world->member = is_member;
  world->member_ctx = r;
  parts_init(&r->parts, world);
  r->begun = true;
  world_begin(world, (unsigned)header->crashes, (unsigned)header->timers);
  r->actions.capacity = ACTIONS_MAX(&world->config[0]);
  r->actions.item = g_new0(struct action, r->actions.capacity);
  return true;
}

/* Place of the message with that number in its channel. */
static bool find_message(struct replay *r, struct move *move, guint64 number, gint64 place)
{
  bool control = move->kind == MOVE_EVENT && move->event.kind == EVENT_CONTROL;
  uint32_t part = channel(&r->world, control, move->event.peer, move->rank);
  GArray *queue = queue_of(&r->trace->numbers, part);
  for (guint i = 0; i < queue->len; i++)
    if (at(queue, i)->number == number && (place < 0 || place == i)) {
      move->index = i;
      return true;
    }
  return bad(r, "message @%" G_GUINT64_FORMAT " is not on its way from rank %d to rank %d", number,
             move->event.peer, move->rank);
}

/* Words of a line that are the trace's own, not the protocol notation's. */
struct extras {
  guint64 number; /* @n; 0: none */
  gint64 place;   /* at=K; -1: none */
  guint64 content;
  bool early;
};

static bool read_extra(struct replay *r, const char *word, struct extras *extras, bool *mine)
{
  guint64 place;
  *mine = true;
  if (word[0] == '@')
    return whole(r, "@", word + 1, 1, G_MAXINT64, &extras->number);
  if (g_str_has_prefix(word, "content="))
    return whole(r, "content", word + 8, 0, G_MAXUINT32, &extras->content);
  if (g_str_has_prefix(word, "at=")) {
    bool fine = whole(r, "at", word + 3, 0, G_MAXUINT32, &place);
    extras->place = (gint64)place;
    return fine;
  }
  if (g_str_equal(word, "early"))
    return extras->early = true;
  *mine = false;
  return true;
}

static bool read_lie_move(struct replay *r, char **words, struct move *move)
{
  guint64 peer;
  move->kind = MOVE_LIE;
  if (g_strcmp0(words[0], "drop") == 0)
    move->lie = LIE_DROP;
  else if (g_strcmp0(words[0], "duplicate") == 0)
    move->lie = LIE_DUPLICATE;
  else
    return bad(r, "lie %s, expected drop or duplicate", words[0] ? words[0] : "of no kind");
  if (!words[1] || !g_str_has_prefix(words[1], "peer="))
    return bad(r, "lie without peer=, expected the sender of the message");
  if (!whole(r, "peer", words[1] + 5, 0, (guint64)r->world.ranks - 1, &peer))
    return false;
  move->event.peer = (int16_t)peer;
  return true;
}

static bool read_detection(struct replay *r, char **words, struct move *move)
{
  guint64 rank;
  move->kind = MOVE_DETECT;
  if (!r->world.protocol->independent)
    return true;
  if (!words[0] || !g_str_has_prefix(words[0], "rank="))
    return bad(r, "detected without rank=, expected the rank that was found dead");
  if (!whole(r, "rank", words[0] + 5, 0, (guint64)r->world.ranks - 1, &rank))
    return false;
  move->rank = (int16_t)rank;
  return true;
}

static bool read_event(struct replay *r, char **words, struct move *move)
{
  g_autofree char *text = g_strjoinv(" ", words);
  if (words[0] && g_str_equal(words[0], "crash"))
    move->kind = MOVE_CRASH;
  else if (words[0] && g_str_equal(words[0], "finished"))
    move->kind = MOVE_FINISH;
  else if (words[0] && g_str_equal(words[0], "detected"))
    return read_detection(r, words + 1, move);
  else if (words[0] && g_str_equal(words[0], "lie"))
    return read_lie_move(r, words + 1, move);
  else {
    const char *wrong = event_parse(text, &move->event);
    if (wrong)
      return bad(r, "found '%s', expected an event in the notation of docs/trace.md", wrong);
    bool pair = move->event.kind == EVENT_OFFER || move->event.kind == EVENT_ARRIVED ||
                move->event.kind == EVENT_CONTROL;
    if (pair && (move->event.peer < 0 || move->event.peer >= r->world.ranks))
      return bad(r, "peer %d, expected 0 to %d", move->event.peer, r->world.ranks - 1);
  }
  return true;
}

/* `TIME RANK WHAT...`: everything before the actions. */
static bool read_move(struct replay *r, const char *text, struct move *move)
{
  g_auto(GStrv) words = g_strsplit(text, " ", -1);
  guint64 rank = 0;
  if (g_strv_length(words) < 3)
    return bad(r, "found '%s', expected 'TIME RANK EVENT'", text);
  if (!g_str_equal(words[1], "-") &&
      !whole(r, "rank", words[1], 0, (guint64)r->world.ranks - 1, &rank))
    return false;
  *move =
      (struct move){.rank = g_str_equal(words[1], "-") ? -1 : (int16_t)rank, .index = WORLD_FIND};
  struct extras extras = {.place = -1};
  g_autoptr(GPtrArray) rest = g_ptr_array_new();
  for (char **word = words + 2; *word; word++) {
    bool mine;
    if (!read_extra(r, *word, &extras, &mine))
      return false;
    if (!mine)
      g_ptr_array_add(rest, *word);
  }
  g_ptr_array_add(rest, NULL);
  if (!read_event(r, (char **)rest->pdata, move))
    return false;
  move->content = (uint32_t)extras.content;
  if (extras.early)
    move->lie = LIE_EARLY_DURABLE;
  if (!takes_message(move)) {
    move->index = 0;
    return true;
  }
  return !extras.number || find_message(r, move, extras.number, extras.place);
}

static bool replay_move(struct replay *r, const char *text)
{
  const char *actions = strstr(text, " | "), *digest = strstr(text, " # ");
  const char *end = actions ? actions : digest ? digest : text + strlen(text);
  g_autofree char *head = g_strndup(text, (gsize)(end - text));
  struct move move;
  if (!read_move(r, head, &move))
    return false;
  r->verdict = (struct verdict){0};
  r->actions.count = 0;
  world_step(&r->world, &move, &r->actions, &r->verdict);
  if (r->verdict.kind == VERDICT_IMPOSSIBLE)
    return bad(r, "the world refuses this: %s", r->verdict.text);
  r->steps++;
  g_autofree char *line = print_line(r->trace, &r->world, &move, &r->actions);
  const char *rest = strchr(text, ' ') + 1;
  if (!digest && strstr(line, " # "))
    *strstr(line, " # ") = '\0'; /* it may be left out */
  if (!g_str_equal(line, rest))
    return bad(r, "the trace says '%s', the replay gives '%s'", rest, line);
  return true;
}

/* A violation that no move shows must be one of the state. Property outcome compares with other
 * runs, and recovers says that the protocol gave up: the trace alone cannot tell. */
static bool replay_violation(struct replay *r, const char *text)
{
  if (g_str_has_prefix(text, "violation outcome ") || g_str_has_prefix(text, "violation recovers "))
    return true;
  for (int i = 0; i < 3; i++) {
    struct verdict verdict = {0};
    if (i == 0)
      verdict = r->verdict;
    else
      (i == 1 ? world_at_rest : world_at_end)(&r->world, &verdict);
    if (verdict.kind != VERDICT_VIOLATION)
      continue;
    g_autofree char *line = print_violation(&verdict);
    if (g_str_equal(line, text))
      return true;
  }
  return bad(r, "the trace says '%s', the replay finds no such violation", text);
}

/* Only what the trace calls violated is judged: another property, violated by the same step, would
 * hide it. */
static void find_properties(struct replay *r, char **lines)
{
  r->properties = g_ptr_array_new_with_free_func(g_free);
  for (; *lines; lines++)
    if (g_str_has_prefix(*lines, "violation ")) {
      const char *name = *lines + strlen("violation ");
      g_ptr_array_add(r->properties, g_strndup(name, strcspn(name, " ")));
    }
  g_ptr_array_add(r->properties, NULL);
}

static bool replay_lines(struct replay *r, char **lines)
{
  struct header header = {0};
  bool body = false, fine = true;
  r->line = 1;
  if (!lines[0] || !g_str_equal(lines[0], "recline-trace 1"))
    return bad(r, "found '%s', expected 'recline-trace 1'", lines[0] ? lines[0] : "");
  for (char **line = lines + 1; fine && *line; line++) {
    r->line++;
    if (!**line && !line[1])
      break;
    if (body)
      fine = g_str_has_prefix(*line, "violation ") ? replay_violation(r, *line)
                                                   : replay_move(r, *line);
    else if (g_str_equal(*line, "---"))
      fine = body = begin(r, &header);
    else
      fine = read_header_line(r, *line, &header);
  }
  g_free(header.protocol);
  if (header.script)
    g_string_free(header.script, TRUE);
  return fine && (body || bad(r, "the file ends in the header, expected ---"));
}

bool trace_replay(const char *file, unsigned *steps, GError **error)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents(file, &text, NULL, error))
    return false;
  struct replay r = {.file = file, .error = error, .trace = g_new0(struct trace, 1)};
  numbers_init(&r.trace->numbers);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  find_properties(&r, lines);
  find_members(&r, lines);
  bool fine = replay_lines(&r, lines);
  g_ptr_array_unref(r.properties);
  g_hash_table_unref(r.members);
  if (r.begun) {
    parts_clear(&r.parts);
    world_clear(&r.world);
  }
  script_free(r.script);
  g_free(r.actions.item);
  trace_free(r.trace);
  if (steps)
    *steps = r.steps;
  return fine;
}
