/* Keeps handlers for the end of the process, above all destructors of static objects. libc keeps
 * one list of handlers for the process. There are two problems with that list. A rank that is
 * rolled back registers its static objects again. And memory that libc allocates for its list would
 * lie in the rank's arena, and would disappear in a rollback.
 *
 * So handlers that are registered in program mode are kept in a list in the arena, which a rollback
 * restores. libc gets one handler for each arena. */
#define _GNU_SOURCE
#include "sim/memory/arena.h"
#include "sim/memory/heap.h"
#include "sim/memory/next_symbol.h"

#include <errno.h>

typedef void handler_function(void *);

struct exit_handler {
  handler_function *function;
  void *argument;
  void *program; /* __dso_handle of the program that registered the handler */
  struct exit_handler *previous;
};

static int libc_atexit(handler_function *function, void *argument, void *program)
{
  static int (*next)(handler_function *, void *, void *);
  if (!next)
    find_next("__cxa_atexit", &next, sizeof next);
  return next(function, argument, program);
}

/* Runs the handlers of a program, or of all programs if `program` is NULL. Begins with the handler
 * that was registered last. Takes each handler off the list before it runs, because a handler may
 * register another handler. */
static void run_handlers(struct arena *arena, const void *program)
{
  struct exit_handler **link = &arena_notes(arena)->exits;
  while (*link) {
    struct exit_handler handler = **link;
    if (program && handler.program != program) {
      link = &(*link)->previous;
      continue;
    }
    arena_free(arena, *link);
    *link = handler.previous;
    heap_enter(arena);
    handler.function(handler.argument);
    heap_leave();
    link = &arena_notes(arena)->exits;
  }
}

static void run_all(void *arena)
{
  run_handlers(arena, NULL);
}

/* Registers an arena with libc, but only once, even if the rank is rolled back. */
static int tell_libc(struct arena *arena)
{
  static bool told[HEAP_RANKS];
  int rank = arena_rank(arena);
  if (told[rank])
    return 0;
  told[rank] = true;
  return libc_atexit(run_all, arena, NULL);
}

static int add_handler(handler_function *function, void *argument, void *program)
{
  struct arena *arena = heap_leave();
  int error;
  if (!arena) {
    error = libc_atexit(function, argument, program);
  } else {
    struct exit_handler *handler = arena_malloc(arena, sizeof *handler);
    error = handler ? tell_libc(arena) : ENOMEM;
    if (handler) {
      struct arena_notes *notes = arena_notes(arena);
      *handler = (struct exit_handler){function, argument, program, notes->exits};
      notes->exits = handler;
    }
  }
  heap_enter(arena);
  return error;
}

/* atexit() and constructors of static objects call this. */
HEAP_API int __cxa_atexit(handler_function *function, void *argument, void *program);
HEAP_API int __cxa_atexit(handler_function *function, void *argument, void *program)
{
  return add_handler(function, argument, program);
}

/* Constructors of thread_local objects call this. All ranks are one thread, so the end of that
 * thread is the end of the process. */
HEAP_API int __cxa_thread_atexit_impl(handler_function *function, void *argument, void *program);
HEAP_API int __cxa_thread_atexit_impl(handler_function *function, void *argument, void *program)
{
  struct arena *arena = heap_leave();
  heap_enter(arena);
  if (arena)
    return add_handler(function, argument, program);
  static int (*next)(handler_function *, void *, void *);
  if (!next)
    find_next("__cxa_thread_atexit_impl", &next, sizeof next);
  return next(function, argument, program);
}

/* A program or library calls this when it is about to be unloaded. */
HEAP_API void __cxa_finalize(void *program);
HEAP_API void __cxa_finalize(void *program)
{
  static void (*next)(void *);
  struct arena *mode = heap_leave();
  for (int rank = 0; rank < HEAP_RANKS && program; rank++)
    if (arena_of_rank(rank))
      run_handlers(arena_of_rank(rank), program);
  if (!next)
    find_next("__cxa_finalize", &next, sizeof next);
  next(program);
  heap_enter(mode);
}
