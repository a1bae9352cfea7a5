#include "world/script/script_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world/script/script_parts.h"

bool script_fail(struct parser *p, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  char text[512];
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  p->message = checked(malloc(strlen(text) + 1));
  memcpy(p->message, text, strlen(text) + 1);
  return false;
}

static bool blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

static bool punctuation(char c)
{
  return c == ',' || c == '(' || c == ')' || c == ':';
}

struct word word_peek(struct parser *p)
{
  while (p->at < p->end && blank(*p->at))
    p->at++;
  const char *end = p->at;
  if (end < p->end && punctuation(*end))
    end++;
  else
    while (end < p->end && !blank(*end) && !punctuation(*end))
      end++;
  return (struct word){p->at, (int)(end - p->at)};
}

struct word word_take(struct parser *p)
{
  struct word word = word_peek(p);
  p->at += word.length;
  return word;
}

bool word_is(struct word word, const char *text)
{
  return word.length == (int)strlen(text) && !memcmp(word.start, text, (size_t)word.length);
}

bool word_take_if(struct parser *p, const char *text)
{
  if (!word_is(word_peek(p), text))
    return false;
  word_take(p);
  return true;
}

bool word_expected(struct parser *p, struct word found, const char *what)
{
  if (!found.length)
    return script_fail(p, "the line ends, expected %s", what);
  return script_fail(p, "found '%.*s', expected %s", found.length < 40 ? found.length : 40,
                     found.start, what);
}

bool word_number(struct word word, long max, int *value)
{
  long sum = 0;
  for (int i = 0; i < word.length; i++) {
    if (word.start[i] < '0' || word.start[i] > '9')
      return false;
    sum = 10 * sum + (word.start[i] - '0');
    if (sum > max)
      return false;
  }
  *value = (int)sum;
  return word.length > 0;
}
