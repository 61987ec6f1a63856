"""Pages that join the apps: home, health, language and theme."""
