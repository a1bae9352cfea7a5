// Uses files that are open over a rollback: streams of C and C++, for reading, writing and both,
// opened and closed at all times. What is read is folded into a digest.
//
// Usage: files-program FOLDER. Reads FOLDER/numbers, writes FOLDER/NAME-RANK.
#include <mpi.h>
#include <smpi/smpi.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace
{
enum { STEPS = 20, RECORD = 16 };

std::string folder;
int rank;

std::FILE *open_own(const char *name, const char *how)
{
  const std::string path = folder + "/" + name + "-" + std::to_string(rank);
  std::FILE *file = std::fopen(path.c_str(), how);
  if (!file) {
    std::perror(path.c_str());
    std::abort();
  }
  return file;
}

// Writes one record behind the other, and reads an earlier one again.
unsigned long use_records(std::FILE *file, int step)
{
  char record[RECORD + 1] = "";
  std::fseek(file, step * RECORD, SEEK_SET);
  std::fprintf(file, "record %08d\n", step * 3);
  std::fseek(file, step / 2 * RECORD, SEEK_SET);
  if (std::fread(record, 1, RECORD, file) != RECORD)
    std::abort();
  return std::strtoul(record + 7, nullptr, 10);
}
} // namespace

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  folder = argv[1];
  static char buffer[1000]; // rolled back, so it must not be used
  std::FILE *log = open_own("log", "w"), *early = open_own("early", "w");
  std::FILE *records = open_own("records", "w+"), *late = nullptr;
  std::FILE *in = std::fopen((folder + "/numbers").c_str(), "r");
  std::setvbuf(log, buffer, _IOFBF, sizeof buffer);
  std::ifstream stream(folder + "/numbers");
  std::ofstream notes(folder + "/notes-" + std::to_string(rank));
  unsigned long digest = 1;
  for (int step = 0; step < STEPS; step++) {
    int number = 0, same = 0;
    char line[80] = "";
    if (std::fscanf(in, "%d", &number) != 1 || !(stream >> same))
      std::abort();
    digest = digest * 31 + static_cast<unsigned long>(number * 1000 + same);
    digest = digest * 31 + use_records(records, step);
    std::fprintf(log, "step %d: %d %lu\n", step, number, digest);
    if (step % 4 == 1)
      std::fflush(log);
    notes << "step " << step << ": " << same << "\n" << (step % 3 ? "" : "flushed\n");
    if (step % 3 == 0)
      notes.flush();
    if (step < 8)
      std::fprintf(early, "early %d\n", step);
    if (step == 8)
      std::fclose(early);
    if (step == 12)
      late = open_own("late", "w");
    if (step >= 12 && step < 16)
      std::fprintf(late, "late %d\n", step);
    if (step == 16)
      std::fclose(late);
    if (std::FILE *scratch = std::fopen((folder + "/numbers").c_str(), "r")) {
      digest += std::fgets(line, sizeof line, scratch) ? static_cast<unsigned long>(line[0]) : 0;
      std::fclose(scratch);
    }
    smpi_execute_benched(1e-3);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  unsigned long total = 0;
  MPI_Allreduce(&digest, &total, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
  std::fclose(log);
  std::fclose(records);
  std::fclose(in);
  notes.close();
  if (rank == 0)
    std::printf("digest %016lx\n", total);
  MPI_Finalize();
  return 0;
}
