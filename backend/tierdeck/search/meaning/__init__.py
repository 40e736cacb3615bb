"""The side of meaning: the query's vector, the nearest memories, filters as a mask over the vectors' slots."""
