/* This is an ordinary MPI program. Its result depends on every kind of memory that a rollback has
 * to put back: globals, static arrays, thread-local variables, heap (a list, a growing array, a
 * block from before MPI_Init), locals of main, and locals of a recursion whose depth changes. The
 * program knows nothing of checkpoints. Usage: image-program [bytes of additional heap] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 40, GRID = 5000, LARGE = 40000 };

struct node {
  struct node *next;
  unsigned long value;
};

static unsigned long state = 1; /* .data */
static double grid[GRID];       /* .bss */
static unsigned long large[LARGE];
static _Thread_local unsigned long local_state = 5;
static struct node *list;
int rank, ranks;

static unsigned long mix(unsigned long value)
{
  state = (state ^ value) * 0x9e3779b97f4a7c15ul;
  state ^= state >> 29;
  local_state = local_state * 31 + (state >> 60);
  return state;
}

static void change_list(void)
{
  struct node *node = malloc(sizeof *node);
  node->value = mix(17);
  node->next = list;
  list = node;
  if (state % 3 == 0 && list->next) { /* takes an element out of the middle of the list */
    struct node *gone = list->next;
    list->next = gone->next;
    mix(gone->value);
    free(gone);
  }
  for (node = list; node; node = node->next)
    node->value = mix(node->value);
}

static void exchange(void)
{
  int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  unsigned long received = 0, sum = 0;
  MPI_Sendrecv(&state, 1, MPI_UNSIGNED_LONG, right, 3, &received, 1, MPI_UNSIGNED_LONG, left, 3,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  mix(received);
  /* this message is above the eager threshold; its receive buffer `large` is static */
  unsigned long *copy = malloc(sizeof large);
  memcpy(copy, large, sizeof large);
  copy[state % LARGE]++;
  MPI_Sendrecv(copy, LARGE, MPI_UNSIGNED_LONG, right, 4, large, LARGE, MPI_UNSIGNED_LONG, left, 4,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  free(copy);
  MPI_Allreduce(&state, &sum, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
  mix(sum);
}

/* Reaches the barrier in the deepest frame; every frame uses its locals on the way back. */
static unsigned long dive(int depth)
{
  unsigned long trail[16];
  for (int i = 0; i < 16; i++)
    trail[i] = mix((unsigned long)(depth + i));
  unsigned long result = 0;
  if (depth > 0)
    result = dive(depth - 1);
  else
    MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 16; i++)
    result = result * 7 + trail[i];
  return result;
}

static unsigned long fold(const unsigned char *bytes, size_t count)
{
  unsigned long digest = 0;
  for (size_t i = 0; i < count; i++)
    digest = digest * 131 + bytes[i];
  return digest;
}

static void change_ballast(unsigned char *ballast, size_t bytes)
{
  for (size_t i = 0; i < bytes; i += 512)
    ballast[i] = (unsigned char)(ballast[i] + mix(i));
}

int main(int argc, char **argv)
{
  char *early = malloc(1000), *grown = malloc(10);
  memset(early, 'e', 1000);
  memset(grown, 'g', 10);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000;
  unsigned char *ballast = calloc(bytes, 1);
  unsigned long *array = NULL, digest = 0, total = 0;
  mix((unsigned long)rank);
  for (int i = 0; i < ITERATIONS; i++) {
    change_list();
    change_ballast(ballast, bytes);
    array = realloc(array, (size_t)(i + 1) * 1000 * sizeof *array);
    for (int j = 0; j < 1000; j++)
      array[i * 1000 + j] = mix(array[i * 500]);
    grid[mix(1) % GRID] += (double)i;
    exchange();
    digest = digest * 3 + dive((int)(mix(2) % 50) + (i % 5) * 20);
    if (i < 20) /* step 20 frees the block; a rollback to an earlier step reads the block again */
      digest += fold((unsigned char *)early, 1000);
    else if (i == 20)
      free(early);
    if (i == 3)
      grown = realloc(grown, 200000);
    grown[10 + i] = (char)mix(3);
  }
  digest += fold((unsigned char *)grid, sizeof grid) + fold((unsigned char *)large, sizeof large) +
            fold((unsigned char *)array, ITERATIONS * 1000 * sizeof *array) +
            fold((unsigned char *)grown, 10 + ITERATIONS) + fold(ballast, bytes) + local_state;
  for (struct node *node = list; node; node = node->next)
    digest = digest * 5 + node->value;
  MPI_Allreduce(&digest, &total, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("digest %016lx after %d iterations\n", total, ITERATIONS);
  free(array);
  MPI_Finalize();
  return 0;
}
