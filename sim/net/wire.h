/* Transfers between ranks over SimGrid's network, at the costs that SMPI charges for messages: its
 * network model, 16 bytes of envelope, and the overheads smpi/os, smpi/ois and smpi/or. SMPI itself
 * is not used, as it would take twice as long and has no receiver that takes any message.
 *
 * An *end* belongs to one actor, which takes the transfers that others put there; they begin at
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

/* To be called before any message: sets the overheads of hosts that have none of their own, as
 * texts "FROM:BASE:EACH;..."; NULL: none. They are copied. */
void wire_begin(const char *const overhead[WIRE_OVERHEADS]);

/* The first returns the end of that number, for others to put to; the second makes it the calling
 * actor's. */
sg_mailbox_t wire_end(int number);
void wire_own_end(int number);

struct lane *wire_lane(void);
void wire_lane_free(struct lane *); /* its transfer is over */

/* Starts a transfer of `item`, which takes the time of `bytes`. Its end is not awaited here. */
void wire_put(sg_mailbox_t end, void *item, uint64_t bytes);
/* Starts a transfer whose end can be waited for; `*item` must stay valid until then. */
sg_comm_t wire_put_waitable(sg_mailbox_t end, void **item, uint64_t bytes);

/* Takes the first transfer to this end that is not taken yet, or the next one that is put there.
 * `*item`, which is NULL until then, is set at its end. */
sg_comm_t wire_take(sg_mailbox_t end, void **item);

/* The same with a lane, whose item has no meaning. */
void wire_lane_put(struct lane *, uint64_t bytes);
sg_comm_t wire_lane_put_waitable(struct lane *, uint64_t bytes);
sg_comm_t wire_lane_take(struct lane *, void **item);

/* wire_wait.cc: the first starts a transfer between hosts; the second returns whether a transfer
 * has nothing left to carry. */
sg_comm_t wire_transfer(sg_host_t from, sg_host_t to, long bytes);
bool wire_is_over(sg_comm_t);

/* Waits for one of the transfers and frees it. Returns its index, or -1 after that many seconds
 * (negative: no limit). */
int wire_wait(sg_comm_t *transfers, int count, double timeout);

/* Each returns true and frees the transfer if it has ended: the first for a taken transfer, whose
 * item is set to `item` by then; the second for one of a lane; the third for any (wire_wait.cc). */
bool wire_taken(sg_comm_t, void *item);
bool wire_lane_taken(const struct lane *, sg_comm_t, void *item);
bool wire_test(sg_comm_t);

/* A route from one host to another, which are identified by the addresses of their names. */
struct route {
  const char *from, *to;
  double latency;   /* seconds; 0 within a host */
  double bandwidth; /* bytes per second */
};

/* Returns the route from the caller's host to that one. No other actor runs meanwhile. */
struct route wire_route(const char *to);
double wire_seconds(const struct route *,
                    uint64_t bytes); /* seconds to pass one point of the route */

/* Charge the processor time for sending and receiving that many bytes: the caller sleeps. */
void wire_charge(enum wire_overhead, uint64_t bytes);

#endif
