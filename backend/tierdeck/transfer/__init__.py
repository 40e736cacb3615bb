"""Memories in and out of a store: the lossless JSONL form, plain JSONL records, another family store, salvage."""
