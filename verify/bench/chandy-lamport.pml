/* The protocol chandy-lamport for SPIN, by hand, from its sources and not from its code: N ranks, K
 * sends each, to anyone, over FIFO channels; one checkpoint, no crash. Every event is atomic.
 *
 * What a rank has written counts as state: its image (what the program had sent and been given), with
 * the marker that made it take its checkpoint; the messages recorded as under way, in the order in
 * which they came, and, where there are any, the ranks that had said `done` by then and whether the
 * image was written (a restart that has nothing to deliver forgets these).
 *
 * Claim, at the commit: what each rank has recorded of each channel is what was sent before the
 * sender's checkpoint and not given before its own; and all of it is written.
 */
#ifndef N
#define N 3
#endif
#ifndef K
#define K 1
#endif
#define DATA 1
#define MARK 2
#define DONE 3

#define RUNNING 0
#define CAPTURING 1
#define RECORDING 2
#define WRITING 3

#define PAIR(i, j) ((i) * N + (j))
#define OTHERS(i) ((1 << N) - 1 - (1 << (i)))

chan channel[N * N] = [K + 2] of { byte };
byte left[N] = K;
byte phase[N];
bool captured[N];
byte marked[N]; /* channels that the marker has come through: a bit for each sender */
byte sent[N * N], given[N * N];
bool asked, committing, committed;
byte done;

/* On disk, or on the way there. */
byte image_marked[N], image_sent[N * N], image_given[N * N];
int recorded[N]; /* senders, base 4 */
byte log_done;
bool image_written[N], log_written[N], log_knows_image[N];

hidden byte head, k, l, count;
hidden int rest;

inline close_channels(j)
{
  if
  :: phase[j] == RECORDING && marked[j] == OTHERS(j) ->
     phase[j] = WRITING;
     log_knows_image[j] = recorded[j] != 0 && image_written[j];
     if
     :: j == 0 && recorded[j] != 0 -> log_done = done
     :: else
     fi
  :: else
  fi
}

inline take_image(j)
{
  captured[j] = true;
  phase[j] = RECORDING;
  image_marked[j] = marked[j];
  k = 0;
  do
  :: k < N ->
     image_sent[PAIR(j, k)] = sent[PAIR(j, k)];
     image_given[PAIR(k, j)] = given[PAIR(k, j)];
     if
     :: k != j -> channel[PAIR(j, k)]!MARK
     :: else
     fi;
     k++
  :: else -> break
  od;
  close_channels(j)
}

/* How many messages of rank l rank k has recorded. */
inline count_recorded()
{
  count = 0;
  rest = recorded[k];
  do
  :: rest > 0 ->
     count = count + (rest % 4 == l + 1);
     rest = rest / 4
  :: else -> break
  od
}

inline check_line()
{
  k = 0;
  do
  :: k < N ->
     assert(image_written[k] && log_written[k]);
     l = 0;
     do
     :: l < N ->
        count_recorded();
        assert(image_sent[PAIR(l, k)] == image_given[PAIR(l, k)] + count);
        l++
     :: else -> break
     od;
     k++
  :: else -> break
  od
}

inline commit_when_all_are_done()
{
  if
  :: phase[0] == RUNNING && done == N - 1 ->
     done = 0;
     committing = true;
     check_line()
  :: else
  fi
}

inline receive(i, j)
{
  channel[PAIR(i, j)]?head;
  if
  :: head == DATA ->
     given[PAIR(i, j)]++;
     if
     :: phase[j] == RECORDING && !((marked[j] >> (i)) & 1) -> recorded[j] = recorded[j] * 4 + i + 1
     :: else
     fi
  :: head == MARK ->
     marked[j] = marked[j] | (1 << (i));
     if
     :: !captured[j] -> phase[j] = CAPTURING
     :: else -> close_channels(j)
     fi
  :: head == DONE ->
     done++;
     commit_when_all_are_done()
  fi
}

inline end_when_all_is_written(j)
{
  if
  :: phase[j] == WRITING && image_written[j] && log_written[j] ->
     phase[j] = RUNNING;
     if
     :: j == 0 -> commit_when_all_are_done()
     :: else -> channel[PAIR(j, 0)]!DONE
     fi
  :: else
  fi
}

#define SEND(i, j)                                                            \
  :: d_step { phase[i] != CAPTURING && left[i] > 0 ->                         \
              left[i]--; sent[PAIR(i, j)]++; channel[PAIR(i, j)]!DATA }
#define RECEIVE(i, j)                                                         \
  :: d_step { phase[j] != CAPTURING && nempty(channel[PAIR(i, j)]) -> receive(i, j) }
#define BOTH(i, j) SEND(i, j) RECEIVE(i, j)
#define RANK(j)                                                               \
  :: d_step { phase[j] == CAPTURING -> take_image(j) }                        \
  :: d_step { captured[j] && !image_written[j] ->                             \
              image_written[j] = true; end_when_all_is_written(j) }           \
  :: d_step { phase[j] == WRITING && !log_written[j] ->                       \
              log_written[j] = true; end_when_all_is_written(j) }

active proctype world()
{
end:
  do
  :: d_step { !asked -> asked = true; phase[0] = CAPTURING }
  :: d_step { committing -> committing = false; committed = true }
  RANK(0)
  RANK(1)
  BOTH(0, 1)
  BOTH(1, 0)
#if N == 3
  RANK(2)
  BOTH(0, 2)
  BOTH(2, 0)
  BOTH(1, 2)
  BOTH(2, 1)
#endif
  od
}
