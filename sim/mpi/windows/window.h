/* Describes windows of one-sided communication. All their data lie in the arena.
 *
 * An access is kept until a call ends the access's epoch or completes the access. Then the access
 * goes to its target in a message. The target carries the access out when the target ends its own
 * epoch (wrap_window.c) or, if it has no epoch, when it makes a call of MPI (window_passive.h). It
 * answers if data are to be fetched. So all data travel in messages that the protocol sees, and
 * windows roll back with the memory of which they consist. */
#ifndef RECLINE_WINDOW_H
#define RECLINE_WINDOW_H

#include "sim/host/rank/rank.h"
#include "sim/mpi/files/file_store.h"
#include "world/script/window_rules.h"

struct passive;
struct sharing;

/* Describes the part that a member of a shared window has allocated. */
struct shared_part {
  char *base;
  MPI_Aint size;
  int unit;
};

struct window {
  struct comm *comm; /* the window's own communicator */
  char *base;
  MPI_Aint size;
  int unit, flavor, model;
  bool freed; /* the memory of this struct stays, so that a stale handle is an error */
  MPI_Info info;
  char *name;
  struct access **first; /* by target: its first access; accesses are in the order of the calls */
  struct access **last;  /* by target: the last access, or NULL if there is none */
  /* targets of MPI_Win_start, as ranks in `comm`, or NULL if there is no such epoch */
  int *access;
  int accesses;
  /* origins of MPI_Win_post, as ranks in `comm`, or NULL if there is no such epoch */
  int *exposure;
  int exposures;
  int fortran; /* integer of the window in Fortran, or 0 if the window has none yet */
  struct attribute *attributes;
  struct region *regions;   /* attached memory of a dynamic window */
  struct shared_part *part; /* parts of a shared window, by member; NULL for other windows */
  struct sharing *sharing;  /* memory that several ranks share, or NULL if there is none */
  bool posted;              /* MPI_Win_start has waited for MPI_Win_post */
  struct passive *passive;  /* NULL if no rank may lock the window */
  struct window *next;      /* next window that may be locked, in the order of making */
};

static inline MPI_Win window_handle(struct window *window)
{
  return (MPI_Win)(void *)window;
}

/* Returns the window of the program's handle. Ends the run if the handle names none. */
static inline struct window *window_of(struct rank *r, MPI_Win handle)
{
  struct window *window = (struct window *)(void *)handle;
  if (handle == MPI_WIN_NULL || heap_owner(window) != r->index || window->freed)
    die(DIE_INPUT, "rank %d: not a window", r->index);
  return window;
}

/* Writes to `*where` an attribute that every window has; such attributes have negative keys.
 * Returns MPI_SUCCESS. */
int window_get_attribute(struct window *, int key, void *where, int *found);
/* deletes the program's attributes */
void window_delete_attributes(struct rank *, struct window *);

/* window_attach() attaches memory to a dynamic window, and returns false if some of it is attached
 * already. window_detach() detaches memory, and returns false if none is attached at that address.
 * window_has() returns whether all memory of an access is in the window. */
bool window_attach(struct rank *, struct window *, void *base, MPI_Aint size);
bool window_detach(struct window *, const void *base);
bool window_has(const struct window *, int64_t at, int64_t bytes);

/* Says what an access does at its target; FETCHES is MPI_Get_accumulate. */
enum access_kind { ACCESS_PUTS, ACCESS_GETS, ACCESS_COMBINES, ACCESS_FETCHES, ACCESS_SWAPS };

struct items {
  void *at;
  int count;
  MPI_Datatype type;
};

/* Adds an access to `count` elements at displacement `at`, with the data `given`, the data to
 * compare with (`compared`, for ACCESS_SWAPS), and the place for fetched data. Returns an MPI error
 * if nothing was added.
 */
int window_access(struct rank *, struct window *, enum access_kind, int target, MPI_Aint at,
                  int count, MPI_Datatype, MPI_Op, struct items given, struct items compared,
                  struct items fetched);

/* These functions return the size in bytes of the message with all accesses to that target, and of
 * the answer. */
int window_bytes(const struct window *, int target);
int window_answer_bytes(const struct window *, int target);

/* Makes the message in the arena, behind `room` bytes for the caller (a multiple of 16). */
char *window_pack(struct rank *, const struct window *, int target, int bytes, int room);

/* window_answer_of() returns the size in bytes of the answer to a message. window_carry_out()
 * carries out the accesses of the message and fills in the answer, which must have enough room. */
int window_answer_of(const char *message, int bytes);
void window_carry_out(struct rank *, struct window *, const char *message, int bytes, char *answer);

/* window_take() hands the accesses to that target to the caller; accesses_finish() puts the data of
 * the answer into their places, and frees the accesses. */
struct access *window_take(struct window *, int target);
void accesses_finish(struct access *first, const char *answer);

/* Carries out and finishes the accesses of a rank to its own window. */
void window_access_own(struct rank *, struct window *);

#endif
