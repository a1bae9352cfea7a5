/* Models the protocol bookmark for SPIN, in the world of crashes.pml. The model is written by hand
 * from the protocol's source (Hursey et al., HPDC 2009), not from its code.
 *
 * What a rank has stored is part of the state: how far its program was, how many messages had come,
 * and whether one of them was kept.
 *
 * Claim, at the commit: both images are stored, and no message crosses from one to the other.
 */
#define DRAINS 1
#include "crashes.pml"

#define REQUEST 1
#define BOOKMARK 2
#define DRAINED 3
#define DONE 4
#define RELEASE 5

#define RUNNING 0
#define WANTED 1
#define DRAINING 2
#define CAPTURING 3
#define WRITING 4
#define WAITING 5

byte phase[2];
byte received[2];
bool kept[2];
bool told[2];     /* the peer's bookmark is here */
byte bookmark[2]; /* number of messages that the peer's bookmark counts */
bool drained[2];  /* all messages that it counts have come */
bool taken[2];    /* the peer has said `drained` */
byte done;
byte stored_received[2];
bool stored_kept[2];

#ifdef BLIND /* the mutant bookmark-blind */
#define ALL_CAME(r) told[r]
#else
#define ALL_CAME(r) (told[r] && received[r] == bookmark[r])
#endif
#define HAS_SENT(p) (p != SENDS)

inline drain(r)
{
  if
  :: phase[r] == DRAINING && ALL_CAME(r) && !drained[r] ->
     drained[r] = true;
     tell(r, DRAINED, 0)
  :: else
  fi;
  if
  :: phase[r] == DRAINING && drained[r] && taken[r] -> phase[r] = CAPTURING; life[r] = CAPTURES
  :: else
  fi
}

inline at_place(r)
{
  if
  :: phase[r] == WANTED ->
     phase[r] = DRAINING;
     held[r] = true;
     tell(r, BOOKMARK, HAS_SENT(program[r]));
     drain(r)
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

inline release(r)
{
  phase[r] = RUNNING;
  held[r] = false;
  if
  :: r == 0 -> done = 0
  :: else
  fi
}

inline at_arrived(r)
{
  received[r]++;
  if
  :: program[r] == WAITS -> program[r] = GIVEN
  :: else -> kept[r] = true
  fi;
  drain(r)
}

inline at_control(r)
{
  if
  :: word == REQUEST -> phase[r] = WANTED
  :: word == BOOKMARK -> told[r] = true; bookmark[r] = value; drain(r)
  :: word == DRAINED -> taken[r] = true; drain(r)
  :: word == DONE -> count()
  :: word == RELEASE -> release(r)
  fi
}

inline at_receive(r)
{
  if
  :: kept[r] -> kept[r] = false; program[r] = GIVEN
  :: else
  fi
}

inline at_captured(r)
{
  phase[r] = WRITING;
  if
  :: !FENCED(r) -> stored_received[r] = received[r]; stored_kept[r] = kept[r]
  :: else
  fi
}

inline at_durable(r)
{
  phase[r] = WAITING;
  if
  :: r == 0 -> count()
  :: else -> tell(r, DONE, 0)
  fi
}

inline lose_memory(r)
{
  phase[r] = RUNNING;
  received[r] = 0;
  kept[r] = false;
  told[r] = false;
  bookmark[r] = 0;
  drained[r] = false;
  taken[r] = false;
  if
  :: r == 0 -> done = 0
  :: else
  fi
}

inline restore(r)
{
  received[r] = stored_received[r];
  kept[r] = stored_kept[r];
  told[r] = true;
  bookmark[r] = stored_received[r];
  drained[r] = true;
  taken[r] = true
}

inline at_start(r)
{
  if
  :: r == 0 -> timer = true
  :: else
  fi
}

inline at_timer()
{
  if
  :: phase[0] == RUNNING -> done = 0; phase[0] = WANTED; tell(0, REQUEST, 0)
  :: else -> timer = true
  fi
}

inline at_send(r) { transmit(r, 0) }
inline at_durable_log(r) { skip }

inline at_committed()
{
  tell(0, RELEASE, 0);
  release(0);
  timer = true
}

inline lose_image(r)
{
  stored[r] = 0;
  stored_program[r] = 0;
  stored_received[r] = 0;
  stored_kept[r] = false
}

inline lose_log(r) { skip }

inline claim()
{
  assert(stored[0] == DURABLE && stored[1] == DURABLE);
  assert(stored_received[0] == HAS_SENT(stored_program[1]));
  assert(stored_received[1] == HAS_SENT(stored_program[0]))
}

WORLD
