"""The extra terms: what the store's full-text index can't represent, in an index of its own beside the store.

Private and local: texts are read and cut up here, and nothing is sent anywhere.
"""
