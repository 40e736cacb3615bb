"""What a search gives: hits with their scores, what was hidden by which filter, marks; and when to stop."""
