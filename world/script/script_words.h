/* The words of a line of a script, and what went wrong with them. Only for parts of script.c. */
#ifndef RECLINE_SCRIPT_WORDS_H
#define RECLINE_SCRIPT_WORDS_H

#include <stdbool.h>

/* Where parsing has come to, and what it has seen. */
struct parser {
  const char *at;  /* next character of the line */
  const char *end; /* end of the line, without its comment */
  int line;        /* from 1 */
  int ranks;
  bool free;        /* some operation is free */
  bool branches;    /* some operation is if */
  bool synchronous; /* some operation is ssend */
  bool windows;     /* some operation is window */
  char *message;    /* first error; NULL: none so far */
};

/* A word is a run of characters that are neither blank nor punctuation, or one punctuation. */
struct word {
  const char *start;
  int length; /* 0 at the end of the line */
};

/* The first returns the next word of the line; the second passes it; the third passes it if it is
 * `text`. */
struct word word_peek(struct parser *);
struct word word_take(struct parser *);
bool word_take_if(struct parser *, const char *text);

bool word_is(struct word, const char *text);
bool word_number(struct word, long max, int *value); /* false: none, or above `max` */

/* Both note the first error and return false, so that callers can return it. The first names what
 * was found in place of `what`. */
bool word_expected(struct parser *, struct word found, const char *what);
bool script_fail(struct parser *, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
