// Does what image-program.c does, for what C++ adds: the standard library allocates inside
// libstdc++, objects hold pointers to themselves (short strings), exceptions are thrown, files
// opened and closed.
#include <mpi.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
std::map<int, std::string> names; // empty before main
std::string global_text;
unsigned long state = 1;

unsigned long mix(unsigned long value)
{
  state = (state ^ value) * 0x9e3779b97f4a7c15ul;
  state ^= state >> 31;
  return state;
}

unsigned long fold(const std::string &text)
{
  unsigned long digest = 7;
  for (char c : text)
    digest = digest * 131 + static_cast<unsigned char>(c);
  return digest;
}

void change_names(int i)
{
  names[static_cast<int>(mix(1) % 100)] += std::string(i % 40, static_cast<char>('a' + i % 26));
  if (i % 4 == 3)
    names.erase(names.begin());
}

void complain(int i)
{
  try {
    if (mix(2) % 2)
      throw std::runtime_error("iteration " + std::to_string(i) + ", long enough for the heap");
  } catch (const std::exception &error) {
    global_text += error.what();
  }
}

void read_a_file()
{
  std::ifstream file("/proc/self/comm");
  std::string word;
  file >> word;
  global_text += std::to_string(word.size());
}
} // namespace

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string text = "short"; // its characters lie in the object, in this frame
  std::vector<std::string> words;
  std::unique_ptr<std::vector<double>> numbers(new std::vector<double>());
  unsigned char array[20000] = {0};
  mix(static_cast<unsigned long>(rank));
  std::function<void(int)> note = [&](int i) { words.push_back(text + std::to_string(i)); };
  for (int i = 0; i < 40; i++) {
    change_names(i);
    complain(i);
    read_a_file();
    note(i);
    text = mix(3) % 3 ? text + "x" : "y" + std::to_string(i);
    numbers->push_back(static_cast<double>(mix(4) % 1000));
    for (int j = 0; j < 2000; j++)
      array[mix(5) % sizeof array]++;
    unsigned long sum = 0;
    MPI_Allreduce(&state, &sum, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    mix(sum);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  unsigned long digest = fold(text) + fold(global_text), total = 0;
  for (const auto &entry : names)
    digest = digest * 3 + fold(entry.second) + static_cast<unsigned long>(entry.first);
  for (const auto &word : words)
    digest = digest * 5 + fold(word);
  for (double number : *numbers)
    digest = digest * 7 + static_cast<unsigned long>(number);
  for (unsigned char byte : array)
    digest = digest * 11 + byte;
  MPI_Allreduce(&digest, &total, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("digest %016lx\n", total);
  MPI_Finalize();
  return 0;
}
