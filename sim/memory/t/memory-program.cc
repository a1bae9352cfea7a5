// Uses memory from before MPI_Init, and what C++ does at the end. Static objects are filled by
// their constructors and changed afterwards; others are made on the way, between the points to
// which the rank goes back. Each object says when it is destroyed, which must happen once. The
// program also has a static array that is hardly used, aligned blocks and, on odd ranks, a stack of
// more than 4 MB.
//
// Usage: memory-program [STEPS [IMAGE_BYTES]]
#include <mpi.h>
#include <recline.h>
#include <smpi/smpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace
{
int rank = -1;

struct Table {
  std::map<int, std::string> names;
  std::vector<std::string> words;
  std::string text = "a text that is too long to lie in the object itself";
  const char *what;

  explicit Table(const char *what) : what(what)
  {
    for (int i = 0; i < 200; i++) {
      names[i * 7] = std::string(static_cast<std::size_t>(i), 'n');
      words.push_back("word " + std::to_string(i) + ", on the heap");
    }
  }
  ~Table()
  {
    std::printf("rank %d: %s is destroyed: %zu %zu\n", rank, what, names.size(), words.size());
  }
  void change(unsigned long by)
  {
    names.erase(names.begin());
    names[static_cast<int>(by % 100000)] += text;
    words[by % words.size()] += std::to_string(by);
    if (by % 3 == 0)
      words.push_back(text);
    text[by % text.size()] = static_cast<char>('a' + by % 26);
  }
  unsigned long digest() const
  {
    unsigned long sum = 1;
    auto add = [&sum](const std::string &s) {
      for (char c : s)
        sum = sum * 131 + static_cast<unsigned char>(c);
    };
    for (const auto &entry : names) {
      sum = sum * 17 + static_cast<unsigned long>(entry.first);
      add(entry.second);
    }
    for (const auto &word : words)
      add(word);
    add(text);
    return sum;
  }
};

Table table("the table"); // filled before main
thread_local std::string mine = "of this rank alone, and not in the object";

Table &late_table()
{
  static Table late("the late table");
  return late;
}

char huge[256 << 20]; // a page of it is used in each step

// Makes an aligned block by each function in turn, keeps it for some steps, and reads it again.
unsigned long use_aligned(int step)
{
  static unsigned char *blocks[4];
  unsigned char *&block = blocks[step % 4];
  const std::size_t alignment = std::size_t{16} << step % 9, bytes = 5000 + 100 * alignment;
  unsigned long sum = block ? block[4999] : 1;
  void *made = nullptr;
  if (step % 3 == 0)
    block = static_cast<unsigned char *>(std::realloc(block, bytes));
  else
    std::free(block);
  if (step % 3 == 1 && posix_memalign(&made, alignment, bytes) != 0)
    std::abort();
  if (step % 3 == 2)
    made = aligned_alloc(alignment, bytes);
  if (made)
    block = static_cast<unsigned char *>(made);
  std::memset(block, step + rank, bytes);
  return sum + (made ? reinterpret_cast<std::size_t>(made) % alignment : 0);
}

void change_all(int step, std::vector<double> &early, char *&block)
{
  unsigned long by = static_cast<unsigned long>(rank * 1000 + step * 37);
  table.change(by);
  if (step > 7)
    late_table().change(by);
  if (step % 5 == 4)
    std::atexit([] { std::printf("rank %d: a handler\n", rank); });
  mine += std::to_string(by + use_aligned(step));
  huge[static_cast<std::size_t>(step) << 23]++;
  early.push_back(static_cast<double>(by));
  early[by % early.size()] += 0.5;
  block = static_cast<char *>(std::realloc(block, 1000 + by));
  block[step] = static_cast<char>(step);
}
unsigned long take_steps(int steps, std::vector<double> &early, char *&block)
{
  unsigned long total = 0;
  for (int step = 0; step < steps; step++) {
    change_all(step, early, block);
    smpi_execute_benched(1e-3);
    unsigned long digest = table.digest() + mine.size();
    MPI_Allreduce(&digest, &total, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    mine[0] = static_cast<char>('a' + total % 26);
  }
  return total;
}

// Does the same from the bottom of a recursion. What each frame holds must be there on the way
// back.
unsigned long take_deep_steps(int depth, int steps, std::vector<double> &early, char *&block)
{
  volatile unsigned char frame[4096];
  if (depth == 0)
    return take_steps(steps, early, block);
  for (int i = 0; i < 4096; i++)
    frame[i] = static_cast<unsigned char>(depth + i);
  unsigned long total = take_deep_steps(depth - 1, steps, early, block);
  for (int i = 0; i < 4096; i++)
    if (frame[i] != static_cast<unsigned char>(depth + i))
      std::abort();
  return total;
}
} // namespace

int main(int argc, char **argv)
{
  std::vector<double> early(100, 1.5); // before MPI_Init
  char *block = static_cast<char *>(std::calloc(1, 1000));
  std::printf("before\n");
  MPI_Init(&argc, &argv);
  const int steps = argc > 1 ? std::atoi(argv[1]) : 20;
  argv[argc - 1][0] = '0'; // programs take their arguments to pieces
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 2)
    recline_image_bytes(std::strtoull(argv[2] + 1, nullptr, 10));
  unsigned long total = take_deep_steps(rank % 2 ? 1000 : 0, steps, early, block);
  unsigned long digest = table.digest() + late_table().digest();
  for (char c : mine)
    digest = digest * 31 + static_cast<unsigned char>(c);
  for (double value : early)
    digest = digest * 7 + static_cast<unsigned long>(2 * value);
  for (std::size_t i = 0; i < sizeof huge; i += std::size_t{1} << 23)
    digest = digest * 5 + static_cast<unsigned char>(huge[i]);
  for (int i = 0; i < steps; i++)
    digest = digest * 3 + static_cast<unsigned char>(block[i]);
  MPI_Allreduce(&digest, &total, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("digest %016lx\n", total);
  std::free(block);
  MPI_Finalize();
  return 0;
}
