#include "sim/host/storage/host_levels.h"

#include "sim/host/rank/shadow.h"
#include "sim/net/placement.h"

/* Returns a rank on the node that is `away` nodes after the node of `rank` in the set of that node.
 * The set is a circle, so -1 names the node before. */
static int neighbour(int rank, const struct level *level, int away)
{
  int per_node = scenario_stored_per_node(layer.scenario), node = rank / per_node;
  int first = node - node % level->group;
  int other = first + (node - first + away + level->group) % level->group;
  return MIN(other * per_node + rank % per_node, layer.ranks - 1);
}

static struct step_of_transfer work(double seconds)
{
  return (struct step_of_transfer){.kind = STEP_WORK, .seconds = seconds};
}

static struct step_of_transfer move(enum step_kind kind, const char *from, const char *to,
                                    double bytes)
{
  return (struct step_of_transfer){.kind = kind, .from = from, .to = to, .bytes = bytes};
}

static struct step_of_transfer step(const struct level *level, enum step_kind disk, int from,
                                    int to, double bytes)
{
  if (level->storage == STORAGE_MEMORY && from == to)
    return work(machine_copy_seconds(bytes));
  return move(level->storage == STORAGE_MEMORY ? STEP_SEND : disk, node_of(from), node_of(to),
              bytes);
}

/* Returns the number of bytes of parity that a node keeps if each node of its set has `bytes`
 * bytes. */
static double parity(const struct level *level, double bytes)
{
  return level->losses * bytes / (level->group - level->losses);
}

static bool is_coded(const struct level *level)
{
  return level->redundancy > REDUNDANCY_PARTNER;
}

unsigned levels_store(int rank, uint32_t checkpoint, double bytes, struct step_of_transfer *steps)
{
  const struct level *level = scenario_level_of(layer.scenario, checkpoint);
  unsigned count = 0;
  if (level->storage == STORAGE_NFS) {
    steps[0] = move(STEP_WRITE, node_of(rank), node_service(), bytes);
    return 1;
  }
  steps[count++] = step(level, STEP_WRITE, rank, rank, bytes);
  if (level->redundancy == REDUNDANCY_PARTNER)
    steps[count++] = step(level, STEP_WRITE, rank, neighbour(rank, level, 1), bytes);
  if (!is_coded(level))
    return count;
  double coded = level->losses * bytes;
  steps[count++] = step(level, STEP_SEND, rank, neighbour(rank, level, 1), coded);
  steps[count++] = work(machine_encode_seconds(coded));
  steps[count++] = step(level, STEP_WRITE, rank, rank, parity(level, bytes));
  return count;
}

/* Returns a rank on the next node of the set that still has its piece. */
static int survivor(int rank, uint32_t checkpoint, const struct level *level)
{
  int other = neighbour(rank, level, 1);
  for (int away = 2; away < level->group && shadow_has_lost(other, checkpoint); away++)
    other = neighbour(rank, level, away);
  return other;
}

unsigned levels_read(int rank, uint32_t checkpoint, double bytes, struct step_of_transfer *steps)
{
  const struct level *level = scenario_level_of(layer.scenario, checkpoint);
  unsigned count = 0;
  if (level->storage == STORAGE_NFS) {
    steps[0] = move(STEP_READ, node_service(), node_of(rank), bytes);
    return 1;
  }
  bool lost = shadow_has_lost(rank, checkpoint);
  int from = lost ? survivor(rank, checkpoint, level) : rank;
  steps[count++] = step(level, STEP_READ, from, rank, bytes);
  if (!lost)
    return count;
  if (is_coded(level)) {
    steps[count++] = work(machine_encode_seconds(bytes));
    steps[count++] = step(level, STEP_WRITE, rank, rank, bytes + parity(level, bytes));
  } else { /* a node keeps its own images, and the images of the node whose partner it is */
    int before = neighbour(rank, level, -1);
    steps[count++] = step(level, STEP_READ, before, rank, bytes);
    steps[count++] = step(level, STEP_WRITE, rank, rank, 2.0 * bytes);
  }
  return count;
}
