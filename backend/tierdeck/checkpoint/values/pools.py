"""Which objects stand in a pool, and in which: decided when all units have been walked over. Pure.

An object that only one unit refers to twice goes to that unit's own pool; one that several units refer to goes to a
pool section, with all that its contents refer to. Units that meet in one object share one pool section, and no unit
has more than one: reading a variable takes its own bytes and at most one pool's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tierdeck.checkpoint.kinds import tags
from tierdeck.checkpoint.kinds.records import Placeholder
from tierdeck.checkpoint.kinds.scalars import Node
from tierdeck.checkpoint.values.walk import Walk
from tierdeck.checkpoint.values.walked import Place


@dataclass(slots=True)
class Pool:
    """Objects by their numbers: what each begins as (`heads`), what fills it (`bodies`), whom it refers to."""

    heads: list[object] = field(default_factory=list)
    bodies: list[object] = field(default_factory=list)
    links: list[set[int]] = field(default_factory=list)


@dataclass(slots=True)
class Pools:
    """`own` by unit; `shared` in order; for each unit the shared pool it uses and what it refers to there."""

    own: dict[int, Pool] = field(default_factory=dict)
    shared: list[Pool] = field(default_factory=list)
    pool_of_unit: dict[int, int] = field(default_factory=dict)
    reaches: dict[int, set[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Edge:
    """A reference: from a pooled object, or from the unit itself (`home` None), to the object at `target`."""

    unit: int
    home: int | None
    target: int
    node: Node
    index: int | None  # None: the node itself is the reference


def settle(walk: Walk) -> Pools:
    """Move every object that is met twice from where it stood first into its pool; nodes are changed in place."""
    pooled = {ref.target for unit in walk.units for ref in unit.refs}
    if not pooled:
        return Pools()
    places = walk.places()
    while True:
        edges = _edges(walk, places, pooled)
        tangled = _tangled(places, pooled, edges)
        if not tangled:
            break
        # Rare: things that can only be made whole go in circles through lists inside them. Those become shells.
        pooled |= tangled
    return _fill(places, pooled, edges)


def with_gaps(pools: Pools, gaps: Sequence[Node]) -> list[int]:
    """The units that refer, directly or not, to a shared object in which one of these nodes stands."""
    if not gaps:
        return []
    marks = set(map(id, gaps))
    holed = [_holed(pool, marks) for pool in pools.shared]
    return [unit for unit, reached in pools.reaches.items() if reached & holed[pools.pool_of_unit[unit]]]


def _holed(pool: Pool, marks: set[int]) -> set[int]:
    """The objects of a pool that hold one of the marked nodes, or refer to one that does."""
    found = {number for number, body in enumerate(pool.bodies) if _holds(body, marks)}
    referring: dict[int, list[int]] = {}
    for number, links in enumerate(pool.links):
        for target in links:
            referring.setdefault(target, []).append(number)
    todo = list(found)
    while todo:
        new = set(referring.get(todo.pop(), ())) - found
        found |= new
        todo += new
    return found


def _holds(body: object, marks: set[int]) -> bool:
    todo = [body]
    while todo:
        item = todo.pop()
        if isinstance(item, list):
            if id(item) in marks:
                return True
            todo += item
    return False


def _edges(walk: Walk, places: Mapping[int, Place], pooled: set[int]) -> list[_Edge]:
    homes: dict[int | None, int | None] = {None: None}

    def home(key: int | None) -> int | None:
        """The nearest pooled object around, the one itself included."""
        trail = []
        while key not in homes:
            assert key is not None  # noqa: S101  # None is in `homes`
            if key in pooled:
                homes[key] = key
                break
            trail.append(key)
            key = places[key].inside
        for each in trail:
            homes[each] = homes[key]
        return homes[key]

    edges = []
    for key, place in places.items():
        if key in pooled:
            edges.append(_Edge(place.unit, home(place.inside), key, place.node, place.at))
    for unit in walk.units:
        edges += [_Edge(ref.unit, home(ref.inside), ref.target, ref.node, None) for ref in unit.refs]
    return edges


def _fixed_operands(place: Place) -> int | None:
    """How many operands a container keeps from when it is a shell; None for what is made whole."""
    made = place.node[place.at]
    if type(place.value) is Placeholder:
        return place.value.fixed
    return tags.SHELLS.get(made[0]) if isinstance(made, list) else None


def _is_shell(places: Mapping[int, Place], key: int) -> bool:
    return _fixed_operands(places[key]) is not None


def _order(keys: Iterable[int], edges: list[_Edge], places: Mapping[int, Place]) -> tuple[list[int], set[int]]:
    """The objects that are made whole, those first that others need; and those that need each other."""
    whole = {key: None for key in keys if not _is_shell(places, key)}
    needs: dict[int, set[int]] = {key: set() for key in whole}
    needed_by: dict[int, list[int]] = {key: [] for key in whole}
    for edge in edges:
        if edge.home in needs and edge.target in whole and edge.target not in needs[edge.home]:
            needs[edge.home].add(edge.target)
            needed_by[edge.target].append(edge.home)
    ready = [key for key in whole if not needs[key]]
    ordered = []
    for key in ready:  # grows while it is walked over
        ordered.append(key)
        for other in needed_by[key]:
            needs[other].discard(key)
            if not needs[other]:
                ready.append(other)
    return ordered, set(whole) - set(ordered)


def _tangled(places: Mapping[int, Place], pooled: set[int], edges: list[_Edge]) -> set[int]:
    """Containers inside objects that need each other, which as shells would part them; empty when none do."""
    _, stuck = _order([key for key in places if key in pooled], edges, places)
    if not stuck:
        return set()
    found = set()
    for key, place in places.items():
        around = place.inside
        while around is not None and around not in pooled:
            around = places[around].inside
        if around in stuck and key not in pooled and _is_shell(places, key):
            found.add(key)
    return found


def _fill(places: Mapping[int, Place], pooled: set[int], edges: list[_Edge]) -> Pools:
    shared = _shared_keys(edges, places)
    pools, section_of = Pools(), _sections(edges, shared)
    in_order = [key for key in places if key in pooled and _is_shell(places, key)]
    in_order += _order([key for key in places if key in pooled], edges, places)[0]
    number: dict[int, int] = {}
    content = {key: places[key].node[places[key].at] for key in in_order}
    fixed = {key: _fixed_operands(places[key]) for key in in_order}
    for key in in_order:
        pool = _pool_for(pools, key, shared, section_of, places)
        number[key] = len(pool.bodies)
        pool.heads.append(None)
        pool.bodies.append(None)
        pool.links.append(set())
    for edge in edges:
        _refer(edge, pools, number, shared, section_of)
    for key in in_order:
        pool = _pool_for(pools, key, shared, section_of, places)
        pool.heads[number[key]], pool.bodies[number[key]] = _parts(content[key], fixed[key])
    return pools


def _shared_keys(edges: list[_Edge], places: Mapping[int, Place]) -> set[int]:
    """Objects that several units refer to, and all that those refer to."""
    inner: dict[int, list[int]] = {}
    for edge in edges:
        if edge.home is not None:
            inner.setdefault(edge.home, []).append(edge.target)
    todo = [edge.target for edge in edges if edge.unit != places[edge.target].unit]
    shared: set[int] = set()
    while todo:
        key = todo.pop()
        if key not in shared:
            shared.add(key)
            todo += inner.get(key, ())
    return shared


def _sections(edges: list[_Edge], shared: set[int]) -> dict[object, int]:
    """The number of the pool section for each shared object, and for each unit that refers to one."""
    parent: dict[object, object] = {}

    def top(item: object) -> object:
        while (above := parent.setdefault(item, item)) != item:
            parent[item] = parent[above]
            item = above
        return item

    for edge in edges:
        if edge.target in shared:
            user: object = edge.home if edge.home in shared else ("unit", edge.unit)
            parent[top(user)] = top(edge.target)
    numbers: dict[object, int] = {}
    return {item: numbers.setdefault(top(item), len(numbers)) for item in list(parent)}


def _pool_for(
    pools: Pools, key: int, shared: set[int], section_of: Mapping[object, int], places: Mapping[int, Place]
) -> Pool:
    if key not in shared:
        return pools.own.setdefault(places[key].unit, Pool())
    while len(pools.shared) <= section_of[key]:
        pools.shared.append(Pool())
    return pools.shared[section_of[key]]


def _refer(
    edge: _Edge, pools: Pools, number: Mapping[int, int], shared: set[int], section_of: Mapping[object, int]
) -> None:
    """Put the reference where the object stood, or where it was met again."""
    target = number[edge.target]
    is_outward = edge.target in shared and edge.home not in shared
    reference: Node = [tags.SHARED if is_outward else tags.OWN, target]
    if edge.index is None:
        edge.node[:] = reference
    else:
        edge.node[edge.index] = reference
    if is_outward:
        pools.pool_of_unit[edge.unit] = section_of[edge.target]
        pools.reaches.setdefault(edge.unit, set()).add(target)
    elif edge.home in shared:
        assert edge.home is not None  # noqa: S101  # None is never shared
        pools.shared[section_of[edge.target]].links[number[edge.home]].add(target)


def _parts(node: object, fixed: int | None) -> tuple[object, object]:
    """What an object begins as, and what fills it."""
    if fixed is None or not isinstance(node, list):
        return None, node
    head = node[: 1 + fixed] if fixed else node[0]
    return head, [tags.LIST, *node[1 + fixed :]]
