/* Models the protocol chandy-lamport for SPIN. The model is written by hand from the protocol's
 * sources, not from its code. Each of N ranks sends K messages, to any rank, over FIFO channels;
 * there is one checkpoint and no crash. Every event is atomic.
 *
 * What a rank has stored is part of the state. It has stored its image: the counts of messages sent
 * and given, and the marker that made it take its checkpoint. It has also stored the messages
 * recorded as under way, in the order in which they came. If there are any, the ranks that had said
 * `done` by then count as well, and whether the image was stored: a restart that has nothing to
 * deliver forgets both.
 *
 * Claim, at the commit: for each channel the receiver has recorded the messages that were sent
 * before the sender's checkpoint and not given before the receiver's; and images and records are
 * stored.
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
byte marked[N]; /* senders whose marker has come, a bit each */
byte sent[N * N], given[N * N];
bool asked, committing, committed;
byte done;

/* What is on disk, or on the way there. */
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

/* Sets `count` to the number of messages of rank l that rank k has recorded. */
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
