/* Tests which scripts are read, and which are refused with which words. */
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "protocols/t/tap.h"
#include "world/script/content.h"
#include "world/script/script.h"
#include "world/script/window_rules.h"

/* Writes the operations of a rank as text that can be compared. */
static void print(const struct operation *op, char *text)
{
  *text = '\0';
  for (; op->kind != SCRIPT_END; op++)
    text += sprintf(text, "%d:%d:%d:%d:%u ", op->kind, op->peer, op->tag, op->name, op->count);
}

static void reads(const char *text, int ranks, int rank, const char *expected)
{
  int line;
  char *message = NULL, got[4096] = "";
  struct script *script = script_parse(text, ranks, &line, &message);
  if (script)
    print(script->ops[rank], got);
  static int number;
  if (!ok(script && !strcmp(got, expected), "reads program %d", ++number))
    note("got %s %s", got, message ? message : "");
  script_free(script);
  free(message);
}

static void refuses(const char *text, int ranks, int line, const char *expected)
{
  int got = 0;
  char *message = NULL;
  struct script *script = script_parse(text, ranks, &got, &message);
  if (!ok(!script && got == line && message && !strcmp(message, expected), "refuses: %s", expected))
    note("line %d: %s", got, message ? message : "accepted");
  script_free(script);
  free(message);
}

static void spells_out(const char *text, int ranks, int rank, const char *expected)
{
  int line;
  char *message = NULL, got[4096] = "";
  struct script *script = script_parse(text, ranks, &line, &message);
  bool fine = script && script_spell_out(script);
  if (fine)
    print(script->ops[rank], got);
  for (const struct operation *op = fine ? script->ops[rank] : NULL; op && op->kind != SCRIPT_END;
       op++)
    fine &= op->comm == SCRIPT_HIDDEN || op->tag == 9;
  static int number;
  if (!ok(fine && !strcmp(got, expected), "spells out program %d", ++number))
    note("got %s %s", got, message ? message : "");
  script_free(script);
  free(message);
}

static void spelled_out(void)
{
  spells_out("rank *: bcast 1", 3, 0, "1:1:1:8:0 ");
  spells_out("rank *: bcast 1", 3, 1, "0:0:1:8:0 0:2:1:8:0 ");
  spells_out("rank *: bcast 0, reduce 2", 3, 2, "1:0:1:8:0 1:0:2:8:0 1:1:2:8:0 ");
  spells_out("rank *: bcast 0, reduce 2", 3, 1, "1:0:1:8:0 0:2:2:8:0 ");
  spells_out("rank *: allreduce", 1, 0, "");
  spells_out("rank *: allreduce", 2, 0, "1:1:1:8:0 0:1:1:8:0 ");
  spells_out("rank 0: send 1 tag 9, barrier\nrank 1: recv 0 tag 9, barrier", 2, 1,
             "1:0:9:8:0 0:0:1:8:0 1:0:1:8:0 ");
  int line;
  char *message;
  struct script *script =
      script_parse("rank *: allreduce, member 1, barrier on 1", 2, &line, &message);
  bool on_its_own = script && script_spell_out(script);
  const struct operation *op = on_its_own ? script->ops[1] : NULL;
  for (int comm = 0; op && op->kind != SCRIPT_END; op++)
    if (op->kind == SCRIPT_MEMBER)
      comm = op->comm;
    else
      on_its_own &= op->comm == SCRIPT_HIDDEN + comm;
  ok(on_its_own, "messages of a call have a context of its communicator's own");
  script_free(script);
  script = script_parse("rank 1: allreduce\nrank *: allreduce, member 1, bcast 0 on 1", 3, &line,
                        &message);
  bool to_members = script && script_spell_out(script);
  unsigned sent = 0;
  for (op = to_members ? script->ops[0] : NULL; op && op->kind != SCRIPT_END; op++)
    if (op->comm == SCRIPT_HIDDEN + 1) {
      to_members &= op->kind == SCRIPT_SEND && op->peer == 2;
      sent++;
    }
  ok(to_members && sent == 1, "a root sends to members alone");
  script_free(script);
  script = script_parse("rank *: repeat 30000 (barrier)", 3, &line, &message);
  ok(script && !script_spell_out(script) && !script->spelled, "too many messages");
  script_free(script);
}

static void accepted(void)
{
  reads("rank *:", 1, 0, "");
  reads("rank *: send 0", 2, 0, "0:0:0:0:0 ");
  reads("rank *: ssend 0 tag 2", 2, 0, "0:0:2:0:1 ");
  reads("rank 0: send 1 tag 7, recv any\nrank 1: recv 0", 2, 0, "0:1:7:0:0 1:-1:0:8:0 ");
  reads("rank 1: recv 0 tag any # so\n\n# nothing\nrank 0: send 1", 2, 1, "1:0:-1:8:0 ");
  reads("rank *: choose 3, checkpoint, compute 1.5ms", 2, 1, "4:0:0:0:3 5:0:0:0:0 6:0:0:0:0 ");
  reads("rank 0: irecv b 1 tag 2, wait b\nrank *: send 0 tag 2", 2, 0, "2:1:2:1:0 3:0:0:1:0 ");
  reads("rank 0: repeat 2 (send 1, repeat 2(choose 2))\nrank 1:", 2, 0,
        "0:1:0:0:0 4:0:0:0:2 4:0:0:0:2 0:1:0:0:0 4:0:0:0:2 4:0:0:0:2 ");
  reads("rank 0: repeat 0 (send 1), choose 2\nrank 1:", 2, 0, "4:0:0:0:2 ");
  reads("rank *: free 2\nrank 1: free 0", 2, 0, "8:0:0:0:0 8:0:0:0:0 ");
  reads("rank 0: irecv b 1 tag 2, cancel b\nrank *: send 0 tag 2", 2, 0, "2:1:2:1:0 9:1:2:1:0 ");
  reads("rank 0: repeat 2 (irecv a 1, wait a)\nrank 1:\r\n", 2, 0,
        "2:1:0:0:0 3:0:0:0:0 2:1:0:0:0 3:0:0:0:0 ");
  reads("rank *: irecv a 0, irecv b 0, waitany a b, test a, if 1 (send 0, if 0 (send 0)), wait a, "
        "wait b",
        1, 0,
        "2:0:0:0:0 2:0:0:1:0 12:0:1:0:0 11:0:0:0:0 13:0:0:0:1 0:0:0:0:0 13:0:0:0:0 "
        "0:0:0:0:0 3:0:0:0:0 3:0:0:1:0 ");
  reads("rank *: allreduce, member 1, barrier on 1", 2, 0, "7:0:0:0:0 14:0:0:0:0 7:0:0:0:0 ");
  reads("rank 0: allreduce\nrank *: allreduce, member 1, barrier on 1, reduce 2 on 1", 3, 1,
        "7:0:0:0:0 14:0:0:0:0 7:0:0:0:0 7:2:0:0:0 ");
  reads("rank *: allreduce, member 1, allreduce, member 1", 2, 0,
        "7:0:0:0:0 14:0:0:0:0 7:0:0:0:0 14:0:0:0:0 ");
}

/* Tests that a cancelled receive is received again on the communicator on which it was posted. */
static void cancels(void)
{
  int line;
  char *message = NULL;
  struct script *script =
      script_parse("rank *: allreduce, member 2, irecv a 0 on 2, cancel a", 1, &line, &message);
  ok(script && script->ops[0][3].kind == SCRIPT_CANCEL && script->ops[0][3].comm == 2,
     "cancel keeps the communicator");
  script_free(script);
  free(message);
}

/* Tests that operations on windows become messages of communicator 3, with tags of their own. */
static void windows(void)
{
  reads("rank *: window", 2, 1, "7:0:0:0:0 14:0:0:0:0 ");
  reads("rank 0: window, put 1 0 3, fence\nrank 1: window, fence", 2, 0,
        "7:0:0:0:0 14:0:0:0:0 17:1:0:0:0 7:0:0:0:0 0:1:2:2:0 27:0:0:0:0 28:-1:0:0:0 ");
  reads("rank 0: window, put 1 0 3, fence\nrank 1: window, fence", 2, 1,
        "7:0:0:0:0 14:0:0:0:0 7:0:0:0:0 2:0:2:0:0 3:0:2:0:0 27:1:0:0:0 28:-1:0:0:0 ");
  reads("rank 0: window, fence, get 1 0, fence\nrank 1: window, fence, fence", 2, 0,
        "7:0:0:0:0 14:0:0:0:0 7:0:0:0:0 27:0:0:0:0 28:-1:0:0:0 17:1:0:0:0 7:0:0:0:0 2:1:3:3:0 "
        "0:1:2:2:0 27:0:0:0:0 3:1:3:3:0 28:-1:0:0:0 ");
  reads("rank 0: window, start 1, fetch 1 1 last+2, complete\nrank 1: window, post 0, wait window",
        2, 0,
        "7:0:0:0:0 14:0:0:0:0 17:1:0:0:0 1:1:0:8:0 2:1:3:3:0 0:1:2:2:0 0:1:1:2:0 3:1:3:3:0 "
        "28:1:0:0:0 ");
  reads("rank 0: window, start 1, fetch 1 1 last+2, complete\nrank 1: window, post 0, wait window",
        2, 1, "7:0:0:0:0 14:0:0:0:0 0:0:0:0:0 1:0:1:8:0 2:0:2:0:0 3:0:2:0:0 0:0:3:1:0 ");
}

/* Tests the operations that replace locks. Operation 29 (SERVE) waits for a receive; for -1 it
 * waits for nothing, and for -2 it waits for the rank's own lock. */
static void locks(void)
{
  const char *text = "rank 0: window, lock 1, get 1 0, flush 1, unlock 1\nrank 1: window";
  const char *meets = "0:1:6:5:0 2:1:6:5:0 29:0:0:5:0 3:1:6:5:0 ";
  char expected[512];
  snprintf(expected, sizeof expected, "%s%s%s",
           "7:0:0:0:0 14:0:0:0:0 17:1:0:0:0 2:1:5:1:0 0:1:4:2:0 29:0:0:1:0 3:1:5:1:0 28:1:0:0:0 ",
           "2:1:5:1:0 0:1:4:2:0 29:0:0:1:0 3:1:5:1:0 28:1:0:0:0 ", meets);
  reads(text, 2, 0, expected);
  reads("rank 0: window, lock 0, put 0 0 1, unlock 0, send 1\nrank 1: window, recv any", 2, 0,
        "7:0:0:0:0 14:0:0:0:0 30:0:0:0:0 29:0:0:-2:0 17:0:0:0:0 27:0:0:0:0 29:0:0:-1:0 31:0:0:0:0 "
        "28:0:0:0:0 0:1:0:0:0 29:0:0:-1:0 0:1:6:5:0 2:1:6:5:0 29:0:0:5:0 3:1:6:5:0 ");
  reads("rank 0: window, lock 0, put 0 0 1, unlock 0, send 1\nrank 1: window, recv any", 2, 1,
        "7:0:0:0:0 14:0:0:0:0 2:-1:0:4:0 29:0:0:4:0 3:-1:0:4:0 0:0:6:5:0 2:0:6:5:0 29:0:0:5:0 "
        "3:0:6:5:0 ");
}

/* Tests which message may go ahead. Each letter of `wishes` stands for a waiting message, in
 * order: e, s or n (exclusive, shared, none). `origins` has the origin of each message, and `held`
 * has a letter for each origin. */
static void next_is(const char *wishes, const char *origins, const char *held, int expected)
{
  enum { MOST = 4 };
  struct lock_wait wait[MOST];
  uint8_t locks[MOST];
  int count = (int)strlen(wishes), ranks = (int)strlen(held);
  for (int i = 0; i < count; i++)
    wait[i] = (struct lock_wait){.origin = origins[i] - '0',
                                 .lock = wishes[i] == 'e'   ? LOCK_EXCLUSIVE
                                         : wishes[i] == 's' ? LOCK_SHARED
                                                            : LOCK_NONE,
                                 .next = i + 1 < count ? &wait[i + 1] : NULL};
  for (int i = 0; i < ranks; i++)
    locks[i] = held[i] == 'e' ? LOCK_EXCLUSIVE : held[i] == 's' ? LOCK_SHARED : LOCK_NONE;
  const struct lock_wait *next = locks_next(count ? wait : NULL, locks, ranks);
  ok(next == (expected < 0 ? NULL : &wait[expected]), "%s of %s, held %s: %d is next", wishes,
     origins, held, expected);
}

static void locks_granted(void)
{
  next_is("", "", "nnn", -1);
  next_is("e", "0", "nnn", 0);
  next_is("e", "0", "nsn", -1);
  next_is("e", "0", "nen", -1);
  next_is("s", "0", "nsn", 0);
  next_is("s", "0", "nen", -1);
  next_is("s", "0", "snn", 0);
  next_is("ee", "01", "nne", -1);
  next_is("es", "01", "nns", -1); /* an earlier request goes ahead */
  next_is("en", "02", "nne", 1);  /* the holder of the lock goes ahead */
  next_is("en", "01", "nns", 1);
  next_is("en", "00", "nne", -1); /* but not ahead of its own earlier messages */
  next_is("nn", "00", "nnn", 0);
}

static void locks_refused(void)
{
  refuses("rank *: window, lock 1, lock 1, unlock 1", 2, 1,
          "lock of a rank that is locked, expected 'unlock' before it");
  refuses("rank *: window, lock 1, unlock 1, flush 1", 2, 1,
          "flush or unlock of a rank that is not locked, expected 'lock' before it");
  refuses("rank *: window, lock 1, put 0 0 1, unlock 1", 2, 1,
          "an access to a rank that is not locked, expected 'lock' before it");
  refuses("rank *: window, lock 1, unlock 1, fence", 2, 1,
          "fence, post or start beside locks, expected either");
  refuses("rank *: allreduce, member 1, window, lock 1, unlock 1", 2, 1,
          "communicators beside locks, expected none");
  refuses("rank *: window, lock 1", 2, 1,
          "an epoch is never ended, expected 'fence', 'complete', 'wait window' or 'unlock'");
}

static void windows_refused(void)
{
  refuses("rank *: fence", 2, 1, "a window is used, expected 'window' before");
  refuses("rank *: window, window", 2, 1, "a second window, expected one");
  refuses("rank 0: window\nrank 1: send 0", 2, 2,
          "a rank without a window, expected 'window' on all ranks");
  refuses("rank *: window", 5, 1, "windows of more than 4 ranks, expected fewer");
  refuses("rank *: window, put 1 0 1", 2, 1,
          "an epoch is never ended, expected 'fence', 'complete', 'wait window' or "
          "'unlock'");
  refuses("rank *: window, put 1 2 1", 2, 1, "found '2', expected a number of the window, 0 or 1");
  refuses("rank *: window, put 1 0 first", 2, 1,
          "found 'first', expected a value (a number up to 65535, 'last' or such as 'last+1')");
  refuses("rank *: window, put 1 0 last1", 2, 1,
          "found 'last1', expected a value (a number up to 65535, 'last' or such as 'last+1')");
  refuses("rank *: window, repeat 5 (put 1 0 1), fence", 2, 1,
          "more than 4 accesses that are not complete, expected 'fence', 'complete' or 'flush'");
  refuses("rank 0: window, fence\nrank 1: window", 2, 2,
          "ranks with different numbers of fences, expected the same");
  refuses("rank *: window, irecv a 0, wait a", 2, 1,
          "irecv or ssend beside windows, expected recv or send");
  refuses("rank *: window, barrier on 3", 2, 1,
          "rank 0 uses communicator 3, expected 'member 3' before, of its peer, too");
  refuses("rank *: allreduce, member 3, window", 2, 1,
          "communicator 3 beside windows, which are made with it, expected 1 or 2");
  refuses("rank *: window, complete", 2, 1,
          "wait window or complete without its epoch, expected 'post' or 'start' before it");
  refuses("rank 0: window, start 1, put 0 0 1, complete\nrank 1: window", 2, 2,
          "an access to another rank than that of 'start', expected the same");
  refuses("rank 0: window, post 1, fence\nrank 1: window, fence", 2, 2,
          "fence within an epoch, expected 'complete' or 'wait window' before it");
  refuses("rank 0: window, post 0\nrank 1: window", 2, 2,
          "post or start of the rank itself, expected another rank");
  refuses("rank 0: window, post 1, post 1\nrank 1: window", 2, 2,
          "post or start within another, expected 'wait window' or 'complete' before it");
  refuses("rank 0: window, put 0 0 1, start 1\nrank 1: window", 2, 2,
          "start while accesses are not complete, expected 'fence' before it");
  refuses("rank 0: window, start 1, complete\nrank 1: window", 2, 2,
          "post without the start for it, expected as many of one as of the other");
}

static void refused(void)
{
  refuses("", 1, 1, "no line for rank 0, expected 'rank 0:' or 'rank *:'");
  refuses("send 1", 2, 1, "found 'send', expected 'rank'");
  refuses("rank 0:\nrank 2:", 2, 2, "found '2', expected a rank from 0 to 1 or '*'");
  refuses("rank 0 send 1", 2, 1, "found 'send', expected ':'");
  refuses("rank 0:\nrank 0:", 1, 2, "a second line for rank 0, expected one");
  refuses("rank *:\nrank *:", 1, 2, "a second line for rank *, expected one");
  refuses("rank 0: send", 2, 1, "the line ends, expected a rank from 0 to 1");
  refuses("rank 0: send any", 2, 1, "found 'any', expected a rank from 0 to 1");
  refuses("rank 0: recv 2", 2, 1, "found '2', expected a rank from 0 to 1 or 'any'");
  refuses("rank 0: send 1 tag any", 2, 1, "found 'any', expected a tag (a number)");
  refuses("rank 0: send 1 tag 9999999999", 2, 1, "found '9999999999', expected a tag (a number)");
  refuses("rank 0: send 1 recv 1", 2, 1, "found 'recv', expected ','");
  refuses(
      "rank 0: send 1,", 2, 1,
      "the line ends, expected an operation (send, ssend, recv, irecv, wait, cancel, test, "
      "waitany, choose, output, checkpoint, iteration, compute, bcast, reduce, allreduce, barrier, "
      "member, window, put, get, accumulate, fetch, load, fence, post, start, complete, lock, "
      "flush, unlock, repeat, "
      "if or free)");
  refuses("rank *: test a", 1, 1,
          "test of a receive that is not outstanding, expected 'irecv' before it");
  refuses("rank *: if 1 (barrier)", 2, 1,
          "an operation within if that others wait for, expected send, ssend, recv, choose, "
          "output, checkpoint, "
          "compute, repeat or if");
  refuses("rank *: member 1", 2, 1,
          "member 1 does not follow an allreduce, expected one before it");
  refuses("rank 0: allreduce, member 1, send 1 on 1\nrank 1: allreduce", 2, 2,
          "rank 0 uses communicator 1, expected 'member 1' before, of its peer, too");
  refuses("rank *: allreduce, member 4", 2, 1, "found '4', expected a communicator from 1 to 3");
  refuses("rank 0: choose 0", 1, 1, "found '0', expected a number of outcomes, at least 1");
  refuses("rank 0: compute 3", 1, 1,
          "found '3', expected a time such as 1.5ms (ns, us, ms, s, min, h, d or y)");
  refuses("rank 0: irecv x 1", 2, 1, "found 'x', expected a name from a to h");
  refuses("rank 0: wait a", 1, 1,
          "wait a without a receive of that name, expected 'irecv a' before it");
  refuses("rank 0: cancel a", 1, 1,
          "cancel a without a receive of that name, expected 'irecv a' before it");
  refuses("rank 0: irecv a 1, irecv a 1", 2, 1,
          "irecv a while a is outstanding, expected 'wait a' before it");
  refuses("rank 0: irecv a 1", 2, 1, "irecv a is never completed, expected 'wait a'");
  refuses("rank 0: free", 1, 1,
          "the line ends, expected how many messages may be sent (a number up to 65535)");
  refuses("rank 0: free 1\nrank 1: send 0", 2, 2,
          "'free' beside other operations, expected all ranks to be free or none");
  refuses("rank 0: repeat 2 (choose 2", 1, 1, "the line ends, expected ',' or ')'");
  refuses("rank 0: repeat 60000 (choose 2, choose 2)", 1, 1,
          "more than 65535 operations, expected a shorter program");
}

/* Returns whether each bit of the result flips in about half of the inputs when any one bit of the
 * input flips: in 64 +- 30 of 128 inputs, where the standard deviation is 5.7. */
static bool spreads(void)
{
  enum { INPUTS = 128, BITS = 256, RESULT = 128 };
  static uint32_t flips[BITS][RESULT];
  for (uint32_t i = 0; i < INPUTS; i++)
    for (uint32_t bit = 0; bit < BITS; bit++) {
      struct content in[2] = {content_of(i), content_of(INPUTS + i)};
      const struct content before = content_fold(in[0], in[1]);
      in[bit / RESULT].word[bit % RESULT / 32] ^= UINT32_C(1) << bit % 32;
      const struct content after = content_fold(in[0], in[1]);
      for (uint32_t place = 0; place < RESULT; place++)
        flips[bit][place] += (before.word[place / 32] ^ after.word[place / 32]) >> place % 32 & 1;
    }
  for (uint32_t bit = 0; bit < BITS; bit++)
    for (uint32_t place = 0; place < RESULT; place++)
      if (flips[bit][place] < 34 || flips[bit][place] > 94)
        return false;
  return true;
}

/* Tests that 400,000 histories, which differ in one number, in one place or in their order, have
 * different content: in all its 128 bits, and in the 64 bits that some payloads hold. */
static void contents(void)
{
  enum { LENGTH = 400000, WORDS = 2 };
  struct intern all = {0}, high = {0}, low = {0};
  struct content history = content_of(0);
  for (uint32_t i = 0; i < LENGTH; i++) {
    struct content other = content_fold(content_of(i), content_of(i + 1));
    history = content_fold(history, content_of(i % 2));
    const struct content *content = i % 2 ? &history : &other;
    intern(&all, content, sizeof *content);
    intern(&low, content->word, WORDS * sizeof *content->word);
    intern(&high, content->word + WORDS, WORDS * sizeof *content->word);
  }
  ok(all.count == LENGTH && low.count == LENGTH && high.count == LENGTH,
     "different histories have different contents");
  struct content one = content_of(1), two = content_of(2);
  struct content a = content_fold(one, two), b = content_fold(two, one);
  ok(!content_same(&a, &b), "contents depend on the order");
  ok(spreads(), "each bit of what was seen and of what comes next changes each bit of a content");
  intern_clear(&all);
  intern_clear(&high);
  intern_clear(&low);
}

/* Tests that payloads differ in both halves if they differ in a bit, or in the number of zeros at
 * their end. */
static void payloads(void)
{
  enum { BYTES = 100 };
  unsigned char payload[BYTES] = {0};
  struct intern low = {0}, high = {0};
  uint32_t count = 0;
  for (size_t size = 0; size <= BYTES; size++)
    for (size_t bit = 0; bit < (size ? 8 * size : 1);
         bit += size == BYTES ? 1 : 8 * size + 1, count++) {
      payload[bit / 8] = (unsigned char)(size == BYTES ? 1u << bit % 8 : 0);
      struct content content = content_of_bytes(payload, size);
      intern(&low, content.word, 2 * sizeof *content.word);
      intern(&high, content.word + 2, 2 * sizeof *content.word);
      payload[bit / 8] = 0;
    }
  ok(count > 8 * BYTES && low.count == count && high.count == count,
     "different payloads have different contents");
  intern_clear(&low);
  intern_clear(&high);
}

int main(void)
{
  accepted();
  refused();
  spelled_out();
  cancels();
  windows();
  windows_refused();
  locks();
  locks_granted();
  locks_refused();
  contents();
  payloads();
  return done();
}
