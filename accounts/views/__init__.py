"""Server-rendered pages of this app."""
