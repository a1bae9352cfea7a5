/* Keeps checkpoints on stable storage: a folder that all processes reach.
 *
 *     committed                        the record: protocol, processes, checkpoint
 *     checkpoint-N.rank-R-of-P.image   data that process R of P protects, state and slots of its
 *                                      protocol
 *     checkpoint-N.rank-R-of-P.log     state and slots alone, as they were later
 *
 * A file is written under a temporary name, synced and renamed, so a process may be killed at
 * any moment. A capture writes the program's data at once, to a file that the store completes
 * later. Numbers are in the machine's byte order. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/breach.h"
#include "base/file_bytes.h"
#include "base/memory.h"
#include "mpi/real_inside.h"

enum { NAME = 4096 };

static const uint64_t MAGIC = UINT64_C(0x32747261706c6372), END = UINT64_C(0x646e65);

/* Describes the head of an image or a log. */
struct head {
  uint64_t magic;
  int32_t rank, ranks;
  uint32_t checkpoint, part;
  uint32_t place, receives, calls, finished; /* the values of these numbers at the capture */
  uint32_t regions;
  uint32_t iteration; /* number of the last iteration that began, or 0 if there is none */
  struct real_combination combined;
};

/* The head of the rest of an image or a log, which has the state of the protocol and of the
 * host. */
struct tail_head {
  uint64_t state_bytes;
  uint32_t pieces, slots, posted, delivered;
};

struct saved_message {
  uint32_t slot;
  int32_t peer, comm, tag;
  uint32_t words[RCL_WORDS];
  uint32_t request, done; /* for a receive: its number, and whether it is done */
  int32_t source, sent_tag;
  uint32_t pad;
  uint64_t size;
};

/* ---- names ---- */

static void name_part_of(char name[NAME], uint32_t checkpoint, enum rcl_part part, int rank,
                         int ranks)
{
  snprintf(name, NAME, "%s/checkpoint-%u.rank-%d-of-%d.%s", real.options.folder, checkpoint, rank,
           ranks, part == RCL_PART_IMAGE ? "image" : "log");
}

static void name_part(char name[NAME], uint32_t checkpoint, enum rcl_part part)
{
  name_part_of(name, checkpoint, part, real.rank, real.ranks);
}

static void name_record(char name[NAME])
{
  snprintf(name, NAME, "%s/committed", real.options.folder);
}

static _Noreturn void cannot(const char *name)
{
  real_die(64, OUTPUT_CANNOT, name, strerror(errno));
}

/* Makes the names in the folder durable. */
static void sync_folder(void)
{
  int folder = open(real.options.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0 || fsync(folder) || close(folder))
    cannot(real.options.folder);
}

/* ---- writing ---- */

static uint32_t put_message(FILE *file, const struct real_message *message, struct saved_message s)
{
  s.peer = message->peer;
  s.comm = message->comm;
  s.tag = message->tag;
  memcpy(s.words, message->words, sizeof s.words);
  s.size = message->payload ? message->payload->size : 0;
  file_put(file, &s, sizeof s);
  file_put(file, message->payload ? message->payload->bytes : NULL, s.size);
  return 1;
}

static uint32_t put_receives(FILE *file)
{
  uint32_t count = 0;
  for (const struct real_receive *r = real.posted; r; r = r->next) {
    const struct real_message as = {
        .peer = r->peer, .comm = r->comm, .tag = r->tag, .payload = r->payload};
    count += put_message(
        file, &as,
        (struct saved_message){
            .request = r->request, .done = r->done, .source = r->source, .sent_tag = r->sent_tag});
  }
  return count;
}

/* Writes messages that were delivered and wait for a receive. There are such messages only below
 * the matching. They belong to the image. */
static uint32_t put_delivered(FILE *file)
{
  uint32_t count = 0;
  for (const struct real_message *m = real.channel.first; m && real_below_matching(); m = m->next)
    count += put_message(file, m, (struct saved_message){0});
  return count;
}

static struct head new_head(uint32_t checkpoint, enum rcl_part part)
{
  return (struct head){.magic = MAGIC,
                       .rank = real.rank,
                       .ranks = real.ranks,
                       .checkpoint = checkpoint,
                       .part = part,
                       .place = real.place,
                       .receives = real.receives,
                       .calls = real.calls - (real.place == REAL_BARRIER),
                       .finished = real.finished,
                       .iteration = real.iteration,
                       .combined = real.combined,
                       .regions = part == RCL_PART_IMAGE ? real.regions : 0};
}

/* Writes the program's part of an image, with the receives and messages that roll back with it. */
void real_storage_capture(void)
{
  char name[NAME];
  name_part(name, real.capturing, RCL_PART_IMAGE);
  real.image = output_open(name);
  if (!real.image)
    cannot(name);
  FILE *file = output_stream(real.image);
  struct head head = new_head(real.capturing, RCL_PART_IMAGE);
  struct tail_head counts = {0};
  file_put(file, &head, sizeof head);
  real_data_save(file);
  long at = ftell(file);
  file_put(file, &counts, sizeof counts);
  counts.posted = put_receives(file);
  counts.delivered = put_delivered(file);
  long end = ftell(file);
  fseek(file, at, SEEK_SET);
  file_put(file, &counts, sizeof counts);
  fseek(file, end, SEEK_SET);
}

/* Writes the part of the protocol's state that is in use, and the protocol's slots. */
static void put_tail(FILE *file)
{
  struct rcl_piece piece[RCL_PIECES];
  struct tail_head head = {.state_bytes = real.protocol->state_size(&real.config),
                           .pieces =
                               rcl_protocol_in_use(real.protocol, &real.config, real.state, piece)};
  for (uint32_t i = 0; i < real.slots; i++)
    head.slots += real.slot[i].full;
  file_put(file, &head, sizeof head);
  for (uint32_t i = 0; i < head.pieces; i++) {
    file_put(file, &piece[i], sizeof piece[i]);
    if (piece[i].bytes > 0)
      file_put(file, (char *)real.state + piece[i].offset, piece[i].bytes);
  }
  for (uint32_t i = 0; i < real.slots; i++)
    if (real.slot[i].full)
      put_message(file, &real.slot[i].message, (struct saved_message){.slot = i + 1});
  file_put(file, &END, sizeof END);
}

static void note_bytes(enum rcl_part part, long bytes)
{
  real.stored_bytes += (uint64_t)bytes;
  if (part == RCL_PART_IMAGE && (uint64_t)bytes > real.image_bytes)
    real.image_bytes = (uint64_t)bytes;
}

void real_storage_store(const struct rcl_action *action)
{
  char name[NAME];
  struct head head = new_head(action->checkpoint, action->part);
  struct output *output = real.image;
  name_part(name, action->checkpoint, action->part);
  if (action->part == RCL_PART_LOG) {
    output = output_open(name);
    if (output)
      file_put(output_stream(output), &head, sizeof head);
  } else {
    real.image = NULL;
  }
  if (!output)
    cannot(name);
  put_tail(output_stream(output));
  note_bytes(action->part, ftell(output_stream(output)));
  if (!output_close(output, true))
    cannot(name);
  sync_folder();
}

/* Removes the files of other numbers of processes, which no start needs any more. */
static void erase_foreign(void)
{
  char pattern[NAME], own[64];
  glob_t found;
  snprintf(pattern, sizeof pattern, "%s/checkpoint-*.rank-*-of-*.*", real.options.folder);
  snprintf(own, sizeof own, "-of-%d.", real.ranks);
  if (!glob(pattern, 0, NULL, &found))
    for (size_t i = 0; i < found.gl_pathc; i++)
      if (!strstr(strrchr(found.gl_pathv[i], '/'), own))
        remove(found.gl_pathv[i]);
  globfree(&found);
}

void real_storage_commit(uint32_t checkpoint)
{
  char name[NAME];
  name_record(name);
  struct output *output = output_open(name);
  if (!output)
    cannot(name);
  fprintf(output_stream(output), "recline-checkpoint 1\nprotocol %s\nranks %d\ncheckpoint %u\n",
          real.protocol->name, real.ranks, checkpoint);
  if (!output_close(output, true))
    cannot(name);
  sync_folder();
  if (real.from)
    erase_foreign();
}

static void remove_part(uint32_t checkpoint, enum rcl_part part)
{
  char name[NAME];
  name_part(name, checkpoint, part);
  if (remove(name) && errno != ENOENT)
    cannot(name);
}

void real_storage_erase(uint32_t checkpoint)
{
  remove_part(checkpoint, RCL_PART_IMAGE);
  remove_part(checkpoint, RCL_PART_LOG);
}

/* ---- clearing ---- */

void real_storage_erase_others(uint32_t checkpoint)
{
  char pattern[NAME], kept[NAME];
  glob_t found;
  snprintf(pattern, sizeof pattern, "%s/checkpoint-*.rank-%d-of-%d.*", real.options.folder,
           real.rank, real.ranks);
  snprintf(kept, sizeof kept, "%s/checkpoint-%u.", real.options.folder, checkpoint);
  if (!glob(pattern, 0, NULL, &found))
    for (size_t i = 0; i < found.gl_pathc; i++)
      if (strncmp(found.gl_pathv[i], kept, strlen(kept)) != 0)
        remove(found.gl_pathv[i]);
  globfree(&found);
}

/* Removes the record only when the trace of each process tells of the end: traces without an end
 * and without a record are those of a run that goes on. */
void real_storage_clear(void)
{
  char name[NAME];
  name_record(name);
  real_wire_agree(0, MPI_MAX);
  if (real.rank == RCL_COORDINATOR_RANK) {
    remove(name);
    erase_foreign();
  }
  real_wire_agree(0, MPI_MAX);
  real_storage_erase_others(RCL_FRESH);
}

/* ---- the record ---- */

/* Returns whether checkpoints of the protocol contain no messages, because no message crosses such
 * a checkpoint. */
static bool keeps_no_message(void)
{
  const struct rcl_place *place = real.protocol->place;
  for (int i = 0; place && i < RCL_PLACE_LOGS; i++)
    if (place->logs[i].what != RCL_LOGGED_NOTHING)
      return false;
  return place && real.protocol->controls;
}

/* Returns the checkpoint in the record, or FRESH if there is no record. Sets the number of
 * processes that have taken the checkpoint. */
static uint32_t read_record(int *ranks)
{
  char name[NAME], protocol[65] = "";
  unsigned checkpoint = 0;
  name_record(name);
  FILE *file = fopen(name, "r");
  if (!file && errno == ENOENT)
    return RCL_FRESH;
  if (!file || fscanf(file, "recline-checkpoint 1 protocol %64s ranks %d checkpoint %u", protocol,
                      ranks, &checkpoint) != 3)
    real_die(64, "%s:1: no record of a checkpoint, expected one that recline has written", name);
  fclose(file);
  if (strcmp(protocol, real.protocol->name) != 0)
    real_die(64, "%s:2: protocol %s, expected %s or another folder", name, protocol,
             real.protocol->name);
  if (*ranks != real.ranks && (*ranks < 1 || real.options.varies))
    real_die(64, "%s:3: checkpoints of %d processes, expected %d or another folder", name, *ranks,
             real.ranks);
  if (*ranks != real.ranks && !keeps_no_message())
    real_die(64,
             "%s:3: checkpoints of %d processes, expected %d, or protocol bookmark or blocking for "
             "another number: messages may cross a checkpoint of %s",
             name, *ranks, real.ranks, protocol);
  return checkpoint;
}

/* ---- reading ---- */

static _Noreturn void damaged(uint32_t checkpoint, enum rcl_part part)
{
  char name[NAME];
  name_part(name, checkpoint, part);
  real_die(64, "%s: is damaged, expected a part of checkpoint %u as it was written", name,
           checkpoint);
}

static bool get_message(FILE *file, struct saved_message *s, struct real_message *message)
{
  if (!file_get(file, s, sizeof *s))
    return false;
  *message = (struct real_message){.peer = (int16_t)s->peer,
                                   .comm = (int16_t)s->comm,
                                   .tag = s->tag,
                                   .payload = real_payload_new(s->size)};
  memcpy(message->words, s->words, sizeof s->words);
  return file_get(file, message->payload->bytes, s->size);
}

static bool get_receives(FILE *file, uint32_t count)
{
  struct saved_message s;
  struct real_message m;
  for (uint32_t i = 0; i < count; i++) {
    if (!get_message(file, &s, &m))
      return false;
    real_restore_receive(&(struct real_receive){.request = s.request,
                                                .peer = m.peer,
                                                .comm = m.comm,
                                                .tag = m.tag,
                                                .from = m.peer,
                                                .from_tag = m.tag,
                                                .done = s.done,
                                                .source = (int16_t)s.source,
                                                .sent_tag = s.sent_tag,
                                                .payload = s.done ? m.payload : NULL});
    if (!s.done)
      real_payload_drop(m.payload);
  }
  return true;
}

static bool get_delivered(FILE *file, uint32_t count)
{
  struct saved_message s;
  for (uint32_t i = 0; i < count; i++) {
    struct real_message *m = memory_grow(NULL, sizeof *m);
    if (!get_message(file, &s, m))
      return false;
    real_append(&real.channel, m);
  }
  return true;
}

/* Reads a piece of the state. A piece of no bytes may lie behind the end of the state
 * (protocol.h). */
static bool get_piece(FILE *file, uint64_t state_bytes)
{
  struct rcl_piece piece;
  if (!file_get(file, &piece, sizeof piece))
    return false;
  return piece.bytes == 0 ||
         (piece.offset <= state_bytes && piece.bytes <= state_bytes - piece.offset &&
          file_get(file, (char *)real.state + piece.offset, piece.bytes));
}

static bool get_tail(FILE *file)
{
  struct tail_head head;
  struct saved_message s;
  uint64_t end;
  bool fine = file_get(file, &head, sizeof head) &&
              head.state_bytes == real.protocol->state_size(&real.config);
  for (uint32_t i = 0; fine && i < head.pieces; i++)
    fine = get_piece(file, head.state_bytes);
  for (uint32_t i = 0; fine && i < head.slots; i++) {
    struct real_message m;
    fine = get_message(file, &s, &m);
    real.now = &m;
    if (fine)
      real_keep(&(struct rcl_action){.slot = s.slot});
    real_payload_drop(m.payload);
  }
  real.now = NULL;
  return fine && file_get(file, &end, sizeof end) && end == END;
}

static bool is_of(const struct head *head, enum rcl_part part)
{
  return head->magic == MAGIC && head->rank == real.rank && head->ranks == real.ranks &&
         head->checkpoint == real.checkpoint && head->part == part;
}

/* Reads an image, but passes over the data, which the program puts back later. */
static bool get_image(FILE *file)
{
  struct head head;
  struct tail_head counts;
  if (!file_get(file, &head, sizeof head) || !is_of(&head, RCL_PART_IMAGE))
    return false;
  real.receives = head.receives;
  real.calls = head.calls;
  real.finished = head.finished;
  real.combined = head.combined;
  real.restart = (enum real_place)head.place;
  struct real_found *found = real_data_find(file, head.regions);
  if (!found)
    return false;
  real_data_keep(file, found, head.regions);
  return file_get(file, &counts, sizeof counts) && get_receives(file, counts.posted) &&
         get_delivered(file, counts.delivered);
}

static bool get_log(FILE *file)
{
  struct head head;
  return file_get(file, &head, sizeof head) && is_of(&head, RCL_PART_LOG) && get_tail(file);
}

/* Loads state and slots from the part that was stored last. That is the log if there is one,
 * otherwise the image. */
void real_storage_load(void)
{
  char name[NAME];
  name_part(name, real.checkpoint, RCL_PART_LOG);
  FILE *log = fopen(name, "r");
  name_part(name, real.checkpoint, RCL_PART_IMAGE);
  FILE *image = fopen(name, "r"); /* stays open for real_data_find() */
  if (!image || !get_image(image) || (!log && !get_tail(image)))
    damaged(real.checkpoint, RCL_PART_IMAGE);
  if (log && !get_log(log))
    damaged(real.checkpoint, RCL_PART_LOG);
  if (log)
    fclose(log);
}

/* ---- images of another number of processes ---- */

static _Noreturn void refuse_others(int owner, const char *what)
{
  real_die(64,
           "%s: process %d of %d, checkpoint %u: %s, expected none of it for another number of "
           "processes",
           real.options.folder, owner, real.from_ranks, real.from, what);
}

/* Opens the image of `owner` and stops at its regions. */
static FILE *open_other(int owner, struct head *head)
{
  char name[NAME];
  name_part_of(name, real.from, RCL_PART_LOG, owner, real.from_ranks);
  if (!access(name, F_OK))
    refuse_others(owner, "a log");
  name_part_of(name, real.from, RCL_PART_IMAGE, owner, real.from_ranks);
  FILE *file = fopen(name, "r");
  if (!file || !file_get(file, head, sizeof *head) || head->magic != MAGIC || head->rank != owner ||
      head->ranks != real.from_ranks || head->checkpoint != real.from)
    real_die(64, "%s: is damaged, expected a part of checkpoint %u as it was written", name,
             real.from);
  return file;
}

/* Returns the regions of an image. The caller frees them. Requires that no message crosses the
 * checkpoint at this process, and that this process was captured at the same place as process 0. */
static struct real_found *find_quiet(int owner, FILE *file, const struct head *head,
                                     const struct head *first)
{
  struct tail_head counts, tail;
  struct real_found *found = real_data_find(file, head->regions);
  bool fine = found && file_get(file, &counts, sizeof counts);
  if (fine && (counts.posted || counts.delivered))
    refuse_others(owner, "a receive that is pending or a message that waits");
  if (!fine || !file_get(file, &tail, sizeof tail))
    real_die(64, "%s: process %d of checkpoint %u: the image ends early, expected it as written",
             real.options.folder, owner, real.from);
  if (tail.slots)
    refuse_others(owner, "a message that the protocol holds");
  if (head->calls != first->calls || head->combined.on)
    refuse_others(owner, "a collective call that others have not made");
  if (head->place != first->place || head->iteration != first->iteration)
    refuse_others(owner, "another place or iteration than process 0");
  return found;
}

static void load_others(void)
{
  struct head first = {0}, head;
  real_redistribute_begin(real.from_ranks);
  for (int owner = 0; owner < real.from_ranks; owner++) {
    FILE *file = open_other(owner, &head);
    first = owner ? first : head;
    real_redistribute_add(owner, file, find_quiet(owner, file, &head, &first), head.regions);
  }
  real.restart = (enum real_place)first.place;
}

void real_storage_begin(void)
{
  uint32_t found[2] = {0};
  if (real.rank == RCL_COORDINATOR_RANK) {
    if (mkdir(real.options.folder, 0777) && errno != EEXIST)
      cannot(real.options.folder);
    output_sweep(real.options.folder);
    int ranks = real.ranks;
    found[0] = read_record(&ranks);
    found[1] = (uint32_t)ranks;
  }
  PMPI_Bcast(found, 2, MPI_UINT32_T, RCL_COORDINATOR_RANK, real_wire_comm());
  bool others = (int)found[1] != real.ranks;
  real.checkpoint = others ? RCL_FRESH : found[0];
  real.from = others ? found[0] : 0;
  real.from_ranks = others ? (int)found[1] : 0;
  real_trace_find_life();
  if (!real.checkpoint && !real.from)
    return;
  enum real_activity before = real_switch(REAL_RESTART);
  if (others)
    load_others();
  else
    real_storage_load();
  real_switch(before);
}
