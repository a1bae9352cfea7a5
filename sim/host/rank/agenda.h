/* Keeps the agenda of the dispatcher: future events, sorted by time, and events of one time by the
 * order of adding. Any actor may add an entry; only the dispatcher takes entries out. */
#ifndef RECLINE_AGENDA_H
#define RECLINE_AGENDA_H

#include "sim/host/rank/rank.h"

enum entry_kind {
  ENTRY_CRASH,
  ENTRY_DETECT,
  ENTRY_END, /* the end of a process that was declared dead */
  ENTRY_RESTART,
  ENTRY_RETURN, /* a node has been repaired and is a spare again */
  ENTRY_REPAIRED,
  ENTRY_SERVES, /* the server is repaired */
  ENTRY_LIMIT,  /* limits.simulated */
  ENTRY_NOTICE
};

struct entry {
  double time; /* seconds of simulated time */
  uint64_t order;
  enum entry_kind kind;
  int rank; /* CRASH: the rank, or -1 if a node fails by law */
  int node; /* CRASH by law, RETURN: index of the node in the layout */
  /* CRASH by law: the zone whose nodes all crash, or -1 for the node alone */
  int zone;
  /* CRASH by law: random number from 0 to below 1 that selects the rank */
  double chance;
  bool follows;                  /* CRASH by law: the crash follows another one in a burst */
  unsigned stream;               /* CRASH by law: the stream of the node (failures.h) */
  const struct failure *failure; /* CRASH, DETECT, END: the failure in the scenario */
  uint32_t life;   /* DETECT, RESTART: life of the rank; if the rank has another life now, the entry
                      is about an earlier crash */
  uint32_t repair; /* REPAIRED: number of the repair */
  struct message notice; /* NOTICE: kind and fields */
};

/* ---- for all ---- */

/* Adds a copy of the entry. The dispatcher may run before this returns. */
void agenda_add(const struct entry *);

/* Makes the dispatcher send a notice, with the kind and the fields of `notice`, to `rank` in its
 * present life. */
void agenda_tell(int rank, const struct message *notice);

/* Adds the end, at `time`, of the repair with that number (ulfm.h). */
void agenda_repair_at(double time, uint32_t repair);

/* Wakes the dispatcher, because the run is over, or a rank has had its turn in a run by
 * schedule. */
void agenda_wake(void);

/* Returns whether a failure, its detection, a restart or a repair is on the agenda. Failures by law
 * do not count, because another one always follows. The end of a limit does not count either. */
bool agenda_has_failure(void);

/* ---- for the dispatcher ---- */

/* Prepares the agenda. Call it before the dispatcher waits for the first time. */
void agenda_begin(void);

/* Takes out and returns the first entry whose time has come, or returns NULL if there is none. The
 * caller frees the entry with g_free(). */
struct entry *agenda_take(void);

/* Waits until the time of the first entry, or until an entry is added or agenda_wake() is called.
 */
void agenda_wait(void);

#endif
