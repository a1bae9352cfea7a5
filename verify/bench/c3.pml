/* Models the protocol c3, without collectives, for SPIN, in the world of crashes.pml. The model is
 * written by hand from the protocol's source (Bronevetsky et al., ICS 2003, section 3), not from
 * its code.
 *
 * Claim, at the commit: images and logs are stored, each late message is in a log, and each early
 * message is named in its receiver's list, so that it will be suppressed.
 */
#define DRAINS 0
#include "crashes.pml"

#define PLEASE_CHECKPOINT 1
#define MY_SEND_COUNT 2
#define READY 3
#define STOP_LOGGING 4
#define STOPPED 5
#define SUPPRESS 6
#define SUPPRESS_LIST 7
#define REPLAYED 8

#define RUNNING 0
#define CAPTURING 1
#define LOGGING 2
#define WRITING 3
#define RECOVERING 4

/* The epoch of a rank is its line. A message carries its sender's epoch, + 2 if the sender is
 * logging. */
byte phase[2], wanted[2], disk[2]; /* disk: the parts on disk, a bit each */
bool ready[2];
byte sent[2], received[2], early[2], at_line[2], previous[2]; /* counts, by the sender's epoch */
bool told[2];                                                 /* the peer's mySendCount is here */
byte announced[2];
bool logged[2], given[2];      /* logged: the late message is; given: it was given again */
bool named[2], suppress[2];    /* the early message is named; a message is to be suppressed */
bool listed[2], replaying[2];  /* the peer's list has come; the replay is not over */
byte in_progress, ready_ranks, stopped_ranks, replaying_ranks;
int stored_state[2], log_state[2];

/* Encodes the stored state of rank r as a number. If no early message is named, only the part of
 * the state that a start keeps is encoded, as the world merges states from which a start leads to
 * the same. */
inline state_of(r, it)
{
  it = (((((logged[r] * 2 + named[r]) * 2 + previous[r]) * 2 + announced[r]) * 2 + told[r]) * 2 +
    ready[r]) * 2 + at_line[r];
  if
  :: named[r] ->
     it = (((((it * 8 + phase[r]) * 2 + wanted[r]) * 4 + disk[r]) * 2 + sent[r]) * 2 + received[r]) * 2 +
       early[r];
     if
     :: r == 0 -> it = ((it * 2 + in_progress) * 4 + ready_ranks) * 4 + stopped_ranks
     :: else -> it = it * 32
     fi
  :: else -> it = it * 16384
  fi
}

#define LOGGED(r, bit) ((log_state[r] >> (14 + bit)) & 1)

/* Is called after every event, as the replay may be over then. */
inline check_replayed(r)
{
  if
  :: replaying[r] && phase[r] != RECOVERING && (!logged[r] || given[r]) && !suppress[r] ->
     replaying[r] = false;
     if
     :: r == 0 -> replaying_ranks--
     :: else -> tell(r, REPLAYED, 0)
     fi
  :: else
  fi
}

inline stop_logging(r)
{
  if
  :: phase[r] == LOGGING ->
     phase[r] = WRITING;
     stop[r] = 1;
     if
     :: !FENCED(r) -> stored_log[r] = WRITTEN
     :: else
     fi
  :: else
  fi
}

/* Stores the state after the event. */
inline store_log(r)
{
  if
  :: stored_log[r] == WRITTEN && !log_state[r] -> state_of(r, log_state[r])
  :: else
  fi
}

inline count_ready()
{
  ready_ranks++;
  if
  :: ready_ranks == 2 -> tell(0, STOP_LOGGING, 0); stop_logging(0)
  :: else
  fi
}

inline check_ready(r)
{
  if
  :: phase[r] == LOGGING && !ready[r] && told[r] && previous[r] == announced[r] ->
     ready[r] = true;
     if
     :: r == 0 -> count_ready()
     :: else -> tell(r, READY, 0)
     fi
  :: else
  fi
}

inline count_stopped()
{
  stopped_ranks++;
  if
  :: stopped_ranks == 2 -> commit()
  :: else
  fi
}

inline at_start(r)
{
  if
  :: line[r] ->
     phase[r] = RECOVERING;
     held[r] = true;
     if
     :: named[r] -> tell(r, SUPPRESS, 0)
     :: else
     fi;
     tell(r, SUPPRESS_LIST, 0);
     named[r] = false
  :: else
  fi;
  if
  :: r == 0 -> timer = true
  :: else
  fi
}

inline restore(r)
{
  disk[r] = 3;
  at_line[r] = LOGGED(r, 0);
  received[r] = at_line[r];
  ready[r] = LOGGED(r, 1);
  told[r] = LOGGED(r, 2);
  announced[r] = LOGGED(r, 3);
  previous[r] = LOGGED(r, 4);
  named[r] = LOGGED(r, 5);
  logged[r] = LOGGED(r, 6);
  replaying[r] = true;
  if
  :: r == 0 -> replaying_ranks = 2
  :: else
  fi
}

inline at_timer()
{
  if
  :: in_progress || replaying_ranks -> timer = true
  :: else ->
     in_progress = 1;
     wanted[0] = 1;
     ready_ranks = 0;
     stopped_ranks = 0;
     tell(0, PLEASE_CHECKPOINT, 0)
  fi
}

inline at_send(r)
{
  if
  :: suppress[r] && !sent[r] -> suppress[r] = false
  :: else -> transmit(r, line[r] + (phase[r] == LOGGING -> 2 : 0))
  fi;
  sent[r]++;
  check_replayed(r)
}

inline at_receive(r)
{
  if
  :: replaying[r] && logged[r] && !given[r] -> given[r] = true; program[r] = GIVEN
  :: else
  fi;
  check_replayed(r)
}

inline at_place(r)
{
  if
  :: phase[r] == RUNNING && wanted[r] -> phase[r] = CAPTURING; life[r] = CAPTURES
  :: else
  fi
}

inline at_arrived(r)
{
  if
  :: (word & 1) == line[r] ->
     received[r]++;
     if
     :: !(word & 2) -> stop_logging(r)
     :: else
     fi
  :: (word & 1) != line[r] && phase[r] == LOGGING ->
     previous[r]++;
#ifndef NO_LATE_LOG /* left out in the mutant c3-no-late-log */
     logged[r] = true
#endif
  :: else -> early[r]++; named[r] = true
  fi;
  program[r] = GIVEN;
  check_ready(r);
  store_log(r)
}

inline at_control(r)
{
  if
  :: word == PLEASE_CHECKPOINT -> wanted[r] = 1 - line[r]
  :: word == MY_SEND_COUNT -> told[r] = true; announced[r] = value; check_ready(r)
  :: word == READY -> count_ready()
  :: word == STOP_LOGGING -> stop_logging(r)
  :: word == STOPPED -> count_stopped()
  :: word == SUPPRESS -> suppress[r] = true
  :: word == SUPPRESS_LIST -> listed[r] = true; phase[r] = RUNNING; held[r] = false
  :: word == REPLAYED -> replaying_ranks--
  fi;
  store_log(r);
  check_replayed(r)
}

inline at_captured(r)
{
  phase[r] = LOGGING;
  wanted[r] = 0;
  ready[r] = false;
  disk[r] = 0;
  tell(r, MY_SEND_COUNT, sent[r]);
  sent[r] = 0;
  previous[r] = received[r];
  at_line[r] = early[r];
  received[r] = early[r];
  early[r] = 0;
  check_ready(r);
  store_log(r);
  if
  :: stored[r] == WRITTEN -> state_of(r, stored_state[r])
  :: else
  fi
}

inline finish(r)
{
  if
  :: disk[r] == 3 ->
     phase[r] = RUNNING;
     logged[r] = false;
     named[r] = false;
     if
     :: r == 0 -> count_stopped()
     :: else -> tell(r, STOPPED, 0)
     fi
  :: else
  fi
}

inline at_durable(r)
{
  disk[r] = disk[r] | 1;
  finish(r)
}

inline at_durable_log(r)
{
  disk[r] = disk[r] | 2;
  finish(r)
}

inline at_committed()
{
  in_progress = 0;
  timer = true
}

inline lose_memory(r)
{
  phase[r] = RUNNING;
  wanted[r] = 0;
  disk[r] = 0;
  ready[r] = false;
  sent[r] = 0;
  received[r] = 0;
  early[r] = 0;
  at_line[r] = 0;
  previous[r] = 0;
  told[r] = false;
  announced[r] = 0;
  logged[r] = false;
  given[r] = false;
  named[r] = false;
  suppress[r] = false;
  listed[r] = false;
  replaying[r] = false;
  if
  :: r == 0 -> in_progress = 0; ready_ranks = 0; stopped_ranks = 0; replaying_ranks = 0
  :: else
  fi
}

inline lose_image(r)
{
  stored[r] = 0;
  stored_program[r] = 0;
  stored_state[r] = 0
}

inline lose_log(r)
{
  stored_log[r] = 0;
  log_state[r] = 0
}

#define HAS_SENT(p) (p != SENDS)
#define HAS_RECEIVED(p) (p == GIVEN || p == ENDED)
#define IS_CONSISTENT(from, to)                                               \
  (HAS_SENT(stored_program[from]) + LOGGED(to, 5) ==                          \
   HAS_RECEIVED(stored_program[to]) + LOGGED(to, 6))

inline claim()
{
  assert(stored[0] == DURABLE && stored_log[0] == DURABLE);
  assert(stored[1] == DURABLE && stored_log[1] == DURABLE);
  assert(IS_CONSISTENT(0, 1) && IS_CONSISTENT(1, 0))
}

WORLD
