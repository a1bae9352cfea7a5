/* Models the world with crashes for SPIN. Models of protocols above the matching whose recovery is
 * global include this file, which is written by hand. Each of two ranks sends one message to the
 * other and then receives one. There is a checkpoint at any place, and there are CRASHES crashes.
 * Every event is atomic; an event that changes nothing counts, too.
 *
 * A model includes this first and ends with WORLD. For rank r it defines
 *     at_start(r), at_timer(), at_send(r), at_receive(r), at_place(r), at_arrived(r), at_control(r),
 *     at_captured(r), at_durable(r), at_durable_log(r), at_committed():
 *         what the protocol does at an event,
 *     lose_memory(r), lose_image(r), lose_log(r): the state that is lost with memory, image or log,
 *     restore(r): gives the rank the state of the checkpoint,
 *     claim(): what must be true at a commit.
 * Before it includes this file, it defines DRAINS: 1 if messages come to a held program that has
 * not asked for them. States that are equal in the world must be equal here, so a stored state is
 * encoded as the state that a start makes of it.
 */
#ifndef TIMERS
#define TIMERS 1
#endif
#ifndef CRASHES
#define CRASHES 0
#endif

#define NEW 0
#define RUNS 1
#define CAPTURES 2
#define RESTORES 3
#define DEAD 4
#define RESTARTS 5

/* The following numbers tell how far a program is. */
#define SENDS 0
#define RECEIVES 1
#define WAITS 2
#define GIVEN 3 /* it was given the message at the event at which it is captured */
#define ENDED 4
#define ANNOUNCES 5 /* it announces again the receive that was posted in the image */

#define WRITTEN 1
#define DURABLE 2

byte life[2], program[2];
bool held[2], timer;
byte noticed[2], started[2]; /* incarnations: noticed last; of the last start */
byte line[2];                /* checkpoint last captured, or started from */
byte stop[2];                /* checkpoint for which logging has stopped, or started from */
byte image[2];               /* of a capture behind the fence: how far the program was, + 1 */
byte incarnation, target, down, committed, crashes = CRASHES, timers = TIMERS;
bool committing, requested;
byte stored[2], stored_program[2], stored_log[2];
chan data[2] = [CRASHES + 2] of { byte, byte };   /* from each rank: incarnation, word */
chan control[2] = [8] of { byte, byte, byte };    /* incarnation, name, value */

hidden byte from, word, value, goal;

#define FENCED(r) (started[r] < incarnation)
#define BEHIND(r) (noticed[r] != incarnation)
#define LIVES(r) (life[r] == RUNS || life[r] == CAPTURES)
#define FINISHED(r) (LIVES(r) && program[r] == ENDED && !BEHIND(r) && !held[r])

/* A message of incarnation i reaches a rank that is not dead and does not start in a later
 * incarnation. */
#define REACHES(r, i)                                                         \
  (life[r] != DEAD &&                                                         \
   (i) >= ((life[r] == RESTARTS || life[r] == RESTORES) -> incarnation : started[r]))

inline transmit(r, w)
{
  if
  :: REACHES(1 - r, noticed[r]) -> data[r]!noticed[r], w
  :: else
  fi
}

inline tell(r, name, what)
{
  if
  :: REACHES(1 - r, noticed[r]) -> control[r]!noticed[r], name, what
  :: else
  fi
}

inline commit()
{
  if
  :: !FENCED(0) -> committing = true; claim()
  :: else
  fi
}

/* Removes the messages to r of incarnations before i. */
inline forget_older(r, i)
{
  do
  :: nempty(data[1 - r]) ->
     data[1 - r]?<from, word>;
     if
     :: from < i -> data[1 - r]?_, _
     :: else -> break
     fi
  :: empty(data[1 - r]) -> break
  od;
  do
  :: nempty(control[1 - r]) ->
     control[1 - r]?<from, word, value>;
     if
     :: from < i -> control[1 - r]?_, _, _
     :: else -> break
     fi
  :: empty(control[1 - r]) -> break
  od
}

inline wipe(r, how)
{
  life[r] = how;
  program[r] = SENDS;
  held[r] = false;
  started[r] = 0;
  line[r] = 0;
  stop[r] = 0;
  image[r] = 0;
  if
  :: r == 0 -> timer = false
  :: else
  fi;
  lose_memory(r)
}

/* Loses the writes of r that are not on stable storage yet. */
inline cut(r)
{
  if
  :: stored_log[r] == WRITTEN -> lose_log(r)
  :: else
  fi;
  if
  :: stored[r] == WRITTEN -> lose_image(r)
  :: else
  fi
}

inline crash(r)
{
  crashes--;
  goal = (program[r] == ENDED -> ENDED : SENDS); /* the job goes on, but this program had ended */
  wipe(r, DEAD);
  program[r] = goal;
  noticed[r] = 0;
  forget_older(r, 255);
  cut(r);
  if
  :: r == 0 -> committing = false; requested = false
  :: else
  fi
}

inline restart(r)
{
  cut(r);
  if
  :: life[r] == DEAD ->
     life[r] = RESTARTS;
     program[r] = SENDS;
     if
     :: !down -> down = r + 1
     :: else
     fi
  :: else
  fi
}

inline detect()
{
  committing = false;
  requested = false;
  incarnation++;
  target = committed;
  down = 0;
  restart(0);
  restart(1)
}

inline notice(r)
{
  noticed[r] = incarnation;
  forget_older(r, incarnation);
  wipe(r, RESTORES)
}

inline start(r)
{
  goal = (life[r] == NEW -> 0 : target);
  wipe(r, RUNS);
  forget_older(r, incarnation);
  started[r] = incarnation;
  noticed[r] = incarnation;
  if
  :: goal ->
     assert(stored[r] == DURABLE);
     line[r] = 1;
     stop[r] = 1;
     program[r] = (stored_program[r] == WAITS -> ANNOUNCES :
       (stored_program[r] == GIVEN -> ENDED : stored_program[r]));
     restore(r)
  :: else ->
     if
     :: stored_log[r] -> lose_log(r)
     :: else
     fi;
     if
     :: stored[r] -> lose_image(r)
     :: else
     fi
  fi;
  if
  :: incarnation && (life[0] == NEW || (LIVES(0) && !BEHIND(0))) &&
     (life[1] == NEW || (LIVES(1) && !BEHIND(1))) -> target = 0; down = 0
  :: else
  fi;
  at_start(r)
}

inline ring()
{
  if
  :: !FENCED(0) -> timers--
  :: else
  fi;
  timer = false;
  at_timer();
  requested = requested || (!timer && !FENCED(0))
}

/* Lets a program go on that was given its message, unless it is being captured. */
inline go_on(r)
{
  if
  :: program[r] == GIVEN && life[r] == RUNS -> program[r] = ENDED
  :: else
  fi
}

inline captured(r)
{
  life[r] = RUNS;
  line[r] = 1;
  if
  :: FENCED(r) -> image[r] = program[r] + 1
  :: else ->
     stored[r] = WRITTEN;
     stored_program[r] = program[r]
  fi;
  at_captured(r);
  go_on(r)
}

inline arrive(r)
{
  data[1 - r]?_, word;
  at_arrived(r);
  go_on(r)
}

inline hear(r)
{
  control[1 - r]?_, word, value;
  at_control(r);
  go_on(r)
}

#define RANK(r)                                                               \
  :: d_step { life[r] == NEW || life[r] == RESTARTS || (life[r] == RESTORES && !BEHIND(r)) -> \
              start(r) }                                                      \
  :: d_step { (LIVES(r) || life[r] == RESTORES) && BEHIND(r) -> notice(r) }   \
  :: d_step { (LIVES(r) || life[r] == RESTORES) && crashes && !(FINISHED(0) && FINISHED(1)) -> \
              crash(r) }                                                      \
  :: d_step { life[r] == CAPTURES -> captured(r) }                            \
  :: d_step { life[r] == RUNS && !held[r] && program[r] == SENDS -> program[r] = RECEIVES; \
              at_send(r) }                                                    \
  :: d_step { life[r] == RUNS && !held[r] &&                                  \
              (program[r] == RECEIVES || program[r] == ANNOUNCES) ->          \
              program[r] = WAITS; at_receive(r); go_on(r) }                   \
  :: d_step { life[r] == RUNS && !held[r] -> at_place(r) }                    \
  :: d_step { life[r] == RUNS && data[1 - r]?[eval(noticed[r]), _] &&         \
              (program[r] == WAITS || (DRAINS && held[r])) -> arrive(r) }     \
  :: d_step { life[r] == RUNS && control[1 - r]?[eval(noticed[r]), _, _] -> hear(r) } \
  :: d_step { life[r] == RUNS && stored[r] == WRITTEN -> stored[r] = DURABLE; at_durable(r); go_on(r) } \
  :: d_step { life[r] == RUNS && stored_log[r] == WRITTEN -> stored_log[r] = DURABLE;  \
              at_durable_log(r); go_on(r) }

#define WORLD                                                                 \
active proctype world()                                                       \
{                                                                             \
end:                                                                          \
  do                                                                          \
  :: d_step { (life[0] == DEAD || life[1] == DEAD) -> detect() }              \
  :: d_step { life[0] == RUNS && timer && timers -> ring() }                  \
  :: d_step { life[0] == RUNS && committing ->                                \
              committing = false; requested = false; committed = 1; at_committed(); go_on(0) } \
  RANK(0)                                                                     \
  RANK(1)                                                                     \
  od                                                                          \
}
