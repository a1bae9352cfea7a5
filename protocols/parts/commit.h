/* The two phases of a commit: every rank says when its part of a checkpoint is on stable storage,
 * and when all have, the coordinator commits it. Shared by protocols.
 *
 * If the coordinator alone begins checkpoints, a rank learns that a checkpoint is committed when
 * the next one begins. Other ranks that begin checkpoints (event-logging) are told.
 */
#ifndef RECLINE_COMMIT_H
#define RECLINE_COMMIT_H

#include "protocols/parts/act.h"

struct rcl_commit {     /* all zero at ranks that begin no checkpoints */
  uint32_t in_progress; /* checkpoint under way; 0: none */
  uint32_t done;        /* the coordinator's: ranks whose part of it is durable */
};

static inline bool rcl_coordinator(const struct rcl_config *config)
{
  return config->self == RCL_COORDINATOR_RANK;
}

/* Returns whether the coordinator's timer may begin `checkpoint` now; else sets the timer again. */
static inline bool rcl_commit_begin(struct rcl_commit *commit, bool idle, uint32_t checkpoint,
                                    struct rcl_actions *actions)
{
  if (commit->in_progress || !idle) {
    rcl_act(actions, RCL_ACTION_SET_TIMER);
    return false;
  }
  *commit = (struct rcl_commit){.in_progress = checkpoint};
  return true;
}

/* Coordinator: one more rank is done. */
static inline void rcl_commit_count(const struct rcl_config *config, struct rcl_commit *commit,
                                    struct rcl_actions *actions)
{
  if (++commit->done == (uint32_t)config->ranks)
    rcl_act(actions, RCL_ACTION_COMMIT)->checkpoint = commit->in_progress;
}

/* This rank is done with `checkpoint`; others tell the coordinator by control message `done`. */
static inline void rcl_commit_done(const struct rcl_config *config, struct rcl_commit *commit,
                                   uint32_t done, uint32_t checkpoint, struct rcl_actions *actions)
{
  if (rcl_coordinator(config))
    rcl_commit_count(config, commit, actions);
  else
    rcl_send_control(actions, RCL_COORDINATOR_RANK, done, checkpoint, 0);
}

/* Coordinator: the next checkpoint may begin. */
static inline void rcl_commit_end(struct rcl_commit *commit, struct rcl_actions *actions)
{
  *commit = (struct rcl_commit){0};
  rcl_act(actions, RCL_ACTION_SET_TIMER);
}

/* Only the coordinator counts, for a checkpoint, at most one per rank. */
static inline bool rcl_commit_is_sound(const struct rcl_config *config,
                                       const struct rcl_commit *commit)
{
  return commit->done <= (rcl_coordinator(config) ? (uint32_t)config->ranks : 0) &&
         (commit->in_progress || !commit->done);
}

#endif
