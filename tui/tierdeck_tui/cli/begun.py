"""A choice on the command line that takes a name, or the beginning that it alone has, as the console's forms do."""

from __future__ import annotations

import click

from tierdeck_tui.view.promotion.log_ask import begun_by


class Begun(click.Choice[str]):
    """One of some names, in small letters; the beginning of one is enough where no other begins so."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name that is meant; `click` refuses what is none, with the names there are."""
        return super().convert(begun_by(value, tuple(self.choices)) or value, param, ctx)
