#include "command/campaign/measurements.h"

#include <gio/gio.h>
#include <math.h>
#include <sys/wait.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "base/glib/terminal.h"
#include "base/output.h"
#include "command/campaign/answer.h"
#include "command/campaign/pool.h"

enum { PROGRESS_SECONDS = 10 };

/* Shows how many runs are done: on a terminal by one line that changes, in a file by a line at the
 * first run and then now and then. */
static void show_progress(void *data)
{
  struct measurements *m = data;
  gint64 now = g_get_monotonic_time();
  bool again = terminal_shows_progress(), first = m->told == 0;
  if (!again && (m->silent || (!first && now < m->told + PROGRESS_SECONDS * G_USEC_PER_SEC)))
    return;
  m->told = now;
  double gone = (double)(now - m->began) / G_USEC_PER_SEC;
  g_printerr("%smeasuring costs: %u of %u runs done", again ? "\r\033[K" : "", m->done, m->all);
  if (!first)
    g_printerr(", %.0f s", gone);
  if (m->done > 0) {
    g_autofree char *left = answer_time(m->each * (m->all - m->done));
    g_printerr(", about %s left", left);
  }
  g_printerr("%s", again ? "" : "\n");
}

static bool start(const struct measurements *m, struct pool *pool, const struct measurement *run,
                  unsigned number)
{
  g_autoptr(GPtrArray) words = g_ptr_array_new();
  g_autoptr(GError) error = NULL;
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
  const char *const first[] = {self, "run", m->file, "--json"};
  for (size_t i = 0; i < G_N_ELEMENTS(first); i++)
    g_ptr_array_add(words, (char *)first[i]);
  for (char **set = run->set; *set; set++) {
    g_ptr_array_add(words, (char *)"--set");
    g_ptr_array_add(words, *set);
  }
  g_ptr_array_add(words, NULL);
  if (pool_start(pool, (char *const *)words->pdata, number, &error))
    return true;
  bad_input("recline: %s", error->message);
  return false;
}

static void take(struct measurement *run, struct ended *ended)
{
  bool fine = WIFEXITED(ended->status) && WEXITSTATUS(ended->status) == EXIT_FINE;
  run->result = fine ? json_from_string(ended->out ? ended->out : "", NULL) : NULL;
  if (!run->result)
    run->problem = g_steal_pointer(&ended->err);
  g_free(ended->out);
  g_free(ended->err);
}

static int make(struct measurements *m, struct pool *pool, struct measurement *runs, unsigned count)
{
  unsigned next = 0;
  struct ended ended;
  while (next < count || !pool_is_empty(pool)) {
    while (next < count && !pool_is_full(pool)) {
      if (!start(m, pool, &runs[next], next))
        return -1;
      next++;
    }
    show_progress(m);
    int stopped = pool_wait(pool, &ended);
    if (stopped)
      return stopped;
    m->done++;
    m->each = (double)(g_get_monotonic_time() - m->began) / G_USEC_PER_SEC / m->done;
    take(&runs[ended.job], &ended);
  }
  return 0;
}

int measurements_make(struct measurements *m, struct measurement *runs, unsigned count)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *scratch = g_dir_make_tmp("recline-measure-XXXXXX", &error);
  if (!scratch) {
    bad_input("recline: %s", error->message);
    return -1;
  }
  if (!m->began)
    m->began = g_get_monotonic_time();
  struct pool *pool = pool_new(m->jobs, scratch);
  pool_tick(pool, show_progress, m);
  int code = make(m, pool, runs, count);
  if (terminal_shows_progress())
    g_printerr("\r\033[K");
  pool_free(pool);
  output_remove(scratch);
  return code;
}

void measurement_clear(struct measurement *run)
{
  g_strfreev(run->set);
  g_clear_pointer(&run->result, json_node_unref);
  g_clear_pointer(&run->problem, g_free);
}

double measured_number(JsonNode *result, const char *group, const char *name)
{
  JsonObject *object = json_node_get_object(result);
  if (group && json_object_has_member(object, group))
    object = json_object_get_object_member(object, group);
  JsonNode *node = json_object_get_member(object, name);
  return node && JSON_NODE_HOLDS_VALUE(node) ? json_node_get_double(node) : NAN;
}
