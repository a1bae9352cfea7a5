/* lulesh-like: hydrodynamics on a cube of cubes, with the communication of LULESH.
 *
 * This file was written from publications about LULESH (I. Karlin et al., "LULESH Programming Model
 * and Performance Ports Overview", LLNL-TR-608824, 2012), not from its source. It is much shorter,
 * because the gas moves little, so the mesh is fixed.
 *
 * Model: there is a gas in a box of rigid walls, with uneven internal energy and a spark in the
 * corner at the origin. Elements have energy and volume, nodes have velocities. A time step has
 * five parts: all ranks agree on the length of the step; elements compute their pressure, with an
 * artificial viscosity that depends on their neighbours; the pressure accelerates their nodes; the
 * nodes move; the elements do the work. The work of the elements and the energy that the nodes gain
 * are the same sum in another order (Caramana et al., "The Construction of Compatible Hydrodynamics
 * Algorithms Utilizing Conservation of Total Energy", J. Comput. Phys. 146, 1998). So total energy
 * is conserved up to rounding, whatever the pressures are. Data of the wrong step, or missing data,
 * violate conservation.
 *
 * Distribution: the number of ranks is a cube, and each rank has SIDE^3 elements (weak scaling).
 * Nodes between ranks belong to all these ranks. In each step the ranks exchange:
 *     all ranks   the smallest time step, MPI_Allreduce
 *     6 faces     compression of the outermost elements along each axis
 *     26 faces, edges, corners    forces, summed by every rank that has the node
 *     7 of them   velocities before and after the step, from the highest of these ranks, so that
 *                 all have the same bits
 * Receives are posted ahead, and partners are named. Each message has as many values as in LULESH.
 *
 * Usage: lulesh-like [SIDE [STEPS]]    45 elements in each direction, 75 steps
 *        lulesh-like [-p] -w WIDE [STEPS]    a whole box of WIDE^3 elements on any number of ranks
 *            whose grid (MPI_Dims_create) divides the box. Arrays are protected as distributed
 *            arrays, so that another number of ranks can go on from a checkpoint. -p prints all
 *            energies.
 * The exit code is the same on all ranks: 0 energy is conserved, 1 it is not, 64 usage.
 */
#include <math.h>
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tell.h"

enum {
  DIMENSIONS = 3,
  DIRECTIONS =
      27, /* offsets -1, 0, 1 in each dimension; the one in the middle is the rank itself */
  EXIT_CONSERVED = 0,
  EXIT_NOT_CONSERVED = 1,
  EXIT_USAGE = 64,
  DEFAULT_SIDE = 45, /* default of LULESH for the side of each domain */
  DEFAULT_STEPS = 75,
  TAG_COMPRESSION = 1 * DIRECTIONS,
  TAG_FORCE = 2 * DIRECTIONS,
  TAG_VELOCITY = 3 * DIRECTIONS,
  MOTION = 2 * DIMENSIONS, /* numbers for the velocities of a node before and after a step */
  /* These are numbers of bytes in LULESH itself: the program of Dichev and Nikolopoulos (EuroMPI
   * 2019, reference 2) copies the first two kinds in an iteration, to a second domain and back,
   * and writes the other two to a file. */
  COPIED_OF_ELEMENT = 16 * 4 + 12 * 8,
  COPIED_OF_NODE = 13 * 8,
  STORED_OF_ELEMENT = 8 * 4 + 5 * 8,
  STORED_OF_NODE = 6 * 8,
};

static const double TOLERANCE = 1e-12;
static const double GAMMA = 1.4;
static const double COURANT = 0.2;
static const double VISCOSITY = 1.5;
static const double SPARK = 20.0;
/* FLOPS_OF_ELEMENT is the number of operations of LULESH itself for an element. At the 316 Mflop/s
 * of platforms/cirrus.xml a step then computes for 0.34 s, as in Table 4: 33.2 s less 7.5 s of
 * other work, for 75 steps. */
static const double FLOPS_OF_ELEMENT = 1190.0;

/* Describes the position of this rank in the cube of ranks. */
struct place {
  int rank, ranks;
  int grid[DIMENSIONS]; /* number of ranks in each direction */
  int at[DIMENSIONS];   /* position of this rank in each direction */
};

static struct place place;
static int side[DIMENSIONS];  /* number of elements in each direction */
static int nodes[DIMENSIONS]; /* number of nodes in each direction */
static int wide; /* elements of the whole box in each direction, or 0 if each rank has SIDE */

/* Only `compression` has a frame for the elements of neighbours. In the units used here an element
 * has volume 1 and, at first, mass 1 and energy about 1. */
static double *energy, *volume, *pressure, *compression;
static double *velocity, *force; /* three numbers for each node */
static bool prints;              /* true if all energies are printed at the end */
static double sent;              /* bytes of this rank's messages, in the last step */
static double *inverse_mass;     /* inverse masses of nodes; nodes in walls have less mass */

static double *out[DIRECTIONS], *in[DIRECTIONS];

static size_t element_at(int x, int y, int z)
{
  return ((size_t)z * (size_t)side[1] + (size_t)y) * (size_t)side[0] + (size_t)x;
}

static size_t framed_at(int x, int y, int z) /* coordinates go from -1 to side */
{
  const size_t row = (size_t)side[0] + 2, rows = (size_t)side[1] + 2;
  return ((size_t)(z + 1) * rows + (size_t)(y + 1)) * row + (size_t)(x + 1);
}

static size_t node_at(int x, int y, int z)
{
  return DIMENSIONS * (((size_t)z * (size_t)nodes[1] + (size_t)y) * (size_t)nodes[0] + (size_t)x);
}

/* Returns the number of points in a box of that many in each direction. */
static size_t volume_of(const int extent[DIMENSIONS], int more)
{
  size_t points = 1;
  for (int d = 0; d < DIMENSIONS; d++)
    points *= (size_t)(extent[d] + more);
  return points;
}

static double *allocate(size_t count)
{
  double *memory = calloc(count, sizeof *memory);
  if (memory == NULL) {
    fprintf(stderr, "lulesh-like: out of memory\n");
    abort();
  }
  return memory;
}

/* ---- neighbours ---- */

static int offset_of(int direction, int dimension)
{
  static const int stride[DIMENSIONS] = {1, 3, 9};
  return direction / stride[dimension] % 3 - 1;
}

static int opposite(int direction)
{
  return DIRECTIONS - 1 - direction;
}

/* Returns the number of dimensions that the direction has: 1 to a face, 2 to an edge, 3 to a
 * corner. */
static int order_of(int direction)
{
  int order = 0;
  for (int d = 0; d < DIMENSIONS; d++)
    order += offset_of(direction, d) != 0;
  return order;
}

/* Returns whether the direction goes up (`way` 1) or down (`way` -1) in some dimensions, and the
 * other way in none. */
static bool goes_only(int direction, int way)
{
  for (int d = 0; d < DIMENSIONS; d++)
    if (offset_of(direction, d) == -way)
      return false;
  return order_of(direction) > 0;
}

/* Returns the rank in that direction, or MPI_PROC_NULL if there is a wall. */
static int neighbour(int direction)
{
  int rank = 0;
  for (int d = DIMENSIONS - 1; d >= 0; d--) {
    const int there = place.at[d] + offset_of(direction, d);
    if (there < 0 || there >= place.grid[d])
      return MPI_PROC_NULL;
    rank = rank * place.grid[d] + there;
  }
  return rank;
}

/* Describes a box of the nodes or elements that two neighbours share. */
struct box {
  int from[DIMENSIONS], to[DIMENSIONS];
};

static struct box nodes_shared(int direction)
{
  struct box box;
  for (int d = 0; d < DIMENSIONS; d++) {
    const int offset = offset_of(direction, d);
    box.from[d] = offset > 0 ? side[d] : 0;
    box.to[d] = offset < 0 ? 0 : side[d];
  }
  return box;
}

/* Returns the outermost layer of elements. With `beyond` 1, returns the neighbour's layer next to
 * it. */
static struct box elements_shared(int direction, int beyond)
{
  struct box box;
  for (int d = 0; d < DIMENSIONS; d++) {
    const int offset = offset_of(direction, d);
    box.from[d] = offset > 0 ? side[d] - 1 + beyond : offset < 0 ? -beyond : 0;
    box.to[d] = offset > 0 ? side[d] - 1 + beyond : offset < 0 ? -beyond : side[d] - 1;
  }
  return box;
}

/* Executes the following statement for each (x, y, z) of the box. */
#define EACH(box)                                                                                  \
  for (int z = (box).from[2]; z <= (box).to[2]; z++)                                               \
    for (int y = (box).from[1]; y <= (box).to[1]; y++)                                             \
      for (int x = (box).from[0]; x <= (box).to[0]; x++)

static int pack_forces(int direction)
{
  const struct box box = nodes_shared(direction);
  double *next = out[direction];
  EACH(box)
  {
    memcpy(next, &force[node_at(x, y, z)], DIMENSIONS * sizeof *next);
    next += DIMENSIONS;
  }
  return (int)(next - out[direction]);
}

static void add_forces(int direction)
{
  const struct box box = nodes_shared(direction);
  const double *next = in[direction];
  EACH(box)
  for (int d = 0; d < DIMENSIONS; d++)
    force[node_at(x, y, z) + (size_t)d] += *next++;
}

/* Packs the velocities after the step. Also packs those before it, which move_nodes() has put into
 * `force`. */
static int pack_motion(int direction)
{
  const struct box box = nodes_shared(direction);
  double *next = out[direction];
  EACH(box)
  {
    memcpy(next, &velocity[node_at(x, y, z)], DIMENSIONS * sizeof *next);
    memcpy(next + DIMENSIONS, &force[node_at(x, y, z)], DIMENSIONS * sizeof *next);
    next += MOTION;
  }
  return (int)(next - out[direction]);
}

static void take_motion(int direction)
{
  const struct box box = nodes_shared(direction);
  const double *next = in[direction];
  EACH(box)
  {
    memcpy(&velocity[node_at(x, y, z)], next, DIMENSIONS * sizeof *next);
    memcpy(&force[node_at(x, y, z)], next + DIMENSIONS, DIMENSIONS * sizeof *next);
    next += MOTION;
  }
}

/* Posts the receive and the send of one direction. Both have `count` numbers. */
static int exchange(int to, int from, int tag, int count, MPI_Request *requests)
{
  int posted = 0;
  if (from >= 0)
    MPI_Irecv(in[from], count, MPI_DOUBLE, neighbour(from), tag + opposite(from), MPI_COMM_WORLD,
              &requests[posted++]);
  if (to >= 0) {
    MPI_Isend(out[to], count, MPI_DOUBLE, neighbour(to), tag + to, MPI_COMM_WORLD,
              &requests[posted++]);
    sent += (double)count * sizeof *out[to];
  }
  return posted;
}

static bool is_there(int direction)
{
  return order_of(direction) > 0 && neighbour(direction) != MPI_PROC_NULL;
}

/* Adds the forces of all ranks that share a node, always in the same order. */
static void sum_forces(void)
{
  MPI_Request requests[2 * DIRECTIONS];
  int posted = 0;
  for (int i = 0; i < DIRECTIONS; i++)
    if (is_there(i))
      posted += exchange(i, i, TAG_FORCE, pack_forces(i), &requests[posted]);
  MPI_Waitall(posted, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < DIRECTIONS; i++)
    if (is_there(i))
      add_forces(i);
}

/* Shared nodes get the velocities of the highest rank that has them. Corners come last: their rank
 * is higher than that of a face. */
static void agree_on_velocities(void)
{
  MPI_Request requests[2 * DIRECTIONS];
  int posted = 0;
  for (int i = 0; i < DIRECTIONS; i++) {
    const int back = opposite(i);
    if (!goes_only(i, -1))
      continue;
    const int to = is_there(i) ? i : -1, from = is_there(back) ? back : -1;
    if (to >= 0 || from >= 0)
      posted += exchange(to, from, TAG_VELOCITY, pack_motion(i), &requests[posted]);
  }
  MPI_Waitall(posted, requests, MPI_STATUSES_IGNORE);
  for (int order = 1; order <= DIMENSIONS; order++)
    for (int i = 0; i < DIRECTIONS; i++)
      if (goes_only(i, 1) && order_of(i) == order && is_there(i))
        take_motion(i);
}

/* Holds the eight nodes of an element. Bit d of a corner's number tells the side of the corner in
 * dimension d. */
struct corners {
  size_t node[8];
};

static struct corners corners_of(int x, int y, int z)
{
  struct corners corners;
  for (int i = 0; i < 8; i++)
    corners.node[i] = node_at(x + (i & 1), y + (i >> 1 & 1), z + (i >> 2));
  return corners;
}

/* Computes how fast the element grows along each axis when its nodes make these moves. A face moves
 * as its four corners do on average. */
static void grow(const double *restrict moves, const struct corners *corners,
                 double *restrict along)
{
  along[0] = along[1] = along[2] = 0.0;
  for (int i = 0; i < 8; i++) {
    const double *move = &moves[corners->node[i]];
    for (int d = 0; d < DIMENSIONS; d++)
      along[d] += i >> d & 1 ? 0.25 * move[d] : -0.25 * move[d];
  }
}

static double sum_of(const double *along)
{
  return along[0] + along[1] + along[2];
}

static double growth(const double *restrict moves, const struct corners *corners)
{
  double along[DIMENSIONS];
  grow(moves, corners, along);
  return sum_of(along);
}

/* Fills the frame of `compression`; behind a wall it repeats the value in front of the wall. */
static void frame_compression(void)
{
  MPI_Request requests[2 * DIRECTIONS];
  int posted = 0;
  for (int i = 0; i < DIRECTIONS; i++) {
    if (order_of(i) != 1)
      continue;
    const struct box box = elements_shared(i, 0);
    double *next = is_there(i) ? out[i] : in[i];
    const double *const first = next;
    EACH(box)
    {
      const struct corners corners = corners_of(x, y, z);
      grow(velocity, &corners, next);
      next += DIMENSIONS;
    }
    if (is_there(i))
      posted += exchange(i, i, TAG_COMPRESSION, (int)(next - first), &requests[posted]);
  }
  MPI_Waitall(posted, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < DIRECTIONS; i++) {
    if (order_of(i) != 1)
      continue;
    const struct box box = elements_shared(i, 1);
    const double *next = in[i];
    EACH(box)
    {
      compression[framed_at(x, y, z)] = -sum_of(next);
      next += DIMENSIONS;
    }
  }
}

/* ---- the gas ---- */

static struct box all_elements(void)
{
  return (struct box){.to = {side[0] - 1, side[1] - 1, side[2] - 1}};
}

static struct box all_nodes(void)
{
  return (struct box){.to = {side[0], side[1], side[2]}};
}

/* Returns the time in which a sound wave crosses the fraction COURANT of the fastest element. */
static double choose_step(void)
{
  double fastest = 0.0, shortest;
  const size_t elements = volume_of(side, 0);
  for (size_t i = 0; i < elements; i++)
    fastest = fmax(fastest, GAMMA * (GAMMA - 1.0) * energy[i]);
  double quickest = 0.0;
  const size_t parts = DIMENSIONS * volume_of(nodes, 0);
  for (size_t i = 0; i < parts; i++)
    quickest = fmax(quickest, fabs(velocity[i]));
  const double mine = COURANT / (sqrt(fastest) + quickest);
  MPI_Allreduce(&mine, &shortest, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  return shortest;
}

static void find_compressions(void)
{
  const struct box box = all_elements();
  EACH(box)
  {
    const struct corners corners = corners_of(x, y, z);
    compression[framed_at(x, y, z)] = -growth(velocity, &corners);
  }
  frame_compression();
}

/* Returns a factor of the viscosity: 1 in a shock, and 0 if the neighbours are compressed as much,
 * because viscosity would then only heat them. */
static double limiter(int x, int y, int z)
{
  const double own = compression[framed_at(x, y, z)];
  const double around =
      fmin(fmin(fmin(compression[framed_at(x - 1, y, z)], compression[framed_at(x + 1, y, z)]),
                fmin(compression[framed_at(x, y - 1, z)], compression[framed_at(x, y + 1, z)])),
           fmin(compression[framed_at(x, y, z - 1)], compression[framed_at(x, y, z + 1)]));
  return 1.0 - fmax(0.0, fmin(1.0, around / own));
}

static void find_pressures(void)
{
  const struct box box = all_elements();
  EACH(box)
  {
    const size_t i = element_at(x, y, z);
    const double own = compression[framed_at(x, y, z)];
    const double viscous = own > 0.0 ? VISCOSITY * own * own * limiter(x, y, z) : 0.0;
    pressure[i] = ((GAMMA - 1.0) * energy[i] + viscous) / volume[i];
  }
}

static void push_nodes(void)
{
  const struct box box = all_elements();
  memset(force, 0, DIMENSIONS * sizeof *force * volume_of(nodes, 0));
  EACH(box)
  {
    const struct corners corners = corners_of(x, y, z);
    const double push = 0.25 * pressure[element_at(x, y, z)];
    for (int i = 0; i < 8; i++) {
      double *on = &force[corners.node[i]];
      on[0] += i & 1 ? push : -push;
      on[1] += i & 2 ? push : -push;
      on[2] += i & 4 ? push : -push;
    }
  }
  sum_forces();
}

/* Removes the force across a wall, so that nodes in the wall move only along it. */
static void hold_walls(void)
{
  for (int d = 0; d < DIMENSIONS; d++)
    for (int way = 0; way < 2; way++) {
      if (place.at[d] != (way ? place.grid[d] - 1 : 0))
        continue;
      struct box box = all_nodes();
      box.from[d] = box.to[d] = way ? side[d] : 0;
      EACH(box) force[node_at(x, y, z) + (size_t)d] = 0.0;
    }
}

/* Changes the velocities by the forces. Leaves in `force` the mean of the velocities before and
 * after the step, at which the nodes move during the step. */
static void move_nodes(double step)
{
  const size_t count = volume_of(nodes, 0);
  hold_walls();
  for (size_t i = 0; i < count; i++)
    for (size_t d = DIMENSIONS * i; d < DIMENSIONS * (i + 1); d++) {
      const double gained = step * force[d] * inverse_mass[i];
      force[d] = velocity[d];
      velocity[d] += gained;
    }
  agree_on_velocities();
  for (size_t d = 0; d < DIMENSIONS * count; d++)
    force[d] = 0.5 * (force[d] + velocity[d]);
}

static void do_work(double step)
{
  const struct box box = all_elements();
  EACH(box)
  {
    const struct corners corners = corners_of(x, y, z);
    const size_t i = element_at(x, y, z);
    const double grown = step * growth(force, &corners);
    energy[i] -= pressure[i] * grown;
    volume[i] += grown;
  }
}

static void advance(void)
{
  sent = 0.0;
  const double step = choose_step();
  find_compressions();
  find_pressures();
  push_nodes();
  move_nodes(step);
  do_work(step);
  smpi_execute_flops(FLOPS_OF_ELEMENT * (double)volume_of(side, 0));
}

/* ---- the beginning and the end ---- */

static uint64_t mix(uint64_t value)
{
  value = (value ^ value >> 31) * UINT64_C(0x9E3779B97F4A7C15);
  value = (value ^ value >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
  return value ^ value >> 32;
}

/* Returns the number of an element in the whole box. */
static int number_of(int x, int y, int z)
{
  const int at[DIMENSIONS] = {place.at[0] * side[0] + x, place.at[1] * side[1] + y,
                              place.at[2] * side[2] + z};
  return (at[2] * place.grid[1] * side[1] + at[1]) * place.grid[0] * side[0] + at[0];
}

/* Returns an energy between 0.5 and 1.5 that depends on the position of the element in the whole
 * box. */
static double first_energy(int x, int y, int z)
{
  const int number = number_of(x, y, z);
  return (number == 0 ? SPARK : 0.5) + 0x1p-64 * (double)mix((uint64_t)number + 1);
}

/* Returns the mass of a node: an eighth of each element around it, so half as much in a wall. */
static double mass_of_node(int x, int y, int z)
{
  const int at[DIMENSIONS] = {x, y, z};
  double mass = 1.0;
  for (int d = 0; d < DIMENSIONS; d++)
    if ((at[d] == 0 && place.at[d] == 0) || (at[d] == side[d] && place.at[d] == place.grid[d] - 1))
      mass *= 0.5;
  return mass;
}

static void begin(void)
{
  const struct box elements = all_elements(), points_of_all = all_nodes();
  const size_t count = volume_of(side, 0), framed = volume_of(side, 2);
  const size_t points = volume_of(nodes, 0);
  energy = allocate(count);
  volume = allocate(count);
  pressure = allocate(count);
  compression = allocate(framed);
  velocity = allocate(DIMENSIONS * points);
  force = allocate(DIMENSIONS * points);
  inverse_mass = allocate(points);
  EACH(elements)
  {
    energy[element_at(x, y, z)] = first_energy(x, y, z);
    volume[element_at(x, y, z)] = 1.0;
  }
  EACH(points_of_all) inverse_mass[node_at(x, y, z) / DIMENSIONS] = 1.0 / mass_of_node(x, y, z);
  for (int i = 0; i < DIRECTIONS; i++) {
    size_t most = MOTION;
    for (int d = 0; d < DIMENSIONS; d++)
      most *= offset_of(i, d) ? 1 : (size_t)nodes[d];
    out[i] = allocate(most);
    in[i] = allocate(most);
  }
  tell_bytes(2 * (COPIED_OF_ELEMENT * count + COPIED_OF_NODE * points),
             STORED_OF_ELEMENT * count + STORED_OF_NODE * points);
}

/* Returns whether this rank is the lowest rank that has the node. A shared node belongs to that
 * rank. */
static bool is_own(int x, int y, int z)
{
  return (x > 0 || place.at[0] == 0) && (y > 0 || place.at[1] == 0) && (z > 0 || place.at[2] == 0);
}

/* Returns the internal and kinetic energy of all ranks. */
static double total_energy(void)
{
  const struct box elements = all_elements(), points = all_nodes();
  double sum = 0.0, total;
  EACH(elements) sum += energy[element_at(x, y, z)];
  EACH(points)
  {
    const double *v = &velocity[node_at(x, y, z)];
    if (is_own(x, y, z))
      sum += 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) /
             inverse_mass[node_at(x, y, z) / DIMENSIONS];
  }
  MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return total;
}

/* Returns a hash of the bits of all elements and nodes: two runs that agree in it agree in
 * everything. */
static uint64_t digest(void)
{
  const struct box elements = all_elements();
  uint64_t sum = (uint64_t)place.rank + 1, total;
  EACH(elements)
  {
    uint64_t bits[2];
    memcpy(&bits[0], &energy[element_at(x, y, z)], sizeof bits[0]);
    memcpy(&bits[1], &velocity[node_at(x, y, z)], sizeof bits[1]);
    sum = mix(sum ^ bits[0]) + bits[1];
  }
  MPI_Allreduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return total;
}

static void free_all(void)
{
  double *const memory[] = {energy, volume, pressure, compression, velocity, force, inverse_mass};
  for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
    free(memory[i]);
  for (int i = 0; i < DIRECTIONS; i++) {
    free(out[i]);
    free(in[i]);
  }
}

/* Holds the progress of the run. Checkpoints at the application level contain it, and the arrays
 * that a step leaves to the next one. */
static struct {
  int step;
  int code;
  double before, start; /* energy at the beginning, and time of the beginning */
} progress;

/* Protects the arrays as parts of distributed arrays, which another number of ranks can read. A
 * node between ranks has the same velocity at all of them. */
static void protect_parts(void)
{
  long long whole[DIMENSIONS], first[DIMENSIONS], part[DIMENSIONS];
  for (int i = 0; i < DIMENSIONS; i++) { /* x is the last dimension of the array */
    const int d = DIMENSIONS - 1 - i;
    whole[i] = wide;
    first[i] = (long long)place.at[d] * side[d];
    part[i] = side[d];
  }
  tell_part(2, energy, DIMENSIONS, whole, first, part);
  tell_part(3, volume, DIMENSIONS, whole, first, part);
  for (int i = 0; i < DIMENSIONS; i++) {
    whole[i]++;
    part[i]++;
  }
  /* the last dimension also counts the components of a vector */
  whole[DIMENSIONS - 1] *= DIMENSIONS;
  first[DIMENSIONS - 1] *= DIMENSIONS;
  part[DIMENSIONS - 1] *= DIMENSIONS;
  tell_part(4, velocity, DIMENSIONS, whole, first, part);
}

static void protect(void)
{
  const int count = (int)volume_of(side, 0), points = (int)volume_of(nodes, 0);
  tell_items(1, &progress.step, 1, RECLINE_INT32);
  tell_items(5, &progress.code, 1, RECLINE_INT32);
  tell_doubles(6, &progress.before, 1);
  tell_doubles(7, &progress.start, 1);
  if (wide > 0) {
    protect_parts();
    return;
  }
  tell_doubles(2, energy, count);
  tell_doubles(3, volume, count);
  tell_doubles(4, velocity, DIMENSIONS * points);
}

static void advance_all(int steps)
{
  for (; progress.step <= steps; progress.step++) {
    tell_iteration((unsigned)progress.step);
    advance();
  }
}

/* Prints the bytes sent in the last step by ranks 0 and 1, and by the rank that sent most. */
static void report_sent(void)
{
  double *all = allocate((size_t)place.ranks), most = 0.0;
  MPI_Gather(&sent, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < place.ranks; i++)
    most = fmax(most, all[i]);
  if (place.rank == 0)
    printf("sent_0: %.0f\nsent_1: %.0f\nsent_most: %.0f\n", all[0], all[place.ranks > 1 ? 1 : 0],
           most);
  free(all);
}

/* Prints the energies of all elements, by their number in the whole box. */
static void print_elements(void)
{
  const struct box elements = all_elements();
  const size_t all = (size_t)wide * (size_t)wide * (size_t)wide;
  double *mine = allocate(all), *sum = allocate(all);
  EACH(elements) mine[number_of(x, y, z)] = energy[element_at(x, y, z)];
  MPI_Reduce(mine, sum, (int)all, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  for (size_t i = 0; place.rank == 0 && i < all; i++)
    printf("element %zu: %a\n", i, sum[i]);
  free(mine);
  free(sum);
}

static int report(int steps)
{
  const double seconds = MPI_Wtime() - progress.start;
  const double after = total_energy();
  const uint64_t bits = digest();
  const double error = fabs(after - progress.before) / progress.before;
  const bool conserved = error <= TOLERANCE; /* false when it is not a number */
  if (place.rank == 0) {
    if (wide > 0)
      printf("ranks: %d, %d x %d x %d, %d^3 elements in all, %d steps\n", place.ranks,
             place.grid[0], place.grid[1], place.grid[2], wide, steps);
    else
      printf("ranks: %d, %d^3 elements each, %d steps\n", place.ranks, side[0], steps);
    printf("origin energy: %.17g %a\n", energy[0], energy[0]);
    printf("digest: %016llx\n", (unsigned long long)bits);
    printf("error: %.3e\n", error);
    printf("time: %.9f s\n", seconds);
    printf("verification: %s\n", conserved ? "PASS" : "FAIL");
  }
  report_sent();
  if (prints)
    print_elements();
  return conserved ? EXIT_CONSERVED : EXIT_NOT_CONSERVED;
}

static int run(int steps)
{
  begin();
  protect();
  const enum recline_place place = tell_restore();
  if (place == RECLINE_NO_RESTART) {
    progress.before = total_energy();
    progress.start = MPI_Wtime();
    progress.step = 1;
    if (wide > 0) /* data other than arrays must be the same at all ranks */
      MPI_Bcast(&progress, sizeof progress, MPI_BYTE, 0, MPI_COMM_WORLD);
  }
  if (place != RECLINE_AT_END) {
    advance_all(steps);
    progress.code = report(steps);
  }
  return progress.code;
}

static bool read_number(const char *word, int most, int *number)
{
  char *end;
  const long value = strtol(word, &end, 10);
  *number = (int)value;
  return *word != '\0' && *end == '\0' && value >= 1 && value <= most;
}

/* Places the ranks in a cube, or in a grid of any shape that divides the whole box. */
static bool make_grid(void)
{
  int cube = 1;
  bool fits = true;
  MPI_Comm_rank(MPI_COMM_WORLD, &place.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &place.ranks);
  while (cube * cube * cube < place.ranks)
    cube++;
  for (int d = 0; d < DIMENSIONS; d++)
    place.grid[d] = wide > 0 ? 0 : cube;
  if (wide > 0)
    MPI_Dims_create(place.ranks, DIMENSIONS, place.grid);
  else
    fits = cube * cube * cube == place.ranks;
  int left = place.rank;
  for (int d = 0; d < DIMENSIONS; d++) {
    place.at[d] = left % place.grid[d];
    left /= place.grid[d];
    if (wide > 0) {
      fits = fits && wide % place.grid[d] == 0;
      side[d] = wide / place.grid[d];
    }
    nodes[d] = side[d] + 1;
  }
  return fits;
}

/* Reads the arguments. Returns false if their form is wrong. */
static bool parse(int argc, char **argv, int *steps)
{
  int next = 1, size = DEFAULT_SIDE;
  prints = next < argc && strcmp(argv[next], "-p") == 0;
  next += prints;
  const bool whole = next < argc && strcmp(argv[next], "-w") == 0;
  next += whole;
  bool good = argc - next <= 2 && (!prints || whole) && (!whole || next < argc);
  if (good && next < argc)
    good = read_number(argv[next++], 1000, &size);
  if (good && next < argc)
    good = read_number(argv[next], 1000000, steps);
  wide = whole ? size : 0;
  for (int d = 0; d < DIMENSIONS; d++)
    side[d] = size;
  return good;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int steps = DEFAULT_STEPS, code = EXIT_USAGE;
  const bool good = parse(argc, argv, &steps), fits = make_grid();
  if (good && fits) {
    code = run(steps);
  } else if (place.rank == 0 && good && wide > 0) {
    fprintf(stderr,
            "lulesh-like: %d ranks in a grid of %d x %d x %d, expected one that divides %d\n",
            place.ranks, place.grid[0], place.grid[1], place.grid[2], wide);
  } else if (place.rank == 0 && good) {
    fprintf(stderr, "lulesh-like: %d ranks, expected a cube: 1, 8, 27, 64, ...\n", place.ranks);
  } else if (place.rank == 0) {
    fprintf(stderr,
            "lulesh-like: expected [SIDE [STEPS]] or [-p] -w WIDE [STEPS], each at least 1\n");
  }
  MPI_Finalize(); /* a checkpoint may be taken in this call, so protected data must still exist */
  free_all();
  return code;
}
