"""The parts of a packet that say what a change is about, each made by itself.

Where one cannot be made, it says so, and the others are there all the same.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.gate.paths import WITHDRAWN
from registry.gate.tree import DATASETS
from registry.gate.withdrawal import read_withdrawal
from registry.modelling.plan import plan
from registry.review.candidate import read_candidate
from registry.review.contents import data_section, hardware_section, texts_section
from registry.review.copies import copies_section
from registry.review.effects import Effects, fit, fit_effects, models_section
from registry.review.expectations import expectation_section
from registry.review.likeness import class_section
from registry.review.page import Code, Listing, Paragraph, Section, facts_table
from registry.review.people import contributor_section
from registry.review.power import power_section
from registry.review.prediction import misses, prediction_section
from registry.review.servers import read_servers, read_withdrawn, server_of
from registry.review.trust_change import trust_section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from registry.documents.findings import Finding
    from registry.gate.outcome import Report
    from registry.review.candidate import Candidate
    from registry.review.page import Cell
    from registry.review.proposal import Proposal, State
    from registry.review.servers import Server

__all__ = ["Parts"]

NOT_MADE = code(
    "R081",
    Severity.WARNING,
    "A part of the review packet could not be made.",
    "Look at what the finding names; the other parts of the packet hold.",
)


class Parts:
    """The parts of one packet; what several of them need is made once."""

    def __init__(
        self,
        proposal: Proposal,
        report: Report,
        *,
        jobs: int,
        models: bool,
        progress: Callable[[str], None],
    ) -> None:
        """Prepare; nothing is read yet.

        Args:
            proposal: the change.
            report: what the gate says of it.
            jobs: processes that fit.
            models: whether to fit models at all.
            progress: called with lines for people.
        """
        self.proposal = proposal
        self.report = report
        self.jobs = jobs
        self.models = models
        self.progress = progress

    def sections(self) -> Iterator[Section]:
        """Sections on what the change is about, in the order in which they are read."""
        kind, dataset = self.proposal.kind, self.proposal.dataset
        if kind == "trust":
            yield self._part("trust", "Change of trust", self._trust)
        elif kind == "withdrawal" and dataset is not None:
            yield self._part("withdrawal", "Withdrawal", self._withdrawal)
            yield self._part("contributor", "Contributor", self._contributor)
        elif kind == "bundle":
            yield from self._bundle()
        if self.models and kind in ("trust", "withdrawal", "bundle"):
            yield self._part("models", "Models", self._models)

    def _bundle(self) -> Iterator[Section]:
        found = self.candidate
        yield self._part("contributor", "Contributor", self._contributor)
        yield self._part("data", "Data", lambda: data_section(found))
        spec = found.spec
        if spec is not None:
            yield self._part("hardware", "Hardware", lambda: hardware_section(spec))
        if found.frame is not None:
            yield self._part("power", "Power", self._power)
        result = self.report.expectation_results.get(found.dataset)
        part = result if isinstance(result, dict) else None
        yield self._part(
            "expectations", "Expectations", lambda: expectation_section(part)
        )
        if found.frame is not None:
            yield self._part("class", "Server class", self._class)
            yield self._part("copies", "Copies", self._copies)
        yield self._part(
            "texts", "Texts that become public", lambda: texts_section(found)
        )
        if found.frame is not None and self.models:
            title = "Predicted without it"
            yield self._part("prediction", title, self._prediction)

    def _part(self, name: str, title: str, make: Callable[[], Section]) -> Section:
        """Make a part; whatever goes wrong in it, the packet goes on."""
        self.progress(f"looking at: {title.lower()}")
        try:
            return make()
        except RegistryError as error:
            return _failed(name, title, error.findings)
        except Exception as error:  # noqa: BLE001 - the reviewer must see the rest
            what = f"{title}: the program failed with {type(error).__name__}"
            return _failed(name, title, (finding(NOT_MADE, "-", what),))

    @cached_property
    def candidate(self) -> Candidate:
        """The proposed bundle, or what could be read of it."""
        return read_candidate(self.proposal.after, self.proposal.dataset or "")

    @cached_property
    def before(self) -> State:
        """The registry as it is."""
        return self.proposal.state_before()

    @cached_property
    def after(self) -> State:
        """The registry as it would be."""
        return self.proposal.state_after()

    @cached_property
    def effects(self) -> Effects:
        """The affected models both ways."""
        return fit_effects(self.before, self.after, self.progress, self.jobs)

    @cached_property
    def servers(self) -> tuple[Server, ...]:
        """All merged bundles but an earlier version of this one."""
        found = read_servers(self.before, self.progress)
        return tuple(one for one in found if one.dataset != self.proposal.dataset)

    @cached_property
    def own(self) -> Server:
        """The proposed bundle as a server."""
        found = self.candidate
        if found.frame is None or found.manifest is None:
            what = f"{DATASETS}{found.dataset}"
            raise RegistryError(finding(NOT_MADE, what, "its tables cannot be read"))
        return server_of(found.frame, found.manifest.contributor)

    @property
    def key(self) -> str:
        """The class that the proposed bundle will belong to."""
        try:
            refs = self.after.catalogue.bundles
        except RegistryError:  # refused; the spec tells its class all the same
            return self.own.class_key
        named = (one.class_key for one in refs if one.dataset == self.proposal.dataset)
        return next(named, self.own.class_key)

    def _contributor(self) -> Section:
        manifest = self.candidate.manifest
        if manifest is None:
            what = "the manifest cannot be read, so nobody knows whose it is"
            raise RegistryError(finding(NOT_MADE, self.candidate.dataset, what))
        try:
            state = self.before
        except RegistryError:
            state = None
        signer = self.candidate.signer
        return contributor_section(self.proposal, manifest.contributor, signer, state)

    def _trust(self) -> Section:
        return trust_section(self.proposal)

    def _power(self) -> Section:
        frame = self.candidate.frame
        if frame is None:
            raise RegistryError(finding(NOT_MADE, "-", "there is no table"))
        try:
            others = [one for one in self.servers if one.class_key == self.key]
        except RegistryError:  # main is not sound, which is not this change's fault
            others = []
        return power_section(self.own, frame, others)

    def _class(self) -> Section:
        return class_section(self.own, self.key, self.servers)

    def _copies(self) -> Section:
        own = self.own
        # Whoever withdrew data may send it again, mended; nobody else may.
        gone = [
            one
            for one in read_withdrawn(self.proposal.before)
            if one.contributor != own.contributor
        ]
        return copies_section(own, [*self.servers, *gone])

    def _prediction(self) -> Section:
        dataset, frame = self.proposal.dataset, self.candidate.frame
        if dataset is None or frame is None:
            raise RegistryError(finding(NOT_MADE, "-", "there is no table"))
        merged = {ref.dataset for ref in self.before.catalogue.bundles}
        if dataset not in merged:
            models = self.effects.models
        else:
            state = self.proposal.state_without(dataset)
            planned = plan(state.catalogue)
            wanted = [
                str(order.id)
                for order in planned.fit
                if order.id.output == "AbsPower"
                and order.class_key in (self.key, "generic")
            ]
            models = tuple(fit(state, planned, wanted, self.progress, self.jobs))
        return prediction_section(misses(frame, models, self.key), self.key)

    def _models(self) -> Section:
        return models_section(self.effects)

    def _withdrawal(self) -> Section:
        dataset = self.proposal.dataset or ""
        path = f"{DATASETS}{dataset}/{WITHDRAWN}"
        said = read_withdrawal(self.proposal.after.read(path), path)
        manifest = self.candidate.manifest
        facts: list[tuple[str, Cell]] = [
            ("bundle", Code(dataset)),
            ("version", "" if manifest is None else str(manifest.version)),
            ("day of the decision", said.day),
            ("reason", said.reason),
        ]
        blocks = (facts_table("The withdrawal", facts),)
        return Section(
            "withdrawal",
            "Withdrawal",
            blocks,
            {"dataset": dataset, "day": said.day, "reason": said.reason},
        )


def _failed(name: str, title: str, findings: tuple[Finding, ...]) -> Section:
    points = tuple(
        (Code(one.code), " ", Code(one.path), f": {one.what}") for one in findings[:10]
    )
    blocks = (Paragraph.of("This part could not be made:"), Listing(points))
    facts = {"failed": [f"{one.code} {one.path}: {one.what}" for one in findings[:10]]}
    return Section(name, title, blocks, facts)
