/* Models the reference worlds of docs/measurements/explorer.md for SPIN; the model is written by
 * hand. Each of three ranks sends K messages, to any rank, over FIFO channels. Rank 0 may begin a
 * snapshot by markers (Chandy and Lamport). A message has the colour of its sender. Every step is
 * atomic.
 *
 * Claim of CL-C: the receiver of a message has closed its channel if and only if the sender had
 * recorded. CL-T (-DTOKENS) also counts tokens: a rank holds K tokens, and a message carries one.
 * The recorded tokens of all ranks and channels must add up to all tokens.
 *
 *     spin -DK=4 -a snapshot.pml && gcc -O2 -DSAFETY -o pan pan.c && ./pan -m1000000 -w26
 */
#ifndef K
#define K 4
#endif
#define N 3
#define MARK 2
#define CHANNEL(i, j) channel[(i) * (N - 1) + ((j) > (i) -> (j) - 1 : (j))]

chan channel[N * (N - 1)] = [K + 1] of { byte };
byte left[N] = K;
bool recorded[N];
byte closed[N]; /* a bit for each sender */
byte head;
#ifdef TOKENS
byte tokens[N] = K;
byte held[N];    /* its tokens when it recorded */
byte late[N * N]; /* recorded tokens under way, by receiver and sender */
byte total, done;

#define GIVE(i) tokens[i]--;
/* Is used after a message from i has come to j. */
#define COUNT(i, j)                                                           \
  tokens[j]++;                                                                \
  if                                                                          \
  :: recorded[j] && !((closed[j] >> (i)) & 1) -> late[(j) * N + (i)]++        \
  :: else                                                                     \
  fi;
/* Is used after j has closed the channel from i. The last such step adds up all tokens. */
#define FINISH(i, j)                                                          \
  if                                                                          \
  :: closed[j] == (1 << N) - 1 - (1 << (j)) ->                                \
     total = total + held[j] + late[(j) * N] + late[(j) * N + 1] +            \
             late[(j) * N + 2];                                               \
     held[j] = 0;                                                             \
     late[(j) * N] = 0;                                                       \
     late[(j) * N + 1] = 0;                                                   \
     late[(j) * N + 2] = 0;                                                   \
     done++;                                                                  \
     assert(done < N || total == N * K)                                       \
  :: else                                                                     \
  fi;
#else
#define GIVE(i)
#define COUNT(i, j)
#define FINISH(i, j)
#endif

inline record(i)
{
  recorded[i] = true;
#ifdef TOKENS
  held[i] = tokens[i];
#endif
  CHANNEL(i, (i + 1) % N)!MARK;
  CHANNEL(i, (i + 2) % N)!MARK
}

inline receive(i, j)
{
  CHANNEL(i, j)?head;
  if
  :: head == MARK ->
     if
     :: !recorded[j] -> record(j)
     :: else
     fi;
     closed[j] = closed[j] | (1 << (i));
     FINISH(i, j)
  :: else ->
     assert(head == ((closed[j] >> (i)) & 1));
     COUNT(i, j)
  fi;
  head = 0
}

#define PAIR(i, j)                                                            \
  :: d_step { left[i] > 0 -> left[i]--; GIVE(i) CHANNEL(i, j)!recorded[i] }   \
  :: d_step { nempty(CHANNEL(i, j)) -> receive(i, j) }

active proctype world()
{
end:
  do
  :: d_step { !recorded[0] -> record(0) }
  PAIR(0, 1)
  PAIR(0, 2)
  PAIR(1, 0)
  PAIR(1, 2)
  PAIR(2, 0)
  PAIR(2, 1)
  od
}
