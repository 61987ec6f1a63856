"""REST of this app; the contract is api.md of the documentation."""
