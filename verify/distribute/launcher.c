#define _GNU_SOURCE
#include "verify/distribute/launcher.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Path of the shared object, from the parent of the executable's folder. */
#define MODULE "lib/librecline-transport.so"

static unsigned read_number(const char *variable, unsigned otherwise)
{
  const char *text = getenv(variable);
  unsigned number;
  return text && sscanf(text, "%u", &number) == 1 ? number : otherwise;
}

struct launch launch_read(void)
{
  /* A launcher may itself have been started by a launcher that comes later in this list. */
  static const char *const names[][3] = {
      {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
      {"PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS"},
      {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_TASKS_PER_NODE"}};
  size_t i = 0, last = sizeof names / sizeof *names - 1;
  while (i < last && !getenv(names[i][0]))
    i++;
  struct launch launch = {.rank = read_number(names[i][1], 0), .size = read_number(names[i][0], 1)};
  launch.here = read_number(names[i][2], launch.size);
  return launch;
}

static char *text_of(const char *format, const char *more, unsigned number)
{
  size_t size = strlen(format) + strlen(more) + 20;
  char *text = malloc(size);
  if (text)
    snprintf(text, size, format, number, more);
  return text;
}

/* Returns the function of the shared object. Returns NULL and sets *wrong if the object is missing
 * or does not load. */
static transport_begin *load(unsigned processes, char **wrong)
{
  char file[4096];
  ssize_t length = readlink("/proc/self/exe", file, sizeof file - sizeof "/../" MODULE);
  file[length > 0 ? length : 0] = '\0';
  char *name = strrchr(file, '/');
  strcpy(name ? name : file, "/../" MODULE);
  if (access(file, F_OK) != 0) {
    *wrong = text_of("%u processes were started, and recline was built without MPI%s, expected one "
                     "process, or a build where libopenmpi-dev or libmpich-dev is installed",
                     "", processes);
    return NULL;
  }
  /* The MPI library's plug-ins may need these symbols. */
  void *module = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
  transport_begin *begin = NULL;
  void *symbol = module ? dlsym(module, RECLINE_TRANSPORT) : NULL;
  memcpy(&begin, &symbol, sizeof begin);
  if (!begin)
    *wrong = text_of("%u processes were started, and MPI cannot be loaded: %s, expected it where "
                     "recline was built",
                     dlerror(), processes);
  return begin;
}

/* Returns whether no launcher has told this process of other processes. MPI_Init would end such a
 * process, or hang. */
static bool are_strangers(void)
{
  static const char *const ways[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
  size_t i = 0, all = sizeof ways / sizeof *ways;
  while (i < all && !getenv(ways[i]))
    i++;
  return i == all;
}

static const char alone[] =
    "%u processes were started, and %s, expected a launcher that tells them of each other: srun "
    "--mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH), or the mpirun of the MPI library that recline "
    "was "
    "built with";

const struct transport *launch_connect(const struct launch *launch, char **wrong)
{
  if (are_strangers()) {
    *wrong = text_of(alone, "none can find the others", launch->size);
    return NULL;
  }
  transport_begin *begin = load(launch->size, wrong);
  const struct transport *transport = begin ? begin() : NULL;
  if (!transport || transport->size == launch->size)
    return transport;
  *wrong = text_of(alone, "MPI does not know of all", launch->size);
  transport->end();
  return NULL;
}
