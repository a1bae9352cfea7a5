// Blocks that are refined, coarsened and moved for balance, in the manner of miniAMR: everything is
// allocated, freed and sent all the time, over communicators that are made anew for each phase.
// What a block holds follows from its number and its age, so that nothing can be lost or doubled.
//
//     blocks [PHASES]
//
// It uses Comm_split and Comm_dup in a loop, polymorphic objects that are packed and made again, a
// user-defined reduction on a struct, Mersenne twister, std::list, deque, unordered_map and
// shared_ptr.
#include "suite.h"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <memory>
#include <mpi.h>
#include <random>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

class Block
{
protected:
  long id, age = 0;
  std::vector<uint64_t> cell;

public:
  Block(long number, size_t cells) : id(number), cell(cells)
  {
    for (size_t i = 0; i < cells; i++)
      cell[i] = suite_hash(static_cast<uint64_t>(id) * 64 + i);
  }
  virtual ~Block() = default;
  virtual char kind() const = 0;
  virtual uint64_t renewed(uint64_t value) const = 0;
  long number() const
  {
    return id;
  }
  size_t cells() const
  {
    return cell.size();
  }
  void grow_older()
  {
    age++;
    for (auto &value : cell)
      value = renewed(value);
  }
  bool is_right() const; // compares it with a block that is made now and grows as old

  void pack(std::string &to) const
  {
    const long head[4] = {kind(), id, age, static_cast<long>(cell.size())};
    to.append(reinterpret_cast<const char *>(head), sizeof head);
    to.append(reinterpret_cast<const char *>(cell.data()), cell.size() * sizeof cell[0]);
  }
  static std::shared_ptr<Block> unpack(const std::string &from, size_t &at);
  static std::shared_ptr<Block> make(char kind, long id, size_t cells);
};

class Fluid : public Block
{
public:
  using Block::Block;
  char kind() const override
  {
    return 'f';
  }
  uint64_t renewed(uint64_t value) const override
  {
    return value * 5 + 1;
  }
};

class Solid : public Block
{
public:
  using Block::Block;
  char kind() const override
  {
    return 's';
  }
  uint64_t renewed(uint64_t value) const override
  {
    return value ^ value >> 7 ^ 3;
  }
};

std::shared_ptr<Block> Block::make(char kind, long id, size_t cells)
{
  if (kind == 'f')
    return std::make_shared<Fluid>(id, cells);
  if (kind == 's')
    return std::make_shared<Solid>(id, cells);
  throw std::invalid_argument(std::string("no such block: ") + kind);
}

std::shared_ptr<Block> Block::unpack(const std::string &from, size_t &at)
{
  long head[4];
  std::memcpy(head, &from[at], sizeof head);
  at += sizeof head;
  auto block = make(static_cast<char>(head[0]), head[1], static_cast<size_t>(head[3]));
  block->age = head[2];
  std::memcpy(block->cell.data(), &from[at], block->cell.size() * sizeof block->cell[0]);
  at += block->cell.size() * sizeof block->cell[0];
  return block;
}

bool Block::is_right() const
{
  auto other = make(kind(), id, cell.size());
  for (long year = 0; year < age; year++)
    other->grow_older();
  return other->cell == cell;
}

using Blocks = std::list<std::shared_ptr<Block>>;

// Takes out some blocks and puts them back, as they are or made again from packed bytes. Then all
// blocks grow older.
static void refine_and_coarsen(Blocks &blocks, std::mt19937 &generator, int phase)
{
  std::unordered_map<long, std::shared_ptr<Block>> halves;
  for (auto it = blocks.begin(); it != blocks.end();) {
    if ((*it)->cells() > 4 && generator() % 4 == 0) {
      std::vector<std::shared_ptr<Block>> scratch(static_cast<size_t>(generator() % 9), *it);
      halves[(*it)->number()] = *it;
      it = blocks.erase(it);
    } else {
      ++it;
    }
  }
  for (auto &half : halves)
    blocks.push_back(phase % 2 ? half.second : [&half] {
      std::string packed;
      size_t at = 0;
      half.second->pack(packed);
      return Block::unpack(packed, at);
    }());
  for (auto &block : blocks)
    block->grow_older();
}

// Moves blocks from ranks that have more than the mean of the group to ranks that have less.
static void balance(Blocks &blocks, MPI_Comm group)
{
  int me, ranks;
  MPI_Comm_rank(group, &me);
  MPI_Comm_size(group, &ranks);
  std::vector<int> load(static_cast<size_t>(ranks));
  int mine = static_cast<int>(blocks.size()), sum = 0;
  MPI_Allgather(&mine, 1, MPI_INT, load.data(), 1, MPI_INT, group);
  for (int count : load)
    sum += count;
  std::deque<std::pair<int, int>> moves; // from, to
  for (int from = 0; from < ranks; from++)
    for (int to = 0; to < ranks; to++)
      while (load[from] > sum / ranks + 1 && load[to] < sum / ranks) {
        load[from]--;
        load[to]++;
        moves.emplace_back(from, to);
      }
  for (; !moves.empty(); moves.pop_front()) {
    if (moves.front().first == me) {
      std::string packed;
      blocks.front()->pack(packed);
      blocks.pop_front();
      MPI_Send(packed.data(), static_cast<int>(packed.size()), MPI_BYTE, moves.front().second, 5,
               group);
    } else if (moves.front().second == me) {
      MPI_Status status;
      int bytes;
      size_t at = 0;
      MPI_Probe(moves.front().first, 5, group, &status);
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      std::string packed(static_cast<size_t>(bytes), '\0');
      MPI_Recv(&packed[0], bytes, MPI_BYTE, status.MPI_SOURCE, 5, group, MPI_STATUS_IGNORE);
      blocks.push_back(Block::unpack(packed, at));
    }
  }
}

struct Census {
  long count, numbers, cells;
};

static void add(void *in, void *inout, int *count, MPI_Datatype *)
{
  const auto *a = static_cast<const Census *>(in);
  auto *b = static_cast<Census *>(inout);
  for (int i = 0; i < *count; i++)
    b[i] = {a[i].count + b[i].count, a[i].numbers ^ b[i].numbers, a[i].cells + b[i].cells};
}

static Census census(const Blocks &blocks, MPI_Datatype type, MPI_Op op)
{
  Census here = {0, 0, 0}, all;
  for (const auto &block : blocks) {
    here.count++;
    here.numbers ^= static_cast<long>(suite_hash(static_cast<uint64_t>(block->number())));
    here.cells += static_cast<long>(block->cells());
  }
  MPI_Allreduce(&here, &all, 1, type, op, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char **argv)
{
  int me, phases = argc > 1 ? std::atoi(argv[1]) : 15;
  long wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Datatype type;
  MPI_Op op;
  MPI_Type_contiguous(3, MPI_LONG, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(add, 1, &op);
  std::mt19937 generator(static_cast<unsigned>(me));
  Blocks blocks;
  for (long i = 0; i < 3 + me % 5 * 4; i++)
    blocks.push_back(Block::make(generator() % 2 ? 'f' : 's', me * 1000L + i, 2 + generator() % 9));
  const Census before = census(blocks, type, op);
  for (int phase = 0; phase < phases; phase++) {
    MPI_Comm group, copy;
    MPI_Comm_split(MPI_COMM_WORLD, (me + phase) / 3 % 2, phase % 2 ? -me : me, &group);
    MPI_Comm_dup(group, &copy);
    refine_and_coarsen(blocks, generator, phase);
    balance(blocks, phase % 3 ? copy : MPI_COMM_WORLD);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&group);
    const Census now = census(blocks, type, op);
    wrong += std::memcmp(&now, &before, sizeof now) != 0;
  }
  for (const auto &block : blocks)
    wrong += !block->is_right();
  try {
    Block::make('x', 0, 1);
    wrong++;
  } catch (const std::invalid_argument &problem) {
    wrong += std::string(problem.what()) != "no such block: x";
  }
  blocks.clear();
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  const int status = suite_verdict("blocks", wrong);
  MPI_Finalize();
  return status;
}
