/* Has clauses of line invariants (line.h) about ranks that record the messages in transit in a log,
 * beside the image, without holding the program.
 *
 * A protocol includes this file in the place that whole_ranks.h describes. Its state has `durable`.
 * Its phases include RUNNING, CAPTURING, RECORDING (late messages) and WRITING (the log), in this
 * order; a rank in a phase between RECORDING and WRITING takes in late messages. Its `enum control`
 * has DONE. It defines captured_in(). */
#ifndef RECLINE_LOG_CLAUSES_H
#define RECLINE_LOG_CLAUSES_H

#include "protocols/parts/whole_ranks.h" /* C, C1 */

enum {
  IMAGE_DURABLE = 1 << RCL_PART_IMAGE,
  LOG_DURABLE = 1 << RCL_PART_LOG,
  BOTH_DURABLE = IMAGE_DURABLE | LOG_DURABLE
};

/* Returns the last checkpoint captured in a state. */
static uint32_t captured_in(const struct state *);

/* ---- looking at ranks ---- */

static bool has_captured(const struct rcl_whole *w, int i)
{
  return !is_behind(w, i) && captured_in(state_of(w, i)) == next_of(w);
}

/* Returns whether image and log of C1 of rank i are durable. */
static bool has_finished(const struct rcl_whole *w, int i)
{
  return has_captured(w, i) && phase_of(w, i) == RUNNING;
}

static bool is_recording(const struct rcl_whole *w, int i)
{
  return phase_of(w, i) >= RECORDING && phase_of(w, i) <= WRITING;
}

/* Returns whether rank i has captured C1 and knows that no late message is under way to it. */
static inline bool has_closed(const struct rcl_whole *w, int i)
{
  return has_captured(w, i) && phase_of(w, i) != RECORDING;
}

/* Returns whether i has reported C1 and the coordinator has counted the report. */
static bool is_counted(const struct rcl_whole *w, int i)
{
  return has_finished(w, i) && !under_way(w, i, RCL_COORDINATOR_RANK, DONE)->count;
}

static bool are_all_counted(const struct rcl_whole *w)
{
  bool all = true;
  for (int i = 0; i < w->ranks; i++)
    all &= is_counted(w, i);
  return all;
}

/* Returns whether a clause can read the states stored with the images of C1 of both ranks. */
static bool are_shown(const struct rcl_whole *w, int i, int j)
{
  return w->rank[i].newer && w->rank[j].newer;
}

/* Returns the state stored with the log of C1 of a rank that is up, or NULL if there is no such log
 * or a clause cannot read the state. */
static const struct state *newer_log_of(const struct rcl_whole *w, int i)
{
  const struct rcl_whole_rank *rank = &w->rank[i];
  return !is_behind(w, i) && (rank->storing_log || rank->durable_log) ? rank->log : NULL;
}

/* ---- one rank ---- */

static bool written_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  uint32_t durable = state_of(w, i)->durable;
  return !has_captured(w, i) ||
         (is_recording(w, i) ? !(durable & ~(uint32_t)BOTH_DURABLE) && durable != BOTH_DURABLE
                             : durable == BOTH_DURABLE);
}

static bool capture_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return w->rank[i].capturing == (phase_of(w, i) == CAPTURING ? next_of(w) : 0);
}

static bool store_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  uint32_t durable = state_of(w, i)->durable;
  return w->rank[i].storing == (has_captured(w, i) && !(durable & IMAGE_DURABLE) ? next_of(w) : 0);
}

static bool durable_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  uint32_t durable = state_of(w, i)->durable;
  return is_behind(w, i) ||
         w->rank[i].durable == (has_captured(w, i) && durable & IMAGE_DURABLE ? next_of(w) : 0);
}

static bool store_log_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  bool stores = phase_of(w, i) == WRITING && !(state_of(w, i)->durable & LOG_DURABLE);
  return w->rank[i].storing_log == (stores ? next_of(w) : 0);
}

static bool durable_log_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  bool is = has_captured(w, i) && state_of(w, i)->durable & LOG_DURABLE;
  return is_behind(w, i) ||
         (w->rank[i].durable_log == (is ? next_of(w) : 0) && (!is || phase_of(w, i) != RECORDING));
}

static bool restorable_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return w->rank[i].restorable && (w->rank[i].logged || w->committed == RCL_FRESH);
}

/* ---- from rank i to rank j ---- */

static bool done_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *done = under_way(w, i, j, DONE);
  if (j != RCL_COORDINATOR_RANK || i == j)
    return !done->count;
  return done->count <= has_finished(w, i) && (!done->count || done->about == next_of(w));
}

/* ---- all ranks ---- */

static bool committing_holds(const struct rcl_whole *w, int i, int j)
{
  (void)i, (void)j;
  return w->committing == (are_all_counted(w) ? next_of(w) : 0);
}

#endif
