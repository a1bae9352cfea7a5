/* recline-prove WHAT FORM SECONDS RANKS CAPACITY WITHOUT KEEP SET PROTOCOL...: the program that
 * `recline prove` runs. It is a program of its own because LLVM and Z3 are large, and nothing else
 * in recline needs them. WHAT is "memory" or "line". FORM is "text" or "json". If RANKS or CAPACITY
 * is 0, "memory" takes all usual values (2 and 3 ranks, capacity 1 and 2), and "line" takes the
 * least value. WITHOUT is a clause to leave out, or "". KEEP is a folder for proved moves, or
 * "". SET has the values of parameters (settings.h), or is "". */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/exit_codes.h"
#include "prove/bitcode.h"
#include "prove/line_report.h"
#include "prove/step_proof.h"

static const char *const aspects[ASPECTS] = {"memory", "actions"};

enum { RANKS_LEAST = 2, RANKS_MOST = 3, CAPACITY_MOST = 2 };

static void print_found(const struct counterexample *found, const char *aspect)
{
  printf("  %s: %s\n    rank %d of %d, capacity %u, event: %s\n    state:%s\n", aspect, found->what,
         found->self, found->ranks, found->capacity, found->event,
         found->state->len ? found->state->str : " all zero");
  for (char *line = found->actions->str, *end; *line; line = end) {
    end = strchr(line, '\n') + 1;
    printf("    action: %.*s", (int)(end - line), line);
  }
}

/* Prints the result. Returns the exit code. */
static int conclude(const char *name, const struct memory_proof *proof, const GArray *settings,
                    double seconds)
{
  bool failed = false;
  g_autofree char *set = settings_text(settings);
  for (unsigned i = 0; i < ASPECTS; i++)
    failed |= proof->found[i].what != NULL;
  printf("%-28s %-10s %u worlds, %s%" G_GUINT64_FORMAT " paths, %" G_GUINT64_FORMAT
         " queries, %.1f s\n",
         name, verdict_word(failed, proof->undecided), proof->worlds, set, proof->paths,
         proof->queries, seconds);
  for (unsigned i = 0; i < ASPECTS; i++)
    if (proof->found[i].what)
      print_found(&proof->found[i], aspects[i]);
    else if (failed)
      printf("  %s: %s\n", aspects[i], proof->undecided ? "undecided" : "proved");
  if (proof->undecided)
    printf("  %s\n", proof->undecided);
  fflush(stdout);
  return failed ? EXIT_NOT_AS_EXPECTED : proof->undecided ? EXIT_INCONCLUSIVE : EXIT_FINE;
}

/* Holds the options, which are the same for all protocols. */
struct asked {
  const char *what, *without, *keep;
  JsonBuilder *json; /* builder of the result, or NULL to print the result as text */
  double seconds;    /* most seconds of a proof, or 0 for no bound */
  /* number of ranks of the worlds; 0 stands for 2 and 3 in "memory", and for 2 in "line" */
  int ranks;
  /* capacity of the worlds; 0 stands for 1 and 2 in "memory", and for 1 in "line" */
  int capacity;
  const GArray *set; /* values of parameters */
};

/* Proves for all worlds of the options that no step misuses its memory or its list of actions. */
static int prove_memory(const char *name, const char *protocol, LLVMModuleRef module,
                        const struct asked *asked, gint64 until, clock_t ticks)
{
  struct memory_proof proof = {0};
  int ranks = asked->ranks ? asked->ranks : RANKS_LEAST,
      ranks_end = asked->ranks ? asked->ranks : RANKS_MOST,
      capacity_end = asked->capacity ? asked->capacity : CAPACITY_MOST;
  for (; ranks <= ranks_end; ranks++)
    for (int capacity = asked->capacity ? asked->capacity : 1; capacity <= capacity_end; capacity++)
      for (int self = 0; self < ranks; self++) {
        const struct prove_worlds worlds = {ranks, (uint32_t)capacity, asked->set};
        memory_prove(module, protocol, self, &worlds, until, &proof);
      }
  int code = conclude(name, &proof, asked->set, (double)(clock() - ticks) / CLOCKS_PER_SEC);
  memory_proof_clear(&proof);
  return code;
}

static int prove_line(const char *name, const char *protocol, LLVMModuleRef module,
                      const struct asked *asked, gint64 until, clock_t ticks)
{
  struct line_proof proof;
  const struct line_asked line = {
      .worlds = {.ranks = asked->ranks ? asked->ranks : RANKS_LEAST,
                 .capacity = asked->capacity ? (uint32_t)asked->capacity : 1,
                 .set = asked->set},
      .without = *asked->without ? asked->without : NULL,
      .keep = *asked->keep ? asked->keep : NULL,
      .until = until};
  line_prove(module, protocol, &line, &proof);
  int code =
      line_report(name, &line, &proof, (double)(clock() - ticks) / CLOCKS_PER_SEC, asked->json);
  line_proof_clear(&proof);
  return code;
}

/* Returns whether the protocol has all parameters that have a value. If not, complains. */
static bool takes_settings(const char *name, const char *protocol, LLVMModuleRef module,
                           const GArray *set)
{
  struct rank_world w;
  const struct prove_worlds least = {.ranks = RANKS_LEAST, .capacity = 1, .set = set};
  const struct setting *stranger =
      rank_world_init(&w, module, protocol, 0, &least) ? rank_world_stranger(&w) : NULL;
  g_autofree char *names = g_strjoinv(", ", (char **)w.parameters);
  if (stranger)
    fprintf(stderr, "recline prove: --set %s, expected a parameter of %s (%s)\n", stranger->text,
            name, *names ? names : "none");
  rank_world_clear(&w);
  return !stranger;
}

static int prove(const char *name, const struct asked *asked)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *protocol = NULL;
  LLVMModuleRef module = bitcode_load(name, &protocol, &error);
  if (!module) {
    fprintf(stderr, "recline prove: %s\n", error->message);
    return EXIT_BAD_INPUT;
  }
  if (!takes_settings(name, protocol, module, asked->set)) {
    LLVMDisposeModule(module);
    return EXIT_BAD_INPUT;
  }
  /* the bound is in seconds of processor time, which do not depend on other programs */
  clock_t ticks = clock();
  gint64 until =
      asked->seconds > 0 ? g_get_monotonic_time() + (gint64)(asked->seconds * G_USEC_PER_SEC) : 0;
  bool memory = g_str_equal(asked->what, "memory");
  int code = (memory ? prove_memory : prove_line)(name, protocol, module, asked, until, ticks);
  LLVMDisposeModule(module);
  return code;
}

/* Returns the more important of two exit codes. The most important is the code for bad input,
 * followed by those for "fails", "undecided" and "proved". */
static int worse(int a, int b)
{
  static const int order[] = {EXIT_BAD_INPUT, EXIT_NOT_AS_EXPECTED, EXIT_INCONCLUSIVE};
  for (size_t i = 0; i < G_N_ELEMENTS(order); i++)
    if (a == order[i] || b == order[i])
      return order[i];
  return a;
}

int main(int argc, char **argv)
{
  int code = EXIT_FINE;
  if (argc < 10)
    return EXIT_BAD_INPUT;
  g_autoptr(GArray) set = settings_read(argv[8]);
  g_autoptr(JsonBuilder) json = g_str_equal(argv[2], "json") ? json_builder_new() : NULL;
  const struct asked asked = {.what = argv[1],
                              .json = json,
                              .seconds = g_ascii_strtod(argv[3], NULL),
                              .ranks = atoi(argv[4]),
                              .capacity = atoi(argv[5]),
                              .without = argv[6],
                              .keep = argv[7],
                              .set = set};
  if (json) {
    json_builder_begin_object(json);
    json_add_text(json, "version", RECLINE_VERSION);
    json_open_list(json, "proofs");
  }
  for (int i = 9; i < argc; i++)
    code = worse(code, prove(argv[i], &asked));
  if (json) {
    json_builder_end_array(json);
    json_builder_end_object(json);
    json_print(json);
  }
  return code;
}
