#define _GNU_SOURCE /* prctl, pipe2 */
#include "sim/command/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/base/platform.h"
#include "verify/scenario/scenario.h"
#include "verify/scenario/shared_object.h"

#define LAYER "librecline_mpi.so"
#define PRELOADED "librecline_heap.so:librecline_smpi.so"

/* ---- where things are ---- */

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
    /* what smpirun gives */
    "--cfg=smpi/privatization:dlopen",
    "--cfg=surf/precision:1e-9",
    "--cfg=network/model:SMPI",
    /* time comes from the program and the scenario, never from the machine that simulates */
    "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/test:0",
    "--cfg=smpi/iprobe:0",
    "--log=root.thres:error",
};

/* The private folder as options of SimGrid can name it: those end at spaces, newlines and commas,
 * so that a path with one of them is named by a descriptor. Above those that the program is given,
 * for it to be given the same ones anywhere. -1: the path will do, or the error is told later. */
static int open_folder(const struct launch *job)
{
  enum { ABOVE_THOSE_OF_PROGRAMS = 900 };
  if (!strpbrk(job->directory, " \t\n,"))
    return -1;
  int folder = open(job->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  int above = fcntl(folder, F_DUPFD, ABOVE_THOSE_OF_PROGRAMS);
  close(folder);
  return above;
}

static GPtrArray *command(const struct launch *job, int folder)
{
  GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
  g_autofree char *directory =
      folder < 0 ? g_strdup(job->directory) : g_strdup_printf("/proc/self/fd/%d", folder);
  g_ptr_array_add(words, g_strdup(RECLINE_SMPIMAIN));
  g_ptr_array_add(words, g_strdup(job->program));
  for (size_t i = 0; i < G_N_ELEMENTS(OPTIONS); i++)
    g_ptr_array_add(words, g_strdup(OPTIONS[i]));
  g_ptr_array_add(words, g_strdup_printf("--cfg=smpi/np:%d", job->processes));
  g_ptr_array_add(words, g_strdup_printf("--cfg=smpi/hostfile:%s/hosts", directory));
  g_ptr_array_add(words, g_strdup_printf("--cfg=smpi/tmpdir:%s", directory));
  g_ptr_array_add(words, g_strdup(job->platform));
  g_ptr_array_add(words, g_strdup("--")); /* what follows is not SimGrid's */
  for (const char *const *arg = job->args; *arg != NULL; arg++)
    g_ptr_array_add(words, g_strdup(*arg));
  g_ptr_array_add(words, NULL);
  return words;
}

/* `first`, then what was in the variable. */
static char **in_front(char **environment, const char *name, const char *first)
{
  const char *rest = g_environ_getenv(environment, name);
  g_autofree char *value =
      rest != NULL && *rest != '\0' ? g_strconcat(first, ":", rest, NULL) : g_strdup(first);
  return g_environ_setenv(environment, name, value, TRUE);
}

/* Preloaded by their names alone, because LD_PRELOAD splits paths at spaces. */
static char **environment(const struct launch *job)
{
  g_autofree char *libraries = beside_recline("lib");
  g_autofree char *processes = g_strdup_printf("%d", job->processes);
  char **values = g_get_environ();
  values = in_front(values, "LD_LIBRARY_PATH", libraries);
  values = in_front(values, "LD_PRELOAD", PRELOADED);
  values = g_environ_setenv(values, "SMPI_GLOBAL_SIZE", processes, TRUE);
  /* threads add up in another order each time */
  values = g_environ_setenv(values, "OMP_NUM_THREADS", "1", FALSE);
  values = g_environ_setenv(values, "RECLINE_SCENARIO", job->scenario, TRUE);
  values = g_environ_setenv(values, "RECLINE_OUT", job->directory, TRUE);
  values = g_environ_setenv(values, "RECLINE_RESULT", job->result, TRUE);
  if (job->trace)
    return g_environ_setenv(values, "RECLINE_TRACE", "1", TRUE);
  return g_environ_unsetenv(values, "RECLINE_TRACE");
}

/* Signals that stop us, unless our caller ignores them, and the end of the child. */
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
  signal(SIGCHLD, SIG_DFL); /* an inherited SIG_IGN would take the child's status away */
  sigprocmask(SIG_BLOCK, &set, &mask_before);
}

void launch_unblock(void)
{
  sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

static bool redirect(const char *file, int flags, int to)
{
  int from = open(file, flags | O_CLOEXEC, 0644);
  return from >= 0 && dup2(from, to) == to;
}

/* In the child, between fork and exec: only what a signal handler might do, too. */
static void become(const struct launch *job, char **words, char **values, pid_t parent, int report)
{
  const struct rlimit no_core = {0, 0};
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* a killed recline cannot clean up */
  setrlimit(RLIMIT_CORE, &no_core);
  launch_unblock();
  if (getppid() == parent && redirect("/dev/null", O_RDONLY, STDIN_FILENO) &&
      redirect(job->out, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO) &&
      redirect(job->err, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO))
    execve(words[0], words, values);
  int problem = errno;
  if (write(report, &problem, sizeof problem) < 0)
    _exit(126);
  _exit(127);
}

/* Seconds on standard error while a long simulation runs, for a person who waits. */
static void show_progress(unsigned seconds)
{
  if (seconds >= 2 && isatty(STDERR_FILENO))
    g_printerr("\rsimulating, %u s", seconds);
}

static void end_progress(unsigned seconds)
{
  if (seconds >= 2 && isatty(STDERR_FILENO))
    g_printerr("\r\033[K");
}

/* Seconds that are left. A limit of memory is looked at ten times a second. */
static double pause_of(const struct launch *job, gint64 start)
{
  double most = job->memory > 0 ? 0.1 : 1;
  double gone = (double)(g_get_monotonic_time() - start) / G_USEC_PER_SEC;
  return job->timeout > 0 ? CLAMP(job->timeout - gone, 0, most) : most;
}

/* A signal for us, the end of the child (SIGCHLD), a limit that is reached, or 0. */
static int next_interruption(const struct launch *job, pid_t child, gint64 start)
{
  sigset_t set;
  signals(&set);
  double pause = pause_of(job, start);
  if (pause <= 0)
    return LAUNCH_TIMEOUT;
  if (job->memory > 0 && (double)platform_resident(child) > job->memory)
    return LAUNCH_MEMORY;
  const struct timespec wait = {.tv_sec = (time_t)pause,
                                .tv_nsec = (long)((pause - (double)(time_t)pause) * 1e9)};
  int signal = sigtimedwait(&set, NULL, &wait);
  return signal > 0 ? signal : 0;
}

/* Waits for the end of the child or for an interruption. */
static void wait_for(pid_t child, const struct launch *job, int *status, int *interrupted)
{
  *interrupted = 0;
  gint64 start = g_get_monotonic_time();
  unsigned seconds = 0;
  while (waitpid(child, status, WNOHANG) == 0) {
    int why = next_interruption(job, child, start);
    if (why != 0 && why != SIGCHLD) {
      *interrupted = why;
      kill(-child, SIGKILL);
      waitpid(child, status, 0);
      break;
    }
    seconds = (unsigned)((g_get_monotonic_time() - start) / G_USEC_PER_SEC);
    show_progress(seconds);
  }
  kill(-child, SIGKILL); /* what the program may have started and left behind */
  end_progress(seconds);
}

static bool failed(GError **error, const char *what, int problem)
{
  g_set_error(error, G_IO_ERROR, (int)g_io_error_from_errno(problem), "%s: %s", what,
              g_strerror(problem));
  return false;
}

bool launch(const struct launch *job, int *status, int *interrupted, GError **error)
{
  int folder = open_folder(job);
  g_autoptr(GPtrArray) words = command(job, folder);
  g_auto(GStrv) values = environment(job);
  int report[2]; /* closed by a successful exec, else carries its errno */
  if (pipe2(report, O_CLOEXEC) != 0)
    return failed(error, "pipe", errno);
  pid_t parent = getpid(), child = fork();
  if (child < 0) {
    int problem = errno;
    close(report[0]);
    close(report[1]);
    if (folder >= 0)
      close(folder);
    return failed(error, "fork", problem);
  }
  if (child == 0)
    become(job, (char **)words->pdata, values, parent, report[1]);
  setpgid(child, child); /* in parent and child: either may come first */
  close(report[1]);
  if (folder >= 0)
    close(folder);
  int problem = 0;
  bool started = read(report[0], &problem, sizeof problem) == 0;
  close(report[0]);
  wait_for(child, job, status, interrupted);
  return started || failed(error, RECLINE_SMPIMAIN, problem);
}
