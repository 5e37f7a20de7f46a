"""`powerkit trace`: read, combine, summarise and convert Chrome traces.

Each subcommand is a function of a module of its own, which loads what it needs when it
is called.
"""

from __future__ import annotations

from tools.commands import traces_combining, traces_conversion, traces_summaries
from tools.commands.groups import group

__all__ = ["app"]

app = group("Read, combine and summarise Chrome traces.")
app.command("combine")(traces_combining.combine)
app.command("validate")(traces_combining.validate)
app.command("import")(traces_conversion.import_)
app.command("filter")(traces_conversion.filter_)
app.command("view")(traces_conversion.view)
app.command("convert")(traces_conversion.convert)
app.command("publish")(traces_conversion.publish)
app.command("summarize")(traces_summaries.summarize)
app.command("memory")(traces_summaries.memory)
