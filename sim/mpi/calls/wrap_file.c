/* Defines calls of MPI-IO: opening, closing, sizes, views, pointers. SMPI's own calls move no
 * bytes. A call costs the messages by which the members synchronize. Storage takes no time, as it
 * takes none for files that a program writes in other ways. */
#include "sim/host/output/held_output.h"
#include "sim/host/storage/application.h"
#include "sim/mpi/collectives/collectives.h"
#include "sim/mpi/files/file.h"
#include "sim/mpi/fortran/fortran.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/types/datatype.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- errors ---- */

int file_class(int error)
{
  switch (error) {
  case 0:
    return MPI_SUCCESS;
  case ENOENT:
    return MPI_ERR_NO_SUCH_FILE;
  case EEXIST:
    return MPI_ERR_FILE_EXISTS;
  case EACCES:
  case EPERM:
    return MPI_ERR_ACCESS;
  case EROFS:
    return MPI_ERR_READ_ONLY;
  case ENAMETOOLONG:
  case EISDIR:
  case ENOTDIR:
    return MPI_ERR_BAD_FILE;
  case ENOSPC:
    return MPI_ERR_NO_SPACE;
  default:
    return MPI_ERR_IO;
  }
}

int file_error(struct rank *r, struct file *file, int error)
{
  MPI_Errhandler errors = file ? file->errors : r->mpi->file_errors;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  if (error != MPI_SUCCESS && errors == MPI_ERRORS_ARE_FATAL) {
    MPI_Error_string(error, text, &length);
    die(DIE_INPUT, "rank %d: %s", r->index, text);
  }
  if (error != MPI_SUCCESS && errors)
    errors_call_of_files(r, errors, file ? file_handle(file) : MPI_FILE_NULL, error);
  return error;
}

static int set_handler(MPI_Errhandler *where, MPI_Errhandler handler)
{
  *where = handler == MPI_ERRORS_RETURN ? NULL : handler;
  return MPI_SUCCESS;
}

static MPI_Errhandler *handler_of(struct rank *r, MPI_File file)
{
  return file == MPI_FILE_NULL ? &r->mpi->file_errors : &file_of(r, file)->errors;
}

LOOK_UP_CALL(File_set_errhandler, (file, handler), set_handler(handler_of(r, file), handler))

static int get_handler(MPI_Errhandler errors, MPI_Errhandler *handler)
{
  *handler = errors ? errors : MPI_ERRORS_RETURN;
  return MPI_SUCCESS;
}

LOOK_UP_CALL(File_get_errhandler, (file, handler), get_handler(*handler_of(r, file), handler))

static int raise_error(struct rank *r, struct file *file, int error)
{
  file_error(r, file, error);
  return MPI_SUCCESS;
}

WRAP_CALL(File_call_errhandler, (file, error), raise_error(r, file_of(r, file), error))

/* ---- versions ---- */

int file_synchronize(struct rank *r, struct file *file, int64_t own, int64_t *told)
{
  size_t members = (size_t)file->comm->size;
  int64_t *all = rank_alloc(r, (members + 1) * sizeof *all);
  all[members] = own;
  int error = collective_allgather(r, &all[members], sizeof own, MPI_BYTE, all, sizeof own,
                                   MPI_BYTE, file->comm);
  if (!error && told)
    memcpy(told, all, members * sizeof *told);
  rank_free(all);
  return error;
}

void files_restored(struct rank *r)
{
  store_forget(r->index);
  for (struct file *file = r->mpi->files; file; file = file->next)
    store_hold(&file->standing);
  store_unwind();
}

/* ---- opening and closing ---- */

static bool is_mode(int amode)
{
  int access = amode & (MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY);
  bool makes = amode & (MPI_MODE_CREATE | MPI_MODE_EXCL);
  return (access == MPI_MODE_RDONLY && !makes) || access == MPI_MODE_WRONLY ||
         (access == MPI_MODE_RDWR && !(amode & MPI_MODE_SEQUENTIAL));
}

static unsigned store_modes(int amode)
{
  return (amode & MPI_MODE_CREATE ? STORE_MAKE : 0U) | (amode & MPI_MODE_EXCL ? STORE_NEW : 0U) |
         (amode & MPI_MODE_RDONLY ? 0U : STORE_WRITE);
}

/* Returns the name without the prefix that tells ROMIO the kind of file system. */
static char *whole_path(const char *name)
{
  const char *colon = strchr(name, ':');
  bool prefix = colon && colon > name + 1 && !memchr(name, '/', (size_t)(colon - name));
  return g_canonicalize_filename(prefix ? colon + 1 : name, NULL);
}

/* Makes a file. All members make the file, even if one of them has given another mode. */
static struct file *new_file(struct rank *r, MPI_Comm made, const char *name, int amode)
{
  struct comm *comm = comm_of(r, made);
  struct file *file = rank_alloc(r, sizeof *file);
  g_autofree char *path = whole_path(name);
  *file = (struct file){.comm = comm,
                        .path = rank_alloc(r, strlen(path) + 1),
                        .amode = amode,
                        .errors = r->mpi->file_errors,
                        .info = MPI_INFO_NULL};
  strcpy(file->path, path);
  view_default(r, &file->view);
  return file;
}

/* Sets `*same` to whether all members have given the same mode, before the file is opened. Returns
 * an MPI error or MPI_SUCCESS.
 */
static int agree_on(struct rank *r, const struct file *file, bool *same)
{
  size_t members = (size_t)file->comm->size;
  int *modes = rank_alloc(r, (members + 1) * sizeof *modes);
  modes[members] = file->amode;
  int error = collective_allgather(r, &modes[members], 1, MPI_INT, modes, 1, MPI_INT, file->comm);
  *same = true;
  for (size_t i = 0; i < members && !error; i++)
    *same = *same && modes[i] == file->amode;
  rank_free(modes);
  return error;
}

/* Returns the number of an opening. The communicator may have served an earlier file, so the count
 * of its calls is part of the number. */
static int64_t opening_on(const struct comm *comm)
{
  return ((int64_t)comm->calls << 16) + comm->number;
}

static int open_file(struct rank *r, MPI_Comm handle, const char *name, int amode, MPI_Info info,
                     MPI_File *opened)
{
  MPI_Comm made;
  bool same;
  struct comm *parent = comm_within(r, handle);
  if (application_level())
    die(DIE_INPUT, "rank %d calls MPI_File_open, expected checkpoint.level: system with MPI-IO",
        r->index);
  output_refuse_mpi(r, name);
  *opened = MPI_FILE_NULL;
  int error = comm_split(r, parent, 0, parent->rank, &made);
  if (error)
    return error;
  struct file *file = new_file(r, made, name, amode);
  error = agree_on(r, file, &same);
  if (error)
    return file_error(r, NULL, error);
  if (!same || !is_mode(amode))
    return file_error(r, NULL, same ? MPI_ERR_AMODE : MPI_ERR_NOT_SAME);
  file->standing = (struct standing){.opening = opening_on(file->comm), .rank = r->index};
  file->next = r->mpi->files;
  r->mpi->files = file;
  error = file_class(store_open(file->standing.opening, r->index, file->path, store_modes(amode)));
  file->closed = error != MPI_SUCCESS;
  if (error)
    return file_error(r, NULL, error);
  r->mpi->files_open++;
  if (info != MPI_INFO_NULL)
    MPI_Info_dup(info, &file->info);
  if (amode & MPI_MODE_APPEND)
    file->position = store_size(&file->standing);
  file_move_shared(file, file->position);
  *opened = file_handle(file);
  return MPI_SUCCESS;
}

WRAP_CALL(File_open, (comm, name, amode, info, file), open_file(r, comm, name, amode, info, file))

static int close_file(struct rank *r, MPI_File *handle)
{
  struct file *file = file_of(r, *handle);
  if (file->amode & MPI_MODE_DELETE_ON_CLOSE && file->comm->rank == 0)
    store_end(&file->standing);
  int error = file_synchronize(r, file, 0, NULL);
  file->closed = true;
  r->mpi->files_open--;
  comm_release(r, file->comm);
  *handle = MPI_FILE_NULL;
  return file_error(r, file, error);
}

WRAP_CALL(File_close, (file), close_file(r, file))

/* Returns a number that no opening of a file has. */
static int64_t next_deletion(struct rank *r)
{
  return -(((int64_t)(r->index + 1) << 32) + r->mpi->files_deleted++);
}

/* Begins a change without a handle. Returns the number that stands for its opening. */
static int64_t begin_alone(struct rank *r)
{
  struct file *file = rank_alloc(r, sizeof *file);
  *file = (struct file){.closed = true, .next = r->mpi->files};
  file->standing = (struct standing){.opening = next_deletion(r), .rank = r->index, .version = 1};
  r->mpi->files = file;
  return file->standing.opening;
}

static int delete_file(struct rank *r, const char *name)
{
  g_autofree char *path = whole_path(name);
  return file_error(r, NULL, file_class(store_delete(begin_alone(r), r->index, path)));
}

WRAP_CALL(File_delete, (name, info), delete_file(r, name))

/* ---- calls of libc on these files ---- */

static int finished(int error)
{
  errno = error ? error : errno;
  return error ? -1 : 0;
}

/* Does what unlink() and remove() do, for files that were opened by MPI-IO. Returns false for any
 * other file. */
static bool unlink_file(const char *name, int *result)
{
  struct rank *r = rank_self();
  g_autofree char *path = g_canonicalize_filename(name, NULL);
  if (!r || !store_knows(path))
    return false;
  *result = finished(store_delete(begin_alone(r), r->index, path));
  return true;
}

/* Does what open() does for reading, for any file, because MPI-IO may open the file later. */
static int read_again(const char *name, int flags)
{
  struct rank *r = rank_self();
  g_autofree char *path = r ? g_canonicalize_filename(name, NULL) : NULL;
  return r ? store_read_again(r->index, r->mpi->files_read++, path, flags) : HEAP_AS_IT_IS;
}

void files_begin(bool keeps)
{
  store_begin(keeps);
  heap_reads = keeps ? read_again : NULL;
  heap_unlinks = unlink_file;
}

static int truncate_file(struct rank *r, const char *name, off_t size)
{
  g_autofree char *path = g_canonicalize_filename(name, NULL);
  return finished(store_truncate(begin_alone(r), r->index, path, size));
}

int truncate(const char *name, off_t size)
{
  BEHIND(truncate)
  LOOK_UP(truncate_file(r, name, size), truncate_next(name, size));
}

int truncate64(const char *name, off64_t size)
{
  return truncate(name, size);
}

/* Looks for a file. A rank that goes back before others may find files that the others have made
 * since, or miss files that the others have deleted: such a rank must get the same answer as
 * before. */
static int look(struct rank *r, const char *name, int error)
{
  g_autofree char *path = g_canonicalize_filename(name, NULL);
  return store_look(r->index, r->mpi->files_looked++, path, error);
}

static int look_at(struct rank *r, const char *name, int result)
{
  int error = look(r, name, result < 0 ? errno : 0);
  errno = error ? error : errno;
  return error ? -1 : 0;
}

int access(const char *name, int mode)
{
  BEHIND(access)
  LOOK_UP(look_at(r, name, access_next(name, mode)), access_next(name, mode));
}

/* ---- in Fortran, where names are ---- */

static int open_fortran(struct rank *r, const int *comm, const char *text, size_t length, int amode,
                        const int *info, int *file)
{
  MPI_File opened;
  char *name = rank_alloc(r, length + 1); /* this memory is in the arena, because the call waits */
  memcpy(name, text, length);
  int error = MPI_File_open(fortran_get_comm(r, comm), g_strstrip(name), amode,
                            fortran_get_info(r, info), &opened);
  fortran_put_file(r, file, NULL, opened);
  rank_free(name);
  return error;
}

FORTRAN_CALL(mpi_file_open_,
             (int *comm, char *name, int *amode, int *info, int *file, int *error, size_t length),
             (comm, name, amode, info, file, error, length),
             *error = open_fortran(r, comm, name, length, *amode, info, file))

static int delete_fortran(struct rank *r, const char *text, size_t length, const int *info)
{
  g_autofree char *name = fortran_text(text, length);
  return MPI_File_delete(name, fortran_get_info(r, info));
}

FORTRAN_CALL(mpi_file_delete_, (char *name, int *info, int *error, size_t length),
             (name, info, error, length), *error = delete_fortran(r, name, length, info))

static int set_view_fortran(struct rank *r, const int *file, const MPI_Offset *displacement,
                            const int *etype, const int *filetype, const char *text, size_t length,
                            const int *info)
{
  char *name = rank_alloc(r, length + 1);
  memcpy(name, text, length);
  int error =
      MPI_File_set_view(fortran_get_file(r, file), *displacement, fortran_get_type(r, etype),
                        fortran_get_type(r, filetype), g_strstrip(name), fortran_get_info(r, info));
  rank_free(name);
  return error;
}

FORTRAN_CALL(mpi_file_set_view_,
             (int *file, MPI_Offset *displacement, int *etype, int *filetype, char *name, int *info,
              int *error, size_t length),
             (file, displacement, etype, filetype, name, info, error, length),
             *error = set_view_fortran(r, file, displacement, etype, filetype, name, length, info))

static int get_view_fortran(struct rank *r, const int *file, MPI_Offset *displacement, int *etype,
                            int *filetype, char *name, size_t length)
{
  MPI_Datatype types[2];
  char text[MPI_MAX_DATAREP_STRING];
  int error =
      MPI_File_get_view(fortran_get_file(r, file), displacement, &types[0], &types[1], text);
  fortran_put_type(r, etype, NULL, types[0]);
  fortran_put_type(r, filetype, NULL, types[1]);
  fortran_put_text(name, length, text);
  return error;
}

FORTRAN_CALL(mpi_file_get_view_,
             (int *file, MPI_Offset *displacement, int *etype, int *filetype, char *name,
              int *error, size_t length),
             (file, displacement, etype, filetype, name, error, length),
             *error = get_view_fortran(r, file, displacement, etype, filetype, name, length))

/* ---- sizes ---- */

static int get_size(const struct file *file, MPI_Offset *size)
{
  *size = store_size(&file->standing);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(File_get_size, (file, size), get_size(file_of(r, file), size))

/* Changes the size of the file. All earlier writes of the members come first. */
static int resize(struct rank *r, struct file *file, MPI_Offset size, bool may_cut)
{
  if (file->amode & MPI_MODE_RDONLY)
    return file_error(r, file, MPI_ERR_READ_ONLY);
  if (size < 0)
    return file_error(r, file, MPI_ERR_ARG);
  int error = file_synchronize(r, file, 0, NULL);
  if (!error && file->comm->rank == 0)
    store_resize(&file->standing, size, may_cut);
  if (!error)
    error = file_synchronize(r, file, 0, NULL);
  return file_error(r, file, error);
}

WRAP_CALL(File_set_size, (file, size), resize(r, file_of(r, file), size, true))
WRAP_CALL(File_preallocate, (file, size), resize(r, file_of(r, file), size, false))

static int synchronize(struct rank *r, struct file *file)
{
  return file_error(r, file, file_synchronize(r, file, 0, NULL));
}

WRAP_CALL(File_sync, (file), synchronize(r, file_of(r, file)))

/* Refuses atomic mode, because a rank sees writes of other ranks only after calls that
 * synchronize. */
static int set_atomicity(struct rank *r, struct file *file, int atomic)
{
  if (atomic)
    return file_error(r, file, MPI_ERR_UNSUPPORTED_OPERATION);
  return MPI_SUCCESS;
}

WRAP_CALL(File_set_atomicity, (file, atomic), set_atomicity(r, file_of(r, file), atomic))

static int tell(int *where, int what)
{
  *where = what;
  return MPI_SUCCESS;
}

LOOK_UP_CALL(File_get_atomicity, (file, atomic), ((void)file_of(r, file), tell(atomic, 0)))
LOOK_UP_CALL(File_get_amode, (file, amode), tell(amode, file_of(r, file)->amode))
LOOK_UP_CALL(File_get_group, (file, group),
             MPI_Comm_group(comm_handle(file_of(r, file)->comm), group))

static int set_info(struct file *file, MPI_Info info)
{
  return info == MPI_INFO_NULL ? MPI_SUCCESS : MPI_Info_dup(info, &file->info);
}

LOOK_UP_CALL(File_set_info, (file, info), set_info(file_of(r, file), info))

static int get_info(const struct file *file, MPI_Info *info)
{
  return file->info == MPI_INFO_NULL ? MPI_Info_create(info) : MPI_Info_dup(file->info, info);
}

LOOK_UP_CALL(File_get_info, (file, info), get_info(file_of(r, file), info))

/* ---- views ---- */

static const char NATIVE[] = "native";

/* Sets a view. The call is collective, and moves all pointers to the beginning. */
static int set_view(struct rank *r, struct file *file, MPI_Offset displacement, MPI_Datatype etype,
                    MPI_Datatype filetype, const char *representation, MPI_Info info)
{
  struct view *view = &file->view;
  bool native = g_ascii_strcasecmp(representation, NATIVE) == 0;
  if (displacement == MPI_DISPLACEMENT_CURRENT)
    displacement = view_place(view, file_shared(file) * view->etype_bytes);
  int error =
      native ? view_set(r, view, displacement, etype, filetype) : MPI_ERR_UNSUPPORTED_DATAREP;
  int failed = file_synchronize(r, file, 0, NULL);
  if (error || failed)
    return file_error(r, file, error ? error : failed);
  file->position = 0;
  file_move_shared(file, 0);
  return set_info(file, info);
}

WRAP_CALL(File_set_view, (file, displacement, etype, filetype, representation, info),
          set_view(r, file_of(r, file), displacement, etype, filetype, representation, info))

static int get_view(const struct view *view, MPI_Offset *displacement, MPI_Datatype *etype,
                    MPI_Datatype *filetype, char *representation)
{
  *displacement = view->displacement;
  *etype = view->etype;
  *filetype = view->filetype;
  strcpy(representation, NATIVE);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(File_get_view, (file, displacement, etype, filetype, representation),
             get_view(&file_of(r, file)->view, displacement, etype, filetype, representation))

static int get_extent(struct rank *r, MPI_File file, MPI_Datatype type, MPI_Aint *extent)
{
  file_of(r, file);
  *extent = elements_extent(type);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(File_get_type_extent, (file, type, extent), get_extent(r, file, type, extent))

static int get_place(const struct view *view, MPI_Offset offset, MPI_Offset *place)
{
  *place = view_place(view, offset * view->etype_bytes);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(File_get_byte_offset, (file, offset, place),
             get_place(&file_of(r, file)->view, offset, place))

/* ---- pointers ---- */

/* Moves a pointer. For MPI_SEEK_END, the end of the file is the place of the first etype that is
 * not in the file. Returns MPI_ERR_ARG if the place is before the beginning. */
static int seek(const struct file *file, int64_t *pointer, MPI_Offset offset, int from)
{
  int64_t etype = file->view.etype_bytes, start = 0;
  if (from == MPI_SEEK_CUR)
    start = *pointer;
  else if (from == MPI_SEEK_END)
    start = (view_seen(&file->view, store_size(&file->standing)) + etype - 1) / etype;
  else if (from != MPI_SEEK_SET)
    return MPI_ERR_ARG;
  if (start + offset < 0)
    return MPI_ERR_ARG;
  *pointer = start + offset;
  return MPI_SUCCESS;
}

static int seek_own(struct rank *r, struct file *file, MPI_Offset offset, int from)
{
  return file_error(r, file, seek(file, &file->position, offset, from));
}

WRAP_CALL(File_seek, (file, offset, from), seek_own(r, file_of(r, file), offset, from))

static int tell_pointer(int64_t pointer, MPI_Offset *where)
{
  *where = pointer;
  return MPI_SUCCESS;
}

LOOK_UP_CALL(File_get_position, (file, where), tell_pointer(file_of(r, file)->position, where))

/* Returns whether only collective calls may move the shared pointer. If so, each member has a copy
 * of the pointer, and collective calls move all copies alike. A single rank may move the pointer
 * only in a run in which no rank goes back, because no message decides the order in which ranks
 * move it. In such a run, the store holds the pointer. */

static bool is_for_all(const struct file *file)
{
  return file->comm->size > 1 && strcmp(layer.scenario->protocol.name, "none") == 0;
}

int64_t file_shared(const struct file *file)
{
  return is_for_all(file) ? store_pointer(&file->standing) : file->shared;
}

void file_move_shared(struct file *file, int64_t to)
{
  file->shared = to;
  store_pointer_move(&file->standing, to);
}

int64_t file_take_shared(struct rank *r, struct file *file, int64_t etypes)
{
  if (is_for_all(file))
    return store_pointer_take(&file->standing, etypes);
  if (file->comm->size > 1)
    die(DIE_INPUT,
        "rank %d: MPI_File_read_shared and MPI_File_write_shared are refused under a recovery "
        "protocol: which rank comes first is decided by no message that it sees",
        r->index);
  file->shared += etypes;
  return file->shared - etypes;
}

static int seek_shared(struct rank *r, struct file *file, MPI_Offset offset, int from)
{
  int error = file_synchronize(r, file, 0, NULL);
  int64_t pointer = file_shared(file);
  if (!error)
    error = seek(file, &pointer, offset, from);
  if (!error)
    file_move_shared(file, pointer);
  return file_error(r, file, error);
}

WRAP_CALL(File_seek_shared, (file, offset, from), seek_shared(r, file_of(r, file), offset, from))
static int tell_shared(const struct file *file, MPI_Offset *where)
{
  *where = is_for_all(file) ? store_pointer_take(&file->standing, 0) : file->shared;
  return MPI_SUCCESS;
}

LOOK_UP_CALL(File_get_position_shared, (file, where), tell_shared(file_of(r, file), where))
