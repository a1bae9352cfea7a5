/* script: runs a script of MPI operations with real MPI calls (world/script/script.h).
 *
 * The explorer interprets the same scripts in its world (world/rules/world.c), and both compute
 * the same histories: a message carries its sender's history; a receive enters the history when the
 * program completes it (recv, wait), a choice when it is made. So a wrong replay after a crash
 * changes the histories that rank 0 prints at the end.
 *
 * Usage: script FILE [each]
 * With `each` every rank prints its own history, so that only the script's messages are sent.
 * The exit code is the same on all ranks: 0, or 64 if FILE is not a script.
 */
#include "world/script/script.h"

#include <mpi.h>
#include <simgrid/host.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocols/protocol.h"
#include "tell.h"
#include "world/script/content.h"

enum { EXIT_USAGE = 64, WORDS = sizeof(struct content) / sizeof(uint32_t) };

struct receive {
  MPI_Request request;
  unsigned char *payload; /* state.room bytes */
};

struct state {
  const struct script *script;
  MPI_Comm comm[SCRIPT_COMMS];
  uint32_t last; /* last content received, which the operation IF tests */
  int rank, ranks;
  unsigned room; /* bytes of the largest payload */
  struct content history;
  uint32_t next; /* number of the next operation */
  struct receive named[SCRIPT_NAMES];
  MPI_Win window;
  uint16_t *cell; /* cells of the window */
  /* accesses that are not complete, or NULL if there is none */
  const struct operation *access[SCRIPT_PENDING];
  uint16_t given[SCRIPT_PENDING], fetched[SCRIPT_PENDING];
};

/* Makes a choice. If the layer is there, the layer makes it, because a protocol may have to replay
 * its outcome. Without the layer, the history so far decides. */
static uint32_t choose(const struct state *state, unsigned count)
{
  if (recline_choose)
    return (uint32_t)recline_choose((int)count);
  return content_fold(state->history, content_of((uint32_t)state->rank)).word[0] % count;
}

/* Returns the number of a rank in a communicator, whose members are in the order of ranks. */
static int in_comm(const struct state *state, const struct operation *op, int rank)
{
  int number = 0;
  for (int other = 0; other < rank; other++)
    number += script_is_member(state->script, op->comm, other);
  return number;
}

static int source(const struct state *state, const struct operation *op)
{
  return op->peer == RCL_ANY ? MPI_ANY_SOURCE : in_comm(state, op, op->peer);
}

static void become_member(struct state *state, const struct operation *op)
{
  MPI_Group all, members;
  int *rank = calloc((size_t)state->ranks, sizeof *rank), count = 0;
  if (rank == NULL)
    MPI_Abort(MPI_COMM_WORLD, 1);
  for (int other = 0; other < state->ranks; other++)
    if (script_is_member(state->script, op->comm, other))
      rank[count++] = other;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, count, rank, &members);
  if (state->comm[op->comm] != MPI_COMM_NULL)
    MPI_Comm_free(&state->comm[op->comm]);
  MPI_Comm_create_group(MPI_COMM_WORLD, members, op->comm, &state->comm[op->comm]);
  MPI_Group_free(&members);
  MPI_Group_free(&all);
  free(rank);
}

static int tag(const struct operation *op)
{
  return op->tag == RCL_ANY ? MPI_ANY_TAG : op->tag;
}

static void see(struct state *state, struct content seen)
{
  state->history = content_fold(state->history, seen);
}

/* Returns the content of the next send. Two sends in a row have different contents. */
static struct content now(const struct state *state)
{
  return content_fold(state->history, content_of(state->next));
}

static void *room_for(size_t bytes)
{
  void *memory = calloc(bytes + 1, 1);
  if (memory == NULL)
    MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

/* Fills the payload with copies of the content. */
static void write_payload(unsigned char *payload, struct content content, size_t bytes)
{
  for (size_t at = 0; at < bytes; at += sizeof content)
    memcpy(payload + at, &content, bytes - at < sizeof content ? bytes - at : sizeof content);
}

/* Returns the content of a payload, or another one if not all copies in it agree. */
static struct content read_payload(const unsigned char *payload, size_t bytes)
{
  struct content content = {{0}};
  memcpy(&content, payload, bytes < sizeof content ? bytes : sizeof content);
  for (size_t at = sizeof content; at < bytes; at++)
    if (payload[at] != payload[at % sizeof content])
      return content_fold(content, content_of((uint32_t)at));
  return content_cut(content, bytes);
}

static struct content received(const struct receive *receive, const MPI_Status *status)
{
  int bytes;
  MPI_Get_count(status, MPI_BYTE, &bytes);
  return read_payload(receive->payload, (size_t)bytes);
}

/* Folds the contributions of all members, in the order of ranks, into one number. */
static struct content together(const unsigned char *payloads, int members, size_t bytes)
{
  struct content sum = content_of(0);
  for (int rank = 0; rank < members; rank++)
    sum = content_fold(sum, read_payload(payloads + (size_t)rank * bytes, bytes));
  return sum;
}

/* Makes a collective call for each class of collectives: the call that gives a rank the most data.
 * The history of the rank changes as in the explorer's world. */
static void call(struct state *state, const struct operation *op)
{
  size_t bytes = script_bytes(op);
  unsigned char *all = room_for((size_t)state->ranks * bytes), *own = room_for(bytes);
  MPI_Comm comm = state->comm[op->comm];
  int root = in_comm(state, op, op->peer), members = in_comm(state, op, state->ranks);
  int count = (int)bytes;
  write_payload(own, now(state), bytes);
  switch ((enum rcl_flow)op->flow) {
  case RCL_FLOW_FROM_ROOT:
    MPI_Bcast(own, count, MPI_BYTE, root, comm);
    if (state->rank != op->peer)
      see(state, content_fold(content_of(0), read_payload(own, bytes)));
    break;
  case RCL_FLOW_TO_ROOT:
    MPI_Gather(own, count, MPI_BYTE, all, count, MPI_BYTE, root, comm);
    if (state->rank == op->peer)
      see(state, together(all, members, bytes));
    break;
  case RCL_FLOW_ALL:
    MPI_Allgather(own, count, MPI_BYTE, all, count, MPI_BYTE, comm);
    see(state, together(all, members, bytes));
    break;
  default:
    MPI_Barrier(comm);
  }
  free(own);
  free(all);
}

static void cancel(struct state *state, const struct operation *op, struct receive *named)
{
  MPI_Status status;
  int cancelled;
  MPI_Cancel(&named->request);
  MPI_Wait(&named->request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  see(state, content_of((uint32_t)cancelled));
  if (cancelled)
    MPI_Recv(named->payload, (int)state->room, MPI_BYTE, source(state, op), tag(op),
             state->comm[op->comm], &status);
  see(state, received(named, &status));
}

/* Completes the receive if its message has come. If the receive is complete already, nothing
 * changes. */
static void test(struct state *state, struct receive *named)
{
  MPI_Status status;
  int found;
  if (named->request == MPI_REQUEST_NULL)
    return;
  MPI_Test(&named->request, &found, &status);
  see(state, content_of((uint32_t)found));
  state->last = (uint32_t)found;
  if (found)
    see(state, received(named, &status));
}

static void wait_for_any(struct state *state, const struct operation *op)
{
  struct receive *named[] = {&state->named[op->name], &state->named[op->tag]};
  MPI_Request requests[] = {named[0]->request, named[1]->request};
  MPI_Status status;
  int found;
  MPI_Waitany(2, requests, &found, &status);
  if (found == MPI_UNDEFINED)
    return;
  named[found]->request = MPI_REQUEST_NULL;
  state->last = (uint32_t)found;
  see(state, content_of((uint32_t)found));
  see(state, received(named[found], &status));
}

static void receive(struct state *state, const struct operation *op)
{
  struct receive one = {.payload = room_for(state->room)};
  MPI_Status status;
  MPI_Recv(one.payload, (int)state->room, MPI_BYTE, source(state, op), tag(op),
           state->comm[op->comm], &status);
  see(state, received(&one, &status));
  free(one.payload);
  if (op->peer != RCL_ANY)
    return;
  for (int rank = 0; rank < state->ranks; rank++)
    if (script_is_member(state->script, op->comm, rank) &&
        in_comm(state, op, rank) == status.MPI_SOURCE)
      state->last = (uint32_t)rank;
}

static void send(const struct state *state, const struct operation *op)
{
  size_t bytes = script_bytes(op);
  unsigned char *payload = room_for(bytes);
  write_payload(payload, now(state), bytes);
  (op->count ? MPI_Ssend : MPI_Send)(payload, (int)bytes, MPI_BYTE, in_comm(state, op, op->peer),
                                     op->tag, state->comm[op->comm]);
  free(payload);
}

/* Prints the same content as in the explorer's world as a line, padded to the bytes that the script
 * says. */
static void output(const struct state *state, const struct operation *op)
{
  char *line = room_for(64 + (size_t)script_bytes(op));
  struct content content = now(state);
  int length =
      sprintf(line, "output of rank %d: %08x%08x", state->rank, content.word[0], content.word[1]);
  while (op->sized && length + 1 < (int)op->bytes)
    line[length++] = '.';
  line[length++] = '\n';
  if (recline_output)
    recline_output(line, (unsigned long long)length);
  else
    fputs(line, stdout);
  free(line);
}

/* ---- windows ---- */

static void make_window(struct state *state)
{
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", state->script->locks ? "false" : "true");
  MPI_Win_allocate(SCRIPT_CELLS * (MPI_Aint)sizeof *state->cell, sizeof *state->cell, info,
                   MPI_COMM_WORLD, &state->cell, &state->window);
  MPI_Info_free(&info);
  for (int i = 0; i < SCRIPT_CELLS; i++)
    state->cell[i] = 0;
}

static void begin_access(struct state *state, const struct operation *op)
{
  uint16_t *given = &state->given[op->name], *fetched = &state->fetched[op->name];
  *given = (uint16_t)(op->value + (op->last ? state->last : 0));
  state->access[op->name] = op;
  switch ((enum script_access)op->flow) {
  case ACCESS_PUT:
    MPI_Put(given, 1, MPI_UINT16_T, op->peer, op->cell, 1, MPI_UINT16_T, state->window);
    break;
  case ACCESS_GET:
    MPI_Get(fetched, 1, MPI_UINT16_T, op->peer, op->cell, 1, MPI_UINT16_T, state->window);
    break;
  case ACCESS_ACCUMULATE:
    MPI_Accumulate(given, 1, MPI_UINT16_T, op->peer, op->cell, 1, MPI_UINT16_T, MPI_SUM,
                   state->window);
    break;
  case ACCESS_FETCH:
    MPI_Fetch_and_op(given, fetched, MPI_UINT16_T, op->peer, op->cell, MPI_SUM, state->window);
    break;
  }
}

static void see_number(struct state *state, uint16_t number)
{
  state->last = number;
  see(state, content_of(number));
}

/* Completes the accesses to `target`, or all of them for RCL_ANY. */
static void end_accesses(struct state *state, int target)
{
  for (int i = 0; i < SCRIPT_PENDING; i++) {
    const struct operation *op = state->access[i];
    if (op == NULL || (target != RCL_ANY && op->peer != target))
      continue;
    if (access_fetches(op))
      see_number(state, state->fetched[i]);
    state->access[i] = NULL;
  }
}

static MPI_Group group_of(int rank)
{
  MPI_Group all, one;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &rank, &one);
  MPI_Group_free(&all);
  return one;
}

static void begin_epoch(struct state *state, const struct operation *op)
{
  MPI_Group group = group_of(op->peer);
  if (op->kind == SCRIPT_POST)
    MPI_Win_post(group, 0, state->window);
  else
    MPI_Win_start(group, 0, state->window);
  MPI_Group_free(&group);
}

static void execute_window(struct state *state, const struct operation *op)
{
  switch (op->kind) {
  case SCRIPT_WINDOW:
    make_window(state);
    break;
  case SCRIPT_ACCESS:
    begin_access(state, op);
    break;
  case SCRIPT_LOAD:
    see_number(state, state->cell[op->cell]);
    break;
  case SCRIPT_FENCE:
    MPI_Win_fence(0, state->window);
    end_accesses(state, RCL_ANY);
    break;
  case SCRIPT_POST:
  case SCRIPT_START:
    begin_epoch(state, op);
    break;
  case SCRIPT_WAIT_WINDOW:
    MPI_Win_wait(state->window);
    break;
  case SCRIPT_COMPLETE:
    MPI_Win_complete(state->window);
    end_accesses(state, op->peer);
    break;
  case SCRIPT_LOCK:
    MPI_Win_lock(op->count ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, op->peer, 0, state->window);
    break;
  case SCRIPT_FLUSH:
    MPI_Win_flush(op->peer, state->window);
    end_accesses(state, op->peer);
    break;
  case SCRIPT_UNLOCK:
    MPI_Win_unlock(op->peer, state->window);
    end_accesses(state, op->peer);
    break;
  default:
    break;
  }
}

static void execute(struct state *state, const struct operation *op)
{
  struct receive *named = &state->named[op->name % SCRIPT_NAMES];
  MPI_Status status;
  switch (op->kind) {
  case SCRIPT_SEND:
    send(state, op);
    break;
  case SCRIPT_RECV:
    receive(state, op);
    break;
  case SCRIPT_IRECV:
    MPI_Irecv(named->payload, (int)state->room, MPI_BYTE, source(state, op), tag(op),
              state->comm[op->comm], &named->request);
    break;
  case SCRIPT_TEST:
    test(state, named);
    break;
  case SCRIPT_WAITANY:
    wait_for_any(state, op);
    break;
  case SCRIPT_MEMBER:
    become_member(state, op);
    break;
  case SCRIPT_WAIT:
    if (named->request == MPI_REQUEST_NULL)
      break;
    MPI_Wait(&named->request, &status);
    see(state, received(named, &status));
    break;
  case SCRIPT_CANCEL:
    cancel(state, op, named);
    break;
  case SCRIPT_CHOOSE:
    state->last = choose(state, op->count);
    see(state, content_of(state->last));
    break;
  case SCRIPT_OUTPUT:
    output(state, op);
    break;
  case SCRIPT_CHECKPOINT:
    if (op->count)
      tell_iteration(op->count);
    else if (recline_potential_checkpoint)
      recline_potential_checkpoint();
    break;
  case SCRIPT_COMPUTE:
    /* smpi_execute() interprets seconds as those of another machine (smpi/host-speed) */
    smpi_execute_flops(op->seconds * sg_host_get_speed(sg_host_self()));
    break;
  case SCRIPT_COLLECTIVE:
    call(state, op);
    break;
  case SCRIPT_IF:
    state->next += state->last == op->count ? 0 : op->skip;
    break;
  case SCRIPT_FREE:
  case SCRIPT_END:
    break;
  default:
    execute_window(state, op);
  }
}

static void print_histories(const struct state *state)
{
  struct content *all = calloc((size_t)state->ranks, sizeof *all);
  if (all == NULL)
    MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Gather(&state->history, WORDS, MPI_UINT32_T, all, WORDS, MPI_UINT32_T, 0, MPI_COMM_WORLD);
  if (state->rank == 0) {
    printf("history:");
    for (int rank = 0; rank < state->ranks; rank++)
      printf(" %08x%08x", all[rank].word[0], all[rank].word[1]);
    printf("\n");
  }
  free(all);
}

/* Returns the text of a file, terminated by 0, or NULL if it cannot be read. */
static char *read_text(const char *name)
{
  FILE *file = fopen(name, "rb");
  if (file == NULL)
    return NULL;
  char *text = NULL;
  size_t length = 0, got;
  do {
    enum { CHUNK = 4096 };
    char *more = realloc(text, length + CHUNK + 1);
    if (more == NULL)
      break;
    text = more;
    got = fread(text + length, 1, CHUNK, file);
    length += got;
    text[length] = '\0';
  } while (got > 0);
  fclose(file);
  return text;
}

static struct script *load(int argc, char **argv, const struct state *state)
{
  int line = 0;
  char *message = NULL;
  char *text = argc >= 2 ? read_text(argv[1]) : NULL;
  struct script *script = text != NULL ? script_parse(text, state->ranks, &line, &message) : NULL;
  if (script != NULL && script->free) {
    message = strdup("free programs, expected operations: only the explorer runs free programs");
    line = 1;
    script_free(script);
    script = NULL;
  }
  if (script == NULL && state->rank == 0) {
    if (argc < 2)
      fprintf(stderr, "usage: script FILE [each]\n");
    else if (text == NULL)
      fprintf(stderr, "%s: cannot be read, expected a script\n", argv[1]);
    else
      fprintf(stderr, "%s:%d: %s\n", argv[1], line, message);
  }
  free(message);
  free(text);
  return script;
}

static unsigned largest(const struct script *script)
{
  unsigned bytes = SCRIPT_BYTES;
  for (int rank = 0; rank < script->ranks; rank++)
    for (const struct operation *op = script->ops[rank]; op->kind != SCRIPT_END; op++)
      bytes = script_bytes(op) > bytes ? script_bytes(op) : bytes;
  return bytes;
}

int main(int argc, char **argv)
{
  struct state state = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &state.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &state.ranks);
  state.history = content_fold(content_of(0), content_of((uint32_t)state.rank));
  struct script *script = load(argc, argv, &state);
  if (script != NULL) {
    const struct operation *ops =
        script->written != NULL ? script->written[state.rank] : script->ops[state.rank];
    state.script = script;
    state.comm[0] = MPI_COMM_WORLD;
    state.room = largest(script);
    for (int name = 0; name < SCRIPT_NAMES; name++) {
      state.named[name].request = MPI_REQUEST_NULL;
      state.named[name].payload = room_for(state.room);
    }
    for (; ops[state.next].kind != SCRIPT_END; state.next++)
      execute(&state, &ops[state.next]);
    if (argc > 2)
      printf("history of rank %d: %08x%08x\n", state.rank, state.history.word[0],
             state.history.word[1]);
    else
      print_histories(&state);
    for (int name = 0; name < SCRIPT_NAMES; name++)
      free(state.named[name].payload);
    script_free(script);
  }
  MPI_Finalize();
  return script != NULL ? 0 : EXIT_USAGE;
}
