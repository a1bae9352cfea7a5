/* Changes files by descriptors and streams, in place, at the end, and in files that are made,
 * opened and closed in every step. Reads all of it back in the next step, so it shows if a rollback
 * leaves something behind.
 *
 *     files-undo FOLDER */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEPS = 20, RECORDS = 4 };

static int me, ranks, wrong;
static char folder[500];

static char *name(const char *kind)
{
  static char path[600];
  snprintf(path, sizeof path, "%s/%s-%d", folder, kind, me);
  return path;
}

static void expect(int good, const char *what, int step)
{
  if (!good)
    printf("rank %d, step %d: %s\n", me, step, what);
  wrong += !good;
}

/* Writes the last state to a new file in each step. */
static void restart_file(int step)
{
  int before = 0;
  FILE *file = fopen(name("restart"), "r");
  expect(file && fscanf(file, "%d", &before) == 1 && before == step - 1, "restart file", step);
  if (file)
    fclose(file);
  file = fopen(name("restart"), "w");
  fprintf(file, "%d\n", step);
  fclose(file);
}

/* Writes the last state under another name, and renames the file when it is whole. Removes it in
 * every fourth step. */
static void renamed_file(int step)
{
  char temporary[620], final[600];
  int before = 0;
  snprintf(final, sizeof final, "%s", name("state"));
  snprintf(temporary, sizeof temporary, "%s.new", final);
  FILE *file = fopen(final, "r");
  expect((step % 4 == 1) == !file, "renamed file is there", step);
  expect(!file || (fscanf(file, "%d", &before) == 1 && before == step - 1), "renamed file", step);
  if (file)
    fclose(file);
  file = fopen(temporary, "w");
  fprintf(file, "%d\n", step);
  fclose(file);
  expect(!rename(temporary, final), "rename", step);
  expect(step % 4 != 0 || !remove(final), "remove", step);
}

static void folder_of(int step)
{
  char path[620];
  snprintf(path, sizeof path, "%s.%d", name("folder"), step);
  expect(!mkdir(path, 0755), "mkdir", step);
}

static void log_file(int step)
{
  FILE *file = fopen(name("log"), "a+");
  int lines = 0;
  rewind(file);
  for (int c; (c = getc(file)) != EOF;)
    lines += c == '\n';
  expect(lines == step - 1, "lines of the log", step);
  fprintf(file, "step %d\n", step);
  fclose(file);
}

static void records(int descriptor, int step)
{
  int number = -1, place = step % RECORDS;
  ssize_t got = pread(descriptor, &number, sizeof number, (off_t)sizeof number * place);
  expect(step <= RECORDS || (got == sizeof number && number == step - RECORDS), "record", step);
  expect(pwrite(descriptor, &step, sizeof step, (off_t)sizeof step * place) == sizeof step,
         "pwrite", step);
}

static void counter(FILE *file, int step)
{
  int number = -1;
  rewind(file);
  expect(fscanf(file, "%d", &number) == 1 && number == step - 1, "counter", step);
  rewind(file);
  fprintf(file, "%-10d\n", step);
}

static void only_once(int step)
{
  char path[620];
  snprintf(path, sizeof path, "%s.%d", name("once"), step);
  int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
  expect(descriptor >= 0, "a new file", step);
  close(descriptor);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  snprintf(folder, sizeof folder, "%s", argv[1]);
  int input = open(name("input"), O_RDONLY), output = open(name("out"), O_RDWR | O_CREAT, 0644);
  int table = open(name("table"), O_RDWR | O_CREAT | O_TRUNC, 0644);
  FILE *count = fopen(name("count"), "w+");
  fprintf(count, "%-10d\n", 0);
  FILE *restart = fopen(name("restart"), "w");
  fprintf(restart, "0\n");
  fclose(restart);
  for (int step = 1; step <= STEPS; step++) {
    char byte = 0, line[20];
    expect(read(input, &byte, 1) == 1 && byte == 'a' + step - 1, "input", step);
    snprintf(line, sizeof line, "line %d\n", step);
    expect(write(output, line, strlen(line)) > 0, "write", step);
    restart_file(step);
    renamed_file(step);
    folder_of(step);
    log_file(step);
    records(table, step);
    counter(count, step);
    only_once(step);
    smpi_execute_benched(1e-3);
    int sum = 0;
    MPI_Allreduce(&step, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == ranks * step, "sum", step);
  }
  fclose(count);
  close(table);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0)
    printf("%d wrong\n", wrong);
  MPI_Finalize();
  return 0;
}
