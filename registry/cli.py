"""The `registry` command: parse, call, print. All work is done elsewhere.

Heavy packages load inside the subcommand that needs them, so `--help` stays fast.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from registry import __version__, printing
from registry.gate import terminal
from registry.gate.progress import progress_line

if TYPE_CHECKING:
    from registry.gate.tree import Tree

app = typer.Typer(
    name="registry",
    help="Signed power measurements in, verified power models for Kepler out.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
trust_app = typer.Typer(
    no_args_is_help=True, help="Contributors and their keys.", rich_markup_mode=None
)
app.add_typer(trust_app, name="trust")

Root = Annotated[
    Path,
    typer.Option(help="The registry's checkout.", exists=True, file_okay=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program.")]
Rev = Annotated[
    str | None,
    typer.Option(help="Read this git revision instead of the work tree."),
]
Since = Annotated[
    Path | None,
    typer.Option(
        help="An earlier release folder, whose unchanged models are taken over.",
        exists=True,
        file_okay=False,
    ),
]
Jobs = Annotated[int, typer.Option(min=1, help="Processes that fit models.")]
From = Annotated[
    str, typer.Option("--from", help="A release, or a folder of releases; path or URL.")
]


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(terminal.run(app, json_output=terminal.wants_json(sys.argv[1:])))


@app.callback(invoke_without_command=True)
def _version(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print it.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


@app.command()
def verify(
    root: Root = Path(),
    rev: Rev = None,
    base: Annotated[
        str | None, typer.Option(help="Check only what a change adds to this revision.")
    ] = None,
    head: Annotated[str, typer.Option(help="The change's revision.")] = "HEAD",
    author: Annotated[
        int | None, typer.Option(help="Numeric GitHub id of the change's author.")
    ] = None,
    published_keys: Annotated[
        Path | None,
        typer.Option(
            help="Signing keys that GitHub lists for the author, one a line, as `gh api"
            " users/LOGIN/ssh_signing_keys --jq '.[].key'` prints.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(help="Write the full expectation results here, as JSON."),
    ] = None,
    *,
    json_output: Json = False,
) -> None:
    """Check the whole registry, or only what a change adds (--base)."""
    if base is not None and rev is not None:
        raise typer.BadParameter("--base and --rev exclude each other")
    if base is None and (author is not None or published_keys is not None):
        raise typer.BadParameter("--author and --published-keys need --base")
    now = int(time.time())
    with progress_line(hidden=json_output) as show:
        if base is not None:
            from registry.gate.verify_change import verify_change

            show(f"verifying what {head} adds to {base}")
            keys = (
                None
                if published_keys is None
                else published_keys.read_text("utf-8").splitlines()
            )
            report = verify_change(
                root, base, head, author=author, published_keys=keys, now=now
            )
        else:
            from registry.gate.git_tree import arrivals
            from registry.gate.verify import verify_registry

            tree = _tree(root, rev)
            report = verify_registry(
                tree,
                arrivals=arrivals(root, rev or "HEAD", tree),
                now=now,
                progress=lambda dataset: show(f"verifying {dataset}"),
            )
    if results is not None:
        printing.write(results, printing.text(report.expectation_results))
    printing.print_report(report, json_output=json_output)
    raise typer.Exit(printing.exit_code(report.findings))


@app.command()
def plan(
    root: Root = Path(),
    rev: Rev = None,
    since: Since = None,
    *,
    json_output: Json = False,
) -> None:
    """Name the models that the next release must fit again, and why."""
    from registry.publish.release import plan_release

    with progress_line(hidden=json_output) as show:
        show("reading manifests")
        planned = plan_release(root, rev=rev, since=since)
    printing.show(printing.plan(planned), json_output=json_output)


@app.command()
def build(
    out: Annotated[Path, typer.Option(help="The release folder to make.")],
    root: Root = Path(),
    rev: Rev = None,
    since: Since = None,
    jobs: Jobs = 1,
    *,
    json_output: Json = False,
) -> None:
    """Fit the affected models and write a release folder."""
    from registry.publish.release import build_release

    with progress_line(hidden=json_output) as show:
        built = build_release(root, out, rev=rev, since=since, jobs=jobs, progress=show)
    printing.show(printing.build(built), json_output=json_output)


@app.command()
def publish(
    release: Annotated[
        Path, typer.Argument(help="A release folder.", exists=True, file_okay=False)
    ],
    to: Annotated[str, typer.Option(help="Where: dir:PATH, a folder of releases.")],
    *,
    json_output: Json = False,
) -> None:
    """Put a release where others find it; again is harmless."""
    from registry.publish.channels import publish as send

    done = send(release, to)
    printing.show(printing.published(done), json_output=json_output)


@app.command()
def fetch(
    place: From,
    spec: Annotated[
        Path | None,
        typer.Option(help="The server's hardware spec.", exists=True, dir_okay=False),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option(
            "--class",
            min=0,
            help="Or its class's number in node_type_index.json; 0 is the generic one.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(help="acpi (whole server) or rapl-sysfs (processor); else all."),
    ] = None,
    output: Annotated[
        str, typer.Option(help="AbsPower for nodes, DynPower for processes.")
    ] = "AbsPower",
    out: Annotated[
        Path | None, typer.Option(help="Write the verified files here.")
    ] = None,
    digest: Annotated[
        str | None,
        typer.Option(
            help="Demand this release: its tag, or the SHA-256 of index.json."
        ),
    ] = None,
    *,
    estimator: Annotated[
        bool,
        typer.Option(
            "--estimator", help="Settings for Kepler's Python estimator, not for Go."
        ),
    ] = False,
    json_output: Json = False,
) -> None:
    """Verify a release, pick a server's models, print settings."""
    if (spec is None) == (number is None):
        raise typer.BadParameter("name the server by --spec or by --class")
    if source not in {None, "acpi", "rapl-sysfs"}:
        raise typer.BadParameter("--source is acpi or rapl-sysfs")
    if output not in {"AbsPower", "DynPower"}:
        raise typer.BadParameter("--output is AbsPower or DynPower")
    from registry import client

    with progress_line(hidden=json_output) as show:
        show(f"verifying {place}")
        fetched = client.fetch(
            place,
            spec=spec,
            number=number,
            source=source,
            output=output,
            estimator=estimator,
            out=out,
            digest=digest,
        )
    shown = printing.Shown(client.as_json(fetched), client.as_lines(fetched))
    printing.show(shown, json_output=json_output)


@app.command()
def rebuild(
    compare: Annotated[
        str, typer.Option(help="The release to compare with: a folder or a URL.")
    ],
    root: Root = Path(),
    jobs: Jobs = 1,
    *,
    json_output: Json = False,
) -> None:
    """Build a release again from its commit and compare every byte."""
    from registry import client
    from registry.gate.report import print_findings

    with progress_line(hidden=json_output) as show:
        again = client.rebuild_and_compare(root, compare, jobs=jobs, progress=show)
    if json_output or again.findings:
        print_findings(again.findings, json_output=json_output)
    if not json_output:
        verdict = f"{len(again.findings)} differ" if again.findings else "all equal"
        source = again.commit or "the work tree"
        typer.echo(f"{again.tag} from {source}: {again.files} files, {verdict}")
    raise typer.Exit(printing.exit_code(again.findings))


@app.command()
def codes() -> None:
    """Print the catalogue of all finding codes as Markdown."""
    from registry.catalogues import all_codes_page

    typer.echo(all_codes_page(), nl=False)


@app.command()
def columns() -> None:
    """Print the catalogue of all columns as Markdown."""
    from registry.documents.columns_page import columns_page

    typer.echo(columns_page(), nl=False)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a hardware spec."""
    from registry.documents.spec import spec_schema

    typer.echo(printing.text(spec_schema()), nl=False)


@trust_app.command("allowed-signers")
def allowed_signers(root: Root = Path(), rev: Rev = None) -> None:
    """Print all keys as `ssh-keygen -Y verify` takes them."""
    from registry.gate.allowed_signers import allowed_signers as lines

    typer.echo(lines(_tree(root, rev)), nl=False)


def _tree(root: Path, rev: str | None) -> Tree:
    if rev is None:
        from registry.gate.directory_tree import directory_tree

        return directory_tree(root)
    from registry.gate.git_tree import git_tree

    return git_tree(root, rev)
