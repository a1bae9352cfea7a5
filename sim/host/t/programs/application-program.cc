// Takes checkpoints at the application level in C++, of vectors that have another size in each
// image.
#include <cstdio>
#include <mpi.h>
#include <recline.h>
#include <smpi/smpi.h>
#include <vector>

namespace
{
struct Memory { // protects its vector wherever that lies
  int id;
  std::vector<double> values;
  explicit Memory(int name) : id(name), values(recline_protected_bytes(name) / sizeof(double))
  {
    protect();
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory()
  {
    recline_unprotect(id);
  }
  void protect()
  {
    recline_protect_items(id, values.data(), values.size(), RECLINE_DOUBLE);
  }
  void add(double value)
  {
    recline_unprotect(id);
    values.push_back(value);
    protect();
  }
};
} // namespace

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, size, step = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  {
    Memory history(1);
    recline_protect(2, &step, sizeof step);
    if (recline_restore() != RECLINE_AT_END) {
      for (; step < 30; step++) {
        recline_potential_checkpoint();
        smpi_execute_flops(3e5);
        double mine = rank + 0.5 * step, sum = 0.0;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        history.add(history.values.empty() ? sum : 0.5 * history.values.back() + sum);
      }
      std::printf("rank %d: %zu %a\n", rank, history.values.size(), history.values.back());
    }
  }
  MPI_Finalize();
  return 0;
}
