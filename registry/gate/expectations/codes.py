"""Finding codes of the expectations; the suites say which measure each judges."""

from __future__ import annotations

from typing import Final

from registry.documents.findings import Code, Severity, code

__all__ = ["EXPECTATION_CODES", "NOT_EVALUATED"]

NOT_EVALUATED = code(
    "E000",
    Severity.ERROR,
    "An expectation could not be evaluated.",
    "Report it with the bundle; until then the bundle counts as refused.",
    "W14",
)
_ERROR, _WARNING = Severity.ERROR, Severity.WARNING

_ALL: Final = (
    code(
        "E001",
        _ERROR,
        "A target workload was not measured.",
        "Run the missing workloads too: models need every kind.",
    ),
    code(
        "E002",
        _ERROR,
        "The idle machine was not measured.",
        "Add at least one accepted run in which nothing runs: every model needs the "
        "floor.",
    ),
    code(
        "E003",
        _ERROR,
        "Too few CPU frequencies were reached.",
        "Record at ten or more evenly spaced frequencies, and state the achieved "
        "one of every run.",
    ),
    code(
        "E004",
        _ERROR,
        "Too few load levels were measured.",
        "Measure ten load levels or more besides idle.",
    ),
    code(
        "E005",
        _ERROR,
        "The load levels do not span the range from light to full load.",
        "Measure from at most 20 % up to full load.",
    ),
    code(
        "E006",
        _ERROR,
        "A run has too few samples.",
        "Sample faster or measure longer, or mark the run as not accepted "
        "(too-few-samples).",
    ),
    code(
        "E007",
        _ERROR,
        "A run is too short.",
        "Measure for 30 seconds or more, or mark the run as not accepted "
        "(too-few-samples).",
    ),
    code(
        "E008",
        _ERROR,
        "Samples lie outside the times of their run.",
        "Label samples by the start and end of their run on the clock of time_seconds.",
    ),
    code(
        "E009",
        _ERROR,
        "A row belongs to a run that runs.csv does not list.",
        "Add the run to runs.csv, or leave its rows out.",
    ),
    code(
        "E010",
        _WARNING,
        "Samples are missing within runs.",
        "Look for a recorder that was starved or a meter that failed; leave out "
        "runs with gaps.",
    ),
    code(
        "E011",
        _ERROR,
        "A raw recording holds no counter.",
        "Record the raw counters; tables that hold rates say so: `derived` in the "
        "manifest.",
    ),
    code(
        "E012",
        _ERROR,
        "Derived data do not say where they come from.",
        "Name the source in the manifest, or contribute the raw readings.",
    ),
    code(
        "E013",
        _ERROR,
        "No column measures a whole processor or a whole node.",
        "Add RAPL packages or a meter of the node (board, supply, rack or wall).",
    ),
    code(
        "E014",
        _ERROR,
        "A power source has no readings in many runs, or none of the idle machine.",
        "Leave the source out, or the runs in which it failed.",
        "B13",
    ),
    code(
        "E015",
        _ERROR,
        "A power reading is a mark of failure, not a power.",
        "Leave cells empty where the meter had no reading; 0xFFFFFFFF is none.",
        "B13",
    ),
    code(
        "E016",
        _ERROR,
        "A power source reads exactly zero.",
        "Leave cells empty where a reading failed, and zones out that the machine "
        "does not have.",
        "B13",
    ),
    code(
        "E017",
        _ERROR,
        "Power is outside of what such a part of a machine can draw.",
        "Check the unit (watts, joules) and the conversion of the source.",
        "B13",
    ),
    code(
        "E018",
        _ERROR,
        "A processor package draws far more than its thermal design power.",
        "Check the unit of the energy counter and tdp_watts of the spec.",
        "B13",
    ),
    code(
        "E019",
        _ERROR,
        "The node draws more than its power supplies can give.",
        "Check the meter's unit, how many nodes it feeds, and power_supplies of the "
        "spec.",
        "B13",
    ),
    code(
        "E020",
        _ERROR,
        "The node's power does not fit its number of cores.",
        "Check the meter's unit (watts, not kilowatts or milliwatts) and cores of "
        "the spec.",
        "B13",
    ),
    code(
        "E021",
        _WARNING,
        "A meter is too coarse to tell loads apart.",
        "Use a finer meter if there is one; the models will be as coarse as it is.",
    ),
    code(
        "E022",
        _ERROR,
        "Power hardly rises from idle to load.",
        "Check that the column is this machine's, and that the meter was not stuck.",
        "B13",
    ),
    code(
        "E023",
        _ERROR,
        "The idle machine draws more than the busy one.",
        "Check that workloads, runs and power belong together.",
        "B13",
    ),
    code(
        "E024",
        _ERROR,
        "Power does not follow the load.",
        "Check that clocks agree and that rows were not mixed up.",
        "B13",
    ),
    code(
        "E025",
        _ERROR,
        "Power falls where load rises.",
        "Check that levels and power belong together, and measure odd levels again.",
        "B13",
    ),
    code(
        "E026",
        _ERROR,
        "A counter goes back, and no wrap-around explains it.",
        "Cut the recording where the counter was reset, or leave the column out; "
        "state rapl_zones in the spec if a zone wraps elsewhere.",
        "B13",
    ),
    code(
        "E027",
        _ERROR,
        "An energy counter exceeds the range that the spec gives its zone.",
        "Take max_joules of rapl_zones from max_energy_range_uj of this zone.",
        "S12",
    ),
    code(
        "E028",
        _WARNING,
        "An energy counter may have wrapped unseen between two samples.",
        "Sample at least four times in the time that a full turn takes at twice the "
        "design power.",
    ),
    code(
        "E029",
        _WARNING,
        "Energy steps repeat as those of no real meter do.",
        "Record the counter itself; computed or smoothed values are derived data.",
        "B13",
    ),
    code(
        "E030",
        _ERROR,
        "A part of a package draws more than the package.",
        "Check which zone each column is, and the energy unit of each.",
        "B13",
    ),
    code(
        "E031",
        _ERROR,
        "Memory draws far more than its package.",
        "Check the memory's energy unit (15.3 microjoules on many servers).",
        "B13",
    ),
    code(
        "E032",
        _WARNING,
        "The platform zone shows less than packages and memory together.",
        "Compare with a meter; what psys covers depends on the firmware.",
    ),
    code(
        "E033",
        _ERROR,
        "The node's power does not fit the sum of its parts.",
        "Check units, the number of nodes that the meter feeds, and that all are "
        "one machine.",
        "B13",
    ),
    code(
        "E034",
        _ERROR,
        "The node's power rises by another measure than its parts.",
        "Check the scale of the meter (tenfold, half, double) and let slow meters "
        "settle.",
        "B13",
    ),
    code(
        "E035",
        _ERROR,
        "Two meters of the node disagree.",
        "Check the scale of each meter, and that all supplies are summed.",
        "B13",
    ),
    code(
        "E036",
        _WARNING,
        "A GPU's power and energy disagree.",
        "Measure for a minute of steady load; keep both columns, models use the "
        "energy.",
    ),
    code(
        "E037",
        _WARNING,
        "Two interfaces to the processor's energy disagree.",
        "Compare both with a meter and leave the wrong one out.",
    ),
    code(
        "E038",
        _WARNING,
        "The board's processor sensor and the packages disagree.",
        "Compare both with a meter and leave the wrong one out.",
    ),
    code(
        "E039",
        _WARNING,
        "A power supply gives more than it takes in.",
        "Check which column is input and which output; crude sensors are best left "
        "out.",
    ),
    code(
        "E040",
        _WARNING,
        "Two packages move in lockstep, so they may be one counter.",
        "Keep one column a socket; mirrored dies show one counter under two names.",
        "B13",
    ),
    code(
        "E041",
        _ERROR,
        "Acceptance of a run and its reason contradict each other.",
        "Give every run that is not accepted its reason, and no other run.",
    ),
    code(
        "E042",
        _ERROR,
        "There are more runs than any plan has.",
        "Split the recording into datasets.",
        "B6",
    ),
    code(
        "E043",
        _WARNING,
        "A load was missed by far.",
        "State the load that was reached, and calibrate full load anew.",
    ),
    code(
        "E044",
        _WARNING,
        "A frequency was missed by far.",
        "Check the governor and power limits; the achieved frequency is what counts.",
    ),
    code(
        "E045",
        _ERROR,
        "No column says how busy the machine was.",
        "Record CPU seconds or cycles beside the power.",
    ),
    code(
        "E046",
        _ERROR,
        "A load level has no row, or more than one.",
        "Give every accepted run one row in levels.csv.",
    ),
    code(
        "E047",
        _WARNING,
        "The benchmark's figure does not go with the load.",
        "Check performance and loads of the named levels.",
    ),
    code(
        "E048",
        _ERROR,
        "The node's power does not follow its parts.",
        "Check that clocks agree and that the columns are of one machine and one time.",
        "B13",
    ),
)

EXPECTATION_CODES: Final[dict[str, Code]] = {entry.id: entry for entry in _ALL}
"""Every code that a suite may name."""
