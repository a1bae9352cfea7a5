/* Windows of one-sided communication. All of it lies in the arena.
 *
 * An access is kept until a call that ends its epoch or completes it; then it goes to its target in
 * a message, which the target carries out when it ends its own epoch (wrap_window.c) or, where it
 * has none, when it makes a call of MPI (window_passive.h), and answers where there is something
 * to fetch. So everything travels in messages that the protocol sees, windows roll back with the
 * memory that they are, and there is nothing besides. */
#ifndef RECLINE_WINDOW_H
#define RECLINE_WINDOW_H

#include "sim/host/rank/rank.h"
#include "sim/mpi/files/file_store.h"
#include "world/script/window_rules.h"

struct passive;

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
  struct attribute *attributes;
  struct region *regions;  /* of a dynamic one: memory that is attached */
  struct passive *passive; /* NULL: nobody locks it */
  struct window *next;     /* of those that may be locked, in the order of making */
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

/* One of the attributes that every window has, which have negative keys. */
int window_get_attribute(struct window *, int key, void *where, int *found);
void window_delete_attributes(struct rank *, struct window *); /* those of the program */

/* Memory of a dynamic window; false: some of it is attached already, or none of it. Whether an
 * access of the window has all its memory. */
bool window_attach(struct rank *, struct window *, void *base, MPI_Aint size);
bool window_detach(struct window *, const void *base);
bool window_has(const struct window *, int64_t at, int64_t bytes);

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

/* The message, in the arena, behind `room` bytes that are the caller's, a multiple of 16. */
char *window_pack(struct rank *, const struct window *, int target, int bytes, int room);

/* Carries out the accesses of a message; the answer has room, or is NULL: only counts. Returns its
 * bytes. */
int window_answer_of(const char *message, int bytes);
void window_carry_out(struct rank *, struct window *, const char *message, int bytes, char *answer);

/* The accesses to that target are now the caller's: puts the answer where it belongs, and frees
 * them. */
struct access *window_take(struct window *, int target);
void accesses_finish(struct access *first, const char *answer);

/* Both, of accesses of a rank to its own window. */
void window_access_own(struct rank *, struct window *);

#endif
