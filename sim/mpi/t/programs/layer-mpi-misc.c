/* Makes the MPI calls that the other programs do not make: all send modes, packing, graphs and
 * neighbourhood collectives, generalized requests, error handlers, old names. The results can be
 * checked, and all calls are in a loop, so that crashes and checkpoints fall everywhere. It is
 * compiled as C and as C++. Usage: layer-mpi-misc ROUNDS [all]. With `all` it also tests calls
 * that plain SMPI 3.32 lacks or computes wrongly. */
#define PROGRAM "layer-mpi-misc"
#include "layer-rounds.h"

enum { RANKS_MAX = 16 };

static bool everything;

/* ---- send modes ---- */

/* Tests all send modes. A ready send needs a posted receive, so the receiver tells the sender when
 * its receives are posted. */
static void test_modes(void)
{
  enum { N = 9 };
  int in[N], out[N], token = 0, left = N, flag = 0, index;
  MPI_Request receives[N], ready, sends[3], persistent[3];
  for (int i = 0; i < N; i++) {
    out[i] = value(rank, i);
    MPI_Irecv(&in[i], 1, MPI_INT, previous, 50 + i, MPI_COMM_WORLD, &receives[i]);
  }
  MPI_Isend(&token, 1, MPI_INT, previous, 49, MPI_COMM_WORLD, &ready);
  MPI_Recv(&token, 1, MPI_INT, next, 49, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  char *buffer = (char *)malloc(10000), *detached;
  MPI_Buffer_attach(buffer, 10000);
  MPI_Bsend(&out[0], 1, MPI_INT, next, 50, MPI_COMM_WORLD);
  MPI_Rsend(&out[1], 1, MPI_INT, next, 51, MPI_COMM_WORLD);
  MPI_Ibsend(&out[2], 1, MPI_INT, next, 52, MPI_COMM_WORLD, &sends[0]);
  MPI_Irsend(&out[3], 1, MPI_INT, next, 53, MPI_COMM_WORLD, &sends[1]);
  MPI_Issend(&out[4], 1, MPI_INT, next, 54, MPI_COMM_WORLD, &sends[2]);
  MPI_Bsend_init(&out[5], 1, MPI_INT, next, 55, MPI_COMM_WORLD, &persistent[0]);
  MPI_Rsend_init(&out[6], 1, MPI_INT, next, 56, MPI_COMM_WORLD, &persistent[1]);
  MPI_Ssend_init(&out[7], 1, MPI_INT, next, 57, MPI_COMM_WORLD, &persistent[2]);
  for (int i = 0; i < 3; i++)
    MPI_Start(&persistent[i]);
  MPI_Ssend(&out[8], 1, MPI_INT, next, 58, MPI_COMM_WORLD);
  while (left > 0) {
    int taken, indices[N];
    MPI_Testsome(N, receives, &taken, indices, MPI_STATUSES_IGNORE);
    for (int i = 0; i < taken; i++)
      expect(in[indices[i]] == value(previous, indices[i]), "modes: value");
    left -= taken;
  }
  MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
  for (int done = 0; done < 3;) {
    MPI_Testany(3, persistent, &index, &flag, MPI_STATUS_IGNORE);
    done += flag;
  }
  for (int i = 0; i < 3; i++)
    MPI_Request_free(&persistent[i]);
  MPI_Wait(&ready, MPI_STATUS_IGNORE);
  int size;
  MPI_Buffer_detach(&detached, &size);
  expect(detached == buffer && size == 10000, "modes: buffer");
  free(buffer);
}

static void test_packing(void)
{
  char *out, in[64];
  int first = value(rank, 1), size, position = 0;
  double second = rank + 0.5;
  MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &size);
  expect(size >= (int)sizeof first, "pack_size");
  MPI_Alloc_mem(64, MPI_INFO_NULL, &out);
  MPI_Pack(&first, 1, MPI_INT, out, 64, &position, MPI_COMM_WORLD);
  MPI_Pack(&second, 1, MPI_DOUBLE, out, 64, &position, MPI_COMM_WORLD);
  MPI_Sendrecv(out, position, MPI_PACKED, next, 60, in, 64, MPI_PACKED, previous, 60,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  position = 0;
  MPI_Unpack(in, 64, &position, &first, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Unpack(in, 64, &position, &second, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Free_mem(out);
  expect(first == value(previous, 1) && second == previous + 0.5, "unpack");
}

static void test_varied(void)
{
  int counts[RANKS_MAX], starts[RANKS_MAX], all[2 * RANKS_MAX] = {0}, own[2], total = 0;
  int taken[RANKS_MAX], places[RANKS_MAX], in[2 * RANKS_MAX], root = round_number % ranks;
  for (int i = 0; i < ranks; i++) {
    counts[i] = 1 + i % 2;
    starts[i] = total;
    total += counts[i];
    taken[i] = 1 + rank % 2;
    places[i] = i * (1 + rank % 2);
  }
  own[0] = own[1] = value(rank, 2);
  MPI_Gatherv(own, counts[rank], MPI_INT, all, counts, starts, MPI_INT, root, MPI_COMM_WORLD);
  MPI_Bcast(all, total, MPI_INT, root, MPI_COMM_WORLD);
  bool right = true;
  for (int i = 0; i < ranks; i++)
    right &= all[starts[i]] == value(i, 2) && all[starts[i] + counts[i] - 1] == value(i, 2);
  expect(right, "gatherv");
  MPI_Scatterv(all, counts, starts, MPI_INT, own, counts[rank], MPI_INT, root, MPI_COMM_WORLD);
  expect(own[counts[rank] - 1] == value(rank, 2), "scatterv");
  for (int i = 0; i < ranks; i++)
    all[starts[i]] = all[starts[i] + counts[i] - 1] = value(rank, i);
  MPI_Alltoallv(all, counts, starts, MPI_INT, in, taken, places, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; i++)
    right &= in[places[i]] == value(i, rank);
  expect(right, "alltoallv");
}

/* ---- generalized requests ---- */

static int queried, freed, cancels;

static int query(void *extra, MPI_Status *status)
{
  MPI_Status_set_elements(status, MPI_BYTE, *(int *)extra);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  queried++;
  return MPI_SUCCESS;
}

static int release(void *extra)
{
  free(extra);
  freed++;
  return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
  (void)extra;
  cancels += complete ? 1 : 100;
  return MPI_SUCCESS;
}

static void test_general(void)
{
  int *extra = (int *)malloc(sizeof *extra), count = 0, flag;
  MPI_Request request;
  MPI_Status status;
  queried = freed = cancels = 0;
  *extra = round_number;
  MPI_Grequest_start(query, release, cancel, extra, &request);
  MPI_Test(&request, &flag, &status);
  expect(!flag && queried == 0, "grequest: not yet");
  MPI_Cancel(&request);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_BYTE, &count);
  expect((queried == 1 && freed == 1 && cancels == 100) || !everything, "grequest: functions");
  expect(count == round_number || !everything, "grequest: status");
}

/* ---- error handlers, attributes by their old names, information ---- */

static int handled, handled_code;

static void handle(MPI_Comm *comm, int *code, ...)
{
  int size;
  MPI_Comm_size(*comm, &size);
  handled += size;
  handled_code = *code;
}

/* Receives a message that is longer than the buffer. Returns the error. */
static int too_long(MPI_Comm comm)
{
  int out[2] = {1, 2}, in[1];
  MPI_Request request;
  MPI_Irecv(in, 1, MPI_INT, previous, 70, comm, &request);
  MPI_Send(out, 2, MPI_INT, next, 70, comm);
  return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void test_errors(void)
{
  MPI_Errhandler made, old, found;
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_create_errhandler(handle, &made);
  MPI_Errhandler_create(handle, &old);
  MPI_Comm_get_errhandler(copy, &found);
  expect(found == MPI_ERRORS_ARE_FATAL || !everything, "errors: fatal at first");
  MPI_Comm_set_errhandler(copy, made);
  MPI_Errhandler_get(copy, &found);
  expect(found == made, "errors: handler");
  handled = handled_code = 0;
  MPI_Comm_call_errhandler(copy, MPI_ERR_OTHER);
  expect(handled == ranks && handled_code == MPI_ERR_OTHER, "errors: called");
  char text[MPI_MAX_ERROR_STRING];
  int length = 0, kind = -1;
  MPI_Error_class(MPI_ERR_TRUNCATE, &kind);
  MPI_Error_string(MPI_ERR_TRUNCATE, text, &length);
  expect(kind == MPI_ERR_TRUNCATE && length > 0 && (int)strlen(text) == length, "errors: text");
  if (everything) {
    expect(too_long(copy) == MPI_ERR_TRUNCATE && handled == 2 * ranks, "errors: truncation");
    expect(handled_code == MPI_ERR_TRUNCATE, "errors: which");
    MPI_Errhandler_set(copy, MPI_ERRORS_RETURN);
    expect(too_long(copy) == MPI_ERR_TRUNCATE && handled == 2 * ranks, "errors: returned");
  }
  MPI_Errhandler_set(copy, old);
  MPI_Comm_free(&copy);
  if (everything) {
    MPI_Errhandler_free(&made);
    MPI_Errhandler_free(&old);
    expect(made == MPI_ERRHANDLER_NULL, "errors: freed");
  }
}

static int deleted;

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *before, void *after, int *flag)
{
  (void)comm;
  (void)key;
  (void)extra;
  memcpy(after, &before, sizeof before);
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *before, void *extra)
{
  (void)comm;
  (void)key;
  (void)extra;
  deleted += *(int *)before;
  return MPI_SUCCESS;
}

/* Changes an info in a loop; its contents count the turns, so a rollback must undo changes. */
static void test_info(void)
{
  MPI_Info info, copy;
  char text[MPI_MAX_INFO_VAL] = "", key[MPI_MAX_INFO_KEY] = "";
  int flag, n;
  MPI_Info_create(&info);
  for (int i = 0; i < 8; i++) {
    MPI_Info_get(info, "count", sizeof text - 1, text, &flag);
    expect(flag == (i > 0) && (!flag || strlen(text) == (size_t)i), "info_get");
    memset(text, 'x', (size_t)i + 1);
    text[i + 1] = 0;
    MPI_Info_set(info, "count", text);
    MPI_Info_set(info, "other", "b");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Info_dup(info, &copy);
    MPI_Info_get_valuelen(copy, "count", &n, &flag);
    expect(flag && n == i + 1, "info_get_valuelen");
    MPI_Info_get_nthkey(copy, 1, key);
    expect(strcmp(key, "other") == 0, "info_get_nthkey");
    expect(MPI_Info_delete(info, "other") == MPI_SUCCESS, "info_delete");
    MPI_Info_get_nkeys(info, &n);
    expect(n == 1, "info_get_nkeys");
    MPI_Info_get_nkeys(copy, &n);
    expect(n == 2, "info_dup");
    MPI_Info_free(&copy);
  }
  MPI_Info_free(&info);
}

static void test_old_names(void)
{
  int key, mine = 1, *found, flag;
  MPI_Comm copy;
  MPI_Info info, kept;
  deleted = 0;
  MPI_Keyval_create(copy_attribute, delete_attribute, &key, NULL);
  MPI_Info_create(&info);
  MPI_Info_set(info, "a", "b");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &copy);
  MPI_Comm_set_info(copy, info);
  MPI_Comm_get_info(copy, &kept);
  expect(kept != MPI_INFO_NULL, "get_info");
  MPI_Info_free(&kept);
  MPI_Info_free(&info);
  expect(info == MPI_INFO_NULL && kept == MPI_INFO_NULL, "info_free");
  MPI_Attr_put(copy, key, &mine);
  MPI_Attr_get(copy, key, &found, &flag);
  expect(flag && found == &mine, "attr_get");
  MPI_Attr_delete(copy, key);
  expect(deleted == 1, "attr_delete");
  MPI_Keyval_free(&key);
  MPI_Comm_test_inter(copy, &flag);
  expect(MPI_Wtime() > 0.0, "wtime");
  expect(!flag, "test_inter");
  MPI_Barrier(copy);
  expect(MPI_Comm_f2c(MPI_Comm_c2f(copy)) == copy, "comm_c2f");
  MPI_Comm_disconnect(&copy);
  expect(copy == MPI_COMM_NULL, "disconnect");
  MPI_Request request;
  int in = -1;
  MPI_Irecv(&in, 1, MPI_INT, previous, 71, MPI_COMM_WORLD, &request);
  MPI_Request same = MPI_Request_f2c(MPI_Request_c2f(request));
  expect(same == request, "request_c2f");
  MPI_Send(&rank, 1, MPI_INT, next, 71, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(in == previous, "request_f2c");
}

/* ---- topologies ---- */

/* Makes a graph in which the rank before and the rank after each rank are its neighbours. All
 * other ranks are neighbours of rank 0, too. */
static MPI_Comm star(int *index, int *edges)
{
  MPI_Comm comm;
  int count = 0;
  for (int i = 0; i < ranks; i++) {
    edges[count++] = (i + ranks - 1) % ranks;
    edges[count++] = (i + 1) % ranks;
    for (int k = 2; i == 0 && k < ranks - 1; k++)
      edges[count++] = k;
    if (i > 1 && i < ranks - 1)
      edges[count++] = 0;
    index[i] = count;
  }
  MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &comm);
  return comm;
}

static void test_graph(void)
{
  int index[RANKS_MAX], edges[4 * RANKS_MAX], nodes, count, kind, mapped, found[RANKS_MAX];
  int got_index[RANKS_MAX], got_edges[4 * RANKS_MAX], in[RANKS_MAX], own = value(rank, 9);
  MPI_Comm graph = star(index, edges), copy;
  MPI_Comm_dup(graph, &copy);
  MPI_Topo_test(copy, &kind);
  expect(kind == MPI_GRAPH, "topo_test: graph");
  MPI_Graphdims_get(copy, &nodes, &count);
  expect(nodes == ranks && count == index[ranks - 1], "graphdims_get");
  MPI_Graph_get(copy, ranks, count, got_index, got_edges);
  expect(memcmp(index, got_index, (size_t)ranks * sizeof *index) == 0 &&
             memcmp(edges, got_edges, (size_t)count * sizeof *edges) == 0,
         "graph_get");
  MPI_Graph_map(MPI_COMM_WORLD, ranks, index, edges, &mapped);
  expect(mapped == rank, "graph_map");
  MPI_Graph_neighbors_count(graph, rank, &count);
  MPI_Graph_neighbors(graph, rank, count, found);
  expect(count == (rank == 0                        ? ranks - 1
                   : rank == 1 || rank == ranks - 1 ? 2
                                                    : 3) &&
             found[0] == previous && found[1] == next,
         "graph_neighbors");
  MPI_Neighbor_allgather(&own, 1, MPI_INT, in, 1, MPI_INT, graph);
  bool right = true;
  for (int i = 0; i < count; i++)
    right &= in[i] == value(found[i], 9);
  expect(right, "neighbor_allgather");
  MPI_Comm_free(&copy);
  MPI_Comm_free(&graph);
}

/* Tests a periodic grid of two dimensions, one of which has one or two ranks. In that dimension
 * both neighbours are the same rank. A message that is sent to one side must nevertheless come
 * from the other side. */
static void test_grid(void)
{
  int sizes[2] = {ranks % 2 ? 1 : 2, ranks % 2 ? ranks : ranks / 2}, periodic[2] = {1, 1};
  int own, out[4], in[4], later[4], from, to, mapped;
  MPI_Comm grid;
  MPI_Request request;
  MPI_Cart_map(MPI_COMM_WORLD, 2, sizes, periodic, &mapped);
  expect(mapped == rank, "cart_map");
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periodic, 1, &grid);
  MPI_Comm_rank(grid, &own);
  for (int i = 0; i < 4; i++)
    out[i] = 10 * value(own, 0) + i;
  MPI_Ineighbor_alltoall(out, 1, MPI_INT, later, 1, MPI_INT, grid, &request);
  MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, grid);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(memcmp(in, later, sizeof in) == 0, "ineighbor_alltoall");
  for (int i = 0; i < 2; i++) {
    MPI_Cart_shift(grid, i, 1, &from, &to);
    expect(in[2 * i] == 10 * value(from, 0) + 2 * i + 1, "neighbor_alltoall: from before");
    expect(in[2 * i + 1] == 10 * value(to, 0) + 2 * i, "neighbor_alltoall: from behind");
  }
  MPI_Comm_free(&grid);
}

/* Tests a graph in which each rank sends to the next one and to the one after that, so each rank
 * has two sources and two destinations. */
static void check_ring(MPI_Comm ring, bool weighted)
{
  int kind, in_count, out_count, has, sources[2], in_weights[2], destinations[2], out_weights[2];
  MPI_Topo_test(ring, &kind);
  MPI_Dist_graph_neighbors_count(ring, &in_count, &out_count, &has);
  expect(kind == MPI_DIST_GRAPH && in_count == 2 && out_count == 2 && has == weighted,
         "dist_graph_neighbors_count");
  MPI_Dist_graph_neighbors(ring, 2, sources, weighted ? in_weights : MPI_UNWEIGHTED, 2,
                           destinations, weighted ? out_weights : MPI_UNWEIGHTED);
  int before = (rank + ranks - 2) % ranks, after = (rank + 2) % ranks, far = sources[0] == before;
  expect(sources[!far] == before && sources[far] == previous, "dist_graph: sources");
  expect(destinations[0] == next && destinations[1] == after, "dist_graph: destinations");
  expect(!weighted || (in_weights[far] == previous && in_weights[!far] == 100 + before),
         "dist_graph: weights in");
  expect(!weighted || (out_weights[0] == rank && out_weights[1] == 100 + rank),
         "dist_graph: weights out");
  /* two elements go to the next rank, one to the rank after it */
  int out[3] = {value(rank, 1), value(rank, 2), value(rank, 3)}, in[4], later[4];
  int out_counts[2] = {2, 1}, out_starts[2] = {0, 2}, in_counts[2], in_starts[2] = {0, 2};
  MPI_Aint out_places[2] = {0, 2 * sizeof(int)}, in_places[2] = {0, 2 * sizeof(int)};
  MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  MPI_Request request[2];
  in_counts[far] = 2;
  in_counts[!far] = 1;
  MPI_Ineighbor_alltoallv(out, out_counts, out_starts, MPI_INT, later, in_counts, in_starts,
                          MPI_INT, ring, &request[0]);
  MPI_Neighbor_alltoallv(out, out_counts, out_starts, MPI_INT, in, in_counts, in_starts, MPI_INT,
                         ring);
  MPI_Wait(&request[0], MPI_STATUS_IGNORE);
  for (int i = 0; i < 2; i++) {
    int *got = i ? later : in;
    expect(got[2 * far] == value(previous, 1) && got[2 * far + 1] == value(previous, 2) &&
               got[2 * !far] == value(before, 3),
           "neighbor_alltoallv");
    memset(got, 0, sizeof in);
  }
  MPI_Ineighbor_alltoallw(out, out_counts, out_places, types, later, in_counts, in_places, types,
                          ring, &request[0]);
  MPI_Neighbor_alltoallw(out, out_counts, out_places, types, in, in_counts, in_places, types, ring);
  MPI_Wait(&request[0], MPI_STATUS_IGNORE);
  for (int i = 0; i < 2; i++) {
    int *got = i ? later : in;
    expect(got[2 * far + 1] == value(previous, 2) && got[2 * !far] == value(before, 3),
           "neighbor_alltoallw");
  }
  in_counts[0] = in_counts[1] = 1;
  MPI_Ineighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, ring, &request[0]);
  MPI_Ineighbor_allgatherv(out, 1, MPI_INT, later, in_counts, in_starts, MPI_INT, ring,
                           &request[1]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  expect(in[far] == value(previous, 1) && later[2 * !far] == value(before, 1),
         "ineighbor_allgather, ineighbor_allgatherv");
  MPI_Neighbor_allgatherv(out, 1, MPI_INT, later, in_counts, in_starts, MPI_INT, ring);
  expect(later[2 * far] == value(previous, 1), "neighbor_allgatherv");
}

static void test_rings(void)
{
  int before = (rank + ranks - 2) % ranks, after = (rank + 2) % ranks;
  int sources[2] = {before, previous}, destinations[2] = {next, after};
  int in_weights[2] = {100 + before, previous}, out_weights[2] = {rank, 100 + rank};
  MPI_Comm ring;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, in_weights, 2, destinations,
                                 out_weights, MPI_INFO_NULL, 0, &ring);
  check_ring(ring, true);
  MPI_Comm_free(&ring);
  /* rank 0 gives the edges of all ranks */
  int source[RANKS_MAX], degrees[RANKS_MAX], to[2 * RANKS_MAX];
  for (int i = 0; i < ranks; i++) {
    source[i] = i;
    degrees[i] = 2;
    to[2 * i] = (i + 1) % ranks;
    to[2 * i + 1] = (i + 2) % ranks;
  }
  MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? ranks : 0, source, degrees, to, MPI_UNWEIGHTED,
                        MPI_INFO_NULL, 0, &ring);
  check_ring(ring, false);
  MPI_Comm_free(&ring);
  /* only rank 0 gives weights; the others give NULL, which is MPI_UNWEIGHTED in SMPI */
  int weights[2 * RANKS_MAX], in, out, weighted;
  for (int i = 0; i < 2 * ranks; i++)
    weights[i] = 50 + i;
  MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? ranks : 0, source, degrees, to,
                        rank == 0 ? weights : NULL, MPI_INFO_NULL, 0, &ring);
  MPI_Dist_graph_neighbors_count(ring, &in, &out, &weighted);
  MPI_Dist_graph_neighbors(ring, in, sources, in_weights, out, destinations, out_weights);
  expect(weighted && out == 2 && out_weights[0] + out_weights[1] == 101 + 4 * rank,
         "dist_graph_create: weights of one");
  MPI_Comm_free(&ring);
}

/* ---- error codes that the program adds in the first round ---- */

static void test_error_codes(void)
{
  static int own_class, code;
  int found, length, *last, flag;
  char text[MPI_MAX_ERROR_STRING], told[] = "too many cooks";
  if (round_number == 1) {
    MPI_Add_error_class(&own_class);
    MPI_Add_error_code(own_class, &code);
    MPI_Add_error_string(code, told);
  }
  MPI_Error_class(code, &found);
  expect(found == own_class && own_class > MPI_ERR_LASTCODE && code != own_class, "add_error_code");
  MPI_Error_class(own_class, &found);
  expect(found == own_class, "add_error_class");
  MPI_Error_string(code, text, &length);
  expect(strcmp(text, told) == 0 && length == (int)strlen(told), "add_error_string");
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
  expect(flag && *last == code, "MPI_LASTUSEDCODE");
}

/* ---- parts of distributed arrays ---- */

enum { COLUMNS = 3 };

/* Tests that this rank has the rows `first` and `second` of an array with two rows for each
 * rank. */
static void test_rows(int distribution, int first, int second)
{
  int array[2 * RANKS_MAX][COLUMNS], got[2 * COLUMNS], place = 0;
  int sizes[2] = {2 * ranks, COLUMNS}, how[2] = {distribution, MPI_DISTRIBUTE_NONE};
  int shares[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {ranks, 1};
  bool right = true;
  MPI_Datatype part;
  for (int i = 0; i < 2 * ranks; i++)
    for (int k = 0; k < COLUMNS; k++)
      array[i][k] = value(i, k);
  MPI_Type_create_darray(ranks, rank, 2, sizes, how, shares, grid, MPI_ORDER_C, MPI_INT, &part);
  MPI_Type_commit(&part);
  MPI_Pack(array, 1, part, got, sizeof got, &place, MPI_COMM_WORLD);
  for (int k = 0; k < COLUMNS; k++)
    right &= got[k] == value(first, k) && got[COLUMNS + k] == value(second, k);
  expect(right && place == sizeof got, "type_create_darray");
  MPI_Type_free(&part);
}

/* Expects a named type of `bytes` bytes, or an error if there is no such type. */
static void expect_match(int kind, int bytes, bool there_is)
{
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int size = 0, ints, addresses, types, combiner = -1;
  bool found = MPI_Type_match_size(kind, bytes, &type) == MPI_SUCCESS;
  if (found) {
    MPI_Type_size(type, &size);
    MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner);
  }
  expect(found == there_is && (!found || (size == bytes && combiner == MPI_COMBINER_NAMED)),
         "type_match_size");
}

static void test_sizes(void)
{
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int bytes = 0; bytes <= 33; bytes++) {
    bool power = bytes && !(bytes & (bytes - 1));
    expect_match(MPI_TYPECLASS_INTEGER, bytes, power && bytes <= 16);
    expect_match(MPI_TYPECLASS_REAL, bytes, power && bytes >= 4 && bytes <= 16);
    expect_match(MPI_TYPECLASS_COMPLEX, bytes, power && bytes >= 8 && bytes <= 32);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void test_distributed(void)
{
  test_rows(MPI_DISTRIBUTE_BLOCK, 2 * rank, 2 * rank + 1);
  test_rows(MPI_DISTRIBUTE_CYCLIC, rank, rank + ranks);
  test_sizes();
}

/* ---- types by their old names, and by what Fortran asks of them ---- */

static void expect_bounds(MPI_Datatype *type, MPI_Aint lower, MPI_Aint upper, const char *what)
{
  MPI_Aint lb, ub, extent;
  MPI_Type_commit(type);
  MPI_Type_lb(*type, &lb);
  MPI_Type_ub(*type, &ub);
  MPI_Type_extent(*type, &extent);
  expect(lb == lower && ub == upper && extent == upper - lower, what);
  MPI_Type_free(type);
}

static void expect_bytes(MPI_Datatype type, int bytes, const char *what)
{
  int size;
  MPI_Type_size(type, &size);
  expect(size == bytes, what);
}

static void test_types(void)
{
  const int one[2] = {1, 1}, blocks[2] = {1, 2}, steps[2] = {0, 2};
  const MPI_Aint from_four[2] = {4, 12}, from_zero[2] = {0, 8};
  const MPI_Datatype both[2] = {MPI_INT, MPI_DOUBLE};
  MPI_Datatype type;
  MPI_Status status;
  int elements;
  MPI_Type_hvector(2, 1, 12, MPI_INT, &type);
  expect_bounds(&type, 0, 16, "type_hvector");
  MPI_Type_hindexed(2, one, from_four, MPI_INT, &type);
  expect_bounds(&type, 4, 16, "type_hindexed");
  MPI_Type_struct(2, one, from_zero, both, &type);
  expect_bounds(&type, 0, 16, "type_struct");
  MPI_Type_create_indexed(2, blocks, steps, MPI_INT, &type);
  expect_bytes(type, 12, "type_create_indexed");
  expect_bounds(&type, 0, 16, "type_create_indexed");
  MPI_Type_create_f90_integer(9, &type);
  expect_bytes(type, 4, "type_create_f90_integer");
  MPI_Type_create_f90_real(15, 307, &type);
  expect_bytes(type, 8, "type_create_f90_real");
  MPI_Type_create_f90_complex(6, 37, &type);
  expect_bytes(type, 8, "type_create_f90_complex");
  MPI_Status_set_elements_x(&status, MPI_INT, 3);
  MPI_Get_elements(&status, MPI_INT, &elements);
  expect(elements == 3, "status_set_elements_x");
}

int main(int argc, char **argv)
{
  int provided, level, rounds = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  MPI_Query_thread(&level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  expect(level == provided, "query_thread");
  next = (rank + 1) % ranks;
  previous = (rank + ranks - 1) % ranks;
  everything = argc > 2;
  if (ranks > RANKS_MAX || ranks < 5)
    MPI_Abort(MPI_COMM_WORLD, 1);
  static void (*const tests[])(void) = {
      test_modes,       test_packing,     test_varied, test_general, test_errors,
      test_old_names,   test_info,        test_graph,  test_grid,    test_rings,
      test_error_codes, test_distributed, test_types};
  size_t count =
      /* plain SMPI lacks the calls of the last tests */
      sizeof tests / sizeof *tests - (everything ? 0 : 6);
  for (round_number = 1; round_number <= rounds; round_number++)
    for (size_t i = 0; i < count; i++) {
      tests[i]();
      smpi_execute_flops(3e4 * (1 + (rank * 7 + round_number) % ranks));
    }
  if (everything)
    MPI_Pcontrol(0);
  return end(rounds);
}
