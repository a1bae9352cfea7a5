/* The machine under the layer: clock, cores, memory, disks, waiting for things to come.
 *
 * The only part of the layer that knows SimGrid beyond MPI. Another host, over a real MPI library,
 * would replace this file. Hosts are named by strings; NULL is the host of the caller.
 */
#ifndef RECLINE_MACHINE_H
#define RECLINE_MACHINE_H

#include <simgrid/forward.h>
#include <stdbool.h>
#include <stdint.h>

double machine_now(void); /* 0 when the run begins */
/* That number of actors call it, each with the time at which it `came`. It returns when all have
 * called; the work of the last one since it came takes no time of the run. */
void machine_begin(int actors, double came);
double machine_since_begin(double clock); /* of SimGrid's */
void machine_sleep(double seconds);

/* Returns a number for the calling actor, from 1, small and never reused. 0: the caller is a thread
 * that a program has started. */
long machine_actor(void);
sg_actor_t machine_self(void);
int machine_rank(void); /* rank of the calling actor in SMPI's world, or -1; before MPI_Init too */
__attribute__((noreturn)) void machine_exit(void);                      /* ends the calling actor */
void machine_on_exit(void (*told)(int failed, void *data), void *data); /* when it ends */
void machine_move(sg_actor_t actor, const char *host);
const char *machine_host(void);
bool machine_has_route(const char *from, const char *to); /* for messages between two hosts */
int machine_cores(void);                                  /* of the caller's host */
double machine_speed(void);                               /* of the caller's host, in flop/s */

/* Settings of SMPI. */
int machine_eager_bytes(void);       /* sends of fewer bytes do not wait for their receiver */
double machine_smpi_speed(void);     /* what smpi_execute() assumes, in flop/s */
double machine_smpi_threshold(void); /* shorter computations cost nothing, in seconds */
double machine_smpi_reading(void);   /* what PMPI_Wtime() takes, in seconds */
unsigned machine_stack_bytes(void);

/* A computation, or a sleep, that another actor can interrupt. The caller waits for its end or,
 * with `pause`, as it likes until that time or less, and ends it for good by machine_interrupt().
 */
struct bell;
struct computation {
  struct bell *bell; /* made when it is first needed */
  bool under_way;
  void (*pause)(void *data, double until); /* NULL: the bell */
  void *data;
};
double machine_compute(struct computation *, double flops); /* returns the rest: 0 at its end */
double machine_execute(double flops);                       /* cannot be interrupted: returns 0 */
double machine_doze(struct computation *, double seconds);  /* the same for a sleep */
void machine_interrupt(struct computation *);               /* nothing when none is under way */

/* Return a property (whose name is static) of the caller's host or of the innermost zone around it
 * that has it, NULL: none; and its value as a number, in its unit. No other actor runs meanwhile.
 */
const char *machine_property(const char *name);
double machine_figure(const char *name, double otherwise);

/* Notes once, as machine_figure() does, that the platform does not give `what` (static), and the
 * value taken instead. `decisive`: figures of the run depend on it. Costs that are taken as 0
 * change little. */
void machine_assume(const char *what, const char *taken, bool decisive);
bool machine_is_assumed(const char *what);

/* Returns note `i` so far, from 0: "WHAT, taken as TAKEN", static; NULL after the last.
 */
const char *machine_assumption(int i, bool *decisive);

/* Returns the seconds of a copy in the memory of the caller's host: its property memory_copy_bw, in
 * bytes per second, or 500 MB/s. */
double machine_copy_seconds(double bytes);

/* The same for data that have just been made, so that only the copy goes through memory:
 * log_copy_bw; and for data that are copied again and again and stay in the cache up to
 * cache_bytes: cache_copy_bw. Without these properties as for any copy. */
double machine_log_seconds(double bytes);
double machine_repeat_seconds(double bytes);

/* The same for computing the parity of a set, or lost data from it: property encode_bw, or that of
 * copies. */
double machine_encode_seconds(double bytes);

/* One step of a transfer. Bytes go from one host to another, or stay on one, and through the first
 * disk of the host that stores them; network and disk work at the same time, and a host without a
 * disk takes no time for its part. Or time passes. */
enum step_kind {
  STEP_WRITE, /* to the disk of `to` */
  STEP_READ,  /* from the disk of `from` */
  STEP_SEND,  /* from memory to memory */
  STEP_WORK   /* for so many seconds */
};
struct step_of_transfer {
  enum step_kind kind;
  const char *from, *to; /* NULL: the caller's host */
  double bytes, seconds;
  bool unsynced; /* a write that does not wait for the disk's property write_latency_s */
};

/* Takes these steps, which it copies, in the background, one after the other, for the host `home`
 * (NULL: the caller's). Calls `done` at the end: until then the transfer can be cut. */
struct transfer;
struct transfer *machine_transfer(const char *home, const struct step_of_transfer *, unsigned count,
                                  void (*done)(void *), void *data);
/* Ends the transfer without a call of `done`. Returns false if `done` is being called. */
bool machine_cut(struct transfer *);
/* Waits for the transfer, as for a computation; returns false if the wait was interrupted. */
bool machine_await(struct computation *, const struct step_of_transfer *, unsigned count);

/* A message passes a daemon on one host and then one on the other (only one, if the hosts are the
 * same). Each daemon takes messages in the order of arrival, for that many seconds each. Calls
 * `done` after both, on the second. Hosts are given by name; the transfer is never cut. */
void machine_relay(const char *from, const char *to, double seconds, void (*done)(void *),
                   void *data);

/* Calls `told` when no actor can ever go on. */
void machine_on_deadlock(void (*told)(void));

/* A bell: one actor waits for it and others ring it. */
struct bell *bell_new(void);
/* Waits until it rings or until that time (negative: none), and now and then returns without a
 * reason. */
void bell_wait(struct bell *, double until);
void bell_ring(struct bell *); /* NULL: no actor waits yet */

#endif
