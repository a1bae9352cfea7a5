/* Input and output of Fortran, and what else looks at units: with the units of the calling rank
 * (units.h), which it allocates as the program does. They take addresses and integers only. */
#include "fortran.h"
#include "units.h"

/* At most six arguments: as many as come in registers. */
typedef intptr_t io_function(void *, void *, void *, void *, void *, void *);

#define IO(NAME)                                                                                   \
  intptr_t _gfortran_##NAME(void *a, void *b, void *c, void *d, void *e, void *f)                  \
  {                                                                                                \
    struct arena *mode = layer_enter();                                                            \
    static io_function *next;                                                                      \
    if (!next)                                                                                     \
      fortran_next("_gfortran_" #NAME, &next, sizeof next);                                        \
    heap_enter(units_enter(mode));                                                                 \
    intptr_t result = next(a, b, c, d, e, f);                                                      \
    heap_leave();                                                                                  \
    layer_leave(mode);                                                                             \
    return result;                                                                                 \
  }

/* Into the program's memory, and out of it. */
#define TRANSFER(KIND) IO(transfer_##KIND) IO(transfer_##KIND##_write)

/* As a subroutine with a result of any kind of integer, and as a function. */
#define CHARACTER_IO(NAME)                                                                         \
  IO(NAME) IO(NAME##_i1_sub) IO(NAME##_i2_sub) IO(NAME##_i4_sub) IO(NAME##_i8_sub)

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
IO(st_wait_async)
TRANSFER(array)
TRANSFER(character)
TRANSFER(character_wide)
TRANSFER(complex)
TRANSFER(complex128)
IO(transfer_derived)
TRANSFER(integer)
TRANSFER(logical)
TRANSFER(real)
TRANSFER(real128)

IO(flush_i4)
IO(flush_i8)
IO(fnum_i4)
IO(fnum_i8)
IO(fseek_sub)
CHARACTER_IO(ftell)
CHARACTER_IO(fgetc)
CHARACTER_IO(fget)
CHARACTER_IO(fputc)
CHARACTER_IO(fput)
IO(isatty_l4)
IO(isatty_l8)
IO(ttynam)
IO(ttynam_sub)
IO(fstat_i4)
IO(fstat_i4_sub)
IO(fstat_i8)
IO(fstat_i8_sub)

/* What the main program begins with. */
IO(set_args)
IO(set_options)
IO(set_convert)
IO(set_record_marker)
IO(set_max_subrecord_length)
