/* Ends in the way that HOW names. Usage: endings HOW. Rank 1 ends in that way; with `exit`, all
 * ranks call exit(). */
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

struct local {
  std::vector<int> items = {1, 2, 3};
  ~local()
  {
    std::puts("a local is destroyed");
  }
};

static int deep(volatile char *above, int left)
{
  volatile char here[4096];
  here[0] = *above;
  return left ? deep(here, left - 1) + here[0] : 0;
}

/* Calls exit() while there are objects to destroy, in a function that promises to throw nothing. */
__attribute__((noinline)) static void leave(const char *text) noexcept
{
  local mine;
  std::vector<char> copy(text, text + std::strlen(text) + 1);
  std::printf("%s %zu\n", copy.data(), mine.items.size());
  std::exit(0);
}

static int fail(const char *how)
{
  std::printf("last words\n");
  if (!std::strcmp(how, "segv"))
    *(volatile int *)nullptr = 1;
  if (!std::strcmp(how, "stack"))
    return deep((volatile char *)how, 1000000);
  if (!std::strcmp(how, "abort"))
    std::abort();
  if (!std::strcmp(how, "raise"))
    raise(SIGTERM);
  if (!std::strcmp(how, "_exit"))
    _exit(7);
  if (!std::strcmp(how, "MPI_Abort"))
    MPI_Abort(MPI_COMM_WORLD, 9);
  if (!std::strcmp(how, "throw"))
    throw 1;
  return 0;
}

int main(int argc, char **argv)
{
  const char *how = argc > 1 ? argv[1] : "";
  int rank, provided, level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Query_thread(&level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1 && std::strcmp(how, "exit"))
    return fail(how);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0 && provided == MPI_THREAD_FUNNELED && level == provided)
    std::puts("funneled");
  leave("leaving");
  return 1;
}
