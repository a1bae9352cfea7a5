/* Lists the units of time that scenarios, scripts and options may write. */
#ifndef RECLINE_TIME_UNITS_H
#define RECLINE_TIME_UNITS_H

/* One unit is `times` / `over` seconds. Dividing by a power of ten keeps 100ms equal to 0.1. A year
 * has 365 days. */
struct time_unit {
  const char *name;
  double times, over;
};

static const struct time_unit time_units[] = {
    {"ns", 1, 1e9}, {"us", 1, 1e6},  {"ms", 1, 1e3},    {"s", 1, 1}, {"min", 60, 1},
    {"h", 3600, 1}, {"d", 86400, 1}, {"y", 31536e3, 1}, {0, 0, 0}}; /* the last entry has no name */

#define TIME_UNITS_NAMED "ns, us, ms, s, min, h, d or y"

#endif
