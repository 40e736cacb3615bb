"""What one value of each kind is in a file: numbers, moments, arrays, frames, records; and what is lost. Pure."""
