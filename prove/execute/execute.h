/* Executes LLVM's IR symbolically: all paths of a function of a protocol.
 *
 * A pointer is always known: it is an object and an offset. If an index is unknown, the path forks:
 * each value that the index can have gets a path. If a condition is unknown, each possible outcome
 * gets a path. A path consists of the conditions that hold on it and of its memory. Code that can
 * be executed has no heap, and its loops go over ranks and over lists of known length, so paths
 * end. After executor_merge(), the executor makes one path of two paths that have parted and come
 * to the same instruction. If the two have different numbers, the merged path has a value that
 * depends on the conditions by which they parted.
 *
 *     term.c       values
 *     solve.c      which conditions are possible
 *     bytes.c      objects, bytes
 *     module.c     functions, globals, constants
 *     execute.c    instructions
 *     calls.c      calls, intrinsics
 *     flow.c       order of blocks, values that are needed later
 *     merge.c      paths that meet
 */
#ifndef RECLINE_PROVE_EXECUTE_H
#define RECLINE_PROVE_EXECUTE_H

#include <glib.h>
#include <llvm-c/Target.h>

#include "prove/execute/flow.h"
#include "prove/execute/term.h"

/* Describes a byte of memory, which is byte `k` of the value `of`. If the value's kind is
 * VALUE_NONE, the byte was never written. */
struct cell {
  struct value of;
  uint8_t k;
};

/* Holds the bytes of an object, which paths share until one of them writes. */
struct block {
  unsigned users;
  uint32_t size;
  struct cell cell[];
};

struct object {
  char *name; /* the name of a global or a variable */
  uint32_t size;
  bool constant; /* no code may write to the object */
  /* For a variable of a function: the instruction that makes it. */
  LLVMValueRef variable;
  unsigned depth;
  /* Paths do not merge if they differ in known bytes among the first `fixed` of each `stride`
   * bytes. Much depends on these bytes, such as the kind of an action or the number of actions. */
  uint32_t stride, fixed;
};

/* Numbers the objects that always exist. A null pointer points to the first; a pointer whose index
 * has left its object points to the second. */
enum { OBJECT_NULL, OBJECT_OUTSIDE };

struct code; /* a function with numbered instructions (module.c) */

struct frame {
  const struct code *code;
  LLVMBasicBlockRef block, before;
  LLVMValueRef next; /* the next instruction */
  /* the caller's instruction that gets the result, or NULL if there is none */
  LLVMValueRef call;
  struct value *registers; /* by the number of the instruction or argument */
  uint16_t *trips;         /* by loop (flow.h): number of trips; NULL if paths do not merge */
};

enum { FRAMES = 32, WHAT_MAX = 200 };

struct path {
  struct block **memory; /* by object: its bytes, or NULL if they are as they were at first */
  uint32_t objects;
  struct frame frame[FRAMES];
  unsigned depth;
  GPtrArray *conditions; /* Z3_ast: the conditions under which the path is taken */
  Z3_model model;        /* a model in which all conditions hold */
  bool meets;            /* the path may meet others at its next instruction */
  struct value result;
  char fault[WHAT_MAX]; /* the forbidden thing that the path does, or "" if there is none */
  LLVMValueRef at;      /* the instruction that does the forbidden thing */
};

struct executor {
  LLVMModuleRef module;
  LLVMTargetDataRef layout;
  Z3_context z3;
  Z3_solver solver;
  GPtrArray *asserted; /* conditions on the solver's stack */
  GArray *objects;     /* struct object */
  GPtrArray *first;    /* struct block: the bytes of each object at first */
  GHashTable *codes, *globals, *raises;
  /* instruction -> GArray of uint32_t: the variables that it makes, by depth */
  GHashTable *variables;
  GPtrArray *work; /* struct path: paths to continue */
  bool merges;     /* true if paths that meet become one */
  /* true if numbers are assumed to fit, so that sums, products and cut numbers are exact */
  bool exact;
  uint64_t most; /* the largest value of a number that counts, or 0 if any value that fits may be */
  /* true if a call of snprintf() is a fault: protocols/grammar.c calls it only to refuse actions */
  bool refuses;
  gint64 until;     /* monotonic time in microseconds, or 0 for no bound */
  unsigned effort;  /* bound of a question, in units of Z3's rlimit, or 0 for no bound */
  unsigned unknown; /* number of questions that the solver did not decide */
  bool late;        /* `until` has passed, or the memory for paths is used up */
  uint64_t paths, queries, steps, merged;
  /* the first instruction that the executor does not know, or empty if there is none */
  GString *unsupported;
};

/* ---- module.c ---- */

/* Prepares an executor, which owns the module from then on. */
void executor_init(struct executor *, LLVMModuleRef);
void executor_clear(struct executor *);
/* Makes one path of paths that meet, from now on. Must be called before the first assumption.
 * Questions then go to Z3's core for terms, because its solver for bit-vectors takes a hundred
 * times as long for values that depend on conditions. */
void executor_merge(struct executor *);

/* Returns why the executor has not looked at everything, or NULL if it has. The caller frees it
 * with g_free(). */
char *executor_undecided(const struct executor *);
const struct code *executor_code(struct executor *, LLVMValueRef function);
LLVMValueRef code_function(const struct code *);
unsigned code_registers(const struct code *);
struct flow *code_flow(const struct code *); /* NULL if paths do not merge */
/* Returns the number of the function in the order in which functions were first executed. */
unsigned code_order(const struct code *);
/* Returns the number of an instruction or argument, or -1 if the function does not have it. */
int code_number(const struct code *, LLVMValueRef);
/* Returns the object of a global, and makes the object at the first call. */
uint32_t executor_global(struct executor *, LLVMValueRef global);
struct value executor_constant(struct executor *, LLVMValueRef);
uint64_t executor_size(const struct executor *, LLVMTypeRef);

/* ---- bytes.c ---- */

/* Makes an object of `size` bytes that were never written, for all later paths. Returns its
 * number. */
uint32_t executor_object(struct executor *, const char *name, uint32_t size, bool constant);
const struct object *executor_object_at(const struct executor *, uint32_t object);
/* Keeps paths apart that differ in known bytes among the first `fixed` of each `stride` bytes. */
void executor_keep_apart(struct executor *, uint32_t object, uint32_t stride, uint32_t fixed);
/* Makes the variable of an instruction of the path's function, an array of `items` whose bytes were
 * never written. Returns the object's number, which is the same for all paths at the same place. */
uint32_t path_variable(struct executor *, struct path *, LLVMValueRef instruction, uint32_t items);
struct block *block_new(uint32_t size);
void block_release(struct block *);
struct block *block_share(struct block *);
void block_write(Z3_context, struct block *, uint32_t at, const struct value *, uint32_t bytes);
/* Returns the bytes of an object in a path. */
const struct block *path_block(const struct executor *, const struct path *, uint32_t object);
/* Returns bytes of an object that belong to this path alone, so that the path may write them. */
struct block *path_own_block(struct executor *, struct path *, uint32_t object);
/* Sets the bytes of an object back to what they were at first. */
void path_forget(struct path *, uint32_t object);
/* Returns whether the cells are all the bytes of one value, in order. */
bool cells_are_whole(const struct cell *, uint32_t bytes);
/* These functions load and store a value. They return false if the access is not allowed;
 * path->fault says why. */
bool path_load(struct executor *, struct path *, const struct value *from, LLVMTypeRef,
               struct value *);
bool path_store(struct executor *, struct path *, const struct value *to, LLVMTypeRef,
                const struct value *);
bool path_copy(struct executor *, struct path *, const struct value *to, const struct value *from,
               uint64_t bytes);
bool path_fill(struct executor *, struct path *, const struct value *to, const struct value *byte,
               uint64_t bytes);
/* Returns `bytes` of an object as one value. */
struct value path_peek(struct executor *, const struct path *, uint32_t object, uint32_t at,
                       uint32_t bytes);

/* ---- solve.c ---- */

/* Adds a condition that holds on all paths. */
void executor_assume(struct executor *, Z3_ast);
/* Returns a solver for one question, without any assumption. For a long question such a solver is
 * quicker than the executor's own, which answers many. The caller releases it. */
Z3_solver executor_solver_anew(struct executor *);
/* Bounds the solver's time by the time that is left, and its work by `effort`. */
void executor_set_bounds(const struct executor *, Z3_solver);
/* Returns whether the conditions of the path and `more` can hold together. If so, and if `model` is
 * not NULL, sets *model to a model of these conditions, which the caller releases. */
bool path_possible(struct executor *, struct path *, Z3_ast more, Z3_model *model);
void path_add(struct executor *, struct path *, Z3_ast condition, Z3_model model);
/* Returns the value of a term in the model of a path. */
uint64_t path_model(struct executor *, const struct path *, const struct value *);
/* Finds up to `room` values that a term of the path can have; returns their number. */
unsigned path_values(struct executor *, struct path *, const struct value *, uint64_t *values,
                     unsigned room);

/* ---- execute.c ---- */

struct path *path_new(struct executor *);
struct path *path_fork(struct executor *, const struct path *);
void path_free(struct executor *, struct path *);
bool path_fault(struct path *, LLVMValueRef at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Enters a function. Its result goes to the instruction `call`, or to path->result if that is
 * NULL. */
bool path_enter(struct executor *, struct path *, LLVMValueRef function, const struct value *args,
                unsigned count, LLVMValueRef call);
struct value path_operand(struct executor *, struct path *, LLVMValueRef);
void path_set(struct path *, LLVMValueRef instruction, struct value);
/* Continues `path`, which the executor owns from then on, and all paths that come from it. Calls
 * `ended` with each path whose first function has returned or that has a fault. */
void executor_run(struct executor *, struct path *, void (*ended)(void *ctx, struct path *),
                  void *ctx);

enum go_on { GO_ON, GO_AGAIN, GO_ENDED, GO_NOWHERE };

/* Forks over the values of `v`, the operand `of` of an instruction. Each fork executes the
 * instruction again. Always returns NOWHERE, as the path itself is not continued. */
enum go_on path_split(struct executor *, struct path *, LLVMValueRef instruction, LLVMValueRef of,
                      const struct value *v);
enum go_on path_unsupported(struct executor *, struct path *, LLVMValueRef instruction);

/* ---- merge.c ---- */

/* Removes from the list the path that is to be continued first, and returns it. This is the path
 * that has made the least progress, among the paths from number `outer` on. */
struct path *paths_next(struct executor *, guint outer);
/* Puts the path back into the list of paths to continue. If a path in the list is at the same
 * instruction and differs in numbers only, merges the two. Takes ownership of the path. */
void path_meet(struct executor *, guint outer, struct path *);

/* ---- calls.c ---- */

enum go_on path_call(struct executor *, struct path *, LLVMValueRef call);

#endif
