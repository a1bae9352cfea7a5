/* The world with crashes for SPIN, by hand: included by the models of protocols above the matching whose
 * recovery is global. Two ranks, each sends one message to the other and then receives one; a
 * checkpoint at any place, CRASHES crashes. Every event is atomic, and one that changes nothing is
 * an event, too.
 *
 * A model includes this first and ends with WORLD. For rank r it defines
 *     at_start(r), at_timer(), at_send(r), at_receive(r), at_place(r), at_arrived(r), at_control(r),
 *     at_captured(r), at_durable(r), at_durable_log(r), at_committed(): what the protocol does then,
 *     lose_memory(r), lose_image(r), lose_log(r): what of its state is lost with them,
 *     restore(r): it has the state of the checkpoint,
 *     claim(): what must be so at a commit;
 * and, before that, DRAINS: whether messages come to a program that is held, and has not asked.
 * Equal states of the world are equal states here: what is stored is what a start makes of it.
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

/* How far a program is. */
#define SENDS 0
#define RECEIVES 1
#define WAITS 2
#define GIVEN 3 /* what it waits for, by the event that has it captured */
#define ENDED 4
#define ANNOUNCES 5 /* once more the receive that was posted in the image */

#define WRITTEN 1
#define DURABLE 2

byte life[2], program[2];
bool held[2], timer;
byte noticed[2], started[2]; /* incarnations: the last one noticed, and that of the last start */
byte line[2];                /* checkpoint last captured, or started from */
byte stop[2];                /* the last one that logging has stopped for, or started from */
byte image[2];               /* captured where storage is fenced: how far the program was, + 1 */
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

/* A message of incarnation i gets to a rank that is not dead, nor starts in a later one. */
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

/* Messages to r of incarnations before i are gone. */
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

/* What was not on stable storage yet is cut. */
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
  goal = (program[r] == ENDED -> ENDED : SENDS); /* the job has not ended, but its program had */
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

/* A program that was given what it waits for goes on, unless it is being captured. */
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
