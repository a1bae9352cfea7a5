#include "command/campaign/costs.h"

#include <math.h>
#include <string.h>

#include "command/campaign/campaign.h"
#include "command/campaign/warnings.h"
#include "protocols/protocol.h"

enum { CHECKPOINTS = 6 }; /* number of checkpoints in the run that measures their cost */

/* INTERVALS is the length of the work in intervals. It is not a whole number, because requests
 * must not fall on the ends of a program's steps: there, ranks would take their checkpoints in
 * different steps. */
static const double INTERVALS = 6.382;
/* CRASH_AT is the number of intervals until the crash. A checkpoint has committed by then. */
static const double CRASH_AT = 3.6;

/* ---- the failures ---- */

/* Counts the things to which the law applies: each node, each zone with a node in use, or the
 * platform. */
static int subjects(const struct layout *layout, int nodes, enum failure_scope of)
{
  int count = 0;
  for (int node = 0; of == OF_ZONE && node < nodes; node++) {
    int other = 0;
    while (strcmp(layout->zones[other], layout->zones[node]))
      other++;
    count += other == node;
  }
  return of == OF_NODE ? nodes : of == OF_ZONE ? count : 1;
}

/* Returns whether a failure law takes whole nodes. */
static bool takes_nodes(const struct scenario *scenario)
{
  bool nodes = false;
  for (unsigned i = 0; i < scenario->failures_count; i++)
    nodes |=
        scenario->failures[i].trigger == TRIGGER_LAW && scenario->failures[i].kills == KILLS_NODE;
  return nodes;
}

/* Returns whether a failure by law takes images of which there is no other copy (docs/scenario.md,
 * levels of storage). */
static bool takes_images(const struct scenario *scenario)
{
  const struct level *level = scenario_level(scenario, 0);
  bool alone = level->redundancy == REDUNDANCY_NONE && level->storage != STORAGE_NFS;
  return takes_nodes(scenario) && alone &&
         (level->storage == STORAGE_MEMORY || scenario->platform.spares > 0);
}

/* Adds up the rates of all failure laws. The formulas assume one level of storage, and failures
 * that come one by one. Without a law, mtbf is infinite. */
static void read_laws(const struct scenario *scenario, struct costs *costs)
{
  int nodes = layout_nodes(&scenario->platform.layout, scenario->program.ranks);
  double rate = 0.0, repairs = 0.0;
  costs->exponential = scenario->checkpoint.levels_count < 2;
  for (unsigned i = 0; i < scenario->failures_count; i++) {
    const struct failure *failure = &scenario->failures[i];
    bool law = failure->trigger == TRIGGER_LAW && failure->kills != KILLS_SERVER;
    int all = law ? subjects(&scenario->platform.layout, nodes, failure->of) : 0;
    double one = law ? all / failure->mtbf : 0.0;
    costs->exponential &= law && failure->law == LAW_EXPONENTIAL && failure->burst == 1;
    rate += one;
    repairs += one * failure->repair;
  }
  costs->model.mtbf = rate > 0.0 ? 1.0 / rate : INFINITY;
  costs->model.downtime = rate > 0.0 ? scenario->detection + repairs / rate : 0.0;
}

double costs_mtbf(const struct scenario *scenario)
{
  struct costs costs;
  read_laws(scenario, &costs);
  return costs.model.mtbf;
}

/* ---- the cells ---- */

static void read_cell(struct cell *cell, const char *file)
{
  g_autoptr(GError) error = NULL;
  const struct rcl_protocol *protocol = NULL;
  cell->scenario = scenario_load(file, (const char *const *)cell->set, &error);
  if (!cell->scenario) {
    cell->costs.problem = g_strdup(error->message);
    return;
  }
  protocol = rcl_protocol_named(cell->scenario->protocol.name);
  read_laws(cell->scenario, &cell->costs);
  bool fine = campaign_runs_to_end(cell->scenario, &error);
  if (fine && !isfinite(cell->costs.model.mtbf))
    fine = scenario_complain(cell->scenario, "failures", &error,
                             "none by law, expected a law with its mtbf");
  if (!fine)
    cell->costs.problem = g_strdup(error->message);
  cell->costs.alone = protocol && protocol->independent;
  cell->costs.lost = takes_images(cell->scenario);
}

struct cell *cells_new(const struct grid *grid, const char *file, char *const *first)
{
  struct cell *cells = g_new0(struct cell, grid->cells);
  for (unsigned i = 0; i < grid->cells; i++) {
    cells[i].set = grid_settings(grid, i, first);
    read_cell(&cells[i], file);
  }
  return cells;
}

void cells_free(struct cell *cells, unsigned count)
{
  for (unsigned i = 0; i < count; i++) {
    g_strfreev(cells[i].set);
    scenario_free(cells[i].scenario);
    g_free(cells[i].costs.problem);
  }
  g_free(cells);
}

/* Returns the first cell without a problem that differs from cell `i` only in keys below `skipped`
 * and `other`, so that one run serves both cells. */
static unsigned leader(const struct cell *cells, const struct grid *grid, unsigned i,
                       const char *skipped, const char *other)
{
  for (unsigned k = 0; k < i; k++) {
    bool same = !cells[k].costs.problem;
    for (unsigned sweep = 0; same && sweep < grid->sweeps; sweep++)
      same = g_str_has_prefix(grid->sweep[sweep].key, skipped) ||
             g_str_has_prefix(grid->sweep[sweep].key, other) ||
             !strcmp(grid_value(grid, k, sweep), grid_value(grid, i, sweep));
    if (same)
      return k;
  }
  return i;
}

static unsigned base_leader(const struct cell *cells, const struct grid *grid, unsigned i)
{
  return leader(cells, grid, i, "checkpoint", "protocol");
}

static unsigned plain_leader(const struct cell *cells, const struct grid *grid, unsigned i)
{
  return leader(cells, grid, i, "checkpoint", "checkpoint");
}

unsigned cells_runs(const struct cell *cells, const struct grid *grid)
{
  unsigned runs = 0;
  for (unsigned i = 0; i < grid->cells; i++)
    if (!cells[i].costs.problem)
      runs += (base_leader(cells, grid, i) == i ? 1u : 0u) +
              (plain_leader(cells, grid, i) == i ? 1u : 0u) + (cells[i].costs.lost ? 1u : 2u);
  return runs;
}

/* ---- measuring ---- */

struct rounds {
  struct cell *cells;
  unsigned count;
  unsigned *base, *plain; /* by cell: the cell whose run without checkpoints serves this cell */
  struct measurements *shown;
  GPtrArray *warnings;
};

/* Describes a kind of run. */
struct kind {
  /* Returns settings, for g_strfreev(), which such a run has beside the settings of the cell.
   * Returns NULL if the cell needs no run of this kind. */
  char **(*settings)(const struct rounds *, unsigned cell);
  void (*take)(struct rounds *, unsigned cell, JsonNode *result);
};

static char **joined(char *const *first, char *const *second)
{
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
  g_strv_builder_addv(builder, (const char **)first);
  g_strv_builder_addv(builder, (const char **)second);
  return g_strv_builder_end(builder);
}

/* Takes a result for a cell, or the reason why there is none. */
static void take_run(struct rounds *r, const struct kind *kind, unsigned cell,
                     const struct measurement *run)
{
  struct costs *costs = &r->cells[cell].costs;
  if (run->result) {
    warnings_take(r->warnings, json_node_get_object(run->result));
    kind->take(r, cell, run->result);
    return;
  }
  costs->problem = g_strchomp(g_strdup(run->problem ? run->problem : ""));
}

static int make_round(struct rounds *r, const struct kind *kind)
{
  g_autofree struct measurement *runs = g_new0(struct measurement, r->count);
  g_autofree unsigned *cell = g_new(unsigned, r->count);
  unsigned count = 0;
  for (unsigned i = 0; i < r->count; i++) {
    g_auto(GStrv) settings = r->cells[i].costs.problem ? NULL : kind->settings(r, i);
    if (!settings)
      continue;
    cell[count] = i;
    runs[count++].set = joined(r->cells[i].set, settings);
  }
  int code = measurements_make(r->shown, runs, count);
  for (unsigned i = 0; i < count; i++) {
    if (code == 0)
      take_run(r, kind, cell[i], &runs[i]);
    measurement_clear(&runs[i]);
  }
  return code;
}

static char **base_settings(const struct rounds *r, unsigned cell)
{
  const char *const set[] = {"failures=[]", "expect={}", "checkpoint={}", "protocol={name: none}",
                             NULL};
  return r->base[cell] == cell ? g_strdupv((char **)set) : NULL;
}

static void take_base(struct rounds *r, unsigned cell, JsonNode *result)
{
  r->cells[cell].costs.base = measured_number(result, NULL, "simulated_s");
}

static char **plain_settings(const struct rounds *r, unsigned cell)
{
  const char *const set[] = {"failures=none",
                             "expect={}",
                             "checkpoint.every=0",
                             "checkpoint.at=[]",
                             "checkpoint.calls=ignored",
                             NULL};
  return r->plain[cell] == cell ? g_strdupv((char **)set) : NULL;
}

static void take_plain(struct rounds *r, unsigned cell, JsonNode *result)
{
  r->cells[cell].costs.work = measured_number(result, NULL, "simulated_s");
}

/* Gives each cell what was measured for its leader. */
static void share(struct rounds *r)
{
  for (unsigned i = 0; i < r->count; i++) {
    const struct costs *base = &r->cells[r->base[i]].costs, *plain = &r->cells[r->plain[i]].costs;
    struct costs *costs = &r->cells[i].costs;
    costs->base = base->base;
    costs->work = plain->work;
    if (!costs->problem && (base->problem || plain->problem))
      costs->problem = g_strdup(base->problem ? base->problem : plain->problem);
  }
}

static char *every_of(const struct costs *costs)
{
  return g_strdup_printf("checkpoint.every=%.9gs", costs->work / INTERVALS);
}

static char **taken_settings(const struct rounds *r, unsigned cell)
{
  g_autofree char *every = every_of(&r->cells[cell].costs);
  const char *const set[] = {"failures=none", "expect={}", every, NULL};
  return g_strdupv((char **)set);
}

/* Returns why the checkpoints are too few, and what the program lacks. */
static char *few_checkpoints(const struct cell *cell)
{
  const struct costs *costs = &cell->costs;
  bool none = !strcmp(cell->scenario->protocol.name, "none");
  return g_strdup_printf(
      "recline interval: %.0f checkpoint%s in %g s, one asked for every %g s: %s, expected a "
      "program that takes them",
      costs->committed, costs->committed == 1.0 ? "" : "s", costs->work, costs->work / INTERVALS,
      none ? "protocol none takes none" : "the program makes too few MPI calls to be checkpointed");
}

static void take_taken(struct rounds *r, unsigned cell, JsonNode *result)
{
  struct costs *costs = &r->cells[cell].costs;
  double each = costs->alone ? r->cells[cell].scenario->program.ranks : 1.0;
  costs->due = CHECKPOINTS;
  costs->committed = measured_number(result, "checkpoints", "committed") / each;
  if (costs->committed < 2.0) {
    costs->problem = few_checkpoints(&r->cells[cell]);
    return;
  }
  double longer = measured_number(result, NULL, "simulated_s") - costs->work;
  costs->model.checkpoint = MAX(longer / costs->committed, 0.0);
  costs->own = measured_number(result, "time_s", "checkpoint") / costs->committed;
}

static char **crash_settings(const struct rounds *r, unsigned cell)
{
  const struct scenario *scenario = r->cells[cell].scenario;
  const struct costs *costs = &r->cells[cell].costs;
  g_autofree char *every = every_of(costs);
  double longer = costs->work + costs->committed * costs->model.checkpoint;
  g_autofree char *crash =
      g_strdup_printf("failures=[{rank: %d, at: %.9gs, repair: 0%s}]", scenario->program.ranks - 1,
                      longer * CRASH_AT / INTERVALS, takes_nodes(scenario) ? "" : ", kills: rank");
  /* Without detection=0, survivors would compute until the crash is detected. That time would be
   * lost, but it is not part of the recovery. */
  const char *const set[] = {crash, "expect={}", every, "detection=0", NULL};
  return costs->lost ? NULL : g_strdupv((char **)set);
}

/* Takes the time of a recovery. With independent recovery only the failed ranks restart, and the
 * mean over all ranks is less than the time for which the job waits. */
static void take_crash(struct rounds *r, unsigned cell, JsonNode *result)
{
  struct costs *costs = &r->cells[cell].costs;
  double back = measured_number(result, "rollbacks", "local");
  double ranks = r->cells[cell].scenario->program.ranks;
  costs->model.recovery =
      measured_number(result, "time_s", "restart") * (costs->alone && back > 0 ? ranks / back : 1);
}

int cells_measure(struct cell *cells, const struct grid *grid, struct measurements *shown,
                  GPtrArray *warnings)
{
  const struct kind base = {base_settings, take_base}, plain = {plain_settings, take_plain},
                    taken = {taken_settings, take_taken}, crash = {crash_settings, take_crash};
  const struct kind *const kinds[] = {&base, &plain, &taken, &crash};
  g_autofree unsigned *bases = g_new(unsigned, grid->cells), *plains = g_new(unsigned, grid->cells);
  struct rounds r = {cells, grid->cells, bases, plains, shown, warnings};
  for (unsigned i = 0; i < grid->cells; i++) {
    bases[i] = base_leader(cells, grid, i);
    plains[i] = plain_leader(cells, grid, i);
  }
  int code = 0;
  for (size_t i = 0; code == 0 && i < G_N_ELEMENTS(kinds); i++) {
    code = make_round(&r, kinds[i]);
    if (kinds[i] == &plain)
      share(&r);
  }
  return code;
}

/* ---- the formula ---- */

double costs_optimum(const struct costs *costs)
{
  bool known = costs->exponential && !costs->lost && costs->model.checkpoint > 0.0;
  return known ? optimum_exact(&costs->model) : 0.0;
}

double costs_share(const struct costs *costs, double interval)
{
  const struct machine_model *m = &costs->model;
  double time = costs->lost ? (m->mtbf + m->downtime) * expm1(costs->work / m->mtbf)
                            : optimum_time(m, costs->work, interval);
  return time / costs->base - 1.0;
}

/* Returns the interval between `near` and `far` that costs `share`. `near` costs at most `share`,
 * and `far` costs more. */
static double edge(const struct costs *costs, double near, double far, double share)
{
  enum { STEPS = 60 };
  for (int i = 0; i < STEPS; i++) {
    double middle =
        sqrt(near * far); /* the cost is steep at short intervals, and flat at long ones */
    if (costs_share(costs, middle) > share)
      far = middle;
    else
      near = middle;
  }
  return near;
}

void costs_range(const struct costs *costs, double best, double more, double *from, double *to)
{
  double share = costs_share(costs, best) + more, shorter = best, longer = best;
  while (costs_share(costs, shorter) <= share)
    shorter /= 2;
  while (costs_share(costs, longer) <= share)
    longer *= 2;
  *from = edge(costs, best, shorter, share);
  *to = edge(costs, best, longer, share);
}
