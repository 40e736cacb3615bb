"""Values of any nesting to bytes and back: walked over, pooled where they are shared, encoded, decoded. Pure.

values → `nodes_of` (while the agent waits) → `encode` → bytes → `decode_unit`
"""
