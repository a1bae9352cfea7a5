/* Defines partitioned messages (MPI 4). Each partition is sent as a message as soon as it is ready.
 * The message begins with the sender's number of partitions, and with the index of this partition.
 * A receiver may have another number of partitions, but must know how many messages will come. So
 * the first operation of a request is one message, sent when all partitions are ready.
 *
 * Requests with the same peer and tag match in the order in which they are made. So the tag of
 * their messages combines the program's tag with the request's place in that order. Partitioned
 * messages have tags below zero on the hidden half of the communicator; collectives have tags above
 * zero there.
 */
#include "include/mpi/mpi-4.h"
#include "sim/host/step/host.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/p2p.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/p2p/requests.h"
#include "sim/mpi/types/datatype.h"

#include <string.h>

/* PLACES limits the number of requests that exist at a time with one peer and tag. TAGS limits the
 * program's tags. TAG_PARTITIONED is the first tag of messages; further tags count down from it. */
enum { PLACES = 64, TAGS = 1 << 24, TAG_PARTITIONED = -2 };

/* ---- matching ---- */

/* Describes the requests that send to, or receive from, a peer with a tag. */
struct channel {
  bool sends;
  int peer, tag;
  int made;        /* number of requests so far */
  uint64_t in_use; /* bit n is set if the request at place n exists */
  struct channel *next;
};

static struct channel *channel_of(struct rank *r, struct comm *comm, bool sends, int peer, int tag)
{
  struct channel *channel = comm->channels;
  while (channel && (channel->sends != sends || channel->peer != peer || channel->tag != tag))
    channel = channel->next;
  if (channel)
    return channel;
  channel = rank_alloc(r, sizeof *channel);
  *channel = (struct channel){.sends = sends, .peer = peer, .tag = tag, .next = comm->channels};
  return comm->channels = channel;
}

/* Returns the place of a new request. */
static int take_place(const struct rank *r, struct channel *channel)
{
  int place = channel->made++ % PLACES;
  if (channel->in_use & UINT64_C(1) << place)
    die(DIE_INPUT, "rank %d: %s, expected at most %d requests of one peer and tag", r->index,
        layer.call, PLACES);
  channel->in_use |= UINT64_C(1) << place;
  return place;
}

/* ---- requests ---- */

struct partitioned {
  struct recipe recipe;
  struct channel *channel;
  int place;
  char *buffer;
  int partitions, count; /* number of partitions, and number of elements of each */
  MPI_Datatype type;
  int begun;      /* number of operations so far */
  int ready;      /* in a send: number of partitions that are ready */
  bool *is_ready; /* in a send: whether each partition is ready */
  /* in a receive: number of messages of an operation, or 0 if it is not known yet */
  int messages;
  int *come; /* in a receive: for each partition, how many of its bytes are in the buffer */
};

/* Describes the beginning of each message. */
struct head {
  int32_t partitions, first;
};

static struct partitioned *of(const struct request *whole)
{
  return (struct partitioned *)(void *)whole->whole.recipe;
}

static int partition_bytes(const struct partitioned *p)
{
  return p->count * type_bytes(p->type);
}

static void end(struct recipe *recipe)
{
  struct partitioned *p = (struct partitioned *)(void *)recipe;
  p->channel->in_use &= ~(UINT64_C(1) << p->place);
  rank_free(p->is_ready);
  rank_free(p->come);
}

static void begin_sending(struct rank *, struct request *);
static void begin_receiving(struct rank *, struct request *);

static struct request *prepare(struct rank *r, bool sends, void *buffer, int partitions,
                               MPI_Count count, MPI_Datatype type, int peer, int tag,
                               struct comm *comm)
{
  if (partitions < 1 || count < 0 || tag < 0 || tag >= TAGS)
    die(DIE_INPUT,
        "rank %d: %s of %d partitions of %lld elements with tag %d, expected at least one "
        "partition "
        "and a tag below %d",
        r->index, layer.call, partitions, count, tag, TAGS);
  if (count * partitions * type_bytes(type) > INT32_MAX - (int)sizeof(struct head))
    die(DIE_INPUT, "rank %d: %s of more than 2 GiB", r->index, layer.call);
  struct partitioned *p = rank_alloc(r, sizeof *p);
  *p = (struct partitioned){.recipe = {sends ? begin_sending : begin_receiving, end},
                            .channel = channel_of(r, comm, sends, peer, tag),
                            .buffer = buffer,
                            .partitions = partitions,
                            .count = (int)count,
                            .type = type};
  p->place = take_place(r, p->channel);
  p->is_ready = rank_alloc(r, (size_t)partitions * sizeof *p->is_ready);
  p->come = rank_alloc(r, (size_t)partitions * sizeof *p->come);
  struct request *whole = p2p_persistent(r, comm, &p->recipe);
  whole->tag = TAG_PARTITIONED - (tag * PLACES + p->place);
  return whole;
}

/* ---- sending ---- */

static void begin_sending(struct rank *r, struct request *whole)
{
  struct partitioned *p = of(whole);
  whole->whole.missing = p->begun++ ? p->partitions : 1;
  p->ready = 0;
  memset(p->is_ready, 0, (size_t)p->partitions * sizeof *p->is_ready);
  p2p_make_room(r, whole, whole->whole.missing);
}

static void send(struct rank *r, struct request *whole, int first, int partitions)
{
  const struct partitioned *p = of(whole);
  int bytes = partitions * partition_bytes(p), position = 0;
  struct head *message = rank_alloc_unset(r, sizeof *message + (size_t)bytes);
  *message = (struct head){p->partitions, first};
  items_pack(p->buffer + (MPI_Aint)first * p->count * elements_extent(p->type),
             partitions * p->count, p->type, message + 1, bytes, &position);
  whole->whole.missing--;
  p2p_add(whole, p2p_send(r, message, (int)sizeof *message + bytes, MPI_BYTE, p->channel->peer,
                          whole->tag, whole->comm, P2P_HIDDEN | P2P_REUSED));
  rank_free(message);
}

static struct request *sending(const struct rank *r, MPI_Request handle)
{
  struct request *whole = request_of(handle);
  if (!whole || !whole->whole.recipe || whole->whole.recipe->begin != begin_sending ||
      !whole->active)
    die(DIE_INPUT, "rank %d: %s, expected a partitioned send that is started", r->index,
        layer.call);
  return whole;
}

static int mark(struct rank *r, struct request *whole, int partition)
{
  struct partitioned *p = of(whole);
  if (partition < 0 || partition >= p->partitions || p->is_ready[partition])
    die(DIE_INPUT, "rank %d: %s of partition %d, expected one of %d that is not ready yet",
        r->index, layer.call, partition, p->partitions);
  p->is_ready[partition] = true;
  p->ready++;
  if (p->begun > 1)
    send(r, whole, partition, 1);
  else if (p->ready == p->partitions)
    send(r, whole, 0, p->partitions);
  return MPI_SUCCESS;
}

static int mark_list(struct rank *r, struct request *whole, int count, const int *partitions)
{
  for (int i = 0; i < count; i++) {
    host_answer_door(r);
    mark(r, whole, partitions[i]);
  }
  return MPI_SUCCESS;
}

static int mark_range(struct rank *r, struct request *whole, int low, int high)
{
  for (int i = low; i <= high; i++) {
    host_answer_door(r);
    mark(r, whole, i);
  }
  return MPI_SUCCESS;
}

/* ---- receiving ---- */

static void take(struct rank *, struct request *whole, struct request *part);

static void begin_receiving(struct rank *r, struct request *whole)
{
  struct partitioned *p = of(whole);
  int messages = MAX(p->messages, 1);
  p->begun++;
  memset(p->come, 0, (size_t)p->partitions * sizeof *p->come);
  whole->whole.take = take;
  p2p_make_room(r, whole, messages);
  for (int i = 0; i < messages; i++)
    p2p_add(whole, p2p_receive(r, NULL, 0, MPI_BYTE, p->channel->peer, whole->tag, whole->comm,
                               P2P_HIDDEN | P2P_SIZED));
}

/* Describes where a message lies in the buffer, in bytes, and how long it is. */
struct extent {
  int from, bytes;
};

static struct extent extent_of(const struct partitioned *p, const struct request *part)
{
  const struct head *head = part->buffer;
  int all = partition_bytes(p) * p->partitions;
  return (struct extent){all / head->partitions * head->first, part->count - (int)sizeof *head};
}

/* Returns how many bytes of a partition a message contains. */
static int shared(const struct partitioned *p, int partition, struct extent extent)
{
  int bytes = partition_bytes(p), from = partition * bytes;
  int end = MIN(from + bytes, extent.from + extent.bytes);
  return MAX(end - MAX(from, extent.from), 0);
}

static void refuse_others(const struct rank *r, const struct partitioned *p,
                          const struct request *part, struct extent extent)
{
  const struct head *head = part->buffer;
  int all = partition_bytes(p) * p->partitions, size = MAX(type_bytes(p->type), 1);
  int messages = p->messages ? head->partitions : 1;
  if (all % head->partitions || extent.bytes != all / messages)
    die(DIE_INPUT, "rank %d: partitions of %d bytes in all, expected the %d bytes that are sent",
        r->index, all, extent.bytes * messages);
  if (extent.from % size || extent.bytes % size)
    die(DIE_INPUT, "rank %d: a partition that is sent ends within an element of the receiver's",
        r->index);
}

/* Puts a message that has come into the buffer, but only once. */
static void take(struct rank *r, struct request *whole, struct request *part)
{
  struct partitioned *p = of(whole);
  whole->status.MPI_SOURCE = part->status.MPI_SOURCE;
  whole->status.MPI_TAG = part->status.MPI_SOURCE == MPI_PROC_NULL ? MPI_ANY_TAG : p->channel->tag;
  if (!part->buffer)
    return;
  struct extent extent = extent_of(p, part);
  refuse_others(r, p, part, extent);
  int size = MAX(type_bytes(p->type), 1), position = 0;
  items_unpack((const struct head *)part->buffer + 1, extent.bytes, &position,
               p->buffer + (MPI_Aint)(extent.from / size) * elements_extent(p->type),
               extent.bytes / size, p->type);
  for (int i = 0; i < p->partitions; i++)
    p->come[i] += shared(p, i, extent);
  whole->status.count += extent.bytes;
  p->messages = ((const struct head *)part->buffer)->partitions;
  rank_free(part->buffer);
  part->buffer = NULL;
}

/* Describes a partition for which MPI_Parrived asks. */
struct asked {
  const struct request *whole;
  int partition;
};

static bool has_part_of(const struct rank *r, const struct asked *asked, const struct request *part)
{
  const struct partitioned *p = of(asked->whole);
  return request_is_done(r, part) && part->buffer &&
         shared(p, asked->partition, extent_of(p, part)) > 0;
}

static bool is_here(const struct rank *r, const void *what)
{
  const struct asked *asked = what;
  const struct partitioned *p = of(asked->whole);
  const struct whole *whole = &asked->whole->whole;
  int bytes = p->come[asked->partition];
  for (int i = 0; i < whole->parts; i++)
    if (has_part_of(r, asked, whole->part[i]))
      bytes += shared(p, asked->partition, extent_of(p, whole->part[i]));
  return asked->whole->done || p->channel->peer == MPI_PROC_NULL || bytes == partition_bytes(p);
}

/* Asks whether the partition has come. The answer is a decision, which a protocol may log. Only
 * messages of that partition are taken. */
static int ask(struct rank *r, MPI_Request handle, int partition, int *flag)
{
  struct request *whole = request_of(handle);
  *flag = !whole || !whole->active;
  if (*flag)
    return MPI_SUCCESS;
  if (!whole->whole.recipe || whole->whole.recipe->begin != begin_receiving || partition < 0 ||
      partition >= of(whole)->partitions)
    die(DIE_INPUT, "rank %d: MPI_Parrived of partition %d, expected one of a partitioned receive",
        r->index, partition);
  struct asked *asked = rank_alloc(r, sizeof *asked);
  *asked = (struct asked){whole, partition};
  *flag = (int)host_choose(r, is_here(r, asked), 2);
  if (*flag) {
    host_wait_posted(r, is_here, asked);
    for (int i = 0; i < whole->whole.parts; i++)
      if (has_part_of(r, asked, whole->whole.part[i]))
        take(r, whole, whole->whole.part[i]);
  } else {
    requests_not_yet(r, POLL_TEST);
  }
  rank_free(asked);
  return MPI_SUCCESS;
}

/* ---- the calls ---- */

NEW_CALL(Psend_init, (buffer, partitions, count, type, to, tag, comm, info, request),
         began(prepare(r, true, (void *)(uintptr_t)buffer, partitions, count, type, to, tag,
                       comm_of(r, comm)),
               request))
NEW_CALL(Precv_init, (buffer, partitions, count, type, from, tag, comm, info, request),
         began(prepare(r, false, buffer, partitions, count, type, from, tag, comm_of(r, comm)),
               request))
NEW_CALL(Pready, (partition, request), mark(r, sending(r, request), partition))
NEW_CALL(Pready_range, (low, high, request), mark_range(r, sending(r, request), low, high))
NEW_CALL(Pready_list, (count, partitions, request),
         mark_list(r, sending(r, request), count, partitions))
NEW_CALL(Parrived, (request, partition, flag), ask(r, request, partition, flag))
