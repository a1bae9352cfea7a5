// Writes files in four ways: by a stream of C, by write(2), by a stream of C++, and by a stream
// that is opened anew for each line of a file that begins with $LOG_BEFORE bytes. The argument is a
// word for what a program must not do with such a file, which rank 1 then does.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <mpi.h>
#include <smpi/smpi.h>
#include <string>
#include <unistd.h>

static std::string name(const char *how, int rank)
{
  return std::string("log.") + how + "." + std::to_string(rank);
}

// Appends a line, and requires that the file then ends behind what this rank has written.
static void append(const std::string &to, const std::string &line, long before)
{
  FILE *again = fopen(to.c_str(), "a");
  if (!again || ftell(again) != before || fputs(line.c_str(), again) < 0 || fclose(again))
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void misuse(const char *how, const std::string &to, FILE *stream, int descriptor)
{
  char byte;
  bool is(false);
  if ((is = !strcmp(how, "seek")))
    rewind(stream), fputs("x", stream);
  else if ((is = !strcmp(how, "position")))
    lseek(descriptor, 1, SEEK_SET), is = write(descriptor, "x", 1) == 1;
  else if ((is = !strcmp(how, "truncate")))
    is = !ftruncate(descriptor, 1);
  else if ((is = !strcmp(how, "read")))
    is = read(descriptor, &byte, 1) > 0;
  else if ((is = !strcmp(how, "look")))
    std::ifstream(to).get(byte);
  else if ((is = !strcmp(how, "update")))
    is = fopen(to.c_str(), "r+");
  else if ((is = !strcmp(how, "remove")))
    remove(to.c_str());
  else if ((is = !strcmp(how, "rename")))
    rename(to.c_str(), "other");
  else if ((is = !strcmp(how, "dup")))
    is = dup(descriptor) >= 0;
  else if ((is = !strcmp(how, "mpi"))) {
    MPI_File file;
    MPI_File_open(MPI_COMM_SELF, to.c_str(), MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL,
                  &file);
  }
}

int main(int argc, char **argv)
{
  int rank, ranks, sent = 0, received;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::ofstream flows(name("flows", rank));
  FILE *stream = fopen(name("stream", rank).c_str(), "w");
  int descriptor = open(name("writes", rank).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0640);
  std::string again = name("again", rank);
  long length = getenv("LOG_BEFORE") ? atol(getenv("LOG_BEFORE")) : 0;
  for (int i = 0; i < 12; i++) {
    smpi_execute_flops(1e6); // 14 ms
    MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % ranks, 0, &received, 1, MPI_INT,
                 (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sent = received + 1;
    MPI_Barrier(MPI_COMM_WORLD);
    std::string line = "rank " + std::to_string(rank) + " says " + std::to_string(sent) + "\n";
    flows << line;
    if (i % 2)
      flows.flush();
    fprintf(stream, "%s", line.c_str());
    if (i % 5 == 4) { // goes back, within what has not left
      fseek(stream, -3, SEEK_CUR);
      fputs(" twice\n", stream);
    }
    append(again, line, length);
    length += (long)line.size();
    if (write(descriptor, line.data(), line.size()) != (ssize_t)line.size())
      MPI_Abort(MPI_COMM_WORLD, 4);
    if (argc > 1 && i == 9 && rank == 1)
      misuse(argv[1], name("writes", rank), stream, descriptor);
  }
  MPI_Finalize();
  fprintf(stream, "rank %d ends\n", rank); // and leaves the stream open
  close(descriptor);
  return 0;
}
