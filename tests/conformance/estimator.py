"""A stand-in for Kepler's estimator (kepler-clients.md b3), with XGBoost and no pickle.

It loads a model zip the way the estimator does, down to what breaks it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xgboost

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Estimator"]


class Estimator:
    """A loaded model zip.

    Attributes:
        metadata: Its ``metadata.json``.
        components: Features and XGBoost model by component.
    """

    def __init__(self, archive: Path, folder: Path) -> None:
        """Unpack a zip and load it; whatever the estimator stumbles over is raised."""
        shutil.unpack_archive(archive, folder, "zip")
        text = (folder / "metadata.json").read_text("utf-8")
        objects: list[dict[str, Any]] = []

        def construct(value: dict[str, Any]) -> dict[str, Any]:
            # The estimator makes a model of every JSON object that it meets.
            for needed in ("model_class", "model_name", "output_type", "model_file"):
                if needed not in value:
                    raise TypeError(f"missing argument {needed}")
            objects.append(value)
            return value

        self.metadata: dict[str, Any] = json.loads(text, object_hook=construct)
        assert len(objects) == 1
        assert self.metadata["model_class"] == "xgboost"
        assert ".json" in self.metadata["model_file"]
        float(self.metadata["mae"])
        parts = json.loads((folder / self.metadata["model_file"]).read_text("utf-8"))
        self.components = {
            name: (part["features"], _load(folder, part))
            for name, part in parts.items()
        }

    def power(self, features: Mapping[str, float]) -> dict[str, float]:
        """Predict watts; a feature that the request lacks is an error."""
        found = {}
        for name, (names, regressor) in self.components.items():
            row = np.array([[features[feature] for feature in names]])
            watts = regressor.predict(row).squeeze()
            watts[watts < 0] = 0
            found[name] = float(watts)
        return found


def _load(folder: Path, part: dict[str, Any]) -> xgboost.XGBRegressor:
    if part["fe_files"]:
        raise AssertionError("a scaler would have to be unpickled")
    regressor = xgboost.XGBRegressor(n_estimators=1000, learning_rate=0.1)
    regressor.load_model(folder / part["model_file"])
    return regressor
