/* Reads the words of a script's line, and keeps the first error. Only the files of the script's
 * parser use this. */
#ifndef RECLINE_SCRIPT_WORDS_H
#define RECLINE_SCRIPT_WORDS_H

#include <stdbool.h>

/* Tells how far the script is parsed, and what its lines had so far. */
struct parser {
  const char *at;  /* next character of the line */
  const char *end; /* end of the line, without its comment */
  int line;        /* number of the line, from 1 */
  int ranks;
  bool free;        /* some operation is free */
  bool branches;    /* some operation is if */
  bool synchronous; /* some operation is ssend */
  bool windows;     /* some operation is window */
  char *message;    /* first error, or NULL if there is none so far */
};

/* A word is a run of characters that are neither blank nor punctuation, or a single character of
 * punctuation. */
struct word {
  const char *start;
  int length; /* length of the word, or 0 at the end of the line */
};

/* word_peek() returns the next word of the line. word_take() returns that word and goes on behind
 * it. word_take_if() goes on behind the next word if it is `text`, and returns whether it is. */
struct word word_peek(struct parser *);
struct word word_take(struct parser *);
bool word_take_if(struct parser *, const char *text);

bool word_is(struct word, const char *text);
/* Reads a number. Returns false if the word is no number, or a number above `max`. */
bool word_number(struct word, long max, int *value);

/* These functions note an error, and return false. Each caller then returns false at once, so a
 * script has only one error. word_expected() names the word that was found instead of `what`. */
bool word_expected(struct parser *, struct word found, const char *what);
bool script_fail(struct parser *, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
