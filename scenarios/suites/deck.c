/* A driver around a library, in the manner of mini-apps with an input deck: options, a deck, the
 * environment, a header with the date; then steps whose kernel is in a shared library, each
 * followed by a dump that the next one reads, in a file that gets its name when it is whole.
 * It computes with integers, so the serial program must agree exactly.
 *
 *     deck [-s STEPS] [--deck FILE] [--verbose]
 *
 * It uses a shared library with statics of C++, OpenMP threads that allocate, getline, strtok,
 * getopt_long, setenv, setlocale, localtime, strftime, alarm, mkdir, rename, remove, Iprobe and
 * Reduce_scatter. */
#define _GNU_SOURCE
#include "physics.h"
#include "suite.h"

#include <getopt.h>
#include <locale.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int me, ranks, steps = 20, cells, verbose;
static long scale, wrong;
static const char *deck = "deck.in";
static char folder[64];

static void read_options(int argc, char **argv)
{
  static const struct option options[] = {
      {"deck", required_argument, NULL, 'd'}, {"verbose", no_argument, &verbose, 1}, {0}};
  int option;
  while ((option = getopt_long(argc, argv, "s:", options, NULL)) != -1)
    if (option == 's')
      steps = atoi(optarg);
    else if (option == 'd')
      deck = optarg;
}

/* Reads the deck line by line, so that a checkpoint may come between two lines. */
static void read_deck(void)
{
  FILE *file = me == 0 ? fopen(deck, "r") : NULL;
  char *line = NULL;
  size_t size = 0;
  for (;;) {
    int more = file && getline(&line, &size, file) >= 0;
    long item[2] = {0, 0};
    char *name = more ? strtok(line, " \t\n") : NULL, *value = name ? strtok(NULL, " \t\n") : NULL;
    if (value && name[0] != '#')
      item[0] = name[0], item[1] = atol(value);
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(item, 2, MPI_LONG, 0, MPI_COMM_WORLD);
    if (!more)
      break;
    if (item[0] == 'c')
      cells = (int)item[1];
    else if (item[0] == 's')
      scale = item[1];
  }
  free(line);
  if (file)
    fclose(file);
}

static void print_header(void)
{
  char date[64];
  time_t now = time(NULL);
  setlocale(LC_ALL, "");
  setenv("DECK_RANKS", "some", 1);
  strftime(date, sizeof date, "%Y-%m-%d %H:%M", localtime(&now));
  wrong += strlen(date) != 16 || !getenv("DECK_RANKS");
  if (me == 0 && verbose)
    printf("deck: %d cells on %d ranks, %s\n", cells, ranks, date);
}

static void dump(int step, long sum)
{
  char name[96], temporary[112];
  int last = 0;
  long before = -1;
  snprintf(name, sizeof name, "%s/dump.%d", folder, me);
  snprintf(temporary, sizeof temporary, "%s.part", name);
  FILE *file = fopen(name, "rb");
  if (file) {
    wrong += fread(&last, sizeof last, 1, file) != 1 || last != step - 1;
    wrong += fread(&before, sizeof before, 1, file) != 1 || before == sum;
    fclose(file);
  }
  wrong += (step == 1) != !file;
  file = fopen(temporary, "wb");
  fwrite(&step, sizeof step, 1, file);
  fwrite(&sum, sizeof sum, 1, file);
  fclose(file);
  wrong += rename(temporary, name) != 0;
  if (step == steps)
    wrong += remove(name) != 0;
}

/* Sends the data that leave this rank to the next rank, and returns the data that come from the
 * rank before. Looks for the message from any source, as servers do. */
static long pass_on(long leaving, int step)
{
  long inflow = 0;
  int here = 0, count = 0;
  MPI_Status status;
  MPI_Request request;
  MPI_Isend(&leaving, 1, MPI_LONG, (me + 1) % ranks, step, MPI_COMM_WORLD, &request);
  while (!here)
    MPI_Iprobe(MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &here, &status);
  MPI_Get_count(&status, MPI_LONG, &count);
  wrong += count != 1 || status.MPI_SOURCE != (me + ranks - 1) % ranks;
  MPI_Recv(&inflow, 1, MPI_LONG, status.MPI_SOURCE, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return inflow;
}

/* Sums up the steps that all ranks have counted, and compares the sum. */
static void count_steps(int step)
{
  int *share = malloc((size_t)ranks * sizeof *share), mine = 0;
  int *ones = malloc((size_t)ranks * sizeof *ones);
  for (int i = 0; i < ranks; i++)
    share[i] = physics_steps(), ones[i] = 1;
  MPI_Reduce_scatter(share, &mine, ones, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  wrong += mine != ranks * step;
  free(share);
  free(ones);
}

/* Returns the value that physics_sum() of this rank must have at the end. */
static long serial_sum(void)
{
  long *cell = malloc((size_t)(ranks * cells) * sizeof *cell), sum = 0;
  long *inflow = calloc((size_t)ranks, sizeof *inflow), *last = calloc((size_t)ranks, sizeof *last);
  for (int i = 0; i < ranks * cells; i++)
    cell[i] = (i / cells * 31 + i % cells) % 97;
  for (int step = 1; step <= steps; step++) {
    for (int r = 0; r < ranks; r++)
      last[r] = cell[r * cells + cells - 1];
    sum += last[me];
    for (int i = 0; i < ranks * cells; i++)
      cell[i] = (cell[i] * scale + inflow[i / cells] + i % cells) % 9973;
    for (int r = 0; r < ranks; r++)
      inflow[r] = last[(r + ranks - 1) % ranks];
  }
  for (int i = 0; i < cells; i++)
    sum += cell[me * cells + i];
  free(cell);
  free(inflow);
  free(last);
  return sum;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  read_options(argc, argv);
  alarm(3600);
  read_deck();
  print_header();
  snprintf(folder, sizeof folder, "deck.%d.%d", ranks, me);
  wrong += mkdir(folder, 0755) != 0;
  physics_begin(cells, me);
  long inflow = 0;
  for (int step = 1; step <= steps; step++) {
    inflow = pass_on(physics_step(inflow, scale), step);
    dump(step, physics_sum());
    count_steps(step);
  }
  wrong += physics_sum() != serial_sum();
  wrong += rmdir(folder) != 0;
  int status = suite_verdict("deck", wrong);
  MPI_Finalize();
  return status;
}
