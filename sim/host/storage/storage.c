#include "sim/host/storage/storage.h"
#include "sim/host/rank/agenda.h"
#include "sim/net/placement.h"

#include "sim/host/rank/communicators.h"
#include "sim/host/rank/node_memory.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/storage/application.h"
#include "sim/host/storage/host_levels.h"
#include "sim/host/storage/server.h"
#include "sim/net/transport.h"

enum { COMMIT_BYTES = 512 }; /* number of bytes of the record of a commit */

static void free_slot(void *data)
{
  struct slot *slot = data;
  payload_drop(slot->payload);
  g_free(slot);
}

static GHashTable *new_slots(void)
{
  return g_hash_table_new_full(NULL, NULL, NULL, free_slot);
}

static void insert_slot(GHashTable *slots, uint32_t number, const struct slot *slot)
{
  struct slot *copy = g_memdup2(slot, sizeof *slot);
  payload_hold(copy->payload);
  g_hash_table_insert(slots, GUINT_TO_POINTER(number), copy);
}

/* Copies the slots. The order of slots in a hash table has no effect on a run.
 */
static GHashTable *copy_slots(GHashTable *slots)
{
  GHashTable *copy = new_slots();
  GHashTableIter iter;
  void *number, *slot;
  g_hash_table_iter_init(&iter, slots);
  while (g_hash_table_iter_next(&iter, &number, &slot))
    insert_slot(copy, GPOINTER_TO_UINT(number), slot);
  return copy;
}

static double slots_bytes(GHashTable *slots)
{
  size_t bytes = 0;
  GHashTableIter iter;
  void *slot;
  g_hash_table_iter_init(&iter, slots);
  while (g_hash_table_iter_next(&iter, NULL, &slot))
    bytes += ((struct slot *)slot)->payload->size;
  return (double)bytes;
}

static void free_record(void *data)
{
  struct record *record = data;
  g_hash_table_unref(record->slots);
  g_free(record);
}

/* Copies a message for an image. When the image is restored, the complete message is there without
 * a transfer. */
static struct message *copy_message(const struct message *message)
{
  struct message *copy = g_memdup2(message, sizeof *message);
  payload_settle(payload_hold(copy->payload));
  copy->self = NULL;
  copy->lane = NULL;
  copy->flight = FLIGHT_NONE;
  copy->in_transit = false;
  copy->eager = false;
  copy->mode = SEND_STANDARD;
  return copy;
}

static void copy_messages(GQueue *to, const GQueue *from)
{
  for (const GList *item = from->head; item; item = item->next)
    g_queue_push_tail(to, copy_message(item->data));
}

static void free_message(void *message)
{
  message_free(message);
}

static void free_capture(void *data)
{
  struct capture *capture = data;
  g_queue_clear_full(&capture->unexpected, free_message);
  sharing_forget(capture);
  image_free(capture->image);
  application_free(capture->saved);
  g_free(capture);
}

void storage_begin(struct rank *r)
{
  r->slots = new_slots();
  r->records = g_ptr_array_new_with_free_func(free_record);
  r->captures = g_ptr_array_new_with_free_func(free_capture);
}

/* ---- slots ---- */

/* number of slots kept so far, which is also the order number of the last slot */
static uint64_t kept;

void storage_keep(struct rank *r, uint32_t slot, const struct message *message, bool waiting,
                  bool sent)
{
  storage_forget(r, slot);
  r->slots_waiting += waiting;
  payload_settle(message->payload);
  insert_slot(r->slots, slot,
              &(struct slot){.payload = message->payload,
                             .tag = message->tag,
                             .source = message->source,
                             .comm = message->comm,
                             .order = ++kept,
                             .waiting = waiting,
                             .sent = sent});
}

const struct slot *storage_waiting(const struct rank *r, int peer, int tag, int comm)
{
  const struct slot *first = NULL;
  GHashTableIter iter;
  void *item;
  if (r->slots_waiting == 0) /* this way a poll does not look through a log of sent messages */
    return NULL;
  g_hash_table_iter_init(&iter, r->slots);
  while (g_hash_table_iter_next(&iter, NULL, &item)) {
    const struct slot *slot = item;
    if (slot->waiting && slot->comm == comm && rcl_matches(peer, tag, slot->source, slot->tag) &&
        (!first || slot->order < first->order))
      first = slot;
  }
  return first;
}

void storage_delivered(struct rank *r, struct slot *slot)
{
  r->slots_waiting -= slot->waiting;
  slot->waiting = false;
}

void storage_forget(struct rank *r, uint32_t slot)
{
  struct slot *forgotten = storage_slot(r, slot);
  if (forgotten)
    storage_delivered(r, forgotten);
  g_hash_table_remove(r->slots, GUINT_TO_POINTER(slot));
}

struct slot *storage_slot(const struct rank *r, uint32_t slot)
{
  return g_hash_table_lookup(r->slots, GUINT_TO_POINTER(slot));
}

/* ---- images ---- */

/* Drops the images of checkpoints from `first` to `last`. */
static void drop_captures(struct rank *r, uint32_t first, uint32_t last)
{
  for (guint i = r->captures->len; i-- > 0;) {
    uint32_t checkpoint = ((struct capture *)r->captures->pdata[i])->checkpoint;
    if (checkpoint >= first && checkpoint <= last)
      g_ptr_array_remove_index(r->captures, i);
  }
}

void storage_captured(struct rank *r, uint32_t checkpoint, struct image *image, struct saved *saved)
{
  double copied = checkpoint == RCL_FRESH ? 0.0 : storage_next_copy(r);
  double rest = checkpoint == RCL_FRESH ? 0.0 : storage_next_bytes(r) - copied;
  drop_captures(r, checkpoint, checkpoint);
  struct capture *capture = g_new0(struct capture, 1);
  *capture = (struct capture){.checkpoint = checkpoint,
                              .iteration = r->iterates ? r->mpi->iteration : 0,
                              .image = image,
                              .saved = saved,
                              .copied = copied,
                              .rest = MAX(rest, 0.0),
                              .time = r->time};
  if (shadow_protocol()->level == RCL_LEVEL_CHANNEL)
    copy_messages(&capture->unexpected, &r->unexpected);
  capture->bytes = saved ? application_bytes(saved) : (double)image_bytes(image) + sharing_bytes(r);
  for (const GList *item = capture->unexpected.head; item; item = item->next)
    capture->bytes += ((const struct message *)item->data)->bytes;
  if (r->mpi->image_bytes > 0.0 && !saved)
    capture->bytes = r->mpi->image_bytes;
  g_ptr_array_add(r->captures, capture);
  sharing_captured(r, capture);
}

const struct capture *storage_capture(const struct rank *r, uint32_t checkpoint)
{
  for (guint i = 0; i < r->captures->len; i++) {
    const struct capture *capture = r->captures->pdata[i];
    if (capture->checkpoint == checkpoint)
      return capture;
  }
  return NULL;
}

double storage_image_bytes(const struct rank *r, uint32_t checkpoint)
{
  if (layer.scenario->checkpoint.bytes > 0.0)
    return layer.scenario->checkpoint.bytes;
  const struct capture *capture = storage_capture(r, checkpoint);
  return capture ? capture->bytes : 0.0;
}

double storage_next_bytes(const struct rank *r)
{
  if (layer.scenario->checkpoint.bytes > 0.0)
    return layer.scenario->checkpoint.bytes;
  if (application_level())
    return application_next_bytes(r);
  if (r->mpi->image_bytes > 0.0)
    return r->mpi->image_bytes;
  uint32_t line = shadow_rank(r->index)->line;
  return storage_image_bytes(r, storage_capture(r, line) ? line : RCL_FRESH);
}

bool storage_copies_iteration(const struct rank *r)
{
  return r->iterates && r->mpi->iteration_bytes > 0.0 && !application_level();
}

double storage_next_copy(const struct rank *r)
{
  return storage_copies_iteration(r) ? r->mpi->iteration_bytes : storage_next_bytes(r);
}

double storage_rest(const struct rank *r, uint32_t checkpoint)
{
  const struct capture *capture = storage_capture(r, checkpoint);
  return capture ? capture->rest : 0.0;
}

/* ---- writes ---- */

struct write {
  struct rank *rank;
  uint32_t checkpoint;
  enum rcl_part part;
  double bytes;
  bool begun, cut, uses_server;
  /* the transfer of the write, or NULL if the write waits for its turn or is just beginning */
  struct transfer *transfer;
};

bool storage_read_bytes(struct rank *r, uint32_t checkpoint, double bytes)
{
  struct step_of_transfer steps[LEVEL_STEPS + 1];
  bool whole = false;
  for (r->reads_again = true; !whole && r->reads_again;) {
    unsigned count = levels_read(r->index, checkpoint, bytes, steps);
    r->reads_server = server_is_in(steps, count);
    r->reads_again = false;
    whole = machine_await(&r->reading, steps, server_await(steps, count));
  }
  r->reads_server = false;
  return whole;
}

bool storage_read(struct rank *r, uint32_t checkpoint)
{
  return checkpoint == RCL_FRESH ||
         storage_read_bytes(r, checkpoint, storage_image_bytes(r, checkpoint));
}

void storage_interrupt_read(struct rank *r)
{
  r->reads_again = false;
  machine_interrupt(&r->reading);
}

static enum rcl_part queue_of(enum rcl_part part)
{
  return shadow_independent() ? part : RCL_PART_IMAGE;
}

static void begin_write(struct rank *r, enum rcl_part queue);

static void write_ended(void *data)
{
  struct write *job = data;
  struct rank *r = job->rank;
  if (!job->cut)
    agenda_tell(r->index, &(struct message){.notice = NOTICE_DURABLE,
                                            .checkpoint = job->checkpoint,
                                            .part = (int)job->part});
  if (!job->cut) { /* another rank, which ran during the notice, may have cut the write */
    layer.result.stored_bytes += (uint64_t)job->bytes;
    g_queue_pop_head(&r->writes[queue_of(job->part)]);
    begin_write(r, queue_of(job->part));
  }
  g_free(job);
}

static void begin_write(struct rank *r, enum rcl_part queue)
{
  struct write *job = g_queue_peek_head(&r->writes[queue]);
  struct step_of_transfer steps[LEVEL_STEPS + 1] = {{.kind = STEP_WRITE,
                                                     .from = node_of(r->index),
                                                     .to = node_service(),
                                                     /* this write goes to the event logger */
                                                     .unsynced = true}};
  unsigned count = 1;
  if (!job)
    return;
  steps[0].bytes = job->bytes;
  if (!shadow_independent() || queue == RCL_PART_IMAGE)
    count = levels_store(r->index, job->checkpoint, job->bytes, steps);
  job->uses_server = server_is_in(steps, count);
  job->begun = true;
  job->transfer = NULL;
  job->transfer =
      machine_transfer(node_of(r->index), steps, server_await(steps, count), write_ended, job);
  if (job->cut &&
      machine_cut(
          job->transfer)) /* while the transfer begins, other ranks run, and a rank may crash */
    g_free(job);
}

/* Returns the number of bytes that are new in the log of a protocol with independent recovery. */
static double log_bytes(struct rank *r)
{
  return (double)shadow_state_increment(r->index, &r->logged);
}

/* Returns the number of bytes that a STORE writes: the protocol's state; the image, if the part is
 * an image; and the slots, unless the STORE is bare. */
static double bytes_of(struct rank *r, const struct rcl_action *store)
{
  if (shadow_independent() && store->part == RCL_PART_LOG)
    return log_bytes(r);
  double state = (double)shadow_state_bytes(r->index) + (store->bare ? 0.0 : slots_bytes(r->slots));
  return store->part == RCL_PART_IMAGE ? storage_image_bytes(r, store->checkpoint) + state : state;
}

static unsigned records_of(const struct rank *r, uint32_t checkpoint, enum rcl_part part)
{
  unsigned count = 0;
  for (guint i = 0; i < r->records->len; i++) {
    const struct record *record = r->records->pdata[i];
    count += record->checkpoint == checkpoint && record->part == part;
  }
  return count;
}

void storage_store(struct rank *r, const struct rcl_action *store)
{
  uint32_t checkpoint = store->checkpoint;
  enum rcl_part part = store->part;
  const struct write *last = g_queue_peek_tail(&r->writes[queue_of(part)]);
  /* The world has already emptied the slots of a rank that crashes within this step. */
  CHECK(shadow_rank(r->index)->phase == RANK_DEAD ||
            g_hash_table_size(r->slots) == shadow_slots(r->index),
        "payloads are kept in the slots that the world has filled");
  CHECK(records_of(r, checkpoint, part) == 0, "each part of a checkpoint is stored once");
  REQUIRE(!last || last->checkpoint <= checkpoint || part == RCL_PART_LOG,
          "images are written in the order of their checkpoints");
  if (part == RCL_PART_IMAGE || !shadow_independent()) { /* otherwise only the state is written */
    struct record *record = g_new0(struct record, 1);
    *record = (struct record){.checkpoint = checkpoint,
                              .part = part,
                              .slots = store->bare ? new_slots() : copy_slots(r->slots)};
    g_ptr_array_add(r->records, record);
  }
  struct write *job = g_new0(struct write, 1);
  *job = (struct write){
      .rank = r, .checkpoint = checkpoint, .part = part, .bytes = bytes_of(r, store)};
  g_queue_push_tail(&r->writes[queue_of(part)], job);
  if (r->writes[queue_of(part)].length == 1)
    begin_write(r, queue_of(part));
}

bool storage_is_awaited(const struct rank *r)
{
  if (layer.scenario->checkpoint.writes == WRITES_BACKGROUND)
    return false;
  for (guint i = 0; i < r->records->len; i++)
    if (!((const struct record *)r->records->pdata[i])->durable)
      return true;
  return false;
}

bool storage_has_begun(int rank, uint32_t checkpoint, enum rcl_part part)
{
  const GQueue *writes = &layer.rank[rank].writes[queue_of(part)];
  for (const GList *item = writes->head; item; item = item->next) {
    const struct write *job = item->data;
    if (job->checkpoint == checkpoint && job->part == part)
      return true;
  }
  return false;
}

static GQueue commits = G_QUEUE_INIT; /* struct commit *, for each commit that is being written */

bool storage_is_writing(void)
{
  for (int rank = 0; rank < layer.ranks; rank++)
    for (int part = 0; part < RCL_PARTS; part++)
      if (!g_queue_is_empty(&layer.rank[rank].writes[part]))
        return true;
  return !g_queue_is_empty(&commits);
}

struct commit {
  uint32_t checkpoint, incarnation, life;
  const char *home;
  struct transfer *transfer;
};

static void commit_ended(void *data)
{
  struct commit *commit = data;
  const struct rank *coordinator = &layer.rank[RCL_COORDINATOR_RANK];
  g_queue_remove(&commits, commit);
  if (commit->incarnation == shadow_global()->incarnation && commit->life == coordinator->life)
    agenda_tell(RCL_COORDINATOR_RANK,
                &(struct message){.notice = NOTICE_COMMITTED, .checkpoint = commit->checkpoint});
  g_free(commit);
}

static void begin_commit(struct commit *commit)
{
  struct step_of_transfer steps[2] = {
      {.kind = STEP_WRITE, .from = commit->home, .to = node_service(), .bytes = COMMIT_BYTES}};
  commit->transfer =
      machine_transfer(commit->home, steps, server_await(steps, 1), commit_ended, commit);
}

void storage_commit(uint32_t checkpoint)
{
  struct commit *commit = g_new0(struct commit, 1);
  *commit = (struct commit){.checkpoint = checkpoint,
                            .incarnation = shadow_global()->incarnation,
                            .life = layer.rank[RCL_COORDINATOR_RANK].life,
                            .home = machine_host()};
  g_queue_push_tail(&commits, commit);
  communicators_commit(checkpoint);
  begin_commit(commit);
}

/* Begins the first write of a queue anew, if the write uses the server. Leaves a write alone if the
 * rank is already being told of its end. */
static void begin_write_anew(struct rank *r, enum rcl_part queue)
{
  GList *first = r->writes[queue].head;
  const struct write *job = first ? first->data : NULL;
  if (!job || !job->uses_server || !job->transfer || !machine_cut(job->transfer))
    return;
  begin_write(r, queue);
}

void storage_begin_anew(void)
{
  for (GList *item = commits.head; item; item = item->next) {
    struct commit *commit = item->data;
    if (machine_cut(commit->transfer))
      begin_commit(commit);
  }
  for (int rank = 0; rank < layer.ranks; rank++) {
    struct rank *r = &layer.rank[rank];
    for (int part = 0; part < RCL_PARTS; part++)
      begin_write_anew(r, (enum rcl_part)part);
    r->reads_again = r->reads_server;
    if (r->reads_server)
      machine_interrupt(&r->reading);
  }
}

void storage_lose_server(void)
{
  for (int rank = 0; shadow_independent() && rank < layer.ranks; rank++) {
    struct rank *r = &layer.rank[rank];
    struct write *job = g_queue_peek_head(&r->writes[RCL_PART_LOG]);
    g_clear_pointer(&r->logged, g_free);
    if (job)
      job->bytes = log_bytes(r);
  }
}

void storage_durable(struct rank *r, uint32_t checkpoint, enum rcl_part part)
{
  for (guint i = 0; i < r->records->len; i++) {
    struct record *record = r->records->pdata[i];
    if (record->checkpoint == checkpoint && record->part == part)
      record->durable = true;
  }
}

void storage_erase(struct rank *r, uint32_t checkpoint)
{
  for (guint i = r->records->len; i-- > 0;) {
    uint32_t of = ((struct record *)r->records->pdata[i])->checkpoint;
    if (of > checkpoint || shadow_holds(r->index, of))
      continue;
    g_ptr_array_remove_index(r->records, i);
    drop_captures(r, of, of);
    if (r->index == RCL_COORDINATOR_RANK)
      communicators_forget(of);
  }
}

/* Ends all writes of a queue. Empties the queue before the first transfer is cut, because a cut
 * lets other ranks run, which may cut the writes of this rank as well. */
static void cut_queue(GQueue *writes)
{
  GList *jobs = writes->head;
  g_queue_init(writes);
  for (GList *item = jobs; item; item = item->next)
    ((struct write *)item->data)->cut = true;
  for (GList *item = jobs; item; item = item->next) {
    struct write *job = item->data;
    if (!job->begun || (job->transfer && machine_cut(job->transfer)))
      g_free(job); /* otherwise the actor of the job frees it */
  }
  g_list_free(jobs);
}

void storage_cut(struct rank *r)
{
  for (int part = 0; part < RCL_PARTS; part++)
    cut_queue(&r->writes[part]);
  for (guint i = r->records->len; i-- > 0;) {
    struct record *record = r->records->pdata[i];
    record->durable = shadow_is_stored(r->index, record->checkpoint, record->part);
    if (!record->durable)
      g_ptr_array_remove_index(r->records, i);
  }
}

/* Forgets later checkpoints. Returns the slots of `checkpoint`: those of its log or, if the
 * checkpoint has no log, those of its image. Returns NULL if the checkpoint has neither. */
static GHashTable *drop_after(struct rank *r, uint32_t checkpoint, bool durable)
{
  GHashTable *slots = NULL;
  for (guint i = r->records->len; i-- > 0;) {
    struct record *record = r->records->pdata[i];
    if (record->checkpoint > checkpoint)
      g_ptr_array_remove_index(r->records, i);
    else if (record->checkpoint == checkpoint && (record->durable || !durable) &&
             (!slots || record->part == RCL_PART_LOG))
      slots = record->slots;
  }
  if (checkpoint < UINT32_MAX)
    drop_captures(r, checkpoint + 1, UINT32_MAX);
  return slots;
}

static gint by_order(gconstpointer a, gconstpointer b, gpointer slots)
{
  const struct slot *x = g_hash_table_lookup(slots, a), *y = g_hash_table_lookup(slots, b);
  return (x->order > y->order) - (x->order < y->order);
}

void storage_each_payload(const struct rank *r, uint32_t checkpoint,
                          void (*visit)(void *data, enum rcl_part, uint32_t number,
                                        const struct slot *),
                          void *data)
{
  const struct record *of = NULL;
  for (guint i = 0; i < r->records->len; i++) {
    const struct record *record = r->records->pdata[i];
    if (record->checkpoint == checkpoint && record->durable &&
        (!of || record->part == RCL_PART_LOG))
      of = record;
  }
  g_autoptr(GList) numbers = of ? g_hash_table_get_keys(of->slots) : NULL;
  numbers = g_list_sort_with_data(numbers, by_order, of ? of->slots : NULL);
  for (const GList *item = numbers; item; item = item->next)
    visit(data, of->part, GPOINTER_TO_UINT(item->data), g_hash_table_lookup(of->slots, item->data));
}

void storage_adopt(struct rank *r, uint32_t checkpoint, enum rcl_part part, struct saved *saved)
{
  struct capture *capture = g_new0(struct capture, 1);
  *capture =
      (struct capture){.checkpoint = checkpoint, .saved = saved, .bytes = application_bytes(saved)};
  g_ptr_array_add(r->captures, capture);
  struct record *record = g_new0(struct record, 1);
  *record = (struct record){
      .checkpoint = checkpoint, .part = part, .durable = true, .slots = new_slots()};
  g_ptr_array_add(r->records, record);
}

void storage_adopt_payload(struct rank *r, uint32_t number, const struct slot *slot)
{
  const struct record *record = r->records->pdata[r->records->len - 1];
  struct slot adopted = *slot;
  adopted.order = ++kept;
  insert_slot(record->slots, number, &adopted);
}

/* Replaces the rank's slots by a copy of `slots`, or removes them if `slots` is NULL. */
static void restore_slots(struct rank *r, GHashTable *slots)
{
  GHashTable *restored = slots ? copy_slots(slots) : new_slots();
  g_hash_table_unref(r->slots);
  r->slots = restored;
  r->slots_waiting = 0;
  GHashTableIter iter;
  void *slot;
  g_hash_table_iter_init(&iter, restored);
  while (g_hash_table_iter_next(&iter, NULL, &slot))
    r->slots_waiting += ((const struct slot *)slot)->waiting;
}

void storage_return_to(struct rank *r, uint32_t checkpoint)
{
  restore_slots(r, drop_after(r, checkpoint, true));
  GHashTableIter iter;
  void *slot;
  g_hash_table_iter_init(&iter, r->slots);
  while (g_hash_table_iter_next(&iter, NULL, &slot))
    ((struct slot *)slot)->waiting = true; /* all messages in a log will be received again */
  r->slots_waiting = g_hash_table_size(r->slots);
  const struct capture *capture = storage_capture(r, checkpoint);
  if (capture)
    copy_messages(&r->unexpected, &capture->unexpected);
}

/* Cuts the writes of images after that checkpoint. These writes are the last ones of the queue,
 * because checkpoint numbers rise. */
static void cut_images_after(struct rank *r, uint32_t checkpoint)
{
  GQueue *writes = &r->writes[RCL_PART_IMAGE], keep = G_QUEUE_INIT;
  struct write *job;
  while ((job = g_queue_peek_head(writes)) && job->checkpoint <= checkpoint)
    g_queue_push_tail(&keep, g_queue_pop_head(writes));
  if (g_queue_is_empty(&keep)) {
    cut_queue(writes);
    return;
  }
  g_queue_clear_full(writes, g_free); /* none of these writes has begun */
  *writes = keep;
}

void storage_set_back(struct rank *r, uint32_t checkpoint, bool died)
{
  cut_images_after(r, checkpoint);
  GHashTable *slots = drop_after(r, checkpoint, false);
  if (died)
    restore_slots(r, slots);
}
