"""The extra terms: what the store's full-text index can't represent, in an index of its own beside the store.

Also how a text splits into words and pieces, which the terms of texts and those of queries have to share.

Private and local: texts are read and cut up here, and nothing is sent anywhere.
"""
