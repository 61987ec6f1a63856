"""Parties that move money: the port, and one module for each of them."""
