/* Handles the ends of programs: exit(), _exit(), signals, and a return without MPI_Finalize. All
 * ranks are one process. So an event that would end a process of MPI must either end one rank, or
 * end the run with a line that names the rank. */
#include "sim/mpi/calls/program_end.h"

#include "sim/host/failures/dispatcher.h"
#include "sim/host/result/run_end.h"
#include "sim/mpi/layer/wrap.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static struct sigaction before[G_N_ELEMENTS(fatal)]; /* SimGrid's handlers */

void program_crashes(void)
{
  struct rank *r = machine_self() ? rank_self() : NULL;
  if (r && layer.scenario->recovery.attempts && r->active)
    host_crash(r);
}

void program_failed(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  if (dispatcher_has_recovered()) {
    g_autofree char *why =
        g_strconcat(text, layer.repairs ? ", after a failure" : ", after a rollback", NULL);
    run_stop(RUN_LOST, why);
  }
  die(DIE_INPUT, "%s", text);
}

/* ---- exit() after MPI_Finalize ---- */

static _Noreturn void exit_of_smpi(int status)
{
  BEHIND(smpi_exit)
  smpi_exit_next(status);
  abort();
}

#ifdef __x86_64__
/* SMPI ends a rank by an exception that unwinds its stack. But exit() is declared to throw nothing,
 * and C++ ends the process at the first frame that relies on that. So the program's frames are
 * skipped: the exception is thrown as if SMPI had called exit_of_smpi() instead of main(). */

struct caller {
  /* addresses at which the libraries of SimGrid and of the layer are loaded */
  const void *simgrid, *layer;
  ucontext_t context; /* the innermost frame of SimGrid outside of all frames of the layer */
  bool found;
};

static const void *library_of(const void *address)
{
  Dl_info info;
  return dladdr(address, &info) ? info.dli_fbase : NULL;
}

static _Unwind_Reason_Code visit_frame(struct _Unwind_Context *frame, void *data)
{
  enum { RBX = 3, RBP = 6, R12 = 12 }; /* DWARF's numbers of the registers that calls preserve */
  struct caller *caller = data;
  const void *code = (const void *)_Unwind_GetIP(frame), *library = library_of(code);
  if (library == caller->layer) /* the frame lies within one of SMPI's algorithms, which the layer
                                   has called */
    caller->found = false;
  if (library != caller->simgrid || caller->found)
    return _URC_NO_REASON;
  greg_t *to = caller->context.uc_mcontext.gregs;
  to[REG_RBX] = (greg_t)_Unwind_GetGR(frame, RBX);
  to[REG_RBP] = (greg_t)_Unwind_GetGR(frame, RBP);
  for (int i = 0; i < 4; i++)
    to[REG_R12 + i] = (greg_t)_Unwind_GetGR(frame, R12 + i);
  /* the return address lies below the frame, as at the beginning of a called function */
  to[REG_RSP] = (greg_t)(_Unwind_GetCFA(frame) - sizeof(void *));
  caller->found = true;
  return _URC_NO_REASON;
}

static void leave_program(int status)
{
  struct caller caller = {.simgrid = library_of(layer_next("smpi_exit")),
                          .layer = library_of(&before)};
  getcontext(&caller.context);
  _Unwind_Backtrace(visit_frame, &caller);
  if (!caller.found)
    return;
  caller.context.uc_mcontext.gregs[REG_RDI] = status;
  caller.context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)exit_of_smpi;
  setcontext(&caller.context);
}
#else
static void leave_program(int status)
{
  (void)status;
}
#endif

static _Noreturn void exit_of_libc(int status)
{
  BEHIND(exit)
  exit_next(status);
  abort();
}

/* Ends a program that calls exit(). A program that was started directly, for example by configure
 * or make, ends as usual. */
void smpi_exit(int status)
{
  layer_enter();
  if (!machine_self())
    exit_of_libc(status);
  if (status)
    program_crashes();
  if (rank_self())
    program_failed("rank %d has called exit(%d) before MPI_Finalize", rank_self()->index, status);
  if (layer_wanted())
    leave_program(status);
  exit_of_smpi(status);
}

/* Replaces exit() for code that smpicc did not compile, for code that calls exit() by another name,
 * and for Fortran's STOP. If the layer is inert, this function ends the simulation, as exit() does
 * without the layer. */
void exit(int status)
{
  if (layer_wanted())
    smpi_exit(status);
  exit_of_libc(status);
}

/* ---- the end of the process ---- */

/* Defines the function NAME. The layer itself calls it, too, to end the run. */
#define EXIT_AT_ONCE(NAME)                                                                         \
  void NAME(int status)                                                                            \
  {                                                                                                \
    BEHIND(NAME)                                                                                   \
    struct arena *mode = heap_leave();                                                             \
    if (mode && layer_wanted())                                                                    \
      program_failed("rank %d has called %s(%d)", machine_rank(), #NAME, status);                  \
    NAME##_next(status);                                                                           \
    abort();                                                                                       \
  }

EXIT_AT_ONCE(_exit)
EXIT_AT_ONCE(_Exit)

/* Ends the run if a program has returned too early. The dispatcher's process never ends by itself,
 * and has no rank of the program. */
static void has_returned(int failed, void *index)
{
  int rank = GPOINTER_TO_INT(index);
  if (!layer.on || (rank < layer.ranks && !layer.rank[rank].mpi))
    die(DIE_INPUT, "rank %d has ended without a call of MPI_Init, expected an MPI program", rank);
  if (rank < layer.ranks && layer.rank[rank].active && !failed)
    program_failed("rank %d has returned from its program without MPI_Finalize", rank);
}

void program_end_watch(void)
{
  machine_on_exit(has_returned, GINT_TO_POINTER(machine_rank()));
}

/* ---- signals ---- */

static bool is_overflow(int signal, const siginfo_t *info, const void *context)
{
#ifdef __x86_64__
  enum { NEAR = 1 << 16 };
  const ucontext_t *at = context;
  const char *stack = (const char *)at->uc_mcontext.gregs[REG_RSP], *fault = info->si_addr;
  return signal == SIGSEGV && fault < stack + NEAR && fault > stack - NEAR;
#else
  (void)signal, (void)info, (void)context;
  return false;
#endif
}

/* The handler's stack is too small for the code that ends a lost run. So that code runs on the
 * rank's stack, as if the program had called it where the signal struck. */
static int signal_of_rank;

static _Noreturn void end_by_signal(void)
{
  layer_enter();
  program_crashes();
  program_failed("rank %d was ended by signal %d (SIG%s: %s)", machine_rank(), signal_of_rank,
                 sigabbrev_np(signal_of_rank), sigdescr_np(signal_of_rank));
}

static void leave_handler(int signal, void *context)
{
  signal_of_rank = signal;
#ifdef __x86_64__
  enum { RED_ZONE = 128, ALIGNED = 16 };
  greg_t *to = ((ucontext_t *)context)->uc_mcontext.gregs;
  /* aligned as it is after a call, which pushes an address */
  to[REG_RSP] = ((to[REG_RSP] - RED_ZONE) & -ALIGNED) - (greg_t)sizeof(void *);
  to[REG_RIP] = (greg_t)(uintptr_t)end_by_signal;
#else
  (void)context;
  end_by_signal();
#endif
}

/* The program has failed if it was in program mode, in a call that was given an invalid address, or
 * outside of MPI. Otherwise the layer or SimGrid has failed, and SimGrid's handler says more. */
static void ended_by_signal(int signal, siginfo_t *info, void *context)
{
  struct arena *mode = heap_leave();
  const struct rank *r = machine_self() ? rank_self() : NULL;
  if (!machine_self() && layer.on)
    die(DIE_INPUT, "a thread of the program was ended by signal %d (SIG%s: %s)", signal,
        sigabbrev_np(signal), sigdescr_np(signal));
  if (mode && is_overflow(signal, info, context))
    die(DIE_INPUT, "rank %d has overflowed its stack of %u KiB", machine_rank(),
        machine_stack_bytes() / 1024);
  if (mode || (!r && machine_rank() >= 0)) {
    leave_handler(signal, context);
    heap_enter(mode);
    return;
  }
  if (r && (signal == SIGSEGV || signal == SIGBUS))
    die(DIE_INPUT, "rank %d was ended by signal %d (SIG%s: %s) in its call of %s, at address %p",
        r->index, signal, sigabbrev_np(signal), sigdescr_np(signal), r->mpi->call_name,
        info->si_addr);
  for (size_t i = 0; i < G_N_ELEMENTS(fatal); i++)
    if (fatal[i] == signal)
      sigaction(signal, &before[i], NULL);
  raise(signal);
}

/* Ends the rank. If programs repair themselves, the end counts as a crash. */
static void end_itself(int signal)
{
  struct rank *r = rank_self();
  if (r && layer.repairs)
    host_crash(r);
  signal_of_rank = signal;
  end_by_signal();
}

/* Returns whether the signal ends a process that does not handle it. */
static bool ends_process(int signal)
{
  struct sigaction action = {.sa_handler = SIG_DFL};
  switch (signal) {
  case SIGCHLD:
  case SIGCONT:
  case SIGSTOP:
  case SIGTSTP:
  case SIGTTIN:
  case SIGTTOU:
  case SIGURG:
  case SIGWINCH:
    return false;
  default:
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_DFL;
  }
}

int raise(int signal)
{
  struct arena *mode = layer_enter();
  if (mode && layer_wanted() && ends_process(signal))
    end_itself(signal);
  layer_leave(mode);
  BEHIND(raise)
  return raise_next(signal);
}

void program_end_begin(void)
{
  struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  action.sa_sigaction = ended_by_signal;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < G_N_ELEMENTS(fatal); i++)
    sigaction(fatal[i], &action, &before[i]);
}
