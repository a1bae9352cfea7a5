/* Reads and validates a claim: its script, and the events that its runs must show. */
#include "verify/check/claim_read.h"

#include <stdlib.h>
#include <string.h>

#include "verify/check/claim.h"
#include "world/rules/properties.h"
#include "world/temporal/temporal.h"

static struct script *read_script(const struct scenario *claim, GError **error)
{
  if (!claim->program.script) {
    scenario_complain(claim, "program", error,
                      "a binary, expected a script: only scripts can be explored");
    return NULL;
  }
  int line;
  char *message;
  struct script *script =
      script_parse(claim->program.script, claim->program.ranks, &line, &message);
  if (!script) {
    g_set_error(error, SCENARIO_ERROR, 0, "%s:%d: %s", claim->file,
                claim->program.script_line + line - 1, message);
    free(message);
  }
  return script;
}

static bool read_properties(const struct scenario *claim, GError **error)
{
  g_autofree char *all = g_strjoinv(", ", (char **)properties_known);
  for (char **name = claim->check.properties; name && *name; name++)
    if (!g_strv_contains(properties_known, *name))
      return scenario_complain(claim, "check.properties", error, "'%s', expected one of %s", *name,
                               all);
  bool named = claim->check.properties &&
               g_strv_contains((const char *const *)claim->check.properties, "ltl");
  if (named && !claim->check.ltl)
    return scenario_complain(claim, "check.properties", error,
                             "'ltl', expected a formula at check.ltl, too");
  return true;
}

/* Refuses a temporal formula that is wrong, or has facts that the protocol does not know. */
static bool read_formula(const struct scenario *claim, GError **error)
{
  const struct rcl_protocol *protocol = rcl_protocol_named(claim->protocol.name);
  struct temporal formula;
  char problem[TEMPORAL_PROBLEM];
  if (!claim->check.ltl)
    return true;
  if (!temporal_parse(&formula, claim->check.ltl, claim->program.ranks, problem))
    return scenario_complain(claim, "check.ltl", error, "%s", problem);
  const char *lacks = temporal_lacks(&formula, protocol);
  return !lacks || scenario_complain(claim, "check.ltl", error,
                                     "fact %s, and the ranks of %s recover independently, expected "
                                     "a fact of single ranks",
                                     lacks, protocol->name);
}

/* Reads the events that runs must show. If the claim names no events, runs must show all that its
 * bounds allow: programs end, the last checkpoint commits, the last recovery starts from a
 * checkpoint, a checkpoint commits after that recovery, and each hazard occurs. */
bool claim_reach(const struct scenario *claim, struct reached *least, GError **error)
{
  uint32_t checkpoints = (uint32_t)claim->check.checkpoints;
  uint32_t crashes = checkpoints ? (uint32_t)claim->check.crashes : 0;
  *least = (struct reached){0};
  reached_note(least, REACH_ENDS, 1);
  reached_note(least, REACH_COMMITS, checkpoints);
  reached_note(least, REACH_RECOVERIES, crashes);
  reached_note(least, REACH_LATER_COMMITS, crashes);
  for (int hazard = 0; REACH_CUT_STEPS + hazard < REACHES; hazard++)
    reached_note(least, (enum reach)(REACH_CUT_STEPS + hazard),
                 claim->check.hazards >> hazard & 1U);
  for (char **item = claim->check.reach; item && *item; item++) {
    g_auto(GStrv) words = g_strsplit(*item, " ", 2);
    int what = 0;
    guint64 count = 1;
    while (what < REACHES && strcmp(words[0], reach_names[what]) != 0)
      what++;
    if (what == REACHES ||
        (words[1] && !g_ascii_string_to_unsigned(words[1], 10, 0, UINT8_MAX, &count, NULL))) {
      g_autofree char *all = g_strjoinv(", ", (char **)reach_names);
      return scenario_complain(claim, "check.reach", error, "'%s', expected one of %s, and a count",
                               *item, all);
    }
    least->most[what] = (uint8_t)count;
  }
  return true;
}

static bool read_counts(const struct scenario *claim, GError **error)
{
  const struct {
    const char *path;
    int count;
  } counts[] = {{"check.checkpoints", claim->check.checkpoints},
                {"check.crashes", claim->check.crashes}};
  for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
    if (counts[i].count < 0 || counts[i].count > UINT16_MAX)
      return scenario_complain(claim, counts[i].path, error, "%d, expected 0 to %d",
                               counts[i].count, UINT16_MAX);
  return true;
}

/* Refuses settings that the protocol does not support. */
static bool suits(const struct scenario *claim, const struct script *script, GError **error)
{
  const struct rcl_protocol *protocol = rcl_protocol_named(claim->protocol.name);
  if (script->free && protocol->level != RCL_LEVEL_CHANNEL)
    return scenario_complain(
        claim, "program.script", error,
        "free programs, expected a protocol at the level of the channels for them");
  if (claim->check.exceeds && !protocol->clocks)
    return scenario_complain(claim, "check.exceeds", error,
                             "bounds of clocks, and %s has none, expected a protocol with clocks",
                             protocol->name);
  if (claim->check.hazards & HAZARD_CONTROL_OVERTAKES && protocol->level == RCL_LEVEL_CHANNEL)
    return scenario_complain(claim, "check.hazards", error,
                             "control-overtakes, and the control messages of %s travel in the "
                             "program's channels, expected check.order: none",
                             protocol->name);
  if (claim->check.connections == CONNECTIONS_CLOSE && !protocol->reconnects)
    return scenario_complain(
        claim, "check.connections", error,
        "close, and %s leaves connections open, expected a protocol that reconnects",
        protocol->name);
  return true;
}

bool claim_read(const struct scenario *claim, struct script **script, struct reached *least,
                GError **error)
{
  const struct rcl_protocol *protocol = rcl_protocol_named(claim->protocol.name);
  if (!protocol)
    return scenario_complain(claim, "protocol.name", error,
                             "'%s', expected a name of 'recline list protocols' or a mutant's",
                             claim->protocol.name);
  if (!read_counts(claim, error) || !read_properties(claim, error) || !read_formula(claim, error) ||
      !claim_reach(claim, least, error))
    return false;
  *script = read_script(claim, error);
  if (!*script || !suits(claim, *script, error))
    return false;
  if (protocol->collectives || script_spell_out(*script))
    return true;
  return scenario_complain(claim, "program.script", error,
                           "too many messages in its collectives, expected a smaller program");
}

struct script *claim_script(const struct scenario *claim, GError **error)
{
  struct script *script = NULL;
  struct reached least;
  if (claim_read(claim, &script, &least, error))
    return script;
  script_free(script);
  return NULL;
}

bool claim_valid(const struct scenario *claim, GError **error)
{
  struct script *script =
      scenario_expects_of(claim, false, error) ? claim_script(claim, error) : NULL;
  script_free(script);
  return script;
}
