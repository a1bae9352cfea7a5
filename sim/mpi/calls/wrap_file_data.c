/* Defines calls of MPI-IO that read and write. Each rank writes by itself (file_store.h). So a
 * collective access consists of one access by each member, and synchronizes the file after writes
 * and before reads. Nonblocking and split accesses are complete when their first call returns. */
#include "sim/host/rank/buffers.h"
#include "sim/host/rank/request.h"
#include "sim/mpi/files/file.h"
#include "sim/mpi/layer/p2p.h"
#include "sim/mpi/layer/wrap.h"

#include <errno.h>
#include <string.h>

struct access {
  bool writes;
  void *buffer; /* the program's memory; a write only reads it */
  int count;
  MPI_Datatype type;
  MPI_Status status; /* status that the access sets */
};

static struct access reading(void *buffer, int count, MPI_Datatype type)
{
  return (struct access){.buffer = buffer, .count = count, .type = type};
}

static struct access writing(const void *buffer, int count, MPI_Datatype type)
{
  return (struct access){
      .writes = true, .buffer = (void *)(uintptr_t)buffer, .count = count, .type = type};
}

static int64_t bytes_of(const struct access *access)
{
  return (int64_t)type_bytes(access->type) * access->count;
}

static int64_t etypes_of(const struct file *file, const struct access *access)
{
  return bytes_of(access) / file->view.etype_bytes;
}

static int refusal(const struct file *file, const struct access *access, int64_t at)
{
  if (access->count < 0)
    return MPI_ERR_COUNT;
  if (at < 0)
    return MPI_ERR_ARG;
  if (access->writes && file->amode & MPI_MODE_RDONLY)
    return MPI_ERR_READ_ONLY;
  if (!access->writes && file->amode & MPI_MODE_WRONLY)
    return MPI_ERR_ACCESS;
  if (bytes_of(access) > INT_MAX)
    return MPI_ERR_COUNT;
  return bytes_of(access) % file->view.etype_bytes ? MPI_ERR_IO : MPI_SUCCESS;
}

/* ---- the access of one rank ---- */

/* Copies between items of the program and packed bytes. Uses the places of the type's data, not
 * MPI_Pack: if the file has only a part of an item, the item is filled as far as possible. */
static void copy_items(const struct access *access, char *packed, int64_t bytes)
{
  GArray *list = type_segments(access->type, access->count);
  for (guint i = 0; i < list->len && bytes > 0; i++) {
    struct segment part = g_array_index(list, struct segment, i);
    size_t length = (size_t)MIN(part.bytes, bytes);
    char *item = (char *)access->buffer + part.offset;
    memcpy(access->writes ? packed : item, access->writes ? item : packed, length);
    packed += length;
    bytes -= part.bytes;
  }
  g_array_unref(list);
}

static void write_data(struct file *file, const struct access *access, const GArray *parts)
{
  const struct segment *segments = (const struct segment *)(const void *)parts->data;
  if (plain_bytes(access->type) > 0) {
    store_write(&file->standing, segments, (int)parts->len, access->buffer);
    return;
  }
  char *packed = g_malloc((gsize)bytes_of(access));
  copy_items(access, packed, bytes_of(access));
  store_write(&file->standing, segments, (int)parts->len, packed);
  g_free(packed);
}

static int64_t read_data(struct file *file, const struct access *access, const GArray *parts)
{
  const struct segment *segments = (const struct segment *)(const void *)parts->data;
  if (plain_bytes(access->type) > 0)
    return store_read(&file->standing, segments, (int)parts->len, access->buffer);
  char *packed = g_malloc((gsize)bytes_of(access));
  int64_t got = store_read(&file->standing, segments, (int)parts->len, packed);
  copy_items(access, packed, got);
  g_free(packed);
  return got;
}

/* Accesses the file from etype number `at` on. If it returns an MPI error, it has done nothing. */
static int access_at(struct file *file, struct access *access, int64_t at)
{
  int error = refusal(file, access, at);
  int64_t bytes = error ? 0 : bytes_of(access);
  request_empty_status(&access->status);
  if (bytes == 0)
    return error;
  GArray *parts = view_map(&file->view, at * file->view.etype_bytes, bytes);
  if (access->writes)
    write_data(file, access, parts);
  else
    bytes = read_data(file, access, parts);
  g_array_unref(parts);
  if (bytes < 0)
    return file_class(errno);
  access->status.count = (int)bytes;
  return MPI_SUCCESS;
}

static int access_next(struct file *file, struct access *access)
{
  int error = access_at(file, access, file->position);
  file->position += access->status.count / file->view.etype_bytes;
  return error;
}

/* Ends an access of one rank. If no other rank has the file open, each write synchronizes the
 * file. */
static int end_alone(struct rank *r, struct file *file, const struct access *access, int error)
{
  if (!error && access->writes && file->comm->size == 1) {
    store_settle(&file->standing);
    store_advance(&file->standing);
  }
  return file_error(r, file, error);
}

static int finish(MPI_Status *status, const struct access *access, int error)
{
  if (status != MPI_STATUS_IGNORE)
    *status = access->status;
  return error;
}

static int at_alone(struct rank *r, struct file *file, int64_t at, struct access access,
                    MPI_Status *status)
{
  int error = end_alone(r, file, &access, access_at(file, &access, at));
  return finish(status, &access, error);
}

static int next_alone(struct rank *r, struct file *file, struct access access, MPI_Status *status)
{
  int error = end_alone(r, file, &access, access_next(file, &access));
  return finish(status, &access, error);
}

WRAP_CALL(File_read_at, (file, at, buffer, count, type, status),
          at_alone(r, file_of(r, file), at, reading(buffer, count, type), status))
WRAP_CALL(File_write_at, (file, at, buffer, count, type, status),
          at_alone(r, file_of(r, file), at, writing(buffer, count, type), status))
WRAP_CALL(File_read, (file, buffer, count, type, status),
          next_alone(r, file_of(r, file), reading(buffer, count, type), status))
WRAP_CALL(File_write, (file, buffer, count, type, status),
          next_alone(r, file_of(r, file), writing(buffer, count, type), status))

/* ---- nonblocking: complete at once, but the program has to ask ---- */

static int later(struct rank *r, const struct access *access, int error, MPI_Request *handle)
{
  *handle = MPI_REQUEST_NULL;
  if (error)
    return error;
  struct request *request = p2p_whole(r, 0);
  request->status = access->status;
  request->done = true;
  return began(request, handle);
}

static int at_later(struct rank *r, struct file *file, int64_t at, struct access access,
                    MPI_Request *request)
{
  int error = end_alone(r, file, &access, access_at(file, &access, at));
  return later(r, &access, error, request);
}

static int next_later(struct rank *r, struct file *file, struct access access, MPI_Request *request)
{
  int error = end_alone(r, file, &access, access_next(file, &access));
  return later(r, &access, error, request);
}

#define LATER_AT_CALL(NAME, ACCESS)                                                                \
  WRAP_CALL(NAME, (file, at, buffer, count, type, request),                                        \
            at_later(r, file_of(r, file), at, ACCESS(buffer, count, type), request))
#define LATER_CALL(NAME, ACCESS)                                                                   \
  WRAP_CALL(NAME, (file, buffer, count, type, request),                                            \
            next_later(r, file_of(r, file), ACCESS(buffer, count, type), request))

LATER_AT_CALL(File_iread_at, reading)
LATER_AT_CALL(File_iwrite_at, writing)
LATER_AT_CALL(File_iread_at_all, reading)
LATER_AT_CALL(File_iwrite_at_all, writing)
LATER_CALL(File_iread, reading)
LATER_CALL(File_iwrite, writing)
LATER_CALL(File_iread_all, reading)
LATER_CALL(File_iwrite_all, writing)

/* ---- of all members ---- */

/* Makes a collective access. Every member takes part to the end, even if the access of a member is
 * refused. */
static int together(struct rank *r, struct file *file, int64_t at, bool next, struct access access,
                    MPI_Status *status)
{
  int failed = access.writes ? MPI_SUCCESS : file_synchronize(r, file, 0, NULL);
  int error = failed ? failed : (next ? access_next(file, &access) : access_at(file, &access, at));
  if (access.writes)
    failed = file_synchronize(r, file, 0, NULL);
  return finish(status, &access, file_error(r, file, error ? error : failed));
}

WRAP_CALL(File_read_at_all, (file, at, buffer, count, type, status),
          together(r, file_of(r, file), at, false, reading(buffer, count, type), status))
WRAP_CALL(File_write_at_all, (file, at, buffer, count, type, status),
          together(r, file_of(r, file), at, false, writing(buffer, count, type), status))
WRAP_CALL(File_read_all, (file, buffer, count, type, status),
          together(r, file_of(r, file), 0, true, reading(buffer, count, type), status))
WRAP_CALL(File_write_all, (file, buffer, count, type, status),
          together(r, file_of(r, file), 0, true, writing(buffer, count, type), status))

/* Makes a collective access from the shared pointer on: the parts of the members follow each other
 * by rank. */
static int in_order(struct rank *r, struct file *file, struct access access, MPI_Status *status)
{
  int error = refusal(file, &access, 0), members = file->comm->size;
  int64_t *counts = rank_alloc(r, (size_t)members * sizeof *counts);
  int failed = file_synchronize(r, file, error ? 0 : etypes_of(file, &access), counts);
  if (!error)
    error = failed;
  int64_t pointer = failed ? 0 : file_shared(file);
  for (int i = 0; i < members && !failed; i++) {
    if (i == file->comm->rank && !error)
      error = access_at(file, &access, pointer);
    pointer += counts[i];
  }
  if (!failed)
    file_move_shared(file, pointer);
  rank_free(counts);
  return finish(status, &access, end_alone(r, file, &access, error));
}

WRAP_CALL(File_read_ordered, (file, buffer, count, type, status),
          in_order(r, file_of(r, file), reading(buffer, count, type), status))
WRAP_CALL(File_write_ordered, (file, buffer, count, type, status),
          in_order(r, file_of(r, file), writing(buffer, count, type), status))

/* ---- the first who comes ---- */

static int access_shared(struct rank *r, struct file *file, struct access *access)
{
  int error = refusal(file, access, 0);
  if (!error)
    error = access_at(file, access, file_take_shared(r, file, etypes_of(file, access)));
  return end_alone(r, file, access, error);
}

static int shared_alone(struct rank *r, struct file *file, struct access access, MPI_Status *status)
{
  int error = access_shared(r, file, &access);
  return finish(status, &access, error);
}

static int shared_later(struct rank *r, struct file *file, struct access access,
                        MPI_Request *request)
{
  int error = access_shared(r, file, &access);
  return later(r, &access, error, request);
}

WRAP_CALL(File_read_shared, (file, buffer, count, type, status),
          shared_alone(r, file_of(r, file), reading(buffer, count, type), status))
WRAP_CALL(File_write_shared, (file, buffer, count, type, status),
          shared_alone(r, file_of(r, file), writing(buffer, count, type), status))
WRAP_CALL(File_iread_shared, (file, buffer, count, type, request),
          shared_later(r, file_of(r, file), reading(buffer, count, type), request))
WRAP_CALL(File_iwrite_shared, (file, buffer, count, type, request),
          shared_later(r, file_of(r, file), writing(buffer, count, type), request))

/* ---- in two calls ---- */

enum way { AT, NEXT, ORDERED };

static int begin_split(struct rank *r, struct file *file, enum way way, int64_t at,
                       struct access access)
{
  if (file->split)
    return file_error(r, file, MPI_ERR_OTHER);
  file->split = true;
  if (way == ORDERED)
    return in_order(r, file, access, &file->status);
  return together(r, file, at, way == NEXT, access, &file->status);
}

static int end_split(struct rank *r, struct file *file, MPI_Status *status)
{
  if (!file->split)
    return file_error(r, file, MPI_ERR_OTHER);
  file->split = false;
  if (status != MPI_STATUS_IGNORE)
    *status = file->status;
  return MPI_SUCCESS;
}

WRAP_CALL(File_read_at_all_begin, (file, at, buffer, count, type),
          begin_split(r, file_of(r, file), AT, at, reading(buffer, count, type)))
WRAP_CALL(File_write_at_all_begin, (file, at, buffer, count, type),
          begin_split(r, file_of(r, file), AT, at, writing(buffer, count, type)))

#define SPLIT_CALL(NAME, WAY, ACCESS)                                                              \
  WRAP_CALL(NAME, (file, buffer, count, type),                                                     \
            begin_split(r, file_of(r, file), WAY, 0, ACCESS(buffer, count, type)))

SPLIT_CALL(File_read_all_begin, NEXT, reading)
SPLIT_CALL(File_write_all_begin, NEXT, writing)
SPLIT_CALL(File_read_ordered_begin, ORDERED, reading)
SPLIT_CALL(File_write_ordered_begin, ORDERED, writing)

#define END_CALL(NAME, ARGUMENTS) WRAP_CALL(NAME, ARGUMENTS, end_split(r, file_of(r, file), status))

END_CALL(File_read_at_all_end, (file, buffer, status))
END_CALL(File_write_at_all_end, (file, buffer, status))
END_CALL(File_read_all_end, (file, buffer, status))
END_CALL(File_write_all_end, (file, buffer, status))
END_CALL(File_read_ordered_end, (file, buffer, status))
END_CALL(File_write_ordered_end, (file, buffer, status))
