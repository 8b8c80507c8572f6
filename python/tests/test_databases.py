"""The same plan and responses in DuckDB: on frames and on Parquet, the same estimates to the last digit."""

from __future__ import annotations

import duckdb
import polars
import pyarrow
import pytest


@pytest.mark.parametrize("which", ["plan", "simple", "sets"])
def test_duckdb_counts_frames_and_files(which, people, request, tmp_path) -> None:
    plan = request.getfixturevalue(which)
    tables = "marginals;Education,Income;Region,Sex"
    path = tmp_path / "responses.parquet"
    plan.randomize(people, output=path, seed=5, simulation=True)
    in_memory = plan.randomize(pyarrow.Table.from_pandas(people), seed=5, simulation=True)
    expected = plan.estimate(in_memory, tables=tables).to_dict()
    assert plan.estimate(path, tables=tables).to_dict() == expected
    database = duckdb.connect()
    database.register("frame", in_memory)
    for source in ("frame", f"'{path}'"):
        counted = database.sql(plan.sql(tables=tables, from_=source).rstrip().rstrip(";"))
        for counts in (counted.to_arrow_table(), counted.df(), counted.pl(), counted):
            assert plan.estimate(counts=counts, tables=tables).to_dict() == expected


def test_polars_frames_in_duckdb(people, simple) -> None:
    responses = simple.randomize(polars.from_pandas(people))
    frame = responses.frame  # noqa: F841: DuckDB finds it by its name.
    counted = duckdb.sql(simple.sql(tables="Sex", from_="frame").rstrip().rstrip(";"))
    assert simple.estimate(counts=counted, tables="Sex") == simple.estimate(responses, tables="Sex")
