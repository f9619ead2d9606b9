"""N- and C- grammars: a rule for every parent and every pair of children."""
