/* Runs a protocol on real MPI that takes one step of grammar-cases.h, or of the list below:
 *
 *     grammar-mpi NUMBER FOLDER   ends at that step; with number 0 the program comes to its end
 *     grammar-mpi --list          number, name and expected text of each step of the list below
 *     grammar-mpi renews FOLDER   a step that begins a checkpoint sets the timer, too: comes to its
 *                                 end, and leaves what is committed
 *
 * There is one process, which sends to itself and passes a barrier; with `renews`, several
 * processes do neither. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/real_host.h"
#include "verify/t/grammar-plugin.c"

/* Lists steps that the door allows and this host lacks (docs/mpi-host.md). */
/* clang-format off */
static const struct grammar_case lacking[] = {
    {"a call that is made again", ABOVE, RCL_EVENT_START, false,
     "rejoin at start: expected on real MPI barriers, which all processes pass again",
     ONE(A(REJOIN), .call = 1)},
    {"held and captured in a call", ABOVE, RCL_EVENT_SEND, false,
     "capture at send: expected on real MPI a place of the program",
     2, {{A(HOLD)}, {A(CAPTURE), .checkpoint = 1}}},
    {"a barrier that one process leaves out", ABOVE, RCL_EVENT_COLLECTIVE, true,
     "suppress at collective: expected on real MPI join", ONE(A(SUPPRESS))},
    {"a barrier out of a slot", ABOVE, RCL_EVENT_COLLECTIVE, true,
     "deliver at collective: expected on real MPI join", ONE(A(DELIVER), .slot = 1)},
    {"the result of a barrier kept", ABOVE, RCL_EVENT_COLLECTED, true,
     "keep at collected: expected on real MPI the message of a send or an arrival",
     2, {{A(KEEP), .slot = 1}, {A(DELIVER)}}},
    {"an output let out", ABOVE, RCL_EVENT_SEND, false,
     "output at send: expected on real MPI outputs that the program makes itself",
     ONE(A(OUTPUT), .output = 1)},
    {"connections opened", ABOVE, RCL_EVENT_START, false,
     "open at start: expected on real MPI connections that stay open", ONE(A(OPEN))},
};
/* clang-format on */

enum { LACKING = sizeof lacking / sizeof *lacking };

static const struct grammar_case renews = {"renews", ABOVE, RCL_EVENT_TIMER,
                                           false,    NULL,  ONE(A(SET_TIMER))};
static const struct grammar_case *refused;

static void step_of_case(const struct rcl_config *config, void *state,
                         const struct rcl_event *event, struct rcl_actions *actions)
{
  bool here = refused && refused->event == event->kind;
  if (!here || !refused->instead)
    rcl_protocol_step(&protocols[ABOVE], config, state, event, actions, false);
  bool sets = actions->count && actions->item[actions->count - 1].kind == RCL_ACTION_SET_TIMER;
  if (refused == &renews && sets)
    return; /* a checkpoint is under way */
  for (uint32_t i = 0; here && i < refused->count; i++)
    *rcl_act(actions, RCL_ACTION_NONE) = refused->list[i];
}

static void communicate(void)
{
  real_send(0, 0, REAL_WORLD, "word", 4);
  struct real_receive *receive = real_post(0, 0, REAL_WORLD);
  real_wait(receive);
  free(real_take(receive, &(size_t){0}, NULL, NULL));
  real_safe_point(0);
  real_safe_point(0);
  real_barrier();
}

int main(int argc, char **argv)
{
  static struct rcl_protocol protocol;
  static const struct rcl_protocol *const list[] = {&protocol, NULL};
  bool late = argc > 2 && !strcmp(argv[1], "renews");
  unsigned number = argc > 2 ? (unsigned)atoi(argv[1]) : GRAMMAR_CASES + LACKING + 1;
  for (unsigned i = 0; i < LACKING && argc == 2 && !strcmp(argv[1], "--list"); i++)
    printf("%u|%s|%s|%s\n", GRAMMAR_CASES + 1 + i, protocols[ABOVE].name, lacking[i].name,
           lacking[i].expected);
  if (number > GRAMMAR_CASES + LACKING)
    return argc == 2 ? 0 : 64;
  refused = late                      ? &renews
            : !number                 ? NULL
            : number <= GRAMMAR_CASES ? &grammar_cases[number - 1]
                                      : &lacking[number - GRAMMAR_CASES - 1];
  protocol = protocols[ABOVE];
  protocol.step = step_of_case;
  /* the protocol then sees barriers */
  protocol.captures_at = number > GRAMMAR_CASES ? "barriers" : NULL;
  protocol.reconnects = number == GRAMMAR_CASES + LACKING;
  rcl_protocol_register(list);
  MPI_Init(&argc, &argv);
  real_begin(MPI_COMM_WORLD,
             &(struct real_options){
                 .protocol = protocol.name, .folder = argv[2], .every = 1e-6, .capacity = 4});
  if (!late)
    communicate();
  real_end(late);
  MPI_Finalize();
  return 0;
}
