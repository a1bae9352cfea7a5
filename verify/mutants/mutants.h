/* Mutants: protocols with one rule of their paper removed, to show that the properties notice.
 *
 * verify/mutants/PROTOCOL-NAME.patch is applied to the protocol's source at build time; the result
 * is called "PROTOCOL~NAME". PROTOCOL-NAME.yaml is the claim that must be violated.
 *
 * The reference worlds (snapshot.c) are for tests only, too, and come with them. */
#ifndef RECLINE_MUTANTS_H
#define RECLINE_MUTANTS_H

/* Adds all of them to the registry of this process; again: no effect. */
void mutants_register(void);

#endif
