"""Options of a server that keeps models in memory, as TRIMS's `uprd` takes them.

They reach the server as environment variables. Names, values and defaults are those of
`micro server run` of TRIMS Tools (rai-project/trims-tools, cmd/server_run.go).
"""

from __future__ import annotations

from pydantic import Field

from registry.documents.validation import Document
from tools.services.evictions import Eviction

__all__ = ["StoreOptions"]


class StoreOptions(Document):
    """How the server keeps and evicts models.

    Attributes:
        eviction_policy: which model leaves when memory is short.
        memory_percentage: share of the GPU's memory that kept models may fill, above 0
            and at most 1.
        estimation_rate: what a model's file size is multiplied by to estimate its
            memory.
        estimate_with_internal_memory: whether memory that the framework takes beside
            the model counts too.
        persist_cpu: whether a copy stays in the host's memory after eviction.
        persist_only_cpu: whether models are kept in the host's memory only.
        write_profile: whether the server writes a trace.
        debug: whether the server logs much (GLOG variables).

    """

    eviction_policy: Eviction = Eviction.LRU
    memory_percentage: float = Field(default=0.8, gt=0, le=1)
    estimation_rate: float = Field(default=1.0, gt=0, le=1000)
    estimate_with_internal_memory: bool = True
    persist_cpu: bool = True
    persist_only_cpu: bool = False
    write_profile: bool = False
    debug: bool = False

    def environment(self) -> dict[str, str]:
        """The variables that say this to the server."""
        flags = {True: "true", False: "false"}
        glog = {"GLOG_logtostderr": "1", "GLOG_minloglevel": "0", "GLOG_v": "2"}
        return {
            "UPRD_EVICTION_POLICY": self.eviction_policy,
            "UPRD_MEMORY_PERCENTAGE": repr(self.memory_percentage),
            "UPRD_ESTIMATION_RATE": repr(self.estimation_rate),
            "UPRD_ESTIMATE_WITH_INTERNAL_MEMORY": flags[
                self.estimate_with_internal_memory
            ],
            "UPRD_PERSIST_CPU": flags[self.persist_cpu],
            "UPRD_PERSIST_ONLY_CPU": flags[self.persist_only_cpu],
            "UPRD_WRITE_PROFILE": flags[self.write_profile],
            "UPR_ENABLED": "true",
            "MXNET_ENGINE_TYPE": "ThreadedEngine",
        } | (glog if self.debug else {})
