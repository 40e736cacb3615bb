"""What a search reads of the store's rows, each once: which count, how often words stand in them, what they say."""
