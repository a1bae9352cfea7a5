#include "protocols/neighbours.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS_MAX = 8 };

struct reading {
  uint32_t *rows;
  int ranks;
  const char *word;
  int length; /* length of the word */
  char *problem;
};

static bool refuse(const struct reading *r, const char *expected)
{
  snprintf(r->problem, NEIGHBOURS_PROBLEM, "\"%.*s\", expected %s", r->length < 32 ? r->length : 32,
           r->word, expected);
  return false;
}

static void join(const struct reading *r, int a, int b)
{
  size_t row = neighbours_row(r->ranks);
  if (a == b) /* this happens in a ring of one rank */
    return;
  r->rows[(size_t)a * row + (size_t)b / 32] |= 1u << b % 32;
  r->rows[(size_t)b * row + (size_t)a / 32] |= 1u << a % 32;
}

/* Reads a number of at most five digits at `*at`, and moves `*at` behind it. Returns -1 if there is
 * no number. */
static int number(const char **at)
{
  int value = 0, digits = 0;
  for (; **at >= '0' && **at <= '9' && digits < 5; digits++)
    value = 10 * value + *(*at)++ - '0';
  return digits ? value : -1;
}

static bool join_line(const struct reading *r, bool ring)
{
  for (int rank = 0; rank + 1 < r->ranks; rank++)
    join(r, rank, rank + 1);
  if (ring)
    join(r, r->ranks - 1, 0);
  return true;
}

static bool join_pair(const struct reading *r)
{
  const char *at = r->word;
  int a = number(&at), b = *at == '-' ? (at++, number(&at)) : -1;
  if (a < 0 || b < 0 || at != r->word + r->length)
    return refuse(r, "all, ring, line, grid-AxB, torus-AxB, hypercube or pairs as 0-1");
  if (a >= r->ranks || b >= r->ranks)
    return refuse(r, "two ranks of the program");
  if (a == b)
    return refuse(r, "two different ranks");
  join(r, a, b);
  return true;
}

/* Reads "4x4". Returns the number of dimensions, or 0 if they are wrong. */
static int read_sizes(const struct reading *r, const char *at, int *size)
{
  int count = 0;
  int64_t all = 1;
  do {
    size[count] = number(&at);
    if (size[count] < 1)
      return 0;
    all *= size[count++];
  } while (*at == 'x' && at++ && count < DIMENSIONS_MAX && all <= r->ranks);
  return at == r->word + r->length && all == r->ranks ? count : 0;
}

/* Joins neighbours of a grid. Ranks of the last dimension are consecutive, as in
 * MPI_Cart_create(). */
static bool join_grid(const struct reading *r, const char *sizes, bool torus)
{
  int size[DIMENSIONS_MAX], count = read_sizes(r, sizes, size), stride = r->ranks;
  if (!count)
    return refuse(r, "sizes as 4x4 whose product is the number of ranks");
  for (int d = 0; d < count; d++) {
    stride /= size[d];
    for (int rank = 0; rank < r->ranks; rank++) {
      int place = rank / stride % size[d];
      if (place + 1 < size[d])
        join(r, rank, rank + stride);
      else if (torus)
        join(r, rank, rank - place * stride);
    }
  }
  return true;
}

/* Joins the pairs of ranks that algorithms of collective calls use, which are binomial trees from
 * rank 0 and recursive doubling. */
static bool join_hypercube(const struct reading *r)
{
  for (int rank = 0; rank < r->ranks; rank++)
    for (int bit = 1; (rank | bit) < r->ranks && bit < r->ranks; bit *= 2)
      join(r, rank, rank | bit);
  return true;
}

static bool is(const struct reading *r, const char *name)
{
  return (int)strlen(name) == r->length && !memcmp(r->word, name, (size_t)r->length);
}

static bool join_word(const struct reading *r)
{
  static const char grid[] = "grid-", torus[] = "torus-";
  if (is(r, "ring") || is(r, "line"))
    return join_line(r, is(r, "ring"));
  if (is(r, "hypercube"))
    return join_hypercube(r);
  if (!strncmp(r->word, grid, sizeof grid - 1))
    return join_grid(r, r->word + sizeof grid - 1, false);
  if (!strncmp(r->word, torus, sizeof torus - 1))
    return join_grid(r, r->word + sizeof torus - 1, true);
  return join_pair(r);
}

uint32_t *neighbours_read(const char *text, int ranks, char *problem)
{
  struct reading r = {.ranks = ranks, .word = text, .problem = problem};
  r.rows = calloc((size_t)ranks * neighbours_row(ranks), sizeof *r.rows);
  bool good = r.rows != NULL;
  if (!good)
    snprintf(problem, NEIGHBOURS_PROBLEM, "too many ranks for the memory, expected fewer");
  do {
    r.word += strspn(r.word, " ");
    r.length = (int)strcspn(r.word, " ");
    good = good && join_word(&r);
    r.word += r.length;
  } while (good && r.word[strspn(r.word, " ")]);
  if (good)
    return r.rows;
  free(r.rows);
  return NULL;
}

/* Visits each reached rank once, and reaches further ranks from it. */
int neighbours_unreached(const uint32_t *rows, int ranks)
{
  size_t row = neighbours_row(ranks);
  int *queue = calloc((size_t)ranks, sizeof *queue), count = 1, unreached = -1;
  uint32_t *reached = calloc(row, sizeof *reached);
  if (!queue || !reached)
    abort();
  reached[0] = 1;
  for (int i = 0; i < count; i++)
    for (int peer = 0; peer < ranks; peer++) {
      uint32_t bit = 1u << peer % 32, *word = &reached[peer / 32];
      if (rows[(size_t)queue[i] * row + (size_t)peer / 32] & bit & ~*word) {
        *word |= bit;
        queue[count++] = peer;
      }
    }
  for (int peer = ranks - 1; peer >= 0; peer--)
    if (!(reached[peer / 32] & 1u << peer % 32))
      unreached = peer;
  free(queue);
  free(reached);
  return unreached;
}
