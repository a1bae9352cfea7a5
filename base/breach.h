/* Reports errors in the input and in recline itself, and checks invariants at run time. */
#ifndef RECLINE_BREACH_H
#define RECLINE_BREACH_H

/* Reports bad input: prints the formatted text on one line to standard error (line ends become
 * spaces). Returns EXIT_BAD_INPUT. */
int bad_input(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reports an error in recline itself: prints one line, "breach: " and the formatted text, to
 * standard error and ends the process with exit code 3. Buffered output of other streams is lost;
 * no exit handlers run, because other threads may still be at work. */
_Noreturn void breach(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* States an invariant: `condition` must be true, and `text` (a string) says so in words. REQUIRE()
 * is always checked, so its condition must be cheap. CHECK() is compiled in all builds, but checked
 * only if RECLINE_CHECKS is 1 (a CMake option, on in sanitizer builds); its condition may take
 * long. */
#define REQUIRE(condition, text)                                                                   \
  do {                                                                                             \
    if (__builtin_expect(!(condition), 0))                                                         \
      breach("%s:%d: %s", __FILE__, __LINE__, text);                                               \
  } while (0)

#ifndef RECLINE_CHECKS
#define RECLINE_CHECKS 0
#endif

#define CHECK(condition, text)                                                                     \
  do {                                                                                             \
    if (RECLINE_CHECKS)                                                                            \
      REQUIRE(condition, text);                                                                    \
  } while (0)

#endif
