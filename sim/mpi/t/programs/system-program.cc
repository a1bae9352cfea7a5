/* Asks the system what programs ask it, and sends the answers to rank 0 as a message. */
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

static char file[32]; /* file of this lap */

/* Makes a file, which stays until the next lap, and a folder and another file, which it removes at
 * once. Returns their names. */
static std::string names()
{
  char folder[] = "folder-XXXXXX", other[] = "other-XXXXXX";
  struct stat found;
  unlink(file);
  std::strcpy(file, "file-XXXXXX.tmp");
  int descriptor = mkstemps(file, 4);
  if (descriptor < 0 || fstat(descriptor, &found) || (found.st_mode & 0777) != 0600 ||
      !mkdtemp(folder) || rmdir(folder))
    std::puts("failed");
  close(descriptor);
  close(mkstemp(other));
  unlink(other);
  return std::string(file) + " " + folder + " " + other;
}

static std::string ask()
{
  struct rusage usage;
  struct sysinfo info;
  struct utsname name;
  double load = 0.0;
  unsigned word = 0;
  char text[1024];
  std::random_device device;
  getrusage(RUSAGE_SELF, &usage);
  sysinfo(&info);
  uname(&name);
  if (getrandom(&word, sizeof word, 0) != sizeof word || getloadavg(&load, 1) > 1)
    std::puts("failed");
  std::snprintf(
      text, sizeof text, "%ld %ld %ld | %d %d | %lu %lu %d | %.2f | %s %s | %ld %ld | %x %x | %s",
      usage.ru_maxrss, usage.ru_minflt, usage.ru_nivcsw, getpid(), getppid(), info.totalram,
      info.freeram, info.procs, load, name.nodename, name.release, sysconf(_SC_NPROCESSORS_ONLN),
      sysconf(_SC_AVPHYS_PAGES), word, device(), names().c_str());
  return text;
}

int main(int argc, char **argv)
{
  int rank, ranks;
  char text[1024] = "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int lap = 0; lap < 20; lap++) {
    std::strcpy(text, ask().c_str());
    if (rank > 0)
      MPI_Send(text, sizeof text, MPI_CHAR, 0, lap, MPI_COMM_WORLD);
    for (int from = 1; rank == 0 && from < ranks; from++) {
      MPI_Recv(text, sizeof text, MPI_CHAR, from, lap, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (lap == 0 || lap == 19)
        std::printf("%d: %s\n", from, text);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(1000);
  }
  unlink(file);
  MPI_Finalize();
  return 0;
}
