/* Call cycle with p2p.c: a synchronous send posts the receive of its receipt, which is a message
 * itself, and a wait in a collective gives receipts. */
#include "sim/mpi/layer/receipt.h"

#include "sim/host/rank/synchronous.h"
#include "sim/host/step/host.h"
#include "sim/mpi/layer/p2p.h"
#include "sim/mpi/layer/program_calls.h"
#include "sim/mpi/layer/recording.h"

#include <stdlib.h>
#include <string.h>

/* Receipts have the highest tags on the hidden half of MPI_COMM_WORLD. Collectives there count
 * their tags from 0. */
enum { TAGS = 1 << 20 };

static int tag_of(uint32_t number)
{
  return INT32_MAX - (int)(number % TAGS);
}

/* Returns whether the recording in that folder says that its program names synchronous sends. The
 * program `replay` refuses recordings of other formats. */
static bool are_named_in(const char *folder)
{
  struct recording_head head = {.synchronous = 0};
  g_autofree char *name = g_build_filename(folder, "0", NULL), *words = NULL;
  gsize bytes;
  if (g_file_get_contents(name, &words, &bytes, NULL) && bytes >= sizeof head)
    memcpy(&head, words, sizeof head);
  return head.synchronous;
}

/* Returns whether the program calls synchronous sends. The program that runs scripts contains calls
 * of all functions, so for that program the script decides. */
static bool find_named(void)
{
  const char *folder = getenv("RECLINE_REPLAY"), *script = layer.scenario->program.script;
  if (script)
    return strstr(script, "ssend") != NULL;
  return folder ? are_named_in(folder) : program_calls("ssend") || program_calls("issend");
}

bool receipts_are_named(void)
{
  static enum { UNKNOWN, NO, YES } named;
  if (named == UNKNOWN)
    named = find_named() ? YES : NO;
  return named == YES;
}

bool receipts_are_given(void)
{
  return synchronous_gives_receipts() && receipts_are_named();
}

struct request *receipt_expect(struct rank *r, int peer, uint32_t number)
{
  if (!number || !synchronous_gives_receipts())
    return NULL;
  if (!receipts_are_named())
    die(DIE_INPUT,
        "rank %d makes a synchronous send that it has looked up (dlsym), expected a call by name",
        r->index);
  struct request *receipt =
      p2p_receive(r, NULL, 0, MPI_BYTE, peer, tag_of(number), &r->mpi->world, P2P_COLLECTIVE);
  host_answer_door(r);
  return receipt;
}

/* Returns the decision for a receipt that is due: 1 + the rank that gets the receipt + `ranks` *
 * (the receipt's number - 1 - the number of the last receipt that this rank was given).
 */
static uint32_t decision_of(const struct rank *r, const struct due *due)
{
  uint32_t beyond = due->number - 1 - synchronous_given(r, due->source);
  return 1 + (uint32_t)due->source + (uint32_t)layer.ranks * beyond;
}

uint32_t receipt_due(const struct rank *r)
{
  return r->mpi->due ? decision_of(r, r->mpi->due) : 0;
}

struct chosen {
  int source;
  uint32_t number;
};

static bool is_due(const struct rank *r, const void *what)
{
  const struct chosen *chosen = what;
  return synchronous_is_due(r, chosen->source, chosen->number);
}

void receipt_give(struct rank *r, uint32_t decision)
{
  struct chosen chosen = {.source = (int)((decision - 1) % (uint32_t)layer.ranks)};
  chosen.number = 1 + synchronous_given(r, chosen.source) + (decision - 1) / (uint32_t)layer.ranks;
  host_wait_posted(r, is_due, &chosen);
  synchronous_give(r, chosen.source, chosen.number);
  r->mpi->gives_receipt = true;
  p2p_finish(r,
             p2p_send(r, NULL, 0, MPI_BYTE, chosen.source, tag_of(chosen.number), &r->mpi->world,
                      P2P_COLLECTIVE | P2P_BUFFERED),
             MPI_STATUS_IGNORE);
  r->mpi->gives_receipt = false;
}

struct awaited {
  bool (*done)(const struct rank *, const void *);
  const void *what;
};

static bool is_done_or_due(const struct rank *r, const void *what)
{
  const struct awaited *awaited = what;
  return r->mpi->due || awaited->done(r, awaited->what);
}

void receipts_give_until(struct rank *r, bool (*done)(const struct rank *, const void *),
                         const void *what)
{
  struct awaited awaited = {done, what};
  uint32_t decision = receipts_are_given() && !r->mpi->gives_receipt;
  while (decision) {
    host_wait_posted(r, is_done_or_due, &awaited);
    decision = host_choose(r, receipt_due(r), 0);
    if (decision)
      receipt_give(r, decision);
  }
}
