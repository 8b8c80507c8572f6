"""An engineer's whole study, written from the guide alone: visits to a shop, which nobody may trace to a person.

Two years of visits lie in Parquet files; a service in front randomizes those that come in, before anything is stored.
The records are made here, from probabilities that are known, so that every estimate is held against the truth.
`CANDOR_STUDY_ROWS=10000000` runs it in full.
"""

from __future__ import annotations

import json
import os
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy
import pandas
import polars
import pytest

import candor

ROWS = int(os.environ.get("CANDOR_STUDY_ROWS", "200000"))
LIVE = 400

DEVICES = ["phone", "tablet", "computer"]
PAID_BY = ["card", "invoice", "wallet"]
RETURNED = ["no", "part", "all"]
#: Whether who pays how returns what they bought: those by invoice do.
RETURNS = numpy.array([[0.80, 0.15, 0.05], [0.55, 0.25, 0.20], [0.75, 0.18, 0.07]])

SCHEMA = """
[[attribute]]
name = "year"
categories = ["2024", "2025"]
public = true

[[attribute]]
name = "device"
categories = ["phone", "tablet", "computer"]

[[attribute]]
name = "paid by"
categories = ["card", "invoice", "wallet"]

[[attribute]]
name = "returned"
categories = ["no", "part", "all"]
kind = "ordinal"
"""


def visits(rows: int, seed: int) -> polars.DataFrame:
    random = numpy.random.default_rng(seed)
    year = random.integers(0, 2, rows)
    device = numpy.where(random.random(rows) < numpy.where(year == 0, 0.5, 0.6), 0, random.integers(1, 3, rows))
    paid = random.choice(3, rows, p=[0.6, 0.25, 0.15])
    returned = (random.random(rows)[:, None] > RETURNS[paid].cumsum(axis=1)).sum(axis=1).clip(max=2)
    labels = {"device": DEVICES, "paid by": PAID_BY, "returned": RETURNED}
    columns = {"year": numpy.array(["2024", "2025"])[year]}
    columns |= {
        name: numpy.array(known)[codes] for (name, known), codes in zip(labels.items(), (device, paid, returned))
    }
    return polars.DataFrame({**columns, "basket": random.gamma(2.0, 30.0, rows).round(2)})


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """Files as they lie in a data lake."""
    folder = tmp_path_factory.mktemp("lake")
    for part in range(4):
        visits(ROWS // 4, seed=part).write_parquet(folder / f"{part}.parquet")
    return folder


class Front(BaseHTTPRequestHandler):
    """Takes visits as they are, and stores answers only. It serves no plan but one signed by the key that it pins."""

    plan: candor.Plan
    store: list[dict]
    lock = threading.Lock()

    def do_POST(self) -> None:
        try:
            answer = self.plan.randomize_one(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        except (candor.Error, ValueError) as error:
            self.send_error(422, explain=str(error))
            return
        with self.lock:
            self.store.append(answer)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def serve(tmp_path):
    """Starts a service for a signed plan."""
    servers = []

    def start(plan_file, signature_file, public_key: str) -> tuple[str, list[dict]]:
        plan = candor.Plan.load(plan_file)
        plan.verify(signature_file, public_key=public_key)
        handler = type("Handler", (Front,), {"plan": plan, "store": []})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_address[1]}/", handler.store

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def post(address: str, visit: dict) -> int:
    request = urllib.request.Request(address, data=json.dumps(visit).encode(), method="POST")
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code


@pytest.mark.filterwarnings("ignore::candor.Caution")
def test_the_study(lake, serve, tmp_path) -> None:
    scan = polars.scan_parquet(lake / "*.parquet")
    schema = candor.Schema.loads(SCHEMA)
    assert schema.check(scan.drop("basket"))

    # A plan for the tables that are wanted, published and signed.
    wanted = ["device", "paid by,returned"]
    side_by_side = candor.compare(schema, epsilon=2, tables=wanted, respondents=ROWS, time_limit=1)
    assert side_by_side.recommended is not None
    plan = candor.design(schema, "workload", epsilon=2, tables=wanted, respondents=ROWS, time_limit=2)
    plan.audit(require={"ldp": 2})
    key = candor.PrivateKey.generate()
    plan.save(tmp_path / "plan.json")
    plan.sign(key).save(tmp_path / "plan.json.sig")

    # What is there, from file to file without ever being a frame; and lazily, for polars to go on with.
    done = plan.randomize(scan, output=tmp_path / "history.parquet", keep="basket")
    assert done.records == ROWS
    lazy = plan.randomize(scan, keep="basket")
    by_year = lazy.frame.group_by("year").agg(polars.len()).collect()
    assert by_year["len"].sum() == ROWS
    assert len(plan.randomize(scan).frame.head(10).collect()) == 10

    # What comes in, by the service.
    address, store = serve(tmp_path / "plan.json", tmp_path / "plan.json.sig", key.public_key)
    for visit in visits(LIVE, seed=9).drop("basket").to_dicts():
        assert post(address, visit) == 204
    assert post(address, {"year": "2025", "device": "fridge", "paid by": "card", "returned": "no"}) == 422
    assert len(store) == LIVE
    with pytest.raises(candor.SignatureError):
        serve(tmp_path / "plan.json", tmp_path / "plan.json.sig", candor.PrivateKey.generate().public_key)
    (tmp_path / "live.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in store))

    # Both together, by their counts; in pandas for the people who look at them.
    counts = plan.tally(tmp_path / "history.parquet", tables=wanted) + plan.tally(
        tmp_path / "live.jsonl", tables=wanted
    )
    assert counts.responses == ROWS + LIVE
    estimates = plan.estimate(counts)
    frame = estimates.to_pandas()
    assert list(frame.columns[:5]) == ["table", "quantity", "device", "paid by", "returned"]
    truth = pandas.concat([scan.collect().to_pandas(), visits(LIVE, seed=9).to_pandas()])
    shares = pandas.crosstab(truth["paid by"], truth["returned"], normalize=True).loc[PAID_BY, RETURNED]
    found = estimates["paid by,returned"]
    assert ((found.crosstab() - shares).abs() <= 6 * found.crosstab("standard_error")).to_numpy().all()

    # What it says: returns depend on how people pay, and phones won.
    history = tmp_path / "history.parquet"
    assert plan.test(history, "paid by", "returned").p_value < 1e-6
    difference = plan.test(history, tables="device", compare_groups="year").differences[0]
    assert difference.categories == ["phone"] and difference.difference.low > 0
    among = plan.query(history, "returned = no", given="'paid by' = invoice").answers[0]
    assert abs(among.estimate - RETURNS[1, 0]) < 6 * among.standard_error
    fitted = plan.regress(history, "returned ~ 'paid by' + year", family="ordinal", reference={"paid by": "card"})
    assert fitted["paid by=invoice"].low > 0

    # A page for those who asked.
    report = plan.report(history, tmp_path / "report.html", tables=["device", "returned | 'paid by'"], title="Returns")
    assert "Returns" in (tmp_path / "report.html").read_text() and report.epsilon <= 2
