/* Lists the exit codes of every command and of the simulation. Scripts depend on them. */
#ifndef RECLINE_EXIT_CODES_H
#define RECLINE_EXIT_CODES_H

enum {
  EXIT_FINE = 0, /* the result is as expected: a claim holds, a run has recovered */
  /* the result is not as expected; for `recline doctor`: something is missing */
  EXIT_NOT_AS_EXPECTED = 1,
  EXIT_INCONCLUSIVE = 2, /* a bound was reached before the verdict, or memory is exhausted */
  EXIT_BREACH = 3,       /* a bug of recline, or a protocol that breaks the rules of the door */
  EXIT_BAD_INPUT = 64    /* wrong usage or input, no memory, no room on the disk (EX_USAGE of
                            BSD) */
};

#endif
