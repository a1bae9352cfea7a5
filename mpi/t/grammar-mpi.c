/* A program on real MPI whose protocol takes one step of grammar-cases.h: `grammar NUMBER FOLDER`.
 * It ends at that step; with number 0 it comes to its end. One process, which sends to itself. */
#include <stdlib.h>

#include "mpi/real_host.h"
#include "verify/t/grammar-plugin.c"

static const struct grammar_case *refused;

static void step_of_case(const struct rcl_config *config, void *state,
                         const struct rcl_event *event, struct rcl_actions *actions)
{
  bool here = refused && refused->event == event->kind;
  if (!here || !refused->instead)
    rcl_protocol_step(&protocols[ABOVE], config, state, event, actions, false);
  for (uint32_t i = 0; here && i < refused->count; i++)
    *rcl_act(actions, RCL_ACTION_NONE) = refused->list[i];
}

int main(int argc, char **argv)
{
  static struct rcl_protocol protocol;
  static const struct rcl_protocol *const list[] = {&protocol, NULL};
  unsigned number = argc > 2 ? (unsigned)atoi(argv[1]) : GRAMMAR_CASES + 1;
  if (number > GRAMMAR_CASES)
    return 64;
  refused = number ? &grammar_cases[number - 1] : NULL;
  protocol = protocols[ABOVE];
  protocol.step = step_of_case;
  rcl_protocol_register(list);
  MPI_Init(&argc, &argv);
  real_begin(MPI_COMM_WORLD,
             &(struct real_options){
                 .protocol = protocol.name, .folder = argv[2], .every = 1e-6, .capacity = 4});
  real_send(0, 0, REAL_WORLD, "word", 4);
  struct real_receive *receive = real_post(0, 0, REAL_WORLD);
  real_wait(receive);
  free(real_take(receive, &(size_t){0}, NULL, NULL));
  real_safe_point(0);
  real_safe_point(0);
  real_end(false);
  MPI_Finalize();
  return 0;
}
