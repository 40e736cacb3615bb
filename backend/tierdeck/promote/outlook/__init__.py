"""What would move: candidates, near misses, a sweep's plan, other numbers, and why."""
