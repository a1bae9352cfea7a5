/* Tests every call of MPI-IO. All calls are in a loop, so that crashes and checkpoints fall
 * everywhere. Every value that is read is checked, and at the end so are the bytes of the files.
 * It is compiled as C and as C++. Usage: layer-files ROUNDS FOLDER. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 3, ROWS = 4, RANKS_MAX = 16 };

static int rank, ranks, next, round_number, failures;
static const char *folder;

static void expect(bool right, const char *what)
{
  if (right)
    return;
  failures++;
  fprintf(stderr, "layer-files: rank %d, round %d: %s\n", rank, round_number, what);
}

static MPI_File open_file(MPI_Comm comm, const char *name, int amode)
{
  char path[1000];
  MPI_File file = MPI_FILE_NULL;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  expect(MPI_File_open(comm, path, amode, MPI_INFO_NULL, &file) == MPI_SUCCESS, name);
  return file;
}

static int elements(const MPI_Status *status, MPI_Datatype type)
{
  int count;
  MPI_Get_count(status, type, &count);
  return count;
}

/* ---- a matrix of which each rank sees some columns ---- */

static int value(int from, int round, int i)
{
  return 100000 * (round + 1) + 1000 * from + i;
}

static MPI_Datatype columns_of(int owner)
{
  int sizes[2] = {ROWS, ranks * BLOCK}, own[2] = {ROWS, BLOCK}, starts[2] = {0, owner * BLOCK};
  MPI_Datatype columns;
  MPI_Type_create_subarray(2, sizes, own, starts, MPI_ORDER_C, MPI_INT, &columns);
  MPI_Type_commit(&columns);
  return columns;
}

/* Tests views of columns. Each round writes over the first matrix and appends another one. */
static void test_matrix(MPI_File file)
{
  int out[ROWS * BLOCK], in[2 * ROWS * BLOCK], tile = ROWS * BLOCK;
  MPI_Status status;
  MPI_Datatype pairs, columns = columns_of(rank), others = columns_of(next);
  MPI_File_set_view(file, 8, MPI_INT, columns, "native", MPI_INFO_NULL);
  if (round_number > 0) {
    MPI_File_read_at(file, 0, in, tile, MPI_INT, &status);
    expect(in[0] == value(rank, round_number - 1, 0) &&
               in[tile - 1] == value(rank, round_number - 1, tile - 1),
           "the matrix of the last round");
  }
  for (int i = 0; i < tile; i++)
    out[i] = value(rank, round_number, i);
  MPI_File_write_at_all(file, 0, out, tile, MPI_INT, &status);
  expect(elements(&status, MPI_INT) == tile, "write_at_all: count");
  /* `pairs` is every second integer of memory */
  MPI_Type_vector(tile, 1, 2, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  for (int i = 0; i < tile; i++)
    in[2 * i] = -out[i], in[2 * i + 1] = 7;
  MPI_File_write_at_all(file, (round_number + 1) * tile, in, 1, pairs, MPI_STATUS_IGNORE);
  MPI_File_set_view(file, 8, MPI_INT, others, "native", MPI_INFO_NULL);
  MPI_File_read_at_all(file, (round_number + 1) * tile, in, 1, pairs, &status);
  expect(elements(&status, MPI_INT) == tile, "read_at_all: count");
  bool right = true;
  for (int i = 0; i < tile; i++)
    right &= in[2 * i] == -value(next, round_number, i) && in[2 * i + 1] == 7;
  expect(right, "the neighbour's columns");
  memset(in, 0, sizeof in);
  MPI_File_read_at(file, (round_number + 2) * tile - 1, in, 2, MPI_INT, &status);
  expect(elements(&status, MPI_INT) == 1 && in[1] == 0, "only as far as the file goes");
  MPI_Type_free(&pairs);
  MPI_Type_free(&columns);
  MPI_Type_free(&others);
}

/* Tests the arguments from which, according to MPI, a type or a duplicate of a type was made. */
static void test_types(void)
{
  int sizes[1] = {5}, own[1] = {2}, starts[1] = {3}, integers, addresses, types, combiner;
  int integer[5], lengths[2] = {1, 2}, memory[6] = {0, 1, 2, 3, 4, 5}, packed[3], position = 0;
  MPI_Aint address[3] = {0, 8, 0}, low, extent;
  MPI_Datatype parts[3] = {MPI_INT, MPI_INT, MPI_INT}, part, structure, vector, copy;
  MPI_Type_create_subarray(1, sizes, own, starts, MPI_ORDER_FORTRAN, MPI_INT, &part);
  MPI_Type_get_extent(part, &low, &extent);
  MPI_Type_get_envelope(part, &integers, &addresses, &types, &combiner);
  expect(low == 0 && extent == 20 && combiner == MPI_COMBINER_SUBARRAY && integers == 5 &&
             addresses == 0 && types == 1,
         "a subarray of one dimension");
  MPI_Type_get_contents(part, 5, 0, 1, integer, NULL, parts);
  expect(integer[0] == 1 && integer[1] == 5 && integer[2] == 2 && integer[3] == 3 &&
             integer[4] == MPI_ORDER_FORTRAN && parts[0] == MPI_INT,
         "get_contents of a subarray");
  address[1] = 8;
  parts[0] = MPI_INT;
  MPI_Type_create_struct(2, lengths, address, parts, &structure);
  MPI_Type_get_envelope(structure, &integers, &addresses, &types, &combiner);
  expect(combiner == MPI_COMBINER_STRUCT && integers == 3 && types == 2, "a struct is one");
  MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
  MPI_Type_dup(vector, &copy);
  MPI_Type_get_envelope(copy, &integers, &addresses, &types, &combiner);
  MPI_Type_get_contents(copy, 0, 0, 1, integer, address, parts);
  expect(combiner == MPI_COMBINER_DUP && integers == 0 && addresses == 0 && types == 1 &&
             parts[0] == vector,
         "a duplicate is one");
  MPI_Type_dup(MPI_INT, &part);
  MPI_Type_get_envelope(part, &integers, &addresses, &types, &combiner);
  expect(combiner == MPI_COMBINER_DUP && types == 1, "and that of a predefined type");
  MPI_Pack(memory, 1, copy, packed, sizeof packed, &position, MPI_COMM_WORLD);
  expect(packed[0] == 0 && packed[1] == 2 && packed[2] == 4, "a vector twice");
  MPI_Type_free(&part);
  MPI_Type_free(&structure);
  MPI_Type_free(&vector);
  MPI_Type_free(&copy);
}

/* ---- pointers ---- */

static void test_pointers(void)
{
  int in[4] = {0}, out[4];
  MPI_Offset where;
  MPI_Status status;
  MPI_File file = open_file(MPI_COMM_WORLD, "pointers", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File_set_view(file, rank * 16, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  for (int i = 0; i < 4; i++)
    out[i] = value(rank, round_number, i);
  MPI_File_write(file, out, 1, MPI_INT, &status);
  MPI_File_write_all(file, out + 1, 3, MPI_INT, &status);
  MPI_File_get_position(file, &where);
  expect(where == 4, "get_position");
  MPI_File_seek(file, -3, MPI_SEEK_CUR);
  MPI_File_read(file, in, 2, MPI_INT, &status);
  expect(in[0] == out[1] && in[1] == out[2], "seek and read");
  MPI_File_seek(file, 3, MPI_SEEK_SET);
  MPI_File_read_all(file, in, 1, MPI_INT, MPI_STATUS_IGNORE);
  expect(in[0] == out[3], "read_all");
  expect(MPI_File_seek(file, -100, MPI_SEEK_SET) != MPI_SUCCESS, "ahead of the beginning");
  MPI_File_seek(file, -1, MPI_SEEK_END);
  MPI_File_get_position(file, &where);
  expect(where == 4 * (ranks - rank) - 1, "the end");
  MPI_File_close(&file);
  expect(file == MPI_FILE_NULL, "close");
}

static void test_shared_pointer(void)
{
  int in[RANKS_MAX] = {0}, out[RANKS_MAX], all = ranks * (ranks + 1) / 2;
  MPI_Offset where;
  MPI_File file = open_file(MPI_COMM_WORLD, "ordered", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  for (int i = 0; i <= rank; i++)
    out[i] = value(rank, round_number, i);
  MPI_File_write_ordered(file, out, rank + 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_write_ordered_begin(file, out, 1, MPI_INT);
  MPI_File_write_ordered_end(file, out, MPI_STATUS_IGNORE);
  MPI_File_get_position_shared(file, &where);
  expect(where == all + ranks, "get_position_shared");
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  MPI_File_read_ordered(file, in, rank + 1, MPI_INT, MPI_STATUS_IGNORE);
  expect(memcmp(in, out, (size_t)(rank + 1) * sizeof *in) == 0, "read_ordered");
  MPI_File_read_ordered_begin(file, in, 1, MPI_INT);
  MPI_File_read_ordered_end(file, in, MPI_STATUS_IGNORE);
  expect(in[0] == out[0], "read_ordered_begin");
  MPI_File_close(&file);
}

/* ---- a file of each rank ---- */

static void test_own(void)
{
  char name[40], path[1000];
  int out[6], in[6] = {0};
  MPI_Offset size, where;
  MPI_Request requests[2];
  MPI_Status status;
  snprintf(name, sizeof name, "own-%d", rank);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  MPI_File file = open_file(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR);
  for (int i = 0; i < 6; i++)
    out[i] = value(rank, round_number, i);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_write_at(file, 0, out, 2, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_iwrite_at(file, 2, out + 2, 1, MPI_INT, &requests[0]);
  MPI_File_seek(file, 3, MPI_SEEK_SET);
  MPI_File_iwrite(file, out + 3, 1, MPI_INT, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_File_seek_shared(file, 4, MPI_SEEK_SET);
  MPI_File_write_shared(file, out + 4, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_iwrite_shared(file, out + 5, 1, MPI_INT, &requests[0]);
  MPI_Wait(&requests[0], &status);
  expect(elements(&status, MPI_INT) == 1, "iwrite_shared");
  MPI_File_get_position_shared(file, &where);
  MPI_File_get_size(file, &size);
  expect(where == 6 && size == 24, "get_size");
  smpi_execute_benched(5e-4);
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  MPI_File_seek_shared(file, 5, MPI_SEEK_SET);
  MPI_File_iread(file, in, 2, MPI_INT, &requests[0]);
  MPI_File_iread_at(file, 2, in + 2, 2, MPI_INT, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_File_iread_shared(file, in + 5, 1, MPI_INT, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_File_seek_shared(file, 4, MPI_SEEK_SET);
  MPI_File_read_shared(file, in + 4, 1, MPI_INT, MPI_STATUS_IGNORE);
  expect(memcmp(in, out, sizeof in) == 0, "what was written");
  MPI_File_close(&file);
  file = open_file(MPI_COMM_SELF, name, MPI_MODE_APPEND | MPI_MODE_WRONLY);
  MPI_File_get_position(file, &where);
  expect(where == 24, "append");
  expect(MPI_File_read(file, in, 1, MPI_INT, &status) == MPI_ERR_ACCESS, "it is for writing only");
  MPI_File_close(&file);
  if (round_number % 2)
    expect(MPI_File_delete(path, MPI_INFO_NULL) == MPI_SUCCESS, "delete");
  else
    file = open_file(MPI_COMM_SELF, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE),
    MPI_File_close(&file);
  expect(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) ==
             MPI_ERR_NO_SUCH_FILE,
         "it is deleted");
}

/* ---- nonblocking and split collective calls ---- */

static void test_later(void)
{
  int out = value(rank, round_number, 0), in[4] = {0};
  MPI_Request requests[2];
  MPI_File file = open_file(MPI_COMM_WORLD, "later", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_seek(file, ranks + rank, MPI_SEEK_SET);
  MPI_File_iwrite_at_all(file, rank, &out, 1, MPI_INT, &requests[0]);
  MPI_File_iwrite_all(file, &out, 1, MPI_INT, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_File_write_at_all_begin(file, 2 * ranks + rank, &out, 1, MPI_INT);
  MPI_File_write_at_all_end(file, &out, MPI_STATUS_IGNORE);
  MPI_File_seek(file, 3 * ranks + rank, MPI_SEEK_SET);
  MPI_File_write_all_begin(file, &out, 1, MPI_INT);
  MPI_File_write_all_end(file, &out, MPI_STATUS_IGNORE);
  smpi_execute_benched(5e-4);
  MPI_File_sync(file);
  MPI_File_seek(file, ranks + next, MPI_SEEK_SET);
  MPI_File_iread_at_all(file, next, &in[0], 1, MPI_INT, &requests[0]);
  MPI_File_iread_all(file, &in[1], 1, MPI_INT, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_File_read_at_all_begin(file, 2 * ranks + next, &in[2], 1, MPI_INT);
  MPI_File_read_at_all_end(file, &in[2], MPI_STATUS_IGNORE);
  MPI_File_seek(file, 3 * ranks + next, MPI_SEEK_SET);
  MPI_File_read_all_begin(file, &in[3], 1, MPI_INT);
  MPI_File_read_all_end(file, &in[3], MPI_STATUS_IGNORE);
  for (int i = 0; i < 4; i++)
    expect(in[i] == value(next, round_number, 0), "of the neighbour");
  MPI_File_close(&file);
}

/* ---- sizes, modes, hints, views and error handlers ---- */

static int handled;

static void handler(MPI_File *file, int *error, ...)
{
  handled += *file != MPI_FILE_NULL && *error == MPI_ERR_READ_ONLY;
}

static void test_questions(void)
{
  char representation[MPI_MAX_DATAREP_STRING], hint[10] = "";
  int amode, atomic = 1, members, flag, same = rank;
  MPI_Offset size, displacement, place;
  MPI_Aint extent;
  MPI_Datatype etype, filetype, pairs;
  MPI_Group group;
  MPI_Info info, used;
  MPI_Errhandler errors, found;
  MPI_File file = open_file(MPI_COMM_WORLD, "questions", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File_set_size(file, 100);
  MPI_File_preallocate(file, 50);
  MPI_File_preallocate(file, 120);
  MPI_File_get_size(file, &size);
  expect(size == 120, "preallocate");
  MPI_File_set_size(file, 10);
  MPI_File_get_size(file, &size);
  expect(size == 10, "set_size");
  MPI_File_get_amode(file, &amode);
  MPI_File_get_group(file, &group);
  MPI_Group_size(group, &members);
  MPI_Group_free(&group);
  expect(amode == (MPI_MODE_CREATE | MPI_MODE_RDWR) && members == ranks, "get_group");
  expect(MPI_File_set_atomicity(file, 1) != MPI_SUCCESS, "atomic mode is refused");
  MPI_File_set_atomicity(file, 0);
  MPI_File_get_atomicity(file, &atomic);
  expect(!atomic, "get_atomicity");
  MPI_Info_create(&info);
  MPI_Info_set(info, "hint", "value");
  MPI_File_set_info(file, info);
  MPI_File_get_info(file, &used);
  MPI_Info_get(used, "hint", 9, hint, &flag);
  expect(flag && strcmp(hint, "value") == 0, "get_info");
  MPI_Info_free(&info);
  MPI_Info_free(&used);
  MPI_Type_vector(2, 1, 2, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  MPI_File_set_view(file, 4, MPI_INT, pairs, "native", MPI_INFO_NULL);
  MPI_File_get_view(file, &displacement, &etype, &filetype, representation);
  expect(displacement == 4 && etype == MPI_INT && filetype == pairs &&
             strcmp(representation, "native") == 0,
         "get_view");
  MPI_File_get_byte_offset(file, 3, &place);
  MPI_File_get_type_extent(file, pairs, &extent);
  expect(place == 4 + 12 + 8 && extent == 12, "get_byte_offset");
  MPI_Type_free(&pairs);
  expect(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL) ==
             MPI_ERR_UNSUPPORTED_DATAREP,
         "representations but native are refused");
  MPI_File_close(&file);
  file = open_file(MPI_COMM_WORLD, "questions", MPI_MODE_RDONLY);
  MPI_File_create_errhandler(handler, &errors);
  MPI_File_set_errhandler(file, errors);
  MPI_File_get_errhandler(file, &found);
  expect(found == errors && file == MPI_File_f2c(MPI_File_c2f(file)), "get_errhandler");
  handled = 0;
  MPI_File_write_at(file, 0, &same, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_call_errhandler(file, MPI_ERR_READ_ONLY);
  expect(handled == 2, "its error handler is called");
  MPI_Errhandler_free(&errors);
  MPI_File_close(&file);
  char path[1000];
  snprintf(path, sizeof path, "%s/questions", folder);
  amode = rank == 0 ? MPI_MODE_RDONLY : MPI_MODE_RDWR;
  expect(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file) == MPI_ERR_NOT_SAME,
         "modes differ");
  expect(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL,
                       &file) == MPI_ERR_AMODE,
         "no such mode");
}

/* ---- the files at the end, read without MPI-IO ---- */

static int number_at(const char *name, long place)
{
  char path[1000];
  int found = -1;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, place, SEEK_SET) != 0 || fread(&found, sizeof found, 1, file) != 1)
    found = -1;
  if (file)
    fclose(file);
  return found;
}

static void check_files(int rounds)
{
  int width = ranks * BLOCK, last = rounds - 1;
  for (int i = 0; i < ROWS * width; i++) {
    int row = i / width, from = i % width / BLOCK, at = row * BLOCK + i % BLOCK;
    expect(number_at("matrix", 8 + 4L * i) == value(from, last, at), "the first matrix");
    for (int round = 0; round < rounds; round++)
      expect(number_at("matrix", 8 + 4L * ((round + 1) * ROWS * width + i)) ==
                 -value(from, round, at),
             "the matrix of a round");
  }
  expect(number_at("matrix", 8 + 4L * (rounds + 1) * ROWS * width) == -1, "its size");
  for (int i = 0; i < 4 * ranks; i++) {
    expect(number_at("pointers", 4L * i) == value(i / 4, last, i % 4), "pointers");
    expect(number_at("later", 4L * i) == value(i % ranks, last, 0), "later");
  }
  for (int i = 0, place = 0; i < ranks; i++)
    for (int k = 0; k <= i; k++)
      expect(number_at("ordered", 4L * place++) == value(i, last, k), "ordered");
}

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : 1, all;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  folder = argc > 2 ? argv[2] : ".";
  next = (rank + 1) % ranks;
  if (ranks > RANKS_MAX)
    MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_File matrix = open_file(MPI_COMM_WORLD, "matrix", MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (round_number = 0; round_number < rounds; round_number++) {
    smpi_execute_benched(5e-4 * (1 + (rank * 7 + round_number) % ranks));
    test_matrix(matrix);
    smpi_execute_benched(5e-4);
    test_types();
    test_pointers();
    test_shared_pointer();
    smpi_execute_benched(5e-4);
    test_own();
    test_later();
    test_questions();
  }
  MPI_File_close(&matrix);
  if (rank == 0)
    check_files(rounds);
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d rounds, %d failures, %s\n", rounds, all, all ? "FAIL" : "PASS");
  MPI_Finalize();
  return all != 0;
}
