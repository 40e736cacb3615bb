"""The memory of long-running LLM agents: stores, hybrid search and what steers them. No terminal code."""
