"""Best and random derivations in rank space; trees by posteriors, for all grammars."""
