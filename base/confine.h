/* Confines foreign code. If a protocol's step touches memory that is not its own, is ended by a
 * signal or does not end, the caller is told. In a browser, which has no signals, the step runs
 * unconfined. */
#ifndef RECLINE_CONFINE_H
#define RECLINE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

/* CONFINE_SECONDS is the processor time that the code may take, in seconds. */
enum { CONFINE_SECONDS = 3 };

enum confine_access { CONFINE_TOUCHED, CONFINE_READ, CONFINE_WRITTEN };

/* Tells why foreign code was ended before it returned. */
struct confine_end {
  bool late;        /* the code took longer than CONFINE_SECONDS */
  int signal;       /* the signal that ended it, or 0 if none did */
  const char *name; /* the signal's name, for people */
  bool memory;      /* the code touched memory that is not its own */
  /* the address that the code touched, or UINTPTR_MAX if it is not known */
  const unsigned char *at;
  enum confine_access access; /* CONFINE_TOUCHED if the machine does not tell a read from a write */
  bool stack;                 /* the address is in the stack of the code */
};

/* Calls run(data). Returns true when it has returned. Returns false if the code had to be ended:
 * `end` tells why, and what the code has written stays. The code must take no lock and own
 * nothing. When a call was late, the code is known to be wrong, so later calls get only about 0.2
 * seconds. Any thread may call this. At most 128 threads are watched for their time. */
bool confine_run(void (*run)(void *data), void *data, struct confine_end *end);

/* Gives an object of foreign code two places in memory, of which the caller uses one at a time.
 * Pages that nothing can touch are around each place. The addresses of the two places differ in all
 * bits of an address from bit 3 on: one place is above all other memory of the process, its stack
 * included, and one is below. If the system has no room there, the addresses differ in fewer bits.
 * Each place is mapped a second time, read-only. */
struct confine_memory {
  size_t bytes;            /* size of the object */
  unsigned char *place[2]; /* the two places; place[0] ends at a page that nothing can touch */
  unsigned char *first[2]; /* first page of each place */
  size_t room[2];          /* number of bytes in the pages of each place */
  ptrdiff_t read_only;     /* distance from a byte to its read-only copy */
  unsigned char *base[2];  /* first byte of the address space around each place */
  /* number of bytes in each half of that address space; the second half is read-only */
  size_t span;
};

/* confine_memory_new() makes both places for an object of `bytes` bytes, a multiple of 4. It ends
 * the process if there is no memory. */
void confine_memory_new(struct confine_memory *, size_t bytes);
void confine_memory_free(struct confine_memory *);

/* Makes the writable data of the shared object at `address` read-only. When the
 * process calls exit(), the data can be written again, as code that ends the object writes to it.
 * Returns false if there is no such object, or the system refuses. */
bool confine_object(const void *address);

/* Returns whether the address lies in data that confine_object() has made read-only. */
bool confine_has(const void *address);

#endif
