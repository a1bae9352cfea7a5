#include "base/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { LENGTH_MAX = 100 };

static unsigned least(unsigned a, unsigned b)
{
  return a < b ? a : b;
}

/* Returns the number of edits between two texts (optimal string alignment). Of the table, only row
 * i and the two rows before it are kept. */
static unsigned distance(const char *a, const char *b)
{
  unsigned rows[3][LENGTH_MAX + 1];
  size_t n = strlen(b);
  for (unsigned j = 0; j <= n; j++)
    rows[0][j] = j;
  for (unsigned i = 1; a[i - 1]; i++) {
    unsigned *now = rows[i % 3], *before = rows[(i + 2) % 3], *older = rows[(i + 1) % 3];
    now[0] = i;
    for (unsigned j = 1; j <= n; j++) {
      now[j] = least(before[j - 1] + (a[i - 1] != b[j - 1]), least(before[j], now[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = least(now[j], older[j - 2] + 1);
    }
  }
  return rows[strlen(a) % 3][n];
}

const char *nearest(const char *word, const char *const *names)
{
  const char *found = NULL;
  size_t length = strlen(word);
  unsigned best = (unsigned)(length < 3 ? 1 : length / 3) + 1;
  if (length < 2 || length > LENGTH_MAX)
    return NULL;
  for (; *names; names++) {
    unsigned edits = strlen(*names) > LENGTH_MAX ? best : distance(word, *names);
    if (edits < best) {
      best = edits;
      found = *names;
    }
  }
  return found;
}

char *did_you_mean(const char *word, const char *const *names)
{
  const char *name = nearest(word, names);
  size_t size = name ? strlen(name) + sizeof "; did you mean ?" : 1;
  char *text = memory_grow(NULL, size);
  snprintf(text, size, name ? "; did you mean %s?" : "%s", name ? name : "");
  return text;
}
