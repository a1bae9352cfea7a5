#include "world/trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/output.h"
#include "world/trace/trace_lines.h"

/* ---- writing ---- */

struct trace {
  struct output *output; /* the file being written, or NULL once it is closed */
  FILE *out;             /* the file's stream */
  char *file;
  bool steps;
  struct trace_lines *lines;
};

static bool file_error(GError **error, const char *file)
{
  int code = errno;
  g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code), OUTPUT_CANNOT, file,
              g_strerror(code));
  return false;
}

static void trace_free(struct trace *trace)
{
  trace_lines_free(trace->lines);
  g_free(trace->file);
  g_free(trace);
}

struct trace *trace_open(const char *file, const struct world *world, const char *host, bool steps,
                         GError **error)
{
  struct trace *trace = g_new0(struct trace, 1);
  trace->file = g_strdup(file);
  trace->steps = steps;
  trace->lines = trace_lines_new();
  trace->output = output_open(file);
  if (!trace->output) {
    file_error(error, file);
    trace_free(trace);
    return NULL;
  }
  trace->out = output_stream(trace->output);
  char *header = trace_header(world, host);
  fputs(header, trace->out);
  free(header);
  return trace;
}

void trace_move(struct trace *trace, double time, const struct world *world,
                const struct move *move, const struct rcl_actions *actions, struct verdict *verdict)
{
  char *line = trace_line(trace->lines, world, move, actions, verdict);
  if (trace->steps)
    fprintf(trace->out, "%.0f %s\n", time, line);
  else
    fprintf(trace->out, "%.9f %s\n", time, line);
  free(line);
  if (verdict->kind == VERDICT_VIOLATION)
    trace_violation(trace, verdict);
}

void trace_violation(struct trace *trace, struct verdict *verdict)
{
  char *line = trace_violation_line(trace->lines, verdict);
  fprintf(trace->out, "%s\n", line);
  free(line);
}

void trace_again(struct trace *trace, unsigned step)
{
  fprintf(trace->out, "again from=%u\n", step);
}

bool trace_close(struct trace *trace, GError **error)
{
  bool fine = output_close(trace->output, false) || file_error(error, trace->file);
  trace_free(trace);
  return fine;
}
