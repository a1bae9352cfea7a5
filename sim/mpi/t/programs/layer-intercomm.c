/* Tests intercommunicators between the even ranks and the odd ones, each group in reverse order:
 * messages, every collective call, and communicators that are made of them. All calls are in a
 * loop, so that crashes and checkpoints fall everywhere, and every result is checked. It is
 * compiled as C and as C++, and runs on 5 ranks. Usage: layer-intercomm ROUNDS. */
#define PROGRAM "layer-intercomm"
#include "layer-rounds.h"

/* MOST is the most ranks of a group, and ALL the number of elements that a reduction scatters */
enum { MOST = 8, ALL = 6 };

static MPI_Comm half, between;
/* rank in the own group, sizes of both groups, and their members as ranks of MPI_COMM_WORLD */
static int here, size, others, own_ranks[MOST], other_ranks[MOST];

static void list_ranks(MPI_Group group, int *list)
{
  MPI_Group world;
  int count, places[MOST];
  MPI_Group_size(group, &count);
  for (int i = 0; i < count; i++)
    places[i] = i;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(group, count, places, world, list);
  MPI_Group_free(&world);
}

/* Returns the first rank of a group: the last even rank or the last odd rank, as groups are in
 * reverse order. */
static int leader_of(int odd)
{
  return ranks - 1 - ((ranks - 1) % 2 != odd);
}

static void make(void)
{
  MPI_Group own, other;
  int odd = rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, odd, -rank, &half);
  MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, leader_of(!odd), 17, &between);
  MPI_Comm_rank(between, &here);
  MPI_Comm_size(between, &size);
  MPI_Comm_remote_size(between, &others);
  MPI_Comm_group(between, &own);
  MPI_Comm_remote_group(between, &other);
  list_ranks(own, own_ranks);
  list_ranks(other, other_ranks);
  MPI_Group_free(&own);
  MPI_Group_free(&other);
}

static void test_shape(void)
{
  int inter, intra, equal, remote;
  MPI_Comm copy, later;
  MPI_Request request;
  MPI_Errhandler handler;
  MPI_Comm_test_inter(between, &inter);
  MPI_Comm_test_inter(half, &intra);
  expect(inter && !intra, "test_inter");
  expect(size + others == ranks && own_ranks[here] == rank, "sizes and rank");
  expect(other_ranks[0] == leader_of(rank % 2 == 0), "remote_group");
  MPI_Comm_dup(between, &copy);
  MPI_Comm_remote_size(copy, &remote);
  MPI_Comm_compare(between, copy, &equal);
  expect(remote == others && equal == MPI_CONGRUENT, "dup");
  MPI_Comm_compare(between, half, &equal);
  expect(equal == MPI_UNEQUAL, "compare: with its local group");
  MPI_Comm_compare(between, between, &equal);
  expect(equal == MPI_IDENT, "compare: with itself");
  MPI_Comm_idup(between, &later, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_compare(copy, later, &equal);
  expect(equal == MPI_CONGRUENT, "idup");
  MPI_Comm_get_errhandler(later, &handler);
  expect(handler == MPI_ERRORS_RETURN, "the error handler of the local communicator");
  MPI_Comm_free(&copy);
  MPI_Comm_free(&later);
}

/* ---- messages ---- */

/* Tests messages to the rank with the same number in the other group, modulo the size of that
 * group. A rank may get several of them. */
static void test_messages(void)
{
  int out = value(rank, 0), in, flag = 0, least = here % others;
  MPI_Status status;
  MPI_Request request;
  MPI_Isend(&out, 1, MPI_INT, least, 3, between, &request);
  for (int from = here; from < others; from += size) {
    MPI_Probe(MPI_ANY_SOURCE, 3, between, &status);
    expect(status.MPI_SOURCE % size == here, "probe");
    MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 3, between, &status);
    expect(in == value(other_ranks[status.MPI_SOURCE], 0), "recv from any");
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (here >= others)
    return;
  if (here < size) {
    MPI_Sendrecv(&out, 1, MPI_INT, here, 4, &in, 1, MPI_INT, here, 4, between, &status);
    expect(in == value(other_ranks[here], 0) && status.MPI_SOURCE == here, "sendrecv");
  }
  MPI_Send(&out, 0, MPI_INT, MPI_PROC_NULL, 5, between);
  MPI_Iprobe(here, 6, between, &flag, &status);
  expect(!flag, "iprobe");
}

static void test_persistent(void)
{
  int out = 0, in = 0;
  MPI_Request request[2];
  if (here >= others)
    return;
  MPI_Send_init(&out, 1, MPI_INT, here, 7, between, &request[0]);
  MPI_Recv_init(&in, 1, MPI_INT, here, 7, between, &request[1]);
  for (int i = 0; i < 2; i++) {
    out = value(rank, 50 + i);
    MPI_Startall(2, request);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    expect(in == value(other_ranks[here], 50 + i), "persistent");
  }
  MPI_Request_free(&request[0]);
  MPI_Request_free(&request[1]);
}

/* ---- collectives with a root ---- */

/* Returns the root of this round, as a rank of MPI_COMM_WORLD. In odd rounds it is an odd rank. */
static int root_rank;

/* Sets `root_rank`. Returns the argument `root` of this rank's calls. In the group without the
 * root this is the root's rank in its group. In the root's own group it is MPI_ROOT at the root,
 * and MPI_PROC_NULL at all other ranks. */
static int root(void)
{
  int odd = round_number % 2, own = rank % 2 == odd, in_group = round_number / 2 % 2;
  root_rank = own ? own_ranks[in_group] : other_ranks[in_group];
  if (!own)
    return in_group;
  return rank == root_rank ? MPI_ROOT : MPI_PROC_NULL;
}

/* In calls with counts, rank i of a group has 1 + i elements. */
static int counts[MOST], starts[MOST];

static void lay_out(void)
{
  for (int i = 0; i < MOST; i++) {
    counts[i] = 1 + i;
    starts[i] = i == 0 ? 0 : starts[i - 1] + counts[i - 1];
  }
}

enum { ELEMENTS = MOST * (MOST + 1) / 2 };

static void fill(int *list, int from, int count)
{
  for (int i = 0; i < count; i++)
    list[i] = value(from, i);
}

static bool are_from(const int *list, int from, int first, int count)
{
  bool right = true;
  for (int i = 0; i < count; i++)
    right &= list[i] == value(from, first + i);
  return right;
}

static void test_from_root(void)
{
  int to = root(), told = to == MPI_ROOT ? value(rank, 9) : -1, one = -1, out[ELEMENTS];
  int some[MOST] = {0};
  bool gets = to >= 0;
  fill(out, rank, ELEMENTS);
  MPI_Bcast(&told, 1, MPI_INT, to, between);
  expect(told == (gets || to == MPI_ROOT ? value(root_rank, 9) : -1), "bcast");
  MPI_Scatter(out, 1, MPI_INT, &one, 1, MPI_INT, to, between);
  expect(one == (gets ? value(root_rank, here) : -1), "scatter");
  MPI_Scatterv(out, counts, starts, MPI_INT, some, counts[here], MPI_INT, to, between);
  expect(gets ? are_from(some, root_rank, starts[here], counts[here]) : some[0] == 0, "scatterv");
}

static void test_to_root(void)
{
  int to = root(), out[MOST], in[ELEMENTS] = {0}, sum = 0, right = 0;
  bool all = true;
  fill(out, rank, MOST);
  MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, to, between);
  for (int i = 0; i < others && to == MPI_ROOT; i++)
    all &= in[i] == value(other_ranks[i], 0);
  expect(all && (to == MPI_ROOT || in[0] == 0), "gather");
  MPI_Gatherv(out, counts[here], MPI_INT, in, counts, starts, MPI_INT, to, between);
  for (int i = 0; i < others && to == MPI_ROOT; i++)
    all &= are_from(in + starts[i], other_ranks[i], 0, counts[i]);
  expect(all, "gatherv");
  MPI_Reduce(out, &sum, 1, MPI_INT, MPI_SUM, to, between);
  for (int i = 0; i < others && to == MPI_ROOT; i++)
    right += value(other_ranks[i], 0);
  expect(sum == right, "reduce");
}

/* ---- collectives without a root ---- */

static void test_to_all(void)
{
  int out[ELEMENTS], in[ELEMENTS] = {0}, sum = 0, right = 0;
  bool all = true;
  fill(out, rank, ELEMENTS);
  MPI_Barrier(between);
  MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, between);
  for (int i = 0; i < others; i++)
    all &= in[i] == value(other_ranks[i], 0);
  expect(all, "allgather");
  MPI_Allgatherv(out, counts[here], MPI_INT, in, counts, starts, MPI_INT, between);
  for (int i = 0; i < others; i++)
    all &= are_from(in + starts[i], other_ranks[i], 0, counts[i]);
  expect(all, "allgatherv");
  MPI_Allreduce(out, &sum, 1, MPI_INT, MPI_SUM, between);
  for (int i = 0; i < others; i++)
    right += value(other_ranks[i], 0);
  expect(sum == right, "allreduce");
}

static void test_exchanges(void)
{
  int out[ELEMENTS], in[ELEMENTS] = {0}, equal[MOST], in_starts[MOST], bytes[MOST], places[MOST];
  MPI_Datatype types[MOST];
  bool all = true;
  fill(out, rank, ELEMENTS);
  for (int i = 0; i < MOST; i++) {
    equal[i] = counts[here];
    in_starts[i] = i * counts[here];
    bytes[i] = i * (int)sizeof *out;
    places[i] = 1;
    types[i] = MPI_INT;
  }
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, between);
  for (int i = 0; i < others; i++)
    all &= in[i] == value(other_ranks[i], here);
  expect(all, "alltoall");
  MPI_Alltoallv(out, counts, starts, MPI_INT, in, equal, in_starts, MPI_INT, between);
  for (int i = 0; i < others; i++)
    all &= are_from(in + in_starts[i], other_ranks[i], starts[here], counts[here]);
  expect(all, "alltoallv");
  MPI_Alltoallw(out, places, bytes, types, in, places, bytes, types, between);
  for (int i = 0; i < others; i++)
    all &= in[i] == value(other_ranks[i], here);
  expect(all, "alltoallw");
}

static int sum_at(int place)
{
  int sum = 0;
  for (int i = 0; i < others; i++)
    sum += value(other_ranks[i], place);
  return sum;
}

/* Tests reductions that are scattered among each group, in blocks of different or equal sizes. */
static void test_scattered_reductions(void)
{
  int out[ALL], in[ALL] = {0}, blocks[MOST], start = here, each = ALL / size;
  bool all = true;
  fill(out, rank, ALL);
  for (int i = 0; i < size; i++)
    blocks[i] = i < size - 1 ? 1 : ALL - (size - 1);
  MPI_Reduce_scatter(out, in, blocks, MPI_INT, MPI_SUM, between);
  for (int i = 0; i < blocks[here]; i++)
    all &= in[i] == sum_at(start + i);
  expect(all, "reduce_scatter");
  MPI_Reduce_scatter_block(out, in, each, MPI_INT, MPI_SUM, between);
  for (int i = 0; i < each; i++)
    all &= in[i] == sum_at(here * each + i);
  expect(all, "reduce_scatter_block");
}

/* Tests several nonblocking collectives at a time. */
static void test_nonblocking(void)
{
  int to = root(), told = to == MPI_ROOT ? value(rank, 8) : -1, out[MOST], in[MOST] = {0}, sum = 0;
  MPI_Request request[4];
  bool all = true;
  fill(out, rank, MOST);
  MPI_Ibcast(&told, 1, MPI_INT, to, between, &request[0]);
  MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, between, &request[1]);
  compute(2e-4);
  MPI_Iallreduce(&out[1], &sum, 1, MPI_INT, MPI_SUM, between, &request[2]);
  MPI_Ibarrier(between, &request[3]);
  MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
  for (int i = 0; i < others; i++)
    all &= in[i] == value(other_ranks[i], here);
  expect(all, "ialltoall");
  expect(told == (to == MPI_PROC_NULL ? -1 : value(root_rank, 8)), "ibcast");
  expect(sum == sum_at(1), "iallreduce");
}

/* ---- communicators that are made of intercommunicators ---- */

/* Tests a merge in which the odd ranks come after the even ones, or before them. */
static void test_merged(void)
{
  int high = (rank + round_number) % 2, at, all, sum;
  MPI_Comm merged;
  MPI_Intercomm_merge(between, high, &merged);
  MPI_Comm_rank(merged, &at);
  MPI_Comm_size(merged, &all);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
  expect(all == ranks && at == (high ? others : 0) + here, "merge: order");
  expect(sum == ranks * (ranks - 1) / 2, "merge: allreduce");
  MPI_Comm_free(&merged);
}

/* Tests an intercommunicator of the first rank of each group. */
static void test_created(void)
{
  int first = 0, in = -1, remote;
  MPI_Group group, one;
  MPI_Comm created;
  MPI_Comm_group(between, &group);
  MPI_Group_incl(group, 1, &first, &one);
  MPI_Comm_create(between, one, &created);
  expect((created == MPI_COMM_NULL) == (here != 0), "create: who is in it");
  if (created != MPI_COMM_NULL) {
    MPI_Comm_remote_size(created, &remote);
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 2, &in, 1, MPI_INT, 0, 2, created, MPI_STATUS_IGNORE);
    expect(remote == 1 && in == other_ranks[0], "create: who is on the other side");
    MPI_Comm_free(&created);
  }
  MPI_Group_free(&one);
  MPI_Group_free(&group);
}

/* Tests two splits. In the first one each colour is on one side only, so no rank gets a
 * communicator. The second one takes the first two ranks of each group, in reverse order. The
 * third even rank is the only rank with its colour, so it gets no communicator. */
static void test_split(void)
{
  int at, members, remote, in[2] = {-1, -1};
  MPI_Comm part;
  MPI_Comm_split(between, here == 0 ? rank % 2 : MPI_UNDEFINED, 0, &part);
  expect(part == MPI_COMM_NULL, "split: nobody on the other side");
  MPI_Comm_split(between, here < 2, -here, &part);
  expect((part == MPI_COMM_NULL) == (here >= 2), "split: who is in one");
  if (part == MPI_COMM_NULL)
    return;
  MPI_Comm_rank(part, &at);
  MPI_Comm_size(part, &members);
  MPI_Comm_remote_size(part, &remote);
  MPI_Allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, part);
  expect(at == 1 - here && members == 2 && remote == 2, "split: order");
  expect(in[0] == other_ranks[1] && in[1] == other_ranks[0], "split: the other side");
  MPI_Comm_free(&part);
}

int main(int argc, char **argv)
{
  static void (*const tests[])(void) = {
      test_shape,       test_messages, test_persistent, test_from_root,
      test_to_root,     test_to_all,   test_exchanges,  test_scattered_reductions,
      test_nonblocking, test_merged,   test_created,    test_split};
  int rounds = begin(argc, argv);
  lay_out();
  make();
  for (round_number = 1; round_number <= rounds; round_number++) {
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
      tests[i]();
      compute(1e-4);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (round_number % 3 == 0) { /* makes another intercommunicator of the same groups */
      MPI_Comm_free(&between);
      MPI_Comm_free(&half);
      make();
    }
  }
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
  round_number = rounds;
  return end(rounds);
}
