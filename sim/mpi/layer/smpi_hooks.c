/* Replaces functions of SMPI (smpi_hooks.h). This file is part of a library that is preloaded into
 * the process that smpirun starts. */
#include "sim/mpi/layer/smpi_hooks.h"
#include "sim/memory/next_symbol.h"

static const struct smpi_hooks *hooks;

#define HOOK(RESULT, RETURN, NAME, SYMBOL, PARAMETERS, ARGUMENTS)                                  \
  RESULT hook_##NAME PARAMETERS __asm__(SYMBOL);                                                   \
  RESULT hook_##NAME PARAMETERS                                                                    \
  {                                                                                                \
    static RESULT(*next) PARAMETERS;                                                               \
    if (hooks && hooks->inside()) {                                                                \
      RETURN hooks->NAME ARGUMENTS;                                                                \
    } else {                                                                                       \
      if (!next)                                                                                   \
        find_next(SYMBOL, &next, sizeof next);                                                     \
      RETURN next ARGUMENTS;                                                                       \
    }                                                                                              \
  }
SMPI_HOOKS(HOOK)

bool smpi_hooks_set(const struct smpi_hooks *what)
{
  MPI_Request (*found)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
  void *symbol = dlsym(RTLD_DEFAULT, OF_SMPI "7Request5isendEPKviPNS0_8DatatypeEiiPNS0_4CommE");
  memcpy(&found, &symbol, sizeof found);
  hooks = what;
  return found == hook_isend;
}

/* SimGrid's options end at `--`. But SimGrid removes every word `--`, including those of the
 * program. So SimGrid is not shown the program's words. */
void hook_options(int *argc, char **argv) __asm__("_Z14sg_config_initPiPPc");
void hook_options(int *argc, char **argv)
{
  static void (*next)(int *, char **);
  int own = 0;
  while (own < *argc && strcmp(argv[own], "--") != 0)
    own++;
  char **words = argv + own + 1;
  int count = *argc > own ? *argc - own - 1 : 0;
  if (!next)
    find_next("_Z14sg_config_initPiPPc", &next, sizeof next);
  *argc = own;
  next(argc, argv); /* SimGrid removes the options that it knows */
  memmove(argv + *argc, words, (size_t)count * sizeof *argv);
  *argc += count;
  argv[*argc] = NULL;
}
