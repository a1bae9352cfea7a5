#include "world/script/script_parts.h"
#include "world/script/script_words.h"

#include "protocols/protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time_units.h"

enum {
  ANY_PEER = -1, /* equals RCL_ANY of protocol.h */
  REPEAT_MAX = 65535
};

/* ---- operations ---- */

static bool parse_peer(struct parser *p, bool any, struct operation *operation)
{
  struct word word = word_take(p);
  if (any && word_is(word, "any")) {
    operation->peer = ANY_PEER;
    return true;
  }
  char what[64];
  snprintf(what, sizeof what, "a rank from 0 to %d%s", p->ranks - 1, any ? " or 'any'" : "");
  if (!word_number(word, p->ranks - 1, &operation->peer))
    return word_expected(p, word, what);
  return true;
}

static bool parse_tag(struct parser *p, bool any, struct operation *operation)
{
  if (!word_take_if(p, "tag"))
    return true;
  struct word word = word_take(p);
  if (any && word_is(word, "any")) {
    operation->tag = ANY_PEER;
    return true;
  }
  return word_number(word, INT32_MAX, &operation->tag) ||
         word_expected(p, word, any ? "a tag (a number) or 'any'" : "a tag (a number)");
}

static bool parse_bytes(struct parser *p, struct operation *operation)
{
  if (!word_take_if(p, "bytes"))
    return true;
  struct word word = word_take(p);
  int bytes;
  if (!word_number(word, SCRIPT_BYTES_MAX, &bytes))
    return word_expected(p, word, "a number of bytes up to 16777216");
  operation->sized = bytes != SCRIPT_BYTES;
  operation->bytes = operation->sized ? (unsigned)bytes : 0;
  return true;
}

static bool parse_name(struct parser *p, int *name)
{
  struct word word = word_take(p);
  *name = word.length == 1 ? word.start[0] - 'a' : -1;
  if (*name < 0 || *name >= SCRIPT_NAMES)
    return word_expected(p, word, "a name from a to h");
  return true;
}

static bool parse_member(struct parser *p, struct operation *operation)
{
  struct word word = word_take(p);
  return (word_number(word, SCRIPT_COMMS - 1, &operation->comm) && operation->comm) ||
         word_expected(p, word, "a communicator from 1 to 3");
}

static bool parse_comm(struct parser *p, struct operation *operation)
{
  return !word_take_if(p, "on") || parse_member(p, operation);
}

static bool parse_seconds(struct parser *p, struct operation *operation)
{
  struct word word = word_take(p);
  char text[32];
  snprintf(text, sizeof text, "%.*s", word.length, word.start);
  char *unit;
  double value = strtod(text, &unit);
  if (unit != text && value >= 0 && word.length < (int)sizeof text)
    for (const struct time_unit *known = time_units; known->name; known++)
      if (!strcmp(unit, known->name)) {
        operation->seconds = value * known->times / known->over;
        return true;
      }
  return word_expected(p, word, "a time such as 1.5ms (" TIME_UNITS_NAMED ")");
}

/* ---- operations of windows ---- */

static bool parse_cell(struct parser *p, struct operation *operation)
{
  struct word word = word_take(p);
  int cell;
  if (!word_number(word, SCRIPT_CELLS - 1, &cell))
    return word_expected(p, word, "a number of the window, 0 or 1");
  operation->cell = (unsigned)cell;
  return true;
}

static bool parse_value(struct parser *p, struct operation *operation)
{
  struct word word = word_take(p), rest = word;
  int value = 0;
  operation->last = word.length >= 4 && !memcmp(word.start, "last", 4);
  if (operation->last)
    rest = (struct word){word.start + 5, word.length > 4 ? word.length - 5 : 0};
  bool alone = operation->last && word.length == 4, more = operation->last && word.start[4] == '+';
  if (!alone && (!(more || !operation->last) || !word_number(rest, UINT16_MAX, &value)))
    return word_expected(p, word, "a value (a number up to 65535, 'last' or such as 'last+1')");
  operation->value = (unsigned)value;
  return true;
}

static bool parse_access(struct parser *p, struct operation *operation)
{
  return parse_peer(p, false, operation) && parse_cell(p, operation) &&
         (operation->flow == ACCESS_GET || parse_value(p, operation));
}

static bool parse_list(struct parser *p, struct list *list, bool inner);

static bool parse_repeat(struct parser *p, struct list *list)
{
  struct word word = word_take(p);
  int times;
  if (!word_number(word, REPEAT_MAX, &times))
    return word_expected(p, word, "how often to repeat (a number up to 65535)");
  word = word_take(p);
  if (!word_is(word, "("))
    return word_expected(p, word, "'('");
  size_t from = list->count;
  if (!parse_list(p, list, true))
    return false;
  size_t length = list->count - from;
  if (length * (size_t)times > OPERATIONS_MAX)
    return script_fail(p, "more than %d operations, expected a shorter program", OPERATIONS_MAX);
  if (!times)
    list->count = from;
  for (int i = 1; i < times; i++)
    for (size_t k = 0; k < length; k++) {
      struct operation copy = list->item[from + k];
      append(list, &copy);
    }
  return true;
}

static bool parse_if(struct parser *p, struct list *list)
{
  struct operation operation = {.kind = SCRIPT_IF};
  struct word word = word_take(p);
  int outcome;
  if (!word_number(word, UINT16_MAX, &outcome))
    return word_expected(p, word, "an outcome or a rank (a number up to 65535)");
  operation.count = (unsigned)outcome;
  word = word_take(p);
  if (!word_is(word, "("))
    return word_expected(p, word, "'('");
  size_t at = list->count;
  append(list, &operation);
  if (!parse_list(p, list, true))
    return false;
  list->item[at].skip = (unsigned)(list->count - at - 1);
  p->branches = true;
  for (size_t i = at + 1; i < list->count; i++) {
    enum script_kind kind = list->item[i].kind;
    bool plain = kind == SCRIPT_SEND || kind == SCRIPT_RECV || kind == SCRIPT_CHOOSE ||
                 kind == SCRIPT_COMPUTE || kind == SCRIPT_IF || kind == SCRIPT_OUTPUT ||
                 (kind == SCRIPT_CHECKPOINT && !list->item[i].count);
    if (!plain)
      return script_fail(p,
                         "an operation within if that others wait for, expected send, ssend, recv, "
                         "choose, output, checkpoint, compute, repeat or if");
  }
  return true;
}

static bool parse_free(struct parser *p, struct list *list)
{
  struct word word = word_take(p);
  int count;
  if (!word_number(word, OPERATIONS_MAX, &count))
    return word_expected(p, word, "how many messages may be sent (a number up to 65535)");
  for (int i = 0; i < count; i++)
    append(list, &(struct operation){.kind = SCRIPT_FREE});
  p->free = true;
  return true;
}

static bool parse_count(struct parser *p, struct operation *operation)
{
  struct word word = word_take(p);
  int count;
  if (!word_number(word, INT32_MAX, &count) || !count)
    return word_expected(p, word, "a number of outcomes, at least 1");
  operation->count = (unsigned)count;
  return true;
}

static bool parse_arguments(struct parser *p, struct operation *operation)
{
  switch (operation->kind) {
  case SCRIPT_SEND:
    return parse_peer(p, false, operation) && parse_tag(p, false, operation) &&
           parse_bytes(p, operation) && parse_comm(p, operation);
  case SCRIPT_RECV:
    operation->name = SCRIPT_NAMES;
    return parse_peer(p, true, operation) && parse_tag(p, true, operation) &&
           parse_comm(p, operation);
  case SCRIPT_IRECV:
    return parse_name(p, &operation->name) && parse_peer(p, true, operation) &&
           parse_tag(p, true, operation) && parse_comm(p, operation);
  case SCRIPT_ACCESS:
    return parse_access(p, operation);
  case SCRIPT_LOAD:
    return parse_cell(p, operation);
  case SCRIPT_POST:
  case SCRIPT_START:
  case SCRIPT_FLUSH:
  case SCRIPT_UNLOCK:
    return parse_peer(p, false, operation);
  case SCRIPT_LOCK:
    if (!parse_peer(p, false, operation))
      return false;
    operation->count = word_take_if(p, "shared");
    return true;
  case SCRIPT_WAIT:
    if (word_take_if(p, "window")) {
      operation->kind = SCRIPT_WAIT_WINDOW;
      return true;
    }
    return parse_name(p, &operation->name);
  case SCRIPT_CANCEL:
  case SCRIPT_TEST:
    return parse_name(p, &operation->name);
  case SCRIPT_WAITANY:
    return parse_name(p, &operation->name) && parse_name(p, &operation->tag);
  case SCRIPT_MEMBER:
    return parse_member(p, operation);
  case SCRIPT_CHOOSE:
    return parse_count(p, operation);
  case SCRIPT_COMPUTE:
    return parse_seconds(p, operation);
  case SCRIPT_COLLECTIVE:
    return (operation->flow == RCL_FLOW_ALL || operation->flow == RCL_FLOW_BARRIER ||
            parse_peer(p, false, operation)) &&
           (operation->flow == RCL_FLOW_BARRIER || parse_bytes(p, operation)) &&
           parse_comm(p, operation);
  case SCRIPT_OUTPUT:
    return parse_bytes(p, operation);
  default:
    return true;
  }
}

static const struct {
  const char *name;
  enum script_kind kind;
  int flow;
  bool counts; /* the operation has a count, which is not 0 */
} kinds[] = {{"send", SCRIPT_SEND, RCL_FLOW_NONE, false},
             {"ssend", SCRIPT_SEND, RCL_FLOW_NONE, true},
             {"recv", SCRIPT_RECV, RCL_FLOW_NONE, false},
             {"irecv", SCRIPT_IRECV, RCL_FLOW_NONE, false},
             {"wait", SCRIPT_WAIT, RCL_FLOW_NONE, false},
             {"cancel", SCRIPT_CANCEL, RCL_FLOW_NONE, false},
             {"test", SCRIPT_TEST, RCL_FLOW_NONE, false},
             {"waitany", SCRIPT_WAITANY, RCL_FLOW_NONE, false},
             {"member", SCRIPT_MEMBER, RCL_FLOW_NONE, false},
             {"choose", SCRIPT_CHOOSE, RCL_FLOW_NONE, false},
             {"output", SCRIPT_OUTPUT, RCL_FLOW_NONE, false},
             {"checkpoint", SCRIPT_CHECKPOINT, RCL_FLOW_NONE, false},
             {"iteration", SCRIPT_CHECKPOINT, RCL_FLOW_NONE, true},
             {"compute", SCRIPT_COMPUTE, RCL_FLOW_NONE, false},
             {"bcast", SCRIPT_COLLECTIVE, RCL_FLOW_FROM_ROOT, false},
             {"reduce", SCRIPT_COLLECTIVE, RCL_FLOW_TO_ROOT, false},
             {"allreduce", SCRIPT_COLLECTIVE, RCL_FLOW_ALL, false},
             {"barrier", SCRIPT_COLLECTIVE, RCL_FLOW_BARRIER, false},
             {"window", SCRIPT_WINDOW, 0, false},
             {"put", SCRIPT_ACCESS, ACCESS_PUT, false},
             {"get", SCRIPT_ACCESS, ACCESS_GET, false},
             {"accumulate", SCRIPT_ACCESS, ACCESS_ACCUMULATE, false},
             {"fetch", SCRIPT_ACCESS, ACCESS_FETCH, false},
             {"load", SCRIPT_LOAD, 0, false},
             {"fence", SCRIPT_FENCE, 0, false},
             {"post", SCRIPT_POST, 0, false},
             {"wait window", SCRIPT_WAIT_WINDOW, 0, false},
             {"start", SCRIPT_START, 0, false},
             {"complete", SCRIPT_COMPLETE, 0, false},
             {"lock", SCRIPT_LOCK, 0, false},
             {"flush", SCRIPT_FLUSH, 0, false},
             {"unlock", SCRIPT_UNLOCK, 0, false},
             {"serve", SCRIPT_SERVE, 0, false},
             {"lock own", SCRIPT_LOCK_OWN, 0, false},
             {"unlock own", SCRIPT_UNLOCK_OWN, 0, false},
             {"own accesses", SCRIPT_OWN, 0, false},
             {"see", SCRIPT_SEE, 0, false}};

const char *script_word(const struct operation *operation)
{
  bool counts = operation->kind == SCRIPT_CHECKPOINT || operation->kind == SCRIPT_SEND;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (operation->kind == kinds[i].kind && operation->flow == kinds[i].flow &&
        kinds[i].counts == (counts && operation->count))
      return kinds[i].name;
  return "free";
}

static bool parse_operation(struct parser *p, struct list *list)
{
  struct word word = word_take(p);
  if (word_is(word, "repeat"))
    return parse_repeat(p, list);
  if (word_is(word, "free"))
    return parse_free(p, list);
  if (word_is(word, "if"))
    return parse_if(p, list);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (word_is(word, kinds[i].name)) {
      struct operation operation = {
          .kind = kinds[i].kind, .flow = kinds[i].flow, .count = kinds[i].counts};
      if (!parse_arguments(p, &operation))
        return false;
      p->synchronous |= operation.kind == SCRIPT_SEND && operation.count;
      p->windows |= operation.kind == SCRIPT_WINDOW;
      append(list, &operation);
      return true;
    }
  return word_expected(
      p, word,
      "an operation (send, ssend, recv, irecv, wait, cancel, test, waitany, choose, output, "
      "checkpoint, iteration, compute, bcast, reduce, allreduce, barrier, member, window, put, "
      "get, "
      "accumulate, fetch, load, fence, post, start, complete, lock, flush, unlock, repeat, if or "
      "free)");
}

/* Reads operations separated by commas, up to the end of the line or, if `inner`, to a closing
 * parenthesis. */
static bool parse_list(struct parser *p, struct list *list, bool inner)
{
  for (;;) {
    if (!parse_operation(p, list))
      return false;
    if (list->count > OPERATIONS_MAX)
      return script_fail(p, "more than %d operations, expected a shorter program", OPERATIONS_MAX);
    struct word word = word_take(p);
    if (inner ? word_is(word, ")") : !word.length)
      return true;
    if (!word_is(word, ","))
      return word_expected(p, word, inner ? "',' or ')'" : "','");
  }
}

/* ---- ranks ---- */

static void number_iterations(struct list *list)
{
  unsigned iterations = 0;
  for (size_t i = 0; i < list->count; i++)
    if (list->item[i].kind == SCRIPT_CHECKPOINT && list->item[i].count)
      list->item[i].count = ++iterations;
}

/* Judges the names of receives: every irecv must be completed by a wait or a cancel. A cancel gets
 * the peer, tag and communicator of its irecv, because it may have to receive in the irecv's
 * place. */
static bool check_names(struct parser *p, const struct list *list)
{
  const struct operation *posted[SCRIPT_NAMES] = {NULL};
  for (size_t i = 0; i < list->count; i++) {
    struct operation *operation = &list->item[i];
    bool post = operation->kind == SCRIPT_IRECV, cancel = operation->kind == SCRIPT_CANCEL;
    bool any = operation->kind == SCRIPT_WAITANY, looks = any || operation->kind == SCRIPT_TEST;
    if (looks && (!posted[operation->name] || (any && !posted[operation->tag])))
      return script_fail(p, "%s of a receive that is not outstanding, expected 'irecv' before it",
                         any ? "waitany" : "test");
    if (!post && !cancel && operation->kind != SCRIPT_WAIT)
      continue;
    char name = (char)('a' + operation->name);
    const struct operation *outstanding = posted[operation->name];
    if (post && outstanding)
      return script_fail(p, "irecv %c while %c is outstanding, expected 'wait %c' before it", name,
                         name, name);
    if (!post && !outstanding)
      return script_fail(p, "%s %c without a receive of that name, expected 'irecv %c' before it",
                         cancel ? "cancel" : "wait", name, name);
    if (cancel) {
      operation->peer = outstanding->peer;
      operation->tag = outstanding->tag;
      operation->comm = outstanding->comm;
    }
    posted[operation->name] = post ? operation : NULL;
  }
  for (int i = 0; i < SCRIPT_NAMES; i++)
    if (posted[i])
      return script_fail(p, "irecv %c is never completed, expected 'wait %c'", 'a' + i, 'a' + i);
  return true;
}

/* Judges that a rank names only communicators of which it is a member, and only members as peers
 * and roots.
 */
static bool check_members(struct parser *p, struct script *script)
{
  script->branches = p->branches;
  script->synchronous = p->synchronous;
  script->members = checked(calloc((size_t)script->ranks * SCRIPT_COMMS, sizeof *script->members));
  for (int rank = 0; rank < script->ranks; rank++)
    for (const struct operation *op = script->ops[rank]; op->kind != SCRIPT_END; op++) {
      script->outputs |= op->kind == SCRIPT_OUTPUT;
      if (op->kind == SCRIPT_MEMBER)
        script->members[rank * SCRIPT_COMMS + op->comm] = true;
    }
  for (int rank = 0; rank < script->ranks; rank++) {
    bool joined[SCRIPT_COMMS] = {true};
    for (const struct operation *op = script->ops[rank]; op->kind != SCRIPT_END; op++) {
      bool rooted = op->flow == RCL_FLOW_FROM_ROOT || op->flow == RCL_FLOW_TO_ROOT;
      bool peer = rooted || op->kind <= SCRIPT_IRECV; /* a send or a receive */
      if (op->kind == SCRIPT_MEMBER &&
          (op == script->ops[rank] || op[-1].kind != SCRIPT_COLLECTIVE ||
           op[-1].flow != RCL_FLOW_ALL))
        return script_fail(p, "member %d does not follow an allreduce, expected one before it",
                           op->comm);
      joined[op->comm] |= op->kind == SCRIPT_MEMBER;
      if (!joined[op->comm] ||
          (peer && op->peer >= 0 && !script_is_member(script, op->comm, op->peer)))
        return script_fail(
            p, "rank %d uses communicator %d, expected 'member %d' before, of its peer, too", rank,
            op->comm, op->comm);
    }
  }
  return true;
}

/* Returns the next collective with data on that communicator, or SCRIPT_END if there is none. */
static const struct operation *next_call(const struct operation *op, int comm)
{
  while (op->kind != SCRIPT_END &&
         !(op->kind == SCRIPT_COLLECTIVE && op->comm == comm && op->flow != RCL_FLOW_BARRIER))
    op++;
  return op;
}

/* Judges that all ranks contribute the same number of bytes to a collective. */
static bool check_bytes(struct parser *p, const struct script *script)
{
  for (int comm = 0; comm < SCRIPT_COMMS; comm++) {
    int first = 0;
    while (first < script->ranks && !script_is_member(script, comm, first))
      first++;
    for (int rank = first + 1; rank < script->ranks; rank++) {
      const struct operation *one = next_call(script->ops[first], comm);
      const struct operation *two = next_call(script->ops[rank], comm);
      while (one->kind != SCRIPT_END && two->kind != SCRIPT_END) {
        if (script_bytes(one) != script_bytes(two))
          return script_fail(p, "%s of %u bytes on rank %d and of %u on rank %d, expected as many",
                             script_word(two), script_bytes(one), first, script_bytes(two), rank);
        one = next_call(one + 1, comm);
        two = next_call(two + 1, comm);
      }
    }
  }
  return true;
}

bool script_is_member(const struct script *script, int comm, int rank)
{
  comm = comm >= SCRIPT_HIDDEN ? comm - SCRIPT_HIDDEN : comm;
  return comm == 0 || script->members[rank * SCRIPT_COMMS + comm];
}

/* Judges that either all ranks have free programs or none has. If all are free, every message can
 * be taken at once. */
static bool check_free(struct parser *p, struct script *script)
{
  script->free = p->free;
  for (int rank = 0; p->free && rank < script->ranks; rank++)
    for (const struct operation *op = script->ops[rank]; op->kind != SCRIPT_END; op++)
      if (op->kind != SCRIPT_FREE)
        return script_fail(p,
                           "'free' beside other operations, expected all ranks to be free or none");
  return true;
}

static bool make_windows(struct parser *p, struct script *script)
{
  script->windows = p->windows;
  const char *wrong = script_make_windows(script);
  return !wrong || script_fail(p, "%s", wrong);
}

/* Reads the operations that start at `at` as the program of rank `self`. */
static bool parse_program(struct parser *p, const char *at, int self, struct script *script)
{
  struct list list = {0};
  p->at = at;
  bool fine = (!word_peek(p).length || parse_list(p, &list, false)) && check_names(p, &list);
  number_iterations(&list);
  if (fine) {
    append(&list, &(struct operation){.kind = SCRIPT_END});
    script->ops[self] = list.item;
  } else {
    free(list.item);
  }
  return fine;
}

/* Reads the head of a line, up to the colon. `*rank` is -1 for '*'. */
static bool parse_head(struct parser *p, int *rank)
{
  struct word word = word_take(p);
  if (!word_is(word, "rank"))
    return word_expected(p, word, "'rank'");
  word = word_take(p);
  char what[64];
  snprintf(what, sizeof what, "a rank from 0 to %d or '*'", p->ranks - 1);
  *rank = -1;
  if (!word_is(word, "*") && !word_number(word, p->ranks - 1, rank))
    return word_expected(p, word, what);
  word = word_take(p);
  return word_is(word, ":") || word_expected(p, word, "':'");
}

/* Describes the place of the line `rank *`. */
struct rest {
  const char *at, *end;
  int line;
};

static bool parse_line(struct parser *p, struct script *script, struct rest *rest)
{
  if (!word_peek(p).length)
    return true;
  int rank = -1;
  if (!parse_head(p, &rank))
    return false;
  if (rank < 0) {
    if (rest->at)
      return script_fail(p, "a second line for rank *, expected one");
    *rest = (struct rest){p->at, p->end, p->line};
    return true;
  }
  if (script->ops[rank])
    return script_fail(p, "a second line for rank %d, expected one", rank);
  return parse_program(p, p->at, rank, script);
}

/* Makes the programs of the ranks without a line of their own. */
static bool parse_rest(struct parser *p, struct script *script, const struct rest *rest)
{
  for (int rank = 0; rank < p->ranks; rank++) {
    if (script->ops[rank])
      continue;
    if (!rest->at)
      return script_fail(p, "no line for rank %d, expected 'rank %d:' or 'rank *:'", rank, rank);
    p->end = rest->end;
    p->line = rest->line;
    if (!parse_program(p, rest->at, rank, script))
      return false;
  }
  return true;
}

struct script *script_parse(const char *text, int ranks, int *line, char **message)
{
  struct script *script = checked(calloc(1, sizeof *script));
  script->ranks = ranks;
  script->ops = checked(calloc((size_t)ranks, sizeof *script->ops));
  struct parser p = {.at = text, .ranks = ranks};
  struct rest rest = {0};
  bool fine = true;
  for (const char *start = text; fine && *start;) {
    size_t length = strcspn(start, "\n");
    const char *comment = memchr(start, '#', length);
    p.at = start;
    p.end = comment ? comment : start + length;
    p.line++;
    fine = parse_line(&p, script, &rest);
    start += length + (start[length] == '\n');
  }
  if (fine && parse_rest(&p, script, &rest) && check_free(&p, script) &&
      check_members(&p, script) && check_bytes(&p, script) && make_windows(&p, script))
    return script;
  *line = p.line ? p.line : 1;
  *message = p.message;
  script_free(script);
  return NULL;
}

void script_free(struct script *script)
{
  if (!script)
    return;
  free_ops(script->ops, script->ranks);
  free_ops(script->written, script->ranks);
  free(script->members);
  free(script);
}
