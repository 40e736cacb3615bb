"""A checkpoint as one file (FORMAT.md): taken, packed, sealed, published; opened, read as far as asked, loaded."""
