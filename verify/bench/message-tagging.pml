/* Models the protocol message-tagging for SPIN, in the world of crashes.pml. The model is written
 * by hand from the protocol's source ("Event Logging", sections 2.2.2 and 6), not from its code.
 *
 * Claim, at the commit: images and logs are stored. Each message in transit is in a log, and each
 * orphan is named in one.
 */
#define DRAINS 1
#include "crashes.pml"

#define MARKER 1
#define DONE 2

#define RUNNING 0
#define CAPTURING 1
#define LOGGING 2
#define WRITING 3
#define RECOVERING 4

/* The index of a rank is its line. */
byte phase[2], wanted[2], disk[2]; /* disk: the parts on disk, a bit each */
bool in_progress;
byte done;
byte sent[2], received[2], early[2], previous[2]; /* counts, by the sender's interval */
bool told[2];                                     /* the peer's marker is here */
byte announced[2];
bool kept[2], late[2], given[2]; /* a message is held for the program, or for the log */
byte kept_index[2];
bool orphan[2], again[2]; /* an orphan was received; it is to come again */
int stored_state[2], log_state[2];

/* Encodes the stored state of rank r as a number. If there is neither a message nor an orphan, only
 * the part of the state that a start keeps is encoded, as the world merges states from which a
 * start leads to the same. */
inline state_of(r, it)
{
  it = (((((((kept[r] * 2 + late[r]) * 2 + given[r]) * 2 + kept_index[r]) * 2 + orphan[r]) * 2 +
    previous[r]) * 2 + announced[r]) * 2 + told[r]);
  if
  :: kept[r] || orphan[r] ->
     it = (((((it * 8 + phase[r]) * 2 + wanted[r]) * 4 + disk[r]) * 2 + sent[r]) * 2 + received[r]) * 2 +
       early[r];
     it = (it * 2 + (r == 0 && in_progress)) * 4 + (r == 0 -> done : 0)
  :: else -> it = it * 4096
  fi
}

#define LOGGED(r, bit) ((log_state[r] >> (12 + bit)) & 1)

inline at_start(r)
{
  if
  :: again[r] -> phase[r] = RECOVERING; held[r] = true
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
  told[r] = LOGGED(r, 0);
  announced[r] = LOGGED(r, 1);
  previous[r] = LOGGED(r, 2);
  again[r] = LOGGED(r, 3);
  received[r] = again[r];
  kept[r] = LOGGED(r, 7) && LOGGED(r, 6);
  kept_index[r] = kept[r] && LOGGED(r, 4)
}

inline want(r, index)
{
  if
  :: index > line[r] -> wanted[r] = index
  :: else
  fi
}

inline count()
{
  done++;
  if
  :: done == 2 -> commit()
  :: else
  fi
}

inline check_complete(r)
{
  if
  :: phase[r] == LOGGING && told[r] && previous[r] == announced[r] ->
     phase[r] = WRITING;
     if
     :: !FENCED(r) -> stored_log[r] = WRITTEN; state_of(r, log_state[r])
     :: else
     fi
  :: else
  fi
}

inline at_timer()
{
  if
  :: in_progress || phase[0] != RUNNING -> timer = true
  :: else -> in_progress = true; done = 0; want(0, 1)
  fi
}

inline at_send(r)
{
  transmit(r, line[r]);
  sent[r]++
}

/* Gives the program a message with that index. */
inline give(r, index)
{
#ifndef NO_ORPHANS /* left out in the mutant message-tagging-no-orphans */
  orphan[r] = orphan[r] || index > line[r]
#else
  skip
#endif
}

inline at_receive(r)
{
  if
  :: kept[r] && !given[r] ->
     program[r] = GIVEN;
     give(r, kept_index[r]);
     if
     :: late[r] -> given[r] = true
     :: else -> kept[r] = false; kept_index[r] = 0
     fi
  :: else
  fi
}

inline at_place(r)
{
  if
  :: phase[r] == RUNNING && wanted[r] -> phase[r] = CAPTURING; life[r] = CAPTURES
  :: else
  fi
}

/* Counts an orphan that comes again for the interval in which it was first sent. */
inline come_again(r)
{
  again[r] = false;
  if
  :: word != line[r] -> received[r]--; early[r]++; give(r, word); want(r, word)
  :: else
  fi;
  phase[r] = RUNNING;
  held[r] = false
}

inline at_arrived(r)
{
  if
  :: again[r] -> come_again(r)
  :: else ->
     if
     :: word == line[r] -> received[r]++
     :: word > line[r] -> early[r]++; want(r, word)
     :: else -> previous[r]++
     fi;
     if
     :: word < line[r] || program[r] != WAITS ->
        kept[r] = true;
        late[r] = word < line[r];
        given[r] = program[r] == WAITS;
        kept_index[r] = word
     :: else
     fi;
     if
     :: program[r] == WAITS -> program[r] = GIVEN; give(r, word)
     :: else
     fi;
     check_complete(r)
  fi
}

inline at_control(r)
{
  if
  :: word == MARKER -> told[r] = true; announced[r] = value; want(r, 1); check_complete(r)
  :: word == DONE -> count()
  fi
}

inline at_captured(r)
{
  phase[r] = LOGGING;
  wanted[r] = 0;
  disk[r] = 0;
  late[r] = kept[r] && kept_index[r] < line[r];
  tell(r, MARKER, sent[r]);
  sent[r] = 0;
  previous[r] = received[r];
  received[r] = early[r];
  early[r] = 0;
  check_complete(r);
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
     orphan[r] = false;
     late[r] = false;
     if
     :: given[r] -> kept[r] = false; given[r] = false; kept_index[r] = 0
     :: else
     fi;
     if
     :: r == 0 -> count()
     :: else -> tell(r, DONE, 0)
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
  in_progress = false;
  done = 0;
  timer = true
}

inline lose_memory(r)
{
  phase[r] = RUNNING;
  wanted[r] = 0;
  disk[r] = 0;
  sent[r] = 0;
  received[r] = 0;
  early[r] = 0;
  previous[r] = 0;
  told[r] = false;
  announced[r] = 0;
  kept[r] = false;
  late[r] = false;
  given[r] = false;
  kept_index[r] = 0;
  orphan[r] = false;
  again[r] = false;
  if
  :: r == 0 -> in_progress = false; done = 0
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
  (HAS_SENT(stored_program[from]) + LOGGED(to, 3) ==                          \
   HAS_RECEIVED(stored_program[to]) + (LOGGED(to, 7) && LOGGED(to, 6)))

inline claim()
{
  assert(stored[0] == DURABLE && stored_log[0] == DURABLE);
  assert(stored[1] == DURABLE && stored_log[1] == DURABLE);
  assert(IS_CONSISTENT(0, 1) && IS_CONSISTENT(1, 0))
}

WORLD
