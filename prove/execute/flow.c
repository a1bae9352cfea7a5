#include "prove/execute/flow.h"

#include <string.h>

enum { LEVELS = 6, NO_LOOP = UINT16_MAX };

/* Describes a basic block. The place of the block is given from the outermost loop inwards: first
 * the place of that loop among the blocks and loops beside it, then the place within that loop, and
 * so on. */
struct block_flow {
  LLVMBasicBlockRef block;
  unsigned levels;
  uint16_t place[LEVELS + 1], loop[LEVELS]; /* loop[i]: the loop that contains place[i + 1] */
  uint16_t begins;                          /* the loop that the block begins, or NO_LOOP */
  bool meets;                               /* several blocks lead to this block */
  uint8_t *needed;                          /* values that are needed at the end of the block */
};

struct flow {
  GHashTable *numbers; /* numbers of arguments and instructions, from 1 */
  GHashTable *places;  /* places of blocks in block[], from 1 */
  GHashTable *needs;   /* by instruction: the values that are needed there */
  GHashTable *steers;
  struct block_flow *block;
  unsigned blocks, values;
  uint16_t loops;
};

static struct block_flow *block_at(const struct flow *f, LLVMBasicBlockRef block)
{
  return &f->block[GPOINTER_TO_UINT(g_hash_table_lookup(f->places, block)) - 1];
}

/* ---- the order ---- */

/* Holds a search for loops among some of the blocks (Tarjan's strongly connected components). */
struct search {
  struct flow *f;
  const bool *within; /* by block: whether the search covers the block */
  /* the block to which edges are left out, or NULL if no edges are */
  LLVMBasicBlockRef head;
  unsigned *index, *low, *stack; /* by block, from 1 */
  unsigned next, height, level;
  GPtrArray *found; /* bool *: the blocks of each component, beginning with the last component */
};

static void search_block(struct search *s, unsigned b)
{
  struct flow *f = s->f;
  LLVMValueRef end = LLVMGetBasicBlockTerminator(f->block[b].block);
  s->index[b] = s->low[b] = ++s->next;
  s->stack[s->height++] = b;
  for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
    LLVMBasicBlockRef to = LLVMGetSuccessor(end, i);
    unsigned n = (unsigned)(block_at(f, to) - f->block);
    if (!s->within[n] || to == s->head)
      continue;
    if (!s->index[n]) {
      search_block(s, n);
      s->low[b] = MIN(s->low[b], s->low[n]);
    } else if (s->index[n] != UINT32_MAX) {
      s->low[b] = MIN(s->low[b], s->index[n]);
    }
  }
  if (s->low[b] != s->index[b])
    return;
  bool *component = g_new0(bool, f->blocks);
  unsigned member;
  do {
    member = s->stack[--s->height];
    component[member] = true;
    s->index[member] = UINT32_MAX; /* the block is in a component now */
  } while (member != b);
  g_ptr_array_add(s->found, component);
}

static bool leads_to(const struct flow *f, unsigned from, unsigned to)
{
  LLVMValueRef end = LLVMGetBasicBlockTerminator(f->block[from].block);
  for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
    if (LLVMGetSuccessor(end, i) == f->block[to].block)
      return true;
  return false;
}

/* Returns the block by which a loop is entered, or the first if there are several. C code without
 * goto has only one. */
static unsigned head_of(const struct flow *f, const bool *loop)
{
  unsigned first = f->blocks;
  for (unsigned b = 0; b < f->blocks; b++) {
    if (loop[b] && first == f->blocks)
      first = b;
    for (unsigned from = 0; loop[b] && from < f->blocks; from++)
      if (!loop[from] && leads_to(f, from, b))
        return b;
  }
  return first;
}

static bool is_loop(const struct flow *f, const bool *component, LLVMBasicBlockRef head)
{
  unsigned members = 0, last = 0;
  for (unsigned b = 0; b < f->blocks; b++)
    if (component[b]) {
      members++;
      last = b;
    }
  return members > 1 || (f->block[last].block != head && leads_to(f, last, last));
}

static void place_blocks(struct flow *f, const bool *within, LLVMBasicBlockRef head, unsigned level)
{
  unsigned room = f->blocks + 1;
  struct search s = {.f = f,
                     .within = within,
                     .head = head,
                     .index = g_new0(unsigned, room),
                     .low = g_new0(unsigned, room),
                     .stack = g_new0(unsigned, room),
                     .found = g_ptr_array_new_with_free_func(g_free)};
  unsigned first = head ? (unsigned)(block_at(f, head) - f->block) : 0;
  search_block(&s, first); /* every block can be reached from the first one */
  for (unsigned b = 0; b < f->blocks; b++)
    if (within[b] && !s.index[b])
      search_block(&s, b);
  for (unsigned k = 0; k < s.found->len; k++) {
    bool *component = s.found->pdata[s.found->len - 1 - k];
    bool loop = level < LEVELS && is_loop(f, component, head);
    uint16_t number = loop ? f->loops++ : NO_LOOP;
    for (unsigned b = 0; b < f->blocks; b++)
      if (component[b]) {
        f->block[b].place[level] = (uint16_t)k;
        f->block[b].levels = level + loop;
        if (loop)
          f->block[b].loop[level] = number;
      }
    if (loop) {
      unsigned begins = head_of(f, component);
      f->block[begins].begins = number;
      place_blocks(f, component, f->block[begins].block, level + 1);
    }
  }
  g_ptr_array_free(s.found, TRUE);
  g_free(s.index);
  g_free(s.low);
  g_free(s.stack);
}

/* ---- values that are needed ---- */

static int number_of(const struct flow *f, LLVMValueRef v)
{
  return (int)GPOINTER_TO_UINT(g_hash_table_lookup(f->numbers, v)) - 1;
}

/* Goes back over one instruction. The value of the instruction is not needed in front of it, but
 * its operands are. The operands of a phi are needed in the block from which the jump comes. */
static void step_back(const struct flow *f, LLVMValueRef v, uint8_t *needed)
{
  needed[number_of(f, v)] = 0;
  for (int i = 0; LLVMGetInstructionOpcode(v) != LLVMPHI && i < LLVMGetNumOperands(v); i++) {
    int number = number_of(f, LLVMGetOperand(v, (unsigned)i));
    if (number >= 0)
      needed[number] = 1;
  }
}

/* Adds the operands that the phis of a block take when a jump comes from `from`. */
static void add_phis(const struct flow *f, LLVMBasicBlockRef to, LLVMBasicBlockRef from,
                     uint8_t *needed)
{
  for (LLVMValueRef v = LLVMGetFirstInstruction(to); LLVMGetInstructionOpcode(v) == LLVMPHI;
       v = LLVMGetNextInstruction(v))
    for (unsigned i = 0; i < LLVMCountIncoming(v); i++) {
      int number = number_of(f, LLVMGetIncomingValue(v, i));
      if (LLVMGetIncomingBlock(v, i) == from && number >= 0)
        needed[number] = 1;
    }
}

/* Finds the values that are needed at the end of a block because its successors need them. Returns
 * whether it found any that were not known before. */
static bool renew_needs(struct flow *f, struct block_flow *b)
{
  LLVMValueRef end = LLVMGetBasicBlockTerminator(b->block);
  g_autofree uint8_t *all = g_new0(uint8_t, f->values + 1), *each = g_new0(uint8_t, f->values + 1);
  for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
    LLVMBasicBlockRef to = LLVMGetSuccessor(end, i);
    memcpy(each, block_at(f, to)->needed, f->values);
    for (LLVMValueRef v = LLVMGetLastInstruction(to); v; v = LLVMGetPreviousInstruction(v))
      step_back(f, v, each);
    add_phis(f, to, b->block, each);
    for (unsigned k = 0; k < f->values; k++)
      all[k] |= each[k];
  }
  if (!memcmp(all, b->needed, f->values))
    return false;
  memcpy(b->needed, all, f->values);
  return true;
}

static void find_needs(struct flow *f)
{
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned b = f->blocks; b-- > 0;)
      changed |= renew_needs(f, &f->block[b]);
  }
}

const uint8_t *flow_needed(struct flow *f, LLVMValueRef next)
{
  uint8_t *needed = g_hash_table_lookup(f->needs, next);
  if (needed)
    return needed;
  LLVMBasicBlockRef block = LLVMGetInstructionParent(next);
  needed = g_memdup2(block_at(f, block)->needed, f->values + 1);
  for (LLVMValueRef v = LLVMGetLastInstruction(block); v != next; v = LLVMGetPreviousInstruction(v))
    step_back(f, v, needed);
  step_back(f, next, needed);
  g_hash_table_insert(f->needs, next, needed);
  return needed;
}

/* ---- values that steer ---- */

static bool is_arithmetic(LLVMValueRef user)
{
  LLVMOpcode op = LLVMGetInstructionOpcode(user);
  return LLVMIsABinaryOperator(user) || LLVMIsACastInst(user) || op == LLVMPHI || op == LLVMSelect;
}

/* Returns whether the user takes the value as an index, or is a call that takes the value as a
 * number of bytes. */
static bool is_steered(LLVMValueRef user, LLVMValueRef v)
{
  LLVMOpcode op = LLVMGetInstructionOpcode(user);
  if (op == LLVMCall)
    return LLVMIsAMemIntrinsic(user) && LLVMGetOperand(user, 2) == v;
  return op == LLVMGetElementPtr && LLVMGetOperand(user, 0) != v;
}

bool flow_steers(struct flow *f, LLVMValueRef v)
{
  enum { NO = 1, YES };
  unsigned known = GPOINTER_TO_UINT(g_hash_table_lookup(f->steers, v));
  if (known)
    return known == YES;
  /* the search may come back to this value through a phi */
  g_hash_table_insert(f->steers, v, GUINT_TO_POINTER(NO));
  bool steers = false;
  for (LLVMUseRef use = LLVMGetFirstUse(v); use && !steers; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    steers = is_steered(user, v) || (is_arithmetic(user) && flow_steers(f, user));
  }
  if (steers)
    g_hash_table_insert(f->steers, v, GUINT_TO_POINTER(YES));
  return steers;
}

/* ---- life, and positions ---- */

struct flow *flow_new(LLVMValueRef function, GHashTable *numbers)
{
  struct flow *f = g_new0(struct flow, 1);
  f->numbers = numbers;
  f->values = g_hash_table_size(numbers);
  f->places = g_hash_table_new(NULL, NULL);
  f->needs = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  f->steers = g_hash_table_new(NULL, NULL);
  f->blocks = LLVMCountBasicBlocks(function);
  f->block = g_new0(struct block_flow, f->blocks);
  unsigned count = 0;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
    f->block[count] = (struct block_flow){
        .block = b, .begins = NO_LOOP, .needed = g_new0(uint8_t, f->values + 1)};
    g_hash_table_insert(f->places, b, GUINT_TO_POINTER(++count));
  }
  g_autofree bool *all = g_new0(bool, f->blocks);
  for (unsigned b = 0; b < f->blocks; b++) {
    unsigned from = 0;
    for (unsigned each = 0; each < f->blocks; each++)
      from += leads_to(f, each, b);
    f->block[b].meets = from > 1;
    all[b] = true;
  }
  place_blocks(f, all, NULL, 0);
  find_needs(f);
  return f;
}

void flow_free(struct flow *f)
{
  for (unsigned b = 0; b < f->blocks; b++)
    g_free(f->block[b].needed);
  g_hash_table_destroy(f->places);
  g_hash_table_destroy(f->needs);
  g_hash_table_destroy(f->steers);
  g_free(f->block);
  g_free(f);
}

unsigned flow_loops(const struct flow *f)
{
  return f->loops;
}

static bool is_in_loop(const struct block_flow *b, uint16_t loop)
{
  for (unsigned level = 0; level < b->levels; level++)
    if (b->loop[level] == loop)
      return true;
  return false;
}

bool flow_jump(const struct flow *f, uint16_t *trips, LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
  const struct block_flow *a = block_at(f, from), *b = block_at(f, to);
  for (unsigned level = 0; level < b->levels; level++)
    if (!is_in_loop(a, b->loop[level]))
      trips[b->loop[level]] = 0;
  if (b->begins != NO_LOOP && is_in_loop(a, b->begins))
    trips[b->begins]++;
  return b->meets;
}

int flow_compare(const struct flow *f, LLVMValueRef a, const uint16_t *a_trips, LLVMValueRef b,
                 const uint16_t *b_trips)
{
  const struct block_flow *x = block_at(f, LLVMGetInstructionParent(a)),
                          *y = block_at(f, LLVMGetInstructionParent(b));
  for (unsigned level = 0;; level++) {
    if (x->place[level] != y->place[level])
      return (int)x->place[level] - (int)y->place[level];
    if (level == x->levels || level == y->levels)
      break;
    int trips = (int)a_trips[x->loop[level]] - (int)b_trips[x->loop[level]];
    if (trips)
      return trips;
  }
  return number_of(f, a) - number_of(f, b);
}
