/* The two phases of a commit: every rank says when its part of a checkpoint is on stable storage,
 * and when all have, the coordinator commits it. Shared by protocols.
 *
 * A rank learns that a checkpoint is committed when the next one begins: the coordinator begins it
 * only then.
 */
#ifndef RECLINE_COMMIT_H
#define RECLINE_COMMIT_H

#include "protocols/parts/act.h"

struct commit {         /* all zero at every other rank */
  uint32_t in_progress; /* checkpoint under way; 0: none */
  uint32_t done;        /* ranks whose part of it is durable */
};

static inline bool coordinator(const struct config *config)
{
  return config->self == COORDINATOR_RANK;
}

/* Whether the coordinator's timer may begin `checkpoint` now; else the timer is set again. */
static inline bool commit_begin(struct commit *commit, bool idle, uint32_t checkpoint,
                                struct actions *actions)
{
  if (commit->in_progress || !idle) {
    act(actions, ACTION_SET_TIMER);
    return false;
  }
  *commit = (struct commit){.in_progress = checkpoint};
  return true;
}

/* Coordinator: one more rank is done. */
static inline void commit_count(const struct config *config, struct commit *commit,
                                struct actions *actions)
{
  if (++commit->done == (uint32_t)config->ranks)
    act(actions, ACTION_COMMIT)->checkpoint = commit->in_progress;
}

/* This rank is done with `checkpoint`; others tell the coordinator by control message `done`. */
static inline void commit_done(const struct config *config, struct commit *commit, uint32_t done,
                               uint32_t checkpoint, struct actions *actions)
{
  if (coordinator(config))
    commit_count(config, commit, actions);
  else
    tell(actions, COORDINATOR_RANK, done, checkpoint, 0);
}

/* Coordinator: the next checkpoint may begin. */
static inline void commit_end(struct commit *commit, struct actions *actions)
{
  *commit = (struct commit){0};
  act(actions, ACTION_SET_TIMER);
}

/* Only the coordinator counts, at most one per rank. */
static inline bool commit_is_sound(const struct config *config, const struct commit *commit)
{
  return commit->done <= (coordinator(config) ? (uint32_t)config->ranks : 0);
}

#endif
