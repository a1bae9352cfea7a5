/* Keeps the environment that a program sees. All ranks are one process, but variables that a rank
 * sets belong to that rank. These variables lie in the arena of the rank and are rolled back.
 * Variables set before MPI_Init, and `environ`, belong to the process. */
#include "sim/mpi/layer/wrap.h"

#include <errno.h>
#include <stdlib.h>

struct variable {
  struct variable *next;
  char *name;
  const char *value; /* value of the variable, or NULL if the rank has removed the variable */
};

static struct variable *find(const struct rank *r, const char *name, size_t length)
{
  struct variable *variable = r->mpi->environment;
  while (variable && (strncmp(variable->name, name, length) != 0 || variable->name[length]))
    variable = variable->next;
  return variable;
}

static char *look_up(const struct rank *r, const char *name, const char *of_process)
{
  const struct variable *variable = find(r, name, strlen(name));
  if (variable)
    return (char *)(uintptr_t)variable->value;
  return r->mpi->environment_cleared ? NULL : (char *)(uintptr_t)of_process;
}

char *getenv(const char *name)
{
  BEHIND(getenv)
  char *of_process = getenv_next(name);
  const struct rank *r = rank_self();
  return r ? look_up(r, name, of_process) : of_process;
}

char *secure_getenv(const char *name)
{
  return getenv(name);
}

/* Sets a variable. The text of an older value stays in memory, because the program may still have
 * the address of that text. */
static void set(struct rank *r, const char *name, size_t length, const char *value)
{
  struct variable *variable = find(r, name, length);
  if (!variable) {
    variable = rank_alloc(r, sizeof *variable);
    *variable = (struct variable){.next = r->mpi->environment, .name = rank_alloc(r, length + 1)};
    memcpy(variable->name, name, length);
    variable->name[length] = '\0';
    r->mpi->environment = variable;
  }
  variable->value = value;
}

static bool is_name(const char *name)
{
  if (name && name[0] && !strchr(name, '='))
    return true;
  errno = EINVAL;
  return false;
}

static int set_copy(struct rank *r, const char *name, const char *value, int overwrite)
{
  if (!is_name(name))
    return -1;
  if (!overwrite && getenv(name))
    return 0;
  char *copy = rank_alloc(r, strlen(value) + 1);
  set(r, name, strlen(name), strcpy(copy, value));
  return 0;
}

int setenv(const char *name, const char *value, int overwrite)
{
  BEHIND(setenv)
  LOOK_UP(set_copy(r, name, value, overwrite), setenv_next(name, value, overwrite));
}

static int remove_variable(struct rank *r, const char *name)
{
  if (!is_name(name))
    return -1;
  set(r, name, strlen(name), NULL);
  return 0;
}

int unsetenv(const char *name)
{
  BEHIND(unsetenv)
  LOOK_UP(remove_variable(r, name), unsetenv_next(name));
}

/* The text is not copied, so if the program changes the text later, the variable changes, too. */
static int set_assignment(struct rank *r, const char *assignment)
{
  const char *equals = strchr(assignment, '=');
  if (!equals)
    return remove_variable(r, assignment);
  set(r, assignment, (size_t)(equals - assignment), equals + 1);
  return 0;
}

int putenv(char *assignment)
{
  BEHIND(putenv)
  LOOK_UP(set_assignment(r, assignment), putenv_next(assignment));
}

static int clear(struct rank *r)
{
  r->mpi->environment = NULL;
  r->mpi->environment_cleared = true;
  return 0;
}

int clearenv(void)
{
  BEHIND(clearenv)
  LOOK_UP(clear(r), clearenv_next());
}
