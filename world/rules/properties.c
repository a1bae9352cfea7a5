#include "world/rules/properties.h"

#include <stddef.h>
#include <string.h>

#include "world/rules/reached.h"

_Static_assert((int)PROPERTIES <= (int)REACHED_PROPERTIES, "each property has a bit");

const char *const properties_known[PROPERTIES + 1] = {
    [PROPERTY_NO_LOSS] = "no-loss",
    [PROPERTY_NO_DUPLICATE] = "no-duplicate",
    [PROPERTY_RESTORABLE] = "restorable",
    [PROPERTY_LEGAL] = "legal",
    [PROPERTY_QUIET_CHANNELS] = "quiet-channels",
    [PROPERTY_UNCROSSED] = "uncrossed",
    [PROPERTY_C3_1_1] = "c3-1.1",
    [PROPERTY_C3_1_2] = "c3-1.2",
    [PROPERTY_C3_1_3] = "c3-1.3",
    [PROPERTY_DEADLOCK] = "deadlock",
    [PROPERTY_COMMITS] = "commits",
    [PROPERTY_OUTCOME] = "outcome",
    [PROPERTY_RECOVERS] = "recovers",
    [PROPERTY_AGREEMENT] = "agreement",
    [PROPERTY_INVARIANT] = "invariant",
    [PROPERTY_NO_ORPHAN] = "no-orphan",
    [PROPERTY_C3_2_2] = "c3-2.2",
    [PROPERTY_C3_2_3] = "c3-2.3",
    [PROPERTY_LOCAL_ROLLBACK] = "local-rollback",
    [PROPERTY_NO_DOMINO] = "no-domino",
    [PROPERTY_OWN_ITERATION] = "own-iteration",
    [PROPERTY_TOKENS] = "tokens",
    [PROPERTY_BOUNDS] = "bounds",
    [PROPERTY_PROGRESS] = "progress",
    [PROPERTY_REQUESTS] = "requests",
    [PROPERTY_BOUNDED] = "bounded",
    [PROPERTY_FREES] = "frees",
    [PROPERTY_FREES_AT_CAPTURE] = "frees-at-capture",
    [PROPERTY_USEFUL] = "useful",
    [PROPERTY_OUTPUT] = "output",
    [PROPERTY_OUTPUT_AT_REST] = "output-at-rest",
    [PROPERTY_OUTPUT_LOCAL] = "output-local",
    [PROPERTY_ONCE_PER_FAILURE] = "once-per-failure",
    [PROPERTY_PURE] = "pure",
    [PROPERTY_LINE_INVARIANT] = "line-invariant",
    [PROPERTY_LTL] = "ltl",
};

const char *const properties_default[] = {"no-loss",   "no-duplicate", "restorable", "legal",
                                          "deadlock",  "commits",      "recovers",   "outcome",
                                          "agreement", "invariant",    "no-orphan",  "bounds",
                                          "requests",  "output",       "pure",       NULL};

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

bool properties_judge(const char *const *names, const char *property)
{
  return !names || !strcmp(property, "pure") || properties_include(names, property);
}

bool properties_impure(const struct verdict *verdict)
{
  return verdict->kind == VERDICT_VIOLATION && !strcmp(verdict->property, "pure");
}

const char *const *properties_promised(const struct rcl_protocol *protocol)
{
  static const char *names[PROPERTIES + 1];
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
  static const char *const stamped[] = {"c3-1.2", "c3-1.3", "c3-2.2", "c3-2.3", "uncrossed", NULL};
  for (const char *const *name = stamped; *name; name++)
    if (properties_include(names ? names : properties_default, *name))
      return true;
  return false;
}
