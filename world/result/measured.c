/* A line of a trace tells a step with its time, or an *account* of the time that the process has
 * spent so far:
 *
 *     SECONDS RANK EVENT | ACTION | ACTION # DIGEST
 *     SECONDS RANK account [checkpoint=N] spent=SPENT,... stored=BYTES image=BYTES iterations=N
 *
 * The work that a life does after the checkpoint from which a later life starts is lost. So each
 * life counts with the account that it gave when it captured that checkpoint. If no later life
 * starts from a checkpoint of the life, it counts with the account at its end.
 */
#include "world/result/measured.h"

#include <gio/gio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/text.h"
#include "world/result/phases.h"
#include "world/trace/part_trace.h"

/* Numbers the activities in the order of enum real_activity (mpi/real_host.h). */
enum { COMPUTE, MPI, PROTOCOL, CHECKPOINT, RESTART, SPENT };

struct account {
  double when, spent[SPENT];
  uint64_t stored, image, iterations; /* sums of this life so far */
};

/* Describes a process in one life, as far as its trace tells. */
struct process {
  /* time of its start and of its last line in seconds, or 0 if it has left no line */
  double began, last;
  bool finished;
  GHashTable *captures; /* checkpoint -> struct account */
  struct account now;   /* the last account, if when > 0 */
};

struct life {
  struct process *process; /* by rank */
  double began, last;      /* start of the first process, and end of the last one */
  uint32_t restored;       /* the checkpoint from which the life started */
};

struct measure {
  const struct rcl_protocol *protocol;
  char *program, *library;
  int ranks;
  struct phases *phases;
  struct rcl_actions actions;
  GArray *lives;
  GHashTable *committed; /* set of the numbers of committed checkpoints */
  struct result *result;
  GError **error;
};

static bool bad(struct measure *m, const char *file, unsigned line, const char *what)
{
  g_set_error(m->error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s:%u: %s", file, line, what);
  return false;
}

/* ---- a step ---- */

/* Separates the line into event and actions. Returns false if the line is no step. */
static bool parse_step(struct measure *m, char *text, struct rcl_event *event)
{
  char *digest = strstr(text, " # ");
  if (digest)
    *digest = '\0';
  g_auto(GStrv) words = g_strsplit(text, " | ", -1);
  char *content = strstr(words[0], " content=");
  if (content)
    *content = '\0';
  m->actions.count = 0;
  for (char **word = words + 1; *word; word++)
    if (m->actions.count == m->actions.capacity ||
        action_parse(*word, &m->actions.item[m->actions.count++]))
      return false;
  return !event_parse(words[0], event);
}

static void count_action(struct result *result, const struct rcl_event *event,
                         const struct rcl_action *action)
{
  switch ((enum rcl_action_kind)action->kind) {
  case RCL_ACTION_TRANSMIT:
    result->network.messages++;
    result->network.bytes += event->bytes;
    break;
  case RCL_ACTION_RESEND:
    result->network.messages++;
    result->messages.replayed++;
    break;
  case RCL_ACTION_DELIVER:
    result->messages.replayed += action->slot != RCL_NO_SLOT;
    break;
  case RCL_ACTION_CONTROL:
    result->network.control++;
    break;
  case RCL_ACTION_SUPPRESS:
    result->messages.suppressed++;
    break;
  case RCL_ACTION_DISCARD:
    result->messages.discarded++;
    break;
  default:
    break;
  }
}

/* Takes a step of a process. The commit of rank 0 counts for all ranks. */
static void take_step(struct measure *m, struct life *life, int rank, double now,
                      const struct rcl_event *event)
{
  if (event->kind == RCL_EVENT_START)
    life->restored = event->checkpoint;
  if (event->kind == RCL_EVENT_COMMITTED)
    g_hash_table_add(m->committed, GUINT_TO_POINTER(event->checkpoint));
  m->result->messages.sent += event->kind == RCL_EVENT_SEND;
  for (uint32_t i = 0; i < m->actions.count; i++)
    count_action(m->result, event, &m->actions.item[i]);
  phases_step(m->phases, rank, now, event, &m->actions);
}

/* ---- an account ---- */

static bool take_account(struct process *process, double now, const char *text)
{
  struct account *a = &process->now;
  unsigned checkpoint = 0;
  unsigned long long bytes[3];
  const char *spent = strstr(text, " spent=");
  sscanf(text, "account checkpoint=%u", &checkpoint);
  if (!spent ||
      sscanf(spent, " spent=%lf,%lf,%lf,%lf,%lf stored=%llu image=%llu iterations=%llu",
             &a->spent[COMPUTE], &a->spent[MPI], &a->spent[PROTOCOL], &a->spent[CHECKPOINT],
             &a->spent[RESTART], &bytes[0], &bytes[1], &bytes[2]) != SPENT + 3)
    return false;
  a->when = now;
  a->stored = bytes[0];
  a->image = bytes[1];
  a->iterations = bytes[2];
  if (checkpoint)
    g_hash_table_replace(process->captures, GUINT_TO_POINTER(checkpoint), g_memdup2(a, sizeof *a));
  return true;
}

/* ---- files ---- */

static bool take_line(struct measure *m, struct life *life, int rank, char *line)
{
  struct process *process = &life->process[rank];
  struct rcl_event event = {.kind = RCL_EVENT_NONE};
  char *end = NULL, *step = NULL;
  double now = g_ascii_strtod(line, &end);
  if (end == line || strtol(end, &step, 10) != rank || *step++ != ' ')
    return false;
  process->last = now;
  if (g_str_has_prefix(step, "account "))
    return take_account(process, now, step);
  if (!strcmp(step, "finished"))
    return process->finished = true;
  if (!parse_step(m, step, &event))
    return false;
  take_step(m, life, rank, now, &event);
  return true;
}

/* Takes the head of a part. All processes write the same head; the first one counts. */
static bool take_head(struct measure *m, const struct part_trace *part)
{
  const struct part_head *head = &part->head;
  if (m->protocol)
    return true;
  m->protocol = rcl_protocol_named(head->protocol);
  m->ranks = head->ranks;
  if (!m->protocol)
    return bad(m, part->file, 2,
               "no protocol of recline, expected one of 'recline list protocols'");
  struct rcl_config config = {.ranks = (int16_t)m->ranks, .capacity = head->capacity};
  m->program = g_strdup(head->program);
  m->library = g_strdup(head->library);
  m->phases = phases_new(m->protocol, m->ranks);
  m->actions.capacity = RCL_ACTIONS_MAX(&config);
  m->actions.item = g_new0(struct rcl_action, m->actions.capacity);
  return true;
}

static bool take_process(struct measure *m, struct life *life, int rank,
                         const struct part_trace *part)
{
  struct process *process = &life->process[rank];
  process->captures = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  process->began = process->last = part->head.began;
  for (unsigned i = part->next; part->line[i]; i++)
    if (!take_line(m, life, rank, part->line[i]))
      return bad(m, part->file, i + 1,
                 "neither step nor account, expected docs/mpi-host.md's lines");
  return true;
}

/* Reads the trace of one process. A process without a trace counts for nothing. */
static bool read_process(struct measure *m, struct life *life, const char *folder, unsigned number,
                         int rank, bool *there)
{
  struct part_trace part;
  bool good = part_trace_read(&part, folder, number, (unsigned)rank, m->error);
  *there |= part.there;
  if (good && part.line)
    good = take_head(m, &part) && take_process(m, life, rank, &part);
  part_trace_clear(&part);
  return good;
}

static bool read_life(struct measure *m, const char *folder, unsigned number, bool *there)
{
  struct life life = {.process = g_new0(struct process, (gsize)m->ranks)};
  bool good = true;
  *there = false;
  for (int rank = 0; good && rank < m->ranks; rank++) {
    const struct process *process = &life.process[rank];
    good = read_process(m, &life, folder, number, rank, there);
    life.began = process->began > 0 && (life.began <= 0 || process->began < life.began)
                     ? process->began
                     : life.began;
    life.last = MAX(life.last, process->last);
  }
  if (life.last > 0)
    g_array_append_val(m->lives, life);
  else
    g_free(life.process);
  return good;
}

/* ---- the account of the run ---- */

static void add_account(struct result *result, const struct account *a, int ranks)
{
  result->time.compute += a->spent[COMPUTE] / ranks;
  result->time.mpi += a->spent[MPI] / ranks;
  result->time.protocol += a->spent[PROTOCOL] / ranks;
  result->time.checkpoint += a->spent[CHECKPOINT] / ranks;
  result->time.restart += a->spent[RESTART] / ranks;
}

/* Adds work that was executed, even if it is lost. */
static void add_work(struct result *result, int rank, const struct account *a)
{
  result->stored_bytes += a->stored;
  result->iterations += a->iterations;
  result->rank_iterations[rank] += a->iterations;
  result->rank_image_bytes[rank] = MAX(result->rank_image_bytes[rank], a->image);
  result->image_bytes = MAX(result->image_bytes, a->image);
}

/* Returns the account of the work of a life that is not lost, or NULL if all work is lost. */
static const struct account *kept_of(const struct process *process, bool last, uint32_t restored)
{
  if (last)
    return process->finished ? &process->now : NULL;
  return process->captures ? g_hash_table_lookup(process->captures, GUINT_TO_POINTER(restored))
                           : NULL;
}

static void account_of_rank(const struct measure *m, int rank)
{
  const struct life *lives = (const struct life *)(const void *)m->lives->data;
  guint count = m->lives->len;
  uint32_t restored = RCL_FRESH;
  for (guint i = count; i-- > 0;) {
    const struct process *process = &lives[i].process[rank];
    const struct account *kept = kept_of(process, i + 1 == count, restored);
    double began = process->began > 0 ? process->began : lives[i].began;
    double end = i + 1 == count && kept ? kept->when : lives[i].last;
    double next = i + 1 == count                         ? end
                  : lives[i + 1].process[rank].began > 0 ? lives[i + 1].process[rank].began
                                                         : lives[i + 1].began;
    if (kept)
      add_account(m->result, kept, m->ranks);
    m->result->time.lost += (end - (kept ? kept->when : began)) / m->ranks;
    m->result->time.restart += (next - end) / m->ranks;
    add_work(m->result, rank, &process->now);
    if (i + 1 == count || kept)
      restored = lives[i].restored;
  }
}

static bool has_ended(const struct measure *m)
{
  const struct life *last = &g_array_index(m->lives, struct life, m->lives->len - 1);
  bool ended = true;
  for (int rank = 0; rank < m->ranks; rank++)
    ended &= last->process[rank].finished;
  return ended;
}

/* Sums up the account. The time for which processes wait for each other at the beginning and at the
 * end counts as communication. */
static void sum_up(struct measure *m)
{
  struct result *result = m->result;
  const struct life *lives = (const struct life *)(const void *)m->lives->data;
  guint count = m->lives->len;
  result->simulated_s = lives[count - 1].last - lives[0].began;
  result->rank_iterations = g_new0(uint64_t, (gsize)m->ranks);
  result->rank_image_bytes = g_new0(uint64_t, (gsize)m->ranks);
  for (int rank = 0; rank < m->ranks; rank++)
    account_of_rank(m, rank);
  const struct run_time *t = &result->time;
  double rest = result->simulated_s -
                (t->compute + t->mpi + t->protocol + t->checkpoint + t->lost + t->restart);
  result->time.mpi += MAX(rest, 0.0);
  for (guint i = 1; i < count; i++)
    if (lives[i].restored)
      g_hash_table_add(m->committed, GUINT_TO_POINTER(lives[i].restored));
}

static void fill_in(struct measure *m, const char *folder)
{
  struct result *result = m->result;
  sum_up(m);
  result->ranks = m->ranks;
  result->crashes = result->rollbacks_global = m->lives->len - 1;
  result->verdict = !has_ended(m) ? RUN_LOST : m->lives->len > 1 ? RUN_RECOVERED : RUN_COMPLETED;
  result->checkpoints_committed = g_hash_table_size(m->committed);
  result->version = g_strdup(RECLINE_VERSION);
  result->scenario = g_path_get_basename(folder);
  result->program = g_strdup(m->program);
  result->platform = g_strdup(m->library);
  result->protocol = g_strdup(m->protocol->name);
  phases_report(m->phases, result);
  result_note(result, "measured on real MPI: late and early messages, collectives' words, copies, "
                      "outputs and aborted checkpoints are not told there and stand as 0");
}

/* ---- the whole ---- */

/* Reads the traces of all lives. Rank 0's trace tells the number of ranks. */
static bool read_lives(struct measure *m, const char *folder)
{
  struct part_trace first;
  bool there = true, good = part_trace_read(&first, folder, 0, 0, m->error);
  if (good && !first.line)
    good = bad(m, first.file, 1,
               "no trace of a process on real MPI, expected one that RECLINE_TRACE=1 leaves");
  good = good && take_head(m, &first);
  for (unsigned life = 0; good && there; life++)
    good = read_life(m, folder, life, &there);
  good = good && (m->lives->len > 0 || bad(m, first.file, 1, "no step, expected some"));
  part_trace_clear(&first);
  return good;
}

static void clear(struct measure *m)
{
  for (guint i = 0; i < m->lives->len; i++) {
    struct life *life = &g_array_index(m->lives, struct life, i);
    for (int rank = 0; rank < m->ranks; rank++)
      if (life->process[rank].captures)
        g_hash_table_unref(life->process[rank].captures);
    g_free(life->process);
  }
  g_array_free(m->lives, TRUE);
  g_hash_table_unref(m->committed);
  phases_free(m->phases);
  g_free(m->actions.item);
  g_free(m->program);
  g_free(m->library);
}

bool measured_result(const char *folder, struct result *result, GError **error)
{
  struct measure m = {.lives = g_array_new(FALSE, FALSE, sizeof(struct life)),
                      .committed = g_hash_table_new(NULL, NULL),
                      .result = result,
                      .error = error};
  *result = (struct result){0};
  bool good = read_lives(&m, folder);
  if (good)
    fill_in(&m, folder);
  clear(&m);
  return good;
}
