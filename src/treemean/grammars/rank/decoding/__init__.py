"""Best and random derivations in rank space."""
