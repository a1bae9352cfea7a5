#include "verify/world/properties.h"

#include <stddef.h>
#include <string.h>

#include "verify/world/reached.h"

enum { PROPERTIES_MAX = 32 };

const char *const properties_known[PROPERTIES_MAX + 1] = {
    "no-loss",        "no-duplicate",   "restorable",       "legal",
    "quiet-channels", "c3-1.1",         "c3-1.2",           "c3-1.3",
    "deadlock",       "commits",        "outcome",          "recovers",
    "agreement",      "invariant",      "no-orphan",        "c3-2.2",
    "c3-2.3",         "local-rollback", "no-domino",        "own-iteration",
    "tokens",         "bounds",         "progress",         "requests",
    "bounded",        "frees",          "frees-at-capture", "useful",
    "output",         "output-at-rest", "output-local",     "once-per-failure",
    NULL};

const char *const properties_default[] = {"no-loss",   "no-duplicate", "restorable", "legal",
                                          "deadlock",  "commits",      "recovers",   "outcome",
                                          "agreement", "invariant",    "no-orphan",  "bounds",
                                          "requests",  "output",       NULL};

const char *const reach_names[REACHES + 1] = {"ends",
                                              "commits",
                                              "commits-after-recovery",
                                              "recoveries",
                                              "recovers-from",
                                              "late",
                                              "early",
                                              "replayed",
                                              "suppressed",
                                              "forced",
                                              "falls-back",
                                              "cut-steps",
                                              "whole-writes",
                                              "torn-writes",
                                              "false-detection",
                                              "control-overtakes",
                                              "outputs",
                                              "output-again",
                                              NULL};

bool properties_include(const char *const *names, const char *property)
{
  for (; *names; names++)
    if (!strcmp(*names, property))
      return true;
  return false;
}

const char *const *properties_promised(const struct rcl_protocol *protocol)
{
  static const char *names[PROPERTIES_MAX + 1];
  uint32_t count = 0;
  for (const char *const *name = properties_known; *name; name++)
    if (properties_include(properties_default, *name) ||
        (protocol->promises && properties_include(protocol->promises, *name)))
      names[count++] = *name;
  names[count] = NULL;
  return names;
}

bool properties_need_stamps(const char *const *names)
{
  static const char *const stamped[] = {"c3-1.2", "c3-1.3", "c3-2.2", "c3-2.3", NULL};
  for (const char *const *name = stamped; *name; name++)
    if (properties_include(names ? names : properties_default, *name))
      return true;
  return false;
}
