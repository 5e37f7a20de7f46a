"""Stands in for GitHub's `gh attestation verify` on the machines of the runner.

It knows what the simulated workflows attested: a line of `ATTESTED` each, the digest,
the workflow that signed and the ref it ran for. What it is not told, it refuses.
"""

import hashlib
import os
import sys
from pathlib import Path


def main(words: list[str]) -> str:
    """Look a file up; gives why it is refused, or nothing."""
    if words[:2] != ["attestation", "verify"] or not os.environ.get("GH_TOKEN"):
        return f"not known here, or no token: {words}"
    file, *options = words[2:]
    if options.pop() != "--deny-self-hosted-runners":
        return "self-hosted runners are not refused"
    wanted = dict(zip(options[0::2], options[1::2], strict=True))
    repository = wanted.pop("--repo")
    signer, ref = wanted.pop("--signer-workflow"), wanted.pop("--source-ref")
    if wanted or repository != os.environ["GITHUB_REPOSITORY"]:
        return f"not known here: {wanted}"
    digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    known = Path(os.environ["ATTESTED"])
    lines = known.read_text("utf-8").splitlines() if known.exists() else []
    if f"{digest} {signer} {ref}" in lines:
        return ""
    return f"no attestation of {digest} by {signer} for {ref}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) or 0)
