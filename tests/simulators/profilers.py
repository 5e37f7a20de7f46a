"""Databases as NVIDIA's profilers write them, with their own tables and columns.

nvprof's schema is that of its format version 9, nsys's that of export schema 3.16.1;
only tables that a test fills are made, as the tools do.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = [
    "EPOCH",
    "NSYS",
    "NVPROF",
    "PID",
    "TID",
    "identity",
    "nsys_recording",
    "nvprof_recording",
    "object_id",
    "write",
]

_KERNEL = (
    "cacheConfig sharedMemoryConfig registersPerThread"
    " partitionedGlobalCacheRequested partitionedGlobalCacheExecuted start end"
    " completed deviceId contextId streamId gridX gridY gridZ blockX blockY blockZ"
    " staticSharedMemory dynamicSharedMemory localMemoryPerThread localMemoryTotal"
    " correlationId gridId name"
)
_CALL = "cbid start end processId threadId correlationId returnValue"
_COPY = "copyKind srcKind dstKind flags bytes start end deviceId contextId streamId"
_NVPROF = {
    "KERNEL": _KERNEL,
    "CONCURRENT_KERNEL": _KERNEL,
    "MEMCPY": f"{_COPY} correlationId runtimeCorrelationId",
    "MEMCPY2": f"{_COPY} srcDeviceId srcContextId dstDeviceId dstContextId"
    " correlationId",
    "MEMSET": "value bytes start end deviceId contextId streamId correlationId flags"
    " memoryKind",
    "DRIVER": _CALL,
    "RUNTIME": _CALL,
    "DEVICE": "id computeCapabilityMajor computeCapabilityMinor uuid name",
    "NAME": "objectKind objectId name",
    "MARKER": "flags timestamp id objectKind objectId name domain",
    "MARKER_DATA": "flags id payloadKind payload color category",
    "OVERHEAD": "overheadKind objectKind objectId start end",
    "ENVIRONMENT": "deviceId timestamp environmentKind data",
    "MODULE": "contextId id cubinSize cubin",
}
NVPROF = {f"CUPTI_ACTIVITY_KIND_{name}": one for name, one in _NVPROF.items()} | {
    "StringTable": "value",
    "Version": "version",
}
"""Columns of nvprof's tables beside `_id_`, by the table."""
_PLACE = "start end deviceId contextId greenContextId streamId correlationId globalPid"
NSYS = {
    "StringIds": "id value",
    "ThreadNames": "nameId priority globalTid",
    "PROCESSES": "globalPid pid name",
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs utcTime localTime",
    "TARGET_INFO_GPU": "vmId id name busLocation pwGpuId uuid cuDevice",
    "TARGET_INFO_GPU_METRICS": "typeId sourceId typeName metricId metricName",
    "TARGET_INFO_SYSTEM_ENV": "globalVid devStateName name nameEnum value",
    "META_DATA_EXPORT": "name value",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start end eventClass globalTid correlationId nameId"
    " returnValue callchainId",
    "CUPTI_ACTIVITY_KIND_KERNEL": f"{_PLACE} demangledName shortName mangledName"
    " launchType cacheConfig registersPerThread gridX gridY gridZ blockX blockY blockZ"
    " staticSharedMemory dynamicSharedMemory localMemoryPerThread localMemoryTotal"
    " gridId sharedMemoryExecuted graphNodeId sharedMemoryLimitConfig",
    "CUPTI_ACTIVITY_KIND_MEMCPY": f"{_PLACE} bytes copyKind deprecatedSrcId srcKind"
    " dstKind srcDeviceId srcContextId dstDeviceId dstContextId migrationCause"
    " graphNodeId virtualAddress",
    "CUPTI_ACTIVITY_KIND_MEMSET": f"{_PLACE} value bytes graphNodeId memKind",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": f"{_PLACE} syncType eventId",
    "CUDA_GPU_MEMORY_USAGE_EVENTS": "start globalPid deviceId contextId address pc"
    " bytes memKind memoryOperationType name correlationId streamId",
    "NVTX_EVENTS": "start end eventType rangeId category color text globalTid"
    " endGlobalTid textId domainId uint64Value int64Value doubleValue uint32Value"
    " int32Value floatValue jsonTextId jsonText binaryData",
    "OSRT_API": "start end eventClass globalTid nameId returnValue nestingLevel"
    " callchainId",
    "PROFILER_OVERHEAD": "start end globalTid correlationId nameId returnValue",
    "GPU_METRICS": "rawTimestamp timestamp typeId metricId value",
    "SCHED_EVENTS": "start cpu isSchedIn globalTid",
    "ENUM_CUDA_MEM_KIND": "id name label",
}
"""Columns of nsys's tables, by the table."""
Rows = Mapping[str, Iterable[Mapping[str, Any]]]


def write(path: Path, schema: Mapping[str, str], rows: Rows) -> Path:
    """Write a database that has the tables that are filled.

    Args:
        path: the file.
        schema: columns by the table.
        rows: for each table its rows, by column; the others are 0, as the tools write.
    """
    connection = sqlite3.connect(path)
    for table, filled in rows.items():
        columns = schema[table].split()
        key = "id" if table == "StringIds" else "_id_"
        others = [f'"{one}"' for one in columns if one != key]
        first = f"{key} INTEGER PRIMARY KEY"
        connection.execute(f"CREATE TABLE {table} ({', '.join([first, *others])})")
        for row in filled:
            wrong = set(row) - {*columns, key}
            assert not wrong, f"{table} has no {wrong}"
            values = dict.fromkeys(columns, 0 if schema is NVPROF else None) | row
            names = ", ".join(f'"{name}"' for name in values)
            marks = ", ".join("?" * len(values))
            statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608
            connection.execute(statement, list(values.values()))
    connection.commit()
    connection.close()
    return path


def object_id(first: int, second: int) -> bytes:
    """A process and a thread as nvprof writes them: twelve bytes."""
    return struct.pack("<IIi", first, second, 0)


def identity(pid: int, tid: int = 0) -> int:
    """A global number of nsys."""
    return 1 << 56 | pid << 24 | tid


EPOCH = 1_496_933_426_915_778_221
"""A time of a real recording: June 2017, in nanoseconds."""
PID, TID = 1_491_173, 1_242_621_760


def nvprof_recording() -> dict[str, list[dict[str, Any]]]:
    """Rows of a program that copies, runs a kernel twice and marks what it does."""
    texts = ["_Z6vecAddPfS_", "Tesla V100-SXM2", "step", "trainer", "batch", "<domain>"]
    call = {"processId": PID, "threadId": TID - (1 << 32)}
    kernel = {"name": 1, "contextId": 1, "streamId": 7, "gridX": 57, "gridY": 1}
    kernel |= {"gridZ": 1, "blockX": 128, "blockY": 1, "blockZ": 1}
    kernel |= {"registersPerThread": 32, "cacheConfig": b"\0"}
    thread = object_id(PID, TID)
    start = EPOCH
    return {
        "StringTable": [{"_id_": n, "value": one} for n, one in enumerate(texts, 1)],
        "Version": [{"version": 9}],
        "CUPTI_ACTIVITY_KIND_DEVICE": [{"id": 0, "name": 2, "uuid": b"\1" * 16}],
        "CUPTI_ACTIVITY_KIND_NAME": [
            {"objectKind": 1, "objectId": object_id(PID, 0), "name": 4}
        ],
        "CUPTI_ACTIVITY_KIND_RUNTIME": [
            call
            | {"cbid": 31, "start": start, "end": start + 900_001}
            | {"correlationId": 5},
            call
            | {"cbid": 211, "start": start + 1_000_000, "end": start + 1_005_000}
            | {"correlationId": 6},
            call
            | {"cbid": 9999, "start": start + 1_005_000, "end": start + 1_006_000}
            | {"correlationId": 7, "returnValue": 1},
        ],
        "CUPTI_ACTIVITY_KIND_DRIVER": [
            call
            | {"cbid": 307, "start": start + 1_001_000, "end": start + 1_004_000}
            | {"correlationId": 8}
        ],
        "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL": [
            kernel
            | {"start": start + 1_010_000, "end": start + 1_110_000}
            | {"correlationId": 6},
            kernel
            | {"start": start + 1_110_000, "end": start + 1_200_000}
            | {"correlationId": 6},
            kernel | {"start": 0, "end": 0, "correlationId": 7},
        ],
        "CUPTI_ACTIVITY_KIND_MEMCPY": [
            {"copyKind": 1, "srcKind": 1, "dstKind": 3, "bytes": 7_436_640}
            | {"start": start + 1000, "end": start + 781_337, "contextId": 1}
            | {"streamId": 7, "correlationId": 5}
        ],
        "CUPTI_ACTIVITY_KIND_MEMSET": [
            {"bytes": 64, "start": start + 2_000_000, "end": start + 2_001_000}
            | {"contextId": 1, "streamId": 7, "memoryKind": 3}
        ],
        "CUPTI_ACTIVITY_KIND_MARKER": [
            {"flags": 2, "timestamp": start - 5000, "id": 1, "objectKind": 2}
            | {"objectId": thread, "name": 3, "domain": 6},
            {"flags": 2, "timestamp": start - 1000, "id": 2, "objectKind": 2}
            | {"objectId": thread, "name": 5},
            {"flags": 4, "timestamp": start + 5_000_000, "id": 2, "objectKind": 2}
            | {"objectId": thread},
            {"flags": 4, "timestamp": start + 6_000_000, "id": 1, "objectKind": 2}
            | {"objectId": thread},
            {"flags": 1, "timestamp": start + 10, "id": 3, "objectKind": 2}
            | {"objectId": thread, "name": 5},
            {"flags": 4, "timestamp": start + 20, "id": 99, "objectKind": 2}
            | {"objectId": thread},
            {"flags": 2, "timestamp": start + 30, "id": 98, "objectKind": 2}
            | {"objectId": thread, "name": 5},
        ],
        "CUPTI_ACTIVITY_KIND_MARKER_DATA": [
            {"flags": 2, "id": 2, "payloadKind": 1, "color": 0xFF00FF00}
            | {"payload": struct.pack("<Q", 42), "category": 7}
        ],
        "CUPTI_ACTIVITY_KIND_OVERHEAD": [
            {"overheadKind": 1 << 16, "objectKind": 2, "objectId": thread}
            | {"start": start + 100, "end": start + 400}
        ],
        "CUPTI_ACTIVITY_KIND_ENVIRONMENT": [
            {"timestamp": start + 500, "environmentKind": 3}
            | {"data": struct.pack("<II", 151_250, 300_000) + bytes(12)},
            {"timestamp": start + 500, "environmentKind": 2, "data": b"\x3d\0\0\0"},
        ],
        "CUPTI_ACTIVITY_KIND_MODULE": [{"cubin": b"\x7fELF" * 10}],
    }


def nsys_recording() -> dict[str, list[dict[str, Any]]]:
    """Rows of two processes on one GPU that use the same correlation numbers."""
    texts = {
        1: "cudaLaunchKernel_v7000",
        2: "void gemm<float>(float*, int)",
        3: "gemm",
        4: "poll",
        5: "main",
        6: "forward",
        7: "CUPTI buffer flush",
        8: "cudaMemcpyAsync_v3020",
    }
    first, second = identity(100, 101), identity(200, 201)
    kernel = {"deviceId": 0, "contextId": 1, "streamId": 7, "correlationId": 11}
    kernel |= {"demangledName": 2, "shortName": 3, "registersPerThread": 40}
    kernel |= {"gridX": 8, "gridY": 1, "gridZ": 1, "blockX": 256, "blockY": 1}
    kernel |= {"blockZ": 1, "staticSharedMemory": 1024, "dynamicSharedMemory": 0}
    push = {"eventType": 59, "globalTid": first, "domainId": 9}
    gpu_metric = {"rawTimestamp": 0, "typeId": 0x1000100000003, "metricId": 2}
    return {
        "StringIds": [{"id": key, "value": one} for key, one in texts.items()],
        "ThreadNames": [{"nameId": 5, "globalTid": first}],
        "PROCESSES": [
            {"globalPid": identity(100), "pid": 100, "name": "/home/ada/bin/train"},
            {"globalPid": identity(200), "pid": 200, "name": "serve"},
        ],
        "TARGET_INFO_SESSION_START_TIME": [{"utcEpochNs": 1_700_000_000_123_456_789}],
        "TARGET_INFO_GPU": [{"id": 0, "cuDevice": 0, "pwGpuId": 3, "name": "H100"}],
        "TARGET_INFO_GPU_METRICS": [
            {"typeId": 0x1000100000003, "metricId": 2, "metricName": "SMs Active"}
        ],
        "TARGET_INFO_SYSTEM_ENV": [{"name": "Hostname", "value": "secret-host"}],
        "META_DATA_EXPORT": [
            {"name": "EXPORT_SCHEMA_VERSION", "value": "3.16.1"},
            {"name": "EXPORT_USER", "value": "ada"},
        ],
        "CUPTI_ACTIVITY_KIND_RUNTIME": [
            {"start": 1_000, "end": 2_500, "globalTid": first, "correlationId": 11}
            | {"nameId": 1},
            {"start": 1_500, "end": 2_000, "globalTid": second, "correlationId": 11}
            | {"nameId": 1},
            {"start": 3_000, "end": 3_500, "globalTid": first, "correlationId": 12}
            | {"nameId": 8},
        ],
        "CUPTI_ACTIVITY_KIND_KERNEL": [
            kernel | {"start": 5_000, "end": 9_000, "globalPid": identity(100)},
            kernel | {"start": 6_000, "end": 8_123, "globalPid": identity(200)},
        ],
        "CUPTI_ACTIVITY_KIND_MEMCPY": [
            {"start": 9_000, "end": 10_000, "deviceId": 0, "contextId": 1}
            | {"streamId": 7, "correlationId": 12, "globalPid": identity(100)}
            | {"bytes": 4096, "copyKind": 1, "srcKind": 1, "dstKind": 2}
        ],
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": [
            {"start": 8_000, "end": 12_000, "deviceId": 0, "contextId": 1}
            | {"streamId": 7, "globalPid": identity(100), "syncType": 3}
        ],
        "CUDA_GPU_MEMORY_USAGE_EVENTS": [
            {"start": 20, "globalPid": identity(100), "deviceId": 0, "bytes": 1 << 20}
            | {"address": 0x7F00, "memoryOperationType": 0},
            {"start": 30, "globalPid": identity(100), "deviceId": 0, "bytes": 512}
            | {"address": 0x7F80, "memoryOperationType": 0},
            {"start": 40, "globalPid": identity(100), "deviceId": 0, "bytes": 1 << 20}
            | {"address": 0x7F00, "memoryOperationType": 1},
        ],
        "NVTX_EVENTS": [
            {"start": 0, "eventType": 75, "text": "torch", "domainId": 9},
            push | {"start": 900, "end": 4_000, "textId": 6},
            push | {"start": 900, "end": 2_600, "text": "inner", "int64Value": 3},
            push | {"start": 2_000, "end": 4_500, "text": "crossing"},
            {"start": 100, "end": 9_000, "eventType": 60, "text": "request"}
            | {"globalTid": first, "endGlobalTid": second},
            {"start": 50, "eventType": 34, "text": "mark", "globalTid": second},
            push | {"start": 7_000, "text": "never ended"},
        ],
        "OSRT_API": [
            {"start": 4_600, "end": 4_700, "globalTid": first, "nameId": 4}
            | {"returnValue": 0}
        ],
        "PROFILER_OVERHEAD": [
            {"start": 1_200, "end": 4_650, "globalTid": first, "nameId": 7}
        ],
        "GPU_METRICS": [
            gpu_metric | {"timestamp": 100, "value": 12},
            gpu_metric | {"timestamp": 200, "value": 90},
        ],
        "SCHED_EVENTS": [{"start": 1, "cpu": 0, "isSchedIn": 1, "globalTid": first}],
        "ENUM_CUDA_MEM_KIND": [
            {"id": 1, "name": "CUDA_MEMOPR_MEMORY_KIND_PINNED", "label": "Pinned"},
            {"id": 2, "name": "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "label": "Device"},
        ],
    }
