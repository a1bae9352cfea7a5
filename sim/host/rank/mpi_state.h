/* Declares the part of MPI that a program can see: communicators, requests, the collective call
 * that the program is in, handles of Fortran, attributes, and the state of libc.
 *
 * All this state lies in the arena of its rank, so that an image of the arena contains the state
 * and a rollback restores it as bytes. Pointers lead to memory of the same arena only.
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
  int *weight; /* weights of these ranks, or NULL if there are none */
};

/* Describes the topology of a communicator, which never changes. */
struct topology {
  enum SMPI_Topo_type kind;   /* kind of topology, or 0 if there is none */
  struct grid *grid;          /* the grid, if `kind` is MPI_CART */
  struct graph *graph;        /* the graph, if `kind` is MPI_GRAPH */
  struct neighbours from, to; /* neighbours of this rank */
};

struct comm {
  /* the number, which is the same at all members; messages of the program carry 2 * number,
   * messages of collectives carry 2 * number + 1 */
  int number;
  int size;
  int rank; /* number of this rank in this communicator */
  /* the communicator was freed; the memory stays, so that a stale handle is an error and not a
   * crash */
  bool freed;
  /* number of requests that name this communicator and that the program may still complete */
  int requests;
  int *member;    /* ranks of the program, by rank in this communicator */
  int calls;      /* number of collective calls on this communicator so far */
  int duplicates; /* number of calls of MPI_Comm_idup that have begun on this communicator */
  int persistent; /* number of persistent collectives that were made on this communicator */
  struct channel *channels; /* channels of partitioned messages (wrap_partitioned.c) */
  int agreements;           /* number of calls that have begun an agreement (agreement.h) */
  /* number of failed members that were acknowledged here; they are the first ones of
   * faults_failed() */
  int acknowledged;
  /* List of the communicators that groups of members of this communicator have made. */
  struct comm *groups;
  /* the next communicator in the list `groups` of its parent, or in mpi_state.freed */
  struct comm *next;
  /* the last call that made this communicator: the number of the communicator on which that call
   * was made, and the call's colour */
  int parent, colour;
  /* at the application level: this rank's key in the call that made this communicator last */
  int key;
  int fortran; /* integer of the communicator in Fortran, or 0 if the communicator has none yet */
  char *name;  /* name, or NULL for the default name */
  struct attribute *attributes;
  MPI_Errhandler errors; /* handler of errors, or NULL if errors are fatal */
  struct topology topology;
  struct window *window; /* the window whose own communicator this is, or NULL if there is none */
  /* nodes of this communicator's ranks, or NULL if no algorithm of SMPI has asked for them yet */
  struct nodes *nodes;
  /* 0 for a communicator of the program; 1 for the leaders of the nodes of another communicator;
   * 2 for the ranks of another communicator on this node */
  int part;
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
  /* `leaders` are the first ranks of all nodes, `here` the ranks of this rank's node */
  struct comm leaders, here;
  /* for each rank of the communicator: the leader of its node, as a rank of the program */
  int *leader;
  int *ranks; /* number of ranks of each node, in the order of `leaders` */
  /* `uniform`: all nodes have the same number of ranks; `blocked`: the ranks of each node are
   * next to each other in the communicator */
  int uniform, blocked;
};

/* Describes a collective call as the program makes it. */
struct call_site {
  struct comm *comm;
  enum rcl_flow flow;
  int root;             /* the root, as a rank in `comm` */
  uint32_t bytes;       /* number of bytes that this rank gives */
  struct blocks result; /* the blocks that this rank gets, if data flow to this rank */
  int blocks;           /* number of blocks of the result */
  bool partial;         /* data do not flow from all members to all members, as in scans */
  bool ordered;         /* the operation does not commute, although SMPI combines in any order */
  bool equal;           /* all members give or get the same number of bytes */
  /* number of bytes of the largest message, or 0 if some member does not know that number */
  uint32_t largest;
};

/* Describes the collective call that the program is in, under protocols that handle collectives. */
struct call {
  bool inside;   /* the program is in a call that the protocol handles; false once its last message
                    is sent */
  bool combined; /* the words travel with the data */
  bool passable; /* true after a restart if some members may not take part in the call */
  bool selected; /* an algorithm of SMPI runs */
  bool ahead;    /* the algorithm that runs carries the words in messages ahead of the data */
  /* the error that the call returns because a member has failed or the communicator was revoked */
  int error;
  uint32_t sends; /* number of the rank's last send when the call began */
  /* state of the call as the protocol sees it; NONE if the protocol does nothing more */
  enum call_state state;
  struct call_site site;
  int number; /* number of the call on its communicator, from 1 */
  /* fields of COLLECTED: the sums of words, and the number of contributions */
  uint32_t words[RCL_WORDS + 1];
  uint32_t received[RCL_WORDS + 1];
  uint32_t own[RCL_WORDS + 1]; /* the words of this rank alone */
};

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_WHOLE, REQUEST_GENERAL };

/* Says what MPI_Start does for a persistent request of several messages. A recipe lies in the
 * arena, as the first member of the structure that `begin` reads. */
struct recipe {
  void (*begin)(struct rank *, struct request *);
  void (*end)(struct recipe *); /* frees what the recipe points to */
};

/* Describes a request that is complete when several messages, its parts, are complete. When they
 * are complete, `conclude` does the work that is left. */
struct whole {
  /* the recipe of a persistent request, or NULL if the request is not persistent */
  struct recipe *recipe;
  struct request **part;
  int parts;
  int missing; /* number of parts that have not begun yet */
  /* Takes over the data of a part. It is called for each part once all parts are complete. NULL if
   * nobody takes over the data. */
  void (*take)(struct rank *, struct request *whole, struct request *part);
  /* an agreement that must be over before the request is complete, or NULL if there is none */
  struct agreement *agreement;
  void (*conclude)(struct rank *, void *rest); /* NULL if no work is left */
  /* argument of `conclude`, in the arena; rank_free() frees it afterwards */
  void *rest;
};

struct request {
  enum request_kind kind;
  bool done;       /* for receives: the payload is in the program's buffer */
  bool persistent; /* the request was made by a call NAME_init, for MPI_Start */
  bool active;     /* a persistent request between Start and its completion */
  bool filling;    /* a receive that was given a message whose payload is still under way */
  /* MPI_Request_get_status has told the program that the request is complete */
  bool told;
  bool orphan;         /* MPI_Request_free was called before the request was complete */
  enum send_mode mode; /* for sends: the mode of the send */
  bool immediate;      /* for persistent sends: in SMPI, the send costs as much as MPI_Isend */
  bool reused;         /* for sends: the buffer may change before the send is complete */
  /* messages of this request carry the communicator's number for collectives */
  bool collective;
  bool bypass; /* the message of this request bypasses the protocol */
  /* for receives of bytes: the buffer is made when the message comes, and has the size of the
   * message */
  bool sized;
  uint32_t number; /* for receives: the field `request` of events (protocols/protocol.h) */
  /* for sends: the send's number at the transport, or 0 if no send is under way */
  uint32_t send;
  /* for synchronous sends: number of the payload; 0 for sends that end as the transport says */
  uint32_t synchronous;
  struct request *receipt; /* for sends: the receive for the receipt, or NULL if there is none */
  void *buffer;
  int count;
  MPI_Datatype type;
  struct comm *comm;
  int context; /* what matching_context() returns for this request */
  /* peer and tag as the program has named them: a rank of the program or RCL_ANY, and a tag or
   * RCL_ANY */
  int peer, tag;
  int from, from_tag;   /* the source and the tag that MATCH allows */
  bool announced;       /* the protocol has answered RECEIVE */
  struct request *next; /* link in the list of posted receives, in the order of posting */
  struct whole whole;
  struct general *general;
  MPI_Status status;
  bool eager;          /* for receives: the cost of receiving must still be charged */
  uint64_t wire_bytes; /* the number of bytes for which the cost is charged */
  int fortran;         /* integer of the request in Fortran, or 0 if the request has none yet */
};

/* Holds a handle that Fortran names by an integer. Slot i has the integer i + 1. */
struct handle {
  void *item;
  int next; /* in a free slot: the integer of the next free slot */
};

struct handles {
  struct handle *slot;
  int count, capacity;
  int free; /* the integer of the first free slot, or 0 if no slot is free */
};

/* Holds the exceptions that are being handled or thrown. The C++ library has this state once for
 * each thread, so all ranks share it. */
struct exceptions {
  void *caught;
  unsigned uncaught;
};

/* Holds the clock of program_clock.h, in seconds. */
struct program_clock {
  double derived, read; /* `derived` is the derived time, `read` the last reading */
  bool is_known;        /* there has been a reading */
};

/* Says what the program's call waits for (waits.h). With WAIT_CALL, the name of the call says what
 * it waits for. */
enum wait_kind { WAIT_CALL, WAIT_SEND, WAIT_RECEIVE };
struct wait {
  enum wait_kind kind;
  bool collective;
  const struct comm *comm;
  int peer, tag; /* a rank of the program or RCL_ANY; a tag or RCL_ANY */
  int others;    /* number of other requests, each of which would also end the wait */
};

/* Holds a set of numbers of messages: all numbers up to `all_to`, and `count` larger numbers. */
struct taken {
  uint32_t all_to, *beyond, count, room;
};

/* Describes a message that a receive has taken and that has no receipt yet. In lists, these are in
 * the order in which the messages were taken. */
struct due {
  int source;
  uint32_t number;
  struct due *next;
};

struct mpi_state {
  const char *call_name; /* the call that the program is in, or was in last */
  double call_since;     /* time at which that call began, in simulated seconds */
  struct wait wait;      /* what that call waits for */
  bool algorithm;        /* one of SMPI's collective algorithms runs for this rank */
  uint32_t receives;     /* number of receives posted so far */
  /* by receiver: number of synchronous sends so far (synchronous.h), or NULL if there was none */
  uint32_t *synchronous_sends;
  struct taken *synchronous_taken; /* numbers of synchronous messages, by sender, or NULL */
  struct taken *receipts_given;    /* by sender, or NULL if there is none */
  struct due *due;                 /* receipts that this rank must still give */
  bool gives_receipt;              /* this rank is sending a receipt */
  /* number of requests that the program has begun and not completed */
  int pending;
  /* the data that the program protects (application.h), or NULL if there are none yet */
  struct application *application;
  bool redistributed;            /* the program's data were put back after main began */
  struct request *posted;        /* receives that wait for a message */
  struct request *bypass_posted; /* receives that bypass the protocol and wait for a message */
  struct comm world, self;
  struct comm *freed; /* freed communicators that may be used again, the last freed first */
  struct call call;
  bool makes_comm;  /* `call` makes a communicator */
  int thread_level; /* level of threads that MPI_Init_thread has provided */
  bool finalized;   /* the program is in MPI_Finalize */
  /* true between MPI_Init and MPI_Finalize; otherwise the program has at most sessions */
  bool in_world;
  int sessions; /* number of open sessions */
  struct handles fortran_comms, fortran_requests, fortran_files, fortran_windows, fortran_sessions;
  struct keyval *keyvals; /* keys of attributes, by number */
  int keyval_count;
  struct type *types;             /* types that have attributes */
  struct freed_type *freed_types; /* freed types that may be reused (type_reuse.h) */
  struct info *infos;             /* infos into which the program has put something */
  struct window *windows;         /* windows that other ranks may lock */
  struct sharing *sharings;       /* memory that the rank shares (node_memory.h) */
  struct file *files;             /* files of MPI-IO, including closed files */
  int files_open;                 /* files of MPI-IO that are open now */
  /* how many times the program has deleted a file, looked for a file, and called open() for
   * reading */
  int files_deleted, files_looked, files_read;
  struct added_error **errors_added; /* errors that the program has added */
  int errors_added_count, last_code; /* number of added errors, and the value of MPI_LASTUSEDCODE */
  /* error handler for files that are opened from now on, or NULL if errors are returned */
  MPI_Errhandler file_errors;
  /* what the program has told the outside since its last output, as pieces (output_bytes.h) */
  char *said;
  size_t said_bytes, said_room;
  struct libc libc;
  struct program_clock clock;
  /* environment variables that the program has set (wrap_environment.c) */
  struct variable *environment;
  bool environment_cleared;
  /* exceptions of the program, while the program is in a call of the layer */
  struct exceptions exceptions;
  void *bsend_buffer; /* the attached buffer, which only MPI_Buffer_detach needs */
  int bsend_bytes;
  /* size of the rank's images in bytes, if the program has given one; 0 if images count as the
   * bytes that they hold */
  double image_bytes;
  /* iteration in which the program is, by the program's count, or 0 if it has begun none */
  uint32_t iteration;
  /* number of bytes that an iteration changes, if the program has given that number; 0 if an
   * iteration changes all bytes of an image */
  double iteration_bytes;
};

#endif
