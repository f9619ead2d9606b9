"""TN-LCFRS and TN-PCFG: rules are factored through ranks."""
