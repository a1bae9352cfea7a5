/* Transfers between ranks over SimGrid's network, at the costs that SMPI charges for messages: its
 * network model, 16 bytes of envelope, and the overheads smpi/os, smpi/ois and smpi/or. SMPI itself
 * is not asked, as it would take twice as long and knows no receiver that takes what comes.
 *
 * An *end* belongs to one actor, which takes what others put there; a transfer to it begins at
 * once. A *lane* is for one transfer that begins when its receiver takes it; lanes are used again.
 */
#ifndef RECLINE_WIRE_H
#define RECLINE_WIRE_H

#include <simgrid/forward.h>
#include <stdbool.h>
#include <stdint.h>

struct lane;

/* SMPI's names for them: smpi/os, smpi/ois, smpi/or. */
enum wire_overhead { WIRE_SEND, WIRE_SEND_NONBLOCKING, WIRE_RECEIVE, WIRE_OVERHEADS };
extern const char *const wire_overhead_names[WIRE_OVERHEADS];

/* Before any message: the overheads that hold for all hosts which have none of their own, as texts
 * "FROM:BASE:EACH;..."; NULL: none. They are copied. */
void wire_begin(const char *const overhead[WIRE_OVERHEADS]);

/* The end of that number, for the calling actor, or for others to put to. */
sg_mailbox_t wire_end(int number);
void wire_own_end(int number);

struct lane *wire_lane(void);
void wire_lane_free(struct lane *); /* its transfer is over */

/* A transfer of `item`, which takes the time of `bytes`. Its end is not awaited here. */
void wire_put(sg_mailbox_t end, void *item, uint64_t bytes);
/* One whose end can be waited for; `*item` must stay until then. */
sg_comm_t wire_put_waitable(sg_mailbox_t end, void **item, uint64_t bytes);

/* The first transfer to this end that is not taken yet, or the next one that is put there.
 * `*item`, which is NULL until then, is set at its end. */
sg_comm_t wire_take(sg_mailbox_t end, void **item);

/* The same with a lane, which carries time alone: anything. */
void wire_lane_put(struct lane *, uint64_t bytes);
sg_comm_t wire_lane_put_waitable(struct lane *, uint64_t bytes);
sg_comm_t wire_lane_take(struct lane *, void **item);

/* wire_wait.cc: a transfer between hosts that begins now; whether one has nothing left to carry. */
sg_comm_t wire_transfer(sg_host_t from, sg_host_t to, long bytes);
bool wire_is_over(sg_comm_t);

/* Waits for one of them, which no longer exists then. Returns its index; or -1 after so many
 * seconds. Negative: no such time. */
int wire_wait(sg_comm_t *transfers, int count, double timeout);

/* Returns whether one has ended, which no longer exists then. That whose item is this by now, and
 * which ended after it was taken; one of a lane; any (wire_wait.cc). */
bool wire_taken(sg_comm_t, void *item);
bool wire_lane_taken(const struct lane *, sg_comm_t, void *item);
bool wire_test(sg_comm_t);

/* From one host to another, which are known by the addresses of their names. */
struct route {
  const char *from, *to;
  double latency;   /* seconds; 0 within a host */
  double bandwidth; /* bytes per second */
};

/* From the caller's host to that one. No other actor runs meanwhile. */
struct route wire_route(const char *to);
double wire_seconds(const struct route *, uint64_t bytes); /* to go past one point of it */

/* Processor time for sending and receiving that many bytes: the caller sleeps. */
void wire_charge(enum wire_overhead, uint64_t bytes);

#endif
