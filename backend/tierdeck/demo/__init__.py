"""A made-up store of one coding agent's memories, to try everything on."""

from tierdeck.demo.build import DemoCheckpoints, DemoSummary, build_demo
from tierdeck.demo.demo_id import demo_id

__all__ = ["DemoCheckpoints", "DemoSummary", "build_demo", "demo_id"]
