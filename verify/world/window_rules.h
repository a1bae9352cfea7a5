/* Windows of one-sided communication: what is the same for those of simulated programs (sim/mpi,
 * whose windows are memory) and those of scripts (world_windows.c, whose windows are a few numbers
 * in a state). */
#ifndef RECLINE_WINDOW_RULES_H
#define RECLINE_WINDOW_RULES_H

/* Tags on the communicator of a window. */
enum window_tag {
  TAG_POSTED,
  TAG_BYTES,
  TAG_ACCESSES,
  TAG_ANSWER,
  TAG_PASSIVE,
  TAG_REPLY,
  TAG_MEET
};

#endif
