"""The open store as the screens read it, in workers: pages, facts, searches, the meaning side. No widget here."""
