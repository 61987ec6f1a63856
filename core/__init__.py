"""The ground floor: money, time, errors, states, claims, ids. No models, no app."""
