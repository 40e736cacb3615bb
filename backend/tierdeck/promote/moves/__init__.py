"""Moves made: by the rules' decisions, by an operator's hand, and taken back."""
