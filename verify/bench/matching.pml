/* Models MPI's matching for SPIN, as the world has it without any checkpoint (protocol none). The
 * model is written by hand. Every event is atomic. A place where a checkpoint could be taken is a
 * step of its own.
 *
 *     default   rank 0: recv any, recv any    ranks 1 and 2: send 0
 *     -DTAGS    rank 0: send 1 tag 1, send 1  rank 1: irecv a 0, recv 0 tag 1, wait a
 *
 * Claim: each message is given to its receiver once.
 */
#define PLACE(r) :: d_step { started[r] -> skip }
#define START(r) :: d_step { !started[r] -> started[r] = true }

bool started[3];

#ifdef TAGS

byte sent;              /* messages sent by rank 0: first tag 1, then tag 0 */
bool came[2];           /* by tag: the message has come */
byte program;           /* how far rank 1 is */
#define POSTS_FIRST 0
#define POSTS_SECOND 1
#define WAITS_SECOND 2
#define WAITS_FIRST 3
#define ENDED 4

active proctype world()
{
end:
  do
  START(0)
  START(1)
  PLACE(0)
  PLACE(1)
  :: d_step { started[0] && sent < 2 -> sent++ }
  :: d_step { started[1] && program == POSTS_FIRST -> program = POSTS_SECOND }
  :: d_step { started[1] && program == POSTS_SECOND -> program = WAITS_SECOND }
  :: d_step { program == WAITS_SECOND && sent >= 1 ->
              came[1] = true; program = (came[0] -> ENDED : WAITS_FIRST) }
  :: d_step { program >= POSTS_SECOND && sent == 2 && !came[0] ->
              came[0] = true;
              if
              :: program == WAITS_FIRST -> program = ENDED
              :: else
              fi;
              assert(program != ENDED || came[1]) }
  od
}

#else

bool sent[3], came[3];
byte program; /* how far rank 0 is: receives posted and messages given */
byte first;   /* whose message came first */

#define POSTED (program == 1 || program == 3)
#define SEND(r) :: d_step { started[r] && !sent[r] -> sent[r] = true }
#define ARRIVE(r)                                                             \
  :: d_step { POSTED && sent[r] && !came[r] ->                                \
              came[r] = true;                                                 \
              program++;                                                      \
              if                                                              \
              :: !first -> first = r                                          \
              :: else                                                         \
              fi;                                                             \
              assert(program < 4 || (came[1] && came[2])) }

active proctype world()
{
end:
  do
  START(0)
  START(1)
  START(2)
  PLACE(0)
  PLACE(1)
  PLACE(2)
  SEND(1)
  SEND(2)
  :: d_step { started[0] && (program == 0 || program == 2) -> program++ }
  ARRIVE(1)
  ARRIVE(2)
  od
}

#endif
