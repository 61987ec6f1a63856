"""What customers rent: models of GPUs, sites, nodes, clusters and their reservations."""
