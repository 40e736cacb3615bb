"""The promotion log: append-only and chained, its check, and what it tells when played back."""
