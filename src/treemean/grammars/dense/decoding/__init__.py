"""Best and random derivations over symbols."""
