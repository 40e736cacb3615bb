"""What an agent's process does with its checkpoints: save by turns, journal its calls, go on, branch off."""
