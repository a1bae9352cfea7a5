/* recline-calibrate measures the machine on which it runs, by the MPI library of the system. It
 * writes samples, from which `recline calibrate` makes a description.
 *
 *     mpirun -n N recline-calibrate SAMPLES REPETITIONS LARGEST RECLINE OUTPUT [DISK...]
 *
 * The samples are text: lines `KEY VALUE`, then `sample NAME [KEY=NUMBER]... : VALUE...`. At the
 * end rank 0 becomes `RECLINE calibrate --samples SAMPLES -o OUTPUT`.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/calibrate/calibrate_inside.h"

/* ---- where the processes are ---- */

static void find_nodes(struct calibration *c)
{
  MPI_Comm node;
  int rank, size, first, nodes;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &size);
  first = c->rank;
  /* the number of a node's first process stands for the node */
  MPI_Bcast(&first, 1, MPI_INT, 0, node);
  nodes = rank == 0;
  MPI_Allreduce(MPI_IN_PLACE, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&size, &c->per_node, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  int near = first == 0 && c->rank > 0 ? c->rank : c->ranks;
  int far = first > 0 ? c->rank : c->ranks;
  MPI_Allreduce(&near, &c->near, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&far, &c->far, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  c->near = c->near == c->ranks ? -1 : c->near;
  c->far = c->far == c->ranks ? -1 : c->far;
  c->nodes = nodes;
  MPI_Comm_free(&node);
}

static void put_head(struct calibration *c)
{
  char name[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  if (!c->output)
    return;
  MPI_Get_library_version(name, &length);
  name[strcspn(name, ",\n")] = '\0';
  for (char *each = name; *each; each++)
    *each = *each == '\t' ? ' ' : *each;
  FILE *file = output_stream(c->output);
  fprintf(file, "recline-samples 1\nranks %d\nnodes %d\nper_node %d\ncores %ld\nlibrary %s\n",
          c->ranks, c->nodes, c->per_node, sysconf(_SC_NPROCESSORS_ONLN), name);
}

/* ---- the whole ---- */

static void measure(struct calibration *c, const char *file)
{
  int fine = 1;
  if (c->rank == 0 && !(c->output = output_open(file)))
    calibrate_die(OUTPUT_CANNOT, file, strerror(errno));
  find_nodes(c);
  put_head(c);
  calibrate_memory(c);
  calibrate_messages(c);
  calibrate_collectives(c);
  calibrate_disks(c);
  if (c->output)
    fine = output_close(c->output, false);
  if (!fine)
    calibrate_die(OUTPUT_CANNOT, file, strerror(errno));
}

int main(int argc, char **argv)
{
  enum { SAMPLES = 1, REPETITIONS, LARGEST, RECLINE, OUTPUT, DISKS };
  struct calibration c = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &c.ranks);
  if (argc < DISKS)
    calibrate_die("%d words, expected a start by recline calibrate", argc - 1);
  if (c.ranks < 2)
    calibrate_die("one process, expected several: mpirun -n 2 recline calibrate");
  c.repetitions = atoi(argv[REPETITIONS]);
  c.largest = atol(argv[LARGEST]);
  c.disk = argv + DISKS;
  c.disks = argc - DISKS;
  measure(&c, argv[SAMPLES]);
  MPI_Finalize();
  if (c.rank > 0)
    return 0;
  execl(argv[RECLINE], argv[RECLINE], "calibrate", "--samples", argv[SAMPLES], "-o", argv[OUTPUT],
        (char *)NULL);
  fprintf(stderr, "recline calibrate: %s: %s, expected the program recline\n", argv[RECLINE],
          strerror(errno));
  return 3;
}
