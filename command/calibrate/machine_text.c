#include "command/calibrate/machine_text.h"

#include <math.h>

/* Rounds to three digits, because no sample is more certain. */
static char *amount_text(enum quantity kind, double amount)
{
  double unit = amount > 0 ? pow(10.0, floor(log10(amount)) - 2) : 1.0;
  return quantity_text(kind, kind == QUANTITY_SIZE ? rint(amount) : rint(amount / unit) * unit);
}

/* Returns a text that says how many samples an amount has, and how far these samples lie apart. */
static char *spread_text(const struct series *from)
{
  double middle = series_middle(from);
  return g_strdup_printf("%u values, 10 to 90 %% are %.2f to %.2f of the median%s", from->count,
                         series_quantile(from, 0.1) / middle, series_quantile(from, 0.9) / middle,
                         series_is_unstable(from) ? "; UNSTABLE" : "");
}

static void put(GString *text, const char *indent, const char *key, enum quantity kind,
                const struct fitted *amount)
{
  g_autofree char *field = g_strdup_printf("%s%s:", indent, key);
  if (!(amount->value > 0)) {
    g_string_append_printf(text, "%s# %s not measured\n", indent, key);
    return;
  }
  g_autofree char *value = amount_text(kind, amount->value), *spread = spread_text(amount->from);
  g_string_append_printf(text, "%-18s %-10s # %s\n", field, value, spread);
  if (amount->by && amount->by->len)
    g_string_append_printf(text, "%s  # %s\n", indent, amount->by->str);
}

/* Writes a key that has keys below it. If none of the keys below has a value, writes the key as a
 * YAML comment, because YAML has no empty mapping on several lines. */
static void put_key(GString *text, const char *key, bool any)
{
  g_string_append_printf(text, "%s%s:%s\n", any ? "" : "# ", key, any ? "" : " not measured");
}

static void put_head(GString *text, const struct fit *fit, const struct sample_file *samples)
{
  g_autofree char *copy = amount_text(QUANTITY_RATE, fit->copy.value);
  g_string_append_printf(text,
                         "# Measured by recline calibrate: %d processes on %d node%s, %s.\n"
                         "# Amounts are medians. UNSTABLE: the middle half of the values spreads "
                         "over more than a\n# quarter of the median.\n",
                         samples->ranks, samples->nodes, samples->nodes > 1 ? "s" : "",
                         samples->library);
  g_string_append_printf(text, "%-18s %d\n%-18s %d\n%-18s %d\n", "nodes:", samples->nodes,
                         "per_node:", samples->per_node, "cores:", samples->cores);
  put(text, "", "speed", QUANTITY_FLOPS, &fit->speed);
  if (fit->memory.from != fit->copy.from)
    g_string_append_printf(text,
                           "# of a capture, which goes to the pages of a file; a copy in "
                           "memory: %s\n",
                           copy);
  put(text, "", "memory", QUANTITY_RATE, &fit->memory);
}

static void put_network(GString *text, const struct fit *fit, const struct sample_file *samples)
{
  put_key(text, "within_node", fit->within.latency.value > 0 || fit->within.bandwidth.value > 0);
  put(text, "  ", "latency", QUANTITY_TIME, &fit->within.latency);
  put(text, "  ", "bandwidth", QUANTITY_RATE, &fit->within.bandwidth);
  put_key(text, "network",
          fit->overhead.value > 0 || fit->eager.value > 0 || fit->between.latency.value > 0);
  if (samples->nodes < 2)
    g_string_append(text, "  # between nodes: not measured, as all processes were on one\n");
  else
    put(text, "  ", "latency", QUANTITY_TIME, &fit->between.latency);
  if (samples->nodes > 1)
    put(text, "  ", "bandwidth", QUANTITY_RATE, &fit->between.bandwidth);
  put(text, "  ", "overhead", QUANTITY_TIME, &fit->overhead);
  put(text, "  ", "eager", QUANTITY_SIZE, &fit->eager);
}

static const struct series *of_disk(const struct sample_file *samples, const char *name, int disk)
{
  const struct series *found = NULL;
  while ((found = series_next(samples, name, found)) && found->disk != disk)
    continue;
  return found;
}

static void put_disk(GString *text, const char *key, const struct sample_file *samples,
                     const struct fitted_disk *disk)
{
  if (!(disk->bandwidth.value > 0) && !(disk->write_latency.value > 0)) {
    g_string_append_printf(text, "# %s: not measured\n", key);
    return;
  }
  g_string_append_printf(text, "%s: # %s\n", key,
                         g_array_index(samples->disks, struct disk_of_samples, disk->disk).folder);
  put(text, "  ", "bandwidth", QUANTITY_RATE, &disk->bandwidth);
  put(text, "  ", "read_bandwidth", QUANTITY_RATE, &disk->read_bandwidth);
  const struct series *warm = NULL, *last = NULL;
  while ((warm = series_next(samples, "read-warm", warm)))
    last = warm->disk == disk->disk ? warm : last;
  if (last && last->bytes > 0) {
    g_autofree char *rate =
        amount_text(QUANTITY_RATE, last->writers * last->bytes / series_middle(last));
    g_string_append_printf(text, "  # from pages in memory: %s\n", rate);
  }
  put(text, "  ", "write_latency", QUANTITY_TIME, &disk->write_latency);
  const struct series *metadata = of_disk(samples, "metadata", disk->disk);
  if (metadata) {
    g_autofree char *time = amount_text(QUANTITY_TIME, series_middle(metadata));
    g_string_append_printf(text, "  # of that, a file made, renamed and removed: %s\n", time);
  }
}

char *machine_text(const struct fit *fit, const struct sample_file *samples)
{
  GString *text = g_string_new(NULL);
  put_head(text, fit, samples);
  put_network(text, fit, samples);
  put_disk(text, "local", samples, &fit->local);
  put_disk(text, "storage", samples, &fit->storage);
  return g_string_free(text, FALSE);
}
