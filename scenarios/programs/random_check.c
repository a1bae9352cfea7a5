/* This part of the program `random` draws numbers from the seed, writes and judges the contents of
 * messages, and notes what is wrong. */
#include "random.h"

#include <simgrid/host.h>
#include <smpi/smpi.h>
#include <stdlib.h>
#include <string.h>

const char *const problem_text[PROBLEMS] = {
    [FINE] = "nothing",
    [UNEXPECTED] = "a message that the schedule does not have, from",
    [LENGTH] = "a message of the wrong length from",
    [HEADER] = "another message than expected from",
    [CONTENT] = "a message with damaged content from",
    [OVERRUN] = "a receive buffer was overrun by a message from",
    [FOREIGN] = "MPI said something other than the schedule about",
    [STATUS] = "a completion without a request at",
    [SHAPE] = "a communicator has other members than it should, at",
    [STACK] = "the stack has changed at",
    [HEAP] = "the heap has changed at",
    [UNDONE] = "a request was not completed at",
    [FLOW] = "what was received is not what was sent, from",
    [SUM] = "reductions do not add up, found by"};

struct self me;
uint64_t area[AREA_WORDS];

/* ---- numbers ---- */

uint64_t mix(uint64_t a, uint64_t b)
{
  uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static uint64_t draw(struct rng *rng)
{
  rng->at += 0x9e3779b97f4a7c15u;
  return mix(rng->at, 0);
}

int below(struct rng *rng, int limit)
{
  return (int)(draw(rng) % (uint64_t)limit);
}

bool one_in(struct rng *rng, int n)
{
  return below(rng, n) == 0;
}

uint64_t hash_words(const uint64_t *word, size_t count)
{
  uint64_t hash = count;
  for (size_t i = 0; i < count; i++)
    hash = (hash ^ word[i]) * 0x9e3779b97f4a7c15u + (hash >> 29);
  return mix(hash, count);
}

static uint64_t hash_bytes(const void *data, size_t bytes)
{
  uint64_t tail = 0;
  size_t words = bytes / 8;
  if (bytes % 8)
    memcpy(&tail, (const char *)data + 8 * words, bytes % 8);
  return mix(hash_words(data, words), mix(tail, bytes));
}

void found(enum problem problem, int peer)
{
  if (me.finding.problem == FINE)
    me.finding = (struct finding){.problem = problem, .step = me.step, .peer = peer};
}

void fold(uint64_t what)
{
  me.state = mix(me.state, what);
}

/* Changes the state by an outcome that depends on time, if the seed is odd. */
void fold_outcome(uint64_t what)
{
  if (me.ordered)
    fold(what);
}

void *room(size_t bytes)
{
  void *memory = malloc(bytes ? bytes : 1);
  if (memory == NULL)
    MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

struct rng rng_for(int step, uint64_t what)
{
  return (struct rng){mix(mix(me.seed, (uint64_t)step + 1), what)};
}

void compute(double seconds)
{
  smpi_execute_flops(seconds * sg_host_get_speed(sg_host_self()));
}

/* ---- contents ---- */

size_t words_of(size_t bytes)
{
  return (bytes + 7) / 8;
}

uint64_t filler(uint64_t key, size_t i)
{
  return (key + i) * 0xd6e8feb86659fd93u;
}

/* Fills a buffer with the message `id` of this rank to `dest`, a rank of the world. */
void write_message(uint64_t *word, size_t bytes, uint64_t id, int dest)
{
  uint64_t key = mix(me.state, id);
  size_t words = words_of(bytes);
  uint64_t header[HEADER_WORDS] = {key, me.history, id, bytes};
  for (size_t i = 0; i < words; i++)
    word[i] = i < HEADER_WORDS ? header[i] : filler(key, i);
  uint64_t digest = mix(id, hash_bytes(word, bytes));
  me.history = mix(me.history, digest);
  me.sent[dest] += digest;
}

/* Judges the content of message `id` from `source`, a rank of MPI_COMM_WORLD. Returns the number by
 * which the state is to change. */
uint64_t read_message(const uint64_t *word, size_t bytes, uint64_t id, int source)
{
  size_t words = bytes / 8;
  if (words >= HEADER_WORDS && (word[2] != id || word[3] != bytes))
    found(HEADER, source);
  for (size_t i = HEADER_WORDS; i < words; i++)
    if (word[i] != filler(word[0], i)) {
      found(CONTENT, source);
      break;
    }
  uint64_t digest = mix(id, hash_bytes(word, bytes));
  me.got[source] += digest;
  return digest;
}

/* Ends the buffer with a word that no message may overwrite. */
uint64_t *receive_room(size_t bytes)
{
  size_t words = words_of(bytes);
  uint64_t *word = room(8 * (words + 1));
  memset(word, 0x5a, 8 * (words + 1));
  word[words] = me.seed;
  return word;
}

void check_room(const uint64_t *word, size_t bytes, int source)
{
  if (word[words_of(bytes)] != me.seed)
    found(OVERRUN, source);
}
