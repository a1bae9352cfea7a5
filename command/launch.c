#define _GNU_SOURCE /* prctl, pipe2 */
#include "command/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/glib/terminal.h"
#include "base/output.h"
#include "base/platform.h"
#include "world/scenario/scenario.h"
#include "world/scenario/shared_object.h"

#define LAYER "librecline_mpi.so"
#define PRELOADED "librecline_heap.so:librecline_smpi.so"

/* ---- paths ---- */

/* bin/, lib/ and programs/ lie side by side in the build folder, which may be moved. */
static char *beside_recline(const char *folder)
{
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
  g_autofree char *bin = g_path_get_dirname(self != NULL ? self : ".");
  g_autofree char *path = g_build_filename(bin, "..", folder, NULL);
  return g_canonicalize_filename(path, NULL);
}

char *launch_find(const char *name)
{
  if (g_path_is_absolute(name))
    return scenario_file_in("/", name);
  char *found = scenario_find_in("RECLINE_PROGRAMS", name);
  g_autofree char *programs = beside_recline("programs");
  return found != NULL ? found : scenario_file_in(programs, name);
}

const char *launch_refuses(const char *program)
{
  g_autoptr(GMappedFile) file = g_mapped_file_new(program, FALSE, NULL);
  if (file == NULL)
    return "cannot be read";
  return shared_object_needs(file, LAYER) ? NULL : "was not built with recline-cc";
}

/* ---- the child ---- */

static const char *const OPTIONS[] = {
    /* the options that smpirun gives */
    "--cfg=smpi/privatization:dlopen",
    "--cfg=surf/precision:1e-9",
    "--cfg=network/model:SMPI",
    /* computation takes the simulated time that the program and the scenario say, not the time that
     * it takes on this machine */
    "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/test:0",
    "--cfg=smpi/iprobe:0",
    "--log=root.thres:error",
};

/* Duplicates the descriptor of the private folder for the child, so that the folder stays locked
 * while the child lives. The number of the new descriptor is above all numbers that the program
 * gets, so that the program gets the same numbers everywhere. */
static int copy_folder(const struct launch *job)
{
  enum { ABOVE_THOSE_OF_PROGRAMS = 900 };
  return fcntl(job->folder, F_DUPFD_CLOEXEC, ABOVE_THOSE_OF_PROGRAMS);
}

/* Returns the command line. Options of SimGrid end at spaces, newlines and commas, so a path with
 * one of these is reached through the descriptor of its folder. */
static GPtrArray *command(const struct launch *job, int folder)
{
  GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
  g_autofree char *directory = folder >= 0 && strpbrk(job->directory, " \t\n,")
                                   ? g_strdup_printf("/proc/self/fd/%d", folder)
                                   : g_strdup(job->directory);
  g_ptr_array_add(words, g_strdup(RECLINE_SMPIMAIN));
  g_ptr_array_add(words, g_strdup(job->program));
  for (size_t i = 0; i < G_N_ELEMENTS(OPTIONS); i++)
    g_ptr_array_add(words, g_strdup(OPTIONS[i]));
  g_ptr_array_add(words, g_strdup_printf("--cfg=smpi/np:%d", job->processes));
  g_ptr_array_add(words, g_strdup_printf("--cfg=smpi/hostfile:%s/hosts", directory));
  g_ptr_array_add(words, g_strdup_printf("--cfg=smpi/tmpdir:%s", directory));
  g_ptr_array_add(words, g_strdup(job->platform));
  g_ptr_array_add(words, g_strdup("--")); /* the words after this word are not for SimGrid */
  for (const char *const *arg = job->args; *arg != NULL; arg++)
    g_ptr_array_add(words, g_strdup(*arg));
  g_ptr_array_add(words, NULL);
  return words;
}

/* Puts `first` in front of the variable's value. */
static char **in_front(char **environment, const char *name, const char *first)
{
  const char *rest = g_environ_getenv(environment, name);
  g_autofree char *value =
      rest != NULL && *rest != '\0' ? g_strconcat(first, ":", rest, NULL) : g_strdup(first);
  return g_environ_setenv(environment, name, value, TRUE);
}

/* Libraries are preloaded by name alone, because LD_PRELOAD splits paths at spaces. */
static char **environment(const struct launch *job)
{
  g_autofree char *libraries = beside_recline("lib");
  g_autofree char *processes = g_strdup_printf("%d", job->processes);
  char **values = g_get_environ();
  values = in_front(values, "LD_LIBRARY_PATH", libraries);
  values = in_front(values, "LD_PRELOAD", PRELOADED);
  values = g_environ_setenv(values, "SMPI_GLOBAL_SIZE", processes, TRUE);
  /* with several threads, sums would be added up in a different order in each run */
  values = g_environ_setenv(values, "OMP_NUM_THREADS", "1", FALSE);
  values = g_environ_setenv(values, "RECLINE_SCENARIO", job->scenario, TRUE);
  values = g_environ_setenv(values, "RECLINE_OUT", job->directory, TRUE);
  values = g_environ_setenv(values, "RECLINE_RESULT", job->result, TRUE);
  values = g_environ_unsetenv(values, "RECLINE_RECORD");
  values = g_environ_unsetenv(values, "RECLINE_REPLAY");
  if (job->replay)
    values = g_environ_setenv(values, "RECLINE_REPLAY", job->replay, TRUE);
  values = job->restart ? g_environ_setenv(values, "RECLINE_RESTART", job->restart, TRUE)
                        : g_environ_unsetenv(values, "RECLINE_RESTART");
  if (job->record) {
    char skew[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_dtostr(skew, sizeof skew, job->skew);
    values = g_environ_setenv(values, "RECLINE_RECORD", job->record, TRUE);
    values = g_environ_setenv(values, "RECLINE_RECORD_SKEW", skew, TRUE);
  }
  if (job->trace)
    return g_environ_setenv(values, "RECLINE_TRACE", "1", TRUE);
  return g_environ_unsetenv(values, "RECLINE_TRACE");
}

/* Fills the set with SIGCHLD, which tells the end of the child, and with the signals that stop this
 * process. Leaves out signals that the caller of this process ignores. */
static void signals(sigset_t *set)
{
  static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};
  sigemptyset(set);
  sigaddset(set, SIGCHLD);
  for (size_t i = 0; i < G_N_ELEMENTS(stopping); i++) {
    struct sigaction now;
    if (sigaction(stopping[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
      sigaddset(set, stopping[i]);
  }
}

static sigset_t mask_before;

void launch_block(void)
{
  sigset_t set;
  signals(&set);
  sigaddset(&set, SIGPIPE);
  signal(SIGCHLD, SIG_DFL); /* if SIG_IGN were inherited, the status of the child would be lost */
  sigprocmask(SIG_BLOCK, &set, &mask_before);
}

void launch_unblock(void)
{
  sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

/* Describes an output stream of the child. The output passes through this process on its way to the
 * file, because otherwise a full disk would not be noticed. */
struct printed {
  int pipe[2]; /* both ends of the pipe; an end is -1 if it is closed */
  const char *name;
  int file;
};

struct child {
  pid_t id;
  int input;  /* the child's standard input */
  int folder; /* the child's descriptor of the private folder */
  /* a pipe that a successful exec closes, and that otherwise carries the errno of exec */
  int report[2];
  struct printed printed[2];
  int signals; /* a descriptor for the signals of signals() */
  gint64 start;
  const char *unwritten; /* message about a file that could not be written */
  int problem;
};

/* Runs in the child between fork and exec, so this function does only what a signal handler may
 * do. */
static void become(char **words, char **values, pid_t parent, const struct child *child)
{
  const struct rlimit no_core = {0, 0};
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* if recline itself is killed, it cannot end the child */
  setrlimit(RLIMIT_CORE, &no_core);
  fcntl(child->folder, F_SETFD, 0);
  launch_unblock();
  if (getppid() == parent && dup2(child->input, STDIN_FILENO) >= 0 &&
      dup2(child->printed[0].pipe[1], STDOUT_FILENO) >= 0 &&
      dup2(child->printed[1].pipe[1], STDERR_FILENO) >= 0)
    execve(words[0], words, values);
  int problem = errno;
  if (write(child->report[1], &problem, sizeof problem) < 0)
    _exit(126);
  _exit(127);
}

static void close_one(int *descriptor)
{
  if (*descriptor >= 0)
    close(*descriptor);
  *descriptor = -1;
}

static void close_all(struct child *child)
{
  for (size_t i = 0; i < G_N_ELEMENTS(child->printed); i++) {
    close_one(&child->printed[i].file);
    close_one(&child->printed[i].pipe[0]);
    close_one(&child->printed[i].pipe[1]);
  }
  close_one(&child->input);
  close_one(&child->folder);
  close_one(&child->report[0]);
  close_one(&child->report[1]);
  close_one(&child->signals);
}

static void unwritten(struct child *child, const char *name)
{
  child->problem = errno;
  child->unwritten = name;
}

static bool open_all(struct child *child, const struct launch *job)
{
  sigset_t set;
  signals(&set);
  *child =
      (struct child){.input = open(job->input ? job->input : "/dev/null", O_RDONLY | O_CLOEXEC),
                     .folder = copy_folder(job),
                     .report = {-1, -1},
                     .printed = {{.pipe = {-1, -1}, .file = -1, .name = job->out},
                                 {.pipe = {-1, -1}, .file = -1, .name = job->err}},
                     .signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)};
  if (child->input < 0)
    return false;
  for (size_t i = 0; i < G_N_ELEMENTS(child->printed); i++) {
    struct printed *printed = &child->printed[i];
    printed->file = open(printed->name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (printed->file < 0)
      unwritten(child, printed->name);
    if (printed->file < 0 || pipe2(printed->pipe, O_CLOEXEC) != 0)
      return false;
    fcntl(printed->pipe[0], F_SETFL, O_NONBLOCK);
  }
  return child->signals >= 0 && pipe2(child->report, O_CLOEXEC) == 0;
}

/* Takes over what the child has printed so far. */
static void take(struct child *child, struct printed *printed)
{
  char bytes[1 << 16];
  ssize_t count;
  while (printed->pipe[0] >= 0 && (count = read(printed->pipe[0], bytes, sizeof bytes)) >= 0) {
    if (count == 0)
      close_one(&printed->pipe[0]);
    for (ssize_t done = 0, more; done < count; done += more) {
      more = write(printed->file, bytes + done, (size_t)(count - done));
      if (more < 0) {
        unwritten(child, printed->name);
        return;
      }
    }
  }
}

/* Returns how many seconds to wait at most. If memory is limited, the limit is checked ten times a
 * second. */
static double pause_of(const struct launch *job, gint64 start)
{
  double most = job->memory > 0 ? 0.1 : 1;
  double gone = (double)(g_get_monotonic_time() - start) / G_USEC_PER_SEC;
  return job->timeout > 0 ? CLAMP(job->timeout - gone, 0, most) : most;
}

/* Waits for output of the child, a signal to this process, the end of the child (SIGCHLD), or a
 * limit. Returns the signal, or the limit, or 0. */
static int next_interruption(const struct launch *job, struct child *child)
{
  double pause = pause_of(job, child->start);
  if (pause <= 0)
    return LAUNCH_TIMEOUT;
  if (job->memory > 0 && (double)platform_resident(child->id) > job->memory)
    return LAUNCH_MEMORY;
  struct printed *printed = child->printed;
  struct pollfd ends[] = {{.fd = child->signals, .events = POLLIN},
                          {.fd = printed[0].pipe[0], .events = POLLIN},
                          {.fd = printed[1].pipe[0], .events = POLLIN}};
  poll(ends, G_N_ELEMENTS(ends), (int)(pause * 1000) + 1);
  take(child, &printed[0]);
  take(child, &printed[1]);
  struct signalfd_siginfo signal;
  return read(child->signals, &signal, sizeof signal) > 0 ? (int)signal.ssi_signo : 0;
}

/* Waits for the end of the child or for an interruption. */
static void wait_for(struct child *child, const struct launch *job, int *status, int *interrupted)
{
  *interrupted = 0;
  child->start = g_get_monotonic_time();
  bool shown = false;
  gint64 told = 0;
  while (waitpid(child->id, status, WNOHANG) == 0) {
    int why = next_interruption(job, child);
    if ((why != 0 && why != SIGCHLD) || child->unwritten) {
      *interrupted = why == SIGCHLD ? 0 : why;
      kill(-child->id, SIGKILL);
      waitpid(child->id, status, 0);
      break;
    }
    shown |= progress_line(child->start, "simulating");
    if (job->tells)
      told = progress_tell(child->start, told, "simulating");
  }
  kill(-child->id, SIGKILL); /* processes that the program has left behind */
  progress_clear(shown);
  take(child, &child->printed[0]);
  take(child, &child->printed[1]);
}

static bool failed(GError **error, const char *what, int problem)
{
  g_set_error(error, G_IO_ERROR, (int)g_io_error_from_errno(problem), "%s: %s", what,
              g_strerror(problem));
  return false;
}

static bool cannot_write(const struct child *child, GError **error)
{
  g_set_error(error, G_IO_ERROR, (int)g_io_error_from_errno(child->problem), OUTPUT_CANNOT,
              child->unwritten, g_strerror(child->problem));
  return false;
}

bool launch(const struct launch *job, int *status, int *interrupted, GError **error)
{
  struct child child;
  if (!open_all(&child, job)) {
    (void)(child.unwritten ? cannot_write(&child, error)
                           : failed(error, child.input < 0 ? job->input : "pipe", errno));
    close_all(&child);
    return false;
  }
  g_autoptr(GPtrArray) words = command(job, child.folder);
  g_auto(GStrv) values = environment(job);
  pid_t parent = getpid();
  child.id = fork();
  if (child.id < 0) {
    failed(error, "fork", errno);
    close_all(&child);
    return false;
  }
  if (child.id == 0)
    become((char **)words->pdata, values, parent, &child);
  /* both parent and child make this call, because either may come first */
  setpgid(child.id, child.id);
  close_one(&child.report[1]);
  close_one(&child.printed[0].pipe[1]);
  close_one(&child.printed[1].pipe[1]);
  close_one(&child.folder);
  int problem = 0;
  bool started = read(child.report[0], &problem, sizeof problem) == 0;
  wait_for(&child, job, status, interrupted);
  close_all(&child);
  if (!started)
    return failed(error, RECLINE_SMPIMAIN, problem);
  return !child.unwritten || cannot_write(&child, error);
}
