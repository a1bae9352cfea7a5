/* Runs one search by several processes, each with one worker: a process owns the states whose
 * digests select it (verify/distribute/exchange.h). It expands its own states, sends successors to
 * their owners, and has its own tables. A level ends when all processes have expanded their states
 * and all successors are placed; then the counts are added up.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "verify/explore/resume.h"
#include "verify/explore/search.h"
#include "world/rules/properties.h"

static void place(void *worker, const uint32_t *numbers)
{
  worker_place(worker, numbers);
}

/* Takes all messages that have come, and goes on until few messages are left to send, so that
 * neither incoming nor outgoing messages pile up. */
void distributed_receive(struct explorer *e)
{
  bool full;
  do {
    full = exchange_is_full(e->exchange);
    if (full)
      exchange_transport(e->exchange)->safe_point();
  } while (exchange_take(e->exchange, full, place, &e->worker[0]) || full);
  worker_place_pending(&e->worker[0]);
}

bool distributed_is_level_over(struct explorer *e)
{
  if (!e->sent && !e->summing) {
    exchange_end(e->exchange);
    e->sent = true;
  }
  if (e->summing || exchange_is_over(e->exchange)) {
    e->sent = false;
    return e->summing = true;
  }
  exchange_take(e->exchange, true, place, &e->worker[0]);
  worker_place_pending(&e->worker[0]);
  return false;
}

/* ---- sums ---- */

void distributed_sum(struct explorer *e, struct level *level)
{
  const struct transport *transport = exchange_transport(e->exchange);
  struct exploration *out = e->out;
  enum {
    STATES,
    NEXT,
    VIOLATING,
    TRANSITIONS,
    RESTS,
    SUMS,
    JUDGED = SUMS + REACHES,
    FULL = JUDGED + PROPERTIES,
    SAVE,
    ALL
  };
  uint64_t counts[ALL] = {level->states, level->next, level->violating,
                          out->transitions - e->known.transitions, out->rests - e->known.rests};
  for (int i = 0; i < REACHES; i++)
    counts[SUMS + i] = out->reached.most[i];
  for (unsigned i = 0; i < PROPERTIES; i++)
    counts[JUDGED + i] = (uint64_t)reached_judges(&out->reached, i);
  counts[FULL] = level->full;
  counts[SAVE] = level->save && !transport->rank; /* only the clock of the first process counts */
  transport->combine(counts, SUMS, ALL - SUMS);
  *level =
      (struct level){counts[STATES], counts[NEXT], counts[VIOLATING], counts[FULL], counts[SAVE]};
  out->transitions = e->known.transitions += counts[TRANSITIONS];
  out->rests = e->known.rests += counts[RESTS];
  for (int i = 0; i < REACHES; i++)
    out->reached.most[i] = (uint8_t)counts[SUMS + i];
  for (unsigned i = 0; i < PROPERTIES; i++)
    if (counts[JUDGED + i])
      reached_judge(&out->reached, i);
  e->summing = false;
}

void distributed_conclude(struct explorer *e)
{
  uint64_t counts[] = {e->out->bytes, e->out->steps};
  exchange_transport(e->exchange)->combine(counts, sizeof counts / sizeof *counts, 0);
  e->out->bytes = counts[0];
  e->out->steps = counts[1];
}

/* ---- saves ---- */

/* Returns the name of this process's file, which the caller frees. Each process saves to two files
 * in turn, so there is always one save that is complete in all processes, whenever processes are
 * killed. */
static char *name_of_save(const struct explorer *e, unsigned turn)
{
  const struct transport *transport = exchange_transport(e->exchange);
  struct buffer name = {0};
  buffer_printf(&name, "%s.%u-of-%u.%u", e->model.options->save, transport->rank + 1,
                transport->size, turn % 2);
  return name.text;
}

/* Returns the number of processes for which `yes` is true. */
static uint64_t count(const struct explorer *e, bool yes)
{
  return transport_sum(exchange_transport(e->exchange), yes);
}

const char *distributed_save(struct explorer *e)
{
  char *file = name_of_save(e, e->saves);
  /* other processes have told of values that no state of this process has yet */
  explorer_widen_packing(e);
  const char *wrong = e->full ? "needs more memory" : resume_write(e, file);
  free(file);
  if (!count(e, wrong))
    e->saves++; /* otherwise the file with the other number stays the last save */
  return wrong;
}

void distributed_remove_saves(const struct explorer *e)
{
  for (unsigned turn = 0; turn < 2; turn++) {
    char *file = name_of_save(e, turn);
    remove(file);
    free(file);
  }
}

/* Finds the depths of this process's two saves. Sets each to 1 + the depth, or to 0 if there is no
 * such save. Returns NULL, or why a save cannot be used. */
static const char *find_saves(const struct explorer *e, uint64_t depths[2])
{
  const char *wrong = NULL;
  for (unsigned turn = 0; turn < 2; turn++) {
    char *file = name_of_save(e, turn);
    bool exists;
    const char *problem = resume_depth(e, file, &depths[turn], &exists);
    depths[turn] = exists && !problem ? depths[turn] + 1 : 0;
    wrong = problem ? problem : wrong;
    free(file);
  }
  return wrong;
}

static const char *read_save(struct explorer *e, unsigned turn)
{
  char *file = name_of_save(e, turn);
  bool exists;
  const char *wrong = resume_read(e, file, &exists);
  free(file);
  e->saves = turn + 1; /* so the next save goes to the other file */
  e->known.transitions = e->out->transitions;
  e->known.rests = e->out->rests;
  e->out->states = transport_sum(exchange_transport(e->exchange), e->out->states);
  e->out->resumed = e->out->states;
  return wrong;
}

const char *distributed_resume(struct explorer *e)
{
  static const char *const other = "has parts that cannot be used";
  uint64_t depths[2], common;
  const char *wrong = find_saves(e, depths);
  if (count(e, wrong))
    return wrong ? wrong : other;
  common = UINT64_MAX - (depths[0] > depths[1] ? depths[0] : depths[1]);
  exchange_transport(e->exchange)->combine(&common, 0, 1); /* the least depth of the last saves */
  common = UINT64_MAX - common;
  unsigned turn = depths[1] == common;
  if (!common || count(e, depths[turn] != common))
    return NULL;
  wrong = read_save(e, turn);
  return count(e, wrong) && !wrong ? other : wrong;
}

/* ---- states that all need ---- */

struct gathering {
  struct states *states;
  uint32_t components;
};

static void gather(void *ctx, const uint32_t *numbers)
{
  const struct gathering *gathering = ctx;
  states_add(gathering->states, numbers, gathering->components);
}

void distributed_share(struct explorer *e, struct states *found)
{
  const struct transport *transport = exchange_transport(e->exchange);
  struct gathering gathering = {found, e->model.components};
  uint32_t own = found->count, state[PACKING_WORDS];
  for (uint32_t i = 0; i < own; i++) {
    packing_pack(e->model.packing, found->numbers + (size_t)i * e->model.components, state);
    for (unsigned to = 0; to < transport->size; to++)
      if (to != transport->rank)
        exchange_put(e->exchange, to, state);
  }
  exchange_end(e->exchange);
  while (!exchange_is_over(e->exchange))
    exchange_take(e->exchange, true, gather, &gathering);
  transport_sum(transport, 0);
  explorer_widen_packing(e);
  if (e->full)
    memory_exhausted(visited_bytes(&e->visited));
}

/* ---- steps ---- */

/* Holds steps that are sent to the first process: for each step the number of its changes, then the
 * changes. The last message of a process begins with 1. */
struct steps_message {
  uint64_t *words;
  uint32_t count, room;
  const struct transport *transport;
};

enum { MESSAGE_WORDS = 1 << 17 };

static void add_word(struct steps_message *m, uint64_t word)
{
  m->words = memory_room(m->words, m->count, &m->room, sizeof *m->words);
  m->words[m->count++] = word;
}

static void send_steps(struct steps_message *m, bool last)
{
  m->words[0] = last;
  m->transport->send(0, m->words, m->count * sizeof *m->words);
  *m = (struct steps_message){.transport = m->transport};
  add_word(m, 0);
}

static void add_step(void *message, const struct recurrence_change *changes, uint32_t count)
{
  struct steps_message *m = message;
  add_word(m, count);
  for (uint32_t i = 0; i < count; i++) {
    add_word(m, changes[i].part);
    add_word(m, changes[i].from);
    add_word(m, changes[i].to);
  }
  if (m->count >= MESSAGE_WORDS)
    send_steps(m, false);
}

static void take_step(void *recurrence, const struct recurrence_change *changes, uint32_t count)
{
  recurrence_add(recurrence, changes, count);
}

/* Takes the steps of the other processes. */
static void receive_steps(const struct transport *transport, struct recurrence *all)
{
  for (unsigned left = transport->size - 1; left;) {
    size_t size;
    uint64_t *words = transport->receive(&size);
    if (!words) {
      transport->idle();
      continue;
    }
    for (size_t i = 1; i < size / sizeof *words; i += 1 + 3 * words[i])
      recurrence_add(all, (const struct recurrence_change *)&words[i + 1], (uint32_t)words[i]);
    left -= words[0] != 0;
    free(words);
  }
}

bool distributed_recurs(struct explorer *e, const struct recurrence *own)
{
  const struct transport *transport = exchange_transport(e->exchange);
  bool recurs = false;
  if (transport->rank) {
    struct steps_message message = {.transport = transport};
    add_word(&message, 0);
    recurrence_each(own, &e->model, add_step, &message);
    send_steps(&message, true);
    free(message.words);
  } else {
    struct recurrence *all = recurrence_new(NULL);
    recurrence_each(own, &e->model, take_step, all);
    receive_steps(transport, all);
    recurs = recurrence_solve(all);
    recurrence_free(all);
  }
  return transport_sum(transport, recurs);
}
