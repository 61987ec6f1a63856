"""The objects that Berth builds for a run do on the embedded site what they promise."""

import http.server
import io
import threading
import zipfile
from collections.abc import Iterator

import pytest

from core import ids
from jobs import jobspec, manifest
from tests.k8s import manifests
from tests.k8s.conftest import EmbeddedSite

PROGRAM = """
import os, pathlib
folder = pathlib.Path(os.environ["CHECKPOINT_DIR"])
folder.mkdir(parents=True, exist_ok=True)
(folder / ("rank-" + os.environ["RANK"])).write_text("done")
print("price $$5", os.environ["PRICE"], os.environ["TOKEN"], repr(os.environ["RESUME_FROM"]))
print(pathlib.Path(os.environ["DATA_DIR"]).is_dir())
"""


@pytest.fixture
def cluster(empty_site: EmbeddedSite) -> str:
    cluster = ids.new("clu")
    name = ids.object_name(cluster)
    empty_site.port.apply(manifests.namespace(name))
    for claim in ("data", "checkpoints"):
        empty_site.port.apply(manifests.claim(claim, name))
    for node in ("node-1", "node-2"):
        empty_site.port.ensure_node(node, gpus=8)
        empty_site.port.set_node_owner(node, name)
    return cluster


def plan(cluster: str, spec: dict[str, object], **more: object) -> manifest.RunPlan:
    base = {"name": "训练 🚀", "cluster": cluster, "project": "default", "environment": "python-3.11"}
    parsed = jobspec.parse({**base, **spec})
    run, job = ids.new("run"), ids.new("job")
    return manifest.RunPlan(run=run, job=job, cluster=cluster, spec=parsed, image="demo", **more)


def end(site: EmbeddedSite, made: manifest.RunPlan) -> str:
    for obj in manifest.build(made):
        site.port.apply(obj)

    def look() -> str:
        (found,), _ = site.port.list_pytorchjobs(made.namespace, {"berth.dev/run": made.name})
        return next((kind for kind in ("Succeeded", "Failed") if found.condition(kind)), "")

    return site.until(look)


def test_an_inline_job_writes_its_checkpoints(empty_site: EmbeddedSite, cluster: str) -> None:
    spec = {
        "code": {"inline": PROGRAM},
        "command": ["python", "main.py"],
        "replicas": 2,
        "gpus_per_replica": 8,
        "env": {"PRICE": "$$5 $(RANK)"},
        "secrets": ["TOKEN"],
    }
    made = plan(cluster, spec, secrets={"TOKEN": "s3cret"})
    assert end(empty_site, made) == "Succeeded"
    texts = empty_site.log(f"{made.name}-master-0", made.namespace)
    assert texts == ["price $$5 $$5 $(RANK) s3cret ''", "True"]
    folder = empty_site.port.claim_folder(made.namespace, "checkpoints") / made.run
    assert (folder / "rank-0").read_text() == "done"
    again = plan(
        cluster, spec, secrets={"TOKEN": "x"}, resume_from=manifest.checkpoint_dir(made.spec, made.run)
    )
    assert end(empty_site, again) == "Succeeded"
    assert repr(str(folder)) in empty_site.log(f"{again.name}-master-0", made.namespace)[0]


@pytest.fixture
def archive() -> Iterator[str]:
    """Serve a zip with a program over HTTP."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as packed:
        packed.writestr("train.py", "open('written', 'w'); print('trained')")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/code.zip" else 404)
            self.end_headers()
            self.wfile.write(body.getvalue())

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_an_archive_is_fetched_first(empty_site: EmbeddedSite, cluster: str, archive: str) -> None:
    spec = {
        "code": {"archive": "upl_1"},
        "command": ["python", "train.py"],
        "replicas": 1,
        "gpus_per_replica": 1,
    }
    made = plan(cluster, spec, code_url=f"{archive}/code.zip")
    assert end(empty_site, made) == "Succeeded"
    assert empty_site.log(f"{made.name}-master-0", made.namespace)[-1] == "trained"
    lost = plan(cluster, spec, code_url=f"{archive}/none.zip")
    assert end(empty_site, lost) == "Failed"
    (pod,) = empty_site.port.list_pods(lost.namespace, {"berth.dev/run": lost.name})
    assert pod.started_at is None
    assert pod.exit_code == 78
    assert "berth fetch:" in pod.message
