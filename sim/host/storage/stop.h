/* Carries out `checkpoint.then: stop`: when the last checkpoint is committed, the run leaves this
 * checkpoint for another run (manifest.h), and ends. */
#ifndef RECLINE_STOP_H
#define RECLINE_STOP_H

#include "sim/host/rank/rank.h"

/* Must be called when the shadow world has taken a step with this event and the host has not
 * carried it out yet. Does not return if the run ends here. */
void stop_event(const struct rcl_event *);

/* Notes that a message was sent behind checkpoint `sent` and received behind another checkpoint,
 * `received`, so that it crosses the checkpoints between these two. */
void stop_note_crossing(uint32_t sent, uint32_t received);

#endif
