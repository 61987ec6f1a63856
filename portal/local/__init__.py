"""The services of one machine: PostgreSQL, Redis and the processes of make run."""
