"""Objects of an embedded site in one SQLite file that several processes use at once.

Every change takes the next resource version and leaves a row in `changes`, the log behind watches
and behind the supervisor's cache. No semantics here: admission and deletion are the port's.
"""

import contextlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from k8s import errors
from k8s.types import EventType, Manifest

KEEP_CHANGES = 20_000
_PARENTS: list[sqlite3.Connection | None] = []
SILENT = ("ConfigMap", "Secret")  # big or confidential, and nobody reads their changes

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT OR IGNORE INTO meta VALUES ('version', 0), ('floor', 0);
CREATE TABLE IF NOT EXISTS objects (
    kind TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (kind, namespace, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tags (
    kind TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (kind, namespace, name, key),
    FOREIGN KEY (kind, namespace, name) REFERENCES objects ON DELETE CASCADE) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tags_by_value ON tags (key, value, kind, namespace);
CREATE TABLE IF NOT EXISTS changes (
    version INTEGER PRIMARY KEY, type TEXT NOT NULL, kind TEXT NOT NULL, namespace TEXT NOT NULL,
    name TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS ended_pods (
    namespace TEXT NOT NULL, name TEXT NOT NULL, uid TEXT NOT NULL, ended REAL NOT NULL,
    PRIMARY KEY (namespace, name)) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Change:
    """One row of the log; the body is the object after the change, before it for a deletion."""

    version: int
    type: EventType
    kind: str
    namespace: str
    name: str
    body: Manifest


class Store:
    """One connection per process, shared by its threads under a lock and reopened after a fork."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "site.db"
        self._pid = 0
        self._writes = 0
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        folder.mkdir(parents=True, exist_ok=True)
        with self._open() as db:
            db.executescript(_SCHEMA)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None or self._pid != os.getpid():
            if self._pid != os.getpid():
                _PARENTS.append(self._connection)  # closing it here would meddle with the parent's
                self._lock = threading.RLock()  # the parent's threads may have held it at the fork
            self.path.touch(mode=0o600)
            db = sqlite3.connect(self.path, timeout=20, isolation_level=None, check_same_thread=False)
            for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
                db.execute(f"PRAGMA {pragma}")
            self._connection, self._pid = db, os.getpid()
        return self._connection

    @contextlib.contextmanager
    def read(self) -> Iterator["Snapshot"]:
        """Read one consistent state."""
        db = self._open()
        with self._lock:
            _begin(db, "BEGIN")
            try:
                yield Snapshot(db)
            finally:
                db.execute("COMMIT")

    @contextlib.contextmanager
    def write(self) -> Iterator["Transaction"]:
        """Change objects in one transaction, rolled back when the block raises."""
        db = self._open()
        with self._lock:
            _begin(db, "BEGIN IMMEDIATE")
            try:
                yield Transaction(db)
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")
            self._writes += 1

    def stamp(self) -> tuple[int, int]:
        """Return a value that changes when anybody has written; costs microseconds."""
        db = self._open()
        with self._lock:
            return int(db.execute("PRAGMA data_version").fetchone()[0]), self._writes

    def close(self) -> None:
        if self._connection is not None and self._pid == os.getpid():
            self._connection.close()
        self._connection = None

    def __del__(self) -> None:
        """Let go of the file when nobody holds the store any more; Python 3.13 warns otherwise."""
        self.close()


class Snapshot:
    """Reads inside a transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def version(self) -> int:
        return self._meta("version")

    def floor(self) -> int:
        """Return the newest version whose change is no longer in the log."""
        return self._meta("floor")

    def _meta(self, key: str) -> int:
        return int(self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()[0])

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        row = self._db.execute(
            "SELECT body FROM objects WHERE kind = ? AND namespace = ? AND name = ?", (kind, namespace, name)
        ).fetchone()
        return None if row is None else _load(row[0])

    def find(
        self, kind: str, namespace: str | None = None, selector: Mapping[str, str] | None = None
    ) -> list[Manifest]:
        """Return objects by namespace and name."""
        sql, args = "SELECT o.body FROM objects o WHERE o.kind = ?", [kind]
        if namespace is not None:
            sql, args = sql + " AND o.namespace = ?", [*args, namespace]
        for key, value in (selector or {}).items():
            sql += (
                " AND (o.kind, o.namespace, o.name) IN"
                " (SELECT kind, namespace, name FROM tags WHERE key = ? AND value = ? AND kind = ?)"
            )
            args += [key, value, kind]
        rows = self._db.execute(sql + " ORDER BY o.namespace, o.name", args)
        return [_load(row[0]) for row in rows]

    def names(self, namespace: str) -> list[tuple[str, str]]:
        """Return (kind, name) of all objects in a namespace."""
        return [
            (str(kind), str(name))
            for kind, name in self._db.execute(
                "SELECT kind, name FROM objects WHERE namespace = ? ORDER BY kind, name", (namespace,)
            )
        ]

    def changes(self, after: int, *, kind: str | None = None, limit: int = 1000) -> list[Change]:
        sql, args = (
            "SELECT version, type, kind, namespace, name, body FROM changes WHERE version > ?",
            [after],
        )
        params: list[Any] = [*args]
        if kind is not None:
            sql, params = sql + " AND kind = ?", [*params, kind]
        rows = self._db.execute(f"{sql} ORDER BY version LIMIT ?", [*params, limit])
        return [Change(row[0], row[1], row[2], row[3], row[4], _load(row[5])) for row in rows]

    def ended_pod(self, namespace: str, name: str) -> str | None:
        """Return the uid of a pod that is gone but whose log is still kept."""
        row = self._db.execute(
            "SELECT uid FROM ended_pods WHERE namespace = ? AND name = ?", (namespace, name)
        ).fetchone()
        return None if row is None else str(row[0])

    def ended_pods(self, *, namespace: str | None = None, before: float | None = None) -> list[str]:
        """Return uids of pods that are gone but whose logs are kept: of a namespace, or older than a time."""
        where, arg = ("namespace = ?", namespace) if before is None else ("ended < ?", before)
        return [str(row[0]) for row in self._db.execute(f"SELECT uid FROM ended_pods WHERE {where}", (arg,))]


class Transaction(Snapshot):
    """Reads and writes inside a transaction."""

    def put(self, obj: Manifest) -> int:
        """Store an object under the next resource version (set in its metadata) and return that."""
        meta = obj["metadata"]
        key = (obj["kind"], meta.get("namespace", ""), meta["name"])
        old = self.get(*key)
        version = self._next()
        meta["resourceVersion"] = str(version)
        body = json.dumps(obj, separators=(",", ":"))
        self._db.execute(
            "INSERT INTO objects VALUES (?, ?, ?, ?)"
            " ON CONFLICT (kind, namespace, name) DO UPDATE SET body = excluded.body",
            (*key, body),
        )
        tags = meta.get("labels") or {}
        if old is None or (old["metadata"].get("labels") or {}) != tags:
            self._db.execute("DELETE FROM tags WHERE kind = ? AND namespace = ? AND name = ?", key)
            self._db.executemany(
                "INSERT INTO tags VALUES (?, ?, ?, ?, ?)", [(*key, k, v) for k, v in tags.items()]
            )
        self._log(version, "added" if old is None else "modified", key, body)
        return version

    def remove(self, kind: str, namespace: str, name: str) -> Manifest | None:
        """Delete an object at once and return what it was."""
        obj = self.get(kind, namespace, name)
        if obj is None:
            return None
        version = self._next()
        obj["metadata"]["resourceVersion"] = str(version)
        key = (kind, namespace, name)
        self._db.execute("DELETE FROM objects WHERE kind = ? AND namespace = ? AND name = ?", key)
        self._log(version, "deleted", key, json.dumps(obj, separators=(",", ":")))
        return obj

    def remember_pod(self, namespace: str, name: str, uid: str, ended: float) -> None:
        """Keep the way to the log of a pod that is gone."""
        self._db.execute(
            "INSERT OR REPLACE INTO ended_pods VALUES (?, ?, ?, ?)", (namespace, name, uid, ended)
        )

    def forget_pods(self, uids: list[str]) -> None:
        """Drop ended pods whose logs are gone."""
        self._db.executemany("DELETE FROM ended_pods WHERE uid = ?", [(uid,) for uid in uids])

    def compact(self, keep: int = KEEP_CHANGES) -> None:
        """Drop all but the newest changes; watches from before them get Gone."""
        floor = self.version() - keep
        if floor > self.floor():
            self._db.execute("DELETE FROM changes WHERE version <= ?", (floor,))
            self._db.execute("UPDATE meta SET value = ? WHERE key = 'floor'", (floor,))

    def _next(self) -> int:
        self._db.execute("UPDATE meta SET value = value + 1 WHERE key = 'version'")
        return self.version()

    def _log(self, version: int, type_: EventType, key: tuple[str, str, str], body: str) -> None:
        told = "{}" if key[0] in SILENT else body
        self._db.execute("INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?)", (version, type_, *key, told))


def _begin(db: sqlite3.Connection, statement: str) -> None:
    try:
        db.execute(statement)
    except sqlite3.OperationalError as error:
        raise errors.Unavailable(f"The embedded site's database is busy: {error}") from error


def _load(body: str) -> Manifest:
    obj: Manifest = json.loads(body)
    return obj
