/* Windows of one-sided communication. All of it lies in the arena.
 *
 * An access is kept until the call that ends its epoch; then it goes to its target in a message,
 * which the target carries out when it ends its own, and answers where there is something to
 * fetch. So everything travels in messages that the protocol sees, windows roll back with the
 * memory that they are, and there is nothing besides. It needs epochs that the target ends, too:
 * fences, or post, start, complete and wait. */
#ifndef RECLINE_WINDOW_H
#define RECLINE_WINDOW_H

#include "sim/host/rank.h"
#include "sim/mpi/file_store.h"

struct window {
  struct comm *comm; /* its own */
  char *base;
  MPI_Aint size;
  int unit, flavor, model;
  bool freed; /* the memory of this stays, so that a stale handle is an error */
  MPI_Info info;
  char *name;
  struct access **first; /* by target, in the order of the calls; */
  struct access **last;  /* NULL: there is none */
  int *access;           /* started: ranks in comm; NULL: not started */
  int accesses;
  int *exposure; /* posted: the same */
  int exposures;
  int fortran; /* its integer in Fortran, 0: none yet */
};

static inline MPI_Win window_handle(struct window *window)
{
  return (MPI_Win)(void *)window;
}

/* The window of a handle of the program's; ends the run when it is none. */
static inline struct window *window_of(struct rank *r, MPI_Win handle)
{
  struct window *window = (struct window *)(void *)handle;
  if (handle == MPI_WIN_NULL || heap_owner(window) != r->index || window->freed)
    die(DIE_INPUT, "rank %d: not a window", r->index);
  return window;
}

/* What an access does at its target; FETCHES is MPI_Get_accumulate. */
enum access_kind { ACCESS_PUTS, ACCESS_GETS, ACCESS_COMBINES, ACCESS_FETCHES, ACCESS_SWAPS };

struct items {
  void *at;
  int count;
  MPI_Datatype type;
};

/* An access to `count` elements at that displacement; what is given (SWAPS: then what is compared
 * with), and where what is fetched goes. An MPI error: there is none. */
int window_access(struct rank *, struct window *, enum access_kind, int target, MPI_Aint at,
                  int count, MPI_Datatype, MPI_Op, struct items given, struct items compared,
                  struct items fetched);

/* Bytes of the message with all accesses to that target, and of the answer. */
int window_bytes(const struct window *, int target);
int window_answer_bytes(const struct window *, int target);

/* The message, in the arena. */
char *window_pack(struct rank *, const struct window *, int target, int bytes);

/* Carries out the accesses of a message; the answer has room, or is NULL: only counts. Returns its
 * bytes. */
int window_answer_of(const char *message, int bytes);
void window_carry_out(struct rank *, struct window *, const char *message, int bytes, char *answer);

/* Puts the answer where it belongs, and ends the accesses to that target. */
void window_finish(struct window *, int target, const char *answer);

#endif
