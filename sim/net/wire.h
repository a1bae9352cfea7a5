/* Makes transfers between ranks over SimGrid's network, at the costs that SMPI charges for
 * messages: its network model, 16 bytes of envelope, and the overheads smpi/os, smpi/ois and
 * smpi/or. SMPI's own calls are not used, because they would take twice as long, and none of them
 * receives messages of any kind.
 *
 * An *end* belongs to one actor, which takes the transfers that others put to the end; such a
 * transfer begins at once. A *lane* has one transfer, which begins when its receiver takes it;
 * lanes are used again. */
#ifndef RECLINE_WIRE_H
#define RECLINE_WIRE_H

#include <simgrid/forward.h>
#include <stdbool.h>
#include <stdint.h>

struct lane;

/* Lists the overheads that SMPI calls smpi/os, smpi/ois and smpi/or. */
enum wire_overhead { WIRE_SEND, WIRE_SEND_NONBLOCKING, WIRE_RECEIVE, WIRE_OVERHEADS };
extern const char *const wire_overhead_names[WIRE_OVERHEADS];

/* Sets the overheads for hosts that have none of their own. It copies the texts
 * "FROM:BASE:EACH;..."; NULL means no overhead. It must be called before any message. */
void wire_begin(const char *const overhead[WIRE_OVERHEADS]);

/* wire_end() returns the end with that number, to which transfers are put. wire_own_end() makes it
 * the calling actor's end. */
sg_mailbox_t wire_end(int number);
void wire_own_end(int number);

struct lane *wire_lane(void);
void wire_lane_free(struct lane *); /* must be called only after the lane's transfer */

/* Starts a transfer of `item`, which takes as long as `bytes` do. The caller does not wait for its
 * end. */
void wire_put(sg_mailbox_t end, void *item, uint64_t bytes);
/* Starts a transfer for whose end the caller can wait; `*item` must stay valid until then. */
sg_comm_t wire_put_waitable(sg_mailbox_t end, void **item, uint64_t bytes);

/* Takes the first transfer that was put to this end and not taken yet or, if there is none, the
 * next one to come. `*item`, which must be NULL, is set when the transfer ends. */
sg_comm_t wire_take(sg_mailbox_t end, void **item);

/* The next functions do the same with a lane, whose item has no meaning. */
void wire_lane_put(struct lane *, uint64_t bytes);
sg_comm_t wire_lane_put_waitable(struct lane *, uint64_t bytes);
sg_comm_t wire_lane_take(struct lane *, void **item);

/* wire_transfer() starts a transfer between hosts. wire_is_over() returns whether a transfer has no
 * bytes left to carry. Both are in wire_wait.cc. */
sg_comm_t wire_transfer(sg_host_t from, sg_host_t to, long bytes);
bool wire_is_over(sg_comm_t);

/* Waits for one of the transfers and frees it. Returns its index, or -1 if none has ended after
 * `timeout` seconds. A negative `timeout` means no limit. */
int wire_wait(sg_comm_t *transfers, int count, double timeout);

/* Each of the next functions frees the transfer and returns true if it has ended. wire_taken() is
 * for a transfer that was taken and sets `item`, wire_lane_taken() for the transfer of a lane, and
 * wire_test() for any transfer (wire_wait.cc). */
bool wire_taken(sg_comm_t, void *item);
bool wire_lane_taken(const struct lane *, sg_comm_t, void *item);
bool wire_test(sg_comm_t);

/* Describes a route between two hosts, which are identified by the addresses of their names. */
struct route {
  const char *from, *to;
  double latency;   /* in seconds; 0 within a host */
  double bandwidth; /* in bytes per second */
};

/* Returns the route from the caller's host to `to`. No other actor runs meanwhile. */
struct route wire_route(const char *to);
double wire_seconds(const struct route *,
                    /* returns the seconds that the bytes take to pass one point of the route */
                    uint64_t bytes);

/* Charges the processor's time for sending or receiving that many bytes: the caller sleeps. */
void wire_charge(enum wire_overhead, uint64_t bytes);

#endif
