"""How fast pyarrow decodes a Parquet file to dictionary columns and encodes it again with zstd, on one thread.

Prints one JSON object per line. Run as: parquet.py FILE
"""

import json
import os
import sys
import tempfile
from time import perf_counter, process_time


def report(peer, line):
    print(json.dumps({"peer": peer, **line}), flush=True)


def best_of_5(work):
    """CPU and wall seconds of the run with the least CPU time, after a warm-up, and what the last run gave."""
    result, times = work(), []
    for _ in range(5):
        result = None
        wall, cpu = perf_counter(), process_time()
        result = work()
        times.append((process_time() - cpu, perf_counter() - wall))
    return *min(times), result


def measure(path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    schema = pq.read_schema(path)
    texts = {pa.string(), pa.large_string(), pa.binary(), pa.large_binary()}
    names = [field.name for field in schema if field.type in texts]

    def decode(path):
        with pq.ParquetFile(path, read_dictionary=names) as file:
            return file.read(use_threads=False)

    def line(table, cpu, wall, check):
        values = table.num_rows * table.num_columns
        return {
            "version": pa.__version__,
            "values": values,
            "cpu_seconds": round(cpu, 6),
            "wall_seconds": round(wall, 6),
            "values_per_cpu_second": round(values / cpu),
            "generator": None,
            "check": check,
        }

    cpu, wall, table = best_of_5(lambda: decode(path))
    dictionaries = sum(pa.types.is_dictionary(field.type) for field in table.schema)
    check = {"columns": table.num_columns, "dictionaries": dictionaries, "file_bytes": os.path.getsize(path)}
    report("pyarrow, decode Parquet", line(table, cpu, wall, check))

    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy.parquet")
        cpu, wall, _ = best_of_5(lambda: pq.write_table(table, copy, compression="zstd"))
        plain = pa.schema(
            field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
            for field in table.schema
        )
        same = decode(copy).cast(plain).equals(table.cast(plain))
        check = {"same_values": same, "file_bytes": os.path.getsize(copy)}
        report("pyarrow, encode Parquet with zstd", line(table, cpu, wall, check))


try:
    if len(sys.argv) != 2:
        raise ValueError("give a Parquet file as the argument")
    measure(sys.argv[1])
except Exception as error:
    report("pyarrow", {"error": f"{type(error).__name__}: {error}"})
