/* Declares the machine under the layer: clock, cores, memory, disks, and waiting.
 *
 * Only this part of the layer uses SimGrid beyond MPI. Another host, over a real MPI library, would
 * replace this file. Hosts are named by strings; NULL is the caller's host.
 */
#ifndef RECLINE_MACHINE_H
#define RECLINE_MACHINE_H

#include <simgrid/forward.h>
#include <stdbool.h>
#include <stdint.h>

double machine_now(void); /* 0 when the run begins */
/* Begins the run when `actors` actors have made this call, each with the time at which it `came`.
 * The calls return after the last one was made. At that moment machine_now() returns the latest of
 * the times `came`: what the actors did after it takes no time of the run. */
void machine_begin(int actors, double came);
double machine_since_begin(double clock); /* converts a time of SimGrid's clock */
void machine_sleep(double seconds);

/* Returns the number of the calling actor. Numbers are small, count from 1, and are never used
 * again. Returns 0 if the caller is a thread that a program has started. */
long machine_actor(void);
sg_actor_t machine_self(void);
/* Returns the calling actor's rank in SMPI's world, also before MPI_Init, or -1 if it has none. */
int machine_rank(void);
__attribute__((noreturn)) void machine_exit(void); /* ends the calling actor */
/* Calls `told` when the calling actor ends. */
void machine_on_exit(void (*told)(int failed, void *data), void *data);
void machine_move(sg_actor_t actor, const char *host);
const char *machine_host(void);
/* whether messages can go from host to host */
bool machine_has_route(const char *from, const char *to);
int machine_cores(void);    /* number of cores of the caller's host */
double machine_speed(void); /* speed of the caller's host, in flop/s */

/* The next functions return settings of SMPI. */
int machine_eager_bytes(void);       /* sends of fewer bytes do not wait for their receiver */
double machine_smpi_speed(void);     /* the speed that smpi_execute() assumes, in flop/s */
double machine_smpi_threshold(void); /* shorter computations cost nothing, in seconds */
double machine_smpi_reading(void);   /* the seconds that PMPI_Wtime() takes */
unsigned machine_stack_bytes(void);

/* Describes a computation, or a sleep, that another actor can interrupt. The caller waits for its
 * end. If `pause` is set, the caller waits in that function, which returns at the given time or
 * earlier. The computation also ends if `pause` has called machine_interrupt(). */
struct bell;
struct computation {
  struct bell *bell; /* a bell, made when it is first needed */
  bool under_way;
  /* the function in which the caller waits, or NULL to wait for the bell */
  void (*pause)(void *data, double until);
  void *data;
};
/* Computes. Returns the number of flops that are left, which is 0 if the computation came to its
 * end. */
double machine_compute(struct computation *, double flops);
/* computes without interruption; returns 0 */
double machine_execute(double flops);
/* does the same for a sleep; returns the seconds that are left */
double machine_doze(struct computation *, double seconds);
void machine_interrupt(struct computation *); /* does nothing if there is no computation */

/* machine_property() returns the property `name`, a static text, of the caller's host, or of the
 * innermost zone around the host that has the property. It returns NULL if there is none.
 * machine_figure() returns the value of a property as a number, in its unit. No other actor runs
 * meanwhile. */
const char *machine_property(const char *name);
double machine_figure(const char *name, double otherwise);

/* Notes that the platform does not give `what` (a static text), and which value is taken instead.
 * Each `what` is noted once. machine_figure() calls this function. `decisive` says that figures of
 * the run depend on the value; costs that are taken as 0 change little. */
void machine_assume(const char *what, const char *taken, bool decisive);
bool machine_is_assumed(const char *what);

/* Returns note `i`, from 0 on, a static text "WHAT, taken as TAKEN", or NULL after the last
 * note. */
const char *machine_assumption(int i, bool *decisive);

/* Returns the seconds of a copy in the memory of the caller's host: its property memory_copy_bw, in
 * bytes per second, or 500 MB/s. */
double machine_copy_seconds(double bytes);

/* machine_log_seconds() returns the seconds of a copy of data that were just made, so that only the
 * copy goes through memory (property log_copy_bw). machine_repeat_seconds() is for data of up to
 * cache_bytes that are copied again and again, and stay in the cache (property cache_copy_bw). If
 * the platform lacks the property, such a copy takes as long as other copies. */
double machine_log_seconds(double bytes);
double machine_repeat_seconds(double bytes);

/* Returns the seconds to compute the parity of a set, or to restore lost data from the parity, by
 * property encode_bw or, without it, by the bandwidth of copies. */
double machine_encode_seconds(double bytes);

/* Describes a step of a transfer. Bytes go from one host to another, or stay on one host, and go
 * through the first disk of the host that stores them. Network and disk work at the same time. On a
 * host without a disk, the disk's share takes no time. STEP_WORK only lets time pass. */
enum step_kind {
  STEP_WRITE, /* to the disk of `to` */
  STEP_READ,  /* from the disk of `from` */
  STEP_SEND,  /* from memory to memory */
  STEP_WORK   /* takes that many seconds */
};
struct step_of_transfer {
  enum step_kind kind;
  const char *from, *to; /* the hosts; NULL stands for the caller's host */
  double bytes, seconds;
  bool unsynced; /* a write that does not wait for the disk's property write_latency_s */
};

/* Copies the steps and takes one after the other in the background, on behalf of the host `home`,
 * or of the caller's host if `home` is NULL. Calls `done` at the end. Until then the transfer can
 * be cut. */
struct transfer;
struct transfer *machine_transfer(const char *home, const struct step_of_transfer *, unsigned count,
                                  void (*done)(void *), void *data);
/* Ends the transfer without calling `done`. Returns false if `done` is already being called. */
bool machine_cut(struct transfer *);
/* Makes a transfer and waits for its end, as for a computation. Returns false if the wait was
 * interrupted. */
bool machine_await(struct computation *, const struct step_of_transfer *, unsigned count);

/* Passes a message through a daemon on host `from` and then through a daemon on host `to`, or
 * through one daemon if the hosts are the same. A daemon handles messages in the order of arrival,
 * each for `seconds`. Afterwards calls `done` on host `to`. Nothing can cut this transfer. */
void machine_relay(const char *from, const char *to, double seconds, void (*done)(void *),
                   void *data);

/* Calls `told` when no actor can ever go on. */
void machine_on_deadlock(void (*told)(void));

/* A bell wakes an actor: one actor waits for the bell and others ring it. */
struct bell *bell_new(void);
/* Waits until the bell rings or until time `until`, which is negative for no limit. Sometimes
 * returns without a reason. */
void bell_wait(struct bell *, double until);
void bell_ring(struct bell *); /* does nothing for NULL, as no actor waits yet */

#endif
