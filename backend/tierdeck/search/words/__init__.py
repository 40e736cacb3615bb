"""The side of words: full text, the extra terms, inside words; scored, bounded, and what stands nowhere."""
