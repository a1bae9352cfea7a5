/* Measures disks, in the way in which the host for real MPI uses them (mpi/real_storage.c): writes
 * a file under a temporary name, syncs the file, renames it, and syncs the folder. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "mpi/calibrate/calibrate_inside.h"

enum { NAME = 4096, TAKES = 4 /* number of series of measurements of a file */ };
enum { WRITE, SYNC, WARM, COLD };

static void name_file(char name[NAME], const struct calibration *c, int disk)
{
  snprintf(name, NAME, "%s/recline-calibrate.%d", c->disk[disk], c->rank);
}

static _Noreturn void cannot(const char *name)
{
  calibrate_die(OUTPUT_CANNOT, name, strerror(errno));
}

static void write_file(const char *name, const char *bytes, size_t size, double seconds[TAKES])
{
  double begin = MPI_Wtime();
  struct output *output = output_open(name);
  if (!output)
    cannot(name);
  fwrite(bytes, 1, size, output_stream(output));
  fflush(output_stream(output));
  seconds[WRITE] = MPI_Wtime() - begin;
  begin = MPI_Wtime();
  if (!output_close(output, true))
    cannot(name);
  seconds[SYNC] = MPI_Wtime() - begin;
}

/* Reads a file, and returns how many seconds that took. If the system cannot drop cached pages, for
 * example in a container, a cold read is no different from a warm one. */
static double read_file(const char *name, char *bytes, size_t size, bool cold)
{
  int file = open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    cannot(name);
  if (cold)
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  double begin = MPI_Wtime();
  size_t got = 0;
  ssize_t now = 1;
  while (got < size && now > 0)
    got += (size_t)((now = read(file, bytes + got, size - got)) > 0 ? now : 0);
  double seconds = MPI_Wtime() - begin;
  close(file);
  if (got < size)
    calibrate_die("%s: is %zu bytes long, expected %zu as written", name, got, size);
  return seconds;
}

/* Measures writes and reads. The first `writers` processes of each node write and read at the same
 * time. */
static void put_files(struct calibration *c, int disk, int writers, int own, long size)
{
  static const char *const what[TAKES] = {"write", "sync", "read-warm", "read-cold"};
  char head[TEXT], name[NAME], *bytes = memory_grow(NULL, (size_t)size + 1);
  int count = own < writers ? c->repetitions : 0;
  double *seconds[TAKES], now[TAKES];
  memset(bytes, 1, (size_t)size + 1);
  name_file(name, c, disk);
  for (int i = 0; i < TAKES; i++)
    seconds[i] = calibrate_room(c->repetitions);
  for (int i = 0; i < c->repetitions; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (count) {
      write_file(name, bytes, (size_t)size, now);
      now[WARM] = read_file(name, bytes, (size_t)size, false);
      now[COLD] = read_file(name, bytes, (size_t)size, true);
    }
    for (int j = 0; j < TAKES && count; j++)
      seconds[j][i] = now[j];
  }
  for (int i = 0; i < TAKES; i++) {
    snprintf(head, sizeof head, "%s disk=%d bytes=%ld writers=%d", what[i], disk, size, writers);
    calibrate_put(c, head, seconds[i], count);
    free(seconds[i]);
  }
  if (count && remove(name))
    cannot(name);
  free(bytes);
}

/* Measures how long one process takes to write the record of a commit, which has a few bytes. */
static void put_records(struct calibration *c, int disk)
{
  char head[TEXT], name[NAME];
  double *record = calibrate_room(c->repetitions), *metadata = calibrate_room(c->repetitions);
  double now[TAKES];
  int count = c->rank == 0 ? c->repetitions : 0;
  name_file(name, c, disk);
  for (int i = 0; i < count; i++) {
    write_file(name, "recline", strlen("recline"), now);
    record[i] = now[WRITE] + now[SYNC];
    double begin = MPI_Wtime();
    struct output *output = output_open(name);
    if (!output || !output_close(output, false) || remove(name))
      cannot(name);
    metadata[i] = MPI_Wtime() - begin;
  }
  snprintf(head, sizeof head, "record disk=%d", disk);
  calibrate_put(c, head, record, count);
  snprintf(head, sizeof head, "metadata disk=%d", disk);
  calibrate_put(c, head, metadata, count);
  free(record);
  free(metadata);
}

/* Returns whether all processes see a file that rank 0 writes. */
static bool is_shared(struct calibration *c, int disk)
{
  char name[NAME];
  double now[TAKES];
  snprintf(name, sizeof name, "%s/recline-calibrate.0", c->disk[disk]);
  if (c->rank == 0)
    write_file(name, "recline", strlen("recline"), now);
  MPI_Barrier(MPI_COMM_WORLD);
  int seen = !access(name, R_OK);
  MPI_Allreduce(MPI_IN_PLACE, &seen, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (c->rank == 0)
    remove(name);
  return seen;
}

void calibrate_disks(struct calibration *c)
{
  enum { LEAST = 65536, STEP = 16 };
  MPI_Comm node;
  int own;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &own);
  MPI_Comm_free(&node);
  for (int disk = 0; disk < c->disks; disk++) {
    bool shared = is_shared(c, disk);
    if (c->output)
      fprintf(output_stream(c->output), "disk %d %s %s\n", disk, shared ? "shared" : "own",
              c->disk[disk]);
    put_records(c, disk);
    for (int writers = 1; writers <= c->per_node;
         writers = writers < c->per_node && 2 * writers > c->per_node ? c->per_node : 2 * writers)
      for (long size = LEAST;; size = size * STEP < c->largest ? size * STEP : c->largest) {
        put_files(c, disk, writers, own, size);
        if (size >= c->largest)
          break;
      }
  }
}
