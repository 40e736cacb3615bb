"""Looking after a store: its health, backups, taking over another program's store and giving it back, purging."""
