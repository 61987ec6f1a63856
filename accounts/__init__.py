"""Who the customers are: users, organisations, roles, tokens, audit, notifications."""
