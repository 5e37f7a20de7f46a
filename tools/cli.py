"""The `powerkit` command of contributors: parse, call, print. All work is elsewhere.

Heavy packages load inside the subcommand that needs them, so `--help` stays fast.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from registry import __version__
from registry.documents.limits import FILE_BYTES
from registry.gate import terminal
from tools.commands.groups import group
from tools.commands.lazy import LazyGroup
from tools.commands.submitting import submit
from tools.dialogue import agreed, next_step, passphrase, say
from tools.key_commands import revoke
from tools.options import (
    Account,
    Around,
    Base,
    Dataset,
    Derived,
    Dump,
    Endorser,
    FirstDay,
    Folder,
    Founding,
    Ids,
    IdsFile,
    Instance,
    Json,
    KeyFile,
    Keygen,
    LastDay,
    Licence,
    Login,
    NewVersion,
    OriginDay,
    OriginId,
    OriginKind,
    OtherSpec,
    Own,
    OwnWorkloads,
    PlanFile,
    Platform,
    PublishedKeys,
    Registry,
    Signatory,
    Sources,
    SpecFile,
    TableFolder,
    Tables,
    Terms,
    Words,
    Yes,
)
from tools.processes.orders import orders_unwind

if TYPE_CHECKING:
    from tools.bundles.draft import Draft

app = typer.Typer(
    cls=LazyGroup,
    name="powerkit",
    help="Measure servers and workloads; make, sign, check and submit bundles.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
import_app = group("Make bundles of what others recorded or published.")
app.add_typer(import_app, name="import")


def main() -> None:
    """Run the command line and leave with its exit code."""
    json_output = terminal.wants_json(sys.argv[1:])
    # An ordered end unwinds, so that nothing half-made stays behind.
    with orders_unwind():
        code = terminal.run(app, json_output=json_output)
    sys.exit(code)


@app.callback(invoke_without_command=True)
def _before_all(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Settings; see `powerkit config path` for the others."
        ),
    ] = None,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print it.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit
    if config is not None:
        from tools.settings.naming import settings_named

        # Programs that we start see the same settings, wherever they are started.
        context.with_resource(settings_named(config))


@import_app.command("specpower")
def import_specpower(
    sources: Sources,
    registry: Registry = Path(),
    ids: Ids = None,
    ids_file: IdsFile = None,
    contributor: Signatory = None,
    *,
    founding: Founding = False,
    json_output: Json = False,
) -> None:
    """Make load-levels bundles of SPECpower_ssj2008 results."""
    from registry.documents.trust import FOUNDING
    from registry.gate.report import print_findings
    from tools.commands.specpower import import_results, wanted_ids

    if founding == (contributor is not None):
        raise typer.BadParameter("give either --contributor or --founding")
    wanted = wanted_ids(ids or [], ids_file)
    done = import_results(
        sources, wanted, registry, contributor or FOUNDING, founding=founding
    )
    facts: dict[str, object] = {"written": list(done.written)}
    if done.key:
        facts["key"] = done.key
    if json_output and not done.findings:
        say(facts, json_output=True)
        return
    print_findings(done.findings, json_output=json_output)
    if not json_output:
        for name in done.written:
            typer.echo(f"datasets/{name}")
        say(facts | {"written": len(done.written)}, json_output=False)
        if done.written and not founding:
            next_step("powerkit sign datasets/<id> --key FILE, for one bundle a change")
    if done.findings:
        raise typer.Exit(terminal.EXIT_FINDINGS)


@import_app.command("kepler-query")
def import_kepler_query(
    dump: Dump,
    spec: SpecFile,
    dataset: Dataset,
    contributor: Account,
    registry: Registry = Path(),
    plan: PlanFile = None,
    instance: Instance = None,
    licence: Licence = Terms.CDLA,
    source: OriginKind = None,
    source_id: OriginId = None,
    source_published: OriginDay = None,
    not_a_name: Words = None,
    *,
    yes: Yes = False,
    json_output: Json = False,
) -> None:
    """Make a timeseries bundle of a Prometheus dump; no names."""
    from tools.commands import packing
    from tools.importers.kepler_query import import_query
    from tools.importers.prometheus import BYTES as DUMP_BYTES

    machine = packing.spec_of(spec)
    imported = import_query(
        packing.read_bounded(dump, DUMP_BYTES),
        dump.name,
        instance=instance,
        plan=None
        if plan is None
        else (packing.read_bounded(plan, FILE_BYTES), plan.name),
    )
    answers = packing.Answers(
        dataset,
        contributor,
        licence.value,
        "withheld",
        packing.origin(source, source_id, source_published),
    )
    draft = packing.imported_draft(imported, machine, answers, None)
    _publish(draft, registry, not_a_name, yes=yes, json_output=json_output)


@import_app.command("kepler-csv")
def import_kepler_csv(
    tables: Tables,
    spec: SpecFile,
    dataset: Dataset,
    contributor: Account,
    registry: Registry = Path(),
    plan: PlanFile = None,
    platform: Platform = None,
    licence: Licence = Terms.CDLA,
    source: OriginKind = None,
    source_id: OriginId = None,
    source_published: OriginDay = None,
    not_a_name: Words = None,
    *,
    yes: Yes = False,
    json_output: Json = False,
) -> None:
    """Make a derived bundle of kepler-model-server's own tables."""
    from tools.commands import packing
    from tools.importers.kepler_csv import import_tables

    machine = packing.spec_of(spec)
    imported = import_tables(
        {path.name: packing.read_bounded(path, FILE_BYTES) for path in tables},
        machine,
        platform=platform,
        plan=None
        if plan is None
        else (packing.read_bounded(plan, FILE_BYTES), plan.name),
    )
    answers = packing.Answers(
        dataset,
        contributor,
        licence.value,
        "withheld",
        packing.origin(source, source_id, source_published),
    )
    draft = packing.imported_draft(imported, machine, answers, "rates")
    _publish(draft, registry, not_a_name, yes=yes, json_output=json_output)


@app.command()
def pack(
    tables: TableFolder,
    spec: SpecFile,
    dataset: Dataset,
    contributor: Account,
    first_day: FirstDay,
    last_day: LastDay = None,
    registry: Registry = Path(),
    licence: Licence = Terms.CDLA,
    own_workloads: OwnWorkloads = Own.NONE,
    derived: Derived = None,
    source: OriginKind = None,
    source_id: OriginId = None,
    source_published: OriginDay = None,
    not_a_name: Words = None,
    *,
    new_version: NewVersion = False,
    yes: Yes = False,
    json_output: Json = False,
) -> None:
    """Make a bundle of tables and a spec, after showing its texts."""
    from tools.commands import packing

    answers = packing.Answers(
        dataset,
        contributor,
        licence.value,
        own_workloads.value,
        packing.origin(source, source_id, source_published),
    )
    draft = packing.folder_draft(
        tables,
        packing.spec_of(spec),
        answers,
        (first_day, last_day or first_day),
        None if derived is None else derived.value,
    )
    if new_version:
        draft = packing.next_version(draft, registry)
    _publish(draft, registry, not_a_name, yes=yes, json_output=json_output)


@app.command()
def sign(
    bundle: Folder,
    key: KeyFile,
    *,
    with_ssh_keygen: Keygen = False,
    json_output: Json = False,
) -> None:
    """Sign a bundle's manifest with an SSH key."""
    from tools.bundles.sign import sign_bundle
    from tools.bundles.signers import open_key

    signer = open_key(key, passphrase, with_ssh_keygen=with_ssh_keygen)
    name = sign_bundle(bundle, signer)
    say({"signed": bundle.resolve().name, "key": name}, json_output=json_output)
    if not json_output:
        next_step("powerkit check (and once before it, if you are new: powerkit enrol)")


@app.command()
def enrol(
    key: KeyFile,
    contributor: Account,
    login: Login,
    registry: Registry = Path(),
    endorse_with: Endorser = None,
    *,
    with_ssh_keygen: Keygen = False,
    json_output: Json = False,
) -> None:
    """Write your trust file, with the key's proof that it is yours."""
    import time

    from tools.bundles.enrol import enrol as write
    from tools.bundles.signers import open_key

    new = open_key(key, passphrase, with_ssh_keygen=with_ssh_keygen)
    old = None
    if endorse_with is not None:
        old = open_key(endorse_with, passphrase, with_ssh_keygen=with_ssh_keygen)
    path = write(registry, contributor, login, new, time.time(), old)
    shown = path.relative_to(registry).as_posix()
    say({"enrolled": contributor, "file": shown}, json_output=json_output)


app.command()(revoke)


@app.command()
def check(
    bundle: Folder,
    registry: Around = None,
    spec: OtherSpec = None,
    base: Base = None,
    published_keys: PublishedKeys = None,
    *,
    json_output: Json = False,
) -> None:
    """Check a bundle on this machine exactly as the gate will."""
    import time

    from registry.gate.enrolment import read_published_keys
    from registry.gate.report import print_report
    from tools.bundles.check import check_bundle

    keys = None
    if published_keys is not None:
        keys = read_published_keys(published_keys.read_bytes(), str(published_keys))
    report = check_bundle(
        bundle,
        int(time.time()),
        registry=registry,
        spec=spec,
        base=base,
        published_keys=keys,
    )
    print_report(report, json_output=json_output)
    if report.refused:
        raise typer.Exit(terminal.EXIT_FINDINGS)


app.command()(submit)


def _publish(
    draft: Draft,
    registry: Path,
    not_a_name: list[str] | None,
    *,
    yes: bool,
    json_output: bool,
) -> None:
    from tools.commands import packing

    folder = packing.publish(
        draft,
        registry,
        frozenset(not_a_name or ()),
        show=lambda text: typer.echo(text, nl=False, err=json_output),
        confirm=None if yes else agreed,
    )
    if folder is None:
        _stopped()
    shown = folder.relative_to(registry).as_posix()
    say({"packed": draft.dataset, "folder": shown}, json_output=json_output)
    if not json_output:
        next_step(f"powerkit sign {shown} --key FILE")


def _stopped() -> NoReturn:
    typer.echo("Nothing was written.", err=True)
    raise typer.Exit(terminal.EXIT_FINDINGS)
