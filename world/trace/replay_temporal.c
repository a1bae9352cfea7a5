/* Judges the violation of a temporal formula that a trace tells: the replay notes the facts of each
 * state, and asks whether the formula holds of the run. The replay has no automaton, so it checks
 * the result of the search in another way. */
#include "world/trace/replay.h"

bool replay_find_formula(struct replay *r, char **lines)
{
  static const char head[] = "violation ltl rank=";
  char text[TEMPORAL_TEXT], problem[TEMPORAL_PROBLEM];
  for (; *lines; lines++) {
    const char *said = g_str_has_prefix(*lines, head) ? strstr(*lines, ": ") : NULL;
    if (!said)
      continue;
    if (!temporal_of_text(said + 2, text))
      return replay_bad(r, "found '%s', expected a formula that is violated", *lines);
    if (!temporal_parse(&r->formula, text, r->world->ranks, problem))
      return replay_bad(r, "the formula is wrong: %s", problem);
    r->facts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    break;
  }
  replay_note_facts(r);
  return true;
}

void replay_note_facts(struct replay *r)
{
  if (!r->facts)
    return;
  uint32_t facts = temporal_facts(&r->formula, r->world);
  g_array_append_val(r->facts, facts);
}

void replay_judge_formula(struct replay *r, struct verdict *verdict)
{
  *verdict = (struct verdict){0};
  if (!r->facts)
    return;
  uint32_t last = r->facts->len - 1, again = last - r->again;
  uint32_t states = r->again ? last : last + 1;
  if (!temporal_holds(&r->formula, (const uint32_t *)(const void *)r->facts->data, states, again))
    temporal_violate(r->formula.text, r->again, verdict);
}
