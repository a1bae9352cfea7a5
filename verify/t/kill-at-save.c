/* Kills a check, or one of its processes, after a save in which a number is larger than a given
 * one. A test loads this library by LD_PRELOAD.
 *
 * KILL_AT_SAVE has the offset of the number, of 64 bits, in the file of a save, and the number that
 * it has to exceed, such as 16:5000.
 */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static pid_t check; /* the process of the command, whose child explores */

__attribute__((constructor)) static void remember_process(void)
{
  check = getpid();
}

static uint64_t number_at(const char *name, uint64_t offset)
{
  uint64_t number = 0;
  FILE *file = fopen(name, "rb");
  if (!file || fseek(file, (long)offset, SEEK_SET) || fread(&number, sizeof number, 1, file) != 1)
    abort();
  fclose(file);
  return number;
}

/* Replaces rename(), by which a complete save, or the part of one process (.save.1-of-3.0), gets
 * its name. */
int rename(const char *from, const char *to)
{
  uint64_t offset = 0, most = 0;
  const char *wanted = getenv("KILL_AT_SAVE");
  int code = renameat(AT_FDCWD, from, AT_FDCWD, to);
  if (!code && wanted && strstr(to, ".save") &&
      sscanf(wanted, "%" SCNu64 ":%" SCNu64, &offset, &most) == 2 && number_at(to, offset) > most) {
    kill(check, SIGKILL);
    raise(SIGKILL);
  }
  return code;
}
