"""What agents do: their sessions, their looks at memories, and the rules that run by themselves on them."""
