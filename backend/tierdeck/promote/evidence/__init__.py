"""What the rules look at: the counts kept of every memory's pulls, and the facts read from them."""
