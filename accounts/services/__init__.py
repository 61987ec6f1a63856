"""The only code that writes the rows of this app."""
