"""What customers run: jobs, runs, logs, metrics, checkpoints."""
