#include "sim/host/rank/agreement.h"

#include "sim/host/rank/communicators.h"
#include "sim/host/rank/faults.h"
#include "sim/net/transport.h"

#include <string.h>

enum word { UP, DOWN, ASK };
enum { NOBODY = -1, HEADER_BYTES = 16 };

/* Holds the contribution of a member, or of the complete subtree of a member. Messages carry the
 * bytes of this struct. */
struct share {
  int flag;
  uint8_t state[]; /* by rank in the communicator: enum state */
};
enum state { KNOWN_FAILED = 1, NOT_ACKNOWLEDGED = 2 };

struct agreement {
  int comm, number;
  const struct members *members;
  int place;           /* index of this rank among the members */
  bool begun;          /* this rank has begun the agreement */
  int told;            /* index of the parent that was told the subtree's contribution */
  GArray *children;    /* int: indices of members */
  bool *heard;         /* by member: this rank has the member's contribution */
  struct share *share; /* the subtree's contribution */
  const struct decision *decision;
};

static int size_of(const struct agreement *a)
{
  return a->members->size;
}

/* ---- the tree ---- */

static bool has_failed(const struct rank *r, const struct agreement *a, int place)
{
  return faults_has_failed(r, a->members->member[place]);
}

/* Returns the nearest living ancestor of a member or, if there is none, the first living member.
 * The index of a member's parent is the index of the member without its lowest bit. */
static int parent_of(const struct rank *r, const struct agreement *a, int place)
{
  for (int parent = place; parent > 0;) {
    parent &= parent - 1;
    if (!has_failed(r, a, parent))
      return parent;
  }
  int first = 0;
  while (has_failed(r, a, first))
    first++;
  return first == place ? NOBODY : first;
}

static void choose_children(const struct rank *r, struct agreement *a)
{
  g_array_set_size(a->children, 0);
  for (int place = 0; place < size_of(a); place++)
    if (place != a->place && !has_failed(r, a, place) && parent_of(r, a, place) == a->place)
      g_array_append_val(a->children, place);
}

/* ---- messages ---- */

static size_t share_bytes(const struct agreement *a)
{
  return sizeof(struct share) + (size_t)size_of(a);
}

/* Sends a message. On the network, the message has two bits for each member. */
static void tell(struct rank *r, const struct agreement *a, int place, enum word word)
{
  if (r->dead || has_failed(r, a, place))
    return;
  struct message *message = message_new(MESSAGE_AGREE, r->index, a->members->member[place]);
  message->comm = a->comm;
  message->tag = a->number;
  message->words[0] = word;
  uint64_t bits = word == ASK ? 0 : 2 * (uint64_t)size_of(a);
  if (word == UP) {
    message->payload = payload_new(share_bytes(a));
    memcpy(message->payload->own, a->share, share_bytes(a));
  }
  transport_send(r->transport, message, HEADER_BYTES + (bits + 7) / 8, false);
}

/* ---- deciding ---- */

static GHashTable *decisions; /* "comm number" -> struct decision */

static const struct decision *decide(const struct agreement *a)
{
  g_autofree char *key = g_strdup_printf("%d %d", a->comm, a->number);
  if (!decisions)
    decisions = g_hash_table_new(g_str_hash, g_str_equal);
  struct decision *decision = g_hash_table_lookup(decisions, key);
  if (decision)
    return decision;
  decision = g_new0(struct decision, 1);
  decision->flag = a->share->flag;
  decision->failed = g_new0(bool, (gsize)size_of(a));
  for (int i = 0; i < size_of(a); i++) {
    decision->failed[i] = a->share->state[i] & KNOWN_FAILED;
    decision->unknown |= decision->failed[i] && a->share->state[i] & NOT_ACKNOWLEDGED;
  }
  g_hash_table_insert(decisions, g_steal_pointer(&key), decision);
  return decision;
}

/* Ends an agreement with its decision. Messages from other ranks may come in while this rank
 * sends. */
static void end(struct rank *r, struct agreement *a, const struct decision *decision)
{
  if (a->decision)
    return;
  a->decision = decision;
  choose_children(r, a);
  for (guint i = 0; i < a->children->len; i++)
    a->heard[g_array_index(a->children, int, i)] = true;
  for (int place = 0; place < size_of(a); place++)
    if (a->heard[place])
      tell(r, a, place, DOWN);
  g_free(a->share);
  g_free(a->heard);
  g_array_unref(a->children);
}

/* ---- going on ---- */

/* Adds the failures that this rank knows of. A member counts as failed for all members, whichever
 * of them reports it. */
static void add_failures(const struct rank *r, struct agreement *a)
{
  for (int place = 0; place < size_of(a); place++)
    if (has_failed(r, a, place))
      a->share->state[place] |= KNOWN_FAILED;
}

static bool all_children_are_heard(const struct agreement *a)
{
  for (guint i = 0; i < a->children->len; i++)
    if (!a->heard[g_array_index(a->children, int, i)])
      return false;
  return true;
}

static void go_on(struct rank *r, struct agreement *a)
{
  if (!a->begun || a->decision || r->dead)
    return;
  add_failures(r, a);
  if (!all_children_are_heard(a))
    return;
  int parent = parent_of(r, a, a->place);
  if (parent == NOBODY) {
    end(r, a, decide(a));
  } else if (parent != a->told) {
    a->told = parent;
    tell(r, a, parent, UP);
  }
}

/* Updates the tree. Asks children that the rank did not have before. */
static void look_at_tree(struct rank *r, struct agreement *a, bool ask)
{
  choose_children(r, a);
  for (guint i = 0; ask && i < a->children->len; i++) {
    int child = g_array_index(a->children, int, i);
    if (!a->heard[child])
      tell(r, a, child, ASK);
  }
}

static void add_share(struct agreement *a, const struct share *share)
{
  a->share->flag &= share->flag;
  for (int i = 0; i < size_of(a); i++)
    a->share->state[i] |= share->state[i];
}

/* ---- agreements of a rank ---- */

static struct agreement *find(struct rank *r, int comm, int number, const struct members *members)
{
  if (!r->agreements)
    r->agreements = g_ptr_array_new();
  for (guint i = r->agreements->len; i-- > 0;) {
    struct agreement *a = r->agreements->pdata[i];
    if (a->comm == comm && a->number == number)
      return a;
  }
  struct agreement *a = g_new0(struct agreement, 1);
  a->comm = comm;
  a->number = number;
  a->members = members;
  while (a->members->member[a->place] != r->index)
    a->place++;
  a->told = NOBODY;
  a->children = g_array_new(FALSE, FALSE, sizeof(int));
  a->heard = g_new0(bool, (gsize)size_of(a));
  a->share = g_malloc0(share_bytes(a));
  a->share->flag = ~0;
  g_ptr_array_add(r->agreements, a);
  return a;
}

/* Adds a rank's contribution to an agreement: its flag, and the failures of members that the rank
 * has acknowledged. The acknowledged failures come first in the list of failures. */
static void contribute(struct rank *r, struct agreement *a, const struct comm *comm, int flag)
{
  g_autofree int *failed = g_new(int, (gsize)comm->size);
  int count = faults_failed(r, comm, failed);
  a->share->flag &= flag;
  for (int place = 0; place < size_of(a); place++) {
    int i = 0, known = MIN(comm->acknowledged, count);
    while (i < known && failed[i] != a->members->member[place])
      i++;
    if (i == known)
      a->share->state[place] |= NOT_ACKNOWLEDGED;
  }
}

struct agreement *agreement_begin(struct rank *r, struct comm *comm, int flag)
{
  /* each rank has such an agreement, and all have the same number */
  bool self = comm == &r->mpi->self;
  struct members alone = {.size = 1, .member = comm->member};
  struct agreement *a =
      self ? find(r, -1 - r->index, ++comm->agreements, g_memdup2(&alone, sizeof alone))
           : find(r, comm->number, ++comm->agreements, communicator_members(comm->number));
  contribute(r, a, comm, flag);
  a->begun = true;
  look_at_tree(r, a, false);
  go_on(r, a);
  return a;
}

const struct decision *agreement_decision(const struct agreement *agreement)
{
  return agreement->decision;
}

void agreements_note_failure(struct rank *r)
{
  for (guint i = 0; r->agreements && i < r->agreements->len; i++) {
    struct agreement *a = r->agreements->pdata[i];
    if (!a->begun || a->decision)
      continue;
    look_at_tree(r, a, true);
    go_on(r, a);
  }
}

static int place_of(const struct agreement *a, int rank)
{
  int place = 0;
  while (a->members->member[place] != rank)
    place++;
  return place;
}

void agreement_take(struct rank *r, const struct message *message)
{
  struct agreement *a = find(r, message->comm, message->tag, communicator_members(message->comm));
  int from = place_of(a, message->source);
  enum word word = (enum word)message->words[0];
  if (word == DOWN) {
    end(r, a, decide(a));
  } else if (a->decision) {
    tell(r, a, from, DOWN);
  } else if (word == UP) {
    add_share(a, (const struct share *)(const void *)message->payload->bytes);
    a->heard[from] = true;
    go_on(r, a);
  } else if (a->told != NOBODY) {
    tell(r, a, from, UP);
  }
}
