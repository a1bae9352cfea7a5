/* Tests that every thread that runs foreign code without an end is stopped, even while other
 * threads make calls that end at once. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/confine.h"
#include "protocols/t/tap.h"

enum { ENDLESS = 2, THREADS = 3, TOO_LONG = 60 };

static atomic_int ended;

static void turn_for_ever(void *data)
{
  for (volatile unsigned *turns = data;; ++*turns)
    ;
}

static void return_at_once(void *data)
{
  ++*(unsigned *)data;
}

static void *run_endless(void *late)
{
  struct confine_end end = {0};
  unsigned turns = 0;
  *(bool *)late = !confine_run(turn_for_ever, &turns, &end) && end.late;
  ended++;
  return NULL;
}

/* Calls as long as another thread runs code that does not end, so that a watch of all calls
 * together would see progress. */
static void *run_short(void *returned)
{
  struct confine_end end;
  unsigned calls = 0, wanted = 0;
  while (ended < ENDLESS)
    wanted += confine_run(return_at_once, &calls, &end);
  *(bool *)returned = calls == wanted && calls;
  return NULL;
}

int main(void)
{
  pthread_t thread[THREADS];
  bool right[THREADS] = {0};
  alarm(TOO_LONG); /* a broken watch would wait for ever */
  for (int i = 0; i < THREADS; i++)
    pthread_create(&thread[i], NULL, i < ENDLESS ? run_endless : run_short, &right[i]);
  for (int i = 0; i < THREADS; i++)
    pthread_join(thread[i], NULL);
  ok(right[0] && right[1], "two threads at once run code that does not end: both are ended");
  ok(right[2], "calls of a third thread return meanwhile");
  return done();
}
