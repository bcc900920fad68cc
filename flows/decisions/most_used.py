"""The list of the most used open models: what a night read of them is kept, so that their names are known at once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpuledger import local_files
from gpuledger.extract.collect import Collected
from gpuledger.items import Issue, OpenModel
from gpuledger.message import reason_of
from gpuledger.warehouse.paths import DataDir

#: The most models that are kept. Those that were on the list longest ago go first.
_MOST = 500


def keep(data: DataDir, collected: Sequence[Collected]) -> list[Collected]:
    """Write what the source of models gave into the data directory. Returns the batches, with an issue for each model
    whose config says no size.
    """
    return [_kept(data, batch) if any(isinstance(item, OpenModel) for item, _ in batch.rows) else batch
            for batch in collected]  # fmt: skip


def _kept(data: DataDir, batch: Collected) -> Collected:
    # The shapes of models are imported only on a night that read some.
    from gpuledger.transform.sizing.added_models import MOST_USED
    from gpuledger.transform.sizing.config import read_json
    from gpuledger.transform.sizing.diffusion import shape_in
    from gpuledger.transform.sizing.errors import SizingError
    from gpuledger.transform.sizing.named import parameters_of

    path = data.root / MOST_USED
    known = dict(read_json(path, follow=False)) if path.is_file() else {}
    issues = list(batch.issues)
    for name, (config, snapshot) in _configs(batch).items():
        try:
            parameters_of(shape_in(config))
        except SizingError as error:
            issues.append((Issue(code="unsized_model", message=f"{name}: {reason_of(error)}"), snapshot))
        else:
            known.pop(name, None)
            known[name] = config
    path.parent.mkdir(parents=True, exist_ok=True)
    local_files.write_text(path, json.dumps(dict([*known.items()][-_MOST:]), ensure_ascii=False))
    return replace(batch, issues=issues)


def _configs(batch: Collected) -> Mapping[str, tuple[dict[str, Any], str]]:
    """The config of each model with the bytes of its weights, and the hash of its page."""
    models = [(item, snapshot) for item, snapshot in batch.rows if isinstance(item, OpenModel)]
    sizes = {model.repository: int(model.weights_bytes) for model, _ in models if model.weights_bytes}
    return {
        model.repository: (
            {**json.loads(model.config), "_name_or_path": model.repository}
            | ({"total_bytes": sizes[model.repository]} if model.repository in sizes else {}),
            snapshot,
        )
        for model, snapshot in models
        if model.config is not None
    }
