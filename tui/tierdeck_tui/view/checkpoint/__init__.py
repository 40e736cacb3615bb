"""Checkpoints as lines and as JSON: pure, for the screen and the verbs alike."""
