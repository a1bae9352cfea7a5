/* Fuzzes claims. Explores the claims that are valid and small, up to a few states. */
#include "verify/check/claim.h"
#include "verify/fuzz/fuzz.h"

static bool is_small(const struct scenario *claim)
{
  enum { CAPACITY = 16, RANKS = 4 };
  return claim->program.ranks <= RANKS && claim->protocol.capacity <= CAPACITY &&
         claim->limits.memory <= 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *path = input_file(data, size);
  GError *error = NULL;
  struct scenario *claim = scenario_load(path, NULL, &error);
  judge_error(claim != NULL, error);
  error = NULL;
  bool valid = claim && claim_valid(claim, &error);
  judge_error(!claim || valid, error);
  if (valid && is_small(claim)) {
    const struct claim_options options = {
        .max_states = 100, .jobs = 1, .workers = 1, .memory = 1 << 26};
    struct claim_result result;
    error = NULL;
    bool explored = claim_check(claim, &options, &result, &error);
    judge_error(explored, error);
    if (explored && result.verdict == CLAIM_BREACH)
      abort();
  }
  scenario_free(claim);
  input_done(path);
  return 0;
}
