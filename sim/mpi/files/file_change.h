/* Describes changes of files, and openings, as file_store.c keeps them. */
#ifndef RECLINE_FILE_CHANGE_H
#define RECLINE_FILE_CHANGE_H

#include "sim/mpi/files/file_store.h"

#include <glib.h>

struct content {
  char *path;
  int descriptor; /* descriptor of the file, or -1 if it is not opened yet or does not exist */
  bool writable;
  GPtrArray *applied; /* struct change, in the order in which they were applied */
};

struct opening {
  int64_t number;
  struct content *content;
  bool begun;   /* the file was opened, made or deleted for this opening */
  int error;    /* value of errno that all members get */
  GArray *held; /* int, by rank of the program: the version that the rank has reached */
  /* by rank of the program: GPtrArray of the rank's changes (struct change), by number */
  GPtrArray *changes;
  GArray *cuts;  /* guint, by version: how many changes of the file are in it */
  guint applied; /* number of the opening's changes that are applied */
  /* shared pointer, and its value when version `pointer_version` began */
  int64_t pointer, pointer_before;
  /* the version to which `pointer_before` belongs, and the version in which the pointer moved
   * last */
  int pointer_version, pointer_moved;
};

enum change_kind { CHANGE_WRITES, CHANGE_RESIZES, CHANGE_GROWS, CHANGE_MAKES, CHANGE_ENDS };

struct change {
  struct opening *opening;
  enum change_kind kind;
  int version;
  bool applied;
  bool made_at_once; /* the opening itself has made the change */
  /* no rank makes the change again, so it is freed when it is no longer applied */
  bool dropped;
  int64_t size; /* RESIZES, GROWS: the size */
  struct segment *segments;
  int count;
  uint64_t digest; /* digest of segments and data */
  /* the bytes to be written or, while the change is applied, the kept_bytes() that it has
   * replaced */
  char *data;
  int64_t size_before; /* size of the file before the change was applied */
  int descriptor;      /* ENDS, while it is applied: descriptor of the file without a name */
  bool writable;
};

struct change *change_new(struct opening *, enum change_kind, int version);
void change_set_data(struct change *, const struct segment *, int count, const void *data);
void change_free(struct change *);

/* Returns whether two changes are the same change, made by a rank once more. */
bool change_is_same(const struct change *, const struct change *);

/* Notes that the rank does not make the change again. Frees the change, now or when it is
 * undone. */
void change_drop(struct change *);

/* Applies the change to its file, on top of all others. Returns 0 or a value of errno. */
int change_apply(struct change *);

/* Undoes a change, which must be the last one of its file. The change is pending again, or freed if
 * it was dropped. */
void change_undo(struct change *);

/* The next functions are for a pending change: change_size() returns the size that a file of `size`
 * bytes has with it; change_put_on() writes the data of the change over the bytes of a part of the
 * file. */
int64_t change_size(const struct change *, int64_t size);
void change_put_on(const struct change *, struct segment part, char *bytes);

/* Restores a part of the file to what it was without the change, which must be applied. */
void change_take_off(const struct change *, struct segment part, char *bytes);

#endif
