/* What a program can see of MPI: communicators, requests, the collective call that it is in,
 * handles of Fortran, attributes, and the state of libc.
 *
 * All of it lies in the arena of its rank, so that an image of the arena holds it and a rollback
 * puts it back as bytes. Pointers lead to memory of the same arena only.
 */
#ifndef RECLINE_MPI_STATE_H
#define RECLINE_MPI_STATE_H

#include "protocols/protocol.h"
#include "sim/host/rank/buffers.h"
#include "sim/host/rank/libc.h"
#include "sim/net/message.h"
#include "world/rules/world.h"

#include <smpi/smpi.h>
#include <stdbool.h>
#include <stdint.h>

struct rank;
struct application;
struct window;

/* Ranks in a communicator, in the order in which neighbourhood collectives name them. */
struct neighbours {
  int count;
  int *rank;   /* or MPI_PROC_NULL, beyond the edge of a grid */
  int *weight; /* NULL: they have none */
};

/* The topology of a communicator, never changed once it is made. */
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
  int requests;        /* that name it and that the program may complete yet */
  int *member;         /* ranks of the program, by rank in this communicator */
  int calls;           /* collective calls on it so far */
  int duplicates;      /* of MPI_Comm_idup that have begun on it */
  int agreements;      /* calls that have begun an agreement (agreement.h) */
  int acknowledged;    /* of its members that have failed, the first (faults_failed()) */
  struct comm *groups; /* by which some of its members have made communicators among themselves */
  struct comm *next;   /* in that list, or in mpi_state.freed */
  int parent, colour;  /* of the call that made it last */
  int key;             /* the same, at the application level */
  int fortran;         /* its integer in Fortran, 0: none yet */
  char *name;          /* NULL: the default */
  struct attribute *attributes;
  MPI_Errhandler errors; /* NULL: they are fatal */
  struct topology topology;
  struct window *window; /* whose it is; NULL: the program's */
  struct nodes *nodes;   /* on which its ranks lie; NULL: no algorithm of SMPI has asked yet */
  int part;              /* 0; of another: 1 its leaders of nodes, 2 its ranks on this node */
  struct comm *remote;   /* of an intercommunicator: the remote group. NULL: it is none */
  struct comm *both;     /* the same: the communicator of both groups, one behind the other */
};

/* Whose ranks the program names as sources and destinations. */
static inline const struct comm *comm_peers(const struct comm *comm)
{
  return comm->remote ? comm->remote : comm;
}

/* The nodes of a communicator, as SMPI's algorithms know them. */
struct nodes {
  struct comm leaders, here; /* the first rank of each node; the ranks of this one */
  int *leader;               /* of each rank of the communicator, as rank of the program */
  int *ranks;                /* of each node, in the order of leaders */
  int uniform, blocked;      /* as many ranks on each; neighbours in the communicator on each */
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
  bool ordered;         /* its operation does not commute, and SMPI combines in any order */
  bool equal;           /* all members give, or get, as many bytes */
  uint32_t largest;     /* bytes of the largest message, as all members know; 0: they do not */
};

/* The call that the program is in, under protocols that handle collectives. */
struct call {
  bool inside;           /* until its last message is sent */
  bool combined;         /* the words travel with the data */
  bool passable;         /* after a restart: some members may not take part */
  bool selected;         /* SMPI's algorithm runs */
  bool ahead;            /* that of the words, ahead of the data */
  int error;             /* that it returns: a member has failed, or it was revoked */
  uint32_t sends;        /* of the rank at the transport when it began */
  enum call_state state; /* as the protocol sees it: NONE when nothing is to come from it */
  struct call_site site;
  int number;                    /* on its communicator, from 1 */
  uint32_t words[RCL_WORDS + 1]; /* what COLLECTED tells: sums, and of how many */
  uint32_t received[RCL_WORDS + 1];
  uint32_t own[RCL_WORDS + 1]; /* of this rank alone */
};

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_WHOLE, REQUEST_GENERAL };

/* A request that is complete when several messages are, and then has something left to do. */
struct whole {
  struct request **part;
  int parts;
  struct agreement *agreement;                 /* that is to be over as well; NULL: none */
  void (*conclude)(struct rank *, void *rest); /* NULL: nothing is left */
  void *rest;                                  /* in the arena, given to rank_free() afterwards */
};

struct request {
  enum request_kind kind;
  bool done;           /* for receives: the payload is in the program's buffer */
  bool persistent;     /* made by Send_init or Recv_init */
  bool active;         /* a persistent request between Start and its completion */
  bool filling;        /* a receive that was given a message whose payload is still under way */
  bool told;           /* MPI_Request_get_status has said that it is complete */
  bool orphan;         /* Request_free before completion */
  enum send_mode mode; /* sends */
  bool immediate;      /* persistent sends: SMPI charges them as MPI_Isend */
  bool reused;         /* sends: their buffer does not stay as it is until they are complete */
  bool collective;     /* on the hidden half of its communicator */
  bool bypass;         /* past the protocol */
  bool sized;          /* receives, of bytes: the buffer is made when the message comes, for it */
  uint32_t number;     /* receives: as in the door's `request` */
  uint32_t send;       /* sends: its number at the transport; 0 when it is complete */
  void *buffer;
  int count;
  MPI_Datatype type;
  struct comm *comm;
  int context;   /* matching_context() */
  int peer, tag; /* as the program named them: rank of the program or RCL_ANY; tag or RCL_ANY */
  int from, from_tag;   /* as MATCH allows */
  bool announced;       /* the protocol has answered RECEIVE */
  struct request *next; /* in the list of posted receives, in the order of posting */
  struct whole whole;
  struct general *general;
  MPI_Status status;
  bool eager;          /* receives: the cost of receiving is to be charged yet, */
  uint64_t wire_bytes; /* for so many bytes */
  int fortran;         /* its integer in Fortran, 0: none yet */
};

/* Handles that Fortran names by integers: slot i is the integer i + 1. */
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

/* program_clock.h; in seconds. */
struct program_clock {
  double derived, read; /* what it has come to, and the last reading */
  bool is_known;        /* there has been one */
};

/* What the call of the program waits for (waits.h). */
enum wait_kind { WAIT_CALL, WAIT_SEND, WAIT_RECEIVE }; /* WAIT_CALL: the call itself says it */
struct wait {
  enum wait_kind kind;
  bool collective;
  const struct comm *comm;
  int peer, tag; /* rank of the program or RCL_ANY; tag or RCL_ANY */
  int others;    /* requests of which one would do as well */
};

struct mpi_state {
  const char *call_name;           /* the program is in it, or was, */
  double call_since;               /* from then on, in seconds of simulated time */
  struct wait wait;                /* in that call */
  bool algorithm;                  /* one of SMPI's collective algorithms runs for this rank */
  uint32_t receives;               /* posted so far */
  int pending;                     /* requests that the program has begun and not completed */
  struct application *application; /* what it protects (application.h); NULL: nothing yet */
  struct request *posted;          /* receives that wait for a message */
  struct request *bypass_posted;   /* receives past the protocol that wait for a message */
  struct comm world, self;
  struct comm *freed; /* communicators that may be used again, the last freed first */
  struct call call;
  bool makes_comm;  /* by that call */
  int thread_level; /* as MPI_Init_thread has provided */
  bool finalized;   /* its program is in MPI_Finalize */
  struct handles fortran_comms, fortran_requests, fortran_files, fortran_windows;
  struct keyval *keyvals; /* of attributes, by key */
  int keyval_count;
  struct type *types;                          /* that have attributes */
  struct freed_type *freed_types;              /* that may serve again (type_reuse.h) */
  struct info *infos;                          /* that the program has put something into */
  struct window *windows;                      /* that others may lock */
  struct file *files;                          /* of MPI-IO, those that are closed too */
  int files_open, files_deleted, files_looked; /* of these; how often, so far */
  int files_read;                              /* of any, by open() */
  struct added_error **errors_added;           /* by the program, and how many */
  int errors_added_count, last_code;           /* last_code: MPI_LASTUSEDCODE */
  MPI_Errhandler file_errors; /* of files that are opened from here on; NULL: they are returned */
  char *said;                 /* to the outside, since its last output: pieces (output_bytes.h) */
  size_t said_bytes, said_room;
  struct libc libc;
  struct program_clock clock;
  struct variable *environment; /* what it has set there (wrap_environment.c) */
  bool environment_cleared;
  struct exceptions exceptions; /* while the program is in a call of ours */
  void *bsend_buffer;           /* as attached, for MPI_Buffer_detach only */
  int bsend_bytes;
  double image_bytes;     /* that the program wants its images to count as; 0: what they hold */
  uint32_t iteration;     /* that it is in, by its own count; 0: none */
  double iteration_bytes; /* that one changes, as it says; 0: all that an image counts */
};

#endif
