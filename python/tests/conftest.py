"""What tests share: real records, plans of every kind, and the command to compare with."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path

import pandas
import pytest

import candor

#: Read by mypy, never run.
collect_ignore_glob = ["typed/*"]

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def people_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20,000 records of the repository's table, as CSV."""
    path = tmp_path_factory.mktemp("data") / "people.csv"
    path.write_bytes(gzip.decompress((ROOT / "data/people/people.csv.gz").read_bytes()))
    return path


@pytest.fixture(scope="session")
def people(people_path: Path) -> pandas.DataFrame:
    return pandas.read_csv(people_path)


@pytest.fixture(scope="session")
def schema(people_path: Path) -> candor.Schema:
    return candor.Schema.infer(people_path, public="Region", drop="weight")


@pytest.fixture(scope="session")
def plan(schema: candor.Schema) -> candor.Plan:
    """A lottery of channels, with cells and tags."""
    return candor.design(schema, "workload", epsilon=2, tables="pairs")


@pytest.fixture(scope="session")
def simple(schema: candor.Schema) -> candor.Plan:
    """Answers that are records."""
    return candor.design(schema, "independent", epsilon=6)


@pytest.fixture(scope="session")
def sets(schema: candor.Schema) -> candor.Plan:
    """Answers that are sets."""
    return candor.design(schema, "minimax", parity=[2])


@pytest.fixture(scope="session")
def responses(simple: candor.Plan, people_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Responses to the simple plan, a simulation, as Parquet."""
    path = tmp_path_factory.mktemp("responses") / "responses.parquet"
    simple.randomize(people_path, output=path, keep="weight", seed=7, simulation=True)
    return path


@pytest.fixture(autouse=True)
def simulations_are_known() -> None:
    """Tests draw from seeds; that this protects nobody need not be said each time."""
    import warnings

    warnings.filterwarnings("ignore", "these responses are a simulation", candor.Caution)


class Command:
    """The command, as it was built from the same sources."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.binary = os.environ.get("CANDOR", str(ROOT / "target/debug/candor"))

    def __call__(self, *words: object) -> dict:
        """What it says as JSON."""
        return json.loads(self.run(*words, "--json").stdout)

    def run(self, *words: object) -> subprocess.CompletedProcess[str]:
        texts = [str(word) for word in words]
        return subprocess.run([self.binary, *texts], cwd=self.folder, capture_output=True, text=True, check=True)

    def error(self, *words: object) -> str:
        """What it complains of."""
        texts = [str(word) for word in words]
        done = subprocess.run([self.binary, *texts], cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode != 0
        said = "\n".join(line for line in done.stderr.splitlines() if not line.startswith("note: "))
        return said.removeprefix("error: ").split("\n\nFor more")[0].strip()


@pytest.fixture(scope="session")
def command(
    tmp_path_factory: pytest.TempPathFactory,
    people_path: Path,
    schema: candor.Schema,
    simple: candor.Plan,
    responses: Path,
) -> Command:
    """The command, in a folder with a schema, a plan, records and responses."""
    folder = tmp_path_factory.mktemp("command")
    (folder / "people.csv").write_bytes(people_path.read_bytes())
    (folder / "responses.parquet").write_bytes(responses.read_bytes())
    schema.save(folder / "schema.toml")
    simple.save(folder / "plan.json")
    return Command(folder)
