#include "verify/distribute/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/file_bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/platform.h"

enum {
  STATES_BYTES = 1 << 15, /* number of bytes of states in a message */
  QUEUED_MOST = 64 << 20  /* largest number of bytes that wait to be sent */
};

/* Holds a queue of bytes, which grows at the end and is read from the front. */
struct bytes {
  char *at;
  size_t used, room;
};

/* Holds a table whose indices are numbers of values. */
struct numbers {
  uint32_t *of;
  uint32_t count, room;
};

/* Describes another process: the values of which it was told, the bytes that will be sent to it,
 * and the values of which it has told. */
struct peer {
  uint32_t *told; /* by component: number of values of which the process was told */
  struct bytes states;
  const struct packing *packing; /* packing of the states that are sent to it */
  /* by component: this process's numbers, by the numbers of that process */
  struct numbers *known;
  uint8_t *bits;          /* bits of each component in the packing of that process */
  struct packing *theirs; /* the packing of that process, or NULL if it has sent none yet */
};

struct exchange {
  struct model *model;
  const struct transport *transport;
  struct peer *peer;
  struct numbers owners; /* owners of states, by the value of component 0 */
  unsigned ended;        /* number of processes that have sent all of this phase */
  struct bytes part;     /* scratch memory for a part */
};

struct head {
  uint32_t from, values, states;
  uint32_t ends; /* true if the message is the last of its phase */
};

/* ---- bytes ---- */

static void *reserve(struct bytes *bytes, size_t size)
{
  if (bytes->used + size > bytes->room) {
    bytes->room = 2 * (bytes->used + size);
    bytes->at = memory_grow(bytes->at, bytes->room);
  }
  bytes->used += size;
  return bytes->at + bytes->used - size;
}

static void append(struct bytes *bytes, const void *from, size_t size)
{
  void *to = reserve(bytes, size);
  if (size)
    memcpy(to, from, size);
}

static const void *cut(struct bytes *message, size_t size)
{
  REQUIRE(message->used + size <= message->room, "a message is as long as what it holds");
  message->used += size;
  return message->at + message->used - size;
}

static uint32_t cut_number(struct bytes *message)
{
  uint32_t number;
  memcpy(&number, cut(message, sizeof number), sizeof number);
  return number;
}

/* ---- owners ---- */

unsigned exchange_owner(struct exchange *x, uint32_t number)
{
  for (; x->owners.count <= number; x->owners.count++) {
    struct numbers *owners = &x->owners;
    owners->of = memory_room(owners->of, owners->count, &owners->room, sizeof *owners->of);
    platform_lock(x->model->rules);
    uint64_t digest = hash_mix(model_digest(x->model, 0, owners->count));
    platform_unlock(x->model->rules);
    owners->of[owners->count] = (uint32_t)((digest >> 32) * x->transport->size >> 32);
  }
  return x->owners.of[number];
}

/* ---- sending ---- */

/* Copies a part's value into the scratch memory. Returns the copy. */
static void *copy_part(struct exchange *x, uint32_t value, uint32_t *size)
{
  const struct interned *item = &x->model->rules_cache.parts.item[value];
  x->part.used = 0;
  append(&x->part, item->bytes, item->size);
  *size = item->size;
  return x->part.at;
}

struct telling {
  struct exchange *x;
  struct bytes *message;
};

static uint32_t tell_kept(void *ctx, uint32_t number)
{
  const struct telling *t = ctx;
  const struct interned *kept = &t->x->model->rules_cache.parts.item[number];
  append(t->message, &kept->size, sizeof kept->size);
  append(t->message, kept->bytes, kept->size);
  return number;
}

static void tell_value(struct exchange *x, struct bytes *message, uint32_t component,
                       uint32_t number)
{
  const struct component *c = &x->model->component[component];
  const uint32_t *values = c->values.item[number + 1].bytes;
  struct telling telling = {x, message};
  append(message, &component, sizeof component);
  for (uint32_t i = 0; i < c->count; i++) {
    uint32_t size;
    void *bytes = copy_part(x, values[i], &size);
    append(message, &size, sizeof size);
    append(message, bytes, size);
    world_map_kept(x->model->world, c->parts[i], bytes, size, tell_kept, &telling);
  }
}

/* Sends the waiting states, after the values that they may name. */
static void send_states(struct exchange *x, unsigned to, bool ends)
{
  struct peer *peer = &x->peer[to];
  struct bytes message = {0};
  struct head head = {.from = x->transport->rank, .ends = ends};
  append(&message, &head, sizeof head);
  for (uint32_t i = 0; i < x->model->components && peer->states.used; i++)
    for (; peer->told[i] < x->model->component[i].values.count; head.values++)
      tell_value(x, &message, i, peer->told[i]++);
  for (uint32_t i = 0; i < x->model->components && peer->states.used; i++) {
    uint8_t bits = (uint8_t)__builtin_popcount(peer->packing->field[i].mask);
    append(&message, &bits, sizeof bits);
  }
  if (peer->states.used)
    head.states = (uint32_t)(peer->states.used / (peer->packing->words * sizeof(uint32_t)));
  append(&message, peer->states.at, peer->states.used);
  memcpy(message.at, &head, sizeof head);
  x->transport->send(to, message.at, message.used);
  peer->states.used = 0;
}

void exchange_put(struct exchange *x, unsigned to, const uint32_t *state)
{
  struct peer *peer = &x->peer[to];
  const struct packing *packing = x->model->packing;
  if (peer->states.used >= STATES_BYTES || (peer->states.used && peer->packing != packing))
    send_states(x, to, false);
  peer->packing = packing;
  append(&peer->states, state, packing->words * sizeof *state);
}

void exchange_end(struct exchange *x)
{
  for (unsigned i = 0; i < x->transport->size; i++)
    if (i != x->transport->rank)
      send_states(x, i, true);
  x->ended++;
}

bool exchange_is_full(const struct exchange *x)
{
  return x->transport->queued() > QUEUED_MOST;
}

/* ---- receiving ---- */

static uint32_t learn_kept(void *ctx, uint32_t number)
{
  const struct telling *t = ctx;
  uint32_t size = cut_number(t->message);
  (void)number; /* the sender's number does not matter */
  return intern(&t->x->model->rules_cache.parts, cut(t->message, size), size);
}

static void learn_value(struct exchange *x, struct peer *peer, struct bytes *message)
{
  uint32_t component = cut_number(message);
  REQUIRE(component < x->model->components, "a message is of this world");
  struct component *c = &x->model->component[component];
  struct numbers *known = &peer->known[component];
  struct telling telling = {x, message};
  uint32_t values[c->count];
  for (uint32_t i = 0; i < c->count; i++) {
    uint32_t size = cut_number(message);
    x->part.used = 0;
    append(&x->part, cut(message, size), size);
    world_map_kept(x->model->world, c->parts[i], x->part.at, size, learn_kept, &telling);
    values[i] = intern(&x->model->rules_cache.parts, x->part.at, size);
  }
  known->of = memory_room(known->of, known->count, &known->room, sizeof *known->of);
  known->of[known->count++] = intern(&c->values, values, c->count * (uint32_t)sizeof *values) - 1;
}

static void learn_packing(struct exchange *x, struct peer *peer, struct bytes *message)
{
  const void *bits = cut(message, x->model->components);
  if (peer->theirs && !memcmp(bits, peer->bits, x->model->components))
    return;
  free(peer->theirs);
  memcpy(peer->bits, bits, x->model->components);
  peer->theirs = packing_new(peer->bits, x->model->components);
  REQUIRE(peer->theirs, "what one process packs another can unpack");
}

static void take_states(struct exchange *x, const struct peer *peer, struct bytes *message,
                        uint32_t count, void (*take)(void *ctx, const uint32_t *numbers), void *ctx)
{
  uint32_t components = x->model->components, theirs[components], numbers[components];
  uint32_t state[PACKING_WORDS];
  size_t size = peer->theirs->words * sizeof *state;
  for (uint32_t n = 0; n < count; n++) {
    memcpy(state, cut(message, size), size);
    packing_unpack(peer->theirs, state, theirs);
    for (uint32_t i = 0; i < components; i++) {
      REQUIRE(theirs[i] < peer->known[i].count, "a number was told before it is named");
      numbers[i] = peer->known[i].of[theirs[i]];
    }
    take(ctx, numbers);
  }
}

bool exchange_take(struct exchange *x, bool wait, void (*take)(void *ctx, const uint32_t *numbers),
                   void *ctx)
{
  struct bytes message = {0};
  struct head head;
  message.at = x->transport->receive(&message.room);
  if (!message.at) {
    if (wait)
      x->transport->idle();
    return false;
  }
  memcpy(&head, cut(&message, sizeof head), sizeof head);
  struct peer *peer = &x->peer[head.from];
  for (uint32_t i = 0; i < head.values; i++)
    learn_value(x, peer, &message);
  if (head.states) {
    learn_packing(x, peer, &message);
    take_states(x, peer, &message, head.states, take, ctx);
  }
  REQUIRE(message.used == message.room, "a message is as long as what it holds");
  x->ended += head.ends;
  free(message.at);
  return true;
}

bool exchange_is_over(struct exchange *x)
{
  if (x->ended < x->transport->size)
    return false;
  x->ended = 0;
  return true;
}

/* ---- saves ---- */

/* Writes the states that wait to be sent, as the numbers of their components. */
static void put_states(const struct exchange *x, const struct peer *peer, FILE *file)
{
  uint32_t components = x->model->components, numbers[components], state[PACKING_WORDS];
  size_t size = peer->states.used ? peer->packing->words * sizeof *state : 1;
  uint64_t count = peer->states.used / size;
  file_put(file, &count, sizeof count);
  for (uint64_t i = 0; i < count; i++) {
    memcpy(state, peer->states.at + i * size, size);
    packing_unpack(peer->packing, state, numbers);
    file_put(file, numbers, sizeof numbers);
  }
}

static bool get_states(struct exchange *x, struct peer *peer, FILE *file)
{
  uint32_t components = x->model->components, numbers[components], state[PACKING_WORDS];
  uint64_t count;
  bool fine = file_get(file, &count, sizeof count);
  peer->packing = x->model->packing;
  for (; fine && count; count--) {
    fine = file_get(file, numbers, sizeof numbers);
    if (fine)
      packing_pack(peer->packing, numbers, state);
    append(&peer->states, state, peer->packing->words * sizeof *state);
  }
  return fine;
}

void exchange_save(const struct exchange *x, FILE *file)
{
  uint32_t components = x->model->components;
  file_put(file, &x->ended, sizeof x->ended);
  for (unsigned i = 0; i < x->transport->size; i++) {
    const struct peer *peer = &x->peer[i];
    uint8_t packs = peer->theirs != NULL;
    file_put(file, peer->told, components * sizeof *peer->told);
    file_put(file, &packs, sizeof packs);
    file_put(file, peer->bits, components);
    for (uint32_t j = 0; j < components; j++) {
      file_put(file, &peer->known[j].count, sizeof peer->known[j].count);
      file_put(file, peer->known[j].of, peer->known[j].count * sizeof *peer->known[j].of);
    }
    put_states(x, peer, file);
  }
}

static bool get_known(struct numbers *known, FILE *file)
{
  if (!file_get(file, &known->count, sizeof known->count))
    return false;
  known->room = known->count;
  known->of = memory_grow(known->of, (known->count + 1) * sizeof *known->of);
  return file_get(file, known->of, known->count * sizeof *known->of);
}

bool exchange_restore(struct exchange *x, FILE *file)
{
  uint32_t components = x->model->components;
  bool fine = file_get(file, &x->ended, sizeof x->ended);
  for (unsigned i = 0; fine && i < x->transport->size; i++) {
    struct peer *peer = &x->peer[i];
    uint8_t packs;
    fine = file_get(file, peer->told, components * sizeof *peer->told) &&
           file_get(file, &packs, sizeof packs) && file_get(file, peer->bits, components);
    if (fine && packs)
      peer->theirs = packing_new(peer->bits, components);
    for (uint32_t j = 0; fine && j < components; j++)
      fine = get_known(&peer->known[j], file);
    fine = fine && get_states(x, peer, file);
  }
  return fine;
}

/* ---- beginning and end ---- */

struct exchange *exchange_new(struct model *model, const struct transport *transport)
{
  struct exchange *x = memory_table(1, sizeof *x);
  *x = (struct exchange){.model = model, .transport = transport};
  x->peer = memory_table(transport->size, sizeof *x->peer);
  for (unsigned i = 0; i < transport->size; i++) {
    x->peer[i].told = memory_table(model->components, sizeof *x->peer->told);
    x->peer[i].known = memory_table(model->components, sizeof *x->peer->known);
    x->peer[i].bits = memory_table(model->components, sizeof *x->peer->bits);
  }
  return x;
}

void exchange_free(struct exchange *x)
{
  if (!x)
    return;
  for (unsigned i = 0; i < x->transport->size; i++) {
    struct peer *peer = &x->peer[i];
    for (uint32_t j = 0; j < x->model->components; j++)
      free(peer->known[j].of);
    void *all[] = {peer->told, peer->states.at, peer->known, peer->bits, peer->theirs};
    for (size_t j = 0; j < sizeof all / sizeof *all; j++)
      free(all[j]);
  }
  free(x->owners.of);
  free(x->peer);
  free(x->part.at);
  free(x);
}

const struct transport *exchange_transport(const struct exchange *x)
{
  return x->transport;
}

uint64_t exchange_bytes(const struct exchange *x)
{
  uint64_t bytes = x->transport->queued();
  for (uint32_t i = 0; i < x->model->components; i++)
    for (unsigned j = 0; j < x->transport->size; j++)
      bytes += x->peer[j].known[i].room * sizeof(uint32_t);
  return bytes;
}
