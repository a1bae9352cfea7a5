#include "world/trace/join_traces.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/output.h"
#include "protocols/text.h"
#include "world/rules/in_place.h"
#include "world/rules/properties.h"
#include "world/trace/part_trace.h"
#include "world/trace/trace_lines.h"

struct part {
  struct part_trace trace;
  double time; /* time of the next line */
};

struct join {
  const char *folder;
  struct world world;
  struct parts parts;
  struct rcl_actions actions;
  struct trace_lines *lines;
  struct buffer text; /* the joined trace */
  struct part *part;  /* by rank */
  unsigned ranks;
  double begin, now; /* time of the first step, and of the last one, in seconds */
  struct joined *out;
  GError **error;
};

static bool bad(const struct join *j, const struct part *part, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static bool bad(const struct join *j, const struct part *part, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  g_set_error(j->error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s:%u: %s", part->trace.file,
              part->trace.next + 1, text);
  return false;
}

/* ---- lines ---- */

/* Returns whether the line gives an account of the process (measured.c), and no step. */
static bool is_account(const char *line)
{
  const char *rank = line ? strchr(line, ' ') : NULL, *what = rank ? strchr(rank + 1, ' ') : NULL;
  return what && g_str_has_prefix(what, " account ");
}

/* Reads the time of the next line with a step. Returns the line without the time, or NULL if there
 * is none. */
static const char *part_line(struct part *part)
{
  struct part_trace *trace = &part->trace;
  while (trace->line && is_account(trace->line[trace->next]))
    trace->next++;
  const char *line = trace->line ? trace->line[trace->next] : NULL;
  char *end;
  if (!line)
    return NULL;
  part->time = g_ascii_strtod(line, &end);
  return *end == ' ' ? end + 1 : end;
}

/* ---- the world ---- */

static bool begin_world(struct join *j, const struct part *part)
{
  const struct part_head *head = &part->trace.head;
  const struct rcl_protocol *protocol = rcl_protocol_named(head->protocol);
  if (!protocol)
    return bad(j, part, "there is no protocol '%s', expected one of 'recline list protocols'",
               head->protocol);
  struct world *world = &j->world;
  world_init(world, protocol, (int)j->ranks, head->capacity);
  world->places_anywhere = false;
  world_set_parameter(world, "iterations", 1);
  world->check = true;
  world->properties = properties_promised(protocol);
  world->line_stamps = properties_need_stamps(world->properties);
  parts_init(&j->parts, world);
  world_begin(world, 0, 0);
  j->actions.capacity = RCL_ACTIONS_MAX(&world->config[0]);
  j->actions.item = g_new0(struct rcl_action, j->actions.capacity);
  char *header = trace_header(world, "mpi");
  buffer_text(&j->text, header);
  free(header);
  return true;
}

/* ---- steps ---- */

/* Returns the line without numbers of messages. */
static char *unnumbered(const char *line)
{
  GString *text = g_string_new(NULL);
  for (; *line; line++)
    if (line[0] == ' ' && line[1] == '@')
      line += 1 + strspn(line + 2, "0123456789");
    else
      g_string_append_c(text, *line);
  return g_string_free(text, FALSE);
}

static void put_violation(struct join *j, struct verdict *verdict)
{
  if (verdict->kind != VERDICT_VIOLATION)
    return;
  char *line = trace_violation_line(j->lines, verdict);
  buffer_printf(&j->text, "%s\n", line);
  free(line);
  if (!j->out->violations++)
    j->out->first = g_strdup(verdict->text);
}

/* Writes the line of a move that was taken. The caller frees the line with free(). */
static char *put_step(struct join *j, const struct move *move, struct verdict *verdict)
{
  char *line = trace_line(j->lines, &j->world, move, &j->actions, verdict);
  buffer_printf(&j->text, "%.9f %s\n", j->now - j->begin, line);
  put_violation(j, verdict);
  j->out->steps++;
  j->out->commits += move->kind == MOVE_EVENT && move->event.kind == RCL_EVENT_COMMITTED;
  return line;
}

/* Takes a move that no process lived to tell, if it can happen. */
static bool take_untold(struct join *j, struct move move)
{
  struct verdict verdict;
  j->actions.count = 0;
  move.index = move.kind == MOVE_CRASH ? 0 : WORLD_FIND;
  world_step(&j->world, &move, &j->actions, &verdict);
  if (verdict.kind == VERDICT_IMPOSSIBLE)
    return false;
  free(put_step(j, &move, &verdict));
  return true;
}

static bool read_content(char *text, struct content *content)
{
  char *place = strstr(text, " content=");
  int end = 0;
  if (!place)
    return true;
  uint32_t *word = content->word;
  sscanf(place, " content=%8" SCNx32 "%8" SCNx32 "%8" SCNx32 "%8" SCNx32 "%n", &word[0], &word[1],
         &word[2], &word[3], &end);
  if (!end)
    return false;
  memmove(place, place + end, strlen(place + end) + 1);
  return true;
}

static bool read_move(struct join *j, struct part *part, const char *line, struct move *move)
{
  const char *end = strstr(line, " | ");
  end = end ? end : strstr(line, " # ");
  g_autofree char *text = end ? g_strndup(line, (gsize)(end - line)) : g_strdup(line);
  char *what;
  unsigned rank = (unsigned)strtoul(text, &what, 10);
  *move = (struct move){.rank = (int16_t)rank, .index = WORLD_FIND};
  if (rank != (unsigned)(part - j->part) || *what != ' ')
    return bad(j, part, "found '%s', expected 'TIME %u EVENT'", line, (unsigned)(part - j->part));
  if (g_str_equal(what, " finished")) {
    move->kind = MOVE_FINISH;
    return true;
  }
  const char *wrong = what;
  if (read_content(what, &move->content))
    wrong = event_parse(what + 1, &move->event);
  bool pair = move->event.kind == RCL_EVENT_SEND || move->event.kind == RCL_EVENT_ARRIVED ||
              move->event.kind == RCL_EVENT_CONTROL;
  if (!wrong && pair && (move->event.peer < 0 || (unsigned)move->event.peer >= j->ranks))
    wrong = what;
  return !wrong ||
         bad(j, part, "found '%s', expected an event in the notation of docs/trace.md", wrong);
}

enum taken { TAKEN, REFUSED, WRONG };

/* Takes the next line of `part` if it can happen now. Otherwise sets *why to the reason. */
static enum taken take(struct join *j, struct part *part, char **why)
{
  const char *line = part_line(part);
  struct move move;
  struct verdict verdict;
  if (!read_move(j, part, line, &move))
    return WRONG;
  j->actions.count = 0;
  world_step(&j->world, &move, &j->actions, &verdict);
  if (verdict.kind == VERDICT_IMPOSSIBLE) {
    g_free(*why);
    *why = g_strdup(verdict.text);
    return REFUSED;
  }
  if (j->begin <= 0)
    j->begin = part->time;
  j->now = MAX(j->now, part->time);
  char *told = put_step(j, &move, &verdict);
  g_autofree char *same = unnumbered(told);
  free(told);
  if (!g_str_equal(same, line)) {
    bad(j, part, "the process says '%s', the world '%s'", line, same);
    return WRONG;
  }
  part->trace.next++;
  return TAKEN;
}

/* ---- lives ---- */

/* Returns the part with the earliest next line, among the parts that were not yet `tried`. */
static struct part *earliest(struct join *j, const bool *tried)
{
  struct part *found = NULL;
  for (unsigned rank = 0; rank < j->ranks; rank++) {
    struct part *part = &j->part[rank];
    if (!tried[rank] && part_line(part) && (!found || part->time < found->time))
      found = part;
  }
  return found;
}

static bool take_life(struct join *j)
{
  for (;;) {
    g_autofree bool *tried = g_new0(bool, j->ranks);
    g_autofree char *why = NULL;
    enum taken taken = REFUSED;
    struct part *part, *first = NULL;
    while (taken == REFUSED && (part = earliest(j, tried))) {
      first = first ? first : part;
      tried[part - j->part] = true;
      taken = take(j, part, &why);
    }
    if (!first || taken == WRONG)
      return !first;
    if (taken == REFUSED)
      return bad(j, first, "the world refuses this: %s", why);
  }
}

/* Takes all starts, before anything else. */
static bool take_starts(struct join *j)
{
  g_autofree char *why = NULL;
  for (unsigned rank = 0; rank < j->ranks; rank++) {
    struct part *part = &j->part[rank];
    enum taken taken = part_line(part) ? take(j, part, &why) : TAKEN;
    if (taken == REFUSED)
      bad(j, part, "the world refuses this: %s", why);
    if (taken != TAKEN)
      return false;
  }
  return true;
}

static const struct world_global *global_of(const struct world *w)
{
  uint32_t size;
  return w->memory.read(w->memory.ctx, world_part(w, WORLD_GLOBAL, 0, 0), &size);
}

/* Sets the checkpoint from which the life begins. Returns false if no part says that it has begun.
 */
static bool find_start(struct join *j, uint32_t *checkpoint)
{
  for (unsigned rank = 0; rank < j->ranks; rank++) {
    const char *line = part_line(&j->part[rank]);
    struct move move;
    if (!line || !read_move(j, &j->part[rank], line, &move) || move.event.kind != RCL_EVENT_START)
      continue;
    *checkpoint = move.event.checkpoint;
    return true;
  }
  return false;
}

/* Takes the crash of all processes, and its detection. A process may have been killed after its
 * commit was recorded and before its trace told this. Then the commit is added for the process,
 * because no later step of it is known. */
static void take_crash(struct join *j, uint32_t checkpoint)
{
  if (checkpoint && global_of(&j->world)->committing == checkpoint)
    take_untold(j, (struct move){.rank = RCL_COORDINATOR_RANK,
                                 .event = {.kind = RCL_EVENT_COMMITTED, .checkpoint = checkpoint}});
  for (unsigned rank = 0; rank < j->ranks; rank++)
    take_untold(j, (struct move){.kind = MOVE_CRASH, .rank = (int16_t)rank});
  take_untold(j, (struct move){.kind = MOVE_DETECT, .rank = -1});
}

/* Opens the parts of a life. Sets *there to whether there is such a life. */
static bool open_life(struct join *j, unsigned life, bool *there)
{
  *there = false;
  for (unsigned rank = 0; rank < j->ranks; rank++) {
    struct part_trace *part = &j->part[rank].trace;
    part_trace_clear(part);
    if (!part_trace_read(part, j->folder, life, rank, j->error))
      return false;
    *there |= part->there;
  }
  return true;
}

static bool join_lives(struct join *j)
{
  bool there = true;
  for (unsigned life = 0; there; life++) {
    uint32_t checkpoint;
    if (!open_life(j, life, &there))
      return false;
    if (!there || !find_start(j, &checkpoint))
      continue;
    if (j->out->starts++)
      take_crash(j, checkpoint);
    if (!take_starts(j) || !take_life(j))
      return false;
  }
  struct verdict verdict = {.kind = VERDICT_FINE};
  j->out->ended = world_finished(&j->world);
  if (j->out->ended)
    world_at_end(&j->world, &verdict);
  put_violation(j, &verdict);
  return true;
}

/* ---- the whole ---- */

/* Takes the head from the first part that exists, because all parts have the same head. */
static bool begin(struct join *j)
{
  struct part part = {0};
  bool fine = true;
  for (unsigned rank = 0; fine && !part.trace.line && rank <= G_MAXINT16; rank++) {
    part_trace_clear(&part.trace);
    fine = part_trace_read(&part.trace, j->folder, 0, rank, j->error);
  }
  if (fine && !part.trace.line) {
    g_set_error(j->error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                "%s: no file trace.0.0, expected the folder of a run with RECLINE_TRACE=1",
                j->folder);
    fine = false;
  }
  j->ranks = (unsigned)part.trace.head.ranks;
  part.trace.next = 1; /* the line that names the protocol */
  fine = fine && begin_world(j, &part);
  part_trace_clear(&part.trace);
  if (fine)
    j->part = g_new0(struct part, j->ranks);
  return fine;
}

bool trace_join(const char *folder, const char *file, struct joined *out, GError **error)
{
  struct join j = {.folder = folder, .lines = trace_lines_new(), .out = out, .error = error};
  *out = (struct joined){0};
  bool fine = begin(&j);
  if (fine) {
    fine = join_lives(&j);
    out->ranks = j.ranks;
    for (unsigned rank = 0; rank < j.ranks; rank++)
      part_trace_clear(&j.part[rank].trace);
    parts_clear(&j.parts);
    world_clear(&j.world);
  }
  if (fine && !(fine = output_write(file, j.text.text, j.text.used)))
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno), OUTPUT_CANNOT, file,
                g_strerror(errno));
  free(j.text.text);
  g_free(j.part);
  g_free(j.actions.item);
  trace_lines_free(j.lines);
  return fine;
}
