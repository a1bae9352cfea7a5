/* Has the two phases of a commit, which protocols share. Every rank says when its part of a
 * checkpoint is on stable storage. When all ranks have said so, the coordinator commits the
 * checkpoint.
 *
 * If the coordinator alone begins checkpoints, a rank learns that a checkpoint is committed when
 * the next one begins. If other ranks begin checkpoints, too (event-logging), the coordinator tells
 * them. */
#ifndef RECLINE_COMMIT_H
#define RECLINE_COMMIT_H

#include "protocols/parts/act.h"

struct rcl_commit {     /* all fields are zero at ranks that begin no checkpoints */
  uint32_t in_progress; /* checkpoint under way, or 0 if there is none */
  /* at the coordinator: number of ranks whose part of the checkpoint is durable */
  uint32_t done;
};

static inline bool rcl_coordinator(const struct rcl_config *config)
{
  return config->self == RCL_COORDINATOR_RANK;
}

/* Begins `checkpoint` at the timer of a rank that begins checkpoints, if no other is under way and
 * the rank is `idle`. Otherwise sets the timer again, and returns false. */
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

/* Counts, at the coordinator, one more rank that is done. */
static inline void rcl_commit_count(const struct rcl_config *config, struct rcl_commit *commit,
                                    struct rcl_actions *actions)
{
  if (++commit->done == (uint32_t)config->ranks)
    rcl_act(actions, RCL_ACTION_COMMIT)->checkpoint = commit->in_progress;
}

/* Notes that this rank is done with `checkpoint`; ranks other than the coordinator tell the
 * coordinator so by control message `done`. */
static inline void rcl_commit_done(const struct rcl_config *config, struct rcl_commit *commit,
                                   uint32_t done, uint32_t checkpoint, struct rcl_actions *actions)
{
  if (rcl_coordinator(config))
    rcl_commit_count(config, commit, actions);
  else
    rcl_send_control(actions, RCL_COORDINATOR_RANK, done, checkpoint, 0);
}

/* Notes, at a rank that begins checkpoints, that the next one may begin. */
static inline void rcl_commit_end(struct rcl_commit *commit, struct rcl_actions *actions)
{
  *commit = (struct rcl_commit){0};
  rcl_act(actions, RCL_ACTION_SET_TIMER);
}

/* Checks that only the coordinator counts ranks, only during a checkpoint, and at most as many as
 * there are. */
static inline bool rcl_commit_is_sound(const struct rcl_config *config,
                                       const struct rcl_commit *commit)
{
  return commit->done <= (rcl_coordinator(config) ? (uint32_t)config->ranks : 0) &&
         (commit->in_progress || !commit->done);
}

#endif
