/* Tests calls that SMPI does not have (include/mpi/mpi-4.h, mpi-t.h). All calls are in a loop, so
 * that crashes and checkpoints fall everywhere, and every result is checked. It is compiled as C
 * and as C++, and runs on 5 ranks. Usage: layer-mpi4 ROUNDS. */
#define PROGRAM "layer-mpi4"
#include "layer-rounds.h"

/* ---- a send and a receive in one call ---- */

/* Every other round sends this number of ints, which is beyond every eager threshold. */
enum { MANY = 20000 };

static int out[MANY], in[MANY];

static int count_of_round(void)
{
  return round_number % 2 ? 3 : MANY;
}

static void fill(int *list, int from, int count)
{
  for (int i = 0; i < count; i++)
    list[i] = value(from, i);
}

static bool are_from(const int *list, int from, int count)
{
  bool right = true;
  for (int i = 0; i < count; i++)
    right &= list[i] == value(from, i);
  return right;
}

static void test_exchange(void)
{
  int count = count_of_round(), got;
  MPI_Request request;
  MPI_Status status;
  fill(out, rank, count);
  MPI_Isendrecv(out, count, MPI_INT, next, 1, in, MANY, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                &request);
  compute(1e-5);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_INT, &got);
  expect(request == MPI_REQUEST_NULL && are_from(in, previous, count), "isendrecv");
  expect(status.MPI_SOURCE == previous && status.MPI_TAG == 1 && got == count,
         "isendrecv: the status is that of the receive");
  MPI_Isendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 1, in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
                &request);
  MPI_Wait(&request, &status);
  expect(status.MPI_SOURCE == MPI_PROC_NULL, "isendrecv with nobody");
}

static void test_exchange_in_place(void)
{
  int count = count_of_round(), done = 0;
  MPI_Request request;
  MPI_Status status;
  fill(in, rank, count);
  MPI_Isendrecv_replace(in, count, MPI_INT, previous, 2, next, 2, MPI_COMM_WORLD, &request);
  while (!done)
    MPI_Test(&request, &done, &status);
  expect(are_from(in, next, count) && status.MPI_SOURCE == next, "isendrecv_replace");
}

/* ---- partitioned messages ---- */

/* Each rank sends ALL ints to the next one. Sender and receiver divide them into different
 * partitions. */
enum { OUT_PARTS = 6, IN_PARTS = 4, PART = 1000, ALL = OUT_PARTS * PART };

/* requests of a send, of a receive, and of a send to MPI_PROC_NULL */
static MPI_Request parts[3];

static void make_partitioned(void)
{
  MPI_Psend_init(out, OUT_PARTS, PART, MPI_INT, next, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &parts[0]);
  MPI_Precv_init(in, IN_PARTS, ALL / IN_PARTS, MPI_INT, previous, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &parts[1]);
  MPI_Psend_init(out, 2, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &parts[2]);
}

static void fill_part(int part)
{
  for (int i = part * PART; i < (part + 1) * PART; i++)
    out[i] = value(rank, i);
}

/* Waits for the partition. Returns whether its values are right. */
static bool part_arrives(int part)
{
  int size = ALL / IN_PARTS, there = 0;
  bool right = true;
  while (!there) {
    compute(1e-6);
    MPI_Parrived(parts[1], part, &there);
  }
  for (int i = part * size; i < (part + 1) * size; i++)
    right &= in[i] == value(previous, i);
  return right;
}

static void test_partitioned(void)
{
  static const int last[] = {5, 3};
  int there = 0, count;
  MPI_Status status[3];
  memset(in, 0, sizeof in);
  MPI_Parrived(parts[1], 0, &there);
  expect(there, "parrived: not started");
  MPI_Startall(3, parts);
  for (int part = 0; part < OUT_PARTS; part++)
    fill_part(part);
  MPI_Pready(4, parts[0]);
  MPI_Pready_range(0, 2, parts[0]);
  compute(2e-5);
  if (round_number > 1) /* in the first operation partitions come together */
    expect(part_arrives(0), "parrived: a partition before the others are ready");
  MPI_Pready_list(2, last, parts[0]);
  MPI_Pready_range(0, 1, parts[2]);
  expect(part_arrives(3), "parrived");
  MPI_Parrived(parts[1], 3, &there);
  expect(there, "parrived: a second time");
  MPI_Waitall(3, parts, status);
  MPI_Get_count(&status[1], MPI_INT, &count);
  expect(are_from(in, previous, ALL) && parts[1] != MPI_REQUEST_NULL, "partitioned");
  expect(status[1].MPI_SOURCE == previous && status[1].MPI_TAG == 3 && count == ALL,
         "partitioned: status");
}

/* Tests partitions of a type with gaps, in two messages with one tag. The messages are matched in
 * the order in which their requests were made, although the second request is started first. */
static void test_partitions_of_a_type(void)
{
  int table[2][24] = {{0}}, got[2][24] = {{0}};
  MPI_Request request[4];
  MPI_Datatype pair, column;
  bool right = true;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 4 * (MPI_Aint)sizeof(int), &column);
  MPI_Type_commit(&column);
  for (int k = 0; k < 2; k++) {
    fill(table[k], rank + 50 * k, 24);
    MPI_Psend_init(table[k], 3, 2, column, previous, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request[k]);
    MPI_Precv_init(got[k], 2, 3, column, next, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request[2 + k]);
  }
  for (int time = 0; time < 2; time++) {
    memset(got, 0, sizeof got);
    MPI_Startall(2, &request[2]);
    for (int k = 1; k >= 0; k--) { /* the second request is started first */
      MPI_Start(&request[k]);
      for (int part = 2; part >= 0; part--)
        MPI_Pready(part, request[k]);
    }
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    for (int k = 0; k < 2; k++)
      for (int i = 0; i < 24; i++)
        right &= got[k][i] == (i % 2 ? 0 : value(next + 50 * k, i));
  }
  expect(right, "partitions of a type, of the same tag");
  for (int i = 0; i < 4; i++)
    MPI_Request_free(&request[i]);
  MPI_Type_free(&pair);
  MPI_Type_free(&column);
}

/* ---- persistent collectives ---- */

/* The requests are made once. Each round starts all of these requests; each rank begins with
 * another request. */
enum { RANKS = 5, KINDS = 22 };

static MPI_Comm ring;
static MPI_Request collective[KINDS];
static int give[KINDS][4 * RANKS], get[KINDS][4 * RANKS];
static int counts[RANKS], starts[RANKS], ones[RANKS], bytes[RANKS];
static MPI_Datatype types[RANKS];

static void make_collectives(void)
{
  int dimension = RANKS, periodic = 1;
  MPI_Aint places[2] = {0, sizeof(int)};
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Cart_create(world, 1, &dimension, &periodic, 0, &ring);
  for (int i = 0; i < RANKS; i++) {
    counts[i] = 1 + i % 2;
    starts[i] = 2 * i;
    ones[i] = 1;
    bytes[i] = i * (int)sizeof(int);
    types[i] = MPI_INT;
  }
  MPI_Barrier_init(world, info, &collective[0]);
  MPI_Bcast_init(get[1], 3, MPI_INT, 1, world, info, &collective[1]);
  MPI_Gather_init(give[2], 1, MPI_INT, get[2], 1, MPI_INT, 2, world, info, &collective[2]);
  MPI_Gatherv_init(give[3], counts[rank], MPI_INT, get[3], rank == 2 ? counts : NULL,
                   rank == 2 ? starts : NULL, MPI_INT, 2, world, info, &collective[3]);
  MPI_Scatter_init(give[4], 1, MPI_INT, get[4], 1, MPI_INT, 3, world, info, &collective[4]);
  MPI_Scatterv_init(give[5], rank == 3 ? counts : NULL, rank == 3 ? starts : NULL, MPI_INT, get[5],
                    counts[rank], MPI_INT, 3, world, info, &collective[5]);
  MPI_Allgather_init(give[6], 1, MPI_INT, get[6], 1, MPI_INT, world, info, &collective[6]);
  MPI_Allgatherv_init(give[7], counts[rank], MPI_INT, get[7], counts, starts, MPI_INT, world, info,
                      &collective[7]);
  MPI_Alltoall_init(give[8], 1, MPI_INT, get[8], 1, MPI_INT, world, info, &collective[8]);
  MPI_Alltoallv_init(give[9], ones, starts, MPI_INT, get[9], ones, starts, MPI_INT, world, info,
                     &collective[9]);
  MPI_Alltoallw_init(give[10], ones, bytes, types, get[10], ones, bytes, types, world, info,
                     &collective[10]);
  MPI_Reduce_init(give[11], get[11], 2, MPI_INT, MPI_SUM, 4, world, info, &collective[11]);
  MPI_Allreduce_init(give[12], get[12], 2, MPI_INT, MPI_SUM, world, info, &collective[12]);
  MPI_Reduce_scatter_init(give[13], get[13], ones, MPI_INT, MPI_SUM, world, info, &collective[13]);
  MPI_Reduce_scatter_block_init(give[14], get[14], 1, MPI_INT, MPI_SUM, world, info,
                                &collective[14]);
  MPI_Scan_init(give[15], get[15], 1, MPI_INT, MPI_SUM, world, info, &collective[15]);
  MPI_Exscan_init(give[16], get[16], 1, MPI_INT, MPI_SUM, world, info, &collective[16]);
  MPI_Neighbor_allgather_init(give[17], 1, MPI_INT, get[17], 1, MPI_INT, ring, info,
                              &collective[17]);
  MPI_Neighbor_allgatherv_init(give[18], 1, MPI_INT, get[18], ones, starts, MPI_INT, ring, info,
                               &collective[18]);
  MPI_Neighbor_alltoall_init(give[19], 1, MPI_INT, get[19], 1, MPI_INT, ring, info,
                             &collective[19]);
  MPI_Neighbor_alltoallv_init(give[20], ones, starts, MPI_INT, get[20], ones, starts, MPI_INT, ring,
                              info, &collective[20]);
  MPI_Neighbor_alltoallw_init(give[21], ones, places, types, get[21], ones, places, types, ring,
                              info, &collective[21]);
}

/* Returns the sum of value `i` of the ranks below `end`. */
static int sum(int end, int i)
{
  int all = 0;
  for (int from = 0; from < end; from++)
    all += value(from, i);
  return all;
}

static void expect_one_each(int kind, int place, int step, const char *what)
{
  bool right = true;
  for (int i = 0; i < RANKS; i++)
    right &= get[kind][i * step] == value(i, place);
  expect(right, what);
}

static void expect_counted(int kind, const char *what)
{
  bool right = true;
  for (int i = 0; i < RANKS; i++)
    for (int k = 0; k < 2; k++)
      right &= get[kind][2 * i + k] == (k < counts[i] ? value(i, k) : -1);
  expect(right, what);
}

static void expect_pair(int kind, int first, int second, int step, const char *what)
{
  expect(get[kind][0] == first && get[kind][step] == second, what);
}

static void test_values_of_collectives(void)
{
  expect(rank == 1 || are_from(get[1], 1, 3), "bcast_init");
  if (rank == 2) {
    expect_one_each(2, 0, 1, "gather_init");
    expect_counted(3, "gatherv_init");
  }
  expect(get[4][0] == value(3, rank), "scatter_init");
  expect(get[5][0] == value(3, 2 * rank) &&
             get[5][1] == (counts[rank] == 2 ? value(3, 2 * rank + 1) : -1),
         "scatterv_init");
  expect_one_each(6, 0, 1, "allgather_init");
  expect_counted(7, "allgatherv_init");
  expect_one_each(8, rank, 1, "alltoall_init");
  expect_one_each(9, 2 * rank, 2, "alltoallv_init");
  expect_one_each(10, rank, 1, "alltoallw_init");
  if (rank == 4)
    expect_pair(11, sum(RANKS, 0), sum(RANKS, 1), 1, "reduce_init");
  expect_pair(12, sum(RANKS, 0), sum(RANKS, 1), 1, "allreduce_init");
  expect(get[13][0] == sum(RANKS, rank), "reduce_scatter_init");
  expect(get[14][0] == sum(RANKS, rank), "reduce_scatter_block_init");
  expect(get[15][0] == sum(rank + 1, 0), "scan_init");
  expect(rank == 0 || get[16][0] == sum(rank, 0), "exscan_init");
  expect_pair(17, value(previous, 0), value(next, 0), 1, "neighbor_allgather_init");
  expect_pair(18, value(previous, 0), value(next, 0), 2, "neighbor_allgatherv_init");
  expect_pair(19, value(previous, 1), value(next, 0), 1, "neighbor_alltoall_init");
  expect_pair(20, value(previous, 2), value(next, 0), 2, "neighbor_alltoallv_init");
  expect_pair(21, value(previous, 1), value(next, 0), 1, "neighbor_alltoallw_init");
}

static void test_collectives(void)
{
  memset(get, -1, sizeof get);
  for (int kind = 0; kind < KINDS; kind++)
    fill(give[kind], rank, 4 * RANKS);
  fill(get[1], rank, 3);
  for (int i = 0; i < KINDS; i++) /* each rank has another order */
    MPI_Start(&collective[(i + rank) % KINDS]);
  compute(1e-5);
  MPI_Waitall(KINDS, collective, MPI_STATUSES_IGNORE);
  test_values_of_collectives();
}

/* ---- communicators, infos, tools ---- */

static void test_infos(void)
{
  char text[8] = "", *arguments[] = {(char *)"./program", NULL}, key[] = "depth";
  int room = 4, found, flag, equal;
  MPI_Info info;
  MPI_Comm copy;
  MPI_Request request;
  MPI_Info_create_env(1, arguments, &info);
  MPI_Info_get_string(info, "command", &room, text, &found);
  expect(found && room == 10 && strcmp(text, "./p") == 0, "info_create_env, info_get_string: cut");
  room = 8;
  MPI_Info_get_string(info, "maxprocs", &room, text, &found);
  expect(found && room == 2 && atoi(text) == ranks, "info_create_env: the ranks");
  MPI_Info_set(info, key, "7");
  room = 0;
  text[0] = 'x';
  MPI_Info_get_string(info, key, &room, text, &found);
  expect(found && room == 2 && text[0] == 'x', "info_get_string: the length alone");
  MPI_Info_get_string(info, "none", &room, text, &found);
  expect(!found && room == 2, "info_get_string: nothing");
  MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &copy, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_compare(MPI_COMM_WORLD, copy, &equal);
  MPI_Allreduce(&rank, &flag, 1, MPI_INT, MPI_MAX, copy);
  expect(equal == MPI_CONGRUENT && flag == ranks - 1, "comm_idup_with_info");
  MPI_Comm_free(&copy);
  MPI_Info_free(&info);
}

static void test_statuses(void)
{
  MPI_Status status, back;
  MPI_F08_status f08, other;
  MPI_Fint f[MPI_F_STATUS_SIZE];
  int got, count;
  MPI_Sendrecv(&rank, 1, MPI_INT, next, 4, &got, 1, MPI_INT, previous, 4, MPI_COMM_WORLD, &status);
  MPI_Status_c2f08(&status, &f08);
  expect(f08.MPI_SOURCE == previous && f08.MPI_TAG == 4, "status_c2f08");
  MPI_Status_f082f(&f08, f);
  expect(f[MPI_F_SOURCE] == previous && f[MPI_F_TAG] == 4, "status_f082f");
  f[MPI_F_TAG] = 9;
  MPI_Status_f2f08(f, &other);
  expect(other.MPI_SOURCE == previous && other.MPI_TAG == 9, "status_f2f08");
  MPI_Status_f082c(&other, &back);
  MPI_Get_count(&back, MPI_INT, &count);
  expect(back.MPI_TAG == 9 && count == 1, "status_f082c");
}

static void test_tools(void)
{
  int provided, number[6], index;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle of_pvar = MPI_T_PVAR_HANDLE_NULL;
  MPI_T_cvar_handle of_cvar = MPI_T_CVAR_HANDLE_NULL;
  MPI_Datatype type;
  MPI_T_enum values = MPI_T_ENUM_NULL;
  char text[8];
  int length = 8, a, b, c, d, bad = MPI_T_ERR_INVALID_INDEX, lost = MPI_T_ERR_INVALID_HANDLE;
  bool right = true;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  expect(provided == MPI_THREAD_SINGLE, "T_init_thread");
  MPI_T_cvar_get_num(&number[0]);
  MPI_T_pvar_get_num(&number[1]);
  MPI_T_category_get_num(&number[2]);
  MPI_T_category_changed(&number[3]);
  MPI_T_source_get_num(&number[4]);
  MPI_T_event_get_num(&number[5]);
  for (int i = 0; i < 6; i++)
    right &= number[i] == 0;
  expect(right, "T: there is nothing");
  right = MPI_T_cvar_get_info(0, text, &length, &a, &type, &values, text, &length, &b, &c) == bad &&
          MPI_T_cvar_handle_alloc(0, NULL, &of_cvar, &a) == bad &&
          MPI_T_pvar_get_info(0, text, &length, &a, &b, &type, &values, text, &length, &c, &d, &a,
                              &b) == bad &&
          MPI_T_category_get_info(0, text, &length, text, &length, &a, &b, &c) == bad &&
          MPI_T_category_get_num_events(0, &a) == bad &&
          MPI_T_category_get_cvars(0, 1, &a) == bad && MPI_T_category_get_pvars(0, 1, &a) == bad &&
          MPI_T_category_get_events(0, 1, &a) == bad &&
          MPI_T_category_get_categories(0, 1, &a) == bad;
  expect(right, "T: no index is valid");
  right = MPI_T_cvar_get_index("x", &index) == MPI_T_ERR_INVALID_NAME &&
          MPI_T_pvar_get_index("x", MPI_T_PVAR_CLASS_TIMER, &index) == MPI_T_ERR_INVALID_NAME &&
          MPI_T_category_get_index("x", &index) == MPI_T_ERR_INVALID_NAME &&
          MPI_T_event_get_index("x", &index) == MPI_T_ERR_INVALID_NAME;
  expect(right, "T: no name is valid");
  MPI_T_pvar_session_create(&session);
  right = MPI_T_pvar_handle_alloc(session, 0, NULL, &of_pvar, &a) == bad &&
          MPI_T_pvar_handle_free(session, &of_pvar) == lost &&
          MPI_T_pvar_start(session, of_pvar) == lost && MPI_T_pvar_stop(session, of_pvar) == lost &&
          MPI_T_pvar_read(session, of_pvar, &a) == lost &&
          MPI_T_pvar_write(session, of_pvar, &a) == lost &&
          MPI_T_pvar_reset(session, of_pvar) == lost &&
          MPI_T_pvar_readreset(session, of_pvar, &a) == lost &&
          MPI_T_cvar_read(of_cvar, &a) == lost && MPI_T_cvar_write(of_cvar, &a) == lost &&
          MPI_T_cvar_handle_free(&of_cvar) == lost &&
          MPI_T_enum_get_info(values, &a, text, &length) == lost &&
          MPI_T_enum_get_item(values, 0, &a, text, &length) == lost;
  MPI_T_pvar_session_free(&session);
  expect(right && session == MPI_T_PVAR_SESSION_NULL, "T: no handle is valid");
  MPI_T_finalize();
}

/* ---- splits by hardware ---- */

/* Tests splits by hardware. Memory is the only resource by which ranks can be split, and each rank
 * has its own. */
static void test_hardware(void)
{
  static const char *const resources[] = {"mpi_shared_memory", "mpi_shared_memory_of_all",
                                          "NUMANode"};
  MPI_Comm made;
  for (int i = 0; i < 3; i++) {
    MPI_Info info;
    int size = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", resources[i]);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &made);
    if (made != MPI_COMM_NULL) {
      MPI_Comm_size(made, &size);
      MPI_Comm_free(&made);
    }
    expect(size == (i == 0), "split by hardware");
    MPI_Info_free(&info);
  }
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &made);
  expect(made == MPI_COMM_NULL, "split by no hardware");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &made);
  expect(made == MPI_COMM_NULL, "split by hardware, unguided");
}

/* ---- sessions, beside MPI_Init ---- */

static void test_session(void)
{
  MPI_Session session;
  MPI_Errhandler errors;
  MPI_Group group, odd;
  MPI_Comm comm;
  MPI_Info info;
  char name[MPI_MAX_PSET_NAME_LEN], text[8] = "";
  int count, length = 0, size, found, all, range[1][3] = {{1, ranks - 1, 2}};
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
  MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL);
  expect(count == 2 && length == 12, "session: sets, and the length of a name");
  MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1, &length, name);
  expect(strcmp(name, "mpi://SELF") == 0 && length == 11, "session: a name");
  expect(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 2, &length, name) == MPI_ERR_ARG,
         "session: no such set");
  MPI_Session_get_pset_info(session, "mpi://WORLD", &info);
  MPI_Info_get(info, "mpi_size", 7, text, &found);
  expect(found && atoi(text) == ranks, "session: the size of a set");
  MPI_Info_free(&info);
  MPI_Session_get_info(session, &info);
  char level[24] = "";
  MPI_Info_get(info, "thread_level", sizeof level - 1, level, &found);
  expect(found && !strcmp(level, "MPI_THREAD_FUNNELED"), "session: its level of threads");
  MPI_Info_free(&info);
  MPI_Session_get_errhandler(session, &errors);
  expect(errors == MPI_ERRORS_RETURN, "session: error handler");
  MPI_Session_set_errhandler(session, MPI_ERRORS_ARE_FATAL);
  MPI_Group_from_session_pset(session, "mpi://SELF", &group);
  MPI_Group_size(group, &size);
  expect(size == 1, "session: its own group");
  MPI_Group_free(&group);
  MPI_Group_from_session_pset(session, "mpi://world", &group);
  MPI_Group_range_incl(group, 1, range, &odd);
  if (rank % 2) {
    MPI_Comm_create_from_group(odd, "odd", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Comm_get_errhandler(comm, &errors);
    MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, comm);
    expect(all == ranks / 2 * (ranks / 2) && errors == MPI_ERRORS_RETURN, "comm_create_from_group");
    MPI_Comm_free(&comm);
  }
  MPI_Group_free(&odd);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  expect(session == MPI_SESSION_NULL, "session: its end");
}

/* Tests persistent collectives between the even ranks and the odd ones. Each is started twice. */
static void test_between_groups(void)
{
  int odd = rank % 2, others, mine, sent, got[RANKS], told, all;
  MPI_Comm half, between;
  MPI_Request request[3];
  MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - odd, 9, &between);
  MPI_Comm_remote_size(between, &others);
  MPI_Comm_rank(between, &mine);
  MPI_Allgather_init(&sent, 1, MPI_INT, got, 1, MPI_INT, between, MPI_INFO_NULL, &request[0]);
  MPI_Bcast_init(&told, 1, MPI_INT,
                 odd         ? 1
                 : mine == 1 ? MPI_ROOT
                             : MPI_PROC_NULL,
                 between, MPI_INFO_NULL, &request[1]);
  MPI_Allreduce_init(&sent, &all, 1, MPI_INT, MPI_MAX, between, MPI_INFO_NULL, &request[2]);
  for (int time = 0; time < 2; time++) {
    bool right = true;
    sent = told = value(rank, time);
    MPI_Startall(3, request);
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < others; i++)
      right &= got[i] == value(2 * i + 1 - odd, time);
    expect(right, "allgather_init between groups");
    expect(told == (odd ? value(2, time) : value(rank, time)), "bcast_init between groups");
    expect(all == value(2 * (others - 1) + 1 - odd, time), "allreduce_init between groups");
  }
  for (int i = 0; i < 3; i++)
    MPI_Request_free(&request[i]);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

static void free_requests(void)
{
  for (int i = 0; i < KINDS; i++)
    MPI_Request_free(&collective[i]);
  for (int i = 0; i < 3; i++)
    MPI_Request_free(&parts[i]);
  expect(collective[0] == MPI_REQUEST_NULL && parts[0] == MPI_REQUEST_NULL, "free");
  MPI_Comm_free(&ring);
}

int main(int argc, char **argv)
{
  static void (*const tests[])(void) = {
      test_exchange,    test_exchange_in_place, test_partitioned, test_partitions_of_a_type,
      test_collectives, test_between_groups,    test_infos,       test_statuses,
      test_tools,       test_session,           test_hardware};
  int rounds = begin(argc, argv);
  make_partitioned();
  make_collectives();
  for (round_number = 1; round_number <= rounds; round_number++) {
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
      tests[i]();
      compute(1e-4);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  round_number = rounds;
  free_requests();
  return end(rounds);
}
