/* Declares the part of MPI that a program can see: communicators, requests, the collective call
 * that the program is in, handles of Fortran, attributes, and the state of libc.
 *
 * All this state lies in the arena of its rank, so that an image of the arena holds it and a
 * rollback puts it back as bytes. Pointers lead to memory of the same arena only.
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
struct request;
struct application;
struct channel;
struct window;

/* Lists ranks in a communicator, in the order in which neighbourhood collectives name them. */
struct neighbours {
  int count;
  int *rank;   /* ranks, with MPI_PROC_NULL beyond the edge of a grid */
  int *weight; /* NULL: there are no weights */
};

/* Describes the topology of a communicator, which never changes. */
struct topology {
  enum SMPI_Topo_type kind;   /* 0: none */
  struct grid *grid;          /* MPI_CART */
  struct graph *graph;        /* MPI_GRAPH */
  struct neighbours from, to; /* of this rank */
};

struct comm {
  int number; /* the same at all members; messages of the program carry 2 * number, messages of
                 collectives 2 * number + 1 */
  int size;
  int rank;       /* of this rank, in this communicator */
  bool freed;     /* freed; the memory stays, so that a stale handle is an error and not a crash */
  int requests;   /* requests that name it and that the program may still complete */
  int *member;    /* ranks of the program, by rank in this communicator */
  int calls;      /* collective calls on it so far */
  int duplicates; /* calls of MPI_Comm_idup that have begun on it */
  int persistent; /* persistent collectives that were made on it */
  struct channel *channels; /* of partitioned messages (wrap_partitioned.c) */
  int agreements;           /* calls that have begun an agreement (agreement.h) */
  int acknowledged;         /* failed members acknowledged here: the first ones of faults_failed()
                             */
  /* Lists the groups of its members that have made communicators among themselves. */
  struct comm *groups;
  struct comm *next;  /* the next one in the list `groups` of its parent, or in mpi_state.freed */
  int parent, colour; /* of the call that made it last: number of the call's communicator; colour */
  int key;            /* its key in the call that made it last, at the application level */
  int fortran;        /* its integer in Fortran, 0: none yet */
  char *name;         /* NULL: the default name */
  struct attribute *attributes;
  MPI_Errhandler errors; /* NULL: errors are fatal */
  struct topology topology;
  struct window *window; /* the window whose own communicator this is, or NULL if there is none */
  struct nodes *nodes;   /* nodes of its ranks, or NULL if no algorithm of SMPI has asked yet */
  int part; /* 0: a whole communicator; 1: the leaders of the nodes of another communicator; 2: the
               ranks of another communicator on this node */
  struct comm *remote; /* the remote group, or NULL if this is no intercommunicator */
  /* For an intercommunicator: the communicator of both groups, one after the other. */
  struct comm *both;
};

/* Returns the communicator whose ranks the program names as sources and destinations. */
static inline const struct comm *comm_peers(const struct comm *comm)
{
  return comm->remote ? comm->remote : comm;
}

/* Describes the nodes of a communicator, as SMPI's algorithms know them. */
struct nodes {
  struct comm leaders, here; /* the first rank of each node; the ranks of this rank's node */
  int *leader;               /* for each rank of the communicator: the leader of its node, as rank
                                of the program */
  int *ranks;                /* number of ranks of each node, in the order of `leaders` */
  int uniform, blocked; /* whether all nodes have the same number of ranks; whether the ranks of
                           each node are neighbours in the communicator */
};

/* Describes a collective call as the program makes it. */
struct call_site {
  struct comm *comm;
  enum rcl_flow flow;
  int root;             /* rank in comm */
  uint32_t bytes;       /* bytes that this rank gives */
  struct blocks result; /* bytes that this rank gets, if data flow to it */
  int blocks;           /* number of blocks of the result */
  bool partial;         /* data do not come from all members to all: scans */
  bool ordered;         /* its operation does not commute, and SMPI combines in any order */
  bool equal;           /* all members give, or get, the same number of bytes */
  uint32_t largest;     /* bytes of the largest message, if all members know them; else 0 */
};

/* Describes the collective call that the program is in, under protocols that handle collectives. */
struct call {
  bool inside;    /* the program is in a call that the protocol handles; false once its last message
                     is sent */
  bool combined;  /* the words travel with the data */
  bool passable;  /* after a restart: some members may not take part */
  bool selected;  /* SMPI's algorithm runs */
  bool ahead;     /* the algorithm that runs carries the words, ahead of the data */
  int error;      /* error that it returns, because a member has failed or the communicator was
                     revoked */
  uint32_t sends; /* serial of the rank's last send when the call began */
  enum call_state state; /* as the protocol sees it; NONE: no more comes from the protocol */
  struct call_site site;
  int number;                    /* counts the calls on its communicator, from 1 */
  uint32_t words[RCL_WORDS + 1]; /* fields of COLLECTED: sums, and the number of contributions */
  uint32_t received[RCL_WORDS + 1];
  uint32_t own[RCL_WORDS + 1]; /* words of this rank alone */
};

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_WHOLE, REQUEST_GENERAL };

/* Says what MPI_Start does for a persistent request of several messages. A recipe lies in the
 * arena, as the first member of the structure that `begin` reads. */
struct recipe {
  void (*begin)(struct rank *, struct request *);
  void (*end)(struct recipe *); /* frees what it points to */
};

/* Describes a request that is complete when several messages are. Then `conclude` does the work
 * that is left. */
struct whole {
  struct recipe *recipe; /* NULL: the request is not persistent */
  struct request **part;
  int parts;
  int missing; /* parts that have not begun yet */
  /* Gets the data of each part once all are complete, or NULL if nothing does. */
  void (*take)(struct rank *, struct request *whole, struct request *part);
  /* an agreement that must be over as well, or NULL if there is none */
  struct agreement *agreement;
  void (*conclude)(struct rank *, void *rest); /* NULL: nothing is left */
  void *rest;                                  /* in the arena, given to rank_free() afterwards */
};

struct request {
  enum request_kind kind;
  bool done;           /* receives: the payload is in the program's buffer */
  bool persistent;     /* made by a call NAME_init, for MPI_Start */
  bool active;         /* a persistent request between Start and its completion */
  bool filling;        /* a receive that was given a message whose payload is still under way */
  bool told;           /* MPI_Request_get_status has said that it is complete */
  bool orphan;         /* MPI_Request_free was called before the request was complete */
  enum send_mode mode; /* sends */
  bool immediate;      /* persistent sends: SMPI charges them as MPI_Isend */
  bool reused;         /* sends: the buffer may change before the send is complete */
  bool collective;     /* messages carry the communicator's number for collectives */
  bool bypass;         /* its message bypasses the protocol */
  bool sized;          /* receives of bytes: the buffer is made for the message when it comes */
  uint32_t number;     /* receives: as in the door's `request` */
  /* sends: the send's number at the transport, or 0 if none is under way */
  uint32_t send;
  /* sends: the number of its payload, or 0 if it ends as the transport says */
  uint32_t synchronous;
  struct request *receipt; /* sends: the receive of their receipt, or NULL if there is none */
  void *buffer;
  int count;
  MPI_Datatype type;
  struct comm *comm;
  int context;   /* matching_context() */
  int peer, tag; /* as the program named them: rank of the program or RCL_ANY; tag or RCL_ANY */
  int from, from_tag;   /* the source and the tag that MATCH allows */
  bool announced;       /* the protocol has answered RECEIVE */
  struct request *next; /* link in the list of posted receives, in the order of posting */
  struct whole whole;
  struct general *general;
  MPI_Status status;
  bool eager;          /* receives: the cost of receiving must still be charged */
  uint64_t wire_bytes; /* the number of bytes for which the cost is charged */
  int fortran;         /* its integer in Fortran, 0: none yet */
};

/* Holds a handle that Fortran names by an integer: slot i is the integer i + 1. */
struct handle {
  void *item;
  int next; /* free slots: the next free one, as its integer */
};

struct handles {
  struct handle *slot;
  int count, capacity;
  int free; /* the first free slot, as its integer, 0: none */
};

/* Holds the exceptions that are being handled or thrown. The C++ library has this state once for a
 * thread, and so once for all ranks. */
struct exceptions {
  void *caught;
  unsigned uncaught;
};

/* Holds the clock of program_clock.h, in seconds. */
struct program_clock {
  double derived, read; /* the derived time, and the last reading */
  bool is_known;        /* there has been a reading */
};

/* Says what the program's call waits for (waits.h). */
enum wait_kind { WAIT_CALL, WAIT_SEND, WAIT_RECEIVE }; /* WAIT_CALL: the name of the call says it */
struct wait {
  enum wait_kind kind;
  bool collective;
  const struct comm *comm;
  int peer, tag; /* rank of the program or RCL_ANY; tag or RCL_ANY */
  int others;    /* number of other requests, each of which would end the wait as well */
};

/* Holds a set of numbers of messages: all up to `all_to`, and `count` numbers beyond it. */
struct taken {
  uint32_t all_to, *beyond, count, room;
};

/* Describes a message that a receive has taken and that has no receipt yet. Lists of struct due
 * have the order of taking. */
struct due {
  int source;
  uint32_t number;
  struct due *next;
};

struct mpi_state {
  const char *call_name; /* the call that the program is in, or was in last */
  double call_since;     /* when that call began, in seconds of simulated time */
  struct wait wait;      /* what that call waits for */
  bool algorithm;        /* one of SMPI's collective algorithms runs for this rank */
  uint32_t receives;     /* number of receives posted so far */
  /* so far, by receiver (synchronous.h), or NULL if there is none */
  uint32_t *synchronous_sends;
  struct taken *synchronous_taken; /* by sender, or NULL if there is none */
  struct taken *receipts_given;    /* by sender, or NULL if there is none */
  struct due *due;                 /* receipts that this rank must still give */
  bool gives_receipt;              /* this rank is sending a receipt */
  int pending;                     /* requests that the program has begun and not completed */
  /* what is protected (application.h), or NULL if nothing is yet */
  struct application *application;
  bool redistributed;            /* its data were put back since main began */
  struct request *posted;        /* receives that wait for a message */
  struct request *bypass_posted; /* receives that bypass the protocol and wait for a message */
  struct comm world, self;
  struct comm *freed; /* freed communicators that may be used again, the last freed first */
  struct call call;
  bool makes_comm;  /* `call` makes a communicator */
  int thread_level; /* as MPI_Init_thread has provided */
  bool finalized;   /* the program is in MPI_Finalize */
  bool in_world;    /* between MPI_Init and MPI_Finalize; else it has sessions alone */
  int sessions;     /* number of open sessions */
  struct handles fortran_comms, fortran_requests, fortran_files, fortran_windows, fortran_sessions;
  struct keyval *keyvals; /* of attributes, by key */
  int keyval_count;
  struct type *types;                          /* types that have attributes */
  struct freed_type *freed_types;              /* freed types that may be reused (type_reuse.h) */
  struct info *infos;                          /* infos into which the program has put something */
  struct window *windows;                      /* windows that other ranks may lock */
  struct sharing *sharings;                    /* memory that it shares (node_memory.h) */
  struct file *files;                          /* files of MPI-IO, also closed ones */
  int files_open;                              /* files of MPI-IO that are open now */
  int files_deleted, files_looked, files_read; /* so far: deletions of files, looks at files, calls
                                                  of open() for reading */
  struct added_error **errors_added; /* errors that the program has added, and their count */
  int errors_added_count, last_code; /* last_code: MPI_LASTUSEDCODE */
  /* handler of files that are opened from here on, or NULL if errors are returned */
  MPI_Errhandler file_errors;
  char *said; /* what it has told the outside since its last output: pieces (output_bytes.h) */
  size_t said_bytes, said_room;
  struct libc libc;
  struct program_clock clock;
  struct variable *environment; /* environment variables that it has set (wrap_environment.c) */
  bool environment_cleared;
  struct exceptions exceptions; /* while the program is in a call of the layer */
  void *bsend_buffer;           /* as attached, for MPI_Buffer_detach only */
  int bsend_bytes;
  /* size of its images in bytes, if the program has given one, or 0 if images count as the bytes
   * that they hold */
  double image_bytes;
  uint32_t iteration; /* iteration that it is in, by its own count, or 0 if there is none */
  /* bytes that an iteration changes, if the program has given them, or 0 if it changes all bytes
   * of an image */
  double iteration_bytes;
};

#endif
