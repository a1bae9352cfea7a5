/* Input and output of Fortran. libgfortran is one library for all ranks: its units, buffers and
 * parsed formats stay over a rollback and belong to nobody's arena. So what it allocates between
 * the beginning and the end of a READ or WRITE comes from libc, as what SimGrid allocates does.
 *
 * All these functions take at most six addresses and integers. */
#include "fortran.h"

typedef void io_function(void *, void *, void *, void *, void *, void *);

#define IO(NAME)                                                                                   \
  void _gfortran_##NAME(void *a, void *b, void *c, void *d, void *e, void *f)                      \
  {                                                                                                \
    struct arena *mode = layer_enter();                                                            \
    static io_function *next;                                                                      \
    if (!next)                                                                                     \
      fortran_next("_gfortran_" #NAME, &next, sizeof next);                                        \
    next(a, b, c, d, e, f);                                                                        \
    layer_leave(mode);                                                                             \
  }

/* Into the program's memory, and out of it. */
#define TRANSFER(KIND) IO(transfer_##KIND) IO(transfer_##KIND##_write)

IO(st_open)
IO(st_close)
IO(st_read)
IO(st_read_done)
IO(st_write)
IO(st_write_done)
IO(st_flush)
IO(st_rewind)
IO(st_backspace)
IO(st_endfile)
IO(st_inquire)
IO(st_iolength)
IO(st_iolength_done)
IO(st_wait)
TRANSFER(array)
TRANSFER(character)
TRANSFER(character_wide)
TRANSFER(complex)
TRANSFER(complex128)
TRANSFER(integer)
TRANSFER(logical)
TRANSFER(real)
TRANSFER(real128)
