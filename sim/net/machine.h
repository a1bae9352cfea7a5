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
/* So many call it, each with the time at which it `came`. It returns when all have, and what the
 * last one has done since it came takes no time of the run. */
void machine_begin(int actors, double came);
double machine_since_begin(double clock); /* of SimGrid's */
void machine_sleep(double seconds);

/* A number for the calling actor, from 1, small and never used again. 0: none calls, but a thread
 * that a program has started. */
long machine_actor(void);
sg_actor_t machine_self(void);
int machine_rank(void); /* of the calling actor in SMPI's world, or -1; before MPI_Init too */
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

/* A computation, or a sleep, that another actor can interrupt. The caller waits for that or, with
 * `pause`, as it likes until that time or less, and ends the wait for good by machine_interrupt().
 */
struct bell;
struct computation {
  struct bell *bell; /* made when it is first needed */
  bool under_way;
  void (*pause)(void *data, double until); /* NULL: the bell */
  void *data;
};
double machine_compute(struct computation *, double flops); /* returns what remains: 0 at its end */
double machine_execute(double flops);                       /* cannot be interrupted: returns 0 */
double machine_doze(struct computation *, double seconds);  /* the same for a sleep */
void machine_interrupt(struct computation *);               /* nothing when none is under way */

/* A property (whose name is static) of the caller's host or of the innermost zone around it that
 * has it; NULL: none. As a number: in its unit. No other actor runs meanwhile. */
const char *machine_property(const char *name);
double machine_figure(const char *name, double otherwise);

/* The platform does not say `what` (static), which is taken as ...; noted once, as machine_figure()
 * does. `decisive`: figures of the run depend on it. Costs that are taken as 0 change little. */
void machine_assume(const char *what, const char *taken, bool decisive);
bool machine_is_assumed(const char *what);

/* Returns text `i` of those so far, from 0, "WHAT, taken as TAKEN", static; NULL behind the last.
 */
const char *machine_assumption(int i, bool *decisive);

/* Seconds that copying takes in the memory of the caller's host: its property memory_copy_bw, in
 * bytes per second, or 500 MB/s. */
double machine_copy_seconds(double bytes);

/* The same of what has just been made, so that only the copy goes through memory: log_copy_bw. And
 * of what is copied again and again, and stays in the cache if it has no more than cache_bytes:
 * cache_copy_bw. Without these properties as any other. */
double machine_log_seconds(double bytes);
double machine_repeat_seconds(double bytes);

/* The same of computing the parity of a set, or what is lost from it: its property encode_bw, or
 * that of copying. */
double machine_encode_seconds(double bytes);

/* One step of a transfer. Bytes go from one host to another, or stay where they are, and through
 * the first disk of the one on which they are stored, network and disk working at the same time; a
 * host without a disk takes no time for its part. Or time passes. */
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

/* Takes so many steps in the background, one after the other, copied here, for the host `home`
 * (NULL: the caller's). Calls `done` at the end: until then the transfer can be cut. */
struct transfer;
struct transfer *machine_transfer(const char *home, const struct step_of_transfer *, unsigned count,
                                  void (*done)(void *), void *data);
/* Ends the transfer; nothing is done or called any more. False: `done` is being called. */
bool machine_cut(struct transfer *);
/* The caller waits for the transfer, as for a computation: false, it was interrupted. */
bool machine_await(struct computation *, const struct step_of_transfer *, unsigned count);

/* Something passes a daemon on one host and then on the other (once, if they are the same), each of
 * which takes one after the other in the order of their coming, for so many seconds each. Calls
 * `done` behind both, on the second. Hosts by name; never cut. */
void machine_relay(const char *from, const char *to, double seconds, void (*done)(void *),
                   void *data);

/* Calls `told` when no actor can ever go on. */
void machine_on_deadlock(void (*told)(void));

/* What one actor waits for and others ring. */
struct bell *bell_new(void);
/* Until it rings, or that time, or now and then for nothing. Negative: no such time. */
void bell_wait(struct bell *, double until);
void bell_ring(struct bell *); /* NULL: no actor waits yet */

#endif
