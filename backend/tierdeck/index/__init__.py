"""The index file beside a store: what can be made again from it. Made, opened, checked, thrown away."""
