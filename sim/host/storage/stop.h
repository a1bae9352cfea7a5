/* Carries out `checkpoint.then: stop`: when the last checkpoint has committed, the run leaves it
 * for another run (manifest.h), and ends. */
#ifndef RECLINE_STOP_H
#define RECLINE_STOP_H

#include "sim/host/rank/rank.h"

/* Call it when a step with this event has been taken in the shadow world and is not carried out
 * yet. Does not return if the run ends here. */
void stop_event(const struct rcl_event *);

/* Notes that a message was sent behind checkpoint `sent` and received behind checkpoint `received`,
 * which differ, so that it crosses the checkpoints between them. */
void stop_note_crossing(uint32_t sent, uint32_t received);

#endif
