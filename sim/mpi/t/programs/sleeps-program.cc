// Tests that the waits of the C++ library go by the time of the simulation.
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mpi.h>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

static int rank, wrong;
static double began;

static void took(const char *what, double seconds)
{
  double found = MPI_Wtime() - began;
  if (std::fabs(found - seconds) > 1e-3) {
    wrong++;
    std::printf("rank %d: %s takes %g s, expected %g\n", rank, what, found, seconds);
  }
  began = MPI_Wtime();
}

template <class Clock> static void wait_by(const char *name)
{
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  auto before = Clock::now();
  began = MPI_Wtime();
  std::this_thread::sleep_until(Clock::now() + 150ms);
  took(name, 0.15);
  if (condition.wait_until(lock, Clock::now() + 250ms) != std::cv_status::timeout)
    wrong++;
  took(name, 0.25);
  std::promise<int> promise;
  auto future = promise.get_future();
  if (future.wait_until(Clock::now() + 350ms) != std::future_status::timeout)
    wrong++;
  took(name, 0.35);
  promise.set_value(1);
  if (future.wait_until(Clock::now() + 350ms) != std::future_status::ready)
    wrong++;
  took(name, 0);
  if (std::fabs(std::chrono::duration<double>(Clock::now() - before).count() - 0.75) > 1e-3)
    wrong++;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  began = MPI_Wtime();
  std::this_thread::sleep_for(300ms);
  took("sleep_for", 0.3);
  std::this_thread::sleep_for(2s);
  took("sleep_for of seconds", 2);
  wait_by<std::chrono::steady_clock>("steady_clock");
  wait_by<std::chrono::system_clock>("system_clock");
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  began = MPI_Wtime();
  if (condition.wait_for(lock, 120ms, [] { return false; }))
    wrong++;
  took("condition_variable::wait_for", 0.12);
  std::timed_mutex timed;
  timed.lock();
  if (timed.try_lock_for(130ms))
    wrong++;
  took("timed_mutex::try_lock_for", 0.13);
  int all;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    std::puts(all ? "WRONG" : "all are right");
  MPI_Finalize();
  return all != 0;
}
