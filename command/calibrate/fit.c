/* Each amount is chosen so that the simulation repeats the measured median. The simulation charges:
 *
 *     a message       2 overheads, 1 latency, bytes / bandwidth; messages from the eager limit
 *                     on: 3 latencies instead, and no overhead (SMPI charges smpi/os and smpi/or
 *                     where a send does not wait)
 *     a capture       bytes / memory, into the pages of a file that is not synced
 *     a synced write  write_latency, bytes of all writers of a node / bandwidth
 *     a read          bytes of all readers of a node / read_bandwidth
 *
 * If several numbers of writers give a rate, the result is the geometric mean of their rates at the
 * largest size, where the fixed cost of a file matters least.
 */
#include "command/calibrate/fit.h"

#include <math.h>

enum { LONG_MESSAGE = 65536, LONG_FILE = 1048576 }; /* sizes from which on bandwidth decides */

static struct fitted fitted(double value, const struct series *from)
{
  return (struct fitted){.value = value, .from = from};
}

static struct fitted rate(double amount, const struct series *from)
{
  return from ? fitted(amount / series_middle(from), from) : fitted(0.0, NULL);
}

/* ---- rates by size; the rate at the largest size counts ---- */

struct rates {
  double logarithms; /* sum of the logarithms of the rates at the largest size */
  int count;
  GString *by;
  const struct series *last;
};

static struct rates rates_new(void)
{
  return (struct rates){.by = g_string_new(NULL)};
}

/* Adds a rate of a series, unless fixed costs take so much of the series' time that the rate says
 * too little. */
static void rates_add(struct rates *rates, const struct series *series, double bytes,
                      double seconds)
{
  double value = bytes / seconds;
  if (!(seconds > 0.05 * series_middle(series)))
    return;
  g_autofree char *size = quantity_text(QUANTITY_SIZE, series->bytes);
  g_autofree char *text = quantity_text(QUANTITY_RATE, rint(value / 1e6) * 1e6);
  g_string_append_printf(rates->by, "%s%s", rates->by->len ? ", " : "", size);
  if (series->writers > 1)
    g_string_append_printf(rates->by, " by %d", series->writers);
  g_string_append_printf(rates->by, " %s", text);
  if (rates->last && series->bytes < rates->last->bytes)
    return;
  bool larger = !rates->last || series->bytes > rates->last->bytes;
  rates->logarithms = (larger ? 0.0 : rates->logarithms) + log(value);
  rates->count = (larger ? 0 : rates->count) + 1;
  rates->last = series;
}

static struct fitted rates_end(const struct rates *rates)
{
  return (struct fitted){.value = rates->count ? exp(rates->logarithms / rates->count) : 0.0,
                         .from = rates->last,
                         .by = rates->by};
}

/* ---- messages ---- */

static void fit_link(const struct sample_file *samples, const char *name, const struct fit *fit,
                     struct fitted *latency, struct fitted *bandwidth)
{
  const struct series *first = series_next(samples, name, NULL);
  struct rates rates = rates_new();
  if (first) {
    double both = 2 * fit->overhead.value, middle = series_middle(first);
    *latency = fitted(MAX(middle - both, 0.1 * middle), first);
  }
  for (const struct series *s = first; s; s = series_next(samples, name, s))
    if (s->bytes >= MAX(LONG_MESSAGE, fit->eager.value))
      rates_add(&rates, s, s->bytes, series_middle(s) - 3 * latency->value);
  *bandwidth = rates_end(&rates);
}

/* ---- disks ---- */

static struct fitted fit_rate(const struct sample_file *samples, const char *name, int disk,
                              double latency)
{
  struct rates rates = rates_new();
  for (const struct series *s = NULL; (s = series_next(samples, name, s));)
    if (s->disk == disk && s->bytes >= LONG_FILE)
      rates_add(&rates, s, s->bytes * s->writers, series_middle(s) - latency);
  return rates_end(&rates);
}

static void fit_disk(const struct sample_file *samples, int disk, struct fitted_disk *to)
{
  const struct series *record = NULL;
  to->disk = disk;
  if (disk < 0)
    return;
  while ((record = series_next(samples, "record", record)) && record->disk != disk)
    continue;
  if (record)
    to->write_latency = fitted(series_middle(record), record);
  to->bandwidth = fit_rate(samples, "sync", disk, to->write_latency.value);
  to->read_bandwidth = fit_rate(samples, "read-cold", disk, 0.0);
}

/* Chooses the shared disk (the file system) or a node's own disk. On a single node, every process
 * sees every disk. There, the first disk counts as the node's own disk, and the last disk as the
 * file system. */
static int choose_disk(const struct sample_file *samples, bool shared)
{
  int found = -1, count = (int)samples->disks->len;
  for (int i = 0; i < count; i++)
    if (samples->nodes > 1 && found < 0 &&
        g_array_index(samples->disks, struct disk_of_samples, i).shared == shared)
      found = i;
  return samples->nodes > 1 || !count ? found : shared ? count - 1 : 0;
}

/* Takes the series with the most writers, because all processes capture at once. The rate is the
 * rate of one process. */
static struct fitted fit_capture(const struct sample_file *samples, int disk)
{
  struct fitted result = {0};
  for (const struct series *s = NULL; (s = series_next(samples, "write", s));)
    if (s->disk == disk && s->bytes >= LONG_FILE)
      result = rate(s->bytes, s);
  return result;
}

/* ---- the whole ---- */

void fit_machine(struct fit *fit, const struct sample_file *samples)
{
  *fit = (struct fit){.speed = {0}};
  const struct series *speed = series_next(samples, "relaxation", NULL);
  const struct series *copy = series_next(samples, "copy", NULL);
  const char *link = samples->nodes > 1 ? "overhead.between" : "overhead.within";
  const char *limit = samples->nodes > 1 ? "eager.between" : "eager.within";
  const struct series *overhead = series_next(samples, link, NULL);
  const struct series *eager = series_next(samples, limit, NULL);
  fit->speed = rate(speed ? speed->flops : 0.0, speed);
  fit->copy = rate(copy ? copy->bytes : 0.0, copy);
  fit->overhead = overhead ? fitted(series_middle(overhead), overhead) : fit->overhead;
  fit->eager = eager ? fitted(series_middle(eager), eager) : fit->eager;
  fit_link(samples, "ping-pong.within", fit, &fit->within.latency, &fit->within.bandwidth);
  fit_link(samples, "ping-pong.between", fit, &fit->between.latency, &fit->between.bandwidth);
  fit_disk(samples, choose_disk(samples, false), &fit->local);
  fit_disk(samples, choose_disk(samples, true), &fit->storage);
  int captures = fit->local.disk >= 0 ? fit->local.disk : fit->storage.disk;
  fit->memory = fit_capture(samples, captures);
  if (!fit->memory.from)
    fit->memory = fit->copy;
}

static void drop(struct fitted *amount)
{
  if (amount->by)
    g_string_free(amount->by, TRUE);
  amount->by = NULL;
}

void fit_clear(struct fit *fit)
{
  drop(&fit->within.bandwidth);
  drop(&fit->between.bandwidth);
  drop(&fit->local.bandwidth);
  drop(&fit->local.read_bandwidth);
  drop(&fit->storage.bandwidth);
  drop(&fit->storage.read_bandwidth);
}
