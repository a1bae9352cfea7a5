/* Ranks send memory that they have not written; the argument says where it comes from. MPI does not
 * say which bytes arrive, but they must be the same when a rank runs again. */
#include <mpi.h>

#include <alloca.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

static const int bytes = 12288, laps = 10;
static int rank, ranks;

/* Hides from the compiler what the memory holds. */
static char *unseen(char *memory)
{
  __asm__ volatile("" : "+r"(memory) : : "memory");
  return memory;
}

extern "C" char *allocate_in_fortran(int bytes);

static char *take(const std::string &kind)
{
  void *memory = NULL;
  if (kind == "malloc")
    memory = malloc(bytes);
  if (kind == "new")
    memory = new char[bytes];
  if (kind == "realloc" && (memory = malloc(32))) {
    memset(memory, 1, 32);
    memory = realloc(memory, bytes);
  }
  if (kind == "calloc")
    memory = calloc(bytes, 1);
  if (kind == "aligned_alloc")
    memory = aligned_alloc(64, bytes);
  if (kind == "posix_memalign" && posix_memalign(&memory, 256, bytes) != 0)
    memory = NULL;
  if (kind == "alloc_mem")
    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory);
  if (kind == "fortran")
    memory = allocate_in_fortran(bytes);
  return unseen(static_cast<char *>(memory));
}

static void exchange(char *out, char *in)
{
  MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + 1) % ranks, 0, in, bytes, MPI_BYTE,
               (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Lets MPI leave remains in the heap and on the stack. */
static void litter()
{
  MPI_Request request[8];
  int in[4], flag;
  for (int i = 0; i < 4; i++) {
    MPI_Irecv(&in[i], 1, MPI_INT, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, &request[i]);
    MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % ranks, 1, MPI_COMM_WORLD, &request[4 + i]);
  }
  MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  MPI_Waitall(8, request, MPI_STATUSES_IGNORE);
}

__attribute__((noinline)) static void send_locals()
{
  char out[bytes], in[bytes];
  exchange(unseen(out), in);
}

__attribute__((noinline)) static void send_alloca()
{
  exchange(unseen(static_cast<char *>(alloca(bytes))), static_cast<char *>(alloca(bytes)));
}

int main(int argc, char **argv)
{
  std::string kind = argc > 1 ? argv[1] : "malloc";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  char *out = take(kind), *in = static_cast<char *>(malloc(bytes));
  for (int i = 0; i < laps; i++) {
    if (kind == "locals" || kind == "alloca")
      litter();
    if (kind == "locals")
      send_locals();
    else if (kind == "alloca")
      send_alloca();
    else
      exchange(out, in);
  }
  if (rank == 0)
    puts("done");
  MPI_Finalize();
  return 0;
}
