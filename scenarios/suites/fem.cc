// Conjugate gradients over an assembled sparse matrix, in the manner of HPCCG and miniFE:
// quadrilateral elements on a grid that is cut into strips; each rank assembles what its elements
// give, finds out which unknowns belong to others and agrees with them on what to exchange. The
// right-hand side is made from a known solution, which must come out.
//
//     fem [WIDTH]
//
// It uses containers, strings, streams, virtual functions, exceptions across MPI calls, and statics
// of functions.
#include "suite.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mpi.h>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using Vector = std::vector<double>;
using Rows = std::map<long, std::map<long, double>>; // sparse, by global numbers

struct World {
  int me = 0, ranks = 1;
  World()
  {
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  static const World &get()
  {
    static const World world; // made at first use, after MPI_Init
    return world;
  }
};

// Unknown nodes: rows of `width`, spread evenly; there are 3 rows of elements for each rank.
struct Grid {
  long width, height;
  explicit Grid(long wide) : width(wide), height(3L * World::get().ranks + 1)
  {
  }
  long first(int rank) const
  {
    return width * (height * rank / World::get().ranks);
  }
  int owner(long node) const
  {
    int rank = 0;
    while (first(rank + 1) <= node)
      rank++;
    return rank;
  }
};

class Operator
{
public:
  virtual ~Operator() = default;
  virtual void apply(const Vector &in, Vector &out) = 0;
};

class Matrix : public Operator
{
  const Grid &grid;
  Rows rows;
  std::map<long, size_t> place; // of own unknowns and of those that others have
  std::map<int, std::vector<long>> wanted, given;

  void assemble()
  {
    static const double local[4][4] = {
        {4, -1, -2, -1}, {-1, 4, -1, -2}, {-2, -1, 4, -1}, {-1, -2, -1, 4}};
    const int me = World::get().me;
    for (long y = 0; y + 1 < grid.height; y++)
      for (long x = 0; x + 1 < grid.width; x++) {
        const long n = y * grid.width + x,
                   corner[4] = {n, n + 1, n + 1 + grid.width, n + grid.width};
        for (int a = 0; a < 4; a++)
          for (int b = 0; b < 4 && grid.owner(corner[a]) == me; b++)
            rows[corner[a]][corner[b]] += local[a][b];
      }
    for (auto &row : rows)
      row.second[row.first] += 0.5; // definite
  }

  // Sends lists of needed unknowns to their owners. An owner does not know in advance who needs
  // them.
  void negotiate()
  {
    const World &w = World::get();
    std::vector<int> asks(static_cast<size_t>(w.ranks)), asked(asks.size());
    for (const auto &row : rows)
      for (const auto &entry : row.second)
        if (!rows.count(entry.first)) {
          auto &list = wanted[grid.owner(entry.first)];
          if (std::find(list.begin(), list.end(), entry.first) == list.end())
            list.push_back(entry.first);
        }
    std::vector<MPI_Request> requests;
    for (auto &peer : wanted) {
      std::sort(peer.second.begin(), peer.second.end());
      asks[static_cast<size_t>(peer.first)] = 1;
      requests.emplace_back();
      MPI_Isend(peer.second.data(), static_cast<int>(peer.second.size()), MPI_LONG, peer.first, 1,
                MPI_COMM_WORLD, &requests.back());
    }
    MPI_Allreduce(asks.data(), asked.data(), w.ranks, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < asked[static_cast<size_t>(w.me)]; i++) {
      MPI_Status status;
      int count;
      MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_LONG, &count);
      auto &list = given[status.MPI_SOURCE];
      list.resize(static_cast<size_t>(count));
      MPI_Recv(list.data(), count, MPI_LONG, status.MPI_SOURCE, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

public:
  explicit Matrix(const Grid &g) : grid(g)
  {
    assemble();
    negotiate();
    for (const auto &row : rows)
      place.emplace(row.first, place.size());
    for (const auto &peer : wanted)
      for (long node : peer.second)
        place.emplace(node, place.size());
  }

  size_t own() const
  {
    return rows.size();
  }
  long node(size_t i) const
  {
    return std::next(rows.begin(), static_cast<long>(i))->first;
  }

  void apply(const Vector &in, Vector &out) override
  {
    Vector all(place.size());
    std::copy(in.begin(), in.end(), all.begin());
    std::vector<MPI_Request> requests(wanted.size() + given.size());
    std::vector<std::unique_ptr<Vector>> buffers;
    size_t n = 0;
    for (const auto &peer : wanted)
      MPI_Irecv(&all[place[peer.second.front()]], static_cast<int>(peer.second.size()), MPI_DOUBLE,
                peer.first, 2, MPI_COMM_WORLD, &requests[n++]);
    for (const auto &peer : given) {
      buffers.push_back(std::make_unique<Vector>());
      for (long node : peer.second)
        buffers.back()->push_back(in[place[node]]);
      MPI_Isend(buffers.back()->data(), static_cast<int>(buffers.back()->size()), MPI_DOUBLE,
                peer.first, 2, MPI_COMM_WORLD, &requests[n++]);
    }
    for (size_t done = 0; done < n; done++) {
      int which;
      MPI_Waitany(static_cast<int>(n), requests.data(), &which, MPI_STATUS_IGNORE);
    }
    size_t i = 0;
    for (const auto &row : rows) {
      double sum = 0;
      for (const auto &entry : row.second)
        sum += entry.second * all[place[entry.first]];
      out[i++] = sum;
    }
  }
};

struct Converged : std::runtime_error {
  int iterations;
  explicit Converged(int n) : std::runtime_error("after " + std::to_string(n)), iterations(n)
  {
  }
};

static double dot(const Vector &a, const Vector &b)
{
  double sum = 0;
  for (size_t i = 0; i < a.size(); i++)
    sum += a[i] * b[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

// Ends by an exception in any case.
static void solve(Operator &a, const Vector &b, Vector &x,
                  const std::function<void(int, double)> &report)
{
  Vector r(b), p(b), ap(b.size());
  double rr = dot(r, r);
  const double enough = rr * 1e-24;
  for (int n = 1; n < 500; n++) {
    a.apply(p, ap);
    const double alpha = rr / dot(p, ap), before = rr;
    for (size_t i = 0; i < x.size(); i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * ap[i];
    }
    rr = dot(r, r);
    report(n, rr);
    if (rr < enough)
      throw Converged(n);
    for (size_t i = 0; i < x.size(); i++)
      p[i] = r[i] + rr / before * p[i];
  }
  throw std::runtime_error("does not converge");
}

static long run(const std::string &width)
{
  const Grid grid(std::stol(width));
  Matrix a(grid);
  Vector exact(a.own()), b(a.own()), x(a.own(), 0.0);
  std::ostringstream history;
  long wrong = 0;
  for (size_t i = 0; i < a.own(); i++)
    exact[i] = static_cast<double>(suite_hash(static_cast<uint64_t>(a.node(i))) % 1000) / 100.0;
  a.apply(exact, b);
  const auto began = std::chrono::steady_clock::now();
  try {
    solve(a, b, x, [&history](int n, double rr) { history << n << ' ' << std::sqrt(rr) << '\n'; });
  } catch (const Converged &end) {
    int least = end.iterations; // all must agree, while each handles its own exception
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    wrong += least != end.iterations || std::string(end.what()) != "after " + std::to_string(least);
    const std::string lines = history.str();
    wrong += std::count(lines.begin(), lines.end(), '\n') != least;
  } catch (const std::exception &problem) {
    std::cerr << problem.what() << std::endl;
    wrong++;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  wrong += !(took.count() > 0);
  for (size_t i = 0; i < x.size(); i++)
    wrong += !(std::abs(x[i] - exact[i]) < 1e-8);
  return wrong;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const int status = suite_verdict("fem", run(arguments.empty() ? "12" : arguments[0]));
  MPI_Finalize();
  return status;
}
