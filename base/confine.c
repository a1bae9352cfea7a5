#define _GNU_SOURCE /* mremap, tgkill, gettid, dl_iterate_phdr, sigdescr_np */
#include "base/confine.h"

#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/memory.h"

/* ---- code that ends without returning ---- */

struct attempt {
  sigjmp_buf back;
  struct confine_end *end;
  struct attempt *outer; /* the call around this one, or NULL if there is none */
};

/* Signal handlers read these variables. With this model an access allocates no memory, which a
 * handler must not do. */
#define OF_THREAD _Thread_local __attribute__((tls_model("initial-exec")))
static OF_THREAD struct attempt *volatile current;
static OF_THREAD bool has_stack; /* this thread has a stack of its own for handlers */

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
enum { FAULTS = sizeof faults / sizeof *faults };
/* the handlers that the process had before, for faults of other code */
static struct sigaction outside[FAULTS];

static void describe(struct confine_end *end, int signal, const siginfo_t *info, void *context)
{
  const char *name = sigdescr_np(signal);
  *end = (struct confine_end){.signal = signal,
                              .name = name ? name : "unknown signal",
                              .memory = signal == SIGSEGV || signal == SIGBUS};
  if (!end->memory)
    return;
  end->at = info->si_code > 0 && info->si_code < SI_KERNEL ? info->si_addr : (void *)UINTPTR_MAX;
#ifdef __x86_64__
  const greg_t *reg = ((const ucontext_t *)context)->uc_mcontext.gregs;
  enum { STACK_NEAR = 1 << 16, WRITE_BIT = 2 };
  uintptr_t top = (uintptr_t)reg[REG_RSP], at = (uintptr_t)end->at;
  if (at != UINTPTR_MAX)
    end->access = reg[REG_ERR] & WRITE_BIT ? CONFINE_WRITTEN : CONFINE_READ;
  end->stack = at - top + STACK_NEAR < 2 * STACK_NEAR;
#else
  (void)context;
#endif
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
  struct attempt *attempt = current;
  if (attempt) {
    describe(attempt->end, signal, info, context);
    siglongjmp(attempt->back, 1);
  }
  for (int i = 0; i < FAULTS; i++)
    if (faults[i] == signal)
      sigaction(signal, &outside[i], NULL);
  if (info->si_code <= 0) /* a signal that some process has sent does not come again by itself */
    raise(signal);
}

/* ---- code that does not end ---- */

enum { TICKS = 10 /* ticks in a second */, FOREVER = CONFINE_SECONDS * TICKS, LATER = 2 };

/* Watches the foreign code of one thread. */
struct watch {
  int taken;       /* 1 if a thread has this watch */
  pid_t thread;    /* the thread while it runs foreign code, otherwise 0 */
  unsigned number; /* number of calls of foreign code so far */
  unsigned seen, ticks, due;
};

enum { WATCHES = 128 }; /* number of threads that are watched; further threads are not */
static struct watch watch[WATCHES];
static unsigned most = FOREVER; /* calls that take more ticks than this are ended */
static OF_THREAD struct watch *mine;

static unsigned now(unsigned *of)
{
  return __atomic_load_n(of, __ATOMIC_RELAXED);
}

/* Counts a tick of a thread that runs foreign code. Once the code has taken too long, sends the
 * signal to its thread, because only that can end it. */
static void tick(struct watch *w, int signal)
{
  pid_t thread = __atomic_load_n(&w->thread, __ATOMIC_RELAXED);
  unsigned number = now(&w->number);
  if (!thread)
    return;
  w->ticks = w->seen == number ? w->ticks + 1 : 0;
  w->seen = number;
  if (w->ticks < now(&most))
    return;
  __atomic_store_n(&w->due, number, __ATOMIC_RELAXED);
  tgkill(getpid(), thread, signal);
}

/* Ends foreign code that takes too long. The system chooses the thread that handles a tick. */
static void on_tick(int signal)
{
  if (mine && current && now(&mine->due) == now(&mine->number)) {
    __atomic_store_n(&most, LATER, __ATOMIC_RELAXED);
    *current->end = (struct confine_end){.late = true};
    siglongjmp(current->back, 1);
  }
  for (int i = 0; i < WATCHES; i++)
    tick(&watch[i], signal);
}

/* ---- for the process, and for each thread ---- */

static pthread_key_t stack_key, watch_key;

static void free_stack(void *memory)
{
  const stack_t none = {.ss_flags = SS_DISABLE};
  sigaltstack(&none, NULL);
  free(memory);
}

static void free_watch(void *watch)
{
  mine = NULL;
  __atomic_store_n(&((struct watch *)watch)->taken, 0, __ATOMIC_RELAXED);
}

static void take_watch(void)
{
  for (int i = 0; i < WATCHES && !mine; i++)
    if (!__atomic_exchange_n(&watch[i].taken, 1, __ATOMIC_RELAXED))
      mine = &watch[i];
  pthread_setspecific(watch_key, mine);
}

/* Gives the thread a stack for signal handlers, because code that has overflowed its own stack
 * leaves no room for handlers. */
static void begin_thread(void)
{
  enum { STACK_BYTES = 1 << 16 };
  stack_t stack;
  has_stack = true;
  if (sigaltstack(NULL, &stack) || !(stack.ss_flags & SS_DISABLE))
    return;
  stack = (stack_t){.ss_sp = memory_grow(NULL, STACK_BYTES), .ss_size = STACK_BYTES};
  sigaltstack(&stack, NULL);
  pthread_setspecific(stack_key, stack.ss_sp);
}

static unsigned watched; /* 1 if a timer of this process runs or is about to run */

static void begin_child(void)
{
  watched = 0;
  most = FOREVER;
  mine = NULL;
  memset(watch, 0, sizeof watch);
}

static void begin_process(void)
{
  struct sigaction fault = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  fault.sa_sigaction = on_fault;
  for (int i = 0; i < FAULTS; i++)
    sigaction(faults[i], &fault, &outside[i]);
  pthread_key_create(&stack_key, free_stack);
  pthread_key_create(&watch_key, free_watch);
  pthread_atfork(NULL, NULL, begin_child);
}

static void begin_watch(void)
{
  const int signal = SIGRTMAX - 1; /* a signal that no program is known to use */
  struct sigaction tick = {.sa_flags = SA_ONSTACK | SA_NODEFER | SA_RESTART};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal};
  const struct timespec each = {.tv_nsec = 1000000000 / TICKS};
  const struct itimerspec ticks = {each, each};
  int timer;
  tick.sa_handler = on_tick;
  sigaction(signal, &tick, NULL);
  /* Calls the kernel directly, because in a run libc's functions are replaced for the program and
   * do not handle signals. */
  if (!syscall(SYS_timer_create, CLOCK_PROCESS_CPUTIME_ID, &event, &timer))
    syscall(SYS_timer_settime, timer, 0, &ticks, NULL);
}

static void begin_attempt(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, begin_process);
  if (!has_stack)
    begin_thread();
  if (!mine)
    take_watch();
  if (!__atomic_exchange_n(&watched, 1, __ATOMIC_RELAXED))
    begin_watch();
}

static OF_THREAD pid_t own; /* gettid() */

static void begin_call(void)
{
  if (!mine)
    return;
  __atomic_store_n(&mine->number, mine->number + 1, __ATOMIC_RELAXED);
  __atomic_store_n(&mine->thread, own, __ATOMIC_RELAXED);
}

bool confine_run(void (*run)(void *data), void *data, struct confine_end *end)
{
  struct attempt attempt = {.end = end, .outer = current};
  if (!has_stack || !now(&watched)) {
    begin_attempt();
    own = gettid();
  }
  bool returned = !sigsetjmp(attempt.back, 0);
  if (returned) {
    current = &attempt;
    begin_call();
    run(data);
  }
  if (mine)
    __atomic_store_n(&mine->thread, 0, __ATOMIC_RELAXED);
  current = attempt.outer;
  return returned;
}

/* ---- memory ---- */

enum { SPAN_LEAST = 1 << 20, SPAN_TIMES = 8 };

static size_t page_bytes(void)
{
  static size_t bytes;
  return bytes ? bytes : (bytes = (size_t)sysconf(_SC_PAGESIZE));
}

/* Returns whether the 2 * span bytes from `from` on reach into the space where the first thread's
 * stack may grow. The system may give that space away as long as the stack is small. The program's
 * name lies above all frames of the stack. */
static bool is_for_stack(uintptr_t from, size_t span)
{
  const uintptr_t room = (uintptr_t)64 << 20; /* eight times the usual limit for a stack */
  uintptr_t top = getauxval(AT_EXECFN);
  return from < top && from + 2 * span + room > top;
}

/* Reserves 2 * span bytes of address space from `from` on, which nothing can touch. Returns false
 * if this space is not free. */
static bool reserve_at(uintptr_t from, size_t span)
{
  if (is_for_stack(from, span))
    return false;
  const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void *got = mmap((void *)from, 2 * span, PROT_NONE, how, -1, 0);
  if (got != MAP_FAILED &&
      got != (void *)from) /* an old kernel has taken the address only as a hint */
    munmap(got, 2 * span);
  return got == (void *)from;
}

/* Reserves 2 * span bytes wherever there is room, beginning at a multiple of span. */
static uintptr_t reserve_anywhere(size_t span)
{
  size_t all = 3 * span;
  unsigned char *from =
      mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (from == MAP_FAILED)
    memory_exhausted(all);
  size_t before = (span - (uintptr_t)from % span) % span;
  if (before)
    munmap(from, before);
  if (before < span)
    munmap(from + before + 2 * span, span - before);
  return (uintptr_t)from + before;
}

/* Chooses the second place. Its address is the address of the first place with bits 3 to `bits` - 1
 * flipped. Reserves the address space around the second place. Returns where that space begins, or
 * 0 if it is not free. */
static uintptr_t reserve_opposite(struct confine_memory *m, int bits)
{
  uintptr_t flipped = ((uintptr_t)1 << bits) - 8, other = (uintptr_t)m->place[0] ^ flipped;
  uintptr_t from = other / m->span * m->span;
  m->place[1] = (unsigned char *)other;
  return from && reserve_at(from, m->span) ? from : 0;
}

/* Reserves the address space of both places. */
static void reserve_both(struct confine_memory *m, size_t offset)
{
  enum { ADDRESS_BITS = 47, BITS_LEAST = 22, TRIED = 256 };
  uintptr_t top = (uintptr_t)1 << ADDRESS_BITS, from = 0, opposite = 0;
  for (uintptr_t i = 1; i <= TRIED && !opposite; i++) {
    from = top - 2 * i * m->span;
    if (!reserve_at(from, m->span))
      continue;
    m->place[0] = (unsigned char *)from + offset;
    opposite = reserve_opposite(m, ADDRESS_BITS);
    if (!opposite)
      munmap((void *)from, 2 * m->span);
  }
  if (!opposite)
    from = reserve_anywhere(m->span);
  m->place[0] = (unsigned char *)from + offset;
  for (int bits = ADDRESS_BITS - 1; bits >= BITS_LEAST && !opposite; bits--)
    opposite = reserve_opposite(m, bits);
  if (!opposite)
    memory_exhausted(2 * m->span);
  m->base[0] = (unsigned char *)from;
  m->base[1] = (unsigned char *)opposite;
}

static void map(unsigned char *at, size_t bytes)
{
  if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
      MAP_FAILED)
    memory_exhausted(bytes);
}

void confine_memory_new(struct confine_memory *m, size_t bytes)
{
  size_t page = page_bytes(), span = SPAN_LEAST;
  while (span / SPAN_TIMES < bytes + page)
    span *= 2;
  *m = (struct confine_memory){.bytes = bytes, .span = span, .read_only = (ptrdiff_t)span};
  reserve_both(m, span / 3 / page * page - bytes);
  /* Maps shared memory twice. The memory belongs to no file, so no limit on file sizes applies. */
  for (int i = 0; i < 2; i++) {
    uintptr_t from = (uintptr_t)m->place[i] / page * page,
              to = ((uintptr_t)m->place[i] + bytes + page - 1) / page * page;
    m->first[i] = (unsigned char *)from;
    m->room[i] = to > from ? to - from : page;
    unsigned char *reading = m->first[i] + m->read_only;
    map(m->first[i], m->room[i]);
    if (mremap(m->first[i], 0, m->room[i], MREMAP_MAYMOVE | MREMAP_FIXED, reading) != reading ||
        mprotect(reading, m->room[i], PROT_READ))
      memory_exhausted(m->room[i]);
  }
}

void confine_memory_free(struct confine_memory *m)
{
  for (int i = 0; i < 2 && m->base[i]; i++)
    munmap(m->base[i], 2 * m->span);
  *m = (struct confine_memory){0};
}

/* ---- data of shared objects ---- */

struct segment {
  uintptr_t from, to;
};

static struct segment *segments;
static uint32_t segments_count, segments_room;

static void add_segment(uintptr_t from, uintptr_t to)
{
  segments = memory_room(segments, segments_count, &segments_room, sizeof *segments);
  segments[segments_count++] = (struct segment){from, to};
}

static bool holds(const struct dl_phdr_info *object, uintptr_t address)
{
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &object->dlpi_phdr[i];
    if (p->p_type == PT_LOAD && address - (object->dlpi_addr + p->p_vaddr) < p->p_memsz)
      return true;
  }
  return false;
}

/* Makes the writable segments of the object read-only, in whole pages. A last page may hold more
 * than the object's data, but only padding. */
static int confine_segments(struct dl_phdr_info *object, size_t size, void *data)
{
  uintptr_t page = page_bytes(), address = *(const uintptr_t *)data;
  (void)size;
  if (!holds(object, address))
    return 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &object->dlpi_phdr[i];
    uintptr_t from = object->dlpi_addr + p->p_vaddr, to = from + p->p_memsz;
    if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
      continue;
    from = from / page * page;
    to = (to + page - 1) / page * page;
    if (mprotect((void *)from, to - from, PROT_READ))
      return -1;
    add_segment(from, to);
  }
  return 1;
}

/* Makes the data of shared objects writable again, because the code that ends an object writes to
 * it. */
static void release_segments(void)
{
  for (uint32_t i = 0; i < segments_count; i++)
    mprotect((void *)segments[i].from, segments[i].to - segments[i].from, PROT_READ | PROT_WRITE);
  free(segments);
  segments = NULL;
  segments_count = segments_room = 0;
}

bool confine_object(const void *address)
{
  static bool ends;
  if (!ends)
    atexit(release_segments);
  ends = true;
  uintptr_t at = (uintptr_t)address;
  return dl_iterate_phdr(confine_segments, &at) > 0;
}

bool confine_has(const void *address)
{
  for (uint32_t i = 0; i < segments_count; i++)
    if ((uintptr_t)address - segments[i].from < segments[i].to - segments[i].from)
      return true;
  return false;
}
