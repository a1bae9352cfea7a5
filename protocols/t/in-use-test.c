/* Tests that costs depend on the used part of a state, not on protocol.capacity. Lists have room
 * for 65,536 entries, and 100 messages fill a few. Then a protocol touches few pages, in_use()
 * names them, and all other bytes are zero. The digest equals the digest of the whole state, but
 * does not read the other pages. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "protocols/protocol.h"

enum { RANKS = 4, CAPACITY = 65536, MESSAGES = 100, PAGE_BYTES = 4096 };

static int tests, failed;

static void is(size_t found, size_t expected, const char *name, const char *what)
{
  bool right = found == expected;
  printf("%s %d - %s: %s\n", right ? "ok" : "not ok", ++tests, name, what);
  if (right)
    return;
  printf("# found %zu, expected %zu\n", found, expected);
  failed++;
}

static void step(const struct rcl_protocol *protocol, const struct rcl_config *config, void *state,
                 struct rcl_event event, struct rcl_actions *actions)
{
  rcl_protocol_step(protocol, config, state, &event, actions, false);
}

/* Lets rank 1 receive from rank 2 and send to it. */
static void play(const struct rcl_protocol *protocol, const struct rcl_config *config, void *state)
{
  struct rcl_actions actions = {.capacity = RCL_ACTIONS_MAX(config)};
  actions.item = calloc(actions.capacity, sizeof *actions.item);
  step(protocol, config, state, (struct rcl_event){.kind = RCL_EVENT_START}, &actions);
  for (uint32_t i = 1; i <= MESSAGES; i++) {
    struct rcl_event receive = {.kind = RCL_EVENT_RECEIVE, .peer = 2, .request = i, .bytes = 8};
    step(protocol, config, state, receive, &actions);
    receive.kind = RCL_EVENT_ARRIVED;
    receive.words[0] = i;
    step(protocol, config, state, receive, &actions);
    step(protocol, config, state,
         (struct rcl_event){.kind = RCL_EVENT_SEND, .peer = 2, .tag = (int32_t)i, .bytes = 8},
         &actions);
  }
  free(actions.item);
}

static size_t present(const char *state, size_t pages)
{
  unsigned char *in = malloc(pages);
  size_t count = 0;
  if (!in || mincore((void *)(size_t)state, pages * PAGE_BYTES, in) != 0)
    exit(1);
  for (size_t i = 0; i < pages; i++)
    count += in[i] & 1;
  free(in);
  return count;
}

/* Marks the pages of the pieces, and returns their number. A piece of no bytes has no page, as a
 * state may end before it. */
static size_t pages_of(const struct rcl_piece *piece, uint32_t pieces, char *used)
{
  size_t count = 0;
  for (uint32_t k = 0; k < pieces; k++)
    for (size_t at = piece[k].offset / PAGE_BYTES;
         piece[k].bytes && at * PAGE_BYTES < (size_t)piece[k].offset + piece[k].bytes; at++) {
      count += !used[at];
      used[at] = 1;
    }
  return count;
}

static void judge(const struct rcl_protocol *protocol)
{
  struct rcl_config config = {.self = 1, .ranks = RANKS, .capacity = CAPACITY};
  struct rcl_piece piece[RCL_PIECES];
  size_t bytes = protocol->state_size(&config), pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
  char *used = calloc(pages + 1, 1);
  char *state = mmap(NULL, (pages + 1) * PAGE_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (state == MAP_FAILED || !used)
    exit(1);
  madvise(state, (pages + 1) * PAGE_BYTES, MADV_NOHUGEPAGE);
  play(protocol, &config, state);
  uint32_t pieces = rcl_protocol_in_use(protocol, &config, state, piece);
  size_t in_use = pages_of(piece, pieces, used);
  is(present(state, pages) <= in_use, true, protocol->name, "other pages are not touched");
  is(in_use <= 2 * RCL_PIECES, true, protocol->name, "few pages are in use");
  char *copy = calloc(1, bytes + 1);
  for (uint32_t k = 0; k < pieces; k++)
    if (piece[k].bytes)
      memcpy(copy + piece[k].offset, state + piece[k].offset, piece[k].bytes);
  is(memcmp(copy, state, bytes) == 0, true, protocol->name, "what is not in use is zero");
  for (size_t i = 0; i < pages; i++)
    if (!used[i])
      mprotect(state + i * PAGE_BYTES, PAGE_BYTES, PROT_NONE);
  is(rcl_protocol_digest_state(protocol, &config, state) == rcl_protocol_digest(copy, bytes), true,
     protocol->name, "the digest is that of the whole, and reads no other page");
  munmap(state, (pages + 1) * PAGE_BYTES);
  free(copy);
  free(used);
}

int main(void)
{
  const struct rcl_protocol *protocol;
  for (size_t i = 0; (protocol = rcl_protocol_at(i)); i++)
    judge(protocol);
  printf("1..%d\n", tests);
  return tests == 0 || failed;
}
