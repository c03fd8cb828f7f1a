"""Pages about models: no scripts, no network, pictures inside."""
