/* The numbers of a run on real MPI, from the traces of its processes: each line begins with the
 * time at which a step was taken.
 *
 *     SECONDS RANK EVENT | ACTION | ACTION # DIGEST
 *
 * A phase lasts, as in a simulated run, from the first step with one event or action to the next
 * one with another (struct rcl_phase).
 */
#include <gio/gio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/compare/samples.h"
#include "protocols/text.h"

enum { PHASES_MOST = 16 };

/* What is known of one process in one life. */
struct process {
  double began[PHASES_MOST];
  bool open[PHASES_MOST];
  double first, last; /* seconds of its first line and of its last one */
};

struct measure {
  const struct rcl_protocol *protocol;
  double sum[PHASES_MOST]; /* of each phase, by the index of the first one of its name */
  unsigned count[PHASES_MOST];
  double first, last; /* of all lives */
  double down, lost;  /* between lives; behind the restored checkpoint */
  unsigned commits, lives, ranks;
  GHashTable *captures; /* checkpoint -> double *, seconds at which rank 0 captured it */
};

static bool has_moment(char *const *steps, const char *moment)
{
  for (; *steps; steps++)
    if (text_is_moment(*steps, moment))
      return true;
  return false;
}

static unsigned first_of_name(const struct rcl_phase *phases, unsigned i)
{
  unsigned first = 0;
  while (strcmp(phases[first].name, phases[i].name) != 0)
    first++;
  return first;
}

static void take_phases(struct measure *m, struct process *process, double now, char *const *steps)
{
  const struct rcl_phase *phases = m->protocol->phases;
  for (unsigned i = 0; phases && phases[i].name && i < PHASES_MOST; i++) {
    unsigned name = first_of_name(phases, i);
    if (!process->open[name] || !has_moment(steps, phases[i].to))
      continue;
    process->open[name] = false;
    m->sum[name] += now - process->began[name];
    m->count[name]++;
  }
  for (unsigned i = 0; phases && phases[i].name && i < PHASES_MOST; i++) {
    unsigned name = first_of_name(phases, i);
    if (process->open[name] || !has_moment(steps, phases[i].from))
      continue;
    process->open[name] = true;
    process->began[name] = now;
  }
}

static unsigned checkpoint_in(const char *step)
{
  const char *found = strstr(step, "checkpoint=");
  return found ? (unsigned)strtoul(found + strlen("checkpoint="), NULL, 10) : 0;
}

/* Rank 0 speaks for all: it captures, commits, and says from which checkpoint a life starts. */
static void take_coordinator(struct measure *m, double now, char *const *steps, unsigned *restored)
{
  for (; *steps; steps++) {
    unsigned checkpoint = checkpoint_in(*steps);
    if (text_is_moment(*steps, "captured")) {
      double *when = g_new(double, 1);
      *when = now;
      g_hash_table_replace(m->captures, GUINT_TO_POINTER(checkpoint), when);
    }
    m->commits += text_is_moment(*steps, "commit");
    if (text_is_moment(*steps, "start"))
      *restored = checkpoint;
  }
}

static bool read_life(struct measure *m, const char *file, int rank, struct process *process,
                      unsigned *restored, GError **error)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents(file, &text, NULL, error))
    return false;
  char *body = strstr(text, "\n---\n");
  g_auto(GStrv) lines = g_strsplit(body ? body + strlen("\n---\n") : "", "\n", -1);
  for (char **line = lines; *line; line++) {
    char *end = NULL, *step = NULL;
    double now = g_ascii_strtod(*line, &end);
    if (end == *line || strtol(end, &step, 10) != rank || *step != ' ')
      continue;
    char *digest = strstr(step, " # ");
    if (digest)
      *digest = '\0';
    g_auto(GStrv) steps = g_strsplit(step + 1, " | ", -1);
    process->first = process->first > 0 ? process->first : now;
    process->last = now;
    take_phases(m, process, now, steps);
    if (rank == 0)
      take_coordinator(m, now, steps, restored);
  }
  return true;
}

/* The head of a trace: "protocol NAME", "ranks N". */
static bool read_head(struct measure *m, const char *file, GError **error)
{
  char name[65] = "";
  g_autofree char *text = NULL;
  if (!g_file_get_contents(file, &text, NULL, error))
    return false;
  if (sscanf(text, "recline-part-trace 1 protocol %64s ranks %u", name, &m->ranks) == 2 &&
      (m->protocol = rcl_protocol_named(name)) && m->ranks > 0)
    return true;
  g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
              "%s:1: no trace of a process on real MPI, expected one that RECLINE_TRACE=1 leaves",
              file);
  return false;
}

/* One life of all processes: from the first line of any to the last line of any. */
static bool add_life(struct measure *m, const char *folder, unsigned life, GError **error)
{
  double first = 0.0, last = 0.0, before = m->last;
  unsigned restored = 0;
  for (unsigned rank = 0; rank < m->ranks; rank++) {
    struct process process = {.first = 0.0};
    g_autofree char *name = g_strdup_printf("trace.%u.%u", life, rank);
    g_autofree char *file = g_build_filename(folder, name, NULL);
    if (!read_life(m, file, (int)rank, &process, &restored, error))
      return false;
    first = rank == 0 || process.first < first ? process.first : first;
    last = MAX(last, process.last);
    if (rank == 0 && life > 0) {
      double *when = g_hash_table_lookup(m->captures, GUINT_TO_POINTER(restored));
      m->lost += before - (when ? *when : m->first);
    }
  }
  m->first = life == 0 ? first : m->first;
  m->down += life == 0 ? 0.0 : first - before;
  m->last = last;
  m->lives++;
  return true;
}

static void add_numbers(struct samples *samples, const struct measure *m)
{
  const struct rcl_phase *phases = m->protocol->phases;
  samples_add(samples, "simulated_s", m->last - m->first);
  samples_add(samples, "time_s.lost", m->lost);
  samples_add(samples, "time_s.restart", m->down);
  samples_add(samples, "checkpoints.committed", m->commits);
  samples_add(samples, "crashes", m->lives - 1);
  for (unsigned i = 0; phases && phases[i].name && i < PHASES_MOST; i++) {
    g_autofree char *name = g_strconcat("phase ", phases[i].name, NULL);
    if (m->count[i] > 0)
      samples_add(samples, name, m->sum[i] / m->count[i]);
  }
}

bool measured_read(struct samples *samples, const char *folder, GError **error)
{
  struct measure m = {.captures = g_hash_table_new_full(NULL, NULL, NULL, g_free)};
  g_autofree char *first = g_build_filename(folder, "trace.0.0", NULL);
  bool good = read_head(&m, first, error), there = true;
  for (unsigned life = 0; good && there; life++) {
    g_autofree char *name = g_strdup_printf("trace.%u.0", life);
    g_autofree char *file = g_build_filename(folder, name, NULL);
    there = g_file_test(file, G_FILE_TEST_EXISTS);
    good = !there || add_life(&m, folder, life, error);
  }
  g_hash_table_unref(m.captures);
  if (!good)
    return false;
  if (samples->runs++ == 0) {
    samples->protocol = g_strdup(m.protocol->name);
    samples->ranks = (int)m.ranks;
    samples->title = g_strdup_printf("%s, %u processes on real MPI", m.protocol->name, m.ranks);
  }
  add_numbers(samples, &m);
  return true;
}
