"""How memories move between the tiers: accesses, the rules and their evidence, the log, the operator's hand."""
