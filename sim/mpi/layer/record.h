/* Records the programs' calls (recording.h) if RECLINE_RECORD names a folder. The calls of rank N
 * go into file N. A call whose outcome may differ in another run ends the run; the message has the
 * name of the call. */
#ifndef RECLINE_RECORD_H
#define RECLINE_RECORD_H

#include "sim/host/rank/rank.h"

/* Says whether calls are recorded; record_begin() sets it. The symbol is hidden, because programs
 * have variables of this name. */
extern bool recording __attribute__((visibility("hidden")));

void record_begin(void);

/* record_call() notes that a call `name` of MPI begins, with its arguments. record_called() notes
 * that the call has ended. */
void record_call(const char *name, ...);
void record_called(void);

/* Records any other action, with the words of `value`. */
void record_deed(const char *name, double value);
void record_number(const char *name, uint64_t value);

/* Returns the time that the program gets instead of `now`. A recording with a skew differs if the
 * program decides by clocks. */
double record_clock(double now);

/* Ends the run, if it is recorded, because the program makes a call whose outcome may differ in
 * another run. */
void record_refuse(const char *name);

void record_end(struct rank *); /* is called in MPI_Finalize */

#define RECORD_ITEMS(...) __VA_ARGS__
#define RECORD(NAME, ARGUMENTS)                                                                    \
  if (__builtin_expect(recording, 0))                                                              \
  record_call(#NAME, RECORD_ITEMS ARGUMENTS)

#endif
