"""A made-up store of one coding agent's memories, to try everything on."""
