/* The MPI layer: between a real MPI program and SMPI, ahead of SMPI in the link order.
 *
 *      program of rank r            (its globals, stack and arena: rolled back as bytes)
 *          | MPI_Send, MPI_Wait, ...
 *     wrap_*.c    the MPI calls, in terms of requests and communicators of the layer
 *     fortran.c   integers for these requests and communicators; wrap_fortran*.c the calls
 *     libraries.c data of shared libraries, by rank; library.c where these are
 *     calls.c     collectives, for protocols that handle them; raw.c: messages past the protocol
 *     matching.c  posted receives and messages that nobody has received yet
 *     host.c      events to the world, actions from the protocol (host_step.c), going back
 *                 (host_return.c); the one wait loop
 *     transport.c envelopes, transfers       wire.c     transfers over the simulated network
 *     payload.c   bytes, lent or not         mail.c     control messages without transfers
 *     dispatcher.c failures, notices         machine.c  clock, cores, disks
 *     audit.c     the memory of the shadow world
 *
 * What belongs to a rank lies in two places, and a rollback treats them differently:
 *
 *     struct face   what its program can see: requests, communicators, posted receives, counters.
 *                   In the rank's arena, so that an image of the arena holds it.
 *     struct rank   everything else: transport, images, what the dispatcher wants. In libc memory;
 *                   host_return.c says what a rollback does to each field.
 *
 * The layer is loaded once and its globals are shared by all ranks. Ranks are coroutines that
 * change only inside calls of SMPI and SimGrid, so nothing here needs a lock.
 *
 * A frame of the layer that waits is captured with the program's stack. It may hold pointers to
 * struct rank, which never moves, to the face and to other arena memory; never to messages.
 */
#ifndef RECLINE_LAYER_H
#define RECLINE_LAYER_H

#include <glib.h>
#include <smpi/smpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/host/blocks.h"
#include "sim/host/libc.h"
#include "sim/host/result.h"
#include "sim/memory/heap.h"
#include "sim/memory/image.h"
#include "sim/net/machine.h"
#include "sim/net/payload.h"
#include "verify/scenario/scenario.h"
#include "verify/world/world.h"

/* ---- what programs can see: in the arena ---- */

struct rank;

/* Ranks in a communicator, in the order in which neighbourhood collectives name them. */
struct neighbours {
  int count;
  int *rank;   /* or MPI_PROC_NULL, beyond the edge of a grid */
  int *weight; /* NULL: they have none */
};

/* Of a communicator, never changed once it is made. */
struct topology {
  enum SMPI_Topo_type kind;   /* 0: none */
  struct grid *grid;          /* MPI_CART */
  struct graph *graph;        /* MPI_GRAPH */
  struct neighbours from, to; /* of this rank */
};

struct comm {
  int number; /* the same at all members; messages carry 2 * number, or + 1 in collectives */
  int size;
  int rank;            /* of this rank, in this communicator */
  bool freed;          /* the memory stays, so that a stale handle is an error and not a crash */
  int *member;         /* ranks of the program, by rank in this communicator */
  int calls;           /* collective calls on it so far */
  struct comm *groups; /* by which some of its members have made communicators among themselves */
  struct comm *next;   /* in that list */
  int fortran;         /* its integer in Fortran, 0: none yet */
  char *name;          /* NULL: the default */
  struct attribute *attributes;
  MPI_Errhandler errors; /* NULL: they are fatal */
  struct topology topology;
};

/* A collective call, as the program makes it. */
struct call_site {
  struct comm *comm;
  enum rcl_flow flow;
  int root;             /* rank in comm */
  uint32_t bytes;       /* that this rank gives */
  struct blocks result; /* what it gets, where data flow to it */
  int blocks;           /* of the result */
  bool partial;         /* data do not come from all members to all: scans */
  uint32_t largest;     /* bytes of the largest message, as all members know; 0: they do not */
};

/* The call that the program is in, under protocols that handle collectives. */
struct call {
  bool inside;           /* until its last message is sent */
  bool combined;         /* the words travel with the data */
  const void *packed;    /* the data that were last made one with the words */
  enum call_state state; /* as the protocol sees it: NONE when nothing is to come from it */
  struct call_site site;
  int number;                    /* on its communicator, from 1 */
  uint32_t words[RCL_WORDS + 1]; /* what COLLECTED tells: sums, and of how many */
  uint32_t received[RCL_WORDS + 1];
  uint32_t own[RCL_WORDS + 1]; /* of this rank alone */
};

enum send_mode {
  SEND_STANDARD,
  SEND_BUFFERED,   /* complete at once, however large */
  SEND_SYNCHRONOUS /* complete when it is matched */
};

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_WHOLE, REQUEST_GENERAL };

/* A request that is complete when several messages are, and then has something left to do. */
struct whole {
  struct request **part;
  int parts;
  void (*conclude)(struct rank *, void *rest); /* NULL: nothing is left */
  void *rest;                                  /* in the arena, given to face_free() afterwards */
};

struct request {
  enum request_kind kind;
  bool done;           /* for receives: the payload is in the program's buffer */
  bool persistent;     /* made by Send_init or Recv_init */
  bool active;         /* a persistent request between Start and its completion */
  bool filling;        /* a receive that was given a message whose payload is still under way */
  bool orphan;         /* Request_free before completion */
  enum send_mode mode; /* sends */
  bool reused;         /* sends: their buffer does not stay as it is until they are complete */
  bool collective;     /* on the hidden half of its communicator */
  bool raw;            /* past the protocol */
  uint32_t number;     /* receives: as in the door's `request` */
  uint32_t send;       /* sends: its number at the transport; 0 when it is complete */
  void *buffer;
  int count;
  MPI_Datatype type;
  struct comm *comm;
  int peer, tag; /* as the program named them: rank of the program or RCL_ANY; tag or RCL_ANY */
  int from, from_tag; /* as MATCH allows */
  bool announced;     /* the protocol has answered RECEIVE */
  struct whole whole;
  struct general *general;
  MPI_Status status;
  int fortran;          /* its integer in Fortran, 0: none yet */
  struct request *next; /* in the list of posted receives, in the order of posting */
};

/* What Fortran calls by an integer: slot i is the integer i + 1. */
struct handle {
  void *item;
  int next; /* of a free slot: the next free one, as its integer */
};

struct handles {
  struct handle *slot;
  int count, capacity;
  int free; /* the first free slot, as its integer, 0: none */
};

/* Exceptions that are being handled or thrown, as the C++ library knows them: once for a thread,
 * that is, for all ranks. */
struct exceptions {
  void *caught;
  unsigned uncaught;
};

struct face {
  uint32_t receives;      /* posted so far */
  struct request *posted; /* receives that wait for a message */
  struct request *raw;    /* raw receives that wait for a message */
  struct comm world, self;
  struct call call;
  bool finalized; /* its program is in MPI_Finalize */
  struct handles fortran_comms, fortran_requests;
  struct keyval *keyvals; /* of attributes, by key */
  int keyval_count;
  struct type *types; /* that have attributes */
  struct info *infos; /* that the program has put something into */
  struct libc libc;
  struct exceptions exceptions; /* while the program is in a call of ours */
  void *bsend_buffer;           /* as attached, for nobody but MPI_Buffer_detach */
  int bsend_bytes;
  double image_bytes;     /* that the program wants its images to count as; 0: what they hold */
  uint32_t iteration;     /* that it is in, by its own count; 0: none */
  double iteration_bytes; /* that one changes, as it says; 0: all that an image counts */
};

/* ---- what they cannot see ---- */

enum message_kind { MESSAGE_PROGRAM, MESSAGE_RAW, MESSAGE_CONTROL, MESSAGE_NOTICE };

enum notice_kind {
  NOTICE_DOWN,    /* `peer` is dead, `checkpoint` is the one to recover from */
  NOTICE_RESTART, /* to the dead: start again from `checkpoint` */
  NOTICE_TIMER,
  NOTICE_DURABLE,   /* `part` of `checkpoint` */
  NOTICE_COMMITTED, /* `checkpoint` */
  NOTICE_REPAIRED,  /* the communicator: runtime.h */
  NOTICE_TURN,      /* runs by schedule: it is the rank's turn, or anybody's */
  NOTICE_END        /* all programs have finished */
};

/* Of a rendezvous whose payload travels without being asked for. */
enum flight { FLIGHT_NONE, FLIGHT_UNDER_WAY, FLIGHT_IN_VAIN /* dropped meanwhile */ };

/* When a control message is where, in seconds (mail.h). */
struct posted {
  double left;     /* its sender, with the last byte */
  double due;      /* at its receiver */
  double latency;  /* of its route */
  double occupies; /* the sender and the receiver */
  uint64_t number; /* counts those to its receiver */
};

/* An envelope. It travels by pointer, in memory that all ranks share; what travels over the network
 * is as many bytes as a real message would have, for the time that they take. */
struct message {
  enum message_kind kind;
  int source, destination;
  void *self;           /* what the transfer of its payload hands over */
  uint32_t serial;      /* counts the messages of this source to this destination, from 1 */
  uint32_t incarnation; /* that the sender has noticed */
  uint32_t life;        /* of the sender: counts its crashes */
  int comm;
  int32_t tag;
  uint32_t bytes;
  uint32_t words[RCL_WORDS];
  uint32_t shares;         /* raw: contributions that the words sum up; 0: it has no words */
  uint32_t line;           /* last checkpoint that its sender had captured */
  struct payload *payload; /* NULL: it has none, or a receive has it */
  struct lane *lane;       /* of the transfer that is to be fetched; NULL: it comes or is here */
  enum flight flight;
  enum send_mode mode;
  /* notices */
  enum notice_kind notice;
  int peer;
  uint32_t checkpoint;
  enum rcl_part part;
  uint32_t for_life;    /* of the receiver; RESTART: the life that it begins */
  struct posted posted; /* control */
};

/* A payload that the protocol holds. */
struct slot {
  struct payload *payload;
  int32_t tag;
  int source, comm;
  bool sent;      /* by this rank, not to it */
  uint64_t order; /* of keeping */
  bool waiting;   /* a receive is to get it yet, so a probe finds it */
};

/* One part of a checkpoint, as stored: what START gives back. */
struct record {
  uint32_t checkpoint;
  enum rcl_part part;
  bool durable;
  GHashTable *slots; /* slot number -> struct slot, with references of their own */
};

/* One captured image. */
struct capture {
  uint32_t checkpoint;
  struct image *image;
  uint32_t iteration;   /* at whose beginning it was captured; 0: elsewhere */
  double bytes;         /* that it takes on storage, unless the scenario says how many */
  double copied;        /* in memory, to capture it */
  double rest;          /* to be copied if it is stored */
  GQueue unexpected;    /* struct message: below the matching, what had been delivered by then */
  struct run_time time; /* where the time had gone until then */
};

enum activity {
  ACTIVITY_COMPUTE,
  ACTIVITY_MPI,
  ACTIVITY_PROTOCOL,
  ACTIVITY_CHECKPOINT,
  ACTIVITY_RESTART
};

/* At the repair of the communicator (runtime.h). */
enum presence { PRESENCE_NONE, PRESENCE_AWAITED, PRESENCE_HERE };

enum { NO_CONTEXT = -1 }; /* a kept result of a collective, which no receive and no probe finds */

struct rank {
  int index;
  bool active; /* between MPI_Init and MPI_Finalize */
  struct face *face;
  struct arena *arena;
  struct image_source *source;
  sg_actor_t actor;

  /* transport */
  struct transport *transport;
  GQueue inbox;      /* struct message, in the order of arrival */
  GQueue unexpected; /* program messages that no receive has taken; below the matching, only those
                        that the protocol has delivered, and then they belong to the image */
  GQueue raw;        /* raw messages that no receive has taken */
  GArray *rejoined;  /* struct rejoined */
  GQueue future;     /* of incarnations that this rank has not reached yet */
  bool rematch;      /* a message or a receive is new since the last look */
  bool reannounce;   /* after a restart: posted receives are to be announced again */
  bool alert;        /* waits for more than posted receives and sends */

  /* the protocol's wishes */
  bool held;
  int draining;     /* a rank, RCL_ANY or RCL_NOBODY */
  uint32_t capture; /* checkpoint to capture as soon as it is safe; 0: none */
  bool roll_back;   /* as soon as the wait loop is reached */
  bool place_due;   /* offer a SAFE_POINT */
  struct {
    uint32_t checkpoint; /* 0: it is not set */
    double at;           /* seconds of simulated time */
  } alarm;               /* clocks */
  bool iterates;         /* the place that is offered begins an iteration */
  struct rcl_actions actions;

  double handling; /* seconds for each message, where the protocol looks at them */

  /* storage */
  GHashTable *slots;   /* slot number -> struct slot */
  GPtrArray *records;  /* struct record */
  GPtrArray *captures; /* struct capture; the first is RCL_FRESH */
  GQueue
      writes[RCL_PARTS]; /* struct write: the first is under way; global recovery has one queue */
  void *logged;          /* independent: the protocol's state as it was last written */
  uint32_t line;         /* last checkpoint captured */
  size_t image_bytes;    /* of its largest image but the RCL_FRESH one */

  /* failures */
  uint32_t incarnation; /* in which it last started */
  uint32_t life;        /* crashes so far */
  bool dead;            /* from a crash to its restart notice */
  struct computation computation;
  bool notified; /* a DOWN is on its way: computation waits for it */
  bool down_due; /* independent: take the DOWNs that there are */
  bool ended;    /* all programs are in MPI_Finalize */

  enum presence presence;
  GRand *random; /* of recline_choose; does not go back */

  /* accounting */
  enum activity activity;
  double since;
  struct run_time time;
  struct run_copies copies;
  uint64_t iterations; /* that its program has executed, repeated ones again */
};

struct layer {
  bool on;    /* RECLINE_SCENARIO is set: not inert */
  int ranks;  /* of the program */
  bool ended; /* all programs have, and have been told */
  int left;   /* ranks that have left MPI_Finalize */
  struct scenario *scenario;
  struct rank *rank;
  double began;
  double combined_below; /* bytes of a message with which words are to travel, under `auto` */
  struct result result;
  struct exceptions *exceptions; /* where the C++ library keeps them */
  bool parked;                   /* some rank has had some when it called us */
};

extern struct layer layer;

/* Those of the calling rank, to its face and back. */
void exceptions_park(void);
void exceptions_return(void);

/* Every entry point begins with layer_enter() and ends with layer_leave() of what it returned:
 * what SMPI allocates must not lie in the arena, and what a rank has caught is not for others. */
static inline struct arena *layer_enter(void)
{
  struct arena *arena = heap_leave();
  if (arena && (layer.exceptions->caught || layer.exceptions->uncaught))
    exceptions_park();
  return arena;
}

static inline void layer_leave(struct arena *arena)
{
  if (arena && layer.parked)
    exceptions_return();
  heap_enter(arena);
}

/* What a rank's copy of the program does before its constructors, and after them: begin.c, built.c.
 * The address is one in its data. */
void recline_program_begins(const void *inside_program);
void recline_program_is_built(const void *inside_program);

/* Whether this run is one under a protocol, also before MPI_Init. */
bool layer_wanted(void);

/* The beginning of MPI_Init: ends a program that was started alone. */
void layer_need_simulator(void);

/* The rest of MPI_Init, in C and in Fortran, after SMPI's. Returns the arena that the program is to
 * use. `inside_program` is an address in the program of the rank. */
struct arena *layer_init(const void *inside_program);

/* The rank that is running; NULL before MPI_Init, after MPI_Finalize and when the layer is inert.
 */
struct rank *rank_self(void);

/* The face of the world communicator, or of another handle; ends the run on a wrong one. */
struct comm *comm_of(struct rank *, MPI_Comm);

/* Where the C++ library keeps the exceptions of this thread. */
struct exceptions *layer_exceptions(void);

/* MPI_COMM_SELF as SMPI has it. */
void *layer_next_self(void);

/* Zeroed memory in the arena of the rank, for what waits or lives on there. */
void *face_alloc(struct rank *, size_t bytes);
void face_free(void *);

/* Adds the time since the last switch to the activity that ends here. Returns it. */
enum activity rank_switch(struct rank *, enum activity);

/* Ends the run at once, because the program or the scenario is wrong (64) or we are (3). */
_Noreturn void layer_die(int code, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Ends the simulation with this verdict, written to RECLINE_RESULT, without going on. */
void layer_result(enum run_verdict, const char *why);
_Noreturn void layer_stop(enum run_verdict, const char *why);

/* The same when programs wait for what never comes: lost, and a violation of `deadlock`. */
void layer_stuck(void);

#endif
