/* Describes a rank as the layer sees it. The layer lies between a real MPI program and SMPI, ahead
 * of SMPI in the link order:
 *
 *      program of rank r     (its globals, stack and arena: rolled back as bytes)
 *          | MPI_Send, MPI_Wait, ...
 *     sim/mpi      the MPI calls, in terms of requests and communicators of the layer:
 *          |       init.c, wrap_*.c, fortran.c, p2p.c, collective_call.c
 *     sim/host     one protocol per rank: events in, actions carried out
 *          |       host*.c             the host proper, with the one loop in which a program waits
 *          |       shadow.c            the shadow world, in which the protocols are stepped
 *          |       matching.c          posted receives against messages that no receive has taken
 *          |       request.c           how a receive is filled
 *          |       collective_messages.c, piggyback_collectives.c
 *          |                           collectives
 *          |       storage.c           checkpoints
 *          |       copy_cost.c, rank_clock.c
 *          |                           what checkpoints cost, and when they are taken
 *          |       stop.c, restart.c   a checkpoint for another run, and from one
 *          |       held_output.c       what programs tell the outside, until it may leave
 *          |       dispatcher.c, agenda.c, ulfm.c, schedule.c
 *          |                           failures and notices
 *          |       faults.c, agreement.c
 *          |                           failures that the program repairs itself
 *          |       run_end.c, accounting.c, activity.c, run_phases.c, result_notes.c
 *          |                           the result
 *     sim/net      transport.c         envelopes and transfers
 *          |       wire.c, control_mail.c
 *          |                           how envelopes and transfers travel
 *          |       payload.c, placement.c, machine.c
 *          |                           bytes; nodes; clock, cores and disks
 *     sim/memory   heap, images, files, data of libraries: what a rollback puts back as bytes
 *
 * What belongs to a rank lies in two places, and a rollback treats them differently:
 *
 *     struct mpi_state   what its program can see (mpi_state.h), in the rank's arena, so that an
 *                        image of the arena holds it
 *     struct rank        everything else: transport, images, notices of the dispatcher. In libc
 *                        memory; host_rollback.c says what a rollback does to each field.
 *
 * The layer is loaded once and its globals are shared by all ranks. Ranks are coroutines that
 * change only inside calls of SMPI and SimGrid, so nothing here needs a lock.
 *
 * A frame of the layer that waits is captured with the program's stack. It may hold pointers to
 * struct rank, which never moves, and to arena memory; never to messages. */
#ifndef RECLINE_RANK_H
#define RECLINE_RANK_H

#include "sim/host/rank/mpi_state.h"
#include "sim/memory/die.h"
#include "sim/memory/heap.h"
#include "sim/memory/image.h"
#include "sim/net/machine.h"
#include "sim/net/message.h"
#include "world/result/result.h"
#include "world/rules/world.h"
#include "world/scenario/scenario.h"

#include <glib.h>
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>

/* Holds a payload for the protocol. */
struct slot {
  struct payload *payload;
  int32_t tag;
  int source, comm;
  bool sent;      /* the payload was sent by this rank, not to this rank */
  uint64_t order; /* number in the order in which payloads were kept */
  bool waiting;   /* a receive has yet to get the message, so a probe finds it */
};

/* Describes one part of a checkpoint, as stored, which START gives back. */
struct record {
  uint32_t checkpoint;
  enum rcl_part part;
  bool durable;
  GHashTable *slots; /* slot number -> struct slot, with its own reference to the payload */
};

/* Holds one captured image. */
struct capture {
  uint32_t checkpoint;
  struct image *image; /* the image, or NULL at the application level */
  struct saved *saved; /* the saved data at the application level (application.h), or NULL */
  /* iteration at whose beginning the image was captured, or 0 if it was captured elsewhere */
  uint32_t iteration;
  double bytes;  /* size of the image on storage in bytes, unless the scenario gives it */
  double copied; /* number of bytes that were copied in memory to capture the image */
  double rest;   /* number of bytes that will be copied if the image is stored */
  /* Below the matching: struct message, the messages that were delivered before the capture. */
  GQueue unexpected;
  GPtrArray *contents;  /* struct line_content (node_memory.h), or NULL if there is none */
  struct run_time time; /* account of time up to the capture */
};

enum activity {
  ACTIVITY_COMPUTE,
  ACTIVITY_MPI,
  ACTIVITY_PROTOCOL,
  ACTIVITY_CHECKPOINT,
  ACTIVITY_RESTART
};

/* Says what the timer of a rank waits for: its time; a step, if the checkpoint was put off; or an
 * event of the program, if nothing has changed since the last image was captured. */
enum timer_waits { TIMER_WAITS_FOR_TIME, TIMER_WAITS_FOR_STEP, TIMER_WAITS_FOR_PROGRAM };

/* Says whether a rank takes part in the repair of the communicator (ulfm.h). */
enum presence { PRESENCE_NONE, PRESENCE_AWAITED, PRESENCE_HERE };

enum { NO_CONTEXT = -1 }; /* a kept result of a collective, which no receive and no probe finds */

_Static_assert((int)MESSAGE_WORDS == (int)RCL_WORDS,
               "a message has room for the words of the protocols");

struct rank {
  int index;
  bool active; /* between MPI_Init and MPI_Finalize */
  struct mpi_state *mpi;
  struct arena *arena;
  struct image_source *source;
  sg_actor_t actor;

  /* transport */
  struct transport *transport;
  GQueue inbox; /* struct message, in the order of arrival */
  /* program messages that no receive has taken; below the matching, only messages that the
   * protocol has delivered, which belong to the image */
  GQueue unexpected;
  GQueue waiting; /* below the matching: messages that have left their channels for slots, and
                     are not yet delivered */
  GQueue bypass_arrived; /* messages that bypass the protocol and that no receive has taken */
  GArray *rejoined;      /* struct rejoined */
  GArray *piggybacked;   /* piggyback.h, or NULL if there is none so far */
  GQueue future;         /* messages of incarnations that this rank has not reached yet */
  GQueue delayed;        /* with check.hazards: control messages that others overtake */
  uint64_t delays;       /* number of delays that were drawn */
  bool rematch;          /* a message or a receive is new since the last look */
  bool reannounce;       /* after a restart: posted receives must be announced again */
  bool alert;            /* the rank waits for more than posted receives and sends */

  /* what the protocol has asked for */
  bool place_due; /* the protocol must be offered a SAFE_POINT */
  struct {
    uint32_t checkpoint; /* checkpoint of the alarm, or 0 if no alarm is set */
    double at;           /* seconds of simulated time */
  } alarm;               /* with clocks only */
  struct {
    uint32_t serial; /* how often the timer was set */
    struct requests {
      uint32_t told; /* how often the timer went off */
      double last;   /* time at which the timer went off last, in simulated seconds */
      bool called;   /* the program has asked for a checkpoint, and the protocol was not told yet */
    } now, before;   /* `before`: what `now` was until the timer went off last */
    bool open;       /* the checkpoint of the last request is not on stable storage yet */
    enum timer_waits waits;
    double due;      /* if the timer waits for a step: the earliest time at which it goes off */
    bool moved;      /* the program has had an event since the rank's last image was captured */
    double computed; /* seconds that the program had computed at that capture */
    uint32_t sent_full,
        events_full; /* fill levels for which a checkpoint was already requested (shadow_fill()) */
  } timer;           /* timer.h */
  bool iterates;     /* the safe point that is offered begins an iteration */
  struct rcl_actions actions;

  double first_speed; /* speed of a core of the rank's first node, in flop/s */
  /* seconds that the protocol takes for each message, if it handles messages */
  double handling;
  /* seconds of a record and of a match, if the protocol counts these operations */
  double record_s, match_s;
  double probe_s;        /* seconds of a probe for a request of a checkpoint */
  double work_s;         /* seconds of counted operations that the rank has not spent yet */
  struct rcl_work *work; /* operations by peer, or NULL if none were counted */
  uint64_t steps;        /* number of steps of the rank's protocol so far */
  /* by peer: number of the step that sent the last control message to the peer */
  uint64_t *told;

  /* storage */
  GHashTable *slots;      /* slot number -> struct slot */
  unsigned slots_waiting; /* number of slots that wait for a receive */
  GPtrArray *records;     /* struct record */
  /* struct capture; the first one is the beginning of the program (RCL_FRESH) */
  GPtrArray *captures;
  /* Queues of struct write; the first write of a queue is under way. With global recovery only one
   * queue is used. */
  GQueue writes[RCL_PARTS];
  void *logged; /* with independent recovery: the protocol's state as it was last written */
  struct {
    uint32_t checkpoint;
    double bytes; /* 0 if there is none */
    /* an image that was captured while the program was held; it needs no copy if the program is
     * still held when the image is stored */
  } uncopied;
  size_t image_bytes; /* size of the rank's largest image in bytes, without the RCL_FRESH one */

  /* failures */
  uint32_t life; /* number of crashes so far */
  /* incarnation of the messages that the rank sends, as of its last step */
  uint16_t sends_in;
  /* checkpoint of the recovery line behind which the rank sends messages */
  uint32_t sends_behind;
  bool dead; /* from a crash to its restart notice */
  /* the failure that struck the rank before its first start, or NULL if none did */
  const struct failure *doom;
  enum crash_leaves doom_leaves;
  struct computation computation;
  struct computation reading; /* the reading of an image, which ends early if this rank dies or,
                                 with global recovery, another rank dies */
  /* `reads_server`: the rank reads from the server; `reads_again`: it reads again, because the
   * server has failed meanwhile */
  bool reads_server, reads_again;
  bool notified; /* a DOWN is on its way, and computation waits for it */
  /* the rank waits for another checkpoint to which it can go back */
  bool stranded;
  bool down_due; /* with independent recovery: the rank has events DOWN to take */
  bool ended;    /* all programs are in MPI_Finalize */
  /* failures that the program itself has to repair (faults.h), or NULL if there are none yet */
  struct faults *faults;
  GPtrArray *agreements; /* struct agreement, or NULL if there is none yet */

  struct {     /* application level (application.h) */
    bool on;   /* the program runs again from the beginning, and its data are not put back yet */
    bool died; /* with independent recovery: the rank has died since its image was captured */
    uint32_t checkpoint; /* the checkpoint to whose image the rank goes back */
    const struct saved *saved;
  } restart;
  int place; /* at the application level: the place where the program is, enum place */

  enum presence presence;
  /* Outputs that are held (held_output.c), by number. They have left the program, so rollbacks do
   * not change them. */
  GQueue held;
  GRand *random; /* the generator of recline_choose(), which does not go back */

  /* accounting */
  bool stopped;  /* the rank waits, and its program is held or waits for storage */
  bool recovers; /* the program has been held since a failure or a start */
  bool quiesces; /* the program is held for a capture that has not begun */
  bool absent;   /* the rank has crashed or goes back, and has not started again */
  enum activity activity;
  double since;
  struct run_time time;
  struct run_copies copies;
  /* number of iterations that the program has executed; repeated iterations count again */
  uint64_t iterations;
};

struct layer {
  bool on;    /* RECLINE_SCENARIO is set, so the layer is not inert */
  int ranks;  /* number of ranks of the program */
  bool ended; /* all programs have ended and know that */
  int left;   /* number of ranks that have left MPI_Finalize */
  struct scenario *scenario;
  struct rank *rank;
  /* simulated seconds of the runs that this run continues, or 0 if it continues none */
  double before;
  const char *result_file; /* file for the result of the run, or NULL if there is none */
  /* A number of bytes. Under `auto`, words travel with the data of a call whose largest message is
   * smaller. */
  double combined_below;
  struct result result;
  struct exceptions *exceptions; /* the place where the C++ library keeps exceptions */
  bool tables;                   /* tables of SMPI's algorithms are made, if they are needed */
  bool redistributes;            /* the run goes on from a checkpoint of another number of ranks */
  bool repairs;                  /* the program repairs itself after failures (faults.h) */
  bool parked;                   /* some rank had exceptions when it called the layer */
  locale_t plain;                /* the locale "C" */
  const char *call;              /* the call that the program has made last */
  /* omp_in_parallel() of the program's OpenMP, or NULL if it has none */
  int (*in_parallel)(void);
  bool locales_parked; /* some rank has set a locale for its thread */
  /* The host calls these two functions around images. Before a capture, collect() copies the state
   * that libraries hold for the rank into the rank's own memory. After a restore, restored() notes
   * that libraries hold nothing of this rank. */
  void (*collect)(struct rank *);
  void (*restored)(struct rank *);
  /* Ends the process of a rank that has died for good. The host calls it when all other ranks have
   * ended. */
  void (*perished)(struct rank *);
};

extern struct layer layer;

/* Returns whether main has begun again, or has begun on another number of ranks, and the data of
 * the checkpoint are not put back yet. */
static inline bool rank_repeats(const struct rank *r)
{
  return r->restart.on || (layer.redistributes && !r->mpi->redistributed);
}

/* Makes `r` the calling rank; NULL means that there is none. */
void rank_set_self(struct rank *r);

/* exceptions_park() saves the exceptions of the calling rank in its MPI state; exceptions_return()
 * puts them back. */
void exceptions_park(void);
void exceptions_return(void);

/* Notes a locale that the program of the calling rank has set for its thread. */
void locale_park(locale_t);
locale_t locale_parked(void);

/* Every entry point of the layer begins with layer_enter() and ends with layer_leave(), which gets
 * what layer_enter() returned. There are three reasons: memory that SMPI allocates must not lie in
 * the arena; other ranks must not see exceptions of this rank; and numbers in platforms, traces and
 * results have a decimal point, whatever locale the program has set. */
static inline struct arena *layer_enter(void)
{
  struct arena *arena = heap_leave();
  locale_t locale = arena ? uselocale(layer.plain) : LC_GLOBAL_LOCALE;
  if (locale != LC_GLOBAL_LOCALE && locale != layer.plain)
    locale_park(locale);
  if (arena && (layer.exceptions->caught || layer.exceptions->uncaught))
    exceptions_park();
  return arena;
}

static inline void layer_leave(struct arena *arena)
{
  if (arena && layer.parked)
    exceptions_return();
  if (arena)
    uselocale(layer.locales_parked ? locale_parked() : LC_GLOBAL_LOCALE);
  heap_enter(arena);
}

/* Returns whether this run has a scenario, so that the layer is not inert. The answer is known
 * before MPI_Init. */
bool layer_wanted(void);

/* Returns the running rank, or NULL before MPI_Init, after MPI_Finalize and if the layer is
 * inert. */
struct rank *rank_self(void);

/* rank_alloc() returns zeroed memory in the arena of the rank, which an image holds;
 * rank_alloc_unset() returns memory with its former contents. Both end the run if there is no
 * memory. */
void *rank_alloc(struct rank *, size_t bytes);
void *rank_alloc_unset(struct rank *, size_t bytes);
void rank_free(void *);

/* Begins an activity. Adds the time since the last switch to the previous activity, and returns
 * that activity. */
enum activity rank_switch(struct rank *, enum activity);

#endif
