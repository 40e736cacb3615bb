"""The items of a set in an order that is the same in every process. Pure.

A set has the order of its hashes, and those of text differ from run to run: two equal sets would give two digests.
Items are sorted by a digest of what they are, made from the digests of their parts, each part once: a set of tuples
that share their parts has more paths through it than there is time.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import msgpack

from tierdeck.checkpoint.kinds.class_facts import comes_from, found_by, is_one_of, loaded, type_name
from tierdeck.checkpoint.kinds.instances import inert_of, record_kind, record_of
from tierdeck.checkpoint.kinds.loss import UnsaveableError
from tierdeck.checkpoint.kinds.moments import MOMENT_NODES
from tierdeck.checkpoint.kinds.records import Record
from tierdeck.checkpoint.kinds.scalars import SCALAR_NODES
from tierdeck.checkpoint.limits import MAX_DEPTH

_SORTED_AS_THEY_ARE = (str, int, bytes)


def sorted_items(items: set[object] | frozenset[object]) -> list[object]:
    """The items in their order; items that look the same in every part stand in any order.

    Raises:
        UnsaveableError: they are nested deeper than a value may be.
    """
    if len(items) < 2:
        return list(items)
    kinds = list(map(type, items))
    if any(all(kind is each for kind in kinds) for each in _SORTED_AS_THEY_ARE):
        return sorted(items)  # type: ignore[type-var]  # all of one type, which has an order
    keys: dict[int, bytes] = {}
    try:
        return sorted(items, key=lambda item: _key(item, keys, 0))
    except RecursionError as e:
        raise UnsaveableError("a set whose items are nested too deep to be put in order") from e


def _key(item: object, keys: dict[int, bytes], depth: int) -> bytes:
    """The item's digest; `keys` holds those made and, empty, those being made: a cycle adds nothing."""
    if depth > MAX_DEPTH:
        raise UnsaveableError(f"a set whose items are nested deeper than {MAX_DEPTH}")
    number = id(item)
    if number not in keys:
        keys[number] = b""
        keys[number] = _digest(item, keys, depth)
    return keys[number]


def _digest(item: object, keys: dict[int, bytes], depth: int) -> bytes:
    kind = type(item)
    if kind is tuple:
        return _joined("tuple", (_key(each, keys, depth + 1) for each in item))  # type: ignore[attr-defined]
    if kind is frozenset:
        found = [_key(each, keys, depth + 1) for each in item]  # type: ignore[attr-defined]
        return _joined("frozenset", sorted(found))
    as_record = record_kind(kind)
    if kind is Record or as_record is not None:
        record = record_of(item, as_record) if as_record else item
        assert isinstance(record, Record)  # noqa: S101  # one of the two
        fields = [_key(each, keys, depth + 1) for each in record.fields.values()]
        return _joined(record.type_name, fields)
    make = found_by(kind, SCALAR_NODES) or found_by(kind, MOMENT_NODES)
    if make is not None and kind is not int:
        return _joined(type_name(kind), [_packed(make(item))])
    return _joined(type_name(kind), [_leaf(item)])


def _leaf(item: object) -> bytes:
    kind = type(item)
    if kind is int:
        return str.encode(hex(item))  # type: ignore[arg-type]  # any length, unlike msgpack's
    if is_one_of(kind, (str, bytes, float, bool)):
        return _packed(item)
    if comes_from(kind, loaded("numpy", "generic")):
        return bytes(item.tobytes())  # type: ignore[attr-defined]  # a numpy scalar
    inert = inert_of(item, None)
    return b"" if inert is None else inert.name.encode("utf-8", "surrogatepass")


def _packed(node: object) -> bytes:
    data: bytes = msgpack.packb(node, strict_types=True, unicode_errors="surrogatepass")
    return data


def _joined(name: str, parts: Iterable[bytes]) -> bytes:
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(4, "little"))
        digest.update(part)
    return digest.digest()
