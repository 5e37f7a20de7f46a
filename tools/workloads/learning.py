"""Workloads of scikit-learn: an iteration fits a model and predicts with it.

Each loads its own part of scikit-learn only, which takes seconds as a whole.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Final

import numpy as np

from tools.workloads.work import Work

__all__ = ["Boosting", "Clustering", "Fitting", "RidgeRegression"]

FEW: Final = 64
"""Rows that a model is tried with, so that it loads what it computes with."""


class Fitting(Work):
    """A model is fitted to rows of features and a value, and predicts the values."""

    @abstractmethod
    def estimator(self) -> Any:
        """Return a new model."""

    def prepare(self) -> None:
        """Draw features, and values that depend on the first three and on chance."""
        self.x, self.y = self._drawn(self.integer("rows"))
        self.holds["data"] = self.x.nbytes + self.y.nbytes

    def initialise(self) -> None:
        """Make the model; another one is fitted to a few rows before."""
        self.estimator().fit(*self._drawn(FEW))
        self.model = self.estimator()

    def iterate(self) -> float:
        """Fit and predict."""
        self.model.fit(self.x, self.y)
        self.predicted = self.model.predict(self.x)
        return 1

    def _drawn(self, rows: int) -> tuple[Any, Any]:
        random = np.random.default_rng(self.conditions.seed)
        x = random.standard_normal((rows, self.integer("features")))
        y = np.sin(x[:, :3]).sum(axis=1) + 0.1 * random.standard_normal(rows)
        return x, y


class Boosting(Fitting):
    """Trees of a gradient boosting over histograms."""

    def estimator(self) -> Any:
        """Return a new model, which never stops early."""
        from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: PLC0415

        return HistGradientBoostingRegressor(
            max_iter=self.integer("trees"),
            early_stopping=False,
            random_state=self.conditions.seed % (1 << 32),
        )


class Clustering(Fitting):
    """Clusters around means, by Lloyd's algorithm."""

    def estimator(self) -> Any:
        """Return a new model, which starts once."""
        from sklearn.cluster import KMeans  # noqa: PLC0415

        return KMeans(
            n_clusters=self.integer("clusters"),
            n_init=1,
            random_state=self.conditions.seed % (1 << 32),
        )


class RidgeRegression(Fitting):
    """A linear model, solved by Cholesky's decomposition."""

    def estimator(self) -> Any:
        """Return a new model."""
        from sklearn.linear_model import Ridge  # noqa: PLC0415

        return Ridge(solver="cholesky")
