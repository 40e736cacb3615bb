"""What was typed, read: words, phrases, filters, and the expression FTS5 gets. Pure."""
