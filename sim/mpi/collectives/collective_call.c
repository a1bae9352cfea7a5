/* Handles collective calls under protocols that take part in them: their numbers, words and
 * events. */
#include "sim/host/failures/schedule.h"
#include "sim/host/rank/communicators.h"
#include "sim/host/rank/copy_cost.h"
#include "sim/host/rank/faults.h"
#include "sim/host/rank/node_memory.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/step/collective_messages.h"
#include "sim/host/step/host.h"
#include "sim/host/step/piggyback_collectives.h"
#include "sim/host/storage/application.h"
#include "sim/mpi/collectives/algorithms.h"
#include "sim/mpi/collectives/collectives.h"
#include "sim/mpi/files/file.h"
#include "sim/mpi/layer/p2p.h"
#include "sim/mpi/windows/window_passive.h"
#include "sim/net/transport.h"

#include <string.h>

enum { CALLS_MAX = INT32_MAX / CALL_KINDS - 1 };

int call_tag(const struct rank *r, int kind)
{
  const struct call *call = &r->mpi->call;
  return call->inside ? call->number * CALL_KINDS + kind : kind;
}

/* ---- the words in messages of the layer's own, where some members may not take part ---- */

static void send_words(struct rank *r, int to, int kind)
{
  struct call *call = &r->mpi->call;
  p2p_finish(r,
             p2p_send(r, call->words, RCL_WORDS + 1, MPI_UINT32_T, to, call_tag(r, kind),
                      call->site.comm, P2P_BYPASS | P2P_BLOCKING),
             MPI_STATUS_IGNORE);
}

static void receive_words(struct rank *r, uint32_t *words, int from, int kind)
{
  p2p_finish(r,
             p2p_receive(r, words, RCL_WORDS + 1, MPI_UINT32_T, from, call_tag(r, kind),
                         r->mpi->call.site.comm, P2P_BYPASS),
             MPI_STATUS_IGNORE);
}

/* The next two functions use binomial trees over ranks that are counted from the root. Sums go up
 * the tree, and the root's words go down. */
static void sum_words(struct rank *r)
{
  struct call *call = &r->mpi->call;
  int size = call->site.comm->size, root = call->site.root;
  int place = (call->site.comm->rank - root + size) % size;
  for (int bit = 1; bit < size; bit *= 2) {
    if (place & bit) {
      send_words(r, (place - bit + root) % size, TAG_WORDS_UP);
      return;
    }
    if (place + bit >= size)
      continue;
    receive_words(r, call->received, (place + bit + root) % size, TAG_WORDS_UP);
    for (int i = 0; i <= RCL_WORDS; i++)
      call->words[i] += call->received[i];
  }
}

static void spread_words(struct rank *r)
{
  struct call *call = &r->mpi->call;
  int size = call->site.comm->size, root = call->site.root;
  int place = (call->site.comm->rank - root + size) % size, bit = 1;
  for (; bit < size; bit *= 2)
    if (place & bit) {
      receive_words(r, call->words, (place - bit + root) % size, TAG_WORDS_DOWN);
      break;
    }
  for (bit /= 2; bit > 0; bit /= 2)
    if (place + bit < size)
      send_words(r, (place + bit + root) % size, TAG_WORDS_DOWN);
}

/* Returns whether the members exchange words. A protocol that adds no words to messages does not
 * need them here either, because it learns enough from the arrival of the data. But it may ask for
 * words in barriers. */
static bool exchanges(const struct call *call)
{
  const struct rcl_protocol *protocol = shadow_protocol();
  return protocol->piggyback_bytes > 0 ||
         (protocol->barrier_words && call->site.flow == RCL_FLOW_BARRIER);
}

/* Sends the words ahead of the data in a collective of the platform, as in figures 5 to 8 of the
 * paper on C3. If a figure shows two collectives for a call, the two are combined into one (section
 * 5). */
static void send_ahead(struct rank *r)
{
  struct call *call = &r->mpi->call;
  struct comm *comm = call->site.comm;
  int bytes = (int)words_bytes();
  char *own = rank_alloc(r, (size_t)bytes * ((size_t)comm->size + 1)), *all = own + bytes;
  call->ahead = true;
  switch (call->site.flow) {
  case RCL_FLOW_FROM_ROOT:
    algorithm_bcast(r, own, bytes, MPI_BYTE, call->site.root, comm);
    break;
  case RCL_FLOW_TO_ROOT:
    algorithm_gather(r, own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, call->site.root, comm);
    break;
  case RCL_FLOW_ALL:
    algorithm_allreduce(r, own, all, bytes, MPI_BYTE, MPI_BOR, comm);
    break;
  default:
    algorithm_allgather(r, own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm);
    break;
  }
  call->ahead = false;
  rank_free(own);
}

static bool gives_words(const struct call *call)
{
  return call->site.flow != RCL_FLOW_FROM_ROOT || call->site.comm->rank == call->site.root;
}

static bool data_flow_here(const struct call *call)
{
  bool is_root = call->site.comm->rank == call->site.root;
  return call->site.flow == RCL_FLOW_FROM_ROOT ? !is_root
                                               : call->site.flow != RCL_FLOW_TO_ROOT || is_root;
}

static void exchange_words(struct rank *r)
{
  struct call *call = &r->mpi->call;
  if (!exchanges(call)) {
    call->words[RCL_WORDS] =
        call->site.flow == RCL_FLOW_FROM_ROOT ? 1 : (uint32_t)call->site.comm->size;
    return;
  }
  memcpy(call->own, call->words, sizeof call->own);
  uint64_t *count =
      call->combined ? &layer.result.control.combined : &layer.result.control.separate;
  ++*count;
  if (call->combined ? call->selected : !call->passable) {
    if (gives_words(call))
      words_give(r);
    if (call->combined)
      return;
    send_ahead(r);
    if (data_flow_here(call))
      words_get(r);
  } else if (!call->combined) {
    if (call->site.flow != RCL_FLOW_FROM_ROOT)
      sum_words(r);
    if (call->site.flow != RCL_FLOW_TO_ROOT)
      spread_words(r);
  }
}

/* ---- the words with the data ---- */

static bool has_words(void)
{
  return shadow_protocol()->collectives && shadow_protocol()->piggyback_bytes > 0;
}

/* Returns whether the words travel with the data. All members must decide alike, so they decide by
 * values that all members know. A barrier has no data. */
static bool combines(const struct call_site *site)
{
  if (site->partial || site->flow == RCL_FLOW_BARRIER || !has_words())
    return false;
  switch (layer.scenario->protocol.control) {
  case CONTROL_COMBINED:
    return true;
  case CONTROL_AUTO:
    return site->largest > 0 && (double)site->largest < layer.combined_below;
  default:
    return false;
  }
}

/* Returns whether the algorithm of the platform runs. If the algorithm carries words, it must send
 * all its messages, even those without data, as recline's own algorithms do. */
static bool is_selected(const struct call *call)
{
  const struct call_site *site = &call->site;
  if (site->ordered)
    return false;
  if (!call->inside || shadow_protocol()->piggyback_bytes == 0)
    return true;
  return !site->partial && !call->passable && (!call->combined || (site->equal && site->largest));
}

/* Finds the size of data at which both ways cost the same. Words that travel with the data save a
 * message. But each message is copied once more at both ends. The costs are equal when two copies
 * take as long as a message of words. */
void call_measure(int index)
{
  enum { SENDER, TAG = 1 };
  static double sent;
  char words[64] = {0};
  double came = machine_now();
  int bytes = (int)MIN(words_bytes(), sizeof words);
  int node_end = layer.scenario->platform.layout.per_node;
  int receiver = node_end < layer.ranks ? node_end : 1;
  if (layer.scenario->protocol.control != CONTROL_AUTO || !has_words() || layer.ranks < 2)
    return;
  if (index == SENDER) {
    sent = machine_now();
    PMPI_Send(words, bytes, MPI_BYTE, receiver, TAG, MPI_COMM_WORLD);
  } else if (index == receiver) {
    PMPI_Recv(words, bytes, MPI_BYTE, SENDER, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    layer.combined_below = (machine_now() - sent) / (2.0 * machine_copy_seconds(1.0));
  }
  machine_begin(layer.ranks + 1, came);
}

/* Charges the time to join data and words for the call, and to take them apart at the end of the
 * call. */
static void pack(struct rank *r)
{
  const struct call *call = &r->mpi->call;
  if (call->combined && call->site.bytes > 0)
    copy_tagged(r, call->site.bytes);
}

static void unpack(struct rank *r)
{
  const struct call *call = &r->mpi->call;
  double bytes = 0.0;
  for (int i = 0; i < call->site.blocks; i++)
    bytes += block_bytes(&call->site.result, i);
  if (call->combined && bytes > 0.0)
    copy_tagged(r, bytes);
}

/* ---- the call ---- */

/* Takes part in the call. A rank that is restored to an image which was captured in a barrier goes
 * on here, and must make the call again. */
static bool take_part(struct rank *r)
{
  struct call *call = &r->mpi->call;
  do {
    host_collective(r);
    if (call->state == CALL_NONE)
      return false;
    exchange_words(r);
    if (call->site.flow == RCL_FLOW_BARRIER && exchanges(call))
      host_collected(r);
  } while (call->state == CALL_ANNOUNCED);
  return true;
}

/* Returns whether a barrier is over when words have gone from each member to each other member. The
 * barrier itself follows only for its cost. It would hold up a rank until other ranks have taken
 * their next event, and a schedule may have the opposite order. */
static bool is_passed(const struct call *call)
{
  return schedule_on() && call->site.flow == RCL_FLOW_BARRIER && exchanges(call);
}

/* Lets a rank that shares memory be captured, if other ranks that share that memory were captured
 * while the rank was in the call. */
static void leave(struct rank *r)
{
  const struct call_site *site = &r->mpi->call.site;
  if (!r->mpi->sharings)
    return;
  if (data_flow_here(&r->mpi->call))
    for (int i = 0; i < site->blocks; i++)
      sharing_stored(r, block_at(&site->result, i), block_type(&site->result, i),
                     (size_t)block_bytes(&site->result, i));
  host_wait(r, sharing_is_level, NULL);
}

bool call_begin(struct rank *r, struct call_site site)
{
  struct call *call = &r->mpi->call;
  bool place = site.flow == RCL_FLOW_BARRIER && shadow_protocol()->collectives;
  window_meet(r, site.comm);
  host_comes_to(r, place ? PLACE_BARRIER : PLACE_NONE, site.comm);
  if (r->mpi->sharings && shadow_protocol()->collectives)
    host_wait(r, sharing_is_level, NULL);
  if (site.root < 0 || site.root >= site.comm->size)
    die(DIE_INPUT, "root %d in a communicator of %d ranks", site.root, site.comm->size);
  if (site.comm->calls++ == CALLS_MAX)
    die(DIE_INPUT, "rank %d has made %d collective calls, the most there can be", r->index,
        CALLS_MAX);
  bool rooted = site.flow == RCL_FLOW_FROM_ROOT || site.flow == RCL_FLOW_TO_ROOT;
  *call = (struct call){.site = site,
                        .number = site.comm->calls,
                        .error = faults_of_collective(r, site.comm),
                        .sends = transport_last_send(r->transport)};
  if (call->error)
    return false;
  files_before_call(r, &site);
  call->inside = shadow_protocol()->collectives && site.comm->size > 1 &&
                 (!site.partial || shadow_protocol()->piggyback_bytes > 0);
  if (call->inside) {
    communicator_call(site.comm->number, call->number);
    call->combined = combines(&site);
    call->passable = rooted && communicator_passed(site.comm->number, call->number);
  }
  call->selected = site.comm->size > 1 && is_selected(call);
  if (!call->inside || layer.repairs)
    return true;
  call->inside = take_part(r) && !is_passed(call);
  if (!call->inside)
    leave(r);
  if (call->inside)
    pack(r);
  return call->inside;
}

int call_end(struct rank *r)
{
  struct call *call = &r->mpi->call;
  if (call->inside && call->state == CALL_JOINED && data_flow_here(call)) {
    if (call->combined && call->selected)
      words_get(r);
    unpack(r);
    host_collected(r);
  }
  if (call->inside && call->error) {
    bypass_withdraw(r, NULL);
    transport_give_up(r->transport, call->sends + 1, transport_last_send(r->transport));
  }
  if (!call->error)
    files_after_call(r, &call->site);
  bool was_inside = call->inside;
  call->state = CALL_NONE;
  call->inside = false;
  if (was_inside)
    leave(r);
  return call->error;
}

bool call_is_selected(const struct rank *r)
{
  return r->mpi->call.selected;
}
