/* The protocol bookmark for SPIN, by hand, from its source (Hursey et al., HPDC 2009) and not from its
 * code: two ranks, each sends one message to the other and then receives one; a checkpoint at any
 * place, no crash. Every event is atomic.
 *
 * What a rank has written counts as state: how far its program was, how many messages had come, and
 * whether one of them was kept.
 *
 * Claim, at the commit: both images are written, and no message is under way between them.
 */
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

/* How far a program is. */
#define SENDS 0
#define RECEIVES 1
#define WAITS 2
#define GIVEN 3 /* what it waits for, by the event that has it captured */
#define ENDED 4

bool started[2], held[2];
byte program[2];
byte phase[2];
byte received[2];
bool kept[2];
bool told[2];     /* the peer's bookmark is here, */
byte bookmark[2]; /* and how many messages it counts */
bool drained[2];  /* all that it counts has come */
bool taken[2];    /* the peer said the same */
bool asked, committing, committed;
byte done;
chan data[2] = [1] of { bit };           /* from each rank to the other */
chan control[2] = [4] of { byte, byte };

bool imaged[2], written[2];
byte image_program[2], image_received[2];
bool image_kept[2];

hidden byte word, number;

#ifdef BLIND /* as the mutant bookmark-blind */
#define ALL_CAME(r) told[r]
#else
#define ALL_CAME(r) (told[r] && received[r] == bookmark[r])
#endif

inline go_on(r)
{
  if
  :: program[r] == GIVEN && phase[r] != CAPTURING -> program[r] = ENDED
  :: else
  fi
}

inline drain(r)
{
  if
  :: phase[r] == DRAINING && ALL_CAME(r) && !drained[r] ->
     drained[r] = true;
     control[r]!DRAINED, 0
  :: else
  fi;
  if
  :: phase[r] == DRAINING && drained[r] && taken[r] -> phase[r] = CAPTURING
  :: else
  fi
}

inline place(r)
{
  if
  :: phase[r] == WANTED ->
     phase[r] = DRAINING;
     held[r] = true;
     control[r]!BOOKMARK, (program[r] != SENDS);
     drain(r)
  :: else
  fi
}

inline take_image(r)
{
  phase[r] = WRITING;
  imaged[r] = true;
  image_program[r] = program[r];
  image_received[r] = received[r];
  image_kept[r] = kept[r];
  go_on(r)
}

inline count()
{
  done++;
  if
  :: done == 2 ->
     committing = true;
     assert(written[0] && written[1]);
     assert(image_received[0] == (image_program[1] != SENDS));
     assert(image_received[1] == (image_program[0] != SENDS))
  :: else
  fi
}

inline release(r)
{
  phase[r] = RUNNING;
  held[r] = false
}

inline arrive(r)
{
  data[1 - r]?_;
  received[r]++;
  if
  :: program[r] == WAITS -> program[r] = GIVEN
  :: else -> kept[r] = true
  fi;
  drain(r);
  go_on(r)
}

inline hear(r)
{
  control[1 - r]?word, number;
  if
  :: word == REQUEST -> phase[r] = WANTED
  :: word == BOOKMARK -> told[r] = true; bookmark[r] = number; drain(r)
  :: word == DRAINED -> taken[r] = true; drain(r)
  :: word == DONE -> count()
  :: word == RELEASE -> release(r)
  fi
}

inline post(r)
{
  if
  :: kept[r] -> kept[r] = false; program[r] = ENDED
  :: else -> program[r] = WAITS
  fi
}

#define RUNS(r) (started[r] && phase[r] != CAPTURING)
#define RANK(r)                                                               \
  :: d_step { !started[r] -> started[r] = true }                              \
  :: d_step { started[r] && !held[r] && program[r] == SENDS ->                \
              program[r] = RECEIVES; data[r]!0 }                              \
  :: d_step { started[r] && !held[r] && program[r] == RECEIVES -> post(r) }   \
  :: d_step { started[r] && !held[r] -> place(r) }                            \
  :: d_step { RUNS(r) && nempty(data[1 - r]) && (held[r] || program[r] == WAITS) -> arrive(r) } \
  :: d_step { RUNS(r) && nempty(control[1 - r]) -> hear(r) }                  \
  :: d_step { phase[r] == CAPTURING -> take_image(r) }

active proctype world()
{
end:
  do
  :: d_step { started[0] && !asked -> asked = true; phase[0] = WANTED; control[0]!REQUEST, 0 }
  :: d_step { phase[0] == WRITING -> phase[0] = WAITING; written[0] = true; count() }
  :: d_step { phase[1] == WRITING -> phase[1] = WAITING; written[1] = true; control[1]!DONE, 0 }
  :: d_step { committing ->
              committing = false; committed = true; done = 0;
              control[0]!RELEASE, 0; release(0) }
  RANK(0)
  RANK(1)
  od
}
