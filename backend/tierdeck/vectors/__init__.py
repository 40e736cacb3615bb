"""The vectors of memories, as the index file keeps them: written, read, and found by nearness."""
